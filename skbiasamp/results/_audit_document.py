"""What the page of an audit shows: the first screens of its facts, and the tables behind them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri

from skbiasamp._input.checks import Array
from skbiasamp._utils.formatting import (
    ADDS,
    NOT_MEASURED,
    amount,
    count,
    group_of,
    in_points,
    level_of,
    metric_name,
    name_of,
    number,
    rate,
)
from skbiasamp.inference.hypothesis_tests import significant
from skbiasamp.inference.value import FEWEST_ROWS
from skbiasamp.render.document import (
    MOST_ROWS,
    Axis,
    Bullets,
    Card,
    Cell,
    Document,
    Item,
    Panels,
    Section,
    Slider,
    Table,
    Terms,
    Text,
)
from skbiasamp.render.facts import EVERYBODY, Facts, express
from skbiasamp.render.first import (
    changes_table,
    first_screen,
    first_screen_of_columns,
    like_with_like,
    look_closer,
    named_terms,
    next_steps,
    other_findings,
    parts_of,
)
from skbiasamp.render.pictures import against_limit
from skbiasamp.results._content import (
    Cells,
    document_of,
    estimate_columns,
    estimates_table,
    folded,
    interval_mark,
    naming_of_pairs,
    record,
    scaled,
    shown,
    table_columns,
    with_interval,
)
from skbiasamp.results._facts import facts_by_column, has_rates, topic_of
from skbiasamp.results._report import AuditReport
from skbiasamp.results._result import AuditResult
from skbiasamp.results._selection_rates import hold_together, selection_tables
from skbiasamp.results.explanation import explanation_items
from skbiasamp.results.exports import as_json, records
from skbiasamp.results.kinds import by_pair, pair_of

_MOST_GROUPS = 30  # whose rows Markdown has


def audit_document(report: AuditReport) -> Document:
    """Return what a report of an audit says."""
    if report.columns:
        return _document_of_columns(report)
    facts, slider, strata = report.facts, slider_of(report), None
    explained = report.explanation
    if facts.within is not None and explained is not None and explained.conditional is not None:
        parts = records(explained.conditional)
        within = express("page", "within", facts)
        named = [(within if row["part"] == "within strata" else row["part"]) for row in parts]
        values = (row["value"] for row in parts)
        rows = [(EVERYBODY, explained.value), *zip(named, values, strict=True)]
        strata = like_with_like(facts, rows)
    combined = None if report.primary is None else report[report.primary]
    tables = [
        columns_table(report, combined, facts),
        changes_table(facts),
        models_table(facts),
    ]
    thresholds: list[Item | None] = [slider, Text(express("tables", "thresholds"), quiet=True)]
    thresholds += [curve_table(report, slider)]
    if slider is None:
        thresholds = thresholds[2:]
    sections = [
        Section(express("page", "report"), [first_screen(facts, topic_of(facts))], "first"),
        look_closer(facts, strata=strata, tables=filter(None, tables)),
        next_steps(facts),
        folded("thresholds", thresholds if any(thresholds) else [], "thresholds"),
        folded("source", [*explanation_items(report.explanation)], "why"),
        folded("statistics", [*_statistics(report)], "statistics"),
    ]
    return document_of(
        report.context,
        express("page", "audit"),
        sections,
        _facts_of(report),
        about="",
        results=[
            (name, f"{metric_name(name)}: {result.verdict}", result.value)
            for name, result in report.items()
            if not math.isnan(result.value)
        ],
    )


def _document_of_columns(report: AuditReport) -> Document:
    """Return what a report says of sensitive columns that were audited on their own.

    After the first screen, each column has what its own page would show.
    """
    facts, columns = report.facts, facts_by_column(report)
    first = first_screen_of_columns(facts, columns, topic_of(columns[0][1]))
    sections, statistics, results = [], list[Item | None](), list[tuple[str, str, float]]()
    for i, (name, own) in enumerate(report.judged_columns.items(), 1):
        document = audit_document(own)
        screen, closer, _, *beside, numbers = document.sections
        (card,) = screen.items
        assert isinstance(card, Card)
        title = f"{name_of(name)}: {card.title}"
        items = [replace(card, title=""), *closer.items, *(replace(each, id="") for each in beside)]
        sections.append(Section(title, _numbered(items, i), f"column-{i}", only="page"))
        *own_numbers, _ = numbers.items  # the record is that of the whole report
        statistics.append(Section(name_of(name), _numbered(own_numbers, i), folded=True))
        results += [(f"{kind}, {name_of(name)}", key, x) for kind, key, x in document.results]
    statistics.append(record(report.context, report.data_files))
    table = columns_table(report, None, facts)
    return document_of(
        report.context,
        express("page", "audit"),
        [
            Section(express("page", "report"), [first], "first"),
            next_steps(facts),
            *sections,
            Section(
                express("page", "statistics"),
                [table, *statistics],
                "statistics",
                only="page",
                folded=True,
            ),
        ],
        {"Sensitive feature": ", ".join(map(name_of, report.columns))} | _facts_of(report),
        about="",
        results=results,
    )


def _numbered(items: Iterable[Item | None], i: int) -> list[Item | None]:
    """Return items whose tables have an id of their own beside those of other columns."""

    def numbered(item: Any) -> Any:
        match item:
            case Table():
                return replace(item, id=item.id and f"{item.id}-{i}")
            case Section():
                return replace(item, items=_numbered(item.items, i))
            case Panels():
                return Panels(
                    [replace(each, picture=numbered(each.picture)) for each in item.panels]
                )
        return item

    return [*map(numbered, items)]


def _facts_of(report: AuditReport) -> dict[str, str]:
    """Return what its first screen leaves out, for those who have nothing but Markdown."""
    groups, known = report.groups, dict[str, str]()
    if report.context.get("n_train") is None:
        known["Training rows"] = "none"
    if "n" in groups and len(groups) <= _MOST_GROUPS:
        columns = tuple(report.context.get("group_columns") or ())
        each = zip(groups["group"], groups["n"], strict=True)
        known["Rows by group"] = "; ".join(f"{group_of(g, columns)}: {n:,.15g}" for g, n in each)
    if report.primary is not None:
        level = report[report.primary].confidence_level
        known["Confidence level"] = "" if level is None else level_of(level)
    versions = report.context.get("versions", {})
    return known | {"Made by": f"skbiasamp {versions.get('skbiasamp', '')}".strip()}


def _statistics(report: AuditReport) -> Iterator[Item | None]:
    """Yield what statisticians look for: terms, metrics, pairs, rates, findings and the record."""
    facts = report.facts
    yield Terms([*named_terms(facts)])
    yield parts_of(facts)
    if len(report) > 1:
        yield Text(express("tables", "metrics_differ", len(report) - 1), quiet=True)
        yield summary_table(report, id="metrics-table", caption=express("tables", "metrics"))
    if report.primary is not None:
        yield strongest_pairs("pairs", metric_name(report.primary), report[report.primary])
    for i, (_, result) in enumerate(report.items()):
        yield from word_tables(f"words-{i}", result)
    yield rates_table(report)
    # The last one is of all columns together: the rates have it.
    context, selection = report.context, records(report.selection)
    columns, wanted = context.get("group_columns", ()), "favourable" in context
    yield from selection_tables(selection, columns, ratios=wanted)[:-1]
    yield other_findings(report.findings)
    settings, unmeasured = dict[str, Any](), list[Text]()
    for name, result in report.items():
        own = {key: result.params[key] for key in result.params if key in result.settings}
        settings[metric_name(name)] = own | dict(result.statistics)
        if result.verdict == NOT_MEASURED:
            why = express("audit", "lead", result.facts)
            unmeasured.append(Text(why, f"{metric_name(name)}:"))
    for code in report.context.get("not_measured", ()):
        metrics, why = (express("tables", "left_out", code, part) for part in (0, 1))
        unmeasured.append(Text(why, metrics))
    yield Section(express("tables", "not_measured"), [Bullets(unmeasured)], folded=True)
    yield record(report.context, report.data_files, settings)


def _is_of_gaps(facts: Facts) -> bool:
    """Return whether a value is a mean change of gaps between rates."""
    return facts.percent and facts.view not in ("attack", "none")


# --------------------------------------------------------------------------- tables

_SHARES = [i / 10 for i in range(1, 10)]  # of rows, at whose thresholds the curve is shown
_UNCOUNTED = "adds 0"


def summary_table(report: AuditReport, **options: Any) -> Table | None:
    """Return the metrics on one axis."""
    adjusted = pd.Series(report.p_adjusted)
    rows = records(report.summary.assign(p_adjusted=adjusted).reset_index())
    published: Cells = {
        "Published value": lambda row: Cell(
            number(row["published"]) if report[row["audit"]].differs else "the same",
            row["published"],
        )
    }
    columns = table_columns(
        *("Verdict", "Value", "Interval", "p-value", "Adjusted p" * (len(report) > 2)),
        published if any(result.differs for result in report.values()) else {},
    )
    return estimates_table(
        rows, columns, lambda row: {"name": metric_name(row["audit"])}, first="Metric", **options
    )


def columns_table(report: AuditReport, combined: AuditResult | None, facts: Facts) -> Table | None:
    """Return the metric by each sensitive column alone, and by their combinations if there are."""
    if report.by_column.empty:
        return None
    percent, limit = _is_of_gaps(facts), report.limit
    rows, scale = records(report.by_column), 100.0 if percent else 1.0
    if combined is not None:
        numbers = {key: as_json(getattr(combined, key)) for key in ("value", "low", "high")}
        rows.append(
            {"column": "all columns together", "p_adjusted": None, "verdict": combined.verdict}
            | {"groups": combined.table["group"].nunique(), **numbers}
            | {"limit_verdict": facts.limit_verdict}
        )
    groups: Cells = {"Groups": shown("groups", count)}
    values, limits = estimate_columns(scale), _limit(None if limit is None else scale * limit)
    return estimates_table(
        scaled(rows, scale),
        table_columns("Verdict", groups, values, "Adjusted p", limits),
        lambda row: {"name": name_of(row["column"])},
        id="columns-table",
        caption=express("tables", "columns", percent),
        first="Sensitive column",
    )


def models_table(facts: Facts) -> Table | None:
    """Return the value of each model that was trained, on its held-out rows."""
    if facts.trained is None:
        return None
    # The gap of two groups changes by twice the value.
    scale = (200.0 if facts.view == "gap" else 100.0) if _is_of_gaps(facts) else 1.0
    rows = scaled([as_json(model) for model in facts.trained.models], scale)
    return estimates_table(
        rows,
        table_columns("Verdict", estimate_columns(scale)),
        lambda row: {"name": row["name"]},
        id="models-table",
        caption=express("tables", "trained", len(rows), scale),
        first="Model",
    )


def _limit(limit: float | None) -> Cells:
    """Return the column that says where an interval lies, if there is a limit."""
    if limit is None:
        return {}

    def word(row: Any) -> str:
        if row.get("verdict") == ADDS:  # the limit is one of each group's change
            return row.get("limit_verdict") or "–"
        known = row["low"] is not None
        return against_limit(row["low"], row["high"], limit) if known else NOT_MEASURED

    return {"Limit": lambda row: Cell(word(row))}


def curve_table(report: AuditReport, slider: Slider | None) -> Table | None:
    """Return the amplification at some thresholds, and the accuracy if it is known."""
    curve = report.curve
    columns: Cells = {"Predicted": shown("predicted_rate", rate)}
    if slider is not None:
        _, accuracy = Slider.numbers(slider.above)
        reach = np.array(slider.reach)[1, 1:]
        low, high = curve["value"] - reach, curve["value"] + reach
        curve = curve.assign(accuracy=accuracy[1:], low=low, high=high)
        columns["Accuracy"] = shown("accuracy", rate)
    if curve.empty:
        return None
    labelled, predicted = curve["base_rate"], predicted_share(report)
    named = {"as often as labelled": labelled, "as often as predicted now": predicted}
    known = {note: nearest_to(curve, share) for note, share in named.items()}
    shown_at = {*known.values(), *(nearest_to(curve, share) for share in _SHARES)}
    return estimates_table(
        records(curve.assign(at=range(len(curve))).iloc[sorted(shown_at)]),
        table_columns(columns, "Value", "Interval", _limit(report.limit)),
        lambda row: {
            "name": f"above {amount(row['threshold'])}",
            "notes": [note for note, at in known.items() if at == row["at"]],
        },
        id="curve-table",
        caption=express("tables", "curve", slider is not None),
        first="Threshold",
    )


def strongest_pairs(table_id: str, name: str, result: AuditResult) -> Table | None:
    """Return a result's pairs, strongest first; those of few rows last."""
    if not len(result.table):
        return None
    uncounted = _UNCOUNTED + f": {result.uncounted}" * bool(result.uncounted)
    rows = [_read(row, uncounted) for row in records(result.strongest(MOST_ROWS))]

    def few_rows(row: Mapping[str, Any]) -> bool:
        return row.get("n") is not None and row["n"] < FEWEST_ROWS

    rows.sort(key=few_rows)
    heading, named = naming_of_pairs(result.table, result.group_columns)
    level = result.confidence_level or 0.95
    drawn_column = "change" if "change" in rows[0] else "amplification"

    def mark(row: dict[str, Any]) -> dict[str, Any]:
        """Colour a pair if it is significant, by the same rule as in plots."""
        value, low, high = (row[end] for end in (drawn_column, "low", "high"))
        drawn = interval_mark(value, low, high)
        if row.get("direction_clear") is False:
            drawn |= {"side": "across", "says": f"direction uncertain, {drawn['says']}"}
        elif drawn["side"] not in ("undefined", "unknown", "zero"):
            sure = significant(row["p_adjusted"], low, high, level)
            along = value * (row.get("sign") or 1.0) if drawn_column == "change" else value
            drawn["side"] = ("above" if along > 0 else "below") if sure else "across"
            drawn["says"] = f"{'significant' if sure else 'not significant'}, {drawn['says']}"
        if uncounted in row["notes"]:
            drawn["says"] = uncounted
        return drawn | {"name": named(row), "notes": row["notes"]}

    form = rate if result.percent else amount
    titles = {key: title for key, title in result.columns.items() if key in rows[0]}
    of_all = has_rates(result) and "change" not in titles  # it is compared with that of all rows
    change = titles.pop("change", "Compared with all rows" if of_all else "Change")
    compared = {title: shown(key, form) for key, title in titles.items()}
    if result.percent and rows[0].get("delta") is not None:
        for row in rows:  # `delta` may be that of a distance
            if row.get("base") is not None is not row.get("observed"):
                row["delta"] = row["observed"] - row["base"]
        compared["Change, percentage points"] = shown("delta", in_points)
    columns = compared | {"Amplification": shown("amplification")}
    if drawn_column == "change":  # which the interval is of
        columns[change] = shown("change")
    # Shares of two groups mirror each other: their numbers are those of the metric.
    sizes = {abs(row["amplification"] or 0) for row in rows}
    if len(rows) < 2 or max(sizes) - min(sizes) > 1e-12:
        n = {"Rows of the task" if _of_tasks(result) else "Rows": shown("n", count)}
        columns = table_columns(columns, "Interval", "Adjusted p" * (len(rows) > 1), n)
    few = few_rows(rows[-1]) and not few_rows(rows[0])
    tested = "" if result.kind.has_attacker else "all rows" if of_all else "change"
    return Table.of(
        rows,
        columns,
        mark,
        n=len(result.table),
        id=table_id,
        caption=express("tables", "pairs", name, len(rows) > 1, few, result.unit, tested),
        first=heading,
        marks="Change and interval" if drawn_column == "change" else "Amplification and interval",
    )


