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
from itertools import product
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
def test_mals(case):
    expected = case["values"]["mals"]
    for audited in (by_counts, by_rows):
        result = audited(case, MALSAuditor(groups="indicator", formula="published"))
        assert agrees(float(result), expected)
    assert agrees(by_function(case, mals_amplification), expected)


@every_case
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_directional(case, direction):
    for ties, key in (("zero", "directional"), ("negative", "directional_ties_negative")):
        expected = case["values"][key][direction]
        options = {"direction": direction, "ties": ties}
        for audited in (by_counts, by_rows):
            auditor = DirectionalAuditor(**options, groups="indicator", formula="published")
            assert agrees(float(audited(case, auditor)), expected)
        assert agrees(by_function(case, directional_amplification, **options), expected)


def of_sets(case, expected, mean, variance, **options):
    """Assert that sets of tasks have the frozen mean and variance, however they are audited."""
    for audited in (by_counts, by_rows):
        auditor = MultiAttributeAuditor(
            **options, base="test", groups="indicator", formula="published"
        )
        result = audited(case, auditor)
        assert agrees(float(result), expected[mean])
        assert agrees(result.statistics["variance"], expected[variance])
    value = by_function(case, multi_attribute_amplification, base="test", **options)
    assert agrees(value, expected[mean])


@every_case
def test_multi_attribute(case):
    for direction, min_size in product(DIRECTIONS, (1, 2)):
        expected = case["values"][f"multi_min_size_{min_size}"][direction]
        of_sets(case, expected, "abs_mean", "var", direction=direction, min_size=min_size)


@every_case
def test_multi_mals(case):
    # A case without any set of two tasks says so with None only for the two directions.
    nothing = {"mean": None, "variance": None}
    for min_size in (1, 2):
        expected = case["values"].get(f"multi_mals_min_size_{min_size}", nothing)
        of_sets(case, expected, "mean", "variance", direction=None, min_size=min_size)


@pytest.mark.skipif(not FOLDER, reason="SKBIASAMP_ORACLE does not name the folder of all cases")
def test_the_embedded_cases_are_some_of_all():
    assert json.loads(EMBEDDED.read_text())["cases"] == cut(CASES)
