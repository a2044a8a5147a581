"""Files that an earlier version wrote are read: tests/data/json holds one of each kind."""

import json
from pathlib import Path

import pytest

from skbiasamp import Contingency
from skbiasamp._input.checks import NamedMissing
from skbiasamp.results import AuditReport, AuditResult, ComparisonReport, ComparisonResult, Timeline

FOLDER = Path(__file__).parent / "data" / "json"
KINDS = {
    "cells_clusters": Contingency,
    "cells_names": Contingency,
    "cells_tasks": Contingency,
    "comparison_report": ComparisonReport,
    "report_compas": AuditReport,
    "result_numeric": AuditResult,
    "result_pairs": AuditResult,
    "result_texts": AuditResult,
    "timeline": Timeline,
}


def read(name):
    return KINDS[name].from_json(FOLDER / f"{name}.json")


NEWER = {
    "report_compas": [
        "by_column",
        "curve",
        "explanation",
        "labelled",
        "labelled_rates",
        "matched",
        "passed",
    ]
}  # what these files do not have


@pytest.mark.parametrize("name", [name for name in KINDS if name not in {"cells_tasks", *NEWER}])
def test_what_was_read_is_written_again_byte_for_byte(name):
    written = read(name).to_json().replace(r"\u2212", "-")  # the sign of numbers in sentences
    assert written + "\n" == (FOLDER / f"{name}.json").read_text()


@pytest.mark.parametrize(("name", "newer"), NEWER.items())
def test_tables_that_are_newer_are_empty(name, newer):
    content = json.loads(read(name).to_json())
    for name_of_table in newer:
        table = content.pop(name_of_table)
        assert table is None or table["data"] == []
    assert content == json.loads((FOLDER / f"{name}.json").read_text())


def test_one_sum_of_squares_is_read_as_a_list_of_one():
    content = json.loads((FOLDER / "cells_tasks.json").read_text())
    expected = content | {"moments": [content["moments"]]}
    assert json.loads(read("cells_tasks").to_json()) == expected


def test_a_report_of_compas():
    report = read("report_compas")
    result = report["directional A->T"]
    assert round(result.value, 6) == -0.007666
    assert (report.primary, result.verdict, result.n_samples) == (
        "directional A->T", "no clear effect", 5278,
    )  # fmt: skip
    assert dict(zip(report.groups["group"], report.groups["n"], strict=True)) == {
        ("African-American", "Female"): 549,
        ("African-American", "Male"): 2626,
        ("Caucasian", "Female"): 482,
        ("Caucasian", "Male"): 1621,
    }
    assert result.table["sign_certain"].dtype == bool
    assert report.selection["by"].tolist() == ["race"] * 2 + ["sex"] * 2 + ["race and sex"] * 4
    assert report.selection["counted"].all()
    assert report.context["groups"] == list(report.groups["group"])
    assert report.data_files[0]["rows"] == 5278
    assert report.findings[-1].topic == "labels as truth"


def test_results_of_numbers_texts_and_combinations():
    numeric, pairs, texts = map(read, ("result_numeric", "result_pairs", "result_texts"))
    assert (numeric.verdict, numeric.unit) == ("amplifies", "standard deviations")
    assert numeric.affected["group"] == "f"
    assert round(numeric.affected["delta"], 4) == 1.9658
    assert list(pairs.table["task"].unique()) == [1, 2.5, ("a", 3)]
    assert pairs.affected["group"] == ("m", 3)
    assert pairs.group_columns == ("sex", "race")
    assert round(pairs.worst()["high"], 4) == 0.1239
    assert texts.verdict == "reveals more"
    assert set(texts.words["target"]) == {"f", "m"}
    assert texts.words["share"].between(0, 1).all()


def test_comparisons_and_timelines():
    compared, timeline = map(read, ("comparison_report", "timeline"))
    accuracy = compared.accuracy.set_index("model")["accuracy"]
    assert accuracy.round(4).to_dict() == {"old": 0.9517, "new": 0.935}
    assert compared["directional A->T"].verdicts == {"new": "no clear difference"}
    assert (timeline.verdict, timeline.first_alarm, timeline.onset) == (
        "alarm",
        "2026-06",
        "2026-05",
    )
    assert timeline.version_changes == [("2026-05", "2")]
    assert timeline.periods["alarm"].dtype == bool


def test_names_keep_their_types():
    cells = read("cells_names")
    assert cells.tasks == (True, 2.5, ("a", (3, "b")))
    assert [type(name) for name in cells.tasks] == [bool, float, tuple]
    assert cells.groups[0] == ("(missing)", "(missing)")
    assert [type(name) for name in cells.groups[0]] == [NamedMissing, str]
    assert {type(race) for _, race in cells.groups[1:] if race != "(missing)"} == {int}
    assert cells.count("group").sum() == 80


def test_probabilities_clusters_and_sums_of_tasks():
    clusters, tasks = read("cells_clusters"), read("cells_tasks")
    assert (clusters.clusters.total, clusters.total) == (14, 40)
    assert tasks.summed == "tasks"
    assert tasks.total == 600


# --------------------------------------------------------------------------- older formats


def test_a_result_of_version_2_has_the_signed_mean_as_estimate():
    result = AuditResult.from_json(FOLDER / "result_2.json")
    assert (result.value, result.statistics["value_low"]) == (
        0.035249119050805126,
        0.035027059169827145,
    )
    assert [round(number, 4) for number in result.judged] == [0.0234, -0.0118, 0.056]
    assert result.verdict == "no clear effect"
    assert result.table["task"].map(type).eq(tuple).all()
    assert json.loads(result.to_json())["schema"] == "skbiasamp.AuditResult/3"


def test_a_comparison_of_version_1_has_the_value_as_estimate():
    result = ComparisonResult.from_json(FOLDER / "comparison_1.json")
    assert result.table["estimate"].tolist() == result.table["value"].tolist()
    assert result.verdicts == {"new": "amplifies more"}
    assert round(result.difference("new"), 4) == 0.0703
    assert result.churn["changed"].tolist() == [47, 15]
