"""search: the same folds for all, the winner within the limit at the least loss, nothing hidden."""

import re
from itertools import product
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import FitFailedWarning, UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score, make_scorer
from sklearn.model_selection import StratifiedKFold, cross_val_predict, cross_val_score
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline

from skbiasamp import (
    DirectionalAuditor,
    LeakageAuditor,
    MALSAuditor,
    MultiAttributeAuditor,
    cross_audit,
)
from skbiasamp.mitigation import (
    CorpusConstraintClassifier,
    DomainIndependentClassifier,
    MixedClassifier,
    NoiseRandomizer,
    RatioBalancer,
    search,
)

# Read for what fits some labels: a search for each would take minutes.
from skbiasamp.mitigation._search import auto_candidates

LINEAR = LogisticRegression()


def draw_people(n, seed):
    """Return features, labels and sex; height tells the sex, and skill is hardly known."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], n)
    skill = rng.normal(size=n)
    hired = (skill + (sex == "m") + rng.normal(0, 0.5, n) > 0.5).astype(int)
    height = (sex == "m") + rng.normal(0, 0.3, n)
    return np.column_stack([skill + rng.normal(0, 3, n), height]), hired, sex


@pytest.fixture(scope="module")
def people():
    return draw_people(1200, 0)


def compared(people, estimators, auditor=None, **options):
    """Search without a limit: all are trained, none is chosen. The first is the model as it is."""
    X, y, sex = people
    (_, first), *others = estimators.items()
    options = {"candidates": dict(others), "auditor": auditor, "limit": None, **options}
    return search(first, X, y, sensitive_features=sex, **{"uses_group": True, **options})


# --------------------------------------------------------------------------- what is measured


def values(comparison, remedy, measure, column="value"):
    table = comparison.measures
    return table[(table["mitigation"] == remedy) & (table["measure"] == measure)][column].item()


def test_what_is_measured_is_what_happens_on_each_fold_and_on_all_rows(people):
    X, y, sex = people
    splits = list(StratifiedKFold(4).split(X, y))
    estimators = {
        "none": LINEAR,
        "forest": RandomForestClassifier(5, random_state=0),
        "groups": DomainIndependentClassifier(LINEAR, calibration=None),
    }
    auditors = [DirectionalAuditor(confidence_level=0.9), MALSAuditor(interval=None)]
    comparison = compared(people, estimators, auditors, cv=splits)
    folds = {name: [] for name in estimators}
    predicted = {name: np.empty(len(y), int) for name in estimators}
    for name, (train, test) in product(estimators, splits):
        given = {"sensitive_features": sex[train]} if name == "groups" else {}
        model = clone(estimators[name]).fit(X[train], y[train], **given)
        predicted[name][test] = y_pred = model.predict(X[test])
        row = [accuracy_score(y[test], y_pred), f1_score(y[test], y_pred, average="macro")]
        for auditor in auditors:
            known = clone(auditor).fit(y[train], sensitive_features=sex[train])
            row.append(known.score(y[test], y_pred, sensitive_features=sex[test]))
        folds[name].append(row)
    assert comparison.scores == ["accuracy", "f1"]
    assert comparison.amplifications == ["directional A->T", "MALS"]
    names = comparison.scores + comparison.amplifications
    folds = {name: pd.DataFrame(rows, columns=names) for name, rows in folds.items()}

    def interval(column):
        """Return Student's, as much wider as Nadeau and Bengio say: folds share training rows."""
        reach = stats.ttest_1samp(column, 0).confidence_interval(0.9).high - column.mean()
        reach *= np.sqrt(1 + 4 * 300 / 900)
        return [column.mean() - reach, column.mean() + reach]

    for row in comparison.measures.itertuples():
        column = folds[row.mitigation][row.measure]
        assert row.value == pytest.approx(column.mean())
        assert_allclose([row.low, row.high], interval(column))
        change = column - folds["none"][row.measure]
        assert row.change == pytest.approx(change.mean())
        if row.mitigation != "none":
            assert_allclose([row.change_low, row.change_high], interval(change))
    # Candidates are compared with the model as it is, on all held-out rows.
    auditor = clone(auditors[0]).fit(y, sensitive_features=sex)
    expected = auditor.compare(y, predicted, sensitive_features=sex, reference="none").table
    columns = ["difference", "difference_low", "difference_high", "p_value", "p_adjusted"]
    compared_rows = comparison.comparisons["directional A->T"]
    assert compared_rows.reference == "none"
    rows = compared_rows.table.set_index("model")[columns]
    pd.testing.assert_frame_equal(rows, expected.set_index("model")[columns])
    assert np.isnan(rows.loc["none"].to_numpy(float)).all()
    # Nothing of the kind is known without an interval but the difference.
    mals = comparison.comparisons["MALS"].table.set_index("model")
    assert mals.loc["groups", "difference"] != 0
    assert np.isnan(mals.loc["groups", "difference_low"])


