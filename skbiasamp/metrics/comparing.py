"""Several models, or several training runs of one model, measured on the same rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from skbiasamp._input.checks import Array, check_option, check_runs
from skbiasamp._input.errors import InputError
from skbiasamp.counts.contingency import Contingency, is_contingency
from skbiasamp.counts.several_models import (
    check_model,
    check_models,
)
from skbiasamp.inference.differences import Measured, churn_of, covariances, shared_rows_of_pairs
from skbiasamp.inference.hypothesis_tests import adjust_p_values
from skbiasamp.inference.independent_signs import NO_DOUBT, Doubt
from skbiasamp.inference.intervals import errors_of_base, of_sizes
from skbiasamp.inference.runs import (
    METHODS,
    mean_of_runs,
    shared_rows,
    shared_rows_of_difference,
)
from skbiasamp.results import (
    MODEL_COLUMNS,
    AuditResult,
    ComparisonResult,
    pair_table,
)


def compared(
    auditor: Any,
    y_true: Any,
    labels: dict[str, Any],
    columns: dict[str, Any],
    reference: str | None,
) -> ComparisonResult:
    """Read the predictions of several models and compare them, as an auditor's `compare` does."""
    auditor._validate_params()
    auditor._check_fitted()
    runs: dict[str, list[str]] = {}
    if not (is_contingency(y_true) or columns.keys() - {"given"}):
        names = ("y_preds", "sensitive_preds")
        check_models({name: labels[name] for name in names})
        rows = labels["sensitive_features"] if y_true is None else y_true
        runs, flat = _each_run(rows, {name: labels[name] for name in names})
        labels = labels | flat
    cells = auditor.count_models(y_true, labels, columns)
    models = tuple(runs) or cells.models
    if not models:
        raise InputError(
            "{y_true} holds the predictions of one model. Compare needs those of two or "
            "more: Contingency.from_labels(y_true, y_preds={{'old': ..., 'new': ...}})."
        )
    named = models[0] if reference is None else reference
    check_model(named, models, "reference")
    how = {"runs": runs} if runs else {}
    result: ComparisonResult = auditor._compare_models(cells, named, **how)
    return result


def audited_runs(
    auditor: Any, y_true: Any, y_preds: Any, labels: dict[str, Any], method: str
) -> AuditResult:
    """Read the predictions of several runs of one training, and return their mean."""
    auditor._validate_params()
    auditor._check_fitted()
    check_option("method", method, METHODS)
    given = {"y_preds": y_preds, "sensitive_preds": labels.pop("sensitive_preds")}
    check_runs(*given.values())
    rows = labels["sensitive_features"] if y_true is None else y_true
    _, flat = _each_run(rows, {name: runs and {_RUN: runs} for name, runs in given.items()})
    cells = auditor.count_models(y_true, labels | flat)
    result: AuditResult = auditor._result_of_runs(cells, method)
    return result


_RUN = "run"
_CHURN = ("model", "group", "n", "changed", "share", "p_value")


def _each_run(rows: Any, given: Mapping[str, Any]) -> tuple[dict[str, list[str]], dict[str, Any]]:
    """Return the names of the runs of each procedure, and predictions by these names.

    `rows` are labels or groups of as many rows as every run predicts. There are no runs if every
    model has one prediction a row.
    """
    every = [(name, models) for name, models in given.items() if models is not None]
    several = {
        model: runs
        for _, models in every
        for model, runs in models.items()
        if _are_runs(runs, rows)
    }
    if not several:
        return {}, {}
    lacking = [model for model in every[0][1] if model not in several]
    short = [model for model, runs in several.items() if len(runs) < 2]
    if lacking or short:
        raise InputError(
            "{y_preds} must hold a list of two runs or more for every model, or one prediction a "
            "row for every model; {seen!r} does not.",
            seen=(lacking or short)[0],
        )
    names = {
        model: [f"{model} {i + 1}" for i in range(len(runs))] for model, runs in several.items()
    }
    flat: dict[str, dict[str, Any]] = {}
    for name, models in every:
        pairs = [
            (run, predictions)
            for model, runs in models.items()
            for run, predictions in zip(names[model], runs, strict=True)
            if predictions is not None
        ]
        if pairs:
            flat[name] = dict(pairs)
    return names, dict.fromkeys(given) | flat


