"""TimelineDisplay: a value over time, its reference, alarms and changes of the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np

from skbiasamp._input.checks import check_number, is_one
from skbiasamp._input.errors import InputError
from skbiasamp._utils.formatting import group_of, in_words, level_of, task_of
from skbiasamp.plotting._common import TableDisplay, check_kind, literal, tidy
from skbiasamp.render.pictures import Picture
from skbiasamp.results import Timeline

_MOST_LABELS = 10
_MOST_MARKERS = 60
_MOST_TEXT = 50  # characters of labels side by side


@dataclass(eq=False, repr=False)
class TimelineDisplay(TableDisplay):
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

    _needs = ("period", "value", "low", "high", "alarm")
    _made_by = "Timeline.to_frame()"
    _drawn_by = "from_timeline(timeline)"

    _: KW_ONLY
    reference: float | None = None
    versions: Sequence[tuple[str, str]] = ()
    onset: str | None = None
    title: str | None = None
    confidence_level: float | None = 0.95

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
        if self.reference is not None:
            check_number("reference", self.reference)
        (ax,) = self._axes(ax, (8.0, 3.6))
        picture = Picture.of(self.table, self.reference, self.onset, self.versions)
        names, alarms, at = picture.names, picture.alarms, np.arange(len(picture.names))
        style: dict[str, Any] = {"color": "0.3", "linewidth": 1.5, "label": "value"}
        many = len(names) > _MOST_MARKERS
        style |= {"linewidth": 0.7, "alpha": 0.7} if many else {"marker": "o", "markersize": 4}
        (self.line_,) = ax.plot(at, picture.value, **{**style, **(line_kwargs or {})})
        self.mean_ = None
        if many and "n" in self.table:
            look = {"color": self.line_.get_color(), "linewidth": 2.5}
            look["label"] = f"mean of the last {picture.n_mean} periods"
            (self.mean_,) = ax.plot(at, picture.mean, **look)
        self.band_ = None
        if not np.isnan(picture.low).all():
            level = "" if self.confidence_level is None else level_of(self.confidence_level) + " "
            look = {"color": self.line_.get_color(), "alpha": 0.2, "linewidth": 0}
            look["label"] = f"{level}interval"
            self.band_ = ax.fill_between(at, picture.low, picture.high, **look)
        self.reference_line_ = None
        if self.reference is not None:
            look = {"color": "black", "linestyle": "--", "linewidth": 1}
            self.reference_line_ = ax.axhline(self.reference, **look, label="reference")
        if len(picture.span):
            first, last = picture.span[[0, -1]]
            ax.axvspan(first - 0.5, last + 0.5, color="0.5", alpha=0.15, linewidth=0)
        self.alarms_ = None
        if len(alarms):
            look = {"color": "black", "marker": "^", "markersize": 9, "linestyle": "none"}
            shown = alarms[:1] if many else alarms
            label = f"alarm since {names[alarms[0]]}"
            (self.alarms_,) = ax.plot(shown, picture.value[shown], **look, zorder=4, label=label)
            if picture.onset is not None:  # an estimate: shading from there on would say more
                look = {"color": "black", "linestyle": "-.", "linewidth": 1}
                label = f"change began: {self.onset} (estimate)"
                ax.axvline(picture.onset, **look, label=label)
        if picture.beyond:
            ax.set_ylim(*picture.ends)
        if picture.versions:  # their names stand above the values
            least, most = ax.get_ylim()
            ax.set_ylim(least, most + 0.08 * (most - least))
        self.version_lines_ = []
        look = {"color": "0.35", "linestyle": ":", "linewidth": 1.5, "label": "new model version"}
        for i, version in picture.versions:
            self.version_lines_.append(ax.axvline(i - 0.5, **look))
            look["label"] = None  # once
            text, place = literal(f" version {version}"), ("data", "axes fraction")
            behind = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0}
            how = {"va": "top", "fontsize": "small", "color": "0.35", "bbox": behind}
            ax.annotate(text, (i - 0.5, 1), xycoords=place, **how)
        every = max(1, -(-len(names) // _MOST_LABELS))
        ax.set_xticks(at[::every], [literal(names[i]) for i in at[::every]])
        turned = sum(map(len, names[::every])) > _MOST_TEXT
        ax.tick_params(axis="x", labelrotation=30 if turned else 0)
        ax.set_xlim(-0.5, len(names) - 0.5)
        ax.set_ylabel("amplification")
        tidy(ax, self.title)
        ax.legend(fontsize="small", framealpha=0.6, loc="upper left", bbox_to_anchor=(1, 1))
        return self
