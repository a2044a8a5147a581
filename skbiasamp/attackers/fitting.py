"""From an attacker's name or estimator to its predictions: clone, seed, fit, predict."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.base import clone, is_regressor

from skbiasamp._input.checks import Array, check_instance
from skbiasamp._input.errors import InputError, InputTypeError
from skbiasamp._utils.compat import has_method
from skbiasamp._utils.progress import Step, one_blas_thread, progress, side_by_side
from skbiasamp.attackers.attack import ExactAttacker
from skbiasamp.attackers.logistic import is_plain, is_small, predictions_of_many
from skbiasamp.attackers.networks import MLPAttacker, draw_rows, seeded

# "auto" takes the exact attacker if distinct inputs have at least so many rows on average.
MIN_ROWS_PER_INPUT = 20
# The least numbers of rows that a tree may ask for, with which any leaf will do.
_ANY_LEAF = {"min_samples_leaf": 1, "min_samples_split": 2, "min_child_samples": 1}


@dataclass(frozen=True, eq=False)
class TrainingTask:
    """An attacker that is to be trained, its data, and the inputs that it then predicts for.

    `target` holds codes of `n_classes` classes, or numbers if `n_classes` is 0. `n_rows` is the
    number of rows before equal rows became one, and `rows_per_weight` the number of rows that a
    weight of 1 stands for. Inputs are numbers, a sparse matrix, or texts. With `counts` the
    attacker learns from so many rows of each input. `validation` holds inputs, targets and weights
    of the rows on which it chooses its epoch.
    """

    attacker: Any
    inputs: Any
    target: Array
    weight: Array
    query: Any
    n_classes: int
    n_rows: int
    seed: int
    rows_per_weight: float = 1.0
    counts: Array | None = None
    validation: tuple[Array, Array, Array] | None = None


def choose(attacker: Any, *, few_valued: bool, continuous: bool, scores: bool) -> Any:
    """Return the estimator of a name, or the estimator itself."""
    if not isinstance(attacker, str):
        expected = "attacker must be one of 'auto', 'exact', 'mlp' or a scikit-learn estimator"
        methods = ("fit", "predict", "get_params")  # some exist after `fit` only
        check_instance(attacker, [m for m in methods if not has_method(attacker, m)], expected)
        if is_regressor(attacker) != continuous:
            kind = type(attacker).__name__
            raise InputError(
                "attacker must be a regressor, since the target is continuous; got {kind}."
                if continuous
                else "attacker must be a classifier, since the target is a class; got {kind}. "
                "Pass a classifier, or quality='inverse_rmse' if the classes are numbers.",
                kind=kind,
            )
        return attacker
    if attacker == "exact" and continuous:
        raise InputError(
            "attacker='exact' predicts classes, and the target is continuous. Pass a regressor."
        )
    if attacker == "exact" or (attacker == "auto" and few_valued and not continuous):
        return ExactAttacker()
    # Imported here, since most audits need none of them.
    if attacker == "mlp":
        return MLPAttacker(loss="squared_error" if continuous else "cross_entropy")
    from sklearn.linear_model import LinearRegression, LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    if continuous:
        return LinearRegression()
    logistic = LogisticRegression(max_iter=1000)
    return make_pipeline(StandardScaler(), logistic) if scores else logistic


def describe(attacker: Any) -> str:
    """Return an attacker's name for a result."""
    return "exact" if isinstance(attacker, ExactAttacker) else type(_last(attacker)).__name__


