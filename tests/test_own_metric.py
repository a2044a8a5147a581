"""A metric of a user's own, in about fifteen lines, gets what the package's metrics have."""

import inspect
import json
import pickle
from dataclasses import replace
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from pandas.testing import assert_frame_equal
from scipy import stats
from sklearn.base import clone
from sklearn.exceptions import NotFittedError, UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

import skbiasamp
from skbiasamp import (
    AuditedClassifier,
    Contingency,
    DirectionalAuditor,
    amplification_scorer,
    cross_audit,
)
from skbiasamp.metrics import (
    CooccurrenceAuditor,
    Pairs,
    associate,
    function_of,
)
from skbiasamp.results.kinds import Kind


class RateAuditor(CooccurrenceAuditor):
    """Audit how far each group's rate moves in the direction of its training correlation."""

    metric = "moved rates"
    percent = True
    question = "Do groups that have the label more often in training get it still more often?"

    def measure(self, train, test):
        return Pairs(
            test.groups,
            test.tasks,
            labelled=associate(test, "task", given="group", centre=False),
            predicted=associate(test, "task_pred", given="group", centre=False),
            reference=associate(train, "task", given="group"),
        )


class OwnDirectionalAuditor(RateAuditor):
    """The package's BiasAmp→, written as a user would."""

    metric = "own"

    def measure(self, train, test):
        return Pairs(
            test.groups,
            test.tasks,
            labelled=associate(test, "task", given="group"),
            predicted=associate(test, "task_pred", given="group"),
            reference=associate(train, "task", given="group"),
        )


def test_a_metric_that_does_not_say_its_unit_is_refused():
    for own in ({}, {"percent": True}, {"percent": False}):
        body = {"metric": "mute", "measure": lambda self, train, test: None} | own
        if own:
            assert type("Mute", (CooccurrenceAuditor,), body).percent is own["percent"]
            continue
        with pytest.raises(TypeError, match="Mute must declare percent: True if it compares"):
            type("Mute", (CooccurrenceAuditor,), body)
    # What derives from a metric has its unit.
    assert type("Below", (OwnDirectionalAuditor,), {"measure": None}).percent is True


def world(n=400, n_tasks=1, seed=0, n_groups=3):
    """Return training labels, and audited rows in which group 0 has more false positives."""
    rng = np.random.default_rng(seed)

    def labels(n):
        group = rng.integers(0, n_groups, n)
        chance = 0.6 - 0.15 * ((group[:, None] + np.arange(n_tasks)) % n_groups)
        return group, (rng.random((n, n_tasks)) < chance).astype(int)

    (known_group, known), (group, task) = labels(2 * n), labels(n)
    wrong = rng.random(task.shape) < 0.1 + 0.2 * (group[:, None] == 0)
    predicted = np.where(wrong, np.where(group[:, None] == 0, 1, 1 - task), task)
    if n_tasks == 1:
        known, task, predicted = known[:, 0], task[:, 0], predicted[:, 0]
    train = {"y_train": known, "sensitive_features": known_group}
    return train, {"y_true": task, "y_pred": predicted, "sensitive_features": group}


def plain(train, rows, weight=None):
    """Compute signs, changes of rates and value from rows, as the metric is defined."""
    known, task, predicted = (
        values.reshape(len(values), -1)
        for values in (train["y_train"], rows["y_true"], rows["y_pred"])
    )
    known_group, group = train["sensitive_features"], rows["sensitive_features"]
    weight = np.ones(len(group)) if weight is None else weight
    moved, names = predicted - task, np.unique(known_group)
    sign = np.sign([known[known_group == a].mean(axis=0) - known.mean(axis=0) for a in names])
    chosen = [group == a for a in names]
    change = np.array([np.average(moved[of], axis=0, weights=weight[of]) for of in chosen])
    return sign, change, float((sign * change).mean())


def audited(auditor, data=None, **more):
    train, rows = world() if data is None else data
    return auditor.fit(**train).audit(**rows, **more)


