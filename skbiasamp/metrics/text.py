"""Leakage in texts: what captions and answers reveal about the group (LIC)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import fields
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from skbiasamp._cells import side_of
from skbiasamp._compat import HasMethods, Interval, StrOptions
from skbiasamp._input import Array, InputError, codes_of
from skbiasamp._words import listed, rate
from skbiasamp.attackers._attack import Attack, Inputs, Settings, Sides
from skbiasamp.attackers._qualities import QUALITIES
from skbiasamp.attackers._run import AttackRun, make_pair, run
from skbiasamp.attackers._texts import TOKEN, check_attacker, counted, default_attacker, words_of
from skbiasamp.contingency import Contingency, SideName
from skbiasamp.metrics._attack import AttackAuditor
from skbiasamp.metrics._functions import function_of
from skbiasamp.results import AuditResult, conclusion
from skbiasamp.text import WordMasker

UNKNOWN = "<unk>"
_TOKEN = re.compile(TOKEN)
_NAMED = 4  # words that a sentence names for each group
SOURCES = ("human texts", "model texts")


_SIDES: tuple[SideName, ...] = ("task", "task_pred")


def _vocabulary(texts: Iterable[str]) -> set[str]:
    """Return the words of texts, without placeholders."""
    words = {word for text in texts for word in _TOKEN.findall(text.casefold())}
    return {word for word in words if not word.startswith("<")}


def _known(text: str, known: set[str]) -> str:
    """Return a text with an unknown token in place of every word that is not known."""

    def one(found: re.Match[str]) -> str:
        word = found[0]
        return word if word.startswith("<") or word.casefold() in known else UNKNOWN

    return _TOKEN.sub(one, text)


def _inputs(texts: list[str], codes: Array) -> Inputs:
    """Return the distinct texts among those with some codes, and which one each class has."""
    used = np.unique(codes)
    of_class = np.zeros(len(texts), dtype=np.intp)
    distinct, of_class[used] = np.unique([texts[i] for i in used], return_inverse=True)
    held = distinct.astype(object)
    return Inputs(held, of_class, held)


class TextAuditor(AttackAuditor):
    """Base of attacks on texts: words are masked, vocabularies equalised, attackers read."""

    reads_texts = True
    baseline = "the human texts"
    columns: ClassVar[dict[str, str]] = {
        "quality_data": "From human texts",
        "quality_model": "From model texts",
    }
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **AttackAuditor._parameter_constraints,
        "attacker": [StrOptions({"auto"}), HasMethods(["fit", "predict"])],
        "quality": [StrOptions(set(QUALITIES) - {"inverse_rmse"}), callable],
        "equalize": [StrOptions({"vocabulary"}), None],
        "masker": [StrOptions({"gender"}), HasMethods(["transform"]), None],
        "cv": [Interval(Integral, 2, None, closed="left")],
        "holdout": ["boolean"],
        "balanced": ["boolean"],
    }
    masker: Any

    @property
    def _fitted(self) -> bool:
        """Attackers learn from the audited rows: training texts are not used."""
        return False

    def _attacks(self) -> Any:
        return ("task", "group"), ("task_pred", "group")

    def _check(self, test: Contingency) -> None:
        super()._check(test)
        for name, side in zip(("y_true", "y_pred"), _SIDES, strict=True):
            held = side_of(test, side)
            odd = [one for one in held.names if not isinstance(one, str)]
            if held.is_matrix or odd:
                raise InputError(
                    "{name} must hold one text a row; got {seen!r}.",
                    name=name,
                    seen=odd[0] if odd else "a table",
                )

    # ------------------------------------------------------------------ texts in

    def _run(self, test: Contingency, rng: np.random.Generator) -> AttackRun:
        test.require_rows(self.metric)
        read = self._read(test)
        attacker = default_attacker() if isinstance(self.attacker, str) else self.attacker
        check_attacker(attacker)
        attacker, patterns = counted(attacker, *(one.texts for one in read))
        data, model = (
            one._replace(patterns=held) for one, held in zip(read, patterns, strict=True)
        )
        own = {one.name: getattr(self, one.name) for one in fields(Settings)}
        settings = Settings(**own | {"equalize": None, "attacker": attacker})
        on_data, on_model = (Sides(*one) for one in self._attacks())
        return run(make_pair(test, None, settings, on_data, on_model, (data, model)), rng)

    def _read(self, test: Contingency) -> tuple[Inputs, Inputs]:
        """Return what attackers read in place of the texts of people and of the model."""
        human, model = (side_of(test, name) for name in _SIDES)
        masked = self._masked(human.names)
        own, known = (_vocabulary(masked[i] for i in set(codes_of(one))) for one in (human, model))
        for name, words in (("y_true", own), ("y_pred", known)):
            if not words:
                raise InputError(
                    "{name} has no word left for an attacker: masker replaced all of them. "
                    "Mask fewer words.",
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
        if len(masked) != len(texts) or not all(isinstance(one, str) for one in masked):
            raise InputError(
                "masker must return one text for each text; {kind} returned {n} values for {m} "
                "texts.",
                kind=type(masker).__name__,
                n=len(masked),
                m=len(texts),
            )
        return masked

    # ------------------------------------------------------------------ what a result says

    def _evidence(self, done: AttackRun) -> dict[str, Any]:
        attacker = default_attacker() if isinstance(self.attacker, str) else self.attacker
        tables = []
        for source, attack in zip(SOURCES, done.pair.attacks, strict=True):
            found = _words(attacker, attack)
            if found is None:
                return {"words": None}
            found.insert(0, "source", source)
            tables.append(found)
        return {"words": pd.concat(tables, ignore_index=True)}

    def _more_statistics(
        self, done: AttackRun, test: Contingency, rng: np.random.Generator
    ) -> dict[str, float]:
        pair = done.pair
        found: dict[str, float] = {}
        for name, attack in zip(("data", "model"), pair.attacks, strict=True):
            assert attack.texts is not None
            empty = np.array([not _TOKEN.search(text) for text in attack.texts])
            found[f"empty_{name}"] = float(pair.cells.weight @ empty[attack.input_codes])
        texts = pair.data.texts
        assert texts is not None
        words = [_TOKEN.findall(text) for text in texts]
        n = np.array([[len(one), one.count(UNKNOWN)] for one in words])
        total, unknown = pair.cells.weight @ n[pair.data.input_codes]
        found["unknown_words"] = float(unknown / total) if total else 0.0
        return found

    def _sentence(self, result: AuditResult) -> str:
        text = conclusion(result)
        if np.isnan(result.value):
            return text
        data, model = (float(result.table[name].mean()) for name in self.columns)
        form = rate if self.percent else "{:.4g}".format
        name = getattr(self.quality, "__name__", str(self.quality)).replace("_", " ")
        what = {
            "confidence": f"its mean probability for the right {self._guessed} is",
            "accuracy": "the share of right guesses is",
        }.get(name, f"its {name} is")
        text += (
            f" An attacker reads the model's texts and guesses the {self._guessed}: {what} "
            f"{form(model)}, compared with {form(data)} from human texts"
        )
        chance = result.statistics["chance_model"]
        text += f" and {form(chance)} by guessing." if self.percent else "."
        return text + _named(result)


def _named(result: AuditResult) -> str:
    """Return the words that point to each group most, of the model's texts."""
    words = result.words
    if words is None or words.empty:
        return ""
    own = words[words["source"] == SOURCES[1]]
    said = []
    for target, table in own.groupby("target", sort=False):
        quoted = [f"'{one}'" for one in table["word"][:_NAMED]]
        said.append(f"{listed(quoted)} for {result.group_name(target)}")
    if not said or len(said) > _NAMED:
        return ""
    return f" Words that it goes by most: {'; '.join(said)}."


