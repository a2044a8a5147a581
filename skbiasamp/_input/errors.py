"""Errors about the input: they name the parameters, columns or options of their reader."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import wraps
from numbers import Integral
from string import Formatter
from typing import Any, ParamSpec, Self, TypeVar

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


@dataclass(frozen=True)
class Role:
    """Parameter or option that a text is about, and what follows its name.

    `shown` is what it is called if nobody gives it a name; by default its name in Python.
    """

    name: str
    rest: str = ""
    shown: str | None = None

    def __str__(self) -> str:
        return self.name + self.rest if self.shown is None else self.shown

    def named(self, names: Mapping[str, Spoken]) -> str | Role:
        """Return the role as a reader calls it."""
        whole = names.get(self.name + self.rest)
        shown = names.get(self.name) if whole is None else whole
        if shown is None:
            return self
        if callable(shown):
            return shown(self.rest)
        if isinstance(shown, Role):
            return shown
        rest = self.rest if whole is None or not self.rest else ""
        return Role(shown, rest) if shown.isidentifier() else shown + rest


# A name for a role: text, another role (an identifier, or a `Role`), or a function of the rest.
Spoken = str | Role | Callable[[str], str | Role]
Name = str | Role


class Said(str):
    """Text whose roles can still be given the names that its reader knows.

    A placeholder of the template that is passed as a keyword is data: it is inserted once and
    never read again. ``name`` and ``other`` are passed too, and are roles. Any other placeholder
    is a role itself: a parameter (``{y_pred}``) or an option (``{missing='drop'}``).
    """

    parts: tuple[str | Role, ...]

    def __new__(cls, template: str, /, **data: object) -> Self:
        return cls.of(tuple(_parts(template, data)))

    @classmethod
    def of(cls, parts: tuple[str | Role, ...]) -> Self:
        """Return text made of parts."""
        text = super().__new__(cls, "".join(map(str, parts)))
        text.parts = parts
        return text

    def named(self, names: Mapping[str, Spoken]) -> Said:
        """Return the text with those names."""
        return Said.of(tuple(p.named(names) if isinstance(p, Role) else p for p in self.parts))

    def __reduce__(self) -> tuple[Any, ...]:
        return Said.of, (self.parts,)


def _parts(template: str, data: Mapping[str, object]) -> Iterator[str | Role]:
    for text, field, form, conversion in Formatter().parse(template):
        yield text
        if field is None:
            continue
        if field not in data:
            name, equals, option = field.partition("=")
            yield Role(name, equals + option)
            continue
        value = data[field]
        if field in ("name", "other") and not isinstance(value, Role):
            yield Role(str(value))
        elif isinstance(value, Said):
            yield from value.parts
        elif isinstance(value, Role):
            yield value
        else:
            yield printable(format(spelled(value) if conversion == "r" else value, form or ""))


class InputError(ValueError):
    """Say what is wrong with the input, in the names that its reader knows.

    The template is that of `Said`. `speaking` gives names to its roles.

    Examples
    --------
    >>> raise InputError("{y_pred} must hold labels; got {seen!r}.", seen="{y_true}")
    Traceback (most recent call last):
    ...
    skbiasamp._input.errors.InputError: y_pred must hold labels; got '{y_true}'.
    """

    def __init__(self, template: str, /, **data: object) -> None:
        super().__init__(template if isinstance(template, Said) else Said(template, **data))

    def rename(self, names: Mapping[str, Spoken]) -> None:
        """Give names to the roles that have none yet."""
        self.args = (self.args[0].named(names),)

    def begin_with(self, what: str) -> None:
        """Say first what the error is about: a file, or a model."""
        self.args = (Said.of((what, *self.args[0].parts)),)


class InputTypeError(InputError, TypeError):
    """An `InputError` about the type of an input."""


@contextmanager
def speaking(names: Mapping[str, Spoken] | None = None, /, **more: Spoken) -> Iterator[None]:
    """Give the roles in errors that are raised inside the names that their reader knows.

    A name that is an identifier is another role, to which a `speaking` further out may give a
    name: ``speaking(y_true="y_train")``. Any other text is final, so the innermost wins.
    """
    try:
        yield
    except InputError as error:
        error.rename({**(names or {}), **more})
        raise


def role_of_model(name: str, model: str | None) -> Name:
    """Return what the predictions of one of several models are called."""
    return name if model is None else Role(f"{name}s", f"[{model!r}]")


@contextmanager
def of_the_model(model: str) -> Iterator[None]:
    """Let errors say which model's predictions they are about."""
    names = {name: role_of_model(name, model) for name in ("y_pred", "sensitive_pred")}
    try:
        with speaking(names):
            yield
    except InputError as error:
        if repr(model) not in error.args[0]:
            error.begin_with(f"Predictions of {model!r}: ")
        raise


def of_columns(columns: Mapping[str, Any]) -> dict[str, Spoken]:
    """Return what roles are called if columns of a frame were named: "column 'age' (target)"."""
    names: dict[str, Spoken] = {}
    for option, named in columns.items():
        several = list(named) if isinstance(named, list | tuple) else [named]
        names_columns = several and all(isinstance(column, str | Integral) for column in several)
        parameter = PARAMETER_OF.get(option, option)
        if parameter == option or not names_columns:  # errors about the name itself say the option
            continue
        texts = [f"column {column!r}" for column in several]
        shown = f"{texts[0]} ({option})" if len(several) == 1 else f"{option} ({quote(several)})"
        names[parameter] = Role(option, shown=shown)
        for text in texts:
            names[f"{parameter} {text}"] = Role(option, f" {text}", f"{text} ({option})")
    if "y_pred" in names or "sensitive_features" in names:
        # Labels that no column was named for are asked for as a column.
        for option in ("target", "sensitive_prediction"):
            names.setdefault(PARAMETER_OF[option], Role(option))
    return names


def columns_named(read: Callable[P, R]) -> Callable[P, R]:
    """Let errors name the columns of a frame that the function's options name."""

    @wraps(read)
    def named(*args: P.args, **kwargs: P.kwargs) -> R:
        with speaking(of_columns(kwargs)):
            return read(*args, **kwargs)

    return named


def fewer_groups(rest: str) -> str:
    """Return what estimators, which have no `max_groups`, ask for in its place."""
    return "20 or fewer: merge small ones"


def of_auditor(auditor: object) -> dict[str, Spoken]:
    """Return what roles are called by estimators and scorers that have an auditor inside."""
    kind = type(auditor).__name__
    names: dict[str, Spoken] = {"y_train": "y", "y_true": "y", "max_groups": fewer_groups}
    return names | {"missing": lambda rest: Role("auditor", f"={kind}(missing{rest})")}


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


def first_row(mask: Any) -> Role:
    """Return how many rows a mask has, and where the first is; its rest is where all are."""
    at = np.flatnonzero(mask)
    shown = f"{rows_of(len(at))}, {'the first ' if len(at) > 1 else ''}at position {at[0]}"
    return Role("where", " ".join(map(str, at)), shown)


def counting(n: Any | None) -> AbstractContextManager[None]:
    """Let errors say how many rows they are about if each row stands for `n`, and has no position.

    None: it is not known how many.
    """

    def where(rest: str) -> str:
        return "some rows" if n is None else rows_of(n[np.array(rest.split(), int)].sum())

    return speaking(where=where)
