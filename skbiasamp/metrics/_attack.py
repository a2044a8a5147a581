"""Attacks over the cells of a contingency: what is seen, and what is to be told.

Rows are split into folds and drawn anew as counts of cells.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from skbiasamp._cells import positive_position, side_of, take, with_sides
from skbiasamp._labels import Array, Codes, Labels, Members, Names, Side, codes_of
from skbiasamp._sums import everywhere, pair_sums
from skbiasamp.contingency import Contingency, SideName
from skbiasamp.metrics._quality import Quality

# So many 0/1 labels at most are held as all their patterns, so that flips move counts.
MOST_BITS = 12


@dataclass(frozen=True)
class Settings:
    """How attackers are trained and judged, and what becomes of their qualities."""

    attacker: Any
    quality: Quality
    equalize: str | None
    balanced: bool
    normalize: bool
    cv: int | None
    n_draws: int
    fold: bool = False
    n_jobs: int | None = None
    verbose: int = 0


@dataclass(frozen=True, eq=False)
class Attack:
    """What an attacker sees in each cell, and what it has to tell.

    Attributes
    ----------
    cells : the rows it is judged on.
    inputs : the distinct inputs, as numbers.
    seen : which input each cell has.
    told : the classes that cells have, for all targets; or numbers.
    n_classes : of each target; 0 for numbers.
    names : of the targets.
    n_bits : of how many 0/1 labels `inputs` holds all patterns; 0 where it does not.
    soft : whether inputs are scores.
    lessons : the same attack on training rows, where the attacker learns there.
    """

    cells: Contingency
    inputs: Array
    seen: Array
    told: Labels | Array
    n_classes: int
    names: Names
    n_bits: int = 0
    soft: bool = False
    lessons: Attack | None = None

    @property
    def single(self) -> bool:
        """Whether every cell is an input of its own."""
        return len(np.unique(self.seen)) == len(self.seen)

    @cached_property
    def of_rows(self) -> Array:
        """The input of each cell."""
        return self.inputs[self.seen]

    @cached_property
    def of_classes(self) -> Array:
        """Every input once for each class, which networks that share inputs can share."""
        return np.repeat(self.inputs, self.n_classes, axis=0)

    def tables(self, weight: Array) -> Array:
        """Return the weight of each input and class: (..., targets, inputs, classes)."""
        assert isinstance(self.told, Codes | Members)
        flat = weight.reshape(-1, weight.shape[-1])
        n_inputs, width = len(self.inputs), self.told.width
        inputs = Codes(self.seen, n_inputs)
        if isinstance(self.told, Codes):
            sums = pair_sums(inputs, self.told, flat)[:, None]
        elif self.single:
            sums = np.zeros((len(flat), width, n_inputs, 2))
            held = self.told.matrix.T
            sums[:, :, self.seen, 1] = flat[:, None] * held
            sums[:, :, self.seen, 0] = flat[:, None] * ~held
        else:
            present = pair_sums(inputs, self.told, flat)
            absent = pair_sums(inputs, everywhere(len(self.seen)), flat) - present
            sums = np.moveaxis(np.stack([absent, present], axis=-1), 2, 1)
        return sums.reshape(*weight.shape[:-1], *sums.shape[1:])


# --------------------------------------------------------------------------- making


def hard(side: Side, truth: Side, positive: int | None = 1) -> Side:
    """Return predictions as labels of the same kind as the truth.

    `positive` is the position of the class that a single column of scores is about.
    """
    if truth.soft or not side.is_matrix or (truth.is_matrix and not side.soft):
        return side
    scores = side.labels.dense(slice(None), float)
    middle = 0.5 if scores.min() >= 0 and scores.max() <= 1 else 0.0
    if truth.is_matrix:
        return replace(side, labels=Members(scores >= middle))
    if scores.shape[1] > 1:
        codes = scores.argmax(axis=1)
    else:
        codes = ((scores[:, 0] >= middle) == (positive != 0)).astype(int)
    return replace(side, labels=Codes(codes, len(side.names)))


def make_attack(
    cells: Contingency,
    seen: SideName,
    told: SideName,
    *,
    flips: bool,
    train: Contingency | None = None,
    numbers: bool = False,
    features: Array | None = None,
) -> Attack:
    """Return the attack that tells one side of cells from another.

    `flips` says that the labels that are seen will be perturbed. With `numbers` what is told is
    taken as numbers, whatever it looks like. `features`, a row a cell, are seen in place of a side.
    """
    every = [cells] if train is None else [cells, train]
    sides = [side_of(one, seen) for one in every]
    n_bits, soft = 0, sides[0].soft
    if features is not None:
        soft = True
        inputs, joined = np.unique(features, axis=0, return_inverse=True)
        codes = [joined.reshape(-1)]
    elif not sides[0].is_matrix:
        n = len(sides[0].names)
        inputs = np.eye(n) if n != 2 else np.arange(2.0)[:, None]
        codes = [codes_of(side) for side in sides]
    else:
        matrices = [side.labels.matrix for side in sides if isinstance(side.labels, Members)]
        starts = np.cumsum([0, *(len(matrix) for matrix in matrices)])
        width = sides[0].labels.width
        if flips and not soft and width <= MOST_BITS:
            n_bits, powers = width, 1 << np.arange(width)
            inputs = (np.arange(1 << width)[:, None] & powers > 0).astype(float)
            joined = np.concatenate([matrix @ powers for matrix in matrices])
        elif flips:  # each row has its own perturbation
            inputs = np.concatenate(matrices).astype(float)
            joined = np.arange(len(inputs))
        else:
            inputs, joined = np.unique(np.concatenate(matrices), axis=0, return_inverse=True)
            inputs, joined = inputs.astype(float), joined.reshape(-1)
        codes = [joined[low:high] for low, high in pairwise(starts)]
    role: SideName = "task" if told.startswith("task") else "group"
    found = []
    for one, code in zip(every, codes, strict=True):
        side, truth = side_of(one, told), side_of(one, role)
        if numbers or truth.soft:
            attack = Attack(one, inputs, code, as_numbers(side), 0, (role,), n_bits, soft)
        else:
            side = hard(side, truth, positive_position(one, role))
            if side.is_matrix:
                names, n_classes = (one.tasks if role == "task" else one.groups), 2
            else:
                names, n_classes = ("(all)",), len(side.names)
            attack = Attack(one, inputs, code, side.labels, n_classes, names, n_bits, soft)
        found.append(attack)
    return found[0] if train is None else replace(found[0], lessons=found[1])


def as_numbers(side: Side) -> Array:
    if side.is_matrix:
        if side.labels.width > 1:
            raise ValueError(
                f"quality='inverse_rmse' is about one number a row, and there are "
                f"{side.labels.width} columns: pass one of them, or use another quality."
            )
        return side.labels.column(0)
    if any(isinstance(name, str | tuple) for name in side.names):
        raise ValueError(
            f"quality='inverse_rmse' is about numbers, and the labels are {side.names[0]!r}, ...: "
            "use quality='accuracy'."
        )
    return np.array([float(name) for name in side.names])[codes_of(side)]  # type: ignore[arg-type]


def labels_alone(cells: Contingency) -> Contingency:
    """Return cells without their predictions."""
    return with_sides(cells, {name: side_of(cells, name) for name in ("group", "task")})


def expanded(cells: Contingency) -> Contingency:
    """Return one cell a row, so that each row can be perturbed by itself."""
    if not cells.whole or (cells.weight <= 1).all():
        return cells
    rows = np.repeat(np.arange(cells.n_cells), cells.weight.astype(int))
    return take(cells, rows, np.ones(len(rows)))


# --------------------------------------------------------------------------- drawing


def split(cells: Contingency, n_folds: int, n_draws: int, rng: np.random.Generator) -> Array:
    """Put every row into one of the folds at random: (draws, folds, cells), counts of rows."""
    counts = cells.weight.astype(np.int64) if cells.whole else np.ones(cells.n_cells, np.int64)
    if 8 * cells.n_cells < counts.sum():
        shares = np.full(n_folds, 1 / n_folds)
        folds = rng.multinomial(counts, shares, size=(n_draws, cells.n_cells))
        return np.moveaxis(folds, -1, 1)
    owner = np.repeat(np.arange(cells.n_cells), counts)
    folds = np.empty((n_draws, n_folds, cells.n_cells), dtype=np.int64)
    for one in folds:
        code = rng.integers(n_folds, size=len(owner)) * cells.n_cells + owner
        one[:] = np.bincount(code, minlength=one.size).reshape(one.shape)
    return folds


def redraw(folds: Array, rng: np.random.Generator) -> Array:
    """Draw the rows of each fold anew, with replacement: a row's duplicates stay in its fold."""
    sizes = folds.sum(axis=-1)
    n_cells = folds.shape[-1]
    if 8 * n_cells < sizes.max(initial=0):
        shares = folds / np.maximum(sizes, 1)[..., None]
        shares[sizes == 0] = 1 / n_cells  # of an empty fold nothing is drawn
        return rng.multinomial(sizes, shares)
    drawn = np.zeros(folds.shape, dtype=np.int64)
    for counts, out in zip(folds.reshape(-1, n_cells), drawn.reshape(-1, n_cells), strict=True):
        owner = np.repeat(np.arange(n_cells), counts)
        if len(owner):
            rows = owner[rng.integers(len(owner), size=len(owner))]
            out[:] = np.bincount(rows, minlength=n_cells)
    return drawn


def weighed(cells: Contingency, counts: Array) -> Array:
    return counts.astype(float) if cells.whole else counts * cells.weight
