"""Selection rates, impact ratios and error rates by each sensitive column and their combination."""

from __future__ import annotations

from numbers import Real
from typing import Any, Literal

import numpy as np

from skbiasamp._input.checks import Array, check_option, check_threshold
from skbiasamp._input.classes import positive_class
from skbiasamp._input.coding import as_numbers, read_weight
from skbiasamp._input.containers import check_lengths
from skbiasamp._input.errors import InputError, called, quote, renaming
from skbiasamp._input.options import keywords
from skbiasamp._utils.docstrings import filling
from skbiasamp.counts.contingency import Contingency
from skbiasamp.metrics.inputs import count_labels, row_by_row
from skbiasamp.report._groups import selection_table
from skbiasamp.report.request import Request, context_of
from skbiasamp.report.unknown import is_unknown
from skbiasamp.results import SelectionRates

SCORES = "share of rows above the median score"
# Classes of which people want 1, or True, if nobody says another.
_PLAIN = {"0", "1", "0.0", "1.0", "-1", "-1.0", "false", "true"}


@keywords()
@filling
def selection_rates(
    y_pred: Any,
    *,
    sensitive_features: Any = None,
    y_true: Any = None,
    sample_weight: Any = None,
    clusters: Any = None,
    scores: bool = False,
    min_share: float = 0.0,
    favourable: Any = None,
    max_groups: int | None = None,
    threshold: float | None = None,
    missing: Literal["group", "bounds"] = "group",
    prediction: str | None = None,
    sensitive: str | list[str] | None = None,
    target: str | None = None,
    weight: str | None = None,
    cluster: str | None = None,
    model_name: str | None = None,
    data_name: str | None = None,
) -> SelectionRates:
    """Compute selection rates and impact ratios by sensitive column, with confidence intervals.

    The layout is that of the tables of New York City's Local Law 144: each sensitive column by
    itself, and all of them together. No true labels are needed. The table describes predictions;
    it is not a statement that a law is met.

    .. versionadded:: 0.1

    Parameters
    ----------
    y_pred : array-like of shape (n_samples,), Contingency, frame or path
        Predicted labels, or scores. Or a data frame with all columns, or the path of a file.
    sensitive_features : array-like of shape (n_samples,) or (n_samples, n_features)
        The sensitive features, such as sex and race. Rows with a missing value count as unknown:
        their number is in the table, and they are in no impact ratio.
    y_true : array-like of shape (n_samples,), default=None
        True labels. They add true and false positive rates.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights. A whole number counts as that many rows.
    clusters : array-like of shape (n_samples,), default=None
        One id per row: rows of one person, image or family share it. Intervals then allow for
        rows of a cluster that are alike. None: all rows are independent.
    scores : bool, default=False
        True: `y_pred` are scores, and a row is selected if its score is above the median of all
        rows ("scoring rate").
    min_share : float, default=0.0
        Categories with a smaller share of rows are left out of impact ratios; their rates stay in
        the table. Local Law 144 allows this below 0.02.
    favourable : label, default=None
        The class that people want: predictions of it count as selected. None: 1, or True; classes
        that are words must be named.
    max_groups : int, default=None
        Largest number of combined categories allowed. None: 100, or 20 if they have fewer than 20
        rows on average.
    threshold : float, default=None
        Turns scores in `y_pred` into labels: a row is selected if its score is at least this.
    missing : {"group", "bounds"}, default="group"
        How rows with a missing sensitive feature are handled. "group": they count as unknown, and
        are in no impact ratio. "bounds": the table also says what rates and impact ratios could be
        if these rows belonged to any of the categories that agree with what is known of them.
    prediction, sensitive, target, weight, cluster : column name or list
        Columns of predictions or scores, sensitive features, labels, weights and clusters, if
        `y_pred` is a frame or a path.
    model_name, data_name : str, default=None
        Names of the model and of the data, for the title of the page.

    Returns
    -------
    rates : SelectionRates

    Examples
    --------
    >>> import skbiasamp
    >>> sex = ["f"] * 100 + ["m"] * 100
    >>> hired = [1] * 30 + [0] * 70 + [1] * 50 + [0] * 50
    >>> rates = skbiasamp.selection_rates(hired, sensitive_features=sex)
    >>> rates.table[["category", "selection_rate", "impact_ratio"]]
      category  selection_rate  impact_ratio
    0        f             0.3           0.6
    1        m             0.5           1.0
    >>> rates.table[["category", "impact_ratio_low", "impact_ratio_high"]].round(3)
      category  impact_ratio_low  impact_ratio_high
    0        f             0.413              0.852
    1        m             1.000              1.000
    """
    asked = Request(
        selection_rates,
        y_true,
        y_pred,
        sensitive_features=sensitive_features,
        sample_weight=sample_weight,
        clusters=clusters,
        favourable=favourable,
        max_groups=max_groups,
        threshold=threshold,
        target=target,
        prediction=prediction,
        sensitive=sensitive,
        weight=weight,
        cluster=cluster,
        model_name=model_name,
        data_name=data_name,
        options={"scores": scores, "min_share": min_share},
    )
    columns = asked.columns
    how: dict[str, Any] = {**asked.how, "missing": "group", "pos_label": None}
    check_option("scores", scores, (True, False))
    check_option("missing", missing, ("group", "bounds"))
    if isinstance(min_share, bool) or not isinstance(min_share, Real) or not 0 <= min_share < 1:
        raise InputError("{min_share} must be 0 or more and below 1; got {seen!r}.", seen=min_share)
    inputs = asked.data | {"y_true": y_true}
    check_threshold(threshold)
    if scores and threshold is not None:
        raise InputError("Pass {scores=True} or {threshold}, not both: each says who is selected.")
    if columns and prediction is None:
        raise InputError("prediction= must name the column of predictions or scores; got None.")
    if scores:
        if columns:
            labels, inputs, columns = row_by_row(y_pred, inputs | {"y_pred": None}, columns)
            inputs["y_true"] = labels
        above = _above_median(inputs["y_pred"], inputs["sample_weight"])
        with renaming(y_true="y_pred", pos_label="favourable"):
            chosen = 1 if favourable is None else positive_class(favourable, (0, 1))[1]
        inputs["y_pred"] = (above == chosen).astype(int)
    if columns or isinstance(y_pred, Contingency):
        inputs |= {"y_true": inputs["y_pred"], "y_pred": inputs["y_true"]}
    names = {"pos_label": "favourable"} | ({"y_true": "y_pred"} if y_true is None else {})
    labels = inputs.pop("y_true")
    with renaming(names):
        test = count_labels(labels, inputs, columns, **how)
        if favourable is not None and len(test.classes or ()) <= 2:
            # Read again: probabilities and decisions are of this class.
            test = count_labels(labels, inputs, columns, **{**how, "pos_label": favourable})
            favourable = None
    unsaid = [name for name in test.classes or () if str(name).casefold() not in _PLAIN]
    if favourable is None and unsaid and test.naming.pos_label is None:
        text = (
            "{y_pred} holds the classes {classes}. Which of them do people want? Pass it as "
            "{favourable}, for example {example}."
        )
        example = called(f"favourable={unsaid[0]!r}")
        raise InputError(text, classes=quote(test.classes or ()), example=example)
    if test.models:
        text = "{y_pred} must hold the predictions of one model; got those of {models}."
        raise InputError(text, models=quote(test.models))
    if test.soft("task" if test.has("task") else "task_pred"):
        text = "{y_pred} holds numbers, and rates are of labels. Pass labels, or {scores=True}."
        raise InputError(text)
    context = context_of(test, None, asked.names, asked.call)
    context |= {"selected": SCORES if scores else "predicted", "min_share": min_share}
    context["n_clusters"] = None if test.clusters is None else test.clusters.total
    bounds = missing == "bounds" and any(map(is_unknown, test.groups))
    table = selection_table(test, min_share=min_share, favourable=favourable, bounds=bounds)
    return SelectionRates(table, context)


def _above_median(scores: Any, weight: Any) -> Array:
    """Return which rows have a score above the median; a weight counts as so many rows."""
    values = as_numbers(scores, "y_pred")
    if values.ndim != 1:
        raise InputError("{y_pred} must be one column of scores with {scores=True}.")
    check_lengths({"y_pred": values})
    with renaming(y_true="y_pred"):
        weight = np.ones(len(values)) if weight is None else read_weight(weight, len(values))
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weight[order])
    # The lower one of two medians: no score lies between them.
    return np.asarray(values > values[order][np.searchsorted(reached, reached[-1] / 2)])
