"""Auditors: fit on training labels, audit predictions."""

from skbiasamp.auditors._cooccurrence import (
    DirectionalAuditor,
    MALSAuditor,
    MultiAttributeAuditor,
)

__all__ = ["DirectionalAuditor", "MALSAuditor", "MultiAttributeAuditor"]
