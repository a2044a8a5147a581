"""Audits within strata: groups are compared as if each had the strata of all rows."""

from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from test_explain import DATA, EXACT, sample

import skbiasamp
from skbiasamp import Contingency, DirectionalAuditor, LICAuditor, MALSAuditor, NumericAuditor
from skbiasamp.cli import main
from skbiasamp.counts import draws
from skbiasamp.metrics.strata import standardised as within_strata
from skbiasamp.metrics.strata import strata_of

AUDITOR = DirectionalAuditor(reference="test")


def standardised(rows, column, given="dept"):
    """Return the rate of each group if all had the strata of all rows, by pandas alone."""
    share = rows[given].value_counts(normalize=True)
    rates = rows.pivot_table(index="sex", columns=given, values=column, aggfunc="mean")
    return (rates * share).sum(axis=1)


def audited(rows, auditor=AUDITOR, **more):
    given = {"sensitive_features": rows["sex"], "given": rows["dept"]} | more
    return auditor.audit(rows["label"], rows["decision"], **given)


def test_no_row_is_left_out_if_all_strata_have_all_groups():
    rows = sample(300, push=1.0)
    for seed in range(20):  # sums of weights are not exact
        weight = np.random.default_rng(seed).random(len(rows))
        given = {"sensitive_features": rows["sex"], "given": rows["dept"], "sample_weight": weight}
        models = {"a": rows["decision"], "b": rows["label"]}
        auditor = DirectionalAuditor(reference="test", interval=None)
        report = skbiasamp.compare(rows["label"], models, auditor=auditor, **given)
        assert report.context["n_dropped"] == 0


@pytest.mark.parametrize("interval", ["analytic", None])
def test_rates_are_standardised_and_the_value_is_that_of_the_explanation(interval):
    rows = sample(1500, push=1.0)
    result = audited(rows, clone(AUDITOR).set_params(interval=interval))
    labels, decisions = (standardised(rows, name) for name in ("label", "decision"))
    table = result.table.set_index("group")
    for group in "ab":
        assert table.loc[group, "base"] == pytest.approx(labels[group], abs=EXACT)
        assert table.loc[group, "observed"] == pytest.approx(decisions[group], abs=EXACT)
    change = (decisions["b"] - decisions["a"]) - (labels["b"] - labels["a"])
    assert result.value == pytest.approx(change / 2, abs=EXACT)
    explanation = skbiasamp.explain(
        rows["label"],
        rows["decision"],
        sensitive_features=rows["sex"],
        given=rows["dept"],
        random_state=0,
    )
    assert explanation.conditional_value == pytest.approx(result.value, abs=EXACT)
    assert "within strata of dept" in result.question
    assert "within strata of dept" in result.sentence
    if interval:
        assert result.low < result.value < result.high
        assert result.verdict == "amplifies"


@pytest.mark.parametrize("rows_in", ["frame", "query", "file", "contingency"])
def test_every_container_gives_the_same(rows_in, tmp_path):
    rows = sample(push=1.0).drop(columns="score")
    expected = audited(rows)
    columns = {"target": "label", "prediction": "decision", "sensitive": "sex", "given": "dept"}
    if rows_in == "contingency":
        columns = {"given": "dept"}
        frame = Contingency.from_labels(
            rows["label"], rows["decision"], sensitive_features=rows[["sex", "dept"]]
        )
    else:
        frame = pl.DataFrame(rows.to_dict("list"))
        frame.write_csv(tmp_path / "rows.csv")
        path = str(tmp_path / "rows.csv")
        frame = {"frame": frame, "query": frame.lazy(), "file": path}[rows_in]
    result = AUDITOR.audit(frame, **columns)
    assert result.value == pytest.approx(expected.value, abs=EXACT)
    assert result.value == pytest.approx(expected.value, abs=EXACT)
    assert AUDITOR.score(frame, **columns) == pytest.approx(expected.value, abs=EXACT)


