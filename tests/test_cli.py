"""The command line: the numbers of `audit`, from files of every kind, and errors of one line."""

import io
import json
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command_line import pretend_without, refused, report_of

import skbiasamp
from skbiasamp.cli import main

NAMES = ("--target", "hired", "--prediction", "predicted", "--sensitive", "sex")
PLAIN = ("--auditor", "skbiasamp:DirectionalAuditor")  # attackers take long


def rows(n, seed):
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], n)
    hired = (rng.random(n) < 0.3 + 0.4 * (sex == "f")).astype(int)
    predicted = np.where((sex == "f") & (rng.random(n) < 0.5), 1, hired)
    frame = pd.DataFrame({"id": range(n), "sex": sex, "hired": hired, "predicted": predicted})
    return frame.assign(
        race=rng.choice(["a", "b"], n),
        score=predicted + rng.normal(size=n),
        repeated=rng.integers(1, 3, n),
        guessed=np.where(rng.random(n) < 0.2, "f", sex),
        promoted=rng.integers(0, 2, n),
        believed=rng.integers(0, 2, n),
    )


@pytest.fixture(scope="module")
def train():
    return rows(300, 0)


@pytest.fixture(scope="module")
def test():
    return rows(200, 1)


def audited(capsys, *arguments):
    return report_of(skbiasamp.results.AuditReport, capsys, "audit", *arguments)


def assert_same(report, expected):
    pd.testing.assert_frame_equal(report.summary, expected.summary)


# ------------------------------------------------------------------ numbers


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet"])
def test_a_file_gives_the_numbers_of_its_columns(folder, engine, kind, capsys, train, test):
    if kind == "parquet":
        pytest.importorskip("pyarrow")
    for name, frame in {"train": train, "test": test}.items():
        if kind == "parquet":
            frame.to_parquet(f"{name}.parquet")
        else:
            frame.to_csv(f"{name}.{kind}", index=False, sep="\t" if kind == "tsv" else ",")
    report = audited(capsys, f"test.{kind}", "--train", f"train.{kind}", *NAMES)
    # Draws go by the order in which labels appear; in files it is theirs, not that of the rows.
    train, test = (one.sort_values(["hired", "predicted", "sex"]) for one in (train, test))
    expected = skbiasamp.audit(
        test["hired"],
        test["predicted"],
        sensitive_features=test["sex"],
        y_train=train["hired"],
        sensitive_train=train["sex"],
        random_state=0,
    )
    assert_same(report, expected)


def test_scores_and_weights_are_read_row_by_row(folder, capsys, test):
    weight = test["repeated"] / 4
    test.assign(weight=weight).to_csv("test.csv", index=False)
    report = audited(capsys, "test.csv", *NAMES, "--weight", "weight", "--score", "score")
    assert "leakage of scores" in report
    expected = skbiasamp.audit(
        test["hired"],
        test["predicted"],
        sensitive_features=test["sex"],
        y_score=test["score"],
        sample_weight=weight,
        random_state=0,
    )
    assert_same(report, expected)


def test_several_columns_of_everything(folder, capsys, test):
    report = audited(
        capsys,
        "test.csv",
        *("--target", "hired", "promoted", "--prediction", "predicted", "believed"),
        *("--sensitive", "sex", "race", "--groups", "marginal", "--seed", "3"),
    )
    cells = skbiasamp.Contingency.from_frame(
        test,
        target=["hired", "promoted"],
        prediction=["predicted", "believed"],
        sensitive=["sex", "race"],
        groups="marginal",
    )
    expected = skbiasamp.audit(cells, random_state=3)
    assert_same(report, expected)
    assert report.context["groups"] == ["sex=f", "sex=m", "race=a", "race=b"]


