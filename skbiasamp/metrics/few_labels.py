"""Few human labels, many machine labels: rates by prediction-powered inference (PPI++)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from skbiasamp._input.checks import Array, check_option
from skbiasamp._input.containers import to_native
from skbiasamp._input.errors import InputError, quote, speaking, without_policies
from skbiasamp._input.keywords import keywords
from skbiasamp._input.labels import codes_of
from skbiasamp.counts.cells import labels_of
from skbiasamp.counts.contingency import Contingency, SideName
from skbiasamp.counts.frames import read_labels
from skbiasamp.inference.hypothesis_tests import ADJUSTMENTS, adjust_p_values, normal_test
from skbiasamp.inference.intervals import FEW, change_reach, errors_of_base
from skbiasamp.inference.power import check_share
from skbiasamp.metrics.directional import DirectionalAuditor
from skbiasamp.metrics.inputs import read_train
from skbiasamp.results import AuditResult, GroupDifferences, pair_table

FEWEST = 30  # human labels of a group
_NOTES = (
    "Which rows people labelled must be random within each group. If people chose the rows that "
    "the machine finds hard, these numbers are wrong.",
    "Human labels are taken as the truth: what people get wrong is not in the intervals.",
)


class _Powered(NamedTuple):
    """Rates of one group by task, the weights of machine labels, and what each row adds."""

    rate: Array
    weight: Array
    of_labelled: Array
    of_others: Array

    @classmethod
    def of(cls, human: Array, machine: Array, others: Array) -> _Powered:
        """Return λ·mean(others) + mean(human − λ·machine), with the λ of the least variance."""
        n, n_others = len(human), max(len(others), 1)
        shared = ((human - human.mean(axis=0)) * (machine - machine.mean(axis=0))).mean(axis=0)
        spread = np.concatenate([machine, others]).var(axis=0, ddof=1) * (1 + n / n_others)
        weight = np.divide(shared, spread, out=np.zeros(len(shared)), where=spread > 0).clip(0, 1)
        if not len(others):
            weight, others = 0 * weight, machine[:1]
        parts = human - weight * machine, weight * others
        means = [part.mean(axis=0) for part in parts]
        errors = [(part - mean) / len(part) for part, mean in zip(parts, means, strict=True)]
        return cls(means[0] + means[1], weight, *errors)

    def variance(self, of: Any, *, more: float = 1.0) -> Any:
        """Return the variance of sums of rates, each column of `of` times the tasks.

        It adds `more` rows in which people and machine differ: few labels may have none.
        """
        rare = more * (np.square(of) / len(self.of_labelled) ** 2).sum(axis=0)
        return rare + sum(((part @ of) ** 2).sum(axis=0) for part in self[2:])


@keywords()
def prediction_powered_rates(
    y_pred: Any,
    *,
    labelled: Any,
    sensitive_features: Any,
    y_train: Any = None,
    sensitive_train: Any = None,
    pos_label: Any = None,
    confidence_level: float = 0.95,
    adjust: str | None = "holm",
) -> GroupDifferences:
    r"""Compute rates of groups from many machine labels and few human ones (PPI++).

    Use it if a classifier or a language model (a judge) labels all texts or images, and people
    label some of them. The machine's errors are then measured and taken off, so that rates and
    differences are those of human labels, with narrower intervals than human labels alone have.

    .. versionadded:: 0.2

    Parameters
    ----------
    y_pred : array-like of shape (n_samples,) or (n_samples, n_tasks)
        The machine's label of every row, or its probability.
    labelled : array-like of shape (n_samples,) or (n_samples, n_tasks)
        The human label of each row that has one; missing (None or NaN) in all other rows.
    sensitive_features : array-like of shape (n_samples,) or (n_samples, n_features)
        The sensitive feature, or several, whose combinations make groups.
    y_train, sensitive_train : array-like, default=None
        Labels and sensitive feature of training or reference rows. They add the directional
        amplification A→T (group → task: does the group shift the task?) from these rows to yours.
    pos_label : label, default=None
        The positive class of a binary label. None: the class that sorts last.
    confidence_level : float, default=0.95
        Level of the confidence intervals.
    adjust : {"holm", "fdr", None}, default="holm"
        How the p-values of the differences are adjusted for their number.

    Returns
    -------
    result : GroupDifferences
        Its ``rates`` hold, for each group and task, the ``rate`` with ``standard_error``, interval
        and ``weight`` (λ) of the machine labels; and for comparison the rates by the machine
        labels of all rows (``machine``) and by human labels alone (``human``).

    Notes
    -----
    If n rows have a human label y, N have none, and all have a machine label f, the rate is

    .. math::

        \lambda \, \bar f_N + \overline{(y - \lambda f)}_n, \quad
        \lambda = \frac{\mathrm{Cov}(y, f)}{(1 + n/N) \, \mathrm{Var}(f)}

    by group and task, with λ between 0 and 1: it is 0 if machine labels are of no use. Intervals
    are those of the normal distribution. They add one row of each group in which people
    and machine differ, since few labels may have none by chance; ``standard_error`` does not. A
    group needs 30 human labels or more.

    References
    ----------
    .. [1] Angelopoulos, Duchi, Zrnic. PPI++: Efficient prediction-powered inference.
       arXiv:2311.01453, 2023.

    Examples
    --------
    A judge finds anger in 40 % of 200 answers about women, and in 60 % about men. People read 40
    of each, and find none in 8 that are about men and angry by the judge.

    >>> import numpy as np
    >>> from skbiasamp.metrics import prediction_powered_rates
    >>> sex = np.repeat(["f", "m"], 200)
    >>> judge = np.tile([1, 1, 0, 0, 0], 80)
    >>> judge[200:] = 1 - judge[200:]
    >>> people = judge.astype(float)
    >>> people[202:240:5] = 0
    >>> people[np.arange(400) % 200 >= 40] = np.nan
    >>> result = prediction_powered_rates(judge, labelled=people, sensitive_features=sex)
    >>> result.rates[["group", "rate", "machine", "human"]].round(3)
      group  rate  machine  human
    0     f   0.4      0.4    0.4
    1     m   0.4      0.6    0.4
    """
    confidence_level = check_share("confidence_level", confidence_level)
    check_option("adjust", adjust, ADJUSTMENTS)
    train = read_train(y_train, sensitive_train, pos_label=pos_label)
    people, has = _of_people(labelled)
    with speaking(without_policies("before the call"), y_true="labelled"):
        rows = read_labels(
            people,
            y_pred,
            sensitive_features=sensitive_features,
            pos_label=pos_label,
            like=train,
            apart=True,
            max_groups=None,
        )
    cells = Contingency.of_rows(rows)
    sides: tuple[SideName, SideName] = ("task", "task_pred")
    human, machine = (labels_of(cells, side).dense(slice(None), float) for side in sides)
    of_groups = rows.sides["group"]
    group, names = codes_of(of_groups), of_groups.names
    n = np.bincount(group[has], minlength=len(names))
    if (few := n < FEWEST).any():
        named = quote([name for name, is_few in zip(names, few, strict=True) if is_few])
        text = "{labelled} must hold {fewest} labels of each group; got {n} of {named}."
        raise InputError(text, fewest=f"{FEWEST} or more", n=n[few].min(), named=named)
    own = [group == i for i in range(len(names))]
    powered = [
        _Powered.of(human[has & members], machine[has & members], machine[~has & members])
        for members in own
    ]
    size = np.bincount(group)
    z = stats.norm.isf((1 - confidence_level) / 2)
    identity = np.eye(len(cells.tasks))
    rate = np.stack([group.rate for group in powered])
    se, reach = (
        np.sqrt(np.stack([group.variance(identity, more=more) for group in powered]))
        for more in (0, 1)
    )
    weight = np.stack([group.weight for group in powered])
    read = [(human[has & of], machine[has & of], by) for of, by in zip(own, weight, strict=True)]
    few = np.stack([_few_reach(*of, confidence_level) for of in read], axis=1)
    # A class that nearly all rows have is as little known as one that hardly any has.
    others = np.stack([_few_reach(1 - h, 1 - m, by, confidence_level) for h, m, by in read], axis=1)
    ends = np.maximum.reduce([0 * few + z * reach, few, others[::-1]])
    numbers = {
        "n_labelled": n[:, None] + 0 * se,
        "rate": rate,
        "standard_error": se,
        "low": (rate - ends[0]).clip(0, 1),
        "high": (rate + ends[1]).clip(0, 1),
        "weight": weight,
        "machine": np.stack([machine[members].mean(axis=0) for members in own]),
        "human": np.stack([human[has & members].mean(axis=0) for members in own]),
    }
    rates = pair_table(names, cells.tasks, n=size[:, None] + 0 * se, **numbers)
    table = _differences(names, cells.tasks, rate, reach, z)
    table["p_adjusted"] = adjust_p_values(table["p_value"], adjust)
    result = None
    if train is not None:
        auditor = DirectionalAuditor(base="train", confidence_level=confidence_level).fit(train)
        result = _amplification(auditor, cells, powered, size, z)
    return GroupDifferences(
        table,
        confidence_level,
        () if of_groups.columns == (0,) else of_groups.columns,
        rates=rates[["group", "task", "n", *numbers]].astype({"n_labelled": int}),
        amplification=result,
        title="Rates by human and machine labels",
        notes=_NOTES,
    )


def _few_reach(human: Array, machine: Array, weight: Array, confidence_level: float) -> Array:
    """Return how far below and above rates of tasks may be of which few labels know; else 0.

    Few labels that differ from the machine's share know their own variance badly.
    """
    apart = human - weight * machine
    gained, lost = ((side * apart > 0).sum(axis=0) for side in (1, -1))
    reach = change_reach(gained, lost, len(human), confidence_level=confidence_level)
    return np.where(gained + lost < FEW, reach, 0)


def _of_people(labelled: Any) -> tuple[Any, Array]:
    """Return human labels with one of them in place of those that miss, and which are there."""
    if labelled is None:
        raise InputError("{labelled} is None: pass the human label of each row that has one.")
    people: Any = to_native(labelled, "labelled")
    if not isinstance(people, pd.DataFrame | pd.Series):
        people = pd.Series(people) if people.ndim == 1 else pd.DataFrame(people)
    there = people.notna()
    has: Array = there.to_numpy().reshape(len(people), -1).all(axis=1)
    if not has.any():
        raise InputError("{labelled} has no label: pass the human labels of some rows.")
    whole = people.where(there, people[has].iloc[0], axis=people.ndim - 1)
    return whole.infer_objects(), has


def _differences(names: Any, tasks: Any, rate: Array, reach: Array, z: float) -> pd.DataFrame:
    """Return the difference between each two groups' rates of each task."""
    i, j = np.triu_indices(len(names), 1)
    value, error = rate[i] - rate[j], np.hypot(reach[i], reach[j])
    numbers = {
        "mean": rate[i],
        "mean_other": rate[j],
        "difference": value,
        "standard_error": error,
        "low": np.maximum(value - z * error, -1.0),
        "high": np.minimum(value + z * error, 1.0),
        "p_value": normal_test(value, error**2),
    }
    group, other = ([names[k] for k in np.repeat(side, len(tasks))] for side in (i, j))
    pairs = {"group": group, "other": other, "task": [*tasks] * len(i)}
    flat = {name: values.ravel() for name, values in numbers.items()}
    return pd.DataFrame(pairs | flat | {"test": "normal"})


