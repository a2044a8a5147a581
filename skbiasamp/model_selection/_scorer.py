"""Scores of a model's amplification, and of each class or task, for scikit-learn's `scoring`."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError, UndefinedMetricWarning
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from skbiasamp._input.checks import check_instance, require_auditor
from skbiasamp._input.coding import as_classes
from skbiasamp._input.containers import to_native
from skbiasamp._input.errors import InputError, InputTypeError, of_auditor, renaming
from skbiasamp._input.options import Option, PositionalOption, WithOptions, keywords
from skbiasamp._utils.compat import HasMethods, StrOptions, has_method
from skbiasamp._utils.formatting import task_of
from skbiasamp._utils.warnings import warn
from skbiasamp.compose import AuditedClassifier
from skbiasamp.compose.audited import BALANCED, SAMPLER_INSIDE, has_no_signs
from skbiasamp.compose.sensitive import SENSITIVE, SensitiveColumns, how_to_pass
from skbiasamp.model_selection.thresholds import BaseRateThresholdClassifier, task_scores

Step = tuple[str, Any]  # of a pipeline: its name, and what is fitted

# Classifiers that pass X on unchanged, and the attribute with the fitted one inside.
_INNER = (
    (FixedThresholdClassifier, "estimator_"),
    (TunedThresholdClassifierCV, "estimator_"),
    (BaseRateThresholdClassifier, "estimator_"),
    (FrozenEstimator, "estimator"),
)


@keywords()
def amplification_scorer(
    auditor: Any = None,
    *,
    sensitive: Any = None,
    objective: str = "closest_to_zero",
    response_method: str = "predict",
) -> AmplificationScorer:
    """Make a scikit-learn scorer of bias amplification, for ``scoring=``.

    Use it in a search or cross-validation over an `AuditedClassifier`: each model is audited
    against the correlations of its own training fold. Score accuracy as well. Alone, this score
    can prefer an inaccurate model that reproduces the labels' correlations.

    .. versionadded:: 0.1

    Parameters
    ----------
    auditor : auditor, default=None
        The metric; its value is the score, so ``formula="published"`` scores the paper's formula.
        None: that of the `AuditedClassifier`. The training correlations come from the fitted
        `AuditedClassifier`: at the end of a pipeline, or inside a search, a calibrated or a
        thresholded classifier. Without one, the auditor must be fitted or have
        ``reference="test"``.
    sensitive : str, int, list, tuple or callable, default=None
        The column of `X` with the sensitive feature, as for `AuditedClassifier`. None: the
        ``sensitive_features`` that metadata routing passes (requested by default), else the
        column of the `AuditedClassifier`.
    objective : {"closest_to_zero", "lowest"}, default="closest_to_zero"
        How the value becomes a score; greater scores are better. "closest_to_zero": minus the
        absolute value. "lowest": minus the value, which also rewards a model that reverses the
        labels' correlations.
    response_method : {"predict", "predict_proba", "decision_function"}, default="predict"
        Method of the estimator whose output is audited. "predict": labels. "predict_proba":
        probabilities. "decision_function": scores, for leakage.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y, *, sensitive_features=None, sample_weight=None)``. The score is
        NaN, with a warning, if the `AuditedClassifier` was fitted on balanced or resampled
        labels: a search ranks such a model last.

    See Also
    --------
    AuditedClassifier : Classifier that keeps the correlations of its training rows.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.model_selection import cross_validate
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from skbiasamp import AuditedClassifier, amplification_scorer
    >>> X = pd.DataFrame({"sex": [0, 0, 0, 0, 1, 1, 1, 1] * 50, "skill": [3, 2, 1, 0] * 100})
    >>> hired = [1, 0, 0, 0, 1, 1, 1, 0] * 50
    >>> tree = DecisionTreeClassifier(max_depth=1)
    >>> model = AuditedClassifier(tree, sensitive="sex", drop_sensitive=False)
    >>> scoring = {"accuracy": "accuracy", "amplification": amplification_scorer()}
    >>> scores = cross_validate(model, X, hired, scoring=scoring)
    >>> print(scores["test_accuracy"].mean(), scores["test_amplification"].mean())
    0.75 -0.25
    """
    if auditor is not None:
        require_auditor(auditor)
    return AmplificationScorer(
        auditor, sensitive=sensitive, objective=objective, response_method=response_method
    )


class AmplificationScorer(SensitiveColumns, WithOptions):
    """The scorer that `amplification_scorer` returns."""

    _who = "amplification_scorer"
    auditor: Any = PositionalOption(HasMethods(["audit"]), None, default=None, kw_only=False)
    sensitive: Any = Option(None, *SENSITIVE)
    objective: str = Option("closest_to_zero", StrOptions({"closest_to_zero", "lowest"}))
    response_method: str = Option(
        "predict", StrOptions({"predict", "predict_proba", "decision_function"})
    )

    # The method takes the fitted model first, which is no metadata.
    __metadata_request__score: ClassVar = {"estimator": UNUSED, "sensitive_features": True}

    def __call__(
        self,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        sensitive_features: Any = None,
        sample_weight: Any = None,
    ) -> float:
        """Score a fitted model; greater is better.

        Parameters
        ----------
        estimator : classifier
            The fitted model.
        X : array-like or data frame of shape (n_samples, n_features)
            Rows to predict.
        y : array-like of shape (n_samples,) or (n_samples, n_tasks)
            Their labels.
        sensitive_features : array-like of shape (n_samples,) or (n_samples, n_features)
            Their sensitive feature, if `sensitive` does not name it.
        sample_weight : array-like of shape (n_samples,), optional
            Their weights.

        Returns
        -------
        score : float
        """
        self._validate_params()
        y_pred, inside = self._response(estimator, X), list(_inside(estimator))
        auditor = self._auditor(estimator, [audited for audited, _ in inside])
        # A sampler before the AuditedClassifier hides the training labels from its auditor.
        steps = [step for _, before in inside for step in before]
        resampling = [name for name, step in steps if hasattr(step, "fit_resample")]
        if resampling and getattr(auditor, "reference", "") == "train":
            why = (
                f"the pipeline's step {resampling[0]!r} resamples the rows before the "
                "AuditedClassifier, so the auditor did not count the training labels."
            )
        else:
            with renaming(of_auditor(auditor)):
                value = auditor.score(
                    y,
                    y_pred,
                    sensitive_features=self._attribute(inside, X, sensitive_features),
                    sensitive_pred=_predict_sensitive(auditor, inside, X),
                    sample_weight=sample_weight,
                )
            if not has_no_signs(auditor, value):
                return self._better_if_greater(value)
            why = BALANCED
        # A search would choose this model: after labels that were balanced every value is 0.
        warn(f"amplification_scorer returns NaN: {why} {SAMPLER_INSIDE}", UndefinedMetricWarning)
        return float("nan")

    # Under this name scikit-learn finds what the scorer can be routed.
    score = __call__

    @property
    def __name__(self) -> str:
        """Name of the score, on the axes of scikit-learn's displays."""
        return "amplification_score"

    # TunedThresholdClassifierCV takes these three, and scores the labels of every threshold. The
    # model and its rows are not passed: what they would tell has to come with the auditor.
    _sign: ClassVar[int] = 1
    _kwargs: ClassVar[dict[str, Any]] = {}

    def _score_func(
        self, y_true: Any, y_pred: Any, *, sensitive_features: Any = None, sample_weight: Any = None
    ) -> float:
        auditor, named = self.auditor, self.sensitive is not None
        if named or auditor is None or not _knows_signs(auditor) or sensitive_features is None:
            raise InputError(
                "TunedThresholdClassifierCV passes a scorer labels without model or rows of X"
                "{finds_none}. Search thresholds with GridSearchCV(AuditedClassifier("
                "FixedThresholdClassifier(model), sensitive={column!r}), {{'estimator__threshold': "
                "[0.3, 0.5, 0.7]}}, scoring=amplification_scorer()). Or pass "
                "amplification_scorer(auditor), {auditor} fitted or with reference='test', and "
                "route {sensitive_features}.",
                finds_none=f", so sensitive={self.sensitive!r} finds no column" if named else "",
                column=self.sensitive if named and not callable(self.sensitive) else "sex",
            )
        with renaming(of_auditor(auditor)):
            labels = {"sensitive_features": sensitive_features, "sample_weight": sample_weight}
            value = auditor.score(y_true, as_classes(y_pred), **labels)
        if has_no_signs(auditor, value):
            text = "amplification_scorer cannot choose a threshold: {why} {advice}"
            raise InputError(text, why=BALANCED, advice=SAMPLER_INSIDE)
        return self._better_if_greater(value)

    def _better_if_greater(self, value: float) -> float:
        return -abs(value) if self.objective == "closest_to_zero" else -value

    def __sklearn_clone__(self) -> Self:
        return copy.deepcopy(self)  # with the auditor as it was fitted

    def _auditor(self, estimator: Any, audited: list[AuditedClassifier]) -> Any:
        """Return the auditor, fitted on the training rows of the model if they are known."""
        audited = [classifier for classifier in audited if classifier.auditors_]
        if not audited:
            return self._own_auditor(estimator)
        template = self.auditor
        if template is None:
            if len(audited[0].auditors_) > 1:
                raise InputError(
                    "The AuditedClassifier has {n} auditors, and a score is one number. Pass one "
                    "of them, for example amplification_scorer(DirectionalAuditor()).",
                    n=len(audited[0].auditors_),
                )
            (template,) = audited[0].auditors_.values()
            if len(audited) == 1:
                return template
        groups = template.groups
        counted = [
            [own.contingency_ for own in classifier.auditors_.values() if own.groups == groups]
            for classifier in audited
        ]
        if not all(counted):
            text = (
                "amplification_scorer({auditor}) has groups={groups!r}, and no auditor of the "
                "AuditedClassifier counted these groups. Give both the same groups=."
            )
            raise InputError(text, auditor=template, groups=groups)
        # Each row is in as many folds as any other, so that their sum has its rates.
        return clone(template).fit(sum(cells for cells, *_ in counted))

    def _own_auditor(self, estimator: Any) -> Any:
        auditor = self.auditor
        if (auditor is None or not _knows_signs(auditor)) and _members(estimator):
            raise InputError(
                "{kind} trains the AuditedClassifier inside it as a member, on rows or labels of "
                "its own, and then decides what to predict. Put the AuditedClassifier outside: "
                "AuditedClassifier({kind}(...), sensitive='sex').",
                kind=type(estimator).__name__,
            )
        if auditor is None:
            raise NotFittedError(
                "amplification_scorer() takes training correlations from an AuditedClassifier that "
                "was fitted with the sensitive feature, and this model has none. Wrap the "
                "classifier, AuditedClassifier(classifier, sensitive='sex'), or pass a fitted "
                "auditor, amplification_scorer(auditor). " + how_to_pass("AuditedClassifier")
            )
        if not _knows_signs(auditor):
            raise NotFittedError(
                f"amplification_scorer({auditor}) has an auditor without training labels, and the "
                "model has no AuditedClassifier that was fitted with the sensitive feature. Wrap "
                "the classifier, AuditedClassifier(classifier, sensitive='sex'), fit the auditor "
                "first, or set reference='test'."
            )
        return auditor

    def _attribute(self, inside: list[Any], X: Any, sensitive_features: Any) -> Any:
        if self.sensitive is None and sensitive_features is None:
            for audited, before in inside:
                if audited.sensitive is not None:
                    return audited._sensitive(_transformed(X, before), None, "score")
        return self._sensitive(X, sensitive_features, "score")

    def _response(self, estimator: Any, X: Any) -> Any:
        check_instance(estimator, (), "estimator must be a fitted model")
        if not has_method(estimator, self.response_method):
            text = "amplification_scorer scores by {method}, which {kind} does not have."
            kind = type(estimator).__name__
            raise InputTypeError(text, method=self.response_method, kind=kind)
        output = getattr(estimator, self.response_method)(X)
        if self.response_method == "predict":
            return as_classes(output)
        return task_scores(output, estimator.classes_) if isinstance(output, list) else output


