"""Candidates of a search by what they did on folds: what they change, what they cost, who wins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import ndtri

from skbiasamp._utils.formatting import INCONCLUSIVE, OUTSIDE, WITHIN
from skbiasamp._utils.warnings import collected
from skbiasamp.model_selection.folds import over_folds, pooled_comparison
from skbiasamp.results import ComparisonResult
from skbiasamp.results.mitigation_search import BASELINE, FAILED, STOPPED

_NUMBERS = ("value", "low", "high", "change", "change_low", "change_high", "rows_changed")
_PLACES = [WITHIN, INCONCLUSIVE, OUTSIDE, STOPPED, FAILED]
_CHOICE = "the choice"  # name of what is chosen in each fold


class Fold(NamedTuple):
    """What a model did on one fold."""

    sizes: dict[str, int]
    values: dict[str, float]  # scores, then amplifications
    held_out: dict[str, Any]  # labels and predictions
    seconds: float
    lacks: str  # to be measured


@dataclass(frozen=True)
class Ranking:
    """The rule by which candidates are ranked; the first metric decides."""

    metrics: dict[str, Any]  # auditors of all rows, by the name of their measure
    limit: float | None
    confidence_level: float

    def of(
        self, folds: dict[str, list[Fold]], ends: Mapping[str, str]
    ) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, ComparisonResult]]:
        """Return a row a candidate, the best first; a row a measure; and comparisons by metric.

        `ends` says why a candidate was not trained on all folds.
        """
        held_out = {
            name: [fold.held_out for fold in own] for name, own in folds.items() if name not in ends
        }
        comparisons, audits = {}, []
        for measure, metric in self.metrics.items():
            if len(held_out) > 1:
                comparisons[measure] = pooled_comparison(metric, held_out, BASELINE)
                audits.append(comparisons[measure].table.set_index("model"))
            else:
                audit = metric.audit(
                    sum(metric.count_audited(**labels) for labels in held_out[BASELINE])
                )
                row = {"value": audit.value, "low": audit.low, "high": audit.high}
                audits.append(pd.DataFrame([row], index=[BASELINE]))
        measures = self._measures(folds, ends)
        return self._ranked(folds, ends, measures, audits[0]), measures, comparisons

    def winner(self, table: pd.DataFrame) -> str | None:
        """Return the best candidate of a table, if it is within the limit."""
        return str(table["candidate"].iloc[0]) if table["status"].iloc[0] == WITHIN else None

    def of_the_choice(self, folds: dict[str, list[Fold]]) -> dict[str, float]:
        """Return the row of the choice on rows that did not choose.

        In each fold it is the candidate that ranks first on the other folds.
        """
        first = replace(self, metrics=dict([*self.metrics.items()][:1]))
        chosen = []
        with collected():  # the ranking by all folds has said it
            for at in range(len(folds[BASELINE])):
                others = {name: own[:at] + own[at + 1 :] for name, own in folds.items()}
                chosen.append(folds[first.of(others, {})[0]["candidate"].iloc[0]][at])
            table = first.of({BASELINE: folds[BASELINE], _CHOICE: chosen}, {})[0]
        row: Any = table.set_index("candidate").drop(columns=["seconds", "status"]).loc[_CHOICE]
        return {name: float(value) for name, value in row.items()}

    def _measures(self, folds: dict[str, list[Fold]], ends: Mapping[str, str]) -> pd.DataFrame:
        """Return a row for each candidate and measure."""
        first = folds[BASELINE]
        rows: list[dict[str, Any]] = []
        for name, own in folds.items():
            for measure in first[0].values:
                row: dict[str, Any] = {"mitigation": name, "measure": measure}
                row |= dict.fromkeys(_NUMBERS, np.nan) | {"error": ends.get(name)}
                rows.append(row)
                if not own:
                    continue
                table = pd.DataFrame([fold.sizes | fold.values for fold in own]).assign(repeat=0)
                before = np.array([fold.values[measure] for fold in first[: len(own)]])
                change = table.assign(**{measure: table[measure] - before})
                numbers = [
                    over_folds(part, measure, self.confidence_level)[:3] for part in (table, change)
                ]
                every = [*np.ravel(numbers), _share_changed(own, first)]
                row |= dict(zip(_NUMBERS, every, strict=True))
        return pd.DataFrame(rows)

    def _ranked(
        self,
        folds: dict[str, list[Fold]],
        ends: Mapping[str, str],
        measures: pd.DataFrame,
        audits: pd.DataFrame,
    ) -> pd.DataFrame:
        """Return a row for each candidate, the best first; `audits` has values and intervals."""
        score, limit = measures["measure"].iloc[0], np.nan if self.limit is None else self.limit
        scores = measures[measures["measure"] == score].reset_index(drop=True)
        # The intervals of changes hold for all candidates together.
        tail = (1 - self.confidence_level) / 2
        part = ndtri(tail / max(len(audits) - 1, 1)) / ndtri(tail)
        known: Any = audits.to_dict("index")
        table = audits[["value", "low", "high"]].reindex(list(folds))
        table = table.rename_axis("candidate").reset_index()
        table[["change", "change_low", "change_high"]] = [
            _of_sizes(known[BASELINE], known[name], part)
            if name in known and name != BASELINE
            else (np.nan,) * 3
            for name in folds
        ]
        table[score], table["loss"] = scores["value"], -scores["change"]
        table["loss_low"], table["loss_high"] = -scores["change_high"], -scores["change_low"]
        seconds = [[fold.seconds for fold in own] for own in folds.values()]
        table["seconds"] = [float(np.mean(own)) if own else np.nan for own in seconds]
        table["status"] = np.select(
            [
                [ends.get(name) == STOPPED for name in folds],
                [name not in known for name in folds],
                (table["low"] > -limit) & (table["high"] < limit),
                (table["low"] > limit) | (table["high"] < -limit),
            ],
            [STOPPED, FAILED, WITHIN, OUTSIDE],
            INCONCLUSIVE,
        )
        order = table.assign(
            place=table["status"].map(_PLACES.index),
            cost=table["loss"].clip(lower=0).where(table["status"] == WITHIN, 0),
            other=table["candidate"] != BASELINE,
            size=table["value"].abs(),
        )
        keys = ["place", "cost", "other", "size"]
        return table.loc[order.sort_values(keys, kind="stable").index].reset_index(drop=True)


def _share_changed(own: list[Fold], first: list[Fold]) -> float:
    """Return the share of held-out rows whose predictions differ."""
    ours, theirs = (
        np.concatenate([np.asarray(fold.held_out["y_pred"]) for fold in folds])
        for folds in (own, first[: len(own)])
    )
    return float(np.mean((ours != theirs).reshape(len(ours), -1).any(axis=1)))


def _of_sizes(
    before: Mapping[str, float], after: Mapping[str, float], part: float
) -> tuple[float, float, float]:
    """Return the change of the size of a value, and its interval, `part` times as wide.

    ``|a| - |b|`` is the larger of ``a - |b|`` and ``-a - |b|``. The paired interval is that of one
    of them; the variance of the other follows from those of `a`, `b` and their difference.
    """
    errors = [row["high"] - row["low"] for row in (before, after)]
    paired = after["difference_high"] - after["difference_low"]
    reach = np.sqrt(max(2 * (errors[0] ** 2 + errors[1] ** 2) - paired**2, 0)) / 2
    total = after["value"] + before["value"]
    difference = tuple(after[f"difference{end}"] for end in ("", "_low", "_high"))
    plus = (total, total - reach, total + reach)
    if before["value"] < 0:
        pairs = zip(plus, (-difference[0], -difference[2], -difference[1]), strict=True)
    else:
        pairs = zip(difference, (-plus[0], -plus[2], -plus[1]), strict=True)
    value, low, high = (max(pair) for pair in pairs)
    return value, value - part * (value - low), value + part * (high - value)
