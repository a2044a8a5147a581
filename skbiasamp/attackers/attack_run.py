"""Make a pair of attacks from rows, and run it: by exact tables, or by trained attackers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress, islice
from math import prod
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.exceptions import UndefinedMetricWarning

from skbiasamp._input.checks import Array
from skbiasamp._input.coding import as_numbers
from skbiasamp._input.containers import as_maps, check_lengths, columns_of, to_native
from skbiasamp._input.errors import InputError, fewer_groups, quote, renaming, rows_of
from skbiasamp._input.labels import Codes, Members
from skbiasamp._utils.progress import give_back_memory, progress
from skbiasamp._utils.random import chunks
from skbiasamp._utils.warnings import UncertaintyWarning, warn
from skbiasamp.attackers import fitting, resampling
from skbiasamp.attackers.attack import (
    MOST_BITS,
    MOST_MEANS,
    OF_PROBABILITIES,
    TINY,
    Attack,
    ExactAttacker,
    InputAndTarget,
    Inputs,
    Settings,
    check_dimensions,
    confident,
    divide,
    inverse_spread,
    make_attack,
    of_means,
    of_sums,
    shares_of,
    truth_of,
)
from skbiasamp.attackers.attack_pair import (
    AttackPair,
    Qualities,
    by_cuts,
    drawn_qualities,
    of_all_draws,
    other_folds,
)
from skbiasamp.attackers.resampling import Merged
from skbiasamp.counts.cells import side_of, take
from skbiasamp.counts.contingency import Contingency, SideName
from skbiasamp.counts.draws import divided_into_blocks, in_blocks
from skbiasamp.counts.merging import ordered
from skbiasamp.counts.pair_sums import pair_sums
from skbiasamp.counts.parts import alone as of_one

# --------------------------------------------------------------------------- trained attackers


def train_attackers(
    pair: AttackPair, attackers: Sequence[Any], rng: np.random.Generator
) -> TrainedPair:
    """Train an attacker for every draw, fold and target, with one of `attackers` each attack."""
    settings, whole, cells, last = pair.settings, pair, pair.cells, pair.attacks[-1]
    # If attackers see means of scores, many cells are alike to them.
    means = last.soft and last.n_classes > 0 and last.n_inputs == MOST_MEANS
    of_rows = cells.whole and cells.clusters is None and not settings.holdout
    if means and of_rows and not pair.rowwise:
        pair = pair.merged()
    n_folds = settings.cv or 1
    weight = resampling.split(pair.cells, n_folds, settings.n_draws, rng)
    training = pair.data.training
    if training is None:
        rates = pair.rates(pair.cells, weight.sum(axis=1, dtype=float))
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
            of_draw = weight[[draw]].astype(float), drawn, seeds[draw]
            tasks += _tasks(pair, attack, attacker, *of_draw, rng)
    give_back_memory(whole.cells.n_cells)
    outputs = iter(
        fitting.predictions_of(
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


def _tasks(
    pair: AttackPair,
    attack: Attack,
    attacker: Any,
    weight: Array,
    rate: Array | None,
    seeds: Array,
    rng: np.random.Generator,
) -> list[fitting.TrainingTask]:
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
        if pair.cells.soft(pair.truth):
            inputs = inputs + by_input * rng.standard_normal(inputs.shape)
        else:
            inputs = np.abs(inputs - (rng.random(inputs.shape) < by_input))
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
            fitting.TrainingTask(
                attacker, source.of_rows, numbers, of_fold, inputs, seed=int(seed), **how
            )
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
            task = fitting.TrainingTask(
                attacker, rows, target, row_weight, inputs, seed=int(seed), **how
            )
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
    attack (draws, 1, folds, targets, inputs, classes). Both may be small integers. `learnt` is the
    pair, or one over fewer cells.
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
        for folds, *predicted in zip(self.folds[:, None], *self.predicted, strict=True):
            weight = folds.astype(float)
            if pair.data.training is not None:
                weight = weight.sum(axis=1, keepdims=True)
            rates = pair.rates(pair.cells, weight.sum(axis=1))
            scores = []  # of each attack, with that of the best guess that ignores its input
            for attack, own in zip(pair.attacks, predicted, strict=True):
                rate = pair.rate_of(attack, rates)
                if attack.n_classes:
                    table = pair.tables(attack, weight, rate, noise)
                    scores.append((pair.score(table, own.astype(float)), pair.best_guess(table)))
                    continue
                target = _numbers(pair, attack, rate, noise)
                error = (target - own[0, :, 0][:, attack.input_codes]) ** 2
                loss = np.sqrt((weight[0] * error).sum() / weight.sum())
                quality = np.full((1, 1), 1 / loss if loss > 0 else np.inf)
                scores.append((quality, inverse_spread(target, weight[0].sum(axis=0))))
            draws.append(Qualities(scores[0][0], *scores[-1]))
        return of_all_draws(draws)

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
        every = predicted.reshape(-1, *predicted.shape[3:]).astype(float, copy=False)  # likewise
        if not attack.n_classes:
            errors = (np.asarray(attack.target) - every[:, 0][:, codes]) ** 2
            shares = shares_of(folds.astype(float, copy=False), axis=0)
            return np.asarray((shares * errors).sum(axis=0))
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
            right, true = np.einsum("dftcc->dtc", logs), table.sum(axis=(1, 3))
            balanced = pair.settings.balanced
            mean = of_sums("inverse_log_loss", right, true, balanced=balanced, n_classes=None)
            return -1 / mean, pair.best_guess(table)
        return pair.score(table, predicted), pair.best_guess(table)


@dataclass(frozen=True, eq=False)
class ByInput(Members):
    """What is predicted of each row by its input, which a matrix would hold for each row.

    `matrix` are the inputs, and `codes` say which of them each row has.
    """

    codes: Array

    def dense(self, rows: Any, dtype: Any) -> Array:
        """Return what is predicted of some rows."""
        return super().dense(self.codes[rows], dtype)


def _predicted(attack: Attack, weight: Any, mean: Array) -> Array:
    """Return the weight of each target's predicted and true classes: (draws, 1, targets, ...)."""
    target = attack.target
    assert isinstance(target, Codes | Members)
    truth = [target]
    if isinstance(target, Members):
        truth = [Codes(target.column(i).astype(np.intp), 2) for i in range(target.width)]
    predicted = (ByInput(by_input, attack.input_codes) for by_input in mean)
    tables = [pair_sums(*both, weight) for both in zip(predicted, truth, strict=True)]
    return np.stack(tables, axis=1)[:, None]


