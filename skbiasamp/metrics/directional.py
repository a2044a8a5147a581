"""Directional bias amplification (BiasAmp→)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
import pandas as pd

from skbiasamp._input.checks import DIRECTIONS, Array, Names
from skbiasamp._input.errors import InputError, InputTypeError, plain, quote
from skbiasamp._input.options import Option, PositionalOption
from skbiasamp._utils.compat import StrOptions
from skbiasamp.counts.contingency import Contingency, SideName
from skbiasamp.inference.association import Association, association_of, centre_of
from skbiasamp.inference.pairs import Pairs
from skbiasamp.metrics._cooccurrence import (
    BASES,
    CooccurrenceAuditor,
    association_sign,
    compare_counts,
    overall_rate,
    with_audited_signs,
)
from skbiasamp.metrics.functions import function_of
from skbiasamp.metrics.inputs import directions_of


class DirectionalAuditor(CooccurrenceAuditor):
    r"""Audit directional bias amplification (BiasAmp→).

    For every pair of group and task: do the predictions move further in the direction of the
    training correlation? Group → task ("A->T") and task → group ("T->A") are measured apart [1]_.
    0 means that the predictions are as associated with the sensitive feature as the labels are,
    not that they are fair.

    .. versionadded:: 0.1

    Parameters
    ----------
    ties : {"zero", "negative"}, default="zero"
        Sign of a pair that is exactly independent in training. "zero": 0, as in the authors' code
        and tables. "negative": −1, as in the printed formula (only to replicate it).
    base : {"test", "train"} or DataFrame of groups × tasks, default="test"
        What predictions are compared with. "test": the labels of the audited rows. "train": the
        training labels (for "A->T" as if groups were as large as in the audited rows). A data
        frame: rates of your own, P(task | group) for "A->T" and
        P(group | task) for "T->A", taken as known. If they come from a sample, such as a survey,
        call `fit` with its counts and use "train": the interval then has the sample's error.
        Signs are those of these rates: P(task | group) against its mean over groups, weighted by
        their training shares, and P(group | task) against the group's training share.
    sign : DataFrame of groups × tasks, default=None
        Signs (−1, 0, 1) of your own. None: those of the training labels, or of `base` if it is a
        data frame.
    %(shared)s

    Attributes
    ----------
    y_at_ : DataFrame of shape (n_groups, n_tasks)
        The sign of each pair's training correlation: −1, 0 or 1.
    %(fitted)s

    See Also
    --------
    skbiasamp.metrics.directional_amplification : The value as a function.
    MultiAttributeAuditor : Sets of tasks instead of single ones.

    Notes
    -----
    .. math::

        \frac{1}{|A||T|} \sum_{a,t} s_{at} \left[ P(\hat T_t \mid A_a) - P(T_t \mid A_a) \right],
        \quad s_{at} = \operatorname{sign}\left( P_{train}(A_a, T_t) -
        P_{train}(A_a) P_{train}(T_t) \right)

    for A→T, and with :math:`P(\hat A_a \mid T_t) - P(A_a \mid T_t)` for T→A; eq. 2 of [1]_. The
    value lies in [−1, 1]. A pair with the sign 0 adds 0 to the sum, and counts as a pair. Pairs of
    a group (A→T) or task (T→A) without audited rows are undefined and are left out of the mean.

    References
    ----------
    .. [1] Wang, Russakovsky. Directional bias amplification. ICML 2021.

    Examples
    --------
    >>> from skbiasamp import DirectionalAuditor
    >>> sex = ["f"] * 40 + ["m"] * 40
    >>> cooking = [1] * 30 + [0] * 10 + [1] * 10 + [0] * 30
    >>> auditor = DirectionalAuditor().fit(cooking, sensitive_features=sex)
    >>> auditor.y_at_
       1
    f  1
    m -1
    >>> auditor.score(cooking, [1] * 40 + [0] * 40, sensitive_features=sex)
    0.25

    The same as a function: three in four women cook and one in four men, and a model that predicts
    that every woman cooks and no man does adds a quarter.

    >>> from skbiasamp.metrics import directional_amplification
    >>> predicted = [1] * 40 + [0] * 40
    >>> directional_amplification(cooking, predicted, sensitive_features=sex)
    0.25
    """

    metric = "directional"
    _joint = False
    percent = True
    uncounted = "no association in the labels"
    definition = (
        "Directional bias amplification (BiasAmp→; Wang and Russakovsky, 2021): how far the "
        "rate of a task in a group (A→T), or of a group in a task (T→A), moves from labels to"
        " predictions. A change in the direction of the training correlation counts as "
        "positive. The value is the mean over all pairs."
    )
    _publishes_one_group = True
    direction: str = PositionalOption(StrOptions(set(DIRECTIONS)), default="A->T", kw_only=False)
    ties: str = Option("zero", StrOptions({"zero", "negative"}))
    base: str | pd.DataFrame = Option("test", StrOptions(set(BASES)), pd.DataFrame)
    sign: pd.DataFrame | None = Option(None, pd.DataFrame, None)

    @property
    def question(self) -> str:
        """Question that the metric answers."""
        if self.direction == "T->A":
            return "Do predicted groups exaggerate the association between task and group?"
        if isinstance(self.base, str) and not self._in_rows:
            return "Are group and task more associated in these rows than in the reference rows?"
        return "Do predictions exaggerate the association between group and task?"

    @property
    def rank(self) -> int:
        """Rank in a report: the first to read, or after leakage if the group is predicted."""
        return 3 if self.direction == "T->A" else 0

    @classmethod
    def _for_report(cls, test: Contingency, *, scores: bool) -> list[Self]:
        if not test.has("task"):
            return [cls("A->T", base="train")]
        return [cls(direction) for direction in ([] if scores else directions_of(test))]

    # ------------------------------------------------------------------ the formula

    @property
    def _in_rows(self) -> bool:
        """Whether predictions are compared with the labels of the same rows."""
        return isinstance(self.base, str) and self.base == "test"

    def _why_labels(self) -> str:
        if self.direction == "T->A":
            return "with {direction='T->A'} counts predicted groups by label: pass {y_true}."
        if self._in_rows:
            return (
                "with {base='test'} compares predictions with labels: pass {y_true}, or compare "
                "with training labels ({base='train'}) or with rates of your own (a data frame as "
                "{base})."
            )
        return ""

    def measure(self, train: Contingency, test: Contingency, **fixed: Any) -> Pairs:
        """Return the pairs: P(T̂ | A) and P(T | A), or P(Â | T) and P(A | T), less P of all rows."""
        sides: tuple[SideName, SideName, SideName] = ("group", "task", "group_pred")
        if self.direction == "A->T":
            sides = "task", "group", "task_pred"
        side, given, predicted = sides
        after = association_of(test, predicted, given=given)
        if isinstance(self.base, pd.DataFrame):
            rates = _read_table(self.base, test.groups, test.tasks, "base")
            before = self._of_own_rates(rates, test)
            reference = None
        else:
            reference = association_of(train, side, given=given)
            if not self._sampled and train is not test:
                reference = reference.as_known()
            before = association_of(test, side, given=given) if self._in_rows else reference
            if self.direction == "A->T" and not self._in_rows:
                before = before.around(test)
        if self.sign is not None:
            reference = None
        pairs = Pairs(
            test.groups,
            test.tasks,
            labelled=before,
            predicted=after,
            sign=self._sign(train),
            reference=reference,
        )
        return with_audited_signs(pairs, train, before) if self._in_rows else pairs

    def _of_own_rates(self, rates: Array, test: Contingency) -> Association:
        """Return the association in rates of the user's own, which are known.

        What they are compared with varies: their mean over the groups' sizes (A→T), or the share
        of each group (T→A).
        """
        if self.direction == "A->T":
            labelled = centre_of(rates, test)
        else:
            shares = association_of(test, "group", given="task")
            labelled = shares - shares.without_centre()
        return replace(labelled, rate=rates, value=rates - self._average(rates, test))

    def _sign(self, labels: Contingency) -> Array:
        """Return the sign of every pair's correlation: the labels', or the user's own."""
        if self.sign is not None:
            return _read_table(self.sign, labels.groups, labels.tasks, "sign").astype(int)
        if isinstance(self.base, str):
            sign = association_sign(labels)
        else:
            rates = _read_table(self.base, labels.groups, labels.tasks, "base")
            average = self._average(rates, labels)
            sign = compare_counts(*np.broadcast_arrays(rates, average), exact=False)
        return np.where(sign == 0, -1, sign) if self.ties == "negative" else sign

    def _average(self, rates: Array, labels: Contingency) -> Array:
        """Return what rates of the user's own are if group and task are independent."""
        if self.direction == "T->A":
            # P(group | task) of a task that is independent of the group is the group's share.
            return overall_rate(labels, "group")
        sizes = labels.count("group")
        # Weighted as the groups occur, so that the labels' own rates keep their signs.
        return (sizes @ rates / sizes.sum(axis=-1, keepdims=True))[..., None, :]

    def _validate_params(self) -> None:
        super()._validate_params()
        if self.reference == "test" and isinstance(self.base, str) and self.base == "train":
            raise InputError(
                "{base='train'} compares predictions with training labels, and there are none: "
                "pass them (fit, or {y_train}), or use {base='test'}."
            )