def test_samplers_in_a_pair_and_in_a_pipeline_of_imblearn_are_the_same(people):
    pipeline = pytest.importorskip("imblearn.pipeline")
    balancer = RatioBalancer(random_state=0)
    by_column = RatioBalancer(sensitive=lambda X: X[:, 1] > 0.5, random_state=0)
    estimators = {
        "none": LINEAR,
        "pair": (balancer, LINEAR),
        "pipeline": pipeline.make_pipeline(balancer, LINEAR),
        "both": (balancer, DomainIndependentClassifier(LINEAR)),
        "by column": (by_column, LINEAR),
    }
    comparison = compared(people, estimators, random_state=0)
    table = comparison.measures.pivot(index="measure", columns="mitigation", values="value")
    assert table["pair"].tolist() == table["pipeline"].tolist()
    for name in ("pair", "both", "by column"):
        assert values(comparison, name, "directional A->T", "change_high") < 0


def test_jobs_and_seeds_do_not_change_numbers(people):
    estimators = {
        "none": RandomForestClassifier(5),
        "pair": (RatioBalancer(), LINEAR),
        "noise": make_pipeline(NoiseRandomizer(1), RandomForestClassifier(5)),
    }
    first, same, other = (
        compared(people, estimators, cv=3, random_state=seed, n_jobs=jobs).measures
        for seed, jobs in ((0, None), (0, 2), (1, None))
    )
    pd.testing.assert_frame_equal(first, same)
    assert not np.allclose(other["value"], first["value"])


def test_labels_of_several_classes(people):
    X, y, sex = (column[:600] for column in people)
    job = np.array(["no", "perhaps", "yes"])[y + (X[:, 0] > 1)]
    estimators = {"none": LINEAR, "groups": DomainIndependentClassifier(LINEAR)}
    auditors = [LeakageAuditor(n_draws=2, n_resamples=50), DirectionalAuditor()]
    how = {"cv": 3, "random_state": 0, "stratify": "joint"}
    comparison = compared((X, job, sex), estimators, auditors, **how)
    assert comparison.amplifications == ["leakage", "directional A->T"]
    how |= {"auditor": [DirectionalAuditor(interval=None)], "n_halvings": 0}
    audited = cross_audit(LINEAR, X, job, sensitive_features=sex, **how)["directional A->T"]
    assert values(comparison, "none", "directional A->T") == pytest.approx(audited.value)


def test_scores_as_scikit_learn_takes_them(people):
    X, y, _ = people
    splits = list(StratifiedKFold(3).split(X, y))
    comparison = compared(people, {"none": LINEAR}, cv=splits, scoring=make_scorer(f1_score))
    assert comparison.scores == ["score"]
    expected = cross_val_score(LINEAR, X, y, cv=splits, scoring="f1").mean()
    assert values(comparison, "none", "score") == pytest.approx(expected, abs=1e-12)