def test_every_engine_reads_the_same_labels(folder, engine, capsys):
    for labels, names in (
        (["yes", "no"], ["no", "yes"]),
        (["f", "t"], ["f", "t"]),
        (["True", "False"], [False, True]),
        (["false", "TRUE"], [False, True]),
        (["1.0", "0.0"], [0, 1]),
        (['"1"', '"0"'], [0, 1]),
        (["NA", "None"], ["NA", "None"]),  # only an empty cell is missing
        (["007", "#8"], ["#8", "007"]),
        (["1_0", "2_0"], ["1_0", "2_0"]),
    ):
        lines = [f"{labels[i % 2]},{labels[i % 3 == 0]},{'xy'[i % 5 > 1]}" for i in range(60)]
        (folder / "text.csv").write_text("\n".join(["label,guess,sex", *lines]))
        arguments = ("text.csv", "--target", "label", "--prediction", "guess", "--sensitive", "sex")
        report = audited(capsys, *arguments, *PLAIN)
        assert report["directional A->T"].table["task"].unique().tolist() == [names[1]]


def test_missing_attributes_can_be_left_out_or_a_group(folder, capsys):
    frame = rows(200, 2)
    frame.loc[:9, "sex"] = None
    frame.to_csv("holes.csv", index=False)
    for policy, n_groups, n in (("drop", 2, 190), ("group", 3, 200)):
        context = audited(capsys, "holes.csv", *NAMES, *PLAIN, "--missing", policy).context
        assert (len(context["groups"]), context["n_samples"]) == (n_groups, n)


# ------------------------------------------------------------------ what is printed and written


def test_pages_are_written_and_named(folder, capsys):
    pytest.importorskip("jinja2")
    files = {"html": "a.html", "json": "b.json", "markdown": "c.md"}
    options = [text for kind, path in files.items() for text in (f"--{kind}", path)]
    assert main(["audit", "test.csv", *NAMES, *PLAIN, *options]) == 0
    printed = capsys.readouterr().out
    for path in files.values():
        assert f"Written: {path}\n" in printed
        assert "directional" in (folder / path).read_text(encoding="utf-8")
    assert json.loads((folder / "b.json").read_text())["primary"] == "directional A->T"


def test_a_nul_is_refused(folder, capsys):
    """Only callers of `main` can pass one. It was a bare ValueError."""
    for option in ("--json", "--html", "--labels", "--model-name"):
        line = refused(capsys, "audit", "test.csv", *NAMES, option, "x\0y")
        assert line == r"arguments must hold no NUL character; got 'x\x00y'"


def test_errors_of_the_system_name_the_file_and_no_number(folder, capsys):
    long = "a" * 300 + ".json"
    assert refused(capsys, "audit", "test.csv", *NAMES, "--json", long) == (
        f"{long}: File name too long"
    )


def test_a_report_has_names_and_the_command_that_made_it(folder, capsys):
    report = audited(capsys, "test.csv", *NAMES, "--model-name", "tree 2")
    assert (report.context["model_name"], report.context["data_name"]) == ("tree 2", "test.csv")
    assert report.context["call"] == (
        f"skbiasamp audit test.csv {' '.join(NAMES)} --model-name 'tree 2' --json report.json"
    )
    # Findings name the options of the command, in files too.
    (found,) = (one for one in report.findings if one.topic == "training labels")
    assert "audit again with them (--train)." in found.action
    named = audited(capsys, "test.csv", *NAMES, *PLAIN, "--data-name", "march")
    assert named.context["data_name"] == "march"


def test_the_demo_answers_two_questions_on_real_data(tmp_path, monkeypatch, capsys):
    pytest.importorskip("jinja2")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SKBIASAMP_DATA", raising=False)
    assert main(["demo"]) == 0
    printed = capsys.readouterr().out
    score, classifier = printed.split("\n2. ")
    for part, value in (
        (score, "13.2 in the labels, 24.5 in the predictions"),
        (classifier, "13.0 in the labels, 23.3 in the predictions"),
    ):
        # The verdict comes first, then the metrics, then who bears the errors.
        order = ["the model widens the gap", "Who bears the errors?", ".html"]
        assert sorted(order, key=part.index) == order
        assert value in " ".join(part.split())
    assert re.search(r"African-American +52.3 % +57.6 % +42.3 % +71.5 %", score)
    assert re.search(r"Caucasian +39.1 % +33.1 % +22.0 % +50.4 %", score)
    assert "load_compas().DESCR" in classifier
    for name in ("compas-score.html", "compas-classifier.html"):
        assert str(tmp_path / name) in printed
        assert "African-American" in (tmp_path / name).read_text(encoding="utf-8")


