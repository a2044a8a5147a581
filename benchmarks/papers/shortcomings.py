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
from published._rows import Row
from reference_data import read_coco_labels, read_rba_shares

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


def directional():
    """Yield the rows of Wang and Russakovsky."""
    results = {name: seen(rows) for name, rows in SCENARIOS.items()}
    for where, scenario, metric, published in (
        ("Sec. 3.2", "1: three groups", "MALS", "0"),
        ("Sec. 3.2", "1: A2 gets 0", "MALS", "0.2"),
        ("Sec. 3.2", "1: A1 gets 1", "MALS", "0.033"),
        ("Sec. 3.2", "2: unequal groups", "MALS", "-0.6"),
        ("Sec. 4.1", "1: three groups", "A→T", "0.1778"),
        ("Sec. 4.1", "1: three groups", "T→A", "0"),
        ("Sec. 4.1", "2: unequal groups", "A→T", "0.3333"),
        ("Sec. 4.1", "2: unequal groups", "T→A", "0"),
    ):
        yield Row(where, f"shortcoming {scenario}; {metric}", published, results[scenario][metric])
    # What Sec. 3.3 says of COCO's objects and people.
    shares = read_rba_shares(dataset="coco").frame
    oven, keyboard = shares.loc["oven"], shares.loc["keyboard"]
    for what, published, ours, why in (
        ("oven: share of men in training", "0.56", oven["train"], ""),
        ("oven: predicted share minus training", "-0.10", oven["before"] - oven["train"], ""),
        ("keyboard: share of men in training", "0.70", keyboard["train"],
         "from the shares that Zhao et al. (2017) released; it rounds to 0.69"),
        ("keyboard: share of men in predictions", "0.83", keyboard["before"], ""),
    ):  # fmt: skip
        yield Row("Sec. 3.3", what, published, ours, why)
    for subset, name in {"val": "validation", "test": "test"}.items():
        people = read_coco_labels(subset=subset).sensitive_features.value_counts()
        what = f"COCO, men for each woman, {name} rows"
        yield Row("Sec. 3.3", what, "2.5", people["man"] / people["woman"])


def metric_card():
    """Yield the example of the metric on the Hugging Face hub."""
    result = DirectionalAuditor(reference="test", interval=None).audit(
        [0, 1, 1, 0, 0, 0, 0, 1],
        [1, 1, 1, 0, 0, 0, 0, 0],
        sensitive_features=["A"] * 3 + ["B"] * 5,
    )
    yield Row("metric card, Hugging Face", "example; A→T", "0.2667", result.published)


if __name__ == "__main__":
    table = pd.DataFrame({name: seen(rows) for name, rows in SCENARIOS.items()}).T
    print(table.to_string(float_format="{:+.4f}".format))
