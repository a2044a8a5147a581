"""Audits over the folds of a cross-validation, and comparisons of estimators on the same folds."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats
from sklearn.base import clone
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.model_selection import GroupKFold
from sklearn.utils import check_random_state

from skbiasamp._input.checks import Array, check_models
from skbiasamp._input.errors import InputError, InputTypeError
from skbiasamp._input.options import keywords
from skbiasamp._utils.compat import N_JOBS, Interval, StrOptions, has_method, validate_params
from skbiasamp._utils.formatting import ADDS, NO_EFFECT, NOT_MEASURED, printable
from skbiasamp._utils.progress import follow, progress, without_callbacks
from skbiasamp._utils.version import made_now
from skbiasamp._utils.warnings import collected
from skbiasamp.compose.audited import AuditedClassifier, named_auditors
from skbiasamp.counts.contingency import Contingency
from skbiasamp.counts.parts import check_model, wanted_outcomes
from skbiasamp.inference import adjust_p_values
from skbiasamp.inference.influence import interval
from skbiasamp.inference.runs import Mean
from skbiasamp.metrics.comparing import DIFFERENCE, mean_of_results
from skbiasamp.metrics.functions import TRAINING, lacks
from skbiasamp.model_selection import folds as folding
from skbiasamp.model_selection.folds import LabelledRows, Repeat
from skbiasamp.render.facts import express
from skbiasamp.results import (
    MODEL_COLUMNS,
    AuditResult,
    ComparisonResult,
    CrossAuditResult,
    findings_of_training,
    without_equal_values,
)
from skbiasamp.results.exports import Exported

# An interval stands beside the number that it is of.
CROSS_COLUMNS = (*(name for name in MODEL_COLUMNS if name != "published"), "published")


@dataclass(frozen=True, eq=False, repr=False)
class CrossComparisonResult(Exported):
    """Estimators compared on the same folds, as returned by `cross_audit`.

    It holds two answers. ``table`` is about the estimators: would models trained on other samples
    of this size differ? ``pooled`` is about the models that were trained here.

    .. versionadded:: 0.1

    Attributes
    ----------
    reference : str
        The estimator that the others are compared with.
    table : DataFrame
        One row an estimator, the reference first: ``model``, its mean over folds ``value`` with
        ``low`` and ``high``, and ``published``; the mean ``difference`` of values to the reference
        on the same folds with ``difference_low``, ``difference_high`` and ``p_value``,
        ``p_adjusted`` (for the number of estimators), and ``changed``: the share of held-out rows
        with another prediction than the reference's.
    folds : DataFrame
        One row for each estimator, repeat and fold: ``model``, ``repeat``, ``fold``, ``n_train``,
        ``n_test``, ``value``, ``published``, and the ``difference`` to the reference on that fold.
    pooled : ComparisonResult
        All held-out predictions together (of the first repeat), compared on the same rows and
        resamples. Its intervals are those of the rows, given the models that were trained.
    audits : dict of str to CrossAuditResult
        The audit of each estimator.
    confidence_level : float
        Level of the intervals.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from skbiasamp import cross_audit
    >>> rng = np.random.default_rng(0)
    >>> sex, skill = rng.integers(0, 2, 600), rng.normal(size=600)
    >>> hired = (skill + sex / 2 + rng.normal(size=600) > 0).astype(int)
    >>> result = cross_audit(
    ...     {"tree": DecisionTreeClassifier(random_state=0), "linear": LogisticRegression()},
    ...     np.column_stack([skill, sex]),
    ...     hired,
    ...     sensitive_features=sex,
    ...     random_state=0,
    ... )
    >>> result
    directional A->T over 5 folds, compared with 'tree'
     model   value     low   high  difference  difference_low  difference_high  p_value  changed
      tree -0.0227 -0.0748 0.0294           -               -                -        -        -
    linear  0.0411  0.0108 0.0714      0.0638         -0.0049           0.1325   0.0654   0.2417
    pooled directional A->T, compared with 'tree' (600 rows)
    ...
    “linear” has a larger gap between group 1 and group 0 than “tree”. The gap: 11.5 with “tree”,
    24.2 with “linear”, in percentage points. Allowing for chance, the gap is 4.8 to 20.8 percentage
    points larger.
    """

    reference: str
    table: pd.DataFrame
    folds: pd.DataFrame
    pooled: ComparisonResult
    audits: dict[str, CrossAuditResult]
    confidence_level: float

    def __repr__(self) -> str:
        audit = self.audits[self.reference]
        title = f"{self.pooled.name} over {audit.over}, compared with {self.reference!r}"
        shown = without_equal_values(self.table)
        shown = shown.drop(columns=["p_adjusted"] if len(self.table) < 3 else [])
        options: dict[str, Any] = {"float_format": "{:.4f}".format, "na_rep": "-"}
        lines = [title, shown.to_string(index=False, **options), f"pooled {self.pooled}"]
        return printable("\n".join(lines))

    @property
    def _papers(self) -> list[str]:
        return [self.pooled.citation]


@keywords()
@validate_params(
    {
        "n_repeats": [Interval(Integral, 1, None, closed="left")],
        "n_halvings": [Interval(Integral, 0, None, closed="left")],
        "stratify": [StrOptions(set(folding.STRATIFY))],
        "params": [Mapping, None],
        "n_jobs": N_JOBS,
        "random_state": ["random_state"],
    }
)
def cross_audit(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    sensitive_features: Any = None,
    auditor: Any = None,
    reference: str | None = None,
    cv: Any = 5,
    n_repeats: int = 1,
    n_halvings: int = 10,
    stratify: str = "task",
    groups: Any = None,
    scoring: Any = None,
    favourable: Any = None,
    sample_weight: Any = None,
    params: dict[str, Any] | None = None,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> Any:
    """Audit how classifiers are trained, over the folds of a cross-validation.

    An audit is about one fitted model, and another training sample gives another model. Use this
    if you have an estimator: the classifier is trained on each training fold, and its predictions
    for the held-out rows are audited against the correlations of that fold's training labels. The
    report is about the mean of such models, with an interval that includes other training samples.
    Several classifiers get the same folds, audits and seeds, and are compared fold by fold.

    .. versionadded:: 0.1

    Parameters
    ----------
    estimator : classifier, AuditedClassifier or dict of str to them
        The model; or several by name, to compare them.
    X : array-like or data frame of shape (n_samples, n_features)
        Data.
    y : array-like of shape (n_samples,) or (n_samples, n_tasks)
        Labels.
    sensitive_features : array-like of shape (n_samples,) or (n_samples, n_features)
        The sensitive feature. Not needed if an `AuditedClassifier` finds it in `X`.
    auditor : auditor or list of auditors, default=None
        The metrics. None: that of the `AuditedClassifier`, or ``DirectionalAuditor()``.
        Direction "T->A" needs an `AuditedClassifier` with a ``sensitive_estimator``.
    reference : str, default=None
        The estimator that the others are compared with, by name. None: the first.
    cv : int, cross-validation splitter or iterable of splits, default=5
        The folds. An integer is a number of shuffled folds.
    n_repeats : int, default=1
        Number of repetitions with other seeds, for the folds of an integer `cv` and for each
        ``random_state`` of the estimator that is None.
    n_halvings : int, default=10
        How often the rows are parted into two random halves, each of which trains one more model:
        these show how much the value varies over samples. At least 2, or 0: then only the folds
        show it, and the interval is cautious. Folds that test a row twice or never have no such
        models.
    stratify : {"task", "joint"}, default="task"
        What folds have equal shares of. "task": each class of `y`, as in scikit-learn. "joint":
        each pair of group and class, so that small groups are in all folds.
    groups : array-like of shape (n_samples,), default=None
        As in scikit-learn: groups of rows that splitters such as ``GroupKFold`` keep together. The
        auditor's `groups` says how several sensitive columns make groups.
    scoring : str, callable, list or dict, default=None
        Further scores on the held-out rows. None: the estimator's own score.
    favourable : label or list of labels, default=None
        The class that people want, such as "paid", or the tasks that they want: the report then
        says who is worse off.
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
    result : CrossAuditResult, CrossComparisonResult or dict of str to them
        The second if `estimator` is a dict. A dict with one for each auditor, by name, if
        `auditor` is a list.

    See Also
    --------
    amplification_scorer : Scorer for scikit-learn's own cross-validation and searches.

    Notes
    -----
    A row moves the mean over folds twice: as a test row, and as a training row. Both may cancel: if
    groups differ more in a sample, so do its labels, and the predictions of its models. Folds alone
    cannot show this. So the rows are parted into random halves *a* and *b*. *V(a, b)* is the value
    of the model that is trained on *a* and tested on *b*, and *H(a)* that of the rows of *a* by the
    models of the other halvings. So *a* says *V(a, b) + H(a) - H(b)*, and *b* the same in turn: two
    independent numbers. A quarter of their mean squared difference is the variance of the mean over
    folds, and the interval is Student's with a degree of freedom for each halving. In simulations
    of linear models, trees and boosting, such 95 % intervals include the mean value of models of
    other samples in 94 to 97 % of data sets.

    With ``n_halvings=0``, the variance is that between the folds of a repeat with Nadeau and
    Bengio's correction [1]_: times ``1 / k + n_test / n_train``, for `k` folds. Folds vary at least
    as much as all held-out rows make them (if the auditor has an `interval`). This is cautious: it
    may be twice as wide as necessary. Repeats show how much folds and seeds matter. They bring no
    new rows, so the interval does not shrink with their number.

    If groups have exactly equal labels, as after balancing, training folds and their held-out rows
    differ in turn. Values are then above 0 for every model, a random one too. There the changes of
    the gaps decide about the verdict and about a limit, not the value.

    If test folds overlap, as with `ShuffleSplit`, the pooled result has no interval.

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
    if n_halvings == 1:
        raise InputError(
            "{n_halvings} must be 0, or 2 or more: rows of a halving are predicted by the others."
        )
    several = isinstance(estimator, Mapping)
    if several:
        names = check_models({"estimator": estimator})
        reference = check_model(names[0] if reference is None else reference, names, "reference")
    elif reference is not None:
        raise InputError(
            "{reference} names one of several classifiers, and {estimator} is {kind}. Pass a dict: "
            "{{'champion': ..., 'challenger': ...}}.",
            kind=type(estimator).__name__,
        )
    models = audited_models(estimator if several else {"": estimator}, auditor)
    attribute = attribute_of(models.values(), X, sensitive_features)
    strata = folding.fold_strata(stratify, y, attribute)
    declared: dict[str, Any] = {}
    if favourable is not None:  # before models are trained
        cells = Contingency.from_labels(y, sensitive_features=np.zeros(len(strata)))
        declared["favourable"] = wanted_outcomes(cells, favourable)
    rng = check_random_state(random_state)
    cv = list(cv) if isinstance(cv, Iterator) else cv  # for all repeats
    splits = [folding.splits_of(cv, X, strata, groups, rng) for _ in range(n_repeats)]
    own = check_random_state(copy.deepcopy(rng).randint(2**31 - 1))
    # If folds test a row twice or never, halves say nothing of their mean.
    n = len(strata)
    times = [np.bincount(np.concatenate([test for _, test in cut]), minlength=n) for cut in splits]
    useful = (np.stack(times) == 1).all()
    halves = []
    for _ in range(n_halvings if useful else 0):
        seed = own.randint(2**31 - 1)
        two = 2 if groups is None else GroupKFold(2, shuffle=True, random_state=seed)
        halves.append(folding.splits_of(two, X, strata, groups, own))
    named = named_auditors(next(iter(models.values())))
    auditors = [
        [folding.seeded_clone(template, rng) for template in named.values()] for _ in splits
    ]
    auditors += [
        [folding.seeded_clone(template, own) for template in named.values()] for _ in halves
    ]
    rows = LabelledRows(X, y, attribute, sample_weight)
    how: dict[str, Any] = {"scoring": scoring, "params": params, "n_jobs": n_jobs}
    cuts = [*splits, *halves]
    with progress("cross-validation of models", len(models)) as step:
        runs, trained = {}, {}
        for name, model in models.items():
            try:
                same = copy.deepcopy(rng)  # the same draws for all
                bare = clone(model).set_params(estimator=without_callbacks(model.estimator))
                train = partial(folding.run_folds, bare, rows, cuts, auditors, same, **how)
                run = follow("cross_audit", model.estimator, len(cuts), train)
            except Exception as error:
                if several:
                    error.add_note(f"This happened to the estimator {name!r}.")
                raise
            runs[name], of_halves = run[: len(splits)], run[len(splits) :]
            trained[name] = Halves(rows, halves, of_halves)
            step.advance()
        target = getattr(y, "name", None)
        declared |= {"target": target} if isinstance(target, str) else {}
        results: dict[str, Any] = {}
        for name, template in named.items():
            whole = folding.fitted_auditor(template, rng, y, attribute, sample_weight)
            audits = {
                model: audit_of_folds(name, whole, splits, run, trained[model], declared)
                for model, run in runs.items()
            }
            if reference is None:
                results[name], _ = audits[""]
                continue
            held_out = {
                model: [given for _, given in run[0].held_out] for model, run in runs.items()
            }
            pooled = folding.pooled_comparison(
                folding.of_held_out(whole, splits[0]), held_out, reference
            )
            results[name] = _comparison(audits, pooled, whole, reference)
    listed = isinstance(next(iter(models.values())).auditor, list)
    return results if listed else next(iter(results.values()))


