r"""Watch a model over time: a store of periods, and alarms.

"add" counts the rows of a period and puts the counts into a store, a folder
with one small file a period. "show" compares every period with the reference.
If nothing changes, the chance of any alarm over the whole watch is at most 5 %.

for example:
  skbiasamp watch add store/ today.parquet --period 2026-11-21 \
      --target hired --prediction predicted --sensitive sex --min-cell 5
  skbiasamp watch show store/ --reference 30 --html page.html --fail-on-alarm

exit codes: 0 done, 1 there is an alarm and --fail-on-alarm was passed, 2 bad
input
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from skbiasamp._input.errors import InputError, speaking
from skbiasamp.cli._files import (
    checked_outputs,
    columns_by_role,
    named_columns,
    names_of_options,
    rows_of_files,
)
from skbiasamp.cli._options import add_command
from skbiasamp.cli._terminal import in_lines, say, say_and_write, say_files
from skbiasamp.counts.contingency import Contingency
from skbiasamp.monitoring import Store


def add_watch(commands: Any) -> None:
    """Add the command and its two actions to the parser."""
    watch = add_command(commands, "watch", None, text=__doc__)
    actions = watch.add_subparsers(dest="action", required=True, metavar="{add,show}")
    shared = "--period --min-cell --model-version --sensitive-prediction --positive --threshold"
    shared += " --groups --missing --delimiter --encoding"
    own = {
        "store": {"help": "the folder; it is made if there is none"},
        "files": {"help": "files of the period's rows"},
        "--target": {"help": "the label, or 0/1 columns; without it predictions are watched alone"},
        "--prediction": {
            "required": True,
            "help": "its prediction: labels, or scores with --threshold",
        },
        "--sensitive": {"required": True},
    }
    add_command(actions, "add", _add, shared, own)
    own = {
        "--reference": {
            "default": "1",
            "metavar": "N|NAME",
            "help": "so many first periods, or the period with this name (default: 1)",
        },
        "--auditor": {"action": "store", "help": "watch this metric"},
    }
    shared = "store --seed --model-name --html --json --fail-on-alarm"
    add_command(actions, "show", _show, shared, own)


def _store(options: argparse.Namespace) -> Store:
    with speaking(folder="STORE, the first argument,"):
        return Store(options.store)


def _add(options: argparse.Namespace) -> int:
    r"""Count the rows of a period into a store.

    for example:
      skbiasamp watch add store/ today.parquet --period 2026-11-21 \
          --target hired --prediction predicted --sensitive sex --min-cell 5
    """
    named = named_columns(options)
    flags = {"period": "--period", "min_cell": "--min-cell", "missing": "--missing"}
    store = _store(options)
    reading = rows_of_files(options, options.files, named)
    with speaking({**names_of_options(named), **flags}):
        with reading as (rows, files):
            how = {"groups": options.groups, "missing": options.missing}
            how |= {"pos_label": options.positive, "threshold": options.threshold}
            cells = Contingency.from_frame(rows, **columns_by_role(named), joint=True, **how)
        with speaking(source=", ".join(options.files)):
            added = store.add(
                cells,
                options.period,
                source=[file["sha256"] for file in files],
                version=options.model_version,
                min_cell=options.min_cell,
            )
    say(f"{options.period} in {options.store} has {added['rows']:,.15g} rows now.")
    if cells.n_dropped:
        say(f"Left out without a sensitive feature: {cells.n_dropped:,.15g} rows.")
    if added["suppressed_cells"]:
        say(
            in_lines(
                f"Left out: {added['suppressed_rows']:,.15g} rows in {added['suppressed_cells']} "
                f"cells of fewer than {options.min_cell} rows."
            )
        )
    say_files(files)
    return 0


def _show(options: argparse.Namespace) -> int:
    """Compare every period with the reference.

    for example:
      skbiasamp watch show store/ --reference 30 --html page.html --fail-on-alarm

    exit codes: 0 done, 1 there is an alarm and --fail-on-alarm was passed, 2 bad
    input
    """
    outputs = checked_outputs(options)
    folder = Path(options.store).resolve()
    for path in outputs.values():
        if path.resolve().parent == folder:
            raise InputError("{path} is in the store: write it to another folder", path=str(path))
    given = options.reference
    # A year is the name of a period, unless there are so many periods.
    store = _store(options)
    number = given.isdecimal() and given not in store.periods
    with speaking(reference="--reference"):
        timeline = store.audit_over(
            reference=int(given) if number else given,
            auditor=options.auditor,
            random_state=options.seed,
            model_name=options.model_name,
        )
    timeline.context["call"] = options.call
    say_and_write(timeline, outputs, [])
    return int(options.fail_on_alarm and timeline.first_alarm is not None)
