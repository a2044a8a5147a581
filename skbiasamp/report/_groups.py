"""Tables of a report: of groups, of each sensitive column, and at thresholds of scores."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

from skbiasamp._input.checks import Array, NamedMissing
from skbiasamp._input.coding import as_numbers
from skbiasamp._input.containers import columns_of, to_native
from skbiasamp._input.labels import Codes, narrow
from skbiasamp._utils.random import same_draws
from skbiasamp._utils.warnings import collected
from skbiasamp.counts.cells import Cells, column, labels_of, with_merged_groups
from skbiasamp.counts.contingency import Contingency, SideName
from skbiasamp.counts.frames import names_of
from skbiasamp.counts.parts import of_task, outcome_names, outcomes_of
from skbiasamp.inference.hypothesis_tests import adjust_p_values
from skbiasamp.inference.influence import interval_of, unit_sums
from skbiasamp.inference.pairs import FEW
from skbiasamp.inference.shares import differences_to_lowest, ratios_to_highest, share_interval
from skbiasamp.inference.value import FEWEST_ROWS
from skbiasamp.model_selection import amplification_curve
from skbiasamp.model_selection.thresholds import rows_above
from skbiasamp.report.request import Request, readied
from skbiasamp.report.strata import RowSource
from skbiasamp.report.unknown import Everyone, Rates, agreement, is_unknown
from skbiasamp.results import AuditReport, AuditResult, adjusted_verdict
from skbiasamp.results.kinds import pair_names

# Error rates, and whether they are of rows that have the task.
_ERRORS = {"true_positive_rate": True, "false_positive_rate": False}


class _TaskRows(NamedTuple):
    """The rows of one task: their groups, who is labelled with it, and who is predicted so."""

    sets: RowSets
    true: Array
    predicted: Array


def _are_known(categories: Sequence[Any], wanted: list[bool | None]) -> Array:
    """Return of which categories and outcomes it is known who they are and whether they are wanted.

    Not of rows whose sensitive feature is missing.
    """
    missing = [*map(is_unknown, categories)]
    return ~np.array(missing)[:, None] & [outcome is not None for outcome in wanted]


def _favoured(tasks: list[_TaskRows], wanted: list[bool | None]) -> list[_TaskRows]:
    """Return the rows with the outcome that people want in place of each task."""
    return [
        rows._replace(true=~rows.true, predicted=~rows.predicted) if outcome is False else rows
        for rows, outcome in zip(tasks, wanted, strict=True)
    ]


def _is_summed(test: Contingency, side: SideName) -> bool:
    """Whether probabilities were summed: it is not known which are above one half."""
    return test.summed == "tasks" and test.soft(side)


def _rows_by_task(test: Contingency, side: SideName) -> list[_TaskRows]:
    """Return the rows of each task; a probability on `side` counts as the task from 0.5."""
    tasks: list[_TaskRows] = []
    for j in range(len(test.tasks)):
        cells, position = (of_task(test, j), 0) if test.summed else (test, j)
        same = tasks and tasks[-1].sets.cells is cells  # sums of tasks have cells of each task
        sets = tasks[-1].sets if same else RowSets.of_groups(cells)
        true: SideName = "task" if cells.has("task") else side  # of rows without labels, nothing
        labels = (column(cells, name, position) >= 0.5 for name in (true, side))
        tasks.append(_TaskRows(sets, *labels))
    return tasks


def _together(tasks: Sequence[Shares]) -> Shares:
    """Return the shares of all tasks: sets × tasks, and correlations if those of any are known."""
    n, selected, rows = np.stack([task[:3] for task in tasks], axis=-1)
    if all(task.correlation is None for task in tasks):
        return Shares(n, selected, rows)
    none = np.zeros((len(n), len(n)))
    each = [none if task.correlation is None else task.correlation for task in tasks]
    return Shares(n, selected, rows, np.stack(each, axis=-1))


def _selected_shares(tasks: list[_TaskRows]) -> Shares:
    """Return how many rows are predicted as each task."""
    return _together([sets.shares(predicted, correlated=True) for sets, _, predicted in tasks])


def describe_groups(
    test: Contingency,
    *,
    labels: bool,
    favourable: Any,
    every: Everyone | None = None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return one row a group, and one row a pair of group and task; of texts only the first.

    `every` are all rows, if those without a group give bounds of rates.
    """
    if not labels:
        names = pd.Series(list(test.groups), dtype=object)
        by_group = pd.DataFrame({"group": names, "n": test.count("group")})
        return by_group.assign(share=by_group["n"] / test.total), pd.DataFrame()
    rated = test.has("task_pred") and not _is_summed(test, "task_pred")
    tasks = _rows_by_task(test, "task_pred" if rated else "task")
    base = _together([sets.shares(true) for sets, true, _ in tasks])
    n = base.n[:, 0]
    # Frames are made at once: adding column after column takes several times as long.
    groups: dict[str, Any] = {"group": list(test.groups), "n": n, "share": n / test.total}
    rates: dict[str, Array] = {"base_rate": base.share} if test.has("task") else {}
    if rated:
        selected, wanted = _selected_shares(tasks), outcomes_of(test, favourable)
        rates |= _share_columns("predicted_rate", selected)
        if test.has("task"):
            right = _together([sets.shares(true == pred) for sets, true, pred in tasks])
            rates |= _share_columns("accuracy", right) | _error_columns(tasks)
            groups |= _accuracies(test, right)
        outcomes = _selected_shares(_favoured(tasks, wanted)) if False in wanted else selected
        many = n * test.units_per_weight >= FEWEST_ROWS - 1e-9
        # The rate of a few rows is no measure for the others, if two groups have more.
        counted = _are_known(test.groups, wanted) & (many | (many.sum() < 2))[:, None]
        rates |= _impact_ratios(outcomes, "groups", counted)
        rates |= {} if every is None else every.rate_columns(wanted)
    pairs = zip(*product(test.groups, test.tasks), strict=True)
    names_of_pairs = dict(zip(("group", "task"), map(list, pairs), strict=True))
    numbers = {name: values.ravel() for name, values in rates.items()}
    return pd.DataFrame(groups), pd.DataFrame(names_of_pairs | numbers)


