"""Several models, or several training runs of one model, measured on the same rows."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from skbiasamp._input import InputError
from skbiasamp._models import check_model, check_models, models_of, of_model, of_the_model
from skbiasamp._order import ordered
from skbiasamp.contingency import Contingency, is_contingency
from skbiasamp.inference._compare import churn_of
from skbiasamp.inference._intervals import across_runs
from skbiasamp.inference._tests import adjust_p_values
from skbiasamp.results import MODEL_COLUMNS, AuditResult, ComparisonResult


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
    if not (is_contingency(y_true) or columns):
        check_models({name: labels[name] for name in ("y_preds", "sensitive_preds")})
    like = auditor.contingency_ if auditor._fitted else None
    cells = auditor._count(y_true, labels, columns, like=like)
    models = models_of(cells)
    if not models:
        raise InputError(
            "{y_true} holds the predictions of one model. Compare needs those of two or "
            "more: Contingency.from_labels(y_true, y_preds={{'old': ..., 'new': ...}})."
        )
    named = models[0] if reference is None else reference
    check_model(named, models, "reference")
    cells = ordered(cells)  # random numbers then do not depend on the order of rows
    for model in models:
        with of_the_model(model):
            auditor._check(of_model(cells, model))
    result: ComparisonResult = auditor._compare_models(cells, named)
    return result


def comparison_result(
    auditor: Any,
    cells: Contingency,
    reference: str,
    models: list[dict[str, Any]],
    pairs: pd.DataFrame,
) -> ComparisonResult:
    """Return the result of a comparison: models measured, and how many rows differ between them.

    `models` has a row for each model, `pairs` one for each pair of each but the reference.
    """
    rows = {row["model"]: row for row in models}
    others = [model for model in cells.models if model != reference]
    churn: dict[str, list[Any]] = {"model": [], "group": [], "n": [], "changed": []}
    churn |= {"share": [], "p_value": []}
    for model in others:
        found = churn_of(cells, model, reference)
        rows[model]["changed"] = found.share
        n_groups = len(cells.groups)
        churn["model"] += [model] * n_groups
        churn["group"] += cells.groups
        churn["n"] += found.n.tolist()
        churn["changed"] += found.changed.tolist()
        churn["share"] += found.shares.tolist()
        churn["p_value"] += [found.p_value] * n_groups
    p_values = np.array([rows[model]["p_value"] for model in (reference, *others)], dtype=float)
    adjusted = adjust_p_values(p_values, auditor.adjust)
    table = {
        name: [rows[model].get(name, np.nan) for model in (reference, *others)]
        for name in dict.fromkeys((*MODEL_COLUMNS, *rows[reference], *rows[others[0]]))
    }
    table["p_adjusted"] = adjusted.tolist()
    return ComparisonResult(
        metric=auditor.metric,
        direction=auditor.direction,
        reference=reference,
        table=pd.DataFrame(table),
        pairs=pairs,
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
    )


def over_runs(auditor: Any, runs: list[AuditResult], method: str) -> AuditResult:
    """Return the mean over training runs, with the interval of that mean."""
    over = partial(across_runs, confidence_level=auditor.confidence_level, method=method)
    index = runs[0].table.set_index(["group", "task"]).index
    aligned = [run.table.set_index(["group", "task"]).reindex(index) for run in runs]
    table = runs[0].table.copy()
    for name in ("n", *auditor.columns, "delta", "amplification"):
        table[name], *ends = over(np.stack([one[name].to_numpy(float) for one in aligned]))
    table["low"], table["high"] = ends  # those of the amplification
    table[["p_value", "p_adjusted"]] = np.nan
    values = np.array([run.value for run in runs])
    errors, signed, above = (
        np.array([run.statistics.get(name, np.nan) for run in runs])
        for name in ("standard_error", "signed_mean", "above_chance_low")
    )
    statistics: dict[str, Any] = {
        **{k: v for k, v in runs[0].statistics.items() if k == "attacker"},
        **{
            k: float(np.mean([run.statistics[k] for run in runs]))
            for k in runs[0].statistics
            if k.startswith("chance_")
        },
        "n_runs": len(runs),
        "between_run_sd": float(values.std(ddof=1)),
        "data_standard_error": float(np.sqrt((errors**2).mean())),
    }
    # What the verdict about a size, and about attackers, is derived from.
    if auditor.kind == "size":
        names = ("signed_mean", "signed_mean_low", "signed_mean_high")
        statistics |= dict(zip(names, map(float, over(signed)), strict=True))
    elif auditor.kind == "attack" and not np.isnan(above).all():
        statistics["above_chance_low"] = float(above.mean())
    value, low, high = map(float, over(values))
    mean = replace(
        runs[0],
        value=value,
        low=low,
        high=high,
        confidence_level=auditor.confidence_level,
        p_value=float("nan"),
        table=table,
        statistics=statistics,
        words=None,  # they are of one run
    )
    return replace(mean, sentence=auditor._sentence(mean))
