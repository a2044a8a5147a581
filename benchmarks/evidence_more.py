"""Rows of the evidence, by part: related measures, prices, clusters and weights."""

from dataclasses import replace

import numpy as np
from evidence_trials import A_T_BOOT, Row, at_signs, declared, outcome, ready, sized
from evidence_worlds import change_of

from skbiasamp import NumericAuditor
from skbiasamp.metrics import (
    BiasDisparityAuditor,
    DifferentialFairnessAuditor,
    LabelAuditor,
    PercentageAuditor,
)

OF_PERSON = 5

# --------------------------------------------------------------------------- related measures


def value_of(world, auditor):
    """Return the true value of a measure that has no signs, or whose signs are certain."""
    before, after = world.joint(), world.joint(model=world.models[0])
    if isinstance(auditor, PercentageAuditor):
        equal = 1 / len(before)
        sides = (np.abs(joint / joint.sum(axis=0) - equal).mean() for joint in (before, after))
    elif isinstance(auditor, LabelAuditor):
        sign = np.sign(before.sum() - 0.5)
        sides = (sign * joint.sum() for joint in (before, after))
    else:
        sides = (largest_ratio(joint[:, 0] / world.groups()) for joint in (before, after))
    first, second = sides
    return second - first


def largest_ratio(rate):
    """Return the largest logarithm of a ratio of two groups' rates of either class."""
    logs = np.log([rate, 1 - rate])
    return (logs.max(axis=1) - logs.min(axis=1)).max()


def related_audit(world, auditor, n, train=0):
    """Return the trial of an audit of a related measure."""
    disparity = isinstance(auditor, BiasDisparityAuditor)
    true = None if disparity else value_of(world, auditor)
    change = change_of(world, auditor, world.models[0])[0] if disparity else None

    def trial(rng):
        own, rows = ready(auditor, world, train, rng), world.draw(n, rng)
        predicted = rows.predictions(world.models[0], rng)
        result = own.audit(rows.labels, predicted, sensitive_features=rows.group)
        return outcome(result, at_signs(result, change) if disparity else true)

    return trial


def related():
    row = declared("Related measures", related_audit)
    disparity = {"metric": "bias disparity", "auditor": BiasDisparityAuditor()}
    fairness = {
        "metric": "differential fairness",
        "auditor": DifferentialFairnessAuditor(),
    }
    percentage = {"metric": "percentage", "auditor": PercentageAuditor()}
    label = {"metric": "label amplification", "auditor": LabelAuditor()}
    yield row((5, 20), 1_000, "70 % errors", 0.1, **disparity, failed=True)
    yield row((5, 20), 1_000, "40 % errors", 0.05, **disparity, train=1_000)
    yield row((5, 20), 1_000, "over-predicts", **disparity)
    yield row((3, 1), 1_000, "40 % errors", **fairness)
    yield row((3, 1), 5_000, "40 % errors", 0.1, **fairness)
    yield row((3, 5), 1_000, "40 % errors", **percentage)
    yield row((3, 5), 5_000, "40 % errors", 0.1, **percentage)
    yield row((2, 1), 1_000, "40 % errors", **label)
    amplifies = {"train": 2_000, "right": "amplifies"}
    yield row((5, 6), 1_000, "differences doubled", 0.07, **disparity, **amplifies)
    yield row((3, 1), 1_000, "differences doubled", 0.07, **fairness, **amplifies)
    yield row((3, 5), 1_000, "differences doubled", 0.07, **percentage, **amplifies)


# --------------------------------------------------------------------------- prices


def prices(kind, model, n, rng):
    """Return group, price and predicted price of n rows, and each group's true change of mean."""
    first = rng.random(n) >= 0.3
    gap = 0.0 if model == "random groups" else 0.4
    x, z = rng.normal(size=(2, n))
    if kind == "normal":
        expected, means = 100 + 40 * gap * first + 30 * x, np.array([100 + 40 * gap, 100])
        paid = expected + 40 * z
    else:
        expected, means = np.exp(gap * first + 0.4 * x), np.exp([gap + 0.08, 0.08])
        paid = expected * np.exp(z - 0.5)
    change = np.zeros(2)
    if model == "halves differences":
        mean = np.array([0.7, 0.3]) @ means
        expected, change = (expected + mean) / 2, (mean - means) / 2
    if model == "10 % more":
        expected, change = expected * np.where(first, 1.1, 1.0), np.array([0.1 * means[0], 0.0])
    return np.where(first, "first", "second"), paid, expected, change


def priced(kind, model, n, train, interval):
    """Return the trial of an audit of prices."""
    share = np.array([0.7, 0.3])

    def trial(rng):
        auditor = NumericAuditor(interval=interval, reference="test")
        auditor.set_params(random_state=int(rng.integers(2**31)))
        if train:
            group, paid, *_ = prices(kind, model, train, rng)
            auditor.set_params(reference="train").fit(paid, sensitive_features=group)
        group, paid, predicted, change = prices(kind, model, n, rng)
        result = auditor.audit(paid, predicted, sensitive_features=group)
        apart = (change - share @ change) / result.table["sd"].to_numpy()
        return outcome(result, at_signs(result, apart))

    return trial