def _read_table(table: pd.DataFrame, groups: Names, tasks: Names, name: str) -> Array:
    """Return a user's table of groups × tasks as numbers, in the order of the data."""
    if not isinstance(table, pd.DataFrame):
        text = (
            "{name} must be a pandas DataFrame with a row for every group and a column for every "
            "task, so that their order does not matter. Got {kind} instead."
        )
        raise InputTypeError(text, name=name, kind=type(table).__name__)
    positions = []
    for kind, wanted, present in (("group", groups, table.index), ("task", tasks, table.columns)):
        position = {plain(label): i for i, label in enumerate(present)}
        lacking = [name for name in wanted if name not in position]
        if lacking:
            raise InputError(
                "{name} must have a row for every group and a column for every task, and lacks "
                "{kind} {lacking} (it has {present}).",
                name=name,
                kind=kind,
                lacking=quote(lacking),
                present=quote(position),
            )
        if len(position) < len(present):
            raise InputError("{name} names a {kind} twice.", name=name, kind=kind)
        positions.append([position[name] for name in wanted])
    try:
        values = np.asarray(table, dtype=float)[np.ix_(*positions)]
    except (TypeError, ValueError):
        text = "{name} must hold numbers, and none may be missing."
        raise InputError(text, name=name) from None
    allowed = np.isin(values, (-1, 0, 1)) if name == "sign" else (values >= 0) & (values <= 1)
    if not allowed.all():
        meant = "-1, 0 or 1" if name == "sign" else "a conditional probability in [0, 1]"
        text = "{name} must hold {meant} for every pair; got {seen:.6g}."
        raise InputError(text, name=name, meant=meant, seen=values[~allowed][0])
    return values


def compares_rows(auditor: Any) -> bool:
    """Whether an auditor's value is how rates of groups change from labels to predictions."""
    return (
        isinstance(auditor, DirectionalAuditor)
        and auditor.direction == "A->T"
        and auditor._in_rows
        and auditor.sign is None
        and auditor.formula == "change"
        and auditor.interval is not None
    )


def compares_tables(auditor: Any) -> bool:
    """Whether an auditor measures rates that are compared with those of training rows."""
    if not isinstance(auditor, DirectionalAuditor) or auditor.direction != "A->T":
        return False
    return isinstance(auditor.base, str) and auditor.base == "train" and auditor.sign is None


directional_amplification = function_of(DirectionalAuditor)
