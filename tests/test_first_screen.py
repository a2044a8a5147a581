"""What a report tells first: who is worse off, by how much, model or data, how sure, what first."""

import json
import re
from dataclasses import FrozenInstanceError, fields, is_dataclass

import numpy as np
import pandas as pd
import pytest
from scenarios import SCENARIOS
from test_page import in_chromium

import skbiasamp
from skbiasamp import DirectionalAuditor
from skbiasamp.datasets import load_compas
from skbiasamp.render.document import Actions, Card, Dumbbell, Panels
from skbiasamp.render.facts import Facts
from skbiasamp.render.words import express
from skbiasamp.results import Finding

NUMBER = re.compile(r"[+−-]?\d[\d,]*(?:\.\d+)?")
NO_REPORTS = ("threshold_curve", "subgroups", "wrong_labels", "folds", "folds_of_one_model")
REPORTS = [name for name in SCENARIOS if name not in NO_REPORTS]


def shown(item):
    """Yield all texts of a part of a document."""
    if isinstance(item, str):
        yield item
    elif isinstance(item, list | tuple):
        for part in item:
            yield from shown(part)
    elif is_dataclass(item):
        for each in fields(item):
            if each.name not in ("axis", "tone", "key", "sides", "owner", "date"):
                yield from shown(getattr(item, each.name))


def part_of(report, kind):
    items = [item for section in report.to_document().sections for item in section.items]
    return next(item for item in items if isinstance(item, kind))


def answers_of(report):
    """Return the answers of a first screen by their questions."""
    card = part_of(report, Card)
    return {each.question: f"{each.strong} {each.text}".strip() for each in card.answers}


def count_numbers(report):
    """Count the numbers of a first screen: a date is one, ticks and digits in names are none."""
    card = part_of(report, Card)
    texts = [card.title, card.lead, card.scope, *(chip.word for chip in card.chips)]
    texts += [f"{each.strong} {each.text}" for each in card.answers]
    picture = card.picture
    n = bool(card.date) + sum(2 * mark.numbers for mark in picture.marks)
    texts += [mark.tail for mark in picture.marks] + [gap.text for gap in picture.gaps]
    texts += [picture.caption, picture.left_out]
    names = [mark.name for mark in picture.marks]
    for name in sorted(names, key=len, reverse=True):
        texts = [text.replace(name, "") for text in texts]
    texts = [re.sub("“[^”]*”", "", text) for text in texts]
    return n + sum(len(NUMBER.findall(text)) for text in texts)


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


def test_compas_is_told_as_it_is():
    answers = answers_of(compas())
    assert answers["Who is worse off?"].startswith(
        "African-American. The favourable outcome is “not charged again”, not “charged again”."
    )
    assert answers["By how much?"].startswith(
        "13.2 in the labels, 24.5 in the predictions (gap, in percentage points)"
    )
    assert answers["Is it the model or the data?"].startswith("Both.")
    assert answers["How sure is this?"].startswith("Clear. Allowing for chance, the model adds 8.1")
    assert "so rarely for Caucasian" in answers["What first?"]
    card = part_of(compas(), Card)
    assert card.title == (
        "Charged again: the model widens the gap between African-American and Caucasian"
    )
    assert [chip.word for chip in card.chips] == ["Amplifies", "No limit declared"]
    # The group that is worse off stands first.
    assert [mark.name for mark in card.picture.marks] == ["African-American", "Caucasian"]


def test_a_title_names_the_outcome_that_people_want_and_the_other_one():
    labels, predicted, groups = rows_of(WIDENED)

    def title_of(first, last, wanted):
        labelled, given = (np.where(each == 1, last, first) for each in (labels, predicted))
        report = skbiasamp.audit(labelled, given, sensitive_features=groups, favourable=wanted)
        return report.to_document().heading

    gap = "the model widens the gap between a and b"
    assert title_of("granted", "refused", "granted") == f"Granted or refused: {gap}"
    assert title_of("granted", "refused", "refused") == f"Refused: {gap}"
    assert title_of("no", "yes_please", "yes_please") == f"Yes please: {gap}"
    assert title_of("not paid", "paid", "not paid") == f"Paid: {gap}"


@pytest.mark.parametrize(
    ("make", "most"),
    [
        (compas, 10),
        (groups_24, 16),
        (lambda: SCENARIOS["missing_rows"](), 12),
    ],
)
def test_the_first_screen_has_few_numbers(make, most):
    assert 6 <= count_numbers(make()) <= most


