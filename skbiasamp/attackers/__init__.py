"""Attackers: what tries to predict one label from the others."""

__all__: list[str] = []
