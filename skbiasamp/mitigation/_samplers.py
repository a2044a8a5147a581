"""Samplers: rows are repeated or left out until groups are balanced."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp
from sklearn.utils import check_random_state

from skbiasamp._input.checks import Array
from skbiasamp._input.containers import is_tensor, to_native
from skbiasamp._input.options import Option, PositionalOption, WithOptions
from skbiasamp._utils.compat import Interval, StrOptions, take_rows
from skbiasamp._utils.docstrings import filling
from skbiasamp._utils.progress import progress
from skbiasamp.compose.sensitive import SENSITIVE, SensitiveColumns, require_y
from skbiasamp.mitigation._pairs import Memberships, as_index, check_rows, read_pairs


class Sampler(SensitiveColumns, WithOptions, ABC):
    """Takes rows out of the training data, or repeats them.

    Like the samplers of imbalanced-learn, whose pipelines call `fit_resample` in training only.
    """

    _estimator_type = "sampler"
    __metadata_request__fit: ClassVar = {"sensitive_features": True}
    sensitive: Any = Option(None, *SENSITIVE)
    random_state: Any = Option(None, "random_state")

    def fit(self, X: Any, y: Any, *, sensitive_features: Any = None) -> Self:
        """Choose the rows to keep or repeat.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Training data of any kind; arrays of images may have more axes.
        y : array-like of shape (n_samples,) or (n_samples, n_tasks)
            Labels: classes, or 0/1 indicator columns.
        sensitive_features : array-like of shape (n_samples,) or (n_samples, n_features)
            The sensitive feature, if `sensitive` does not name it.

        Returns
        -------
        self : object
        """
        self._validate_params()
        require_y(self, y)
        check_rows(self, X, y, allow_nd=True)
        attribute = self._sensitive(X, sensitive_features, "fit_resample")
        rng = check_random_state(self.random_state)
        with progress("choosing rows"):
            self.sample_indices_ = self._choose(read_pairs(y, attribute), rng)
        return self

    def fit_resample(self, X: Any, y: Any, *, sensitive_features: Any = None) -> tuple[Any, Any]:
        """Return the chosen rows.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Training data of any kind; arrays of images may have more axes.
        y : array-like of shape (n_samples,) or (n_samples, n_tasks)
            Labels: classes, or 0/1 indicator columns.
        sensitive_features : array-like of shape (n_samples,) or (n_samples, n_features)
            The sensitive feature, if `sensitive` does not name it.

        Returns
        -------
        X, y : the same, with the chosen rows
        """
        self.fit(X, y, sensitive_features=sensitive_features)
        labels = to_native(y, "y") if isinstance(y, Mapping | memoryview) or is_tensor(y) else y
        return take_rows(X, self.sample_indices_), take_rows(labels, self.sample_indices_)

    def get_metadata_routing(self) -> Any:
        """Return which metadata is requested.

        Returns
        -------
        routing : MetadataRequest
        """
        request = super().get_metadata_routing()
        asked = getattr(request, "fit_resample", None)  # a method that imblearn adds
        if asked and self.sensitive is None and asked.requests.get("sensitive_features") is None:
            asked.add_request(param="sensitive_features", alias=True)
        return request

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = tags.target_tags.multi_output = True
        tags.input_tags.allow_nan = tags.input_tags.sparse = True
        tags.input_tags.string = tags.input_tags.categorical = True
        return tags

    @abstractmethod
    def _choose(self, pairs: Memberships, rng: np.random.RandomState) -> Array:
        """Return the positions of the chosen rows."""


def draw(cell: Array, quota: Array, rng: np.random.RandomState) -> Array:
    """Return the positions of as many rows of each cell as it has a quota of."""
    order = rng.permutation(len(cell))
    rank = pd.Series(order).groupby(cell[order]).cumcount().to_numpy()
    return np.sort(order[rank < quota[cell[order]]])


@filling
class GroupOverSampler(Sampler):
    """Oversample: repeat random rows until all pairs of group and class are equally frequent.

    With several labels per row, rows of each set of tasks are repeated until every group has the
    set equally often. Sets that some group never has stay as they are.

    .. versionadded:: 0.1

    Parameters
    ----------
    %(sensitive)s
        It stays in `X`.
    random_state : int, RandomState instance or None, default=None
        Seed of the choice of repeated rows.

    Attributes
    ----------
    sample_indices_ : ndarray of shape (n_sampled,)
        Positions of the rows: all of them, then the repeated ones.
    n_features_in_, feature_names_in_
        As of any estimator.

    See Also
    --------
    RatioBalancer : Drop rows instead.

    Notes
    -----
    Training takes longer, and flexible models memorise the few rows of a rare pair. Classes become
    equally frequent too: probabilities and base rates differ from those of the data, and rare
    classes are predicted more often.

    Examples
    --------
    >>> import numpy as np
    >>> from skbiasamp.mitigation import GroupOverSampler
    >>> sex = np.repeat(["f", "m"], [40, 80])
    >>> hired = np.repeat([0, 1, 0, 1], [30, 10, 20, 60])
    >>> X = np.arange(120).reshape(-1, 1)
    >>> sampler = GroupOverSampler(random_state=0)
    >>> X_more, y_more = sampler.fit_resample(X, hired, sensitive_features=sex)
    >>> [int(np.sum((sex[X_more[:, 0]] == a) & (y_more == t))) for a in "fm" for t in (0, 1)]
    [60, 60, 60, 60]
    """

    def _choose(self, pairs: Memberships, rng: np.random.RandomState) -> Array:
        if pairs.one_label:
            pairs.require_all(why="there is nothing to repeat. Merge groups or classes.")
            cell, counts = pairs.cell, np.bincount(pairs.cell)
            lacking = counts.max() - counts
        else:
            counts = pairs.counts_of_sets()
            cell = pairs.group * counts.shape[1] + pairs.label_set
            most = np.where(counts.min(axis=0) > 0, counts.max(axis=0), counts)
            lacking = (most - counts).ravel()
        rows = np.split(np.argsort(cell, kind="stable"), np.bincount(cell).cumsum()[:-1])
        repeated = [rng.choice(rows[code], lacking[code]) for code in np.flatnonzero(lacking)]
        return np.concatenate([np.arange(len(cell)), *repeated])


# --------------------------------------------------------------------------- balancing


_TINY = 1e-9  # below any difference between a count and alpha times another


@filling
class RatioBalancer(Sampler):
    """Undersample: drop rows until no group has a task more than `alpha` times as often as another.

    For every task, ``max_a n(a, t) ≤ alpha · min_a n(a, t)``, and as many rows stay as possible.
    With `alpha=1`, every task has as many rows in each group [1]_ (eq. 2).

    .. versionadded:: 0.1

    Parameters
    ----------
    alpha : float, default=1.0
        Largest ratio between groups, at least 1. 1: groups have each task equally often.
    %(sensitive)s
        It stays in `X`.
    unpaired : {"error", "drop"}, default="error"
        How tasks that some group never has are handled. "error": raise. "drop": drop all of their
        rows.
    sets : bool, default=False
        With several labels per row. False keeps the ratio for each task. True keeps it for each
        set of tasks as a whole, and so for all tasks and sets of tasks: balancing single tasks can
        raise multi-attribute amplification.
    random_state : int, RandomState instance or None, default=None
        Seed of the choice between rows with equal group and labels.

    Attributes
    ----------
    sample_indices_ : ndarray of shape (n_kept,)
        Positions of the rows that stay, in order.
    counts_ : DataFrame
        Number of rows of each group (rows) and task (columns) that stay.
    n_upper_ : int
        Upper bound of the number of rows that can stay.
    n_features_in_, feature_names_in_
        As of any estimator.

    See Also
    --------
    GroupOverSampler : Repeat rows instead.
    DataRepair : Drop a given share of rows.

    Notes
    -----
    With one label per row, the result is optimal. With several labels per row, a linear program
    over the distinct label sets is rounded, which keeps a few rows less than `n_upper_` (tens, of
    tens of thousands).

    The cost is rows, and therefore accuracy. It is larger if a pair of group and task is rarer.
    With `alpha=1`, 14,684 of 24,301 imSitu images remain, and the paper's model loses 5 percentage
    points of F1. Features can still reveal the group, and models use them: the paper found hardly
    less bias amplification.

    The authors' heuristic keeps fewer rows: of COCO's validation images 1,080 with `alpha=1`,
    where this keeps 3,002.

    References
    ----------
    .. [1] Wang, Zhao, Yatskar, Chang, Ordonez. Balanced datasets are not enough. ICCV 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from skbiasamp.mitigation import RatioBalancer
    >>> sex = np.repeat(["f", "m"], [40, 80])
    >>> hired = np.repeat([0, 1, 0, 1], [30, 10, 20, 60])
    >>> X = np.arange(120).reshape(-1, 1)
    >>> balancer = RatioBalancer(alpha=2, random_state=0)
    >>> X_kept, y_kept = balancer.fit_resample(X, hired, sensitive_features=sex)
    >>> len(y_kept)
    80
    >>> balancer.counts_
        0   1
    f  30  10
    m  20  20
    """

    alpha: float = PositionalOption(
        Interval(Real, 1, None, closed="left"), default=1.0, kw_only=False
    )
    unpaired: str = Option("error", StrOptions({"error", "drop"}), after="sensitive")
    sets: bool = Option(False, "boolean", after="unpaired")

    def _choose(self, pairs: Memberships, rng: np.random.RandomState) -> Array:
        by_set = self.sets and not pairs.one_label
        if self.unpaired == "error" and not (by_set and pairs.counts_of_sets().all()):
            (pairs.of_sets()[0] if by_set else pairs).require_all(
                why="the ratio can only be kept by dropping all rows of the task. Do that with "
                "unpaired='drop', or merge groups or tasks."
            )
        available = np.bincount(pairs.cell)
        first = np.unique(pairs.cell, return_index=True)[1]
        group, member = pairs.group[first], pairs.member[first]
        if by_set or pairs.one_label:
            most = np.floor(self.alpha * pairs.counts_of_sets().min(axis=0) * (1 + _TINY))
            quota = np.minimum(available, most[pairs.label_set[first]])
            self.n_upper_ = int(quota.sum())
        else:
            quota, self.n_upper_ = most_rows(available, pairs.within(group), member, self.alpha)
        kept = draw(pairs.cell, quota, rng)
        if by_set:
            tasks, counts = pairs.sets[0], pairs.counts_of_sets(kept)
        else:
            tasks = pairs.tasks
            counts = pairs.within(pairs.group[kept]) @ pairs.member[kept].astype(float)
        self._names, self._counts = (pairs.groups, tasks), counts.astype(int)
        return kept

    @property
    def counts_(self) -> pd.DataFrame:
        """Number of rows of each pair of group and task that were kept."""
        groups, tasks = self._names
        return pd.DataFrame(self._counts, as_index(groups), as_index(tasks))


def most_rows(available: Array, within: Array, member: Array, alpha: float) -> tuple[Array, int]:
    """Return how many rows of each cell to keep, and an upper bound of their sum.

    The solution of a linear program has no more fractions than constraints.
    """
    n_tasks, n_cells = member.shape[1], len(available)
    # A count of each group's tasks. The least count of each task is a variable too:
    # least ≤ count ≤ alpha · least.
    count: Any = sparse.vstack([sparse.csr_array(member.T * row) for row in within])
    least: Any = sparse.vstack([sparse.identity(n_tasks)] * len(within))
    ratios: Any = sparse.bmat([[count, -alpha * least], [-count, least]])
    is_cell = np.append(np.ones(n_cells), np.zeros(n_tasks))
    problem: dict[str, Any] = {
        "c": -is_cell,
        "bounds": Bounds(0, np.append(available, np.full(n_tasks, np.inf))),
        "constraints": LinearConstraint(ratios.tocsc(), -np.inf, 0),
    }
    solution: Any = milp(**problem)
    most = int(np.floor(-solution.fun + 1e-6))

    def mended(quota: Array) -> Array:
        quota = _drop(np.floor(quota[:n_cells] + 1e-6), within, member, alpha)
        return _refill(quota, available, within, member, alpha)

    quota = mended(solution.x)
    if quota.sum() < most - ratios.shape[0] / 2:
        # Rounding has lost more than it should; a search of whole numbers, of bounded length.
        whole: Any = milp(**problem, integrality=is_cell, options={"node_limit": 200})
        if whole.x is not None:
            quota = max(quota, mended(np.rint(whole.x)), key=np.sum)
    return quota, most


def _excess(table: Array, alpha: float) -> Array:
    """Return by how much each group has more of each task than allowed."""
    return np.maximum(table - alpha * table.min(axis=0) - _TINY * table, 0)


def _excess_with(table: Array, rows: int, alpha: float) -> Array:
    """Return the excess of each task with so many rows more of each group."""
    changed = [_excess(table + rows * row[:, None], alpha) for row in np.eye(len(table))]
    return np.sum(changed, axis=1)


def _drop(quota: Array, within: Array, member: Array, alpha: float) -> Array:
    """Drop rows, the one that reduces the excess most first, until every ratio is kept."""
    quota = quota.copy()
    while True:
        table = (within * quota) @ member
        excess = _excess(table, alpha).sum(axis=0)
        if not excess.any():
            return quota
        change = excess - _excess_with(table, -1, alpha)
        mends = np.where(quota > 0, (within * (change @ member.T)).sum(axis=0), -np.inf)
        quota[np.argmax(mends)] -= 1


def _refill(quota: Array, available: Array, within: Array, member: Array, alpha: float) -> Array:
    """Put rows back while every ratio is kept."""
    quota = quota.copy()
    while True:
        table = (within * quota) @ member
        breaks = _excess_with(table, 1, alpha) @ member.T
        spare = np.where((within * breaks).any(axis=0), 0, available - quota)
        if not spare.any():
            return quota
        quota[np.argmax(spare)] += 1


# --------------------------------------------------------------------------- repair

_AT_ONCE = 0.002  # share of all rows that is dropped before counts are looked at again


@filling
class DataRepair(Sampler):
    """Undersample: drop a share of rows so that task frequencies differ less between groups.

    It lowers the coefficient of variation of a task's frequency over groups, averaged over tasks
    [1]_. This is 0 if every task is equally frequent in all groups.

    .. versionadded:: 0.1

    Parameters
    ----------
    min_share : float, default=0.5
        Minimum share of rows that stays. More rows stay if the variation cannot be lowered further.
    %(sensitive)s
        It stays in `X`.
    random_state : int, RandomState instance or None, default=None
        Seed of the choice between rows with equal group and labels.

    Attributes
    ----------
    sample_indices_ : ndarray of shape (n_kept,)
        Positions of the rows that stay, in order.
    variation_before_, variation_ : float
        Average coefficient of variation of all rows, and of the rows that stay.
    n_features_in_, feature_names_in_
        As of any estimator.

    See Also
    --------
    RatioBalancer : Guarantee a ratio for every task, and keep as many rows as possible.

    Notes
    -----
    The variation of a task is ``std(n_a) / mean(n_a)`` over the groups ``a``; ``n_a`` rows of the
    group have the task. Both classes of a binary label are tasks. Rows are dropped greedily, a few
    at a time, and never the last row of a pair. If `RatioBalancer` with a ratio of 1 keeps more
    rows, its choice is taken.

    The cost is up to ``1 - min_share`` of the rows, rare tasks first. In [1]_ and in benchmarks of
    multi-attribute amplification, average precision falls by about 5 percentage points. Some
    amplifications decrease and others increase.

    References
    ----------
    .. [1] Agarwal, Muku, Anand, Arora. Does data repair lead to fair models? Curating
       contextually fair data to reduce model bias. WACV 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from skbiasamp.mitigation import DataRepair
    >>> sex = np.repeat(["f", "m"], [40, 80])
    >>> hired = np.repeat([0, 1, 0, 1], [30, 10, 20, 60])
    >>> X = np.arange(120).reshape(-1, 1)
    >>> repair = DataRepair(min_share=0.6, random_state=0)
    >>> X_kept, y_kept = repair.fit_resample(X, hired, sensitive_features=sex)
    >>> len(y_kept), round(repair.variation_before_, 2), round(repair.variation_, 2)
    (72, 0.46, 0.19)
    """

    min_share: float = PositionalOption(
        Interval(Real, 0, 1, closed="both"), default=0.5, kw_only=False
    )

    def _choose(self, pairs: Memberships, rng: np.random.RandomState) -> Array:
        first = np.unique(pairs.cell, return_index=True)[1]
        within, member = pairs.within(pairs.group[first]), pairs.member[first]
        available = np.bincount(pairs.cell)
        quota = _repair(available, within, member, int(np.ceil(self.min_share * available.sum())))
        if ((within * available) @ member > 0).all():
            equal, _ = most_rows(available, within, member, 1.0)
            quota = max(quota, equal, key=np.sum)
        self.variation_before_, self.variation_ = (
            float(_variation((within * n) @ member).mean()) for n in (available, quota)
        )
        return draw(pairs.cell, quota, rng)


def _variation(table: Array) -> Array:
    """Return each task's coefficient of variation over the groups; 0 of one that never is."""
    mean = table.mean(axis=0)
    return table.std(axis=0) / np.where(mean > 0, mean, 1)