def _length(rows: Any) -> int | None:
    """Return how many rows something has; None if it is a number or text."""
    if isinstance(rows, str) or getattr(rows, "shape", None) == ():
        return None
    return len(rows) if hasattr(rows, "__len__") else None


def _are_runs(value: Any, rows: Any) -> bool:
    """Return whether a list holds predictions of several runs, and not of one row each."""
    if not isinstance(value, list | tuple) or not value:
        return False
    n = _length(rows)
    lengths = (_length(run) for run in value if run is not None)
    sizes = {-1 if length is None else length for length in lengths}
    return sizes <= {n} and (len(value) != n or len(sizes) == 0)


class ModelRun(NamedTuple):
    """What a model of a run adds to the mean over runs: its numbers, and two of every pair.

    `pairs` are columns of a table of pairs that are the same for all models.
    """

    value: float
    estimate: float
    pairs: Mapping[str, Any]
    observed: Array
    amplification: Array
    doubt: Doubt = NO_DOUBT


def comparison_result(
    auditor: Any,
    cells: Contingency,
    reference: str,
    models: Mapping[str, Mapping[str, Any]],
    difference_of: Callable[[str], tuple[dict[str, float], Any]],
    runs: Mapping[str, list[str]] | None = None,
    *,
    same_rows: bool = True,
) -> ComparisonResult:
    """Return the result of a comparison: models measured, and how many rows differ between them.

    `models` have their value, estimate and interval; `difference_of` returns those of a model's
    difference to the reference, and the columns of its table of pairs. `runs` are the models of
    each training procedure, if these are compared: rows that differ are then means over the pairs
    of their runs. Models that do not have the `same_rows` have none that differ.
    """
    others = [model for model in models if model != reference]
    nothing = dict.fromkeys(MODEL_COLUMNS[1:], np.nan)
    rows: dict[str, dict[str, Any]] = {
        model: {"model": model, **nothing, **models[model]} for model in (reference, *others)
    }
    churn: dict[str, list[Any]] = {name: [] for name in _CHURN}
    tables = []
    for name in others:
        numbers, pairs = difference_of(name)
        rows[name] |= numbers
        tables.append(pd.DataFrame({"model": name, **pairs}))
        if not same_rows:
            continue
        own, before = ([model] if runs is None else runs[model] for model in (name, reference))
        pairs_of_runs = [(model, other) for model in own for other in before]
        # Of several pairs of runs there is no test.
        tested = len(pairs_of_runs) == 1
        changes = [churn_of(cells, *pair, tested=tested) for pair in pairs_of_runs]
        rows[name]["changed"] = float(np.mean([change.share for change in changes]))
        n_groups = len(cells.groups)
        churn["model"] += [name] * n_groups
        churn["group"] += cells.groups
        churn["n"] += changes[0].n.tolist()
        churn["changed"] += np.mean([change.changed for change in changes], axis=0).tolist()
        churn["share"] += np.mean([change.shares for change in changes], axis=0).tolist()
        churn["p_value"] += [changes[0].p_value] * n_groups
    table = pd.DataFrame(list(rows.values()))
    table["p_adjusted"] = adjust_p_values(table["p_value"].to_numpy(float), auditor.adjust)
    return ComparisonResult(
        metric=auditor.metric,
        direction=auditor.direction,
        reference=reference,
        table=table,
        pairs=pd.concat(tables, ignore_index=True),
        churn=pd.DataFrame(churn),
        confidence_level=None if auditor.interval is None else auditor.confidence_level,
        n_samples=int(cells.total) if cells.whole else cells.total,
        params=auditor.get_params(deep=False),
        kind=auditor.kind,
        question=auditor.question,
        rank=auditor.rank,
        percent=auditor.percent,
        unit=auditor.unit,
        group_columns=tuple(cells.group_columns or ()),
        citation=auditor.citation,
    )


