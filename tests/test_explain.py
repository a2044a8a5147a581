"""Parts of a value: they sum to it, and equal what is known."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from document_parts import table_of
from numpy.testing import assert_allclose
from scipy import stats

import skbiasamp
from skbiasamp import Contingency, DirectionalAuditor, MALSAuditor
from skbiasamp.plotting import WaterfallDisplay

EXACT = 1e-12
DATA = Path(os.environ.get("SKBIASAMP_DATA", "/nowhere"))


def sample(n=600, *, groups=2, seed=0, push=0.5):
    """Return labels, decisions, scores, groups and strata: the scores follow groups by `push`."""
    rng = np.random.default_rng(seed)
    group = rng.integers(groups, size=n)
    stratum = (rng.random(n) < 0.3 + 0.4 * group / max(groups - 1, 1)).astype(int)
    chance = 0.3 + 0.15 * group / max(groups - 1, 1) + 0.2 * stratum
    label = (rng.random(n) < chance).astype(int)
    noise = rng.normal(0, 0.15, n)
    score = np.clip(chance + push * 0.3 * (group / max(groups - 1, 1) - 0.5) + noise, 0, 1)
    frame = {
        "label": label,
        "decision": (score > 0.5).astype(int),
        "score": score,
        "sex": np.array(list("abcdef"))[group],
        "dept": np.array(["law", "art"])[stratum],
    }
    return pd.DataFrame(frame)


def explained(rows, **more):
    given = {"sensitive_features": rows["sex"], "y_score": rows["score"], "given": rows["dept"]}
    return skbiasamp.explain(rows["label"], rows["decision"], **given | more)


def assert_sums(explanation, value):
    assert explanation.value == pytest.approx(value, abs=EXACT)
    published = explanation.audit.published
    sums = {"change": published, "decision": value, "strata": value}
    for name, whole in sums.items():
        table = explanation.tables[name]
        assert table["value"].sum() == pytest.approx(whole, abs=EXACT), name
    assert explanation.change["value"][0] == pytest.approx(value, abs=EXACT)
    assert explanation.change_by_task["value"].sum() == pytest.approx(published, abs=EXACT)
    by_task = explanation.change_by_task.groupby("part")["value"].sum()
    for part, own in explanation.change.set_index("part")["value"].items():
        assert by_task[part] == pytest.approx(own, abs=EXACT)
    for table in explanation.tables.values():
        known = table.dropna(subset=["low", "high"])
        assert (known["low"] <= known["value"]).all()
        assert (known["high"] >= known["value"]).all()


# --------------------------------------------------------------------------- sums


@pytest.mark.parametrize("groups", [2, 4])
@pytest.mark.parametrize("option", ["plain", "weights", "fractions", "clusters", "train"])
def test_parts_sum_to_the_value_of_the_audit(option, groups):
    rows = sample(groups=groups)
    rng = np.random.default_rng(1)
    more = {
        "weights": {"sample_weight": rng.integers(1, 4, len(rows))},
        "fractions": {"sample_weight": rng.random(len(rows)) + 0.5},
        "clusters": {"clusters": np.arange(len(rows)) // 3},
    }.get(option, {})
    auditor = DirectionalAuditor(reference="test")
    if option == "train":
        train = sample(groups=groups, seed=9)
        more = {"y_train": train["label"], "sensitive_train": train["sex"]}
        auditor = DirectionalAuditor().fit(train["label"], sensitive_features=train["sex"])
    of_rows = {name: more[name] for name in ("sample_weight", "clusters") if name in more}
    audit = auditor.audit(
        rows["label"], rows["decision"], sensitive_features=rows["sex"], **of_rows
    )
    assert_sums(explained(rows, **more), audit.value)


def test_several_tasks_and_strata_of_two_columns():
    rng = np.random.default_rng(0)
    n = 800
    group, year = rng.integers(3, size=n), rng.integers(2, size=n)
    rates = np.array([[0.2, 0.4, 0.6, 0.5], [0.5, 0.4, 0.2, 0.5], [0.3, 0.3, 0.3, 0.5]])
    score = np.clip(rates[group] + rng.normal(0, 0.2, (n, 4)), 0, 1)
    label = (rng.random((n, 4)) < rates[group]).astype(int)
    decision = (score > 0.45).astype(int)
    how = {"y_score": score, "given": np.column_stack([year, group == 1])}
    explanation = skbiasamp.explain(label, decision, sensitive_features=group, **how)
    auditor = DirectionalAuditor(reference="test")
    assert_sums(explanation, auditor.score(label, decision, sensitive_features=group))
    assert len(explanation.calibration["task"].unique()) == 4
    # Each group is in two of the four strata, so that nothing is compared within them alone.
    assert any("a group has no rows" in text for text in explanation.findings)


# --------------------------------------------------------------------------- known values


@pytest.fixture(scope="module")
def admissions():
    if not (DATA / "ucb_admissions.csv").exists():
        pytest.skip("needs the shared data")
    table = pd.read_csv(DATA / "ucb_admissions.csv")
    rows = table.loc[table.index.repeat(table["Freq"])]
    admitted = (rows["Admit"] == "Admitted").astype(int).to_numpy()
    given = {"sensitive_features": rows["Gender"].to_numpy(), "given": rows["Dept"].to_numpy()}
    return skbiasamp.explain(admitted, admitted, **given)


def test_admissions_are_those_published_and_reverse_within_departments(admissions):
    """Bickel and others (1975); disparities as Amazon's smclarify computes them."""
    rates = admissions.rates[admissions.rates["of"] == "labels"].set_index("group").round(4)
    assert rates.loc["Male", ["rate", "standardised"]].tolist() == [0.4452, 0.3873]
    assert rates.loc["Female", ["rate", "standardised"]].tolist() == [0.3035, 0.43]
    assert rates.loc["Female", ["disparity", "conditional_disparity"]].tolist() == [0.1438, -0.0193]
    (finding,) = [text for text in admissions.findings if "labels" in text]
    assert "Simpson" in finding
    gaps = admissions.gaps[admissions.gaps["of"] == "labels"].set_index("part")["value"]
    assert gaps.sum() == pytest.approx(557 / 1835 - 1198 / 2691, abs=EXACT)
    assert gaps["explained"] < -0.15
    assert gaps["unexplained"] > 0.02


