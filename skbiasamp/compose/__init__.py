"""Auditing inside scikit-learn."""

from skbiasamp.compose._audited import AuditedClassifier
from skbiasamp.compose._probe import LeakageProbe

__all__ = ["AuditedClassifier", "LeakageProbe"]
