"""Attacks against every possible table, row by row, and against scikit-learn's metrics."""

from functools import partial
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score, log_loss

from skbiasamp import Contingency, DPAAuditor, LeakageAuditor

# Internals: the folds that an audit draws, to learn the same tables row by row.
from skbiasamp.attackers.resampling import own_generator, split
from skbiasamp.counts.canonical import ordered
from skbiasamp.counts.cells import side_of
from skbiasamp.metrics import dataset_leakage

looked_at = settings(max_examples=40)
pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning"),
    pytest.mark.filterwarnings("ignore::skbiasamp.inference.UncertaintyWarning"),
    pytest.mark.filterwarnings("ignore:y_pred contains classes not in y_true"),
    pytest.mark.filterwarnings("ignore:A single label was found"),
]
MACRO_F1 = partial(f1_score, average="macro")
SCORES = {"accuracy": accuracy_score, "balanced_accuracy": balanced_accuracy_score, "f1": MACRO_F1}
QUALITIES = [*SCORES, "inverse_log_loss"]


# --------------------------------------------------------------------------- every table


@st.composite
def small_tables(draw, most=4):
    """Rows as a table of inputs × classes: empty inputs, empty classes and single classes too."""
    shape = draw(st.tuples(st.integers(1, 3), st.integers(1, 3)))
    table = draw(arrays(int, shape, elements=st.integers(0, most)))
    assume(table.sum() > 0)
    return table


def as_rows(table):
    """Return the input and the class of every row."""
    seen, told = (axis.ravel() for axis in np.indices(table.shape))
    return np.repeat(seen, table.ravel()), np.repeat(told, table.ravel())


def told_by_labels(table, **options):
    seen, told = as_rows(table)
    options = {"attacker": "exact", "cv": None} | options
    return dataset_leakage(seen, sensitive_features=told, **options)


@looked_at
@given(small_tables())
def test_no_table_is_better_than_the_exact_attacker(table):
    """All n_classes ** n_inputs tables, judged by scikit-learn."""
    seen, told = as_rows(table)
    tables = np.array(list(product(range(table.shape[1]), repeat=table.shape[0])))
    best = {
        name: max(score(told, guess[seen]) for guess in tables)
        for name, score in SCORES.items()
        if name != "f1"
    }
    for quality, balanced in product(best, (False, True)):
        found = told_by_labels(table, quality=quality, balanced=balanced)
        aim = "balanced_accuracy" if balanced else quality
        assert found == pytest.approx(best[aim], abs=1e-12)


@looked_at
@given(small_tables(), st.booleans())
def test_the_f1_of_the_exact_attacker_is_that_of_its_table(table, balanced):
    """Ties share their rows; by hand with exact weights."""
    seen, told = as_rows(table)
    total = table.sum(axis=0)
    scaled = table / np.where(total > 0, total, 1) if balanced else table.astype(float)
    true, said, weight = [], [], []
    for row, (i, t) in enumerate(zip(seen, told, strict=True)):
        top = np.flatnonzero(np.isclose(scaled[i], scaled[i].max(), rtol=1e-12, atol=0))
        for guess in top:
            true.append(told[row])
            said.append(guess)
            weight.append((1 / total[t] if balanced else 1.0) / len(top))
    expected = MACRO_F1(true, said, sample_weight=weight)
    found = told_by_labels(table, quality="f1", balanced=balanced)
    assert found == pytest.approx(expected, abs=1e-12)


@looked_at
@given(small_tables(), st.booleans())
def test_the_log_loss_of_the_exact_attacker_is_that_of_its_shares(table, balanced):
    seen, told = as_rows(table)
    present = np.flatnonzero(table.sum(axis=0))
    assume(len(present) > 1)
    scaled = table / np.where(table.sum(axis=0), table.sum(axis=0), 1) if balanced else table
    shares = scaled[seen] / scaled[seen].sum(axis=1, keepdims=True)
    weight = 1 / table.sum(axis=0)[told] if balanced else np.ones(len(told))
    loss = log_loss(told, shares[:, present], sample_weight=weight, labels=present)
    assume(loss > 1e-9)
    found = told_by_labels(table, quality="inverse_log_loss", balanced=balanced)
    assert found == pytest.approx(1 / loss, rel=1e-9)


