"""Attackers that choose their epoch on validation rows: dataset leakage as Wang et al. train it."""

from typing import ClassVar

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from skbiasamp import Contingency, LeakageAuditor
from skbiasamp.attackers import MLPAttacker
from skbiasamp.metrics import dataset_leakage

pytest.importorskip("torch")
pytestmark = pytest.mark.torch

VERBS = np.array([f"verb {i}" for i in range(20)])


class Spy(MLPAttacker):
    """Remembers the validation rows that it was given."""

    seen: ClassVar[list] = []

    def fit_many(self, X, y, sample_weight=None, **options):
        Spy.seen.append(options["validation"])
        return super().fit_many(X, y, sample_weight, **options)


def rows(seed, skew, n=1000, men=0.5):
    """Return verbs and genders; with `skew`, half of the verbs have more men."""
    rng = np.random.default_rng(seed)
    verb = rng.integers(0, 20, n)
    man = rng.random(n) < men + skew * np.where(verb < 10, 1, -1)
    return VERBS[verb], np.where(man, "man", "woman")


def leakage(train, test, validation, attacker, **options):
    return dataset_leakage(
        test[0],
        sensitive_features=test[1],
        y_train=train[0],
        sensitive_train=train[1],
        validation=validation,
        attacker=attacker,
        **{"n_draws": 1, "random_state": 0} | options,
    )


def test_an_epoch_chosen_on_rows_like_the_test_rows_finds_what_training_rows_lack():
    """As on imSitu at α = 1: noise of training is chosen that agrees with the test rows.

    Of 10 networks. Of 20, over six seeds the means were 0.487 to 0.512, and 0.086 to 0.112 more.
    """
    train = np.repeat(VERBS, 10), np.tile(["man", "woman"], 100)  # nothing to be learned
    test, validation = rows(1, 0.3), rows(2, 0.3)
    attacker = MLPAttacker((20,), max_epochs=20, batch_size=32, learning_rate=3e-3)
    last = leakage(train, test, None, attacker, n_draws=10)
    attacker.set_params(early_stopping="accuracy")
    chosen = leakage(train, test, validation, attacker, n_draws=10)
    assert last == pytest.approx(0.5, abs=0.05)
    assert chosen > last + 0.05


def test_several_overlapping_groups_have_validation_rows_of_their_own():
    rng = np.random.default_rng(0)
    task, groups = rng.integers(0, 2, (300, 3)), rng.integers(0, 2, (300, 2))
    parts = [(task[i::3], groups[i::3]) for i in range(3)]
    Spy.seen.clear()
    leakage(*parts, Spy((4,), max_epochs=2, early_stopping=True), groups="indicator")
    for (_, target, weight), member in zip(Spy.seen, parts[2][1].T, strict=True):
        assert weight[target == 1].sum() == member.sum()
        assert weight.sum() == 100


EARLY = MLPAttacker(early_stopping=True)


@pytest.mark.parametrize(
    ("attacker", "validation", "message"),
    [
        ("exact", rows(2, 0.2), "validation chooses the epoch of a network, and the attacker here"),
        (LogisticRegression(), rows(2, 0.2), "the attacker here is LogisticRegression"),
        (MLPAttacker(), rows(2, 0.2), "early_stopping=False keeps the last one"),
        (EARLY, VERBS, r"must be a tuple \(y, sens"),
        (EARLY, (["to knit"], ["man"]), "validation has 'to knit', which neither training nor"),
        (EARLY, (["verb 1", "verb 2"], ["man"]), "groups of validation has 1 row but y of val"),
    ],
)
def test_wrong_validation_rows_are_refused(attacker, validation, message):
    with pytest.raises(ValueError, match=message):
        leakage(rows(0, 0.0), rows(1, 0.2), validation, attacker)


def scored_rows(n, seed, shift=1.5):
    """Return labels, logits and groups; the first logit reveals the group."""
    rng = np.random.default_rng(seed)
    women, labels = rng.integers(2, size=n), rng.integers(2, size=(n, 2))
    logits = 4.0 * labels - 2 + rng.normal(size=(n, 2))
    logits[:, 0] += shift * women
    return labels, logits, np.array(["m", "f"])[women]


def scored(*rows):
    labels, logits, sex = rows
    return Contingency.from_labels(labels, logits, sensitive_features=sex, scores=True)


def test_both_attackers_choose_their_epoch_on_validation_rows():
    train, test = scored_rows(400, 0), scored_rows(400, 1)
    network = Spy((8,), early_stopping="accuracy", max_epochs=20, random_state=0)
    auditor = LeakageAuditor(attacker=network, n_draws=1, n_resamples=19, random_state=0)
    labels, logits, sex = test
    quality = {}
    for shift in (1.5, -1.5):
        validation = scored_rows(300, 2, shift)
        auditor.fit(scored(*train), validation=scored(*validation))
        Spy.seen.clear()
        result = auditor.audit(labels, logits, sensitive_features=sex)
        quality[shift] = result.table["quality_model"][0]
        assert all(weight.sum() == 300 for _, _, weight in Spy.seen)
        # The attacker on the model sees logits of the validation rows.
        at = {tuple(row) for row in np.float32(validation[1])}
        assert any(at <= {tuple(row) for row in np.float32(X)} for X, *_ in Spy.seen)
    # Where logits reveal the group the other way round, the best epoch is the worst.
    assert quality[1.5] > quality[-1.5] + 0.05


def test_validation_rows_of_a_model_are_counted_with_predictions():
    labels, logits, sex = scored_rows(50, 0)
    alone = Contingency.from_labels(labels, sensitive_features=sex)
    for validation, message in (
        ((labels, logits, sex), "validation must be a Contingency of labels and pred"),
        (alone, "labels and predictions; got labels alone"),
    ):
        with pytest.raises(TypeError, match=message):
            LeakageAuditor().fit(scored(labels, logits, sex), validation=validation)
