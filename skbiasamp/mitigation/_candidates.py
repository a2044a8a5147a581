"""The mitigations that a search tries if none are named."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, Self

import numpy as np
from sklearn import config_context
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.utils import _safe_indexing
from sklearn.utils.multiclass import type_of_target

from skbiasamp._input.checks import Array
from skbiasamp._input.containers import to_native
from skbiasamp._utils.compat import has_method
from skbiasamp.compose.wrapper import ClassifierWrapper
from skbiasamp.mitigation._balance import RatioBalancer
from skbiasamp.mitigation._corpus import CorpusConstraintClassifier
from skbiasamp.mitigation._domains import DomainIndependentClassifier
from skbiasamp.mitigation._mixture import MixedClassifier
from skbiasamp.mitigation._operating import score_of
from skbiasamp.mitigation._parity import AmplificationParity
from skbiasamp.mitigation._repair import DataRepair
from skbiasamp.mitigation._samplers import GroupOverSampler
from skbiasamp.mitigation._thresholds import AmplificationThresholdClassifier
from skbiasamp.model_selection import BaseRateThresholdClassifier

# Folds and iterations of candidates that train several models, so that a search takes minutes.
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
        # Half the limit, so that an interval has room within it. Another metric than theirs, which
        # is a share, may have a limit above 1.
        scoring = scoring if _scores_decisions(scoring, np.unique(labels)) else "accuracy"
        options: dict[str, Any] = {"limit": min(limit / 2, 0.5), "scoring": scoring, "cv": _FOLDS}
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
    from fairlearn.reductions import ExponentiatedGradient, GridSearch

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
    # Their own constraints remove differences that the labels have.
    model, constraint = WeightsAsRows(model), AmplificationParity(difference_bound=0.005)
    return mitigations | {
        "ExponentiatedGradient": ExponentiatedGradient(model, constraint, max_iter=_ITERATIONS),
        "GridSearch": GridSearch(model, constraint, grid_size=_ITERATIONS),
    }


class WeightsAsRows(ClassifierWrapper):
    """A classifier that gets weighted rows as copies, as many as the weights say.

    Any classifier and pipeline learns from copies. Weights take scikit-learn's boosting five times
    as long.
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Fit the classifier on as many rows as there are."""
        reached, n = np.asarray(sample_weight).cumsum(), len(sample_weight)
        rows = np.searchsorted(reached, (np.arange(n) + 0.5) / n * reached[-1])
        labels = np.asarray(y)[rows]
        # Small weights may leave only one of two classes.
        model = self.estimator if np.ptp(labels) else DummyClassifier(strategy="prior")
        with config_context(enable_metadata_routing=False):
            self.estimator_ = clone(model).fit(_safe_indexing(X, rows), labels)
        return self
