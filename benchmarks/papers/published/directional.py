"""Wang and Russakovsky 2021, and the card of their metric."""

from reference_data import read_coco_labels, read_rba_shares

from published._rows import Row, page
from skbiasamp import DirectionalAuditor


def directional():
    """Yield the rows of Wang and Russakovsky."""
    shortcomings = page("shortcomings")
    results = {name: shortcomings["seen"](rows) for name, rows in shortcomings["SCENARIOS"].items()}
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
    yield from objects()


def objects():
    """Yield what Sec. 3.3 says of COCO's objects and people."""
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