def test_the_demo_needs_a_folder_that_exists(tmp_path, capsys):
    assert main(["demo", "--folder", str(tmp_path / "none")]) == 2
    assert "there is no such folder" in capsys.readouterr().err


def test_a_terminal_that_cannot_show_a_name_shows_its_code(folder, monkeypatch, test):
    test.replace({"sex": {"f": "♀"}}).to_csv("test.csv", index=False)
    held = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(held, encoding="ascii"))
    assert main(["audit", "test.csv", *NAMES, *PLAIN]) == 0
    sys.stdout.flush()
    assert rb"\u2640" in held.getvalue()


# ------------------------------------------------------------------ gates


def gated(capsys, *arguments, code):
    """Return what a gate printed below the report, and on standard error."""
    assert main(["audit", *arguments]) == code
    printed = capsys.readouterr()
    return printed.out.partition("\nChecked against")[2], printed.err


@pytest.mark.parametrize(
    ("limit", "code", "on"),
    [
        ("below", 1, ("--on", "DIRECTIONAL")),
        ("low", 3, ("--on", "directional a->t")),
        ("value", 3, ()),
        ("high", 0, ()),
    ],
)
def test_a_gate_fails_if_directional_amplification_lies_above(folder, capsys, limit, code, on):
    rows = ("test.csv", *NAMES, *PLAIN, "--auditor", "skbiasamp:LeakageAuditor(n_draws=1)")
    result = audited(capsys, *rows)["directional A->T"]
    assert 0 < result.low < result.value
    limit = np.nextafter(result.low, 0) if limit == "below" else getattr(result, limit)
    gate = ("--fail-above", repr(float(limit)), *on)
    out, _ = gated(capsys, *rows, *gate, code=code)
    lines = " ".join(out.split())
    interval = f"{result.low:+.4f} to {result.high:+.4f}"
    assert f"directional A->T: {result.value:+.4f}, 95 % interval {interval}" in lines
    assert "leakage" not in out
    assert ("Failed: the interval of directional A->T lies above" in out) == (code == 1)
    assert ("Passed: every interval lies below" in out) == (code == 0)
    undecided = "Inconclusive: the interval of directional A->T has values below"
    assert (undecided in lines) == (code == 3)
    decided = "rows would decide this" in lines or "will hardly decide this" in lines
    assert decided == (code == 3)
    accepted = 0 if code == 3 else code
    gated(capsys, *rows, *gate, "--inconclusive", "pass", code=accepted)


def test_a_limit_holds_in_both_directions(folder, capsys):
    counted(folder, {
        ("f", 1, 1): 100, ("f", 0, 1): 40, ("f", 0, 0): 260,
        ("m", 1, 1): 160, ("m", 1, 0): 40, ("m", 0, 0): 200,
    })  # fmt: skip
    rows = ("counted.csv", *NAMES, *PLAIN)
    out, _ = gated(capsys, *rows, "--limit", "0.02", code=1)
    text = " ".join(out.split())
    assert text.startswith("--limit 0.02, the same as 4 percentage points of the gap:")
    assert "directional A->T: -0.1000" in text
    assert "reduces: failed" in text
    assert "lies below −0.02, which a limit on one side allows." in text.replace("-0.02", "−0.02")
    gated(capsys, *rows, "--fail-above", "0.02", code=0)
    gated(capsys, *rows, "--limit", "0.2", code=0)
    gated(capsys, *rows, "--limit", "0.1", code=3)
    gated(capsys, *rows, "--limit", "0.02", "--inconclusive", "pass", code=1)


def test_a_limit_is_a_finite_number_that_is_not_negative(folder, capsys):
    for limit in ("nan", "inf", "-0.01", "much"):
        with pytest.raises(SystemExit, match="2"):
            main(["audit", "test.csv", *NAMES, f"--fail-above={limit}"])
        error = capsys.readouterr().err
        assert f"--fail-above: must be a finite number of 0 or more; got {limit!r}" in error