@pytest.mark.parametrize("quality", QUALITIES)
@settings(max_examples=10)
@given(table=small_tables())
def test_a_blind_guess_is_no_better_than_chance(quality, table):
    """Every mixture of constant guesses, judged by scikit-learn, against `chance_data`."""
    seen, told = as_rows(table)
    present = np.unique(told)
    assume(len(present) > 1)
    auditor = DPAAuditor(quality=quality, equalize=None, attacker="exact", cv=None, interval=None)
    chance = auditor.audit(told, told, sensitive_features=seen).statistics["chance_data"]
    best = 0.0
    for parts in product(range(9), repeat=len(present)):
        if sum(parts) != 8:
            continue
        if quality == "inverse_log_loss":
            given_share = np.tile(np.array(parts) / 8, (len(told), 1))
            best = max(best, 1 / log_loss(told, given_share, labels=present))
        else:
            true, said = np.repeat(told, len(present)), np.tile(present, len(told))
            held = np.tile(np.array(parts) / 8, len(told))
            kept = held > 0
            best = max(best, SCORES[quality](true[kept], said[kept], sample_weight=held[kept]))
    assert best <= chance + 1e-12
    if quality in ("accuracy", "balanced_accuracy"):
        assert best == pytest.approx(chance, abs=1e-12)


# --------------------------------------------------------------------------- row by row


def cross_fitted(seen, told, fold, n_classes, quality, balanced):
    """Return a quality of tables of the other folds, by scikit-learn on rows."""
    learn_balanced = balanced or quality == "balanced_accuracy"
    true, said, weight = [], [], []
    shares = np.empty((len(told), n_classes))
    own = 1 / np.bincount(told, minlength=n_classes)[told] if balanced else np.ones(len(told))
    for row in range(len(told)):
        train = fold != fold[row]
        table = np.zeros((seen.max() + 1, n_classes))
        np.add.at(table, (seen[train], told[train]), 1.0)
        if learn_balanced:
            totals = table.sum(axis=0)
            table = table / np.where(totals > 0, totals, 1)
        guess = table[seen[row]] if table[seen[row]].sum() else table.sum(axis=0)
        shares[row] = guess / guess.sum()
        top = np.flatnonzero(np.isclose(guess, guess.max(), rtol=1e-12, atol=0))
        true += [told[row]] * len(top)
        said += top.tolist()
        weight += [own[row] / len(top)] * len(top)
    if quality == "inverse_log_loss":
        return 1 / log_loss(told, shares, sample_weight=own, labels=np.arange(n_classes))
    return SCORES[quality](true, said, sample_weight=weight)


def rare_classes():
    """Groups and classes of which some have two rows, so that folds lack them."""
    rng = np.random.default_rng(1)
    # The rarest group first: cells are in the order of the groups' counts.
    group = np.r_[np.repeat([1, 2], [20, 20]), 0, 0]
    task = np.r_[rng.integers(2, size=38), 2, 2, 0, 1]
    predicted = np.where(rng.random(42) < 0.3, 0, task)
    predicted[-1] = 2
    return group, task, predicted


@pytest.mark.parametrize("metric", ["leakage", "unbalanced leakage", "DPA"])
def test_cross_fitted_qualities_are_those_of_rows(metric):
    """The very folds that were drawn, with scikit-learn's metrics on their rows."""
    group, task, predicted = rare_classes()
    cells = ordered(Contingency.from_labels(task, predicted, sensitive_features=group))
    folds = split(cells, 5, 3, own_generator(4)).astype(int)
    sides = [side_of(cells, name).labels.codes for name in ("group", "task", "task_pred")]
    balanced = metric == "leakage"
    for quality in QUALITIES:
        options = {"attacker": "exact", "quality": quality, "equalize": None, "n_draws": 3}
        options |= {"interval": None, "random_state": 4}
        auditor = DPAAuditor(**options)
        if metric != "DPA":
            auditor = LeakageAuditor(balanced=balanced, **options)
        result = auditor.audit(task, predicted, sensitive_features=group)
        expected = np.empty((3, 2))
        for draw in range(3):
            fold, cell = (
                np.repeat(axis.ravel(), folds[draw].ravel())
                for axis in np.indices(folds[draw].shape)
            )
            a, t, t_pred = (side[cell] for side in sides)
            pairs = [(a, t), (a, t_pred)] if metric == "DPA" else [(t, a), (t_pred, a)]
            for which, (seen, told) in enumerate(pairs):
                expected[draw, which] = cross_fitted(seen, told, fold, 3, quality, balanced)
        found = result.table[["quality_data", "quality_model"]].to_numpy()[0]
        assert_allclose(found, expected.mean(axis=0), rtol=1e-12, err_msg=quality)
        assert np.isfinite(found).all()


