"""The command line: the numbers of `audit` and `compare`, from files, and errors of one line."""

import io
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
MODELS = ("--prediction", "champion=old", "--prediction", "challenger=new")
PLAIN = ("--auditor", "skbiasamp:DirectionalAuditor")  # attackers take long


def rows(n, seed):
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], n)
    hired = (rng.random(n) < 0.3 + 0.4 * (sex == "f")).astype(int)
    predicted = np.where((sex == "f") & (rng.random(n) < 0.5), 1, hired)
    old = np.where(rng.random(n) < 0.1, 1 - hired, hired)
    new = np.where((sex == "f") & (rng.random(n) < 0.4), 1, old)
    frame = pd.DataFrame({"id": range(n), "sex": sex, "hired": hired, "predicted": predicted})
    frame = frame.assign(old=old, new=new, same=np.where(rng.random(n) < 0.01, 1 - old, old))
    for name in ("promoted", "believed", "old_promoted", "new_promoted"):
        frame[name] = rng.integers(0, 2, n)
    for name, share in (("guessed", 0.2), ("old_sex", 0.2), ("new_sex", 0.4)):
        frame[name] = np.where(rng.random(n) < share, "f", sex)
    return frame.assign(
        race=rng.choice(["a", "b"], n),
        score=predicted + rng.normal(size=n),
        soft=(new * 0.6 + rng.random(n) * 0.3).round(1),
        weight=rng.choice([0.25, 0.5], n),
    )


@pytest.fixture(scope="module")
def train():
    return rows(300, 0)


@pytest.fixture(scope="module")
def test():
    return rows(200, 1)


def audited(capsys, *arguments):
    return report_of(skbiasamp.results.AuditReport, capsys, "audit", *arguments)


def compared(capsys, *arguments):
    """Compare models in test.csv by one label and sex."""
    names = (*NAMES[:2], *NAMES[4:])
    return report_of(skbiasamp.results.ComparisonReport, capsys, "compare", *arguments, *names)


def assert_same(report, expected):
    pd.testing.assert_frame_equal(report.summary, expected.summary)
    if hasattr(expected, "models"):
        pd.testing.assert_frame_equal(report.accuracy, expected.accuracy)


# ------------------------------------------------------------------ numbers


NAMED = {"target": "hired", "prediction": "predicted", "sensitive": "sex", "random_state": 0}


@pytest.mark.usefixtures("engine")
def test_a_file_gives_the_numbers_of_its_columns(folder, capsys, train, test):
    report = audited(capsys, "test.csv", "--train", "train.csv", *NAMES)
    # Draws go by the order in which labels appear; in files it is theirs, not that of the rows.
    train, test = (one.sort_values(["hired", "predicted", "sex"]) for one in (train, test))
    assert_same(report, skbiasamp.audit_frame(test, **NAMED, train=train))


def test_scores_and_weights_are_read_row_by_row(folder, capsys, test):
    report = audited(capsys, "test.csv", *NAMES, "--weight", "weight", "--score", "score")
    assert "leakage of scores" in report
    assert_same(report, skbiasamp.audit_frame(test, **NAMED, score="score", weight="weight"))


def test_several_columns_of_everything(folder, capsys, test):
    report = audited(
        capsys,
        "test.csv",
        *("--target", "hired", "promoted", "--prediction", "predicted", "believed"),
        *("--sensitive", "sex", "race", "--groups", "marginal", "--seed", "3"),
    )
    named = {"target": ["hired", "promoted"], "prediction": ["predicted", "believed"]}
    named |= {"sensitive": ["sex", "race"], "groups": "marginal"}
    cells = skbiasamp.Contingency.from_frame(test, **named)
    assert_same(report, skbiasamp.audit(cells, random_state=3))
    assert report.context["groups"] == ["sex=f", "sex=m", "race=a", "race=b"]


