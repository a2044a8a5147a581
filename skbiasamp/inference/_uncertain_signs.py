"""Intervals count that the signs of weak correlations may be chance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skbiasamp._input import Array
from skbiasamp.inference._intervals import Bounds
from skbiasamp.inference._pairs import Pairs


@dataclass(frozen=True, eq=False)
class UncertainSigns:
    """The pairs (groups × tasks) whose sign may be chance: labels do not show a correlation.

    `axis` is that of the groups if rates of tasks are compared, else that of the tasks. `own` says
    that the signs are those of the audited labels.
    """

    pairs: Array
    axis: int
    own: bool

    def widen(self, bounds: Bounds, pairs: Pairs, *, difference: bool = False) -> Bounds:
        """Return bounds that reach the value without what these signs add to it by chance.

        If a model predicts a task more often, the rates of all groups rise. Of two groups, whose
        signs are opposite, this cancels. Of three groups it does not: the sum of the signs decides
        whether it is an amplification.
        """
        if not self.pairs.any() or pairs.growth is not None:
            return bounds
        delta = pairs.delta
        slopes = pairs.as_signed().slopes if pairs.apart else pairs.slopes

        def added(change: Array) -> float:
            return float(np.nansum(np.where(self.pairs, slopes * change, 0.0) * pairs.share))

        n = (~np.isnan(delta)).sum(axis=self.axis, keepdims=True)
        shared = np.nansum(delta, axis=self.axis, keepdims=True) / np.maximum(n, 1)
        # A lone rate has nothing to be compared with: all of its change may be shared.
        by_chance = added(np.where(np.isnan(delta), np.nan, shared))
        below, above = max(by_chance, 0.0), max(-by_chance, 0.0)
        if self.own and not difference:
            # A rate that is high by chance has this sign, and predictions are seldom as high.
            above = max(above, -added(delta))
        if not pairs.apart:
            return bounds._replace(
                value_low=bounds.value_low - below, value_high=bounds.value_high + above
            )
        ends = {"signed_mean_low": -below, "signed_mean_high": above}
        statistics = {name: bounds.statistics[name] + more for name, more in ends.items()}
        return bounds._replace(statistics=bounds.statistics | statistics)
