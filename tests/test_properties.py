"""What stays the same when the same facts are told in another way."""

import inspect
from fractions import Fraction
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from pandas.testing import assert_frame_equal
from values_only import DirectionalAuditor, MALSAuditor, MultiAttributeAuditor

from skbiasamp import Contingency
from skbiasamp.metrics import (
    bias_disparity,
    directional_amplification,
    label_amplification,
    mals_amplification,
)

looked_at = settings(max_examples=6)
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")


def takes_what_it_uses(metric):
    """Return a metric that ignores the labels it has no parameter for."""
    names = inspect.signature(metric).parameters

    def measured(**given):
        return metric(**{name: value for name, value in given.items() if name in names})

    return measured


METRICS = [
    mals_amplification,
    directional_amplification,
    partial(directional_amplification, ties="negative"),
    partial(directional_amplification, base="train"),
    bias_disparity,
]
AUDITORS = {
    "mals": MALSAuditor(),
    "A->T": DirectionalAuditor(),
    "T->A": DirectionalAuditor("T->A", ties="negative"),
    "multi-A->T": MultiAttributeAuditor(),
    "multi-T->A": MultiAttributeAuditor("T->A", combinations="all"),
    "multi-mals": MultiAttributeAuditor(None, base="test"),
}


every_auditor = pytest.mark.parametrize("auditor", AUDITORS.values(), ids=AUDITORS)


@st.composite
def worlds(draw, kinds=("binary", "multiclass", "multilabel"), weights=None):
    """Label arrays, keyed as the functional forms name them. Every group and class occurs."""
    kind = draw(st.sampled_from(kinds))
    n_groups = draw(st.integers(2, 3))
    n_tasks = 2 if kind == "binary" else draw(st.integers(2, 3)) + (kind == "multiclass")
    n_more, n_test = draw(st.integers(1, 10)), draw(st.integers(1, 10))

    def several(values, n):
        return np.array(draw(st.lists(values, min_size=n, max_size=n)))

    def groups(n):
        return several(st.sampled_from(["g0", "g1", "g2"][:n_groups]), n)

    def tasks(n):
        if kind == "multilabel":
            sets = several(st.integers(0, 2**n_tasks - 1), n)
            return sets[:, None] >> np.arange(n_tasks) & 1
        return several(st.integers(0, n_tasks - 1), n)

    # The first rows of both have everything, so that no name is lost by changing the rest.
    everyone = np.array([f"g{i % n_groups}" for i in range(12)])
    everything = np.arange(12) // n_groups % n_tasks
    if kind == "multilabel":
        everything = (everything[:, None] == np.arange(n_tasks)).astype(int)
    labels = {
        "y_train": np.concatenate([everything, tasks(n_more)]),
        "sensitive_train": np.concatenate([everyone, groups(n_more)]),
        "y_true": np.concatenate([everything, tasks(n_test)]),
        "y_pred": tasks(12 + n_test),
        "sensitive_features": np.concatenate([everyone, groups(n_test)]),
        "sensitive_pred": groups(12 + n_test),
    }
    if weights is not None:
        labels["sample_weight"] = several(weights, 12 + n_test)
    return labels


assert_close = partial(assert_allclose, rtol=0, atol=1e-12)
# Sums in another order differ in the last digit.
EXACT = {"rtol": 1e-12, "atol": 1e-13}


def training(world):
    return {"y_train": world["y_train"], "sensitive_features": world["sensitive_train"]}


def audited(world):
    return {key: world[key] for key in AUDITED if key in world}


AUDITED = ("y_true", "y_pred", "sensitive_features", "sensitive_pred", "sample_weight")


def counted(world, **changed):
    return Contingency.from_labels(**{**audited(world), **changed})


def take(world, rows):
    """Return only some of the audited rows."""
    return world | {key: value[rows] for key, value in audited(world).items()}


@looked_at
@given(worlds(("binary", "multilabel")), st.data())
def test_probabilities_count_as_so_many_rows(world, data):
    """A row predicted with 3/4 is four rows, of which three are predicted."""
    shape = world["y_pred"].shape
    size = world["y_pred"].size
    quarters = data.draw(st.lists(st.integers(0, 4), min_size=size, max_size=size))
    assume(not set(quarters) <= {0, 4})
    quarters = np.array(quarters).reshape(shape)
    four = {key: np.repeat(value, 4, axis=0) for key, value in audited(world).items()}
    hard = (np.arange(4) < quarters[..., None]).astype(int)
    four["y_pred"] = np.moveaxis(hard, -1, 1).reshape(-1, *shape[1:])
    for metric in map(takes_what_it_uses, METRICS):
        assert_close(metric(**world | {"y_pred": quarters / 4}), metric(**world | four))


