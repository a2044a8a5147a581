"""compare(): several models on the same rows, with every metric that the inputs allow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from skbiasamp._input.checks import check_models
from skbiasamp._input.errors import InputError
from skbiasamp._input.options import keywords
from skbiasamp._utils.docstrings import filling
from skbiasamp._utils.formatting import LIMITED
from skbiasamp._utils.warnings import collected
from skbiasamp.counts.contingency import Contingency
from skbiasamp.counts.merging import ordered
from skbiasamp.counts.parts import check_model, of_model, together
from skbiasamp.metrics.comparing import compare_runs, each_run, mean_of_models
from skbiasamp.metrics.directional import compares_tables
from skbiasamp.metrics.inputs import count_labels, opened_rows
from skbiasamp.metrics.score_order import check_class
from skbiasamp.report._groups import describe_groups, mean_change_interval, right_shares
from skbiasamp.report.request import (
    Request,
    allowed,
    context_of,
    described_files,
    read_training,
    readied,
    require_reference,
    run_each,
)
from skbiasamp.results import ComparisonReport, ComparisonResult
from skbiasamp.results.gate import Limit, gate_of


@keywords()
@filling
def compare(
    y_true: Any,
    y_preds: Any = None,
    *,
    sensitive_features: Any = None,
    sensitive_preds: Any = None,
    reference: str | None = None,
    y_train: Any = None,
    sensitive_train: Any = None,
    sample_weight: Any = None,
    clusters: Any = None,
    auditor: Any = None,
    groups: str = "intersection",
    missing: str = "error",
    min_rows: int | None = None,
    pos_label: Any = None,
    max_groups: int | None = None,
    threshold: float | None = None,
    random_state: Any = None,
    favourable: Any = None,
    limit: float | None = None,
    target: str | list[str] | None = None,
    prediction: Any = None,
    sensitive: str | list[str] | None = None,
    sensitive_prediction: dict[str, Any] | None = None,
    weight: str | None = None,
    cluster: str | None = None,
    data_name: str | None = None,
) -> ComparisonReport:
    """Compare several models on the same rows with every metric that the inputs allow.

    Use it to decide if a new model amplifies more than the old one. Both predict the same rows, so
    the interval of their difference is narrower than two separate intervals suggest. Models that
    generate rows of their own are compared with each other by how far each is from one reference.

    .. versionadded:: 0.1

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_tasks), Contingency, frame or path
        Labels of the audited rows. None: there are none; the metrics that can do so then compare
        predictions with the training labels. Or the predictions of an old model: then the metrics
        measure how far the new models move from it. Or a frame, query or path of files with all
        columns.
    y_preds : dict of str to array-like, frame, path or Contingency, default=None
        The predictions of each model, by its name. A list of arrays for each model: its runs, such
        as trainings with other seeds, whose means are compared. Without `y_true`, each model may
        have rows of its own, as generators do: a frame or path each, with `prediction` and
        `sensitive` naming columns; or arrays, with a dict of arrays as `sensitive_features` (and
        `clusters`, such as prompts). The reference is then `y_train`.
    %(sensitive_features)s
    sensitive_preds : dict of str to array-like, default=None
        The sensitive feature as predicted by each model. Adds direction T->A (task → group: does
        the task shift the predicted group?).
    reference : str, default=None
        Name of the model that the others are compared with. None: the first.
    y_train : array-like, Contingency, frame or path, default=None
        Labels of the training rows; they give the training correlations. None: the audited labels
        give them.
    sensitive_train : array-like, default=None
        The sensitive feature of the training rows, if `y_train` holds labels and not a frame.
    %(sample_weight)s
    %(clusters)s
    auditor : auditor or list of auditors, default=None
        The metrics to run. None: all that the inputs allow.
    %(groups)s
    %(missing)s
    min_rows : int, default=None
        Groups of fewer rows in training (without it, of those that are audited) are one group
        together: "other (3 groups)". None: every group stays.
    %(pos_label)s
    max_groups : int, default=None
        Largest number of groups allowed; more groups raise an error. None: 100, or 20 if groups
        have fewer than 20 rows on average.
    %(threshold)s
    random_state : int, RandomState, Generator or None, default=None
        Seed or generator for auditors that have no `random_state` of their own.
    favourable : label or list of labels, default=None
        The class that people want, such as "paid", or the tasks that they want; of numbers, the
        one of which more is better, or "less". None: unknown.
    limit : float, default=None
        The smallest effect that matters, in the unit of the metric: whether each model lies within
        it is in `limit_verdicts`. Declare it before you look.
    target, sensitive, weight, cluster : column name or list of names
        Columns of labels, sensitive features, weights and clusters, if `y_true` is a frame or a
        path. Without `target` the audited rows have no labels: pass `y_train` as a Contingency.
    prediction, sensitive_prediction : dict of str to column name, or column name
        Columns with the predictions of each model: ``{"champion": "p0", "challenger": "p1"}``. One
        name if each model has rows of its own.
    data_name : str, default=None
        Name of the data, for the title of the report.

    Returns
    -------
    report : ComparisonReport

    See Also
    --------
    skbiasamp.audit : Audit one model.

    Examples
    --------
    >>> import skbiasamp
    >>> sex = ["f"] * 400 + ["m"] * 400
    >>> hired = [1] * 100 + [0] * 300 + [1] * 200 + [0] * 200
    >>> old = [1] * 90 + [0] * 310 + [1] * 210 + [0] * 190
    >>> new = [1] * 60 + [0] * 340 + [1] * 250 + [0] * 150
    >>> report = skbiasamp.compare(
    ...     hired, {"old": old, "new": new}, sensitive_features=sex, random_state=0
    ... )
    >>> report.summary[["metric", "verdict"]]
                 metric         verdict
    0  directional A->T  amplifies more
    1              MALS  amplifies more
    2           leakage    reveals more
    3          DPA A->T    reveals more
    """
    asked = Request(
        compare,
        y_true,
        y_preds=y_preds,
        sensitive_features=sensitive_features,
        sensitive_preds=sensitive_preds,
        reference=reference,
        y_train=y_train,
        sensitive_train=sensitive_train,
        sample_weight=sample_weight,
        clusters=clusters,
        auditor=auditor,
        groups=groups,
        missing=missing,
        min_rows=min_rows,
        pos_label=pos_label,
        max_groups=max_groups,
        threshold=threshold,
        random_state=random_state,
        favourable=favourable,
        limit=limit,
        target=target,
        prediction=prediction,
        sensitive=sensitive,
        sensitive_prediction=sensitive_prediction,
        weight=weight,
        cluster=cluster,
        data_name=data_name,
    )
    asked.refuse()
    with asked.renaming():
        return _compare(asked)


def _compare(asked: Request) -> ComparisonReport:
    """Read the rows that were asked for, and compare the models."""
    y_true, y_preds, columns, how = asked.y_true, asked.y_preds, asked.columns, asked.how
    asked.check_columns()
    train, training_files = read_training(asked.y_train, asked.sensitive_train, columns, how)
    if y_true is None and isinstance(y_preds, Mapping):
        counted = all(isinstance(own, Contingency) for own in y_preds.values())
        if columns or counted or isinstance(asked.sensitive_features, Mapping):
            return _of_own_rows(asked, train, training_files)
    runs: dict[str, list[str]] = {}
    data = asked.data
    if not (columns or isinstance(y_true, Contingency)):
        models = {"y_preds": y_preds, "sensitive_preds": asked.sensitive_preds}
        runs, data = each_run(y_true, data | models)
    with opened_rows(y_true, columns) as (rows, audited_files):
        cells = ordered(count_labels(rows, data, columns, like=train, **how))
    if asked.reads == "labels":
        check_class(cells)
    first, results = _compared(cells, train, asked, runs)
    each = {model: of_model(cells, model) for model in cells.models}
    are_labels, favourable = asked.reads == "labels", asked.favourable
    accuracy, rates = _described(
        each, runs[first][0] if runs else first, labels=are_labels, favourable=favourable
    )
    if runs:
        accuracy, rates = (_means_of_runs(table, runs, first) for table in (accuracy, rates))
        each = {model: together(cells, names) for model, names in runs.items()}
    context = context_of(cells, train, asked.names, asked.call, reads=asked.reads)
    files = described_files(audited_files, training_files)
    if asked.reads == "labels" and any(own.soft("task_pred") for own in each.values()):
        context["probabilities"] = True
    if runs:
        context["n_runs"] = len(cells.models)
    report = ComparisonReport(results, accuracy, rates, context, files)
    return _with_declared(report, each, train, asked)


def _with_declared(
    report: ComparisonReport, each: Mapping[str, Contingency], train: Any, asked: Request
) -> ComparisonReport:
    """Return a report with what the user declared: the favourable class, and a limit."""
    rows = next(iter(each.values()))
    report.context.update(asked.declared(rows))
    if asked.limit is None:
        return report
    report.context["limit"] = Limit.checked(asked.limit, one_sided=False).size
    # Whether the value of each model lies within the limit, by the primary metric.
    chosen = allowed(of_model(rows, rows.models[0]) if rows.models else rows)
    chosen = chosen if asked.own is None else asked.own
    auditor = chosen[[*report.results].index(report.primary)]
    verdicts = report.context["limit_verdicts"] = {}
    for model, rows in each.items():
        with collected():
            ready = readied(auditor, train, asked.random_state)
            if rows.models:
                result = mean_of_models(ready, ready.count_models(rows, {}))
            else:
                result = ready.audit(rows)
        (check,) = gate_of({model: result}, asked.limit, on=None, one_sided=False).checks
        verdicts[model] = LIMITED.get(check.outcome, check.verdict)
    return report


def _compared(
    cells: Contingency, train: Contingency | None, asked: Request, runs: Mapping[str, list[str]]
) -> tuple[str, dict[str, ComparisonResult]]:
    """Return the reference, and the comparisons by each auditor, of models or of their `runs`."""
    models = tuple(runs) or cells.models
    if not models:
        raise InputError(
            "{y_true} holds the predictions of one model. Pass those of two or more, by name."
        )
    reference = models[0] if asked.reference is None else asked.reference
    first = check_model(reference, models, "reference")
    reference_rows = of_model(cells, runs[first][0] if runs else first)
    require_reference(reference_rows, train, asked.own)
    chosen = allowed(reference_rows) if asked.own is None else asked.own
    every = [(auditor, train, cells, "") for auditor in chosen]

    def measured(auditor: Any, rows: Contingency) -> Any:
        if runs:
            rows = auditor.count_models(rows, {})
            return compare_runs(auditor._for_models(rows), rows, first, runs)
        return auditor.compare(rows, reference=first)

    return first, run_each("comparison", every, asked.random_state, measured)


def _means_of_runs(
    table: pd.DataFrame, runs: Mapping[str, list[str]], reference: str
) -> pd.DataFrame:
    """Return the rows of procedures, the `reference` first: means over the rows of their runs.

    Numbers have no intervals: those of a run do not say how runs differ.
    """
    if table.empty:
        return table
    means = []
    for model in (reference, *(model for model in runs if model != reference)):
        own = [table[table["model"] == run].reset_index(drop=True) for run in runs[model]]
        numbers = own[0].select_dtypes("number").columns
        ends = [name for name in numbers if name.endswith(("_low", "_high"))]
        mean = own[0].assign(model=model, **dict.fromkeys(ends, np.nan))
        for name in numbers.difference([*ends, "task", "group"]):
            mean[name] = np.mean([run[name] for run in own], axis=0)
        means.append(mean)
    table = pd.concat(means, ignore_index=True)
    if "difference" in table:
        table["difference"] = table["accuracy"] - table["accuracy"][0]
    return table


def _described(
    cells: dict[str, Contingency], reference: str, *, labels: bool, favourable: Any
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the accuracy of each model, and its rates by group and task."""
    models = [reference, *(model for model in cells if model != reference)]
    rows, tables = [], []
    for model in models:
        by_group, rates = describe_groups(cells[model], labels=labels, favourable=favourable)
        rates.insert(0, "model", model)
        tables.append(rates)
        n, right = by_group["n"], by_group.get("accuracy", pd.Series(np.nan, by_group.index))
        rows.append({"model": model, "accuracy": float((n * right).sum(min_count=1) / n.sum())})
    accuracy = pd.DataFrame(rows)
    accuracy["difference"] = accuracy["accuracy"] - accuracy["accuracy"][0]
    first = cells[reference]
    if accuracy["difference"].notna().all() and first.summed != "tasks":
        right_rows = [right_shares(cells[model]) for model in models]
        ends = [mean_change_interval(first, right - right_rows[0]) for right in right_rows[1:]]
        accuracy[["difference_low", "difference_high"]] = [(np.nan, np.nan), *ends]
    return accuracy, pd.concat(tables, ignore_index=True)


