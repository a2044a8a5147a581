"""The draft of the paper: its numbers stand in the files that it links, its citations exist."""

import re
from pathlib import Path

PAPER = Path(__file__).resolve().parents[1] / "paper"
TEXT = (PAPER / "paper.md").read_text("utf-8").split("---", 2)[2]


def numbers(text):
    """Return the numbers of two digits or more."""
    return set(re.findall(r"(?<![\w,.])[−+]?\d[\d,]*\.\d+|\d{1,3}(?:,\d{3})+|\b\d\d+\b", text))


def test_the_numbers_of_a_section_stand_in_the_files_that_it_links():
    checked = 0
    for section in re.split(r"\n# ", TEXT):
        links = re.findall(r"\]\((\.\./[^)#]+)", section)
        pages = "".join((PAPER / link).read_text("utf-8") for link in links)
        for number in numbers(re.sub(r"\]\([^)]*\)", "", section)):
            assert number in pages, (section[:30], number, links)
            checked += 1
    assert checked > 10


def test_citations_are_in_the_bibliography_and_all_of_it_is_cited():
    entries = re.findall(r"@\w+\{(\w+),", (PAPER / "paper.bib").read_text("utf-8"))
    assert sorted(set(re.findall(r"@(\w+\d{4})", TEXT))) == sorted(entries)