def _read(row: dict[str, Any], uncounted: str) -> dict[str, Any]:
    """Return a pair with its notes; without a sign it adds 0, and shows no numbers."""
    numbers = dict.fromkeys(("amplification", "low", "high", "p_adjusted"))
    if row.get("sign") == 0 == row["amplification"]:
        return row | numbers | {"notes": (uncounted,)}  # blank, whatever the row holds
    flags = {"reliable": "few rows", "direction_clear": "direction unclear"}
    notes = tuple(note for flag, note in flags.items() if row.get(flag) is False)
    low, high = (row.get(f"{end}_simultaneous") for end in ("low", "high"))
    known = row.get("direction_clear") is not False
    if known and low is not None and high is not None and (low > 0 or high < 0):
        notes += ("also clear if all pairs are judged together",)
    return numbers | row | {"notes": notes}


def _of_tasks(result: AuditResult) -> bool:
    """Return whether the rows of a pair are those of its task, whatever its group is."""
    table = result.table
    if result.direction == "A->T" or "n" not in table or table["group"].nunique() < 2:
        return False
    return bool(table["n"].groupby(table["task"].map(str)).nunique().max() == 1)


def word_tables(table_id: str, result: AuditResult) -> Iterator[Table]:
    """Yield the words by which attackers recognise each target, one table a source of texts."""
    if result.words is None:
        return
    of_target = result.words.groupby(["source", result.words["target"].map(str)])
    words = records(result.words.assign(rank=of_target.cumcount()))
    shares, columns = ("share", "share_others"), as_json(result.group_columns)
    axis = Axis.around((row[end] for row in words for end in shares), percent=True)

    def mark(row: dict[str, Any]) -> dict[str, Any]:
        dot, ring = (row[end] or 0.0 for end in shares)
        says = f"{rate(row['share'])} of these texts, {rate(row['share_others'])} of the others"
        return {"name": row["word"], "says": says, "span": (ring, dot), "ring": ring, "dot": dot}

    cells: Cells = {
        "Points to": lambda row: Cell(group_of(row["target"], columns), row["rank"]),
        "Weight": shown("weight", lambda value: number(value, ".2f")),
        "Share": shown("share", rate),
        "Of the others": shown("share_others", rate),
    }
    for i, source in enumerate(list(dict.fromkeys(row["source"] for row in words))[::-1]):
        own = [row for row in words if row["source"] == source]
        targets = list(dict.fromkeys(str(row["target"]) for row in own))
        yield Table.of(  # the strongest of every target first
            sorted(own, key=lambda row: (row["rank"], targets.index(str(row["target"])))),
            cells,
            mark,
            id=f"{table_id}-{i}",
            caption=express("tables", "words", source),
            first="Word",
            marks="Share of texts",
            axis=axis,
        )


