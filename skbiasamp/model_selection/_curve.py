"""Amplification at every threshold of a score."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from skbiasamp._input.checks import GROUPS, MISSING_POLICIES, Array
from skbiasamp._input.coding import as_numbers, numbers_of
from skbiasamp._input.containers import to_native
from skbiasamp._input.errors import InputError, fewer_groups, speaking
from skbiasamp._input.options import keywords
from skbiasamp._utils.compat import Interval, StrOptions, validate_params
from skbiasamp._utils.docstrings import filling
from skbiasamp._utils.progress import progress
from skbiasamp.counts.cells import distinct, labels_of
from skbiasamp.counts.merging import differ_in_group
from skbiasamp.metrics.directional import DirectionalAuditor
from skbiasamp.metrics.functions import fit_if_given
from skbiasamp.metrics.score_order import check_class
from skbiasamp.model_selection._curve_numbers import Scored
from skbiasamp.results.exports import Exported, paper_of


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
        test = distinct(test)
        pairs = auditor.pairs_of(test, warns=True)[1]
        low, high = _limits(levels, limits)
        thresholds = np.append(-np.inf, levels)
        positive = labels_of(test, "task_pred").dense(slice(None), float)
        n = len(levels)
        rows = Scored(test, pairs, np.rint(positive * n - 0.5).astype(int), n)
        judged = rows.of(formula)
        values = judged.values()
        share = np.full(rows.ranks.shape, 1 / (test.total * len(test.tasks)))
        ends: dict[str, Any] = {"rates": rows.above(test.weight[:, None] * share)}
        ends["published"] = rows.of("published").values()
        if interval is not None:
            known = judged.intervals(values, confidence_level)
            ends |= dict(zip(("low", "high"), known, strict=True))
            if not differ_in_group(test):
                ends |= dict.fromkeys(("low", "high"), np.full(n + 1, np.nan))
        widths = np.diff(np.clip(np.append(thresholds, np.inf), low, high))
    return AmplificationCurve(
        thresholds, values, (low, high), float(values @ widths / (high - low)), **ends
    )


def _numbers(y_score: Any) -> Array:
    """Return scores, checked to be numbers."""
    scores = to_native(y_score, "y_score")
    if 0 in scores.shape:
        raise InputError("{y_score} is empty: pass a score for each row.")
    return as_numbers(scores, "y_score")


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
