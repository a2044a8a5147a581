"""The page of a comparison: one file, made of what JSON holds, with every text escaped."""

import re
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from test_page import (
    ATTACK,
    Reading,
    assert_alone,
    assert_sound,
    hostile_audit,
    part_of,
    parts,
    shown,
)

import skbiasamp
from skbiasamp import DirectionalAuditor, MultiAttributeAuditor, NumericAuditor

pytest.importorskip("jinja2")

SIDES = {
    **dict.fromkeys(("amplifies more", "reveals more"), "above"),
    **dict.fromkeys(("amplifies less", "reveals less"), "below"),
    **dict.fromkeys(("no clear effect", "no clear difference"), "across"),
}
WILD = "</style><img src=x onerror=alert(2)>"


def few(**named):
    return [DirectionalAuditor(reference="test", **named)]


def hostile_comparison(n=300):
    rng = np.random.default_rng(0)
    groups = pd.DataFrame(
        {
            "one": np.array([ATTACK, "a|b\nc \"quoted\" & 'x'"], object)[rng.integers(0, 2, n)],
            "two": np.array(["W" * 300, "\u202eold\x00"], object)[rng.integers(0, 2, n)],
        }
    )
    y = (rng.random((n, 4)) < 0.3 + 0.2 * (groups["one"] == ATTACK).to_numpy()[:, None]).astype(int)
    tasks = [WILD, "{{ 7*7 }}", "x" * 200, "']]>"]

    def predicted(share):
        return pd.DataFrame(np.where(rng.random((n, 4)) < share, y, 1), columns=tasks)

    models = {"{{ 6*6 }}": predicted(0.9), ATTACK: predicted(0.6), "W" * 90: predicted(0.8)}
    return skbiasamp.compare(
        pd.DataFrame(y, columns=tasks),
        models,
        sensitive_features=groups,
        sensitive_preds={
            name: groups.iloc[rng.permutation(n)].set_axis(groups.index) for name in models
        },
        auditor=[
            *few(),
            *few(direction="T->A"),
            MultiAttributeAuditor(reference="test", min_count=20),
        ],
        random_state=0,
    )


@pytest.fixture(scope="module")
def hostile():
    return hostile_comparison()


@pytest.fixture(scope="module")
def hostile_page(hostile):
    return hostile.to_html()


def tables_of(report):
    return {one.id: one for one in parts(report.to_document()) if type(one).__name__ == "Table"}


def steps_of(report):
    (steps,) = (
        item
        for section in report.to_document().sections
        for item in section.items
        if section.id == "next"
    )
    return steps.texts


