"""Mitigations: samplers and classifiers that are meant to reduce bias amplification."""

from skbiasamp.mitigation._adversarial import AdversarialClassifier
from skbiasamp.mitigation._constraints import AmplificationParity, CorpusConstraintClassifier
from skbiasamp.mitigation._ensembles import DomainIndependentClassifier, MixedClassifier
from skbiasamp.mitigation._inputs import NoiseRandomizer, RegionMask
from skbiasamp.mitigation._samplers import DataRepair, GroupOverSampler, RatioBalancer
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
