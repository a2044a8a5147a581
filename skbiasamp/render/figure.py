"""A dumbbell drawn with matplotlib, as pages draw it."""

from __future__ import annotations

from typing import Any

from skbiasamp._input.errors import InputError
from skbiasamp.render.document import Dumbbell

# Colours of pages; each has one meaning.
COLOURS = {"up": "#cf5a06", "down": "#1f6bb5", "rev": "#8a3200", "unc": "#727a84"}
_INK, _BAND = "#1b1f24", "#d9dde2"


def draw_dumbbell(picture: Dumbbell, ax: Any = None) -> Any:
    """Draw rates before and after; return the axes."""
    try:
        from matplotlib import pyplot as plt
    except ImportError as error:
        raise ImportError("plot needs matplotlib: pip install 'skbiasamp[plot]'") from error
    if ax is None:
        height = 1.2 + 0.45 * len(picture.marks)
        _, ax = plt.subplots(figsize=(7, height), layout="constrained")
    elif not hasattr(ax, "set_yticks"):
        raise InputError("{ax} must be axes of matplotlib, or None; got {seen!r}.", seen=ax)
    marks = [mark for mark in picture.marks if mark.before is not None and mark.after is not None]
    for y, mark in enumerate(marks):
        ends = [float(mark.before or 0.0), float(mark.after or 0.0)]
        ax.plot(ends, [y, y], color=COLOURS.get(mark.tone, _INK), linewidth=4, zorder=1)
        if mark.band is not None:
            ax.plot(mark.band, [y, y], color=_BAND, linewidth=14, solid_capstyle="butt", zorder=0)
        ax.scatter(ends[:1], [y], s=70, facecolor="white", edgecolor=_INK, linewidth=2, zorder=3)
        ax.scatter(ends[1:], [y], s=55, color=_INK, zorder=2)
    ax.set_yticks(range(len(marks)), [mark.name for mark in marks])
    ax.invert_yaxis()
    ax.set_xlim(picture.axis.low, picture.axis.high)
    if picture.axis.percent:
        ax.xaxis.set_major_formatter(lambda share, _: f"{100 * share:.0f} %")
    before, after = picture.sides
    ax.set_xlabel(f"ring: {before}, dot: {after}")
    ax.set_title(picture.caption)
    return ax
