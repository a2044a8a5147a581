"""Decisions at thresholds, for all groups or for each: their amplification and their score."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer

from skbiasamp._input.checks import Array
from skbiasamp._input.errors import InputError, speaking
from skbiasamp._utils.warnings import collected
from skbiasamp.counts.contingency import Contingency
from skbiasamp.counts.passed import passed
from skbiasamp.metrics import DirectionalAuditor
from skbiasamp.mitigation._pairs import WITHOUT_POLICIES
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
        member = self.group[:, None] == np.arange(len(self.sign))
        above = passed(self.scores, member, self.positive, self.weight, thresholds)
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


def labels_of_groups(y: Any, attribute: Any, positive: Any, weight: Any) -> Contingency:
    """Return the counts of labels that give each group the sign of its association."""
    auditor = DirectionalAuditor(pos_label=positive, interval=None)
    with speaking(WITHOUT_POLICIES, y_train="y"):
        return auditor.fit(y, sensitive_features=attribute, sample_weight=weight).contingency_


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
