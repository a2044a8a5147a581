"""skbiasamp compare: the numbers of `compare`, from files, its gate, and errors of one line."""

import numpy as np
import pandas as pd
import pytest
from command_line import refused, report_of

import skbiasamp
from skbiasamp.cli import main

NAMES = ("--target", "hired", "--sensitive", "sex")
MODELS = ("--prediction", "champion=old", "--prediction", "challenger=new")
PLAIN = ("--auditor", "skbiasamp:DirectionalAuditor")  # attackers take long


def rows(n, seed):
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], n)
    hired = (rng.random(n) < 0.3 + 0.4 * (sex == "f")).astype(int)
    old = np.where(rng.random(n) < 0.1, 1 - hired, hired)
    new = np.where((sex == "f") & (rng.random(n) < 0.4), 1, old)
    frame = pd.DataFrame({"id": range(n), "sex": sex, "hired": hired, "old": old, "new": new})
    return frame.assign(
        same=np.where(rng.random(n) < 0.01, 1 - old, old),
        promoted=rng.integers(0, 2, n),
        old_promoted=rng.integers(0, 2, n),
        new_promoted=rng.integers(0, 2, n),
        old_sex=np.where(rng.random(n) < 0.2, "f", sex),
        new_sex=np.where(rng.random(n) < 0.4, "f", sex),
        soft=(new * 0.6 + rng.random(n) * 0.3).round(1),
        weight=rng.choice([0.5, 1.5], n),
    )


@pytest.fixture(scope="module")
def train():
    return rows(300, 0)


@pytest.fixture(scope="module")
def test():
    return rows(400, 1)


def compared(capsys, *arguments):
    return report_of(skbiasamp.results.ComparisonReport, capsys, "compare", *arguments)


def assert_same(report, expected):
    pd.testing.assert_frame_equal(report.summary, expected.summary)
    pd.testing.assert_frame_equal(report.accuracy, expected.accuracy)


def of_models(test, **columns):
    return {model: test[column] for model, column in columns.items()}


# ------------------------------------------------------------------ numbers


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("reference", [None, "challenger"])
def test_a_file_gives_the_numbers_of_its_columns(folder, capsys, reference, train, test):
    more = () if reference is None else ("--reference", reference)
    report = compared(capsys, "test.csv", "--train", "train.csv", *NAMES, *MODELS, *more)
    expected = skbiasamp.compare(
        test["hired"],
        of_models(test, champion="old", challenger="new"),
        sensitive_features=test["sex"],
        y_train=train["hired"],
        sensitive_train=train["sex"],
        reference=reference,
        random_state=0,
    )
    assert_same(report, expected)
    assert report.reference == (reference or "champion")
    assert report.context["data_name"] == "test.csv"
    assert report.context["call"].startswith("skbiasamp compare test.csv --train train.csv")
    assert [one["rows_are"] for one in report.data_files] == ["audited", "training"]


SEVERAL = {"champion": "old,old_promoted", "challenger": "new,new_promoted"}


def test_several_columns_of_everything(folder, capsys, test):
    expected = skbiasamp.compare(
        test[["hired", "promoted"]],
        {model: test[columns.split(",")].to_numpy() for model, columns in SEVERAL.items()},
        sensitive_features=test["sex"],
        random_state=0,
    )
    together = ["--prediction", *(f"{model}={columns}" for model, columns in SEVERAL.items())]
    apart = [text for option in together[1:] for text in ("--prediction", option)]
    tasks = ("--target", "hired", "promoted", "--sensitive", "sex")
    for predicted in (together, apart):
        assert_same(compared(capsys, "test.csv", *tasks, *predicted), expected)


def test_a_column_may_have_any_name_in_quotes(folder, capsys, test):
    """As in a CSV file; without a model, the column gives its name."""
    columns = {"q, new": "old", "a=b": "new", 'the "best"': "same"}
    named = test.assign(**{name: test[of] for name, of in columns.items()}, b=test["old"])
    named.to_csv("test.csv", index=False)
    quoted = ['first="q, new"', '"a=b"', '"the ""best"""']
    report = compared(capsys, "test.csv", *NAMES, "--prediction", *quoted, *PLAIN)
    expected = skbiasamp.compare(
        test["hired"],
        {"first": test["old"], "a=b": test["new"], 'the "best"': test["same"]},
        sensitive_features=test["sex"],
        auditor=skbiasamp.DirectionalAuditor(),
        random_state=0,
    )
    assert_same(report, expected)


def test_predicted_groups_add_their_direction(folder, capsys, test):
    guessed = ("--sensitive-prediction", "champion=old_sex", "challenger=new_sex")
    report = compared(capsys, "test.csv", *NAMES, *MODELS, *guessed)
    expected = skbiasamp.compare(
        test["hired"],
        of_models(test, champion="old", challenger="new"),
        sensitive_features=test["sex"],
        sensitive_preds=of_models(test, champion="old_sex", challenger="new_sex"),
        random_state=0,
    )
    assert_same(report, expected)
    assert "directional T->A" in report


# ------------------------------------------------------------------ what is printed and written


def test_what_is_printed_fits_80_columns_and_opens_with_verdicts(folder, monkeypatch, capsys, test):
    monkeypatch.setenv("COLUMNS", "200")
    models = (*MODELS, "--prediction", "a model whose name is rather long=same")
    report = compared(capsys, "test.csv", *NAMES, *models, *PLAIN)
    files = {"html": "a.html", "markdown": "c.md"}
    options = [text for kind, path in files.items() for text in (f"--{kind}", path)]
    assert main(["compare", "test.csv", *NAMES, *models, *options]) == 0
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= 80
    shown = " ".join(printed.split())
    assert shown.startswith("Comparison of models")
    assert "2 models compared with “champion”" in shown
    for model in report.models:
        sentence = report[report.primary].sentence(model).replace("−", "-")
        assert sentence.partition(". ")[2] in shown
    assert "SHA-256" in printed
    for path in files.values():
        assert f"Written: {path}\n" in printed
        assert "challenger" in (folder / path).read_text(encoding="utf-8")


def test_an_interval_that_is_not_significant_is_marked_and_fails_no_gate(folder, capsys):
    """Two equal models: p is below 0.05, and adjusted for two models it is not."""
    sex, hired = np.repeat(["f", "m"], 400), np.tile([1] * 200 + [0] * 200, 2)
    hired[:100] = 0
    new, men = hired.copy(), np.flatnonzero(sex == "m")
    new[men[hired[men] == 0][:15]], new[men[hired[men] == 1][:5]] = 1, 0
    frame = pd.DataFrame({"sex": sex, "hired": hired, "old": hired, "a": new, "b": new})
    frame.to_csv("test.csv", index=False)
    models = ("--prediction", "old=old", "a=a", "b=b")
    options = (*models, "--auditor", "skbiasamp:DirectionalAuditor(reference='test')")
    assert main(["compare", "test.csv", *NAMES, *options]) == 0
    printed = capsys.readouterr().out
    assert "The test that allows for all models finds no difference" in " ".join(printed.split())
    out = gated(capsys, *options, "--fail-above", "0", code=3)
    assert "Inconclusive: " in out
    assert "Failed" not in out


# ------------------------------------------------------------------ gates


def gated(capsys, *arguments, code):
    """Return what a gate printed below the report."""
    assert main(["compare", "test.csv", *NAMES, *arguments]) == code
    return " ".join(capsys.readouterr().out.partition("\nDifferences checked against")[2].split())


def test_no_result_is_no_pass(folder, capsys):
    auditor = ("--auditor", "skbiasamp:DirectionalAuditor(interval=None, reference='test')")
    assert main(["compare", "test.csv", *NAMES, *MODELS, *auditor, "--fail-above", "0"]) == 2
    error = capsys.readouterr().err
    assert (
        "--fail-above has no result for directional A->T, challenger: “challenger” is not" in error
    )
    gated(capsys, *MODELS, *auditor, "--fail-above", "0", "--allow-undefined", code=0)


# ------------------------------------------------------------------ bad input


