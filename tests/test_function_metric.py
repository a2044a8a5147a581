"""Metrics of a user's own: fifteen lines, or a plain function, get what the package's have."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from pandas.testing import assert_frame_equal
from scipy import stats
from sklearn.base import clone
from sklearn.metrics import recall_score

import skbiasamp
from skbiasamp import DirectionalAuditor, LeakageAuditor
from skbiasamp.metrics import AttackAuditor, CooccurrenceAuditor, FunctionAuditor, Pairs, associate


def rates(y_true, y_pred, group):
    return {name: (y_pred - y_true)[group == name].mean() for name in ("f", "m")}


def rise(y_true, y_pred, group):
    return (y_pred - y_true).mean()


def gap(y_true, y_pred, group):
    moved = y_pred - y_true
    return moved[group == "m"].mean() - moved[group == "f"].mean()


def world(n, seed=0, rise=0.1):
    rng = np.random.default_rng(seed)
    group = np.where(rng.random(n) < 0.5, "f", "m")
    label = (rng.random(n) < 0.4).astype(int)
    changed = rng.random(n) < rise * (group == "m")
    return label, np.where(changed, 1, label), group


def test_the_jackknife_of_a_mean_is_student_s_t():
    label, predicted, group = world(300)
    result = FunctionAuditor(rise, percent=True).audit(label, predicted, sensitive_features=group)
    moved = predicted - label
    assert result.value == pytest.approx(moved.mean())
    assert result.statistics["standard_error"] == pytest.approx(stats.sem(moved))
    # Degrees of freedom: by the fourth powers of what rows add.
    away = (moved - moved.mean()) ** 2
    df = away.sum() ** 2 / (away**2).sum()
    reach = stats.t.ppf(0.975, df) * stats.sem(moved)
    assert_allclose([result.low, result.high], [moved.mean() - reach, moved.mean() + reach])
    assert (result.p_value < 0.05) == (result.low > 0)
    assert result.percent
    # Clusters are left out whole: of three copies of each row, nothing is known but the row.
    label, predicted, group, ids = (
        np.tile(side, 3) for side in (label, predicted, group, np.arange(300))
    )
    how = {"sensitive_features": group, "clusters": ids}
    thrice = FunctionAuditor(rise, percent=True).audit(label, predicted, **how)
    assert_allclose([thrice.low, thrice.high], [result.low, result.high])


def test_names_of_a_mapping_are_rows_of_the_table_and_their_mean_is_the_value():
    label, predicted, group = world(400)
    auditor = FunctionAuditor(rates, percent=False)
    result = auditor.audit(label, predicted, sensitive_features=group)
    moved = predicted - label
    each = [moved[group == name].mean() for name in "fm"]
    assert result.table["group"].tolist() == ["f", "m"]
    assert_allclose(result.table["amplification"], each)
    assert result.value == pytest.approx(np.mean(each))
    half = result.statistics["standard_error"] * stats.t.ppf(
        0.975, result.statistics["degrees_of_freedom"]
    )
    assert_allclose([result.low, result.high], [result.value - half, result.value + half])
    assert auditor.score(label, predicted, sensitive_features=group) == result.value
    assert not result.percent


def test_many_rows_are_left_out_in_blocks_and_the_error_stays_about_the_same():
    label, predicted, group = world(5000)
    result = FunctionAuditor(gap, percent=True).audit(label, predicted, sensitive_features=group)
    moved = predicted - label
    variance = sum(stats.sem(moved[group == name]) ** 2 for name in "fm")
    # 500 blocks: the standard error of a standard error is 1 in 32.
    assert result.statistics["standard_error"] == pytest.approx(np.sqrt(variance), rel=0.13)


def test_what_cannot_be_measured_has_no_interval():
    label, predicted, group = world(50)
    auditor = FunctionAuditor(gap, percent=True)
    how = {"sensitive_features": group}
    alone = FunctionAuditor(gap, percent=True, interval=None).audit(label, predicted, **how)
    of_one = auditor.audit(label, predicted, **how, clusters=np.zeros(50, int))
    for result in (alone, of_one):
        assert result.value == pytest.approx(gap(label, predicted, group))
        assert np.isnan([result.low, result.high, result.p_value]).all()
        assert result.verdict == "not measured"
    # Without its only row a group has no mean.
    group[:] = "f"
    group[0] = "m"
    with pytest.warns(RuntimeWarning):
        result = auditor.audit(label, predicted, **how)
    assert np.isnan(result.low)


def false_positives(y_true, y_pred, group):
    return {name: y_pred[(group == name) & (y_true == 0)].mean() for name in ("f", "m")}


def rise_of_runs(n=300, n_runs=4):
    label, predicted, group = world(n)
    rng = np.random.default_rng(5)
    runs = [np.where(rng.random(n) < 0.1, 1 - predicted, predicted) for _ in range(n_runs)]
    return label, group, runs


def test_a_rate_of_each_group_over_runs_has_the_interval_of_the_papers():
    label, group, runs = rise_of_runs()
    auditor = FunctionAuditor(false_positives, percent=True)
    result = auditor.audit_runs(label, runs, sensitive_features=group, method="runs")
    rates = np.array([[*false_positives(label, run, group).values()] for run in runs])
    low, high = stats.t.interval(0.95, 3, rates.mean(axis=0), stats.sem(rates))
    assert result.table["group"].tolist() == ["f", "m"]
    assert_allclose(result.table["amplification"], rates.mean(axis=0))
    assert_allclose(result.table[["low", "high"]], np.c_[low, high])
    of_mean = stats.t.interval(0.95, 3, rates.mean(), stats.sem(rates.mean(axis=1)))
    assert_allclose([result.low, result.high], of_mean)


def test_what_runs_share_is_their_covariance_over_rows():
    """And a row that is the only one has the interval of the value; runs may be of scores."""
    label, group, runs = rise_of_runs()
    scores = [0.4 * run + 0.6 * np.random.default_rng(0).random(len(run)) for run in runs]

    def named(y_true, y_score, group):
        return {"all rows": (y_score - y_true).mean()}

    auditor = FunctionAuditor(named, percent=False)
    result = auditor.audit_runs(label, scores, sensitive_features=group)
    covariance = np.cov(np.array(scores) - label) / len(label)
    shared = covariance[~np.eye(4, dtype=bool)].mean()
    assert result.statistics["data_standard_error"] == pytest.approx(np.sqrt(shared))
    (row,) = result.table[["amplification", "low", "high", "p_value"]].to_numpy()
    assert_allclose(row, [result.value, result.low, result.high, result.p_value])


def test_models_are_compared_row_by_row():
    label, group, (old, new, *_) = rise_of_runs()
    auditor = FunctionAuditor(rise, percent=True)
    models = {"old": old, "new": new}
    row = auditor.compare(label, models, sensitive_features=group).table.iloc[1]
    moved = new - old
    assert row["difference"] == pytest.approx(moved.mean())
    away = (moved - moved.mean()) ** 2
    df = away.sum() ** 2 / (away**2).sum()
    ends = stats.t.interval(0.95, df, moved.mean(), stats.sem(moved))
    assert_allclose([row["difference_low"], row["difference_high"]], ends)
    # Each of several numbers is compared as it is alone.
    given = {"sensitive_features": group}
    pairs = FunctionAuditor(rates, percent=True).compare(label, models, **given).pairs
    for at, name in enumerate("fm"):
        alone = FunctionAuditor(lambda *rows, name=name: rates(*rows)[name], percent=True)
        row = alone.compare(label, models, **given).table.iloc[1]
        own = row[["difference", "difference_low", "difference_high", "p_value"]].tolist()
        assert_allclose(pairs.loc[at, ["difference", "low", "high", "p_value"]].tolist(), own)


# --------------------------------------------------------------------------- a class


class RateAuditor(CooccurrenceAuditor):
    """Audit how far each group's rate moves in the direction of its training correlation."""

    metric = "moved rates"
    percent = True
    question = "Do groups that have the label more often in training get it still more often?"
    centre = False

    def measure(self, train, test):
        return Pairs(
            test.groups,
            test.tasks,
            labelled=associate(test, "task", given="group", centre=self.centre),
            predicted=associate(test, "task_pred", given="group", centre=self.centre),
            reference=associate(train, "task", given="group"),
        )


