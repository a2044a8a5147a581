"""Several classifiers: one for each group, or a model and a mitigation of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import sklearn
from scipy.sparse import issparse
from scipy.special import expit, logit, softmax
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import check_cv
from sklearn.multioutput import MultiOutputClassifier
from sklearn.utils import assert_all_finite, check_random_state
from sklearn.utils.validation import check_is_fitted

from skbiasamp._input.checks import Array
from skbiasamp._input.coding import read_weight
from skbiasamp._input.containers import check_lengths, to_native
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
from skbiasamp._utils.warnings import collected
from skbiasamp.compose.sensitive import SENSITIVE, SensitiveClassifier, ready, requests
from skbiasamp.metrics import DirectionalAuditor
from skbiasamp.mitigation._pairs import Memberships, as_index, check_rows, input_errors, read_pairs
from skbiasamp.mitigation._samplers import RatioBalancer
from skbiasamp.model_selection.folds import RowClassifier, RowData, seeded_clone
from skbiasamp.model_selection.thresholds import held_out, most_probable, task_scores

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
        pairs.require_all(
            why="the group's own classifier cannot learn it. Merge groups or classes, or leave one "
            "out."
        )
        heights = np.bincount(pairs.group)[:, None]
        always = np.argwhere(pairs.counts == heights)
        if len(always) and not pairs.one_label:
            a, t = always[0]
            text = (
                "All {n} rows of group {group!r} have task {task!r}: the group's own classifier "
                "cannot learn it. Merge groups or leave the task out."
            )
            raise InputError(text, n=heights[a, 0], group=pairs.groups[a], task=pairs.tasks[t])
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

        Parameters
        ----------
        %(X)s

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes) or (n_samples, n_tasks)
            The probability of each class, or of each task if there are several.
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

        Parameters
        ----------
        %(X)s

        Returns
        -------
        y_pred : ndarray of shape (n_samples,) or (n_samples, n_tasks)
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


# ------------------------------------------------------------------ a model and a mitigation

_SHARES = np.linspace(0, 1, 21)


@filling
class MixedClassifier(SensitiveClassifier):
    """Mix a classifier with a mitigation that overshoots, so that amplification lands at 0.

    Many mitigations end below 0: their predictions have less bias than the labels. This classifier
    mixes both probabilities, with the share of the mitigation at which amplification is nearest to
    0 and has not changed its sign. It does not need the group to predict.

    .. versionadded:: 0.2

    Parameters
    ----------
    estimator : classifier
        The classifier, with ``predict_proba``: binary, multiclass or multilabel.
    mitigation : classifier or pair (sampler, classifier), default=None
        What it is mixed with; it must predict without the group. None: ``(RatioBalancer(),
        estimator)``.
    auditor : auditor, default=None
        The metric. None: ``DirectionalAuditor()``.
    randomize : bool, default=False
        False mixes probabilities. True draws for each row whose decision counts: amplification then
        is exactly a mean of both, and equal rows may get different predictions.
    cv : int, cross-validation splitter or iterable, default=5
        Folds whose held-out predictions give the share.
    %(sensitive)s
        Only `fit` needs it.
    random_state : int, RandomState instance or None, default=None
        Seed of both models, and of the draws of `predict`.

    Attributes
    ----------
    estimator_, mitigation_ : classifier
        Both, fitted on all rows.
    share_ : float
        The share of the mitigation, 0 to 1.
    path_ : DataFrame
        The amplification of held-out predictions for each ``share``.
    classes_ : ndarray of shape (n_classes,), or as of a multilabel `estimator`
        The classes.
    n_features_in_, feature_names_in_
        As of any estimator; hidden columns are counted.

    See Also
    --------
    search : Find out which mitigation costs least.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skbiasamp.mitigation import MixedClassifier
    >>> rng = np.random.default_rng(0)
    >>> sex = rng.choice(["f", "m"], 4000)
    >>> skill, height = rng.normal(size=4000), (sex == "m") + rng.normal(0, 0.3, 4000)
    >>> hired = (skill + (sex == "m") + rng.normal(0, 0.5, 4000) > 0.5).astype(int)
    >>> X = np.column_stack([skill + rng.normal(0, 3, 4000), height])
    >>> model = MixedClassifier(LogisticRegression(), random_state=0)
    >>> model = model.fit(X, hired, sensitive_features=sex)
    >>> model.path_.iloc[[0, 10, 20]].round(2)
        share  amplification
    0     0.0           0.16
    10    0.5           0.04
    20    1.0          -0.17
    >>> 0.5 < model.share_ < 0.8
    True
    """

    _always_hides = True

    estimator: Any = PositionalOption(HasMethods(["fit", "predict_proba"]), kw_only=False)
    mitigation: Any = PositionalOption(
        HasMethods(["fit", "predict"]), tuple, None, default=None, kw_only=False
    )
    auditor: Any = Option(None, HasMethods(["fit", "audit"]), None)
    randomize: bool = Option(False, "boolean")
    cv: Any = Option(5, "cv_object")
    sensitive: Any = Option(None, *SENSITIVE)
    random_state: Any = Option(None, "random_state")

    def _fit(self, X: Any, y: Any, sensitive_features: Any, routed: dict[str, Any]) -> None:
        params = routed["estimator"]
        params.pop("sensitive_features", None)  # each classifier gets that of its rows
        check_rows(self, X, y)
        attribute = self._sensitive(X, sensitive_features, "fit")
        check_lengths({"y": y, "sensitive_features": to_native(attribute, "sensitive_features")})
        data = RowData(self._hide(X), attribute)
        mitigation = self.mitigation
        if mitigation is None:
            mitigation = (RatioBalancer(), self.estimator)
        sampler, other = mitigation if isinstance(mitigation, tuple) else (None, mitigation)
        if requests(other, "predict"):
            text = "{mitigation} must predict without the sensitive feature; {seen} needs it."
            raise InputError(text, seen=type(other).__name__)
        rng = check_random_state(self.random_state)
        self._seed = rng.randint(2**31 - 1)
        both = [
            seeded_clone(RowClassifier(self.estimator, data=data), rng),
            seeded_clone(RowClassifier(other, data=data, sampler=sampler), rng),
        ]
        labels = np.asarray(to_native(y, "y"))
        assert_all_finite(labels, input_name="y")
        labels = labels[:, 0] if labels.shape[1:] == (1,) else labels
        rows = data.numbers
        how = {"cv": list(check_cv(self.cv, labels, classifier=True).split(rows, labels))}
        self._one_label = labels.ndim == 1
        fitted, outputs = zip(
            *(held_out(model, rows, labels, **how, params=params, n_jobs=None) for model in both),
            strict=True,
        )
        self.estimator_, self.mitigation_ = (model.estimator_ for model in fitted)
        self.classes_ = self.estimator_.classes_
        first, second = (task_scores(output, self.classes_) for output in outputs)
        auditor = DirectionalAuditor() if self.auditor is None else self.auditor
        given = {"sensitive_features": attribute, **params}
        auditor = clone(auditor).set_params(interval=None).fit(labels, **given)

        def gap(share: float) -> float:
            y_pred = self._decide((1 - share) * first + share * second)
            with collected():  # uncertain pairs concern the reader of an audit
                return float(auditor.audit(labels, y_pred, **given).value)

        if self.randomize:  # the amplification of mixed decisions is the mean of both
            before, after = gap(0), gap(1)
            values = before + (after - before) * _SHARES
            # Nothing, if the mitigation is further from 0 on the same side.
            helps = before * after < 0 or abs(after) < abs(before)
            self.share_ = float(min(before / (before - after), 1)) if helps else 0.0
        else:
            values = np.array([gap(share) for share in _SHARES])
            kept = np.where(values * values[0] >= 0, np.abs(values), np.inf)
            self.share_ = float(_SHARES[np.argmin(kept)])
        self._amplifications = values

    @property
    def path_(self) -> pd.DataFrame:
        """The amplification of held-out predictions for each share."""
        return pd.DataFrame({"share": _SHARES, "amplification": self._amplifications})

    @filling
    def predict_proba(self, X: Any) -> Array:
        """Predict probabilities: the mean of both models, weighted by the share.

        Parameters
        ----------
        %(X)s

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes) or (n_samples, n_tasks)
            The probability of each class, or of each task if there are several.
        """
        first, other = self._probabilities(X)
        return (1 - self.share_) * first + self.share_ * other

    @filling
    def predict(self, X: Any) -> Array:
        """Predict rows; randomized decisions are drawn from the seed, row by row.

        Parameters
        ----------
        %(X)s

        Returns
        -------
        y_pred : ndarray of shape (n_samples,) or (n_samples, n_tasks)
        """
        if not self.randomize:
            return self._decide(self.predict_proba(X))
        first, other = map(self._decide, self._probabilities(X))
        chosen = np.random.RandomState(self._seed).random_sample(len(first)) < self.share_
        return np.where(chosen if self._one_label else chosen[:, None], other, first)

    def _probabilities(self, X: Any) -> list[Array]:
        check_is_fitted(self)
        features = self._features(X)
        return [
            task_scores(model.predict_proba(features), model.classes_)
            for model in (self.estimator_, self.mitigation_)
        ]

    def _decide(self, probability: Array) -> Array:
        return most_probable(probability, self.classes_, one_label=self._one_label)
