"""Kinds of metrics: how their values are read."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from math import inf
from typing import Any

from skbiasamp._utils import formatting as words


class Kind(StrEnum):
    """How the value of a metric is read. A kind equals its name: metrics declare it, files hold it.

    A signed mean, a mean whose published value is a size without direction, or the gain of an
    attacker.
    """

    SIGNED = "signed"
    SIZE = "size"
    ATTACK = "attack"

    @property
    def sides(self) -> str:
        """Label of an axis of values."""
        if self.has_attacker:
            return "← reveals less  |  reveals more →"
        return "← reduces  |  amplifies →"

    @property
    def is_signed(self) -> bool:
        """Whether the value is a mean of changes that have a direction."""
        return self is Kind.SIGNED

    @property
    def has_attacker(self) -> bool:
        """Whether the value compares what attackers guess."""
        return self is Kind.ATTACK

    def verdict(self, side: str, statistics: Mapping[str, Any]) -> str:
        """Return what an interval on one side of 0 says of a model."""
        if side == "unknown":
            return words.NOT_MEASURED
        above, below = words.AMPLIFIES, words.REDUCES
        if self.has_attacker:
            is_clear = statistics.get("above_chance_low", inf) > 0
            above, below = words.REVEALS_MORE if is_clear else words.NO_EFFECT, words.REVEALS_LESS
        return {"above": above, "below": below}.get(side, words.NO_EFFECT)

    def verdict_of_difference(self, side: str) -> str:
        """Return what an interval on one side of 0 says of the difference of two models."""
        more, less = words.AMPLIFIES_MORE, words.AMPLIFIES_LESS
        if self.has_attacker:
            more, less = words.REVEALS_MORE, words.REVEALS_LESS
        return {"above": more, "below": less}.get(side, words.NO_DIFFERENCE)
