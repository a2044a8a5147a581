"""Directional bias amplification (BiasAmp→)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
import pandas as pd

from skbiasamp._input.checks import DIRECTIONS, Array, check_table
from skbiasamp._input.errors import InputError
from skbiasamp._input.options import Option, PositionalOption
from skbiasamp._utils.compat import StrOptions
from skbiasamp.counts.cells import as_labels
from skbiasamp.counts.contingency import Contingency, SideName
from skbiasamp.inference.independent_signs import signs_of
from skbiasamp.inference.pairs import Pairs, Rates
from skbiasamp.inference.runs import Mean
from skbiasamp.metrics._cooccurrence import BASES, CooccurrenceAuditor
from skbiasamp.metrics._shared_sentences import most_affected
from skbiasamp.metrics.comparing import comparison_result, numbers_of_model
from skbiasamp.metrics.functions import function_of
from skbiasamp.metrics.inputs import directions_of
from skbiasamp.metrics.signs import association_sign, compare_counts, overall_rate, settled
from skbiasamp.results import AuditResult, ComparisonResult, conclusion

TIES = ("zero", "negative")
_OF_PAIR = ["group", "task", "n", "base", "sign"]
_OF_DIFFERENCE = ["reference", "observed", "difference", "gained", "lost", "amplification", "low"]
_OF_DIFFERENCE += ["high", "p_value", "p_adjusted"]


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
        training labels. A data frame: rates of your own, P(task | group) for "A->T" and
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
    uncounted = "no association in the labels"
    definition = (
        "Directional bias amplification (BiasAmp→; Wang and Russakovsky, 2021): how far the "
        "rate of a task in a group (A→T), or of a group in a task (T→A), moves from labels to"
        " predictions. A change in the direction of the training correlation counts as "
        "positive. The value is the mean over all pairs."
    )
    direction: str = PositionalOption(StrOptions(set(DIRECTIONS)), default="A->T", kw_only=False)
    ties: str = Option("zero", StrOptions(set(TIES)))
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
    def _for_report(cls, test: Contingency, *, scores: bool = False) -> list[Self]:
        # Tasks that were summed one by one have no rows to resample.
        interval = "analytic" if test.summed == "tasks" else "bootstrap"
        directions = [] if scores else directions_of(test)
        if not test.has("task"):
            return [cls("A->T", base="train", interval=interval)]
        return [cls(direction, interval=interval) for direction in directions]

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

    def _measure(self, train: Contingency, test: Contingency, **fixed: Any) -> Pairs:
        """Return the pairs; the value is the mean of their sign · (observed − base).

        All arrays are groups × tasks: P(T̂ | A) and P(T | A), or P(Â | T) and P(A | T).
        """
        sides: tuple[SideName, SideName, SideName] = "group", "task", "group_pred"
        if self.direction == "A->T":
            sides = "task", "group", "task_pred"
        side, given, predicted = sides
        base, in_rows = self.base, self._in_rows
        if isinstance(base, str):
            labels = test if in_rows else train
            before, centre = labels.rate(side, given=given), overall_rate(labels, side)
        else:
            before = check_table(base, test.groups, test.tasks, "base")
            centre = self._average(before, test)
        observed = test.rate(predicted, given=given)
        # The rows that a rate is conditioned on: of the pair's group, or of its task.
        n = test.count(given)[..., None] if given == "group" else test.count(given)[..., None, :]
        return Pairs(
            groups=test.groups,
            tasks=test.tasks,
            n=n,
            base=before,
            observed=observed,
            sign=self._sign(train),
            # Which rates these are: exact tests and analytic intervals follow from it. A base that
            # is not from the audited rows does not vary with them.
            rates=Rates((predicted, given), (side, given) if in_rows else None),
            own_base=not isinstance(base, str),
            sampled=self._sampled,
            centre=(centre, overall_rate(test, predicted)),
            given_sign=self.sign is not None or not isinstance(base, str),
        )

    def _sign(self, labels: Contingency) -> Array:
        """Return the sign of every pair's correlation: the labels', or the user's own."""
        if self.sign is not None:
            return check_table(self.sign, labels.groups, labels.tasks, "sign").astype(int)
        if isinstance(self.base, str):
            return association_sign(labels, ties=self.ties)
        rates = check_table(self.base, labels.groups, labels.tasks, "base")
        average = self._average(rates, labels)
        signs = compare_counts(*np.broadcast_arrays(rates, average), exact=False)
        return settled(signs, self.ties)

    def _average(self, rates: Array, labels: Contingency) -> Array:
        """Return what rates of the user's own are if group and task are independent."""
        if self.direction == "T->A":
            # P(group | task) of a task that is independent of the group is the group's share.
            return overall_rate(labels, "group")
        sizes = labels.count("group")
        # Weighted as the groups occur, so that the labels' own rates keep their signs.
        return (sizes @ rates / sizes.sum(axis=-1, keepdims=True))[..., None, :]

    def _sign_p_values(self, labels: Contingency) -> Array | None:
        if self.sign is not None or isinstance(self.base, pd.DataFrame):
            return None  # no labels stand behind these signs
        return super()._sign_p_values(labels)

    def _validate_params(self) -> None:
        super()._validate_params()
        if self.reference == "test" and isinstance(self.base, str) and self.base == "train":
            raise InputError(
                "{base='train'} compares predictions with training labels, and there are none: "
                "pass them (fit, or {y_train}), or use {base='test'}."
            )

    def _asked(self, like: Contingency | None) -> dict[str, Any]:
        # An engine that sums each task by itself loses how tasks vary together. Nothing asked: it
        # decides whether rows or tasks are counted.
        if self.interval is None or self.direction == "T->A":
            return {}
        if like is None and isinstance(self.base, str) and self.base == "train":
            return {"joint": True}  # training rates vary too
        return {"moments": self._squares} if self.interval == "analytic" else {}

    def _squares(self, sums: Contingency) -> list[tuple[Array, bool]]:
        """Return signs of the scores whose squares the intervals of summed tasks need.

        Beside the signs stands whether the score of a row is of T̂ − T, or of T̂ alone.
        """
        if not sums.has("task_pred") or not (sums.has("task") or not self._in_rows):
            return []
        train = self._signs_from(sums)
        pairs = self._measure(train, sums)
        sign = signs_of(pairs, train, sums, fewest=self._fewest).used
        # Does the model reduce the association, or reverse it?
        turned = self._in_rows and pairs.predicted_association(sign) < 0
        return [(sign, self._in_rows), *([(sign, False)] if turned else [])]

    # ------------------------------------------------------------------ what it says

    def _sentence(self, result: AuditResult) -> str:
        return conclusion(result, rates=True) + most_affected(
            result, base=self.base if isinstance(self.base, str) else "own"
        )


