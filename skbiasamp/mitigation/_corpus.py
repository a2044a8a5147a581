"""CorpusConstraintClassifier: predictions with the group ratios of the training labels."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted

from skbiasamp._compat import HasMethods, Interval, check_sample_weight
from skbiasamp._input import Array, quote
from skbiasamp.compose import HidingWrapper, fit_params
from skbiasamp.compose._columns import noting_text
from skbiasamp.mitigation._constraints import Bounds, choose, constrain
from skbiasamp.mitigation._pairs import find_attribute, read_groups, read_pairs
from skbiasamp.model_selection._responses import task_scores

_CERTAIN = 1e-9


@dataclass(frozen=True, eq=False)
class ConstrainedPredictions:
    """Predictions of a batch, and what was done to them.

    Attributes
    ----------
    y_pred : ndarray of shape (n_samples,) or (n_samples, n_tasks)
        The predictions.
    table : DataFrame
        One row a pair: ``group``, ``task``, ``target`` (the group's share of the task in
        training), its share of the task's predictions ``before`` and ``after`` (NaN where
        nothing is predicted), and whether the task's bounds are ``met``.
    shifts : DataFrame
        Groups × tasks: what the multipliers add to scores (log-odds of binary labels and of
        several a row, log-probabilities of classes); below 0 where a group is held back.
    n_changed : int
        How many rows are predicted otherwise than by the classifier alone.
    """

    y_pred: Array
    table: pd.DataFrame
    shifts: pd.DataFrame
    n_changed: int


class CorpusConstraintClassifier(HidingWrapper):
    """Predict so that each group has its training share of every task's predictions.

    Reducing bias amplification (RBA) by corpus-level constraints [1]_: of all predictions of a
    batch that keep, for every task, the group's shares within `margin` of those of the training
    labels, those with the best sum of scores. Lagrangian multipliers shift the scores.

    .. versionadded:: 0.1

    Parameters
    ----------
    estimator : classifier
        The classifier, with ``predict_proba``: binary, multiclass, multilabel.
    margin : float, default=0.05
        How far a group's share of a task's predictions may be from its share in training.
    sensitive : str, int, list or callable, default=None
        Where the protected attribute is: the name of a column of `X`, its position, a list of
        several, or a function of `X`. None: it is passed as ``sensitive_features``, to `fit` and
        to `predict`, also through metadata routing.
    drop_sensitive : bool, default=False
        Hide these columns from the classifier inside, as columns of text have to be from most.
        `DomainIndependentClassifier` always hides them.

    Attributes
    ----------
    estimator_ : classifier
        The fitted classifier.
    ratios_ : DataFrame
        Groups × tasks: the group's share of the rows that have the task, in training.
    groups_ : tuple
        The groups.
    classes_, n_features_in_, feature_names_in_
        Those of the fitted classifier, and of the columns that were hidden from it.

    See Also
    --------
    DomainIndependentClassifier : Does not need the attribute to predict.

    Notes
    -----
    With ``k(a, t)`` predictions of task `t` in group `a` and ``r(a, t)`` the training share, the
    constraints are ``|k(a, t) − r(a, t) Σ_b k(b, t)| ≤ margin Σ_b k(b, t)``. Binary labels and
    several a row are solved exactly, task by task. Of classes that exclude each other, the
    Lagrangian dual is minimised with a maximum over predictions that is smoothed less and less,
    and the few rows that are undecided at the end are moved one by one where that costs least
    score.

    Of random problems that have a solution, all of binary labels and of several labels a row
    are solved, and more than 95 % of those of exclusive classes
    (``tests/test_mitigation_classifiers.py``). It cannot be met where a group is not in the
    batch, and perhaps not where classes have few rows. Then a ``ConvergenceWarning`` names the
    tasks, and `constrain` says how near they came. A task that is never predicted breaks no
    bound, so rare ones may vanish.

    What it costs: accuracy, where labels of the batch differ from those of training; and it
    treats people of different groups with the same scores differently, which may be forbidden.
    It needs the attribute to predict. A row's prediction depends on the rest of its batch, and
    the larger the batch, the better. It keeps the shares of groups in tasks, the sense of
    amplification of [1]_; others, such as that of several tasks at once, may rise.

    References
    ----------
    .. [1] Zhao, Wang, Yatskar, Ordonez, Chang. Men also like shopping: reducing gender bias
       amplification using corpus-level constraints. EMNLP 2017.

    Examples
    --------
    Two thirds of those who were hired are men. A model that is given a poor test of skill, and
    the sex, hires four men in five:

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

    __metadata_request__fit: ClassVar = {"sensitive_features": True, "sample_weight": UNUSED}
    __metadata_request__predict: ClassVar = {"sensitive_features": True}
    __metadata_request__score: ClassVar = {"sensitive_features": True}

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "predict_proba"])],
        "margin": [Interval(Real, 0, 1, closed="left")],
        "sensitive": [str, Integral, list, callable, None],
        "drop_sensitive": ["boolean"],
    }

    ratios_: pd.DataFrame

    def __init__(
        self,
        estimator: Any,
        *,
        margin: float = 0.05,
        sensitive: Any = None,
        drop_sensitive: bool = False,
    ) -> None:
        self.estimator = estimator
        self.margin = margin
        self.sensitive = sensitive
        self.drop_sensitive = drop_sensitive

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        sensitive_features: Any = None,
        sample_weight: Any = None,
        **params: Any,
    ) -> Self:
        """Fit the classifier, and learn the training shares.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,) or (n_samples, n_tasks)
            Labels.
        sensitive_features : array-like of shape (n_samples,) or (n_samples, n_attributes)
            The protected attribute, where it is no column of `X`.
        sample_weight : array-like of shape (n_samples,), optional
            Weights, for classifier and shares.
        **params : dict
            Metadata that the classifier inside has requested.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        self._validate_params()
        metadata = {"sensitive_features": sensitive_features, "sample_weight": sample_weight}
        inner = fit_params(self, ["estimator"], metadata, params)["estimator"]
        attribute = find_attribute(self, X, sensitive_features, "fit")
        features = self._hide(X)
        with noting_text(self, X):
            self.estimator_ = clone(self.estimator).fit(features, y, **inner)
        pairs = read_pairs(y, attribute)
        weight = inner.get("sample_weight")
        weight = np.ones(len(pairs.group)) if weight is None else weight
        counts = (
            pairs.within(pairs.group) * check_sample_weight(weight, pairs.group)
        ) @ pairs.member
        self._one_label = pairs.one_label
        self._binary = pairs.one_label and len(pairs.tasks) == 2
        self.ratios_ = pairs.frame(_shares(counts)).iloc[:, int(self._binary) :]
        self.groups_ = pairs.groups
        return self

    def constrain(self, X: Any, *, sensitive_features: Any = None) -> ConstrainedPredictions:
        """Predict, and say what was done.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows to predict: a batch.
        sensitive_features : array-like of shape (n_samples,) or (n_samples, n_attributes)
            Their protected attribute, where it is no column of `X`.

        Returns
        -------
        predictions : ConstrainedPredictions
        """
        check_is_fitted(self)
        scores = self._scores(X)
        attribute = find_attribute(self, X, sensitive_features, "predict")
        group = read_groups(attribute, len(scores), self.groups_)
        ratio = self.ratios_.to_numpy()
        low, high = np.maximum(ratio - self.margin, 0), np.minimum(ratio + self.margin, 1)
        bounds = Bounds(np.where(np.isnan(low), 0, low), np.where(np.isnan(high), 1, high))
        exclusive = self._one_label and not self._binary
        before = choose(scores, exclusive=exclusive)
        found = constrain(scores, group, bounds, exclusive=exclusive)
        within = (np.arange(len(ratio))[:, None] == group).astype(float)
        pairs = pd.MultiIndex.from_product([self.ratios_.index, self.ratios_.columns])
        table = pd.DataFrame(
            {
                "group": pairs.get_level_values(0),
                "task": pairs.get_level_values(1),
                "target": ratio.ravel(),
                "before": _shares(within @ before).ravel(),
                "after": _shares(within @ found.chosen).ravel(),
                "met": np.tile(~found.unmet, len(ratio)),
            }
        )
        y_pred = found.chosen.astype(int)
        if self._one_label:
            y_pred = self.classes_[y_pred[:, 0] if self._binary else y_pred.argmax(axis=1)]
        return ConstrainedPredictions(
            y_pred=y_pred,
            table=table,
            shifts=pd.DataFrame(found.shifts, self.ratios_.index, self.ratios_.columns),
            n_changed=int((before != found.chosen).any(axis=1).sum()),
        )

    def predict(self, X: Any, *, sensitive_features: Any = None) -> Array:
        """Predict a batch of rows.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows to predict: a batch.
        sensitive_features : array-like of shape (n_samples,) or (n_samples, n_attributes)
            Their protected attribute, where it is no column of `X`.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,) or (n_samples, n_tasks)
        """
        found = self.constrain(X, sensitive_features=sensitive_features)
        unmet = found.table.loc[~found.table["met"], "task"].unique()
        if len(unmet):
            warnings.warn(
                f"No predictions of these {len(found.y_pred):,} rows were found in which groups "
                f"have their training shares, to within {self.margin:g}, of {len(unmet)} of "
                f"{self.ratios_.shape[1]} tasks: {quote(unmet.tolist())}. Larger batches, in "
                "which every group is, or a larger margin make it possible; constrain(X) says "
                "how near they came.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return found.y_pred

    def score(
        self, X: Any, y: Any, sample_weight: Any = None, *, sensitive_features: Any = None
    ) -> float:
        """Return the accuracy of a batch; of several tasks, that of whole label sets.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows to predict: a batch.
        y : array-like of shape (n_samples,) or (n_samples, n_tasks)
            Their labels.
        sample_weight : array-like of shape (n_samples,), optional
            Their weights.
        sensitive_features : array-like of shape (n_samples,) or (n_samples, n_attributes)
            Their protected attribute, where it is no column of `X`.

        Returns
        -------
        score : float
        """
        y_pred = self.predict(X, sensitive_features=sensitive_features)
        return accuracy_score(y, y_pred, sample_weight=sample_weight)

    def _scores(self, X: Any) -> Array:
        """Return log-probabilities of classes, or log-odds of tasks."""
        output = self.estimator_.predict_proba(self._features(X))
        probability = output if self._one_label else task_scores(output, self.classes_)
        if self._binary:
            probability = probability[:, [1]]
        # Certainty is bounded, or no multiplier could move it.
        probability = np.clip(np.asarray(probability, dtype=float), _CERTAIN, 1 - _CERTAIN)
        log = np.log(probability)
        exclusive = self._one_label and not self._binary
        return log if exclusive else log - np.log1p(-probability)


def _shares(table: Array) -> Array:
    """Return each group's share of a task's predictions, NaN where nothing is predicted."""
    total = table.sum(axis=0)
    return table / np.where(total > 0, total, np.nan)