def numeric():
    for kind, model, n, train, interval, right in (
        ("normal", "expected price", 500, 2_000, "analytic", ""),
        ("normal", "random groups", 500, 0, "bootstrap", ""),
        ("lognormal", "expected price", 500, 2_000, "bootstrap", ""),
        ("lognormal", "expected price", 5_000, 2_000, "analytic", ""),
        ("lognormal", "random groups", 500, 0, "analytic", ""),
        ("lognormal", "halves differences", 500, 2_000, "bootstrap", "reduces"),
        ("lognormal", "10 % more", 5_000, 2_000, "analytic", "amplifies"),
    ):
        training = f"{train:,} training rows" if train else ""
        boot = "bootstrap" if interval == "bootstrap" else ""
        setting = sized((2, 1), n, f"{kind} prices", model, training, boot)
        trial = priced(kind, model, n, train, interval)
        failed = kind == "lognormal"
        yield Row(
            "Numeric tasks: two groups, 70 and 30 % of rows", setting, trial, right, failed=failed
        )


# --------------------------------------------------------------------------- clusters and weights


def clustered(world, auditor, n, train=0, alike=1.0):
    """Return the trial of an audit of people with several rows, equal ones for some of them."""
    model, people = world.models[0], n // OF_PERSON
    change, divisor = change_of(world, auditor, model)
    person = np.repeat(np.arange(people), OF_PERSON)

    def trial(rng):
        own = ready(auditor, world, train, rng)
        kind = rng.choice(len(world.share), size=people, p=world.share)
        rows = world.draw(n, rng, kind[person])
        same = (rng.random(people) < alike)[person]
        which = np.where(same, person * OF_PERSON, np.arange(n))
        labels, predicted = rows.labels[which], rows.predictions(model, rng)[which]
        result = own.audit(labels, predicted, sensitive_features=rows.group, clusters=person)
        return outcome(result, at_signs(result, change, divisor))

    return trial


def fractional(world, auditor, n, train=0):
    """Return the trial of an audit with weights, which are larger in every second group."""
    model, larger = world.models[0], 1 + 0.5 * (np.arange(len(world.share)) % 2)
    weighted = replace(world, share=world.share * larger / (world.share @ larger))
    change, divisor = change_of(weighted, auditor, model)

    def trial(rng):
        own, rows = ready(auditor, world, train, rng), world.draw(n, rng)
        weight = rng.gamma(2, 0.5, n) * larger[rows.group]
        known = {"sensitive_features": rows.group, "sample_weight": weight}
        result = own.audit(rows.labels, rows.predictions(model, rng), **known)
        return outcome(result, at_signs(result, change, divisor))

    return trial


def counted(world, auditor, n, train=0):
    """Return the trial of an audit of equal rows of one task, which are counted by weights."""
    change, divisor = change_of(world, auditor, world.models[0])

    def trial(rng):
        own, rows = ready(auditor, world, train, rng), world.draw(n, rng)
        every = np.column_stack([rows.group, rows.labels, rows.predictions(world.models[0], rng)])
        cells, weight = np.unique(every, axis=0, return_counts=True)
        group, label, predicted = cells.T
        result = own.audit(label, predicted, sensitive_features=group, sample_weight=weight)
        return outcome(result, at_signs(result, change, divisor))

    return trial


def dependent():
    question = f"Clusters of {OF_PERSON} rows a person, and weights"
    row, alike = declared(question, clustered), {"metric": "all rows of a person alike"}
    yield row((2, 1), 2_500, "40 % errors", 0.15, **alike, train=2_000)
    yield row((2, 1), 2_500, "40 % errors", 0.15, **alike, train=2_000, auditor=A_T_BOOT)
    yield row((5, 10), 2_500, "40 % errors", 0.05, **alike)
    half = {"metric": "rows of half of the people alike", "alike": 0.5}
    yield row((5, 10), 2_500, "40 % errors", 0.05, **half)
    yield row((5, 10), 2_500, "40 % errors", 0.05, **half, train=500, auditor=A_T_BOOT)
    few = alike | {"kind": {"sizes": (92, 8)}}
    yield row((2, 1), 500, "40 % errors", 0.15, **few, train=2_000)
    yield row((2, 1), 500, "40 % errors", 0.15, **few, train=2_000, auditor=A_T_BOOT)
    row, weights = declared(question, fractional), {"metric": "fractional weights"}
    yield row((5, 10), 1_000, "40 % errors", 0.05, **weights)
    yield row((3, 1), 1_000, "over-predicts", **weights, train=2_000, auditor=A_T_BOOT)
    row = declared(question, counted)
    yield row((3, 1), 1_000, "40 % errors", 0.05, metric="equal rows counted")
