"""Predictions of several models for the same rows, counted together.

Such cells hold a prediction a model: ``task_pred:champion`` beside ``task_pred:challenger``. What
two models have in common then cancels in every resample.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from skbiasamp._input.checks import Array
from skbiasamp._input.errors import InputError, meant, quote
from skbiasamp._input.labels import Codes, Members, Side, occurring, side_of_model
from skbiasamp.counts.cells import (
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
    if cells._ordered is cells:
        # Models share one order and one set of cells, so that draws are the same for all.
        own_cells._ordered = own_cells
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
