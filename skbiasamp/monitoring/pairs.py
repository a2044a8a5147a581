"""Matched pairs over time: a pair is one row, with the decisions of its two groups side by side."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from skbiasamp._input.checks import Array
from skbiasamp._input.containers import to_native
from skbiasamp._input.errors import InputError
from skbiasamp.counts.contingency import Contingency
from skbiasamp.inference.pairs import Pairs, Rates
from skbiasamp.metrics import CooccurrenceAuditor
from skbiasamp.metrics.inputs import row_by_row
from skbiasamp.metrics.matched_pairs import PairedRows

_PAIRED = "matched pairs"  # names the column of two groups
_COLUMNS = {"target": "lower", "prediction": "higher", "sensitive": _PAIRED, "weight": "weight"}


class _PairDifference(CooccurrenceAuditor):
    """The mean difference of two groups within matched pairs, of pairs counted as rows."""

    metric = "matched pairs"
    definition = "How many more decisions the first group gets than the other, within pairs."
    columns: ClassVar = {"base": "Other group", "observed": "First group"}
    _uses_groups = False
    _compared: Hashable = ""  # the groups

    @property
    def question(self) -> str:
        """What is compared."""
        return f"How large is the mean difference within matched pairs, {self._compared}?"

    def _check_groups(self, cells: Contingency) -> None:
        """Both groups are in every row."""

    def _sign(self, labels: Contingency) -> Array:
        return np.ones((*np.shape(labels.total), 1, len(labels.tasks)), int)

    def _sign_p_values(self, labels: Contingency) -> Array | None:
        return None

    def _measure(self, train: Contingency, test: Contingency, **fixed: Any) -> Pairs:
        n = np.asarray(test.total)[..., None, None]
        base, observed = (test.count(side)[..., None, :] / n for side in ("task", "task_pred"))
        return Pairs(
            groups=test.groups,
            tasks=test.tasks,
            n=n,
            base=base,
            observed=observed,
            sign=self._sign(train),
            rates=Rates(("task_pred", "group"), ("task", "group")),
        )

    def values_of_draws(self, drawn: Contingency) -> tuple[Array, Array]:
        """Return the value, and none of the pairs of group and task: the only one is the value."""
        value, pairs = super().values_of_draws(drawn)
        return value, pairs[:, :0]


def auditor_of_pairs(cells: Contingency) -> _PairDifference | None:
    """Return the auditor of counts whose rows are pairs; None of others."""
    if cells.group_columns != (_PAIRED,):
        return None
    auditor = _PairDifference()
    auditor._compared = cells.groups[0]
    return auditor


def check_paired(asked: Mapping[str, Any]) -> None:
    """Raise if a watch of pairs is asked for something that pairs do not have."""
    usual = {"groups": "intersection", "missing": "error"}
    for name in ("target", "sensitive_prediction", "given", "auditor", "threshold", *usual):
        if asked.get(name) != usual.get(name):
            text = "{name} plays no part where matched pairs are watched: leave it or {pair} out."
            raise InputError(text, name=name)


def pairs_as_rows(
    frame: Any, columns: dict[str, Any], pos_label: Any, **times: Hashable | None
) -> tuple[pd.DataFrame, dict[str, Any], dict[str, Any]]:
    """Return a frame with a row for each pair, and what its columns and those of `times` are.

    `times` are columns of periods and versions: a pair has the lesser of both rows.
    """
    for name in ("prediction", "sensitive"):
        if name not in columns:
            text = "{name} must name a column of the frame beside {pair}; got None."
            raise InputError(text, name=name)
    times = {name: column for name, column in times.items() if column is not None}
    known = dict.fromkeys(("y_pred", "sensitive_features", "pairs", "sample_weight", "clusters"))
    _, given, _ = row_by_row(frame, known, columns | times)
    of_rows = {name: np.asarray(to_native(given.pop(name), name)) for name in times}
    rows = PairedRows.read(given, pos_label)
    values = rows.values[0]
    if len(rows.names) != 2 or values.shape[1] != 1 or not np.isin(values, (0, 1)).all():
        text = "{pair} needs two groups, and one decision of 0 or 1 a row, to be watched."
        raise InputError(text)
    order = np.lexsort((rows.group, rows.pair))
    pair, group = rows.pair[order], rows.group[order]
    same = pair[1:] == pair[:-1]
    if (repeated := same & (group[1:] == group[:-1])).any():
        text = "{pair} needs one row of each group to be watched; {n} rows repeat the group."
        raise InputError(text, n=int(repeated.sum()))
    first, second = order[:-1][same], order[1:][same]  # of the two groups, a pair a place
    table = {
        "higher": values[first, 0].astype(int),
        "lower": values[second, 0].astype(int),
        _PAIRED: " minus ".join(map(str, rows.names)),
        "weight": rows.weight[rows.pair[first]],
        **{name: _lesser(column, first, second) for name, column in of_rows.items()},
    }
    return pd.DataFrame(table), dict(_COLUMNS), {name: name for name in times}


def _lesser(column: Array, first: Array, second: Array) -> pd.Series:
    """Return the lesser value of two rows each; it is missing if either is."""
    known: Any = pd.Series(column).infer_objects()
    if pd.api.types.infer_dtype(known) == "date":  # pandas has no type for them
        known = pd.to_datetime(known)
    codes, values = pd.factorize(known, sort=True)
    at = np.minimum(codes[first], codes[second])
    return pd.Series(values).reindex(at).reset_index(drop=True)
