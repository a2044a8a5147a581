"""With one seed a comparison says of each model what its audit says, whatever is beside it."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import skbiasamp
from skbiasamp import Contingency, DPAAuditor, LeakageAuditor, MALSAuditor
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


def assert_as_audited(auditor, y, models, sex, guessed=None, orders=(MODELS[::-1],), **more):
    """Values and intervals are those of audits, to the last bit; so are differences of values."""
    how = {"sensitive_features": sex} | more
    audits = {
        name: auditor.audit(y, models[name], sensitive_pred=guessed and guessed[name], **how)
        for name in models
    }
    for order in orders:
        own = {name: models[name] for name in order}
        groups = guessed and {name: guessed[name] for name in order}
        found = auditor.compare(y, own, sensitive_preds=groups, **how).table.set_index("model")
        assert list(found.index) == list(order)
        for name, row in found.iterrows():
            alone = audits[name]
            assert (row["value"], row["low"], row["high"]) == (alone.value, alone.low, alone.high)
        gaps = found["value"] - found["value"].iloc[0]
        assert found["difference"].iloc[1:].tolist() == gaps.iloc[1:].tolist()
        assert found["p_value"].iloc[1:].between(0, 1).all()


LEARNT = LogisticRegression()
Y, GROUPS, LABELS, GUESSED = world(120)
PART = Contingency.from_labels(Y[::2], LABELS["new"][::2], sensitive_features=GROUPS[::2])
WAGES = np.random.default_rng(6).normal(GROUPS == "f", 1)
PAID = {
    name: WAGES + np.random.default_rng(i).normal(0, 0.3 + 0.2 * i, 120)
    for i, name in enumerate(MODELS)
}
COUNTS, FRACTIONS = np.arange(120) % 5, np.random.default_rng(7).gamma(2, size=120)
OF_NUMBERS = DPAAuditor(attacker=LinearRegression(), quality="inverse_rmse", **FEW)


@pytest.mark.parametrize(
    ("auditor", "rows", "more"),
    [
        (LeakageAuditor(attacker=LEARNT, **FEW), (Y, LABELS, GROUPS), {}),
        (DPAAuditor("T->A", attacker=DecisionTreeClassifier(), **FEW), (Y, LABELS, GROUPS), {}),
        (LeakageAuditor(attacker="mlp", **FEW), (Y, LABELS, GROUPS), {}),
        (LeakageAuditor(attacker=LEARNT, **FEW), (Y, scores(LABELS), GROUPS), {}),
        # Labels of one model beside scores of others: an exact attacker beside trained ones.
        (LeakageAuditor(**FEW), (Y, scores(LABELS) | {"old": LABELS["old"]}, GROUPS), {}),
        (OF_NUMBERS, (WAGES, PAID, GROUPS), {}),
        *(
            (LeakageAuditor(attacker=attacker, **FEW), (Y, LABELS, GROUPS), more)
            for attacker in ("exact", LEARNT)
            for more in (
                {"sample_weight": COUNTS},
                {"sample_weight": FRACTIONS},
                {"clusters": np.arange(120) // 4},
                {"train": PART},
            )
        ),
    ],
)
def test_a_comparison_has_the_numbers_of_audits(auditor, rows, more):
    if auditor.attacker == "mlp":
        pytest.importorskip("torch")
        auditor.set_params(attacker=MLPAttacker(max_epochs=1))
    if "train" in more:
        auditor, more = auditor.fit(more["train"]), {}
    assert_as_audited(auditor, *rows, GUESSED, **more)


@pytest.mark.parametrize("n_tasks", [3, 14], ids=["counts of flips", "flips of rows"])
def test_several_labels_have_the_numbers_of_audits(n_tasks):
    y, sex, models, _ = world(120, n_tasks)
    for auditor in (DPAAuditor(**FEW), LeakageAuditor(**FEW, attacker=LEARNT)):
        assert_as_audited(auditor, y, models, sex)


def test_models_that_agree_more_have_narrower_differences():
    """Resamples are of the rows of both models: what they have in common cancels."""
    y, sex, models, _ = world(800)
    rng, more = np.random.default_rng(8), FEW | {"n_resamples": 199, "n_draws": 5}
    for attacker, one in (("exact", models["old"]), (LEARNT, scores(models)["old"])):
        widths, auditor = [], LeakageAuditor(attacker=attacker, **more)
        for share in (0.02, 0.2, 1.0):  # of the rows that another model predicts by chance
            other = np.where(rng.random(800) < share, rng.permutation(one), one)
            pair = {"one": one, "other": other}
            row = auditor.compare(y, pair, sensitive_features=sex).table.iloc[1]
            widths.append(row["difference_high"] - row["difference_low"])
        assert widths[0] < 0.8 * widths[1] < 0.7 * widths[2]


@pytest.mark.parametrize("fitted", [False, True], ids=["no training labels", "training labels"])
def test_a_class_that_only_another_model_predicts_changes_nothing(fitted):
    """The other classes were as many as the models had together."""
    y, sex, models, guessed = world(400)
    models["bold"] = np.where(np.arange(400) % 9 == 0, 2, models["bold"])
    guessed["new"] = np.where(np.arange(400) % 11 == 0, "x", guessed["new"])
    for auditor in (LeakageAuditor(**FEW), DPAAuditor(**FEW), DPAAuditor("T->A", **FEW)):
        if fitted:
            auditor.fit(np.r_[y, 0, 1, 2], sensitive_features=[*sex, "m", "f", "x"])
        assert_as_audited(auditor, y, models, sex, guessed, (MODELS[::-1], ("new", "old")))


def test_folds_have_the_same_labels_whatever_is_predicted():
    """So that a difference of two models is not one of two divisions into folds."""
    y, sex, models, _ = world(400)
    # Its numbers depend on every row of a fold.
    how = {"quality": "inverse_log_loss", "attacker": "exact", "equalize": None}
    auditor = LeakageAuditor(**how, interval=None, **FEW)
    of_labels = {
        auditor.audit(y, predicted, sensitive_features=sex).table["quality_data"].item()
        for predicted in models.values()
    }
    assert len(of_labels) == 1


@pytest.mark.parametrize("auditors", [None, (MALSAuditor,)])
def test_each_model_keeps_a_limit_as_in_its_own_audit(auditors):
    rng = np.random.default_rng(0)
    sex, kind = rng.choice(["f", "m"], 3000), rng.integers(0, 3, 3000)
    y = np.where(rng.random(3000) < 0.3, 2 * (sex == "m"), kind)
    models = {
        name: np.where(rng.random(3000) < share, y, 2 * (sex == "m"))
        for name, share in (("mild", 0.97), ("bold", 0.8), ("bolder", 0.6))
    }
    own = auditors and [auditor(reference="test") for auditor in auditors]
    how = {"sensitive_features": sex, "auditor": own, "limit": 0.1, "random_state": 0}
    limited = skbiasamp.compare(y, models, **how).context["limit_verdicts"]
    assert limited == {
        name: skbiasamp.audit(y, predicted, **how).facts.limit_verdict
        for name, predicted in models.items()
    }
    assert len({*limited.values()}) > 1
