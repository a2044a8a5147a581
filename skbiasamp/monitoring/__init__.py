"""Watching a model: audits over time, a store of periods, and feedback loops."""

from skbiasamp.monitoring._over import audit_over

__all__ = ["audit_over"]
