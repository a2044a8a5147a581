"""``skbiasamp demo``: audits of real data that come with the package."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

import skbiasamp
from skbiasamp._utils.formatting import rate
from skbiasamp.cli._options import add_command
from skbiasamp.cli._terminal import in_lines, say, say_report
from skbiasamp.datasets import load_compas
from skbiasamp.results import AuditReport

_AGAIN = "charged again"
_RATES = {
    "base_rate": "labelled",
    "predicted_rate": "predicted",
    "false_positive_rate": "false positive rate",
    "true_positive_rate": "true positive rate",
}


def add_demo(commands: Any) -> None:
    """Add the command to the parser."""
    add_command(commands, "demo", _demo, "--folder")


def _demo(options: argparse.Namespace) -> int:
    """Audit data that come with the package, offline.

    Answer two questions on real data that come with the package (COMPAS, 5,278
    defendants): does the COMPAS score amplify, and does a classifier trained on
    half of the rows? Each gets a verdict, error rates by group and a page.

    for example:
      skbiasamp demo --folder pages
    """
    pages = Path(options.folder)
    if not pages.is_dir():
        raise FileNotFoundError(f"--folder {pages}: there is no such folder; create it first")
    from sklearn.ensemble import GradientBoostingClassifier
    from sklearn.model_selection import train_test_split

    compas = load_compas()
    say(in_lines(f"COMPAS: {len(compas.target):,} defendants of two races (public records)"))
    labels, race = _named(compas.target), compas.sensitive_features
    names = ("COMPAS score, medium or high risk", "COMPAS, two races")
    score = _audited(labels, _named(compas.decile_score >= 5), race, names)
    question = "1. The COMPAS score, medium or high risk (5 or more of 10): does it amplify?"
    _present(question, score, pages / "compas-score.html")
    # The classifier never sees race, and is audited on the rows that it was not trained on.
    X, X_test, y, y_test, race, race_test = train_test_split(
        compas.data, labels, race, test_size=0.5, random_state=0
    )
    predicted = GradientBoostingClassifier(random_state=0).fit(X, y).predict(X_test)
    names = ("gradient-boosted classifier", "COMPAS, two races, the half not trained on")
    trained = {"y_train": y, "sensitive_train": race}
    classifier = _audited(y_test, predicted, race_test, names, **trained)
    question = "2. A gradient-boosted classifier, trained on half of the rows: does it amplify?"
    _present(question, classifier, pages / "compas-classifier.html")
    say()
    say(
        in_lines(
            "A charge is not an offence, and these records have known problems: "
            "skbiasamp.datasets.load_compas().DESCR lists them."
        )
    )
    return 0


def _named(positive: Any) -> Any:
    return np.where(positive, _AGAIN, f"not {_AGAIN}")


def _audited(
    labels: Any, predicted: Any, race: Any, names: tuple[str, str], **trained: Any
) -> AuditReport:
    report = skbiasamp.audit(
        labels,
        predicted,
        sensitive_features=race,
        pos_label=_AGAIN,
        favourable=f"not {_AGAIN}",
        random_state=0,
        **trained,
    )
    report.context.update(model_name=names[0], data_name=names[1])
    return report


def _present(question: str, report: AuditReport, page: Path) -> None:
    """Print verdict, metrics and errors by group; write the page."""
    say(f"\n{in_lines(question)}\n")
    say_report(report.to_document())
    rates = report.rates.set_index("group")[list(_RATES)].rename(columns=_RATES)
    say("\nWho bears the errors?")
    say(rates.rename_axis(None).map(rate).to_string())
    say(
        in_lines(
            f"(false positive rate: share of those not {_AGAIN} who are predicted to be; true "
            f"positive rate: the same of those {_AGAIN})"
        )
    )
    report.to_html(page)
    say(f"\nThe page, to open in a browser: {page.resolve()}")