@pytest.mark.parametrize(
    ("rates", "verdict", "tone", "title", "source"),
    [
        (WIDENED, "amplifies", "up", "widens the gap between a and b", "Both."),
        (NARROWED, "reduces", "down", "narrows the gap between a and b", "The data."),
        (TURNED, "reverses", "rev", "reverses the gap between a and b", "The model, or"),
        (ADDED, "adds a difference", "up", "adds a gap between a and b", "The model."),
        (KEPT, "no clear effect", "unc", "no clear change of the gap", "The data."),
    ],
)
def test_each_verdict_has_its_words_and_its_colour(rates, verdict, tone, title, source):
    """*Reverses* was blue, with an arrow down, as good news are."""
    report = audit_of(rates, favourable=1)
    card = part_of(report, Card)
    assert report.facts.verdict == verdict
    assert card.chips[0].word == verdict.capitalize()
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
    panel = part_of(report, Panels).panels[0]
    grown, low, high = (
        float(text.replace("−", "-")) for text in NUMBER.findall(panel.picture.text)
    )
    assert grown == pytest.approx(after - before, abs=1e-9)
    assert low < grown < high
    bars = part_of(report, Card).picture.gaps
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
    assert "a north" in part_of(report, Card).title
    # The largest change is on one scale: the step, the picture and the table agree.
    worst = report.facts.worst
    step = next(each for each in report.findings if each.code == "SBA209")
    assert step.numbers["change"] == pytest.approx(worst.after - worst.before)
    mark = part_of(report, Card).picture.marks[0]
    assert (mark.name, mark.before, mark.after) == ("a north", worst.before, worst.after)
    assert mark.tail == f"{100 * worst.change:+.1f}".replace("-", "−")


def test_a_group_that_is_unclear_is_said_to_be():
    *marks, everybody = part_of(groups_24(), Card).picture.marks
    assert everybody.name == "all rows"
    assert len(marks) == 7
    assert {mark.tail for mark in marks if mark.tone == "unc"} == {"unclear"}


def test_a_group_that_changes_clearly_is_said_beside_an_unclear_mean():
    report = SCENARIOS["missing_groups"]()
    assert report.facts.verdict == "no clear effect"
    assert [change.group for change in report.facts.changes if change.effect == "grows"] == [
        "woman"
    ]
    assert part_of(report, Card).lead == "The mean change is not clear. That of woman is."
    assert "the mean change is" in answers_of(report)["How sure is this?"]


def test_who_is_worse_off_is_said_only_if_it_is_known():
    assert answers_of(audit_of(WIDENED))["Who is worse off?"].startswith("Not stated:")
    assert answers_of(audit_of(WIDENED, favourable=1))["Who is worse off?"].startswith("B.")
    assert answers_of(audit_of(WIDENED, favourable=0))["Who is worse off?"].startswith("A.")


# --------------------------------------------------------------------------- limits and steps


def test_outside_the_limit_on_the_other_side_is_not_above_it():
    report = audit_of(NARROWED, limit=0.01)
    card = part_of(report, Card)
    assert [chip.word for chip in card.chips] == ["Reduces", "Outside the limit"]
    assert {chip.tone for chip in card.chips} == {"down"}
    texts = " ".join(shown(report.to_document().sections))
    assert "above the limit" not in texts
    assert "shrinks by" in answers_of(report)["How sure is this?"]


def test_a_limit_of_two_groups_is_said_in_the_unit_of_the_gap():
    answers = answers_of(audit_of(WIDENED, limit=0.02))
    assert answers["How sure is this?"].endswith("; the limit is 4 points.")
    assert "percentage points" in answers["How sure is this?"]


def test_a_step_that_was_taken_is_not_advised():
    rng = np.random.default_rng(0)
    labels, predicted, groups = rows_of({"a": (0.5, 0.6), "b": (0.3, 0.2)})
    how = {"sensitive_features": groups, "favourable": 1, "random_state": 0}
    alone = skbiasamp.audit(labels, predicted, **how)
    strata = skbiasamp.audit(labels, predicted, given=rng.choice(["x", "y"], len(labels)), **how)
    with_given, without = (
        " ".join(finding.action for finding in report.findings) for report in (strata, alone)
    )
    assert "given" in without
    assert "given" not in with_given
    assert "limit" in without
    assert "Declare a limit" not in " ".join(
        finding.action for finding in audit_of(WIDENED, limit=0.02).findings
    )


def test_at_most_three_steps_each_with_an_owner_and_a_reason():
    for name in ("compas", "many_groups", "several_tasks", "two_models"):
        actions = part_of(SCENARIOS[name](), Actions).actions
        assert 1 <= len(actions) <= 3
        assert {action.owner for action in actions} <= {"data", "model", "policy"}
        assert all(action.step and action.reason for action in actions)


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
    assert part_of(report, Card).chips[0].word.lower() == verdicts[report.primary]


def test_robustness_is_said_in_counts():
    after = part_of(compas(), Actions).after
    assert re.fullmatch(
        r"This result is no longer clear if about \d+ of the 3,175 labels of African-American are "
        r"wrong\.",
        after,
    )


