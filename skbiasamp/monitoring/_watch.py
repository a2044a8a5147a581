"""The watch itself: every period against the reference and all periods before it; its tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from skbiasamp._input.checks import Array
from skbiasamp._utils.progress import progress
from skbiasamp._utils.random import chunks
from skbiasamp.counts.contingency import Contingency
from skbiasamp.counts.draws import divided, resampled_like
from skbiasamp.counts.merging import merged
from skbiasamp.monitoring._sequential import Evidence, adjusted, evidence, normal_scores
from skbiasamp.results import AuditResult
from skbiasamp.results.timeline import PAIR_COLUMNS, PERIOD_COLUMNS, RATE_COLUMNS

_HALF = 0.5  # of the error rate is the value's, the other half is shared by the pairs
_ENOUGH = 99  # draws for a mean
_FEW_PERIODS = 5  # fewer do not show how much the periods of a reference vary
_RARE = 0.01
_UNKNOWN = ("value", "low", "high", "expected", "difference", "p_adjusted")


class Watched(NamedTuple):
    """What a watch finds, one row a period: the value first, then the pairs."""

    expected: Array  # what the reference shows with as many rows of each group
    scores: Array  # (sequences × periods)
    p_value: Array  # of the value, adjusted for all looks and sequences
    p_pairs: Array  # (pairs × periods)
    onset: Array
    onset_pairs: Array


def watched(
    auditor: Any,
    reference: Contingency,
    periods: Sequence[Contingency | None],
    *,
    n_draws: int,
    rng: np.random.Generator,
) -> Watched:
    """Watch periods in their order; None is a period without rows.

    `auditor` has learned the reference, whose groups and tasks all periods have.
    """
    watch = against_all_before(auditor, reference, periods, n_draws=n_draws, rng=rng)
    expected = np.full_like(watch.scores, np.nan)
    for i, period in enumerate(periods):
        if period is not None and period.total:
            alike = resampled_like(reference, period, min(n_draws, _ENOUGH), rng)
            expected[:, i] = _mean(_sequences(auditor, alike))
    return watch._replace(expected=expected)


def against_all_before(
    auditor: Any,
    reference: Contingency,
    periods: Sequence[Contingency | None],
    *,
    n_draws: int,
    rng: np.random.Generator,
) -> Watched:
    """Compare each period with the reference and all periods before it: the rule."""
    n_pairs = auditor.values_of_draws(divided(reference, reference, 1, rng))[1].shape[1]
    scores = np.full((1 + n_pairs, len(periods)), np.nan)
    rows = np.zeros_like(scores)
    before = reference
    with progress("periods", len(periods)) as step:
        for i, period in enumerate(periods):
            if period is not None and period.total:
                scores[:, i] = scored(auditor, before, period, n_draws, rng)
                rows[:, i] = rows_behind(auditor, period, n_pairs)
                before = merged([before, period])
            step.advance()
    against: Evidence = evidence(scores, rows, rows_behind(auditor, reference, n_pairs))
    share = _HALF if n_pairs else 1.0
    return Watched(
        scores,
        scores,
        adjusted(against.log[:1], share)[0],
        adjusted(against.log[1:], (1 - share) / max(n_pairs, 1)),
        against.onset[0],
        against.onset[1:],
    )


def scored(
    auditor: Any, before: Contingency, period: Contingency, n_draws: int, rng: np.random.Generator
) -> Array:
    """Return the normal score of a period among random divisions: of the value, and of pairs.

    Signs are those of all these rows together, which no division changes. Those of the reference
    would share its noise, and rows that changed nothing would seem to have changed.
    """
    auditor = auditor.learn_signs(merged([before, period]))
    values = [
        _sequences(auditor, divided(before, period, size, rng))
        for size in chunks(n_draws, before.n_cells + period.n_cells)
    ]
    return normal_scores(np.concatenate([chunk[1:] for chunk in values]), values[0][0])


def _sequences(auditor: Any, drawn: Contingency) -> Array:
    value, pairs = auditor.values_of_draws(drawn)
    return np.column_stack([value, pairs])


def _mean(values: Array) -> Array:
    known = ~np.isnan(values)
    n = known.sum(axis=0)
    total = np.where(known, values, 0.0).sum(axis=0)
    return np.divide(total, n, out=np.full(len(n), np.nan), where=n > 0)


def rows_behind(auditor: Any, period: Contingency, n_pairs: int) -> Array:
    """Return how many rows the value and each pair rest on."""
    n = auditor.pairs_of(period)[1].n.ravel() if n_pairs else np.empty(0)
    return np.append(period.rows.sum(), np.nan_to_num(n) * period.rows_per_weight)


def varies(
    auditor: Any, periods: Sequence[Contingency], *, n_draws: int, rng: np.random.Generator
) -> bool:
    """Return whether the periods of a reference differ more than rows drawn at random would."""
    if len(periods) < _FEW_PERIODS:
        return False
    before, scores = periods[0], []
    for period in periods[1:]:
        scores.append(scored(auditor, before, period, n_draws, rng)[0])
        before = merged([before, period])
    known = np.array(scores)[~np.isnan(scores)]
    return bool(len(known) and stats.chi2.sf((known**2).sum(), len(known)) < _RARE)


# --------------------------------------------------------------------------- tables


def rates_over(
    whole: AuditResult, results: Mapping[str, AuditResult], later: Sequence[str]
) -> pd.DataFrame:
    """Return how often each group has each task: in the reference (no period), and later."""
    own = [(None, whole), *((name, results[name]) for name in later if name in results)]
    known = {"labelled": "base"} if whole.labelled else {}
    known |= {"predicted": "observed"}
    tables = []
    are_rates = whole.kind.is_signed and whole.direction == "A->T" and whole.percent
    for period, result in own if are_rates else []:
        table = result.table[["group", "task", "n"]].assign(period=period, labelled=np.nan)
        tables.append(table.assign(**{new: result.table[old] for new, old in known.items()}))
    return pd.concat(tables)[list(RATE_COLUMNS)] if tables else pd.DataFrame(columns=RATE_COLUMNS)


def period_table(
    versions: Mapping[str, str],
    roles: Mapping[str, str],
    sizes: Mapping[str, float],
    results: Mapping[str, Any],
    later: Sequence[str],
    watched: Watched,
    alpha: float,
) -> pd.DataFrame:
    """Return one row a period; one without a result has too few rows, or none."""
    rows = []
    for name, role in roles.items():
        row: dict[str, Any] = dict.fromkeys(PERIOD_COLUMNS) | dict.fromkeys(_UNKNOWN, np.nan)
        row |= {"period": name, "role": role, "version": versions.get(name)}
        row |= {"n": sizes.get(name, 0), "alarm": False, "cause": ""}
        if name in results:
            result = results[name]
            if result.statistics.get("n_groups") != 1:  # else nothing is compared
                row |= {"value": result.value, "low": result.low, "high": result.high}
            row["n"] = result.n_samples
        if name in later:
            at = later.index(name)
            p_value, p_pairs, onset = watched.p_value[at], watched.p_pairs[:, at], watched.onset[at]
            least = p_pairs.min(initial=1.0)
            if least < p_value:
                onset = watched.onset_pairs[p_pairs.argmin(), at]
            n = int((p_pairs <= alpha).sum())
            causes = ["value"] * bool(p_value <= alpha)
            causes += [f"{n} pair{'s' * (n != 1)}"] * bool(n)
            row["expected"] = watched.expected[0, at]
            row["difference"] = row["value"] - row["expected"]
            row["p_adjusted"] = min(p_value, least)
            row["alarm"] = bool(row["p_adjusted"] <= alpha)
            row |= {"cause": " and ".join(causes), "onset": later[onset]}
        rows.append(row)
    return pd.DataFrame(rows, columns=list(PERIOD_COLUMNS))


def pairs_table(
    names: pd.DataFrame,
    results: Mapping[str, Any],
    later: Sequence[str],
    watched: Watched,
    alpha: float,
) -> pd.DataFrame:
    """Return one row for each period and pair that is watched."""
    if not (later and len(watched.p_pairs)):
        return pd.DataFrame(columns=list(PAIR_COLUMNS))
    unknown = names.assign(amplification=np.nan, n=0)
    tables = [results[name].table if name in results else unknown for name in later]
    value, n = (np.concatenate([part[name] for part in tables]) for name in ("amplification", "n"))
    expected, p = watched.expected[1:].T.ravel(), watched.p_pairs.T.ravel()
    columns = {
        "period": np.repeat(np.array(later, dtype=object), len(names)),
        **{name: np.tile(names[name].to_numpy(), len(later)) for name in names},
        "value": value,
        "n": n,
        "expected": expected,
        "difference": value - expected,
        "p_adjusted": p,
        "alarm": p <= alpha,
        "onset": [later[at] for at in watched.onset_pairs.T.ravel()],
    }
    return pd.DataFrame(columns)[list(PAIR_COLUMNS)]