def numbers_of_difference(value: Any, low: Any, high: Any, p_value: Any) -> dict[str, float]:
    """Return the columns that say how a model differs from the reference."""
    names = ("difference", "difference_low", "difference_high", "p_value")
    return dict(zip(names, map(float, (value, low, high, p_value)), strict=True))


def compare_runs(
    auditor: Any,
    cells: Contingency,
    reference: str,
    runs: Mapping[str, list[str]],
    models: Mapping[str, ModelRun],
    covariances_of: Callable[[list[str]], Array],
    noise_of: Callable[[list[str]], float] = lambda names: 0.0,
) -> ComparisonResult:
    """Compare training procedures, each with several runs; `runs` are the models of each.

    `covariances_of` returns the covariances of models' estimates by resampled rows, and `noise_of`
    the variance that all runs of a procedure share besides. Single rows are not followed over runs.
    """
    how: dict[str, Any] = {"confidence_level": auditor.confidence_level}
    estimates = {
        name: np.array([models[run].estimate for run in own]) for name, own in runs.items()
    }
    doubts = {name: _mean_doubt([models[run].doubt for run in own]) for name, own in runs.items()}
    numbers = {}
    for name, own in runs.items():
        rows = shared_rows(covariances_of(own)) + noise_of(own)
        mean = mean_of_runs(estimates[name], rows, doubts=(doubts[name], NO_DOUBT), **how)
        value = np.mean([models[run].value for run in own])
        ends = {"estimate": mean.value, "low": mean.low, "high": mean.high}
        numbers[name] = {key: float(number) for key, number in {"value": value, **ends}.items()}

    def difference_of(name: str) -> tuple[dict[str, float], dict[str, Any]]:
        shared = covariances_of([*runs[name], *runs[reference]])
        rows = shared_rows_of_difference(shared, len(runs[name]))
        both = doubts[name], doubts[reference]
        gap = mean_of_runs(estimates[name], rows, other=estimates[reference], doubts=both, **how)
        own, other = ([models[run] for run in runs[model]] for model in (name, reference))
        after, before = (np.mean([run.observed for run in part], axis=0) for part in (own, other))
        moved = [np.mean([run.amplification for run in part], axis=0) for part in (own, other)]
        columns = {
            **own[0].pairs,
            "reference": before,
            "observed": after,
            "difference": after - before,
            "amplification": moved[0] - moved[1],
            **dict.fromkeys(("low", "high", "p_value", "p_adjusted"), np.nan),
        }
        return numbers_of_difference(gap.value, gap.low, gap.high, gap.p_value), columns

    return comparison_result(auditor, cells, reference, numbers, difference_of, runs)


def _mean_doubt(doubts: list[Doubt]) -> Doubt:
    return Doubt(*np.mean(doubts, axis=0).tolist())


