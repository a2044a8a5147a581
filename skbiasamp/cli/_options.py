"""The options of all commands: what each is, how it is read, and what its help says."""

from __future__ import annotations

import argparse
import ast
import codecs
import csv
import difflib
import importlib
import inspect
import io
import itertools
import math
import re
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from skbiasamp import metrics
from skbiasamp._input.checks import GROUPS
from skbiasamp.metrics.base import BaseAuditor
from skbiasamp.monitoring import EVERY


def _finite(text: str, least: float = -math.inf) -> float:
    """Return a finite number."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not (math.isfinite(number) and number >= least):
        limited = "" if least == -math.inf else f" of {least:g} or more"
        meant = [f": write {each}" for each in _with_points(text) if float(each) >= least]
        instead = meant[0] if len(meant) == 1 else ""
        raise argparse.ArgumentTypeError(f"must be a finite number{limited}; got {text!r}{instead}")
    return number


def _with_points(text: str) -> list[str]:
    """Return numbers that are written with decimal commas as they should be: 0.5 of 0,5."""
    comma = r"([+-]?\d+),(\d+)"
    if not re.fullmatch(rf"{comma}([,;] *{comma})*", text):
        return []
    return [f"{whole}.{part}" for whole, part in re.findall(comma, text)]


def _whole(text: str, least: int, below: float, what: str) -> int:
    """Return a whole number."""
    if not (text.isdecimal() and least <= int(text) < below):
        raise argparse.ArgumentTypeError(f"must be a {what}; got {text!r}")
    return int(text)


_seed = partial(_whole, least=0, below=2**32, what="whole number of 0 or more")
_port = partial(_whole, least=0, below=2**16, what="number from 0 to 65535")
_megabytes = partial(_whole, least=1, below=math.inf, what="whole number of 1 or more")


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


def _bins(text: str) -> tuple[str, list[float]]:
    """Return a column and the numbers at which it is cut: age=18,25,40."""
    column, _, numbers = text.rpartition("=")
    try:
        edges = [float(number) for number in numbers.split(",")]
    except ValueError:
        edges = []
    rising = all(low < high for low, high in itertools.pairwise(edges))
    if not (column and edges and rising and all(map(math.isfinite, edges))):
        meant = _with_points(numbers)  # one alone, 5,3, may be two numbers that fall
        instead = f": write {column}={','.join(meant)}" if len(meant) > 1 else ""
        raise argparse.ArgumentTypeError(
            f"must be a column and rising numbers, such as age=18,25,40; got {text!r}{instead}"
        )
    return column, edges


def _auditor(text: str) -> BaseAuditor:
    """Return the auditor that --auditor names: MODULE:CLASS, or MODULE:CLASS(power=2)."""
    module, _, call = text.partition(":")
    if not call:
        known = {name.removesuffix("Auditor").lower(): name for name in metrics.__all__}
        close = difflib.get_close_matches(text.lower().removesuffix("auditor"), known, n=1)
        end = f": did you mean skbiasamp.metrics:{known[close[0]]}?" if close else "."
        raise argparse.ArgumentTypeError(
            f"must name the class of an auditor, as package.module:Class; got {text!r}{end}"
        )
    if "" not in sys.path:
        sys.path.insert(0, "")  # a module beside the data, as with `python -m`
    try:
        name, options = _name_and_options(call)
        metric = getattr(importlib.import_module(module), name)
        if not issubclass(metric, BaseAuditor):
            raise TypeError("it is no subclass of BaseAuditor")
        auditor = metric(**options)
        auditor._validate_params()
        return auditor
    except (ImportError, AttributeError, SyntaxError, TypeError, ValueError) as error:
        raise argparse.ArgumentTypeError(
            f"must name the class of an auditor, as package.module:Class or "
            f"'package.module:Class(adjust=\"fdr\")'; got {text!r}: {error}"
        ) from error


def _name_and_options(call: str) -> tuple[str, dict[str, Any]]:
    """Return the name of a class and its parameters, which are literals: nothing is run."""
    match ast.parse(call, mode="eval").body:
        case ast.Name(name):
            return name, {}
        case ast.Call(ast.Name(name), [], keywords) if all(keyword.arg for keyword in keywords):
            options: dict[str, Any] = {}
            for keyword in keywords:
                try:
                    options[str(keyword.arg)] = ast.literal_eval(keyword.value)
                except ValueError:
                    text = f"{keyword.arg} must be a number, a text in quotes or None"
                    raise ValueError(text) from None
            return name, options
    raise ValueError("parameters go by name, such as Class(power=2)")


def _columns(text: str) -> list[str]:
    """Return names between commas; a name with commas stands in quotes, as in a CSV file."""
    try:
        return next(csv.reader([text], strict=True), [])
    except csv.Error:  # its first character is a quote
        return text.split(",")


def _model_or_columns(text: str) -> tuple[str | None, list[str]]:
    """Return a model's name and its columns, or columns alone: "a=b" in quotes is a column."""
    return _model(text) if "=" in text and text[0] != '"' else (None, _columns(text))


