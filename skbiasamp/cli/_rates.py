"""``skbiasamp rates``: selection rates and impact ratios of the predictions or scores in files."""

from __future__ import annotations

import argparse
from typing import Any

from skbiasamp._input.errors import InputError, speaking
from skbiasamp._io.files import FEW_ROWS, find
from skbiasamp.cli._files import (
    checked_outputs,
    columns_by_role,
    named_columns,
    names_of_options,
    rows_of_files,
)
from skbiasamp.cli._options import add_command
from skbiasamp.cli._terminal import say_and_write
from skbiasamp.report import described_files, selection_rates


def add_rates(commands: Any) -> None:
    """Add the command to the parser."""
    shared = "--weight --cluster --threshold --positive --scores --min-share --max-groups"
    shared += " --model-name --data-name --html --delimiter --encoding"
    own = {
        "test": {"help": "files of the rows; these come first"},
        "--prediction": {"nargs": 1, "required": True, "help": "the predicted label, or the score"},
        "--sensitive": {"required": True},
        "--target": {"nargs": 1, "help": "the label, which adds true and false positive rates"},
    }
    add_command(commands, "rates", _rates, shared, own)


def _rates(options: argparse.Namespace) -> int:
    r"""Selection rates and impact ratios of each group.

    They are printed by each sensitive column and by all of them together, in the
    layout of New York City's Local Law 144. No true labels are needed. Rows with a
    missing sensitive feature are counted as unknown. The table describes the rows
    of the files: it is not a statement that a law is met.

    for example:
      skbiasamp rates applicants.csv --prediction selected --sensitive sex race
      skbiasamp rates applicants.csv --prediction score --threshold 0.4 --sensitive sex
      skbiasamp rates applicants.csv --prediction score --scores \
          --sensitive sex race --min-share 0.02 --html rates.html
    """
    outputs = checked_outputs(options, find(options.test))
    if options.scores and options.positive is not None:
        raise InputError("--positive has no effect with --scores: leave it out")
    named = named_columns(options)
    shown = names_of_options(named) | {"min_share": "--min-share", "threshold": "--threshold"}
    shown["scores"] = lambda _: "--scores"
    with speaking(shown), rows_of_files(options, options.test, named) as (rows, files):
        n_rows = sum(file["rows"] for file in files)
        result = selection_rates(
            rows.collect() if options.cluster or n_rows <= FEW_ROWS else rows,
            **columns_by_role(named),
            scores=options.scores,
            min_share=options.min_share,
            pos_label=options.positive,
            threshold=options.threshold,
            max_groups=options.max_groups,
            model_name=options.model_name,
            data_name=options.data_name or ", ".join(options.test),
        )
        described = described_files(files, [])
    result.context.update(call=options.call, data_files=described)
    say_and_write(result, outputs, described)
    return 0