def _repair(available: Array, within: Array, member: Array, least: int) -> Array:
    """Return how many rows of each cell stay."""
    quota = available.astype(float)
    labels = member.astype(float)
    at_once = max(1.0, _AT_ONCE * available.sum())
    while (spare := quota.sum() - least) > 0:
        table = (within * quota) @ labels
        variation = _variation(table)
        # The change by one row less of each pair. Its last row stays, whatever it costs.
        change = np.where(
            table <= 1,
            len(variation),
            [_variation(table - row[:, None]) - variation for row in np.eye(len(table))],
        )
        lowers = np.where(quota > 0, -(within * (change @ labels.T)).sum(axis=0), 0)
        best = np.argsort(-lowers, kind="stable")[: np.sum(lowers > 1e-12)]
        if not len(best):
            break
        # No more than half the way to the mean, so as not to go beyond.
        way = np.where(member[best], within.T[best] @ (table - table.mean(axis=0)), np.inf)
        drop = np.minimum(np.maximum(way.min(axis=1) // 2, 1), quota[best])
        drop = np.diff(np.minimum(np.cumsum(drop), min(at_once // 1, spare)), prepend=0)
        trial = quota.copy()
        trial[best] -= drop
        after = (within * trial) @ labels
        if _variation(after).sum() < variation.sum() and not ((after == 0) & (table > 0)).any():
            quota = trial
        elif at_once > 1:
            at_once /= 2
        else:
            break
    return quota
