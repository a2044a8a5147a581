"""Displays: what is drawn is what was found, and can be read."""

import sys
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from drawn import differences_of, pairs
from hostile import HIRED, PREDICTED, SEX, X
from hostile_made import made
from numpy.testing import assert_allclose
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix
from sklearn.svm import LinearSVC

import skbiasamp
from skbiasamp import (
    AuditedClassifier,
    DirectionalAuditor,
    DPAAuditor,
    LeakageAuditor,
    MALSAuditor,
    MultiAttributeAuditor,
)
from skbiasamp.datasets import load_compas
from skbiasamp.model_selection import amplification_curve
from skbiasamp.plotting import (
    AmplificationCurveDisplay,
    AmplificationDisplay,
    AmplificationHeatmapDisplay,
    ComparisonDisplay,
    TimelineDisplay,
)

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")
PAIR_DISPLAYS = [AmplificationDisplay, AmplificationHeatmapDisplay]
LONG = "a name of a task that goes on and on until it has more than 60 letters, "


@pytest.fixture(autouse=True)
def no_figure_stays():
    yield
    plt.close("all")


def labels(groups=("f", "m"), n=240):
    """Return attribute, labels and predictions that lean to a group."""
    rng = np.random.default_rng(0)
    group = rng.integers(len(groups), size=n)
    rates = 0.3 + 0.3 * (group[:, None] == np.arange(2))
    tasks = pd.DataFrame(rng.random((n, 2)) < rates).astype(int).add_prefix("task ")
    pushed = np.where(rng.random(tasks.shape) < 0.7, tasks, (group == 0)[:, None])
    predicted = pd.DataFrame(pushed, columns=tasks.columns)
    return pd.Series(np.array(groups, dtype=object)[group]), tasks, predicted


def audited(auditor, **options):
    group, tasks, predicted = labels(**options)
    needs_group = "T->A" in (getattr(auditor, "direction", None) or "")
    told = {"sensitive_pred": group.where(predicted["task 0"] == 0, "f")} if needs_group else {}
    return auditor.fit(tasks, sensitive_features=group).audit(
        tasks, predicted, sensitive_features=group, **told
    )


def y_labels(display):
    return [label.get_text() for label in display.ax_.get_yticklabels()]


def x_labels(display):
    return [label.get_text() for label in display.ax_.get_xticklabels()]


def texts_of(axes):
    return [text.get_text() for text in axes.texts]


def assert_readable(figure, *axes):
    """No text is cut off, and no label of an axis covers another."""
    figure.canvas.draw()
    # An axis keeps the labels of ticks beyond its ends, which are not drawn.
    ticks = [*axes[0].get_xticklabels(), *figure.axes[-1].get_yticklabels()]
    ticks = [one for one in ticks if one not in axes[0].get_yticklabels()]
    for text in figure.findobj(plt.Text):
        if text.get_visible() and text.get_text() and text not in ticks:
            box = text.get_window_extent()
            assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1, text
            assert figure.bbox.y0 <= box.y0 < box.y1 <= figure.bbox.y1, text
    for ax in axes:
        boxes = [label.get_window_extent() for label in ax.get_yticklabels()]
        for below, above in pairwise(sorted(boxes, key=lambda box: box.y0)):
            assert above.y0 >= below.y1 - 1


# --------------------------------------------------------------------------- pairs, with intervals


def test_axes_and_title_name_the_feature_the_task_and_the_model():
    result = replace(audited(DirectionalAuditor(interval=None)), group_columns=("sex",))
    forest = AmplificationDisplay.from_result(result, model_name="tree $1")
    assert forest.ax_.get_ylabel() == "sex: task"
    assert forest.ax_.get_title().startswith("tree \\$1, directional, group → task: not measured")
    heatmap = AmplificationHeatmapDisplay.from_result(result)
    assert (heatmap.ax_.get_ylabel(), heatmap.ax_.get_xlabel()) == ("sex", "task")
    group, tasks, _ = labels()
    both = pd.DataFrame({"sex": group, "age": np.where(np.arange(len(group)) % 2, "old", "young")})
    auditor = DirectionalAuditor(reference="test", interval=None)
    result = auditor.audit(tasks, tasks, sensitive_features=both)
    for columns, name in (((), "f, old"), (("sex", "age"), "sex = f, age = old")):
        called = replace(result, group_columns=columns)
        assert f"{name}: task 0" in y_labels(AmplificationDisplay.from_result(called))
        assert name in y_labels(AmplificationHeatmapDisplay.from_result(called))


