"""The pages on adversarial training show what they say they show, in a reduced size."""

import sys
from pathlib import Path

import pandas as pd
import pytest

FOLDER = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(FOLDER / "benchmarks" / "papers"), str(FOLDER / "benchmarks")]
from pages import defined_in  # noqa: E402

pytest.importorskip("matplotlib.pyplot")
torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.pages, pytest.mark.torch, pytest.mark.usefixtures("one_thread")]


def definitions(name):
    """Return what a script imports and defines, up to where its cells begin to compute."""
    paths = *FOLDER.glob(f"examples/*/plot_{name}.py"), FOLDER / f"benchmarks/papers/{name}.py"
    return defined_in(next(path for path in paths if path.exists()))


def test_a_network_takes_the_colour_for_the_digit():
    page = definitions("colored_digits")
    train, test = page["split"](0.95)
    # A third of the epochs: the shortcut is learned early.
    model = page["network"](max_epochs=0).fit(*train[:2])
    X, digit, color = test
    usual = (color == "red") == (digit % 2 == 0)
    right = model.predict(X) == digit
    assert right[usual].mean() > right[~usual].mean() + 0.15


def test_seeds_of_the_adversary_are_as_the_page_says():
    page = (FOLDER / "examples" / "mitigation" / "plot_colored_digits.py").read_text("utf-8")
    text = " ".join(page.replace("\n# ", " ").replace(" %", "%").split())
    runs = pd.read_csv(FOLDER / "benchmarks" / "results" / "adversarial-seeds.csv")
    alone, against = (runs[runs["adversary"] == weight].set_index("seed") for weight in (0, 1))
    change = against["leakage, logits"] - alone["leakage, logits"]
    assert [(change < 0).sum(), (change > 0).sum()] == [6, 2]
    losses = against["adversary's loss"]
    wins = losses.idxmin()
    assert change[wins] > 0
    right = [frame.loc[wins, "other colour"] for frame in (against, alone)]
    told = [frame["colour from encoder"].min() for frame in (against, alone)]
    for said in (
        "in six and raises it in two",
        f"its loss falls to {losses[wins]:.2f}, and",
        f"only {right[0]:.0%} of the images",
        f"correctly ({right[1]:.0%} without",
        f"for {told[0]:.0%} or more of the images",
        f"and for {told[1]:.0%} or more",
    ):
        assert said in text
