"""WordMasker: listed words are gone; WordListLabeler: no text is lost on the way to its labels."""

import pickle
import re
import unicodedata

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.utils import estimator_checks

from skbiasamp.text import WordListLabeler, WordMasker, gender_words

MASK = "<group>"
OBJECTS = {
    "dog": ["dog", "puppy"],
    "hot dog": ["hot dog"],
    "wine glass": ["wine glass", "glass of wine", "glass"],
    "cup": ["cup", "glass"],
}


def masked(text, words=None, **how):
    (one,) = WordMasker(words, **how).transform([text])
    return one


def test_gender_words_are_found_whatever_is_around_them():
    for text, expected in (
        ("A man and his dog.", "A # and # dog."),
        ("WOMEN'S shoes; the women’s shoes", "#'S shoes; the #’s shoes"),
        ("girls' night, she'll, he’d", "#' night, #'ll, #’d"),
        ("the human is a German manager in Manchester", None),
        ("heat, there, this, hiss, herb, mankind", None),
        ("(man)man_man-made/man\tman\nman", "(#)#_#-made/#\t#\n#"),
        ("Yes, ma'am! ma’am", "Yes, #! #"),
        ("her sister-in-law, his sister in law", "# #, # #"),
        ("my fiance\u0301e and my fiancée", "my # and my #"),
        ("a wo\u00adman", "a #"),
        ("", None),
        ("  \n", None),
        ("Frau Müller ist 3 m groß", None),
        ("\u2764\ufe0fman \u0301woman", "\u2764\ufe0f# \u0301#"),  # accents of no letter
        ("man\u0323\u0302 ma\u0301n", None),
    ):
        assert masked(text) == (text if expected is None else expected.replace("#", MASK))


def test_words_of_your_own():
    for words, text, expected in (
        (["surgeon"], "Surgeons, a surgeon's", "#, a #'s"),
        (["lady"], "ladies ladys", "# #"),
        (["wife"], "wives", "#"),
        (["salesperson"], "salespeople", "#"),
        (["grandchild", "box", "hero"], "grandchildren boxes heroes", "# # #"),
        (["i", "us", "mr"], "is uses mrs", None),
        (["straße"], "STRASSE Straße", "# #"),
        (["él"], "el niño y e\u0301l", "el niño y #"),
        (["ΣΊΣΥΦΟΣ"], "σίσυφος", "#"),
        (["संस्कृति"], "संस्कृति संस्कृ", "# संस्कृ"),
        (["wine glass"], "wine glasses wine_glass wine  glass wine. glass", "# # # wine. glass"),
        (["new york", "new york city"], "New York City, new york", "#, #"),
        (["s/he", "he"], "S/he said he", "# said #"),
        (["👩"], "a 👩 and a 👨, 👩s", "a # and a 👨, #s"),
        (["4x4"], "a 4x4 and 4x40", "a # and 4x40"),
        (["c++"], "c++ and c", "# and c"),
    ):
        assert masked(text, words) == (expected or text).replace("#", MASK)


def test_plurals_placeholders_and_substitutes_can_be_chosen():
    text = "a surgeon, two surgeons"
    assert masked(text, ["surgeon"], plurals=False) == f"a {MASK}, two surgeons"
    lists = {"gender": ["woman"], "job": ["nurse"]}
    text = "The woman is a nurse."
    assert masked(text, lists) == f"The {MASK} is a {MASK}."
    names = {"gender": "[G]", "job": "[J]"}
    assert masked(text, lists, placeholder=names) == "The [G] is a [J]."
    # A substitute gets the word as it is in the text.
    assert masked("A Man, a man", substitute=str.upper) == "A MAN, a MAN"
    with pytest.raises(ValueError, match=r"substitute must return text; got None for 'Man'"):
        masked("A Man", substitute=lambda word: None)


