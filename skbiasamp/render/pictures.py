"""The picture of a value over time, and of scores: what it holds, and where on a page it stands."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from skbiasamp._input.checks import Array
from skbiasamp._input.errors import InputError
from skbiasamp._utils.formatting import (
    INCONCLUSIVE,
    OUTSIDE,
    WITHIN,
    amount,
    listed,
    number,
    rate,
)
from skbiasamp.render.document import Chart, Dumbbell, GapBar, Scatter, Slider, round_number


class Picture(NamedTuple):
    """What a picture shows, by the positions of periods; numbers that lack are NaN."""

    names: list[str]
    value: Array
    low: Array
    high: Array
    span: Array  # the periods of the reference
    alarms: Array
    onset: int | None
    versions: list[tuple[int, Any]]  # where each begins
    ends: tuple[float, float]
    beyond: list[str]  # periods with numbers outside
    n_mean: int  # periods of a mean
    mean: Array

    @classmethod
    def of(
        cls, periods: pd.DataFrame, reference: float | None, onset: Any, versions: Any
    ) -> Picture:
        """Return the picture of a table of periods, some columns of which may lack."""
        names = [str(period) for period in periods["period"]]
        columns = periods.reindex(columns=[*_DRAWN, "alarm", "n"]).astype(float)
        *drawn, alarm, n = columns.to_numpy().T
        value, low, high, _ = drawn
        kept = np.append(np.stack(drawn)[:, typical(n)], np.nan if reference is None else reference)
        least, most = with_margins(kept[~np.isnan(kept)])
        beyond = ((np.stack(drawn) < least) | (np.stack(drawn) > most)).any(axis=0)
        role = periods["role"] if "role" in periods else np.array([""])
        return cls(
            names,
            value,
            low,
            high,
            np.flatnonzero(role == "reference"),
            np.flatnonzero((alarm == 1) & ~np.isnan(value)),
            names.index(str(onset)) if str(onset) in names else None,
            [(names.index(str(first)), name) for first, name in versions if str(first) in names],
            (least, most),
            [names[i] for i in np.flatnonzero(beyond)],
            *running_mean(value, n),
        )


def with_margins(numbers: Array) -> tuple[float, float]:
    """Return the ends of an axis for numbers."""
    low, high = (float(numbers.min()), float(numbers.max())) if len(numbers) else (0.0, 0.0)
    margin = 0.06 * (high - low) or 0.01
    return low - margin, high + margin


def typical(n: Iterable[float]) -> list[bool]:
    """Return which periods have about as many rows as most: others may not squeeze a picture."""
    every = list(n)
    known = sorted(rows for rows in every if rows > 0)
    least = _SMALL * known[len(known) // 2] if known else 0
    return [not rows < least for rows in every]  # of an unknown number, too


def running_mean(values: Array, n: Array) -> tuple[int, Array]:
    """Return means over the last periods, by their rows, and of how many: single ones vary much."""
    size = max(1, len(values) // _PARTS)
    value = pd.Series(values)
    rows = pd.Series(n).where(value.notna(), 0.0)
    total = rows.rolling(size).sum()
    sums = (value.fillna(0.0) * rows).rolling(size).sum()
    return size, (sums / total.where(total > 0)).to_numpy()


_DRAWN = ["value", "low", "high", "expected"]
_PARTS = 20
_SMALL = 0.1  # of the rows of the middle period


# --------------------------------------------------------------------------- on a page

_WIDTH, _HEIGHT = 720, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 14, 30, 44
_FRAME = {"width": _WIDTH, "height": _HEIGHT, "left": _LEFT, "right": _WIDTH - _RIGHT}
_FRAME |= {"top": _TOP, "bottom": _HEIGHT - _BOTTOM}
_MOST_LABELS, _MOST_DOTS, _FEW, _MOST_NAMES = 8, 120, 5, 6
_NEAR = 90  # beside a line: the name of a version takes so much


def coordinates(chart: Chart) -> dict[str, Any]:
    """Return where everything of a picture stands."""
    periods = chart.periods
    picture = Picture.of(pd.DataFrame(periods), chart.reference, chart.onset, chart.versions)
    y = _Scale(picture.ends, _HEIGHT - _BOTTOM, _TOP)
    step = (_WIDTH - _LEFT - _RIGHT) / len(periods)

    def x(i: float) -> float:
        return round(_LEFT + (i + 0.5) * step, 2)

    def start(i: float) -> float:
        return round(x(i) - step / 2, 2)

    def line(positions: Iterable[int], values: Array) -> str:
        return " ".join(f"{x(i)},{y(values[i])}" for i in positions)

    form = "+.1f" if chart.unit == "points" else "+.4f"

    def marks(positions: Iterable[int]) -> list[dict[str, Any]]:
        return [
            {"x": x(i), "y": y(picture.value[i]), "says": _says(periods[i], form)}
            for i in positions
        ]

    few = len(periods) <= _MOST_DOTS
    every = max(1, math.ceil(len(periods) / _MOST_LABELS))
    first = start(picture.alarms[0]) if len(picture.alarms) else math.inf
    versions = []
    for i, name in picture.versions:
        # On the other side of its line if the line of the first alarm would cross it.
        left = start(i) < first < start(i) + _NEAR and start(i) > _LEFT + _NEAR
        versions.append({"x": start(i), "left": left, "name": f"version {name}"})
    span = picture.span.tolist()
    beyond = listed(picture.beyond, _MOST_NAMES) if picture.beyond else ""
    return _FRAME | {
        "bands": [
            f"{line(run, picture.high)} {line(reversed(run), picture.low)}"
            for run in _runs(picture.low)
        ],
        "lines": [line(run, picture.value) for run in _runs(picture.value)],
        "mean": "" if few else line(np.flatnonzero(~np.isnan(picture.mean)), picture.mean),
        "n_mean": picture.n_mean,
        "dots": marks(np.flatnonzero(~np.isnan(picture.value))) if few else [],
        "alarms": marks(picture.alarms) if few else [],
        "alarm": {"x": first, "name": picture.names[picture.alarms[0]]}
        if len(picture.alarms)
        else None,
        "since": None if picture.onset is None else start(picture.onset),
        "reference": y(chart.reference),
        "span": (start(span[0]), round(step * (span[-1] - span[0] + 1), 2)) if span else None,
        "versions": versions,
        # Names beside lines that stand close would cover one another.
        "version_names": versions if len(versions) <= _FEW else [],
        "ticks": _ticks(y),
        "labels": [(x(i), name) for i, name in enumerate(picture.names) if i % every == 0],
        "beyond": beyond and f"{beyond}: few rows, and values or intervals beyond the picture.",
    }


def places(scatter: Scatter) -> dict[str, Any]:
    """Return where the points of a picture stand, and the line of those that none beats."""
    limit = scatter.limit or 0
    ends = [end for point in scatter.points for end in point[3:]] + [-limit, limit, 0.0]
    scores = [point[1] for point in scatter.points]
    x = _Scale(with_margins(np.array(scores)), _LEFT, _WIDTH - _RIGHT)
    y = _Scale(with_margins(np.array(ends)), _HEIGHT - _BOTTOM, _TOP)
    front, nearest = [], math.inf
    for _, score, value, *_ in sorted(scatter.points, key=lambda point: (-point[1], abs(point[2]))):
        if abs(value) < nearest:
            front.append(f"{x(score)},{y(value)}")
            nearest = abs(value)
    return _FRAME | {
        "zero": y(0),
        "limit": (y(limit), round(y(-limit) - y(limit), 2)) if limit else None,
        "front": " ".join(front),
        "points": [
            {
                "x": x(score),
                "y": y(value),
                "low": y(low),
                "high": y(high),
                "best": name == scatter.best,
                "says": f"{name}: {number(value)} ({number(low)} to {number(high)}), "
                f"{scatter.x} {number(score, '.3f')}",
            }
            for name, score, value, low, high in scatter.points
        ],
        "ticks": _ticks(y),
        "labels": _ticks(x, ".3g"),
    }


class _Scale:
    """Positions of numbers on an axis; numbers beyond its ends stand there."""

    def __init__(self, ends: tuple[float, float], start: float, end: float) -> None:
        self.ends = low, high = ends
        self._start, self._size = start, (end - start) / (high - low)

    def __call__(self, value: float) -> float:
        low, high = self.ends
        return round(self._start + (min(max(value, low), high) - low) * self._size, 2)


def _says(row: Mapping[str, Any], form: str) -> str:
    text = f"{row['period']}: {number(row['value'], form)}"
    if row["low"] is not None:
        text += f" ({number(row['low'], form)} to {number(row['high'], form)})"
    return text + f", {number(row['n'], ',.15g')} rows" + ", alarm" * row["alarm"]


def _runs(values: Array) -> list[range]:
    """Return stretches of periods that have a value; a line does not cross a gap."""
    stretches = np.ma.clump_unmasked(np.ma.masked_invalid(values))  # type: ignore[no-untyped-call]
    return [range(stretch.start, stretch.stop) for stretch in stretches]


def _ticks(scale: _Scale, form: str = "+.3g") -> list[tuple[float, str]]:
    """Return positions and texts of round numbers on an axis."""
    low, high = scale.ends
    step = round_number((high - low) / 4)
    multiples = range(math.ceil(low / step), math.floor(high / step) + 1)
    ticks = [round(i * step, 12) for i in multiples]
    return [(scale(tick), number(tick, form) if tick else "0") for tick in ticks]


# --------------------------------------------------------------------------- numbers beside marks

_PHONE, _DESK = 276, 340  # pixels of a picture on the narrowest phone, and on a wide page
_LEAST = 234  # pixels in which 75 and 100 % are apart
_BESIDE = 15  # how far a number is from its mark
_DIGIT, _LETTER = 9, 7.5  # how wide each is
_PADDING, _FAR = 12, 74  # to the right of a picture, as page.css has them


def written(value: float | None, unit: str) -> str:
    """Return a number as a picture has it."""
    if unit in ("value", "points"):
        return number(value, "+.1f" if unit == "points" else "+.4f")
    return amount(value) if unit else rate(value)


def space(picture: Dumbbell, *, far: bool) -> dict[str, float]:
    """Return what the outermost numbers need, `l` and `r` in pixels, and where they stand.

    `p` and `q` are the shares of the width outside of them. A `tight` picture is small on a phone.
    """
    ends = [
        sorted((mark.before, mark.after))
        for mark in picture.marks
        if mark.numbers and mark.before is not None and mark.after is not None
    ]
    if not ends:
        return {}
    left, right = (
        _BESIDE + _DIGIT * max(len(written(value, picture.unit)) for value in side)
        for side in zip(*ends, strict=True)
    )
    first, last = min(low for low, _ in ends), max(high for _, high in ends)
    p, q = round(picture.axis.share(first), 4), round(1 - picture.axis.share(last), 4)
    has_tails = any(mark.tail for mark in picture.marks)
    width = _PHONE - (_FAR - _PADDING) * (far or has_tails)
    right = max(0, right - (_FAR if far else _PADDING))
    sides = (left, p), (right, q), (left + right, min(p + q, 0.95))
    tight = min((width - needed) / (1 - share) for needed, share in sides) < _LEAST
    return {"p": p, "l": left, "q": q, "r": right, "tight": tight}


def text_of_gap(picture: Dumbbell, bar: GapBar) -> dict[str, Any]:
    """Return on which side of its bar a text stands, and whether phones and pages have space."""
    axis = picture.axis
    left = axis.is_far(bar.end + 0.1 * (axis.high - axis.low))
    share = axis.share(bar.start) if left else 1 - axis.share(bar.end)
    needed = _BESIDE + _LETTER * len(bar.text) - (0 if left else _PADDING)
    return {"left": left, "phone": share * _PHONE > needed, "desk": share * _DESK > needed}


# --------------------------------------------------------------------------- thresholds of a score

_SLIDER_HEIGHT = 340
_HIGHEST, _MIDDLE, _LOWER, _LOWEST = 12, 190, 220, 330  # ends of the rates, and of the value
_MOST = 6  # groups that have a line


def lines(slider: Slider) -> dict[str, Any]:
    """Return the lines of a picture: rates of groups and accuracy above, amplification below."""
    rates, *values = *Slider.numbers(slider.above), slider.amplification
    reach = np.array(slider.reach)
    ends = np.stack(values)[:, None] + np.stack([-reach, reach], axis=1)
    rates, accuracy, amplification = (np.asarray(numbers).tolist() for numbers in (rates, *values))
    n = len(accuracy) - 1
    size = max(float(np.abs(ends[1, :, 1:]).max()), slider.limit or 0.0) or 1.0
    spans = [*np.clip(ends[:1, :, slider.start], 0, 1).tolist(), ends[1, :, slider.start].tolist()]

    # If there are many, the groups with enough rows whose rates are furthest apart.
    order = sorted(range(len(rates)), key=lambda at: rates[at][slider.start])
    if len(order) > _MOST:
        order = [at for at in order if slider.counted[at]]
    drawn = sorted({*order[: _MOST // 2], *order[-_MOST // 2 :]})

    least, most = spans[1]
    # How far the rates of the groups that count are apart, as these are shown.
    counted = zip(rates, slider.counted, strict=True)
    now = [round(values[slider.start], 3) for values, counts in counted if counts]

    def x(at: int) -> float:
        return round(_LEFT + (_WIDTH - _LEFT - _RIGHT) * (at - 1) / max(n - 1, 1), 1)

    def low(value: float) -> float:
        return round((_LOWER + _LOWEST) / 2 - value / size * (_LOWEST - _LOWER) / 2, 1)

    def line(values: list[float], y: Any) -> str:
        return " ".join(f"{x(at)},{y(value)}" for at, value in enumerate(values) if at)

    def high(value: float) -> float:
        return round(_MIDDLE - value * (_MIDDLE - _HIGHEST), 1)

    lower, upper = (line(end.tolist(), low) for end in ends[1])
    limits = [] if slider.limit is None else [low(slider.limit), low(-slider.limit)]
    return {
        "width": _WIDTH,
        "height": _SLIDER_HEIGHT,
        "left": _LEFT,
        "right": _WIDTH - _RIGHT,
        "x": x(slider.start),
        "rates": [(slider.groups[at], line(rates[at], high)) for at in drawn],
        "n_left_out": len(rates) - len(drawn),
        "accuracy": line(accuracy, high),
        "amplification": line(amplification, low),
        "band": " ".join([lower, *upper.split()[::-1]]),
        "limits": limits,
        "ticks": [(high(1), "100 %"), (high(0.5), "50 %"), (high(0), "0 %")],
        "zero": low(0),
        "sizes": [(low(size), size), (low(-size), -size)],
        "at": {
            "rates": [values[slider.start] for values in rates],
            "accuracy": accuracy[slider.start],
            "amplification": amplification[slider.start],
            "gap": max(now) - min(now),
            "spans": spans,
            "verdict": "" if slider.limit is None else against_limit(least, most, slider.limit),
        },
        "json": json.dumps(
            {
                "groups": slider.above,
                "amplification": [None, *amplification[1:]],
                "counted": slider.counted,
                "thresholds": slider.thresholds,
                "limit": slider.limit,
                "reach": slider.reach,
                "x": [x(at) for at in range(n + 1)],
            }
        ),
    }


def against_limit(low: float, high: float, limit: float) -> str:
    """Return where an interval lies."""
    if max(-low, high) <= limit:
        return WITHIN
    if high < -limit:
        return OUTSIDE
    return OUTSIDE if low > limit else INCONCLUSIVE


# --------------------------------------------------------------------------- with matplotlib

# Colours of pages; each has one meaning.
COLOURS = {"up": "#cf5a06", "down": "#1f6bb5", "rev": "#8a3200", "unc": "#727a84"}
_INK, _BAND = "#1b1f24", "#d9dde2"


def draw_dumbbell(picture: Dumbbell, ax: Any = None) -> Any:
    """Draw rates before and after; return the axes."""
    try:
        from matplotlib import pyplot as plt
    except ImportError as error:
        raise ImportError("plot needs matplotlib: pip install 'skbiasamp[plot]'") from error
    if ax is None:
        height = 1.2 + 0.45 * len(picture.marks)
        _, ax = plt.subplots(figsize=(7, height), layout="constrained")
    elif not hasattr(ax, "set_yticks"):
        raise InputError("{ax} must be axes of matplotlib, or None; got {seen!r}.", seen=ax)
    marks = [mark for mark in picture.marks if mark.before is not None and mark.after is not None]
    for y, mark in enumerate(marks):
        ends = [float(mark.before or 0.0), float(mark.after or 0.0)]
        ax.plot(ends, [y, y], color=COLOURS.get(mark.tone, _INK), linewidth=4, zorder=1)
        if mark.band is not None:
            ax.plot(mark.band, [y, y], color=_BAND, linewidth=14, solid_capstyle="butt", zorder=0)
        ax.scatter(ends[:1], [y], s=70, facecolor="white", edgecolor=_INK, linewidth=2, zorder=3)
        ax.scatter(ends[1:], [y], s=55, color=_INK, zorder=2)
    ax.set_yticks(range(len(marks)), [mark.name for mark in marks])
    ax.invert_yaxis()
    ax.set_xlim(picture.axis.low, picture.axis.high)
    if picture.axis.percent:
        ax.xaxis.set_major_formatter(lambda share, _: f"{100 * share:.0f} %")
    before, after = picture.sides
    ax.set_xlabel(f"ring: {before}, dot: {after}")
    ax.set_title(picture.caption)
    return ax
