"""Several models on the same rows: values, differences, tests, and every way rows come in."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import skbiasamp
from skbiasamp import (
    DirectionalAuditor,
    DPAAuditor,
    LeakageAuditor,
    MALSAuditor,
    MultiAttributeAuditor,
)
from skbiasamp.metrics import BiasDisparityAuditor, DifferentialFairnessAuditor, PercentageAuditor

FEW = 99


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(3)
    sex = rng.choice(["f", "m"], 900)
    y = (rng.random(900) < np.where(sex == "f", 0.3, 0.6)).astype(int)
    models = {"old": np.where(rng.random(900) < 0.1, 1 - y, y)}
    models["new"] = np.where(rng.random(900) < 0.05, 1 - models["old"], models["old"])
    models["bold"] = np.where(rng.random(900) < 0.3, (sex == "m").astype(int), models["old"])
    return pd.DataFrame({"sex": sex, "y": y, **models})


def models_of(rows):
    return {name: rows[name] for name in ("old", "new", "bold")}


def compared(auditor, rows, **more):
    auditor = auditor.fit(rows["y"], sensitive_features=rows["sex"])
    return auditor.compare(rows["y"], models_of(rows), sensitive_features=rows["sex"], **more)


AUDITORS = [
    DirectionalAuditor(),
    DirectionalAuditor(formula="published"),
    MALSAuditor(),
    MALSAuditor(formula="published"),
    LeakageAuditor(n_resamples=FEW, random_state=0),
    DPAAuditor(n_resamples=FEW, random_state=0),
    LeakageAuditor(cv=None, n_resamples=FEW, random_state=0),
]
BY_NAME = pytest.mark.parametrize("auditor", AUDITORS, ids=lambda one: repr(one)[:60])


# ---------------------------------------------------------------------- values


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize("formula", ["change", "published"])
@pytest.mark.parametrize(
    "make",
    [
        MALSAuditor,
        BiasDisparityAuditor,
        DifferentialFairnessAuditor,
        PercentageAuditor,
        partial(MultiAttributeAuditor, max_size=1, combinations="all"),
        partial(MultiAttributeAuditor, None, max_size=1, combinations="all"),
    ],
)
def test_a_difference_is_that_of_the_two_values_and_turns_with_the_reference(make, formula):
    """Also if one model never predicts a task, and if the value is a size."""
    rng = np.random.default_rng(1)
    sex, y = rng.choice(["f", "m"], 400), (rng.random((400, 3)) < 0.4).astype(int)
    y[:, 0] |= (sex == "f") & (rng.random(400) < 0.4)
    old, new = (
        [np.where(rng.random((400, 3)) < share, y, 1 - y) for _ in range(2)] for share in (0.8, 0.7)
    )
    new[0][:, 2] = 0
    auditor, how = make(formula=formula), {"sensitive_features": sex}
    auditor.fit(y, **how)
    values = [auditor.audit(y, run, **how).value for run in (*old, *new)]
    single = {"old": old[0], "new": new[0]}
    for models, expected in [
        (single, values[2] - values[0]),
        ({"old": old, "new": new}, np.mean(values[2:]) - np.mean(values[:2])),
    ]:
        one, other = (
            auditor.compare(y, models, reference=name, **how).table.set_index("model").loc[rest]
            for name, rest in (("old", "new"), ("new", "old"))
        )
        assert one["difference"] == pytest.approx(expected, abs=1e-12)
        ends = ["difference", "difference_low", "difference_high", "p_value"]
        value, low, high, p_value = one[ends]
        found = (-other["difference"], -other["difference_high"], -other["difference_low"])
        assert [*found, other["p_value"]] == pytest.approx([value, low, high, p_value], abs=1e-12)
    if formula == "published" and make not in (DifferentialFairnessAuditor, PercentageAuditor):
        # The jackknife, of values that are sums: published values without each row.
        result = auditor.compare(y, single, **how)
        auditor.set_params(interval=None)
        without = []
        for i in range(400):
            rest = np.arange(400) != i
            audits = (
                auditor.audit(y[rest], run[rest], sensitive_features=sex[rest])
                for run in (new[0], old[0])
            )
            without.append(np.subtract(*(audit.value for audit in audits)))
        error = np.sqrt(399) * np.std(without)
        ends = result.table.loc[1, ["difference_low", "difference_high"]]
        half = float(ends.iloc[1] - ends.iloc[0]) / 2
        assert 1.9 * error < half < 2.3 * error


@BY_NAME
def test_the_p_value_of_a_difference_is_that_of_its_interval(auditor, rows):
    """And a model beside itself is no different."""
    rng = np.random.default_rng(7)
    models = {"old": rows["old"], "same": rows["old"]}
    for i, share in enumerate((0.02, 0.04, 0.06, 0.08, 0.1, 0.15)):
        moved = np.where(rng.random(900) < share, (rows["sex"] == "m").astype(int), rows["old"])
        models[f"new {i}"] = moved
    auditor.fit(rows["y"], sensitive_features=rows["sex"])
    result = auditor.compare(rows["y"], models, sensitive_features=rows["sex"])
    table = result.table[1:]
    excluded = (table["difference_low"] > 0) | (table["difference_high"] < 0)
    assert ((table["p_value"] < 0.05) == excluded).all()
    assert excluded.any()
    pairs = result.pairs[result.pairs["p_value"].notna()]
    excluded = (pairs["low"] > 0) | (pairs["high"] < 0)
    assert ((pairs["p_value"] < 0.05) == excluded).all()
    same = table.iloc[0]
    assert (same["difference"], same["changed"], same["p_value"]) == (0, 0, 1)
    assert same["difference_low"] <= 0 <= same["difference_high"]
    assert result.verdicts["same"] == "no clear difference"


# ---------------------------------------------------------------------- pairs and churn


def test_pairs_differ_by_the_rows_gained_and_lost(rows):
    result = compared(AUDITORS[0], rows)
    for _, pair in result.pairs.iterrows():
        here = rows["sex"] == pair["group"]
        new, old = rows[pair["model"]] == 1, rows["old"] == 1
        gained, lost = (here & new & ~old).sum(), (here & old & ~new).sum()
        assert pair["difference"] == pytest.approx((gained - lost) / here.sum(), abs=1e-12)
        # Of two groups, a change is as large as the other group's share of the gap's.
        others = ((new & ~here).sum() - (old & ~here).sum()) / (~here).sum()
        change = (pair["difference"] - others) * (~here).mean()
        assert pair["change"] == pytest.approx(change, abs=1e-12)
        assert pair["low_simultaneous"] <= pair["low"] <= change
        assert change <= pair["high"] <= pair["high_simultaneous"]


AT = np.arange(50_000)


@pytest.mark.parametrize(
    ("group", "changed", "exact"),
    [
        (np.repeat(list("abc"), 200), AT[:600] % 37 < 5, False),
        (np.repeat(["a", "b"], 25_000), AT % 5 == 0, False),
        # As many changes as are just not enough for Pearson's.
        (np.repeat(["a", "b"], 5_000), AT[:10_000] % 5_000 < 880 + AT[:10_000] // 100, True),
    ],
)
def test_churn_has_pearsons_test_of_many_rows_or_groups_and_else_fishers(group, changed, exact):
    y = np.arange(len(group)) % 2
    auditor = DirectionalAuditor(reference="test", interval=None)
    models = {"old": y, "new": y ^ changed}
    result = auditor.compare(y, models, sensitive_features=group)
    counts = pd.crosstab(group, changed)
    pearson = stats.chi2_contingency(counts, correction=False).pvalue
    expected = stats.fisher_exact(counts).pvalue if exact else pearson
    found = result.churn[result.churn["model"] == "new"].set_index("group")
    assert found["changed"].to_dict() == counts[True].to_dict()
    assert found["share"].to_dict() == pytest.approx((counts[True] / counts.sum(axis=1)).to_dict())
    assert found["p_value"].iloc[0] == pytest.approx(expected)


# ---------------------------------------------------------------------- every way in


# ---------------------------------------------------------------------- training procedures


def procedures(rows, n=(3, 4)):
    """Return runs of two training procedures: errors of their own beside those they share."""
    rng = np.random.default_rng(11)
    male = (rows["sex"] == "m").to_numpy(int)
    found = {}
    for name, runs, shift in zip(("plain", "biased"), n, (0.0, 0.15), strict=True):
        found[name] = []
        for _ in range(runs):
            run = np.where(rng.random(900) < 0.05, 1 - rows["y"], rows["old"])
            found[name].append(np.where(rng.random(900) < shift * rng.uniform(0.5, 1.5), male, run))
    return found


def test_the_difference_of_procedures_counts_runs_and_the_rows_that_they_share(rows):
    """By hand: the value of two groups is half of the change of the difference between them."""
    runs = procedures(rows)
    auditor = DirectionalAuditor().fit(rows["y"], sensitive_features=rows["sex"])
    result = auditor.compare(rows["y"], runs, sensitive_features=rows["sex"])
    n = rows["sex"].map(rows["sex"].value_counts()).to_numpy()
    side = np.where(rows["sex"] == "m", 1, -1) / n / 2
    fewer = np.sqrt(900 / 899 / (1 - 1 / n))  # jackknife and HC2
    # Half a row gained and half a row lost in each group, of which the value is the half.
    each = 1 / np.unique(n) ** 2 / 4
    unseen, values, influences, between, shared = each.sum(), {}, {}, {}, {}
    for name, every in runs.items():
        change = np.stack(every) - rows["y"].to_numpy()
        values[name] = change @ side
        means = pd.DataFrame(change.T).groupby(rows["sex"]).transform("mean").to_numpy().T
        influences[name] = one = fewer * side * (change - means)
        between[name] = np.var(values[name], ddof=1) / len(every)
        shared[name] = (one @ one.T)[~np.eye(len(every), dtype=bool)].mean() + unseen

    def by_hand(names, value, rows_part, influence):
        """Student's t; the variance of few runs counts for more in its degrees of freedom."""
        few = [len(runs[name]) - 1 for name in names]
        own = [between[name] * stats.t(df).isf(0.025) / stats.norm.isf(0.025)
               for name, df in zip(names, few, strict=True)]  # fmt: skip
        squares, fourth = (influence**2).sum() + unseen, (influence**4).sum() + (each**2).sum() / 2
        squared = rows_part**2 * fourth / squares**2 + sum(np.square(own) / few)
        df = (sum(own) + rows_part) ** 2 / squared
        error = np.sqrt(sum(between[name] for name in names) + rows_part)
        reach = stats.t.isf(0.025, df) * error
        return value, value - reach, value + reach, 2 * stats.t.sf(abs(value) / error, df)

    table = result.table.set_index("model")
    for name in runs:
        influence, columns = influences[name].mean(axis=0), ["value", "low", "high"]
        expected = by_hand([name], values[name].mean(), shared[name], influence)[:3]
        np.testing.assert_allclose(table.loc[name, columns].to_numpy(float), expected, rtol=1e-6)
    both = (influences["biased"] @ influences["plain"].T).mean()
    rows_part = shared["biased"] + shared["plain"] - 2 * both - unseen
    (value, influence), (other, before) = (
        (values[name].mean(), influences[name].mean(axis=0)) for name in ("biased", "plain")
    )
    expected = by_hand([*runs], value - other, rows_part, influence - before)
    names = ["difference", "difference_low", "difference_high", "p_value"]
    np.testing.assert_allclose(table.loc["biased", names].to_numpy(float), expected, rtol=1e-6)
    # Procedures that predict the same rows share most of their error.
    assert rows_part < 0.5 * (shared["biased"] + shared["plain"])
    assert result.verdicts == {"biased": "amplifies more"}


