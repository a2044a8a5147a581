"""The gate of continuous integration: a limit, what is checked, and the exit code."""

from __future__ import annotations

import argparse

from skbiasamp._input.errors import InputError, speaking
from skbiasamp._utils.formatting import INCONCLUSIVE, listed
from skbiasamp.cli._terminal import in_lines, say
from skbiasamp.results import AuditReport, ComparisonReport
from skbiasamp.results.gate import FAILED, PASSED, UNDEFINED

_CODES = {PASSED: 0, FAILED: 1, INCONCLUSIVE: 3}


def wrong_options(options: argparse.Namespace) -> str | None:
    """Return what is wrong with the options of a gate."""
    if options.fail_above is not None and options.limit is not None:
        return "--limit takes the place of --fail-above: pass one of them"
    if options.fail_above is None and options.limit is None:
        for name in ("on", "allow_undefined", "inconclusive"):
            if getattr(options, name):
                option = f"--{name.replace('_', '-')}"
                return f"{option} has no effect without --fail-above or --limit: pass one of these"
    return None


def check_limit(report: AuditReport | ComparisonReport, options: argparse.Namespace) -> int:
    """Print what was compared with a limit, and return the exit code; 0 if there is none."""
    one_sided = options.limit is None
    limit = options.fail_above if one_sided else options.limit
    if limit is None:
        return 0
    option = "--fail-above" if one_sided else "--limit"
    with speaking({"on": "--on", "limit": option}):
        gate = report.gate(limit, on=options.on, one_sided=one_sided)
    what = "Differences checked" if isinstance(report, ComparisonReport) else "Checked"
    say(f"\n{what} against {option} {limit:g}:")
    for check in gate.checks:
        say(in_lines(str(check), "  "))
    outcome = gate.outcome
    if outcome == UNDEFINED:
        undefined = gate.with_outcome(UNDEFINED)
        if not options.allow_undefined:
            raise InputError(
                f"{option} has no result for {{names}}: {{why}} Pass --allow-undefined to accept "
                "this.",
                names=listed([check.name for check in undefined]),
                why="; ".join(check.sentence for check in undefined),
            )
        outcome = INCONCLUSIVE if gate.with_outcome(INCONCLUSIVE) else PASSED
        if len(undefined) == len(gate.checks):
            say("Passed: there is no result to check, and --allow-undefined accepts this.")
            return 0
    sentence = gate.sentence_of(outcome)
    if outcome == INCONCLUSIVE and options.inconclusive == "pass":
        say(in_lines(f"{sentence} --inconclusive pass accepts this."))
        return 0
    say(in_lines(sentence))
    return _CODES[outcome]
