"""Groups known with a probability, and labels that a decision made: what is sure without more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from skbiasamp._input.checks import Array
from skbiasamp._input.containers import check_lengths, one_column, to_native
from skbiasamp._input.errors import InputError
from skbiasamp._input.labels import codes_of, side_of_model
from skbiasamp._input.probable_groups import read_probabilities
from skbiasamp._utils.formatting import group_of, listed, name_of, p_equals, rate
from skbiasamp.counts.cells import sides_of, with_sides
from skbiasamp.counts.contingency import Contingency, SideName
from skbiasamp.counts.frames import read_labels
from skbiasamp.inference.hypothesis_tests import adjust_p_values
from skbiasamp.results import AuditResult, ComparisonResult, Finding

_FEW = 30  # rows of a stratum of probabilities; those of fewer are merged
_ALPHA, _EVENTS = 0.05, 5  # of a test with the normal distribution

# What changes in an audit: from labels to predictions.
_CHANGE: tuple[SideName, SideName] = ("task", "task_pred")

Ends = tuple[Array, Array]


class PartlyKnown(NamedTuple):
    """Rows by stratum: the share of each group in it, and whether its labels are known."""

    cells: Contingency  # its groups are strata
    groups: tuple[Any, ...]
    share: Array  # strata × groups
    labelled: Array
    assuming: str
    findings: list[Finding]

    def _ends(
        self, cells: Contingency, change: tuple[Any, Any], sign: Array | None, tasks: Any
    ) -> Ends:
        """Return the least and the largest change of the gap that agree with these counts.

        `change` names labels and predictions, or the predictions of two models.

        They are Fréchet's bounds in each stratum, for all groups together: the rows that change are
        those of the groups to which they add most, as far as these have rows there.
        """
        at = [self.cells.tasks.index(task) for task in tasks if task in self.cells.tasks]
        n, known = cells.count("group")[..., None, None], self.labelled[:, None]
        sides: Any = sides_of(cells)
        named = {"group": sides["group"], **dict(zip(_CHANGE, map(sides.get, change), strict=True))}
        moved = with_sides(cells, named)
        before, predicted = (moved.joint("group", side)[..., at] for side in _CHANGE)
        same = moved.both("task").joint("group", "task_pred")[..., at]
        sure = known | (change[0] != "task")  # predictions are there for all rows
        rows = n[..., 0]
        gained = [np.where(sure, predicted - same, end) for end in (0, predicted)]
        lost = [np.where(sure, before - same, end) for end in (0, rows - predicted)]
        own = n * self.share[..., None]
        size = own.sum(axis=-3)

        def most(sign: Array, up: list[Array], down: list[Array]) -> Array:
            """Return the largest sum over groups of their change, beside that of all rows."""
            sign = np.where(size > 0, sign, 0)
            worth = sign / np.where(size > 0, size, 1)
            worth = worth - sign.sum(axis=-2, keepdims=True) / n.sum(axis=-3)
            total = np.zeros(())
            for value, more, less in ((worth, up[1], down[0]), (-worth, down[1], up[0])):
                order = np.argsort(-value, axis=-2)
                value = np.take_along_axis(value, order, axis=-2).clip(0)
                first = np.take_along_axis(own, order[..., None, :, :], axis=-2).cumsum(axis=-2)
                net = np.minimum(more[..., None, :], first)
                net = net - np.maximum(less[..., None, :] + first - n, 0)
                steps = -np.diff(value, axis=-2, append=0)
                total = total + (steps * net.sum(axis=-3)).sum(axis=-2)
            return total

        def each(up: list[Array], down: list[Array]) -> Ends:
            """Return the least and the largest change of each group beside that of all rows."""
            single = np.eye(self.share.shape[1])[..., None]
            low, high = ([most(way * group, up, down) for group in single] for way in (-1, 1))
            return -np.stack(low, axis=-2), np.stack(high, axis=-2)

        if sign is None:
            labels = cells.joint("group", "task")[..., at]
            gap = each([np.where(known, labels, end) for end in (0, rows)], [0 * labels] * 2)
            sign = (gap[0] > 1e-12).astype(int) - (gap[1] < -1e-12)
            # Either sign is possible where it is not known.
            open_ = np.where(sign == 0, np.maximum(*np.abs(each(gained, lost))), 0).sum(axis=-2)
        else:
            sign = sign[:, [list(tasks).index(self.cells.tasks[i]) for i in at]]
            open_ = 0
        down, up = most(-sign, gained, lost) + open_, most(sign, gained, lost) + open_
        pairs = self.share.shape[1] * len(tasks)
        return (0 - down.sum(axis=-1)) / pairs, up.sum(axis=-1) / pairs

    def _bounds(
        self, auditor: Any, pairs: pd.DataFrame, params: Any, random_state: Any, changes: Any
    ) -> Iterator[dict[str, float]]:
        """Yield the bounds of each change, and the interval that holds them with their error."""
        order = [self.groups.index(name) for name in pairs["group"]]
        tasks = pairs["task"].tolist()[: len(pairs) // len(self.groups)]
        own = self._replace(share=self.share[:, order[:: len(tasks)]])
        known = params.get("reference") == "train"
        sign = pairs["sign"].to_numpy().reshape(-1, len(tasks)) if known else None
        drawn = None
        if auditor.interval is not None:
            drawn = self.cells.resample(auditor.n_resamples, random_state=random_state)
        for change in changes:
            low, high = (float(end) for end in own._ends(self.cells, change, sign, tasks))
            bounds = {"bound_low": low, "bound_high": high}
            if drawn is not None:
                least, most = own._ends(drawn, change, sign, tasks)
                tail = (1 - auditor.confidence_level) / 2
                low = min(float(np.quantile(least, tail, method="weibull")), low)
                high = max(float(np.quantile(most, 1 - tail, method="weibull")), high)
            yield bounds | {"low": low, "high": high}

    def bounded(self, auditor: Any, result: AuditResult, random_state: Any) -> AuditResult:
        """Return a result with the bounds of its estimate, if it has any; its interval has them."""
        if not _can_be_bounded(result):
            return result
        asked = (auditor, result.table, result.params, random_state)
        (bounds,) = self._bounds(*asked, [_CHANGE])
        ends = {"low": bounds.pop("low"), "high": bounds.pop("high")}
        if auditor.interval is not None:
            ends = {"low": min(ends["low"], result.low), "high": max(ends["high"], result.high)}
        more: dict[str, Any] = {**bounds, "assuming": self.assuming}
        more |= {f"{name}_assumed": getattr(result, name) for name in ("low", "high", "p_value")}
        changed = {"statistics": result.statistics | more, "p_value": float("nan")}
        rewritten: AuditResult = auditor.rewritten(result, **ends, **changed)
        return rewritten

    def compared(
        self, auditor: Any, result: ComparisonResult, random_state: Any
    ) -> ComparisonResult:
        """Return a comparison whose intervals include the bounds of differences, if there are."""
        if not _can_be_bounded(result):
            return result
        table = result.table.assign(bound_low=np.nan, bound_high=np.nan, assuming=self.assuming)
        pairs = result.pairs[result.pairs["model"] == result.models[0]]
        predicted = {model: side_of_model("task_pred", model) for model in table["model"]}
        changes = [(predicted[result.reference], predicted[model]) for model in result.models]
        each = list(self._bounds(auditor, pairs, result.params, random_state, changes))
        others = table["model"].isin(result.models)
        for name in ("bound_low", "bound_high"):
            table.loc[others, name] = [bounds[name] for bounds in each]
        table.loc[others, ["p_value", "p_adjusted"]] = np.nan
        if auditor.interval is not None:
            for name, outer in (("low", np.fmin), ("high", np.fmax)):
                ends = [bounds[name] for bounds in each]
                own = table.loc[others, f"difference_{name}"]
                table.loc[others, f"difference_{name}"] = outer(own, ends)
        # What is known in part decides of each model by itself, too: an audit says so.
        table[["low", "high"]], table["verdict"] = np.nan, ""
        return replace(result, table=table)


def _can_be_bounded(result: AuditResult | ComparisonResult) -> bool:
    """Return whether the estimate is a mean change of rates of each group."""
    in_rows = result.params.get("base") == "test" and result.params.get("sign") is None
    return result.kind.is_signed and result.direction == "A->T" and in_rows


def _check_single(given: dict[str, Any], how: dict[str, Any]) -> dict[str, Any]:
    """Return how labels are read, or raise if there can be no bounds."""
    unusable = given["sample_weight"] is not None or how["missing"] == "drop"
    if unusable or _predictions(given) is None:
        text = "Bounds need predictions of single rows: pass {y_pred}, no {weight}, keep all rows."
        raise InputError(text, weight="sample_weight")
    return {name: how[name] for name in ("pos_label", "threshold")}


def _predictions(given: dict[str, Any]) -> Any:
    """Return the predictions of one model, or those of several by their names."""
    return given["y_preds"] if "y_preds" in given else given["y_pred"]


def selected_labels(
    y_true: Any, given: dict[str, Any], decision: Any, how: dict[str, Any]
) -> tuple[Any, dict[str, Any], PartlyKnown]:
    """Return the rows whose labels the decision let see, and what is known of all rows."""
    reading = _check_single(given, how)
    if decision is None:
        text = "{labels='selected'} needs {decision}: the decision that makes labels visible."
        raise InputError(text)
    labels, decided = (
        _column(column, name) for column, name in ((y_true, "y_true"), (decision, "decision"))
    )
    check_lengths({"y_true": labels, "decision": decided})
    has = labels.notna()
    labelled = has.groupby(decided.to_numpy(), dropna=False).agg(["all", "any"])
    mixed = labelled.index[labelled["any"] & ~labelled["all"]].tolist()
    if mixed or has.all() or not has.any():
        text = (
            "{labels='selected'} needs decisions after which all labels are there, and others "
            "after which none is; {n:,} of {all:,} rows have labels{mixed}."
        )
        named = f", and some of those with decision {mixed[0]!r}" if mixed else ""
        raise InputError(text, n=int(has.sum()), all=len(has), mixed=named)
    filled = labels.where(has, labels[has].iloc[0]).infer_objects()
    known, of_groups = has.to_numpy(), {name: how[name] for name in ("groups", "missing")}
    sensitive = {"sensitive_features": given["sensitive_features"]}
    rows = read_labels(filled, **sensitive, apart=True, **of_groups, **reading)
    group, names = codes_of(rows.sides["group"]), rows.sides["group"].names
    missing = np.bincount(group, ~known) / np.bincount(group)
    if (missing == 1).any():
        text = "{y_true} has no label of the group {named!r}: nothing is known of it."
        raise InputError(text, named=names[int(missing.argmax())])
    present, stratum = np.unique(2 * group + known, return_inverse=True)
    without = listed([name_of(value) for value in labelled.index[~labelled["any"]]], 5)
    columns = [column for column in rows.sides["group"].columns if isinstance(column, str)]
    shares = [
        f"{rate(share)} of the group {group_of(name, columns)}"
        for name, share in zip(names, missing, strict=True)
    ]
    finding = Finding(
        "labels that the decision made",
        f"{(~known).sum():,} of {len(known):,} rows have no label, because of the decision "
        f"({without}): {listed(shares, 6)}. Estimates are of the other rows; the interval of the "
        "verdict allows for every label that these rows may have.",
        "verdict",
        "Label a random part of the rows without a label.",
    )
    partly = PartlyKnown(
        _strata(filled, given, stratum, reading),
        names,
        np.eye(len(names))[present // 2],
        present % 2 == 1,
        "in the rows with labels",
        [finding],
    )
    first = {name: _only(values, known) for name, values in given.items()}
    return labels[has].infer_objects(), first, partly


def probable_groups(
    y_true: Any, given: dict[str, Any], check: Any, how: dict[str, Any]
) -> PartlyKnown | None:
    """Return what is known of rows whose groups have probabilities; None if groups are known."""
    reading = _check_single(given, how)
    read = read_probabilities(given["sensitive_features"])
    if read is None:
        return None
    names, share = read
    likely, size = share.argmax(axis=1), share.max(axis=1)
    stratum = 11 * likely + np.floor(10 * size).astype(int)
    few = np.bincount(stratum)[stratum] < _FEW
    _, stratum = np.unique(np.where(few, 11 * likely, stratum), return_inverse=True)
    n = np.bincount(stratum)
    finding = Finding(
        "uncertain groups",
        "Groups are known with a probability. The estimate assumes that the probabilities are "
        "calibrated, and that their errors are unrelated to labels and predictions. The interval "
        "of the verdict assumes only that they are calibrated.",
        "verdict",
        "" if check is not None else "Find out the group of some rows, and pass it as check=.",
    )
    return PartlyKnown(
        _strata(y_true, given, stratum, reading),
        tuple(names),
        np.stack([np.bincount(stratum, column) / n for column in share.T], axis=1),
        np.ones(len(n), bool),
        "if the errors of the probabilities are unrelated to labels and predictions",
        [finding, *_checked(check, names, share, stratum, (y_true, _predictions(given)))],
    )


def _strata(
    y_true: Any, given: dict[str, Any], stratum: Array, reading: dict[str, Any]
) -> Contingency:
    how: dict[str, Any] = {"clusters": given["clusters"], "max_groups": 10**6} | reading
    predicted = _predictions(given)
    how["y_preds" if isinstance(predicted, Mapping) else "y_pred"] = predicted
    return Contingency.from_labels(y_true, sensitive_features=stratum, **how)


def _checked(
    check: Any, names: list[Any], share: Array, stratum: Array, labels: tuple[Any, Any]
) -> Iterator[Finding]:
    """Yield what rows with known groups say of the probabilities."""
    if check is None:
        return
    known = _column(check, "check")
    check_lengths({"y_pred": stratum, "check": known})
    has = known.notna().to_numpy()
    strange = sorted(set(known[has]) - set(names), key=str)
    if strange or not has.any():
        text = "{check} must hold the group of some rows, one of {groups}; got {seen}."
        raise InputError(text, groups=listed([repr(name) for name in names]), seen=strange[:3])
    group = known[has].map({name: i for i, name in enumerate(names)}).to_numpy(int)
    error, spread = np.eye(len(names))[group] - share[has], (share * (1 - share))[has]
    for about, what, by, action in (
        ("calibrated", "differ from the shares of groups", stratum, "Calibrate them on such rows."),
        ("unrelated", "have errors that are related to labels and predictions", _codes(*labels),
         "Read the interval of the verdict, and not the estimate."),
    ):  # fmt: skip
        each = [
            np.stack([np.bincount(by[has], column) for column in part.T[:-1]])
            for part in (error, spread)
        ]
        enough = each[1] >= _EVENTS
        p_values = 2 * stats.norm.sf(np.abs(each[0][enough]) / np.sqrt(each[1][enough]))
        p = float(adjust_p_values(p_values).min(initial=1.0))
        wrong = p < _ALPHA / 2
        yield Finding(
            f"uncertain groups: {about}",
            f"In {has.sum():,} rows with known groups, the probabilities "
            f"{'' if wrong else 'do not clearly '}{what} ({p_equals(p)}).",
            "verdict" if wrong else "note",
            action * wrong,
        )


def _column(values: Any, name: str) -> pd.Series:
    return pd.Series(one_column(values, name)).reset_index(drop=True)


def _codes(*columns: Any) -> Array:
    """Return what labels and predictions a row has, as a number."""
    natives = (to_native(column, "y_pred") for column in columns if column is not None)
    table = pd.concat([pd.DataFrame(native).reset_index(drop=True) for native in natives], axis=1)
    table.columns = pd.RangeIndex(table.shape[1])
    return table.groupby(list(table)).ngroup().to_numpy()


def _only(values: Any, keep: Array) -> Any:
    if values is None:
        return None
    if isinstance(values, Mapping):  # predictions of several models
        return {model: _only(own, keep) for model, own in values.items()}
    native = to_native(values, "y_pred")
    return native.iloc[np.flatnonzero(keep)] if hasattr(native, "iloc") else native[keep]
