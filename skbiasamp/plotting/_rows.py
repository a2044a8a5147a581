"""Displays with a row for each number: values with intervals, parts of a value, comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
import pandas as pd

from skbiasamp._input.checks import Array, check_option
from skbiasamp._utils.formatting import ABOVE, BELOW, DIRECTION_OF, NO_DIFFERENCE, UNCLEAR, in_words
from skbiasamp.plotting import _common
from skbiasamp.plotting._common import Display, PairsDisplay, TableDisplay, check_kind
from skbiasamp.results import ComparisonReport, ComparisonResult, Explanation
from skbiasamp.results.explanation import SUMS, part_name
from skbiasamp.results.kinds import Kind

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
            _common.name_sides(ax, sides)
        _common.tidy(ax, title, axis="x")
        size = _common.fitting(0.85 * _common.space_of(ax, 1, n)[1])
        for text in (*ax.get_yticklabels(), *self.undefined_):
            text.set_fontsize(size)


class AmplificationDisplay(RowsDisplay, PairsDisplay):
    """Forest plot of pairs of group and task, with confidence intervals.

    One row for each pair, in the order of the table; 0 is marked. Drawn is the change along the
    association in the labels, which the value weighs where that is uncertain. Pairs that are not
    significant are hollow and pale.

    .. versionadded:: 0.1

    Parameters
    ----------
    table : DataFrame
        One row a pair, as ``AuditResult.table`` has them: ``group``, ``task``,
        ``amplification``, and if available ``change`` with ``sign``, ``low``, ``high`` and
        ``p_adjusted``.
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
        The changes along the association in the labels; without changes, the amplifications.
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

    def plot(self, ax: Any = None, *, max_pairs: int | None = 20) -> Self:
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


