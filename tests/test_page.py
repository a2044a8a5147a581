"""The page of a report: one file, for every screen, paper and screen readers."""

import html
import json
import math
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import skbiasamp
from skbiasamp import DirectionalAuditor, MALSAuditor, MultiAttributeAuditor
from skbiasamp.datasets import load_compas
from skbiasamp.results import AuditReport, Finding

pytest.importorskip("jinja2")

FOLDER = Path(skbiasamp.__file__).parent / "render"
VOID = {"meta", "br", "hr", "img", "input", "link"}
ATTACK = "<script>alert(1)</script>"


class Reading(HTMLParser):
    """What a page holds: its elements in order, with attributes and the text inside."""

    def __init__(self, text):
        super().__init__()
        self.open, self.elements, self.unbalanced = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        element = {
            "tag": tag,
            "text": "",
            "inside": [element["tag"] for element in self.open],
        } | dict(attrs)
        self.elements.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag, attrs):
        self.elements.append({"tag": tag, "text": "", "inside": []} | dict(attrs))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop()["tag"] != tag:
            self.unbalanced.append((tag, self.getpos()))

    def handle_data(self, data):
        for element in self.open:
            element["text"] += data

    def all(self, tag, **attributes):
        return [
            element
            for element in self.elements
            if element["tag"] == tag
            and all(element.get(key) == value for key, value in attributes.items())
        ]

    def texts(self, tag, **attributes):
        return [" ".join(element["text"].split()) for element in self.all(tag, **attributes)]


def parts(container):
    """Yield all parts of a document, whatever section they are in."""
    for part in getattr(container, "sections", None) or getattr(container, "items", ()):
        if part is not None:
            yield part
            yield from parts(part)


def part_of(report, kind, **named):
    """Return the one part of its kind that a report shows."""
    (match,) = (
        part
        for part in parts(report.to_document())
        if type(part).__name__ == kind and all(getattr(part, k) == v for k, v in named.items())
    )
    return match


def hostile_audit(n=400):
    rng = np.random.default_rng(0)
    groups = pd.DataFrame(
        {
            "one": np.array([ATTACK, "a|b\nc \"quoted\" & 'x'"], object)[rng.integers(0, 2, n)],
            "two": np.array(["W" * 300, "\u202eold\x00"], object)[rng.integers(0, 2, n)],
        }
    )
    lean = 0.2 * (groups["one"] == ATTACK).to_numpy()
    y = (rng.random((n, 6)) < 0.3 + lean[:, None]).astype(int)
    y_pred = np.where(rng.random((n, 6)) < 0.8, y, 1)
    tasks = [
        "</style><img src=x onerror=alert(2)>",
        "{{ 7*7 }}",
        "x" * 200,
        "a b " * 40,
        "']]>",
        "",
    ]
    return skbiasamp.audit(
        pd.DataFrame(y, columns=tasks),
        pd.DataFrame(y_pred, columns=tasks),
        sensitive_features=groups,
        sensitive_pred=groups,
        auditor=[
            DirectionalAuditor("A->T", reference="test"),
            DirectionalAuditor("T->A", reference="test"),
            MultiAttributeAuditor(reference="test", interval=None, min_count=20),
        ],
        random_state=0,
    )


@pytest.fixture(scope="module")
def hostile():
    return hostile_audit()


@pytest.fixture(scope="module")
def hostile_page(hostile):
    return hostile.to_html()


@pytest.fixture(scope="module")
def plain():
    sex = ["f"] * 400 + ["m"] * 400
    y = [1] * 300 + [0] * 100 + [1] * 100 + [0] * 300
    y_pred = [1] * 340 + [0] * 60 + [1] * 70 + [0] * 330
    return skbiasamp.audit(y, y_pred, sensitive_features=sex, random_state=0)


@pytest.fixture(scope="module", params=["hostile", "plain"])
def read(request):
    return Reading(request.getfixturevalue(request.param).to_html())


# --------------------------------------------------------------------------- one sound file


