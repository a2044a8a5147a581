"""Groups and tasks that training labels lack: said, and measured by the audited labels."""

import numpy as np
import pandas as pd
import pytest

import skbiasamp
from skbiasamp import Contingency, DirectionalAuditor, MultiAttributeAuditor, NumericAuditor
from skbiasamp.inference import UncertaintyWarning

RNG = np.random.default_rng(0)
N = 3000
GROUP = RNG.choice(["a", "b", "c"], N)
RATE = {"a": 0.2, "b": 0.4, "c": 0.6}
LABEL = (RNG.random(N) < [RATE[group] for group in GROUP]).astype(int)
PREDICTED = np.where(GROUP == "c", RNG.random(N) < 0.8, LABEL).astype(int)
KNOWN = GROUP != "c"


def test_a_group_that_training_lacks_is_measured_along_the_audited_labels():
    auditor = DirectionalAuditor().fit(LABEL[KNOWN], sensitive_features=GROUP[KNOWN])
    with pytest.warns(UncertaintyWarning, match="training labels lack the group 'c'"):
        result = auditor.audit(LABEL, PREDICTED, sensitive_features=GROUP)
    table = result.table.set_index("group")
    # A tie in the paper's formula, and a clear direction in the audited labels.
    assert table["sign"].to_dict() == {"a": -1, "b": 1, "c": 0}
    assert table.loc["c", "sign_weight"] == pytest.approx(1)
    change = table["change"]
    assert result.value == pytest.approx((-change["a"] + change["b"] + change["c"]) / 3)
    assert result.low < result.value < result.high
    cells = Contingency.from_labels(LABEL, PREDICTED, sensitive_features=GROUP)
    assert auditor.score(cells) == pytest.approx(result.value)
    # A column that no training row has is a task that training lacks.
    labels = pd.DataFrame(RNG.integers(0, 2, (N, 2)), columns=["dog", "cup"])
    train = {"y_train": labels.assign(cup=0), "sensitive_train": GROUP}
    how = {"sensitive_features": GROUP, "auditor": DirectionalAuditor()}
    report = skbiasamp.audit(labels, labels, **how, **train)
    (finding,) = (each for each in report.findings if each.code == "SBA119")
    assert finding.numbers == {"kind": "task", "new": ["cup"]}


def test_sets_and_numbers_of_a_new_group_are_measured_too():
    labels = np.column_stack([LABEL, 1 - LABEL, RNG.integers(0, 2, N)])
    sets = MultiAttributeAuditor("A->T", base="test").fit(
        labels[KNOWN], sensitive_features=GROUP[KNOWN]
    )
    found = sets.audit(labels, labels[:, [0, 0, 2]], sensitive_features=GROUP).table
    assert (found.loc[found["group"] == "c", "sign_weight"] != 0).any()
    price = LABEL + RNG.normal(size=N)
    numbers = NumericAuditor().fit(price[KNOWN], sensitive_features=GROUP[KNOWN])
    moved = numbers.audit(price, price + (GROUP == "c"), sensitive_features=GROUP).table
    weight = moved.set_index("group")["sign_weight"]
    assert weight["c"] == pytest.approx(1)
    assert weight["a"] == -1


# --------------------------------------------------------------------------- rare groups


def test_groups_of_few_rows_are_one_group():
    sex = RNG.choice(["f", "m"], 900)
    race = RNG.choice([*"abcdef"], 900, p=[0.6, 0.38, 0.008, 0.006, 0.004, 0.002])
    both = pd.DataFrame({"sex": sex, "race": race})
    label = RNG.integers(0, 2, 900)
    cells = Contingency.from_labels(label, sensitive_features=both, min_rows=30)
    assert cells.groups[:4] == (("f", "a"), ("f", "b"), ("m", "a"), ("m", "b"))
    assert set(cells.groups[4]) == {f"other ({both.groupby(['sex', 'race']).ngroups - 4} groups)"}
    assert cells.total == 900
    # Groups are those of training: what is rare there, or new, is in it.
    auditor = DirectionalAuditor(min_rows=30).fit(label, sensitive_features=race)
    other = f"other ({len(set(race)) - 2} groups)"
    assert auditor.groups_ == ["a", "b", other]
    audited = np.where(race == "c", "g", race)
    table = auditor.audit(label, label, sensitive_features=audited).table
    assert table["group"].tolist() == ["a", "b", other]