def test_a_mitigation_that_changes_nothing_is_named(people):
    X, y, _ = people
    forest = RandomForestClassifier(5, random_state=0)
    splits = list(StratifiedKFold(3).split(X, y))
    comparison = compared(people, {"none": LINEAR, "same": LINEAR, "forest": forest}, cv=splits)
    assert values(comparison, "same", "accuracy", "rows_changed") == 0
    ours, theirs = (cross_val_predict(model, X, y, cv=splits) for model in (forest, LINEAR))
    share = values(comparison, "forest", "accuracy", "rows_changed")
    assert share == pytest.approx(np.mean(ours != theirs))
    text = "same changed nothing: its predictions are those of “none” in every row."
    assert text in repr(comparison).splitlines()


NEEDS_GROUP = {"a": CorpusConstraintClassifier(LINEAR)}


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"candidates": {"a": (RatioBalancer(),)}}, TypeError, "or a pair of sampler"),
        ({"candidates": NEEDS_GROUP}, ValueError, r"\['a'\] needs the group .* uses_group=True"),
        ({"auditor": DirectionalAuditor("T->A")}, ValueError, "classifier that learns to predict"),
        ({"also": {"age": range(1200)}}, ValueError, "got 1,200 values .* 20 or fewer: merge"),
        ({"limit": 2}, ValueError, r"limit is 2, and directional A->T cannot .* are 0\.02"),
    ],
)
def test_what_cannot_be_compared_is_said(people, options, error, message):
    X, y, sex = people
    given = {"estimator": LINEAR, "sensitive_features": sex, "candidates": {}}
    with pytest.raises(error, match=message):
        search(**given | {"X": X, "y": y} | options)


# --------------------------------------------------------------------------- who wins


class Told(ClassifierMixin, BaseEstimator):
    """Predict a column of X, and count how often it was fitted."""

    fits: ClassVar[list[int]] = []

    def __init__(self, column=0, fails=False):
        self.column = column
        self.fails = fails

    def fit(self, X, y):
        if self.fails:
            raise RuntimeError("it cannot be trained")
        self.fits.append(self.column)
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return X[:, self.column].astype(int)


@pytest.fixture
def people_and_predictions():
    """Return labels with groups, and predictions as columns, named for what each does."""
    rng = np.random.default_rng(0)
    sex = np.repeat(["f", "m"], 10_000)
    y = np.concatenate([rng.permutation(np.arange(10_000) < k) for k in (4000, 6000)]).astype(int)
    # So many predictions of women and men are changed to 1, or to 0.
    moves = {
        "far above": (-1500, 1500),
        "good": (-50, -50),
        "cheap and above": (-400, 400),
        "costly": (800, 800),
        "below": (1500, -1500),
    }
    cells = [sex == one for one in "fm"]
    return changed(rng, y, cells, moves.values()), y, sex, list(moves)


def changed(rng, y, cells, columns):
    """Return columns of predictions, with so many of each cell of rows changed to 1, or to 0."""
    predicted = np.repeat(y[:, None], len(columns), axis=1)
    for i, moves in enumerate(columns):
        for cell, move in zip(cells, moves, strict=True):
            rows = np.flatnonzero(cell & (y == (move < 0)))
            predicted[rng.choice(rows, abs(move), replace=False), i] = int(move > 0)
    return predicted


