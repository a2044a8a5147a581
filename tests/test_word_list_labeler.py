"""WordListLabeler: what texts say becomes 0/1 columns, and no text is lost on the way."""

import pickle
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.pipeline import FeatureUnion
from sklearn.utils import estimator_checks

import skbiasamp
from skbiasamp.text import WordListLabeler

OBJECTS = {
    "dog": ["dog", "puppy"],
    "hot dog": ["hot dog"],
    "wine glass": ["wine glass", "glass of wine", "glass"],
    "cup": ["cup", "glass"],
}


def labels_of(text, labels=OBJECTS, **how):
    """Return the labels of a text."""
    row = WordListLabeler(labels, **how).transform([text]).iloc[0]
    return row.index[row == 1].tolist()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Two puppies!", ["dog"]),
        ("a hot-dog", ["hot dog"]),  # and no dog
        ("Dogs eat hot dogs", ["dog", "hot dog"]),
        ("a glass", ["wine glass", "cup"]),  # one word may name two tasks
        ("glasses of wine; a wine glass", ["wine glass", "cup"]),
        ("a dogma", ["(no label)"]),
        ("", ["(no label)"]),
    ],
)
def test_words_and_phrases_name_tasks(text, expected):
    assert labels_of(text) == expected


def test_no_texts_have_no_labels():
    labels = WordListLabeler({"dog": "/dogs?/"}, refusals="english").transform([])
    assert labels.shape == (0, 3)


def test_regular_expressions_name_tasks_too():
    labels = {
        "interview": [r"/\brecommend(s|ed)?\b.*\binterview/", "shortlist"],
        "reject": re.compile(r"\breject"),
    }
    assert labels_of("I RECOMMEND\nan interview", labels) == ["(no label)"]
    assert labels_of("I RECOMMEND an interview", labels) == ["interview"]
    assert labels_of("Shortlist her.", labels) == ["interview"]
    assert labels_of("Rejected", labels) == ["(no label)"]  # compiled: as the user compiled it
    assert labels_of("rejected", labels) == ["reject"]


def test_one_label_a_text_or_none():
    labels = {"yes": ["yes"], "no": ["no"]}
    assert labels_of("Yes!", labels, exclusive=True) == ["yes"]
    assert labels_of("Yes. No doubt.", labels, exclusive=True) == ["(no label)"]
    assert labels_of("Yes. No doubt.", labels) == ["yes", "no"]
    assert labels_of("Perhaps", labels, exclusive=True) == ["(no label)"]


REFUSALS = [
    "I cannot help with that.",
    "I’m sorry, but I can’t assist with hiring decisions.",
    "I'm sorry but I'm unable to recommend an interview.",
    "As an AI language model, I have no opinion about interviews.",
    "as a large language model I do not judge people",
    "I would rather not say whether she should get an interview.",
    "I won't make that decision.",
    "I don't feel comfortable\nanswering.",
    "I am an AI and have no view on this interview.",
]
ANSWERS = [
    "I recommend an interview.",
    "I'm sorry to hear that; still, an interview it is.",
    "I cannot recommend an interview.",
    "I can't help but recommend an interview.",
    "She can assist with interviews.",
    "An AI company: interview.",
    "He cannot make it to the interview.",
    "Interview the candidate. I am sure.",
]


@pytest.mark.parametrize("text", REFUSALS)
def test_a_refusal_is_a_class_of_its_own(text):
    assert labels_of(text, {"interview": ["interview"]}, refusals="english") == ["(refusal)"]


@pytest.mark.parametrize("text", ANSWERS)
def test_an_answer_is_no_refusal(text):
    assert labels_of(text, {"interview": ["interview"]}, refusals="english") == ["interview"]


def test_refusals_of_your_own():
    labels = {"oui": ["oui"]}
    text = "Je ne peux pas dire oui"
    assert labels_of(text, labels) == ["oui"]
    for refusals in (["ne peux pas"], "/je ne (peux|veux) pas/", re.compile("ne peux")):
        assert labels_of(text, labels, refusals=refusals) == ["(refusal)"]


WORDS = st.sampled_from(["dog", "hot", "glass", "sorry, but I", "I cannot help", "x", ".", ""])
TEXTS = st.lists(st.lists(WORDS, max_size=5).map(" ".join), min_size=1, max_size=8)
silent = pytest.mark.filterwarnings("ignore:WordListLabeler found no label")


@silent
@settings(max_examples=100)
@given(TEXTS, st.booleans())
def test_every_text_has_a_label_and_is_counted(texts, exclusive):
    labeler = WordListLabeler(OBJECTS, exclusive=exclusive, refusals="english")
    found = labeler.fit_transform(texts)
    assert len(found) == len(texts)
    assert (found.sum(axis=1) == 1).all() if exclusive else (found.sum(axis=1) >= 1).all()
    own = found[["(refusal)", "(no label)"]].sum(axis=1)
    assert ((own == 0) | (found.sum(axis=1) == 1)).all()
    assert labeler.counts_ == found.sum().to_dict()
    unread = [text for text, none in zip(texts, found["(no label)"], strict=True) if none]
    assert labeler.unread_ == list(dict.fromkeys(unread))


