"""Networks that are trained at once are the networks that are trained one by one."""

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import log_loss
from sklearn.utils.estimator_checks import parametrize_with_checks

from skbiasamp.attackers import MLPAttacker, networks
from skbiasamp.attackers.networks import (
    distinct_inputs,
    draw_rows,
    hold_out,
    initial_weights,
    join_equal_rows,
)

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("one_thread")]


# What float32 keeps after some hundred steps.
CLOSE = {"rtol": 0, "atol": 2e-5}


@parametrize_with_checks(
    [MLPAttacker(max_epochs=20), MLPAttacker(loss="squared_error", max_epochs=20)]
)
def test_is_an_estimator_of_scikit_learn(estimator, check):
    check(estimator)


def binary_rows(n=300, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, d)).astype(float)
    return X, (X[:, 0] + X[:, 1] * X[:, -1] + rng.random(n) > 1.2).astype(int)


def gaussian_rows(n=200, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X @ np.arange(1, d + 1) + rng.normal(size=n) > 0).astype(int)


# --------------------------------------------------------------------------- against torch itself


def sequential(attacker, tensors):
    """The same network of torch's own layers, from the same weights."""
    activation = {"sigmoid": torch.nn.Sigmoid, "relu": torch.nn.ReLU, "tanh": torch.nn.Tanh}
    activation["leaky_relu"] = torch.nn.LeakyReLU
    layers = []
    last = sum(name.startswith("weight") for name in tensors) - 1
    for i in range(last + 1):
        before, after = tensors[f"weight{i}"].shape
        # In front of a batch normalisation a bias does nothing.
        biased = i == last or not attacker.batch_norm
        linear = torch.nn.Linear(before, after, bias=biased)
        with torch.no_grad():
            linear.weight.copy_(torch.tensor(tensors[f"weight{i}"].T))
            if biased:
                linear.bias.copy_(torch.tensor(tensors[f"bias{i}"][0]))
        layers.append(linear)
        if i < last:
            if attacker.batch_norm:
                layers.append(torch.nn.BatchNorm1d(after))
            layers.append(activation[attacker.activation]())
    return torch.nn.Sequential(*layers)


def tensors_of(net):
    """What the library calls the weights of torch's layers."""
    tensors, i = {}, -1
    for layer in net:
        if isinstance(layer, torch.nn.Linear):
            i += 1
            tensors[f"weight{i}"] = layer.weight.T
            if layer.bias is not None:
                tensors[f"bias{i}"] = layer.bias[None]
        elif isinstance(layer, torch.nn.BatchNorm1d):
            tensors |= {f"scale{i}": layer.weight[None], f"shift{i}": layer.bias[None]}
            tensors |= {f"mean{i}": layer.running_mean[None]}
            tensors |= {f"variance{i}": layer.running_var[None]}
    return {name: tensor.detach().numpy() for name, tensor in tensors.items()}


