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
from skbiasamp._words import (
    AMPLIFIES,
    BALANCED,
    CANNOT,
    DIRECTION_OF,
    REVEALS_MORE,
    level_of,
    listed,
)
from skbiasamp.cli._files import as_arguments, open_columns
from skbiasamp.report import count_rows
from skbiasamp.results import AuditReport

# Names in the library's messages, and the options that they are here.
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
Audit the predictions in a file with every metric that its columns allow:
directional amplification, MALS, leakage, DPA, and more for several labels or a
predicted sensitive feature. The output opens with a verdict. Files are CSV, TSV
or Parquet; several files and quoted patterns such as 'part-*.parquet' count as
one. DuckDB or polars, if installed, read only the columns named."""

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

to fail in continuous integration if amplification is clearly above 0.02:
  skbiasamp audit test.csv --target hired --prediction predicted \\
      --sensitive sex --fail-above 0.02

exit codes: 0 done, 1 a confidence interval lies above --fail-above, 2 bad input
or no result to check"""

_DEMO = """\
Audit what a decision tree predicted of COMPAS defendants, from published tables
of counts that come with the package: once as the data are, once balanced in
race and label."""

_FEW_ROWS = 1_000_000
_TITLES = ("audit", "value", "95 % interval", "p", "verdict")

