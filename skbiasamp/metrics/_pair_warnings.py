"""Warnings about pairs: undefined ones, those of few rows, and those of an uncertain sign."""

from __future__ import annotations

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from skbiasamp._input.checks import Array
from skbiasamp._input.errors import quote
from skbiasamp._utils.warnings import UncertaintyWarning, warn
from skbiasamp.inference.intervals import FEW
from skbiasamp.inference.pairs import Pairs


def warn_undefined(pairs: Pairs) -> None:
    """Name all undefined pairs of a call in one warning."""
    undefined = np.isnan(pairs.delta)
    if not pairs.delta.size:
        text = "no set of tasks occurs often enough in both labels: the value is NaN."
        warn(text, UndefinedMetricWarning)
    if not undefined.any():
        return
    given = "group" if pairs.rates is None else pairs.rates.observed[1]
    condition = "predicted" if given.endswith("_pred") else "audited"
    # Only a metric that declares its rates says what they are conditioned on.
    cause = "nothing to measure" if pairs.rates is None else f"no {condition} rows"
    n = int(undefined.sum())
    fates = ("is left out of the mean", "are left out of the mean")
    if pairs.undefined_as_zero:
        fates = ("counts as 0", "count as 0")
    fate = fates[n > 1]
    lost = f"{n} pairs are NaN and {fate}" if n > 1 else f"pair is NaN and {fate}"
    sides = [(1, "group", pairs.groups), (0, "task", pairs.tasks)]
    # The side that the rates are conditioned on is the likelier cause: it comes first.
    for axis, kind, names in sides if given == "group" else sides[::-1]:
        whole = np.asarray(undefined.all(axis=axis))
        if (undefined == np.expand_dims(whole, axis)).all():
            gone = [name for name, is_whole in zip(names, whole, strict=True) if is_whole]
            kinds, its = (f"{kind}s", "their") if len(gone) > 1 else (kind, "its")
            warn(f"{cause} for {kinds} {quote(gone)}: {its} {lost}.", UndefinedMetricWarning)
            return
    which = [(pairs.groups[i], pairs.tasks[j]) for i, j in np.argwhere(undefined)]
    warn(
        f"{n} pairs of group and task are NaN and {fate}, {cause}: {quote(which)}.",
        UndefinedMetricWarning,
    )


def warn_uncertain(pairs: Pairs, certain: Array, reliable: Array) -> None:
    """Say once for a call which pairs rest on few rows, or on an uncertain sign."""
    few = ~np.isnan(pairs.delta) & ~reliable
    # NaN is no flag.
    weak = ~np.isnan(pairs.delta) & (certain == 0) & (pairs.sign != 0)

    def named(mask: Array) -> str:
        where = list(zip(*np.where(mask), strict=True))
        shown = ", ".join(f"({pairs.groups[i]!r}, {pairs.tasks[j]!r})" for i, j in where[:3])
        return shown + (f" and {len(where) - 3} more" if len(where) > 3 else "")

    sentences = []
    if few.any():
        sentences.append(
            f"{int(few.sum())} of {few.size} pairs rest on fewer than {FEW} rows "
            f"(reliable=False in the table): {named(few)}."
        )
    if weak.any():
        sentences.append(
            f"{int(weak.sum())} of {weak.size} pairs are so weakly correlated in the training "
            "labels that their sign is not statistically distinguishable from 0 "
            "(sign_certain=False in the table): "
            f"{named(weak)}."
        )
    if sentences:
        warn(" ".join(sentences), UncertaintyWarning)
