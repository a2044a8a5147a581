"""The published formulas, word for word, against the library.

What stands here is slow and exact: loops over rows in fractions, no NumPy, nothing taken from the
library. Hypothesis looks for small data on which the two disagree.
"""

import inspect
import math
from fractions import Fraction
from functools import partial
from itertools import combinations as choose
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st
from values_only import DirectionalAuditor, MALSAuditor, MultiAttributeAuditor

from skbiasamp.metrics import (
    bias_disparity,
    differential_fairness_amplification,
    directional_amplification,
    label_amplification,
    mals_amplification,
    multi_attribute_amplification,
    percentage_amplification,
)

looked_at = settings(max_examples=30)
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")

DIRECTIONS = ("A->T", "T->A")


class Row(NamedTuple):
    """One person: the sets of groups and tasks that hold, in truth and as predicted."""

    a: frozenset
    t: frozenset
    t_pred: frozenset
    a_pred: frozenset


class World(NamedTuple):
    """Training and audited rows, and the same as the library takes them."""

    kind: str
    groups: tuple
    tasks: tuple
    train: list
    test: list
    labels: dict

    def call(self, metric, *, trained=True, **options):
        """Call a functional form with the labels that it takes."""
        taken = inspect.signature(metric).parameters
        labels = {name: value for name, value in self.labels.items() if name in taken}
        if not trained:
            labels = {k: v for k, v in labels.items() if not k.endswith("_train")}
        return metric(labels.pop("y_true"), labels.pop("y_pred"), **labels, **options)

    def defined(self, value):
        """Return what a formula gives, or NaN if audited rows do not differ in their groups."""
        sizes = (sum(group in row.a for row in self.test) for group in self.groups)
        return value if any(0 < size < len(self.test) for size in sizes) else math.nan

    def audit(self, auditor):
        """Fit on the training labels and audit the rest."""
        of = self.labels
        auditor.fit(of["y_train"], sensitive_features=of["sensitive_train"])
        return auditor.audit(
            of["y_true"],
            of["y_pred"],
            sensitive_features=of["sensitive_features"],
            sensitive_pred=of["sensitive_pred"],
        )


KINDS = ("binary", "multiclass", "multilabel", "overlapping")


@st.composite
def worlds(draw, kinds=KINDS, max_rows=14):
    kind = draw(st.sampled_from(kinds))
    n_groups = draw(st.integers(2, 4))
    if kind == "binary":
        labels, tasks = [0, 1], (1,)
    elif kind == "multiclass":
        labels = ["cook", "drive", "paint", "sing"][: draw(st.integers(3, 4))]
        tasks = tuple(labels)
    else:
        tasks = tuple(range(draw(st.integers(1, 3))))
        labels = [tuple((n >> t) & 1 for t in tasks) for n in range(2 ** len(tasks))]
    memberships = [f"g{g}" for g in range(n_groups)]
    groups = tuple(memberships)
    if kind == "overlapping":
        groups = tuple(range(n_groups))
        memberships = [tuple((n >> g) & 1 for g in groups) for n in range(2**n_groups)]
    group, label = st.sampled_from(memberships), st.sampled_from(labels)
    # Every group and class occurs in training: others would be an error, not a number.
    train = []
    if kind != "overlapping":
        train += [(one, draw(label)) for one in memberships]
    if kind in ("binary", "multiclass") or len(tasks) == 1:
        train += [(draw(group), one) for one in labels]
    train += draw(st.lists(st.tuples(group, label), min_size=1, max_size=max_rows))
    test = draw(st.lists(st.tuples(group, label, label, group), min_size=1, max_size=max_rows))

    def tasks_of(label):
        if isinstance(label, tuple):
            return frozenset(t for t in tasks if label[t])
        return frozenset({label} & set(tasks))

    def groups_of(membership):
        if isinstance(membership, tuple):
            return frozenset(g for g in groups if membership[g])
        return frozenset({membership})

    nobody = frozenset()
    y_true, y_pred = ([row[i] for row in test] for i in (1, 2))
    a_true, a_pred = ([row[i] for row in test] for i in (0, 3))
    given_labels = {
        "y_train": [t for _, t in train],
        "sensitive_train": [a for a, _ in train],
        "y_true": y_true,
        "y_pred": y_pred,
        "sensitive_features": a_true,
        "sensitive_pred": a_pred,
    }
    arrays = {name: np.array(values) for name, values in given_labels.items()}
    return World(
        kind,
        groups,
        tasks,
        [Row(groups_of(a), tasks_of(t), nobody, nobody) for a, t in train],
        [
            Row(groups_of(a), tasks_of(t), tasks_of(t_pred), groups_of(a_pred))
            for a, t, t_pred, a_pred in test
        ],
        arrays | ({"groups": "indicator"} if kind == "overlapping" else {}),
    )


