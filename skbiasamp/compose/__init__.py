"""Auditing inside scikit-learn."""

from skbiasamp.compose._audited import AuditedClassifier
from skbiasamp.compose._columns import sensitive_values

__all__ = ["AuditedClassifier", "sensitive_values"]
