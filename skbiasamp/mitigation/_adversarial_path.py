"""What the weight of an adversary costs, and what it hides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.model_selection import train_test_split

from skbiasamp._input.checks import check_count, check_instance
from skbiasamp._input.coding import as_numbers
from skbiasamp._input.errors import InputError
from skbiasamp._utils.progress import progress
from skbiasamp.metrics import LeakageAuditor
from skbiasamp.mitigation._adversarial_rows import is_stream


def weight_path(
    model: Any,
    X: Any,
    y: Any,
    attribute: Any,
    *,
    weights: Sequence[float],
    seeds: int,
    test_size: float,
    auditor: Any,
) -> pd.DataFrame:
    """Return scores and leakage on held-out rows: a row for each weight and measure."""
    check_count("seeds", seeds)
    if is_stream(X):
        raise InputError("{X} is a Dataset, and path splits arrays. Call fit for each weight.")
    if auditor is not None:
        check_instance(
            auditor, ("audit", "set_params"), "auditor must be an auditor, such as LeakageAuditor()"
        )
    auditor = LeakageAuditor(equalize="f1", n_draws=3) if auditor is None else auditor
    values, found = np.ravel(as_numbers(weights, "weights")).tolist(), []
    with progress("adversarial training", seeds * len(values)) as step:
        for seed in range(seeds):
            parts = train_test_split(X, y, attribute, test_size=test_size, random_state=seed)
            X_train, X_test, y_train, y_test, train, test = parts
            measure = clone(auditor).set_params(interval=None, random_state=seed)
            for weight in values:
                trained = clone(model).set_params(adversary_weight=weight, random_state=seed)
                trained.fit(X_train, y_train, sensitive_features=train)
                leakage = measure.score(
                    y_test, trained.decision_function(X_test), sensitive_features=test
                )
                found += [
                    (f"λ = {weight:g}", weight, "accuracy", trained.score(X_test, y_test)),
                    (f"λ = {weight:g}", weight, "leakage", leakage),
                ]
                step.advance()
    frame = pd.DataFrame(found, columns=["mitigation", "weight", "measure", "value"])
    runs = frame.groupby(["mitigation", "weight", "measure"], sort=False)["value"]
    table = runs.agg(value="mean", std=lambda values: values.std(ddof=1)).reset_index()
    spread = table["std"].fillna(0)
    return table.assign(low=table["value"] - spread, high=table["value"] + spread, seeds=seeds)
