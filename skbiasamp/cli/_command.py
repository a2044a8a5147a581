"""The command line: it is parsed, its command is run, and errors become one line."""

from __future__ import annotations

import argparse
import io
import shlex
import sys
from collections.abc import Sequence
from typing import Any

import skbiasamp
from skbiasamp._input.errors import InputError
from skbiasamp.cli._demo import add_demo
from skbiasamp.cli._options import add_command
from skbiasamp.cli._over import add_over
from skbiasamp.cli._reports import add_audit, add_compare
from skbiasamp.cli._terminal import complain, say
from skbiasamp.report.auditors import reading


def add_app(commands: Any) -> None:
    """Add the command to the parser."""
    add_command(commands, "app", _app, "--port --no-browser --max-size")


def _app(options: argparse.Namespace) -> int:
    """Audit files in a browser, without Python.

    Open a page on this machine. Drop a CSV or Parquet file into it, say what its
    columns are, and get the report of skbiasamp audit or compare, with the command
    that makes it again. Only programs of this machine can reach the page, with an
    address that is new each time. Ctrl-C ends the app and deletes its files.

    for example:
      skbiasamp app
      skbiasamp app --no-browser --port 8000
    """
    try:
        from skbiasamp.app.server import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("starlette", "uvicorn"):
            raise
        needs = "skbiasamp app needs starlette and uvicorn: pip install 'skbiasamp[app]'"
        raise ImportError(needs) from error
    serve(options.port, browser=not options.no_browser, max_size=options.max_size << 20)
    return 0


_EXAMPLES = """\
examples:
  skbiasamp demo
  skbiasamp audit test.csv --target hired --prediction predicted --sensitive sex
  skbiasamp compare --help"""


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
        dest="command", required=True, metavar="{audit,compare,over,app,demo}"
    )
    for add in (add_audit, add_compare, add_over, add_app, add_demo):
        add(commands)
    return whole


def run_command(arguments: Sequence[str] | None) -> int:
    """Do what a command line says, and return the exit code."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by whoever started the process
            setattr(sys, name, io.StringIO())
        elif isinstance(stream, io.TextIOWrapper):
            # A name that the terminal cannot show is printed as its code.
            stream.reconfigure(errors="backslashreplace")
    try:
        options = _parsed(arguments)
        call = list(sys.argv[1:] if arguments is None else arguments)
        for argument in call:
            if "\0" in argument:  # a shell cannot pass it, but a caller of `main` can
                text = "arguments must hold no NUL character; got {argument!r}"
                raise InputError(text, argument=argument)
        options.call = shlex.join(["skbiasamp", *call])
        return int(options.run(options))
    except (InputError, OSError, ImportError) as error:  # anything else is a bug, and shows where
        text = str(error)
        if isinstance(error, OSError) and error.strerror:  # without its number
            text = f"{error.filename}: " * (error.filename is not None) + error.strerror
        complain(f"skbiasamp: {' '.join(text.split())}")
        return 2
    finally:
        complain(end="")  # what warnings and argparse could not write


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options of a command line, or end as argparse does."""
    command_line = parser()
    try:
        options = command_line.parse_args(arguments)
    except SystemExit:
        say(end="")  # argparse does not notice that --help cannot be written
        raise
    if options.command not in ("audit", "compare"):
        return options
    if options.numeric:
        options.auditor = [*(options.auditor or ()), *reading("numbers")]
    if wrong := _wrong_options(options):
        command_line.error(wrong)
    options.tables = _own_files(command_line, options)
    needed = ["sensitive"] if options.text else ["target", "prediction", "sensitive"]
    if options.train and (options.command == "audit" or options.tables):
        needed = [name for name in needed if name != "target"]  # predictions alone will do
    lacking = [name for name in needed if getattr(options, name) is None]
    if lacking:
        flags = ", ".join(f"--{name}" for name in lacking)
        instead = "" if lacking == ["sensitive"] else " (or --text and --labels)"
        command_line.error(
            f"the following arguments are required: {flags}{instead}; "
            f"skbiasamp {options.command} --help has examples"
        )
    return options


def _wrong_options(options: argparse.Namespace) -> str | None:
    """Return what is wrong with the options of a gate."""
    if options.fail_above is not None and options.limit is not None:
        return "--limit takes the place of --fail-above: pass one of them"
    if options.fail_above is None and options.limit is None:
        for name in ("on", "allow_undefined", "inconclusive"):
            if getattr(options, name):
                option = f"--{name.replace('_', '-')}"
                return f"{option} has no effect without --fail-above or --limit: pass one of these"
    return None


def _own_files(command_line: argparse.ArgumentParser, options: argparse.Namespace) -> Any:
    """Return the file of each model if models have files of their own."""
    prediction = options.prediction or {}
    if options.command != "compare" or None not in prediction:
        return None
    files = [text.partition("=") for text in options.test]
    if len(prediction) > 1 or not all(model and path for model, _, path in files):
        command_line.error(
            "argument --prediction: must be a model's name and its column, such as "
            f"champion=predicted; got {prediction[None][0]!r}. Models with files of their own need "
            "names too, such as champion=rows.csv"
        )
    options.test = [path for _, _, path in files]
    tables = {model: [path] for model, _, path in files}
    if len(tables) < len(files):
        command_line.error("argument TEST: each model is named once, with one file")
    return tables
