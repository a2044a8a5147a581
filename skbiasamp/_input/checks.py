"""Checks of options, names of groups and tasks, columns and tables."""

from __future__ import annotations

import inspect
import sys
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from datetime import datetime
from numbers import Integral, Real
from typing import Any

import numpy as np

from skbiasamp._input.errors import (
    PARAMETER_OF,
    InputError,
    InputTypeError,
    called,
    meant,
    quote,
    rows_of,
    worded,
)

Names = tuple[Hashable, ...]
Array = np.ndarray[Any, Any]

MISSING = "(missing)"


class NamedMissing(str):
    """Name of a real group or class that is called as missing values are."""


GROUPS = ("intersection", "marginal", "indicator")
MISSING_POLICIES = ("error", "drop", "group")
DIRECTIONS = ("A->T", "T->A")
# How many groups are allowed if nobody says: so many, or few if they have few rows each.
MOST_GROUPS, FEW_GROUPS, FEW_ROWS = 100, 20, 20
# Pairs of groups and tasks for which tables are made.
MOST_PAIRS = 10_000_000


def check_instance(value: object, methods: Iterable[str], expected: str) -> None:
    """Raise if an estimator is a class, or something else; `expected` says of what kind it is."""
    if isinstance(value, type):
        kind = value.__name__
        text = "{expected}; got the class {kind}. Pass an instance: {kind}()."
        raise InputTypeError(text, expected=expected, kind=kind)
    lacking = [method for method in methods if not hasattr(value, method)]
    if lacking:
        shown = repr(value) if isinstance(value, str) else type(value).__name__
        text = "{expected}; got {shown}, which has no method {lacking}."
        raise InputTypeError(text, expected=expected, shown=shown, lacking=lacking[0])


def require_auditor(value: object, name: str = "auditor") -> None:
    """Raise if something is no auditor."""
    check_instance(value, ("audit",), f"{name} must be an auditor, such as DirectionalAuditor()")


def check_option(name: str, value: object, allowed: Sequence[object]) -> None:
    """Raise if an option is not one of its values."""
    if not any(
        value is option or (isinstance(value, str) and value == option) for option in allowed
    ):
        options = ", ".join(repr(option) for option in allowed)
        text = "{name} must be one of {options}. Got {value!r} instead."
        raise InputError(text, name=name, options=options, value=value)


def check_count(name: str, value: object, least: int = 1) -> None:
    """Raise if something is no whole number, or too small."""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not whole or not least <= value < 2**63:  # type: ignore[operator]
        text = "{name} must be a whole number of {least} or more. Got {seen!r} instead."
        raise InputError(text, name=name, least=least, seen=value)


def check_number(name: str, value: object) -> None:
    """Raise if something is no number."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise InputTypeError("{name} must be a number; got {seen!r}.", name=name, seen=value)


def check_threshold(threshold: object) -> None:
    """Raise if a threshold of scores is neither None nor a finite number."""
    number = isinstance(threshold, Real) and not isinstance(threshold, bool)
    most = sys.float_info.max
    if threshold is not None and not (number and -most <= threshold <= most):  # type: ignore[operator]
        text = "{threshold} must be a finite number; got {seen!r}."
        raise InputError(text, seen=threshold)


def check_call(name: str, function: Any, *args: Any, **kwargs: Any) -> None:
    """Raise if a user's function does not take what it will be given."""
    try:
        signature = inspect.signature(function)
    except ValueError:  # of what is written in C nothing is known
        return
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        text = "{name} must take {n} arguments by position{more}; {error}."
        more = f", and {quote(kwargs)} by name" if kwargs else ""
        raise InputTypeError(text, name=name, n=len(args), more=more, error=error) from None


def check_train(y_train: object, sensitive_train: object) -> None:
    """Raise if only one side of the training labels was passed."""
    if (y_train is None) != (sensitive_train is None):
        raise InputError(
            "{name} is None. Pass both {y_train} and {sensitive_train}, or neither: without "
            "training labels, the audited labels take their place.",
            name="y_train" if y_train is None else "sensitive_train",
        )