def test_the_winner_is_the_cheapest_within_the_limit(people_and_predictions):
    X, y, sex, names = people_and_predictions
    Told.fits.clear()
    candidates = {name: Told(i) for i, name in enumerate(names) if i}
    candidates["broken"] = Told(fails=True)
    given = {"sensitive_features": sex, "candidates": candidates, "random_state": 0}
    with pytest.warns(FitFailedWarning, match="'broken' failed .* it cannot be trained"):
        result = search(Told(0), X, y, **given)
    failed = result.measures[result.measures["mitigation"] == "broken"]
    assert failed["error"].str.startswith("RuntimeError: it cannot be trained").all()
    assert failed["value"].isna().all()
    # Of the model that all others are compared with, an error is an error.
    with pytest.raises(RuntimeError, match="it cannot be trained"):
        search(Told(fails=True), X, y, **given)
    table = result.table.set_index("candidate")
    # Rates of both groups move by 0.15 in opposite directions, of equal size: so does the mean.
    assert table.loc["none", "value"] == pytest.approx(0.15)
    assert table.loc["good", "value"] == pytest.approx(0)
    assert table["status"].to_dict() == {
        "good": "within the limit",
        "costly": "within the limit",
        "none": "outside the limit",
        "cheap and above": "stopped early",
        "below": "stopped early",
        "broken": "failed",
    }
    assert (result.best, result.improved, result.best_.column) == ("good", True, 1)
    # Five folds and all rows of those that go on, one fold of those that stop.
    counts = {i: Told.fits.count(i) for i in range(5)}
    assert counts == {0: 6, 1: 6, 2: 1, 3: 6, 4: 1}
    columns = {name: model.column for name, model in result.models.items()}
    assert columns == {"none": 0, "good": 1, "costly": 3}
    scores = {name: accuracy_score(y, X[:, i]) for i, name in enumerate(names)}
    assert table.loc["good", "accuracy"] == pytest.approx(scores["good"])
    assert table.loc["costly", "loss"] == pytest.approx(scores["far above"] - scores["costly"])
    # It wins on whichever folds choose: rows that did not choose it are all rows.
    for name in ("value", "low", "high", "change", "accuracy", "loss", "loss_high"):
        assert result.validated[name] == pytest.approx(table.loc["good", name], abs=3e-4)
    assert "With “good” it is 0.0000 (95 % interval −0.001" in result.sentence
    assert "on rows that did not choose it. It is within the limit of 0.02." in result.sentence
    assert "No loss of accuracy was measured." in result.sentence
    assert not table["needs_group"].any()


def test_the_winner_is_audited_on_rows_that_did_not_choose_it():
    rng = np.random.default_rng(0)
    sex = rng.integers(0, 2, 1500)
    y = (rng.random(1500) < np.where(sex == 1, 0.6, 0.4)).astype(int)
    # The model amplifies by 0.15, all candidates by 0.03, each with errors of its own.
    columns = [
        np.where(rng.random(1500) < 0.5, y, rng.random(1500) < np.where(sex == 1, rate, 1 - rate))
        for rate in (0.9, *[0.66] * 8)
    ]
    X = np.column_stack(columns).astype(int)
    splits = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))
    given = {"sensitive_features": sex, "limit": 0.06, "scoring": "accuracy", "random_state": 0}
    given["candidates"] = {str(i): Told(i) for i in range(1, 9)}
    result = search(Told(0), X, y, cv=splits, **given)
    name = result.table["candidate"].iloc[0]
    chosen, winners = np.empty(1500, int), set()
    for at, (_, test) in enumerate(splits):
        others = [split for i, split in enumerate(splits) if i != at]
        winner = int(search(Told(0), X, y, cv=others, **given).table["candidate"].iloc[0])
        winners.add(winner)
        chosen[test] = X[test, winner]
    assert len(winners) > 1
    auditor = DirectionalAuditor().fit(y, sensitive_features=sex)
    audit = auditor.audit(y, chosen, sensitive_features=sex)
    assert result.validated["value"] == pytest.approx(audit.value)
    for end in ("low", "high"):
        assert result.validated[end] == pytest.approx(getattr(audit, end), abs=0.005)
    assert result.validated["loss"] == pytest.approx(np.mean((X[:, 0] == y) * 1.0 - (chosen == y)))
    # The rows that chose it flatter it.
    flattering = auditor.audit(y, X[:, int(name)], sensitive_features=sex)
    assert flattering.value < result.validated["value"] - 0.005
    assert flattering.high < 0.06 < result.validated["high"]
    # So the first row, the finding and the badge are about the others.
    first = result.table.iloc[0]
    assert {key: first[key] for key in result.validated} == result.validated
    assert (first["status"], result.best, result.best_) == ("inconclusive", None, None)
    assert not result.improved
    assert f"“{name}” ranks first, but it is +0.0" in result.sentence
    assert "not choose it. This is not within the limit of 0.06." in result.sentence
    # Other rows may say "within the limit", which the words must not seem to contradict.
    assert "not confirmed" not in result.sentence
    result.table.loc[1, "status"] = "within the limit"
    assert "“within the limit” is not confirmed for them." in result.sentence
    assert re.search(r'class="chip[^>]*>(<[^>]*>)?No winner<', result.to_html())
    assert name in result.models


