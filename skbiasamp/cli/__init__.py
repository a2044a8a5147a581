"""The command line: ``skbiasamp audit`` of files, ``skbiasamp demo`` of embedded data."""

from __future__ import annotations

import argparse
import io
import shlex
import sys
from ast import literal_eval
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import skbiasamp
from skbiasamp._files import find, opened
from skbiasamp._input import PARAMETER_OF, InputError, Said, Spoken, speaking
from skbiasamp._words import printable
from skbiasamp.cli._demo import demo
from skbiasamp.cli._files import as_arguments, check_gaps, check_outputs, check_roles
from skbiasamp.cli._gate import check
from skbiasamp.cli._parser import parser
from skbiasamp.cli._terminal import filled, say, say_files, say_summary
from skbiasamp.metrics._reading import read_train
from skbiasamp.report import count_rows, described_files

_FEW_ROWS = 1_000_000


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
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by whoever started the process
            setattr(sys, name, io.StringIO())
        elif isinstance(stream, io.TextIOWrapper):
            # A name that the terminal cannot show is printed as its code.
            stream.reconfigure(errors="backslashreplace")
    command_line = parser()
    options = command_line.parse_args(arguments)
    if options.command == "audit" and options.fail_above is None:
        for option, given in (("--on", options.on), ("--allow-undefined", options.allow_undefined)):
            if given:
                command_line.error(
                    f"{option} has no effect without --fail-above: pass --fail-above too"
                )
    try:
        call = sys.argv[1:] if arguments is None else arguments
        code = _audit(options, call) if options.command == "audit" else demo(options.folder)
        say(end="", flush=True)
        return code
    except (InputError, OSError, ImportError) as error:  # anything else is a bug, and shows where
        print(printable(f"skbiasamp: {' '.join(str(error).split())}"), file=sys.stderr)
        return 2


def _options_named(options: argparse.Namespace) -> dict[str, Spoken]:
    """Return the names that roles have on the command line: --target income, --missing drop."""
    names: dict[str, Spoken] = {
        "y_train and sensitive_train": "--train",
        "the training data": "--train",
    }
    for option, parameter in PARAMETER_OF.items():
        columns = getattr(options, option) or []
        columns = [columns] if isinstance(columns, str) else columns
        flag = f"--{option.replace('_', '-')}"
        for role in (option, parameter):
            names[role] = " ".join([flag, *columns])
            names |= {f"{role} column {column!r}": f"{flag} {column}" for column in columns}
    for role, flag in (
        ("missing", "--missing"),
        ("groups", "--groups"),
        ("pos_label", "--positive"),
        ("delimiter", "--delimiter"),
        ("encoding", "--encoding"),
        ("max_groups", "--max-groups"),
    ):
        names[role] = partial(_option_named, flag)
    return names


def _option_named(flag: str, rest: str) -> str:
    """Return an option and its value as on the command line; `rest` is as in Python: ='drop'."""
    value = rest.removeprefix("=")
    if value.startswith(("'", '"')):
        value = shlex.quote(literal_eval(value))
    return f"{flag} {value}".rstrip()


def _named(text: str, names: dict[str, Spoken]) -> str:
    return text.named(names) if isinstance(text, Said) else text


def _together(named: dict[str, list[str]]) -> list[str]:
    return list(dict.fromkeys(chain.from_iterable(named.values())))


def _audit(options: argparse.Namespace, call: Sequence[str]) -> int:
    wanted = {"html": options.html, "json": options.json, "markdown": options.markdown}
    outputs = {kind: Path(path) for kind, path in wanted.items() if path is not None}
    check_outputs(outputs, find(options.test) + find(options.train or []))
    given = {side: getattr(options, side) for side in PARAMETER_OF}
    named = {side: columns for side, columns in given.items() if columns}
    check_roles(named)
    # One column is a column of classes; several are indicators, or combined attributes.
    labels = {side: columns[0] if len(columns) == 1 else columns for side, columns in named.items()}
    how: dict[str, Any] = {
        "groups": options.groups,
        "missing": options.missing,
        "pos_label": options.positive,
        "max_groups": options.max_groups,
    }
    written = {"delimiter": options.delimiter, "encoding": options.encoding}
    names = _options_named(options)
    with speaking(names):
        train, training_files = None, list[dict[str, Any]]()
        if options.train is not None:
            on = {k: named[k] for k in ("target", "sensitive")}
            with opened(options.train, _together(on), **written) as (rows, training_files):
                check_gaps(rows, on, training_files, options.missing)
                train = read_train(rows, None, {k: labels[k] for k in on}, **how)
        with opened(options.test, _together(named), **written) as (rows, files):
            n_rows = check_gaps(rows, named, files, options.missing)
            if options.score is None and options.weight is None:
                # Of few rows all is kept; of more, what may not fit into memory is summed.
                joint = True if n_rows <= _FEW_ROWS else None
                cells = count_rows(rows, {}, labels, train, joint, **how)
                arguments: dict[str, Any] = {"y_true": cells}
            else:
                # Scores and weights belong to single rows: these are read, not counted.
                arguments = how | as_arguments(rows, labels)
        report = skbiasamp.audit(
            **arguments,
            y_train=train,
            auditors=options.auditor,
            random_state=options.seed,
            model_name=options.model_name,
            data_name=options.data_name or ", ".join(options.test),
        )
    report.data_files.extend(described_files(files, training_files))
    report.context["call"] = shlex.join(["skbiasamp", *call])
    # Findings name the options of this command, on the page and in files too.
    report.findings[:] = [
        replace(one, text=_named(one.text, names), action=_named(one.action, names))
        for one in report.findings
    ]
    for kind, path in outputs.items():
        getattr(report, f"to_{kind}")(path)
    say(filled(f"Audit of {', '.join(options.test)}: {report.context['rows']}"))
    say(f"\nVerdict ({report.primary})")
    for text in report._opening:
        say(filled(text, "  "))
    say_summary(report)
    for name, sentence in report.sentences.items():
        if name != report.primary:
            say(f"\n{name}\n{filled(sentence, '  ')}")
    say("\nBefore you use these numbers:")
    for text in report._rest:
        say(filled(text, "  ", first="- "))
    say_files(report)
    for path in outputs.values():
        say(f"\nWritten: {path}")
    if options.fail_above is None:
        return 0
    return check(report, options.fail_above, options.on, allow_undefined=options.allow_undefined)
