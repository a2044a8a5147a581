"""search: find the mitigation that brings amplification within a limit at the least cost."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from importlib.util import find_spec
from itertools import combinations, product
from numbers import Real
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
from scipy import stats
from sklearn import config_context
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import check_scoring, f1_score, make_scorer
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import _num_samples

from skbiasamp._input.checks import check_group_limit
from skbiasamp._input.containers import check_lengths, columns_of, to_native
from skbiasamp._input.errors import InputError, InputTypeError, fewer_groups, renaming
from skbiasamp._input.options import keywords
from skbiasamp._utils.compat import N_JOBS, Interval, StrOptions, has_method, validate_params
from skbiasamp._utils.formatting import INCONCLUSIVE, OUTSIDE, WITHIN
from skbiasamp._utils.progress import follow, progress, side_by_side, without_callbacks
from skbiasamp._utils.warnings import collected, warn
from skbiasamp.compose.audited import AuditedClassifier, named_auditors
from skbiasamp.compose.sensitive import ClassifierWrapper, check_frame, parameter_of, routes
from skbiasamp.metrics.functions import lacks
from skbiasamp.mitigation._constraints import AmplificationParity, CorpusConstraintClassifier
from skbiasamp.mitigation._ensembles import DomainIndependentClassifier, MixedClassifier
from skbiasamp.mitigation._pairs import input_errors
from skbiasamp.mitigation._samplers import DataRepair, GroupOverSampler, RatioBalancer
from skbiasamp.mitigation._thresholds import AmplificationThresholdClassifier, score_of
from skbiasamp.model_selection import BaseRateThresholdClassifier
from skbiasamp.model_selection import folds as folding
from skbiasamp.results.gate import Limit
from skbiasamp.results.mitigation_search import (
    BASELINE,
    FAILED,
    NO_LIMIT,
    STOPPED,
    WORSE,
    MitigationSearch,
)

# Folds and iterations of candidates that train several models, so that a search takes minutes.
_FOLDS, _ITERATIONS = 3, 5
_SURE = 0.999  # level of the interval that stops a candidate after the first fold
_PLACES = [WITHIN, NO_LIMIT, INCONCLUSIVE, OUTSIDE, WORSE, STOPPED, FAILED]
_VALUE = ["value", "low", "high"]
_CHANGE = ["change", "change_low", "change_high"]


@keywords()
@validate_params(
    {
        "limit": [Interval(Real, 0, None, closed="neither"), None],
        "cv": ["cv_object"],
        "stratify": [StrOptions(set(folding.STRATIFY))],
        "scoring": [str, callable, list, tuple, set, dict, None],
        "candidates": [StrOptions({"auto"}), dict],
        "uses_group": ["boolean"],
        "n_jobs": N_JOBS,
        "random_state": ["random_state"],
        "verbose": ["verbose"],
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
    uses_group: bool = False,
    also: Any = None,
    auditor: Any = None,
    sensitive_estimator: Any = None,
    cv: Any = 5,
    stratify: str = "task",
    groups: Any = None,
    n_jobs: int | None = None,
    random_state: Any = None,
    verbose: int = 0,
) -> MitigationSearch:
    """Search for a mitigation that brings bias amplification within a limit at the least cost.

    Use it if an audit shows that a model amplifies. It trains and audits the model and the
    mitigations on the same folds, compares them on the same rows, and fits them on all rows.

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
        The winner's confidence interval must lie between ``-limit`` and ``limit``, on rows that
        did not choose it. A candidate that is clearly outside after the first fold is stopped.
        None: train all, choose none.
    scoring : str, callable, list or dict, default=None
        Scores on the held-out rows, as for `cross_audit`; the first decides. None: accuracy (for
        several tasks, the share of rows with all labels right) and F1 (the mean over classes or
        tasks).
    candidates : "auto" or dict of str to classifier, default="auto"
        Mitigations by name: classifiers, or pairs ``(sampler, classifier)``. "auto": those of this
        package around `estimator` that fit the labels, in two settings or three; and Fairlearn's,
        if it is installed.
    uses_group : bool, default=False
        True: "auto" also tries mitigations that need the group to predict, such as a threshold for
        each group. The law may forbid this. False: a named candidate that needs it is an error.
    also : array-like, data frame or dict of shape (n_samples,) or (n_samples, n_columns), \
