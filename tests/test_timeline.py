"""A model watched over time: what raises an alarm, what does not, and what is reported."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import skbiasamp
from skbiasamp import (
    Contingency,
    DirectionalAuditor,
    LeakageAuditor,
    MALSAuditor,
    MultiAttributeAuditor,
)

# Internals: hundreds of watches of hundreds of days, without an audit of each day.
from skbiasamp.counts.draws import divided
from skbiasamp.metrics import (
    BiasDisparityAuditor,
    DifferentialFairnessAuditor,
    LabelAuditor,
    PercentageAuditor,
)
from skbiasamp.monitoring._watch import evidence, normal_scores

OTHERS = [BiasDisparityAuditor, DifferentialFairnessAuditor, PercentageAuditor, LabelAuditor]
NAMED = {"time": "day", "target": "hired", "prediction": "predicted", "sensitive": "sex"}


def simulate(n=12_000, *, days=300, changed_from=None, seed=0):
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame({"sex": rng.choice(["f", "m"], n, p=[0.4, 0.6])})
    rows["day"] = pd.Timestamp("2026-01-01") + pd.to_timedelta(rng.integers(days, size=n), "D")
    rows["hired"] = (rng.random(n) < np.where(rows["sex"] == "f", 0.3, 0.5)).astype(int)
    wrong = np.full(n, 0.1)
    if changed_from is not None:
        late = rows["day"] >= changed_from
        wrong[late & (rows["sex"] == "f") & (rows["hired"] == 1)] = 0.5
    rows["predicted"] = np.where(rng.random(n) < wrong, 1 - rows["hired"], rows["hired"])
    return rows


@pytest.fixture(scope="module")
def steady():
    return simulate()


@pytest.fixture(scope="module")
def changed():
    return simulate(changed_from="2026-07-01")


@pytest.fixture(scope="module")
def watched(changed):
    """Return a watch of the change, in which the version changes with the model."""
    rows = changed.assign(v=np.where(changed["day"] < "2026-07-01", "1", "2$"))
    return skbiasamp.audit_over(rows, reference=3, version="v", **NAMED)


# ------------------------------------------------------------------ the rule


def test_scores_of_ranks_are_normal_means():
    # The best of 3 is, on average, where SciPy's order statistics of thirds say.
    drawn = np.array([[1.0], [2.0]])
    cut = stats.norm.ppf([0, 1 / 3, 2 / 3, 1])
    expected = (stats.norm.pdf(cut[:-1]) - stats.norm.pdf(cut[1:])) * 3
    for value, score in zip((0.0, 1.5, 3.0), expected, strict=True):
        assert normal_scores(drawn, np.array([value]))[0] == pytest.approx(score, abs=1e-12)
    assert normal_scores(drawn, np.array([np.nan])).item() != 0
    # All the same: no evidence in either direction.
    assert normal_scores(np.ones((9, 1)), np.ones(1))[0] == pytest.approx(0, abs=1e-12)


def test_evidence_is_the_mixture_of_likelihood_ratios():
    # By hand, for three looks: E = sum of w(s) N(d_s; 0, v_s + r²) / N(d_s; 0, v_s) + rest, where
    # d_s compares the mean after a start s with that before it.
    values, reference, n, n_reference = np.array([0.3, -1.0, 2.5]), 0.2, 1.0, 7.0
    means, sizes, scores = reference, n_reference, []
    for value in values:
        scores.append((value - means) / np.sqrt(1 / n + 1 / sizes))
        means, sizes = (means * sizes + value * n) / (sizes + n), sizes + n
    found = evidence(np.array([scores]), np.ones((1, 3)), np.array([n_reference]))
    k = np.arange(2, 200_000)
    prior = 1 / (np.arange(2, 5) * np.log(np.arange(2, 5)) ** 2 * 2.10974280)
    assert (1 / (k * np.log(k) ** 2)).sum() < 2.10974280
    for look in range(3):
        total = 1 - prior[: look + 1].sum()
        for start in range(look + 1):
            after = values[start : look + 1]
            weights = np.array([n_reference, *np.ones(start)])
            before = np.average([reference, *values[:start]], weights=weights)
            gap, variance = after.mean() - before, 1 / len(after) + 1 / weights.sum()
            ratio = stats.norm.pdf(gap, 0, np.sqrt(variance + 4)) / stats.norm.pdf(
                gap, 0, np.sqrt(variance)
            )
            total += prior[start] * ratio
        assert found.log[0, look] == pytest.approx(np.log(total), abs=1e-9)


def test_periods_without_a_value_are_no_evidence():
    scores = np.array([[np.nan, 1.0, np.nan, 2.0]])
    found = evidence(scores, np.array([[5.0, 5.0, 0.0, 5.0]]), np.array([50.0]))
    assert found.log[0, 0] == pytest.approx(0, abs=1e-12)
    assert np.isfinite(found.log).all()


def cells_of(rows):
    columns = {"target": "hired", "prediction": "predicted", "sensitive": "sex"}
    return Contingency.from_frame(rows, **columns, pos_label=1)


def test_divisions_keep_the_rows_of_every_group(steady):
    before, part = cells_of(steady[:2000]), cells_of(steady[2000:2500])
    drawn = divided(before, part, 300, np.random.default_rng(0))
    assert (drawn.count("group") == part.count("group")).all()
    whole = before + part
    # Hypergeometric: the mean is the share of all rows, the variance that of SciPy.
    joint = drawn.joint("group", "task_pred")[1:, 0, 0]
    law = stats.hypergeom(
        whole.count("group")[0], whole.joint("group", "task_pred")[0, 0], part.count("group")[0]
    )
    assert joint.mean() == pytest.approx(law.mean(), abs=4 * law.std() / 300**0.5)
    assert joint.std() == pytest.approx(law.std(), rel=0.2)
    assert np.array_equal(drawn.joint("group", "task_pred")[0], part.joint("group", "task_pred"))


def period_of(missed):
    """Return counts of a period in which `missed` of the labels of women are not predicted."""
    sex, hired = np.repeat(["f", "m"], 100), np.repeat([1, 0, 1, 0], [40, 60, 60, 40])
    predicted = hired.copy()
    predicted[:missed] = 0
    return Contingency.from_labels(hired, predicted, sensitive_features=sex)


def test_the_value_has_half_of_the_error_rate_and_the_pairs_share_the_other():
    """A change goes by: women lose labels in three periods of twelve.

    Men are predicted as labelled, so the value and the pair of the women rank alike, and their
    evidence is the same. The value may spend one half of the error rate, each of the two pairs a
    quarter. P-values hold at all looks together, so none rises when the model is as before.
    """
    missed = [5, 4, 6, 5, 5, 20, 22, 20, 5, 4, 3, 5]
    periods = {f"2026-{1 + i:02d}": period_of(n) for i, n in enumerate(missed)}
    auditor = DirectionalAuditor(interval=None)
    passing = skbiasamp.audit_over(periods, reference=4, auditor=auditor, n_draws=199)
    frame = passing.to_frame().set_index("period")
    pairs = passing.to_frame(pairs=True).set_index("period")
    women = pairs.loc[pairs["group"] == "f", "p_adjusted"]
    uncapped = women[women < 1]
    assert len(uncapped) >= 2
    assert (2 * frame["p_adjusted"][uncapped.index]).tolist() == pytest.approx(uncapped.tolist())
    assert {"value", "value and 2 pairs", ""} == {*frame["cause"]}
    for period, cause in frame["cause"].items():
        p = women.get(period, 1.0)
        expected = [text for text, at in (("value", p / 2), ("2 pairs", p)) if at <= 0.05]
        assert cause == " and ".join(expected)
    later = frame["p_adjusted"][frame["role"] == "watched"].to_numpy()
    assert (np.diff(later) <= 0).all()
    assert (np.diff(later) < 0).any()
    assert later[-1] == later[-2] == later[-3] < 0.1


# ------------------------------------------------------------------ audit_over


def test_a_change_of_one_group_is_found_and_named(changed, watched):
    timeline = watched
    assert timeline.verdict == "alarm"
    assert timeline.onset == "2026-07"
    assert timeline.first_alarm in ("2026-07", "2026-08")
    # Compared with all rows, the changes of two groups mirror each other.
    assert {"f", "m"} <= set(timeline.causes)
    of_m = timeline.pairs.assign(alarm=lambda pairs: pairs["alarm"] & (pairs["group"] == "m"))
    assert timeline.facts.causes == replace(timeline, pairs=of_m).facts.causes == ("f",)  # m stays
    frame = timeline.to_frame()
    assert not frame.loc[frame["period"] < "2026-07", "alarm"].any()
    later = frame[frame["period"] >= timeline.first_alarm]
    assert later["alarm"].all()  # an alarm stays until a new watch begins
    gap = (frame["value"] - frame["expected"]).to_numpy()
    assert frame["difference"].to_numpy() == pytest.approx(gap, nan_ok=True)
    # By hand, of the rows of the reference and of those since the change. Rates are rounded as
    # they are shown, so that the gap is the difference of what stands beside it.
    gap = timeline.facts.gap
    parts = changed[changed["day"] < "2026-04-01"], changed[changed["day"] >= "2026-07-01"]
    for name, found in (
        ("predicted", (gap.before, gap.after)),
        ("hired", timeline.facts.labelled_gap),
    ):
        rates = [part.groupby("sex")[name].mean().round(3) for part in parts]
        assert found == pytest.approx(
            [rate[gap.group] - rate[gap.other] for rate in rates], abs=1e-12
        )


@pytest.mark.parametrize("wanted", [1, "0"])
def test_the_group_that_is_worse_off_over_time_is_that_of_the_rows(changed, wanted):
    timeline = skbiasamp.audit_over(changed, reference=3, favourable=wanted, **NAMED)
    before, after = (
        (part["predicted"] == int(wanted)).groupby(part["sex"]).mean()
        for part in (
            changed[changed["day"] < "2026-04-01"],
            changed[changed["day"] >= "2026-07-01"],
        )
    )
    who = timeline.facts.who
    assert who.group == after.idxmin()
    assert (who.before, who.after) == pytest.approx((before[who.group], after.min()), abs=1e-12)
    assert who.loses == (after.min() < before[who.group])


def test_a_period_is_the_audit_of_its_rows(changed):
    auditor = DirectionalAuditor()
    timeline = skbiasamp.audit_over(changed, reference=3, auditor=auditor, **NAMED)
    first = changed[changed["day"] < "2026-04-01"]
    labels = {"target": "hired", "sensitive": "sex"}
    august = changed[(changed["day"] >= "2026-08-01") & (changed["day"] < "2026-09-01")]
    alone = auditor.fit(first, **labels).audit(august, prediction="predicted", **labels)
    row = timeline.to_frame().set_index("period").loc["2026-08"]
    assert row["value"] == pytest.approx(alone.value, abs=1e-12)
    assert row["low"] == pytest.approx(alone.low, abs=1e-12)
    assert row["n"] == len(august)
    pairs = timeline.to_frame(pairs=True).set_index(["period", "group"])
    amplification = alone.table.set_index("group")["amplification"]
    assert pairs.loc["2026-08", "value"].to_dict() == pytest.approx(amplification.to_dict())


def test_a_reference_may_be_a_period_or_other_rows(changed):
    named = skbiasamp.audit_over(changed, reference="2026-07", **NAMED)
    assert named.verdict == "no alarm"  # after the change nothing changes
    roles = named.to_frame().set_index("period")["role"]
    assert roles["2026-06"] == "before the reference"
    assert roles["2026-07"] == "reference"
    old = cells_of(simulate(20_000, seed=7))
    against = skbiasamp.audit_over(changed, reference=old, **NAMED)
    assert against.onset == "2026-07"
    assert against.reference["n"] == 20_000


# ------------------------------------------------------------------ what periods may be


def test_a_group_missing_in_a_period_is_said(steady):
    rows = steady[~((steady["day"].dt.month == 6) & (steady["sex"] == "f"))]
    found = skbiasamp.audit_over(rows, reference=3, **NAMED)
    texts = [one["text"] for one in found.notes if one["period"] == "2026-06"]
    assert texts == ["no rows of 'f': its pairs are not measured in this period."]
    pairs = found.to_frame(pairs=True).set_index(["period", "group"])
    assert np.isnan(pairs.loc[("2026-06", "f"), "value"])
    assert found.verdict == "no alarm"


def test_new_groups_and_classes_are_left_out_and_counted(steady):
    """A row whose label and prediction are of a new class is one row."""
    rows = in_words(steady, {0: "no", 1: "yes"})
    june = rows.index[rows["day"].dt.month == 6]
    rows.loc[june[:7], "sex"] = "x"
    rows.loc[june[10:15], "hired"] = rows.loc[june[13:19], "predicted"] = "later"
    found = skbiasamp.audit_over(rows, reference=3, pos_label="yes", **NAMED)
    texts = [one["text"] for one in found.notes if one["period"] == "2026-06"]
    assert texts == [
        "7 rows of the group 'x', which the reference lacks, are left out.",
        "9 rows of the class 'later', which the reference lacks, are left out.",
    ]
    assert found.to_frame().set_index("period").loc["2026-06", "n"] == len(june) - 16
    said = "16 rows are left out: the reference lacks their group or class."
    assert said in " ".join(str(found).split())
    # Rows and counts of them leave out as many.
    rows.loc[june[20:60], "sex"] = None
    how = {"reference": 3, "pos_label": "yes", "n_draws": 19}
    for given, options in ((rows, NAMED | {"missing": "drop"}), (in_months(rows, "drop"), {})):
        found = skbiasamp.audit_over(given, **how, **options)
        assert "40 rows have no group and are left out. 16 rows" in " ".join(str(found).split())
        assert said in " ".join(found.to_markdown().split())


def test_a_period_of_too_few_rows_for_an_attacker_is_not_measured(steady):
    rows = steady[steady["day"].dt.month.isin([1, 2, 4, 6])]
    few, rows = rows.iloc[:4].assign(day=pd.Timestamp("2026-05-01")), rows[::5]
    options = NAMED | {"reference": 2, "n_draws": 19}
    options["auditor"] = LeakageAuditor(n_draws=1, n_resamples=9)
    timeline = skbiasamp.audit_over(pd.concat([rows, few]), **options)
    frame = timeline.to_frame().set_index("period")
    own, june = frame.loc["2026-05"], frame.loc["2026-06"]
    assert np.isnan([own["value"], own["low"], own["expected"], own["difference"]]).all()
    (note,) = (note["text"] for note in timeline.notes if note["period"] == "2026-05")
    assert note.startswith("not measured: cv must leave every fold a row; got 5 folds and 4 rows.")
    assert np.isfinite([june["value"], june["p_adjusted"]]).all()
    assert timeline.verdict == "no alarm"


def in_words(rows, names):
    return rows.assign(**{one: rows[one].map(names) for one in ("hired", "predicted")})


def in_months(rows, missing="error"):
    """Return counts of each month."""
    columns = {name: NAMED[name] for name in ("target", "prediction", "sensitive")}
    months = rows.groupby(rows["day"].dt.strftime("%Y-%m"))
    return {name: Contingency.from_frame(one, missing=missing, **columns) for name, one in months}


def test_any_class_may_be_the_positive_one(changed):
    """Periods were refused where the class did not sort last."""
    found, how = [], {"reference": 3, "auditor": DirectionalAuditor(), "n_draws": 99}
    for names in ({0: "a", 1: "b"}, {0: "b", 1: "a"}):
        rows = in_words(changed, names)
        for given, options in ((rows, NAMED), (in_months(rows), {})):
            timeline = skbiasamp.audit_over(given, pos_label=names[1], **how, **options)
            assert set(timeline.pairs["task"]) == {names[1]}
            found.append(timeline.to_frame()[["value", "low", "high", "n"]])
    for other in found[1:]:
        pd.testing.assert_frame_equal(found[0], other)


# ------------------------------------------------------------------ page and picture


def test_the_display_shows_value_reference_alarms_and_versions(watched):
    pytest.importorskip("matplotlib").use("Agg")
    from skbiasamp.plotting import TimelineDisplay

    display = TimelineDisplay.from_timeline(watched)
    frame = watched.to_frame()
    assert np.array_equal(display.line_.get_ydata(), frame["value"])
    assert set(display.reference_line_.get_ydata()) == {watched.reference["value"]}
    assert list(display.alarms_.get_xdata()) == list(np.flatnonzero(frame["alarm"]))
    assert [line.get_xdata()[0] for line in display.version_lines_] == [5.5]
    assert display.mean_ is None
    assert "sex = f" in TimelineDisplay.from_timeline(watched, pair=("f", 1)).ax_.get_title()


def test_many_periods_are_drawn_with_a_mean_by_rows():
    pytest.importorskip("matplotlib").use("Agg")
    from skbiasamp.plotting import TimelineDisplay

    rng = np.random.default_rng(0)
    days = pd.DataFrame({"period": [f"day {i}" for i in range(100)], "value": rng.random(100)})
    days = days.assign(low=0.0, high=1.0, alarm=False, n=rng.integers(1, 50, 100))
    days.loc[70:80, "value"] = np.nan
    display = TimelineDisplay(days).plot()
    means = display.mean_.get_ydata()
    assert display.mean_.get_label() == "mean of the last 5 periods"
    assert np.isnan(means[:4]).all()
    assert np.isnan(means[74:81]).all()
    expected = np.average(days["value"][46:51], weights=days["n"][46:51])
    assert means[50] == pytest.approx(expected)
    assert means[81] == pytest.approx(days["value"][81])


def test_a_reference_whose_periods_differ_by_more_than_chance_is_noted():
    """In every other period the model predicts one group more often."""
    rng = np.random.default_rng(0)

    def period(push):
        sex, hired = rng.choice(["f", "m"], 2_000), rng.random(2_000)
        labels = hired < np.where(sex == "f", 0.3, 0.5)
        guesses = hired < np.where(sex == "f", 0.3, 0.5 + push)
        return Contingency.from_labels(labels, guesses, sensitive_features=sex)

    for pushes, noted in (([0.0, 0.2] * 4, True), ([0.1] * 8, False)):
        periods = {f"2026-{i + 1:02}": period(push) for i, push in enumerate(pushes)}
        timeline = skbiasamp.audit_over(periods, reference=6, random_state=0)
        texts = " ".join(note["text"] for note in timeline.notes)
        assert ("differ from one another by more than chance" in texts) == noted


@pytest.mark.parametrize("formula", ["change", "published"])
def test_any_metric_expects_its_value_of_the_reference_again(formula):
    """Of three groups, so that no pair has the value of the whole."""
    rng = np.random.default_rng(0)
    sex = rng.choice(["f", "m", "x"], 4000, p=[0.5, 0.4, 0.1])
    tasks = (rng.random((4000, 2)) < np.where(sex == "f", 0.2, 0.4)[:, None]).astype(int)
    predicted = np.where(rng.random((4000, 2)) < 0.2, (sex == "m")[:, None], tasks)
    cells = Contingency.from_labels(tasks, predicted, sensitive_features=sex)
    periods, quick = {"2026-01": cells, "2026-02": cells}, {"random_state": 0, "n_draws": 19}
    for make in (DirectionalAuditor, MALSAuditor, MultiAttributeAuditor, *OTHERS):
        timeline = skbiasamp.audit_over(periods, auditor=make(formula=formula), **quick)
        first, second = timeline.periods.to_dict("records")
        assert abs(first["value"]) > 0.01
        assert second["expected"] == pytest.approx(first["value"], rel=0.1)
        assert second["difference"] == pytest.approx(second["value"] - second["expected"])
        pairs = timeline.pairs[timeline.pairs["value"].abs() > 0.05]
        assert pairs["expected"].to_numpy() == pytest.approx(pairs["value"].to_numpy(), rel=0.25)
