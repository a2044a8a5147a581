"""Sentences, pictures and tables of one page agree, and its first screen answers five questions."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from document_parts import part_of, parts_of, table_of
from scenarios import ROWS, SCENARIOS, WIDENED, explained, report, rows_of
from test_page import in_chromium

import skbiasamp
from skbiasamp import DirectionalAuditor
from skbiasamp.metrics import BiasDisparityAuditor, DifferentialFairnessAuditor, PercentageAuditor
from skbiasamp.render.facts import express, that_decides


def test_a_picture_of_probabilities_shows_the_means_that_the_verdict_compares():
    """It showed shares of rows at 0.5 or more, which may change in the other direction."""
    audit = report(ROWS(), "cook_score")
    pairs = audit[audit.primary].table.set_index("group")
    for mark in audit.to_document().picture.marks:
        shown = pairs.loc[mark.name, ["base", "observed"]].tolist()
        assert [mark.before, mark.after] == pytest.approx(shown)
    assert table_of(audit, "rates-table").caption.endswith("0.5 or more counts as predicted")


@pytest.mark.parametrize("auditor", [DirectionalAuditor(), skbiasamp.MALSAuditor()])
def test_errors_of_all_rows_are_theirs_whatever_pairs_count(auditor):
    label, predicted = (ROWS()[name] == 1 for name in ("cook", "cook_new"))
    *_, every = report(ROWS(), by="region", auditor=auditor).facts.errors
    assert every.group == "all rows"
    assert every.false_positive == pytest.approx(predicted[~label].mean())
    assert every.false_negative == pytest.approx(1 - predicted[label].mean())
    both = ROWS()[["region", "sex"]].eq(["north", "man"]).astype(int).assign(all=1)
    how = {"sensitive_features": both, "groups": "indicator", "auditor": auditor}
    overlapping = skbiasamp.audit(label * 1, predicted * 1, **how)
    assert [each.group for each in overlapping.facts.errors] == [*both]


def test_bounds_of_rates_are_drawn_beside_rates_alone():
    rows = ROWS().assign(sex=ROWS()["sex"].where(np.arange(400) % 20 > 0, None))
    for auditor, drawn in ((DirectionalAuditor(), True), (skbiasamp.MALSAuditor(), False)):
        picture = report(rows, auditor=auditor, missing="bounds").to_document().picture
        assert any(mark.band for mark in picture.marks) == drawn


def test_parts_of_a_difference_sum_to_it_as_they_are_shown():
    gaps = explained(ROWS(), by="region", given=ROWS()["grade"])
    rate = gaps.rates.set_index(["of", "group"])["rate"].mul(100).round(1)
    texts = [text for text in gaps.sentences if "percentage points in" in text]
    assert len(texts) == 4
    for text in texts:
        names, numbers = text.split(", task ")
        first, other = (rate.xs(name.split()[-1], level=1) for name in names.split(" minus "))
        words = numbers.replace("−", "-").replace("+", "").split()
        whole = float(words[1])
        of = "labels" if "points in labels" in text else "predictions"
        assert whole == pytest.approx(first[of] - other[of], abs=1e-9)
        parts = words[words.index("explain") + 1].rstrip(","), words[words.index("remain") - 1]
        assert whole == pytest.approx(sum(map(float, parts)), abs=1e-9)


def test_amounts_have_separators_of_thousands():
    amounts = np.tile([48_000.0, 52_000.0], 60) + np.repeat(np.arange(60), 2)
    result = skbiasamp.NumericAuditor(reference="test").audit(
        pd.Series(amounts, name="wage"), amounts * 0.9, sensitive_features=["f", "m"] * 60
    )
    assert re.search(r"The gap is \d,\d{3} in the labels, and \d,\d{3} in", result.sentence)


def test_a_pair_is_significant_by_its_change_beside_all_rows():
    """A change that all rows share is no change of a pair, and all pairs are judged at once."""
    rng = np.random.default_rng(2)
    group = np.array([*rng.choice(list("abc"), 3000, p=[0.8, 0.1, 0.1]), *["d"] * 40])
    label = (rng.random(3040) < 0.4 + 0.1 * (group == "a")).astype(int)
    share = np.select([group == "b", group == "d"], [0.27, 0.0], 0.2)
    predicted = np.where(rng.random(3040) < share, 1, label)
    result = DirectionalAuditor(reference="test").audit(label, predicted, sensitive_features=group)
    clear, alone = (
        (result.table[f"low{by}"] > 0) | (result.table[f"high{by}"] < 0)
        for by in ("_simultaneous", "")
    )
    assert (clear.tolist(), alone.sum()) == ([True, False, False, False], 3)
    assert [change.effect != "unclear" for change in result.facts.changes] == clear.tolist()


def test_plots_colour_the_pairs_that_the_page_colours():
    """A significant change whose direction is uncertain was filled as an amplification."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from skbiasamp.plotting import AmplificationDisplay, AmplificationHeatmapDisplay

    result = SCENARIOS["classes"]()
    pairs = result[result.primary].table.assign(p_adjusted=0.001)
    pairs["direction_clear"] = [at != 1 for at in range(len(pairs))]
    display = AmplificationHeatmapDisplay(pairs).plot()
    assert display.significant.to_numpy().sum() == len(pairs) - 1
    for shown in (display, AmplificationDisplay(pairs).plot()):
        assert "or direction unclear" in shown.ax_.get_xlabel()


