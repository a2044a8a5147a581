"""Matched pairs: rows that differ only in their group, compared within each pair."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import special, stats

from skbiasamp._input.checks import MISSING_POLICIES, Array
from skbiasamp._input.containers import to_native
from skbiasamp._input.errors import PARAMETER_OF, InputError, fewer_groups, quote, renaming
from skbiasamp._input.labels import codes_of
from skbiasamp._input.options import Option, WithOptions, keywords
from skbiasamp._input.rows import read_clusters, read_rows
from skbiasamp._utils import formatting as words
from skbiasamp._utils.compat import Interval, StrOptions
from skbiasamp._utils.random import chunks, generator
from skbiasamp._utils.warnings import UncertaintyWarning, warn
from skbiasamp.inference.hypothesis_tests import adjust_p_values, paired_p_values
from skbiasamp.metrics.inputs import read_columns
from skbiasamp.render.document import Document, Text
from skbiasamp.render.facts import express
from skbiasamp.results import AuditResult

_NUMBERS = (
    "n_pairs n_unmatched higher lower mean mean_other difference standard_error low high p_value "
    "p_adjusted ratio ratio_low ratio_high"
)


class _Differences(AuditResult):
    """Differences of two groups within pairs, in place of pairs of group and task."""

    def strongest(self, n: int = 10) -> pd.DataFrame:
        """Return the `n` largest differences."""
        order = self.table["difference"].abs().sort_values(ascending=False, kind="stable")
        return self.table.loc[order.index[:n]]

    @property
    def sentence(self) -> str:
        """What each row of the table says."""
        several = self.table["task"].nunique() > 1
        sentences = []
        for row in self.table.to_dict("records"):
            names = {key: self.group_name(row[key]) for key in ("group", "other")}
            task = words.task_of(row["task"]) if several else ""
            level = self.confidence_level
            sentences.append(express("pairs", "difference", row | names, task, self.percent, level))
        return " ".join(sentences)

    def to_document(self) -> Document:
        """Return value, differences and what they say as plain data, which renderers show."""
        document = super().to_document()
        (section,) = document.sections
        items = [*section.items, Text(self.sentence), Text(express("pairs", "not_causal"))]
        title = f"{document.title.rpartition(' (')[0]} ({self.n_samples:,.15g} rows)"
        return replace(document, title=title, sections=[replace(section, items=items)])


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

    @keywords()
    def audit(
        self,
        y_pred: Any,
        *,
        sensitive_features: Any = None,
        pairs: Any = None,
        sample_weight: Any = None,
        clusters: Any = None,
        prediction: Any = None,
        sensitive: Any = None,
        pair: Any = None,
        weight: Any = None,
        cluster: Any = None,
    ) -> AuditResult:
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
        clusters : array-like of shape (n_samples,), default=None
            A second id per row, such as the name: rows that share it depend on each other.
        prediction, sensitive, pair, weight, cluster : column name, default=None
            If `y_pred` is a frame, its columns.

        Returns
        -------
        result : AuditResult
            Its ``table`` has one row for each two groups and task: ``group`` and ``other``, the
            ``mean`` of each and their ``difference`` (group minus other), with ``standard_error``,
            interval (``low``, ``high``), ``p_value``, ``p_adjusted`` and the ``test``; ``n_pairs``
            that have both groups and ``n_unmatched`` that have one of them; in how many pairs the
            group is ``higher`` and ``lower``; and the ``ratio`` with its interval. If there are
            several rows, the value is the largest difference, and its interval and p-value hold for
            all rows at once (Bonferroni).
        """
        self._validate_params()
        given = {"y_pred": y_pred, "sensitive_features": sensitive_features, "pairs": pairs}
        given |= {"sample_weight": sample_weight, "clusters": clusters}
        named = {"prediction": prediction, "sensitive": sensitive, "pair": pair}
        named |= {"weight": weight, "cluster": cluster}
        if columns := {name: column for name, column in named.items() if column is not None}:
            read = read_columns(y_pred, columns)
            given["y_pred"] = None
            given |= {PARAMETER_OF.get(name, "pairs"): values for name, values in read.items()}
        rows, rng = _Rows.read(given, self.pos_label, self.missing), generator(self.random_state)
        groups = combinations(range(len(rows.names)), 2)
        each = [(i, j, k) for i, j in groups for k in range(len(rows.tasks))]
        level = self.confidence_level
        table = pd.DataFrame([self._compared(rows, *which, level, rng) for which in each])
        table["p_adjusted"] = adjust_p_values(table["p_value"], self.adjust)
        largest = int(table["difference"].abs().argmax())
        own: Any = table.iloc[largest]
        if len(each) > 1:
            own = self._compared(rows, *each[largest], 1 - (1 - level) / len(each), rng)
        verdict = words.ADDS if own["low"] > 0 or own["high"] < 0 else words.NO_EFFECT
        if np.isnan(own["low"]):
            verdict = words.NOT_MEASURED
        return _Differences(
            metric=self.metric,
            direction=None,
            value=float(own["difference"]),
            low=float(own["low"]),
            high=float(own["high"]),
            verdict=verdict,
            confidence_level=level,
            p_value=float(min(len(each) * own["p_value"], 1.0)),
            n_samples=float(rows.weight[rows.pair].sum()),
            table=table,
            params=self.get_params(deep=False),
            question="How large is the mean difference of two groups within matched pairs?",
            percent=rows.are_binary,
            group_columns=rows.columns,
            estimand="The mean difference in the population that the pairs are a sample of.",
            null="The mean difference is 0 in this population.",
        )

    def _compared(
        self, rows: _Rows, i: int, j: int, k: int, level: float, rng: np.random.Generator
    ) -> dict[str, Any]:
        """Return the numbers of groups `i` and `j` and of task `k`."""
        sides, x = np.stack([rows.group == i, rows.group == j]), rows.values[:, k]
        n, sums = (
            np.stack([np.bincount(rows.pair, side * by, len(rows.weight)) for side in sides])
            for by in (1.0, x)
        )
        both: Array = np.all(n > 0, axis=0)
        w, total = rows.weight[both], rows.weight[both].sum()
        row = {"group": rows.names[i], "other": rows.names[j], "task": rows.tasks[k]}
        row |= dict.fromkeys(_NUMBERS.split(), np.nan) | {"test": ""}
        row["n_pairs"], row["n_unmatched"] = total, rows.weight[np.sum(n > 0, axis=0) == 1].sum()
        if not total:
            return row
        n, sums = n[:, both], sums[:, both]
        means, size = sums / n, n @ w
        d = means[0] - means[1]
        d[np.abs(d) <= 1e-12] = 0.0  # of sums of floats
        value, gained, lost = w @ d / total, w[d > 0].sum(), w[d < 0].sum()
        mean, other = overall = sums @ w / size
        # Each row's influence on the difference, and on the logarithm of the ratio.
        chosen = sides.any(axis=0) & both[rows.pair]
        at, side, x = (np.cumsum(both) - 1)[rows.pair[chosen]], 1 * sides[1, chosen], x[chosen]
        influence = (1 - 2 * side) * (x - (means @ w / total)[side]) / n[side, at] / total
        clusters = None if rows.clusters is None else rows.clusters[chosen]
        units = _TwoWay(rows.pair[chosen], rows.weight, clusters)
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
                if rows.are_binary:
                    squares = (df + 1) * (w @ d**2) / total
                    low, high = _agresti_and_min(value, squares, df + 1, level)
            test = "t of pairs and clusters"
        else:
            if rows.are_binary:
                low, high = _agresti_and_min(value, w @ d**2, total, level)
            if rows.are_binary and (n == 1).all():
                test = "McNemar"
                low, high, p_value = _mcnemar(value, low, high, gained, lost, total, level)
            else:
                test = "sign swaps"
                if se > 1e-12 and not rows.are_binary:
                    below, above = _skewed_reach(d - value, w, reach)
                    low, high = value - below * se, value + above * se
                p_value, alpha = _swapped(d, w, self.n_resamples, rng), round(1 - level, 12)
                # Few draws may put the test and the interval on different sides.
                excluded = low > 0 or high < 0
                p_value = min(p_value, np.nextafter(alpha, 0)) if excluded else max(p_value, alpha)
        row |= {"low": low, "high": high, "p_value": p_value, "test": test}
        if other > 0 and x.min() >= 0:
            row["ratio"] = mean / other
            if mean > 0:
                influence = (1 - 2 * side) * (x - overall[side]) / (size * overall)[side]
                times = np.exp(reach * np.sqrt(units.variance(influence)[0]))
                row |= {"ratio_low": row["ratio"] / times, "ratio_high": row["ratio"] * times}
        return row