default=None
        Other columns of people, such as race and age band. A candidate is out if it makes one of
        them clearly worse than `estimator` does, or a crossing of them and the sensitive feature,
        such as "sex × race": predictions of its groups are further from their labels. Clearly: the
        interval of the change lies above 0. It covers other training rows and seeds.
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
        Seed of folds, estimators and auditors. Each fold has a seed of its own.
    verbose : int, default=0
        0: a terminal or notebook shows how many candidates are done. 1: a log shows it, too.

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
    The candidate within the limit with the smallest loss of the first score ranks first; a gain
    counts as no loss. If losses are equal, the model as it is comes first, then the candidate whose
    amplification is nearest to 0. The data that ranks candidates flatters the first. Its numbers
    are therefore from rows that did not choose it: in each fold, they are of the candidate that
    ranks first on the other folds. It wins if it is still within the limit.

    ``change`` is the change of the size of the amplification, ``|candidate| - |none|``. Its
    interval holds for all candidates together (Bonferroni).

    In other columns, each group has a number: by how much its rate of predictions exceeds that of
    its labels, compared with all rows. A column has the mean of their sizes, weighted by rows. The
    variance of its change is that of the rows, and what folds vary more than rows make them.

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
    0     mixed  0.006 -0.012  0.025   within the limit
    1      none  0.156  0.139  0.173  outside the limit
    2  balanced    NaN    NaN    NaN      stopped early
    >>> result.best, type(result.best_).__name__
    ('mixed', 'MixedClassifier')
    """
    watched, estimator = estimator, without_callbacks(estimator)
    given = {"y": y, "sensitive_features": sensitive_features, "also": also}
    read = {name: to_native(own, name) for name, own in given.items() if own is not None}
    check_frame(X)
    with input_errors():
        n_rows = _num_samples(X)
    check_lengths({"X": range(n_rows), **read})
    scoring = _scorers(scoring)
    auto = candidates == "auto"
    if auto:
        first = next(iter(scoring.values()), "accuracy")
        candidates = auto_candidates(estimator, y, limit or 0.02, first)
    parts = _parts(candidates, estimator)
    needs = {name: needs_group(classifier) for name, (_, classifier) in parts.items()}
    barred = [name for name in candidates if needs[name] and not uses_group]
    if barred and not auto:
        raise InputError(
            "{candidates}[{key!r}] needs the group to predict. Leave it out, or pass "
            "uses_group=True if decisions may depend on the group.",
            key=barred[0],
        )
    parts = {name: pair for name, pair in parts.items() if name not in barred}
    made = {"auditor": auditor, "sensitive_estimator": sensitive_estimator}
    named = named_auditors(AuditedClassifier(parts[BASELINE][1], **made))
    if limit is not None:
        Limit(limit, one_sided=False).check_reached(*next(iter(named.items())))
    rng = check_random_state(random_state)
    strata = folding.fold_strata(stratify, y, sensitive_features)
    splits, seed = folding.splits_of(cv, X, strata, groups, rng), rng.randint(2**31 - 1)
    whole = {
        key: folding.fitted_auditor(own, rng, y, sensitive_features) for key, own in named.items()
    }
    level = next(iter(whole.values())).confidence_level
    crossings = {} if also is None else _crossings(read)
    data = folding.RowData(X, sensitive_features)
    trial = _Trial(data, y, whole, sensitive_estimator, scoring, limit, splits, seed)
    calls = [(name, *pair) for name, pair in parts.items()]

    def try_all(done: Callable[[int], None] = lambda n: None) -> list[Any]:
        with progress("mitigations", len(calls), verbose=verbose) as step:
            step.done = done
            return side_by_side(trial.run, calls, n_jobs=n_jobs, step=step)

    runs = dict(zip(parts, follow("search", watched, len(calls), try_all), strict=True))
    folds = {name: run.folds for name, run in runs.items()}
    ends = {name: run.end for name, run in runs.items() if run.end}
    folding.check_lacks({f"fold {at}": fold.lacks for at, fold in enumerate(folds[BASELINE])})
    for name, text in ends.items():
        if text != STOPPED:
            text = f"{name!r} failed and is left out of the comparison. {text}"
            warn(text, FitFailedWarning)
    pooled = {name: folding.of_held_out(metric, splits) for name, metric in whole.items()}
    result = _Ranking(pooled, list(scoring), crossings, limit, level).promised(folds, ends)
    result.table["needs_group"] = result.table["candidate"].map(needs)
    result.models.update({name: run.model for name, run in runs.items() if not run.end})
    if result.best is not None:
        runs[result.best].warned.issue()
    return result


# --------------------------------------------------------------------------- what is asked for


def _scorers(scoring: Any) -> dict[str, Any]:
    """Return scorers by the names that their measures get."""
    if scoring is None:
        f1 = make_scorer(f1_score, average="macro", zero_division=0)
        return {"accuracy": "accuracy", "f1": f1}
    check_scoring(scoring=scoring)
    if isinstance(scoring, Mapping):
        return dict(scoring)
    if callable(scoring):
        return {"score": scoring}
    return {name: name for name in ([scoring] if isinstance(scoring, str) else scoring)}


def _parts(candidates: Any, estimator: Any) -> dict[str, tuple[Any, Any]]:
    """Return each candidate's sampler, if there is one, and classifier; or raise."""
    if BASELINE in candidates:
        text = "{candidates} has the name 'none', which is that of the model as it is."
        raise InputError(text)
    parts: dict[str, tuple[Any, Any]] = {}
    for name, own in {BASELINE: estimator, **candidates}.items():
        parts[name] = pair = own if isinstance(own, tuple) else (None, own)
        sampled = len(pair) == 2 and (pair[0] is None or hasattr(pair[0], "fit_resample"))
        if not sampled or isinstance(pair[1], type) or not has_method(pair[1], "predict"):
            text = (
                "{candidates}[{key!r}] is {seen!r}, which does not predict. Pass a classifier, or "
                "a pair of sampler and classifier: (RatioBalancer(), LogisticRegression())."
            )
            raise InputTypeError(text, key=name, seen=own)
    return parts