def rates_table(report: AuditReport) -> Table | None:
    """Return the rates of each pair, the largest change first."""
    sizes = {str(row["group"]): row["n"] for row in records(report.groups)}
    result = None if report.primary is None else report[report.primary]
    if result is not None and result.direction != "A->T":
        result = None
    pairs = {} if result is None else by_pair(result.table)
    rows, means = records(report.rates), False
    for row in rows:
        pair = pairs.get(pair_of(row), {})
        if result is not None and not result.labelled:
            row["base_rate"] = pair.get("base")  # of the reference
        before, after = row.get("base_rate"), row.get("predicted_rate")
        row["n"] = sizes[str(row["group"])]
        row["change"] = None if before is None or after is None else after - before
        # The verdict compares means of probabilities, not decisions.
        mean = None if row["change"] is None else pair.get("observed")
        means = means or (mean is not None and abs(mean - after) > 1e-9)
    rows.sort(key=lambda row: -abs(row["change"] or 0))
    if not rows:
        return None
    labelled, predicted = (name in rows[0] for name in ("base_rate", "predicted_rate"))
    apart = not report.context.get("labelled", True)  # from the rows of the reference
    wanted = "favourable" in report.context  # without it, a low rate may be good news
    heading, named = naming_of_pairs(report.rates, report.context.get("group_columns", ()))
    columns: list[str | Cells] = ["Rows"]
    if labelled:
        columns.append({"Reference": shown("base_rate", rate)} if apart else "Labelled so")
    if predicted:
        columns.append({"Rate": with_interval("predicted_rate")} if apart else "Predicted so")
        columns.append("Change, percentage points" * labelled)
        columns.append("Impact ratio" * wanted)
        if labelled and not apart:
            columns += ["Accuracy", "True positive rate", "False positive rate"]

    def mark(row: dict[str, Any]) -> dict[str, Any]:
        ring, dot = row.get("base_rate"), row.get("predicted_rate")
        span = None if row["change"] is None else (ring, dot)
        says = f"{rate(ring)} → {rate(dot)}" if labelled and predicted else rate(ring or dot)
        return {"name": named(row), "says": says, "span": span, "ring": ring, "dot": dot}

    return Table.of(
        rows,
        table_columns(*columns),
        mark,
        id="rates-table",
        caption=express("tables", "rates", labelled, apart, wanted and hold_together(rows), means),
        first=heading,
        marks="Rates",
        percent=True,
    )