def selection_table(
    test: Contingency, *, min_share: float = 0.0, favourable: Any, bounds: bool = False
) -> pd.DataFrame:
    """Return one row for each category of each sensitive column, and of all columns together.

    What is selected are the predictions, or the labels of rows that have nothing else. `bounds`:
    what rates could be if rows without a category belonged to any.
    """
    side: SideName = "task_pred" if test.has("task_pred") else "task"
    if _is_summed(test, side):
        return pd.DataFrame()
    wanted = outcomes_of(test, favourable)
    outcomes, names = _favoured(_rows_by_task(test, side), wanted), outcome_names(test, wanted)
    parts = []
    for by, categories, into in _columns_of_groups(test):
        tasks: list[_TaskRows] = []
        for j, rows in enumerate(outcomes):
            same = j and rows.sets is outcomes[j - 1].sets  # sums of tasks have cells of each task
            tasks.append(rows._replace(sets=tasks[-1].sets if same else rows.sets.merged(into)))
        shares = _selected_shares(tasks)
        share = shares.n / test.total
        counted = (share >= min_share) & _are_known(categories, wanted) & (shares.n > 0)
        numbers = {"n": shares.n, "share": share, "selected": shares.selected}
        numbers |= _share_columns("selection_rate", shares) | {"counted": counted}
        numbers |= _difference_columns("selection_rate", shares, counted)
        numbers |= _impact_ratios(shares, "categories", counted)
        numbers |= _bounds(categories, shares, counted) if bounds else {}
        if test.has("task") and test.has("task_pred"):
            numbers |= _error_columns(tasks, counted)
        of_pairs = pair_names(tuple(categories), names)
        table = pd.DataFrame({"by": by, "category": of_pairs["group"], "task": of_pairs["task"]})
        parts.append(table.assign(**{name: values.ravel() for name, values in numbers.items()}))
    return pd.concat(parts, ignore_index=True)


