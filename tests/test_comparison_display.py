"""ComparisonDisplay: what is drawn is what was compared, and can be read."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import skbiasamp
from skbiasamp import DirectionalAuditor, MALSAuditor, MultiAttributeAuditor
from skbiasamp.plotting import ComparisonDisplay

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def no_figure_stays():
    yield
    plt.close("all")


def world(n_models=2, n=600):
    rng = np.random.default_rng(0)
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
    auditors = [
        DirectionalAuditor(reference="test"),
        MALSAuditor(reference="test"),
    ]
    return skbiasamp.compare(y, models, sensitive_features=sex, auditor=auditors, random_state=0)


@pytest.fixture(scope="module")
def result():
    sex, y, models = world(3)
    auditor = DirectionalAuditor(reference="test")
    return auditor.compare(y, models, sensitive_features=sex)


def table(differences, verdicts=None, width=0.05, metric="directional A->T", model="model {}"):
    """Return a table as `rows_of` would."""
    at = np.asarray(differences, dtype=float)
    rows = pd.DataFrame({"metric": metric, "model": [model.format(i) for i in range(len(at))]})
    rows["difference"], rows["low"], rows["high"] = at, at - width, at + width
    clear = ["amplifies more" if one > 0 else "amplifies less" for one in at]
    return rows.assign(verdict=clear if verdicts is None else verdicts, value=1 + at, reference=1.0)


def y_labels(display):
    return [label.get_text() for label in display.ax_.get_yticklabels()]


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
    assert "amplifies more →" in [text.get_text() for text in display.ax_.texts]


def test_values_are_connected_dots(result):
    display = ComparisonDisplay.from_result(result, kind="values")
    values = result.table.set_index("model")["value"]
    assert_allclose(display.points_.get_offsets()[:, 0], values[result.models])
    assert_allclose(display.reference_points_.get_offsets()[:, 0], values["old"])
    ends = [sorted(segment[:, 0]) for segment in display.intervals_.get_segments()]
    assert_allclose(ends, [sorted([values["old"], values[one]]) for one in result.models])
    assert "ring old, dot the model" in display.ax_.get_xlabel()


def test_a_size_is_drawn_by_the_difference_of_its_verdict():
    sex, y, models = world(2)
    tasks = np.column_stack([y, 1 - y])
    predicted = {name: np.column_stack([one, 1 - one]) for name, one in models.items()}
    auditor = MultiAttributeAuditor(reference="test")
    result = auditor.compare(tasks, predicted, sensitive_features=sex)
    drawn = ComparisonDisplay.from_result(result).table.iloc[0]
    assert tuple(drawn[["difference", "low", "high"]]) == result.judged("model 1")


def test_a_report_has_a_row_for_each_metric_and_model(report):
    display = ComparisonDisplay.from_report(report, max_rows=None)
    n_models = len(report.models)
    assert len(display.table) == 2 * n_models == len(display.points_.get_offsets())
    first = y_labels(display)[0]
    assert first == (
        "directional, group → task" if n_models == 1 else "directional, group → task: model 1"
    )
    assert display.table["verdict"].tolist() == report.summary["verdict"].tolist()
    assert len(display.ax_.lines) == (1 if n_models == 1 else 2)


@pytest.mark.parametrize("kind", ["differences", "values"])
def test_nothing_is_cut_off_and_no_label_covers_another(report, kind):
    display = ComparisonDisplay.from_report(report, kind=kind)
    display.figure_.canvas.draw()
    page = display.figure_.bbox
    shown = [one for one in display.figure_.findobj(plt.Text) if one.get_text()]
    ticks = display.ax_.get_xticklabels()  # with those beyond the ends, which are not drawn
    for text in shown:
        if text not in ticks:
            box = text.get_window_extent()
            assert page.x0 <= box.x0 < box.x1 <= page.x1, text
            assert page.y0 <= box.y0 < box.y1 <= page.y1, text
    for labels, sides in ((display.ax_.get_yticklabels(), "y"), (ticks, "x")):
        boxes = sorted(
            (getattr(one, f"{sides}0"), getattr(one, f"{sides}1"))
            for one in (label.get_window_extent() for label in labels)
        )
        assert all(before[1] <= after[0] + 1 for before, after in pairwise(boxes))


def test_verdicts_decide_what_is_filled():
    verdicts = ["amplifies more", "amplifies less", "no clear difference", "not measured"]
    display = ComparisonDisplay(
        table([0.3, -0.2, 0.1, np.nan], verdicts), reference="old", title="mine"
    ).plot()
    faces, edges = display.points_.get_facecolors(), display.points_.get_edgecolors()
    assert_allclose(faces[:2], edges[:2])
    assert_allclose(faces[2], 1)
    assert not np.allclose(edges[0], edges[1])
    assert_allclose(edges[0], edges[2])
    assert [text.get_text() for text in display.undefined_] == ["undefined"]
    assert len(display.intervals_.get_segments()) == 3
    assert display.ax_.get_title() == "mine"
    assert "hollow: no clear difference" in display.ax_.get_xlabel()


def test_of_many_rows_the_largest_differences_are_drawn_in_their_order():
    display = ComparisonDisplay(table([0.1, -0.4, 0.2, 0.3]), reference="old").plot(max_rows=2)
    assert y_labels(display) == ["model 1", "model 3"]
    assert "2 largest of 4 differences (2 left out)" in display.ax_.get_xlabel()


def test_a_part_of_a_figure_can_be_drawn_in():
    figure = plt.figure(layout="constrained")
    part = figure.subfigures(1, 2)[1]
    drawn = ComparisonDisplay(table([0.1, 0.2]), reference="old").plot(part.subplots())
    assert drawn.figure_ is part
    assert len(plt.get_fignums()) == 1


@pytest.mark.parametrize(("sides", "text"), [("attack", "reveals more →"), ("both", "more →")])
def test_the_axis_says_what_its_sides_mean(sides, text):
    display = ComparisonDisplay(table([0.1]), reference="old", sides=sides).plot()
    assert text in [side.get_text() for side in display.ax_.texts]


def test_names_are_no_formulas_and_long_ones_stay_apart():
    long = "$a$ model whose name goes on and on until it is too long for a label {}"
    display = ComparisonDisplay(table([0.1, 0.2], model=long), reference="$b$").plot()
    assert len({*y_labels(display)}) == 2
    assert not any(matplotlib.cbook.is_math_text(text) for text in y_labels(display))
    assert not matplotlib.cbook.is_math_text(display.ax_.get_title())


def test_bad_input_says_what_to_pass(result, report):
    with pytest.raises(TypeError, match=r"ComparisonDisplay.from_report\(report\)"):
        ComparisonDisplay.from_result(report)
    with pytest.raises(TypeError, match=r"ComparisonDisplay.from_result\(result\)"):
        ComparisonDisplay.from_report(result)
    with pytest.raises(ValueError, match="lacks the columns 'difference', 'high'"):
        ComparisonDisplay(result.table.iloc[:, :2], reference="old")
    with pytest.raises(ValueError, match="kind must be one of 'differences', 'values'"):
        ComparisonDisplay(table([0.1]), reference="old").plot(kind="forest")