def test_it_counts_what_it_replaces():
    texts = ["A man and a MAN.", "Women", "a dog", "the man's sister-in-law"]
    masker = WordMasker().fit(texts)
    assert masker.counts_ == {"man": 3, "women": 1, "sister in law": 1}
    assert next(iter(masker.counts_)) == "man"
    assert masker.n_masked_ == 3
    assert WordMasker().fit(["a dog"]).counts_ == {}


def test_both_genders_are_listed_alike():
    female, male = set(gender_words("female")), set(gender_words("male"))
    assert not female & male
    assert gender_words() == sorted(female | male)
    # What is made from one list as a plural is not a word of the other.
    assert masked(" ".join(female), sorted(male)) == " ".join(female)
    assert masked(" ".join(male), sorted(female)) == " ".join(male)
    # As in the code of Hirota et al., less "pregnant", which names no group.
    published = """man men male father gentleman gentlemen boy boys uncle husband actor prince
    waiter son he his him himself brother brothers guy guys emperor emperors dude dudes cowboy
    woman women female lady ladies mother girl girls aunt wife actress princess waitress daughter
    she her hers herself sister sisters queen queens"""
    assert set(published.split()) <= set(gender_words())


LETTERS = st.characters(codec="utf-8", categories=("L", "M", "N"))
WORDS = st.text(LETTERS, min_size=1, max_size=6).filter(lambda w: any(c.isalnum() for c in w))
PHRASES = st.lists(WORDS, min_size=1, max_size=3).map(" ".join)
LISTS = st.lists(
    st.one_of(st.sampled_from(["man", "wine glass", "ma'am", "é", "ß"]), PHRASES), min_size=1
)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=40)


@st.composite
def lists_and_texts(draw):
    words = draw(LISTS)
    parts = st.one_of(TEXTS, st.sampled_from(words), st.sampled_from([" ", "-", "'", "."]))
    cased = st.one_of(
        parts, parts.map(str.upper), parts.map(lambda p: unicodedata.normalize("NFD", p))
    )
    return words, "".join(draw(st.lists(cased, max_size=8)))


@pytest.mark.filterwarnings("ignore:WordMasker replaced every word")
@settings(max_examples=40)
@given(lists_and_texts())
def test_no_listed_word_is_left_and_all_others_stay_as_they_are(case):
    words, text = case
    text = text.replace("\x00", "")
    masker = WordMasker(words, placeholder="\x00")
    (once,) = masker.fit_transform([text])
    kept = once.split("\x00")
    # What is left, in its order, with a listed word in each place between.
    assert re.fullmatch("(?s)" + "(.+?)".join(map(re.escape, kept)), text)
    assert len(kept) - 1 == sum(masker.counts_.values())
    assert (masker.n_masked_ == 0) == (once == text)
    masker = WordMasker(words, placeholder="<§>")
    (once,) = masker.transform([text])
    assert masker.fit_transform([once]) == [once]
    assert masker.counts_ == {}


# The others make tables of numbers, and scikit-learn skips all of them for texts.
@pytest.mark.parametrize("made", [WordMasker(), WordListLabeler(OBJECTS)])
def test_scikit_learns_checks_that_need_no_table_of_numbers(made):
    checks = "estimator_cloneable estimator_tags_renamed estimator_repr valid_tag_types"
    checks += " no_attributes_set_in_init get_params_invariance set_params"
    for check in checks.split():
        getattr(estimator_checks, f"check_{check}")(type(made).__name__, made)
    if isinstance(made, WordMasker):  # the other one has no default
        estimator_checks.check_parameters_default_constructible("WordMasker", made)


def test_the_container_is_kept():
    texts = ["a man", "a dog"]
    expected = [f"a {MASK}", "a dog"]
    series = pd.Series(texts, index=[7, 3], name="caption")
    out = WordMasker().transform(series)
    assert out.index.tolist() == [7, 3]
    assert out.name == "caption"
    assert out.tolist() == expected
    assert isinstance(WordMasker().fit_transform(np.array(texts)), np.ndarray)
    for other in (tuple(texts), pl.Series(texts), pd.DataFrame({"caption": texts})):
        assert list(WordMasker().transform(other)) == expected
    assert WordMasker().transform([]) == []
    labeler = WordListLabeler(OBJECTS)
    found = labeler.fit_transform(series)
    assert found.index.tolist() == [7, 3]
    assert found.columns.tolist() == labeler.get_feature_names_out().tolist()
    for copy in (clone(labeler), pickle.loads(pickle.dumps(labeler))):
        pd.testing.assert_frame_equal(copy.transform(series), found)


