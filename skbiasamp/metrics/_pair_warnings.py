"""Warnings about undefined pairs."""

from __future__ import annotations

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from skbiasamp._input.checks import Names
from skbiasamp._input.errors import quote
from skbiasamp._utils.warnings import UncertaintyWarning, warn
from skbiasamp.counts.contingency import Contingency, SideName
from skbiasamp.inference.pairs import Pairs


def warn_untrained(train: Contingency, test: Contingency) -> None:
    """Name the groups and tasks of audited rows that training lacks."""
    kinds: tuple[tuple[SideName, Names], ...] = (("group", test.groups), ("task", test.tasks))
    for kind, names in kinds:
        before = train.count(kind)
        there = test.count(kind if test.has(kind) else f"{kind}_pred")  # type: ignore[arg-type]
        new = [name for name, n, m in zip(names, before, there, strict=True) if n == 0 < m]
        if new:
            who = f"{kind}s {quote(new)}" if len(new) > 1 else f"{kind} {quote(new)}"
            its = "their" if len(new) > 1 else "its"
            text = "the training labels lack the {who}: the audited labels give {its} directions."
            warn(text.format(who=who, its=its), UncertaintyWarning)


def warn_undefined(pairs: Pairs) -> None:
    """Name all undefined pairs of a call in one warning."""
    undefined = np.isnan(pairs.change.value)
    if not undefined.size:
        text = "no set of tasks occurs often enough in both labels: the value is NaN."
        warn(text, UndefinedMetricWarning)
    if not undefined.any():
        return
    n, by_group = int(undefined.sum()), pairs.predicted.by_group
    counts = pairs.aggregate.divisor is not None and not by_group
    fates = "is left out of the mean", "are left out of the mean"
    if counts:
        fates = "counts as 0", "count as 0"
        if undefined.all():
            fates = ("so is the value",) * 2
    fate = fates[n > 1]
    rows = f"{'predicted' if pairs.predicted.is_predicted else 'audited'} rows"
    lost = f"{n} pairs are NaN and {fate}" if n > 1 else f"pair is NaN and {fate}"
    sides = [(1, "group", pairs.groups), (0, "task", pairs.tasks)]
    # The side that the rates are conditioned on is the likelier cause: it comes first.
    for axis, kind, names in sides if by_group else sides[::-1]:
        whole = np.asarray(undefined.all(axis=axis))
        if (undefined == np.expand_dims(whole, axis)).all():
            gone = [name for name, is_whole in zip(names, whole, strict=True) if is_whole]
            kinds, its = (f"{kind}s", "their") if len(gone) > 1 else (kind, "its")
            warn(f"no {rows} for {kinds} {quote(gone)}: {its} {lost}.", UndefinedMetricWarning)
            return
    which = [(pairs.groups[i], pairs.tasks[j]) for i, j in np.argwhere(undefined)]
    warn(
        f"{n} pairs of group and task are NaN and {fate}, no {rows}: {quote(which)}.",
        UndefinedMetricWarning,
    )