@pytest.mark.parametrize("auditor", [AUDITORS[0], AUDITORS[2], AUDITORS[4]], ids=repr)
def test_every_metric_compares_procedures(auditor, rows):
    runs = procedures(rows)
    auditor.fit(rows["y"], sensitive_features=rows["sex"])
    how = {"sensitive_features": rows["sex"]}
    result = auditor.compare(rows["y"], runs, **how, reference="plain")
    assert list(result.table["model"]) == ["plain", "biased"]
    table = result.table.set_index("model")
    means = []
    for name, every in runs.items():
        mean = auditor.audit_runs(rows["y"], every, **how)
        near = 0.02 if auditor.kind == "attack" else 1e-12  # other folds
        assert table.loc[name, "value"] == pytest.approx(mean.value, abs=near)
        audits = [auditor.audit(rows["y"], run, **how).table for run in every]
        columns = [column for column in ("observed", "amplification") if column in audits[0]]
        means.append(np.mean([one[columns] for one in audits], axis=0).T)
    gap = table.loc["biased", "value"] - table.loc["plain", "value"]
    assert result.difference("biased") == pytest.approx(gap, abs=1e-12)
    if auditor.kind != "attack":
        (before, base), (after, amplified) = means
        found = result.pairs[["reference", "observed", "amplification"]]
        np.testing.assert_allclose(found, np.c_[before, after, amplified - base], atol=1e-12)
    row = table.loc["biased"]
    assert row["difference_low"] < row["difference"] < row["difference_high"]
    assert (row["p_value"] < 0.05) == (row["difference_low"] > 0 or row["difference_high"] < 0)
    changed = [[(one != other).mean() for one in runs["biased"]] for other in runs["plain"]]
    assert row["changed"] == pytest.approx(np.mean(changed))


