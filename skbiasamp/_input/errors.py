"""Errors about the input: they name the parameters, columns or options of their reader."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial, wraps
from numbers import Integral
from string import Formatter
from typing import Any, ParamSpec, TypeVar

import numpy as np
import pandas as pd

from skbiasamp._utils.formatting import printable

P = ParamSpec("P")
R = TypeVar("R")

# Where the columns of a frame go: the option that names them, and the parameter.
PARAMETER_OF = {
    "target": "y_true",
    "prediction": "y_pred",
    "sensitive": "sensitive_features",
    "sensitive_prediction": "sensitive_pred",
    "score": "y_score",
    "weight": "sample_weight",
    "cluster": "clusters",
    "given": "given",
}
# The options of the columns of labels and predictions, by the side they are.
OPTION_OF = {
    "task": "target",
    "task_pred": "prediction",
    "group": "sensitive",
    "group_pred": "sensitive_prediction",
    "weight": "weight",
    "cluster": "cluster",
}


# What a reader calls a parameter: a name, or a function of what follows the parameter's.
Called = str | Callable[[str], str]
Names = Mapping[str, Called]

_names: ContextVar[tuple[Names, ...]] = ContextVar("names", default=())
_NAME = re.compile(r"(\w+)((?:=|\[| column ).*)?\Z", re.DOTALL)


@contextmanager
def renaming(names: Names | None = None, /, **more: Called) -> Iterator[None]:
    """Let errors that are raised inside call parameters what their reader calls them.

    A name that is another parameter's, ``renaming(y_true="y_train")``, may get a name further out.
    """
    token = _names.set((*_names.get(), {**(names or {}), **more}))
    try:
        yield
    finally:
        _names.reset(token)


def called(name: str) -> str:
    """Return what the reader calls a parameter, ``y_pred``, or a part: ``y_pred column 'x'``."""
    for names in reversed(_names.get()):
        known = _NAME.match(name)
        base, rest = known.groups("") if known and name not in names else (name, "")
        shown = names.get(base, base)
        name = shown(rest) if callable(shown) else shown + rest
    return name


def worded(template: str, /, **data: object) -> str:
    """Return text in which parameters have the names that their reader knows.

    A placeholder of the template that is passed as a keyword is data: it is inserted once and
    never read again. ``name`` and ``other`` are passed too, and are names of parameters. Any other
    placeholder is itself a parameter (``{y_pred}``), or an option (``{missing='drop'}``).
    """
    parts = []
    for text, field, form, conversion in Formatter().parse(template):
        parts.append(text)
        if field is None:
            continue
        if field not in data:
            parts.append(called(field))
        elif field in ("name", "other"):
            parts.append(called(str(data[field])))
        else:
            value = spelled(data[field]) if conversion == "r" else data[field]
            parts.append(printable(format(value, form or "")))
    return "".join(parts)


class InputError(ValueError):
    """Say what is wrong with the input, in the names that its reader knows: see `worded`.

    Examples
    --------
    >>> raise InputError("{y_pred} must hold labels; got {seen!r}.", seen="{y_true}")
    Traceback (most recent call last):
    ...
    skbiasamp._input.errors.InputError: y_pred must hold labels; got '{y_true}'.
    """

    def __init__(self, template: str, /, **data: object) -> None:
        super().__init__(worded(template, **data))

    def begin_with(self, what: str) -> None:
        """Say first what the error is about: a file, or a model."""
        self.args = (f"{what}{self}",)

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), "{text}", text=str(self)), (), vars(self)


class InputTypeError(InputError, TypeError):
    """An `InputError` about the type of an input."""


def of_one_model(name: str, model: str) -> str:
    """Return what the predictions of one of several models are called."""
    return f"{name}s[{model!r}]"


@contextmanager
def of_the_model(model: str) -> Iterator[None]:
    """Let errors say which model's predictions they are about."""
    names = {name: of_one_model(name, model) for name in ("y_pred", "sensitive_pred")}
    try:
        with renaming(names):
            yield
    except InputError as error:
        if not any(text in str(error) for text in (repr(model), *map(called, names.values()))):
            error.begin_with(f"Predictions of {model!r}: ")
        raise


