"""AmplificationCurveDisplay: amplification at every threshold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
import pandas as pd

from skbiasamp._input.checks import check_instance, is_one
from skbiasamp._input.containers import to_native
from skbiasamp._utils.formatting import SERIES, number
from skbiasamp.model_selection import AmplificationCurve, amplification_curve
from skbiasamp.model_selection.thresholds import response, response_of, rows_above, task_scores
from skbiasamp.plotting._common import (
    JOINTS,
    Display,
    check_kind,
    name_sides,
    short_labels,
    tidy,
)
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
        check_kind(
            curve,
            AmplificationCurve,
            "from_result draws what amplification_curve returned",
            "An AuditResult is drawn with AmplificationDisplay.from_result.",
        )
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
        labels: dict[str, Any] = {
            "sensitive_features": sensitive_features,
            "sample_weight": sample_weight,
            "groups": groups,
            "missing": missing,
            "pos_label": pos_label,
        }
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
        check_instance(
            estimator, [method], "estimator must be a fitted classifier with predict_proba"
        )
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

    def plot(
        self,
        ax: Any = None,
        *,
        line_kwargs: Mapping[str, Any] | None = None,
    ) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes or two of them, default=None
            Where to draw: amplification and rates in two axes, or both in one. None makes a
            figure, with two axes if there are rates.
        line_kwargs : dict, default=None
            Passed to ``Axes.plot`` for the amplification.

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
        (self.line_,) = self.ax_.plot(at, self.values, **{**style, **(line_kwargs or {})})
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
        labels = short_labels(rates.columns, JOINTS["group"])
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
            name_sides(self.ax_, Kind.SIGNED.sides, "y")
        for axis in axes:
            tidy(axis, self.title if axis is self.ax_ else None)
            if axis.get_legend_handles_labels()[1]:
                # Rates fall with the threshold, and amplification does towards both ends.
                loc = "lower center" if axis is self.ax_ and not together else "upper right"
                where: dict[str, Any] = {"bbox_to_anchor": (1, 1)} if beside else {}
                loc = "upper left" if beside else loc
                axis.legend(loc=loc, fontsize="small", framealpha=0.6, **where)
        return self