@pytest.mark.parametrize("seed", [0, 5])
@pytest.mark.parametrize(
    "settings",
    [
        {"activation": "sigmoid"},
        {"activation": "leaky_relu", "batch_norm": True, "weight_decay": 0.1},
        {"activation": "tanh", "hidden_layer_sizes": (5, 3), "weight_decay": 0.01},
        {"loss": "squared_error", "hidden_layer_sizes": (5, 3), "batch_norm": True},
    ],
    ids=["sigmoid", "batch-norm", "deep", "regressor"],
)
@pytest.mark.parametrize("batch_size", [30, 200], ids=["batches", "whole"])
def test_takes_the_steps_that_torch_takes(settings, batch_size, seed):
    X, y = gaussian_rows(n=90)
    attacker = MLPAttacker(
        **{"hidden_layer_sizes": (6,)} | settings, batch_size=batch_size, max_epochs=7
    )
    bundle = attacker.fit_many(X, y, random_state=[seed])
    classifies = is_classifier(attacker)

    rng = np.random.default_rng(np.random.SeedSequence(seed))
    widths = (4, *attacker.hidden_layer_sizes, 2 if classifies else 1)
    net = sequential(attacker, initial_weights(widths, attacker.batch_norm, rng))
    adam = torch.optim.Adam(net.parameters(), lr=1e-2, weight_decay=attacker.weight_decay)
    target = torch.tensor(y)
    loss = torch.nn.CrossEntropyLoss()
    if not classifies:
        target = torch.tensor((y - y.mean()) / y.std(), dtype=torch.float32)[:, None]
        loss = torch.nn.MSELoss()
    # Rows in the library's order: it sorts the distinct ones by their bytes.
    rows = X.astype(np.float32)
    keys = rows.view("V16").ravel()
    order = np.argsort(keys)
    rows, target = torch.tensor(rows[order]), target[order.copy()]
    losses, share = [], np.full(90, 1 / 90)
    for _ in range(7):
        batches = [np.arange(90)] if batch_size > 90 else draw_rows(share, 90, rng).reshape(3, 30)
        inner = []
        for batch in batches:
            adam.zero_grad()
            value = loss(net(rows[batch]), target[batch])
            value.backward()
            adam.step()
            inner.append(value.item())
        losses.append(np.mean(inner))
    for name, tensor in tensors_of(net).items():
        np.testing.assert_allclose(bundle.tensors[name][0], tensor, **CLOSE, err_msg=name)
    unit = 1 if classifies else y.var()
    np.testing.assert_allclose(bundle.loss_curve[0], np.array(losses) * unit, **CLOSE)
    net.eval()
    with torch.no_grad():
        outputs = net(torch.tensor(X, dtype=torch.float32))
    if classifies:
        outputs_of_bundle, expected = bundle.predict_proba(X)[0], outputs.softmax(1)
    else:
        outputs_of_bundle, expected = bundle.predict(X)[0], outputs[:, 0] * y.std() + y.mean()
    np.testing.assert_allclose(outputs_of_bundle, expected, **CLOSE)


def test_alternates_activations():
    X, y = gaussian_rows()
    bundle = MLPAttacker((4, 3), activation="tanh_relu", max_epochs=2).fit_many(
        X, y, random_state=0
    )
    tensors = {name: tensor[0].astype(float) for name, tensor in bundle.tensors.items()}
    hidden = np.tanh(X @ tensors["weight0"] + tensors["bias0"])
    hidden = np.maximum(hidden @ tensors["weight1"] + tensors["bias1"], 0)
    outputs = hidden @ tensors["weight2"] + tensors["bias2"]
    expected = np.exp(outputs) / np.exp(outputs).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(bundle.predict_proba(X)[0], expected, **CLOSE)


# --------------------------------------------------------------------------- against scikit-learn


def test_without_hidden_layers_is_a_logistic_regression():
    X, y = gaussian_rows(n=400)
    attacker = MLPAttacker((), batch_size=400, max_epochs=500, learning_rate=0.2, random_state=0)
    probability = attacker.fit(X, y).predict_proba(X)
    expected = LogisticRegression(C=np.inf, tol=1e-8).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(probability, expected, rtol=0, atol=1e-4)


def test_without_hidden_layers_is_a_linear_regression_in_any_unit():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = 5000 + X @ [100.0, -300.0, 20.0] + 50 * rng.normal(size=300)
    weight = rng.integers(0, 4, 300)
    attacker = MLPAttacker(
        (), loss="squared_error", batch_size=300, max_epochs=500, learning_rate=0.03
    )
    fitted = attacker.set_params(random_state=0).fit(X, y, sample_weight=weight)
    expected = LinearRegression().fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(fitted.predict(X), expected.predict(X), rtol=0, atol=0.01)
    residual = np.average((y - expected.predict(X)) ** 2, weights=weight)
    assert fitted.loss_curve_[-1] == pytest.approx(residual, rel=1e-4)
    assert fitted.score(X, y) == pytest.approx(expected.score(X, y), abs=1e-5)


def test_learns_what_no_linear_model_can():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 100)
    attacker = MLPAttacker(random_state=0).fit(X, X[:, 0] ^ X[:, 1])
    assert attacker.score(X, X[:, 0] ^ X[:, 1]) == 1