# --------------------------------------------------------------------------- rows of their own


def _of_own_rows(asked: Request, train: Contingency | None, files: Any) -> ComparisonReport:
    """Return the report of models with rows of their own, in place of those that all share."""
    tables = _count_tables(asked, train)
    first = check_model(asked.reference or next(iter(tables)), tuple(tables), "reference")
    able = [auditor for auditor in allowed(tables[first]) if compares_tables(auditor)]
    if not able:
        raise InputError(
            "Models with rows of their own are compared by their predictions alone, and these "
            "rows have labels too. Leave {target} out, or pass the labels of rows that all models "
            "share as {y_true}."
        )
    for auditor in asked.own or ():
        if not compares_tables(auditor):
            text = (
                "Models with rows of their own are compared by metrics of rates in each group, "
                "with those of training rows as base, such as {auditor}={able!r}; got {seen!r}."
            )
            raise InputError(text, able=able[0], seen=auditor)
    every = [(auditor, train, tables[first], "") for auditor in asked.own or able]
    results: dict[str, ComparisonResult] = run_each(
        "comparison", every, asked.random_state, lambda own, _: own.compare_tables(tables, first)
    )
    accuracy, rates = _described(tables, first, labels=True, favourable=asked.favourable)
    n, n_groups = sum(cells.total for cells in tables.values()), len(tables[first].groups)
    context = context_of(tables[first], train, asked.names, asked.call)
    context["rows"] = f"{n:,.15g} rows of {len(tables)} models, {n_groups} groups"
    context |= {"n_samples": n, "labelled": False, "own_rows": True}
    report = ComparisonReport(results, accuracy, rates, context, files)
    return _with_declared(report, tables, train, asked)


def _count_tables(asked: Request, train: Contingency | None) -> dict[str, Contingency]:
    """Return the rows of each model, counted; labels are those of each model by its name."""
    check_models({"y_preds": asked.y_preds})
    if asked.sensitive_preds is not None:
        text = "{name} needs models that predict the same rows, and each has its own."
        raise InputError(text, name="sensitive_preds")
    if train is None:
        raise InputError("Models with rows of their own are compared with others: pass {y_train}.")
    given = {name: own for name, own in asked.of_rows.items() if own is not None}
    for name, own in given.items():
        if not isinstance(own, Mapping) or set(own) != set(asked.y_preds):
            text = "{name} must be a dict of all models in {y_preds}, since each has its own rows."
            raise InputError(text, name=name)
    tables = {}
    for model, rows in asked.y_preds.items():
        own = dict.fromkeys(asked.of_rows) | {name: of[model] for name, of in given.items()}
        if not (asked.columns or isinstance(rows, Contingency)):
            own, rows = {**own, "y_pred": rows}, None
        tables[model] = ordered(count_labels(rows, own, asked.columns, like=train, **asked.how))
    return tables
