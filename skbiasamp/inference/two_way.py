"""Variances of rows that depend on each other within pairs, and within a second kind of cluster."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import stats

from skbiasamp._input.checks import Array


class TwoWay(NamedTuple):
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