def predictions_of(
    tasks: Sequence[TrainingTask], *, probabilities: bool, n_jobs: int | None, verbose: int
) -> list[Array]:
    """Return the predictions of a fresh attacker for each task: (inputs, classes), or numbers.

    With `probabilities` these are those of the classes, else 1 for the predicted class.
    """
    if all(hasattr(task.attacker, "fit_many") for task in tasks):
        with progress("attackers", len(tasks), verbose=verbose) as step:
            predicted = _train_at_once(tasks, probabilities, step)
    else:
        known = _logistic_at_once(tasks, probabilities)
        others = [i for i in range(len(tasks)) if i not in known]
        fitted = side_by_side(
            _fit_predict,
            ((tasks[i], probabilities) for i in others),
            n_jobs=n_jobs,
            what="attackers",
            total=len(others),
            verbose=verbose,
        )
        known |= dict(zip(others, fitted, strict=True))
        predicted = [known[i] for i in range(len(tasks))]
    for task, own in zip(tasks, predicted, strict=True):
        if (wrong := ~np.isfinite(own)).any():
            text = (
                "{attacker} must predict finite numbers; {kind} predicted {seen} for {n} of {m} "
                "inputs. Scale the inputs, or pass another attacker."
            )
            kind, n = describe(task.attacker), int(wrong.reshape(len(own), -1).any(axis=1).sum())
            raise InputError(text, kind=kind, seen=own[wrong][0].item(), n=n, m=len(own))
    return predicted


def _of_same_inputs(tasks: Sequence[TrainingTask]) -> list[list[int]]:
    """Return the positions of tasks that share their inputs, together."""
    batches: dict[Any, list[int]] = {}
    for i, task in enumerate(tasks):
        # By identity: comparing arrays would cost more than it saves.
        key = (id(task.inputs), id(task.query), id(task.validation), task.n_classes, task.n_rows)
        batches.setdefault(key, []).append(i)
    return list(batches.values())


def _logistic_at_once(tasks: Sequence[TrainingTask], probabilities: bool) -> dict[int, Array]:
    """Return the predictions of plain logistic regressions of the same inputs, by position."""
    predictions: dict[int, Array] = {}
    for batch in _of_same_inputs(tasks):
        first = tasks[batch[0]]
        n_classes = first.n_classes
        if not (n_classes > 1 and is_small(first.inputs, n_classes) and is_plain(first.attacker)):
            continue
        every = range(n_classes)
        batch = [
            i for i in batch if all((tasks[i].weight * (tasks[i].target == c)).any() for c in every)
        ]
        if len(batch) < 2:
            continue
        predicted = predictions_of_many(
            first.inputs,
            [tasks[i].target for i in batch],
            [tasks[i].weight for i in batch],
            first.query,
            n_classes,
            scaled=hasattr(first.attacker, "steps"),
        )
        if not probabilities:
            predicted = np.eye(n_classes, dtype=bool)[predicted.argmax(axis=2)]
        predictions |= dict(zip(batch, predicted, strict=True))
    return predictions


def _train_at_once(tasks: Sequence[TrainingTask], probabilities: bool, step: Step) -> list[Array]:
    """Train all networks that share inputs as one batch."""
    predictions: dict[int, Array] = {}
    for batch in _of_same_inputs(tasks):
        members = [tasks[i] for i in batch]
        first = members[0]
        options = {} if first.validation is None else {"validation": first.validation}
        networks = first.attacker.fit_many(
            first.inputs,
            np.stack([task.target for task in members]),
            np.stack([task.weight for task in members]),
            classes=np.arange(first.n_classes) if first.n_classes else None,
            n_rows=first.n_rows,
            random_state=[task.seed for task in members],
            **options,
        )
        for i, network in zip(batch, networks, strict=True):
            if first.n_classes and probabilities:
                predictions[i] = network.predict_proba(first.query)
            else:
                predicted = network.predict(first.query)
                predictions[i] = (
                    np.eye(first.n_classes)[predicted] if first.n_classes else predicted
                )
        step.advance(len(batch))
    return [predictions[i] for i in range(len(tasks))]