@pytest.mark.parametrize(("behind", "named"), [(11, ["sure"]), (12, ["sure", "weak"])])
def test_reversals_of_several_tasks_are_rarely_false(behind, named):
    """With 11 rows more, "weak" has p = 0.029: Holm doubles it, a false discovery rate does not."""
    sizes = {("a", "x"): 200, ("a", "y"): 800, ("b", "x"): 800, ("b", "y"): 200}
    shares = {
        "sure": (0.1, 0.7, 0.2, 0.85),
        "weak": (0.3, 0.7, 0.3 + behind / 200, 0.7 + behind / 200),
        "even": (0.5, 0.5, 0.5, 0.5),
    }
    group, stratum = np.repeat([*sizes], [*sizes.values()], axis=0).T
    place = np.concatenate([np.arange(n) / n for n in sizes.values()])
    tasks = {task: place < np.repeat(of, [*sizes.values()]) - EXACT for task, of in shares.items()}
    tasks = pd.DataFrame(tasks).astype(int)
    explanation = skbiasamp.explain(tasks, tasks, sensitive_features=group, given=stratum)
    reversed_ = [text for text in explanation.findings if "Simpson" in text and "labels" in text]
    assert [next(task for task in shares if f"task {task})" in text) for text in reversed_] == named


def test_parts_of_two_groups_are_half_of_the_differences_of_their_gaps():
    """Rounding predicts the largest scores as often as labels."""
    rows = sample(2001, push=1.5)  # whose labels are sure of the direction: its weight is 1
    explanation = explained(rows)
    top = rows["score"].rank(ascending=False) <= rows["label"].sum()
    each = rows.assign(top=top).groupby("sex")[["label", "score", "top", "decision"]].mean()
    apart = (each.loc["b"] - each.loc["a"]) / 2
    change = apart["decision"] - apart["label"]
    gaps = explanation.gaps[explanation.gaps["of"] == "change"]
    assert abs(gaps["value"].sum()) == pytest.approx(2 * abs(change), abs=EXACT)
    assert explanation.value == pytest.approx(change, abs=EXACT)
    parts = explanation.decision.set_index("part")["value"]
    assert parts["scores"] == pytest.approx(apart["score"] - apart["label"], abs=EXACT)
    assert parts["rounding"] == pytest.approx(apart["top"] - apart["score"], abs=EXACT)
    assert parts["threshold"] == pytest.approx(apart["decision"] - apart["top"], abs=EXACT)