def test_every_engine_reads_the_same_labels(folder, engine, capsys):
    for labels, names in (
        (["yes", "no"], ["no", "yes"]),
        (["True", "False"], [False, True]),
        (["false", "TRUE"], [False, True]),
        (["1.0", "0.0"], [0, 1]),
        (['"1"', '"0"'], [0, 1]),
        (["NA", "None"], ["NA", "None"]),  # only an empty cell is missing
        (["007", "#8"], ["#8", "007"]),
    ):
        lines = [f"{labels[i % 2]},{labels[i % 3 == 0]},{'xy'[i % 5 > 1]}" for i in range(60)]
        (folder / "text.csv").write_text("\n".join(["label,guess,sex", *lines]))
        arguments = ("text.csv", "--target", "label", "--prediction", "guess", "--sensitive", "sex")
        report = audited(capsys, *arguments, *PLAIN)
        assert report["directional A->T"].table["task"].unique().tolist() == [names[1]]


def in_memory(test, columns, guessed=None, **options):
    """Return the comparison of models from columns of a frame."""
    if guessed is not None:
        options["sensitive_preds"] = {model: test[column] for model, column in guessed.items()}
    return skbiasamp.compare(
        test["hired"],
        {model: test[column] for model, column in columns.items()},
        sensitive_features=test["sex"],
        random_state=0,
        **options,
    )


OF_MODELS = {"champion": "old", "challenger": "new"}


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("reference", [None, "challenger"])
def test_a_comparison_has_the_numbers_of_columns(folder, capsys, reference, train, test):
    more = () if reference is None else ("--reference", reference)
    report = compared(capsys, "test.csv", "--train", "train.csv", *MODELS, *more)
    training = {"y_train": train["hired"], "sensitive_train": train["sex"]}
    assert_same(report, in_memory(test, OF_MODELS, **training, reference=reference))
    assert report.reference == (reference or "champion")


def test_models_of_several_labels_are_compared(folder, capsys, test):
    columns = {"champion": ["old", "old_promoted"], "challenger": ["new", "new_promoted"]}
    named = {"target": ["hired", "promoted"], "prediction": columns, "sensitive": "sex"}
    expected = skbiasamp.compare(test, **named, random_state=0)
    predicted = ["--prediction", *(f"{model}={','.join(two)}" for model, two in columns.items())]
    more = ("--target", "hired", "promoted", "--sensitive", "sex")
    kind = skbiasamp.results.ComparisonReport
    assert_same(report_of(kind, capsys, "compare", "test.csv", *more, *predicted), expected)


def test_a_column_may_have_any_name_in_quotes(folder, capsys, test):
    """As in a CSV file; without a model, the column gives its name."""
    columns = {"q, new": "old", "a=b": "new", 'the "best"': "same"}
    named = test.assign(**{name: test[of] for name, of in columns.items()}, b=test["old"])
    named.to_csv("test.csv", index=False)
    quoted = ['first="q, new"', '"a=b"', '"the ""best"""']
    report = compared(capsys, "test.csv", "--prediction", *quoted, *PLAIN)
    models = dict(zip(["first", "a=b", 'the "best"'], columns.values(), strict=True))
    assert_same(report, in_memory(test, models, auditor=skbiasamp.DirectionalAuditor()))


def test_groups_predicted_by_models_add_their_direction(folder, capsys, test):
    guessed = ("--sensitive-prediction", "champion=old_sex", "challenger=new_sex")
    report = compared(capsys, "test.csv", *MODELS, *guessed)
    groups = {"champion": "old_sex", "challenger": "new_sex"}
    assert_same(report, in_memory(test, OF_MODELS, groups))
    assert "directional T->A" in report


