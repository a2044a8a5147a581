"""audit() and compare(): every metric that the inputs allow, in one call."""

from __future__ import annotations

from collections.abc import Sized
from dataclasses import replace
from os import PathLike
from typing import Any, Literal

from skbiasamp._input.checks import MISSING_POLICIES
from skbiasamp._input.errors import InputError, InputTypeError
from skbiasamp._input.options import keywords
from skbiasamp._utils.docstrings import filling
from skbiasamp._utils.progress import give_back_memory
from skbiasamp.counts.contingency import Contingency
from skbiasamp.counts.frames import n_rows, names_of
from skbiasamp.counts.merging import ordered
from skbiasamp.metrics.inputs import count_labels, opened_rows
from skbiasamp.report._compare import compare
from skbiasamp.report._groups import (
    audit_columns,
    describe_groups,
    requests_by_column,
    selection_table,
    threshold_tables,
    with_columns,
)
from skbiasamp.report._selection_rates import selection_rates
from skbiasamp.report.checks import Audited, findings_of
from skbiasamp.report.explain import are_chances, explained, scored_rows
from skbiasamp.report.request import (
    Request,
    allowed,
    context_of,
    described_files,
    not_measured,
    read_training,
    readied,
    require_reference,
    run_each,
)
from skbiasamp.report.strata import RowSource, without_strata
from skbiasamp.report.unknown import Everyone, everyone_of, unknown_of
from skbiasamp.results import AuditReport, AuditResult
from skbiasamp.results.gate import Limit

__all__ = ["audit", "audit_frame", "compare", "described_files", "selection_rates"]

_POLICIES = (*MISSING_POLICIES, "bounds")