def counted(folder, rows):
    """Write rows of (sex, hired, predicted) to counted.csv."""
    lines = [",".join(map(str, row)) for row, n in rows.items() for _ in range(n)]
    (folder / "counted.csv").write_text("\n".join(["sex,hired,predicted", *lines]))


def test_no_result_is_no_pass(folder, capsys):
    plain = "skbiasamp:DirectionalAuditor(interval=None, reference='test')"
    auditors = ("--auditor", plain, "--auditor", "skbiasamp:LeakageAuditor")
    gate = (*auditors, "--fail-above", "0.99")
    out, error = gated(capsys, "test.csv", *NAMES, *gate, code=2)
    assert "directional A->T: no confidence interval" in out
    assert "Passed" not in out
    assert error.startswith("skbiasamp: --fail-above has no result for directional A->T: Not meas")
    out, error = gated(capsys, "test.csv", *NAMES, *gate, "--allow-undefined", code=0)
    assert "Passed: there is no result to check, and --allow-undefined accepts this." in out
    assert error == ""
    out, error = gated(capsys, "test.csv", *NAMES, *gate, "--on", "all", code=2)
    # What is exceeded is a failure, whatever else is undefined.
    gated(capsys, "test.csv", *NAMES, *auditors, "--fail-above", "0", "--on", "all", code=1)


OWN = """
from skbiasamp.metrics import Option
from skbiasamp.metrics.base import BaseAuditor
from skbiasamp.results import AuditResult
import pandas as pd

class Share(BaseAuditor):
    metric = "share"
    _parameter_constraints = {}
    interval = None
    groups, missing, pos_label, confidence_level = "intersection", "error", None, 0.95

    def _value(self, test):
        return float((test.count("task_pred") - test.count("task")).sum() / test.total)

    def _result(self, test):
        table = pd.DataFrame({"group": ["(all)"], "task": ["(all)"], "amplification": [0.0]})
        return self._made(test, value=self._value(test), table=table)

class Needy(Share):
    def __init__(self, needed):
        self.needed = needed

class Scaled(Share):
    scale = Option(1)

    def _value(self, test):
        return self.scale * super()._value(test)
"""


def test_a_metric_of_ones_own_is_run_by_its_name_with_its_parameters(folder, capsys, test):
    (folder / "own_metric.py").write_text(OWN)
    names = ("own_metric:Share", "skbiasamp:DirectionalAuditor(interval=None, ties='negative')")
    chosen = [text for name in names for text in ("--auditor", name)]
    report = audited(capsys, "test.csv", *NAMES, *chosen)
    assert list(report) == ["share", "directional A->T"]
    share = (test["predicted"] - test["hired"]).mean()
    assert report["share"].value == pytest.approx(share)
    assert {"ties", "interval"} <= {*report["directional A->T"].settings}
    gate = ("--fail-above", "0", "--on", "share", "--allow-undefined")
    out, _ = gated(capsys, "test.csv", *NAMES, *chosen, *gate, code=0)
    assert "share: no confidence interval" in out
    scaled = audited(capsys, "test.csv", *NAMES, "--auditor", "own_metric:Scaled(scale=-2)")
    assert scaled["share"].value == pytest.approx(-2 * share)
    assert scaled["share"].params["scale"] == -2


