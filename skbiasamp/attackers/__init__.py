"""Attackers: what tries to predict one label from the others."""

from skbiasamp.attackers._exact import ExactAttacker

__all__ = ["ExactAttacker"]