@keywords(frames="skbiasamp.audit_frame")
@filling
def audit(
    y_true: Any,
    y_pred: Any = None,
    *,
    sensitive_features: Any = None,
    sensitive_pred: Any = None,
    y_score: Any = None,
    y_train: Any = None,
    sensitive_train: Any = None,
    sample_weight: Any = None,
    clusters: Any = None,
    given: Any = None,
    auditor: Any = None,
    pos_label: Any = None,
    favourable: Any = None,
    limit: float | None = None,
    groups: Literal["intersection", "marginal", "indicator"] = "intersection",
    missing: Literal["error", "drop", "group", "bounds"] = "error",
    min_rows: int | None = None,
    max_groups: int | None = None,
    random_state: Any = None,
) -> AuditReport:
    """Audit the predictions of a model for bias amplification, with every metric that applies.

    The report opens with the verdict of its primary metric. This is directional A->T (group →
    task: does the group shift the predicted task?), or leakage or DPA if the labels are balanced.

    .. versionadded:: 0.1

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_tasks), or Contingency
        Labels of the audited rows. None: there are none, as of generated rows; the metrics that can
        do so then compare predictions with the training labels. A `Contingency` holds predictions
        and groups too. Data frames, files and queries go to `skbiasamp.audit_frame`.
    y_pred : array-like, default=None
        Predicted labels or probabilities.
    %(sensitive_features)s
    sensitive_pred : array-like, default=None
        The sensitive feature as predicted by the model. Adds direction T->A (task → group: does
        the task shift the predicted group?).
    y_score : array-like, default=None
        Scores behind the predictions, such as logits or an embedding. Adds leakage of the scores.
        Probabilities of the tasks add how much they amplify, and how much turning them into
        decisions adds.
    y_train : array-like or Contingency, default=None
        Labels of the training rows; they give the training correlations. None: the audited labels
        give them.
    sensitive_train : array-like, default=None
        The sensitive feature of the training rows, if `y_train` holds labels.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights. A whole number counts as that many rows, so divide sampling weights by their
        mean.
    %(clusters)s
    given : array-like, default=None
        One column or several whose values make strata, such as department or prior counts. Adds
        how much each stratum contributes, and the amplification within strata: see
        `skbiasamp.explain`. Of a `Contingency`: names of columns.
    auditor : auditor or list of auditors, default=None
        The metrics to run. None: all that the inputs allow. A fitted auditor keeps its training
        labels if `y_train` is None.
    pos_label : label, default=None
        The class of a binary label that is the task. Probabilities and scores in one column belong
        to it. None: the class that sorts last.
    favourable : label or list of labels, default=None
        The class that people want, such as "paid", or the tasks that they want. Impact ratios
        compare how often it is predicted. None: the positive class, and every task. Of numbers,
        the one of which more is better, or "less".
    limit : float, default=None
        The smallest effect that matters, in the unit of the metric. The verdict then says whether
        the effect lies within ±limit; declare it before you look. None: 0 is the only limit.
    %(groups)s
    missing : {"error", "drop", "group", "bounds"}, default="error"
        How rows with a missing sensitive feature are handled. "error": raise. "drop": leave them
        out and count them. "group": make them a group of their own. "bounds": leave them out, and
        say what rates, impact ratios and the value could be if they belonged to any of the groups.
        Except for "error", `report.unknown` says whether the verdict depends on them.
    min_rows : int, default=None
        Groups of fewer rows in training (without it, of those that are audited) are one group
        together: "other (3 groups)". None: every group stays.
    max_groups : int, default=None
        Largest number of groups allowed; more groups raise an error. None: 100, or 20 if groups
        have fewer than 20 rows on average. More look like an identifier or a number that was not
        binned.
    random_state : int, RandomState, Generator or None, default=None
        Seed or generator for auditors that have no `random_state` of their own.

    Returns
    -------
    report : AuditReport

    See Also
    --------
    skbiasamp.audit_frame : The same for data frames, files and queries.
    skbiasamp.compare : Audit several models on the same rows.
    skbiasamp.cross_audit : Audit how models are trained: with the estimator, other training samples
        count too. The verdict of `audit` is about the fitted model alone.

    Examples
    --------
    >>> import skbiasamp
    >>> sex = ["f"] * 400 + ["m"] * 400
    >>> cooks = [1] * 300 + [0] * 100 + [1] * 100 + [0] * 300
    >>> predicted = [1] * 340 + [0] * 60 + [1] * 70 + [0] * 330
    >>> report = skbiasamp.audit(cooks, predicted, sensitive_features=sex, random_state=0)
    >>> round(report["directional A->T"].value, 4)
    0.0875
    >>> print(report.verdict)
    The model widens the gap between f and m. The gap is 50.0 percentage points in the labels, and
    67.5 in the predictions. Allowing for chance, the model adds 13.5 to 21.5 percentage points.
    """
    asked = Request(
        audit,
        y_true,
        y_pred,
        sensitive_features=sensitive_features,
        sensitive_pred=sensitive_pred,
        y_score=y_score,
        y_train=y_train,
        sensitive_train=sensitive_train,
        sample_weight=sample_weight,
        clusters=clusters,
        given=given,
        auditor=auditor,
        pos_label=pos_label,
        favourable=favourable,
        limit=limit,
        groups=groups,
        missing=missing,
        policies=_POLICIES,
        min_rows=min_rows,
        max_groups=max_groups,
        random_state=random_state,
    )
    columns = getattr(y_true, "columns", None)
    is_frame = isinstance(y_true, str | PathLike) or (columns is not None and len(columns) > 1)
    if not isinstance(y_true, Contingency) and sensitive_features is None and is_frame:
        raise InputTypeError(
            "{y_true} is a table: name its columns in skbiasamp.audit_frame(frame, target=..., "
            "prediction=..., sensitive=...). Or pass {sensitive_features} beside labels."
        )
    asked.refuse("y_score", "given")
    return _audited(asked)


