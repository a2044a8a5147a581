"""Intervals that hold for all pairs at once, and the number of rows an audit needs."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from by_hand import METRICS, audit, world
from scipy import stats

import skbiasamp
from skbiasamp import Contingency, DirectionalAuditor, LeakageAuditor, MALSAuditor
from skbiasamp.cli import main
from skbiasamp.inference import required_rows
from skbiasamp.metrics import MultiAttributeAuditor

ENDS = ["low_simultaneous", "high_simultaneous"]


def rows(n=800, n_tasks=4, seed=0):
    """Return groups, labels and predictions that change a tenth of the labels."""
    rng = np.random.default_rng(seed)
    group = rng.choice(["f", "m"], n)
    share = np.where(group == "f", 0.4, 0.6)[:, None]
    labels = (rng.random((n, n_tasks)) < share).astype(int)
    change = rng.random(labels.shape) < 0.1
    guesses = np.where(change, rng.random(labels.shape) < share, labels)
    return group, labels, guesses.astype(int)


def test_all_pairs_at_once_are_the_largest_deviation_of_the_resamples():
    """By hand, with the resamples that the contingency itself draws."""
    group, labels, guesses = rows(4_000)
    cells = Contingency.from_labels(labels, guesses, sensitive_features=group)
    auditor = DirectionalAuditor(reference="test")
    table = auditor.audit(cells).table
    drawn = cells.resample(999, random_state=1)
    moved = drawn.rate("task_pred", given="group") - drawn.rate("task", given="group")
    error = moved.std(axis=0, ddof=1)
    largest = (np.abs(moved - moved.mean(axis=0)) / error).max(axis=(1, 2))
    # Other resamples than the auditor's: a quantile of 999 has an error of its own.
    half = (table[ENDS[1]] - table[ENDS[0]]).to_numpy() / 2
    np.testing.assert_allclose(half, np.quantile(largest, 0.95) * error.ravel(), rtol=0.15)
    np.testing.assert_allclose(table[ENDS].mean(axis=1), table["amplification"], atol=1e-12)
    # Bonferroni's bound is the widest that it can be.
    assert (half < 1.1 * stats.norm.isf(0.025 / 8) * error.ravel()).all()
    assert (half > stats.norm.isf(0.025) * error.ravel()).all()


def shares(n, rng):
    """Return four groups, and labels of 15 tasks that do not depend on them."""
    group, labels = rng.integers(0, 4, n), (rng.random((n, 15)) < 0.4).astype(int)
    return group, labels, np.where(rng.random(labels.shape) < 0.2, 1 - labels, labels)


def test_pairs_that_labels_left_out_were_candidates():
    """What MALS counts of 60 pairs is chosen by the noise that their changes share."""
    group, labels, guesses = shares(4_000, np.random.default_rng(0))
    auditor = MALSAuditor(reference="test")
    table = auditor.audit(labels, guesses, sensitive_features=group).table
    counts = table["sign"] == 1
    assert 20 < counts.sum() < 40
    width, whole = ((table[high] - table[low])[counts] for low, high in (("low", "high"), ENDS))
    # Of 60 independent pairs 3.34 standard errors, of 30 of them 3.14, of one 1.96.
    assert (whole / width).mean() * 1.96 > 3.2
    # Holm: the smallest p-value times the number of pairs.
    guesses[(group == 0) & (np.arange(4_000) % 8 == 0)] = 1
    auditor.set_params(interval="analytic", simultaneous=False)
    table = auditor.audit(labels, guesses, sensitive_features=group).table
    least = table["p_value"].idxmin()
    assert table["p_adjusted"][least] == pytest.approx(60 * table["p_value"][least])
    assert table["p_adjusted"].isna().equals(table["p_value"].isna())


def test_of_two_groups_each_task_counts_one():
    """Shares of two groups are one number seen from both sides."""
    group, labels, guesses = shares(4_000, np.random.default_rng(0))
    auditor = MALSAuditor(reference="test")
    table = auditor.audit(labels, guesses, sensitive_features=group % 2).table
    least = table["p_value"].idxmin()
    assert table["p_adjusted"][least] == pytest.approx(15 * table["p_value"][least])


def test_two_pairs_at_once_are_hardly_wider_than_one():
    group, labels, guesses = rows(3_000, 1)
    auditor = DirectionalAuditor(reference="test")
    table = auditor.audit(labels[:, 0], guesses[:, 0], sensitive_features=group).table
    widths = (table["high"] - table["low"], table[ENDS[1]] - table[ENDS[0]])
    assert (widths[1] > widths[0]).all()
    # Of two independent pairs 2.24 standard errors, of one 1.96.
    assert (widths[1] < 1.25 * widths[0]).all()


@pytest.mark.filterwarnings("ignore::skbiasamp.inference.UncertaintyWarning")
def test_pairs_of_few_changes_stay_as_wide_as_exact_bounds():
    """No row of 50 changes: 1 − (α/2)^(1/50) is not ruled out, and α is smaller for all."""
    labels = [1] * 30 + [0] * 20 + [1] * 20 + [0] * 30
    auditor = DirectionalAuditor(reference="test")
    table = auditor.audit(labels, labels, sensitive_features=["f"] * 50 + ["m"] * 50).table
    assert (table[ENDS[1]] >= 1 - 0.025 ** (1 / 50) - 1e-12).all()
    assert (table[ENDS[0]] <= table["low"]).all()


@pytest.mark.filterwarnings("ignore::skbiasamp.inference.UncertaintyWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize("reference", ["test", "train"])
@pytest.mark.parametrize("name", METRICS)
def test_intervals_of_all_pairs_contain_those_of_single_pairs(name, reference):
    """Also where the end of a single pair is that of an exact test."""
    auditor = METRICS[name](reference=reference, simultaneous=True, n_resamples=59, random_state=0)
    for seed in range(25):
        data = world(n=60 + 4 * seed, n_train=200, seed=seed)
        table = audit(auditor, data).table
        known = table[["low", *ENDS]].notna().all(axis=1)
        assert known.any()
        assert (table[ENDS[0]] <= table["low"])[known].all()
        assert (table[ENDS[1]] >= table["high"])[known].all()


@pytest.mark.filterwarnings("ignore::skbiasamp.inference.UncertaintyWarning")
def test_intervals_of_all_pairs_count_the_error_of_training_rates():
    group, labels, guesses = rows(2_000, 5)
    train_group, train, _ = rows(500, 5, 1)
    ends = []
    for known in (False, True):
        auditor = DirectionalAuditor(base="train")
        auditor.fit(train, sensitive_features=train_group, reference_is_sample=not known)
        table = auditor.audit(labels, guesses, sensitive_features=group).table
        distances = [table["amplification"] - table[end] for end in ("low", ENDS[0])]
        ends.append(np.array(distances) ** 2)
    more = ends[0] - ends[1]
    rates = pd.DataFrame(train).groupby(train_group).mean()
    error = (
        rates * (1 - rates) / pd.Series(train_group).value_counts().sort_index().to_numpy()[:, None]
    )
    np.testing.assert_allclose(more[0], stats.norm.isf(0.025) ** 2 * error.to_numpy().ravel())
    times = np.sqrt(more[1] / error.to_numpy().ravel())
    np.testing.assert_allclose(times, times[0])
    assert stats.norm.isf(0.025) < times[0] < stats.norm.isf(0.025 / 10) * 1.1


@pytest.mark.filterwarnings("ignore::skbiasamp.inference.UncertaintyWarning")
@pytest.mark.parametrize("interval", ["analytic", "bootstrap"])
def test_the_interval_of_a_size_does_not_reach_below_0(interval):
    auditor = MultiAttributeAuditor("A->T", combinations="all", max_size=1, interval=interval)
    lowest = []
    for seed in range(20):
        group, labels, guesses = rows(300, 2, seed)
        auditor.fit(labels, sensitive_features=group)
        result = auditor.audit(labels, guesses, sensitive_features=group)
        lowest.append(result.statistics["value_low"])
        assert lowest[-1] <= result.value <= result.statistics["value_high"]
    assert min(lowest) >= 0
    assert interval == "bootstrap" or 0 in lowest


def test_the_worst_of_nothing_is_not_found():
    """Of 40 pairs without an effect, an ordinary interval is above 0 in most data sets."""
    found = {"ordinary": 0, "worst": 0}
    for seed in range(40):
        group, labels, guesses = rows(1_500, 20, seed)
        auditor = DirectionalAuditor(reference="test")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = auditor.audit(labels, guesses, sensitive_features=group)
        found["ordinary"] += (result.table["low"] > 0).any()
        found["worst"] += result.worst()["low"] > 0
    assert found["ordinary"] > 12
    assert found["worst"] <= 6


def test_worst_names_the_pair_and_covers_the_largest():
    group, labels, guesses = rows(4_000, 3)
    planted = (group == "f") & (labels[:, 1] == 1)
    guesses[planted, 1] = 0
    auditor = DirectionalAuditor(reference="test")
    worst = auditor.audit(labels, guesses, sensitive_features=group).worst()
    assert (worst["group"], worst["task"]) == ("f", 1)
    assert 0 < worst["low"] < worst["amplification"] < worst["high"]
    assert worst["n_above"] == 1


def test_the_interval_of_the_worst_is_that_of_the_largest_of_all_pairs():
    """Of two pairs that amplify, that of few rows is smaller and reaches further."""
    n, hired = {"a": 2_000, "b": 2_000, "c": 40}, {"a": 0.3, "b": 0.6, "c": 0.7}
    predicted = {"a": 0.3, "b": 0.8, "c": 0.875}
    group = np.repeat(list(n), list(n.values()))
    labels, guesses = (
        np.concatenate([np.arange(n[one]) < round(share[one] * n[one]) for one in n]).astype(int)
        for share in (hired, predicted)
    )
    auditor = DirectionalAuditor(reference="test")
    result = auditor.audit(labels, guesses, sensitive_features=group)
    table = result.table.set_index("group")
    assert table.loc["c", ENDS[1]] > table.loc["b", ENDS[1]] + 0.05
    assert table.loc["b", "amplification"] == pytest.approx(0.2)
    assert table.loc["c", "amplification"] == pytest.approx(0.175)
    worst = result.worst()
    assert worst["group"] == "b"
    assert worst["high"] == table.loc["c", ENDS[1]]
    assert worst["low"] == table.loc["b", ENDS[0]]
    assert worst["n_above"] == (table[ENDS[0]] > 0).sum()


@pytest.mark.filterwarnings("ignore::skbiasamp.inference.UncertaintyWarning")
def test_sizes_have_no_sign():
    group, labels, guesses = rows()
    auditor = MultiAttributeAuditor(reference="test")
    table = auditor.audit(labels, guesses, sensitive_features=group).table
    assert (table[ENDS[0]] >= 0).all()
    assert (table[ENDS[0]] <= table["amplification"]).all()
    assert (table["amplification"] <= table[ENDS[1]]).all()


def test_what_cannot_be_simultaneous_says_so():
    group, labels, guesses = rows()
    how = {"sensitive_features": group}
    with pytest.raises(ValueError, match="simultaneous=True needs interval='bootstrap'"):
        DirectionalAuditor(reference="test").audit(labels, guesses, **how)
    with pytest.raises(ValueError, match="one model's pairs"):
        MALSAuditor(reference="test").compare(labels, {"one": guesses, "two": labels}, **how)
    for auditor in (DirectionalAuditor(reference="test"), LeakageAuditor(n_draws=2)):
        result = auditor.audit(labels[:, 0], guesses[:, 0], **how)
        with pytest.raises(ValueError, match="audit with simultaneous=True"):
            result.worst()


def test_reports_mark_pairs_and_the_gate_checks_the_worst(tmp_path, capsys):
    pytest.importorskip("jinja2")
    group, labels, guesses = rows(4_000, 1)
    guesses[(group == "f") & (np.arange(4_000) % 3 == 0)] = 0
    report = skbiasamp.audit(labels[:, 0], guesses[:, 0], sensitive_features=group, random_state=0)
    result = report["directional A->T"]
    page = report.to_html()
    assert "also clear if all pairs are judged together" in page
    frame = pd.DataFrame({"sex": group, "hired": labels[:, 0], "guess": guesses[:, 0]})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    call = ["audit", str(tmp_path / "rows.csv"), "--target", "hired", "--prediction", "guess"]
    call += ["--sensitive", "sex", "--on", "worst", "--fail-above"]
    worst = result.worst()
    assert main([*call, f"{worst['low'] - 0.01:.4f}"]) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "worst pair of directional A->T (sex = f, 1)" in said
    assert main([*call, f"{(worst['low'] + worst['high']) / 2:.4f}"]) == 3
    assert main([*call, f"{worst['high'] + 0.01:.4f}"]) == 0
    gate = report.gate(worst["high"] + 0.01, on="worst")
    assert gate.outcome == "passed"


# --------------------------------------------------------------------------- rows needed


@pytest.mark.parametrize(
    ("effect", "changed", "shares"), [(0.05, 0.2, (0.5, 0.5)), (0.06, 0.1, (0.8, 0.2))]
)
def test_an_audit_of_the_required_rows_finds_the_effect(effect, changed, shares):
    n, found, n_data = required_rows(effect, changed=changed, groups=shares), 0, 200
    rng = np.random.default_rng(0)
    auditor = DirectionalAuditor()
    auditor.fit([1, 1, 0, 1, 0, 0], sensitive_features=list("aaabbb"))
    for _ in range(n_data):
        group = rng.choice(2, size=n, p=shares)
        label = (rng.random(n) < 0.5).astype(int)
        sign = np.where(group == 0, 1, -1)
        change = rng.random(n) < changed + np.where(label == 1, -1, 1) * sign * effect
        result = auditor.audit(
            label, label ^ change, sensitive_features=np.array(["a", "b"])[group]
        )
        found += result.verdict == "amplifies"
    assert abs(found / n_data - 0.8) < 3.5 * (0.8 * 0.2 / n_data) ** 0.5


def test_ends_of_resamples_that_are_too_short_require_no_fewer_rows():
    rng = np.random.default_rng(0)
    sex, labels = rng.integers(2, size=(2, 1_000))
    guesses = np.where(rng.random(1_000) < 0.2, 1 - labels, labels)
    auditor = DirectionalAuditor(reference="test")
    result = auditor.audit(labels, guesses, sensitive_features=sex)
    wanted = required_rows(0.02, result=result)
    error = result.statistics["standard_error"]
    z = stats.norm.isf(0.025) + stats.norm.ppf(0.8)
    assert wanted == pytest.approx(1_000 * (z * error / 0.02) ** 2, abs=1)
    middle = (result.low + result.high) / 2
    short = replace(result, low=(result.low + middle) / 2, high=(result.high + middle) / 2)
    assert required_rows(0.02, result=short) == wanted


def test_required_rows_and_the_smallest_effect_are_each_others_reverse():
    group, labels, guesses = rows(1_000, 1)
    result = DirectionalAuditor(reference="test").audit(
        labels[:, 0], guesses[:, 0], sensitive_features=group
    )
    least = result.smallest_effect()
    error = result.statistics["standard_error"]
    assert least == pytest.approx((stats.norm.isf(0.025) + stats.norm.ppf(0.8)) * error, rel=1e-9)
    assert required_rows(least * (1 + 1e-9), result=result) == 1_000
    assert required_rows(least / 2, result=result) == pytest.approx(4_000, abs=1)
    assert result.smallest_effect(0.5) < least < result.smallest_effect(0.95)
    assert required_rows(0.02, 0.9, changed=0.2) > required_rows(0.02, changed=0.2)


@pytest.mark.parametrize(
    ("how", "text"),
    [
        ({"effect": 0.0, "changed": 0.2}, "effect must be a positive number"),
        ({"effect": 0.1, "changed": 0.05}, "changed must be a share"),
        ({"effect": 0.1}, "either changed, or the result"),
        ({"effect": 0.1, "changed": 0.2, "power": 1.0}, "power must be a number between 0 and 1"),
        (
            {"effect": 0.1, "changed": 0.2, "confidence_level": 10**400},
            "confidence_level must be a number between 0 and 1",
        ),
        ({"effect": 0.1, "changed": 0.2, "groups": (0.5, 0.4)}, "groups must be positive shares"),
    ],
)
def test_bad_plans_are_refused_by_name(how, text):
    with pytest.raises(ValueError, match=text):
        required_rows(**how)


def test_no_clear_effect_says_what_it_could_have_found():
    group, labels, _ = rows(300, 1)
    guesses = np.random.default_rng(1).permutation(labels[:, 0])
    report = skbiasamp.audit(labels[:, 0], guesses, sensitive_features=group, random_state=0)
    result = report[report.primary]
    if result.verdict == "no clear effect":
        assert f"an amplification of {result.smallest_effect():.4f} or more" in report.to_html()


@pytest.mark.parametrize("interval", ["bootstrap", "analytic"])
def test_no_rate_changes_by_more_than_all_rows(interval):
    """Of few rows, quantiles of a normal distribution reach further."""
    group = ["f"] * 12 + ["m"] * 8 + ["x"] * 3
    labels = [0] * 9 + [1] * 9 + [0, 1, 0, 1, 0]
    auditor = DirectionalAuditor(reference="test", interval=interval)
    table = auditor.audit(labels, [1 - label for label in labels], sensitive_features=group).table
    ends = table[[name for name in ("low", "high", *ENDS) if name in table]]
    assert ends.abs().to_numpy().max() == 1


def test_rates_of_few_rows_have_students_t():
    """If no pair has 30 rows, all of them count, and know their own variance badly."""
    rng = np.random.default_rng(0)
    group, train = np.repeat(["f", "m"], 20), np.repeat(["f", "m"], 1_000)
    labels, guesses = rng.integers(0, 2, (2, 40))
    auditor = DirectionalAuditor().fit(
        np.arange(2_000) % 5 < 2 + (train == "m"), sensitive_features=train
    )
    result = auditor.audit(labels == 1, guesses == 1, sensitive_features=group)
    reach = stats.t.isf(0.025, 19) * result.statistics["standard_error"]
    assert result.high - result.estimate == pytest.approx(reach)
    assert result.estimate - result.low == pytest.approx(reach)
