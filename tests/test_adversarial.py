"""AdversarialClassifier: a network trained against adversaries, and what it promises."""

import sys
from collections import OrderedDict
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from discovery import failed_checks
from halving import Parity
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from skbiasamp import DPAAuditor, LeakageAuditor, LeakageProbe
from skbiasamp.datasets import make_biased_classification
from skbiasamp.mitigation import AdversarialClassifier

FOLDER = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(FOLDER / "benchmarks"))
from pages import defined_in  # noqa: E402

torch = pytest.importorskip("torch")
nn = torch.nn
pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("one_thread")]


class TwoGroups(Parity):
    """Two groups for the checks; those of few rows, too."""

    _name = "two_groups"

    def __call__(self, X):
        group = super().__call__(X)
        return group if len(np.unique(group)) > 1 else np.arange(len(group)) % 2


two_groups = TwoGroups()
AUDIT = {"n_draws": 3, "interval": None, "random_state": 0}
# What takes longer says no more to the checks.
QUICK = {"pretrain_epochs": 20, "adversary_epochs": 2, "max_epochs": 3, "adversary_steps": 1}


@pytest.mark.filterwarnings("ignore:There are no rows of group")
def test_is_an_estimator_of_scikit_learn():
    assert failed_checks(AdversarialClassifier(0.1, sensitive=two_groups, **QUICK)) == {}


@pytest.fixture(scope="module")
def biased():
    return make_biased_classification(300, random_state=0)


SMALL = {"hidden_layer_sizes": (6,), "batch_size": 64, "random_state": 0}
SMALL |= {"pretrain_epochs": 3, "adversary_epochs": 2, "max_epochs": 4}


def fitted(data, weight=1.0, **settings):
    model = AdversarialClassifier(weight, **SMALL | settings)
    return model.fit(data.data, data.target, sensitive_features=data.sensitive)


def weights_of(module):
    return [one.detach().numpy().copy() for one in module.state_dict().values()]


def named(**layers):
    return nn.Sequential(OrderedDict(layers))


def net(n_features, n_outputs):
    encoder = nn.Sequential(nn.Linear(n_features, 6), nn.ReLU())
    return named(encoder=encoder, head=nn.Linear(6, n_outputs))


# --------------------------------------------------------------------------- against plain torch


class Noting(nn.Sequential):
    """Keeps the batches that it is trained on."""

    seen: ClassVar[list] = []

    def forward(self, X):
        if self.training:
            self.seen.append(X.detach().clone())
        return super().forward(X)