# --------------------------------------------------------------------------- the run

# With exact attackers, so many draws tell how much folds and perturbations vary.
ENOUGH_DRAWS = 50
# So often the rows of a resample are cut into folds.
_CUTS = 2


def make_pair(
    test: Contingency,
    training: Contingency | None,
    settings: Settings,
    on_labels: tuple[SideName, SideName],
    on_predictions: tuple[SideName, SideName] | None,
    read: tuple[Inputs | None, Inputs | None] = (None, None),
    validation: Contingency | None = None,
) -> AttackPair:
    """Return the attack on labels and the attack on predictions: each an input and a target.

    `read` holds what the two attackers see in place of classes. On `validation` rows they choose
    their epoch.

    Both attackers learn from the training rows if these have predictions too, and are cross-fitted
    on the test rows otherwise. Without a model, the attacker learns from the training labels if
    there are any.
    """
    data = InputAndTarget(*on_labels)
    model = on_predictions and InputAndTarget(*on_predictions)
    perturbed: Literal["input", "target"] | None = None if settings.at is None else "input"
    if model is not None:
        perturbed = "target" if model.input == data.input else "input"
        predicted: SideName = getattr(model, perturbed)
        if training is not None and not _same_form(training, test, predicted):
            training = None
        if settings.equalize is None:
            perturbed = None
    # What is drawn depends on the order of cells: it must not depend on that of rows.
    test, training = ordered(test), None if training is None else ordered(training)
    numbers = settings.quality == "inverse_rmse"
    if side_of(test, data.target).soft and not numbers:
        name = "sensitive_features" if data.target == "group" else "y_true"
        text = (
            "{name} is continuous, and quality={quality!r} needs classes. Use "
            "quality='inverse_rmse' with a regressor as attacker, or cut the values into classes."
        )
        raise InputError(text, name=name, quality=settings.quality)
    flips = perturbed == "input"
    side = side_of(test, data.input)
    if flips and side.is_matrix and (side.soft or len(side.names) > MOST_BITS):
        test, training = _one_cell_a_row(test), training and _one_cell_a_row(training)
    n_rows = int(test.rows.sum())
    if settings.cv is not None and n_rows < settings.cv:
        text = (
            "{cv} must leave every fold a row; got {n_folds} folds and {rows}. Audit more rows, "
            "or use fewer folds."
        )
        raise InputError(text, n_folds=settings.cv, rows=rows_of(n_rows))
    if settings.cv is not None and test.clusters is not None and test.clusters.total < settings.cv:
        text = (
            "{cv} must leave every fold a cluster; got {n_folds} folds and {n} clusters. Audit "
            "more of them, or use fewer folds."
        )
        raise InputError(text, n_folds=settings.cv, n=test.clusters.total)
    how: Any = {"train": training, "numbers": numbers, "validation": validation}
    on_data = make_attack(test, data, perturbed=flips, read=read[0], **how)
    on_model = model and make_attack(test, model, read=read[1], **how)
    truth = truth_of(data.input if flips else data.target)
    pair = AttackPair(on_data, on_model, settings, perturbed, truth)
    warn_constant(on_data)
    if pair.capped is not None and pair.capped.any():
        at = settings.at
        what = "the predictions" if at is None else f"labels with a score of {at:.3g}"
        if len(pair.capped) > 1:
            what += f" of {quote(list(compress(on_data.names, pair.capped)))}"
        warn(
            f"By {settings.equalize}, {what} are worse than random labels, so no random labels are "
            "equally bad. The comparison uses random labels, which carry no information "
            "(flip_rate_capped=True in the statistics).",
            UncertaintyWarning,
        )
    return pair