# ------------------------------------------------------------------ models with rows of their own


def compares_tables(auditor: Any) -> bool:
    """Whether an auditor measures rates that are compared with those of training rows."""
    if not isinstance(auditor, DirectionalAuditor) or auditor.direction != "A->T":
        return False
    return isinstance(auditor.base, str) and auditor.base == "train" and auditor.sign is None


def compare_tables(
    auditor: Any, tables: Mapping[str, Contingency], reference: str
) -> ComparisonResult:
    """Compare the tables of models with each other, by how far each is from the training rows.

    What all have in common, the training rates, cancels in a difference: it is that of two
    independent tables, in the direction of the training correlations.
    """
    own = {model: auditor.audit(cells) for model, cells in tables.items()}
    sign = own[reference].table.pivot(index="group", columns="task", values="sign")
    between = DirectionalAuditor(**auditor.get_params(deep=False) | {"sign": sign})
    between.fit(as_labels(tables[reference]))
    numbers = {model: numbers_of_model(result) for model, result in own.items()}

    def difference_of(model: str) -> tuple[Mean, Any]:
        gap = between.audit(tables[model])
        table = gap.table.rename(columns={"base": "reference", "delta": "difference"})
        table = table.assign(base=own[model].table["base"], gained=np.nan, lost=np.nan)
        mean = Mean(gap.estimate, gap.low, gap.high, gap.p_value)
        return mean, table[[*_OF_PAIR, *_OF_DIFFERENCE]]

    first = tables[reference]
    result = comparison_result(auditor, first, reference, numbers, difference_of, same_rows=False)
    return replace(result, n_samples=sum(audit.n_samples for audit in own.values()))


directional_amplification = function_of(DirectionalAuditor)
