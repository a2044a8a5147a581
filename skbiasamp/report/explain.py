"""explain(): where the amplification of a model comes from."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from skbiasamp._input.checks import MOST_GROUPS, Array, Names, check_count
from skbiasamp._input.coding import as_numbers
from skbiasamp._input.containers import columns_of, to_native
from skbiasamp._input.errors import InputError, InputTypeError, quote, renaming
from skbiasamp._input.labels import side_of_model
from skbiasamp._input.options import keywords
from skbiasamp._input.readers import reached
from skbiasamp._utils.docstrings import filling
from skbiasamp._utils.formatting import group_of
from skbiasamp._utils.progress import give_back_memory
from skbiasamp._utils.random import generator
from skbiasamp._utils.warnings import collected
from skbiasamp.compose import LeakageProbe
from skbiasamp.counts.cells import distinct, labels_of, take
from skbiasamp.counts.contingency import Contingency
from skbiasamp.counts.merging import differ_in_group
from skbiasamp.counts.parts import of_model
from skbiasamp.inference.association import Association, associate
from skbiasamp.inference.influence import interval
from skbiasamp.inference.pairs import Pairs
from skbiasamp.inference.value import Estimate, Signs, estimate, margin_of
from skbiasamp.metrics import DirectionalAuditor, MALSAuditor
from skbiasamp.metrics.inputs import count_labels, require_predictions, row_by_row
from skbiasamp.metrics.score_order import check_class
from skbiasamp.report._value_parts import (
    LEVEL,
    StrataRows,
    StrataSums,
    Whole,
    of_change,
    of_decision,
    of_features,
    of_predictors,
    of_strata,
    within_rows,
)
from skbiasamp.report.request import Request, context_of, read_training, require_reference
from skbiasamp.report.strata import RowSource, Strata, standardised, strata_of
from skbiasamp.results.explanation import Explanation

# Two predictions of the same rows: the labels that were decided, and their scores.
_DECISION, _SCORE = "decision", "score"


@keywords()
@filling
def explain(
    y_true: Any,
    y_pred: Any = None,
    *,
    sensitive_features: Any = None,
    sensitive_pred: Any = None,
    y_score: Any = None,
    given: Any = None,
    attributions: Any = None,
    y_train: Any = None,
    sensitive_train: Any = None,
    sample_weight: Any = None,
    clusters: Any = None,
    missing: str = "error",
    pos_label: Any = None,
    random_state: Any = None,
    target: str | list[str] | None = None,
    prediction: str | list[str] | None = None,
    sensitive: str | list[str] | None = None,
    sensitive_prediction: str | list[str] | None = None,
    score: str | list[str] | None = None,
    weight: str | None = None,
    cluster: str | None = None,
) -> Explanation:
    """Explain bias amplification: split the value into parts that sum to it.

    Use it after an audit, to see where directional A→T (group → task) comes from: from scores or
    from decisions, from which strata, and from differences between groups within strata or between
    them. The parts are sums over rows. They describe the predictions and are no causal effects.

    .. versionadded:: 0.2

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_tasks), Contingency, frame or path
        Labels of the audited rows. Or a frame, or the path of files, with all columns.
    y_pred : array-like, default=None
        Predicted labels. Without `y_score` they may be probabilities.
    %(sensitive_features)s
    sensitive_pred : array-like, default=None
        The group that the model predicts. It adds `predictors`: what the predictor of the task and
        that of the group add to MALS.
    y_score : array-like, default=None
        Probabilities of the tasks, which the predicted labels were made from. They add `decision`:
        what the scores amplify, and what turning them into decisions adds.
    given : array-like or column names, default=None
        One column or several whose values make strata, such as department or prior counts. Bin
        numbers first; a missing value is a stratum. They add `strata`, `conditional`, `gaps` and
        `rates`. Of a frame or a `Contingency`: names of columns. Choose columns that the decision
        did not cause: such a column would hide discrimination.
    attributions : array-like of shape (n_samples, n_features) or shap.Explanation, default=None
        What each feature adds to the score of a row, such as SHAP values of the positive class.
        They add `features`, for one task and arrays: what each feature carries of the difference
        between groups, and whether it is a proxy, from which alone `LeakageProbe` predicts the
        group (of arrays and frames: from its attributions).
    y_train : array-like, Contingency, frame or path, default=None
        Labels of the training rows; they give the training correlations. None: the audited labels
        give them.
    sensitive_train : array-like, default=None
        The sensitive feature of the training rows, if `y_train` holds labels and not a frame.
    %(sample_weight)s
    %(clusters)s
    %(missing)s
    %(pos_label)s
    %(random_state)s
    target, prediction, sensitive, score, weight, cluster : column name or list
        Columns of labels, predictions, sensitive features, probabilities, weights and clusters, if
        `y_true` is a frame or a path.
    sensitive_prediction : column name or list
        Columns of predicted groups, likewise.

    Returns
    -------
    explanation : Explanation

    See Also
    --------
    skbiasamp.audit : Audit a model with every metric that the inputs allow.

    Examples
    --------
    Women apply to the department that rejects most people. Within departments both groups are
    labelled alike, but the model does not predict them so.

    >>> import skbiasamp
    >>> sex = ["f"] * 500 + ["m"] * 500
    >>> department = ["A"] * 100 + ["B"] * 400 + ["A"] * 400 + ["B"] * 100
    >>> admitted = [1] * 80 + [0] * 20 + [1] * 80 + [0] * 320 + [1] * 320 + [0] * 80 + [1] * 20
    >>> admitted += [0] * 80
    >>> predicted = [1] * 70 + [0] * 30 + [1] * 60 + [0] * 340 + [1] * 340 + [0] * 60 + [1] * 20
    >>> predicted += [0] * 80
    >>> explanation = skbiasamp.explain(
    ...     admitted, predicted, sensitive_features=sex, given=department
    ... )
    >>> explanation.strata[["part", "value"]].round(3)
      part  value
    0    A   0.03
    1    B   0.02
    >>> round(explanation.value, 3)
    0.05
    """
    asked = Request(
        explain,
        y_true,
        y_pred,
        sensitive_features=sensitive_features,
        sensitive_pred=sensitive_pred,
        y_score=y_score,
        given=given,
        attributions=attributions,
        y_train=y_train,
        sensitive_train=sensitive_train,
        sample_weight=sample_weight,
        clusters=clusters,
        missing=missing,
        pos_label=pos_label,
        random_state=random_state,
        target=target,
        prediction=prediction,
        sensitive=sensitive,
        sensitive_prediction=sensitive_prediction,
        score=score,
        weight=weight,
        cluster=cluster,
    )
    asked.check_columns()
    how = asked.how
    train, _ = read_training(y_train, sensitive_train, asked.columns, how)
    if train is not None and pos_label is None:
        how["pos_label"] = train.pos_label
    source = RowSource(y_true, asked.of_rows | {"y_pred": y_pred}, asked.columns, how)
    scores = score if y_score is None else y_score
    rest = given, scores, attributions, random_state, asked.call
    with asked.renaming():
        return explained(source, train, *rest, alone=True, more=_predictors_of(asked, train))


def _predictors_of(asked: Request, train: Contingency | None) -> dict[str, Any]:
    """Return what the predictors of the task and of the group add to MALS, if both are known."""
    y_true = asked.y_true
    counted = isinstance(y_true, Contingency) and asked.given is None and y_true.has("group_pred")
    if asked.sensitive_pred is None and "sensitive_prediction" not in asked.columns and not counted:
        return {}
    labels = asked.of_rows | {"y_pred": asked.y_pred, "sensitive_pred": asked.sensitive_pred}
    test = count_labels(y_true, labels, asked.columns, like=train, **asked.how)
    require_reference(test, train)
    require_predictions(test, ("task_pred", "group_pred"), what="An explanation of MALS")
    auditor = _auditor_of(train, MALSAuditor)
    return of_predictors(_whole_of(auditor, test, test), test)


def explained(
    source: RowSource,
    train: Contingency | None,
    given: Any,
    scores: Any,
    attributions: Any,
    random_state: Any,
    call: str,
    *,
    alone: bool = False,
    more: Mapping[str, Any] | None = None,
) -> Explanation:
    """Explain the value of rows: arrays, columns of a frame or of files, or a contingency.

    An explanation that stands alone has no findings: it refuses scores of the other class.
    `more` are tables of another metric.
    """
    models = None
    if attributions is not None and (source.columns or isinstance(source.y_true, Contingency)):
        raise InputTypeError("{attributions} need arrays: pass labels and groups of each row.")
    if scores is not None:
        own = source.columns.get("prediction") if source.columns else source.labels["y_pred"]
        if own is None and not isinstance(source.y_true, Contingency):
            raise InputError("{y_pred} is None: pass the predicted labels.")
        models = {_DECISION: own, _SCORE: scores}
    with renaming({f"y_preds[{_DECISION!r}]": "y_pred", f"y_preds[{_SCORE!r}]": "y_score"}):
        divided = source.divided(given, train, models=models)
        give_back_memory(divided.fine.n_cells)
        if alone:
            check_class(divided.fine)
    divided.fine.require("task")
    divided.fine.require_rows("An explanation")
    if scores is None:
        require_predictions(divided.fine, ("task_pred",), what="An explanation")
    divided.check_numbers()
    whole, tables = _parts_of(divided, train)
    if attributions is not None:
        values = _attributions_of(attributions)
        if scores is not None:
            _check_sums(values, as_numbers(scores, "y_score"))
        features = _of_features(source, values, divided.cells, whole)
        values = _attributions_of(attributions, "data") or values
        groups = source.labels["sensitive_features"]
        tables["features"] = _with_proxies(features, values, groups, generator(random_state))
    context = context_of(divided.cells, train, {}, call) | {"sensitive": divided.columns}
    context |= {"given": divided.given, "confidence_level": LEVEL}
    explanation = Explanation(whole.audit, **tables, **(more or {}), context=context)
    object.__setattr__(explanation, "_search", partial(_subgroups_of, source, train))
    return explanation


def scored_rows(
    source: RowSource, given: Any, scores: tuple[Any, Any], test: Contingency
) -> tuple[RowSource, Any, Any]:
    """Return rows with predicted labels, their strata, and their scores if any are known.

    `scores` are the columns of a frame that hold them, and those of arrays. Columns become arrays,
    and probabilities with a threshold are scores, whose decisions are the predicted labels.
    """
    (score, y_score), threshold = scores, source.how["threshold"]
    decides = threshold is not None and y_score is None and test.has("task")
    if score is None and decides:
        score = source.columns.get("prediction")
    if score is not None:
        columns = source.columns | {"score": score} | ({} if given is None else {"given": given})
        y_true, labels, columns = row_by_row(source.y_true, source.labels, columns)
        y_score, given = labels.pop("y_score"), labels.pop("given", None)
        source = source._replace(y_true=y_true, labels=labels, columns=columns)
    if decides:
        y_score = source.labels["y_pred"]
        decided: Any = reached(to_native(y_score, "y_pred"), threshold).astype(np.int8)
        if test.classes:  # of one task
            names = sorted(test.classes, key=lambda name: name == test.tasks[0])
            # Categories, of which each row takes a byte.
            decided = pd.Categorical.from_codes(decided[:, 0], pd.Index(names, dtype=object))
        labels = source.labels | {"y_pred": decided}
        source = source._replace(labels=labels, how=source.how | {"threshold": None})
    return source, given, y_score


def are_chances(y_score: Any, test: Contingency) -> bool:
    """Return whether scores are probabilities of the tasks or classes that were predicted.

    Parts of a value are of groups that do not overlap: of others, scores are no chances.
    """
    decided = test.has("task") and test.has("task_pred") and not test.soft("task_pred")
    if y_score is None or not decided or test.indicator or len(test.groups) > MOST_GROUPS:
        return False
    columns = columns_of(to_native(y_score, "y_score"))
    if len(columns) not in (1, len(test.tasks), len(test.classes or ())):
        return False
    numbers = np.array([column for _, column in columns])
    return numbers.dtype.kind in "biuf" and bool(((numbers >= 0) & (numbers <= 1)).all())


def _subgroups_of(
    source: RowSource, train: Contingency | None, frame: Any, depth: int, min_rows: int
) -> pd.DataFrame:
    """Return where the model amplifies most, among subgroups of columns that rows have besides."""
    check_count("depth", depth)
    check_count("min_rows", min_rows)
    with renaming(given="frame"):
        rows = source.divided(frame, train)
    _, stratum = rows.of_cells
    n = np.bincount(stratum, rows.fine.weight, minlength=len(rows.names))
    members = [
        (name, np.flatnonzero(strata[stratum]))
        for name, strata in _subgroups(rows.given, rows.names, n, depth=depth, min_rows=min_rows)
    ]
    table = assess_subgroups(_auditor_of(train).pairs_of, rows.cells, members, level=LEVEL)
    first = ["subgroup", "value", "low", "high", "rows", "differs"]
    return table[first].sort_values("value", ascending=False, ignore_index=True)


def _auditor_of(train: Contingency | None, metric: Any = DirectionalAuditor) -> Any:
    """Return the auditor of the value, which knows the training labels if there are any."""
    reference = "test" if train is None else "train"
    auditor = metric(reference=reference, confidence_level=LEVEL)
    return auditor if train is None else auditor.fit(train)


def _parts_of(rows: Strata, train: Contingency | None) -> tuple[Whole, dict[str, Any]]:
    """Return the value of rows and what an explanation says of it."""
    scored = bool(rows.cells.models)
    # Parts and value are of the same cells, so that what they share is known.
    cells = of_model(rows.cells, _DECISION) if scored else rows.cells
    test = rows.cells.model(_DECISION) if scored else distinct(cells)
    require_reference(cells, train)
    if scored and cells.soft("task_pred"):
        raise InputError("{y_pred} must hold predicted labels if {y_score} is passed.")
    whole = _whole_of(_auditor_of(train), test, cells)
    tables: dict[str, Any] = of_change(whole, cells.tasks)
    findings = list[str]()
    if scored:
        score = labels_of(rows.cells, side_of_model("task_pred", _SCORE))
        of_parts, findings = of_decision(whole, cells, score)
        tables |= of_parts
    if rows.given:
        group, stratum = rows.of_cells
        sums = StrataSums.count(cells, group, stratum, len(rows.names))
        within = None
        if sums.shared.any():  # an audit within strata says the same
            fine = distinct(of_model(rows.fine, _DECISION) if scored else rows.fine)
            inside = standardised(strata_of(fine, rows.given, train))
            within = _whole_of(_auditor_of(None), inside, inside)
        names = cells.groups, cells.tasks, rows.names
        in_strata = StrataRows(cells, group, stratum, sums)
        of_parts, more = of_strata(in_strata, whole, within, names, rows.columns, rows.given)
        tables, findings = tables | of_parts, findings + more
    return whole, tables | {"findings": findings}


def _whole_of(auditor: Any, test: Contingency, cells: Contingency) -> Whole:
    """Return the value of rows, as an audit of them says it; `cells` are these rows, kept apart."""
    with collected():  # its table flags pairs that are uncertain
        audit = auditor.audit(test)
    return Whole.of(audit, auditor.pairs_of(cells)[1])


def _attributions_of(attributions: Any, what: str = "values") -> dict[Hashable, Any]:
    """Return the attributions of rows by feature, or the features themselves if they are there."""
    names = getattr(attributions, "feature_names", None)
    if names is not None:  # of shap
        numbers = getattr(attributions, what, None)
        attributions = None if numbers is None else pd.DataFrame(numbers, columns=list(names))
    elif what != "values":
        attributions = None
    if attributions is None:
        return {}
    columns = columns_of(to_native(attributions, "attributions"))
    return {name: as_numbers(column, "attributions") for name, column in columns}


def _check_sums(values: Mapping[Hashable, Any], scores: Any) -> None:
    """Raise if the attributions of rows do not sum to their scores, up to a constant."""
    score = scores if scores.ndim == 1 else scores[:, -1]
    left = score - np.sum(list(values.values()), axis=0)
    if np.nanstd(left) > 0.05 * np.nanstd(score):
        raise InputError(
            "The {attributions} of a row must sum to its {y_score}, up to a constant, and do not: "
            "pass scores on their scale, such as log-odds, or leave {y_score} out."
        )


def _with_proxies(
    table: pd.DataFrame, features: dict[Hashable, Any], groups: Any, rng: np.random.Generator
) -> pd.DataFrame:
    """Mark features that predict the group, one at a time (Bonferroni); without these, parts do."""
    level = 1 - (1 - LEVEL) / max(len(table), 1)
    probe = LeakageProbe(missing="drop", confidence_level=level)
    marked = []
    for part in table["part"]:
        probe.set_params(random_state=int(rng.integers(2**31)))
        column = pd.DataFrame({"feature": np.asarray(features[part])}).infer_objects()
        probe.fit(column, sensitive_features=groups)
        marked.append((probe.leakage_, probe.interval_[0] > probe.chance_))
    return table.assign(
        predicts_group=[float(score) for score, _ in marked],
        proxy=[bool(proxy) for _, proxy in marked],
    )


def _of_features(
    source: RowSource, values: dict[Hashable, Any], test: Contingency, whole: Whole
) -> pd.DataFrame:
    """Return what each feature carries of the difference between groups."""
    if (n := len(test.tasks)) != 1:
        raise InputError("{attributions} are of one task, and the labels have {n}.", n=n)
    if len(values) == 1:
        raise InputError("{attributions} must have a column for each of two features or more.")
    # Features take the place of tasks, each beside the labels of the one task.
    label = next(column for _, column in columns_of(to_native(source.y_true, "y_true")))
    yes = np.asarray(label) == (test.tasks[0] if test.classes else 1)
    rows = source.labels | source.how | {"y_pred": values, "pos_label": None}
    with renaming(y_pred="attributions"):
        cells = Contingency.from_labels(dict.fromkeys(values, yes.astype(int)), **rows, scores=True)
    labels, carried = (associate(cells, side, "group") for side in ("task", "task_pred"))
    signs = Signs.of(labels)
    if whole.pairs.signs.source is None:  # of training labels
        of_group = [test.groups.index(name) for name in cells.groups]
        known = whole.pairs.signs.values[of_group]
        signs = Signs(np.repeat(known, len(values), axis=1).astype(float))
    return of_features(carried, signs, list(values))


# --------------------------------------------------------------------------- subgroups


def _subgroups(
    columns: Names, strata: Names, rows: Array, *, depth: int, min_rows: float
) -> Iterator[tuple[str, Array]]:
    """Yield the name of each subgroup of up to `depth` columns, and which strata are in it.

    A stratum is a value of each column, and `rows` are those of each stratum. Subgroups have at
    least `min_rows` rows.
    """
    values = pd.DataFrame([name if len(columns) > 1 else (name,) for name in strata])
    for size in range(1, depth + 1):
        for chosen in combinations(range(len(columns)), size):
            code = values.groupby(list(chosen), sort=False).ngroup().to_numpy()
            n = np.bincount(code, rows)
            if size == 1 and n.max() < min_rows:
                raise InputError(
                    "{frame}: no value of {column} is in {n} rows. Bin numbers first, or choose a "
                    "smaller {min_rows}.",
                    column=quote([columns[chosen[0]]]),
                    n=min_rows,
                )
            for large in np.flatnonzero(n >= min_rows):
                own = values.iloc[int(np.argmax(code == large)), list(chosen)]
                yield group_of(tuple(own), [columns[i] for i in chosen]), code == large


def assess_subgroups(
    pairs_of: Callable[[Contingency], tuple[Contingency, Pairs]],
    cells: Contingency,
    members: Sequence[tuple[str, Array]],
    *,
    level: float,
) -> pd.DataFrame:
    """Return the value of each subgroup, with intervals that hold for all of them together.

    `members` are the name and the cells of each; rows of one group alone have nothing to compare,
    and are left out. `differs` says whether a subgroup differs from all rows, at the signs of all
    rows. The largest deviation counts (max-T), so that of columns that mean nothing all intervals
    include 0, and none differs, in as many data sets as the level says.
    """
    _, every = pairs_of(cells)
    values, differences = _Together(level), _Together(level)
    names, n_rows, most = [], [], []
    for name, rows in members:
        test = take(cells, rows, cells.weight[rows])
        if not differ_in_group(test):
            continue
        names.append(name)
        n_rows.append(float(test.total))
        _, pairs = pairs_of(test)
        number = pairs.measured(level)
        inside = np.isin(np.arange(cells.n_cells), rows)
        labels, predicted = (
            within_rows(cells, labels_of(cells, side), inside) for side in ("task", "task_pred")
        )
        change = predicted - labels
        weights = pairs.aggregate.weights(change.value)
        values.add(number, change, weights * pairs.signs.values)
        most.append(max(pairs.most, abs(number.value)))
        between, signs = change - every.change, every.signs
        apart = estimate(between, signs, weights, confidence_level=level)
        differences.add(apart, between, weights * signs.values)
    if not names:
        raise InputError("{frame}: no value of its columns is in rows of two groups.")
    value, low, high = values.intervals()
    _, below, above = differences.intervals()
    low, high = np.clip([low, high], np.negative(most), most)
    table = pd.DataFrame(
        {"subgroup": names, "value": value, "rows": n_rows, "low": low, "high": high}
    )
    return table.assign(differs=~np.isnan(low) & ((below > 0) | (above < 0)))


class _Together:
    """Numbers of the same rows, whose intervals hold together."""

    def __init__(self, level: float) -> None:
        self.level = level
        self.numbers: list[Estimate] = []
        self.moved: list[Array] = []

    def add(self, number: Estimate, change: Association, weights: Array) -> None:
        """Add a number: what it changes, and what each pair counts."""
        ((moved, times, jackknife),) = change.project(weights)
        self.numbers.append(number)
        self.moved.append(moved * np.sqrt(jackknife * times))

    def intervals(self) -> tuple[Array, Array, Array]:
        """Return the numbers, and the ends of their intervals."""
        values, errors, df = (
            np.array([getattr(number, name) for number in self.numbers])
            for name in ("value", "standard_error", "degrees_of_freedom")
        )
        moved = np.stack(self.moved)[errors > 0]
        scale = errors[errors > 0]
        # What signs that labels leave open add to an error is the number's own.
        correlation = moved @ moved.T / np.outer(scale, scale)
        np.fill_diagonal(correlation, 1.0)
        level = 1 - 2 * float(special.ndtr(-margin_of(correlation, self.level)))
        low, high, _ = interval(values, errors, df, level)
        return values, low, high
