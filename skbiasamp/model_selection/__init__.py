"""Selecting and validating models by their amplification."""

from skbiasamp.model_selection._scorer import amplification_scorer
from skbiasamp.model_selection._thresholds import BaseRateThresholdClassifier

__all__ = ["BaseRateThresholdClassifier", "amplification_scorer"]
