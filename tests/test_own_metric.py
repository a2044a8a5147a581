"""A metric of a user's own, in about fifteen lines, gets what the package's metrics have."""

import copy
import inspect
import json
import pickle
import re
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
    DifferentialFairnessAuditor,
    LabelAuditor,
    Pairs,
    PercentageAuditor,
    associate,
    function_of,
)
from skbiasamp.results.kinds import Kind


class FalsePositiveAuditor(CooccurrenceAuditor):
    """Audit whether false positives follow the training correlation of group and task."""

    metric = "false positives"
    question = "Do groups that have the label more often in training have more false positives?"

    def _measure(self, train, test):
        right = test.both("task").joint("group", "task_pred")
        wrong = test.joint("group", "task_pred") - right
        negative = test.count("group")[..., None] - test.joint("group", "task")
        with np.errstate(invalid="ignore"):  # a group without negatives is undefined
            rate = wrong / negative
        mean = np.nanmean(rate, axis=-2, keepdims=True)
        sign = self._sign(train)
        return Pairs(test.groups, test.tasks, n=negative, base=mean, observed=rate, sign=sign)


class OwnDirectionalAuditor(CooccurrenceAuditor):
    """The package's BiasAmp→, written as a user would."""

    metric = "own"
    percent = True

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
    """Compute table and value from rows, as the metric is defined."""
    known, known_group = (np.asarray(train[name]) for name in ("y_train", "sensitive_features"))
    task, predicted, group = (np.asarray(values) for values in rows.values())
    known, task, predicted = (
        values.reshape(len(values), -1) for values in (known, task, predicted)
    )
    weight = np.ones(len(group)) if weight is None else weight
    names = np.unique(known_group)
    sign = [known[known_group == a].mean(axis=0) - known.mean(axis=0) for a in names]
    rate = np.array(
        [
            [
                np.average(predicted[chosen, t], weights=weight[chosen])
                for t in range(task.shape[1])
                for chosen in [(group == a) & (task[:, t] == 0)]
            ]
            for a in names
        ]
    )
    return rate, float((np.sign(sign) * (rate - rate.mean(axis=0))).mean())


def audited(auditor, data=None, **more):
    train, rows = world() if data is None else data
    return auditor.fit(**train).audit(**rows, **more)


def test_value_and_table_are_those_of_plain_numpy():
    for n_tasks in (1, 3):
        train, rows = data = world(n_tasks=n_tasks)
        rate, value = plain(train, rows)
        auditor = FalsePositiveAuditor(interval=None)
        result = audited(auditor, data)
        assert result.value == pytest.approx(value, abs=1e-12)
        assert auditor.score(**rows) == result.value
        assert_allclose(result.table["observed"], rate.ravel(), atol=1e-12)
        assert (value > 0.02) == (n_tasks == 1)
    weight = np.random.default_rng(1).uniform(0.2, 3, 400)
    train, rows = world()
    weighted = FalsePositiveAuditor(interval=None).fit(**train).score(**rows, sample_weight=weight)
    assert weighted == pytest.approx(plain(train, rows, weight)[1], abs=1e-12)


def test_its_bootstrap_interval_is_that_of_resampled_rows():
    train, rows = data = world(n=300)
    n_resamples = 3999
    result = audited(FalsePositiveAuditor(n_resamples=n_resamples, random_state=0), data)
    rng = np.random.default_rng(1)
    draws = [rng.multinomial(300, [1 / 300] * 300).astype(float) for _ in range(1000)]
    values = np.array([plain(train, rows, weight)[1] for weight in draws])
    error = values.std(ddof=1)
    assert result.statistics["standard_error"] == pytest.approx(error, rel=0.1)
    # An end of 1,000 draws has 1/12 standard errors of its own.
    assert_allclose([result.low, result.high], np.quantile(values, [0.025, 0.975]), atol=error / 3)
    assert result.low < result.value < result.high
    assert (result.table["low"] <= result.table["high"]).all()


