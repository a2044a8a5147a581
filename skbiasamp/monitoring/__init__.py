"""Watching a model: audits over time."""

from skbiasamp.monitoring._over import audit_over
from skbiasamp.monitoring._periods import EVERY as EVERY  # of the command; not in `__all__`

__all__ = ["audit_over"]
