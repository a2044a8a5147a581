"""``skbiasamp demo``: an audit of embedded data."""

from __future__ import annotations

import skbiasamp
from skbiasamp.cli._files import writable
from skbiasamp.cli._terminal import filled, print_summary
from skbiasamp.datasets import load_compas_counts

_CAVEAT = """\
Directional amplification is below 0 if the tree weakens the associations of the data, and exactly
0 on balanced data, which have no association to amplify. Values of A->T and T->A cannot be
compared. Only margins of these counts are published, and the demo uses one set of joint counts
with these margins: MALS, leakage, DPA, intervals and p-values depend on it and only show the form
of the result (load_compas_counts().DESCR)."""


def demo(html: str) -> int:
    """Audit the embedded data, and write the page of the unbalanced ones."""
    path = writable(html)
    reports = {}
    print("A decision tree's predictions of COMPAS defendants (published counts)")
    for subset in ("unbalanced", "balanced"):
        compas = load_compas_counts(subset)
        cells = skbiasamp.Contingency.from_labels(
            compas.tasks,
            compas.tasks_pred,
            sensitive_features=compas.frame["group"],
            sensitive_pred=compas.frame["group_pred"],
            sample_weight=compas.frame["n"],
        )
        reports[subset] = skbiasamp.audit(cells, random_state=0)
        print(f"\n{subset} data: {reports[subset].context['rows']}")
        for text in reports[subset]._opening:
            print(filled(text, "  "))
        print_summary(reports[subset])
    print(f"\n{filled(' '.join(_CAVEAT.split()))}")
    try:
        reports["unbalanced"].to_html(path)
    except ImportError as error:
        print(f"\nNo page was written: {error}")
    else:
        print(f"\nThe page of the unbalanced data, to open in a browser:\n{path.resolve()}")
    return 0