def test_without_an_adversary_it_is_plain_training_bit_for_bit(biased):
    start = Noting(OrderedDict(net(3, 2)._modules))
    X = biased.data.to_numpy(np.float32)
    labels = {row.tobytes(): label for row, label in zip(X, biased.target, strict=True)}
    Noting.seen.clear()
    model = fitted(biased, 0, module=start, learning_rate=0.02)
    batches = Noting.seen[:]
    assert len(batches) == 7 * (300 // 64)
    adam = torch.optim.Adam(start.parameters(), lr=0.02)
    for i, inputs in enumerate(batches):
        if i % 4 == 0:  # an epoch has each row once
            rows = torch.cat(batches[i : i + 4]).numpy()
            assert_array_equal(np.unique(rows, axis=0), np.unique(X, axis=0))
        target = torch.tensor([labels[row.tobytes()] for row in inputs.numpy()])
        loss = nn.functional.cross_entropy(start(inputs), target, reduction="none")
        adam.zero_grad()
        (loss * torch.full((len(inputs),), 1 / len(inputs))).sum().backward()
        adam.step()
    for got, expected in zip(weights_of(model.module_), weights_of(start), strict=True):
        assert_array_equal(got, expected)


def test_turns_are_those_of_the_formula(biased):
    """Adversaries descend L_c and the network L − λ L_c, in a loop of one's own."""
    X, y = biased.data.to_numpy(np.float32), biased.target.to_numpy()
    group = (biased.data["proxy_0"] > 2).to_numpy().astype(int)
    assert 0.1 < group.mean() < 0.4
    predictor, adversary = net(3, 2), nn.Linear(6, 2)
    turns = {"pretrain_epochs": 7, "adversary_epochs": 2, "max_epochs": 5, "adversary_steps": 3}
    nets = {"module": predictor, "adversary": adversary, "batch_size": 300, "learning_rate": 0.02}
    model = AdversarialClassifier(0.7, **turns, **nets).fit(X, y, sensitive_features=group)
    X, y, group = torch.tensor(X), torch.tensor(y), torch.tensor(group)
    balanced = (0.5 / torch.bincount(group))[group]
    learner, opponent = (
        torch.optim.Adam(one.parameters(), lr=0.02) for one in (predictor, adversary)
    )

    def adversary_loss(hidden):
        each = nn.functional.cross_entropy(adversary(hidden), group, reduction="none")
        return (balanced * each).sum()

    def train_adversary(times):
        for _ in range(times):
            opponent.zero_grad()
            adversary_loss(predictor.encoder(X).detach()).backward()
            opponent.step()

    def train_network(weight):
        learner.zero_grad()
        task = nn.functional.cross_entropy(predictor(X), y)
        (task - weight * adversary_loss(predictor.encoder(X))).backward()
        learner.step()

    for _ in range(7):
        train_network(0)
    train_adversary(2)
    for _ in range(5):
        train_adversary(3)
        train_network(0.7)
    for got, expected in ((model.module_, predictor), (model.adversary_, adversary)):
        for one, other in zip(weights_of(got), weights_of(expected), strict=True):
            assert_allclose(one, other, rtol=0, atol=1e-5)


# --------------------------------------------------------------------------- what it is for


def test_it_hides_what_a_proxy_tells():
    """Over ten seeds, leakage was 0.10 to 0.14 alone and 0.00 to 0.03 against an adversary.

    A new attacker predicted the group for 85 to 92 % and for 52 to 59 % of rows.
    """
    train = make_biased_classification(1000, random_state=0)
    test = make_biased_classification(4000, random_state=1)
    settings = {"hidden_layer_sizes": (8,), "batch_size": 125, "max_epochs": 50}
    by, found = {"sensitive_features": test.sensitive}, []
    probe = LeakageProbe(cv=2, random_state=0, n_resamples=2)
    for weight in (0, 1):
        model = AdversarialClassifier(weight, random_state=0, **settings)
        model.fit(train.data, train.target, sensitive_features=train.sensitive if weight else None)
        labels = test.target, model.predict(test.data)
        amplified = [
            abs(kind(**AUDIT).score(*labels, **by)) for kind in (LeakageAuditor, DPAAuditor)
        ]
        told = clone(probe).fit(model.transform(test.data), **by).leakage_
        found.append((np.mean(labels[0] == labels[1]), told, *amplified))
    alone, against = found
    assert against[0] > alone[0] - 0.06
    assert against[1] < 0.7 < 0.8 < alone[1]
    for one, other in zip(alone[2:], against[2:], strict=True):
        assert other < one / 2 > 0.025
    # At the end, adversaries are hardly better than chance; alone the loss is 0.14 to 0.26.
    assert model.history_["adversary_loss"].iloc[-1] == pytest.approx(np.log(2), abs=0.15)


# --------------------------------------------------------------------------- numbers at random


def test_a_path_has_accuracy_and_leakage_of_each_weight(biased):
    X, y, group = biased.data, biased.target, biased.sensitive
    model = AdversarialClassifier(hidden_layer_sizes=(4,), max_epochs=2, pretrain_epochs=2)
    auditor = LeakageAuditor(attacker=LogisticRegression(), n_draws=1, equalize="f1")
    given = {"weights": [0, 3], "seeds": 2, "auditor": auditor}
    path = model.path(X, y, sensitive_features=group, **given)
    runs = []
    for seed in (0, 1):
        parts = train_test_split(X, y, group, test_size=0.25, random_state=seed)
        fitted = clone(model).set_params(adversary_weight=3, random_state=seed)
        fitted.fit(parts[0], parts[2], sensitive_features=parts[4])
        leakage = clone(auditor).set_params(interval=None, random_state=seed)
        logits = fitted.decision_function(parts[1])
        leakage = leakage.score(parts[3], logits, sensitive_features=parts[5])
        runs.append((fitted.score(parts[1], parts[3]), leakage))
    found = path[path["weight"] == 3].set_index("measure").loc[["accuracy", "leakage"]]
    assert_allclose(found["value"], np.mean(runs, axis=0))
    assert_allclose(found["std"], np.std(runs, axis=0, ddof=1))
    assert path["weight"].tolist() == [0, 0, 3, 3]
    # Groups may be in a column that is hidden from the network.
    hidden = clone(model).set_params(sensitive="group", drop_sensitive=True)
    frame = pd.DataFrame(X).rename(columns=str).assign(group=group)
    pd.testing.assert_frame_equal(hidden.path(frame, y, **given), path)


def test_torchs_own_random_numbers_stay_untouched(biased):
    before = torch.get_rng_state()
    fitted(biased, module=net, adversary=nn.Linear, device="cpu").predict(biased.data)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("balance", ["group", "class"])
def test_rows_are_the_same_in_any_order_and_weights_are_repetitions(biased, balance):
    weight = np.random.default_rng(0).integers(0, 4, 300)
    rows = np.random.default_rng(1).permutation(np.repeat(np.arange(300), weight))
    X, y, group = (one.to_numpy() for one in (biased.data, biased.target, biased.sensitive))
    model = AdversarialClassifier(**SMALL, balance=balance)
    weighted = clone(model).fit(X, y, sample_weight=weight, sensitive_features=group)
    repeated = clone(model).fit(X[rows], y[rows], sensitive_features=group[rows])
    assert_array_equal(weighted.predict_proba(X), repeated.predict_proba(X))


@pytest.mark.parametrize("balance", ["group", "class"])
def test_adversaries_see_equally_many_rows_of_each_group(balance):
    rng, batches = np.random.default_rng(0), []
    group, y = np.repeat([0, 1, 2], [300, 60, 40]), rng.integers(0, 2, 400)
    X = np.column_stack([group, y, rng.random(400)])

    class Adversary(nn.Linear):
        def forward(self, hidden):
            if self.training:
                batches.append(hidden.detach().numpy()[:, :2].round().astype(int))
            return super().forward(hidden)

    AdversarialClassifier(
        module=named(encoder=nn.Identity(), head=nn.Linear(3, 2)),
        adversary=Adversary,
        batch_size=30,
        balance=balance,
        pretrain_epochs=0,
        adversary_epochs=50,
        max_epochs=0,
    ).fit(X, y, sensitive_features=group)
    assert len(batches) == 50 * (400 // 30)
    assert all((np.bincount(batch[:, 0]) == 10).all() for batch in batches)
    drawn = np.concatenate(batches)
    shares = np.bincount(drawn[:, 1] * 3 + drawn[:, 0]).reshape(2, 3) / len(drawn)
    own = np.array([y[group == one].mean() for one in range(3)])
    share = own if balance == "group" else y.mean()
    assert_allclose(shares, [(1 - share) / 3 * np.ones(3), share / 3 * np.ones(3)], atol=0.005)


# --------------------------------------------------------------------------- labels and attributes


def test_several_tasks():
    data = make_biased_classification(600, n_tasks=3, class_sep=3, random_state=0)
    model = fitted(data, 0.1, hidden_layer_sizes=(16,), pretrain_epochs=20)
    predicted = model.predict(data.data)
    assert np.mean(predicted == data.target.to_numpy()) > 0.85
    assert_array_equal(predicted, model.predict_proba(data.data) > 0.5)


# --------------------------------------------------------------------------- networks of users


def convolutional(n_channels, n_outputs):
    first = nn.Sequential(nn.Conv2d(n_channels, 3, 3, padding=1), nn.ReLU())
    return named(first=first, flat=nn.Flatten(), head=nn.Linear(48, n_outputs))


def test_a_network_that_was_trained_before_goes_on_from_there(biased):
    given = net(3, 2)
    before = weights_of(given)
    for parameter in given.encoder.parameters():
        parameter.requires_grad_(False)
    model = fitted(biased, module=given)
    for one, other in zip(before, weights_of(given), strict=True):
        assert_array_equal(one, other)  # a copy was trained
    trained = weights_of(model.module_)
    assert_array_equal(trained[0], before[0])  # frozen
    assert (trained[2] != before[2]).any()


@pytest.fixture(scope="module")
def scene():
    """Images of a figure, red or green as the group, beside the pattern of a task."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, 400)
    y = np.where(rng.random(400) < 0.7, group, 1 - group)
    X = np.zeros((400, 2, 4, 4))
    X[np.arange(400), group, :, :2] = 0.5 + 0.5 * rng.random((400, 4, 2))
    pattern = np.array([[0, 1, 1, 0] * 2, [1, 0, 0, 1] * 2])[y] + 0.35 * rng.normal(size=(400, 8))
    X[:, :, :, 2:] = pattern.clip(0, 1).reshape(400, 1, 4, 2)
    return X, y, group


def masked(scene, weight, **settings):
    """Return a model, and how much of the figure's and the pattern's light it keeps."""
    X, y, group = scene
    model = AdversarialClassifier(weight, mask=True, random_state=0, **settings)
    rows = X.reshape(400, -1)
    shown = model.fit(rows, y, sensitive_features=group).transform(rows).reshape(X.shape)
    # A mask can only darken, but for the rounding of float32.
    assert (shown >= 0).all()
    assert (shown <= X * (1 + 1e-6)).all()
    kept = [shown[part].sum() / X[part].sum() for part in (np.s_[..., :2], np.s_[..., 2:])]
    return model, *kept


def test_a_mask_hides_a_figure_that_reveals_the_group_to_everybody(scene):
    """Adversaries are right at once here, and −L_c has no gradient: it left every pixel open.

    Over 20 seeds, 0.000 of the figure and 0.52 to 1.00 of the pattern were kept, and the adversary
    had a loss of 0.60 to 0.82.
    """
    X, y, _ = scene
    model, figure, pattern = masked(scene, 1)
    assert model.layer_ is None
    assert figure < 0.01
    assert pattern > 0.4
    assert model.score(X.reshape(400, -1), y) > 0.99
    assert model.history_["adversary_loss"].iloc[-1] > 0.5
    assert min(masked(scene, 0)[1:]) > 0.95


def test_a_greater_beta_leaves_more_of_the_input_as_it_was(scene):
    """Over 20 seeds, 0.01 to 0.03 are lost for each pixel, and less than 0.0005."""
    rows, lost = scene[0].reshape(400, -1), []
    for beta in (0, 100):
        model, *_ = masked(scene, 0, max_epochs=0, reconstruction_weight=beta)
        lost.append(np.abs(model.transform(rows) - rows).mean())
    assert lost[1] < 0.002 < 0.005 < lost[0]


# --------------------------------------------------------------------------- what is wrong is said


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"layer": "body"}, r"no submodule 'body'. It has 'encoder', .*'head'"),
        ({"module": nn.Linear(3, 2)}, "layer=None means 'encoder', and module has no"),
        ({"module": named(rnn=nn.RNN(3, 2)), "layer": "rnn"}, "layer 'rnn' returned a tuple"),
        ({"module": net(3, 5)}, r"\(2, 5\) .* must return logits of shape \(2, 2\)"),
        ({"learning_rate": 1e30}, "Training diverged"),
    ],
    ids=range(5),
)
def test_what_is_wrong_is_said(biased, settings, message):
    with pytest.raises(ValueError, match=message):
        fitted(biased, **settings)


def test_each_class_needs_rows_of_each_group(biased):
    X, y = biased.data, biased.target
    model, group = AdversarialClassifier(**SMALL), np.where(y == 1, "g1", biased.sensitive)
    with pytest.warns(UserWarning, match="no rows of group 'g0' with class 1: the class reveals"):
        model.fit(X, y, sensitive_features=group)
    with pytest.raises(ValueError, match="group 'g0' with task 1: balance='class'"):
        model.set_params(balance="class").fit(X, y, sensitive_features=group)


def test_rows_of_another_shape_are_refused():
    rng = np.random.default_rng(0)
    X, y, group = rng.random((60, 2, 4, 4)), rng.integers(0, 3, 60), rng.integers(0, 2, 60)
    model = AdversarialClassifier(module=convolutional, layer="first", **SMALL)
    model.fit(X, y, sensitive_features=group)
    with pytest.raises(ValueError, match=r"rows of shape \(2, 3, 4\), and fit saw rows of"):
        model.predict(X[:, :, :3])


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_gpu_that_is_not_there_is_an_error(biased):
    with pytest.raises(ValueError, match=r"device='cuda' needs a GPU .* Pass device='auto'"):
        fitted(biased, device="cuda")
    trained_elsewhere = fitted(biased).set_params(device="cuda")
    assert trained_elsewhere.predict(biased.data).shape == (300,)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
def test_a_gpu_trains_much_the_same(biased):
    gpu, cpu = (fitted(biased, device=device) for device in ("cuda", "cpu"))
    assert_allclose(
        gpu.predict_proba(biased.data), cpu.predict_proba(biased.data), rtol=0, atol=1e-3
    )


# --------------------------------------------------------------------------- the page of it


PAGE = FOLDER / "examples" / "mitigation" / "plot_colored_digits.py"


@pytest.mark.pages
def test_a_network_takes_the_colour_for_the_digit():
    pytest.importorskip("matplotlib.pyplot")
    page = defined_in(PAGE)
    train, (X, digit, color) = page["split"](0.95)
    # A third of the epochs: the shortcut is learned early.
    model = page["network"](max_epochs=0).fit(*train[:2])
    usual = (color == "red") == (digit % 2 == 0)
    right = model.predict(X) == digit
    assert right[usual].mean() > right[~usual].mean() + 0.15
