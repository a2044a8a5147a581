"""CorpusConstraintClassifier: predictions with the group ratios of the training labels."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from skbiasamp._input.checks import Array
from skbiasamp._input.errors import InputError, quote
from skbiasamp._input.options import Option, PositionalOption
from skbiasamp._utils.compat import HasMethods, Interval, check_sample_weight
from skbiasamp._utils.docstrings import filling
from skbiasamp._utils.warnings import warn
from skbiasamp.compose.sensitive import SENSITIVE
from skbiasamp.compose.wrapper import SensitivePredictor, available
from skbiasamp.mitigation._constraints import ShareLimits, choose_tasks, constrain, constrain_pairs
from skbiasamp.mitigation._pairs import (
    Memberships,
    as_index,
    read_groups,
    read_pairs,
)
from skbiasamp.model_selection.thresholds import task_scores

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
