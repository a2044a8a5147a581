"""The command line: ``skbiasamp audit`` of files, ``skbiasamp demo`` of embedded data."""

from __future__ import annotations

import argparse
import dis
import io
import os
import re
import sys
from collections.abc import Sequence
from typing import Any

import skbiasamp
from skbiasamp._files import reading
from skbiasamp.cli._demo import demo
from skbiasamp.cli._files import as_arguments, open_columns, writable
from skbiasamp.cli._gate import check
from skbiasamp.cli._parser import parser
from skbiasamp.cli._terminal import filled, print_summary
from skbiasamp.metrics._base import read_train
from skbiasamp.report import count_rows

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
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A name that the terminal cannot show is printed as its code.
        sys.stdout.reconfigure(errors="backslashreplace")
    command_line = parser()
    options = command_line.parse_args(arguments)
    if options.command == "audit" and options.fail_above is None:
        for option, given in (("--on", options.on), ("--allow-undefined", options.allow_undefined)):
            if given:
                command_line.error(
                    f"{option} has no effect without --fail-above: pass --fail-above too"
                )
    try:
        code = _audit(options) if options.command == "audit" else demo(options.html)
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


def _audit(options: argparse.Namespace) -> int:
    wanted = {"html": options.html, "json": options.json, "markdown": options.markdown}
    outputs = {kind: writable(path) for kind, path in wanted.items() if path is not None}
    sides = ("target", "prediction", "sensitive", "sensitive_prediction")
    named = {side: getattr(options, side) for side in sides}
    # One column is a column of classes; several are indicators, or combined attributes.
    labels = {k: v[0] if v is not None and len(v) == 1 else v for k, v in named.items()}
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
            train = read_train(frame, None, on, **how)
    with reading(options.test) as paths:
        extra = {"score": options.score, "weight": options.weight}
        frame, n_rows = open_columns(paths, labels | extra, missing=options.missing)
        if options.score is None and options.weight is None:
            # Of few rows all is kept; of more, what may not fit into memory is summed.
            joint = True if n_rows <= _FEW_ROWS else None
            cells = count_rows(frame, {}, labels, train, joint, **how)
            arguments: dict[str, Any] = {"y_true": cells}
        else:
            # Scores and weights belong to single rows: these are read, not counted.
            arguments = how | as_arguments(frame, labels | extra)
    report = skbiasamp.audit(
        **arguments, y_train=train, auditors=options.auditor, random_state=options.seed
    )
    for kind, path in outputs.items():
        getattr(report, f"to_{kind}")(path)
    title = f"Audit of {', '.join(options.test)}: {report.context['rows']}"
    print(filled(title))
    print(f"\nVerdict ({report.primary})")
    for text in report._opening:
        print(filled(_in_options(text), "  "))
    print_summary(report)
    for name, sentence in report.sentences.items():
        if name != report.primary:
            print(f"\n{name}\n{filled(sentence, '  ')}")
    print("\nBefore you use these numbers:")
    for text in report._rest:
        print(filled(_in_options(text), "  ", first="- "))
    for path in outputs.values():
        print(f"\nWritten: {path}")
    if options.fail_above is None:
        return 0
    return check(report, options.fail_above, options.on, allow_undefined=options.allow_undefined)
