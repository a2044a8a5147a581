"""Checks of numbers: those that were read as classes or groups, and predictions near the mean."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from skbiasamp._utils.formatting import DIRECTION_OF, name_of
from skbiasamp.counts.cells import labels_of
from skbiasamp.counts.contingency import Contingency, SideName
from skbiasamp.report.checks import ROWS, Audited, Seen, check

_MOST_CLASSES = 20
_MOST_GROUPS = 30  # of numbers; there are as many codes of regions, and more ages
_NARROW = 0.9  # of the labels' standard deviation


@check("SBA105", "numbers as classes", rank=35, severity="wrong", owner="data")
def numbers_as_classes(audited: Audited) -> Seen:
    """Labels are many whole numbers, which were read as classes."""
    names = audited.test.classes or ()
    numbers = [name for name in names if isinstance(name, int | float)]
    if len(numbers) > _MOST_CLASSES:
        yield {"n": len(numbers)}


@check("SBA107", "numbers as groups", rank=41, severity="wrong", owner="data", reads=ROWS)
def numbers_as_groups(audited: Audited) -> Seen:
    """A sensitive feature is many whole numbers, each of which was read as a group."""
    for column, values in _values_of(audited.test):
        n = len({value for value in values if isinstance(value, int | float)})
        if n > _MOST_GROUPS:
            yield {"column": None if column is None else name_of(column), "n": n}
            return


def _values_of(test: Contingency) -> Iterator[tuple[Any, list[Any]]]:
    """Yield each sensitive column, None if it has no name, and its values in the groups."""
    if test.indicator:
        if not test.declared:  # groups="marginal" names them column=value
            parts = [str(group).rpartition("=") for group in test.groups]
            for column in dict.fromkeys(title for title, _, _ in parts):
                texts = [text for title, _, text in parts if title == column]
                yield column, [int(text) if text.isdecimal() else text for text in texts]
        return
    groups = [group if isinstance(group, tuple) else (group,) for group in test.groups]
    for i, values in enumerate(zip(*groups, strict=False)):
        yield test.group_columns[i] if i < len(test.group_columns) else None, list(values)


@check("SBA205", "narrow predictions", rank=75, owner="model", reads=("numbers",))
def narrow_predictions(audited: Audited) -> Seen:
    """Predictions of a number vary less than its labels do."""
    test = audited.test
    if any(DIRECTION_OF.get(result.verdict, 0) > 0 for result in audited.report.values()):
        return
    labels, predictions = (_spread(test, side) for side in ("task", "task_pred"))
    varies = labels > 0
    share = np.where(varies, predictions / np.where(varies, labels, 1.0), 1.0)
    narrowest = int(share.argmin())
    if share[narrowest] < _NARROW:
        yield {"task": audited.task(test.tasks[narrowest]), "share": float(share[narrowest])}


def _spread(cells: Contingency, side: SideName) -> np.ndarray:
    """Return the standard deviation of each task."""
    values = labels_of(cells, side).dense(slice(None), float)
    values = values - values[0]
    mean = cells.weight @ values / cells.total
    spread: np.ndarray = np.sqrt(cells.weight @ (values - mean) ** 2 / cells.total)
    return spread