def check_frame_columns(named: Mapping[str, object], labels: Iterable[object]) -> None:
    """Raise if columns of a frame are named and one is missing, or labels are passed as well."""
    if any(label is not None for label in labels):
        raise InputTypeError(
            "Columns of a frame were named, and labels or scores were passed as well. Pass the "
            "frame first and name its columns (target=, prediction=, sensitive=, score=, weight=), "
            "or pass arrays only."
        )
    check_names(named)


def check_names(named: Mapping[str, Any], *, table: bool = False) -> None:
    """Raise unless every option names a column of a frame, or a list of columns.

    A `table` of counts has columns of any name, and calls labels by names of its own.
    """
    lacking = [name for name in ("target", "sensitive") if named.get(name) is None]
    if named.get("prediction") is not None:
        lacking = lacking[lacking[:1] == ["target"] :]  # predictions alone can be measured
    if lacking and not table:
        raise InputError(
            "{lacking} must name a column of the frame; got None. A frame needs target= (the "
            "labels) and sensitive= (the sensitive feature).",
            lacking=" and ".join(f"{name}=" for name in lacking),
        )
    for option, value in named.items():
        only = option in ("weight", "count", "cluster")
        kinds = Hashable if table else str | Integral
        of_models = isinstance(value, dict) and "prediction" in option
        for columns in value.values() if of_models else [value]:
            names = columns if isinstance(columns, list | tuple) and not only else [columns]
            wrong = [type(name).__name__ for name in names if not isinstance(name, kinds)]
            if columns is not None and (wrong or not names):
                instead = (
                    " Names are text or whole numbers; labels themselves are passed as "
                    "{parameter}=, without a frame."
                )
                raise InputTypeError(
                    "{name} must be the name of a column{several}; got {seen}.{instead}",
                    name=option,
                    several="" if only else ", or a list of names",
                    seen=wrong[0] if wrong else "an empty list",
                    instead="" if table else worded(instead, parameter=PARAMETER_OF[option]),
                )
            twice = [] if table else [column for column, n in Counter(names).items() if n > 1]
            if twice:
                text = "{name} names column {twice!r} twice. Name each column once."
                raise InputError(text, name=option, twice=twice[0])


def no_column(column: object, known: Iterable[Hashable], name: str) -> InputError:
    """Return the error for a column that is not there; `name` is the option that names it."""
    known = list(known)
    return InputError(
        "{name} must name a column; there is no column {column!r}{meant} The columns are {known}.",
        name=name,
        column=column,
        meant=meant(column, known),
        known=quote(known, most=12),
    )


def require_groups(names: Names, counts: Array, total: float, *, declared: bool) -> None:
    """Raise if there is nothing to compare: no group that some rows are in and some are not.

    Groups that are indicator columns were declared, and may be empty.
    """
    if not declared and not ((counts > 0) & (counts < total)).any():
        present = [name for name, n in zip(names, counts, strict=True) if n > 0]
        raise InputError(
            "{sensitive_features} has {who}. Amplification compares groups: pass a column with "
            "two or more.",
            who=f"one group only, {quote(present)}"
            if len(present) == 1
            else "every row in every group",
        )


def kind_of_name(name: Hashable) -> str:
    """Return of what kind a name is; those of two kinds are never the same class."""
    if isinstance(name, str):
        return "text"
    if isinstance(name, tuple):
        return "combinations"
    if isinstance(name, datetime):
        return f"times with{'out' * (name.tzinfo is None)} a time zone"
    return "numbers" if isinstance(name, int | float) else type(name).__name__


