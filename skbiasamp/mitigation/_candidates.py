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
from skbiasamp.compose.sensitive import parameter_of, routes
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


def needs_group(estimator: Any) -> bool:
    """Return whether a classifier needs the group at prediction, passed or as a column."""
    if not getattr(estimator, "by_group", True) or getattr(estimator, "joint", False):
        return False  # one threshold for all, or predicted groups
    return routes(estimator, "predict") or parameter_of(estimator, "predict") is not None


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
        samplers = {
            "RatioBalancer": RatioBalancer(),
            "RatioBalancer, alpha=2": RatioBalancer(alpha=2),
            "DataRepair": DataRepair(),
            "DataRepair, min_share=0.8": DataRepair(min_share=0.8),
            "GroupOverSampler": GroupOverSampler(),
        }
        if kind == "multilabel-indicator":
            samplers["RatioBalancer, sets=True"] = RatioBalancer(sets=True, unpaired="drop")
        mitigations |= {name: (sampler, model) for name, sampler in samplers.items()}
    if has_method(model, "predict_proba"):
        apart = DomainIndependentClassifier(model, calibration=None)
        mitigations |= {
            "DomainIndependent": apart,
            "DomainIndependent, group_prior=training": clone(apart).set_params(
                group_prior="training"
            ),
            "CorpusConstraint": CorpusConstraintClassifier(model),
            "CorpusConstraint, margin=0.01": CorpusConstraintClassifier(model, margin=0.01),
            "Mixed with RatioBalancer": MixedClassifier(model, cv=_FOLDS),
            "Mixed with DomainIndependent": MixedClassifier(model, apart, cv=_FOLDS),
        }
    if kind == "binary":
        # Half the limit, so that an interval has room within it. Another metric than theirs, which
        # is a share, may have a limit above 1.
        scoring = scoring if _scores_decisions(scoring, np.unique(labels)) else "accuracy"
        one = AmplificationThresholdClassifier(
            model, limit=min(limit / 2, 0.5), scoring=scoring, cv=_FOLDS
        )
        mitigations["AmplificationThreshold"] = one
        by_group = clone(one).set_params(by_group=True)
        mitigations["AmplificationThreshold, by_group=True"] = by_group
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
    parity, odds = (
        ThresholdOptimizer(estimator=model, constraints=constraints, **options)
        for constraints in ("demographic_parity", "equalized_odds")
    )
    # Their own constraints remove differences that the labels have.
    model, constraint = WeightsAsRows(model), AmplificationParity(difference_bound=0.005)
    return {
        "ThresholdOptimizer": parity,
        "ThresholdOptimizer, equalized odds": odds,
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
