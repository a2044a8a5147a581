"""Numbers that papers print, on the counts that they print.

WR21 is Wang and Russakovsky, "Directional Bias Amplification", ICML 2021; ZAX23 is Zhao, Andrews
and Xiang, "Men Also Do Laundry", ICML 2023; TOK24 is Tokas et al., "Making Bias Amplification in
Balanced Datasets Directional and Interpretable" (DPA), 2024; ZHAO17 is Zhao et al., "Men Also
Like Shopping", EMNLP 2017. A published count stands here as ``"A|T|Â|T̂": rows``, each of the four a
string of 0 and 1, one a column.
"""

import json
import math
import os
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from values_only import DirectionalAuditor, MALSAuditor, MultiAttributeAuditor

from skbiasamp import Contingency
from skbiasamp.datasets import load_compas
from skbiasamp.metrics import (
    directional_amplification,
    mals_amplification,
    multi_attribute_amplification,
)

# Some cases leave a group or a task without rows on purpose.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
# The half-unit of the last digit that a paper prints.
FOUR_DIGITS, THREE_DIGITS = 5e-5, 5e-4

SHORTCOMING_1 = {
    "100|0|100|0": 10,
    "100|1|100|1": 40,
    "010|0|010|0": 40,
    "010|1|010|0": 10,
    "001|0|001|1": 10,
    "001|1|001|1": 20,
}
SHORTCOMING_1_WOMEN_RIGHT = {"10|0|10|0": 10, "10|1|10|1": 40, "01|0|01|0": 40, "01|1|01|0": 10}
SHORTCOMING_1_MEN_RIGHT = {"10|0|10|1": 10, "10|1|10|1": 40, "01|0|01|0": 40, "01|1|01|1": 10}
SHORTCOMING_2 = {"10|0|10|0": 60, "10|1|10|0": 30, "01|0|01|1": 10, "01|1|01|1": 20}

# Both classes are columns. Only the margins (A, T), (A, T̂) and (T, Â) are printed; this is one of
# the tables that have them, and the two directions depend on nothing else.
COMPAS_UNBALANCED = {
    "10|10|10|10": 1056,
    "10|10|01|10": 109,
    "10|10|01|01": 64,
    "01|10|01|10": 1402,
    "10|01|10|01": 874,
    "01|01|10|10": 144,
    "01|01|10|01": 97,
    "01|01|01|01": 1532,
}
COMPAS_BALANCED = {
    "10|10|10|10": 874,
    "10|01|10|10": 271,
    "10|01|10|01": 603,
    "01|10|10|10": 209,
    "01|10|01|10": 665,
    "01|01|10|10": 22,
    "01|01|01|10": 52,
    "01|01|01|01": 800,
}


def digits(text):
    return [int(digit) for digit in text]


def read(counts):
    """Return the four label matrices, one row a published row, and how often each occurs."""
    labels = zip(*(key.split("|") for key in counts), strict=True)
    return *(np.array([digits(text) for text in side]) for side in labels), list(counts.values())


def measured(counts, auditor):
    """Return the auditor's result on published counts, both classes of a task being tasks."""
    a, t, a_pred, t_pred, n = read(counts)
    return auditor.fit(t, sensitive_features=a, sample_weight=n).audit(
        t, t_pred, sensitive_features=a, sensitive_pred=a_pred, sample_weight=n
    )


MALS = MALSAuditor(groups="indicator", formula="published")
A_TO_T = DirectionalAuditor("A->T", groups="indicator", formula="published")
T_TO_A = DirectionalAuditor("T->A", groups="indicator", formula="published")
MULTI_A_TO_T = MultiAttributeAuditor("A->T", max_size=1, groups="indicator", formula="published")
MULTI_T_TO_A = MultiAttributeAuditor("T->A", max_size=1, groups="indicator", formula="published")
UNBALANCED = "TOK24-table-3-unbalanced", COMPAS_UNBALANCED
BALANCED = "TOK24-table-3-balanced", COMPAS_BALANCED


