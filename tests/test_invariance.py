"""The order of rows, names and the unit of weights change no value, no interval and no test."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from skbiasamp import (
    DirectionalAuditor,
    DPAAuditor,
    LeakageAuditor,
    MALSAuditor,
    MultiAttributeAuditor,
)
from skbiasamp.metrics import multi_attribute_amplification

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
N = 60
PAIRS = [
    MALSAuditor(),
    DirectionalAuditor("A->T"),
    DirectionalAuditor("A->T", base="train"),
    DirectionalAuditor("T->A"),
]
SETS = [
    MultiAttributeAuditor(direction, min_count=count, combinations=sets)
    for direction, count, sets in (("A->T", 1, "observed"), ("T->A", 5, "all"), (None, 1, "all"))
]
ATTACKS = [
    *(LeakageAuditor(equalize=one) for one in ("f1", "accuracy", None)),
    *(DPAAuditor("A->T", quality=one) for one in ("accuracy", "balanced_accuracy", "f1")),
    DPAAuditor("T->A", quality="accuracy"),
]
for each in ATTACKS:
    each.set_params(cv=None, attacker="exact", interval=None, random_state=0)
LABELS = ("y_true", "y_pred")
GROUPS = ("sensitive_features", "sensitive_pred")


def rows_of(kind, seed, *, weighted):
    """Return labels, predictions, groups and weights of N rows in which all are associated."""
    rng = np.random.default_rng(seed)
    group = np.r_[np.arange(9) % 3, rng.integers(0, 3, N - 9)]
    shape = (N, 2) if kind == "indicators" else N
    labels = rng.integers(0, 3 if kind == "classes" else 2, shape)
    predicted = np.where(rng.random(shape) < 0.7, labels, rng.permutation(labels))
    rows = {
        "y_true": labels,
        "y_pred": rng.random(N) if kind == "probabilities" else predicted,
        "sensitive_features": group,
        "sensitive_pred": np.where(rng.random(N) < 0.7, group, rng.permutation(group)),
    }
    return rows | {"sample_weight": rng.uniform(0.05, 3, N)} if weighted else rows


def numbers_of(auditor, train, rows, groups=None, tasks=None):
    """Return all numbers, by the names that groups and tasks have."""
    auditor = clone(auditor)
    train = {("y_train" if name == "y_true" else name): one for name, one in train.items()}
    auditor.fit(**{name: one for name, one in train.items() if not name.endswith("_pred")})
    result = auditor.audit(**rows)
    table = result.table.drop(columns="n").set_index(
        [name for name in ("group", "task", "target") if name in result.table]
    )

    def named(names):
        return str([groups.get(names[0], names[0]), sorted(map(called, at_least(names[1])))])

    def called(task):
        return str(tasks.get(task, task))

    def at_least(task):
        return task if isinstance(task, tuple) else (task,)

    if groups is not None:
        table.index = [named(names) for names in table.index]
        table = table.sort_index()
    flags = table.filter(["reliable", "direction_clear"]).astype(float)
    numbers = table.drop(columns=flags).filter(regex="^(?!.*simultaneous)").select_dtypes("number")
    whole = [result.value, result.low, result.high, result.p_value]
    return np.concatenate([whole, numbers.to_numpy().ravel(), flags.to_numpy().ravel()])


def kinds_of(auditor):
    return ("binary", "classes", "indicators", "probabilities")[: 4 if auditor in PAIRS else 3]


@pytest.mark.parametrize("auditor", [*PAIRS, *SETS, *ATTACKS], ids=repr)
@settings(max_examples=2)
@given(seed=st.integers(0, 2**16))
@example(seed=7052)  # a set whose change is 0 but for rounding
def test_the_unit_of_fractional_weights_does_not_matter(auditor, seed):
    for kind in kinds_of(auditor):
        train, rows = (rows_of(kind, seed + i, weighted=True) for i in range(2))
        expected = numbers_of(auditor, train, rows)
        weight = rows["sample_weight"]
        for unit in (100, 1 / weight.sum()):
            other = rows | {"sample_weight": weight * unit}
            scaled = train | {"sample_weight": train["sample_weight"] * unit}
            found = numbers_of(auditor, scaled, other)
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("constant", [[0], [0, 1]])
def test_labels_that_all_rows_have_are_so_in_any_order_of_fractional_weights(constant):
    """Rounding errors of their sums made a direction that the labels do not have."""
    rows = rows_of("indicators", 3, weighted=True)
    rows["y_true"][:, constant] = 1
    auditor, found = DirectionalAuditor(reference="test"), []
    for seed in range(12):
        order = np.random.default_rng(seed).permutation(N)
        result = auditor.audit(**{name: of[order] for name, of in rows.items()})
        found.append([result.value, result.low, result.high])
    np.testing.assert_allclose(found, found[:1] * 12, atol=1e-12)
    assert (np.ptp(found) == 0) == (constant == [0, 1])


def test_rows_of_one_group_are_refused_in_any_order_of_fractional_weights():
    rows = rows_of("binary", 3, weighted=True) | dict.fromkeys(GROUPS, ["f"] * N)
    for seed in range(12):
        rows["sample_weight"] = np.random.default_rng(seed).permutation(rows["sample_weight"])
        with pytest.raises(ValueError, match="one group only, 'f'"):
            DirectionalAuditor(reference="test").audit(**rows)


@pytest.mark.parametrize("auditor", [*PAIRS, *SETS], ids=repr)
@settings(max_examples=2)
@given(seed=st.integers(0, 2**16), weighted=st.booleans(), random=st.randoms(use_true_random=False))
def test_the_order_of_rows_and_names_do_not_matter(auditor, seed, weighted, random):
    for kind in kinds_of(auditor):
        both = [rows_of(kind, seed + i, weighted=weighted) for i in range(2)]
        groups = dict(enumerate(random.sample(["x", "y", "z"], 3)))
        classes = dict(enumerate(random.sample(["cook", "drive", "paint"], 3)))
        if kind == "indicators":
            classes = dict(enumerate(random.sample(range(2), 2)))
        expected = numbers_of(auditor, *both, groups, classes)
        moved = []
        for rows in both:
            order = random.sample(range(N), N)
            rows = {name: one[order] for name, one in rows.items()}
            rows |= {name: np.array([groups[a] for a in rows[name]]) for name in GROUPS}
            for name in LABELS[: 1 if kind == "probabilities" else 2]:
                if kind == "indicators":  # the column i comes to classes[i]
                    rows[name] = rows[name][:, np.argsort([*classes.values()])]
                else:
                    rows[name] = np.array([classes[t] for t in rows[name]])
            moved.append(rows)
        positive = {} if kind in ("classes", "indicators") else {"pos_label": classes[1]}
        found = numbers_of(clone(auditor).set_params(**positive), *moved, {}, {})
        # Angles of signs whose correlation is near 1 have the largest rounding errors.
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-11)


@given(seed=st.integers(0, 2**16), random=st.randoms(use_true_random=False))
@settings(max_examples=10)
def test_simultaneous_intervals_do_not_depend_on_the_order_of_names(seed, random):
    rng = np.random.default_rng(seed)
    group, y = rng.integers(0, 3, 300), rng.integers(0, 4, 300)
    pred = np.where(rng.random(300) < 0.8, y, rng.integers(0, 4, 300))
    auditor = DirectionalAuditor(reference="test")
    ends = ["low_simultaneous", "high_simultaneous"]
    before = auditor.audit(y, pred, sensitive_features=group).table.set_index(["group", "task"])
    names, classes = (np.array(random.sample(range(n), n)) for n in (3, 4))
    after = auditor.audit(classes[y], classes[pred], sensitive_features=names[group]).table
    after = after.set_index(["group", "task"])
    same = [(names[a], classes[t]) for a, t in before.index]
    np.testing.assert_allclose(after.loc[same, ends], before[ends], rtol=0, atol=1e-9)


def test_sets_have_to_occur_in_so_many_rows_whatever_these_weigh():
    """The third set is in three rows: it counts at min_count=3, and not at 4."""
    labels = np.array([[1, 0]] * 6 + [[0, 1]] * 6 + [[1, 1]] * 3)
    predicted, group = labels[::-1], np.arange(15) % 2
    weight = np.linspace(0.01, 0.5, 15)
    for unit in (1, 100, 1 / weight.sum()):
        rows = {"sensitive_features": group, "sample_weight": weight * unit}
        found = [
            MultiAttributeAuditor(min_count=count, interval=None, reference="test")
            .audit(labels, predicted, **rows)
            .statistics["n_combinations"]
            for count in (3, 4)
        ]
        assert found == [3, 2]
        assert multi_attribute_amplification(labels, predicted, min_count=3, **rows) > 0
