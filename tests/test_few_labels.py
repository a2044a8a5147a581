"""Few human labels, many machine labels: rates against the formula of PPI++, and coverage."""

import numpy as np
import pandas as pd
import pytest

import skbiasamp
from skbiasamp import DirectionalAuditor
from skbiasamp._input.errors import InputError
from skbiasamp.cli import main
from skbiasamp.datasets import load_compas
from skbiasamp.metrics import directional_amplification, prediction_powered_rates


def drawn(seed=0, n=800, n_labelled=60):
    """Draw rows of COMPAS: its score is the machine, recidivism what people find."""
    rng = np.random.default_rng(seed)
    compas = load_compas().frame
    rows = compas.iloc[rng.integers(0, len(compas), n)]
    people = np.full(n, np.nan)
    for race in ("African-American", "Caucasian"):
        own = rng.choice(np.flatnonzero(rows["race"] == race), n_labelled, replace=False)
        people[own] = rows["two_year_recid"].to_numpy()[own]
    machine = (rows["decile_score"] > 4).astype(int).to_numpy()
    return compas, machine, people, rows["race"].to_numpy()


def by_formula(y, f, rest):
    """Return METRICS' estimate and its standard error."""
    n, m = len(y), len(rest)
    weight = np.mean((y - y.mean()) * (f - f.mean()))
    weight = np.clip(weight / ((1 + n / m) * np.var([*f, *rest], ddof=1)), 0, 1)
    error = np.sqrt(np.var(weight * rest) / m + np.var(y - weight * f) / n)
    return weight * np.mean(rest) + np.mean(y - weight * f), error


def test_rates_are_those_of_the_formula():
    _, machine, people, race = drawn()
    result = prediction_powered_rates(machine, labelled=people, sensitive_features=race)
    rates = []
    for row in result.rates.itertuples():
        has, rest = ((race == row.group) & part for part in (~np.isnan(people), np.isnan(people)))
        rate, error = by_formula(people[has], machine[has], machine[rest])
        assert (row.rate, row.standard_error) == pytest.approx((rate, error), abs=1e-9)
        assert row.n_labelled == 60
        assert row.low < row.rate - 1.96 * error < row.rate + 1.96 * error < row.high
        rates.append(rate)
    assert float(result) == pytest.approx(rates[0] - rates[1], abs=1e-9)


@pytest.mark.parametrize(("pos_label", "rate"), [(1, 0.02), (0, 0.98)])
def test_few_labels_of_a_rare_class_still_cover_its_rate(pos_label, rate):
    """Among 100 labels of a class of 2 %, a machine that finds half of it seldom has one."""
    hits = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        group, truth = rng.choice(2, 5_000, p=[0.75, 0.25]), rng.random(5_000) < 0.02
        machine = (truth & (rng.random(5_000) < 0.5)).astype(int)
        people = np.full(5_000, np.nan)
        for own in range(2):
            people[rng.choice(np.flatnonzero(group == own), 100, replace=False)] = 0
        people[~np.isnan(people)] = truth[~np.isnan(people)]
        known = {"labelled": people, "sensitive_features": group, "pos_label": pos_label}
        rates = prediction_powered_rates(machine, **known).rates
        hits += ((rates["low"] <= rate) & (rates["high"] >= rate)).tolist()
    assert np.mean(hits) >= 0.93


@pytest.mark.parametrize("machine", ["finds half", "never varies"])
def test_intervals_do_not_depend_on_which_class_is_positive(machine):
    truth = np.arange(400) % 50 == 0
    found = (truth & (np.arange(400) % 100 == 0)) if machine == "finds half" else 0 * truth
    sex = np.repeat(["f", "m"], 200)
    people = np.where(np.arange(400) % 200 < 60, truth, np.nan)
    one, other = (
        prediction_powered_rates(
            found.astype(int), labelled=people, sensitive_features=sex, pos_label=label
        ).rates
        for label in (1, 0)
    )
    for name, twin in (("rate", "rate"), ("low", "high"), ("high", "low")):
        assert one[name].to_numpy() == pytest.approx(1 - other[twin].to_numpy(), abs=1e-12)


def test_an_error_names_no_parameter_that_the_function_lacks():
    _, machine, people, race = drawn()
    race = race.astype(object)
    race[5] = None
    with pytest.raises(InputError, match=r"Leave these rows out \(before the call\), or .*unknown"):
        prediction_powered_rates(machine, labelled=people, sensitive_features=race)
    many = np.arange(800) % 60
    with pytest.raises(InputError, match=r"got 60 values .* pass 20 or fewer"):
        prediction_powered_rates(machine, labelled=people, sensitive_features=many)


def test_intervals_cover_the_known_rates_difference_and_amplification():
    hits = []
    for seed in range(60):
        compas, machine, people, race = drawn(seed, n_labelled=40)
        y, group = compas["two_year_recid"], compas["race"]
        rows = {"y_train": y[:2000], "sensitive_train": group[:2000]}
        result = prediction_powered_rates(machine, labelled=people, sensitive_features=race, **rows)
        known = y.groupby(group).mean()
        gap = known.iloc[0] - known.iloc[1]
        before = y[:2000].groupby(group[:2000]).mean()
        change = (gap - (before.iloc[0] - before.iloc[1])) / 2
        row, amplification = result.table.iloc[0], result.amplification
        hits.append([row["low"] <= gap <= row["high"]])
        hits[-1] += (result.rates["low"] <= known.values) & (result.rates["high"] >= known.values)
        hits[-1] += [amplification.low <= change <= amplification.high]
    assert np.mean(hits, axis=0).min() >= 0.88  # 95 % of 60, less 2.5 standard errors


