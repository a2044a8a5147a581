"""Make a pair of attacks from rows, and run it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any, Literal, NamedTuple

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from skbiasamp._input.checks import Array
from skbiasamp._input.errors import InputError, quote, rows_of
from skbiasamp._utils.progress import progress
from skbiasamp._utils.random import chunks
from skbiasamp._utils.warnings import UncertaintyWarning, warn
from skbiasamp.attackers._fitting import MIN_ROWS_PER_INPUT, choose, describe
from skbiasamp.attackers._trained import TrainedPair, train_attackers
from skbiasamp.attackers.attack import (
    MOST_BITS,
    Attack,
    ExactAttacker,
    InputAndTarget,
    Inputs,
    Settings,
    check_dimensions,
    make_attack,
    of_means,
    truth_of,
)
from skbiasamp.attackers.attack_pair import (
    AttackPair,
    Qualities,
    by_cuts,
    cuts_of,
    drawn_qualities,
    of_all_draws,
)
from skbiasamp.attackers.resampling import Merged, draw_folds, merged_into, resample
from skbiasamp.counts.cells import side_of, take
from skbiasamp.counts.contingency import Contingency, SideName
from skbiasamp.counts.draws import divided_into_blocks
from skbiasamp.counts.merging import ordered
from skbiasamp.counts.several_models import alone as of_one

# With exact attackers, so many draws tell how much folds and perturbations vary.
ENOUGH_DRAWS = 50


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
        raise InputError(
            "{name} is continuous, and quality={quality!r} needs classes. Use "
            "quality='inverse_rmse' with a regressor as attacker, or cut the values into classes.",
            name=name,
            quality=settings.quality,
        )
    flips = perturbed == "input"
    side = side_of(test, data.input)
    if flips and side.is_matrix and (side.soft or len(side.names) > MOST_BITS):
        test, training = _one_cell_a_row(test), training and _one_cell_a_row(training)
    n_rows = int(test.rows.sum())
    if settings.cv is not None and n_rows < settings.cv:
        raise InputError(
            "{cv} must leave every fold a row; got {n_folds} folds and {rows}. Audit more rows, "
            "or use fewer folds.",
            n_folds=settings.cv,
            rows=rows_of(n_rows),
        )
    if settings.cv is not None and test.clusters is not None and test.clusters.total < settings.cv:
        raise InputError(
            "{cv} must leave every fold a cluster; got {n_folds} folds and {n} clusters. Audit "
            "more of them, or use fewer folds.",
            n_folds=settings.cv,
            n=test.clusters.total,
        )
    how: Any = {"train": training, "numbers": numbers, "validation": validation}
    on_data = make_attack(test, data, perturbed=flips, read=read[0], **how)
    on_model = model and make_attack(test, model, read=read[1], **how)
    truth = truth_of(data.input if flips else data.target)
    pair = AttackPair(on_data, on_model, settings, perturbed, truth)
    warn_constant(on_data)
    _warn_capped(pair)
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


def _warn_capped(pair: AttackPair) -> None:
    """Warn if the model is worse than labels that are pure noise."""
    capped = pair.capped
    if capped is not None and capped.any():
        at = pair.settings.at
        what = "the predictions" if at is None else f"labels with a score of {at:.3g}"
        if len(capped) > 1:
            what += f" of {quote(list(compress(pair.data.names, capped)))}"
        warn(
            f"By {pair.settings.equalize}, {what} are worse than random labels, so no random "
            "labels are equally bad. The comparison uses random labels, which carry no "
            "information (flip_rate_capped=True in the statistics).",
            UncertaintyWarning,
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
        return describe(self.attackers[-1])

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
        _raise_no_closed_form(pair, attacker)
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
    merged = [merged_into(of_one(cells, name), run.pair.cells) for name, run in runs.items()]
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
    n_draws, n_cuts = cuts_of(n_resamples, n_folds)
    training = next((pair.data.training for pair in exact if pair.data.training), None)
    blocks = divided_into_blocks(cells, rng) if all(run.in_blocks for run in runs) else None
    n_parts = n_folds * n_cuts
    sizes = [pair.chunks(n_draws, n_parts, blocks) for pair in exact]
    # The weights of one exact attacker alone are within its own limit.
    if len(exact) != 1 or len(runs) > 1:
        sizes.append(chunks(n_draws, n_parts * (cells.n_cells if blocks is None else blocks.n)))
    every: list[list[Qualities]] = [[] for _ in runs]
    with progress("resamples", n_draws) as step:
        for n in step.parts(min(sizes, key=max)):
            how: dict[str, Any] = {"resampled": True, "blocks": blocks, "n_cuts": n_cuts}
            folds, learnt = draw_folds(cells, n_folds, n, rng, **how), None
            if training is not None:
                learnt = np.repeat(resample(training.cells, 1, n, rng), n_cuts, axis=0)
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
        return choose(
            attacker,
            few_valued=not pair.rowwise and least >= MIN_ROWS_PER_INPUT,
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
            kind=describe(attacker),
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


def _raise_no_closed_form(pair: AttackPair, attacker: Any) -> None:
    why = f"the attacker here is {describe(attacker)}"
    if pair.rowwise:
        why = f"{MOST_BITS} labels at most can be perturbed in closed form"
    instead = "use cv=5"
    if pair.settings.attacker == "auto" and not pair.rowwise and pair.data.n_classes:
        few = f"inputs have fewer than {MIN_ROWS_PER_INPUT} rows each"
        instead += f" (or attacker='exact', though {few})"
    raise InputError(
        "cv=None is the closed form of the exact attacker, and {why}: {instead}.",
        why=why,
        instead=instead,
    )
