"""Predictability: leakage, what predictions reveal about the group, and DPA, for each direction."""

from __future__ import annotations

import copy
from dataclasses import replace
from numbers import Real
from typing import Any, Self, cast

import numpy as np

from skbiasamp._input.checks import DIRECTIONS, Array
from skbiasamp._input.errors import InputError, InputTypeError, quote, renaming
from skbiasamp._input.options import Option, PositionalOption
from skbiasamp._utils.compat import StrOptions
from skbiasamp._utils.docstrings import filling
from skbiasamp._utils.warnings import collected
from skbiasamp.attackers.attack import divide
from skbiasamp.attackers.attack_run import AttackRun, make_pair, run_attack
from skbiasamp.counts.cells import side_of, with_sides
from skbiasamp.counts.contingency import Contingency, SideName
from skbiasamp.counts.draws import in_blocks
from skbiasamp.metrics._attack_auditor import AttackAuditor
from skbiasamp.metrics.functions import function_of
from skbiasamp.metrics.inputs import directions_of, rest_by_name
from skbiasamp.results import AuditResult

_MANY_TASKS = 12  # above this, a report takes fewer draws


class LeakageAuditor(AttackAuditor):
    r"""Audit leakage amplification: what predictions reveal about the group beyond labels.

    An attacker is a classifier that tries to predict the group from the labels, or from the
    model's predictions [1]_. Labels get random errors first, until they are as accurate as the
    model. Use leakage if groups and tasks are balanced already, if the group may be predictable
    from many tasks together, or if predictions are scores such as logits.

    .. versionadded:: 0.1

    Parameters
    ----------
    quality : str or callable, default="accuracy"
        %(quality)s
    equalize : {"auto", "f1", "accuracy", None}, default="auto"
        Labels get random errors until this score of theirs equals the predictions'. "auto":
        "accuracy" for one label a row, "f1" for several, as in the paper; None if the model's
        accuracy is unknown, since only an embedding was passed. "f1": F1, averaged over
        tasks; for a binary label it depends on `pos_label`. "accuracy": share of correct labels.
        %(capped)s
    %(groups)s
        Each of several overlapping groups has its own attacker.
    %(shared)s

    Attributes
    ----------
    %(fitted)s

    See Also
    --------
    DPAAuditor : The same question for each direction.
    skbiasamp.metrics.leakage_amplification : The value as a function.

    Notes
    -----
    .. math:: \Delta = Q(f(\hat T), A) - Q(f(T'), A)

    Q is the quality, f an attacker, and :math:`T'` are the labels with random errors. Random errors
    do not depend on the group, but they hide it in part.

    %(statistics of attacks)s

    After `fit`, ``statistics["dataset_leakage"]`` is the quality of an attacker that learns from
    the training labels and is scored on the audited labels, as in the paper.

    References
    ----------
    .. [1] Wang, Zhao, Yatskar, Chang, Ordonez. Balanced datasets are not enough: estimating and
       mitigating gender bias in deep image representations. ICCV 2019.

    Examples
    --------
    >>> from skbiasamp import LeakageAuditor
    >>> sex = ["f"] * 200 + ["m"] * 200
    >>> cooks = ([1] * 100 + [0] * 100) * 2
    >>> predicted = [1] * 150 + [0] * 50 + [1] * 50 + [0] * 150
    >>> auditor = LeakageAuditor(random_state=0)
    >>> auditor.audit(cooks, predicted, sensitive_features=sex)
    leakage: +0.2755 [+0.2211, +0.3299], p = 0.002 (400 rows, exact attacker)
    group  task   n  quality_data  quality_model  delta  amplification    low   high p_value
    (all) (all) 400        0.4745         0.7500 0.2755         0.2755 0.2211 0.3299   0.002

    The same as a function. Three in four of the women are predicted to cook, and one in four of
    the men. From the predictions an attacker guesses the group in 75 % of the rows, and in 50 %
    from the labels:

    >>> from skbiasamp.metrics import leakage_amplification
    >>> round(leakage_amplification(cooks, predicted, sensitive_features=sex, cv=None), 3)
    0.25
    """

    metric = "leakage"
    _of_scores = ("y_score",)
    definition = (
        "Leakage amplification (Wang et al., 2019): how much better an attacker guesses the "
        "group from the predictions than from equally accurate random labels."
    )
    question = "Do the predictions reveal the group better than equally accurate labels would?"
    rank = 1
    quality: Any = Option("accuracy")
    equalize: str | None = Option("auto", StrOptions({"auto", "f1", "accuracy"}), None)
    balanced: bool = Option(True, "boolean", after="equalize")
    fold: bool = Option(False, "boolean", after="balanced")

    _of_epochs = cast("Contingency | None", None)

    @rest_by_name
    def fit(
        self,
        y_train: Any,
        *,
        sensitive_features: Any = None,
        sample_weight: Any = None,
        validation: Contingency | None = None,
        **columns: Any,
    ) -> Self:
        """Learn the training rows, and on which rows networks choose their epoch.

        Parameters
        ----------
        y_train : array-like of shape (n_samples,) or (n_samples, n_tasks), Contingency or frame
            Labels of the training rows. A `Contingency` may hold training predictions too: labels
            or scores such as logits. Both attackers then learn from the training rows.
        validation : Contingency, default=None
            Labels, predictions and groups of validation rows. An `MLPAttacker` with
            `early_stopping` keeps the epoch that is best on them, as in the paper. None: it holds
            out a share of the rows that it learns from.
        sensitive_features, sample_weight, **columns
            As for `DirectionalAuditor.fit`.

        Returns
        -------
        self : object
            The fitted auditor.
        """
        counted = isinstance(validation, Contingency) and validation.has("task")
        if validation is not None and not (counted and validation.has("task_pred")):
            text = "{validation} must be a Contingency of labels and predictions; got {kind}."
            kind = "labels alone" if counted else type(validation).__name__
            raise InputTypeError(text, kind=kind)
        labels = {"sensitive_features": sensitive_features, "sample_weight": sample_weight}
        super().fit(y_train, **labels, **columns)
        self._of_epochs = validation
        return self

    def _validation(self, test: Contingency) -> Contingency | None:
        return None if self._of_epochs is None else self._of_epochs.conform(test)

    @rest_by_name
    @filling
    def audit(
        self, y_true: Any, y_pred: Any = None, *, y_score: Any = None, **labels: Any
    ) -> AuditResult:
        """Measure the audited rows, with a table, confidence intervals and tests.

        Parameters
        ----------
        %(y_true)s
        y_pred : array-like, default=None
            Predicted labels, probabilities, or any scores such as logits.
        y_score : array-like of shape (n_samples,) or (n_samples, n_columns), default=None
            What the attacker sees in place of `y_pred`: scores, logits, or an embedding. Labels
            then become as accurate as `y_pred`. If only an embedding is passed, its accuracy is
            unknown, and ``equalize="auto"`` leaves labels as they are. An array or tensor may have
            more dimensions, such as images or feature maps, if `attacker` is an estimator that
            takes them, such as a skorch network; labels are then attacked as by "auto".
        **labels
            `sensitive_features`, `sensitive_pred`, `sample_weight`, `clusters` and names of
            columns, as for `DirectionalAuditor.audit`.

        Returns
        -------
        result : AuditResult
        """
        return super().audit(y_true, y_pred, y_score=y_score, **labels)

    # ------------------------------------------------------------------ the formula

    def _attacks(self) -> Any:
        return ("task", "group"), ("task_pred", "group")

    def _value(self, test: Contingency) -> float:
        return AttackAuditor._value(self._able(test), test)

    def _result(self, test: Contingency) -> AuditResult:
        return AttackAuditor._result(self._able(test), test)

    def _able(self, test: Contingency) -> Self:
        """Return the auditor that rows allow: an embedding alone has no accuracy to equalize."""
        truth = side_of(test, "task")
        known = not test.has("task_pred") or test.has("task_decision")
        if known or self.equalize is None or side_of(test, "task_pred").names == truth.names:
            return self
        if self.equalize != "auto":
            text = (
                "equalize={equalize!r} makes labels as accurate as predictions, and scores that "
                "are not those of the {n} classes or tasks have no accuracy. Pass predictions as "
                "{y_pred} and the scores as {y_score}, or equalize=None."
            )
            raise InputError(text, equalize=self.equalize, n=len(truth.names))
        return copy.copy(self).set_params(equalize=None)

    def _amplification(self, data: Array, model: Array) -> Array:
        """Return Q(f(T̂), A) − Q(f(T'), A)."""
        return model - data

    def _equalized(self, test: Contingency) -> str | None:
        if self.equalize != "auto":
            return self.equalize
        return "f1" if side_of(test, "task").is_matrix else "accuracy"

    def _validate_params(self) -> None:
        super()._validate_params()
        if self.fold and self.quality != "accuracy":
            raise InputError(
                "{fold=True} replicates the authors' code, which folds accuracy at 0.5; got "
                "quality={quality!r}. Use quality='accuracy' or fold=False.",
                quality=self.quality,
            )

    def _evidence(
        self, done: AttackRun, test: Contingency, rng: np.random.Generator
    ) -> dict[str, Any]:
        training = self._training(test)
        if training is None or done.pair.model is None:
            return {}
        # Attackers that learn from the same rows differ in their seeds only.
        settings = replace(done.pair.settings, attacker=done.attackers[0], equalize=None, n_draws=1)
        with collected():  # the audit has warned about these labels
            labels = _labels_alone(test), _labels_alone(training)
            chosen_on = self._validation(test)
            rows = None if chosen_on is None else _labels_alone(chosen_on)
            pair = make_pair(*labels, settings, ("task", "group"), None, validation=rows)
        quality = run_attack(pair, rng).qualities.data.mean()
        return {"statistics": {"dataset_leakage": float(quality)}}

    @classmethod
    def _for_report(cls, test: Contingency, *, scores: bool) -> list[Self]:
        if scores:
            return [cls()]
        if test.summed is not None or not test.has("task_pred"):
            return []
        # If attackers have to be trained, fewer draws have to do; of many rows they hardly differ.
        trained = test.soft("task_pred") or len(test.tasks) > _MANY_TASKS
        few = 2 if in_blocks(test) else 4
        return [cls(n_draws=few if trained else 10)]