def people_of_two_columns(*columns, n=2500):
    """Return columns as predictions, labels, sex and race.

    A column is how many predictions of women and men of race a and b are changed to 1, or to 0.
    """
    rng = np.random.default_rng(0)
    sex, race = np.repeat([[*"ffmm"], [*"abab"]], n, axis=1)
    y = np.concatenate([rng.permutation(np.arange(n) < k * n) for k in (0.4, 0.4, 0.6, 0.6)])
    y, cells = y.astype(int), [(sex == one) & (race == other) for one in "fm" for other in "ab"]
    predicted = changed(rng, y, cells, columns)
    return predicted, y, pd.Series(sex, name="sex"), pd.Series(race, name="race")


def test_a_candidate_that_makes_another_column_worse_is_out():
    # All columns but the first are fair to each sex: by .1, by race; by .12, by a crossing.
    X, y, sex, race = people_of_two_columns(
        (-125, -125, 125, 125), (250, -250, 250, -250), (300, -300, -300, 300), (375, 375, 375, 375)
    )
    candidates = {"by race": Told(1), "crossing": Told(2), "fair": Told(3)}
    fold = np.random.default_rng(3).integers(0, 5, len(y))
    cv = [(np.flatnonzero(fold != at), np.flatnonzero(fold == at)) for at in range(5)]
    given = {"sensitive_features": sex, "candidates": candidates, "random_state": 0, "cv": cv}
    assert search(Told(0), X, y, **given).best == "by race"
    result = search(Told(0), X, y, also=race, **given)
    assert result.best == "fair"
    table = result.table.set_index("candidate")
    assert table["status"].to_dict() == {
        "fair": "within the limit",
        "none": "outside the limit",
        "by race": "worse elsewhere",
        "crossing": "worse elsewhere",
    }
    assert table["worse_for"].dropna().to_dict() == {"by race": "race", "crossing": "sex × race"}
    also = result.also.set_index(["candidate", "columns"]).sort_index()
    assert len(also) == 6
    for i, name in enumerate(candidates):
        moved = pd.DataFrame(X[:, [0, i + 1]] - y[:, None])
        for columns, groups in {"race": race, "sex × race": sex + race}.items():
            shifts = moved.groupby(groups).mean() - moved.mean()
            row = also.loc[(name, columns)]
            assert_allclose([row["before"], row["after"]], shifts.abs().mean(), atol=1e-12)
            assert row["change"] == pytest.approx(row["after"] - row["before"])
    # By hand: a tenth of each race moves, and nobody did before; a crossing that no column shows.
    assert also.loc[("by race", "race"), "change"] == pytest.approx(0.1)
    assert also.loc[("crossing", "race"), "change"] == pytest.approx(0)
    assert also.loc[("crossing", "sex × race"), "change"] == pytest.approx(0.12 - 0.05)
    # Rows vary, with one more that changed, and folds beyond them (Nadeau and Bengio).
    moved = pd.DataFrame(X[:, :2] - y[:, None])
    moved *= np.where(moved.groupby(sex + race).transform("mean") < moved.mean(), -1, 1)
    grown, n = moved[1] - moved[0], len(y)
    of_rows = (grown.var(ddof=0) + 1 / n) / n
    more = (grown.groupby(fold).mean().var() - 5 * of_rows) * (1 / 5 + n / 5 / len(cv[0][0]))
    df = 4 * ((of_rows + more) / more) ** 2
    reach = stats.t.isf(0.025 / 6, df) * np.sqrt(of_rows + more)  # for 6 changes
    row, change = also.loc[("by race", "sex × race")], 0.1 - 0.05
    assert more > 0
    assert_allclose([row["change_low"], row["change_high"]], [change - reach, change + reach])
    text = "2 candidates make another column or crossing clearly worse."
    assert f"It makes no other column or crossing clearly worse. {text}" in result.sentence
    assert "worse elsewhere: race" in result.to_markdown()


