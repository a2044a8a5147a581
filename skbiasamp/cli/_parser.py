"""The commands and their options."""

from __future__ import annotations

import argparse
from typing import Any

import skbiasamp
from skbiasamp.cli._answers import add_answers
from skbiasamp.cli._demo import demo
from skbiasamp.cli._mitigate import add_mitigate
from skbiasamp.cli._options import OF_MODELS, OF_MODELS_OR_FILES, ON, add, add_command
from skbiasamp.cli._rates import add_rates
from skbiasamp.cli._reports import report
from skbiasamp.cli._watch import add_watch

_AUDIT_USAGE = """\
skbiasamp audit TEST [TEST ...] [--train TRAIN [TRAIN ...]]
                       --target NAME [NAME ...] --prediction NAME [NAME ...]
                       --sensitive NAME [NAME ...] [options]
       skbiasamp audit TEST [TEST ...] --text NAME --labels FILE
                       [--target-text NAME] --sensitive NAME [NAME ...]
                       [options]"""

_AUDIT = """\
Audit the predictions in a file with every metric that its columns allow:
directional amplification, MALS, leakage, DPA, and more for several labels or a
predicted sensitive feature. The output opens with a verdict. Files are CSV,
TSV, JSON lines or Parquet; several files and quoted patterns such as
'part-*.parquet' count as one. polars, or DuckDB for Parquet, reads only the
columns named if it is installed."""

_COMPARE_USAGE = """\
skbiasamp compare TEST [TEST ...] [--train TRAIN [TRAIN ...]]
                         --target NAME [NAME ...] --sensitive NAME [NAME ...]
                         --prediction MODEL=NAME --prediction MODEL=NAME ...
                         [options]
       skbiasamp compare TEST [TEST ...] --text MODEL=NAME MODEL=NAME ...
                         --labels FILE [--target-text NAME]
                         --sensitive NAME [NAME ...] [options]"""

_COMPARE = """\
Compare several models that predicted the same rows, with every metric that the
columns allow. The output opens with a verdict about each model: does it amplify
more than the reference? Each difference has an interval of its own, which is
narrower than two separate intervals suggest. Files are read as by skbiasamp
audit."""

_COMPARE_EXAMPLES = """\
examples:
  skbiasamp compare test.csv --target hired --sensitive sex \\
      --prediction champion=old --prediction challenger=new
  skbiasamp compare test.csv --train train.csv --target cook drive \\
      --prediction old=cook_old,drive_old new=cook_new,drive_new \\
      --sensitive sex --html comparison.html

generators, each with rows of its own, beside the rows that they imitate:
  skbiasamp compare old=old.csv new=new.csv --train real.csv \\
      --prediction hired --sensitive sex

to pass in continuous integration only if a model clearly amplifies no more than
the champion and 0.001:
  skbiasamp compare test.csv --target hired --sensitive sex \\
      --prediction champion=old challenger=new --fail-above 0.001

exit codes: 0 done, and within the limit if there is one; 1 a difference lies
outside --limit or above --fail-above; 2 bad input or no result to check;
3 inconclusive: more rows are needed"""

_EXAMPLES = """\
examples:
  skbiasamp demo
  skbiasamp audit test.csv --target hired --prediction predicted --sensitive sex
  skbiasamp compare --help"""

_AUDIT_EXAMPLES = """\
examples:
  skbiasamp audit test.csv --target hired --prediction predicted --sensitive sex
  skbiasamp audit test.csv --train train.csv --target hired \\
      --prediction predicted --sensitive sex race --html report.html

generated rows, which have no labels, beside the rows that they imitate:
  skbiasamp audit synthetic.csv --train real.csv --prediction hired \\
      --sensitive sex

captions or answers of a language model, beside those of people: objects.json
holds words for each label, {"dog": ["dog", "puppy"], "oven": ["oven", "stove"]}
  skbiasamp audit captions.csv --text caption --target-text human \\
      --labels objects.json --sensitive gender

to pass in continuous integration only if amplification is clearly within 0.02:
  skbiasamp audit test.csv --target hired --prediction predicted \\
      --sensitive sex --limit 0.02

exit codes: 0 done, and within the limit if there is one; 1 outside --limit or
above --fail-above, or the model reverses the association; 2 bad input or no
result to check; 3 inconclusive: more rows are needed"""

