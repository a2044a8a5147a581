"""Checks of what Displays are given: tables, names, numbers, axes and drawing options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from skbiasamp._input.checks import Array, check_count
from skbiasamp._input.errors import InputError, InputTypeError, quote


def as_floats(column: Any, name: str = "table") -> Array:
    """Return numbers, where None is NaN."""
    try:
        return np.asarray(column, dtype=float)
    except (TypeError, ValueError, OverflowError):
        where = getattr(column, "name", None)
        text = "{name} must hold numbers{where}: what they are drawn by."
        raise InputTypeError(
            text, name=name, where="" if where is None else f" in column {where!r}"
        ) from None


def as_number(value: Any, name: str) -> float | None:
    """Return a number, None if there is none to draw."""
    try:
        return None if value is None else float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputTypeError(
            "{name} must be a number; got {seen!r}.", name=name, seen=value
        ) from None


def drawn_columns(frame: object) -> list[Any]:
    """Return the columns of a data frame; anything else has none."""
    return list(frame.columns) if isinstance(frame, pd.DataFrame) else []


def check_drawable(
    frame: object,
    *,
    says: str,
    instead: str,
    numbers: Sequence[str],
    names: Sequence[str] = (),
    name: str = "table",
) -> None:
    """Raise unless something is a data frame with columns of numbers and of names."""
    needed = (*names, *numbers)
    present = drawn_columns(frame)
    lacking = [column for column in needed if column not in present]
    if not isinstance(frame, pd.DataFrame) or lacking:
        raise InputError(
            "{name} {says}, and lacks the columns {lacking}. {instead}",
            name=name,
            says=says,
            lacking=quote(sorted(lacking)),
            instead=instead,
        )
    twice = [column for column in present if present.count(column) > 1]
    if twice:
        raise InputError("{name} has two columns named {column!r}.", name=name, column=twice[0])
    for column in numbers:
        as_floats(frame[column], name)
    for column in names:
        text = "{name} must hold names in column {column!r}, such as text or numbers"
        try:
            set(frame[column])
        except TypeError:
            raise InputTypeError(text + ".", name=name, column=column) from None
        if frame[column].isna().any():
            raise InputError(text + "; some are missing.", name=name, column=column)


def check_kind(value: object, kind: type, made_by: str, instead: str = "") -> None:
    """Raise unless a Display is given what it draws."""
    if not isinstance(value, kind):
        text = "{made_by}, got {seen}.{instead}"
        raise InputTypeError(
            text, made_by=made_by, seen=type(value).__name__, instead=instead and f" {instead}"
        )


def check_name_list(name: str, value: object) -> tuple[Any, ...]:
    """Return names of columns."""
    if isinstance(value, str) or not isinstance(value, Sequence | pd.Index):
        text = "{name} must be a list of names; got {seen!r}."
        raise InputTypeError(text, name=name, seen=value)
    return tuple(value)


def check_most(name: str, value: object) -> None:
    """Raise if something is no number of rows to draw; None draws all."""
    if value is not None:
        check_count(name, value)


def with_defaults(defaults: Mapping[str, Any], given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return drawing options, those of the user last."""
    if given is None:
        return {**defaults}
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        text = "Options of matplotlib must be a dict of argument names and values; got {seen!r}."
        raise InputTypeError(text, seen=given)
    return {**defaults, **given}
