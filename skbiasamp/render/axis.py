"""The axis of a table's marks."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Axis:
    """A scale that includes 0, and the positions of numbers on it."""

    low: float
    high: float
    percent: bool = False
    limit: float | None = None  # where a line is drawn

    @classmethod
    def around(
        cls,
        values: Iterable[float | None],
        *,
        percent: bool = False,
        limit: float | None = None,
        balanced: bool = False,
    ) -> Axis:
        """Return the least axis of round ends that holds all values; balanced, 0 in its middle."""
        known = [value for value in values if value is not None and math.isfinite(value)]
        known += [-value for value in known] if balanced else []
        low, high = round_number(-min([0, *known])), round_number(max([0, *known]))
        if low == high == 0:
            high = 1.0 if percent else 0.01
        return cls(-low, high, percent, limit)

    def at(self, value: float) -> str:
        """Return the position of a value or, beyond an end, of it; margins hold marks there."""
        inside = min(max(value, self.low), self.high)
        return f"{3 + 94 * (inside - self.low) / (self.high - self.low):.2f}%"

    def wide(self, start: float, end: float) -> str:
        """Return how wide a span of values is."""
        start, end = (min(max(value, self.low), self.high) for value in (start, end))
        return f"{94 * (end - start) / (self.high - self.low):.2f}%"

    @property
    def ticks(self) -> list[tuple[str, str, str]]:
        """Position, text and anchor of 0, of the limit, and of ends that are not close to 0."""
        form, scale = ("{:.3g} %", 100) if self.percent else ("{:+.3g}", 1)
        ends = {self.low: "start", self.high: "end"}
        # A label beside the 0 reads as one number with it.
        near = 0.5 * max(-self.low, self.high)
        ends = {end: anchor for end, anchor in ends.items() if end == 0 or abs(end) > near}
        middle = {} if 0 in ends else {0.0: "middle"}
        if self.limit is not None:
            form, middle = "{:.3g}", {**middle, self.limit: "middle"}
        return [
            (
                self.at(value),
                "0" if value == 0 else form.format(scale * value).replace("-", "−"),
                anchor,
            )
            for value, anchor in sorted({**ends, **middle}.items())
        ]

    @property
    def grid(self) -> list[tuple[str, str]]:
        """Position and text of round numbers from end to end."""
        step = 0.25 if self.percent else round_number((self.high - self.low) / 5)
        times = range(math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9) + 1)
        values = [round(i * step, 12) for i in times]
        texts = [f"{100 * v if self.percent else v:.6g}".replace("-", "−") for v in values]
        texts[-1] += " %" * self.percent
        return [(self.at(value), text) for value, text in zip(values, texts, strict=True)]


def round_number(size: float) -> float:
    """Return the next of 1, 2, 2.5, 5 and 10 times a power of ten."""
    if size <= 0:
        return 0.0
    power = 10.0 ** math.floor(math.log10(size))
    return next(step * power for step in (1, 2, 2.5, 5, 10) if size <= step * power * (1 + 1e-9))
