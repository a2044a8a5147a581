"""Parts of cells: those of one model, of one task, and the tasks that people want.

Predictions of several models for the same rows are counted together: ``task_pred:champion`` beside
``task_pred:challenger``. What two models have in common then cancels in every resample.

If an engine counted tasks one by one, it is not known which occur together in a row. Whatever needs
rows raises an error: resamples, leakage, DPA, sets of tasks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from skbiasamp._input.checks import Array, is_one
from skbiasamp._input.classes import spelt
from skbiasamp._input.errors import InputError, meant, quote
from skbiasamp._input.labels import Codes, Members, Side, occurring, side_of_model
from skbiasamp.counts.cells import (
    BOTH,
    BOTH_SQUARE,
    SQUARE,
    C,
    Cells,
    SideName,
    distinct,
    selected,
    sides_of,
    with_sides,
)
from skbiasamp.counts.merging import ordered

LABELS: tuple[SideName, ...] = ("group", "task")


def of_model(cells: C, model: str) -> C:
    """Return the cells with the predictions of one model only; they stay apart as they are."""
    every = sides_of(cells)
    chosen: dict[SideName, Side] = {name: every[name] for name in LABELS if name in every}
    for side in ("task_pred", "group_pred"):
        labels = every.get(side_of_model(side, model))
        if labels is not None:
            chosen[side] = labels
    own_cells = with_sides(cells, chosen)
    # Labels are the same for all models: what is counted of them alone is counted once.
    computed = cells._computed.items()
    own_cells._computed = {sides: sums for sides, sums in computed if {*sides} <= {*LABELS}}
    if cells._ordered is True:
        # Models share one order and one set of cells, so that draws are the same for all.
        own_cells._ordered = True
    return own_cells


def alone(cells: C, model: str, *, known: bool = False) -> C:
    """Return the cells with the predictions of one model, as if there were no others.

    Names of groups and classes that only other models predict are left out, unless they are
    `known` from training labels. Cells stay apart as they are.
    """
    chosen = of_model(cells, model)
    chosen._ordered = None
    if known:
        return chosen
    sides = sides_of(chosen)
    for role in LABELS:
        own = {name: side for name, side in sides.items() if name.startswith(role)}
        first = next(iter(own.values()))
        names, fixed = first.names, not first.open or first.pos_label is not None
        if fixed or any(side.labels.width < len(names) for side in own.values()):
            continue
        every = [side.labels for name, side in sides_of(cells).items() if name.startswith(role)]
        mine = occurring([side.labels for side in own.values()])
        kept = np.flatnonzero(mine | ~occurring(every))
        if len(kept) < len(names):
            sides |= selected(chosen, role, kept)
    return with_sides(chosen, sides)


def together(cells: C, models: Sequence[str]) -> C:
    """Return the cells with the predictions of some models, in an order that only they decide."""
    every = sides_of(cells)
    sides: dict[SideName, Side] = {name: every[name] for name in LABELS if name in every}
    for model in models:
        sides |= {name: side for name, side in every.items() if name.partition(":")[2] == model}
    return ordered(distinct(with_sides(cells, sides)))


def check_model(model: Any, models: Sequence[str], parameter: str) -> str:
    """Return the name of a model, or raise if it is none of them."""
    if not models:
        raise InputError("These are predictions of one model, which has no name.")
    if not isinstance(model, str) or model not in models:
        raise InputError(
            "{name} must be one of the models, {models}; got {seen!r}{meant}",
            name=parameter,
            models=quote(models),
            seen=model,
            meant=meant(model, models),
        )
    return model


def decided(side: Side, *, classes: bool, positive: int | None = 1) -> Side:
    """Return scores as labels: those above the middle, or if rows have one of the `classes`, this.

    One column of scores is about the class at the position `positive`.
    """
    scores = side.labels.dense(slice(None), float)
    # Probabilities from 1/2 on are a label, logits from 0 on.
    above = scores >= (0.5 if scores.min() >= 0 and scores.max() <= 1 else 0.0)
    if not classes:
        return replace(side, labels=Members(above))
    codes = scores.argmax(axis=1)
    if scores.shape[1] == 1:
        codes = (above[:, 0] == (positive != 0)).astype(int)
    return replace(side, labels=Codes(codes, len(side.names)))


def differ(cells: Cells, side: str, model: str, other: str) -> Array:
    """Return in which cells two models predict different labels."""
    first, second = (sides_of(cells)[side_of_model(side, name)] for name in (model, other))
    if not cells.soft("task"):  # any other number is another prediction
        first, second = (
            decided(side, classes=side.one_label) if side.soft else side for side in (first, second)
        )
    differs: Array = (first.labels.keys() != second.labels.keys()).any(axis=1)
    return differs


# --------------------------------------------------------------------------- tasks


def of_task(cells: Cells, position: int) -> Cells:
    """Return the rows of one task: of a task alone everything is known.

    Probabilities become few values with the same number, sum and sum of squares, which is all that
    rates and their variances depend on.
    """
    key = "rows of task", position
    if key in cells._computed:
        known: Cells = cells._computed[key]
        return known
    every: dict[Any, Side] = dict(sides_of(cells))

    def column(name: Any, other: Any = None) -> Array:
        side = every.get(name) or every[other]
        return side.labels.column(position)

    n, true = cells.weight, column("task")
    if cells.has("task_pred"):
        pred, both = column("task_pred"), column(BOTH)
        square, both_square = column(SQUARE, "task_pred"), column(BOTH_SQUARE, BOTH)
        # Rows with the label and rows without it: of each, predictions have a number, a sum and
        # a sum of squares.
        parts = [
            two_values(true, both, both_square),
            two_values(n - true, pred - both, square - both_square),
        ]
        values, counts = (np.concatenate(part, axis=-1) for part in zip(*parts, strict=True))
        label = np.repeat([True, False], 3)
    else:
        counts, label = np.stack([true, n - true], axis=-1), np.array([True, False])
    cell, at = np.nonzero(counts)  # a cell for each group and value that occurs
    sides: dict[Any, Side] = {
        name: replace(side, labels=side.labels.take(cell))
        for name, side in every.items()
        if name.startswith("group")
    }
    names = (cells.tasks[position],)
    sides["task"] = Side(names, Members(label[at][:, None]), open=False)
    if cells.has("task_pred"):
        soft = cells.soft("task_pred")
        predicted = values[cell, at][:, None]
        sides["task_pred"] = Side(names, Members(predicted if soft else predicted == 1), open=False)
    made = Cells(counts[cell, at], sides, n_dropped=cells.n_dropped)
    cells._computed[key] = made
    return made


def two_values(n: Any, total: Any, square: Any) -> tuple[Array, Array]:
    """Return few values between 0 and 1, and how often each occurs.

    Together they are `n` numbers with the sum and the sum of squares given. Two values do it,
    except where the number of either would have to be a fraction: then one number is a third.

    Returns
    -------
    values, counts : arrays of shape (..., 3)
    """
    n, total, square = (np.asarray(values, dtype=float) for values in (n, total, square))
    n, total, square = np.broadcast_arrays(n, total, square)
    values, counts = np.zeros((*n.shape, 3)), np.zeros((*n.shape, 3))
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = total / n
        variance = np.maximum(square / n - mean**2, 0.0)
        # So many numbers at most may have the greater value, else the lesser would be negative.
        upper = np.floor(n * mean**2 / (variance + mean**2) * (1 + 1e-12) + 1e-9)
        upper = np.where(total > 0, np.clip(upper, 1, n), 0.0)
        lower = n - upper
        spread = np.sqrt(variance)
        high = np.where(lower > 0, mean + spread * np.sqrt(lower / upper), mean)
        low = np.where(lower > 0, mean - spread * np.sqrt(upper / lower), 0.0)
        # So few of them that they would have to be above the most: they are the most, and of the
        # others one is greater than the rest.
        full = (high > 1) & (lower > 0)
        rest, left = total - upper, square - upper
        mean = rest / lower
        spread = np.sqrt(np.maximum(left / lower - mean**2, 0.0))
        third = mean + spread * np.sqrt(lower - 1)
        beside = np.where(lower > 1, mean - spread / np.sqrt(lower - 1), 0.0)
    exact = (square == total) & (total == np.rint(total))  # all are 0 or 1
    values[..., 0] = np.where(exact, 1.0, np.where(full, 1.0, high))
    values[..., 1] = np.where(full, third, 0.0)
    values[..., 2] = np.where(exact, 0.0, np.where(full, beside, low))
    counts[..., 0] = np.where(exact, total, upper)
    counts[..., 1] = full & ~exact
    counts[..., 2] = n - counts[..., 0] - counts[..., 1]
    return np.clip(np.where(counts > 0, values, 0.0), 0.0, 1.0), counts


def outcomes_of(test: Cells, favourable: Any) -> list[bool | None]:
    """Return for each task whether people want it; None if that is unknown.

    If there are two classes, people may want the one that is no task.
    """
    if favourable is None:
        return [True] * len(test.tasks)
    wanted = wanted_outcomes(test, favourable)
    wanted = wanted if isinstance(wanted, list) else [wanted]
    if _outcomes(test) is test.tasks:
        return [True if is_one(task, wanted) else None for task in test.tasks]
    return [is_one(test.tasks[0], wanted)]


def wanted_outcomes(test: Cells, favourable: Any, *, numbers: bool = False) -> Any:
    """Return the class, or the list of classes or tasks, that people want, as rows name them.

    Of `numbers` people may want less.
    """
    known = (*test.tasks, "less") if numbers else _outcomes(test)
    wanted = [
        _named(name, known)
        for name in (favourable if isinstance(favourable, list) else [favourable])
    ]
    either = known is not test.tasks and not numbers and len({*wanted}) > 1
    if either or not wanted:
        raise InputError(
            "{favourable} must name {what}; got {seen!r}. There are {known}.",
            what="one of two classes" if either else "a class or task",
            seen=favourable,
            known=quote(known),
        )
    return wanted if isinstance(favourable, list) else wanted[0]


def _outcomes(test: Cells) -> Sequence[Any]:
    """Return what people may want: one of two classes, or some of the tasks."""
    side = test.naming
    return side.names if side.one_label and len(side.names) == 2 else test.tasks


def _named(name: Any, known: Sequence[Any]) -> Any:
    """Return the class or task that a user names; text names a number that is written so."""
    for other in known:
        if is_one(name, [other]):  # True and 1.0 name the class 1
            return other
    for other in known:
        if isinstance(name, str) and not isinstance(other, str) and spelt(other) == spelt(name):
            return other
    raise InputError(
        "{favourable} must name a class or task; got {seen!r}. There are {known}.",
        seen=name,
        known=quote(known),
    )


def outcome_names(test: Cells, wanted: list[bool | None]) -> tuple[Any, ...]:
    """Return the names of these outcomes: of two classes, the wanted one may be no task."""
    if False not in wanted:
        return test.tasks
    return tuple(name for name in test.naming.names if name not in test.tasks)