def test_its_p_value_is_that_of_its_interval():
    train, rows = data = world(n=150, seed=2)
    result = audited(FalsePositiveAuditor(n_resamples=3999, random_state=0), data)
    rng, value = np.random.default_rng(1), plain(train, rows)[1]
    draws = [rng.multinomial(150, [1 / 150] * 150).astype(float) for _ in range(2000)]
    near = np.quantile([plain(train, rows, weight)[1] for weight in draws], 0.025)
    assert near > 0
    z = stats.norm.isf(0.025) * value / (value - near)
    # An end of 2,000 draws has 1/17 standard errors of its own.
    error = 2 * stats.norm.pdf(z) * z / 17
    assert result.p_value == pytest.approx(2 * stats.norm.sf(z), abs=4 * error)
    assert 0.001 < result.p_value < 0.05
    assert result.low > 0
    assert (result.table["p_adjusted"] >= result.table["p_value"]).all()


def test_a_perfect_model_has_no_false_positives_and_nothing_to_test():
    train, rows = world()
    rows |= {"y_pred": rows["y_true"]}
    result = audited(FalsePositiveAuditor(random_state=0), (train, rows))
    assert result.value == 0
    assert result.p_value == 1
    assert result.low < 0 < result.high  # so few rows do not prove that there are never any


def test_rows_and_seeds_give_the_same_numbers_in_any_order_and_on_any_number_of_jobs():
    train, rows = world()
    order = np.random.default_rng(0).permutation(400)
    expected = audited(FalsePositiveAuditor(random_state=0, n_resamples=99), (train, rows))
    shuffled = {name: values[order] for name, values in rows.items()}
    for result in (
        audited(FalsePositiveAuditor(random_state=0, n_resamples=99), (train, shuffled)),
        audited(FalsePositiveAuditor(random_state=0, n_resamples=99, n_jobs=2), (train, rows)),
    ):
        assert_frame_equal(result.table, expected.table, rtol=1e-12)
        assert (result.low, result.high, result.p_value) == pytest.approx(
            (expected.low, expected.high, expected.p_value), rel=1e-12
        )


def test_it_is_a_scikit_learn_estimator():
    auditor = FalsePositiveAuditor(n_resamples=99, random_state=0)
    assert auditor.get_params()["n_resamples"] == 99
    assert repr(auditor) == "FalsePositiveAuditor(n_resamples=99, random_state=0)"
    copy = clone(auditor.set_params(adjust="fdr"))
    assert copy.adjust == "fdr"
    with pytest.raises(NotFittedError, match="This FalsePositiveAuditor has not seen training"):
        copy.audit(**world()[1])
    with pytest.raises(ValueError, match="'interval' parameter of FalsePositiveAuditor"):
        auditor.set_params(interval="wild").fit(**world()[0])
    auditor.set_params(interval="bootstrap").fit(**world()[0])
    again = pickle.loads(pickle.dumps(auditor))
    assert_frame_equal(again.audit(**world()[1]).table, auditor.audit(**world()[1]).table)


def test_chunks_of_training_labels_add_up():
    train, rows = world()
    whole = FalsePositiveAuditor(interval=None).fit(**train)
    parts = FalsePositiveAuditor(interval=None)
    for chunk in (slice(None, 100), slice(100, 500), slice(500, None)):
        parts.partial_fit(**{name: values[chunk] for name, values in train.items()})
    assert parts.n_samples_fit_ == 800
    assert_frame_equal(parts.y_at_, whole.y_at_)
    assert parts.score(**rows) == whole.score(**rows)


def test_it_takes_frames_contingencies_and_the_audited_labels_signs():
    train, rows = world()
    auditor = FalsePositiveAuditor(interval=None).fit(**train)
    expected = auditor.score(**rows)
    assert auditor.score(Contingency.from_labels(**rows)) == expected
    frame = pd.DataFrame(dict(zip("tpa", rows.values(), strict=True)))
    assert auditor.score(frame, target="t", prediction="p", sensitive="a") == expected
    alone = FalsePositiveAuditor(interval=None, reference="test").score(**rows)
    same = {"y_train": rows["y_true"], "sensitive_features": rows["sensitive_features"]}
    assert alone == pytest.approx(plain(same, rows)[1], abs=1e-12)


