"""What attackers see: scores, embeddings and images, labels with errors, validation rows."""

from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import brentq
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from test_probe import Flattened

import skbiasamp
from skbiasamp import Contingency, DPAAuditor, LeakageAuditor, LeakageProbe
from skbiasamp.inference import UncertaintyWarning
from skbiasamp.metrics import dataset_leakage, leakage_amplification

RNG = np.random.default_rng(0)
N = 400
SEX = RNG.choice(["f", "m"], N)
HIRED = (RNG.random(N) < np.where(SEX == "m", 0.7, 0.3)).astype(int)
# From the labels an attacker guesses that those hired are men: right for this share of each group.
FROM_LABELS = (HIRED[SEX == "m"].mean() + 1 - HIRED[SEX == "f"].mean()) / 2
PREDICTED = np.where(RNG.random(N) < 0.2, 1 - HIRED, HIRED)
SIX = RNG.normal(size=(N, 6)) + np.outer(SEX == "m", [1.5, 0, 0, 0, 0, 0])
TAGS = RNG.integers(0, 2, (N, 3))


def auditor(**options):
    return LeakageAuditor(**{"interval": None, "n_draws": 2, "random_state": 0, **options})


def audited(*labels, how=None, **given):
    return auditor(**how or {}).audit(*labels, sensitive_features=SEX, **given)


def attacked(features):
    """The accuracy of the same attacker by scikit-learn, with equally weighted groups."""
    model = make_pipeline(
        StandardScaler(), LogisticRegression(max_iter=1000, class_weight="balanced")
    )
    right = cross_val_predict(model, features, SEX, cv=5) == SEX
    return np.mean([right[group == SEX].mean() for group in ("f", "m")])


@pytest.mark.parametrize("hold", [np.array, pl.DataFrame])
def test_an_embedding_is_attacked_whatever_its_columns(hold):
    probe = LeakageProbe(random_state=0, n_draws=2).fit(SIX, sensitive_features=SEX)
    for argument in ("y_pred", "y_score"):
        result = audited(HIRED, **{argument: hold(SIX)})
        row = result.table.iloc[0]
        assert row["quality_model"] == pytest.approx(attacked(SIX), abs=0.02)
        assert row["quality_model"] == pytest.approx(probe.leakage_, abs=0.02)
        assert row["quality_data"] == pytest.approx(FROM_LABELS)
        # Nobody knows how accurate it is, so labels stay as they are, and the result says so.
        assert result.params["equalize"] is None
        assert result.columns["quality_data"] == "From labels"
    how = {"sensitive_features": SEX, "n_draws": 2, "random_state": 0}
    assert leakage_amplification(HIRED, hold(SIX), **how) == result.value


def test_predictions_beside_scores_say_how_accurate_the_model_is():
    for equalize in ("auto", "accuracy", "f1"):
        result = audited(HIRED, PREDICTED, y_score=SIX, how={"equalize": equalize})
        assert result.statistics["flip_rate"] > 0
        if equalize != "auto":
            with pytest.raises(ValueError, match=r"Pass predictions as y_pred .* or equalize=None"):
                audited(HIRED, SIX, how={"equalize": equalize})
            continue
        assert result.statistics["flip_rate"] == pytest.approx(np.mean(HIRED != PREDICTED))
        assert result.statistics["input"] == "scores"
        assert result.table["quality_model"][0] == pytest.approx(attacked(SIX), abs=0.02)
    # The decisions and not the scores: those of another threshold have another accuracy.
    score = 0.3 * HIRED + 0.7 * RNG.random(N)
    strict = (score >= 0.7).astype(int)
    found = audited(HIRED, strict, y_score=score).statistics["flip_rate"]
    assert found == pytest.approx(np.mean(strict != HIRED))
    alone = audited(HIRED, y_score=score).statistics["flip_rate"]
    assert alone == pytest.approx(np.mean((score >= 0.5) != HIRED))