def test_scores_that_are_tied_are_shared_out():
    """Ten rows of 0.9, all others tied; 30 are labelled: each tied row is predicted by a share."""
    group = np.repeat(["a", "b"], 100)
    score = np.where(np.arange(200) < 10, 0.9, 0.2)
    label = (np.arange(200) < 30).astype(int)
    explanation = skbiasamp.explain(
        label, (score > 0.5).astype(int), y_score=score, sensitive_features=group
    )
    parts = explanation.decision.set_index("part")["value"]
    share = 20 / 190
    rounded = (10 + 90 * share) / 100 - share
    soft = (0.9 * 10 + 0.2 * 90) / 100 - 0.2
    assert parts["rounding"] == pytest.approx((rounded - soft) / 2, abs=EXACT)


def test_strata_of_one_group_alone_are_a_part_of_their_own():
    """One half of each group is in a stratum that both share; within it they do not differ."""
    group = np.repeat(["a", "b"], 200)
    given = np.tile(np.repeat(["shared", "own"], 100), 2)
    given = np.where(given == "own", group, given)
    label = np.zeros(400, int)
    label[:50] = label[200:250] = 1  # of the shared stratum one half, of the others a and none
    label[100:200] = 1
    explanation = skbiasamp.explain(label, label, sensitive_features=group, given=given)
    gaps = explanation.gaps[explanation.gaps["of"] == "labels"].set_index("part")["value"]
    sign = -1 if explanation.gaps["group"].iloc[0] == "b" else 1
    assert gaps["explained"] == gaps["unexplained"] == 0
    assert gaps["no overlap"] == pytest.approx(sign * 0.5, abs=EXACT)
    (finding,) = explanation.findings
    assert "2 of 3 strata" in finding
    assert "50.0 %" in finding


@pytest.mark.parametrize("apart", [False, True])
def test_couples_who_are_alike_have_no_gap_whichever_are_drawn(apart):
    """What one of a couple adds to a gap, the other takes from it, in the same stratum or not."""
    rng, couple = np.random.default_rng(0), np.repeat(np.arange(200), 2)
    label, predicted, given = rng.integers(2, size=(3, 200))[:, couple]
    how = {"sensitive_features": np.tile(["f", "m"], 200), "clusters": couple}
    how["given"] = np.tile([0, 1], 200) if apart else given
    gaps = skbiasamp.explain(label, predicted, **how).gaps
    assert np.abs(gaps[["value", "low", "high"]].to_numpy()).max() < EXACT


def test_the_interval_of_a_stratum_that_lacks_a_group_is_that_of_its_rows():
    """By hand: the first group, labelled more often, is not in the second stratum.

    What the others lose there counts against them, by a third of its share of the rows.
    """
    sizes, rates = [400, 400, 400, 300, 100], [0.8, 0.5, 0.5, 0.9, 0.9]
    group = np.repeat(list("abcbc"), sizes)
    label = np.concatenate([np.arange(n) < n * rate for n, rate in zip(sizes, rates, strict=True)])
    kept = np.concatenate([np.arange(n) < n * rate for n, rate in ((300, 0.2), (100, 0.4))])
    apart = np.arange(1600) >= 1200
    decision = np.r_[label[:1200], kept].astype(int)
    explanation = skbiasamp.explain(
        label.astype(int), decision, sensitive_features=group, given=np.where(apart, "z", "both")
    )
    change, own = (decision - label)[apart], group[apart]
    value, influence = 0.0, -(change - change.mean()) * 2 / 400
    for name, n in (("b", 300), ("c", 100)):
        rows = own == name
        value += change[rows].mean() - change.mean()
        influence[rows] += (change[rows] - change[rows].mean()) / n
    part = explanation.conditional.set_index("part").loc["no overlap"]
    counts = -1 / 3 * 400 / 1600
    assert part["value"] == pytest.approx(counts * value, rel=1e-3)
    reach = 1.96 * abs(counts) * np.sqrt((influence**2).sum())
    assert (part["high"] - part["low"]) / 2 == pytest.approx(reach, rel=0.02)


# --------------------------------------------------------------------------- features