def assert_sound(read):
    """Elements are closed, and references within the page lead somewhere."""
    assert not read.unbalanced
    assert not read.open
    ids = Counter(element["id"] for element in read.elements if "id" in element)
    assert [name for name, n in ids.items() if n > 1] == []
    referred = [element["href"] for element in read.elements if "href" in element]
    referred += [
        "#" + element["aria-labelledby"]
        for element in read.elements
        if "aria-labelledby" in element
    ]
    assert len(referred) > 10
    assert {link.removeprefix("#") for link in referred} <= set(ids)


def assert_alone(read):
    """The page needs nothing from outside."""
    assert not [element for element in read.elements if "src" in element]
    assert not read.all("link")
    assert all(element["href"].startswith("#") for element in read.elements if "href" in element)


def test_the_page_is_sound_html(read):
    assert_sound(read)


def test_the_page_needs_nothing_from_outside(read):
    assert_alone(read)
    for style in (FOLDER / "page.css", FOLDER / "page.js"):
        assert not re.search(r"url\(|@import|https?:|fetch|XMLHttp", style.read_text())


def test_labels_are_text_and_nothing_else(hostile_page):
    read = Reading(hostile_page)
    assert len(read.all("script")) == 1
    assert not read.all("img")
    assert not [
        element for element in read.elements if any(key.startswith("on") for key in element)
    ]
    assert ATTACK not in hostile_page
    assert "{{ 7*7 }}" in hostile_page
    names = " ".join(read.texts("th", scope="row"))
    assert ATTACK in names
    assert "</style><img src=x onerror=alert(2)>" in names
    assert "a|b c \"quoted\" & 'x'" in names
    # What would turn text around, or could not be written, is shown as unknown.
    assert "\ufffdold\ufffd" in names
    assert "\u202e" not in hostile_page


def test_headings_and_landmarks_are_in_order(read):
    levels = [
        int(element["tag"][1])
        for element in read.elements
        if re.fullmatch("h[1-6]", element["tag"])
    ]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    for landmark in ("header", "nav", "main", "footer"):
        assert len(read.all(landmark)) == 1
    first_link = read.all("a")[0]
    assert first_link["class"] == "skip"
    assert first_link["href"] == "#main"
    assert [element["lang"] for element in read.all("html")] == ["en"]
    titles = read.texts("h2")
    assert titles == [
        "Verdict", "What to do next", "How was the verdict measured?", "What do other metrics say?",
        "Who bears the errors?",
        "What limits these numbers?", "Record", "Glossary",
    ]  # fmt: skip


def test_tables_and_pictures_speak(read):
    assert read.all("table")
    assert len(read.all("caption")) == len(read.all("table"))
    assert all(read.texts("caption"))
    assert all("scope" in element for element in read.all("th"))
    for svg in read.all("svg"):
        assert svg.get("role") == "img" or svg["aria-hidden"] == "true"
    pictures = read.texts("svg", role="img")
    assert len(pictures) == len(read.all("td", **{"class": "marks"}))
    assert all(pictures)  # their titles: there is no other text in them


# --------------------------------------------------------------------------- what it says


def test_all_that_was_found_is_on_the_page(plain):
    read = Reading(plain.to_html())
    text = " ".join(read.texts("main")[0].split())
    for name, sentence in plain.sentences.items():
        if name != plain.primary:  # the card says that one in paragraphs
            assert sentence in text
    for finding in plain.findings:
        for sentence in (finding.text, finding.action):
            assert (
                sentence.replace("directional A->T", "directional A→T").replace(
                    "DPA A->T", "DPA A→T"
                )
                in text
            )
    assert "A->T" not in text.replace(plain.context["call"], "")
    assert plain.context["call"] in text
    for name, reason in plain.context["not_measured"].items():
        assert f"{name}: {reason}." in text
    for version in plain.context["versions"].values():
        assert version in text
    record = set(zip(read.texts("dt"), read.texts("dd"), strict=True))
    assert {
        ("audited rows", "800"), ("groups", "f, m"), ("reference", "test"),
        ("random_state", "0"), ("date", plain.context["date"]),
    } <= record  # fmt: skip
    assert not {"n_resamples", "confidence_level", "ties"} & set(read.texts("dt"))  # defaults
    assert not {"rows", "not measured", "n train"} & set(read.texts("dt"))  # said above, or nothing
    assert "None" not in read.texts("dd")
    facts = dict(zip(read.texts("dt"), read.texts("dd"), strict=True))
    assert facts["Rows"] == plain.context["rows"] == "800 rows, 2 groups, 1 task"
    assert facts["Training labels"] == "none given: the audited labels are used instead"


