"""What results of many kinds say is what tests/data/documents holds, word for word.

Where a change is meant, `whole_documents.py` writes the files anew, and git shows every sentence
and every number that is another one.
"""

import json
from dataclasses import FrozenInstanceError

import pytest
from scenarios import SCENARIOS
from whole_documents import (
    FOLDER,
    IN_MARKDOWN,
    kept_text,
    text_of,
    texts_differ,
    values_differ,
    values_of,
)


@pytest.mark.filterwarnings("ignore::skbiasamp.inference.UncertaintyWarning")
@pytest.mark.parametrize("name", SCENARIOS)
def test_texts_and_numbers_are_those_that_were_kept(name):
    result = SCENARIOS[name]()
    assert texts_differ(text_of(result, markdown=name in IN_MARKDOWN), kept_text(name)) is None
    if hasattr(result, "verdict"):
        kept = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
        assert values_differ(values_of(result), kept) is None


def test_each_file_has_its_scenario():
    assert {path.stem for path in FOLDER.iterdir()} == set(SCENARIOS)


@pytest.mark.parametrize(
    ("found", "kept", "same"),
    [
        ("+0.0288 of 400 rows", "+0.0289 of 400 rows", True),
        ("+0.0288 of 400 rows", "+0.0290 of 400 rows", False),
        ("+0.0288 of 400 rows", "−0.0288 of 400 rows", False),
        ("2.9 %", "2.90 %", False),
        ("1,234 rows", "1,235 rows", True),
        ("0.05 amplifies", "0.05 reduces", False),
        ("a line", "a line\nand another", False),
    ],
)
def test_words_are_compared_exactly_and_numbers_to_their_last_digit(found, kept, same):
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


@pytest.mark.parametrize("name", ["one_result", "trained_labels", "two_models", "watch", "gate"])
def test_results_cannot_be_changed(name):
    result = SCENARIOS[name]()
    with pytest.raises(FrozenInstanceError):
        result.metric = "another"
