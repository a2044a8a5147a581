"""Audits over the folds of a cross-validation."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from numbers import Integral
from operator import itemgetter
from typing import Any

import numpy as np
import pandas as pd
import sklearn
from scipy import stats
from sklearn.base import clone
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.model_selection import KFold, StratifiedKFold, check_cv, cross_validate
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import type_of_target

from skbiasamp._compat import Interval, StrOptions, take_rows, validate_params
from skbiasamp._input import Array, InputError, of_auditor, speaking, to_native
from skbiasamp._warnings import collected
from skbiasamp.compose import AuditedClassifier
from skbiasamp.compose._sensitive import without
from skbiasamp.model_selection._rows import RowClassifier, RowData, requests
from skbiasamp.results import AuditResult

STRATIFY = ("task", "joint")


@dataclass(frozen=True, eq=False, repr=False)
class CrossAuditResult:
    """Bias amplification over the folds of a cross-validation, as returned by `cross_audit`.

    Attributes
    ----------
    folds : list of AuditResult
        One for each fold of each repeat.
    pooled : AuditResult
        Audit of all held-out predictions together, against the correlations of all labels. Its
        interval describes the choice of rows. With several repeats, value and interval are those
        of the mean over repeats.
    value, low, high : float
        Mean over folds, and its confidence interval for models trained on other samples of this
        size.
    confidence_level : float
        Level of the interval.
    table : DataFrame
        One row for each fold: ``repeat``, ``fold``, ``n_train``, ``n_test``, the amplification
        ``value`` with ``low``, ``high`` and ``p_value``, and the classifier's scores.
    predictions : list of ndarray
        The predictions of each fold's held-out rows.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from skbiasamp import cross_audit
    >>> rng = np.random.default_rng(0)
    >>> sex, skill = rng.integers(0, 2, 600), rng.normal(size=600)
    >>> hired = (skill + sex / 2 + rng.normal(size=600) > 0).astype(int)
    >>> result = cross_audit(
    ...     DecisionTreeClassifier(max_depth=3, random_state=0),
    ...     np.column_stack([skill, sex]),
    ...     hired,
    ...     sensitive_features=sex,
    ...     random_state=0,
    ... )
    >>> result
    directional A->T: +0.0828 [-0.0131, +0.1788] over 5 folds
     repeat  fold  n_train  n_test   value     low   high  p_value  score
          0     0      480     120  0.0547 -0.0434 0.1499   0.2830 0.7000
          0     1      480     120  0.1490  0.0643 0.2311   0.0020 0.7750
          0     2      480     120  0.1629  0.0575 0.2639   0.0050 0.6667
          0     3      480     120  0.0755 -0.0136 0.1638   0.1060 0.7667
          0     4      480     120 -0.0279 -0.1156 0.0541   0.4660 0.7917
    pooled directional A->T: +0.0820 [+0.0413, +0.1239], p = 0.001 (600 rows, 2 groups x 1 task)
    """

    folds: list[AuditResult]
    pooled: AuditResult
    value: float
    low: float
    high: float
    confidence_level: float
    table: pd.DataFrame
    predictions: list[Array]

    def __float__(self) -> float:
        return float(self.value)

    def __repr__(self) -> str:
        name = " ".join(filter(None, (self.pooled.metric, self.pooled.direction)))
        repeats = self.table["repeat"].nunique()
        folds = f"{len(self.folds)} folds" + (f" of {repeats} repeats" if repeats > 1 else "")
        title = f"{name}: {self.value:+.4f} [{self.low:+.4f}, {self.high:+.4f}] over {folds}"
        shown = self.table.head(10)
        lines = [title, shown.to_string(index=False, float_format="{:.4f}".format)]
        if len(shown) < len(self.table):
            lines.append(f"(the first {len(shown)} of {len(self.table)} folds)")
        return "\n".join([*lines, f"pooled {self.pooled._title}"])

    def to_frame(self) -> pd.DataFrame:
        """Return a copy of ``table``."""
        return self.table.copy()


@validate_params(
    {
        "n_repeats": [Interval(Integral, 1, None, closed="left")],
        "stratify": [StrOptions(set(STRATIFY))],
    }
)
def cross_audit(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    sensitive_features: Any = None,
    auditor: Any = None,
    cv: Any = 5,
    n_repeats: int = 1,
    stratify: str = "task",
    groups: Any = None,
    scoring: Any = None,
    sample_weight: Any = None,
    params: dict[str, Any] | None = None,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> CrossAuditResult | dict[str, CrossAuditResult]:
    """Audit a classifier for bias amplification over the folds of a cross-validation.

    The classifier is trained on each training fold. Its predictions for the held-out rows are
    audited against the correlations of that fold's training labels. Use it to find out how much
    the amplification varies with the training rows.

    .. versionadded:: 0.1

    Parameters
    ----------
    estimator : classifier or AuditedClassifier
        The model.
    X : array-like or data frame of shape (n_samples, n_features)
        Data.
    y : array-like of shape (n_samples,) or (n_samples, n_tasks)
        Labels.
    sensitive_features : array-like of shape (n_samples,) or (n_samples, n_features)
        The sensitive feature. Not needed if an `AuditedClassifier` finds it in `X`.
    auditor : auditor or list of auditors, default=None
        The metrics. None: that of the `AuditedClassifier`, or ``DirectionalAuditor()``.
        Direction "T->A" needs an `AuditedClassifier` with a ``sensitive_estimator``.
    cv : int, cross-validation splitter or iterable of splits, default=5
        The folds. An integer is a number of shuffled folds.
    n_repeats : int, default=1
        Number of repetitions with other seeds, for the folds of an integer `cv` and for each
        ``random_state`` of the estimator that is None.
    stratify : {"task", "joint"}, default="task"
        What folds have equal shares of. "task": each class of `y`, as in scikit-learn. "joint":
        each pair of group and class, so that small groups are in all folds.
    groups : array-like of shape (n_samples,), default=None
        Groups of rows for splitters that keep them together, such as ``GroupKFold``.
    scoring : str, callable, list or dict, default=None
        Further scores on the held-out rows. None: the estimator's own score.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights, in training and in the audit.
    params : dict, default=None
        Further metadata, for estimators that request it.
    n_jobs : int, default=None
        Number of folds that are trained in parallel. Results do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of folds, estimators and auditors.

    Returns
    -------
    result : CrossAuditResult or dict of str to CrossAuditResult
        One for each auditor, by name, if `auditor` is a list.

    See Also
    --------
    amplification_scorer : Scorer for scikit-learn's own cross-validation and searches.

    Notes
    -----
    The interval over folds is Student's, from the variance between the folds of a repeat. Repeats
    estimate that variance better but bring no new rows, so the interval does not shrink with their
    number. If it did, a nominal 95 % interval would cover about 67 %.

    Estimators that need the sensitive feature to predict, such as `CorpusConstraintClassifier`, get
    it with and without metadata routing. Scorers then get row numbers in place of `X`.

    If test folds overlap, as with `ShuffleSplit`, the variance is corrected as by Nadeau and
    Bengio [1]_, and the pooled result has no interval.

    References
    ----------
    .. [1] Nadeau, Bengio. Inference for the generalization error. Machine Learning 52, 2003.

    Examples
    --------
    A tree that does not use the sex weakens the label's correlation with it:

    >>> import numpy as np
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from skbiasamp import cross_audit
    >>> sex = np.repeat([0, 1], 200)
    >>> skill = np.tile(np.arange(10), 40)
    >>> hired = (skill + 3 * sex > 6).astype(int)
    >>> features = skill.reshape(-1, 1)
    >>> blind = cross_audit(
    ...     DecisionTreeClassifier(), features, hired, sensitive_features=sex, random_state=0
    ... )
    >>> round(blind.value, 2)
    -0.18
    """
    if isinstance(estimator, AuditedClassifier):
        model = clone(estimator)
        if auditor is not None:
            model.set_params(auditor=auditor)
    else:
        model = AuditedClassifier(clone(estimator), auditor=auditor)
    attribute = model._sensitive(X, sensitive_features, "fit", required=False)
    if attribute is None:
        raise InputError(
            "cross_audit needs the sensitive feature: pass {sensitive_features}, for example "
            "X['sex'], or an AuditedClassifier(..., sensitive='sex')."
        )
    strata = y if stratify == "task" else joint_strata(y, attribute)
    data, passed = X, sensitive_features
    if _needs_rows(model):
        model, data = _of_rows(model, X, attribute)
        passed = None  # it is found by row number
    metadata = {"sensitive_features": passed, "sample_weight": sample_weight}
    metadata = {key: value for key, value in metadata.items() if value is not None}
    rng = check_random_state(random_state)
    auditors = model._auditors()
    repeats = []
    for _ in range(n_repeats):
        splits = list(splitter(cv, strata, rng).split(X, strata, groups))
        seeded = [_seeded(one, rng) for one in auditors.values()]
        fitted = cross_validate(
            _seeded(clone(model).set_params(auditor=seeded), rng),
            data,
            y,
            cv=splits,
            scoring=scoring,
            params={**metadata, **(params or {})} or None,
            n_jobs=n_jobs,
            return_estimator=True,
            error_score="raise",
        )
        repeats.append((splits, fitted))
    whole = {}
    for name, one in auditors.items():
        with speaking(of_auditor(one)):
            whole[name] = _seeded(one, rng).fit(
                y, sensitive_features=attribute, sample_weight=sample_weight
            )
    rows = (data, y, passed, sample_weight)
    held_out = [
        [
            (one, one._labels(*(None if part is None else take_rows(part, test) for part in rows)))
            for (_, test), one in zip(splits, fitted["estimator"], strict=True)
        ]
        for splits, fitted in repeats
    ]
    results = {name: _result(name, auditor, repeats, held_out) for name, auditor in whole.items()}
    return results if isinstance(model.auditor, list) else next(iter(results.values()))


def _needs_rows(model: AuditedClassifier) -> bool:
    """Return whether the classifier inside needs a sensitive feature that nobody would pass on."""
    routes = sklearn.get_config()["enable_metadata_routing"]
    return requests(model.estimator, "predict") or (not routes and requests(model.estimator, "fit"))


def _of_rows(model: AuditedClassifier, X: Any, attribute: Any) -> tuple[AuditedClassifier, Array]:
    """Return the same model for row numbers, and the numbers."""
    model._hide(X)
    named = model.sensitive is not None and not callable(model.sensitive)
    data = RowData(model._features(X), attribute)
    changed = {"estimator": RowClassifier(model.estimator, data=data)}
    if model.sensitive_estimator is not None:
        blind = RowData(without(X, model.sensitive) if named else X, attribute)
        changed["sensitive_estimator"] = RowClassifier(model.sensitive_estimator, data=blind)
    model = clone(model).set_params(**changed, sensitive=data.sensitive, drop_sensitive=False)
    return model, np.arange(len(attribute))[:, None]


def _result(name: str, auditor: Any, repeats: Any, held_out: Any) -> CrossAuditResult:
    """Audit every fold, all folds together, and what folds say of each other."""
    rows, folds, pooled = [], [], []
    for repeat, ((splits, fitted), labels) in enumerate(zip(repeats, held_out, strict=True)):
        scores = {key[5:]: values for key, values in fitted.items() if key.startswith("test_")}
        for fold, ((train, test), (model, given)) in enumerate(zip(splits, labels, strict=True)):
            with collected() as found:
                result = model.auditors_[name].audit(**given)
            # The pooled result says once which pairs are uncertain.
            found.issue(UndefinedMetricWarning)
            folds.append(result)
            rows.append(
                {
                    "repeat": repeat,
                    "fold": fold,
                    "n_train": len(train),
                    "n_test": len(test),
                    "value": result.value,
                    "low": result.low,
                    "high": result.high,
                    "p_value": result.p_value,
                    **{key: values[fold] for key, values in scores.items()},
                }
            )
        # Contingencies add: all held-out rows are the sum of those of the folds.
        cells = sum(auditor._count_audited(**given) for _, given in labels)
        tested = np.bincount(np.concatenate([test for _, test in splits]))
        overlap = bool((tested > 1).any())
        judge = copy.copy(auditor).set_params(interval=None) if overlap else auditor
        pooled.append(judge.audit(cells))
    table = pd.DataFrame(rows)
    value, low, high = over_folds(table, "value", auditor.confidence_level, overlap=overlap)
    return CrossAuditResult(
        folds=folds,
        pooled=pooled[0] if len(pooled) == 1 else auditor._over_runs(pooled, "t"),
        value=value,
        low=low,
        high=high,
        confidence_level=auditor.confidence_level,
        table=table,
        predictions=[np.asarray(given["y_pred"]) for fold in held_out for _, given in fold],
    )


def over_folds(
    table: pd.DataFrame, measure: str, confidence_level: float, *, overlap: bool
) -> tuple[float, float, float]:
    """Return the mean of a column over folds and its interval.

    Folds of one repeat have different rows. Repeats estimate their variance better, but bring no
    further rows.
    """
    values = table[measure].to_numpy().reshape(table["repeat"].nunique(), -1)
    mean, (n_repeats, n_folds) = float(values.mean()), values.shape
    if n_folds == 1:
        return mean, float("nan"), float("nan")
    part = 1 / n_folds + overlap * table["n_test"].mean() / table["n_train"].mean()
    quantile = stats.t.isf((1 - confidence_level) / 2, n_repeats * (n_folds - 1))
    reach = float(quantile * np.sqrt(values.var(axis=1, ddof=1).mean() * part))
    return mean, mean - reach, mean + reach


def splitter(cv: Any, strata: Any, rng: np.random.RandomState) -> Any:
    """Return what makes the folds; a number of them makes shuffled ones."""
    if not isinstance(cv, Integral):
        return check_cv(cv, strata, classifier=True)
    classes = type_of_target(strata) in ("binary", "multiclass")
    return (StratifiedKFold if classes else KFold)(
        cv, shuffle=True, random_state=rng.randint(2**31 - 1)
    )


def joint_strata(y: Any, attribute: Any) -> Array:
    """Return a number for each combination of labels and attribute."""
    tables = [
        pd.DataFrame(to_native(value, name)).reset_index(drop=True)
        for name, value in (("y", y), ("sensitive_features", attribute))
    ]
    rows = pd.concat(tables, axis=1, ignore_index=True)
    return rows.groupby(list(rows.columns), dropna=False, observed=True).ngroup().to_numpy()


def _seeded(estimator: Any, rng: np.random.RandomState) -> Any:
    """Return a clone whose `random_state` parameters are seeds if they were None."""
    seeded = clone(estimator)
    for name, value in sorted(seeded.get_params(deep=True).items(), key=itemgetter(0)):
        if name.rpartition("__")[2] == "random_state" and value is None:
            seeded.set_params(**{name: rng.randint(2**31 - 1)})
    return seeded