def test_features_sum_to_half_of_the_difference_of_the_scores():
    """A linear model: what a feature adds to a score is its weight times the feature."""
    rows = sample(800, push=1.5)
    rng = np.random.default_rng(3)
    inside = (rows["sex"] == "b").astype(float)
    features = {"proxy": 2 * inside, "noise": rng.normal(size=800), "score": -0.5 * rows["score"]}
    attributions = pd.DataFrame(features)
    given = {"sensitive_features": rows["sex"], "attributions": attributions, "random_state": 0}
    of_rows = rows["label"], rows["decision"]
    explanation = skbiasamp.explain(*(np.array(["no", "yes"])[one] for one in of_rows), **given)
    parts, total = explanation.features.set_index("part"), attributions.sum(axis=1)
    mean = total.groupby(rows["sex"]).mean()
    assert parts["value"].sum() == pytest.approx((mean["b"] - mean["a"]) / 2, abs=EXACT)
    assert parts.loc["proxy", "value"] == pytest.approx(1.0, abs=EXACT)
    assert parts.loc["noise", "low"] < 0 < parts.loc["noise", "high"]
    assert any(text.startswith("proxy: ") for text in explanation.sentences)
    weight = rng.random(800) + 0.5
    weighted = skbiasamp.explain(*of_rows, sample_weight=weight, **given)
    means = [np.average(total[inside == k], weights=weight[inside == k]) for k in (0, 1)]
    assert weighted.features["value"].sum() == pytest.approx((means[1] - means[0]) / 2, abs=EXACT)
    turned = rows["sex"].map({"a": "b", "b": "a"})
    train = {"y_train": rows["label"], "sensitive_train": turned}
    other = skbiasamp.explain(*of_rows, **given, **train)
    assert other.features["value"].tolist() == pytest.approx((-parts["value"]).tolist(), abs=EXACT)


class Shap:
    """What `shap.Explanation` has: values, features and their names."""

    def __init__(self, values, data):
        self.values, self.data, self.feature_names = values.to_numpy(), data, list(values)


@pytest.mark.parametrize("container", ["frame", "shap"])
def test_proxies_are_marked_and_noise_is_not(container):
    rows = sample(1000, push=1.5)
    rng = np.random.default_rng(3)
    inside = (rows["sex"] == "b").astype(float)
    names = {"copy": inside, "near": inside + rng.normal(0, 0.5, 1000)}
    features = pd.DataFrame({**names, "noise": rng.normal(size=1000)})
    attributions = features * [2.0, 0.0, 1.0] if container == "shap" else features
    if container == "shap":  # a feature that the model does not use may be a proxy, too
        attributions = Shap(attributions, features.to_numpy())
    how = {"y_score": None, "given": None, "random_state": 0}
    explanation = explained(rows, attributions=attributions, **how)
    table = explanation.features.set_index("part")
    assert table["proxy"].to_dict() == {"copy": True, "near": True, "noise": False}
    assert table.loc["copy", "predicts_group"] == 1.0
    assert table.loc["near", "predicts_group"] == pytest.approx(0.84, abs=0.04)
    (said,) = [text for text in explanation.sentences if text.startswith("copy")]
    assert "It is a proxy" in said
    assert not any("proxy" in text for text in explanation.sentences if text.startswith("noise"))


@pytest.mark.parametrize("data", ["rows that change", "predictions that are labels"])
def test_a_part_that_is_the_change_has_the_interval_of_the_audit(data):
    """One task, one stratum, or scores that are the decisions: the numbers are the audit's."""
    rows = sample(1000)
    decision = rows["decision"] if data == "rows that change" else rows["label"]
    rows = rows.assign(decision=decision)
    explanation = explained(rows, y_score=None, given=rows["label"] * 0)
    audit = explanation.audit
    whole = [audit.value, audit.low, audit.high]
    for table in (explanation.change, explanation.change_by_task, explanation.strata):
        first = table[["value", "low", "high"]].iloc[0]
        assert first.tolist() == pytest.approx(whole, abs=EXACT)
        assert table["verdict"].iloc[0] == audit.verdict


@pytest.mark.parametrize(
    ("predicted", "verdict", "words"),
    [
        (0.35, "reduces", "less strongly than labels do."),
        (0.2, "reverses", "in the other direction than labels do."),
    ],
)
def test_the_verdict_within_strata_knows_a_reversal(predicted, verdict, words):
    """Within both strata 30 % of b and 50 % of a are labelled; of a 35 or 20 % are predicted."""
    group, given = np.repeat(["a", "b"], 2000), np.tile(np.repeat(["x", "y"], 1000), 2)
    place = np.tile(np.arange(1000) / 1000, 4)
    label = (place < np.where(group == "a", 0.5, 0.3)).astype(int)
    decision = (place < np.where(group == "a", predicted, 0.3)).astype(int)
    explanation = skbiasamp.explain(label, decision, sensitive_features=group, given=given)
    (within,) = (text for text in explanation.sentences if text.startswith("within strata"))
    assert within.startswith(f"within strata: {verdict}")
    assert within.endswith(f"associate group and task {words}")
    assert explanation.audit.verdict == explanation.change["verdict"][0] == verdict
    assert set(explanation.strata["verdict"]) == {"reduces"}  # a part turns nothing around