def _knows_signs(auditor: Any) -> bool:
    """Return whether an auditor needs no further training labels."""
    return hasattr(auditor, "contingency_") or getattr(auditor, "reference", "") != "train"


def _members(estimator: Any) -> bool:
    """Return whether an ensemble has an AuditedClassifier as a member."""
    inside = estimator.get_params(deep=True) if hasattr(estimator, "get_params") else {}
    return any(isinstance(member, AuditedClassifier) for member in inside.values()) and not any(
        True for _ in _inside(estimator)
    )


def _inside(
    estimator: Any, before: tuple[Step, ...] = ()
) -> Iterator[tuple[AuditedClassifier, tuple[Step, ...]]]:
    """Yield the AuditedClassifiers that a model's predictions come from, and what X goes through.

    A calibrated classifier can hold several, each fitted on other folds.
    """
    from sklearn.calibration import CalibratedClassifierCV  # most audits do not need it

    if isinstance(estimator, AuditedClassifier):
        check_is_fitted(estimator)
        yield estimator, before
    elif isinstance(estimator, Pipeline):
        *earlier, (_, last) = estimator.steps
        yield from _inside(last, (*before, *earlier))
    elif isinstance(estimator, CalibratedClassifierCV):
        check_is_fitted(estimator)
        for calibrated in estimator.calibrated_classifiers_:
            yield from _inside(calibrated.estimator, before)
    elif hasattr(estimator, "best_estimator_"):
        yield from _inside(estimator.best_estimator_, before)
    else:
        for kind, name in _INNER:
            if isinstance(estimator, kind):
                check_is_fitted(estimator, name)
                yield from _inside(getattr(estimator, name), before)


