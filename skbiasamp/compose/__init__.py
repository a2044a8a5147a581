"""Auditing inside scikit-learn."""

from skbiasamp.compose._probe import LeakageProbe
from skbiasamp.compose.audited import AuditedClassifier

__all__ = ["AuditedClassifier", "LeakageProbe"]
