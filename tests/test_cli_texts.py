"""`--text`: the command reads labels from texts, and its numbers are those of Python."""

import json
import shlex

import numpy as np
import pandas as pd
import pytest
from command_line import refused, report_of

import skbiasamp
from skbiasamp.cli import main
from skbiasamp.text import WordListLabeler

OBJECTS = {"dog": ["dog", "puppy"], "oven": ["oven", "/stove|cooker/"]}
N = 300


def captions(seed):
    """Return captions of people and of two models, and what they mention."""
    rng = np.random.default_rng(seed)
    gender = rng.choice(["female", "male"], N)
    woman = gender == "female"
    truth = {"dog": rng.random(N) < 0.5, "oven": rng.random(N) < 0.2 + 0.3 * woman}
    frame = pd.DataFrame(
        {"gender": gender} | {name: one.astype(int) for name, one in truth.items()}
    )
    models = {"human": 0.0, "old": 0.1, "new": 0.4}
    words = {
        "human": ("a puppy", "near a stove"),
        "old": ("Dogs!", "in ovens"),
        "new": ("a dog", "a cooker"),
    }
    for model, share in models.items():
        oven = np.where(rng.random(N) < share, woman, truth["oven"])
        dog, cook = words[model]
        parts = (np.where(truth["dog"], dog, "a street"), np.where(oven, cook, "at night"))
        frame[model] = [" ".join(both) for both in zip(*parts, strict=True)]
        frame[f"{model} oven"] = oven.astype(int)
    return frame


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    captions(0).to_csv("train.csv", index=False)
    captions(1).to_csv("test.csv", index=False)
    (tmp_path / "objects.json").write_text(json.dumps(OBJECTS))
    return tmp_path


TEXT = ("test.csv", "--labels", "objects.json", "--sensitive", "gender")


def audited(capsys, *arguments):
    return report_of(skbiasamp.results.AuditReport, capsys, "audit", *arguments)


def values(report):
    return {name: one.value for name, one in report.items()}


def both(*columns):
    """Return 0/1 columns of both labels."""
    return pd.concat(columns, axis=1).set_axis(["dog", "oven"], axis=1)


def by_hand(predicted, labels, frame, **training):
    groups = {"sensitive_features": frame["gender"]}
    return values(skbiasamp.audit(labels, predicted, **groups, **training, random_state=0))


@pytest.mark.parametrize("target", [(), ("--target-text", "human")])
def test_training_labels_may_be_texts_too(folder, capsys, target):
    names = ("--text", "old", "--train", "train.csv", *target)
    report = audited(capsys, *TEXT, *names)
    train, frame = captions(0), captions(1)
    trained = {"y_train": both(train["dog"], train["oven"]), "sensitive_train": train["gender"]}
    labels, predicted = (both(frame["dog"], frame[name]) for name in ("oven", "old oven"))
    assert values(report) == by_hand(predicted, labels, frame, **trained)


def test_two_models_are_compared_by_their_texts(folder, capsys):
    names = ("--text", "old=old", "new=new", "--target-text", "human")
    report = report_of(skbiasamp.results.ComparisonReport, capsys, "compare", *TEXT, *names)
    frame = captions(1)
    expected = skbiasamp.compare(
        both(frame["dog"], frame["oven"]),
        {name: both(frame["dog"], frame[f"{name} oven"]) for name in ("old", "new")},
        sensitive_features=frame["gender"],
        random_state=0,
    )
    for name, one in expected.items():
        np.testing.assert_array_equal(report[name].table["value"], one.table["value"])


def test_one_label_is_read_of_an_answer_if_the_target_is_one_column(folder, capsys):
    rng = np.random.default_rng(0)
    said = {
        "interview": "Interview.",
        "reject": "I would reject.",
        "(refusal)": "I cannot help with that.",
        "(no label)": "Interview or reject? Hm.",
    }
    right = rng.choice(["interview", "reject"], N)
    labels = np.where(rng.random(N) < 0.2, rng.choice(list(said), N), right)
    sex = rng.choice(["f", "m"], N)
    answers = pd.DataFrame({"sex": sex, "decision": right, "answer": [said[one] for one in labels]})
    answers.to_csv("test.csv", index=False)
    words = {"interview": ["interview"], "reject": ["reject"]}
    (folder / "words.json").write_text(json.dumps(words))
    names = ("--labels", "words.json", "--text", "answer", "--target", "decision")
    report = audited(capsys, "test.csv", *names, "--sensitive", "sex")
    expected = skbiasamp.audit(right, labels, sensitive_features=sex, random_state=0)
    assert values(report) == values(expected)
    text = next(one.text for one in report.findings if one.topic == "refusals")
    assert text.startswith("Refusals: 0.0 % in the labels;")


def test_an_empty_cell_is_a_text_that_says_nothing(folder, capsys):
    frame = captions(1)
    frame.loc[frame.index[:30], "new"] = ""
    frame.to_csv("test.csv", index=False)
    report = audited(capsys, *TEXT, "--text", "new")
    found = WordListLabeler(OBJECTS).transform(frame["new"])
    assert found.loc[:29, "(no label)"].all()
    text = next(one.text for one in report.findings if one.topic == "texts without a label")
    assert f"{found['(no label)'].mean() * 100:.1f} % in the texts of new" in text
    expected = by_hand(found[["dog", "oven"]], frame[["dog", "oven"]], frame)
    assert values(report) == expected


BAD_TEXTS = [
    ("--target dog --prediction oven --labels objects.json", "has no effect without --text"),
    ("--text new", 'needs --labels: a JSON file with a list of words for each label, such as {"d'),
    ("--text new --labels test.csv", "--labels test.csv cannot be read as JSON"),
    ("--text new --labels list.json", "must hold a list of words for each label, such as"),
    (
        "--text new --labels bad.json",
        "--labels bad.json['dog'] must be a list of words or a regular expression; got 'puppy'",
    ),
    (
        "--text new --labels more.json",
        "There are no true labels to compare with: pass texts of people as --target-text",
    ),
    ("--text new --labels objects.json --prediction old", "--text takes the place of --prediction"),
    (
        "--text new --labels objects.json --target dog 'new oven'",
        "must name the labels in --labels objects.json, 'dog' and 'oven'; got 'dog'",
    ),
    (
        "--text new --labels other.json",
        "other.json has no word that is in any of the 300 texts of column 'new', such as",
    ),
]


def test_what_cannot_be_read_is_one_line(folder, capsys):
    for name, words in {
        "list": ["dog"],
        "bad": {"dog": "puppy", "oven": ["oven"]},
        "more": OBJECTS | {"cat": ["cat"]},
        "other": {"dog": ["Hund"], "oven": ["Herd"]},
    }.items():
        (folder / f"{name}.json").write_text(json.dumps(words))
    for arguments, message in BAD_TEXTS:
        line = refused(
            capsys, "audit", "test.csv", *shlex.split(arguments), "--sensitive", "gender"
        )
        assert message in line
    line = refused(capsys, "compare", *TEXT, "--text", "a=new", "b=new")
    assert "--text b=new: this column is named by --text a=new already" in line


def test_all_options_that_are_lacking_are_named_at_once(folder, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["audit", "test.csv", "--sensitive", "gender"])
    said = "required: --target, --prediction (or --text and --labels); skbiasamp audit --help has"
    assert said in capsys.readouterr().err
