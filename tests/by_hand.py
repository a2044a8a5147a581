"""Small worlds, and the metrics of pairs from their rows as the formulas are written."""

from functools import partial

import numpy as np
import pandas as pd
from scipy import stats
from sklearn.base import clone

from skbiasamp import DirectionalAuditor, MALSAuditor, MultiAttributeAuditor

A_TO_T, T_TO_A = partial(DirectionalAuditor, "A->T"), partial(DirectionalAuditor, "T->A")
METRICS = {
    "A->T": A_TO_T,
    "T->A": T_TO_A,
    "MALS": MALSAuditor,
    "multi A->T": partial(MultiAttributeAuditor, "A->T"),
    "multi T->A": partial(MultiAttributeAuditor, "T->A"),
    "multi MALS": partial(MultiAttributeAuditor, None),
}
# The same, with predictions compared with the labels of the same rows.
IN_ROWS = {
    "A->T": A_TO_T,
    "T->A": T_TO_A,
    "MALS": partial(MALSAuditor, reference="test"),
    "multi A->T": partial(MultiAttributeAuditor, "A->T", base="test"),
    "multi T->A": partial(MultiAttributeAuditor, "T->A", base="test"),
    "multi MALS": partial(MultiAttributeAuditor, None, reference="test"),
}


# --------------------------------------------------------------------------- data


def world(n=150, kind="binary", *, n_groups=2, n_tasks=3, seed=0, n_train=400, accuracy=0.75):
    """Return labels whose attribute, tasks and predictions are all correlated."""
    rng = np.random.default_rng(seed)

    def labels(n):
        group = rng.integers(0, n_groups, n)
        width = {"binary": 1, "multiclass": 1}.get(kind, n_tasks)
        chance = 0.3 + 0.4 * ((group[:, None] + np.arange(width)) % 2)
        task = (rng.random((n, width)) < chance).astype(int)
        if kind == "multiclass":
            task = (task + 2 * (rng.random((n, 1)) < 0.3)) % 3
        return group, task

    names = np.array(["g0", "g1", "g2", "g3"])
    (fit_group, fit_task), (group, task) = labels(n_train), labels(n)
    other = (task + 1 + (kind == "multiclass") * rng.integers(0, 2, task.shape)) % (
        3 if kind == "multiclass" else 2
    )
    kept = rng.random(task.shape) < accuracy + 0.15 * (group[:, None] == 0)
    predicted = np.where(kept, task, other)
    group_predicted = np.where(rng.random(n) < 0.8, group, rng.integers(0, n_groups, n))
    one = kind in ("binary", "multiclass")
    return {
        "y_train": fit_task[:, 0] if one else fit_task,
        "sensitive_train": names[fit_group],
        "y_true": task[:, 0] if one else task,
        "y_pred": predicted[:, 0] if one else predicted,
        "sensitive_features": names[group],
        "sensitive_pred": names[group_predicted],
    }


AUDITED = ("y_true", "y_pred", "sensitive_features", "sensitive_pred", "sample_weight")


def fitted(auditor, world):
    return clone(auditor).fit(world["y_train"], sensitive_features=world["sensitive_train"])


def audit(auditor, world):
    return fitted(auditor, world).audit(**{key: world[key] for key in AUDITED if key in world})


def rows(world, chosen):
    """Return the world with other audited rows: a boolean or integer index."""
    return world | {key: world[key][chosen] for key in AUDITED if key in world}


def perfect(world):
    return world | {"y_pred": world["y_true"], "sensitive_pred": world["sensitive_features"]}


def soft(world, seed=0):
    """Return the world with probabilities in place of predicted tasks."""
    predicted = np.asarray(world["y_pred"], dtype=float)
    noise = np.random.default_rng(seed).uniform(0, 0.4, predicted.shape)
    return world | {"y_pred": np.abs(predicted - noise)}


def weighted(world, weights, seed=0):
    rng, n = np.random.default_rng(seed), len(world["y_true"])
    drawn = rng.integers(1, 5, n) if weights == "whole" else rng.uniform(0.2, 3.0, n)
    return world | {"sample_weight": drawn}


