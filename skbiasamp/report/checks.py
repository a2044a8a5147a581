"""Checks: what to know before the numbers of a report are used, one function a finding.

A check is a function with the decorator `check`; nothing else has to know it. It yields the numbers
of a finding, and templates have its words.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from skbiasamp._input.checks import Names
from skbiasamp._input.classes import unspaced, visible
from skbiasamp._input.errors import quote
from skbiasamp._utils import formatting as words
from skbiasamp._utils.formatting import DIRECTION_OF, name_of, shown_change, task_of
from skbiasamp.counts.cells import labels_of
from skbiasamp.counts.contingency import Contingency, SideName
from skbiasamp.inference import paired_p_values
from skbiasamp.inference.value import FEWEST_ROWS
from skbiasamp.metrics.score_order import ScoreOrder, are_named, group_order, is_chosen, score_order
from skbiasamp.render.facts import Finding
from skbiasamp.results import (
    FOUR_FIFTHS,
    AuditReport,
    AuditResult,
    at_base_rate,
    classes_wanted,
    columns_alone,
    group_name,
    has_groups,
    possible_changes,
    task_name,
)
from skbiasamp.results.gate import FAILED
from skbiasamp.text.labeler import NO_LABEL, REFUSAL

ALPHA = 0.05
WORTH_SAYING = 0.01  # a change of a rate
PAIRS = ("labels", "numbers")  # of what pairs of group and task are
ROWS = ("labels", "texts", "numbers")  # of what rows and groups are
Seen = Iterator[dict[str, Any]]  # the numbers of findings
# In small letters; readers of files know them as missing values too.
_MISSING = {"", "#n/a", "<na>", "n/a", "na", "nan", "-nan", "nat", "none", "null"}
_MOST_CLASSES = 20
_MOST_GROUPS = 30  # of numbers; there are as many codes of regions, and more ages
_NARROW = 0.9  # of the labels' standard deviation
_FEW_GROUPS = 5
_MANY = 0.3  # share of unknown words from which human texts are hardly read
# The least difference between the error rates of groups that is reported.
_GAP = 0.05
_OF_RATES = ("gap", "groups", "tasks", "pairs")  # views whose changes are percentage points
_KINDS = ("false_positive_rate", "true_positive_rate")
_GROWING = (words.AMPLIFIES, words.ADDS, words.REVERSES)


@dataclass(frozen=True)
class Audited:
    """What a check looks at."""

    report: AuditReport
    test: Contingency
    train: Contingency | None
    scored: Contingency | None  # the audited rows with scores in place of predictions
    n_given: int | None  # rows that came with weights
    reads: str = "labels"  # what labels and predictions are: labels, texts or numbers
    has_columns: bool = False  # whether the rows are columns of a frame

    @property
    def signs(self) -> Contingency:
        """The labels that give the signs."""
        return self.test if self.train is None else self.train

    def names(self, condition: Callable[[AuditResult], Any]) -> list[str]:
        """Return the names of the results for which something is true."""
        return [name for name, result in self.report.items() if condition(result)]

    def most(self, statistic: str) -> float:
        """Return the largest value of a statistic in the report."""
        return max((each.statistics.get(statistic, 0) for each in self.report.values()), default=0)

    @property
    def primary(self) -> AuditResult | None:
        """The result that gives the verdict."""
        return None if self.report.primary is None else self.report[self.report.primary]

    @property
    def are_attacks(self) -> bool:
        """Whether all results are those of attackers, which need neither signs nor rates."""
        return all(result.kind.has_attacker for result in self.report.values())

    def group(self, name: Any) -> str:
        """Return a group as sentences name it."""
        return group_name(name, self.report.context.get("group_columns", ()))

    def task(self, name: Any) -> str:
        """Return a task as sentences name it."""
        return task_name(name, self.report.context)

    @property
    def favourable(self) -> list[Any]:
        """The classes or tasks that people want; none if the user names none."""
        return classes_wanted(self.report.context)


Finds = Callable[[Audited], Seen]


class Check(NamedTuple):
    """One thing to know before the numbers of a report are used."""

    code: str
    topic: str
    severity: str  # as in Finding
    owner: str  # as in Finding
    reads: tuple[str, ...]  # of what it says something
    findings: Finds


_CHECKS: list[Check] = []
# In this order findings stand on a page.
_ORDER = """
    SBA101 SBA102 SBA103 SBA301 SBA118 SBA201 SBA302 SBA209 SBA210 SBA203 SBA303
    SBA104 SBA105 SBA106 SBA119 SBA107 SBA108 SBA109 SBA110 SBA111
    SBA401 SBA402 SBA112 SBA403 SBA202 SBA113 SBA310 SBA204 SBA205 SBA206 SBA304
    SBA305 SBA306 SBA307 SBA308 SBA114 SBA404 SBA115 SBA116 SBA207 SBA405 SBA309 SBA208 SBA117
