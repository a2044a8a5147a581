"""Where the lines of decisions at thresholds stand, and their numbers at one of them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from skbiasamp.render.document import Slider

_WIDTH, _HEIGHT, _LEFT, _RIGHT = 720, 340, 58, 14
_TOP, _MIDDLE, _LOWER, _BOTTOM = 12, 190, 220, 330
_MOST = 6  # groups that have a line


def lines(slider: Slider) -> dict[str, Any]:
    """Return the lines of a picture: rates of groups and accuracy above, amplification below."""
    rates, accuracy, amplification = numbers(slider)
    n = len(accuracy) - 1
    size = max([abs(value) for value in amplification] + [slider.limit or 0.0]) or 1.0

    def x(at: int) -> float:
        return round(_LEFT + (_WIDTH - _LEFT - _RIGHT) * at / n, 1)

    def low(value: float) -> float:
        return round((_LOWER + _BOTTOM) / 2 - value / size * (_BOTTOM - _LOWER) / 2, 1)

    def line(values: list[float], y: Any) -> str:
        return " ".join(f"{x(at)},{y(value)}" for at, value in enumerate(values))

    def high(value: float) -> float:
        return round(_MIDDLE - value * (_MIDDLE - _TOP), 1)

    limits = [] if slider.limit is None else [low(slider.limit), low(-slider.limit)]
    return {
        "width": _WIDTH,
        "height": _HEIGHT,
        "left": _LEFT,
        "right": _WIDTH - _RIGHT,
        "x": x(slider.start),
        "rates": [line(values, high) for values in rates[:_MOST]],
        "accuracy": line(accuracy, high),
        "amplification": line(amplification, low),
        "limits": limits,
        "ticks": [(high(1), "100 %"), (high(0.5), "50 %"), (high(0), "0 %")],
        "zero": low(0),
        "sizes": [(low(size), size), (low(-size), -size)],
        "at": {
            "rates": [values[slider.start] for values in rates],
            "accuracy": accuracy[slider.start],
            "amplification": amplification[slider.start],
            "gap": _gap(slider, rates),
        },
        "json": json.dumps(
            {
                "groups": slider.above,
                "signs": slider.signs,
                "counted": slider.counted,
                "thresholds": slider.thresholds,
                "limit": slider.limit,
                "x": [x(at) for at in range(n + 1)],
            }
        ),
    }


def _gap(slider: Slider, rates: list[list[float]]) -> float:
    """Return how far the rates of the groups that count are apart."""
    now = [values[slider.start] for values, of in zip(rates, slider.counted, strict=True) if of]
    return max(now) - min(now)


def numbers(slider: Slider) -> tuple[list[list[float]], list[float], list[float]]:
    """Return at each threshold the rate of each group, the accuracy and the amplification."""
    others, labelled = np.moveaxis(np.array(slider.above, dtype=float), 1, 0)
    sizes = (others + labelled)[:, :1]  # all rows are above the first threshold
    rates = (others + labelled) / sizes
    right = others[:, :1] - others + labelled
    changes = rates - labelled[:, :1] / sizes
    changes -= (changes * sizes).sum(axis=0) / sizes.sum()  # what everybody shares is no gap
    gaps = np.array(slider.signs)[:, None] * changes
    accuracy, amplification = right.sum(axis=0) / sizes.sum(), gaps.mean(axis=0)
    return rates.tolist(), accuracy.tolist(), amplification.tolist()
