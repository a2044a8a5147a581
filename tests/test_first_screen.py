"""What a report tells first: who is worse off, by how much, model or data, how sure, what first."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from document_parts import part_of, table_of
from scenarios import (
    ADDED,
    BIASED,
    FAIR,
    KEPT,
    NARROWED,
    SCENARIOS,
    WIDENED,
    audit_of,
    comparison_of,
    rows_of,
)
from test_page import in_chromium

import skbiasamp
from skbiasamp import DirectionalAuditor
from skbiasamp.datasets import load_compas
from skbiasamp.render.facts import express, that_decides
from skbiasamp.results import Finding

NUMBER = re.compile(r"[+−-]?\d[\d,]*(?:\.\d+)?")


def answers_of(report):
    """Return the answers of a first screen by their questions."""
    card = part_of(report, "Card")
    return {each.question: f"{each.strong} {each.text}".strip() for each in card.answers}


def compas(**options):
    data = load_compas()
    labels, predicted = (
        np.where(again, "charged again", "not charged again")
        for again in (data.target, data.decile_score >= 5)
    )
    return skbiasamp.audit(
        labels,
        predicted,
        sensitive_features=data.sensitive_features,
        pos_label="charged again",
        random_state=0,
        **{"favourable": "not charged again"} | options,
    )


def groups_24():
    rng = np.random.default_rng(0)
    names = [f"{a} {b}" for a in "abcdefgh" for b in ("north", "south", "west")]
    rates = {name: (r := rng.uniform(0.3, 0.6), r + rng.normal(0, 0.012)) for name in names}
    rates |= {"a north": (0.4, 0.2), "b north": (0.4, 0.405), "b south": (0.5, 0.495)}
    return audit_of(rates, favourable=1)


# --------------------------------------------------------------------------- five answers


@pytest.mark.parametrize("rates", [WIDENED, NARROWED, ADDED, KEPT])
def test_growth_is_the_difference_of_the_gaps_that_are_shown(rates):
    """Bars of 14.1 stood beside a sentence of 14.2."""
    report = audit_of(rates)
    answers = answers_of(report)
    before, after = map(float, re.findall(r"\d+\.\d", answers["By how much?"])[:2])
    if report.facts.gap.before * report.facts.gap.after < 0:
        before = -before
    panel = part_of(report, "Panels").panels[0]
    grown, low, high = (
        float(text.replace("−", "-")) for text in NUMBER.findall(panel.picture.text)
    )
    assert grown == pytest.approx(after - before, abs=1e-9)
    assert low < grown < high
    bars = part_of(report, "Card").picture.gaps
    assert [f"{100 * (bar.end - bar.start):.1f}" for bar in bars] == pytest.approx(
        [f"{abs(before):.1f}", f"{after:.1f}"]
    )


def test_the_interval_is_that_of_the_number_before_it():
    for report in (compas(), groups_24(), SCENARIOS["several_tasks"]()):
        facts = report.facts
        value = facts.gap.growth if facts.gap else facts.value
        low, high = (facts.gap.low, facts.gap.high) if facts.gap else (facts.low, facts.high)
        shown_ends = NUMBER.findall(answers_of(report)["How sure is this?"])[:2]
        ends = sorted(abs(float(end.replace("−", "-"))) for end in shown_ends)
        assert ends == pytest.approx(sorted((abs(100 * low), abs(100 * high))), abs=0.051)
        assert low < value < high


def test_the_first_step_is_about_the_group_that_the_page_is_about():
    report = groups_24()
    assert report.facts.who.group == report.facts.worst.group == "a north"
    assert "a north" in answers_of(report)["What first?"]
    assert "a north" in part_of(report, "Card").title
    # The largest change is on one scale: the step, the picture and the table agree.
    worst = report.facts.worst
    step = next(each for each in report.findings if each.code == "SBA209")
    assert step.numbers["change"] == pytest.approx(worst.after - worst.before)
    mark = part_of(report, "Card").picture.marks[0]
    assert (mark.name, mark.before, mark.after) == ("a north", worst.before, worst.after)
    assert mark.tail == f"{100 * worst.change:+.1f}".replace("-", "−")


def test_of_two_groups_both_are_named_whose_rates_of_a_task_move_apart():
    groups = np.repeat(["a", "b"], 2_000)
    steady = np.tile(np.arange(2_000) < 800, 2).astype(int)
    moved = np.r_[np.arange(2_000) < 1_000, np.arange(2_000) < 600].astype(int)
    tasks = {"x": steady, "y": steady}
    report = skbiasamp.audit(
        pd.DataFrame(tasks),
        pd.DataFrame(tasks | {"y": moved}),
        sensitive_features=groups,
        auditor=DirectionalAuditor(reference="test"),
    )
    lead = part_of(report, "Card").lead
    assert "the model predicts “y” more often for a and less often for b than labelled" in lead


def test_the_lowest_rate_over_the_highest_is_said_wherever_people_want_an_outcome():
    """The four-fifths ratio stood on some pages: without a favourable class, and not with one."""
    report = compas()
    picture = part_of(report, "Card").picture
    rates = [1 - mark.after for mark in picture.marks]
    said = f"“not charged again” is {min(rates) / max(rates):.2f} times as frequent for"
    assert picture.note == (
        f"In the predictions, {said} African-American as for Caucasian; in the labels, 0.78 times."
    )
    for text in (str(report), report.to_markdown(), report.to_html()):
        assert said in " ".join(text.split())
    assert "Impact ratio" in report.to_html()
    for unknown in (compas(favourable=None), SCENARIOS["four_combinations"]()):
        assert part_of(unknown, "Card").picture.note == ""
        assert "mpact ratio" not in unknown.to_html()
        assert "four fifths" not in unknown.to_html()


def test_a_change_that_strata_explain_is_one_step_of_policy():
    """Two steps, one of them the model's, asked for the same reason, and "Clear." stood alone."""
    rng = np.random.default_rng(10)
    n = 8_000
    shop = pd.Series(rng.choice(["east", "west"], n), name="shop")
    sex = np.where(rng.random(n) < np.where(shop == "east", 0.25, 0.75), "f", "m")
    labels = (rng.random(n) < np.where(shop == "east", 0.6, 0.3)).astype(int)
    predicted = np.where(
        rng.random(n) < 0.7, labels, rng.random(n) < np.where(shop == "east", 0.85, 0.1)
    ).astype(int)
    report = skbiasamp.audit(
        labels, predicted, sensitive_features=sex, favourable=1, given=shop, random_state=0
    )
    assert (report.facts.verdict, report.facts.within) == ("amplifies", "no clear effect")
    assert {"SBA203", "SBA210"} <= {each.code for each in report.findings}
    actions, answers = part_of(report, "Actions").actions, answers_of(report)
    first, *others = actions
    assert (first.owner, first.step) == (
        "policy",
        "Decide whether shop is a legitimate reason for this difference, and which law applies.",
    )
    assert not any("legitimate" in each.step for each in others)
    assert answers["How sure is this?"].startswith("Clear over all rows.")
    assert (
        "This holds over all rows. Among rows with the same shop,"
        in (answers["Is it the model or the data?"])
    )


