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

import numpy as np
import pandas as pd
import pytest
from cut_oracle import EMBEDDED, cut
from values_only import DirectionalAuditor, MALSAuditor, MultiAttributeAuditor

from skbiasamp import Contingency
from skbiasamp.metrics import (
    directional_amplification,
    mals_amplification,
    multi_attribute_amplification,
)

FOLDER = os.environ.get("SKBIASAMP_ORACLE")
FILE = Path(FOLDER, "cooccurrence_cases.json") if FOLDER else EMBEDDED
CASES = json.loads(FILE.read_text())["cases"]
TOLERANCE = 1e-9
SIDES = ("group", "task", "group_pred", "task_pred")
DIRECTIONS = ("A->T", "T->A")
# Some cases leave a group or a task without rows on purpose.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")


every_case = pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])


def repeated(rows):
    """Return the label matrices, each published row repeated as often as it occurs."""
    keys = [key.split("|") for key in rows]
    n = list(rows.values())
    sides = ([[int(digit) for digit in text] for text in side] for side in zip(*keys, strict=True))
    return dict(zip(SIDES, (np.repeat(np.array(side), n, axis=0) for side in sides), strict=False))


def counts(rows):
    """Return the same as a table of counts, which is read once for all tests."""
    return counted(tuple(rows.items()))


@cache
def counted(rows):
    """Return a table of counts with one 0/1 column a label."""
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


def by_counts(case, auditor):
    """Audit contingencies that were read from counts."""
    test = counts(case["test"])
    train = test
    if case["train"] is not None:
        train = counts(case["train"])
    return auditor.fit(train).audit(test)


def by_rows(case, auditor):
    """Audit the rows, repeated; where there is no training, with ``reference='test'``."""
    test = repeated(case["test"])
    if case["train"] is None:
        auditor.set_params(reference="test")
    else:
        train = repeated(case["train"])
        auditor.fit(train["task"], sensitive_features=train["group"])
    return auditor.audit(
        test["task"],
        test["task_pred"],
        sensitive_features=test["group"],
        sensitive_pred=test["group_pred"],
    )


def by_function(case, metric, **options):
    """Call the functional form on the rows."""
    test = repeated(case["test"])
    train = {"group": None, "task": None}
    if case["train"] is not None:
        train = repeated(case["train"])
    return metric(
        test["task"],
        test["task_pred"],
        sensitive_features=test["group"],
        sensitive_pred=test["group_pred"],
        y_train=train["task"],
        sensitive_train=train["group"],
        groups="indicator",
        **options,
    )


def agrees(value, expected):
    """Whether a number is the frozen one; None stands for a mean over nothing."""
    if expected is None:
        return math.isnan(value)
    return float(value) == pytest.approx(expected, rel=0, abs=TOLERANCE)


@every_case
@pytest.mark.parametrize("audited", [by_counts, by_rows])
def test_mals(case, audited):
    result = audited(case, MALSAuditor(groups="indicator", formula="published"))
    assert agrees(float(result), case["values"]["mals"])
    assert agrees(by_function(case, mals_amplification), case["values"]["mals"])


@every_case
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("ties", ["zero", "negative"])
def test_directional(case, direction, ties):
    key = "directional" if ties == "zero" else "directional_ties_negative"
    expected = case["values"][key][direction]
    for audited in (by_counts, by_rows):
        auditor = DirectionalAuditor(direction, ties=ties, groups="indicator", formula="published")
        assert agrees(float(audited(case, auditor)), expected)
    value = by_function(case, directional_amplification, direction=direction, ties=ties)
    assert agrees(value, expected)


@every_case
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("min_size", [1, 2])
def test_multi_attribute(case, direction, min_size):
    expected = case["values"][f"multi_min_size_{min_size}"][direction]
    options = {"direction": direction, "min_size": min_size, "base": "test"}
    for audited in (by_counts, by_rows):
        result = audited(
            case, MultiAttributeAuditor(groups="indicator", **options, formula="published")
        )
        assert agrees(float(result), expected["abs_mean"])
        assert agrees(result.statistics["variance"], expected["var"])
    value = by_function(case, multi_attribute_amplification, **options)
    assert agrees(value, expected["abs_mean"])


@every_case
@pytest.mark.parametrize("min_size", [1, 2])
def test_multi_mals(case, min_size):
    # A case without any set of two tasks says so with None only for the two directions.
    nothing = {"mean": None, "variance": None}
    expected = case["values"].get(f"multi_mals_min_size_{min_size}", nothing)
    options = {"direction": None, "min_size": min_size, "base": "test"}
    for audited in (by_counts, by_rows):
        result = audited(
            case, MultiAttributeAuditor(groups="indicator", **options, formula="published")
        )
        assert agrees(float(result), expected["mean"])
        assert agrees(result.statistics["variance"], expected["variance"])
    value = by_function(case, multi_attribute_amplification, **options)
    assert agrees(value, expected["mean"])


@pytest.mark.skipif(not FOLDER, reason="SKBIASAMP_ORACLE does not name the folder of all cases")
def test_the_embedded_cases_are_some_of_all():
    assert json.loads(EMBEDDED.read_text())["cases"] == cut(CASES)