"""


def check(
    code: str,
    topic: str,
    *,
    owner: str,
    severity: str = "act",
    reads: tuple[str, ...] = ("labels",),
) -> Callable[[Finds], Finds]:
    """Make a check of a function, which yields nothing if there is nothing to say."""

    def checked(findings: Finds) -> Finds:
        _CHECKS.append(Check(code, topic, severity, owner, reads, findings))
        return findings

    return checked


@check("SBA101", "positive class", severity="wrong", owner="data")
def scores_of_other_class(audited: Audited) -> Seen:
    """Scores are larger for the rows without the positive class."""
    order = next((order for order in _orders(audited) if order.reversed), None)
    if order is not None:
        yield _classes_of(order)


@check("SBA102", "group scores", severity="wrong", owner="data")
def group_scores(audited: Audited) -> Seen:
    """Probabilities of a group are larger for the rows of the other one."""
    order = group_order(audited.test)
    if order is not None and order.reversed:
        last, first = (audited.group(name) for name in (order.positive, order.other))
        yield {"last": last, "first": first, "auc": order.shown}


@check("SBA103", "weak scores", owner="data")
def weak_scores(audited: Audited) -> Seen:
    """Scores are those of the class that sorts last, and too weak to show whether that is right."""
    order = next((order for order in _orders(audited) if order.unclear), None)
    if order is None or is_chosen(audited.test):
        return
    if are_named(audited.test) or order.doubtful:
        yield _classes_of(order)


def _classes_of(order: ScoreOrder) -> dict[str, Any]:
    return {
        "task": task_of(order.positive),
        "value": order.positive,
        "other": task_of(order.other),
        "other_value": order.other,
        "auc": order.shown,
    }


def _orders(audited: Audited) -> Iterator[ScoreOrder]:
    """Yield how the scores of a report rank both classes."""
    test = audited.test
    for cells in (audited.scored, test if test.soft("task_pred") else None):
        order = None if cells is None else score_order(cells)
        if order is not None:
            yield order


def _are_same(cells: Contingency, side: SideName) -> bool:
    """Whether every row has the same label, or prediction."""
    counts = cells.count(side)
    return not ((counts > 0) & (counts < cells.total)).any()


@check("SBA104", "constant labels", severity="wrong", owner="data")
def constant_labels(audited: Audited) -> Seen:
    """The labels that give the signs are all the same, or the predictions are."""
    test, signs = audited.test, audited.signs
    if test.has("task_pred") and not test.soft("task_pred") and _are_same(test, "task_pred"):
        yield {"predicted": True}
    if audited.train is not None and signs.has("task") and not signs.count("task").any():
        return  # audited labels give directions that training lacks
    if signs.has("task") and _are_same(signs, "task"):
        yield {"predicted": False}


@check("SBA106", "never labelled", severity="wrong", owner="data")
def never_labelled(audited: Audited) -> Seen:
    """A class is predicted and never labelled, as misspelt ones are."""
    test = audited.test
    sides: list[tuple[SideName, SideName, Names, Any]] = [
        ("task", "task_pred", test.tasks if test.classes else (), audited.task),
        ("group", "group_pred", test.groups, audited.group),
    ]
    for side, side_pred, names, shown in sides:
        if not (test.has(side) and test.has(side_pred)) or test.soft(side_pred):
            continue
        labelled, predicted = test.count(side), test.count(side_pred)
        strange = [
            (shown(name), float(now))
            for name, before, now in zip(names, labelled, predicted, strict=False)
            if before == 0 < now and name not in (NO_LABEL, REFUSAL)
        ]
        if strange:
            known, rows = zip(*strange, strict=True)
            yield {"tasks": list(known), "rows": sum(rows), "group": side == "group"}


@check("SBA119", "untrained", owner="data")
def untrained(audited: Audited) -> Seen:
    """Training labels lack a group or a task of the audited rows."""
    train, test = audited.train, audited.test
    if train is None or not (train.has("task") and test.has("task")):
        return
    kinds: tuple[SideName, ...] = ("group", "task")
    for kind, trained, names, shown in zip(
        kinds,
        (train.groups, train.tasks),
        (test.groups, test.tasks),
        (audited.group, audited.task),
        strict=True,
    ):
        there = {name for name, n in zip(trained, train.count(kind), strict=True) if n > 0}
        counts = zip(names, test.count(kind), strict=True)
        if new := [shown(name) for name, n in counts if n > 0 and name not in there]:
            yield {"kind": kind, "new": new}


@check("SBA108", "group spelling", severity="wrong", owner="data", reads=ROWS)
def group_spelling(audited: Audited) -> Seen:
    """Names of groups differ only in spaces, capital letters or invisible characters."""
    return _spelling(audited.test.groups)


@check("SBA109", "task spelling", severity="wrong", owner="data")
def task_spelling(audited: Audited) -> Seen:
    """Names of tasks differ only in spaces, capital letters or invisible characters."""
    return _spelling(audited.test.classes or audited.test.tasks)


def _spelling(names: Names) -> Seen:
    if alike := _alike(names, visible):
        yield {"alike": list(map(ascii, alike)), "invisible": True}
    elif alike := _alike(names, lambda name: unspaced(visible(name))):
        yield {"alike": [quote([name]) for name in alike], "invisible": False}


def _alike(names: Names, spelling: Callable[[str], str]) -> Names | None:
    """Return the first names that have one spelling, if there are any."""

    def spelled(name: Any) -> Any:
        if isinstance(name, tuple):
            return tuple(map(spelled, name))
        return spelling(name) if isinstance(name, str) else name

    names_of: dict[Any, list[Any]] = {}
    for name in names:
        names_of.setdefault(spelled(name), []).append(name)
    return next((tuple(alike) for alike in names_of.values() if len(alike) > 1), None)


@check("SBA110", "missing names", severity="wrong", owner="data", reads=ROWS)
def missing_names(audited: Audited) -> Seen:
    """Groups or classes have names that stand for missing values in many files."""
    classes = audited.test.classes if audited.reads == "labels" else None
    named = {"group": audited.test.groups, "class": classes or ()}
    strange = {kind: list(filter(_stands_for_missing, names)) for kind, names in named.items()}
    if any(strange.values()):
        yield {"named": [f"{kind} {quote(names)}" for kind, names in strange.items() if names]}


def _stands_for_missing(name: Any) -> bool:
    if isinstance(name, tuple):
        return any(map(_stands_for_missing, name))
    return isinstance(name, str) and name.strip().casefold() in _MISSING


@check("SBA112", "weights", owner="data", reads=ROWS)
def weights(audited: Audited) -> Seen:
    """Weights were read as counts, and add up to many more than the rows."""
    n, test = audited.n_given, audited.test
    if n is not None and test.whole and test.total >= 2 * n:
        yield {"given": n, "total": float(test.total)}


@check("SBA114", "training labels", owner="data", reads=PAIRS)
def training_labels(audited: Audited) -> Seen:
    """No training labels were given."""
    results = audited.report.values()
    # Distances have no direction that labels could give; without intervals it is not known.
    directed = [
        result.confidence_level is None or result.facts.labels_differ is not None
        for result in results
    ]
    if directed and not any(directed):
        return
    if audited.train is None and audited.test.has("task") and not audited.are_attacks:
        yield {"everyone": not any(map(has_groups, results))}


@check("SBA115", "sums", severity="note", owner="data")
def sums(audited: Audited) -> Seen:
    """An engine summed what it could not count."""
    if audited.test.summed is not None:
        yield {}


@check("SBA116", "missing values", severity="note", owner="data", reads=ROWS)
def missing_values(audited: Audited) -> Seen:
    """Rows without a sensitive feature were left out."""
    if audited.test.n_dropped:
        yield {"n": float(audited.test.n_dropped), "bounded": audited.report.unknown is not None}


@check("SBA113", "labels as truth", owner="data", reads=PAIRS)
def labels_as_truth(audited: Audited) -> Seen:
    """Labels may be biased themselves: always worth saying."""
    if audited.report.context.get("labelled", True):
        yield {}


@check("SBA117", "reference as truth", severity="note", owner="data")
def reference_as_truth(audited: Audited) -> Seen:
    """Rows that take the place of labels may be biased themselves."""
    if not audited.report.context.get("labelled", True):
        yield {}


@check("SBA118", "favourable class", owner="policy", reads=PAIRS)
def favourable_class(audited: Audited) -> Seen:
    """No class was marked as the one that people want, or no number as better if it is larger."""
    test, is_number = audited.test, audited.reads == "numbers"
    one_task = len(test.tasks) == 1 if is_number else test.naming.one_label
    if test.has("task_pred") and not audited.are_attacks and not audited.favourable and one_task:
        yield {"number": test.tasks[0] if is_number else None}


# --------------------------------------------------------------------------- numbers


@check("SBA105", "numbers as classes", severity="wrong", owner="data")
def numbers_as_classes(audited: Audited) -> Seen:
    """Labels or predictions are many whole numbers, which were read as classes."""
    test = audited.test
    numbers = [isinstance(name, int | float) for name in test.tasks]
    if test.classes is None or sum(numbers) <= _MOST_CLASSES:
        return
    sides: tuple[SideName, ...] = ("task", "task_pred")
    counts = [test.count(side)[numbers] if test.has(side) else np.zeros(1) for side in sides]
    labels, predictions = (int((count > 0).sum()) for count in counts)
    yield {"n": labels, "predicted": predictions if labels <= _MOST_CLASSES else None}


@check("SBA107", "numbers as groups", severity="wrong", owner="data", reads=ROWS)
def numbers_as_groups(audited: Audited) -> Seen:
    """A sensitive feature is many whole numbers, each of which was read as a group."""
    for column, values in _values_of(audited.test):
        n = len({value for value in values if isinstance(value, int | float)})
        if n > _MOST_GROUPS:
            yield {"column": None if column is None else name_of(column), "n": n}
            return


def _values_of(test: Contingency) -> Iterator[tuple[Any, list[Any]]]:
    """Yield each sensitive column, None if it has no name, and its values in the groups."""
    if test.indicator:
        if not test.declared:  # groups="marginal" names them column=value
            parts = [str(group).rpartition("=") for group in test.groups]
            for column in dict.fromkeys(title for title, _, _ in parts):
                texts = [text for title, _, text in parts if title == column]
                yield column, [int(text) if text.isdecimal() else text for text in texts]
        return
    groups = [group if isinstance(group, tuple) else (group,) for group in test.groups]
    for i, values in enumerate(zip(*groups, strict=False)):
        yield test.group_columns[i] if i < len(test.group_columns) else None, list(values)


@check("SBA205", "narrow predictions", owner="model", reads=("numbers",))
def narrow_predictions(audited: Audited) -> Seen:
    """Predictions of a number vary less than its labels do."""
    test = audited.test
    if any(DIRECTION_OF.get(result.verdict, 0) > 0 for result in audited.report.values()):
        return
    labels, predictions = (_spread(test, side) for side in ("task", "task_pred"))
    varies = labels > 0
    share = np.where(varies, predictions / np.where(varies, labels, 1.0), 1.0)
    narrowest = int(share.argmin())
    if share[narrowest] < _NARROW:
        yield {"task": audited.task(test.tasks[narrowest]), "share": float(share[narrowest])}


def _spread(cells: Contingency, side: SideName) -> np.ndarray:
    """Return the standard deviation of each task."""
    values = labels_of(cells, side).dense(slice(None), float)
    values = values - values[0]
    mean = cells.weight @ values / cells.total
    spread: np.ndarray = np.sqrt(cells.weight @ (values - mean) ** 2 / cells.total)
    return spread


# --------------------------------------------------------------------------- texts


@check("SBA404", "texts without a label", severity="note", owner="data")
def texts_without_label(audited: Audited) -> Seen:
    """Texts from which no label was read."""
    if shares := list(_shares(audited, NO_LABEL)):
        yield {"shares": shares}


def unread(shares: list[dict[str, Any]]) -> list[Finding]:
    """Return the finding that no label was read from some texts, if there are any."""
    numbers = {"shares": shares}
    finding = Finding("SBA404", "texts without a label", "note", "data", numbers)
    return [finding] if shares else []


@check("SBA403", "refusals", owner="model")
def refusals(audited: Audited) -> Seen:
    """Texts that refuse to answer."""
    if shares := list(_shares(audited, REFUSAL)):
        yield {"shares": shares}


def _shares(audited: Audited, task: str) -> Iterator[dict[str, Any]]:
    """Yield in how many rows a class of texts is, in labels and in predictions, and by group."""
    test = audited.test
    if task not in test.tasks:
        return
    j = test.tasks.index(task)
    sides: tuple[tuple[SideName, str], ...] = (("task", "labels"), ("task_pred", "predictions"))
    for side, name in sides:
        if test.has(side):
            of_groups = test.rate(side, given="group")[:, j]
            groups = zip(map(audited.group, test.groups), of_groups, strict=True)
            yield share_of_rows(name, test.count(side)[j] / test.total, groups)


def share_of_rows(where: str, share: float, groups: Iterable[tuple[str, float]]) -> dict[str, Any]:
    """Return a share of rows, and that of each group if these are few."""
    of_groups = {name: float(p) for name, p in groups}
    few = bool(share) and len(of_groups) <= _FEW_GROUPS
    return {"where": where, "share": float(share), "groups": of_groups if few else {}}


# --------------------------------------------------------------------------- attacked texts


@check("SBA401", "empty texts", owner="model", reads=("texts",))
def empty_texts(audited: Audited) -> Seen:
    """Rows have no word in their text."""
    human, model = (audited.most(f"empty_{side}") for side in ("data", "model"))
    if human or model:
        yield {"human": human, "model": model}


@check("SBA402", "unknown words", owner="data", reads=("texts",))
def unknown_words(audited: Audited) -> Seen:
    """Many words of the human texts are not in the model's vocabulary."""
    most = audited.most("unknown_words")
    if most >= _MANY:
        yield {"share": float(most)}


