"""Networks that are trained at once are the networks that are trained one by one."""

import pickle
import sys
from typing import ClassVar

import numpy as np
import pytest
from discovery import failed_checks
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import log_loss

from skbiasamp import Contingency, LeakageAuditor
from skbiasamp.attackers import MLPAttacker
from skbiasamp.metrics import dataset_leakage

torch = pytest.importorskip("torch")
nn = torch.nn
pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("one_thread")]


# What float32 keeps after some hundred steps.
CLOSE = {"rtol": 0, "atol": 2e-5}


@pytest.mark.parametrize("loss", ["cross_entropy", "squared_error"])
def test_is_an_estimator_of_scikit_learn(loss):
    assert failed_checks(MLPAttacker(loss=loss, max_epochs=20)) == {}


def gaussian_rows(n=200, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X @ np.arange(1, d + 1) + rng.normal(size=n) > 0).astype(int)


def test_takes_the_steps_that_torch_takes():
    """With all rows in each step there is no order of rows."""
    X, y = gaussian_rows(n=90)
    start = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 2))
    for weight_decay in (0, 0.1):
        attacker = MLPAttacker(
            module=lambda *sizes: start, batch_size=200, max_epochs=7, weight_decay=weight_decay
        ).fit(X, y)
        net = pickle.loads(pickle.dumps(start))
        adam = torch.optim.Adam(net.parameters(), lr=1e-2, weight_decay=weight_decay)
        losses = []
        for _ in range(7):
            adam.zero_grad()
            loss = nn.functional.cross_entropy(
                net(torch.tensor(X, dtype=torch.float32)), torch.tensor(y)
            )
            loss.backward()
            adam.step()
            losses.append(loss.item())
        trained = attacker.module_.state_dict()
        for name, tensor in net.state_dict().items():
            np.testing.assert_allclose(trained[name], tensor, **CLOSE, err_msg=name)
        np.testing.assert_allclose(attacker.loss_curve_, losses, **CLOSE)


def test_is_built_of_the_layers_that_it_names():
    X, y = gaussian_rows()
    attacker = MLPAttacker((4, 3), activation="tanh_relu", max_epochs=2).fit(X, y)
    layers = [type(layer).__name__ for layer in attacker.module_]
    assert layers == ["Linear", "Tanh", "Linear", "ReLU", "Linear"]
    outputs = attacker.module_(torch.tensor(X)).detach().softmax(1).numpy()
    np.testing.assert_allclose(attacker.predict_proba(X), outputs, **CLOSE)
    attacker = MLPAttacker((5,), batch_norm=True, loss="squared_error", max_epochs=2).fit(X, y)
    layers = [type(layer).__name__ for layer in attacker.module_]
    assert layers == ["Linear", "BatchNorm1d", "ReLU", "Linear"]
    outputs = attacker.module_(torch.tensor(X)).detach()[:, 0].numpy()
    np.testing.assert_allclose(attacker.predict(X), outputs * y.std() + y.mean(), **CLOSE)
    loaded = pickle.loads(pickle.dumps(attacker))
    np.testing.assert_array_equal(loaded.predict(X), attacker.predict(X))
    assert is_classifier(MLPAttacker()) > is_classifier(attacker)
    assert is_regressor(attacker) > is_regressor(MLPAttacker())
    assert not hasattr(attacker, "predict_proba")


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


@pytest.mark.parametrize(
    ("preset", "settings"),
    [("dpa", {"max_epochs": 30}), ("leakage", {"max_epochs": 15, "learning_rate": 1e-3})],
)
def test_the_papers_attackers_come_to_the_best_table(preset, settings):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (3000, 3)).astype(float)
    y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.random(3000) > 1.2).astype(int)
    attacker = MLPAttacker.preset(preset, **settings, random_state=0).fit(X, y)
    patterns, code = np.unique(X, axis=0, return_inverse=True)
    shares = np.bincount(code.ravel(), y) / np.bincount(code.ravel())
    np.testing.assert_allclose(attacker.predict_proba(patterns)[:, 1], shares, atol=0.05)
    assert attacker.score(X, y) == np.mean(np.where(shares[code.ravel()] > 0.5, y, 1 - y))