def _labels_alone(cells: Contingency) -> Contingency:
    """Return cells without their predictions."""
    return with_sides(cells, {name: side_of(cells, name) for name in ("group", "task")})


class _DatasetLeakage(LeakageAuditor):
    r"""Audit dataset leakage: how well an attacker predicts the group from the labels.

    With `at`, labels get random errors first. A list gives a curve: what predictions of each
    performance reveal if their errors are random.

    Parameters
    ----------
    quality : str or callable, default="accuracy"
        %(quality)s
    at : float or list of float, default=None
        Performance of the labels after random errors. None: labels as they are. A list: the value
        is an array, one for each.
    equalize : {"auto", "f1", "accuracy"}, default="auto"
        What `at` is. "auto": "accuracy" for one label a row, "f1" for several. "f1": F1, averaged
        over tasks. "accuracy": share of correct labels.
    y_train, sensitive_train : array-like, default=None
        Labels and sensitive feature that the attacker learns from. None: it is cross-fitted on
        the audited rows.
    validation : tuple (y, sensitive_features), default=None
        Labels and sensitive feature of validation rows, weighted as they are. An `MLPAttacker`
        with `early_stopping` keeps the epoch that is best on them. None: it holds out a share of
        its training rows.
    %(shared)s

    Notes
    -----
    .. math:: \lambda_D(a) = Q(f(T'), A)

    Q is the quality, f an attacker, and :math:`T'` are the labels with random errors and the
    performance a. Every label is wrong with the same probability; in closed form (``cv=None``),
    the errors are the expected ones.

    Examples
    --------
    >>> from skbiasamp.metrics import dataset_leakage
    >>> sex = ["f"] * 100 + ["m"] * 100
    >>> cooks = [1] * 70 + [0] * 30 + [1] * 30 + [0] * 70
    >>> round(dataset_leakage(cooks, sensitive_features=sex, random_state=0), 2)
    0.7

    The leakage of labels with 5 % and 25 % errors, in closed form:

    >>> dataset_leakage(cooks, sensitive_features=sex, at=[0.95, 0.75], cv=None).round(2)
    array([0.68, 0.6 ])
    """

    metric = "dataset leakage"
    question = "Do the labels reveal the group?"
    at: Any = Option(None, Real, "array-like", None, after="quality")
    equalize: str = Option("auto", StrOptions({"auto", "f1", "accuracy"}))
    _of_function = ("validation",)
    _chosen_on = cast("Any", None)  # the rows on which attackers choose their epoch

    def _validation(self, test: Contingency) -> Contingency | None:
        if self._chosen_on is None:
            return None
        if not isinstance(self._chosen_on, tuple | list) or len(self._chosen_on) != 2:
            text = "{validation} must be a tuple (y, sensitive_features); got {kind}."
            raise InputError(text, kind=type(self._chosen_on).__name__)
        y, sensitive = self._chosen_on
        names = {"y_true": "y of validation", "sensitive_features": "groups of validation"}
        with renaming(names):
            cells = self._count(y, {"sensitive_features": sensitive}, {})
        sides: tuple[SideName, ...] = ("group", "task")
        for side in sides:
            known = side_of(test, side).names
            new = [name for name in side_of(cells, side).names if name not in known]
            if new:
                raise InputError(
                    "{validation} has {new}, which neither training nor audited rows have: leave "
                    "these rows out.",
                    new=quote(new),
                )
        return cells.conform(test)

    def _attacks(self) -> Any:
        return ("task", "group"), None

    def _value(self, test: Contingency) -> Any:
        if self.at is None or isinstance(self.at, Real):
            return super()._value(test)
        curve = [copy.copy(self).set_params(at=at) for at in np.ravel(self.at).tolist()]
        return np.array([auditor._value(test) for auditor in curve])

    def _validate_params(self) -> None:
        super()._validate_params()
        performances = np.atleast_1d([] if self.at is None else self.at)
        shares = performances.dtype.kind in "fiu" and performances.ndim == 1
        if not shares or not ((performances >= 0) & (performances <= 1)).all():
            raise InputError("{at} must be shares between 0 and 1; got {seen!r}.", seen=self.at)

    def _check(self, test: Contingency) -> None:
        super()._check(test)
        if self.at is not None and test.soft("task"):
            raise InputError("{at} is a performance of labels, and {y_true} holds numbers.")

    def _amplification(self, data: Array, model: Array) -> Array:
        return data


