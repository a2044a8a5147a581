"""What the co-occurrence metrics share: signs from training labels, pairs, intervals, tests."""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils.validation import check_is_fitted

from skbiasamp._compat import StrOptions
from skbiasamp._input import Array, quote
from skbiasamp._warnings import UncertaintyWarning, warn
from skbiasamp._words import CANNOT, DIRECTION_OF
from skbiasamp.contingency import Contingency, SideName
from skbiasamp.inference._assess import assess, warn_uncertain
from skbiasamp.inference._intervals import FEW
from skbiasamp.inference._pairs import Pairs
from skbiasamp.inference._tests import sign_p_values, significant
from skbiasamp.metrics._base import COMMON_CONSTRAINTS, BaseAuditor, as_frame
from skbiasamp.metrics._signs import association_sign
from skbiasamp.results import AuditResult, conclusion, pair_table, uncounted

BASES = ("test", "train")

_NO_INTERVAL = (
    "Each task was summed by itself, so how tasks depend on one another is not known: pairs have "
    "intervals, and their mean has none. For A->T and groups that do not overlap, a fitted auditor "
    "with interval='analytic' has the engine sum what it takes; otherwise count with joint=True, "
    "or read the rows into memory."
)


class CooccurrenceAuditor(BaseAuditor):
    """A metric of pairs of group and task, measured in counts.

    A subclass fills in `_measure`, the formula. Everything else has a default: `_sign` is the sign
    of the training correlation, `_requires` the predictions that are needed.
    """

    kind = "signed"
    reference: str
    y_at_: pd.DataFrame
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "reference": [StrOptions({"train", "test"})],
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        groups: str = "intersection",
        reference: str = "train",
        missing: str = "error",
        pos_label: Any = None,
        interval: str | None = "bootstrap",
        confidence_level: float = 0.95,
        n_resamples: int = 999,
        adjust: str | None = "holm",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.groups = groups
        self.reference = reference
        self.missing = missing
        self.pos_label = pos_label
        self.interval = interval
        self.confidence_level = confidence_level
        self.n_resamples = n_resamples
        self.adjust = adjust
        self.random_state = random_state
        self.n_jobs = n_jobs

    # ------------------------------------------------------------------ what a metric fills in

    @abstractmethod
    def _measure(self, train: Contingency, test: Contingency, **fixed: Any) -> Pairs:
        """Return the pairs: the formula. `train` gives the signs."""

    def _paired(self, train: Contingency, test: Contingency, **fixed: Any) -> Pairs:
        """Return the pairs, compared with the labels of the same rows: what is tested."""
        return self._measure(train, test, **fixed)

    def _fixed(self, train: Contingency, test: Contingency) -> dict[str, Any]:
        """Return what is chosen once, and stays the same in all resamples."""
        return {}

    def _sign(self, labels: Contingency) -> Array:
        """Return the signs of the training correlations, as groups × tasks."""
        return association_sign(labels)

    def _sign_p_values(self, labels: Contingency) -> Array:
        """Test whether the training correlations can be distinguished from 0."""
        return sign_p_values(labels, shares=False)

    # ------------------------------------------------------------------ how it is run

    def _learn(self, cells: Contingency) -> Self:
        super()._learn(cells)
        self.y_at_ = as_frame(self._sign(cells), cells)
        return self

    def _check_fitted(self) -> None:
        if not self._fitted and self.reference != "test":
            check_is_fitted(
                self,
                "contingency_",
                msg=(
                    "This %(name)s has not seen training labels: call fit(y_train, "
                    "sensitive_features=A_train) first, or use reference='test' to take the "
                    "correlations from the labels of the audited rows."
                ),
            )

    def _pairs_of(self, test: Contingency) -> Pairs:
        train = self._signs_from(test)
        pairs = self._measure(train, test, **self._fixed(train, test))
        _warn_undefined(pairs)
        return pairs

    def _value(self, test: Contingency) -> float:
        return self._pairs_of(test).value

    def _result(self, test: Contingency) -> AuditResult:
        train = self._signs_from(test)
        fixed = self._fixed(train, test)
        pairs = self._measure(train, test, **fixed)
        _warn_undefined(pairs)
        columns: dict[str, Array] = {
            name: getattr(pairs, name)
            for name in ("n", "base", "observed", "sign", "delta", "amplification")
        }
        statistics = dict(pairs.statistics)
        if pairs.size:
            statistics["signed_mean"] = pairs.signed_mean
        else:
            statistics["row_weighted"] = pairs.row_weighted
        found: dict[str, Any] = {}
        if self.interval is not None:
            sure = assess(
                partial(self._measure, train, **fixed),
                partial(self._paired, train, **fixed),
                test,
                pairs,
                swaps=self._swaps(test),
                interval=self.interval,
                n_resamples=self.n_resamples,
                confidence_level=self.confidence_level,
                adjust=self.adjust,
                random_state=self.random_state,
                n_jobs=self.n_jobs,
            )
            certain = self._sign_p_values(pairs.seen_in(train)) < 1 - self.confidence_level
            reliable = pairs.n * test.rows_per_weight >= FEW - 1e-9
            columns |= {
                "low": sure.bounds.low,
                "high": sure.bounds.high,
                "p_value": sure.p_value,
                "p_adjusted": sure.p_adjusted,
                "sign_certain": certain,
                "reliable": reliable,
            }
            found = {
                "low": sure.bounds.value_low,
                "high": sure.bounds.value_high,
                "p_value": sure.value_p_value,
            }
            statistics |= sure.bounds.statistics
            warn_uncertain(pairs, certain, reliable)
            if np.isnan(found["low"]) and not np.isnan(pairs.value) and test.summed == "tasks":
                warn(_NO_INTERVAL, UncertaintyWarning)
        return self._made(
            test,
            value=pairs.value,
            table=pair_table(pairs.groups, pairs.tasks, **columns),
            statistics=statistics,
            **found,
        )

    def _signs_from(self, test: Contingency) -> Contingency:
        """Return the labels that give the signs."""
        if self._fitted:
            self._check_groups(self.contingency_)
            if self.reference == "train":
                return self.contingency_
        else:
            self._check_groups(test)
        return test

    def _swaps(self, test: Contingency) -> tuple[SideName, ...]:
        """Return the labels that a permutation test swaps with their predictions."""
        if self.direction is not None:
            return ("group",) if self.direction == "T->A" else ("task",)
        return ("task", "group") if test.has("group_pred") else ("task",)