def _fit_predict(task: TrainingTask, probabilities: bool) -> Array:
    used, query = task.weight > 0, task.query
    inputs, target, weight = task.inputs[used], task.target[used], task.weight[used]
    if task.counts is not None:
        times = task.counts[used]
        inputs, target = inputs[np.repeat(np.arange(len(times)), times)], np.repeat(target, times)
        weight = np.repeat(weight / times, times)
    attacker = clone(task.attacker)
    rng = np.random.default_rng(task.seed)
    for name in sorted(attacker.get_params()):
        if name == "random_state" or name.endswith("__random_state"):
            attacker.set_params(**{name: int(rng.integers(2**31))})
    options = {}
    if (name := weight_name(attacker)) is not None:
        if len(target) < 2 * task.n_classes:
            # scikit-learn warns of numbers if classes are more than half of the rows: halve rows.
            twice = np.repeat(np.arange(len(target)), 2)
            inputs, target, weight = inputs[twice], target[twice], weight[twice] / 2
        options[name] = weight
    else:
        # Repeated rows replace weights. Sorted by class, so that each class has as many rows as
        # its weight says, rounded up or down.
        order = np.argsort(target, kind="stable")
        n = weight.sum() * task.rows_per_weight
        order = order[draw_rows(weight[order] / weight.sum(), n, rng)]
        inputs, target = inputs[order], target[order]
    if task.n_classes and len(present := np.unique(target)) < 2:
        # Many classifiers refuse a single class. Without any row the first class is predicted.
        return np.eye(task.n_classes)[np.full(query.shape[0], present[:1].sum())]
    with ExitStack() as contexts:
        # A Pipeline takes its last step's weights by name only if nothing is routed.
        contexts.enter_context(config_context(enable_metadata_routing=False))
        contexts.enter_context(one_blas_thread())
        if _is_net(attacker):
            # skorch passes arrays on as they are, and torch's layers and losses need these types.
            if inputs.dtype.kind != "O":  # texts are
                inputs, query = inputs.astype(np.float32), query.astype(np.float32)
            if task.n_classes:
                target = target.astype(np.int64)
            else:
                target = target.astype(np.float32)[:, None]
            contexts.enter_context(seeded(int(rng.integers(2**31))))
        attacker.fit(inputs, target, **options)
        return _predict(attacker, query, task.n_classes, probabilities)


def _predict(attacker: Any, query: Array, n_classes: int, probabilities: bool) -> Array:
    """Return numbers, probabilities, or 1 for the predicted class; classes count from 0."""
    if not n_classes:
        return np.asarray(attacker.predict(query), dtype=float).reshape(len(query))
    kind, n_rows = type(_last(attacker)).__name__, query.shape[0]
    if not probabilities:
        predicted = np.asarray(attacker.predict(query)).reshape(-1)
        if len(predicted) != n_rows or not np.isin(predicted, np.arange(n_classes)).all():
            raise InputError(
                "{attacker} must predict one of the classes it was trained on for each row; {kind} "
                "predicted {seen!r}, ..., for {n} of {m} rows.",
                kind=kind,
                seen=predicted[:1].tolist(),
                n=len(predicted),
                m=n_rows,
            )
        return np.eye(n_classes)[predicted.astype(int)]
    if not hasattr(attacker, "predict_proba"):
        raise InputTypeError(
            "quality='inverse_log_loss' and 'confidence' need the probability of each class, and "
            "{kind} has no predict_proba.",
            kind=kind,
        )
    # Classes without training rows are not in classes_: their probability is 0.
    probability = np.zeros((n_rows, n_classes))
    probability[:, np.asarray(attacker.classes_).astype(int)] = attacker.predict_proba(query)
    return probability


def weight_name(attacker: Any) -> str | None:
    """Return the name of the sample weight in `fit`, or None if it takes none."""
    if hasattr(attacker, "steps"):
        inner = weight_name(_last(attacker))
        return None if inner is None else f"{attacker.steps[-1][0]}__{inner}"
    # skorch passes additional arguments of `fit` to the module's forward().
    takes = "sample_weight" in inspect.signature(attacker.fit).parameters
    return "sample_weight" if takes and not (_is_net(attacker) or _counts_rows(attacker)) else None


def _counts_rows(attacker: Any) -> bool:
    """Return whether trees need so many rows in a leaf, of which a weight is one."""
    return any(
        isinstance(value, int | np.integer) and value > _ANY_LEAF[name.rpartition("__")[2]]
        for name, value in attacker.get_params().items()
        if name.rpartition("__")[2] in _ANY_LEAF
    )


def _is_net(attacker: Any) -> bool:
    bases = type(_last(attacker)).__mro__
    return any(base.__module__.partition(".")[0] == "skorch" for base in bases)


def _last(attacker: Any) -> Any:
    """Return the last step of a Pipeline, or the estimator itself."""
    return attacker.steps[-1][1] if hasattr(attacker, "steps") else attacker
