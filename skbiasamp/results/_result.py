"""The result of one audit: a value, its table of pairs, and what the metric declares."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import MISSING, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from skbiasamp._input.checks import Array, check_count
from skbiasamp._input.errors import InputError
from skbiasamp._utils.formatting import (
    ADDS,
    ASSOCIATION,
    DIRECTION_OF,
    NOT_MEASURED,
    group_of,
    side_of_zero,
)
from skbiasamp.inference.hypothesis_tests import check_share, significant, smallest_effect
from skbiasamp.render.document import Document
from skbiasamp.render.facts import Facts, express
from skbiasamp.results._facts import result_facts
from skbiasamp.results.exports import OfMetric, Shown, of_frame
from skbiasamp.results.kinds import COLUMNS, Kind, row_of, uncounted

# What a result says of the pair that is affected most.
_OF_PAIR = (*COLUMNS[:7], "low", "high", "p_adjusted", "sign")


def first_largest(sizes: Array) -> int:
    """Return where a size is first the largest: the last digits of equal ones are noise."""
    return int((sizes >= sizes.max() * (1 - 1e-12)).argmax())


class _Later:
    """A field that is made when it is read, if it is to be: most are never read."""

    def __init__(self, default: Any) -> None:
        self.default = default

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, result: Any, owner: type) -> Any:
        if result is None:
            return self.default
        value = result.__dict__.pop(f"_{self.name}")(result)
        result.__dict__[self.name] = value
        return value


@dataclass(frozen=True, eq=False, repr=False)
class AuditResult(Shown, OfMetric):
    """Result of one audit: amplification, interval, test and a table of pairs.

    An auditor's ``audit`` returns it; ``float(result)`` is the value.

    Attributes
    ----------
    metric : str
        The metric's name, such as "MALS" or "directional".
    direction : str or None
        "A->T" (does the group shift the predicted task?), "T->A" (does the task shift the
        predicted group?), or None if the metric has no direction.
    value : float
        The judged number (`estimand` says it in a sentence): how much further group and task are
        associated in the predictions than in the labels, in the direction of the labels.
    low, high : float
        Confidence interval of the value, NaN if there is none.
    confidence_level : float or None
        Level of the interval, None if none was requested.
    p_value : float
        p-value of the test of `null`, the hypothesis that the value is 0. It is below
        1 − confidence_level if the interval excludes 0. NaN if there is none.
    n_samples : int or float
        Audited rows, or the sum of their weights.
    table : DataFrame
        One row for each pair of group and task, with its ``amplification``; co-occurrence metrics
        have all of these: ``n`` (rows that the rates are conditioned on),
        ``base`` and ``observed`` (the rate before and after prediction), ``delta`` (observed −
        base), ``change`` (`delta` compared with that of all rows), ``sign`` (of the training
        correlation), ``sign_weight`` (−1 to 1: the sign, as far as the labels are sure of it),
        ``amplification`` (what the pair adds to the mean that is the value), ``low`` and
        ``high`` (of `change`), ``p_value`` (Student's t test of `change`) and ``p_adjusted``,
        ``low_simultaneous`` and ``high_simultaneous`` (of `change`, for all pairs at once),
        ``direction_clear`` (whether the labels show the direction of the pair) and ``reliable``
        (whether there are 10 rows or more). NaN if a pair is undefined.
    params : dict
        The auditor's parameters.
    statistics : dict
        Further numbers of the metric: ``standard_error`` and ``degrees_of_freedom`` of the value,
        ``shift`` (a task, or a group, is predicted more often for everybody) and ``selection``
        (what signs add that were read from the audited labels), so that ``published = value +
        shift + selection``, and others.
    verdict : str
        What the interval of the value says, in a fixed vocabulary: "amplifies" (it lies above 0),
        "reduces" (below 0), "reverses" (below 0, and groups clearly differ in the predictions in
        the opposite direction), "adds a difference" (the labels show no clear difference, the
        predictions do), "no clear effect" (it includes 0) or "not measured" (undefined, or without
        an interval). For attackers: "reveals more", "reveals less", "no clear effect" or "not
        measured".
    published : float
        What the formula of the metric's paper gives, at the signs of the labels that were given.
        It is `value` if the metric has no other formula.
    published_low, published_high : float
        Confidence interval of `published`, NaN if there is none.
    kind : {"signed", "size", "attack"}
        How value and pairs are read: a signed mean, a mean whose published value has no
        direction, or the gain of an attacker.
    question : str
        The question that the metric answers.
    definition : str
        What the metric measures, in a sentence or two.
    rank : int
        Rank among the results of a report; the lowest one that can be measured is its primary
        result.
    columns : dict of str to str
        What each pair compares: columns of the table, and their headings.
    uncounted : str
        Why a pair without a sign adds 0 to the value.
    amplified : str
        What the model amplifies or reduces, by the verdict.
    pair_of : tuple of two str
        What a row of the table is about: a group and a task, or what the metric has in their place.
    settings : tuple of str
        Names of the parameters that are not at their default.
    percent : bool
        Whether these columns are shares of 1.
    unit : str
        Unit of the value and of each pair's amplification; empty if they are changes of shares.
    group_columns : tuple
        Names of the sensitive columns that make the groups, empty if unknown.
    about : str
        What an attacker guesses, if the verdict is that predictions reveal more or less.
    guessed_from : str
        What the attacker sees, if it is not the predictions.
    baseline : str
        What an attacker on the model's predictions is compared with.
    citation : str
        BibTeX entry of the metric's paper; empty if there is none.
    words : DataFrame or None
        The words by which attackers on texts recognise each ``target``: their ``source`` (human
        or model texts), ``weight`` in a linear attacker, and the ``share`` of texts of the
        target that have the word, and of the others (``share_others``). None if there are none.

    Examples
    --------
    >>> from skbiasamp import DirectionalAuditor
    >>> sex = ["f"] * 400 + ["m"] * 400
    >>> hired = [1] * 100 + [0] * 300 + [1] * 200 + [0] * 200
    >>> predicted = [1] * 60 + [0] * 340 + [1] * 250 + [0] * 150
    >>> auditor = DirectionalAuditor().fit(hired, sensitive_features=sex)
    >>> result = auditor.audit(hired, predicted, sensitive_features=sex)
    >>> round(float(result), 4)
    0.1125
    >>> result.verdict, round(result.low, 4), round(result.high, 4)
    ('amplifies', 0.0901, 0.1349)
    >>> columns = ["group", "base", "observed", "change", "low", "high", "amplification"]
    >>> result.table[columns].round(4)
      group  base  observed  change     low    high  amplification
    0     f  0.25     0.150 -0.1125 -0.1365 -0.0885         0.1125
    1     m  0.50     0.625  0.1125  0.0885  0.1365         0.1125
    """

    _last = ("sentence", "words", "affected", "table")

    metric: str
    direction: str | None
    value: float
    low: float
    high: float
    confidence_level: float | None
    p_value: float
    n_samples: float
    table: pd.DataFrame
    if not TYPE_CHECKING:  # it is no default
        table = _Later(MISSING)
    params: dict[str, Any]
    statistics: dict[str, Any] = field(default_factory=dict)
    kind: Kind = Kind.SIGNED
    question: str = ""
    definition: str = ""
    rank: float = 9
    columns: Mapping[str, str] = field(default_factory=dict)
    percent: bool = True
    unit: str = ""
    uncounted: str = ""
    amplified: str = ASSOCIATION
    pair_of: tuple[str, str] = ("group", "task")
    settings: tuple[str, ...] = ()
    group_columns: tuple[Hashable, ...] = ()
    about: str = "the group"
    guessed_from: str = ""
    baseline: str = "equally accurate random labels"
    words: pd.DataFrame | None = None
    verdict: str = ""
    published: Any = None  # the value
    published_low: float = _Later(math.nan)  # type: ignore[assignment]
    published_high: float = _Later(math.nan)  # type: ignore[assignment]
    estimand: str = ""
    null: str = ""
    citation: str = ""

    def __post_init__(self) -> None:
        if self.published is None:
            object.__setattr__(self, "published", self.value)
        if not self.verdict:  # labels have no directions to ask for
            verdict = self.kind.verdict(side_of_zero(*self.judged), self.statistics)
            unknown = math.isnan(self.value)
            object.__setattr__(self, "verdict", NOT_MEASURED if unknown else verdict)

    def __float__(self) -> float:
        return float(self.value)

    def __getstate__(self) -> dict[str, Any]:
        # In this order: reading them makes them.
        made = ("table", "published_low", "published_high")
        return {name: getattr(self, name) for name in made} | self.__dict__

    @cached_property
    def facts(self) -> Facts:
        """What the result tells, as numbers and names."""
        return result_facts(self)

    @property
    def sentence(self) -> str:
        """What the result says: verdict, how much changes, and how sure that is."""
        return express("audit", "verdict", self.facts)

    @property
    def labelled(self) -> bool:
        """Whether the audited rows have labels.

        If not, they are compared with other rows, the reference, as generated rows with real ones.
        """
        return bool(self.statistics.get("labelled", True))

    @property
    def differs(self) -> bool:
        """Whether value and published value are two numbers, to four digits."""
        return not math.isnan(self.value) and abs(self.published - self.value) >= 5e-5

    def _column(self, name: str, otherwise: float) -> Array:
        """Return a column of numbers; pandas takes ten times as long to compute with it."""
        if name in self.table:
            return np.asarray(self.table[name], dtype=float)
        return np.full(max(len(self.table), 1), otherwise)

    @property
    def judged(self) -> tuple[float, float, float]:
        """The value with its interval, which the verdict is about."""
        return self.value, self.low, self.high

    @cached_property
    def affected(self) -> dict[str, Any] | None:
        """The pair of group and task that is affected most: a row of ``table``, or None.

        The largest change, less what three or more groups share, of significant pairs if there are
        any, of those that change in the direction of the verdict if there are any, and of those
        whose sign is certain if there are any and the verdict has a direction. ``significant`` says
        whether the pair differs from 0 by its adjusted p-value, or by its interval without one.
        """
        sign, amplification, p_adjusted, low, high = (
            self._column(name, math.nan)
            for name in ("sign", "amplification", "p_adjusted", "low", "high")
        )
        change = self._column("change", math.nan)
        pairs = np.flatnonzero(~uncounted(self.table) & (np.abs(change) > 0))
        if self.kind.has_attacker or not pairs.size:
            return None
        level = 0.95 if self.confidence_level is None else self.confidence_level
        sure = significant(p_adjusted[pairs], low[pairs], high[pairs], level)
        pairs = pairs[sure] if sure.any() else pairs
        along = pairs[np.sign(sign * change)[pairs] == DIRECTION_OF.get(self.verdict, 0)]
        pairs = along if along.size else pairs
        clear = pairs[self._column("direction_clear", 1.0)[pairs] != 0]
        pairs = clear if clear.size and self.verdict != ADDS else pairs
        # Numeric tasks have units of their own, in which changes cannot be compared.
        size = np.abs(change if self.percent else amplification)[pairs]
        at = int(pairs[first_largest(size)])
        columns = {name: self.table[name] for name in _OF_PAIR if name in self.table}
        pair = {name: columns[name].iloc[at] if name in columns else math.nan for name in _OF_PAIR}
        return {**pair, "significant": bool(sure.any())}

    def worst(self) -> dict[str, Any]:
        """Return the pair that changes most, with an interval that is valid for it.

        The largest of many changes is too large on average, and its own interval does not say so:
        intervals that hold for all pairs at once do.

        Returns
        -------
        worst : dict
            ``group``, ``task`` and ``change`` of the pair with the largest change in either
            direction, ``low`` and ``high``, its simultaneous interval, and ``n_changed``, the
            number of pairs whose simultaneous interval excludes 0.
        """
        if "low_simultaneous" not in self.table or self.confidence_level is None:
            raise InputError("There are no simultaneous intervals: audit with an interval.")
        known = self.table[self.table["change"].notna()].reset_index(drop=True)
        if known.empty:
            text = "No pair is defined, so none is the worst: see {name}.table."
            raise InputError(text, name="result")
        pair = row_of(known, first_largest(known["change"].abs().to_numpy()))
        low, high = (known[f"{end}_simultaneous"] for end in ("low", "high"))
        return {
            **{name: pair[name] for name in ("group", "task", "change")},
            "low": pair["low_simultaneous"],
            "high": pair["high_simultaneous"],
            "n_changed": int(((low > 0) | (high < 0)).sum()),
        }

    def smallest_effect(self, power: float = 0.8) -> float:
        """Return the smallest amplification that this audit finds with a probability of `power`.

        An effect is found if its interval excludes 0. The number says what "no clear effect" can
        hide. `skbiasamp.inference.required_rows` computes the rows that a smaller one needs.

        Parameters
        ----------
        power : float, default=0.8
            Probability that it is found.

        Returns
        -------
        effect : float
            NaN if there is no interval.
        """
        power = check_share("power", power)
        _, low, high = self.judged
        return smallest_effect(low, high, power=power, confidence_level=self.confidence_level)

    def sensitivity(self) -> pd.DataFrame:
        """Return how wrong labels, or the rates that a model is compared with, may be.

        The verdict *amplifies*, *reduces* or *reverses* says that the interval excludes 0. It would
        include 0 if enough labels of one group were wrong in the same direction, or if a rate of
        your own `base` were off by as much. The predictions, the signs and the width of the
        interval are taken as they are; wrong labels make it somewhat wider too. If there are
        several classes, a wrong label moves two: the other one is taken that matters most.

        Returns
        -------
        table : DataFrame
            ``group``, ``task`` and ``n``; ``label`` ("too often": the group is labelled so in more
            rows than is true; "too rarely": in fewer); ``share`` of the group's labels, smallest
            first. NaN
            if no such errors are enough, or if the verdict is another one. The first row, "(all)",
            is about all pairs at once: the verdict holds if no rate is off by more than ``share``.

        Examples
        --------
        The verdict holds unless the labels of 18 % of the women, or of the men, are wrong, and if
        both rates are off by less than 9 percentage points:

        >>> from skbiasamp import DirectionalAuditor
        >>> sex = ["f"] * 400 + ["m"] * 400
        >>> hired = [1] * 100 + [0] * 300 + [1] * 200 + [0] * 200
        >>> predicted = [1] * 60 + [0] * 340 + [1] * 250 + [0] * 150
        >>> auditor = DirectionalAuditor().fit(hired, sensitive_features=sex)
        >>> auditor.audit(hired, predicted, sensitive_features=sex).sensitivity().round(3)
           group   task    n       label  share
        0  (all)  (all)  800      either   0.09
        1      f      1  400   too often   0.18
        2      m      1  400  too rarely   0.18
        """
        if not self._bears_errors:
            raise InputError(
                "{name} needs changes of rates, A->T, of groups that do not overlap (with "
                "base='train' of two groups); got a result of {seen}.",
                name="sensitivity",
                seen=self.name,
            )
        pairs = self._defined
        ends = np.array([self.low, self.high])
        distance = ends[np.abs(ends).argmin()] if self.verdict in DIRECTION_OF else math.nan
        # A label that changes moves the rate of its group, and by its share that of everybody.
        total = pairs.groupby("task", sort=False)["sign_weight"].transform("sum")
        slope = (pairs["sign_weight"] - pairs["n"] / self.n_samples * total) / len(pairs)
        slope, base = slope * (1 if distance > 0 else -1), pairs["base"].to_numpy(float)
        too_low = (slope > 0).to_numpy()
        possible, moves = np.where(too_low, 1 - base, base), np.abs(slope).to_numpy()
        of_groups = pairs.groupby("group", sort=False)
        exclusive, group = np.allclose(of_groups["base"].sum(), 1), of_groups.ngroup().to_numpy()
        slopes, shares = slope.to_numpy(), []
        for i in range(len(pairs)):
            gains, labels = moves[i : i + 1], possible[i : i + 1]
            if exclusive:  # a wrong label is taken from one class and added to another
                others = group == group[i]
                gains = (
                    slopes[i] - slopes[others] if too_low[i] else (slopes[others] - slopes[i]).max()
                )
                labels = base[others] if too_low[i] else labels
            shares.append(_least(abs(distance), np.atleast_1d(gains), labels))
        # All rates at once: each moves as far as the others, or to 0 or 1.
        steps = np.unique([0.0, *possible])
        reached = [moves @ np.minimum(possible, step) for step in steps]
        every = np.interp(abs(distance), reached, steps, right=math.nan)
        table = pairs[["group", "task", "n"]].assign(
            label=np.where(too_low, "too rarely", "too often"),
            share=shares,
        )
        table = table.sort_values("share", kind="stable")
        whole = pd.DataFrame([("(all)", "(all)", self.n_samples, "either", every)])
        return pd.concat([whole.set_axis(table.columns, axis=1), table], ignore_index=True)

    @property
    def _bears_errors(self) -> bool:
        """Whether it is known how the value follows each rate of its base."""
        base = self.params.get("base")
        rates = self.kind.is_signed and self.percent and self.direction == "A->T"
        if base is None or not rates:
            return False
        by_task = self._defined.groupby("task", sort=False)
        if self._defined.empty or not np.allclose(by_task["n"].sum(), self.n_samples):
            return False
        # The overall rate moves by the group's share. Training rows have other shares, which do
        # not matter if the signs of a task add up to 0, as those of two groups do.
        from_training = isinstance(base, str) and base == "train"
        return not from_training or bool((by_task["sign_weight"].sum() == 0).all())

    @property
    def _defined(self) -> pd.DataFrame:
        table = self.table
        return table[table["amplification"].notna()] if "sign_weight" in table else table[:0]

    def group_name(self, group: Any) -> str:
        """Return a group as text: "sex = Female, race = Black" if the columns are known.

        Parameters
        ----------
        group : hashable
            A group, as in ``table["group"]``.

        Returns
        -------
        text : str
        """
        return group_of(group, self.group_columns)

    def strongest(self, n: int = 10) -> pd.DataFrame:
        """Return the `n` pairs with the largest amplification, strongest first.

        Parameters
        ----------
        n : int, default=10
            How many rows.

        Returns
        -------
        table : DataFrame
        """
        check_count("n", n, least=0)
        order = self.table["amplification"].abs().sort_values(ascending=False, kind="stable")
        return self.table.loc[order.index[:n]]

    def to_document(self) -> Document:
        """Return value and strongest pairs as plain data, which renderers show.

        Returns
        -------
        document : Document
        """
        return of_frame(_title(self), _shown(self), _remarks(self))

    def to_frame(self) -> pd.DataFrame:
        """Return the table of pairs, with metric and direction as first columns.

        Returns
        -------
        frame : DataFrame
            A copy.
        """
        frame = self.table.copy()
        frame.insert(0, "metric", self.metric)
        frame.insert(1, "direction", self.direction)
        return frame


# --------------------------------------------------------------------------- as text

_MOST = 10  # pairs
_FLAGS = {
    "direction_clear": "no clear direction in the labels",
    "reliable": "fewer than 10 rows",
}


def _title(result: AuditResult) -> str:
    value = "undefined" if math.isnan(result.value) else f"{result.value:+.4f}"
    text = f"{result.name}: {value}"
    if not math.isnan(result.low):
        text += f" [{result.low:+.4f}, {result.high:+.4f}]"
    if not math.isnan(result.p_value):
        text += f", p = {result.p_value:.3g}"
    rows = f"{result.n_samples:,.15g} row{'s' * (result.n_samples != 1)}"
    if "attacker" in result.statistics:
        return f"{text} ({rows}, {result.statistics['attacker']} attacker)"
    group, task = result.pair_of
    if all(isinstance(task, tuple) for task in result.table["task"]):
        task = "set of tasks"
    counts = []
    for side, what in (("group", group), ("task", task)):
        if list(result.table[side].unique()) != ["(all)"]:
            n, (first, *rest) = result.table[side].nunique(), what.split(" ")
            counts.append(" ".join([f"{n} {first}{'s' * (n != 1)}", *rest]))
    return f"{text} ({', '.join([rows, *([' x '.join(counts)] if counts else [])])})"


def _shown(result: AuditResult) -> pd.DataFrame:
    """Return what fits a screen: the strongest pairs, and only columns that say something."""
    table = result.table if len(result.table) <= _MOST else result.strongest(_MOST)
    apart = uncounted(table)
    empty = table.columns[table.isna().all()].difference(["group", "task"])
    table = table.drop(columns=empty)
    if table["group"].map(lambda group: isinstance(group, tuple)).any():
        table = table.assign(group=[result.group_name(group) for group in table["group"]])
    hidden = table.columns.intersection(["amplification", "low", "high", "p_value"])
    if apart.any():
        table = table.assign(**{name: table[name].mask(apart) for name in hidden})
    # One p-value is enough to see, and a flag only where it is raised.
    counted = table[~apart]
    lowered = [flag for flag in _FLAGS if flag in table and counted[flag].all()]
    again = ["p_adjusted", "low_simultaneous", "high_simultaneous"]
    known = "sign_weight" in table and (table["sign_weight"] == table["sign"]).all()
    if known:
        again.append("sign_weight")
    alike = "change" in table and np.allclose(table["change"], table["delta"], equal_nan=True)
    if alike:
        again.append("change")
    return table.drop(columns=[*again, *lowered], errors="ignore")


def _remarks(result: AuditResult) -> list[str]:
    """Return how many pairs are not shown, and how many are flagged."""
    n, counted = len(result.table), ~uncounted(result.table)
    remarks = [f"(the strongest {_MOST} of {n:,} pairs)"] if n > _MOST else []
    for flag, what in _FLAGS.items():
        # NaN is no flag.
        raised = sum(value is False for value in result.table.loc[counted].get(flag, ()))
        if raised:
            remarks.append(f"({raised:,} of {n:,} pairs: {what}, {flag}=False)")
    if result.differs and not math.isnan(result.published):
        remarks.append(express("page", "stat_published", result.facts))
    return remarks


# --------------------------------------------------------------------------- wrong labels


def _least(distance: float, gains: Array, labels: Array) -> float:
    """Return the least share of labels that is worth a distance: those that gain most come first.

    `labels` are the shares that there are of each gain.
    """
    order = np.argsort(-gains)[: int((gains > 1e-12).sum())]
    reached = np.cumsum(np.append(0, gains[order] * labels[order]))
    if not distance <= reached[-1]:
        return math.nan
    return float(np.interp(distance, reached, np.cumsum(np.append(0, labels[order]))))