def _same_form(train: Contingency, test: Contingency, side: SideName) -> bool:
    """Whether training rows have a side, as labels if the test rows have labels."""
    if not train.has(side):
        return False
    forms = [
        (labels.is_matrix, labels.is_matrix and (labels.labels.width, labels.soft))
        for labels in (side_of(train, side), side_of(test, side))
    ]
    return forms[0] == forms[1]


def _one_cell_a_row(cells: Contingency) -> Contingency:
    """Return one cell a row, so that each row can be perturbed by itself."""
    if not cells.whole or (cells.weight <= 1).all():
        return cells
    rows = np.repeat(np.arange(cells.n_cells), cells.weight.astype(int))
    cells_of_rows = take(cells, rows, np.ones(len(rows)))
    if cells.clusters is not None:
        cells_of_rows.clusters = cells.clusters.apart(cells.weight)
    return cells_of_rows


def warn_constant(attack: Attack) -> None:
    """Warn that there is nothing to predict if a target has one value only."""
    constant = list(compress(attack.names, attack.constant))
    if constant:
        what = f"The target {quote(constant)}" if len(attack.names) > 1 else "The attackers' target"
        warn(
            f"{what} has one value only: no attacker can be better than chance.",
            UndefinedMetricWarning,
        )


@dataclass(frozen=True, eq=False)
class AttackRun:
    """What a pair of attacks reached in every draw, and the trained attackers, if any were.

    `attackers` has the attacker on labels, and the one on predictions if there are any.
    """

    pair: AttackPair
    attackers: list[Any]
    trained: TrainedPair | None
    qualities: Qualities

    @property
    def attacker_name(self) -> str:
        """The attacker as sentences name it."""
        return fitting.describe(self.attackers[-1])

    @property
    def in_blocks(self) -> bool:
        """Whether resamples may be of blocks of rows."""
        return self.pair.few if self.trained is None else self.trained.in_blocks

    def resampled(self, weight: Any, learnt: Array | None, n_cuts: int) -> Qualities:
        """Return the qualities on resampled rows: (resamples, cuts into folds, targets).

        `weight` is that of cells (resamples x cuts, folds, cells), `learnt` that of training rows.
        """
        if self.trained is not None:  # they do not learn from folds: all cuts are alike
            return by_cuts(self.trained.rescored(weight[::n_cuts].sum(axis=1)), 1)
        own = None if self.pair.data.training is None else learnt
        return by_cuts(self.pair.exact(weight, own, None), n_cuts)


class Redrawn(NamedTuple):
    """How qualities vary: over draws on the rows as they are, and over resamples of the rows.

    Draws differ in folds, perturbations and training. In resamples, drawn with `seed`, the
    perturbation is the expected one; they are (resamples, cuts into folds, targets). Of trained
    attackers, which resamples do not train again, there are the qualities of each fold by itself.
    """

    draws: Qualities
    resamples: Qualities
    folds: Qualities | None
    seed: int


def redrawn(run: AttackRun, n_resamples: int, rng: np.random.Generator) -> Redrawn:
    """Draw again and resample rows.

    Exact attackers learn again each time. Trained attackers stay what they are.
    """
    seed, other = rng.integers(2**63, size=2)
    cells, draws = run.pair.cells, run.qualities
    (resamples,) = _on_resamples([run], cells, [None], n_resamples, seed)
    if run.trained is not None:
        return Redrawn(draws, resamples, run.trained.by_fold(), seed)
    if run.pair.settings.cv is not None and len(draws.data) < ENOUGH_DRAWS:
        rng = np.random.default_rng(other)
        draws = drawn_qualities(run.pair, ENOUGH_DRAWS, rng)
    return Redrawn(draws, resamples, None, seed)


