"""Where the lines of decisions at thresholds stand, and their numbers at one of them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from skbiasamp._utils.formatting import INCONCLUSIVE, OUTSIDE, WITHIN
from skbiasamp.render.document import Slider

_WIDTH, _HEIGHT, _LEFT, _RIGHT = 720, 340, 58, 14
_TOP, _MIDDLE, _LOWER, _BOTTOM = 12, 190, 220, 330
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

    def x(at: int) -> float:
        return round(_LEFT + (_WIDTH - _LEFT - _RIGHT) * (at - 1) / max(n - 1, 1), 1)

    def low(value: float) -> float:
        return round((_LOWER + _BOTTOM) / 2 - value / size * (_BOTTOM - _LOWER) / 2, 1)

    def line(values: list[float], y: Any) -> str:
        return " ".join(f"{x(at)},{y(value)}" for at, value in enumerate(values) if at)

    def high(value: float) -> float:
        return round(_MIDDLE - value * (_MIDDLE - _TOP), 1)

    lower, upper = (line(end.tolist(), low) for end in ends[1])
    limits = [] if slider.limit is None else [low(slider.limit), low(-slider.limit)]
    return {
        "width": _WIDTH,
        "height": _HEIGHT,
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
            "gap": _gap(slider, rates),
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


def _gap(slider: Slider, rates: list[list[float]]) -> float:
    """Return how far the rates of the groups that count are apart, as these are shown."""
    counted = zip(rates, slider.counted, strict=True)
    now = [round(values[slider.start], 3) for values, counts in counted if counts]
    return max(now) - min(now)


def against_limit(low: float, high: float, limit: float) -> str:
    """Return where an interval lies."""
    if max(-low, high) <= limit:
        return WITHIN
    if high < -limit:
        return OUTSIDE
    return OUTSIDE if low > limit else INCONCLUSIVE