@dataclass(eq=False, repr=False)
class WaterfallDisplay(RowsDisplay, TableDisplay):
    """Waterfall of the parts of a value: where the amplification comes from.

    One bar for each part, which begins where the one above it ends. The last bar is the value.
    Parts whose interval includes 0 are pale.

    .. versionadded:: 0.2

    Parameters
    ----------
    table : DataFrame
        One row a part, as the tables of `Explanation` have them: ``part``, ``value``, ``low`` and
        ``high``.
    title : str, default=None
        A title.
    part_columns : sequence of str, default=()
        Names of the columns that make strata, for labels such as "dept = A".
    total : str, default="value"
        What the parts sum to.

    Attributes
    ----------
    bars_ : BarContainer
        The parts, and the value.
    zero_line_ : Line2D
        Where nothing is amplified.
    ax_, figure_ : Axes, Figure
        Where it was drawn.

    See Also
    --------
    skbiasamp.explain : Makes the tables.

    Examples
    --------
    >>> import skbiasamp
    >>> from skbiasamp.plotting import WaterfallDisplay
    >>> sex = ["f"] * 400 + ["m"] * 400
    >>> hired = [1] * 150 + [0] * 250 + [1] * 250 + [0] * 150
    >>> predicted = [1] * 120 + [0] * 280 + [1] * 280 + [0] * 120
    >>> explanation = skbiasamp.explain(hired, predicted, sensitive_features=sex)
    >>> display = WaterfallDisplay(explanation.change)
    >>> display.table["part"].tolist()
    ['change', 'shift', 'selection']

    Where matplotlib is installed, ``WaterfallDisplay.from_explanation(explanation)`` draws them.
    """

    _needs = ("part", "value", "low", "high")
    _made_by = "Explanation.change"
    _drawn_by = "from_explanation(explanation)"

    _: KW_ONLY
    title: str | None = None
    part_columns: Sequence[Any] = ()
    total: str = "value"

    @classmethod
    def from_explanation(
        cls, explanation: Explanation, *, table: str | None = None, ax: Any = None, **how: Any
    ) -> Self:
        """Draw a table of an explanation.

        Parameters
        ----------
        explanation : Explanation
            What `skbiasamp.explain` returned.
        table : {"change", "decision", "strata", "conditional", "features", "predictors"}, \
                default=None
            Which table. None: the decision, the strata, the features or the change, whichever comes
            first of those that are there.
        ax : matplotlib Axes, default=None
            Where to draw.
        **how : dict
            Passed to `plot`.

        Returns
        -------
        display : WaterfallDisplay
        """
        check_kind(explanation, Explanation, "{explanation} must be what skbiasamp.explain returns")
        order = ("decision", "strata", "features", "change", "conditional", "predictors")
        known = [name for name in order if name in explanation.tables]
        chosen = known[0] if table is None else table
        check_option("table", chosen, known)
        display = cls(
            explanation.tables[chosen],
            title=chosen,
            part_columns=explanation.context["given"] if chosen == "strata" else (),
            total=SUMS[chosen],
        )
        return display.plot(ax, **how)

    def plot(self, ax: Any = None) -> Self:
        """Draw the parts.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure as high as it needs.

        Returns
        -------
        display : WaterfallDisplay
            This Display.
        """
        value, low, high = map(self._numbers, ("value", "low", "high"))
        value = np.nan_to_num(value)
        ends = np.cumsum(value)
        total = ends[-1] if len(ends) else 0.0
        size, start = np.append(value, total), np.append(ends - value, 0.0)
        labels = [
            _common.literal(part_name(part, self.part_columns)) for part in self.table["part"]
        ]
        ax = self._rows(ax, labels, len(size))
        pale = np.append((low <= 0) & (high >= 0), False)
        colour = colours_of(size)
        colour[pale, 3] = 0.4
        look = {"left": start, "color": colour, "height": 0.6, "zorder": 2}
        ax.use_sticky_edges = False  # no bar ends at the frame, as if it were cut off
        self.bars_ = ax.barh(np.arange(len(size)), size, **look)
        note = "pale: the interval includes 0" if pale.any() else ""
        sides = Kind.SIGNED.sides
        self._label_rows([*labels, self.total], [note], title=self.title, sides=sides)
        return self


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

    _needs = ("metric", "model", "difference", "low", "high", "verdict", "value", "reference")
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
        instead = "A whole report is drawn with ComparisonDisplay.from_report(report)."
        check_kind(result, ComparisonResult, "from_result draws one ComparisonResult", instead)
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
        instead = "One result is drawn with ComparisonDisplay.from_result(result)."
        check_kind(report, ComparisonReport, "from_report draws a ComparisonReport", instead)
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
            pd.DataFrame(rows, columns=list(cls._needs)),
            reference=results[0].reference,
            sides=kinds.pop() if len(kinds) == 1 else "both",
        )
        return display.plot(ax, **options)

    def plot(self, ax: Any = None, *, kind: str = "differences", max_rows: int | None = 40) -> Self:
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
        check_option("sides", self.sides, ("signed", "attack", "both"))
        drawn = self._strongest("difference", max_rows)
        shown = self.table.iloc[drawn]
        differing = [name for name in ("metric", "model") if self.table[name].nunique() > 1]
        several_metrics = len(differing) > 1
        differing = differing or ["model"]
        parts = {name: _common.short_labels(self.table[name], ", ") for name in differing}
        labels = [
            in_words(": ".join(parts[name][row[name]] for name in differing))
            for row in shown.to_dict("records")
        ]
        ax = self._rows(ax, labels, max(len(shown), 1))
        names = ("difference", "low", "high")
        if kind == "values":
            names = ("value", "reference", "value")
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
        for row in np.flatnonzero(metrics[1:] != metrics[:-1]) if several_metrics else ():
            ax.axhline(row + 0.5, color="0.8", linewidth=0.8, zorder=0)
        reference = _common.short_label(self.reference)
        notes = [f"value: ring {reference}, dot the model"]
        if kind == "differences":
            hollow = f"hollow: {NO_DIFFERENCE} (interval or adjusted test)"
            notes = [hollow] * (not clear[defined].all())
        notes += self._left_out("difference", drawn, "largest of {n} differences")
        title = self.title
        if title is None:  # what all rows share, and what is compared
            shared = {"metric", "model"}.difference(differing)
            first = self.table.iloc[:1].to_dict("records")
            common = [_common.short_label(row[name]) for row in first for name in shared]
            what = "Values compared with" if kind == "values" else "Differences to"
            title = f"{in_words(', '.join(common))}\n{what} {reference}".strip()
        sides = SIDES[self.sides] if kind == "differences" else ""
        self._label_rows(labels, notes, title=title, sides=sides)
        return self
