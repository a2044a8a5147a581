"""Texts: words that name a group masked, and labels read from captions.

The metrics on texts are in ``skbiasamp.metrics``.
"""

from skbiasamp.text._words import WordMasker, gender_words
from skbiasamp.text.labeler import LabelledTexts, WordListLabeler, label_columns

__all__ = ["LabelledTexts", "WordListLabeler", "WordMasker", "gender_words", "label_columns"]
