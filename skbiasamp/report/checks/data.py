"""Checks of the data: of labels, groups, numbers and texts, and of how they were read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from skbiasamp._input.checks import Names
from skbiasamp._input.classes import unspaced, visible
from skbiasamp._input.errors import quote
from skbiasamp._utils.formatting import DIRECTION_OF, name_of, task_of
from skbiasamp.counts.cells import labels_of
from skbiasamp.counts.contingency import Contingency, SideName
from skbiasamp.metrics.score_order import ScoreOrder, are_named, group_order, is_chosen, score_order
from skbiasamp.render.facts import Finding
from skbiasamp.report.checks import PAIRS, ROWS, Audited, Seen, check
from skbiasamp.text.labeler import NO_LABEL, REFUSAL


@check("SBA101", "positive class", rank=5, severity="wrong", owner="data")
def scores_of_other_class(audited: Audited) -> Seen:
    """Scores are larger for the rows without the positive class."""
    order = next((order for order in _orders(audited) if order.reversed), None)
    if order is not None:
        yield _classes_of(order)


@check("SBA102", "group scores", rank=6, severity="wrong", owner="data")
def group_scores(audited: Audited) -> Seen:
    """Probabilities of a group are larger for the rows of the other one."""
    order = group_order(audited.test)
    if order is not None and order.reversed:
        last, first = (audited.group(name) for name in (order.positive, order.other))
        yield {"last": last, "first": first, "auc": order.shown}


@check("SBA103", "weak scores", rank=21, owner="data")
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


def is_constant(signs: Contingency) -> bool:
    """Whether the labels that give the signs are all the same."""
    if not signs.has("task"):
        return False  # those of a fitted auditor
    counts = signs.count("task")
    return not ((counts > 0) & (counts < signs.total)).any()


@check("SBA104", "constant labels", rank=30, severity="wrong", owner="data")
def constant_labels(audited: Audited) -> Seen:
    """The labels that give the signs are all the same."""
    trained = audited.train is not None and audited.signs.has("task")
    if trained and not audited.signs.count("task").any():
        return  # audited labels give directions that training lacks
    if is_constant(audited.signs):
        yield {}


@check("SBA106", "never labelled", rank=40, severity="wrong", owner="data")
def never_labelled(audited: Audited) -> Seen:
    """A class is predicted and never labelled, as misspelt ones are."""
    test = audited.test
    both = test.has("task") and test.has("task_pred")
    if test.classes is None or not both or test.soft("task_pred"):
        return
    labelled, predicted = test.count("task"), test.count("task_pred")
    of_texts = np.isin(np.array(test.tasks, dtype=object), [NO_LABEL, REFUSAL])
    strange = np.flatnonzero((labelled == 0) & (predicted > 0) & ~of_texts)
    if len(strange):
        names = [audited.task(test.tasks[i]) for i in strange]
        yield {"tasks": names, "rows": float(predicted[strange].sum())}


@check("SBA119", "untrained", rank=41, owner="data")
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


@check("SBA108", "group spelling", rank=42, severity="wrong", owner="data", reads=ROWS)
def group_spelling(audited: Audited) -> Seen:
    """Names of groups differ only in spaces, capital letters or invisible characters."""
    return _spelling(audited.test.groups)


@check("SBA109", "task spelling", rank=43, severity="wrong", owner="data")
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


@check("SBA110", "missing names", rank=44, severity="wrong", owner="data", reads=ROWS)
def missing_names(audited: Audited) -> Seen:
    """Groups or classes have names that stand for missing values in many files."""
    classes = audited.test.classes if audited.reads == "labels" else None
    named = {"group": audited.test.groups, "class": classes or ()}
    strange = {kind: list(filter(_stands_for_missing, names)) for kind, names in named.items()}
    if any(strange.values()):
        yield {"named": [f"{kind} {quote(names)}" for kind, names in strange.items() if names]}


# In small letters; readers of files know them as missing values too.
_MISSING = {"", "#n/a", "<na>", "n/a", "na", "nan", "-nan", "nat", "none", "null"}


def _stands_for_missing(name: Any) -> bool:
    if isinstance(name, tuple):
        return any(map(_stands_for_missing, name))
    return isinstance(name, str) and name.strip().casefold() in _MISSING


@check("SBA112", "weights", rank=60, owner="data", reads=ROWS)
def weights(audited: Audited) -> Seen:
    """Weights were read as counts, and add up to many more than the rows."""
    n, test = audited.n_given, audited.test
    if n is not None and test.whole and test.total >= 2 * n:
        yield {"given": n, "total": float(test.total)}


@check("SBA114", "training labels", rank=140, owner="data", reads=PAIRS)
def training_labels(audited: Audited) -> Seen:
    """No training labels were given."""
    if audited.train is None and audited.test.has("task") and not audited.are_attacks:
        yield {}


@check("SBA115", "sums", rank=160, severity="note", owner="data")
def sums(audited: Audited) -> Seen:
    """An engine summed what it could not count."""
    if audited.test.summed is not None:
        yield {}


@check("SBA116", "missing values", rank=165, severity="note", owner="data", reads=ROWS)
def missing_values(audited: Audited) -> Seen:
    """Rows without a sensitive feature were left out."""
    if audited.test.n_dropped:
        yield {"n": float(audited.test.n_dropped), "bounded": audited.report.unknown is not None}


@check("SBA113", "labels as truth", rank=67, owner="data", reads=PAIRS)
def labels_as_truth(audited: Audited) -> Seen:
    """Labels may be biased themselves: always worth saying."""
    if audited.report.context.get("labelled", True):
        yield {}


@check("SBA117", "reference as truth", rank=200, severity="note", owner="data")
def reference_as_truth(audited: Audited) -> Seen:
    """Rows that take the place of labels may be biased themselves."""
    if not audited.report.context.get("labelled", True):
        yield {}


@check("SBA118", "favourable class", rank=23, owner="policy", reads=PAIRS)
def favourable_class(audited: Audited) -> Seen:
    """No class was marked as the one that people want, or no number as better if it is larger."""
    test, is_number = audited.test, audited.reads == "numbers"
    one_task = len(test.tasks) == 1 if is_number else test.naming.one_label
    if test.has("task_pred") and not audited.are_attacks and not audited.favourable and one_task:
        yield {"number": test.tasks[0] if is_number else None}


# --------------------------------------------------------------------------- numbers

_MOST_CLASSES = 20
_MOST_GROUPS = 30  # of numbers; there are as many codes of regions, and more ages
_NARROW = 0.9  # of the labels' standard deviation


@check("SBA105", "numbers as classes", rank=35, severity="wrong", owner="data")
def numbers_as_classes(audited: Audited) -> Seen:
    """Labels are many whole numbers, which were read as classes."""
    names = audited.test.classes or ()
    numbers = [name for name in names if isinstance(name, int | float)]
    if len(numbers) > _MOST_CLASSES:
        yield {"n": len(numbers)}


@check("SBA107", "numbers as groups", rank=41, severity="wrong", owner="data", reads=ROWS)
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


@check("SBA205", "narrow predictions", rank=75, owner="model", reads=("numbers",))
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

_FEW_GROUPS = 5
_MANY = 0.3  # share of unknown words from which human texts are hardly read


@check("SBA404", "texts without a label", rank=155, severity="note", owner="data")
def texts_without_label(audited: Audited) -> Seen:
    """Texts from which no label was read."""
    if shares := list(_shares(audited, NO_LABEL)):
        yield {"shares": shares}


def unread(shares: list[dict[str, Any]]) -> list[Finding]:
    """Return the finding that no label was read from some texts, if there are any."""
    numbers = {"shares": shares}
    finding = Finding("SBA404", "texts without a label", "note", "data", numbers)
    return [finding] if shares else []


@check("SBA403", "refusals", rank=64, owner="model")
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


@check("SBA401", "empty texts", rank=54, owner="model", reads=("texts",))
def empty_texts(audited: Audited) -> Seen:
    """Rows have no word in their text."""
    human, model = (audited.most(f"empty_{side}") for side in ("data", "model"))
    if human or model:
        yield {"human": human, "model": model}


@check("SBA402", "unknown words", rank=55, owner="data", reads=("texts",))
def unknown_words(audited: Audited) -> Seen:
    """Many words of the human texts are not in the model's vocabulary."""
    most = audited.most("unknown_words")
    if most >= _MANY:
        yield {"share": float(most)}


@check("SBA405", "attacker", rank=180, severity="note", owner="policy", reads=("texts",))
def attacker_of_texts(audited: Audited) -> Seen:
    """The attacker decides how much texts reveal."""
    yield {}
