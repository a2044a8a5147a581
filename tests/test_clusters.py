"""Clusters: rows of one person, image or family are resampled together."""

import math

import numpy as np
import pandas as pd
import polars
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

import skbiasamp
from skbiasamp import Contingency, DirectionalAuditor, DPAAuditor, LeakageAuditor

# Internal: which rows of equal clusters are taken apart together; numbers hardly show it.
from skbiasamp.counts.cells import Clusters

COLUMNS = {"target": "hired", "prediction": "predicted", "sensitive": "sex", "cluster": "person"}


def families(n=300, seed=0, same=0.7):
    """Return rows of families of 1 to 4 people, who are alike in all that is measured."""
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(n), rng.integers(1, 5, size=n))
    kind = rng.random((n, 3))[person]
    own = rng.random((len(person), 3))
    mixed = np.where(rng.random((len(person), 3)) < same, kind, own)
    sex = np.where(mixed[:, 0] < 0.5, "f", "m")
    hired = (mixed[:, 1] < np.where(sex == "f", 0.6, 0.4)).astype(int)
    predicted = np.where(mixed[:, 2] < 0.25, (sex == "f").astype(int), hired)
    return pd.DataFrame({"sex": sex, "hired": hired, "predicted": predicted, "person": person})


def rows_of(frame):
    return (frame["hired"], frame["predicted"]), {"sensitive_features": frame["sex"]}


def few_families(seed, n_few, other=0.0):
    """Return rows of 60 families of women and a few of men; both predict at chance."""
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(60 + n_few), 20)
    sex = np.where(person < 60, "f", "m")
    likely = np.clip(0.4 + 0.3 * rng.normal(size=(2, 60 + n_few)), 0.02, 0.98)
    hired, predicted = (rng.random((2, len(person))) < likely[:, person]).astype(int)
    frame = pd.DataFrame({"sex": sex, "hired": hired, "predicted": predicted, "person": person})
    return frame.assign(challenger=np.where(rng.random(len(frame)) < other, 1, predicted))


def test_a_variance_that_few_clusters_carry_has_student_s_t():
    """By hand: n clusters carry it, the squared sum of squares over the sum of fourth powers."""
    frame = few_families(3, 5, other=0.3)
    women = frame["sex"] == "f"
    auditor = DirectionalAuditor()
    auditor.fit(women.astype(int), sensitive_features=frame["sex"])  # signs of no doubt
    how = {"sensitive_features": frame["sex"], "clusters": frame["person"]}
    models = {"champion": frame["predicted"], "challenger": frame["challenger"]}
    gap = auditor.compare(frame["hired"], models, **how).table.iloc[1]
    result = auditor.audit(frame["hired"], frame["predicted"], **how)

    def ends(change):
        # Women count in one direction and men in the other: half of both, in every pair.
        means = change.groupby(frame["sex"]).mean()
        n = frame["sex"].map(frame["sex"].value_counts())
        part = (change - frame["sex"].map(means)) / n / np.sqrt(1 - 1 / n) / 2
        squares = (part * np.where(women, 1, -1)).groupby(frame["person"]).sum() ** 2 * 65 / 64
        # Half a row gained and half a row lost in each pair.
        squares = np.append(squares, [(1 / n / 2)[i] ** 2 / 2 for i in (0, 0, 1299, 1299)])
        df = squares.sum() ** 2 / (squares**2).sum()
        assert df < 30
        middle = (means["f"] - means["m"]) / 2
        return stats.t(df, middle, squares.sum() ** 0.5).interval(0.95)

    first = ends(frame["predicted"] - frame["hired"])
    assert (result.low, result.high) == pytest.approx(first, rel=1e-9)
    second = ends(frame["challenger"] - frame["predicted"])
    assert tuple(gap[["difference_low", "difference_high"]]) == pytest.approx(second, rel=1e-9)


@pytest.mark.parametrize("auditor", [LeakageAuditor, DPAAuditor])
def test_attackers_need_thirty_rows(auditor):
    """Of 20 rows the folds decide: 16 to 20 % of audits of chance had a verdict."""
    rng = np.random.default_rng(0)
    sex, label = rng.choice(["f", "m"], 400), rng.integers(0, 2, 400)
    guess, weight = np.where(rng.random(400) < 0.9, label, 1 - label), np.full(400, 0.001)
    weight[:20] = 1.5
    auditor = auditor(n_draws=2, n_resamples=49, random_state=0)
    some = auditor.audit(label[:20], guess[:20], sensitive_features=sex[:20])
    heavy = auditor.audit(label, guess, sensitive_features=sex, sample_weight=weight)
    for result in (some, heavy):
        assert result.verdict == "not measured"
        assert "Attackers need at least 30 rows of similar weight" in result.sentence
    every = auditor.audit(label[:30], guess[:30], sensitive_features=sex[:30])
    assert every.verdict == "no clear effect"
    models = {"a": guess[:20], "b": label[:20]}
    gap = auditor.compare(label[:20], models, sensitive_features=sex[:20]).table.iloc[1]
    assert np.isnan(gap["difference_low"])