@pytest.mark.parametrize("preset", ["dpa", "leakage"])
def test_the_papers_attackers_come_to_the_best_table(preset):
    X, y = binary_rows(n=3000)
    settings = {"max_epochs": 15, "learning_rate": 1e-3} if preset == "leakage" else {}
    attacker = MLPAttacker.preset(preset, **settings, random_state=0).fit(X, y)
    patterns, code = np.unique(X, axis=0, return_inverse=True)
    shares = np.bincount(code.ravel(), y) / np.bincount(code.ravel())
    np.testing.assert_allclose(attacker.predict_proba(patterns)[:, 1], shares, atol=0.05)
    assert attacker.score(X, y) == np.mean(np.where(shares[code.ravel()] > 0.5, y, 1 - y))


# --------------------------------------------------------------------------- many are one and one


def data_of_many_networks(n_networks=6):
    X, _ = gaussian_rows(n=150)
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, (n_networks, 150))
    weight = rng.integers(0, 3, (n_networks, 150)).astype(float)
    # One network has so few rows that it takes them all in every step, and one fewer steps.
    weight[0, 20:] = 0
    weight[1, 70:] = 0
    return X, y, weight, [11, 12, 13, 14, 15, 16][:n_networks]


@pytest.mark.parametrize("batch_norm", [False, True])
@pytest.mark.parametrize("loss", ["cross_entropy", "squared_error"])
def test_networks_do_not_depend_on_each_other(loss, batch_norm):
    X, y, weight, seeds = data_of_many_networks()
    attacker = MLPAttacker((5,), batch_size=32, max_epochs=12, loss=loss, batch_norm=batch_norm)
    together = attacker.fit_many(X, y, weight, random_state=seeds)
    classes = [0, 1, 2] if loss == "cross_entropy" else None
    predict = (
        (lambda bundle: bundle.predict_proba(X)) if classes else (lambda bundle: bundle.predict(X))
    )
    for i, seed in enumerate(seeds):
        alone = attacker.fit_many(X, y[i], weight[i], classes=classes, random_state=[seed])
        np.testing.assert_allclose(predict(together)[i], predict(alone)[0], **CLOSE)
    order = [3, 0, 5, 1, 4, 2]
    turned = attacker.fit_many(
        X, y[order], weight[order], random_state=[seeds[i] for i in order], classes=classes
    )
    np.testing.assert_allclose(predict(turned), predict(together)[order], **CLOSE)


def test_a_network_of_one_seed_is_the_first_of_many():
    X, y = gaussian_rows()
    attacker = MLPAttacker(max_epochs=5, random_state=3)
    many = attacker.fit_many(X, [y, y, 1 - y]).predict_proba(X)
    np.testing.assert_allclose(many[0], attacker.fit(X, y).predict_proba(X), **CLOSE)
    assert np.abs(many[0] - many[1]).max() > 0.01


def test_what_does_not_fit_at_once_comes_in_parts(monkeypatch):
    X, y, weight, seeds = data_of_many_networks()
    attacker = MLPAttacker((5,), max_epochs=4, early_stopping=True)
    at_once = attacker.fit_many(X, y, weight, random_state=seeds)
    expected = at_once.predict_proba(X)
    monkeypatch.setattr(networks, "_MAX_NUMBERS", 100)
    in_parts = attacker.fit_many(X, y, weight, random_state=seeds)
    np.testing.assert_allclose(in_parts.validation_curve, at_once.validation_curve, **CLOSE)
    calls, forward = [], networks._forward
    monkeypatch.setattr(
        networks, "_forward", lambda *args: calls.append(args[2].shape) or forward(*args)
    )
    np.testing.assert_allclose(in_parts.predict_proba(X), expected, **CLOSE)
    assert len(calls) > 9


# --------------------------------------------------------------------------- weights


