"""Stories of the app in a real browser, and that its numbers are those of the command."""

import json
import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from app_process import running_app

from skbiasamp.cli import main
from skbiasamp.datasets import load_compas

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
playwright = pytest.importorskip("playwright.sync_api")
axe = pytest.importorskip("axe_playwright_python.sync_playwright")

CHROMIUM = shutil.which("chromium")
if CHROMIUM is None:
    pytest.skip("no chromium: the app was not tried in a browser", allow_module_level=True)

pytestmark = pytest.mark.pages  # minutes: beside the docs, not in `make test`
LONG = 60_000  # milliseconds


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    with running_app(tmp_path_factory.mktemp("app")) as running:
        yield running


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as api:
        chromium = api.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def open_page(app, browser, tmp_path, monkeypatch):
    """Open pages of the app, and let none of them have an error in its console."""
    monkeypatch.chdir(tmp_path)
    errors, context = [], browser.new_context(accept_downloads=True)

    def opened(**how):
        page = context.new_page()
        if how:
            page.set_viewport_size(how)
        page.on("console", lambda message: errors.append(message.text))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(app.url)
        return page

    yield opened
    context.close()
    assert errors == []


@pytest.fixture
def page(open_page):
    return open_page()


def rows(n=600, seed=0):
    """Return decisions whose difference between the sexes the model widens."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["Female", "Male"], n)
    hired = (rng.random(n) < np.where(sex == "Male", 0.6, 0.4)).astype(int)
    predicted = np.where(rng.random(n) < 0.7, hired, sex == "Male").astype(int)
    return pd.DataFrame({"sex": sex, "hired": hired, "predicted": predicted})


def drop(page, path, role="test"):
    """Choose a file, as a drop does, and wait until it was read."""
    with page.expect_response("**/columns"):
        page.set_input_files(f"#file-{role}", path)
    page.wait_for_selector(f"#status-{role}:has-text('✓')", timeout=LONG)


def choose(page, target="hired", prediction="predicted", sensitive=("sex",)):
    page.select_option("#target", target)
    page.select_option("#prediction", prediction)
    for column in sensitive:
        page.select_option("#add-sensitive", column)


def report(page):
    """Press the button, wait for the report, and return the JSON that the page saves."""
    page.click("#run")
    page.wait_for_selector("#run:enabled", timeout=LONG)  # the report before is shown until then
    page.wait_for_selector("#result:visible", timeout=LONG)
    with page.expect_download() as saved:
        page.click("#save-json")
    return json.loads(Path(saved.value.path()).read_text("utf-8"))


def says(page, text):
    """Wait until the report that is shown, which its frame may still be loading, says this."""
    shown = page.frame_locator("#report").locator("body")
    playwright.expect(shown).to_contain_text(text, timeout=LONG, use_inner_text=True)


def error_at(page, field):
    """Press the button, and return the error at a field."""
    page.click("#run")
    page.wait_for_selector(".error:not(:empty)", timeout=LONG)
    (error,) = page.locator(".error:not(:empty)").all()
    assert error.get_attribute("id") == f"error-{field}", error.inner_text()
    return error.inner_text()


def numbers(report):
    """Return a report without its call and date, each number to the last digit; NaN is NaN.

    Texts of findings name fields of the page, or options of the command; their numbers stay.
    """
    of_call = ("context", "data_files", "call", "date", "text", "action")
    if isinstance(report, dict):
        return {key: numbers(value) for key, value in report.items() if key not in of_call}
    return [numbers(value) for value in report] if isinstance(report, list) else repr(report)


def check_same_numbers(page, made):
    """Run the command and the Python that the page shows, beside the files."""
    text = page.text_content("#command")
    command = shlex.split(text, comments=True)
    assert command[0] == "skbiasamp"
    assert main(command[1:]) in (0, 1, 3)
    assert numbers(json.loads(Path("report.json").read_text("utf-8"))) == numbers(made)
    python = page.text_content("#python")
    names = {}
    exec(compile(python, "python", "exec"), names)
    names["report"].to_json("python.json")
    by_python = json.loads(Path("python.json").read_text("utf-8"))
    for key in numbers(made).keys() - {"findings"}:  # which name options or parameters
        assert numbers(by_python)[key] == numbers(made)[key]


def check_accessible(page):
    found = axe.Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_compas_by_the_button(open_page):
    page = open_page(width=390, height=844)
    check_accessible(page)
    page.click("#example")
    page.wait_for_selector("#rows td")
    assert page.input_value("#target") == ""  # nothing is chosen silently
    assert "Use predicted 0 or 1" in page.inner_text("[data-proposal=prediction]")
    proposals = page.inner_text("[data-proposal=sensitive]")
    assert proposals.startswith("Use age numbers from 18 to 80; to be cut at 30, 40\n")
    page.click("#use-all")
    for summary in page.locator("details > summary:visible").all():
        summary.click()
    check_accessible(page)
    # Cuts are proposed with their reason, so that all proposals run.
    assert page.input_value("#bins-0") == "30, 40"
    assert "round numbers near the thirds" in page.inner_text("#sensitive")
    assert report(page)["context"]["group_columns"] == ["age", "sex", "race"]
    assert "--bins age=30,40 " in page.text_content("#command")
    page.fill("#bins-0", "")
    assert "must hold groups; got 216" in error_at(page, "sensitive")
    check_accessible(page)
    page.fill("#bins-0", "25, 40")
    page.select_option("#favourable", label="two_year_recid is 0")
    page.fill("#limit", "2")
    made = report(page)
    check_accessible(page)
    assert re.match(r"The limit was set at [\d:]+, after a report", page.inner_text("#record"))
    assert made["context"]["limit_set"] == page.inner_text("#record")
    assert "--bins age=25,40 --favourable 0 --limit 0.02" in page.text_content("#command")
    frame = page.frame_locator("#report")
    title = frame.locator("h1").inner_text()
    assert title.startswith(
        "Two year recid: the model widens some gaps between groups, and narrows"
    )
    compas = load_compas()
    table = compas.frame[["age", "sex", "race", "two_year_recid"]]
    table.assign(predicted=(compas.decile_score >= 5).astype(int)).to_csv("compas.csv", index=False)
    check_same_numbers(page, made)
    page.fill("#limit", "5")
    assert page.is_visible("#stale")


def test_semicolons_and_decimal_commas(page):
    table, rng = rows().assign(weight=np.tile([0.5, 1.5, 1.25], 200)), np.random.default_rng(3)
    chance = np.clip(table.predicted * 0.5 + rng.random(600) * 0.5, 0, 1)
    table["risk_score"] = np.round(chance, 3)
    table.to_csv("loans 2026.csv", sep=";", decimal=",", index=False, encoding="utf-8-sig")
    drop(page, "loans 2026.csv")
    assert [page.input_value(f"#{name}") for name in ("delimiter", "decimal")] == [";", ","]
    assert page.inner_text("#rows th >> nth=0") == "sex"
    assert page.inner_text("#rows td >> nth=3") == "0,5"  # as it is in the file
    choose(page)
    page.click("summary:has-text('Optional')")
    page.click("[data-proposal=weight] button")
    # A score beside a decision is proposed as what is behind it.
    proposal = page.inner_text("[data-proposal=score]")
    assert proposal.startswith("Use risk_score numbers from 0,")
    assert proposal.endswith("; predicted may come from them")
    assert page.input_value("#score") == ""  # nothing is chosen silently
    page.click("[data-proposal=score] button")
    made = report(page)
    assert "'loans 2026.csv'" in page.text_content("#command")
    assert "--delimiter ';' --decimal ," in page.text_content("#command")
    assert "--score risk_score" in page.text_content("#command")
    check_same_numbers(page, made)
    # Another choice than the proposal, and back.
    assert "semicolon, decimal comma, utf-8" in page.inner_text("#read-as")
    page.click("#read-as")
    page.select_option("#delimiter", ",")
    page.wait_for_selector("#rows th:has-text(';')")
    page.select_option("#delimiter", ";")
    page.wait_for_selector("#rows th:text-is('hired')")


def test_small_combinations_are_counted_before_the_report(page):
    table = rows(1200)
    rng = np.random.default_rng(4)
    table["age"] = rng.integers(18, 80, len(table)).astype(float)
    table["origin"] = rng.choice(["here", "near", "far"], len(table), p=[0.85, 0.1, 0.05])
    table.loc[::50, "age"] = table.loc[::60, "origin"] = np.nan
    table.to_csv("people.csv", index=False)
    drop(page, "people.csv")
    choose(page, sensitive=("sex", "age", "origin"))
    page.fill("#bins-1", "30, 50")
    page.locator("#bins-1").blur()
    cut = table.assign(age=pd.cut(table.age, [0, 30, 50, 99], right=False))
    sizes = cut.value_counts(["sex", "age", "origin"])  # without missing values
    small = sizes[sizes < 30]
    assert 1 < len(small) < len(sizes)
    said = page.locator("#groups-why")
    counted = (
        f"There are {len(sizes)} combinations. {len(small)} of them have fewer than 30 rows "
        f"(the smallest: {small.min()}). "
    )
    page.wait_for_selector(f"#groups-why:has-text('{counted}')", timeout=LONG)
    assert "take each column on its own" in said.inner_text()
    assert page.inner_text("#missing-why") == "age: 24 rows, origin: 20 rows"
    assert "Choose what happens" in error_at(page, "missing")
    page.select_option("#missing", "drop")
    page.wait_for_selector(f"#groups-why:has-text('{counted}')", timeout=LONG)
    # What it advises is there.
    page.select_option("#groups", label="combinations, small ones together")
    page.wait_for_selector("#groups-why", state="hidden")
    made = report(page)
    assert "--min-rows 30 " in page.text_content("#command")
    says(page, f"other ({len(small)} groups)")
    check_same_numbers(page, made)


def test_each_column_on_its_own_has_a_verdict(page):
    table = rows(1200)
    rng = np.random.default_rng(1)
    table["age"] = rng.choice(["18-30", "31-50", "51+"], len(table))
    table["amount"] = rng.normal(3000, 500, len(table)).round(2)
    names = np.array(["refused", "granted"])
    table["hired"], table["predicted"] = names[table["hired"]], names[table["predicted"]]
    table.loc[::50, "sex"] = table.loc[::60, "age"] = None
    table.to_csv("loans.csv", sep=";", decimal=",", index=False)
    drop(page, "loans.csv")
    # The label is found by its values: they are those of the prediction.
    page.click("[data-proposal=prediction] button:has-text('predicted')")
    page.select_option("#target", "hired")
    for column in ("age", "sex"):
        page.select_option("#add-sensitive", column)
    page.select_option("#groups", "marginal")
    page.select_option("#missing", "bounds")
    page.select_option("#favourable", label="hired is granted")
    made = report(page)
    check_same_numbers(page, made)
    assert list(made["columns"]) == ["age", "sex"]
    assert {name: each["facts"]["unknown"]["n"] for name, each in made["columns"].items()} == {
        "age": 20, "sex": 24
    }  # fmt: skip
    frame = page.frame_locator("#report")
    says(page, "if rows without a group belong to any")
    assert frame.locator("h1").inner_text() == (
        "Granted or refused: by sex, the model widens the gap between Female and Male"
    )
    chips = frame.locator(".chip").all_inner_texts()
    assert chips[:2] == ["▲ sex: amplifies", "age: no clear effect of the model"]
    # The page that the app made knows no options of a command, but for the call in its record.
    texts = frame.locator("main :is(p, dd, li)").all_text_contents()
    assert [text for text in texts if "--" in text and "skbiasamp audit" not in text] == []


def test_a_limit_of_several_groups_is_that_of_their_mean(page):
    """Field, help and report name the same quantity, in the same number."""
    table = rows(1500).assign(age=np.arange(1500) % 60 + 20)
    table.to_csv("rows.csv", index=False)
    drop(page, "rows.csv")
    choose(page, sensitive=("age",))
    about = page.locator("#limit-about")
    asked = "each group's gap to all rows, on average, in percentage points"
    assert about.inner_text() == asked
    page.fill("#bins-0", "50")
    assert about.inner_text() == "the gap between two groups, in percentage points"
    page.fill("#limit", "2,5")
    example = page.inner_text("#limit-example")
    assert example == "2.5 means: a gap of 10 may become 7.5 to 12.5."
    page.fill("#bins-0", "40, 60")
    page.fill("#limit", "3")
    example = page.inner_text("#limit-example")
    assert "gaps of 10 may become 7 to 13, " in example
    assert "on average over groups" in example
    assert report(page)["facts"]["limit"] == 0.03
    assert re.match(r"The limit was set at [\d:]+, before a report", page.inner_text("#record"))
    says(page, "on average; the limit is 3 points")


def test_scores_ask_for_their_threshold_and_quoted_decimal_commas_are_pointed_out(page):
    table = rows()
    rng = np.random.default_rng(2)
    scores = np.round(np.clip(table.pop("predicted") * 0.4 + rng.random(600) * 0.6, 0, 1), 3)
    table["score"] = [str(score).replace(".", ",") for score in scores]
    table["job"] = np.tile(["1,x", "2", "3,5"], 200)  # no number
    table["hired"] = np.where(table.hired == 1, "yes", "no")
    table.to_csv("scores.csv", index=False)
    drop(page, "scores.csv")
    assert page.input_value("#decimal") == "."  # thousands may be meant
    assert page.inner_text("#comma-why").startswith("score: these look like numbers with a comma")
    choose(page, prediction="score")
    assert page.is_hidden("#threshold")
    page.select_option("#decimal", ",")
    page.wait_for_selector("#comma-why", state="hidden", timeout=LONG)
    assert "score holds numbers from" in page.inner_text("#threshold-why")
    assert "Enter the score" in error_at(page, "threshold")
    page.select_option("#positive", "yes")
    page.fill("#threshold", "0,5")
    made = report(page)
    assert "--decimal , " in page.text_content("#command")
    assert "--positive yes --threshold 0.5" in page.text_content("#command")
    check_same_numbers(page, made)


def test_two_files_are_compared(page):
    table = rows()
    table.to_csv("old.csv", index=False)
    table.assign(predicted=table.hired).to_csv("new.csv", index=False)
    table.iloc[:-1].to_csv("short.csv", index=False)
    drop(page, "old.csv")
    page.click("summary:has-text('More files')")
    drop(page, "short.csv", "other")
    choose(page)
    page.fill("#limit", "1")
    assert "short.csv has 599 rows, and old.csv has 600 rows" in error_at(page, "other")
    drop(page, "new.csv", "other")
    made = report(page)
    assert page.text_content("#command").startswith("skbiasamp compare old=old.csv new=new.csv ")
    check_same_numbers(page, made)


def test_a_wrong_column_is_mended(page):
    table = rows().assign(
        name=[f"person {i}" for i in range(600)], pay=np.linspace(1000, 5000, 600)
    )
    table.to_csv("rows.csv", index=False)
    drop(page, "rows.csv")
    assert "Choose the column with the label" in error_at(page, "target")
    choose(page, prediction="pay", sensitive=("name",))
    page.fill("#threshold", "2000")
    page.fill("#limit", "200")
    assert "percentage points, from 0 to 100" in error_at(page, "limit")
    page.fill("#limit", "6")
    error = error_at(page, "sensitive")
    assert error.startswith("Sensitive columns: name must hold groups; got 600 values")
    assert "--" not in error
    assert page.evaluate("document.activeElement.id") == "add-sensitive"
    page.click("button:has-text('Remove'):visible")
    page.select_option("#add-sensitive", "sex")
    assert page.locator(".error:not(:empty)").count() == 0
    assert page.locator("[aria-invalid]").count() == 0
    page.select_option("#prediction", "predicted")
    report(page)  # the limit is still there, and the threshold has left with the score
    assert "--limit 0.03" in page.text_content("#command")
    assert "--threshold" not in page.text_content("#command")
    # A file without the columns that were chosen asks again, and keeps the rest.
    table.rename(columns={"sex": "gender"}).to_csv("other.csv", index=False)
    drop(page, "other.csv")
    assert "Choose a column whose groups" in error_at(page, "sensitive")
    assert page.input_value("#limit") == "6"


def test_a_job_is_cancelled(app, page):
    rows().to_csv("rows.csv", index=False)
    drop(page, "rows.csv")
    choose(page)
    page.click("#run")
    page.wait_for_selector("#cancel:visible")
    page.click("#cancel")
    page.wait_for_selector("#status-run:has-text('Cancelled')", timeout=LONG)
    assert page.is_hidden("#progress")
    assert page.evaluate("document.activeElement.id") == "run"
    children = Path(f"/proc/{app.process.pid}/task/{app.process.pid}/children")
    if children.exists():
        assert children.read_text() == ""  # the process is gone before the page says so
    assert report(page)["results"]  # a second one needs no reload


def test_a_page_that_is_loaded_again_has_what_was_chosen(open_page):
    page, other = open_page(), open_page()
    table = rows().assign(age=np.arange(600) % 50 + 20)
    table.to_csv("rows.csv", index=False)
    drop(page, "rows.csv")
    rows(seed=1).to_csv("training.csv", index=False)
    page.click("summary:has-text('More files')")
    drop(page, "training.csv", role="train")
    choose(page, sensitive=("sex", "age"))
    page.fill("#bins-1", "30, 50")
    page.select_option("#favourable", "1")
    page.select_option("#groups", "marginal")
    page.fill("#limit", "2,5")
    page.evaluate("() => kept.then(() => null)")
    shown = ["#target", "#prediction", "#bins-1", "#favourable", "#groups", "#limit"]
    before = {field: page.input_value(field) for field in shown}
    page.reload()
    page.wait_for_selector("#bins-1")
    assert {field: page.input_value(field) for field in shown} == before
    assert "training.csv" in page.inner_text("#status-train")
    page.click("button:has-text('Remove training.csv')")  # which has no age
    made = report(page)
    page.reload()
    page.wait_for_selector("#result:visible", timeout=LONG)
    check_same_numbers(page, made)
    assert page.locator("#stale").is_hidden()
    page.fill("#limit", "3")
    page.evaluate("() => kept.then(() => null)")
    page.reload()
    page.wait_for_selector("#stale:visible", timeout=LONG)
    other.reload()
    assert other.input_value("#limit") == ""  # another tab has choices of its own


MARKUP = "<img src=x onerror=top.hacked=1><script>top.hacked=1</script>"


def test_markup_and_formulas_do_nothing(page):
    table = rows().rename(columns={"hired": f"hired {MARKUP}", "sex": "=1+1;'\"`${x}"})
    group = table.columns[0]
    table[group] = table[group].replace("Male", f"Male {MARKUP}")
    name = "<b onmouseover=top.hacked=1>.csv"
    table.to_csv(name, index=False)
    drop(page, name)
    choose(page, target=table.columns[1], sensitive=(group,))
    page.fill("#limit", MARKUP)
    assert MARKUP in error_at(page, "limit")
    page.fill("#limit", "")
    Path("_b onmouseover_top.hacked_1_.csv").write_bytes(Path(name).read_bytes())
    made = report(page)
    check_same_numbers(page, made)
    says(page, MARKUP)
    for inner in page.frames:
        assert inner.evaluate("globalThis.hacked === undefined && !document.querySelector('img')")


def test_a_keyboard_is_enough(page):
    def press_until(selector):
        for _ in range(80):
            page.keyboard.press("Tab")
            if page.evaluate("(s) => document.activeElement.matches(s)", selector):
                return
        raise AssertionError(f"Tab never reaches {selector}")

    press_until("#example")
    page.keyboard.press("Enter")
    page.wait_for_selector("#rows td")
    press_until("#use-all")
    page.keyboard.press("Enter")
    press_until("#bins-0")
    page.keyboard.type("30")
    press_until("#run")
    page.keyboard.press("Enter")
    page.wait_for_selector("#result:visible", timeout=LONG)
    assert page.evaluate("document.activeElement.id") == "title-4"
    press_until("#save-html")


def test_numbers_with_a_training_file(page):
    rng = np.random.default_rng(3)
    table = rows()
    table["hired"] = rng.normal(50, 5, 600).round(2) + 5 * (table.sex == "Male")
    table["predicted"] = (table.hired * 1.1).round(2)
    table.to_csv("rows.csv", index=False)
    Path("train").mkdir()
    table[["sex", "hired"]].to_csv("train/rows.csv", index=False)
    drop(page, "rows.csv")
    page.click("summary:has-text('More files')")
    drop(page, "train/rows.csv", "train")
    choose(page)
    assert "Proposal: yes" in page.inner_text("#numeric-why")
    page.check("#numeric")
    # The value is in standard deviations: a limit in the unit of the label would always be kept.
    page.fill("#limit", "0.02")
    assert "in standard deviations of the label" in page.inner_text("#limit-about")
    assert page.inner_text("#limit-example").startswith("0.02 means: distances of 1 may")
    made = report(page)
    assert made["facts"]["limit_verdict"] == "outside the limit"
    assert "--train 'train rows.csv'" in page.text_content("#command")
    shutil.copy("train/rows.csv", "train rows.csv")
    check_same_numbers(page, made)