def test_sizes_are_compared_not_values(people_and_predictions):
    X, y, sex, _ = people_and_predictions
    given = {"sensitive_features": sex, "limit": 0.5, "random_state": 0}
    result = search(Told(2), X, y, candidates={"below": Told(4), "good": Told(1)}, **given)
    table = result.table.set_index("candidate")
    assert table.loc["below", "change"] == pytest.approx(0.15 - 0.04)
    assert table.loc["below", "change_low"] > 0
    assert table.loc["good", "change"] == pytest.approx(-0.04)
    assert table.loc["good", "change_high"] < 0
    # The signs do not matter.
    result = search(Told(4), X, y, candidates={"above": Told(2)}, **given)
    above = result.table.set_index("candidate").loc["above"]
    assert above["change"] == pytest.approx(0.04 - 0.15)
    assert above["change_high"] < 0


def test_means_leave_out_folds_that_are_not_measured():
    """MALS of a fold of one group is near 0.5, whatever a model does: its share there is 1."""
    rng = np.random.default_rng(0)
    group, y = rng.integers(0, 2, 600), rng.integers(0, 2, 600)
    fold = np.where(group == 0, rng.integers(0, 4, 600), rng.integers(0, 3, 600))
    cv = [(np.flatnonzero(fold != at), np.flatnonzero(fold == at)) for at in range(4)]
    X = np.column_stack([np.where(rng.random(600) < 0.1, 1 - y, y) for _ in range(2)])
    estimators, auditor = {"none": Told(0), "other": Told(1)}, MALSAuditor(interval=None)
    with pytest.warns(UndefinedMetricWarning, match="fold 3: its .*rows are all of group 0"):
        result = compared((X, y, group), estimators, auditor, cv=cv, random_state=0)
    others = compared((X, y, group), estimators, auditor, cv=cv[:3], random_state=0)
    numbers = ["value", "low", "high", "change", "change_low", "change_high"]
    found, expected = (
        one.measures.loc[one.measures["measure"] == "MALS", numbers] for one in (result, others)
    )
    assert_allclose(found, expected)


def test_a_model_within_the_limit_stays_as_it_is(people_and_predictions):
    X, y, sex, _ = people_and_predictions
    given = {"sensitive_features": sex, "random_state": 0}
    result = search(Told(1), X, y, candidates={"costly": Told(3)}, **given)
    assert (result.best, result.improved) == ("none", False)
    assert "within the limit of 0.02 as it is" in result.sentence
    result = search(Told(0), X, y, candidates={}, **given)
    assert result.best is result.best_ is None
    assert "No candidate is within the limit of 0.02." in result.sentence
    assert result.table["status"].tolist() == ["outside the limit"]