def _amplification(
    auditor: DirectionalAuditor, test: Contingency, powered: list[_Powered], size: Array, z: float
) -> AuditResult:
    """Return the directional amplification of the rates that people and machines give."""
    train = auditor.contingency_
    pairs = auditor._measure(train, test)
    rate, share = np.stack([group.rate for group in powered]), size / size.sum()
    assert pairs.centre is not None
    pairs = replace(pairs, observed=rate, centre=(pairs.centre[0], (share @ rate)[None]))
    sign, n = pairs.sign, pairs.sign.size
    slopes = (sign - share[:, None] * sign.sum(axis=0)) / n  # the centre follows all groups
    errors = errors_of_base(pairs, train, sign)
    variance = sum(group.variance(slope) for group, slope in zip(powered, slopes, strict=True))
    own = np.stack([group.variance(np.eye(sign.shape[1])) for group in powered]) + errors.pairs
    se, value = np.sqrt(variance + errors.estimate), float(pairs.estimate(sign))
    columns = {"n": pairs.n, "base": pairs.base, "observed": rate, "sign": sign}
    columns |= {"delta": pairs.delta, "amplification": pairs.amplification}
    columns |= {"low": pairs.moved - z * np.sqrt(own), "high": pairs.moved + z * np.sqrt(own)}
    columns["p_value"] = normal_test(pairs.delta, own)
    columns["p_adjusted"] = adjust_p_values(columns["p_value"], auditor.adjust)
    return auditor._made(
        test,
        value=pairs.value,
        estimate=value,
        low=value - z * se,
        high=value + z * se,
        p_value=float(normal_test(value, se**2)),
        table=partial(pair_table, pairs.groups, pairs.tasks, **columns),
        statistics={"standard_error": float(se), "gap": value, "shift": pairs.value - value},
    )
