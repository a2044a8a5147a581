"""WaterfallDisplay: parts of a value, each drawn from where the one before ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np

from skbiasamp._input.checks import check_option
from skbiasamp.plotting._common import TableDisplay, check_kind, literal
from skbiasamp.plotting._rows import RowsDisplay, colours_of
from skbiasamp.results import Explanation
from skbiasamp.results.explanation import SUMS, part_name
from skbiasamp.results.kinds import Kind


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
        known = [
            name for name in (*_ORDER, "conditional", "predictors") if name in explanation.tables
        ]
        chosen = known[0] if table is None else table
        check_option("table", chosen, known)
        columns = explanation.context["given"] if chosen == "strata" else ()
        of: dict[str, Any] = {
            "title": chosen,
            "part_columns": columns,
            "total": SUMS.get(chosen, "value"),
        }
        display = cls(explanation.tables[chosen], **of)
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
        labels = [literal(part_name(part, self.part_columns)) for part in self.table["part"]]
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


_ORDER = ("decision", "strata", "features", "change")
