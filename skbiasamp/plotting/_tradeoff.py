"""MitigationDisplay: what mitigations take off amplification against what they cost."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from itertools import cycle
from typing import Any, Self

import numpy as np
import pandas as pd

from skbiasamp._input.checks import Array
from skbiasamp._input.errors import InputError, quote
from skbiasamp._utils.formatting import in_words
from skbiasamp._utils.palette import SERIES
from skbiasamp.plotting._common import TableDisplay, check_kind, short_labels, space_of, tidy
from skbiasamp.results.mitigation_search import BASELINE, PAIRED, MitigationSearch

MARKERS = "osD^vPX*<>"


@dataclass(eq=False, repr=False)
class MitigationDisplay(TableDisplay):
    """Show what mitigations take off amplification, and what they cost.

    One point a mitigation, with intervals on both sides; a line goes from the baseline through its
    versions with growing noise. Mitigations that are nearer zero than that line at the same score
    do better than chance would.

    .. versionadded:: 0.1

    Parameters
    ----------
    table : DataFrame
        One row a mitigation and a measure, as ``MitigationSearch.measures`` has them:
        ``mitigation``, ``noise``, ``measure``, ``value``, ``low``, ``high``.
    score : str
        The measure on the horizontal axis, such as "accuracy".
    amplification : str
        The measure on the vertical axis, such as "directional A->T".

    Attributes
    ----------
    points : DataFrame
        One row a mitigation: ``mitigation``, ``noise``, ``x``, ``x_low``, ``x_high``, ``y``,
        ``y_low``, ``y_high``; and the paired ``difference`` of the amplification from the
        baseline's with ``difference_low``, ``difference_high``, ``p_value`` and ``p_adjusted``, if
        the table has them.
    points_ : dict of str to ErrorbarContainer
        The mitigations.
    noise_line_ : ErrorbarContainer or None
        The baseline with growing noise.
    texts_ : list of Annotation
        The names of the points, each with a line to its point.
    zero_line_ : Line2D
        Where nothing is amplified.
    ax_, figure_ : Axes, Figure
        Where it was drawn.

    See Also
    --------
    skbiasamp.mitigation.search : Makes the table.

    Examples
    --------
    >>> import pandas as pd
    >>> from skbiasamp.plotting import MitigationDisplay
    >>> table = pd.DataFrame(
    ...     {
    ...         "mitigation": ["none", "none", "noise 1", "noise 1"],
    ...         "noise": [None, None, 1, 1],
    ...         "measure": ["accuracy", "directional A->T"] * 2,
    ...         "value": [0.8, 0.1, 0.7, 0.05],
    ...         "low": [0.78, 0.08, 0.68, 0.03],
    ...         "high": [0.82, 0.12, 0.72, 0.07],
    ...     }
    ... )
    >>> display = MitigationDisplay(table, score="accuracy", amplification="directional A->T")
    >>> display.points[["mitigation", "x", "y"]]
      mitigation    x     y
    0       none  0.8  0.10
    1    noise 1  0.7  0.05

    Where matplotlib is installed, ``display.plot()`` draws them.
    """

    _needs = ("mitigation", "measure", "value", "low", "high")
    _made_by = "MitigationSearch.measures"

    _: KW_ONLY
    score: str
    amplification: str

    def __post_init__(self) -> None:
        super().__post_init__()
        table = self.table if "noise" in self.table else self.table.assign(noise=np.nan)
        sides = []
        for name, axis in ((self.score, "x"), (self.amplification, "y")):
            side = table[table["measure"] == name].dropna(subset="value").set_index("mitigation")
            if side.empty:
                raise InputError(
                    "The comparison has no measure {seen!r}; it has {known}.",
                    seen=name,
                    known=quote(table["measure"].unique().tolist()),
                )
            names = {"value": axis, "low": f"{axis}_low", "high": f"{axis}_high"}
            more = ["noise"] if axis == "x" else [column for column in PAIRED if column in table]
            sides.append(side.rename(columns=names)[[*names.values(), *more]])
        self.table = table
        self.points = sides[0].join(sides[1]).reset_index()

    @classmethod
    def from_result(
        cls,
        result: MitigationSearch,
        *,
        score: str | None = None,
        amplification: str | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw what `search` found.

        Parameters
        ----------
        result : MitigationSearch
            The result.
        score : str, default=None
            Which of its scores; None is the first.
        amplification : str, default=None
            Which of its amplifications; None is the first.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        **options : dict
            Passed to `plot`.

        Returns
        -------
        display : MitigationDisplay
            The Display, drawn.
        """
        check_kind(result, MitigationSearch, "from_result draws what search returned")
        display = cls(
            result.measures,
            score=result.scores[0] if score is None else score,
            amplification=result.amplifications[0] if amplification is None else amplification,
        )
        return display.plot(ax, **options)

    def plot(self, ax: Any = None) -> Self:
        """Draw the mitigations.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        display : MitigationDisplay
            This Display.
        """
        (ax,) = self._axes(ax, (7.2, 4.2))
        self.zero_line_ = ax.axhline(0, color="0.3", linewidth=1, zorder=1)
        noisy = self.points["noise"].notna()
        mitigations = self.points[~noisy]
        self.noise_line_ = None
        if noisy.any():
            line = self.points[noisy].sort_values("noise")
            start = mitigations[mitigations["mitigation"] == BASELINE]
            least, most = line["noise"].iloc[[0, -1]]
            label = f"noise {least:g}" + (f" to {most:g}" if most > least else "")
            look = {"color": "0.6", "marker": ".", "linestyle": "--", "linewidth": 1.2}
            look |= {"elinewidth": 0.8, "zorder": 2, "label": label}
            # Not with its empty column of noise, which pandas would have a say about.
            whole = pd.concat([start.drop(columns="noise"), line.drop(columns="noise")])
            self.noise_line_ = _errorbar(ax, whole, look)
        labels = short_labels(mitigations["mitigation"], ", ")
        ax.set(
            xlabel=self.score,
            ylabel=in_words(self.amplification),
            title=f"{in_words(self.amplification)} against {self.score}",
        )
        ax.title.set_fontsize("medium")
        tidy(ax)
        ax.margins(x=0.08)
        self.points_ = {}
        looks = zip(cycle(SERIES), cycle(MARKERS))
        for (colour, marker), (_, row) in zip(looks, mitigations.iterrows(), strict=False):
            # Hollow: of points that coincide all are seen.
            look = {"color": colour, "marker": marker, "linestyle": "none", "markersize": 7}
            look |= {"markerfacecolor": "none", "markeredgewidth": 1.6}
            look |= {"elinewidth": 1.4, "zorder": 3, "label": labels[row["mitigation"]]}
            self.points_[row["mitigation"]] = _errorbar(ax, row.to_frame().T, look)
        self._label()
        return self

    def _label(self) -> None:
        """Write the name of each point beside it, from top to bottom without overlap."""
        space_of(self.ax_, 1, 1)  # lays the figure out: only then points have a place
        size = 9.0
        height = 1.25 * size * self.figure_.canvas.figure.dpi / 72
        to_axes = self.ax_.transAxes.inverted().transform
        drawn = [bars for bars in (*self.points_.values(), self.noise_line_) if bars is not None]
        lines, names = [bars[0] for bars in drawn], [str(bars.get_label()) for bars in drawn]
        ends = [line.get_transform().transform(line.get_xydata())[-1] for line in lines]
        self.texts_, above = [], np.inf
        for i in sorted(range(len(lines)), key=lambda i: (-ends[i][1], ends[i][0])):
            above = min(ends[i][1], above - height)
            look = {"arrowstyle": "-", "color": lines[i].get_color(), "linewidth": 0.8}
            text = self.ax_.annotate(
                names[i],
                xy=lines[i].get_xydata()[-1],
                xytext=(1.03, to_axes((0, above))[1]),
                textcoords="axes fraction",
                color="0.15",
                fontsize=size,
                va="center",
                arrowprops=look,
            )
            self.texts_.append(text)


def _errorbar(ax: Any, points: pd.DataFrame, look: dict[str, Any]) -> Any:
    """Draw points with their intervals on both sides."""
    x, y = points["x"].to_numpy(float), points["y"].to_numpy(float)

    def reach(axis: str, at: Array) -> Array:
        low, high = (points[f"{axis}_{end}"].to_numpy(float) for end in ("low", "high"))
        return np.stack([at - low, high - at])

    return ax.errorbar(x, y, xerr=reach("x", x), yerr=reach("y", y), **look)