def audited_models(estimators: Mapping[str, Any], auditor: Any) -> dict[str, AuditedClassifier]:
    """Return clones that are audited by the same metrics."""
    audited = [model for model in estimators.values() if isinstance(model, AuditedClassifier)]
    own = {repr(model.auditor): model.auditor for model in audited if model.auditor is not None}
    if auditor is None and own:
        if len(own) > 1:
            raise InputError(
                "{estimator} has AuditedClassifiers with different auditors: {auditors}. Compare "
                "them by the same: pass {auditor}.",
                auditors=", ".join(own),
            )
        (auditor,) = own.values()
    models = {}
    for name, estimator in estimators.items():
        if isinstance(estimator, type) or not (
            has_method(estimator, "fit") and has_method(estimator, "predict")
        ):
            raise InputTypeError(
                "{estimator}{at} must be a classifier{more}; got {seen!r}.",
                at=f"[{name!r}]" if name else "",
                more="" if name else ", or a dict of classifiers by name",
                seen=estimator,
            )
        model = (
            clone(estimator)
            if isinstance(estimator, AuditedClassifier)
            else AuditedClassifier(clone(estimator))
        )
        models[name] = model.set_params(auditor=auditor)
    return models


def attribute_of(models: Any, X: Any, sensitive_features: Any) -> Any:
    """Return the sensitive feature that all models are audited by."""
    named = {repr(model.sensitive): model for model in models if model.sensitive is not None}
    if len(named) > 1:
        raise InputError(
            "{estimator} has AuditedClassifiers with different sensitive features: {names}. Name "
            "the same in all of them.",
            names=", ".join(named),
        )
    model = next(iter(named.values()), next(iter(models)))
    attribute = model._sensitive(X, sensitive_features, "fit", required=False)
    if attribute is None:
        raise InputError(
            "cross_audit needs the sensitive feature: pass {sensitive_features}, for example "
            "X['sex'], or an AuditedClassifier(..., sensitive='sex')."
        )
    return attribute


