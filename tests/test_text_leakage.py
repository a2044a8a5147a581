"""Leakage in texts (LIC, DBAC): against scikit-learn by hand, published values, known cases."""

import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skbiasamp import LICAuditor
from skbiasamp.metrics import DBACAuditor, dbac_amplification, lic_amplification

DATA = os.environ.get("SKBIASAMP_DATA", Path(__file__).parents[2] / "shared" / "data")
CAPTIONS = Path(DATA) / "captions_models.csv.gz"
needs_captions = pytest.mark.skipif(
    not CAPTIONS.is_file(), reason="SKBIASAMP_DATA lacks captions_models.csv.gz"
)
THINGS = ["bike", "ball", "phone", "book", "dog", "cup"]
WORDS = ["bike", "cake", "dog"]


def said(lean_data=0.0, lean_model=0.0, n=400, seed=0):
    """Return captions that name a thing, which depends on the group as much as `lean` says."""
    rng = np.random.default_rng(seed)
    group = rng.choice(["f", "m"], n)

    def texts(lean):
        own = np.where(group == "f", "cake", "bike")
        thing = np.where(rng.random(n) < lean, own, rng.choice(WORDS, n))
        who = np.where(group == "f", "woman", "man")
        return [f"a {a} has a {b} today" for a, b in zip(who, thing, strict=True)]

    return {"y_true": texts(lean_data), "y_pred": texts(lean_model), "sensitive_features": group}


@pytest.fixture(scope="module")
def world():
    return said(0.1, 0.8)


@pytest.fixture(scope="module")
def quick():
    return LICAuditor(n_draws=2, n_resamples=199, random_state=0)


def lic_by_hand(texts, group, folds, attacker):
    """Return the mean over groups of the probability of the right group, 0 if it is not predicted.

    Groups weigh the same when attackers learn.
    """
    y = (group == "m").astype(int)
    held = np.zeros(len(y))
    for fold in np.unique(folds):
        test = folds == fold
        model = clone(attacker)
        name = model.steps[-1][0]
        share = np.bincount(y[~test]) / (~test).sum()
        w = 0.5 / share[y[~test]]
        model.fit(texts[~test], y[~test], **{f"{name}__sample_weight": w})
        proba = model.predict_proba(texts[test])
        right = proba.argmax(axis=1) == y[test]
        held[test] = np.where(right, proba.max(axis=1), 0.0)
    return (held[y == 0].mean() + held[y == 1].mean()) / 2


def test_lic_is_what_scikit_learn_gives_on_the_same_folds(world):
    """Every text is distinct, so that its row is in a known fold."""
    texts = np.array([f"{one} {i}x" for i, one in enumerate(world["y_pred"])], dtype=object)
    group = world["sensitive_features"]
    attacker = make_pipeline(TfidfVectorizer(min_df=2), LogisticRegression())
    auditor = LICAuditor(
        attacker=attacker, n_draws=1, interval=None, masker=None, equalize=None, random_state=3
    )
    test = auditor.count_audited(texts, texts, sensitive_features=group)
    done = auditor._run(test, np.random.default_rng(1))
    cells, folds = done.pair.cells, done.trained.folds[0].argmax(axis=0)
    held = done.pair.model.texts[done.pair.model.input_codes]
    of_text = dict(zip(held, folds, strict=True))
    expected = lic_by_hand(texts, group, np.array([of_text[one] for one in texts]), attacker)
    assert done.qualities.model.item() == pytest.approx(expected, abs=1e-4)
    assert cells.total == 400


def test_an_attacker_that_counts_no_words_gets_the_texts(world, quick):
    lengths = FunctionTransformer(lambda texts: np.array([[len(one)] for one in texts]))
    attacker = make_pipeline(lengths, LogisticRegression())
    result = clone(quick).set_params(attacker=attacker, interval=None).audit(**world)
    assert result.words is None
    assert result.table["quality_model"].item() < 0.3