def _crossings(read: Mapping[str, Any]) -> dict[str, pd.Categorical]:
    """Return each row's group by other columns, and by crossings with the sensitive feature."""
    columns: dict[str, Any] = {}
    for role, unnamed in (("also", "other column"), ("sensitive_features", "sensitive feature")):
        own = {
            name if isinstance(name, str) else f"{unnamed} {name or ''}".strip(): np.asarray(column)
            for name, column in columns_of(read[role])
        }
        with renaming(sensitive_features=role, max_groups=fewer_groups):
            for column in own.values():
                check_group_limit(len(pd.unique(column)), len(column), None, 1)
        columns = own | columns
    rows, crossings = pd.DataFrame(columns), {}
    every = [[*names] for n in range(len(columns)) for names in combinations(columns, n + 1)]
    for names in (names for names in every if not set(names) <= set(own)):
        groups = rows.groupby(names, dropna=False)
        known = groups.size().reset_index()[names].to_numpy(object)
        named = [", ".join(map("{} = {}".format, names, group)) for group in known]
        crossings[" × ".join(names)] = pd.Categorical(np.array(named)[groups.ngroup()])
    return crossings


# --------------------------------------------------------------------------- candidates


def needs_group(estimator: Any) -> bool:
    """Return whether a classifier needs the group at prediction, passed or as a column."""
    if not getattr(estimator, "by_group", True) or getattr(estimator, "joint", False):
        return False  # one threshold for all, or predicted groups
    return routes(estimator, "predict") or parameter_of(estimator, "predict") is not None


