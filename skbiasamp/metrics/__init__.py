"""The metrics: auditors, their values as functions, and what a metric of your own is made of."""

from skbiasamp._input.options import Option
from skbiasamp.inference.association import associate
from skbiasamp.inference.pairs import Pairs
from skbiasamp.metrics._attack_auditor import AttackAuditor
from skbiasamp.metrics._cooccurrence import CooccurrenceAuditor
from skbiasamp.metrics.dbac import DBACAuditor, dbac_amplification
from skbiasamp.metrics.directional import DirectionalAuditor, directional_amplification
from skbiasamp.metrics.functions import FunctionAuditor, function_of
from skbiasamp.metrics.lic import LICAuditor, lic_amplification
from skbiasamp.metrics.mals import MALSAuditor, mals_amplification
from skbiasamp.metrics.matched_pairs import MatchedPairsAuditor, matched_difference
from skbiasamp.metrics.multi_attribute import MultiAttributeAuditor, multi_attribute_amplification
from skbiasamp.metrics.numeric import NumericAuditor, numeric_amplification
from skbiasamp.metrics.predictability import (
    DPAAuditor,
    LeakageAuditor,
    dataset_leakage,
    dpa_amplification,
    leakage_amplification,
)
from skbiasamp.metrics.related import (
    BiasDisparityAuditor,
    DifferentialFairnessAuditor,
    LabelAuditor,
    PercentageAuditor,
    bias_disparity,
    differential_fairness_amplification,
    label_amplification,
    percentage_amplification,
)

__all__ = [
    "AttackAuditor",
    "BiasDisparityAuditor",
    "CooccurrenceAuditor",
    "DBACAuditor",
    "DPAAuditor",
    "DifferentialFairnessAuditor",
    "DirectionalAuditor",
    "FunctionAuditor",
    "LICAuditor",
    "LabelAuditor",
    "LeakageAuditor",
    "MALSAuditor",
    "MatchedPairsAuditor",
    "MultiAttributeAuditor",
    "NumericAuditor",
    "Option",
    "Pairs",
    "PercentageAuditor",
    "associate",
    "bias_disparity",
    "dataset_leakage",
    "dbac_amplification",
    "differential_fairness_amplification",
    "directional_amplification",
    "dpa_amplification",
    "function_of",
    "label_amplification",
    "leakage_amplification",
    "lic_amplification",
    "mals_amplification",
    "matched_difference",
    "multi_attribute_amplification",
    "numeric_amplification",
    "percentage_amplification",
]
