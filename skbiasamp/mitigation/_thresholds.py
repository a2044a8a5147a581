"""Classifiers with other thresholds: the amplification and the score of decisions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer
from sklearn.model_selection import check_cv
from sklearn.utils.validation import check_is_fitted

from skbiasamp._input.checks import Array
from skbiasamp._input.errors import InputError, renaming
from skbiasamp._input.labels import Codes
from skbiasamp._input.options import Option, PositionalOption
from skbiasamp._utils.compat import N_JOBS, Interval, StrOptions, check_sample_weight
from skbiasamp._utils.docstrings import filling
from skbiasamp._utils.formatting import limit_of
from skbiasamp._utils.warnings import UncertaintyWarning, collected, warn
from skbiasamp.compose.sensitive import SENSITIVE, SensitivePredictor
from skbiasamp.metrics import DirectionalAuditor
from skbiasamp.metrics.score_order import between, passed
from skbiasamp.mitigation._pairs import WITHOUT_POLICIES, as_index, read_groups
from skbiasamp.model_selection.thresholds import (
    GIVES_SCORES,
    binary_labels,
    held_out,
    positive_scores,
    response,
)
from skbiasamp.results import AuditResult

_BENEFITS = np.linspace(0.05, 0.95, 19)  # of a true positive; a false one costs the rest of 1
_HALVINGS = 30


@dataclass(frozen=True, eq=False)
class Operating:
    """What decisions at thresholds would be, and how their amplification is measured.

    `above` is the weight at or above thresholds: labels × groups × thresholds, −∞ the first of
    them. A choice is a position among the thresholds for each group.
    """

    above: Array
    sign: Array  # of each group

    @cached_property
    def share(self) -> Array:
        """What a positive of each group adds to the amplification, per unit of weight.

        It raises the rate of its group, and that of all rows, which this is compared with.
        """
        heights = self.above[..., 0].sum(axis=0)
        n = (heights > 0).sum()
        share = np.divide(self.sign, heights * n, out=np.zeros(len(heights)), where=heights > 0)
        return np.asarray(share - share @ heights / heights.sum())

    @cached_property
    def for_all(self) -> Array:
        """The choices with one threshold."""
        _, n_groups, n = self.above.shape
        return np.repeat(np.arange(n)[:, None], n_groups, axis=1)

    def by_group(self, limit: float) -> Array:
        """Return choices with a threshold of each group, and those with one for all.

        For each ratio of benefit to cost the best choice has a price of amplification, which is
        the same for all groups: the smallest with which it is within the limit.
        """
        (cost, benefit), total = self.above, self.above[..., 0].sum()
        balanced = self.above[0, :, 0].sum() / total
        w = np.append(_BENEFITS, balanced)[:, None, None]
        gain = (w * benefit - (1 - w) * cost) / total
        price = self.share[:, None] * self.above.sum(axis=0)

        def bought(at: Array) -> Array:
            return (gain - at[:, None, None] * price).argmax(axis=-1)

        # A price at which amplification outweighs every benefit, in groups that can change it.
        steepness = np.abs(self.share) * total
        steepness = steepness[steepness > 1e-3 / len(price)]
        low, high = np.zeros(len(w)), np.full(len(w), max([len(price), *1 / steepness]))
        side, at = np.sign(self.amplification(bought(low))), low
        for _ in range(_HALVINGS):
            outside = side * self.amplification(bought(side * at)) > limit
            low, high = np.where(outside, at, low), np.where(outside, high, at)
            at = (low + high) / 2
        return np.concatenate([self.for_all, bought(side * high)])

    def passed(self, choices: Array) -> Array:
        """Return the weight at or above the thresholds: labels × choices × groups."""
        return self.above[:, np.arange(choices.shape[1]), choices]

    def amplification(self, choices: Array) -> Array:
        """Return directional A→T of each choice, at the signs."""
        predicted = self.passed(choices).sum(axis=0)
        return np.asarray((predicted - self.above[1, :, 0]) @ self.share)

    def confusion(self, choices: Array) -> Array:
        """Return the weight of true and false negatives, false and true positives: by choice."""
        false, true = self.passed(choices).sum(axis=-1)
        negatives, positives = self.above[..., 0].sum(axis=-1)
        return np.column_stack([negatives - false, false, positives - true, true])

    def best(self, choices: Array, limit: float, score: Score) -> Array:
        """Return the choice with the best score within the limit; else the one nearest to it."""
        size = np.abs(self.amplification(choices))
        within = size <= max(limit, size.min())
        choices, size = choices[within], size[within]
        scores = np.array([score(counts) for counts in self.confusion(choices)])
        return choices[np.lexsort((size, -np.nan_to_num(scores, nan=-np.inf)))[0]]


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """Rows with a score, a group (its position), a label and a weight; the signs of the groups."""

    scores: Array
    group: Array
    positive: Array
    weight: Array
    sign: Array

    def take(self, rows: Array) -> ScoredRows:
        """Return some of the rows."""
        scores, group = self.scores[rows], self.group[rows]
        return ScoredRows(scores, group, self.positive[rows], self.weight[rows], self.sign)

    def at(self, thresholds: Array) -> Operating:
        """Return what decisions would be."""
        groups = Codes(self.group, len(self.sign))
        above = passed(self.scores, groups, self.positive, self.weight, thresholds)
        return Operating(above, self.sign)

    def amplification(self, decided: Array) -> float:
        """Return directional A→T of decisions, at the signs."""
        share = self.at(np.array([-np.inf])).share
        return float((self.weight * share[self.group]) @ (decided.astype(float) - self.positive))

    def audit(self, decided: Array, confidence_level: float) -> AuditResult:
        """Audit decisions."""
        auditor = DirectionalAuditor(
            reference="test", pos_label=1, confidence_level=confidence_level
        )
        labels = self.positive.astype(int), decided.astype(int)
        with collected():  # what these rows do not show concerns the reader of an audit
            return auditor.audit(*labels, sensitive_features=self.group, sample_weight=self.weight)

    def scored(self, decided: Array, score: Score) -> tuple[float, float]:
        """Return the score of decisions, and its standard error.

        It adds a row that is decided wrongly in each way: few rows may have none by chance.
        """
        weight, cell = self.weight, 2 * self.positive + decided
        rare = weight @ weight / weight.sum() * np.array([0, 1, 1, 0])
        counts, squares = (np.bincount(cell, size, 4) for size in (weight, weight**2))
        step = 1e-3 * counts.sum() * np.eye(4)
        slopes = np.array([score(counts + more) - score(counts) for more in step]) / step[0, 0]
        return score(counts), float((slopes**2 @ (squares + rare**2)) ** 0.5)


Score = Callable[[Array], float]  # of the counts of `Operating.confusion`


def score_of(scoring: Any, classes: Array) -> Score:
    """Return a scorer of scikit-learn as a function of confusion counts."""
    if scoring == "accuracy":  # the default, 200 times faster than with scikit-learn's checks
        return lambda counts: float((counts[0] + counts[3]) / counts.sum())
    decided = Decided(classes)
    scorer = get_scorer(scoring)
    y_pred, y_true = np.tile(classes, 2), np.repeat(classes, 2)
    try:
        scorer(decided, y_pred, y_true, sample_weight=np.ones(4))
    except AttributeError as error:
        text = "{scoring} must score decisions, as 'balanced_accuracy' does; got {seen!r}: {error}"
        raise InputError(text, seen=scoring, error=error) from error
    return lambda counts: float(scorer(decided, y_pred, y_true, sample_weight=counts))


class Decided(ClassifierMixin, BaseEstimator):
    """Classifier whose X is its decisions, so that any scorer can score them."""

    def __init__(self, classes_: Array) -> None:
        self.classes_ = classes_

    def predict(self, X: Array) -> Array:
        """Return X."""
        return X


# --------------------------------------------------------------------------- the classifiers


_MOST = 200  # thresholds
_ROUNDING = 1e-12  # a rate of 0.52 minus one of 0.5 may be more than 0.02


@filling
class AmplificationThresholdClassifier(SensitivePredictor):
    """Classifier with the best thresholds whose bias amplification is within a limit.

    Among thresholds of scores from held-out rows, it takes those with the best `scoring` whose
    directional amplification A→T (group → task) lies within ±`limit`. Use it to change decisions
    of a model without changing its scores.

    .. versionadded:: 0.2

    Parameters
    ----------
    estimator : classifier
        The classifier: two classes, with ``predict_proba`` or ``decision_function``.
    limit : float, default=0.02
        Largest size of the amplification: 0.02 is two percentage points.
    scoring : str or callable, default="accuracy"
        What is best: the name of a scorer of scikit-learn, or a scorer, of predicted labels. It
        must take weights.
    by_group : bool, default=False
        False: one threshold for all rows; `predict` does not need the sensitive feature. True: a
        threshold for each group; `predict` needs it. People of different groups with the same
        score are then treated differently, which the law may forbid: in the United States, cutoff
        scores of employment tests that differ by race, colour, religion, sex or national origin
        are unlawful (42 U.S.C. § 2000e-2(l)).
    cv : int, cross-validation splitter, iterable or "prefit", default=5
        Folds whose held-out scores give the thresholds; the classifier is then fitted on all rows.
        "prefit": `estimator` is fitted already, and the rows passed to `fit` are validation rows.
    %(sensitive)s
        `fit` needs it, and `predict` if `by_group` is True.
    drop_sensitive : bool, default=False
        True hides these columns from the classifier. False passes them on, which fails for text
        unless the classifier encodes it.
    confidence_level : float, default=0.95
        Level of the intervals.
    n_jobs : int, default=None
        Number of folds that are trained in parallel.

    Attributes
    ----------
    estimator_ : classifier
        The fitted classifier.
    thresholds_ : Series
        The threshold of each group: a score of at least this value is positive.
    amplification_, score_ : float
        Amplification and score of the thresholds on new rows. The rows that chose them flatter
        them, and by how much is measured in folds, in which the other folds choose.
    amplification_interval_, score_interval_ : tuple of float
        Their intervals, which include the uncertainty of the choice.
    groups_ : tuple
        The groups.
    classes_, n_features_in_, feature_names_in_
        Those of the fitted classifier; hidden columns are counted.

    See Also
    --------
    skbiasamp.BaseRateThresholdClassifier : Predict as often as labelled; it can amplify more.

    Notes
    -----
    At most 201 thresholds are tried. Thresholds by group are those that are best for a benefit of
    true positives, a cost of false positives and the price of amplification that keeps the limit:
    20 ratios of benefit to cost are tried, among them those of accuracy and of balanced accuracy.
    If no threshold is within the limit, the one nearest to it is
    taken, with a warning.

    The amplification is the value of an audit of the rows that were passed: what is predicted more
    often for everybody does not count. The limit holds for these rows, at the signs of their
    labels. On new rows the amplification varies, as the interval says: that of the audit, for the
    thresholds and the model as they are, which counts what the choice flatters as an error.

    Examples
    --------
    Skill differs between the groups, and a model of skill exaggerates this. A greater threshold
    does so less:

    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skbiasamp.mitigation import AmplificationThresholdClassifier
    >>> rng = np.random.default_rng(0)
    >>> sex = rng.choice(["f", "m"], 4000)
    >>> skill = rng.normal(sex == "m", 1)[:, None]
    >>> hired = (skill[:, 0] + rng.normal(0, 1.5, 4000) > 1).astype(int)
    >>> for by_group in (False, True):
    ...     model = AmplificationThresholdClassifier(LogisticRegression(), by_group=by_group)
    ...     model = model.fit(skill, hired, sensitive_features=sex)
    ...     low, high = model.amplification_interval_
    ...     print(model.thresholds_.round(2).to_dict(), f"accuracy {model.score_:.3f}")
    ...     print(f"amplification {model.amplification_:+.3f} ({low:+.3f} to {high:+.3f})")
    {'f': 0.64, 'm': 0.64} accuracy 0.712
    amplification +0.015 (-0.000 to +0.031)
    {'f': 0.57, 'm': 0.61} accuracy 0.717
    amplification +0.010 (-0.010 to +0.029)
    """

    _two_classes = True

    estimator: Any = PositionalOption(*GIVES_SCORES, kw_only=False)
    limit: float = Option(0.02, Interval(Real, 0, 1, closed="left"))
    scoring: Any = Option("accuracy", str, callable)
    by_group: bool = Option(False, "boolean")
    cv: Any = Option(5, "cv_object", StrOptions({"prefit"}))
    sensitive: Any = Option(None, *SENSITIVE)
    drop_sensitive: bool = Option(False, "boolean")
    confidence_level: float = Option(0.95, Interval(Real, 0, 1, closed="neither"))
    n_jobs: int | None = Option(None, *N_JOBS)

    def _fit(self, X: Any, y: Any, sensitive_features: Any, routed: dict[str, Any]) -> None:
        inner = routed["estimator"]
        y = binary_labels(y, several=False)
        attribute = self._sensitive(X, sensitive_features, "fit")
        features = self._hide(X)
        folds = check_cv(5 if isinstance(self.cv, str) else self.cv, y, classifier=True)
        folds = list(folds.split(X, y))
        with self._noting(X):
            cv = self.cv if isinstance(self.cv, str) else folds
            how = {"cv": cv, "params": inner, "n_jobs": self.n_jobs}
            self.estimator_, output = held_out(self.estimator, features, y, **how)
        weight = check_sample_weight(inner.get("sample_weight"), y, dtype=float)
        # Each group has the sign of its association in the labels.
        auditor = DirectionalAuditor(pos_label=self.classes_[1], interval=None)
        with renaming(WITHOUT_POLICIES, y_train="y"):
            auditor.fit(y, sensitive_features=attribute, sample_weight=weight)
        self.groups_ = auditor.contingency_.groups
        rows = ScoredRows(
            positive_scores(output),
            read_groups(attribute, len(y), self.groups_),
            y == self.classes_[1],
            weight,
            auditor.y_at_.to_numpy()[:, 0],
        )
        score = score_of(self.scoring, self.classes_)
        self._thresholds, size = self._chosen(rows, score)
        if size > self.limit + _ROUNDING:
            further = ", or choose a threshold for each group (by_group=True)" * (not self.by_group)
            warn(
                f"No threshold has an amplification within {limit_of(self.limit)}: the nearest "
                f"one, {size:.4f}, is taken. Raise limit{further}.",
                UncertaintyWarning,  # about numbers: a search holds it back
            )
        level, apparent = self.confidence_level, []
        decided = np.empty(len(y), bool)
        for others, fold in folds:
            fitted = rows.take(others)
            thresholds = self._chosen(fitted, score)[0]
            every = rows.scores >= thresholds[rows.group]
            own = every[others]
            apparent.append([fitted.amplification(own), fitted.scored(own, score)[0]])
            decided[fold] = every[fold]
        # What the choice takes from the rows that it is made on, new rows do not give: an amount
        # that varies about as much.
        beyond = rows.amplification(decided), rows.scored(decided, score)[0]
        flattery = np.mean(apparent, axis=0) - beyond
        positive = rows.scores >= self._thresholds[rows.group]
        result, (scored, error) = rows.audit(positive, level), rows.scored(positive, score)
        times = stats.norm.isf((1 - level) / 2)
        reach = np.hypot([(result.high - result.low) / 2, times * error], times * flattery)
        numbers = [result.value, scored] - flattery
        self.amplification_, self.score_ = map(float, numbers)
        ends = np.column_stack([numbers - reach, numbers + reach]).tolist()
        self.amplification_interval_, self.score_interval_ = map(tuple, ends)

    def _chosen(self, rows: ScoredRows, score: Score) -> tuple[Array, float]:
        """Return the threshold of each group, and the size of the amplification."""
        thresholds = between(rows.scores[rows.weight > 0], _MOST)
        decisions = rows.at(thresholds)
        limit = self.limit + _ROUNDING
        choices = decisions.by_group(limit) if self.by_group else decisions.for_all
        best = decisions.best(choices, limit, score)
        return thresholds[best], abs(float(decisions.amplification(best[None])[0]))

    @property
    def thresholds_(self) -> pd.Series:
        """The threshold of each group."""
        return pd.Series(self._thresholds, as_index(self.groups_))

    def predict(self, X: Any, *, sensitive_features: Any = None) -> Array:
        """Predict with the thresholds.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows to predict.
        sensitive_features : array-like of shape (n_samples,) or (n_samples, n_features)
            Their sensitive feature, if `by_group` is True and `sensitive` does not name it.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        features = self._features(X)
        scores = positive_scores(response(self.estimator_, features))
        thresholds = self._thresholds[0]
        if self.by_group:
            attribute = self._sensitive(X, sensitive_features, "predict")
            thresholds = self._thresholds[read_groups(attribute, len(scores), self.groups_)]
        return self.classes_[(scores >= thresholds).astype(int)]