class _TwoWay(NamedTuple):
    """The pair of each row, how often each pair is there, and the second cluster of each row."""

    pair: Array
    weight: Array
    cluster: Array | None

    def variance(self, influence: Array, by_cluster: Array | None = None) -> tuple[float, int]:
        """Return the variance of a sum of influences of rows, and its degrees of freedom.

        `by_cluster` are those that clusters sum, if these are others.
        """
        pair, cluster = self.pair, self.cluster
        of_pairs, n = _by(pair, influence, self.weight)
        if cluster is None:
            return of_pairs, n - 1
        times = self.weight[pair]
        summed = influence if by_cluster is None else by_cluster
        _, first, cell = np.unique(
            pair * (cluster.max() + 1) + cluster, return_index=True, return_inverse=True
        )
        of_clusters, m = _by(cluster, summed * times, np.ones(cluster.max() + 1))
        of_both, _ = _by(cell, influence, times[first])
        return max(of_pairs, of_pairs + of_clusters - of_both), min(n, m) - 1

    def jackknife_reach(self, influence: Array, share: Array, side: Array, level: float) -> float:
        """Return how far the interval reaches if clusters are few, or some are much of their group.

        Such a cluster draws the mean of its group to itself, so that it seems to vary less than it
        does: the jackknife leaves it out. The degrees of freedom are those of as many clusters of
        one size (Kish). `share` is what each row counts in the mean of its group, or `side`. It is
        0 without clusters.
        """
        if self.cluster is None:
            return 0.0
        own = 2 * self.cluster + side
        shares = np.bincount(own, share * self.weight[self.pair])
        m, n = len(np.unique(self.cluster)), self.weight[np.unique(self.pair)].sum()
        left_out = influence * np.sqrt(1 - 1 / m) / np.maximum(1 - shares[own], 1e-9)
        df = min(max(4 / (shares @ shares) - 2, 1), n - 1)
        variance, _ = self.variance(influence, left_out)
        return float(stats.t.isf((1 - level) / 2, df) * np.sqrt(variance))


