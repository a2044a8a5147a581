"""Time attackers trained at once beside the same attackers trained one after another, in one run.

The table takes about three minutes, and a few seconds with --short. Both sides take equally many
steps of Adam for each network. Before the clock starts, the losses of both are compared; if they
differ, the script ends with an error.
"""

import timing

# isort: split
import numpy as np
import skorch
import torch
from sklearn.metrics import log_loss

from skbiasamp.attackers import MLPAttacker

DRAWS, FOLDS, BATCH, WIDTH, LEARNING_RATE = 10, 2, 64, 4, 0.01
# Of mean cross-entropies, which depend on the order of the last batches.
TOLERANCE = 0.005
FULL = {"rows": 5278, "epochs": 100, "rounds": 5}
SHORT = {"rows": 200, "epochs": 50, "rounds": 1}


def module(n_features, normalised):
    nn = torch.nn
    norm = [nn.BatchNorm1d(WIDTH)] if normalised else []
    return nn.Sequential(nn.Linear(n_features, WIDTH), *norm, nn.Sigmoid(), nn.Linear(WIDTH, 2))


def with_skorch(X, y, epochs, normalised):
    net = skorch.NeuralNetClassifier(
        module(X.shape[1], normalised),
        criterion=torch.nn.CrossEntropyLoss,
        optimizer=torch.optim.Adam,
        lr=LEARNING_RATE,
        batch_size=BATCH,
        max_epochs=epochs,
        iterator_train__shuffle=True,
        train_split=None,
        verbose=0,
    )
    net.fit(X, y)
    return net.module_


def with_torch(X, y, epochs, normalised):
    """Train with as little around the steps as possible: no loader, no callbacks."""
    net, loss = module(X.shape[1], normalised), torch.nn.CrossEntropyLoss()
    adam = torch.optim.Adam(net.parameters(), lr=LEARNING_RATE)
    X, y = torch.tensor(X), torch.tensor(y)
    for _ in range(epochs):
        for batch in torch.randperm(len(X)).split(BATCH):
            adam.zero_grad()
            loss(net(X[batch]), y[batch]).backward()
            adam.step()
    return net.eval()


def probabilities(net, X):
    with torch.no_grad():
        return net.eval()(torch.tensor(X)).softmax(dim=1).numpy()


def networks_at_once(kind, normalised, rows, epochs, rounds):
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, rows)
    labels = rng.random(rows) < 0.3 + 0.3 * group
    scores = {"binary": group, "continuous": group + rng.normal(size=rows)}[kind]
    X = scores.astype(np.float32)[:, None]
    # Each draw flips other labels; each fold leaves out other rows.
    flipped = labels ^ (rng.random((DRAWS, rows)) < 0.1)
    y = np.repeat(flipped, FOLDS, axis=0).astype(np.int64)
    fold = rng.permuted(np.tile(np.arange(rows) % FOLDS, (DRAWS, 1)), axis=1)
    train = (fold[:, None] != np.arange(FOLDS)[:, None]).reshape(y.shape)

    attacker = MLPAttacker.preset(
        "dpa",
        learning_rate=LEARNING_RATE,
        max_epochs=epochs,
        batch_norm=normalised,
        random_state=0,
        device="cpu",
    )

    def ours():
        return attacker.fit_many(X, y, train)

    def alone(fit):
        return fit(X[train[0]], y[0, train[0]], epochs, normalised)

    torch.manual_seed(0)
    predicted = ours()[0].predict_proba(X)
    for fit in (with_skorch, with_torch):
        loss, expected = (log_loss(y[0], p) for p in (predicted, probabilities(alone(fit), X)))
        if abs(loss - expected) > TOLERANCE:
            raise SystemExit(f"{kind}, {fit.__name__}: losses {loss:.4f} and {expected:.4f}.")

    seconds = timing.take_turns(
        rounds,
        ours=ours,
        skorch=lambda: alone(with_skorch),
        torch=lambda: alone(with_torch),
    )
    n = len(y)
    what = f"{n} networks, {rows:,} rows of one {kind} input, {epochs} epochs"
    what += ", batch normalisation" if normalised else ""
    extrapolated, target = "one after another, extrapolated from 1", 6 if normalised else 20
    return [
        timing.faster(what, f"{name}, {extrapolated}", seconds["ours"], n * seconds[key], least)
        for name, key, least in (("skorch", "skorch", target), ("a bare torch loop", "torch", None))
    ]


def measured(options):
    torch.set_num_threads(1)
    sizes = SHORT if options.short else FULL
    kinds = ("binary", False), ("continuous", False), ("continuous", True)
    rows = [row for kind in kinds for row in networks_at_once(*kind, **sizes)]
    numbers = {"draws": DRAWS, "folds": FOLDS, "networks": DRAWS * FOLDS}
    numbers |= {"torch": torch, "skorch": skorch}
    numbers |= {"width": WIDTH, "batch": BATCH, "tolerance": TOLERANCE}
    table = timing.table(rows, short=options.short)
    return numbers | {"machine": timing.surroundings(), "table": table}


if __name__ == "__main__":
    timing.command(__file__, __doc__, measured)
