"""Texts: words that name a group masked, and labels read from captions.

The metrics on texts are in ``skbiasamp.metrics``.
"""

from skbiasamp.text._columns import LabelledTexts, label_columns
from skbiasamp.text._gender import gender_words
from skbiasamp.text._masker import WordMasker
from skbiasamp.text.labeler import WordListLabeler

__all__ = [
    "LabelledTexts",
    "WordListLabeler",
    "WordMasker",
    "gender_words",
    "label_columns",
]
