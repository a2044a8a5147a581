"""Gates: whether what a report says lies within a limit."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from skbiasamp._input.checks import Array, check_option
from skbiasamp._input.errors import InputError, InputTypeError, meant, quote
from skbiasamp._utils import formatting as words
from skbiasamp._utils.formatting import group_of, name_of, printable, task_of
from skbiasamp.inference.hypothesis_tests import smallest_effect
from skbiasamp.render.facts import express, that_decides
from skbiasamp.results._comparison import ComparisonResult
from skbiasamp.results.exports import Exported

PASSED, FAILED, UNDEFINED = "passed", "failed", words.NOT_MEASURED
# With this probability the rows that are named decide, if the value is the truth.
_POWER = 0.8
_UNDIRECTED = ", no direction in the labels"  # of the verdict on a pair
_JUDGED = ["change", "low_simultaneous", "high_simultaneous"]  # of a pair


@dataclass(frozen=True)
class GateCheck:
    """One number that was compared with a limit.

    Attributes
    ----------
    name : str
        The result, the model of a comparison, or the worst pair.
    value, low, high : float
        The number with its confidence interval. If the verdict is *adds a difference*, the largest
        change of a pair, with an interval that holds for all pairs at once. With bounds of rows
        without a group, ends that hold in whatever groups these are, if they decide.
    confidence_level : float
        Level of the interval.
    verdict : str
        The verdict of the result.
    outcome : {"passed", "failed", "inconclusive", "not measured"}
        "passed": the whole interval lies within the limit. "failed": the whole interval lies
        outside, or the model reverses the association. "inconclusive": neither. "not measured":
        there is no interval, or names of labels or groups are misspelt, so that it is wrong.
    rows : float
        If inconclusive, the number of rows that decides with a probability of 80 %, if the value
        is the truth; inf if the value lies on the limit. Else NaN.
    sentence : str
        What the result says.
    n_samples : float
        The rows that were audited. Fewer than 30 cannot tell how many would decide.
    missing : tuple of str
        Groups of the training labels that have no audited rows: the check is then inconclusive.
    pair : str
        The group and task whose change is compared with the limit, if the labels have no direction
        in which a value could be small.

    Examples
    --------
    >>> import skbiasamp
    >>> sex = ["f"] * 400 + ["m"] * 400
    >>> hired = [1] * 100 + [0] * 300 + [1] * 200 + [0] * 200
    >>> report = skbiasamp.audit(hired, hired, sensitive_features=sex, random_state=0)
    >>> (check,) = report.gate(0.02).checks
    >>> check.outcome
    'passed'
    """

    name: str
    value: float
    low: float
    high: float
    confidence_level: float
    verdict: str
    outcome: str
    rows: float
    sentence: str
    n_samples: float = math.nan
    missing: tuple[str, ...] = ()
    pair: str = ""

    def __str__(self) -> str:
        needed = express("gate", "needed", self) if self.outcome == words.INCONCLUSIVE else ""
        return express("gate", "check", self, needed)


@dataclass(frozen=True)
class Gate(Exported):
    """What a gate says of a report. It is true if the report passed.

    Attributes
    ----------
    limit : float
        The smallest effect that matters.
    one_sided : bool
        Whether only what the model adds is limited, not what it takes.
    checks : tuple of GateCheck
        What was compared with the limit.

    Examples
    --------
    >>> import skbiasamp
    >>> sex = ["f"] * 400 + ["m"] * 400
    >>> hired = [1] * 100 + [0] * 300 + [1] * 200 + [0] * 200
    >>> predicted = [1] * 60 + [0] * 340 + [1] * 250 + [0] * 150
    >>> report = skbiasamp.audit(hired, predicted, sensitive_features=sex, random_state=0)
    >>> gate = report.gate(0.02)
    >>> gate.outcome
    'failed'
    >>> bool(gate)
    False
    """

    limit: float
    one_sided: bool
    checks: tuple[GateCheck, ...]

    @property
    def outcome(self) -> str:
        """The worst outcome of the checks: failed, not measured, inconclusive or passed."""
        return _worst(check.outcome for check in self.checks)

    def with_outcome(self, outcome: str) -> list[GateCheck]:
        """Return the checks that ended so.

        Parameters
        ----------
        outcome : {"passed", "failed", "inconclusive", "not measured"}
            As `GateCheck.outcome`.

        Returns
        -------
        checks : list of GateCheck
        """
        check_option("outcome", outcome, (PASSED, FAILED, words.INCONCLUSIVE, UNDEFINED))
        return [check for check in self.checks if check.outcome == outcome]

    def __bool__(self) -> bool:
        return self.outcome == PASSED

    def _word(self, check: GateCheck) -> str | None:
        """Return what a check's interval says of the limit: a model that reverses fails anyway."""
        if check.verdict != words.REVERSES:
            return words.LIMITED.get(check.outcome)
        limit = Limit(self.limit, self.one_sided)
        return words.LIMITED.get(limit.outcome(check.low, check.high))

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each check.

        Returns
        -------
        frame : DataFrame
        """
        return pd.DataFrame([asdict(check) for check in self.checks])

    @property
    def sentence(self) -> str:
        """The outcome as a sentence, with the reason."""
        return self.sentence_of(self.outcome)

    def sentence_of(self, outcome: str) -> str:
        """Return what an outcome means here.

        Parameters
        ----------
        outcome : {"passed", "failed", "inconclusive", "not measured"}
            As `GateCheck.outcome`.

        Returns
        -------
        text : str
        """
        checks = self.with_outcome(outcome)
        names: dict[str, list[str]] = {"above": [], "below": [], "undirected": [], "reversing": []}
        for check in checks:
            # A pair may change downwards by a model that adds a difference.
            sided = words.SIDE_OF.get(check.verdict, "below") == "below"
            sided &= not check.verdict.endswith(_UNDIRECTED)
            side = "above" if check.value >= 0 else "below" if sided else "undirected"
            names["reversing" if check.verdict == words.REVERSES else side].append(check.name)
        lacking = tuple(dict.fromkeys(group for check in checks for group in check.missing))
        every = [check.name for check in checks if not check.missing]
        known = [each for each in checks if each.outcome == UNDEFINED and not math.isnan(each.low)]
        wrong = known[0].sentence if known else ""
        return express("gate", "outcome", self, outcome, every, wrong, lacking, *names.values())

    def __repr__(self) -> str:
        return printable("\n".join([self.sentence, *(f"  {check}" for check in self.checks)]))


class Limit(NamedTuple):
    """The smallest effect that matters, in one direction or in both."""

    size: float
    one_sided: bool

    @classmethod
    def checked(cls, size: Any, one_sided: bool) -> Limit:
        """Return a limit that a caller gives, or raise."""
        number = isinstance(size, int | float | np.number) and not isinstance(size, bool)
        try:
            value = float(size) if number else math.nan
        except OverflowError:  # a whole number beyond floats
            value = math.nan
        if not 0 <= value < math.inf:
            raise InputTypeError("{limit} must be a number of 0 or more; got {seen!r}.", seen=size)
        return cls(value, one_sided)

    def check_reached(self, name: str, measured: Any) -> None:
        """Raise if a result, or what an auditor measures, is a share and cannot be so large."""
        if measured.percent and self.size > 1:
            raise InputError(
                "{limit} is {seen:g}, and {name} cannot be larger than 1: two percentage points "
                "are 0.02.",
                seen=self.size,
                name=name,
            )

    def outcome(self, low: float, high: float) -> str:
        """Return whether an interval lies within the limit, outside, or neither."""
        if math.isnan(low) or math.isnan(high):
            return UNDEFINED
        least = -math.inf if self.one_sided else -self.size
        if low > self.size or high < least:
            return FAILED
        return PASSED if least <= low and high <= self.size else words.INCONCLUSIVE

    def word(self, low: float, high: float) -> str:
        """Return what an interval says of the limit."""
        return words.LIMITED.get(self.outcome(low, high), words.NOT_MEASURED)

    def rows(self, result: Any, value: float, low: float, high: float) -> float:
        """Return how many rows decide, if the value is the truth."""
        distance = abs((value if self.one_sided else abs(value)) - self.size)
        level = result.confidence_level or 0.95
        least = smallest_effect(low, high, power=_POWER, confidence_level=level)
        return float(result.n_samples * (least / distance) ** 2) if distance > 0 else math.inf


def _worst(outcomes: Iterable[str]) -> str:
    return min(outcomes, key=(FAILED, UNDEFINED, words.INCONCLUSIVE, PASSED).index)


def gate_of(
    results: Mapping[str, Any],
    limit: float,
    *,
    on: str | Sequence[str] | None,
    one_sided: bool,
    primary: str | None = None,
) -> Gate:
    """Compare results with a limit: of audits their values, of comparisons the differences.

    Unless `on` names some, these are the first by rank and the one that gives the verdict.
    """
    named = [on] if isinstance(on, str) else on
    listing = isinstance(named, list | tuple) and named
    if named is not None and not (listing and all(isinstance(name, str) for name in named)):
        raise InputTypeError("{on} must be the name of a result; got {seen!r}.", seen=on)
    allowed = Limit.checked(limit, one_sided)
    if not results:
        text = "{limit} needs a result of a metric, and this report has none: pass labels."
        raise InputError(text)
    pairs = named is not None and "worst" in map(str.casefold, named)
    others = None if named is None else [name for name in named if name.casefold() != "worst"]
    checks: list[GateCheck] = []
    if pairs:
        checks += [_worst_pair(name, results[name], allowed) for name in _chosen(results, None)]
    if others or not pairs:
        names = _chosen(results, others)
        if others is None and primary is not None and primary not in names:
            names += _chosen(results, [results[primary].metric])
        for name in names:
            checks += _values(name, results[name], allowed)
    return Gate(allowed.size, one_sided, tuple(checks))


def _chosen(results: Mapping[str, Any], named: Iterable[str] | None) -> list[str]:
    """Return the results to check: those of the first metric, or those with a name or metric."""
    if named is None:
        first = min(results.values(), key=lambda result: result.rank).metric
        return [name for name, result in results.items() if result.metric == first]
    chosen: dict[str, None] = {}
    for wanted in named:
        key = wanted.casefold()
        names = [
            name
            for name, result in results.items()
            if key in ("all", name.casefold(), result.name.casefold(), result.metric.casefold())
        ]
        if not names:
            raise InputError(
                "{on} must name a result of the report; got {seen!r}{meant} It has {names}.",
                seen=wanted,
                meant=meant(wanted, results),
                names=quote(list(results)),
            )
        chosen |= dict.fromkeys(names)
    return list(chosen)


def _values(name: str, result: Any, limit: Limit) -> Iterator[GateCheck]:
    """Yield the check of a result, or of each model that is compared."""
    limit.check_reached(name, result)
    if not isinstance(result, ComparisonResult):
        check = None
        # No effect beside an interval without 0: folds of balanced labels, whose values say less
        # than the changes.
        excluded = result.low > 0 or result.high < 0
        unclear = not _are_clear(result.table).any()  # no pair has a sign
        if result.verdict == words.ADDS or (
            result.verdict == words.NO_EFFECT
            and ((excluded and unclear) or result.low == result.high)
        ):
            check = _added(name, result, result.table, result.verdict, "", limit)
        if check is None:
            sure = result.verdict != words.NO_EFFECT
            check = _checked(name, result, result.judged, result.verdict, "", limit, sure=sure)
        # What is said of the value has its limit beside it, in the same unit.
        limited = replace(
            result.facts, limit=limit.size, limit_verdict=words.LIMITED.get(check.outcome)
        )
        check = replace(check, sentence=express("audit", "verdict", limited))
        # A check does not pass if groups of the training labels were not audited.
        missing = tuple(map(result.group_name, result.statistics.get("missing_groups", ())))
        if check.outcome == PASSED and missing:
            check = replace(check, outcome=words.INCONCLUSIVE, missing=missing)
        yield check
        return
    clear_word = result.kind.verdict_of_difference("above")
    for model, verdict in result.verdicts.items():
        judged, own = result.judged(model), (verdict, result.sentence(model))
        title = f"{name}, {name_of(model)}"
        unsigned = judged[1] == judged[2]
        # What a model adds less is within a limit on one side.
        if (
            unsigned
            or verdict == words.ADDS_MORE
            or (verdict == words.ADDS_LESS and not limit.one_sided)
        ):
            pairs = result.pairs[result.pairs["model"] == model]
            added = _added(title, result, pairs, *own, limit)
            if added is not None:
                yield added
                continue
        # Above the limit by its interval alone: the test that is adjusted for several models finds
        # no difference.
        sure = judged[1] <= 0 or verdict in (clear_word, words.ADDS_MORE)
        yield _checked(title, result, judged, *own, limit, sure=sure)


def _added(
    name: str, result: Any, table: pd.DataFrame, verdict: str, sentence: str, limit: Limit
) -> GateCheck | None:
    """Return the check of a model that adds a difference: of the changes, not of the value.

    The labels show no direction in which a value could be small.
    """
    if "low_simultaneous" not in table or table["change"].isna().all():
        return None
    both = Limit(limit.size, one_sided=False)  # changes of a pair have no direction either
    known = table[table["low_simultaneous"].notna()]
    numbers = known[_JUDGED].to_numpy(float).tolist()
    intervals = [(low, high) for _, low, high in numbers]
    outcome = _worst([both.outcome(low, high) for low, high in intervals])
    at = that_decides(intervals, outside=outcome == FAILED)
    check = _checked(name, result, numbers[at], verdict, sentence, both)
    return replace(check, outcome=outcome, pair=_pair_of(result, known.iloc[at]))


def _checked(
    name: str,
    result: Any,
    judged: Sequence[float],
    verdict: str,
    sentence: str,
    limit: Limit,
    *,
    sure: bool = True,
) -> GateCheck:
    """Return a number compared with a limit; outside, it fails only if its test is `sure` too."""
    value, low, high = judged
    outcome, rows = limit.outcome(low, high), math.nan
    if verdict == words.REVERSES:
        outcome = FAILED
    elif outcome == FAILED and not sure:
        outcome = words.INCONCLUSIVE
    elif outcome == words.INCONCLUSIVE:
        rows = limit.rows(result, value, low, high)
    level = result.confidence_level or 0.95
    return GateCheck(
        name, value, low, high, level, verdict, outcome, rows, sentence, result.n_samples
    )


def _worst_pair(name: str, result: Any, limit: Limit) -> GateCheck:
    """Return the check of all pairs, by intervals that hold at once: it shows the worst one."""
    if isinstance(result, ComparisonResult):
        raise InputError("{on} worst checks the pairs of one model: audit one model.")
    if "low_simultaneous" not in result.table:
        raise InputError(
            "{on} worst needs intervals that hold for all pairs at once, and {name} has none. Pass "
            "an auditor of pairs of group and task, and rows to count.",
            name=name,
        )
    limit.check_reached(name, result)
    pairs = list(_directed(result.table, _JUDGED[1:]))
    # A gap grows by more for the group that is ahead, and by less for the one that is behind.
    limits = [limit if sign else Limit(limit.size, one_sided=False) for sign, _ in pairs]
    outcomes = [
        allowed.outcome(low, high)
        for allowed, (_, (_, low, high)) in zip(limits, pairs, strict=True)
    ]
    outcome = _worst(outcomes)
    sizes = [
        -math.inf if each != outcome else value if allowed.one_sided else abs(value)
        for each, allowed, (_, (value, *_)) in zip(outcomes, limits, pairs, strict=True)
    ]
    at = int(np.argmax(np.nan_to_num(sizes, nan=0.0, neginf=-math.inf)))
    (sign, judged), n = pairs[at], outcomes.count(FAILED)
    verdict = f"{n} pair{'s' * (n != 1)} outside the limit"
    if result.verdict == words.REVERSES:
        verdict = words.REVERSES
    elif not sign:
        verdict += _UNDIRECTED
    grows = "; growth of its gap" if sign and outcome != UNDEFINED else ""
    title = f"worst pair of {name} ({_pair_of(result, result.table.iloc[at])}{grows})"
    return _checked(title, result, judged, verdict, result.sentence, limits[at])


def _pair_of(result: Any, row: Any) -> str:
    return f"{group_of(row['group'], result.group_columns)}, {task_of(row['task'])}"


def _directed(
    table: pd.DataFrame, ends: Sequence[str]
) -> Iterator[tuple[float, tuple[float, float, float]]]:
    """Yield the direction of each pair, and its change with ends in this direction.

    It is 0 if labels are not sure of it: the change is then as it stands.
    """
    signs = np.sign(table["sign"].to_numpy(float)) * _are_clear(table)
    numbers = table[["change", *ends]].to_numpy(float).tolist()
    for sign, (value, low, high) in zip(signs.tolist(), numbers, strict=True):
        yield sign, ((-value, -high, -low) if sign < 0 else (value, low, high))


def _are_clear(table: pd.DataFrame) -> Array:
    """Return of which pairs labels show the direction; of all, if this was not asked."""
    clear = table.get("direction_clear", pd.Series(True, table.index))
    return np.asarray(clear != 0)  # NaN: not asked


def pair_checks(result: Any, table: pd.DataFrame, limit: Limit) -> Iterator[GateCheck]:
    """Yield the checks of single pairs, each by its own interval and adjusted p-value."""
    level = result.confidence_level or 0.95
    names = ["low", "high"]
    if result.verdict == words.ADDS:
        names = ["low_simultaneous", "high_simultaneous"]
    # Along the association, as a limit on one side asks, if labels are sure of it.
    for pair, (_, judged) in zip(table.to_dict("records"), _directed(table, names), strict=True):
        verdict = f"p = {pair.get('p_adjusted', math.nan):.2g}"
        verdict = words.REVERSES if result.verdict == words.REVERSES else verdict
        # Without a p-value, or with an undefined one, the interval decides.
        sure = not pair.get("p_adjusted", 0) >= 1 - level
        title = f"{result.name} ({result.group_name(pair['group'])}, {task_of(pair['task'])})"
        yield _checked(title, result, judged, verdict, "", limit, sure=sure)