# --------------------------------------------------------------------------- empty groups


@pytest.mark.parametrize("direction", [None, "A->T", "T->A"])
def test_groups_and_classes_without_rows_change_nothing(direction):
    """Training labels have a group and a class that the audited rows lack."""
    rng = np.random.default_rng(2)
    group, task = rng.integers(2, size=(2, 200))
    predicted = np.where(rng.random(200) < 0.4, group, task)
    labels = {
        "y_true": np.array(["a", "b"])[task],
        "y_pred": np.array(["a", "b"])[predicted],
        "sensitive_features": np.array(["f", "m"])[group],
        "sensitive_pred": np.array(["f", "m"])[np.where(rng.random(200) < 0.4, task, group)],
    }
    names = ["quality_data", "quality_model", "amplification", "low", "high", "p_value"]
    for quality, cv in product(QUALITIES, (None, 4)):
        options = {"quality": quality, "equalize": None, "cv": cv, "n_draws": 2}
        options |= {"n_resamples": 19, "random_state": 0}
        auditor = (
            LeakageAuditor(**options) if direction is None else DPAAuditor(direction, **options)
        )
        alone = auditor.audit(**labels)
        auditor.fit(["a", "b", "a", "b", "z"], sensitive_features=["f", "f", "m", "m", "x"])
        known = auditor.audit(**labels)
        assert_allclose(known.table[names].to_numpy(), alone.table[names].to_numpy(), atol=1e-12)
        for name in ("chance_data", "chance_model", "above_chance_low", "above_chance_high"):
            assert known.statistics[name] == pytest.approx(alone.statistics[name], abs=1e-12)


# --------------------------------------------------------------------------- the bracket


def every_sample(n):
    """Yield the counts of four cells that n rows may have."""
    for counts in product(range(n + 1), repeat=3):
        if sum(counts) <= n:
            yield np.array([*counts, n - sum(counts)])


@pytest.mark.parametrize(
    "law", [[0.3, 0.2, 0.2, 0.3], [0.35, 0.15, 0.2, 0.3], [0.1, 0.2, 0.3, 0.4]]
)
def test_the_best_attacker_is_between_cross_fitted_and_in_sample_tables(law):
    """The expectation over all samples of eight rows; the best attacker knows the law."""
    n, below, above = 8, 0.0, 0.0
    group, predicted = (axis.ravel() for axis in np.indices((2, 2)))
    auditor = LeakageAuditor(
        attacker="exact", balanced=False, equalize=None, cv=4, n_draws=40, interval=None
    )
    for seed, counts in enumerate(every_sample(n)):
        rows = np.repeat(np.arange(4), counts)
        result = auditor.set_params(random_state=seed).audit(
            1 - predicted[rows], predicted[rows], sensitive_features=group[rows]
        )
        chance = stats.multinomial.pmf(counts, n, law)
        below += chance * result.table["quality_model"].mean()
        above += chance * result.statistics["in_sample_model"]
        table = np.zeros((2, 2))
        np.add.at(table, (predicted[rows], group[rows]), 1)
        assert_allclose(result.statistics["in_sample_model"], table.max(axis=1).sum() / n)
        # Labels are predictions by other names: they reveal as much.
        assert_allclose(result.statistics["in_sample_data"], result.statistics["in_sample_model"])
    best = np.reshape(law, (2, 2)).max(axis=0).sum()
    assert below + 0.01 < best < above - 0.01


def test_the_bracket_of_an_audit_is_its_closed_form():
    sex, cooks = ["f"] * 200 + ["m"] * 200, ([1] * 100 + [0] * 100) * 2
    predicted = [1] * 150 + [0] * 50 + [1] * 40 + [0] * 160
    for auditor in (LeakageAuditor, DPAAuditor):
        crossed = auditor(random_state=0, n_resamples=19)
        result = crossed.audit(cooks, predicted, sensitive_features=sex)
        closed = auditor(cv=None, interval=None).audit(cooks, predicted, sensitive_features=sex)
        for side in ("data", "model"):
            ends = result.table[f"quality_{side}"].mean(), result.statistics[f"in_sample_{side}"]
            assert ends[0] <= ends[1] + 1e-12
            assert_allclose(ends[1], closed.table[f"quality_{side}"].mean())
        # In closed form the table is that number, and other qualities have no such bound.
        assert "in_sample_model" not in closed.statistics
        other = auditor(quality="f1", interval=None, random_state=0)
        seen = other.audit(cooks, predicted, sensitive_features=sex).statistics
        assert "in_sample_model" not in seen