@pytest.mark.parametrize("option", ["weights", "clusters"])
def test_weights_and_clusters_are_counted(option):
    rows = sample(push=1.0)
    rng = np.random.default_rng(0)
    twice = rows.loc[rows.index.repeat(2)]
    if option == "clusters":  # two equal rows of a person say what one row says
        result = audited(twice, clusters=twice.index.to_numpy())
        plain = audited(rows)
        width = result.high - result.low
        assert result.value == pytest.approx(plain.value, abs=EXACT)
        assert width == pytest.approx(plain.high - plain.low, rel=0.15)
        return
    weight = rng.integers(1, 4, len(rows))
    repeated = rows.loc[rows.index.repeat(weight)]
    result = audited(rows, sample_weight=weight)
    assert result.value == pytest.approx(audited(repeated).value, abs=EXACT)


def test_signs_are_those_within_strata_of_the_training_rows():
    """Overall b is labelled more often; within both strata, a is."""
    group = np.repeat(["a", "b"], 1000)
    given = np.r_[np.repeat(["x", "y"], [800, 200]), np.repeat(["x", "y"], [200, 800])]
    rate = {("a", "x"): 0.3, ("a", "y"): 0.8, ("b", "x"): 0.2, ("b", "y"): 0.7}
    place = np.r_[
        np.arange(800) / 800, np.arange(200) / 200, np.arange(200) / 200, np.arange(800) / 800
    ]
    label = (place < [rate[pair] for pair in zip(group, given, strict=True)]).astype(int)
    plain = DirectionalAuditor().fit(label, sensitive_features=group)
    within = DirectionalAuditor().fit(label, sensitive_features=group, given=given)
    assert plain.y_at_[1].to_dict() == {"a": -1, "b": 1}
    assert within.y_at_[1].to_dict() == {"a": 1, "b": -1}


def test_models_are_compared_within_strata():
    rows = sample(1500, push=0.2)
    other = sample(1500, push=1.5)["decision"]
    models = {"old": rows["decision"], "new": other}
    given = {"sensitive_features": rows["sex"], "given": rows["dept"]}
    result = AUDITOR.compare(rows["label"], models, **given)
    apart = standardised(rows.assign(decision=other), "decision") - standardised(rows, "decision")
    (difference,) = result.table["difference"].dropna()
    assert difference == pytest.approx((apart["b"] - apart["a"]) / 2, abs=EXACT)
    assert "within strata of dept" in result.question
    report = skbiasamp.compare(rows["label"], models, **given, random_state=0)
    assert report["directional A->T"].table["difference"].dropna().tolist() == [difference]


def test_models_in_a_file_are_compared_within_strata(tmp_path):
    """A path was read without the column of strata, and that was then missing."""
    rows = sample(500, push=0.2)
    rows.to_csv(path := tmp_path / "rows.csv", index=False)
    columns = {"target": "label", "sensitive": "sex", "given": "dept", "random_state": 0}
    columns["prediction"] = {"old": "decision", "new": "label"}
    of_file, of_frame = (skbiasamp.compare(data, **columns).summary for data in (path, rows))
    pd.testing.assert_frame_equal(of_file, of_frame)


def test_the_commands_compare_models_and_rates_within_strata(tmp_path, capsys):
    rows = sample(1500, push=0.2)
    rows["new"] = sample(1500, push=1.5)["decision"]
    rows.to_csv(path := tmp_path / "rows.csv", index=False)
    columns = ["--sensitive", "sex", "--given", "dept", "--json", str(out := tmp_path / "out")]
    models = {"old": "decision", "new": "new"}
    line = ["compare", str(path), "--target", "label", "--prediction", "old=decision", "new"]
    assert main([*line, *columns, "--seed", "0"]) == 0
    assert "within strata of dept" in " ".join(capsys.readouterr().out.split())
    read = skbiasamp.results.ComparisonReport.from_json(out)
    by = {"target": "label", "prediction": models, "sensitive": "sex", "random_state": 0}
    wanted = skbiasamp.compare(rows, **by, given="dept")
    pd.testing.assert_frame_equal(read.summary, wanted.summary)
    assert not read.summary.equals(skbiasamp.compare(rows, **by).summary)
    page = tmp_path / "rates.html"
    pytest.importorskip("jinja2")
    line = ["rates", str(path), "--prediction", "decision", "--html", str(page)]
    assert main([*line, *columns[:-2]]) == 0
    share = 100 * standardised(rows, "decision")["a"]
    shown = capsys.readouterr().out
    assert "within strata of dept" in shown
    assert f"{share:.1f} %" in shown
    above = rows.assign(above=(rows["score"] > rows["score"].median()).astype(int))
    rates = skbiasamp.selection_rates(
        rows, prediction="score", scores=True, sensitive="sex", given="dept"
    )
    assert rates.table["selection_rate"].to_numpy() == pytest.approx(standardised(above, "above"))


