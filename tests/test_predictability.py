"""Leakage and DPA: published numbers, counting by hand, every table, slow rows against cells."""

from collections import Counter
from fractions import Fraction
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from scipy.linalg import block_diag
from scipy.optimize import brentq
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score, log_loss
from test_properties import audited, worlds
from test_published_values import COMPAS_BALANCED, data_folder, read

from skbiasamp import Contingency, DPAAuditor, LeakageAuditor

# Internals: thousands of draws of counts and folds, against rows that are drawn one by one; and the
# folds that an audit draws, to learn the same tables row by row.
from skbiasamp.attackers.attack_pair import perturb
from skbiasamp.attackers.resampling import own_generator, split
from skbiasamp.counts.cells import side_of
from skbiasamp.counts.merging import ordered
from skbiasamp.metrics import dataset_leakage, dpa_amplification, leakage_amplification

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning"),
    pytest.mark.filterwarnings("ignore::skbiasamp.inference.UncertaintyWarning"),
    pytest.mark.filterwarnings("ignore:y_pred contains classes not in y_true"),
    pytest.mark.filterwarnings("ignore:A single label was found"),
]
MACRO_F1 = partial(f1_score, average="macro")
SCORES = {"accuracy": accuracy_score, "balanced_accuracy": balanced_accuracy_score, "f1": MACRO_F1}
QUALITIES = [*SCORES, "inverse_log_loss"]
both_directions = pytest.mark.parametrize("direction", ["A->T", "T->A"])

TOLD = ("y_true", "y_pred", "sensitive_features")


def simulated(n=300, seed=7, n_tasks=None):
    """Return labels and predictions that lean on the group: `n_tasks` columns, or one label."""
    rng = np.random.default_rng(seed)
    group = rng.choice(["f", "m"], n)
    shape = n if n_tasks is None else (n, n_tasks)
    leaning = group == "f" if n_tasks is None else (group == "f")[:, None]
    task = (rng.random(shape) < 0.4 + 0.2 * leaning).astype(int)
    predicted = np.where(rng.random(shape) < 0.75, task, leaning).astype(int)
    return dict(zip(TOLD, (task, predicted, group), strict=True))


def moved(label, rate, n_classes):
    """Return where a perturbed label is, and how probably: flipped cell by cell, or elsewhere."""
    if isinstance(label, tuple):
        far = {one: sum(map(int.__ne__, one, label)) for one in product((0, 1), repeat=len(label))}
        return {one: rate**d * (1 - rate) ** (len(label) - d) for one, d in far.items()}
    stays = {label: 1 - rate}
    return dict.fromkeys(range(n_classes), rate / (n_classes - 1)) | stays


def best_told(pairs, told, *, balanced=False):
    """Return the accuracy of the best table on the pairs that it was made from.

    Of each pair the part at the place `told` is to be guessed from the other one.
    """
    totals, best = Counter(), Counter()
    for pair, n in pairs.items():
        totals[pair[told]] += n
    scaled = {pair: n / totals[pair[told]] if balanced else n for pair, n in pairs.items() if n}
    for pair, n in scaled.items():
        best[pair[1 - told]] = max(best[pair[1 - told]], n)
    return sum(best.values()) / sum(scaled.values())


def as_labels(values):
    """Return whole numbers (of "g0", "g1", ...), or tuples of 0 and 1 for indicator rows."""
    values = np.asarray(values)
    if values.ndim == 2:
        return [tuple(row) for row in values.tolist()]
    return [int(str(value).removeprefix("g")) for value in values]


def tables(labels, others, predicted, weight, rate=None):
    """Return the weights of labels that err as often as predictions, and of predictions, each
    beside what stands in the other column. `rate` is how often labels err instead."""
    n_classes, cells = max(2, len({*labels, *predicted})), np.size(labels[0])
    most = Fraction(1, 2) if isinstance(labels[0], tuple) else Fraction(n_classes - 1, n_classes)
    data, model, wrong = Counter(), Counter(), Fraction(0)
    for t, p, other, w in zip(labels, predicted, others, weight, strict=True):
        model[p, other] += Fraction(w)
        wrong += Fraction(w) * int(np.not_equal(t, p).sum()) / cells
    if rate is None:
        rate = min(wrong / sum(map(Fraction, weight)), most)
    for t, other, w in zip(labels, others, weight, strict=True):
        for label, share in moved(t, rate, n_classes).items():
            data[label, other] += Fraction(w) * share
    return data, model


def leakage_by_hand(*sides):
    data, model = (best_told(pairs, told=1, balanced=True) for pairs in tables(*sides))
    return model - data


