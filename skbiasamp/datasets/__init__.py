"""Data to try an audit on."""

from skbiasamp.datasets._compas import fetch_compas, load_compas_counts
from skbiasamp.datasets._imsitu import fetch_imsitu_annotations

__all__ = ["fetch_compas", "fetch_imsitu_annotations", "load_compas_counts"]
