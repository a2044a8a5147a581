"""What a report tells first: who is worse off, by how much, model or data, how sure, what first."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from document_parts import part_of
from scenarios import SCENARIOS, WIDENED, rows_of
from test_page import in_chromium

import skbiasamp
from skbiasamp import DirectionalAuditor
from skbiasamp.render.facts import that_decides
from skbiasamp.render.words import express
from skbiasamp.results import Finding


def answers_of(report):
    """Return the answers of a first screen by their questions."""
    card = part_of(report, "Card")
    return {each.question: f"{each.strong} {each.text}".strip() for each in card.answers}


# --------------------------------------------------------------------------- five answers


def test_a_change_that_strata_explain_is_one_step_of_policy():
    """Two steps, one of them the model's, asked for the same reason, and "Clear." stood alone."""
    rng, n = np.random.default_rng(10), 8_000
    east = rng.random(n) < 0.5
    sex = np.where(rng.random(n) < np.where(east, 0.25, 0.75), "f", "m")
    labels = rng.random(n) < np.where(east, 0.6, 0.3)
    moved = rng.random(n) < np.where(east, 0.85, 0.1)
    predicted = np.where(rng.random(n) < 0.7, labels, moved).astype(int)
    how = {"favourable": 1, "given": pd.Series(east, name="shop"), "random_state": 0}
    report = skbiasamp.audit(labels.astype(int), predicted, sensitive_features=sex, **how)
    assert (report.facts.verdict, report.facts.within) == ("amplifies", "no clear effect")
    assert {"SBA203", "SBA210"} <= {each.code for each in report.findings}
    actions, answers = part_of(report, "Actions").actions, answers_of(report)
    asked = [(each.owner, each.step) for each in actions if "legitimate" in each.step]
    step = "Decide whether shop is a legitimate reason for this difference, and which law applies."
    assert asked == [(actions[0].owner, actions[0].step)] == [("policy", step)]
    assert answers["How sure is this?"].startswith("Clear over all rows.")
    said = "This holds over all rows. Among rows with the same shop,"
    assert said in answers["Is it the model or the data?"]


# --------------------------------------------------------------------------- comparisons


def test_a_comparison_says_how_many_rows_were_left_out():
    labels, predicted, groups = rows_of(WIDENED)
    known = groups.where(np.arange(len(groups)) >= 30)
    models = {"old": predicted, "new": labels}
    report = skbiasamp.compare(labels, models, sensitive_features=known, missing="drop")
    assert "30 rows have no group and are left out." in part_of(report, "Card").scope


# --------------------------------------------------------------------------- over time


def test_a_watch_says_whether_the_model_or_the_data_moved():
    facts = SCENARIOS["watch"]().facts
    assert facts.verdict == "alarm"
    gap = replace(facts.gap, before=0.1, after=0.5)
    moved = tuple(replace(each, labels=None) for each in facts.moved)
    for labels, strong in (
        ((0.1, 0.1), "More likely the model."),
        ((0.1, 0.0), "More likely the model."),
        ((0.1, 0.3), "Both."),
        ((0.1, 0.6), "The data."),
        (None, "Not known."),
    ):
        told = replace(facts, gap=gap, labelled_gap=labels, moved=moved)
        assert express("over", "source_strong", told) == strong
        quiet = replace(told, verdict="no alarm")
        assert express("over", "source_strong", quiet) == "Neither is clear."


# --------------------------------------------------------------------------- limits and steps


def test_rows_that_nobody_can_collect_are_not_named():
    for rows, known, said in (
        (50_000, 6_000, "About 50,000 rows would decide this"),
        (6_200, 400, "About 6,200 rows would decide this"),
        (60_001, 6_000, "more rows of this kind will hardly"),
        (float("inf"), 6_000, "hardly"),
        (49_000_000, 5_000_000, "hardly"),
        (9_000_000, 5_000_000, "About 9,000,000 rows"),
        (100, 12, "12 rows cannot tell"),
    ):
        assert said in express("gate", "decide", rows, known)


# --------------------------------------------------------------------------- every format


HOSTILE = ["a|b", "<b>bold</b>", "two\nlines", "'quoted' & \"so\""]