# ------------------------------------------------------------------ what is printed and written


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
    assert main(["demo", "--folder", "pages"]) == 0
    printed = capsys.readouterr().out
    score, classifier = printed.split("\n2. ")
    for part, value in (
        (score, "13.2 in the labels, 24.5 in the predictions"),
        (classifier, "13.0 in the labels, 23.3 in the predictions"),
    ):
        assert part.index("the model widens the gap") < part.index("Who bears the errors?")
        assert value in " ".join(part.split())
    assert re.search(r"African-American +52.3 % +57.6 % +42.3 % +71.5 %", score)
    assert "load_compas().DESCR" in classifier
    for name in ("compas-score.html", "compas-classifier.html"):
        assert str(tmp_path / "pages" / name) in printed
        assert "African-American" in (tmp_path / "pages" / name).read_text(encoding="utf-8")


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


def test_a_gate_fails_if_directional_amplification_lies_above(folder, capsys):
    rows = ("test.csv", *NAMES, *PLAIN, "--auditor", "skbiasamp:LeakageAuditor(n_draws=1)")
    result = audited(capsys, *rows)["directional A->T"]
    assert 0 < result.low < result.value
    said = {
        1: "Failed: the interval of directional A->T lies above",
        0: "Passed: every interval lies below",
        3: "Inconclusive: the interval of directional A->T has values below",
    }
    for limit, code, on in (
        (np.nextafter(result.low, 0), 1, ("--on", "DIRECTIONAL")),
        (result.low, 3, ("--on", "directional a->t")),
        (result.value, 3, ()),
        (result.high, 0, ()),
    ):
        gate = ("--fail-above", repr(float(limit)), *on)
        lines = " ".join(gated(capsys, *rows, *gate, code=code)[0].split())
        interval = f"{result.low:+.4f} to {result.high:+.4f}"
        assert f"directional A->T: {result.value:+.4f}, 95 % interval {interval}" in lines
        assert "leakage" not in lines
        assert [other for other, text in said.items() if text in lines] == [code]
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
    assert "reduces: failed" in text
    gated(capsys, *rows, "--fail-above", "0.02", "--markdown", "page.md", code=0)
    page = Path("page.md").read_text(encoding="utf-8")
    assert "Limit on increases: 4 points" in page
    assert not re.search("no limit", page, re.IGNORECASE)
    gated(capsys, *rows, "--limit", "0.2", code=0)
    gated(capsys, *rows, "--limit", "0.1", code=3)
    gated(capsys, *rows, "--limit", "0.02", "--inconclusive", "pass", code=1)


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
    # What is exceeded is a failure, whatever else is undefined.
    gated(capsys, "test.csv", *NAMES, *auditors, "--fail-above", "0", "--on", "all", code=1)


COMPARE = ("compare", "test.csv", *NAMES[:2], *NAMES[4:])


def test_a_comparison_fits_80_columns_and_no_result_of_it_is_no_pass(folder, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "200")
    auditor = ("--auditor", "skbiasamp:DirectionalAuditor(interval=None, reference='test')")
    models = (*MODELS, "--prediction", "a model whose name is rather long=same")
    gate = [*COMPARE, *models, *auditor, "--fail-above", "0", "--markdown", "page.md"]
    assert main(gate) == 2
    printed = capsys.readouterr()
    shown = printed.out.partition("\nDifferences checked against")[0]
    assert max(map(len, shown.splitlines())) <= 80
    assert "challenger" in (folder / "page.md").read_text(encoding="utf-8")
    assert (
        "has no result for directional A->T, challenger and directional A->T, a mo" in printed.err
    )
    assert main([*gate, "--allow-undefined"]) == 0


OWN = """
from skbiasamp.metrics import Option
from skbiasamp.metrics.base import BaseAuditor
import pandas as pd

class Share(BaseAuditor):
    metric = "share"
    _parameter_constraints = {}
    interval = None
    groups, missing, pos_label, confidence_level = "intersection", "error", None, 0.95
    scale = Option(1)

    def _value(self, test):
        both = test.count("task_pred") - test.count("task")
        return self.scale * float(both.sum() / test.total)

    def _result(self, test):
        table = pd.DataFrame({"group": ["(all)"], "task": ["(all)"], "amplification": [0.0]})
        return self._made(test, value=self._value(test), table=table)
"""


