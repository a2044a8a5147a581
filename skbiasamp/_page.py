"""One self-contained HTML page from the plain content of a report."""

from __future__ import annotations

from typing import Any


def page(content: dict[str, Any]) -> str:
    """Return the page; every label of the data is escaped."""
    template = import_jinja2().Environment(autoescape=True).from_string(_TEMPLATE)
    return template.render(**content)


def import_jinja2() -> Any:
    """Return jinja2, or say how to get it."""
    try:
        import jinja2
    except ImportError as error:
        raise ImportError("to_html needs jinja2: pip install 'skbiasamp[report]'") from error
    return jinja2


_TEMPLATE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Bias amplification audit</title>
<h1>Bias amplification audit</h1>
<p>{{ context.rows }}, {{ context.date }}</p>
{% for name, result in results.items() %}
<h2>{{ name }}: {{ "%+.4f" | format(result.value) if result.value is not none }}</h2>
<p>{{ sentences[name] }}</p>
{% endfor %}
<ul>{% for one in findings %}<li>{{ one.text }}</li>{% endfor %}</ul>
</html>
"""
