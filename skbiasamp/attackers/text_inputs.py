"""Texts as inputs of attackers: words are counted once, and attackers say which they go by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator, TransformerMixin, clone

from skbiasamp._input.checks import Array, Names
from skbiasamp._input.errors import InputError
from skbiasamp.attackers._fitting import weight_name

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

# A word of letters of any language, with apostrophes; or a placeholder such as "<group>".
TOKEN = r"<\w+>|[^\W\d_](?:[^\W\d_]|['’])*"


def default_attacker() -> Pipeline:
    """Return the attacker of texts: TF-IDF of one and two words, and logistic regression."""
    # Who audits no texts does not wait for these.
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    vectorizer = TfidfVectorizer(ngram_range=(1, 2), min_df=2, token_pattern=TOKEN)
    return make_pipeline(vectorizer, LogisticRegression())


def check_attacker(attacker: Any) -> None:
    """Raise if an attacker reads numbers, and no texts."""
    if not hasattr(attacker, "steps") and not isinstance(attacker, str):
        raise InputError(
            "attacker must be a pipeline from texts to probabilities, such as "
            "make_pipeline(TfidfVectorizer(), LogisticRegression()); got {kind}, which is no "
            "Pipeline.",
            kind=type(attacker).__name__,
        )


def counted(attacker: Any, *texts: Array) -> tuple[Any, list[Any]]:
    """Return an attacker and its inputs so that words are counted once, not for every fold.

    What the attacker learns is the same. An attacker that does not begin by counting words gets
    the texts as they are.
    """
    from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
    from sklearn.pipeline import Pipeline

    first: Any = attacker.steps[0][1] if hasattr(attacker, "steps") else None
    if type(first) not in (CountVectorizer, TfidfVectorizer):
        return attacker, list(texts)
    if first.max_features is not None or first.vocabulary is not None:
        return attacker, list(texts)
    params = first.get_params()
    own = {name: value for name, value in params.items() if name in CountVectorizer().get_params()}
    counter = CountVectorizer(**own | {"min_df": 1, "max_df": 1.0})
    try:
        counts = [counter.fit_transform(text) for text in texts]
    except ValueError as error:
        raise _without_words(error) from None
    steps = [("frequent", FrequentWords(min_df=first.min_df, max_df=first.max_df))]
    if isinstance(first, TfidfVectorizer):
        weighs = TfidfTransformer().get_params()
        steps.append(("tfidf", TfidfTransformer(**{name: params[name] for name in weighs})))
    return Pipeline([*steps, *attacker.steps[1:]]), counts


def _without_words(error: ValueError) -> InputError:
    return InputError(
        "The attacker found no words in the texts ({error}). Mask fewer words, or pass an attacker "
        "whose vectorizer keeps rarer ones (min_df=1) and reads these characters (token_pattern).",
        error=str(error),
    )


class FrequentWords(TransformerMixin, BaseEstimator):
    """Keep the columns of word counts that enough rows have, as vectorizers do.

    Parameters
    ----------
    min_df, max_df : int or float
        As those of scikit-learn's `CountVectorizer`.
    """

    def __init__(self, min_df: float = 1, max_df: float = 1.0) -> None:
        self.min_df = min_df
        self.max_df = max_df

    def fit(self, X: Any, y: Any = None) -> FrequentWords:
        """Choose the words that occur often enough."""
        n_rows = X.shape[0]
        least, most = (
            bound if isinstance(bound, int) else bound * n_rows
            for bound in (self.min_df, self.max_df)
        )
        n_texts = np.bincount(X.indices, minlength=X.shape[1])
        self.kept_ = np.flatnonzero((n_texts >= max(least, 1)) & (n_texts <= most))
        if not len(self.kept_):
            raise _without_words(ValueError("no word is in enough of them"))
        return self

    def transform(self, X: Any) -> Any:
        """Return the columns of the chosen words."""
        return X[:, self.kept_]


def words_of(
    attacker: Any, texts: Array, target: Array, names: Names, *, most: int
) -> pd.DataFrame | None:
    """Return the words by which an attacker recognises each class, strongest first.

    `texts` is a text a row, `target` its class. None if the attacker is not linear in words, or if
    there is nothing to recognise.
    """
    attacker = clone(attacker)
    if not hasattr(attacker, "steps") or len(np.unique(target)) < 2:
        return None
    last, options = attacker.steps[-1][1], {}
    if (weight := weight_name(attacker)) is not None:
        # As in the attack, all classes weigh the same.
        count = np.bincount(target, minlength=len(names))
        options[weight] = (1 / np.maximum(count, 1))[target] * count.mean()
    with config_context(enable_metadata_routing=False):
        attacker.fit(texts, target, **options)
    vectorizer = attacker[:-1]
    coef = getattr(last, "coef_", None)
    try:
        words = vectorizer.get_feature_names_out()
    except AttributeError:  # what some transformer makes has no names
        return None
    if coef is None or np.shape(coef)[-1] != len(words):
        return None
    coef = np.vstack([-coef[0], coef[0]]) if len(coef) == 1 else np.asarray(coef)
    counts: Any = vectorizer.transform(texts)
    has = sparse.csr_array(counts).astype(bool).astype(float)
    tables = []
    for weights, c in zip(coef, last.classes_, strict=True):
        top = np.argsort(-weights, kind="stable")[:most]
        top = top[weights[top] > 0]
        own = target == c
        # Whole counts first: a mean may exceed 1 by rounding.
        shares = (
            np.asarray(has[rows][:, top].sum(axis=0)).reshape(-1) / max(rows.sum(), 1)
            for rows in (own, ~own)
        )
        columns = dict(zip(("share", "share_others"), shares, strict=True))
        table = pd.DataFrame({"word": words[top], "weight": weights[top], **columns})
        table.insert(0, "target", pd.Series([names[c]] * len(top), dtype=object))
        tables.append(table)
    return pd.concat(tables, ignore_index=True)