def check_kinds(names: Names, other: Names, argument: str, other_argument: str) -> None:
    """Raise if '0' is compared with 0: they would silently be four classes."""
    if all(isinstance(name, tuple) for name in (*names, *other)):
        columns, other_columns = (
            [tuple(dict.fromkeys(column)) for column in zip(*every, strict=False)]
            for every in (names, other)
        )
        for column, other_column in zip(columns, other_columns, strict=False):
            check_kinds(column, other_column, argument, other_argument)
        return
    kinds, other_kinds = (
        sorted({kind_of_name(name) for name in every if name != MISSING})
        for every in (names, other)
    )
    if kinds and other_kinds and set(kinds).isdisjoint(other_kinds):
        raise InputError(
            "{other} holds {seen} but {name} holds {expected}. Give both the same labels.",
            name=argument,
            other=other_argument,
            seen=f"{_kinds_shown(other, other_kinds)} ({quote(other)})",
            expected=f"{_kinds_shown(names, kinds)} ({quote(names)})",
        )


def _kinds_shown(names: Names, kinds: list[str]) -> str:
    booleans = all(isinstance(name, bool) for name in names)  # which are equal to numbers
    return "booleans" if booleans else " and ".join(kinds)


def check_group_limit(n_groups: int, n_rows: float, max_groups: Any, n_columns: int) -> None:
    """Raise if there are more groups than people mean; `max_groups` None is the default rule."""
    few_rows = max_groups is None and n_groups > FEW_GROUPS and n_rows < FEW_ROWS * n_groups
    if not few_rows and n_groups <= (MOST_GROUPS if max_groups is None else max_groups):
        return
    raise InputError(
        "{sensitive_features} must hold groups; got {n_groups:,} {what} in {rows}. Is it an "
        "identifier, or a number to bin ({pandas.cut, KBinsDiscretizer})? If these are groups, "
        "pass {allowing}.",
        n_groups=n_groups,
        what="values" if n_columns == 1 else f"combinations or values of {n_columns} columns",
        rows=rows_of(n_rows),
        allowing=called(f"max_groups={n_groups}"),
    )


def check_known(
    names: Names, known: Names, *, role: str, rows: Mapping[Hashable, float] | None = None
) -> None:
    """Raise if audited groups or tasks were never seen in fit."""
    unseen = [name for name in names if name not in known]
    if not unseen:
        return
    n = sum(rows[name] for name in unseen) if rows is not None else 0
    plural = len(unseen) > 1
    pronoun = "them" if plural else "it"
    rows_out = f"{'this' if n == 1 else 'these'} {rows_of(n)}"
    raise InputError(
        "{role} {unseen} in the training labels, so {its} training correlation is unknown. Fit on "
        "data that has {it}, or leave {out} out. (Training had {known}.)",
        role=role + "s" * plural,
        unseen=f"{quote(unseen)} {'are' if plural else 'is'} in the audited data but "
        f"{'were' if plural else 'was'} not",
        its="their" if plural else "its",
        it=pronoun,
        out=rows_out if n >= 1 else pronoun,  # no rows: a column, or rows of little weight
        known=quote(known),
    )


def check_columns(names: Names, expected: Names, argument: str, other: str) -> None:
    """Raise if a name is at another position: columns are matched by position, as rows are."""
    # The columns 0 and 1 of a frame are "0" and "1" of its file.
    shown, wanted = tuple(map(str, names)), tuple(map(str, expected))
    if set(names) != set(expected) and set(shown) == set(wanted):
        names, expected = shown, wanted
    shared = set(names) & set(expected)
    if len(shared) < len(names) and tuple(range(len(names))) in (names, expected):
        return  # one of them has no names
    pairs = enumerate(zip(names, expected, strict=True))
    moved = ((i, a, b) for i, (a, b) in pairs if a != b and (a in shared or b in shared))
    for i, a, b in moved:
        raise InputError(
            "{name} has the columns of {other} in another order (column {i}: {a!r} and {b!r}). "
            "Columns are matched by position: reorder one of them.",
            name=argument,
            other=other,
            i=i,
            a=a,
            b=b,
        )