def _model(text: str) -> tuple[str, list[str]]:
    """Return a model's name and its columns."""
    model, _, columns = text.partition("=")
    names = _columns(columns)
    if not (model and names and all(names)):
        raise argparse.ArgumentTypeError(
            f"must be a model's name and its column, such as champion=predicted, or its columns, "
            f"such as champion=p1,p2; got {text!r}"
        )
    return model, names


class _Models(argparse.Action):
    """Keep the columns of each model by its name, however often the option is repeated."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option: Any = None) -> None:
        every = [*(getattr(namespace, self.dest) or {}).items(), *values]
        if len(every) > 1:  # a model without a name has that of its column
            every = [(model or ",".join(columns), columns) for model, columns in every]
        columns_of: dict[str | None, list[str]] = {}
        for model, columns in every:
            if model in columns_of:
                parser.error(f"argument {option}: the model {model!r} is named twice")
            columns_of[model] = columns
        setattr(namespace, self.dest, columns_of)


def _value(text: str, metavar: str = "NAME", **how: Any) -> dict[str, Any]:
    return {"metavar": metavar, "help": text, **how}


def _one_of(*choices: str, default: str | None, text: str) -> dict[str, Any]:
    return {"choices": choices, "default": default, "help": text}


def _flag(text: str) -> dict[str, Any]:
    return {"action": "store_true", "help": text}


_ON = (
    "check these metrics instead: a metric (leakage, dpa), one row of the summary ('DPA A->T'), "
    "{every}, or worst (of an audit, the worst pair of group and task)"
)
# By their place in the help; usage has them in this order.
_OPTIONS: dict[str, dict[str, dict[str, Any]]] = {
    "columns": {
        "--time": _value("dates, times, or text that begins with a date such as 2026-11-21"),
        "--target": _value("the label, or 0/1 columns", nargs="+"),
        "--prediction": _value("its prediction: labels or probabilities", nargs="+"),
        "--sensitive": _value("the sensitive feature", nargs="+"),
        "--sensitive-prediction": _value("the feature as predicted by the model", nargs="+"),
        "--weight": _value("weights of the audited rows", nargs=1),
        "--cluster": _value(
            "the person, image or family of a row: rows of one are resampled together", nargs=1
        ),
        "--positive": _value(
            "which of two classes is the positive one (default: the one that sorts last)"
        ),
        "--favourable": _value(
            "the class, or the tasks, that people want: impact ratios compare how often it is "
            "predicted (default: of the positive class, and nothing is said of disadvantage)",
            nargs="+",
        ),
        "--score": _value(
            "scores behind predictions, such as logits; probabilities are explained, too", nargs="+"
        ),
        "--given": _value(
            "strata, such as department: what they contribute to amplification, and within them",
            nargs="+",
        ),
        "--threshold": _value(
            "turn scores in --prediction into labels: positive from this score on, such as 0.5",
            "X",
            type=_finite,
        ),
    },
    "": {
        "test": _value("files of the audited rows; these come first", "TEST", nargs="+"),
        "--train": _value("files of the training labels", "TRAIN", nargs="+"),
        "--every": _one_of(
            *(*EVERY, "name"),
            default="month",
            text="length of a period (default: month); name: --time holds the names of periods",
        ),
        "--groups": _one_of(
            *GROUPS,
            default="intersection",
            text="groups of several sensitive columns: every combination of values (default), the "
            "values of each column, or 0/1 memberships",
        ),
        "--bins": _value(
            "cut sensitive columns of numbers into groups: age=18,25,40 makes four, under 18 to "
            "40 or more",
            "NAME=X,Y,...",
            nargs="+",
            type=_bins,
            default=[],
        ),
        "--missing": _one_of(
            *("error", "drop", "group", "bounds"),
            default="error",
            text="rows without a sensitive feature: stop (default), leave them out, make a group, "
            "or (audit) leave them out and say what they could change",
        ),
        "--min-rows": _value(
            'groups of fewer rows are one group together, "other (3 groups)" (default: every group '
            "stays)",
            "N",
            type=int,
        ),
        "--max-groups": _value(
            "how many groups are allowed (default: 100, and 20 if groups have fewer than 20 rows "
            "on average)",
            "N",
            type=int,
        ),
        "--auditor": _value(
            "run this metric instead of those that the columns allow; repeat for several. Its "
            "parameters may follow: 'MODULE:CLASS(adjust=\"fdr\")'",
            "MODULE:CLASS",
            type=_auditor,
            action="append",
        ),
        "--numeric": _flag(
            "target and prediction are numbers, such as prices or waiting times: compare means"
        ),
        "--reference": _value(
            "the model that the others are compared with (default: the first)", "MODEL"
        ),
        "--model-name": _value("name of the model, for the title of the report"),
        "--data-name": _value("name of the data (default: its files)"),
        "--seed": _value("seed of random numbers (default: 0)", "N", type=_seed, default=0),
        "--delimiter": _value(
            "character between the cells of text files, or tab (default: detected)",
            "C",
            type=_delimiter,
        ),
        "--encoding": _value(
            "encoding of text files, such as utf-16 or latin-1 (default: detected)", type=_encoding
        ),
        "--decimal": _one_of(
            *(".", ","), default=None, text="decimal sign of text files (default: detected)"
        ),
    },
    "texts: captions, answers of language models": {
        "--text": _value(
            "texts of the model; labels are read from them, in place of --prediction", nargs=1
        ),
        "--labels": _value(
            'JSON file with words for each label: {"dog": ["dog", "puppy"], "oven": ["oven", '
            '"/stove|cooker/"]}; what is between slashes is a regular expression',
            "FILE",
        ),
        "--target-text": _value(
            "texts of people, from which the true labels are read (default: 0/1 columns of "
            "--target, or those named as the labels in FILE)",
            nargs=1,
        ),
    },
    "what is written (the terminal shows a summary)": {
        "--html": _value("a page with pictures and explanations", "PATH"),
        "--json": _value("everything, for programs", "PATH"),
        "--markdown": _value("a section for a model card", "PATH"),
        "--folder": _value(
            "folder of compas-score.html and compas-classifier.html; it is made if it is new "
            "(default: here)",
            "FOLDER",
            default=".",
        ),
        "--port": _value(
            "port of the page (default: any that is free)", "N", type=_port, default=0
        ),
        "--no-browser": _flag("only print the address"),
        "--max-size": _value(
            "largest file, in megabytes (default: 1024)", "N", type=_megabytes, default=1024
        ),
    },
    "limit and exit code": {
        "--fail-above": _value(
            "exit with 1 if the confidence interval of directional amplification lies above X, "
            "with 3 if it lies on both sides; a number of 0 or more",
            "X",
            type=partial(_finite, least=0),
        ),
        "--limit": _value(
            "the same for both directions: what the model adds or takes must lie within X",
            "X",
            type=partial(_finite, least=0),
        ),
        "--inconclusive": _one_of(
            *("fail", "pass"),
            default=None,
            text="what an interval means that lies on both sides of the limit: fail ends with 3 "
            "(the default), pass with 0",
        ),
        "--on": _value(_ON.format(every="all (except sizes, which are never below 0)"), nargs="+"),
        "--allow-undefined": _flag("pass if there is no result to check, instead of exit code 2"),
    },
}
_OF_ROWS = (
    "test --target --prediction --sensitive --sensitive-prediction --weight --positive "
    "--favourable --groups --missing --bins --auditor --data-name --seed --delimiter --encoding "
    "--decimal --html --json --markdown --limit"
)
_OF_REPORT = (
    f"{_OF_ROWS} --train --cluster --threshold --min-rows --max-groups --numeric --text --labels "
    "--target-text --fail-above --inconclusive --on --allow-undefined"
)
# The options of each command, and those that it has an entry of its own for.
_OF_COMMAND = {
    "audit": f"{_OF_REPORT} --score --given --model-name",
    "compare": f"{_OF_REPORT} --reference",
    "over": f"{_OF_ROWS} --time --every --reference --model-name",
    "app": "--port --no-browser --max-size",
    "demo": "--folder",
}
_OF_MODELS = {"nargs": "+", "metavar": "MODEL=NAME", "type": _model, "action": _Models}
_OWN: dict[str, dict[str, dict[str, Any]]] = {
    "audit": {
        "--target": {
            "help": "the label, or 0/1 columns; without it, the labels of --train are compared "
            "with the predictions"
        }
    },
    "compare": {
        "--prediction": {
            **_OF_MODELS,
            "type": _model_or_columns,
            "help": "a model and the column of its prediction, labels or probabilities; 0/1 "
            "columns are separated by commas, and a name with commas stands in quotes, as in a "
            "CSV file. Without a model: the column in all files, of which "
            "each model has its own (TEST is MODEL=FILE), with the same rows unless there is "
            "--train and no --target",
        },
        "--sensitive-prediction": _OF_MODELS,
        "--text": {
            **_OF_MODELS,
            "help": "texts of a model and their column; labels are read from them, in place of "
            "--prediction",
        },
        "--fail-above": {
            "help": "exit with 1 if a model clearly amplifies more than the reference: the "
            "confidence interval of the difference in directional amplification lies above X, "
            "with 3 if it lies on both sides; a number of 0 or more"
        },
        "--on": {"help": _ON.format(every="all")},
    },
    "over": {
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
            "help": "exit with 1 if the confidence interval of the last period lies outside ±X, "
            "with 3 if it lies on both sides"
        },
    },
}
_USAGE = """\
skbiasamp {command} TEST [TEST ...] [--train TRAIN [TRAIN ...]]
         --target NAME [NAME ...] --prediction {model}NAME [{model}NAME ...]
         --sensitive NAME [NAME ...] [options]
       skbiasamp {command} TEST [TEST ...] --text {model}NAME --labels FILE
         [--target-text NAME] --sensitive NAME [NAME ...] [options]"""


def add_command(commands: Any, run: Callable[..., int]) -> None:
    """Add a command to the parser: `run_audit` is that of audit.

    Its text, from summary to examples, is the docstring of `run`.
    """
    name = run.__name__.removeprefix("run_")
    models = {"audit": "", "compare": "MODEL="}
    usage = _USAGE.format(command=name, model=models[name]) if name in models else None
    text = inspect.cleandoc(run.__doc__ or "")
    description, _, examples = text.partition("for example:\n")
    summary = description.partition("\n")[0].rstrip(".")
    command = commands.add_parser(
        name,
        usage=usage,
        help=summary[:1].lower() + summary[1:],
        description=description,
        epilog=examples and f"examples:\n{examples}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.set_defaults(run=run)
    own = _OWN.get(name, {})
    for title, known in _OPTIONS.items():
        names = [option for option in known if option in _OF_COMMAND[name].split()]
        place = command.add_argument_group(title) if title and names else command
        for option in names:
            place.add_argument(option, **known[option] | own.get(option, {}))
