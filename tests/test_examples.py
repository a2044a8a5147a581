"""The examples run, and show what they say they show."""

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest

from skbiasamp.mitigation import search

FOLDER = Path(__file__).parents[1] / "examples"


def load(name):
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.torch
def test_a_network_of_skorch_attacks_as_documented():
    pytest.importorskip("skorch")
    page = (FOLDER.parent / "docs" / "recipes.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (block,) = (block for block in blocks if "NeuralNetClassifier" in block)
    names = {}
    exec(block, names)
    sex = ["f"] * 150 + ["m"] * 150
    hired = ([1] * 75 + [0] * 75) * 2
    predicted = [1] * 140 + [0] * 10 + [1] * 10 + [0] * 140
    result = names["auditor"].audit(hired, predicted, sensitive_features=sex)
    assert result.statistics["attacker"] == "NeuralNetClassifier"
    assert result.table["quality_model"].item() == pytest.approx(28 / 30, abs=1e-9)
    again = names["auditor"].audit(hired, predicted, sensitive_features=sex)
    assert again.value == result.value


@pytest.mark.pages
def test_remedies_for_one_amplification_can_raise_the_other(monkeypatch):
    matplotlib = pytest.importorskip("matplotlib")
    monkeypatch.setenv("MPLBACKEND", "agg")
    matplotlib.use("agg")

    def of_the_guide(*labels, candidates, **how):
        """Leave out the noise on which no number of the guide depends."""
        fewer = {name: own for name, own in candidates.items() if name[-1] not in "24"}
        return search(*labels, candidates=fewer, **how)

    monkeypatch.setattr("skbiasamp.mitigation.search", of_the_guide)
    example = load("mitigation/plot_mitigations_compas")
    matplotlib.pyplot.close("all")

    def change(comparison, remedy, measure):
        rows = comparison.measures.set_index(["mitigation", "measure"])
        return rows.loc[(remedy, measure), ["change_low", "change_high"]].tolist()

    single, multi = "directional A->T", "multi-attribute A->T"
    both = example.on_compas, example.on_table
    for comparison in both:
        dropping = ["ratio balancer", "data repair"] * (comparison is example.on_table)
        for remedy in ["domain independent", *dropping]:
            assert change(comparison, remedy, single)[1] < 0 < change(comparison, remedy, multi)[0]
            table = comparison.comparisons[multi].table.set_index("model")
            assert table.loc["none", "value"] < table.loc[remedy, "value"]
        clear = "multi-attribute" if comparison is example.on_compas else "MALS"
        assert change(comparison, "corpus constraints", clear)[1] < 0
        values = comparison.measures.set_index(["mitigation", "measure"])["value"]
        assert abs(values["corpus constraints", "MALS"]) < 0.012  # the margin is 0.01
        lost = values["none", "accuracy"] - values["corpus constraints", "accuracy"]
        assert change(comparison, "corpus constraints", "accuracy")[1] > 0 > -0.01 < -lost
        for remedy in ("ratio balancer", "data repair"):
            assert change(comparison, remedy, "accuracy")[1] < 0
            lost = values["none", "accuracy"] - values[remedy, "accuracy"]
            assert lost == pytest.approx(0.033, abs=0.005)
    on_compas, on_table = both
    for remedy in ("ratio balancer", "data repair"):
        assert change(on_compas, remedy, "MALS")[0] > 0
    again = example.predicted[
        example.predicted.index.get_level_values("task") == ("charged again",)
    ]
    assert len(again) == 2
    assert (again["ratio balancer"] < again["labels"] - 0.2).all()
    assert (again["domain independent"] - again["none"]).abs().max() < 0.03
    assert change(on_compas, "base-rate thresholds", single)[0] > 0
    assert change(on_compas, "base-rate thresholds", multi)[1] < 0
    for measure in (single, multi):
        assert np.abs(change(on_table, "base-rate thresholds", measure)).max() < 0.003
    for remedy in ("ratio balancer", "data repair", "domain independent"):
        low, high = on_table.measures.set_index(["mitigation", "measure"]).loc[
            (remedy, single), ["low", "high"]
        ]
        assert low < high < -0.05
    low, high = on_compas.measures.set_index(["mitigation", "measure"]).loc[
        ("none", single), ["low", "high"]
    ]
    assert low < 0 < high
