"""Findings: each has a code that stays the same, words, and a place in the docs."""

import re
import runpy
from pathlib import Path

import skbiasamp
from skbiasamp.render.facts import environment
from skbiasamp.report.checks import every_check
from skbiasamp.results import COMPARISON_FINDINGS

ROOT = Path(__file__).parents[1]
# A code may be added, and keeps its meaning: users write rules about it.
CODES = {
    "SBA101": "positive class", "SBA102": "group scores", "SBA103": "weak scores",
    "SBA104": "constant labels", "SBA105": "numbers as classes", "SBA106": "never labelled",
    "SBA107": "numbers as groups", "SBA108": "group spelling", "SBA109": "task spelling",
    "SBA110": "missing names", "SBA111": "identical predictions", "SBA112": "weights",
    "SBA113": "labels as truth", "SBA114": "training labels", "SBA115": "sums",
    "SBA116": "missing values", "SBA117": "reference as truth", "SBA118": "favourable class",
    "SBA119": "untrained",
    "SBA201": "probabilities", "SBA202": "error rates", "SBA203": "impact ratio",
    "SBA204": "worse than chance", "SBA205": "narrow predictions", "SBA206": "threshold",
    "SBA207": "predicted attribute", "SBA208": "risk prediction", "SBA209": "changed rates",
    "SBA210": "strata",
    "SBA301": "limit", "SBA302": "reversal", "SBA303": "precision", "SBA304": "mitigation",
    "SBA305": "unclear directions", "SBA306": "unassociated groups", "SBA307": "few rows",
    "SBA308": "undefined pairs", "SBA309": "directions", "SBA310": "no limit",
    "SBA401": "empty texts", "SBA402": "unknown words", "SBA403": "refusals",
    "SBA404": "texts without a label", "SBA405": "attacker",
    "SBA501": "reversal", "SBA502": "precision", "SBA503": "no gain", "SBA504": "cost",
    "SBA505": "metrics disagree", "SBA506": "choice", "SBA507": "probabilities",
    "SBA508": "training labels", "SBA509": "missing values", "SBA601": "final model",
}  # fmt: skip


def test_codes_stay_the_same_and_each_has_an_owner_and_words():
    checks = every_check()
    topics = {check.code: check.topic for check in checks}
    assert len(topics) == len(checks)
    topics |= {code: topic for code, (topic, *_) in COMPARISON_FINDINGS.items()}
    assert topics == CODES
    kinds = [(check.severity, check.owner) for check in checks]
    kinds += [(severity, owner) for _, severity, owner, _ in COMPARISON_FINDINGS.values()]
    assert {severity for severity, _ in kinds} == {"wrong", "act", "note"}
    assert {owner for _, owner in kinds} == {"data", "model", "policy"}
    words = environment().get_template("sentences/findings.txt").module
    parts = [f"{code}_{part}" for code in CODES for part in ("seen", "step")]
    assert [part for part in parts if not hasattr(words, part)] == []


def test_a_group_is_named_as_it_is_at_the_start_of_a_finding():
    group, label = ["a"] * 400 + ["A"] * 400, [1] * 100 + [0] * 300 + [1] * 100 + [0] * 300
    guess = [1] * 160 + [0] * 240 + [1] * 60 + [0] * 340
    report = skbiasamp.audit(label, guess, sensitive_features=group, random_state=0)
    (text,) = (each.text for each in report.findings if each.code == "SBA209")
    assert re.findall(r"(\w): ([\d.]+)", text) == [("a", "15.0"), ("A", "10.0")]


def test_the_page_of_the_docs_is_the_one_that_is_generated():
    made = runpy.run_path(str(ROOT / "docs" / "_extensions" / "findings.py"))["page"]()
    page = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
    assert page == made
    assert re.findall(r"^\((sba\d+)\)=$", page, re.MULTILINE) == [code.lower() for code in CODES]
