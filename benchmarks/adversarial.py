"""Adversarial training against noise, over five seeds: what benchmarks/papers/adversarial.py shows.

python benchmarks/adversarial.py                       # the page, about three minutes
python benchmarks/adversarial.py --write benchmarks/results/adversarial.md
"""

import argparse
import os
import runpy
from pathlib import Path

# Networks as small as these only wait for more threads.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")
os.environ.setdefault("MPLBACKEND", "Agg")

import matplotlib
import numpy as np
import torch

import skbiasamp
from skbiasamp.mitigation import AdversarialClassifier

EXAMPLE = Path(__file__).resolve().parent / "papers" / "adversarial.py"
MODELS = ("alone", "adversarial", "noise, equal accuracy")
MEASURES = ("accuracy", "leakage", "DPA")
WEIGHTS = (0, 0.1, 0.3, 1, 3)
LOSS = 0.03  # of accuracy, at most


def cell(mean, low, high, sign=""):
    return f"{mean:{sign}.3f} [{low:{sign}.3f}, {high:{sign}.3f}]"


def measured(summaries):
    """Return the lines of the table of measures."""
    lines = [
        "| data | model | accuracy | leakage amplification | DPA A→T |",
        "|---|---|---|---|---|",
    ]
    for data, summary in summaries.items():
        for model in MODELS:
            cells = [cell(*summary[model, n], "" if n == "accuracy" else "+") for n in MEASURES]
            lines.append(f"| {data} | {model} | {' | '.join(cells)} |")
    return "\n".join(lines)


def verdicts(summaries):
    """Return the lines of the table of what adversarial training should do, and whether it does."""
    lines = ["| data | adversarial training should | measured | met |", "|---|---|---|---|"]
    for data, summary in summaries.items():
        lost = summary["alone", "accuracy"][0] - summary["adversarial", "accuracy"][0]
        rows = [
            (
                "cost at most 3 percentage points of accuracy",
                f"{100 * lost:.1f} percentage points",
                lost <= LOSS,
            )
        ]
        for name in MEASURES[1:]:
            alone, less, noise = (summary[model, name] for model in MODELS)
            share = f"{alone[0]:+.3f} → {less[0]:+.3f}"
            nothing = alone[1] <= 0 <= alone[2]
            halved = "nothing to halve" if nothing else None
            rows.append((f"halve {name}", share, halved or abs(less[0]) <= abs(alone[0]) / 2))
            apart = less[2] < noise[1]
            ends = f"upper bound {less[2]:+.3f}, lower bound of noise {noise[1]:+.3f}"
            rows.append((f"have less {name} than noise of equal accuracy", ends, apart))
        for what, how, met in rows:
            verdict = met if isinstance(met, str) else "yes" if met else "no"
            lines.append(f"| {data} | {what} | {how} | {verdict} |")
    return "\n".join(lines)


def path(example, n_seeds):
    """Return the lines of the table of weights."""
    data = example["load_colored_digits"](correlation=0.8, random_state=0)
    model = AdversarialClassifier(**example["SETTINGS"]["digits"])
    table = model.path(
        np.moveaxis(data.images, 3, 1),
        data.target,
        sensitive_features=data.sensitive,
        weights=WEIGHTS,
        seeds=n_seeds,
        test_size=len(data.target) - 600,
    ).set_index(["weight", "measure"])
    lines = ["| λ | accuracy | leakage amplification |", "|---|---|---|"]
    for weight in WEIGHTS:
        rows = [table.loc[(weight, measure)] for measure in MEASURES[:2]]
        accuracy, leakage = (f"{row['value']:.3f} ± {row['std']:.3f}" for row in rows)
        lines.append(f"| {weight:g} | {accuracy} | {leakage} |")
    return "\n".join(lines)


def page(summaries, weights, n_seeds):
    return f"""# Adversarial training: effect and cost

The table compares adversarial training with no mitigation and with noise of equal cost. It has
means over {n_seeds} seeds and 95 % t-intervals; each seed has its own data, split and network. DPA
has the direction group → task (A→T: does the group shift the predicted task?). Versions: skbiasamp
{skbiasamp.__version__}, torch {torch.__version__}, on a CPU only.

{measured(summaries)}

- *Leakage amplification* is measured on the logits, *DPA* on the predicted labels.
- *table*: 2,000 training rows of `make_biased_classification`, 20,000 test rows, and a network with
  one hidden layer.
- *digits*: 600 training images of `load_colored_digits(correlation=0.8)`, 1,197 test images, and a
  small convolutional network with `balance="class"`.
- *adversarial*: the adversary's input is the encoder's output, and λ is 1.
- *noise, equal accuracy*: the network trained alone, with noise on its representation
  (`NoiseRandomizer`, and a logistic regression trained with it). The noise costs as much accuracy
  as adversarial training in that run. If adversarial training costs nothing, this is the most
  accurate run without an adversary.

{verdicts(summaries)}

"Nothing to halve": the confidence interval of the network trained alone includes 0, because its
predicted labels have few errors. Its logits still reveal the colour. On the digits, the result
depends on the settings: with six epochs of the adversary alone instead of five, leakage is +0.037
[-0.031, +0.104], which is not below that of noise.

## The weight of the adversary

`AdversarialClassifier.path` on the digits: means over {n_seeds} seeds, each with its own split and
network, ± their standard deviation.

{weights}

More weight need not mean less leakage: choose it by held-out rows and over seeds.

`python benchmarks/adversarial.py --write benchmarks/results/adversarial.md` makes this page.
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--write", metavar="FILE", type=Path, help="write the page to FILE")
    arguments = parser.parse_args()
    matplotlib.use("Agg")
    example = runpy.run_path(str(EXAMPLE), init_globals={"SEEDS": arguments.seeds})
    summaries = {data: example["summary"](data) for data in ("table", "digits")}
    text = page(summaries, path(example, arguments.seeds), arguments.seeds)
    print(text)
    if arguments.write:
        arguments.write.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
