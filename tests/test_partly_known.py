"""Groups known with a probability, and labels that a decision made: bounds and verdicts."""

import itertools

import numpy as np
import pandas as pd
import pytest

import skbiasamp
from skbiasamp import Contingency, DirectionalAuditor
from skbiasamp._input.errors import InputError
from skbiasamp.cli import main
from skbiasamp.datasets import load_compas
from skbiasamp.metrics import directional_amplification

NAME = "directional A->T"


def compas(seed=None, n=2500):
    rows = load_compas().frame
    at = slice(None) if seed is None else np.random.default_rng(seed).integers(0, len(rows), n)
    rows = rows.iloc[at].reset_index(drop=True)
    return rows.assign(predicted=(rows["decile_score"] > 4).astype(int))


def proxy_of(rows, *, related=0.0):
    """Return probabilities that are calibrated on all rows of COMPAS, from a noisy signal."""

    def signal(frame, seed):
        white = (frame["race"] == "Caucasian").astype(float)
        noise = np.random.default_rng(seed).normal(size=len(frame))
        change = frame["predicted"] - frame["two_year_recid"]
        return np.digitize(3 * white + noise + related * change, np.linspace(-1, 4, 9)), white

    cells, white = signal(compas(), 0)
    share = pd.Series(white).groupby(cells).mean()
    own = share.loc[signal(rows, 1)[0]].to_numpy()
    return pd.DataFrame({"African-American": 1 - own, "Caucasian": own})


def audited(rows, **more):
    how = {"sensitive_features": rows["race"], "random_state": 0} | more
    y_true = how.pop("y_true", rows["two_year_recid"])
    return skbiasamp.audit(y_true, rows["predicted"], **how)


def bounds_of(report):
    statistics = report[NAME].statistics
    return statistics["bound_low"], statistics["bound_high"]


# --------------------------------------------------------------------------- probabilities


def test_probabilities_of_0_and_1_are_known_groups():
    rows = compas(0)
    sure = pd.get_dummies(rows["race"]).astype(float)
    own = Contingency.from_labels(
        rows["two_year_recid"], sensitive_features=sure, groups="probabilities"
    )
    assert own == Contingency.from_labels(rows["two_year_recid"], sensitive_features=rows["race"])
    known = audited(rows)[NAME]
    report = audited(rows, sensitive_features=sure, groups="probabilities")
    assert report[NAME].value == known.value
    assert bounds_of(report) == pytest.approx((known.estimate, known.estimate), abs=1e-12)


def test_rounded_probabilities_are_probabilities():
    rows, thirds = compas(0, 300), [[0.333, 0.333, 0.333], [0.4, 0.3, 0.3], [0.2, 0.7, 0.1]] * 100
    value, exact = (
        audited(
            rows,
            sensitive_features=pd.DataFrame(table, columns=list("abc")),
            groups="probabilities",
            auditor=DirectionalAuditor(interval=None),
        )[NAME].value
        for table in (thirds, [np.divide(row, sum(row)) for row in thirds])
    )
    assert value == pytest.approx(exact, abs=1e-12)


def test_the_estimate_weights_each_row_by_its_probability():
    rows = compas(0)
    share = proxy_of(rows)
    rates = [
        [(share[g] * rows[side]).sum() / share[g].sum() for g in share]
        for side in ("predicted", "two_year_recid")
    ]
    change = np.subtract(*rates)  # African-American defendants are labelled so more often
    value = audited(rows, sensitive_features=share, groups="probabilities")[NAME].value
    assert value == pytest.approx((change[0] - change[1]) / 2, abs=1e-12)


def test_bounds_are_the_extremes_of_all_groups_that_agree_with_the_probabilities():
    y, p = [1, 1, 0, 0, 1, 0, 1, 0], [1, 0, 0, 1, 0, 1, 1, 0]
    train = {
        "y_train": [1] * 6 + [0] * 4 + [1] * 4 + [0] * 6,
        "sensitive_train": list("a" * 10 + "b" * 10),
    }
    share = pd.DataFrame({"a": [0.75] * 4 + [0.25] * 4, "b": [0.25] * 4 + [0.75] * 4})
    how = {"groups": "probabilities", "auditor": DirectionalAuditor(interval=None)}
    report = skbiasamp.audit(y, p, sensitive_features=share, **how, **train)
    values = []
    for groups in itertools.product("ab", repeat=8):  # 3 of the first four are a, and 1 of the rest
        if groups[:4].count("a") == 3 and groups[4:].count("a") == 1:
            values.append(directional_amplification(y, p, sensitive_features=list(groups), **train))
    assert bounds_of(report) == pytest.approx((min(values), max(values)), abs=1e-12)
    assert min(values) < 0 < max(values)
    assert report[NAME].verdict == "cannot be known"