def test_more_of_the_group_in_the_texts_is_more_leakage(world, quick):
    result = quick.audit(**world)
    assert result.low > 0
    assert result.verdict == "reveals more"
    guesses = result.facts.guesses
    assert guesses.chance == pytest.approx(0.25)
    assert guesses.predictions > guesses.labels
    # Without a mask, texts name the group.
    alone = clone(quick).set_params(interval=None)
    shown = clone(alone).set_params(masker=None).audit(**world)
    assert shown.table[["quality_data", "quality_model"]].to_numpy().min() > 0.9
    # Words of the default attacker are a sparse matrix, whose rows len() does not count.
    found = clone(alone).set_params(quality="accuracy").audit(**world)
    assert 0.5 < found.table["quality_data"].item() < found.table["quality_model"].item() <= 1
    # Without a trace of the group they reveal less.
    neutral = [f"a person with a {one}" for one in np.resize(THINGS, 400)]
    other = world | {"y_true": world["y_pred"], "y_pred": neutral}
    less = clone(quick).set_params(equalize=None).audit(**other)
    assert less.high < 0
    assert less.verdict == "reveals less"
    assert less.table["quality_model"].item() == pytest.approx(0.25, abs=0.04)


def test_words_that_the_model_never_uses_become_one_token():
    rng = np.random.default_rng(0)
    group = np.array(["f", "m"] * 100)
    human = [f"a dog in the {'kitchen' if one == 'f' else 'yard'}" for one in group]
    model = [f"a dog with a {one}" for one in rng.choice(THINGS, size=200)]
    how = {"sensitive_features": group, "n_draws": 1, "random_state": 0}
    equalized = lic_amplification(human, model, **how)
    plain = lic_amplification(human, model, equalize=None, **how)
    assert plain < -0.5  # kitchen and yard give the group away
    assert abs(equalized) < 0.05  # of both only the unknown token is left


@needs_captions
def test_lic_m_is_near_the_published_value():
    frame = pd.read_csv(CAPTIONS)
    auditor = LICAuditor(n_draws=1, interval=None, random_state=0)
    result = auditor.audit(frame["att2in"], frame["att2in"], sensitive_features=frame["gender"])
    assert result.table["quality_model"].item() == pytest.approx(0.459, abs=0.01)


@pytest.mark.slow
def test_groups_by_coin_toss_are_not_significant():
    """Texts of equal quality that do not depend on the group: at most 5 % are significant."""
    found = []
    for seed in range(12):
        auditor = LICAuditor(n_draws=2, cv=3, n_resamples=99, random_state=seed)
        found.append(auditor.audit(**said(n=200, seed=seed)).verdict)
    assert sum(one != "no clear effect" for one in found) <= 2


def test_intervals_hold_that_attackers_learn_from_rows_too():
    """Nadeau and Bengio add 5/4 with five folds; simulations ask for half as much again."""
    drawn = np.array([[0.0], [2.0]])
    wider = np.sqrt(1 + 1.5 * 5 / 4)
    np.testing.assert_allclose(LICAuditor()._spread(drawn), [[1 - wider], [1 + wider]])
    np.testing.assert_allclose(LICAuditor(holdout=True)._spread(drawn), drawn)


NEVER = make_pipeline(TfidfVectorizer(min_df=99), LogisticRegression())
NO_TEXT = [
    ({"y_true": [None] + ["a dog"] * 59}, r"y_true has .* in 1 row, at position 0\. Pass ''"),
    ({"y_pred": ["a dog"] * 59 + [3]}, r"y_pred must hold texts; got 3\."),
    ({"y_true": [""] * 60}, r"y_true must hold texts; all of them are empty\."),
    ({"y_true": np.full((60, 2), "a")}, r"y_true must hold one text a row; got 2 columns"),
    ({"y_pred": ["ein Hund läuft"] * 60}, r"y_true and y_pred have no word in common"),
    ({"y_pred": ["man", "women"] * 30}, r"y_pred has no word left .*Mask fewer words"),
    ({"y_pred": None}, r"LIC amplification compares .*: pass y_pred\."),
]
NO_ATTACKER = [
    ({"attacker": LogisticRegression()}, "attacker must be a pipeline from texts"),
    ({"masker": FunctionTransformer(lambda texts: texts[:3])}, "one text for each text"),
    ({"attacker": NEVER}, "found no words in the texts"),
]


@pytest.mark.parametrize(
    ("changed", "params", "message"),
    [(changed, {}, message) for changed, message in NO_TEXT]
    + [({}, params, message) for params, message in NO_ATTACKER],
)
def test_what_cannot_be_attacked_is_named(changed, params, message):
    with pytest.raises(ValueError, match=message):
        LICAuditor(n_draws=1, **params).audit(**said(n=60) | changed)


