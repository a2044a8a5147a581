"""Sensitive columns side by side: each has the verdict of an audit of it alone."""

import functools
import json
import re

import numpy as np
import pandas as pd
import pytest
from document_parts import parts_of

import skbiasamp
from skbiasamp import DirectionalAuditor, MALSAuditor, metrics
from skbiasamp.inference import adjust_p_values

NAMES = {"target": "repaid", "prediction": "granted"}
HOW = {"random_state": 0, "favourable": 1}


def loans(push=0.15, seed=0, missing=0.05):
    """Return loans that the model grants more often to men than they are repaid, by `push`."""
    rng, n = np.random.default_rng(seed), 3_000
    rows = pd.DataFrame({"age": rng.choice(["18-30", "31-50", "51+"], n)})
    rows["gender"] = rng.choice(["Female", "Male"], n)
    male = rows["gender"] == "Male"
    rows["repaid"] = (rng.random(n) < np.where(male, 0.55, 0.45)).astype(int)
    moved = rng.random(n) < push
    rows["granted"] = np.where(moved, male, rows["repaid"]).astype(int)
    rows.loc[rng.random(n) < missing, "gender"] = None
    rows.loc[rng.random(n) < missing, "age"] = None
    return rows


def apart(rows, columns=("age", "gender"), **how):
    how = {"missing": "drop"} | HOW | how
    return skbiasamp.audit_frame(rows, **NAMES, sensitive=[*columns], groups="marginal", **how)


def alone(rows, column, **how):
    how = {"missing": "drop"} | HOW | how
    return skbiasamp.audit_frame(rows, **NAMES, sensitive=column, **how)


@functools.cache
def plain():
    """Return the report that several tests read."""
    return apart(loans())


def content(report):
    """Return all that a report holds but its call and date, each number to the last digit."""
    left_out = ("call", "date", "context")

    def lasting(value):
        if isinstance(value, dict):
            return {key: lasting(part) for key, part in value.items() if key not in left_out}
        return [lasting(part) for part in value] if isinstance(value, list) else repr(value)

    return lasting(report.to_dict())


@pytest.mark.parametrize(("missing", "limit"), [("drop", None), ("bounds", 0.02), ("group", None)])
def test_a_column_has_the_numbers_of_an_audit_of_it_alone(missing, limit):
    rows = loans()
    how = {"missing": missing, "limit": limit}
    if missing != "drop":  # attackers take long
        how["auditor"] = [DirectionalAuditor(), MALSAuditor()]
    report = plain() if missing == "drop" else apart(rows, **how)
    assert list(report.columns) == ["age", "gender"]
    for name, own in report.columns.items():
        assert content(own) == content(alone(rows, name, **how))
    for row in report.by_column.itertuples():
        own = report.columns[row.column]
        assert (row.value, row.low, row.high) == (own.value, *own[own.primary].judged[1:])


def test_arrays_and_training_rows_are_those_of_the_column():
    rows, train = loans(missing=0), loans(seed=1, missing=0)
    columns = ["age", "gender"]

    def audited(columns, **how):
        return skbiasamp.audit(
            rows["repaid"], rows["granted"], sensitive_features=rows[columns],
            y_train=train["repaid"], sensitive_train=train[columns], **HOW, **how,
        )  # fmt: skip

    report = audited(columns, groups="marginal")
    for name, own in report.columns.items():
        assert content(own) == content(audited(name))


def test_one_column_is_audited_as_if_nothing_was_said_of_several():
    rows = loans(missing=0).assign(bank=["a", "b"] * 1_500)
    for how in ({"given": "bank"}, {"score": "granted"}, {}):
        how |= {"auditor": DirectionalAuditor()}
        assert content(apart(rows, ["age"], **how)) == content(alone(rows, "age", **how))


def test_the_column_that_matters_most_comes_first_everywhere():
    report = plain()
    assert {name: own.verdict.split(".")[0] for name, own in report.judged_columns.items()} == {
        "gender": "The model widens the gap between Male and Female",
        "age": "No clear change by the model of the gaps between groups",
    }
    assert report.facts.verdict == "amplifies"
    card = parts_of(report, "Card")[0]
    assert card.title == "Repaid: by gender, the model widens the gap between Male and Female"
    for text in (str(report), report.to_markdown(), report.to_html()):
        chips = re.findall(r"\bgender: amplifies|\bage: no clear effect", text)
        assert chips[:2] == ["gender: amplifies", "age: no clear effect"]
        assert text.index("widens the gap") < text.index("No clear change")
    stored = json.loads(report.to_json())
    assert stored["columns"]["gender"]["facts"] == report.columns["gender"].to_dict()["facts"]
    assert [each["name"] for each in stored["facts"]["columns"]] == ["gender", "age"]


def test_many_columns_make_a_small_effect_unclear():
    rows, rng = loans(0.008, seed=5), np.random.default_rng(5)
    auditor = DirectionalAuditor()
    p = alone(rows, "gender", auditor=auditor)["directional A->T"].p_value
    assert 0.005 < p < 0.05  # clear by itself
    names = [f"coin {i}" for i in range(9)]
    for name in names:
        rows[name] = rng.choice(["heads", "tails"], len(rows))
    report = apart(rows, ["gender", *names], limit=0.0, auditor=auditor)
    table = report.by_column.set_index("column")
    assert list(table["p_adjusted"]) == list(adjust_p_values(table["p_value"]))
    assert table.loc["gender", "verdict"] == "no clear effect"
    assert report.columns["gender"]["directional A->T"].verdict == "amplifies"
    assert "By itself, this would be clear." in report.verdict
    (check,) = [each for each in report.gate(0.0).checks if each.name.endswith(", gender")]
    assert (check.verdict, check.outcome) == ("no clear effect", "inconclusive")
    assert check.low > 0


def test_a_limit_is_kept_if_all_columns_keep_it():
    rows, auditors = loans(), [DirectionalAuditor(), MALSAuditor()]
    for limit, outcome, word in ((0.5, "passed", "within"), (0.01, "failed", "outside")):
        report = apart(rows, limit=limit, auditor=auditors)
        gate = report.gate(limit)
        assert gate.outcome == outcome
        assert report.limit_verdict == f"{word} the limit"
        assert [check.name for check in gate.checks] == [
            "directional A->T, gender", "directional A->T, age"
        ]  # fmt: skip
        own = report.columns["gender"].gate(limit).checks[0]
        assert (gate.checks[0].low, gate.checks[0].high) == (own.low, own.high)
    assert {check.name.split(",")[0] for check in report.gate(0.5, on="MALS").checks} == {"MALS"}


def test_ids_on_the_page_are_unique():
    rows = loans().assign(score=np.linspace(0, 1, 3_000))
    page = apart(rows, score="score").to_html()
    assert page.count('class="slider') == 2
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len({*ids})


def test_a_fitted_auditor_measures_the_groups_of_all_columns_side_by_side():
    rows = loans(missing=0)
    columns = {"sensitive_features": rows[["age", "gender"]]}
    auditor = DirectionalAuditor(groups="marginal").fit(rows["repaid"], **columns)
    report = apart(rows, auditor=auditor)
    assert report.columns == {}
    assert report.value == auditor.score(rows["repaid"], rows["granted"], **columns)


def test_columns_of_ratios_are_said_without_rates():
    text = str(apart(loans(), auditor=metrics.DifferentialFairnessAuditor()))
    assert re.search(r"gender: .* ratio between two groups' rates", text)
    assert "People want" not in text