def _transformed(X: Any, before: tuple[Step, ...]) -> Any:
    for _, step in before:
        if hasattr(step, "transform"):  # a sampler changes training rows only
            X = step.transform(X)
    return X


def _predict_sensitive(auditor: Any, inside: list[Any], X: Any) -> Any:
    """Return the predicted sensitive feature, if the auditor needs it."""
    able = [
        (audited, before) for audited, before in inside if audited.sensitive_estimator is not None
    ]
    if len(able) == 1:
        audited, before = able[0]
        return audited._predict_sensitive(_transformed(X, before))
    if auditor.direction == "T->A":
        text = (
            "{auditor} needs predictions of the sensitive feature, and the model has {n} "
            "AuditedClassifier with a sensitive_estimator, not one. One "
            "AuditedClassifier(..., sensitive_estimator=...) makes them."
        )
        raise InputError(text, auditor=str(auditor), n=len(able) or "no")
    return None


def class_scorers(
    y: Any, metric: Callable[..., float] = f1_score, **options: Any
) -> dict[str, Any]:
    """Make a scorer for each class or task: F1 of each, for example.

    Pass them as ``scoring=`` to `skbiasamp.mitigation.search` or `skbiasamp.cross_audit`: a
    mitigation may keep the mean score and lose one class [1]_.

    .. versionadded:: 0.2

    Parameters
    ----------
    y : array-like of shape (n_samples,) or (n_samples, n_tasks)
        Labels, which name the classes or tasks.
    metric : callable, default=sklearn.metrics.f1_score
        Metric of two classes, called with true and predicted 0/1 labels.
    **options : dict
        Passed to `metric`, such as ``zero_division=0``.

    Returns
    -------
    scorers : dict of str to scorer
        By names such as "f1_score of 'cook'".

    References
    ----------
    .. [1] Wang, Zhao, Yatskar, Chang, Ordonez. Balanced datasets are not enough. ICCV 2019, Fig. 7.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skbiasamp.model_selection import class_scorers
    >>> X, job = [[0], [1], [2], [2], [2]], ["cook", "cook", "nurse", "pilot", "pilot"]
    >>> model = LogisticRegression().fit(X, job)
    >>> scorers = class_scorers(job, zero_division=0)
    >>> {name: round(float(scorer(model, X, job)), 2) for name, scorer in scorers.items()}
    {"f1_score of 'cook'": 1.0, "f1_score of 'nurse'": 0.0, "f1_score of 'pilot'": 0.8}
    """
    if not callable(metric):
        raise InputTypeError("{metric} must be a metric of two classes; got {seen!r}.", seen=metric)
    labels = to_native(y, "y")
    try:
        several = type_of_target(labels) == "multilabel-indicator"
        classes = np.unique(labels).tolist()
    except Exception as error:  # of the library whose container it is
        raise InputTypeError("{y} holds no labels that can be sorted: {why}", why=error) from error
    if several:
        classes = list(getattr(labels, "columns", range(np.shape(labels)[1])))
    name = getattr(metric, "__name__", type(metric).__name__)
    how = {"metric": metric, **options}
    return {
        f"{name} of '{task_of(label)}'": make_scorer(_of_class, of=i if several else label, **how)
        for i, label in enumerate(classes)
    }


def _of_class(y_true: Any, y_pred: Any, *, of: Any, metric: Any, **options: Any) -> float:
    """Return the metric of one class against all others, or of one column."""
    both = [np.asarray(labels) for labels in (y_true, y_pred)]
    true, pred = (labels[:, of] if labels.ndim > 1 else labels == of for labels in both)
    return float(metric(true, pred, **options))
