"""Checks of verdicts: what they ask for, and metrics that cannot be compared."""

from __future__ import annotations

import math
from typing import Any

from skbiasamp._utils import formatting as words
from skbiasamp._utils.formatting import name_of, shown_change
from skbiasamp.inference.value import FEWEST_ROWS
from skbiasamp.report.checks import PAIRS, WORTH_SAYING, Audited, Seen, check
from skbiasamp.results import columns_alone, possible_changes
from skbiasamp.results.gate import FAILED, MOST_ROWS

_GROWING = (words.AMPLIFIES, words.ADDS, words.REVERSES)


@check("SBA209", "changed rates", rank=25, owner="model", reads=PAIRS)
def changed_rates(audited: Audited) -> Seen:
    """The rate of a group moves most, and the gap with it."""
    facts = audited.report.facts
    worst, is_rate = facts.worst, facts.percent and facts.view in ("gap", "groups", "tasks")
    if facts.verdict not in _GROWING or worst is None or not is_rate:
        return
    if worst.before is None or worst.after is None:
        return
    change = shown_change(worst.before, worst.after)
    numbers: dict[str, Any] = {"group": worst.group, "task": worst.task, "change": change}
    numbers |= {"other": None, "other_change": None}
    numbers["given"] = list(facts.given) if facts.within == words.NO_EFFECT else []
    if facts.view == "gap":  # two groups may move apart: each has a reason
        (other,) = (each for each in facts.changes if each.group != worst.group)
        other_change = shown_change(other.before or 0.0, other.after or 0.0)
        if other_change * change < 0 and abs(other_change) >= WORTH_SAYING:
            numbers |= {"other": other.group, "other_change": other_change}
    yield numbers


@check("SBA304", "mitigation", rank=85, owner="model")
def mitigation(audited: Audited) -> Seen:
    """The model adds to the bias of its labels, or adds a difference of its own."""
    verdict = None if audited.primary is None else audited.primary.verdict
    alone = columns_alone(audited.report).get(words.AMPLIFIES, [])
    if verdict in (words.AMPLIFIES, words.ADDS, words.REVEALS_MORE) or alone:
        yield {"columns": [name_of(name) for name in alone]}


@check("SBA302", "reversal", rank=24, severity="wrong", owner="model")
def reversed_association(audited: Audited) -> Seen:
    """The model turns the association of its labels around."""
    # If MALS counts groups that are not associated with their task, its sign is no direction.
    names = audited.names(
        lambda result: (
            result.verdict == words.REVERSES and not result.statistics.get("n_unassociated")
        )
    )
    if names:
        of_train = audited.train is not None and audited.report.primary not in names
        yield {"metrics": names, "train": of_train}


@check("SBA301", "limit", rank=22, owner="policy")
def of_limit(audited: Audited) -> Seen:
    """The amplification is beyond the limit that was declared, or these rows do not show it."""
    report = audited.report
    if report.limit is None or report.primary is None:
        return
    (of_primary,) = report.gate(report.limit, on=report.primary).checks
    if of_primary.outcome not in (FAILED, words.INCONCLUSIVE):
        return
    known = audited.test.total >= FEWEST_ROWS and of_primary.rows < MOST_ROWS
    half, gap = report.facts.view == "gap", report.facts.gap
    yield {
        "outside": of_primary.outcome == FAILED,
        "adds": of_primary.verdict == words.ADDS,
        "limit": report.limit,
        "half": half,
        "points": half and report.facts.percent,
        "mean": report.facts.view in ("groups", "tasks", "pairs") and report.facts.percent,
        "moves": of_primary.verdict in (words.REVERSES, words.ADDS),
        "narrows": of_primary.verdict == words.REDUCES,
        # As on the first screen: the difference of the gaps that are shown.
        "value": gap.growth / 2 if half and gap is not None else of_primary.value,
        "low": of_primary.low,
        "high": of_primary.high,
        "missing": list(of_primary.missing),
        "rows": of_primary.rows if known and not math.isnan(of_primary.rows) else None,
    }


@check("SBA310", "no limit", rank=68, owner="policy")
def no_limit(audited: Audited) -> Seen:
    """No limit was declared."""
    primary = audited.primary
    if primary is not None and audited.report.limit is None and not math.isnan(primary.low):
        yield {"clear": primary.verdict != words.NO_EFFECT}


@check("SBA303", "precision", rank=27, owner="data", reads=PAIRS)
def precision(audited: Audited) -> Seen:
    """The primary metric finds no clear effect, which does not mean that there is none."""
    report, primary = audited.report, audited.primary
    if primary is None or primary.verdict != words.NO_EFFECT or columns_alone(report):
        return
    facts, (_, low, high) = report.facts, primary.judged
    if low < high and facts.limit_verdict != words.WITHIN:
        yield possible_changes(facts, low, high)


@check("SBA306", "unassociated groups", rank=105, owner="data", reads=PAIRS)
def unassociated_groups(audited: Audited) -> Seen:
    """A metric counts groups that are not associated with their task, or leaves out one that is."""
    for name in audited.names(lambda result: result.statistics.get("n_unassociated", 0) > 0):
        result = audited.report[name]
        n = int(result.statistics["n_unassociated"])
        yield {"metric": name, "n": n, "n_pairs": len(result.table)}


@check("SBA309", "directions", rank=180, severity="note", owner="policy")
def directions(audited: Audited) -> Seen:
    """Both directions were audited."""
    if {"A->T", "T->A"} <= {result.direction for result in audited.report.values()}:
        yield {}