@check("SBA405", "attacker", owner="policy", reads=("texts",))
def attacker_of_texts(audited: Audited) -> Seen:
    """The attacker decides how much texts reveal."""
    yield {}


@check("SBA111", "identical predictions", severity="wrong", owner="model")
def identical_predictions(audited: Audited) -> Seen:
    """Labels and predictions are identical in every row, as if one column was read for both."""
    test, same, others = audited.test, list[str](), list[str]()
    sides: tuple[tuple[Any, Any], ...] = (("task", "task_pred"), ("group", "group_pred"))
    for side, predicted in sides:
        if test.has(side) and test.has(predicted) and not test.soft(predicted):
            both = test.both(side).count(predicted)
            equal = all(np.array_equal(both, test.count(name)) for name in (side, predicted))
            (same if equal else others).append(side)
    if same:
        yield {"sides": same, "all": not others}


@check("SBA204", "worse than chance", severity="wrong", owner="model")
def worse_than_chance(audited: Audited) -> Seen:
    """Perturbed labels were pure noise, since the model is worse than a guess."""
    capped = audited.names(lambda result: result.statistics.get("flip_rate_capped"))
    if capped:
        yield {"metrics": capped}


@check("SBA206", "threshold", owner="model")
def threshold(audited: Audited) -> Seen:
    """Tasks are predicted more or less often than they are labelled."""
    test = audited.test
    if not (test.has("task") and test.has("task_pred")) or test.soft("task_pred"):
        return
    base, predicted = test.count("task"), test.count("task_pred")
    both = test.both("task").count("task_pred")
    p_values = paired_p_values(np.rint(predicted - both), np.rint(base - both))
    gap = (predicted - base) / test.total
    off = np.flatnonzero((p_values < ALPHA) & (np.abs(gap) >= WORTH_SAYING))
    if not len(off):
        return
    first = off[np.argmax(np.abs(gap[off]))]
    nearest = at_base_rate(audited.report.curve)
    other = {"threshold": None, "then": None, "value": None}
    if nearest is not None:
        names = {"threshold": "threshold", "then": "predicted_rate", "value": "value"}
        other = {name: nearest[column] for name, column in names.items()}
    yield {
        "task": audited.task(test.tasks[first]),
        "predicted": float(predicted[first] / test.total),
        "labelled": float(base[first] / test.total),
        "more": len(off) - 1,
        "binary": len(test.tasks) == 1 and audited.scored is None,
        **other,
    }


