"""Every table and figure of the papers, with one of five words, and code for those with more data.

The rows are in inventory.csv; parts.csv has the sections and formulas of the papers.
"""

import csv
import re
from pathlib import Path
from typing import NamedTuple

from published._rows import markdown

FOLDER = Path(__file__).resolve().parent
SAME = "same"
EXPLAINED = "explained"
IN_PART = "explained in part"
NEEDS = "needs data we do not have"
CANNOT = "cannot be reproduced"
# Why of a figure or table that is drawn or stated here, but has no value to compare.
NO_NUMBERS = "no numbers to compare: "
WORDS = {
    SAME: "our value is the published one, rounded like it; or there are no numbers to compare, "
    "and a script here shows the same",
    EXPLAINED: "our value differs, and a table or a script says why, as far as we know",
    IN_PART: "the reason that is given accounts for a part of the difference",
    NEEDS: "the data or models that it needs are not available here",
    CANNOT: "the published description does not lead to the published value, with a proof",
}


class Part(NamedTuple):
    """A part of a paper: what has it here, its example, and which values ours are compared with."""

    paper: str
    where: str
    what: str
    status: str
    name: str
    example: str
    values: str  # the beginning of the rows of the file of values, as a pattern
    why: str = ""
    code: str = ""  # for those who have the data: a heading of missing.md


def read(name):
    with (FOLDER / name).open(encoding="utf-8", newline="") as opened:
        return [Part(**row) for row in csv.DictReader(opened)]


INVENTORY, PARTS = read("inventory.csv"), read("parts.csv")
# By heading: what is noted above the code, and the code.
MISSING = re.findall(
    r"^## (\w+)\n(.*?)\n```python\n(.*?)```",
    (FOLDER / "missing.md").read_text("utf-8"),
    re.M | re.S,
)
CODE = {name: code for name, _, code in MISSING}


def inventory():
    """Return the section of the page."""
    words = "\n".join(f"- **{word}**: {meaning}." for word, meaning in WORDS.items())
    rows = [[item.paper, item.where, item.what, item.status, item.why] for item in INVENTORY]
    table = markdown(["paper", "where", "what", "status", "why"], rows)
    return f"## Every table and figure\n\n{words}\n\n{table}\n"


def without_data():
    """Return the section with the code for those who have what is needed."""
    lines = [
        "## Code for values that need more data",
        "",
        "If you have the data, use this code. Names that are not imported are labels, predictions",
        "and captions, one row per image.",
    ]
    for name, note, code in MISSING:
        items = [item for item in INVENTORY if item.code == name]
        listed = "; ".join(f"{item.where}, {item.what}" for item in items)
        lines += ["", f"**{items[0].paper}:** {listed}.", *note.splitlines()]
        lines += ["", "```python", code + "```"]
    return "\n".join(lines) + "\n"
