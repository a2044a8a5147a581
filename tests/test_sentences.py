"""Sentences and tables of reports, each number and condition against what it is made of."""

import numpy as np
import pandas as pd
import pytest
from document_parts import table_of

import skbiasamp
from skbiasamp import DirectionalAuditor, MALSAuditor

SEX = np.repeat(["f", "m"], 400)
HIRED = np.concatenate([np.arange(400) < 100, np.arange(400) < 200]).astype(int)
ANALYTIC = {"auditor": DirectionalAuditor(reference="test")}


def guessed(women, men):
    """Return predictions of so many women and men."""
    return np.concatenate([np.arange(400) < women, np.arange(400) < men]).astype(int)


def by_chance(women, men):
    """Return as many predictions, of any rows of each group."""
    rng = np.random.default_rng(0)
    return np.concatenate([rng.permutation(part) for part in np.split(guessed(women, men), 2)])


def texts_of(report):
    items = [item for section in report.to_document().sections for item in section.items]
    return " ".join(map(repr, items))


def test_a_step_about_precision_has_the_interval_of_the_difference():
    report = skbiasamp.audit(HIRED, by_chance(97, 204), sensitive_features=SEX, **ANALYTIC)
    result = report["directional A->T"]
    assert result.verdict == "no clear effect"
    (step,) = (finding for finding in report.findings if finding.topic == "precision")
    low, high = (f"{200 * end:+.1f}".replace("-", "−") for end in (result.low, result.high))
    assert f"changes of the gap from {low} to {high} percentage points" in step.text


def test_pairs_of_a_comparison_begin_with_the_largest_change():
    models = {"old": HIRED, "new": guessed(90, 280)}
    report = skbiasamp.compare(HIRED, models, sensitive_features=SEX, random_state=0)
    table = table_of(report, "pairs-1")
    changes = [row.cells[table.columns.index("Change, percentage points")] for row in table.rows]
    # Rates change by −2.5 and +20 points, those of all rows by 8.75.
    assert [cell.value for cell in changes] == pytest.approx([-11.25, 11.25])
    shares = skbiasamp.compare(HIRED, models, sensitive_features=SEX, auditor=MALSAuditor())
    assert "new: rates of each pair, the largest change first. A change" in texts_of(shares)


def test_scores_of_a_frame_need_decisions_of_their_own():
    frame = pd.DataFrame({"sex": SEX, "hired": HIRED, "score": 0.1 + 0.8 * HIRED})
    columns = {"target": "hired", "prediction": "score", "sensitive": "sex"}
    with pytest.raises(ValueError, match="needs predicted labels: pass these, and leave threshold"):
        skbiasamp.audit_frame(frame, **columns, score="score", threshold=0.5)
    decided = frame.assign(decided=HIRED)
    report = skbiasamp.audit_frame(
        decided, **columns | {"prediction": "decided"}, score="score", **ANALYTIC
    )
    assert report["directional A->T"].value == 0


def test_changed_rows_of_procedures_are_means_over_pairs_of_runs():
    rng = np.random.default_rng(0)
    runs = {
        name: [np.where(rng.random(800) < share, 1 - HIRED, HIRED) for _ in range(2)]
        for name, share in (("a", 0.1), ("b", 0.3))
    }
    auditor = DirectionalAuditor(reference="test")
    churn = auditor.compare(HIRED, runs, sensitive_features=SEX).churn.set_index("group")
    for group in "fm":
        rows = group == SEX
        changed = [(new != old)[rows].sum() for new in runs["b"] for old in runs["a"]]
        assert churn.loc[group, "changed"] == pytest.approx(np.mean(changed))
