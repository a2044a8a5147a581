"""A run: models measured on the same rows and resamples, with the interval and tests of each."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Protocol

import numpy as np

from skbiasamp._input.checks import Array
from skbiasamp._utils.random import generator
from skbiasamp.counts.contingency import Contingency
from skbiasamp.counts.several_models import LABELS, of_model
from skbiasamp.inference.changes import (
    RowsOfPairs,
    changed_clusters,
    changed_rows,
    pairs_per_changed_row,
    units,
)
from skbiasamp.inference.hypothesis_tests import with_tests
from skbiasamp.inference.independent_signs import (
    NO_DOUBT,
    Doubt,
    Signs,
    doubted,
    signs_of,
)
from skbiasamp.inference.influence import covariances_of, pair_variances, row_influence
from skbiasamp.inference.intervals import (
    Bounds,
    analytic,
    of_sizes,
    percentiles,
    predicted_interval,
    widen_degenerate,
    with_errors_of_base,
    with_few_units,
)
from skbiasamp.inference.pairs import Pairs
from skbiasamp.inference.resamples import Drawn, measure_resamples
from skbiasamp.inference.student import degrees_of_freedom, rows_of_largest


class IntervalOptions(Protocol):
    """The options of an auditor that say how intervals are made."""

    interval: str | None
    confidence_level: float
    n_resamples: int
    simultaneous: bool
    adjust: str | None
    random_state: Any
    n_jobs: int | None


@dataclass(frozen=True, eq=False)
class Measured:
    """What was found of a model: its pairs, and the estimate's signs, interval and test.

    `cells` are the rows in terms of the pairs' tasks. `drawn` is what resamples say, if the
    interval is made of them.
    """

    pairs: Pairs
    cells: Contingency
    signs: Signs
    drawn: Drawn | None = None
    bounds: Bounds | None = None

    @cached_property
    def estimate(self) -> float:
        """What the verdict is about."""
        return float(self.pairs.estimate(self.signs.used))

    @cached_property
    def is_unknown(self) -> bool:
        """Whether there can be no interval: nothing is defined, or rows cannot be drawn."""
        pairs = self.pairs
        # Rows of sums cannot be drawn, and without rates there is no other way.
        unknown_how = self.cells.summed == "tasks" and pairs.rates is None
        infinite = pairs.growth is not None and not np.isfinite(pairs.value)
        return bool(np.isnan(pairs.delta).all() or unknown_how or infinite)

    @property
    def is_known(self) -> bool:
        """Whether there is an interval."""
        return self.bounds is not None and not self.is_unknown

    @property
    def has_influence(self) -> bool:
        """Whether it is known how much each row moves the estimate."""
        pairs = self.pairs
        return pairs.rates is not None and pairs.growth is None and self.cells.summed != "tasks"

    @cached_property
    def influence(self) -> Array:
        """How much each row moves the estimate."""
        slopes = self.pairs.estimate_gradient(self.signs.used)
        return row_influence(self.cells, self.pairs, slopes, centred=True)

    @cached_property
    def doubt(self) -> Doubt:
        """How far signs may be wrong, or share noise with changes."""
        return self.signs.doubt(self.pairs)


def measure_models(
    measure: Callable[[Contingency], Pairs],
    cells: Contingency,
    train: Contingency | None,
    options: IntervalOptions,
    *,
    check: Callable[[Pairs], None],
    fewest: int,
) -> dict[str, Measured]:
    """Measure every model on the same cells, and on the same resamples of them: a run.

    `train` gave the signs; None: the audited labels did. `check` may refuse the pairs of the first
    model. Cells of one model alone have the name "".
    """
    models: dict[str, Measured] = {}
    views = _views(cells)
    for model, view in views.items():
        pairs = measure(view)
        if not models:
            check(pairs)
        signs = signs_of(pairs, view if train is None else train, view, fewest=fewest)
        models[model] = Measured(pairs, pairs.seen_in(view), signs)
    if options.interval is None:
        return models
    drawn: dict[str, Drawn] = {}
    known = [model for model, own in models.items() if not own.is_unknown]
    if options.interval == "bootstrap" and known and cells.summed != "tasks":

        def measured(resample: Contingency) -> tuple[Drawn, ...]:
            every = zip(models.values(), _views(resample).values(), strict=True)
            return tuple(Drawn.of(measure(view), own.signs.used, own.pairs) for own, view in every)

        rng = generator(options.random_state)
        how: dict[str, Any] = {"random_state": rng, "n_jobs": options.n_jobs}
        every = measure_resamples(measured, cells, options.n_resamples, **how)
        drawn = dict(zip(views, every, strict=True))
    for model, own in models.items():
        own = replace(own, drawn=drawn.get(model) if model in known else None)
        train_of_model = views[model] if train is None else train
        models[model] = replace(own, bounds=interval_and_tests(own, train_of_model, options))
    return models


def _views(cells: Contingency) -> dict[str, Contingency]:
    """Return the cells of each model; what is counted of the labels alone is counted once."""
    if not cells.models:
        return {"": cells}
    if not cells.indicator and cells.has("task"):
        cells.joint("group", "task")
        for side in LABELS:
            cells.count(side)
    return {model: of_model(cells, model) for model in cells.models}


def unknown(pairs: Pairs, value: float, sign: Array) -> Bounds:
    """Return an interval without ends."""
    nothing = np.full((2, *pairs.delta.shape), np.nan)
    statistics = {"standard_error": np.nan}
    return Bounds(nothing, value, np.full(2, np.nan), statistics, sign, p_value=nothing[0])


def interval_and_tests(own: Measured, train: Contingency, options: IntervalOptions) -> Bounds:
    """Return the bounds that the verdict is about, as wide as few rows need, with their tests.

    They are those of resamples, or of the delta method if there are none.
    """
    pairs, cells, drawn, level = own.pairs, own.cells, own.drawn, options.confidence_level
    if own.is_unknown:
        return unknown(pairs, own.estimate, own.signs.used)
    changed = changed_rows(cells, pairs)
    unit = units(cells, changed, changed_clusters(cells, pairs, changed))
    rows = RowsOfPairs(changed if pairs.in_rows else None, unit, level)
    if drawn is None:
        bounds = analytic(cells, pairs, own.signs.used, level)
    else:
        simultaneous = options.simultaneous
        bounds = percentiles(drawn, pairs, own.signs.used, rows, simultaneous=simultaneous)

    per_row = partial(pairs_per_changed_row, cells, pairs, changed)
    bounds = widen_degenerate(bounds, pairs, rows, per_row)
    if own.has_influence:
        bounds = with_few_units(bounds, pairs, [(cells, pairs)], lambda: own.influence, level)
    bounds = with_errors_of_base(bounds, pairs, train, level)
    doubt = own.signs.doubt(pairs, bounds.ends)
    bounds = bounds._replace(ends=doubted(bounds.ends, doubt, NO_DOUBT))
    if own.signs.are_idle(pairs):
        bounds = bounds._replace(ends=np.full(2, np.nan))
    if bounds.ends[1] < 0:  # does it reduce, or reverse?
        reach = predicted_interval(cells, pairs, bounds.sign, level)
        bounds = bounds._replace(statistics=bounds.statistics | reach)
    counted = None
    independent = cells.whole and cells.clusters is None
    if rows.changed is not None and pairs.rates is not None and independent:
        counted = *rows.changed, pairs.n
    n_resamples = None if drawn is None else options.n_resamples
    bounds = with_tests(bounds, pairs, counted, level, n_resamples)
    if pairs.rates is not None and pairs.growth is None and not cells.soft("task"):
        most = pairs.per_row  # no rate changes by more than 1
        bounds = bounds._replace(
            pairs=np.clip(bounds.pairs, -most, most),
            every=None if bounds.every is None else np.clip(bounds.every, -most, most),
        )
    if not pairs.size:
        return bounds
    # The size of a change that may go either way may be 0.
    least = {"value_low": max(bounds.statistics["value_low"], 0.0)}
    return bounds._replace(
        pairs=np.stack(of_sizes(*bounds.pairs)),
        statistics=bounds.statistics | least,
        every=None if bounds.every is None else np.stack(of_sizes(*bounds.every)),
    )


def covariances(models: Sequence[Measured]) -> Array:
    """Return the covariances of the estimates of models, by resampled rows."""
    draws = [model.drawn.estimate for model in models if model.drawn is not None]
    if draws:
        return np.atleast_2d(np.cov(np.stack(draws)))
    if not all(model.is_known for model in models):
        return np.full((len(models), len(models)), np.nan)
    return covariances_of(models[0].cells, np.stack([model.influence for model in models]))


def degrees_of_rows(models: Sequence[Measured], others: Sequence[Measured] = ()) -> float:
    """Return the degrees of freedom of the variance by rows of a mean or of a difference."""
    if not all(model.is_known and model.has_influence for model in models):
        return math.inf
    means = [np.mean([model.influence for model in own], 0) for own in (models, others) if own]
    first = models[0]
    df = degrees_of_freedom(first.cells, lambda: np.asarray(means[0] - sum(means[1:])))
    return min(df, rows_of_largest(first.signs.used, first.pairs, first.cells))


def shared_rows_of_pairs(models: Sequence[Measured]) -> Array:
    """Return the mean covariance of each pair's amplification in several runs."""
    if models[0].drawn is not None:
        every = [model.drawn.moved for model in models if model.drawn is not None]
        total = np.sum(every, axis=0).var(axis=0, ddof=1)
        own = sum(draws.var(axis=0, ddof=1) for draws in every)
    else:
        known = [(model.cells, model.pairs) for model in models]
        slopes = models[0].pairs.slopes ** 2
        total = slopes * pair_variances(*known, factors=(1.0,) * len(known))
        own = sum(slopes * pair_variances(counted) for counted in known)
    n = len(models)
    return np.asarray(np.maximum((total - own) / (n * (n - 1)), 0.0))
