"""Results of many kinds, for `whole_documents.py`, which keeps what they say."""

import functools
import json
import re
from html import unescape

import numpy as np
import pandas as pd
import polars
from document_parts import part_of
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import skbiasamp
from skbiasamp import (
    Contingency,
    DirectionalAuditor,
    DPAAuditor,
    LeakageAuditor,
    LICAuditor,
    MALSAuditor,
    MultiAttributeAuditor,
    NumericAuditor,
    metrics,
    mitigation,
    model_selection,
)
from skbiasamp.attackers import ExactAttacker
from skbiasamp.datasets import load_compas
from skbiasamp.text.labeler import NO_LABEL, REFUSAL

QUICK = {"n_resamples": 99, "random_state": 0}
SCENARIOS = {}


def scenario(make):
    SCENARIOS[make.__name__] = make
    return make


def table(n=400, seed=0, *, growth=0.1, tasks=("cook",)):
    """Return rows: sex and region, tasks, predictions of two models, scores and so on."""
    rng = np.random.default_rng(seed)
    sex = np.where(rng.random(n) < 0.45, "woman", "man")
    frame = pd.DataFrame({"sex": sex, "region": rng.choice(["east", "north", "west"], n)})
    side = np.where(sex == "woman", 1.0, -1.0)
    for number, task in enumerate(tasks):
        shift = (0.15 / (1 + number)) * side
        label = rng.random(n) < 0.4 + shift
        score = np.clip(np.where(label, 0.8, 0.2) + growth * side, 0.02, 0.98)
        score = np.round(np.clip(score + rng.normal(0, 0.15, n), 0.02, 0.98), 3)
        frame[task] = label.astype(int)
        frame[f"{task}_score"] = score
        frame[f"{task}_new"] = (score > 0.5).astype(int)
        frame[f"{task}_old"] = np.where(rng.random(n) < 0.85, label, rng.random(n) < 0.5).astype(
            int
        )
    frame["weight"] = np.round(rng.uniform(0.5, 3.0, n), 2)
    frame["person"] = rng.integers(0, n // 3, n)
    frame["grade"] = rng.choice(["a", "b", "c"], n, p=[0.5, 0.3, 0.2])
    return frame


ROWS = functools.cache(lambda: table())
TRAIN = functools.cache(lambda: table(600, 1))
TASKS = ["cook", "nurse", "pilot"]
MANY = functools.cache(lambda: table(500, 2, tasks=tuple(TASKS)))
MANY_TRAIN = functools.cache(lambda: table(900, 3, tasks=tuple(TASKS)))
NEW, OLD = ([f"{task}_{model}" for task in TASKS] for model in ("new", "old"))


def trained(rows, by="sex"):
    return {"y_train": rows["cook"], "sensitive_train": rows[by]}


def report(rows, prediction="cook_new", *, by="sex", **options):
    names = {key: options.pop(key) for key in ("model_name", "data_name") if key in options}
    made = skbiasamp.audit(
        rows["cook"],
        rows[prediction],
        sensitive_features=rows[by],
        auditor=options.pop("auditor", DirectionalAuditor()),
        random_state=0,
        **options,
    )
    made.context.update(names)
    return made


def explained(rows, *, by="sex", **options):
    return skbiasamp.explain(
        rows["cook"], rows["cook_new"], sensitive_features=rows[by], random_state=0, **options
    )


def comparison(rows, models, **options):
    options.setdefault("auditor", DirectionalAuditor())
    return skbiasamp.compare(
        rows["cook"],
        {name: rows[column] for name, column in models.items()},
        sensitive_features=rows["sex"],
        random_state=0,
        **options,
    )


def of_tasks(prediction=None, **options):
    """Audit three tasks, with training rows."""
    rows, train = MANY(), MANY_TRAIN()
    return skbiasamp.audit(
        options.pop("y_true", rows[TASKS]),
        rows[NEW].to_numpy() if prediction is None else prediction,
        sensitive_features=rows["sex"],
        y_train=train[TASKS],
        sensitive_train=train["sex"],
        random_state=0,
        **options,
    )


def with_missing_groups():
    return ROWS().assign(sex=ROWS()["sex"].where(np.arange(400) % 7 > 0, None))


def guessed(share, rng):
    """Return groups as they are in such a share of the rows, and any in the others."""
    return np.where(rng.random(400) < share, ROWS()["sex"], rng.choice(["man", "woman"], 400))


@scenario
def classes():
    rows, train = MANY(), MANY_TRAIN()
    job, guess, before = (
        np.select([frame[a] == 1, frame[b] == 1], ["cook", "nurse"], "other")
        for frame, a, b in [
            (rows, "cook", "nurse"),
            (rows, "cook_new", "nurse_new"),
            (train, "cook", "nurse"),
        ]
    )
    return skbiasamp.audit(
        job,
        guess,
        sensitive_features=rows["region"],
        y_train=before,
        sensitive_train=train["region"],
        auditor=DirectionalAuditor(adjust=None),
        random_state=0,
    )


@scenario
def numbers():
    rng = np.random.default_rng(6)
    rows = ROWS()
    wage = np.round(20 + 3 * rng.normal(size=400) - 2 * (rows["sex"] == "woman"), 1)
    predicted = np.round(20 + 0.7 * (wage - 20) - 0.8 * (rows["sex"] == "woman"), 1)
    return skbiasamp.audit(
        wage.rename("wage"),
        predicted,
        sensitive_features=rows["sex"],
        auditor=NumericAuditor(),
        random_state=0,
    )


EXACT = {"attacker": ExactAttacker(), "cv": None, "n_draws": 2, **QUICK}
IN_FOLDS = {"attacker": BernoulliNB(), "cv": 3, "n_draws": 2, **QUICK}


@scenario
def own_base():
    rows = MANY()
    rates = pd.DataFrame({"man": [0.3, 0.4, 0.4], "woman": [0.5, 0.6, 0.4]}, index=TASKS).T
    signs = pd.DataFrame({"man": [-1, 0, 1], "woman": [1, -1, 0]}, index=TASKS).T
    return of_tasks(
        auditor=[
            DirectionalAuditor(base=rates),
            DirectionalAuditor(sign=signs),
            DirectionalAuditor(base=rates, ties="negative"),
            DirectionalAuditor(base=rates, reference="test"),
            MultiAttributeAuditor("T->A", combinations="all", max_size=2, base="test"),
        ],
        sensitive_pred=rows["sex"].iloc[::-1].to_numpy(),
    )


class Bayes(BernoulliNB):
    """An attacker whose words are known, and the same on every processor."""

    coef_ = property(lambda self: np.diff(self.feature_log_prob_, axis=0))


def reading(**how):
    """Return the options of a metric of texts, with a small attacker."""
    attacker = make_pipeline(CountVectorizer(), Bayes())
    return {"attacker": attacker, "cv": 4, **QUICK} | how


@scenario
def masked_words():
    rng = np.random.default_rng(19)
    people = np.array(["man", "woman"] * 60)
    human, model = (
        [f"a {person} with a {thing}" for person, thing in zip(people, things, strict=True)]
        for things in (
            rng.choice(["bike", "pan", "dog"], 120),
            np.where(rng.random(120) < 0.5, np.where(people == "man", "bike", "pan"), "dog"),
        )
    )
    how = reading(quality="accuracy", cv=3, n_draws=1)
    auditor = metrics.DBACAuditor(tasks={"bike": ["bike"], "pan": ["pan"]}, **how)
    return auditor.audit(human, model, sensitive_features=people)


def written(people, shares, seed=7):
    """Return captions with the places that are likely for a group, in such shares."""
    rng, likely = np.random.default_rng(seed), np.where(people == "woman", "kitchen", "garage")
    places, things = ["kitchen", "garage", "street"], ["bike", "dog", "pan", "ball"]
    for share in shares:
        where = np.where(rng.random(len(people)) < share, likely, rng.choice(places, len(people)))
        rows = zip(people, rng.choice(things, len(people)), where, strict=True)
        yield [
            f"a {who} with a {thing} in a {place} {at}"
            for at, (who, thing, place) in enumerate(rows)
        ]


PEOPLE = functools.cache(lambda: ROWS()["sex"].to_numpy()[:160])


@scenario
def captions_of_models():
    human, old, new = written(PEOPLE(), [0.3, 0.5, 0.8])
    return skbiasamp.compare(
        human,
        {"old": old, "new": new},
        sensitive_features=PEOPLE(),
        auditor=LICAuditor(**reading(n_draws=2)),
        random_state=0,
    )


def audit_of_texts(human, model):
    auditor = LICAuditor(**reading(quality="accuracy", n_draws=1))
    how = {"sensitive_features": PEOPLE(), "auditor": auditor, "random_state": 0, "limit": 0.02}
    return skbiasamp.audit(human, model, **how)


@scenario
def one_result():
    rows = ROWS()
    auditor = DirectionalAuditor().fit(TRAIN()["cook"], sensitive_features=TRAIN()["sex"])
    return auditor.audit(rows["cook"], rows["cook_new"], sensitive_features=rows["sex"])


@scenario
def matched_pairs():
    pairs, sex = [*range(100)] * 2, ["man"] * 100 + ["woman"] * 100
    return metrics.MatchedPairsAuditor(**QUICK).audit(
        ROWS()["cook_new"].iloc[:200], sensitive_features=sex, pairs=pairs
    )


@scenario
def explanation():
    rows = ROWS()
    score, age = rows["cook_score"], 0.3 * (rows["weight"] - 1.5)
    attributions = pd.DataFrame({"age": age, "years": score - age - 0.5})
    how = {"y_score": rows["cook_score"], "given": rows["grade"], "attributions": attributions}
    return explained(rows, **how, **trained(TRAIN()))


@scenario
def one_comparison():
    rows, train = MANY(), MANY_TRAIN()
    auditor = DirectionalAuditor().fit(train[TASKS], sensitive_features=train["sex"])
    models = {"old": rows[OLD].to_numpy(), "new": rows[NEW].to_numpy()}
    return auditor.compare(rows[TASKS], models, sensitive_features=rows["sex"])


def months(growth=0.0):
    frames = [
        table(150, 20 + number, growth=growth if number >= 5 else 0.0).assign(
            month=f"2026-{number + 1:02d}-15", version="1" if number < 5 else "2"
        )
        for number in range(8)
    ]
    return pd.concat(frames, ignore_index=True)


WATCHED = {"time": "month", "target": "cook", "prediction": "cook_new", "sensitive": "sex"}


def features(rows):
    return np.column_stack([rows["cook_score"].round(1), rows["weight"].round()])


def in_folds(models, **how):
    """Audit classifiers of two features over folds."""
    return skbiasamp.cross_audit(
        models,
        features(ROWS()) > [0.5, 1],
        ROWS()["cook"],
        sensitive_features=ROWS()["sex"],
        auditor=DirectionalAuditor(),
        cv=4,
        random_state=0,
        **how,
    )


@scenario
def found_mitigations():
    searched = mitigation.search(
        BernoulliNB(),
        features(ROWS()) > [0.5, 1],
        ROWS()["cook"].to_numpy(),
        sensitive_features=ROWS()["sex"].to_numpy(),
        auditor=DirectionalAuditor(),
        candidates={},
        cv=3,
        random_state=0,
    )
    searched.table["seconds"] = 0.0
    return searched


@scenario
def scores_of_three_tasks_that_are_not_calibrated():
    rows = MANY()
    return skbiasamp.explain(
        rows[TASKS],
        rows[NEW].to_numpy(),
        sensitive_features=rows["sex"],
        y_score=rows[[f"{task}_score" for task in TASKS]].to_numpy(),
        random_state=0,
    )


@scenario
def overlapping_groups():
    rng = np.random.default_rng(12)
    rows = MANY()
    groups = pd.DataFrame({"old": rng.integers(0, 2, 500), "woman": rows["sex"].eq("woman") * 1})
    return skbiasamp.audit(
        rows[TASKS[1:]],
        rows[NEW[1:]].to_numpy(),
        sensitive_features=groups,
        groups="indicator",
        auditor=DirectionalAuditor(),
        random_state=0,
    )


@scenario
def numbers_of_models():
    rng = np.random.default_rng(17)
    woman = (ROWS()["sex"] == "woman").to_numpy()
    wage = 20 + 3 * rng.normal(size=400) - 2 * woman
    models = {"old": 20 + 0.8 * (wage - 20), "new": 20 + 0.8 * (wage - 20) - 1.2 * woman}
    return skbiasamp.compare(
        wage,
        models,
        sensitive_features=ROWS()["sex"],
        auditor=NumericAuditor(),
        clusters=ROWS()["person"],
        random_state=0,
    )


@scenario
def metrics_of_models():
    rows, train = MANY(), MANY_TRAIN()
    return skbiasamp.compare(
        rows[TASKS],
        {"old": rows[OLD].to_numpy(), "new": rows[NEW].to_numpy()},
        sensitive_features=rows["region"],
        y_train=train[TASKS],
        sensitive_train=train["region"],
        auditor=[MALSAuditor(), MultiAttributeAuditor(), metrics.DifferentialFairnessAuditor()],
        random_state=0,
    )


@scenario
def watch_of_several_tasks():
    rows = pd.concat(
        [
            table(200, 40 + month, growth=0.25 * (month > 3), tasks=tuple(TASKS)).assign(
                month=f"2026-{month:02d}-01"
            )
            for month in range(1, 8)
        ],
        ignore_index=True,
    )
    watched = {"time": "month", "target": TASKS, "prediction": NEW, "sensitive": ["sex", "region"]}
    return skbiasamp.audit_over(rows, **watched, reference=2, strict=True, alpha=0.1, n_draws=199)


def rows_of(rates, n=2_000, seed=0):
    """Return labels, predictions and groups with these shares, as exactly as rows allow."""
    rng, parts = np.random.default_rng(seed), []
    for group, (label, predicted) in rates.items():
        y, p = np.arange(n) < label * n, np.arange(n) < predicted * n
        both = rng.permutation(n)[: n // 20]  # errors both ways
        p[both] = rng.permutation(p[both])
        parts.append(pd.DataFrame({"y": y, "p": p, "group": group}))
    rows = pd.concat(parts, ignore_index=True)
    return rows["y"].astype(int), rows["p"].astype(int), rows["group"]


def audit_of(rates, *, named=None, **options):
    labels, predicted, groups = rows_of(rates)
    if named:
        labels, predicted = labels.map(named.__getitem__), predicted.map(named.__getitem__)
    options = {"auditor": DirectionalAuditor(reference="test"), **options}
    return skbiasamp.audit(labels, predicted, sensitive_features=groups, **options)


def added_to_equal_labels(changes, sizes):
    """Return an audit of labels that are equal between groups, of predictions that are not."""
    y, p, group = [], [], []
    for name, change, n in zip("abc", changes, sizes, strict=False):
        y += [0, 1] * (n // 2)
        p += [0, 1] * (n // 2 - abs(change)) + [int(change > 0)] * 2 * abs(change)
        group += [name] * n
    return skbiasamp.audit(y, p, sensitive_features=group, limit=0.03, random_state=0)


def audit_of_counts(counts, groups, n):
    """Audit groups of n rows, so many of which are labelled and predicted; the last has no name."""
    y, p = ([i < pair[at] for pair in counts for i in range(n)] for at in (0, 1))
    return skbiasamp.audit(
        np.array(y, int),
        np.array(p, int),
        sensitive_features=[name for name in (*groups, None) for _ in range(n)],
        missing="group",
        favourable=1,
        auditor=DirectionalAuditor(),
        random_state=0,
    )


def audit_beside_training(rates, trained):
    """Audit groups whose training labels have another association."""
    labels, predicted, groups = rows_of(rates)
    train, _, of_train = rows_of({name: (rate, rate) for name, rate in trained.items()})
    how = {"y_train": train, "sensitive_train": of_train, "favourable": 1}
    return skbiasamp.audit(
        labels, predicted, sensitive_features=groups, auditor=DirectionalAuditor(), **how
    )


@scenario
def columns_of_numbers():
    """Audit two columns, each on its own, of rows in which one is amplified."""
    labels, predicted, group = rows_of(WIDENED)
    frame = pd.DataFrame({"y": labels, "p": predicted, "team": group})
    frame["shift"] = np.where(np.arange(len(frame)) % 3, "day", "night")
    scale = frame["shift"].map({"day": 100, "night": 300})
    frame[["y", "p"]] = frame[["y", "p"]].mul(scale, axis=0)
    named = {"target": "y", "prediction": "p", "sensitive": ["shift", "team"]}
    how = {"groups": "marginal", "auditor": NumericAuditor(), "favourable": "y", "random_state": 0}
    return skbiasamp.audit_frame(frame, **named, **how)


@scenario
def columns_within_a_limit():
    """Audit two columns, each on its own, of which one has three groups."""
    labels, predicted, team = rows_of(WIDENED)
    shop = np.array(["north", "south", "west"])[np.arange(len(labels)) % 3]
    frame = pd.DataFrame({"y": labels, "p": predicted, "team": team, "shop": shop})
    named = {"target": "y", "prediction": "p", "sensitive": ["team", "shop"]}
    how = {"groups": "marginal", "auditor": DirectionalAuditor(reference="test"), "limit": 0.005}
    return skbiasamp.audit_frame(frame, **named, **how, random_state=0)


def audit_of_classes():
    """Audit three classes, of which one group gets another one less often."""
    n, names = 500, ["granted", "review", "no"]
    y, p = (
        np.repeat(np.tile(names, 2), np.rint(np.multiply(n, shares)).astype(int))
        for shares in ([0.3, 0.3, 0.4, 0.5, 0.2, 0.3], [0.22, 0.35, 0.43, 0.52, 0.19, 0.29])
    )
    how = {"auditor": DirectionalAuditor(reference="test"), "favourable": names[:2]}
    return skbiasamp.audit(y, p, sensitive_features=np.repeat(["a", "b"], n), **how)


@scenario
def watch_of_labels_that_turn():
    """Watch a model that keeps its gap while that in the labels changes sides."""
    n = 500
    shares = [(0.3, 0.4)] * 6 + [(0.4, 0.3)] * 6  # of the labels of both groups, by month
    rows = [
        (f"2026-{month:02d}-01", name, i < n * of, i < n * predicted)
        for month, both in enumerate(shares, start=1)
        for name, of, predicted in zip("ab", both, shares[0], strict=True)
        for i in range(n)
    ]
    frame = pd.DataFrame(rows, columns=["day", "group", "y", "p"]).astype({"y": int, "p": int})
    named = {"time": "day", "target": "y", "prediction": "p", "sensitive": "group"}
    return skbiasamp.audit_over(
        frame, **named, reference=3, favourable=True, n_draws=199, random_state=0
    )


def comparison_of(rates, models, **options):
    """Compare models that predict groups so often, the first in the order of names."""
    labels, _, groups = rows_of(rates)
    rows = {name: rows_of({g: (rates[g][0], p) for g, p in of.items()})[1] for name, of in models}
    options = {"auditor": DirectionalAuditor(reference="test"), **options}
    return skbiasamp.compare(labels, rows, sensitive_features=groups, **options)


def comparison_of_classes(old, new):
    """Compare models that predict the classes of two groups, the old one as they are labelled."""
    (labels, new), group = map(np.concatenate, (old, new)), np.repeat(["a", "b"], len(old[0]))
    how = {"auditor": DirectionalAuditor(reference="test"), "random_state": 0}
    return skbiasamp.compare(labels, {"old": labels, "new": new}, sensitive_features=group, **how)


# Shares of the groups that are labelled and predicted the task.
WIDENED = {"a": (0.4, 0.45), "b": (0.3, 0.2)}
NARROWED = {"a": (0.5, 0.45), "b": (0.3, 0.35)}
TURNED = {"a": (0.5, 0.3), "b": (0.3, 0.5)}
ADDED = {"a": (0.3, 0.36), "b": (0.3, 0.22)}
KEPT = {"a": (0.5, 0.5), "b": (0.3, 0.3)}
THREE = KEPT | {"c": (0.4, 0.4)}
BIASED, FAIR = ("old", {"a": 0.5, "b": 0.2}), ("new", {"a": 0.4, "b": 0.3})
SITUATIONS = {
    "widened": lambda: audit_of(WIDENED, favourable=1),
    "widened, nothing favourable": lambda: audit_of(WIDENED),
    "widened, 0 is favourable": lambda: audit_of(WIDENED, favourable=0),
    "narrowed": lambda: audit_of(NARROWED, favourable=1),
    "turned": lambda: audit_of(TURNED, favourable=1),
    "added": lambda: audit_of(ADDED, favourable=1),
    "kept": lambda: audit_of(KEPT, favourable=1),
    "kept, within the limit": lambda: audit_of(KEPT, limit=0.05),
    "kept, perhaps within the limit": lambda: audit_of(KEPT, limit=0.001),
    "widened, within the limit": lambda: audit_of(WIDENED, limit=0.2),
    "widened, outside the limit": lambda: audit_of(WIDENED, limit=0.02),
    "turned, outside the limit": lambda: audit_of(TURNED, limit=0.02),
    "narrowed, outside the limit": lambda: audit_of(NARROWED, limit=0.01),
    "three groups and a limit": lambda: audit_of(THREE, limit=0.02),
    "three groups outside the limit": lambda: audit_of(
        {"a": (0.5, 0.65), "b": (0.3, 0.15), "c": (0.4, 0.4)}, limit=0.03
    ),
    "two groups lose as much": lambda: audit_of(
        {"a": (0.4, 0.5), "b": (0.4, 0.3), "c": (0.4, 0.3)}, favourable=1
    ),
    "one group loses more": lambda: audit_of(
        {"a": (0.4, 0.5), "b": (0.4, 0.3), "c": (0.4, 0.28)}, favourable=1
    ),
    "two groups change as much": lambda: audit_of(
        {"a": (0.5, 0.6), "b": (0.3, 0.2), "c": (0.4, 0.4)}
    ),
    "equal in the predictions": lambda: audit_of({"a": (0.5, 0.4), "b": (0.3, 0.4)}, favourable=1),
    "a negated class": lambda: audit_of(
        KEPT, named=("not hired", "hired"), pos_label="not hired", favourable="hired"
    ),
    "one small group, and a limit": lambda: added_to_equal_labels([0, 40], [9000, 1000]),
    "two groups of one size, and a limit": lambda: added_to_equal_labels([0, 100], [4000, 4000]),
    "one of three groups, and a limit": lambda: added_to_equal_labels(
        [0, 0, -100], [5000, 4000, 1000]
    ),
    "rows that are in no ratio": lambda: audit_of_counts([(90, 90), (30, 30), (95, 95)], "fm", 100),
    "one group beside rows without one": lambda: audit_of_counts(
        [(300, 360), (200, 150)], "f", 400
    ),
    "strata": lambda: audit_of(
        WIDENED, favourable=1, given=pd.Series(np.arange(4_000) % 2, name="shop")
    ),
    "a gap that may be chance is gone": lambda: audit_of(
        {"a": (0.32, 0.3), "b": (0.3, 0.3)}, favourable=1
    ),
    "a gap as in training, and not as in the labels": lambda: audit_beside_training(
        {"a": (0.35, 0.31), "b": (0.3, 0.3)}, {"a": 0.3, "b": 0.4}
    ),
    "a gap that is turned less than in training": lambda: audit_beside_training(
        {"a": (0.35, 0.45), "b": (0.3, 0.3)}, {"a": 0.3, "b": 0.4}
    ),
    "turned, within the limit": lambda: audit_of(TURNED, limit=0.5),
    "groups that differ in a capital": lambda: audit_of(
        {"a": WIDENED["b"], "A": WIDENED["a"]}, favourable=1
    ),
    "two classes are wanted": audit_of_classes,
    "a group stays and loses beside the others": lambda: audit_of(
        {"a": (0.3, 0.3), "b": (0.5, 0.7), "c": (0.4, 0.6)}, favourable=1
    ),
    "narrowed on average, and some gaps widened": lambda: audit_of(
        {"a": (0.6, 0.7), "b": (0.6, 0.46), "c": (0.3, 0.3)}, favourable=1
    ),
    "some gaps widened, and others narrowed as much": lambda: audit_of(
        {"a": (0.6, 0.72), "b": (0.6, 0.48), "c": (0.3, 0.3)}
    ),
    "a gap that training labels lack grows": lambda: audit_beside_training(
        {"a": (0.475, 0.55), "b": (0.3, 0.25)}, {"a": 0.4, "b": 0.4}
    ),
    "a gap that no labels have": lambda: audit_beside_training(
        {"a": (0.3, 0.4), "b": (0.302, 0.302)}, {"a": 0.4, "b": 0.4}
    ),
    "a gap that training labels lack stays": lambda: audit_beside_training(
        {"a": (0.475, 0.475), "b": (0.3, 0.3)}, {"a": 0.4, "b": 0.4}
    ),
    "one of four groups gains, and another has least": lambda: audit_of(
        {"a": (0.42, 0.46), "b": (0.38, 0.445), "c": (0.4, 0.45), "d": (0.42, 0.53)}, favourable=1
    ),
    "a group passes all rows": lambda: audit_of(
        {"a": (0.412, 0.462), "b": (0.425, 0.445), "c": (0.437, 0.437)}
    ),
    "a ratio of two groups": lambda: skbiasamp.audit(
        *rows_of(WIDENED)[:2],
        sensitive_features=rows_of(WIDENED)[2],
        given=pd.Series(np.arange(4_000) % 2, name="shop"),
        auditor=metrics.DifferentialFairnessAuditor(reference="test"),
        favourable=1,
    ),
    "every row has the same prediction": lambda: audit_of({"a": (0.5, 0.0), "b": (0.3, 0.0)}),
    "a published value that counts all rows": lambda: skbiasamp.audit(
        *rows_of({"a": (0.55, 0.7), "b": (0.5, 0.66), "c": (0.52, 0.72)})[:2],
        sensitive_features=rows_of(THREE)[2],
        auditor=DirectionalAuditor(reference="test", formula="published"),
    ),
    "models outside a limit": lambda: comparison_of(WIDENED, [BIASED, FAIR], limit=0.04),
    "a model changes classes of one group": lambda: comparison_of_classes(
        [["x"] * 300 + ["y"] * 700, ["x"] * 500 + ["y"] * 300 + ["z"] * 200],
        [["x"] * 300 + ["y"] * 700, ["x"] * 800 + ["y"] * 200],
    ),
    "guesses of three models": lambda: comparison_of(
        WIDENED,
        [FAIR, BIASED, ("other", {"a": 0.45, "b": 0.2})],
        auditor=LeakageAuditor(random_state=0),
    ),
    "guesses of two models": lambda: comparison_of(
        WIDENED, [FAIR, BIASED], auditor=DPAAuditor(random_state=0, quality="confidence")
    ),
    "a smaller gap": lambda: comparison_of(WIDENED, [BIASED, FAIR]),
    "a larger gap": lambda: comparison_of(WIDENED, [FAIR, BIASED]),
    "smaller gaps": lambda: comparison_of(
        THREE, [(name, of | {"c": 0.35}) for name, of in (BIASED, FAIR)]
    ),
    "two better models": lambda: comparison_of(WIDENED, [BIASED, FAIR, ("other", FAIR[1])]),
    "a still smaller gap": lambda: comparison_of(WIDENED, [FAIR, ("less", {"a": 0.36, "b": 0.34})]),
    "two models that depart as far": lambda: comparison_of(
        ADDED, [("old", {"a": 0.25, "b": 0.3}), ("new", {"a": 0.3, "b": 0.25})], favourable=1
    ),
    "a model that departs further": lambda: comparison_of(
        ADDED, [("old", {"a": 0.28, "b": 0.3}), ("new", {"a": 0.37, "b": 0.3})], favourable=1
    ),
    "a model that turns the gap further": lambda: comparison_of(
        WIDENED, [("old", {"a": 0.3, "b": 0.4}), ("new", {"a": 0.25, "b": 0.45})], favourable=1
    ),
    "a model that turns the gap": lambda: comparison_of(
        WIDENED, [BIASED, ("turned", {"a": 0.2, "b": 0.5})]
    ),
}
for auditor in (
    MALSAuditor(reference="test"),
    metrics.BiasDisparityAuditor(reference="test"),
    metrics.DifferentialFairnessAuditor(reference="test"),
    metrics.LabelAuditor(reference="test"),
    metrics.PercentageAuditor(reference="test"),
):
    how = {"auditor": auditor, "favourable": 1}
    models = [(BIASED, FAIR), (FAIR, BIASED)]
    SITUATIONS |= {
        f"{auditor.metric}, audit {i}": functools.partial(audit_of, rates, **how, limit=limit)
        for i, (rates, limit) in enumerate([(WIDENED, None), (NARROWED, 0.2), (THREE, None)])
    } | {
        f"{auditor.metric}, comparison {i}": functools.partial(comparison_of, WIDENED, both, **how)
        for i, both in enumerate(models)
    }


def told_first(result):
    """Yield what a first screen says, part by part."""
    card = part_of(result, "Card")
    panels = part_of(result, "Panels").panels
    yield from (("chip", f"{chip.word} ({chip.tone})") for chip in card.chips)
    yield from (("title", card.title), ("lead", card.lead), ("rows", card.scope))
    yield from ((each.question, f"{each.strong} {each.text}") for each in card.answers)
    yield from ((f"step of {each.owner}", each.step) for each in part_of(result, "Actions").actions)
    named = ("caption", "note", "text", "ends", "low", "high", "gaps", "marks", "blocks", "unit")
    for picture in (card.picture, *(each.picture for each in panels)):
        yield from ((name, str(getattr(picture, name))) for name in named if hasattr(picture, name))
    yield from ((each.title, each.text) for each in panels)
    yield from ((each.code, each.text) for each in result.findings if each.severity == "act")


@scenario
def first_screens():
    """Return what pages say first in many situations that differ in one thing."""
    said = [
        (name, part, re.sub(r"\d+\.\d{5,}", lambda seen: f"{float(seen[0]):.4g}", text))
        for name, made in SITUATIONS.items()
        for part, text in told_first(made())
        if text.strip()
    ]
    return pd.DataFrame(said, columns=["situation", "part", "text"]).set_index("situation")


@scenario
def pictures():
    from drawn import drawn  # which needs Matplotlib

    return drawn()


@scenario
def pictures_of_pages():
    """Return the pictures of pages, tag by tag: each once."""
    pages = ("model_that_amplifies", "many_groups", "no_labels", "given_a_column", "two_models")
    watched = ("watch", "watch_without_labels", "watch_without_alarm", "found_mitigations")
    reports = {name: SCENARIOS[name] for name in (*pages, *watched, "numbers")}
    pictures = [
        (name, picture)
        for name, make in reports.items()
        for picture in re.findall("(?s)<svg.*?</svg>", make().to_html())
    ]
    rows = ROWS()
    given = {"sensitive_features": rows["sex"], "y_score": rows["cook_score"], "limit": 0.05}
    scored = skbiasamp.audit(rows["cook"], (rows["cook_score"] > 0.5) * 1, **given, random_state=0)
    (slider,) = re.findall('(?s)<figure class="slider".*?</figure>', scored.to_html())
    (moves,) = re.findall('data-counts="(.*?)"', slider)
    moved = {name: np.asarray(each, float) for name, each in json.loads(unescape(moves)).items()}
    sums = {name: sums_in(pd.DataFrame({name: np.ravel(moved[name])}))[name] for name in moved}
    said = [
        (name, " ".join(tag.split()))
        for name, picture in [*pictures, ("slider", slider.replace(moves, in_a_line(sums)))]
        for tag in re.findall("<[^/>][^>]*>[^<]*", picture)
        if name != "slider" or "polygon" not in tag  # a long band may differ by a digit
    ]
    return pd.DataFrame([*dict.fromkeys(said)], columns=["page", "drawn"]).set_index("page")


def labels_of(kind):
    """Return labels, predictions of two models and groups of rows of a kind, and training rows."""
    rows, many, train, of_tasks = ROWS(), MANY(), TRAIN(), MANY_TRAIN()
    turned = rows["grade"].where(rows["person"] % 4 > 0, "a")
    return {
        "one task": (rows["cook"], rows["cook_new"], rows["cook_old"], rows["sex"], train["cook"]),
        "scores": (rows["cook"], rows["cook_score"], rows["cook_old"], rows["sex"], train["cook"]),
        "tasks": (many[TASKS], many[NEW], many[OLD], many["sex"], of_tasks[TASKS]),
        "classes": (rows["grade"], turned, turned.to_numpy()[::-1], rows["region"], train["grade"]),
        "groups": (rows["cook"], rows["cook_new"], rows["cook_old"], rows["region"], train["cook"]),
    }[kind]


def in_a_line(numbers):
    """Return numbers to four digits: the last may differ between processors."""
    return " ".join(
        f"{name}={number if abs(number) > 1e-12 else 0.0:#.4g}"
        if isinstance(number, float)
        else f"{name}={number}"
        for name, number in numbers.items()
        if number == number
    )


def ways_of(n):
    """Return how rows may count: each as one, with weights, or in clusters."""
    person, some = np.arange(n) * 7 % 90, np.arange(n) % 5 == 0
    fractional = 0.5 + np.arange(n) % 11 / 4
    return {
        "rows": {},
        "whole weights": {"sample_weight": 1 + np.arange(n) % 3},
        "fractional weights": {"sample_weight": fractional},
        "few fractional weights": {"sample_weight": np.where(some, fractional, 1 + person % 3)},
        "clusters": {"clusters": person, "sample_weight": np.where(some, 2, 1)},
    }


def numbers_in(result):
    """Return the numbers of a result, and a sum of each column of its tables."""
    names = ("value", "low", "high", "p_value", "published", "published_low", "published_high")
    numbers = {name: getattr(result, name) for name in names if hasattr(result, name)}
    if hasattr(result, "statistics"):
        numbers |= {"verdict": result.verdict} | result.statistics
    else:
        numbers |= {"verdict": result.verdict("b")}
    numbers |= {f"of rows {name}": size for name, size in sums_in(result.table).items()}
    if hasattr(result, "pairs"):
        numbers |= {f"of pairs {name}": size for name, size in sums_in(result.pairs).items()}
    return numbers


def sums_in(table):
    """Return of each column of numbers a sum in which sign and place of each number matter."""
    numbers = table.select_dtypes("number").drop(columns="task", errors="ignore")
    return numbers.mul(np.arange(1, len(table) + 1) ** 0.5, axis=0).sum(min_count=1)


EVERY_WAY = [
    DirectionalAuditor(),
    DirectionalAuditor(base="train"),
    MALSAuditor(),
    MultiAttributeAuditor(max_size=2),
    MultiAttributeAuditor(formula="published", reference="test", combinations="all", max_size=2),
    DirectionalAuditor("T->A", ties="negative", reference="test"),
    MultiAttributeAuditor("T->A", max_size=2),
    NumericAuditor(),
    metrics.BiasDisparityAuditor(),
    metrics.DifferentialFairnessAuditor(concentration=1),
    metrics.LabelAuditor(),
    metrics.PercentageAuditor(),
    LeakageAuditor(attacker=ExactAttacker(), cv=None, n_draws=2, random_state=0),
]


KINDS = ("one task", "scores", "tasks", "classes", "groups")


def numbers_of(kind, way):
    """Yield the numbers of each metric for rows of a kind that count in some way."""
    true, pred, other, group, learned = labels_of(kind)
    of_train = (MANY_TRAIN() if kind == "tasks" else TRAIN())[group.name]
    given = {"sensitive_features": group, **ways_of(len(group))[way]}
    guess = np.where(np.arange(len(group)) % 6, group, np.roll(group, 1))
    for auditor in EVERY_WAY:
        name, one, two = "y_pred", pred, {"a": other, "b": pred}
        if getattr(auditor, "direction", "") == "T->A":
            name, one, two = "sensitive_pred", guess, {"a": np.roll(guess, 5), "b": guess}
        try:
            fitted = clone(auditor).fit(learned, sensitive_features=of_train)
            every = {f"{name}s": two, **given}
            results = {"audit": fitted.audit(true, **{name: one}, **given)}
            results |= {"comparison": fitted.compare(true, **every)}
            if way != "clusters":
                runs = {f"{name}s": [*two.values()]}
                results |= {
                    "runs": fitted.audit_runs(true, **{"y_preds": [None] * 2} | runs | given)
                }
            numbers = {verb: numbers_in(result) for verb, result in results.items()}
        except ValueError as error:
            numbers = {"error": {"text": str(error)[:60]}}
        for verb, own in numbers.items():
            yield kind, way, " ".join(str(auditor).split()), verb, in_a_line(own)
    for name, table in tables_of(kind, way).items():
        yield kind, way, "", name, in_a_line(sums_in(table))


def tables_of(kind, way):
    """Return rates, bounds of rows without a group, and parts of the value, as tables."""
    true, pred, other, group, _ = labels_of(kind)
    options = ways_of(len(group))[way]
    lacking = group.where(np.arange(len(group)) % 11 > 0)
    known = {"sensitive_features": lacking, "missing": "bounds", **options}
    if kind == "classes":
        known["favourable"] = "a"
    auditor = DirectionalAuditor(reference="test")
    report = skbiasamp.audit(true, pred, auditor=auditor, random_state=0, **known)
    given = np.arange(len(group)) ** 2 % 37 % 23  # some of few rows
    said = {"sensitive_features": group, "given": given, **options}
    if kind == "scores":
        said |= {"y_score": pred, "attributions": pd.DataFrame({"x": pred * 0.75, "z": pred / 4})}
    chosen = (pred >= 0.5) * 1 if kind == "scores" else pred
    parts = vars(skbiasamp.explain(true, chosen, random_state=0, **said))
    parts = {name: table for name, table in parts.items() if isinstance(table, pd.DataFrame)}
    tables = {"report": report.rates, **{f"explain {name}": parts[name] for name in parts}}
    how = {"sensitive_features": group, "auditor": auditor, "random_state": 0} | options
    if way != "clusters":
        runs = skbiasamp.compare(true, {"a": [other, pred], "b": [pred, other]}, **how)
        tables |= {"accuracy of runs": runs.accuracy, "rates of runs": runs.rates}
    if kind != "tasks":
        tables["over"] = watched(true, pred, group, options.get("sample_weight", 1))
    if report.unknown is not None:
        tables["unknown"] = pd.DataFrame([vars(report.unknown)])
    if kind != "scores":
        tables["rates"] = skbiasamp.selection_rates(pred, y_true=true, **known).table
    return tables


def watched(true, pred, group, weight):
    """Return the periods of a watch of these rows."""
    rows = pd.DataFrame({"y": true, "p": pred, "group": group, "weight": weight})
    rows["part"] = np.arange(len(rows)) * 5 // len(rows)
    named = {"target": "y", "prediction": "p", "sensitive": "group", "weight": "weight"}
    how = {"time": "part", "every": None, "reference": 2, "n_draws": 99, "random_state": 0}
    return skbiasamp.audit_over(rows, **named, **how).periods


@scenario
def numbers_of_every_way():
    """Return the numbers of each metric for rows that count in any way."""
    rows = [row for kind in KINDS for way in ways_of(1) for row in numbers_of(kind, way)]
    return pd.DataFrame(rows, columns=["rows", "count as", "auditor", "verb", "numbers"])


def reports_of_doubtful_rows():
    """Yield reports of rows that are probably not what their user thinks."""
    rows, rng = ROWS(), np.random.default_rng(21)
    right = rows["cook_score"].to_numpy()
    random, numbers = rng.permutation(right), rng.integers(0, 40, len(rows))
    sex, person = rows["sex"], np.arange(len(rows))
    yield report(rows, y_score=1 - right)
    words = {name: rows[name].map({0: "no", 1: "yes"}) for name in ("cook", "cook_new")}
    yield report(rows.assign(**words), y_score=random)
    men = np.where(sex == "man", 0.8, 0.3)
    yield report(rows, sensitive_pred=men, auditor=DirectionalAuditor("T->A"))
    yield report(rows, sensitive_pred=sex.replace("man", "boy"))
    train = rows.assign(cook=1, sex=sex.replace("man", "boy"))
    yield report(rows, **trained(train))
    yield report(rows.assign(cook=numbers, cook_new=numbers[::-1]))
    twice = pd.concat([rows, rows], ignore_index=True)
    ages = twice.assign(sex=18 + np.arange(800) % 32)
    yield report(ages)
    both = ages.rename(columns={"sex": "age"})[["age", "region"]]
    sides = {"sensitive_features": both, "groups": "marginal"}
    yield skbiasamp.audit(Contingency.from_labels(ages["cook"], ages["cook_new"], **sides))
    spelled = {"sex": sex.where(person % 3 > 0, sex.str.title())}
    spelled["cook"] = rows["grade"].where(person % 5 > 0, "A ")
    spelled["cook_new"] = rows["grade"].where(person % 7 > 0, "d")
    yield report(rows.assign(**spelled))
    yield report(rows.assign(sex=sex.where(person % 4 > 0, "n/a")))
    yield report(rows, sample_weight=rows["person"] + 1)
    answers = rows["grade"].map({"a": "yes", "b": NO_LABEL, "c": REFUSAL})
    yield report(rows.assign(cook=answers, cook_new=answers[::-1].to_numpy()))
    frame, tasks = polars.from_pandas(MANY()).lazy(), {"target": TASKS, "prediction": NEW}
    sums = Contingency.from_frame(frame, **tasks, sensitive="sex", joint=False)
    yield skbiasamp.audit(sums, auditor=DirectionalAuditor(), random_state=0)
    yield report(rows.assign(cook_new=1 - rows["cook"]), auditor=LeakageAuditor(**EXACT))
    human, model = written(PEOPLE(), [0.3, 0.8])
    model = ["..." if at % 8 == 0 else text for at, text in enumerate(model)]
    human = [
        f"{text} " + " ".join(f"word{at}x{i}" for i in range(6)) for at, text in enumerate(human)
    ]
    yield audit_of_texts(human, model)
    models = {"old": "cook_old", "new": "cook_score"}
    yield comparison(rows.assign(sex=sex.where(person % 9 > 0, None)), models, missing="drop")
    # Both groups lose predictions: rates come closer, shares move apart.
    cook, new = (
        [1] * n + [0] * (100 - n) + [1] * m + [0] * (100 - m) for n, m in [(30, 60), (14, 40)]
    )
    lost = pd.DataFrame({"sex": ["woman"] * 100 + ["man"] * 100, "cook": cook, "new": new})
    auditors = [DirectionalAuditor(), MALSAuditor()]
    lost = pd.concat([lost] * 50, ignore_index=True)
    yield comparison(lost, {"old": "cook", "new": "new"}, auditor=auditors)


@scenario
def doubtful_rows():
    """Return what is found in such rows, but for what is found in any."""
    usual = {each.code for each in report(ROWS()).findings}
    found = [each for one in reports_of_doubtful_rows() for each in one.findings]
    names = ["code", "severity", "owner", "text", "action"]
    table = {tuple(getattr(each, name) for name in names) for each in found}
    return pd.DataFrame(sorted(row for row in table if row[0] not in usual), columns=names)


BOTH = {"old": "cook_old", "new": "cook_new"}
# Those that are one call.
SCENARIOS |= {
    "bias_reversed": lambda: report(
        ROWS().assign(cook_new=ROWS()["cook_new"].where(ROWS()["sex"] != "man", 1)),
        **trained(TRAIN()),
        limit=0.02,
    ),
    "groups_predicted": lambda: report(
        ROWS(),
        sensitive_pred=guessed(0.8, np.random.default_rng(5)),
        auditor=DirectionalAuditor("T->A"),
        **trained(TRAIN()),
    ),
    "two_groups_below_four_fifths": lambda: report(
        ROWS().assign(
            band=np.select(
                [
                    ROWS()["cook_new"].eq(1) & ROWS()["person"].mod(3).eq(0),
                    ROWS()["region"] == "north",
                ],
                ["centre", "north"],
                "south",
            )
        ),
        by="band",
        favourable=1,
    ),
    "many_groups": lambda: report(
        ROWS().assign(shop=[f"shop {person % 11}" for person in ROWS()["person"]]),
        by="shop",
        auditor=None,
    ),
    "four_combinations": lambda: report(
        ROWS().assign(young=np.where(ROWS()["person"] % 2, "yes", "no")),
        by=["sex", "young"],
        y_score=ROWS()["cook_score"],
    ),
    "model_that_amplifies": lambda: report(
        rows := table(2000, 14, growth=0.25),
        y_score=rows["cook_score"],
        given=rows["grade"],
        **{"favourable": 1, "limit": 0.02, "model_name": "cooks", "data_name": "May"},
        **trained(table(3000, 15)),
    ),
    "model_that_reduces": lambda: report(
        rows := table(2000, 16, growth=-0.2),
        clusters=rows["person"],
        limit=0.02,
        **trained(table(3000, 15)),
    ),
    "attackers": lambda: report(
        ROWS(),
        sensitive_pred=ROWS()["sex"],
        auditor=[LeakageAuditor(**EXACT), DPAAuditor(**EXACT), DPAAuditor("T->A", **EXACT)],
        **trained(TRAIN()),
    ),
    "attacks_in_folds": lambda: report(
        ROWS(),
        auditor=[LeakageAuditor(**IN_FOLDS), DPAAuditor(normalize=False, **IN_FOLDS)],
        clusters=ROWS()["person"],
        **trained(TRAIN()),
    ),
    "tasks_attacked_in_folds": lambda: of_tasks(auditor=DPAAuditor(**IN_FOLDS)),
    "attacks_on_scores": lambda: comparison(
        ROWS().assign(other=ROWS()["cook_score"].round(1).clip(0.1, 0.8)),
        {"fine": "cook_score", "rounded": "other"},
        auditor=LeakageAuditor(
            **IN_FOLDS | {"attacker": DecisionTreeClassifier(max_depth=2, random_state=0)}
        ),
    ),
    "captions": lambda: LICAuditor(**reading(quality="accuracy", n_draws=2)).audit(
        *written(PEOPLE(), [0.3, 0.8]), sensitive_features=PEOPLE()
    ),
    "selection_rates": lambda: skbiasamp.selection_rates(
        ROWS()["cook_new"],
        y_true=ROWS()["cook"],
        sensitive_features=ROWS()[["sex", "region"]],
        sample_weight=ROWS()["weight"],
    ),
    "selection_rates_of_classes": lambda: skbiasamp.selection_rates(
        ROWS()["grade"], sensitive_features=ROWS()["sex"], clusters=ROWS()["person"], favourable="a"
    ),
    "three_models": lambda: comparison(
        ROWS().assign(same=ROWS()["cook_old"], odd=1 - ROWS()["cook_new"]),
        BOTH | {"same": "same", "odd": "odd"},
        reference="old",
        clusters=ROWS()["person"],
    ),
    "no_amplification_to_compare": lambda: comparison(
        ROWS().assign(same=ROWS()["cook_old"]),
        {"old": "cook_old", "same": "same"},
        **trained(TRAIN()),
    ),
    "probabilities_of_classes": lambda: of_tasks(
        MANY()[[f"{task}_score" for task in TASKS]].to_numpy(),
        auditor=[DirectionalAuditor(), DirectionalAuditor(base="train")],
        clusters=MANY()["person"],
    ),
    "explanation_of_three_groups": lambda: explained(
        ROWS().assign(cook_new=(ROWS()["cook_score"] > 0.3).astype(int)),
        by="region",
        y_score=ROWS()["cook_score"],
        given=ROWS()["grade"],
        **trained(TRAIN(), "region"),
    ),
    "watch_without_labels": lambda: skbiasamp.audit_over(
        months(0.3),
        **{name: column for name, column in WATCHED.items() if name != "target"},
        **{"reference": 2, "auditor": MALSAuditor(), "n_draws": 199, "random_state": 0},
    ),
    "scores_above_a_threshold": lambda: skbiasamp.audit_frame(
        ROWS(),
        **{"target": "cook", "prediction": "cook_score", "sensitive": "sex", "threshold": 0.6},
        train=TRAIN()[["cook", "sex"]],
        auditor=DirectionalAuditor(ties="negative", confidence_level=0.9),
        random_state=0,
    ),
    "groups_predicted_by_models": lambda: skbiasamp.compare(
        ROWS()["cook"],
        sensitive_features=ROWS()["sex"],
        sensitive_preds={
            name: guessed(share, rng)
            for rng in [np.random.default_rng(18)]
            for name, share in (("old", 0.9), ("new", 0.6))
        },
        auditor=DirectionalAuditor("T->A"),
        random_state=0,
    ),
    "compas": lambda: skbiasamp.audit(
        load_compas().target,
        load_compas().decile_score >= 5,
        sensitive_features=load_compas().sensitive_features,
        auditor=DirectionalAuditor(),
        random_state=0,
    ),
    "two_columns": lambda: report(
        ROWS(), by=["sex", "region"], **trained(TRAIN(), ["sex", "region"])
    ),
    "missing_groups": lambda: report(with_missing_groups(), missing="group"),
    "missing_rows": lambda: report(with_missing_groups(), missing="drop"),
    "several_tasks": lambda: of_tasks(
        auditor=[DirectionalAuditor(), MALSAuditor()], favourable=["cook", "pilot"]
    ),
    "no_labels": lambda: of_tasks(
        y_true=None, auditor=[MALSAuditor(), DirectionalAuditor(base="train")]
    ),
    "other_metrics": lambda: of_tasks(
        auditor=[
            MultiAttributeAuditor(),
            metrics.BiasDisparityAuditor(),
            metrics.DifferentialFairnessAuditor(),
            metrics.LabelAuditor(),
            metrics.PercentageAuditor(),
        ]
    ),
    "models_attacked_in_folds": lambda: comparison(
        ROWS(), BOTH, auditor=[LeakageAuditor(**IN_FOLDS), DPAAuditor(**IN_FOLDS)]
    ),
    "attacks_on_models": lambda: comparison(
        MANY(), BOTH, auditor=[LeakageAuditor(**EXACT), DirectionalAuditor()]
    ),
    "scores_of_models": lambda: comparison(
        ROWS(), {"old": "cook_old", "new": "cook_score"}, threshold=0.45, **trained(TRAIN())
    ),
    "gate_of_models": lambda: comparison(ROWS(), BOTH, **trained(TRAIN())).gate(0.05),
    "subgroups": lambda: explained(ROWS(), **trained(TRAIN())).subgroups(
        ROWS()[["region", "grade"]], min_rows=40
    ),
    "explanation_of_both_predictors": lambda: explained(
        ROWS(), sensitive_pred=guessed(0.8, np.random.default_rng(5))
    ),
    "report_of_texts": lambda: audit_of_texts(*written(PEOPLE(), [0.3, 0.8])),
    "trained_labels": lambda: report(
        ROWS(), **trained(TRAIN()), limit=0.1, favourable=1, model_name="cooks 2"
    ),
    "no_training_labels": lambda: report(ROWS(), data_name="June"),
    "scores": lambda: report(ROWS(), y_score=ROWS()["cook_score"], **trained(TRAIN())),
    "given_a_column": lambda: report(ROWS(), given=ROWS()["grade"]),
    "weights_of_rows": lambda: report(ROWS(), sample_weight=ROWS()["weight"]),
    "people_with_several_rows": lambda: report(ROWS(), clusters=ROWS()["person"]),
    "few_rows": lambda: report(ROWS().iloc[:24]),
    "predictions_that_agree": lambda: report(ROWS(), "cook"),
    "one_prediction_only": lambda: report(ROWS().assign(cook_new=0)),
    "wrong_labels": lambda: one_result().sensitivity(),
    "two_models": lambda: comparison(ROWS(), BOTH, **trained(TRAIN())),
    "watch": lambda: skbiasamp.audit_over(
        months(0.3), **WATCHED, reference=3, version="version", n_draws=199, random_state=0
    ),
    "watch_without_alarm": lambda: skbiasamp.audit_over(
        months(), **WATCHED, n_draws=199, random_state=0, weight="weight", model_name="cooks"
    ),
    "threshold_curve": lambda: model_selection.amplification_curve(
        ROWS()["cook"], ROWS()["cook_score"], sensitive_features=ROWS()["sex"], interval="analytic"
    ),
    "folds": lambda: in_folds(
        {"deep": DecisionTreeClassifier(max_depth=4, random_state=0), "bayes": BernoulliNB()}
    ),
    "folds_of_one_model": lambda: in_folds(BernoulliNB(), n_repeats=2),
    "gate": lambda: report(ROWS(), **trained(TRAIN())).gate(0.02),
}
