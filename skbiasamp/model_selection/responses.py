"""What a classifier says of rows, whichever method it says it with."""

from __future__ import annotations

from typing import Any

import numpy as np

from skbiasamp._input.checks import Array


def task_scores(output: Any, classes: Any) -> Array:
    """Return multilabel probabilities with a column a task, however the classifier gives them.

    `output` is a matrix of tasks already, or a list with a matrix of classes for each task.
    """
    if not isinstance(output, list):
        return np.asarray(output)
    columns = np.zeros((len(output[0]), len(output)))
    for task, (column, known) in enumerate(zip(output, classes, strict=True)):
        positive = np.flatnonzero(np.asarray(known) == 1)  # a task that never occurs has none
        if len(positive):
            columns[:, task] = column[:, positive[0]]
    return columns
