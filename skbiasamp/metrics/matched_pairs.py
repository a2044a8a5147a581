"""Matched pairs: rows that differ only in their group, compared within each pair."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from numbers import Integral, Real
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from skbiasamp._input.checks import MISSING_POLICIES, Array
from skbiasamp._input.containers import columns_of, is_table, to_native
from skbiasamp._input.errors import (
    InputError,
    InputTypeError,
    fewer_groups,
    meant,
    of_the_model,
    quote,
    speaking,
)
from skbiasamp._input.keywords import chosen, keywords
from skbiasamp._input.labels import codes_of
from skbiasamp._input.options import Option, WithOptions
from skbiasamp._input.rows import read_clusters
from skbiasamp._utils.compat import Interval, StrOptions
from skbiasamp._utils.formatting import name_of
from skbiasamp._utils.random import chunks, generator
from skbiasamp._utils.warnings import UncertaintyWarning, collected, warn
from skbiasamp.counts.frames import read_labels
from skbiasamp.counts.several_models import check_model, check_models
from skbiasamp.inference.hypothesis_tests import adjust_p_values, bounds_and_tests
from skbiasamp.inference.intervals import agreeing
from skbiasamp.inference.student import skewed_reach
from skbiasamp.inference.two_way import TwoWay
from skbiasamp.metrics.inputs import row_by_row
from skbiasamp.results import GroupDifferences

_LABELS = ("sensitive_features", "pairs", "sample_weight", "clusters")
_COLUMNS = ("prediction", "sensitive", "pair", "weight", "cluster")  # that a frame is read by
_TITLE = "Matched pairs"
_NOT_CAUSAL = (
    "This is no counterfactual fairness: names, voices and photos show class, age and region "
    "along with the group."
)
_NUMBERS = ["n_pairs", "n_unmatched", "higher", "lower", "mean", "mean_other", "difference",
            "standard_error", "low", "high", "p_value", "p_adjusted", "ratio", "ratio_low",
            "ratio_high"]  # fmt: skip


class MatchedPairsAuditor(WithOptions):
    r"""Audit matched pairs: rows that differ in nothing but their group.

    Use it for prompts in which only the name was swapped, for paired testers, and for any labels
    that were balanced by design, where metrics of amplification have nothing to measure. No true
    labels are needed.

    .. versionadded:: 0.2

    Parameters
    ----------
    pos_label : label, default=None
        The positive class, if predictions are classes. None: numbers (0 and 1, or scores) are
        averaged as they are; of two other classes, the one that sorts last is positive.
    confidence_level : float, default=0.95
        Level of the confidence intervals.
    n_resamples : int, default=999
        Number of random sign swaps, if the test is no exact one.
    adjust : {"holm", "fdr", None}, default="holm"
        How the p-values of the table are adjusted for its number of rows. "holm": Holm. "fdr":
        Benjamini and Hochberg. None: not at all.
    missing : {"error", "drop", "group"}, default="error"
        How rows with a missing sensitive feature are handled. "error": raise. "drop": leave them
        out. "group": make them a group of their own.
    random_state : int, RandomState, Generator or None, default=None
        Seed or generator of the sign swaps.

    See Also
    --------
    skbiasamp.metrics.matched_difference : The difference of two groups as a function.
    skbiasamp.selection_rates : Rates of groups that are not matched.

    Notes
    -----
    The value is the mean over pairs of the mean prediction of one group minus that of the other,
    the first group that sorts minus the next. A pair may have several rows of each group.

    If predictions are 0 or 1 and pairs have one row of each group, the test is McNemar's exact one:
    only pairs whose two predictions differ count. Otherwise the groups of whole pairs are swapped
    at random, which changes the sign of their difference. Intervals are Agresti and Min's, which
    add two pairs, if predictions are 0 or 1, and otherwise those of Student's t or, if it reaches
    further, of t corrected for skewness (Hall). They are too short for fewer than 20 very skewed
    differences.

    Rows with the same name share what this name evokes, in whatever pair they are. Pass names as
    `clusters`: the standard error is then that of pairs and names (two-way), and test and interval
    are those of Student's t with as many degrees of freedom as there are names, or pairs, less one.
    They reach further if names are few or some are much more frequent than others (jackknife).

    This is no counterfactual fairness. A name tells class, age and region along with the group,
    so a difference within pairs is one between names (or voices, or photos) and not the effect of
    the group alone.

    References
    ----------
    .. [1] Bertrand, Mullainathan. Are Emily and Greg more employable than Lakisha and Jamal?
       American Economic Review 94(4), 2004.
    .. [2] Agresti, Min. Simple improved confidence intervals for comparing matched proportions.
       Statistics in Medicine 24(5), 2005.
    .. [3] Cameron, Gelbach, Miller. Robust inference with multiway clustering. Journal of
       Business and Economic Statistics 29(2), 2011.
    .. [4] Hall. On the removal of skewness by transformation. Journal of the Royal Statistical
       Society B 54(1), 1992.

    Examples
    --------
    In 14 of 400 pairs, only the man is invited.

    >>> from skbiasamp.metrics import MatchedPairsAuditor
    >>> invited = [0, 1] * 14 + [1, 1] * 186 + [0, 0] * 200
    >>> sex = ["f", "m"] * 400
    >>> pair = [i // 2 for i in range(800)]
    >>> result = MatchedPairsAuditor().audit(invited, sensitive_features=sex, pairs=pair)
    >>> result.table[["n_pairs", "mean", "mean_other", "difference", "low", "high"]].round(3)
       n_pairs   mean  mean_other  difference    low   high
    0    400.0  0.465         0.5      -0.035 -0.053 -0.016

    The same as a function:

    >>> from skbiasamp.metrics import matched_difference
    >>> matched_difference(invited, sensitive_features=sex, pairs=pair)
    -0.035
    """

    metric = "matched pairs"
    pos_label: Any = Option(None)
    confidence_level: float = Option(0.95, Interval(Real, 0, 1, closed="neither"))
    n_resamples: int = Option(999, Interval(Integral, 2, None, closed="left"))
    adjust: str | None = Option("holm", StrOptions({"holm", "fdr"}), None)
    missing: str = Option("error", StrOptions(set(MISSING_POLICIES)))
    random_state: Any = Option(None, "random_state", np.random.Generator)

    def audit(
        self,
        y_pred: Any,
        *,
        sensitive_features: Any = None,
        pairs: Any = None,
        sample_weight: Any = None,
        clusters: Any = None,
        **columns: Any,
    ) -> GroupDifferences:
        """Compare the groups within pairs, with intervals and tests.

        Parameters
        ----------
        y_pred : array-like of shape (n_samples,) or (n_samples, n_tasks), or frame
            Decisions (0 and 1, or classes) or scores. Or a data frame or file with all columns.
        sensitive_features : array-like of shape (n_samples,) or (n_samples, n_features)
            The sensitive feature, or several, whose combinations make groups.
        pairs : array-like of shape (n_samples,)
            One id per row: rows of one pair (or block of more rows) share it.
        sample_weight : array-like of shape (n_samples,), default=None
            Whole weights, the same for all rows of a pair, which counts as so many pairs.
        clusters : array-like of shape (n_samples,) or (n_samples, 2), default=None
            A second id per row, such as the name: rows that share it depend on each other. A table
            of two columns may have the ids of `pairs` beside it.
        **columns : column name
            If `y_pred` is a frame: `prediction`, `sensitive`, `pair`, `weight` and `cluster`
            name its columns. ``cluster=["pair", "name"]`` says the same as ``cluster="name"``.

        Returns
        -------
        result : GroupDifferences
        """
        self._validate_params()
        given = chosen(locals(), "y_pred", *_LABELS)
        for name in columns:
            if name not in _COLUMNS:
                text = "got an unexpected keyword argument {seen!r}{meant}"
                raise InputTypeError(text, seen=name, meant=meant(name, _COLUMNS))
        if columns := {name: column for name, column in columns.items() if column is not None}:
            if isinstance(named := columns.get("cluster"), list | tuple):
                beside = [name for name in named if name != columns.get("pair")]
                columns["cluster"] = beside[0] if len(beside) == 1 else named
            _, given, _ = row_by_row(y_pred, given | {"y_pred": None}, columns)
        rows = PairedRows.read(given, self.pos_label, missing=self.missing)
        values, rng = rows.values[0], generator(self.random_state)
        return self._result(list(self._compared(rows, values, _is_binary(values), rng)), rows)

    def compare(
        self,
        y_preds: Any,
        *,
        sensitive_features: Any,
        pairs: Any,
        reference: str | None = None,
        sample_weight: Any = None,
        clusters: Any = None,
    ) -> GroupDifferences:
        """Compare models on the same pairs: which treats the groups more differently.

        Parameters
        ----------
        y_preds : dict of str to array-like
            The decisions or scores of each model, by its name.
        sensitive_features, pairs, sample_weight, clusters : array-like
            As in `audit`.
        reference : str, default=None
            Name of the model that the others are compared with. None: the first.

        Returns
        -------
        result : GroupDifferences
            One row for each other ``model``, two groups and task: ``mean`` is the difference within
            pairs by this model, and ``mean_other`` that by the reference. Intervals are those of
            Student's t, and the test swaps signs within pairs, or clusters.
        """
        self._validate_params()
        check_models({"y_preds": y_preds, "sensitive_preds": None})
        named = next(iter(y_preds)) if reference is None else reference
        first = check_model(named, tuple(y_preds), "reference")
        given = chosen(locals(), *_LABELS) | {"y_pred": y_preds[first]}
        rng, table_rows = generator(self.random_state), []
        for name in (name for name in y_preds if name != first):
            with collected(), of_the_model(name):  # all models have the same pairs
                rows = PairedRows.read(given, self.pos_label, y_preds[name], self.missing)
            before, own = rows.values
            binary = [_is_binary(values) for values in rows.values]
            # Within pairs, a difference changes by the difference of the rows' changes.
            parts = (own - before, 2 * all(binary)), (own, binary[1]), (before, binary[0])
            every = (self._compared(rows, values, limit, rng) for values, limit in parts)
            for changed, new, old in zip(*every, strict=True):
                means = {"mean": new["difference"], "mean_other": old["difference"]}
                row = {"model": name, **changed, **means}
                table_rows.append({key: row[key] for key in row if not key.startswith("ratio")})
        return self._result(table_rows, rows, f"{_TITLE}: models compared with {name_of(first)}")

    def _result(
        self, table_rows: list[dict[str, Any]], rows: PairedRows, title: str = _TITLE
    ) -> GroupDifferences:
        table = pd.DataFrame(table_rows)
        table["p_adjusted"] = adjust_p_values(table["p_value"], self.adjust)
        known = (table, self.confidence_level, rows.columns, all(map(_is_binary, rows.values)))
        return GroupDifferences(*known, title=title, notes=(_NOT_CAUSAL,))

    def _compared(
        self, rows: PairedRows, values: Array, limit: int, rng: np.random.Generator
    ) -> Iterator[dict[str, Any]]:
        """Yield the rows of the table; `limit` is that of a difference, 0 if there is none."""
        for (i, group), (j, other) in combinations(enumerate(rows.names), 2):
            for task, x in zip(rows.tasks, values.T, strict=True):
                sides = np.stack([rows.group == i, rows.group == j])
                names = {"group": group, "other": other, "task": task}
                yield names | self._two_groups(rows, sides, x, limit, rng)

    def _two_groups(
        self, rows: PairedRows, sides: Array, x: Array, limit: int, rng: np.random.Generator
    ) -> dict[str, Any]:
        """Return the numbers of two groups, whose rows are the two `sides`."""
        n, sums = (
            np.stack([np.bincount(rows.pair, side * by, len(rows.weight)) for side in sides])
            for by in (1.0, x)
        )
        both: Array = np.all(n > 0, axis=0)
        w, total = rows.weight[both], rows.weight[both].sum()
        row: dict[str, Any] = dict.fromkeys(_NUMBERS, np.nan) | {"test": ""}
        row["n_pairs"], row["n_unmatched"] = total, rows.weight[np.sum(n > 0, axis=0) == 1].sum()
        if not total:
            return row
        n, sums = n[:, both], sums[:, both]
        means, size, level = sums / n, n @ w, self.confidence_level
        d = means[0] - means[1]
        d[np.abs(d) <= 1e-12] = 0.0  # of sums of floats
        value, gained, lost = w @ d / total, w[d > 0].sum(), w[d < 0].sum()
        mean, other = overall = sums @ w / size
        # Each row's influence on the difference, and on the logarithm of the ratio.
        chosen = sides.any(axis=0) & both[rows.pair]
        at, side, x = (np.cumsum(both) - 1)[rows.pair[chosen]], 1 * sides[1, chosen], x[chosen]
        influence = (1 - 2 * side) * (x - (means @ w / total)[side]) / n[side, at] / total
        units = rows.of_rows(chosen)
        variance, df = units.variance(influence)
        se, reach = np.sqrt(variance), stats.t.isf((1 - level) / 2, df) if df else np.nan
        stretch = 1.0
        if se > 1e-12 and df:
            further = units.jackknife_reach(influence, 1 / (n[side, at] * total), side, level)
            stretch = max(further / (reach * se), 1.0)
            reach *= stretch
        row |= {"higher": gained, "lower": lost, "mean": mean, "mean_other": other}
        row |= {"difference": value, "standard_error": se}
        low, high = value - reach * se, value + reach * se
        if rows.clusters is not None:
            with np.errstate(divide="ignore", invalid="ignore"):
                p_value = 2 * stats.t.sf(np.abs(value) / (stretch * se), df) if value else 1.0
            if se <= 1e-12 and df:  # all pairs differ alike: signs of clusters may be swapped
                p_value = 0.5**df if value else 1.0
                if limit:
                    squares = (df + 1) * (w @ d**2) / total
                    low, high = _agresti_and_min(value, squares, df + 1, level, limit)
            test = "t of pairs and clusters"
        else:
            if limit:
                low, high = _agresti_and_min(value, w @ d**2, total, level, limit)
            if limit == 1 and (n == 1).all():
                test, slope = "McNemar", np.array(1.0)
                known = np.array(value), np.array([low, high]), slope, (gained, lost, total), level
                (low, high), exact = bounds_and_tests(*known)
                p_value = float(exact)
            else:
                test = "sign swaps"
                if se > 1e-12 and not limit:
                    below, above = skewed_reach(d - value, w, reach)
                    low, high = value - below * se, value + above * se
                p_value = float(agreeing(_swapped(d, w, self.n_resamples, rng), (low, high), level))
        row |= {"low": low, "high": high, "p_value": p_value, "test": test}
        if other > 0 and x.min() >= 0:
            row["ratio"] = mean / other
            if mean > 0:
                influence = (1 - 2 * side) * (x - overall[side]) / (size * overall)[side]
                times = np.exp(reach * np.sqrt(units.variance(influence)[0]))
                row |= {"ratio_low": row["ratio"] / times, "ratio_high": row["ratio"] * times}
        return row


@dataclass(frozen=True, eq=False)
class PairedRows:
    """Rows as numbers: groups, pairs with their weights, clusters, and values (rows × tasks).

    There are values of one model or, if models are compared, of the reference and of another.
    """

    values: list[Array]
    tasks: tuple[Any, ...]
    group: Array
    names: tuple[Any, ...]
    columns: tuple[Any, ...]
    pair: Array
    weight: Array
    clusters: Array | None

    @classmethod
    def read(
        cls, given: dict[str, Any], pos_label: Any, other: Any = None, missing: str = "error"
    ) -> PairedRows:
        """Read arrays, and check that they are pairs."""
        for name in ("y_pred", "pairs"):
            if given[name] is None:
                raise InputError("{name} is None: pass it for every row.", name=name)
        predictions = [given["y_pred"], *([] if other is None else [other])]
        tables = (pd.DataFrame(to_native(y_pred, "y_pred")) for y_pred in predictions)
        numbers = pos_label is None and all(
            pd.api.types.is_numeric_dtype(kind) for table in tables for kind in table.dtypes
        )
        labels = {name: given[name] for name in ("sensitive_features", "sample_weight")}
        how: dict[str, Any] = {"numbers": numbers, "pos_label": pos_label, "apart": True}
        how |= {"clusters": given["pairs"], "max_groups": None, "missing": missing}
        with speaking(y_true="y_pred", clusters="pairs", max_groups=fewer_groups):
            rows = read_labels(given["y_pred"], other, **labels, **how)
        assert rows.clusters is not None
        task, group_side = rows.sides["task"], rows.sides["group"]
        sides = [rows.sides[name] for name in ("task", "task_pred") if name in rows.sides]
        values = [side.labels.dense(slice(None), float) for side in sides]
        tasks = task.names
        if task.one_label and len(tasks) == 2:
            at = tasks.index(pos_label) if pos_label is not None else 1
            values, tasks = [own[:, [at]] for own in values], (tasks[at],)
        for distinct in map(np.unique, values):
            is_coded = (distinct == np.rint(distinct)).all() and {*distinct} != {0, 1}
            if len(distinct) == 2 and is_coded:
                text = "{y_pred} holds {low:g} and {high:g}: pass {pos_label}, or 0 and 1."
                raise InputError(text, low=distinct[0], high=distinct[1])
        _, first, pair = np.unique(rows.clusters[0], return_index=True, return_inverse=True)
        weight = np.zeros(len(first))
        weight[pair] = rows.weight
        if (weight[pair] != rows.weight).any() or (weight != np.rint(weight)).any():
            text = "{sample_weight} must be whole, and the same for all rows of a pair."
            raise InputError(text)
        group, names = codes_of(group_side), group_side.names
        ids = np.asarray(to_native(given["pairs"], "pairs"))
        if (clusters := given["clusters"]) is not None:
            clusters = read_clusters(_beside(given["pairs"], clusters), len(ids))[0][rows.kept]
        columns = () if group_side.columns == (0,) else group_side.columns
        _check_pairs(pair, group, ids[rows.kept][first])
        return cls(values, tasks, group, names, columns, pair, weight, clusters)

    def of_rows(self, chosen: Array) -> TwoWay:
        """Return the pairs and clusters of some rows."""
        clusters = None if self.clusters is None else self.clusters[chosen]
        return TwoWay(self.pair[chosen], self.weight, clusters)


def _beside(pairs: Any, clusters: Any) -> Any:
    """Return ids of clusters, without those of the pairs if a table has both."""
    table = to_native(clusters, "clusters")
    if not is_table(table) or len(columns := columns_of(table)) != 2:
        return clusters
    known = np.asarray(to_native(pairs, "pairs")).astype(str)
    others = [ids for _, ids in columns if (np.asarray(ids).astype(str) != known).any()]
    if len(others) != 1:
        raise InputError("{clusters} of two columns must be the ids of {pairs} and one more.")
    return others[0]


def _is_binary(values: Array) -> bool:
    return bool(np.isin(values, (0, 1)).all())


def _check_pairs(pair: Array, group: Array, ids: Array) -> None:
    """Raise if no pair has two groups, and warn of those that have one, by their `ids`."""
    present = np.zeros((len(ids), group.max() + 1), bool)
    present[pair, group] = True
    alone = present.sum(axis=1) < 2
    if not alone.any():
        return
    named = quote(ids[alone].tolist(), 3)
    if alone.all():
        text = "{pairs} must give rows of two groups one id; each of {named} has one group."
        raise InputError(text, named=named)
    warn(
        f"{alone.sum():,} of {len(alone):,} pairs have rows of one group only and are left "
        f"out: {named}.",
        UncertaintyWarning,
    )


def _agresti_and_min(
    value: float, squares: float, total: float, level: float, limit: int
) -> tuple[float, float]:
    """Return the interval of a difference within pairs to which two pairs are added."""
    centre = value * total / (total + 2)
    reach = stats.norm.isf((1 - level) / 2) / (total + 2)
    reach *= np.sqrt(squares + 1 - total * value * centre)
    low, high = max(centre - reach, -limit), min(centre + reach, limit)
    return min(low, value), max(high, value)


def _swapped(d: Array, w: Array, n_resamples: int, rng: np.random.Generator) -> float:
    """Return the p-value of random signs of differences; equal ones are drawn together."""
    sizes, at = np.unique(np.abs(d), return_inverse=True)
    n = np.bincount(at, w).astype(np.int64)
    least, more = abs(w @ d) * (1 - 1e-12), 0
    for size in chunks(n_resamples, len(n)):
        drawn = (2 * rng.binomial(n, 0.5, (size, len(n))) - n) @ sizes
        more += int((np.abs(drawn) >= least).sum())
    return (1 + more) / (1 + n_resamples)


@keywords()
def matched_difference(
    y_pred: Any, *, sensitive_features: Any, pairs: Any, pos_label: Any = None
) -> float:
    """Compute the mean difference of two groups within matched pairs.

    This is the value of `MatchedPairsAuditor`, without confidence interval and test.

    .. versionadded:: 0.2

    Parameters
    ----------
    y_pred : array-like of shape (n_samples,)
        Decisions (0 and 1, or classes) or scores.
    sensitive_features : array-like of shape (n_samples,)
        The sensitive feature, with two groups.
    pairs : array-like of shape (n_samples,)
        One id per row: rows of one pair share it.
    pos_label : label, default=None
        The positive class, if predictions are classes.

    Returns
    -------
    value : float
        The first group that sorts minus the next.

    See Also
    --------
    skbiasamp.metrics.MatchedPairsAuditor : The value with table, interval and test.

    Examples
    --------
    >>> from skbiasamp.metrics import matched_difference
    >>> invited, sex = [1, 1, 0, 1], ["f", "m", "f", "m"]
    >>> matched_difference(invited, sensitive_features=sex, pairs=["a", "a", "b", "b"])
    -0.5
    """
    auditor = MatchedPairsAuditor(pos_label=pos_label, n_resamples=2, random_state=0)
    with speaking(missing=lambda rest: f"MatchedPairsAuditor(missing{rest})"):
        return float(auditor.audit(y_pred, sensitive_features=sensitive_features, pairs=pairs))


def within_pairs(given: dict[str, Any], random_state: Any, how: dict[str, Any]) -> GroupDifferences:
    """Return what a report says of the pairs of one model or, with `y_preds`, of several."""
    read = {name: how[name] for name in ("pos_label", "missing")}
    auditor = MatchedPairsAuditor(**read, random_state=random_state)
    return auditor.compare(**given) if "y_preds" in given else auditor.audit(**given)