_CAVEAT = """\
Directional amplification is below 0 if the tree weakens the associations of the data, and exactly
0 on balanced data, which have no association to amplify. Values of A->T and T->A cannot be
compared. Only margins of these counts are published, and the demo uses one set of joint counts
with these margins: MALS, leakage, DPA, intervals and p-values depend on it and only show the form
of the result (load_compas_counts().DESCR)."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : list of str, optional
        The arguments; by default those of the process.

    Returns
    -------
    code : int
        0 if the audit was made, 1 if an interval lies above ``--fail-above``, 2 if the input was
        bad or there is no result to check.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A name that the terminal cannot show is printed as its code.
        sys.stdout.reconfigure(errors="backslashreplace")
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.command == "audit" and options.fail_above is None:
        for option, given in (("--on", options.on), ("--allow-undefined", options.allow_undefined)):
            if given:
                parser.error(f"{option} has no effect without --fail-above: pass --fail-above too")
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


def _limit(text: str) -> float:
    """Return a limit of --fail-above."""
    try:
        limit = float(text)
    except ValueError:
        limit = math.nan
    if not (math.isfinite(limit) and limit >= 0):
        raise argparse.ArgumentTypeError(f"must be a finite number of 0 or more; got {text!r}")
    return limit


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
        help="files of the training labels",
    )
    columns.add_argument("--target", required=True, help="the label, or 0/1 columns", **several)
    columns.add_argument(
        "--prediction", required=True, help="its prediction: labels or probabilities", **several
    )
    columns.add_argument("--sensitive", required=True, help="the sensitive feature", **several)
    columns.add_argument(
        "--sensitive-prediction", help="the feature as predicted by the model", **several
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
        help="groups of several sensitive columns: every combination of values (default), the "
        "values of each column, or 0/1 memberships",
    )
    audit.add_argument(
        "--missing",
        choices=("error", "drop", "group"),
        default="error",
        help="rows without a sensitive feature: stop (default), leave them out, or make a group",
    )
    audit.add_argument("--seed", type=int, default=0, help="of random numbers (default: 0)")
    outputs.add_argument("--html", metavar="PATH", help="a page with pictures and explanations")
    outputs.add_argument("--json", metavar="PATH", help="everything, for programs")
    outputs.add_argument("--markdown", metavar="PATH", help="a section for a model card")
    gate.add_argument(
        "--fail-above",
        type=_limit,
        metavar="X",
        help="exit with 1 if the confidence interval of directional amplification lies above X; "
        "a number of 0 or more",
    )
    gate.add_argument(
        "--on",
        nargs="+",
        metavar="NAME",
        help="check these metrics instead: a metric (leakage, dpa), one audit of the summary "
        "('DPA A->T'), or all (except sizes, which are never below 0)",
    )
    gate.add_argument(
        "--allow-undefined",
        action="store_true",
        help="pass if there is no result to check, instead of exit code 2",
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
    print(f"\nVerdict ({report.primary})")
    for text in report._opening:
        print(_filled(_in_options(text), "  "))
    _print_summary(report)
    for name, sentence in report.sentences.items():
        if name != report.primary:
            print(f"\n{name}\n{_filled(sentence, '  ')}")
    print("\nBefore you use these numbers:")
    for text in report.warnings:
        if text not in report._opening:
            print(_filled(_in_options(text), "  ", first="- "))
    for path in outputs.values():
        print(f"\nWritten: {path}")
    if options.fail_above is None:
        return 0
    return _check(report, options.fail_above, options.on, allow_undefined=options.allow_undefined)


def _check(
    report: AuditReport, limit: float, named: list[str] | None, *, allow_undefined: bool
) -> int:
    """Print what was checked against a limit, and return 1 if it is exceeded."""
    chosen = _checked(report, named)
    print(f"\nChecked against --fail-above {limit:g}:")
    exceeded, undefined = [], []
    for name in chosen:
        one = report[name]
        if math.isnan(one.low):
            undefined.append(name)
            reason = "undefined" if math.isnan(one.value) else "no confidence interval"
            print(_filled(f"{name}: {reason}", "  "))
            continue
        found = one.kind == "size" or one.verdict in (AMPLIFIES, REVEALS_MORE)
        above = one.low > limit and found
        if above:
            exceeded.append(name)
        interval = f"{level_of(one.confidence_level or 0.95)} interval {one.low:+.4f} to"
        text = f"{name}: {one.value:+.4f}, {interval} {one.high:+.4f}, {one.verdict}"
        if one.verdict == CANNOT:
            text = (
                f"{name}: exactly 0, {BALANCED}. Nothing could be amplified; --on leakage or "
                "--on dpa also check balanced labels."
            )
        print(_filled(text, "  "))
    if exceeded:
        print(_filled(f"FAILED: the interval of {listed(exceeded)} lies above {limit:g}."))
        return 1
    if undefined and not allow_undefined:
        raise ValueError(
            f"--fail-above has no result for {listed(undefined)}: "
            + "; ".join(report[name].sentence for name in undefined)
            + " Pass --allow-undefined to accept this."
        )
    if len(undefined) == len(chosen):
        print("Passed: there is no result to check, and --allow-undefined accepts this.")
    else:
        print(f"Passed: no interval lies above {limit:g}.")
    return 0


def _checked(report: AuditReport, named: list[str] | None) -> list[str]:
    """Return the results to check: of the first metric, or those that --on names."""
    if named is None:
        first = min(report.values(), key=lambda one: one.headline).metric
        return [name for name, one in report.items() if one.metric == first]
    chosen: dict[str, None] = {}
    for wanted in named:
        key = wanted.casefold()
        if key == "all":
            found = [name for name, one in report.items() if one.kind != "size"]
        else:
            found = [
                name
                for name, one in report.items()
                if key in (name.casefold(), one.name.casefold(), one.metric.casefold())
            ]
        if not found:
            raise ValueError(
                f"--on: there is no audit {wanted!r}{meant(wanted, report)} "
                f"This report has {', '.join(map(repr, report))}."
            )
        chosen |= dict.fromkeys(found)
    return list(chosen)


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
        for text in reports[subset]._opening:
            print(_filled(text, "  "))
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
        rows.append((str(name), f"{row['value']:+.4f}", interval, p_value, row["verdict"]))
    if importlib.util.find_spec("rich") is None:
        print()
        for name, value, interval, p_value, verdict in (_TITLES, *rows):
            print(f"{name:<20}{value:>9}  {interval:<18}{p_value:>9}  {verdict}".rstrip())
        return
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for title in _TITLES:
        table.add_column(title, justify="right" if title in ("value", "p") else "left")
    for texts in rows:
        table.add_row(*map(Text, texts), style="bold" if texts[-1] in DIRECTION_OF else None)
    Console(width=_width()).print(table)
