"""Auditing inside scikit-learn."""

from skbiasamp.compose._audited import AuditedClassifier
from skbiasamp.compose._columns import sensitive_values
from skbiasamp.compose._probe import LeakageProbe
from skbiasamp.compose._wrapper import (
    ROUTING,
    ClassifierWrapper,
    HidingWrapper,
    fit_params,
)

__all__ = [
    "ROUTING",
    "AuditedClassifier",
    "ClassifierWrapper",
    "HidingWrapper",
    "LeakageProbe",
    "fit_params",
    "sensitive_values",
]