@keywords()
@filling
def audit_frame(
    frame: Any,
    *,
    target: str | list[str] | None = None,
    prediction: str | list[str] | None = None,
    sensitive: str | list[str] | None = None,
    sensitive_prediction: str | list[str] | None = None,
    score: str | list[str] | None = None,
    weight: str | None = None,
    cluster: str | None = None,
    given: str | list[str] | None = None,
    train: Any = None,
    auditor: Any = None,
    pos_label: Any = None,
    favourable: Any = None,
    limit: float | None = None,
    groups: Literal["intersection", "marginal", "indicator"] = "intersection",
    missing: Literal["error", "drop", "group", "bounds"] = "error",
    min_rows: int | None = None,
    max_groups: int | None = None,
    threshold: float | None = None,
    random_state: Any = None,
) -> AuditReport:
    """Audit the predictions in a data frame, in files or in a query, as `skbiasamp.audit` does.

    .. versionadded:: 0.3

    Parameters
    ----------
    frame : data frame, lazy frame, query or path
        The audited rows. Of files the path: CSV or Parquet (``"part-*.parquet"``, or a list);
        DuckDB or polars counts their rows if there are more than a million.
    target : column name or list of names, default=None
        Labels; several are 0/1 columns. None: the rows have no labels, and those of `train` are in
        the columns that `prediction` names.
    prediction : column name or list of names, default=None
        Predicted labels or probabilities.
    sensitive : column name or list of names
        The sensitive feature, or several.
    sensitive_prediction : column name or list of names, default=None
        The sensitive feature as predicted by the model.
    score : column name or list of names, default=None
        Probabilities behind the predictions.
    weight : column name, default=None
        Weights. A whole number counts as that many rows.
    cluster : column name, default=None
        One id per row: rows of one person, image or family share it.
    given : column name or list of names, default=None
        Columns whose values make strata.
    train : data frame, lazy frame, query, path or Contingency, default=None
        The training rows, with the same columns: their labels give the directions.
    auditor, pos_label, favourable, limit, groups, missing, min_rows, max_groups, random_state
        As for `skbiasamp.audit`.
    %(threshold)s

    Returns
    -------
    report : AuditReport

    See Also
    --------
    skbiasamp.audit : The same for arrays.

    Examples
    --------
    >>> import pandas as pd
    >>> import skbiasamp
    >>> people = pd.DataFrame({"sex": ["f"] * 400 + ["m"] * 400})
    >>> people["cooks"] = [1] * 300 + [0] * 100 + [1] * 100 + [0] * 300
    >>> people["predicted"] = [1] * 340 + [0] * 60 + [1] * 70 + [0] * 330
    >>> report = skbiasamp.audit_frame(
    ...     people, target="cooks", prediction="predicted", sensitive="sex", random_state=0
    ... )
    >>> round(report["directional A->T"].value, 4)
    0.0875
    """
    asked = Request(
        audit_frame,
        frame,
        target=target,
        prediction=prediction,
        sensitive=sensitive,
        sensitive_prediction=sensitive_prediction,
        score=score,
        weight=weight,
        cluster=cluster,
        given=given,
        y_train=train,
        auditor=auditor,
        pos_label=pos_label,
        favourable=favourable,
        limit=limit,
        groups=groups,
        missing=missing,
        policies=_POLICIES,
        min_rows=min_rows,
        max_groups=max_groups,
        threshold=threshold,
        random_state=random_state,
    )
    asked.refuse("score", "given")
    with asked.renaming():
        return _audited(asked)


def _audited(asked: Request) -> AuditReport:
    """Read and measure the rows that were asked for, and each column if it stands on its own."""
    asked.check_columns()
    alone = requests_by_column(asked)
    if not alone:
        return _measured(asked)
    # Groups that overlap have no strata, and their scores no parts: those of each column have.
    whole = _measured(replace(asked, given=None, score=None, attributions=None))
    whole.context["call"] = asked.call
    columns = {}
    for name, own in alone.items():
        with own.renaming():
            columns[name] = _measured(own)
    return with_columns(whole, columns)