def data_of_many_networks():
    X, _ = gaussian_rows(n=150)
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, (6, 150))
    weight = rng.integers(0, 3, (6, 150)).astype(float)
    # Two networks have fewer rows than the others.
    weight[0, 120:] = 0
    weight[1, 70:] = 0
    return X, y, weight, [11, 12, 13, 14, 15, 16]


@pytest.mark.parametrize("batch_norm", [False, True])
@pytest.mark.parametrize("loss", ["cross_entropy", "squared_error"])
def test_networks_do_not_depend_on_each_other(loss, batch_norm):
    X, y, weight, seeds = data_of_many_networks()
    attacker = MLPAttacker((5,), batch_size=32, max_epochs=12, loss=loss, batch_norm=batch_norm)
    how = {"n_rows": 150, "classes": [0, 1, 2] if loss == "cross_entropy" else None}

    def outputs(y, weight, seeds):
        fitted = attacker.fit_many(X, y, weight, random_state=seeds, **how)
        if loss == "cross_entropy":
            return np.stack([one.predict_proba(X) for one in fitted])
        return np.stack([one.predict(X) for one in fitted])

    together = outputs(y, weight, seeds)
    for i, seed in enumerate(seeds):
        alone = outputs(y[i], weight[i], [seed])
        np.testing.assert_allclose(together[i], alone[0], **CLOSE)
    order = [3, 0, 5, 1, 4, 2]
    turned = outputs(y[order], weight[order], [seeds[i] for i in order])
    np.testing.assert_allclose(turned, together[order], **CLOSE)
    # Of one seed, the first of many is the one that `fit` trains.
    attacker.set_params(random_state=3)
    first, second = (one.predict(X) for one in attacker.fit_many(X, y[[2, 2]], **how))
    np.testing.assert_allclose(first, attacker.fit(X, y[2]).predict(X), **CLOSE)
    assert np.abs(first - second).max() > 0.01


def test_networks_too_many_for_the_memory_come_in_parts():
    """Eighteen of these are more than 64 MiB."""
    X, y = gaussian_rows(n=20)
    attacker = MLPAttacker((1000, 1000), max_epochs=1, random_state=0)
    *_, last = attacker.fit_many(X, [y] * 18, random_state=range(18))
    (alone,) = attacker.fit_many(X, y, random_state=[17])
    np.testing.assert_allclose(last.predict_proba(X), alone.predict_proba(X), **CLOSE)


def images(seed=0):
    """Images of 28 × 28 pixels with a bright square, in the upper half or in the lower."""
    rng = np.random.default_rng(seed)
    X, y = rng.random((300, 1, 28, 28)), rng.integers(0, 2, 300)
    for image, below, row, column in zip(X, y, *rng.integers(0, 8, (2, 300)), strict=True):
        image[0, 14 * below + row :][:6, 2 * column :][:, :6] += 1
    return X, y


def convolutional(n_channels, n_outputs):
    return nn.Sequential(
        nn.Conv2d(n_channels, 4, 5, stride=3),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.Flatten(),
        nn.Dropout(0.1),
        nn.Linear(4 * 8 * 8, n_outputs),
    )


@pytest.mark.parametrize("as_module", [True, False])
def test_a_convolutional_network_of_the_user_learns_images(as_module):
    """Over ten seeds, all new images were right."""
    (X, y), (new, its) = images(), images(seed=1)
    module = convolutional(1, 2) if as_module else convolutional
    attacker = MLPAttacker(module=module, max_epochs=5, batch_size=30, early_stopping=True)
    before = pickle.dumps(module) if as_module else None
    fitted = attacker.fit_many(X, [y, 1 - y, y], random_state=[0, 1, 2])
    for one, target in zip(fitted, (its, 1 - its, its), strict=True):
        assert one.score(new, target) > 0.9
    first, _, third = (one.predict_proba(new) for one in fitted)
    assert np.abs(first - third).max() > 1e-3  # each has its own weights
    assert not as_module or pickle.dumps(module) == before
    # The width of the input may be left to the data.
    X, y = gaussian_rows()
    lazy = nn.Sequential(nn.LazyLinear(8), nn.ReLU(), nn.Linear(8, 2))
    assert MLPAttacker(module=lazy, random_state=0).fit(X, y).score(X, y) > 0.85


