"""Three shortcomings of MALS: the examples in Sec. 3.2 of Wang & Russakovsky (2021).

Three metrics for each example: MALS and directional amplification, group → task (A→T: does the
group shift the predicted task?) and task → group (T→A: does the task shift the predicted group?).

1. MALS counts positive correlations only. With three groups it is 0. With two groups it is 0.2 or
   0.033 for the same error in one group or the other; A→T is 0.1 in both cases.
2. MALS associates label 1 with A1, because most rows with label 1 are in A1. But most rows with
   label 0 are in A1 too: 1 in 3 rows of A1 has label 1, and 2 in 3 rows of A2. Its sign is wrong.
3. MALS compares predictions with predictions. It cannot distinguish a wrong label from a wrong
   group. A→T and T→A can.
"""

import pandas as pd

from skbiasamp import Contingency, DirectionalAuditor, MALSAuditor

COLUMNS = ["group", "task", "group_pred", "task_pred", "n"]
SCENARIOS = {
    # Only A1 is above one third of the 1s, and its predictions are right.
    "1: three groups": [
        ("A1", 0, "A1", 0, 10), ("A1", 1, "A1", 1, 40), ("A2", 0, "A2", 0, 40),
        ("A2", 1, "A2", 0, 10), ("A3", 0, "A3", 1, 10), ("A3", 1, "A3", 1, 20),
    ],
    "1: A2 gets 0": [
        ("A1", 0, "A1", 0, 10), ("A1", 1, "A1", 1, 40),
        ("A2", 0, "A2", 0, 40), ("A2", 1, "A2", 0, 10),
    ],
    "1: A1 gets 1": [
        ("A1", 0, "A1", 1, 10), ("A1", 1, "A1", 1, 40),
        ("A2", 0, "A2", 0, 40), ("A2", 1, "A2", 1, 10),
    ],
    # A1 has most of the 1s because it has most of the rows.
    "2: unequal groups": [
        ("A1", 0, "A1", 0, 60), ("A1", 1, "A1", 0, 30),
        ("A2", 0, "A2", 1, 10), ("A2", 1, "A2", 1, 20),
    ],
    # Sec. 3.2 has no counts for this one. First the label is wrong, then the group.
    "3: wrong labels": [
        ("A1", 0, "A1", 1, 10), ("A1", 1, "A1", 1, 30),
        ("A2", 0, "A2", 0, 30), ("A2", 1, "A2", 0, 10),
    ],
    "3: wrong groups": [
        ("A1", 0, "A2", 0, 10), ("A1", 1, "A1", 1, 30),
        ("A2", 0, "A2", 0, 30), ("A2", 1, "A1", 1, 10),
    ],
}  # fmt: skip
# The audited labels give the signs, because there is no training set.
AUDITORS = {
    "MALS": MALSAuditor(reference="test", interval=None),
    "A→T": DirectionalAuditor("A->T", reference="test", interval=None),
    "T→A": DirectionalAuditor("T->A", reference="test", interval=None),
}


def seen(rows):
    """Return the published value of each metric for counts."""
    counts = Contingency.from_counts(pd.DataFrame(rows, columns=COLUMNS))
    return {name: auditor.audit(counts).published for name, auditor in AUDITORS.items()}


table = pd.DataFrame({name: seen(rows) for name, rows in SCENARIOS.items()}).T
print(table.to_string(float_format="{:+.4f}".format))
