"""DomainIndependentClassifier: one classifier for each group, and their sum."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import sklearn
from scipy.sparse import issparse
from scipy.special import expit, logit, softmax
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.multioutput import MultiOutputClassifier
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import check_is_fitted

from skbiasamp._input.checks import Array
from skbiasamp._input.coding import read_weight
from skbiasamp._input.containers import to_native
from skbiasamp._input.errors import InputError
from skbiasamp._input.options import Option, PositionalOption
from skbiasamp._utils.compat import (
    N_JOBS,
    HasMethods,
    StrOptions,
    check_method_params,
    has_method,
    take_rows,
)
from skbiasamp._utils.docstrings import filling
from skbiasamp._utils.progress import side_by_side
from skbiasamp.compose.sensitive import SENSITIVE
from skbiasamp.compose.wrapper import SensitiveClassifier, ready
from skbiasamp.mitigation._pairs import Memberships, as_index, check_rows, input_errors, read_pairs
from skbiasamp.model_selection.thresholds import most_probable, task_scores

_CERTAIN = 1e-9


@filling
class DomainIndependentClassifier(SensitiveClassifier):
    """Domain-independent training: one classifier for each group, and the sum of their predictions.

    Within one group, a classifier cannot learn how task frequencies differ between groups. The sum
    of all classifiers predicts without the sensitive feature [1]_.

    .. versionadded:: 0.1

    Parameters
    ----------
    estimator : classifier
        The classifier trained in each group, with ``predict_proba``: binary, multiclass or
        multilabel. Put a representation that all groups share before it, in a pipeline.
    %(sensitive)s
        Named columns are always hidden from the classifiers, and data frames to predict may lack
        them.
    calibration : {"sigmoid", "isotonic"} or None, default="sigmoid"
        How the classifiers' probabilities are made comparable, by cross-validation within each
        group and task. "sigmoid": Platt's logistic regression. "isotonic": isotonic regression,
        for many rows. None: not at all.
    group_prior : {"uniform", "training"}, default="uniform"
        Weights of the classifiers. "uniform": equal weights, as in the paper. "training": each
        group's share of the training rows.
    n_jobs : int, default=None
        Number of groups that are trained in parallel. Results do not depend on it.

    Attributes
    ----------
    estimators_ : list of classifiers
        One for each group.
    groups_ : tuple
        The groups, in the same order.
    group_prior_ : Series
        The weight of each.
    classes_ : ndarray of shape (n_classes,), or as of a multilabel `estimator`
        The classes.
    n_features_in_, feature_names_in_
        As of any estimator; hidden columns are counted.

    See Also
    --------
    CorpusConstraintClassifier : Keep the groups' training shares; needs the group to predict.

    Notes
    -----
    With the probability ``p_a(t | x)`` of group `a`'s classifier and weights ``w_a``, the
    prediction is the task with the largest ``Σ_a w_a log p_a(t | x)``; of several tasks, log-odds
    are summed.

    The cost is accuracy: each classifier has only its group's rows, so rare groups and tasks are
    learned less well, and the association of group and label is not used. Predictions still differ
    between groups whose features differ.

    References
    ----------
    .. [1] Wang, Qinami, Karakozis, Genova, Nair, Hata, Russakovsky. Towards fairness in visual
       recognition: effective strategies for bias mitigation. CVPR 2020.

    Examples
    --------
    With equal skill, men are hired more often. Height only correlates with sex. A single classifier
    learns to hire tall people:

    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skbiasamp.mitigation import DomainIndependentClassifier
    >>> rng = np.random.default_rng(0)
    >>> sex = rng.choice(["f", "m"], 4000)
    >>> skill, height = rng.normal(size=4000), (sex == "m") + rng.normal(0, 0.3, 4000)
    >>> hired = (skill + (sex == "m") + rng.normal(0, 0.5, 4000) > 0.5).astype(int)
    >>> X = np.column_stack([skill, height])
    >>> blind = LogisticRegression().fit(X, hired)
    >>> independent = DomainIndependentClassifier(LogisticRegression())
    >>> independent = independent.fit(X, hired, sensitive_features=sex)
    >>> for model in (blind, independent):
    ...     women, men = (model.predict(X[sex == one]).mean() for one in "fm")
    ...     print(f"{model.score(X, hired):.2f}, hires {women:.2f} of women, {men:.2f} of men")
    0.84, hires 0.35 of women, 0.64 of men
    0.79, hires 0.49 of women, 0.49 of men
    """

    _always_hides = True

    estimator: Any = PositionalOption(
        HasMethods(["fit", "predict_proba"]), HasMethods(["fit", "predict"]), kw_only=False
    )
    sensitive: Any = Option(None, *SENSITIVE)
    calibration: str | None = Option("sigmoid", StrOptions({"sigmoid", "isotonic"}), None)
    group_prior: str = Option("uniform", StrOptions({"uniform", "training"}))
    n_jobs: int | None = Option(None, *N_JOBS)

    def _fit(self, X: Any, y: Any, sensitive_features: Any, routed: dict[str, Any]) -> None:
        inner = routed["estimator"]
        checked = check_rows(self, X, y)
        X = X if hasattr(X, "shape") and not issparse(X) else checked
        y = to_native(y, "y")
        with input_errors():
            assert_all_finite(np.asarray(y), input_name="y")
        attribute = self._sensitive(X, sensitive_features, "fit")
        features = self._hide(X)
        pairs = read_pairs(y, attribute)
        pairs.require_classes()
        _require_both(pairs)
        self.groups_, self._one_label = pairs.groups, pairs.one_label
        weight = inner.get("sample_weight")
        if weight is not None:
            inner["sample_weight"] = weight = read_weight(weight, len(pairs.group))
        training = np.bincount(pairs.group, weight)
        prior = np.ones(len(training)) if self.group_prior == "uniform" else training
        self._prior_of_groups = prior / prior.sum()
        members = [np.flatnonzero(is_member) for is_member in pairs.within(pairs.group)]
        calls = (
            (
                self._head(pairs, rows, weighted="sample_weight" in inner),
                take_rows(features, rows),
                take_rows(y, rows),
                check_method_params(features, inner, rows),
            )
            for rows in members
        )
        self.estimators_ = side_by_side(
            _fit_group, calls, n_jobs=self.n_jobs, what="groups", total=len(members)
        )

    @filling
    def predict_proba(self, X: Any) -> Array:
        """Predict probabilities.

        %(to probabilities)s
        """
        check_is_fitted(self)
        features = self._features(X)
        outputs = [
            task_scores(classifier.predict_proba(features), classifier.classes_)
            for classifier in self.estimators_
        ]
        weight = self._prior_of_groups
        # Certainty of one classifier would be a veto.
        probability = np.clip(np.stack(outputs).astype(float), _CERTAIN, 1 - _CERTAIN)
        if self._one_label:
            return softmax(np.tensordot(weight, np.log(probability), 1), axis=1)
        return expit(np.tensordot(weight, logit(probability), 1))

    @filling
    def predict(self, X: Any) -> Array:
        """Predict labels.

        %(to labels)s
        """
        return most_probable(self.predict_proba(X), self.classes_, one_label=self._one_label)

    @property
    def classes_(self) -> Any:
        """The classes."""
        return np.asarray(self.estimators_[0].classes_)

    @property
    def group_prior_(self) -> pd.Series:
        """The weight of each group."""
        return pd.Series(self._prior_of_groups, as_index(self.groups_))

    def _head(self, pairs: Memberships, rows: Array, *, weighted: bool) -> Any:
        """Return what is trained in one group."""
        if self.calibration is None:
            if not has_method(self.estimator, "predict_proba"):
                text = "{estimator} must have predict_proba if {calibration=None}; got {seen!r}."
                raise InputError(text, seen=self.estimator)
            return clone(self.estimator)
        fewest = pairs.member[rows].sum(axis=0)
        fewest = fewest if pairs.one_label else np.minimum(fewest, len(rows) - fewest)
        folds = int(min(5, fewest.min()))
        if folds < 2:
            raise InputError(
                "Group {group!r} has 1 row of task {task!r}, and calibration needs two: merge "
                "groups or classes, or pass calibration=None to take probabilities as they are.",
                group=pairs.groups[pairs.group[rows[0]]],
                task=pairs.tasks[int(fewest.argmin())],
            )
        several = isinstance(self.estimator, MultiOutputClassifier) and not pairs.one_label
        inner = self.estimator.estimator if several else self.estimator
        head = CalibratedClassifierCV(ready(inner), method=self.calibration, cv=folds)
        if pairs.one_label:
            return head
        if weighted and sklearn.get_config()["enable_metadata_routing"]:
            head.set_fit_request(sample_weight=True)
        return MultiOutputClassifier(head)


def _fit_group(head: Any, X: Any, y: Any, params: dict[str, Any]) -> Any:
    return head.fit(X, y, **params)


def _require_both(pairs: Memberships) -> None:
    """Raise if a group has only one class of a task."""
    pairs.require_all(
        why="the group's own classifier cannot learn it. Merge groups or classes, or leave one out."
    )
    if not pairs.one_label:
        heights = np.bincount(pairs.group)[:, None]
        always = np.argwhere(pairs.counts == heights)
        if len(always):
            a, t = always[0]
            raise InputError(
                "All {n} rows of group {group!r} have task {task!r}: the group's own classifier "
                "cannot learn it. Merge groups or leave the task out.",
                n=heights[a, 0],
                group=pairs.groups[a],
                task=pairs.tasks[t],
            )
