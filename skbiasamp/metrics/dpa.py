"""Directional predictability amplification (DPA)."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from skbiasamp._input.checks import DIRECTIONS, Array
from skbiasamp._input.options import Option, PositionalOption
from skbiasamp._utils.compat import StrOptions
from skbiasamp.attackers.qualities import divide
from skbiasamp.counts.contingency import Contingency
from skbiasamp.metrics._attack_auditor import AttackAuditor
from skbiasamp.metrics.functions import function_of
from skbiasamp.metrics.inputs import directions_of


class DPAAuditor(AttackAuditor):
    r"""Audit directional predictability amplification (DPA).

    Group → task ("A->T"): can an attacker that knows the group guess the model's predictions
    better than equally accurate labels? Task → group ("T->A"): can an attacker that knows the
    task guess the predicted group better than equally accurate groups? The value is the relative
    change of the attacker's quality [1]_. Use it if groups and tasks are balanced in the data,
    where co-occurrence metrics are 0 by construction.

    .. versionadded:: 0.1

    Parameters
    ----------
    quality : str or callable, default="balanced_accuracy"
        %(quality)s
        The paper uses "accuracy". With it, predictions that name one class more often are easier
        to guess, whatever the group.
    equalize : {"f1", "accuracy", None}, default="accuracy"
        Labels get random errors until this score of theirs equals the predictions'. "f1": F1,
        averaged over classes; for a binary label it depends on `pos_label`. "accuracy": share of
        correct labels. Numbers get normal noise instead, as large as the model's errors.
        %(capped)s
    normalize : bool, default=True
        True divides the difference of qualities by their sum. False does not.
    %(groups)s
        Each of several overlapping groups has its own attacker.
    %(shared)s

    Attributes
    ----------
    %(fitted)s

    See Also
    --------
    DirectionalAuditor : Amplification of co-occurrence, pair by pair.
    skbiasamp.metrics.dpa_amplification : The value as a function.

    Notes
    -----
    .. math::

        DPA = \frac{\Psi_M - \Psi_D}{\Psi_M + \Psi_D}, \quad
        \Psi_M = Q(g(A), \hat T), \quad \Psi_D = Q(f(A), T')

    for A→T; for T→A the attackers predict :math:`\hat A` and :math:`A'` from T. Q is the quality,
    f and g are attackers, and :math:`T'` are the labels with random errors. The value lies in
    [−1, 1]. Each task of a multilabel target has its own attacker; the value is the mean over
    tasks.

    %(statistics of attacks)s

    References
    ----------
    .. [1] Tokas, Nair, Kerner. DPA: a one-stop metric to measure bias amplification in
       classification datasets. NeurIPS 2025. First: Making bias amplification in balanced datasets
       directional and interpretable. 2024.

    Examples
    --------
    The balanced COMPAS data of the paper, where directional amplification is 0, with the paper's
    quality:

    >>> from skbiasamp import DPAAuditor
    >>> from skbiasamp.metrics import dpa_amplification
    >>> race = ["C"] * 1748 + ["AA"] * 1748
    >>> recidivism = ([0] * 874 + [1] * 874) * 2
    >>> predicted = [0] * 1145 + [1] * 603 + [0] * 948 + [1] * 800
    >>> labels = {"y_true": recidivism, "y_pred": predicted, "sensitive_features": race}
    >>> exact = DPAAuditor(quality="accuracy", cv=None)
    >>> round(exact.score(**labels), 4)
    0.0898
    >>> round(dpa_amplification(**labels, quality="accuracy", cv=None), 4)
    0.0898
    """

    metric = "DPA"
    definition = (
        "Directional predictability amplification (DPA; Tokas et al., 2025): how much better "
        "an attacker that knows the group guesses the predicted task (A→T), or that knows the"
        " task guesses the predicted group (T→A), than equally accurate random labels. The "
        "value is the difference of both qualities divided by their sum."
    )
    rank = 4
    direction: str = PositionalOption(StrOptions(set(DIRECTIONS)), default="A->T", kw_only=False)
    normalize: bool = Option(True, "boolean", after="equalize")

    @property
    def question(self) -> str:
        """Question that the metric answers."""
        if self.direction == "T->A":
            return "Does the label reveal the predicted group better than equally accurate groups?"
        return "Does the group reveal the prediction better than equally accurate labels?"

    # ------------------------------------------------------------------ the formula

    def _attacks(self) -> Any:
        if self.direction == "T->A":
            return ("task", "group"), ("task", "group_pred")
        return ("group", "task"), ("group", "task_pred")

    def _amplification(self, data: Array, model: Array) -> Array:
        """Return (Ψ_M − Ψ_D) / (Ψ_M + Ψ_D); 0 if both are 0."""
        if not self.normalize:
            return model - data
        with np.errstate(invalid="ignore"):
            change = divide(model - data, model + data)
        # An attacker without any error has infinite quality: the limits.
        limit = np.isinf(model).astype(float) - np.isinf(data)
        return np.where(np.isinf(model) | np.isinf(data), limit, change)

    @classmethod
    def _for_report(cls, test: Contingency, *, scores: bool = False) -> list[Self]:
        directions = [] if scores or test.summed is not None else directions_of(test)
        return [cls(direction) for direction in directions]


dpa_amplification = function_of(DPAAuditor)