@check("SBA202", "error rates", owner="policy")
def error_rates(audited: Audited) -> Seen:
    """The largest gap of error rates between groups, which amplification does not measure."""
    report = audited.report
    if "false_positive_rate" not in report.rates:
        return
    differences = report.rates[[f"{kind}_difference" for kind in _KINDS]]
    share = report.rates["base_rate"].to_numpy(float)
    n = np.repeat(report.groups["n"].to_numpy(float), len(share) // len(report.groups))
    enough = np.stack([n * (1 - share), n * share], axis=1) > FEWEST_ROWS - 1e-6
    # The largest gap of many groups may be chance.
    certain = report.rates[[f"{name}_low" for name in differences]].to_numpy() > 0
    gaps = np.where(enough & certain, differences, -1.0)
    k = int(gaps.max(axis=0).argmax())
    at, n_tasks = int(gaps[:, k].argmax()), len(gaps) // len(report.groups)
    if gaps[at, k] < _GAP:
        return
    of_task = report.rates.iloc[at % n_tasks :: n_tasks]
    row: Any = report.rates.iloc[at]
    base: Any = of_task[of_task[list(differences)[k]] == 0].iloc[0]
    known = differences.loc[[row.name, base.name]].notna().all()
    kinds = [kind for kind in _KINDS if known[f"{kind}_difference"]]
    if row["task"] in audited.favourable:
        kinds.reverse()  # who misses what people want is harmed
    yield {
        "task": audited.task(row["task"]),
        "most": audited.group(row["group"]),
        "least": audited.group(base["group"]),
        "errors": [
            {
                "of_labelled": kind == "true_positive_rate",
                "most": _wrong(row, kind),
                "least": _wrong(base, kind),
            }
            for kind in kinds
        ],
    }


def _wrong(rates: Any, kind: str) -> float:
    """Return the rate of an error."""
    share = float(rates[kind])
    return 1 - share if kind == "true_positive_rate" else share


@check("SBA201", "probabilities", owner="model")
def predicted_probabilities(audited: Audited) -> Seen:
    """Predictions are probabilities."""
    if audited.test.soft("task_pred") and not audited.are_attacks:
        yield {"threshold": audited.has_columns}  # arrays have no such option


@check("SBA207", "predicted attribute", severity="note", owner="policy")
def predicted_attribute(audited: Audited) -> Seen:
    """A sensitive feature was predicted."""
    if audited.test.has("group_pred"):
        yield {}


@check("SBA208", "risk prediction", severity="note", owner="policy")
def risk_prediction(audited: Audited) -> Seen:
    """Scores were given, which may predict the future of people."""
    if audited.scored is not None:
        yield {}


@check("SBA203", "impact ratio", owner="policy")
def impact_ratio(audited: Audited) -> Seen:
    """A group gets what people want less than four fifths as often as another."""
    rates, context = audited.report.rates, audited.report.context
    if "favourable" not in context or "impact_ratio_high" not in rates:
        return
    below = rates[rates["impact_ratio_high"] < FOUR_FIFTHS]
    if below.empty:
        return
    row: Any = below.sort_values("impact_ratio").iloc[0]
    of_task = rates[rates["task"].map(str) == str(row["task"])]
    # Rows with a missing value are in no ratio.
    most: Any = of_task.sort_values("impact_ratio", na_position="first").iloc[-1]
    wanted = [
        name for name in audited.favourable if audited.task(name) == audited.task(row["task"])
    ]
    yield {
        "wanted": audited.task(row["task"] if wanted else audited.favourable[0]),
        "group": audited.group(row["group"]),
        "other": audited.group(most["group"]),
        "ratio": float(row["impact_ratio"]),
        "low": float(row["impact_ratio_low"]),
        "high": float(row["impact_ratio_high"]),
        "more": below["group"].nunique() - 1,
        "scores": audited.test.soft("task_pred"),
        "given": list(audited.report.facts.given),
    }


# --------------------------------------------------------------------------- pairs


@check("SBA305", "unclear directions", owner="data", reads=PAIRS)
def unclear_directions(audited: Audited) -> Seen:
    """Amplification and reduction could be the other way round."""
    return _flagged(audited, "direction_clear")


@check("SBA307", "few rows", owner="data", reads=PAIRS)
def small_cells(audited: Audited) -> Seen:
    """Pairs with few rows."""
    return _flagged(audited, "reliable")


def _flagged(audited: Audited, flag: str) -> Seen:
    """Name the pairs for which a flag is False, of the metric that has most of them."""
    raised = {}
    for name, result in audited.report.items():
        table = result.table
        at = [i for i, value in enumerate(table.get(flag, ())) if value is False]
        raised[name] = [
            (audited.group(table["group"].iloc[i]), audited.task(table["task"].iloc[i])) for i in at
        ]
    name, pairs = max(raised.items(), key=lambda item: len(item[1]), default=("", []))
    if pairs:
        yield {
            "metric": name,
            "pairs": [f"({group}; {task})" for group, task in pairs],
            "group": pairs[0][0],
            "task": pairs[0][1],
            "n": len(pairs),
            "n_pairs": len(audited.report[name].table),
            "labels": "labels" if audited.report[name].labelled else "reference rows",
            "everyone": not has_groups(audited.report[name]),
        }


@check("SBA308", "undefined pairs", owner="data", reads=PAIRS)
def undefined_pairs(audited: Audited) -> Seen:
    """Pairs without any rows to measure."""
    left = {}
    for name, result in audited.report.items():
        changes = result._column("delta", 1.0)
        if np.isnan(changes).any():
            left[name] = (int(np.isnan(changes).sum()), len(changes))
    if left:
        yield {"left": left}


# --------------------------------------------------------------------------- verdicts


@check("SBA209", "changed rates", owner="model", reads=PAIRS)
def changed_rates(audited: Audited) -> Seen:
    """The rate of a group moves most, and the gap with it."""
    facts = audited.report.facts
    worst, is_mean = facts.worst, audited.reads == "numbers"
    grows = facts.verdict in _GROWING or facts.mixed
    if not grows or facts.within == words.NO_EFFECT or worst is None:
        return
    if facts.view not in ("gap", "groups", "tasks") or not (facts.percent or is_mean):
        return
    if worst.before is None or worst.after is None:
        return
    moved = (lambda before, after: after - before) if is_mean else shown_change
    change = moved(worst.before, worst.after)
    # A group may lose less than all others do: what it gains beside them is said.
    own = worst.change or 0.0
    beside = facts.view != "gap" and own != 0 and own * change <= 0
    change = own if beside else change
    numbers: dict[str, Any] = {"group": worst.group, "task": worst.task, "change": change}
    numbers |= {"beside": beside, "before": facts.before}
    numbers |= {"other": None, "other_change": None, "percent": facts.percent}
    if facts.view == "gap":  # two groups may move apart: each has a reason
        (other,) = (each for each in facts.changes if each.group != worst.group)
        size = moved(other.before or 0.0, other.after or 0.0)
        if size * change < 0 and abs(size) >= (abs(change) / 10 if is_mean else WORTH_SAYING):
            numbers |= {"other": other.group, "other_change": size}
    yield numbers


@check("SBA210", "strata", owner="policy", reads=PAIRS)
def explained_by_strata(audited: Audited) -> Seen:
    """The change is clear over all rows, and not among rows of the same stratum."""
    facts = audited.report.facts
    if facts.verdict in _GROWING and facts.within == words.NO_EFFECT:
        yield {"given": list(facts.given)}


@check("SBA304", "mitigation", owner="model")
def mitigation(audited: Audited) -> Seen:
    """The model adds to the bias of its labels, or adds a difference of its own."""
    verdict = None if audited.primary is None else audited.primary.verdict
    alone = columns_alone(audited.report).get(words.AMPLIFIES, [])
    if verdict in (words.AMPLIFIES, words.ADDS, words.REVEALS_MORE) or alone:
        yield {"columns": [name_of(name) for name in alone]}


@check("SBA302", "reversal", severity="wrong", owner="model", reads=PAIRS)
def reversed_association(audited: Audited) -> Seen:
    """The model turns the association of its labels around."""
    # If MALS counts groups that are not associated with their task, its sign is no direction.
    names = audited.names(
        lambda result: (
            result.verdict == words.REVERSES and not result.statistics.get("n_unassociated")
        )
    )
    if names:
        facts = audited.report.facts
        of_train = audited.train is not None and (
            audited.report.primary not in names or facts.against
        )
        yield {"metrics": names, "train": of_train}


@check("SBA301", "limit", owner="policy", reads=ROWS)
def of_limit(audited: Audited) -> Seen:
    """The amplification is beyond the limit that was declared, or these rows do not show it."""
    report = audited.report
    if report.limit is None or report.primary is None:
        return
    checks = report.gate(report.limit, on=report.primary).checks
    of_primary = next(check for check in checks if check.name == report.primary)
    reverses = of_primary.verdict == words.REVERSES  # which is held wherever it lies
    if of_primary.outcome not in (FAILED, words.INCONCLUSIVE) or (
        reverses and report.limit_verdict != words.OUTSIDE
    ):
        return
    half, gap = report.facts.view == "gap" and report.facts.limited is None, report.facts.gap
    yield {
        "outside": of_primary.outcome == FAILED,
        "adds": of_primary.verdict == words.ADDS,
        "limit": report.limit,
        "half": half,
        "points": half and report.facts.percent,
        "mean": not half and report.facts.view in _OF_RATES and report.facts.percent,
        "moves": of_primary.verdict in (words.REVERSES, words.ADDS),
        # What is reversed is held, too, by its own finding.
        "hold": of_primary.outcome == FAILED
        and of_primary.verdict not in (words.REDUCES, words.REVERSES),
        # As on the first screen: the difference of the gaps that are shown.
        "value": gap.growth / 2 if half and gap is not None else of_primary.value,
        "low": of_primary.low,
        "high": of_primary.high,
        "missing": list(of_primary.missing),
        "unknown": not math.isnan(of_primary.low)
        and of_primary.low < report[report.primary].low
        and of_primary.outcome == words.INCONCLUSIVE
        and report.unknown is not None,
        "rows": None if math.isnan(of_primary.rows) else of_primary.rows,
        "n": float(audited.test.total),
    }


@check("SBA310", "no limit", owner="policy")
def no_limit(audited: Audited) -> Seen:
    """No limit was declared."""
    primary = audited.primary
    if primary is not None and audited.report.limit is None and not math.isnan(primary.low):
        yield {"clear": primary.verdict != words.NO_EFFECT}


@check("SBA303", "precision", owner="data", reads=PAIRS)
def precision(audited: Audited) -> Seen:
    """The primary metric finds no clear effect, which does not mean that there is none."""
    report, primary = audited.report, audited.primary
    if primary is None or primary.verdict != words.NO_EFFECT or columns_alone(report):
        return
    if report.facts.mixed:  # some groups are clear
        return
    facts, (_, low, high) = report.facts, primary.judged
    if low < high and facts.limit_verdict != words.WITHIN:
        # With few rows, nothing else can be done first.
        yield possible_changes(facts, low, high) | {"hold": facts.too_few}


@check("SBA306", "unassociated groups", owner="data", reads=PAIRS)
def unassociated_groups(audited: Audited) -> Seen:
    """A metric counts groups that are not associated with their task, or leaves out one that is."""
    for name in audited.names(lambda result: result.statistics.get("n_unassociated", 0) > 0):
        result = audited.report[name]
        n = int(result.statistics["n_unassociated"])
        yield {"metric": name, "n": n, "n_pairs": len(result.table)}


@check("SBA309", "directions", severity="note", owner="policy")
def directions(audited: Audited) -> Seen:
    """Both directions were audited."""
    if {"A->T", "T->A"} <= {result.direction for result in audited.report.values()}:
        yield {}


def every_check() -> list[Check]:
    """Return all checks, in the order of their findings."""
    return sorted(_CHECKS, key=lambda check: _ORDER.index(check.code))


def findings_of(audited: Audited) -> list[Finding]:
    """Return what the checks find."""
    return [
        Finding(check.code, check.topic, check.severity, check.owner, numbers)
        for check in every_check()
        if audited.reads in check.reads
        for numbers in check.findings(audited)
    ]
