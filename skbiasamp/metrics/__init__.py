"""The metrics as functions: labels in, one number out."""

from skbiasamp.metrics._cooccurrence import directional_amplification, mals_amplification
from skbiasamp.metrics._multi_attribute import multi_attribute_amplification
from skbiasamp.metrics._related import (
    bias_disparity,
    differential_fairness_amplification,
    label_amplification,
    percentage_amplification,
)

__all__ = [
    "bias_disparity",
    "differential_fairness_amplification",
    "directional_amplification",
    "label_amplification",
    "mals_amplification",
    "multi_attribute_amplification",
    "percentage_amplification",
]