@pytest.mark.parametrize("loss", ["cross_entropy", "squared_error"])
@pytest.mark.parametrize("batch_size", [16, 500])
def test_weights_are_repetitions_exactly(batch_size, loss):
    X, y = gaussian_rows(n=80)
    rng = np.random.default_rng(2)
    y = y + rng.integers(0, 2, 80) * 0.3 if loss == "squared_error" else y
    weight = rng.integers(0, 4, 80)
    attacker = MLPAttacker(
        (4,), batch_size=batch_size, max_epochs=8, loss=loss, batch_norm=True, random_state=0
    )
    weighted = attacker.fit(X, y, sample_weight=weight).predict(X)
    rows = rng.permutation(np.repeat(np.arange(80), weight))
    repeated = clone(attacker).fit(X[rows], y[rows])
    np.testing.assert_array_equal(weighted, repeated.predict(X))
    np.testing.assert_array_equal(attacker.loss_curve_, repeated.loss_curve_)


def test_a_zero_is_a_zero_whatever_its_sign():
    index = distinct_inputs(np.array([[0.0, 1], [-0.0, 1], [0, -1], [0, 1]], dtype=np.float32))[1]
    assert index[0] == index[1] == index[3] != index[2]


def test_an_epoch_has_every_row_as_often_as_it_weighs():
    rng = np.random.default_rng(0)
    drawn = draw_rows(np.array([1, 2, 3, 4, 30]) / 40, 40, rng)
    assert np.bincount(drawn).tolist() == [1, 2, 3, 4, 30]
    assert (np.diff(drawn) < 0).any()
    uneven = np.array([0.05, 0.25, 0.7])
    counts = np.array([np.bincount(draw_rows(uneven, 10, rng), minlength=3) for _ in range(4000)])
    assert (counts.sum(axis=1) == 10).all()
    assert (np.abs(counts - 10 * uneven) < 1).all()
    np.testing.assert_allclose(counts.mean(axis=0), 10 * uneven, rtol=0, atol=0.04)
    sizes = np.array([len(draw_rows(uneven, 10.3, rng)) for _ in range(4000)])
    assert set(sizes) == {10, 11}
    assert sizes.mean() == pytest.approx(10.3, abs=0.03)
    assert len(draw_rows(np.array([]), 0.0, rng)) == 0


@pytest.mark.parametrize(
    ("weight", "n_rows", "steps"),
    [
        ([10, 10, 10, 10], None, 4),  # whole numbers are counts
        ([0.1, 0.3, 0.3, 0.3], None, 1),  # anything else is not
        ([0.1, 0.3, 0.3, 0.3], 40, 4),
        ([10, 10, 10, 10], 41, 5),
    ],
)
def test_an_epoch_takes_the_steps_of_the_rows_behind_the_weights(weight, n_rows, steps):
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    taken = MLPAttacker((), batch_size=10, max_epochs=6).fit_many(
        X, [0, 1, 1, 0], weight, n_rows=n_rows, random_state=[0]
    )
    expected = MLPAttacker((), batch_size=10, max_epochs=6 * steps).fit_many(
        X, [0, 1, 1, 0], np.array(weight) / 100, n_rows=1, random_state=[0]
    )
    np.testing.assert_allclose(taken.predict_proba(X), expected.predict_proba(X), **CLOSE)
    np.testing.assert_allclose(
        taken.loss_curve[0], expected.loss_curve.reshape(6, steps).mean(axis=1), **CLOSE
    )


# --------------------------------------------------------------------------- early stopping


def rows_held_out(X, y, fraction, seed):
    """Return whether a network of this seed holds out each row; rows differ in X or y."""
    index = distinct_inputs(X.astype(np.float32))[1]
    rows = join_equal_rows(index, y, np.ones(len(y)))
    rng = np.random.default_rng(np.random.SeedSequence(seed).spawn(1)[0])
    validation = hold_out(rows, len(y), fraction, rng)[1]
    pairs = set(zip(validation.inputs, validation.target, strict=True))
    return np.array([pair in pairs for pair in zip(index, y, strict=True)])