def test_it_refuses_what_it_lacks():
    train, rows = world()
    auditor = FalsePositiveAuditor(interval=None).fit(**train)
    with pytest.raises(ValueError, match=r"^false positives amplification .* pass y_pred\.$"):
        auditor.score(rows["y_true"], sensitive_features=rows["sensitive_features"])


def test_the_delta_method_needs_declared_rates():
    message = (
        "interval='analytic' needs a metric that declares which rates it compares, and "
        "FalsePositiveAuditor declares none. Use interval='bootstrap'."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        audited(FalsePositiveAuditor(interval="analytic"))


def test_declared_rates_give_the_intervals_and_tests_of_the_package_s_own_metric():
    for interval in ("analytic", "bootstrap"):
        options = {"interval": interval, "random_state": 0, "n_resamples": 199}
        own = audited(OwnDirectionalAuditor(**options))
        expected = audited(skbiasamp.DirectionalAuditor(**options))
        assert_frame_equal(own.table, expected.table)
        for name in ("value", "estimate", "low", "high", "p_value", "estimand", "null"):
            assert getattr(own, name) == getattr(expected, name)
        assert own.statistics == expected.statistics


def test_without_a_centre_the_value_is_the_estimate():
    centred, result = (
        audited(auditor(interval="analytic"))
        for auditor in (OwnDirectionalAuditor, UncentredAuditor)
    )
    assert_frame_equal(result.table, centred.table)
    assert result.estimate == result.value == centred.value != centred.estimate
    # By hand: the signs 1, -1, -1 times the changes, each of as many rows as its group has.
    rows = world()[1]
    change, variance = rows["y_pred"] - rows["y_true"], 0.0
    for group in range(3):
        mine = change[rows["sensitive_features"] == group]
        variance += mine.var() / len(mine) / 9
    assert result.table["sign"].tolist() == [1, -1, -1]
    reach = stats.norm.isf(0.025) * np.sqrt(variance)
    assert_allclose([result.low, result.high], [result.value - reach, result.value + reach])
    assert result.p_value == pytest.approx(2 * stats.norm.sf(result.value / np.sqrt(variance)))
    assert result.estimand == "The value in the population that the audited rows are a sample of."
    assert result.null == "The value is 0 in this population."


def test_pairs_of_few_rows_leave_the_estimate_and_are_a_part_of_the_value():
    train, rows = world()
    few = np.flatnonzero(rows["sensitive_features"] == 2)[:20]
    kept = np.r_[np.flatnonzero(rows["sensitive_features"] != 2), few]
    data = train, {name: values[kept] for name, values in rows.items()}
    for auditor in (UncentredAuditor, OwnDirectionalAuditor):
        result = audited(auditor(interval="analytic"), data)
        assert result.statistics["n_small_pairs"] == 1
        own = result.table["amplification"][2] / 3
        assert result.statistics["small_pairs"] == pytest.approx(own, abs=1e-12)
        assert result.table["sign_used"].tolist() == [1, -1, 0]
        assert result.estimand.endswith(
            "the population that the audited rows are a sample of. Pairs with fewer than 30 rows "
            "are left out."
        )
    result = audited(UncentredAuditor(interval="analytic"), data)
    assert result.estimate + own == pytest.approx(result.value, abs=1e-12)


def test_sizes_of_changes_of_probabilities_have_tests_of_pairs_and_of_their_signed_mean():
    class OwnSizeAuditor(OwnDirectionalAuditor):
        kind = "size"

        def _measure(self, train, test):
            return replace(super()._measure(train, test), slope=np.ones((3, 1)), size=True)

    train, rows = world()
    data = train, rows | {"y_pred": 0.1 + 0.8 * rows["y_pred"]}
    result = audited(OwnSizeAuditor(random_state=0, n_resamples=99), data)
    signed = audited(OwnDirectionalAuditor(), data)
    assert result.value == pytest.approx(signed.table["delta"].abs().mean(), abs=1e-12)
    assert_allclose(result.table["p_value"], signed.table["p_value"])
    assert result.statistics["value_low"] <= result.value <= result.statistics["value_high"]
    assert result.statistics["value_low"] >= 0
    for name in ("estimate", "low", "high", "p_value"):
        assert getattr(result, name) == pytest.approx(getattr(signed, name), rel=1e-9)


def test_predictions_that_a_metric_does_not_use_change_nothing():
    train, rows = world(n=150, seed=2)
    alone = audited(FalsePositiveAuditor(random_state=0), (train, rows))
    groups = np.full(150, 2)
    more = audited(FalsePositiveAuditor(random_state=0), (train, rows), sensitive_pred=groups)
    error = np.sqrt(alone.p_value * (1 - alone.p_value) / 999)
    assert more.value == alone.value
    assert more.p_value == pytest.approx(alone.p_value, abs=6 * error)


def test_a_number_that_does_not_vary_is_in_its_interval_whatever_its_range():
    class ConstantAuditor(CooccurrenceAuditor):
        metric = "constant"

        def _measure(self, train, test):
            n = test.count("group")[..., None]
            return Pairs(test.groups, test.tasks, n, 0.0, np.full(n.shape, 3.0), np.ones((3, 1)))

    result = audited(ConstantAuditor(random_state=0, n_resamples=19))
    assert result.value == 3
    assert result.low <= 3 <= result.high
    assert (result.table["low"] <= 3).all()
    assert (result.table["high"] >= 3).all()


@pytest.mark.parametrize("auditor", [PercentageAuditor, DifferentialFairnessAuditor, LabelAuditor])
def test_signs_that_are_no_correlations_are_not_flagged_as_uncertain(auditor):
    rows = world(n=300)[1]
    if auditor is LabelAuditor:
        del rows["sensitive_features"]
    own = clone(auditor(reference="test", random_state=0, n_resamples=99))
    result = own.audit(**rows)  # warnings are errors
    assert result.table["sign_certain"].isna().all()
    assert result.low < result.value < result.high
    assert 0 < result.p_value <= 1


def test_undefined_pairs_are_named_and_left_out():
    train, rows = world(n_groups=3)
    task = np.where(rows["sensitive_features"] == 2, 1, rows["y_true"])  # no negatives of group 2
    rows |= {"y_true": task}
    with pytest.warns(UndefinedMetricWarning, match="nothing to measure for group 2: its pair is"):
        result = audited(FalsePositiveAuditor(random_state=0, n_resamples=49), (train, rows))
    assert result.table["amplification"].isna().tolist() == [False, False, True]
    assert result.table["low"].isna().tolist() == [False, False, True]
    assert result.value == pytest.approx(result.table["amplification"].mean(), abs=1e-12)


def test_several_runs_of_a_model_have_an_interval_between_them():
    train, rows = world()
    auditor = FalsePositiveAuditor(n_resamples=199, random_state=0).fit(**train)
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
        auditor=FalsePositiveAuditor(),
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
        FalsePositiveAuditor(interval=None)
        .fit(y, sensitive_features=X["sex"])
        .score(y, best.predict(X), sensitive_features=X["sex"])
    )
    assert amplification_scorer()(best, X, y) == pytest.approx(-abs(value), abs=1e-12)
    scorer = amplification_scorer(FalsePositiveAuditor(reference="test"), sensitive="sex")
    assert scorer(LogisticRegression().fit(X, y), X, y) < 0


