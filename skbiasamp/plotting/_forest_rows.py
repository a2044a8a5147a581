"""Rows with a point and an interval each, beside a line at 0: a forest plot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from skbiasamp._input.checks import Array
from skbiasamp.plotting._common import (
    axes_of,
    fitting,
    name_sides,
    room,
    tidy,
    with_defaults,
)

POINT: dict[str, Any] = {"s": 32, "linewidths": 1.2, "zorder": 3}


def axes_of_rows(display: Any, ax: Any, n: int, labels: Sequence[str]) -> Any:
    """Return axes for rows and their labels."""
    width = 4.8 + 0.08 * max(map(len, labels), default=0)
    return axes_of(display, ax, (width, 1.7 + 0.27 * n))


def draw_zero(display: Any) -> None:
    """Draw the line that the marks of rows begin at, or lie beside."""
    display.zero_line_ = display.ax_.axvline(0, color="0.3", linewidth=1, zorder=1)


def draw_intervals(
    display: Any,
    point: Array,
    low: Array,
    high: Array,
    *,
    colour: Array,
    clear: Array,
    filled: Array,
    point_kwargs: Mapping[str, Any] | None,
    interval_kwargs: Mapping[str, Any] | None,
) -> None:
    """Draw points and intervals in the axes of a Display, which keeps them.

    Intervals that are not `clear` are pale, points that are not `filled` hollow. In place of what
    is NaN stands "undefined".
    """
    ax, at = display.ax_, np.arange(len(point))
    draw_zero(display)
    display.intervals_ = display.points_ = None
    bounded, defined = ~np.isnan(low + high), ~np.isnan(point)
    if bounded.any():
        shade = np.where(clear[:, None], colour, colour * [1, 1, 1, 0.5])
        lines = {"colors": shade[bounded], "linewidth": 2, "zorder": 2}
        display.intervals_ = ax.hlines(
            at[bounded], low[bounded], high[bounded], **with_defaults(lines, interval_kwargs)
        )
    if defined.any():
        face = np.where(filled[:, None], colour, 1.0)  # else white
        look = POINT | {"facecolors": face[defined], "edgecolors": colour[defined]}
        display.points_ = ax.scatter(
            point[defined], at[defined], **with_defaults(look, point_kwargs)
        )
    box = {"facecolor": "white", "edgecolor": "none", "pad": 1}
    quiet = {"ha": "center", "va": "center", "color": "0.35", "style": "italic", "bbox": box}
    display.undefined_ = [ax.text(0, row, "undefined", **quiet) for row in at[~defined]]
    if not defined.any():
        ax.set(xlim=(-1, 1), xticks=[0])


def label_rows(
    display: Any,
    labels: Sequence[str],
    notes: Sequence[str],
    *,
    heading: str = "",
    title: str | None = None,
    sides: str = "",
) -> None:
    """Write labels, heading, notes and title, in the size that fits the rows."""
    ax, n = display.ax_, max(len(labels), 1)
    ax.set_yticks(np.arange(len(labels)), labels=labels)
    ax.set(ylim=(n - 0.5, -0.5), ylabel=heading, xlabel="\n".join(notes))
    if sides:
        name_sides(ax, sides)
    tidy(ax, title, axis="x")
    size = fitting(0.85 * room(ax, 1, n)[1])
    for text in (*ax.get_yticklabels(), *display.undefined_):
        text.set_fontsize(size)
