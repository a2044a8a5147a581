"""Populations to draw data sets from: rates of groups and tasks, numbers, and trained models.

A draw is called with a generator of random numbers, and perhaps with a number of rows.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np


class Rows(NamedTuple):
    """Labels, predictions, groups, predicted groups, weights and clusters of a data set."""

    y: Any
    q: Any
    g: Any
    h: Any = None
    w: Any = None
    c: Any = None


@dataclass(frozen=True)
class World:
    """Labels with known rates, and predictions that copy a share of them and redraw the others.

    `labels` and `redrawn` are rates, groups × tasks. `keep` is the share of labels that predictions
    copy, one number or one a group; `over` is the share of all rows that are predicted positive
    besides. `sizes` are the rows of each group, if these are not drawn. Predicted groups copy the
    same share, and follow from the labels otherwise; `sharp` is how much more they do.
    """

    labels: Any
    redrawn: Any = None
    n: int = 1_500
    shares: Any = None
    sizes: Any = None
    keep: Any = 0.0
    over: float = 0.0
    soft: bool = False
    weights: str = ""
    clusters: Any = None
    sharp: float = 1.0

    def __call__(self, rng, n=None):
        rates = np.atleast_2d(np.asarray(self.labels, float).T).T
        redrawn = rates if self.redrawn is None else np.atleast_2d(np.asarray(self.redrawn).T).T
        n_groups, own = len(rates), n is None
        if self.sizes is not None:
            n = sum(self.sizes) if own else n
            share = np.array(self.sizes) / sum(self.sizes)
        else:
            n = self.n if own else n
            share = np.ones(n_groups) / n_groups if self.shares is None else np.array(self.shares)
        if own and self.sizes is not None:
            g = np.repeat(np.arange(n_groups), self.sizes)
        else:
            g = np.r_[np.arange(n_groups), rng.choice(n_groups, n - n_groups, p=share)]
        keep = np.resize(self.keep, n_groups)[g][:, None]
        effect, weights, clusters = np.zeros((n, 2)), None, None
        if own and self.clusters is not None:
            sizes = self.clusters(rng, n) if callable(self.clusters) else self.clusters
            clusters = np.repeat(np.arange(len(sizes)), sizes)[:n]
            effect = 0.1 * rng.normal(size=(len(sizes), 2))[clusters]
        y = rng.random((n, rates.shape[1])) < rates[g] + effect[:, :1]
        copied = rng.random(y.shape) < keep
        q = np.where(copied, y, rng.random(y.shape) < redrawn[g] + effect[:, 1:])
        q = q | (rng.random(y.shape) < self.over)
        if self.soft:  # each group's mean is its rate
            q = rng.beta(4 * redrawn[g], 4 * (1 - redrawn[g]))
        if own and self.weights:
            weights = np.exp(rng.normal(size=n))
            if self.weights == "census":  # whole numbers, divided by their mean
                weights = np.maximum(np.rint(80 * weights), 1)
                weights = weights / weights.mean()
        logs = np.log(np.clip(rates, 1e-9, 1)), np.log(np.clip(1 - rates, 1e-9, 1))
        likely = self.sharp * (y @ logs[0].T + ~y @ logs[1].T) + np.log(share)
        likely = np.exp(likely - likely.max(axis=1, keepdims=True)).cumsum(axis=1)
        drawn = (rng.random((n, 1)) * likely[:, -1:] > likely).sum(axis=1)
        h = np.where(rng.random(n) < keep[:, 0], g, drawn)
        return Rows(y.astype(int), q if self.soft else q.astype(int), g, h, weights, clusters)


def pareto_sizes(rng, n):
    """Return sizes of clusters: most are small, and some have hundreds of rows."""
    sizes = np.ceil(3 * (1 + rng.pareto(1.5, n))).astype(int)
    return np.minimum(sizes, n // 8)[
        : int(np.searchsorted(np.minimum(sizes, n // 8).cumsum(), n)) + 1
    ]


def numbers(skewed, gap, slope, tasks=1, n=500):
    """Return a draw of prices of two groups: predictions are of the same law if `slope` is 1."""

    def drawn(mean, rng):
        noise = rng.normal(size=mean.shape)
        return np.exp(mean + noise) if skewed else mean + noise

    def draw(rng, n=n):
        g = np.r_[0, 1, rng.random(n - 2) < 0.3].astype(int)
        mean = (gap * g)[:, None] * np.ones(tasks)
        return Rows(drawn(mean, rng), drawn(slope * mean, rng), g)

    return draw


def classes(shares, redrawn, n=1_000):
    """Return a draw of a label with several classes, of which predictions copy half."""

    def draw(rng, n=n):
        y = rng.choice(len(shares), n, p=shares)
        q = np.where(rng.random(n) < 0.5, y, rng.choice(len(shares), n, p=redrawn))
        y[: len(shares)] = q[: len(shares)] = np.arange(len(shares))
        return Rows(y, q, rng.integers(0, 2, n))

    return draw


def model_of(name):
    from sklearn.dummy import DummyClassifier
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.tree import DecisionTreeClassifier

    return {
        "constant": DummyClassifier,
        "logistic": LogisticRegression,
        "tree": partial(DecisionTreeClassifier, max_depth=5),
        "memorising tree": DecisionTreeClassifier,
        "boosting": partial(HistGradientBoostingClassifier, max_iter=30),
    }[name]()


def features(rng, n, groups=2, sees_groups=False, base=-1.0):
    """Return features, labels and groups; groups have no influence on anything."""
    x, g = rng.normal(size=(n, 4)), rng.integers(0, groups, n)
    g[:groups] = np.arange(groups)
    y = rng.random(n) < 1 / (1 + np.exp(-base - x[:, 0] - 0.5 * x[:, 1] * x[:, 2]))
    if sees_groups:
        x = np.hstack([x, np.eye(groups)[g]])
    return x, y.astype(int), g


def learned(name, n_train, n=1_000, **how):
    """Return a draw of training rows, of rows that a model trained on them predicts, and more."""

    def draw(rng):
        x, y, g = features(rng, n_train, **how)
        model = model_of(name).fit(x, y)
        audited, many = (features(rng, size, **how) for size in (n, 40_000))
        return Rows(y, y, g), *(
            Rows(own[1], model.predict(own[0]), own[2]) for own in (audited, many)
        )

    return draw
