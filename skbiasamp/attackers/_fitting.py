"""From an attacker's name or estimator to what it tells: cloned, seeded, fitted, asked."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.base import clone, is_regressor
from sklearn.utils.parallel import Parallel, delayed

from skbiasamp._labels import Array, check_instance
from skbiasamp.attackers._exact import ExactAttacker
from skbiasamp.attackers._networks import shown

NAMES = ("auto", "exact", "mlp")
# Rows of a distinct input, on average, from which a table is the attacker that "auto" takes.
ENOUGH = 20


@dataclass(frozen=True, eq=False)
class Lesson:
    """What one attacker learns, and what it is then asked.

    `target` holds codes of `n_classes` classes, or numbers where `n_classes` is 0. `n_rows` says
    how many rows stand behind the weights, and `rows_per_weight` how many behind one of them.
    """

    inputs: Array
    target: Array
    weight: Array
    asked: Array
    n_classes: int
    n_rows: int
    seed: int
    rows_per_weight: float = 1.0


def choose(attacker: Any, *, few_valued: bool, continuous: bool, scores: bool) -> Any:
    """Return the estimator that a name stands for, else the estimator itself."""
    if not isinstance(attacker, str):
        names = ", ".join(map(repr, NAMES))
        expected = f"attacker must be one of {names} or a scikit-learn estimator"
        check_instance(attacker, ("fit", "predict", "get_params"), expected)
        if is_regressor(attacker) != continuous:
            kind = type(attacker).__name__
            raise ValueError(
                f"{kind} is no regressor, but what it has to tell is continuous."
                if continuous
                else f"{kind} is a regressor, but what it has to tell is a class. Pass a "
                "classifier, or quality='inverse_rmse' if the classes are numbers."
            )
        return attacker
    # Imported here, since most audits need none of them.
    if attacker == "mlp":
        from skbiasamp.attackers._mlp import MLPAttacker

        return MLPAttacker(loss="squared_error" if continuous else "cross_entropy")
    if continuous:
        if attacker == "exact":
            raise ValueError(
                "attacker='exact' tells classes, and what it has to tell is continuous: pass a "
                "regressor."
            )
        from sklearn.linear_model import LinearRegression

        return LinearRegression()
    if attacker == "exact" or few_valued:
        return ExactAttacker()
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    logistic = LogisticRegression(max_iter=1000)
    return make_pipeline(StandardScaler(), logistic) if scores else logistic


def describe(attacker: Any) -> str:
    """Return an attacker's name for a result."""
    if isinstance(attacker, ExactAttacker):
        return "exact"
    return type(_last(attacker)).__name__


def answers(
    attacker: Any, lessons: Sequence[Lesson], *, shares: bool, n_jobs: int | None, verbose: int
) -> list[Array]:
    """Return what a fresh attacker tells after each lesson: (asked inputs, classes), or numbers.

    With `shares` it gives each class a probability, else the class it tells a 1.
    """
    if hasattr(attacker, "fit_many"):
        return _in_batches(attacker, lessons, shares=shares)
    # As they come only where progress is shown: not every back end of joblib can (Ray cannot).
    told = Parallel(n_jobs=n_jobs, return_as="generator" if verbose else "list")(
        delayed(_answer)(attacker, lesson, shares) for lesson in lessons
    )
    return list(shown(told, "attackers", len(lessons)) if verbose else told)


def _in_batches(attacker: Any, lessons: Sequence[Lesson], *, shares: bool) -> list[Array]:
    """Train all networks that see the same inputs as one batch."""
    told: dict[int, Array] = {}
    batches: dict[Any, list[int]] = {}
    for i, lesson in enumerate(lessons):
        key = (id(lesson.inputs), id(lesson.asked), lesson.n_classes, lesson.n_rows)
        batches.setdefault(key, []).append(i)
    for batch in batches.values():
        first = lessons[batch[0]]
        weight = np.stack([lessons[i].weight for i in batch])
        seeds = [lessons[i].seed for i in batch]
        bundle = attacker.fit_many(
            first.inputs,
            np.stack([lessons[i].target for i in batch]),
            weight,
            classes=np.arange(first.n_classes) if first.n_classes else None,
            n_rows=first.n_rows,
            random_state=seeds,
        )
        found = bundle.predict_proba(first.asked) if first.n_classes else None
        if found is None:
            found = bundle.predict(first.asked)
        elif not shares:
            found = np.eye(first.n_classes)[found.argmax(axis=-1)]
        told.update(zip(batch, found, strict=True))
    return [told[i] for i in range(len(lessons))]


