"""A report as Markdown: the sections of a Hugging Face model card."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from skbiasamp._utils.formatting import escaped, printable
from skbiasamp.render._view import view


def card(content: dict[str, Any]) -> str:
    """Return the Markdown of a report, from its `to_dict`; all text from data is escaped."""
    seen = view(content, most=50)
    primary, picture, rates = (seen[key] for key in ("primary", "picture", "rates"))
    lines = [*_evaluation_results(seen), "## Bias, Risks, and Limitations", ""]
    if primary:
        lines += [escaped(primary["sentence"]), ""]
    if picture:
        titles = ("group", f"labelled {picture['task']}", "predicted so", "change", "")
        cells = ("group", "before", "after", "change", "verdict")
        lines += [*_table(titles, ([bar[key] for key in cells] for bar in picture["bars"])), ""]
    said = {
        "": _texts(seen["limits"]),
        "### Recommendations": _texts(seen["first"]),
        "### Not measured": [f"{name}: {text}." for name, text in seen["not_measured"].items()],
        "## Evaluation\n\n### Testing Data, Factors & Metrics\n\n#### Testing Data": [
            f"{name}: {text}" for name, text in seen["facts"].items() if name != "Groups"
        ],
        "#### Factors": [f"Groups: {seen['facts'].get('Groups', 'none')}"],
        "#### Metrics": [
            f"{one['name']}: {one['question']} {one['definition']}" for one in seen["audits"]
        ],
    }
    for title, texts in said.items():
        lines += [title, ""] if title and texts else []
        lines += _list(texts)
    lines += ["### Results", ""]
    keys = ("name", "verdict", "estimate", "interval", "p")
    results = ([one[key] for key in keys] for one in seen["audits"])
    lines += [*_table(("metric", "verdict", "estimate", "interval", "p-value"), results), ""]
    lines += _list(f"{one['name']}: {one['sentence']}" for one in seen["audits"] if one != primary)
    if rates:
        rows = ([row["name"], *(_spelled(text) for text, _ in row["texts"])] for row in rates.drawn)
        lines += [*_table((rates.first, *rates.columns), rows), ""]
    context = seen["context"]
    versions = ", ".join(f"{k} {v}" for k, v in context.get("versions", {}).items())
    lines += [escaped(f"Made {context.get('date', '')} by {context.get('call', '')}"), ""]
    return "\n".join([*lines, escaped(f"Versions: {versions}.")]) + "\n"


def _evaluation_results(seen: dict[str, Any]) -> list[str]:
    """Return the block of a card that lists its results for programs (YAML)."""
    lines = ["---", "model-index:"]
    context = seen["context"]
    name, data = (context.get(key) or "not named" for key in ("model_name", "data_name"))
    lines += [f"- name: {_quoted(name)}", "  results:", "  - task:"]
    lines += ["      type: bias-amplification", "      name: Bias amplification audit"]
    lines += ["    dataset:", "      type: tabular", f"      name: {_quoted(data)}"]
    lines += ["    metrics:"]
    for one in seen["audits"]:
        if one["numbers"]["value"] is not None:
            lines += [f"    - type: {_quoted(one['key'])}"]
            lines += [f"      name: {_quoted(one['name'] + ': ' + one['verdict'])}"]
            lines += [f"      value: {one['numbers']['value']!r}"]
    return [*lines, "---", ""]


def _quoted(text: str) -> str:
    """Return text as YAML reads it, without what HTML or Markdown would read."""
    return re.sub(r"[<\[\]`*|]", lambda one: f"\\u{ord(one[0]):04x}", json.dumps(printable(text)))


def _texts(findings: list[dict[str, Any]]) -> list[str]:
    return [f"{one['text']} {one['action']}".strip() for one in findings]


def _spelled(text: str) -> str:
    """Return a number with its interval on one line."""
    number, _, ends = text.partition("\n")
    return f"{number} ({ends})" if ends else number


def _list(texts: Iterable[str]) -> list[str]:
    items = [f"- {escaped(text)}" for text in texts]
    return [*items, ""] if items else []


def _table(titles: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    head, *body = ("| " + " | ".join(map(escaped, cells)) + " |" for cells in (titles, *rows))
    return [head, "|" + "---|" * len(re.findall(r"(?<!\\)\|", head)[1:]), *body]
