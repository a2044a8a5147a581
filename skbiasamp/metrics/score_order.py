"""Order of scores: whether they are larger for the positive class, or the other; thresholds."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Literal, NamedTuple

import numpy as np
from scipy import stats

from skbiasamp._input.checks import Array
from skbiasamp._input.errors import InputError, called, of_one_model
from skbiasamp._input.labels import Labels, Side, codes_of, ranked
from skbiasamp.counts.cells import side_of, sides_of
from skbiasamp.counts.contingency import Contingency
from skbiasamp.counts.parts import of_model
from skbiasamp.inference.influence import variance_of

_FEWER = 0.0005  # of honest scores are called reversed, even if these say nothing
_ABOVE = 0.025  # of scores that say nothing are taken for scores of the positive class


class ScoreOrder(NamedTuple):
    """How scores rank the rows of both classes.

    Attributes
    ----------
    positive : the class that scores are read as.
    other : the other class.
    auc : area under the ROC curve.
    p_below : of a one-sided test that scores rank at least at random.
    p_above : of a one-sided test that scores rank at most at random.
    exact : whether `auc` is of single rows, and not of their sums.
    """

    positive: Hashable
    other: Hashable
    auc: float
    p_below: float
    p_above: float
    exact: bool

    @property
    def reversed(self) -> bool:
        """Whether scores are clearly larger for the other class."""
        return self.p_below < _FEWER

    @property
    def doubtful(self) -> bool:
        """Whether scores are rather larger for the other class, but not clearly so."""
        return _FEWER <= self.p_below < _ABOVE

    @property
    def unclear(self) -> bool:
        """Whether scores are not clearly larger for either class."""
        return self.p_below >= _FEWER and self.p_above >= _ABOVE

    @property
    def shown(self) -> str:
        """The area under the ROC curve as sentences show it."""
        if self.exact:
            return f"{self.auc:.3f}" if self.auc > 0.445 else f"{self.auc:.2f}"
        return "clearly below 0.5" if self.reversed else "near 0.5"


def score_order(cells: Contingency) -> ScoreOrder | None:
    """Return how scores rank both classes, or None if there are no scores of two classes."""
    return _order(cells, "task", cells.pos_label) if cells.has("task") else None


def group_order(cells: Contingency) -> ScoreOrder | None:
    """Return how the probabilities of the group that sorts last rank both groups, or None."""
    soft = cells.has("group_pred") and cells.soft("group_pred")
    return _order(cells, "group", cells.groups[-1]) if soft and len(cells.groups) == 2 else None


def is_chosen(test: Contingency) -> bool:
    """Whether the positive class was chosen; else it is the one that sorts last."""
    return test.naming.pos_label is not None


def are_named(test: Contingency) -> bool:
    """Whether the classes are text, whose order says nothing."""
    return all(isinstance(name, str) for name in test.classes or (None,))


def check_class(test: Contingency) -> None:
    """Raise if scores are clearly of the other class, and nobody chose the positive one."""
    if test.naming.pos_label is not None or not are_named(test):
        return
    for model in test.models or (None,):
        order = score_order(test if model is None else of_model(test, model))
        if order is None or not order.reversed:
            continue
        raise InputError(
            "{name} holds scores that are larger for rows labelled {seen!r} than for "
            "{positive!r}, which is the positive class since it sorts last: the area under the "
            "ROC curve is {auc}. Say of which class they are: {first} or {last}.",
            name=of_one_model("y_pred", model) if model else "y_pred",
            seen=order.other,
            positive=order.positive,
            auc=order.shown,
            first=called(f"pos_label={order.other!r}"),
            last=called(f"pos_label={order.positive!r}"),
        )


def _order(
    cells: Contingency, label: Literal["task", "group"], pos_label: Hashable
) -> ScoreOrder | None:
    """Return how scores rank both classes, with p-values of an area below and above 1/2."""
    truth = side_of(cells, label)
    given = sides_of(cells).get("task_pred" if label == "task" else "group_pred")
    if pos_label is None or given is None or truth.is_matrix:
        return None  # of several classes none is positive
    score = _scores(given, truth, pos_label)
    if score is None:
        return None
    codes = codes_of(truth)
    positive = np.array([name == pos_label for name in truth.names])[codes]
    n = [float(cells.weight @ rows * cells.units_per_weight) for rows in (positive, ~positive)]
    if min(n) == 0:
        return None
    other = truth.names[int(codes[~positive & (cells.weight > 0)][0])]
    weights = [cells.weight * rows for rows in (positive, ~positive)]
    totals = [float(weight.sum()) for weight in weights]
    placed = [_share_below(score, group) for group in weights]
    above, below = placed[1], 1 - placed[0]  # of a positive row, and of another
    auc = float(weights[0] @ above) / totals[0]
    # The larger p-value of two tests: with the variance of random ranks (Mann-Whitney), and with
    # that of the ranks as they are (DeLong), by weights and clusters. The first holds for few rows,
    # the second if scores of one class vary more.
    influence = np.where(positive, (above - auc) / totals[0], (below - auc) / totals[1])
    variance = variance_of(cells, influence)
    random = ((sum(n) + 1) / (12 * n[0] * n[1])) ** 0.5
    freedom = max(min(n) - 1, 1.0)
    distance = auc - 0.5
    of_ranks = (
        distance / variance**0.5 if variance > 0 else distance and np.copysign(np.inf, distance)
    )
    p_below, p_above = (
        float(max(stats.norm.sf(way * distance / random), stats.t.sf(way * of_ranks, freedom)))
        for way in (-1, 1)
    )
    return ScoreOrder(pos_label, other, auc, p_below, p_above, exact=cells.summed is None)


def _scores(given: Side, truth: Side, pos_label: Hashable) -> Array | None:
    """Return the score of each cell; None if these are no scores of the classes."""
    if given.is_matrix and given.names != truth.names:
        return None  # an embedding
    if given.is_matrix:
        # One column is of the positive class; of more, one is.
        width = given.labels.width
        return given.labels.column(given.names.index(pos_label) if width > 1 else 0)
    if all(type(name) in (int, float) for name in given.names):
        return np.array(given.names, dtype=float)[codes_of(given)]
    return None


def _share_below(score: Array, weight: Array) -> Array:
    """Return for each score the share of the weight at smaller scores; equal ones count half."""
    _, at = ranked(score)
    each = np.bincount(at, weight)
    share: Array = ((np.cumsum(each) - each / 2) / each.sum())[at]
    return share


# --------------------------------------------------------------------------- thresholds


def between(scores: Array, most: int) -> Array:
    """Return thresholds halfway between distinct scores, −∞ and ∞; of more than `most`, some."""
    values = np.unique(scores)
    if len(values) > most:
        values = values[np.linspace(0, len(values) - 1, most).round().astype(int)]
    middle = values[:-1] + np.diff(values) / 2
    return np.concatenate([[-np.inf], np.where(middle > values[:-1], middle, values[1:]), [np.inf]])


def passed(
    scores: Array, groups: Labels, positive: Array, weight: Array, thresholds: Array
) -> Array:
    """Return the weight of rows with a score of at least each threshold.

    The result is labels (negative, positive) × groups × thresholds.
    """
    code = np.searchsorted(thresholds, scores, side="right")  # thresholds that a row passes
    sums = [
        [
            np.bincount(code, weight * groups.column(i) * rows, len(thresholds) + 1)
            for i in range(groups.width)
        ]
        for rows in (~positive, positive)
    ]
    return np.cumsum(np.array(sums)[..., ::-1], axis=-1)[..., ::-1][..., 1:]
