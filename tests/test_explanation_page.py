"""Explanations as documents: on the page of an audit, by themselves, in JSON, and as a picture."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from command_line import report_of
from test_explain import EXACT, explained, sample

import skbiasamp
from skbiasamp import Contingency, NumericAuditor
from skbiasamp.plotting import WaterfallDisplay
from skbiasamp.results import AuditReport

pytest.importorskip("jinja2")
plt = pytest.importorskip("matplotlib.pyplot")
TITLE = "Where does it come from?"


def audited(rows, **more):
    given = {"sensitive_features": rows["sex"], "random_state": 0} | more
    return skbiasamp.audit(rows["label"], rows["decision"], **given)


def tables_of(document):
    """Yield the waterfalls of a document, as a name of each part and its value."""
    items = list(document.sections)
    while items:
        item = items.pop(0)
        if type(item).__name__ == "Section":
            items[:0] = item.items
        elif type(item).__name__ == "Table" and item.id.startswith("why-"):
            yield [(row.name, row.cells[0].value, row.span) for row in item.rows]


def test_a_page_says_where_the_value_comes_from_if_asked():
    rows = sample(push=1.5)
    assert TITLE not in audited(rows).to_html()
    report = audited(rows, given=rows["dept"], y_score=rows["score"])
    page = report.to_html()
    assert page.index(TITLE) > page.index("What to do next")
    assert "dept = law" in page
    expected = explained(rows)
    for name, table in expected.tables.items():
        pd.testing.assert_frame_equal(report.explanation.tables[name], table)
    assert report["directional A->T"].low == report.explanation.audit.low
    decision, strata = tables_of(report.to_document())
    assert [name for name, *_ in decision][:3] == [
        "scores",
        "rounding (scores become yes or no)",
        "threshold",
    ]
    for table in (decision, strata):
        *parts, (last, total, whole) = table
        assert last == "value"
        assert total == pytest.approx(report["directional A->T"].value, abs=EXACT)
        assert sum(value for _, value, _ in parts) == pytest.approx(total, abs=EXACT)
        reached = 0.0
        for _, value, (start, end) in parts:  # each begins where the one before ends
            assert start == pytest.approx(reached, abs=EXACT)
            reached += value
            assert end == pytest.approx(reached, abs=EXACT)
        assert whole == (0.0, pytest.approx(total, abs=EXACT))


def test_probabilities_are_explained_and_logits_are_not():
    rows = sample(200)
    logits = np.log(rows["score"].clip(0.01, 0.99) / (1 - rows["score"].clip(0.01, 0.99)))
    assert audited(rows, y_score=rows["score"]).explanation.decision is not None
    both = np.column_stack([1 - rows["score"], rows["score"]])
    assert audited(rows, y_score=both).explanation.decision is not None
    report = audited(rows, y_score=logits)
    assert report.explanation is None
    assert any("scores" in name for name in report)
    soft = rows.assign(decision=rows["score"])  # no decisions yet
    assert audited(soft, y_score=rows["score"]).explanation is None
    assert audited(rows, y_score=logits, given=rows["dept"]).explanation.decision is None


def test_many_strata_fit_on_a_screen():
    rows = sample(2000, push=1.5)
    rng = np.random.default_rng(0)
    report = audited(rows, given=rng.integers(30, size=2000))
    (table,) = tables_of(report.to_document())
    assert len(table) == 6 + 2
    assert table[-2][0].endswith(" others")
    assert sum(value for _, value, _ in table[:-1]) == pytest.approx(table[-1][1], abs=EXACT)
    (own,) = [one for one in tables_of(report.explanation.to_document()) if len(one) > 8]
    assert len(own) >= 30


def test_scores_are_explained_only_beside_decisions_of_groups_that_do_not_overlap():
    rows = sample(200)
    both = rows[["sex", "dept"]]
    report = audited(rows, sensitive_features=both, groups="marginal", y_score=rows["score"])
    assert report.explanation is None
    with pytest.raises(ValueError, match="given is not used by metrics of numbers"):
        audited(rows, given=rows["dept"], auditor=NumericAuditor())


@pytest.mark.parametrize("rows_in", ["frame", "query", "file", "contingency", "command"])
def test_every_container_has_the_same_section(rows_in, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = sample(push=1.5).drop(columns="score")
    rows.loc[::7, "dept"] = None
    expected = audited(rows, given=rows["dept"]).explanation
    columns = {"target": "label", "prediction": "decision", "sensitive": "sex"}
    rows.to_csv("rows.csv", index=False)
    frame = pl.DataFrame(rows.astype(object).where(rows.notna(), None).to_dict("list"))
    if rows_in == "command":
        flags = [f"--{name}={column}" for name, column in columns.items()]
        report = report_of(AuditReport, capsys, "audit", "rows.csv", *flags, "--given", "dept")
    elif rows_in == "contingency":
        cells = Contingency.from_labels(
            rows["label"],
            rows["decision"],
            sensitive_features=rows[["dept", "sex"]],
            missing="group",
        )
        report = skbiasamp.audit(cells, given="dept", random_state=0)
        assert report["directional A->T"].n_samples == len(rows)
    else:
        frame = {"frame": frame, "query": frame.lazy(), "file": "rows.csv"}[rows_in]
        report = skbiasamp.audit_frame(frame, **columns, given="dept", random_state=0)
    for name, table in expected.tables.items():
        own = report.explanation.tables[name].set_index("part")["value"]
        if name != "gaps":
            theirs = table.set_index("part")["value"].loc[own.index]
            np.testing.assert_allclose(own, theirs, atol=EXACT)
    assert "(missing)" in expected.strata["part"].tolist()


@pytest.mark.parametrize("missing", ["drop", "group"])
def test_rows_without_a_group(missing):
    rows = sample()
    rows.loc[::10, "sex"] = None
    explanation = audited(rows, given=rows["dept"], missing=missing).explanation
    groups = set(explanation.rates["group"])
    assert groups == ({"a", "b"} if missing == "drop" else {"a", "b", "(missing)"})
    if missing == "drop":
        known = rows.dropna()
        expected = audited(known, given=known["dept"]).explanation
        pd.testing.assert_frame_equal(explanation.strata, expected.strata)
        assert explanation.context["n_dropped"] == 60


def test_a_waterfall_ends_at_the_value():
    explanation = explained(sample(push=1.5))
    display = WaterfallDisplay.from_explanation(explanation)
    starts = [bar.get_x() for bar in display.bars_]
    widths = [bar.get_width() for bar in display.bars_]
    np.testing.assert_allclose(starts[1:-1], np.cumsum(widths[:-2]), atol=EXACT)
    assert starts[-1] == 0
    assert widths[-1] == pytest.approx(explanation.value, abs=EXACT)
    left, right = display.ax_.get_xlim()
    ends = [end for bar in display.bars_ for end in bar.get_bbox().intervalx]
    assert left < min(ends) < max(ends) < right
    labels = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert labels == [*explanation.decision["part"], "value"]
    strata = WaterfallDisplay.from_explanation(explanation, table="strata")
    assert "dept = law" in [text.get_text() for text in strata.ax_.get_yticklabels()]
    plt.close("all")
    with pytest.raises(ValueError, match="table must be one of"):
        WaterfallDisplay.from_explanation(explanation, table="gaps")
    with pytest.raises(TypeError, match=r"what skbiasamp\.explain returns"):
        WaterfallDisplay.from_explanation(explanation.change)
