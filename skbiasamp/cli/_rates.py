"""``skbiasamp rates``: selection rates and impact ratios of the predictions or scores in files."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from skbiasamp._input.errors import InputError, speaking
from skbiasamp._io.files import find, opened
from skbiasamp.cli._files import THRESHOLD, check_gaps, check_outputs, label_columns, named_columns
from skbiasamp.cli._terminal import say, say_files, say_report
from skbiasamp.report import described_files, selection_rates

_RATES = """\
Print selection rates and impact ratios by each sensitive column and by all of
them together, in the layout of New York City's Local Law 144. No true labels
are needed. Rows with a missing sensitive feature are counted as unknown. The
table describes the rows of the files: it is not a statement that a law is met."""

_EXAMPLES = """\
examples:
  skbiasamp rates applicants.csv --prediction selected --sensitive sex race
  skbiasamp rates applicants.csv --prediction score --threshold 0.4 --sensitive sex
  skbiasamp rates applicants.csv --prediction score --scores \\
      --sensitive sex race --min-share 0.02 --html rates.html"""


def add_rates(
    commands: Any, plain: dict[str, Any], types: Mapping[str, Callable[[str], Any]]
) -> None:
    """Add the command to the parser."""
    rates = commands.add_parser(
        "rates",
        help="selection rates and impact ratios of each group",
        description=_RATES,
        epilog=_EXAMPLES,
        **plain,
    )
    add = rates.add_argument
    add("test", nargs="+", metavar="TEST", help="files of the rows; these come first")
    for option, many, needed, text in (
        ("prediction", 1, True, "the predicted label, or the score"),
        ("sensitive", "+", True, "the sensitive features"),
        ("target", 1, False, "the true label, which adds true and false positive rates"),
        ("weight", 1, False, "weights of the rows"),
        ("cluster", 1, False, "the person, image or family of a row: its rows may be alike"),
    ):
        add(f"--{option}", nargs=many, required=needed, metavar="NAME", help=f"column: {text}")
    add(
        "--positive",
        metavar="NAME",
        help="which of two classes means selected (default: the one that sorts last)",
    )
    add(
        "--scores",
        action="store_true",
        help="the prediction is a score: selected are rows above the median score",
    )
    add("--threshold", type=types["threshold"], metavar="X", help=THRESHOLD)
    add(
        "--min-share",
        type=float,
        default=0.0,
        metavar="X",
        help="leave categories with a smaller share of rows out of the ratios (default: 0)",
    )
    add("--max-groups", type=int, metavar="N", help="how many combined categories are allowed")
    add("--model-name", metavar="NAME", help="name of the model, for the title of the page")
    add("--data-name", metavar="NAME", help="name of the data (default: the files)")
    add("--html", metavar="PATH", help="write a page")
    add("--delimiter", type=types["delimiter"], metavar="C", help="as in audit")
    add("--encoding", type=types["encoding"], metavar="NAME", help="as in audit")


def rates(
    options: argparse.Namespace, call: Sequence[str], names: Callable[[Any], dict[str, Any]]
) -> int:
    """Print the table, and write the page if one is asked for."""
    outputs = {} if options.html is None else {"html": Path(options.html)}
    check_outputs(outputs, find(options.test))
    if options.scores and options.positive is not None:
        raise InputError("--positive has no effect with --scores: leave it out")
    named = named_columns(options)
    needed = [column for one in named for column in one.columns]
    written = {"delimiter": options.delimiter, "encoding": options.encoding}
    said = names(named) | {"min_share": "--min-share", "threshold": "--threshold"}
    said["scores"] = lambda _: "--scores"
    with speaking(said), opened(options.test, needed, **written) as (rows, files):
        check_gaps(rows, named, files, "group")
        found = selection_rates(
            rows,
            **label_columns(named),
            scores=options.scores,
            min_share=options.min_share,
            pos_label=options.positive,
            threshold=options.threshold,
            max_groups=options.max_groups,
            model_name=options.model_name,
            data_name=options.data_name or ", ".join(options.test),
        )
        described = described_files(files, [])
    found.context["call"] = shlex.join(["skbiasamp", *call])
    found.context["data_files"] = described
    say_report(found.to_document())
    say_files(described)
    for path in outputs.values():
        found.to_html(path)
        say(f"\nWritten: {path}")
    return 0
