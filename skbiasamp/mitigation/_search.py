"""search: find the mitigation that brings amplification within a limit at the least cost."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Mapping
from contextlib import nullcontext
from itertools import combinations
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import ndtri
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import check_scoring, f1_score, make_scorer
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples

from skbiasamp._input.containers import check_lengths, columns_of, to_native
from skbiasamp._input.errors import InputError, InputTypeError, speaking
from skbiasamp._input.keywords import keywords
from skbiasamp._utils.compat import N_JOBS, Interval, StrOptions, has_method, validate_params
from skbiasamp._utils.formatting import INCONCLUSIVE, OUTSIDE, WITHIN
from skbiasamp._utils.jobs import side_by_side
from skbiasamp._utils.progress import progress
from skbiasamp._utils.warnings import collected, warn
from skbiasamp.compose.audited import AuditedClassifier, named_auditors
from skbiasamp.compose.sensitive import check_frame
from skbiasamp.metrics.functions import lacks
from skbiasamp.mitigation._candidates import auto_candidates, needs_group
from skbiasamp.mitigation._pairs import input_errors
from skbiasamp.model_selection.folds import (
    STRATIFY,
    check_lacks,
    fitted_auditor,
    fold_strata,
    of_held_out,
    over_folds,
    pooled_comparison,
    run_folds,
    seeded_clone,
    splits_of,
)
from skbiasamp.model_selection.row_classifier import LabelledRows, RowClassifier, RowData
from skbiasamp.results.gate import Limit
from skbiasamp.results.mitigation_search import BASELINE, FAILED, STOPPED, WORSE, MitigationSearch

_SURE = 0.999  # level of the interval that stops a candidate after the first fold
_PLACES = [WITHIN, INCONCLUSIVE, OUTSIDE, WORSE, STOPPED, FAILED]
_VALUE = ["value", "low", "high"]
_CHANGE = ["change", "change_low", "change_high"]


@keywords()
@validate_params(
    {
        "limit": [Interval(Real, 0, None, closed="neither"), None],
        "cv": ["cv_object"],
        "stratify": [StrOptions(set(STRATIFY))],
        "scoring": [str, callable, list, tuple, set, dict, None],
        "candidates": [StrOptions({"auto"}), dict],
        "uses_group": ["boolean"],
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
    uses_group: bool = False,
    also: Any = None,
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
        Other columns of people, such as race and age band. A candidate is out if it makes the
        first metric of a column clearly worse than `estimator` does. So it is for each crossing of
        these columns and the sensitive feature, such as "sex × race". Clearly: the interval of the
        change of its size lies above 0. The interval covers other training rows and seeds.
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
    interval holds for all candidates together (Bonferroni); in other columns, for all columns, too.
    There its variance is that of the rows, and what folds vary more than rows make them.

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
    strata = fold_strata(stratify, y, sensitive_features)
    splits, seed = splits_of(cv, X, strata, groups, rng), rng.randint(2**31 - 1)
    metrics: dict[str, tuple[Any, Any]] = {
        name: (fitted_auditor(own, rng, y, sensitive_features), None) for name, own in named.items()
    }
    decides = next(iter(metrics.values()))[0]
    crossings = {} if also is None else _crossings(read)
    if crossings and decides.direction == "T->A":
        raise InputError(
            "{also} has no predicted groups, and the first {auditor} needs them. Pass an auditor "
            "with direction='A->T' first."
        )
    with speaking(sensitive_features="also"):
        for name, columns in crossings.items():
            metric = clone(decides).set_params(groups="intersection")
            metrics[name] = (fitted_auditor(metric, rng, y, columns), columns)
    data = RowData(X, sensitive_features)
    trial = _Trial(data, y, metrics, sensitive_estimator, scoring, limit, splits, seed)
    calls = [(name, *pair) for name, pair in parts.items()]
    tried = side_by_side(trial.run, calls, n_jobs=n_jobs, what="mitigations", total=len(calls))
    runs = dict(zip(parts, tried, strict=True))
    folds = {name: run.folds for name, run in runs.items()}
    ends = {name: run.end for name, run in runs.items() if run.end}
    check_lacks({f"fold {at}": fold.lacks for at, fold in enumerate(folds[BASELINE])})
    for name, text in ends.items():
        if text != STOPPED:
            text = f"{name!r} failed and is left out of the comparison. {text}"
            warn(text, FitFailedWarning)
    pooled = {name: of_held_out(metric, splits) for name, (metric, _) in metrics.items()}
    ranking = _Ranking(pooled, list(scoring), list(crossings), limit, decides.confidence_level)
    ranked = ranking.promised(folds, ends)
    table = ranked.table.rename_axis("candidate").reset_index()
    table["needs_group"] = table["candidate"].map(needs)
    best = table["candidate"].iloc[0] if table["status"].iloc[0] == WITHIN else None
    if best is not None:
        runs[best].warned.issue()
    return MitigationSearch(
        table=table,
        measures=ranked.measures,
        scores=list(scoring),
        amplifications=list(named),
        limit=limit,
        confidence_level=decides.confidence_level,
        best=best,
        models={name: run.model for name, run in runs.items() if run.model is not None},
        validated=ranked.validated,
        comparisons=ranked.comparisons,
        also=ranked.also,
    )


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
            raise InputTypeError(
                "{candidates}[{key!r}] is {seen!r}, which does not predict. Pass a classifier, or "
                "a pair of sampler and classifier: (RatioBalancer(), LogisticRegression()).",
                key=name,
                seen=own,
            )
    return parts


def _crossings(read: Mapping[str, Any]) -> dict[str, Any]:
    """Return other columns, and all crossings of them and the sensitive feature, by name."""
    columns: dict[str, Any] = {}
    for role, unnamed in (("also", "other"), ("sensitive_features", "group")):
        own = {
            name if isinstance(name, str) else f"{unnamed} {name or ''}".strip(): np.asarray(column)
            for name, column in columns_of(read[role])
        }
        columns = own | columns
    every = [names for n in range(len(columns)) for names in combinations(columns, n + 1)]
    new = [names for names in every if not set(names) <= set(own)]
    return {" × ".join(names): pd.DataFrame({key: columns[key] for key in names}) for names in new}


# --------------------------------------------------------------------------- what is tried


class _Fold(NamedTuple):
    """What a model did on one fold."""

    values: dict[str, float]  # scores, amplifications, numbers of rows and seconds
    held_out: dict[str, dict[str, Any]]  # labels and predictions, by amplification
    lacks: str  # to be measured


class _Run(NamedTuple):
    """What a candidate did on folds, why on no more, and the model of all rows."""

    folds: list[_Fold]
    end: str = ""
    model: Any = None
    warned: Any = None


class _Trial(NamedTuple):
    """What all candidates are tried on."""

    data: RowData
    y: Any
    metrics: dict[str, tuple[Any, Any]]  # auditors of all rows, and other columns or None
    sensitive_estimator: Any
    scoring: dict[str, Any]
    limit: float | None
    splits: list[Any]
    seed: int

    def run(self, name: str, sampler: Any, estimator: Any) -> _Run:
        """Train a candidate on folds and on all rows."""
        model = RowClassifier(estimator, data=self.data, sampler=sampler)
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
                model = seeded_clone(model, np.random.RandomState(self.seed))
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
        name, (decides, _) = next(iter(self.metrics.items()))
        sure = copy.copy(decides).set_params(confidence_level=_SURE)
        result = sure.audit(**folds[0].held_out[name])
        return bool(result.low > self.limit or result.high < -self.limit)

    def try_fold(self, model: RowClassifier, at: int) -> _Fold:
        """Train a model on a fold, and audit its predictions for the other rows."""
        split, start = self.splits[at], time.perf_counter()
        rows = LabelledRows(self.data.numbers, self.y, self.data.attribute)
        audited = AuditedClassifier(model)
        if self.sensitive_estimator is not None:
            data = RowData(self.data.X, self.data.attribute, labels=self.y)
            of_group = {"estimator": self.sensitive_estimator, "data": data}
            audited.set_params(sensitive_estimator=clone(model).set_params(**of_group))
        rng = np.random.RandomState(self.seed + at)  # the same for all candidates
        # Folds have no intervals; folds together give one.
        own = [metric for metric, columns in self.metrics.values() if columns is None]
        auditors = [clone(metric).set_params(interval=None) for metric in own]
        (run,) = run_folds(audited, rows, [[split]], [auditors], rng, scoring=self.scoring)
        ((fitted, labels),) = run.held_out
        values = {key: float(run.fitted[f"test_{key}"][0]) for key in self.scoring}
        held_out, lacking = {}, ""
        with collected():  # the comparison says once which pairs are uncertain
            for key, (metric, columns) in self.metrics.items():
                held_out[key] = labels
                if columns is not None:
                    groups = {"sensitive_features": columns.iloc[split[1]], "sensitive_pred": None}
                    held_out[key] = labels | groups
                    values[key] = metric.score(**held_out[key])
                    continue
                lack = lacks(fitted.auditors_[key], metric.count_audited(**labels))
                values[key] = math.nan if lack else fitted.auditors_[key].audit(**labels).value
                lacking = lacking or lack
        values |= {"n_train": len(split[0]), "n_test": len(split[1])}
        return _Fold(values | {"seconds": time.perf_counter() - start}, held_out, lacking)


# --------------------------------------------------------------------------- who wins


class _Ranked(NamedTuple):
    """A row for each candidate, the best first, and what it is made of."""

    table: pd.DataFrame
    measures: pd.DataFrame
    comparisons: dict[str, Any]
    also: pd.DataFrame
    validated: dict[str, float]


class _Ranking(NamedTuple):
    """The rule by which candidates are ranked; the first score and the first metric decide."""

    metrics: dict[str, Any]  # auditors of all rows, by the name of their measure
    scores: list[str]
    also: list[str]  # metrics of other columns and crossings
    limit: float | None
    confidence_level: float

    def promised(self, folds: dict[str, list[_Fold]], ends: Mapping[str, str]) -> _Ranked:
        """Rank candidates; the numbers of the first are from rows that did not choose it.

        In each fold, they are of the candidate that ranks first on the other folds.
        """
        ranked, n_folds = self.of(folds, ends), len(folds[BASELINE])
        name, status = ranked.table.index[0], ranked.table["status"].iloc[0]
        if status != WITHIN or name == BASELINE or n_folds == 1:
            return ranked
        deciding = [next(iter(self.metrics)), *self.also]
        rule = self._replace(metrics={key: self.metrics[key] for key in deciding})
        kept, chosen = {key: own for key, own in folds.items() if key not in ends}, []
        with collected():  # the ranking by all folds has said it
            for at in range(n_folds):
                others = {key: own[:at] + own[at + 1 :] for key, own in kept.items()}
                chosen.append(kept[rule.of(others, {}).table.index[0]][at])
            promise = rule.of({BASELINE: kept[BASELINE], name: chosen}, {})
        row = promise.table.loc[name].drop("seconds")
        ranked.table.loc[name, row.index] = row
        also = ranked.also[ranked.also["candidate"] != name]
        also = pd.concat([promise.also, also], ignore_index=True)
        numbers = row.drop(["worse_for", "status"]).astype(float).to_dict()
        return ranked._replace(also=also, validated=numbers)

    def of(self, folds: dict[str, list[_Fold]], ends: Mapping[str, str]) -> _Ranked:
        """Rank candidates; `ends` says why some were not trained on all folds."""
        kept = {name: own for name, own in folds.items() if name not in ends}
        # A model by itself is compared with itself.
        models = kept if len(kept) > 1 else kept | {"none again": kept[BASELINE]}
        comparisons = {}
        for measure, metric in self.metrics.items():
            labels = {key: [fold.held_out[measure] for fold in own] for key, own in models.items()}
            comparisons[measure] = pooled_comparison(metric, labels, BASELINE)
        columns = list(folds[BASELINE][0].values)
        by_fold = {
            name: pd.DataFrame([fold.values for fold in own], columns=columns, dtype=float)
            for name, own in folds.items()
        }
        tables = {key: own.table.set_index("model") for key, own in comparisons.items()}
        first, named = next(iter(tables.values())), [name for name in kept if name != BASELINE]
        measures = self._measures(by_fold)
        measures["rows_changed"] = measures["mitigation"].map(first["changed"].fillna(0))
        measures["error"] = measures["mitigation"].map(ends)
        other = [self._sizes(tables[key], key, by_fold).loc[named] for key in self.also]
        also = pd.concat([pd.DataFrame(columns=["columns", *_VALUE, *_CHANGE]), *other])
        also = also.infer_objects().rename_axis("candidate").reset_index()
        table = self._sizes(first, "", by_fold).drop(columns="columns").reindex(list(folds))
        score = measures[measures["measure"] == self.scores[0]].set_index("mitigation")
        table[self.scores[0]] = score["value"]
        table["loss"] = -score["change"]
        table[["loss_low", "loss_high"]] = -score[["change_high", "change_low"]]
        table["seconds"] = [own["seconds"].mean() for own in by_fold.values()]
        clear = also[also["change_low"] > 0].sort_values("change")
        table["worse_for"] = clear.groupby("candidate")["columns"].last()
        limit = math.nan if self.limit is None else self.limit
        table["status"] = INCONCLUSIVE
        table.loc[table["low"].gt(-limit) & table["high"].lt(limit), "status"] = WITHIN
        table.loc[table["low"].gt(limit) | table["high"].lt(-limit), "status"] = OUTSIDE
        table.loc[table["worse_for"].notna(), "status"] = WORSE
        table.loc[list(ends), "status"] = [
            end if end == STOPPED else FAILED for end in ends.values()
        ]
        cost = table["loss"].clip(lower=0).where(table["status"] == WITHIN, 0)
        places = table["status"].map(_PLACES.index)
        order = np.lexsort((table["value"].abs(), table.index != BASELINE, cost, places))
        return _Ranked(table.iloc[order], measures, comparisons if named else {}, also, {})

    def _measures(self, by_fold: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
        """Return a row for each candidate and measure."""
        rows = []
        for name, table in by_fold.items():
            for measure in [*self.scores, *self.metrics]:
                row: dict[str, Any] = {"mitigation": name, "measure": measure}
                change = table[measure] - by_fold[BASELINE][measure]
                for keys, numbers in ((_VALUE, table[measure]), (_CHANGE, change)):
                    single = table.assign(repeat=0, number=numbers)
                    over = over_folds(single, "number", self.confidence_level)
                    row |= dict(zip(keys, over, strict=False))
                rows.append(row)
        return pd.DataFrame(rows)

    def _sizes(
        self, table: pd.DataFrame, also: str, by_fold: Mapping[str, pd.DataFrame]
    ) -> pd.DataFrame:
        """Return values of models, and how their sizes change from the model as it is.

        Intervals hold for all candidates together. Those of another column hold for all columns
        together, and cover other training rows and seeds: each fold has its own.
        """
        n = max(len(table) - 1, 1) * (len(self.also) if also else 1)
        normal, wide = -ndtri((1 - self.confidence_level) / 2 / np.array([1, n]))
        error = (table["high"] - table["low"]) / 2 / normal
        paired = (table["difference_high"] - table["difference_low"]) / 2 / normal
        before, total = table["value"][BASELINE], error**2 + error[BASELINE] ** 2
        side, ends = (-1 if before < 0 else 1), []
        for sign in (1, -1):  # a size is the larger of a value and its negative
            change = sign * table["value"] - side * before
            variance = (total - sign * side * (total - paired**2)).clip(lower=0)
            if also:
                first = by_fold[BASELINE]
                folds = {key: sign * own[also] - side * first[also] for key, own in by_fold.items()}
                more = (pd.DataFrame(folds).var() - len(first) * variance).clip(lower=0).fillna(0)
                # Folds share training rows (Nadeau and Bengio).
                shared = 1 / len(first) + first["n_test"].mean() / first["n_train"].mean()
                variance += more * shared
            reach = wide * np.sqrt(variance)
            ends.append(pd.concat([change, change - reach, change + reach], axis=1, keys=_CHANGE))
        sizes = table[_VALUE].join(np.maximum(*ends).drop(BASELINE))
        return sizes.assign(columns=also)
