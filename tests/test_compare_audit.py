"""With one seed a comparison says of each model what its audit says, whatever is beside it."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import skbiasamp
from skbiasamp import Contingency, DirectionalAuditor, DPAAuditor, LeakageAuditor, MALSAuditor
from skbiasamp.attackers import MLPAttacker

FEW = {"n_resamples": 49, "n_draws": 2, "random_state": 0}
MODELS = ("old", "new", "bold")


def world(n, n_tasks=None):
    """Return labels, groups, predictions of three models, and their predicted groups."""
    rng = np.random.default_rng(4)
    sex = rng.choice(["f", "m"], n)
    shape = n if n_tasks is None else (n, n_tasks)
    men = (sex == "m") if n_tasks is None else (sex == "m")[:, None]
    y = (rng.random(shape) < np.where(men, 0.6, 0.3)).astype(int)
    old = np.where(rng.random(shape) < 0.1, 1 - y, y)
    new = np.where(rng.random(shape) < 0.05, 1 - old, old)
    bold = np.where(rng.random(shape) < 0.3, men, old).astype(int)
    guessed = {
        name: np.where(rng.random(n) < rate, np.where(sex == "f", "m", "f"), sex)
        for name, rate in zip(MODELS, (0.1, 0.12, 0.3), strict=True)
    }
    return y, sex, dict(zip(MODELS, (old, new, bold), strict=True)), guessed


def scores(models):
    rng = np.random.default_rng(5)
    return {name: 1 / (1 + np.exp(rng.normal(1 - 2 * one))) for name, one in models.items()}


def assert_as_audited(auditor, y, models, sex, guessed=None, orders=(MODELS,), **more):
    """Values and intervals are those of audits, to the last bit; so are differences of values."""
    audits = {
        name: auditor.audit(
            y,
            models[name],
            sensitive_features=sex,
            sensitive_pred=None if guessed is None else guessed[name],
            **more,
        )
        for name in models
    }
    for order in orders:
        found = auditor.compare(
            y,
            {name: models[name] for name in order},
            sensitive_features=sex,
            sensitive_preds=None if guessed is None else {name: guessed[name] for name in order},
            **more,
        ).table.set_index("model")
        assert list(found.index) == list(order)
        for name in order:
            alone = audits[name]
            row = found.loc[name]
            assert (row["value"], row["low"], row["high"]) == (alone.value, alone.low, alone.high)
        gaps = found["value"] - found["value"].iloc[0]
        assert found["difference"].iloc[1:].tolist() == gaps.iloc[1:].tolist()
    return found


ORDERS = (("bold", "new", "old"), ("new", "old"))


@pytest.mark.parametrize(
    "auditor",
    [
        LeakageAuditor(attacker=LogisticRegression(), **FEW),
        LeakageAuditor(attacker=LogisticRegression(), equalize=None, **FEW),
        DPAAuditor("T->A", attacker=DecisionTreeClassifier(), **FEW),
        LeakageAuditor(attacker="mlp", **FEW),
    ],
    ids=["leakage", "as they are", "T->A", "networks"],
)
def test_trained_attackers_have_the_numbers_of_audits(auditor):
    if auditor.attacker == "mlp":
        pytest.importorskip("torch")
        auditor.set_params(attacker=MLPAttacker(max_epochs=1))
    y, sex, models, guessed = world(120)
    assert_as_audited(auditor, y, models, sex, guessed, ORDERS[:1])


@pytest.mark.parametrize("n_tasks", [3, 14], ids=["counts of flips", "flips of rows"])
def test_several_labels_have_the_numbers_of_audits(n_tasks):
    y, sex, models, _ = world(120, n_tasks)
    for auditor in (
        DPAAuditor(**FEW),
        LeakageAuditor(**FEW, attacker=LogisticRegression()),
        LeakageAuditor(**FEW, attacker=LogisticRegression(), equalize=None),
    ):
        assert_as_audited(auditor, y, models, sex)


def test_scores_have_the_numbers_of_audits():
    y, sex, models, _ = world(150)
    likely = scores(models)
    auditor = LeakageAuditor(attacker=LogisticRegression(), **FEW)
    assert_as_audited(auditor, y, likely, sex, orders=ORDERS[:1])
    # Labels of one model beside scores of others: an exact attacker beside trained ones.
    mixed = likely | {"old": models["old"]}
    found = assert_as_audited(LeakageAuditor(**FEW), y, mixed, sex, orders=ORDERS[:1])
    assert found["p_value"].iloc[1:].between(0, 1).all()


def test_numbers_have_the_numbers_of_audits():
    rng = np.random.default_rng(6)
    group = rng.integers(0, 2, 200)
    wages = rng.normal(group, 1)
    models = {name: wages + rng.normal(0, 0.3 + 0.2 * i, 200) for i, name in enumerate(MODELS)}
    how = {"attacker": LinearRegression(), "quality": "inverse_rmse"}
    assert_as_audited(DPAAuditor(**how, **FEW), wages, models, group, orders=ORDERS[:1])


@pytest.mark.parametrize("attacker", ["exact", LogisticRegression()], ids=["exact", "trained"])
def test_weights_and_clusters_have_the_numbers_of_audits(attacker):
    y, sex, models, _ = world(200)
    rng = np.random.default_rng(7)
    auditor = LeakageAuditor(attacker=attacker, **FEW)
    for more in (
        {"sample_weight": rng.integers(0, 5, 200)},
        {"sample_weight": rng.gamma(2, size=200)},
        {"clusters": np.arange(200) // 4},
    ):
        assert_as_audited(auditor, y, models, sex, orders=ORDERS[:1], **more)


@pytest.mark.parametrize("fitted", [False, True], ids=["no training labels", "training labels"])
def test_a_class_that_only_another_model_predicts_changes_nothing(fitted):
    """The other classes were as many as the models had together."""
    y, sex, models, guessed = world(400)
    models["bold"] = np.where(np.arange(400) % 9 == 0, 2, models["bold"])
    guessed["new"] = np.where(np.arange(400) % 11 == 0, "x", guessed["new"])
    for auditor in (LeakageAuditor(**FEW), DPAAuditor(**FEW), DPAAuditor("T->A", **FEW)):
        if fitted:
            auditor.fit(np.r_[y, 0, 1, 2], sensitive_features=[*sex, "m", "f", "x"])
        assert_as_audited(auditor, y, models, sex, guessed, ORDERS)
    every = Contingency.from_labels(y, y_preds=models, sensitive_features=sex)
    auditor = LeakageAuditor(**FEW)
    for name in MODELS:
        held = auditor.audit(every.model(name))
        turned = {one: models[one] for one in reversed(MODELS)}
        other = Contingency.from_labels(y, y_preds=turned, sensitive_features=sex).model(name)
        assert (held.low, held.value, held.high) == tuple(
            getattr(auditor.audit(other), one) for one in ("low", "value", "high")
        )


def test_attackers_that_learn_from_training_rows_have_the_numbers_of_audits():
    y, sex, models, _ = world(400)
    train = Contingency.from_labels(y[::2], models["new"][::2], sensitive_features=sex[::2])
    for attacker in ("exact", LogisticRegression()):
        auditor = LeakageAuditor(attacker=attacker, **FEW).fit(train)
        assert_as_audited(auditor, y, models, sex, orders=ORDERS[:1])


def test_a_generator_is_a_seed_as_any_other():
    y, sex, models, _ = world(400)
    for kind in (np.random.default_rng, np.random.RandomState):
        table = LeakageAuditor(**FEW | {"random_state": kind(3)}).compare(
            y, models, sensitive_features=sex
        )
        for name, row in table.table.set_index("model").iterrows():
            auditor = LeakageAuditor(**FEW | {"random_state": kind(3)})
            alone = auditor.audit(y, models[name], sensitive_features=sex)
            assert (row["value"], row["low"], row["high"]) == (alone.value, alone.low, alone.high)


def test_models_that_agree_more_have_narrower_differences():
    """Resamples are of the rows of both models: what they have in common cancels."""
    y, sex, models, _ = world(800)
    rng = np.random.default_rng(8)
    likely = scores(models)["old"]
    for attacker, one in (("exact", models["old"]), (LogisticRegression(), likely)):
        widths = []
        for share in (0.02, 0.2, 1.0):  # of the rows that another model predicts by chance
            other = np.where(rng.random(800) < share, rng.permutation(one), one)
            auditor = LeakageAuditor(attacker=attacker, **FEW | {"n_resamples": 199, "n_draws": 5})
            models = {"one": one, "other": other}
            row = auditor.compare(y, models, sensitive_features=sex).table.iloc[1]
            widths.append(row["difference_high"] - row["difference_low"])
        assert widths[0] < 0.8 * widths[1] < 0.7 * widths[2]


@pytest.mark.parametrize("n", [40, 400, 40_000])
def test_folds_have_the_same_labels_whatever_is_predicted(n):
    """So that a difference of two models is not one of two divisions into folds."""
    y, sex, models, _ = world(n)
    # Its numbers depend on every row of a fold.
    how = {"quality": "inverse_log_loss", "attacker": "exact", "equalize": None}
    auditor = LeakageAuditor(**how, interval=None, **FEW)
    of_labels = {
        auditor.audit(y, predicted, sensitive_features=sex).table["quality_data"].item()
        for predicted in models.values()
    }
    assert len(of_labels) == 1


def test_more_rows_than_can_be_drawn_one_by_one_are_attacked():
    rows = pd.DataFrame(
        [(a, t, p, n) for a, t, p, n in [
            ("f", 0, 0, 3 * 10**9), ("f", 1, 1, 10**9), ("m", 0, 0, 10**9), ("m", 1, 0, 10**9),
            ("m", 1, 1, 10**9),
        ]],
        columns=["group", "task", "task_pred", "n"],
    )  # fmt: skip
    auditor = LeakageAuditor(attacker="exact", interval=None, **FEW)
    table = auditor.audit(Contingency.from_counts(rows)).table
    # Whoever is predicted 0 is a woman, for the attacker: 3/4 of women, and 1/3 of men.
    assert table["quality_model"].item() == pytest.approx((3 / 4 + 1 / 3) / 2, abs=1e-9)


@pytest.mark.parametrize("auditors", [None, ("MALS", "directional"), ("MALS",)])
def test_each_model_keeps_a_limit_as_in_its_own_audit(auditors):
    rng = np.random.default_rng(0)
    sex, kind = rng.choice(["f", "m"], 3000), rng.integers(0, 3, 3000)
    y = np.where(rng.random(3000) < 0.3, 2 * (sex == "m"), kind)
    models = {
        name: np.where(rng.random(3000) < share, y, 2 * (sex == "m"))
        for name, share in (("mild", 0.97), ("bold", 0.8), ("bolder", 0.6))
    }
    known = {
        "MALS": MALSAuditor(reference="test"), "directional": DirectionalAuditor(reference="test")
    }  # fmt: skip
    own = None if auditors is None else [known[name] for name in auditors]
    how = {"sensitive_features": sex, "auditor": own, "limit": 0.1, "random_state": 0}
    limited = skbiasamp.compare(y, models, **how).context["limit_verdicts"]
    assert limited == {
        name: skbiasamp.audit(y, predicted, **how).facts.limit_verdict
        for name, predicted in models.items()
    }
    assert len({*limited.values()}) > 1