def dpa_by_hand(seen, told, predicted, *how):
    """Return DPA with both qualities accuracies of the best table, as a mean over columns."""
    if isinstance(told[0], tuple):
        columns = zip(zip(*told, strict=True), zip(*predicted, strict=True), strict=True)
        return sum(dpa_by_hand(seen, *pair, *how) for pair in columns) / len(told[0])
    data, model = (best_told(pairs, told=0) for pairs in tables(told, seen, predicted, *how))
    return (model - data) / (model + data)


def by_hand(world, metric, rate=None):
    names = (*TOLD, "sensitive_pred")
    task, predicted, group, group_pred = (as_labels(world[name]) for name in names)
    weight = np.asarray(world.get("sample_weight", np.ones(len(task), int))).tolist()
    if metric == "leakage":
        return leakage_by_hand(task, group, predicted, weight, rate)
    if metric == "A->T":
        return dpa_by_hand(group, task, predicted, weight, rate)
    return dpa_by_hand(task, group, group_pred, weight, rate)


def closed(world, metric, **options):
    """Return the papers' closed form; worlds are small, so the exact attacker must be named."""
    options = {"attacker": "exact", "cv": None, "quality": "accuracy"} | options
    if metric == "leakage":
        world = {name: one for name, one in world.items() if name != "sensitive_pred"}
        return leakage_amplification(**world, **options)
    return dpa_amplification(**world, direction=metric, **options)


every_metric = pytest.mark.parametrize("metric", ["leakage", "A->T", "T->A"])
kinds = pytest.mark.parametrize("kind", ["binary", "multiclass", "multilabel"])


@every_metric
@kinds
@settings(max_examples=12)
@given(data=st.data())
def test_the_closed_form_is_what_one_counts_by_hand(kind, metric, data):
    world = audited(data.draw(worlds(kinds=(kind,), weights=st.integers(1, 3))))
    expected = pytest.approx(float(by_hand(world, metric)), abs=1e-12)
    assert closed(world, metric, equalize="accuracy") == expected


@both_directions
def test_overlapping_groups_are_seen_as_patterns_and_told_one_by_one(direction):
    rng = np.random.default_rng(2)
    group, group_pred = rng.integers(2, size=(2, 60, 3))
    task, predicted = rng.integers(2, size=(2, 60))
    world = dict(zip(TOLD, (task, predicted, group), strict=True))
    value = closed(world | {"sensitive_pred": group_pred}, direction, groups="indicator")
    sides = (group, task, predicted) if direction == "A->T" else (task, group, group_pred)
    assert value == pytest.approx(float(dpa_by_hand(*map(as_labels, sides), [1] * 60)), abs=1e-12)


@pytest.mark.parametrize(
    ("direction", "published", "trained"), [("T->A", 0.0620, 0.061), ("A->T", 0.0898, 0.100)]
)
def test_balanced_compas_has_the_dpa_of_its_printed_counts(direction, published, trained):
    """TOK24, Table 2b in closed form; the trained attackers of Table 3 found 0.061 ± 0.008 and
    0.100 ± 0.004."""
    group, task, group_pred, predicted, n = read(COMPAS_BALANCED)
    sides = (task, predicted, group, group_pred)
    names = zip((*TOLD, "sensitive_pred"), sides, strict=True)
    world = {name: side.argmax(axis=1) for name, side in names} | {"sample_weight": np.array(n)}
    value = closed(world, direction, attacker="auto")
    assert value == pytest.approx(published, abs=5e-5)
    assert value == pytest.approx(float(by_hand(world, direction)), abs=1e-14)
    auditor = DPAAuditor(direction, quality="accuracy", cv=None, interval=None)
    result = auditor.audit(Contingency.from_labels(**world))
    assert float(result) == pytest.approx(value, abs=1e-14)
    # Exactly balanced labels tell nothing, however they are perturbed.
    assert result.table["quality_data"].item() == pytest.approx(0.5, abs=1e-14)
    crossed = DPAAuditor(direction, quality="accuracy", n_resamples=199, random_state=0)
    result = crossed.audit(**world)
    assert 0 < result.low < trained < result.high