def _comparison(
    audited: dict[str, tuple[CrossAuditResult, Array]],
    pooled: ComparisonResult,
    auditor: Any,
    reference: str,
) -> CrossComparisonResult:
    """Compare the folds of every estimator with those of the reference."""
    audits = {model: audit for model, (audit, _) in audited.items()}
    before, halves_before = audits[reference].table["value"], audited[reference][1]
    changed = pooled.table.set_index("model")["changed"]
    rows, folds = [], []
    for model in pooled.table["model"]:
        audit = audits[model]
        table = audit.table[["repeat", "fold", "n_train", "n_test", "value", "published"]]
        table = table.assign(difference=table["value"] - before)
        table.insert(0, "model", model)
        folds.append(table)
        row = {"model": model, "changed": changed[model]}
        row |= {key: getattr(audit, key) for key in ("value", "published", "low", "high")}
        if model != reference:
            halves = audited[model][1] - halves_before
            level, judged = audit.confidence_level, pooled.judged(model)
            differences = over_samples(table, "difference", halves, level, judged)
            row |= dict(zip(DIFFERENCE, differences, strict=True))
        rows.append(row)
    compared = pd.DataFrame(rows, columns=CROSS_COLUMNS)
    compared["p_adjusted"] = adjust_p_values(compared["p_value"], auditor.adjust)
    return CrossComparisonResult(
        reference=reference,
        table=compared,
        folds=pd.concat(folds, ignore_index=True),
        pooled=pooled,
        audits=audits,
        confidence_level=auditor.confidence_level,
    )


