"""Occupations: their share of women, and how near word vectors are to pronouns."""

from __future__ import annotations

from sklearn.utils import Bunch

from skbiasamp.datasets._embedded import description_of, embedded_table


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
    frame = embedded_table("occupations.csv", index_col="occupation")
    return Bunch(frame=frame, DESCR=description_of("occupations"))