def test_all_labels_of_people_are_an_audit_of_them():
    compas, machine, _, race = drawn()
    people = np.random.default_rng(1).integers(0, 2, len(machine))
    rows = {"y_train": compas["two_year_recid"], "sensitive_train": compas["race"]}
    result = prediction_powered_rates(machine, labelled=people, sensitive_features=race, **rows)
    value = directional_amplification(None, people, sensitive_features=race, base="train", **rows)
    assert result.amplification.value == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("kind", [list, pd.Series, lambda x: np.array(x, dtype=object)])
def test_classes_in_words_and_several_tasks(kind):
    _, machine, people, race = drawn()
    words = np.where(machine == 1, "yes", "no")
    said = kind([None if np.isnan(one) else "yes" if one else "no" for one in people])
    rate = prediction_powered_rates(machine, labelled=people, sensitive_features=race).rates
    named = prediction_powered_rates(words, labelled=said, sensitive_features=race).rates
    assert named["rate"].tolist() == rate["rate"].tolist()
    two = {"a": machine, "b": 1 - machine}, {"a": people, "b": 1 - people}
    several = prediction_powered_rates(
        pd.DataFrame(two[0]), labelled=pd.DataFrame(two[1]), sensitive_features=race
    )
    own = several.rates.loc[several.rates["task"] == "a", "rate"]
    assert own.tolist() == pytest.approx(rate["rate"].tolist(), abs=1e-9)
    assert len(several.table) == 2


def test_fewer_than_30_labels_of_a_group_are_refused():
    _, machine, people, race = drawn(n_labelled=30)
    prediction_powered_rates(machine, labelled=people, sensitive_features=race)
    people[np.flatnonzero((race == "Caucasian") & ~np.isnan(people))[0]] = np.nan
    with pytest.raises(InputError, match="30 or more labels of each group; got 29 of 'Caucasian'"):
        prediction_powered_rates(machine, labelled=people, sensitive_features=race)
    for labels, text in ((None, "labelled is None"), (np.nan * people, "labelled has no label")):
        with pytest.raises(InputError, match=text):
            prediction_powered_rates(machine, labelled=labels, sensitive_features=race)


def test_the_page_says_who_differs_and_what_limits_it():
    pytest.importorskip("jinja2")
    compas, machine, people, race = drawn()
    rows = {"y_train": compas["two_year_recid"], "sensitive_train": compas["race"]}
    result = prediction_powered_rates(machine, labelled=people, sensitive_features=race, **rows)
    for text in (result.to_html(), result.to_markdown(), repr(result)):
        assert "percentage points" in text
        assert "must be random within each group" in text
        assert "Caucasian" in text


def test_a_report_takes_labels_of_people(tmp_path, capsys):
    compas, machine, people, race = drawn()
    of_train = {"y_train": compas["two_year_recid"], "sensitive_train": compas["race"]}
    direct = prediction_powered_rates(machine, labelled=people, sensitive_features=race, **of_train)
    by = {"sensitive_features": race, "labelled": people, "random_state": 0}
    report = skbiasamp.audit(None, machine, **by, **of_train)
    pd.testing.assert_frame_equal(report.labelled, direct.table)
    pd.testing.assert_frame_equal(report.labelled_rates, direct.rates)
    assert list(report) == ["directional A->T"]
    assert report["directional A->T"].estimate == direct.amplification.estimate
    for text in (str(report), report.to_markdown()):
        assert "the rate of" in text
        assert "must be random within each group" in text
    alone = skbiasamp.audit(None, machine, **by)
    assert alone.verdict == alone.differences.sentence
    assert len(alone) == 0
    frame = pd.DataFrame({"machine": machine, "people": people, "race": race})
    columns = {"prediction": "machine", "sensitive": "race", "labelled": "people"}
    path = tmp_path / "judged.csv"
    frame.to_csv(path, index=False)
    for rows in (frame, path):
        named = skbiasamp.audit(rows, **columns, random_state=0)
        assert named.labelled["difference"].tolist() == alone.labelled["difference"].tolist()
    line = f"audit {path} --prediction machine --sensitive race --labelled people"
    assert main(line.split()) == 0
    assert "Rates by human and machine labels" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"y_true": "machine"}, "no y_true beside it"),
        ({"clusters": "race"}, "independent"),
        ({"auditor": DirectionalAuditor()}, "leave auditor out"),
        ({"groups": "marginal"}, "need single rows"),
    ],
)
def test_a_report_of_few_labels_refuses_what_they_cannot_have(more, says):
    _, machine, people, race = drawn()
    rows = {"machine": machine, "race": race}
    more = {k: rows.get(v, v) if isinstance(v, str) else v for k, v in more.items()}
    given = {"y_true": None, "y_pred": machine, "sensitive_features": race} | more
    with pytest.raises(InputError, match=says):
        skbiasamp.audit(given.pop("y_true"), given.pop("y_pred"), labelled=people, **given)