def test_the_interval_of_papers_is_student_s_t_over_published_values(rows):
    rng = np.random.default_rng(2)
    guessed = [np.where(rng.random(900) < p, "f", rows["sex"]) for p in (0.02, 0.1, 0.15, 0.3)]
    how = {"sensitive_features": rows["sex"]}
    auditor = DirectionalAuditor("T->A", reference="test")
    mean = auditor.audit_runs(rows["y"], [None] * 4, **how, sensitive_preds=guessed, method="runs")
    signs = np.array([1, -1]) * np.sign(np.cov(rows["sex"] == "f", rows["y"])[0, 1])
    yes = (rows["y"] == 1).to_numpy()
    moves = [
        np.array([(run[yes] == sex).mean() - (rows["sex"][yes] == sex).mean() for sex in "fm"])
        for run in guessed
    ]
    published = [(signs * move).mean() for move in moves]
    ends = stats.t.interval(0.95, 3, np.mean(published), stats.sem(published))
    assert [mean.published, mean.published_low, mean.published_high] == pytest.approx(
        [np.mean(published), *ends]
    )


def test_a_report_compares_procedures_as_an_auditor_does(rows):
    runs = procedures(rows)
    how = {"sensitive_features": rows["sex"]}
    auditors = [DirectionalAuditor(reference="test"), MALSAuditor(reference="test")]
    report = skbiasamp.compare(rows["y"], runs, **how, auditor=auditors)
    for auditor, result in zip(auditors, report.results.values(), strict=True):
        expected = auditor.compare(rows["y"], runs, **how)
        pd.testing.assert_frame_equal(result.table, expected.table)
        pd.testing.assert_frame_equal(result.pairs, expected.pairs)
    right = [np.mean([(run == rows["y"]).mean() for run in every]) for every in runs.values()]
    assert report.accuracy["accuracy"].tolist() == pytest.approx(right)
    assert report.accuracy["difference"].tolist() == pytest.approx([0, right[1] - right[0]])
    women = report.rates.set_index(["model", "group"])["predicted_rate"]["biased", "f"]
    expected = np.mean([run[rows["sex"] == "f"].mean() for run in runs["biased"]])
    assert women == pytest.approx(expected)