def test_numbers_of_the_page_are_those_of_the_results(plain):
    table = part_of(plain, "Table", id="pairs-1")
    strongest = plain["directional A->T"].strongest(2)
    assert [row.name for row in table.rows] == strongest["group"].tolist() == ["f", "m"]
    for row, expected in zip(table.rows, strongest.itertuples(), strict=True):
        assert [cell.value for cell in row.cells] == [
            expected.base, expected.observed, expected.delta, expected.change,
            expected.amplification,
        ]  # fmt: skip
        # The interval is of the change, which is drawn.
        assert row.span == (expected.low, expected.high)
        assert row.dot == expected.change
    cells = [cell.text for cell in table.rows[0].cells]
    assert cells == ["75.0 %", "85.0 %", "+10.0", "+8.8", "+0.0875"]


def test_a_page_shows_what_there_is(plain):
    nothing = Reading(AuditReport(results={}).to_html())
    assert nothing.texts("h2")[0] == "Who bears the errors?"
    assert "Not measured: the report has no rates." in nothing.texts("main")[0]
    html_page = AuditReport(results={"mine": plain["MALS"]}).to_html()
    assert "mine" in Reading(html_page).texts("h3")
    assert not Reading(html_page).unbalanced


def test_the_strongest_ten_are_shown_and_the_rest_asked_for(hostile, hostile_page):
    read = Reading(hostile_page)
    assert len(hostile["directional A->T"].table) == 24
    for table in ("pairs-1", "rates-table"):
        rows = hostile_page.split(f'id="{table}"')[1].split("</table>")[0].count('scope="row"')
        every = hostile_page.split(f'id="{table}-all"')[1].split("</table>")[0].count('scope="row"')
        assert (rows, every) == (10, 24)
    assert "All 24" in read.texts("summary")
    shown = part_of(hostile, "Table", id="pairs-1").rows[:10]
    strongest = hostile["directional A->T"].strongest(24)
    assert [row.cells[4].value for row in shown] == strongest["amplification"].tolist()[:10]
    # Pairs of few rows stand last.
    result = hostile["directional A->T"]
    few = replace(result, table=result.table.assign(n=[1, 2] + [50] * 22))
    rows = part_of(replace(hostile, results={"x": few}), "Table", id="pairs-1").rows
    assert sorted(row.cells[-1].value for row in rows[-2:]) == [1, 2]
    assert rows[:10] != shown


def test_pairs_say_whose_rows_they_rest_on():
    """Of MALS, all groups of a task share its rows; each group has its own A→T, however many."""
    how = {"reference": "test"}
    auditors = [DirectionalAuditor(**how), MALSAuditor(**how)]
    sex, label, predicted = ["f", "m"] * 40, [1, 0, 1, 0, 1, 1, 0, 0] * 10, [1] * 60 + [0] * 20
    report = skbiasamp.audit(label, predicted, sensitive_features=sex, auditor=auditors)
    headings = [part_of(report, "Table", id=f"pairs-{i}").columns[-1] for i in (1, 2)]
    assert headings == ["Rows", "Rows of the task"]


@pytest.mark.parametrize(
    ("places", "first"), [(["note", *["next"] * 6], ["B", "C", "D", "E", "F"]), (["note"], ["A"])]
)
def test_the_findings_that_change_what_to_do_come_first(plain, places, first):
    findings = [
        Finding(topic, "text", place) for topic, place in zip("abcdefg", places, strict=False)
    ]
    report = replace(plain, findings=findings)
    section = part_of(report, "Section", id="findings")
    assert [text.lead for text in section.items[0].texts] == [f"{topic}." for topic in first]


def test_at_most_five_findings_stand_first_and_the_others_among_the_limits(hostile):
    steps = [finding for finding in hostile.findings if finding.place == "next"]
    more = [replace(steps[-1], topic=f"another {i}") for i in range(3)]
    report = replace(hostile, findings=[*hostile.findings, *more])
    first, limits = (
        part_of(report, "Section", id=each).items[0] for each in ("findings", "limits")
    )
    assert len(first.texts) == 5 < len(steps) + 3
    assert len(first.texts) + len(limits.texts) == len(report.findings)