def audit_columns(chosen: list[Any], test: Contingency, random_state: Any) -> pd.DataFrame:
    """Return one row for each of several sensitive columns: value, interval and verdict.

    It is of the first auditor that was chosen, if its value is signed.
    """
    if not chosen or test.summed == "tasks" or not chosen[0][0].kind.is_signed:
        return pd.DataFrame()
    auditor, train, *_ = chosen[0]
    learned = {} if train is None else _by_column(train)
    results = {}
    for name, audited in _by_column(test).items():
        with collected():
            results[name] = readied(auditor, learned.get(name), random_state).audit(audited)
    return table_by_column(results)


def _by_column(cells: Contingency) -> dict[str, Contingency]:
    """Return the cells by each column, without the combination of all of them."""
    *columns, _ = _columns_of_groups(cells)
    return {
        name: with_merged_groups(cells, into, tuple(categories), (name,))
        for name, categories, into in columns
        if len(categories) > 1
    }


def _columns_of_groups(test: Contingency) -> Iterator[tuple[str, list[Any], Array]]:
    """Yield each sensitive column, its categories and that of each group; then all together."""
    groups, columns = test.groups, list(test.group_columns)
    single = np.arange(len(groups))
    first = groups[0]
    combined = isinstance(first, tuple) and all(
        isinstance(group, tuple) and len(group) == len(first) for group in groups
    )
    if combined:
        n = len(first)  # type: ignore[arg-type]
        names = columns if len(columns) == n else [f"column {k}" for k in range(n)]
        for k, name in enumerate(names):
            # A real category called as missing values are is another one.
            parts = [(group[k], isinstance(group[k], NamedMissing)) for group in groups]  # type: ignore[index]
            values = list(dict.fromkeys(parts))
            into = np.array([values.index(part) for part in parts])
            yield str(name), [part for part, _ in values], into
        yield " and ".join(map(str, names)), list(groups), single
    else:
        yield str(columns[0]) if len(columns) == 1 else "group", list(groups), single


def _share_columns(name: str, shares: Shares) -> dict[str, Array]:
    """Return shares (sets × tasks) and Wilson's intervals, which hold near 0 and 1 too."""
    low, high = share_interval(shares.share, shares.rows)
    return {name: shares.share, f"{name}_low": low, f"{name}_high": high}


def _difference_columns(name: str, shares: Shares, counted: Array) -> dict[str, Array]:
    """Return how far each share that counts is above the lowest of its task, with intervals."""
    differences = differences_to_lowest(np.where(counted, shares.share, np.nan), shares.rows)
    ends = (f"{name}_difference{end}" for end in ("", "_low", "_high"))
    return dict(zip(ends, differences, strict=True))


def _error_columns(tasks: list[_TaskRows], counted: Array | None = None) -> dict[str, Array]:
    """Return the error rates of sets, and their differences.

    Those of sets that count are compared; None: of those with enough rows for an error rate.
    """
    columns: dict[str, Array] = {}
    for name, positive in _ERRORS.items():
        errors = _together([sets.shares(pred, true == positive) for sets, true, pred in tasks])
        compared = errors.n > FEW - 1e-9 if counted is None else counted
        columns |= _share_columns(name, errors) | _difference_columns(name, errors, compared)
    return columns


def _impact_ratios(shares: Shares, sets: str, counted: Array) -> dict[str, Array]:
    """Return each share over the highest of its task, with intervals and what these hold for."""
    share = np.where(counted, shares.share, np.nan)
    ratio, low, high = ratios_to_highest(share, shares.rows, shares.correlation)
    scope = [f"simultaneous over {n} {sets}" for n in (~np.isnan(share)).sum(axis=0)]
    interval = np.broadcast_to(np.array(scope, dtype=object), low.shape).copy()
    interval[np.isnan(low)] = None
    return {
        "impact_ratio": ratio,
        "impact_ratio_low": low,
        "impact_ratio_high": high,
        "impact_ratio_interval": interval,
    }


def _bounds(categories: list[Any], shares: Shares, counted: Array) -> dict[str, Array]:
    """Return bounds of rates and impact ratios; NaN of unknown categories."""
    known = ~np.array([*map(is_unknown, categories)])
    names = tuple(name for name, own in zip(categories, known, strict=True) if own)
    rates = Rates(agreement(categories, names), shares.n, shares.selected)
    columns = rates.columns("selection_rate") | rates.ratios(counted[known])
    none = {name: np.full(counted.shape, np.nan) for name in columns}
    for name, values in columns.items():
        none[name][known] = values
    return none


