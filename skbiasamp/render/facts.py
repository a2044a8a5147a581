"""Numbers and names of a report: results fill them, templates turn them into words."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from skbiasamp._utils import formatting as words
from skbiasamp._utils.formatting import (
    amount,
    count,
    level_of,
    limit_of,
    listed,
    number,
    p_equals,
    rate,
)

EVERYBODY = "all rows"  # in place of a group


def group_by(column: str, group: str) -> str:
    """Return a group of a column as sentences name it beside those of other columns."""
    return group if group.startswith(f"{column} = ") else f"{column} = {group}"


@dataclass(frozen=True)
class Change:
    """A pair of group and task before and after: in labels and predictions, or of two models.

    `change` is the part of it that not all rows share, and has the interval, which holds for all
    pairs together. `effect` is what it does to the association: "grows", "shrinks", "reverses",
    "added", "unclear" or "unknown".
    """

    group: str
    task: str
    n: float | None
    before: float | None
    after: float | None
    change: float | None = None
    low: float | None = None
    high: float | None = None
    effect: str = "unknown"

    @property
    def size(self) -> float:
        """The size of the change, in either direction."""
        return abs(self.change or 0.0)

    @property
    def is_clear(self) -> bool:
        """Whether the change is clear among those of all pairs."""
        return self.effect not in ("unclear", "unknown")


@dataclass(frozen=True)
class Gap:
    """A difference between two groups, or of a group to all rows, before and after.

    It is that of `group` less that of `other`, in the units of the rates. `growth` has the
    interval; it is above 0 if the gap becomes larger.
    """

    group: str
    other: str
    before: float
    after: float
    growth: float
    low: float | None
    high: float | None


def is_against(verdict: str, gap: Gap | None) -> bool:
    """Return whether a gap moves in another way than the verdict about associations says.

    The labels may have no clear direction, other labels may give it, those of training rows, or two
    models turn it around.
    """
    if gap is None:
        return False
    before, after = abs(gap.before), abs(gap.after)
    if verdict == words.REVERSES:
        return gap.before * gap.after > 0
    if verdict in (words.ADDS, words.AMPLIFIES, words.ADDS_MORE, words.AMPLIFIES_MORE):
        return after < before
    return verdict in (words.REDUCES, words.ADDS_LESS, words.AMPLIFIES_LESS) and after > before


@dataclass(frozen=True)
class Who:
    """The group that is worse off: how often it gets what people want, before and after.

    `loses` says that its predictions have it less often than its labels, compared with all rows.
    `equal` are other groups of which the same is true to the digit that is shown, and `is_level`
    says that these are all others: no group is worse off. `stays` says that the group had it least
    before, too. `any_of` are the classes of which people want any, if they are counted together.
    """

    group: str
    favourable: str
    before: float | None
    after: float | None
    loses: bool
    equal: tuple[str, ...] = ()
    is_level: bool = False
    stays: bool = False
    any_of: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """All groups that are worse off."""
        return [self.group, *self.equal]


@dataclass(frozen=True)
class Ratios:
    """The rate of what people want in the group with the lowest, over that in the highest.

    Predictions choose the two groups, and `before` is of the same two. It is known unless they
    change sides: a ratio above 1 beside one below reads as an improvement.
    """

    favourable: str
    group: str
    other: str
    before: float
    after: float


@dataclass(frozen=True)
class Errors:
    """The error rates of a group, as shares of the rows with either label, or its mean error."""

    group: str
    false_positive: float | None
    false_negative: float | None
    mean: float | None = None


@dataclass(frozen=True)
class Robust:
    """How many labels of a group may be wrong, in one direction, before a result is unclear.

    `label` is this direction: the task is labelled "too often", or "too rarely".
    """

    group: str
    task: str
    label: str
    wrong: int
    labels: int


@dataclass(frozen=True)
class Unknown:
    """What rows without a group may change, whichever groups they belong to.

    Attributes
    ----------
    n : float
        The rows without a group.
    verdict : {"holds", "depends on the unknown", None}
        Whether the verdict holds. None: neither is certain, or the first metric has no bounds.
    rows, turned_to : float and str
        How few of the rows were found to turn the verdict if they are in some groups, and into
        which. None: none were found, and only the bounds include 0.
    lowest, highest : float
        Bounds of the value.
    low, high : float
        The bounds, with the interval of the value around them.
    gap_lowest, gap_highest : float
        Bounds of the rate of predictions in the first of two groups less that in the second.
    rates : tuple of (group, task, lowest, highest)
        Bounds of the rates of predictions, with ``missing="bounds"``.
    """

    n: float
    verdict: str | None = None
    rows: float | None = None
    turned_to: str | None = None
    lowest: float | None = None
    highest: float | None = None
    low: float | None = None
    high: float | None = None
    gap_lowest: float | None = None
    gap_highest: float | None = None
    rates: tuple[tuple[str, str, float, float], ...] = ()


@dataclass(frozen=True)
class Guesses:
    """How well attackers guess: from labels, from predictions, and without any.

    `by_probability`: a correct guess counts by the probability that the attacker gives it.
    """

    labels: float
    predictions: float
    chance: float | None
    by_probability: bool = False


@dataclass(frozen=True)
class Model:
    """A model of a comparison, or a sensitive column, by itself."""

    name: str
    value: float | None
    low: float | None
    high: float | None
    verdict: str | None


@dataclass(frozen=True)
class Trained:
    """Models of one way of training: each on the rows of its fold, and `n` in all.

    They are trained on about `n_train` rows. `folds` and `repeats` are standard deviations of the
    values of folds, and of their means over repeats.
    """

    models: tuple[Model, ...]
    n: int
    n_train: int
    folds: float | None
    repeats: float | None


@dataclass(frozen=True)
class Accuracy:
    """The accuracy of a model, and its difference to that of the reference."""

    accuracy: float
    difference: float | None
    difference_low: float | None
    difference_high: float | None


@dataclass(frozen=True)
class Moved:
    """How often a group is predicted a task in the reference, and later.

    `labels` are how often it is labelled so; None without labels.
    """

    group: str
    task: str
    before: float
    after: float
    labels: tuple[float, float] | None


@dataclass(frozen=True)
class Watch:
    """What a watch over time tells: of the change and its alarm, of the reference and versions.

    `moved` are the rates of groups, the most changed first, if the metric compares rates. `gap` is
    that of two groups in the predictions, and `labelled_gap` that in the labels. `scale` times a
    value is in percentage points: of that gap if it is 200, on average over groups if it is 100.
    Values that are no change of rates have the scale 1.
    """

    verdict: str
    onset: str | None
    first: str | None
    causes: tuple[str, ...]
    mean: float | None
    expected: float | None
    p_value: float | None
    reference: str
    reference_value: float | None
    last: float | None
    last_period: str | None
    n: int
    alpha: float
    versions: tuple[tuple[str, str], ...]
    periods: int
    span: str
    moved: tuple[Moved, ...]
    gap: Gap | None
    labelled_gap: tuple[float, float] | None
    who: Who | None
    ratios: Ratios | None
    scale: float


@dataclass(frozen=True)
class Finding:
    """One thing to know before the numbers of a report are used.

    Attributes
    ----------
    code : str
        Its code, which stays the same, such as "SBA107": docs/findings.md explains it.
    topic : str
        Its topic, such as "threshold".
    severity : {"wrong", "act", "note"}
        "wrong": the verdict may be about something else. "act": it changes what to do. "note": it
        is good to know.
    owner : {"data", "model", "policy"}
        Who can do something about it.
    numbers : dict
        What was seen.
    names : dict
        What parameters are called by its reader, such as options of a command.

    Examples
    --------
    >>> from skbiasamp.results import Finding
    >>> numbers = {"pairs": ["x"], "n": 1, "n_pairs": 4, "metric": "MALS"}
    >>> finding = Finding("SBA307", "few rows", "act", "data", numbers)
    >>> print(finding)
    1 of 4 pairs of group and task has fewer than 10 rows, such as x. Collect more rows, or merge
    small groups.
    """

    code: str
    topic: str
    severity: str
    owner: str
    numbers: Mapping[str, Any]
    names: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def text(self) -> str:
        """What was seen, and by which column if not by all that were audited on their own."""
        text, column = self._sentence("seen"), self.numbers.get("by_column")
        return f"By {column}. {text}" if column else text

    @property
    def action(self) -> str:
        """What to do next."""
        return self._sentence("step")

    def _sentence(self, part: str) -> str:
        from skbiasamp.render.facts import express

        return express("findings", f"{self.code}_{part}", {**self.numbers, "names": self.names})

    def __str__(self) -> str:
        return f"{self.text} {self.action}".strip()


@dataclass(frozen=True)
class Facts:
    """What a report tells of one model. Every field is always there; None is what is not known.

    Attributes
    ----------
    verdict : str
        The verdict, in the fixed vocabulary.
    view : {"gap", "groups", "tasks", "pairs", "attack", "columns", "none"}
        What is seen first: the gap of two groups, the worst of several groups, the largest of
        several tasks, pairs of another direction, what attackers guess, sensitive columns that were
        audited on their own, or nothing. Of such columns, the verdict is that of the first, and the
        numbers are in `columns`.
    metric, direction : str
        What was measured.
    value, low, high, p_value : float
        The judged number with its interval.
    published, published_low, published_high, shift, selection : float
        What the paper's formula gives, and what it adds to the value.
    fail_above : float
        The declared limit of increases, which the command line has: any reduction is allowed.
    limit, limit_verdict, rows_needed, lacking : float, str, float and tuple of str
        The declared limit of the value, where the interval lies, how many rows would decide, and
        the groups of training labels that were not audited.
    gap, worst, who : Gap, Change and Who
        The first numbers of a page.
    ratios : Ratios
        Wherever it is known what people want, and rates are shown; nowhere else.
    everybody : tuple of float
        The rate, or mean, of all rows before and after, if groups do not overlap.
    labelled_gap : float
        The gap in the labels, beside that of two models.
    changes : tuple of Change
        All pairs.
    unknown : Unknown
        What rows without a group may change.
    given, within : tuple of str and str
        The columns of the strata, and the verdict among rows of the same stratum.
    signs_from : str
        The labels that say in which direction a change is amplification.
    before, after : str
        What is compared: "labels" and "predictions", or "reference rows" and "these rows", or the
        names of two models.

    Examples
    --------
    >>> import skbiasamp
    >>> sex = ["f"] * 400 + ["m"] * 400
    >>> hired = [1] * 100 + [0] * 300 + [1] * 200 + [0] * 200
    >>> predicted = [1] * 60 + [0] * 340 + [1] * 250 + [0] * 150
    >>> report = skbiasamp.audit(hired, predicted, sensitive_features=sex, random_state=0)
    >>> gap = report.facts.gap
    >>> gap.group, gap.other, round(gap.before, 3), round(gap.after, 3)
    ('m', 'f', 0.25, 0.475)
    """

    verdict: str
    view: str = "none"
    model: str | None = None
    data: str | None = None
    metric: str = ""
    direction: str | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    p_value: float | None = None
    level: float | None = None
    unit: str = ""
    percent: bool = True
    published: float | None = None
    published_low: float | None = None
    published_high: float | None = None
    shift: float | None = None
    selection: float | None = None
    limit: float | None = None
    limit_verdict: str | None = None
    fail_above: float | None = None
    rows_needed: float | None = None
    lacking: tuple[str, ...] = ()
    gap: Gap | None = None
    worst: Change | None = None
    who: Who | None = None
    ratios: Ratios | None = None
    everybody: tuple[float, float] | None = None
    labelled_gap: float | None = None
    guesses: Guesses | None = None
    robust: Robust | None = None
    changes: tuple[Change, ...] = ()
    errors: tuple[Errors, ...] = ()
    before: str = "labels"
    after: str = "predictions"
    signs_from: str = "labels"
    labels_differ: bool | None = None
    tasks: tuple[str, ...] = ()
    target: str | None = None
    groups: tuple[str, ...] = ()
    favourable: tuple[str, ...] = ()
    amplified: str = ""
    about: str = ""
    guessed_from: str = ""
    baseline: str = ""
    reason: str | None = None
    models: tuple[Model, ...] = ()
    columns: tuple[Model, ...] = ()
    trained: Trained | None = None
    given: tuple[str, ...] = ()
    within: str | None = None
    changed: float | None = None
    accuracy: Accuracy | None = None
    n: float | None = None
    n_train: float | None = None
    n_runs: int | None = None
    n_dropped: float | None = None
    unknown: Unknown | None = None
    date: str | None = None
    caveats: tuple[Finding, ...] = ()

    @property
    def against(self) -> bool:
        """Whether the gap on the page moves in another way than the verdict says."""
        return self.view == "gap" and is_against(self.verdict, self.gap)

    @property
    def mixed(self) -> bool:
        """Whether gaps of some groups clearly grow, although their mean does not."""
        return is_mixed(self.verdict, self.view, self.changes)

    @property
    def too_few(self) -> bool:
        """Whether gaps may change by 10 percentage points unseen: a value of 0.05 is such a gap."""
        if self.verdict != words.NO_EFFECT or self.mixed or not self.percent:
            return False
        if self.view not in ("gap", "groups", "tasks", "pairs") or self.low is None:
            return False
        return max(abs(self.low), abs(self.high or 0.0)) >= 0.05

    @property
    def labels_apart(self) -> bool:
        """Whether labels of two groups differ by two standard errors, and training's do not."""
        if self.signs_from == self.before or self.labels_differ or self.view != "gap":
            return False
        rates = [(each.before or 0.0, each.n or 0.0) for each in self.changes]
        variance = sum(rate * (1 - rate) / max(n, 1.0) for rate, n in rates)
        (first, _), (other, _) = rates
        return self.percent and (first - other) ** 2 > 4 * variance

    @property
    def limited(self) -> Change | None:
        """The change of a pair that a limit judges: where the model adds a difference of its own.

        Its value is small there, since labels show no direction. The gap of two groups of one size
        says the same: it is twice their change.
        """
        known = [each for each in self.changes if each.low is not None and each.high is not None]
        if self.limit is None or self.verdict != words.ADDS or not known:
            return None
        sizes = [abs(each.change or 0.0) for each in known]
        if self.view == "gap" and max(sizes) - min(sizes) < 5e-4:
            return None
        ends = [(each.low or 0.0, each.high or 0.0) for each in known]
        return known[that_decides(ends, outside=self.limit_verdict == words.OUTSIDE)]


