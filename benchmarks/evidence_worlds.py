"""Populations to draw data sets from, whose true values are known: groups × tasks × models.

A row has a type, and everything else depends on its type alone: the group that is recorded, the
group that is predicted, and the labels. All probabilities are written down, so the association of
each pair in the labels and in the predictions is exact.
"""

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from scipy.special import ndtr, ndtri

# --------------------------------------------------------------------------- groups and rates


def shares(n_groups):
    """Return the shares of groups, the largest twice as large as the smallest."""
    weight = np.linspace(2, 1, n_groups)
    return weight / weight.sum()


def rates(n_groups, n_tasks, association=0.0, mixed=False, low=0.15, high=0.6):
    """Return the rate of each task in each group; groups differ by ± `association`.

    `mixed`: every second task does not depend on the group.
    """
    rng = np.random.default_rng([n_groups, n_tasks])
    centre = rng.uniform(low, high, n_tasks)
    apart = rng.permuted(np.tile(np.linspace(-1, 1, n_groups)[:, None], n_tasks), axis=0)
    if n_tasks == 1:
        apart = np.linspace(-1, 1, n_groups)[:, None]
    reach = np.minimum(association, np.minimum(centre, 1 - centre) - 0.02)
    if mixed:
        reach = reach * (np.arange(n_tasks) % 2)
    return centre + reach * apart


def laws(n_groups, n_classes, association=0.0, mixed=False):
    """Return the distribution of classes in each group; rates differ by a factor."""
    rng = np.random.default_rng([n_groups, n_classes, 1])
    centre = rng.uniform(0.5, 1.5, n_classes)
    apart = rng.choice([-1.0, 1.0], size=(n_groups, n_classes))
    if mixed:
        apart[:, ::2] = 0
    law = centre * (1 + association * apart)
    return law / law.sum(axis=1, keepdims=True)


# --------------------------------------------------------------------------- labels


@dataclass(frozen=True)
class Tasks:
    """Labels of several tasks, by the type of a row. `shared` correlates the tasks of a row."""

    rate: np.ndarray
    shared: float = 0.0
    classes = False

    def hidden(self, kind, rng):
        """Return what models may see of each row: nothing but its label."""

    def draw(self, kind, hidden, rng):
        shape = (len(kind), self.rate.shape[1])
        if self.shared:
            common = rng.normal(size=(shape[0], 1)) * self.shared**0.5
            drawn = ndtr(common + rng.normal(size=shape) * (1 - self.shared) ** 0.5)
        else:
            drawn = rng.random(shape)
        return (drawn < self.rate[kind]).astype(np.int8)

    def rates(self):
        return self.rate


@dataclass(frozen=True)
class NoisyTasks(Tasks):
    """Labels that are noisy copies of hidden ones; a model may be as noisy a copy."""

    noise: float = 0.1

    def hidden(self, kind, rng):
        return Tasks.draw(self, kind, None, rng)

    def draw(self, kind, hidden, rng):
        return hidden ^ (rng.random(hidden.shape) < self.noise)

    def rates(self):
        return self.rate * (1 - 2 * self.noise) + self.noise


@dataclass(frozen=True)
class ScoredTasks(Tasks):
    """Labels whose probability is a score that depends on the type and on chance."""

    spread: float = 1.5

    def hidden(self, kind, rng):
        reach = ndtri(self.rate) * (1 + self.spread**2) ** 0.5
        return ndtr(reach[kind] + self.spread * rng.normal(size=(len(kind), self.rate.shape[1])))

    def draw(self, kind, hidden, rng):
        return (rng.random(hidden.shape) < hidden).astype(np.int8)


@dataclass(frozen=True)
class Classes:
    """A label of several classes, by the type of a row; `noise` as for `NoisyTasks`."""

    law: np.ndarray
    noise: float = 0.0
    classes = True

    def hidden(self, kind, rng):
        return one_of(self.law[kind], rng)

    def draw(self, kind, hidden, rng):
        return one_of(errors(self.law, self.noise)[kind, hidden], rng)

    def rates(self):
        return np.einsum("uk,ukl->ul", self.law, errors(self.law, self.noise))


def one_of(law, rng):
    """Return a class a row, from a distribution a row."""
    return (law.cumsum(axis=1) < rng.random((len(law), 1))).sum(axis=1).clip(max=law.shape[1] - 1)


def errors(law, share):
    """Return what each class becomes if a share of rows takes a random class, by type."""
    n_classes = law.shape[1]
    return np.full((len(law), n_classes, n_classes), share / n_classes) + (1 - share) * np.eye(
        n_classes
    )


# --------------------------------------------------------------------------- models


@dataclass(frozen=True)
class Moved:
    """A model whose rates are `target`; a share of labels is replaced by random ones beside.

    `target` is a function of rates and shares of types.
    """

    target: object = None
    random: float = 0.2

    def rates(self, labels, share):
        rate = labels.rates()
        return rate if self.target is None else self.target(rate, share)

    def predict(self, kind, y, hidden, labels, share, rng):
        rate, goal = labels.rates(), self.rates(labels, share)
        assert np.all((goal >= 0) & (goal <= 1))
        least, largest = np.minimum(rate, goal), np.maximum(rate, goal)
        both = np.minimum(self.random * rate * (1 - rate), np.minimum(least, 1 - largest))
        up, down = (largest - rate + both) / (1 - rate), (rate - least + both) / rate
        return y ^ (rng.random(y.shape) < np.where(y == 1, down[kind], up[kind]))