# --------------------------------------------------------------------------- what it says


def test_input_that_cannot_be_explained_is_refused():
    rows = sample(200)
    names = {"y_true": "label", "y_pred": "decision", "sensitive_features": "sex"}
    arrays = {name: rows[column] for name, column in names.items()}
    columns = {"target": "label", "prediction": "decision", "sensitive": "sex"}
    continuous = np.linspace(0.001, 0.9, 200)
    for change, message in (
        ({"given": np.arange(200)}, "given has 200 different strata"),
        ({"given": continuous}, "^given is continuous"),
        ({"y_score": continuous + 3}, "^y_score must hold labels or probabilities"),
        ({"y_pred": None, "y_score": continuous}, "y_pred is None"),
        ({"attributions": rows[["score"]]}, "must have a column for each of two features"),
    ):
        with pytest.raises(ValueError, match=message):
            skbiasamp.explain(**arrays | change)
    with pytest.raises(ValueError, match=r"^given must name a column"):
        skbiasamp.explain(rows, **columns, given="Dept")
    with pytest.raises(ValueError, match=r"^frame must name a column"):
        skbiasamp.explain(rows, **columns).subgroups(["Dept"])
    groups = pd.get_dummies(rows["sex"])
    given = {"sensitive_features": groups, "groups": "indicator"}
    overlapping = Contingency.from_labels(rows["label"], rows["decision"], **given)
    with pytest.raises(ValueError, match="groups that overlap"):
        skbiasamp.explain(overlapping)


# --------------------------------------------------------------------------- two predictors


def objects(seed=0):
    """Return people of two groups, two objects beside them, and predictions of both."""
    rng, n = np.random.default_rng(seed), 6000
    man = rng.random(n) < 0.7
    label = (rng.random((n, 2)) < np.where(man[:, None], [0.4, 0.3], [0.2, 0.35])).astype(int)
    predicted = np.where(rng.random((n, 2)) < 0.85, label, rng.random((n, 2)) < 0.2).astype(int)
    looks_like_a_man = man | ((label[:, 0] == 1) & (rng.random(n) < 0.4))
    sexes = np.array(["woman", "man"])
    return label, predicted, sexes[man.astype(int)], sexes[looks_like_a_man.astype(int)]


def shares_of_men(label, predicted, group, group_predicted):
    """Return the parts of the change of the share of men beside each object, by hand."""

    def share(groups, objects):
        return np.array([(groups[objects[:, t] == 1] == "man").mean() for t in range(2)])

    both, none = share(group_predicted, predicted), share(group, label)
    tasks, groups = share(group, predicted), share(group_predicted, label)
    return (tasks - none + both - groups) / 2, (groups - none + both - tasks) / 2, none


def test_the_two_predictors_of_a_pair_sum_to_its_change():
    train, test = objects(seed=1), objects()
    label, predicted, group, group_predicted = test
    given = {"sensitive_features": group, "sensitive_pred": group_predicted}
    of_train = {"y_train": train[0], "sensitive_train": train[2]}
    explanation = skbiasamp.explain(label, predicted, **given, **of_train)
    auditor = MALSAuditor().fit(train[0], sensitive_features=train[2])
    audit = auditor.audit(label, predicted, **given)
    assert explanation.predictors["value"].sum() == pytest.approx(audit.value, abs=EXACT)
    men = explanation.predictors_by_pair.query("group == 'man'").pivot(
        index="task", columns="part", values=["value", "low", "high"]
    )
    tasks, groups, labels = shares_of_men(*test)
    *_, of_training = shares_of_men(*train)
    value = men["value"]
    np.testing.assert_allclose(value["task predictor"], tasks, atol=EXACT)
    np.testing.assert_allclose(value["group predictor"], groups, atol=EXACT)
    np.testing.assert_allclose(value["labels"], labels - of_training, atol=EXACT)
    delta = audit.table.query("group == 'man'")["delta"]
    np.testing.assert_allclose(value.sum(axis=1), delta, atol=EXACT)
    # The predictor of the group is what drives the first object.
    assert groups[0] > 0.05 > abs(tasks[0])
    rng = np.random.default_rng(0)
    drawn = (rng.integers(0, len(group), len(group)) for _ in range(400))
    spread = np.std([shares_of_men(*(own[rows] for own in test))[:2] for rows in drawn], axis=0)
    half = (men["high"] - men["low"]) / 2
    for part, sd in zip(("task predictor", "group predictor"), spread, strict=True):
        np.testing.assert_allclose(half[part], 1.96 * sd, rtol=0.15)


