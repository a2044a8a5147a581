"""Attackers: what tries to predict one label from the others."""

from skbiasamp.attackers.attack import ExactAttacker
from skbiasamp.attackers.networks import MLPAttacker

__all__ = ["ExactAttacker", "MLPAttacker"]
