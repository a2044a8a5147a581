"""Names and numbers as a person would write them, and what an interval says."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

_LONGEST, _HEAD = 80, 50  # characters; names may differ at either end


def name_of(name: Any) -> str:
    """Return a group's or task's name on one line: tuples joined, long ones cut inside."""
    if isinstance(name, tuple | list):
        text = " and ".join(map(name_of, name))
    else:
        text = "missing" if name is None else str(name)
    # Half of a surrogate pair or a control character would spoil a file.
    text = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in _one_line(text))
    return text if len(text) <= _LONGEST else f"{text[:_HEAD]}…{text[_HEAD + 1 - _LONGEST :]}"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def listed(names: Sequence[str]) -> str:
    """Return names as a sentence lists them."""
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def number(value: Any, form: str = "+.4f") -> str:
    """Return a number with a true minus, and a dash where there is none."""
    if value is None or math.isnan(value):
        return "–"
    text = format(value, form)
    # A value that rounds to 0 has no side.
    return text.replace("-", "−") if text.strip("+-0.") else text.lstrip("+-")


def rate(value: Any) -> str:
    """Return a share of 1 in per cent."""
    return "–" if value is None or math.isnan(value) else f"{value:.1%}"


def p_value(value: Any) -> str:
    """Return a p-value, to three places."""
    if value is None or math.isnan(value):
        return "–"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def verdict(value: float | None, low: float | None, high: float | None) -> str:
    """Return on which side of 0 an interval lies.

    One of "undefined", "unknown" (without an interval), "zero" (nothing but 0), "above", "below"
    and "across".
    """
    if value is None or math.isnan(value):
        return "undefined"
    if low is None or high is None or math.isnan(low):
        return "unknown"
    if low == high == 0:
        return "zero"
    if low > 0:
        return "above"
    return "below" if high < 0 else "across"
