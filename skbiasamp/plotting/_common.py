"""Shared parts of the Displays: constructors, axes and labels."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import count
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd

from skbiasamp._input.checks import Array, check_instance, check_number, require_auditor
from skbiasamp._input.coding import as_classes
from skbiasamp._input.errors import InputError, InputTypeError, quote
from skbiasamp._utils.formatting import group_of, in_words, name_of, number
from skbiasamp.inference.hypothesis_tests import significant
from skbiasamp.metrics import DirectionalAuditor
from skbiasamp.results import AuditResult
from skbiasamp.results.kinds import Kind

JOINTS = {"group": ", ", "task": " + "}
FONT = 10  # points; smaller where there is less room
SMALLEST = 5


class Display:
    """What Displays share: the axes that they keep."""

    plot: Callable[..., Any]
    ax_: Any
    figure_: Any

    def _axes(self, ax: Any, size: tuple[float, float], panels: int = 1) -> list[Any]:
        """Return the axes to draw in, one below the other in a figure of a size if none are given.

        The Display keeps the first of them.
        """
        try:
            import matplotlib.pyplot as plt
        except ImportError as error:
            who = type(self).__name__
            text = f"{who}.plot needs matplotlib: pip install 'skbiasamp[plot]'"
            raise ImportError(text) from error
        if ax is None:
            _, ax = plt.subplots(panels, 1, sharex=True, figsize=size, layout="constrained")
        axes = list(np.ravel(np.asarray(ax, dtype=object)))[:panels]
        if not axes:
            raise InputError("{ax} must be axes of matplotlib, or None; got {seen!r}.", seen=ax)
        self.ax_, self.figure_ = axes[0], axes[0].figure
        return axes


@dataclass(eq=False, repr=False)
class TableDisplay(Display):
    """A Display of a table, which has the columns that are drawn."""

    _needs: ClassVar[tuple[str, ...]]
    _made_by: ClassVar[str]  # what returns such a table
    _drawn_by: ClassVar[str] = "from_result(result)"

    table: pd.DataFrame

    def __post_init__(self) -> None:
        present = self.table.columns if isinstance(self.table, pd.DataFrame) else ()
        lacking = sorted(set(self._needs).difference(present))
        if lacking:
            raise InputError(
                "table must be a data frame as {made_by} is, and lacks the columns {lacking}. "
                "Where it comes from is drawn as a whole by {kind}.{drawn_by}.",
                made_by=self._made_by,
                lacking=quote(lacking),
                kind=type(self).__name__,
                drawn_by=self._drawn_by,
            )

    def _numbers(self, column: str) -> Array:
        """Return numbers of the table, where None is NaN; all of a column that it lacks are NaN."""
        if column not in self.table:
            return np.full(len(self.table), np.nan)
        return self.table[column].to_numpy(float)

    def _strongest(self, column: str, most: int | None) -> Array:
        """Return the positions of the numbers farthest from 0, in their order; NaN comes last."""
        return np.sort(np.argsort(-np.abs(self._numbers(column)), kind="stable")[:most])

    def _left_out(self, column: str, drawn: Array, what: str) -> list[str]:
        """Say how many rows are not among those that are drawn, if any."""
        rest = np.delete(self._numbers(column), drawn)
        undefined = f", {n:,} of them undefined" if (n := np.isnan(rest).sum()) else ""
        text = f"{len(drawn)} {what.format(n=f'{len(self.table):,}')} ({len(rest):,} left out"
        return [f"{text}{undefined})"] if len(rest) else []


@dataclass(eq=False, repr=False)
class PairsDisplay(TableDisplay):
    """What Displays of pairs share: data from a result, from predictions or an estimator."""

    _needs = ("group", "task", "amplification")
    _made_by = "AuditResult.table"

    _: KW_ONLY
    title: str | None = None
    confidence_level: float = 0.95
    group_columns: Sequence[Hashable] = ()
    kind: Any = "signed"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.kind = Kind(self.kind)

    @classmethod
    def from_result(
        cls, result: AuditResult, *, model_name: str | None = None, ax: Any = None, **options: Any
    ) -> Self:
        """Draw a result.

        Parameters
        ----------
        result : AuditResult
            What ``audit`` returned.
        model_name : str, default=None
            Name of the model, for the title.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        **options : dict
            Passed to `plot`.

        Returns
        -------
        display : object
            The Display, drawn.
        """
        instead = 'Pass one result of a report or a dict, such as report["directional A->T"].'
        check_kind(result, AuditResult, "from_result draws one AuditResult", instead)
        level = result.confidence_level
        model = None if model_name is None else literal(_cut(model_name, 40))
        names = ", ".join(filter(None, (model, in_words(result.name))))
        value = "undefined" if math.isnan(result.value) else number(result.value)
        if not math.isnan(result.low):
            value += f" [{number(result.low)}, {number(result.high)}]"
        display = cls(
            result.table,
            title=f"{names}: {result.verdict}\n{value} {result.unit}".rstrip(),
            confidence_level=0.95 if level is None else level,
            group_columns=result.group_columns,
            kind=result.kind,
        )
        return display.plot(ax, **options)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_pred: Any,
        *,
        sensitive_features: Any,
        sensitive_pred: Any = None,
        sample_weight: Any = None,
        auditor: Any = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Audit predictions and draw the result.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,) or (n_samples, n_tasks)
            Labels.
        y_pred : array-like
            Predicted labels or probabilities.
        sensitive_features : array-like of shape (n_samples,) or (n_samples, n_features)
            The sensitive feature.
        sensitive_pred : array-like, optional
            The sensitive feature as predicted by the model.
        sample_weight : array-like of shape (n_samples,), optional
            Weights.
        auditor : auditor, default=None
            A fitted auditor; None is ``DirectionalAuditor(reference="test")``, which takes the
            correlations from the labels that are passed here.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        **options : dict
            Passed to `plot`.

        Returns
        -------
        display : object
            The Display, drawn.
        """
        if auditor is None:
            auditor = DirectionalAuditor(reference="test")
        require_auditor(auditor)
        result = auditor.audit(
            y_true,
            y_pred,
            sensitive_features=sensitive_features,
            sensitive_pred=sensitive_pred,
            sample_weight=sample_weight,
        )
        return cls.from_result(result, ax=ax, **options)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        sensitive_features: Any = None,
        sample_weight: Any = None,
        auditor: Any = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Audit a fitted classifier and draw the result.

        Parameters
        ----------
        estimator : classifier
            A fitted classifier. An `AuditedClassifier` is audited by its own auditor, which
            knows its training labels, unless another one is passed.
        X : array-like or data frame of shape (n_samples, n_features)
            Rows to predict.
        y : array-like of shape (n_samples,) or (n_samples, n_tasks)
            Their labels.
        sensitive_features : array-like of shape (n_samples,) or (n_samples, n_features)
            Their sensitive feature. Not needed if an `AuditedClassifier` finds it in `X`.
        sample_weight : array-like of shape (n_samples,), optional
            Weights.
        auditor : auditor, default=None
            A fitted auditor; None is as in `from_predictions`.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        **options : dict
            Passed to `plot`.

        Returns
        -------
        display : object
            The Display, drawn.
        """
        labels = {"sensitive_features": sensitive_features, "sample_weight": sample_weight}
        options.setdefault("model_name", type(getattr(estimator, "estimator", estimator)).__name__)
        check_instance(estimator, ["predict"], "estimator must be a fitted classifier")
        if auditor is None and hasattr(estimator, "audit"):
            return cls.from_result(estimator.audit(X, y, **labels), ax=ax, **options)
        y_pred = as_classes(estimator.predict(X))
        return cls.from_predictions(y, y_pred, auditor=auditor, ax=ax, **labels, **options)

    @property
    def _axis_names(self) -> dict[str, str]:
        """Names of both axes: the sensitive feature, if its name is known, and the task."""
        feature = " ".join(", ".join(map(str, self.group_columns)).split())
        return {"group": literal(_cut(feature, 40)) or "group", "task": "task"}

    def _names(self, role: str, names: Iterable[Hashable]) -> dict[Hashable, str]:
        """Return groups or tasks as labels."""
        columns = self.group_columns if role == "group" else ()
        return short_labels(names, JOINTS[role], columns, width=max(28, 20 * len(columns)))

    @property
    def _tested(self) -> Array | None:
        """Return which pairs are significant, or None if there is neither test nor interval.

        A pair without a clear direction may change in the other direction than is drawn.
        """
        p_adjusted, low, high = map(self._numbers, ("p_adjusted", "low", "high"))
        if np.isnan([p_adjusted, low, high]).all():
            return None
        check_number("confidence_level", self.confidence_level)
        return significant(p_adjusted, low, high, self.confidence_level) & ~self._uncertain

    @property
    def _uncertain(self) -> Array:
        """Return which pairs have no clear direction in the labels."""
        clear = self.table.get("direction_clear", pd.Series(True, self.table.index))
        return np.array([value is False for value in clear.tolist()], bool)

    @property
    def _along(self) -> tuple[Array, Array, Array]:
        """Return the change of each pair along the association in the labels, with its interval."""
        low, high = self._numbers("low"), self._numbers("high")
        if "change" not in self.table:
            return self._numbers("amplification"), low, high
        sign = self._numbers("sign")
        ends = np.sort([sign * low, sign * high], axis=0)
        return sign * self._numbers("change"), ends[0], ends[1]

    @property
    def _unclear(self) -> str:
        """Return what pairs that are not significant have in common."""
        if "p_adjusted" not in self.table or self.table["p_adjusted"].isna().all():
            text = "interval includes 0"
        else:
            text = f"not significant (adjusted p ≥ {round(1 - self.confidence_level, 12):g})"
        return text + ", or direction unclear" * bool(self._uncertain.any())


def check_kind(value: object, kind: type, made_by: str, instead: str = "") -> None:
    """Raise unless a Display is given what it draws."""
    if not isinstance(value, kind):
        text = "{made_by}, got {seen}. {instead}"
        raise InputTypeError(text, made_by=made_by, seen=type(value).__name__, instead=instead)


def tidy(ax: Any, title: str | None = None, **grid: Any) -> None:
    """Draw a title and a grid behind the data, and no frame."""
    if title is not None:
        ax.set_title(title, fontsize="medium")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(**{"color": "0.9", **grid})
    ax.set_axisbelow(True)


def name_sides(ax: Any, sides: str, axis: str = "x") -> None:
    """Write what the sides of 0 mean beside it, in a new first line of the label of an axis."""
    label = getattr(ax, f"{axis}axis").label
    label.set_text(f" \n{label.get_text()}")
    *less, more = sides.split("  |  ")
    for text, way in zip((more, *less), (1, -1), strict=False):
        if axis == "x":
            look = {"ha": "left" if way > 0 else "right", "va": "top"}
            place: Any = ((0, 1), (6 * way, 0), ("data", label))
        else:
            look = {"ha": "left", "va": "bottom" if way > 0 else "top", "rotation": "vertical"}
            place = ((0, 0), (0, 6 * way), (label, "data"))
        ax.annotate(text, *place, textcoords="offset points", **look)


def space_of(ax: Any, columns: int, rows: int) -> tuple[float, float]:
    """Return the width and height, in points, that each of so many cells has in the axes."""
    figure = ax.figure.canvas.figure  # of a subfigure, the whole
    figure.draw_without_rendering()  # only then has the layout made room for labels
    box = ax.get_window_extent()
    return 72 / figure.dpi * box.width / columns, 72 / figure.dpi * box.height / rows


def contrast(colour: Any, dark: Any, light: Any) -> Any:
    """Return which of two colours is seen on a third."""
    return light if np.dot(colour[:3], [0.299, 0.587, 0.114]) < 0.5 else dark


def fitting(*limits: float) -> float:
    """Return the font size that keeps within limits, but can still be read."""
    return max(min(FONT, *limits), SMALLEST)


def short_label(name: Hashable) -> str:
    """Return one name as a label."""
    return short_labels([name], ", ")[name]


def short_labels(
    names: Iterable[Hashable], joint: str, columns: Sequence[Hashable] = (), width: int = 28
) -> dict[Hashable, str]:
    """Return names as labels: long ones cut in their middle, as little as keeps them apart.

    `joint` stands between the parts of a combination, unless its `columns` are known.
    """
    texts = {
        name: group_of(name, columns)
        if isinstance(name, tuple) and len(name) == len(columns)
        else name_of(name, joint)
        for name in names
    }
    for size in count(width, 4):
        labels = {name: _cut(text, size) for name, text in texts.items()}
        if len(set(labels.values())) == len(set(texts.values())):
            break
    # matplotlib would set what stands between dollar signs as a formula.
    return {name: literal(label) for name, label in labels.items()}


def literal(text: object) -> str:
    """Return text that Matplotlib does not take for a formula."""
    return str(text).replace("$", r"\$")


def _cut(text: str, width: int) -> str:
    if len(text) <= width:
        return text
    tail = width // 3
    return f"{text[: width - tail - 1].rstrip()}…{text[-tail:].lstrip()}"
