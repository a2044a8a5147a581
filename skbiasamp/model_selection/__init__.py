"""Selecting and validating models by their amplification."""

from skbiasamp.model_selection._cross_audit import CrossComparisonResult, cross_audit
from skbiasamp.model_selection._curve import AmplificationCurve, amplification_curve
from skbiasamp.model_selection._scorer import amplification_scorer, class_scorers
from skbiasamp.model_selection.thresholds import BaseRateThresholdClassifier
from skbiasamp.results import CrossAuditResult

__all__ = [
    "AmplificationCurve",
    "BaseRateThresholdClassifier",
    "CrossAuditResult",
    "CrossComparisonResult",
    "amplification_curve",
    "amplification_scorer",
    "class_scorers",
    "cross_audit",
]
