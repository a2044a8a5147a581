"""The command line: ``skbiasamp audit`` of files, ``skbiasamp demo`` of embedded data."""

from __future__ import annotations

import argparse
import dis
import importlib.util
import io
import math
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import skbiasamp
from skbiasamp._files import meant, reading
from skbiasamp.cli._files import as_arguments, open_columns
from skbiasamp.report import count_rows

# What the library's messages say, and what it is called here.
_OPTIONS = {
    "y_train and sensitive_train": "--train",
    "y_true": "--target",
    "y_pred": "--prediction",
    "y_score": "--score",
    "sensitive_features": "--sensitive",
    "sensitive_pred": "--sensitive-prediction",
    "sample_weight": "--weight",
    "pos_label": "--positive",
    "the training data": "--train",
}
_AUDIT_USAGE = """\
skbiasamp audit TEST [TEST ...] [--train TRAIN [TRAIN ...]]
                       --target NAME [NAME ...] --prediction NAME [NAME ...]
                       --sensitive NAME [NAME ...] [options]"""

_AUDIT = """\
Audit the predictions in a file with everything that its columns allow:
directional amplification, MALS, leakage, DPA, and more where there are several
labels or a predicted attribute. Files are CSV, TSV or Parquet; several of them,
and quoted patterns such as 'part-*.parquet', count as one. Only the columns
named are read, by DuckDB or polars where one is installed."""

_EXAMPLES = """\
examples:
  skbiasamp demo
  skbiasamp audit test.csv --target hired --prediction predicted --sensitive sex
  skbiasamp audit --help"""

_AUDIT_EXAMPLES = """\
examples:
  skbiasamp audit test.csv --target hired --prediction predicted --sensitive sex
  skbiasamp audit test.csv --train train.csv --target hired \\
      --prediction predicted --sensitive sex race --html report.html
  skbiasamp audit 'part-*.parquet' --target cook drive \\
      --prediction cook_hat drive_hat --sensitive sex --missing drop

to fail in continuous integration once amplification is surely above 0.02:
  skbiasamp audit test.csv --target hired --prediction predicted \\
      --sensitive sex --fail-above 0.02 --fail-on "directional A->T"

exit codes: 0 done, 1 an interval lies wholly above --fail-above, 2 bad input"""

_DEMO = """\
Audit what a decision tree predicted of COMPAS defendants, from published tables
of counts that come with the package: once as the data are, once balanced in
race and label."""

_FEW_ROWS = 1_000_000
_TITLES = ("audit", "value", "95% interval", "p")