def overlapping(world, seed=1):
    """Return the world with 0/1 groups, one of them across the others."""
    rng, older = np.random.default_rng(seed), {}
    changed = {}
    for name in ("sensitive_train", "sensitive_features", "sensitive_pred"):
        names = np.asarray(world[name])
        older[name] = rng.random(len(names)) < 0.4
        if name == "sensitive_pred":
            older[name] = older["sensitive_features"] ^ (rng.random(len(names)) < 0.2)
        changed[name] = np.column_stack([names == "g0", names == "g1", older[name]]).astype(int)
    return world | changed


# --------------------------------------------------------------------------- the formulas, plainly


class Plain:
    """A metric from rows as its formula is written, for any weights of audited and training rows.

    Weights may have leading axes (resamples), and may be complex: a derivative is then exact.
    """

    def __init__(self, auditor, world):
        self.multi = isinstance(auditor, MultiAttributeAuditor)
        self.kind = auditor.direction or "MALS"
        base = getattr(auditor, "base", "train")
        sign = getattr(auditor, "sign", None)
        self.train = tuple(self.held(world, name) for name in ("sensitive_train", "y_train"))
        self.group, self.task, self.group_pred, self.task_pred = (
            self.held(world, name)
            for name in ("sensitive_features", "y_true", "sensitive_pred", "y_pred")
        )
        if self.group_pred is None:
            self.group_pred = self.group
        if self.multi:
            names = audit(clone(auditor).set_params(interval=None), world).table["task"].unique()
            tasks = np.unique(world["y_train"]) if np.ndim(world["y_true"]) == 1 else None
            if tasks is not None and len(tasks) == 2:
                tasks = tasks[1:]  # the positive class is the one task
            sets = [list(name) if tasks is None else [list(tasks).index(*name)] for name in names]
            self.train = self.train[0], self.together(self.train[1], sets)
            self.task, self.task_pred = (
                self.together(side, sets) for side in (self.task, self.task_pred)
            )
        self.weight = world.get("sample_weight", np.ones(len(self.group))).astype(float)
        self.from_test = auditor.reference == "test"
        labels = (
            (self.group, self.task, self.weight)
            if self.from_test
            else (*self.train, np.ones(len(self.train[0])))
        )
        self.ties = getattr(auditor, "ties", "zero")
        self.sign = self.signs(*labels) if sign is None else sign.to_numpy()
        self.base, self.train_weight = None, np.ones(len(self.train[0]))
        if isinstance(base, pd.DataFrame):
            self.base = base.to_numpy()
            sizes = labels[2] @ labels[0]
            middle = (sizes @ self.base / sizes.sum())[None]
            if self.kind == "T->A":
                middle = (sizes / labels[2].sum())[:, None]
            self.sign = np.sign(self.base - middle)
        elif base == "train" and not (self.from_test and (self.multi or self.kind == "MALS")):
            self.base = "train"

    @staticmethod
    def held(world, name):
        """Return which group or task each row has, as a column each."""
        if name not in world:
            return None
        values = np.asarray(world[name])
        if values.ndim == 2:
            return values.astype(float)
        role = "y_train" if name.startswith("y") else "sensitive_train"
        names = np.unique(world[role])
        if role == "y_train" and len(names) == 2:
            return values[:, None].astype(float)
        return (values[:, None] == names).astype(float)

    @staticmethod
    def together(side, sets):
        return np.column_stack([side[:, one].all(axis=1) for one in sets]).astype(float)

    @staticmethod
    def joint(w, group, task):
        pairs = (group[:, :, None] * task[:, None, :]).reshape(len(group), -1)
        return (w @ pairs).reshape(*w.shape[:-1], group.shape[1], task.shape[1])

    def rate(self, w, group, task, kind):
        joint = self.joint(w, group, task)
        given = (w @ group)[..., :, None] if kind == "A->T" else (w @ task)[..., None, :]
        if self.multi and kind == "MALS":
            given = joint.sum(axis=-2, keepdims=True)  # groups may overlap
        with np.errstate(invalid="ignore", divide="ignore"):
            return joint / given

    def signs(self, group, task, w):
        joint, total = self.joint(w, group, task), w.sum(axis=-1)[..., None, None]
        if self.kind == "MALS":
            of = joint.sum(axis=-2, keepdims=True) if self.multi else (w @ task)[..., None, :]
            return (joint - of / group.shape[1] > 1e-9).astype(int)
        chance = (w @ group)[..., :, None] * (w @ task)[..., None, :] / total
        sign = np.where(np.abs(joint - chance) < 1e-9, 0, np.sign(joint - chance))
        return np.where(sign == 0, -1, sign) if self.ties == "negative" else sign

    def before(self, w, v=None):
        """What predictions are compared with; `v` are the weights of the training rows."""
        if self.base is None:
            return self.rate(w, self.group, self.task, self.kind)
        if isinstance(self.base, str):
            return self.rate(self.train_weight if v is None else v, *self.train, self.kind)
        return self.base

    def after(self, w):
        group, task = {
            "A->T": (self.group, self.task_pred),
            "T->A": (self.group_pred, self.task),
            "MALS": (self.group_pred, self.task_pred),
        }[self.kind]
        return self.rate(w, group, task, self.kind)

    def delta(self, w, v=None):
        return self.after(w) - self.before(w, v)

    @staticmethod
    def overall(w, side):
        return (w @ side) / w.sum(axis=-1)[..., None]

    def centre(self, w, group, task):
        """What a rate is if group and task are independent."""
        if self.kind == "MALS":
            return 1 / group.shape[1]
        if self.kind == "A->T":
            return self.overall(w, task)[..., None, :]
        return self.overall(w, group)[..., None]

    def labels(self, from_train, w, v=None):
        """Return the labels of training or audited rows, with their weights."""
        if from_train:
            return self.train_weight if v is None else v, *self.train
        return w, self.group, self.task

    def shift(self, w, v=None):
        """By how much a task, or a group, is predicted more often for everybody."""
        after = self.centre(w, self.group_pred, self.task_pred)
        if isinstance(self.base, np.ndarray) and self.kind == "A->T":
            sizes = w @ self.group
            return after - (sizes / sizes.sum(axis=-1)[..., None] @ self.base)[..., None, :]
        return after - self.centre(*self.labels(isinstance(self.base, str), w, v))

    def change(self, w, v=None):
        """By how much the association of group and task changes."""
        return self.delta(w, v) - self.shift(w, v)

    def association(self, w, v=None):
        """The association in the labels that give the signs."""
        labels = self.labels(not self.from_test, w, v)
        return self.rate(*labels, self.kind) - self.centre(*labels)

    def amplification(self, w, v=None):
        delta = self.delta(w, v)
        if not self.multi:
            return self.sign * delta
        moved = np.where(self.sign == 0, 0, delta) if self.kind == "MALS" else delta
        return np.where(np.real(moved) < 0, -moved, moved)

    def mean(self, amplification):
        axes = (-2, -1)
        total = np.nansum(amplification, axis=axes)
        if self.kind == "MALS":
            return total / amplification.shape[-1]
        if self.multi:
            return total / np.prod(amplification.shape[-2:])
        return total / (~np.isnan(amplification)).sum(axis=axes)

    def value(self, w, v=None):
        return self.mean(self.amplification(w, v))

    def signed_mean(self, w, v=None):
        return self.mean(self.sign * self.delta(w, v))

    def estimate(self, sign, w, v=None):
        """The mean change of the association, at signs that are given."""
        return self.mean(sign * self.change(w, v))

    def influence(self, measure):
        """Return each row's influence, and how often it counts, by brute force.

        The derivative with respect to each row's weight, of audited rows and of training rows.
        """
        step, n, m = 1e-20, len(self.weight), len(self.train_weight)
        moved = measure(
            np.concatenate([self.weight + 1j * step * np.eye(n), np.tile(self.weight, (m, 1))]),
            np.concatenate([np.ones((n, m)), 1 + 1j * step * np.eye(m)]),
        )
        whole = np.array_equal(self.weight, np.rint(self.weight))
        square = np.append(self.weight if whole else self.weight**2, self.train_weight)
        return np.imag(moved) / step, square

    def standard_error(self, measure):
        """Return the error of the delta method."""
        influence, square = self.influence(measure)
        return np.sqrt(np.tensordot(square, influence**2, axes=1))

    def reach(self, measure):
        """Return how far an interval of 95 % reaches: Student's t if few weights carry it."""
        influence, square = self.influence(measure)
        parts, n = square * influence**2, len(self.weight)
        units = parts[:n].sum() ** 2 / (parts[:n] ** 2).sum()
        few = units < 30 and not np.array_equal(self.weight, np.rint(self.weight))
        normal = stats.norm.isf(0.025)
        of_rows = stats.t(units).isf(0.025) if few else normal
        return np.hypot(of_rows * parts[:n].sum() ** 0.5, normal * parts[n:].sum() ** 0.5)


