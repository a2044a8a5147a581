"""Attackers: what tries to predict one label from the others."""

from skbiasamp.attackers._exact import ExactAttacker
from skbiasamp.attackers._mlp import MLPAttacker, MLPBundle

__all__ = ["ExactAttacker", "MLPAttacker", "MLPBundle"]