class OwnDirectionalAuditor(RateAuditor):
    """The package's BiasAmp→, written as a user would."""

    metric = "own"
    centre = True


def test_a_metric_that_does_not_say_its_unit_is_refused():
    body = {"metric": "mute", "measure": lambda self, train, test: None}
    with pytest.raises(TypeError, match="Mute must declare percent: True if it compares"):
        type("Mute", (CooccurrenceAuditor,), body)


def own_world(n=400, n_tasks=1, seed=0):
    """Return training labels, and audited rows in which group 0 has more false positives."""
    rng = np.random.default_rng(seed)
    known_group, group = rng.integers(0, 3, 2 * n), rng.integers(0, 3, n)
    known, task = (
        (rng.random((len(g), n_tasks)) < 0.6 - 0.15 * ((g[:, None] + range(n_tasks)) % 3)).astype(
            int
        )
        for g in (known_group, group)
    )
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
    train, rows = own_world() if data is None else data
    return auditor.fit(**train).audit(**rows, **more)


def test_value_and_table_are_those_of_plain_numpy():
    for n_tasks in (1, 3):
        train, rows = data = own_world(n_tasks=n_tasks)
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
    train, rows = own_world()
    weighted = RateAuditor(interval=None).fit(**train).score(**rows, sample_weight=weight)
    assert weighted == pytest.approx(plain(train, rows, weight)[2], abs=1e-12)


