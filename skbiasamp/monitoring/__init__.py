"""Watching a model: audits over time, a store of periods, and feedback loops."""

from skbiasamp.monitoring._over import audit_over
from skbiasamp.monitoring._store import Store

__all__ = ["Store", "audit_over"]
