"""Parts within strata: groups are compared as if each had the strata of all rows."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from test_explain import EXACT, sample

import skbiasamp
from skbiasamp import Contingency, DirectionalAuditor
from skbiasamp.counts import draws
from skbiasamp.counts.merging import ordered
from skbiasamp.report.strata import standardised as within_strata
from skbiasamp.report.strata import strata_of

AUDITOR = DirectionalAuditor(reference="test")


def standardised(rows, column, given="dept"):
    """Return the rate of each group if all had the strata of all rows, by pandas alone."""
    share = rows[given].value_counts(normalize=True)
    rates = rows.pivot_table(index="sex", columns=given, values=column, aggfunc="mean")
    return (rates * share).sum(axis=1)


def counted(label, predicted, group, stratum, **more):
    """Return rows with weights that make strata as frequent in each group as in all rows."""
    both = pd.DataFrame({"sex": np.asarray(group), "dept": np.asarray(stratum)})
    fine = Contingency.from_labels(label, predicted, sensitive_features=both, **more)
    return within_strata(strata_of(ordered(fine), ("dept",)))


def audited(rows, auditor=AUDITOR, **more):
    columns = (rows[name] for name in ("label", "decision", "sex", "dept"))
    return auditor.audit(counted(*columns, **more))


def explained(rows, **more):
    columns = {"sensitive_features": rows["sex"], "given": rows["dept"]}
    return skbiasamp.explain(rows["label"], rows["decision"], **columns, **more)


@pytest.mark.parametrize("interval", ["analytic", None])
def test_rates_are_standardised(interval):
    rows = sample(1500, push=1.0)
    result = audited(rows, clone(AUDITOR).set_params(interval=interval))
    labels, decisions = (standardised(rows, name) for name in ("label", "decision"))
    table = result.table.set_index("group")
    for group in "ab":
        assert table.loc[group, "base"] == pytest.approx(labels[group], abs=EXACT)
        assert table.loc[group, "observed"] == pytest.approx(decisions[group], abs=EXACT)
    change = (decisions["b"] - decisions["a"]) - (labels["b"] - labels["a"])
    assert result.value == pytest.approx(change / 2, abs=EXACT)
    if interval:
        assert result.low < result.value < result.high
        assert result.verdict == "amplifies"


def test_weights_and_clusters_are_counted():
    rows = sample(push=1.0)
    weight = np.random.default_rng(0).integers(1, 4, len(rows))
    repeated = rows.loc[rows.index.repeat(weight)]
    result = audited(rows, sample_weight=weight)
    assert result.value == pytest.approx(audited(repeated).value, abs=EXACT)
    # Two equal rows of a person say what one row says.
    twice = rows.loc[rows.index.repeat(2)]
    result, plain = audited(twice, clusters=twice.index.to_numpy()), audited(rows)
    assert result.published == pytest.approx(plain.published, abs=EXACT)
    assert result.value == pytest.approx(plain.value, rel=1e-4)  # signs as sure as clusters
    assert result.high - result.low == pytest.approx(plain.high - plain.low, rel=0.15)


def test_strata_of_a_frame_are_columns_of_their_own():
    frame = pd.DataFrame(sample(300, push=1.0))
    columns = {"target": "label", "prediction": "decision", "sensitive": "sex"}
    for call in (partial(skbiasamp.audit_frame, frame), partial(skbiasamp.explain, frame)):
        for given in (["dept", "dept"], ["dept", "sex"]):
            with pytest.raises(ValueError, match=r"^.*sensitive.* and given name column .* twice"):
                call(**columns, given=given)


@pytest.mark.parametrize("groups", [2, 4])
@pytest.mark.parametrize("option", ["plain", "scores", "clusters", "fractions"])
def test_an_explanation_and_an_audit_within_strata_are_one_answer(groups, option):
    """Each had signs and an interval of its own, so that they contradicted each other."""
    rows = sample(400, groups=groups, push=0.4)
    known = {
        "clusters": {"clusters": np.arange(400) // 2},
        "fractions": {"sample_weight": np.random.default_rng(0).random(400) + 0.5},
    }.get(option, {})
    result = audited(rows, **known)
    scores = {"y_score": rows["score"]} if option == "scores" else {}
    explanation = explained(rows, **known, **scores)
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
    conditional = explained(rows).conditional.set_index("part")
    own = conditional.loc["within strata", ["value", "low", "high"]]
    numbers = np.array([result.value, result.low, result.high])
    assert own.tolist() == pytest.approx((0.8 * numbers).tolist(), abs=EXACT)
    # One group differs by nothing from the rows of its own stratum.
    assert conditional.loc["no overlap", "value"] == pytest.approx(0, abs=EXACT)
    assert conditional.index.tolist() == ["within strata", "no overlap"]


def test_resamples_keep_how_frequent_strata_are_in_each_group():
    rows = sample(1500, groups=3)
    columns = [rows[name] for name in ("label", "decision", "sex", "dept")]
    weight = np.random.default_rng(0).random(1500) + 0.5
    cells = draws.ordered(counted(*columns, sample_weight=weight))
    drawn = draws.resampled(cells, 20, np.random.default_rng(1))
    weight, (groups, strata) = np.asarray(drawn.weight), (3, 2)
    assert len(np.unique(cells.poststrata)) == groups * strata
    for own in range(groups * strata):
        inside = cells.poststrata == own
        expected = cells.weight[inside].sum()
        assert weight[:, inside].sum(axis=1) == pytest.approx(expected, rel=1e-9)
        assert weight[:, inside].std() > 0
