"""
Adversarial training compared with noise
========================================

A network that uses a proxy of the group amplifies the bias of its labels. Adversarial training
(Wang et al. 2019, Sec. 5) trains an adversary that predicts the group from the network's
representation, and trains the network to make it fail. The baseline is noise on the same
representation: it hides the group, and other information too.

The page uses two data sets: a synthetic table with proxies of the group, and handwritten digits
whose colour correlates with the digit. It runs two seeds;
``benchmarks/results/adversarial.md`` has the results of five seeds.
"""

# %%
# Two data sets
# -------------
# *Table*: one feature is a signal of the label, two features are proxies of the group. A network
# with one hidden layer is trained on 2,000 rows and audited on 20,000.
#
# *Digits*: eight in ten even digits are red, and eight in ten odd digits are green. A small
# convolutional network is trained on 600 images and audited on the other 1,197.

from collections import OrderedDict

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from scipy.stats import t as student
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skbiasamp import DPAAuditor, LeakageAuditor
from skbiasamp.datasets import load_colored_digits, make_biased_classification
from skbiasamp.mitigation import AdversarialClassifier, NoiseRandomizer

SEEDS = globals().get("SEEDS", 2)  # benchmarks/adversarial.py asks for five
torch.set_num_threads(1)  # networks as small as these only wait for more


def table(seed):
    """Return X, y and the sensitive feature of training rows, and of test rows."""
    train = make_biased_classification(2000, random_state=seed)
    test = make_biased_classification(20_000, random_state=1000 + seed)
    return [(one.data.to_numpy(), one.target, one.sensitive) for one in (train, test)]


def digits(seed):
    """Return the same of coloured digits."""
    data = load_colored_digits(correlation=0.8, random_state=seed)
    images = np.moveaxis(data.images, 3, 1)
    parts = train_test_split(images, data.target, data.sensitive, train_size=600, random_state=seed)
    return [parts[0::2], parts[1::2]]


# %%
# The networks
# ------------
# The weight of the adversary, λ, is 1. On the table, the adversary gets equally many rows of each
# group, as in the paper. On the digits, the digit itself reveals much about the colour. Groups are
# therefore balanced within each digit (``balance="class"``): the network must hide only what
# reveals more than the digit does.


