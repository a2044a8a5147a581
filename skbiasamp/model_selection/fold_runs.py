"""Training on folds: what each fold's model says of the rows that it was not trained on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import sklearn
from sklearn.base import clone
from sklearn.model_selection import cross_validate

from skbiasamp._input.checks import Array
from skbiasamp._utils.compat import take_rows
from skbiasamp._utils.progress import progress
from skbiasamp.compose import AuditedClassifier
from skbiasamp.compose.sensitive import requests, without
from skbiasamp.model_selection._scorer import AmplificationScorer
from skbiasamp.model_selection.folds import seeded_clone
from skbiasamp.model_selection.row_classifier import RowClassifier, RowData


class Repeat(NamedTuple):
    """What one estimator did on the folds of one repeat."""

    fitted: dict[str, Any]  # what `cross_validate` returned
    held_out: list[tuple[AuditedClassifier, dict[str, Any]]]  # each fold's model and test labels


def run_folds(
    model: AuditedClassifier,
    X: Any,
    y: Any,
    attribute: Any,
    sample_weight: Any,
    *,
    splits: list[Any],
    auditors: list[Any],
    rng: np.random.RandomState,
    options: dict[str, Any],
    params: dict[str, Any] | None,
) -> list[Repeat]:
    """Train a model on every fold of every repeat, and predict the held-out rows."""
    data, passed = X, attribute if model.sensitive is None else None
    if needs_rows(model, options["scoring"]):
        model, data = of_rows(model, X, attribute)
        passed = None  # it is found by row number
    metadata = {"sensitive_features": passed, "sample_weight": sample_weight}
    metadata = {key: value for key, value in metadata.items() if value is not None}
    rows = (data, y, passed, sample_weight)
    repeats = []
    # Folds in other processes are not seen to be done.
    in_process = options["n_jobs"] in (None, 1)
    with progress("folds", sum(map(len, splits)) if in_process else None):
        for folds, own in zip(splits, auditors, strict=True):
            fitted = cross_validate(
                seeded_clone(clone(model).set_params(auditor=own), rng),
                data,
                y,
                cv=folds,
                params={**metadata, **(params or {})} or None,
                return_estimator=True,
                error_score="raise",
                **options,
            )
            held_out = [
                (
                    fitted_model,
                    fitted_model._labels(
                        *(None if part is None else take_rows(part, test) for part in rows)
                    ),
                )
                for (_, test), fitted_model in zip(folds, fitted["estimator"], strict=True)
            ]
            repeats.append(Repeat(fitted, held_out))
    return repeats


def needs_rows(model: AuditedClassifier, scoring: Any) -> bool:
    """Return whether something needs a sensitive feature that nobody would pass on."""
    if requests(model.estimator, "predict"):
        return True
    if sklearn.get_config()["enable_metadata_routing"]:
        return False
    scorers = scoring.values() if isinstance(scoring, Mapping) else [scoring]
    return model.sensitive is None and any(
        isinstance(scorer, AmplificationScorer) and scorer.sensitive is None for scorer in scorers
    )


def of_rows(model: AuditedClassifier, X: Any, attribute: Any) -> tuple[AuditedClassifier, Array]:
    """Return the same model for row numbers, and the numbers."""
    model._hide(X)
    named = model.sensitive is not None and not callable(model.sensitive)
    data = RowData(model._features(X), attribute)
    changed = {"estimator": RowClassifier(model.estimator, data=data)}
    if model.sensitive_estimator is not None:
        blind = RowData(without(X, model.sensitive) if named else X, attribute)
        changed["sensitive_estimator"] = RowClassifier(model.sensitive_estimator, data=blind)
    model = clone(model).set_params(**changed, sensitive=data.sensitive, drop_sensitive=False)
    return model, data.numbers