# --------------------------------------------------------------------------- any result

DRAWS = {"n_draws": 2, "n_resamples": 20, "random_state": 0}
RESULTS = {
    "A->T": (DirectionalAuditor(confidence_level=0.8), {}, "f: task 0"),
    "T->A": (DirectionalAuditor("T->A"), {}, "f: task 0"),
    "no interval": (DirectionalAuditor(interval=None), {}, "f: task 0"),
    "MALS": (MALSAuditor(), {}, "f: task 0"),
    "sets": (MultiAttributeAuditor(), {}, "f: task 0 + task 1"),
    "sets, no direction": (MultiAttributeAuditor(direction=None), {}, "f: task 0 + task 1"),
    "leakage": (LeakageAuditor(**DRAWS), {}, "(all)"),
    "DPA A->T": (DPAAuditor(**DRAWS), {}, "task 0"),
    "DPA T->A": (DPAAuditor("T->A", **DRAWS), {"groups": ("f", "m", "x")}, "(all)"),
}


@pytest.mark.parametrize("name", RESULTS)
def test_every_auditor_s_result_can_be_drawn(name):
    auditor, options, label = RESULTS[name]
    result = audited(auditor, **options)
    forest, heatmap = (display.from_result(result) for display in PAIR_DISPLAYS)
    table = result.table
    shown = forest.points_.get_offsets()[:, 0]
    drawn = table["amplification"]
    if auditor.interval is not None and not result.kind.has_attacker:
        drawn = table["sign"] * table["change"]  # which has the interval
    assert_allclose(np.sort(shown), np.sort(drawn.dropna()))
    assert label in y_labels(forest)
    assert (forest.intervals_ is None) == (auditor.interval is None)
    assert forest.confidence_level == (0.8 if name == "A->T" else 0.95)
    assert heatmap.values.size == len(table)
    for (group, task), rows in table.assign(drawn=drawn).groupby(["group", "task"]):
        assert heatmap.values.iloc[
            list(heatmap.values.index).index(group), list(heatmap.values.columns).index(task)
        ] == pytest.approx(rows["drawn"].item(), nan_ok=True)
    headline = forest.ax_.get_title().splitlines()
    directions = {"A->T": ", group → task", "T->A": ", task → group", None: ""}
    assert headline[0] == f"{result.metric}{directions[result.direction]}: {result.verdict}"
    # The value has a direction, also where the published one is a size.
    sides = {"signed": "amplifies →", "attack": "reveals more →", "size": "amplifies →"}
    assert sides[result.kind] in texts_of(forest.ax_)
    assert heatmap.colorbar_.ax.get_ylabel().endswith(sides[result.kind])
    assert headline[1].startswith(f"{result.value:+.4f}".replace("-", "−"))
    if auditor.interval is not None:
        assert f"{result.high:+.4f}]".replace("-", "−") in headline[1]


# --------------------------------------------------------------------------- where data comes from


