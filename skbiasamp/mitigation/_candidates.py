"""The mitigations that a search tries if none are named."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, Self

import numpy as np
from sklearn import config_context
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import has_fit_parameter

from skbiasamp._input.checks import Array
from skbiasamp._input.containers import to_native
from skbiasamp._utils.compat import has_method
from skbiasamp.compose.wrapper import ClassifierWrapper
from skbiasamp.mitigation._balance import RatioBalancer
from skbiasamp.mitigation._corpus import CorpusConstraintClassifier
from skbiasamp.mitigation._domains import DomainIndependentClassifier
from skbiasamp.mitigation._mixture import MixedClassifier
from skbiasamp.mitigation._operating import score_of
from skbiasamp.mitigation._oversample import GroupOverSampler
from skbiasamp.mitigation._parity import AmplificationParity
from skbiasamp.mitigation._repair import DataRepair
from skbiasamp.mitigation._thresholds import AmplificationThresholdClassifier
from skbiasamp.model_selection import BaseRateThresholdClassifier

# Of what trains several models, so that a search takes minutes.
_FOLDS, _ITERATIONS = 3, 5


def auto_candidates(
    estimator: Any, y: Any, limit: float, scoring: Any = "accuracy"
) -> dict[str, Any]:
    """Return mitigations around a classifier by name: those that fit the labels.

    Thresholds are the best by `scoring`, if it scores labels.
    """
    sampler, model = estimator if isinstance(estimator, tuple) else (None, estimator)
    labels = to_native(y, "y")
    kind = type_of_target(labels)
    mitigations: dict[str, Any] = {}
    if sampler is None:
        mitigations |= {
            "RatioBalancer": (RatioBalancer(), model),
            "RatioBalancer, alpha=2": (RatioBalancer(alpha=2), model),
            "DataRepair": (DataRepair(), model),
            "DataRepair, min_share=0.8": (DataRepair(min_share=0.8), model),
        }
        if kind == "multilabel-indicator":
            mitigations["RatioBalancer, sets=True"] = (
                RatioBalancer(sets=True, unpaired="drop"),
                model,
            )
        mitigations["GroupOverSampler"] = (GroupOverSampler(), model)
    if has_method(model, "predict_proba"):
        mitigations |= {
            "DomainIndependent": DomainIndependentClassifier(model, calibration=None),
            "DomainIndependent, group_prior=training": DomainIndependentClassifier(
                model, calibration=None, group_prior="training"
            ),
            "CorpusConstraint": CorpusConstraintClassifier(model),
            "CorpusConstraint, margin=0.01": CorpusConstraintClassifier(model, margin=0.01),
            "Mixed with RatioBalancer": MixedClassifier(model, cv=_FOLDS),
            "Mixed with DomainIndependent": MixedClassifier(
                model, DomainIndependentClassifier(model, calibration=None), cv=_FOLDS
            ),
        }
    if kind == "binary":
        # Half the limit, so that an interval has room within it.
        scoring = scoring if _scores_decisions(scoring, np.unique(labels)) else "accuracy"
        options: dict[str, Any] = {"limit": limit / 2, "scoring": scoring, "cv": _FOLDS}
        mitigations |= {
            "AmplificationThreshold": AmplificationThresholdClassifier(model, **options),
            "AmplificationThreshold, by_group=True": AmplificationThresholdClassifier(
                model, by_group=True, **options
            ),
        }
    if kind in ("binary", "multilabel-indicator"):
        mitigations["BaseRateThreshold"] = BaseRateThresholdClassifier(model, cv=_FOLDS)
    if kind == "binary" and set(np.unique(labels)) == {0, 1} and find_spec("fairlearn"):
        mitigations |= _of_fairlearn(model, scoring)
    return mitigations


def _scores_decisions(scoring: Any, classes: Array) -> bool:
    """Return whether a scorer takes labels and weights, rather than probabilities."""
    try:
        score_of(scoring, classes)(np.ones(4))
    except (AttributeError, TypeError, ValueError):
        return False
    return True


def _of_fairlearn(model: Any, scoring: Any) -> dict[str, Any]:
    from fairlearn.postprocessing import ThresholdOptimizer
    from fairlearn.reductions import DemographicParity, ExponentiatedGradient, GridSearch

    balanced = "balanced_" * (scoring == "balanced_accuracy")
    options = {"predict_method": "auto", "objective": f"{balanced}accuracy_score"}
    mitigations = {
        "ThresholdOptimizer": ThresholdOptimizer(
            estimator=model, constraints="demographic_parity", **options
        ),
        "ThresholdOptimizer, equalized odds": ThresholdOptimizer(
            estimator=model, constraints="equalized_odds", **options
        ),
    }
    last = model.steps[-1][1] if isinstance(model, Pipeline) else model
    if not has_fit_parameter(last, "sample_weight"):
        return mitigations
    if last is not model:
        model = WeightedPipeline(model)
    return mitigations | {
        "ExponentiatedGradient": ExponentiatedGradient(
            model, DemographicParity(), max_iter=_ITERATIONS
        ),
        "ExponentiatedGradient, AmplificationParity": ExponentiatedGradient(
            model, AmplificationParity(difference_bound=0.005), max_iter=_ITERATIONS
        ),
        "GridSearch": GridSearch(model, DemographicParity(), grid_size=_ITERATIONS),
    }


class WeightedPipeline(ClassifierWrapper):
    """A pipeline whose last step gets the weights, which no step has to request."""

    def __init__(self, estimator: Pipeline) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Fit the pipeline."""
        weights = {f"{self.estimator.steps[-1][0]}__sample_weight": sample_weight}
        with config_context(enable_metadata_routing=False):
            self.estimator_ = clone(self.estimator).fit(X, y, **weights)
        return self
