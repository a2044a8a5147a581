"""The command line: it is parsed, its command is run (the demo here), errors become one line."""

from __future__ import annotations

import argparse
import io
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import skbiasamp
from skbiasamp._input.errors import InputError
from skbiasamp._utils.formatting import rate
from skbiasamp.cli._options import add_command
from skbiasamp.cli._reports import (
    complain,
    in_lines,
    run_audit,
    run_compare,
    run_over,
    say,
    say_report,
)
from skbiasamp.datasets import load_compas
from skbiasamp.report.request import reading

_AGAIN = "charged again"
_RATES = {
    "base_rate": "labelled",
    "predicted_rate": "predicted",
    "false_positive_rate": "false positive rate",
    "true_positive_rate": "true positive rate",
}


def run_demo(options: argparse.Namespace) -> int:
    """Audit data that come with the package, offline.

    Answer two questions on real data that come with the package (COMPAS, 5,278
    defendants): does the COMPAS score amplify, and does a classifier trained on
    half of the rows? Each gets a verdict, error rates by group and a page.

    for example:
      skbiasamp demo --folder pages
    """
    pages = Path(options.folder)
    if not pages.parent.is_dir():
        raise FileNotFoundError(f"--folder {pages}: there is no folder {pages.parent}")
    if pages.exists() and not pages.is_dir():
        raise NotADirectoryError(f"--folder {pages}: this is a file; name a folder")
    pages.mkdir(exist_ok=True)
    from sklearn.ensemble import GradientBoostingClassifier
    from sklearn.model_selection import train_test_split

    compas = load_compas()
    say(in_lines(f"COMPAS: {len(compas.target):,} defendants of two races (public records)"))
    labels, score = (
        np.where(positive, _AGAIN, f"not {_AGAIN}")
        for positive in (compas.target, compas.decile_score >= 5)
    )
    race = compas.sensitive_features
    _answer(
        "1. The COMPAS score, medium or high risk (5 or more of 10): does it amplify?",
        {"model_name": "COMPAS score, medium or high risk", "data_name": "COMPAS, two races"},
        pages / "compas-score.html",
        y_true=labels,
        y_pred=score,
        sensitive_features=race,
    )
    # The classifier never sees race, and is audited on the rows that it was not trained on.
    X, X_test, y, y_test, race, race_test = train_test_split(
        compas.data, labels, race, test_size=0.5, random_state=0
    )
    data = "COMPAS, two races, the half not trained on"
    _answer(
        "2. A gradient-boosted classifier, trained on half of the rows: does it amplify?",
        {"model_name": "gradient-boosted classifier", "data_name": data},
        pages / "compas-classifier.html",
        y_true=y_test,
        y_pred=GradientBoostingClassifier(random_state=0).fit(X, y).predict(X_test),
        sensitive_features=race_test,
        y_train=y,
        sensitive_train=race,
    )
    say()
    known = "A charge is not an offence, and these records have known problems: "
    say(in_lines(f"{known}skbiasamp.datasets.load_compas().DESCR lists them."))
    return 0


def _answer(question: str, names: dict[str, str], page: Path, **labels: Any) -> None:
    """Audit, print verdict, metrics and errors by group, and write the page."""
    report = skbiasamp.audit(**labels, pos_label=_AGAIN, favourable=f"not {_AGAIN}", random_state=0)
    report.context.update(names)
    say(f"\n{in_lines(question)}\n")
    say_report(report.to_document())
    rates = report.rates.set_index("group")[list(_RATES)].rename(columns=_RATES)
    say("\nWho bears the errors?")
    say(rates.rename_axis(None).map(rate).to_string())
    falsely = f"share of those not {_AGAIN} who are predicted to be"
    rightly = f"the same of those {_AGAIN}"
    say(in_lines(f"(false positive rate: {falsely}; true positive rate: {rightly})"))
    report.to_html(page)
    say(f"\nThe page, to open in a browser: {page.resolve()}")


# --------------------------------------------------------------------------- the command