def test_a_metric_of_ones_own_is_run_by_its_name_with_its_parameters(folder, capsys, test):
    (folder / "own_metric.py").write_text(OWN)
    names = ("own_metric:Share", "skbiasamp:DirectionalAuditor(interval=None, ties='negative')")
    chosen = [text for name in names for text in ("--auditor", name)]
    report = audited(capsys, "test.csv", *NAMES, *chosen)
    assert list(report) == ["share", "directional A->T"]
    share = (test["predicted"] - test["hired"]).mean()
    assert report["share"].value == pytest.approx(share)
    scaled = audited(capsys, "test.csv", *NAMES, "--auditor", "own_metric:Share(scale=-2)")
    assert scaled["share"].value == pytest.approx(-2 * share)
    assert scaled["share"].params["scale"] == -2


def test_a_name_that_is_no_auditor_is_refused(folder, capsys):
    (folder / "own_metric.py").write_text(OWN)
    for named, reason in (
        ("own_metric:Share(scale=print(1))", "scale must be a number, a text in quotes or None"),
        ("own_metric:Share(scal=2)", "keyword argument 'scal': did you mean 'scale'?"),
        ("own_metric:Share(2)", "parameters go by name, such as Class(power=2)"),
        ("gone_metric:Share", "No module named 'gone_metric'"),
        ("own_metric", "got 'own_metric'"),
        ("pathlib:Path", "it is no subclass of BaseAuditor"),
    ):
        with pytest.raises(SystemExit, match="2"):
            main(["audit", "test.csv", *NAMES, "--auditor", named])
        error = " ".join(capsys.readouterr().err.split())
        assert "--auditor: must name the class of an auditor" in error
        assert reason in error


def test_a_gate_must_have_something_to_check(folder, capsys):
    for limit in ("nan", "-0.01", "much"):
        with pytest.raises(SystemExit, match="2"):
            main(["audit", "test.csv", *NAMES, f"--fail-above={limit}"])
        error = capsys.readouterr().err
        assert f"--fail-above: must be a finite number of 0 or more; got {limit!r}" in error
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
    ("data.xlsx", text("x"), "ends in '.xlsx'; only files of .csv, .tsv, .jsonl,"),
    ("empty.parquet", text(""), "empty.parquet is empty"),
    ("head.csv", text(HEAD), "head.csv has no rows"),
    ("no.parquet", text("a,b\n1,2\n"), "no.parquet cannot be read as .parquet: "),
    ("names.csv", text("gender,hired,predicted\nf,1,1\n"), "no column 'sex'. It has 'gender'"),
    (
        "mixed.csv",
        text(f"{HEAD}f,1,1\nm,0,0\nf,yes,1\n"),
        "--prediction predicted holds numbers (0 and 1) but --target hired holds text (",
    ),
    (
        "holes.csv",
        text(f"{HEAD}f,1,1\n,0,0\nm,0,1\n"),
        "--sensitive sex has missing values in 1 row, at position 1 (line 3 of the file). Leave "
        "these rows out (--missing drop), or keep them as a group of their own (--missing group).",
    ),
]


def test_a_bad_file_is_one_clear_line(folder, engine, capsys):
    pytest.importorskip("pyarrow")
    for name, write, message in BAD_FILES:
        if write is not None:
            write(folder / name)
        assert message in refused(capsys, "audit", name, *NAMES)


def test_no_line_is_named_where_a_blank_one_or_one_in_quotes_is_no_row(folder, capsys):
    for rows in ("f,1,1\n\n,0,0\n", '"f\nf",1,1\n,0,0\n'):
        (folder / "holes.csv").write_text(HEAD + rows)
        assert "1 row, at position 1. Leave" in refused(capsys, "audit", "holes.csv", *NAMES)