def counted(frame, **how):
    return Contingency.from_frame(frame, **COLUMNS, **how)


def test_clusters_are_counted_alike_everywhere():
    frame = families()
    cells = Contingency.from_labels(
        *rows_of(frame)[0], **rows_of(frame)[1], clusters=frame["person"]
    )
    assert cells.clusters.total == 300
    weights = frame.groupby(list(frame), as_index=False).size()
    others = {
        "frame": counted(frame),
        "shuffled": counted(frame.sample(frac=1, random_state=0)),
        "JSON": Contingency.from_json(cells.to_json()),
        "halves": sum(counted(frame[frame["person"] % 2 == i]) for i in range(2)),
        # A whole weight is so many rows of the cluster.
        "weights": counted(weights, weight="size"),
    }
    others["polars"] = counted(polars.from_pandas(frame).lazy())
    auditor = DirectionalAuditor(reference="test")
    expected = auditor.audit(cells)
    for name, other in others.items():
        assert cells == other, name
        found = auditor.audit(other)
        pd.testing.assert_frame_equal(found.table, expected.table, check_exact=True)
        assert (found.low, found.p_value) == (expected.low, expected.p_value)
    # A fraction of a row that all weigh alike has the errors of whole ones.
    half = {"clusters": frame["person"], "sample_weight": np.full(len(frame), 0.5)}
    error = auditor.audit(*rows_of(frame)[0], **rows_of(frame)[1], **half)
    assert error.statistics["standard_error"] == pytest.approx(
        expected.statistics["standard_error"], rel=1e-12
    )


ATTACKS = {
    "leakage": LeakageAuditor(),
    "DPA": DPAAuditor(),
    "closed": DPAAuditor(cv=None),
    "trained": LeakageAuditor(attacker=DecisionTreeClassifier(max_depth=2, random_state=0)),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_attackers_take_rows_that_are_repeated_for_one(name):
    """Intervals of equal rows are those of the rows once, and ordinary ones are too narrow."""
    auditor = clone(ATTACKS[name]).set_params(n_draws=8, n_resamples=200, random_state=0)
    once = families(n=300, same=0).drop_duplicates("person")
    four = once.loc[once.index.repeat(4)]
    width = {}
    for what, frame, ids in (("once", once, None), ("four", four, "person"), ("rows", four, None)):
        how = {"sensitive_features": frame["sex"], "clusters": None if ids is None else frame[ids]}
        result = auditor.audit(frame["hired"], frame["predicted"], **how)
        models = {"old": frame["predicted"], "new": frame["hired"]}
        ends = auditor.compare(frame["hired"], models, **how).judged("new")
        width[what] = np.array([result.high - result.low, ends[2] - ends[1]])
        width[what] = np.append(width[what], result.statistics["standard_error"])
    np.testing.assert_allclose(width["four"], width["once"], rtol=0.2)
    assert (width["rows"] < 0.75 * width["four"]).all()
    assert result.statistics.get("n_clusters") is None


def test_attackers_learn_nothing_from_the_clusters_that_they_are_scored_on():
    """Groups by a coin a person, with rows that name the person: nothing of it is left."""
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(120), 5)
    tasks = (person[:, None] >> np.arange(7) & 1).astype(int)
    group = rng.choice(["f", "m"], 120)[person]
    how = {"sensitive_features": group, "clusters": person}
    tree = DecisionTreeClassifier(random_state=0)
    auditor = LeakageAuditor(attacker=tree, equalize=None, random_state=0, interval=None)
    result = auditor.audit(tasks, tasks, **how)
    assert result.table["quality_data"].iloc[0] == pytest.approx(0.5, abs=0.12)
    del how["clusters"]
    assert auditor.audit(tasks, tasks, **how).table["quality_data"].iloc[0] > 0.95