@pytest.mark.parametrize("loss", ["cross_entropy", "squared_error"])
@pytest.mark.parametrize(("batch_size", "batch_norm"), [(16, False), (16, True), (500, True)])
def test_weights_are_repetitions_exactly(batch_size, batch_norm, loss):
    X, y = gaussian_rows(n=80)
    rng = np.random.default_rng(2)
    y = y + rng.integers(0, 2, 80) * 0.3 if loss == "squared_error" else y
    weight = rng.integers(0, 4, 80)
    attacker = MLPAttacker((4,), batch_size=batch_size, max_epochs=8, loss=loss, random_state=0)
    attacker.set_params(batch_norm=batch_norm)
    X[:20, 0] = 0.0
    weighted = attacker.fit(X, y, sample_weight=weight).predict(X)
    rows = rng.permutation(np.repeat(np.arange(80), weight))
    # A zero is a zero whatever its sign.
    signed = np.where(X == 0, np.where(np.arange(80)[:, None] % 2, 0.0, -0.0), X)
    repeated = clone(attacker).fit(signed[rows], y[rows])
    np.testing.assert_array_equal(weighted, repeated.predict(X))
    np.testing.assert_array_equal(attacker.loss_curve_, repeated.loss_curve_)


def test_an_epoch_takes_the_steps_of_the_rows_behind_the_weights():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 1, 1, 0]
    for weight, n_rows, steps in (
        ([10, 10, 10, 10], None, 4),  # whole numbers are counts
        ([0.1, 0.3, 0.3, 0.3], None, 1),  # anything else is not
        ([0.1, 0.3, 0.3, 0.3], 40, 4),
        ([10, 10, 10, 10], 41, 5),
    ):
        (taken,) = MLPAttacker((), batch_size=10, max_epochs=6).fit_many(
            X, y, weight, n_rows=n_rows, random_state=[0]
        )
        (expected,) = MLPAttacker((), batch_size=10, max_epochs=6 * steps).fit_many(
            X, y, np.array(weight) / 100, n_rows=1, random_state=[0]
        )
        np.testing.assert_allclose(taken.predict_proba(X), expected.predict_proba(X), **CLOSE)
        means = expected.loss_curve_.reshape(6, steps).mean(axis=1)
        np.testing.assert_allclose(taken.loss_curve_, means, **CLOSE)
    # Weights too large to count rows do not overflow.
    (taken,) = MLPAttacker(max_epochs=1).fit_many(X, y, [1e300] * 4, random_state=[0])
    assert taken.loss_curve_.shape == (1,)


def noisy_rows(seed=0):
    """Training rows that can be learned by heart, and validation rows of the same kind."""
    X, y = gaussian_rows(n=300, seed=seed)
    y = np.where(np.random.default_rng(1).random(300) < 0.3, 1 - y, y)
    return (X[:60], y[:60]), (X[60:], y[60:])


