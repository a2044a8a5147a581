"""label_columns: labels of texts in a data frame, as the command reads them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import skbiasamp
from skbiasamp.text import label_columns

WORDS = {"dog": ["dog", "puppy"], "oven": ["oven", "stove"]}
FRAME = pd.DataFrame(
    {
        "sex": ["f", "m", "f", "m"],
        "human": ["a dog", "a dog by the stove", "an oven", "a street"],
        "model": ["puppies", "a dog", "I'm sorry, but I can't help with that.", None],
        "dog": [1, 1, 0, 0],
        "oven": [0, 1, 1, 0],
        "room": ["dog", "oven", "oven", "dog"],
    },
    index=[5, 3, 1, 9],
)


def test_a_column_of_classes_gives_each_text_one_class():
    labelled = label_columns(FRAME.drop(columns=["dog", "oven"]), WORDS, "model", target="room")
    assert labelled.target == ["room"]
    assert labelled.frame["model: label"].tolist() == ["dog", "dog", "(refusal)", "(no label)"]


def test_refusals_may_be_left_out_or_kept():
    for refusals in (True, False):
        target = label_columns(FRAME, WORDS, [], refusals=refusals).target
        assert ("(refusal)" in target) == refusals


def test_the_result_can_be_audited_in_every_library():
    for frame in (FRAME, pl.from_pandas(FRAME)):
        labelled = label_columns(frame, WORDS, "model")
        report = skbiasamp.audit_frame(
            labelled.frame,
            target=labelled.target,
            prediction=labelled.predictions["model"],
            sensitive="sex",
            auditor=[skbiasamp.DirectionalAuditor(interval=None, reference="test")],
        )
        assert report.context["rows"].startswith("4 ")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ({"texts": "modle"}, "texts must name a column; there is no column 'modle': did you mean"),
        ({"frame": pd.concat([FRAME, FRAME], axis=1)}, "frame has more than one column 'model'"),
        ({"frame": FRAME.assign(dog=np.nan)}, "0/1 columns; 'dog' has the value nan"),
        ({"frame": [1, 2]}, "frame must be a data frame; got list"),
        ({"target": "sex"}, "column 'sex' of target has the class 'f' and 'm', and labels has no"),
        ({"texts": "oven"}, "column 'oven' must hold texts; got 0"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        label_columns(**{"frame": FRAME, "labels": WORDS, "texts": "model"} | call)
