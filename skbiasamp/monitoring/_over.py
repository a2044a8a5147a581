"""audit_over(): one audit a period, with alarms that hold over the whole watch."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from skbiasamp._input.checks import check_count, check_option, require_auditor
from skbiasamp._input.errors import InputError, columns_named, quote, rows_of
from skbiasamp._input.options import keywords
from skbiasamp._utils.progress import progress
from skbiasamp._utils.random import generator
from skbiasamp._utils.warnings import collected
from skbiasamp.counts.cells import distinct
from skbiasamp.counts.contingency import Contingency
from skbiasamp.counts.merging import common_names, common_positive, merged, present, within
from skbiasamp.inference.hypothesis_tests import check_share
from skbiasamp.metrics.score_order import check_class
from skbiasamp.monitoring import _periods
from skbiasamp.monitoring._periods import EVERY
from skbiasamp.monitoring._watch import pairs_table, period_table, rates_over, varies, watched
from skbiasamp.report.request import Request, allowed, context_of
from skbiasamp.results import Timeline
from skbiasamp.results.timeline import BEFORE, EMPTY, REFERENCE, WATCHED

_OF_ATTACKERS = 199  # draws: each trains the attackers again
_DRAWS = 999
# A reference of fewer rows than so many periods hides changes that its own error may explain.
_SMALL_REFERENCE = 5


@keywords()
@columns_named
def audit_over(
    frame: Any,
    *,
    time: Hashable = None,
    every: str | None = "month",
    reference: Any = 1,
    target: Any = None,
    prediction: Any = None,
    sensitive: Any = None,
    sensitive_prediction: Any = None,
    weight: Hashable = None,
    version: Hashable = None,
    auditor: Any = None,
    groups: str = "intersection",
    missing: str = "error",
    pos_label: Any = None,
    favourable: Any = None,
    alpha: float = 0.05,
    n_draws: int | None = None,
    strict: bool = False,
    random_state: Any = 0,
    model_name: str | None = None,
    data_name: str | None = None,
) -> Timeline:
    """Audit a model period by period, with alarms that hold over the whole watch.

    Each period is compared with the reference and with the periods before it. The chance of any
    false positive is at most `alpha`, however long the watch lasts.

    .. versionadded:: 0.1

    Parameters
    ----------
    frame : data frame, query, path or dict of Contingency
        Rows with a column of times, in any order; an engine counts them in one query. Or the
        counts of each period by its name: ``{"2026-01": cells, "2026-02": more}``.
    time : column name, default=None
        Column of dates, times, or text that begins with a date such as 2026-11-21. Times with a
        time zone are read in that zone.
    every : {"hour", "day", "week", "month", "quarter", "year", None}, default="month"
        Length of a period; weeks are ISO weeks. None: the column holds the names of periods, which
        are sorted; numbers in them count by size (v9, v10).
    reference : int, str or Contingency, default=1
        What periods are compared with. An integer: that many first periods. A string: the period
        with this name; earlier periods are then shown and not watched. A `Contingency`: counts of
        other rows. The larger it is, the smaller the changes that can be found.
    target, prediction, sensitive, sensitive_prediction, weight : column name or list of names
        Columns of labels, predictions, sensitive features, predicted sensitive features and
        weights; a whole weight counts as that many independent rows. Without `target` there are no
        labels: are group and task as associated in the predictions of each period as in those of
        the reference?
    version : column name, default=None
        Column of the model's version. Its changes are marked.
    auditor : auditor, default=None
        The metric. None: the one that `skbiasamp.audit` gives its verdict by, or without labels
        ``DirectionalAuditor(base="train")``. Unless it is fitted, the labels of the reference, or
        its predictions if there are no labels, give the signs of all values alike.
    groups : {"intersection", "marginal", "indicator"}, default="intersection"
        How several sensitive columns make groups.
    missing : {"error", "drop", "group"}, default="error"
        How rows with a missing sensitive feature are handled: "error" raises, "drop" leaves them
        out and reports how many, "group" makes them a group of their own.
    pos_label : label, default=None
        The positive class of a binary label. None: the class that sorts last.
    favourable : label or list of labels, default=None
        The class that people want, or the tasks: the page then says who is worse off.
    alpha : float, default=0.05
        The largest chance of any false positive over the whole watch.
    n_draws : int, default=None
        Number of random divisions that a period is compared with. None: 999, or 199 for attackers.
    strict : bool, default=False
        True raises an error if a later period has groups or classes that the reference lacks.
        False leaves these rows out and reports how many.
    random_state : int, RandomState, Generator or None, default=0
        Seed of all random draws. With a fixed seed the same rows raise the same alarms.
    model_name, data_name : str, default=None
        Names of the model and of the data, for the title of the page.

    Returns
    -------
    timeline : Timeline

    See Also
    --------
    skbiasamp.audit : Audit all rows at once, with every metric.

    Notes
    -----
    The rule tests whether rows of the same group are exchangeable between periods. It needs no
    normal distribution and includes the error of the reference. It assumes that rows are
    independent: if the same people return, or if days of the week differ, use longer periods.

    References
    ----------
    Vovk, Gammerman & Shafer (2005). Algorithmic Learning in a Random World.
    Shin, Ramdas & Rinaldo (2023). E-detectors: a nonparametric framework for sequential change
    detection.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import skbiasamp
    >>> rng = np.random.default_rng(0)
    >>> rows = pd.DataFrame(
    ...     {"sex": rng.choice(["f", "m"], 6000), "hired": rng.integers(0, 2, 6000)}
    ... )
    >>> rows["predicted"] = np.where(rng.random(6000) < 0.1, 1 - rows["hired"], rows["hired"])
    >>> rows["day"] = pd.date_range("2026-01-01", "2026-06-30", periods=6000)
    >>> timeline = skbiasamp.audit_over(
    ...     rows, time="day", target="hired", prediction="predicted", sensitive="sex", reference=2
    ... )
    >>> timeline.verdict
    'no alarm'
    >>> timeline.to_frame()[["n", "alarm"]].tail(2).to_numpy().tolist()
    [[1033, False], [967, False]]
    """
    asked = Request(
        audit_over,
        frame,
        reference=reference,
        target=target,
        prediction=prediction,
        sensitive=sensitive,
        sensitive_prediction=sensitive_prediction,
        weight=weight,
        auditor=auditor,
        groups=groups,
        missing=missing,
        pos_label=pos_label,
        favourable=favourable,
        random_state=random_state,
        model_name=model_name,
        data_name=data_name,
        max_groups=np.inf,  # later periods may have any
        options={
            "time": time,
            "every": every,
            "version": version,
            "alpha": alpha,
            "n_draws": n_draws,
            "strict": strict,
        },
    )
    check_option("every", every, (*EVERY, None))
    check_option("strict", strict, (True, False))
    if n_draws is not None:
        check_count("n_draws", n_draws, 19)
    if auditor is not None:
        require_auditor(auditor)
        if not hasattr(auditor, "learn_reference"):
            text = "{auditor} cannot be {seen}, which needs single rows: audit each period."
            raise InputError(text, seen=type(auditor).__name__)
    check_share("alpha", alpha)
    columns = asked.columns
    times = {"time": time, "version": version}
    if isinstance(frame, Mapping) and all(
        isinstance(cells, Contingency) for cells in frame.values()
    ):
        counted = _periods.periods_of_counts(frame, {**columns, **times})
    else:
        counted = _periods.periods_of_rows(frame, columns, every, reference, **times, **asked.how)
    full = {name: cells for name, cells in counted.cells.items() if cells is not None}
    # The period with most rows shows best whether scores are those of the other class.
    if pos_label is None and full:
        check_class(max(full.values(), key=lambda cells: float(cells.total)))
    first, roles = _reference_of(reference, full, counted.cells)
    first = present(first).with_positive(pos_label)
    first.require_rows("Watching a model")
    parts, notes = _parts_like(first, full, counted, roles, strict=strict)
    if auditor is None:
        auditor = next(iter(allowed(first)), None)
        if auditor is None:
            raise InputError(
                "There is nothing to audit: name the column of predictions ({prediction}) or of "
                "the predicted sensitive feature ({sensitive_prediction})."
            )
    learned = auditor.learn_reference(first, random_state=random_state)
    rng = generator(random_state)
    if n_draws is None:
        n_draws = _OF_ATTACKERS if learned.kind.has_attacker else _DRAWS
    with progress("watch"), collected():  # which pairs rest on few rows the notes and the page say
        whole = learned.audit(first)
        results, of_few_rows = _audited(learned, parts)
        measured = {name: parts[name] for name in results}
        later = [name for name, role in roles.items() if role in (WATCHED, EMPTY)]
        later = later[next((i for i, name in enumerate(later) if name in measured), 0) :]
        watch = watched(
            learned, first, [measured.get(name) for name in later], n_draws=n_draws, rng=rng
        )
        inside = [name for name, role in roles.items() if role == REFERENCE]
        of_reference = [measured[name] for name in inside if name in measured]
        uneven = varies(learned, of_reference, n_draws=n_draws, rng=rng)
    of_later = [parts[name] for name in later if name in parts]
    notes += of_few_rows + _noted(None, _about_reference(first, of_later, uneven=uneven))
    sizes = {
        name: int(cells.total) if cells.whole else cells.total for name, cells in parts.items()
    }
    periods = period_table(counted.versions, roles, sizes, results, later, watch, alpha)
    pairs = pairs_table(whole.table[["group", "task"]], results, later, watch, alpha)
    span = " to ".join(dict.fromkeys([*inside[:1], *inside[-1:]]))
    context = context_of(first, None, asked.names, asked.call)
    context |= asked.declared(first)
    context["rows"] = f"{sum(cells.total for cells in parts.values()):,.15g} rows"
    return Timeline(
        metric=learned.metric,
        direction=learned.direction,
        periods=periods,
        pairs=pairs,
        rates=rates_over(whole, results, later),
        reference={
            "name": span or "the rows passed as the reference",
            "periods": inside,
            "value": whole.value,
            "low": whole.low,
            "high": whole.high,
            "n": first.total,
        },
        alpha=float(alpha),
        confidence_level=whole.confidence_level,
        notes=notes,
        context=context,
        params=learned.get_params(deep=False),
        kind=learned.kind,
        question=learned.question,
        group_columns=tuple(first.group_columns or ()),
        citation=learned.citation,
    )


def _parts_like(
    first: Contingency,
    full: Mapping[str, Contingency],
    counted: _periods.CountedPeriods,
    roles: dict[str, str],
    *,
    strict: bool,
) -> tuple[dict[str, Contingency], list[dict[str, Any]]]:
    """Return the periods under the groups and tasks of the reference, and what that leaves out.

    A period that has no rows left gets this role.
    """
    notes = list(counted.notes)
    for name, role in roles.items():
        if role == EMPTY:
            notes += _noted(name, ["no rows in this period."])
    parts: dict[str, Contingency] = {}
    for name, cells in full.items():
        if cells.naming.pos_label is not None:  # else it is that of the reference
            common_positive([first, cells])
        common_names([first, cells])
        part, lost = within(cells, first)
        # Rows of other classes were left out as they were read.
        lost["task"] |= counted.others.get(name, {})
        for what, names in {"group": lost["group"], "class": lost["task"]}.items():
            for label, n in names.items():
                if strict:
                    text = (
                        "The period {period} has the {what} {seen!r}, which the reference lacks. "
                        "Use a reference that has it, or {strict=False} to leave its rows out."
                    )
                    raise InputError(text, period=name, what=what, seen=label)
                lacking = f"the {what} {quote([label])}, which the reference lacks"
                text = f"{rows_of(n)} of {lacking}, {'is' if n == 1 else 'are'} left out."
                notes.append({"period": name, "text": text, "lacking": n})
        absent = [g for g, n in zip(part.groups, part.count("group"), strict=True) if not n]
        if absent and not cells.indicator and part.total:
            whose = "its" if len(absent) == 1 else "their"
            text = f"no rows of {quote(absent)}: {whose} pairs are not measured in this period."
            notes += _noted(name, [text])
        if part.total:
            parts[name] = distinct(part)
        else:
            roles[name] = EMPTY
    groups = {group for cells in full.values() for group in cells.groups}
    if len(first.groups) == 1 and len(groups) > 1:
        raise InputError(
            "{reference} has rows of one group only, {group!r}, and other periods have more. Use "
            "more periods as the reference, or others.",
            group=first.groups[0],
        )
    return parts, notes


def _audited(
    auditor: Any, parts: Mapping[str, Contingency]
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the audits of periods, and notes about those that have too few rows for one.

    Another error about the rows of a period names it.
    """
    results: dict[str, Any] = {}
    notes: list[dict[str, Any]] = []
    for name, cells in parts.items():
        try:
            results[name] = auditor.audit(cells)
        except InputError as error:
            if cells.rows.sum() >= auditor.fewest_rows:
                error.begin_with(f"Period {name}: ")
                raise
            notes += _noted(name, [f"not measured: {error}"])
    return results, notes


