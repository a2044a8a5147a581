"""Write docs/findings.md: every code of a finding, and when it is made.

python docs/_extensions/findings.py
"""

import inspect
from pathlib import Path

from skbiasamp.report.checks import every_check
from skbiasamp.results import COMPARISON_FINDINGS

PAGE = Path(__file__).parents[1] / "findings.md"
HEAD = """# Findings

A finding is one thing to know before the numbers of a report are used. Each has a code, which stays
the same. *wrong*: the verdict may be about something else. *act*: it changes what to do. *note*: it
is good to know. The owner is who can do something about it. `report.findings` has the numbers, and
the page has the sentences.

This page is generated: `python docs/_extensions/findings.py`.
"""
PARTS = {
    "1": "Labels and groups",
    "2": "The model",
    "3": "The verdict",
    "4": "Texts",
    "5": "Comparisons of models",
    "6": "Ways of training",
}


def known():
    """Return topic, severity, owner and explanation of every code, in the order of codes."""
    kinds = {
        each.code: (each.topic, each.severity, each.owner, inspect.getdoc(each.findings))
        for each in every_check()
    }
    return dict(sorted((kinds | COMPARISON_FINDINGS).items()))


def page():
    """Return the text of the page."""
    text, part = HEAD, ""
    for code, (topic, severity, owner, explained) in known().items():
        if code[3] != part:
            part = code[3]
            text += f"\n## {PARTS[part]}\n"
        text += f"\n({code.lower()})=\n\n### {code}: {topic}\n\n{explained}\n\n"
        text += f"Severity: {severity}. Owner: {owner}.\n"
    return text


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
