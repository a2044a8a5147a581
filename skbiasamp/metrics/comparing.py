"""Several models, or several training runs of one model, measured on the same rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from skbiasamp._input.checks import Array, check_models
from skbiasamp._input.errors import InputError
from skbiasamp.counts.contingency import Contingency
from skbiasamp.counts.merging import differ_in_group
from skbiasamp.inference.hypothesis_tests import adjust_p_values, churn_of
from skbiasamp.inference.runs import Mean, mean_of_runs
from skbiasamp.results import MODEL_COLUMNS, AuditResult, ComparisonResult


def mean_of_models(auditor: Any, cells: Contingency, method: str = "t") -> AuditResult:
    """Return the mean of the models of ordered cells, which are runs of one training."""
    measured: Runs = auditor._for_models(cells)._runs(cells)
    results = [*measured.results.values()]
    rows, df_of_rows = measured.rows(cells.models, ())
    verdict_of = partial(measured.verdict, cells.models)
    return mean_of_results(
        auditor, results, rows, method, measured.of_pairs(method), df_of_rows, verdict_of
    )


RUN = "run"
DIFFERENCE = ("difference", "difference_low", "difference_high", "p_value")
_CHURN = ("model", "group", "n", "changed", "share", "p_value")


def each_run(y_true: Any, labels: dict[str, Any]) -> tuple[dict[str, list[str]], dict[str, Any]]:
    """Return the names of the runs of each procedure, and labels with predictions by these names.

    There are no runs if every model has one prediction a row.
    """
    given = {name: labels[name] for name in ("y_preds", "sensitive_preds")}
    check_models(given)
    # Labels or groups, of as many rows as every run predicts.
    rows = labels["sensitive_features"] if y_true is None else y_true
    every = [models for models in given.values() if models is not None]
    n_runs = {
        model: {len(models[model]) if _are_runs(models[model], rows) else 0 for models in every}
        for model in every[0]
    }
    if not any(map(any, n_runs.values())):
        return {}, labels
    wrong = [model for model, sizes in n_runs.items() if len(sizes) > 1 or min(sizes) < 2]
    if wrong:
        raise InputError(
            "{y_preds} must hold a list of two runs or more for every model ({sensitive_preds} as "
            "many), or one prediction a row for every model; {seen!r} does not.",
            seen=wrong[0],
        )
    names = {model: [f"{model} {i + 1}" for i in range(*n)] for model, n in n_runs.items()}
    return names, labels | by_run(names, given)


def by_run(names: Mapping[str, list[str]], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return predictions by the names of runs; None if all of them are."""
    flat = {
        name: {
            run: predictions
            for model, runs in (models or {}).items()
            for run, predictions in zip(names[model], runs, strict=True)
            if predictions is not None
        }
        for name, models in given.items()
    }
    if not any(flat.values()):
        raise InputError("{y_preds} holds no predictions.")
    for name, runs in flat.items():
        lacking = [run for of_model in names.values() for run in of_model if run not in runs]
        if runs and lacking:
            raise InputError("{name} has no predictions of {run!r}.", name=name, run=lacking[0])
    return {name: runs or None for name, runs in flat.items()}


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
    there = [_length(run) for run in value if run is not None]
    sizes = {-1 if length is None else length for length in there}
    return sizes <= {n} and len(there) in (0, len(value)) and (len(value) != n or not there)


class Runs(NamedTuple):
    """Runs of trainings on the same rows: the result of each, by name, and what they share.

    `moved` is each pair's amplification. `rows` returns the variance by rows of the mean of some
    runs, or of its difference to that of others, and its degrees of freedom. `verdict` says what an
    interval of the mean of some runs says, and `of_pairs` returns columns of pairs in the table of
    their mean, by its `method`.
    """

    results: Mapping[str, AuditResult]
    moved: Mapping[str, Array]
    rows: Callable[[Sequence[str], Sequence[str]], tuple[float, float]]
    verdict: Callable[[Sequence[str], Mean], str] = lambda names, mean: ""
    of_pairs: Callable[[str], Mapping[str, Any]] = lambda method: {}


