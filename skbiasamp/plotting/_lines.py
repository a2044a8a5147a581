"""Displays with a line: amplification at every threshold, and a value over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
import pandas as pd

from skbiasamp._input.checks import check_instance, check_number, is_one
from skbiasamp._input.containers import to_native
from skbiasamp._input.errors import InputError
from skbiasamp._utils.formatting import SERIES, group_of, in_words, level_of, number, task_of
from skbiasamp.model_selection import AmplificationCurve, amplification_curve
from skbiasamp.model_selection.thresholds import response, response_of, rows_above, task_scores
from skbiasamp.plotting import _common
from skbiasamp.plotting._common import JOINTS, Display, TableDisplay, check_kind
from skbiasamp.render.pictures import Picture
from skbiasamp.results import Timeline
from skbiasamp.results.kinds import Kind

STEPS = {"drawstyle": "steps-post"}
STYLES = ("-", "--", "-.", ":")
MARKERS = "os^Dv<>"
MANY = 5  # groups that a legend still has room for among their lines
FEW = 40  # thresholds whose points are marked one by one


@dataclass(eq=False, repr=False)
class AmplificationCurveDisplay(Display):
    """Show how amplification follows the threshold at which scores become predictions.

    If given, false positive rates by group are drawn too: bias amplification compares a model with
    its labels, and can be small although one group has more errors [1]_.

    .. versionadded:: 0.1

    Parameters
    ----------
    thresholds : array-like of shape (n_thresholds,)
        Scores above a threshold are predicted positive.
    values : array-like of shape (n_thresholds,)
        The amplification at each.
    rates : DataFrame or dict of group to array-like of shape (n_thresholds,), default=None
        False positive rates by group.
    base_rate_threshold : float, default=None
        The threshold at which as many rows are predicted positive as are labelled so.
    low, high : array-like of shape (n_thresholds,), default=None
        Confidence interval of the value at each threshold, drawn as a band.
    operating_point : float, default=None
        The threshold at which the model decides.
    title : str, default=None
        A title.

    Attributes
    ----------
    line_ : Line2D
        The amplification.
    band_ : artist or None
        Its confidence interval.
    operating_point_ : Line2D or None
        The amplification at the threshold at which the model decides.
    rate_lines_ : dict of group to Line2D
        The false positive rates.
    zero_line_ : Line2D
        Where nothing is amplified.
    base_rate_lines_ : list of Line2D
        Where the base-rate threshold is, in each axes.
    ax_, figure_ : Axes, Figure
        Where the amplification was drawn.
    rates_ax_ : Axes or None
        Where the rates were drawn.

    References
    ----------
    .. [1] Wang, Russakovsky. Directional bias amplification. ICML 2021, Sec. 5.3 and Fig. 6.

    Examples
    --------
    >>> from skbiasamp.plotting import AmplificationCurveDisplay
    >>> display = AmplificationCurveDisplay(
    ...     [0, 1, 2], [-0.1, 0.05, -0.1], rates={"f": [1, 0.4, 0], "m": [1, 0.2, 0]}
    ... )
    >>> display.rates
           f    m
    0.0  1.0  1.0
    1.0  0.4  0.2
    2.0  0.0  0.0

    Where matplotlib is installed, ``display.plot()`` draws them.
    """

    thresholds: Any
    values: Any
    _: KW_ONLY
    rates: Any = None
    base_rate_threshold: float | None = None
    low: Any = None
    high: Any = None
    operating_point: float | None = None
    title: str | None = None

    def __post_init__(self) -> None:
        for name in ("thresholds", "values", "low", "high"):
            given = getattr(self, name)
            setattr(self, name, None if given is None else np.asarray(given, dtype=float))
        if self.rates is not None:
            rates = {group: np.asarray(rate, dtype=float) for group, rate in self.rates.items()}
            self.rates = pd.DataFrame(rates, index=self.thresholds)

    @classmethod
    def from_result(cls, curve: AmplificationCurve, *, ax: Any = None, **options: Any) -> Self:
        """Draw a curve that `amplification_curve` made.

        Parameters
        ----------
        curve : AmplificationCurve
            The curve.
        ax : matplotlib Axes or two of them, default=None
            Where to draw; None makes a figure.
        **options : dict
            Passed to the constructor: `rates` at the curve's thresholds, and so on.

        Returns
        -------
        display : AmplificationCurveDisplay
            The Display, drawn.
        """
        made_by = "from_result draws what amplification_curve returned"
        instead = "An AuditResult is drawn with AmplificationDisplay.from_result."
        check_kind(curve, AmplificationCurve, made_by, instead)
        low, high = curve.limits
        mean = number(curve.integral)
        title = f"directional, group → task\nmean {mean} over [{low:g}, {high:g}]"
        interval = {name: getattr(curve, name) for name in ("low", "high")}
        options = {"title": title} | interval | options
        return cls(curve.thresholds, curve.values, **options).plot(ax)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        sensitive_features: Any,
        sample_weight: Any = None,
        groups: str = "intersection",
        missing: str = "error",
        pos_label: Any = None,
        rates: bool = True,
        operating_point: float | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw amplification at every threshold of a score.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,) or (n_samples, n_tasks)
            Labels of two classes, or a 0/1 column a task.
        y_score : array-like of shape (n_samples,) or (n_samples, n_tasks)
            Scores, larger for the positive class.
        sensitive_features : array-like of shape (n_samples,) or (n_samples, n_features)
            The sensitive feature, or several.
        sample_weight : array-like of shape (n_samples,), optional
            Weights.
        groups : {"intersection", "marginal", "indicator"}, default="intersection"
            How several columns make groups.
        missing : {"error", "drop", "group"}, default="error"
            Rows with a missing sensitive feature: "error" raises, "drop" leaves them out, "group"
            makes them a group of their own.
        pos_label : label, default=None
            The positive class of a binary label. None: the class that sorts last.
        rates : bool, default=True
            Whether to draw false positive rates by group too. They, and the base-rate threshold,
            are those of a single task.
        operating_point : float, default=None
            The threshold at which the model decides.
        ax : matplotlib Axes or two of them, default=None
            Where to draw; None makes a figure.
        **options : dict
            Passed to `amplification_curve`, such as ``y_train`` and ``sensitive_train``;
            ``interval=None`` draws no band.

        Returns
        -------
        display : AmplificationCurveDisplay
            The Display, drawn.
        """
        labels = {"sensitive_features": sensitive_features, "sample_weight": sample_weight}
        labels |= {"groups": groups, "missing": missing, "pos_label": pos_label}
        curve = amplification_curve(y_true, y_score, **{"interval": "analytic"} | labels | options)
        options = {"operating_point": operating_point}
        scores = np.asarray(to_native(y_score, "y_score"), dtype=float)
        levels, ranks = np.unique(scores, return_inverse=True)
        cells, above = rows_above(y_true, ranks.reshape(scores.shape), len(levels), labels)
        if len(cells.tasks) == 1:
            nearest = np.argmin(np.abs(curve.rates - cells.count("task")[0] / cells.total))
            options["base_rate_threshold"] = float(curve.thresholds[nearest])
            negatives, _ = above
            with np.errstate(invalid="ignore"):
                shares = negatives / negatives[:, :1]
            options["rates"] = dict(zip(cells.groups, shares, strict=True)) if rates else None
        return cls.from_result(curve, ax=ax, **options)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        sensitive_features: Any,
        pos_label: Any = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw amplification at every threshold of a fitted classifier's scores.

        Parameters
        ----------
        estimator : classifier
            A fitted classifier with ``predict_proba`` or ``decision_function``.
        X : array-like or data frame of shape (n_samples, n_features)
            Rows to score.
        y : array-like of shape (n_samples,) or (n_samples, n_tasks)
            Their labels.
        sensitive_features : array-like of shape (n_samples,) or (n_samples, n_features)
            Their sensitive feature, or several.
        pos_label : label, default=None
            The positive class of a binary label. None: the class that sorts last.
        ax : matplotlib Axes or two of them, default=None
            Where to draw; None makes a figure.
        **options : dict
            Passed to `from_predictions`. ``operating_point`` is by default that of ``predict``:
            0.5 of probabilities, 0 of other scores.

        Returns
        -------
        display : AmplificationCurveDisplay
            The Display, drawn.
        """
        method = response_of(estimator)
        expected = "estimator must be a fitted classifier with predict_proba"
        check_instance(estimator, [method], expected)
        classes = getattr(estimator, "classes_", None)
        scores = task_scores(response(estimator, X), classes)
        # Scores of two classes are those of the second, unless the first is the positive one.
        first = pos_label is not None and classes is not None and is_one(pos_label, classes[:1])
        if to_native(y, "y").ndim == 1 and scores.ndim == 2 and scores.shape[1] == 2:
            scores = scores[:, 0 if first else 1]
        elif first:
            scores = -scores
        if pos_label is None and classes is not None and np.shape(classes) == (2,):
            pos_label = classes[1]  # of which the scores are, however they rank the rows
        options.setdefault("operating_point", 0.5 if method == "predict_proba" else 0.0)
        options |= {"sensitive_features": sensitive_features, "pos_label": pos_label}
        return cls.from_predictions(y, scores, ax=ax, **options)

    def plot(self, ax: Any = None) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes or two of them, default=None
            Where to draw: amplification and rates in two axes, or both in one. None makes a
            figure, with two axes if there are rates.

        Returns
        -------
        display : AmplificationCurveDisplay
            This Display.
        """
        panels, rates = (1, pd.DataFrame()) if self.rates is None else (2, self.rates)
        # Many names need a place of their own, and only in a figure of ours there is one.
        beside = ax is None and rates.shape[1] > MANY
        axes = self._axes(ax, (6.4 + 2 * beside, 1.4 + 2.3 * panels), panels)
        self.rates_ax_ = None if self.rates is None else axes[-1]
        together = self.rates_ax_ is self.ax_  # else each axis says what it shows
        marker = MARKERS if len(self.thresholds) <= FEW else [""]

        # Nothing changes between thresholds; below the least one the curve comes in from the side.
        finite = self.thresholds[np.isfinite(self.thresholds)]
        margin = 0.05 * np.ptp(finite) or 0.5
        at = np.clip(self.thresholds, finite.min() - margin, finite.max() + margin)
        self.zero_line_ = self.ax_.axhline(0, color="0.3", linewidth=1)
        style = {"color": "black", "marker": marker[0], "markersize": 4, **STEPS}
        style["label"] = "amplification" if together else None
        (self.line_,) = self.ax_.plot(at, self.values, **style)
        self.band_ = self.operating_point_ = None
        look: dict[str, Any]
        if self.low is not None and self.high is not None:
            look = {"color": self.line_.get_color(), "alpha": 0.15, "linewidth": 0}
            look |= {"step": "post", "zorder": 0, "label": "confidence interval"}
            self.band_ = self.ax_.fill_between(at, self.low, self.high, **look)
        if self.operating_point is not None:
            position = int(np.searchsorted(self.thresholds, [self.operating_point], "right")[0])
            value = self.values[max(position - 1, 0)]
            label = f"operating point {self.operating_point:g}: {number(value)}"
            look = {"marker": "o", "markersize": 8, "linestyle": "none", "color": "black"}
            look["markerfacecolor"] = "white"
            (self.operating_point_,) = self.ax_.plot(
                [self.operating_point], [value], **look, label=label, zorder=4
            )
        self.rate_lines_ = {}
        labels = _common.short_labels(rates.columns, JOINTS["group"])
        for i, (group, rate) in enumerate(rates.items(), 1):
            style = {
                "color": SERIES[(i - 1) % len(SERIES)],
                "linestyle": STYLES[i % len(STYLES)],
                "marker": marker[i % len(marker)],
                "markersize": 4,
                **STEPS,
                # A label that began with an underscore would be left out of the legend.
                "label": f"FPR {labels[group]}",
            }
            (self.rate_lines_[group],) = axes[-1].plot(at, rate.to_numpy(), **style)
        axes, self.base_rate_lines_ = list(dict.fromkeys(axes)), []
        look = {"color": "0.4", "linestyle": "--", "linewidth": 1, "zorder": 1}
        look["label"] = "base rate: as many positives as in the labels"
        for axis in axes if self.base_rate_threshold is not None else ():
            self.base_rate_lines_.append(axis.axvline(self.base_rate_threshold, **look))
            look["label"] = None  # once
        axes[-1].set_xlabel("threshold: scores above it are predicted positive")
        if self.rates_ax_ is not None:
            self.rates_ax_.set_ylabel("amplification, rate" if together else "false positive rate")
        if not together:
            _common.name_sides(self.ax_, Kind.SIGNED.sides, "y")
        for axis in axes:
            _common.tidy(axis, self.title if axis is self.ax_ else None)
            if axis.get_legend_handles_labels()[1]:
                # Rates fall with the threshold, and amplification does towards both ends.
                loc = "lower center" if axis is self.ax_ and not together else "upper right"
                where: dict[str, Any] = {"bbox_to_anchor": (1, 1)} if beside else {}
                loc = "upper left" if beside else loc
                axis.legend(loc=loc, fontsize="small", framealpha=0.6, **where)
        return self


# --------------------------------------------------------------------------- over time

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
            text, place = _common.literal(f" version {version}"), ("data", "axes fraction")
            behind = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0}
            how = {"va": "top", "fontsize": "small", "color": "0.35", "bbox": behind}
            ax.annotate(text, (i - 0.5, 1), xycoords=place, **how)
        every = max(1, -(-len(names) // _MOST_LABELS))
        ax.set_xticks(at[::every], [_common.literal(names[i]) for i in at[::every]])
        turned = sum(map(len, names[::every])) > _MOST_TEXT
        ax.tick_params(axis="x", labelrotation=30 if turned else 0)
        ax.set_xlim(-0.5, len(names) - 0.5)
        ax.set_ylabel("amplification")
        _common.tidy(ax, self.title)
        ax.legend(fontsize="small", framealpha=0.6, loc="upper left", bbox_to_anchor=(1, 1))
        return self