def test_admissions_are_standardised_as_published():
    if not (DATA / "ucb_admissions.csv").exists():
        pytest.skip("needs the shared data")
    table = pd.read_csv(DATA / "ucb_admissions.csv")
    rows = table.loc[table.index.repeat(table["Freq"])]
    admitted = (rows["Admit"] == "Admitted").astype(int)
    rates = skbiasamp.selection_rates(
        admitted, sensitive_features=rows["Gender"], given=rows["Dept"]
    )
    own = rates.table.set_index("category")["selection_rate"].round(4)
    assert own.to_dict() == {"Female": 0.43, "Male": 0.3873}
    assert "within strata of Dept" in repr(rates)


def test_no_strata_are_the_audit_and_the_comparison_without_them():
    rows = sample(300)
    models = {"a": rows["decision"], "b": rows["label"]}
    for call, predictions in ((AUDITOR.audit, rows["decision"]), (AUDITOR.compare, models)):
        known = {"sensitive_features": rows["sex"]}
        alone, without = (
            call(rows["label"], predictions, **known, **more) for more in ({}, {"given": None})
        )
        assert str(without) == str(alone)
        assert without.question == alone.question


def test_strata_that_cannot_be_compared():
    rows = sample()
    alone = rows["dept"].where(rows["sex"] == "a", rows["sex"])  # b has a stratum of its own
    with pytest.raises(ValueError, match="given: no stratum has rows of all groups"):
        audited(rows, given=alone)
    rows.loc[rows.index[:50], "dept"] = "only"
    shared = rows[(rows["dept"] != "only")]
    rows.loc[rows.index[:50], "sex"] = "a"
    assert audited(rows).value == pytest.approx(audited(shared).value, abs=EXACT)
    with pytest.raises(ValueError, match="leave sensitive_pred out"):
        audited(rows, sensitive_pred=rows["sex"])
    with pytest.raises(ValueError, match="given is for metrics of labels"):
        NumericAuditor(reference="test").audit(
            rows["score"], rows["score"], sensitive_features=rows["sex"], given=rows["dept"]
        )
    with pytest.raises(ValueError, match="given is for metrics of labels"):
        LICAuditor().audit(
            ["a", "b"] * 5, ["a", "c"] * 5, sensitive_features=["f", "m"] * 5, given=["x"] * 10
        )


def test_another_metric_within_strata():
    rows = sample(1500, push=1.0)
    plain, within = MALSAuditor(reference="test"), MALSAuditor(reference="test")
    given = {"sensitive_features": rows["sex"]}
    whole = plain.score(rows["label"], rows["decision"], **given)
    assert within.score(rows["label"], rows["decision"], **given, given=rows["dept"]) != whole
    one = np.zeros(len(rows), int)  # one stratum changes nothing
    assert within.score(rows["label"], rows["decision"], **given, given=one) == pytest.approx(whole)


def drifting(n=6000):
    """Return rows of six periods: women move between departments, which alone decide."""
    rng = np.random.default_rng(3)
    period, man = rng.integers(0, 6, n), rng.integers(0, 2, n)
    law = rng.random(n) < np.where(man, 0.25 + 0.1 * period, 0.75 - 0.1 * period)
    chance = np.where(law, 0.7, 0.3)
    return pd.DataFrame(
        {
            "period": [f"p{i}" for i in period],
            "sex": np.where(man, "m", "f"),
            "dept": np.where(law, "law", "arts"),
            "admitted": (rng.random(n) < chance).astype(int),
            "predicted": (rng.random(n) < chance).astype(int),
        }
    )


