"""Auditors: fit on training labels, audit predictions."""

from skbiasamp.auditors._predictability import DPAAuditor, LeakageAuditor
from skbiasamp.metrics.directional import DirectionalAuditor
from skbiasamp.metrics.mals import MALSAuditor
from skbiasamp.metrics.multi_attribute import MultiAttributeAuditor

__all__ = [
    "DPAAuditor",
    "DirectionalAuditor",
    "LeakageAuditor",
    "MALSAuditor",
    "MultiAttributeAuditor",
]