# --------------------------------------------------------------------------- comparisons


def test_a_comparison_says_how_many_rows_were_left_out():
    labels, predicted, groups = rows_of(WIDENED)
    known = groups.where(np.arange(len(groups)) >= 30)
    models = {"old": predicted, "new": labels}
    report = skbiasamp.compare(labels, models, sensitive_features=known, missing="drop")
    assert "30 rows have no group and are left out." in part_of(report, "Card").scope


def test_a_first_screen_has_at_most_ten_numbers():
    """Beside those in the picture; a date is one, and digits in names are none."""
    reports = [compas(limit=0.02), comparison_of(WIDENED, [BIASED, FAIR], favourable=1)]
    for report in (*reports, SCENARIOS["watch"](), SCENARIOS["trained_labels"]()):
        card = part_of(report, "Card")
        texts = [card.title, card.lead, card.picture.note]
        texts += [f"{each.strong} {each.text}" for each in card.answers]
        text = re.sub(r"\d{4}-\d\d", "1", re.sub("“[^”]*”", "", " ".join(texts)))
        assert len(NUMBER.findall(text)) <= 10, text


# --------------------------------------------------------------------------- over time


@pytest.mark.parametrize(
    ("labels", "strong"),
    [
        ((0.1, 0.1), "More likely the model."),
        ((0.1, 0.0), "More likely the model."),
        ((0.1, 0.3), "Both."),
        ((0.1, 0.6), "The data."),
        (None, "Not known."),
    ],
)
def test_a_watch_says_whether_the_model_or_the_data_moved(labels, strong):
    facts = SCENARIOS["watch"]().facts
    assert facts.verdict == "alarm"
    gap = replace(facts.gap, before=0.1, after=0.5)
    moved = tuple(replace(each, labels=None) for each in facts.moved)
    told = replace(facts, gap=gap, labelled_gap=labels, moved=moved)
    assert express("over", "source_strong", told) == strong
    quiet = replace(told, verdict="no alarm")
    assert express("over", "source_strong", quiet) == "Neither is clear."