# --------------------------------------------------------------------------- thresholds

_DRAWS = 400


def slider_of(report: Any) -> Slider | None:
    """Return decisions at thresholds of the scores of few groups, if there are any."""
    passed, curve, audits = report.passed, report.curve, report.results.values()
    able = (audit for audit in audits if audit.kind.is_signed and audit.direction == "A->T")
    result = next(able, None)
    if passed.empty or result is None or curve["value"].isna().any():
        return None
    n, columns = len(curve) + 1, report.context.get("group_columns", ())
    counts = passed[["others", "labelled"]].to_numpy(float).T.reshape(2, -1, n)
    groups = passed["group"].iloc[::n].tolist()
    signs = dict(zip(result.table["group"], result.table["sign"].tolist(), strict=True))
    large = counts[..., 0].sum(axis=0) >= FEWEST_ROWS
    above = counts.transpose(1, 0, 2)
    sign = [signs.get(name, 0) for name in groups]
    half = (curve["high"] - curve["low"]).to_numpy() / 2
    return Slider(
        caption=express("tables", "slider"),
        groups=[group_of(name, columns) for name in groups],
        thresholds=[None, *curve["threshold"].tolist()],
        above=above.tolist(),
        amplification=[0.0, *curve["value"]],
        counted=(large | ~large.any()).tolist(),
        start=1 + nearest_to(curve, predicted_share(report)),
        reach=_reach(above, sign, half / ndtri(0.975)).tolist(),
        limit=report.limit,
    )


