"""ComparisonDisplay: how much more or less models amplify than the reference."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
import pandas as pd

from skbiasamp._input.checks import check_option
from skbiasamp._utils.formatting import DIRECTION_OF, NO_DIFFERENCE, in_words
from skbiasamp.plotting._common import TableDisplay, check_kind, short_label, short_labels
from skbiasamp.plotting._rows import POINT, RowsDisplay, colours_of
from skbiasamp.results import ComparisonReport, ComparisonResult

_COLUMNS = ("metric", "model", "difference", "low", "high", "verdict", "value", "reference")
SIDES = {
    "signed": "← amplifies less  |  amplifies more →",
    "attack": "← reveals less  |  reveals more →",
    "both": "← amplifies or reveals less  |  more →",
}


@dataclass(eq=False, repr=False)
class ComparisonDisplay(RowsDisplay, TableDisplay):
    """Show how much more or less models amplify than the reference, with confidence intervals.

    One row for each metric and model. Differences without a clear verdict are hollow and pale.
    ``kind="values"`` draws the values of both models, connected.

    .. versionadded:: 0.1

    Parameters
    ----------
    table : DataFrame
        One row a metric and model: ``metric``, ``model``, the ``difference`` to the reference with
        ``low`` and ``high``, its ``verdict``, the ``value`` of the model, and the ``reference``'s.
    reference : str
        Name of the model that the others are compared with.
    title : str, default=None
        A title.
    sides : {"signed", "attack", "both"}, default="signed"
        What the sides of 0 mean: for metrics of amplification, for attackers, or for both.

    Attributes
    ----------
    table : DataFrame
        The differences.
    points_ : PathCollection or None
        The differences, or the values of the models.
    reference_points_ : PathCollection or None
        The values of the reference; None if differences were drawn.
    intervals_ : LineCollection or None
        The intervals of differences, or the lines between two values.
    zero_line_ : Line2D
        Where a model is as the reference; of values, where nothing is amplified.
    undefined_ : list of Text
        What stands in the place of undefined numbers.
    ax_, figure_ : Axes, Figure
        Where it was drawn.

    See Also
    --------
    skbiasamp.compare : Makes a report of all metrics.

    Examples
    --------
    >>> import pandas as pd
    >>> from skbiasamp.plotting import ComparisonDisplay
    >>> table = pd.DataFrame({"metric": ["directional A->T"], "model": ["new"]})
    >>> table = table.assign(difference=0.09, low=0.06, high=0.12, verdict="amplifies more")
    >>> table = table.assign(value=0.11, reference=0.02)
    >>> display = ComparisonDisplay(table, reference="old")
    >>> _ = display.plot()  # doctest: +SKIP

    Where matplotlib is installed, ``ComparisonDisplay.from_result(result)`` draws it.
    """

    _needs = _COLUMNS
    _made_by = "ComparisonDisplay.from_result(result).table"

    _: KW_ONLY
    reference: str
    title: str | None = None
    sides: str = "signed"

    @classmethod
    def from_result(cls, result: ComparisonResult, *, ax: Any = None, **options: Any) -> Self:
        """Draw a comparison by one metric.

        Parameters
        ----------
        result : ComparisonResult
            What an auditor's ``compare`` returned.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        **options : dict
            Passed to `plot`.

        Returns
        -------
        display : ComparisonDisplay
            The Display, drawn.
        """
        check_kind(
            result,
            ComparisonResult,
            "from_result draws one ComparisonResult",
            "A whole report is drawn with ComparisonDisplay.from_report(report).",
        )
        return cls._of([result], ax, options)

    @classmethod
    def from_report(cls, report: ComparisonReport, *, ax: Any = None, **options: Any) -> Self:
        """Draw a comparison by every metric.

        Parameters
        ----------
        report : ComparisonReport
            What `skbiasamp.compare` returned.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        **options : dict
            Passed to `plot`.

        Returns
        -------
        display : ComparisonDisplay
            The Display, drawn.
        """
        check_kind(
            report,
            ComparisonReport,
            "from_report draws a ComparisonReport",
            "One result is drawn with ComparisonDisplay.from_result(result).",
        )
        return cls._of(list(report.values()), ax, options)

    @classmethod
    def _of(cls, results: list[ComparisonResult], ax: Any, options: dict[str, Any]) -> Self:
        rows = []
        for result in results:
            values = dict(zip(result.table["model"], result.table["value"], strict=True))
            for model, verdict in result.verdicts.items():
                numbers = (*result.judged(model), verdict, values[model], values[result.reference])
                rows.append((result.name, model, *numbers))
        kinds = {"attack" if result.kind.has_attacker else "signed" for result in results}
        display = cls(
            pd.DataFrame(rows, columns=list(_COLUMNS)),
            reference=results[0].reference,
            sides=kinds.pop() if len(kinds) == 1 else "both",
        )
        return display.plot(ax, **options)

    def plot(
        self,
        ax: Any = None,
        *,
        kind: str = "differences",
        max_rows: int | None = 40,
    ) -> Self:
        """Draw differences, or the values of both models.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure as high as it needs.
        kind : {"differences", "values"}, default="differences"
            What is drawn: "differences" to the reference with their intervals, or the "values" of
            the reference (ring) and of each model (dot), connected by a line.
        max_rows : int, default=40
            How many metrics and models at most, those with the largest differences; below the
            axes stands how many there are. None draws all.

        Returns
        -------
        display : ComparisonDisplay
            This Display.
        """
        check_option("kind", kind, ("differences", "values"))
        drawn = self._strongest("difference", max_rows)
        shown = self.table.iloc[drawn]
        labels = self._labels(shown)
        ax = self._rows(ax, labels, max(len(shown), 1))
        names = ("value", "reference", "value") if kind == "values" else _INTERVAL
        point, low, high = (shown[name].to_numpy(float) for name in names)
        clear = np.array([bool(DIRECTION_OF.get(verdict)) for verdict in shown["verdict"]], bool)
        self.reference_points_ = None
        if kind == "values" and (~np.isnan(low)).any():
            ring = POINT | {"facecolors": "white", "edgecolors": "0.3"}
            self.reference_points_ = ax.scatter(low, np.arange(len(shown)), **ring)
        colour = colours_of(shown["difference"].to_numpy(float))
        filled = clear | (kind == "values")
        self._draw_intervals(point, low, high, colour, clear=clear, filled=filled)
        defined = ~np.isnan(point)
        if defined.any():
            ax.locator_params(axis="x", nbins=5)
        metrics = shown["metric"].to_numpy()
        for row in np.flatnonzero(metrics[1:] != metrics[:-1]) if len(self._several) > 1 else ():
            ax.axhline(row + 0.5, color="0.8", linewidth=0.8, zorder=0)
        notes = [f"value: ring {short_label(self.reference)}, dot the model"]
        if kind == "differences":
            hollow = f"hollow: {NO_DIFFERENCE} (interval or adjusted test)"
            notes = [hollow] * (not clear[defined].all())
        notes += self._left_out("difference", drawn, "largest of {n} differences")
        sides = SIDES[self.sides] if kind == "differences" else ""
        self._label_rows(labels, notes, title=self._title(kind), sides=sides)
        return self

    @property
    def _several(self) -> list[str]:
        """Which of metric and model differ between rows."""
        return [name for name in ("metric", "model") if self.table[name].nunique() > 1]

    def _labels(self, shown: pd.DataFrame) -> list[str]:
        differing = self._several or ["model"]
        parts = {name: short_labels(self.table[name], ", ") for name in differing}
        return [
            in_words(": ".join(parts[name][row[name]] for name in differing))
            for row in shown.to_dict("records")
        ]

    def _title(self, kind: str) -> str:
        """Return what is compared, and what all rows share."""
        if self.title is not None:
            return self.title
        shared = {"metric", "model"}.difference(self._several or ["model"])
        first = self.table.iloc[:1].to_dict("records")
        common = [short_label(row[name]) for row in first for name in shared]
        what = "Values compared with" if kind == "values" else "Differences to"
        return f"{in_words(', '.join(common))}\n{what} {short_label(self.reference)}".strip()


_INTERVAL = ("difference", "low", "high")
