"""Find out whether a model amplifies the bias of the data it was trained on."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skbiasamp import (
        attackers,
        datasets,
        inference,
        metrics,
        mitigation,
        model_selection,
        monitoring,
        plotting,
        testing,
        text,
    )
    from skbiasamp._utils.version import __version__ as __version__
    from skbiasamp._utils.version import show_versions
    from skbiasamp.compose import AuditedClassifier, LeakageProbe
    from skbiasamp.counts.contingency import Contingency
    from skbiasamp.metrics import (
        BiasDisparityAuditor,
        DBACAuditor,
        DifferentialFairnessAuditor,
        DirectionalAuditor,
        DPAAuditor,
        LabelAuditor,
        LeakageAuditor,
        LICAuditor,
        MALSAuditor,
        MatchedPairsAuditor,
        MultiAttributeAuditor,
        NumericAuditor,
        PercentageAuditor,
    )
    from skbiasamp.model_selection import (
        BaseRateThresholdClassifier,
        amplification_curve,
        amplification_scorer,
        cross_audit,
    )
    from skbiasamp.monitoring import audit_over
    from skbiasamp.report import audit, compare, selection_rates
    from skbiasamp.results import (
        AuditReport,
        AuditResult,
        ComparisonReport,
        ComparisonResult,
        SelectionRates,
        Timeline,
    )

# Public name -> the module it is in. Names are imported when they are first asked for, so
# that importing the package imports nothing that the caller does not use.
_MODULES = {
    "__version__": "_utils.version",
    "AuditReport": "results",
    "AuditResult": "results",
    "AuditedClassifier": "compose",
    "BaseRateThresholdClassifier": "model_selection",
    "ComparisonReport": "results",
    "ComparisonResult": "results",
    "BiasDisparityAuditor": "metrics",
    "Contingency": "counts.contingency",
    "DBACAuditor": "metrics",
    "DPAAuditor": "metrics",
    "DifferentialFairnessAuditor": "metrics",
    "DirectionalAuditor": "metrics",
    "LICAuditor": "metrics",
    "LabelAuditor": "metrics",
    "LeakageAuditor": "metrics",
    "LeakageProbe": "compose",
    "MALSAuditor": "metrics",
    "MatchedPairsAuditor": "metrics",
    "MultiAttributeAuditor": "metrics",
    "NumericAuditor": "metrics",
    "PercentageAuditor": "metrics",
    "SelectionRates": "results",
    "Timeline": "results",
    "amplification_curve": "model_selection",
    "amplification_scorer": "model_selection",
    "audit": "report",
    "audit_over": "monitoring",
    "compare": "report",
    "cross_audit": "model_selection",
    "selection_rates": "report",
    "show_versions": "_utils.version",
}
_SUBMODULES = {
    "attackers",
    "datasets",
    "inference",
    "metrics",
    "mitigation",
    "model_selection",
    "monitoring",
    "plotting",
    "testing",
    "text",
}

__all__ = [
    "AuditReport",
    "AuditResult",
    "AuditedClassifier",
    "BaseRateThresholdClassifier",
    "BiasDisparityAuditor",
    "ComparisonReport",
    "ComparisonResult",
    "Contingency",
    "DBACAuditor",
    "DPAAuditor",
    "DifferentialFairnessAuditor",
    "DirectionalAuditor",
    "LICAuditor",
    "LabelAuditor",
    "LeakageAuditor",
    "LeakageProbe",
    "MALSAuditor",
    "MatchedPairsAuditor",
    "MultiAttributeAuditor",
    "NumericAuditor",
    "PercentageAuditor",
    "SelectionRates",
    "Timeline",
    "amplification_curve",
    "amplification_scorer",
    "attackers",
    "audit",
    "audit_over",
    "compare",
    "cross_audit",
    "datasets",
    "inference",
    "metrics",
    "mitigation",
    "model_selection",
    "monitoring",
    "plotting",
    "selection_rates",
    "show_versions",
    "testing",
    "text",
]


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return importlib.import_module(f"skbiasamp.{name}")
    if name in _MODULES:
        value = getattr(importlib.import_module(f"skbiasamp.{_MODULES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'skbiasamp' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