def test_what_is_no_text_and_lists_that_cannot_work_are_refused():
    for method in (WordMasker().transform, WordListLabeler(OBJECTS).fit):
        with pytest.raises(ValueError, match="X must hold texts; got None at position 1"):
            method(["a man", None])
    for made, said in (
        (WordMasker({"a": ["x"], "b": ["X"]}), "must name a word once; 'X' is in 'a' and in 'b'"),
        (WordMasker(["--"]), "words must hold words; got '--', which has no letter"),
        (WordMasker(placeholder="<man>"), "placeholder must hold no listed word; got '<man>'"),
        (WordMasker(placeholder={"a": "x"}), "placeholder must have the names of words"),
        (WordListLabeler({"(no label)": ["x"]}), "labels must not name a task '\\(no label\\)'"),
        (WordListLabeler({"a": ["/(/"]}), "has a regular expression that is none"),
        (WordListLabeler({"a": re.compile(b"x")}), "must be a regular expression of text"),
    ):
        with pytest.raises(ValueError, match=said):
            made.fit(["a dog"])


def labels_of(text, labels=OBJECTS, **how):
    """Return the labels of a text."""
    row = WordListLabeler(labels, **how).transform([text]).iloc[0]
    return row.index[row == 1].tolist()


def test_words_and_phrases_name_tasks():
    for text, expected in (
        ("Two puppies!", ["dog"]),
        ("a hot-dog", ["hot dog"]),  # and no dog
        ("Dogs eat hot dogs", ["dog", "hot dog"]),
        ("a glass", ["wine glass", "cup"]),  # one word may name two tasks
        ("glasses of wine; a wine glass", ["wine glass", "cup"]),
        ("a dogma", ["(no label)"]),
        ("", ["(no label)"]),
    ):
        assert labels_of(text) == expected
    assert labels_of("Oh!", {"a": ["!"]}) == ["a"]  # a symbol is a word if it is listed
    labels = WordListLabeler({"dog": "/dogs?/"}, refusals="english").transform([])
    assert labels.shape == (0, 3)
    one = {"labels": {"yes": ["yes"], "no": ["no"]}, "exclusive": True}
    assert labels_of("Yes!", **one) == ["yes"]
    assert labels_of("Yes. No doubt.", **one) == labels_of("Perhaps", **one) == ["(no label)"]
    assert labels_of("Yes. No doubt.", **one | {"exclusive": False}) == ["yes", "no"]


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


def test_a_refusal_is_a_class_of_its_own_and_an_answer_is_none():
    labels = {"interview": ["interview"]}
    for texts, expected in ((REFUSALS, "(refusal)"), (ANSWERS, "interview")):
        for text in texts:
            assert labels_of(text, labels, refusals="english") == [expected], text
    labels, text = {"oui": ["oui"]}, "Je ne peux pas dire oui"
    assert labels_of(text, labels) == ["oui"]
    for own in (["ne peux pas"], "/je ne (peux|veux) pas/", re.compile("ne peux")):
        assert labels_of(text, labels, refusals=own) == ["(refusal)"]


SPOKEN = st.sampled_from(["dog", "hot", "glass", "sorry, but I", "I cannot help", "x", ".", ""])
ANSWERED = st.lists(st.lists(SPOKEN, max_size=5).map(" ".join), min_size=1, max_size=8)


@pytest.mark.filterwarnings("ignore:WordListLabeler found no label")
@settings(max_examples=100)
@given(ANSWERED, st.booleans())
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
