"""What groups and classes are called, and how their names sort, changes no number."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import UndefinedMetricWarning
from test_properties import METRICS, audited, training, worlds

from skbiasamp import DirectionalAuditor, MALSAuditor, MultiAttributeAuditor
from skbiasamp.inference import UncertaintyWarning

pytestmark = [
    pytest.mark.filterwarnings(f"ignore::{category.__module__}.{category.__name__}")
    for category in (UndefinedMetricWarning, UncertaintyWarning)
]
AUDITORS = {
    "MALS": MALSAuditor(),
    "A->T": DirectionalAuditor("A->T"),
    "A->T-train": DirectionalAuditor("A->T", base="train"),
    "T->A": DirectionalAuditor("T->A"),
    "multi-A->T": MultiAttributeAuditor("A->T"),
    "multi-T->A": MultiAttributeAuditor("T->A", combinations="all"),
    "multi-MALS": MultiAttributeAuditor(None),
}
GROUPS = ("sensitive_train", "sensitive_features", "sensitive_pred")
CLASSES = ("y_train", "y_true", "y_pred")


@st.composite
def renamed(draw):
    """A world, the same with other names, and what each name was."""
    world = draw(worlds(weights=draw(st.sampled_from([None, st.floats(0.1, 3)]))))
    groups = dict(zip(["g0", "g1", "g2"], draw(st.permutations(["x", "y", "z"])), strict=True))
    other = world | {name: np.array([groups[a] for a in world[name]]) for name in GROUPS}
    if np.ndim(world["y_true"]) == 2:
        tasks = draw(st.permutations(range(world["y_true"].shape[1])))
        other |= {name: world[name][:, tasks] for name in CLASSES}
        return world, other, groups, dict(enumerate(np.argsort(tasks).tolist())), {}
    names = draw(st.permutations(["cook", "drive", "paint", "sing"]))
    other |= {name: np.array([names[t] for t in world[name]]) for name in CLASSES}
    binary = max(world["y_true"].max(), world["y_train"].max()) < 2
    return world, other, groups, dict(enumerate(names)), {"pos_label": names[1]} if binary else {}


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
@settings(max_examples=8)
@given(renamed())
def test_names_change_no_value(metric, worlds):
    world, other, _, _, positive = worlds
    np.testing.assert_allclose(metric(**other, **positive), metric(**world), rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", AUDITORS)
@settings(max_examples=5)
@given(renamed())
def test_names_change_no_interval_and_no_test(name, worlds):
    world, other, groups, tasks, positive = worlds
    first, two = (
        clone(AUDITORS[name]).set_params(**more).fit(**training(labels)).audit(**audited(labels))
        for labels, more in ((world, {}), (other, positive))
    )
    for number in ("value", "low", "high"):
        np.testing.assert_allclose(getattr(two, number), getattr(first, number), rtol=0, atol=1e-12)

    def called(task):
        if isinstance(task, tuple):
            return tuple(sorted(map(called, task), key=str))
        return tasks[task]

    table = first.table.assign(
        group=first.table["group"].map(groups), task=[called(task) for task in first.table["task"]]
    )
    second = two.table.assign(
        task=[
            tuple(sorted(task, key=str)) if isinstance(task, tuple) else task
            for task in two.table["task"]
        ]
    )
    both = [rows.set_index(["group", "task"]).sort_index() for rows in (table, second)]
    assert list(both[0].index) == list(both[1].index)
    # Draws of the largest deviation, in the order of the pairs, decide how wide all together are.
    first_reach, reach = (rows.pop("high_simultaneous") - rows["change"] for rows in both)
    np.testing.assert_allclose(reach, first_reach, rtol=0.1, atol=1e-12)
    for column in both[0].drop(columns="low_simultaneous"):
        np.testing.assert_allclose(
            both[1][column].astype(float), both[0][column].astype(float), rtol=0, atol=1e-12
        )