# --------------------------------------------------------------------------- halves of the rows


def pairs_in(result: AuditResult) -> list[tuple[Any, Any]]:
    """Return the pairs of group and task of a result."""
    return [*zip(result.table["group"], result.table["task"], strict=True)]


def value_and_changes(result: AuditResult, pairs: list[tuple[Any, Any]]) -> Array:
    """Return the value of a result, and the change of each of these pairs; NaN if it has none."""
    table = result.table
    known = dict(zip(pairs_in(result), table["change"], strict=True)) if "change" in table else {}
    return np.array([result.value, *(known.get(pair, np.nan) for pair in pairs)], dtype=float)


class Halves:
    """Numbers by random halves of the rows, each as if it were the whole sample.

    A row moves a cross-validated number twice: as a test row, and as a training row. If a model is
    trained on half `a` and tested on half `b`, what `a` adds is V(a, b) + H(a) − H(b): H is the
    number of a half by models of the other splits, so that the test rows of V cancel. The
    numbers of `a` and of `b` are independent, as those of two samples of half the size.
    """

    def __init__(self, rows: LabelledRows, splits: list[Any], run: list[Repeat]) -> None:
        self.rows, self.splits, self.run = rows, splits, run
        self.predicted = {
            name: [_of_all_rows(name, *each) for each in zip(splits, run, strict=True)]
            for name in ("y_pred", "sensitive_pred")
        }

    def numbers(self, name: str, auditor: Any, pairs: list[tuple[Any, Any]]) -> Array:
        """Return the numbers of each half (splits × halves × numbers); NaN if not measured."""
        measured = np.full((len(self.splits), 2, 1 + len(pairs)), np.nan)
        whole = _without_interval(auditor)
        with collected():  # the folds say what is uncertain
            for split, (cut, (_, held_out)) in enumerate(zip(self.splits, self.run, strict=True)):
                of_rows = [
                    value_and_changes(whole.audit(**self._by_others(split, test)), pairs)
                    for _, test in cut
                ]
                for half, (model, given) in enumerate(held_out):
                    own = model.auditors_[name]
                    if not lacks(own, auditor.count_audited(**given)):
                        trained = value_and_changes(_without_interval(own).audit(**given), pairs)
                        # The model is trained on the half that the other one is tested on.
                        measured[split, half] = trained + of_rows[1 - half] - of_rows[half]
        return measured

    def _by_others(self, split: int, test: Array) -> dict[str, Any]:
        """Return rows with the predictions of each other split."""
        others = [other for other in range(len(self.splits)) if other != split]
        rows = self.rows.take(np.tile(test, len(others)))
        given: dict[str, Any] = dict.fromkeys(self.predicted)
        for name, every in self.predicted.items():
            if every[0] is not None:
                given[name] = np.concatenate([every[other][test] for other in others])
        labels = {"sensitive_features": rows.attribute, "sample_weight": rows.sample_weight}
        return {"y_true": rows.y, **labels, **given}


