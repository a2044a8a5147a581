"""Content of the page, in its order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from skbiasamp._utils.formatting import (
    AMPLIFIES,
    ASSOCIATION,
    BALANCED,
    CANNOT,
    NO_EFFECT,
    NOT_MEASURED,
    REDUCES,
    REVEALS_LESS,
    REVEALS_MORE,
    REVERSES,
    amount,
    group_of,
    level_of,
    name_of,
    number,
    p_value,
    rate,
    task_of,
)
from skbiasamp.inference.hypothesis_tests import significant
from skbiasamp.render._page_tables import (
    Axis,
    Table,
    count,
    interval,
    interval_mark,
    naming_of_pairs,
    shown,
    with_interval,
    word_tables,
)
from skbiasamp.render._picture import picture_of
from skbiasamp.render._record import facts, record_of, short, table_rows
from skbiasamp.render._selection import TOGETHER, hold_together, selection_tables

_UNCOUNTED = "adds 0"

# How the values of each kind of metric are read.
_READING = {
    "signed": "Above 0 the predictions exaggerate the association in the labels, below 0 they "
    "weaken it.",
    "size": "The published value has no direction. The estimate has one: above 0 the "
    "associations grow.",
    "attack": "Above 0 the attacker guesses better from the model than from {baseline}, below 0 "
    "worse.",
}
_READING_OTHERS = "Above 0 the model amplifies {amplified}, below 0 it reduces it."
_LESS_THAN = "about {about} than {baseline} would"

# Symbol and side (the colour) of each verdict, and the sentence that the page opens with.
TAGS = {
    AMPLIFIES: ("▲", "above", "The model amplifies {amplified}."),
    REVEALS_MORE: ("▲", "above", f"The model reveals more {_LESS_THAN}."),
    REDUCES: ("▼", "below", "The model reduces {amplified}."),
    REVERSES: ("▼", "below", "The model reverses {amplified}."),
    REVEALS_LESS: ("▼", "below", f"The model reveals less {_LESS_THAN}."),
    NO_EFFECT: (
        "◆",
        "across",
        "No clear effect: this audit does not show amplification.",
    ),
    CANNOT: ("●", "zero", "Cannot amplify: {cannot}."),
    NOT_MEASURED: ("–", "undefined", "Not measured."),
}

QUESTIONS = (
    (
        "associations",
        "Does the model exaggerate associations?",
        "These metrics compare how often each group is labelled with a task and how often the "
        "model predicts it.",
        ("signed", "size"),
    ),
    (
        "revealed",
        "Do predictions reveal the group?",
        "These metrics train an attacker: a classifier that tries to guess the group from the "
        "predictions, or the predictions from the group.",
        ("attack",),
    ),
)

# Texts have no errors and no rates.
_OF_LABELS = {
    "Balanced accuracy",
    "Equally accurate random labels",
    "Selection rate",
    "True positive rate",
    "False positive rate",
    "Impact ratio",
}
TERMS = {
    "Amplification": "The model exaggerates an association between group and task that is in its "
    "labels. 0 means that the predictions are as associated with the group as the labels are, not "
    "that they are fair.",
    "Group → task (A→T)": "A is the group, T is the task: what is predicted. Does the group shift "
    "the predicted task? Its reverse, task → group (T→A): does the task shift the predicted group?",
    "Pair": "One group and one task.",
    "Confidence interval": "Range of values that agree with the audited rows. If it includes 0, "
    "these rows can not tell an effect from none.",
    "p-value": "If the model had no effect, how often chance alone would show one this large. "
    "Adjusted: for the number of pairs of one metric, not for the number of metrics.",
    "Balanced accuracy": "Mean share of correct guesses over the classes. A guess that ignores its "
    "input has 1 / number of classes.",
    "Equally accurate random labels": "The labels with random errors, as many as the model makes. "
    "What an attacker guesses from them is what errors alone would reveal.",
    "Selection rate": "Share of a group's rows for which the task is predicted.",
    "True positive rate": "Share of the rows with the label for which it is predicted.",
    "False positive rate": "Share of the rows without the label for which it is predicted.",
    "Impact ratio": "Selection rate of a group divided by the highest selection rate of any group. "
    "Below 0.8 it fails the four-fifths rule of US employment guidelines, if being selected is an "
    "advantage.",
}


def view(content: dict[str, Any], *, most: int) -> dict[str, Any]:
    """Return what the template fills in; no table has more than `most` rows."""
    context = content["context"]
    audits = [
        _audit(i, name, result, most)
        for i, (name, result) in enumerate(content["results"].items(), 1)
    ]
    primary = next((one for one in audits if one["key"] == content["primary"]), None)
    groups, rates = (table_rows(content[one]) for one in ("groups", "rates"))
    columns = context.get("group_columns", ())
    findings = [
        {**one, "id": f"finding-{i}", "topic": one["topic"].capitalize()}
        for i, one in enumerate(content["findings"], 1)
    ]
    for one in findings:
        for key in ("text", "action"):
            one[key] = _spelled(one[key], content["results"])
    first = look_next(findings)
    sections, texts = [], context.get("data_kind") == "texts"
    for key, title, about, kinds in QUESTIONS:
        own = [one for one in audits if one["kind"] in kinds]
        if context.get("data_kind") == "numbers":
            about = "These metrics compare each group's mean label with its mean prediction."
        named = {"id": key, "title": title, "about": about}
        if own or not texts:
            sections.append(named | {"audits": own, "summary": _summary(key, own)})
    return {
        "title": " of ".join(filter(None, ("Bias amplification audit", context.get("model_name")))),
        "context": context,
        "facts": facts(context),
        "record": record_of(context, content["schema"]),
        "data_files": content.get("data_files", []),
        "audits": audits,
        "primary": primary and _headed(primary, content["results"][primary["key"]], context),
        "picture": picture_of(primary and content["results"][primary["key"]], rates, context),
        "first": first,
        "limits": [one for one in findings if one not in first],
        "sections": sections,
        "groups": _groups(groups, len(context.get("tasks", ())), columns, most),
        "rates": _rates(rates, groups, columns, most) if rates else None,
        "selection": selection_tables(
            table_rows(content.get("selection") or {"columns": (), "data": ()}), columns, most
        )[:-1],  # of all columns together the rates have it
        "not_measured": {
            **{one["name"]: one["reason"] for one in audits if one["verdict"] == NOT_MEASURED},
            **context.get("not_measured", {}),
        },
        "errors": "Rows of each group" if texts else "Who bears the errors?",
        "terms": {name: one for name, one in TERMS.items() if not (texts and name in _OF_LABELS)}
        | _example(context),
    }


def _spelled(text: str, names: Iterable[str]) -> str:
    """Return text with one spelling of the directions in the names of results."""
    for name in names:
        text = text.replace(name, name.replace("->", "→"))
    return text


def _example(context: dict[str, Any]) -> dict[str, str]:
    """Return the explanation of "pair", with a pair of this audit as example."""
    if not (context.get("groups") and context.get("tasks")):
        return {}
    group = group_of(context["groups"][0], context.get("group_columns", ()))
    return {"Pair": f"{TERMS['Pair'][:-1]}, such as {group} and '{task_of(context['tasks'][0])}'."}


def _headed(
    audit: dict[str, Any], result: dict[str, Any], context: dict[str, Any]
) -> dict[str, Any]:
    """Return the primary audit; its headline names two groups and their one task."""
    groups, tasks, columns = (context.get(key, ()) for key in ("groups", "tasks", "group_columns"))
    one_difference = len(groups) == 2 and len(tasks) == 1 and result["direction"] != "T->A"
    if not one_difference or result["amplified"] != ASSOCIATION:
        return audit
    task = f"'{task_of(tasks[0])}'"
    one, other = (group_of(group, columns if len(columns) > 1 else ()) for group in groups)
    of = f" ({name_of(columns[0])})" if len(columns) == 1 else ""
    verdict, headline = audit["verdict"], audit["headline"]
    if result["kind"] == "attack":
        headline = headline.replace("the group", f"the group ({one} or {other})")
    elif verdict in (AMPLIFIES, REDUCES, REVERSES):
        headline = f"The model {verdict} the difference in {task} between {one} and {other}{of}."
    elif verdict == NO_EFFECT:
        headline = f"No clear effect on the difference in {task} between {one} and {other}{of}."
    return audit | {"headline": headline}


# --------------------------------------------------------------------------- audits


def _audit(i: int, name: str, result: dict[str, Any], most: int) -> dict[str, Any]:
    table, statistics = result["table"], result["statistics"]
    symbol, side, headline = TAGS[result["verdict"]]
    level = result["confidence_level"]
    title = name_of(name).replace("->", "→")
    # The verdict is the sentence's first, and what it rests on follows a colon: see `conclusion`.
    lead, _, rest = result["sentence"].partition(". ")
    reading = _READING.get(result["kind"], "")
    if result["kind"] == "signed" and result["amplified"] != ASSOCIATION:
        reading = _READING_OTHERS
    reading = _filled(reading, result)
    return {
        "id": f"audit-{i}",
        "key": name,
        "name": title,
        "heading": title.replace("A→T", "group → task (A→T)").replace("T→A", "task → group (T→A)"),
        "kind": result["kind"],
        "question": result["question"],
        "definition": f"{result['definition']} {reading}".strip(),
        "sentence": result["sentence"],
        "headline": _filled(headline, result),
        "rest": rest,
        # A metric of a user's own file may say it in another way.
        "sure": lead.partition(": ")[2].rstrip(".")
        or f"estimate {number(result['estimate'])}, confidence interval {interval(result)}",
        "reason": lead.removeprefix("Not measured: "),
        "verdict": result["verdict"],
        "side": side,
        "symbol": symbol,
        "word": BALANCED
        if result["verdict"] == CANNOT and not result["cannot"]
        else result["verdict"],
        "numbers": {one: result[one] for one in ("estimate", "low", "high", "p_value", "value")},
        "estimate": number(result["estimate"]),
        "value": number(result["value"]),
        "differs": number(result["value"]) != number(result["estimate"]),
        "interval": interval(result),
        "level": "" if level is None else level_of(level),
        "p": p_value(result["p_value"]),
        "n_samples": count(result["n_samples"]),
        "table": _pairs(f"pairs-{i}", title, result, most) if table else None,
        "words": word_tables(f"words-{i}", result),
        "parameters": [
            (key, short(one)) for key, one in result["params"].items() if key in result["settings"]
        ],
        "statistics": [(key, short(one)) for key, one in statistics.items()],
    }


def _filled(text: str, result: dict[str, Any]) -> str:
    """Return text with what the metric says of itself."""
    said = {key: result[key] for key in ("about", "baseline", "amplified", "cannot")}
    said["cannot"] = said["cannot"] or "group and task are balanced in the labels"
    for key, words in said.items():
        text = text.replace(f"{{{key}}}", words)
    return text


def _summary(key: str, audits: list[dict[str, Any]]) -> Table | None:
    """Return the metrics of a section on one axis, if there are several."""
    if len(audits) < 2:
        return None
    axis = Axis.around(
        audit["numbers"][end] for audit in audits for end in ("estimate", "low", "high")
    )

    def mark(one: dict[str, Any]) -> dict[str, Any]:
        row = one["numbers"]
        drawn = interval_mark(axis, row["estimate"], row["low"], row["high"])
        return drawn | {"side": one["side"], "name": one["name"], "link": one["id"]}

    return Table(
        id=f"{key}-table",
        caption="All metrics of this section: estimate and interval, 0 marked",
        first="Metric",
        marks="Estimate and interval",
        axis=axis,
        columns={
            "Verdict": lambda one: (
                f"{one['symbol']} {one['verdict']}",
                list(TAGS).index(one["verdict"]),
            ),
            "Estimate": lambda one: (one["estimate"], one["numbers"]["estimate"]),
            "Interval": lambda one: (one["interval"], one["numbers"]["low"]),
            "p-value": lambda one: (one["p"], one["numbers"]["p_value"]),
            "Published value": lambda one: (
                one["value"] if one["differs"] else "the same",
                one["numbers"]["value"],
            ),
        },
        rows=audits,
        mark=mark,
        n=len(audits),
    )


def _pairs(table_id: str, name: str, result: dict[str, Any], most: int) -> Table:
    """Return a result's pairs, strongest first."""
    uncounted = _UNCOUNTED + f": {result['uncounted']}" * bool(result.get("uncounted"))
    rows = [_read(row, uncounted) for row in result["table"]]
    rows = sorted(rows, key=lambda row: -abs(row["amplification"] or 0))[:most]
    compared = {key: title for key, title in result["columns"].items() if key in rows[0]}
    axis = Axis.around(row[end] for row in rows for end in ("amplification", "low", "high"))
    heading, named = naming_of_pairs(result["table"], result["group_columns"])
    level = result["confidence_level"]

    def form(value: Any) -> str:
        return rate(value) if result["percent"] else amount(value)

    def mark(row: dict[str, Any]) -> dict[str, Any]:
        """Colour a pair if it is significant, by the same rule as in plots."""
        value, low, high = (row[one] for one in ("amplification", "low", "high"))
        drawn = interval_mark(axis, value, low, high)
        if drawn["side"] not in ("undefined", "unknown", "zero"):
            sure = significant(row["p_adjusted"], low, high, 0.95 if level is None else level)
            drawn["side"] = ("above" if value > 0 else "below") if sure else "across"
            drawn["says"] = f"{'significant' if sure else 'not significant'}, {drawn['says']}"
        says = row["notes"][0] if row["notes"][:1] == (uncounted,) else drawn["says"]
        return drawn | {"says": says, "name": named(row), "notes": row["notes"]}

    return Table(
        id=table_id,
        caption=f"{name}: {heading.lower()}s, strongest first"
        + f" (amplification in {result['unit']})" * bool(result["unit"]),
        first=heading,
        marks="Amplification and interval",
        axis=axis,
        columns={
            "Amplification": shown("amplification"),
            "Interval": lambda row: (interval(row), row["low"]),
            "Adjusted p": shown("p_adjusted", p_value),
            **{title: shown(key, form) for key, title in compared.items()},
            "Rows": shown("n", count),
        },
        rows=rows,
        mark=mark,
        n=len(result["table"]),
    )