def test_several_tasks_are_scored_or_embedded():
    for width in (2, 3, 8):
        features = RNG.normal(size=(N, width)) + np.outer(SEX == "m", np.ones(width))
        predicted = np.where(RNG.random(TAGS.shape) < 0.1, 1 - TAGS, TAGS)
        alone = audited(TAGS, features)
        assert (alone.params["equalize"] is None) == (width != 3)  # three are scores of the tasks
        beside = audited(TAGS, predicted, y_score=features)
        assert beside.statistics["flip_rate"] == pytest.approx(0.1, abs=0.03)
        assert beside.table["quality_model"][0] == pytest.approx(attacked(features), abs=0.02)


CELLS = Contingency.from_labels(HIRED, PREDICTED, sensitive_features=SEX)
MANY = "y_pred has 6 columns but there are 2 classes"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: audited(HIRED, SIX, y_score=SIX), MANY),
        (lambda: audited(HIRED, PREDICTED, y_score=SIX[1:]), "y_score has 399 rows but y_true has"),
        (lambda: audited(HIRED, PREDICTED, y_score=np.where(SIX > 2, np.nan, SIX)), "has missing"),
        (lambda: audited(HIRED, PREDICTED, y_score=SEX), "y_score must hold numbers; got '[fm]'"),
        (lambda: auditor().audit(CELLS, y_score=SIX), "already holds labels"),
        (lambda: DPAAuditor().audit(HIRED, SIX, sensitive_features=SEX), MANY),
    ],
)
def test_scores_that_cannot_be_attacked(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_reports_attack_an_embedding():
    for beside in ({"y_pred": PREDICTED}, {}):
        how = {"y_score": SIX, "sensitive_features": SEX, "random_state": 0}
        found = skbiasamp.audit(HIRED, **beside, **how)["leakage of scores"]
        assert found.table["quality_model"][0] == pytest.approx(attacked(SIX), abs=0.02)
        assert ("flip_rate" in found.statistics) == bool(beside)


def test_scores_belong_to_the_chosen_class():
    """They were taken for those of the class that sorts last: half of the labels were flipped."""
    score = np.clip(0.3 + 0.4 * HIRED + RNG.normal(0, 0.2, N), 0.01, 0.99)
    named = np.where(HIRED == 1, "default", "no default")
    given = {"y_score": score, "pos_label": "default", "sensitive_features": SEX}
    statistics = skbiasamp.audit(named, **given, random_state=0)["leakage of scores"].statistics
    assert statistics["flip_rate"] == pytest.approx(np.mean((score >= 0.5) != HIRED))
    assert not statistics["flip_rate_capped"]


OPTIONS = {"n_draws": 1, "cv": 2, "random_state": 0}


@pytest.fixture
def maps_of_rows():
    """Feature maps that reveal the group in one place, and labels that do not."""
    rng = np.random.default_rng(0)
    sex, y = rng.choice(["f", "m"], N), rng.integers(0, 2, N)
    maps = rng.normal(size=(N, 2, 4, 4))
    maps[:, 0, 1, 1] += 2 * (sex == "m")
    labels = {"y_true": y, "y_pred": np.where(rng.random(N) < 0.9, y, 1 - y)}
    return labels | {"sensitive_features": sex}, maps


def test_images_alone_have_no_accuracy_and_stand_in_either_place(maps_of_rows):
    """The best attacker of these maps is right in 84 % of rows, with all rows to learn from."""
    labels, maps = maps_of_rows
    given = {name: labels[name] for name in ("y_true", "sensitive_features")}
    auditor = LeakageAuditor(attacker=Flattened(), **OPTIONS)
    alone = auditor.audit(**given, y_score=maps)
    assert "flip_rate" not in alone.statistics
    assert (alone.statistics["attacker"], alone.statistics["input"]) == ("Flattened", "scores")
    assert 0.7 < alone.table["quality_model"].item() < 0.88
    value = leakage_amplification(**given, y_pred=maps, attacker=Flattened(), **OPTIONS)
    assert value == alone.value
    for message, options, score in (
        ("'accuracy' makes labels as accurate .* of the 2 classes", {"equalize": "accuracy"}, maps),
        ("y_score has 4 dimensions, and attacker='mlp'", {"attacker": "mlp"}, maps),
        ("y_score has missing or infinite values", {}, maps * np.inf),
    ):
        with pytest.raises(ValueError, match=message):
            clone(auditor).set_params(**options).audit(**given, y_score=score)


def test_rows_count_in_any_order_and_equal_images_are_one_input(maps_of_rows):
    labels, maps = maps_of_rows
    maps[1::2] = maps[::2]
    auditor = LeakageAuditor(attacker=Flattened(), **OPTIONS)
    order = np.random.default_rng(1).permutation(N)
    moved = {name: values[order] for name, values in labels.items()}
    value = auditor.score(**moved, y_score=maps[order])
    assert value == auditor.score(**labels, y_score=maps)
    # An exact attacker knows that two of the same image have the same group, if they have.
    sure = dict(labels, sensitive_features=np.repeat(["f", "m"] * (N // 4), 2))
    exact = LeakageAuditor(attacker="exact", cv=None, interval=None)
    assert exact.audit(**sure, y_score=maps).table["quality_model"].item() == 1
    # Rows without a group leave with their images.
    sex = labels["sensitive_features"].astype(object)
    sex[:100] = None
    auditor.set_params(missing="drop")
    result = auditor.audit(**labels | {"sensitive_features": sex}, y_score=maps)
    rest = {name: values[100:] for name, values in labels.items()}
    assert result.n_samples == 300
    assert result.value == auditor.score(**rest, y_score=maps[100:])


@pytest.mark.torch
def test_networks_of_skorch_attack_images(maps_of_rows, one_thread):
    """Over ten worlds, they were right in 76 to 87 % of rows, and in 48 to 55 % from labels."""
    torch, skorch = pytest.importorskip("torch"), pytest.importorskip("skorch")
    nn = torch.nn
    labels, maps = maps_of_rows

    class Convolutional(nn.Sequential):
        def __init__(self):
            super().__init__(nn.Conv2d(2, 4, 2), nn.ReLU(), nn.Flatten(), nn.Linear(36, 2))

    how = {"lr": 0.02, "max_epochs": 15, "batch_size": 32, "verbose": 0, "train_split": None}
    how |= {"criterion": nn.CrossEntropyLoss, "optimizer": torch.optim.Adam}
    net = skorch.NeuralNetClassifier(Convolutional, **how)
    before = torch.random.get_rng_state()
    result = LeakageAuditor(attacker=net, **OPTIONS).audit(**labels, y_score=maps)
    assert result.table["quality_model"].item() > 0.65
    assert result.table["quality_data"].item() < 0.6
    assert not net.initialized_
    assert torch.equal(before, torch.random.get_rng_state())


GROUP = np.repeat(["f", "m"], 500)


def more_of_women(n_tasks, strength=0.25):
    """Return 0/1 labels of 1,000 rows, each more frequent among women."""
    share = np.where(GROUP[:, None] == "f", 0.5 + strength, 0.5 - strength)
    return (RNG.random((1000, n_tasks)) < share).astype(int)


@settings(max_examples=60)
@given(
    arrays(int, st.tuples(st.integers(2, 4), st.integers(2, 3)), elements=st.integers(1, 5)),
    st.floats(0.5, 1),
)
def test_one_label_is_wrong_as_often_as_asked_for(table, at):
    """`table` counts rows by label and group; the best guess of each wrong label is enumerated."""
    label, group = (np.repeat(axis.ravel(), table.ravel()) for axis in np.indices(table.shape))
    how = {"balanced": False, "cv": None, "attacker": "exact"}
    value = dataset_leakage(label, sensitive_features=group, at=at, **how)
    n = len(table)
    moved = np.full((n, n), (1 - at) / (n - 1))
    np.fill_diagonal(moved, at)
    assert value == pytest.approx((moved @ table).max(axis=1).sum() / table.sum(), abs=1e-12)


def test_several_labels_have_the_f1_asked_for():
    """Every pattern of three labels becomes every other, with the rate that gives the mean F1."""
    task, woman = more_of_women(3), GROUP == "f"

    def f1(rate):
        right, all_true = task.sum(axis=0) * (1 - rate), task.sum(axis=0)
        return np.mean(2 * right / (all_true + right + (len(task) - all_true) * rate))

    patterns = np.array([*product((0, 1), repeat=3)])
    n_wrong = (task[:, None] != patterns).sum(axis=2)
    for at in (0.95, 0.8, 0.7):
        rate = brentq(lambda rate, at=at: f1(rate) - at, 0, 0.5)
        chance = rate**n_wrong * (1 - rate) ** (3 - n_wrong)
        shares = np.stack([chance[woman].mean(axis=0), chance[~woman].mean(axis=0)])
        value = dataset_leakage(task, sensitive_features=GROUP, at=at, cv=None)
        assert value == pytest.approx(shares.max(axis=0).sum() / 2, abs=1e-9)


def test_drawn_errors_reveal_as_much_as_the_expected_ones_and_a_list_gives_a_curve():
    task, how = more_of_women(1)[:, 0], {"sensitive_features": GROUP, "random_state": 3}
    errors = np.array([1, 0.8, 0.6])
    closed = dataset_leakage(task, at=errors, cv=None, **how)
    gap = task[:500].mean() - task[500:].mean()
    assert closed == pytest.approx(0.5 + gap * (errors - 0.5), abs=1e-12)
    curve = dataset_leakage(task, at=[1, 0.8, 0.6], n_draws=200, **how)
    assert curve == pytest.approx(closed, abs=0.005)
    assert curve.tolist() == [dataset_leakage(task, at=at, n_draws=200, **how) for at in errors]
    assert curve[0] == dataset_leakage(task, n_draws=200, **how)
    assert dataset_leakage(task, at=[0.8], **how).shape == (1,)
    with pytest.warns(UncertaintyWarning, match="labels with a score of 0.3 are worse than random"):
        assert dataset_leakage(task, at=0.3, cv=None, **how) == pytest.approx(0.5)


@pytest.mark.parametrize(("n_tasks", "with_training"), [(2, True), (13, False), (13, True)])
def test_trained_attackers_see_labels_with_errors(n_tasks, with_training):
    """The same as flipping the labels by hand; thirteen are flipped row by row."""
    task, learned = more_of_women(n_tasks, 0.15), more_of_women(n_tasks, 0.15)
    how = {"sensitive_features": GROUP, "attacker": LogisticRegression()}

    def leakage(judged, trained, **options):
        train = {"y_train": trained, "sensitive_train": GROUP} if with_training else {}
        return dataset_leakage(judged, **how, **train, **options)

    rng = np.random.default_rng(1)
    flipped = []
    for seed in range(20):
        wrong = [np.where(rng.random(y.shape) < 0.25, 1 - y, y) for y in (task, learned)]
        flipped.append(leakage(*wrong, n_draws=1, random_state=seed))
    value = leakage(task, learned, at=0.75, equalize="accuracy", n_draws=20, random_state=0)
    assert value == pytest.approx(np.mean(flipped), abs=0.016)
    assert leakage(task, learned, random_state=0) > value + 0.02


def test_a_performance_is_a_share():
    for at in (1.2, [[0.5]], np.nan):
        with pytest.raises(ValueError, match="at must be shares between 0 and 1"):
            dataset_leakage([0, 1], sensitive_features=["f", "m"], at=at)
    with pytest.raises(ValueError, match="at is a performance of labels, and y_true holds numbers"):
        dataset_leakage(RNG.random(1000), sensitive_features=GROUP, at=0.9)