def test_every_metric_links_to_its_definition(read):
    links = [
        element["href"] for element in read.all("a") if element["text"].startswith("Definition of")
    ]
    assert links == [f"#term-audit-{i}" for i in range(1, len(links) + 1)]
    assert len(links) >= 3
    definitions = [
        element for element in read.all("div") if element.get("id", "").startswith("term-")
    ]
    assert len(definitions) == len(links)
    assert all(len(element["text"]) > 80 for element in definitions)


def test_a_page_is_titled_with_the_model_and_has_its_data():
    report = skbiasamp.audit(
        [1, 0] * 40, [1, 1] * 40, sensitive_features=["f", "f", "m", "m"] * 20,
        auditor=DirectionalAuditor(reference="test", interval=None), random_state=0,
    )  # fmt: skip
    report.context.update(model_name="a < b", data_name="march")
    read = Reading(report.to_html())
    assert read.texts("h1") == read.texts("title")[:1] == ["Bias amplification audit of a < b"]
    assert "march" in read.texts("header")[0]
    assert "a < b" in Reading(report._repr_html_()).texts("div")[0]


# --------------------------------------------------------------------------- the picture


def test_the_picture_has_the_rates_of_the_pair_affected_most(plain):
    picture = part_of(plain, "Bars")
    assert "“1”" in picture.caption
    assert picture.end == 1
    f, m = picture.bars
    assert (f.name, f.before, f.after) == ("f (400 rows)", 0.75, 0.85)
    assert (m.name, m.before, m.after) == ("m (400 rows)", 0.25, 0.175)
    assert [bar.change for bar in (f, m)] == [
        "+10.0 percentage points, 1,000 more per 10,000 rows",
        "−7.5 percentage points, 750 fewer per 10,000 rows",
    ]
    # The verdict is about their difference, so no bar has its colour.
    assert [(bar.verdict, bar.side) for bar in (f, m)] == [("", "across")] * 2
    drawn = [
        (element["class"], element.get("x"), element["width"])
        for element in Reading(plain.to_html()).all("rect")
        if element["width"] != "100%"
    ]
    assert drawn == [
        ("label", None, "75.00%"), ("kept", None, "75.00%"), ("added", "75.00%", "10.00%"),
        ("label", None, "25.00%"), ("kept", None, "17.50%"), ("removed", "17.50%", "7.50%"),
    ]  # fmt: skip
    text = Reading(plain.to_html()).texts("figure")[0]
    assert "f (400 rows) ▲ predicted more often: +10.0 percentage points, 1,000 more per" in text
    assert "▼ predicted less often: −7.5 percentage points, 750 fewer per 10,000 rows" in text
    assert "50.0 percentage points in the labels, 67.5 percentage points in the pred" in text
    # Newcombe's interval of 340 and 70 of 400 rows, computed by hand from Wilson's.
    assert "(95 % interval of the latter: 61.9 to 72.2)" in text


@pytest.mark.parametrize(
    ("labelled", "predicted", "says"), [(2, 5, "0.25 %"), (100, 150, "10 %"), (600, 900, "50 %")]
)
def test_the_picture_says_exactly_where_its_bars_end(labelled, predicted, says):
    """Bars of rare tasks ran "from 0 to 0 %"; the end of an axis to 0.5 % was labelled 0 %."""
    group, rows = np.repeat(["f", "m"], 2_000), np.arange(2_000)
    labels, guesses = (np.tile(rows < n, 2).astype(int) for n in (labelled, predicted))
    report = skbiasamp.audit(
        labels, guesses, sensitive_features=group,
        auditor=DirectionalAuditor(reference="test"),
    )  # fmt: skip
    page = report.to_html()
    assert f"Bars run from 0 to {says} of a group's rows." in page
    assert says in Reading(page).texts("svg") or f">{says}<" in page


