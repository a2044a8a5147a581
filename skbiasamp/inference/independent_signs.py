"""Signs that share no noise with the changes that they multiply.

An amplification is a sign times a change. If both come from the same rows, they share noise: a
rate that is high by chance has a positive sign, and the predictions are seldom as high. Then a
model that changes nothing seems to reduce. The sign of an association X that includes part of the
change C, X + λC with λ = −Cov(X, C) / Var(C), is uncorrelated with C. If labels and predictions
are exchangeable, λ is a half.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from skbiasamp._input.checks import Array
from skbiasamp.counts.cells import labels_of
from skbiasamp.counts.contingency import Contingency
from skbiasamp.counts.merging import differ_in_group
from skbiasamp.inference.influence import (
    Covariances,
    association_moments,
    covariances_of,
    mean_variance,
)
from skbiasamp.inference.pairs import Pairs, Rates

# Beyond so many standard errors an association keeps its own sign.
_CERTAIN = 4.0
# So many standard errors show a direction, and products of associations in labels and predictions
# that opposite signs are real ones.
_SHOWN, _OPPOSED = 1.96, -3.0
# Pairs with fewer rows take no part in the verdict.
FEWEST_ROWS = 30
_NOISE = 1e-12  # of sums of fractional weights


class Doubt(NamedTuple):
    """How much of an amplification, and of a reduction, may be of associations with other signs.

    `bias` is by how much a reduction is exaggerated.
    """

    turned: Any = 0.0
    turned_back: Any = 0.0
    bias: Any = 0.0


NO_DOUBT = Doubt()


@dataclass(frozen=True, eq=False)
class Directions:
    """Pairs that keep the sign of their `own` association, and what is `shown` of directions.

    If own signs may exaggerate a reduction, `excess` says by how much, for each unit of the
    covariance of association and change.
    """

    own: Any = True
    excess: Any = 0.0
    shown: Callable[[], tuple[Any, Any]] = lambda: (False, False)

    @cached_property
    def _shown(self) -> tuple[Any, Any]:
        return self.shown()

    @property
    def open(self) -> Any:
        """Pairs that labels and predictions together do not associate in one direction.

        The model may as well reverse them.
        """
        return self._shown[0]

    @property
    def unknown(self) -> Any:
        """Pairs that neither labels alone nor predictions against them give a direction."""
        return self._shown[1]

    def within(self, every: Directions) -> Directions:
        """Return what is open in some rows, if `every` row shows no more."""
        open_ = self.open | every.open | (every.excess > 0)
        return replace(self, shown=lambda: (open_, self.unknown))


class Signs(NamedTuple):
    """The signs of the estimate (groups × tasks), 0 for pairs that have too few rows to count.

    `bias` is by how much a change may be underestimated. `directions` is None if nothing is open.
    """

    used: Array
    counted: Array
    directions: Directions | None = None
    bias: Any = 0.0

    def are_idle(self, pairs: Pairs) -> bool:
        """Whether the estimate is 0, whatever the model does, although pairs have signs.

        No sign is used, or those of all groups alike, whose shares sum to 1.
        """
        used = np.ptp(self.used, axis=0) if pairs.above_only else self.used
        return bool(pairs.sign.any() and not used.any())

    @property
    def turned(self) -> Array:
        """How far the signs of open pairs would turn."""
        return 2 * np.where(
            False if self.directions is None else self.directions.open, self.used, 0
        )

    def doubt(self, pairs: Pairs, ends: Any = (math.nan, math.nan)) -> Doubt:
        """Return what noise that signs share with changes, or wrong signs, add to the estimate.

        Wrong signs matter where both `ends` of an interval are on one side of 0.
        """
        bias = float(pairs.mean(np.abs(self.used), self.bias))
        if ends[0] <= 0 <= ends[1]:
            return Doubt(bias=bias)
        turned = float(pairs.mean(self.turned, pairs.change))
        unknown = False if self.directions is None else self.directions.unknown
        back = -float(pairs.mean(2 * np.where(unknown, self.used, 0), pairs.change))
        return Doubt(max(turned, 0.0), max(back, 0.0), bias)


def signs_of(
    pairs: Pairs, train: Contingency, test: Contingency, *, fewest: int = FEWEST_ROWS
) -> Signs:
    """Return the signs to trust; `train` gave the signs of the pairs, and may be `test` itself.

    Pairs of fewer than `fewest` rows do not count, unless too few have more.
    """
    counted = _counted(pairs, train, test, fewest)
    # Labels that are balanced throughout have nothing to amplify.
    known = pairs.given_sign or not pairs.sign.any()
    if pairs.largest_only and train is test and not known:
        used = _of_largest(pairs, test)
        return Signs(used, counted, Directions(shown=lambda: (used != pairs.sign, False)))
    moments = None if known else _moments(pairs, train, test)
    if moments is None or pairs.centre is None:
        return Signs(np.where(counted, pairs.sign, 0), counted)
    association, change = pairs.base - pairs.centre[0], pairs.change
    shared = moments.both - moments.labels
    spread = moments.labels + moments.predictions - 2 * moments.both
    with np.errstate(invalid="ignore", divide="ignore"):
        # A half if labels and predictions are exchangeable, 1 of calibrated scores, and more of
        # scores that are nearer to their mean.
        part = np.where(spread > _NOISE**2, np.maximum(-shared / spread, 0.0), 0.0)
    directions = _directions(
        association, change, moments, counted, _spread(pairs, train, test, moments)
    )
    used = _sign(association + np.where(directions.own, 0.0, part * change), pairs.above_only)
    used = np.where(counted, np.where(np.isnan(change), pairs.sign, used), 0)
    return Signs(used, counted, directions, directions.excess * np.abs(shared))


def _counted(pairs: Pairs, train: Contingency, test: Contingency, fewest: int) -> Array:
    """Return the pairs with rows enough for the estimate, of training too if it compares these."""
    rates, few = pairs.association or pairs.rates, fewest - 1e-9
    n = pairs.n * test.units_per_weight
    counted = (n >= few) & ~np.isnan(pairs.delta)
    known = ~np.isnan(pairs.delta)
    is_sample = pairs.sampled and not pairs.own_base
    # If all rows are few, all pairs count.
    are_many = train.total * train.units_per_weight >= few
    if rates is not None and rates.base is None and is_sample and are_many:
        given = labels_alone(rates).observed[1]
        n_train = pairs.seen_in(train).count(given) * train.units_per_weight
        known &= (n_train[:, None] if given == "group" else n_train) >= few
        counted &= known
    if fewest and _are_alone(pairs, rates, test):
        return np.zeros_like(counted)
    by_group = rates is not None and rates.observed[1] == "group" and len(pairs.groups) > 1
    if fewest and by_group and not test.indicator:
        # A group is compared with all rows: without another one, with itself.
        counted, known = (of & (of.sum(axis=0) > 1) for of in (counted, known))
    return counted if counted.any() and pairs.growth is None else known


def _are_alone(pairs: Pairs, rates: Rates | None, test: Contingency) -> bool:
    """Whether all rows are of one group, so that there is nothing to compare it with."""
    predicted = test.has("group_pred") if rates is None else "group_pred" in rates.observed
    return not (predicted or test.indicator or len(pairs.groups) < 2 or differ_in_group(test))


def _directions(
    association: Array,
    change: Array,
    moments: Covariances,
    counted: Array,
    spread: Callable[[Array], float],
) -> Directions:
    """Return what labels and predictions together say of the directions of pairs.

    `spread` is the variance of a weighted sum of associations in the labels.
    """
    variances = np.array([moments.labels, moments.predictions])
    before, after = np.sqrt(np.where(variances > _NOISE**2, variances, 0.0))
    with np.errstate(invalid="ignore", divide="ignore"):
        z, z_predicted = association / before, (association + change) / after
        common, product = moments.both / (before * after), z * z_predicted
        noise = 1 + common**2
        own_noise = np.maximum(z**2 + z_predicted**2 + 2 * common * product - noise, noise)
        # |X| is too large by 2φ(z) standard errors, at the true z: this is as much on average.
        excess = 1.4 * np.exp(-(z**2)) / before
        agree, apart = product - common, z_predicted - common * z
    # If the model reverses associations, what is independent of the change says nothing of their
    # signs. Noise that labels and predictions share makes them agree as far as they correlate.
    uncertain = counted & (np.abs(z) <= _CERTAIN)
    known = uncertain & np.isfinite(agree)  # predictions that never vary show nothing
    agreement = agree[known].sum()
    opposed = agreement < _OPPOSED * own_noise[known].sum() ** 0.5
    own = ~known | opposed

    def shown() -> tuple[Array, Array]:
        # If labels have no association, their z-values vary by 1, whatever predictions do beside
        # them. Variances of weighted sums count what pairs have in common: a group, or the rows of
        # correlated tasks.
        alone, beside = (np.where(known, of, 0.0) for of in (z, apart))
        scale = np.divide(1.0, before, out=np.zeros_like(before), where=known)
        toward = (alone * beside).sum()
        reach, least = (_SHOWN * spread(of * scale) ** 0.5 for of in (beside, 2**0.5 * alone))
        strong = (alone**2 - known).sum() > least
        agreed = toward > (0.0 if strong else reach)
        return known & ~(agreed | opposed), known & ~(strong | (abs(toward) > reach))

    return Directions(own, np.where(uncertain & own, excess, 0.0), shown)


def _of_largest(pairs: Pairs, test: Contingency) -> Array:
    """Return the sign where only the most frequent class of the audited labels has one.

    Which class that is depends on all of them, so that what is independent of a change is what the
    changes of all classes leave of each one's rate.
    """
    if (pairs.sign != 0).sum() > 1:
        return pairs.sign  # an exact tie
    cells, (rate,), (change,) = pairs.seen_in(test), pairs.base, pairs.delta
    labels, predicted = (
        labels_of(cells, side).dense(slice(None), float) for side in ("task", "task_pred")
    )
    influence = np.hstack([labels - rate, predicted - labels - change]).T / cells.total
    spread, n = covariances_of(cells, influence), len(rate)
    used = rate - spread[:n, n:] @ np.linalg.pinv(spread[n:, n:], hermitian=True) @ change
    first, second = np.argsort(-rate, kind="stable")[:2]
    ahead = spread[first, first] + spread[second, second] - 2 * spread[first, second]
    size = (rate[first] - rate[second]) / max(ahead, _NOISE**2) ** 0.5
    sign = np.zeros(pairs.sign.shape, dtype=int)
    sign[0, np.argmax(used)] = 1
    return pairs.sign if size > _CERTAIN else sign


def signs_beside(
    association: Array, parts: Sequence[Array], counted: Array, directions: Directions | None = None
) -> list[Signs]:
    """Return the signs of each part of a change, which are independent of all of them jointly.

    Signs that are independent of a sum are not independent of what it is made of. All arrays are
    draws × groups × tasks; the first draw is the data, and the others say how they vary together.
    `directions` is known of the sum; None: draws say it.
    """
    total = np.sum(parts, axis=0)
    known = [association, association + total, *parts]
    draws = np.stack([_deviations(numbers[1:]) for numbers in known])
    spread = np.einsum("irat,jrat->atij", draws, draws) / max(draws.shape[1] - 1, 1)
    own, change, every = map(np.nan_to_num, (association[0], total[0], [of[0] for of in parts]))
    if directions is None:
        moments = Covariances(spread[..., 0, 0], spread[..., 0, 1], spread[..., 1, 1])

        def of_labels(weight: Array) -> float:
            return float((weight * draws[0]).sum(axis=(1, 2)).var(ddof=1))

        directions = _directions(own, change, moments, counted, of_labels)
    shared, inverse = spread[..., 2:, :1], spread[..., 2:, 2:]
    inverse = np.linalg.pinv(inverse, rcond=_NOISE**0.5, hermitian=True)
    rest = own - np.einsum("iat,atij,atjk->at", every, inverse, shared)
    used = np.where(counted, _sign(np.where(directions.own, own, rest), above_only=False), 0)
    biases = -directions.excess * np.moveaxis(shared[..., 0], -1, 0)
    return [Signs(used, counted, directions, bias) for bias in biases]


def _deviations(draws: Array) -> Array:
    """Return draws minus their mean; an undefined one is 0."""
    known = ~np.isnan(draws)
    mean = np.nan_to_num(draws).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    return np.where(known, draws - mean, 0.0)


def _moments(pairs: Pairs, train: Contingency, test: Contingency) -> Covariances | None:
    """Return how associations vary in labels and predictions; None if they share no rows."""
    rates = pairs.association or pairs.rates
    if rates is None or pairs.growth is not None or (rates.base is not None and train is not test):
        return None
    if rates.base is not None:
        covariances = association_moments(pairs.seen_in(test), pairs, rates)
    elif pairs.own_base or not pairs.sampled:
        return None
    else:
        labels = association_moments(pairs.seen_in(train), pairs, labels_alone(rates)).predictions
        predictions = association_moments(pairs.seen_in(test), pairs, rates).predictions
        covariances = Covariances(labels, np.zeros(labels.shape), predictions)
    before, after = pairs.unit
    return Covariances(
        before**2 * covariances.labels,
        before * after * covariances.both,
        after**2 * covariances.predictions,
    )


def _spread(
    pairs: Pairs, train: Contingency, test: Contingency, moments: Covariances
) -> Callable[[Array], float]:
    """Return the function that gives the variance of a weighted sum of associations in labels."""
    rates = pairs.association or pairs.rates
    assert rates is not None
    cells = pairs.seen_in(train if rates.base is None else test)
    rates = labels_alone(rates)
    side, given = rates.observed
    of_labels = replace(pairs, rates=rates, observed=cells.rate(side, given=given))

    def spread(weight: Array) -> float:
        if cells.summed == "tasks":
            # How tasks vary together is not known; the associations of k groups sum to 0.
            k = len(weight)
            return float((weight**2 * moments.labels).sum()) * k / max(k - 1, 1)
        return mean_variance(cells, of_labels, weight * pairs.unit[0], centred=True)

    return spread


def labels_alone(rates: Rates) -> Rates:
    """Return the same rates of labels in place of predictions."""
    side, given = (name.removesuffix("_pred") for name in rates.observed)
    return Rates((side, given), None)  # type: ignore[arg-type]


def _sign(association: Array, above_only: bool) -> Array:
    """Return the signs of associations, 0 for those that differ from 0 by rounding alone."""
    sign = np.where(np.abs(association) > _NOISE, np.sign(association), 0.0)
    sign = np.nan_to_num(sign).astype(int)
    return np.maximum(sign, 0) if above_only else sign


def doubts(turned: float, bias: float) -> tuple[Doubt, Doubt]:
    """Return what either end of a part counts, which may turn, or be biased, either way."""
    own, other = (Doubt(max(side * turned, 0.0), 0.0, max(side * bias, 0.0)) for side in (1, -1))
    return own, other


def doubted(ends: Any, own: Doubt, other: Doubt) -> Array:
    """Return ends of an estimate, or of the difference of two, that include their doubts."""
    low, high = ends[0] - other.bias, ends[1] + own.bias
    down, up = own.turned + other.turned_back, other.turned + own.turned_back
    return np.stack([low - down * (low > 0), high + up * (high < 0)])


def turned_ends(
    ends: Any, pairs: Pairs, signs: Signs, uncertain: Array, beside: Any = 0.0
) -> dict[str, float]:
    """Return how far an interval reaches if signs that other rows gave turn, each for the worse.

    Verdicts are about the signs that were found; a wrong one also hides a change that is there.
    The interval is that of the difference to another model if its changes stand `beside`.
    """
    if signs.directions is not None or pairs.given_sign or pairs.growth is not None:
        return {}
    open_ = uncertain & (signs.used != 0)
    part = pairs.scale * pairs.share * signs.used * np.nan_to_num(pairs.change - beside)
    down, up = (2 * float(np.where(open_, np.maximum(side * part, 0), 0).sum()) for side in (1, -1))
    numbers = {
        "turned_low": ends[0] - down,
        "turned_high": ends[1] + up,
        "n_open_pairs": open_.sum(),
    }
    return {name: float(number) for name, number in numbers.items()} if open_.any() else {}


def parts(pairs: Pairs, signs: Signs) -> dict[str, float]:
    """Return the parts of the signed mean, which sum to it, and the associations they change.

    The gap is the estimate, and the shift is what a task, or a
    group, is predicted more often for everybody. Selection is what signs add that were fitted to
    the same labels, and the last part is that of pairs with few rows. If it is not known what
    associations are, this is the only part beside the estimate.
    """
    if pairs.growth is not None:
        return {}
    sign = signs.used
    few = int((~signs.counted & ~np.isnan(pairs.delta)).sum())
    of_few = pairs.mean(np.where(signs.counted, 0, pairs.sign), pairs.delta)
    small = {"small_pairs": float(of_few), "n_small_pairs": few}
    if pairs.centre is None:
        return small if few else {}
    counted = np.where(signs.counted, pairs.sign, 0)
    numbers = {
        "gap": pairs.mean(sign, pairs.change),
        "shift": pairs.mean(counted, pairs.shift + 0 * pairs.delta),
        "selection": pairs.mean(counted - sign, pairs.change),
        "association_labels": pairs.mean(sign, pairs.base - pairs.centres[0]),
        "association_predictions": pairs.predicted_association(sign),
        "row_weighted": _by_rows(pairs, sign),
    }
    return {name: float(number) for name, number in numbers.items()} | small


def _by_rows(pairs: Pairs, sign: Array) -> float:
    """Return the estimate if every pair counts by its rows; the weights of pairs keep their sum.

    A mean over pairs counts a group of 58 rows as much as one of 10,914.
    """
    weight = np.where(np.isnan(pairs.delta), 0.0, pairs.n)
    if not weight.sum():
        return float("nan")
    n_pairs = (weight > 0).sum()
    return float(pairs.mean(sign, pairs.change * weight / weight.sum()) * n_pairs)
