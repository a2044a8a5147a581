"""Data sets for audits: public records, images and synthetic data."""

from skbiasamp.datasets._biased_classification import make_biased_classification
from skbiasamp.datasets._compas import load_compas, load_compas_counts
from skbiasamp.datasets._digits import load_colored_digits
from skbiasamp.datasets._imsitu import fetch_imsitu_annotations
from skbiasamp.datasets._occupations import load_occupations

__all__ = [
    "fetch_imsitu_annotations",
    "load_colored_digits",
    "load_compas",
    "load_compas_counts",
    "load_occupations",
    "make_biased_classification",
]