def test_the_picture_shows_the_groups_in_which_most_rows_changed():
    """A group of five rows changes most in per cent, and is not where people are affected."""
    sizes = {"a": 5, "b": 300, "c": 2000, "d": 400, "e": 500, "f": 600, "g": 700, "h": 800}
    group = np.repeat(list(sizes), list(sizes.values()))
    place = np.concatenate([np.arange(n) / n for n in sizes.values()])
    share = np.where(np.isin(group, ["c", "e", "g"]), 0.5, 0.3)
    labels = (place < share).astype(int)
    predicted = place < np.where(group == "a", 1.0, share + 0.1)
    report = skbiasamp.audit(
        labels, predicted.astype(int), sensitive_features=group,
        auditor=DirectionalAuditor(reference="test"),
    )  # fmt: skip
    changed = (predicted != labels).astype(int)
    rows = {name: changed[group == name].sum() for name in sizes}
    affected = report["directional A->T"].affected["group"]
    most = sorted(sizes, key=lambda name: (name != affected, -rows[name]))[:6]
    shown = [bar.name.split(" ")[0] for bar in part_of(report, "Bars").bars]
    assert set(shown) == set(most)
    assert "a" not in shown
    changes = [round(abs(bar.after - bar.before), 9) for bar in part_of(report, "Bars").bars]
    assert changes == sorted(changes, reverse=True)


def test_without_predictions_of_the_task_there_is_no_picture():
    sex = ["f", "m"] * 40
    report = skbiasamp.audit(
        [0, 1, 1, 0] * 20, sensitive_features=sex, sensitive_pred=sex[::-1],
        auditor=DirectionalAuditor("T->A", reference="test", interval=None),
    )  # fmt: skip
    assert not [part for part in parts(report.to_document()) if type(part).__name__ == "Bars"]
    assert not Reading(report.to_html()).unbalanced


def test_axes_hold_0_and_all_marks_and_their_labels_do_not_run_together(plain, hostile):
    """'−0.1' beside '0' was read as −0.10."""
    axes = 0
    for part in (*parts(plain.to_document()), *parts(hostile.to_document())):
        axis = getattr(part, "axis", None)
        if axis is None or not hasattr(part, "rows"):
            continue
        axes += 1
        assert "0" in [text for _, text, _ in axis.ticks]
        places = [float(at.removesuffix("%")) for at, *_ in axis.ticks]
        least = 32 if axis.limit is None else 15  # percent of the width
        assert all(after - before > least for before, after in pairwise(places))
        marks = [mark for row in part.rows for mark in (row.dot, row.ring) if mark is not None]
        assert all(axis.low <= mark <= axis.high for mark in marks)
    assert axes > 3


def test_names_keep_joiners_inside_words_and_signs_and_no_others():
    names = ["می\u200cشود", "👩\u200d💻", "f\u200d x"]
    report = skbiasamp.audit(
        [0, 1] * 60, [1, 1] * 60, sensitive_features=np.repeat(names, 40),
        auditor=DirectionalAuditor(reference="test", interval=None),
    )  # fmt: skip
    shown = [row.name for row in part_of(report, "Table", id="rates-table").rows]
    assert sorted(shown) == sorted([*names[:2], "f\ufffd x"])


# --------------------------------------------------------------------------- looks


def contrast(first, other):
    """The ratio of WCAG 2.2."""

    def luminance(colour):
        parts = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
        linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        return linear @ [0.2126, 0.7152, 0.0722]

    dark, light = sorted([luminance(first), luminance(other)])
    return (light + 0.05) / (dark + 0.05)