def test_a_name_that_is_no_auditor_is_refused(folder, capsys):
    (folder / "own_metric.py").write_text(OWN)
    for named, reason in (
        ("own_metric:Scaled(scale=print(1))", "scale must be a number, a text in quotes or None"),
        ("own_metric:Scaled(2)", "parameters go by name, such as Class(power=2)"),
        ("own_metric:Scaled(**{'scale': 2})", "parameters go by name"),
        ("own_metric:Scaled(scal=2)", "keyword argument 'scal': did you mean 'scale'?"),
        ("own_metric:Scaled(scale=2", "was never closed"),
        ("gone_metric:Share", "No module named 'gone_metric'"),
        ("own_metric:Gone", "has no attribute 'Gone'"),
        ("own_metric", "got 'own_metric'"),
        ("own_metric:pd", "must name the class of an auditor"),
        ("pathlib:Path", "it is no subclass of BaseAuditor"),
        ("skbiasamp:LeakageAuditor(cv=1)", "'cv' parameter of LeakageAuditor must be an int in"),
        ("skbiasamp.metrics:DBACAuditor(direction='A->T')", "tasks must name the words of each"),
        ("own_metric:Needy", "missing 1 required positional argument: 'needed'"),
    ):
        with pytest.raises(SystemExit, match="2"):
            main(["audit", "test.csv", *NAMES, "--auditor", named])
        error = " ".join(capsys.readouterr().err.split())
        assert "--auditor: must name the class of an auditor" in error
        assert reason in error


def test_a_gate_must_have_something_to_check(folder, capsys):
    gate = ["audit", "test.csv", *NAMES, *PLAIN, "--fail-above", "0", "--on"]
    assert main([*gate, "directional A>T"]) == 2
    error = capsys.readouterr().err
    assert "--on must name a result of the report; got 'directional A>T'" in error
    assert "did you mean 'directional A->T'?" in error
    for option in (["--on", "MALS"], ["--allow-undefined"], ["--inconclusive", "pass"]):
        with pytest.raises(SystemExit, match="2"):
            main(["audit", "test.csv", *NAMES, *option])
        assert f"{option[0]} has no effect without --fail-above" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        main(["audit", "test.csv", *NAMES, "--limit", "0.1", "--fail-above", "0.1"])
    assert "--limit takes the place of --fail-above: pass one of them" in capsys.readouterr().err


# ------------------------------------------------------------------ bad input, in one line


def text(content):
    return lambda path: path.write_text(content)


HEAD = "sex,hired,predicted\n"


BAD_FILES = [
    ("gone.csv", None, "there is no file gone.csv"),
    ("gone-*.csv", None, "no file matches gone-*.csv"),
    ("folder", lambda path: path.mkdir(), "folder is a folder: name files"),
    ("data.xlsx", text("x"), "ends in '.xlsx'; only files of .csv, .tsv, .jsonl,"),
    ("empty.csv", text(""), "empty.csv is empty"),
    ("empty.parquet", text(""), "empty.parquet is empty"),
    ("head.csv", text(HEAD), "head.csv has no rows"),
    ("no.parquet", text("a,b\n1,2\n"), "no.parquet cannot be read as .parquet: "),
    ("noise.csv", lambda path: path.write_bytes(bytes(range(256)) * 3), "noise.csv"),
    ("ragged.csv", text(f"{HEAD}f,1,1,7\nm,0,0,7\n"), "ragged.csv, line 2, has 4 cells"),
    ("names.csv", text("gender,hired,predicted\nf,1,1\n"), "no column 'sex'. It has 'gender'"),
    ("close.csv", text("sexe,hired,predicted\nf,1,1\n"), "'sex': did you mean 'sexe'? It has"),
    (
        "mixed.csv",
        text(f"{HEAD}f,1,1\nm,0,0\nf,yes,1\n"),
        "--prediction predicted holds numbers (0 and 1) but --target hired holds text (",
    ),
    (
        "score.csv",
        text(f"{HEAD}f,1,1.7\nm,0,-0.3\n"),
        "--prediction predicted must hold labels or probabilities in [0, 1]; got 1.7",
    ),
    ("one.csv", text(HEAD + "f,1,1\nf,0,0\n" * 9), "--sensitive sex has one group only, 'f'"),
    (
        "holes.csv",
        text(f"{HEAD}f,1,1\n,0,0\nm,0,1\n"),
        "--sensitive sex has missing values in 1 row, at position 1. Leave these "
        "rows out (--missing drop), or keep them as a group of their own (--missing group).",
    ),
    (
        "holes.parquet",
        lambda path: pd.read_csv(path.parent / "holes.csv").to_parquet(path),
        "--sensitive sex has missing values in 1 row",
    ),
    (
        "unlabelled.csv",
        text(f"{HEAD}f,1,1\nm,0,0\nm,,1\n"),
        "--target hired has missing values in 1 row, at position 2. Only labelled rows",
    ),
    (
        "unpredicted.csv",
        text(f"{HEAD}f,1,\nm,0,0\nm,1,\n"),
        "--prediction predicted has missing values in 2 rows, the first at position 0. Every",
    ),
]