def _accuracies(test: Contingency, right: Shares) -> dict[str, Array]:
    """Return the accuracy of each group, over all tasks."""
    if test.classes is not None and len(test.tasks) > 1:  # only one of several classes is right
        right = _together([RowSets.of_groups(test).shares(right_shares(test))])
    share = right.share.mean(axis=1)
    # A mean over tasks varies less than one task of as many rows: its interval is not too narrow.
    low, high = share_interval(share, right.rows.min(axis=1))
    return {"accuracy": share, "accuracy_low": low, "accuracy_high": high}


def right_shares(test: Contingency) -> Array:
    """Return the share of each row's tasks that is predicted rightly; of classes, 0 or 1."""
    if test.classes is not None and len(test.tasks) > 1:
        both = test.both("task")
        return np.asarray(sum(column(both, "task_pred", j) for j in range(len(test.tasks))))
    tasks = _rows_by_task(test, "task_pred")
    return np.asarray(sum(rows.true == rows.predicted for rows in tasks) / len(tasks))


# --------------------------------------------------------------------------- columns on their own

_OF_GROUPS = ("sensitive_features", "sensitive_pred", "sensitive_train")
_NAMED = ("sensitive", "sensitive_prediction")


def requests_by_column(asked: Request) -> dict[str, Request]:
    """Return what is asked of each sensitive column alone, if columns are audited on their own.

    Nothing if there are counts, which do not say what group is of what column, or fitted auditors,
    which know the groups of all columns.
    """
    is_fitted = asked.y_train is None and any(
        hasattr(own, "contingency_") for own in asked.own or ()
    )
    counted = isinstance(asked.y_true, Contingency) or isinstance(asked.y_train, Contingency)
    if asked.groups != "marginal" or is_fitted or counted:
        return {}
    parts: dict[str, list[tuple[Hashable, Any]]] = {}
    for name in _OF_GROUPS:
        if (value := getattr(asked, name)) is not None:
            parts[name] = columns_of(to_native(value, name))
    for name in _NAMED:
        if (value := getattr(asked, name)) is not None:
            parts[name] = [(column, column) for column in names_of(value)]
    first, *others = parts.values() or [[]]
    if len(first) < 2 or any(len(other) != len(first) for other in others):
        return {}
    return {
        column if isinstance(column, str) else f"column {column}": replace(
            asked,
            groups="intersection",
            # As if the other columns were not there: they use up no random numbers.
            random_state=same_draws(asked.random_state),
            **{name: own[i][1] for name, own in parts.items()},
        )
        for i, (column, _) in enumerate(first)
    }


def with_columns(whole: AuditReport, columns: dict[str, AuditReport]) -> AuditReport:
    """Return a report of all columns with those of each."""
    measured = {name: own for name, own in columns.items() if own.primary is not None}
    by_column = table_by_column({name: own[str(own.primary)] for name, own in measured.items()})
    report = replace(whole, columns=measured, by_column=by_column, unknown=None)
    report.findings.clear()
    every = {name: own.findings for name, own in report.judged_columns.items()}
    for name, own in every.items():
        for finding in own:  # each once; what is not found for all names its column
            if not all(finding in others for others in every.values()):
                numbers = {**finding.numbers, "by_column": name}
                report.findings.append(replace(finding, numbers=numbers))
            elif finding not in report.findings:
                report.findings.append(finding)
    return report


def table_by_column(results: Mapping[str, AuditResult]) -> pd.DataFrame:
    """Return one row for each of several sensitive columns: value, interval and verdict.

    A verdict allows for all columns: p-values are adjusted by Holm's method.
    """
    p_adjusted = adjust_p_values([result.p_value for result in results.values()])
    rows = [
        {
            "column": name,
            "groups": result.table["group"].nunique(),
            **{key: getattr(result, key) for key in ("value", "low", "high", "p_value")},
            "verdict": adjusted_verdict(result, p),
            "p_adjusted": p,
        }
        for (name, result), p in zip(results.items(), p_adjusted, strict=True)
    ]
    return pd.DataFrame(rows)


# --------------------------------------------------------------------------- thresholds

