"""Rows of the evidence, by part: attackers (leakage, DPA, LIC), and models that are trained."""

import math

import numpy as np
from evidence_trials import Outcome, Row, difference, outcome
from evidence_worlds import world_of
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from skbiasamp import (
    Contingency,
    DirectionalAuditor,
    DPAAuditor,
    LeakageAuditor,
    LICAuditor,
    cross_audit,
)

# --------------------------------------------------------------------------- leakage and DPA

# Shares of two groups, and how often each has the label. COMPAS: race and recidivism; Adult: sex
# and income.
DATA = {
    "balanced": ((0.5, 0.5), (0.5, 0.5)),
    "COMPAS": ((0.398, 0.602), (0.416, 0.558)),
    "Adult": ((0.331, 0.669), (0.109, 0.306)),
    "random groups": ((0.5, 0.5), (0.2, 0.2)),
}
CELLS = np.indices((2, 2, 2)).reshape(3, -1)  # group, label, prediction of either
LEAKAGE, DPA, BACK = (
    auditor.set_params(n_resamples=199)
    for auditor in (LeakageAuditor(), DPAAuditor(), DPAAuditor("T->A"))
)


def chances(data, wrong, backwards=False, amplified=False):
    """Return the probability of each cell if a share of predictions is wrong.

    If amplified, errors are more frequent towards what is frequent in the group.
    """
    share, rate = (np.array(numbers) for numbers in DATA[data])
    group, label, guess = CELLS
    error = np.full(8, wrong)
    if amplified:
        often = (rate > share @ rate)[group] == (label == 0)
        error = np.where(often, 1.5, 0.5) * wrong
    right = guess == (group if backwards else label)
    p = share[group] * np.where(label == 1, rate[group], 1 - rate[group])
    return p * np.where(right, 1 - error, error)


def cells_of(weight, backwards):
    group, label, guess = CELLS[:, weight > 0]
    side = {"sensitive_pred": guess} if backwards else {"y_pred": guess}
    known = {"sensitive_features": group, "sample_weight": weight[weight > 0]}
    return Contingency.from_labels(label, **side, **known)


def attacked(auditor, data, wrong, n, amplified=False):
    """Return the trial of an attack on n rows; the true value is that of the best attackers."""
    backwards = getattr(auditor, "direction", None) == "T->A"
    p = chances(data, wrong, backwards, amplified)
    closed = clone(auditor).set_params(cv=None, interval=None, attacker="exact")
    true = closed.score(cells_of(np.rint(p * 1e10), backwards))

    def trial(rng):
        own = clone(auditor).set_params(random_state=int(rng.integers(2**31)))
        return outcome(own.audit(cells_of(rng.multinomial(n, p) * 1.0, backwards)), true)

    return trial


def several_tasks(auditor, model, n_tasks, n, gap, true):
    """Return the trial of an attack on several tasks of a world."""
    world = world_of((2, n_tasks), (model,), gap)

    def trial(rng):
        own = clone(auditor).set_params(random_state=int(rng.integers(2**31)))
        rows = world.draw(n, rng)
        predicted = rows.predictions(world.models[0], rng)
        return outcome(own.audit(rows.labels, predicted, sensitive_features=rows.group), true)

    return trial


def flipped(auditor, n_tasks, n, wrong=0.15):
    """Return the trial of an attack on tasks whose predictions are wrong at random."""
    world = world_of((2, n_tasks), ("3 % errors",), 0.1)

    def trial(rng):
        own = clone(auditor).set_params(random_state=int(rng.integers(2**31)))
        rows = world.draw(n, rng)
        predicted = rows.labels ^ (rng.random(rows.labels.shape) < wrong)
        return outcome(own.audit(rows.labels, predicted, sensitive_features=rows.group), 0.0)

    return trial


def attacks_compared(n, wrong=0.2):
    """Return the trial of a comparison of the leakage of two models with random errors."""
    p = chances("COMPAS", wrong)

    def trial(rng):
        group, label, first = CELLS[:, rng.choice(8, size=n, p=p)]
        second = label ^ (rng.random(n) < wrong)
        own = clone(LEAKAGE).set_params(random_state=int(rng.integers(2**31)))
        models = {"a": first, "b": second}
        return difference(own.compare(label, models, sensitive_features=group))

    return trial


def attackers():
    question = "Leakage and DPA: random errors, so that nothing more is revealed"
    for metric, auditor, data, wrong, n in (
        ("leakage", LEAKAGE, "balanced", 0.2, 500),
        ("leakage", LEAKAGE, "balanced", 0.05, 5_000),
        ("leakage", LEAKAGE, "COMPAS", 0.2, 1_000),
        ("leakage", LEAKAGE, "random groups", 0.2, 5_000),
        ("DPA A→T", DPA, "balanced", 0.2, 500),
        ("DPA A→T", DPA, "Adult", 0.05, 5_000),
        ("DPA A→T", DPA, "random groups", 0.2, 1_000),
        ("DPA T→A", BACK, "random groups", 0.05, 500),
    ):
        text = f"{metric}; {data}, {n:,} rows; {100 * wrong:.0f} % wrong"
        yield Row(question, text, attacked(auditor, data, wrong, n), failed=True)
    closed = clone(DPA).set_params(cv=None)
    text = "DPA A→T, closed form (`cv=None`); balanced, 500 rows; 40 % wrong"
    yield Row(question, text, attacked(closed, "balanced", 0.4, 500))
    text = "leakage; 2 × 6, 500 rows; 15 % wrong"
    yield Row(question, text, flipped(LEAKAGE, 6, 500), most=200)
    trained = clone(LEAKAGE).set_params(attacker=LogisticRegression(), n_draws=3)
    text = "leakage, logistic regression; 2 × 1, 500 rows; 15 % wrong"
    yield Row(question, text, flipped(trained, 1, 500), most=200)
    text = "two models (`compare`), leakage; COMPAS, 1,000 rows; 20 % wrong"
    yield Row(question, text, attacks_compared(1_000))
    for metric, auditor in (("leakage", LEAKAGE), ("DPA A→T", DPA)):
        trial = attacked(auditor, "COMPAS", 0.2, 1_000, amplified=True)
        text = f"{metric}; COMPAS, 1,000 rows; 20 % wrong, more often towards the frequent"
        yield Row(question, text, trial, "reveals more")


