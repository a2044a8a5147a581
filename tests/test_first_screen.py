"""What a report tells first: who is worse off, by how much, model or data, how sure, what first."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from document_parts import part_of, table_of
from scenarios import SCENARIOS
from test_page import in_chromium
from whole_documents import texts_in

import skbiasamp
from skbiasamp import DirectionalAuditor
from skbiasamp.datasets import load_compas
from skbiasamp.render.facts import that_decides
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


def test_groups_that_lose_as_much_are_both_worse_off():
    """One of two groups with the same loss was named, as if the other fared better."""
    report = audit_of({"a": (0.4, 0.5), "b": (0.4, 0.3), "c": (0.4, 0.3)}, favourable=1)
    assert report.facts.who.names == ["b", "c"]
    assert answers_of(report)["Who is worse off?"].startswith("B and c.")
    assert part_of(report, "Card").title.endswith("b and c lose most")
    unstated = audit_of({"a": (0.5, 0.6), "b": (0.3, 0.2), "c": (0.4, 0.4)})
    assert part_of(unstated, "Card").title.endswith("most of all for a and b")
    apart = audit_of({"a": (0.4, 0.5), "b": (0.4, 0.3), "c": (0.4, 0.28)}, favourable=1)
    assert apart.facts.who.names == ["c"]


def test_nobody_is_worse_off_if_all_groups_are_predicted_it_equally_often():
    report = audit_of({"a": (0.5, 0.4), "b": (0.3, 0.4)}, favourable=1)
    answer = answers_of(report)["Who is worse off?"]
    assert answer.startswith("Nobody.")
    assert answer.endswith("The model predicts it equally often for all groups.")


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


def test_groups_that_change_sides_have_no_ratio():
    """The lowest over the highest, .63 and then .76, reads as an improvement."""
    assert audit_of(NARROWED, favourable=1).facts.ratios.group == "b"
    turned = audit_of(TURNED, favourable=1)
    assert turned.facts.ratios is None
    assert part_of(turned, "Card").picture.note == ""


def test_what_changes_sides_is_said_of_labels_and_predictions():
    """“16.5 more for men, then 10.2 more for women” reads as a change over time."""
    report = audit_of(TURNED, favourable=1)
    said = "In the labels, 20.0 more for a; in the predictions, 20.0 more for b"
    assert said in answers_of(report)["By how much?"]
    assert said in report.sentences[report.primary]
    assert "then" not in answers_of(report)["By how much?"]
    both = compared(WIDENED, [OLD, ("new", {"a": 0.2, "b": 0.5})])
    said = "“old”: 30.0 more for a; “new”: 30.0 more for b"
    assert said in answers_of(both)["By how much?"]


def test_a_picture_of_errors_says_of_whom_a_share_is():
    """“Labelled otherwise” left open whether the share is one of labels or of predictions."""
    report = audit_of(WIDENED)
    (errors,) = (
        each for each in part_of(report, "Panels").panels if each.title == "Who bears the errors?"
    )
    of_others, of_labelled = (title for title, _ in errors.picture.blocks)
    assert of_others == "Not labelled “y = 1”, but predicted so"
    assert of_labelled == "Labelled “y = 1”, but not predicted so"
    labels, predicted, groups = rows_of(WIDENED)
    missed = 1 - predicted[(groups == "b") & (labels == 1)].mean()
    assert errors.text == (
        f"Read it so: in the group b, {100 * missed:.1f} % of those labelled “y = 1” are not "
        "predicted so."
    )


def test_strata_are_named_by_their_columns():
    """“Within strata” stood beside a step that said (given)."""
    shop = pd.Series(np.arange(4_000) % 2, name="shop")
    report = audit_of(WIDENED, favourable=1, given=shop)
    (alike,) = (each for each in part_of(report, "Panels").panels if "like" in each.title)
    assert [name for name, _ in alike.picture.blocks[0][1]] == ["all rows", "same shop"]
    (ratio,) = (each for each in report.findings if each.code == "SBA203")
    assert ratio.action.endswith("which law applies.")
    (ratio,) = (each for each in audit_of(WIDENED, favourable=1).findings if each.code == "SBA203")
    assert ratio.action.endswith("Then audit again, with the column of this reason (given).")


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


def test_a_first_screen_says_what_is_unclear_or_how_sure_a_limit_is():
    """“Unclear.” was taken for the harm, and “Within the limit.” did not say how sure that is."""

    def sure(rates, **options):
        return answers_of(audit_of(rates, **options))["How sure is this?"]

    assert sure(KEPT).startswith("Whether the model changes the gap is unclear.")
    assert sure(KEPT, limit=0.05).startswith("Clear: the change is within the limit.")
    assert sure(WIDENED, limit=0.2).startswith("Clear, and within the limit.")
    assert sure(KEPT, limit=0.001).startswith("Inconclusive: the change may be within the limit,")


def test_a_picture_of_the_mean_over_groups_says_so():
    """“Gap grows” stood under it, and the gap that the text names shrank."""
    rates = KEPT | {"c": (0.4, 0.4)}
    of_limit = part_of(audit_of(rates, limit=0.02), "Panels").panels[0]
    assert of_limit.title == "Is the mean change outside the limit?"
    assert of_limit.picture.ends == ("← gaps shrink", "gaps grow →")
    assert of_limit.text.endswith("Percentage points, mean over all groups.")
    of_gap = part_of(audit_of(KEPT), "Panels").panels[0]
    assert of_gap.picture.ends == ("← gap shrinks", "gap grows →")


def test_a_table_of_groups_has_groups_and_their_rows_alone():
    """Its first row was "all rows", and 24 groups were counted as 25."""
    report = groups_24()
    (table,) = (
        panel.picture
        for panel in part_of(report, "Panels").panels
        if getattr(panel.picture, "id", "") == "groups"
    )
    assert table.n == len(table.rows) == 24
    assert table.columns[0] == "Rows"
    assert {row.cells[0].text for row in table.rows} == {"2,000"}
    before, after = (f"{100 * rate:.1f} %" for rate in report.facts.everybody)
    assert f"(from {before} to {after})" in table.caption


def test_labels_without_a_clear_gap_are_said_to_have_none():
    """“Not clear” was read as "not known"."""
    assert part_of(audit_of(ADDED), "Card").picture.gaps[0].text == "no clear gap"


def test_a_title_has_the_shorter_name_of_two_classes():
    """“Not hired: not clear whether” has to be read twice."""
    labels, predicted, groups = rows_of(KEPT)
    hired = ("not hired", "hired")
    report = skbiasamp.audit(
        labels.map(hired.__getitem__),
        predicted.map(hired.__getitem__),
        sensitive_features=groups,
        pos_label="not hired",
        favourable="hired",
    )
    assert part_of(report, "Card").title.startswith("Hired: ")


def test_what_rows_agree_with_is_the_interval_of_the_first_screen():
    report = audit_of(KEPT | {"c": (0.4, 0.4)})
    gap = report.facts.gap
    said = f"{100 * gap.low:+.1f} to {100 * gap.high:+.1f} percentage points".replace("-", "−")
    assert said in answers_of(report)["How sure is this?"]
    (found,) = (each for each in report.findings if each.code == "SBA303")
    assert f"changes of the gap of {gap.group} to all rows from {said}." in found.text


# --------------------------------------------------------------------------- comparisons


def compared(rates, models, **options):
    """Return a comparison of models that predict groups so often, "old" first."""
    labels, _, groups = rows_of(rates)
    rows = {name: rows_of({g: (rates[g][0], p) for g, p in of.items()})[1] for name, of in models}
    auditor = DirectionalAuditor(reference="test")
    return skbiasamp.compare(labels, rows, sensitive_features=groups, auditor=auditor, **options)


OLD = ("old", {"a": 0.5, "b": 0.2})
FAIR = ("new", {"a": 0.4, "b": 0.3})


def test_a_model_that_amplifies_nothing_is_not_said_to_amplify_less():
    report = compared(WIDENED, [OLD, FAIR])
    assert report["directional A->T"].verdicts == {"new": "amplifies less"}
    card = part_of(report, "Card")
    assert card.chips[0].word == "Smaller gap than “old”"
    assert card.title == "“new” has a smaller gap between a and b than “old”"
    turned = part_of(compared(WIDENED, [FAIR, OLD], reference="new"), "Card")
    assert turned.chips[0].word == "Larger gap than “new”"
    three = {"a": (0.4, 0.4), "b": (0.3, 0.3), "c": (0.35, 0.35)}
    models = [(name, of | {"c": 0.35}) for name, of in (OLD, FAIR)]
    card = part_of(compared(three, models), "Card")
    assert card.chips[0].word == "Smaller gaps than “old”"
    assert card.title == "“new” has smaller gaps between groups than “old”"
    report = compared(WIDENED, [OLD, FAIR, ("other", FAIR[1])])
    several = part_of(report, "Card")
    # The picture has the unit of the gaps beside it.
    table = report["directional A->T"].table.set_index("model")["value"]
    drawn = {mark.name: (mark.before, mark.after) for mark in several.picture.marks}
    assert drawn == {
        name: pytest.approx((200 * table["old"], 200 * table[name])) for name in ("new", "other")
    }
    assert several.picture.caption.endswith("in percentage points")
    assert f"{200 * table['old']:+.1f}" in report.to_html()
    assert [each.strong for each in several.answers[:2]] == ["Smaller gap than “old”."] * 2


def test_a_comparison_says_which_model_to_prefer_by_amplification():
    """It said only to audit the model that is chosen."""

    def step(models, **options):
        report = compared(WIDENED, models, **options)
        (found,) = (each for each in report.findings if each.code == "SBA506")
        return report, found.action

    report, action = step([OLD, FAIR])
    prefer = "By amplification alone, prefer “new”."
    assert action == f"{prefer} Audit it on other rows before you use it."
    answers = answers_of(report)
    assert answers["What first?"] == action
    # The first screen has the numbers of the gaps: a second one of the same size was misread.
    reason = next(each.text for each in report.findings if each.code == "SBA506")
    assert reason == "“old” amplifies by itself: its gap is clearly larger than that in the labels."
    itself = answers["What does each do by itself?"]
    assert re.search("accuracy of “new” is .* higher than that of “old”", itself)
    assert (
        "“old” amplifies, and “new” shows no clear effect."
        in (answers["What does each do by itself?"])
    )
    # No gap changes over time here.
    assert "percentage points smaller." in answers["How sure is this?"]
    texts = " ".join(texts_in(report.to_document().sections))
    assert not re.search("gap (shrinks|grows)", texts)
    _, action = step([OLD, FAIR], reference="new")
    assert action.startswith(prefer)
    # A smaller gap than that of a model that adds nothing is no merit.
    _, action = step([FAIR, ("less", {"a": 0.36, "b": 0.34})])
    assert action.startswith("Choose by other criteria: neither model clearly amplifies.")
    # What turns the labels around is not preferred.
    report, action = step([OLD, ("turned", {"a": 0.2, "b": 0.5})])
    assert "reverses than" not in " ".join(map(str, report.findings))
    assert action == "Audit the model that you choose, on other rows."


def test_the_lead_of_a_comparison_names_both_groups_and_both_models():
    lead = part_of(compared(WIDENED, [OLD, FAIR]), "Card").lead
    assert lead == "“new” predicts “1” less often for a than “old”, and more often for b."


def test_the_verdict_about_a_model_says_its_accuracy():
    report = compared(WIDENED, [OLD, FAIR])
    assert "Its accuracy is" in report.verdicts["new"]


def test_a_comparison_says_how_many_rows_were_left_out():
    labels, predicted, groups = rows_of(WIDENED)
    known = groups.where(np.arange(len(groups)) >= 30)
    models = {"old": predicted, "new": labels}
    report = skbiasamp.compare(labels, models, sensitive_features=known, missing="drop")
    assert "30 rows have no group and are left out." in part_of(report, "Card").scope


def test_a_first_screen_has_at_most_ten_numbers():
    """Beside those in the picture; a date is one, and digits in names are none."""
    reports = [compas(limit=0.02), compared(WIDENED, [OLD, FAIR], favourable=1)]
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


def test_a_release_is_held_before_anybody_looks_for_the_cause():
    """After a reversal, it was the second step, and then two steps that readers turned around."""
    report = audit_of(WIDENED, limit=0.02)
    first, *_ = part_of(report, "Actions").actions
    assert first.step == "Hold the release until the model keeps the limit."
    assert answers_of(report)["What first?"] == first.step
    for limit in (0.02, None):
        report = audit_of(TURNED, limit=limit)
        first, *others = part_of(report, "Actions").actions
        assert first.step == (
            "Hold the release, and check first that predictions, labels and groups belong to the "
            "same rows."
        )
        assert not any("release" in each.step and "Hold" in each.step for each in others)
        assert answers_of(report)["What first?"].startswith(first.step)


def test_rows_that_nobody_can_collect_are_not_named():
    assert express("gate", "decide", 50_000, 6_000) == "About 50,000 rows would decide this"
    assert express("gate", "decide", 6_200, 400) == "About 6,200 rows would decide this"
    assert "more rows of this kind will hardly" in express("gate", "decide", 60_001, 6_000)
    assert "hardly" in express("gate", "decide", float("inf"), 6_000)
    assert "hardly" in express("gate", "decide", 49_000_000, 5_000_000)
    assert express("gate", "decide", 9_000_000, 5_000_000).startswith("About 9,000,000 rows")
    assert express("gate", "decide", 100, 12).startswith("12 rows cannot tell")


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