def test_the_best_epoch_on_held_out_rows_is_kept():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 8))
    y = rng.integers(0, 2, (4, 60))  # noise: networks learn it by heart
    seeds = [1, 2, 3, 4]
    out = np.array(
        [rows_held_out(X, *network) for network in zip(y, [1 / 3] * 4, seeds, strict=True)]
    )
    assert out.sum(axis=1).tolist() == [20] * 4
    attacker = MLPAttacker((30,), max_epochs=60, early_stopping=True, batch_size=8)
    attacker.set_params(validation_fraction=1 / 3)
    kept = attacker.fit_many(X, y, random_state=seeds, classes=[0, 1])
    attacker.set_params(early_stopping=False)
    last = attacker.fit_many(X, y, 1 - out, random_state=seeds)

    def held_out_loss(bundle):
        given = np.take_along_axis(bundle.predict_proba(X), y[:, :, None], axis=2)[:, :, 0]
        return -np.average(np.log(given), weights=out, axis=1)

    assert (held_out_loss(kept) < held_out_loss(last)).all()
    np.testing.assert_allclose(held_out_loss(kept), kept.validation_curve.min(axis=1), rtol=1e-4)
    np.testing.assert_allclose(held_out_loss(last), kept.validation_curve[:, -1], rtol=1e-4)
    assert (kept.n_iter == kept.validation_curve.argmin(axis=1) + 1).all()
    assert (kept.n_iter < 60).all()
    assert last.validation_curve is None


def test_the_best_epoch_can_come_from_a_shorter_training():
    X, y = gaussian_rows(n=60)
    y = np.where(np.arange(60) % 3, y, 1 - y) * 10.0
    attacker = MLPAttacker(
        (30,),
        max_epochs=80,
        learning_rate=0.005,
        loss="squared_error",
        early_stopping=True,
        validation_fraction=0.4,
        random_state=3,
    )
    attacker.fit(X, y)
    assert 1 < attacker.n_iter_ < 80
    # Held-out rows do not change the draws, so training that ends there is the same.
    shorter = clone(attacker).set_params(max_epochs=attacker.n_iter_).fit(X, y)
    np.testing.assert_allclose(shorter.predict(X), attacker.predict(X), rtol=0, atol=1e-3)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("batch_size", [4, 100], ids=["batches", "whole"])
def test_losses_are_those_of_rows_though_equal_inputs_are_one(batch_size, seed):
    """Of a network that hardly moves, so that losses before and after a step are the same."""
    rng = np.random.default_rng(0)
    X = np.repeat(np.arange(6.0), 20)[:, None]
    y = 100 * X[:, 0] + 50 * rng.normal(size=120)
    out = rows_held_out(X, y, 1 / 3, seed)
    attacker = MLPAttacker((), loss="squared_error", batch_size=batch_size, max_epochs=2)
    attacker.set_params(early_stopping=True, validation_fraction=1 / 3, learning_rate=1e-7)
    network = attacker.fit_many(X, y, random_state=[seed])
    errors = (network.predict(X)[0] - y) ** 2
    # Targets vary by 2,500 around the mean of their input: it is part of the loss.
    assert network.validation_curve.min() == pytest.approx(errors[out].mean(), rel=1e-4)
    assert network.loss_curve[0] == pytest.approx(errors[~out].mean(), rel=1e-4)


# --------------------------------------------------------------------------- validation rows


def noisy_rows(seed=0):
    """Training rows that can be learned by heart, and validation rows of the same kind."""
    X, y = gaussian_rows(n=300, seed=seed)
    y = np.where(np.random.default_rng(1).random(300) < 0.3, 1 - y, y)
    return (X[:60], y[:60]), (X[60:], y[60:])


@pytest.mark.parametrize("choice", [True, "accuracy"])
def test_the_epoch_that_is_best_on_given_rows_is_kept(choice):
    (X, y), given = noisy_rows()
    attacker = MLPAttacker((40,), max_epochs=60, early_stopping=choice, batch_size=16)
    attacker.set_params(random_state=0).fit(X, y, validation=given)
    curve = attacker.networks_.validation_curve[0]
    if choice == "accuracy":
        reached = attacker.score(*given)
        assert attacker.n_iter_ == curve.argmax() + 1
        assert reached > curve[-1] + 0.02
        # By loss another epoch is the best.
        by_loss = clone(attacker).set_params(early_stopping=True).fit(X, y, validation=given)
        assert by_loss.n_iter_ != attacker.n_iter_
    else:
        reached = log_loss(given[1], attacker.predict_proba(given[0]))
        assert attacker.n_iter_ == curve.argmin() + 1
    assert reached == pytest.approx(curve[attacker.n_iter_ - 1], rel=1e-5)
    # Nothing is held out, so all rows are trained on, as without early stopping.
    shorter = clone(attacker).set_params(early_stopping=False, max_epochs=attacker.n_iter_)
    shorter.fit(X, y)
    np.testing.assert_array_equal(shorter.predict_proba(X), attacker.predict_proba(X))