def _reach(above: Array, signs: list[int], errors: Array) -> Array:
    """Return how far intervals of accuracy reach to either side, and those of amplification.

    They hold at all thresholds together: a standard error times a quantile of the largest deviation
    of drawn tables, at the `signs` of the labels. `errors` are those of the amplification. Weights
    widen both errors in the same proportion.
    """
    between = np.maximum(-np.diff(above, axis=-1, append=0), 0)
    n, share = int(np.ceil(between.sum())), between.ravel() / between.sum()
    drawn = np.random.default_rng(0).multinomial(n, share, _DRAWS).reshape(-1, *between.shape)
    tables = drawn[..., ::-1].cumsum(axis=-1)[..., ::-1]
    both = zip(_at_signs(tables, signs), _at_signs(above, signs), strict=True)
    deviations = np.stack([draws - observed for draws, observed in both])
    spread = deviations.std(axis=1)
    standardised = np.abs(deviations) / np.where(spread > 0, spread, np.inf)[:, None]
    times_accuracy, times_amplification = np.quantile(standardised.max(axis=2), 0.95, axis=1)
    of_accuracy, of_amplification = spread[0], spread[1, 1:]  # with no threshold nothing changes
    known = np.isfinite(errors) & (of_amplification > 0)
    by_weights = np.median(errors[known] / of_amplification[known]) if known.any() else 1.0
    reach = np.insert(np.nan_to_num(times_amplification * errors), 0, 0.0)
    return np.stack([times_accuracy * by_weights * of_accuracy, reach])