@pytest.mark.slow
def test_the_interval_of_a_change_covers_it(people_and_predictions):
    """Of repeated rows: the standard deviation of changes is what the interval says."""
    X, y, sex, _ = people_and_predictions
    rng, changes, reaches = np.random.default_rng(1), [], []
    fitted = DirectionalAuditor(interval=None).fit(y, sensitive_features=sex)
    for i in range(300):
        rows = rng.choice(len(y), 2000)
        values = [fitted.score(y[rows], X[rows, j], sensitive_features=sex[rows]) for j in (2, 4)]
        changes.append(abs(values[1]) - abs(values[0]))
        if i < 5:
            given = {"sensitive_features": sex[rows], "limit": None, "cv": 2, "random_state": i}
            result = search(Told(2), X[rows], y[rows], candidates={"b": Told(4)}, **given)
            row = result.table.set_index("candidate").loc["b"]
            reaches.append((row["change_high"] - row["change_low"]) / 2 / 1.96)
    assert np.mean(reaches) == pytest.approx(np.std(changes), rel=0.15)


def test_automatic_candidates_on_people():
    X, y, sex = draw_people(900, 0)
    options = {"sensitive_features": sex, "limit": 0.05, "cv": 3, "uses_group": True}
    result = search(LINEAR, X, y, **options, random_state=0)
    assert result.best.startswith("Mixed with")
    assert result.improved
    # Held-out rows agree.
    X, y, sex = draw_people(20_000, 1)
    auditor = DirectionalAuditor(reference="test", interval=None)
    assert abs(auditor.score(y, result.best_.predict(X), sensitive_features=sex)) < 0.05
    needs = result.table.set_index("candidate")["needs_group"].to_dict()
    assert needs["CorpusConstraint"]
    assert needs["AmplificationThreshold, by_group=True"]
    assert not needs["AmplificationThreshold"]
    assert not needs["RatioBalancer"]


def test_automatic_candidates_fit_the_labels():
    binary, three = np.arange(100) % 2, np.arange(100) % 3
    candidates = auto_candidates(LINEAR, binary, 0.02)
    assert {"BaseRateThreshold", "RatioBalancer", "CorpusConstraint"} <= {*candidates}
    several = auto_candidates(LINEAR, three, 0.02)
    assert "BaseRateThreshold" not in several
    assert "CorpusConstraint" in several
    pair = auto_candidates((RatioBalancer(), LINEAR), binary, 0.02)
    assert "RatioBalancer" not in pair
    assert "CorpusConstraint" in pair


def test_automatic_thresholds_are_the_best_by_the_score_of_the_search():
    rng = np.random.default_rng(0)
    sex = rng.integers(0, 2, 1500)
    skill = rng.normal(size=1500) + sex
    y = (skill + rng.normal(size=1500) > 2).astype(int)  # rare, so accuracy wants few positives
    X, by = skill[:, None], {"sensitive_features": sex}

    def scores(scoring):
        mitigation = auto_candidates(LINEAR, y, 0.4, scoring)[
            "AmplificationThreshold, by_group=True"
        ]
        predicted = mitigation.fit(X, y, **by).predict(X, **by)
        return accuracy_score(y, predicted), balanced_accuracy_score(y, predicted)

    accurate, balanced = scores("accuracy"), scores("balanced_accuracy")
    assert accurate[0] > balanced[0] + 0.03
    assert balanced[1] > accurate[1] + 0.03
    assert scores("roc_auc") == accurate  # thresholds do not change it


