"""Mitigations: samplers and classifiers that are meant to reduce bias amplification."""

from skbiasamp.mitigation._adversarial import AdversarialClassifier
from skbiasamp.mitigation._corpus import CorpusConstraintClassifier
from skbiasamp.mitigation._domains import DomainIndependentClassifier
from skbiasamp.mitigation._mixture import MixedClassifier
from skbiasamp.mitigation._noise import NoiseRandomizer
from skbiasamp.mitigation._parity import AmplificationParity
from skbiasamp.mitigation._region_mask import RegionMask
from skbiasamp.mitigation._repair import DataRepair
from skbiasamp.mitigation._samplers import GroupOverSampler, RatioBalancer
from skbiasamp.mitigation._search import search
from skbiasamp.mitigation._thresholds import AmplificationThresholdClassifier
from skbiasamp.results.mitigation_search import MitigationSearch

__all__ = [
    "AdversarialClassifier",
    "AmplificationParity",
    "AmplificationThresholdClassifier",
    "CorpusConstraintClassifier",
    "DataRepair",
    "DomainIndependentClassifier",
    "GroupOverSampler",
    "MitigationSearch",
    "MixedClassifier",
    "NoiseRandomizer",
    "RatioBalancer",
    "RegionMask",
    "search",
]