OVER = {"time": "period", "every": None, "prediction": "predicted", "sensitive": "sex"}


def test_a_watch_within_strata_does_not_alarm_if_only_strata_change():
    rows = drifting()
    assert skbiasamp.audit_over(rows, **OVER, n_draws=199).verdict != "no alarm"
    within = skbiasamp.audit_over(rows, **OVER, given="dept", n_draws=199)
    assert within.verdict == "no alarm"
    assert within.question.endswith("within strata of dept?")


def test_the_reference_of_a_watch_within_strata_is_the_audit_within_strata():
    rows = drifting()
    timeline = skbiasamp.audit_over(rows, target="admitted", **OVER, given="dept", n_draws=19)
    first = rows[rows["period"] == "p0"]
    labels = {"sensitive_features": first["sex"], "given": first["dept"]}
    auditor = DirectionalAuditor().fit(first["admitted"], **labels)
    result = auditor.audit(first["admitted"], first["predicted"], **labels)
    assert timeline.reference["value"] == pytest.approx(result.estimate, abs=1e-12)
    # Later periods have the strata of the first, as a table of rates shows.
    later = rows[rows["period"] == "p5"]
    shares = first["dept"].value_counts(normalize=True)
    rates = later.groupby(["sex", "dept"])[["admitted", "predicted"]].mean()
    weighted = rates.mul(shares, level="dept", axis=0).groupby("sex").sum()
    change = weighted["predicted"] - weighted["admitted"]
    signs = auditor.y_at_[1]
    value = timeline.periods.set_index("period").loc["p5", "value"]
    assert value == pytest.approx((signs * (change - change.mean())).mean(), abs=1e-12)


def test_counts_stores_and_engines_are_watched_within_strata(tmp_path):
    rows = drifting()
    named = {**OVER, "target": "admitted", "given": "dept", "n_draws": 19}
    timeline = skbiasamp.audit_over(rows, **named).to_frame()
    counts = {
        name: Contingency.from_frame(
            own, target="admitted", prediction="predicted", sensitive=["sex", "dept"], joint=True
        )
        for name, own in rows.groupby("period")
    }
    watched = skbiasamp.audit_over(counts, given="dept", n_draws=19).to_frame()
    pd.testing.assert_frame_equal(watched, timeline)
    store = skbiasamp.monitoring.Store(tmp_path)
    for i, name in enumerate(counts, 1):
        store.add(counts[name], f"2026-0{i}")
    of_store = store.audit_over(given=["dept"], n_draws=19).to_frame()
    pd.testing.assert_series_equal(of_store["value"], timeline["value"])
    of_polars = skbiasamp.audit_over(pl.from_pandas(rows), **named)
    pd.testing.assert_frame_equal(of_polars.to_frame(), timeline)


def test_a_watch_names_what_is_wrong_with_strata():
    rows = drifting()
    with pytest.raises(ValueError, match="leave sensitive_prediction out"):
        skbiasamp.audit_over(rows, **OVER, given="dept", sensitive_prediction="sex")
    apart = rows[(rows["sex"] == "m") == (rows["dept"] == "law")]
    with pytest.raises(ValueError, match="no stratum has rows of all groups"):
        skbiasamp.audit_over(apart, **OVER, given="dept")


def test_the_command_watches_within_strata(tmp_path, capsys):
    rows = drifting()
    columns = ["--prediction", "predicted", "--sensitive", "sex", "dept"]
    for i, (_, own) in enumerate(rows.groupby("period"), 1):
        own.to_csv(file := tmp_path / f"{i}.csv", index=False)
        added = ["watch", "add", str(tmp_path / "store"), str(file), "--period", f"2026-0{i}"]
        assert main([*added, *columns]) == 0
    shown = ["watch", "show", str(tmp_path / "store"), "--fail-on-alarm"]
    assert main([*shown, "--given", "dept"]) == 0
    assert "within strata of dept" in capsys.readouterr().out
    assert main([*shown, "--given", "job"]) == 2
    assert "--given must name some columns of groups" in capsys.readouterr().err