@pytest.mark.parametrize("display", PAIR_DISPLAYS)
def test_predictions_and_those_of_an_estimator_are_audited_and_drawn(display):
    def assert_drawn(drawn, audit):
        pd.testing.assert_frame_equal(drawn.table, display(audit.table).table)

    group, tasks, predicted = labels()
    auditor = DirectionalAuditor(interval=None).fit(tasks[:50], sensitive_features=group[:50])
    how = {"sensitive_features": group, "sample_weight": 1 + (group == "f")}
    drawn = display.from_predictions(tasks, predicted, auditor=auditor, **how)
    assert_drawn(drawn, auditor.audit(tasks, predicted, **how))
    # Without an auditor the labels are their own reference.
    own = DirectionalAuditor(reference="test")
    drawn = display.from_predictions(tasks, predicted, sensitive_features=group)
    audit = own.audit(tasks, predicted, sensitive_features=group)
    assert_allclose(drawn.table["amplification"], display(audit.table).table["amplification"])
    X, y = pd.DataFrame({"is_f": (group == "f").astype(int)}), tasks["task 0"]
    model = LogisticRegression().fit(X, y)
    auditor.fit(y, sensitive_features=group)
    drawn = display.from_estimator(model, X, y, sensitive_features=group, auditor=auditor)
    assert_drawn(drawn, auditor.audit(y, model.predict(X), sensitive_features=group))
    # An audited classifier brings its auditor, here of rows where the correlation is turned.
    how = {"auditor": DirectionalAuditor(interval=None), "sensitive": "is_f"}
    model = AuditedClassifier(LogisticRegression(), drop_sensitive=False, **how)
    model.fit(X.assign(is_f=1 - X["is_f"]), y)
    drawn = display.from_estimator(model, X, y)
    assert_drawn(drawn, model.audit(X, y))
    assert drawn.ax_.get_title().startswith("LogisticRegression, directional, ")
    other = display.from_estimator(model, X, y, sensitive_features=X["is_f"], auditor=own)
    assert (other.table["sign"] == -drawn.table["sign"]).all()


# --------------------------------------------------------------------------- what can be read


@pytest.mark.parametrize("display", PAIR_DISPLAYS)
@pytest.mark.parametrize(("n_tasks", "long"), [(1, True), (6, False), (66, True)])
def test_nothing_is_cut_off_and_no_label_covers_another(display, n_tasks, long):
    rng = np.random.default_rng(0)
    values = rng.normal(scale=0.1, size=(2, n_tasks))
    table = pairs(values, p_adjusted=rng.random(values.shape))
    if long:
        table["task"] = LONG + table["task"]
        table["group"] = "group with quite a long name of its own " + table["group"]
    drawn = display(table, title="directional A→T\n+0.1234 [+0.1000, +0.1500]").plot()
    assert_readable(drawn.figure_, drawn.ax_)


def test_names_are_no_formulas():
    for name in ("costs $5 and $6", r"back\slash $x^2$ $", "_hidden_", "a $ or so"):
        table = pairs([[0.1, 0.2], [0.3, 0.4]], groups=["f", name])
        table["task"] = table["task"].replace("task 1", name)
        models = differences_of([0.1, 0.2], model=name + " {}")
        displays = [kind(table) for kind in PAIR_DISPLAYS]
        for display in [*displays, ComparisonDisplay(models, reference=name)]:
            drawn = display.plot()
            labels_shown = [*y_labels(drawn), *x_labels(drawn), drawn.ax_.get_title()]
            # As matplotlib shows it, if it is no formula.
            shown = [label for label in labels_shown if name in label.replace(r"\$", "$")]
            assert len(shown) >= 2
            assert not any(matplotlib.cbook.is_math_text(label) for label in shown)


def test_long_names_stay_apart():
    middle = [f"a name whose middle {word} makes the only difference to others" for word in "xyz"]
    display = AmplificationHeatmapDisplay(pairs(np.eye(3), groups=middle)).plot()
    assert len(set(y_labels(display))) == 3
    assert all("…" in label for label in y_labels(display))


# --------------------------------------------------------------------------- thresholds


def scored(n=200):
    rng = np.random.default_rng(0)
    group = np.array(["f", "m"])[rng.integers(2, size=n)]
    y = (rng.random(n) < np.where(group == "f", 0.3, 0.6)).astype(int)
    return group, y, np.round(2 * y + rng.normal(scale=2, size=n), 1)


