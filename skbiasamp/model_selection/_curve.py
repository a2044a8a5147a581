"""Amplification at every threshold of a score, with intervals as audits have them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from skbiasamp._input.checks import GROUPS, MISSING_POLICIES, Array
from skbiasamp._input.coding import as_numbers, numbers_of
from skbiasamp._input.containers import to_native
from skbiasamp._input.errors import InputError, fewer_groups, renaming
from skbiasamp._input.labels import ranked
from skbiasamp._input.options import keywords
from skbiasamp._utils.compat import Interval, StrOptions, validate_params
from skbiasamp._utils.docstrings import filling
from skbiasamp._utils.progress import progress
from skbiasamp.counts.cells import distinct, labels_of
from skbiasamp.counts.contingency import Contingency
from skbiasamp.counts.merging import differ_in_group
from skbiasamp.inference.association import Term
from skbiasamp.inference.influence import degrees_of_freedom, interval
from skbiasamp.inference.pairs import Pairs
from skbiasamp.inference.value import Signs, counted_pairs, sign_products
from skbiasamp.metrics.directional import DirectionalAuditor
from skbiasamp.metrics.functions import fit_if_given
from skbiasamp.metrics.score_order import check_class
from skbiasamp.results.exports import Exported, paper_of

# Numbers held at once: thresholds × kinds of rows × pairs.
_BLOCK = 1 << 20


@dataclass(frozen=True, eq=False)
class Scored:
    """Rows with the rank of each task's score, and what their pairs say of any predictions.

    A row of rank r is positive at the thresholds 0 to r, of 0 to `n`.
    """

    cells: Contingency
    pairs: Pairs
    ranks: Array  # cells × tasks
    n: int
    published: bool = False  # whether the value is that of the paper's formula

    @cached_property
    def term(self) -> Term:
        """The associations of the labels."""
        return self.pairs.labelled.samples[0].terms[0][1]

    @cached_property
    def member(self) -> Array:
        """Of which groups each cell is."""
        return self.term.given.dense(slice(None), float)

    @cached_property
    def labels(self) -> Array:
        """The labels, with a column a task."""
        return labels_of(self.cells, "task").dense(slice(None), float)

    @cached_property
    def signs(self) -> Signs:
        """The sign by which each pair counts."""
        return Signs(self.pairs.sign.astype(float)) if self.published else self.pairs.signs

    @cached_property
    def weights(self) -> Array:
        """What each pair is of the value."""
        return np.asarray(self.pairs.aggregate.weights(self.pairs.change.value))

    @property
    def _centre(self) -> float:
        """What a unit of weight is of all rows, if groups are compared with them; else 0."""
        return 0.0 if self.published else 1 / float(self.cells.total)

    def above(self, worth: Array) -> Array:
        """Return at each threshold the sum over positives; `worth` is cells × tasks."""
        return _above(self.ranks, worth, self.n)

    # ------------------------------------------------------------------ values

    def values(self) -> Array:
        """Return the value at each threshold: it is linear in the predictions."""
        cells, share = self.cells, self.term.share
        moved = np.where(self.weights == 0, 0.0, self.weights * self.signs.values)
        worth = (self.member * share) @ moved - self._centre * moved.sum(axis=0)
        worth = cells.weight[:, None] * worth
        if self.signs.source is not None:
            worth -= self._shared()
        return np.asarray(self.above(worth) - (worth * self.labels).sum())

    def _shared(self) -> Array:
        """Return what a positive adds to what signs and changes have in common."""
        cells, term, centre = self.cells, self.term, self._centre
        every = np.arange(len(cells.tasks))
        times = self.pairs.labelled.samples[0].jackknife * cells.units * cells.unit_weight**2
        own = cells.weight[:, None]
        shared = np.zeros(self.ranks.shape)
        for group, factor in enumerate(self.weights * self.signs.slope):
            inside, part = self.inside[:, group, None], self.member[:, [group]] * term.share[group]
            moved = factor * times[:, None] * term.influence(group, every)
            shared += moved * (inside - centre)
            shared -= own * part * (moved * inside).sum(axis=0)
            shared += own * centre**2 * moved.sum(axis=0)
        return shared

    @cached_property
    def inside(self) -> Array:
        """What a unit of weight is of each of its groups, by its leverage more."""
        return np.asarray(self.member * self.term.share * self.term.leverage)

    # ------------------------------------------------------------------ intervals

    def intervals(self, values: Array, confidence_level: float) -> tuple[Array, Array]:
        """Return the ends of the interval at each threshold."""
        squares, fourth = self._spread()
        df = degrees_of_freedom(squares, fourth)
        low, high, _ = interval(values, np.sqrt(squares), df, confidence_level)
        bound = self.pairs.aggregate.bound
        return np.maximum(low, -bound), np.minimum(high, bound)

    def _spread(self) -> tuple[Array, Array]:
        """Return the sums of squared influences of rows, and of their squares, at each threshold.

        Rows that differ in their weight alone move a value by a·A − b·B, with the same A and B:
        sums of powers of a and b are enough.
        """
        signs, weights = self.signs, self.weights
        products = sign_products(signs, weights)
        of_groups, changes, moments, kind, added = self._steps()
        means, overall = self._means()
        squares, fourth = np.zeros((2, self.n + 1))
        size = max(1, _BLOCK // max(1, len(of_groups) * weights.size))
        sums = np.zeros((len(of_groups), added.shape[1]))
        for low in range(0, self.n + 1, size):
            at = slice(low, min(low + size, self.n + 1))
            here = slice(*np.searchsorted(moments, [at.start, at.stop]))
            every: Any = np.zeros((at.stop - low, *sums.shape))  # thresholds × kinds × powers
            np.add.at(every, (moments[here] - low, kind[here]), added[here])
            every = sums + every.cumsum(axis=0)
            sums = every[-1]
            change = changes[:, None, :]
            own = of_groups[..., None] * (change - means[at, None])
            rest = np.broadcast_to(change - overall[at, None, None], own.shape)
            own, rest = (part.reshape(*part.shape[:2], -1) for part in (own, rest))
            by_own, by_rest = own @ products, rest @ products
            first = (by_own * own).sum(axis=-1)
            both = -2 * (by_own * rest).sum(axis=-1)
            last = (by_rest * rest).sum(axis=-1)
            powers = [first, both, last]
            mixed = both**2 + 2 * first * last
            squared = [first**2, 2 * first * both, mixed, 2 * both * last, last**2]
            for total, known, factors in (
                (squares, every[..., :3], powers),
                (fourth, every[..., 3:], squared),
            ):
                total[at] = np.einsum("kdp,pkd->k", known, np.stack(factors))
        jackknife = self.pairs.change.samples[0].jackknife
        unseen = (weights**2 * self.pairs.change.unseen)[counted_pairs(signs, weights)]
        return jackknife * squares + unseen.sum(), jackknife**2 * fourth + (unseen**2).sum() / 2

    def _means(self) -> tuple[Array, Array]:
        """Return the mean change of each group and task, and of each task, at each threshold."""
        cells, (n_groups, n_tasks) = self.cells, self.weights.shape
        every = np.full((cells.n_cells, n_groups + 1), 1 / float(cells.total))
        every[:, :-1] = self.member * self.term.share
        every *= cells.weight[:, None]
        means = np.zeros((self.n + 1, n_groups + 1, n_tasks))
        for task in range(n_tasks):
            above = _above(self.ranks[:, task], every, self.n)
            means[..., task] = above - self.labels[:, task] @ every
        return means[:, :-1], means[:, -1]

    def _steps(self) -> tuple[Array, Array, Array, Array, Array]:
        """Return kinds of rows, and at which thresholds rows become one or cease to be.

        Kinds differ in what rows are of groups, and in how tasks change. At thresholds, in order,
        the sums of a kind change by what is added.
        """
        n_tasks = self.ranks.shape[1]
        row_weight, inside = self.cells.unit_weight, self.inside
        own = row_weight
        if self.term.leverage.ndim == 2 and self.member.sum(axis=1).max(initial=0) <= 1:
            inside = self.member * self.term.share
            own = row_weight * (self.member * self.term.leverage).sum(axis=1)
        # Up to its lowest rank all tasks of a row are predicted, and above the highest none.
        ends = np.sort(self.ranks, axis=1) + 1
        starts = np.concatenate([np.zeros_like(ends[:, :1]), ends], axis=1)
        ends = np.concatenate([ends, np.full_like(ends[:, :1], self.n + 1)], axis=1)
        rows = np.tile(np.arange(len(self.ranks)), n_tasks + 1)
        starts, ends = starts.T.ravel(), ends.T.ravel()
        kept = starts < ends
        rows, starts, ends = rows[kept], starts[kept], ends[kept]
        change: Array = (self.ranks[rows] >= starts[:, None]) - self.labels[rows]
        kinds, kind = np.unique(
            np.concatenate([inside[rows], change], axis=1), axis=0, return_inverse=True
        )
        rest = row_weight * self._centre
        powers = [own**2, own * rest, rest**2]
        powers += [own ** (4 - power) * rest**power for power in range(5)]
        added = (self.cells.units * np.stack(powers)).T[rows]
        n_groups = inside.shape[1]
        at, kind = np.concatenate([starts, ends]), np.tile(kind.reshape(-1), 2)
        order = np.argsort(at, kind="stable")
        added = np.concatenate([added, -added])[order]
        return kinds[:, :n_groups], kinds[:, n_groups:], at[order], kind[order], added


def _above(ranks: Array, worth: Array, n: int) -> Array:
    """Return at each threshold the sum of `worth` over what is positive."""
    sums = np.zeros((n + 1, *worth.shape[ranks.ndim :]))
    np.add.at(sums, ranks, worth)
    return np.asarray(np.cumsum(sums[::-1], axis=0)[::-1])


# --------------------------------------------------------------------------- the curve


@dataclass(frozen=True, eq=False, repr=False)
class AmplificationCurve(Exported):
    """Bias amplification at every threshold, as returned by `amplification_curve`.

    Attributes
    ----------
    thresholds : ndarray of shape (n_thresholds,)
        Every distinct score, after −∞. Scores above a threshold are positive.
    values : ndarray of shape (n_thresholds,)
        The value of an audit A->T at that threshold, and up to the next.
    integral, limits : float, tuple of float
        The mean of the values over thresholds between the limits.
    low, high : ndarray of shape (n_thresholds,) or None
        The confidence interval of each value; None if no interval was asked for.
    published : ndarray of shape (n_thresholds,) or None
        BiasAmp→ A->T by the paper's formula. Values differ from it if a task is predicted more
        often for everybody, or if labels of the audited rows give the signs.
    rates : ndarray of shape (n_thresholds,) or None
        Share of the rows that are positive at each threshold, a mean over tasks.

    Examples
    --------
    >>> from skbiasamp.model_selection import amplification_curve
    >>> curve = amplification_curve(
    ...     [1, 1, 0, 1, 0, 0], [9, 8, 7, 4, 3, 2], sensitive_features=list("fffmmm")
    ... )
    >>> curve
    amplification A->T at 7 thresholds: from +0.0987 to +0.2689, mean +0.1870 over [2, 9]
    >>> round(curve.at(5), 4)
    0.2689
    """

    thresholds: Array
    values: Array
    limits: tuple[float, float]
    integral: float
    low: Array | None = None
    high: Array | None = None
    published: Array | None = None
    rates: Array | None = None

    def at(self, threshold: Any) -> Any:
        """Return the value at a threshold, or at each of several.

        Parameters
        ----------
        threshold : float or array-like
            Scores above it are positive.

        Returns
        -------
        value : float or ndarray
        """
        numbers = numbers_of(threshold, "threshold")
        if np.isnan(numbers).any():
            text = "threshold must be a number, or several; got {seen!r}."
            raise InputError(text, seen=threshold)
        values = self.values[np.searchsorted(self.thresholds, numbers, side="right") - 1]
        return values if numbers.ndim else float(values)

    def __repr__(self) -> str:
        low, high = self.limits
        return (
            f"amplification A->T at {len(self.values):,} thresholds: from {self.values.min():+.4f} "
            f"to {self.values.max():+.4f}, mean {self.integral:+.4f} over [{low:g}, {high:g}]"
        )

    @property
    def _papers(self) -> list[str]:
        return [paper_of(DirectionalAuditor)]

    def to_frame(self) -> pd.DataFrame:
        """Return a frame with the columns ``threshold`` and ``value``, and others that are known.

        These are ``low`` and ``high``, and ``published``.
        """
        known = {name: getattr(self, name) for name in ("low", "high", "published")}
        columns = {"threshold": self.thresholds, "value": self.values}
        columns |= {name: numbers for name, numbers in known.items() if numbers is not None}
        return pd.DataFrame(columns)


@keywords()
@validate_params(
    {
        "ties": [StrOptions({"zero", "negative"})],
        "groups": [StrOptions(set(GROUPS))],
        "missing": [StrOptions(set(MISSING_POLICIES))],
        "formula": [StrOptions({"change", "published"})],
        "interval": [StrOptions({"analytic"}), None],
        "confidence_level": [Interval(Real, 0, 1, closed="neither")],
    }
)
@filling
def amplification_curve(
    y_true: Any,
    y_score: Any,
    *,
    sensitive_features: Any,
    y_train: Any = None,
    sensitive_train: Any = None,
    sample_weight: Any = None,
    ties: str = "zero",
    limits: tuple[float, float] | None = None,
    groups: str = "intersection",
    missing: str = "error",
    pos_label: Any = None,
    formula: str = "change",
    interval: str | None = None,
    confidence_level: float = 0.95,
) -> AmplificationCurve:
    r"""Compute directional amplification (BiasAmp→ A->T) at every threshold of a score.

    The audited labels are ``y_score > threshold``. If all or no rows are above a threshold, the
    predictions have no association with the group. If the labels have a clear one, the ends of a
    curve lie below 0.

    .. versionadded:: 0.1

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_tasks)
        Labels of two classes, or a 0/1 column per task.
    y_score : array-like of shape (n_samples,) or (n_samples, n_tasks)
        Scores, larger for the positive class. All tasks have the same threshold.
    sensitive_features : array-like of shape (n_samples,) or (n_samples, n_features)
        The sensitive feature.
    %(y_train)s
    %(sample_weight)s
    ties : {"zero", "negative"}, default="zero"
        Sign of a pair that is exactly independent in the training labels. "zero": 0, so that it
        adds nothing. "negative": −1, as in the printed formula [1]_.
    limits : tuple of float, default=None
        Lower and upper limit of the integral. None: 0 and 1 if all scores are between them, else
        the smallest and the largest score.
    %(groups)s
    missing : {"error", "drop", "group"}, default="error"
        How rows with a missing sensitive feature are handled. "error": raise. "drop": leave them
        out. "group": make them a group of their own.
    %(pos_label)s
    formula : {"change", "published"}, default="change"
        The number that is the value. "change": the mean change of the associations. "published":
        the paper's formula [1]_.
    interval : {"analytic", None}, default=None
        "analytic": a confidence interval of every value. None: none.
    confidence_level : float, default=0.95
        Level of the intervals.

    Returns
    -------
    curve : AmplificationCurve
        ``thresholds``, ``values``, ``integral``, and ``at(threshold)``.

    See Also
    --------
    BaseRateThresholdClassifier : Classifier with the threshold that keeps the base rate.
    skbiasamp.metrics.directional_amplification : The amplification of predicted labels.

    Notes
    -----
    The integral is divided by its width. Over all thresholds from 0 to 1 it is the value of the
    scores read as probabilities, since
    :math:`\int_0^1 P(S > \theta \mid a)\, d\theta = E(S \mid a)`. This value does not depend on
    a threshold [1]_ (Sec. 3.3).

    References
    ----------
    .. [1] Wang, Russakovsky. Directional bias amplification. ICML 2021.

    Examples
    --------
    >>> from skbiasamp.model_selection import amplification_curve
    >>> sex = ["f"] * 40 + ["m"] * 40
    >>> hired = [1, 0, 0, 0] * 10 + [1, 1, 0, 0] * 10
    >>> score = [0.6, 0.2, 0.1, 0.1] * 10 + [0.9, 0.8, 0.7, 0.6] * 10
    >>> curve = amplification_curve(hired, score, sensitive_features=sex)
    >>> curve.at([0.5, 0.65]).round(3)
    array([0.249, 0.25 ])
    >>> round(curve.integral, 4)
    0.125
    """
    given = to_native(y_score, "y_score")
    if 0 in given.shape:
        raise InputError("{y_score} is empty: pass a score for each row.")
    scores = as_numbers(given, "y_score")
    if scores.ndim == 2 and scores.shape[1] > 1 and to_native(y_true, "y_true").ndim == 1:
        raise InputError(
            "{y_score} has {n} columns and {y_true} is one column of labels. Pass the score of the "
            "positive class, such as predict_proba(X)[:, 1]; for several classes, indicator "
            "columns (sklearn.preprocessing.label_binarize) and the scores of each.",
            n=scores.shape[1],
        )
    first, rank = ranked(scores.ravel())
    levels, shape = scores.ravel()[first], scores.shape
    # As probabilities that only rank, scores of any size can be read beside the labels.
    ranks = (rank.reshape(shape) + 0.5) / len(levels)
    del given, scores, rank  # of many rows, each is as large as all labels
    auditor = DirectionalAuditor(
        ties=ties,
        groups=groups,
        missing=missing,
        pos_label=pos_label,
        interval=None,
        confidence_level=confidence_level,
    )
    fit_if_given(auditor, y_train, sensitive_train)
    with progress("thresholds"):
        with renaming(y_pred="y_score", max_groups=fewer_groups):
            test = auditor.count_audited(
                y_true, ranks, sensitive_features=sensitive_features, sample_weight=sample_weight
            )
            check_class(test)
        test = distinct(test)
        pairs = auditor.pairs_of(test, warns=True)[1]
        low, high = _limits(levels, limits)
        thresholds = np.append(-np.inf, levels)
        positive = labels_of(test, "task_pred").dense(slice(None), float)
        n = len(levels)
        rows = Scored(test, pairs, np.rint(positive * n - 0.5).astype(int), n)
        judged = replace(rows, published=formula == "published")
        values = judged.values()
        share = np.full(rows.ranks.shape, 1 / (test.total * len(test.tasks)))
        ends: dict[str, Any] = {"rates": rows.above(test.weight[:, None] * share)}
        ends["published"] = replace(rows, published=True).values()
        if interval is not None:
            known = judged.intervals(values, confidence_level)
            ends |= dict(zip(("low", "high"), known, strict=True))
            if not differ_in_group(test):
                ends |= dict.fromkeys(("low", "high"), np.full(n + 1, np.nan))
        widths = np.diff(np.clip(np.append(thresholds, np.inf), low, high))
    return AmplificationCurve(
        thresholds, values, (low, high), float(values @ widths / (high - low)), **ends
    )


def _limits(levels: Array, limits: Any) -> tuple[float, float]:
    """Return the limits of the integral."""
    if limits is None:
        ends = (float(levels[0]), float(levels[-1]))
        if ends[0] >= 0 and ends[1] <= 1:
            return 0.0, 1.0
        if ends[0] < ends[1]:
            return ends
        raise InputError(
            "{y_score} holds only {score:g}: pass limits, between which thresholds are to count.",
            score=ends[0],
        )
    try:
        low, high = map(float, limits)
    except (TypeError, ValueError):
        low = high = math.nan
    if math.isfinite(low) and math.isfinite(high) and low < high:
        return low, high
    text = "limits must be two numbers, the smaller one first; got {limits!r}."
    raise InputError(text, limits=limits)
