"""The metrics as functions, and what a metric of your own is made of."""

from skbiasamp.inference._pairs import Pairs, Rates
from skbiasamp.metrics._cooccurrence import CooccurrenceAuditor
from skbiasamp.metrics._predictability import (
    dataset_leakage,
    dpa_amplification,
    leakage_amplification,
)
from skbiasamp.metrics.directional import directional_amplification
from skbiasamp.metrics.mals import mals_amplification
from skbiasamp.metrics.multi_attribute import multi_attribute_amplification
from skbiasamp.metrics.related import (
    bias_disparity,
    differential_fairness_amplification,
    label_amplification,
    percentage_amplification,
)

__all__ = [
    "CooccurrenceAuditor",
    "Pairs",
    "Rates",
    "bias_disparity",
    "dataset_leakage",
    "differential_fairness_amplification",
    "directional_amplification",
    "dpa_amplification",
    "label_amplification",
    "leakage_amplification",
    "mals_amplification",
    "multi_attribute_amplification",
    "percentage_amplification",
]
