"""feedback_audit(): what happens to amplification if a model learns from its own predictions."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, train_test_split

from skbiasamp._input.checks import Array, require_auditor
from skbiasamp._input.coding import as_classes
from skbiasamp._input.containers import check_lengths, to_native
from skbiasamp._input.errors import InputError
from skbiasamp._utils.compat import (
    N_JOBS,
    HasMethods,
    Interval,
    StrOptions,
    has_method,
    take_rows,
    validate_params,
)
from skbiasamp._utils.jobs import side_by_side
from skbiasamp._utils.random import generator
from skbiasamp._utils.warnings import collected
from skbiasamp.counts.contingency import Contingency
from skbiasamp.inference.runs import mean_of_runs
from skbiasamp.report.auditors import allowed
from skbiasamp.results.feedback import FeedbackResult


@validate_params(
    {
        "estimator": [HasMethods(["fit", "predict"])],
        "generations": [Interval(Integral, 2, None, closed="left")],
        "human_share": [Interval(Real, 0, 1, closed="both")],
        "labels": [StrOptions({"predict", "sample"})],
        "n_runs": [Interval(Integral, 2, None, closed="left")],
        "test_size": [Interval(Real, 0, 1, closed="neither")],
        "cv": [Interval(Integral, 2, None, closed="left")],
        "confidence_level": [Interval(Real, 0, 1, closed="neither")],
        "random_state": ["random_state", np.random.Generator],
        "n_jobs": N_JOBS,
    }
)
def feedback_audit(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    sensitive_features: Any,
    generations: int = 10,
    human_share: float = 0.5,
    labels: str = "predict",
    n_runs: int = 5,
    test_size: float = 0.4,
    cv: int = 3,
    auditor: Any = None,
    confidence_level: float = 0.95,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> FeedbackResult:
    """Audit generations of a model that learns from its own predictions.

    Each generation learns from labels of which a part is replaced by predictions of the generation
    before. All of them are audited on the same test rows, whose labels people gave.

    .. versionadded:: 0.1

    Parameters
    ----------
    estimator : classifier
        The model; it is cloned for every generation.
    X : array-like or frame of shape (n_samples, n_features)
        Rows.
    y : array-like of shape (n_samples,)
        The labels that people gave, one a row.
    sensitive_features : array-like of shape (n_samples,) or (n_samples, n_features)
        The sensitive feature, or several.
    generations : int, default=10
        Number of generations; the first one learns from people alone.
    human_share : float, default=0.5
        Share of the training labels that people give in each later generation. Which rows these are
        changes at random.
    labels : {"predict", "sample"}, default="predict"
        How the model labels the other rows, and what is audited. "predict": its predictions.
        "sample": labels drawn from its probabilities.
    n_runs : int, default=5
        Number of runs, each with training and test rows of its own. Intervals are over runs.
    test_size : float, default=0.4
        Share of the rows that are audited.
    cv : int, default=3
        Number of folds: a training row is labelled by a model that did not learn from it.
    auditor : auditor, default=None
        The metric. None: directional amplification, group → task (A→T).
    confidence_level : float, default=0.95
        Level of the intervals.
    random_state : int, RandomState, Generator or None, default=None
        Seed of splits, labels and draws.
    n_jobs : int, default=None
        Number of parallel jobs. Results do not depend on it.

    Returns
    -------
    result : FeedbackResult

    Notes
    -----
    A calibrated classifier that samples its labels reproduces the rates of its training labels, so
    amplification stays bounded. Predictions exaggerate what is frequent, and the next generation
    learns from that [1]_.

    References
    ----------
    .. [1] Taori & Hashimoto (2023). Data feedback loops: model-driven amplification of dataset
       biases. ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skbiasamp.monitoring import feedback_audit
    >>> rng = np.random.default_rng(0)
    >>> group = rng.integers(0, 2, 1000)
    >>> X = np.column_stack([rng.normal(size=1000), group])
    >>> y = (X[:, 0] + group + rng.normal(size=1000) > 0.5).astype(int)
    >>> result = feedback_audit(
    ...     LogisticRegression(),
    ...     X,
    ...     y,
    ...     sensitive_features=group,
    ...     generations=2,
    ...     n_runs=3,
    ...     labels="sample",
    ...     random_state=0,
    ... )
    >>> result.verdict
    'stays bounded'
    """
    if auditor is not None:
        require_auditor(auditor)
    if labels == "sample" and not has_method(estimator, "predict_proba"):
        raise InputError(
            "{labels='sample'} needs a classifier with predict_proba; got {kind}. Use "
            "{labels='predict'}, or a classifier with probabilities.",
            kind=type(estimator).__name__,
        )
    target = np.asarray(to_native(y, "y"))
    if target.ndim == 2 and target.shape[1] == 1:
        target = target.ravel()
    if target.ndim != 1:
        raise InputError("{y} must hold one label a row; got {shape}.", shape=target.shape)
    held = {"y": target, "sensitive_features": to_native(sensitive_features, "groups")}
    shape = getattr(X, "shape", None)  # of sparse features too
    if not shape and not hasattr(X, "__len__"):
        text = "{X} must be a table of features, with one row a label; got {kind}."
        raise InputError(text, kind=type(X).__name__)
    check_lengths({**held, "X": range(shape[0]) if shape else X})
    whole = Contingency.from_labels(
        target, as_classes(target), sensitive_features=sensitive_features
    )
    chosen = allowed(whole)[0] if auditor is None else auditor
    rows = (X, target, sensitive_features)
    settings = (generations, human_share, labels, test_size, cv)
    rngs = generator(random_state).spawn(n_runs)
    with collected():
        found = np.array(
            side_by_side(
                _run,
                [(estimator, chosen, rows, settings, rng) for rng in rngs],
                n_jobs=n_jobs,
                what="runs",
                total=n_runs,
            )
        )
    values, accuracy = found[..., 0], found[..., 1]
    # Runs are independent data sets: nothing is shared.
    of_values = mean_of_runs(values, 0.0, confidence_level=confidence_level)
    gaps = mean_of_runs(values - values[:, :1], 0.0, confidence_level=confidence_level)
    number = np.arange(1, generations + 1)
    table = pd.DataFrame(
        {
            "generation": number,
            "value": of_values.value,
            "low": of_values.low,
            "high": of_values.high,
            "difference": gaps.value,
            "difference_low": gaps.low,
            "difference_high": gaps.high,
            "accuracy": accuracy.mean(axis=0),
        }
    )
    runs = pd.DataFrame(
        {
            "run": np.repeat(np.arange(1, n_runs + 1), generations),
            "generation": np.tile(number, n_runs),
            "value": values.ravel(),
            "accuracy": accuracy.ravel(),
        }
    )
    return FeedbackResult(
        metric=chosen.metric,
        direction=chosen.direction,
        table=table,
        runs=runs,
        human_share=float(human_share),
        labels=labels,
        confidence_level=float(confidence_level),
        params=chosen.get_params(deep=False),
    )


def _run(
    estimator: Any, auditor: Any, rows: Any, settings: Any, rng: np.random.Generator
) -> list[tuple[float, float]]:
    """Return value and accuracy of every generation of one run."""
    X, y, groups = rows
    generations, human_share, labels, test_size, cv = settings
    train, test = train_test_split(
        np.arange(len(y)), test_size=test_size, stratify=y, random_state=int(rng.integers(2**31))
    )
    people, true = y[train], y[test]
    seen, unseen = take_rows(X, train), take_rows(X, test)
    first, audited = take_rows(groups, train), take_rows(groups, test)
    learned = auditor.learn_reference(
        Contingency.from_labels(people, as_classes(people), sensitive_features=first)
    )
    held, found = people, []
    for _ in range(generations):
        model = _seeded(estimator, rng).fit(seen, held)
        said = _labelled(model, unseen, labels, rng)
        cells = Contingency.from_labels(
            true,
            as_classes(said),
            sensitive_features=audited,
            like=getattr(learned, "contingency_", None),
        )
        found.append((learned.score(cells), float((said == true).mean())))
        # A row is labelled by a model that did not learn from it: memory is no feedback.
        again = np.empty_like(people)
        folds = StratifiedKFold(cv, shuffle=True, random_state=int(rng.integers(2**31)))
        for inside, outside in folds.split(held, held):
            part = _seeded(estimator, rng).fit(take_rows(seen, inside), held[inside])
            again[outside] = _labelled(part, take_rows(seen, outside), labels, rng)
        held = np.where(rng.random(len(people)) < human_share, people, again)
    return found


def _seeded(estimator: Any, rng: np.random.Generator) -> Any:
    """Return a clone that draws its own random numbers."""
    cloned = clone(estimator)
    own = {
        name: int(rng.integers(2**31))
        for name in cloned.get_params()
        if name.rpartition("__")[2] == "random_state"
    }
    return cloned.set_params(**own)


def _labelled(model: Any, X: Any, labels: str, rng: np.random.Generator) -> Array:
    if labels == "predict":
        return np.asarray(model.predict(X))
    shares = np.cumsum(model.predict_proba(X), axis=1)
    drawn = (rng.random(len(shares))[:, None] * shares[:, -1:] >= shares).sum(axis=1)
    return np.asarray(model.classes_)[np.minimum(drawn, len(model.classes_) - 1)]
