"""Measure how equal equally accurate random labels are, for each kind of label and score.

The rate of random errors is the library's. Labels get errors at this rate in NumPy, and
scikit-learn scores them and the model's predictions against the true labels.
"""

import warnings
from typing import NamedTuple

from common import command, markdown

# isort: split
import numpy as np
from sklearn.metrics import accuracy_score, f1_score, root_mean_squared_error

from skbiasamp import Contingency, DPAAuditor, LeakageAuditor

ROWS, DRAWS = 20_000, 20


class Case(NamedTuple):
    """True labels, predictions, the auditor, and the score that it makes equal."""

    labels: str
    model: str
    y_true: np.ndarray
    y_pred: np.ndarray
    auditor: LeakageAuditor | DPAAuditor
    name: str


def errors(rng, y, rate, classes=2):
    """Return labels of which a share moves to another class, by class or by column."""
    wrong = rng.random(y.shape) < rate
    return np.where(wrong, (y + rng.integers(1, classes, size=y.shape)) % classes, y)


def scores_of(name, y_true, y_pred):
    """Return the score of each column of labels, or of the only one."""
    true, pred = (np.reshape(labels.T, (-1, len(labels))) for labels in (y_true, y_pred))
    score = {"accuracy": accuracy_score, "RMSE": root_mean_squared_error}.get(name)
    if score is None:
        average = "binary" if y_true.max() == 1 else "macro"

        def score(y_true, y_pred):
            return f1_score(y_true, y_pred, average=average, zero_division=0)

    return np.array([score(labels, other) for labels, other in zip(true, pred, strict=True)])


def cases(n, rng):
    """Return the cases of the table."""
    half, rare = ((rng.random(n) < share).astype(int) for share in (0.5, 0.05))
    three = rng.choice(3, n, p=[0.6, 0.3, 0.1])
    many = (rng.random((n, 4)) < [0.5, 0.3, 0.2, 0.1]).astype(int)
    uneven = errors(rng, many, [0.05, 0.1, 0.2, 0.3])
    number = rng.normal(size=n)
    offset = 0.5 + 0.9 * number + 0.3 * rng.normal(size=n)
    never, wrong = np.zeros_like(rare), errors(rng, half, 0.6)
    even, few = "binary, 50 % positive", "binary, 5 % positive"
    cases = [
        Case(labels, model, true, pred, auditor(equalize=name), shown)
        for name, shown in (("accuracy", "accuracy"), ("f1", "F1"))
        for labels, model, true, pred, auditor in (
            (even, "15 % errors", half, errors(rng, half, 0.15), LeakageAuditor),
            (even, "60 % errors", half, wrong, LeakageAuditor),
            (few, "3 % errors", rare, errors(rng, rare, 0.03), LeakageAuditor),
            (few, "never positive", rare, never, LeakageAuditor),
            ("3 classes", "20 % errors", three, errors(rng, three, 0.2, 3), LeakageAuditor),
            ("3 classes", "75 % errors", three, errors(rng, three, 0.75, 3), LeakageAuditor),
            ("4 labels, leakage", "5 to 30 % errors", many, uneven, LeakageAuditor),
            ("4 labels, DPA", "5 to 30 % errors", many, uneven, DPAAuditor),
        )
    ]
    numbers = DPAAuditor(quality="inverse_rmse")
    return [*cases, Case("numbers", "offset of 0.5", number, offset, numbers, "RMSE")]


def measured(case, draws, rng):
    """Return the row of a case."""
    group = rng.integers(2, size=len(case.y_true))
    cells = Contingency.from_labels(
        case.y_true, case.y_pred, sensitive_features=group, scores=case.name == "RMSE"
    )
    pair = case.auditor._run(cells, rng).pair
    rate = pair.rates(pair.cells, pair.cells.weight[None])[0]
    model = scores_of(case.name, case.y_true, case.y_pred)
    drawn = []
    for _ in range(draws):
        if case.name == "RMSE":
            labels = case.y_true + rate * rng.normal(size=len(case.y_true))
        else:
            classes = 2 if case.y_true.ndim > 1 else case.y_true.max() + 1
            labels = errors(rng, case.y_true, rate, classes)
        drawn.append(scores_of(case.name, case.y_true, labels))
    random = np.mean(drawn, axis=0)
    apart = np.abs(random - model).max()
    capped = pair.capped is not None and pair.capped.any()
    equal = "impossible" if capped else "exact" if apart < 0.01 else "on average"
    numbers = (f"{value:.3f}" for value in (rate.mean(), model.mean(), random.mean(), apart))
    return [case.labels, case.name, case.model, *numbers, equal]


def values(options):
    n, draws = (2_000, 5) if options.short else (ROWS, DRAWS)
    rng = np.random.default_rng(0)
    warnings.simplefilter("ignore")  # models that are worse than chance are in the table
    rows = [measured(case, draws, rng) for case in cases(n, rng)]
    header = ["labels", "score made equal", "model", "rate of errors", "score of the model"]
    header += ["of random labels", "largest difference of a label", "equally accurate"]
    return {"n": n, "draws": draws, "table": markdown(header, rows)}


if __name__ == "__main__":
    command(__file__, __doc__, values)