def _words(attacker: Any, attack: Attack) -> pd.DataFrame | None:
    """Return the words by which attackers recognise the classes of each target."""
    assert attack.texts is not None
    rows = np.repeat(np.arange(attack.cells.n_cells), attack.cells.rows.astype(int))
    texts = attack.texts[attack.input_codes[rows]]
    group = side_of(attack.cells, "group")
    return words_of(attacker, texts, codes_of(group)[rows], group.names)


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
        paper's ten splits into 90 %% training and 10 %% test rows.
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
    +0.037 with an LSTM, −0.008 with a fine-tuned BERT and +0.019 with a frozen one. Compare models
    by the same attacker, and report which one it was.

    ``result.words`` holds the words by which the attacker recognises each group, in human and in
    model texts: their weight in an attacker of all rows, and the share of texts that have them,
    in this group (`share`) and in the others (`share_others`). It is None if the attacker is not
    linear in words.

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
    question = "Do the model's texts reveal the group better than human texts do?"
    headline = 1
    _guessed = "group"

    def __init__(
        self,
        *,
        attacker: Any = "auto",
        quality: Any = "confidence",
        equalize: str | None = "vocabulary",
        masker: Any = "gender",
        balanced: bool = True,
        cv: int = 5,
        holdout: bool = False,
        n_draws: int = 10,
        groups: str = "intersection",
        missing: str = "error",
        interval: str | None = "bootstrap",
        confidence_level: float = 0.95,
        n_resamples: int = 999,
        adjust: str | None = "holm",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            attacker=attacker,
            quality=quality,
            equalize=equalize,
            cv=cv,
            n_draws=n_draws,
            groups=groups,
            missing=missing,
            interval=interval,
            confidence_level=confidence_level,
            n_resamples=n_resamples,
            adjust=adjust,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.masker = masker
        self.balanced = balanced
        self.holdout = holdout

    def _amplification(self, data: Array, model: Array) -> Array:
        """Return LIC_M − LIC_D."""
        return model - data


lic_amplification = function_of(
    LICAuditor,
    "lic_amplification",
    without=("sensitive_pred", "y_train", "sensitive_train"),
)