@pytest.mark.parametrize(("alpha", "published"), [(None, 0.6826), (3, 0.6811), (2, 0.6815)])
def test_imsitu_verbs_tell_gender_as_published(alpha, published):
    """Wang et al. 2019, Table 1, with trained networks."""
    try:
        train, test = (
            pd.read_csv(data_folder() / f"imsitu_{part}.csv.gz") for part in ("train", "test")
        )
    except FileNotFoundError:
        pytest.skip("the annotations of imSitu are not here: name their folder in SKBIASAMP_DATA")
    train = train if alpha is None else train[train[f"ratio_{alpha}"] == 1]
    known = {"y_train": train["verb"], "sensitive_train": train["gender"], "random_state": 0}
    value = dataset_leakage(test["verb"], sensitive_features=test["gender"], **known)
    assert value == pytest.approx(published, abs=0.008)
    shares = pd.crosstab(train["verb"], train["gender"], normalize="columns")
    by_hand = balanced_accuracy_score(test["gender"], shares.idxmax(axis=1)[test["verb"]])
    # A verb that the table does not have, or has in equal shares, is told by halves.
    assert value == pytest.approx(by_hand, abs=1e-3)


@every_metric
@kinds
@settings(max_examples=6)
@given(data=st.data())
def test_f1_is_equalised_where_root_finding_says(kind, metric, data):
    """The rate at which the expected macro F1 is the model's, found by another method."""
    world = audited(data.draw(worlds(kinds=(kind,))))
    told = "sensitive_features" if metric == "T->A" else "y_true"
    predicted = "sensitive_pred" if metric == "T->A" else "y_pred"
    if metric != "leakage":
        world = {key: one if np.ndim(one) == 1 else one[:, 0] for key, one in world.items()}
    truth, guess = np.array(as_labels(world[told])), np.array(as_labels(world[predicted]))
    n_classes = int(truth.max()) + 1
    binary = truth.ndim == 1 and n_classes == 2 and metric != "T->A"
    if truth.ndim == 1:
        every = np.arange(n_classes)[1:] if binary else np.arange(n_classes)
        truth, guess = truth[:, None] == every, guess[:, None] == every
    n_others = n_classes - 1 if np.ndim(world[told]) == 1 else 1
    p = truth.mean(axis=0)

    def expected(rate):
        kept, said = p * (1 - rate), p * (1 - rate) + (1 - p) * rate / n_others
        return np.mean(2 * kept / (p + said))

    model = np.mean(
        [f1_score(*column, zero_division=0) for column in zip(truth.T, guess.T, strict=True)]
    )
    most = n_others / (n_others + 1)
    rate = most  # labels are never perturbed beyond pure noise
    if expected(most) < model:
        rate = brentq(lambda r: expected(r) - model, 0, most, xtol=1e-15) if model < 1 else 0.0
    value = pytest.approx(float(by_hand(world, metric, rate)), abs=1e-9)
    assert closed(world, metric, equalize="f1") == value


BIT, FOUR = np.array([[0.7, 0.3], [0.3, 0.7]]), np.where(np.eye(4), 0.7, 0.1)


@pytest.mark.parametrize(
    ("rows", "unit", "chance", "how"),
    [
        ([[12, 5, 30, 0], [3, 40, 1, 9]], 0.37, FOUR, {"axis": -1, "rows_per_weight": 1 / 0.37}),
        ([[9, 0, 4, 1, 0, 20, 2, 0]], 1.0, np.kron(np.kron(BIT, BIT), BIT), {"n_bits": 3}),
    ],
    ids=["four classes of weighted rows", "three labels"],
)
def test_counts_are_perturbed_as_their_rows_would_be(rows, unit, chance, how):
    """Means and covariances are those of rows that move one by one, to a class or bit by bit."""
    rows, rate = np.array(rows), np.full((4000, 1, 1), 0.3)
    given_rows = np.broadcast_to(rows * unit, (4000, 1, 1, *rows.shape))
    if "n_bits" in how:  # a row is a pattern, and the inputs come first
        given_rows, how = np.swapaxes(given_rows, -1, -2), how | {"axis": -2}
    drawn = perturb(given_rows, rate, np.random.default_rng(5), **how)
    drawn = drawn.reshape(4000, *rows.shape) / unit
    assert_allclose(drawn.sum(axis=2), np.broadcast_to(rows.sum(axis=1), drawn.shape[:2]))
    assert_allclose(drawn, np.rint(drawn), atol=1e-9)
    spread = [np.diag(its) - np.outer(its, its) for its in chance]
    law = block_diag(*(np.tensordot(counts, spread, 1) for counts in rows))
    drawn, error = drawn.reshape(4000, -1), np.sqrt(np.diag(law) / 4000)
    assert (np.abs(drawn.mean(axis=0) - (rows @ chance).ravel()) <= 4.5 * error + 1e-9).all()
    assert_allclose(np.cov(drawn.T), law, atol=0.1 * law.max())