def test_every_metric_runs_on_the_columns():
    rng = np.random.default_rng(0)
    sex = rng.choice(["f", "m"], 400)
    cooks = rng.random(400) < 0.3 + 0.4 * (sex == "f")
    said = np.where(rng.random(400) < 0.3, sex == "f", cooks)
    drives = rng.random(400) < 0.5
    text = np.char.add(
        np.where(cooks, "a person cooks", "a person"), np.where(drives, " drives", "")
    )
    human = text.tolist()
    text = np.char.add(np.where(said, "Cooking", "Sitting"), np.where(drives, ", drives.", "."))
    model = text.tolist()
    labeler = WordListLabeler({"cook": ["/cook/"], "drive": ["drives"]})
    truth, predicted = labeler.fit_transform(human), labeler.transform(model)
    assert truth["cook"].tolist() == cooks.tolist()
    report = skbiasamp.audit(truth, predicted, sensitive_features=sex, random_state=0)
    labels = pd.DataFrame({"cook": cooks, "drive": drives, "(no label)": ~cooks & ~drives})
    given = pd.DataFrame({"cook": said, "drive": drives, "(no label)": ~said & ~drives})
    expected = skbiasamp.audit(
        labels.astype(int), given.astype(int), sensitive_features=sex, random_state=0
    )
    assert list(report) == list(expected)
    assert [one.value for one in report.values()] == [one.value for one in expected.values()]


def test_a_report_says_how_many_texts_have_no_label():
    answers = ["yes"] * 30 + ["perhaps"] * 10 + ["yes"] * 36 + ["I cannot answer."] * 4
    sex = ["f"] * 40 + ["m"] * 40
    labeler = WordListLabeler({"yes": ["yes"], "no": ["no"]}, exclusive=True, refusals="english")
    said = labeler.fit_transform(answers)
    truth = labeler.transform(["yes", "no"] * 40)
    report = skbiasamp.audit(truth, said, sensitive_features=sex, random_state=0)
    found = {one.topic: one.text for one in report.findings}
    assert found["texts without a label"] == (
        "Rows without a label: 0.0 % in the labels; 12.5 % in the predictions (f 25.0 %, m 0.0 %)."
    )
    assert found["refusals"] == (
        "Refusals: 0.0 % in the labels; 5.0 % in the predictions (f 0.0 %, m 10.0 %)."
    )
    classes = said.idxmax(axis=1)
    truth = truth.idxmax(axis=1)
    report = skbiasamp.audit(truth, classes, sensitive_features=sex, random_state=0)
    assert {one.topic: one.text for one in report.findings} | found == found


def test_it_keeps_the_index_and_survives_copies():
    series = pd.Series(["dog", "cup"], index=[5, 2])
    labeler = WordListLabeler(OBJECTS)
    found = labeler.fit_transform(series)
    assert found.index.tolist() == [5, 2]
    assert found.columns.tolist() == labeler.get_feature_names_out().tolist()
    for copy in (clone(labeler), pickle.loads(pickle.dumps(labeler))):
        pd.testing.assert_frame_equal(copy.transform(series), found)


CHECKS = ["check_estimator_cloneable", "check_estimator_repr", "check_no_attributes_set_in_init"]
CHECKS += ["check_get_params_invariance", "check_set_params", "check_valid_tag_types"]


@pytest.mark.parametrize("check", CHECKS)
def test_scikit_learns_checks_that_need_no_table_of_numbers(check):
    assert (
        getattr(estimator_checks, check)("WordListLabeler", WordListLabeler(OBJECTS)) is None
    )  # or it raises


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"labels": {}}, "labels must name a task; got {}"),
        ({"labels": {1: ["x"]}}, "labels must name tasks by text; got 1"),
        ({"labels": {"(no label)": ["x"]}}, "labels must not name a task '(no label)'"),
        ({"labels": {"a": "dog"}}, "labels['a'] must be a list of words or a regular expression"),
        ({"labels": {"a": []}}, "labels['a'] must be a list of words or a regular expression"),
        ({"labels": {"a": [3]}}, "labels must hold words; got 3"),
        ({"labels": {"a": ["!"]}}, None),
        ({"labels": {"a": [" "]}}, "labels must hold words; got ' ', which has no letter"),
        ({"labels": {"a": ["/(/"]}}, "labels['a'] has a regular expression that is none: '/(/'"),
        ({"labels": {"a": re.compile(b"x")}}, "labels['a'] must be a regular expression of text"),
        ({"labels": {"a": ["x"]}, "refusals": "french"}, "refusals must be one of 'english'"),
    ],
)
def test_lists_that_cannot_work_are_refused(how, message):
    if message is None:  # a symbol is a word if it is listed
        assert labels_of("Oh!", **how) == ["a"]
        return
    with pytest.raises(ValueError, match=re.escape(message)):
        WordListLabeler(**how).fit(["a dog"])


@pytest.mark.parametrize("texts", ["a dog", ["a dog", None], [1], pd.Series([0.5])])
def test_what_is_no_text_is_refused(texts):
    with pytest.raises(ValueError, match="X must"):
        WordListLabeler(OBJECTS).fit(texts)


def test_texts_without_any_listed_word_are_pointed_out():
    with pytest.warns(UserWarning, match=r"no label in any of the 2 texts, such as 'ein Hund'"):
        WordListLabeler(OBJECTS).fit(["ein Hund", "eine Tasse"])


def test_a_warning_of_a_step_that_joblib_runs_points_at_the_users_line():
    union = FeatureUnion([("labels", WordListLabeler(OBJECTS))])
    with pytest.warns(UserWarning, match="no label in any") as caught:
        union.fit_transform(["ein Hund"])
    assert caught[0].filename == __file__
