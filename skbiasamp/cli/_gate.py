"""The gate of continuous integration: which results are checked against a limit."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from skbiasamp._input.errors import InputError, meant
from skbiasamp._utils.formatting import (
    AMPLIFIES,
    AMPLIFIES_MORE,
    BALANCED,
    CANNOT,
    REVEALS_MORE,
    level_of,
    listed,
    name_of,
    task_of,
)
from skbiasamp.cli._terminal import in_lines, say
from skbiasamp.results import AuditReport, ComparisonReport, ComparisonResult


class _Checked(NamedTuple):
    """What is compared with the limit, and what the report says of it."""

    name: str
    value: float
    low: float
    high: float
    level: float
    verdict: str
    found: bool  # whether the verdict allows that the limit is exceeded
    sentence: str


def _facts(name: str, one: Any) -> list[_Checked]:
    """Return what is checked of a result: its estimate, or the difference of each model."""
    if isinstance(one, ComparisonResult):
        return _of_comparison(name, one)
    found = one.verdict in (AMPLIFIES, REVEALS_MORE)
    level = one.confidence_level or 0.95
    value, low, high = one.judged
    return [_Checked(name, value, low, high, level, one.verdict, found, one.sentence)]


def _of_comparison(name: str, one: ComparisonResult) -> list[_Checked]:
    return [
        _Checked(
            f"{name}, {name_of(model)}",
            *one.judged(model),
            one.confidence_level or 0.95,
            verdict,
            verdict in (AMPLIFIES_MORE, REVEALS_MORE),
            one.sentence(model),
        )
        for model, verdict in one.verdicts.items()
    ]


def _worst(name: str, one: Any, asked: list[str]) -> list[_Checked]:
    """Return the largest amplification of any pair, if `asked`, with an interval valid for it."""
    if not asked:
        return []
    if isinstance(one, ComparisonResult):
        raise InputError("--on worst checks the pairs of one model: use skbiasamp audit.")
    if "low_simultaneous" not in one.table:
        raise InputError(
            "--on worst needs intervals that hold for all pairs at once, and {name} has none: it "
            "is no metric of pairs of group and task, or rows were summed and not counted.",
            name=name,
        )
    worst = one.worst()
    pair = f"{one.group_name(worst['group'])}, {task_of(worst['task'])}"
    said = f"worst pair of {name} ({pair})"
    numbers = worst["amplification"], worst["low"], worst["high"], one.confidence_level or 0.95
    n = worst["n_above"]
    verdict = f"{n} pair{'s' * (n != 1)} with an interval above 0"
    return [_Checked(said, *numbers, verdict, True, one.sentence)]


def check(
    report: AuditReport | ComparisonReport,
    limit: float,
    named: list[str] | None,
    *,
    allow_undefined: bool,
) -> int:
    """Print what was checked against a limit, and return 1 if it is exceeded."""
    worst = [one for one in named or () if one.casefold() == "worst"]
    others = [one for one in named or () if one not in worst]
    checked = [one for name in _chosen(report, None) for one in _worst(name, report[name], worst)]
    chosen = [] if worst and not others else _chosen(report, others or None)
    checked += [one for name in chosen for one in _facts(name, report[name])]
    say(f"\nChecked against --fail-above {limit:g}:")
    attacks = [name for name, one in report.items() if one.kind == "attack"]
    instead = f"; --on can name {listed(attacks)} instead" if attacks else ""
    exceeded, undefined = [], []
    for one in checked:
        if math.isnan(one.low):
            undefined.append(one)
            reason = "undefined" if math.isnan(one.value) else "no confidence interval"
            say(in_lines(f"{one.name}: {reason}", "  "))
            continue
        if one.low > limit and one.found:
            exceeded.append(one.name)
        interval = f"{level_of(one.level)} interval {one.low:+.4f} to {one.high:+.4f}"
        text = f"{one.name}: {one.value:+.4f}, {interval}, {one.verdict}"
        if one.verdict == CANNOT:
            text = f"{one.name}: exactly 0, {BALANCED}. Nothing could be amplified{instead}."
        say(in_lines(text, "  "))
    if exceeded:
        say(in_lines(f"FAILED: the interval of {listed(exceeded)} lies above {limit:g}."))
        return 1
    if undefined and not allow_undefined:
        raise InputError(
            "--fail-above has no result for {names}: {why} Pass --allow-undefined to accept this.",
            names=listed([one.name for one in undefined]),
            why="; ".join(one.sentence for one in undefined),
        )
    if len(undefined) == len(checked):
        say("Passed: there is no result to check, and --allow-undefined accepts this.")
    else:
        say(f"Passed: no interval lies above {limit:g}.")
    return 0


def _chosen(report: AuditReport | ComparisonReport, named: list[str] | None) -> list[str]:
    """Return the results to check: of the first metric, or those that --on names."""
    results: dict[str, Any] = dict(report)
    if named is None:
        first = min(results.values(), key=lambda one: one.rank).metric
        return [name for name, one in results.items() if one.metric == first]
    chosen: dict[str, None] = {}
    for wanted in named:
        key = wanted.casefold()
        if key == "all":
            found = list(results)
        else:
            found = [
                name
                for name, one in results.items()
                if key in (name.casefold(), one.name.casefold(), one.metric.casefold())
            ]
        if not found:
            raise InputError(
                "--on: there is no result {wanted!r}{meant} This report has {names}.",
                wanted=wanted,
                meant=meant(wanted, report),
                names=", ".join(map(repr, report)),
            )
        chosen |= dict.fromkeys(found)
    return list(chosen)
