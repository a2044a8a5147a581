"""What a report tells first: who is worse off, by how much, model or data, how sure, what first."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from scenarios import SCENARIOS
from test_page import in_chromium, part_of
from whole_documents import texts_in

import skbiasamp
from skbiasamp import DirectionalAuditor
from skbiasamp.datasets import load_compas
from skbiasamp.render.words import express
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


def rows_of(rates, n=2_000, seed=0):
    """Return labels, predictions and groups with these shares, as exactly as rows allow."""
    rng, parts = np.random.default_rng(seed), []
    for group, (label, predicted) in rates.items():
        y, p = np.arange(n) < label * n, np.arange(n) < predicted * n
        both = rng.permutation(n)[: n // 20]  # errors both ways
        p[both] = rng.permutation(p[both])
        parts.append(pd.DataFrame({"y": y, "p": p, "group": group}))
    rows = pd.concat(parts, ignore_index=True)
    return rows["y"].astype(int), rows["p"].astype(int), rows["group"]


def audit_of(rates, **options):
    labels, predicted, groups = rows_of(rates)
    auditor = DirectionalAuditor(reference="test")
    return skbiasamp.audit(labels, predicted, sensitive_features=groups, auditor=auditor, **options)


WIDENED = {"a": (0.4, 0.45), "b": (0.3, 0.2)}
NARROWED = {"a": (0.5, 0.45), "b": (0.3, 0.35)}
TURNED = {"a": (0.5, 0.3), "b": (0.3, 0.5)}
ADDED = {"a": (0.3, 0.36), "b": (0.3, 0.22)}
KEPT = {"a": (0.5, 0.5), "b": (0.3, 0.3)}


def groups_24():
    rng = np.random.default_rng(0)
    names = [f"{a} {b}" for a in "abcdefgh" for b in ("north", "south", "west")]
    rates = {name: (r := rng.uniform(0.3, 0.6), r + rng.normal(0, 0.012)) for name in names}
    rates |= {"a north": (0.4, 0.2), "b north": (0.4, 0.405), "b south": (0.5, 0.495)}
    return audit_of(rates, favourable=1)


# --------------------------------------------------------------------------- five answers


@pytest.mark.parametrize(
    ("rates", "verdict", "tone", "title", "source"),
    [
        (WIDENED, "amplifies", "up", "widens the gap between a and b", "Both."),
        (NARROWED, "reduces", "down", "narrows the gap between a and b", "The data."),
        (TURNED, "reverses", "rev", "reverses the gap between a and b", "The model, or"),
        (ADDED, "adds a difference", "up", "adds a gap between a and b", "The model."),
        (KEPT, "no clear effect", "unc", "no clear change by the model of the gap", "The data."),
    ],
)
def test_each_verdict_has_its_words_and_its_colour(rates, verdict, tone, title, source):
    """*Reverses* was blue, with an arrow down, as good news are."""
    report = audit_of(rates, favourable=1)
    card = part_of(report, "Card")
    assert report.facts.verdict == verdict
    more = {"adds a difference": " that the labels lack", "no clear effect": " of the model"}
    assert card.chips[0].word == verdict.capitalize() + more.get(verdict, "")
    assert card.chips[0].tone == tone
    assert title in card.title.lower()
    assert answers_of(report)["Is it the model or the data?"].startswith(source)
    tones = {mark.tone for mark in card.picture.marks}
    assert tones == {tone}


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


def test_who_is_worse_off_is_said_only_if_it_is_known():
    assert answers_of(audit_of(WIDENED))["Who is worse off?"].startswith("Not stated:")
    assert answers_of(audit_of(WIDENED, favourable=1))["Who is worse off?"].startswith("B.")
    assert answers_of(audit_of(WIDENED, favourable=0))["Who is worse off?"].startswith("A.")


# --------------------------------------------------------------------------- limits and steps


def test_outside_the_limit_on_the_other_side_is_not_above_it():
    report = audit_of(NARROWED, limit=0.01)
    card = part_of(report, "Card")
    assert [chip.word for chip in card.chips] == ["Reduces", "Outside the limit"]
    assert {chip.tone for chip in card.chips} == {"down"}
    texts = " ".join(texts_in(report.to_document().sections))
    assert "above the limit" not in texts
    assert "shrinks by" in answers_of(report)["How sure is this?"]


def test_one_report_has_one_verdict_for_each_metric():
    """One line was adjusted for the number of metrics, and the next was not."""
    report = SCENARIOS["attackers"]()
    (table,) = (
        item
        for section in report.to_document().sections
        for item in section.items
        if getattr(item, "id", "") == "metrics-table"
    )
    verdicts = {row.name.replace("→", "->"): row.cells[0].text for row in table.rows}
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
    for told in (page, notebook):
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