def more(amount):
    """Return a target: all rates are higher, or lower, by the same amount."""
    return lambda rate, share: rate + amount


def times(factor):
    """Return a target: all rates are multiplied."""
    return lambda rate, share: rate * factor


def apart(factor):
    """Return a target: rates are so many times as far from their mean as before."""

    def target(rate, share):
        mean = share @ rate
        return mean + factor * (rate - mean)

    return target


@dataclass(frozen=True)
class Copy:
    """A model that is as noisy a copy of the hidden label as the label is, or a less noisy one."""

    noise: float | None = None

    def _labels(self, labels):
        return labels if self.noise is None else replace(labels, noise=self.noise)

    def rates(self, labels, share):
        return self._labels(labels).rates()

    def predict(self, kind, y, hidden, labels, share, rng):
        return self._labels(labels).draw(kind, hidden, rng)


@dataclass(frozen=True)
class Scores:
    """A model that knows the score of a row; it predicts 1 above 0.5, or the score itself.

    Scores are `part` as far from the mean of all rows.
    """

    cut: bool = True
    part: float = 1.0

    def rates(self, labels, share):
        if not self.cut:
            return self._moved(labels.rate, labels, share)
        return ndtr(ndtri(labels.rate) * (1 + labels.spread**2) ** 0.5 / labels.spread)

    def predict(self, kind, y, hidden, labels, share, rng):
        return (hidden > 0.5).astype(np.int8) if self.cut else self._moved(hidden, labels, share)

    def _moved(self, score, labels, share):
        mean = share @ labels.rate
        return mean + self.part * (score - mean)


@dataclass(frozen=True)
class Confused:
    """A model of classes: a share of rows takes a random class, by the rates of the type.

    `favoured` is the share of rows that become the first class, whatever their label.
    `overall`: random classes have the rates of all rows.
    """

    random: float = 0.25
    favoured: float = 0.0
    overall: bool = False

    def _table(self, labels, share):
        rate = labels.rates()
        source = np.broadcast_to(share @ rate, rate.shape) if self.overall else rate
        n_classes = rate.shape[1]
        first = np.eye(n_classes)[0]
        kept = 1 - self.random - self.favoured
        return kept * np.eye(n_classes) + self.random * source[:, None, :] + self.favoured * first

    def rates(self, labels, share):
        return np.einsum("uk,ukl->ul", labels.rates(), self._table(labels, share))

    def predict(self, kind, y, hidden, labels, share, rng):
        return one_of(self._table(labels, share)[kind, y], rng)


# --------------------------------------------------------------------------- worlds


@dataclass(frozen=True)
class World:
    """Types of rows by their shares, their labels, and models.

    `recorded` and `predicted` are P(group | type) of the group and of its prediction; None: the
    type itself, and no prediction.
    """

    share: np.ndarray
    labels: object
    models: tuple
    recorded: np.ndarray | None = None
    predicted: np.ndarray | None = None

    def draw(self, n, rng, kind=None):
        """Return n rows: their labels, and what predictions are made of. `kind` are their types."""
        if kind is None:
            kind = rng.choice(len(self.share), size=n, p=self.share)
        hidden = self.labels.hidden(kind, rng)
        y = self.labels.draw(kind, hidden, rng)
        group = kind if self.recorded is None else one_of(self.recorded[kind], rng)
        return Drawn(self, kind, hidden, y, group)

    def _seen(self, predicted):
        see = self.predicted if predicted else self.recorded
        return np.eye(len(self.share)) if see is None else see

    def groups(self, predicted=False):
        """Return P(group) of the group, or of its prediction."""
        return self.share @ self._seen(predicted)

    def joint(self, group_predicted=False, model=None, largest=None):
        """Return P(group, task) of the labels, or of a prediction of either side.

        `largest`: of all sets of so many tasks at most; the tasks of a row are independent, given
        its type.
        """
        rate = self.labels.rates() if model is None else model.rates(self.labels, self.share)
        if largest:
            rate = sets_of(rate, largest)
        return (self.share[:, None] * self._seen(group_predicted)).T @ rate


@dataclass(frozen=True)
class Drawn:
    """Rows of a world."""

    world: World
    kind: np.ndarray
    hidden: np.ndarray | None
    y: np.ndarray
    group: np.ndarray

    @property
    def labels(self):
        return flat(self.y)

    def predictions(self, model, rng):
        world = self.world
        return flat(model.predict(self.kind, self.y, self.hidden, world.labels, world.share, rng))

    def groups_predicted(self, rng):
        return (
            None if self.world.predicted is None else one_of(self.world.predicted[self.kind], rng)
        )


def flat(y):
    """Return one task as one column."""
    return y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y


