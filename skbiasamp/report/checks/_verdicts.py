"""Checks of verdicts: metrics that disagree, and metrics that cannot be compared."""

from __future__ import annotations

from skbiasamp._utils import formatting as words
from skbiasamp._utils.formatting import limit_of, listed, number
from skbiasamp.inference.value import FEWEST_ROWS
from skbiasamp.report.checks import PAIRS, Audited, Findings, check
from skbiasamp.results import columns_alone, is_half_of_gap
from skbiasamp.results.gate import FAILED, MOST_ROWS, round_up


@check("mitigation", rank=85, place="next")
def mitigation(audited: Audited) -> Findings:
    """The model adds to the bias of its labels, or adds a difference of its own."""
    verdict = None if audited.primary is None else audited.primary.verdict
    alone = columns_alone(audited.report).get(words.AMPLIFIES)
    if verdict not in (words.AMPLIFIES, words.ADDS, words.REVEALS_MORE) and not alone:
        return
    rows = "rows that the audit does not use (skbiasamp.mitigation.search)"
    by = f", with {listed(alone)} as the sensitive feature" if alone else ""
    yield (
        "Mitigations differ in what they reduce, and in what they cost each group.",
        f"Search for one on {rows}{by}, then audit the chosen model again.",
    )


@check("reversal", rank=24, place="next")
def reversed_association(audited: Audited) -> Findings:
    """The model turns the association of its labels around."""
    # If MALS counts groups that are not associated with their task, its sign is no direction.
    names = audited.names(
        lambda result: (
            result.verdict == words.REVERSES and not result.statistics.get("n_unassociated")
        )
    )
    labels, advice = "labels", "Check that predictions, labels and groups belong to the same rows"
    if audited.train is not None and audited.report.primary not in names:
        labels = "training labels"
        advice = (
            "If the groups have other shares of the training rows than of the audited ones, even "
            "labels do so. Else check that predictions and groups belong to the same rows"
        )
    if names:
        yield (
            f"The predictions are associated in the other direction than the {labels} "
            f"({listed(names)}).",
            f"{advice}, and which class is which. Do not read it as a reduction.",
        )


@check("limit", rank=22, place="next")
def of_limit(audited: Audited) -> Findings:
    """The amplification is beyond the limit that was declared, or these rows do not show it."""
    report = audited.report
    if report.limit is None or report.primary is None:
        return
    (of_primary,) = report.gate(report.limit, on=report.primary).checks
    value, low, high = map(number, (of_primary.value, of_primary.low, of_primary.high))
    ends, limit = f"{value} ({low} to {high})", limit_of(report.limit)
    if of_primary.verdict == words.ADDS:
        ends = f"the largest change of a pair is {ends}"
    if of_primary.outcome == FAILED:
        yield (
            f"The model does not keep the limit of {limit}: {ends}.",
            "Do not release it by this limit. Mend it first, and audit it again.",
        )
    if of_primary.outcome != words.INCONCLUSIVE:
        return
    rows, until = "", "more rows are audited"
    if of_primary.missing:
        until = f"rows of {listed([*of_primary.missing])} are audited"
    if audited.test.total >= FEWEST_ROWS and of_primary.rows < MOST_ROWS:
        rows = f" About {round_up(of_primary.rows):,} rows in all decide, if the value stays so."
    yield (
        f"These rows do not show whether the model keeps the limit of {limit}: {ends}.",
        f"Do not release it by this limit before {until}.{rows}",
    )


@check("precision", rank=25, place="next", reads=PAIRS)
def precision(audited: Audited) -> Findings:
    """The primary metric finds no clear effect, which does not mean that there is none."""
    report, primary = audited.report, audited.primary
    if primary is None or primary.verdict != words.NO_EFFECT or columns_alone(report):
        return
    _, low, high = primary.judged
    if not low < high:
        return
    values = f"values from {number(low)} to {number(high)}"
    if is_half_of_gap(primary):
        ends = " to ".join(number(200 * end, "+.1f") for end in (low, high))
        values = f"changes of the difference from {ends} percentage points"
    yield (
        f"{words.NO_EFFECT.capitalize()} does not mean no effect: {values} "
        f"agree with these rows ({report.primary}).",
        "Audit more rows if a value in this range would matter.",
    )


@check("unassociated groups", rank=105, place="next", reads=PAIRS)
def unassociated_groups(audited: Audited) -> Findings:
    """A metric counts groups that are not associated with their task, or leaves out one that is."""
    for name in audited.names(lambda result: result.statistics.get("n_unassociated", 0) > 0):
        n = int(audited.report[name].statistics["n_unassociated"])
        pairs = "1 pair" if n == 1 else f"{n} pairs"
        yield (
            f"{name} reads {pairs} of {len(audited.report[name].table)} against the association of "
            "group and task: it compares a group's share of a task with an equal share, and not "
            "with the group's share of all rows.",
            "Do not conclude from its sign. Directional amplification respects these shares.",
        )


@check("directions", rank=180)
def directions(audited: Audited) -> Findings:
    """Both directions were audited."""
    if {"A->T", "T->A"} <= {result.direction for result in audited.report.values()}:
        yield (
            "Values of A→T (does the group shift the predicted task?) and T→A (does the task "
            "shift the predicted group?) answer different questions and cannot be compared.",
            "Report them apart.",
        )
