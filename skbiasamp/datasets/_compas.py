"""COMPAS, as published tables of counts."""

from __future__ import annotations

import pandas as pd
from sklearn.utils import Bunch

from skbiasamp._labels import check_option

_DESCRIPTION = """\
COMPAS recidivism predictions, as tables of counts
--------------------------------------------------

Defendants of two groups (Caucasian, African-American), whether they reoffended (no, yes), and
what a decision tree predicted of both. The counts of race by label, race by predicted label and
label by predicted race are those of Table 2 of Tokas et al., Directional predictability
amplification (2024), for the unbalanced data set and for the one balanced in race and label.

Only those three margins are published. The joint counts given here are one set of whole numbers
that has them: every measure of a margin (directional and multi-attribute amplification) is the
paper's, while what depends on the rest (accuracy, MALS with predicted race, intervals, tests) is
not meaningful.
"""

_RACES = {"C": "Caucasian", "A": "African-American"}
_LABELS = {"n": "no", "y": "yes"}

# group, label, predicted group, predicted label -> defendants
_COUNTS = {
    "unbalanced": {
        "CnCn": 1056,
        "CnAn": 109,
        "CnAy": 64,
        "AnAn": 1402,
        "CyCy": 874,
        "AyCn": 144,
        "AyCy": 97,
        "AyAy": 1532,
    },
    "balanced": {
        "CnCn": 874,
        "CyCn": 271,
        "CyCy": 603,
        "AnCn": 209,
        "AnAn": 665,
        "AyCn": 22,
        "AyAn": 52,
        "AyAy": 800,
    },
}


def load_compas_counts(subset: str = "unbalanced") -> Bunch:
    """Load published counts of COMPAS predictions.

    .. versionadded:: 0.1

    Parameters
    ----------
    subset : {"unbalanced", "balanced"}, default="unbalanced"
        The data as it is (5,278 defendants), or balanced in race and label (3,496).

    Returns
    -------
    data : Bunch
        ``frame`` holds one row a cell with the columns group, task, group_pred, task_pred and
        n, as `Contingency.from_counts` reads them; ``tasks`` and ``tasks_pred`` hold both
        labels as indicator columns, as the paper counts them; ``DESCR`` says what is published
        and what is not.

    Examples
    --------
    >>> from skbiasamp.datasets import load_compas_counts
    >>> from skbiasamp.metrics import directional_amplification
    >>> compas = load_compas_counts("unbalanced")
    >>> value = directional_amplification(
    ...     compas.tasks,
    ...     compas.tasks_pred,
    ...     sensitive_features=compas.frame["group"],
    ...     sample_weight=compas.frame["n"],
    ... )
    >>> round(value, 3)
    -0.038
    """
    check_option("subset", subset, tuple(_COUNTS))
    rows = [
        (_RACES[cell[0]], _LABELS[cell[1]], _RACES[cell[2]], _LABELS[cell[3]], n)
        for cell, n in _COUNTS[subset].items()
    ]
    frame = pd.DataFrame(rows, columns=["group", "task", "group_pred", "task_pred", "n"])

    def both(column: str) -> pd.DataFrame:
        return pd.DataFrame(
            {label: (frame[column] == label).astype(int) for label in ("no", "yes")}
        )

    return Bunch(
        frame=frame,
        tasks=both("task"),
        tasks_pred=both("task_pred"),
        DESCR=_DESCRIPTION,
    )
