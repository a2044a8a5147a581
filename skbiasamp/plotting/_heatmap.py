"""AmplificationHeatmapDisplay: amplification as a table of groups and tasks."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pandas as pd

from skbiasamp._input.checks import Array
from skbiasamp._utils.formatting import ABOVE, BELOW
from skbiasamp.plotting._common import FONT, SMALLEST, PairsDisplay, contrast, fitting, space_of
from skbiasamp.results import label_index

LARGE = 100  # cells: of more, colour is seen before any number
MANY = 12  # tasks that still stand side by side
NAME = 12  # points that a name needs, before labels and colour bar take their share
CHARACTER = 0.65  # of a font size: how wide a character is


class AmplificationHeatmapDisplay(PairsDisplay):
    """Heat map of the amplification of every pair of group and task.

    Shown is the change along the association in the labels, which the value weighs where that is
    uncertain. Colours diverge from white at 0. Cells that are not significant are hatched (pale in
    a map of more than 100 cells), undefined ones grey and crossed. Cells show numbers if they are
    large enough; in a map of more than 100 cells only in significant ones of at least half the
    maximum.

    .. versionadded:: 0.1

    Parameters
    ----------
    table : DataFrame
        One row a pair, as ``AuditResult.table`` has them: ``group``, ``task``,
        ``amplification``, and ``p_adjusted`` if there was a test.
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
    values : DataFrame of shape (n_groups, n_tasks)
        The changes along the association in the labels; without changes, the amplifications.
    significant : DataFrame of shape (n_groups, n_tasks) or None
        Which of them are significant, and have a certain sign; None without tests and intervals.
    image_ : AxesImage
        The colours.
    texts_ : list of Text
        The numbers, empty where cells are too small for them.
    hatches_, undefined_ : list of Rectangle
        The marks of cells that are not significant, and of those that are undefined.
    colorbar_ : Colorbar or None
        What the colours mean.
    ax_, figure_ : Axes, Figure
        Where it was drawn.

    See Also
    --------
    AmplificationDisplay : The strongest pairs, with their intervals.

    Examples
    --------
    >>> from skbiasamp import DirectionalAuditor
    >>> from skbiasamp.plotting import AmplificationHeatmapDisplay
    >>> sex = ["f"] * 400 + ["m"] * 400
    >>> hired = [1] * 100 + [0] * 300 + [1] * 200 + [0] * 200
    >>> predicted = [1] * 60 + [0] * 340 + [1] * 250 + [0] * 150
    >>> auditor = DirectionalAuditor().fit(hired, sensitive_features=sex)
    >>> result = auditor.audit(hired, predicted, sensitive_features=sex)
    >>> display = AmplificationHeatmapDisplay(result.table)
    >>> display.values
            1
    f  0.1125
    m  0.1125
    >>> display.significant
          1
    f  True
    m  True

    Where matplotlib is installed, ``AmplificationHeatmapDisplay.from_result(result)`` draws them.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        self.values = self._laid_out(self._along[0], np.nan)
        tested = self._tested
        self.significant = None if tested is None else self._laid_out(tested, False)

    def plot(
        self, ax: Any = None, *, max_tasks: int | str | None = "auto", cmap: Any = None
    ) -> Self:
        """Draw the table.

        Tasks are rows and groups columns if there are more than 12 tasks, and more than groups:
        many names are easier to read one below the other.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure as large as it needs.
        max_tasks : int, "auto" or None, default="auto"
            How many tasks at most, those with the strongest pairs; below the axes stands how
            many there are. "auto" is 70, or as many as fit into `ax`. None draws all.
        cmap : str or Colormap, default=None
            Colours that diverge from their middle. None: blue below 0 and orange above.

        Returns
        -------
        display : AmplificationHeatmapDisplay
            This Display.
        """
        n_groups, n_tasks = self.values.shape
        tasks_are_rows = n_tasks > max(MANY, n_groups)
        most: Any = max_tasks
        if max_tasks == "auto":
            most = 70 if ax is None else int(space_of(ax, 1, 1)[int(tasks_are_rows)] / NAME)
        values, left_out = self.values, ""
        significant = values.notna() if self.significant is None else self.significant
        if most is not None and n_tasks > most:
            strength = np.nan_to_num(np.abs(values.to_numpy())).max(axis=0)
            kept = np.sort(np.argsort(-strength, kind="stable")[:most])
            values, significant = values.iloc[:, kept], significant.iloc[:, kept]
            left_out = f"{len(kept)} strongest of {n_tasks:,} tasks"
        roles = ["group", "task"]
        if tasks_are_rows:
            values, significant, roles = values.T, significant.T, roles[::-1]
        names = [
            list(self._names(role, index).values())
            for role, index in zip(roles, values.axes, strict=True)
        ]
        cells, clear = values.to_numpy(), significant.to_numpy()
        if not cells.size:
            cells, clear = np.full((1, 1), np.nan), np.full((1, 1), False)
        n_rows, n_columns = cells.shape
        across, down = (max(map(len, side), default=0) for side in names)
        size = (2.6 + 0.08 * across + 0.55 * n_columns, 1.8 + 0.05 * down + 0.28 * n_rows)
        (ax,) = self._axes(ax, size)
        many = cells.size > LARGE
        self._colour(cells, clear, cmap, many=many)
        bar = {"ax": ax, "label": self.kind.sides, "aspect": 30}
        self.colorbar_ = self.figure_.colorbar(self.image_, **bar)
        if self.title is not None:
            ax.set_title(self.title, fontsize="medium")
        notes = [
            f"{'pale' if many else 'hatched'}: {self._unclear}" if self.hatches_ else "",
            "crossed: undefined" if self.undefined_ else "",
            left_out,
        ]
        down_label, across_label = (self._axis_names[role] for role in roles)
        ax.set(xlabel="\n".join([across_label, *filter(None, notes)]), ylabel=down_label)
        ax.set_xticks(range(len(names[1])), labels=names[1])
        ax.set_yticks(range(len(names[0])), labels=names[0])
        width, height = space_of(ax, n_columns, n_rows)
        ax.tick_params(axis="y", labelsize=fitting(0.85 * height))
        for label in ax.get_xticklabels() if CHARACTER * FONT * down > width else ():
            label.set(rotation=45, ha="right", rotation_mode="anchor", fontsize=fitting(width))
        strong = np.abs(np.nan_to_num(cells)) >= self.image_.get_clim()[1] / 2
        worth = ~np.isnan(cells) & (clear & strong if many else True)
        self._write(cells, worth)
        return self

    def _colour(self, cells: Array, clear: Array, cmap: Any, *, many: bool) -> None:
        """Draw cells in their colours, and mark those that are not clear, or undefined."""
        from matplotlib.colors import LinearSegmentedColormap

        if cmap is None:
            cmap = LinearSegmentedColormap.from_list("sides of 0", [BELOW, "white", ABOVE])
        undefined = np.isnan(cells)
        reach = np.nanmax(np.abs(cells), initial=0, where=~undefined) or 1.0
        self.image_ = self.ax_.imshow(cells, cmap=cmap, vmin=-reach, vmax=reach, aspect="auto")
        self.hatches_ = []
        for at in np.argwhere(~clear & ~undefined):
            look: tuple[Any, ...] = "", (1, 1, 1, 0.75), "none"
            if not many:
                look = "////", "none", contrast(self.image_.to_rgba(cells[*at]), "0.4", "0.8")
            self.hatches_.append(self._mark(at, *look))
        self.undefined_ = [self._mark(at, "xxxx", "0.85", "0.4") for at in np.argwhere(undefined)]

    def _laid_out(self, column: Array, otherwise: Any) -> pd.DataFrame:
        """Return a column of the table as groups × tasks."""
        rows, groups = pd.factorize(self.table["group"])
        columns, tasks = pd.factorize(self.table["task"])
        cells = np.full((len(groups), len(tasks)), otherwise)
        cells[rows, columns] = column
        return pd.DataFrame(cells, label_index(tuple(groups)), label_index(tuple(tasks)))

    def _mark(self, at: Array, hatch: str, facecolor: Any, edgecolor: str) -> Any:
        """Draw a rectangle over a cell."""
        from matplotlib.patches import Rectangle

        cell = Rectangle((at[1] - 0.5, at[0] - 0.5), 1, 1, linewidth=0, hatch=hatch)
        cell.set(facecolor=facecolor, edgecolor=edgecolor)
        return self.ax_.add_patch(cell)

    def _write(self, cells: Array, worth: Array) -> None:
        """Write numbers into the cells that are worth it, if they all fit."""
        self.texts_ = []
        written = [(*at, f"{cells[*at]:+.2f}") for at in np.argwhere(worth)]
        longest = max((len(text) for _, _, text in written), default=1)
        width, height = space_of(self.ax_, *cells.shape[::-1]) if written else (0.0, 0.0)
        size = min(9.0, 0.7 * height, 0.9 * width / (CHARACTER * longest))
        if size < SMALLEST:
            return
        look: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": size}
        for row, column, text in written:
            colour = self.image_.to_rgba(cells[row, column])
            look["color"] = contrast(colour, "black", "white")
            # Hatches stop short of the number.
            look["bbox"] = {"facecolor": colour, "edgecolor": "none", "pad": 1}
            self.texts_.append(self.ax_.text(column, row, text.replace("-", "−"), **look))