def test_the_seed_that_made_the_labels_does_not_make_the_folds():
    """Folds of the same draws as the groups would be folds of one group each."""
    label, options = np.zeros((400, 2), dtype=int), {"balanced": False, "n_draws": 1}
    for seed in range(3):
        group = np.random.default_rng(seed).integers(2, size=400)
        assert dataset_leakage(label, sensitive_features=group, random_state=seed, **options) > 0.45
        assert (own_generator(seed).integers(2, size=400) != group).any()


def test_a_callable_quality_is_as_good_as_a_named_one():
    world, options = simulated(200), {"cv": 3, "n_draws": 3, "random_state": 0}

    # DPA balances what attackers learn for "balanced_accuracy" by name only.
    for metric, score, name in (
        ("leakage", balanced_accuracy_score, "balanced_accuracy"),
        ("leakage", MACRO_F1, "f1"),
        ("A->T", accuracy_score, "accuracy"),
    ):
        value = closed(world, metric, quality=name, **options)
        assert closed(world, metric, quality=score, **options) == pytest.approx(value, abs=1e-12)
    # Without weights it sees repeated rows.
    value = closed(world, "A->T", quality=lambda y_true, y_pred: np.mean(y_true == y_pred))
    assert value == pytest.approx(closed(world, "A->T"), abs=2e-3)


def test_folding_hides_attackers_below_chance():
    """fold=True is |accuracy − ½| + ½ of each attacker."""
    rows = {"sensitive_features": ["a", "b"] * 30, "n_draws": 200, "random_state": 0}
    below = dataset_leakage([0, 0, 1, 1] * 15, **rows)
    assert below < 0.5 < dataset_leakage([0, 0, 1, 1] * 15, **rows, fold=True)


@pytest.mark.parametrize("quality", QUALITIES)
@settings(max_examples=10)
@given(
    table=arrays(int, st.tuples(st.integers(1, 3), st.integers(2, 3)), elements=st.integers(0, 4))
)
def test_a_blind_guess_is_no_better_than_chance(quality, table):
    """Every mixture of constant guesses, judged by scikit-learn, against `chance_data`."""
    seen, told = (np.repeat(axis.ravel(), table.ravel()) for axis in np.indices(table.shape))
    present = np.unique(told)
    assume(len(present) > 1)
    auditor = DPAAuditor(quality=quality, equalize=None, attacker="exact", cv=None, interval=None)
    constant = np.full_like(told, present[0])  # only labels are hard to guess
    chance = auditor.audit(told, constant, sensitive_features=seen).statistics["chance_data"]
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


@pytest.mark.parametrize("metric", ["leakage", "unbalanced leakage", "DPA"])
def test_cross_fitted_qualities_are_those_of_rows(metric):
    """The very folds that were drawn, with scikit-learn's metrics on their rows."""
    rng = np.random.default_rng(1)
    # Some groups and classes have two rows, so that folds lack them. The rarest group is first:
    # cells are in the order of the groups' counts.
    group = np.r_[np.repeat([1, 2], [20, 20]), 0, 0]
    task = np.r_[rng.integers(2, size=38), 2, 2, 0, 1]
    predicted = np.where(rng.random(42) < 0.3, 0, task)
    predicted[-1] = 2
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


@pytest.mark.parametrize("direction", [None, "A->T", "T->A"])
def test_groups_and_classes_without_rows_change_nothing(direction):
    """Training labels have a group and a class that the audited rows lack."""
    labels = simulated(200)
    labels["y_pred"], labels["y_true"] = (np.array(["a", "b"])[labels[n]] for n in TOLD[1::-1])
    labels["sensitive_pred"] = np.roll(labels["sensitive_features"], 1)
    names = ["quality_data", "quality_model", "amplification", "low", "high", "p_value"]
    kept = ("chance_data", "chance_model", "above_chance_low", "above_chance_high")
    for quality, cv in product(QUALITIES, (None, 4)):
        options = {"quality": quality, "equalize": None, "cv": cv, "n_draws": 2}
        options |= {"n_resamples": 19, "random_state": 0}
        auditor = DPAAuditor(direction, **options) if direction else LeakageAuditor(**options)
        alone = auditor.audit(**labels)
        auditor.fit(["a", "b", "a", "b", "z"], sensitive_features=["f", "f", "m", "m", "x"])
        known = auditor.audit(**labels)
        assert_allclose(known.table[names], alone.table[names], atol=1e-12)
        held, others = ([one.statistics[name] for name in kept] for one in (known, alone))
        assert_allclose(held, others, atol=1e-12)


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
