"""Attackers on images and feature maps: LeakageAuditor with more than two dimensions."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from skbiasamp import DPAAuditor, LeakageAuditor
from skbiasamp.metrics import leakage_amplification

N = 400
OPTIONS = {"n_draws": 1, "cv": 2, "random_state": 0}


class Flattened(LogisticRegression):
    """A classifier of images, and of nothing else."""

    def fit(self, X, y, sample_weight=None):
        assert X.ndim == 4
        return super().fit(X.reshape(len(X), -1), y, sample_weight)

    def predict(self, X):
        return super().predict(X.reshape(len(X), -1))


@pytest.fixture
def world():
    """Feature maps that reveal the group in one place, and labels that do not."""
    rng = np.random.default_rng(0)
    sex, y = rng.choice(["f", "m"], N), rng.integers(0, 2, N)
    maps = rng.normal(size=(N, 2, 4, 4))
    maps[:, 0, 1, 1] += 2 * (sex == "m")
    labels = {"y_true": y, "y_pred": np.where(rng.random(N) < 0.9, y, 1 - y)}
    return labels | {"sensitive_features": sex}, maps


@pytest.mark.parametrize("hold", [np.asarray, np.float32, "tensor"])
def test_an_attacker_of_images_gets_images(world, hold):
    """The best attacker of these maps is right in 84 % of rows, with all rows to learn from."""
    labels, maps = world
    if hold == "tensor":
        hold = pytest.importorskip("torch").tensor
    options = OPTIONS | {"cv": 5}
    auditor = LeakageAuditor(attacker=Flattened(), **options)
    result = auditor.audit(**labels, y_score=hold(maps))
    flat = LeakageAuditor(attacker=LogisticRegression(), **options)
    flat = flat.audit(**labels, y_score=maps.reshape(N, -1))
    for found in (result, flat):
        assert 0.7 < found.table["quality_model"].item() < 0.88
        assert found.table["quality_data"].item() == pytest.approx(0.5, abs=0.06)
    qualities = [found.table["quality_model"].item() for found in (result, flat)]
    assert qualities[0] == pytest.approx(qualities[1], abs=0.04)
    assert result.low > 0
    assert result.statistics["attacker"] == "Flattened"
    assert result.statistics["input"] == "scores"
    # As accurate as the predictions, which come beside them.
    assert result.statistics["flip_rate"] == flat.statistics["flip_rate"] > 0


def test_the_attacker_of_the_labels_is_the_best_for_them(world):
    labels, maps = world
    train = labels["y_true"], labels["sensitive_features"]
    found, expected = (
        LeakageAuditor(**how, **OPTIONS).fit(train[0], sensitive_features=train[1]).audit(**rows)
        for how, rows in (
            ({"attacker": Flattened()}, labels | {"y_score": maps}),
            ({}, labels),
        )
    )
    quality = expected.table["quality_data"].item()
    assert found.table["quality_data"].item() == pytest.approx(quality, abs=0.06)
    leakage = expected.statistics["dataset_leakage"]
    assert found.statistics["dataset_leakage"] == pytest.approx(leakage)


def test_images_alone_have_no_accuracy_and_stand_in_either_place(world):
    labels, maps = world
    given = {name: labels[name] for name in ("y_true", "sensitive_features")}
    auditor = LeakageAuditor(attacker=Flattened(), **OPTIONS)
    alone = auditor.audit(**given, y_score=maps)
    assert "flip_rate" not in alone.statistics
    assert auditor.score(**given, y_pred=maps) == alone.value
    value = leakage_amplification(**given, y_pred=maps, attacker=Flattened(), **OPTIONS)
    assert value == alone.value
    with pytest.raises(ValueError, match="equalize='accuracy' makes labels as accurate"):
        auditor.set_params(equalize="accuracy").audit(**given, y_score=maps)


def test_rows_count_in_any_order_and_equal_images_are_one_input(world):
    labels, maps = world
    maps[1::2] = maps[::2]
    auditor = LeakageAuditor(attacker=Flattened(), **OPTIONS)
    order = np.random.default_rng(1).permutation(N)
    moved = {name: values[order] for name, values in labels.items()}
    value = auditor.score(**moved, y_score=maps[order])
    assert value == auditor.score(**labels, y_score=maps)
    signed = np.where(maps == maps[0, 0, 0, 0], -0.0, maps)
    zero = np.where(maps == maps[0, 0, 0, 0], 0.0, maps)
    assert auditor.score(**labels, y_score=signed) == auditor.score(**labels, y_score=zero)
    # An exact attacker knows that two of the same image have the same group, if they have.
    sure = dict(labels, sensitive_features=np.repeat(["f", "m"] * (N // 4), 2))
    exact = LeakageAuditor(attacker="exact", cv=None, interval=None)
    assert exact.audit(**sure, y_score=maps).table["quality_model"].item() == 1


def test_missing_groups_leave_out_their_images(world):
    labels, maps = world
    sex = labels["sensitive_features"].astype(object)
    sex[:100] = None
    auditor = LeakageAuditor(attacker=Flattened(), missing="drop", **OPTIONS)
    result = auditor.audit(**labels | {"sensitive_features": sex}, y_score=maps)
    rest = {name: values[100:] for name, values in labels.items()}
    expected = LeakageAuditor(attacker=Flattened(), **OPTIONS).audit(**rest, y_score=maps[100:])
    assert result.n_samples == 300
    assert result.value == pytest.approx(expected.value, abs=0.08)


def test_what_takes_no_images_says_so(world):
    labels, maps = world
    for attacker in ("auto", "mlp"):
        with pytest.raises(
            ValueError, match=f"y_score has 4 dimensions, and attacker='{attacker}'"
        ):
            LeakageAuditor(attacker=attacker, **OPTIONS).audit(**labels, y_score=maps)
    with pytest.raises(ValueError, match="y_score has missing or infinite values"):
        LeakageAuditor(attacker=Flattened()).audit(**labels, y_score=maps * np.inf)
    with pytest.raises(ValueError, match="y_score has 399 rows"):
        LeakageAuditor(attacker=Flattened()).audit(**labels, y_score=maps[1:])
    with pytest.raises(
        ValueError, match=r"y_pred must have one or two dimensions; got shape \(400"
    ):
        DPAAuditor().audit(**labels | {"y_pred": maps})


@pytest.mark.torch
def test_networks_of_skorch_attack_images_and_logits(world, one_thread):
    """Over ten worlds, they were right in 76 to 87 % of rows, and in 48 to 55 % from labels."""
    torch, skorch = pytest.importorskip("torch"), pytest.importorskip("skorch")
    nn = torch.nn
    labels, maps = world

    class Convolutional(nn.Sequential):
        def __init__(self):
            super().__init__(nn.Conv2d(2, 4, 2), nn.ReLU(), nn.Flatten(), nn.Linear(36, 2))

    class Wide(nn.Sequential):
        """As wide as the inputs are: labels have one column, logits have 32."""

        def __init__(self):
            super().__init__(nn.LazyLinear(8), nn.ReLU(), nn.Linear(8, 2))

    how = {"lr": 0.02, "max_epochs": 15, "batch_size": 32, "verbose": 0, "train_split": None}
    how |= {"criterion": nn.CrossEntropyLoss, "optimizer": torch.optim.Adam}
    for module, scores in ((Convolutional, maps), (Wide, maps.reshape(N, -1))):
        net = skorch.NeuralNetClassifier(module, **how)
        result = LeakageAuditor(attacker=net, **OPTIONS).audit(**labels, y_score=scores)
        assert result.table["quality_model"].item() > 0.65
        assert result.table["quality_data"].item() < 0.6
        assert not net.initialized_