def auto_candidates(
    estimator: Any, y: Any, limit: float, scoring: Any = "accuracy"
) -> dict[str, Any]:
    """Return mitigations around a classifier by name: those that fit the labels.

    Thresholds are the best by `scoring`, if it scores labels.
    """
    sampler, model = estimator if isinstance(estimator, tuple) else (None, estimator)
    labels = to_native(y, "y")
    kind = type_of_target(labels)
    mitigations: dict[str, Any] = {}
    if sampler is None:
        samplers = {
            "RatioBalancer": RatioBalancer(),
            "RatioBalancer, alpha=2": RatioBalancer(alpha=2),
            "DataRepair": DataRepair(),
            "DataRepair, min_share=0.8": DataRepair(min_share=0.8),
            "GroupOverSampler": GroupOverSampler(),
        }
        if kind == "multilabel-indicator":
            samplers["RatioBalancer, sets=True"] = RatioBalancer(sets=True, unpaired="drop")
        mitigations |= {name: (sampler, model) for name, sampler in samplers.items()}
    if has_method(model, "predict_proba"):
        apart = DomainIndependentClassifier(model, calibration=None)
        trained = clone(apart).set_params(group_prior="training")
        mitigations |= {
            "DomainIndependent": apart,
            "DomainIndependent, group_prior=training": trained,
            "CorpusConstraint": CorpusConstraintClassifier(model),
            "CorpusConstraint, margin=0.01": CorpusConstraintClassifier(model, margin=0.01),
            "Mixed with RatioBalancer": MixedClassifier(model, cv=_FOLDS),
            "Mixed with DomainIndependent": MixedClassifier(model, apart, cv=_FOLDS),
        }
    if kind == "binary":
        # Half the limit, so that an interval has room within it. Another metric than theirs, which
        # is a share, may have a limit above 1.
        try:
            score_of(scoring, np.unique(labels))(np.ones(4))
        except (AttributeError, TypeError, ValueError):  # it scores no labels with weights
            scoring = "accuracy"
        for_all = AmplificationThresholdClassifier(
            model, limit=min(limit / 2, 0.5), scoring=scoring, cv=_FOLDS
        )
        mitigations["AmplificationThreshold"] = for_all
        by_group = clone(for_all).set_params(by_group=True)
        mitigations["AmplificationThreshold, by_group=True"] = by_group
    if kind in ("binary", "multilabel-indicator"):
        mitigations["BaseRateThreshold"] = BaseRateThresholdClassifier(model, cv=_FOLDS)
    if kind == "binary" and set(np.unique(labels)) == {0, 1} and find_spec("fairlearn"):
        mitigations |= _of_fairlearn(model, scoring)
    return mitigations


def _of_fairlearn(model: Any, scoring: Any) -> dict[str, Any]:
    from fairlearn.postprocessing import ThresholdOptimizer
    from fairlearn.reductions import ExponentiatedGradient, GridSearch

    balanced = "balanced_" * (scoring == "balanced_accuracy")
    options = {"predict_method": "auto", "objective": f"{balanced}accuracy_score"}
    parity, odds = (
        ThresholdOptimizer(estimator=model, constraints=constraints, **options)
        for constraints in ("demographic_parity", "equalized_odds")
    )
    # Their own constraints remove differences that the labels have.
    model, constraint = WeightsAsRows(model), AmplificationParity(difference_bound=0.005)
    return {
        "ThresholdOptimizer": parity,
        "ThresholdOptimizer, equalized odds": odds,
        "ExponentiatedGradient": ExponentiatedGradient(model, constraint, max_iter=_ITERATIONS),
        "GridSearch": GridSearch(model, constraint, grid_size=_ITERATIONS),
    }


class WeightsAsRows(ClassifierWrapper):
    """A classifier that gets weighted rows as copies, as many as the weights say.

    Any classifier and pipeline learns from copies. Weights take scikit-learn's boosting five times
    as long.
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Fit the classifier on as many rows as there are."""
        reached, n = np.asarray(sample_weight).cumsum(), len(sample_weight)
        rows = np.searchsorted(reached, (np.arange(n) + 0.5) / n * reached[-1])
        labels = np.asarray(y)[rows]
        # Small weights may leave only one of two classes.
        model = self.estimator if np.ptp(labels) else DummyClassifier(strategy="prior")
        with config_context(enable_metadata_routing=False):
            self.estimator_ = clone(model).fit(_safe_indexing(X, rows), labels)
        return self


# --------------------------------------------------------------------------- what is tried


class _Fold(NamedTuple):
    """What a model did on one fold."""

    rows: Any  # those that it was audited on
    values: dict[str, float]  # scores, amplifications, numbers of rows and seconds
    held_out: dict[str, Any]  # labels and predictions
    lacks: str  # to be measured