_READ = ("sensitive_features", "sample_weight", "groups", "missing", "pos_label")
_N = 99  # percentiles
_MOST_GROUPS = 20  # whose rows above thresholds a report holds


def threshold_tables(
    source: RowSource, y_score: Any, test: Contingency, scored: Contingency, train: Any
) -> dict[str, pd.DataFrame]:
    """Return the tables of a report about thresholds of the scores, if these are of one task.

    ``curve`` is the value at percentiles of the scores, at the base rate and at the rate of the
    predictions of `test`; ``passed`` are the rows of each group with and without the label above
    each threshold, unless groups are many.
    """
    scores = np.squeeze(np.asarray(y_score))
    if scores.ndim != 1 or not scored.has("task") or len(scored.tasks) != 1:
        return {}
    given = source.labels | source.how
    labels: dict[str, Any] = {name: given.get(name) for name in _READ}
    scores = as_numbers(pd.Series(scores), "y_score")
    # Weights that are no whole numbers may add up to a little more than their total.
    base = min(float(scored.count("task")[0] / scored.total), 1.0)
    shares = [base]
    if test.has("task_pred") and len(test.tasks) == 1:  # decisions of a threshold, probably
        shares.append(min(float(test.count("task_pred")[0] / test.total), 1.0))
    percentiles = [*np.linspace(0, 1, _N + 2)[1:-1], *(1 - share for share in shares)]
    thresholds = np.unique(np.quantile(scores, percentiles, method="inverted_cdf"))
    rank = np.searchsorted(thresholds, scores, side="left")  # how many are below the score
    rank = narrow(rank, len(thresholds) + 1)
    del scores
    with collected():
        curve = amplification_curve(
            source.y_true,
            rank,
            limits=(0, len(thresholds)),
            y_train=train,
            interval="analytic",
            **labels,
        )
        if curve.low is None or np.isnan(curve.low).all():
            return {}
        cells, counts = rows_above(source.y_true, rank, len(thresholds) + 1, labels)
    of_curve = np.searchsorted(curve.thresholds, np.arange(len(thresholds)), side="right") - 1
    numbers = {"predicted_rate": curve.rates, "value": curve.values}
    numbers |= {"low": curve.low, "high": curve.high}
    known = {name: np.asarray(values)[of_curve] for name, values in numbers.items()}
    table = pd.DataFrame({"threshold": thresholds, **known}).assign(base_rate=base)
    kept = cells.count("group") > 0
    if kept.sum() > _MOST_GROUPS:
        return {"curve": table, "passed": pd.DataFrame()}
    negatives, positives = counts[:, kept, :-1]
    names = [name for name, is_kept in zip(cells.groups, kept, strict=True) if is_kept]
    passed = {
        "group": [name for name in names for _ in range(len(thresholds) + 1)],
        "threshold": np.tile([np.nan, *thresholds], len(names)),
        "labelled": positives.ravel(),
        "others": negatives.ravel(),
    }
    return {"curve": table, "passed": pd.DataFrame(passed)}


# --------------------------------------------------------------------------- sets of rows

# Clusters whose rows are all alike, added to those that are there: the variance between few
# clusters is not known well, and seems to be 0 where nobody was selected.
_ADDED = 0.5


def mean_change_interval(cells: Cells, change: Array) -> tuple[float, float]:
    """Return the 95 % interval of a mean of what changes in each row between two models.

    A row counts in each of its groups, as in the mean of its groups.
    """
    groups = labels_of(cells, "group")
    times = groups.scores(np.ones(groups.width))
    share = times / (cells.weight @ times)
    value = float(cells.weight @ (share * change))
    # Half a row gained and half a row lost, of which so few rows show nothing.
    unseen = (float(cells.row_weight.max()) / cells.total) ** 2
    return interval_of(cells, value, share * (change - value), 0.95, unseen=unseen)


