"""LeakageProbe: how well the sensitive feature can be predicted at one point of a pipeline."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from skbiasamp._input.containers import without_times
from skbiasamp._input.options import Option, WithOptions
from skbiasamp._utils.compat import (
    N_JOBS,
    HasMethods,
    Interval,
    StrOptions,
    output_config,
    take_rows,
)
from skbiasamp._utils.docstrings import filling
from skbiasamp._utils.warnings import warn
from skbiasamp.attackers.attack import QUALITIES, Settings
from skbiasamp.attackers.attack_run import attack_features
from skbiasamp.attackers.resampling import own_generator
from skbiasamp.compose.sensitive import SENSITIVE, SensitiveColumns, how_to_pass
from skbiasamp.inference.runs import of_draws

_MEASURED = ("leakage_", "chance_", "interval_", "attacker_")
# Missing numbers, sparse matrices and images pass, as everything does.
_PASS: dict[str, Any] = {"accept_sparse": True, "dtype": None, "ensure_all_finite": False}
_PASS["allow_nd"] = True


@filling
class LeakageProbe(SensitiveColumns, OneToOneFeatureMixin, TransformerMixin, WithOptions):
    """Measure how well the sensitive feature can be predicted from X at this point of a pipeline.

    X is passed on unchanged. Use one probe before and one after a step, such as an encoder or a
    feature selector, to measure what the step adds or removes. Attackers are cross-fitted on the
    rows that `fit` gets.

    .. versionadded:: 0.1

    Parameters
    ----------
    attacker : {"auto", "exact", "mlp"} or estimator, default="auto"
        Classifier that tries to predict the sensitive feature. "auto": "exact" if each distinct
        row of X occurs 20 times or more on average, else a logistic regression of standardised
        columns. "exact": the best table of inputs, `ExactAttacker`. "mlp": a small network,
        `MLPAttacker`. An estimator: any classifier, cloned for every draw and fold.
    %(sensitive)s
        Attackers do not see named columns.
    cv : int, default=5
        Number of folds.
    quality : {"accuracy", "balanced_accuracy", "f1", "inverse_rmse", "inverse_log_loss"} or \