BAD_MODELS = [
    ("champion=old", "--prediction holds one model, 'champion'. A comparison"),
    ("champion=old challenger=nwe", "test.csv has no column 'nwe': did you mean 'new'? It has"),
    (
        "champion=old challenger=old",
        "--prediction challenger=old: this column is named by --prediction champion=old",
    ),
    (
        "champion=old challenger=sex",
        "--sensitive sex: this column is named by --prediction challenger=sex already.",
    ),
    (
        "champion=old challenger=new --reference chalenger",
        "--reference must be one of the models, 'champion' and 'challenger'; got 'chalenger': "
        "did you mean 'challenger'?",
    ),
    (
        "champion=old challenger=holes",
        "--prediction challenger=holes has missing values in 7 rows, the first at position",
    ),
    (
        "champion=old challenger=wide",
        "--prediction challenger=wide must hold labels or probabilities in [0, 1]; got ",
    ),
    (
        "champion=old challenger=words",
        "--prediction challenger=words holds text ('no' and 'yes') but --target hired holds",
    ),
    (
        "champion=old challenger=new,old_promoted",
        "--prediction challenger=new,old_promoted has a column for each of 2 classes",
    ),
    (
        "champion=old challenger=new --sensitive-prediction champion=old_sex",
        "--prediction and --sensitive-prediction have different models: only one of them has",
    ),
    ("champion=old challenger=new --missing no", "invalid choice"),
    ("champion=old challenger=new --json test.csv", "would overwrite the input"),
    ("champion=old challenger=new --train gone.csv", "there is no file gone.csv"),
    (
        "champion=old challenger=new --fail-above 0 --on leakge",
        "--on must name a result of the report; got 'leakge': did you mean 'leakage'? It has",
    ),
    ("old", "must be a model's name and its column, such as champion="),
    ("=old", "must be a model's name"),
    ("a=old,", "must be a model's name"),
    ("a=old --prediction a=new", "the model 'a' is named twice"),
    ("a=old a=new", "the model 'a' is named twice"),
    ("a=old b=new --on all", "--on has no effect without --fail-above"),
    ("a=old b=new --score soft", "unrecognized arguments"),
]


def test_bad_input_is_one_clear_line(folder, capsys, test):
    test.assign(
        holes=test["new"].where(test["id"] > 6),
        wide=test["soft"] * 3 - 1,
        words=test["new"].map({0: "no", 1: "yes"}),
    ).to_csv("test.csv", index=False)
    for arguments, message in BAD_MODELS:
        try:
            code = main(["compare", "test.csv", *NAMES, "--prediction", *arguments.split()])
        except SystemExit as ended:
            code = ended.code
        assert code == 2
        assert message in capsys.readouterr().err


def test_models_with_rows_of_their_own_are_two_or_more(folder, capsys):
    own = ["--train", "train.csv", "--prediction", "hired", "--sensitive", "sex"]
    with pytest.raises(SystemExit, match="2"):
        main(["compare", "a=test.csv", "a=train.csv", *own])
    assert "argument TEST: each model is named once, with one file" in capsys.readouterr().err
    assert main(["compare", "a=test.csv", *own]) == 2
    assert "--prediction hired holds one model, 'a'" in capsys.readouterr().err


OF_EACH = (*NAMES, "--prediction", "predicted")


def write_each(test):
    """Write the rows of two models to a file each."""
    for model in ("old", "new"):
        own = test[["sex", "hired", "weight"]].assign(predicted=test[model])
        own.to_csv(f"{model}.csv", index=False)


def test_models_may_have_a_file_each(folder, capsys, test):
    write_each(test)
    files = ("champion=old.csv", "challenger=new.csv")
    more = ("--weight", "weight", *PLAIN)
    report = compared(capsys, *files, *OF_EACH, *more)
    assert_same(report, compared(capsys, "test.csv", *NAMES, *MODELS, *more))
    assert [file["path"] for file in report.data_files] == ["old.csv", "new.csv"]


def test_a_file_each_has_the_same_rows(folder, capsys, test):
    write_each(test)
    other = pd.read_csv("new.csv")
    command = ("old=old.csv", "new=new.csv", *OF_EACH)
    other.iloc[1:].to_csv("new.csv", index=False)
    assert "new.csv has 399 rows, and old.csv has 400 rows" in refused(capsys, "compare", *command)
    other.loc[7, "sex"] = "f" if other.loc[7, "sex"] == "m" else "m"
    other.to_csv("new.csv", index=False)
    error = refused(capsys, "compare", *command)
    assert "new.csv, row 8, differs from old.csv in 'sex'. Without --train" in error
