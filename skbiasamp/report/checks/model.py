"""Checks of the model and of the verdict: errors, thresholds, pairs, and what they ask for."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from skbiasamp._utils import formatting as words
from skbiasamp._utils.formatting import name_of, shown_change
from skbiasamp.inference import paired_p_values
from skbiasamp.inference.value import FEWEST_ROWS
from skbiasamp.report.checks import ALPHA, PAIRS, WORTH_SAYING, Audited, Seen, check
from skbiasamp.results import FOUR_FIFTHS, at_base_rate, columns_alone, possible_changes
from skbiasamp.results.gate import FAILED

# The least difference between the error rates of groups that is reported.
_GAP = 0.05
_OF_RATES = ("gap", "groups", "tasks", "pairs")  # views whose changes are percentage points


@check("SBA111", "identical predictions", rank=45, severity="wrong", owner="model")
def identical_predictions(audited: Audited) -> Seen:
    """Labels and predictions are identical in every row, as if one column was read for both."""
    test, same, others = audited.test, list[str](), list[str]()
    sides: tuple[tuple[Any, Any], ...] = (("task", "task_pred"), ("group", "group_pred"))
    for side, predicted in sides:
        if test.has(side) and test.has(predicted) and not test.soft(predicted):
            both = test.both(side).count(predicted)
            equal = all(np.array_equal(both, test.count(name)) for name in (side, predicted))
            (same if equal else others).append(side)
    if same:
        yield {"sides": same, "all": not others}


@check("SBA204", "worse than chance", rank=70, severity="wrong", owner="model")
def worse_than_chance(audited: Audited) -> Seen:
    """Perturbed labels were pure noise, since the model is worse than a guess."""
    capped = audited.names(lambda result: result.statistics.get("flip_rate_capped"))
    if capped:
        yield {"metrics": capped}


@check("SBA206", "threshold", rank=80, owner="model")
def threshold(audited: Audited) -> Seen:
    """Tasks are predicted more or less often than they are labelled."""
    test = audited.test
    if not (test.has("task") and test.has("task_pred")) or test.soft("task_pred"):
        return
    base, predicted = test.count("task"), test.count("task_pred")
    both = test.both("task").count("task_pred")
    p_values = paired_p_values(np.rint(predicted - both), np.rint(base - both))
    gap = (predicted - base) / test.total
    off = np.flatnonzero((p_values < ALPHA) & (np.abs(gap) >= WORTH_SAYING))
    if not len(off):
        return
    first = off[np.argmax(np.abs(gap[off]))]
    nearest = at_base_rate(audited.report.curve)
    other = {"threshold": None, "then": None, "value": None}
    if nearest is not None:
        names = {"threshold": "threshold", "then": "predicted_rate", "value": "value"}
        other = {name: nearest[column] for name, column in names.items()}
    yield {
        "task": audited.task(test.tasks[first]),
        "predicted": float(predicted[first] / test.total),
        "labelled": float(base[first] / test.total),
        "more": len(off) - 1,
        "binary": len(test.tasks) == 1,
        **other,
    }


@check("SBA202", "error rates", rank=65, owner="policy")
def error_rates(audited: Audited) -> Seen:
    """The largest gap of error rates between groups, which amplification does not measure."""
    report = audited.report
    if "false_positive_rate" not in report.rates:
        return
    differences = report.rates[[f"{kind}_difference" for kind in _KINDS]]
    share = report.rates["base_rate"].to_numpy(float)
    n = np.repeat(report.groups["n"].to_numpy(float), len(share) // len(report.groups))
    enough = np.stack([n * (1 - share), n * share], axis=1) > FEWEST_ROWS - 1e-6
    # The largest gap of many groups may be chance.
    certain = report.rates[[f"{name}_low" for name in differences]].to_numpy() > 0
    gaps = np.where(enough & certain, differences, -1.0)
    k = int(gaps.max(axis=0).argmax())
    at, n_tasks = int(gaps[:, k].argmax()), len(gaps) // len(report.groups)
    if gaps[at, k] < _GAP:
        return
    of_task = report.rates.iloc[at % n_tasks :: n_tasks]
    row: Any = report.rates.iloc[at]
    base: Any = of_task[of_task[list(differences)[k]] == 0].iloc[0]
    known = differences.loc[[row.name, base.name]].notna().all()
    kinds = [kind for kind in _KINDS if known[f"{kind}_difference"]]
    if row["task"] in audited.favourable:
        kinds.reverse()  # who misses what people want is harmed
    yield {
        "task": audited.task(row["task"]),
        "most": audited.group(row["group"]),
        "least": audited.group(base["group"]),
        "errors": [
            {
                "of_labelled": kind == "true_positive_rate",
                "most": _wrong(row, kind),
                "least": _wrong(base, kind),
            }
            for kind in kinds
        ],
    }


_KINDS = ("false_positive_rate", "true_positive_rate")


def _wrong(rates: Any, kind: str) -> float:
    """Return the rate of an error."""
    share = float(rates[kind])
    return 1 - share if kind == "true_positive_rate" else share


@check("SBA201", "probabilities", rank=23, owner="model")
def predicted_probabilities(audited: Audited) -> Seen:
    """Predictions are probabilities."""
    if audited.test.soft("task_pred") and not audited.are_attacks:
        yield {"threshold": audited.has_columns}  # arrays have no such option


@check("SBA207", "predicted attribute", rank=170, severity="note", owner="policy")
def predicted_attribute(audited: Audited) -> Seen:
    """A sensitive feature was predicted."""
    if audited.test.has("group_pred"):
        yield {}


@check("SBA208", "risk prediction", rank=190, severity="note", owner="policy")
def risk_prediction(audited: Audited) -> Seen:
    """Scores were given, which may predict the future of people."""
    if audited.scored is not None:
        yield {}


@check("SBA203", "impact ratio", rank=26, owner="policy")
def impact_ratio(audited: Audited) -> Seen:
    """A group gets what people want less than four fifths as often as another."""
    rates, context = audited.report.rates, audited.report.context
    if "favourable" not in context or "impact_ratio_high" not in rates:
        return
    below = rates[rates["impact_ratio_high"] < FOUR_FIFTHS]
    if below.empty:
        return
    row: Any = below.sort_values("impact_ratio").iloc[0]
    of_task = rates[rates["task"].map(str) == str(row["task"])]
    # Rows with a missing value are in no ratio.
    most: Any = of_task.sort_values("impact_ratio", na_position="first").iloc[-1]
    wanted = [
        name for name in audited.favourable if audited.task(name) == audited.task(row["task"])
    ]
    yield {
        "wanted": audited.task(row["task"] if wanted else audited.favourable[0]),
        "group": audited.group(row["group"]),
        "other": audited.group(most["group"]),
        "ratio": float(row["impact_ratio"]),
        "low": float(row["impact_ratio_low"]),
        "high": float(row["impact_ratio_high"]),
        "more": below["group"].nunique() - 1,
        "given": list(audited.report.facts.given),
    }


# --------------------------------------------------------------------------- pairs


@check("SBA305", "unclear directions", rank=100, owner="data", reads=PAIRS)
def unclear_directions(audited: Audited) -> Seen:
    """Amplification and reduction could be the other way round."""
    return _flagged(audited, "direction_clear")


@check("SBA307", "few rows", rank=110, owner="data", reads=PAIRS)
def small_cells(audited: Audited) -> Seen:
    """Pairs with few rows."""
    return _flagged(audited, "reliable")


def _flagged(audited: Audited, flag: str) -> Seen:
    """Name the pairs for which a flag is False, of the metric that has most of them."""
    raised = {}
    for name, result in audited.report.items():
        table = result.table
        at = [i for i, value in enumerate(table.get(flag, ())) if value is False]
        raised[name] = [
            (audited.group(table["group"].iloc[i]), audited.task(table["task"].iloc[i])) for i in at
        ]
    name, pairs = max(raised.items(), key=lambda item: len(item[1]), default=("", []))
    if pairs:
        yield {
            "metric": name,
            "pairs": [f"({group}; {task})" for group, task in pairs],
            "group": pairs[0][0],
            "task": pairs[0][1],
            "n": len(pairs),
            "n_pairs": len(audited.report[name].table),
            "labels": "labels" if audited.report[name].labelled else "reference rows",
        }


@check("SBA308", "undefined pairs", rank=120, owner="data", reads=PAIRS)
def undefined_pairs(audited: Audited) -> Seen:
    """Pairs without any rows to measure."""
    left = {}
    for name, result in audited.report.items():
        changes = result._column("delta", 1.0)
        if np.isnan(changes).any():
            left[name] = (int(np.isnan(changes).sum()), len(changes))
    if left:
        yield {"left": left}


# --------------------------------------------------------------------------- verdicts

_GROWING = (words.AMPLIFIES, words.ADDS, words.REVERSES)


@check("SBA209", "changed rates", rank=25, owner="model", reads=PAIRS)
def changed_rates(audited: Audited) -> Seen:
    """The rate of a group moves most, and the gap with it."""
    facts = audited.report.facts
    worst, is_mean = facts.worst, audited.reads == "numbers"
    if facts.verdict not in _GROWING or facts.within == words.NO_EFFECT or worst is None:
        return
    if facts.view not in ("gap", "groups", "tasks") or not (facts.percent or is_mean):
        return
    if worst.before is None or worst.after is None:
        return
    moved = (lambda before, after: after - before) if is_mean else shown_change
    change = moved(worst.before, worst.after)
    # A group may lose less than all others do: what it gains beside them is said.
    own = worst.change or 0.0
    beside = facts.view != "gap" and own * change < 0
    change = own if beside else change
    numbers: dict[str, Any] = {"group": worst.group, "task": worst.task, "change": change}
    numbers["beside"] = beside
    numbers |= {"other": None, "other_change": None, "percent": facts.percent}
    if facts.view == "gap":  # two groups may move apart: each has a reason
        (other,) = (each for each in facts.changes if each.group != worst.group)
        size = moved(other.before or 0.0, other.after or 0.0)
        if size * change < 0 and abs(size) >= (abs(change) / 10 if is_mean else WORTH_SAYING):
            numbers |= {"other": other.group, "other_change": size}
    yield numbers


@check("SBA210", "strata", rank=25, owner="policy", reads=PAIRS)
def explained_by_strata(audited: Audited) -> Seen:
    """The change is clear over all rows, and not among rows of the same stratum."""
    facts = audited.report.facts
    if facts.verdict in _GROWING and facts.within == words.NO_EFFECT:
        yield {"given": list(facts.given)}


@check("SBA304", "mitigation", rank=85, owner="model")
def mitigation(audited: Audited) -> Seen:
    """The model adds to the bias of its labels, or adds a difference of its own."""
    verdict = None if audited.primary is None else audited.primary.verdict
    alone = columns_alone(audited.report).get(words.AMPLIFIES, [])
    if verdict in (words.AMPLIFIES, words.ADDS, words.REVEALS_MORE) or alone:
        yield {"columns": [name_of(name) for name in alone]}


@check("SBA302", "reversal", rank=24, severity="wrong", owner="model", reads=PAIRS)
def reversed_association(audited: Audited) -> Seen:
    """The model turns the association of its labels around."""
    # If MALS counts groups that are not associated with their task, its sign is no direction.
    names = audited.names(
        lambda result: (
            result.verdict == words.REVERSES and not result.statistics.get("n_unassociated")
        )
    )
    if names:
        facts = audited.report.facts
        of_train = audited.train is not None and (
            audited.report.primary not in names or facts.against
        )
        yield {"metrics": names, "train": of_train}


@check("SBA301", "limit", rank=22, owner="policy", reads=PAIRS)
def of_limit(audited: Audited) -> Seen:
    """The amplification is beyond the limit that was declared, or these rows do not show it."""
    report = audited.report
    if report.limit is None or report.primary is None:
        return
    checks = report.gate(report.limit, on=report.primary).checks
    of_primary = next(check for check in checks if check.name == report.primary)
    reverses = of_primary.verdict == words.REVERSES  # which is held wherever it lies
    if of_primary.outcome not in (FAILED, words.INCONCLUSIVE) or (
        reverses and report.limit_verdict != words.OUTSIDE
    ):
        return
    half, gap = report.facts.view == "gap" and report.facts.limited is None, report.facts.gap
    yield {
        "outside": of_primary.outcome == FAILED,
        "adds": of_primary.verdict == words.ADDS,
        "limit": report.limit,
        "half": half,
        "points": half and report.facts.percent,
        "mean": not half and report.facts.view in _OF_RATES and report.facts.percent,
        "moves": of_primary.verdict in (words.REVERSES, words.ADDS),
        # What is reversed is held, too, by its own finding.
        "hold": of_primary.outcome == FAILED
        and of_primary.verdict not in (words.REDUCES, words.REVERSES),
        # As on the first screen: the difference of the gaps that are shown.
        "value": gap.growth / 2 if half and gap is not None else of_primary.value,
        "low": of_primary.low,
        "high": of_primary.high,
        "missing": list(of_primary.missing),
        "rows": None if math.isnan(of_primary.rows) else of_primary.rows,
        "n": float(audited.test.total),
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