def _read(row: dict[str, Any], uncounted: str) -> dict[str, Any]:
    """Return a pair with its notes; without a sign it adds 0, and shows no numbers."""
    numbers = dict.fromkeys(("amplification", "low", "high", "p_adjusted"))
    if row.get("sign") == 0 == row["amplification"]:
        return row | numbers | {"notes": (uncounted,)}  # blank, whatever the row holds
    flags = {"reliable": "few rows", "sign_certain": "sign uncertain"}
    notes = tuple(note for flag, note in flags.items() if row.get(flag) is False)
    low, high = (row.get(f"{end}_simultaneous") for end in ("low", "high"))
    if low is not None and high is not None and (low > 0 or high < 0):
        notes += ("also if all pairs are considered at once",)
    return numbers | row | {"notes": notes}


# --------------------------------------------------------------------------- in short


def look_next(findings: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the three findings to read first; any three if none is urgent."""
    urgent = [one for one in findings if one["place"] != "note"]
    return (urgent or findings)[:3]


# --------------------------------------------------------------------------- groups


def _groups(rows: list[dict[str, Any]], n_tasks: int, columns: Any, most: int) -> Table | None:
    """Return the rows of each group, and the accuracy of the model."""
    if not rows:
        return None
    rated = any("accuracy" in row for row in rows)
    if rated and n_tasks == 1:  # the rates have all of it
        return None
    axis = Axis(0.0, 1.0, percent=True)

    def mark(row: dict[str, Any]) -> dict[str, Any]:
        value, low, high = (row.get(f"accuracy{end}") for end in ("", "_low", "_high"))
        drawn = interval_mark(axis, value if rated else row["share"], low, high)
        says = rate(value if rated else row["share"])
        return drawn | {"name": group_of(row["group"], columns), "side": "plain", "says": says}

    cells = {"Rows": shown("n", count), "Share of rows": shown("share", rate)}
    if rated:
        cells["Accuracy"] = with_interval("accuracy")
    return Table(
        id="groups-table",
        caption="Groups" + (": accuracy of the model, with 95 % intervals" if rated else ""),
        first="Group",
        marks="Accuracy" if rated else "Share of rows",
        axis=axis,
        columns=cells,
        rows=rows[:most],
        mark=mark,
        n=len(rows),
    )


def _rates(
    rows: list[dict[str, Any]], groups: list[dict[str, Any]], names: Any, most: int
) -> Table:
    """Return the rates of each pair, the largest change first."""
    heading, named = naming_of_pairs(rows, names)
    predicted, labelled = (one in rows[0] for one in ("predicted_rate", "base_rate"))
    ends = ("base_rate", "predicted_rate")
    sizes = {str(one["group"]): one["n"] for one in groups}
    for row in rows:
        before, after = (row.get(end) for end in ends)
        row["n"] = sizes.get(str(row["group"]))  # a stored report may name other groups
        row["change"] = None if before is None or after is None else (after - before) * 100
    rows = sorted(rows, key=lambda row: -abs(row["change"] or 0))
    axis = Axis.around((row.get(end) for row in rows[:most] for end in ends), percent=True)
    columns: dict[str, Callable[[Any], Any]] = {"Rows": shown("n", count)}
    if labelled:
        columns |= {"Labelled so": shown("base_rate", rate)}
    if predicted:
        columns |= {
            "Selection rate": with_interval("predicted_rate"),
            "Change, percentage points": shown("change", lambda value: number(value, "+.1f")),
            "Impact ratio": with_interval("impact_ratio", lambda value: number(value, ".2f")),
            "Accuracy": with_interval("accuracy"),
            "True positive rate": with_interval("true_positive_rate"),
            "False positive rate": with_interval("false_positive_rate"),
        }
    if not labelled:
        columns = {name: columns[name] for name in ("Rows", "Selection rate", "Impact ratio")}

    caption, marks = "labelled", "Labels"
    if predicted:
        caption = "labelled (ring) and " * labelled + "predicted (dot), with 95 % intervals"
        marks = "From labels to predictions" if labelled else "Predictions"

    def mark(row: dict[str, Any]) -> dict[str, Any]:
        ring, dot = (None if row.get(end) is None else axis.at(row[end]) for end in ends)
        says = [rate(row[end]) for end in ends if end in row]
        return {
            "name": named(row),
            "side": "plain",
            "says": f"from {says[0]} to {says[1]}" if len(says) == 2 else says[0],
            "span": None if row["change"] is None else (ring, dot),
            "ring": ring,
            "dot": dot,
        }

    return Table(
        id="rates-table",
        caption=f"Rates of each group: {caption}" + TOGETHER * hold_together(rows),
        first=heading,
        marks=marks,
        axis=axis,
        columns=columns,
        rows=rows[:most],
        mark=mark,
        n=len(rows),
    )
