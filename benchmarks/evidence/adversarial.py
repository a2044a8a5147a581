"""Adversarial training against noise, over five seeds: what benchmarks/papers/adversarial.py shows.

python benchmarks/evidence/adversarial.py           # the page, about three minutes
python benchmarks/evidence/adversarial.py --short   # one seed
python benchmarks/evidence/adversarial.py --write benchmarks/results/adversarial.md
"""

import runpy
from pathlib import Path

from trials import command, markdown

# isort: split
import numpy as np
import torch

import skbiasamp
from skbiasamp.mitigation import AdversarialClassifier

SCRIPT = Path(__file__).resolve().parents[1] / "papers" / "adversarial.py"
MODELS = ("alone", "adversarial", "noise, equal accuracy")
MEASURES = ("accuracy", "leakage", "DPA")
WEIGHTS = (0, 0.1, 0.3, 1, 3)
LOSS = 0.03  # of accuracy, at most


def cell(mean, low, high, sign=""):
    return f"{mean:{sign}.3f} [{low:{sign}.3f}, {high:{sign}.3f}]"


def measured(summaries):
    """Return the table of measures."""
    rows = [
        [data, model, *(cell(*summary[model, n], "" if n == "accuracy" else "+") for n in MEASURES)]
        for data, summary in summaries.items()
        for model in MODELS
    ]
    return markdown(["data", "model", "accuracy", "leakage amplification", "DPA A→T"], rows)


def verdicts(summaries):
    """Return the table of what adversarial training should do, and whether it does."""
    rows = []
    for data, summary in summaries.items():
        lost = summary["alone", "accuracy"][0] - summary["adversarial", "accuracy"][0]
        what = "cost at most 3 percentage points of accuracy"
        rows.append([data, what, f"{100 * lost:.1f} percentage points", yes(lost <= LOSS)])
        for name in MEASURES[1:]:
            alone, less, noise = (summary[model, name] for model in MODELS)
            nothing = alone[1] <= 0 <= alone[2]
            halved = "nothing to halve" if nothing else yes(abs(less[0]) <= abs(alone[0]) / 2)
            rows.append([data, f"halve {name}", f"{alone[0]:+.3f} → {less[0]:+.3f}", halved])
            ends = f"upper bound {less[2]:+.3f}, lower bound of noise {noise[1]:+.3f}"
            what = f"have less {name} than noise of equal accuracy"
            rows.append([data, what, ends, yes(less[2] < noise[1])])
    return markdown(["data", "adversarial training should", "measured", "met"], rows)


def yes(met):
    return "yes" if met else "no"


def path(script, n_seeds):
    """Return the table of weights."""
    data = script["load_colored_digits"](correlation=0.8, random_state=0)
    model = AdversarialClassifier(**script["SETTINGS"]["digits"])
    table = model.path(
        np.moveaxis(data.images, 3, 1),
        data.target,
        sensitive_features=data.sensitive,
        weights=WEIGHTS,
        seeds=n_seeds,
        test_size=len(data.target) - 600,
    ).set_index(["weight", "measure"])
    cells = [f"{row['value']:.3f} ± {row['std']:.3f}" for _, row in table.iterrows()]
    shown = dict(zip(table.index, cells, strict=True))
    rows = [[f"{w:g}", *(shown[w, measure] for measure in MEASURES[:2])] for w in WEIGHTS]
    return markdown(["λ", "accuracy", "leakage amplification"], rows)


def values(options):
    n_seeds = 1 if options.short else 5
    script = runpy.run_path(str(SCRIPT), init_globals={"SEEDS": n_seeds})
    summaries = {data: script["summary"](data) for data in script["SETTINGS"]}
    return {
        "n_seeds": n_seeds,
        "skbiasamp": skbiasamp,
        "torch": torch,
        "measured": measured(summaries),
        "verdicts": verdicts(summaries),
        "weights": path(script, n_seeds),
    }


if __name__ == "__main__":
    command(__file__, __doc__, values)