def _warn_undefined(pairs: Pairs) -> None:
    """Warn once about all undefined pairs of a call."""
    message = describe_undefined(pairs)
    if message is not None:
        warn(message, UndefinedMetricWarning)


def describe_undefined(pairs: Pairs) -> str | None:
    """Say which pairs are undefined: no rows for the group or task they are conditioned on."""
    undefined = np.isnan(pairs.delta)
    if not pairs.delta.size:
        return "no set of tasks occurs often enough in both labels: the value is NaN."
    if not undefined.any():
        return None
    given = "group" if pairs.rates is None else pairs.rates.observed[1]
    condition = "predicted" if given.endswith("_pred") else "audited"
    fate = "count as 0" if pairs.undefined_as_zero else "are left out of the mean"
    sides = [(1, "group", pairs.groups), (0, "task", pairs.tasks)]
    # The side that the rates are conditioned on is the likelier cause: it comes first.
    for axis, kind, names in sides if given == "group" else sides[::-1]:
        whole = np.asarray(undefined.all(axis=axis))
        if (undefined == np.expand_dims(whole, axis)).all():
            gone = [n for n, is_whole in zip(names, whole, strict=True) if is_whole]
            n_pairs = int(undefined.sum())
            one_pair = f"pair is NaN and {fate.replace('are', 'is').replace('count', 'counts')}"
            lost = one_pair if n_pairs == 1 else f"{n_pairs} pairs are NaN and {fate}"
            plural = len(gone) > 1
            return (
                f"no {condition} rows for {kind}{'s' * plural} {quote(gone)}: "
                f"{'their' if plural else 'its'} {lost}."
            )
    which = [
        f"({pairs.groups[i]!r}, {pairs.tasks[j]!r})"
        for i, j in zip(*np.where(undefined), strict=True)
    ]
    shown = ", ".join(which[:5]) + (f" and {len(which) - 5} more" if len(which) > 5 else "")
    return f"{len(which)} pairs of group and task are NaN and {fate}, no {condition} rows: {shown}."


# --------------------------------------------------------------------------- sentences


def largest_change(result: AuditResult) -> tuple[str, Any]:
    """Return the pair that a verdict rests on, if there is one, and how sure it is."""
    table = result.table.dropna(subset=["delta"])
    table = table[~uncounted(table) & (table["delta"] != 0)]
    if table.empty:
        return "No pair of group and task changes.", None
    level = 0.95 if result.confidence_level is None else result.confidence_level
    sure = table[significant(table["p_adjusted"], table["low"], table["high"], level)]
    intro = "Most affected:"
    if sure.empty:
        tested = bool(table[["p_adjusted", "low"]].notna().any(axis=None))
        intro = "No single pair changes significantly. " * tested + "Largest change:"
    likely = table if sure.empty else sure
    direction = DIRECTION_OF.get(result.verdict, 0)
    along = likely[np.sign(likely["sign"] * likely["delta"]) == direction]
    likely = likely if along.empty else along
    return intro, likely.iloc[int(likely["delta"].abs().to_numpy().argmax())]


def unmeasured(result: AuditResult) -> str:
    """Return why there is no amplification to speak of, and what to do."""
    text = conclusion(result)
    if result.verdict == CANNOT:
        text += " Leakage and DPA also measure balanced labels."
    return text