def _by(code: Array, influence: Array, times: Array) -> tuple[float, int]:
    """Return the variance of sums by clusters that are there so many times, and their number."""
    sums = np.bincount(code, influence, len(times))
    n = int(times[np.unique(code)].sum())
    return (float(times @ sums**2) * n / (n - 1) if n > 1 else np.nan), n


def _mcnemar(
    value: float, low: float, high: float, gained: float, lost: float, total: float, level: float
) -> tuple[float, float, float]:
    """Return an interval, and the p-value of McNemar's exact test, which agree.

    If they do not, the end at 0 is that of the exact test: Clopper and Pearson's bound of the share
    gained among the pairs that differ.
    """
    p_value, alpha = float(paired_p_values(gained, lost)), round(1 - level, 12)
    significant = p_value < alpha
    if significant != (low > 0 or high < 0):
        differ, tail = (gained + lost) / total, (1 - level) / 2
        if value > 0:
            end = differ * (2 * float(special.betaincinv(gained, lost + 1, tail)) - 1)
            low = end if significant else min(end, 0.0)
        else:
            end = differ * (2 * float(special.betaincinv(gained + 1, lost, 1 - tail)) - 1)
            high = end if significant else max(end, 0.0)
    return low, high, p_value


def _skewed_reach(apart: Array, weight: Array, reach: float) -> Array:
    """Return how many standard errors below and above a mean reaches, if numbers are skewed.

    `apart` are the numbers less their mean. Each is Student's reach or, if that is further, its
    correction for skewness (Hall 1992), which is too short if tails are heavy on both sides.
    """
    n, square, cube = (weight @ apart**power for power in (0, 2, 3))
    part = cube / (square**3 / n) ** 0.5 / (6 * n**0.5)
    ends = np.array([reach, -reach])
    if abs(part) > 1e-9:  # else the limit is Student's
        ends = (np.cbrt(1 + 6 * part * (ends - part)) - 1) / (2 * part)
    return np.maximum(reach, ends * [1, -1])


