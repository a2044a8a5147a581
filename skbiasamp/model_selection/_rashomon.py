"""Equally good models: between which values their amplification lies."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import check_scoring
from sklearn.model_selection import ParameterSampler
from sklearn.utils import check_random_state

from skbiasamp._input.checks import Array
from skbiasamp._input.containers import to_native
from skbiasamp._input.errors import InputError, quote
from skbiasamp._input.keywords import keywords
from skbiasamp._utils.compat import N_JOBS, Interval, take_rows, validate_params
from skbiasamp._utils.formatting import level_of, name_of, number, printable, rate
from skbiasamp._utils.jobs import side_by_side
from skbiasamp._utils.warnings import collected
from skbiasamp.compose.audited import AuditedClassifier, named_auditors
from skbiasamp.counts.several_models import check_models
from skbiasamp.inference.shares import share_interval
from skbiasamp.metrics.directional import DirectionalAuditor
from skbiasamp.model_selection._cross_audit import attribute_of, audited_models
from skbiasamp.model_selection.folds import fitted_auditor, seeded_clone, splits_of, tested_twice
from skbiasamp.model_selection.row_classifier import LabelledRows
from skbiasamp.results import AuditResult, ComparisonResult
from skbiasamp.results.exports import Exported, paper_of

_ROUNDING = 1e-12  # of differences of scores


@dataclass(frozen=True, eq=False, repr=False)
class RashomonResult(Exported):
    """Amplification of equally good models, as returned by `audit_rashomon`.

    Attributes
    ----------
    table : DataFrame
        One row a trained model: its class (``model``), ``score``, whether its score is within the
        tolerance (``good``), ``value``, ``estimate`` with ``low`` and ``high``, ``verdict``, and
        the drawn parameters.
    classes : DataFrame
        One row a model class, about its good models: how many were trained (``n_models``) and how
        many are good (``n_good``), the best ``score`` of all; the ``lowest`` and ``highest``
        estimate; the share with an estimate above 0 (``share_above``, the probability of that sign)
        with its 95 % interval (``share_low``, ``share_high``); the mean ``estimate`` with ``low``,
        ``high`` and ``verdict``. A class with fewer than two good models has no mean.
    means : dict of str to AuditResult
        The mean over good models of each class.
    comparison : ComparisonResult or None
        The classes compared, on the same rows; None if fewer than two have two good models.
    tolerance : float
        How far the score of a good model may be below the best.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from skbiasamp.model_selection import audit_rashomon
    >>> skill, sex = [*range(8)] * 30, [0, 0, 1, 1] * 60
    >>> result = audit_rashomon(
    ...     DecisionTreeClassifier(max_depth=1, random_state=0),
    ...     [[value] for value in skill],
    ...     [value > 3 for value in skill],
    ...     sensitive_features=sex,
    ...     n_models=3,
    ...     random_state=0,
    ... )
    >>> print(result.sentence)
    3 of 3 models of 'DecisionTreeClassifier' score within 0.01 of the best (1.0000). Their ...
    """

    table: pd.DataFrame
    classes: pd.DataFrame
    means: dict[str, AuditResult]
    comparison: ComparisonResult | None
    tolerance: float

    @property
    def sentence(self) -> str:
        """What the good models have in common, whether classes differ, and what limits it."""
        texts = [self._about(row) for row in self.classes.to_dict("records")]
        if self.comparison is not None:
            texts += self.comparison.sentences.values()
        return " ".join([*texts, _LIMITS])

    def _about(self, row: Any) -> str:
        name = f"'{name_of(row['model'])}'"
        if not row["n_good"]:
            return f"No model of {name} scores within {self.tolerance:g} of the best."
        best = self.table["score"].max()
        ends = f"between {number(row['lowest'])} and {number(row['highest'])}"
        scores, amplification = "score", f"Their amplification is {ends}"
        if row["n_good"] == 1:
            scores, amplification = "scores", f"Its amplification is {number(row['lowest'])}"
        text = (
            f"{row['n_good']} of {row['n_models']} models of {name} {scores} within "
            f"{self.tolerance:g} of the best ({best:.4f}). {amplification}."
        )
        if row["model"] not in self.means:
            return text
        ends = f"{rate(row['share_low'])} to {rate(row['share_high'])}"
        text += (
            f" It is above 0 for {rate(row['share_above'])} of them (95 % confidence interval "
            f"{ends}). Their mean is {number(row['estimate'])}"
        )
        level = self.means[row["model"]].confidence_level
        if level is not None:
            interval = f"{level_of(level)} confidence interval {number(row['low'])} to"
            text += f" ({interval} {number(row['high'])}): {row['verdict']}"
        return f"{text}."

    def __repr__(self) -> str:
        shown = self.classes.to_string(index=False, float_format="{:.4f}".format, na_rep="-")
        return printable(f"{shown}\n{self.sentence}")

    @property
    def _papers(self) -> list[str]:
        return [paper_of(DirectionalAuditor), *(mean.citation for mean in self.means.values())]


_LIMITS = (
    "These models come from seeds, resampled training rows and the given parameters. Others may be "
    "as good and lie outside: more models widen the range. It holds for these training rows."
)


@keywords()
@validate_params(
    {
        "tolerance": [Interval(Real, 0, None, closed="left")],
        "n_models": [Interval(Integral, 2, None, closed="left")],
        "param_distributions": [Mapping, None],
        "scoring": [str, callable, None],
        "bootstrap": ["boolean"],
        "n_jobs": N_JOBS,
        "random_state": ["random_state"],
    }
)
def audit_rashomon(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    sensitive_features: Any = None,
    tolerance: float = 0.01,
    n_models: int = 30,
    param_distributions: Mapping[str, Any] | None = None,
    bootstrap: bool = True,
    auditor: Any = None,
    scoring: Any = None,
    cv: Any = 4,
    groups: Any = None,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> RashomonResult:
    """Audit equally good models for bias amplification.

    Models that are equally accurate may differ in what they amplify [1]_. Use it to find out how
    much of a value is a matter of luck, and whether two kinds of models differ by more than that.
    Models are trained with other seeds, on resampled rows, and with other parameters. All predict
    the same rows.

    .. versionadded:: 0.2

    Parameters
    ----------
    estimator : classifier, AuditedClassifier or dict of str to them
        The model; or several model classes by name, to compare them.
    X : array-like or data frame of shape (n_samples, n_features)
        Data.
    y : array-like of shape (n_samples,) or (n_samples, n_tasks)
        Labels.
    sensitive_features : array-like of shape (n_samples,) or (n_samples, n_features)
        The sensitive feature. Not needed if an `AuditedClassifier` finds it in `X`.
    tolerance : float, default=0.01
        How far the score of a good model may be below the best of all models.
    n_models : int, default=30
        Number of models of each class.
    param_distributions : dict, default=None
        Lists or distributions of parameters to draw from, as for ``RandomizedSearchCV``
        (``estimator__max_depth`` of an `AuditedClassifier`); if there are several classes, a dict
        of such dicts by their names.
    bootstrap : bool, default=True
        True trains each model on rows drawn with replacement. False trains all on the same rows.
    auditor : auditor, default=None
        The metric. None: that of the `AuditedClassifier`, or ``DirectionalAuditor()``.
    scoring : str or callable, default=None
        Score that says how good a model is. None: the estimator's own.
    cv : int, cross-validation splitter or iterable of splits, default=4
        Folds, three or more. The first is audited, the second has the scores, and models are
        trained on the rest.
    groups : array-like of shape (n_samples,), default=None
        As in scikit-learn: groups of rows that splitters such as ``GroupKFold`` keep together. The
        auditor's `groups` says how several sensitive columns make groups.
    n_jobs : int, default=None
        Number of models that are trained in parallel. Results do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of folds, models and auditors.

    Returns
    -------
    result : RashomonResult

    See Also
    --------
    skbiasamp.cross_audit : One model of a kind on each of several folds.

    Notes
    -----
    Scores and amplification are measured on different rows: the most accurate of many models on the
    audited rows would be one with few errors there, and thus with little amplification.

    The mean over good models, and differences between classes, have the intervals of
    ``auditor.audit_runs`` and ``auditor.compare``: they include how other models would
    differ, and other audited rows.

    References
    ----------
    .. [1] Wang, Russakovsky. Directional bias amplification. ICML 2021. Sec. 5.2.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from skbiasamp.model_selection import audit_rashomon
    >>> rng = np.random.default_rng(0)
    >>> sex, skill = rng.integers(0, 2, 1200), rng.normal(size=1200)
    >>> hired = (skill + sex / 2 + rng.normal(size=1200) > 0).astype(int)
    >>> result = audit_rashomon(
    ...     DecisionTreeClassifier(max_depth=3),
    ...     np.column_stack([skill, sex]),
    ...     hired,
    ...     sensitive_features=sex,
    ...     tolerance=0.02,
    ...     random_state=0,
    ... )
    >>> result.classes[["n_good", "score", "lowest", "highest", "share_above"]].round(2)
       n_good  score  lowest  highest  share_above
    0       8   0.78   -0.09     0.09         0.62
    """
    several = isinstance(estimator, Mapping)
    classes = dict(estimator) if several else {type(estimator).__name__: estimator}
    names = list(check_models({"estimator": classes}) if several else classes)
    models = audited_models(classes, auditor)
    attribute = attribute_of(models.values(), X, sensitive_features, "audit_rashomon")
    measures = named_auditors(next(iter(models.values()))).values()
    if len(measures) > 1:
        raise InputError("{auditor} must be one auditor; got a list of {n}.", n=len(measures))
    (measure,) = measures
    rng = check_random_state(random_state)
    splits = splits_of(cv, X, to_native(y, "y"), groups, rng)
    if len(splits) < 3 or tested_twice(splits):
        raise InputError("{cv} must make three folds or more, which share no test rows.")
    test, scored = (fold for _, fold in splits[:2])
    train = np.setdiff1d(np.arange(len(attribute)), np.concatenate([test, scored]))
    audit = fitted_auditor(measure, rng, take_rows(y, train), take_rows(attribute, train))
    drawn = _drawn(param_distributions, names, n_models, rng, several=several)
    settings = [(name, setting) for name in names for setting in drawn[name]]
    rows, calls = LabelledRows(X, y, attribute), []
    for name, setting in settings:
        made = seeded_clone(models[name], rng)
        given = classes[name]  # its own names of parameters are drawn
        (made if isinstance(given, AuditedClassifier) else made.estimator).set_params(**setting)
        own = rng.choice(train, len(train)) if bootstrap else train
        calls.append((made, rows, (own, scored, test), scoring, audit))
    trained = side_by_side(_trained, calls, n_jobs=n_jobs, what="models", total=len(calls))
    table = pd.DataFrame(
        {"model": name, "score": score} | {key: getattr(own, key) for key in _SHOWN} | setting
        for (score, own, _), (name, setting) in zip(trained, settings, strict=True)
    )
    table.insert(2, "good", table["score"] >= table["score"].max() - tolerance - _ROUNDING)
    good = {
        name: [trained[i][2] for i in np.flatnonzero(table["good"] & (table["model"] == name))]
        for name in names
    }
    runs = {name: _predictions(labels) for name, labels in good.items() if len(labels) > 1}
    labels = {name: trained[0][2][name] for name in ("y_true", "sensitive_features")}
    means = {name: audit.audit_runs(**labels, **own) for name, own in runs.items()}
    comparison = None
    if len(runs) > 1:
        every = {key: {name: own[key] for name, own in runs.items()} for key in _RUNS.values()}
        given = {key: None if None in own.values() else own for key, own in every.items()}
        comparison = audit.compare(**labels, **given)
    return RashomonResult(table, _summary(table, means), means, comparison, tolerance)


_SHOWN = ("value", "estimate", "low", "high", "verdict")
_RUNS = {"y_pred": "y_preds", "sensitive_pred": "sensitive_preds"}


def _drawn(
    given: Mapping[str, Any] | None, names: list[str], n: int, rng: Any, *, several: bool
) -> dict[str, list[dict[str, Any]]]:
    """Return the parameters of each model of each class."""
    by_class = dict(given or {}) if several else {names[0]: given or {}}
    if unknown := [name for name in by_class if name not in names]:
        raise InputError(
            "{param_distributions} must be a dict of dicts by the names of model classes; got "
            "{unknown}.",
            unknown=quote(unknown),
        )
    drawn = {}
    for name in names:
        space = by_class.get(name, {})
        endless = any(hasattr(values, "rvs") for values in space.values())
        # If there are fewer settings than models, each is drawn several times, with other seeds.
        n_settings = n if endless else min(n, math.prod(map(len, space.values())))
        settings = list(ParameterSampler(space, n_settings, random_state=rng))
        drawn[name] = [settings[i % len(settings)] for i in range(n)]
    return drawn


def _trained(
    model: AuditedClassifier,
    rows: LabelledRows,
    folds: tuple[Array, Array, Array],
    scoring: Any,
    auditor: Any,
) -> tuple[float, AuditResult, dict[str, Any]]:
    """Train a model, and return its score, its audit, and what it predicts of the audited rows."""
    model, rows = rows.for_model(model, scoring)
    train, scored, test = map(rows.take, folds)
    model.fit(train.X, train.y, sensitive_features=train.attribute)
    score = check_scoring(model, scoring)(model, scored.X, scored.y)
    labels = model._labels(*test)
    with collected():  # the mean says once which pairs are uncertain
        return float(score), auditor.audit(**labels), labels


def _predictions(labels: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the predictions of runs, as `audit_runs` takes them."""
    every = {key: [own[name] for own in labels] for name, key in _RUNS.items()}
    return {key: None if own[0] is None else own for key, own in every.items()}


def _summary(table: pd.DataFrame, means: dict[str, AuditResult]) -> pd.DataFrame:
    """Return a row a model class, about its good models."""
    rows = []
    for name, part in table.groupby("model", sort=False):
        estimates = part.loc[part["good"], "estimate"]
        share = float((estimates > 0).mean()) if len(estimates) else np.nan
        low, high = share_interval(share, len(estimates))
        row = {"model": name, "n_models": len(part), "n_good": len(estimates)}
        row |= {"score": part["score"].max(), "lowest": estimates.min()}
        row |= {"highest": estimates.max(), "share_above": share}
        row |= {"share_low": float(low), "share_high": float(high)}
        rows.append(row | {key: getattr(means.get(str(name)), key, None) for key in _SHOWN[1:]})
    return pd.DataFrame(rows).astype(dict.fromkeys(_SHOWN[1:4], float))