def _noted(period: str | None, texts: Iterable[str]) -> list[dict[str, Any]]:
    """Return notes about a period; None: about the whole watch."""
    return [{"period": period, "text": text} for text in texts]


def _reference_of(
    reference: Any, full: Mapping[str, Contingency], periods: Iterable[str]
) -> tuple[Contingency, dict[str, str]]:
    """Return the counts of the reference, and what every period is."""
    roles = {name: WATCHED if name in full else EMPTY for name in periods}
    if isinstance(reference, Contingency):
        if reference.has("task") and not any(part.has("task") for part in full.values()):
            raise InputError(
                "{reference} has labels, and the periods have predictions only. Count it without "
                "labels; those of real rows may take the place of predictions: "
                "Contingency.from_labels(None, labels, sensitive_features=...)."
            )
        return reference, roles
    chosen = _periods.periods_of(reference, [*full])
    if isinstance(reference, str):
        for name in itertools.takewhile(lambda name: name != reference, full):
            roles[name] = BEFORE
    for name in chosen:
        roles[name] = REFERENCE
    return merged([full[name] for name in chosen]), roles


def _about_reference(
    reference: Contingency, periods: Sequence[Contingency], *, uneven: bool
) -> Iterator[str]:
    """Yield what to know of a reference: it is small, or its periods differ."""
    typical = float(np.median([period.total for period in periods])) if periods else 0.0
    n_rows = reference.rows.sum()
    if not reference.whole and n_rows < reference.total / 2:
        yield (
            "The counts of the reference are not whole, so that each cell is one row with a "
            f"weight: {rows_of(n_rows)} of weight {reference.total:,.0f}. A watch of so few rows "
            "finds nothing. Count single rows, or round the counts."
        )
    if reference.total < _SMALL_REFERENCE * typical:
        yield (
            f"The reference has {rows_of(reference.total)}, and a typical period {typical:,.0f}. "
            "Small changes cannot be found, however long the watch lasts. Use more periods as the "
            "reference."
        )
    if uneven:
        yield (
            "The periods of the reference differ from one another by more than chance. Rows may "
            "depend on one another (the same people, days of the week), and alarms may come from "
            "that. Use longer periods."
        )