_CAVEAT = """\
Directional amplification is below 0 where the tree weakens what the data lean to, and exactly 0
on balanced data, where no correlation is left to amplify. Values of A->T and T->A cannot be
compared. Only margins of these counts are published, and one set of joint counts that has them
stands in for the rest: MALS, leakage, DPA, intervals and p-values depend on it and show the form
of the result only (load_compas_counts().DESCR)."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : list of str, optional
        The arguments; by default those of the process.

    Returns
    -------
    code : int
        0 when the audit was made, 1 when an interval lies above ``--fail-above``, 2 when the
        input was bad.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A group's name that the terminal cannot show is no reason to stop.
        sys.stdout.reconfigure(errors="backslashreplace")
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.command == "audit" and options.fail_on and options.fail_above is None:
        parser.error("--fail-on says which audits --fail-above judges: pass --fail-above, too")
    try:
        code = _audit(options) if options.command == "audit" else _demo(options)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # Who reads this has seen enough (head, less), and Python would complain on its way out.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if not _about_input(error):
            raise
        print(f"skbiasamp: {_in_options(' '.join(str(error).split()))}", file=sys.stderr)
        return 2


def _about_input(error: Exception) -> bool:
    """Whether an error is about the input: any other is a bug, and shows where."""
    if not isinstance(error, ValueError | TypeError | ImportError):
        return isinstance(error, OSError)
    # Bugs are ValueErrors and TypeErrors as well, but no `raise` of ours raises those.
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if last is None or last.tb_frame.f_globals["__name__"].partition(".")[0] != "skbiasamp":
        return False
    return last.tb_frame.f_code.co_code[last.tb_lasti] == dis.opmap["RAISE_VARARGS"]


def _in_options(text: str) -> str:
    """Return a message about arguments as one about options."""
    text = re.sub("|".join(_OPTIONS), lambda found: _OPTIONS[found[0]], text)
    return re.sub(r"\b(missing|groups)=(?:'(\w+)')?", r"--\1 \2", text)


def _parser() -> argparse.ArgumentParser:
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog="skbiasamp", description=skbiasamp.__doc__, epilog=_EXAMPLES, formatter_class=plain
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {skbiasamp.__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="{audit,demo}")
    audit = commands.add_parser(
        "audit",
        help="audit the predictions in CSV or Parquet files",
        usage=_AUDIT_USAGE,
        description=_AUDIT,
        epilog=_AUDIT_EXAMPLES,
        formatter_class=plain,
    )
    demo = commands.add_parser(
        "demo",
        help="audit data that come with the package, offline",
        description=_DEMO,
        epilog="example:\n  skbiasamp demo --html compas.html",
        formatter_class=plain,
    )
    demo.add_argument(
        "--html",
        metavar="PATH",
        default="skbiasamp-demo.html",
        help="where to write the page (default: %(default)s)",
    )
    columns = audit.add_argument_group("columns")
    outputs = audit.add_argument_group("what is written (the terminal shows a summary)")
    gate = audit.add_argument_group("in continuous integration")
    several: dict[str, Any] = {"nargs": "+", "metavar": "NAME"}
    audit.add_argument(
        "test", nargs="+", metavar="TEST", help="files of the audited rows; these come first"
    )
    audit.add_argument(
        "--train",
        nargs="+",
        metavar="TRAIN",
        help="files of the labels that the model learned from",
    )
    columns.add_argument("--target", required=True, help="the label, or 0/1 columns", **several)
    columns.add_argument(
        "--prediction", required=True, help="its prediction: labels or probabilities", **several
    )
    columns.add_argument("--sensitive", required=True, help="the protected attribute", **several)
    columns.add_argument(
        "--sensitive-prediction", help="the attribute as the model predicts it", **several
    )
    columns.add_argument("--score", help="scores behind predictions, such as logits", **several)
    columns.add_argument("--weight", metavar="NAME", help="weights of the audited rows")
    columns.add_argument(
        "--positive",
        metavar="NAME",
        help="which of two classes is the positive one (default: the one that sorts last)",
    )
    audit.add_argument(
        "--groups",
        choices=("intersection", "marginal", "indicator"),
        default="intersection",
        help="several attributes: every combination of values (default), each attribute's values "
        "side by side, or 0/1 memberships",
    )
    audit.add_argument(
        "--missing",
        choices=("error", "drop", "group"),
        default="error",
        help="rows without an attribute: stop (default), leave them out, or make a group of them",
    )
    audit.add_argument("--seed", type=int, default=0, help="of random numbers (default: 0)")
    outputs.add_argument("--html", metavar="PATH", help="a page with pictures and explanations")
    outputs.add_argument("--json", metavar="PATH", help="everything, for programs")
    outputs.add_argument("--markdown", metavar="PATH", help="a section for a model card")
    gate.add_argument(
        "--fail-above",
        type=float,
        metavar="X",
        help="exit with 1 if an interval lies wholly above X (those of multi-attribute "
        "amplification, which is a size and never below 0, only if --fail-on names them)",
    )
    gate.add_argument(
        "--fail-on",
        nargs="+",
        metavar="NAME",
        help="the audits to judge, as the summary calls them (default: all)",
    )
    return parser


# --------------------------------------------------------------------------- the commands


def _audit(options: argparse.Namespace) -> int:
    wanted = {"html": options.html, "json": options.json, "markdown": options.markdown}
    outputs = {kind: _writable(path) for kind, path in wanted.items() if path is not None}
    labels: dict[str, Any] = {
        "target": options.target,
        "prediction": options.prediction,
        "sensitive": options.sensitive,
        "sensitive_prediction": options.sensitive_prediction,
    }
    # One column is a column of classes; several are indicators, or combined attributes.
    labels = {k: v[0] if v is not None and len(v) == 1 else v for k, v in labels.items()}
    how: dict[str, Any] = {
        "groups": options.groups,
        "missing": options.missing,
        "pos_label": options.positive,
    }
    train = None
    if options.train is not None:
        on = {k: v for k, v in labels.items() if k in ("target", "sensitive")}
        with reading(options.train) as paths:
            frame, _ = open_columns(paths, on, missing=options.missing)
            train = skbiasamp.Contingency.from_frame(frame, **on, **how)
    with reading(options.test) as paths:
        extra = {"score": options.score, "weight": options.weight}
        frame, n_rows = open_columns(paths, labels | extra, missing=options.missing)
        if options.score is None and options.weight is None:
            # Of few rows all is kept; of more, what may not fit into memory is summed.
            asked = how | {"joint": True} if n_rows <= _FEW_ROWS else how
            arguments: dict[str, Any] = {"y_true": count_rows(frame, train, labels, asked)}
        else:
            # Scores and weights belong to single rows: these are read, not counted.
            arguments = how | as_arguments(frame, labels | extra)
    report = skbiasamp.audit(**arguments, y_train=train, random_state=options.seed)
    for kind, path in outputs.items():
        getattr(report, f"to_{kind}")(path)
    title = f"Audit of {', '.join(options.test)}: {report.context['rows']}"
    print(textwrap.fill(title, _width()))
    _print_summary(report)
    for name, sentence in report.sentences.items():
        print(f"\n{name}\n{_filled(sentence, '  ')}")
    print("\nBefore you use these numbers:")
    for text in report.warnings:
        print(_filled(_in_options(text), "  ", first="- "))
    for path in outputs.values():
        print(f"\nWritten: {path}")
    return 0 if options.fail_above is None else _judge(report, options.fail_above, options.fail_on)


def _judge(report: Any, limit: float, named: list[str] | None) -> int:
    """Return 1, and say why, if an interval lies wholly above a limit."""
    if named is None:
        # Mean sizes are above 0 for any model that errs.
        chosen = [name for name, one in report.results.items() if one.metric != "multi-attribute"]
        chosen = [name for name in chosen if not math.isnan(report[name].low)]
    else:
        for name in set(named) - set(report):
            raise ValueError(
                f"--fail-on: there is no audit {name!r}{meant(name, report)} "
                f"This report has {', '.join(map(repr, report))}."
            )
        chosen = named
    lacking = [name for name in chosen if math.isnan(report[name].low)]
    if lacking or not chosen:
        raise ValueError(
            f"--fail-above has nothing to judge: {', '.join(lacking) or 'no audit'} "
            f"{'has no' if lacking else 'has an'} interval."
        )
    above = [name for name in chosen if report[name].low > limit]
    for name in above:
        one = report[name]
        print(f"\nFAILED: {name} lies above {limit:g}, from {one.low:+.4f} to {one.high:+.4f}.")
    if not above:
        print(f"\nPassed: no interval lies wholly above {limit:g} ({', '.join(chosen)}).")
    return int(bool(above))


def _demo(options: argparse.Namespace) -> int:
    from skbiasamp.datasets import load_compas_counts

    path = _writable(options.html)
    reports = {}
    print("A decision tree's predictions of COMPAS defendants (published counts)")
    for subset in ("unbalanced", "balanced"):
        compas = load_compas_counts(subset)
        cells = skbiasamp.Contingency.from_labels(
            compas.tasks,
            compas.tasks_pred,
            sensitive_features=compas.frame["group"],
            sensitive_pred=compas.frame["group_pred"],
            sample_weight=compas.frame["n"],
        )
        reports[subset] = skbiasamp.audit(cells, random_state=0)
        print(f"\n{subset} data: {reports[subset].context['rows']}")
        _print_summary(reports[subset])
    print(f"\n{_filled(' '.join(_CAVEAT.split()))}")
    try:
        reports["unbalanced"].to_html(path)
    except ImportError as error:
        print(f"\nNo page was written: {error}")
    else:
        print(f"\nThe page of the unbalanced data, to open in a browser:\n{path.resolve()}")
    return 0


# --------------------------------------------------------------------------- words out


def _writable(path: str) -> Path:
    """Return where to write, before anything is computed for it."""
    written = Path(path)
    if not written.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {written.parent} to write {written.name} to")
    if written.is_dir():
        raise IsADirectoryError(f"{written} is a folder: name the file to write")
    return written


def _width() -> int:
    return max(40, min(80, shutil.get_terminal_size().columns))


def _filled(text: str, indent: str = "", first: str | None = None) -> str:
    start = indent if first is None else first
    return textwrap.fill(text, _width(), initial_indent=start, subsequent_indent=indent)


def _print_summary(report: Any) -> None:
    """Print the table of a report, with rich where it is installed."""
    rows = []
    for name, row in report.summary.iterrows():
        interval = "" if math.isnan(row["low"]) else f"{row['low']:+.4f} to {row['high']:+.4f}"
        p_value = "" if math.isnan(row["p_value"]) else f"{row['p_value']:.2g}"
        rows.append((str(name), f"{row['value']:+.4f}", interval, p_value))
    if importlib.util.find_spec("rich") is None:
        print()
        for name, value, interval, p_value in (_TITLES, *rows):
            print(f"{name:<24}{value:>9}   {interval:<18}{p_value:>9}".rstrip())
        return
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for title in _TITLES:
        table.add_column(title, justify="right" if title in ("value", "p") else "left")
    for texts, low, high in zip(rows, report.summary["low"], report.summary["high"], strict=True):
        table.add_row(*map(Text, texts), style="bold" if low > 0 or high < 0 else None)
    Console(width=_width()).print(table)
