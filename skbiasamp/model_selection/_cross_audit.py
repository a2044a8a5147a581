"""Audits over the folds of a cross-validation, and comparisons of estimators on the same folds."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import Any

import pandas as pd
from sklearn.base import clone
from sklearn.utils import check_random_state

from skbiasamp._input.checks import Array, check_models
from skbiasamp._input.errors import InputError, InputTypeError
from skbiasamp._input.options import keywords
from skbiasamp._utils.compat import N_JOBS, Interval, StrOptions, has_method, validate_params
from skbiasamp._utils.formatting import printable
from skbiasamp._utils.progress import follow, progress, without_callbacks
from skbiasamp.compose.audited import AuditedClassifier, named_auditors
from skbiasamp.counts.several_models import check_model
from skbiasamp.inference import adjust_p_values
from skbiasamp.model_selection._fold_audits import (
    Halves,
    audit_of_folds,
    cut_in_halves,
    over_samples,
)
from skbiasamp.model_selection.folds import (
    STRATIFY,
    are_partition,
    fitted_auditor,
    fold_strata,
    of_held_out,
    pooled_comparison,
    run_folds,
    seeded_clone,
    splits_of,
)
from skbiasamp.model_selection.row_classifier import LabelledRows
from skbiasamp.results import (
    MODEL_COLUMNS,
    ComparisonResult,
    CrossAuditResult,
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
    “linear” amplifies more than “tree”. The gap goes from 11.5 to 24.2 percentage points. Allowing
    for chance, the gap grows by 4.8 to 20.8 percentage points.
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
        "stratify": [StrOptions(set(STRATIFY))],
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
    strata = fold_strata(stratify, y, attribute)
    rng = check_random_state(random_state)
    cv = list(cv) if isinstance(cv, Iterator) else cv  # for all repeats
    splits = [splits_of(cv, X, strata, groups, rng) for _ in range(n_repeats)]
    own = check_random_state(copy.deepcopy(rng).randint(2**31 - 1))
    # If folds test a row twice or never, halves say nothing of their mean.
    useful = all(are_partition(cut, len(strata)) for cut in splits)
    halves = cut_in_halves(n_halvings if useful else 0, X, strata, groups, own)
    named = named_auditors(next(iter(models.values())))
    auditors = [[seeded_clone(template, rng) for template in named.values()] for _ in splits]
    auditors += [[seeded_clone(template, own) for template in named.values()] for _ in halves]
    rows = LabelledRows(X, y, attribute, sample_weight)
    how: dict[str, Any] = {"scoring": scoring, "params": params, "n_jobs": n_jobs}
    cuts = [*splits, *halves]
    with progress("cross-validation of models", len(models)) as step:
        runs, trained = {}, {}
        for name, model in models.items():
            try:
                same = copy.deepcopy(rng)  # the same draws for all
                bare = clone(model).set_params(estimator=without_callbacks(model.estimator))
                train = partial(run_folds, bare, rows, cuts, auditors, same, **how)
                run = follow("cross_audit", model.estimator, len(cuts), train)
            except Exception as error:
                if several:
                    error.add_note(f"This happened to the estimator {name!r}.")
                raise
            runs[name], of_halves = run[: len(splits)], run[len(splits) :]
            trained[name] = Halves(rows, halves, of_halves)
            step.advance()
        target = getattr(y, "name", None)
        declared = {"target": target} if isinstance(target, str) else {}
        results: dict[str, Any] = {}
        for name, template in named.items():
            whole = fitted_auditor(template, rng, y, attribute, sample_weight)
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
            pooled = pooled_comparison(of_held_out(whole, splits[0]), held_out, reference)
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


_DIFFERENCE = ("difference", "difference_low", "difference_high", "p_value")


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
            row |= dict(zip(_DIFFERENCE, differences, strict=True))
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
