"""Pairs of attacks with trained attackers: one for every draw, fold and target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from math import prod
from typing import Any

import numpy as np

from skbiasamp._input.checks import Array
from skbiasamp._input.labels import Codes, Members
from skbiasamp.attackers._fitting import TrainingTask, predictions_of
from skbiasamp.attackers.attack import MOST_MEANS, Attack
from skbiasamp.attackers.attack_pair import AttackPair, Qualities, of_all_draws, other_folds
from skbiasamp.attackers.qualities import (
    OF_PROBABILITIES,
    TINY,
    confident,
    divide,
    inverse_spread,
    shares_of,
)
from skbiasamp.attackers.resampling import split
from skbiasamp.counts.draws import in_blocks
from skbiasamp.counts.pair_sums import pair_sums


def train_attackers(
    pair: AttackPair,
    attackers: Sequence[Any],
    rng: np.random.Generator,
) -> TrainedPair:
    """Train an attacker for every draw, fold and target, with one of `attackers` each attack."""
    settings, whole = pair.settings, pair
    if _can_merge(pair):
        pair = pair.merged()
    n_folds = settings.cv or 1
    weight = split(pair.cells, n_folds, settings.n_draws, rng)
    training = pair.data.training
    if training is None:
        rates = pair.rates(pair.cells, weight.sum(axis=1))
    else:
        own = pair.rates(training.cells, training.cells.weight[None])
        rates = np.repeat(own, settings.n_draws, axis=0)
    # The attacker of one fold is enough for a single split.
    n_scored = 1 if settings.holdout and training is None else n_folds
    n_targets = max(len(attack.names) for attack in pair.attacks)
    # Both attackers of a pair start from the same seed.
    seeds = rng.integers(2**31, size=(settings.n_draws, n_scored, n_targets))
    tasks = []
    for attack, attacker in zip(pair.attacks, attackers, strict=True):
        rate = pair.rate_of(attack, rates)
        for draw in range(settings.n_draws):
            drawn = None if rate is None else rate[[draw]]
            of_draw = weight[[draw]], drawn, seeds[draw]
            tasks += _tasks(pair, attack, attacker, *of_draw, rng)
    outputs = iter(
        predictions_of(
            tasks,
            probabilities=settings.quality in OF_PROBABILITIES,
            n_jobs=settings.n_jobs,
            verbose=settings.verbose,
        )
    )
    predicted = []
    for attack in pair.attacks:
        shape = (settings.n_draws, 1, 1 if attack.training else n_scored, len(attack.names))
        every = np.stack(list(islice(outputs, prod(shape))))
        predicted.append(every.reshape(*shape, *every.shape[1:]))
    folds = weight[:, :n_scored] if training is None else weight
    return TrainedPair(whole, pair, folds, predicted)


def _can_merge(pair: AttackPair) -> bool:
    """Whether attackers see means of scores, so that many cells are alike to them."""
    cells = pair.cells
    of_rows = cells.whole and cells.clusters is None and not pair.settings.holdout
    attack = pair.attacks[-1]
    means = attack.soft and attack.n_classes > 0 and attack.n_inputs == MOST_MEANS
    return of_rows and means and not pair.rowwise


def _tasks(
    pair: AttackPair,
    attack: Attack,
    attacker: Any,
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
        # Audited and validation rows have rates of their own.
        for part in (attack, attack.validation) if attack.training is not None else ():
            if part is not None:
                own = pair.rates(part.cells, part.cells.weight[None])
                by_input[part.input_codes] = own[0, 0]
        inputs = _perturbed(pair, inputs, by_input, rng)
    per_weight = source.cells.rows_per_weight
    n_rows = max(1, round(float(weight.sum()) * per_weight))
    if weight.shape[1] > 1:
        n_rows = round(n_rows * (1 - 1 / weight.shape[1]))
    how: Any = {"n_classes": attack.n_classes, "n_rows": n_rows, "rows_per_weight": per_weight}
    if not attack.n_classes:
        (how["validation"],) = _validation_rows(pair, attack, inputs, rng)
        numbers = _numbers(pair, source, rate, rng)
        each = zip(other_folds(weight)[0], seeds[:, 0], strict=False)
        return [
            TrainingTask(attacker, source.of_rows, numbers, of_fold, inputs, seed=int(seed), **how)
            for of_fold, seed in each
        ]
    table = pair.tables(source, weight, rate, rng)
    tables = pair.training_tables(table)[0]
    rows_of = np.rint(other_folds(table))[0].astype(int) if attack.by_rows else tables
    n_classes = attack.n_classes
    # If each input has one class, a row an input is enough; else a row an input and class.
    one_each = bool(((tables > 0).sum(axis=-1) <= 1).all())
    rows = inputs if one_each else attack.of_classes
    every = np.tile(np.arange(n_classes), attack.n_inputs)
    tasks = []
    validation = _validation_rows(pair, attack, inputs, rng)
    for by_target, counted, by_seed in zip(tables, rows_of, seeds, strict=False):
        for table, counts, seed, judged in zip(
            by_target, counted, by_seed, validation, strict=False
        ):
            target = table.argmax(axis=-1) if one_each else every
            row_weight, n = (
                sums.sum(axis=-1) if one_each else sums.ravel() for sums in (table, counts)
            )
            how["validation"] = judged
            task = TrainingTask(attacker, rows, target, row_weight, inputs, seed=int(seed), **how)
            tasks.append(replace(task, counts=n) if attack.by_rows else task)
    return tasks


def _validation_rows(
    pair: AttackPair, attack: Attack, inputs: Any, rng: np.random.Generator
) -> list[tuple[Array, Array, Array] | None]:
    """Return inputs, targets and weights of validation rows for each target."""
    validation = attack.validation
    if validation is None:
        return [None] * len(attack.names)
    if not attack.n_classes:
        return [(validation.of_rows, np.asarray(validation.target), validation.cells.weight)]
    every = np.tile(np.arange(attack.n_classes), attack.n_inputs)
    weight = validation.cells.weight[None, None]
    rate = pair.rate_of(attack, pair.rates(validation.cells, weight[0]))
    tables = pair.tables(validation, weight, rate, rng)[0, 0]
    rows = np.repeat(inputs, attack.n_classes, axis=0) if pair.rowwise else attack.of_classes
    return [(rows, every, table.ravel()) for table in tables]


def _perturbed(pair: AttackPair, inputs: Array, rate: Array, rng: np.random.Generator) -> Array:
    if pair.cells.soft(pair.truth):
        return inputs + rate * rng.standard_normal(inputs.shape)
    return np.abs(inputs - (rng.random(inputs.shape) < rate))


def _numbers(
    pair: AttackPair, attack: Attack, rate: Array | None, rng: np.random.Generator
) -> Array:
    """Return numbers to be predicted, with noise if they are labels."""
    assert isinstance(attack.target, np.ndarray)
    if rate is None or pair.perturbed != "target":
        return attack.target
    return attack.target + float(rate[0, 0]) * rng.standard_normal(len(attack.target))


@dataclass(frozen=True, eq=False)
class TrainedPair:
    """Trained attackers: what each predicts for every input.

    `folds` are the weights of the cells of `learnt` in each fold of each draw, `predicted` by
    attack (draws, 1, folds, targets, inputs, classes). `learnt` is the pair, or one over fewer
    cells.
    """

    pair: AttackPair
    learnt: AttackPair
    folds: Array
    predicted: list[Array]

    # ------------------------------------------------------------------ the rows as they are

    def qualities(self, rng: np.random.Generator) -> Qualities:
        """Score the attackers of each draw on rows that they did not learn from."""
        pair = self.learnt
        noise = rng.spawn(1)[0]  # as for exact attackers
        draws: list[Qualities] = []
        for weight, *predicted in zip(self.folds[:, None], *self.predicted, strict=True):
            if pair.data.training is not None:
                weight = weight.sum(axis=1, keepdims=True)
            rates = pair.rates(pair.cells, weight.sum(axis=1))
            scores = [
                self._score(attack, weight, pair.rate_of(attack, rates), own, noise)
                for attack, own in zip(pair.attacks, predicted, strict=True)
            ]
            draws.append(Qualities(scores[0][0], *scores[-1]))
        return of_all_draws(draws)

    def _score(
        self,
        attack: Attack,
        weight: Array,
        rate: Array | None,
        predicted: Array,
        rng: np.random.Generator,
    ) -> tuple[Array, Array]:
        """Return the qualities of predictions, and of the best guess that ignores its input."""
        pair = self.learnt
        if attack.n_classes:
            table = pair.tables(attack, weight, rate, rng)
            return pair.score(table, predicted), pair.best_guess(table)
        target = _numbers(pair, attack, rate, rng)
        error = (target - predicted[0, :, 0][:, attack.input_codes]) ** 2
        loss = np.sqrt((weight[0] * error).sum() / weight.sum())
        quality = np.full((1, 1), 1 / loss if loss > 0 else np.inf)
        return quality, inverse_spread(target, weight[0].sum(axis=0))

    def by_fold(self) -> Qualities | None:
        """Score each attacker on its own fold, with the expected perturbation.

        The qualities are (draws, folds, targets). There are none if attackers learn from training
        rows, or are scored on a single split; nor if rows are perturbed one by one, since folds
        then differ by the perturbation too, and the spread of resamples was measured to be enough.
        """
        if self.pair.rowwise or self.pair.data.training is not None or self._scored is not None:
            return None
        if (self.folds.sum(axis=-1) == 0).any():  # as a fold of few rows may be
            return None
        draws = []
        for draw in range(len(self.folds)):
            by_fold = []
            for fold in range(self.folds.shape[1]):
                own = [every[[draw]][:, :, [fold]] for every in self.predicted]
                own_folds = self.folds[[draw]][:, [fold]]
                alone = replace(self, pair=self.learnt, folds=own_folds, predicted=own)
                by_fold.append(alone.rescored(self.learnt.cells.weight[None]))
            draws.append(of_all_draws(by_fold))
        return Qualities(*map(np.stack, zip(*draws, strict=True)))

    # ------------------------------------------------------------------ resampled rows

    @cached_property
    def _means(self) -> list[Array]:
        """What the attackers predict on average, see `_mean`."""
        return [self._mean(*both) for both in zip(self.learnt.attacks, self.predicted, strict=True)]

    @cached_property
    def _scored(self) -> Array | None:
        """How much of each cell is scored; None if that is all, as in a single split it is not."""
        share = divide(self.folds.sum(axis=1).mean(axis=0), self.learnt.cells.weight)
        return None if (share == 1).all() else share

    def rescored(self, weight: Any) -> Qualities:
        """Score the attackers on rows of other weights, with the expected perturbation.

        A row counts as it does on average over the draws in which attackers were trained.
        """
        pair = self.pair
        if self._scored is not None:
            weight = weight * self._scored.astype(weight.dtype)
        # Perturbed rows stay perturbed as they are.
        rates = None if pair.rowwise else pair.rates(pair.cells, weight)
        scores = [
            self._rescore(attack, weight, pair.rate_of(attack, rates), mean)
            for attack, mean in zip(pair.attacks, self._means, strict=True)
        ]
        return Qualities(scores[0][0], *scores[-1])

    def _mean(self, attack: Attack, predicted: Array) -> Array:
        """Return what attackers predict on average, for rows that they did not learn from.

        Shares of classes, or their logarithms (targets, inputs, columns); squared errors of cells.
        """
        codes, folds = attack.input_codes, self.folds
        if attack.training is not None:
            folds = folds.sum(axis=1, keepdims=True)
        folds = folds.reshape(-1, folds.shape[-1])  # of all draws
        every = predicted.reshape(-1, *predicted.shape[3:])  # those of all draws and folds
        if not attack.n_classes:
            errors = (np.asarray(attack.target) - every[:, 0][:, codes]) ** 2
            return np.asarray((shares_of(folds, axis=0) * errors).sum(axis=0))
        quality = self.pair.settings.quality
        of_logs = quality == "inverse_log_loss"
        sure = quality == "confidence" and not self._counted(attack)
        if sure:
            every = confident(every)
        if of_logs:
            every = np.log(np.clip(every, TINY, 1 - TINY))
        weights = [np.bincount(codes, fold, minlength=every.shape[2]) for fold in folds]
        mean = np.einsum("fi,ftic->tic", shares_of(np.array(weights), axis=0), every)
        if of_logs and self._by_input(attack):
            return np.asarray(np.exp(mean))
        if of_logs:  # beside sums of logarithms, those of rows
            mean = np.append(mean, np.ones_like(mean[..., :1]), axis=-1)
        if sure:  # what the attacker is not sure of is no class
            mean = np.append(mean, 1 - mean.sum(axis=-1, keepdims=True), axis=-1)
        return mean

    def _counted(self, attack: Attack) -> bool:
        """Whether counts of inputs are perturbed, which needs tables of inputs."""
        pair = self.pair
        on_labels = attack is pair.data or attack is self.learnt.data
        return pair.perturbed == "input" and not pair.rowwise and on_labels

    def _by_input(self, attack: Attack) -> bool:
        """Whether rows are summed by input; if inputs are many, by what is predicted of them."""
        few = attack.few and self.pair.settings.quality != "confidence"
        return few or self._counted(attack)

    @property
    def in_blocks(self) -> bool:
        """Whether resamples may be of blocks of rows: the tables of each block are small."""
        many = in_blocks(self.pair.cells)
        return all(
            attack.few or (many and attack.n_classes > 0 and not self._counted(attack))
            for attack in self.pair.attacks
        )

    def _rescore(
        self, attack: Attack, weight: Any, rate: Array | None, mean: Array
    ) -> tuple[Array, Array]:
        """Return the qualities of mean predictions, and of the best guess, on resampled rows."""
        pair = self.pair
        if not attack.n_classes:
            total = weight.sum(axis=-1, keepdims=True)
            noise = rate if rate is not None and pair.perturbed == "target" else 0.0
            loss = weight @ mean[:, None] / total + noise**2
            target = np.asarray(attack.target)
            spread = weight @ (target**2)[:, None] / total - (weight @ target[:, None] / total) ** 2
            with np.errstate(divide="ignore"):
                return loss**-0.5, np.maximum(spread + noise**2, 0.0) ** -0.5
        by_input = self._by_input(attack)
        if by_input:
            table, predicted = attack.tables(weight[:, None]), mean[None, None]
        else:  # what is predicted takes the place of the input
            table = _predicted(attack, weight, mean)
            predicted = np.eye(table.shape[-2], attack.n_classes)
        table = pair.perturbed_tables(attack, table, rate, None)
        if pair.settings.quality == "inverse_log_loss" and not by_input:
            logs, table = table[..., :-1, :], table[..., -1:, :]
            return pair.score_of_logs(logs, table), pair.best_guess(table)
        return pair.score(table, predicted), pair.best_guess(table)


def _predicted(attack: Attack, weight: Any, mean: Array) -> Array:
    """Return the weight of each target's predicted and true classes: (draws, 1, targets, ...)."""
    target = attack.target
    assert isinstance(target, Codes | Members)
    truth = [target]
    if isinstance(target, Members):
        truth = [Codes(target.column(i).astype(np.intp), 2) for i in range(target.width)]
    predicted = (Members(by_input[attack.input_codes]) for by_input in mean)
    tables = [pair_sums(*both, weight) for both in zip(predicted, truth, strict=True)]
    return np.stack(tables, axis=1)[:, None]
