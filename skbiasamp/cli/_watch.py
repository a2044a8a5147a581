"""``skbiasamp watch add`` and ``watch show``: a store of periods, and its alarms."""

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
from skbiasamp.cli._options import add, add_command
from skbiasamp.cli._terminal import in_lines, say, say_and_write, say_files
from skbiasamp.monitoring import Store
from skbiasamp.monitoring.pairs import counted_period

_WATCH = """\
Watch a model over time. "add" counts the rows of a period and puts the counts
into a store, a folder with one small file a period. "show" compares every
period with the reference. If nothing changes, the chance of any alarm over the
whole watch is at most 5 %."""

_EXAMPLES = """\
examples:
  skbiasamp watch add store/ today.parquet --period 2026-11-21 \\
      --target hired --prediction predicted --sensitive sex --min-cell 5
  skbiasamp watch show store/ --reference 30 --html page.html --fail-on-alarm

exit codes: 0 done, 1 there is an alarm and --fail-on-alarm was passed, 2 bad
input"""


def add_watch(commands: Any) -> None:
    """Add the command and its two actions to the parser."""
    summary = "watch a model over time: a store of periods, and alarms"
    texts = {"help": summary, "description": _WATCH, "epilog": _EXAMPLES}
    watch = add_command(commands, "watch", None, **texts)
    actions = watch.add_subparsers(dest="action", required=True, metavar="{add,show}")
    summary = "count the rows of a period into a store"
    counting = add_command(actions, "add", _add, help=summary, epilog=_EXAMPLES)
    counting.add_argument("store", metavar="STORE", help="the folder; it is made if there is none")
    counting.add_argument("files", nargs="+", metavar="FILE", help="files of the period's rows")
    counting.add_argument(
        "--period",
        required=True,
        metavar="NAME",
        help="a day (2026-11-21), week (2026-W47), month (2026-11), quarter (2026-Q4) or year; "
        "late rows of an old period are added to it",
    )
    without = "the label, or 0/1 columns; without it predictions are watched alone"
    add(counting, "--target", help=without)
    labels = "its prediction: labels, or scores with --threshold"
    add(counting, "--prediction", required=True, help=labels)
    add(counting, "--sensitive", required=True)
    add(counting, "--sensitive-prediction", "--positive", "--threshold", "--groups", "--missing")
    add(counting, "--pair")
    counting.add_argument("--model-version", metavar="NAME", help="version of the model")
    counting.add_argument(
        "--min-cell",
        type=int,
        default=1,
        metavar="N",
        help="leave out cells of fewer rows, so that they reveal nobody (default: keep all)",
    )
    add(counting, "--delimiter", "--encoding")
    summary = "compare every period with the reference"
    show = add_command(actions, "show", _show, help=summary, epilog=_EXAMPLES)
    show.add_argument("store", metavar="STORE", help="the folder")
    show.add_argument(
        "--reference",
        default="1",
        metavar="N|NAME",
        help="so many first periods, or the period with this name (default: 1)",
    )
    add(show, "--given", help="strata: some of the sensitive columns. What changes within them?")
    add(show, "--auditor", action="store", help="watch this metric")
    add(show, "--seed", "--model-name", "--html", "--json")
    show.add_argument(
        "--fail-on-alarm", action="store_true", help="exit with 1 if there is an alarm"
    )


def _store(options: argparse.Namespace) -> Store:
    with speaking(folder="STORE, the first argument,"):
        return Store(options.store)


def _add(options: argparse.Namespace) -> int:
    named = named_columns(options)
    flags = {"period": "--period", "min_cell": "--min-cell", "missing": "--missing"}
    store = _store(options)
    reading = rows_of_files(options, options.files, named, missing=options.missing)
    with speaking({**names_of_options(named), **flags}):
        with reading as (rows, files):
            how = {"groups": options.groups, "missing": options.missing}
            how |= {"pos_label": options.positive, "threshold": options.threshold}
            cells = counted_period(rows, columns_by_role(named), how)
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
    outputs = checked_outputs(options)
    folder = Path(options.store).resolve()
    for path in outputs.values():
        if path.resolve().parent == folder:
            raise InputError("{path} is in the store: write it to another folder", path=str(path))
    given = options.reference
    # A year is the name of a period, unless there are so many periods.
    store = _store(options)
    number = given.isdecimal() and given not in store.periods
    with speaking(reference="--reference", given="--given"):
        timeline = store.audit_over(
            reference=int(given) if number else given,
            given=options.given,
            auditor=options.auditor,
            random_state=options.seed,
            model_name=options.model_name,
        )
    timeline.context["call"] = options.call
    say_and_write(timeline, outputs, [])
    return int(options.fail_on_alarm and timeline.first_alarm is not None)
