"""FeedbackDisplay: amplification over generations of a model that learns from itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import pandas as pd

from skbiasamp._input.errors import InputTypeError
from skbiasamp._utils.formatting import level_of, rate
from skbiasamp.plotting._checks import (
    as_floats,
    check_drawable,
    check_kind,
    check_number,
    with_defaults,
)
from skbiasamp.plotting._common import LINES, axes_of, literal, tidy
from skbiasamp.results.feedback import FeedbackResult


class FeedbackDisplay:
    """Show amplification over generations of models that learn from their own predictions.

    .. versionadded:: 0.1

    Parameters
    ----------
    results : dict of str to DataFrame
        Tables of a feedback audit by the name of what was tried, with ``generation``, ``value``,
        ``low`` and ``high``.
    title : str, default=None
        Title of the plot.
    confidence_level : float, default=0.95
        Level of the intervals.

    Attributes
    ----------
    lines_ : dict of str to Line2D
        The mean over runs.
    bands_ : dict of str to PolyCollection
        Its interval.
    zero_line_ : Line2D
        Where nothing is amplified.
    ax_, figure_ : Axes, Figure
        Where it was drawn.

    See Also
    --------
    skbiasamp.monitoring.feedback_audit : Makes the results.

    Examples
    --------
    >>> import pandas as pd
    >>> from skbiasamp.plotting import FeedbackDisplay
    >>> table = pd.DataFrame({"generation": [1, 2], "value": [0.1, 0.2]})
    >>> table["low"], table["high"] = table["value"] - 0.02, table["value"] + 0.02
    >>> display = FeedbackDisplay({"predicted labels": table})
    >>> list(display.results)
    ['predicted labels']
    >>> _ = display.plot()  # doctest: +SKIP
    """

    def __init__(
        self,
        results: Mapping[str, pd.DataFrame],
        *,
        title: str | None = None,
        confidence_level: float = 0.95,
    ) -> None:
        check_kind(results, Mapping, "results must be a dict of tables by name")
        for table in results.values():
            check_drawable(
                table,
                name="results",
                says="must hold data frames with one row a generation",
                instead="Whole results are drawn with FeedbackDisplay.from_results.",
                numbers=["generation", "value", "low", "high"],
            )
        check_number("confidence_level", confidence_level, 0, 1)
        self.results = results
        self.title = title
        self.confidence_level = confidence_level

    @classmethod
    def from_results(
        cls, results: FeedbackResult | Mapping[str, FeedbackResult], *, ax: Any = None, **how: Any
    ) -> Self:
        """Draw one result, or several by name.

        Parameters
        ----------
        results : FeedbackResult or dict of them
            What `feedback_audit` returned.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        **how : dict
            Passed to `plot`.

        Returns
        -------
        display : FeedbackDisplay
            The Display, drawn.
        """
        if isinstance(results, FeedbackResult):
            share = rate(1 - results.human_share)
            results = {f"{share} of the labels are the model's": results}
        several = list(results.values()) if isinstance(results, Mapping) else []
        if not several or not all(isinstance(one, FeedbackResult) for one in several):
            raise InputTypeError("from_results draws a FeedbackResult, or a dict of them by name.")
        first = next(iter(results.values()))
        title = first.name.replace("->", "→")
        if len(results) == 1:
            title = f"{title}: {first.verdict}"
        tables = {name: one.table for name, one in results.items()}
        display = cls(tables, title=title, confidence_level=first.confidence_level)
        return display.plot(ax, **how)

    def plot(self, ax: Any = None, *, line_kwargs: Mapping[str, Any] | None = None) -> Self:
        """Draw the generations.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        line_kwargs : dict, default=None
            Passed to ``Axes.plot`` for the means.

        Returns
        -------
        display : FeedbackDisplay
            This Display.
        """
        ax = axes_of(self, ax, (7.0, 3.8))
        self.lines_, self.bands_ = {}, {}
        self.zero_line_ = ax.axhline(0, color="0.3", linewidth=1)
        for i, (name, table) in enumerate(self.results.items()):
            colour = LINES[i % len(LINES)]
            style = {"color": colour, "marker": "os^Dv"[i % 5], "markersize": 5}
            style["label"] = literal(name)
            (self.lines_[name],) = ax.plot(
                table["generation"], as_floats(table["value"]), **with_defaults(style, line_kwargs)
            )
            self.bands_[name] = ax.fill_between(
                table["generation"], table["low"], table["high"],
                color=self.lines_[name].get_color(), alpha=0.15, linewidth=0,
            )  # fmt: skip
        last = max(int(table["generation"].max()) for table in self.results.values())
        ax.set_xticks(np.arange(1, last + 1, max(1, last // 10)))
        ax.set_xlabel("generation")
        ax.set_ylabel("amplification")
        tidy(ax, self.title)
        level = level_of(self.confidence_level)
        ax.legend(fontsize="small", framealpha=0.6, title=f"mean over runs, {level} interval")
        return self
