"""Watching a model: audits over time, a store of periods, and feedback loops."""

from skbiasamp.monitoring._feedback import feedback_audit
from skbiasamp.monitoring._over import audit_over
from skbiasamp.monitoring._store import Store
from skbiasamp.results.feedback import FeedbackResult

__all__ = ["FeedbackResult", "Store", "audit_over", "feedback_audit"]