class _Run(NamedTuple):
    """What a candidate did on folds, why on no more, and the model of all rows."""

    folds: list[_Fold]
    end: str = ""
    model: Any = None
    warned: Any = None


class _Trial(NamedTuple):
    """What all candidates are tried on."""

    data: folding.RowData
    y: Any
    metrics: dict[str, Any]  # auditors of all rows
    sensitive_estimator: Any
    scoring: dict[str, Any]
    limit: float | None
    splits: list[Any]
    seed: int

    def run(self, name: str, sampler: Any, estimator: Any) -> _Run:
        """Train a candidate on folds and on all rows."""
        model = folding.RowClassifier(estimator, data=self.data, sampler=sampler)
        folds: list[_Fold] = []
        try:
            # Those of a candidate are not of interest; the winner's are shown.
            hidden = nullcontext() if name == BASELINE else collected()
            with hidden, progress(name, len(self.splits)) as step:
                for at in range(len(self.splits)):
                    folds.append(self.try_fold(model, at))
                    step.advance()
                    if name != BASELINE and self.is_hopeless(folds):
                        return _Run(folds, STOPPED)
            with collected() as warned:
                model = folding.seeded_clone(model, np.random.RandomState(self.seed))
                fitted = model.fit(self.data.numbers, self.y).estimator_
        except Exception as error:
            if name == BASELINE:
                raise
            return _Run(folds, f"{type(error).__name__}: {error}")
        return _Run(folds, "", fitted, warned)

    def is_hopeless(self, folds: list[_Fold]) -> bool:
        """Return whether the first fold is surely outside the limit."""
        if self.limit is None or len(folds) > 1 or folds[0].lacks:
            return False
        sure = copy.copy(next(iter(self.metrics.values()))).set_params(confidence_level=_SURE)
        result = sure.audit(**folds[0].held_out)
        return bool(result.low > self.limit or result.high < -self.limit)

    def try_fold(self, model: folding.RowClassifier, at: int) -> _Fold:
        """Train a model on a fold, and audit its predictions for the other rows."""
        split, start = self.splits[at], time.perf_counter()
        rows = folding.LabelledRows(self.data.numbers, self.y, self.data.attribute)
        audited = AuditedClassifier(model)
        if self.sensitive_estimator is not None:
            data = folding.RowData(self.data.X, self.data.attribute, labels=self.y)
            of_group = {"estimator": self.sensitive_estimator, "data": data}
            audited.set_params(sensitive_estimator=clone(model).set_params(**of_group))
        rng = np.random.RandomState(self.seed + at)  # the same for all candidates
        # Folds have no intervals; folds together give one.
        auditors = [clone(metric).set_params(interval=None) for metric in self.metrics.values()]
        (run,) = folding.run_folds(audited, rows, [[split]], [auditors], rng, scoring=self.scoring)
        ((fitted, held_out),) = run.held_out
        values, lacking = {key: float(run.fitted[f"test_{key}"][0]) for key in self.scoring}, ""
        with collected():  # the comparison says once which pairs are uncertain
            for key, metric in fitted.auditors_.items():
                lack = lacks(metric, self.metrics[key].count_audited(**held_out))
                values[key] = math.nan if lack else metric.audit(**held_out).value
                lacking = lacking or lack
        values |= {"n_train": len(split[0]), "n_test": len(split[1])}
        values["seconds"] = time.perf_counter() - start
        return _Fold(split[1], values, held_out, lacking)


# --------------------------------------------------------------------------- who wins