def grown(changes: Sequence[Change]) -> list[Change]:
    """Return the changes that clearly make a gap to all rows larger."""
    return [each for each in changes if each.effect in ("grows", "added")]


def is_mixed(verdict: str, view: str, changes: Sequence[Change]) -> bool:
    """Return whether gaps of some groups clearly grow, although their mean does not."""
    falls = verdict in (words.REDUCES, words.NO_EFFECT)
    return falls and view in ("groups", "tasks") and bool(grown(changes))


def that_decides(intervals: Sequence[tuple[float, float]], *, outside: bool) -> int:
    """Return which of several intervals makes them outside a limit, or else reaches furthest."""

    def distance(ends: tuple[float, float]) -> float:
        low, high = ends
        if outside:
            return max(low, -high, 0.0)  # an interval around 0 lies outside of no limit
        return max(-low, high)

    return max(range(len(intervals)), key=lambda at: distance(intervals[at]))


def express(file: str, macro: str, *values: Any) -> str:
    """Return what a macro of a file in `sentences` makes of values, on one line.

    A page, a terminal and Markdown escape the text and write its signs their own way.
    """
    return " ".join(str(getattr(_module(file), macro)(*values)).split())


@cache
def environment(lines: bool = False) -> Any:
    """Return the environment of templates: a name that is not defined is an error.

    `lines`: those of pages, which are written line by line. Sentences keep the space of each line.
    """
    import jinja2

    made = jinja2.Environment(
        autoescape=lines,
        loader=jinja2.PackageLoader("skbiasamp", "render"),
        trim_blocks=lines,
        lstrip_blocks=lines,
        undefined=jinja2.StrictUndefined,
        bytecode_cache=_compiled(jinja2),
    )
    made.filters |= _FORMATS
    return made


