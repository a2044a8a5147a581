"""Coordinates of the picture of a value over time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from skbiasamp._utils.formatting import listed, number
from skbiasamp.render.document import Chart, Scatter
from skbiasamp.render.periods import running_mean, typical

_WIDTH, _HEIGHT = 720, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 14, 30, 44
_MOST_LABELS, _MOST_DOTS, _FEW, _MOST_NAMES = 8, 120, 5, 6
_NEAR = 90  # beside a line: the name of a version takes so much
_DRAWN = ("value", "low", "high", "expected")


def coordinates(chart: Chart) -> dict[str, Any]:
    """Return where everything of a picture stands."""
    periods = chart.periods
    of_size = typical([row["n"] for row in periods])
    kept = [row for row, is_typical in zip(periods, of_size, strict=True) if is_typical]
    values = [row[key] for row in kept for key in _DRAWN if row[key] is not None]
    ends = min(*values, chart.reference), max(*values, chart.reference)
    y = _Scale(*ends, _HEIGHT - _BOTTOM, _TOP)
    low, high = y.ends
    step = (_WIDTH - _LEFT - _RIGHT) / len(periods)

    def x(i: float) -> float:
        return round(_LEFT + (i + 0.5) * step, 2)

    def start(i: float) -> float:
        return round(x(i) - step / 2, 2)

    def line(points: Sequence[tuple[int, float]]) -> str:
        return " ".join(f"{x(i)},{y(value)}" for i, value in points)

    def marks(indices: Sequence[int]) -> list[dict[str, Any]]:
        return [
            {"x": x(i), "y": y(periods[i]["value"]), "says": _says(periods[i])} for i in indices
        ]

    at = {row["period"]: i for i, row in enumerate(periods)}
    known = [i for i, row in enumerate(periods) if row["value"] is not None]
    roles = [i for i, row in enumerate(periods) if row["role"] == "reference"]
    alarms = [i for i in known if periods[i]["alarm"]]
    few = len(periods) <= _MOST_DOTS
    n_mean, means = running_mean(*([row[key] for row in periods] for key in ("value", "n")))
    every = max(1, math.ceil(len(periods) / _MOST_LABELS))
    first = start(alarms[0]) if alarms else math.inf
    versions = []
    for period, name in chart.versions:
        at_line = start(at[period])
        # On the other side of its line if the line of the first alarm would cross it.
        left = at_line < first < at_line + _NEAR and at_line > _LEFT + _NEAR
        versions.append({"x": at_line, "left": left, "name": f"version {name}"})
    beyond = [
        row["period"]
        for row in periods
        if any(row[key] is not None and not low <= row[key] <= high for key in _DRAWN)
    ]
    return {
        "width": _WIDTH,
        "height": _HEIGHT,
        "left": _LEFT,
        "right": _WIDTH - _RIGHT,
        "top": _TOP,
        "bottom": _HEIGHT - _BOTTOM,
        "bands": [
            f"{line([(i, row['high']) for i, row in run])} "
            f"{line([(i, row['low']) for i, row in reversed(run)])}"
            for run in _runs(periods, "low")
        ],
        "lines": [line([(i, row["value"]) for i, row in run]) for run in _runs(periods, "value")],
        "mean": "" if few else line([(i, m) for i, m in enumerate(means) if not math.isnan(m)]),
        "n_mean": n_mean,
        "dots": marks(known) if few else [],
        "alarms": marks(alarms) if few else [],
        "alarm": {"x": first, "name": periods[alarms[0]]["period"]} if alarms else None,
        "since": None if chart.onset is None else start(at[chart.onset]),
        "reference": y(chart.reference),
        "span": (start(roles[0]), round(step * (roles[-1] - roles[0] + 1), 2)) if roles else None,
        "versions": versions,
        # Names beside lines that stand close would cover one another.
        "version_names": versions if len(versions) <= _FEW else [],
        "ticks": [(y(tick), number(tick, "+.3g") if tick else "0") for tick in _ticks(low, high)],
        "labels": [(x(i), row["period"]) for i, row in enumerate(periods) if i % every == 0],
        "beyond": f"{listed(beyond, _MOST_NAMES)}: few rows, and values or intervals beyond the "
        "picture."
        if beyond
        else "",
    }


def places(scatter: Scatter) -> dict[str, Any]:
    """Return where the points of a picture stand, and the line of those that none beats."""
    limit = scatter.limit or 0
    ends = [end for point in scatter.points for end in point[3:]] + [-limit, limit, 0.0]
    scores = [point[1] for point in scatter.points]
    x = _Scale(min(scores), max(scores), _LEFT, _WIDTH - _RIGHT)
    y = _Scale(min(ends), max(ends), _HEIGHT - _BOTTOM, _TOP)
    front, nearest = [], math.inf
    for _, score, value, *_ in sorted(scatter.points, key=lambda point: (-point[1], abs(point[2]))):
        if abs(value) < nearest:
            front.append(f"{x(score)},{y(value)}")
            nearest = abs(value)
    return {
        "width": _WIDTH,
        "height": _HEIGHT,
        "left": _LEFT,
        "right": _WIDTH - _RIGHT,
        "bottom": _HEIGHT - _BOTTOM,
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
        "ticks": [(y(tick), number(tick, "+.3g") if tick else "0") for tick in _ticks(*y.ends)],
        "labels": [(x(tick), number(tick, ".3g")) for tick in _ticks(*x.ends)],
    }


class _Scale:
    """Positions of numbers on an axis, with a margin at its ends; numbers beyond stand there."""

    def __init__(self, low: float, high: float, start: float, end: float) -> None:
        margin = 0.06 * (high - low) or 0.01
        self.ends = low - margin, high + margin
        self._start, self._size = start, (end - start) / (high - low + 2 * margin)

    def __call__(self, value: float) -> float:
        low, high = self.ends
        return round(self._start + (min(max(value, low), high) - low) * self._size, 2)


def _says(row: Mapping[str, Any]) -> str:
    text = f"{row['period']}: {number(row['value'])}"
    if row["low"] is not None:
        text += f" ({number(row['low'])} to {number(row['high'])})"
    return text + f", {number(row['n'], ',.15g')} rows" + ", alarm" * row["alarm"]


def _runs(periods: Sequence[Mapping[str, Any]], key: str) -> list[list[tuple[int, Any]]]:
    """Return stretches of periods that have a value; a line does not cross a gap."""
    runs: list[list[tuple[int, Any]]] = [[]]
    for i, row in enumerate(periods):
        if row[key] is None:
            runs.append([])
        else:
            runs[-1].append((i, row))
    return [run for run in runs if run]


def _ticks(low: float, high: float) -> list[float]:
    size = (high - low) / 4
    power = 10.0 ** math.floor(math.log10(size))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if size <= factor * power)
    first = math.ceil(low / step)
    return [round(i * step, 12) for i in range(first, math.floor(high / step) + 1)]
