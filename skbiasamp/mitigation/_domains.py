"""DomainIndependentClassifier: one classifier a group, and the sum of what they say."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
import sklearn
from scipy.sparse import issparse
from scipy.special import expit, logit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.multioutput import MultiOutputClassifier
from sklearn.utils import assert_all_finite, get_tags
from sklearn.utils.metadata_routing import UNUSED, MetadataRouter, MethodMapping
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, validate_data

from skbiasamp._compat import HasMethods, StrOptions, check_method_params, take_rows
from skbiasamp._input import Array, quote, to_native
from skbiasamp.compose import fit_params
from skbiasamp.compose._columns import names_of, without_sensitive
from skbiasamp.mitigation._pairs import Pairs, find_attribute, named, read_pairs
from skbiasamp.model_selection._responses import task_scores

_CERTAIN = 1e-9


class DomainIndependentClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Train a classifier for each group, and predict with all of them together.

    Inside a group nothing can be learned from the group, so what each classifier knows of a task
    owes nothing to how often the groups have it; their sum needs no attribute to predict [1]_.

    .. versionadded:: 0.1

    Parameters
    ----------
    estimator : classifier
        What is trained in each group, with ``predict_proba``: binary, multiclass, multilabel. A
        representation that all groups share is a step before this one in a pipeline.
    sensitive : str, int, list or callable, default=None
        Where the protected attribute is: the name of a column of `X`, its position, a list of
        several, or a function of `X`. The classifiers do not see these columns, which other
        wrappers hide with ``drop_sensitive=True`` only, and data frames to predict may lack
        them. None: it is passed to `fit` as ``sensitive_features``, also through metadata
        routing.
    calibration : {"sigmoid", "isotonic"} or None, default="sigmoid"
        How the classifiers' probabilities are made comparable, by cross-validation in each
        group; of several tasks, each is then trained on its own. None takes them as they are.
    combine : {"score", "probability"}, default="score"
        What is summed: log-probabilities (of several tasks: log-odds), as in the paper, or
        probabilities.
    group_prior : {"uniform", "training"} or dict, default="uniform"
        What each group's classifier weighs: all the same, as in the paper; as much as the group
        has rows (by weight, where there are weights); or by a number for each group.
    n_jobs : int, default=None
        Jobs that share the groups.

    Attributes
    ----------
    estimators_ : list of classifiers
        One for each group.
    groups_ : tuple
        The groups, in the same order.
    group_prior_ : Series
        The weight of each.
    classes_ : ndarray of shape (n_classes,), or what a multilabel `estimator` has
        The classes.
    n_features_in_, feature_names_in_
        As of any estimator, with the columns that are hidden.

    See Also
    --------
    CorpusConstraintClassifier : Keeps the groups' training shares; needs the attribute to predict.

    Notes
    -----
    With ``p_a(t | x)`` the probability that group `a`'s classifier gives, and weights ``w_a``, the
    prediction is the task that has most of ``Σ_a w_a log p_a(t | x)``, or of
    ``Σ_a w_a p_a(t | x)``.

    What it costs: each classifier has only its group's rows, so that rare groups and rare tasks
    are learned worse; and the sum gives up what the attribute itself tells of the label, by
    design. What it does not do: where a group's features are distributed otherwise, for example
    by a proxy of the attribute, its members go on being predicted otherwise. It makes the
    predictions of groups no more alike than the features are.

    References
    ----------
    .. [1] Wang, Qinami, Karakozis, Genova, Nair, Hata, Russakovsky. Towards fairness in visual
       recognition: effective strategies for bias mitigation. CVPR 2020.

    Examples
    --------
    Of equal skill, men are hired more often. Height tells of the sex, and of nothing else that
    matters; one classifier for all learns that the tall are hired:

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

    __metadata_request__fit: ClassVar = {"sensitive_features": True, "sample_weight": UNUSED}

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "predict_proba"]), HasMethods(["fit", "predict"])],
        "sensitive": [str, Integral, list, callable, None],
        "calibration": [StrOptions({"sigmoid", "isotonic"}), None],
        "combine": [StrOptions({"score", "probability"})],
        "group_prior": [StrOptions({"uniform", "training"}), dict],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        estimator: Any,
        *,
        sensitive: Any = None,
        calibration: str | None = "sigmoid",
        combine: str = "score",
        group_prior: Any = "uniform",
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.sensitive = sensitive
        self.calibration = calibration
        self.combine = combine
        self.group_prior = group_prior
        self.n_jobs = n_jobs

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        sensitive_features: Any = None,
        sample_weight: Any = None,
        **params: Any,
    ) -> Self:
        """Fit a classifier in each group.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,) or (n_samples, n_tasks)
            Labels.
        sensitive_features : array-like of shape (n_samples,) or (n_samples, n_attributes)
            The protected attribute, where it is no column of `X`.
        sample_weight : array-like of shape (n_samples,), optional
            Weights.
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
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        # Whatever the classifiers can read may pass.
        checked = validate_data(
            self, X, accept_sparse="csr", dtype=None, ensure_all_finite=False, ensure_min_samples=2
        )
        X = X if hasattr(X, "shape") and not issparse(X) else checked
        y = y if hasattr(y, "shape") else np.asarray(y)
        assert_all_finite(np.asarray(to_native(y, "y")), input_name="y")
        attribute = find_attribute(self, X, sensitive_features, "fit")
        by_column = self.sensitive is not None and not callable(self.sensitive)
        self._hidden = names_of(X, self.sensitive) if by_column else None
        features = self._features(X)
        pairs = read_pairs(y, attribute)
        _require_both(pairs)
        self.groups_, self._one_label = pairs.groups, pairs.one_label
        self.group_prior_ = self._prior(pairs, inner.get("sample_weight"))
        members = [np.flatnonzero(one) for one in pairs.within(pairs.group)]
        self.estimators_ = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit)(
                self._head(pairs, rows, weighted="sample_weight" in inner),
                take_rows(features, rows),
                take_rows(y, rows),
                check_method_params(features, inner, rows),
            )
            for rows in members
        )
        return self

    def predict_proba(self, X: Any) -> Array:
        """Predict probabilities.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes) or (n_samples, n_tasks)
            Of several tasks, the probability of each.
        """
        check_is_fitted(self)
        features = self._features(X)
        outputs = [one.predict_proba(features) for one in self.estimators_]
        weight = self.group_prior_.to_numpy()
        if not self._one_label:
            outputs = [
                task_scores(output, one.classes_)
                for output, one in zip(outputs, self.estimators_, strict=True)
            ]
        probability = np.stack(outputs).astype(float)
        if self.combine == "probability":
            return np.tensordot(weight, probability, 1)
        # Certainty of one classifier would be a veto.
        probability = np.clip(probability, _CERTAIN, 1 - _CERTAIN)
        if self._one_label:
            return softmax(np.tensordot(weight, np.log(probability), 1), axis=1)
        return expit(np.tensordot(weight, logit(probability), 1))

    def predict(self, X: Any) -> Array:
        """Predict labels.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,) or (n_samples, n_tasks)
        """
        probability = self.predict_proba(X)
        if self._one_label:
            return self.classes_[probability.argmax(axis=1)]
        return (probability > 0.5).astype(int)

    @property
    def classes_(self) -> Any:
        """The classes."""
        return self.estimators_[0].classes_

    def get_metadata_routing(self) -> MetadataRouter:
        """Say who takes which metadata.

        Returns
        -------
        routing : MetadataRouter
        """
        router = MetadataRouter(owner=type(self).__name__).add_self_request(self)
        mapping = MethodMapping().add(caller="fit", callee="fit")
        return router.add(estimator=self.estimator, method_mapping=mapping)

    def __sklearn_tags__(self) -> Any:
        tags = get_tags(self.estimator)
        tags.transformer_tags = None
        tags.array_api_support = False
        return tags

    def _features(self, X: Any) -> Any:
        return X if self._hidden is None else without_sensitive(X, self._hidden, may_lack=True)

    def _prior(self, pairs: Pairs, sample_weight: Any) -> pd.Series:
        """Return the weight of each group, one together."""
        names = named(pairs.groups)
        if isinstance(self.group_prior, str):
            uniform = self.group_prior == "uniform"
            weight = None if uniform else np.bincount(pairs.group, sample_weight)
            prior = pd.Series(1.0 if weight is None else weight, names, float)
        else:
            if set(self.group_prior) != set(pairs.groups):
                raise ValueError(
                    f"group_prior has weights of {quote(list(self.group_prior))}, and the groups "
                    f"are {quote(list(pairs.groups))}: give each of them a weight."
                )
            prior = pd.Series([self.group_prior[one] for one in pairs.groups], names, float)
            if not (np.isfinite(prior).all() and (prior >= 0).all() and prior.any()):
                raise ValueError(
                    "The weights of group_prior must be numbers of at least 0, and not all 0; "
                    f"they are {self.group_prior}."
                )
        return prior / prior.sum()

    def _head(self, pairs: Pairs, rows: Array, *, weighted: bool) -> Any:
        """Return what is trained in one group."""
        if self.calibration is None:
            return clone(self.estimator)
        fewest = pairs.member[rows].sum(axis=0)
        fewest = fewest if pairs.one_label else np.minimum(fewest, len(rows) - fewest)
        folds = int(min(5, fewest.min()))
        if folds < 2:
            raise ValueError(
                f"Group {pairs.groups[pairs.group[rows[0]]]!r} has {int(fewest.min())} row of task "
                f"{pairs.tasks[int(fewest.argmin())]!r}, and calibration needs two: merge groups "
                "or classes, or take probabilities as they are, calibration=None."
            )
        several = isinstance(self.estimator, MultiOutputClassifier) and not pairs.one_label
        inner = self.estimator.estimator if several else self.estimator
        head = CalibratedClassifierCV(clone(inner), method=self.calibration, cv=folds)
        if pairs.one_label:
            return head
        if weighted and sklearn.get_config()["enable_metadata_routing"]:
            head.set_fit_request(sample_weight=True)
        return MultiOutputClassifier(head)


def _fit(head: Any, X: Any, y: Any, params: dict[str, Any]) -> Any:
    return head.fit(X, y, **params)


def _require_both(pairs: Pairs) -> None:
    """Raise where a group's rows cannot teach a task."""
    pairs.require_all(
        why="the group's own classifier cannot learn it. Merge groups or classes, or leave one out."
    )
    if not pairs.one_label:
        heights = np.bincount(pairs.group)[:, None]
        always = np.argwhere(pairs.counts == heights)
        if len(always):
            a, t = always[0]
            raise ValueError(
                f"All {heights[a, 0]} rows of group {pairs.groups[a]!r} have task "
                f"{pairs.tasks[t]!r}: the group's own classifier cannot learn it. Merge groups or "
                "leave the task out."
            )