def test_weights_of_validation_rows_count_rows():
    (X, y), (V, v) = noisy_rows()
    times = np.random.default_rng(2).integers(0, 4, len(v))
    attacker = MLPAttacker((40,), max_epochs=30, early_stopping="accuracy", random_state=0)
    weighted = attacker.fit_many(X, [y, y], validation=(V, v, times))
    repeated = attacker.fit_many(
        X, [y, y], validation=(np.repeat(V, times, axis=0), np.repeat(v, times))
    )
    np.testing.assert_array_equal(weighted.validation_curve, repeated.validation_curve)
    right = weighted.predict(V)[1] == v
    assert weighted.validation_curve[1].max() == pytest.approx(np.average(right, weights=times))


def test_of_equally_accurate_epochs_the_first_is_kept():
    attacker = MLPAttacker((), max_epochs=20, early_stopping="accuracy", random_state=0)
    attacker.fit([[0], [1]], [0, 0], validation=([[0], [1]], [0, 0]))
    assert attacker.networks_.validation_curve.tolist() == [[1.0] * 20]
    assert attacker.n_iter_ == 1


def test_a_regressor_is_chosen_by_its_error_on_given_rows():
    (X, _), (V, _) = noisy_rows()
    rng = np.random.default_rng(0)
    y, v = 100 + 20 * (X[:, 0] + rng.normal(size=60)), 100 + 20 * (V[:, 0] + rng.normal(size=240))
    attacker = MLPAttacker((40,), loss="squared_error", max_epochs=60, early_stopping=True)
    attacker.set_params(random_state=0).fit(X, y, validation=(V, v))
    errors = np.mean((attacker.predict(V) - v) ** 2)
    assert attacker.networks_.validation_curve.min() == pytest.approx(errors, rel=1e-4)


@pytest.mark.parametrize(
    ("settings", "validation", "message"),
    [
        ({"early_stopping": False}, ([[0]], [0]), "validation chooses the epoch, and early_stop"),
        ({}, [[0]], r"validation must be a tuple \(X, y\) or .*; got list"),
        ({}, ([[0, 1]], [0]), r"validation must hold X of shape \(n, 1\) .* got \(1, 2\) and"),
        ({}, ([[0]], [0, 1]), r"y of shape \(n,\); got \(1, 1\) and \(2,\)"),
        ({}, ([[0]], [2]), "validation has 2, which is not in classes"),
        ({}, ([[0]], [1], [0]), "zero"),
        ({}, ([[0]], [1], [-1]), "Negative values"),
        ({}, ([[np.nan]], [1]), "X of validation contains NaN"),
        (
            {"early_stopping": "accuracy", "loss": "squared_error"},
            None,
            "early_stopping='accuracy' needs classes",
        ),
        ({"early_stopping": "loss"}, None, "'early_stopping' parameter"),
    ],
)
def test_wrong_validation_rows_are_refused(settings, validation, message):
    attacker = MLPAttacker(**{"early_stopping": True} | settings)
    with pytest.raises(ValueError, match=message):
        attacker.fit([[0], [1]], [0, 1], validation=validation)