@pytest.mark.parametrize("scale", [0.1, 1 / 3, 1e-6])
def test_labels_without_a_majority_have_none_in_fractional_weights(scale):
    """Weights of 3 + 4 against 6 + 1 thirds of a row are as many."""
    weight = np.array([3, 4, 6, 1]) * scale
    assert label_amplification([1, 1, 0, 0], [1, 1, 1, 1], sample_weight=weight) == 0
    classes = label_amplification([0, 0, 1, 1, 2], [0] * 5, sample_weight=[*weight, scale])
    assert_close(classes, (8 / 15 - 7 / 15) / 2)


@looked_at
@given(worlds(weights=st.sampled_from([1, 2, 0.5, 1.25])), st.integers(1, 11))
def test_halves_and_single_rows_add_up_to_the_whole(world, cut):
    first, second = (counted(take(world, rows)) for rows in (slice(cut), slice(cut, None)))
    whole = counted(world)
    assert_close((first + second).total, world["sample_weight"].sum())
    for side in ("task", "task_pred", "group_pred"):
        assert_close((second + first).joint("group", side), whole.joint("group", side))
    del world["sample_weight"]
    first, second = (counted(take(world, rows)) for rows in (slice(cut), slice(cut, None)))
    assert first + second == second + first == counted(world)
    assert sum(counted(take(world, [row])) for row in range(len(world["y_true"]))) == counted(world)
    assert_frame_equal((first + second).to_frame(), counted(world).to_frame())


@pytest.mark.parametrize("direction", ["A->T", "T->A"])
@looked_at
@given(worlds(), st.sampled_from(["train", "test"]))
def test_sets_of_one_task_are_directional_amplification_without_sign(direction, world, base):
    multi = MultiAttributeAuditor(direction, base=base, combinations="all", max_size=1)
    single = DirectionalAuditor(direction, base=base)
    multi, single = (
        auditor.fit(**training(world)).audit(**audited(world)) for auditor in (multi, single)
    )
    assert_close(multi.published, single.table["delta"].abs().mean())
    assert_close(multi.value, single.value)


@every_auditor
@looked_at
@given(worlds())
def test_the_value_is_what_its_table_says(auditor, world):
    result = auditor.fit(**training(world)).audit(**audited(world))
    table = result.table
    assert_close(table["delta"], table["observed"] - table["base"])
    if result.metric == "directional":
        assert_close(table["amplification"], table["sign"] * table["change"])
        assert_close(float(result), table["amplification"].mean())
        assert_close(result.published, (table["sign"] * table["delta"]).mean())
    elif result.metric == "MALS":
        assume(table["delta"].notna().any())
        per_task = table.groupby("task")["amplification"].sum()
        assert_close(float(result), per_task.sum() / len(auditor.tasks_))
    else:
        assume(table["delta"].notna().any())
        pairs = len(table) / (len(auditor.groups_) if result.direction is None else 1)
        assert_close(float(result), table["amplification"].sum() / pairs)


@pytest.mark.parametrize("direction", ["A->T", "T->A"])
@looked_at
@given(worlds(), st.sampled_from(["zero", "negative"]))
def test_the_labels_own_rates_as_base_change_nothing(direction, world, ties):
    cells = counted(world)
    given_side = ("task", "group") if direction == "A->T" else ("group", "task")
    rates = cells.rate(given_side[0], given=given_side[1])
    assume(not np.isnan(rates).any())
    own = pd.DataFrame(rates, index=list(cells.groups), columns=list(cells.tasks))
    options = {"direction": direction, "ties": ties, "reference": "test"}
    expected = DirectionalAuditor(**options).audit(cells)
    result = DirectionalAuditor(base=own, **options).audit(cells)
    # Rates of the user's own vary with no row: their signs are certain.
    soft = ["sign_weight", "amplification"]
    assert_frame_equal(*(one.table.drop(columns=soft) for one in (result, expected)))
    np.testing.assert_array_equal(result.table["sign_weight"], result.table["sign"])
    assert_close(result.table["amplification"], result.table["sign"] * result.table["change"])
    assert_close(result.published, expected.published)


def whole_table(rows):
    """Return counts of groups a, b, ... and two classes as a contingency."""
    return Contingency.from_counts(
        pd.DataFrame(rows, index=list("abcd")[: len(rows)], columns=range(2), dtype=float)
    )


