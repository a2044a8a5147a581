"""Alarms that hold over a whole watch: ranks among random divisions, and evidence of a change.

A period is compared with random divisions of the rows known so far, into as many rows of each
group as the period has. If nothing changed, its rank among them is uniform, and ranks of different
periods are independent (Vovk, Gammerman & Shafer 2005, Algorithmic Learning in a Random World,
Sec. 2.2: conformal p-values are). The error of the reference is thereby included, and values need
not be normal. Evidence is the likelihood ratio of a step of unknown size that began in an unknown
period, a mixture over both (Howard et al. 2021; Shin, Ramdas & Rinaldo 2023). Without a change it
is a supermartingale: the chance that it ever exceeds 1 / alpha is at most alpha (Ville).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import special, stats

from skbiasamp._input.checks import Array
from skbiasamp._utils.progress import progress
from skbiasamp._utils.random import chunks
from skbiasamp.counts.contingency import Contingency
from skbiasamp.counts.draws import divided, resampled_like
from skbiasamp.counts.merging import merged
from skbiasamp.results import AuditResult
from skbiasamp.results.timeline import PAIR_COLUMNS, PERIOD_COLUMNS, RATE_COLUMNS

# Standard deviation of the size of a step, in standard errors of the period in which it began.
STEP = 2.0
_TOTAL = 2.10974280  # the sum of 1 / (k log(k)²) over k of 2 and more
_DIGITS = 12  # sums of the same numbers in another order are the same value


def normal_scores(drawn: Array, observed: Array) -> Array:
    """Return the normal score of each observed value among its draws (first axis).

    Ties share the mean score of the ranks that they take up, so that no more random numbers are
    needed. Exponentials of such means are never larger than means of exponentials, so evidence
    made of them stays a supermartingale. NaN: undefined in the period.
    """
    drawn, observed = np.round(drawn, _DIGITS), np.round(observed, _DIGITS)
    known = ~np.isnan(drawn)
    below = (known & (drawn < observed)).sum(axis=0)
    ties = (known & (drawn == observed)).sum(axis=0) + 1
    n = known.sum(axis=0) + 1
    low, high = special.ndtri(below / n), special.ndtri((below + ties) / n)
    density = np.exp(-(np.stack([low, high]) ** 2) / 2) / np.sqrt(2 * np.pi)
    return np.where(np.isnan(observed), np.nan, (density[0] - density[1]) * n / ties)


class Evidence(NamedTuple):
    """Logarithm of the evidence of a change at each look, and where the change began.

    `onset` is the position of the period in which the likeliest step began. Arrays are
    (sequences × looks).
    """

    log: Array
    onset: Array


def evidence(scores: Array, rows: Array, n_reference: Array) -> Evidence:
    """Return the evidence that scores (sequences × looks) are not those of an unchanged model.

    `rows` is how many rows each score rests on, and `n_reference` on how many the reference does.
    They decide which changes are found first; no choice of them raises more false positives.
    """
    n_looks = scores.shape[1]
    used = ~np.isnan(scores) & (rows > 0) & (n_reference[:, None] > 0)
    rows = np.where(used, rows, 0.0)
    before = n_reference[:, None] + np.cumsum(rows, axis=1) - rows
    with np.errstate(invalid="ignore", divide="ignore"):
        pull = np.where(used, np.sqrt(rows / (before * (before + rows))), 0.0)
    pulled = np.where(used, pull * scores, 0.0)
    total = np.cumsum(pulled, axis=1)
    position = np.arange(2, n_looks + 2)
    prior = 1 / (position * np.log(position) ** 2 * _TOTAL)
    left = 1 - np.cumsum(prior)
    log = np.zeros(scores.shape)
    onset = np.zeros(scores.shape, dtype=np.intp)
    for look in range(n_looks):
        starts = slice(0, look + 1)
        base = before[:, starts]
        # What a step that began there adds up to by now, and its variance if there is none.
        distance = total[:, [look]] - (total[:, starts] - pulled[:, starts])
        after = before[:, [look]] + rows[:, [look]]
        with np.errstate(invalid="ignore", divide="ignore"):
            unit = np.where(used[:, starts], STEP**2 / rows[:, starts], 0.0)
            spread = np.where(base > 0, unit * base * (after - base) / after, 0.0)
            ratio = unit * (base * distance) ** 2 / (2 * (1 + spread)) - np.log1p(spread) / 2
        parts = np.concatenate(
            [np.log(prior[starts]) + ratio, np.full((len(scores), 1), np.log(left[look]))], axis=1
        )
        log[:, look] = special.logsumexp(parts, axis=1)
        onset[:, look] = np.argmax(np.where(used[:, starts], parts[:, :-1], -np.inf), axis=1)
    return Evidence(log, onset)


def adjusted(log_evidence: Array, share: float) -> Array:
    """Return p-values that hold at every look and for every sequence together.

    `share` is the part of the error rate that each sequence is given.
    """
    best = np.maximum.accumulate(log_evidence, axis=1)
    return np.asarray(np.minimum(1.0, np.exp(-best) / share))


# --------------------------------------------------------------------------- the watch


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
            drawn = _sequences(auditor, alike)
            with np.errstate(invalid="ignore"):  # NaN if no draw has a value
                expected[:, i] = np.nansum(drawn, axis=0) / (~np.isnan(drawn)).sum(axis=0)
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