class Shares(NamedTuple):
    """The weight of sets of rows, the weight of selected ones, and what the shares are worth.

    `rows` is the number of independent rows that have the same variance. The `correlation` of the
    shares is sets × sets, or None if no row and no cluster is in two of them.
    """

    n: Array
    selected: Array
    rows: Array
    correlation: Array | None = None

    @property
    def share(self) -> Array:
        """The selected share of each set; NaN without rows."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.minimum(self.selected / self.n, 1.0)  # of rounding


@dataclass(frozen=True, eq=False)
class RowSets:
    """Sets of rows, which may overlap: entries of a cell and the set that it is in."""

    cells: Cells
    cell: Any
    owner: Array
    width: int

    @classmethod
    def of_groups(cls, cells: Cells) -> RowSets:
        """Return the rows of each group."""
        labels = labels_of(cells, "group")
        if isinstance(labels, Codes):
            some = labels.codes >= 0
            cell = slice(None) if some.all() else np.flatnonzero(some)  # a slice is no copy
            return cls(cells, cell, labels.codes[cell], labels.width)
        owner, cell = np.nonzero(labels.dense(slice(None), bool).T)
        return cls(cells, cell, owner, labels.width)

    def merged(self, into: Array) -> RowSets:
        """Return larger sets; `into` is the one that each set becomes a part of."""
        return RowSets(self.cells, self.cell, into[self.owner], int(into.max()) + 1)

    def shares(
        self, selected: Array, among: Array | None = None, *, correlated: bool = False
    ) -> Shares:
        """Return the shares of selected rows, among some rows or among all.

        Only if shares are compared with one another does their correlation matter.
        """
        cells, weight, chosen = self.cells, self._weight, selected[self.cell]
        inside: Any = 1.0
        if among is not None:
            inside = among[self.cell]
            weight = weight * inside
        n = self._total if among is None else self._sum(weight)
        k = self._sum(weight * chosen)
        simple = cells.whole and cells.clusters is None
        if simple and not (correlated and self._linked):
            return Shares(n, k, n)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.clip(k / n, 0, 1)
            binary = share * (1 - share) * n
            # What each row adds to the deviation of a share from its mean.
            deviation = inside * (chosen - share[self.owner])
            rows = n
            if not simple:
                alike = self._squared(inside) / n
                variance = self._squared(deviation) + _ADDED * alike**2
                rows = n * (binary + _ADDED * alike) / variance
                # Never more than there are: a unit of weight counts less if weights differ (Kish).
                rows = np.minimum(rows, n**2 / self._sum(weight * cells.row_weight[self.cell]))
            if not (correlated and self._linked):
                return Shares(n, k, rows)
            scale = np.sqrt(binary * n / rows)
            correlation = self._products(deviation) / (scale[:, None] * scale)
            # What few selected rows have in common is not known well.
            few = np.minimum(share, 1 - share) * rows
            known = np.maximum(1 - 1 / np.minimum(few[:, None], few), 0)
            correlation = np.where(correlation > 0, known * correlation, correlation)
        correlation = np.where(np.isfinite(correlation), np.clip(correlation, -1, 1), 0.0)
        return Shares(n, k, rows, correlation)

    def _sum(self, values: Array) -> Array:
        return np.bincount(self.owner, values, minlength=self.width)

    @cached_property
    def _weight(self) -> Array:
        """The weight of each entry."""
        return np.asarray(self.cells.weight[self.cell], dtype=float)

    @cached_property
    def _total(self) -> Array:
        """The weight of each set."""
        return self._sum(self._weight)

    @cached_property
    def _linked(self) -> bool:
        """Whether a row, or a cluster, is in two sets."""
        sums, _ = self._by_unit(1.0)
        return bool((np.bincount(sums.tocsr().indices) > 1).any())

    def _by_unit(self, values: Any) -> tuple[Any, Array]:
        """Return the sums of entries of each set and independent row, and the number of rows."""
        entries = self.owner, np.arange(self.cells.n_cells)[self.cell]
        each = np.broadcast_to(values, len(self.owner))
        shape = (self.width, self.cells.n_cells)
        return unit_sums(self.cells, sparse.csr_array((each, entries), shape=shape))

    def _squared(self, values: Any) -> Array:
        """Return for each set the sum over rows or clusters of squares of their sums."""
        sums, times = self._by_unit(values)
        return np.asarray((sums * sums) @ times)

    def _products(self, values: Any) -> Array:
        """Return sums over rows or clusters of products, sets × sets."""
        sums, times = self._by_unit(values)
        products = np.asarray(((sums * times) @ sums.T).todense())
        np.fill_diagonal(products, 0.0)
        return products
