"""How pictures of the documentation look: width, smallest text, order, form of numbers.

- A picture is as wide as text on a phone. `skbiasamp.css` shows it a little larger at a desk.
- No text is smaller than `NOTE` points, cut off, or over other text.
- Groups stand in the order of their table, from the top or the left, and keep their colours.
- Numbers have a minus sign and no hyphen; percentages have a space: "+0.02", "−0.02", "46.5 %".
"""

import re
from itertools import combinations
from textwrap import fill

import matplotlib
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import ScalarFormatter
from matplotlib.transforms import Bbox

WIDTH = 3.7  # inches: 355 pixels
TEXT, NOTE = 10, 9  # points
INK, QUIET, PALE = "#222222", "#595959", "#999999"  # text, remarks, lines
LOOK = {
    "font.size": 11,  # of which "small", in Displays, is more than NOTE
    "text.color": INK,
    "svg.hashsalt": "skbiasamp",  # no random ids: the same picture at each build
    **{f"{part}.labelsize": TEXT for part in ("axes", "xtick", "ytick")},
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def sheet(height, rows=1, **options):
    """Return a figure and its axes, one below the other."""
    figure = Figure(figsize=(WIDTH, height), layout="constrained", facecolor="white")
    return figure, figure.subplots(rows, 1, squeeze=False, **options)[:, 0]


def narrow(axes, across=30):
    """Break the long lines of a Display."""
    legend = axes.get_legend()
    for text in (axes.title, axes.xaxis.label, *(legend.get_texts() if legend else ())):
        lines = text.get_text().split("\n")
        text.set_text("\n".join(fill(line, across) or line for line in lines))
    if not isinstance(axes.yaxis.get_major_formatter(), ScalarFormatter):
        axes.set_yticks(axes.get_yticks(), [fill(name, 12) for name in names_of(axes.yaxis)])


def names_of(axis):
    """Return the labels of the ticks of an axis."""
    return [label.get_text() for label in axis.get_ticklabels()]


def faults(figure):
    """Return what a reader could not read, as sentences."""
    figure.draw_without_rendering()
    edge, hidden, boxes, found = figure.bbox.padded(1), _hidden(figure), [], []
    for text in figure.findobj(Text):
        words = text.get_text().strip()
        if not words or not text.get_visible() or text in hidden:
            continue
        box = Text.get_window_extent(text)  # of annotations, without their arrow
        if text.get_text().startswith(" \n"):  # the line in which sides of 0 are named
            box = Bbox.from_extents(box.x0, box.y0, box.x1, box.y1 - 1.2 * text.get_fontsize())
        boxes.append((words, box))
        if text.get_fontsize() < NOTE:
            found.append(f"{words!r} has {text.get_fontsize():.1f} points")
        if not (edge.contains(*box.min) and edge.contains(*box.max)):
            found.append(f"{words!r} is cut off")
        if re.search(r"(?<!\w)-[\d.]", words):
            found.append(f"{words!r} has a hyphen for a minus sign")
    for (words, box), (others, other) in combinations(boxes, 2):
        if box.padded(-2).overlaps(other.padded(-2)):
            found.append(f"{words!r} is over {others!r}")
    return found


def _hidden(figure):
    """Return the labels of ticks and axes that are not drawn."""
    hidden = set()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            shown = axis._update_ticks() if axes.axison else []
            lost = [tick for tick in axis.majorTicks + axis.minorTicks if tick not in shown]
            hidden |= {label for tick in lost for label in (tick.label1, tick.label2)}
            hidden |= set() if axes.axison else {axis.label}
    return hidden


def write(make, path):
    """Make a picture and write it, if it can be read."""
    with matplotlib.rc_context(LOOK):
        figure = make()
        if wrong := faults(figure):
            raise ValueError(f"{path.name}: {'; '.join(wrong)}")
        figure.savefig(path, metadata={"Date": None})
