"""LeakageProbe: how well the attribute can be told, at one place of a pipeline."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from skbiasamp._compat import HasMethods, Interval, StrOptions
from skbiasamp.compose._columns import sensitive_values, without_sensitive
from skbiasamp.compose._wrapper import HOW_TO_PASS, ROUTING
from skbiasamp.metrics._attack import Settings
from skbiasamp.metrics._features import tell_from_features
from skbiasamp.metrics._predictability import own_generator

_TOLD = ("leakage_", "chance_", "interval_", "attacker_")
# Missing numbers and sparse matrices pass, as everything does.
_PASS: dict[str, Any] = {
    "accept_sparse": True,
    "dtype": None,
    "ensure_all_finite": False,
}


class LeakageProbe(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Pass X through, and measure how well the protected attribute can be told from it.

    Two probes show where a pipeline adds or removes what tells of a group: before and after an
    encoder, a selector, an embedding. Attackers are cross-fitted on the rows that `fit` sees.

    .. versionadded:: 0.1

    Parameters
    ----------
    attacker : {"auto", "exact", "mlp"} or estimator, default="auto"
        Who attacks. "auto" is the best table where X has few distinct rows (20 or more alike on
        average), else a logistic regression of standardised columns.
    sensitive : str, int, list or callable, default=None
        Where the protected attribute is: the name of a column of `X`, its position, a list of
        several, or a function of `X`. Attackers do not see these columns. None: it is passed as
        ``sensitive_features``, also through scikit-learn's metadata routing.
    cv : int, default=5
        Folds.
    quality : {"accuracy", "balanced_accuracy", "f1", "inverse_rmse", "inverse_log_loss"} or \
callable, default="accuracy"
        How well the attribute is told.
    balanced : bool, default=True
        Whether every group counts the same, so that chance is one over their number.
    n_draws : int, default=1
        Draws of folds that are averaged.
    missing : {"error", "drop", "group"}, default="error"
        What to do where the attribute is missing.
    confidence_level : float, default=0.95
        Level of the interval.
    n_resamples : int, default=199
        Draws of the interval.
    random_state : int, RandomState, Generator or None, default=None
        Where random numbers come from.
    n_jobs : int, default=None
        Jobs that share the training of attackers.

    Attributes
    ----------
    leakage_ : float
        How well the attribute was told. This and the next three exist where one was given.
    chance_ : float
        How well it is told by who sees nothing.
    interval_ : tuple of float
        The interval of `leakage_`.
    attacker_ : str
        Who attacked.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Their names, where X has names.

    See Also
    --------
    skbiasamp.LeakageAuditor : What a model's predictions add.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from skbiasamp import LeakageProbe
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame({"sex": rng.choice(["f", "m"], 500), "age": rng.normal(40, 9, 500)})
    >>> X["height"] = np.where(X["sex"] == "f", 165, 178) + rng.normal(0, 7, 500)
    >>> probe = LeakageProbe(sensitive="sex", random_state=0).fit(X)
    >>> round(probe.leakage_, 2), probe.chance_
    (0.84, 0.5)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "attacker": [StrOptions({"auto", "exact", "mlp"}), HasMethods(["fit", "predict"])],
        "sensitive": [str, Integral, list, tuple, callable, None],
        "cv": [Interval(Integral, 2, None, closed="left")],
        "balanced": ["boolean"],
        "n_draws": [Interval(Integral, 1, None, closed="left")],
        "missing": [StrOptions({"error", "drop", "group"})],
        "confidence_level": [Interval(Real, 0, 1, closed="neither")],
        "n_resamples": [Interval(Integral, 2, None, closed="left")],
        "random_state": ["random_state", np.random.Generator],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        *,
        attacker: Any = "auto",
        sensitive: Any = None,
        cv: int = 5,
        quality: Any = "accuracy",
        balanced: bool = True,
        n_draws: int = 1,
        missing: str = "error",
        confidence_level: float = 0.95,
        n_resamples: int = 199,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.attacker = attacker
        self.sensitive = sensitive
        self.cv = cv
        self.quality = quality
        self.balanced = balanced
        self.n_draws = n_draws
        self.missing = missing
        self.confidence_level = confidence_level
        self.n_resamples = n_resamples
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None, *, sensitive_features: Any = None) -> Self:
        """Measure, where a protected attribute is given.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Features, as they are at this place. Text and categories are one-hot encoded for the
            attackers, and missing numbers marked.
        y : Ignored
            Here for pipelines.
        sensitive_features : array-like of shape (n_samples,), optional
            The protected attribute.

        Returns
        -------
        self : object
        """
        self._validate_params()
        validate_data(self, X, **_PASS)
        for name in _TOLD:  # of an earlier fit
            self.__dict__.pop(name, None)
        seen = X
        if self.sensitive is not None and sensitive_features is None:
            sensitive_features = sensitive_values(X, self.sensitive)
            seen = without_sensitive(X, self.sensitive)
        if sensitive_features is None:
            warnings.warn(
                "LeakageProbe was fitted without the sensitive feature: it measured nothing. "
                + HOW_TO_PASS.format(type(self).__name__),
                UserWarning,
                stacklevel=2,
            )
            return self
        settings = Settings(
            self.attacker,
            self.quality,
            None,
            self.balanced,
            False,
            self.cv,
            self.n_draws,
            n_jobs=self.n_jobs,
        )
        told = tell_from_features(
            seen,
            sensitive_features,
            settings,
            sample_weight=None,
            groups="intersection",
            missing=self.missing,
            n_resamples=self.n_resamples,
            confidence_level=self.confidence_level,
            rng=own_generator(self.random_state),
        )
        self.leakage_, self.chance_, self.interval_ = (
            told.quality,
            told.chance,
            (told.low, told.high),
        )
        self.attacker_ = told.attacker
        return self

    def transform(self, X: Any) -> Any:
        """Return X as it is.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Features.

        Returns
        -------
        X : the same
        """
        check_is_fitted(self, "n_features_in_")
        checked = validate_data(self, X, reset=False, **_PASS)
        return X if hasattr(X, "shape") else checked

    def __getattr__(self, name: str) -> Any:
        why = f"{type(self).__name__!r} object has no attribute {name!r}"
        if name in _TOLD:
            why = (
                f"{name} is there after a fit with the protected attribute: name its column, "
                "LeakageProbe(sensitive='sex'), or pass it, fit(X, sensitive_features=A). Inside a "
                f"pipeline, name the column, or enable metadata routing: {ROUTING}."
            )
        raise AttributeError(why, name=name, obj=self)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_features_in_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags
