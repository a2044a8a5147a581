"""TimelineDisplay: a value over time, its reference, alarms and changes of the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
import pandas as pd

from skbiasamp._input.checks import is_one
from skbiasamp._input.errors import InputError, InputTypeError
from skbiasamp._utils.formatting import group_of, in_words, level_of, task_of
from skbiasamp.plotting._checks import (
    as_floats,
    check_drawable,
    check_kind,
    check_number,
    check_text,
    drawn_columns,
    with_defaults,
)
from skbiasamp.plotting._common import Display, axes_of, literal, tidy
from skbiasamp.render.periods import running_mean, typical
from skbiasamp.results import Timeline

_MOST_LABELS = 10
_MOST_MARKERS = 60
_MOST_TEXT = 50  # characters of labels side by side


@dataclass(eq=False, repr=False)
class TimelineDisplay(Display):
    """Show a value over time, with the reference, alarms and changes of the model's version.

    .. versionadded:: 0.1

    Parameters
    ----------
    table : DataFrame
        One row a period: ``period``, ``value``, ``low``, ``high`` and ``alarm``, ``role`` if
        some are the reference, and the number of rows ``n`` if many periods are to have a mean.
    reference : float, default=None
        The value of the reference, drawn as a line.
    versions : list of (period, name), default=()
        Where another version of the model begins.
    onset : str, default=None
        The period in which a change most likely began.
    title : str, default=None
        Title of the plot.
    confidence_level : float, default=0.95
        Level of the intervals.

    Attributes
    ----------
    line_ : Line2D
        The values.
    mean_ : Line2D or None
        The mean of the last periods, if there are many.
    band_ : PolyCollection or None
        The intervals.
    reference_line_ : Line2D or None
        The reference.
    alarms_ : Line2D or None
        The periods with an alarm.
    version_lines_ : list of Line2D
        Changes of the version.
    ax_, figure_ : Axes, Figure
        Where it was drawn.

    See Also
    --------
    skbiasamp.audit_over : Makes the timeline.

    Examples
    --------
    >>> import pandas as pd
    >>> from skbiasamp.plotting import TimelineDisplay
    >>> months = pd.DataFrame({"period": ["2026-01", "2026-02", "2026-03"]})
    >>> months["value"] = [0.01, 0.02, 0.09]
    >>> months["low"], months["high"] = months["value"] - 0.02, months["value"] + 0.02
    >>> months["alarm"] = [False, False, True]
    >>> display = TimelineDisplay(months, reference=0.01)
    >>> display.reference
    0.01
    >>> _ = display.plot()  # doctest: +SKIP
    """

    table: pd.DataFrame
    _: KW_ONLY
    reference: float | None = None
    versions: Sequence[tuple[str, str]] = ()
    onset: str | None = None
    title: str | None = None
    confidence_level: float | None = 0.95

    def __post_init__(self) -> None:
        check_drawable(
            self.table,
            says="must be a data frame with one row a period, as Timeline.to_frame returns it",
            instead="A whole timeline is drawn with TimelineDisplay.from_timeline(timeline).",
            numbers=["value", "low", "high", "alarm", *({"n"} & set(drawn_columns(self.table)))],
            names=["period"],
        )
        check_number("reference", self.reference)
        check_number("confidence_level", self.confidence_level, 0, 1)
        if not isinstance(self.versions, Sequence) or not all(
            isinstance(version, list | tuple) and len(version) == 2 for version in self.versions
        ):
            text = "{versions} must be a list of periods and names, in pairs; got {seen!r}."
            raise InputTypeError(text, seen=self.versions)
        check_text("onset", self.onset)

    @classmethod
    def from_timeline(
        cls, timeline: Timeline, *, pair: tuple[Any, Any] | None = None, ax: Any = None, **how: Any
    ) -> Self:
        """Draw a timeline.

        Parameters
        ----------
        timeline : Timeline
            What `skbiasamp.audit_over` returned.
        pair : tuple of group and task, default=None
            Draw what this pair adds to the value. None draws the value.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        **how : dict
            Passed to `plot`.

        Returns
        -------
        display : TimelineDisplay
            The Display, drawn.
        """
        check_kind(timeline, Timeline, "from_timeline draws a Timeline")
        table, reference = timeline.to_frame(), timeline.reference["value"]
        title = f"{in_words(timeline.name)}: {timeline.verdict}"
        if pair is not None:
            every = timeline.to_frame(pairs=True)
            known = list(dict.fromkeys(zip(every["group"], every["task"], strict=True)))
            if not isinstance(pair, tuple | list) or not is_one(tuple(pair), known):
                text = "{pair} must be a group and a task; got {seen!r}, not of {known}."
                raise InputError(text, seen=pair, known=known)
            own = (every["group"] == pair[0]) & (every["task"] == pair[1])
            table, reference = every[own].assign(low=np.nan, high=np.nan), None
            group = group_of(pair[0], timeline.group_columns)
            title = f"{title}\n{group}, task {task_of(pair[1])}"
        display = cls(
            table,
            reference=reference,
            versions=timeline.version_changes,
            onset=timeline.onset,
            title=title,
            confidence_level=timeline.confidence_level,
        )
        return display.plot(ax, **how)

    def plot(self, ax: Any = None, *, line_kwargs: Mapping[str, Any] | None = None) -> Self:
        """Draw the timeline.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        line_kwargs : dict, default=None
            Passed to ``Axes.plot`` for the values.

        Returns
        -------
        display : TimelineDisplay
            This Display.
        """
        ax = axes_of(self, ax, (8.0, 3.6))
        table = self.table.reset_index(drop=True)
        at, values = np.arange(len(table)), as_floats(table["value"])
        low, high = as_floats(table["low"]), as_floats(table["high"])
        names = [str(period) for period in table["period"]]
        style: dict[str, Any] = {"color": "0.3", "linewidth": 1.5, "label": "value"}
        many = len(table) > _MOST_MARKERS
        style |= {"linewidth": 0.7, "alpha": 0.7} if many else {"marker": "o", "markersize": 4}
        (self.line_,) = ax.plot(at, values, **with_defaults(style, line_kwargs))
        self.mean_ = None
        if many and "n" in table:
            size, means = running_mean(list(values), list(as_floats(table["n"])))
            look = {"color": self.line_.get_color(), "linewidth": 2.5}
            (self.mean_,) = ax.plot(at, means, **look, label=f"mean of the last {size} periods")
        self.band_ = None
        if not np.isnan(low).all():
            level = "" if self.confidence_level is None else level_of(self.confidence_level) + " "
            look = {"color": self.line_.get_color(), "alpha": 0.2, "linewidth": 0}
            self.band_ = ax.fill_between(at, low, high, **look, label=f"{level}interval")
        self.reference_line_ = None
        if self.reference is not None:
            look = {"color": "black", "linestyle": "--", "linewidth": 1}
            self.reference_line_ = ax.axhline(self.reference, **look, label="reference")
        if "role" in table and (table["role"] == "reference").any():
            inside = np.flatnonzero(table["role"] == "reference")
            ax.axvspan(inside[0] - 0.5, inside[-1] + 0.5, color="0.5", alpha=0.15, linewidth=0)
        alarms = np.flatnonzero(np.nan_to_num(as_floats(table["alarm"])))
        self.alarms_ = None
        if len(alarms):
            look = {"color": "black", "marker": "^", "markersize": 9, "linestyle": "none"}
            shown = alarms if len(table) <= _MOST_MARKERS else alarms[:1]
            label = f"alarm since {names[alarms[0]]}"
            (self.alarms_,) = ax.plot(shown, values[shown], **look, zorder=4, label=label)
            if self.onset in names:  # an estimate: shading from there on would say more
                look = {"color": "black", "linestyle": "-.", "linewidth": 1}
                label = f"change began: {self.onset} (estimate)"
                ax.axvline(names.index(self.onset), **look, label=label)
        self.version_lines_ = []
        for i, (period, version) in enumerate(self.versions):
            if str(period) not in names:
                continue
            where = names.index(str(period)) - 0.5
            look = {"color": "0.35", "linestyle": ":", "linewidth": 1.5}
            look["label"] = "new model version" if i == 0 else None
            self.version_lines_.append(ax.axvline(where, **look))
            ax.annotate(
                literal(f" version {version}"),
                (where, 1),
                xycoords=("data", "axes fraction"),
                va="top",
                fontsize="small",
                color="0.35",
            )
        if "n" in table:
            ends = np.concatenate(
                [values, low, high, [np.nan if self.reference is None else self.reference]]
            )
            inside = np.append(np.tile(np.array(typical(table["n"])), 3), True)
            least, most = np.nanmin(ends[inside]), np.nanmax(ends[inside])
            if least < most and (ends < least).any() | (ends > most).any():
                room = 0.05 * (most - least)
                ax.set_ylim(least - room, most + room)
        if self.version_lines_:  # their names stand above the values
            least, most = ax.get_ylim()
            ax.set_ylim(least, most + 0.08 * (most - least))
        every = max(1, -(-len(names) // _MOST_LABELS))
        ax.set_xticks(at[::every], [literal(names[i]) for i in at[::every]])
        turned = sum(map(len, names[::every])) > _MOST_TEXT
        ax.tick_params(axis="x", labelrotation=30 if turned else 0)
        ax.set_xlim(-0.5, len(table) - 0.5)
        ax.set_ylabel("amplification")
        tidy(ax, self.title)
        ax.legend(fontsize="small", framealpha=0.6, loc="upper left", bbox_to_anchor=(1, 1))
        return self
