"""compare(): several models on the same rows, with every metric that the inputs allow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from skbiasamp._cells import ordered
from skbiasamp._input import InputError, check_frame_columns, require_groups, speaking
from skbiasamp._models import check_model, check_models, models_of, of_model
from skbiasamp._warnings import collected
from skbiasamp.contingency import Contingency, is_contingency
from skbiasamp.metrics._reading import count_labels, opened_rows, read_train
from skbiasamp.report._auditors import allowed, checked, named, readied
from skbiasamp.report._evidence import call_of, context_of, described_files
from skbiasamp.report._groups import describe_groups
from skbiasamp.results import ComparisonReport, ComparisonResult


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
    auditors: Any = None,
    groups: str = "intersection",
    missing: str = "error",
    pos_label: Any = None,
    random_state: Any = None,
    target: str | list[str] | None = None,
    prediction: dict[str, Any] | None = None,
    sensitive: str | list[str] | None = None,
    sensitive_prediction: dict[str, Any] | None = None,
    weight: str | None = None,
    data_name: str | None = None,
) -> ComparisonReport:
    """Compare several models on the same rows with every metric that the inputs allow.

    Is the new model worse than the old one? Both predict the same rows, so their difference is
    known better than two separate intervals suggest: what they have in common cancels.

    .. versionadded:: 0.1

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_tasks), Contingency, frame or path
        Labels of the audited rows; or the predictions of an old model if there are no labels: then
        the question is how far new models move from it. A frame, query or path of files has
        everything, and options name its columns.
    y_preds : dict of array-like
        The predictions of each model, by its name.
    sensitive_features : array-like of shape (n_samples,) or (n_samples, n_features)
        The sensitive feature, or several.
    sensitive_preds : dict of array-like, default=None
        The sensitive feature as each model predicts it: adds task → group (T→A).
    reference : str, default=None
        The model that the others are compared with. None: the first.
    y_train : array-like or Contingency, default=None
        Labels that the models were trained on: signs then come from there.
    sensitive_train : array-like, default=None
        The sensitive feature of these.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights. A whole number counts as that many rows.
    auditors : auditor or list of auditors, default=None
        Which to run. None: those that the inputs allow.
    groups : {"intersection", "marginal", "indicator"}, default="intersection"
        How several columns of `sensitive_features` make groups.
    missing : {"error", "drop", "group"}, default="error"
        How rows with a missing sensitive feature are handled: "error" raises, "drop" leaves them
        out and reports how many, "group" makes them a group of their own.
    pos_label : class, default=None
        Which of two classes is the positive one. None: the class that sorts last.
    random_state : int, RandomState, Generator or None, default=None
        Where random numbers come from, for auditors that have none of their own.
    target, sensitive, weight : column name or list of names
        Where labels, groups and weights are if `y_true` is a frame or a path.
    prediction, sensitive_prediction : dict of column names
        Where the predictions of each model are: ``{"champion": "p0", "challenger": "p1"}``.
    data_name : str, default=None
        Name of the data, for the title of the report.

    Returns
    -------
    report : ComparisonReport

    See Also
    --------
    skbiasamp.audit : One model.

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
    call = call_of(compare, locals())
    how: dict[str, Any] = {"groups": groups, "missing": missing, "pos_label": pos_label}
    columns = {
        "target": target,
        "prediction": prediction,
        "sensitive": sensitive,
        "sensitive_prediction": sensitive_prediction,
        "weight": weight,
    }
    columns = {name: one for name, one in columns.items() if one is not None}
    if columns:
        check_frame_columns(columns, (sensitive_train,))
    of_train = {name: one for name, one in columns.items() if name in ("target", "sensitive")}
    with opened_rows(y_train, of_train) as (held, training_files):
        train = read_train(held, sensitive_train, of_train, **how)
    labels = {
        "sensitive_features": sensitive_features,
        "sample_weight": sample_weight,
        "y_pred": y_preds,
        "sensitive_pred": sensitive_preds,
    }
    with speaking(y_pred="y_preds", sensitive_pred="sensitive_preds"):
        if not (columns or is_contingency(y_true)):
            check_models({"y_pred": y_preds, "sensitive_pred": sensitive_preds})
        with opened_rows(y_true, columns) as (held, audited_files):
            cells = count_labels(held, labels, columns, like=train, **how)
    models = models_of(cells)
    if not models:
        raise InputError(
            "{y_true} holds the predictions of one model. Pass those of two or more, by name."
        )
    first = check_model(models[0] if reference is None else reference, models, "reference")
    cells = ordered(cells)
    one = of_model(cells, first)
    signs = one if train is None else train
    require_groups(signs.groups, signs.count("group"), signs.total, declared=signs.declared)
    chosen = allowed(one) if auditors is None else checked(auditors)
    results: dict[str, ComparisonResult] = {}
    for auditor in chosen:
        with collected():  # what is uncertain about a pair stands in the tables
            ready = readied(auditor, train, random_state)
            result = ready.compare(cells, reference=first)
        results[named(results, result.name)] = result
    accuracy, rates = _described(cells, first)
    context = context_of(cells, train, {"data_name": data_name}, call)
    files = described_files(audited_files, training_files)
    return ComparisonReport(results, accuracy, rates, context, files)


def _described(cells: Contingency, reference: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the accuracy of each model, and its rates by group and task."""
    models = [reference, *(model for model in models_of(cells) if model != reference)]
    rows, tables = [], []
    for model in models:
        by_group, rates = describe_groups(of_model(cells, model))
        rates.insert(0, "model", model)
        tables.append(rates)
        n, right = by_group["n"], by_group.get("accuracy", pd.Series(np.nan, by_group.index))
        rows.append({"model": model, "accuracy": float((n * right).sum() / n.sum())})
    accuracy = pd.DataFrame(rows)
    accuracy["difference"] = accuracy["accuracy"] - accuracy["accuracy"][0]
    return accuracy, pd.concat(tables, ignore_index=True)