def _of_all_rows(name: str, cut: Any, repeat: Repeat) -> Any:
    """Return what two models predict for all rows."""
    parts = [given[name] for _, given in repeat.held_out]
    if any(part is None for part in parts):
        return None
    order = np.argsort(np.concatenate([test for _, test in cut]))
    return np.concatenate([np.asarray(part) for part in parts])[order]


def _without_interval(auditor: Any) -> Any:
    known = {"interval": None} if "interval" in auditor.get_params(deep=False) else {}
    return copy.copy(auditor).set_params(**known)


def spread_of(numbers: Array) -> tuple[Array, Array]:
    """Return the standard errors of numbers by those of halves, and their degrees of freedom.

    Splits that are not measured are left out; errors are NaN if none is measured.
    """
    each = (numbers[:, 0] - numbers[:, 1]) ** 2 / 4
    n = (~np.isnan(each)).sum(axis=0).astype(float)
    variance = np.divide(np.nansum(each, axis=0), n, out=np.full(n.shape, np.nan), where=n > 0)
    return np.sqrt(variance), n


# --------------------------------------------------------------------------- audits of folds


_OF_ALL = ("n", "sign", "direction_clear", "reliable")  # columns that are no means over folds
_OF_RUNS = ("n_runs", "between_run_sd", "data_standard_error", "degrees_of_freedom")
_MEASURED = ("value", "low", "high", "p_value", "published", "verdict")