def test_a_curve_of_scores_has_its_interval_and_the_rates_of_a_confusion_matrix():
    group, y, score = scored()
    group[:60] = "x"  # the line of three groups, too, lies within its band
    weight = 1 + np.arange(len(y)) % 3
    how = {"sensitive_features": group, "sample_weight": weight}
    display = AmplificationCurveDisplay.from_predictions(y, score, **how)
    curve = amplification_curve(y, score, interval="analytic", **how)
    for name in ("thresholds", "values", "low", "high"):
        assert_allclose(getattr(display, name), getattr(curve, name))
    assert_allclose(display.line_.get_ydata(), curve.values)
    inside = np.isfinite(curve.low)
    assert ((curve.low <= curve.values) & (curve.values <= curve.high))[inside].all()
    for threshold, rates in display.rates.iterrows():
        for one, rate in rates.items():
            rows = group == one
            above, of_rows = score[rows] > threshold, {"sample_weight": weight[rows]}
            (tn, fp), _ = confusion_matrix(y[rows], above, **of_rows)
            assert rate == pytest.approx(fp / (tn + fp))
    shares = [np.average(score > t, weights=weight) for t in display.thresholds]
    nearest = np.abs(np.array(shares) - np.average(y, weights=weight)).argmin()
    assert display.base_rate_threshold == display.thresholds[nearest]
    assert "mean" in display.ax_.get_title()
    none = AmplificationCurveDisplay.from_predictions(y, score, **how, interval=None)
    assert none.band_ is none.operating_point_ is None


def test_scores_of_estimators_of_one_task_and_of_several_are_drawn():
    group, y, score = scored()
    X = pd.DataFrame({"score": score, "is_f": group == "f"})
    tasks, scores = pd.DataFrame({"a": y, "b": 1 - y}), np.column_stack([score, -score])
    model, machine = LogisticRegression().fit(X, y), LinearSVC().fit(X, y)
    forest = RandomForestClassifier(5, max_depth=2, random_state=0).fit(scores, tasks)
    columns = np.column_stack([column[:, 1] for column in forest.predict_proba(scores)])
    how = {"sensitive_features": group}
    draw = AmplificationCurveDisplay.from_estimator
    drawn = [
        (draw(model, X, y, **how), y, model.predict_proba(X)[:, 1]),
        (draw(machine, X, y, **how), y, machine.decision_function(X)),
        (draw(forest, scores, tasks, **how), tasks, columns),
        (AmplificationCurveDisplay.from_predictions(tasks, scores, **how), tasks, scores),
    ]
    for display, labelled, of_rows in drawn:
        expected = amplification_curve(labelled, of_rows, **how)
        assert_allclose(display.values, expected.values)
    assert display.rates is None  # several tasks have none
    assert display.base_rate_lines_ == []
    (point,) = drawn[0][0].operating_point_.get_xydata()
    assert_allclose(point, [0.5, amplification_curve(y, drawn[0][2], **how).at(0.5)])


def test_compas_has_unequal_errors_where_amplification_is_small():
    """WAN21, Fig. 6."""
    compas = load_compas()
    display = AmplificationCurveDisplay.from_predictions(
        compas.target, compas.decile_score, sensitive_features=compas.sensitive_features
    )
    # The first threshold is below all scores; then come scores above 1, 2, ...
    assert_allclose(np.asarray(display.values)[[0, 4, 5]], [-0.0661, 0.0564, 0.0531], atol=5e-5)
    rates = display.rates[["African-American", "Caucasian"]].iloc[[4, 5]]
    assert_allclose(rates, [[0.4234, 0.2201], [0.3144, 0.1351]], atol=5e-5)
    assert display.base_rate_threshold == 4
    drawn = display.line_.get_xdata()  # −∞ is drawn at the left edge
    assert drawn[0] < drawn[1] == 1
    assert np.isfinite(drawn).all()


# --------------------------------------------------------------------------- comparisons


