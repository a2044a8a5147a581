"""Constraints on predictions: the group ratios of the training labels, and the rates of labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import product
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from skbiasamp._input.checks import Array
from skbiasamp._input.errors import InputError, quote
from skbiasamp._input.options import Option, PositionalOption, keywords
from skbiasamp._utils.compat import HasMethods, Interval, check_sample_weight, validate_params
from skbiasamp._utils.docstrings import filling
from skbiasamp._utils.warnings import warn
from skbiasamp.compose.sensitive import SENSITIVE, SensitivePredictor, available
from skbiasamp.mitigation._pairs import Memberships, as_index, read_groups, read_pairs
from skbiasamp.model_selection.thresholds import task_scores

# The maximum over predictions is smoothed, less and less, so that it has a gradient.
_TEMPERATURES = (1.0, 0.3, 0.1, 0.03)
_MOST_STEPS = 50  # at each
_CLOSE = 1e-3  # scores that differ by less are the same
_TINY = 1e-9
_REACH = 4  # how many rows are moved at once to mend one task, at most
_SHIFTS = 1_000  # in how many ways


class Constrained(NamedTuple):
    """Predictions that were brought within bounds."""

    chosen: Array  # rows × tasks, bool
    shifts: Array  # groups × tasks: what multipliers add to scores
    unmet: Array  # tasks whose bounds are not kept


class ShareLimits(NamedTuple):
    """Between what shares of a task's predictions each group must have; groups × tasks."""

    low: Array
    high: Array

    def excess(self, table: Array) -> Array:
        """Return by how many rows each task is out of bounds."""
        total = table.sum(axis=0)
        over = np.maximum(table - self.high * total - _TINY * total, 0)
        under = np.maximum(self.low * total - table - _TINY * total, 0)
        return (over + under).sum(axis=0)


def constrain(scores: Array, group: Array, bounds: ShareLimits, *, exclusive: bool) -> Constrained:
    """Choose tasks for rows: the best sum of scores within bounds.

    Each row has the task with the greatest score if tasks are exclusive, and else all tasks with
    scores above 0. Tasks without bounds have (0, 1).
    """
    within = (np.arange(len(bounds.low))[:, None] == group).astype(float)
    # A group that is not here cannot have its share.
    absent = (bounds.low > 0) & (within.sum(axis=1) == 0)[:, None]
    hopeless = absent.any(axis=0)
    bounds = ShareLimits(np.where(hopeless, 0, bounds.low), np.where(hopeless, 1, bounds.high))
    chosen = choose_tasks(scores, exclusive=exclusive)
    shifts = np.zeros(bounds.low.shape)
    broken: Array = np.asarray(bounds.excess(within @ chosen) > 0)
    if exclusive and broken.any():
        shifts = _shifts(scores, bounds, lambda shift: shift[group], lambda share: within @ share)
        shifted = scores + shifts[group]
        repair = _Repair(shifted, group, within, bounds)
        chosen = repair.fix_all(choose_tasks(shifted, exclusive=True))
    elif not exclusive:
        for task in np.flatnonzero(broken):  # each stands alone
            chosen[:, task], shifts[:, task] = _best_of_one(
                scores[:, task], group, bounds.low[:, task], bounds.high[:, task]
            )
    return Constrained(chosen, shifts, hopeless | (bounds.excess(within @ chosen) > 0))


def choose_tasks(scores: Array, *, exclusive: bool) -> Array:
    """Choose tasks for rows, without bounds."""
    if not exclusive:
        return scores > 0
    return scores.argmax(axis=1)[:, None] == np.arange(scores.shape[1])