def _answer(attacker: Any, lesson: Lesson, shares: bool) -> Array:
    held = lesson.weight > 0
    inputs, target, weight = lesson.inputs[held], lesson.target[held], lesson.weight[held]
    attacker = clone(attacker)
    seeds = np.random.default_rng(lesson.seed)
    for name in sorted(attacker.get_params(deep=True)):
        if name == "random_state" or name.endswith("__random_state"):
            attacker.set_params(**{name: int(seeds.integers(2**31))})
    options = {}
    takes = _weight_name(attacker)
    if takes is not None:
        options[takes] = weight
    else:
        rows = _repeated(target, weight * lesson.rows_per_weight, seeds)
        inputs, target = inputs[rows], target[rows]
    present = np.unique(target) if lesson.n_classes else None
    if present is not None and len(present) < 2:
        return np.eye(lesson.n_classes)[np.full(len(lesson.asked), present[:1].sum())]
    asked = lesson.asked
    if _is_net(attacker):
        # Networks as their users have them reject doubles and text.
        inputs, asked = inputs.astype(np.float32), asked.astype(np.float32)
        target = target.astype(np.int64 if lesson.n_classes else np.float32)
        with _torch_seed(int(seeds.integers(2**31))):
            attacker.fit(inputs, target if lesson.n_classes else target[:, None], **options)
            return _told(attacker, asked, lesson.n_classes, shares)
    # A Pipeline takes its last step's weights by name only where nothing is routed.
    with config_context(enable_metadata_routing=False):
        attacker.fit(inputs, target, **options)
        return _told(attacker, asked, lesson.n_classes, shares)


def _repeated(target: Array, weight: Array, rng: np.random.Generator) -> Array:
    """Draw rows in random order, each as often on average as its weight says.

    Each class has as many rows as its weight, rounded up or down.
    """
    order = np.argsort(target, kind="stable")
    reached = np.floor(np.cumsum(weight[order]) + rng.random()).astype(int)
    return rng.permutation(np.repeat(order, np.diff(reached, prepend=0)))


def _told(attacker: Any, asked: Array, n_classes: int, shares: bool) -> Array:
    if not n_classes:
        return np.asarray(attacker.predict(asked), dtype=float).reshape(len(asked))
    if not shares:
        return np.eye(n_classes)[np.asarray(attacker.predict(asked)).astype(int).reshape(-1)]
    if not hasattr(attacker, "predict_proba"):
        raise TypeError(
            f"quality='inverse_log_loss' needs the probability of each class, and "
            f"{type(attacker).__name__} has no predict_proba."
        )
    given = np.zeros((len(asked), n_classes))
    given[:, np.asarray(attacker.classes_).astype(int)] = attacker.predict_proba(asked)
    return given


def _weight_name(attacker: Any) -> str | None:
    """Return what `fit` calls the sample weight, or None where it takes none."""
    if hasattr(attacker, "steps"):
        inner = _weight_name(_last(attacker))
        return None if inner is None else f"{attacker.steps[-1][0]}__{inner}"
    if _is_net(attacker):
        return None  # it would go into the module's forward()
    return (
        "sample_weight" if "sample_weight" in inspect.signature(attacker.fit).parameters else None
    )


def _is_net(attacker: Any) -> bool:
    bases = type(_last(attacker)).__mro__
    return any(base.__module__.partition(".")[0] == "skorch" for base in bases)


def _last(attacker: Any) -> Any:
    """Return the last step of a Pipeline, or the estimator itself."""
    return attacker.steps[-1][1] if hasattr(attacker, "steps") else attacker


@contextmanager
def _torch_seed(seed: int) -> Iterator[None]:
    """Seed torch for a network, and leave the caller's random numbers as they were."""
    import torch

    with torch.random.fork_rng():
        torch.manual_seed(seed)
        yield
