"""From the papers to the code: each section, formula, table and figure, and what has it here."""

import re
from typing import NamedTuple

from published._rows import Row, filled, markdown
from published.inventory import IN_PART, INVENTORY, PARTS, SAME

DOCS = "docs/"
HEADER = ["where", "what", "published", "ours", "status", "name", "example"]


class Value(NamedTuple):
    """A line of the file of values."""

    where: str
    what: str
    published: str
    ours: str


def read_values(text):
    """Return the lines of the file that have a published number and ours."""
    tables = re.findall(r"^\| where \| what \| published .*\n(?:\|.*\n)+", text, re.MULTILINE)
    rows = [line.split(" | ") for table in tables for line in table.splitlines()[2:]]
    return [Value(row[0].removeprefix("| "), *row[1:4]) for row in rows]


def values_of(part, values):
    """Return the values that a part of a paper has."""
    return [value for value in values if part.values and re.match(part.values, value.what)]


def rows_of(part, values):
    """Yield a row for each value of a part, or one for a part without values."""
    found = [(*value, word_of(part, value)) for value in values_of(part, values)]
    code = name_of(part), link(part.example)
    for cells in found or [(part.where, part.what, "–", "–", part.status)]:
        yield *cells, *code
        code = "", ""


def word_of(part, value):
    """Return the status of a value: the part's own, unless it agrees or has another reason."""
    if agrees(value):
        return SAME
    # The reason of these parts is about the other reading, with test rows of α.
    return IN_PART if "all test rows" in value.what else part.status


def agrees(value):
    """Tell whether ours is the published number, once rounded as that one is."""
    published, ours = (number.replace("−", "-") for number in (value.published, value.ours))
    return Row("", "", published, float(ours)).agrees()


def parts():
    """Return the parts of papers: formulas and sections, then tables and figures."""
    return [*PARTS, *INVENTORY]


def link(example):
    """Return a link to a page of the docs, a script or a file of results."""
    if example.startswith("examples/"):
        return f"{{doc}}`auto_{example.removesuffix('.py')}`"
    if example.startswith(DOCS):
        return f"[{example.removeprefix(DOCS)}]({example.removeprefix(DOCS)})"
    return f"[{example.rpartition('/')[2]}](../{example})" if example else "–"


def paper_code(text):
    """Return the page of the docs, from the file of all values."""
    sections, values = [], read_values(text)
    for paper in dict.fromkeys(part.paper for part in PARTS):
        rows = [row for part in parts() if part.paper == paper for row in rows_of(part, values)]
        table = markdown(HEADER, rows)
        sections.append(f"## {paper}\n\n{table}")
    return filled(__file__, papers="\n\n".join(sections))


def name_of(part):
    return ", ".join(f"`{name}`" for name in part.name.split(", ")) if part.name else "–"