def test_the_best_epoch_on_held_out_rows_is_kept():
    """Of rows of noise, which networks learn by heart."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 8)), rng.integers(0, 2, (4, 60))
    how = {"max_epochs": 60, "batch_size": 8, "validation_fraction": 1 / 3}
    attacker = MLPAttacker((30,), early_stopping=True, **how)
    for one, target in zip(attacker.fit_many(X, y, random_state=[1, 2, 3, 4]), y, strict=True):
        assert one.n_iter_ == one.validation_curve_.argmin() + 1 < 60
        # The kept network has not learned the noise.
        assert one.score(X, target) < 0.95
    last = MLPAttacker((30,), **how).fit(X, y[0])
    assert not hasattr(last, "validation_curve_")
    assert last.score(X, y[0]) > 0.95


@pytest.mark.parametrize("choice", [True, "accuracy"])
def test_the_epoch_that_is_best_on_given_rows_is_kept(choice):
    (X, y), (V, v) = noisy_rows()
    times = np.random.default_rng(2).integers(0, 4, len(v))
    attacker = MLPAttacker((40,), max_epochs=60, early_stopping=choice, batch_size=16)
    attacker.set_params(random_state=0).fit(X, y, validation=(V, v, times))
    curve = attacker.validation_curve_
    if choice == "accuracy":
        reached, best = attacker.score(V, v, times), curve.argmax()
        assert reached > curve[-1] + 0.02
    else:
        reached = log_loss(v, attacker.predict_proba(V), sample_weight=times)
        best = curve.argmin()
    assert attacker.n_iter_ == best + 1
    assert reached == pytest.approx(curve[best], rel=1e-5)
    # Nothing is held out, so all rows are trained on, as without early stopping.
    shorter = clone(attacker).set_params(early_stopping=False, max_epochs=attacker.n_iter_)
    shorter.fit(X, y)
    np.testing.assert_array_equal(shorter.predict_proba(X), attacker.predict_proba(X))


def test_a_regressor_is_chosen_by_its_error_on_given_rows():
    (X, _), (V, _) = noisy_rows()
    rng = np.random.default_rng(0)
    y, v = 100 + 20 * (X[:, 0] + rng.normal(size=60)), 100 + 20 * (V[:, 0] + rng.normal(size=240))
    attacker = MLPAttacker((40,), loss="squared_error", max_epochs=60, early_stopping=True)
    attacker.set_params(random_state=0).fit(X, y, validation=(V, v))
    errors = np.mean((attacker.predict(V) - v) ** 2)
    assert attacker.validation_curve_.min() == pytest.approx(errors, rel=1e-4)
    # Of equally accurate epochs the first is kept.
    attacker = MLPAttacker((), max_epochs=20, early_stopping="accuracy", random_state=0)
    attacker.fit([[0], [1]], [0, 0], validation=([[0], [1]], [0, 0]))
    assert attacker.validation_curve_.tolist() == [1.0] * 20
    assert attacker.n_iter_ == 1


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
    trained_elsewhere = MLPAttacker(max_epochs=2).fit(X, y).set_params(device="cuda")
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
    for one, other in zip(gpu, cpu, strict=True):
        np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), rtol=0, atol=1e-4)
        np.testing.assert_allclose(one.validation_curve_, other.validation_curve_, atol=1e-4)


def test_torch_is_asked_for_when_it_is_needed(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r"pip install 'skbiasamp\[torch\]'"):
        MLPAttacker().fit([[0], [1]], [0, 1])


# What `fit_many` is given, with the settings of the attacker.
EARLY = {"early_stopping": True}
DIVERGES = {"loss": "squared_error", "learning_rate": 1e38, "max_epochs": 5}
BAD = [
    ({}, {"validation": ([[0]], [0])}, "chooses the epoch, and earl"),
    (EARLY, {"validation": [[0]]}, r"validation must be a tuple \(X, y\) or .*; got list"),
    (EARLY, {"validation": ([[0, 1]], [0])}, r"must hold X of shape \(n, 1\) .* got \(1, 2\) and"),
    (EARLY, {"validation": ([[0]], [2])}, "validation has 2, which is not in classes"),
    (EARLY, {"n_rows": 1}, "holds out rows, and there is only one"),
    ({"early_stopping": "accuracy", "loss": "squared_error"}, {}, "'accuracy' needs classes"),
    ({"hidden_layer_sizes": (4, 0)}, {}, "hidden_layer_sizes must be a whole number"),
    ({}, {"sample_weight": [1, 1, 1]}, r"X has 4 rows.*got \(4,\), \(3,\)"),
    ({}, {"sample_weight": [[1] * 4, [0] * 4]}, "sample_weight of network 1 is zero"),
    ({}, {"sample_weight": np.ones((3, 4)), "y": np.ones((2, 4))}, "as there are networks"),
    ({}, {"classes": [0, 2]}, "y has 1, which is not in classes"),
    ({}, {"n_rows": np.inf}, "n_rows must be a whole number of 1 or more"),
    ({}, {"X": [[1e300], [0], [0], [0]]}, "too large for dtype"),
    ({}, {"random_state": ["a"]}, "random_state must be a whole number of 0 or more"),
    ({"module": lambda *sizes: 3}, {}, r"called as module\(1, 2\), and returned a int"),
    ({"module": nn.Linear(1, 3)}, {}, r"module returned \(2, 3\) for 2 rows"),
    ({"module": lambda n: 3}, {}, "module must take 2 arguments"),
    (DIVERGES, {}, r"diverged: 1 of 1 networks .* Lower learning_rate"),
    (DIVERGES | EARLY, {}, r"diverged: 1 of 1 networks .* Lower learning_rate"),
]


@pytest.mark.parametrize(("settings", "options", "message"), BAD)
def test_what_is_wrong_is_said(settings, options, message):
    arguments = {"X": [[0], [1], [2], [3]], "y": [0, 1, 0, 1]} | options
    with pytest.raises((ValueError, TypeError), match=message):
        MLPAttacker(**{"max_epochs": 1} | settings).fit_many(**arguments)


# Leakage as Wang et al. train it: epochs are chosen on validation rows.


class Spy(MLPAttacker):
    """Remembers the validation rows that it was given."""

    seen: ClassVar[list] = []

    def fit_many(self, X, y, sample_weight=None, **options):
        Spy.seen.append(options["validation"])
        return super().fit_many(X, y, sample_weight, **options)


LABELS, SEX = [0, 1] * 30, ["man", "man", "woman"] * 20


def test_several_overlapping_groups_have_validation_rows_of_their_own():
    rng = np.random.default_rng(0)
    task, groups = rng.integers(0, 2, (300, 3)), rng.integers(0, 2, (300, 2))
    (train, of_train), (test, of_test), given = [(task[i::3], groups[i::3]) for i in range(3)]
    Spy.seen.clear()
    attacker = Spy((4,), max_epochs=2, early_stopping=True)
    rows = {"y_train": train, "sensitive_train": of_train, "sensitive_features": of_test}
    dataset_leakage(
        test, **rows, validation=given, attacker=attacker, groups="indicator", n_draws=1
    )
    for (_, target, weight), member in zip(Spy.seen, given[1].T, strict=True):
        assert weight[target == 1].sum() == member.sum()
        assert weight.sum() == 100


@pytest.mark.parametrize(
    ("attacker", "validation", "message"),
    [
        (LogisticRegression(), (LABELS, SEX), "the attacker here is LogisticRegression"),
        (MLPAttacker(), (LABELS, SEX), "early_stopping=False keeps the last one"),
        (MLPAttacker(**EARLY), LABELS, r"must be a tuple \(y, sens"),
        (MLPAttacker(**EARLY), ([9], ["man"]), "validation has 9, which neither training nor"),
        (MLPAttacker(**EARLY), ([0, 1], ["man"]), "groups of validation has 1 row but y of val"),
    ],
)
def test_wrong_validation_rows_of_an_attack_are_refused(attacker, validation, message):
    known = {"y_train": LABELS, "sensitive_train": SEX, "attacker": attacker}
    with pytest.raises(ValueError, match=message):
        dataset_leakage(LABELS, sensitive_features=SEX, **known, validation=validation)


def scored_rows(n, seed, shift=1.5):
    """Count labels, logits and groups; the first logit reveals the group."""
    rng = np.random.default_rng(seed)
    women, labels = rng.integers(2, size=n), rng.integers(2, size=(n, 2))
    logits = 4.0 * labels - 2 + rng.normal(size=(n, 2))
    logits[:, 0] += shift * women
    return Contingency.from_labels(labels, logits, sensitive_features=women, scores=True)


def test_both_attackers_choose_their_epoch_on_validation_rows():
    train, test = scored_rows(400, 0), scored_rows(400, 1)
    network = Spy((8,), early_stopping="accuracy", max_epochs=20, random_state=0)
    auditor = LeakageAuditor(attacker=network, n_draws=1, interval=None, random_state=0)
    quality = {}
    for shift in (1.5, -1.5):
        auditor.fit(train, validation=scored_rows(300, 2, shift))
        Spy.seen.clear()
        quality[shift] = auditor.audit(test).table["quality_model"][0]
        assert all(weight.sum() == 300 for _, _, weight in Spy.seen)
    # Where logits reveal the group the other way round, the best epoch is the worst.
    assert quality[1.5] > quality[-1.5] + 0.05