def world(n_models):
    rng, n = np.random.default_rng(0), 600
    sex = np.where(np.arange(n) < n // 2, "f", "m")
    y = (rng.random(n) < np.where(sex == "f", 0.3, 0.6)).astype(int)
    old = np.where(rng.random(n) < 0.1, 1 - y, y)
    models = {"old": old}
    for i in range(1, n_models):
        pushed = np.where((sex == "m") & (rng.random(n) < 0.3), 1, old)
        models[f"model {i}"] = pushed if i % 2 else np.where(rng.random(n) < 0.02, 1 - old, old)
    return sex, y, models


@pytest.fixture(scope="module", params=[2, 20])
def report(request):
    sex, y, models = world(request.param)
    auditors = [DirectionalAuditor(reference="test"), MALSAuditor(reference="test")]
    return skbiasamp.compare(y, models, sensitive_features=sex, auditor=auditors, random_state=0)


@pytest.fixture(scope="module")
def result():
    sex, y, models = world(3)
    auditor = DirectionalAuditor(reference="test")
    return auditor.compare(y, models, sensitive_features=sex)


def test_differences_are_drawn_with_their_intervals(result):
    display = ComparisonDisplay.from_result(result)
    judged = np.array([result.judged(model) for model in result.models])
    assert_allclose(display.points_.get_offsets()[:, 0], judged[:, 0])
    assert_allclose(display.points_.get_offsets()[:, 1], [0, 1])
    ends = [segment[:, 0] for segment in display.intervals_.get_segments()]
    assert_allclose(ends, judged[:, 1:])
    assert display.zero_line_.get_xdata() == [0, 0]
    assert display.reference_points_ is None
    assert y_labels(display) == ["model 1", "model 2"]
    assert display.ax_.get_title() == "directional, group → task\nDifferences to old"
    assert "amplifies more →" in texts_of(display.ax_)


def test_a_report_has_a_readable_row_for_each_metric_and_model(report):
    display = ComparisonDisplay.from_report(report, max_rows=None)
    n_models = len(report.models)
    assert len(display.table) == 2 * n_models == len(display.points_.get_offsets())
    first = y_labels(display)[0]
    assert first == (
        "directional, group → task" if n_models == 1 else "directional, group → task: model 1"
    )
    assert display.table["verdict"].tolist() == report.summary["verdict"].tolist()
    for kind in ("differences", "values"):
        display = ComparisonDisplay.from_report(report, kind=kind)
        assert_readable(display.figure_, display.ax_)
        boxes = [label.get_window_extent() for label in display.ax_.get_xticklabels()]
        assert all(before.x1 <= after.x0 + 1 for before, after in pairwise(boxes))


# --------------------------------------------------------------------------- matplotlib is an extra


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    displays = [kind(pairs([[0.1]])) for kind in PAIR_DISPLAYS]
    for display in (*displays, AmplificationCurveDisplay([0], [0])):
        message = (
            rf"{type(display).__name__}.plot needs matplotlib: pip install 'skbiasamp\[plot\]'"
        )
        with pytest.raises(ImportError, match=message):
            display.plot()


def test_what_cannot_be_drawn_is_refused_by_name(result):
    by, audit = {"sensitive_features": SEX}, audited(DirectionalAuditor(interval=None))
    forest, curve, models = AmplificationDisplay, AmplificationCurveDisplay, ComparisonDisplay
    for draw, message in (
        (lambda: forest.from_predictions(HIRED, PREDICTED, **by, ax=[]),
         r"ax must be axes of matplotlib, or None; got \[\]"),
        (lambda: forest.from_estimator(AuditedClassifier, X, HIRED, **by),
         "estimator must be a fitted classifier; got the class AuditedClassifier"),
        (lambda: TimelineDisplay.from_timeline(made("Timeline"), pair=3),
         "pair must be a group and a task; got 3"),
        # Only a result is taken for one.
        (lambda: forest.from_result({"A->T": audit}), r"one AuditResult, got dict.*report\["),
        (lambda: forest(audit), r"lacks the columns .* AmplificationDisplay.from_result"),
        (lambda: curve.from_result(audit), r"amplification_curve returned, got AuditResult\. An"),
        (lambda: models.from_result(made("ComparisonReport")),
         r"ComparisonDisplay.from_report\(report\)"),
        (lambda: models.from_report(result), r"ComparisonDisplay.from_result\(result\)"),
    ):  # fmt: skip
        with pytest.raises((TypeError, ValueError), match=message):
            draw()
