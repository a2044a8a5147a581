"""What is said when an input is wrong: what was wrong, what was seen, what to do."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np
import pandas as pd

Names = tuple[Hashable, ...]
Array = np.ndarray[Any, Any]

MISSING = "(missing)"
GROUPS = ("intersection", "marginal", "indicator")
MISSING_POLICIES = ("error", "drop", "group")
DIRECTIONS = ("A->T", "T->A")


def plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    if isinstance(value, np.datetime64 | np.timedelta64):
        return pd.Series([value])[0]  # item() would give nanoseconds as an integer
    return value.item() if isinstance(value, np.generic) else value


def quote(names: Iterable[Hashable], most: int = 5) -> str:
    """Names as a person would list them."""
    names = list(names)
    shown = [repr(name) for name in names[:most]]
    if len(names) > most:
        shown.append(f"{len(names) - most} more")
    return shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + " and " + shown[-1]


def rows_of(n: float) -> str:
    """Say how many rows: '1 row', '4,980 rows'."""
    return f"{n:,.0f} row" + ("" if n == 1 else "s")


@contextmanager
def renamed(**names: str) -> Iterator[None]:
    """Let errors about labels name the parameters that their reader knows."""
    try:
        yield
    except (TypeError, ValueError) as error:
        text = re.sub("|".join(map(re.escape, names)), lambda found: names[found[0]], str(error))
        if type(error) not in (TypeError, ValueError) or text == str(error):
            raise
        raise type(error)(text) from error


def by_auditor(auditor: object) -> AbstractContextManager[None]:
    """Let errors about missing values say that the auditor has the parameter they name."""
    policies = [f"missing={policy!r}" for policy in MISSING_POLICIES]
    return renamed(**{one: f"auditor={type(auditor).__name__}({one})" for one in policies})


def check_instance(value: object, methods: Iterable[str], expected: str) -> None:
    """Raise if an estimator is a class, or something else; `expected` says of what kind it is."""
    if isinstance(value, type):
        kind = value.__name__
        raise TypeError(f"{expected}, and {kind} is a class: pass an instance, {kind}().")
    lacking = [method for method in methods if not hasattr(value, method)]
    if lacking:
        shown = repr(value) if isinstance(value, str) else type(value).__name__
        raise TypeError(f"{expected}, and {shown} has no {lacking[0]}.")


def check_auditor(value: object, name: str = "auditor") -> None:
    """Raise if something is no auditor."""
    check_instance(value, ("audit",), f"{name} must be an auditor, such as DirectionalAuditor()")


def check_option(name: str, value: object, allowed: Sequence[object]) -> None:
    """Raise if an option is not one of its values."""
    if not any(value is one or (isinstance(value, str) and value == one) for one in allowed):
        options = ", ".join(repr(option) for option in allowed)
        raise ValueError(f"{name} must be one of {options}. Got {value!r} instead.")


def check_train(y_train: object, sensitive_train: object) -> None:
    """Raise if only one side of the training labels was passed."""
    if (y_train is None) != (sensitive_train is None):
        lacking = "y_train" if y_train is None else "sensitive_train"
        raise ValueError(
            f"{lacking} is None: training labels are pairs of task and attribute, so pass both "
            "y_train and sensitive_train, or neither (the audited labels then take their place)."
        )


def check_frame_columns(named: Mapping[str, object], labels: Iterable[object]) -> None:
    """Raise where columns of a frame are named and something is missing, or passed twice."""
    if any(one is not None for one in labels):
        raise TypeError(
            "Columns of a frame were named, and labels passed as well: pass the frame first and "
            "name its columns (target=, prediction=, sensitive=, weight=), or pass arrays only."
        )
    lacking = [name for name in ("target", "sensitive") if name not in named]
    if lacking:
        raise ValueError(
            f"A frame needs target= and sensitive=, the columns of labels and of the protected "
            f"attribute: {quote(lacking)} is missing."
        )


def require_group_pred(present: bool, *, direction: str = "T->A") -> None:
    """Raise if predictions of the attribute are needed and absent."""
    if not present:
        raise ValueError(
            f"direction={direction!r} asks how the task biases the prediction of the protected "
            "attribute, so it needs that prediction: pass sensitive_pred. If your model does not "
            "predict the attribute, direction='A->T' is the one to measure."
        )


def require_task_pred(present: bool, *, metric: str, directed: bool = False) -> None:
    """Raise if predictions of the task are needed and absent."""
    if not present:
        raise ValueError(
            f"{metric} compares the task's labels with their predictions: pass y_pred."
            + " (Only direction='T->A' can do without.)" * directed
        )


def require_groups(names: Names, counts: Array, total: float, *, declared: bool) -> None:
    """Raise if there is nothing to compare: no group that some rows are in and some are not.

    Groups that are indicator columns were declared, and may be empty.
    """
    if not declared and not ((counts > 0) & (counts < total)).any():
        seen = [name for name, n in zip(names, counts, strict=True) if n > 0]
        who = f"one group only, {quote(seen)}" if len(seen) == 1 else "no groups to tell apart"
        raise ValueError(
            f"sensitive_features has {who}: amplification is a comparison between groups. Pass "
            "the column that tells the groups apart."
        )


def require_labels(soft: bool, *, metric: str, argument: str = "y_pred") -> None:
    """Raise if a metric of label sets is given probabilities."""
    if soft:
        raise ValueError(
            f"{metric} counts which labels occur together, and {argument} holds probabilities. "
            "Threshold them first."
        )


def first_row(mask: Array) -> str:
    mask = np.asarray(mask)
    n, first = int(mask.sum()), int(mask.argmax())
    return f"{rows_of(n)}, {'the first ' if n > 1 else ''}at position {first}"


def kind_of(name: Hashable) -> str:
    """Say of what kind a name is; those of two kinds are never the same class."""
    if isinstance(name, str):
        return "text"
    if isinstance(name, tuple):
        return "combinations"
    return "numbers" if isinstance(name, int | float) else type(name).__name__


def check_kinds(names: Names, other: Names, argument: str, other_argument: str) -> None:
    """Raise where '0' is compared with 0: they would silently be four classes."""
    if all(isinstance(name, tuple) for name in (*names, *other)):
        columns, other_columns = (
            [tuple(dict.fromkeys(column)) for column in zip(*one, strict=False)]
            for one in (names, other)
        )
        for column, other_column in zip(columns, other_columns, strict=False):
            check_kinds(column, other_column, argument, other_argument)
        return
    kinds, other_kinds = (
        sorted({kind_of(name) for name in one if name != MISSING}) for one in (names, other)
    )
    if kinds and other_kinds and set(kinds).isdisjoint(other_kinds):
        raise ValueError(
            f"{other_argument} holds {' and '.join(other_kinds)} ({quote(other)}) but {argument} "
            f"holds {' and '.join(kinds)} ({quote(names)}). Give both the same labels."
        )


def check_distinct(names: Names, argument: str) -> None:
    """Raise where two groups would get one name."""
    twice = [name for i, name in enumerate(names) if name in names[:i]]
    if twice:
        raise ValueError(
            f"groups='marginal' names groups column=value, and two groups of {argument} would be "
            f"{twice[0]!r}: give columns and values distinct names."
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
    if n >= 1:
        where = f"leave {'this' if n == 1 else 'these'} {rows_of(n)} out"
    else:  # a column, or rows of little weight
        where = f"leave {'them' if plural else 'it'} out"
    raise ValueError(
        f"{role}{'s' if plural else ''} {quote(unseen)} {'are' if plural else 'is'} in the audited "
        f"data but {'were' if plural else 'was'} not in the training labels, so "
        f"{'their' if plural else 'its'} training correlation is unknown. Fit on data that has "
        f"{'them' if plural else 'it'}, or {where}. (Training had {quote(known)}.)"
    )


def check_spelling(labels: Names, predictions: Names, argument: str, other: str) -> None:
    """Raise if a prediction is a label in another spelling: 'Yes' for 'yes', '1.0' for '1'."""
    spellings = {spelt(name): name for name in labels}
    for name in predictions:
        label = spellings.get(spelt(name))
        if label is not None and name not in labels and isinstance(name, str):
            raise ValueError(
                f"{other} holds {name!r} where {argument} holds {label!r}: to a program these are "
                "two labels. Spell them alike."
            )


def spelt(name: Hashable) -> str:
    """Return a name as text, the same for all of its spellings."""
    text = str(name).strip().casefold()
    return text.removesuffix(".0")


def check_columns(names: Names, expected: Names, argument: str, other: str) -> None:
    """Positions rule for columns too; a name at another position is an error."""
    shared = set(names) & set(expected)
    if len(shared) < len(names) and tuple(range(len(names))) in (names, expected):
        return  # one of them has no names
    moved = (
        i
        for i, (a, b) in enumerate(zip(names, expected, strict=True))
        if a != b and (a in shared or b in shared)
    )
    at = next(moved, None)
    if at is not None:
        raise ValueError(
            f"{argument} has the columns of {other} in another order (column {at}: {names[at]!r} "
            f"and {expected[at]!r}). Columns are matched by position: reorder one of them."
        )


def check_table(table: pd.DataFrame, groups: Names, tasks: Names, name: str) -> Array:
    """Return a user's table of groups × tasks as numbers, in the order of the data."""
    if not isinstance(table, pd.DataFrame):
        raise TypeError(
            f"{name} must be a pandas DataFrame with a row for every group and a column for every "
            f"task, so that nothing depends on their order. Got {type(table).__name__} instead."
        )
    positions = []
    for kind, wanted, present in (("group", groups, table.index), ("task", tasks, table.columns)):
        position = {plain(label): i for i, label in enumerate(present)}
        lacking = [one for one in wanted if one not in position]
        if lacking:
            raise ValueError(
                f"{name} must have a row for every group and a column for every task, and lacks "
                f"{kind} {quote(lacking)} (it has {quote(position)})."
            )
        if len(position) < len(present):
            raise ValueError(f"{name} names a {kind} twice.")
        positions.append([position[one] for one in wanted])
    try:
        values = np.asarray(table, dtype=float)[np.ix_(*positions)]
    except (TypeError, ValueError):
        raise ValueError(f"{name} must hold numbers, and none may be missing.") from None
    allowed = np.isin(values, (-1, 0, 1)) if name == "sign" else (values >= 0) & (values <= 1)
    if not allowed.all():
        meant = "-1, 0 or 1" if name == "sign" else "a conditional probability in [0, 1]"
        raise ValueError(f"{name} must hold {meant} for every pair, got {values[~allowed][0]:.6g}.")
    return values


