"""Wang and Russakovsky 2021, and the card of their metric."""

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


def metric_card():
    """Yield the example of the metric on the Hugging Face hub."""
    result = DirectionalAuditor(reference="test", interval=None).audit(
        [0, 1, 1, 0, 0, 0, 0, 1],
        [1, 1, 1, 0, 0, 0, 0, 0],
        sensitive_features=["A"] * 3 + ["B"] * 5,
    )
    yield Row("example", "A→T", "0.2667", result.published)