def result_of_runs(
    auditor: Any,
    test: Contingency,
    train: Contingency,
    models: list[Measured],
    of_runs: Sequence[Mapping[str, Any]],
    method: str,
) -> AuditResult:
    """Return the mean over training runs, with an interval that counts runs and rows.

    `of_runs` are the statistics of each.
    """
    check_option("method", method, METHODS)
    how: dict[str, Any] = {"confidence_level": auditor.confidence_level, "method": method}
    every = [model.pairs for model in models]
    pairs = every[0]
    columns: dict[str, Any] = {
        name: np.mean([getattr(own, name) for own in every], axis=0)
        for name in ("n", "base", "observed", "delta", "amplification")
    }
    columns |= {
        "sign": pairs.sign,
        "sign_used": np.sign(np.sum([run.signs.used for run in models], axis=0)),
    }
    # What only some runs have is not of their mean, nor is the error of a run.
    left_out = {"standard_error", "n_clusters"}
    shared = [name for name in of_runs[0] if all(name in run for run in of_runs)]
    statistics: dict[str, Any] = {
        name: float(np.mean([run[name] for run in of_runs]))
        for name in shared
        if name not in left_out
    }
    values = np.array([model.estimate for model in models])
    statistics |= {"n_runs": len(models), "between_run_sd": float(values.std(ddof=1))}
    ends: dict[str, float] = {}
    if auditor.interval is not None:
        rows, rows_of_pairs = shared_rows(covariances(models)), shared_rows_of_pairs(models)
        errors = errors_of_base(pairs, train, models[0].signs.used)
        if errors is not None:
            rows, rows_of_pairs = rows + errors.estimate, rows_of_pairs + errors.pairs
        doubt = _mean_doubt([model.doubt for model in models])
        mean = mean_of_runs(values, rows, doubts=(doubt, NO_DOUBT), **how)
        statistics["data_standard_error"] = float(np.sqrt(rows))
        ends = {"low": float(mean.low), "high": float(mean.high), "p_value": float(mean.p_value)}
        moved = mean_of_runs(np.stack([own.moved for own in every]), rows_of_pairs, **how)
        low, high = of_sizes(moved.low, moved.high) if pairs.size else (moved.low, moved.high)
        p_value = np.where(pairs.slopes == 0, np.nan, moved.p_value)
        columns |= {"low": low, "high": high, "p_value": p_value}
        columns["p_adjusted"] = adjust_p_values(p_value, auditor.adjust)
        columns |= auditor._flags(train, test, pairs)
    result: AuditResult = auditor._made(
        test,
        value=float(np.mean([own.value for own in every])),
        estimate=float(values.mean()),
        table=partial(pair_table, pairs.groups, pairs.tasks, **columns),
        statistics=statistics,
        **ends,
    )
    return result


def mean_of_results(
    auditor: Any, results: list[AuditResult], rows: float | None = None, method: str = "t"
) -> AuditResult:
    """Return the mean of audits of the same rows, with models of several runs.

    `rows` is its variance by the rows. None: it is not known what the resamples of the audits
    share. The interval then counts the whole error of the rows, and is too wide if models vary.
    """
    values = np.array([result.estimate for result in results])
    if rows is None:
        errors = [result.statistics.get("standard_error", np.nan) for result in results]
        rows = float(np.mean(np.square(errors)))
    how: dict[str, Any] = {"confidence_level": auditor.confidence_level, "method": method}
    mean = mean_of_runs(values, rows, **how)
    first = results[0]
    index = first.table.set_index(["group", "task"]).index
    aligned = [result.table.set_index(["group", "task"]).reindex(index) for result in results]
    table = first.table.copy()
    for name in ("n", *auditor.columns, "delta", "amplification"):
        table[name] = np.mean([part[name].to_numpy(float) for part in aligned], axis=0)
    table[["low", "high", "p_value", "p_adjusted"]] = np.nan
    every = [result.statistics for result in results]
    # What only some runs have is not of their mean.
    statistics: dict[str, Any] = {
        name: float(np.mean([own[name] for own in every])) if isinstance(number, float) else number
        for name, number in first.statistics.items()
        if all(name in own for own in every)
    }
    mean_result = replace(
        first,
        value=float(np.mean([result.value for result in results])),
        estimate=float(mean.value),
        low=float(mean.low),
        high=float(mean.high),
        p_value=float(mean.p_value),
        table=table,
        statistics={
            **statistics,
            "n_runs": len(results),
            "between_run_sd": float(values.std(ddof=1)),
            "data_standard_error": float(np.sqrt(rows)),
        },
        words=None,  # they are of one model
    )
    return replace(mean_result, sentence=auditor._sentence(mean_result))
