"""AmplificationDisplay: pairs of group and task with their intervals."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from skbiasamp._input.checks import Array
from skbiasamp.plotting._common import PairsDisplay
from skbiasamp.plotting._rows import RowsDisplay, colours_of


class AmplificationDisplay(RowsDisplay, PairsDisplay):
    """Forest plot of pairs of group and task, with confidence intervals.

    One row for each pair, in the order of the table; 0 is marked. Pairs that are not significant
    are hollow and pale.

    .. versionadded:: 0.1

    Parameters
    ----------
    table : DataFrame
        One row a pair, as ``AuditResult.table`` has them: ``group``, ``task``,
        ``amplification``, and if available ``low``, ``high`` and ``p_adjusted``.
    title : str, default=None
        A title.
    confidence_level : float, default=0.95
        A pair is significant if ``p_adjusted`` is below one minus this or, without a p-value, if
        its interval excludes 0.
    group_columns : sequence of str, default=()
        Names of the sensitive columns that make the groups, for labels such as
        "sex = Female, race = Black".
    kind : {"signed", "size", "attack"}, default="signed"
        Kind of the metric: what the sides of 0 mean.

    Attributes
    ----------
    table : DataFrame
        The pairs.
    points_ : PathCollection or None
        The amplifications.
    intervals_ : LineCollection or None
        Their intervals.
    zero_line_ : Line2D
        Where nothing is amplified.
    undefined_ : list of Text
        What stands in the place of undefined pairs.
    ax_, figure_ : Axes, Figure
        Where it was drawn.

    See Also
    --------
    AmplificationHeatmapDisplay : The same pairs as a table of groups and tasks.

    Examples
    --------
    >>> from skbiasamp import DirectionalAuditor
    >>> from skbiasamp.plotting import AmplificationDisplay
    >>> sex = ["f"] * 400 + ["m"] * 400
    >>> hired = [1] * 100 + [0] * 300 + [1] * 200 + [0] * 200
    >>> predicted = [1] * 60 + [0] * 340 + [1] * 250 + [0] * 150
    >>> auditor = DirectionalAuditor().fit(hired, sensitive_features=sex)
    >>> result = auditor.audit(hired, predicted, sensitive_features=sex)
    >>> display = AmplificationDisplay(result.table, title="hired")
    >>> display.table[["group", "task", "change", "low", "high"]].round(4)
      group  task  change     low    high
    0     f     1 -0.1125 -0.1365 -0.0885
    1     m     1  0.1125  0.0885  0.1365

    Where matplotlib is installed, ``AmplificationDisplay.from_result(result)`` draws them.
    """

    def plot(
        self,
        ax: Any = None,
        *,
        max_pairs: int | None = 20,
    ) -> Self:
        """Draw the pairs.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure as high as it needs.
        max_pairs : int, default=20
            How many pairs at most, the strongest; below the axes stands how many there are. None
            draws all.

        Returns
        -------
        display : AmplificationDisplay
            This Display.
        """
        drawn = self._strongest("amplification", max_pairs)
        every_label, heading, common = self._labels()
        labels = [every_label[at] for at in drawn]
        self._rows(ax, labels, max(len(drawn), 1))
        value, low, high = (numbers[drawn] for numbers in self._along)
        tested = self._tested
        sure: Array = np.ones(len(drawn), bool) if tested is None else tested[drawn]
        self._draw_intervals(value, low, high, colours_of(value), clear=sure, filled=sure)
        hollow = [f"hollow: {self._unclear}"] * bool((~sure & ~np.isnan(value)).any())
        notes = [*common, *hollow]
        notes += self._left_out("amplification", drawn, "strongest of {n} pairs")
        sides = self.kind.sides
        self._label_rows(labels, notes, heading=heading, title=self.title, sides=sides)
        return self

    def _labels(self) -> tuple[list[str], str, list[str]]:
        """Return a label for each pair, their heading, and what all of them have in common."""
        parts = {}
        for role in ("group", "task"):
            labels = self._names(role, self.table[role])
            if set(labels) != {"(all)"}:
                parts[role] = [labels[name] for name in self.table[role]]
        common = []
        if len(self.table) > 1 and len(parts) == 2:
            shared = [role for role, labels in parts.items() if len(set(labels)) == 1]
            common = [f"{self._axis_names[role]}: {parts.pop(role)[0]}" for role in shared]
        if not parts:
            return ["(all)"] * len(self.table), "", common
        return (
            [": ".join(pair) for pair in zip(*parts.values(), strict=True)],
            ": ".join(self._axis_names[role] for role in parts),
            common,
        )
