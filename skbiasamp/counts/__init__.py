"""Contingencies, and what is done to counts: add, merge, draw, order, store, ask engines."""
