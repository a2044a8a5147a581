"""Auditors: fit on training labels, audit predictions."""

from skbiasamp.auditors._cooccurrence import (
    DirectionalAuditor,
    MALSAuditor,
    MultiAttributeAuditor,
)
from skbiasamp.auditors._predictability import DPAAuditor, LeakageAuditor

__all__ = [
    "DPAAuditor",
    "DirectionalAuditor",
    "LeakageAuditor",
    "MALSAuditor",
    "MultiAttributeAuditor",
]
