"""Multi-attribute amplification: sets of tasks that occur together."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from skbiasamp._labels import (
    DIRECTIONS,
    Array,
    Names,
    check_option,
    check_sizes,
    require_labels,
    too_many_combinations,
)
from skbiasamp.contingency import Contingency, SideName
from skbiasamp.metrics._cooccurrence import BASES, check_sides
from skbiasamp.metrics._pairs import (
    Pairs,
    association_sign,
    describe_undefined,
    leans_over_share,
    mean_defined,
    read_pair,
    total_defined,
    warn_undefined,
)

COMBINATIONS = ("observed", "all")

# Above this many combinations "all" is a mistake more often than a wish.
_MOST_COMBINATIONS = 2_000_000


def superset_counts(patterns: Array, counts: Array, sets: Array) -> Array:
    """For each set of tasks, sum the counts of the patterns that hold all of it.

    Parameters
    ----------
    patterns : bool array of shape (n_patterns, n_tasks)
    counts : array of shape (n_patterns, n_columns)
    sets : bool array of shape (n_sets, n_tasks)

    Returns
    -------
    sums : array of shape (n_sets, n_columns)
    """
    n_tasks = patterns.shape[1]
    if n_tasks <= 20 and 2**n_tasks * n_tasks <= len(sets) * len(patterns):
        # One addition a task sums over all supersets at once (a transform of the lattice).
        powers = 1 << np.arange(n_tasks)[::-1]
        lattice = np.zeros((2**n_tasks, counts.shape[1]))
        np.add.at(lattice, patterns @ powers, counts)
        shaped = lattice.reshape((2,) * n_tasks + (-1,))
        for axis in range(n_tasks):
            absent, present = np.moveaxis(shaped, axis, 0)
            absent += present
        return lattice[sets @ powers]
    sums = np.empty((len(sets), counts.shape[1]))
    columns = patterns.T.astype(np.float32)
    block = max(1, (1 << 24) // max(1, len(patterns)))
    for low in range(0, len(sets), block):
        chosen = sets[low : low + block]
        common = chosen.astype(np.float32) @ columns
        holds = common == chosen.sum(axis=1, keepdims=True)
        sums[low : low + block] = holds @ counts
    return sums


def combinations_of(
    train: Contingency,
    test: Contingency,
    *,
    combinations: str,
    min_size: int,
    max_size: int | None,
    min_count: float,
) -> Array:
    """Return the sets of tasks that occur in both labels, as rows of booleans."""
    seen, counts = train.unweighted().patterns("task", ())
    tested, test_counts = test.unweighted().patterns("task", ())
    most = len(train.tasks) if max_size is None else max_size
    if combinations == "observed":
        size = seen.sum(axis=1)
        often = counts[:, 0] >= min_count
        sets = seen[often & (size >= max(1, min_size)) & (size <= most)]
        sets = sets[superset_counts(tested, test_counts, sets)[:, 0] >= min_count]
    else:
        sets = _frequent_sets((seen, counts), (tested, test_counts), most, min_count)
        sets = sets[sets.sum(axis=1) >= min_size]
    # Small sets first, then in the order of the tasks.
    return sets[np.lexsort((*(~sets).T[::-1], sets.sum(axis=1)))]


def _frequent_sets(
    train: tuple[Array, Array], test: tuple[Array, Array], max_size: int, min_count: float
) -> Array:
    """Grow sets task by task; a set is frequent only if all its subsets are."""
    n_tasks = train[0].shape[1]
    found: list[Array] = []
    candidates = np.eye(n_tasks, dtype=bool)
    for size in range(1, max_size + 1):
        often = np.ones(len(candidates), dtype=bool)
        for patterns, counts in (train, test):
            often &= superset_counts(patterns, counts, candidates)[:, 0] >= min_count
        level = candidates[often]
        found.append(level)
        if sum(map(len, found)) > _MOST_COMBINATIONS:
            raise too_many_combinations(_MOST_COMBINATIONS, size)
        known = {row.tobytes() for row in level}
        grown = {
            bigger.tobytes()
            for row in level
            for bigger in _with_one_more(row)
            if all(smaller.tobytes() in known for smaller in _with_one_less(bigger))
        }
        if not grown:
            break
        candidates = np.array([np.frombuffer(row, dtype=bool) for row in sorted(grown)])
    return np.concatenate(found)


def _with_one_more(row: Array) -> Array:
    last = int(np.flatnonzero(row)[-1])
    return row | np.eye(len(row), dtype=bool)[last + 1 :]


def _with_one_less(row: Array) -> Array:
    return row & ~np.eye(len(row), dtype=bool)[np.flatnonzero(row)]


def multi_attribute(
    train: Contingency,
    test: Contingency,
    sets: Array,
    *,
    direction: str | None,
    base: str = "train",
) -> Pairs:
    """Multi_MALS and Multi→: how far predictions move sets of tasks, without sign."""
    reference = train if base == "train" else test
    in_train, all_train = occurrences_of(train, "task", "group", sets)
    in_base, all_base = (
        (in_train, all_train) if reference is train else occurrences_of(test, "task", "group", sets)
    )
    attribute: SideName = "group_pred" if test.has("group_pred") else "group"
    observed_rate: tuple[SideName, SideName]
    base_rate: tuple[SideName, SideName]
    with np.errstate(invalid="ignore", divide="ignore"):
        if direction is None:
            observed_rate, base_rate = (attribute, "task_pred"), ("group", "task")
            in_pred, _ = occurrences_of(test, "task_pred", attribute, sets)
            n = in_pred.sum(axis=-2, keepdims=True)
            rates = in_base / in_base.sum(axis=-2, keepdims=True)
            sign = multi_mals_sign(train, in_train)
        elif direction == "A->T":
            observed_rate, base_rate = ("task_pred", "group"), ("task", "group")
            in_pred, _ = occurrences_of(test, "task_pred", "group", sets)
            n = test.count("group")[..., :, None]
            rates = in_base / reference.count("group")[..., :, None]
        else:
            observed_rate, base_rate = ("group_pred", "task"), ("group", "task")
            in_pred, all_test = occurrences_of(test, "task", "group_pred", sets)
            n = all_test[..., None, :]
            rates = in_base / all_base[..., None, :]
        observed = in_pred / n
    if direction is not None:
        sign = association_sign(
            train.total, in_train, train.count("group"), all_train, exact=train.whole
        )
    delta = observed - rates
    # The bracket of Multi_MALS makes its zeros, also where the rest is undefined.
    moved = np.where(sign == 0, 0.0, delta) if direction is None else delta
    # Without a set there is no mean, nor where all is undefined (but brackets of 0 are 0).
    n_pairs: Any = float(len(sets) or np.nan)
    if direction is not None:
        defined = ~np.isnan(moved)
        # A->T is undefined for all sets of a group without rows, which then is none of the groups.
        n_groups = defined.any(axis=-1).sum(axis=-1) if direction == "A->T" else len(train.groups)
        n_pairs = np.where(defined.any(axis=(-2, -1)), n_pairs * n_groups, np.nan)
        n_pairs = n_pairs if n_pairs.ndim else float(n_pairs)
    statistics = {
        "variance": _variance(moved),
        "signed_mean": total_defined(sign * delta) / n_pairs,
        "n_combinations": len(sets),
    }
    return Pairs(
        groups=train.groups,
        tasks=set_names(train.tasks, sets),
        n=np.broadcast_to(n, delta.shape),
        base=rates,
        observed=observed,
        sign=sign,
        delta=delta,
        amplification=np.abs(moved),
        value=total_defined(np.abs(moved)) / n_pairs,
        share=1 / np.asarray(n_pairs)[..., None, None],
        gradient=np.where(
            np.isnan(delta), 0.0, np.sign(moved) / np.asarray(n_pairs)[..., None, None]
        ),
        observed_rate=observed_rate,
        base_rate=base_rate if base == "test" else None,
        sets=sets,
        statistics=statistics,
    )


def multi_mals_sign(train: Contingency, in_train: Array) -> Array:
    """Return 1 where a group has more than its equal share of a set of tasks, else 0."""
    return leans_over_share(
        in_train, in_train.sum(axis=-2, keepdims=True), len(train.groups), exact=train.whole
    )


def occurrences_of(
    cells: Contingency, side: SideName, by: SideName, sets: Array
) -> tuple[Array, Array]:
    """Return the rows that hold each set, as groups × sets, and over all groups."""
    patterns, counts = cells.patterns(side, (by,))
    columns = np.moveaxis(counts, -2, 0)
    sums = superset_counts(patterns, columns.reshape(len(patterns), -1), sets)
    sums = np.moveaxis(sums.reshape(len(sets), *columns.shape[1:]), 0, -1)
    return sums[..., 1:, :], sums[..., 0, :]


def _variance(values: Array) -> Any:
    """Population variance over the defined pairs."""
    center = np.asarray(mean_defined(values))[..., None, None]
    return mean_defined((values - center) ** 2)


def set_names(tasks: Names, sets: Array) -> Names:
    """Return each set of tasks as the tuple of their names."""
    flat = [tasks[i] for i in np.nonzero(sets)[1].tolist()]
    ends = np.cumsum(sets.sum(axis=1)).tolist()
    return tuple(tuple(flat[low:high]) for low, high in pairwise([0, *ends]))


def undefined_sets(pairs: Pairs, direction: str | None) -> str | None:
    """Say which pairs are undefined, and what becomes of them."""
    condition = "predicted" if direction is None else "audited"
    return describe_undefined(pairs, condition=condition, kept_as_zero=direction != "A->T")


def check_hard(test: Contingency) -> None:
    """Raise if sets of labels are to be counted in probabilities."""
    require_labels(test.soft("task_pred"), metric="multi-attribute amplification")
    require_labels(
        test.soft("group_pred"), metric="multi-attribute amplification", argument="sensitive_pred"
    )


def multi_attribute_amplification(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    sensitive_pred: Any = None,
    y_train: Any = None,
    sensitive_train: Any = None,
    sample_weight: Any = None,
    direction: str | None = "A->T",
    combinations: str = "observed",
    min_size: int = 1,
    max_size: int | None = None,
    min_count: float = 1,
    base: str = "train",
    groups: str = "intersection",
    missing: str = "error",
    pos_label: Any = None,
) -> float:
    r"""Tell how far predictions move sets of tasks that occur together.

    A model may keep the share of women among those who cook and among those who clean, and
    still change it among those who do both. The value is the mean *size* of the change over
    groups and sets, so it cannot be negative and does not say whether bias grew or shrank;
    the auditor's result also holds the signed mean.

    .. versionadded:: 0.1

    Parameters
    ----------
    y_true : array-like of shape (n_samples, n_tasks) or (n_samples,)
        Labels: a 0/1 column a task. (Of a one-column label every set is a single class.)
    y_pred : array-like
        Predicted labels. May be None for ``direction="T->A"``.
    sensitive_features : array-like of shape (n_samples,) or (n_samples, n_attributes)
        The protected attribute.
    sensitive_pred : array-like, optional
        The attribute as predicted by the model.
    y_train, sensitive_train : array-like, optional
        Labels the model was trained on. By default the audited labels stand in for them.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the audited rows.
    direction : {"A->T", "T->A", None}, default="A->T"
        The direction; None is Multi_MALS, which has none.
    combinations : {"observed", "all"}, default="observed"
        Sets that some training row has as its whole set, or every set that occurs.
    min_size, max_size : int, optional
        Bounds of the number of tasks in a set.
    min_count : float, default=1
        In how many rows a set has to occur, in training and in the audited labels. Rows of
        fractional weight count as one each, whatever they weigh.
    base : {"train", "test"}, default="train"
        Whether predictions are compared with the training labels, as in the paper, or with the
        audited ones, as in the authors' code. Multi_MALS always takes the training labels.
    groups : {"intersection", "marginal", "indicator"}, default="intersection"
        How several columns make groups.
    missing : {"error", "drop", "group"}, default="error"
        What to do where the attribute is missing.
    pos_label : class, optional
        Which of two classes is the positive one, and so the task; probabilities in one column
        are of that class. By default the class that sorts last.

    Returns
    -------
    value : float
        Mean size of the change. A group without rows is left out of A->T; other undefined pairs
        add nothing and still count.

    See Also
    --------
    skbiasamp.MultiAttributeAuditor : The same, with the variance, the signed mean and a table.

    Notes
    -----
    With M the sets and :math:`\Delta_{gm}` as in `directional_amplification`, m in place of t,

    .. math::

        \mathrm{Multi}_\rightarrow = \frac{1}{|G||M|} \sum_{g,m} |\Delta_{gm}|, \qquad
        \mathrm{Multi}_{MALS} = \frac{1}{|M|} \sum_{g,m} |\Delta_{gm}|

    where Multi_MALS takes :math:`\Delta_{gm} = [b(m,g) > 1/|G|]\,(\hat b(m,g) - b(m,g))` with
    b(m, g) the group's share among the rows that hold m.

    References
    ----------
    .. [1] Zhao, Andrews, Xiang. Men also do laundry: multi-attribute bias amplification.
       ICML 2023.

    Examples
    --------
    Women cook or clean, and one in two does both; men the same. The model moves all of "both"
    to women, though single tasks hardly change:

    >>> from skbiasamp.metrics import multi_attribute_amplification
    >>> both, cook, clean = [1, 1], [1, 0], [0, 1]
    >>> labels = [both, both, cook, clean] * 2
    >>> predicted = [both] * 4 + [cook, cook, clean, clean]
    >>> sex = ["f"] * 4 + ["m"] * 4
    >>> multi_attribute_amplification(labels, predicted, sensitive_features=sex, min_size=2)
    0.5
    """
    check_option("direction", direction, (*DIRECTIONS, None))
    check_option("combinations", combinations, COMBINATIONS)
    check_sizes(min_size, max_size, min_count)
    check_option("base", base, BASES)
    train, test = read_pair(
        y_true,
        y_pred,
        sensitive_features=sensitive_features,
        sensitive_pred=sensitive_pred,
        y_train=y_train,
        sensitive_train=sensitive_train,
        sample_weight=sample_weight,
        groups=groups,
        missing=missing,
        pos_label=pos_label,
    )
    check_sides(test, direction=direction, metric="multi-attribute amplification")
    check_hard(test)
    sets = combinations_of(
        train,
        test,
        combinations=combinations,
        min_size=min_size,
        max_size=max_size,
        min_count=min_count,
    )
    if direction is None and y_train is not None:
        base = "train"
    pairs = multi_attribute(train, test, sets, direction=direction, base=base)
    warn_undefined(undefined_sets(pairs, direction), stacklevel=2)
    return pairs.value
