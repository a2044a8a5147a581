"""Watching a model: audits over time, and a store of periods."""

from skbiasamp.monitoring._over import audit_over
from skbiasamp.monitoring._store import Store

__all__ = ["Store", "audit_over"]