def test_the_headline_names_a_column_that_alone_shows_what_all_together_do_not():
    rng = np.random.default_rng(1)
    n = 2000
    groups = pd.DataFrame({"school": rng.choice(["a", "b"], n), "town": rng.integers(0, 25, n)})
    pushed = groups["school"] == "b"
    truth = (rng.random(n) < 0.3 + 0.12 * pushed).astype(int)
    kept = rng.random(n) < 0.6
    predicted = np.where(kept, truth, rng.random(n) < 0.25 + 0.3 * pushed).astype(int)
    report = skbiasamp.audit(truth, predicted, sensitive_features=groups, random_state=0)
    assert report.by_column["verdict"].tolist() == ["amplifies", "no clear effect"]
    assert report["directional A->T"].verdict == "no clear effect"
    card = part_of(report, "Card")
    assert card.headline == (
        "The model amplifies the association between school and '1'. No clear effect of all "
        "columns together."
    )
    # Each verdict stands beside what it is about, and nothing is said of chance twice.
    assert [(*other[:2],) for other in card.others] == [
        ("school", "amplifies"), ("town", "no clear effect"),
    ]  # fmt: skip
    assert (card.name, card.verdict) == ("all columns together", "no clear effect")
    rates = pd.DataFrame({"t": truth, "p": predicted}).groupby(groups["school"]).mean().round(3)
    before, after = (abs(rates.loc["a", side] - rates.loc["b", side]) for side in "tp")
    first, other = groups["school"].value_counts().index  # the largest first
    assert card.texts[0].text == (
        f"The difference in '1' between school = {first} and school = {other} grows from "
        f"{100 * before:.1f} to {100 * after:.1f} percentage points."
    )
    sure = card.texts[-1].text
    assert sure.startswith(f"school: {report.by_column['value'][0]:+.4f} (confidence interval ")
    bars = part_of(report, "Bars")
    assert {bar.name.split(" (")[0] for bar in bars.bars} == {"school = a", "school = b"}
    assert [bar.after for bar in bars.bars] == pytest.approx(
        [predicted[groups["school"] == bar.name[9]].mean() for bar in bars.bars]
    )
    topics = {finding.topic: finding.action for finding in report.findings}
    assert "precision" not in topics
    assert "with school as the sensitive feature" in topics["mitigation"]


def test_what_all_groups_share_is_said_apart_from_what_a_group_changes():
    """All rates fall by 20 points, and those of one group by 25: that one is the amplification."""
    group = np.repeat(["a", "b", "c"], 400)
    labels = np.tile(np.r_[np.ones(200), np.zeros(200)], 3)
    predicted = np.concatenate(
        [np.r_[np.ones(ones), np.zeros(400 - ones)] for ones in (120, 120, 100)]
    )
    report = skbiasamp.audit(
        labels, predicted, sensitive_features=group, y_train=predicted, sensitive_train=group,
        auditor=DirectionalAuditor(),
    )  # fmt: skip
    bars = part_of(report, "Bars")
    changes = {bar.name[0]: bar.change for bar in bars.bars}
    assert changes["c"].endswith("2,500 fewer per 10,000 rows")
    assert changes["a"].endswith("2,000 fewer per 10,000 rows")
    assert {bar.verdict for bar in bars.bars} == {""}
    assert bars.gap.startswith("All rows together: −21.7 percentage points.")
    text = report["directional A->T"].sentence
    (pair,) = (row for row in report["directional A->T"].table.itertuples() if row.group == "c")
    assert pair.change == pytest.approx(-0.25 + 0.65 / 3)  # −3.3 points compared with all rows
    assert "No single pair changes significantly." in text
    assert "the difference (" not in text


def test_the_pair_named_first_changes_most_beside_what_all_share():
    """Predicted more often by 20, 8 and 25 points in three groups of one size: 17.7 on average."""
    group = np.repeat(["a", "b", "c"], 1_000)
    labels, predicted = (
        np.concatenate([np.r_[np.ones(n), np.zeros(1_000 - n)] for n in ones])
        for ones in ((200, 300, 500), (400, 380, 750))
    )
    auditor = DirectionalAuditor(reference="test")
    result = auditor.audit(labels, predicted, sensitive_features=group)
    pair = result.affected
    assert pair["group"] == "b"
    assert pair["delta"] == pytest.approx(0.08)
    assert "; −9.7 percentage points compared with all" in result.sentence  # 8 - 53 / 3
    assert "Largest change compared with all rows: the group b is predicted" in result.sentence


def test_every_colour_can_be_read_in_both_themes():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)
    themes = re.findall(r":root \{(.*?)\}", (FOLDER / "page.css").read_text(), re.DOTALL)
    assert len(themes) == 2
    for theme in themes:
        colours = dict(re.findall(r"--(\w+): (#\w{6})", theme))
        for name in ("text", "quiet", "link", "above", "below", "across"):
            for ground in ("page", "card"):
                assert contrast(colours[name], colours[ground]) >= 4.5, (name, ground)