def convolutional(n_channels, n_classes):
    """Return an encoder of small images, and a head."""
    nn = torch.nn
    encoder = nn.Sequential(
        nn.Conv2d(n_channels, 8, 1),
        nn.ReLU(),
        nn.Conv2d(8, 12, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(12, 24, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(96, 32),
        nn.ReLU(),
    )
    return nn.Sequential(OrderedDict(encoder=encoder, head=nn.Linear(32, n_classes)))


SETTINGS = {
    "table": {"hidden_layer_sizes": (8,), "batch_size": 500, "max_epochs": 100},
    "digits": {
        "module": convolutional,
        "balance": "class",
        "batch_size": 32,
        "learning_rate": 1e-3,
        "pretrain_epochs": 20,
        "adversary_epochs": 5,
        "max_epochs": 40,
        "adversary_steps": 1,
    },
}
NOISE = (0.1, 0.25, 0.5, 1, 2)

# %%
# Metrics
# -------
# Three metrics: accuracy; leakage amplification, which says how much better the group is predicted
# from the logits than from equally accurate random labels; and DPA, group → task (A→T): does the
# group reveal more about the predicted label than about equally accurate random labels?


def measure(model, X, y, group):
    """Return accuracy, leakage amplification and DPA."""
    options = {"n_draws": 3, "interval": None, "random_state": 0}
    predicted, logits = model.predict(X), model.decision_function(X)
    return {
        "accuracy": np.mean(predicted == y),
        "leakage": LeakageAuditor(equalize="f1", **options).score(
            y, logits, sensitive_features=group
        ),
        "DPA": DPAAuditor(quality="accuracy", **options).score(
            y, predicted, sensitive_features=group
        ),
    }


def compare(draw, settings, seed):
    """Yield (model, measures) of training alone, against an adversary, and with growing noise."""
    (X, y, group), test = draw(seed)
    alone, adversarial = (
        AdversarialClassifier(weight, random_state=seed, **settings).fit(
            X, y, sensitive_features=group
        )
        for weight in (0, 1)
    )
    yield "alone", measure(alone, *test)
    yield "adversarial", measure(adversarial, *test)
    # Noise on the representation of the network trained alone, and a classifier trained with it.
    hidden = alone.transform(X), alone.transform(test[0])
    for scale in NOISE:
        noise = NoiseRandomizer(scale, random_state=seed)
        head = make_pipeline(noise, StandardScaler(), LogisticRegression(max_iter=2000))
        yield f"noise {scale:g}", measure(head.fit(hidden[0], y), hidden[1], *test[1:])


found = pd.DataFrame(
    [
        {"data": name, "seed": seed, "model": model, **measures}
        for name, draw in {"table": table, "digits": digits}.items()
        for seed in range(SEEDS)
        for model, measures in compare(draw, SETTINGS[name], seed)
    ]
)

# %%
# Noise at equal accuracy
# -----------------------
# For a fair comparison, the noise must cost as much accuracy as the adversary. Between two scales
# of noise, amplification is interpolated linearly. If adversarial training costs no accuracy, the
# noise is 0.


def noise_at_equal_accuracy(runs):
    """Return the measures of a run with as much noise as costs what adversarial training does."""
    line = runs.drop("adversarial").sort_values("accuracy")
    at = runs.loc["adversarial", "accuracy"]
    return pd.Series(
        {
            name: np.interp(at, line["accuracy"], line[name])
            for name in ("accuracy", "leakage", "DPA")
        }
    )


def per_seed(data):
    """Return the measures of each seed, models × seeds."""
    runs = found[found["data"] == data].set_index(["seed", "model"])[["accuracy", "leakage", "DPA"]]
    for seed in range(SEEDS):
        runs.loc[(seed, "noise, equal accuracy"), :] = noise_at_equal_accuracy(runs.loc[seed])
    return runs.swaplevel().sort_index()


def interval(values):
    """Return mean and 95 % interval over seeds; with two seeds, their range."""
    values = np.asarray(values)
    if len(values) < 3:
        return values.mean(), values.min(), values.max()
    half = student.ppf(0.975, len(values) - 1) * values.std(ddof=1) / len(values) ** 0.5
    return values.mean(), values.mean() - half, values.mean() + half


def summary(data):
    """Return mean and interval of every measure."""
    runs = per_seed(data)
    return {
        (model, name): interval(runs.loc[model, name])
        for model in ("alone", "adversarial", "noise, equal accuracy")
        for name in runs.columns
    }


for data in ("table", "digits"):
    print(f"{data}, {SEEDS} seeds")
    print(f"  {'':22} {'accuracy':>22} {'leakage':>24} {'DPA':>24}")
    cells = summary(data)
    for model in ("alone", "adversarial", "noise, equal accuracy"):
        row = ["{:+.3f} [{:+.3f}, {:+.3f}]".format(*cells[model, n]) for n in ("leakage", "DPA")]
        accuracy = "{:.3f} [{:.3f}, {:.3f}]".format(*cells[model, "accuracy"])
        print(f"  {model:22} {accuracy:>22} {row[0]:>24} {row[1]:>24}")

# %%
# Amplification against accuracy
# ------------------------------
# Points to the right are more accurate, and points at 0 do not amplify. Each line is one seed of
# the network trained alone, with growing noise. Each diamond is one seed of adversarial training.

figure, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True, layout="constrained")
for ax, data in zip(axes, ("table", "digits"), strict=True):
    runs = found[found["data"] == data]
    for seed, one in runs.groupby("seed"):
        line = one[one["model"] != "adversarial"]
        label = "alone, with growing noise" if seed == 0 else None
        ax.plot(line["accuracy"], line["leakage"], "o-", color="#228833", ms=4, lw=1, label=label)
        start = one[one["model"] == "alone"]
        label = "alone" if seed == 0 else None
        ax.plot(start["accuracy"], start["leakage"], "o", color="#000000", ms=7, label=label)
        point = one[one["model"] == "adversarial"]
        label = "adversarial" if seed == 0 else None
        ax.plot(point["accuracy"], point["leakage"], "D", color="#aa3377", ms=7, label=label)
    ax.axhline(0, color="0.6", lw=0.8)
    ax.set(title=data, xlabel="accuracy", ylabel="leakage amplification (logits)")
axes[0].legend(frameon=False)

# %%
# Results
# -------
# *Table.* The adversary removes nearly all leakage amplification and DPA. It costs about one
# percentage point of accuracy. Noise that costs as much accuracy removes nothing.
#
# *Digits.* The adversary removes most of the leakage of the logits and costs less than one
# percentage point of accuracy. Noise that costs as much removes less. DPA is small without an
# adversary too: more than nine digits in ten are predicted correctly, and correct predictions do
# not amplify.
#
# Five seeds give the same result. ``benchmarks/results/adversarial.md`` has the numbers with
# confidence intervals, and says which targets are met.