def test_a_bad_file_is_one_clear_line(folder, engine, capsys):
    pytest.importorskip("pyarrow")
    for name, write, message in BAD_FILES:
        if write is not None:
            write(folder / name)
        assert message in refused(capsys, "audit", name, *NAMES)


BAD_COLUMNS = [
    ("--weight negative", "--weight negative must be 0 or more; got negative values in 200 rows"),
    ("--weight race", "--weight race must hold numbers; got 'b'."),
    ("--weight age", "test.csv has no column 'age'. It has"),
    ("--train gone.csv", "there is no file gone.csv"),
    ("--train id.csv", "id.csv has no column 'hired'"),
    ("--target hired promoted", "hired promoted has 2 columns but --prediction predicted is one"),
    ("--sensitive score", "--sensitive score is continuous (it holds "),
    ("--favourable paid", "--favourable must name a class or task; got 'paid'"),
    ("--html none/page.html", "there is no folder none to write page.html to"),
    ("--json .", ". is a folder: name the file to write"),
    ("--prediction predictd", "no column 'predictd': did you mean 'predicted'? It has"),
    # Names that hold those of our parameters are the reader's, and are never rewritten.
    ("--prediction y_pred2", "test.csv has no column 'y_pred2'"),
    ("--train y_pred_march.csv", "y_pred_march.csv has no rows"),
    ("--train sensitive_pred.csv", "there is no file sensitive_pred.csv"),
    ("--sensitive y_true", "--sensitive y_true is continuous"),
    ("--target missing='drop'", "--target missing='drop' is continuous"),
    ("--target {y_pred}", "--target {y_pred} is continuous"),
    ("--sensitive sex y_true", "--sensitive y_true is continuous"),
    ("--positive y_true", "--positive must be one of the classes of --target hired, 0"),
    ("--target hired race", "--target hired race has 2 columns, so each must be a 0/1"),
    # A column has one role.
    ("--prediction hired", "--prediction hired: this column is named by --target already. Name"),
    ("--sensitive hired", "--sensitive hired: this column is named by --target already."),
    ("--sensitive sex predicted", "--sensitive predicted: this column is named by --prediction"),
    ("--sensitive-prediction sex", "--sensitive-prediction sex: this column is named by --sens"),
    ("--target hired hired", "--target hired: this column is named by --target already."),
    ("--score hired", "--score hired: this column is named by --target already."),
    ("--weight sex", "--weight sex: this column is named by --sensitive already."),
    ("--limit 2", "--limit is 2, and directional A->T cannot be larger than 1"),
]


def test_bad_columns_are_one_clear_line(folder, capsys, test):
    of_the_reader = dict.fromkeys(("y_true", "missing='drop'", "{y_pred}"), test["score"])
    test.assign(negative=-1.0, **of_the_reader).to_csv("test.csv", index=False)
    test.iloc[:0].to_csv("y_pred_march.csv", index=False)
    test[["id"]].to_csv("id.csv", index=False)
    for arguments, message in BAD_COLUMNS:
        assert message in refused(capsys, "audit", "test.csv", *NAMES, *arguments.split(" "))
    test.assign(hired=test["hired"].replace({0: 2, 1: 3})).to_csv("other.csv", index=False)
    line = refused(capsys, "audit", "other.csv", "--train", "test.csv", *NAMES)
    assert "tasks 2 and 3 are in the audited data but were not in" in line