def test_value_and_table_are_those_of_plain_numpy():
    for n_tasks in (1, 3):
        train, rows = data = world(n_tasks=n_tasks)
        sign, change, value = plain(train, rows)
        auditor = RateAuditor(interval=None)
        result = audited(auditor, data)
        # Nothing is taken off a rate: the value is the whole sum.
        assert result.value == pytest.approx(value, abs=1e-12)
        assert result.published == pytest.approx(value, abs=1e-12)
        assert result.statistics["shift"] == result.statistics["selection"] == 0
        assert auditor.score(**rows) == result.value
        assert_allclose(result.table["change"], change.ravel(), atol=1e-12)
        assert_allclose(result.table["amplification"], (sign * change).ravel(), atol=1e-12)
        assert np.abs(change).max() > 0.05
    weight = np.random.default_rng(1).uniform(0.2, 3, 400)
    train, rows = world()
    weighted = RateAuditor(interval=None).fit(**train).score(**rows, sample_weight=weight)
    assert weighted == pytest.approx(plain(train, rows, weight)[2], abs=1e-12)


def test_its_interval_and_p_value_are_those_of_student_s_t():
    """Each row adds to the rate of its group; half a row gained and lost stands for unseen ones."""
    train, rows = data = world(n=150, seed=2)
    result = audited(RateAuditor(), data)
    moved, group = rows["y_pred"] - rows["y_true"], rows["sensitive_features"]
    n = np.bincount(group)
    away = moved - (np.bincount(group, moved) / n)[group]
    # The value is a mean over 3 groups. HC2 makes the variance of each its usual one.
    parts = 150 / 149 * away**2 / (9 * (n * (n - 1))[group])
    unseen = 1 / (9 * n**2)
    variance = parts.sum() + unseen.sum()
    df = variance**2 / ((parts**2).sum() + (unseen**2).sum() / 2)
    value = plain(train, rows)[2]
    reach = stats.t.ppf(0.975, df) * np.sqrt(variance)
    assert_allclose([result.low, result.high], [value - reach, value + reach])
    assert result.p_value == pytest.approx(2 * stats.t.sf(value / np.sqrt(variance), df))
    assert 0.001 < result.p_value < 0.05
    assert (result.table["p_adjusted"] >= result.table["p_value"]).all()


def test_a_perfect_model_moves_no_rates_and_leaves_nothing_to_test():
    train, rows = world()
    rows |= {"y_pred": rows["y_true"]}
    result = audited(RateAuditor(), (train, rows))
    assert result.value == 0
    assert result.p_value == 1
    assert result.low < 0 < result.high  # so few rows do not prove that there are never any


def test_rows_give_the_same_numbers_in_any_order():
    train, rows = world()
    order = np.random.default_rng(0).permutation(400)
    expected = audited(RateAuditor(), (train, rows))
    result = audited(RateAuditor(), (train, {name: each[order] for name, each in rows.items()}))
    assert_frame_equal(result.table, expected.table, rtol=1e-12)
    assert (result.low, result.high, result.p_value) == pytest.approx(
        (expected.low, expected.high, expected.p_value), rel=1e-12
    )


def test_it_is_a_scikit_learn_estimator():
    auditor = RateAuditor(confidence_level=0.9)
    assert auditor.get_params()["confidence_level"] == 0.9
    assert repr(auditor) == "RateAuditor(confidence_level=0.9)"
    copy = clone(auditor.set_params(adjust="fdr"))
    assert copy.adjust == "fdr"
    with pytest.raises(NotFittedError, match="This RateAuditor has not seen training"):
        copy.audit(**world()[1])
    with pytest.raises(ValueError, match="'interval' parameter of RateAuditor"):
        auditor.set_params(interval="wild").fit(**world()[0])
    auditor.set_params(interval="analytic").fit(**world()[0])
    again = pickle.loads(pickle.dumps(auditor))
    assert_frame_equal(again.audit(**world()[1]).table, auditor.audit(**world()[1]).table)


def test_chunks_of_training_labels_add_up():
    train, rows = world()
    whole = RateAuditor(interval=None).fit(**train)
    parts = RateAuditor(interval=None)
    for chunk in (slice(None, 100), slice(100, 500), slice(500, None)):
        parts.partial_fit(**{name: values[chunk] for name, values in train.items()})
    assert parts.n_samples_fit_ == 800
    assert_frame_equal(parts.y_at_, whole.y_at_)
    assert parts.score(**rows) == whole.score(**rows)


