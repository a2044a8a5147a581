"""Data sets of a row of the evidence: what an audit finds in one, and what is true there."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from evidence_worlds import change_of, world_of
from sklearn.base import clone

from skbiasamp import DirectionalAuditor

RESAMPLES = 199
ANALYTIC = {"interval": "analytic", "n_resamples": RESAMPLES}
BOOTSTRAP = {"interval": "bootstrap", "n_resamples": RESAMPLES}
A_T, A_T_BOOT = DirectionalAuditor(), DirectionalAuditor()
T_A, T_A_BOOT = DirectionalAuditor("T->A"), DirectionalAuditor("T->A")
CODES = {
    "amplifies": 1,
    "amplifies more": 1,
    "reveals more": 1,
    "reduces": -1,
    "amplifies less": -1,
    "reveals less": -1,
    "reverses": -2,
}


class Outcome(NamedTuple):
    """What is found in a data set: estimate with interval, its true value, p-value and verdict.

    `inside` is whether all of several intervals contain their true values, if there are several.
    """

    estimate: float = math.nan
    low: float = math.nan
    high: float = math.nan
    true: float = math.nan
    p_value: float = math.nan
    verdict: float = math.nan
    inside: float = math.nan


class Row(NamedTuple):
    """A row of the page: a function of a random generator that returns an `Outcome`.

    `right` is the verdict that is right, empty if there is nothing to find. `most` is the largest
    number of data sets, for slow rows. `failed`: the row is known to have failed before.
    """

    question: str
    setting: str
    trial: Callable
    right: str = ""
    most: int = 100_000
    failed: bool = False


def code(verdict):
    """Return a verdict as a number: its direction, −2 for "reverses", 0 for none."""
    return math.nan if verdict == "not measured" else CODES.get(verdict, 0)


def outcome(result, true):
    numbers = result.estimate, result.low, result.high
    return Outcome(*numbers, true, result.p_value, code(result.verdict))


def at_signs(result, change, divisor=None):
    """Return the mean of true changes at the signs of the estimate; undefined pairs take no part.

    Pairs that do not count, for lack of rows, have the sign 0.
    """
    table = result.table
    sign = table["sign_used"].to_numpy(float)
    known = table["amplification"].notna().to_numpy()
    return (sign * change.ravel())[known].sum() / (divisor or known.sum())


def ready(auditor, world, train, rng):
    """Return an auditor with random numbers of its own, fitted on so many training rows."""
    auditor = clone(auditor).set_params(random_state=int(rng.integers(2**31)))
    if train:
        rows = world.draw(train, rng)
        return auditor.fit(rows.labels, sensitive_features=rows.group)
    return auditor.set_params(reference="test")


def audited(world, auditor, n, train=0):
    """Return the trial of one audit of n rows."""
    change, divisor = change_of(world, auditor, world.models[0])

    def trial(rng):
        own = ready(auditor, world, train, rng)
        rows = world.draw(n, rng)
        backwards = getattr(auditor, "direction", None) == "T->A"
        result = own.audit(
            rows.labels,
            None if backwards else rows.predictions(world.models[0], rng),
            sensitive_features=rows.group,
            sensitive_pred=rows.groups_predicted(rng),
        )
        return outcome(result, at_signs(result, change, divisor))

    return trial


def several_runs(rows, model, how_many, common, between, rng):
    """Return predictions of several runs, which agree in a share of rows on one prediction.

    `between` is the standard deviation between runs of how far the rates of groups are apart.
    """
    first = rows.predictions(model, rng)
    runs = []
    for _ in range(how_many):
        own = rows.predictions(shifted(model, between * rng.normal()) if between else model, rng)
        alike = rng.random(len(own)) < common
        runs.append(np.where(alike.reshape(-1, *[1] * (own.ndim - 1)), first, own))
    return runs


def shifted(model, amount):
    """Return a model whose rates are further from their mean by this amount."""

    def target(rate, share):
        goal = rate if model.target is None else model.target(rate, share)
        return goal + amount * np.sign(rate - share @ rate)

    return replace(model, target=target)


def at_own_signs(auditor, rows, runs, change):
    """Return the mean over runs of `at_signs`: each has its own signs without training labels.

    The auditor has no interval afterwards.
    """
    auditor.set_params(interval=None)
    audits = (auditor.audit(rows.labels, run, sensitive_features=rows.group) for run in runs)
    return np.mean([at_signs(result, *change) for result in audits])


def over_runs(world, auditor, n, how_many, train=0, common=0.9, between=0.0):
    """Return the trial of an audit of several runs."""
    change = change_of(world, auditor, world.models[0])

    def trial(rng):
        own = ready(auditor, world, train, rng)
        rows = world.draw(n, rng)
        runs = several_runs(rows, world.models[0], how_many, common, between, rng)
        result = own.audit_runs(rows.labels, runs, sensitive_features=rows.group)
        return outcome(result, at_own_signs(own, rows, runs, change))

    return trial


def difference(comparison, true=0.0):
    """Return the outcome of a comparison of "a" with "b": exit codes follow from the interval."""
    value, low, high = comparison.judged("b")
    side = (low > 0) * 1.0 - (high < 0)
    row = comparison.table.iloc[1]
    return Outcome(value, low, high, true, row["p_value"], math.nan if np.isnan(low) else side)


def compared(world, auditor, n, train=0, runs=0, common=0.9, between=0.0):
    """Return the trial of a comparison of two models, or of two procedures with several runs.

    The true difference is that of the values at the signs that each model's audit uses.
    """
    changes = [change_of(world, auditor, model) for model in world.models]

    def trial(rng):
        own = ready(auditor, world, train, rng)
        rows = world.draw(n, rng)
        models = [
            several_runs(rows, model, runs, common, between, rng)
            if runs
            else [rows.predictions(model, rng)]
            for model in world.models
        ]
        named = zip("ab", models if runs else (every[0] for every in models), strict=True)
        comparison = own.compare(rows.labels, dict(named), sensitive_features=rows.group)
        a, b = (
            at_own_signs(own, rows, every, change)
            for every, change in zip(models, changes, strict=True)
        )
        return difference(comparison, b - a)

    return trial


# --------------------------------------------------------------------------- rows


KINDS = {
    "rare": "rare label",
    "classes": "one label of several classes",
    "shared": "correlated tasks",
}


def sized(shape, n, *parts):
    """Return the text of a row: groups × tasks, rows, and what else there is to say."""
    return "; ".join(filter(None, (f"{shape[0]} × {shape[1]}, {n:,} rows", *parts)))


def groups_named(gap, kind):
    if not gap:
        return "random groups"
    by = f"± {100 * gap:.3g} {'%' if kind.get('classes') else 'pp'}"
    return f"half of the tasks {by}" if kind.get("mixed") else by


def declared(question, trial_of):
    """Return what makes rows of a question from a short declaration.

    `gap` is how far the rates of groups are apart, 0 for groups that are random; `model` names one
    of the models, or two; `train` training rows give the signs, 0: the audited rows do. `kind` are
    further arguments of `world_of`.
    """

    def row(shape, n, model, gap=0.0, *, kind=None, auditor=A_T, train=0, metric="", note="",
            right="", failed=False, **how):  # fmt: skip
        models, kind = (model,) if isinstance(model, str) else model, kind or {}
        world = world_of(shape, models, gap, **kind)
        setting = sized(
            shape,
            n,
            metric,
            "/".join(map(str, kind.get("sizes", ()))) + " % of rows" * ("sizes" in kind),
            *(text for name, text in KINDS.items() if kind.get(name)),
            groups_named(gap, kind),
            note or " and ".join(models),
            f"{train:,} training rows" if train else "",
            "bootstrap" if auditor.interval == "bootstrap" else "",
        )
        trial = trial_of(world, auditor, n, train=train, **how)
        return Row(question, setting, trial, right, failed=failed)

    return row