def test_strata_leave_the_names_of_the_other_columns_and_the_predictions_of_counts():
    labels = pd.DataFrame([(a, b, y) for a in "fm" for b in "xy" for y in (0, 1)] * 5)
    labels.columns = ["sex", "race", "hired"]
    auditor = DirectionalAuditor(reference="test")
    columns = {"target": "hired", "prediction": "hired", "sensitive": "sex"}
    assert auditor.audit(labels, **columns, given="race").group_columns == ("sex",)
    sexes = labels[["sex", "race"]]
    cells = Contingency.from_labels(labels["hired"], labels["hired"], sensitive_features=sexes)
    models = {"a": labels["hired"], "b": 1 - labels["hired"]}
    with pytest.raises(TypeError, match=r"already holds labels, predictions.* pass it alone"):
        auditor.compare(cells, models, given="race")


def framed(rows):
    """Return rows as a frame, and the options that name its columns."""
    columns = {"target": "label", "prediction": "decision", "sensitive": "sex"}
    return pd.DataFrame(rows), columns | {"given": "dept"}


def test_a_list_of_strata_is_not_taken_for_names_of_columns():
    rows = sample(300, push=1.0)
    alone, listed = audited(rows), audited(rows, given=rows["dept"].tolist())
    assert alone.question.endswith("within strata of dept?")
    assert listed.question.endswith("within strata?")
    rates = skbiasamp.selection_rates(
        rows["decision"], sensitive_features=rows["sex"], given=rows["dept"].tolist()
    )
    assert rates.context["given"] == "within strata"


def test_errors_about_strata_of_a_frame_name_the_option():
    frame, columns = framed(sample(100, push=1.0).assign(month="2026-01"))
    calls = {
        "audit": partial(skbiasamp.audit, frame),
        "auditor": partial(AUDITOR.audit, frame),
        "explain": partial(skbiasamp.explain, frame),
        "audit_over": partial(skbiasamp.audit_over, frame, time="month"),
    }
    for call in calls.values():
        with pytest.raises(ValueError, match=r"^given must name a column; there is no column 'x'"):
            call(**columns | {"given": "x"})
        for given in (["dept", "dept"], ["dept", "sex"]):
            with pytest.raises(ValueError, match=r"^.*sensitive.* and given name column .* twice"):
                call(**columns | {"given": given})


def test_a_predicted_group_stands_beside_strata_of_a_frame():
    frame, columns = framed(sample(300, push=1.0))
    report = skbiasamp.audit(
        frame.assign(guess=frame["sex"]), **columns, sensitive_prediction="guess", random_state=0
    )
    assert report.explanation is not None
    assert "directional T->A" in report


@pytest.mark.parametrize("groups", [2, 4])
@pytest.mark.parametrize("option", ["plain", "scores", "clusters", "fractions"])
def test_an_explanation_and_an_audit_within_strata_are_one_answer(groups, option):
    """Each had signs and an interval of its own, so that they contradicted each other."""
    for seed in range(3):
        rows = sample(400, groups=groups, seed=seed, push=0.4)
        known = {"sensitive_features": rows["sex"], "given": rows["dept"]}
        if option == "clusters":
            known["clusters"] = np.arange(400) // 2
        if option == "fractions":
            known["sample_weight"] = np.random.default_rng(seed).random(400) + 0.5
        result = AUDITOR.audit(rows["label"], rows["decision"], **known)
        scores = {"y_score": rows["score"]} if option == "scores" else {}
        explanation = skbiasamp.explain(
            rows["label"], rows["decision"], **known, **scores, random_state=0
        )
        own = explanation.conditional.set_index("part").loc["within strata"]
        expected = [result.value, result.low, result.high]
        assert own[["value", "low", "high"]].tolist() == pytest.approx(expected, abs=EXACT)
        assert own["verdict"] == result.verdict
        assert explanation.conditional_value == pytest.approx(result.value, abs=EXACT)


