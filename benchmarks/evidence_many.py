"""Rows of the evidence, by part: many pairs and categories, required rows, and real data."""

import os
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from evidence_trials import (
    A_T,
    BOOTSTRAP,
    T_A,
    Outcome,
    Row,
    at_signs,
    audited,
    declared,
    difference,
    outcome,
    ready,
)
from evidence_worlds import Moved, Tasks, World, change_of, shares
from sklearn.base import clone

from skbiasamp import DirectionalAuditor, MALSAuditor, selection_rates
from skbiasamp.datasets import fetch_imsitu_annotations, load_compas
from skbiasamp.inference import required_rows

# --------------------------------------------------------------------------- many pairs


def at_once(world, auditor, n, train=0):
    """Return the trial of all pairs: are all of them in the simultaneous intervals?

    The verdict is false if some interval excludes 0 although no association changes.
    """
    change, _ = change_of(world, auditor, world.models[0])

    def trial(rng):
        own, rows = ready(auditor, world, train, rng), world.draw(n, rng)
        predicted = rows.predictions(world.models[0], rng)
        table = own.audit(rows.labels, predicted, sensitive_features=rows.group).table
        low, high = (table[f"{end}_simultaneous"].to_numpy() for end in ("low", "high"))
        true = table["sign"].to_numpy() * change.ravel()
        inside = ((low <= true + 1e-9) & (true <= high + 1e-9)).all()
        outside = (low > 0).any() or -1.0 * (high < 0).any()
        return Outcome(verdict=outside, inside=inside)

    return trial


def impact_ratios(n_categories, n):
    """Return the trial of impact ratios of equal categories: does some interval exclude 1?"""

    def trial(rng):
        category, selected = rng.integers(n_categories, size=n), rng.random(n) < 0.3
        table = selection_rates(selected, sensitive_features=category).table
        low, high = (table[f"impact_ratio_{end}"].to_numpy() for end in ("low", "high"))
        outside = (low > 1).any() or (high < 1).any()
        return Outcome(verdict=-1.0 * outside, inside=not outside)

    return trial


def planned(effect, changed, n_groups=2, pilot=0):
    """Return the trial of an audit of as many rows as are required, with a power of 80 %.

    They are computed from the share of changed rows, or from the result of a small audit.
    """
    share = shares(n_groups)
    rate = np.where(np.arange(n_groups) % 2, 0.6, 0.4)[:, None]
    moved = Moved(
        lambda rate, share: rate + effect * np.sign(rate - 0.5), (changed - effect) / 0.48
    )
    world = World(share, Tasks(rate), (moved,))
    known = 0 if pilot else required_rows(effect, changed=changed, groups=share)
    audit = audited(world, A_T, known, 2_000)

    def trial(rng):
        if not pilot:
            return audit(rng)
        own, rows = ready(A_T, world, 2_000, rng), world.draw(pilot, rng)
        predicted = rows.predictions(moved, rng)
        result = own.audit(rows.labels, predicted, sensitive_features=rows.group)
        n = required_rows(effect, result=result)
        return audited(world, A_T, min(n, 50_000), 2_000)(rng)

    return trial


def many():
    row = declared("All pairs at once (`simultaneous=True`)", at_once)
    pairs = DirectionalAuditor(**BOOTSTRAP | {"n_resamples": 499})
    yield row((5, 20), 1_000, "40 % errors", auditor=pairs, train=2_000, failed=True)
    yield row((3, 10), 5_000, "40 % errors", 0.1, auditor=pairs, train=2_000)
    pairs = MALSAuditor(**BOOTSTRAP | {"n_resamples": 499})
    yield row((3, 10), 5_000, "40 % errors", 0.1, auditor=pairs, metric="MALS")
    yield row((3, 20), 300, "40 % errors", auditor=pairs, metric="MALS", train=500)
    question = "Impact ratios of categories with equal rates (`selection_rates`)"
    for n_categories, n, failed in ((2, 1_000, False), (4, 1_000, False), (12, 3_000, True)):
        setting = f"{n_categories} categories, {n:,} rows; some interval excludes 1"
        yield Row(question, setting, impact_ratios(n_categories, n), failed=failed)
    question = "Rows that are required for a power of 80 % (`required_rows`)"
    for effect, changed, n_groups, pilot in (
        (0.02, 0.1, 2, 0),
        (0.05, 0.3, 2, 0),
        (0.02, 0.1, 2, 500),
        (0.03, 0.3, 4, 500),
    ):
        how = f"from an audit of {pilot} rows" if pilot else "from the share of changed rows"
        setting = f"{n_groups} × 1; effect {effect}, {100 * changed:.0f} % changed; {how}"
        trial = planned(effect, changed, n_groups, pilot)
        yield Row(question, setting, trial, "amplifies", failed=bool(pilot))


# --------------------------------------------------------------------------- real data


class Population(NamedTuple):
    """Real rows that data sets are drawn from: group, label, and predictions of two models."""

    group: np.ndarray
    label: np.ndarray
    predicted: np.ndarray
    other: np.ndarray | None = None

    def associations(self, label):
        """Return P(t|a) − P(t), groups × tasks; of two classes the second is the task."""
        counts = np.zeros((self.group.max() + 1, label.max() + 1))
        np.add.at(counts, (self.group, label), 1)
        rate = counts / counts.sum(axis=1, keepdims=True) - counts.sum(axis=0) / len(label)
        return rate[:, 1:] if rate.shape[1] == 2 else rate


