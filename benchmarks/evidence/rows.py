"""Rows of the evidence, by question: a world, an auditor, and which verdict is right."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import NamedTuple

import numpy as np
from scipy import stats
from worlds import World, classes, features, learned, model_of, numbers, pareto_sizes

from skbiasamp import cross_audit
from skbiasamp.metrics import (
    BiasDisparityAuditor,
    DifferentialFairnessAuditor,
    DirectionalAuditor,
    LabelAuditor,
    MALSAuditor,
    MultiAttributeAuditor,
    NumericAuditor,
    PercentageAuditor,
)

NONE, AMPLIFIES, REDUCES = "no clear effect", "amplifies", "reduces"
REVERSES, ADDS = "reverses", "adds a difference"
SIGN = "sign"  # any verdict is right that has the direction of the true value
WORDS = {
    "no clear difference": NONE,
    "amplifies more": AMPLIFIES,
    "amplifies less": REDUCES,
    "adds more": ADDS,
    "adds less": ADDS,
}


class Outcome(NamedTuple):
    """What an audit of one data set says, and what is true."""

    value: float
    low: float
    high: float
    true: float
    p_value: float
    verdict: str
    welch: float = np.nan
    fisher: float = np.nan


class Row(NamedTuple):
    question: str
    setting: str
    trial: Callable[[np.random.Generator], Outcome]
    right: str = ""  # the right verdict; none if nothing changes
    most: int = 10_000  # data sets
    falsely: float = 0.05  # the target: so many false verdicts at most
    width: float = 1.25  # and so wide at most


def passed(rows, uses):
    """Return the arguments of an audit; `uses` are the labels and predictions that it gets."""
    given = {"y_true": None, "sensitive_features": rows.g}
    names = {"y": "y_true", "q": "y_pred", "h": "sensitive_pred"}
    given |= {names[name]: getattr(rows, name) for name in uses}
    if rows.w is not None:
        given["sample_weight"] = rows.w
    if rows.c is not None:
        given["clusters"] = rows.c
    return given


def fitted(auditor, train):
    """Return the auditor with training labels, or with the labels of the audited rows."""
    if train is None:
        return auditor.set_params(reference="test")
    return auditor.fit(train.y, sensitive_features=train.g)


def pairs_of(auditor, rows, uses="yq"):
    """Return what an auditor finds in each pair of group and task."""
    return auditor.pairs_of(auditor.count_audited(**passed(rows, uses)))[1]


def outcome(result, true=0.0, *tests):
    ends = result.value, result.low, result.high
    return Outcome(*ends, true, result.p_value, result.verdict, *tests)


def true_value(pairs, large):
    """Return the value in a population, at the signs that an audit used."""
    if np.isinf(large.aggregate.bound) and hasattr(large.aggregate, "before"):
        return large.published  # the largest of all pairs has no signs
    change = large.change.value
    if not pairs.labelled.samples:  # compared with these training rows, which are known
        change = change + large.labelled.value - pairs.labelled.value
    parts = pairs.aggregate.weights(pairs.change.value) * pairs.signs.values * change
    return float(np.nansum(parts))


def of_audit(draw, make=DirectionalAuditor, n_train=None, *, uses="yq", right="", tested=False):
    """Return the trial of one audit."""

    @cache
    def population():
        rng = np.random.default_rng(99)
        n_tasks = draw(rng, 100).y[:1].size
        rows = draw(rng, 1_000_000 // max(4, n_tasks))
        return pairs_of(fitted(make(), None if n_train is None else rows), rows, uses)

    def trial(rng):
        rows = draw(rng)
        auditor = fitted(make(), None if n_train is None else draw(rng, n_train))
        result, true = auditor.audit(**passed(rows, uses)), 0.0
        if right:
            true = true_value(pairs_of(auditor, rows, uses), population())
        return outcome(result, true, *(others(rows) if tested else ()))

    return trial


def others(rows):
    """Return the p-values of Welch's test and of Fisher's, of the change in two groups."""
    change = rows.q[:, 0] - rows.y[:, 0]
    first, second = (change[rows.g == group] for group in (0, 1))
    with np.errstate(all="ignore"):
        welch = stats.ttest_ind(first, second, equal_var=False).pvalue
    moved = [[int((part != 0).sum()), int((part == 0).sum())] for part in (first, second)]
    return (1.0 if np.isnan(welch) else welch), stats.fisher_exact(moved)[1]


def of_model(draw, train, *, right=""):
    """Return the trial of a model that is trained anew for each data set."""

    def trial(rng):
        trained, rows, many = draw(rng)
        auditor = fitted(DirectionalAuditor(), trained if train else None)
        result, true = auditor.audit(**passed(rows, "yq")), 0.0
        if right:
            true = true_value(pairs_of(auditor, rows), pairs_of(auditor, many))
        return outcome(result, true)

    return trial


def of_models(worlds, n_train=None, make=DirectionalAuditor, *, right=""):
    """Return the trial of a comparison: of the first model with one of the others."""

    def models_of(rng, n=None):
        state = rng.integers(2**31)
        rows = [world(np.random.default_rng(state), n) for world in worlds]
        # The same labels and groups: worlds differ in how predictions are drawn.
        return rows[0], {str(i): own.q for i, own in enumerate(rows)}

    @cache
    def population():
        rows, models = models_of(np.random.default_rng(99), 200_000)
        auditor = fitted(make(), None if n_train is None else rows)
        return [pairs_of(auditor, rows._replace(q=q)) for q in models.values()]

    def trial(rng):
        rows, models = models_of(rng)
        auditor = fitted(make(), None if n_train is None else worlds[0](rng, n_train))
        given = passed(rows, "y")
        result = auditor.compare(given.pop("y_true"), models, **given)
        which, true = 1 + int(rng.integers(len(worlds) - 1)), 0.0
        line = result.table.iloc[which]
        if right:
            pairs, large = pairs_of(auditor, rows), population()
            true = true_value(pairs, large[which]) - true_value(pairs, large[0])
        names = ("difference", "difference_low", "difference_high")
        verdict = WORDS.get(line["difference_verdict"], line["difference_verdict"])
        return Outcome(
            *(float(line[name]) for name in names), true, float(line["p_value"]), verdict
        )

    return trial


def of_runs(draw, runs, n_train=None, *, between=0.0):
    """Return the trial of several runs; `between` is how much the rates of runs differ."""

    def trial(rng):
        rows = draw(rng)
        moved = [replace(draw, redrawn=np.asarray(draw.redrawn or draw.labels) + between * d)
                 for d in rng.normal(size=(runs, 1)) * [[-1, 1]]]  # fmt: skip
        # Runs predict alike in three of four rows.
        predictions = [
            np.where(rng.random(rows.q.shape) < 0.25, predicted(world, rng, rows), rows.q)
            for world in moved
        ]
        auditor = fitted(DirectionalAuditor(), None if n_train is None else draw(rng, n_train))
        return outcome(auditor.audit_runs(rows.y, predictions, sensitive_features=rows.g))

    return trial


def predicted(world, rng, rows):
    """Return predictions of a world for labels and groups that are given."""
    rates = np.atleast_2d(np.asarray(world.redrawn, float).T).T
    keep = np.resize(world.keep, len(rates))[rows.g][:, None]
    redrawn = rng.random(rows.y.shape) < rates[rows.g]
    return np.where(rng.random(rows.y.shape) < keep, rows.y, redrawn)


def of_folds(name, n, groups, base):
    """Return the trial of a cross-validation; groups have no influence on anything."""

    def trial(rng):
        x, y, g = features(rng, n, groups, base=base)
        how = {"sensitive_features": g, "random_state": int(rng.integers(2**31))}
        (result,) = cross_audit(model_of(name), x, y, **how).values()
        return outcome(result)

    return trial


def people(rng, n):
    """Return features, chances of the label, and groups, which features and label depend on."""
    x, g = rng.normal(size=(n, 4)), rng.integers(0, 2, n)
    x[:, 0] += 0.5 * g
    return np.column_stack([x, g]), logistic(x[:, 0] + 0.7 * x[:, 1] + 0.6 * g - 0.6), g


def of_samples(name, n):
    """Return the trial of a cross-validation of a model that sees the group."""

    def gap(labels, g):
        return labels[g == 1].mean() - labels[g == 0].mean()

    @cache
    def true():
        """Return the mean value in the population of models of other samples: 4 of 5 rows."""
        rng, values = np.random.default_rng(99), []
        many = [people(rng, 20_000) for _ in range(20)]
        for i in range(1_000):
            x, chance, g = people(rng, 4 * n // 5)
            y = rng.random(len(g)) < chance
            others, chances, groups = many[i % 20]
            predicted = model_of(name).fit(x, y).predict(others)
            values.append(np.sign(gap(y, g)) * gap(predicted - chances, groups) / 2)
        return float(np.mean(values))

    def trial(rng):
        x, chance, g = people(rng, n)
        how = {"sensitive_features": g, "random_state": int(rng.integers(2**31))}
        y = (rng.random(n) < chance).astype(int)
        return outcome(cross_audit(model_of(name), x, y, **how)["directional A->T"], true())

    return trial


NULL_TEST = "Group → task (A→T), signs from the audited rows: nothing changes"
NULL_TRAIN = "Group → task (A→T), signs from training rows: nothing changes"
FEW = "Few rows, few changed rows, weights and clusters: nothing changes"
EFFECT = "Group → task (A→T): the model changes associations"
EQUAL = "Labels equal, and the model adds a difference"
MODELS = "Trained models, and groups that have no influence"
OTHER_NULL = "Task → group, MALS, sets, soft predictions, training rates: nothing changes"
NUMERIC = "Numeric tasks: two groups, 70 and 30 % of rows"
OTHER_EFFECT = "The same: the model changes associations"
RELATED = "Related measures"
COMPARE = "Two models on the same rows (`compare`)"
RUNS = "Several runs of one model (`audit_runs`)"
FOLDS = "Five folds (`cross_audit`), random groups"
SAMPLES = "Models of other training samples (`cross_audit`)"
POWER = "Power, compared with Welch's and Fisher's tests of the same change"


def logistic(values):
    return 1 / (1 + np.exp(-values))


B20 = 0.15 * np.random.default_rng(12).normal(size=(5, 20))
B6 = np.random.default_rng(3).normal(size=(5, 6))
ZIPF = 1 / np.arange(1, 13)
ZIPF = ZIPF / ZIPF.sum()
CLIMB = 0.2 + 0.02 * np.arange(12)
R20 = logistic(B20 - 1)
MEAN = np.array([[0.2, 0.3, 0.4], [0.3, 0.25, 0.25], [0.4, 0.35, 0.25]])


def both(questions, table):
    """Yield each row with signs of the audited rows, and with signs of training rows."""
    for setting, world, *how in table:
        how = dict(*how)
        for train, name in enumerate(questions):
            n_train = 2 * world.n if train else None
            trial = of_audit(world, n_train=n_train, right=how.get("right", ""))
            yield Row(name, setting if name in NULLS else setting + SIGNS[train], trial, **how)


NULLS = (NULL_TEST, NULL_TRAIN)
SIGNS = ("; signs: audited rows", "; signs: training rows")
WIDE, OFTEN = {"width": 1.6}, {"falsely": 0.07}
# Settings, worlds, and what else is right or allowed.
NOTHING_CHANGES = (
    ("2 × 1; 25 and 45 %", World([0.25, 0.45])),
    ("2 × 1; 25 and 26 %", World([0.25, 0.26])),
    ("5 × 20, 2,000 rows", World(R20, n=2_000)),
    ("5 × 20, 2,000 rows; labels equal", World(np.full((5, 20), 0.27), n=2_000), OFTEN),
    ("12 Zipf groups, 2,000 rows", World(CLIMB, n=2_000, shares=ZIPF)),
    ("12 Zipf groups × 8, 4,000 rows",
     World(np.outer(CLIMB, np.linspace(0.6, 1.4, 8)), n=4_000, shares=ZIPF)),
    ("12 Zipf groups, counted whole (smallest 16 rows)",
     World(CLIMB, sizes=[int(16 * z / ZIPF[-1]) for z in ZIPF])),
    ("2 × 1; constant model; labels equal", World([0.3, 0.3], [0.0, 0.0])),
    ("3 × 1; labels equal, 20 % more for all", World([0.1] * 3, keep=1, over=0.2)),
    ("5 × 20, 2,000 rows; 30 % redrawn", World(R20, n=2_000, keep=0.7)),
)  # fmt: skip
FEW_AND_DEPENDENT = (
    ("60 rows", World([0.3, 0.5], n=60), WIDE),
    ("100 rows; 10 % redrawn", World([0.3, 0.5], n=100, keep=0.9), WIDE),
    ("5 × 20, 2,000 rows; 3 % redrawn", World(R20, n=2_000, keep=0.97), WIDE),
    ("groups of 300, 100 and 8", World([0.3] * 3, sizes=[300, 100, 8]), {"width": 1.7}),
    ("groups of 300, 5 and 5", World([0.3] * 3, sizes=[300, 5, 5]), {"width": 1.7}),
    ("lognormal weights", World([0.3, 0.4], n=1_000, weights="lognormal")),
    ("whole census weights, divided by their mean",
     World([0.3, 0.4], n=1_000, weights="census")),
    ("25 clusters, one large", World([0.3, 0.4], n=780, clusters=[300] + [20] * 24), OFTEN),
    ("clusters of Pareto sizes", World([0.3, 0.4], n=2_000, clusters=pareto_sizes), OFTEN),
)  # fmt: skip
EFFECTS = (
    (AMPLIFIES, "2 × 1; 30 and 40 % → 27 and 43 %", World([0.3, 0.4], [0.27, 0.43])),
    (AMPLIFIES, "5 × 6, 2,000 rows; differences doubled",
     World(logistic(0.3 * B6 - 1), logistic(0.6 * B6 - 1), n=2_000)),
    (REDUCES, "2 × 1; 25 and 45 % → 35 and 35 %", World([0.25, 0.45], [0.35, 0.35])),
    (REVERSES, "2 × 1; weak, 30 and 32 % → 30 and 22 %", World([0.3, 0.32], [0.3, 0.22])),
    (REVERSES, "3 × 1; weak, reversed", World([0.3, 0.315, 0.33], [0.35, 0.3, 0.25])),
    (REVERSES, "2 × 1; 30 and 40 % → 40 and 25 %", World([0.3, 0.4], [0.4, 0.25])),
    (REVERSES, "5 × 6, 2,000 rows; reversed",
     World(logistic(0.2 * B6 - 1), logistic(-0.2 * B6 - 1), n=2_000)),
    (REDUCES, "3 × 1; 20 % of negatives made positive in all groups",
     World([0.1, 0.12, 0.2], keep=1, over=0.2)),
    (ADDS, "a group of 29 rows loses all positives",
     World([0.4] * 3, [0.4, 0.4, 0.0], sizes=[300, 300, 29], keep=[1, 1, 0])),
)  # fmt: skip
EQUAL_LABELS = (
    *((f"2 × 1, 4,000 rows; {points} points",
       World([0.3, 0.3], [0.27 - points / 200, 0.27 + points / 200], n=4_000))
      for points in (2, 5, 10)),
    ("2 × 8, 4,000 rows; 10 points, either group",
     World(np.full((2, 8), 0.3), 0.3 + 0.05 * np.outer([-1, 1], [1, -1] * 4), n=4_000)),
)  # fmt: skip


def models():
    for name in ("logistic", "tree", "boosting"):
        for train in (False, True):
            draw = learned(name, 500, groups=3)
            setting = f"{name}, 500 training rows, 3 groups{SIGNS[train]}"
            most = 100 if name == "boosting" else 10_000
            yield Row(MODELS, setting, of_model(draw, train), most=most)
    for train in (False, True):
        draw = learned("memorising tree", 300, groups=2, sees_groups=True)
        setting = f"memorising tree that gets the group, 300 training rows{SIGNS[train]}"
        yield Row(MODELS, setting, of_model(draw, train, right=SIGN), SIGN)


def audited(question, setting, draw, make, n_train=None, right="", uses="yq"):
    """Return the row of one audit."""
    return Row(question, setting, of_audit(draw, make, n_train, uses=uses, right=right), right)


def other(question, right):
    """Yield rows of auditors beside A→T, with and without a change."""
    change = 1.0 if right else 0.0
    moved = MEAN + change * 0.5 * (MEAN - MEAN.mean(axis=0))
    backwards = partial(DirectionalAuditor, "T->A")
    base = partial(DirectionalAuditor, base="train")
    sets = partial(MultiAttributeAuditor, "A->T", combinations="all", max_size=2)
    sets_of_test = partial(sets, base="test")
    named = World(MEAN, n=1_500, keep=0.5, sharp=1 + change)
    many = World(R20, logistic((1 + change) * B20 - 1), n=2_000, keep=0.3)
    two = World([0.3, 0.45], [0.3 - 0.05 * change, 0.45 + 0.05 * change], keep=0.3)
    three = World(MEAN, moved, n=1_500, keep=0.3)
    few = World(0.4 * R20[:, :8], n=2_000, keep=0.3)
    soft = World(MEAN, moved, n=1_500, soft=True)
    weak = World([0.3, 0.31], None if not right else [0.2, 0.41], n=1_000)
    generated = World(MEAN, moved, n=1_000)
    many_named = replace(many, sharp=1 + change)
    table = [
        ("T→A, 3 × 3", named, backwards, None, right, "yh"),
        ("T→A, 3 × 3; 3,000 training rows", named, backwards, 3_000, right, "yh"),
        ("T→A, 5 × 20; 2,000 training rows", many_named, backwards, 2_000, right, "yh"),
    ]
    for world, size in ((two, "2 × 1"), (three, "3 × 3"), (many, "5 × 20")):
        table += [
            (f"MALS, {size}; signs: audited rows", world, MALSAuditor, None, right),
            (f"MALS, {size}; 500 training rows", world, MALSAuditor, 500, right or SIGN),
        ]
    table += [
        ("sets of tasks, A→T, 3 × 6", three, sets_of_test, None, right),
        ("sets of tasks, A→T, 3 × 6; 3,000 training rows", three, sets, 3_000, right),
        ("rare sets of tasks, A→T, 5 × 36", few, sets_of_test, None, right),
        ("soft predictions, 3 × 3", soft, DirectionalAuditor, None, right),
        ("soft predictions, 3 × 3; 3,000 training rows", soft, DirectionalAuditor, 3_000, right),
        ('base="train", 3 × 3; 3,000 training rows', three, base, 3_000, right),
        ("generated rows, 3 × 3; 2,000 training rows", generated, base, 2_000, right, "q"),
        ("generated rows, 2 × 1, weak labels; 500 training rows",
         weak, base, 500, right and SIGN, "q"),
    ]  # fmt: skip
    for setting, *how in table:
        if not (right and setting.startswith("rare")):  # rare sets differ between data sets
            yield audited(question, setting, *how)


def numeric():
    for slope, right in ((1.0, ""), (1.5, AMPLIFIES)):
        after = "; differences grow" if right else ""
        for setting, draw, n_train in (
            ("normal, 2 × 1, 500 rows", numbers(False, 0.4, slope), None),
            ("normal, 2 × 4, 500 rows; 2,000 training rows", numbers(False, 0.4, slope, 4), 2_000),
            ("skewed, 2 × 1, 500 rows", numbers(True, 0.4, slope), None),
            ("skewed, 2 × 4, 500 rows", numbers(True, 0.4, slope, 4), None),
        ):
            yield audited(NUMERIC, setting + after, draw, NumericAuditor, n_train, right)
    yield audited(
        NUMERIC, "skewed, 2 × 4, 500 rows; random groups", numbers(True, 0, 1, 4), NumericAuditor
    )


def related():
    for change, right in ((0.0, ""), (0.5, AMPLIFIES)):
        moved = MEAN + change * (MEAN - MEAN.mean(axis=0))
        world = World(MEAN, moved, n=1_500, keep=0.3)
        near = World([0.3, 0.31], [0.3 - 0.1 * change, 0.31 + 0.1 * change], keep=0.3)
        first = World(MEAN[:, 0], moved[:, 0], keep=0.3)
        shares = np.array([0.4, 0.3, 0.2, 0.1])
        labels = classes(shares, shares + change * np.array([0.2, -0.1, -0.05, -0.05]))
        for setting, draw, make, n_train in (
            ("bias disparity, 3 × 3", world, BiasDisparityAuditor, None),
            ("bias disparity, 3 × 3; 3,000 training rows", world, BiasDisparityAuditor, 3_000),
            ("percentage amplification, 3 × 3", world, PercentageAuditor, None),
            ("percentage amplification, shares nearly equal", near, PercentageAuditor, None),
            ("differential fairness, 3 × 1", first, DifferentialFairnessAuditor, None),
            ("differential fairness, 3 × 3", world, DifferentialFairnessAuditor, None),
            ("label amplification, 4 classes", labels, LabelAuditor, None),
            ("label amplification, 4 classes; 500 training rows", labels, LabelAuditor, 500),
        ):
            after = "; differences grow" if right else ""
            yield audited(RELATED, setting + after, draw, make, n_train, right)
    tied = classes([0.3, 0.3, 0.2, 0.2], [0.3, 0.3, 0.2, 0.2])
    yield audited(RELATED, "label amplification, two classes are equal", tied, LabelAuditor)
    one = World([0.3, 0.5], n=1_000, keep=0.3)
    yield audited(RELATED, "label amplification, 1 task", one, LabelAuditor)


def comparisons():
    worlds = [World([0.3, 0.4], keep=keep) for keep in (0.97, 0.6, 0.3, 0.8)]
    many = [World(R20, n=2_000, keep=keep) for keep in (0.97, 0.6)]
    clear = [World([0.3, 0.4], rates, keep=0.3) for rates in ([0.3, 0.4], [0.25, 0.45])]
    equal = [World([0.3, 0.3], rates, keep=0.3, n=4_000) for rates in ([0.3, 0.3], [0.25, 0.35])]
    for n_train, signs in zip((None, 3_000), SIGNS, strict=True):
        for setting, models, right in (
            ("2 models, 2 × 1", worlds[:2], ""),
            ("4 models, 2 × 1", worlds, ""),
            ("2 models, 5 × 20", many, ""),
            ("2 models, one amplifies", clear, AMPLIFIES),
            ("2 models, one adds a difference", equal, ADDS),
        ):
            yield Row(COMPARE, setting + signs, of_models(models, n_train, right=right), right)


def runs():
    world = World([0.3, 0.4], keep=0.3)
    for number in (2, 5):
        for n_train, signs in zip((None, 3_000), SIGNS, strict=True):
            yield Row(RUNS, f"2 × 1; {number} runs{signs}", of_runs(world, number, n_train))
    yield Row(RUNS, f"2 × 1; 5 runs that differ{SIGNS[False]}", of_runs(world, 5, between=0.03))


def folds():
    for name, groups, base, share in (
        ("constant", 3, -1.0, "30 %"),
        ("logistic", 2, -1.0, "30 %"),
        ("logistic", 6, -3.0, "8 %"),
        ("tree", 3, -1.0, "30 %"),
    ):
        setting = f"{name}, 500 rows, {groups} groups, {share} positive"
        yield Row(FOLDS, setting, of_folds(name, 500, groups, base), most=100)
    for name in ("logistic", "tree", "boosting"):
        yield Row(SAMPLES, f"{name}, 600 rows, 2 groups", of_samples(name, 600), SIGN, most=200)


def power():
    cases = (
        # rows, labels, redrawn, keep, what changes
        (400, [0.3, 0.5], [0.22, 0.58], 0.5),
        (400, [0.3, 0.5], [0.1, 0.9], 0.85),
        (1_000, [0.3, 0.5], [0.25, 0.55], 0.5),
        (1_000, [0.2, 0.25], [0.12, 0.31], 0.6),
        (2_000, [0.3, 0.4], [0.2, 0.5], 0.85),
        (4_000, [0.5, 0.55], [0.5, 0.58], 0.2),
    )
    for n, labels, redrawn, keep in cases:
        world = World(labels, redrawn, n=n, keep=keep)
        yield from tested(f"{n:,} rows, {changed_rows(world)} changed a group", world, n)
    for n, share in ((300, 0.15), (300, 0.2), (600, 0.1)):
        world = World([0.5, 0.6], [0.5, 1.0], sizes=[n // 2, n // 2], keep=[1.0, 1 - share])
        changed = round(share * 0.4 * n / 2)
        yield from tested(f"{n} rows, {changed} changed, in one group", world, n, width=1.6)


def changed_rows(world):
    """Return the number of changed rows of each group, as text."""
    p, r = np.array(world.labels), np.array(world.redrawn)
    share = (1 - world.keep) * (p * (1 - r) + r * (1 - p))
    return " and ".join(f"{number:.0f}" for number in share * world.n / 2)


def tested(setting, world, n, **how):
    for n_train, signs in zip((None, 2 * n), SIGNS, strict=True):
        trial = of_audit(world, n_train=n_train, right=AMPLIFIES, tested=True)
        yield Row(POWER, setting + signs, trial, AMPLIFIES, **how)


PARTS = {
    "null": lambda: both(NULLS, NOTHING_CHANGES),
    "few": lambda: both((FEW, FEW), FEW_AND_DEPENDENT),
    "effects": lambda: both(
        (EFFECT, EFFECT), [(*row, {"right": right}) for right, *row in EFFECTS]
    ),
    "equal": lambda: both((EQUAL, EQUAL), [(*row, {"right": ADDS}) for row in EQUAL_LABELS]),
    "models": models,
    "others": lambda: other(OTHER_NULL, ""),
    "others-effects": lambda: other(OTHER_EFFECT, AMPLIFIES),
    "numeric": numeric,
    "related": related,
    "compare": comparisons,
    "runs": runs,
    "folds": folds,
    "power": power,
}