def count(rows, *conditions):
    return sum(all(holds(row) for holds in conditions) for row in rows)


def p(rows, *conditions, given=None):
    """The relative frequency, or None where nothing fulfils the condition."""
    among = [row for row in rows if given is None or given(row)]
    return Fraction(count(among, *conditions), len(among)) if among else None


def has(side, *names):
    return lambda row: getattr(row, side).issuperset(names)


group_is, group_predicted = partial(has, "a"), partial(has, "a_pred")
task_is, task_predicted = partial(has, "t"), partial(has, "t_pred")


def opposite(condition):
    return lambda row: not condition(row)


def mean(values):
    return float(Fraction(sum(values), len(values))) if values else math.nan


def same(value, expected, tolerance=1e-12):
    if math.isnan(expected):
        return math.isnan(value)
    return abs(value - expected) <= tolerance


def change(world, a, t, direction, base):
    """Δ of a group and one task or a set of tasks; None where it is undefined."""
    labels = world.test if base == "test" else world.train
    t = t if isinstance(t, tuple) else (t,)
    if direction == "A->T":
        after = p(world.test, task_predicted(*t), given=group_is(a))
        before = p(labels, task_is(*t), given=group_is(a))
    else:
        after = p(world.test, group_predicted(a), given=task_is(*t))
        before = p(labels, group_is(a), given=task_is(*t))
    return None if after is None or before is None else after - before


def sign(rows, a, t, ties="zero"):
    t = t if isinstance(t, tuple) else (t,)
    joint = p(rows, group_is(a), task_is(*t))
    chance = p(rows, group_is(a)) * p(rows, task_is(*t))
    if joint == chance:
        return 0 if ties == "zero" else -1
    return 1 if joint > chance else -1


def directional(world, direction, *, ties="zero", base="test", correlations=None):
    """Wang and Russakovsky (2021), eq. 2 and 3."""
    correlations = world.train if correlations is None else correlations
    cells = []
    for a in world.groups:
        for t in world.tasks:
            delta = change(world, a, t, direction, base)
            if delta is not None:
                cells.append(sign(correlations, a, t, ties) * delta)
    return mean(cells)


@looked_at
@given(
    worlds(),
    st.sampled_from(DIRECTIONS),
    st.sampled_from(["zero", "negative"]),
    st.sampled_from(["test", "train"]),
)
def test_directional_is_the_published_formula(world, direction, ties, base):
    expected = directional(world, direction, ties=ties, base=base)
    event(f"{world.kind}, undefined" if math.isnan(expected) else world.kind)
    options = {"direction": direction, "ties": ties, "base": base}
    assert same(world.call(directional_amplification, **options), expected)
    shape = {"groups": world.labels.get("groups", "intersection")}
    assert same(
        float(world.audit(DirectionalAuditor(**options, **shape, formula="published"))), expected
    )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize("make", [DirectionalAuditor, MultiAttributeAuditor])
def test_rows_of_one_group_have_a_published_value_and_no_gap(make):
    """The pair of the other group leaves the mean."""
    labels, predicted = ([[i] for i in row] for row in ([1, 1, 0, 0] * 2, [1, 1, 1, 0] * 2))
    trained, sex = [[1]] * 30 + [[0]] * 10 + [[1]] * 10 + [[0]] * 30, ["f"] * 40 + ["m"] * 40
    auditor = make(base="test", interval="analytic").fit(trained, sensitive_features=sex)
    for formula in "change", "published":
        auditor.set_params(formula=formula)
        result = auditor.audit(labels, predicted, sensitive_features=["f"] * 8)
        assert result.published == pytest.approx(0.25)
        assert result.published_low < 0.25 < result.published_high
        assert same(result.value, math.nan if formula == "change" else 0.25)
    assert result.low == result.published_low
    assert auditor.score(labels, predicted, sensitive_features=["f"] * 8) == pytest.approx(0.25)


def leans(world, a, t):
    share = p(world.train, group_is(a), given=task_is(t))
    return share is not None and share > Fraction(1, len(world.groups))