BAD_COLUMNS = [
    ("--weight age", "test.csv has no column 'age'. It has"),
    ("--favourable paid", "--favourable must name a class or task; got 'paid'"),
    ("--html none/page.html", "there is no folder none to write page.html to"),
    ("--prediction predictd", "no column 'predictd': did you mean 'predicted'? It has"),
    # Names that hold those of our parameters are the reader's, and are never rewritten.
    ("--prediction y_pred2", "test.csv has no column 'y_pred2'"),
    ("--train y_pred_march.csv", "y_pred_march.csv has no rows"),
    ("--target missing='drop'", "--target missing='drop' is continuous"),
    ("--target {y_pred}", "--target {y_pred} is continuous"),
    ("--positive y_true", "--positive must be one of the classes of --target hired, 0"),
    ("--target hired race", "--target hired race has 2 columns, so each must be a 0/1"),
    # A column has one role.
    ("--prediction hired", "--prediction hired: this column is named by --target already. Name"),
    ("--sensitive sex predicted", "--sensitive predicted: this column is named by --prediction"),
    ("--limit 2", "--limit is 2, and directional A->T cannot be larger than 1"),
]


def test_bad_columns_are_one_clear_line(folder, capsys, test):
    of_the_reader = dict.fromkeys(("missing='drop'", "{y_pred}"), test["score"])
    test.assign(**of_the_reader).to_csv("test.csv", index=False)
    test.iloc[:0].to_csv("y_pred_march.csv", index=False)
    for arguments, message in BAD_COLUMNS:
        assert message in refused(capsys, "audit", "test.csv", *NAMES, *arguments.split(" "))
    line = refused(capsys, "audit", "test.csv", *NAMES, "--sensitive", "id")
    assert "--sensitive id must hold groups; got 200 values in 200 rows" in line
    assert "pass --max-groups 200." in line
    people = (*NAMES, "--sensitive", "id", "--max-groups", "200", *PLAIN)
    assert main(["audit", "test.csv", *people]) == 0


BAD_MODELS = [
    ("champion=old", "--prediction holds one model, 'champion'. A comparison"),
    ("champion=old challenger=nwe", "test.csv has no column 'nwe': did you mean 'new'? It has"),
    (
        "champion=old challenger=old",
        "--prediction challenger=old: this column is named by --prediction champion=old",
    ),
    (
        "champion=old challenger=new --reference chalenger",
        "--reference must be one of the models, 'champion' and 'challenger'; got 'chalenger': "
        "did you mean 'challenger'?",
    ),
    (
        "champion=old challenger=words",
        "--prediction challenger=words holds text ('no' and 'yes') but --target hired holds",
    ),
    (
        "champion=old challenger=new --sensitive-prediction champion=old_sex",
        "--prediction and --sensitive-prediction have different models: only one of them has",
    ),
    ("a=old,", "must be a model's name"),
    ("a=old a=new", "the model 'a' is named twice"),
    ("a=old b=new --on all", "--on has no effect without --fail-above"),
    ("a=old b=new --score soft", "unrecognized arguments"),
]


def test_bad_models_are_one_clear_line(folder, capsys, test):
    test.assign(words=test["new"].map({0: "no", 1: "yes"})).to_csv("test.csv", index=False)
    for arguments, message in BAD_MODELS:
        try:
            code = main([*COMPARE, "--prediction", *arguments.split()])
        except SystemExit as ended:
            code = ended.code
        assert code == 2
        assert message in capsys.readouterr().err


def write_each(test):
    """Write the rows of two models to a file each."""
    for model in ("old", "new"):
        own = test[["sex", "hired", "weight"]].assign(predicted=test[model])
        own.to_csv(f"{model}.csv", index=False)


