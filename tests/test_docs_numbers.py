"""Numbers of the docs that cite a file of results are in that file, rounded or in per cent."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
NUMBER = re.compile(r"(?<![\w.,-])[+−-]?\d[\d,]*(?:\.\d+)?(?![\w.]*\w)")
# Numbers beside a link that are no results: a limit of what was tried, bits of a float, settings
# that were counted, an argument.
NO_RESULTS = {
    "evidence": {"80"},
    "migration": {"32"},
    "monitoring": {"12"},
    "reports": {"0.02"},
}


def value(text):
    return abs(float(text.replace(",", "").replace("−", "-")))


def paragraphs():
    """Yield each paragraph of a page that links to results, and the text of these files."""
    for page in sorted((ROOT / "docs").glob("*.md")):
        text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
        for paragraph in re.split(r"\n\s*\n|\n(?=- )", text):
            files = re.findall(r"\]\(\.\./(benchmarks/results/[\w-]+\.md)", paragraph)
            if files:
                results = "\n".join((ROOT / file).read_text("utf-8") for file in files)
                yield page.stem, re.sub(r"\]\([^)]*\)", "]", paragraph), results


def without_source(paragraph, results):
    """Return the numbers of a paragraph that are not among the results."""
    known = {value(number) for number in NUMBER.findall(results)}
    lacking = set()
    for text in NUMBER.findall(paragraph):
        digits = len(text.partition(".")[2])
        # Shares and per cent, milliseconds and seconds.
        scaled = (round(times * one, digits) for one in known for times in (1, 100, 0.01, 0.001))
        if value(text) not in scaled:
            lacking.add(text)
    return lacking


@pytest.mark.parametrize(
    ("page", "paragraph", "results"),
    [pytest.param(*case, id=f"{case[0]}-{at}") for at, case in enumerate(paragraphs())],
)
def test_numbers_beside_a_link_to_results_are_there(page, paragraph, results):
    assert without_source(paragraph, results) - NO_RESULTS.get(page, set()) == set()


def test_the_check_finds_a_number_that_no_script_printed():
    results = "| share | 0.0237 | 12.9 s |"
    assert without_source("2.4 % in 13 s", results) == set()
    assert without_source("2.5 % in 12 s", results) == {"2.5", "12"}


def test_ten_times_the_rows_are_by_arithmetic():
    """What the page on scale extrapolates, from the last point and the exponent of a curve."""
    growth = (ROOT / "benchmarks" / "results" / "growth.md").read_text("utf-8")
    page = " ".join((ROOT / "docs" / "scale.md").read_text("utf-8").split())
    for engine in ("DuckDB", "lazy polars"):
        (exponent,) = re.findall(rf"time over rows, {engine} \|[^|]*\| ([\d.]+)", growth)
        (seconds,) = re.findall(rf"rows, {engine} \| 1e8 \| ([\d.]+) s", growth)
        assert f"{engine.split()[-1]} {float(seconds) * 10 ** float(exponent):.0f} s" in page