def mals(world):
    """Zhao et al. (2017) as eq. 1 of Wang and Russakovsky (2021) writes it."""
    total = Fraction(0)
    for a in world.groups:
        for t in world.tasks:
            observed = p(world.test, group_predicted(a), given=task_predicted(t))
            if leans(world, a, t) and observed is not None:
                total += observed - p(world.train, group_is(a), given=task_is(t))
    return float(total / len(world.tasks))


@looked_at
@given(worlds())
def test_mals_is_the_published_formula(world):
    expected = world.defined(mals(world))
    shape = {"groups": world.labels.get("groups", "intersection")}
    assert same(world.call(mals_amplification), expected)
    assert same(float(world.audit(MALSAuditor(**shape, formula="published"))), expected)


def sets_of_tasks(world, *, combinations, min_size, max_size, min_count):
    """M: the sets of tasks that occur often enough in the training and in the audited labels."""
    found = []
    for size in range(min_size, (max_size or len(world.tasks)) + 1):
        for m in choose(world.tasks, size):
            if combinations == "observed":
                in_train = count(world.train, lambda row, m=m: row.t == frozenset(m))
            else:
                in_train = count(world.train, task_is(*m))
            if in_train >= min_count and count(world.test, task_is(*m)) >= min_count:
                found.append(m)
    return found


def multi(world, direction, *, base, **which):
    """Zhao, Andrews and Xiang (2023): the mean size, the variance."""
    found = sets_of_tasks(world, **which)
    size, defined = Fraction(0), []
    for g in world.groups:
        for m in found:
            delta = change(world, g, m, direction, base)
            if delta is not None:
                size += abs(delta)
                defined.append(delta)
    if not defined:
        return math.nan, math.nan
    there = world.groups
    if direction == "A->T":
        there = [g for g in there if count(world.test, lambda row, g=g: g in row.a)]
    n = len(there) * len(found)
    middle = Fraction(sum(defined), len(defined))
    variance = Fraction(sum((delta - middle) ** 2 for delta in defined), len(defined))
    return float(size / n), float(variance)


which_sets = st.fixed_dictionaries(
    {
        "combinations": st.sampled_from(["observed", "all"]),
        "min_size": st.integers(1, 2),
        "max_size": st.sampled_from([None, 2, 3]),
        "min_count": st.sampled_from([1, 2]),
    }
)


@looked_at
@given(worlds(), st.sampled_from(DIRECTIONS), st.sampled_from(["train", "test"]), which_sets)
def test_multi_attribute_is_the_published_formula(world, direction, base, which):
    expected = multi(world, direction, base=base, **which)
    event(f"{len(sets_of_tasks(world, **which))} sets")
    options = {"direction": direction, "base": base, **which}
    value = expected[0]
    assert same(world.call(multi_attribute_amplification, **options), value)
    shape = {"groups": world.labels.get("groups", "intersection")}
    result = world.audit(MultiAttributeAuditor(**options, **shape, formula="published"))
    assert same(float(result), value)
    assert same(result.statistics["variance"], expected[1])


def multi_mals(world, **which):
    """Zhao, Andrews and Xiang (2023), Multi_MALS."""
    found = sets_of_tasks(world, **which)

    def share(rows, is_group, is_set, g):
        together = {one: count(rows, is_group(one), is_set) for one in world.groups}
        whole = sum(together.values())
        return Fraction(together[g], whole) if whole else None

    total = Fraction(0)
    for g in world.groups:
        for m in found:
            before = share(world.train, group_is, task_is(*m), g)
            after = share(world.test, group_predicted, task_predicted(*m), g)
            if before is None or before <= Fraction(1, len(world.groups)) or after is None:
                continue
            total += abs(after - before)
    return float(total / len(found)) if found else math.nan


@looked_at
@given(worlds(), which_sets)
def test_multi_mals_is_the_published_formula(world, which):
    """b(m, g) is divided by the sum over groups: who is in two groups counts twice."""
    expected = multi_mals(world, **which)
    if world.kind == "overlapping":
        assume(not math.isnan(expected))
        # A set that no group has in training has no shares.
        for m in sets_of_tasks(world, **which):
            assume(any(count(world.train, group_is(g), task_is(*m)) for g in world.groups))
    value = world.call(multi_attribute_amplification, direction=None, **which)
    assert same(value, world.defined(expected))


def audited_groups(world):
    """Groups in the audited labels or predictions: what a measure without training knows of."""
    if world.kind == "overlapping":
        return world.groups
    return tuple(sorted({a for row in world.test for a in row.a | row.a_pred}))


