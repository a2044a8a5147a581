"""Directional bias amplification in captions (DBAC)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, Self, cast

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import UndefinedMetricWarning

from skbiasamp._input.checks import DIRECTIONS, Array
from skbiasamp._input.errors import InputError, quote
from skbiasamp._input.labels import Members, codes_of
from skbiasamp._input.options import Option, PositionalOption
from skbiasamp._utils.compat import StrOptions
from skbiasamp._utils.warnings import warn
from skbiasamp.attackers.attack import divide
from skbiasamp.attackers.attack_pair import AttackPair
from skbiasamp.attackers.attack_run import AttackRun
from skbiasamp.counts.cells import side_of
from skbiasamp.counts.contingency import Contingency, SideName
from skbiasamp.counts.parts import of_model
from skbiasamp.metrics.functions import function_of
from skbiasamp.metrics.lic import SIDES, TextAuditor
from skbiasamp.text import WordListLabeler, WordMasker
from skbiasamp.text.labeler import words_and_patterns

TASK = "<task>"
FEW = 10  # rows that have to name a task


class DBACAuditor(TextAuditor):
    r"""Audit directional bias amplification in captions (DBAC).

    Task → group ("T->A"): words that name the group are masked, and an attacker predicts the
    group from the rest. Group → task ("A->T"): words that name the tasks are masked, such as
    objects, and an attacker predicts which of them the text has named. The value is the relative
    change of the attacker's quality from human texts to texts of the model [1]_. Use it to find
    out in which direction captions amplify an association.

    .. versionadded:: 0.1

    Parameters
    ----------
    direction : {"A->T", "T->A"}, default="T->A"
        "T->A" (task → group): does what the texts name reveal the group? "A->T" (group → task):
        does the rest of a text, words for the group included, reveal the task?
    tasks : dict, default=None
        For "A->T": the tasks, and the words that name each, as the labels of `WordListLabeler`.
    attacker : "auto" or estimator, default="auto"
        Pipeline that reads texts. "auto": `TfidfVectorizer` of one and two words (``min_df=2``)
        and `LogisticRegression`. An estimator: any pipeline of scikit-learn whose first step takes
        texts, cloned for every draw, fold and task.
    quality : str or callable, default="confidence"
        %(quality)s
    equalize : {"vocabulary", None}, default="vocabulary"
        "vocabulary": words of the human texts that the model never uses become one unknown token.
        None: human texts stay as they are.
    masker : "gender", transformer or None, default="gender"
        For "T->A", what hides the group. "gender": `WordMasker` with English words that name a
        gender. A transformer: a `WordMasker` with words of your own, or anything that returns a
        text for each text. None: texts are masked already.
    normalize : bool, default=True
        True divides the difference of qualities by their sum. False does not.
    cv : int, default=5
        Number of folds of the audited rows: attackers are scored on rows that they did not learn
        from.
    holdout : bool, default=False
        False scores all folds. True scores one fold of each draw.
    n_draws : int, default=5
        Number of random splits into folds that are averaged.
    %(shared)s

    Attributes
    ----------
    %(fitted)s

    See Also
    --------
    LICAuditor : The difference of qualities for the group, as its paper defines it.
    DPAAuditor : The same form for labels.
    skbiasamp.metrics.dbac_amplification : The value as a function.

    Notes
    -----
    .. math:: DBAC = \frac{\Psi_M - \Psi_D}{\Psi_M + \Psi_D}

    The qualities are those of the attacker on texts of the model and of people. The value lies
    in [−1, 1]. "A->T" has an attacker for each task, and the value is their mean. Tasks are read
    from the texts themselves: on the human side from human texts, on the model's side from its
    own, as DPA predicts the model's predictions. A task that fewer than 10 rows of either side
    name is left out, with a warning.

    **Left out of the published metric**: its reweighting, and its replacement of unknown words by
    similar ones (an embedding). A `WordMasker` with ``substitute=`` maps words as you like.

    ``result.words`` and ``statistics`` are as those of `LICAuditor`. Training texts are not used.

    References
    ----------
    .. [1] Nair, Tokas, Kerner. Measuring directional bias amplification in image captions using
       predictability. 2025.

    Examples
    --------
    >>> from skbiasamp.metrics import DBACAuditor
    >>> group = ["f", "m"] * 100
    >>> people = ["a woman has a bike", "a man has a bike"] * 50 + [
    ...     "a woman has a cake",
    ...     "a man has a cake",
    ... ] * 50
    >>> model = ["a woman has a cake", "a man has a bike"] * 100
    >>> tasks = {"bike": ["bike"], "cake": ["cake"]}
    >>> auditor = DBACAuditor("A->T", tasks=tasks, n_draws=2, random_state=0)
    >>> auditor.audit(people, model, sensitive_features=group).verdict
    'reveals more'
    >>> DBACAuditor("T->A", n_draws=2, random_state=0).audit(
    ...     people, model, sensitive_features=group
    ... ).verdict
    'reveals more'
    """

    metric = "DBAC"
    definition = (
        "Directional bias amplification in captions (DBAC; Nair et al., 2025): how much better an "
        "attacker guesses the group from texts without words for the group (T→A), or the named "
        "tasks from texts without words for the tasks (A→T), if the model wrote the texts in place "
        "of people. The value is the difference of both qualities divided by their sum."
    )
    rank = 3
    direction: str = PositionalOption(StrOptions(set(DIRECTIONS)), default="T->A", kw_only=False)
    tasks: Any = Option(None, dict, None)
    normalize: bool = Option(True, "boolean", after="masker")
    n_draws: int = Option(5)
    _compared = cast("Array | None", None)  # the tasks that all compared models name

    @property
    def about(self) -> str:  # type: ignore[override]
        """What attackers guess."""
        return "the group" if self._guessed == "group" else "the tasks"

    @property
    def _guessed(self) -> str:
        return "group" if self.direction == "T->A" else "task"

    def _requires(self) -> tuple[SideName, ...]:
        return ("task_pred",)

    def _validate_params(self) -> None:
        super()._validate_params()
        if self.direction == "A->T" and not self.tasks:
            raise InputError(
                "tasks must name the words of each task if direction='A->T': "
                "tasks={{'surfboard': ['surfboard', 'surf board']}}."
            )

    def _amplification(self, data: Array, model: Array) -> Array:
        """Return (Ψ_M − Ψ_D) / (Ψ_M + Ψ_D); 0 if both are 0."""
        return divide(model - data, model + data) if self.normalize else model - data

    # ------------------------------------------------------------------ tasks as targets

    def _masked(self, texts: Sequence[Any]) -> list[str]:
        if self.direction == "T->A":
            return super()._masked(texts)
        lists, patterns = words_and_patterns(self.tasks, "tasks")
        masked, words = list(texts), list(dict.fromkeys(chain(*lists.values())))
        if words:
            masked = list(WordMasker(words, TASK).transform(masked))
        for pattern in chain(*patterns.values()):
            masked = [pattern.sub(TASK, text) for text in masked]
        return masked

    def _pair(self, test: Contingency) -> AttackPair:
        pair = super()._pair(test)
        if self.direction == "T->A":
            return pair
        named = self._named(pair.cells)
        kept = self._compared if self._compared is not None else self._kept(pair.cells, [named[1]])
        of_tasks: dict[str, Any] = {"n_classes": 2, "names": tuple([*self.tasks][i] for i in kept)}
        data, model = (
            replace(attack, target=Members(labels[:, kept]), **of_tasks)
            for attack, labels in zip(pair.attacks, named, strict=True)
        )
        return replace(pair, data=data, model=model)

    def _named(self, cells: Contingency) -> list[Array]:
        """Return which tasks the texts of people and of the model name, in every cell."""
        sides = [side_of(cells, name) for name in SIDES]
        labelled = WordListLabeler(self.tasks).transform(list(sides[0].names))
        of_text = labelled[[*self.tasks]].to_numpy(bool)
        return [of_text[codes_of(side)] for side in sides]

    def _kept(self, cells: Contingency, models: list[Array]) -> Array:
        """Return the positions of tasks that enough texts name, and enough do not."""
        human, _ = self._named(cells)
        counts = np.array([cells.rows @ labels for labels in (human, *models)])
        few = ((counts < FEW) | (cells.rows.sum() - counts < FEW)).any(axis=0)
        if few.all():
            raise InputError(
                "tasks must be named by {few} texts of people and of the model, and not by all; no "
                "task is. Check their words.",
                few=FEW,
            )
        if few.any():
            left_out = [name for name, is_rare in zip(self.tasks, few, strict=True) if is_rare]
            warn(
                f"Fewer than {FEW} texts of people or of the model name {quote(left_out)} (or all "
                "do): these tasks are left out.",
                UndefinedMetricWarning,
            )
        return np.flatnonzero(~few)

    def _for_models(self, cells: Contingency) -> Self:
        if self.direction == "T->A":
            return self
        views = [of_model(cells, model) for model in cells.models]
        same = clone(self)
        same._compared = self._kept(views[0], [self._named(view)[1] for view in views])
        return same

    def _names_of_targets(self, done: AttackRun, test: Contingency) -> tuple[str, Any]:
        return self._guessed, done.pair.data.names


dbac_amplification = function_of(
    DBACAuditor, without=("sensitive_pred", "y_train", "sensitive_train")
)