def test_it_takes_frames_contingencies_and_the_audited_labels_signs():
    train, rows = world()
    auditor = RateAuditor(interval=None).fit(**train)
    expected = auditor.score(**rows)
    assert auditor.score(Contingency.from_labels(**rows)) == expected
    frame = pd.DataFrame(dict(zip("tpa", rows.values(), strict=True)))
    assert auditor.score(frame, target="t", prediction="p", sensitive="a") == expected
    alone = RateAuditor(interval=None, reference="test").audit(**rows).published
    same = {"y_train": rows["y_true"], "sensitive_features": rows["sensitive_features"]}
    assert alone == pytest.approx(plain(same, rows)[2], abs=1e-12)


def test_it_refuses_what_it_lacks():
    train, rows = world()
    auditor = RateAuditor(interval=None).fit(**train)
    with pytest.raises(ValueError, match=r"^moved rates amplification .* pass y_pred\.$"):
        auditor.score(rows["y_true"], sensitive_features=rows["sensitive_features"])


def test_the_package_s_own_metric_written_as_a_user_would_has_its_intervals_and_tests():
    for reference in ("train", "test"):
        own, expected = (
            audited(auditor(reference=reference))
            for auditor in (OwnDirectionalAuditor, DirectionalAuditor)
        )
        assert_frame_equal(own.table, expected.table)
        for name in ("value", "low", "high", "p_value", "verdict", "published", "estimand", "null"):
            assert getattr(own, name) == getattr(expected, name)
        assert own.statistics == expected.statistics


def test_predictions_that_a_metric_does_not_use_change_nothing():
    data = world(n=150, seed=2)
    alone = audited(RateAuditor(), data)
    more = audited(RateAuditor(), data, sensitive_pred=np.full(150, 2))
    for name in ("value", "low", "high", "p_value"):
        assert getattr(more, name) == pytest.approx(getattr(alone, name), rel=1e-12)


def test_undefined_pairs_are_named_and_left_out():
    train, rows = world(n_groups=3)
    rows = {name: values[rows["sensitive_features"] < 2] for name, values in rows.items()}
    with pytest.warns(UndefinedMetricWarning, match="no audited rows for group 2: its pair is"):
        result = audited(RateAuditor(), (train, rows))
    assert result.table["amplification"].isna().tolist() == [False, False, True]
    assert result.table["low"].isna().tolist() == [False, False, True]
    assert result.value == pytest.approx(result.table["amplification"].mean(), abs=1e-12)


def test_several_runs_of_a_model_have_an_interval_between_them():
    train, rows = world()
    auditor = RateAuditor().fit(**train)
    predictions = [world(seed=0)[1]["y_pred"], rows["y_true"], np.roll(rows["y_pred"], 1)]
    runs = {"y_preds": predictions, "sensitive_features": rows["sensitive_features"]}
    result = auditor.audit_runs(rows["y_true"], **runs)
    expected = [auditor.score(**rows | {"y_pred": y_pred}) for y_pred in predictions]
    assert result.value == pytest.approx(np.mean(expected), abs=1e-12)
    assert result.low < result.value < result.high
    without = auditor.set_params(interval=None).audit_runs(rows["y_true"], **runs)
    assert without.value == result.value
    assert np.isnan([without.low, without.high, without.p_value]).all()


# --------------------------------------------------------------------------- in scikit-learn


def table(seed=0, n=600):
    rng = np.random.default_rng(seed)
    sex = rng.integers(0, 2, n)
    skill = rng.normal(size=n)
    hired = (skill + sex + rng.normal(size=n) > 0.5).astype(int)
    return pd.DataFrame({"sex": sex, "skill": skill, "noise": rng.normal(size=n)}), hired


def test_it_scores_models_in_a_search():
    X, y = table()
    model = AuditedClassifier(
        DecisionTreeClassifier(random_state=0),
        sensitive="sex",
        auditor=RateAuditor(),
        drop_sensitive=False,
    )
    search = GridSearchCV(
        model,
        {"estimator__max_depth": [1, 3, None]},
        scoring={"accuracy": "accuracy", "amplification": amplification_scorer()},
        refit="amplification",
        cv=3,
    ).fit(X, y)
    scores = search.cv_results_["mean_test_amplification"]
    assert len(np.unique(scores)) == 3
    assert (scores <= 0).all()
    best = search.best_estimator_
    value = (
        RateAuditor(interval=None)
        .fit(y, sensitive_features=X["sex"])
        .score(y, best.predict(X), sensitive_features=X["sex"])
    )
    assert amplification_scorer()(best, X, y) == pytest.approx(-abs(value), abs=1e-12)
    scorer = amplification_scorer(RateAuditor(reference="test"), sensitive="sex")
    assert scorer(LogisticRegression().fit(X, y), X, y) < 0