_DEMO = """\
Answer two questions on real data that come with the package (COMPAS, 5,278
defendants): does the COMPAS score amplify, and does a classifier trained on
half of the rows? Each gets a verdict, error rates by group and a page."""


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
        dest="command",
        required=True,
        metavar="{audit,compare,rates,answers,watch,mitigate,demo}",
    )
    summary = "audit the predictions in files (CSV, Parquet, ...)"
    texts = {"usage": _AUDIT_USAGE, "description": _AUDIT, "epilog": _AUDIT_EXAMPLES}
    audit = add_command(commands, "audit", report, help=summary, **texts)
    summary = "compare models that predicted the same rows"
    texts = {"usage": _COMPARE_USAGE, "description": _COMPARE, "epilog": _COMPARE_EXAMPLES}
    compare = add_command(commands, "compare", report, help=summary, **texts)
    add_rates(commands)
    add_answers(commands)
    add_watch(commands)
    add_mitigate(commands)
    summary = "audit data that come with the package, offline"
    texts = {"description": _DEMO, "epilog": "example:\n  skbiasamp demo --folder pages"}
    add_command(commands, "demo", demo, help=summary, **texts).add_argument(
        "--folder",
        default=".",
        help="where to write compas-score.html and compas-classifier.html (default: here)",
    )
    _add_options(audit, _OF_AUDIT, {"--reference"})
    _add_options(compare, _OF_COMPARE, {*_AUDIT_ALONE})
    return whole


# The options of audit and compare, by their place in the help.
_AUDIT_ALONE = ("--favourable", "--score", "--labelled", "--check", "--model-name")
_PLACES = {
    "": (
        *("test", "--train", "--groups", "--missing", "--max-groups", "--auditor", "--numeric"),
        *("--data-name", "--seed", "--delimiter", "--encoding", "--reference", "--model-name"),
    ),
    "columns": (
        *("--target", "--prediction", "--sensitive", "--sensitive-prediction", "--weight"),
        *("--cluster", "--positive", "--pair", "--decision", "--favourable", "--score"),
        *("--given", "--labelled", "--check", "--threshold"),
    ),
    "texts: captions, answers of language models": ("--text", "--labels", "--target-text"),
    "what is written (the terminal shows a summary)": ("--html", "--json", "--markdown"),
    "in continuous integration": (
        *("--fail-above", "--limit", "--inconclusive", "--on", "--allow-undefined"),
    ),
}
_OF_AUDIT = {
    "--target": {
        "help": "the label, or 0/1 columns; without it, the labels of --train are compared with "
        "the predictions"
    },
}
_OF_COMPARE = {
    "--prediction": {
        "help": "a model and the column of its prediction, labels or probabilities; 0/1 columns "
        "are separated by commas. Without a model: the column in all files, of which each "
        "model has its own (TEST is MODEL=FILE)",
        **OF_MODELS_OR_FILES,
    },
    "--sensitive-prediction": OF_MODELS,
    "--given": {"help": "strata, such as department: models are compared within them"},
    "--text": {
        "help": "texts of a model and their column; labels are read from them, in place of "
        "--prediction",
        **OF_MODELS,
    },
    "--fail-above": {
        "help": "exit with 1 if a model clearly amplifies more than the reference: the confidence "
        "interval of the difference in directional amplification lies above X, with 3 if it lies "
        "on both sides; a number of 0 or more"
    },
    "--on": {"help": ON.format(every="all")},
}


def _add_options(command: Any, own: dict[str, dict[str, Any]], without: set[str]) -> None:
    """Add what audit and compare have in common; `own` is what the command changes."""
    for title, names in _PLACES.items():
        place = command.add_argument_group(title) if title else command
        for name in names:
            if name not in without:
                add(place, name, **own.get(name, {}))