def too_many_combinations(most: int, size: int) -> ValueError:
    """Return the error for a set of combinations that grows out of hand."""
    return ValueError(
        f"combinations='all' finds more than {most:,} sets of up to {size} tasks. Bound them with "
        "max_size or min_count, or use combinations='observed'."
    )


def check_selection(wanted: Any, known: Names, role: str) -> Names:
    """Return the chosen groups or tasks."""
    names = (wanted,) if isinstance(wanted, str) else tuple(wanted)
    unknown = [name for name in names if name not in known]
    if unknown or not names or len(set(names)) < len(names):
        said = f"{quote(unknown)} is not among them" if unknown else f"got {wanted!r}"
        raise ValueError(f"{role}s must name some of {quote(known)}, each once: {said}.")
    return names


def check_runs(y_preds: Any, sensitive_preds: Any) -> None:
    """Raise if there are no runs to compare."""
    if not isinstance(y_preds, list | tuple) or len(y_preds) < 2:
        seen = len(y_preds) if isinstance(y_preds, list | tuple) else type(y_preds).__name__
        raise ValueError(
            f"y_preds must be a list with the predictions of two runs or more, got {seen}: the "
            "spread between runs cannot be seen in one. Use audit for a single run."
        )
    if sensitive_preds is not None and len(sensitive_preds) != len(y_preds):
        raise ValueError(
            f"sensitive_preds has {len(sensitive_preds)} runs but y_preds has {len(y_preds)}."
        )
