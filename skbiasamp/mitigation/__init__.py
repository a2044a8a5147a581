"""What to do about it: samplers and estimators that are to reduce amplification."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skbiasamp.mitigation._adversarial import AdversarialClassifier
    from skbiasamp.mitigation._balance import RatioBalancer
    from skbiasamp.mitigation._compare import MitigationComparison, compare_mitigations
    from skbiasamp.mitigation._corpus import CorpusConstraintClassifier
    from skbiasamp.mitigation._domains import DomainIndependentClassifier
    from skbiasamp.mitigation._noise import NoiseRandomizer
    from skbiasamp.mitigation._oversample import GroupOverSampler
    from skbiasamp.mitigation._repair import DataRepair

# Public name -> its file; imported when it is first asked for.
_FILES = {
    "AdversarialClassifier": "_adversarial",
    "CorpusConstraintClassifier": "_corpus",
    "DataRepair": "_repair",
    "DomainIndependentClassifier": "_domains",
    "GroupOverSampler": "_oversample",
    "MitigationComparison": "_compare",
    "NoiseRandomizer": "_noise",
    "RatioBalancer": "_balance",
    "compare_mitigations": "_compare",
}

__all__ = [
    "AdversarialClassifier",
    "CorpusConstraintClassifier",
    "DataRepair",
    "DomainIndependentClassifier",
    "GroupOverSampler",
    "MitigationComparison",
    "NoiseRandomizer",
    "RatioBalancer",
    "compare_mitigations",
]


def __getattr__(name: str) -> Any:
    if name in _FILES:
        value = getattr(importlib.import_module(f"{__name__}.{_FILES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