def test_wide_labels_with_clusters_are_perturbed_row_by_row():
    frame = families(n=60)
    rng = np.random.default_rng(0)
    kinds = (rng.random((4, 14)) < 0.5).astype(int)
    tasks = kinds[rng.integers(0, 4, 60)][frame["person"]]
    predicted = tasks ^ (rng.random(tasks.shape) < 0.05)
    how = {"sensitive_features": frame["sex"].to_numpy(), "clusters": frame["person"].to_numpy()}
    auditor = LeakageAuditor(n_draws=4, n_resamples=99, random_state=0)
    result = auditor.audit(tasks, predicted, **how)
    rows = auditor.audit(tasks, predicted, **how | {"clusters": None})
    assert result.statistics["n_clusters"] == 60
    # Tasks and errors do not depend on the group, but rows of a person name it.
    assert result.low < 0 < result.high
    assert result.high - result.low > rows.high - rows.low
    # Two clusters with two rows of one kind and one of another, and one with a row.
    apart = Clusters(np.array([0, 0, 1]), np.array([2.0, 1.0])).apart(np.array([4.0, 2.0, 1.0]))
    assert apart.of.tolist() == [0, 0, 1, 1, 0, 1, 2]
    assert apart.n.tolist() == [1, 1, 1]


def test_runs_that_are_alike_are_no_surer_than_one_of_them():
    """Few clusters carry the variance of the rows, however many runs there are."""
    frame = families(12)
    labels, how = rows_of(frame)
    auditor = DirectionalAuditor()
    auditor.fit(families(500, 1)["hired"], sensitive_features=families(500, 1)["sex"])
    how |= {"clusters": frame["person"]}
    lone = auditor.audit(*labels, **how)
    runs = auditor.audit_runs(labels[0], [labels[1]] * 3, **how)
    models = {"old": labels[0][::-1].to_numpy(), "new": labels[1]}
    two = auditor.compare(labels[0], models, **how)
    several = {name: [model] * 2 for name, model in models.items()}
    trainings = auditor.compare(labels[0], several, **how)
    names = ["difference_low", "difference_high"]
    gaps = [np.ptp(each.table[names].to_numpy()[1]) for each in (two, trainings)]
    for lone_width, width in ((lone.high - lone.low, runs.high - runs.low), gaps):
        assert width == pytest.approx(lone_width)


def test_a_report_of_few_clusters_measures_all_but_attackers():
    """Five folds cannot be cut, and nobody asked for five."""
    rows = families(20)
    labels, how = rows_of(rows)
    report = skbiasamp.audit(*labels, **how, clusters=rows["person"] * 3 // 20, random_state=0)
    assert report["directional A->T"].verdict != "not measured"
    assert report["leakage"].verdict == "not measured"


@pytest.mark.parametrize("trained", [False, True])
def test_one_cluster_shows_nothing_of_others(trained):
    rng = np.random.default_rng(0)
    sex, labels, predicted = rng.choice(["f", "m"], 200), *rng.integers(2, size=(2, 200))
    how = {"sensitive_features": sex, "clusters": np.zeros(200)}
    auditor = DirectionalAuditor(reference="test")
    if trained:
        auditor = DirectionalAuditor().fit(labels, sensitive_features=sex)
    result = auditor.audit(labels, predicted, **how)
    assert np.isnan([result.low, result.high, result.p_value]).all()
    assert math.isnan(result.value) != trained  # how sure the audited labels are is not known
    assert result.verdict == "not measured"
    assert "All rows are of one cluster" in result.sentence


def test_few_clusters_have_few_degrees_of_freedom_and_add_no_difference_by_chance():
    """Errors are shared by clusters, and by chance of another size in each group."""
    n_added = 0
    for seed in range(120):
        rng, cluster = np.random.default_rng(seed), np.repeat(np.arange(3), 40)
        group, label, u = rng.integers(0, 2, 120), rng.random(120) < 0.5, rng.random(120)
        error = rng.normal(0, 0.3, (3, 2))[cluster, group]
        predicted = np.where(u < abs(error), error > 0, label)
        result = DirectionalAuditor(reference="test").audit(
            label, predicted, sensitive_features=group, clusters=cluster
        )
        assert result.statistics["degrees_of_freedom"] <= 2
        n_added += result.verdict != "no clear effect"
        if result.verdict == "adds a difference" and result.low <= 0 <= result.high:
            table = result.table
            assert ((table["low_simultaneous"] > 0) | (table["high_simultaneous"] < 0)).any()
    assert n_added <= 11  # so many of 120 at 5 % with a probability of 97 %