def _best_of_one(scores: Array, group: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """Choose the rows of one task with the best sum of scores within bounds.

    With a given number of rows, bounds are limits for each group's number, and best are the
    first rows of one order of all, but for groups that have reached a limit. So for every number
    of rows a bisection finds how far to go in that order, and the best number is chosen.
    """
    n, groups = len(scores), np.arange(len(low))[:, None]
    order = np.argsort(-scores, kind="stable")
    mine = groups == group[order]
    ahead = np.pad(mine.cumsum(axis=1), ((0, 0), (1, 0)))  # each group's rows of the first 0..n
    total = np.arange(n + 1)
    least = np.ceil(low[:, None] * total - _TINY * total).astype(int)
    most = np.floor(high[:, None] * total + _TINY * total).astype(int)
    most = np.minimum(most, ahead[:, [n]])
    fits = (least <= most).all(axis=0) & (least.sum(axis=0) <= total) & (total <= most.sum(axis=0))
    total, least, most = total[fits], least[:, fits], most[:, fits]
    few, many = np.zeros(len(total), int), np.full(len(total), n)
    while (few < many).any():
        half = (few + many) // 2
        enough = np.clip(ahead[:, half], least, most).sum(axis=0) >= total
        few, many = np.where(enough, few, half + 1), np.where(enough, half, many)
    counts = np.clip(ahead[:, few], least, most)
    own = np.sort(np.where(mine, -scores[order], np.inf), axis=1)  # each group's, best first
    sums = np.pad(np.cumsum(np.where(np.isfinite(own), -own, 0), axis=1), ((0, 0), (1, 0)))
    best = int(np.argmax(sums[groups, counts].sum(axis=0)))
    count = counts[:, [best]]
    chosen = np.zeros(n, bool)
    chosen[order] = (mine & (ahead[:, :-1] < count)).any(axis=0)
    # The least shift of each group's scores that makes them so.
    beyond = np.pad(own, ((0, 0), (1, 1)), constant_values=(-np.inf, np.inf))
    shift = np.clip(0, beyond[groups, count], beyond[groups, count + 1])
    return chosen, shift[:, 0]


def constrain_pairs(scores: Array, bounds: ShareLimits) -> Constrained:
    """Choose a pair of group and task for each row: the best sum of scores within bounds.

    `scores` are rows × groups × tasks, and so is what is chosen.
    """
    shape = bounds.low.shape
    flat = scores.reshape(len(scores), -1)
    chosen = choose_tasks(flat, exclusive=True)
    shifts = np.zeros(shape)
    if bounds.excess(chosen.sum(axis=0).reshape(shape)).any():
        shifts = _shifts(flat, bounds, np.ravel, lambda share: share.sum(axis=0).reshape(shape))
        flat = flat + shifts.ravel()
        chosen = choose_tasks(flat, exclusive=True)
    pairs = chosen.reshape(scores.shape)
    flat = flat.reshape(scores.shape)
    # A few rows are undecided: they go from one group to another, at the least loss of score.
    while (excess := bounds.excess(table := pairs.sum(axis=0))).any():
        task = int(excess.argmax())
        column, total = table[:, task], table[:, task].sum()
        over = column - bounds.high[:, task] * total
        under = bounds.low[:, task] * total - column
        source = int(np.argmax(over if (over > 0).any() else -under))
        to = int(np.argmax(under if (under > 0).any() else -over))
        moved = table.astype(float)
        moved[[source, to], task] += -1, 1
        if bounds.excess(moved).sum() >= excess.sum():
            break
        rows = np.flatnonzero(pairs[:, source, task])
        row = rows[np.argmin(flat[rows, source, task] - flat[rows, to, task])]
        pairs[row, source, task], pairs[row, to, task] = False, True
    return Constrained(pairs, shifts, excess > 0)


def _shifts(
    scores: Array,
    bounds: ShareLimits,
    spread: Callable[[Array], Array],
    collect: Callable[[Array], Array],
) -> Array:
    """Minimise the Lagrangian dual of exclusive choices; return how its multipliers shift scores.

    `spread` turns shifts of groups and tasks into shifts of scores, `collect` does the reverse.
    """
    bound = ((bounds.low > 0) | (bounds.high < 1)).any(axis=0)
    low, high = bounds.low[:, bound], bounds.high[:, bound]
    n = len(scores)

    def shifts(flat: Array) -> Array:
        up, down = flat.reshape(2, *low.shape)
        every = np.zeros(bounds.low.shape)
        every[:, bound] = down - up + (up * high - down * low).sum(axis=0)
        return every

    def dual(flat: Array, temperature: float) -> tuple[float, Array]:
        z = (scores + spread(shifts(flat))) / temperature
        top = z.max(axis=1, keepdims=True)
        share = np.exp(z - top)
        norm = share.sum(axis=1, keepdims=True)
        value = np.sum(np.log(norm) + top)
        table = collect(share / norm)[:, bound]
        total = table.sum(axis=0)
        slope = np.stack([high * total - table, table - low * total])
        return temperature * value / n, slope.ravel() / n

    flat = np.zeros(2 * low.size)
    for temperature in _TEMPERATURES:
        flat = minimize(
            dual,
            flat,
            args=(temperature,),
            jac=True,
            method="L-BFGS-B",
            bounds=[(0, None)] * flat.size,
            options={"maxiter": _MOST_STEPS},
        ).x
    return shifts(flat)


class _Repair(NamedTuple):
    """Rows of groups that go from one exclusive task to another until all bounds are kept."""

    scores: Array
    group: Array
    within: Array  # groups × rows, 0/1
    bounds: ShareLimits

    def changes(self, chosen: Array) -> tuple[Array, Array, Array, Array]:
        """Return each task's excess, and how it changes with one row less, or more, of each group.

        The last array is the score that each row loses by going from its task to each other.
        """
        table = self.within @ chosen
        excess = self.bounds.excess(table)
        ones = np.eye(len(table))[:, :, None]
        less = np.stack([self.bounds.excess(np.maximum(table - row, 0)) for row in ones]) - excess
        more = np.stack([self.bounds.excess(table + row) for row in ones]) - excess
        return excess, less, more, self.scores[chosen][:, None] - self.scores

    def fix_all(self, chosen: Array) -> Array:
        """Move rows, those first that cost least score, until all bounds are kept."""
        every = np.arange(len(chosen))
        while True:
            excess, less, more, loss = self.changes(chosen)
            if not excess.any():
                return chosen
            now = chosen.argmax(axis=1)
            change = less[self.group, now][:, None] + more[self.group]
            change[every, now] = 0
            worth = np.where(change < -_TINY, change / (loss + _CLOSE), 0)
            to = worth.argmin(axis=1)
            worth = worth[every, to]
            untouched = np.ones(chosen.shape[1], bool)
            for row in np.argsort(worth, kind="stable")[: np.sum(worth < 0)]:
                if untouched[now[row]] and untouched[to[row]]:
                    untouched[[now[row], to[row]]] = False
                    chosen[row, now[row]], chosen[row, to[row]] = False, True
            if untouched.all():
                better = self.fix_one(chosen)
                if better is None:
                    return chosen
                chosen = better

    def fix_one(self, chosen: Array) -> Array | None:
        """Move several rows at once to mend one task without harm to others; None if none can."""
        table, bounds = self.within @ chosen, self.bounds
        for task in np.flatnonzero(bounds.excess(table)):
            for step in _steps(table[:, task], bounds.low[:, task], bounds.high[:, task]):
                trial = chosen.copy()
                if all(
                    self.move(trial, code, int(task), joins=n > 0)
                    for code, n in enumerate(step)
                    for _ in range(abs(n))
                ):
                    return trial
        return None

    def move(self, chosen: Array, code: int, task: int, *, joins: bool) -> bool:
        """Move a row of the group into the task, or out of it, if that does no harm to others."""
        _, less, more, loss = self.changes(chosen)
        less[:, task] = more[:, task] = 0  # this task may get worse on its way
        now, tasks = chosen.argmax(axis=1), np.arange(chosen.shape[1])
        harmless = (less[code, now] <= _TINY)[:, None] & (more[code] <= _TINY)
        own = (self.group == code)[:, None] & ~chosen
        able = harmless & own & (tasks == task if joins else (now == task)[:, None])
        if able.any():
            row, to = divmod(int(np.argmin(np.where(able, loss, np.inf))), len(tasks))
            chosen[row, now[row]], chosen[row, to] = False, True
        return bool(able.any())


def _steps(column: Array, low: Array, high: Array) -> list[tuple[int, ...]]:
    """Return what rows of each group may join or leave a task to bring it within bounds."""
    reach = int(np.clip((_SHIFTS ** (1 / len(column)) - 1) // 2, 1, _REACH))
    steps = np.array(list(product(range(-reach, reach + 1), repeat=min(len(column), 6))))
    steps = np.pad(steps, ((0, 0), (0, len(column) - steps.shape[1])))
    after = (column + steps).T
    inside = ShareLimits(low[:, None], high[:, None]).excess(after) == 0
    steps = steps[inside & (after >= 0).all(axis=0)]
    order = np.argsort(np.abs(steps).sum(axis=1), kind="stable")
    return [tuple(step) for step in steps[order][:20].tolist()]


# --------------------------------------------------------------------------- the classifier


_CERTAIN = 1e-9


@dataclass(frozen=True, eq=False)
class ConstrainedPredictions:
    """Predictions of a batch and their changes, as returned by `CorpusConstraintClassifier`.

    Attributes
    ----------
    y_pred : ndarray of shape (n_samples,) or (n_samples, n_tasks)
        The predictions.
    table : DataFrame
        One row for each pair: ``group``, ``task``, ``target`` (the group's share of the task in
        training), its share of the task's predictions ``before`` and ``after`` (NaN if nothing is
        predicted), and whether the bounds of the task are ``met``.
    shifts : DataFrame
        Groups × tasks: the numbers added to scores (log-odds of binary and of several labels per
        row, log-probabilities of classes). Below 0 for a group that had too many predictions.
    n_changed : int
        Number of rows whose prediction differs from that of the classifier alone.
    sensitive_pred : ndarray of shape (n_samples,) or None
        The predicted groups, if `joint`.
    """

    y_pred: Array
    table: pd.DataFrame
    shifts: pd.DataFrame
    n_changed: int
    sensitive_pred: Array | None = None


@filling
class CorpusConstraintClassifier(SensitivePredictor):
    """Corpus-level constraints (RBA): keep each group's training share of every task's predictions.

    "Reducing bias amplification" [1]_: among all predictions of a batch that keep every group's
    share of every task within `margin` of its training share, it chooses those with the best sum
    of scores. Lagrangian multipliers shift the scores.

    .. versionadded:: 0.1

    Parameters
    ----------
    estimator : classifier
        The classifier, with ``predict_proba``: binary, multiclass or multilabel.
    margin : float, default=0.05
        Largest difference between a group's share of a task's predictions and its training share.
        A smaller margin changes more predictions.
    %(sensitive)s
        Both `fit` and `predict` need it.
    drop_sensitive : bool, default=False
        True hides these columns from the classifier. False passes them on, which fails for text
        unless the classifier encodes it.
    joint : bool, default=False
        True predicts group and label together, as in [1]_: the classifier learns pairs of them, and
        the constraints choose pairs. `predict` then does not need the sensitive feature, and
        `predict_sensitive` returns the predicted groups. Several labels per row need `sets`.
    sets : bool, default=False
        With several labels per row. False keeps the shares of each task. True keeps those of each
        set of tasks as a whole, and predicts sets that training has: constraining single tasks can
        raise multi-attribute amplification.

    Attributes
    ----------
    estimator_ : classifier
        The fitted classifier.
    ratios_ : DataFrame
        Groups × tasks: the group's share of the training rows that have the task.
    groups_ : tuple
        The groups.
    classes_, n_features_in_, feature_names_in_
        Those of the fitted classifier; hidden columns are counted.

    See Also
    --------
    DomainIndependentClassifier : Mitigation that does not need the sensitive feature to predict.

    Notes
    -----
    With ``k(a, t)`` predictions of task `t` in group `a` and the training share ``r(a, t)``, the
    constraints are ``|k(a, t) − r(a, t) Σ_b k(b, t)| ≤ margin Σ_b k(b, t)``. The solution is exact
    for binary labels and for several labels per row, task by task. For exclusive classes, the
    Lagrangian dual is minimised with a smoothed maximum, and the few undecided rows are changed
    one by one if that costs least score. This solves more than 95 % of random problems that have a
    solution (``tests/test_mitigation_classifiers.py``). If it fails, for example because a group
    is not in the batch, a ``ConvergenceWarning`` names the tasks, and `constrain` returns the
    shares reached. A task that is never predicted meets its constraints, so rare tasks may vanish.

    The cost is accuracy, if the labels of the batch differ from the training labels. People of
    different groups with the same scores are treated differently, which the law may forbid. A
    prediction depends on the other rows of its batch: larger batches are better. The constraints
    concern shares of groups in tasks, as in [1]_; other amplifications may increase.

    References
    ----------
    .. [1] Zhao, Wang, Yatskar, Ordonez, Chang. Men also like shopping: reducing gender bias
       amplification using corpus-level constraints. EMNLP 2017.

    Examples
    --------
    Two thirds of the people hired are men. A model with a noisy measure of skill hires 79 % men;
    the constraint reduces this to 72 %:

    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skbiasamp.mitigation import CorpusConstraintClassifier
    >>> sex = np.repeat(["f", "m"], 300)
    >>> skill = np.tile(np.arange(10), 60)
    >>> hired = np.concatenate([skill[:300] >= 8, skill[300:] >= 6]).astype(int)
    >>> X = np.column_stack([skill, sex == "m"])
    >>> X = X + np.random.default_rng(0).normal(0, [3, 0.1], X.shape)
    >>> model = CorpusConstraintClassifier(LogisticRegression())
    >>> model = model.fit(X, hired, sensitive_features=sex)
    >>> model.constrain(X, sensitive_features=sex).table.round(2)
      group  task  target  before  after   met
    0     f     1    0.33    0.21   0.28  True
    1     m     1    0.67    0.79   0.72  True
    """

    estimator: Any = PositionalOption(HasMethods(["fit", "predict_proba"]), kw_only=False)
    margin: float = Option(0.05, Interval(Real, 0, 1, closed="left"))
    sensitive: Any = Option(None, *SENSITIVE)
    drop_sensitive: bool = Option(False, "boolean")
    joint: bool = Option(False, "boolean")
    sets: bool = Option(False, "boolean")

    def _fit(self, X: Any, y: Any, sensitive_features: Any, routed: dict[str, Any]) -> None:
        inner = routed["estimator"]
        attribute = self._sensitive(X, sensitive_features, "fit")
        features = self._hide(X)
        learned = y
        if self.joint:
            pairs = self._pairs(y, attribute)
            learned = pairs.group * len(pairs.tasks) + pairs.member.argmax(axis=1)
        with self._noting(X):
            self.estimator_ = clone(self.estimator).fit(features, learned, **inner)
        pairs = self._pairs(y, attribute)  # what is wrong with X, the classifier has said
        pairs.require_classes()
        weight = check_sample_weight(inner.get("sample_weight"), pairs.group, dtype=float)
        counts = (pairs.within(pairs.group) * weight) @ pairs.member
        self._exclusive = pairs.one_label
        self._binary = self._one_label and len(pairs.tasks) == 2 and not self.joint
        self._ratios = _shares(counts)[:, int(self._binary) :]
        self.groups_, self._tasks = pairs.groups, pairs.tasks[int(self._binary) :]

    def _pairs(self, y: Any, attribute: Any) -> Memberships:
        """Read groups and tasks of rows; sets of tasks are tasks if asked for."""
        pairs, self._members = read_pairs(y, attribute), None
        self._one_label = pairs.one_label
        if self.sets and not pairs.one_label:
            pairs, self._members = pairs.of_sets()
        if self.joint and not pairs.one_label:
            raise InputError(
                "joint=True needs one label a row, and {y} has several columns. Pass sets=True to "
                "predict sets of tasks."
            )
        return pairs

    @property
    def ratios_(self) -> pd.DataFrame:
        """Each group's share of the training rows of each task."""
        return pd.DataFrame(self._ratios, as_index(self.groups_), as_index(self._tasks))

    def constrain(self, X: Any, *, sensitive_features: Any = None) -> ConstrainedPredictions:
        """Predict a batch, and return the predictions with their changes.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows to predict: a batch.
        sensitive_features : array-like of shape (n_samples,) or (n_samples, n_features)
            Their sensitive feature, if `sensitive` does not name it.

        Returns
        -------
        predictions : ConstrainedPredictions
        """
        check_is_fitted(self)
        scores = self._scores(X)
        ratio = self._ratios
        low, high = np.maximum(ratio - self.margin, 0), np.minimum(ratio + self.margin, 1)
        bounds = ShareLimits(np.where(np.isnan(low), 0, low), np.where(np.isnan(high), 1, high))
        exclusive = self._exclusive and not self._binary
        before = choose_tasks(scores, exclusive=exclusive)
        chosen: Array
        if self.joint:
            of_pairs = (len(scores), *ratio.shape)
            constrained = constrain_pairs(scores.reshape(of_pairs), bounds)
            group = np.asarray(constrained.chosen.any(axis=2)).argmax(axis=1)
            chosen = np.asarray(constrained.chosen.any(axis=1))
            counts = [pairs.reshape(of_pairs).sum(axis=0) for pairs in (before, constrained.chosen)]
        else:
            attribute = self._sensitive(X, sensitive_features, "predict")
            group = read_groups(attribute, len(scores), self.groups_)
            constrained = constrain(scores, group, bounds, exclusive=exclusive)
            chosen = constrained.chosen
            within = (np.arange(len(ratio))[:, None] == group).astype(float)
            counts = [within @ before, within @ chosen]
        names = self.ratios_
        columns = {"target": ratio, "before": _shares(counts[0]), "after": _shares(counts[1])}
        table = pd.DataFrame(
            {name: shares.ravel() for name, shares in columns.items()},
            pd.MultiIndex.from_product([names.index, names.columns], names=["group", "task"]),
        )
        table = table.assign(met=np.tile(~constrained.unmet, len(ratio))).reset_index()
        y_pred = chosen.astype(int)
        if self._members is not None:
            y_pred = self._members[y_pred.argmax(axis=1)].astype(int)
        elif self._one_label:
            y_pred = self.classes_[y_pred[:, 0] if self._binary else y_pred.argmax(axis=1)]
        return ConstrainedPredictions(
            y_pred=y_pred,
            table=table,
            shifts=pd.DataFrame(constrained.shifts, names.index, names.columns),
            n_changed=int((before != constrained.chosen.reshape(before.shape)).any(axis=1).sum()),
            sensitive_pred=as_index(self.groups_).to_numpy()[group] if self.joint else None,
        )

    def predict(self, X: Any, *, sensitive_features: Any = None) -> Array:
        """Predict a batch of rows.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows to predict: a batch.
        sensitive_features : array-like of shape (n_samples,) or (n_samples, n_features)
            Their sensitive feature, if `sensitive` does not name it.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,) or (n_samples, n_tasks)
        """
        result = self.constrain(X, sensitive_features=sensitive_features)
        unmet = result.table.loc[~result.table["met"], "task"].unique()
        if len(unmet):
            warn(
                f"In these {len(result.y_pred):,} rows, groups do not have their training shares "
                f"(within {self.margin:g}) of {len(unmet)} of {self._ratios.shape[1]} tasks: "
                f"{quote(unmet.tolist())}. Predict larger batches with all groups, or raise "
                "margin; constrain(X) returns the shares reached.",
                ConvergenceWarning,
            )
        return result.y_pred

    @filling
    def predict_proba(self, X: Any) -> Array:
        """Return the probabilities of the classifier, which no constraint moves.

        Parameters
        ----------
        %(X)s

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes) or (n_samples, n_tasks)
            The probability of each class, or of each task if there are several.
        """
        output: Array = super().predict_proba(X)
        if not self.joint:
            return output
        pairs = np.zeros((len(output), self._ratios.size))
        pairs[:, self.estimator_.classes_] = output
        of_classes = pairs.reshape(-1, *self._ratios.shape).sum(axis=1)
        return np.asarray(of_classes if self._members is None else of_classes @ self._members)

    @property
    def classes_(self) -> Any:
        """The classes of the labels."""
        if not self.joint:
            return self.estimator_.classes_
        if self._members is not None:
            return [np.arange(2)] * self._members.shape[1]
        return as_index(self._tasks).to_numpy()

    @available(lambda self: self.joint)
    def predict_sensitive(self, X: Any) -> Array:
        """Predict the groups of a batch of rows, if `joint`.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows to predict: a batch.

        Returns
        -------
        sensitive_pred : ndarray of shape (n_samples,)
        """
        return np.asarray(self.constrain(X).sensitive_pred)

    def _scores(self, X: Any) -> Array:
        """Return log-probabilities of classes, or log-odds of tasks or their sums over sets."""
        output = self.estimator_.predict_proba(self._features(X))
        if self.joint:  # pairs that training did not have are nearly impossible
            probability = np.full((len(output), self._ratios.size), _CERTAIN)
            probability[:, self.estimator_.classes_] = np.clip(output, _CERTAIN, 1)
            return np.log(probability)
        probability = task_scores(output, self.classes_)
        if self._binary:
            probability = probability[:, [1]]
        # Certainty is bounded, or no multiplier could move it.
        probability = np.clip(np.asarray(probability, dtype=float), _CERTAIN, 1 - _CERTAIN)
        log = np.log(probability)
        if self._one_label and not self._binary:
            return log
        odds = log - np.log1p(-probability)
        # All sets have log(1 - p) of every task in common.
        return odds if self._members is None else odds @ self._members.T


def _shares(table: Array) -> Array:
    """Return each group's share of a task's predictions, NaN if nothing is predicted."""
    total = table.sum(axis=0)
    return table / np.where(total > 0, total, np.nan)


# ------------------------------------------------------------------ for Fairlearn's reductions


@keywords()
@validate_params({"difference_bound": [Interval(Real, 0, None, closed="left")]})
def AmplificationParity(*, difference_bound: float = 0.01) -> Any:
    """Constraint for Fairlearn's reductions: predict a label as often as each group has it.

    Fairlearn's own constraints ask for equal rates in all groups. This one keeps ``P(Ŷ = 1 | A)``
    within a bound of ``P(Y = 1 | A)``, so the model neither amplifies nor removes what the labels
    have. Pass it to ``fairlearn.reductions.ExponentiatedGradient`` or ``GridSearch``
    (``pip install 'skbiasamp[fairlearn]'``). The model does not need the group to predict.

    .. versionadded:: 0.2

    Parameters
    ----------
    difference_bound : float, default=0.01
        Largest difference between the rate of a group's predictions and that of its labels.

    Returns
    -------
    constraint : fairlearn.reductions.Moment

    See Also
    --------
    search : Compare mitigations.

    References
    ----------
    .. [1] Agarwal, Beygelzimer, Dudík, Langford, Wallach. A reductions approach to fair
       classification. ICML 2018.

    Examples
    --------
    >>> from fairlearn.reductions import ExponentiatedGradient  # doctest: +SKIP
    >>> from skbiasamp.mitigation import AmplificationParity
    >>> constraint = AmplificationParity(difference_bound=0.005)  # doctest: +SKIP
    >>> model = ExponentiatedGradient(LogisticRegression(), constraint)  # doctest: +SKIP
    >>> model.fit(X, hired, sensitive_features=sex)  # doctest: +SKIP
    """
    return _kind()(difference_bound)


@cache
def _kind() -> Any:
    try:
        from fairlearn.reductions import ClassificationMoment, ErrorRate
    except ImportError as error:
        raise ImportError(
            "AmplificationParity needs Fairlearn: pip install 'skbiasamp[fairlearn]'"
        ) from error

    class Parity(ClassificationMoment):
        """For each group: the rate of predictions minus that of labels, and its negative."""

        short_name = "AmplificationParity"
        index: Any = None

        def __init__(self, difference_bound: float) -> None:
            super().__init__()
            self.difference_bound = difference_bound

        def __reduce__(self) -> Any:  # classes inside functions cannot be pickled
            return _made, (self.__dict__,)

        def load_data(self, X: Any, y: Any, *, sensitive_features: Any) -> None:
            """Count rows and labels of each group."""
            y = pd.Series(np.ravel(y)).reset_index(drop=True)
            groups = pd.DataFrame(sensitive_features).reset_index(drop=True)
            code = groups.groupby(list(groups.columns), observed=True).ngroup()
            super().load_data(X, y, sensitive_features=code)
            self.n_groups = int(code.max()) + 1
            self.index = pd.MultiIndex.from_product([["+", "-"], range(self.n_groups)])
            # A row for each group, which makes sums of rows means of groups.
            self.means = (np.arange(self.n_groups)[:, None] == code.to_numpy()) * 1.0
            self.means /= self.means.sum(axis=1, keepdims=True)
            # What GridSearch goes through, up to 2 of these. A multiplier of a group's share of
            # the rows makes all its decisions alike, so the grid goes half the way.
            every = np.diag(np.tile((self.means > 0).mean(axis=1) / 4, 2))
            self.pos_basis, self.neg_basis = (
                pd.DataFrame(half, index=self.index) for half in np.split(every, 2, axis=1)
            )
            self.neg_basis_present = pd.Series([True] * self.n_groups)
            self.default_objective_lambda_vec = None

        def default_objective(self) -> Any:
            """Return the error that is minimised."""
            return ErrorRate()

        def gamma(self, predictor: Any) -> pd.Series:
            """Return the differences of rates."""
            difference = self.means @ (np.ravel(predictor(self.X)) - self._y.to_numpy())
            return pd.Series(np.append(difference, -difference), index=self.index)

        def bound(self) -> pd.Series:
            """Return what they may be."""
            return pd.Series(self.difference_bound, index=self.index)

        def project_lambda(self, lambda_vec: pd.Series) -> pd.Series:
            """Return multipliers of which one of each pair is 0."""
            both = lambda_vec.to_numpy().reshape(2, -1)
            return pd.Series((both - both.min(axis=0)).ravel(), index=self.index)

        def signed_weights(self, lambda_vec: pd.Series) -> pd.Series:
            """Return what predicting 1 gains in each row."""
            more, less = lambda_vec.to_numpy().reshape(2, -1)
            return pd.Series((less - more) @ self.means * self.total_samples)

    return Parity


def _made(state: dict[str, Any]) -> Any:
    made = _kind()(state["difference_bound"])
    made.__dict__.update(state)
    return made