def corner_cases():
    """Yield labels, predictions, groups and options that leave little to say."""
    n, rng = 400, np.random.default_rng(0)
    labels = rng.integers(0, 2, n)
    predicted = np.where(rng.random(n) < 0.8, labels, 1)
    groups = np.array(HOSTILE, object)[rng.integers(0, 4, n)]
    one = np.where(np.arange(n) < n - 1, "x", "y")
    known = np.where(np.arange(n) < 2, np.resize(["x", "y"], n), None)
    yield labels, predicted, groups, {}
    yield labels, predicted, one, {}
    yield labels[:4], predicted[:4], np.array(HOSTILE, object), {}
    yield labels, predicted, known, {"missing": "group"}
    auditor = DirectionalAuditor(reference="test", interval=None)
    yield labels, predicted, groups, {"auditor": auditor}
    yield labels, np.zeros(n, int), groups, {}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", [*corner_cases()])
def test_every_format_shows_every_corner_case(case):
    labels, predicted, groups, options = case
    task = "<i>task</i> | one\nmore"
    report = skbiasamp.audit(
        pd.DataFrame({task: labels}),
        pd.DataFrame({task: predicted}),
        sensitive_features=pd.Series(groups, name="g"),
        **{"auditor": DirectionalAuditor(reference="test")} | options,
    )
    text, results = str(report), [result._repr_html_() for result in report.values()]
    for told in (report.to_html(), report._repr_html_(), *results):
        assert "<b>bold</b>" not in told
        assert "<i>task</i>" not in told
    markdown = report.to_markdown()
    rows = [re.findall(r"(?<!\\)\|", row) for row in markdown.splitlines() if row[:1] == "|"]
    assert {len(columns) - 1 for columns in rows} == {4}  # labels, predictions and their change
    assert "<b>bold</b>" not in markdown
    assert "None" not in text
    assert "nan" not in text.lower().split()
    assert part_of(report, "Card").title in text.replace("\n", " ").replace("  ", " ")
    assert json.loads(report.to_json())["facts"]["verdict"] == report.facts.verdict


def test_the_first_screen_ends_within_800_pixels(tmp_path):
    probe = """<pre id="found"></pre><script>document.getElementById("found").textContent =
        JSON.stringify(["figure", ".first"].map(name => Math.round(
          document.querySelector(name).getBoundingClientRect().bottom)));</script></body>"""
    for report in (SCENARIOS["model_that_amplifies"](), SCENARIOS["many_groups"]()):
        picture, whole = in_chromium(report.to_html().replace("</body>", probe), tmp_path)
        assert picture <= whole <= 800


def test_a_report_draws_its_first_picture():
    pytest.importorskip("matplotlib").use("Agg")
    ax = SCENARIOS["compas"]().plot()
    assert [label.get_text() for label in ax.get_yticklabels()] == ["African-American", "Caucasian"]
    assert ax.get_xlim() == (0, 1)
    ends = [line.get_xdata() for line in ax.lines]
    np.testing.assert_allclose(ends, [[0.523, 0.576], [0.391, 0.331]], atol=5e-4)
    with pytest.raises(ValueError, match="no rates to draw"):
        skbiasamp.results.AuditReport(results={}).plot()


# --------------------------------------------------------------------------- facts and words


def test_a_name_that_is_not_defined_is_an_error():
    jinja2 = pytest.importorskip("jinja2")
    with pytest.raises(jinja2.UndefinedError):
        express("audit", "title", {"view": "gap"}, "")
    numbers = {"group": "x", "change": 0.1}
    with pytest.raises(jinja2.UndefinedError):
        str(Finding("SBA209", "changed rates", "act", "model", numbers))


def test_an_interval_around_0_is_not_what_lies_outside_of_a_limit():
    """The first is wide, and the second is outside of 0.03."""
    intervals = [(-0.05, 0.2), (0.04, 0.06), (-0.01, 0.02)]
    assert that_decides(intervals, outside=True) == 1
    assert that_decides([(-high, -low) for low, high in intervals], outside=True) == 1
    assert that_decides(intervals, outside=False) == 0