def gap_of(y, p, groups, sign):
    """Return the mean change of associations at these signs of the groups."""
    change, groups = np.subtract(p, y), np.array(groups)
    beside = [change[groups == group].mean() - change.mean() for group in sign]
    return np.mean([*sign.values()] * np.array(beside))


def test_bounds_of_three_groups_are_of_all_groups_together():
    y, p = [1, 1, 0, 0, 0, 1, 0, 1, 0, 1], [1, 0, 0, 1, 1, 1, 1, 0, 0, 0]
    train = {
        "y_train": [1] * 6 + [0] * 4 + [1] * 4 + [0] * 6 + [1] * 3 + [0] * 7,
        "sensitive_train": list("a" * 10 + "b" * 10 + "c" * 10),
    }
    rows = "aaabc", "abccc"
    share = pd.DataFrame([[own.count(group) / 5 for group in "abc"] for own in rows for _ in own])
    how = {"groups": "probabilities", "auditor": DirectionalAuditor(interval=None)}
    report = skbiasamp.audit(
        y, p, sensitive_features=share.set_axis(list("abc"), axis=1), **how, **train
    )
    sign = {"a": 1, "b": -1, "c": -1}
    each = (set(itertools.permutations(own)) for own in rows)
    values = [gap_of(y, p, first + second, sign) for first, second in itertools.product(*each)]
    assert bounds_of(report) == pytest.approx((min(values), max(values)), abs=1e-12)


@pytest.mark.parametrize("related", [0.0, 1.0])
def test_intervals_include_the_known_value_whether_or_not_errors_are_related(related):
    whole = compas()
    known = directional_amplification(
        whole["two_year_recid"], whole["predicted"], sensitive_features=whole["race"]
    )
    train = {"y_train": whole["two_year_recid"], "sensitive_train": whole["race"]}
    hits = []
    for seed in range(25):
        rows = compas(seed)
        how = {"groups": "probabilities", "auditor": DirectionalAuditor(n_resamples=199)}
        how["sensitive_features"] = proxy_of(rows, related=related)
        result = audited(rows, **how, **train)[NAME]
        of_weights = result.statistics["low_assumed"], result.statistics["high_assumed"]
        hits.append([result.low <= known <= result.high, of_weights[0] <= known <= of_weights[1]])
    assert np.mean(hits, axis=0)[0] >= 0.92
    if related:
        assert np.mean(hits, axis=0)[1] <= 0.2  # what the assumption hides


def test_a_model_that_is_always_right_has_no_width():
    rows = compas(0).assign(predicted=compas(0)["two_year_recid"])
    share = proxy_of(compas(0), related=1.0)
    report = audited(rows, sensitive_features=share, groups="probabilities")
    assert bounds_of(report) == (0, 0)
    assert report[NAME].verdict == "no clear effect"


def test_rows_with_known_groups_test_the_probabilities():
    rows = compas(0)
    some = rows["race"].where(np.random.default_rng(0).random(len(rows)) < 0.4, None)
    share, wrong = proxy_of(rows), proxy_of(rows)
    wrong["Caucasian"] = wrong["Caucasian"] ** 2
    wrong["African-American"] = 1 - wrong["Caucasian"]
    related = proxy_of(rows, related=1.0)
    places = []
    for table in (share, wrong, related):
        report = audited(rows, sensitive_features=table, groups="probabilities", check=some)
        found = {one.topic: one.place for one in report.findings}
        places.append([found[f"uncertain groups: {of}"] for of in ("calibrated", "unrelated")])
    assert places[0][0] == "note"
    assert places[1][0] == "verdict"
    assert places[2] == ["note", "verdict"]


