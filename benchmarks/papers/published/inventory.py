"""Every table and figure of the papers, the words of a status, and code for those with more data.

The rows are in inventory.csv; parts.csv has the sections and formulas of the papers.
"""

import csv
import re
from pathlib import Path
from typing import NamedTuple

from published._rows import markdown

FOLDER = Path(__file__).resolve().parent
SAME = "same"
WITHIN = "within the spread"
DIFFERS = "differs"
NO_NUMBER = "no number"
NOT_MEASURED = "not measured"
# In place of a word: each published value of the table or figure has its own.
BY_VALUE = ""
WORDS = {
    SAME: "our value, rounded to the digits that the paper prints, is the published value; if the "
    "paper says “more than 60” (> 60), ours is more. If ours is computed “from the printed” "
    "numbers of the paper, *same* shows that these agree with one another",
    WITHIN: "not the same, but the difference between the numbers as shown is at most the ± beside "
    "them, the larger one if there are two",
    DIFFERS: "the difference is larger than that, or no ± stands beside the values",
    NO_NUMBER: "a section, formula, figure or table without results in numbers, or whose numbers "
    "have lines of their own",
    NOT_MEASURED: "a result that needs data or models that are not available here; *ours* names "
    "them",
}


class Part(NamedTuple):
    """A part of a paper: what has it here, its example, and which values ours are compared with."""

    paper: str
    where: str
    what: str
    name: str
    example: str
    values: str  # the beginning of the rows of the file of values, as a pattern
    status: str = NO_NUMBER
    why: str = ""
    unknown: str = ""  # "yes": the reason of the differences is not known in full
    code: str = ""  # for those who have the data: a heading of missing.md

    @property
    def needs(self):
        """Return what a result needs that is not available here."""
        return self.why.partition(";")[0] if self.status == NOT_MEASURED else ""


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


def legend():
    """Return the words of a status and their meanings, as a list."""
    return "\n".join(f"- **{word}**: {meaning}." for word, meaning in WORDS.items())


def inventory(status):
    """Return the section of the page; `status` is a function of an item."""
    rows = [[item.paper, item.where, item.what, status(item), item.why] for item in INVENTORY]
    table = markdown(["paper", "where", "what", "status", "why"], rows)
    return f"## Every table and figure\n\n{legend()}\n\n{table}\n"


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