@pytest.mark.parametrize(
    ("counts", "auditor", "printed", "precision", "exact"),
    [
        pytest.param(*case, id=name)
        for name, *case in [
            ("WR21-4.1-shortcoming-1-MALS", SHORTCOMING_1, MALS, 0, 1e-12, 0),
            ("WR21-4.1-shortcoming-1-A->T", SHORTCOMING_1, A_TO_T, 0.1778, FOUR_DIGITS, 8 / 45),
            ("WR21-4.1-shortcoming-1-T->A", SHORTCOMING_1, T_TO_A, 0, 1e-12, 0),
            ("WR21-3.2-two-groups-0-on-A2", SHORTCOMING_1_WOMEN_RIGHT, MALS, 0.2, 1e-12, 0.2),
            ("two-groups-0-on-A2-A->T", SHORTCOMING_1_WOMEN_RIGHT, A_TO_T, 0.1, 1e-12, 0.1),
            ("WR21-3.2-two-groups-1", SHORTCOMING_1_MEN_RIGHT, MALS, 0.033, THREE_DIGITS, 1 / 30),
            ("two-groups-1-on-A1-A->T", SHORTCOMING_1_MEN_RIGHT, A_TO_T, 0.1, 1e-12, 0.1),
            ("WR21-3.2-shortcoming-2-MALS", SHORTCOMING_2, MALS, -0.6, 1e-12, -0.6),
            ("WR21-4.1-shortcoming-2-A->T", SHORTCOMING_2, A_TO_T, 0.3333, FOUR_DIGITS, 1 / 3),
            ("WR21-4.1-shortcoming-2-T->A", SHORTCOMING_2, T_TO_A, 0, 1e-12, 0),
            (*UNBALANCED, A_TO_T, -0.038, THREE_DIGITS, -0.03789352293873394),
            (*UNBALANCED, T_TO_A, -0.078, THREE_DIGITS, -0.07840046684089916),
            (*UNBALANCED, MULTI_A_TO_T, 0.038, THREE_DIGITS, 0.03789352293873394),
            (*UNBALANCED, MULTI_T_TO_A, 0.078, THREE_DIGITS, 0.07840046684089916),
            (*BALANCED, A_TO_T, 0, 0, 0),
            (*BALANCED, T_TO_A, 0, 0, 0),
            (*BALANCED, MULTI_A_TO_T, 0.099, THREE_DIGITS, 0.09868421052631579),
            (*BALANCED, MULTI_T_TO_A, 0.066, THREE_DIGITS, 0.06607551487414187),
        ]
    ],
)
def test_reproduces_a_printed_number_and_the_digits_that_it_rounds(
    counts, auditor, printed, precision, exact
):
    """Exact values are from the authors' released code (github.com/princetonvisualai/
    directional-bias-amp and its multi-attribute counterpart) on the printed counts, or the fraction
    by hand."""
    value = float(measured(counts, auditor))
    assert abs(value - printed) <= precision
    assert value == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize(
    ("women_painting", "directional", "mals"),
    [
        (0, -0.375, -0.5357142857142857),
        (15, -0.1875, -0.1772727272727273),
        (30, 0.0, 0.0),
        (40, 0.125, 0.15000000000000002),
    ],
)
def test_painting_women_of_figure_2(women_painting, directional, mals):
    """WR21, Fig. 2: 30 of 40 women and 10 of 40 men paint. The model is right about the men.

    A→T is a line through (0, −0.375) and (30, 0), as one finds by hand; MALS of the same points
    is what the authors' example code gives.
    """
    gender = ["woman"] * 40 + ["man"] * 40
    paints = [1] * 30 + [0] * 10 + [1] * 10 + [0] * 30
    predicted = [1] * women_painting + [0] * (40 - women_painting) + paints[40:]
    both = {"y_true": np.eye(2)[paints], "y_pred": np.eye(2)[predicted]}
    assert directional == pytest.approx((women_painting / 40 - 0.75) / 2)
    value = directional_amplification(**both, sensitive_features=gender)
    assert value == pytest.approx(directional, abs=1e-12)
    assert mals_amplification(**both, sensitive_features=gender) == pytest.approx(mals, abs=1e-12)


def test_the_hugging_face_metric_card():
    """The example of the metric card "directional_bias_amplification" on the Hugging Face hub."""
    group = ["A"] * 3 + ["B"] * 5
    auditor = DirectionalAuditor(reference="test", formula="published")
    result = auditor.audit(
        [0, 1, 1, 0, 0, 0, 0, 1], [1, 1, 1, 0, 0, 0, 0, 0], sensitive_features=group
    )
    assert float(result) == pytest.approx(0.2667, abs=FOUR_DIGITS)
    np.testing.assert_allclose(result.table["amplification"], [1 / 3, 0.2], atol=1e-12)


def data_folder():
    """Return the folder of the reference data."""
    if "SKBIASAMP_DATA" not in os.environ:
        pytest.skip("needs the reference data")
    return Path(os.environ["SKBIASAMP_DATA"])


def test_balancing_the_compas_file_gives_exactly_zero():
    """As many rows of each race and label: every sign is an exact tie, whatever is predicted."""
    rows = load_compas().frame.groupby(["race", "is_recid"]).sample(874, random_state=0)
    predicted = (rows["decile_score"] > 4).astype(int)
    value, multi = (
        metric(rows["is_recid"], predicted, sensitive_features=rows["race"])
        for metric in (directional_amplification, multi_attribute_amplification)
    )
    assert len(rows) == 4 * 874
    assert value == 0.0 < 0.05 < multi


# --------------------------------------------------------------------------- the authors' code

# Values frozen from the papers' own released code, checked in exact rational arithmetic. All cases
# are a file of their own (``cooccurrence_cases.json``, in the folder SKBIASAMP_ORACLE), and some of
# them are in ``oracle.json`` here; both say how to read them. Without training rows the audited
# labels give the sign.
EMBEDDED = Path(__file__).with_name("oracle.json")
FOLDER = os.environ.get("SKBIASAMP_ORACLE")
FILE = Path(FOLDER, "cooccurrence_cases.json") if FOLDER else EMBEDDED
CASES = json.loads(FILE.read_text())["cases"]
TOLERANCE = 1e-9
SIDES = ("group", "task", "group_pred", "task_pred")


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
