"""Pairs of attacks with trained attackers: one for every draw, fold and target."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skbiasamp._input import Array
from skbiasamp._progress import progress
from skbiasamp.attackers._attack import Attack
from skbiasamp.attackers._draws import redraw, split, weighed
from skbiasamp.attackers._fitting import TrainingTask, predictions_of
from skbiasamp.attackers._pair import AttackPair, Qualities, other_folds
from skbiasamp.attackers._qualities import OF_PROBABILITIES, inverse_spread


def train(pair: AttackPair, attacker: Any, rng: np.random.Generator) -> TrainedPair:
    """Train an attacker for every draw, fold and target."""
    settings = pair.settings
    n_folds = settings.cv or 1
    folds = split(pair.cells, n_folds, settings.n_draws, rng)
    weight = weighed(pair.cells, folds)
    training = pair.data.training
    if training is None:
        rates = pair.rates(pair.cells, weight.sum(axis=1))
    else:
        own = pair.rates(training.cells, training.cells.weight[None])
        rates = np.repeat(own, settings.n_draws, axis=0)
    # Of a single split the attacker of one fold is enough.
    n_scored = 1 if settings.holdout and training is None else n_folds
    n_targets = max(len(attack.names) for attack in pair.attacks)
    # Both attackers of a pair start from the same seed.
    seeds = rng.integers(2**31, size=(settings.n_draws, n_scored, n_targets))
    tasks: list[TrainingTask] = []
    for attack in pair.attacks:
        rate = pair.rate_of(attack, rates)
        for draw in range(settings.n_draws):
            drawn = None if rate is None else rate[[draw]]
            tasks += _tasks(pair, attack, weight[[draw]], drawn, seeds[draw], rng)
    found = iter(
        predictions_of(
            attacker,
            tasks,
            probabilities=settings.quality in OF_PROBABILITIES,
            n_jobs=settings.n_jobs,
            verbose=settings.verbose,
        )
    )
    predicted: list[list[Array]] = []
    for attack in pair.attacks:
        shape = (1, 1 if attack.training else n_scored, len(attack.names))
        n = shape[1] * shape[2]
        draws = [np.stack([next(found) for _ in range(n)]) for _ in range(settings.n_draws)]
        predicted.append([one.reshape(*shape, *one.shape[1:]) for one in draws])
    return TrainedPair(pair, folds[:, :n_scored] if training is None else folds, predicted)


def _tasks(
    pair: AttackPair,
    attack: Attack,
    weight: Array,
    rate: Array | None,
    seeds: Array,
    rng: np.random.Generator,
) -> list[TrainingTask]:
    """Return the training data of the attackers of one draw, by fold and target.

    `rate` is that of the rows they learn from.
    """
    source = attack.training or attack
    if attack.training is not None:
        weight = source.cells.weight[None, None]
    inputs = attack.inputs
    if rate is not None and pair.rowwise:
        # Every row of the draw has its own perturbed input.
        by_input = np.full((len(inputs), 1), rate[0, 0])
        if attack.training is not None:
            by_input[attack.input_codes] = pair.rates(pair.cells, pair.cells.weight[None])[0, 0]
        inputs = _perturbed(pair, inputs, by_input, rng)
    per_weight = source.cells.rows_per_weight
    n_rows = max(1, round(float(weight.sum()) * per_weight))
    if weight.shape[1] > 1:
        n_rows = round(n_rows * (1 - 1 / weight.shape[1]))
    if not attack.n_classes:
        train = weight if weight.shape[1] == 1 else weight.sum(axis=1, keepdims=True) - weight
        target = _numbers(pair, source, rate, rng)
        return [
            TrainingTask(source.of_rows, target, held, inputs, 0, n_rows, int(seed), per_weight)
            for held, seed in zip(train[0], seeds[:, 0], strict=False)
        ]
    table = pair.tables(source, weight, rate, rng)
    tables = pair.training_tables(table)[0]
    rows_of = np.rint(other_folds(table))[0].astype(int) if attack.by_rows else tables
    n_classes = attack.n_classes
    # If each input has one class, a row an input is enough; else a row an input and class.
    one_each = bool(((tables > 0).sum(axis=-1) <= 1).all())
    rows = inputs if one_each else attack.of_classes
    every = np.tile(np.arange(n_classes), attack.n_inputs)
    found = []
    for by_target, counted, by_seed in zip(tables, rows_of, seeds, strict=False):
        for table, counts, seed in zip(by_target, counted, by_seed, strict=False):
            target = table.argmax(axis=-1) if one_each else every
            held, n = (one.sum(axis=-1) if one_each else one.ravel() for one in (table, counts))
            task = TrainingTask(
                rows, target, held, inputs, n_classes, n_rows, int(seed), per_weight
            )
            found.append(replace(task, counts=n) if attack.by_rows else task)
    return found


def _perturbed(pair: AttackPair, inputs: Array, rate: Array, rng: np.random.Generator) -> Array:
    if pair.cells.soft(pair.truth):
        return inputs + rate * rng.standard_normal(inputs.shape)
    return np.abs(inputs - (rng.random(inputs.shape) < rate))


def _numbers(
    pair: AttackPair, attack: Attack, rate: Array | None, rng: np.random.Generator | None
) -> Array:
    """Return numbers to be predicted, with noise if they are labels."""
    assert isinstance(attack.target, np.ndarray)
    if rate is None or rng is None or pair.perturbed != "target":
        return attack.target
    return attack.target + float(rate[0, 0]) * rng.standard_normal(len(attack.target))


@dataclass(frozen=True, eq=False)
class TrainedPair:
    """Trained attackers: by attack and draw, what each predicts for every input."""

    pair: AttackPair
    folds: Array
    predicted: list[list[Array]]

    def qualities(
        self, n_draws: int, rng: np.random.Generator, *, resample: bool, perturb: bool = True
    ) -> Qualities:
        """Score the attackers of each draw on rows that they did not learn from.

        These rows can be resampled; `n_draws` is shared by the draws.
        """
        pair = self.pair
        noise = rng.spawn(1)[0] if perturb else None  # as for exact attackers
        found: list[Qualities] = []
        with progress("resamples" if resample else "draws", n_draws) as step:
            for draw, counts in enumerate(self.folds):
                share = len(range(draw, n_draws, len(self.folds)))
                for n in step.parts(pair.chunks(share, trained=True) if share else []):
                    folds = np.broadcast_to(counts, (n, *counts.shape))
                    weight = weighed(pair.cells, redraw(folds, rng) if resample else folds)
                    rates = pair.rates(pair.cells, weight.sum(axis=1))
                    scores = []
                    for attack, predicted in zip(pair.attacks, self.predicted, strict=True):
                        rate = pair.rate_of(attack, rates)
                        held = (
                            weight if attack.training is None else weight.sum(axis=1, keepdims=True)
                        )
                        scores.append(self._score(attack, held, rate, predicted[draw], noise))
                    found.append(Qualities(scores[0][0], *scores[-1]))
        return Qualities(*map(np.concatenate, zip(*found, strict=True)))

    def _score(
        self,
        attack: Attack,
        weight: Array,
        rate: Array | None,
        predicted: Array,
        rng: np.random.Generator | None,
    ) -> tuple[Array, Array]:
        """Return the qualities of predictions, and of the best guess that ignores its input."""
        pair = self.pair
        if attack.n_classes:
            if pair.adds_up:
                return pair.score_rows(attack, weight, predicted)
            table = pair.tables(attack, weight, rate, rng)
            return pair.score(table, predicted), pair.best_guess(table)
        found, guess = np.empty((2, len(weight), 1))
        for one, held in enumerate(weight):
            target = _numbers(pair, attack, None if rate is None else rate[[one]], rng)
            error = (target - predicted[0, :, 0][:, attack.input_codes]) ** 2
            loss = np.sqrt((held * error).sum() / held.sum())
            found[one] = 1 / loss if loss > 0 else np.inf
            guess[one] = inverse_spread(target, held.sum(axis=0))
        return found, guess