# --------------------------------------------------------------------------- in a report


def audited(rows, **more):
    """Return a report of one metric, since attackers have no part in explanations."""
    given = {"sensitive_features": rows["sex"], "random_state": 0} | more
    given.setdefault("auditor", DirectionalAuditor())
    return skbiasamp.audit(rows["label"], rows["decision"], **given)


def test_scores_are_held_against_labels_by_a_chi_squared_test():
    rng, level = np.random.default_rng(3), np.array([0.1, 0.3, 0.5, 0.8])
    score = rng.choice(level, 800)
    label = rng.random(800) < score - 0.02
    given = {"sensitive_features": rng.choice(["f", "m"], 800), "y_score": score}
    for weight in (np.ones(800), rng.choice([0.5, 1.5], 800)):
        table = skbiasamp.explain(label, score > 0.4, sample_weight=weight, **given).calibration
        of = score == level[:, None]
        assert_allclose(table[["n", "score"]], np.column_stack([of @ weight, level]))
        assert_allclose(table["label_rate"], of @ (weight * label) / (of @ weight))
        apart, spread = of @ (weight * (label - score)), level * (1 - level) * (of @ weight**2)
        p_value = stats.chi2.sf((apart**2 / spread).sum(), 4)
        assert 0.001 < p_value < 0.5
        assert_allclose(table["p_value"], p_value)


def test_probabilities_are_explained_and_logits_are_not():
    rows, every = sample(40), {"auditor": None}  # with auditors of one's own, scores need strata
    logits = np.log(rows["score"].clip(0.01, 0.99) / (1 - rows["score"].clip(0.01, 0.99)))
    assert audited(rows, y_score=rows["score"], **every).explanation.decision is not None
    both = np.column_stack([1 - rows["score"], rows["score"]])
    assert audited(rows, y_score=both, **every).explanation.decision is not None
    report = audited(rows, y_score=logits, **every)
    assert report.explanation is None
    assert any("scores" in name for name in report)
    soft = rows.assign(decision=rows["score"])  # no decisions yet
    assert audited(soft, y_score=rows["score"], **every).explanation is None


def test_many_strata_fit_on_a_screen():
    rows = sample(2000, push=1.5)
    report = audited(rows, given=np.random.default_rng(0).integers(30, size=2000))
    *largest, others, whole = (row.cells[0].value for row in table_of(report, "why-strata").rows)
    strata = report.explanation.strata["value"].sort_values()
    assert sorted(largest) == pytest.approx(strata[-6:].tolist())
    assert (others, whole) == pytest.approx((strata[:-6].sum(), report.value), abs=EXACT)


@pytest.mark.parametrize("missing", ["drop", "group"])
def test_rows_without_a_group(missing):
    rows = sample()
    rows.loc[::10, "sex"] = None
    explanation = audited(rows, given=rows["dept"], missing=missing).explanation
    groups = set(explanation.rates["group"])
    assert groups == ({"a", "b"} if missing == "drop" else {"a", "b", "(missing)"})
    if missing == "drop":
        known = rows.dropna()
        expected = audited(known, given=known["dept"]).explanation
        pd.testing.assert_frame_equal(explanation.strata, expected.strata)
        assert explanation.context["n_dropped"] == 60


def test_a_waterfall_ends_at_the_value():
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    explanation = explained(sample(push=1.5))
    display = WaterfallDisplay.from_explanation(explanation)
    starts, widths = zip(*((bar.get_x(), bar.get_width()) for bar in display.bars_), strict=True)
    np.testing.assert_allclose(starts[1:-1], np.cumsum(widths[:-2]), atol=EXACT)
    assert (starts[-1], widths[-1]) == (0, pytest.approx(explanation.value, abs=EXACT))
    labels = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert labels == [*explanation.decision["part"], "directional value"]
    strata = WaterfallDisplay.from_explanation(explanation, table="strata")
    assert "dept = law" in [text.get_text() for text in strata.ax_.get_yticklabels()]
    plt.close("all")