def test_a_page_stays_small():
    rng = np.random.default_rng(0)
    tasks = pd.DataFrame(rng.integers(0, 2, (300, 400)), columns=[f"{i} " * 30 for i in range(400)])
    auditors = [DirectionalAuditor(reference="test", ties=ties)
                for ties in ("zero", "negative") * 3]  # fmt: skip
    page = skbiasamp.audit(
        tasks, tasks[::-1].reset_index(drop=True), sensitive_features=["f" * 80, "m" * 80] * 150,
        auditor=auditors,
    ).to_html()  # fmt: skip
    assert 100_000 < len(page.encode()) < 2_000_000
    assert "of 800" in page


def test_without_jinja2_it_says_what_to_install(plain, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r"pip install 'skbiasamp\[report\]'"):
        plain.to_html()


# The page in frames of two widths; what a browser makes of it is left in the document.
PROBE = """<!doctype html><body><pre id="found"></pre><script>
const pages = JSON.parse(document.getElementById("content").textContent);
for (const _ of pages) for (const width of [400, 900, 1000, 1280]) {
  const frame = document.body.appendChild(document.createElement("iframe"));
  frame.style = `width:${width}px;height:900px`;
}
Promise.all([...document.querySelectorAll("iframe")].map((frame, i) => new Promise(done => {
  frame.onload = () => {
    const inner = frame.contentDocument;
    inner.querySelectorAll("details").forEach(one => one.open = true);
    const table = inner.getElementById("pairs-1"), heading = table.tHead.rows[0].cells[2];
    const column = () => [...table.tBodies[0].rows].map(row => +row.cells[2].dataset.value);
    const before = column();
    const sorted = [0, 1].map(() => {
      heading.querySelector("button").click();
      return [heading.getAttribute("aria-sort"), column()];
    });
    const cut = [...inner.querySelectorAll("main *:not(svg *)")].filter(one => {
      const box = one.getBoundingClientRect();
      return !one.closest(".hidden") && box.right > frame.clientWidth + 1;
    });
    done({wide: inner.documentElement.scrollWidth, cut: cut.length, before, sorted});
  };
  frame.srcdoc = pages[Math.floor(i / 4)];
}))).then(found => document.getElementById("found").textContent = JSON.stringify(found));
</script></body>"""