@pytest.mark.parametrize("unit", ["logits", "probabilities"])
def test_a_score_changes_a_prediction_if_it_crosses_the_threshold(unit):
    """Of 200 rows 20 cross it; 30 others come close to it or leave it upwards."""
    rng = np.random.default_rng(0)
    group, labels = rng.integers(2, size=(2, 200))
    old = np.where(labels, 2.0, -2.0) + rng.normal(size=200) / 9
    new = old.copy()
    old[:20], new[:20] = 0.3, -0.3
    old[20:50], new[20:50] = 0.7, 0.4
    if unit == "probabilities":  # 1/2 itself is a label
        old, new = (0.5 + side / 9 for side in (old, new))
        old[:50], new[:20], new[20:50] = 0.5, 0.4, 0.6
    auditor = LeakageAuditor(n_draws=1, cv=2, interval=None, random_state=0)
    result = auditor.compare(labels, {"old": old, "new": new}, sensitive_features=group)
    assert result.table["changed"].tolist()[1] == pytest.approx(20 / 200)


def test_the_largest_change_is_said_as_a_rate_of_what_it_is_given():
    """New: seven of ten women are predicted to be hired; three of ten of the hired to be women."""
    sex, hired = ["f"] * 10 + ["m"] * 10, [1, 0] * 10
    models = {"old": hired, "new": [1] * 4 + hired[4:]}
    guesses = {"old": sex, "new": ["m"] * 4 + sex[4:]}
    for direction, expected in (("A->T", (0.5, 0.7)), ("T->A", (0.5, 0.3))):
        auditor, how = DirectionalAuditor(direction, reference="test"), {"sensitive_features": sex}
        found = auditor.compare(hired, models, sensitive_preds=guesses, **how).facts("new")
        rates = {each.group: (each.before, each.after) for each in found.changes}
        assert rates["f"] == pytest.approx(expected)


# ---------------------------------------------------------------------- accuracy

N = 400


@pytest.fixture(scope="module")
def labels():
    rng = np.random.default_rng(4)
    y, sex = rng.integers(0, 2, N), rng.choice(["f", "m"], N)
    old = np.where(rng.random(N) < 0.2, 1 - y, y)
    return y, sex, old, np.where(rng.random(N) < 0.1, 1 - old, old)