def codes(column):
    return np.unique(np.asarray(column), return_inverse=True)[1]


@cache
def population(name):
    """Return real data by name, None if its files are not at hand."""
    files = {"ACS": "acs_income_predictions.parquet", "imSitu": "imsitu_train.csv.gz"}
    folder = Path(os.environ.get("SKBIASAMP_DATA", ""))
    if name in files and not (folder / files[name]).exists():
        return None
    if name == "COMPAS":
        compas = load_compas(as_frame=False)
        score = (compas.decile_score >= 5).astype(int)
        return Population(codes(compas.sensitive_features), codes(compas.target), score)
    if name == "ACS":
        frame = pd.read_parquet(folder / "acs_income_predictions.parquet")
        frame = frame[frame.groupby("race")["income"].transform("size") > 0.02 * len(frame)]
        sex = frame["sex"].map({1: "male", 2: "female"})
        group = codes(sex + frame["race"].astype(str))
        models = (frame[name].to_numpy() for name in ("lgbm_a", "lgbm_b"))
        return Population(group, frame["income"].to_numpy(), *models)
    imsitu = fetch_imsitu_annotations(subset="all")
    frequent = imsitu.target.isin(imsitu.target.value_counts().index[:30])
    verb, gender = (codes(side[frequent]) for side in (imsitu.target, imsitu.sensitive))
    # There are no predictions: half of the verbs become another one of the same gender.
    rng, predicted = np.random.default_rng(0), verb.copy()
    for code in range(2):
        rows = np.flatnonzero(gender == code)
        some = rows[rng.random(len(rows)) < 0.5]
        predicted[some] = rng.permutation(verb[some])
    return Population(gender, verb, predicted)


def resampled(real, n, auditor=A_T, train=0, random=False, swapped=False):
    """Return the trial of an audit of n real rows, drawn with replacement.

    `random`: the groups are those of other rows. `swapped`: label and prediction are swapped in
    every other row. For T→A 20 % of groups are predicted at random.
    """
    nothing = random or swapped
    change = real.associations(real.predicted) - real.associations(real.label)
    change = change * 0 if nothing else change
    backwards = auditor.direction == "T->A"

    def rows(size, rng):
        which, others = rng.integers(len(real.label), size=(2, size))
        label, predicted = real.label[which], real.predicted[which]
        if swapped:
            swap = rng.random(size) < 0.5
            label, predicted = np.where(swap, predicted, label), np.where(swap, label, predicted)
        return real.group[others if random else which], label, predicted

    def trial(rng):
        own = clone(auditor).set_params(random_state=int(rng.integers(2**31)))
        own.set_params(reference="train" if train else "test")
        if train:
            group, label, _ = rows(train, rng)
            own.fit(label, sensitive_features=group)
        group, label, predicted = rows(n, rng)
        guessed = np.where(rng.random(n) < 0.2, rng.permutation(group), group)
        sides = {"sensitive_pred": guessed} if backwards else {"y_pred": predicted}
        result = own.audit(label, sensitive_features=group, **sides)
        return outcome(result, at_signs(result, change))

    return trial


def two_resampled(real, n):
    """Return the trial of a comparison whose models' predictions are swapped at random."""

    def trial(rng):
        which = rng.integers(len(real.label), size=n)
        swap, sides = rng.random(n) < 0.5, (real.predicted[which], real.other[which])
        models = {
            name: np.where(swap, *pair)
            for name, pair in zip("ab", (sides, sides[::-1]), strict=True)
        }
        own = clone(A_T).set_params(reference="test", random_state=int(rng.integers(2**31)))
        return difference(
            own.compare(real.label[which], models, sensitive_features=real.group[which])
        )

    return trial


def real():
    for name, n, text, right, how in (
        ("COMPAS", 1_000, "groups of other rows", "", {"random": True}),
        ("COMPAS", 2_000, "label and prediction swapped", "", {"swapped": True}),
        ("COMPAS", 2_000, "as it is; 2,000 training rows", "amplifies", {"train": 2_000}),
        ("ACS", 5_000, "groups of other rows", "", {"random": True}),
        (
            "ACS",
            5_000,
            "groups of other rows; 1,000 training rows",
            "",
            {"random": True, "train": 1_000},
        ),
        ("ACS", 5_000, "label and prediction swapped", "", {"swapped": True}),
        ("ACS", 2_000, "label and prediction swapped", "", {"swapped": True}),
        ("ACS", 5_000, "as it is", "amplifies", {}),
        ("ACS", 5_000, "predictions of two models swapped (`compare`)", "", None),
        ("imSitu", 3_000, "groups of other rows", "", {"random": True}),
        ("imSitu", 3_000, "label and prediction swapped", "", {"swapped": True}),
        ("imSitu", 3_000, "T→A; groups of other rows", "", {"random": True, "auditor": T_A}),
    ):
        data, setting = population(name), f"{name}, {n:,} rows; {text}"
        trial = None
        if data is not None:
            trial = two_resampled(data, n) if how is None else resampled(data, n, **how)
        yield Row("Rows of real data, drawn with replacement", setting, trial, right)