def of_columns(columns: Mapping[str, Any]) -> dict[str, str]:
    """Return what parameters are called if columns were named: "column 'age' (target)"."""
    names: dict[str, str] = {}
    for option, named in columns.items():
        several = list(named) if isinstance(named, list | tuple) else [named]
        names_columns = several and all(isinstance(column, str | Integral) for column in several)
        parameter = PARAMETER_OF.get(option, option)
        if parameter == option or not names_columns:  # errors about the name itself say the option
            continue
        texts = [f"column {column!r}" for column in several]
        shown = f"{texts[0]} ({option})" if len(several) == 1 else f"{option} ({quote(several)})"
        whole = {parameter: (option, shown)}
        whole |= {
            f"{parameter} {text}": (f"{option} {text}", f"{text} ({option})") for text in texts
        }
        for name, (of_option, otherwise) in whole.items():
            # The command line has names for options.
            names[name] = otherwise if called(of_option) == of_option else of_option
    if "y_pred" in names or "sensitive_features" in names:
        # Labels that no column was named for are asked for as a column.
        for option in ("target", "sensitive_prediction"):
            names.setdefault(PARAMETER_OF[option], option)
    return names


def columns_named(read: Callable[P, R]) -> Callable[P, R]:
    """Let errors name the columns of a frame that the function's options name."""

    @wraps(read)
    def named(*args: P.args, **kwargs: P.kwargs) -> R:
        with renaming(of_columns(kwargs)):
            return read(*args, **kwargs)

    return named


def fewer_groups(rest: str) -> str:
    """Return what estimators, which have no `max_groups`, ask for in its place."""
    return "20 or fewer: merge small ones"


def of_auditor(auditor: object) -> Names:
    """Return what parameters are called by estimators and scorers that have an auditor inside."""
    missing = f"auditor={type(auditor).__name__}(missing{{}})".format
    return {"y_train": "y", "y_true": "y", "max_groups": fewer_groups, "missing": missing}


# --------------------------------------------------------------------------- data as text


def plain(value: Any) -> Any:
    """Return a value as Python has it, without NumPy's types."""
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    if isinstance(value, np.datetime64 | np.timedelta64):
        return pd.Series([value])[0]  # item() would give nanoseconds as an integer
    return value.item() if isinstance(value, np.generic) else value


def spelled(value: Any) -> str:
    """Return the repr of a value, with escapes for text that looks like other text."""
    text = repr(value)
    return text if unicodedata.is_normalized("NFC", text) else ascii(value)


def quote(names: Iterable[Hashable], most: int = 5) -> str:
    """Return names as a person would list them."""
    names = list(names)
    texts = [spelled(name) for name in names[:most]]
    if len(names) > most:
        texts.append(f"{len(names) - most} more")
    return ", ".join(texts[:-1]) + " and " + texts[-1] if len(texts) > 1 else "".join(texts)


def meant(name: object, known: Iterable[object]) -> str:
    """Return the nearest known name as a question, or a full stop: the end of 'no column x'."""
    by_text = {str(value): value for value in known}
    close = difflib.get_close_matches(str(name), by_text, n=1)
    return f": did you mean {by_text[close[0]]!r}?" if close else "."


def rows_of(n: float) -> str:
    """Return a number of rows as text: '1 row', '4,980 rows'."""
    return f"{n:,.0f} row" + ("" if n == 1 else "s")


_line_of: ContextVar[Callable[[int], str]] = ContextVar("line", default=lambda row: "")
_count_of: ContextVar[Callable[[Any], str] | None] = ContextVar("count", default=None)


def first_row(mask: Any) -> str:
    """Return how many rows a mask has, and where the first is."""
    at = np.flatnonzero(mask)
    if (count := _count_of.get()) is not None:
        return count(at)
    first = f"{'the first ' if len(at) > 1 else ''}at position {at[0]}{_line_of.get()(at[0])}"
    return f"{rows_of(len(at))}, {first}"


@contextmanager
def numbered(line_of: Callable[[int], str]) -> Iterator[None]:
    """Let errors say in which line of its file a row is: ' (line 7 of the file)', or ''."""
    token = _line_of.set(line_of)
    try:
        yield
    finally:
        _line_of.reset(token)


@contextmanager
def counting(n: Any | None) -> Iterator[None]:
    """Let errors say how many rows they are about if each row stands for `n`, and has no position.

    None: it is not known how many.
    """
    token = _count_of.set(lambda at: "some rows" if n is None else rows_of(n[at].sum()))
    try:
        yield
    finally:
        _count_of.reset(token)