class _Ranking(NamedTuple):
    """The rule by which candidates are ranked; the first score and the first metric decide."""

    metrics: dict[str, Any]  # auditors of all rows, by the name of their measure
    scores: list[str]
    crossings: dict[str, pd.Categorical]  # groups of all rows, by columns
    limit: float | None
    confidence_level: float

    def promised(self, folds: dict[str, list[_Fold]], ends: Mapping[str, str]) -> MitigationSearch:
        """Rank candidates; the numbers of the first are from rows that did not choose it.

        In each fold, they are of the candidate that ranks first on the other folds.
        """
        result, n_folds = self.of(folds, ends), len(folds[BASELINE])
        if result.best in (None, BASELINE) or n_folds == 1:
            return result
        rule, name = self._replace(metrics=dict([*self.metrics.items()][:1])), result.best
        kept, chosen = {key: own for key, own in folds.items() if key not in ends}, []
        with collected():  # the ranking by all folds has said it
            for at in range(n_folds):
                others = {key: own[:at] + own[at + 1 :] for key, own in kept.items()}
                chosen.append(kept[rule.of(others, {}).table["candidate"].iloc[0]][at])
            promise = rule.of({BASELINE: kept[BASELINE], name: chosen}, {})
        row = promise.table.set_index("candidate").loc[name].drop("seconds")
        result.table.loc[0, row.index] = row
        numbers: Any = row.drop(["worse_for", "status"]).astype(float).to_dict()
        also = pd.concat([promise.also, result.also[result.also["candidate"] != name]])
        return replace(result, also=also.reset_index(drop=True), validated=numbers)

    def of(self, folds: dict[str, list[_Fold]], ends: Mapping[str, str]) -> MitigationSearch:
        """Rank candidates; `ends` says why some were not trained on all folds."""
        kept = {name: own for name, own in folds.items() if name not in ends}
        # A model by itself is compared with itself.
        models = kept if len(kept) > 1 else kept | {"none again": kept[BASELINE]}
        held_out = {name: [fold.held_out for fold in own] for name, own in models.items()}
        comparisons = {
            measure: folding.pooled_comparison(metric, held_out, BASELINE)
            for measure, metric in self.metrics.items()
        }
        first = next(iter(comparisons.values())).table.set_index("model")
        measures, also = self._measures(folds), self._also(kept)
        measures["rows_changed"] = measures["mitigation"].map(first["changed"].fillna(0))
        measures["error"] = measures["mitigation"].map(ends)
        table = self._sizes(first).reindex(list(folds))
        score = measures[measures["measure"] == self.scores[0]].set_index("mitigation")
        table[self.scores[0]] = score["value"]
        table["loss"] = -score["change"]
        table[["loss_low", "loss_high"]] = -score[["change_high", "change_low"]]
        seconds = [[fold.values["seconds"] for fold in own] for own in folds.values()]
        table["seconds"] = [np.mean(own) if own else np.nan for own in seconds]
        clear = also[also["change_low"] > 0].sort_values("change")
        table["worse_for"] = clear.groupby("candidate")["columns"].last()
        limit = math.nan if self.limit is None else self.limit
        table["status"] = NO_LIMIT if self.limit is None else INCONCLUSIVE
        table.loc[table["low"].gt(-limit) & table["high"].lt(limit), "status"] = WITHIN
        table.loc[table["low"].gt(limit) | table["high"].lt(-limit), "status"] = OUTSIDE
        table.loc[table["worse_for"].notna(), "status"] = WORSE
        table.loc[list(ends), "status"] = FAILED
        table.loc[[name for name, end in ends.items() if end == STOPPED], "status"] = STOPPED
        cost = table["loss"].clip(lower=0).where(table["status"] == WITHIN, 0)
        places = table["status"].map(_PLACES.index)
        order = np.lexsort((table["value"].abs(), table.index != BASELINE, cost, places))
        return MitigationSearch(
            table=table.iloc[order].rename_axis("candidate").reset_index(),
            measures=measures,
            scores=self.scores,
            amplifications=list(self.metrics),
            limit=self.limit,
            confidence_level=self.confidence_level,
            comparisons=comparisons if models is kept else {},
            also=also,
        )

    def _measures(self, folds: Mapping[str, list[_Fold]]) -> pd.DataFrame:
        """Return a row for each candidate and measure."""
        rows: list[Any] = []
        first = pd.DataFrame([fold.values for fold in folds[BASELINE]])
        for name, own in folds.items():
            table = pd.DataFrame([fold.values for fold in own], columns=first.columns, dtype=float)
            for measure in [*self.scores, *self.metrics]:
                row: dict[str, Any] = {"mitigation": name, "measure": measure}
                change = table[measure] - first[measure]
                for keys, numbers in ((_VALUE, table[measure]), (_CHANGE, change)):
                    over = folding.over_folds(
                        table.assign(repeat=0, x=numbers), "x", self.confidence_level
                    )
                    row |= dict(zip(keys, over, strict=False))
                rows.append(row)
        return pd.DataFrame(rows)

    def _sizes(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return values of models, and how their sizes change from the model as it is.

        Intervals of changes hold for all candidates together.
        """
        tests = np.array([1, max(len(table) - 1, 1)])
        normal, wide = stats.norm.isf((1 - self.confidence_level) / 2 / tests)
        error = (table["high"] - table["low"]) / 2 / normal
        paired = (table["difference_high"] - table["difference_low"]) / 2 / normal
        before, total = table["value"][BASELINE], error**2 + error[BASELINE] ** 2
        side, ends = (-1 if before < 0 else 1), []
        for sign in (1, -1):  # a size is the larger of a value and its negative
            change = sign * table["value"] - side * before
            reach = wide * np.sqrt((total - sign * side * (total - paired**2)).clip(lower=0))
            ends.append(pd.concat([change, change - reach, change + reach], axis=1, keys=_CHANGE))
        changes: Any = np.maximum(*ends)
        return table[_VALUE].join(changes.drop(BASELINE))

    def _also(self, folds: dict[str, list[_Fold]]) -> pd.DataFrame:
        """Return how far groups of other columns are from their labels, and how that changes.

        Intervals of changes hold for all columns and candidates together.
        """
        shifts, first = {name: _shifts(own) for name, own in folds.items()}, folds[BASELINE]
        candidates, tasks = [name for name in folds if name != BASELINE], list(shifts[BASELINE])
        every = list(product(self.crossings, candidates, tasks))
        tail, rows = (1 - self.confidence_level) / 2 / max(len(every), 1), []
        for columns, name, task in every:
            before, after = (shifts[key][task].to_numpy() for key in (BASELINE, name))
            numbers = _change(before, after, self.crossings[columns], first, tail)
            rows.append([name, columns, task, *numbers])
        names = ["candidate", "columns", "task", "before", "after", *_CHANGE]
        return pd.DataFrame(rows, columns=names)


def _shifts(folds: list[_Fold]) -> pd.DataFrame:
    """Return predictions minus labels: rows × tasks."""
    y, predicted = (
        np.concatenate([np.asarray(to_native(fold.held_out[key], "y")) for fold in folds])
        for key in ("y_true", "y_pred")
    )
    if y.ndim == 2:
        return pd.DataFrame(predicted.astype(float) - y)
    classes = np.unique(y)
    tasks = (classes[-1:] if len(classes) == 2 else classes).tolist()
    return pd.DataFrame({task: (predicted == task) * 1.0 - (y == task) for task in tasks})


def _change(before: Any, after: Any, groups: Any, folds: list[_Fold], tail: float) -> list[float]:
    """Return how far groups are from their labels, before and after, and how that changes.

    That is a mean over rows of the size of their group's number. The variance of the change is that
    of rows, with one more that changed, and what folds vary beyond that: each has other training
    rows and another seed.
    """
    group: Any = groups.codes[np.concatenate([fold.rows for fold in folds])]
    fold: Any = np.repeat(range(len(folds)), [len(fold.rows) for fold in folds])
    sizes = []
    for moved in (before - before.mean(), after - after.mean()):
        is_below = np.bincount(group, moved) < 0
        sizes.append(np.where(is_below[group], -moved, moved))
    grown, n, k = sizes[1] - sizes[0], len(group), len(folds)
    variance = (grown.var() + 1 / n) / n
    by_fold = pd.Series(grown).groupby(fold).mean()
    # Folds share training rows (Nadeau and Bengio), and are few (Welch and Satterthwaite).
    more = (by_fold.var() - k * variance) * (1 / k + n / k / folds[0].values["n_train"])
    total = variance + max(0, more)
    df = (k - 1) * (total / more) ** 2 if more > 0 else math.inf
    reach = stats.t.isf(tail, df) * math.sqrt(total)
    change = grown.mean()
    return [sizes[0].mean(), sizes[1].mean(), change, change - reach, change + reach]
