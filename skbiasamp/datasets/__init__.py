"""Data sets for audits: public records, images and synthetic data."""

from skbiasamp.datasets._biased_classification import make_biased_classification
from skbiasamp.datasets._loaders import (
    fetch_imsitu_annotations,
    load_colored_digits,
    load_compas,
    load_compas_counts,
    load_occupations,
)

__all__ = [
    "fetch_imsitu_annotations",
    "load_colored_digits",
    "load_compas",
    "load_compas_counts",
    "load_occupations",
    "make_biased_classification",
]