def test_its_interval_and_p_value_are_those_of_student_s_t():
    """Each row adds to the rate of its group; half a row gained and lost stands for unseen ones."""
    train, rows = data = own_world(n=150, seed=8)
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
    assert result.p_value == pytest.approx(2 * stats.t.sf(abs(value) / np.sqrt(variance), df))
    assert 0.001 < result.p_value < 0.05
    assert (result.table["p_adjusted"] >= result.table["p_value"]).all()


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


def recall_of_first(y_true, y_pred, sample_weight=None):
    return recall_score(y_true, y_pred, pos_label=0, sample_weight=sample_weight, zero_division=0)


class ExposureAuditor(AttackAuditor):
    """Audit exposure: how much more often predictions give away members of the first group."""

    metric = "exposure"
    question = "Do the predictions give away members of the first group?"
    rank = 2

    def _attacks(self):
        return ("task", "group"), ("task_pred", "group")

    def _amplification(self, data, model):
        return np.log2((0.5 + model) / (0.5 + data))


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    sex, cooks = rng.choice(["f", "m"], 600), rng.integers(2, size=600)
    predicted = np.where(rng.random(600) < 0.5, sex == "f", cooks).astype(int)
    return {"y_true": cooks, "y_pred": predicted, "sensitive_features": sex}


@pytest.fixture(scope="module")
def exposure():
    return ExposureAuditor(quality=recall_of_first, equalize=None, n_resamples=29, random_state=0)


def test_the_value_is_the_formula_of_recalls_counted_by_hand(exposure, people):
    exact = clone(exposure).set_params(cv=None, attacker="exact", interval=None)
    women, recalls = people["sensitive_features"] == "f", []
    for side in ("y_true", "y_pred"):
        shares = [(women[people[side] == label]).mean() for label in (0, 1)]
        recalls.append((np.array(shares)[people[side]] > 0.5)[women].mean())
    expected = np.log2((0.5 + recalls[1]) / (0.5 + recalls[0]))
    assert exact.score(**people) == pytest.approx(expected, abs=1e-12)
    report = skbiasamp.audit(**people, auditor=[exposure, LeakageAuditor(n_resamples=19)])
    assert list(report) == ["exposure", "leakage"]
    result = report["exposure"]
    assert result.low < result.value == result.table["amplification"].item() < result.high
    assert (0 < result.p_value <= 1, result.kind) == (True, "attack")