def test_a_search_measures_groups_that_are_predicted_from_tasks_and_from_sets():
    X, y, sex = draw_people(1200, 0)
    tasks = np.column_stack([y, X[:, 0] > 0])
    auditors = [kind("T->A", interval=None) for kind in (DirectionalAuditor, MultiAttributeAuditor)]
    several = MultiOutputClassifier(LINEAR)
    every, test = np.arange(600), slice(600, None)
    of_sets = RatioBalancer(sets=True, unpaired="drop", random_state=0)
    found = compared(
        (X, tasks, sex),
        {"none": several, "sets": (of_sets, several)},
        auditors,
        sensitive_estimator=LINEAR,
        cv=[(every, every + 600)],
        random_state=0,
    ).measures.pivot(index="mitigation", columns="measure", values="value")
    # The groups' classifier learns the rows that the sampler keeps.
    known = {"sensitive_features": sex[:600]}
    kept = of_sets.fit(X[:600], tasks[:600], **known).sample_indices_
    for name, rows in (("none", every), ("sets", kept)):
        predicted, group = (
            clone(model).fit(X[rows], labels[rows]).predict(X[test])
            for model, labels in ((several, tasks), (LINEAR, sex))
        )
        given = {"sensitive_features": sex[test], "sensitive_pred": group}
        for auditor in auditors:
            fitted = clone(auditor).fit(tasks[:600], **known)
            expected = fitted.score(tasks[test], predicted, **given)
            assert found.loc[name, f"{auditor.metric} T->A"] == pytest.approx(expected)


# --------------------------------------------------------------------------- mixtures


def test_a_mixture_lands_at_0_and_not_below():
    X, y, sex = draw_people(8000, 0)
    X_test, y_test, sex_test = draw_people(40_000, 1)
    auditor = DirectionalAuditor(interval=None).fit(y, sensitive_features=sex)

    def gap(model):
        return auditor.score(y_test, model.predict(X_test), sensitive_features=sex_test)

    apart = DomainIndependentClassifier(LINEAR)
    assert gap(clone(LINEAR).fit(X, y)) > 0.1
    assert gap(clone(apart).fit(X, y, sensitive_features=sex)) < -0.1
    for randomize in (False, True):
        model = MixedClassifier(LINEAR, apart, randomize=randomize, random_state=0)
        model.fit(X, y, sensitive_features=sex)
        assert 0.2 < model.share_ < 0.8
        assert abs(gap(model)) < 0.03
        assert (model.predict(X_test) == model.predict(X_test)).all()
    # Mixed decisions are those of one or the other, and amplify by a mean of both.
    first, second = model.estimator_.predict(X_test), model.mitigation_.predict(X_test)
    mixed = model.predict(X_test)
    assert np.isin(mixed, [0, 1]).all()
    assert (mixed[first == second] == first[first == second]).all()
    share = np.mean(mixed[first != second] == second[first != second])
    assert share == pytest.approx(model.share_, abs=0.02)
    path = model.path_.set_index("share")["amplification"]
    assert np.interp(model.share_, path.index, path) == pytest.approx(0, abs=1e-9)


def test_a_mixture_takes_nothing_that_does_not_help():
    X, y, sex = draw_people(2000, 0)
    for randomize in (False, True):
        model = MixedClassifier(LINEAR, LINEAR, randomize=randomize, random_state=0)
        assert model.fit(X, y, sensitive_features=sex).share_ == 0


@pytest.mark.parametrize("routing", [False, True])
def test_a_mixture_gives_the_group_to_a_classifier_that_asks_for_it(routing):
    X, y, sex = draw_people(2000, 0)
    apart = DomainIndependentClassifier(LINEAR, calibration=None)
    with sklearn.config_context(enable_metadata_routing=routing):
        model = MixedClassifier(apart, LINEAR, random_state=0)
        model.fit(X, y, sensitive_features=sex)
    alone = apart.fit(X, y, sensitive_features=sex)
    assert_allclose(model.estimator_.predict_proba(X), alone.predict_proba(X))


def test_mixtures_of_several_classes():
    X, y, sex = draw_people(2000, 0)
    model = MixedClassifier(LINEAR, auditor=MALSAuditor(), random_state=0)
    labels = np.array(["a", "b", "c"])[y + (X[:, 0] > 1)]
    model.fit(X, labels, sensitive_features=sex)
    assert set(model.predict(X)) <= {"a", "b", "c"}
    assert_allclose(model.predict_proba(X).sum(axis=1), 1)
