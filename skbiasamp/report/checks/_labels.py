"""Checks of the labels: of what they are, how they were read and what they lack."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from skbiasamp._input.checks import Names
from skbiasamp._input.errors import Role, Said, quote, rows_of
from skbiasamp._input.spelling import unspaced, visible
from skbiasamp._utils.formatting import NO_EFFECT, listed, points, rate, task_of
from skbiasamp.counts.contingency import Contingency, SideName
from skbiasamp.metrics.score_order import ScoreOrder, are_named, group_order, is_chosen, score_order
from skbiasamp.report.checks import PAIRS, ROWS, Audited, Findings, check
from skbiasamp.results import AuditResult
from skbiasamp.results.sensitivity import bears_errors
from skbiasamp.text.labeler import NO_LABEL, REFUSAL


def is_constant(signs: Contingency) -> bool:
    """Whether the labels that give the signs are all the same."""
    if not signs.has("task"):
        return False  # those of a fitted auditor
    counts = signs.count("task")
    return not ((counts > 0) & (counts < signs.total)).any()


@check("constant labels", rank=30, place="next")
def constant_labels(audited: Audited) -> Findings:
    """The labels that give the signs are all the same."""
    trained = audited.train is not None and audited.signs.has("task")
    if trained and not audited.signs.count("task").any():
        return  # audited labels give directions that training lacks
    if is_constant(audited.signs):
        yield (
            "The labels that decide what counts as amplification are the same in all rows, so "
            "there is no association to amplify.",
            "Check that this is the right column.",
        )


@check("never labelled", rank=40, place="next")
def never_labelled(audited: Audited) -> Findings:
    """A class is predicted and never labelled, as misspelt ones are."""
    test = audited.test
    both = test.has("task") and test.has("task_pred")
    if test.classes is None or not both or test.soft("task_pred"):
        return
    labelled, predicted = test.count("task"), test.count("task_pred")
    of_texts = np.isin(np.array(test.tasks, dtype=object), [NO_LABEL, REFUSAL])
    strange = np.flatnonzero((labelled == 0) & (predicted > 0) & ~of_texts)
    if len(strange):
        yield (
            f"The model predicts {quote([test.tasks[i] for i in strange])} for "
            f"{rows_of(predicted[strange].sum())}, and no audited row has that label.",
            "If it is another spelling of a label, these numbers are wrong: correct the spelling.",
        )


@check("untrained", rank=41, place="next")
def untrained(audited: Audited) -> Findings:
    """Training labels lack a group or a class of the audited rows."""
    train, test = audited.train, audited.test
    if train is None or not (train.has("task") and test.has("task")):
        return
    kinds: tuple[SideName, ...] = ("group", "task")
    for kind, trained, names in zip(
        kinds, (train.groups, train.tasks), (test.groups, test.tasks), strict=True
    ):
        there = {name for name, n in zip(trained, train.count(kind), strict=True) if n > 0}
        counts = zip(names, test.count(kind), strict=True)
        if new := [name for name, n in counts if n > 0 and name not in there]:
            they = f"{kind}s {quote(new)}" if len(new) > 1 else f"{kind} {quote(new)}"
            its = "their" if len(new) > 1 else "its"
            yield (
                f"The training labels lack the {they}: the audited labels give {its} directions.",
                "Check that training and audited rows are coded alike, or pass training labels "
                "that have all.",
            )


@check("group spelling", rank=42, place="next", reads=ROWS)
def group_spelling(audited: Audited) -> Findings:
    """Names of groups differ only in spaces, capital letters or invisible characters."""
    return _spelling(audited.test.groups, "group", "groups")


@check("task spelling", rank=43, place="next")
def task_spelling(audited: Audited) -> Findings:
    """Names of tasks differ only in spaces, capital letters or invisible characters."""
    return _spelling(audited.test.classes or audited.test.tasks, "task", "tasks")


def _spelling(names: Names, singular: str, plural: str) -> Findings:
    """Say which names differ only in what is easily misspelt."""
    if alike := _alike(names, visible):
        yield (
            f"The {plural} {listed(list(map(ascii, alike)))} look the same: they differ only in "
            "invisible characters, or in how accents are encoded.",
            f"If they are one {singular}, these numbers are wrong: remove such characters, and use "
            "unicodedata.normalize('NFC', text).",
        )
    elif alike := _alike(names, lambda name: unspaced(visible(name))):
        yield (
            f"The {plural} {quote(alike)} differ only in spaces or capital letters.",
            f"If they are one {singular}, these numbers are wrong: correct the spelling.",
        )


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


@check("missing names", rank=44, place="next", reads=ROWS)
def missing_names(audited: Audited) -> Findings:
    """Groups or classes have names that stand for missing values in many files."""
    classes = audited.test.classes if audited.reads == "labels" else None
    named = {"group": audited.test.groups, "class": classes or ()}
    strange = {kind: list(filter(_stands_for_missing, names)) for kind, names in named.items()}
    named_so = [f"{kind} {quote(names)}" for kind, names in strange.items() if names]
    if named_so:
        yield (
            f"The names of {listed(named_so)} stand for missing values in many files.",
            "If they do here, make these cells empty, or leave the rows out.",
        )


# In small letters; readers of files know them as missing values too.
_MISSING = {"", "#n/a", "<na>", "n/a", "na", "nan", "-nan", "nat", "none", "null"}


def _stands_for_missing(name: Any) -> bool:
    if isinstance(name, tuple):
        return any(map(_stands_for_missing, name))
    return isinstance(name, str) and name.strip().casefold() in _MISSING


@check("positive class", rank=5, place="verdict")  # which is about the other class
def scores_of_other_class(audited: Audited) -> Findings:
    """Scores are larger for the rows without the positive class."""
    order = next((order for order in _orders(audited) if order.reversed), None)
    if order is not None:
        yield (
            f"The scores should be larger for rows labelled '{task_of(order.positive)}', the "
            "positive class, and are larger for the others: their area under the ROC curve is "
            f"{order.shown}.",
            Said(
                "If they are scores of '{other_class}', pass {option}.",
                other_class=task_of(order.other),
                option=Role("pos_label", f"={order.other!r}"),
            ),
        )


@check("group scores", rank=6, place="verdict")
def group_scores(audited: Audited) -> Findings:
    """Probabilities of a group are larger for the rows of the other one."""
    order = group_order(audited.test)
    if order is None or not order.reversed:
        return
    last, first = (audited.group(name) for name in (order.positive, order.other))
    yield (
        f"Probabilities of groups were read as those of '{last}', which sorts last, and are "
        f"larger for the rows of '{first}': their area under the ROC curve is {order.shown}.",
        Said(
            "If they are those of '{first}', pass {sensitive_pred} as two columns, that of "
            "'{first}' before that of '{last}'.",
            first=first,
            last=last,
        ),
    )


@check("weak scores", rank=21, place="next")
def weak_scores(audited: Audited) -> Findings:
    """Scores are those of the class that sorts last, and too weak to show whether that is right."""
    order = next((order for order in _orders(audited) if order.unclear), None)
    if order is None or is_chosen(audited.test):
        return
    if are_named(audited.test) or order.doubtful:
        yield (
            f"The scores were read as those of '{task_of(order.positive)}', which sorts last, and "
            "hardly rank its rows above or below the others: their area under the ROC curve is "
            f"{order.shown}.",
            Said(
                "Say of which class they are: {first} or {last}.",
                first=Role("pos_label", f"={order.other!r}"),
                last=Role("pos_label", f"={order.positive!r}"),
            ),
        )


def _orders(audited: Audited) -> Iterator[ScoreOrder]:
    """Yield how the scores of a report rank both classes."""
    test = audited.test
    for cells in (audited.scored, test if test.soft("task_pred") else None):
        order = None if cells is None else score_order(cells)
        if order is not None:
            yield order


@check("weights", rank=60, place="next", reads=ROWS)
def weights(audited: Audited) -> Findings:
    """Weights were read as counts, and add up to many more than the rows."""
    n, test = audited.n_given, audited.test
    if n is not None and test.whole and test.total >= 2 * n:
        yield (
            f"{n:,} rows came with weights that add up to {test.total:,.15g}. Whole numbers count "
            "as that many rows each.",
            "If they are sampling weights, the intervals are far too narrow: divide the weights by "
            "their mean.",
        )


@check("training labels", rank=140, place="next", reads=PAIRS)
def training_labels(audited: Audited) -> Findings:
    """No training labels were given."""
    if audited.train is None and audited.test.has("task") and not audited.are_attacks:
        yield (
            "No training labels were given, so the audited labels decide which change counts as "
            "amplification.",
            Said(
                "Get the labels that the model was trained on, and their groups, and pass them as "
                "{y_train and sensitive_train}."
            ),
        )


@check("sums", rank=160)
def sums(audited: Audited) -> Findings:
    """An engine summed what it could not count."""
    if audited.test.summed is None:
        return
    yield (
        "The engine summed each task by itself, so metrics that need single rows were left out "
        "(attackers, sets of labels, some intervals).",
        "To get them, count with Contingency.from_frame(..., joint=True).",
    )


@check("missing values", rank=165, reads=ROWS)
def missing_values(audited: Audited) -> Findings:
    """Rows without a sensitive feature were left out."""
    n = audited.test.n_dropped
    if n:
        yield (
            f"{n:,.15g} rows without a sensitive feature were left out.",
            Said("Check whether they differ from the others: {missing='group'} audits them too."),
        )


@check("labels as truth", rank=67, place="next", reads=PAIRS)
def labels_as_truth(audited: Audited) -> Findings:
    """Labels may be biased themselves: always worth saying."""
    if audited.report.context.get("labelled", True):
        yield (
            "The labels are taken as the truth. If they are biased themselves, a value of 0 means "
            f"only that the model repeats them.{_bears(audited.primary)}",
            "Find out how the labels were made, and who may be labelled wrongly.",
        )


def _bears(primary: AuditResult | None) -> str:
    """Return how many wrong labels the verdict of the primary metric bears, as a sentence."""
    if primary is None or not bears_errors(primary):
        return ""
    every, *pairs = primary.sensitivity().to_dict("records")
    becomes = f"The verdict of {primary.name} can become '{NO_EFFECT}' if"
    if pairs and pairs[0]["share"] <= 1:  # not NaN
        part, whose = rate(pairs[0]["share"]), primary.group_name(pairs[0]["group"])
        task = f"'{task_of(pairs[0]['task'])}'"
        wrong = f"are labelled {task} and should not be"
        if pairs[0]["label"] == "too rarely":
            wrong = f"should be labelled {task} and are not"
        return f" {becomes} {part} of the rows of the group {whose} {wrong}."
    if every["share"] <= 1:
        off = points(every["share"])
        return f" {becomes} every rate of the labels is wrong by {off}."
    return ""


@check("reference as truth", rank=200)
def reference_as_truth(audited: Audited) -> Findings:
    """Rows that take the place of labels may be biased themselves."""
    if not audited.report.context.get("labelled", True):
        yield (
            "The reference is taken for what should be. If it is biased itself, a value of 0 means "
            "only that the model repeats it.",
            "Find out how the reference rows came about, and who may be missing in them.",
        )
