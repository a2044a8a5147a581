"""``skbiasamp over``: one audit a period, of rows with times or of counts in a file a period."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import skbiasamp
from skbiasamp._input.errors import InputError, speaking
from skbiasamp._io.files import FEW_ROWS, find
from skbiasamp._utils.formatting import ALARM, NOT_MEASURED
from skbiasamp.cli._files import (
    checked_outputs,
    columns_by_role,
    named_columns,
    names_of_options,
    rows_of_files,
)
from skbiasamp.cli._options import add_command
from skbiasamp.cli._terminal import say, say_and_write
from skbiasamp.report import described_files
from skbiasamp.results.gate import FAILED, PASSED, Limit


def add_over(commands: Any) -> None:
    """Add the command to the parser."""
    shared = (
        "test --time --every --target --prediction --sensitive --sensitive-prediction --weight "
        "--positive --favourable --reference --groups --missing --auditor --model-name "
        "--data-name --seed --delimiter --encoding --decimal --bins --html --json --markdown "
        "--limit"
    )
    own = {
        "test": {
            "help": "files of rows, or of counts: one JSON file a period, with its name",
            "metavar": "FILE",
        },
        "--target": {"help": "the label, or 0/1 columns; without it predictions are watched alone"},
        "--reference": {
            "default": "1",
            "metavar": "N|NAME",
            "help": "so many first periods, or the period with this name (default: 1)",
        },
        "--auditor": {"action": "store", "help": "watch this metric"},
        "--limit": {
            "help": "exit with 1 if the value of the last period lies outside ±X, and with 3 if "
            "its interval reaches beyond"
        },
    }
    add_command(commands, "over", _over, shared, own)


def _over(options: argparse.Namespace) -> int:
    r"""Audit a model over time, with alarms.

    Every period is compared with the reference and with the periods before it. If
    nothing changes, the chance of any alarm is at most 5 %, however many periods
    there are. Pass files of rows with a column of times. Or pass counts that
    Contingency.to_json wrote, one file a period, such as 2026-11.json.

    for example:
      skbiasamp over decisions.parquet --time day --reference 3 --target hired \
          --prediction predicted --sensitive sex --html page.html
      skbiasamp over 'counts/2026-*.json' --reference 3

    exit codes: 0 no alarm; 1 an alarm, or a last period outside the limit; 2 bad
    input; 3 not measured: there is no period after the reference, or the last one
    may lie outside the limit
    """
    counted = options.test[0].endswith(".json")
    paths = find(options.test, (".json",)) if counted else find(options.test)
    outputs = checked_outputs(options, paths)
    named = named_columns(options)
    how: dict[str, Any] = {
        name: getattr(options, name)
        for name in ("auditor", "favourable", "groups", "missing", "model_name")
    }
    how |= {"pos_label": options.positive, "random_state": options.seed}
    how["data_name"] = options.data_name or ", ".join(options.test)
    # A number of four digits is a year, which names a period.
    of_periods = options.reference.isdecimal() and len(options.reference) < 4
    how["reference"] = int(options.reference) if of_periods else options.reference
    how |= columns_by_role(named) | {"time": options.time}
    described: list[dict[str, Any]] = []
    with speaking(names_of_options(named) | {"frame": "FILE", "favourable": "--favourable"}):
        if counted:
            timeline = skbiasamp.audit_over(_counts(paths), **how)
        elif options.time is None:
            text = "--time must name the column of dates or times, unless files hold counts (.json)"
            raise InputError(text)
        else:
            every = None if options.every == "name" else options.every
            with rows_of_files(options, options.test, named, options.time) as (rows, files):
                few = sum(file["rows"] for file in files) <= FEW_ROWS
                frame = rows.collect() if few else rows
                timeline = skbiasamp.audit_over(frame.to_native(), every=every, **how)
            described = described_files(files, [])
    timeline.context.update(call=options.call, data_files=described)
    say_and_write(timeline, outputs, described)
    code = {ALARM: 1, NOT_MEASURED: 3}.get(timeline.verdict, 0)
    if options.limit is None or code == 1:
        return code
    last = timeline.to_frame().iloc[-1]
    limit = Limit.checked(options.limit, one_sided=False)
    say(f"\n{last['period']}, limit {limit.size:g}: {limit.word(last['low'], last['high'])}.")
    return max(code, {FAILED: 1, PASSED: 0}.get(limit.outcome(last["low"], last["high"]), 3))


def _counts(paths: list[Path]) -> dict[str, skbiasamp.Contingency]:
    """Return the counts of each period, which is the name of its file."""
    counts: dict[str, skbiasamp.Contingency] = {}
    for path in paths:
        if path.stem in counts:
            text = "{path}: another file has the period {period} too. Add their counts (+) first"
            raise InputError(text, path=path, period=path.stem)
        counts[path.stem] = skbiasamp.Contingency.from_json(path)
    return counts
