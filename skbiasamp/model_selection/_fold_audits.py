"""Audits of folds, and how they vary with the sample: models trained on halves of the rows."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.model_selection import GroupKFold

from skbiasamp._input.checks import Array
from skbiasamp._utils.formatting import ADDS, NO_EFFECT, NOT_MEASURED
from skbiasamp._utils.version import made_now
from skbiasamp._utils.warnings import collected
from skbiasamp.inference import adjust_p_values
from skbiasamp.inference.influence import interval
from skbiasamp.inference.runs import Mean
from skbiasamp.metrics.comparing import mean_of_results
from skbiasamp.metrics.functions import TRAINING, lacks
from skbiasamp.model_selection.folds import Repeat, check_lacks, of_held_out, over_folds, splits_of
from skbiasamp.model_selection.row_classifier import LabelledRows
from skbiasamp.render.words import express
from skbiasamp.results import AuditResult, CrossAuditResult
from skbiasamp.results.cross_audit import findings_of_training


def cut_in_halves(
    n: int, X: Any, strata: Any, groups: Any, rng: np.random.RandomState
) -> list[Any]:
    """Return `n` times two random halves of the rows, each of which trains a model for the other.

    `groups` stay together.
    """

    def two() -> Any:
        seed = rng.randint(2**31 - 1)
        return 2 if groups is None else GroupKFold(2, shuffle=True, random_state=seed)

    return [splits_of(two(), X, strata, groups, rng) for _ in range(n)]


class Spread(NamedTuple):
    """Variances of numbers over samples, and their degrees of freedom; NaN if not known."""

    variance: Array
    df: Array

    def interval(self, values: Any, level: float) -> tuple[Any, Any, Any]:
        """Return the intervals of numbers, and the p-values of 0."""
        return interval(values, np.sqrt(self.variance), self.df, level)


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
        given = {
            name: None
            if every[0] is None
            else np.concatenate([every[other][test] for other in others])
            for name, every in self.predicted.items()
        }
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


def spread_of(numbers: Array) -> Spread:
    """Return the variances of numbers of the whole sample, by those of its halves.

    Splits that are not measured are left out.
    """
    each = (numbers[:, 0] - numbers[:, 1]) ** 2 / 4
    n = (~np.isnan(each)).sum(axis=0).astype(float)
    variance = np.divide(np.nansum(each, axis=0), n, out=np.full(n.shape, np.nan), where=n > 0)
    return Spread(variance, n)


# --------------------------------------------------------------------------- audits of folds


_OF_ALL = ("n", "sign", "direction_clear", "reliable")  # columns that are no means over folds
_OF_RUNS = ("n_runs", "between_run_sd", "data_standard_error")
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
        pooled.append((of_held_out(auditor, cut).audit(cells), cells, cut))
    check_lacks(lacking)
    table = pd.DataFrame(rows)
    whole = pooled[0][0]
    if len(pooled) > 1:
        whole = mean_of_results(auditor, [result for result, *_ in pooled])
    mean = _mean_of_folds(auditor, measured, whole)
    numbers = halves.numbers(name, auditor, pairs_in(mean))
    level = auditor.confidence_level
    judged = over_samples(table, "value", numbers[:, :, 0], level, whole.judged)
    procedure = _procedure(auditor, mean, spread_of(numbers), judged)
    _, cells, cut = pooled[0]
    verdict = of_held_out(auditor, cut).verdict_for(cells, judged)
    result = CrossAuditResult(
        {name: _with_verdict(procedure, verdict)},
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
    spread = spread_of(numbers)
    if not spread.df > 0:
        return Mean(*over_folds(table, measure, level, rows=_variance_of(judged, level)))
    value = float(table[measure].mean())
    return Mean(value, *map(float, spread.interval(value, level)))


def _procedure(auditor: Any, mean: AuditResult, spread: Spread, judged: Mean) -> AuditResult:
    """Return the result of the way of training: the mean over folds, and intervals over samples."""
    level = auditor.confidence_level
    numbers = value_and_changes(mean, pairs_in(mean))
    low, high, p_value = (part[1:] for part in spread.interval(numbers, level))
    # All pairs at once: as if they were independent, which no correlation needs (Sidak).
    together = spread.interval(numbers, level ** (1 / max(len(numbers) - 1, 1)))
    table = mean.table.assign(
        low=low,
        high=high,
        p_value=p_value,
        p_adjusted=adjust_p_values(p_value, auditor.adjust),
        low_simultaneous=together[0][1:],
        high_simultaneous=together[1][1:],
    )
    statistics = {name: number for name, number in mean.statistics.items() if name not in _OF_RUNS}
    error = {"standard_error": float(np.sqrt(spread.variance[0]))}
    return replace(
        mean,
        low=judged.low,
        high=judged.high,
        p_value=judged.p_value,
        confidence_level=level,
        published_low=math.nan,
        published_high=math.nan,
        table=table,
        statistics=statistics | error | {"degrees_of_freedom": float(spread.df[0])},
        estimand=express("tables", "of_samples"),
        null=express("tables", "null_of_samples"),
        words=None,
    )


def _with_verdict(result: AuditResult, verdict: str) -> AuditResult:
    """Return the result with what its interval says; a difference that is added is tested too.

    Equal labels of all rows make folds differ from the rest: their values are then above 0.
    """
    if verdict == ADDS:
        low, high = result.table["low_simultaneous"], result.table["high_simultaneous"]
        verdict = ADDS if ((low > 0) | (high < 0)).any() else NO_EFFECT
    # Without one, it is read from the interval.
    return replace(result, verdict=verdict)


def _variance_of(judged: Sequence[float], confidence_level: float) -> float:
    """Return the variance of a number that has an interval, 0 if there is none."""
    _, low, high = judged
    error = (high - low) / (2 * float(stats.norm.isf((1 - confidence_level) / 2)))
    return 0.0 if np.isnan(error) else error**2