callable, default="accuracy"
        %(quality)s
    balanced : bool, default=True
        True weights all groups equally, so that the most frequent group scores an accuracy of
        1 / number of groups. False leaves rows with equal weights.
    n_draws : int, default=1
        Number of random splits into folds that are averaged.
    missing : {"error", "drop", "group"}, default="error"
        How rows with a missing sensitive feature are handled. "error": raise. "drop": leave them
        out. "group": make them a group of their own.
    confidence_level : float, default=0.95
        Level of the confidence interval.
    n_resamples : int, default=199
        Number of resamples for the confidence interval.
    %(random_state)s
    %(n_jobs)s

    Attributes
    ----------
    leakage_ : float
        Score of the attacker. This and the next three attributes exist if `fit` got the sensitive
        feature.
    chance_ : float
        Score of always predicting the most frequent group.
    interval_ : tuple of float
        Confidence interval of `leakage_`.
    attacker_ : str
        Name of the attacker.
    n_features_in_, feature_names_in_
        As of any estimator.

    See Also
    --------
    skbiasamp.LeakageAuditor : Audit leakage amplification of predictions.

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

    _always_hides = True

    attacker: Any = Option(
        "auto", StrOptions({"auto", "exact", "mlp"}), HasMethods(["fit", "predict"])
    )
    sensitive: Any = Option(None, *SENSITIVE)
    cv: int = Option(5, Interval(Integral, 2, None, closed="left"))
    quality: Any = Option("accuracy", StrOptions(set(QUALITIES)), callable)
    balanced: bool = Option(True, "boolean")
    n_draws: int = Option(1, Interval(Integral, 1, None, closed="left"))
    missing: str = Option("error", StrOptions({"error", "drop", "group"}))
    confidence_level: float = Option(0.95, Interval(Real, 0, 1, closed="neither"))
    n_resamples: int = Option(199, Interval(Integral, 2, None, closed="left"))
    random_state: Any = Option(None, "random_state", np.random.Generator)
    n_jobs: int | None = Option(None, *N_JOBS)

    def fit(self, X: Any, y: Any = None, *, sensitive_features: Any = None) -> Self:
        """Measure how well the sensitive feature can be predicted from X.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Features. For the attackers, text and categories are one-hot encoded, and missing
            numbers are marked. Arrays of more dimensions, such as images, if `attacker` is an
            estimator that takes them.
        y : Ignored
            Here for pipelines.
        sensitive_features : array-like of shape (n_samples,), optional
            The sensitive feature, if `sensitive` does not name it.

        Returns
        -------
        self : object
        """
        self._validate_params()
        validate_data(self, without_times(X), **_PASS)
        for name in _MEASURED:  # by an earlier fit
            self.__dict__.pop(name, None)
        sensitive_features = self._sensitive(X, sensitive_features, "fit", required=False)
        if sensitive_features is None:
            warn(
                "LeakageProbe was fitted without the sensitive feature: it measured nothing. "
                + how_to_pass(type(self).__name__)
            )
            return self
        how = {name: getattr(self, name) for name in ("balanced", "cv", "n_draws", "n_jobs")}
        qualities, chance, attacker = attack_features(
            self._hide(X),
            sensitive_features,
            Settings(self.attacker, self.quality, **how),
            missing=self.missing,
            n_resamples=self.n_resamples,
            random_state=self.random_state,
        )
        low, high, *_ = of_draws(*qualities, confidence_level=self.confidence_level)
        self.leakage_, self.chance_ = float(qualities[0].mean()), chance
        # A share of rows, which no interval leaves.
        ends = np.clip((low[0], high[0]), 0.0, 1.0).tolist()
        self.interval_, self.attacker_ = tuple(ends), attacker
        return self

    def rank_features(self, X: Any, *, sensitive_features: Any = None) -> pd.DataFrame:
        """Rank features by what they reveal about the sensitive feature.

        Use it to find out why balanced data still reveal the group. It trains attackers on each
        feature alone, and on all others without it. The probe need not be fitted, and stays as it
        is.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Features, as for `fit`.
        sensitive_features : array-like of shape (n_samples,), optional
            The sensitive feature, if `sensitive` does not name it.

        Returns
        -------
        table : DataFrame
            One row a feature: its name or position (``feature``); the attacker's score from it
            alone (``leakage``) with its interval (``low``, ``high``), which holds for all features
            together; whether it is a ``proxy``: it alone predicts better than chance; and by how
            much the score of all features falls without it (``lost``): about 0 if others reveal the
            same. First comes what has most, of what it reveals alone above chance and what is lost.

        Examples
        --------
        Height reveals the sex, and centimetres reveal no more than inches:

        >>> import numpy as np
        >>> import pandas as pd
        >>> from skbiasamp import LeakageProbe
        >>> rng = np.random.default_rng(0)
        >>> sex = rng.choice(["f", "m"], 500)
        >>> height = np.where(sex == "f", 165, 178) + rng.normal(0, 7, 500)
        >>> X = pd.DataFrame({"age": rng.normal(40, 9, 500), "cm": height, "inch": height / 2.54})
        >>> probe = LeakageProbe(random_state=0)
        >>> ranked = probe.rank_features(X, sensitive_features=sex)
        >>> ranked[["feature", "leakage", "proxy"]].round(1)
          feature  leakage  proxy
        0      cm      0.8   True
        1    inch      0.8   True
        2     age      0.5  False
        >>> bool((ranked["lost"].abs() < 0.02).all())
        True
        """
        self._validate_params()
        probe = clone(self)
        attribute = probe._sensitive(X, sensitive_features, "rank_features")
        X = probe._hide(X)
        # The same folds for all; columns that hold the sensitive feature are gone.
        seed = int(own_generator(self.random_state).integers(2**31))
        probe.set_params(sensitive=None, random_state=seed)
        whole = probe.fit(X, sensitive_features=attribute).leakage_
        names = getattr(probe, "feature_names_in_", range(probe.n_features_in_))
        n = len(names)
        probe.set_params(confidence_level=1 - (1 - self.confidence_level) / n)  # Bonferroni
        rows = []
        for at, name in enumerate(names):
            others = [i for i in range(n) if i != at]
            lost = np.nan
            if others:
                left = take_rows(X, others, axis=1)
                lost = whole - probe.fit(left, sensitive_features=attribute).leakage_
            probe.fit(take_rows(X, [at], axis=1), sensitive_features=attribute)
            above = probe.leakage_ - probe.chance_
            proxy = probe.interval_[0] > probe.chance_
            rows.append((max(above, lost), name, probe.leakage_, *probe.interval_, proxy, lost))
        columns = ["most", "feature", "leakage", "low", "high", "proxy", "lost"]
        table = pd.DataFrame(rows, columns=columns)
        table = table.sort_values("most", ascending=False, kind="stable", ignore_index=True)
        return table.drop(columns="most")

    def transform(self, X: Any) -> Any:
        """Return X unchanged.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Features.

        Returns
        -------
        X : the same
        """
        check_is_fitted(self, "n_features_in_")
        checked = validate_data(self, without_times(X), reset=False, **_PASS)
        if isinstance(X, pd.DataFrame) and output_config("transform", self)["dense"] == "pandas":
            X = X.copy(deep=False)  # scikit-learn names its columns, which are the caller's
        return X if hasattr(X, "shape") else checked

    def __getattr__(self, name: str) -> Any:
        why = f"{type(self).__name__!r} object has no attribute {name!r}"
        if name in _MEASURED:
            why = f"{name} exists after a fit with the sensitive feature. " + how_to_pass(
                type(self).__name__
            )
        raise AttributeError(why, name=name, obj=self)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_features_in_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.sparse = True
        tags.input_tags.string = tags.input_tags.categorical = True
        return tags