def chromium_with(content, folder, *options):
    """Open a page in a browser; return what the browser printed."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("no chromium: the page was not looked at")
    file = folder / "probe.html"
    file.write_text(content, encoding="utf-8")
    done = subprocess.run(
        [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         f"--user-data-dir={folder / 'profile'}", *options, file.as_uri()],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    return done.stdout


def in_chromium(content, folder):
    """Return what a page that was opened in a browser left in <pre id="found">."""
    options = ("--window-size=1400,900", "--virtual-time-budget=20000", "--dump-dom")
    (output,) = re.findall(r'<pre id="found">(.+?)</pre>', chromium_with(content, folder, *options))
    return json.loads(html.unescape(output))


@pytest.mark.parametrize("paper", ["A4", "letter"])
def test_an_audit_of_one_task_prints_on_two_sheets(paper, tmp_path):
    compas = load_compas()
    labels, scores = (
        np.where(again, "charged again", "not charged again")
        for again in (compas.target, compas.decile_score >= 5)
    )
    report = skbiasamp.audit(
        labels,
        scores,
        sensitive_features=compas.sensitive_features,
        favourable="not charged again",
        random_state=0,
    )
    file = tmp_path / "page.pdf"
    page = report.to_html().replace("@page {", f"@page {{ size: {paper};")
    chromium_with(page, tmp_path, f"--print-to-pdf={file}", "--no-pdf-header-footer")
    assert len(re.findall(rb"/Type\s*/Page\b(?!s)", file.read_bytes())) == 2


def test_axe_finds_nothing_wrong(hostile_page, tmp_path):
    axe = Path(os.environ.get("AXE_CORE", "no axe-core"))
    if not axe.is_file():
        pytest.skip("AXE_CORE names no axe.min.js (npm install axe-core): axe was not asked")
    script = axe.read_text("utf-8").replace("</script", "<\\/script")
    probe = f"""<pre id="found"></pre><script>{script}</script><script>
        document.querySelectorAll("details").forEach(one => one.open = true);
        axe.run("main").then(seen => document.getElementById("found").textContent = JSON.stringify(
          {{passed: seen.passes.length, broken: seen.violations.map(one => one.id)}}));
        </script></body>"""
    checks = in_chromium(hostile_page.replace("</body>", probe), tmp_path)
    assert checks["passed"] > 10
    assert checks["broken"] == []


def test_no_line_ends_between_a_number_and_its_unit(plain, tmp_path):
    page = plain.to_html()
    probe = """<pre id="found"></pre><script>document.getElementById("found").textContent =
        JSON.stringify([...document.querySelectorAll("main p, main li")].map(e => e.innerText))
        </script></body>"""
    texts = in_chromium(page.replace("</body>", probe), tmp_path)
    apart = r"\d (%|percentage points|rows?\b|groups?\b)|[+−][\d.]+ (\([+−]|to [+−])"
    assert not [text for text in texts if re.search(apart, text)]
    assert sum("\u00a0" in text for text in texts) > 5
    assert "\u00a0" not in page


def shown(pages, folder):
    """Return what a phone, a tablet, half a screen and a desk show of each page.

    Each says its width, the elements that are cut, and a sorted column.
    """
    content = json.dumps(pages).replace("<", "\\u003c")
    probe = PROBE.replace(
        "<pre", f'<script type="application/json" id="content">{content}</script><pre', 1
    )
    sizes = in_chromium(probe, folder)
    return [sizes[i : i + 4] for i in range(0, len(sizes), 4)]


def counted_rows(counts):
    """Return labels, predictions and groups from counts of (group, label, prediction)."""
    return (np.repeat([key[i] for key in counts], list(counts.values())) for i in (1, 2, 0))


WIDENED = {
    ("f", 1, 1): 290, ("f", 1, 0): 10, ("f", 0, 1): 30, ("f", 0, 0): 70,
    ("m", 1, 1): 70, ("m", 1, 0): 30, ("m", 0, 1): 5, ("m", 0, 0): 295,
}  # fmt: skip


@pytest.mark.parametrize(
    ("favourable", "worse"), [(None, ""), (1, ", to the disadvantage of m"), (0, "of f")]
)
def test_the_headline_says_who_is_worse_off_if_it_is_known_what_people_want(favourable, worse):
    labels, predicted, group = counted_rows(WIDENED)
    report = skbiasamp.audit(
        labels, predicted, sensitive_features=group, favourable=favourable, random_state=0
    )
    headline = part_of(report, "Card").headline
    assert headline.startswith("The model amplifies the difference in '1' between f and m")
    assert headline.endswith(f"{worse}.")
    assert ("disadvantage" in headline) is bool(worse)


def test_a_limit_is_said_in_points_and_comes_first_among_the_steps():
    labels, predicted, group = counted_rows(WIDENED)
    report = skbiasamp.audit(labels, predicted, sensitive_features=group, limit=0.03)
    card, (first, *_) = part_of(report, "Card"), report.findings
    assert card.verdict == "outside the limit"
    assert any("between the groups change by 6.0 percentage points" in t.text for t in card.texts)
    assert first.text.startswith("The model does not keep the limit of ±0.03: +0.0563")
    assert first.action.startswith("Do not release it by this limit.")
    few = [values[::8] for values in (labels, predicted, group)]
    report = skbiasamp.audit(*few[:2], sensitive_features=few[2], limit=0.05)
    assert part_of(report, "Card").headline.startswith("Inconclusive: these rows do not show")
    (step,) = (found for found in report.findings if found.topic == "limit")
    rows = int(re.search(r"About ([\d,]+) rows in all decide", step.action)[1].replace(",", ""))
    (check,) = report.gate(0.05, on=report.primary).checks
    assert rows == math.ceil(check.rows / 1000) * 1000


def test_the_task_is_named_with_its_column():
    labels, predicted, group = counted_rows(WIDENED)
    frame = pd.DataFrame({"hired": labels, "p": predicted, "sex": group})
    report = skbiasamp.audit_frame(frame, target="hired", prediction="p", sensitive="sex")
    assert report.to_document().facts["Task"] == "'1' of the column hired"