def test_texts_of_one_group_reveal_nothing():
    with pytest.warns(UndefinedMetricWarning, match="one value only"):
        result = LICAuditor(n_draws=1).audit(**said(n=60) | {"sensitive_features": ["f"] * 60})
    assert (result.value, result.words) == (0, None)


TASKS = {"bike": ["bike", "bicycle"], "cake": ["cake"], "dog": [re.compile(r"dogg?y?\b")]}


def of(direction, **options):
    tasks = {"tasks": TASKS} if direction == "A->T" else {}
    return DBACAuditor(direction, n_draws=2, n_resamples=99, random_state=0, **tasks, **options)


@pytest.fixture(scope="module")
def audits(world):
    return {direction: of(direction).audit(**world) for direction in ("A->T", "T->A")}


@pytest.mark.parametrize("direction", ["A->T", "T->A"])
def test_a_stronger_association_is_amplified_in_both_directions(direction, world, audits):
    result = audits[direction]
    assert result.low > 0
    assert result.verdict == "reveals more"
    back = of(direction).audit(**world | {"y_true": world["y_pred"], "y_pred": world["y_true"]})
    assert back.high < 0


def test_from_task_to_group_it_is_lic_in_another_form(world, audits):
    table = audits["T->A"].table.iloc[0]
    lic = LICAuditor(n_draws=2, interval=None, random_state=0).audit(**world).table.iloc[0]
    assert table["quality_model"] == lic["quality_model"]
    assert table["delta"] == lic["amplification"]
    assert of("T->A", normalize=False).score(**world) == lic["amplification"]
    how = {"tasks": TASKS, "n_draws": 2, "random_state": 0}
    assert dbac_amplification(**world, direction="A->T", **how) == audits["A->T"].value


def test_the_value_is_the_mean_over_tasks_of_the_ratio(world):
    result = of("A->T").set_params(n_draws=1, interval=None).audit(**world)
    table, words = result.table, result.words
    assert table["task"].tolist() == WORDS
    assert set(table["group"]) == {"(all)"}
    ratio = table["delta"] / (table["quality_model"] + table["quality_data"])
    np.testing.assert_allclose(table["amplification"], ratio)
    assert result.value == pytest.approx(ratio.mean())
    # Words of the tasks are hidden from the attacker.
    assert not words["word"].str.contains("bike|cake|dog").any()
    own = words[(words["source"] == "model texts") & (words["target"] == "cake")]
    assert "woman" in own["word"].iloc[0]
    assert set(words["target"]) == set(WORDS)


def test_the_association_alone_is_found_not_how_often_a_task_is_named():
    """The model names cakes more often, whatever the group: nothing is revealed."""
    rng, given = np.random.default_rng(0), said(seed=1)
    given["y_pred"] = [
        text if stays else re.sub("bike|dog", "cake", text)
        for text, stays in zip(given["y_pred"], rng.random(400) < 0.5, strict=True)
    ]
    assert of("A->T").audit(**given).verdict == "no clear effect"


def test_tasks_that_hardly_any_text_names_are_left_out(world):
    given = {name: list(held) for name, held in world.items()}
    given["y_true"][0] = "a man has a kite today"
    auditor = clone(of("A->T")).set_params(tasks=TASKS | {"kite": ["kite"]})
    with pytest.warns(UndefinedMetricWarning, match="'kite'.*left out"):
        result = auditor.audit(**given)
    assert "kite" not in set(result.table["task"])
    auditor = clone(of("A->T")).set_params(tasks={"kite": ["kite"]})
    with pytest.raises(ValueError, match="tasks must be named by 10 texts"):
        auditor.audit(**given)


@pytest.mark.filterwarnings("ignore:Fewer than 10 texts")
def test_models_are_compared_on_the_same_tasks(world):
    never = [text.replace("dog", "tree") for text in world["y_true"]]
    rows = {"sensitive_features": world["sensitive_features"]}
    models = {"world": world["y_pred"], "never a dog": never}
    result = of("A->T").compare(world["y_true"], models, **rows)
    assert set(result.pairs["task"]) == {"bike", "cake"}
    assert result.table["difference_high"].iloc[-1] < 0