def test_scores_may_be_predictions_too(folder, capsys, test):
    test[:60].assign(score=np.linspace(0, 1, 60)).to_csv("scores.csv", index=False)
    line = ["scores.csv", *NAMES, "--prediction", "score"]
    assert "leakage of scores" in audited(capsys, *line, "--score", "score")
    line += ["--threshold", "0.5"]
    twice, once = (audited(capsys, *line, *more) for more in (["--score", "score"], []))
    assert list(twice) == list(once)
    assert "leakage of scores" in list(once)


def test_an_output_overwrites_nothing_that_is_needed(folder, capsys):
    before = (folder / "test.csv").read_bytes(), (folder / "train.csv").read_bytes()
    (folder / "link").symlink_to("x")
    (folder / "latest").symlink_to("test.csv")
    for outputs, message in (
        ("--html x --json x", "--json x would overwrite what --html writes"),
        ("--html x --markdown ./x", "--markdown x would overwrite what --html writes"),
        ("--html x --json link", "--json link would overwrite what --html writes"),
        ("--json test.csv", "--json test.csv would overwrite the input test.csv"),
        ("--markdown train.csv", "--markdown train.csv would overwrite the input train.csv"),
        ("--html latest", "--html latest would overwrite the input test.csv"),
    ):
        files = ("test.csv", "--train", "train.csv")
        assert message in refused(capsys, "audit", *files, *NAMES, *outputs.split())
    assert ((folder / "test.csv").read_bytes(), (folder / "train.csv").read_bytes()) == before
    assert not (folder / "x").exists()


def test_findings_name_options(folder, capsys, test):
    test.assign(score=-test["score"]).to_csv("test.csv", index=False)
    scores = ("--score", "score", "--positive", "1")
    assert main(["audit", "test.csv", *NAMES, *scores, "--html", "page.html"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "choose --positive 0." in printed
    assert "audit again with them (--train)." in (folder / "page.html").read_text("utf-8")


def test_files_are_of_one_kind(folder, capsys):
    (folder / "more.tsv").write_text("a\tb\n")
    assert "files of different kinds" in refused(capsys, "audit", "test.csv", "more.tsv", *NAMES)


def test_parquet_needs_someone_to_read_it(folder, monkeypatch, capsys):
    pretend_without(monkeypatch, "duckdb", "polars", "pyarrow")
    (folder / "x.parquet").write_text("x")
    assert "pip install 'skbiasamp[polars]'" in refused(capsys, "audit", "x.parquet", *NAMES)


@pytest.mark.parametrize("error", ["ValueError", "TypeError", "KeyError"])
def test_a_bug_shows_its_traceback(folder, monkeypatch, error):
    (folder / "broken.py").write_text(
        f"""import skbiasamp
class Broken(skbiasamp.DirectionalAuditor):
    def audit(self, *labels, **options):
        raise {error}("shapes (3,) and (4,) are not aligned")
"""
    )
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "broken", raising=False)
    with pytest.raises((ValueError, TypeError, KeyError), match="not aligned") as caught:
        main(["audit", "test.csv", *NAMES, "--auditor", "broken:Broken"])
    assert type(caught.value).__name__ == error


# ------------------------------------------------------------------ help


EVERY = [["audit"], ["compare"], ["over"], ["demo"]]


@pytest.mark.parametrize("command", [[], *EVERY], ids=" ".join)
def test_help_says_what_a_command_does_and_has_examples(command, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit, match="0"):
        main([*command, "--help"])
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= 80
    assert f"\n  skbiasamp {' '.join(command)}" in printed
    if command:
        _, examples = printed.split("\nexamples:\n")
        assert examples.startswith(f"  skbiasamp {' '.join(command)}")
        usage, what, _ = printed.split("\n\n", 2)
        assert usage.startswith("usage: ")
        assert re.fullmatch(r"[A-Z].+\.", what)


def test_the_version_is_that_of_the_package(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out == f"skbiasamp {skbiasamp.__version__}\n"


def test_the_changelog_opens_with_this_version():
    changes = Path(__file__).parents[1] / "CHANGELOG.md"
    first = next(one for one in changes.read_text("utf-8").split("\n") if one.startswith("## "))
    assert re.fullmatch(rf"## {re.escape(skbiasamp.__version__)} \([\w-]+\)", first)