def test_a_reader_can_take_the_gap_from_the_rates_that_are_shown():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        group = rng.choice(["a", "b", "c"][: 2 + seed % 2], 800)
        y, p = (rng.random((2, 800)) < 0.4 + 0.2 * (group == "a")).astype(int)
        how = {"sensitive_features": group, "auditor": DirectionalAuditor()}
        facts = skbiasamp.audit(y, p, **how).facts
        shown = {each.group: (each.before, each.after) for each in facts.changes}
        shown["all rows"] = facts.everybody
        first, other = (
            np.array([float(f"{100 * end:.1f}") for end in shown[name]])
            for name in (facts.gap.group, facts.gap.other)
        )
        assert [100 * facts.gap.before, 100 * facts.gap.after] == pytest.approx(first - other)


WAYS = {  # what pages say of a gap before and after, as sizes in the direction that it had
    r"widens the gap|larger gap|so the gap grows|the model adds \d": lambda b, a: abs(a) >= abs(b),
    r"narrows the gap|smaller gap|so the gap shrinks|gap shrinks by": lambda b, a: abs(a) <= abs(b),
    "reverses the gap between|changes sides": lambda b, a: a * b <= 0,
}


def random_rates(rng, n, k):
    """Return labels of k groups, and predictions that are pushed up or down in each of them."""
    group, near = rng.integers(k, size=n), rng.random() < 0.5
    rates = rng.uniform(0.4, 0.45, k) if near else rng.uniform(0.2, 0.8, k)
    label = (rng.random(n) < rates[group]).astype(int)
    pushed = [
        np.where(rng.random(n) < abs(push)[group], push[group] > 0, label).astype(int)
        for push in rng.normal(0, 0.12, (2, k))
    ]
    return np.array([*"abcd"])[group], label, pushed


@pytest.mark.parametrize("trained", [False, True])
def test_words_about_a_gap_are_those_of_its_numbers(trained):
    """Also where training labels, or two models, turn it around."""
    seen = set()
    for seed in range(40):
        rng = np.random.default_rng(seed)
        group, label, (old, new) = random_rates(rng, 2_000, 2 + seed % 3)
        how = {"sensitive_features": group, "auditor": DirectionalAuditor(), "favourable": True}
        if trained:
            other, learned, _ = random_rates(rng, 2_000, 2 + seed % 3)
            how |= {"y_train": learned, "sensitive_train": other}
        audited = skbiasamp.audit(label, new, **how)
        compared = skbiasamp.compare(label, {"old": old, "new": new}, **how)
        both = compared[compared.primary].facts("new")
        for told, first in ((audited, audited.facts), (compared, both)):
            said = " ".join(str(told).split("Share")[0].split())
            for words, agrees in WAYS.items():
                if first.gap is not None and (found := re.search(words, said, re.IGNORECASE)):
                    seen.add(words)
                    assert agrees(first.gap.before, first.gap.after), (seed, found[0], said)
    assert seen == {*WAYS}


def test_names_in_a_printed_table_are_cut_and_stay_apart():
    tail = " and all that is said of it afterwards, and for long"
    for start, end in (("category ", tail), (60 * "y" + " ", tail[:15])):
        names = [f"{start}{letter}{end}" for letter in "abc"]
        groups = np.resize(names, 400)
        table = str(skbiasamp.selection_rates(np.arange(400) % 7 % 2, sensitive_features=groups))
        assert max(map(len, table.splitlines())) <= 96
        cut = re.findall(rf"^({start}[abc].*)…", table, re.MULTILINE)
        assert len({*cut}) == 3
        assert all(name.startswith(shown) for name, shown in zip(names, cut, strict=True))


def answers_of(report):
    """Return the answers of a first screen by their questions."""
    card = part_of(report, "Card")
    return {each.question: f"{each.strong} {each.text}".strip() for each in card.answers}


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