def audit_of_folds(
    name: str,
    auditor: Any,
    splits: list[Any],
    run: list[Repeat],
    halves: Halves,
    declared: dict[str, Any],
) -> tuple[CrossAuditResult, Array]:
    """Audit every fold, all folds together, and what they say of models of other samples.

    Beside the report are the values by halves of the rows (splits × halves).
    """
    rows, folds, pooled, lacking = [], [], [], {}
    measured: list[AuditResult] = []
    for repeat, (cut, (fitted, held_out)) in enumerate(zip(splits, run, strict=True)):
        scores = {key[5:]: values for key, values in fitted.items() if key.startswith("test_")}
        counted = [auditor.count_audited(**given) for _, given in held_out]
        for fold, ((train, test), (model, given)) in enumerate(zip(cut, held_out, strict=True)):
            own = model.auditors_[name]
            at = f"fold {fold}" + f" of repeat {repeat}" * (len(run) > 1)
            lacking[at] = lacks(own, counted[fold])
            with collected() as raised:
                result: Any = None if lacking[at].startswith(TRAINING) else own.audit(**given)
            if not lacking[at]:
                # The pooled result says once which pairs are uncertain.
                raised.issue(UndefinedMetricWarning)
                measured.append(result)
            of_fold = None if lacking[at] else result
            folds.append(result)
            rows.append(
                {"repeat": repeat, "fold": fold, "n_train": len(train), "n_test": len(test)}
                | {key: getattr(of_fold, key, np.nan) for key in _MEASURED[:-1]}
                | {"verdict": getattr(of_fold, "verdict", NOT_MEASURED)}
                | {key: values[fold] for key, values in scores.items()}
            )
        # Contingencies add: all held-out rows are the sum of those of the folds.
        cells = sum(counted)
        pooled.append((folding.of_held_out(auditor, cut).audit(cells), cells, cut))
    folding.check_lacks(lacking)
    table = pd.DataFrame(rows)
    whole = pooled[0][0]
    if len(pooled) > 1:
        whole = mean_of_results(auditor, [result for result, *_ in pooled])
    mean = _mean_of_folds(auditor, measured, whole)
    numbers = halves.numbers(name, auditor, pairs_in(mean))
    level = auditor.confidence_level
    judged = over_samples(table, "value", numbers[:, :, 0], level, whole.judged)
    procedure = _procedure(auditor, mean, numbers, judged, n_folds=len(measured))
    _, cells, cut = pooled[0]
    verdict = folding.of_held_out(auditor, cut).verdict_for(cells, judged)
    low, high = procedure.table["low_simultaneous"], procedure.table["high_simultaneous"]
    # If all labels are equal, folds differ from the rest, and values lie above 0. So a difference
    # that is added is tested too.
    if verdict == ADDS and not ((low > 0) | (high < 0)).any():
        verdict = NO_EFFECT
    result = CrossAuditResult(
        {name: replace(procedure, verdict=verdict)},
        context=declared
        | {
            "n_samples": whole.n_samples,
            "n_train": round(table["n_train"].mean()),
            "n_models": len(folds) + 2 * len(halves.splits),
            **made_now(),
        },
        folds=folds,
        pooled=whole,
        table=table,
        predictions=[np.asarray(given["y_pred"]) for repeat in run for _, given in repeat.held_out],
    )
    return replace(result, findings=list(findings_of_training(result))), numbers[:, :, 0]