def test_frames_comparisons_and_rates_take_probabilities():
    rows, share = compas(0), proxy_of(compas(0))
    frame = rows[["two_year_recid", "predicted"]].join(share)
    columns = {"target": "two_year_recid", "prediction": "predicted", "sensitive": list(share)}
    how = {"groups": "probabilities", "random_state": 0}
    arrays = audited(rows, sensitive_features=share, groups="probabilities")
    named = skbiasamp.audit(frame, **columns, **how)
    assert named[NAME].to_json() == arrays[NAME].to_json()
    models = {"score": rows["predicted"], "same": rows["two_year_recid"]}
    compared = skbiasamp.compare(
        rows["two_year_recid"],
        models,
        sensitive_features=share,
        auditor=DirectionalAuditor(),
        **how,
    )
    values = compared[NAME].table["value"].tolist()
    assert values == pytest.approx([arrays[NAME].value, 0], abs=1e-12)
    # Unasked, a comparison leaves attackers out, which have no bounds.
    found = skbiasamp.compare(rows["two_year_recid"], models, sensitive_features=share, **how)
    assert list(found) == [NAME]
    limits = [section for section in found.to_document().sections if section.id == "limits"]
    assert "assumes only that they are calibrated" in str(limits)
    watched = frame.assign(day=np.arange(len(frame)) // 1000)
    with pytest.raises(InputError, match="groups='probabilities' cannot be watched"):
        skbiasamp.audit_over(watched, time="day", every=None, groups="probabilities", **columns)


def test_attackers_refuse_groups_that_are_not_known():
    rows, share = compas(0), proxy_of(compas(0))
    for auditor in (skbiasamp.metrics.LeakageAuditor(), skbiasamp.metrics.DPAAuditor()):
        with pytest.raises(InputError, match="needs known groups, and these have probabilities"):
            audited(rows, sensitive_features=share, groups="probabilities", auditor=auditor)
    assert [*audited(rows, sensitive_features=share, groups="probabilities")] == [NAME]


@pytest.mark.parametrize(
    ("table", "text"),
    [
        ({"a": [0.5, 0.2], "b": [0.5, 0.7]}, "sum is 1 in each row; row 1 has"),
        ({"a": [1.5, 0.2], "b": [-0.5, 0.8]}, "row 0 has"),
        ({"a": [np.nan, 0.2], "b": [0.5, 0.8]}, "sensitive_features"),
    ],
)
def test_columns_that_are_no_probabilities_are_refused(table, text):
    with pytest.raises(InputError, match=text):
        Contingency.from_labels(
            [0, 1], [1, 1], sensitive_features=pd.DataFrame(table), groups="probabilities"
        )


# --------------------------------------------------------------------------- labels of a decision


# Three of ten labels are missing, since nobody decided for these rows.
LABELS, GROUPS = [1, 0, 0, 1, 0, 1, 0, None, None, None], list("aaaabbbaab")
SELECTED = {
    "sensitive_features": GROUPS,
    "labels": "selected",
    "decision": [1] * 7 + [0] * 3,
    "auditor": DirectionalAuditor(interval=None),
}
COMPLETED = [[*LABELS[:7], *rest] for rest in itertools.product((0, 1), repeat=3)]
with_and_without_training_labels = pytest.mark.parametrize(
    "train", [{"y_train": [1, 1, 0, 1, 0, 0], "sensitive_train": list("aaabbb")}, {}]
)


@with_and_without_training_labels
def test_bounds_are_the_extremes_of_all_labels_that_rows_may_have(train):
    p = [1, 0, 1, 1, 0, 1, 0, 1, 0, 1]
    report = skbiasamp.audit(LABELS, p, **SELECTED, **train)
    values = [
        directional_amplification(y, p, sensitive_features=GROUPS, **train) for y in COMPLETED
    ]
    low, high = bounds_of(report)
    assert low <= min(values) + 1e-12
    assert max(values) <= high + 1e-12
    if train:  # the signs are known
        assert (low, high) == pytest.approx((min(values), max(values)), abs=1e-12)


def test_bounds_of_labels_of_three_groups_are_of_all_groups_together():
    groups, p = [*GROUPS, "c", "c", "c"], [1, 0, 1, 1, 0, 1, 0, 1, 0, 1, 0, 1, 1]
    how = {
        "labels": "selected",
        "decision": [label is not None for label in LABELS] + [True, True, False],
        "auditor": DirectionalAuditor(interval=None),
        "y_train": [1, 1, 0, 1, 0, 0, 0, 0, 1],
        "sensitive_train": list("aaabbbccc"),
    }
    report = skbiasamp.audit([*LABELS, 0, 1, None], p, sensitive_features=groups, **how)
    sign = {"a": 1, "b": -1, "c": -1}
    values = [
        gap_of([*y, 0, 1, last], p, groups, sign)
        for y, last in itertools.product(COMPLETED, (0, 1))
    ]
    assert bounds_of(report) == pytest.approx((min(values), max(values)), abs=1e-12)


def test_intervals_include_the_known_value_of_labels_removed_by_score():
    whole = compas()
    known = directional_amplification(
        whole["two_year_recid"], whole["predicted"], sensitive_features=whole["race"]
    )
    verdicts = []
    for seed, most in itertools.product(range(8), (9, 6)):
        rows = compas(seed)
        free = rows["decile_score"] <= most
        seen = rows["two_year_recid"].where(free)
        report = audited(
            rows, y_true=seen, labels="selected", decision=np.where(free, "released", "detained")
        )
        assert report[NAME].low <= known <= report[NAME].high
        finding = report.findings[0]
        assert finding.topic == "labels that the decision made"
        assert f"{(~free).sum():,} of 2,500 rows have no label" in finding.text
        verdicts.append(report[NAME].verdict)
    assert set(verdicts[1::2]) == {"cannot be known"}
    assert "width of" in report.verdict
    assert "cannot be known" in str(report)


def test_labels_that_miss_for_another_reason_are_refused():
    rows = compas(0)
    free = rows["decile_score"] <= 8
    seen = rows["two_year_recid"].where(free)
    with pytest.raises(InputError, match=r"labels='selected'.* and .*decision"):
        audited(rows, y_true=seen)
    with pytest.raises(InputError, match=r"needs .*decision"):
        audited(rows, y_true=seen, labels="selected")
    also = seen.where(np.arange(len(rows)) % 50 > 0)
    with pytest.raises(InputError, match="some of those with decision True"):
        audited(rows, y_true=also, labels="selected", decision=free)
    own = free & (rows["race"] != "Caucasian")
    with pytest.raises(InputError, match="has no label of the group 'Caucasian'"):
        audited(rows, y_true=seen.where(own), labels="selected", decision=own)
    with pytest.raises(InputError, match="decision is used with labels='selected' only"):
        audited(rows, decision=free)


def test_the_command_takes_both(tmp_path, capsys):
    rows, share = compas(0), proxy_of(compas(0))
    free = rows["decile_score"] <= 6
    frame = rows[["race", "predicted"]].join(share)
    frame = frame.assign(again=rows["two_year_recid"].where(free), y=rows["two_year_recid"])
    frame = frame.assign(decision=np.where(free, "released", "detained"))
    path = tmp_path / "rows.csv"
    frame.to_csv(path, index=False)
    call = ["audit", str(path), "--prediction", "predicted", "--seed", "0"]
    decided = ["--target", "again", "--sensitive", "race", "--decision", "decision"]
    assert main([*call, *decided]) == 0
    assert "cannot be known" in capsys.readouterr().out
    probable = ["--target", "y", "--sensitive", *share, "--groups", "probabilities"]
    assert main([*call, *probable, "--check", "race"]) == 0
    assert "Groups are known with a probability" in " ".join(capsys.readouterr().out.split())


def differences_of_models(y, models, groups, **train):
    first, second = (
        directional_amplification(y, own, sensitive_features=groups, **train)
        for own in models.values()
    )
    return second - first


def test_bounds_of_models_are_the_extremes_of_all_groups_that_agree_with_the_probabilities():
    y = [1, 1, 0, 0, 1, 0, 1, 0]
    models = {"old": [1, 0, 0, 1, 0, 1, 1, 0], "new": [1, 1, 0, 0, 0, 1, 0, 1]}
    train = {
        "y_train": [1] * 6 + [0] * 4 + [1] * 4 + [0] * 6,
        "sensitive_train": list("a" * 10 + "b" * 10),
    }
    share = pd.DataFrame({"a": [0.75] * 4 + [0.25] * 4, "b": [0.25] * 4 + [0.75] * 4})
    how = {"groups": "probabilities", "auditor": DirectionalAuditor(interval=None)}
    report = skbiasamp.compare(y, models, sensitive_features=share, **how, **train)
    values = [
        differences_of_models(y, models, list(groups), **train)
        for groups in itertools.product("ab", repeat=8)
        if groups[:4].count("a") == 3 and groups[4:].count("a") == 1
    ]
    row = report[NAME].table.iloc[1]
    found = row["bound_low"], row["bound_high"]
    assert found == pytest.approx((min(values), max(values)), abs=1e-12)
    assert min(values) < 0 < max(values)
    assert report[NAME].verdicts == {"new": "cannot be known"}
    assert "cannot be known" in report.verdict


@with_and_without_training_labels
def test_bounds_of_models_include_all_labels_that_rows_may_have(train):
    models = {"old": [1, 0, 1, 1, 0, 1, 0, 1, 0, 1], "new": [1, 1, 1, 1, 0, 0, 0, 0, 0, 1]}
    report = skbiasamp.compare(LABELS, models, **SELECTED, **train)
    values = [differences_of_models(y, models, GROUPS, **train) for y in COMPLETED]
    low, high = report[NAME].table.iloc[1][["bound_low", "bound_high"]]
    assert low <= min(values) + 1e-12
    assert max(values) <= high + 1e-12
    if train:  # all predictions are there, so with known signs nothing is unknown
        assert (low, high) == pytest.approx((values[0], values[0]), abs=1e-12)


def test_intervals_of_models_include_the_known_difference():
    whole = compas()
    models = {"old": "predicted", "new": "stricter"}

    def with_both(rows):
        return rows.assign(stricter=(rows["decile_score"] > 6).astype(int))

    rows = with_both(whole)
    own = {name: rows[column] for name, column in models.items()}
    known = differences_of_models(rows["two_year_recid"], own, rows["race"])
    for seed in range(4):
        rows = with_both(compas(seed))
        free = rows["decile_score"] <= 8
        frame = rows.assign(seen=rows["two_year_recid"].where(free), free=free)
        selected = skbiasamp.compare(
            frame, target="seen", prediction=models, sensitive="race", labels="selected",
            decision="free", random_state=0,
        )  # fmt: skip
        own = {name: rows[column] for name, column in models.items()}
        probable = skbiasamp.compare(
            rows["two_year_recid"], own, sensitive_features=proxy_of(rows, related=1.0),
            groups="probabilities", random_state=0,
        )  # fmt: skip
        for report in (selected, probable):
            _, low, high = report[NAME].judged("new")
            assert low <= known <= high


def test_the_command_compares_with_bounds(tmp_path, capsys):
    rows, share = compas(0), proxy_of(compas(0))
    free = rows["decile_score"] <= 6
    frame = rows[["race", "predicted"]].join(share).assign(y=rows["two_year_recid"])
    frame = frame.assign(again=frame["y"].where(free), decision=np.where(free, "yes", "no"))
    frame["other"] = np.random.default_rng(0).permutation(frame["predicted"])
    path = tmp_path / "rows.csv"
    frame.to_csv(path, index=False)
    call = ["compare", str(path), "--prediction", "a=predicted", "b=other"]
    decided = ["--target", "again", "--sensitive", "race", "--decision", "decision"]
    probable = ["--target", "y", "--sensitive", *share, "--groups", "probabilities"]
    for more in (decided, probable):
        assert main([*call, *more]) == 0
        assert "cannot be known" in capsys.readouterr().out


@pytest.mark.parametrize("more", [{"y_score": [0.2, 0.6] * 4}, {"given": ["x", "y"] * 4}])
def test_groups_with_probabilities_have_no_parts(more):
    share = pd.DataFrame({"a": [0.5] * 8, "b": [0.5] * 8})
    labels = [0, 1, 1, 0] * 2
    with pytest.raises(InputError, match="need rows whose labels and groups are known"):
        skbiasamp.audit(labels, labels, sensitive_features=share, groups="probabilities", **more)