class _Rows(NamedTuple):
    """Rows as numbers: values (rows × tasks), groups, pairs with their weights, and clusters."""

    values: Array
    tasks: tuple[Any, ...]
    group: Array
    names: tuple[Any, ...]
    columns: tuple[Any, ...]
    pair: Array
    weight: Array
    clusters: Array | None

    @property
    def are_binary(self) -> bool:
        """Whether values are 0 or 1."""
        return bool(np.isin(self.values, (0, 1)).all())

    @classmethod
    def read(cls, given: dict[str, Any], pos_label: Any, missing: str) -> _Rows:
        """Read arrays, and check that they are pairs."""
        for name in ("y_pred", "pairs"):
            if given[name] is None:
                raise InputError("{name} is None: pass it for every row.", name=name)
        table = pd.DataFrame(to_native(given["y_pred"], "y_pred"))
        numbers = pos_label is None and all(map(pd.api.types.is_numeric_dtype, table.dtypes))
        with renaming(y_true="y_pred", clusters="pairs", max_groups=fewer_groups):
            rows = read_rows(
                given["y_pred"],
                sensitive_features=given["sensitive_features"],
                sample_weight=given["sample_weight"],
                clusters=given["pairs"],
                numbers=numbers,
                pos_label=pos_label,
                missing=missing,
                max_groups=None,
                apart=True,
            )
        assert rows.clusters is not None
        task, group_side = rows.sides["task"], rows.sides["group"]
        values, tasks = task.labels.dense(slice(None), float), task.names
        if task.one_label and len(tasks) == 2:
            at = tasks.index(pos_label) if pos_label is not None else 1
            values, tasks = values[:, [at]], (tasks[at],)
        distinct = np.unique(values)
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
            clusters = read_clusters(clusters, len(ids))[0][rows.kept]
        columns = () if group_side.columns == (0,) else group_side.columns
        present = np.zeros((len(first), len(names)), bool)
        present[pair, group] = True
        alone = present.sum(axis=1) < 2
        named = quote(ids[rows.kept][first][alone].tolist(), 3)
        if alone.all():
            text = "{pairs} must give rows of two groups one id; each of {named} has one group."
            raise InputError(text, named=named)
        if alone.any():
            warn(
                f"{alone.sum():,} of {len(alone):,} pairs have rows of one group only and are left "
                f"out: {named}.",
                UncertaintyWarning,
            )
        return cls(values, tasks, group, names, columns, pair, weight, clusters)


def _agresti_and_min(
    value: float, squares: float, total: float, level: float
) -> tuple[float, float]:
    """Return the interval of a difference within pairs to which two pairs are added."""
    centre = value * total / (total + 2)
    reach = stats.norm.isf((1 - level) / 2) / (total + 2)
    reach *= np.sqrt(squares + 1 - total * value * centre)
    low, high = max(centre - reach, -1.0), min(centre + reach, 1.0)
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
    with renaming(missing="MatchedPairsAuditor(missing{})".format):
        result = auditor.audit(y_pred, sensitive_features=sensitive_features, pairs=pairs)
    if len(result.table) > 1:
        text = "There are {n} differences, and a number is one of them: use MatchedPairsAuditor."
        raise InputError(text, n=len(result.table))
    return float(result)