def test_it_is_cross_audited_and_a_list_of_auditors_knows_its_name():
    X, y = table()
    auditors = [DirectionalAuditor(), RateAuditor()]
    model = AuditedClassifier(
        LogisticRegression(), sensitive="sex", auditor=auditors, drop_sensitive=False
    )
    report = model.fit(X, y).audit(X, y)
    assert list(report) == ["directional A->T", "moved rates"]
    result = cross_audit(
        LogisticRegression(),
        X,
        y,
        auditor=RateAuditor(),
        sensitive_features=X["sex"],
        random_state=0,
    )
    assert len(result.folds) == 5
    assert result.value == pytest.approx(result.table["value"].mean())
    assert result.pooled.metric == "moved rates"


# --------------------------------------------------------------------------- reports


def test_it_has_a_place_in_the_report():
    train, rows = world()
    auditors = [DirectionalAuditor(), RateAuditor()]
    report = skbiasamp.audit(
        **rows,
        y_train=train["y_train"],
        sensitive_train=train["sensitive_features"],
        auditor=auditors,
    )
    assert list(report) == ["directional A->T", "moved rates"]
    expected = audited(RateAuditor())
    section = report["moved rates"]
    assert (section.value, section.low, section.high) == (
        expected.value,
        expected.low,
        expected.high,
    )
    assert report.summary.loc["moved rates", "value"] == expected.value
    assert f"value: {expected.value!r}" in report.to_markdown()
    stored = json.loads(report.to_json())["results"]["moved rates"]
    assert stored["value"] == expected.value
    assert len(stored["table"]) == 3
    assert_frame_equal(section.table, expected.table)
    assert repr(section) == repr(expected)
    pytest.importorskip("jinja2")
    assert report.to_html().count("moved rates") > 1


def test_displays_draw_it():
    pytest.importorskip("matplotlib")
    from skbiasamp.plotting import AmplificationDisplay, AmplificationHeatmapDisplay

    result = audited(RateAuditor(), world(n_tasks=3))
    forest = AmplificationDisplay.from_result(result).plot()
    drawn = forest.points_.get_offsets()[:, 0]
    assert_allclose(np.sort(drawn), np.sort(result.table["amplification"]), atol=1e-12)
    heatmap = AmplificationHeatmapDisplay.from_result(result).plot()
    assert heatmap.figure_ is heatmap.ax_.figure


def test_a_kind_is_declared_by_its_name_and_no_other_name_is_one():
    result = audited(OwnDirectionalAuditor(), world())
    assert result.kind == "signed"
    assert type(result.to_dict()["kind"]) is str
    assert result.kind.verdict("above", {}) == "amplifies"
    assert Kind("attack").verdict("above", {}) == "reveals more"
    with pytest.raises(ValueError, match="'relative' is not a valid Kind"):
        type("RelativeAuditor", (OwnDirectionalAuditor,), {"kind": "relative"})


def test_the_command_names_the_auditor_that_was_meant(capsys):
    """'directional' was "invalid syntax"."""
    with pytest.raises(SystemExit):
        import_module("skbiasamp.cli").main(["audit", "x.csv", "--auditor", "directional"])
    error = capsys.readouterr().err
    assert "got 'directional': did you mean skbiasamp.metrics:DirectionalAuditor?" in error


class WithValidation(DirectionalAuditor):
    metric = "with validation"
    _of_function = ("validation",)


def test_only_a_metric_that_declares_it_has_a_function_of_validation_rows():
    for auditor, expected in (DirectionalAuditor, False), (WithValidation, True):
        assert ("validation" in inspect.signature(function_of(auditor)).parameters) == expected


def test_pairs_with_another_sign_have_another_value():
    _, rows = world()
    cells = Contingency.from_labels(
        rows["y_true"], rows["y_pred"], sensitive_features=rows["sensitive_features"]
    )
    names = {"labelled": "task", "predicted": "task_pred"}
    sides = {side: associate(cells, name, given="group") for side, name in names.items()}
    pairs = Pairs(cells.groups, cells.tasks, **sides, sign=np.ones(sides["labelled"].value.shape))
    turned = replace(pairs, sign=-pairs.sign)
    assert turned.measured().value == -pairs.measured().value != 0
    assert_allclose(turned.signs.values, -1)