def labels(n=800):
    rng = np.random.default_rng(1)
    sex = np.where(np.arange(n) < n // 2, "f", "m")
    hired = (rng.random(n) < np.where(sex == "f", 0.3, 0.6)).astype(int)
    old = np.where(rng.random(n) < 0.1, 1 - hired, hired)
    new = np.where((sex == "m") & (rng.random(n) < 0.3), 1, old)
    return sex, hired, old, new


@pytest.fixture(scope="module")
def plain():
    sex, hired, old, new = labels()
    return skbiasamp.compare(
        hired, {"old": old, "new": new}, sensitive_features=sex, random_state=0
    )


@pytest.fixture(scope="module", params=["hostile", "plain"])
def read(request):
    return Reading(request.getfixturevalue(request.param).to_html())


# --------------------------------------------------------------------------- one sound file


def test_the_page_is_sound_html(read):
    assert_sound(read)
    levels = [int(one["tag"][1]) for one in read.elements if re.fullmatch("h[1-6]", one["tag"])]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert read.texts("h2") == ["Look closer", "What to do next", "For statisticians"]


def test_the_page_needs_nothing_from_outside(read):
    assert_alone(read)


def test_labels_are_text_and_nothing_else(hostile_page):
    read = Reading(hostile_page)
    assert len(read.all("script")) == 1
    assert not read.all("img")
    assert not [one for one in read.elements if any(key.startswith("on") for key in one)]
    assert ATTACK not in hostile_page
    assert "36" not in read.texts("h1")[0]
    assert "{{ 6*6 }}" in read.texts("h1")[0]
    names = " ".join(read.texts("th", scope="row"))
    assert ATTACK in names
    assert WILD in names
    assert "\ufffdold\ufffd" in names
    assert "\u202e" not in hostile_page


def test_tables_and_pictures_speak(read):
    assert all(read.texts("caption"))
    assert len(read.all("caption")) == len(read.all("table"))
    marks = read.texts("svg", role="img")
    assert len(marks) == len(read.all("td", **{"class": "marks"}))
    assert all(marks)


# --------------------------------------------------------------------------- what it says


def test_the_page_opens_with_a_verdict_about_each_model(hostile, plain):
    read = Reading(plain.to_html())
    assert read.texts("h1") == ["“new” amplifies more than “old”"]
    assert read.texts("span", **{"class": "chip up"}) == ["▲ Amplifies more"]
    two = Reading(hostile.to_html())
    assert two.texts("h1")[0].startswith("2 models compared with")
    card = part_of(hostile, "Card")
    assert len(card.answers) == 3  # of each model, and what to do first
    assert [mark.after for mark in card.picture.marks] == [
        hostile[hostile.primary].table["value"][i] for i in (1, 2)
    ]


def test_numbers_of_the_page_are_those_of_the_results(plain):
    sex, hired, old, new = labels()
    tables = tables_of(plain)
    pairs, churn = tables["pairs-1"], tables["churn-1"]
    rows = {row.name: row for row in pairs.rows}
    cells = dict(zip(pairs.columns, rows["m"].cells, strict=True))
    texts = {name: cell.text for name, cell in cells.items()}
    assert pairs.caption.startswith("new: rates of each pair, the largest change first.")
    assert texts["Labelled so"] == f"{100 * hired[sex == 'm'].mean():.1f} %"
    right = [100 * (model == hired)[sex == "m"].mean() for model in (old, new)]
    (errors,) = (row for row in tables["errors-1"].rows if row.name == "m")
    assert errors.dot == pytest.approx(right[1] - right[0])
    shares = [100 * one[sex == "m"].mean() for one in (old, new)]
    assert [texts["Reference"], texts["Model"]] == [f"{one:.1f} %" for one in shares]
    change = cells["Change, percentage points"]
    # Less that of all rows, which the interval is of.
    assert change.text == f"{shares[1] - shares[0] - 100 * (new.mean() - old.mean()):+.2f}"
    pair = plain["directional A->T"].pairs.query("group == 'm'").iloc[0]
    assert change.ends == f"{100 * pair['low']:+.2f} to {100 * pair['high']:+.2f}"
    changed = dict(zip(("f", "m"), plain["MALS"].churn["changed"], strict=True))
    assert {row.name: row.cells[1].value for row in churn.rows} == changed
    (section,) = (one for one in parts(plain.to_document()) if getattr(one, "id", "") == "model-1")
    assert type(section).__name__ == "Section"
    assert "Predictions changed more often in some groups than in others (p < 0.001)." in [
        getattr(one, "text", "") for one in section.items
    ]
    drawn = {(row.group, row.name): row for row in tables["differences-table"].rows}
    metrics = [name.replace("->", "→") for name in plain]
    assert list(drawn) == [(name, model) for name in metrics for model in ("old", "new")]
    for name, one in zip(metrics, plain.values(), strict=True):
        row, reference = one.table.set_index("model").loc["new"], drawn[name, "old"]
        assert drawn[name, "new"].side == SIDES[one.verdict("new")]
        numbers = [cell.value for cell in drawn[name, "new"].cells[:4]]
        assert drawn[name, "new"].span == one.judged("new")[1:]
        names = ("value", "difference", "difference_low", "p_adjusted")
        assert numbers == pytest.approx([row[each] for each in names])
        assert reference.cells[0].value == pytest.approx(one.table["value"][0])
        assert [cell.text for cell in reference.cells[1:]] == ["–", "–", "–", "reference"]


def test_changes_of_a_negative_association_have_their_own_interval():
    """Change and interval are not turned by the sign of the association."""
    sex, hired, old, _ = labels()
    fewer = np.where((sex == "f") & (np.random.default_rng(0).random(800) < 0.3), 0, old)
    report = skbiasamp.compare(
        hired, {"old": old, "new": fewer}, sensitive_features=sex, auditor=few(), random_state=0
    )
    pair = report["directional A->T"].pairs.query("group == 'f'").iloc[0]
    assert pair["sign"] == -1
    assert pair["low"] < pair["change"] < pair["high"] < 0
    (row,) = (row for row in tables_of(report)["pairs-1"].rows if row.name == "f")
    low, high = (100 * pair[end] for end in ("low", "high"))
    assert row.cells[4].ends == f"{low:+.2f} to {high:+.2f}".replace("-", "−")


def disagreeing():
    """Both groups lose predictions: rates come closer, shares move apart."""
    sex = np.repeat(["f", "m"], 5000)
    hired = np.concatenate([np.arange(5000) < 1500, np.arange(5000) < 3000]).astype(int)
    new = np.concatenate([np.arange(5000) < 700, np.arange(5000) < 2000]).astype(int)
    return skbiasamp.compare(
        hired, {"old": hired, "new": new}, sensitive_features=sex, random_state=0
    )


def test_changes_of_numbers_are_shown_in_the_unit_of_the_value():
    """Wages of men are raised by 60, which is 0.17 of their standard deviation."""
    rng = np.random.default_rng(0)
    sex = np.repeat(["f", "m"], 200)
    wage = 3000 + 500 * (sex == "m") + rng.normal(0, 250, 400)
    models = {"old": wage, "new": wage + 60 * (sex == "m")}
    auditor = NumericAuditor(reference="test")
    report = skbiasamp.compare(wage, models, sensitive_features=sex, auditor=[auditor])
    cells = " ".join(Reading(report.to_html()).texts("td"))
    # Compared with the mean of all rows, which rises by 30.
    assert f"{30 / wage.std():+.4f}" in cells
    assert "+60.0000" not in cells


def test_metrics_that_disagree_are_named_and_explained():
    report = disagreeing()
    assert report["directional A->T"].verdict("new") == "amplifies less"
    assert report["MALS"].verdict("new") == "amplifies more"
    (finding,) = (each for each in report.findings if each.code == "SBA505")
    assert finding.numbers["more"]["MALS"] == "amplifies more"
    assert finding.numbers["less"]["directional A→T"] == "amplifies less"
    assert "rates and shares can change in opposite directions" in finding.text
    page = " ".join(Reading(report.to_html()).texts("main")[0].split())
    assert finding.text in page


def test_metrics_that_agree_have_no_note(plain):
    assert "SBA505" not in [finding.code for finding in plain.findings]


def test_predicted_groups_alone_have_a_page():
    sex, hired, _, _ = labels()
    rng = np.random.default_rng(0)
    guessed = {name: np.where(rng.random(800) < share, "f", sex) for name, share in
               (("old", 0.1), ("new", 0.3))}  # fmt: skip
    report = skbiasamp.compare(
        hired,
        sensitive_features=sex,
        sensitive_preds=guessed,
        auditor=few(direction="T->A"),
        random_state=0,
    )
    assert report.accuracy["accuracy"].isna().all()
    assert "accuracy" not in report.verdict
    page = " ".join(Reading(report.to_html()).texts("main"))
    assert "new: rates of each pair" in page
    assert "Accuracy of each model" not in page


def test_without_intervals_the_page_says_not_measured():
    sex, hired, old, new = labels()
    report = skbiasamp.compare(
        hired,
        {"old": old, "new": new},
        sensitive_features=sex,
        auditor=few(interval=None),
        random_state=0,
    )
    read = Reading(report.to_html())
    assert read.texts("span", **{"class": "chip unc"}) == ["Not measured"]


def test_the_record_can_be_repeated(tmp_path):
    sex, hired, old, new = labels()
    frame = pd.DataFrame({"sex": sex, "hired": hired, "old": old, "new": new})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    report = skbiasamp.compare(
        tmp_path / "rows.csv",
        target="hired",
        sensitive="sex",
        prediction={"champion": "old", "challenger": "new"},
        auditor=few(),
        random_state=0,
        data_name="May",
    )
    text = " ".join(Reading(report.to_html()).texts("main"))
    assert "prediction={'champion': 'old', 'challenger': 'new'}" in text
    assert report.data_files[0]["sha256"] in text
    assert skbiasamp.__version__ in text
    assert "rows of May." in text


def test_a_page_of_twenty_models_stays_small():
    sex, hired, old, _ = labels()
    rng = np.random.default_rng(2)
    models = {f"model {i}": np.where(rng.random(800) < 0.05, 1 - old, old) for i in range(20)}
    report = skbiasamp.compare(hired, models, sensitive_features=sex, auditor=few(), random_state=0)
    page = report.to_html()
    assert len(page.encode()) < 2_000_000
    card = part_of(report, "Card")
    assert len(card.answers) == 20
    assert card.title == "19 models compared with “model 0”"


def test_a_browser_shows_both_pages_without_overflow_and_sorts_them(hostile_page, tmp_path):
    """Of a report and of a comparison: one start of the browser for both."""
    report, comparison = shown([hostile_audit().to_html(), hostile_page], tmp_path)
    for page in (report, comparison):
        assert [window["wide"] for window in page] == [400, 900, 1000, 1280]
        assert [window["cut"] for window in page] == [0, 0, 0, 0]
    for one in report:
        (first, falling), (second, rising) = one["sorted"]
        assert (first, second) == ("descending", "ascending")
        assert falling == sorted(one["before"], reverse=True) != one["before"]
        assert rising == sorted(one["before"])


def test_the_axis_of_differences_has_0_in_its_middle(plain):
    """A change to one side is not drawn longer than one to the other."""
    axes = [table.axis for name, table in tables_of(plain).items() if name.startswith("pairs")]
    assert axes
    assert all(axis.low == -axis.high for axis in axes)


def test_the_test_of_changed_predictions_shows_its_p_value():
    rng = np.random.default_rng(0)
    sex, hired = rng.choice(["f", "m"], 600), rng.integers(0, 2, 600)
    for often, pattern in (
        (0.1, r"how many predictions changed \(p = 0\.\d+\)"),
        (0.9, r"\(p &lt; 0\.001\)"),
    ):
        changed = rng.random(600) < np.where(sex == "f", 0.1, often)
        models = {"old": hired, "new": np.where(changed, 1 - hired, hired)}
        page = skbiasamp.compare(hired, models, sensitive_features=sex, auditor=few()).to_html()
        assert re.search(pattern, page)


def test_a_model_that_amplifies_more_and_is_no_more_accurate_is_not_advised(plain):
    sex, hired, old, new = labels()
    (step,) = (finding for finding in plain.findings if finding.topic == "no gain")
    assert step.text == "“new” amplifies more than “old”, and is not clearly more accurate."
    assert step.action.startswith("Keep “old”")
    assert (new == hired).mean() < (old == hired).mean()
    better = skbiasamp.compare(
        new, {"old": old, "new": new}, sensitive_features=sex, y_train=hired, sensitive_train=sex,
        auditor=few(), random_state=0,
    )  # fmt: skip
    assert "no gain" not in [finding.topic for finding in better.findings]


def test_a_step_about_accuracy_rests_on_the_interval_of_its_difference():
    """Two more rows of 800 that are right are no gain, and two more that are wrong no cost."""
    sex = np.repeat(["f", "m"], 400)
    hired = np.r_[np.repeat([1, 0], [100, 300]), np.repeat([1, 0], [200, 200])]

    def wrong(*positions):
        predicted = hired.copy()
        predicted[np.concatenate(positions)] ^= 1
        return predicted

    def first_step(old, new):
        models = {"old": old, "new": new}
        report = skbiasamp.compare(hired, models, sensitive_features=sex, auditor=few())
        first = report.findings[0]
        return report["directional A->T"].verdict("new"), first.topic, first.text

    fair = wrong(*(range(start, start + 10) for start in (0, 100, 400, 600)))
    amplifying = wrong(range(19), range(600, 619))
    assert (amplifying == hired).sum() == (fair == hired).sum() + 2
    verdict, lead, text = first_step(fair, amplifying)
    assert (verdict, lead) == ("amplifies more", "no gain")
    assert text.endswith("is not clearly more accurate.")
    assert first_step(amplifying, fair)[:2] == ("amplifies less", "choice")
    worse = wrong(*(range(start, start + 20) for start in (0, 100, 400, 600)))
    verdict, lead, text = first_step(amplifying, worse)
    assert (verdict, lead) == ("amplifies less", "cost")
    assert "its accuracy is 5.2 percentage points lower." in text
