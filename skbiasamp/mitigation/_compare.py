"""compare_mitigations: the effect of mitigations on amplification, and their cost."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import f1_score, make_scorer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils import check_random_state

from skbiasamp._compat import (
    N_JOBS,
    Interval,
    StrOptions,
    has_method,
    take_rows,
    validate_params,
)
from skbiasamp._input import (
    InputError,
    InputTypeError,
    check_auditor,
    check_lengths,
    is_one,
    quote,
    speaking,
    to_native,
)
from skbiasamp._progress import clear, progress
from skbiasamp._words import printable
from skbiasamp.metrics import DirectionalAuditor
from skbiasamp.mitigation._noise import NoiseRandomizer
from skbiasamp.mitigation._pairs import check_frame
from skbiasamp.model_selection import CrossAuditResult, cross_audit
from skbiasamp.model_selection._folds import (
    STRATIFY,
    joint_strata,
    of_each_row_once,
    over_folds,
    pooled_comparison,
    seeded,
    splitter,
    tested_twice,
)
from skbiasamp.model_selection._rows import RowClassifier, RowData
from skbiasamp.results import ComparisonResult


@dataclass(frozen=True, eq=False, repr=False)
class MitigationComparison:
    """Comparison of mitigations, as returned by `compare_mitigations`.

    Attributes
    ----------
    table : DataFrame
        One row for each mitigation and measure. ``mitigation``; ``noise``: its scale, NaN if it is
        not noise; ``measure``; ``value``, ``low``, ``high``: mean over folds and its confidence
        interval; ``change``, ``change_low``, ``change_high``: difference from the baseline on the
        same folds and its confidence interval; ``rows_changed``: share of held-out rows whose
        prediction differs from the baseline's; ``difference``, ``difference_low``,
        ``difference_high``, ``p_value``, ``p_adjusted`` (for the number of mitigations):
        difference of the amplification from the baseline in all held-out predictions together,
        with its paired interval and test, NaN for scores; ``error``: why the mitigation could not
        be trained, else None.
    scores, amplifications : list of str
        Names of the measures that are scores, and of those that are amplifications.
    baseline : str
        Name of the model without mitigation.
    confidence_level : float
        Level of the intervals.
    audits : dict of str to dict of str to CrossAuditResult
        The audits of each mitigation that could be trained, by the auditor's name.
    comparisons : dict of str to ComparisonResult
        The held-out predictions of all mitigations on the same rows and resamples, by the
        auditor's name: what ``difference`` is from, and who gains and who loses. Empty if nothing
        but the baseline could be trained.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skbiasamp.mitigation import RatioBalancer, compare_mitigations
    >>> rng = np.random.default_rng(0)
    >>> sex, skill = rng.integers(0, 2, 600), rng.normal(size=600)
    >>> hired = (skill + sex + rng.normal(size=600) > 0.5).astype(int)
    >>> found = compare_mitigations(
    ...     np.column_stack([skill, sex]),
    ...     hired,
    ...     sex,
    ...     {"none": LogisticRegression(), "balanced": (RatioBalancer(), LogisticRegression())},
    ...     noise=(),
    ...     random_state=0,
    ... )
    >>> found.scores, found.amplifications, found.baseline
    (['accuracy', 'f1'], ['directional A->T'], 'none')
    >>> changes = found.table[found.table["mitigation"] == "balanced"]
    >>> changes[["measure", "change", "change_low", "change_high"]].round(2)
                measure  change  change_low  change_high
    3          accuracy   -0.04       -0.06        -0.01
    4                f1   -0.03       -0.06        -0.01
    5  directional A->T   -0.12       -0.17        -0.07
    """

    table: pd.DataFrame
    scores: list[str]
    amplifications: list[str]
    baseline: str
    confidence_level: float
    audits: dict[str, dict[str, CrossAuditResult]] = field(default_factory=dict)
    comparisons: dict[str, ComparisonResult] = field(default_factory=dict)

    def __repr__(self) -> str:
        cells = self.table.assign(
            cell=[
                "failed" if row.error else f"{row.value:.3f} [{row.low:.3f}, {row.high:.3f}]"
                for row in self.table.itertuples(index=False)
            ]
        )
        wide = cells.pivot(index="mitigation", columns="measure", values="cell")
        order = self.table["mitigation"].unique(), self.scores + self.amplifications
        lines = [wide.loc[order].rename_axis(index=None, columns=None).to_string()]
        ends = self.table.drop_duplicates("mitigation")
        for name, changed, error in ends[["mitigation", "rows_changed", "error"]].to_numpy():
            if error:
                lines.append(f"{name} failed: {error}")
            elif name != self.baseline and changed == 0:
                lines.append(
                    f"{name} changed nothing: its predictions are those of {self.baseline!r} in "
                    "every row."
                )
        return "\n".join(lines)

    def to_frame(self) -> pd.DataFrame:
        """Return a copy of ``table``."""
        return self.table.copy()


@validate_params(
    {
        "cv": ["cv_object"],
        "noise": ["array-like"],
        "stratify": [StrOptions(set(STRATIFY))],
        "confidence_level": [Interval(Real, 0, 1, closed="neither")],
        "n_jobs": N_JOBS,
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }
)
def compare_mitigations(
    X: Any,
    y: Any,
    sensitive_features: Any,
    estimators: Mapping[str, Any],
    auditors: Any = None,
    cv: Any = 5,
    *,
    baseline: str | None = None,
    noise: Iterable[float] = (0.25, 0.5, 1, 2, 4),
    scoring: Any = None,
    stratify: str = "task",
    groups: Any = None,
    confidence_level: float = 0.95,
    n_jobs: int | None = None,
    verbose: int = 0,
    random_state: Any = None,
) -> MitigationComparison:
    """Compare mitigations by their effect on bias amplification and by their cost.

    All models are trained and audited on the same folds. Noise on the features reduces
    amplification too, and costs accuracy. A mitigation should do better than noise [1]_.

    .. versionadded:: 0.1

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        Data.
    y : array-like of shape (n_samples,) or (n_samples, n_tasks)
        Labels.
    sensitive_features : array-like of shape (n_samples,) or (n_samples, n_features)
        The sensitive feature. Every estimator and pipeline step gets it that requests it and has
        no ``sensitive=`` of its own.
    estimators : dict of str to classifier
        The classifier without mitigation, and the mitigations, by name. A pair
        ``(sampler, classifier)`` resamples the training rows; so do pipelines of imbalanced-learn.
    auditors : auditor or list of auditors, default=None
        The metrics. None: ``DirectionalAuditor()``. Direction "T->A" raises an error, because
        mitigations do not predict the sensitive feature.
    cv : int, cross-validation splitter or iterable of splits, default=5
        The folds. An integer is a number of shuffled folds.
    baseline : str, default=None
        Name of the classifier without mitigation. None: the first.
    noise : sequence of float, default=(0.25, 0.5, 1, 2, 4)
        Scales of `NoiseRandomizer`, put before the last step of the baseline. Empty: no noise.
    scoring : str, callable, list or dict, default=None
        Scores on the held-out rows, as for `cross_audit`. None: accuracy (for several tasks, the
        share of rows with all labels right) and F1 (the mean over classes or tasks).
    stratify : {"task", "joint"}, default="task"
        What folds have equal shares of. "task": each class of `y`. "joint": each pair of group
        and class.
    groups : array-like of shape (n_samples,), default=None
        Groups of rows for splitters that keep them together, such as ``GroupKFold``.
    confidence_level : float, default=0.95
        Level of the confidence intervals.
    n_jobs : int, default=None
        Number of folds that are trained in parallel. Results do not depend on it.
    verbose : int, default=0
        1 prints a line after each mitigation. 0 prints nothing.
    random_state : int, RandomState instance or None, default=None
        Seed of folds, estimators and auditors.

    Returns
    -------
    comparison : MitigationComparison
        If a mitigation raises an error, its rows hold the ``error``, a ``FitFailedWarning`` says
        so, and the other mitigations are kept. An error of the baseline is raised.

    See Also
    --------
    skbiasamp.cross_audit : Audit one model over folds.
    skbiasamp.plotting.MitigationDisplay : Draw the comparison.

    Notes
    -----
    Intervals are those of `cross_audit`, for models trained on other samples of this size. All
    models share the folds, so ``change`` is more precise than ``value``: it has a confidence
    interval of its own, without a correction for training rows that folds share. ``difference``
    has a narrower interval, since it is about the models that were trained: it resamples rows.

    References
    ----------
    .. [1] Wang, Zhao, Yatskar, Chang, Ordonez. Balanced datasets are not enough. ICCV 2019, Fig. 5.

    Examples
    --------
    Men are hired more often. The features measure skill poorly, and height correlates with sex:

    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skbiasamp.mitigation import DomainIndependentClassifier, compare_mitigations
    >>> rng = np.random.default_rng(0)
    >>> sex = rng.choice(["f", "m"], 1000)
    >>> skill, height = rng.normal(size=1000), (sex == "m") + rng.normal(0, 0.3, 1000)
    >>> hired = (skill + (sex == "m") + rng.normal(0, 0.5, 1000) > 0.5).astype(int)
    >>> compare_mitigations(
    ...     np.column_stack([skill + rng.normal(0, 3, 1000), height]),
    ...     hired,
    ...     sex,
    ...     {
    ...         "none": LogisticRegression(),
    ...         "domain independent": DomainIndependentClassifier(LogisticRegression()),
    ...     },
    ...     noise=[2],
    ...     random_state=0,
    ... )
                                    accuracy                    f1         directional A->T
    none                0.674 [0.649, 0.699]  0.672 [0.648, 0.696]     0.146 [0.082, 0.211]
    domain independent  0.606 [0.574, 0.638]  0.605 [0.573, 0.637]  -0.111 [-0.164, -0.058]
    noise 2             0.554 [0.525, 0.583]  0.547 [0.513, 0.582]  -0.080 [-0.135, -0.026]
    """
    labels = {"y": y, "sensitive_features": sensitive_features}
    read = {name: to_native(one, name) for name, one in labels.items()}
    check_lengths({"X": range(_n_rows(X)), **read})
    if not isinstance(estimators, Mapping):
        raise InputTypeError(
            "{estimators} must be a dict of classifiers by name, such as {example}. Got {kind} "
            "instead.",
            example="{'none': LogisticRegression(), 'balanced': (RatioBalancer(), "
            "LogisticRegression())}",
            kind=type(estimators).__name__,
        )
    if not estimators:
        raise InputError(
            "{estimators} is empty: pass a classifier without mitigation, and some with one."
        )
    baseline = next(iter(estimators)) if baseline is None else baseline
    if not is_one(baseline, estimators):
        raise InputError(
            "{baseline}={seen!r} is not in {estimators}, which has {names}. Pass the name of the "
            "classifier without mitigation.",
            seen=baseline,
            names=quote(estimators),
        )
    if auditors is None:
        auditors = DirectionalAuditor()
    auditors = auditors if isinstance(auditors, list) else [auditors]
    for one in auditors:
        check_auditor(one, "auditors")
    if not auditors:
        raise InputError("{auditors} is empty: pass one auditor or more, or None.")
    backwards = [one for one in auditors if one.direction == "T->A"]
    if backwards:
        raise InputError(
            "{auditor} needs predictions of the sensitive feature, and mitigations do not predict "
            "it: measure direction='A->T'.",
            auditor=backwards[0],
        )
    scoring = _scorers(scoring)
    listed = isinstance(noise, Iterable) and np.ndim(noise) == 1  # type: ignore[arg-type]
    if not listed or not all(isinstance(scale, Real) and scale >= 0 for scale in noise):
        raise InputError("{noise} must hold numbers of at least 0; got {seen!r}.", seen=noise)
    noisy = {f"noise {scale:g}": (scale, _noisy(estimators[baseline], scale)) for scale in noise}
    entries = {name: (np.nan, one) for name, one in estimators.items()} | noisy
    parts = {name: _parts(name, one) for name, (_, one) in entries.items()}
    rng = check_random_state(random_state)
    strata = y if stratify == "task" else joint_strata(y, sensitive_features)
    splits = list(splitter(cv, strata, rng).split(X, strata, groups))
    seed = rng.randint(2**31 - 1)
    data = RowData(X, sensitive_features)
    audits: dict[str, dict[str, CrossAuditResult]] = {}
    errors: dict[str, str] = {}
    # The baseline first: if it fails there is nothing to compare with.
    with progress("mitigations", len(entries)) as step:
        for i, name in enumerate(dict.fromkeys([baseline, *entries])):
            start = time.perf_counter()
            sampler, estimator = parts[name]
            try:
                with speaking(auditor="auditors"):
                    found = cross_audit(
                        RowClassifier(estimator, data=data, sampler=sampler),
                        np.arange(_n_rows(X))[:, None],
                        y,
                        sensitive_features=sensitive_features,
                        # Folds have no intervals; folds together give one.
                        auditor=[clone(one).set_params(interval=None) for one in auditors],
                        cv=splits,
                        scoring=scoring,
                        n_jobs=n_jobs,
                        random_state=seed,  # the same draws for all
                    )
                assert isinstance(found, dict)
                audits[name] = found
            except Exception as error:
                if name == baseline:
                    raise
                errors[name] = f"{type(error).__name__}: {error}"
                warnings.warn(
                    f"{name!r} failed and is left out of the comparison. {errors[name]}",
                    FitFailedWarning,
                    stacklevel=2,
                )
            step.advance()
            if verbose:
                clear()
                took = f"{'failed, ' * (name in errors)}{time.perf_counter() - start:.1f} s"
                shown = f"[compare_mitigations] ({i + 1} of {len(entries)}) {name}: {took}"
                print(printable(shown))
        scores, amplifications = list(scoring), list(audits[baseline])
        comparisons = {}
        for name, auditor in zip(amplifications, auditors, strict=True):
            if len(audits) > 1:
                with speaking(auditor="auditors"):
                    comparisons[name] = _paired(
                        seeded(clone(auditor).set_params(confidence_level=confidence_level), rng),
                        y,
                        sensitive_features,
                        splits,
                        {one: audits[one][name] for one in entries if one in audits},
                        baseline,
                    )
    folds = {name: _of_folds(found, scores) for name, found in audits.items()}
    over: dict[str, Any] = {"confidence_level": confidence_level, "corrected": tested_twice(splits)}
    rows = []
    for name, (scale, _) in entries.items():
        for measure in scores + amplifications:
            row = {"mitigation": name, "noise": scale, "measure": measure}
            rows.append(row | dict.fromkeys(_NUMBERS, np.nan) | {"error": errors.get(name)})
            if name in errors:
                continue
            table, reference = folds[name], folds[baseline]
            change = table.assign(**{measure: table[measure] - reference[measure]})
            found_here = [*over_folds(table, measure, **over)[:3]]
            found_here += over_folds(change, measure, **over)[:3]
            rows[-1] |= dict(zip(_NUMBERS, found_here, strict=False))
            rows[-1]["rows_changed"] = _share_changed(audits[name], audits[baseline])
            if measure in comparisons and name != baseline:
                table = comparisons[measure].table.set_index("model")
                rows[-1] |= {column: table.loc[name, column] for column in PAIRED}
    return MitigationComparison(
        table=pd.DataFrame(rows),
        scores=scores,
        amplifications=amplifications,
        baseline=baseline,
        confidence_level=confidence_level,
        audits={name: audits[name] for name in entries if name in audits},
        comparisons=comparisons,
    )


# What a comparison says of a model.
PAIRED = ("difference", "difference_low", "difference_high", "p_value", "p_adjusted")
_NUMBERS = (
    *("value", "low", "high", "change", "change_low", "change_high"),
    *("rows_changed", *PAIRED),
)


def _paired(
    auditor: Any,
    y: Any,
    attribute: Any,
    splits: Any,
    audits: dict[str, CrossAuditResult],
    baseline: str,
) -> ComparisonResult:
    """Compare the held-out predictions of all mitigations with those of the baseline."""
    labels = [
        {"y_true": take_rows(y, test), "sensitive_features": take_rows(attribute, test)}
        for _, test in splits
    ]
    held_out = {
        name: [
            {**given, "y_pred": y_pred, "sensitive_pred": None, "sample_weight": None}
            for given, y_pred in zip(labels, audit.predictions, strict=True)
        ]
        for name, audit in audits.items()
    }
    fitted = auditor.fit(y, sensitive_features=attribute)
    return pooled_comparison(of_each_row_once(fitted, splits), held_out, baseline)


def _share_changed(
    audits: dict[str, CrossAuditResult], baseline: dict[str, CrossAuditResult]
) -> float:
    """Return the share of held-out rows whose predictions differ."""
    ours, theirs = (
        np.concatenate(next(iter(one.values())).predictions) for one in (audits, baseline)
    )
    return float(np.mean((ours != theirs).reshape(len(ours), -1).any(axis=1)))


def _parts(name: str, mitigation: Any) -> tuple[Any, Any]:
    """Return a sampler, if there is one, and a classifier."""
    pair = mitigation if isinstance(mitigation, tuple) else (None, mitigation)
    if (
        len(pair) != 2
        or isinstance(pair[1], type)
        or not has_method(pair[1], "predict")
        or not (pair[0] is None or hasattr(pair[0], "fit_resample"))
    ):
        raise InputTypeError(
            "{estimators}[{key!r}] is {seen!r}, which does not predict. Pass a classifier, or a "
            "pair of sampler and classifier: (RatioBalancer(), LogisticRegression()).",
            key=name,
            seen=mitigation,
        )
    return pair


def _noisy(mitigation: Any, scale: float) -> Any:
    """Return the same with noise before the last step."""
    if isinstance(mitigation, tuple):
        return (*mitigation[:-1], _noisy(mitigation[-1], scale))
    noise = NoiseRandomizer(scale)
    if not isinstance(mitigation, Pipeline):
        return make_pipeline(noise, mitigation)
    steps = [*mitigation.steps[:-1], ("noiserandomizer", noise), mitigation.steps[-1]]
    return clone(mitigation).set_params(steps=steps)


def _scorers(scoring: Any) -> dict[str, Any]:
    """Return scorers by the names that their measures get."""
    if scoring is None:
        f1 = make_scorer(f1_score, average="macro", zero_division=0)
        return {"accuracy": "accuracy", "f1": f1}
    if isinstance(scoring, Mapping):
        return dict(scoring)
    if callable(scoring):
        return {"score": scoring}
    named = [scoring] if isinstance(scoring, str) else scoring
    several = isinstance(named, list | tuple | set) and len(named) > 0
    if not (several and all(isinstance(one, str) for one in named)):
        raise InputTypeError(
            "{scoring} must be the name of a score, a list of names, a scorer or a dict of scorers "
            "by name. Got {seen!r} instead.",
            seen=scoring,
        )
    return {one: one for one in named}


def _of_folds(audits: dict[str, CrossAuditResult], scores: list[str]) -> pd.DataFrame:
    """Return every measure of every fold."""
    table = next(iter(audits.values())).table[["repeat", "n_train", "n_test", *scores]]
    return table.assign(**{name: found.table["value"] for name, found in audits.items()})


def _n_rows(X: Any) -> int:
    check_frame(X)
    if not hasattr(X, "shape") and not hasattr(X, "__len__"):
        raise InputTypeError(
            "{X} must be an array or a data frame with a row for each label. Got {kind} instead.",
            kind=type(X).__name__,
        )
    return X.shape[0] if hasattr(X, "shape") else len(X)
