"""Leakage in captions (LIC): what texts reveal about the group; and attacks on texts in general."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator, TransformerMixin, clone

from skbiasamp._input.checks import Array, Names
from skbiasamp._input.errors import InputError
from skbiasamp._input.labels import Codes, Members, codes_of
from skbiasamp._input.options import Option
from skbiasamp._utils.compat import HasMethods, Interval, StrOptions
from skbiasamp.attackers.attack import QUALITIES, Attack, Inputs
from skbiasamp.attackers.attack_run import AttackRun
from skbiasamp.attackers.fitting import weight_name
from skbiasamp.counts.cells import side_of
from skbiasamp.counts.contingency import Contingency, SideName
from skbiasamp.metrics._attack_auditor import AttackAuditor
from skbiasamp.metrics.functions import function_of
from skbiasamp.text import WordMasker

UNKNOWN = "<unk>"
# A word of letters of any language, with apostrophes; or a placeholder such as "<group>".
_TOKEN = re.compile(r"<\w+>|[^\W\d_](?:[^\W\d_]|['’])*")
_MOST_WORDS, _OF_TASK = 20, 5  # words of each group, and of each of many tasks
SIDES: tuple[SideName, ...] = ("task", "task_pred")


def _vocabulary(texts: Iterable[str]) -> set[str]:
    """Return the words of texts, without placeholders."""
    words = {word for text in texts for word in _TOKEN.findall(text.casefold())}
    return {word for word in words if not word.startswith("<")}


def _known(text: str, known: set[str]) -> str:
    """Return a text with an unknown token in place of every word that is not known."""

    def known_word(match: re.Match[str]) -> str:
        word = match[0]
        return word if word.startswith("<") or word.casefold() in known else UNKNOWN

    return _TOKEN.sub(known_word, text)


def _inputs(texts: list[str], codes: Array) -> Inputs:
    """Return the distinct texts among those with some codes, and which one each class has."""
    used = np.unique(codes)
    of_class = np.zeros(len(texts), dtype=np.intp)
    distinct, of_class[used] = np.unique([texts[i] for i in used], return_inverse=True)
    every_text = distinct.astype(object)
    return Inputs(every_text, of_class, every_text)


class TextAuditor(AttackAuditor):
    """Base of attacks on texts: words are masked, vocabularies equalised, attackers read."""

    reads = "texts"
    baseline = "the human texts"
    columns: ClassVar[dict[str, str]] = {
        "quality_data": "From human texts",
        "quality_model": "From model texts",
    }
    pos_label = None
    attacker: Any = Option("auto", StrOptions({"auto"}), HasMethods(["fit", "predict"]))
    quality: Any = Option("confidence", StrOptions(set(QUALITIES) - {"inverse_rmse"}), callable)
    equalize: str | None = Option("vocabulary", StrOptions({"vocabulary"}), None)
    masker: Any = Option(
        "gender", StrOptions({"gender"}), HasMethods(["fit", "transform"]), None, after="equalize"
    )
    balanced: bool = Option(True, "boolean", after="masker")
    cv: int = Option(5, Interval(Integral, 2, None, closed="left"))
    holdout: bool = Option(False, "boolean", after="cv")

    @property
    def question(self) -> str:
        """Question that the metric answers."""
        revealed = "the group" if self._guessed == "group" else "the tasks that they name"
        return f"Do the model's texts reveal {revealed} better than human texts do?"

    @property
    def _guessed(self) -> str:
        return "group"

    @property
    def _fitted(self) -> bool:
        """Attackers learn from the audited rows: training texts are not used."""
        return False

    def _attacks(self) -> Any:
        return ("task", "group"), ("task_pred", "group")

    def _check(self, test: Contingency) -> None:
        super()._check(test)
        for name, side in zip(("y_true", "y_pred"), SIDES, strict=True):
            side_of_texts = side_of(test, side)
            odd = [name for name in side_of_texts.names if not isinstance(name, str)]
            if side_of_texts.is_matrix or odd:
                text = "{name} must hold one text a row; got {seen!r}."
                raise InputError(text, name=name, seen=odd[0] if odd else "a table")

    # ------------------------------------------------------------------ texts in

    def _equalized(self, test: Contingency) -> None:
        """Return that no label is perturbed: vocabularies are equalised."""

    def _reading(self, test: Contingency) -> tuple[Any, tuple[Inputs, Inputs]]:
        read = self._read(test)
        if not hasattr(self.attacker, "steps") and not isinstance(self.attacker, str):
            raise InputError(
                "attacker must be a pipeline from texts to probabilities, such as "
                "make_pipeline(TfidfVectorizer(), LogisticRegression()); got {kind}, which is no "
                "Pipeline.",
                kind=type(self.attacker).__name__,
            )
        attacker, patterns = counted(self._pipeline, *(inputs.texts for inputs in read))
        data, model = (
            inputs._replace(patterns=counts) for inputs, counts in zip(read, patterns, strict=True)
        )
        return attacker, (data, model)

    @property
    def _pipeline(self) -> Any:
        """The attacker; "auto" is TF-IDF of one and two words, and logistic regression."""
        if not isinstance(self.attacker, str):
            return self.attacker
        # Who audits no texts does not wait for these.
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline

        words = TfidfVectorizer(ngram_range=(1, 2), min_df=2, token_pattern=_TOKEN.pattern)
        return make_pipeline(words, LogisticRegression())

    def _read(self, test: Contingency) -> tuple[Inputs, Inputs]:
        """Return what attackers read in place of the texts of people and of the model."""
        human, model = (side_of(test, name) for name in SIDES)
        masked = self._masked(human.names)
        own, known = (
            _vocabulary(masked[i] for i in set(codes_of(side_of_texts)))
            for side_of_texts in (human, model)
        )
        for name, words in (("y_true", own), ("y_pred", known)):
            if not words:
                raise InputError(
                    "{name} has no word left for an attacker. Mask fewer words, or pass texts "
                    "that have words.",
                    name=name,
                )
        equal = masked
        if self.equalize is not None:
            if own.isdisjoint(known):
                raise InputError(
                    "{y_true} and {y_pred} have no word in common, so equalize='vocabulary' leaves "
                    "nothing of the human texts. Are they in one language? Pass equalize=None."
                )
            equal = [_known(text, known) for text in masked]
        return _inputs(equal, codes_of(human)), _inputs(masked, codes_of(model))

    def _masked(self, texts: Sequence[Any]) -> list[str]:
        if self.masker is None:
            return list(texts)
        masker = WordMasker() if isinstance(self.masker, str) else self.masker
        masked = list(masker.transform(list(texts)))
        if len(masked) != len(texts) or not all(isinstance(text, str) for text in masked):
            raise InputError(
                "masker must return one text for each text; {kind} returned {n} values for {m} "
                "texts.",
                kind=type(masker).__name__,
                n=len(masked),
                m=len(texts),
            )
        return masked

    # ------------------------------------------------------------------ what a result says

    def _spread(self, redrawn: Array) -> Array:
        """Return values of resamples, spread as those of other training rows would be.

        Resamples score attackers that stay as they are. What else varies is that they learn from
        the other folds: the correction of Nadeau and Bengio for K folds, 1 + K / (K - 1). Intervals
        of this variance are 0.88 times as wide as necessary for simulated captions (part texts of
        `benchmarks/evidence/evidence.py`), hence the half more. A single split has far fewer rows
        than the mean over splits, so that its spread is large enough.
        """
        if self.holdout:
            return redrawn
        centre = redrawn.mean(axis=0)
        return centre + (redrawn - centre) * np.sqrt(1 + 1.5 * self.cv / (self.cv - 1))

    def _evidence(
        self, done: AttackRun, test: Contingency, rng: np.random.Generator
    ) -> dict[str, Any]:
        cells, numbers = done.pair.cells, {}
        for name, attack in zip(("data", "model"), done.pair.attacks, strict=True):
            assert attack.texts is not None
            empty = np.array([not _TOKEN.search(text) for text in attack.texts])
            numbers[f"empty_{name}"] = float(cells.weight @ empty[attack.input_codes])
        texts = done.pair.data.texts
        assert texts is not None
        words = [_TOKEN.findall(text) for text in texts]
        n = np.array([[len(own), own.count(UNKNOWN)] for own in words])
        total, unknown = cells.weight @ n[done.pair.data.input_codes]
        numbers["unknown_words"] = float(unknown / total) if total else 0.0
        return {"statistics": numbers, "words": self._words(done.pair.attacks)}

    def _words(self, attacks: Sequence[Attack]) -> pd.DataFrame | None:
        """Return the words by which attackers recognise the classes of each target."""
        tables = []
        for source, attack in zip(("human texts", "model texts"), attacks, strict=True):
            words = _words(self._pipeline, attack)
            if words is None:
                return None
            words.insert(0, "source", source)
            tables.append(words)
        return pd.concat(tables, ignore_index=True)


def _words(attacker: Any, attack: Attack) -> pd.DataFrame | None:
    """Return the words by which attackers recognise the classes of each target."""
    assert attack.texts is not None
    rows = np.repeat(np.arange(attack.cells.n_cells), attack.cells.rows.astype(int))
    texts, target = attack.texts[attack.input_codes[rows]], attack.target
    if isinstance(target, Codes):
        names = side_of(attack.cells, "group").names
        return words_of(attacker, texts, target.codes[rows], names, most=_MOST_WORDS)
    assert isinstance(target, Members)
    tables = []
    for name, has in zip(attack.names, target.matrix.T, strict=True):
        of_task = words_of(attacker, texts, has[rows].astype(int), (None, name), most=_OF_TASK)
        if of_task is None:
            return None
        tables.append(of_task[of_task["target"].notna()])
    return pd.concat(tables, ignore_index=True)


class LICAuditor(TextAuditor):
    r"""Audit leakage in captions (LIC): what a model's texts reveal about the group.

    An attacker reads texts in which words that name the group are masked, and predicts the group.
    It learns from texts that people wrote and from texts of the model [1]_. Use it for captions,
    summaries or answers that have a human counterpart for the same rows.

    .. versionadded:: 0.1

    Parameters
    ----------
    attacker : "auto" or estimator, default="auto"
        Pipeline that reads texts and predicts the group. "auto": `TfidfVectorizer` of one and two
        words (``min_df=2``) and `LogisticRegression`. An estimator: any pipeline of scikit-learn
        whose first step takes texts, cloned for every draw and fold.
    quality : str or callable, default="confidence"
        %(quality)s
        The paper uses "confidence".
    equalize : {"vocabulary", None}, default="vocabulary"
        "vocabulary": words of the human texts that the model never uses become one unknown token,
        as in the paper. None: human texts stay as they are.
    masker : "gender", transformer or None, default="gender"
        What hides the group. "gender": `WordMasker` with English words that name a gender. A
        transformer: a `WordMasker` with words of your own, or anything that returns a text for
        each text. None: texts are masked already.
    cv : int, default=5
        Number of folds of the audited rows: attackers are scored on rows that they did not learn
        from.
    holdout : bool, default=False
        False scores all folds. True scores one fold of each draw: ``cv=10, holdout=True`` are the
        paper's ten splits into 90 % training and 10 % test rows.
    %(shared)s

    Attributes
    ----------
    %(fitted)s

    See Also
    --------
    LeakageAuditor : The same for labels.
    skbiasamp.text.WordMasker : Masks words of lists of your own.
    skbiasamp.metrics.lic_amplification : The value as a function.

    Notes
    -----
    .. math:: LIC = LIC_M - LIC_D, \quad
        LIC = \frac{1}{n} \sum_i \hat s_i(a_i) \, 1[f(x_i) = a_i]

    f is the attacker, and :math:`\hat s_i(a_i)` the probability that it gives to the group of
    row i. A guess that ignores the text reaches 1 / (number of groups)². ``quality_data`` of the
    table is LIC_D, and ``quality_model`` LIC_M.

    **The sign of LIC can depend on the attacker.** For the captioner NIC the paper's table has
    +0.037 with an LSTM, −0.008 with a fine-tuned BERT and +0.019 with a BERT as it was. Compare
    models by the same attacker, and report which one it was.

    ``result.words`` holds the words by which the attacker recognises each group, in human and in
    model texts: their weight in an attacker of all rows, and the share of texts that have them,
    in this group (`share`) and in the others (`share_others`). It is None if the attacker is not
    linear in words.

    Intervals resample rows, and are wider than these resamples, since attackers would differ
    if they had learned from other rows.

    ``statistics`` of a result holds `chance_data` and `chance_model`, the quality of a guess that
    ignores the text; `unknown_words`, the share of human words that the model never uses; and
    `empty_data` and `empty_model`, the number of rows whose text has no word. Training texts are
    not used.

    References
    ----------
    .. [1] Hirota, Nakashima, Garcia. Quantifying societal bias amplification in image captioning.
       CVPR 2022.

    Examples
    --------
    >>> from skbiasamp import LICAuditor
    >>> group = ["f", "m"] * 100
    >>> people = ["a woman with a bike", "a man with a bike"] * 50 + [
    ...     "a woman in a kitchen",
    ...     "a man in a kitchen",
    ... ] * 50
    >>> model = ["a woman in a kitchen", "a man with a bike"] * 100
    >>> auditor = LICAuditor(n_draws=2, random_state=0)
    >>> result = auditor.audit(people, model, sensitive_features=group)
    >>> result.verdict
    'reveals more'
    >>> result.words.query("source == 'model texts'").groupby("target")["word"].first()
    target
    f    <group> in
    m    <group> with
    Name: word, dtype: object
    """

    metric = "LIC"
    definition = (
        "Leakage in captions (LIC; Hirota et al., 2022): how much surer an attacker is of the "
        "right group from the model's texts than from human texts for the same rows, with words "
        "that name the group masked."
    )
    rank = 1

    def _amplification(self, data: Array, model: Array) -> Array:
        """Return LIC_M − LIC_D."""
        return model - data


lic_amplification = function_of(
    LICAuditor, without=("sensitive_pred", "y_train", "sensitive_train")
)


# --------------------------------------------------------------------------- attackers and words


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
