"""Adversarial training compared with noise, on a table and on coloured digits.

A network that uses a proxy of the group amplifies the bias of its labels. Adversarial training
(Wang et al. 2019, Sec. 5) trains an adversary that predicts the group from the network's
representation, and trains the network to make it fail. The baseline is noise on the same
representation: it hides the group, and other information too.

Result: on the table, the adversary removes nearly all leakage amplification and DPA. It costs about
one percentage point of accuracy; noise that costs as much removes nothing. On the digits, it
removes most of the leakage of the logits and costs less than one percentage point; noise that costs
as much removes less. DPA is small without an adversary too: more than nine digits in ten are
predicted correctly, and correct predictions do not amplify.

Two seeds; ``benchmarks/results/adversarial.md`` has five, with intervals and targets. Needs torch.
"""

from collections import OrderedDict

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

SEEDS = globals().get("SEEDS", 2)  # evidence/adversarial.py asks for five
torch.set_num_threads(1)  # networks as small as these only wait for more
MODELS = ("alone", "adversarial", "noise, equal accuracy")
MEASURES = ("accuracy", "leakage", "DPA")
NOISE = (0.1, 0.25, 0.5, 1, 2)


def table(seed):
    """Return X, y and the sensitive feature of training rows, and of test rows.

    One feature is a signal of the label, two features are proxies of the group.
    """
    train = make_biased_classification(2000, random_state=seed)
    test = make_biased_classification(20_000, random_state=1000 + seed)
    return [(one.data.to_numpy(), one.target, one.sensitive) for one in (train, test)]


def digits(seed):
    """Return the same of digits: eight in ten even ones are red, eight in ten odd ones green."""
    data = load_colored_digits(correlation=0.8, random_state=seed)
    images = np.moveaxis(data.images, 3, 1)
    parts = train_test_split(images, data.target, data.sensitive, train_size=600, random_state=seed)
    return [parts[0::2], parts[1::2]]


def convolutional(n_channels, n_classes):
    """Return an encoder of small images, and a head."""
    nn = torch.nn
    layers = [nn.Conv2d(n_channels, 8, 1), nn.ReLU()]
    for n_in, n_out in ((8, 12), (12, 24)):
        layers += [nn.Conv2d(n_in, n_out, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
    encoder = nn.Sequential(*layers, nn.Flatten(), nn.Linear(96, 32), nn.ReLU())
    return nn.Sequential(OrderedDict(encoder=encoder, head=nn.Linear(32, n_classes)))


SETTINGS = {
    # Equally many rows of each group, as in the paper.
    "table": {"hidden_layer_sizes": (8,), "batch_size": 500, "max_epochs": 100},
    # The digit itself reveals much about the colour: the network must hide only what reveals more.
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


def measure(model, X, y, group):
    """Return accuracy, leakage amplification of the logits, and DPA, group → task (A→T)."""
    options = {"n_draws": 3, "interval": None, "random_state": 0}
    predicted, logits = model.predict(X), model.decision_function(X)
    leakage = LeakageAuditor(equalize="f1", **options)
    dpa = DPAAuditor(quality="accuracy", **options)
    return {
        "accuracy": np.mean(predicted == y),
        "leakage": leakage.score(y, logits, sensitive_features=group),
        "DPA": dpa.score(y, predicted, sensitive_features=group),
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


def noise_at_equal_accuracy(runs):
    """Return the measures of a run with as much noise as costs what adversarial training does.

    They are interpolated between two scales. If the adversary costs nothing, the noise is 0.
    """
    line = runs.drop("adversarial").sort_values("accuracy")
    at = runs.loc["adversarial", "accuracy"]
    return pd.Series({name: np.interp(at, line["accuracy"], line[name]) for name in MEASURES})


def per_seed(data):
    """Return the measures of each seed, models × seeds."""
    runs = found[found["data"] == data].set_index(["seed", "model"])[list(MEASURES)]
    for seed in range(SEEDS):
        runs.loc[(seed, MODELS[2]), :] = noise_at_equal_accuracy(runs.loc[seed])
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
    return {(model, name): interval(runs.loc[model, name]) for model in MODELS for name in MEASURES}


found = pd.DataFrame(
    [
        {"data": name, "seed": seed, "model": model, **measures}
        for name, draw in {"table": table, "digits": digits}.items()
        for seed in range(SEEDS)
        for model, measures in compare(draw, SETTINGS[name], seed)
    ]
)
for data in SETTINGS:
    print(f"{data}, {SEEDS} seeds")
    print(f"  {'':22} {'accuracy':>22} {'leakage':>24} {'DPA':>24}")
    cells = summary(data)
    for model in MODELS:
        row = ["{:+.3f} [{:+.3f}, {:+.3f}]".format(*cells[model, n]) for n in MEASURES[1:]]
        accuracy = "{:.3f} [{:.3f}, {:.3f}]".format(*cells[model, "accuracy"])
        print(f"  {model:22} {accuracy:>22} {row[0]:>24} {row[1]:>24}")