def without_training(world):
    """Forget the training rows; classes and groups are then those of the audited rows."""
    world = world._replace(groups=audited_groups(world))
    assume(world.kind == "overlapping" or len({row.a for row in world.test}) > 1)
    if world.kind in ("binary", "multiclass"):
        seen = {*world.labels["y_true"].tolist(), *world.labels["y_pred"].tolist()}
        assume(len(seen) == 2 if world.kind == "binary" else len(seen) > 2)
        world = world._replace(tasks=(1,) if world.kind == "binary" else tuple(sorted(seen)))
    return world


def disparity(world):
    """Lin et al. (2019): the relative change of the preference ratio P(t|a) / P(t)."""
    cells = []
    for a in world.groups:
        for t in world.tasks:
            true, predicted = (
                (p(world.test, of(t), given=group_is(a)), p(world.test, of(t)))
                for of in (task_is, task_predicted)
            )
            if true[0] and predicted[0] is not None and predicted[1]:
                before, after = true[0] / true[1], predicted[0] / predicted[1]
                cells.append((after - before) / before)
    return mean(cells)


@looked_at
@given(worlds())
def test_bias_disparity_is_the_published_formula(world):
    world = without_training(world)
    assert same(world.call(bias_disparity, trained=False), world.defined(disparity(world)), 1e-11)


def percentage(world):
    """Seshadri et al. (2023): how much further from an equal share."""
    equal, cells = Fraction(1, len(world.groups)), []
    for t in world.tasks:
        for a in world.groups:
            before = p(world.test, group_is(a), given=task_is(t))
            after = p(world.test, group_predicted(a), given=task_predicted(t))
            if before is not None and after is not None:
                cells.append(abs(after - equal) - abs(before - equal))
    return mean(cells)


@looked_at
@given(worlds())
def test_percentage_amplification_is_the_published_formula(world):
    world = without_training(world)
    expected = world.defined(percentage(world))
    assert same(world.call(percentage_amplification, trained=False), expected)


def epsilon(world, predicate, concentration):
    """Foulds et al. (2018): the largest log ratio between two groups, Dirichlet-smoothed."""
    if world.kind == "multiclass":
        outcomes = [[predicate(t) for t in world.tasks]]
    else:
        outcomes = [[predicate(t), opposite(predicate(t))] for t in world.tasks]
    largest = 0.0
    for alternatives in outcomes:
        alpha = Fraction(concentration) / len(alternatives)
        for outcome in alternatives:
            logs = []
            for a in world.groups:
                n = count(world.test, group_is(a))
                if n:
                    together = count(world.test, group_is(a), outcome)
                    logs.append(math.log((together + alpha) / (n + Fraction(concentration))))
            largest = max([largest, *(abs(x - y) for x in logs for y in logs)])
    return largest


@looked_at
@given(worlds(), st.sampled_from([1.0, 0.5, 3.0]))
def test_differential_fairness_is_the_published_formula(world, concentration):
    world = without_training(world)
    assume(any(row.a for row in world.test))
    expected = epsilon(world, task_predicted, concentration) - epsilon(
        world, task_is, concentration
    )
    value = world.call(
        differential_fairness_amplification, trained=False, concentration=concentration
    )
    assert same(value, world.defined(expected), 1e-11)


def towards_majority(world):
    """Leino et al. (2019): how much more often the majority is predicted than it occurs."""
    moved = {t: p(world.test, task_predicted(t)) - p(world.test, task_is(t)) for t in world.tasks}
    share = {t: p(world.train, task_is(t)) for t in world.tasks}
    if world.kind == "multiclass":
        return mean([moved[t] for t in world.tasks if share[t] == max(share.values())])
    half = Fraction(1, 2)
    return mean([moved[t] * ((share[t] > half) - (share[t] < half)) for t in world.tasks])


@looked_at
@given(worlds())
def test_label_amplification_is_the_published_formula(world):
    labels = world.labels
    value = label_amplification(labels["y_true"], labels["y_pred"], y_train=labels["y_train"])
    assert same(value, towards_majority(world))


def test_a_task_absent_from_training_is_a_tie():
    """Also where the label is one column that happens to be constant."""
    sex, cooks, predicted = list("ffmm"), [0, 1, 1, 0], [1, 1, 0, 0]
    for constant in ([0] * 4, [1] * 4, [False] * 4):
        trained = {"y_train": constant, "sensitive_train": sex}
        value = directional_amplification(cooks, predicted, sensitive_features=sex, **trained)
        assert value == 0