def comparison_result(
    auditor: Any,
    cells: Contingency,
    reference: str,
    models: Mapping[str, Mapping[str, Any]],
    difference_of: Callable[[str], tuple[Mean, Any]],
    runs: Mapping[str, list[str]] | None = None,
    *,
    same_rows: bool = True,
) -> ComparisonResult:
    """Return the result of a comparison: models measured, and how many rows differ between them.

    `models` have their value and interval; `difference_of` returns a model's difference
    to the reference, and the columns of its table of pairs. `runs` are the models of each training
    procedure, if these are compared: rows that differ are then means over the pairs of their runs.
    Models that do not have the `same_rows` have none that differ.
    """
    others = [model for model in models if model != reference]
    if auditor._uses_groups and not (differ_in_group(cells) or auditor._judges_one_group):
        unknown = dict.fromkeys(("value", "low", "high"), np.nan)
        if not auditor._publishes_one_group:
            unknown["published"] = np.nan
        models = {model: {**numbers, **unknown} for model, numbers in models.items()}
    nothing = dict.fromkeys(MODEL_COLUMNS[1:], np.nan)
    rows: dict[str, dict[str, Any]] = {
        model: {"model": model, **nothing, **models[model]} for model in (reference, *others)
    }
    tables, churn = [], [pd.DataFrame(columns=_CHURN)]
    for name in others:
        gap, pairs = difference_of(name)
        if np.isnan(models[name]["value"] - models[reference]["value"]):
            gap = Mean(*[np.nan] * 4)
        rows[name] |= dict(zip(DIFFERENCE, map(float, gap), strict=True))
        tables.append(pd.DataFrame({"model": name, **pairs}))
        if not same_rows:
            continue
        own, before = ([model] if runs is None else runs[model] for model in (name, reference))
        pairs_of_runs = [(model, other) for model in own for other in before]
        # Several pairs of runs have no test.
        tested = len(pairs_of_runs) == 1
        changes = [churn_of(cells, *pair, tested=tested) for pair in pairs_of_runs]
        rows[name]["changed"] = float(np.mean([change.share for change in changes]))
        known = {
            "model": name,
            "group": list(cells.groups),
            "n": changes[0].n,
            "changed": np.mean([change.changed for change in changes], axis=0),
            "share": np.mean([change.shares for change in changes], axis=0),
            "p_value": changes[0].p_value,
        }
        churn.append(pd.DataFrame(known))
    table = pd.DataFrame(list(rows.values()))
    table["p_adjusted"] = adjust_p_values(table["p_value"].to_numpy(float), auditor.adjust)
    return ComparisonResult(
        reference=reference,
        table=table,
        pairs=pd.concat(tables, ignore_index=True),
        churn=pd.concat(churn[1:] or churn, ignore_index=True),
        n_samples=int(cells.total) if cells.whole else cells.total,
        group_columns=tuple(cells.group_columns or ()),
        **auditor._declaration_for(ComparisonResult),
    )


def numbers_of_model(result: AuditResult) -> dict[str, Any]:
    """Return the columns that say how a model was audited."""
    return {
        name: getattr(result, name) for name in ("value", "published", "low", "high", "verdict")
    }