def test_no_power_is_said_without_a_limit():
    texts = " ".join(shown(audit_of(KEPT).to_document().sections))
    assert "would be found" not in texts
    assert "would find" not in texts


def test_an_alarm_that_comes_later_than_its_change_says_why():
    """A page said: changed in June, version 2 began in July, and left readers alone with it."""
    timeline = SCENARIOS["watch"]()
    card = part_of(timeline, Card)
    assert timeline.onset < timeline.first_alarm
    assert timeline.onset in card.title
    assert f"Evidence adds up over periods, so the first alarm came in {timeline.first_alarm}" in (
        card.lead
    )
    assert "Version 2 began in 2026-06" in answers_of(timeline)["When did it begin?"]


# --------------------------------------------------------------------------- every format


@pytest.mark.filterwarnings("ignore::skbiasamp.inference.UncertaintyWarning")
@pytest.mark.parametrize("name", REPORTS)
def test_a_report_is_told_in_25_lines_of_short_sentences(name):
    result = SCENARIOS[name]()
    if not hasattr(result, "to_html") or not any(
        isinstance(item, Card)
        for section in result.to_document().sections
        for item in section.items
    ):
        pytest.skip("it has no first screen")
    assert len(str(result).splitlines()) <= 25
    context = getattr(result, "context", {})
    names = [str(name) for name in context.get("groups", ()) + context.get("tasks", ())]
    columns = context.get("group_columns", ())
    if len(columns) > 1:
        names += [
            ", ".join(f"{c} = {v}" for c, v in zip(columns, group, strict=True))
            for group in context["groups"]
        ]
    for item in (Card, Actions):
        kinds = [type(each) for s in result.to_document().sections for each in s.items]
        if item not in kinds:
            continue
        for text in shown(part_of(result, item)):
            for each in sorted(names, key=len, reverse=True):
                text = text.replace(each, "X")
            text = re.sub(r"“[^”]*”", "X", text).replace(" %", "%")
            for sentence in re.split(r"(?<=[.?!;])\s+", text):
                assert len(sentence.split()) <= 20, sentence


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
    title = part_of(report, Card).title
    assert title in text.replace("\n", " ").replace("  ", " ")
    assert json.loads(report.to_json())["facts"]["verdict"] == report.facts.verdict


def test_the_first_screen_ends_within_800_pixels(tmp_path):
    probe = """<pre id="found"></pre><script>document.getElementById("found").textContent =
        JSON.stringify(["figure", ".first"].map(name => Math.round(
          document.querySelector(name).getBoundingClientRect().bottom)));</script></body>"""
    for report in (compas(), groups_24()):
        picture, whole = in_chromium(report.to_html().replace("</body>", probe), tmp_path)
        assert picture <= whole <= 800


def test_rates_by_group_are_in_every_format():
    report = compas()
    for told in (report.to_html(), str(report), report.to_markdown(), report._repr_html_()):
        for number in ("52.3 %", "57.6 %", "39.1 %", "33.1 %"):
            assert number in told


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


def test_facts_are_frozen_and_whole():
    facts = compas().facts
    with pytest.raises(FrozenInstanceError):
        facts.verdict = "another"
    stored = json.loads(compas().to_json())["facts"]
    assert set(stored) == {each.name for each in fields(Facts)}
    assert stored["gap"]["before"] == pytest.approx(0.132)
    assert stored["changes"][0]["group"] == "African-American"
    assert stored["who"]["group"] == "African-American"


def test_results_and_checks_hold_no_sentences():
    """Facts, then words: a sentence in another file would be said in one format only."""
    facts = compas().facts
    for change in facts.changes:
        assert change.effect in {"grows", "shrinks", "reverses", "added", "unclear", "unknown"}
    texts = [text for finding in facts.caveats for text in shown(dict(finding.numbers).values())]
    assert not [text for text in texts if len(text.split()) > 6]


def test_a_name_that_is_not_defined_is_an_error():
    jinja2 = pytest.importorskip("jinja2")
    with pytest.raises(jinja2.UndefinedError):
        express("audit", "title", {"view": "gap"}, "")
    numbers = {"group": "x", "change": 0.1}
    with pytest.raises(jinja2.UndefinedError):
        str(Finding("SBA209", "changed rates", "act", "model", numbers))


def test_an_empty_report_has_a_page():
    report = skbiasamp.results.AuditReport(results={})
    assert part_of(report, Card).picture is None
    assert "The report has no result." in report.to_html()


def test_dumbbells_run_from_0_to_100_percent():
    for name in ("compas", "many_groups", "several_tasks"):
        picture = part_of(SCENARIOS[name](), Card).picture
        assert isinstance(picture, Dumbbell)
        assert (picture.axis.low, picture.axis.high) == (0, 1)
