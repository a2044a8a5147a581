"""MixedClassifier: decisions of a model and of a mitigation, mixed so that neither is overdone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.model_selection import check_cv
from sklearn.utils import assert_all_finite, check_random_state
from sklearn.utils.validation import check_is_fitted

from skbiasamp._input.checks import Array
from skbiasamp._input.containers import check_lengths, to_native
from skbiasamp._input.errors import InputError
from skbiasamp._input.options import Option, PositionalOption
from skbiasamp._utils.compat import HasMethods
from skbiasamp._utils.docstrings import filling
from skbiasamp._utils.warnings import collected
from skbiasamp.compose.sensitive import SENSITIVE, requests
from skbiasamp.compose.wrapper import SensitiveClassifier
from skbiasamp.metrics import DirectionalAuditor
from skbiasamp.mitigation._pairs import check_rows
from skbiasamp.mitigation._samplers import RatioBalancer
from skbiasamp.model_selection.folds import RowClassifier, RowData, seeded_clone
from skbiasamp.model_selection.thresholds import held_out, most_probable, task_scores

_SHARES = np.linspace(0, 1, 21)


@filling
class MixedClassifier(SensitiveClassifier):
    """Mix a classifier with a mitigation that overshoots, so that amplification lands at 0.

    Many mitigations end below 0: their predictions have less bias than the labels. This classifier
    mixes both probabilities, with the largest share of the mitigation at which amplification does
    not change its sign. It does not need the group to predict.

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
            y_pred = self._decide(self._mix(first, second, share))
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

        %(to probabilities)s
        """
        first, other = self._probabilities(X)
        return self._mix(first, other, self.share_)

    @filling
    def predict(self, X: Any) -> Array:
        """Predict rows; randomized decisions are drawn from the seed, row by row.

        %(to labels)s
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

    @staticmethod
    def _mix(first: Array, other: Array, share: float) -> Array:
        return (1 - share) * first + share * other