def joint_law():
    """Another question than amplification, so that "reveals more" is right here."""
    question = "Leakage and DPA: labels and predictions with the same joint distribution"
    for metric, auditor, n_tasks in (
        ("leakage", LEAKAGE, 1),
        ("leakage", LEAKAGE, 5),
        ("leakage", LEAKAGE, 10),
        ("DPA A→T", DPA, 1),
        ("DPA A→T", DPA, 5),
    ):
        trial = several_tasks(auditor, "exchangeable", n_tasks, 1_000, 0.15, math.nan)
        text = f"{metric}; 2 × {n_tasks}, 1,000 rows; ± 15 pp; exchangeable"
        yield Row(question, text, trial, "reveals more", most=60 if n_tasks > 5 else 400)


# --------------------------------------------------------------------------- captions

N_WORDS = 40
VERBS = [f"verb{chr(97 + i)}" for i in range(20)]
PLACES = [f"{chr(97 + i % 26)}place{chr(97 + i // 26)}" for i in range(N_WORDS)]


def words_of(group, association, rng):
    """Return a word a row: frequent ones first, and half of them more frequent in each group."""
    often, sign = 1 / np.arange(2, N_WORDS + 2), np.where(np.arange(N_WORDS) % 2, 1, -1)
    drawn = np.empty(len(group), dtype=int)
    for value in (0, 1):
        p = often * (1 + association * sign * (1 if value else -1))
        rows = group == value
        drawn[rows] = rng.choice(N_WORDS, size=rows.sum(), p=p / p.sum())
    return drawn


def captions(group, association, rng):
    """Return captions of two places and a verb."""
    first, second = (words_of(group, association, rng) for _ in range(2))
    verbs = rng.choice(VERBS, size=len(group))
    return [
        f"a person {verb} in the {PLACES[a]} near a {PLACES[b]}"
        for verb, a, b in zip(verbs, first, second, strict=True)
    ]


def texts():
    question = "LIC: captions of people and of a model"

    def of(human, model, n, true):
        def trial(rng):
            group = rng.integers(0, 2, n)
            written = (captions(group, association, rng) for association in (human, model))
            auditor = LICAuditor(n_draws=5, n_resamples=199, random_state=int(rng.integers(2**31)))
            return outcome(auditor.audit(*written, sensitive_features=group), true)

        return trial

    for text, human, model, right in (
        ("words at random", 0.0, 0.0, ""),
        ("words depend on the group equally", 0.4, 0.4, ""),
        ("words of the model depend on it more", 0.2, 0.3, "reveals more"),
    ):
        trial = of(human, model, 500, math.nan if right else 0.0)
        yield Row(question, f"500 captions; {text}", trial, right, most=100)


# --------------------------------------------------------------------------- folds


def seeing(columns, classifier):
    """Return a learner that sees some columns only."""
    return make_pipeline(make_column_transformer(("passthrough", columns)), classifier)


def features(n, rng):
    """Return features, labels and groups. Columns 0 and 1 are alike; 2 and 3 reveal the group."""
    group = rng.integers(0, 2, n)
    skill, reveals = rng.normal(size=(n, 2)), group[:, None] + rng.normal(0, 0.7, (n, 2))
    y = (skill.sum(axis=1) + 0.8 * group + rng.normal(size=n) > 0.6).astype(int)
    return np.column_stack([skill, reveals]), y, group


def over_folds(learners, n):
    """Return the trial of learners on the same five folds; with two, that of their difference."""

    def trial(rng):
        X, y, group = features(n, rng)
        seed = int(rng.integers(2**31))
        if len(learners) == 1:
            group = rng.permutation(group)
        auditor = DirectionalAuditor()
        known = {"sensitive_features": group, "auditor": auditor, "random_state": seed}
        if len(learners) == 1:
            result = cross_audit(learners[0], X, y, **known)
            ends = (result.estimate, result.low, result.high)
        else:
            table = cross_audit(dict(zip("ab", learners, strict=True)), X, y, **known).table
            names = ("difference", "difference_low", "difference_high")
            ends = table.loc[1, list(names)].astype(float)
        value, low, high = ends
        return Outcome(value, low, high, 0.0, verdict=(low > 0) * 1.0 - (high < 0))

    return trial


def folds():
    question = "Five folds (`cross_audit`), group → task"
    linear, tree = LogisticRegression(), DecisionTreeClassifier(random_state=0)
    for text, learners, n in (
        ("one linear model, random groups", [seeing([0, 1], linear)], 500),
        ("two linear models, alike", [seeing([0, 2], linear), seeing([1, 3], linear)], 500),
        ("two linear models, alike", [seeing([0, 2], linear), seeing([1, 3], linear)], 2_000),
        ("two trees, alike", [seeing([0, 2], tree), seeing([1, 3], tree)], 500),
    ):
        yield Row(question, f"{n:,} rows; {text}", over_folds(learners, n), most=200)
