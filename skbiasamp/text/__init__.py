"""Texts: words that name a group masked, labels read from captions, and answers to questions.

The metrics on texts are in ``skbiasamp.metrics``.
"""

from skbiasamp.text._columns import LabelledTexts, label_columns
from skbiasamp.text._gender import gender_words
from skbiasamp.text._masker import WordMasker
from skbiasamp.text.answers import read_answers
from skbiasamp.text.bias_scores import answer_scores
from skbiasamp.text.labeler import WordListLabeler
from skbiasamp.text.word_lists import word_list_bias

__all__ = [
    "LabelledTexts",
    "WordListLabeler",
    "WordMasker",
    "answer_scores",
    "gender_words",
    "label_columns",
    "read_answers",
    "word_list_bias",
]
