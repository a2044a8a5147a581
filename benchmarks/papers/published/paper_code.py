"""From the papers to the code: each section, formula, table and figure, and what has it here.

The tables and figures are in inventory.csv, the sections and formulas in parts.csv.
"""

import csv
import re
from collections import Counter
from decimal import Decimal
from typing import NamedTuple

from published._rows import FOLDER, Row, filled, markdown

DOCS = "docs/"
HEADER = ["where", "what", "published", "ours", "status", "name", "example"]
SAME = "same"
WITHIN = "within the spread"
DIFFERS = "differs"
NO_NUMBER = "no number"
NOT_MEASURED = "not measured"
# In place of a word: each published value of the table or figure has its own.
BY_VALUE = ""
# The words of a status and their meanings, as a list.
LEGEND = (FOLDER / "legend.md").read_text("utf-8").strip()
WORDS = re.findall(r"\*\*(.+)\*\*", LEGEND)


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
EVERY = [*PARTS, *INVENTORY]
PAPERS = list(dict.fromkeys(part.paper for part in PARTS))
# What stands above all code; by heading: what is noted above the code, and the code.
HEAD, *SECTIONS = re.split(r"\n\n(?=## \w+\n)", (FOLDER / "missing.md").read_text("utf-8"))
MISSING = [
    re.match(r"## (\w+)\n(.*?)\n```python\n(.*?)```", one, re.S).groups() for one in SECTIONS
]
CODE = {name: code for name, _, code in MISSING}


def inventory(status):
    """Return the section of the page; `status` is a function of an item."""
    rows = [[item.paper, item.where, item.what, status(item), item.why] for item in INVENTORY]
    table = markdown(["paper", "where", "what", "status", "why"], rows)
    return f"## Every table and figure\n\n{LEGEND}\n\n{table}\n"


def without_data():
    """Return the section with the code for those who have what is needed."""
    lines = [HEAD]
    for name, note, code in MISSING:
        items = [item for item in INVENTORY if item.code == name]
        listed = "; ".join(f"{item.where}, {item.what}" for item in items)
        lines += ["", f"**{items[0].paper}:** {listed}.", *note.splitlines()]
        lines += ["", "```python", code + "```"]
    return "\n".join(lines) + "\n"


class Value(NamedTuple):
    """A line of the file of values; either number can have a spread, as in ``"1083 ± 31"``."""

    where: str
    what: str
    published: str
    ours: str


def read_values(text):
    """Return the lines of the file that have a published number and ours."""
    tables = re.findall(r"^\| where \| what \| published .*\n(?:\|.*\n)+", text, re.MULTILINE)
    rows = [line.split(" | ") for table in tables for line in table.splitlines()[2:]]
    return [
        Value(where.removeprefix("| "), what, published, ours + spread_in(why))
        for where, what, published, ours, _, why in rows
    ]


def spread_in(why):
    """Return the spread of our value, which stands in its reason, as it follows a number."""
    found = re.search(r"± \d[\d.]*", why)
    return f" {found[0]}" if found else ""


def values_of(part, values):
    """Return the values that a part of a paper has."""
    return [value for value in values if part.values and re.match(part.values, value.what)]


def rows_of(part, values):
    """Yield a row for each value of a part, or one for a part without values."""
    found = [(*value, word_of(value)) for value in values_of(part, values)]
    code = name_of(part), link(part.example)
    ours = f"needs {part.needs}" if part.needs else "–"
    for cells in found or [(part.where, part.what, "–", ours, part.status)]:
        yield *cells, *code
        code = "", ""


def word_of(value):
    """Return the status of a value, from the numbers and spreads that are printed."""
    published, ours = (number.replace("−", "-") for number in (value.published, value.ours))
    ours, *our_spread = map(Decimal, ours.split(" ± "))
    row = Row("", "", published, float(ours))
    if row.agrees():
        return SAME
    spreads = [*our_spread, *map(Decimal, published.split(" ± ")[1:])]
    near = spreads and abs(ours - Decimal(row.number())) <= max(spreads)
    return WITHIN if near else DIFFERS


def status_of(item, values):
    """Return how many values of a table or figure have which word, or the word of all of it."""
    words = Counter(map(word_of, values_of(item, values)))
    if len(words) < 2:
        return "".join(words) or item.status
    return ", ".join(f"{words[word]} {word}" for word in WORDS if words[word])


def lines_of(paper, values):
    """Return the lines of a paper."""
    return [row for part in EVERY if part.paper == paper for row in rows_of(part, values)]


def counts_of_words(text):
    """Return how many lines of each paper have which word, from the file of all values."""
    values = read_values(text)
    return {paper: Counter(row[4] for row in lines_of(paper, values)) for paper in PAPERS}


def link(example):
    """Return a link to a page of the docs, a script or a file of results."""
    if example.startswith("examples/"):
        return f"{{doc}}`auto_{example.removesuffix('.py')}`"
    if example.startswith(DOCS):
        return f"[{example.removeprefix(DOCS)}]({example.removeprefix(DOCS)})"
    return f"[{example.rpartition('/')[2]}](../{example})" if example else "–"


def paper_code(text):
    """Return the page of the docs, from the file of all values."""
    values = read_values(text)
    sections = [f"## {paper}\n\n{markdown(HEADER, lines_of(paper, values))}" for paper in PAPERS]
    return filled(__file__, legend=LEGEND, papers="\n\n".join(sections))


def name_of(part):
    return ", ".join(f"`{name}`" for name in part.name.split(", ")) if part.name else "–"
