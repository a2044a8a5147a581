"""The command line: ``skbiasamp demo``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from skbiasamp.auditors import DirectionalAuditor, MALSAuditor, MultiAttributeAuditor
from skbiasamp.contingency import Contingency
from skbiasamp.datasets import load_compas_counts


def demo() -> str:
    """Return a full audit of the embedded COMPAS counts as text."""
    paragraphs = ["Audit of a decision tree's COMPAS predictions (published counts)"]
    for subset in ("unbalanced", "balanced"):
        compas = load_compas_counts(subset)
        cells = Contingency.from_labels(
            compas.tasks,
            compas.tasks_pred,
            sensitive_features=compas.frame["group"],
            sensitive_pred=compas.frame["group_pred"],
            sample_weight=compas.frame["n"],
        )
        paragraphs.append(f"=== {subset} data: {cells.total:,.0f} defendants ===")
        paragraphs.append(
            "P(label | race) in the data:\n"
            + DirectionalAuditor().fit(cells).base_rates_.to_string(float_format="{:.3f}".format)
        )
        auditors = [
            MALSAuditor(reference="test", random_state=0),
            *(
                kind(direction, reference="test", random_state=0)
                for kind in (DirectionalAuditor, MultiAttributeAuditor)
                for direction in ("A->T", "T->A")
            ),
        ]
        paragraphs += [repr(auditor.audit(cells)) for auditor in auditors]
    paragraphs.append(
        "Directional amplification is below 0 where the tree weakens what the data leans to, and\n"
        "exactly 0 on balanced data, where no correlation is left to amplify. Values of A->T and\n"
        "T->A are not comparable with each other. Only margins of these counts are published, and\n"
        "one set of joint counts that has them stands in for the rest: MALS, intervals and\n"
        "p-values depend on it and show the form of the result only (load_compas_counts().DESCR)."
    )
    return "\n\n".join(paragraphs)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : list of str, optional
        The arguments; by default those of the process.

    Returns
    -------
    code : int
        0 when the audit was made.
    """
    parser = argparse.ArgumentParser(prog="skbiasamp", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("demo", help="audit embedded data, offline")
    parser.parse_args(arguments)
    print(demo())
    return 0