def test_held_out_rows_are_not_trained_on():
    rows = join_equal_rows(np.arange(6) // 2, np.arange(6) % 2, np.array([1.0, 2, 3, 4, 30, 60]))
    mean = np.zeros(6)
    for seed in range(2000):
        training, validation, n_rows = hold_out(rows, 100, 0.3, np.random.default_rng(seed))
        assert n_rows == 70
        both = np.zeros((2, 6))
        for table, part, n in ((both[0], training, 70), (both[1], validation, 30)):
            table[part.inputs * 2 + part.target] = part.weight * n
        np.testing.assert_allclose(both, np.rint(both), rtol=0, atol=1e-9)  # whole rows
        np.testing.assert_allclose(both.sum(axis=0), [1, 2, 3, 4, 30, 60])
        mean += both[1] / 2000
    np.testing.assert_allclose(mean, 0.3 * np.array([1, 2, 3, 4, 30, 60]), rtol=0, atol=0.2)
    np.testing.assert_allclose(mean[:2], [0.3, 0.6], rtol=0, atol=0.06)


# --------------------------------------------------------------------------- behaviour


def test_is_what_its_loss_says():
    assert is_classifier(MLPAttacker())
    assert is_regressor(MLPAttacker(loss="squared_error"))
    assert not hasattr(MLPAttacker(loss="squared_error"), "predict_proba")


def test_leaves_torch_alone():
    X, y = gaussian_rows()
    state, threads = torch.get_rng_state(), torch.get_num_threads()
    with torch.no_grad():
        first = MLPAttacker(max_epochs=3, random_state=0).fit(X, y).predict_proba(X)
    torch.manual_seed(99)
    with torch.inference_mode():
        again = MLPAttacker(max_epochs=3, random_state=0).fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(first, again)
    torch.set_rng_state(state)
    MLPAttacker(max_epochs=3).fit(X, y)
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.get_num_threads() == threads


def test_a_pickle_holds_arrays_of_numpy_only():
    X, y = gaussian_rows()
    attacker = MLPAttacker(max_epochs=3, batch_norm=True, random_state=0).fit(X, y)
    dumped = pickle.dumps(attacker)
    assert b"torch" not in dumped
    np.testing.assert_array_equal(pickle.loads(dumped).predict_proba(X), attacker.predict_proba(X))


def test_progress_is_shown_when_asked_for(capsys):
    X, y = gaussian_rows()
    MLPAttacker(max_epochs=2).fit(X, y)
    assert capsys.readouterr() == ("", "")
    MLPAttacker(max_epochs=2, verbose=1).fit_many(X, [y, y])
    assert "epochs" in capsys.readouterr().err


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_gpu_that_is_not_there_is_an_error():
    X, y = gaussian_rows()
    with pytest.raises(ValueError, match=r"device='cuda' needs a GPU .* Pass device='auto'"):
        MLPAttacker(device="cuda").fit(X, y)
    trained_elsewhere = MLPAttacker(max_epochs=2).fit(X, y)
    trained_elsewhere.networks_._device = "cuda"
    assert trained_elsewhere.predict(X).shape == y.shape


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
@pytest.mark.parametrize("preset", ["dpa", "leakage"])
def test_a_gpu_gives_the_same_numbers(preset):
    X, y, weight, seeds = data_of_many_networks()
    attacker = MLPAttacker.preset(preset, max_epochs=5, early_stopping=True)
    gpu, cpu = (
        attacker.set_params(device=device).fit_many(X, y, weight, random_state=seeds)
        for device in ("cuda", "cpu")
    )
    np.testing.assert_allclose(gpu.predict_proba(X), cpu.predict_proba(X), rtol=0, atol=1e-4)
    np.testing.assert_allclose(gpu.validation_curve, cpu.validation_curve, rtol=0, atol=1e-4)


def test_torch_is_asked_for_when_it_is_needed(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r"pip install 'skbiasamp\[torch\]'"):
        MLPAttacker().fit([[0], [1]], [0, 1])


def test_training_that_diverges_is_an_error():
    X, y = gaussian_rows()
    attacker = MLPAttacker((4,), loss="squared_error", learning_rate=1e38, max_epochs=5)
    for settings in ({}, {"early_stopping": True}):
        with pytest.raises(ValueError, match=r"diverged: 1 of 1 networks .* Lower learning_rate"):
            attacker.set_params(**settings, random_state=0).fit(X, y)


@pytest.mark.parametrize(
    ("settings", "options", "message"),
    [
        ({"hidden_layer_sizes": (4, 0)}, {}, "hidden_layer_sizes must be whole numbers"),
        ({"loss": "hinge"}, {}, "'loss' parameter"),
        ({}, {"sample_weight": [1, 1, 1]}, r"sample_weight must have .* X has 4 rows; got \(3,\)"),
        ({}, {"sample_weight": [1, 1, 1, -1]}, "Negative values in data passed to sample_weight"),
        ({}, {"sample_weight": [[1] * 4, [0] * 4]}, "sample_weight of network 1 is zero"),
        ({}, {"sample_weight": np.ones((3, 4)), "y": np.ones((2, 4))}, "y for 2, sample_weight"),
        ({}, {"random_state": [1, 2], "y": np.ones((3, 4))}, "y for 3, random_state for 2"),
        ({}, {"classes": [0, 2]}, "y has 1, which is not in classes"),
        ({}, {"n_rows": 0}, "n_rows must be a number from 1 on, .*; got 0"),
        ({}, {"X": np.ones((2, 4, 1))}, "Found array with dim 3"),
        ({}, {"y": [0, np.nan, 0, 1]}, "y contains NaN"),
        ({"early_stopping": True}, {"n_rows": 1}, "holds out rows, and there is only one"),
    ],
)
def test_what_is_wrong_is_said(settings, options, message):
    arguments = {"X": [[0], [1], [2], [3]], "y": [0, 1, 0, 1]} | options
    with pytest.raises(ValueError, match=message):
        MLPAttacker(**settings).fit_many(**arguments)


def test_rows_of_another_width_are_refused():
    bundle = MLPAttacker(max_epochs=2).fit_many([[0, 1], [1, 0]], [0, 1])
    with pytest.raises(ValueError, match="X has 3 features, but the networks expect 2"):
        bundle.predict([[1, 2, 3]])


def test_there_are_two_presets():
    with pytest.raises(ValueError, match="no preset 'lic': pass one of 'dpa', 'leakage'"):
        MLPAttacker.preset("lic")
    assert MLPAttacker.preset("dpa", max_epochs=3).max_epochs == 3


@pytest.mark.benchmarks
def test_the_short_benchmark_runs_and_both_sides_learn_the_same():
    pytest.importorskip("skorch")
    script = Path(__file__).resolve().parents[1] / "benchmarks" / "attackers.py"
    command = [sys.executable, "-X", "utf8", script, "--short"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=300)
    assert done.returncode == 0, done.stderr
    assert len([line for line in done.stdout.splitlines() if line.endswith("not judged |")]) == 4


# --------------------------------------------------------------------------- bad input

BAD = {
    "no classes": ({"classes": []}, "minimum of 1 is required"),
    "classes of two types": ({"classes": [0, "a"]}, "classes|Mix of label"),
    "an unknown class": ({"classes": [0, 5]}, "y has 1, which is not in classes"),
    "no number of rows": ({"n_rows": []}, "n_rows must be a number from 1 on"),
    "rows as text": ({"n_rows": "a"}, "n_rows must be a number from 1 on"),
    "infinitely many rows": ({"n_rows": np.inf}, "n_rows must be a number from 1 on"),
    "rows for others": ({"n_rows": [1, 2, 3]}, "one for each of 1 networks"),
    "a negative seed": ({"random_state": -1}, "random_state must be a number from 0 on"),
    "negative seeds": ({"random_state": [-1]}, "random_state must be a number from 0 on"),
    "seeds as text": ({"random_state": ["a"]}, "random_state must be a number from 0 on"),
}


@pytest.mark.parametrize(("options", "says"), BAD.values(), ids=BAD)
def test_bad_input_of_fit_many_is_named(options, says):
    attacker = MLPAttacker(max_epochs=1, device="cpu")
    with pytest.raises(ValueError, match=says):
        attacker.fit_many([[0], [1]], [0, 1], **options)


def test_numbers_too_large_for_single_precision_are_refused_without_a_warning():
    with pytest.raises(ValueError, match="too large for dtype"):
        MLPAttacker(max_epochs=1).fit([[1e300], [0]], [0, 1])


def test_weights_too_large_to_count_rows_do_not_overflow():
    networks = MLPAttacker(max_epochs=1, device="cpu", random_state=0).fit_many(
        [[0], [1]], [0, 1], [1e300, 1e300]
    )
    assert networks.loss_curve.shape == (1, 1)
