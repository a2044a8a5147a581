"""The facts of comparisons: of each model beside the reference, and what to know of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from skbiasamp._utils import formatting as words
from skbiasamp._utils.formatting import metric_name, name_of
from skbiasamp.render.facts import Change, Facts, Finding, Gap, Guesses, Model
from skbiasamp.results._facts import ahead_first, group_name, task_name, wanted_in, who_of
from skbiasamp.results._json import as_json, records


def model_facts(result: Any, model: str, context: Mapping[str, Any] | None = None) -> Facts:
    """Return what a comparison tells of one model."""
    known = context or {}
    value, low, high = result.judged(model)
    changes = _changes(result, model, known)
    groups = tuple(dict.fromkeys(change.group for change in changes))
    tasks = tuple(dict.fromkeys(change.task for change in changes))
    view = "pairs" if result.direction != "A->T" and result.percent else "tasks"
    if result.kind.has_attacker:
        view = "attack"
    elif not changes:
        view = "none"
    elif view == "tasks" and len(tasks) == 1:
        view = "gap" if len(groups) == 2 else "groups"
    row = result._row(model)
    favourable = wanted_in(known)
    sizes: Any = [change for change in changes if change.change is not None]
    worst = max(sizes, key=lambda each: abs(each.change), default=None)
    if view == "gap":
        worst = max(changes, key=lambda each: abs((each.after or 0) - (each.before or 0)))
    return Facts(
        result.verdict(model),
        view,
        model=name_of(model),
        data=known.get("data_name"),
        metric=result.metric,
        direction=result.direction,
        **dict(zip(("value", "low", "high"), as_json((value, low, high)), strict=True)),
        p_value=as_json(row["p_adjusted"]),
        level=result.confidence_level,
        unit=result.unit,
        percent=result.percent,
        gap=_gap(value, low, high, changes) if view == "gap" and result.percent else None,
        worst=worst,
        who=who_of(changes, tasks, favourable) if view in ("gap", "groups", "tasks") else None,
        labelled_gap=_labelled_gap(result, changes, known) if view == "gap" else None,
        guesses=_guesses(result, model),
        changes=changes,
        before=name_of(result.reference),
        after=name_of(model),
        tasks=tasks,
        target=known.get("target"),
        groups=groups,
        favourable=favourable,
        about="the group",
        reason=_reason(result, model),
        models=models_of(result),
        n=as_json(result.n_samples),
        n_train=known.get("n_train"),
        n_runs=known.get("n_runs"),
        n_dropped=known.get("n_dropped") or None,
        changed=as_json(row["changed"]),
        date=(known.get("date") or "").partition(" ")[0] or None,
    )


def models_of(result: Any) -> tuple[Model, ...]:
    """Return every model by itself: its value with the interval, and its verdict if it is known."""
    return tuple(
        Model(name_of(row["model"]), row["value"], row["low"], row["high"], row.get("verdict"))
        for row in records(result.table)
    )


def _changes(result: Any, model: str, context: Mapping[str, Any]) -> tuple[Change, ...]:
    """Return the rates of the reference and of a model."""
    pairs = result.pairs
    if result.kind.has_attacker or not {"reference", "observed"} <= set(pairs):
        return ()
    columns = context.get("group_columns") or result.group_columns
    rows = [row for row in records(pairs) if row["model"] == model]
    return tuple(
        Change(
            group_name(row["group"], columns),
            task_name(row["task"], context),
            row.get("n"),
            row["reference"],
            row["observed"],
            row.get("change"),
            row.get("low_simultaneous"),
            row.get("high_simultaneous"),
            _effect(row),
        )
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


def _gap(value: float, low: float, high: float, changes: tuple[Change, ...]) -> Gap:
    """Return the gap of two groups by the reference, and by the model."""
    first, other = ahead_first(changes, 3)
    before, after = (
        round(getattr(first, side), 3) - round(getattr(other, side), 3)
        for side in ("before", "after")
    )
    moved = (first.change or 0.0) - (other.change or 0.0)
    ends: tuple[float, float] | None = None
    if not math.isnan(low) and abs(2 * abs(value) - abs(moved)) <= 2e-3:
        ends = (2 * low, 2 * high) if value * moved >= 0 else (-2 * high, -2 * low)
    return Gap(first.group, other.group, before, after, after - before, *(ends or (None, None)))


def _guesses(result: Any, model: str) -> Guesses | None:
    """Return how well attackers guess from the predictions of both models."""
    pairs = result.pairs
    if not result.kind.has_attacker or not {"reference", "observed"} <= set(pairs):
        return None
    own = pairs[pairs["model"] == model]
    before, after = (float(own[name].mean()) for name in ("reference", "observed"))
    return None if math.isnan(before + after) else Guesses(before, after, None)


def _reason(result: Any, model: str) -> str | None:
    if result.verdict(model) != words.NOT_MEASURED:
        return None
    return "undefined" if math.isnan(result.judged(model)[0]) else "no interval"


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
}


def _found(code: str, **numbers: Any) -> Finding:
    topic, severity, owner, _ = FINDINGS[code]
    return Finding(code, topic, severity, owner, numbers)


def findings_of_models(report: Any) -> Iterator[Finding]:
    """Yield what to know of each model, then of the choice between them."""
    primary = report[report.primary]
    for model in report.models:
        yield from _findings_of(report, primary, model)
    if report.context.get("probabilities") and not primary.kind.has_attacker:
        yield _found("SBA507")
    amplify = {
        name_of(row["model"]): row["value"]
        for row in records(primary.table)
        if row.get("verdict") == words.AMPLIFIES
    }
    yield _found("SBA506", amplify=amplify)
    if report.context.get("n_train") is None and report.context.get("data_kind") != "texts":
        yield _found("SBA508")
    if n := report.context.get("n_dropped"):
        yield _found("SBA509", n=n, bounded=True)  # a comparison has no bounds


def _findings_of(report: Any, primary: Any, model: str) -> Iterator[Finding]:
    """Yield what to know of one model."""
    verdict = primary.verdict(model)
    names = {"model": name_of(model), "reference": name_of(report.reference)}
    if verdict == words.REVERSES:
        yield _found("SBA501", **names)
    elif verdict == words.NO_DIFFERENCE:
        yield _found("SBA502", **names)
    row = {row["model"]: row for row in report._accuracies}.get(model, {})
    least, most = (row.get(f"difference_{end}") for end in ("low", "high"))
    way = words.DIRECTION_OF.get(verdict, 0)
    if least is not None and most is not None:  # evidence of a gain or a loss
        if way > 0 >= least:
            yield _found("SBA503", verdict=verdict, **names)
        elif way < 0 and most < 0:
            yield _found("SBA504", verdict=verdict, lost=-row["difference"], **names)
    yield from _disagreement(report, model, names)


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
    yield _found("SBA505", **names, **numbers)
