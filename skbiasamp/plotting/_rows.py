"""RowsDisplay: what Displays with a row for each number share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from skbiasamp._input.checks import Array
from skbiasamp._utils.palette import ABOVE, BELOW, UNCLEAR
from skbiasamp.plotting._common import Display, fitting, name_sides, space_of, tidy

POINT: dict[str, Any] = {"s": 32, "linewidths": 1.2, "zorder": 3}


def colours_of(change: Array) -> Array:
    """Return the colour of each number: that of its side of 0, or of neither."""
    from matplotlib.colors import to_rgba_array

    side = np.sign(np.nan_to_num(change)).astype(int)
    return np.asarray(to_rgba_array([UNCLEAR, ABOVE, BELOW])[side])  # of -1 the last


class RowsDisplay(Display):
    """A Display with a row for each number, from top to bottom, and a line at 0."""

    zero_line_: Any
    intervals_: Any
    points_: Any
    undefined_: Sequence[Any] = ()

    def _rows(self, ax: Any, labels: Sequence[str], n: int) -> Any:
        """Return axes of `n` rows with 0, as wide as labels need."""
        width = 4.8 + 0.08 * max(map(len, labels), default=0)
        (ax,) = self._axes(ax, (width, 1.7 + 0.27 * n))
        self.zero_line_ = ax.axvline(0, color="0.3", linewidth=1, zorder=1)
        return ax

    def _draw_intervals(
        self, point: Array, low: Array, high: Array, colour: Array, *, clear: Array, filled: Array
    ) -> None:
        """Draw points and intervals, and "undefined" in place of what is NaN.

        Intervals that are not `clear` are pale, points that are not `filled` hollow.
        """
        ax, at = self.ax_, np.arange(len(point))
        self.intervals_ = self.points_ = None
        bounded, defined = ~np.isnan(low + high), ~np.isnan(point)
        if bounded.any():
            shade = np.where(clear[:, None], colour, colour * [1, 1, 1, 0.5])
            lines = {"colors": shade[bounded], "linewidth": 2, "zorder": 2}
            self.intervals_ = ax.hlines(at[bounded], low[bounded], high[bounded], **lines)
        if defined.any():
            face = np.where(filled[:, None], colour, 1.0)  # else white
            look = POINT | {"facecolors": face[defined], "edgecolors": colour[defined]}
            self.points_ = ax.scatter(point[defined], at[defined], **look)
        box = {"facecolor": "white", "edgecolor": "none", "pad": 1}
        quiet = {"ha": "center", "va": "center", "color": "0.35", "style": "italic", "bbox": box}
        self.undefined_ = [ax.text(0, row, "undefined", **quiet) for row in at[~defined]]
        if not defined.any():
            ax.set(xlim=(-1, 1), xticks=[0])

    def _label_rows(
        self,
        labels: Sequence[str],
        notes: Sequence[str],
        *,
        title: str | None,
        heading: str = "",
        sides: str = "",
    ) -> None:
        """Write labels, heading, notes and title, in the size that fits the rows."""
        ax, n = self.ax_, max(len(labels), 1)
        ax.set_yticks(np.arange(len(labels)), labels=labels)
        ax.set(ylim=(n - 0.5, -0.5), ylabel=heading, xlabel="\n".join(notes))
        if sides:
            name_sides(ax, sides)
        tidy(ax, title, axis="x")
        size = fitting(0.85 * space_of(ax, 1, n)[1])
        for text in (*ax.get_yticklabels(), *self.undefined_):
            text.set_fontsize(size)