def _at_signs(above: Array, signs: list[int]) -> tuple[Array, Array]:
    """Return accuracy and amplification of tables at given signs."""
    rates, accuracy = Slider.numbers(above)
    sizes = above[..., 0].sum(axis=-1)[..., None]
    changes = rates - above[..., 1, :1] / np.maximum(sizes, 1)
    # What all groups share is no gap.
    changes -= (changes * sizes).sum(axis=-2, keepdims=True) / sizes.sum(axis=-2)[..., None]
    return accuracy, (np.asarray(signs)[:, None] * changes).mean(axis=-2)


def at_base_rate(curve: pd.DataFrame) -> dict[str, Any] | None:
    """Return the row at which a task is predicted as often as it is labelled."""
    return None if curve.empty else records(curve)[nearest_to(curve, curve["base_rate"])]


def nearest_to(curve: pd.DataFrame, share: Any) -> int:
    """Return the position at which a task is predicted for about this share of all rows."""
    return int((curve["predicted_rate"] - share).abs().argmin())


def predicted_share(report: Any) -> float:
    """Return for which share of all rows a report's one task is predicted, or labelled."""
    rates, sizes = report.rates, report.groups.set_index("group")["n"]
    known = rates["predicted_rate" if "predicted_rate" in rates else "base_rate"]
    n = rates["group"].map(sizes)
    return float((known * n).sum() / n.sum())
