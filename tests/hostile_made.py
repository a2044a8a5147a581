"""What hostile calls are made of, and what their targets need: objects that hold results."""

import functools

import numpy as np
import pandas as pd
from hostile import AUDITORS, HIRED, JOB, LABELS, PREDICTED, SEX, SOFT, TAGS, X, sums_of_tasks
from sklearn.linear_model import LogisticRegression

import skbiasamp
from skbiasamp import Contingency, DirectionalAuditor
from skbiasamp.mitigation import search

RUNS = {"a": PREDICTED, "b": HIRED}
BY = {"sensitive_features": SEX}
MONTHS = np.repeat(["2026-01-05", "2026-02-05", "2026-03-05"], len(HIRED))
# Rows of three months.
WATCHED = pd.DataFrame({"hired": HIRED * 3, "pred": PREDICTED * 3, "sex": SEX * 3, "month": MONTHS})
IN_MONTHS = {"target": "hired", "prediction": "pred", "sensitive": "sex", "time": "month"}


def pick(values, rng):
    """Return one of several values of any type."""
    return values[rng.integers(len(values))]


def counts_of(rng):
    if rng.random() < 0.1:
        return sums_of_tasks()
    labels = pick(
        [(HIRED, PREDICTED), (TAGS, TAGS), (HIRED,), (JOB, JOB), (HIRED, SOFT), RUNS], rng
    )
    weight = pick(LABELS["sample_weight"], rng)
    if labels is RUNS:
        return Contingency.from_labels(HIRED, y_preds=RUNS, **BY, sample_weight=weight)
    return Contingency.from_labels(*labels, **BY, sample_weight=weight)


MAKERS = {
    "AuditResult": lambda: DirectionalAuditor(reference="test").audit(HIRED, PREDICTED, **BY),
    "AuditReport": lambda: skbiasamp.audit(
        HIRED, PREDICTED, **BY, auditor=AUDITORS[0](), random_state=0
    ),
    "ComparisonResult": lambda: DirectionalAuditor(reference="test").compare(HIRED, RUNS, **BY),
    "AmplificationCurve": lambda: skbiasamp.model_selection.amplification_curve(HIRED, SOFT, **BY),
    "MitigationSearch": lambda: search(
        LogisticRegression(), X, HIRED, **BY, candidates={}, auditor=AUDITORS[0](), cv=2
    ),
    "ComparisonReport": lambda: skbiasamp.compare(HIRED, RUNS, **BY, auditor=AUDITORS[0]()),
    "CrossComparisonResult": lambda: skbiasamp.cross_audit(
        {"a": LogisticRegression(), "b": LogisticRegression(C=0.1)},
        X,
        HIRED,
        **BY,
        auditor=AUDITORS[0](),
        cv=2,
    ),
    "CrossAuditResult": lambda: skbiasamp.cross_audit(
        LogisticRegression(), X, HIRED, **BY, auditor=AUDITORS[0](), cv=2
    ),
    "Explanation": lambda: skbiasamp.explain(HIRED, PREDICTED, **BY, random_state=0),
    "Gate": lambda: made("AuditReport").gate(0.1),
    "SelectionRates": lambda: skbiasamp.selection_rates(PREDICTED, y_true=HIRED, **BY),
    "Timeline": lambda: skbiasamp.audit_over(
        WATCHED, **IN_MONTHS, n_draws=39, auditor=AUDITORS[0]()
    ),
}


@functools.cache
def made(name):
    """Return a result. Each is made once: nothing may change it."""
    return MAKERS[name]()


MADE = {name: functools.partial(lambda name, rng: made(name), name) for name in MAKERS}
MADE |= {"Contingency": counts_of}