def test_strata_of_one_group_alone_make_the_part_within_strata_smaller():
    rows = sample(1500, push=1.0)
    only = rows.index < 300
    rows.loc[only, ["sex", "dept"]] = ["a", "only"]
    result = audited(rows)
    conditional = skbiasamp.explain(
        rows["label"],
        rows["decision"],
        sensitive_features=rows["sex"],
        given=rows["dept"],
        random_state=0,
    ).conditional.set_index("part")
    own = conditional.loc["within strata", ["value", "low", "high"]]
    numbers = np.array([result.value, result.low, result.high])
    assert own.tolist() == pytest.approx((0.8 * numbers).tolist(), abs=EXACT)
    # One group differs by nothing from the rows of its own stratum.
    assert conditional.loc["no overlap", "value"] == pytest.approx(0, abs=EXACT)
    assert conditional.index.tolist() == ["within strata", "no overlap"]


def test_differences_between_strata_are_no_noise_of_associations():
    """Strata decide almost everything, and within them the model exaggerates a small association.

    As noise, the differences between strata hide in which direction groups are associated.
    """
    verdicts = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        stratum = rng.integers(2, size=2000)
        group = (rng.random(2000) < np.where(stratum, 0.75, 0.25)).astype(int)
        rate = np.where(stratum, 0.9, 0.05)
        label = (rng.random(2000) < rate + 0.04 * group).astype(int)
        predicted = (rng.random(2000) < rate - 0.03 + 0.1 * group).astype(int)
        result = AUDITOR.audit(label, predicted, sensitive_features=group, given=stratum)
        verdicts.append(result.verdict)
    assert verdicts.count("amplifies") >= 5


def test_few_rows_that_stand_for_many_vary_as_they_do():
    """Groups are alike within strata; of the small one 3 rows stand for half of all rows.

    Their own mean is nearer to them than the truth is, so that 2 standard errors were too few.
    """
    beyond, times = 0, 200
    for seed in range(times):
        rng = np.random.default_rng(seed)
        group = np.repeat([0, 1], [1000, 33])
        stratum = np.r_[np.tile([0, 1], 500), np.repeat([0, 1], [3, 30])]
        label, predicted = (rng.random((2, 1033)) < 0.4 + 0.1 * stratum).astype(int)
        auditor = DirectionalAuditor(reference="test")
        result = auditor.audit(label, predicted, sensitive_features=group, given=stratum)
        beyond += abs(result.value) > 2 * result.statistics["standard_error"]
    assert beyond <= 0.1 * times


@pytest.mark.parametrize("in_blocks", [False, True])
def test_resamples_keep_how_frequent_strata_are_in_each_group(in_blocks, monkeypatch):
    rows = sample(1500, groups=3)
    fine = Contingency.from_labels(
        rows["label"],
        rows["decision"],
        sensitive_features=rows[["sex", "dept"]],
        sample_weight=np.random.default_rng(0).random(1500) + 0.5,
    )
    cells = draws.ordered(within_strata(strata_of(fine, ("dept",))))
    rng = np.random.default_rng(1)
    if in_blocks:
        monkeypatch.setattr(draws, "MANY_CELLS", 100)
        drawn = draws.resampled_blocks(cells, draws.divided_into_blocks(cells, rng), 20, rng)
    else:
        drawn = draws.resampled(cells, 20, rng)
    weight, (groups, strata) = np.asarray(drawn.weight), (3, 2)
    assert len(np.unique(cells.poststrata)) == groups * strata
    for own in range(groups * strata):
        inside = cells.poststrata == own
        expected = cells.weight[inside].sum()
        assert weight[:, inside].sum(axis=1) == pytest.approx(expected, rel=1e-9)
        assert weight[:, inside].std() > 0