leakage_amplification = function_of(LeakageAuditor, without=("sensitive_pred",))
dataset_leakage = function_of(
    _DatasetLeakage, "dataset_leakage", without=("y_pred", "sensitive_pred")
)


# --------------------------------------------------------------------------- for each direction


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
    estimand = (
        "How much better an attacker guesses {about} than {baseline}, in the population that the "
        "audited rows are a sample of."
    )
    null = (
        "An attacker guesses {about} as well as {baseline}. Errors that are not random reject it, "
        "also if group and task are as associated as in the labels."
    )
    direction: str = PositionalOption(StrOptions(set(DIRECTIONS)), default="A->T", kw_only=False)
    normalize: bool = Option(True, "boolean", after="equalize")

    @property
    def about(self) -> str:  # type: ignore[override]
        """What attackers guess."""
        return "the predicted group" if self.direction == "T->A" else "the predictions"

    @property
    def guessed_from(self) -> str:  # type: ignore[override]
        """What attackers see."""
        return "the task" if self.direction == "T->A" else "the group"

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
    def _for_report(cls, test: Contingency, *, scores: bool) -> list[Self]:
        directions = [] if scores or test.summed is not None else directions_of(test)
        return [cls(direction) for direction in directions]


dpa_amplification = function_of(DPAAuditor)
