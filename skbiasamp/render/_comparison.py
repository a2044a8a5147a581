"""Content of the page that compares models, in its order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from skbiasamp._utils.formatting import (
    AMPLIFIES_LESS,
    AMPLIFIES_MORE,
    NO_DIFFERENCE,
    NOT_MEASURED,
    REVEALS_LESS,
    REVEALS_MORE,
    amount,
    group_of,
    level_of,
    listed,
    name_of,
    number,
    p_value,
    rate,
    task_of,
)
from skbiasamp.render._page_tables import (
    Axis,
    Table,
    count,
    interval,
    interval_mark,
    naming_of_pairs,
    shown,
)
from skbiasamp.render._record import facts, record_of, short, table_rows

# Symbol and side (the colour) of each verdict.
TAGS = {
    AMPLIFIES_MORE: ("▲", "above"),
    REVEALS_MORE: ("▲", "above"),
    AMPLIFIES_LESS: ("▼", "below"),
    REVEALS_LESS: ("▼", "below"),
    NO_DIFFERENCE: ("◆", "across"),
    NOT_MEASURED: ("–", "undefined"),
}
_ENDS = ("difference", "difference_low", "difference_high")
# The verdict on a mean of absolute changes is about the mean of signed ones.
_RATES = {
    "accuracy": "Accuracy",
    "true_positive_rate": "True positive rate",
    "false_positive_rate": "False positive rate",
}

LIMITS = {
    "A difference is no level": "The comparison says which model amplifies more. Both may amplify, "
    "and neither may: read the values of both.",
    "These rows": "Intervals say how a difference would vary with other test rows of the same "
    "kind. They do not say how it would vary if a model were trained again.",
    "No clear difference": "This does not mean that the models are equal: every value in the "
    "interval agrees with these rows.",
}


def comparison_view(content: dict[str, Any], *, most: int) -> dict[str, Any]:
    """Return what the template fills in; no table has more than `most` rows."""
    context, results = content["context"], content["results"]
    primary = results[content["primary"]]
    reference, models = content["reference"], list(primary["verdicts"])
    # Whose rates changed: of the first metric whose pairs count rows.
    counted = [one for one in results.values() if "gained" in (one["pairs"] or [{}])[0]]
    seen = min(counted, key=lambda one: (one["direction"] is None, one["rank"]), default=None)
    rates = table_rows(content["rates"])
    cards = []
    for i, model in enumerate(models, 1):
        card = {"id": f"model-{i}", "model": name_of(model), "sentence": content["verdicts"][model]}
        card |= _tagged(primary["verdicts"][model])
        card["note"] = content["notes"].get(model, "").replace("->", "→")
        if seen is not None:
            card["pairs"] = _pairs(f"pairs-{i}", seen, model, most)
        card["errors"] = _errors(f"errors-{i}", rates, model, reference, context, most)
        card["churn"], card["test"] = _churn(f"churn-{i}", primary, model, reference, most)
        cards.append(card)
    title = cards[0]["model"] if len(cards) == 1 else f"{len(cards)} models"
    others = [card["model"] for card in cards[:_MOST_NAMED]]
    if len(cards) > _MOST_NAMED:
        others.append(f"{len(cards) - _MOST_NAMED} more")
    heading = {"Models": f"{listed(others)}, compared with {name_of(reference)}", **facts(context)}
    heading.pop("Model", None)
    return {
        "title": f"Bias amplification: {title} compared with {name_of(reference)}",
        "context": context,
        "facts": heading,
        "reference": name_of(reference),
        "metric": _title(content["primary"]),
        "cards": cards,
        "accuracy": _accuracy(table_rows(content["accuracy"]), reference, most),
        "differences": _differences(results, models, reference, most),
        "questions": {_title(name): one["question"] for name, one in results.items()},
        "limits": _limits(context, results, len(models)),
        "record": record_of(context, content["schema"]),
        "data_files": content.get("data_files", []),
        "audits": [
            {
                "name": _title(name),
                "parameters": [(key, short(value)) for key, value in one["params"].items()],
            }
            for name, one in results.items()
        ],
    }


_MOST_NAMED = 6


def _title(name: str) -> str:
    return name_of(name).replace("->", "→")


def _tagged(verdict: str) -> dict[str, str]:
    symbol, side = TAGS[verdict]
    return {"symbol": symbol, "side": side, "word": verdict}


def _key(row: dict[str, Any]) -> tuple[str, str]:
    return str(row["group"]), str(row["task"])


def _balanced(values: Iterable[float | None]) -> Axis:
    """Return an axis with 0 in its middle."""
    known = [one for one in values if one is not None]
    return Axis.around(end for one in known for end in (one, -one))


def _points(change: float | None) -> float | None:
    return None if change is None else change * 100


def _dot(axis: Axis, change: float | None) -> dict[str, Any]:
    """Return a dot for a change in percentage points."""
    says = f"{number(change, '+.2f')} percentage points"
    return {"side": "plain", "says": says, "dot": None if change is None else axis.at(change)}


def _pairs(id: str, result: dict[str, Any], model: str, most: int) -> Table:
    """Return the rates of both models, the largest change first."""
    every = [row for row in result["pairs"] if row["model"] == model]
    percent = result["percent"]
    # Means have units of their own, and one axis has one unit: that of the value.
    size = "difference" if percent else "amplification"
    rows = sorted(every, key=lambda row: -abs(row[size] or 0))[:most]
    heading, named = naming_of_pairs(every, result["group_columns"])
    scale = 100 if percent else 1

    def form(value: Any) -> str:
        return rate(value) if percent else amount(value)

    def change(row: Mapping[str, Any]) -> list[float | None]:
        """Return the change and its interval, which follows the sign of the association."""
        ends = sorted(row["sign"] * row[end] for end in ("low", "high")) if _has(row) else _NOTHING
        value = row["difference"] if percent else (row["amplification"] or 0) * (row["sign"] or 0)
        return [None if one is None else one * scale for one in (value, *ends)]

    axis = _balanced(one for row in rows for one in change(row))

    def cell(row: Mapping[str, Any]) -> tuple[str, float | None]:
        value, low, high = (number(one, "+.2f" if percent else "+.4f") for one in change(row))
        return (value if low == "–" else f"{value}\n{low} to {high}"), change(row)[0]

    columns = {
        "Rows": shown("n", count),
        "Labelled so" if percent else "Labels": shown("base", form),
        "Reference": shown("reference", form),
        "Model": shown("observed", form),
        ", ".join(filter(None, ("Change", result["unit"] or "percentage points" * percent))): cell,
        "Rows gained": shown("gained", count),
        "Rows lost": shown("lost", count),
        "Adjusted p": shown("p_adjusted", p_value),
    }
    tasks = {str(row["task"]): row["task"] for row in every}
    task = f"'{task_of(next(iter(tasks.values())))}'" if len(tasks) == 1 else "each task"
    about = {
        "A->T": f"how often {task} is predicted in each group",
        "T->A": f"how often rows labelled {task} are predicted to be in each group",
    }.get(
        result["direction"] or "", "rates in the predictions" if percent else "values of each pair"
    )
    if all(row["gained"] is None for row in rows):  # numbers have no rows with and without a label
        columns = {name: one for name, one in columns.items() if not name.startswith("Rows ")}
    return Table(
        id=id,
        caption=f"{name_of(model)}: {about}, the largest change first",
        first=heading,
        marks="Change and interval",
        axis=axis,
        columns=columns,
        rows=rows,
        mark=lambda row: (
            interval_mark(axis, *change(row)) | {"side": "plain", "name": named(row), "notes": ()}
        ),
        n=len(every),
    )


_NOTHING = (None, None)


def _has(row: Mapping[str, Any]) -> bool:
    """Whether a pair has an interval of its change."""
    return bool(row.get("sign")) and row["low"] is not None and row["high"] is not None


def _errors(
    id: str,
    rates: list[dict[str, Any]],
    model: str,
    reference: str,
    context: dict[str, Any],
    most: int,
) -> Table | None:
    """Return the error rates of both models by group."""
    mine = [row for row in rates if row["model"] == model and row.get("accuracy") is not None]
    if not mine:
        return None
    before = {_key(row): row for row in rates if row["model"] == reference}
    rows = [{"own": row, "other": before[_key(row)]} for row in mine]
    heading, named = naming_of_pairs(mine, context.get("group_columns", ()))

    def change(row: dict[str, Any]) -> float | None:
        return _points(row["own"]["accuracy"] - row["other"]["accuracy"])

    axis = _balanced(map(change, rows[:most]))

    def cell(side: str, key: str) -> Any:
        return lambda row: (rate(row[side].get(key)), row[side].get(key))

    columns = {
        f"{title}, {who}": cell(side, key)
        for key, title in _RATES.items()
        for side, who in (("other", "reference"), ("own", "model"))
    }

    def mark(row: dict[str, Any]) -> dict[str, Any]:
        return _dot(axis, change(row)) | {"name": named(row["own"])}

    return Table(
        id=id,
        caption=f"{name_of(model)}: accuracy and error rates of each group",
        first=heading,
        marks="Change of accuracy in percentage points",
        axis=axis,
        columns=columns,
        rows=rows[:most],
        mark=mark,
        n=len(rows),
    )


def _churn(
    id: str, result: dict[str, Any], model: str, reference: str, most: int
) -> tuple[Table, str]:
    """Return the share of each group whose prediction changed, and what the test of it says."""
    every = [row for row in result["churn"] if row["model"] == model]
    rows = sorted(every, key=lambda row: -(row["share"] or 0))[:most]
    axis = Axis.around((row["share"] for row in rows), percent=True)

    def mark(row: dict[str, Any]) -> dict[str, Any]:
        return {
            "name": group_of(row["group"], result["group_columns"]),
            "side": "plain",
            "says": rate(row["share"]),
            "dot": None if row["share"] is None else axis.at(row["share"]),
        }

    p = every[0]["p_value"]
    if p is None:
        said = "No test: groups share rows, or one group has none."
    elif p < 0.05:
        said = f"Predictions changed more often in some groups than in others (p {_p(p)})."
    else:
        said = f"No clear difference between groups in how many predictions changed (p {_p(p)})."
    table = Table(
        id=id,
        caption=f"Rows that {name_of(model)} and {name_of(reference)} predict differently",
        first="Group",
        marks="Share of the group's rows",
        axis=axis,
        columns={
            "Share": shown("share", rate),
            "Changed": shown("changed", count),
            "Rows": shown("n", count),
        },
        rows=rows,
        mark=mark,
        n=len(every),
    )
    return table, said


def _p(value: float) -> str:
    text = p_value(value)
    return text if text.startswith("<") else f"= {text}"


def _accuracy(rows: list[dict[str, Any]], reference: str, most: int) -> Table | None:
    """Return the accuracy of each model, or None if labels were not predicted."""
    rows = [row for row in rows if row["accuracy"] is not None]
    if not rows:
        return None
    axis = _balanced(_points(row["difference"]) for row in rows)

    def mark(row: dict[str, Any]) -> dict[str, Any]:
        notes = ("reference",) if row["model"] == reference else ()
        drawn = _dot(axis, _points(row["difference"]))
        return drawn | {"name": name_of(row["model"]), "notes": notes}

    return Table(
        id="accuracy-table",
        caption="Accuracy of the models",
        first="Model",
        marks="Difference in percentage points",
        axis=axis,
        columns={
            "Accuracy": shown("accuracy", rate),
            "Difference, percentage points": lambda row: (
                number(row["difference"] * 100, "+.2f"),
                row["difference"],
            ),
        },
        rows=rows[:most],
        mark=mark,
        n=len(rows),
    )


def _differences(results: dict[str, Any], models: list[str], reference: str, most: int) -> Table:
    """Return a row for each metric and model: the difference, and the values of both."""
    rows = []
    for name, one in results.items():
        table = {row["model"]: row for row in one["table"]}
        for model in models:
            gap, low, high = (table[model].get(end) for end in _ENDS)
            rows.append(
                table[model]
                | {"gap": gap, "low": low, "high": high, "other": table[reference]}
                | {"verdict": one["verdicts"][model], "metric": _title(name)}
            )
    axis = _balanced(row[end] for row in rows for end in ("gap", "low", "high"))

    def mark(row: dict[str, Any]) -> dict[str, Any]:
        drawn = interval_mark(axis, row["gap"], row["low"], row["high"])
        name = row["metric"] if len(models) == 1 else f"{row['metric']} · {name_of(row['model'])}"
        return drawn | {"side": TAGS[row["verdict"]][1], "name": name}

    return Table(
        id="differences-table",
        caption=f"Differences to {name_of(reference)}: below 0 less, above 0 more",
        first="Metric" if len(models) == 1 else "Metric and model",
        marks="Difference and interval",
        axis=axis,
        columns={
            "Verdict": lambda row: (
                f"{TAGS[row['verdict']][0]} {row['verdict']}",
                list(TAGS).index(row["verdict"]),
            ),
            "Difference": lambda row: (f"{number(row['gap'])}\n{interval(row)}", row["gap"]),
            "Adjusted p": shown("p_adjusted", p_value),
            "Estimate of the reference": lambda row: (
                number(row["other"]["estimate"]),
                row["other"]["estimate"],
            ),
            "Estimate of the model": shown("estimate"),
        },
        rows=rows[:most],
        mark=mark,
        n=len(rows),
    )


def _limits(context: dict[str, Any], results: dict[str, Any], n_models: int) -> dict[str, str]:
    """Return what limits these numbers, with what this comparison adds to it."""
    levels = {one["confidence_level"] for one in results.values()} - {None}
    level = level_of(levels.pop()) if len(levels) == 1 else "confidence"
    limits = {
        "Same rows": f"All models predict the same rows, so what they have in common cancels in "
        f"the {level} intervals of differences. Two separate intervals may overlap although the "
        "difference is clear.",
        **LIMITS,
    }
    if n_models > 1:
        limits["Several models"] = (
            f"p-values are adjusted for {n_models} comparisons with the reference. Intervals are "
            "not. A verdict needs both."
        )
    if context.get("n_train") is None:
        limits["No training labels"] = (
            "Directions of associations come from the compared labels. Pass training labels to "
            "measure against what the models learned from."
        )
    if context.get("n_dropped"):
        limits["Rows left out"] = (
            f"{count(context['n_dropped'])} rows have no sensitive feature and were left out."
        )
    return limits