def accuracy(y, old, new, sex, **more):
    how = {"sensitive_features": sex, "auditor": DirectionalAuditor()} | more
    last = skbiasamp.compare(y, {"old": old, "new": new}, **how).accuracy.iloc[1]
    return last[["difference", "difference_low", "difference_high"]].to_numpy(float)


def by_student(value, parts, unseen=1 / N):
    """Student's t by what units add to a difference, and half a row gained and half a row lost."""
    squares = parts**2 * len(parts) / (len(parts) - 1)
    variance = squares.sum() + unseen**2
    reach = stats.t.isf(0.025, variance**2 / (squares @ squares + unseen**4 / 2)) * variance**0.5
    return pytest.approx([value, value - reach, value + reach], abs=1e-12)


def test_it_is_the_paired_interval_of_a_proportion(labels):
    y, sex, old, new = labels
    gain = (new == y) * 1.0 - (old == y)
    assert np.abs(gain).sum() >= 10
    assert accuracy(y, old, new, sex) == by_student(gain.mean(), (gain - gain.mean()) / N)
    # Few clusters carry a variance that is itself uncertain, as it is for an audit.
    person = np.repeat(np.arange(20), N // 20)
    sums = np.bincount(person, (gain - gain.mean()) / N)
    assert accuracy(y, old, new, sex, clusters=person) == by_student(gain.mean(), sums)
    assert accuracy(y, old, old, sex) == by_student(0, np.zeros(N))


def test_weights_are_repeated_rows_and_copies_in_a_cluster_add_nothing(labels):
    y, sex, old, new = labels
    times = np.random.default_rng(0).integers(1, 4, N)
    repeated = accuracy(*(np.repeat(part, times) for part in (y, old, new, sex)))
    weighted = accuracy(y, old, new, sex, sample_weight=times)
    assert weighted == pytest.approx(repeated, abs=1e-12)
    four = [np.repeat(part, 4) for part in (y, old, new, sex)]
    right = (new == y) * 1.0 - (old == y)
    parts = (right - right.mean()) / N
    copies = accuracy(*four, clusters=np.repeat(np.arange(N), 4))
    assert copies == by_student(right.mean(), parts, 1 / N / 4)
    assert accuracy(*four) == by_student(right.mean(), np.repeat(parts / 4, 4), 1 / N / 4)
    # Fractional weights: each row is one, and counts so much.
    share = np.random.default_rng(1).gamma(2, size=N)
    share /= share.sum()
    value = share @ right
    found = accuracy(y, old, new, sex, sample_weight=share)
    assert found == by_student(value, share * (right - value), share.max())


def test_several_tasks_and_classes_and_groups_that_overlap(labels):
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, (N, 3))
    old, new = (np.where(rng.random((N, 3)) < share, 1 - y, y) for share in (0.1, 0.2))
    classes = rng.integers(0, 3, N)
    guesses = [np.where(rng.random(N) < share, classes, 0) for share in (0.7, 0.8)]
    both = np.column_stack([np.ones(N, int), rng.integers(0, 2, N)])
    for (label, before, after), groups, more in (
        ((y, old, new), labels[1], {}),
        ((classes, *guesses), labels[1], {}),
        ((y, old, new), both, {"groups": "indicator"}),
    ):
        hits = ((after == label) * 1.0 - (before == label)).reshape(N, -1).mean(axis=1)
        times = both.sum(axis=1) if more else np.ones(N)
        value = times @ hits / times.sum()
        found = accuracy(label, before, after, groups, **more)
        assert found == by_student(value, times * (hits - value) / times.sum())


def test_models_that_depart_as_far_for_other_groups_depart_neither_more_nor_less():
    verdicts = {"opposite": [], "alone": []}
    for seed in range(40):
        rng, n = np.random.default_rng(seed), 2000
        women, label = rng.random(n) < 0.5, rng.random(n) < 0.4
        one, other = (
            np.where(group & (rng.random(n) < 0.2), 0, label) for group in (women, ~women)
        )
        for name, models in (("opposite", (one, other)), ("alone", (label, other))):
            compared = DirectionalAuditor(reference="test").compare(
                label, dict(zip(("old", "new"), models, strict=True)), sensitive_features=women
            )
            verdicts[name].append(compared.verdicts["new"])
    assert verdicts["opposite"].count("no clear difference") >= 33
    assert verdicts["alone"].count("adds more") >= 36