def run_attack(pair: AttackPair, rng: np.random.Generator) -> AttackRun:
    """Train and score attackers, over draws of folds and perturbations."""
    attackers, settings = _attackers_of(pair), pair.settings
    attacker = attackers[-1]
    if type(attacker) is ExactAttacker and not pair.rowwise:
        n_draws = 1 if settings.cv is None else settings.n_draws
        qualities = drawn_qualities(pair, n_draws, rng)
        return AttackRun(pair, attackers, None, qualities)
    if settings.cv is None:
        why, instead = f"the attacker here is {fitting.describe(attacker)}", "use cv=5"
        if pair.rowwise:
            why = f"{MOST_BITS} labels at most can be perturbed in closed form"
        elif settings.attacker == "auto" and pair.data.n_classes:
            few = f"inputs have fewer than {fitting.MIN_ROWS_PER_INPUT} rows each"
            instead += f" (or attacker='exact', though {few})"
        text = "cv=None is the closed form of the exact attacker, and {why}: {instead}."
        raise InputError(text, why=why, instead=instead)
    if settings.attacker == "auto":
        pair = replace(pair, data=of_means(pair.data), model=pair.model and of_means(pair.model))
    trained = train_attackers(pair, attackers, rng)
    return AttackRun(pair, attackers, trained, trained.qualities(rng))


def in_sample(run: AttackRun) -> dict[str, float]:
    """Return what the best tables reach on the rows that they learn from: no attacker beats them.

    The best attacker of the population is in expectation between them and cross-fitted tables.
    """
    pair, settings = run.pair, run.pair.settings
    best = settings.quality in ("accuracy", "balanced_accuracy") and not settings.fold
    crossed = settings.cv is not None and pair.data.training is None
    if run.trained is not None or not (best and crossed):
        return {}
    closed = replace(pair, settings=replace(settings, cv=None))
    in_sample = drawn_qualities(closed, 1, np.random.default_rng(0))
    means = {"data": in_sample.data.mean(), "model": in_sample.model.mean()}
    return {f"in_sample_{side}": float(mean) for side, mean in means.items()}


def resampled_together(
    runs: Mapping[str, AttackRun], cells: Contingency, n_resamples: int, seed: int
) -> list[Qualities]:
    """Return the qualities of two models on the same resamples of the rows that they predict.

    `cells` hold the predictions of these models, and each run is of the cells of one of them.
    `seed` is that of the resamples of the first of them by itself.
    """
    if any(run.pair.rowwise for run in runs.values()):
        cells = _one_cell_a_row(cells)
    merged = [
        resampling.merged_into(of_one(cells, name), run.pair.cells) for name, run in runs.items()
    ]
    return _on_resamples([*runs.values()], cells, merged, n_resamples, seed)


