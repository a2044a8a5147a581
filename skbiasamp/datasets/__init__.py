"""Data to try an audit on."""

from skbiasamp.datasets._compas import load_compas_counts

__all__ = ["load_compas_counts"]