# --------------------------------------------------------------------------- limits and steps


def test_rows_that_nobody_can_collect_are_not_named():
    assert express("gate", "decide", 50_000, 6_000) == "About 50,000 rows would decide this"
    assert express("gate", "decide", 6_200, 400) == "About 6,200 rows would decide this"
    assert "more rows of this kind will hardly" in express("gate", "decide", 60_001, 6_000)
    assert "hardly" in express("gate", "decide", float("inf"), 6_000)
    assert "hardly" in express("gate", "decide", 49_000_000, 5_000_000)
    assert express("gate", "decide", 9_000_000, 5_000_000).startswith("About 9,000,000 rows")
    assert express("gate", "decide", 100, 12).startswith("12 rows cannot tell")


def test_one_report_has_one_verdict_for_each_metric():
    """One line was adjusted for the number of metrics, and the next was not."""
    report = SCENARIOS["attackers"]()
    rows = table_of(report, "metrics-table").rows
    verdicts = {row.name.replace("→", "->"): row.cells[0].text for row in rows}
    assert verdicts == report.summary["verdict"].to_dict()
    assert part_of(report, "Card").chips[0].word.lower() == verdicts[report.primary]


# --------------------------------------------------------------------------- every format


HOSTILE = ["a|b", "<b>bold</b>", "two\nlines", "'quoted' & \"so\""]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "case", ["hostile", "one group", "one row a group", "all missing", "no interval", "constant"]
)
def test_every_format_shows_every_corner_case(case):
    n = 400
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, n)
    predicted = np.where(rng.random(n) < 0.8, labels, 1)
    groups = np.array(HOSTILE, object)[rng.integers(0, 4, n)]
    options = {"auditor": DirectionalAuditor(reference="test")}
    if case == "one group":
        groups = np.where(np.arange(n) < n - 1, "x", "y")
    elif case == "one row a group":
        labels, predicted, groups = labels[:4], predicted[:4], np.array(HOSTILE, object)
    elif case == "all missing":
        groups = np.where(np.arange(n) < 2, "x", None)
        groups[1] = "y"
        options["missing"] = "group"
    elif case == "no interval":
        options["auditor"] = DirectionalAuditor(reference="test", interval=None)
    elif case == "constant":
        predicted = np.zeros(n, int)
    task = "<i>task</i> | one\nmore"
    report = skbiasamp.audit(
        pd.DataFrame({task: labels}),
        pd.DataFrame({task: predicted}),
        sensitive_features=pd.Series(groups, name="g"),
        **options,
    )
    page, text, markdown, notebook = (
        report.to_html(),
        str(report),
        report.to_markdown(),
        report._repr_html_(),
    )
    for told in (page, notebook, *(result._repr_html_() for result in report.values())):
        assert "<b>bold</b>" not in told
        assert "<i>task</i>" not in told
    assert "<b>bold</b>" not in markdown
    assert "None" not in text
    assert "nan" not in text.lower().split()
    title = part_of(report, "Card").title
    assert title in text.replace("\n", " ").replace("  ", " ")
    assert json.loads(report.to_json())["facts"]["verdict"] == report.facts.verdict


def test_the_first_screen_ends_within_800_pixels(tmp_path):
    probe = """<pre id="found"></pre><script>document.getElementById("found").textContent =
        JSON.stringify(["figure", ".first"].map(name => Math.round(
          document.querySelector(name).getBoundingClientRect().bottom)));</script></body>"""
    for report in (compas(), groups_24()):
        picture, whole = in_chromium(report.to_html().replace("</body>", probe), tmp_path)
        assert picture <= whole <= 800


def test_a_report_draws_its_first_picture():
    pytest.importorskip("matplotlib").use("Agg")
    ax = compas().plot()
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
