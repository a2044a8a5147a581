"""Adversarial training compared with noise, on a table and on coloured digits, over five seeds.

The page takes about three minutes, and one seed of it runs with --short. Needs torch.

A network that uses a proxy of the group amplifies the bias of its labels. Adversarial training
(Wang et al. 2019, Sec. 5) trains an adversary that predicts the group from the network's
representation, and trains the network to make it fail. The baseline is noise on the same
representation: it hides the group, and other information too.

Result: on the table, the adversary removes nearly all leakage amplification and DPA. It costs about
one percentage point of accuracy; noise that costs as much removes nothing. On the digits, it
removes most of the leakage of the logits and costs less than one percentage point; noise that costs
as much removes less. DPA is small without an adversary too: more than nine digits in ten are
predicted correctly, and correct predictions do not amplify.
"""

from collections import OrderedDict

import numpy as np
import pandas as pd
import torch
from published._rows import command, markdown
from scipy.stats import t as student
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import skbiasamp
from skbiasamp import DPAAuditor, LeakageAuditor
from skbiasamp.datasets import load_colored_digits, make_biased_classification
from skbiasamp.mitigation import AdversarialClassifier, NoiseRandomizer

MODELS = ("alone", "adversarial", "noise, equal accuracy")
MEASURES = ("accuracy", "leakage", "DPA")
NOISE = (0.1, 0.25, 0.5, 1, 2)
WEIGHTS = (0, 0.1, 0.3, 1, 3)
LOSS = 0.03  # of accuracy, at most


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


def interval(values):
    """Return mean and 95 % interval over seeds; with two seeds, their range."""
    values = np.asarray(values)
    if len(values) < 3:
        return values.mean(), values.min(), values.max()
    half = student.ppf(0.975, len(values) - 1) * values.std(ddof=1) / len(values) ** 0.5
    return values.mean(), values.mean() - half, values.mean() + half


def summary(data, n_seeds):
    """Return mean and interval of every measure of every model over seeds."""
    draw = {"table": table, "digits": digits}[data]
    found = []
    for seed in range(n_seeds):
        runs = pd.DataFrame(dict(compare(draw, SETTINGS[data], seed))).T
        runs.loc[MODELS[2]] = noise_at_equal_accuracy(runs)
        found.append(runs)
    return {
        (model, name): interval([runs.loc[model, name] for runs in found])
        for model in MODELS
        for name in MEASURES
    }


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
    rows, yes = [], {True: "yes", False: "no"}
    for data, summary in summaries.items():
        lost = summary["alone", "accuracy"][0] - summary["adversarial", "accuracy"][0]
        what = "cost at most 3 percentage points of accuracy"
        rows.append([data, what, f"{100 * lost:.1f} percentage points", yes[bool(lost <= LOSS)]])
        for name in MEASURES[1:]:
            alone, less, noise = (summary[model, name] for model in MODELS)
            nothing = alone[1] <= 0 <= alone[2]
            halved = "nothing to halve" if nothing else yes[bool(abs(less[0]) <= abs(alone[0]) / 2)]
            rows.append([data, f"halve {name}", f"{alone[0]:+.3f} → {less[0]:+.3f}", halved])
            ends = f"upper bound {less[2]:+.3f}, lower bound of noise {noise[1]:+.3f}"
            what = f"have less {name} than noise of equal accuracy"
            rows.append([data, what, ends, yes[bool(less[2] < noise[1])]])
    return markdown(["data", "adversarial training should", "measured", "met"], rows)


def path(n_seeds):
    """Return the table of weights."""
    data = load_colored_digits(correlation=0.8, random_state=0)
    model = AdversarialClassifier(**SETTINGS["digits"])
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
    torch.set_num_threads(1)  # networks as small as these only wait for more
    n_seeds = 1 if options.short else 5
    summaries = {data: summary(data, n_seeds) for data in SETTINGS}
    return {
        "n_seeds": n_seeds,
        "skbiasamp": skbiasamp,
        "torch": torch,
        "measured": measured(summaries),
        "verdicts": verdicts(summaries),
        "weights": path(n_seeds),
    }


if __name__ == "__main__":
    command(__file__, __doc__, values)
