"""Several models on the same rows: their values, facts and findings, beside a reference."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from skbiasamp._input.checks import check_option
from skbiasamp._utils import formatting as words
from skbiasamp._utils.formatting import (
    metric_name,
    name_of,
    side_of_zero,
)
from skbiasamp.render.document import Document
from skbiasamp.render.facts import Change, Facts, Finding, Guesses, Model, express
from skbiasamp.results._facts import (
    ahead_first,
    change_in,
    facts_of_changes,
    gap_of_two,
    group_name,
    guesses_of,
    has_groups,
    has_rates,
)
from skbiasamp.results.exports import (
    OfMetric,
    Shown,
    as_json,
    of_frame,
    records,
    without_equal_values,
)
from skbiasamp.results.kinds import Kind

# --------------------------------------------------------------------------- facts


# Where labels show no clear gap, the changes of groups speak and not the value.
_OF_CHANGES = words.ADDS_MORE, words.ADDS_LESS, words.NO_DIFFERENCE


def model_facts(result: Any, model: str, context: Mapping[str, Any] | None = None) -> Facts:
    """Return what a comparison tells of one model."""
    known = context or {}
    value, low, high = result.judged(model)
    shared = facts_of_changes(result, _changes(result, model, known), known)
    view, changes = shared["view"], shared["changes"]
    row, verdict, reason = result._row(model), result.verdict(model), None
    if verdict == words.NOT_MEASURED:
        reason = "undefined" if math.isnan(value) else "no interval"
    sizes: Any = [change for change in changes if change.change is not None]
    sizes = [each for each in sizes if each.is_clear] or sizes
    worst = max(sizes, key=lambda each: abs(each.change), default=None)
    gap = labelled = None
    if view == "gap":
        worst = max(changes, key=lambda each: abs((each.after or 0) - (each.before or 0)))
        labelled = _labelled_gap(result, changes, known)
    if view == "gap" and result.percent:
        gap = gap_of_two(changes)
        first, other = ahead_first(changes, 3)
        moved = (first.change or 0.0) - (other.change or 0.0)
        if not math.isnan(low) and abs(2 * abs(value) - abs(moved)) <= 2e-3:
            ends = (2 * low, 2 * high) if value * moved >= 0 else (-2 * high, -2 * low)
            gap = replace(gap, low=ends[0], high=ends[1])
        elif verdict in _OF_CHANGES and first.low and first.high:
            # The changes of two groups mirror each other.
            times = abs(moved / first.change) if first.change else 2.0
            gap = replace(gap, low=times * first.low, high=times * first.high)
    return Facts(
        verdict,
        model=name_of(model),
        **dict(zip(("value", "low", "high"), as_json((value, low, high)), strict=True)),
        p_value=as_json(row["p_adjusted"]),
        gap=gap,
        worst=worst,
        labelled_gap=labelled,
        guesses=_guesses(result, model),
        before=name_of(result.reference),
        after=name_of(model),
        about=result.about,
        guessed_from=result.guessed_from,
        reason=reason,
        models=tuple(
            Model(name_of(own["model"]), own["value"], own["low"], own["high"], own.get("verdict"))
            for own in records(result.table)
        ),
        n_runs=known.get("n_runs"),
        changed=as_json(row["changed"]),
        **shared,
    )


def _changes(result: Any, model: str, context: Mapping[str, Any]) -> tuple[Change, ...]:
    """Return the rates of the reference and of a model."""
    pairs = result.pairs
    if not has_rates(result) or not {"reference", "observed"} <= set(pairs):
        return ()
    columns = context.get("group_columns") or result.group_columns
    rows = [row for row in records(pairs) if row["model"] == model]
    return tuple(
        change_in(row, columns, context, "reference", _effect(row))
        for row in rows
        if None not in (row["reference"], row["observed"])
    )


def _effect(row: Mapping[str, Any]) -> str:
    """Return what a change does to the association of its pair: as its part of the difference."""
    low, high = (row.get(f"{end}_simultaneous") for end in ("low", "high"))
    if low is None or high is None:
        return "unknown"
    if not (low > 0 or high < 0):
        return "unclear"
    return "grows" if (row.get("amplification") or 0.0) > 0 else "shrinks"


def _labelled_gap(
    result: Any, changes: tuple[Change, ...], context: Mapping[str, Any]
) -> float | None:
    """Return the gap in the labels that models of the same rows are compared with."""
    first, other = ahead_first(changes, 3)
    columns = context.get("group_columns") or result.group_columns
    rates = {group_name(row["group"], columns): row.get("base") for row in records(result.pairs)}
    before, after = rates.get(first.group), rates.get(other.group)
    known = result.percent and context.get("labelled", True)
    if before is None or after is None or not known:
        return None
    gap = float(round(before, 3) - round(after, 3))
    return gap if gap * ((first.before or 0.0) - (other.before or 0.0)) >= 0 else None


def _guesses(result: Any, model: str) -> Guesses | None:
    """Return how well attackers guess from the predictions of both models."""
    pairs = result.pairs
    if not result.kind.has_attacker or not {"reference", "observed"} <= set(pairs):
        return None
    own = pairs[pairs["model"] == model]
    before, after = (float(own[name].mean()) for name in ("reference", "observed"))
    return None if math.isnan(before + after) else guesses_of(result, before, after)


# --------------------------------------------------------------------------- findings


# Topic, severity and owner of each finding, and when it is made.
FINDINGS = {
    "SBA501": ("reversal", "wrong", "model", "A model turns the association of the labels around."),
    "SBA502": ("precision", "act", "data", "These rows do not separate two models."),
    "SBA503": ("no gain", "act", "policy", "A model amplifies more, and is not more accurate."),
    "SBA504": ("cost", "act", "policy", "A model amplifies less, and is less accurate."),
    "SBA505": ("metrics disagree", "note", "policy", "Metrics point in opposite directions."),
    "SBA506": ("choice", "act", "policy", "A model is chosen by a difference on these rows."),
    "SBA507": ("probabilities", "act", "model", "Predictions are probabilities."),
    "SBA508": ("training labels", "act", "data", "No training labels were given."),
    "SBA509": ("missing values", "note", "data", "Rows without a sensitive feature were left out."),
    "SBA601": (
        "final model",
        "act",
        "model",
        "A way of training was audited, no final model.",
    ),
}


def finding_by_code(code: str, **numbers: Any) -> Finding:
    topic, severity, owner, _ = FINDINGS[code]
    return Finding(code, topic, severity, owner, numbers)


def findings_of_models(report: Any) -> Iterator[Finding]:
    """Yield what to know of each model, then of the choice between them."""
    primary = report[report.primary]
    facts = [primary.facts(model) for model in report.models]
    for model, own in zip(report.models, facts, strict=True):
        verdict = primary.verdict(model)
        names = {"model": name_of(model), "reference": name_of(report.reference)}
        if verdict == words.REVERSES:
            yield finding_by_code("SBA501", **names)
        elif verdict == words.NO_DIFFERENCE:
            yield finding_by_code("SBA502", **names)
        row = {row["model"]: row for row in report._accuracies}.get(model, {})
        least, most = (row.get(f"difference_{end}") for end in ("low", "high"))
        way = words.DIRECTION_OF.get(verdict, 0)
        known = least is not None and most is not None  # evidence of a gain or a loss
        if known and not (own.against and "amplifies" in verdict):
            differ = names | {"verdict": verdict, "gaps": own.view in ("gap", "groups", "tasks")}
            if way > 0 >= least:
                yield finding_by_code("SBA503", **differ)
            elif way < 0 and most < 0 and verdict != words.REVERSES:
                yield finding_by_code("SBA504", lost=-row["difference"], **differ)
        yield from _disagreement(report, model, names)
    if report.context.get("probabilities") and not primary.kind.has_attacker:
        yield finding_by_code("SBA507")
    amplify = {
        name_of(row["model"]): row["value"]
        for row in records(primary.table)
        if row.get("verdict") == words.AMPLIFIES
    }
    points = all(each.view == "gap" and each.percent for each in facts)
    choice = _choice(primary) if len(facts) == 1 else {}
    yield finding_by_code("SBA506", amplify=amplify, points=points, **_UNDECIDED | choice)
    signed = [result for result in report.values() if not result.kind.has_attacker]
    texts = report.context.get("data_kind") == "texts"
    if report.context.get("n_train") is None and signed and not texts:
        yield finding_by_code("SBA508", everyone=not any(map(has_groups, signed)))
    if n := report.context.get("n_dropped"):
        yield finding_by_code("SBA509", n=n, bounded=True)  # a comparison has no bounds


_UNDECIDED = {"prefer": None, "neither": False}


def _choice(result: Any) -> dict[str, Any]:
    """Return which of two models to prefer by amplification, or that neither of them amplifies.

    A smaller value is no merit if the other model adds nothing.
    """
    (model,) = result.models
    own = {
        row["model"]: str(row.get("verdict") or words.NOT_MEASURED) for row in records(result.table)
    }
    way = words.DIRECTION_OF.get(result.verdict(model), 0)
    if not way or not {words.REVERSES, words.NOT_MEASURED}.isdisjoint(own.values()):
        return {}
    better, other = (model, result.reference) if way < 0 else (result.reference, model)
    if own[better] == words.REDUCES and not has_groups(result):
        return {}  # without groups, less than the labels have is no merit
    if words.DIRECTION_OF.get(own[other], 0) > 0:
        return {"prefer": name_of(better)}
    return {"neither": words.DIRECTION_OF.get(own[better], 0) <= 0}


def _disagreement(report: Any, model: str, names: Mapping[str, str]) -> Iterator[Finding]:
    """Yield that metrics disagree in direction about a model, and which."""
    verdicts = {name: result.verdict(model) for name, result in report.items()}
    above, below = (
        [name for name in verdicts if words.DIRECTION_OF.get(verdicts[name]) == way]
        for way in (1, -1)
    )
    if not (above and below) or words.REVERSES in verdicts.values():
        return
    asked = [name for name in above + below if not report[name].kind.has_attacker]
    rates = any(report[name].direction == "A->T" for name in asked)
    shares = any(report[name].direction is None for name in asked)
    numbers = {
        "more": {metric_name(name): verdicts[name] for name in above},
        "less": {metric_name(name): verdicts[name] for name in below},
        "rates_and_shares": rates and shares,
    }
    yield finding_by_code("SBA505", **names, **numbers)


# --------------------------------------------------------------------------- the result

MODEL_COLUMNS = (
    *("model", "value", "published", "low", "high"),
    *("difference", "difference_low", "difference_high", "p_value", "p_adjusted", "changed"),
)


@dataclass(frozen=True, eq=False, repr=False)
class ComparisonResult(Shown, OfMetric):
    """Result of comparing several models on the same rows.

    An auditor's ``compare`` returns it. Intervals of differences are narrower than separate
    intervals suggest: all models predict the same rows, and what they have in common cancels.

    .. versionadded:: 0.1

    Attributes
    ----------
    metric : str
        The metric's name, such as "MALS" or "directional".
    direction : str or None
        "A->T" (does the group shift the predicted task?), "T->A" (does the task shift the
        predicted group?), or None if the metric has no direction.
    reference : str
        The model that the others are compared with.
    table : DataFrame
        One row a model, the reference first: ``model``, its ``value`` with ``low`` and ``high``
        and its ``published`` value (see `AuditResult`), the ``difference`` of its value to the
        reference's with ``difference_low`` and ``difference_high``, its ``p_value``,
        ``p_adjusted`` (for the number of models), ``verdict`` (of the model by itself, if it is
        known), ``difference_verdict`` and ``changed``: the share of rows with another prediction
        than the reference's, NaN if each model has rows of its own.
    pairs : DataFrame
        One row for each model, group and task: the rate in the predictions of the ``reference``
        and of the model (``observed``), their ``difference``, ``change`` (the difference compared
        with that of all rows) with ``low``, ``high``, ``p_value`` (Student's t test) and
        ``p_adjusted`` for the number of pairs of this model, not of all models,
        ``low_simultaneous`` and ``high_simultaneous`` (of `change`, for all pairs at once), and
        ``amplification`` (what the pair adds to the difference of the values). For attackers: the
        quality that an attacker reaches from the predictions of either.
    churn : DataFrame
        One row for each model and group: its rows ``n``, how many were ``changed``, their
        ``share``, and the ``p_value`` of the test that this share is the same in all groups.
    confidence_level : float or None
        Level of the intervals, None if none were requested.
    n_samples : int or float
        Audited rows, or the sum of their weights.
    params : dict
        The auditor's parameters.
    kind : {"signed", "size", "attack"}
        How values are read: a signed mean, a mean of absolute changes, or the gain of an attacker.
    question : str
        The question that the metric answers.
    rank : int
        Rank among the results of a report.
    percent : bool
        Whether the rates of a pair are shares of 1.
    unit : str
        Unit of the values and of the pairs' amplification; empty if they are changes of shares.
    group_columns : tuple
        Names of the sensitive columns that make the groups, empty if unknown.
    about : str
        For attackers: what they guess, such as "the group".
    guessed_from : str
        For attackers: what they see, if it is not the predictions.
    citation : str
        BibTeX entry of the metric's paper; empty if there is none.

    Examples
    --------
    >>> from skbiasamp import DirectionalAuditor
    >>> sex = ["f"] * 400 + ["m"] * 400
    >>> hired = [1] * 100 + [0] * 300 + [1] * 200 + [0] * 200
    >>> old = [1] * 90 + [0] * 310 + [1] * 210 + [0] * 190
    >>> new = [1] * 60 + [0] * 340 + [1] * 250 + [0] * 150
    >>> auditor = DirectionalAuditor().fit(hired, sensitive_features=sex)
    >>> result = auditor.compare(hired, {"old": old, "new": new}, sensitive_features=sex)
    >>> result.verdicts
    {'new': 'amplifies more'}
    >>> round(result.difference("new"), 4)
    0.0875
    """

    _last = ("verdicts", "sentences", "table", "pairs", "churn")

    metric: str
    direction: str | None
    reference: str
    table: pd.DataFrame
    pairs: pd.DataFrame
    churn: pd.DataFrame
    confidence_level: float | None
    n_samples: float
    params: dict[str, Any] = field(default_factory=dict)
    kind: Kind = Kind.SIGNED
    question: str = ""
    rank: float = 9
    percent: bool = True
    unit: str = ""
    group_columns: tuple[Hashable, ...] = ()
    about: str = "the group"
    guessed_from: str = ""
    citation: str = ""

    @property
    def models(self) -> list[str]:
        """The models that are compared with the reference."""
        return [model for model in self.table["model"] if model != self.reference]

    def difference(self, model: str) -> float:
        """Return by how much a model's value exceeds the reference's.

        Parameters
        ----------
        model : str
            One of the models.

        Returns
        -------
        difference : float
        """
        return float(self._row(model)["difference"])

    def _row(self, model: str) -> Any:
        models = list(self.table["model"])
        check_option("model", model, models)
        return self.table.iloc[models.index(model)]

    def judged(self, model: str) -> tuple[float, float, float]:
        """Return the difference and interval that the verdict is about.

        Parameters
        ----------
        model : str
            One of the models.

        Returns
        -------
        difference, low, high : float
        """
        row = self._row(model)
        names = ("difference", "difference_low", "difference_high")
        value, low, high = (float(row[name]) for name in names)
        return value, low, high

    def verdict(self, model: str) -> str:
        """Return what the comparison of a model with the reference says, in a fixed vocabulary.

        Parameters
        ----------
        model : str
            One of the models.

        Returns
        -------
        verdict : str
            "amplifies more", "amplifies less"; "adds more" and "adds less" (the labels show no
            clear difference between groups, and the models add one); for attackers "reveals more"
            and "reveals less"; "no clear difference" or "not measured"; "reverses" if the model
            turns the association of the labels around, and the reference does not. The adjusted
            test, too, has to find a difference if there are several models.
        """
        side, row = side_of_zero(*self.judged(model)), self._row(model)
        if side in ("undefined", "unknown"):
            return words.NOT_MEASURED
        level = 0.95 if self.confidence_level is None else self.confidence_level
        p_value, named = float(row["p_adjusted"]), row.get("difference_verdict")
        if side == "across" and named in (words.ADDS_MORE, words.ADDS_LESS):
            return named  # by the changes of pairs, tested for all models together
        if not (math.isnan(p_value) or p_value < round(1 - level, 12)):
            return words.NO_DIFFERENCE
        if words.REVERSES == self.own_verdict(model) != self.own_verdict(self.reference):
            return words.REVERSES
        return named if isinstance(named, str) else self.kind.verdict_of_difference(side)

    def own_verdict(self, model: str) -> str:
        """Return the verdict about a model by itself, as an audit of it gives; or "".

        Parameters
        ----------
        model : str
            One of the models, or the reference.

        Returns
        -------
        verdict : str
            As `AuditResult.verdict`. Attackers, and comparisons of several runs, have none here.
        """
        return str(self._row(model).get("verdict", ""))

    @property
    def verdicts(self) -> dict[str, str]:
        """The verdict about each model."""
        return {model: self.verdict(model) for model in self.models}

    @property
    def sentences(self) -> dict[str, str]:
        """What the comparison of each model says."""
        return {model: self.sentence(model) for model in self.models}

    def sentence(self, model: str) -> str:
        """Return what the comparison of a model says: verdict, how much, and how sure that is.

        Parameters
        ----------
        model : str
            One of the models.

        Returns
        -------
        text : str
        """
        return express("comparison", "sentence", self.facts(model))

    def facts(self, model: str) -> Facts:
        """Return what the comparison tells of a model, as numbers and names.

        Parameters
        ----------
        model : str
            One of the models.

        Returns
        -------
        facts : Facts
        """
        return model_facts(self, model)

    def to_document(self) -> Document:
        """Return the models' values and sentences as plain data, which renderers show.

        Returns
        -------
        document : Document
        """
        title = f"{self.name}, compared with {self.reference!r} ({self.n_samples:,.15g} rows)"
        shown = without_equal_values(self.table.dropna(axis="columns", how="all"))
        shown = shown.drop(columns="difference_verdict", errors="ignore")
        shown = shown.assign(model=[name_of(model) for model in shown["model"]])
        if len(self.models) < 2:
            shown = shown.drop(columns="p_adjusted", errors="ignore")
        return of_frame(title, shown, [self.sentence(model) for model in self.models])
