"""Amplification at every threshold of a score."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from skbiasamp._input.checks import GROUPS, MISSING_POLICIES, Array
from skbiasamp._input.coding import as_numbers, numbers_of
from skbiasamp._input.containers import to_native
from skbiasamp._input.errors import InputError, fewer_groups, speaking
from skbiasamp._input.keywords import keywords
from skbiasamp._input.labels import Members, Side
from skbiasamp._utils.compat import Interval, StrOptions, validate_params
from skbiasamp._utils.docstrings import filling
from skbiasamp._utils.progress import progress
from skbiasamp.counts.cells import distinct, labels_of, sides_of, with_sides
from skbiasamp.counts.contingency import Contingency, SideName
from skbiasamp.inference.independent_signs import NO_DOUBT, Doubt, doubted, signs_of
from skbiasamp.inference.influence import mean_variance, row_influence
from skbiasamp.inference.intervals import rests_on_few
from skbiasamp.inference.pairs import Pairs
from skbiasamp.inference.student import student_reach
from skbiasamp.metrics.directional import DirectionalAuditor
from skbiasamp.metrics.functions import fit_if_given
from skbiasamp.metrics.score_order import check_class
from skbiasamp.results.exports import Exported, paper_of

_EXACT = 30  # thresholds of a curve whose signs and errors are computed


@dataclass(frozen=True, eq=False, repr=False)
class AmplificationCurve(Exported):
    """Bias amplification at every threshold, as returned by `amplification_curve`.

    Attributes
    ----------
    thresholds : ndarray of shape (n_thresholds,)
        Every distinct score, after −∞. Scores above a threshold are positive.
    values : ndarray of shape (n_thresholds,)
        BiasAmp→ A->T from that threshold up to the next.
    integral, limits : float, tuple of float
        The mean of the values over thresholds between the limits.
    estimates, low, high : ndarray of shape (n_thresholds,) or None
        What the verdict of an audit at each threshold is about (see `AuditResult`), and its
        confidence interval; None if no interval was asked for. Values differ from it if the
        predictions have a shift, or if labels of the audited rows give the signs.
    rates : ndarray of shape (n_thresholds,) or None
        Share of the rows that are positive at each threshold, a mean over tasks.

    Examples
    --------
    >>> from skbiasamp.model_selection import amplification_curve
    >>> curve = amplification_curve(
    ...     [1, 1, 0, 1, 0, 0], [9, 8, 7, 4, 3, 2], sensitive_features=list("fffmmm")
    ... )
    >>> curve
    amplification A->T at 7 thresholds: from -0.1667 to +0.3333, mean +0.1905 over [2, 9]
    >>> round(curve.at(5), 4)
    0.3333
    """

    thresholds: Array
    values: Array
    limits: tuple[float, float]
    integral: float
    low: Array | None = None
    high: Array | None = None
    estimates: Array | None = None
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
        """Return a frame with the columns ``threshold`` and ``amplification``.

        If there is an interval, ``estimate``, ``low`` and ``high`` follow.
        """
        columns = {"threshold": self.thresholds, "amplification": self.values}
        ends = {"estimate": self.estimates, "low": self.low, "high": self.high}
        return pd.DataFrame(columns if self.low is None else columns | ends)


@keywords()
@validate_params(
    {
        "ties": [StrOptions({"zero", "negative"})],
        "groups": [StrOptions(set(GROUPS))],
        "missing": [StrOptions(set(MISSING_POLICIES))],
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
    interval: str | None = None,
    confidence_level: float = 0.95,
) -> AmplificationCurve:
    r"""Compute directional amplification (BiasAmp→ A->T) at every threshold of a score.

    The audited labels are ``y_score > threshold``. If all or no rows are above a threshold, the
    predictions have no association with the group, so the ends of a curve lie below 0.

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
        cannot amplify. "negative": −1, as in the printed formula [1]_.
    limits : tuple of float, default=None
        Lower and upper limit of the integral. None: 0 and 1 if all scores are between them, else
        the smallest and the largest score.
    %(groups)s
    missing : {"error", "drop", "group"}, default="error"
        How rows with a missing sensitive feature are handled. "error": raise. "drop": leave them
        out. "group": make them a group of their own.
    %(pos_label)s
    interval : {"analytic", None}, default=None
        "analytic": the estimate at every threshold with its confidence interval, by the delta
        method. None: none.
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
    The integral is divided by its width. Over all thresholds from 0 to 1 it is BiasAmp→ of the
    scores read as probabilities, since
    :math:`\int_0^1 P(S > \theta \mid a)\, d\theta = E(S \mid a)`. This value does not depend on
    a threshold [1]_ (Sec. 3.3).

    References
    ----------
    .. [1] Wang, Russakovsky. Directional bias amplification. ICML 2021.

    Examples
    --------
    >>> from skbiasamp.model_selection import amplification_curve
    >>> sex = ["f"] * 4 + ["m"] * 4
    >>> hired = [1, 0, 0, 0, 1, 1, 0, 0]
    >>> score = [0.6, 0.2, 0.1, 0.1, 0.9, 0.8, 0.7, 0.6]
    >>> curve = amplification_curve(hired, score, sensitive_features=sex)
    >>> curve.at([0.5, 0.65])
    array([0.25, 0.25])
    >>> round(curve.integral, 12)
    0.125
    """
    scores = _numbers(y_score)
    if scores.ndim == 2 and scores.shape[1] > 1 and to_native(y_true, "y_true").ndim == 1:
        raise InputError(
            "{y_score} has {n} columns and {y_true} is one column of labels. Pass the score of the "
            "positive class, such as predict_proba(X)[:, 1]; for several classes, indicator "
            "columns (sklearn.preprocessing.label_binarize) and the scores of each.",
            n=scores.shape[1],
        )
    levels, rank = np.unique(scores, return_inverse=True)
    # As probabilities that only rank, scores of any size can be read beside the labels.
    ranks = (rank.reshape(scores.shape) + 0.5) / len(levels)
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
        with speaking(y_pred="y_score", max_groups=fewer_groups):
            test = auditor.count_audited(
                y_true, ranks, sensitive_features=sensitive_features, sample_weight=sample_weight
            )
            check_class(test)
        pairs = auditor.pairs_of(test, warns=True)[1]
        low, high = _limits(levels, limits)
        thresholds = np.append(-np.inf, levels)
        worth = _worth(test, pairs, pairs.gradient)
        values = _above(test, worth, len(levels)) - np.nansum(pairs.gradient * pairs.base)
        share = np.full((len(test.weight), len(test.tasks)), 1 / (test.total * len(test.tasks)))
        rates = _above(test, share, len(levels))
        widths = np.diff(np.clip(np.append(thresholds, np.inf), low, high))
        ends: dict[str, Array] = {"rates": rates}
        if interval is not None:
            estimates, reach, doubts = _estimates(auditor, test, len(levels), confidence_level)
            low_end, high_end = doubted((estimates - reach, estimates + reach), doubts, NO_DOUBT)
            ends |= {"low": low_end, "high": high_end, "estimates": estimates}
    return AmplificationCurve(
        thresholds, values, (low, high), float(values @ widths / (high - low)), **ends
    )


def _numbers(y_score: Any) -> Array:
    """Return scores, checked to be numbers."""
    scores = to_native(y_score, "y_score")
    if 0 in scores.shape:
        raise InputError("{y_score} is empty: pass a score for each row.")
    return as_numbers(scores, "y_score")


def _above(test: Contingency, worth: Array, n_levels: int) -> Array:
    """Return what positives add to a mean, above none of the levels, above the first, ...

    `worth` is what a positive of each task adds in each row.
    """
    added = test.weight[:, None] * worth
    level = np.rint(_numbers_of(test, "task_pred") * n_levels - 0.5).astype(int)
    heights = np.bincount(level.ravel(), added.ravel(), minlength=n_levels)
    return np.append(np.cumsum(heights[::-1])[::-1], 0.0)


def _worth(test: Contingency, pairs: Pairs, gradient: Array) -> Array:
    """Return what a positive of each task adds in each row: its part of its group."""
    worth = np.divide(gradient, pairs.n, out=np.zeros_like(gradient), where=pairs.n > 0)
    return np.asarray(_numbers_of(test, "group") @ worth)


def _estimates(
    auditor: DirectionalAuditor, test: Contingency, n_levels: int, confidence_level: float
) -> tuple[Array, Array, Doubt]:
    """Return the estimate at every threshold, the reach of its interval, and its signs' doubts.

    Signs and errors change slowly along the curve, so they are computed at a few thresholds. From
    one of these to the next the signs stay, and reaches and doubts are interpolated.
    """
    computed = np.unique(np.linspace(0, n_levels, min(n_levels + 1, _EXACT)).astype(int))
    estimates, known_sign = np.empty(n_levels + 1), None
    times = stats.norm.isf((1 - confidence_level) / 2)
    reaches, doubts = np.empty(len(computed)), np.empty((len(computed), len(NO_DOUBT)))
    for i, cells in enumerate(_at_levels(test, n_levels, computed)):
        train, pairs = auditor.pairs_of(cells)
        signs = signs_of(pairs, train, cells)
        doubts[i], slopes = signs.doubt(pairs), pairs.estimate_gradient(signs.used)
        reaches[i] = times * mean_variance(cells, pairs, slopes, centred=True) ** 0.5
        influence = partial(row_influence, cells, pairs, slopes, centred=True)
        reaches[i] = max(reaches[i], student_reach(cells, influence, confidence_level))
        if rests_on_few(signs, pairs, cells):
            reaches[i] = math.nan
        if known_sign is None or not np.array_equal(signs.used, known_sign):
            known_sign = signs.used
            of_labels = pairs.mean(known_sign, pairs.base - pairs.centres[0])
            # A positive also changes the rate of all rows, with which its group is compared.
            worth = _worth(test, pairs, slopes) - slopes.sum(axis=0) / test.total
            estimates[computed[i] :] = _above(test, worth, n_levels)[computed[i] :] - of_labels
    levels = np.arange(n_levels + 1)
    of_levels = Doubt(*(np.interp(levels, computed, doubt) for doubt in doubts.T))
    return estimates, np.interp(levels, computed, reaches), of_levels


def _at_levels(test: Contingency, n_levels: int, at: Array) -> Iterator[Contingency]:
    """Return the decisions at some thresholds; rows that none of these separates are one cell."""
    ranks = np.rint(_numbers_of(test, "task_pred") * n_levels - 0.5)
    few = distinct(_with_predictions(test, np.searchsorted(at, ranks, side="right") / len(at)))
    n_passed = np.rint(_numbers_of(few, "task_pred") * len(at))
    return (_with_predictions(few, n_passed > i) for i in range(len(at)))


def _numbers_of(cells: Contingency, side: SideName) -> Array:
    """Return labels or predictions, with a column a group or task."""
    return labels_of(cells, side).dense(slice(None), float)


def _with_predictions(cells: Contingency, predicted: Array) -> Contingency:
    """Return cells with other predictions, and with a column a task."""
    columns: dict[SideName, Array] = {"task": _numbers_of(cells, "task") > 0}
    columns["task_pred"] = predicted
    sides = {
        side: Side(cells.tasks, Members(values), open=False) for side, values in columns.items()
    }
    return with_sides(cells, sides_of(cells) | sides)


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