def _mean_of_folds(auditor: Any, measured: list[AuditResult], whole: AuditResult) -> AuditResult:
    """Return the mean of audits of folds, with the rows and directions of all of them."""
    if not measured:
        nothing: dict[str, Any] = dict.fromkeys(
            ("value", "low", "high", "p_value", "published"), np.nan
        )
        return replace(whole, **nothing)
    mean = measured[0] if len(measured) == 1 else mean_of_results(auditor, measured)
    of_all = whole.table.set_index(["group", "task"]).reindex(pairs_in(mean))
    names = [name for name in _OF_ALL if name in of_all and name in measured[0].table]
    columns = {name: of_all[name].to_numpy() for name in names}
    return replace(mean, table=mean.table.assign(**columns), n_samples=whole.n_samples)


def over_samples(
    table: pd.DataFrame, measure: str, numbers: Array, level: float, judged: Sequence[float]
) -> Mean:
    """Return the mean of a column over folds, with its interval over samples.

    `numbers` are those of halves (splits × halves). Without any, the folds tell how much they vary,
    at least as much as rows alone do: `judged` is the number of all rows with its interval.
    """
    error, df = spread_of(numbers)
    if not df > 0:
        _, low, high = judged
        of_rows = (high - low) / (2 * float(stats.norm.isf((1 - level) / 2)))
        rows = 0.0 if np.isnan(of_rows) else of_rows**2
        return Mean(*folding.over_folds(table, measure, level, rows=rows))
    value = float(table[measure].mean())
    return Mean(value, *map(float, interval(value, error, df, level)))


def _procedure(
    auditor: Any, mean: AuditResult, halves: Array, judged: Mean, *, n_folds: int
) -> AuditResult:
    """Return the result of the way of training: the mean over folds, and intervals over samples."""
    level = auditor.confidence_level
    numbers = value_and_changes(mean, pairs_in(mean))
    error, df = spread_of(halves)
    low, high, p_value = (part[1:] for part in interval(numbers, error, df, level))
    # All pairs at once: as if they were independent, which no correlation needs (Sidak).
    together = interval(numbers, error, df, level ** (1 / max(len(numbers) - 1, 1)))
    table = mean.table.assign(
        low=low,
        high=high,
        p_value=p_value,
        p_adjusted=adjust_p_values(p_value, auditor.adjust),
        low_simultaneous=together[0][1:],
        high_simultaneous=together[1][1:],
    )
    statistics = {name: number for name, number in mean.statistics.items() if name not in _OF_RUNS}
    if len(halves):
        statistics |= {"standard_error": float(error[0]), "degrees_of_freedom": float(df[0])}
    statistics["n_folds"] = n_folds
    return replace(
        mean,
        low=judged.low,
        high=judged.high,
        p_value=judged.p_value,
        confidence_level=level,
        published_low=math.nan,
        published_high=math.nan,
        table=table,
        statistics=statistics,
        estimand=express("tables", "of_samples"),
        null=express("tables", "null_of_samples"),
        words=None,
    )
