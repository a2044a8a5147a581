"""Attackers: what tries to predict one label from the others."""

from skbiasamp.attackers._bundle import MLPBundle
from skbiasamp.attackers._exact import ExactAttacker
from skbiasamp.attackers._mlp import MLPAttacker

__all__ = ["ExactAttacker", "MLPAttacker", "MLPBundle"]