def _measured(asked: Request) -> AuditReport:
    """Return the report of groups that were asked for."""
    bounds = asked.missing == "bounds"
    y_true, y_score, given, own = asked.y_true, asked.y_score, asked.given, asked.own
    how, columns, random_state = asked.how, asked.columns, asked.random_state
    source = RowSource(y_true, asked.of_rows | {"y_pred": asked.y_pred}, columns, how)
    if given is not None and isinstance(y_true, Contingency):
        y_true = without_strata(y_true, tuple(names_of(given)))
    train, training_files = read_training(asked.y_train, asked.sensitive_train, columns, how)
    in_parts = any(value is not None for value in (given, asked.attributions, asked.score))
    with opened_rows(y_true, columns) as (rows, audited_files):
        # Parts of a value are of rows that are kept apart, and so is the value.
        kept_apart = {"joint": in_parts or None}
        test = count_labels(rows, asked.data, columns, like=train, engine=kept_apart, **how)
        weights = asked.sample_weight
        n_weights = len(weights) if isinstance(weights, Sized) else None
        if "weight" in columns and test.whole:  # an engine runs the query again
            n_weights = n_rows(rows)
    every = everyone_of(source, test, asked=bounds) if asked.reads == "labels" else None
    if every is not None and bounds:
        test = every.test
    if bounds and isinstance(asked.y_true, Contingency) and every is None and test.n_dropped:
        raise InputError(
            "{missing='bounds'} needs the rows without a group, and this Contingency has left them "
            "out. Count them with missing='group'."
        )
    _check_rows(test, train, asked)
    if own is None or asked.score is not None:
        source, given, y_score = scored_rows(source, given, (asked.score, y_score), test)
    scored = None
    if y_score is not None:
        with_scores = source.labels | {"y_score": y_score}
        scored = count_labels(source.y_true, with_scores, {}, scores=True, **source.how)
        if scored.whole:  # so that sums are exact; attackers need the order, and one copy is enough
            scored = ordered(scored)
    # Auditors with their training and audited rows, and what the names of their results end with.
    chosen = [(each, train, test, "") for each in (allowed(test) if own is None else own)]
    if own is None and scored is not None:
        of_scores = allowed(scored, scores=True)
        chosen += [(each, None, scored, " of scores") for each in of_scores]
    results: dict[str, AuditResult] = run_each(
        "audit", chosen, random_state, lambda auditor, rows: auditor.audit(rows)
    )
    if scored is not None:
        scored._forget()  # as many cells as rows, in order, which nothing below asks for
    tables = _tables_of_groups(asked, test, chosen, every)
    chances = y_score if source.how["threshold"] is None and are_chances(y_score, test) else None
    if in_parts or chances is not None:
        scores = asked.score if y_score is None else chances
        of_parts = (given, scores, asked.attributions, random_state, asked.call)
        tables["explanation"] = explained(source, train, *of_parts)
        give_back_memory(test.total)
    if scored is not None and own is None:
        tables |= threshold_tables(source, y_score, test, scored, train)
    context = context_of(test, train, asked.names, asked.call, reads=asked.reads)
    context |= _declared(asked, test)
    context["not_measured"] = not_measured(test, scored, chosen=bool(own), reads=asked.reads)
    files = described_files(audited_files, training_files)
    report = AuditReport(results, context=context, data_files=files, **tables)
    if every is not None and report.primary is not None:
        auditor, learned, *_ = chosen[[*results].index(report.primary)]
        auditor = readied(auditor, learned, random_state)
        report = replace(report, unknown=unknown_of(every, auditor, results[report.primary]))
    if report.limit is not None and report.primary is not None:
        report.gate(report.limit, on=report.primary)  # raises if the limit is none of this metric
    audited = Audited(report, test, train, scored, n_weights, asked.reads, bool(columns))
    report.findings.extend(findings_of(audited))
    return report


def _tables_of_groups(
    asked: Request, test: Contingency, chosen: list[Any], every: Everyone | None
) -> dict[str, Any]:
    """Return the tables of a report about groups, by their names."""
    are_labels, favourable = asked.reads == "labels", asked.favourable
    every = every if asked.missing == "bounds" else None
    groups, rates = describe_groups(test, labels=are_labels, favourable=favourable, every=every)
    tables: dict[str, Any] = {"groups": groups, "rates": rates}
    # With one sensitive column, `rates` already holds these numbers.
    if are_labels and test.has("task_pred") and isinstance(test.groups[0], tuple):
        tables["selection"] = selection_table(test, favourable=favourable)
        tables["by_column"] = audit_columns([] if asked.own else chosen, test, asked.random_state)
    return tables


def _declared(asked: Request, test: Contingency) -> dict[str, Any]:
    """Return what the user declared of the rows, as the report's context holds it."""
    declared = asked.declared(test)
    if asked.reads == "labels" and not test.has("task"):
        declared["labelled"] = False
    if asked.limit is not None:
        declared["limit"] = Limit.checked(asked.limit, one_sided=False).size
    return declared


def _check_rows(test: Contingency, train: Contingency | None, asked: Request) -> None:
    """Raise if there is nothing to audit, or nothing to compare it with."""
    require_reference(test, train, asked.own)
    if not (test.has("task_pred") or test.has("group_pred") or asked.y_score is not None):
        raise InputError(
            "There is nothing to audit: pass predictions as {y_pred} (of a frame, name their "
            "column: prediction=), the predicted sensitive feature as {sensitive_pred}, or scores "
            "as {y_score}."
        )
    if asked.threshold is not None and not test.has("task_pred"):
        raise InputError("{threshold} turns scores into predicted labels: pass them as {y_pred}.")