def test_a_comparison_says_how_many_rows_were_left_out():
    labels, predicted, groups = rows_of(WIDENED)
    known = groups.where(np.arange(len(groups)) >= 30)
    models = {"old": predicted, "new": labels}
    report = skbiasamp.compare(labels, models, sensitive_features=known, missing="drop")
    assert "30 rows have no group and are left out." in part_of(report, "Card").scope


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
        ((0.4, 0.2), "More likely the model."),  # labels that move the other way explain nothing
        ((0.6, 0.1), "Both."),
        ((0.6, -0.7), "The data."),
        (None, "Not known."),
    ):
        told = replace(facts, gap=gap, labelled_gap=labels, moved=moved)
        assert express("over", "source_strong", told) == strong
        quiet = replace(told, verdict="no alarm")
        assert express("over", "source_strong", quiet) == "No clear change by the model."
    for each, is_said in ((moved, False), (facts.moved, True)):
        text = express("over", "source_rest", replace(quiet, moved=each, versions=()))
        assert ("labels and predictions share raises no alarm" in text) == is_said


def test_rows_that_nobody_can_collect_are_not_named():
    for rows, known, said in (
        (50_000, 6_000, "About 50,000 rows would decide this"),
        (6_200, 400, "About 6,200 rows would decide this"),
        (60_001, 6_000, "More rows of this kind will hardly"),
        (float("inf"), 6_000, "hardly"),
        (49_000_000, 5_000_000, "hardly"),
        (9_000_000, 5_000_000, "About 9,000,000 rows"),
        (100, 12, "12 rows cannot tell"),
    ):
        assert said in express("gate", "decide", rows, known)


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
    for name in ("model_that_amplifies", "many_groups"):
        page = SCENARIOS[name]().to_html().replace("</body>", probe)
        picture, whole = in_chromium(page, tmp_path)
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


def test_an_interval_around_0_is_not_what_lies_outside_of_a_limit():
    """The first is wide, and the second is outside of 0.03."""
    intervals = [(-0.05, 0.2), (0.04, 0.06), (-0.01, 0.02)]
    assert that_decides(intervals, outside=True) == 1
    assert that_decides([(-high, -low) for low, high in intervals], outside=True) == 1
    assert that_decides(intervals, outside=False) == 0


@pytest.mark.parametrize("name", ["other_metrics", "numbers", "several_tasks"])
def test_an_interval_stands_beside_the_change_that_it_is_of(name):
    tables = [each for each in parts_of(SCENARIOS[name](), "Table") if "Interval" in each.columns]
    tables = [each for each in tables if "Amplification" in each.columns]
    assert tables
    for table in tables:
        at = table.columns.index("Interval")
        assert re.match("Change|Relative change|Compared with all rows", table.columns[at - 1])
        for row in table.rows:
            if (low := row.cells[at].value) is not None:
                assert low <= row.cells[at - 1].value


def test_only_changes_of_rates_are_compared_with_those_of_all_rows():
    models = {"old": ROWS()["cook"].to_numpy(), "new": ROWS()["cook_new"].to_numpy()}
    for auditor in (DirectionalAuditor(), BiasDisparityAuditor(), DifferentialFairnessAuditor()):
        how = {"sensitive_features": ROWS()["region"], "auditor": auditor}
        of_models = table_of(skbiasamp.compare(ROWS()["cook"], models, **how), "pairs-1")
        of_one = table_of(report(ROWS(), by="region", auditor=auditor), "pairs")
        for table in (of_models, of_one):
            assert ("all rows" in table.caption) == isinstance(auditor, DirectionalAuditor)
    distances = table_of(report(ROWS(), by="region", auditor=PercentageAuditor()), "pairs")
    assert "all rows" not in "; ".join([distances.caption, *distances.columns])


def test_the_change_of_a_preference_is_a_part_of_that_in_the_labels():
    table = table_of(report(ROWS(), by="region", auditor=BiasDisparityAuditor()), "pairs")
    names = ("Preference, labels", "Preference, predictions", "Relative change")
    at = [table.columns.index(name) for name in names]
    for row in table.rows:
        before, after, change = (row.cells[i].value for i in at)
        assert change == pytest.approx(after / before - 1)


def test_the_hollow_part_of_a_bar_is_named_by_what_it_holds():
    disparity = report(ROWS(), by="region", auditor=BiasDisparityAuditor())
    assert disparity.facts.shift == 0
    said = part_of(disparity, "Parts").text
    assert said.startswith("Hollow: choice of directions ")
    assert "solid: the value" in said
