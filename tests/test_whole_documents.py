"""What results of many kinds say is what tests/data/documents holds, word for word.

Where a change is meant, `whole_documents.py` writes the files anew, and git shows every sentence
and every number that is another one.
"""

import json
import re

import pandas as pd
import pytest
from scenarios import KINDS, SCENARIOS, numbers_of, ways_of
from whole_documents import (
    FOLDER,
    IN_MARKDOWN,
    kept_text,
    text_of,
    texts_differ,
    texts_in,
    values_differ,
    values_of,
)

from skbiasamp.render.document import Actions, Card
from skbiasamp.results import AuditReport


def first_screen_of(result):
    """Return the parts of a document that readers see first, if it has a card."""
    sections = result.to_document().sections if hasattr(result, "to_document") else ()
    items = [item for section in sections for item in section.items]
    has_card = any(isinstance(item, Card) for item in items)
    return [item for item in items if has_card and isinstance(item, Card | Actions)]


def assert_short(result):
    """The first screen has 25 lines, ten numbers, and sentences of twenty words without names."""
    screen = first_screen_of(result)
    context = getattr(result, "context", {})
    names = [str(name) for name in context.get("groups", ()) + context.get("tasks", ())]
    columns = context.get("group_columns", ())
    if len(columns) > 1:
        names += [
            ", ".join(f"{c} = {v}" for c, v in zip(columns, group, strict=True))
            for group in context["groups"]
        ]
    for text in texts_in(screen):
        for name in sorted(names, key=len, reverse=True):
            text = text.replace(name, "X")
        text = re.sub(r"“[^”]*”", "X", text).replace(" %", "%")
        for sentence in re.split(r"(?<=[.?!;])\s+", text):
            assert len(sentence.split()) <= 20, sentence
    assert not screen or len(str(result).splitlines()) <= 25
    if isinstance(result, AuditReport):
        card = screen[0]
        texts = [card.title, card.lead, *texts_in(card.answers)]
        text = re.sub(r"\d{4}-\d\d", "1", re.sub("“[^”]*”", "", " ".join(texts)))
        assert len(re.findall(r"\d[\d,]*(?:\.\d+)?", text)) <= 10  # beside the picture


@pytest.mark.filterwarnings("ignore::skbiasamp.inference.UncertaintyWarning")
@pytest.mark.parametrize("name", sorted(SCENARIOS.keys() - {"numbers_of_every_way"}))
def test_texts_and_numbers_are_those_that_were_kept(name):
    result = SCENARIOS[name]()
    assert texts_differ(text_of(result, markdown=name in IN_MARKDOWN), kept_text(name)) is None
    if hasattr(result, "verdict"):
        kept = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
        assert values_differ(values_of(result), kept) is None
    assert_short(result)


@pytest.mark.parametrize("way", ways_of(1))
@pytest.mark.parametrize("kind", KINDS)
def test_numbers_of_every_way_are_those_that_were_kept(kind, way):
    table = pd.read_csv(FOLDER / "numbers_of_every_way.md", index_col=0, keep_default_na=False)
    kept = table[(table["rows"] == kind) & (table["count as"] == way)].to_numpy().tolist()
    found = list(map(list, numbers_of(kind, way)))
    assert texts_differ(*("\n".join(map(str, rows)) for rows in (found, kept))) is None


def test_each_file_has_its_scenario():
    assert {path.stem for path in FOLDER.iterdir()} == set(SCENARIOS)


def test_words_are_compared_exactly_and_numbers_to_their_last_digit():
    for found, kept, same in (
        ("+0.0288 of 400 rows", "+0.0289 of 400 rows", True),
        ("+0.0288 of 400 rows", "+0.0290 of 400 rows", False),
        ("+0.0288 of 400 rows", "−0.0288 of 400 rows", False),
        ("-0.0288 of 400 rows", "−0.0288 of 400 rows", False),
        ("2.9 %", "2.90 %", False),
        ("1,234 rows", "1,235 rows", False),
        ("0.05 amplifies", "0.05 reduces", False),
        ("a line", "a line\nand another", False),
    ):
        assert (texts_differ(found, kept) is None) == same


def test_contents_are_compared_by_keys_types_and_values():
    kept = {"value": 0.25, "rows": 3, "table": [{"n": 1.0, "verdict": "up"}], "low": None}
    assert values_differ(json.loads(json.dumps(kept)), kept) is None
    assert values_differ(kept | {"value": 0.25 + 1e-9}, kept) is None
    for other in (
        kept | {"value": 0.2501},
        kept | {"rows": True},
        kept | {"rows": 4},
        kept | {"low": 0.0},
        kept | {"more": 1},
        kept | {"table": []},
        kept | {"table": [{"n": 1.0, "verdict": "down"}]},
        {name: kept[name] for name in reversed(kept)},
    ):
        assert values_differ(other, kept)
