"""search: find the mitigation that brings amplification within a limit at the least cost."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from functools import partial
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import f1_score, make_scorer
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples

from skbiasamp._input.containers import check_lengths, to_native
from skbiasamp._input.errors import InputError, InputTypeError
from skbiasamp._input.keywords import keywords
from skbiasamp._utils.callbacks import follow, without_callbacks
from skbiasamp._utils.compat import N_JOBS, Interval, StrOptions, has_method, validate_params
from skbiasamp._utils.jobs import side_by_side
from skbiasamp._utils.progress import progress
from skbiasamp._utils.warnings import collected, warn
from skbiasamp.compose.audited import AuditedClassifier, named_auditors
from skbiasamp.compose.sensitive import check_frame, parameter_of, routes
from skbiasamp.metrics.functions import lacks
from skbiasamp.mitigation._candidates import auto_candidates
from skbiasamp.mitigation._pairs import input_errors
from skbiasamp.mitigation._ranking import Fold, Ranking
from skbiasamp.model_selection.folds import (
    STRATIFY,
    check_lacks,
    fitted_auditor,
    fold_strata,
    of_held_out,
    run_folds,
    seeded_clone,
    splits_of,
)
from skbiasamp.model_selection.row_classifier import LabelledRows, RowClassifier, RowData
from skbiasamp.results.gate import Limit
from skbiasamp.results.mitigation_search import BASELINE, STOPPED, MitigationSearch

_SURE = 0.999  # level of the interval that stops a candidate after the first fold


@keywords()
@validate_params(
    {
        "limit": [Interval(Real, 0, None, closed="neither"), None],
        "cv": ["cv_object"],
        "stratify": [StrOptions(set(STRATIFY))],
        "n_jobs": N_JOBS,
        "random_state": ["random_state"],
    }
)
def search(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    sensitive_features: Any,
    limit: float | None = 0.02,
    scoring: Any = None,
    candidates: Any = "auto",
    auditor: Any = None,
    sensitive_estimator: Any = None,
    cv: Any = 5,
    stratify: str = "task",
    groups: Any = None,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> MitigationSearch:
    """Search for a mitigation that brings bias amplification within a limit at the least cost.

    Use it if an audit shows that a model amplifies. It trains and audits the model and the
    mitigations on the same folds, compares them on the same rows, and fits the winner on all rows.

    .. versionadded:: 0.2

    Parameters
    ----------
    estimator : classifier
        The model as it is, without mitigation. A pair ``(sampler, classifier)`` resamples the
        training rows.
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        Data.
    y : array-like of shape (n_samples,) or (n_samples, n_tasks)
        Labels.
    sensitive_features : array-like of shape (n_samples,) or (n_samples, n_features)
        The sensitive feature. It goes to every estimator and pipeline step that requests it and
        has no ``sensitive=`` of its own.
    limit : float or None, default=0.02
        The winner's confidence interval must lie between ``-limit`` and ``limit``. A candidate
        that is clearly outside after the first fold is stopped. None: train all, choose none.
    scoring : str, callable, list or dict, default=None
        Scores on the held-out rows, as for `cross_audit`; the first decides. None: accuracy (for
        several tasks, the share of rows with all labels right) and F1 (the mean over classes or
        tasks).
    candidates : "auto" or dict of str to classifier, default="auto"
        Mitigations by name: classifiers, or pairs ``(sampler, classifier)``. "auto": those of this
        package around `estimator` that fit the labels, in two settings or three; and Fairlearn's,
        if it is installed.
    auditor : auditor or list of auditors, default=None
        The metrics; the first decides, and gives the level of the intervals. None:
        ``DirectionalAuditor()``.
    sensitive_estimator : classifier, default=None
        Classifier that learns to predict the sensitive feature, for metrics of direction "T->A".
        It is trained on the rows of each candidate's sampler.
    cv : int, cross-validation splitter or iterable of splits, default=5
        The folds. An integer is a number of shuffled folds.
    stratify : {"task", "joint"}, default="task"
        What has equal shares in all folds. "task": each class of `y`. "joint": each pair of group
        and class.
    groups : array-like of shape (n_samples,), default=None
        As in scikit-learn: groups of rows that splitters such as ``GroupKFold`` keep together. The
        auditor's `groups` says how several sensitive columns make groups.
    n_jobs : int, default=None
        Number of models that are trained in parallel. Results do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of folds, estimators and auditors.

    Returns
    -------
    result : MitigationSearch
        If a mitigation raises an error, its rows hold the ``error``, a ``FitFailedWarning`` says
        so, and the other mitigations are kept. An error of `estimator` itself is raised.

    See Also
    --------
    skbiasamp.cross_audit : Audit one model over folds.

    Notes
    -----
    Among the candidates within the limit, the winner is the one with the smallest loss of the first
    score; a gain counts as no loss. If losses are equal, the model as it is wins, then the
    candidate whose amplification is nearest to 0. ``change`` is the change of the size of the
    amplification, ``|candidate| - |none|``. Its interval holds for all candidates together
    (Bonferroni).

    Examples
    --------
    Men are hired more often. The features measure skill poorly, and height correlates with sex:

    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skbiasamp.mitigation import MixedClassifier, RatioBalancer, search
    >>> rng = np.random.default_rng(0)
    >>> sex = rng.choice(["f", "m"], 4000)
    >>> skill, height = rng.normal(size=4000), (sex == "m") + rng.normal(0, 0.3, 4000)
    >>> hired = (skill + (sex == "m") + rng.normal(0, 0.5, 4000) > 0.5).astype(int)
    >>> model = LogisticRegression()
    >>> result = search(
    ...     model,
    ...     np.column_stack([skill + rng.normal(0, 3, 4000), height]),
    ...     hired,
    ...     sensitive_features=sex,
    ...     limit=0.05,
    ...     candidates={"balanced": (RatioBalancer(), model), "mixed": MixedClassifier(model)},
    ...     random_state=0,
    ... )
    >>> result.table[["candidate", "value", "low", "high", "status"]].round(3)
      candidate  value    low   high             status
    0     mixed  0.008 -0.011  0.026   within the limit
    1      none  0.156  0.139  0.173  outside the limit
    2  balanced    NaN    NaN    NaN      stopped early
    >>> result.best, type(result.best_).__name__
    ('mixed', 'MixedClassifier')
    """
    watched, estimator = estimator, without_callbacks(estimator)
    labels = {"y": y, "sensitive_features": sensitive_features}
    read = {name: to_native(value, name) for name, value in labels.items()}
    check_frame(X)
    with input_errors():
        n_rows = _num_samples(X)
    check_lengths({"X": range(n_rows), **read})
    scoring = _scorers(scoring)
    models = {BASELINE: estimator, **_read_candidates(candidates, estimator, y, limit, scoring)}
    parts = {name: _parts(name, model) for name, model in models.items()}
    model = parts[BASELINE][1]
    named = named_auditors(
        AuditedClassifier(model, auditor=auditor, sensitive_estimator=sensitive_estimator)
    )
    if limit is not None:
        Limit(limit, one_sided=False).check_reached(*next(iter(named.items())))
    rng = check_random_state(random_state)
    splits = splits_of(cv, X, fold_strata(stratify, y, sensitive_features), groups, rng)
    # Folds have no intervals; folds together give one. The same draws for all.
    plain = [clone(metric).set_params(interval=None) for metric in named.values()]
    seed = rng.randint(2**31 - 1)
    data = RowData(X, sensitive_features)
    whole = {
        name: fitted_auditor(metric, rng, y, sensitive_features) for name, metric in named.items()
    }
    decides = next(iter(whole.values()))
    trial = _Trial(parts, data, y, plain, whole, sensitive_estimator, scoring, seed)
    sure = copy.copy(decides).set_params(confidence_level=_SURE)

    def is_hopeless(name: str, first: Fold) -> bool:
        if limit is None or name == BASELINE or first.lacks:
            return False
        with collected():
            result = sure.audit(**first.held_out)
        return bool(result.low > limit or result.high < -limit)

    race = partial(trial.race, splits, is_hopeless, n_jobs)
    folds, ends = follow("search", watched, len(splits) * len(parts), race)
    check_lacks({f"fold {at}": fold.lacks for at, fold in enumerate(folds[BASELINE])})
    for name, text in ends.items():
        if text != STOPPED:
            text = f"{name!r} failed and is left out of the comparison. {text}"
            warn(text, FitFailedWarning)
    metrics = {name: of_held_out(metric, splits) for name, metric in whole.items()}
    ranking = Ranking(metrics, limit, decides.confidence_level)
    table, measures, comparisons = ranking.of(folds, ends)
    table["needs_group"] = [_needs_group(parts[name][1]) for name in table["candidate"]]
    best, validated = ranking.winner(table), {}
    if best not in (None, BASELINE) and len(splits) > 1:
        ended = {name: own for name, own in folds.items() if name not in ends}
        validated = ranking.of_the_choice(ended)
    return MitigationSearch(
        table=table,
        measures=measures,
        scores=list(scoring),
        amplifications=list(named),
        limit=limit,
        confidence_level=decides.confidence_level,
        best=best,
        validated=validated,
        best_=None if best is None else trial.fitted(best),
        comparisons=comparisons,
    )


class _Trial(NamedTuple):
    """The candidates, and what all of them are tried on."""

    parts: dict[str, tuple[Any, Any]]  # sampler and classifier
    data: RowData
    y: Any
    auditors: list[Any]
    whole: dict[str, Any]  # auditors of all rows, by name
    sensitive_estimator: Any
    scoring: dict[str, Any]
    seed: int

    def race(
        self,
        splits: list[Any],
        is_hopeless: Callable[[str, Fold], bool],
        n_jobs: int | None,
        done: Callable[[int], None] = lambda n: None,
    ) -> tuple[dict[str, list[Fold]], dict[str, str]]:
        """Return the folds of each candidate, and why some have no more; `done` counts them."""
        folds: dict[str, list[Fold]] = {name: [] for name in self.parts}
        ends: dict[str, str] = {}
        total = len(self.parts) * len(splits)
        with progress("mitigations", total, wait=0.0) as step:
            step.done = done

            def try_all(splits: list[Any]) -> None:
                calls = [(name, split) for split in splits for name in folds if name not in ends]
                tried = side_by_side(self.try_fold, calls, n_jobs=n_jobs, step=step)
                for (name, _), fold in zip(calls, tried, strict=True):
                    if isinstance(fold, Fold):
                        folds[name].append(fold)
                    elif name == BASELINE:
                        raise fold
                    else:
                        ends[name] = f"{type(fold).__name__}: {fold}"

            try_all(splits[:1])
            for name, own in folds.items():
                if own and is_hopeless(name, own[0]):
                    ends[name] = STOPPED
            step.advance(len(ends) * len(splits[1:]))
            try_all(splits[1:])
        return folds, ends

    def try_fold(self, name: str, split: Any) -> Fold | Exception:
        """Train a candidate on a fold, and audit its predictions for the other rows."""
        model = AuditedClassifier(self._model(name))
        if self.sensitive_estimator is not None:
            data = RowData(self.data.X, self.data.attribute, labels=self.y)
            of_group = self._model(name).set_params(estimator=self.sensitive_estimator, data=data)
            model.set_params(sensitive_estimator=of_group)
        rng, start = np.random.RandomState(self.seed), time.perf_counter()
        try:
            with collected() if name != BASELINE else nullcontext():  # the winner's are shown
                rows = LabelledRows(self.data.numbers, self.y, self.data.attribute)
                auditors = [seeded_clone(metric, rng) for metric in self.auditors]
                (run,) = run_folds(model, rows, [[split]], [auditors], rng, scoring=self.scoring)
        except Exception as error:  # it is raised for the model as it is, and reported for others
            return error
        ((fitted, held_out),) = run.held_out
        values = {key: float(run.fitted[f"test_{key}"][0]) for key in self.scoring}
        lacking = ""
        with collected():  # the comparison says once which pairs are uncertain
            for key, metric in fitted.auditors_.items():
                lack = lacks(metric, self.whole[key].count_audited(**held_out))
                values[key] = math.nan if lack else metric.audit(**held_out).value
                lacking = lacking or lack
        sizes = {"n_train": len(split[0]), "n_test": len(split[1])}
        return Fold(sizes, values, held_out, time.perf_counter() - start, lacking)

    def fitted(self, name: str) -> Any:
        """Return a candidate, fitted on all rows."""
        model = seeded_clone(self._model(name), np.random.RandomState(self.seed))
        return model.fit(self.data.numbers, self.y).estimator_

    def _model(self, name: str) -> RowClassifier:
        sampler, estimator = self.parts[name]
        return RowClassifier(estimator, data=self.data, sampler=sampler)


def _needs_group(estimator: Any) -> bool:
    """Return whether a classifier needs the group at prediction, passed or as a column."""
    if not getattr(estimator, "by_group", True) or getattr(estimator, "joint", False):
        return False  # one threshold for all, or predicted groups
    return routes(estimator, "predict") or parameter_of(estimator, "predict") is not None


def _read_candidates(
    candidates: Any, estimator: Any, y: Any, limit: float | None, scoring: dict[str, Any]
) -> dict[str, Any]:
    """Return candidates by name, or raise."""
    if isinstance(candidates, str) and candidates == "auto":
        first = next(iter(scoring.values()), "accuracy")
        return auto_candidates(estimator, y, 0.02 if limit is None else limit, first)
    if not isinstance(candidates, Mapping):
        raise InputTypeError(
            "{candidates} must be 'auto' or a dict of classifiers by name, such as {example}. Got "
            "{kind} instead.",
            example="{'balanced': (RatioBalancer(), LogisticRegression())}",
            kind=type(candidates).__name__,
        )
    if BASELINE in candidates:
        text = "{candidates} has the name 'none', which is that of the model as it is."
        raise InputError(text)
    return dict(candidates)


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
            "{candidates}[{key!r}] is {seen!r}, which does not predict. Pass a classifier, or a "
            "pair of sampler and classifier: (RatioBalancer(), LogisticRegression()).",
            key=name,
            seen=mitigation,
        )
    return pair


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
    listed = isinstance(named, list | tuple | set) and len(named) > 0
    if not listed or not all(isinstance(name, str) for name in named):
        raise InputTypeError(
            "{scoring} must be the name of a score, a list of names, a scorer or a dict of scorers "
            "by name. Got {seen!r} instead.",
            seen=scoring,
        )
    return {name: name for name in named}
