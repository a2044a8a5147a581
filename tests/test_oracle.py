"""Values frozen from the papers' own released code, checked in exact rational arithmetic.

All cases are a file of their own (``cooccurrence_cases.json``, in the folder SKBIASAMP_ORACLE), and
some of them are in ``oracle.json`` here; both say how to read them. Rows are ``"A|T"`` in training
and ``"A|T|Â|T̂"`` in the audited data, each a string of 0 and 1; without training rows the audited
labels give the sign.
"""

import json
import math
import os
from functools import cache
from pathlib import Path

import pandas as pd
import pytest
from values_only import DirectionalAuditor, MALSAuditor, MultiAttributeAuditor

from skbiasamp import Contingency

EMBEDDED = Path(__file__).with_name("oracle.json")
FOLDER = os.environ.get("SKBIASAMP_ORACLE")
FILE = Path(FOLDER, "cooccurrence_cases.json") if FOLDER else EMBEDDED
CASES = json.loads(FILE.read_text())["cases"]
TOLERANCE = 1e-9
SIDES = ("group", "task", "group_pred", "task_pred")
# Some cases leave a group or a task without rows on purpose.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")


every_case = pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])


@cache
def counted(rows):
    """Return a table of counts with one 0/1 column a label, which is read once for all tests."""
    table = pd.DataFrame(
        [
            {
                f"{side}[{i}]": int(digit)
                for side, text in zip(SIDES, key.split("|"), strict=False)
                for i, digit in enumerate(text)
            }
            for key, _ in rows
        ]
    )
    return Contingency.from_counts(table.assign(n=[n for _, n in rows]))


def audited(case, auditor):
    test, train = (case[name] and counted(tuple(case[name].items())) for name in ("test", "train"))
    return auditor.fit(test if train is None else train).audit(test)


def agrees(value, expected):
    """Whether a number is the frozen one; None stands for a mean over nothing."""
    if expected is None:
        return math.isnan(value)
    return float(value) == pytest.approx(expected, rel=0, abs=TOLERANCE)


@every_case
def test_mals(case):
    result = audited(case, MALSAuditor(groups="indicator", formula="published"))
    assert agrees(float(result), case["values"]["mals"])


@every_case
@pytest.mark.parametrize("direction", ["A->T", "T->A"])
def test_directional(case, direction):
    for ties, key in (("zero", "directional"), ("negative", "directional_ties_negative")):
        auditor = DirectionalAuditor(direction, ties=ties, groups="indicator", formula="published")
        assert agrees(float(audited(case, auditor)), case["values"][key][direction])


@every_case
@pytest.mark.parametrize("direction", ["A->T", "T->A", None])
def test_sets_of_tasks(case, direction):
    for min_size in (1, 2):
        if direction is None:
            # A case without any set of two tasks says so with None only for the two directions.
            nothing = {"mean": None, "variance": None}
            found = case["values"].get(f"multi_mals_min_size_{min_size}", nothing)
            mean, variance = found["mean"], found["variance"]
        else:
            found = case["values"][f"multi_min_size_{min_size}"][direction]
            mean, variance = found["abs_mean"], found["var"]
        how = {"base": "test", "groups": "indicator", "formula": "published"}
        result = audited(case, MultiAttributeAuditor(direction, min_size=min_size, **how))
        assert agrees(float(result), mean)
        assert agrees(result.statistics["variance"], variance)


def test_the_embedded_cases_are_some_of_all():
    assert all(case in CASES for case in json.loads(EMBEDDED.read_text())["cases"])