def run_app(options: argparse.Namespace) -> int:
    """Audit files in a browser, without Python.

    Open a page on this machine. Drop a CSV or Parquet file into it, say what its
    columns are, and get the report of skbiasamp audit or compare, with the command
    that makes it again. Only programs of this machine can reach the page, with an
    address that is new each time. Ctrl-C ends the app and deletes its files.

    for example:
      skbiasamp app
      skbiasamp app --no-browser --port 8000
    """
    try:
        from skbiasamp.app.server import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("starlette", "uvicorn"):
            raise
        needs = "skbiasamp app needs starlette and uvicorn: pip install 'skbiasamp[app]'"
        raise ImportError(needs) from error
    serve(options.port, browser=not options.no_browser, max_size=options.max_size << 20)
    return 0


_EXAMPLES = """\
examples:
  skbiasamp demo
  skbiasamp audit test.csv --target hired --prediction predicted --sensitive sex
  skbiasamp compare --help"""


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    whole = argparse.ArgumentParser(
        prog="skbiasamp",
        description=skbiasamp.__doc__,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    whole.add_argument("--version", action="version", version=f"%(prog)s {skbiasamp.__version__}")
    commands = whole.add_subparsers(
        dest="command", required=True, metavar="{audit,compare,over,app,demo}"
    )
    for run in (run_audit, run_compare, run_over, run_app, run_demo):
        add_command(commands, run)
    return whole


def run_command(arguments: Sequence[str] | None) -> int:
    """Do what a command line says, and return the exit code."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by whoever started the process
            setattr(sys, name, io.StringIO())
        elif isinstance(stream, io.TextIOWrapper):
            # A name that the terminal cannot show is printed as its code.
            stream.reconfigure(errors="backslashreplace")
    try:
        options = _parsed(arguments)
        call = list(sys.argv[1:] if arguments is None else arguments)
        for argument in call:
            if "\0" in argument:  # a shell cannot pass it, but a caller of `main` can
                text = "arguments must hold no NUL character; got {argument!r}"
                raise InputError(text, argument=argument)
        options.call = shlex.join(["skbiasamp", *call])
        return int(options.run(options))
    except (InputError, OSError, ImportError) as error:  # anything else is a bug, and shows where
        text = str(error)
        if isinstance(error, OSError) and error.strerror:  # without its number
            text = f"{error.filename}: " * (error.filename is not None) + error.strerror
        complain(f"skbiasamp: {' '.join(text.split())}")
        return 2
    finally:
        complain(end="")  # what warnings and argparse could not write


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options of a command line, or end as argparse does."""
    command_line = parser()
    try:
        options = command_line.parse_args(arguments)
    except SystemExit:
        say(end="")  # argparse does not notice that --help cannot be written
        raise
    if options.command not in ("audit", "compare"):
        return options
    if options.numeric:
        options.auditor = [*(options.auditor or ()), *reading("numbers")]
    if options.fail_above is not None and options.limit is not None:
        command_line.error("--limit takes the place of --fail-above: pass one of them")
    for name in ("on", "allow_undefined", "inconclusive"):
        if options.fail_above is None and options.limit is None and getattr(options, name):
            command_line.error(
                f"--{name.replace('_', '-')} has no effect without --fail-above or --limit: pass "
                "one of these"
            )
    options.tables = _own_files(command_line, options)
    needed = ["sensitive"] if options.text else ["target", "prediction", "sensitive"]
    if options.train and (options.command == "audit" or options.tables):
        needed = [name for name in needed if name != "target"]  # predictions alone will do
    lacking = [name for name in needed if getattr(options, name) is None]
    if lacking:
        flags = ", ".join(f"--{name}" for name in lacking)
        instead = "" if lacking == ["sensitive"] else " (or --text and --labels)"
        command_line.error(
            f"the following arguments are required: {flags}{instead}; "
            f"skbiasamp {options.command} --help has examples"
        )
    return options


def _own_files(command_line: argparse.ArgumentParser, options: argparse.Namespace) -> Any:
    """Return the file of each model if models have files of their own."""
    prediction = options.prediction or {}
    if options.command != "compare" or None not in prediction:
        return None
    files = [text.partition("=") for text in options.test]
    if len(prediction) > 1 or not all(model and path for model, _, path in files):
        command_line.error(
            "argument --prediction: must be a model's name and its column, such as "
            f"champion=predicted; got {prediction[None][0]!r}. Models with files of their own need "
            "names too, such as champion=rows.csv"
        )
    options.test = [path for _, _, path in files]
    tables = {model: [path] for model, _, path in files}
    if len(tables) < len(files):
        command_line.error("argument TEST: each model is named once, with one file")
    return tables
