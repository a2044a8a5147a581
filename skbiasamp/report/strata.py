"""Rows by group and stratum: further columns of the rows, which are counted as groups are."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

import numpy as np

from skbiasamp._input.checks import MISSING, MOST_GROUPS, Array, NamedMissing, Names
from skbiasamp._input.containers import check_lengths, columns_of, to_native
from skbiasamp._input.errors import InputError, InputTypeError, quote, renaming, rows_of
from skbiasamp._input.labels import Codes, codes_of
from skbiasamp._io import are_files
from skbiasamp.counts.cells import distinct, side_of, sides_of, take, with_sides
from skbiasamp.counts.contingency import Contingency
from skbiasamp.counts.frames import names_of, open_frame
from skbiasamp.counts.merging import ordered
from skbiasamp.inference.value import FEWEST_ROWS
from skbiasamp.metrics.inputs import count_labels
from skbiasamp.report._value_parts import weights_within

_UNNAMED = "group"
# Fewer rows a stratum on average: a number that was not binned, or an id.
_FEWEST = 10


class Strata(NamedTuple):
    """Cells by group, and by group and stratum (`fine`); which two each group of `fine` is."""

    cells: Contingency
    fine: Contingency
    group: Array
    stratum: Array
    names: Names
    columns: Names
    given: Names

    @property
    def of_cells(self) -> tuple[Array, Array]:
        """The group of each cell, and its stratum."""
        fine = codes_of(side_of(self.fine, "group"))
        return self.group[fine], self.stratum[fine]

    def check_numbers(self) -> None:
        """Raise if groups or strata look like numbers that were not binned."""
        n, total = len(self.names), float(self.cells.rows.sum())
        if n > 1 and total < _FEWEST * n:
            text = "{given} has {n} different strata in {rows:,.15g} rows. Bin numbers first."
            raise InputError(text, n=n, rows=total)
        if len(self.cells.groups) > MOST_GROUPS:
            text = "{sensitive_features} has {n} different values. Bin numbers first."
            raise InputError(text, n=len(self.cells.groups))


class RowSource(NamedTuple):
    """Labels of rows, or columns of a frame, which are counted by group and by other columns."""

    y_true: Any
    labels: dict[str, Any]
    columns: dict[str, Any]
    how: dict[str, Any]

    def divided(
        self, given: Any, train: Contingency | None = None, *, models: Any = None
    ) -> Strata:
        """Count rows by group and by `given`: columns of values, or names of columns.

        `models` are predictions of several models, in place of those of one. A missing value in
        `given` is a value.
        """
        labels, columns, how = dict(self.labels), dict(self.columns), dict(self.how)
        missing = how.pop("missing", "error")
        if given is not None and how.get("groups") == "indicator":
            raise InputError(
                "{given} needs groups that do not overlap, and those of {groups='indicator'} may. "
                "Pass columns of values: {groups='marginal'} audits each on its own."
            )
        labels.pop("sensitive_pred", None)  # plays no part in group → task
        columns.pop("sensitive_prediction", None)
        if columns or isinstance(self.y_true, Contingency):
            if isinstance(given, Mapping) or hasattr(given, "shape"):
                text = "{given} must name columns of the rows that were passed; got {kind}."
                raise InputTypeError(text, kind=type(given).__name__)
            strata = tuple(names_of(given))
            if columns:
                columns["sensitive"] = sensitive_and_strata(self.y_true, columns, strata)
                columns |= {} if models is None else {"prediction": models}
            elif models is not None:
                labels["y_preds"] = models  # which a contingency refuses, as it does other labels
        else:
            strata = _with_strata(labels, given)
            if models is not None:
                labels["y_preds"] = models
                labels.pop("y_pred", None)
        if strata and how.get("groups") == "marginal":
            every = columns.get("sensitive") or labels.get("sensitive_features") or ()
            if len(every) == len(strata) + 1:  # one column has none beside it to overlap
                how["groups"] = "intersection"
        # Strata of groups may be many, and are no groups.
        how |= {"max_groups": np.inf, "missing": "group"}
        called = {
            f"{role} column {name!r}": "given"
            for role in ("sensitive", "sensitive_features")
            for name in strata
        }
        with renaming(called):
            fine = count_labels(self.y_true, labels, columns, engine={"joint": True}, **how)
        if not isinstance(self.y_true, Contingency):
            fine = _without_missing(fine, strata, missing)
        return strata_of(ordered(fine), strata, train)


def sensitive_and_strata(frame: Any, columns: dict[str, Any], strata: Names) -> list[Hashable]:
    """Return the sensitive columns of a frame and those of strata, or raise if they are none."""
    if not are_files(frame):  # files say which columns they lack
        open_frame(frame, {"given": [*strata]})
    every = [*names_of(columns.get("sensitive")), *strata]
    if twice := [name for name in strata if every.count(name) > 1]:
        text = "{sensitive} and {given} name column {seen!r} twice. Name each column once."
        raise InputError(text, seen=twice[0])
    return every


def _with_strata(labels: dict[str, Any], given: Any) -> Names:
    """Put the columns of strata after the sensitive ones, and return their names."""
    if given is None or labels["sensitive_features"] is None:
        return ()
    columns: dict[Hashable, Any] = {}
    n_sensitive = 0
    for name, title in (("sensitive_features", _UNNAMED), ("given", "stratum")):
        n_sensitive = len(columns)
        value = given if name == "given" else labels[name]
        for own, column in columns_of(to_native(value, name)):
            called = own if isinstance(own, str) else f"{title} {own}".removesuffix(" 0")
            columns[f"{called} (given)" if called in columns else called] = column
    first, *_, last = columns.values()
    check_lengths({"sensitive_features": first, "given": last})
    labels["sensitive_features"] = columns
    return tuple(columns)[n_sensitive:]


def _without_missing(fine: Contingency, strata: Names, missing: str) -> Contingency:
    """Handle rows with a missing sensitive feature; one in the columns of strata is a value."""
    own = side_of(fine, "group")
    where = [i for i, name in enumerate(own.columns) if name not in strata]
    names: list[Any] = [name if len(own.columns) > 1 else (name,) for name in own.names]
    parts = [[name[i] for i in where] for name in names]
    lost = np.array(
        [any(p == MISSING and not isinstance(p, NamedMissing) for p in each) for each in parts]
    )
    if missing == "group" or not lost.any() or not isinstance(own.labels, Codes):
        return fine
    known = fine.select(
        groups=[name for name, gone in zip(own.names, lost, strict=True) if not gone]
    )
    known.n_dropped += fine.count("group")[lost].sum()
    if missing == "error":
        raise InputError(
            "{sensitive_features} has missing values in {where}. Leave these rows out "
            "({missing='drop'}), or keep them as a group of their own ({missing='group'}). "
            "{skbiasamp.audit(missing='bounds')} says what they could change.",
            where=rows_of(known.n_dropped),
        )
    return known


def strata_of(fine: Contingency, given: Names, train: Contingency | None = None) -> Strata:
    """Divide groups of several columns into groups and strata, under the names of training."""
    own = side_of(fine, "group")
    if not isinstance(own.labels, Codes):
        raise InputError(
            "{sensitive_features} has groups that overlap, and parts are of groups that do not. "
            "Explain one column at a time."
        )
    if given and (not {*given} < {*own.columns}):
        raise InputError(
            "{given} must name some columns of groups, but not all of {columns}; got {seen}.",
            columns=quote(own.columns),
            seen=quote(given),
        )
    groups: list[Hashable] = list(own.names)
    strata: list[Hashable] = [()] * len(groups)
    columns = fine.group_columns
    if given:
        columns = tuple(name for name in own.columns if name not in given)
        groups, strata = (
            [
                _parts_of(name, [own.columns.index(column) for column in wanted])
                for name in own.names
            ]
            for wanted in (columns, given)
        )
    names, strata_names = tuple(dict.fromkeys(groups)), tuple(dict.fromkeys(strata))
    # One column without a name is called "group", and names no group.
    columns = () if columns == (_UNNAMED,) else columns
    merged = own.merged(_positions(groups, names), names, columns or (0,))
    cells = with_sides(fine, sides_of(fine) | {"group": merged})
    if train is not None:
        cells = cells.conform(train)
    fine = with_sides(cells, sides_of(cells) | {"group": own})
    group, stratum = _positions(groups, cells.groups), _positions(strata, strata_names)
    return Strata(cells, fine, group, stratum, strata_names, columns, given)


def without_strata(cells: Contingency, given: Names) -> Contingency:
    """Return the cells of a contingency by its other columns of groups."""
    return distinct(strata_of(cells, given).cells)


def standardised(rows: Strata) -> Contingency:
    """Return the rows with weights that make strata as frequent in each group as in all rows.

    Groups then differ within strata alone (direct standardisation). Rows in strata without rows of
    all groups are left out.
    """
    of_cells, weight = rows.of_cells, rows.cells.weight
    n = np.zeros((len(rows.cells.groups), len(rows.names)))
    np.add.at(n, of_cells, weight)
    each = weights_within(n, n.sum(axis=0))
    if not each.any():
        raise InputError("{given}: no stratum has rows of all groups, so none can be compared.")
    kept = np.flatnonzero(each[of_cells])
    known = take(rows.cells, kept, (weight * each[of_cells])[kept])
    known.repeats = rows.cells.rows[kept]
    n_rows = np.zeros(n.shape)
    np.add.at(n_rows, of_cells, rows.cells.rows)
    pools = np.array([_pooled(own) for own in n_rows])
    of_pools = of_cells[0] * n.shape[1] + pools[of_cells]
    known.poststrata = np.unique(of_pools[kept], return_inverse=True)[1]
    known.n_dropped += weight[each[of_cells] == 0].sum()
    return known


def _pooled(rows: Array) -> Array:
    """Return a number of each stratum of a group; those of few rows share one.

    A few rows do not say how much their own rate varies.
    """
    pools, pool, in_pool, left = np.zeros(len(rows), dtype=np.intp), 0, 0.0, rows.sum()
    for stratum in np.argsort(-rows, kind="stable"):
        if min(in_pool, left) >= FEWEST_ROWS:
            pool, in_pool = pool + 1, 0.0
        pools[stratum] = pool
        in_pool += rows[stratum]
        left -= rows[stratum]
    return pools


def _parts_of(name: Any, where: list[int]) -> Hashable:
    chosen = tuple(name[i] for i in where)
    return chosen[0] if len(chosen) == 1 else chosen


def _positions(names: list[Hashable], known: Names) -> Array:
    at = {name: i for i, name in enumerate(known)}
    return np.array([at[name] for name in names], dtype=np.intp)