def test_models_may_have_a_file_each(folder, capsys, test):
    write_each(test)
    files = ("champion=old.csv", "challenger=new.csv")
    more = ("--weight", "weight", *PLAIN)
    report = compared(capsys, *files, "--prediction", "predicted", *more)
    assert_same(report, compared(capsys, "test.csv", *MODELS, *more))
    assert [file["path"] for file in report.data_files] == ["old.csv", "new.csv"]
    # Labels make the rows those that all models share, with training rows or without.
    more = ("--train", "train.csv", *PLAIN)
    report = compared(capsys, *files, "--prediction", "predicted", *more)
    assert_same(report, compared(capsys, "test.csv", *MODELS, *more))


def test_a_file_each_has_the_same_rows(folder, capsys, test):
    write_each(test)
    other = pd.read_csv("new.csv")
    command = ("old=old.csv", "new=new.csv", *NAMES)
    other.iloc[1:].to_csv("new.csv", index=False)
    assert "new.csv has 199 rows, and old.csv has 200 rows" in refused(capsys, "compare", *command)
    other.loc[7, "sex"] = "f" if other.loc[7, "sex"] == "m" else "m"
    other.to_csv("new.csv", index=False)
    error = refused(capsys, "compare", *command)
    assert "new.csv, row 8, differs from old.csv in 'sex'. Files of models hold the same" in error


def test_scores_may_be_predictions_too(folder, capsys, test):
    test[:60].assign(score=np.linspace(0, 1, 60)).to_csv("scores.csv", index=False)
    line = ["scores.csv", *NAMES, "--prediction", "score"]
    for more in (["--score", "score"], ["--threshold", "0.5"]):
        assert "leakage of scores" in audited(capsys, *line, *more)


def test_an_output_overwrites_nothing_that_is_needed(folder, capsys):
    before = (folder / "test.csv").read_bytes(), (folder / "train.csv").read_bytes()
    (folder / "link").symlink_to("x")
    (folder / "latest").symlink_to("test.csv")
    for outputs, message in (
        ("--html x --json x", "--json x would overwrite what --html writes"),
        ("--html x --json link", "--json link would overwrite what --html writes"),
        ("--json test.csv", "--json test.csv would overwrite the input test.csv"),
        ("--html latest", "--html latest would overwrite the input test.csv"),
    ):
        files = ("test.csv", "--train", "train.csv")
        assert message in refused(capsys, "audit", *files, *NAMES, *outputs.split())
    assert ((folder / "test.csv").read_bytes(), (folder / "train.csv").read_bytes()) == before
    assert not (folder / "x").exists()


def test_parquet_needs_someone_to_read_it(folder, monkeypatch, capsys):
    pretend_without(monkeypatch, "duckdb", "polars", "pyarrow")
    (folder / "x.parquet").write_text("x")
    assert "pip install 'skbiasamp[polars]'" in refused(capsys, "audit", "x.parquet", *NAMES)


def test_a_bug_shows_its_traceback(folder, monkeypatch):
    (folder / "broken.py").write_text(
        """import skbiasamp
class Broken(skbiasamp.DirectionalAuditor):
    def audit(self, *labels, **options):
        raise ValueError("shapes (3,) and (4,) are not aligned")
"""
    )
    monkeypatch.syspath_prepend(str(folder))
    with pytest.raises(ValueError, match="not aligned"):
        main(["audit", "test.csv", *NAMES, "--auditor", "broken:Broken"])


# ------------------------------------------------------------------ help


@pytest.mark.parametrize("command", [[], ["audit"], ["compare"], ["over"], ["demo"]], ids=" ".join)
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


def test_the_version_is_that_of_the_package(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out == f"skbiasamp {skbiasamp.__version__}\n"


def test_the_changelog_opens_with_this_version():
    changes = Path(__file__).parents[1] / "CHANGELOG.md"
    first = next(one for one in changes.read_text("utf-8").split("\n") if one.startswith("## "))
    assert re.fullmatch(rf"## {re.escape(skbiasamp.__version__)} \([\w-]+\)", first)
