"""MitigationDisplay: what remedies take off amplification against what they cost."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle
from typing import Any, Self

import pandas as pd

from skbiasamp._input import Array, quote
from skbiasamp.mitigation import MitigationComparison
from skbiasamp.plotting._common import LINES, as_floats, axes_of, labels_of, merged, tidy

MARKERS = "osD^vPX*<>"


class MitigationDisplay:
    """Show what remedies take off amplification, and what they cost.

    One point a remedy, with intervals on both sides; a line goes from the baseline through its
    versions with growing noise. Remedies that are nearer zero than that line at the same score
    do better than chance would.

    .. versionadded:: 0.1

    Parameters
    ----------
    table : DataFrame
        One row a remedy and a measure, as ``MitigationComparison.table`` has them: ``mitigation``,
        ``noise``, ``measure``, ``value``, ``low``, ``high``.
    score : str
        The measure on the horizontal axis, such as "accuracy".
    amplification : str
        The measure on the vertical axis, such as "directional A->T".
    baseline : str, default=None
        The remedy that is none, where the line begins.

    Attributes
    ----------
    points : DataFrame
        One row a remedy: ``mitigation``, ``noise``, ``x``, ``x_low``, ``x_high``, ``y``, ``y_low``,
        ``y_high``.
    points_ : dict of str to ErrorbarContainer
        The remedies.
    noise_line_ : ErrorbarContainer or None
        The baseline with growing noise.
    zero_line_ : Line2D
        Where nothing is amplified.
    ax_, figure_ : Axes, Figure
        Where it was drawn.

    See Also
    --------
    skbiasamp.mitigation.compare_mitigations : Makes the table.

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
    >>> display = MitigationDisplay(
    ...     table, score="accuracy", amplification="directional A->T", baseline="none"
    ... )
    >>> display.points[["mitigation", "x", "y"]]
      mitigation    x     y
    0       none  0.8  0.10
    1    noise 1  0.7  0.05

    Where matplotlib is installed, ``display.plot()`` draws them.
    """

    def __init__(
        self, table: pd.DataFrame, *, score: str, amplification: str, baseline: str | None = None
    ) -> None:
        lacking = {"mitigation", "noise", "measure", "value", "low", "high"} - set(
            getattr(table, "columns", ())
        )
        if lacking:
            raise ValueError(
                "table must be a data frame with one row a remedy and a measure, as "
                f"MitigationComparison.table is, and lacks the columns {quote(sorted(lacking))}. A "
                "whole comparison is drawn with MitigationDisplay.from_result(comparison)."
            )
        sides = []
        for name, axis in ((score, "x"), (amplification, "y")):
            side = table[table["measure"] == name].dropna(subset="value").set_index("mitigation")
            if side.empty:
                raise ValueError(
                    f"The comparison has no measure {name!r}; it has "
                    f"{quote(table['measure'].unique().tolist())}."
                )
            names = {"value": axis, "low": f"{axis}_low", "high": f"{axis}_high"}
            sides.append(side.rename(columns=names)[[*["noise"][: axis == "x"], *names.values()]])
        self.table = table
        self.points = sides[0].join(sides[1]).reset_index()
        self.score = score
        self.amplification = amplification
        self.baseline = baseline

    @classmethod
    def from_result(
        cls,
        comparison: MitigationComparison,
        *,
        score: str | None = None,
        amplification: str | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw a comparison that `compare_mitigations` made.

        Parameters
        ----------
        comparison : MitigationComparison
            The comparison.
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
        if not isinstance(comparison, MitigationComparison):
            raise TypeError(
                "from_result draws what compare_mitigations returned, got "
                f"{type(comparison).__name__}."
            )
        display = cls(
            comparison.table,
            score=comparison.scores[0] if score is None else score,
            amplification=(
                comparison.amplifications[0] if amplification is None else amplification
            ),
            baseline=comparison.baseline,
        )
        return display.plot(ax, **options)

    def plot(
        self,
        ax: Any = None,
        *,
        point_kwargs: Mapping[str, Any] | None = None,
        noise_kwargs: Mapping[str, Any] | None = None,
    ) -> Self:
        """Draw the remedies.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        point_kwargs, noise_kwargs : dict, default=None
            Passed to ``Axes.errorbar`` for remedies, and for the line of noise.

        Returns
        -------
        display : MitigationDisplay
            This Display.
        """
        ax = axes_of(self, ax, (7.2, 4.2))
        self.zero_line_ = ax.axhline(0, color="0.3", linewidth=1, zorder=1)
        noisy = self.points["noise"].notna()
        remedies = self.points[~noisy]
        self.noise_line_ = None
        if noisy.any():
            line = self.points[noisy].sort_values("noise")
            start = remedies[remedies["mitigation"] == self.baseline]
            least, most = line["noise"].iloc[[0, -1]]
            label = f"noise {least:g}" + (f" to {most:g}" if most > least else "")
            look = {"color": "0.6", "marker": ".", "linestyle": "--", "linewidth": 1.2}
            look |= {"elinewidth": 0.8, "zorder": 2, "label": label}
            # Not with its empty column of noise, which pandas would have a say about.
            whole = pd.concat([start.drop(columns="noise"), line.drop(columns="noise")])
            self.noise_line_ = _errorbar(ax, whole, look, noise_kwargs)
        labels = labels_of(remedies["mitigation"], ", ")
        self.points_ = {}
        looks = zip(cycle(LINES), cycle(MARKERS))
        for (colour, marker), (_, row) in zip(looks, remedies.iterrows(), strict=False):
            look = {"color": colour, "marker": marker, "linestyle": "none", "markersize": 7}
            look |= {"elinewidth": 1.4, "zorder": 3, "label": labels[row["mitigation"]]}
            self.points_[row["mitigation"]] = _errorbar(ax, row.to_frame().T, look, point_kwargs)
        ax.set(xlabel=self.score, ylabel=self.amplification.replace("->", "→"))
        tidy(ax)
        ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False, fontsize="small")
        return self


def _errorbar(
    ax: Any, points: pd.DataFrame, defaults: Mapping[str, Any], given: Mapping[str, Any] | None
) -> Any:
    """Draw points with their intervals on both sides."""
    x, y = as_floats(points["x"]), as_floats(points["y"])

    def reach(axis: str, at: Array) -> list[Array]:
        return [at - as_floats(points[f"{axis}_low"]), as_floats(points[f"{axis}_high"]) - at]

    return ax.errorbar(x, y, xerr=reach("x", x), yerr=reach("y", y), **merged(defaults, given))