def compare_runs(
    auditor: Any, cells: Contingency, reference: str, runs: Mapping[str, list[str]]
) -> ComparisonResult:
    """Compare training procedures, each with several runs; `runs` are the models of each.

    Single rows are not followed over runs.
    """
    how: dict[str, Any] = {"confidence_level": auditor.confidence_level}
    measured: Runs = auditor._runs(cells)
    # Attackers name the side of the model last.
    observed = "observed" if "observed" in auditor.columns else [*auditor.columns][-1]
    values = {
        name: np.array([measured.results[run].value for run in own]) for name, own in runs.items()
    }
    numbers = {}
    for name, own in runs.items():
        rows, df = measured.rows(own, ())
        mean = mean_of_runs(values[name], rows, df_of_rows=df, **how)
        published = np.mean([measured.results[run].published for run in own])
        known = {"value": mean.value, "published": published, "low": mean.low, "high": mean.high}
        numbers[name] = {key: float(number) for key, number in known.items()}

    def mean_of(name: str, of: Callable[[str], Any]) -> Array:
        return np.asarray(np.mean([of(run) for run in runs[name]], axis=0))

    def difference_of(name: str) -> tuple[Mean, dict[str, Any]]:
        rows, df = measured.rows(runs[name], runs[reference])
        gap = mean_of_runs(values[name], rows, other=values[reference], df_of_rows=df, **how)
        table = measured.results[runs[name][0]].table
        models = name, reference
        after, before = (
            mean_of(model, lambda run: measured.results[run].table[observed]) for model in models
        )
        moved = [mean_of(model, measured.moved.__getitem__) for model in models]
        columns = {
            **table[[own for own in ("group", "task", "n", "sign", "base") if own in table]],
            "reference": before,
            "observed": after,
            "difference": after - before,
            "amplification": moved[0] - moved[1],
            **dict.fromkeys(("low", "high", "p_value", "p_adjusted"), np.nan),
        }
        return gap, columns

    return comparison_result(auditor, cells, reference, numbers, difference_of, runs)


def mean_of_results(
    auditor: Any,
    results: list[AuditResult],
    rows: float | None = None,
    method: str = "t",
    of_pairs: Mapping[str, Any] | None = None,
    df_of_rows: float = math.inf,
    verdict_of: Callable[[Mean], str] = lambda mean: "",
) -> AuditResult:
    """Return the mean of audits of the same rows, with models of several runs.

    `rows` is its variance by the rows. None: it is not known what the audits share. The interval
    then includes the whole error of the rows: too wide if models vary. `of_pairs` are columns of
    its table that are no means, and `verdict_of` says what its interval means.
    """
    values = np.array([result.value for result in results])
    if rows is None:
        errors = [result.statistics.get("standard_error", np.nan) for result in results]
        rows = float(np.mean(np.square(errors)))
    how: dict[str, Any] = {"confidence_level": auditor.confidence_level, "method": method}
    mean = mean_of_runs(values, rows, df_of_rows=df_of_rows, **how)
    first = results[0]
    index = first.table.set_index(["group", "task"]).index
    aligned = [result.table.set_index(["group", "task"]).reindex(index) for result in results]
    table = first.table.copy()
    means = ("n", *auditor.columns, "delta", "change", "sign_weight", "amplification")
    for name in [name for name in means if name in table]:
        table[name] = np.mean([part[name].to_numpy(float) for part in aligned], axis=0)
    nothing = dict.fromkeys(("low", "high", "p_value", "p_adjusted"), np.nan)
    table = table.assign(**nothing | dict(of_pairs or {}))
    statistics = _mean_statistics([result.statistics for result in results])
    statistics |= {"n_runs": len(results), "between_run_sd": float(values.std(ddof=1))}
    if auditor.interval is not None:
        statistics["data_standard_error"] = float(np.sqrt(rows))
    published = np.array([result.published for result in results])
    of_published = mean_of_runs(published, 0.0, **how | {"method": "runs"})
    if auditor.interval is None:
        of_published = of_published._replace(low=np.nan, high=np.nan)
    numbers: dict[str, Any] = {name: float(number) for name, number in mean._asdict().items()}
    return replace(
        first,
        **numbers,
        published=float(published.mean()),
        published_low=float(of_published.low),
        published_high=float(of_published.high),
        verdict=verdict_of(mean),
        table=table,
        statistics=statistics,
        estimand=f"{first.estimand} It is the mean over runs of the same training.",
        words=None,  # they are of one model
    )


def _mean_statistics(every: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the statistics of a mean over runs: means of the numbers in which these differ."""
    means = {}
    for name, number in every[0].items():
        # What only some runs have is not of their mean, nor is the error of a run.
        if name == "standard_error" or any(name not in own for own in every):
            continue
        numbers = [own[name] for own in every]
        counted = isinstance(number, int | float) and not isinstance(number, bool)
        means[name] = float(np.mean(numbers)) if counted and len({*numbers}) > 1 else number
    return means