def test_it_is_cross_audited_and_a_list_of_auditors_knows_its_name():
    X, y = table()
    auditors = [skbiasamp.DirectionalAuditor(), FalsePositiveAuditor(n_resamples=49)]
    model = AuditedClassifier(
        LogisticRegression(), sensitive="sex", auditor=auditors, drop_sensitive=False
    )
    report = model.fit(X, y).audit(X, y)
    assert list(report) == ["directional A->T", "false positives"]
    result = cross_audit(
        LogisticRegression(),
        X,
        y,
        auditor=FalsePositiveAuditor(n_resamples=49),
        sensitive_features=X["sex"],
        random_state=0,
    )
    assert len(result.folds) == 5
    assert result.value == pytest.approx(result.table["value"].mean())
    assert result.pooled.metric == "false positives"


# --------------------------------------------------------------------------- reports


def test_it_has_a_place_in_the_report():
    train, rows = world()
    auditors = [skbiasamp.DirectionalAuditor(), FalsePositiveAuditor(random_state=0)]
    report = skbiasamp.audit(
        **rows,
        y_train=train["y_train"],
        sensitive_train=train["sensitive_features"],
        auditor=auditors,
    )
    assert list(report) == ["directional A->T", "false positives"]
    expected = audited(FalsePositiveAuditor(random_state=0))
    section = report["false positives"]
    assert (section.value, section.low, section.high) == (
        expected.value,
        expected.low,
        expected.high,
    )
    assert report.summary.loc["false positives", "value"] == expected.value
    assert f"{expected.value:+.4f}" in report.to_markdown()
    stored = json.loads(report.to_json())["results"]["false positives"]
    assert stored["value"] == expected.value
    assert len(stored["table"]) == 3
    assert_frame_equal(section.table, expected.table)
    assert repr(section) == repr(expected)
    pytest.importorskip("jinja2")
    assert report.to_html().count("false positives") > 1