def _on_resamples(
    runs: Sequence[AttackRun],
    cells: Contingency,
    merged: Sequence[Merged | None],
    n_resamples: int,
    seed: int,
) -> list[Qualities]:
    """Return the qualities of each run on the same resamples of the rows of `cells`.

    `merged` says how these become the cells of each run, None if they are the same.
    """
    rng = np.random.default_rng(seed)
    exact = [run.pair for run in runs if run.trained is None]
    n_folds = max((pair.n_folds for pair in exact), default=1)
    n_draws, n_cuts = n_resamples, 1
    if n_folds > 1:  # what cuts of one resample share varies with its rows only
        n_draws, n_cuts = max(-(-n_resamples // _CUTS), 2), _CUTS
    training = next((pair.data.training for pair in exact if pair.data.training), None)
    blocks = divided_into_blocks(cells, rng) if all(run.in_blocks for run in runs) else None
    give_back_memory(cells.n_cells)
    n_parts = n_folds * n_cuts
    sizes = [pair.chunks(n_draws, n_parts, blocks) for pair in exact]
    # The weights of one exact attacker alone are within its own limit.
    if len(exact) != 1 or len(runs) > 1:
        sizes.append(chunks(n_draws, n_parts * (cells.n_cells if blocks is None else blocks.n)))
    every: list[list[Qualities]] = [[] for _ in runs]
    with progress("resamples", n_draws) as step:
        for n in step.parts(min(sizes, key=max)):
            how: dict[str, Any] = {"resampled": True, "blocks": blocks, "n_cuts": n_cuts}
            folds, learnt = resampling.draw_folds(cells, n_folds, n, rng, **how), None
            if training is not None:
                learnt = np.repeat(resampling.resample(training.cells, 1, n, rng), n_cuts, axis=0)
            for run, into, qualities in zip(runs, merged, every, strict=True):
                weight = folds if into is None else into.sums(folds)
                qualities.append(run.resampled(weight, learnt, n_cuts))
    return [of_all_draws(parts) for parts in every]


def _attackers_of(pair: AttackPair) -> list[Any]:
    """Return the attacker of each attack.

    It is the same one, unless a network for images is asked for: labels are no images.
    """
    settings = pair.settings
    least = min(attack.rows_per_input for attack in pair.attacks)

    def chosen(attacker: Any, least: float) -> Any:
        return fitting.choose(
            attacker,
            few_valued=not pair.rowwise and least >= fitting.MIN_ROWS_PER_INPUT,
            continuous=not pair.data.n_classes,
            scores=any(attack.soft for attack in pair.attacks),
        )

    attacker = chosen(settings.attacker, least)
    if pair.model is not None and pair.model.of_maps:
        check_dimensions(pair.model, settings.attacker, "y_score")
        if not isinstance(settings.attacker, str):
            return [chosen("auto", pair.data.rows_per_input), attacker]
    if pair.data.validation is not None and not hasattr(attacker, "fit_many"):
        raise InputError(
            "{validation} chooses the epoch of a network, and the attacker here is {kind}: pass "
            "attacker=MLPAttacker(early_stopping='accuracy').",
            kind=fitting.describe(attacker),
        )
    if type(attacker) is ExactAttacker and not pair.rowwise:
        on_scores = any(attack.soft for attack in pair.attacks)
        if settings.attacker == "exact" and on_scores and least < 2:
            warn(
                "attacker='exact' is a table of the inputs it has learnt from, and each of these "
                f"scores has {least:.3g} rows on average: it knows nothing about new scores. Pass "
                "attacker='auto' or an estimator."
            )
    return [attacker] * len(pair.attacks)


# --------------------------------------------------------------------------- attacks on features


def attack_features(
    X: Any,
    sensitive_features: Any,
    settings: Settings,
    *,
    missing: str,
    n_resamples: int,
    random_state: Any,
) -> tuple[tuple[Array, Array, Array, Array | None], float, str]:
    """Cross-fit attackers that predict the sensitive feature from the rows of X.

    Returns their qualities as seen, in draws, resamples and folds; that of the best guess; and the
    name of the attacker.
    """
    features = as_matrix(X)
    check_lengths({"X": features, "sensitive_features": to_native(sensitive_features, "sensitive")})
    # Every row is a class of its own, so that cells stay rows, in their order.
    with renaming(max_groups=fewer_groups):
        cells = Contingency.from_labels(
            np.arange(len(features)),
            sensitive_features=sensitive_features,
            missing=missing,
            scores=True,
        )
    rows = side_of(cells, "task").names  # those of missing groups may be left out
    kept = np.array(rows, dtype=np.intp)
    distinct, of_class = np.unique(features[kept], axis=0, return_inverse=True)
    attack = make_attack(
        cells,
        InputAndTarget("task", "group"),
        numbers=settings.quality == "inverse_rmse",
        read=Inputs(distinct, of_class.reshape(-1)),
    )
    check_dimensions(attack, settings.attacker, "X")
    warn_constant(attack)
    rng = resampling.own_generator(random_state)
    pair = AttackPair(attack, None, settings)
    run = run_attack(pair, rng)
    draws, resamples, folds, _ = redrawn(run, n_resamples, rng)
    qualities = run.qualities.data, draws.data, resamples.data, folds and folds.data
    return qualities, float(pair.chance().data.mean()), run.attacker_name


def as_matrix(X: Any) -> Array:
    """Return features as numbers; those of more than two dimensions keep these.

    Columns of text or categories become indicators of their values, missing numbers the mean and
    an indicator.
    """
    if sparse.issparse(X):
        matrix: Any = X
        return np.asarray(matrix.toarray(), dtype=float)
    if not hasattr(X, "columns") and np.ndim(X) > 2:
        maps = as_maps(X)
        return as_numbers(np.asarray(X) if maps is None else maps, "X")
    columns = []
    for _, column in columns_of(to_native(X, "X")):
        values = np.asarray(column)
        if values.dtype.kind in "biuf":
            numbers = values.astype(float)[:, None]
            missing = np.isnan(numbers)
            if missing.any():
                columns.append(missing)
                numbers[missing] = 0.0 if missing.all() else numbers[~missing].mean()
            columns.append(numbers)
        else:
            codes, names = pd.factorize(values, use_na_sentinel=False)
            columns.append(codes[:, None] == np.arange(len(names)))
    return np.hstack(columns).astype(float)
