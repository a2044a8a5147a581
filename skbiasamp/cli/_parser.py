"""The options of the command line."""

from __future__ import annotations

import argparse
import codecs
import importlib
import io
import math
import sys
from typing import Any

import skbiasamp
from skbiasamp.metrics._base import BaseAuditor

_AUDIT_USAGE = """\
skbiasamp audit TEST [TEST ...] [--train TRAIN [TRAIN ...]]
                       --target NAME [NAME ...] --prediction NAME [NAME ...]
                       --sensitive NAME [NAME ...] [options]"""

_AUDIT = """\
Audit the predictions in a file with every metric that its columns allow:
directional amplification, MALS, leakage, DPA, and more for several labels or a
predicted sensitive feature. The output opens with a verdict. Files are CSV,
TSV, JSON lines or Parquet; several files and quoted patterns such as
'part-*.parquet' count as one. DuckDB or polars, if installed, read only the
columns named."""

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

with a metric of your own, the class Mine in mine.py:
  skbiasamp audit test.csv --target hired --prediction predicted \\
      --sensitive sex --auditor mine:Mine

to fail in continuous integration if amplification is clearly above 0.02:
  skbiasamp audit test.csv --target hired --prediction predicted \\
      --sensitive sex --fail-above 0.02

exit codes: 0 done, 1 a confidence interval lies above --fail-above, 2 bad input
or no result to check"""

_DEMO = """\
Answer two questions on real data that come with the package (COMPAS, 5,278
defendants): does the COMPAS score amplify, and does a classifier trained on
half of the rows? Each gets a verdict, error rates by group and a page."""


def _limit(text: str) -> float:
    """Return a limit of --fail-above."""
    try:
        limit = float(text)
    except ValueError:
        limit = math.nan
    if not (math.isfinite(limit) and limit >= 0):
        raise argparse.ArgumentTypeError(f"must be a finite number of 0 or more; got {text!r}")
    return limit


def _seed(text: str) -> int:
    """Return a seed that every generator of random numbers takes."""
    if not (text.isdecimal() and int(text) < 2**32):
        raise argparse.ArgumentTypeError(f"must be a whole number of 0 or more; got {text!r}")
    return int(text)


def _delimiter(text: str) -> str:
    """Return a delimiter: one character."""
    text = {"tab": "\t", "\\t": "\t"}.get(text, text)
    if len(text) != 1 or not text.isascii() or text in '\r\n"\0':
        raise argparse.ArgumentTypeError(f"must be one character, or tab; got {text!r}")
    return text


def _encoding(text: str) -> str:
    """Return the name of an encoding."""
    try:
        io.TextIOWrapper(io.BytesIO(), encoding=text)  # base64 is a codec, and no encoding
        return codecs.lookup(text).name
    except LookupError as error:
        raise argparse.ArgumentTypeError(
            f"must be an encoding, such as utf-8, utf-16 or latin-1; got {text!r}"
        ) from error


def _auditor(text: str) -> BaseAuditor:
    """Return the auditor that --auditor names, with its default parameters."""
    module, _, name = text.partition(":")
    if "" not in sys.path:
        sys.path.insert(0, "")  # a module beside the data, as with `python -m`
    try:
        metric = getattr(importlib.import_module(module), name)
        if not issubclass(metric, BaseAuditor):
            raise TypeError("it is no subclass of BaseAuditor")
        return metric()
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        raise argparse.ArgumentTypeError(
            f"must name the class of an auditor that needs no parameters, as package.module:Class; "
            f"got {text!r}: {error}"
        ) from error


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    plain: dict[str, Any] = {"formatter_class": argparse.RawDescriptionHelpFormatter}
    whole = argparse.ArgumentParser(
        prog="skbiasamp", description=skbiasamp.__doc__, epilog=_EXAMPLES, **plain
    )
    whole.add_argument("--version", action="version", version=f"%(prog)s {skbiasamp.__version__}")
    commands = whole.add_subparsers(dest="command", required=True, metavar="{audit,demo}")
    audit = commands.add_parser(
        "audit",
        help="audit the predictions in files (CSV, Parquet, ...)",
        usage=_AUDIT_USAGE,
        description=_AUDIT,
        epilog=_AUDIT_EXAMPLES,
        **plain,
    )
    demo = commands.add_parser(
        "demo",
        help="audit data that come with the package, offline",
        description=_DEMO,
        epilog="example:\n  skbiasamp demo --folder pages",
        **plain,
    )
    demo.add_argument(
        "--folder",
        default=".",
        help="where to write compas-score.html and compas-classifier.html (default: here)",
    )
    columns = audit.add_argument_group("columns").add_argument
    written = audit.add_argument_group(
        "what is written (the terminal shows a summary)"
    ).add_argument
    gate = audit.add_argument_group("in continuous integration").add_argument
    add = audit.add_argument
    add("test", nargs="+", metavar="TEST", help="files of the audited rows; these come first")
    add("--train", nargs="+", metavar="TRAIN", help="files of the training labels")
    for name, text in (
        ("target", "the label, or 0/1 columns"),
        ("prediction", "its prediction: labels or probabilities"),
        ("sensitive", "the sensitive feature"),
        ("sensitive-prediction", "the feature as predicted by the model"),
        ("score", "scores behind predictions, such as logits"),
    ):
        needed = name in ("target", "prediction", "sensitive")
        columns(f"--{name}", nargs="+", metavar="NAME", required=needed, help=text)
    columns("--weight", nargs=1, metavar="NAME", help="weights of the audited rows")
    columns(
        "--positive",
        metavar="NAME",
        help="which of two classes is the positive one (default: the one that sorts last)",
    )
    add(
        "--groups",
        choices=("intersection", "marginal", "indicator"),
        default="intersection",
        help="groups of several sensitive columns: every combination of values (default), the "
        "values of each column, or 0/1 memberships",
    )
    add(
        "--missing",
        choices=("error", "drop", "group"),
        default="error",
        help="rows without a sensitive feature: stop (default), leave them out, or make a group",
    )
    add(
        "--max-groups",
        type=int,
        metavar="N",
        help="how many groups are allowed (default: 100, and 20 if groups have fewer than 20 rows "
        "on average)",
    )
    add(
        "--auditor",
        type=_auditor,
        action="append",
        metavar="MODULE:CLASS",
        help="run this metric instead of those that the columns allow; repeat for several",
    )
    add("--model-name", metavar="NAME", help="name of the model, for the title of the report")
    add("--data-name", metavar="NAME", help="name of the data (default: the files of TEST)")
    add("--seed", type=_seed, default=0, metavar="N", help="seed of random numbers (default: 0)")
    add(
        "--delimiter",
        type=_delimiter,
        metavar="C",
        help="character between the cells of text files, or tab (default: detected)",
    )
    add(
        "--encoding",
        type=_encoding,
        metavar="NAME",
        help="encoding of text files, such as utf-16 or latin-1 (default: detected)",
    )
    written("--html", metavar="PATH", help="a page with pictures and explanations")
    written("--json", metavar="PATH", help="everything, for programs")
    written("--markdown", metavar="PATH", help="a section for a model card")
    gate(
        "--fail-above",
        type=_limit,
        metavar="X",
        help="exit with 1 if the confidence interval of directional amplification lies above X; "
        "a number of 0 or more",
    )
    gate(
        "--on",
        nargs="+",
        metavar="NAME",
        help="check these metrics instead: a metric (leakage, dpa), one audit of the summary "
        "('DPA A->T'), or all (except sizes, which are never below 0)",
    )
    gate(
        "--allow-undefined",
        action="store_true",
        help="pass if there is no result to check, instead of exit code 2",
    )
    return whole
