"""The gate of continuous integration: which results are checked against a limit."""

from __future__ import annotations

import math

from skbiasamp._input import InputError, meant
from skbiasamp._words import AMPLIFIES, BALANCED, CANNOT, REVEALS_MORE, level_of, listed
from skbiasamp.cli._terminal import filled, say
from skbiasamp.results import AuditReport


def check(
    report: AuditReport, limit: float, named: list[str] | None, *, allow_undefined: bool
) -> int:
    """Print what was checked against a limit, and return 1 if it is exceeded."""
    chosen = _checked(report, named)
    say(f"\nChecked against --fail-above {limit:g}:")
    attacks = [name for name, one in report.items() if one.kind == "attack"]
    instead = f"; --on can name {listed(attacks)} instead" if attacks else ""
    exceeded, undefined = [], []
    for name in chosen:
        one = report[name]
        if math.isnan(one.low):
            undefined.append(name)
            reason = "undefined" if math.isnan(one.value) else "no confidence interval"
            say(filled(f"{name}: {reason}", "  "))
            continue
        found = one.kind == "size" or one.verdict in (AMPLIFIES, REVEALS_MORE)
        above = one.low > limit and found
        if above:
            exceeded.append(name)
        interval = f"{level_of(one.confidence_level or 0.95)} interval {one.low:+.4f} to"
        text = f"{name}: {one.value:+.4f}, {interval} {one.high:+.4f}, {one.verdict}"
        if one.verdict == CANNOT:
            text = f"{name}: exactly 0, {BALANCED}. Nothing could be amplified{instead}."
        say(filled(text, "  "))
    if exceeded:
        say(filled(f"FAILED: the interval of {listed(exceeded)} lies above {limit:g}."))
        return 1
    if undefined and not allow_undefined:
        raise InputError(
            "--fail-above has no result for {names}: {why} Pass --allow-undefined to accept this.",
            names=listed(undefined),
            why="; ".join(report[name].sentence for name in undefined),
        )
    if len(undefined) == len(chosen):
        say("Passed: there is no result to check, and --allow-undefined accepts this.")
    else:
        say(f"Passed: no interval lies above {limit:g}.")
    return 0


def _checked(report: AuditReport, named: list[str] | None) -> list[str]:
    """Return the results to check: of the first metric, or those that --on names."""
    if named is None:
        first = min(report.values(), key=lambda one: one.headline).metric
        return [name for name, one in report.items() if one.metric == first]
    chosen: dict[str, None] = {}
    for wanted in named:
        key = wanted.casefold()
        if key == "all":
            found = [name for name, one in report.items() if one.kind != "size"]
        else:
            found = [
                name
                for name, one in report.items()
                if key in (name.casefold(), one.name.casefold(), one.metric.casefold())
            ]
        if not found:
            raise InputError(
                "--on: there is no audit {wanted!r}{meant} This report has {names}.",
                wanted=wanted,
                meant=meant(wanted, report),
                names=", ".join(map(repr, report)),
            )
        chosen |= dict.fromkeys(found)
    return list(chosen)