def _compiled(jinja2: Any) -> Any:
    """Return where compiled templates are kept: compiling them takes ten times as long."""
    try:
        return jinja2.FileSystemBytecodeCache()  # in a temporary folder of this user alone
    except (OSError, RuntimeError):  # there is no such folder, as in a sandbox: they are not kept
        return None


@cache
def _module(file: str) -> Any:
    return environment().get_template(f"sentences/{file}.txt").module


def _parameter(name: str, names: Any, value: Any = None) -> str:
    """Return a parameter, or the option of a command, and the value to pass."""
    shown = names.get(name, name)
    rest = "" if value is None else f"={value!r}"
    if callable(shown):
        return str(shown(rest))
    return f"{shown}{rest}" if shown == name else f"{shown} {value if rest else ''}".strip()


def _points(share: float, form: str = ".1f") -> str:
    """Return a difference of rates in percentage points, without the unit."""
    return number(100 * share, form)


_FORMATS: dict[str, Callable[..., Any]] = {
    "amount": amount,
    "count": count,
    "level": level_of,
    "limit": limit_of,
    "listed": listed,
    "named": _parameter,
    "number": number,
    "p": p_equals,
    "points": _points,
    "rate": rate,
    "shown_points": lambda share: round(100 * share, 1),
    "size": lambda share: _points(abs(share)),
    "rounded_up": lambda n: f"{round_up(n):,}",
    "times": lambda share: number(share, ".2f"),
    "start": lambda text: text[:1].upper() + text[1:],
}


def round_up(rows: float) -> int:
    """Return a number of rows to two digits, rounded up."""
    step = 10 ** max(0, math.floor(math.log10(max(rows, 1))) - 1)
    return math.ceil(rows / step) * step
