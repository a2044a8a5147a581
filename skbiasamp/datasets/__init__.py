"""Data sets for audits: public records, images and synthetic data."""

from skbiasamp.datasets._acs import fetch_acs_predictions
from skbiasamp.datasets._biased_classification import make_biased_classification
from skbiasamp.datasets._captions import fetch_captions
from skbiasamp.datasets._coco import fetch_coco_labels
from skbiasamp.datasets._compas import load_compas, load_compas_counts
from skbiasamp.datasets._digits import load_colored_digits
from skbiasamp.datasets._imsitu import fetch_imsitu_annotations
from skbiasamp.datasets._occupations import load_occupations
from skbiasamp.datasets._rba import fetch_rba_shares

__all__ = [
    "fetch_acs_predictions",
    "fetch_captions",
    "fetch_coco_labels",
    "fetch_imsitu_annotations",
    "fetch_rba_shares",
    "load_colored_digits",
    "load_compas",
    "load_compas_counts",
    "load_occupations",
    "make_biased_classification",
]