def numbers(result, *names):
    """Return columns of a result's table as arrays of groups × tasks."""
    n_groups = result.table["group"].nunique()
    found = [result.table[name].to_numpy(float).reshape(n_groups, -1) for name in names]
    return found if len(found) > 1 else found[0]


# --------------------------------------------------------------------------- every option

OWN = {
    "A->T": pd.DataFrame([[0.3, 0.5, 0.2], [0.4, 0.1, 0.6]], index=["g0", "g1"]),
    "T->A": pd.DataFrame([[0.2, 0.3, 0.8], [0.8, 0.7, 0.2]], index=["g0", "g1"]),
}
SIGN = pd.DataFrame([[1, -1, 0], [1, 1, -1]], index=["g0", "g1"])
OF_THREE = np.array([[0.3, 0.5, 0.2], [0.4, 0.1, 0.6], [0.9, 0.3, 0.3]])


def with_options():
    """Yield (name, auditor, world): every metric, and every option that moves its variance."""
    many, one = partial(world, kind="multilabel", seed=4), partial(world, kind="binary")
    classes = partial(world, kind="multiclass", n_groups=3, n=240)
    for name, metric in METRICS.items():
        yield name, metric(), many()
        yield f"{name}, one task", metric(), one()
        yield f"{name}, classes", metric(), classes()
        yield f"{name}, whole weights", metric(), weighted(many(), "whole")
        yield f"{name}, weights", metric(), weighted(many(), "fractional")
        yield f"{name}, overlapping groups", metric(groups="indicator"), overlapping(many())
        yield f"{name}, reference='test'", metric(reference="test"), many()
    for name in ("A->T", "T->A"):
        metric = METRICS[name]
        yield f"{name}, base='train'", metric(base="train"), many()
        yield f"{name}, ties", metric(ties="negative"), many()
        yield f"{name}, own base", metric(base=OWN[name]), many()
        yield f"{name}, own base, weights", metric(base=OWN[name]), weighted(many(), "fractional")
        yield f"{name}, own sign", metric(sign=SIGN), many()
        three = pd.DataFrame(OF_THREE, index=["g0", "g1", "g2"])
        yield f"{name}, own base, three groups", metric(base=three), many(n_groups=3)
        overlaps = metric(base=pd.DataFrame(OF_THREE), groups="indicator")
        yield f"{name}, own base, overlapping groups", overlaps, overlapping(many())
        yield f"{name}, base='train', three groups", metric(base="train"), many(n_groups=3)
        multi = METRICS[f"multi {name}"]
        yield f"multi {name}, base='test'", multi(base="test"), many()
        yield f"multi {name}, all", multi(combinations="all", max_size=2), many()
    for name in ("A->T", "MALS"):
        metric = METRICS[name]
        yield f"{name}, soft", metric(), soft(many())
        yield f"{name}, soft, one task", metric(), soft(one())
        yield f"{name}, soft, weights", metric(), weighted(soft(many()), "fractional")
    alone = many()
    del alone["sensitive_pred"]
    yield "MALS, attribute known", MALSAuditor(), alone
    yield "multi MALS, attribute known", MultiAttributeAuditor(None), alone


OPTIONS = {name: case for name, *case in with_options()}