@pytest.mark.parametrize("ties", ["zero", "negative"])
def test_only_exact_ties_are_ties(ties):
    """A third of 3/7 is a tie at every size; one row more or less is none."""

    def signs_of(rows):
        n, n_t = sum(map(sum, rows)), sum(row[1] for row in rows)
        exact = [n * row[1] - sum(row) * n_t for row in rows]  # in unbounded integers, of class 1
        signs = DirectionalAuditor(ties=ties).fit(whole_table(rows)).y_at_[1].tolist()
        assert signs == [(s > 0) - (s < 0) if s or ties == "zero" else -1 for s in exact]
        return signs

    for unit, nudge in product((1, 10**6 + 3, 2**31 + 11, (2**53 - 1) // 21), (-1, 0, 1)):
        signs = signs_of([[6 * unit, 3 * unit], [8 * unit + nudge, 4 * unit]])
        assert (signs == ([0, 0] if ties == "zero" else [-1, -1])) == (nudge == 0)


@looked_at
@given(st.integers(1, 2**48), st.integers(-1, 1), st.integers(2, 4))
def test_exactly_an_equal_share_is_not_above_it(unit, nudge, n_groups):
    rows = [[1, unit] for _ in range(n_groups)]
    rows[0][1] += nudge
    leans = MALSAuditor().fit(whole_table(rows)).y_at_[1].tolist()
    share = Fraction(sum(row[1] for row in rows), n_groups)
    assert leans == [int(row[1] > share) for row in rows]


@pytest.mark.parametrize("scale", [0.1, 1 / 3, 1e-6, 1e6 / 7])
def test_ties_survive_fractional_weights(scale):
    group, task = list("aabb"), [0, 1, 0, 1]
    weight = np.array([6, 3, 8, 4]) * scale
    auditor = DirectionalAuditor().fit(task, sensitive_features=group, sample_weight=weight)
    assert auditor.y_at_[1].tolist() == [0, 0]
    weight[1] += scale / 1000
    auditor.fit(task, sensitive_features=group, sample_weight=weight)
    assert auditor.y_at_[1].tolist() == [1, -1]


@looked_at
@given(worlds(), st.sets(st.sampled_from(["g0", "g1", "g2"]), min_size=1))
def test_selected_groups_are_the_rows_of_these_groups(world, chosen):
    chosen &= set(world["sensitive_features"].tolist())
    assume(chosen)
    rows = np.isin(world["sensitive_features"], list(chosen))
    names = sorted(chosen)
    selected = counted(world).select(groups=names)
    expected = counted(take(world, rows), sensitive_pred=None)
    assert selected.groups == tuple(names)
    assert selected.total == rows.sum()
    assert_close(selected.count("group"), expected.count("group"))
    for side in ("task", "task_pred"):
        at = [selected.tasks.index(task) for task in expected.tasks]
        assert_close(selected.joint("group", side)[:, at], expected.joint("group", side))
    # Rows whose predicted group is not selected must not turn into rows of one that is.
    guessed = world["sensitive_pred"][rows, None] == np.array(names)
    own = world["sensitive_features"][rows, None] == np.array(names)
    assert_close(selected.joint("group", "group_pred"), own.T.astype(int) @ guessed)


@looked_at
@given(worlds(("multilabel",)), st.permutations(range(3)), st.integers(1, 2))
def test_selected_tasks_are_these_columns(world, order, n):
    columns = [i for i in order if i < world["y_true"].shape[1]][:n]
    selected = counted(world).select(tasks=columns)
    whole = counted(world)
    assert selected.tasks == tuple(columns)
    assert selected.total == whole.total
    assert_close(selected.joint("group", "task"), whole.joint("group", "task")[:, columns])
    assert_close(
        selected.rate("group_pred", given="task"),
        whole.rate("group_pred", given="task")[:, columns],
    )


@looked_at
@given(worlds(), st.integers(0, 2**32 - 1))
def test_a_resample_draws_as_many_rows_and_only_rows_that_are_there(world, seed):
    cells = counted(world)
    drawn = cells.resample(5, random_state=seed)
    assert not (drawn.count("group")[:, cells.count("group") == 0]).any()
    assert (drawn.total == cells.total).all()
    assert (drawn.weight == np.rint(drawn.weight)).all()
    np.testing.assert_array_equal(drawn.weight, cells.resample(5, random_state=seed).weight)
    assert (drawn.joint("group", "task").sum(axis=-2) == drawn.count("task")).all()
    with pytest.raises(ValueError, match="A resample needs one contingency"):
        drawn.resample()