def check_order(columns: Names, other: Names) -> None:
    """Raise if groups are of the same columns in another order: (sex, age) are not (age, sex)."""
    if columns and other and len(columns) == len(other):
        check_columns(other, columns, "the audited groups", "the other")


def check_missing_names(mine: Names, theirs: Names) -> None:
    """Raise if one has a real group that is called as missing values are in the other."""
    kinds: dict[int, set[type]] = {}
    for name in (*mine, *theirs):
        for column, part in enumerate(name if isinstance(name, tuple) else (name,)):
            if part == MISSING:
                kinds.setdefault(column, set()).add(type(part))
    if any(len(types) > 1 for types in kinds.values()):
        raise InputError(
            "One contingency has missing values ({missing='group'}) and the other a group named "
            "{seen!r}: both would be one group. Rename that group.",
            seen=MISSING,
        )


def check_same_columns(names: Names, trained: Names) -> None:
    """Raise if the audited groups are of other columns than those of the training labels."""
    unnamed = tuple(range(len(names)))
    if len(names) != len(trained) or unnamed in (names, trained) or set(names) == set(trained):
        return
    raise InputError(
        "{sensitive_features} has the name{s} {seen}, and the training labels had {trained}. Pass "
        "the same sensitive feature to both. If it is the same, rename it in one of them.",
        s="s" * (len(names) > 1),
        seen=quote(names),
        trained=quote(trained),
    )


def check_selection(wanted: Any, known: Names, role: str) -> Names:
    """Return the chosen groups or tasks."""
    names: Names = (wanted,)
    if isinstance(wanted, Iterable) and not isinstance(wanted, str):
        scalar = isinstance(wanted, np.ndarray) and wanted.ndim == 0
        names = (wanted.item(),) if scalar else tuple(wanted)  # type: ignore[attr-defined]
    unknown = [name for name in names if not isinstance(name, Hashable) or name not in set(known)]
    if unknown or not names or len(set(names)) < len(names):
        raise InputError(
            "{name} must be some of {known}, each once; got {wanted!r}{meant}",
            name=role + "s",
            known=quote(known),
            wanted=wanted,
            meant=meant(unknown[0], known) if unknown else ".",
        )
    return names


def is_one(name: Any, known: Iterable[Hashable]) -> bool:
    """Return whether something is among names; what has no hash is not."""
    try:
        return name in frozenset(known)
    except TypeError:
        return False


def check_models(given: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of the models, which every prediction must have; `given` by parameter."""
    by_side = {name: own for name, own in given.items() if own is not None}
    for name, own in by_side.items():
        if not isinstance(own, Mapping):
            raise InputError(
                "{name} must be a dict of model names if other predictions are one, for example "
                "{{'champion': ..., 'challenger': ...}}; got {kind}.",
                name=name,
                kind=type(own).__name__,
            )
        wrong = [model for model in own if not isinstance(model, str) or not model]
        if wrong:
            raise InputError(
                "{name} names a model {seen!r}. Name models with text.", name=name, seen=wrong[0]
            )
        missing = [model for model, values in own.items() if values is None]
        if missing:
            text = "{name}[{seen!r}] is None: pass the predictions of every model."
            raise InputError(text, name=name, seen=missing[0])
    if not by_side:
        raise InputError("{y_preds} is None: pass the predictions of each model, by its name.")
    (first, models), *others = ((name, tuple(own)) for name, own in by_side.items())
    for name, own in others:
        if {*own} != {*models}:
            raise InputError(
                "{name} and {other} have different models: only one of them has {lacking}.",
                name=first,
                other=name,
                lacking=quote(sorted({*own} ^ {*models})),
            )
    if not models:
        text = "{name} is an empty dict: pass two models or more, by name."
        raise InputError(text, name=first)
    if len(models) < 2:
        raise InputError(
            "{name} holds one model, {seen}. A comparison needs two models or more; audit one "
            "by itself.",
            name=first,
            seen=quote(models),
        )
    return models
