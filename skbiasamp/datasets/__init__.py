"""Data sets for audits: public records, images and synthetic data."""

from skbiasamp.datasets._data import (
    fetch_imsitu_annotations,
    load_colored_digits,
    load_compas,
    load_compas_counts,
    load_occupations,
    make_biased_classification,
)

__all__ = [
    "fetch_imsitu_annotations",
    "load_colored_digits",
    "load_compas",
    "load_compas_counts",
    "load_occupations",
    "make_biased_classification",
]