def sets_of(rate, largest):
    """Return the rate of every set of tasks, the small ones first."""
    n_tasks = rate.shape[1]
    sets = [s for size in range(1, largest + 1) for s in combinations(range(n_tasks), size)]
    return np.column_stack([rate[:, list(tasks)].prod(axis=1) for tasks in sets])


def seeing(n_groups, kept, favoured=0.0):
    """Return P(group | type): kept, else any group; a share becomes the first group."""
    table = np.full((n_groups, n_groups), (1 - kept - favoured) / n_groups)
    table += kept * np.eye(n_groups)
    table[:, 0] += favoured
    return table


# --------------------------------------------------------------------------- by name

# What a row calls a model. Random errors replace a share of labels by random ones, at the rate of
# the row's group, so that they change no association.
MODELS = {
    "exchangeable": Copy(),
    "3 % errors": Moved(random=0.03),
    "40 % errors": Moved(random=0.4),
    "70 % errors": Moved(random=0.7),
    "over-predicts": Moved(more(0.15)),
    "under-predicts": Moved(more(-0.1)),
    "predicts 0.6 times as often": Moved(times(0.6)),
    "scores": Scores(False),
    "scores half as far from their mean": Scores(False, 0.5),
    "scores cut at 0.5": Scores(),
    "differences doubled": Moved(apart(2), random=0.4),
    "differences 1.5 times": Moved(apart(1.5)),
    "differences 1.5 times, over-predicts": Moved(
        lambda rate, share: apart(1.5)(rate, share) + 0.1
    ),
    "differences halved": Moved(apart(0.5)),
    "differences reversed": Moved(apart(-1)),
    "differences reversed and doubled": Moved(apart(-2)),
    "± 5 pp of its own": Moved(
        lambda rate, share: rate + 0.05 * np.linspace(-1, 1, len(share))[:, None]
    ),
    "± 5 pp the other way": Moved(
        lambda rate, share: share @ rate - 0.05 * np.sign(rate - share @ rate)
    ),
}
OF_CLASSES = {
    "exchangeable": Copy(),
    "25 % errors": Confused(),
    "a class too often": Confused(favoured=0.2),
    "errors at the rates of all rows": Confused(overall=True),
}


def labels_of(model):
    """Return the kind of labels that a model is made for."""
    return {Copy: NoisyTasks, Scores: ScoredTasks}.get(type(model), Tasks)


def world_of(
    shape, models, gap=0.0, *, mixed=False, classes=False, rare=False, shared=0.0,
    recorded=None, predicted=None, sizes=None,
):  # fmt: skip
    """Return a world of groups × tasks; `recorded` and `predicted` are arguments of `seeing`.

    `classes`: one label of several classes. `rare`: labels of few rows. `shared`: how far the
    tasks of a row are correlated. `sizes`: the shares of groups, in percent.
    """
    n_groups, n_tasks = shape
    if classes:
        known = tuple(OF_CLASSES[model] for model in models)
        noise = 0.2 if isinstance(known[0], Copy) else 0.0
        labels = Classes(laws(n_groups, n_tasks, gap, mixed), noise)
    else:
        known = tuple(MODELS[model] for model in models)
        low, high = (0.02, 0.04) if rare else (0.15, 0.6)
        rate = rates(n_groups, n_tasks, gap, mixed, low, high)
        labels = labels_of(known[0])(rate, shared)
    see = (
        None if options is None else seeing(n_groups, *options) for options in (recorded, predicted)
    )
    share = np.array(sizes) / 100 if sizes else shares(n_groups)
    return World(share, labels, known, *see)


# --------------------------------------------------------------------------- true values


def change_of(world, auditor, model):
    """Return the true change of each pair's association, groups × pairs, and the divisor of a mean.

    The association of A→T is P(t|a) − P(t), that of T→A is P(a|t) − P(a). MALS compares P(â|t̂)
    with P(a|t), and bias disparity is relative. The divisor is None for the mean over pairs.
    """
    name, direction = type(auditor).__name__, getattr(auditor, "direction", None)
    largest = auditor.max_size if name == "MultiAttributeAuditor" else None
    backwards = direction == "T->A"
    shares_only = name == "MALSAuditor" or (largest and direction is None)
    other_group = world.predicted is not None and (backwards or shares_only)
    sides = (
        world.joint(largest=largest),
        world.joint(other_group, None if backwards else model, largest),
    )
    if shares_only:
        before, after = (joint / joint.sum(axis=0) for joint in sides)
        return after - before, before.shape[1]
    if backwards:
        before, after = (
            joint / joint.sum(axis=0) - world.groups(predicted)[:, None]
            for joint, predicted in zip(sides, (False, True), strict=True)
        )
        return after - before, None
    share = world.groups()[:, None]
    before, after = (joint / share for joint in sides)
    if name == "BiasDisparityAuditor":
        before, after = before / sides[0].sum(axis=0), after / sides[1].sum(axis=0)
        return after / before - 1, None
    before, after = before - sides[0].sum(axis=0), after - sides[1].sum(axis=0)
    return after - before, None