def test_displays_draw_it():
    pytest.importorskip("matplotlib")
    from skbiasamp.plotting import AmplificationDisplay, AmplificationHeatmapDisplay

    result = audited(FalsePositiveAuditor(random_state=0), world(n_tasks=3))
    forest = AmplificationDisplay.from_result(result).plot()
    drawn = forest.points_.get_offsets()[:, 0]
    assert_allclose(np.sort(drawn), np.sort(result.table["amplification"]), atol=1e-12)
    heatmap = AmplificationHeatmapDisplay.from_result(result).plot()
    assert heatmap.figure_ is heatmap.ax_.figure


# --------------------------------------------------------------------------- the sentence


class SlowlyWorded(OwnDirectionalAuditor):
    """Counts its sentences, which depend on a parameter."""

    n_asked = 0

    def _sentence(self, result):
        type(self).n_asked += 1
        return f"{result.verdict} at {self.confidence_level}"


@pytest.mark.parametrize(
    "read",
    {
        "itself": lambda result: result,
        "pickle": lambda result: pickle.loads(pickle.dumps(result)),
        "deep copy": copy.deepcopy,
        "replace": lambda result: replace(result, rank=7),
    }.values(),
)
def test_a_sentence_is_written_once_and_only_if_it_is_read(read):
    y, predicted, sex = [1, 0] * 40, [1, 0, 0, 0] * 20, ["f"] * 40 + ["m"] * 40
    auditor = SlowlyWorded(interval=None, reference="test", confidence_level=0.9)
    SlowlyWorded.n_asked = 0
    result = auditor.audit(y, predicted, sensitive_features=sex)
    assert (result.value, result.verdict, SlowlyWorded.n_asked) == (0.0, "cannot amplify", 0)
    auditor.set_params(confidence_level=0.5)  # of later audits
    loaded = read(result)
    assert loaded.sentence == result.sentence == "cannot amplify at 0.9"
    assert (loaded.sentence, SlowlyWorded.n_asked) == (result.sentence, 1)


def test_a_kind_is_declared_by_its_name_and_no_other_name_is_one():
    result = audited(OwnDirectionalAuditor(), world())
    assert result.kind == "signed"
    assert type(result.to_dict()["kind"]) is str
    above = replace(result, low=0.1, high=0.2)
    assert above.verdict == "amplifies"
    assert replace(above, kind=Kind.ATTACK).verdict == "reveals more"
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
