"""Auditors of predictability: leakage and DPA."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from skbiasamp._compat import HasMethods, Interval, StrOptions
from skbiasamp._labels import DIRECTIONS, Array, require_task_pred
from skbiasamp._words import rate
from skbiasamp.auditors._base import COMMON_CONSTRAINTS, BaseAuditor
from skbiasamp.contingency import Contingency
from skbiasamp.inference import adjust_p_values
from skbiasamp.metrics._attack import Settings
from skbiasamp.metrics._predictability import (
    Played,
    align,
    own_generator,
    play,
    require_predictions,
    stage,
)
from skbiasamp.results import AuditResult, conclusion, label_index

_CONSTRAINTS: dict[str, list[Any]] = {
    "attacker": [StrOptions({"auto", "exact", "mlp"}), HasMethods(["fit", "predict"])],
    "quality": [
        StrOptions({"accuracy", "balanced_accuracy", "f1", "inverse_rmse", "inverse_log_loss"}),
        callable,
    ],
    "equalize": [StrOptions({"f1", "accuracy"}), None],
    "cv": [Interval(Integral, 2, None, closed="left"), None],
    "n_draws": [Interval(Integral, 1, None, closed="left")],
    "verbose": ["verbose"],
    **COMMON_CONSTRAINTS,
    "interval": [StrOptions({"bootstrap"}), None],
}


class PredictabilityAuditor(BaseAuditor):
    """What leakage and DPA share: attackers, draws, and intervals from both."""

    kind = "attack"
    _scores = True
    _rates = ("quality_data", "quality_model")

    attacker: Any
    quality: Any
    equalize: str | None
    cv: int | None
    n_draws: int
    verbose: int

    @abstractmethod
    def _settings(self) -> Settings:
        """Return how attackers are trained and judged."""

    @abstractmethod
    def _check(self, test: Contingency) -> None:
        """Raise if the audited rows lack what the metric needs."""

    def _require_groups(self, cells: Contingency) -> None:
        """One group is nothing to tell apart, which is said when it is audited."""

    def _play(self, test: Contingency, rng: np.random.Generator) -> Played:
        self._check(test)
        train = align(self.contingency_, test) if self._fitted else None
        settings = self._settings()
        return play(stage(test, train, settings, direction=self.direction, stacklevel=6), rng)

    def _value(self, test: Contingency) -> float:
        return self._play(test, own_generator(self.random_state)).value

    def _result(self, test: Contingency) -> AuditResult:
        rng = own_generator(self.random_state)
        played = self._play(test, rng)
        amplification = played.amplification(played.qualities)
        data, model = (one.mean(axis=0) for one in played.qualities)
        columns: dict[str, Any] = {
            "n": int(test.total) if test.whole else test.total,
            "quality_data": data,
            "quality_model": model,
            "delta": model - data,
            "amplification": amplification.mean(axis=0),
        }
        nothing = np.full(len(played.names), np.nan)
        low = high = p_value = float("nan")
        bounds: Any = (nothing, nothing, nothing, nothing)
        chance = played.arena.chance()
        statistics: dict[str, Any] = {
            "attacker": played.attacker_name,
            "input": "scores" if test.soft("task_pred") else "predictions",
            "chance_data": float(chance.data.mean()),
            "chance_model": float(chance.model.mean()),
        }
        if len(amplification) > 1:
            statistics["between_draw_sd"] = float(amplification.mean(axis=1).std(ddof=1))
        if self.interval is not None:
            redrawn = played.amplification(played.redrawn(self.n_resamples, rng))
            tails = ((1 - self.confidence_level) / 2, (1 + self.confidence_level) / 2)
            values = redrawn.mean(axis=1)
            low, high = (float(end) for end in np.quantile(values, tails))
            p_value = float(_p_values(values))
            statistics["standard_error"] = float(values.std(ddof=1))
            p_values = _p_values(redrawn)
            bounds = (
                *np.quantile(redrawn, tails, axis=0),
                p_values,
                adjust_p_values(p_values, self.adjust),
            )
        columns |= dict(zip(("low", "high", "p_value", "p_adjusted"), bounds, strict=True))
        return AuditResult(
            metric=self.metric,
            direction=self.direction,
            value=played.value,
            low=low,
            high=high,
            confidence_level=None if self.interval is None else self.confidence_level,
            p_value=p_value,
            n_samples=columns["n"],
            table=self._table(played, test, columns),
            params=self.get_params(deep=False),
            statistics=statistics,
        )

    def _compared(self, result: AuditResult, guessed: str, other: str, equalized: str) -> str:
        """Return the conclusion, and how well the attacker guesses on both sides."""
        text = conclusion(result)
        if np.isnan(result.value):
            return text
        data, model = (float(result.table[name].mean()) for name in self._rates)
        other += f" {equalized if self.equalize is not None else 'the true labels'}"
        if self.quality == "accuracy":
            rows = "rows (all groups weighted equally)" * bool(getattr(self, "balanced", False))
            how = f"correctly for {rate(model)} of {rows or 'rows'}, compared with {rate(data)}"
        else:
            name = getattr(self.quality, "__name__", str(self.quality)).replace("_", " ")
            shares = self.quality == "balanced_accuracy"
            form = rate if shares else "{:.4g}".format
            how = f"with a quality ({name}) of {form(model)}, compared with {form(data)}"
        return f"{text} {guessed} {how} {other}."

    def _table(self, played: Played, test: Contingency, columns: dict[str, Any]) -> pd.DataFrame:
        """Return one row a target: a task or an attribute that was told as a whole is "(all)"."""
        names = label_index(played.names)
        binary = self.direction == "A->T" and len(test.tasks) == 1
        told = label_index(test.tasks) if binary else names
        every = ["(all)"] * len(names)
        group, task = (every, told) if self.direction == "A->T" else (told, every)
        return pd.DataFrame({"group": group, "task": task, **columns})


def _p_values(redrawn: Array) -> Array:
    """Return how rarely other samples fall on the other side of 0: two-sided, never 0."""
    rarer = np.minimum((redrawn <= 0).sum(axis=0), (redrawn >= 0).sum(axis=0))
    return np.minimum(2 * (1 + rarer) / (1 + len(redrawn)), 1.0)


class LeakageAuditor(PredictabilityAuditor):
    """Tell how much more a model's predictions tell of the attribute than its labels.

    Leakage [1]_ is how well an attacker tells the protected attribute from labels. What a
    model's predictions leak beyond labels with as many errors, made by chance, it has added:
    also where every task is balanced over groups, and from logits as well as from labels.

    .. versionadded:: 0.1

    Parameters
    ----------
    attacker : {"auto", "exact", "mlp"} or estimator, default="auto"
        Who attacks: any scikit-learn classifier (skorch's included), cloned for every draw and
        fold. "exact" is the best table (`ExactAttacker`); "auto" takes it where each distinct
        input has 20 rows or more on average, and a logistic regression on the indicator columns
        otherwise; "mlp" is `MLPAttacker`.
    quality : {"accuracy", "balanced_accuracy", "f1", "inverse_rmse", "inverse_log_loss"} or \
callable, default="accuracy"
        How well the attribute is told. A callable gets true and told codes (and, where it takes
        it, ``sample_weight``); larger is better, and never negative.
    equalize : {"f1", "accuracy", None}, default="f1"
        In what the labels, perturbed at random, equal the model. None does not perturb them.
    balanced : bool, default=True
        Whether every group counts the same, in learning and in judging.
    fold : bool, default=False
        Fold accuracy at 0.5, as the authors' code did: it hides attackers below chance.
    cv : int or None, default=5
        Folds of the audited rows; None is the closed form of the exact attacker.
    n_draws : int, default=10
        Draws of folds and perturbations that are averaged.
    groups : {"intersection", "marginal", "indicator"}, default="intersection"
        How several columns of `sensitive_features` make groups. Overlapping groups are told by
        an attacker each.
    missing : {"error", "drop", "group"}, default="error"
        What to do where the protected attribute is missing.
    interval : {"bootstrap", None}, default="bootstrap"
        Percentiles over draws in which folds, perturbations and the rows of each fold are all
        drawn anew, or none. Trained attackers stay those of their draw.
    confidence_level : float, default=0.95
        Level of the intervals.
    n_resamples : int, default=999
        Draws of the interval.
    adjust : {"holm", "fdr", None}, default="holm"
        How p-values are adjusted for the number of targets.
    random_state : int, RandomState, Generator or None, default=None
        Where random numbers come from.
    n_jobs : int, default=None
        Jobs that share the training of attackers.
    verbose : int, default=0
        1 shows a progress bar over draws and folds.

    Attributes
    ----------
    groups_, tasks_ : list
        Groups and tasks of the training labels, where `fit` saw any.
    n_samples_fit_ : int or float
        Rows seen by `fit`.
    base_rates_ : DataFrame of shape (n_groups, n_tasks)
        P(t | a) in the training labels.
    contingency_ : Contingency
        The training labels, counted.

    See Also
    --------
    DPAAuditor : Keeps the two directions apart.
    skbiasamp.metrics.leakage_amplification : The formula, and the same as one function.

    Notes
    -----
    `fit` is optional. After it, the attacker on labels learns on the training labels and is
    judged on the audited rows; the one on predictions does so where a contingency with
    predictions was passed to `fit`, and learns on the other folds of the audited rows otherwise.

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
    leakage: +0.2470 [+0.1727, +0.3361], p = 0.002 (400 rows, exact attacker)
    group  task   n  quality_data  quality_model  delta  amplification    low   high p_value
    (all) (all) 400        0.5030         0.7500 0.2470         0.2470 0.1727 0.3361   0.002
    """

    metric = "leakage"
    question = "Do the predictions reveal the group better than equally accurate labels would?"
    headline = 1
    direction = None
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **_CONSTRAINTS,
        "balanced": ["boolean"],
        "fold": ["boolean"],
    }

    def __init__(
        self,
        *,
        attacker: Any = "auto",
        quality: Any = "accuracy",
        equalize: str | None = "f1",
        balanced: bool = True,
        fold: bool = False,
        cv: int | None = 5,
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
        self.attacker = attacker
        self.quality = quality
        self.equalize = equalize
        self.balanced = balanced
        self.fold = fold
        self.cv = cv
        self.n_draws = n_draws
        self.groups = groups
        self.missing = missing
        self.interval = interval
        self.confidence_level = confidence_level
        self.n_resamples = n_resamples
        self.adjust = adjust
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _settings(self) -> Settings:
        return Settings(
            self.attacker,
            self.quality,
            self.equalize,
            self.balanced,
            False,
            self.cv,
            self.n_draws,
            self.fold,
            self.n_jobs,
            self.verbose,
        )

    def _check(self, test: Contingency) -> None:
        require_task_pred(test.has("task_pred"), metric="leakage amplification")

    def _sentence(self, result: AuditResult) -> str:
        seen = result.statistics.get("input", "predictions")
        guessed = f"From the {seen}, an attacker guesses the group"
        return self._compared(result, guessed, "from", "equally accurate random labels")


class DPAAuditor(PredictabilityAuditor):
    """Tell how much better predictions can be told from the other side than labels can.

    Directional predictability amplification [1]_ is the relative change in how well the task is
    told from the attribute (A->T), or the attribute from the task (T->A), when predictions take
    the place of labels. It lies between −1 and 1, and sees amplification in balanced data.

    .. versionadded:: 0.1

    Parameters
    ----------
    direction : {"A->T", "T->A"}, default="A->T"
        Whether the attribute biases the prediction of the task, or the task that of the
        attribute. Predicting a protected attribute is itself questionable.
    attacker : {"auto", "exact", "mlp"} or estimator, default="auto"
        Who attacks: any scikit-learn classifier (skorch's included), cloned for every draw and
        fold; a regressor where what is told is continuous. "exact" is the best table
        (`ExactAttacker`); "auto" takes it where each distinct input has 20 rows or more on
        average, and a logistic (or linear) regression on the indicator columns otherwise; "mlp"
        is `MLPAttacker`.
    quality : {"accuracy", "balanced_accuracy", "f1", "inverse_rmse", "inverse_log_loss"} or \
callable, default="accuracy"
        How well it is told. A callable gets true and told codes (and, where it takes it,
        ``sample_weight``); larger is better, and never negative.
    equalize : {"f1", "accuracy", None}, default="accuracy"
        In what the labels, perturbed at random, equal the predictions. None does not perturb
        them. Numbers get normal noise instead, as large as the model's errors.
    normalize : bool, default=True
        Divide the difference of qualities by their sum.
    cv : int or None, default=5
        Folds of the audited rows; None is the closed form of the exact attacker.
    n_draws : int, default=10
        Draws of folds and perturbations that are averaged.
    groups : {"intersection", "marginal", "indicator"}, default="intersection"
        How several columns of `sensitive_features` make groups. Overlapping groups are told by
        an attacker each.
    missing : {"error", "drop", "group"}, default="error"
        What to do where the protected attribute is missing.
    interval : {"bootstrap", None}, default="bootstrap"
        Percentiles over draws in which folds, perturbations and the rows of each fold are all
        drawn anew, or none. Trained attackers stay those of their draw.
    confidence_level : float, default=0.95
        Level of the intervals.
    n_resamples : int, default=999
        Draws of the interval.
    adjust : {"holm", "fdr", None}, default="holm"
        How p-values are adjusted for the number of targets.
    random_state : int, RandomState, Generator or None, default=None
        Where random numbers come from.
    n_jobs : int, default=None
        Jobs that share the training of attackers.
    verbose : int, default=0
        1 shows a progress bar over draws and folds.

    Attributes
    ----------
    groups_, tasks_ : list
        Groups and tasks of the training labels, where `fit` saw any.
    n_samples_fit_ : int or float
        Rows seen by `fit`.
    base_rates_ : DataFrame of shape (n_groups, n_tasks)
        P(t | a) in the training labels.
    contingency_ : Contingency
        The training labels, counted.

    See Also
    --------
    DirectionalAuditor : Counts co-occurrence, pair by pair.
    skbiasamp.metrics.dpa_amplification : The formula, and the same as one function.

    Notes
    -----
    `fit` is optional. After it, the attacker on labels learns on the training labels and is
    judged on the audited rows; the one on predictions does so where a contingency with
    predictions was passed to `fit`, and learns on the other folds of the audited rows otherwise.

    The tasks of a multilabel target are told by an attacker each; the value is their mean.

    References
    ----------
    .. [1] Tokas, Nair, Kerner. Making bias amplification in balanced datasets directional and
       interpretable. 2024.

    Examples
    --------
    The balanced COMPAS data of the paper, where directional amplification is 0:

    >>> from skbiasamp import DPAAuditor
    >>> race = ["C"] * 1748 + ["AA"] * 1748
    >>> recidivism = ([0] * 874 + [1] * 874) * 2
    >>> predicted = [0] * 1145 + [1] * 603 + [0] * 948 + [1] * 800
    >>> exact = DPAAuditor(cv=None, interval=None)
    >>> round(exact.score(recidivism, predicted, sensitive_features=race), 4)
    0.0898
    """

    metric = "DPA"
    headline = 4
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "direction": [StrOptions(set(DIRECTIONS))],
        **_CONSTRAINTS,
        "normalize": ["boolean"],
    }

    def __init__(
        self,
        direction: str = "A->T",
        *,
        attacker: Any = "auto",
        quality: Any = "accuracy",
        equalize: str | None = "accuracy",
        normalize: bool = True,
        cv: int | None = 5,
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
        self.direction = direction
        self.attacker = attacker
        self.quality = quality
        self.equalize = equalize
        self.normalize = normalize
        self.cv = cv
        self.n_draws = n_draws
        self.groups = groups
        self.missing = missing
        self.interval = interval
        self.confidence_level = confidence_level
        self.n_resamples = n_resamples
        self.adjust = adjust
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _settings(self) -> Settings:
        return Settings(
            self.attacker,
            self.quality,
            self.equalize,
            False,
            self.normalize,
            self.cv,
            self.n_draws,
            False,
            self.n_jobs,
            self.verbose,
        )

    def _check(self, test: Contingency) -> None:
        require_predictions(test, str(self.direction))

    @property
    def question(self) -> str:
        """Question that the metric answers."""
        if self.direction == "T->A":
            return "Does the label reveal the predicted group better than equally accurate groups?"
        return "Does the group reveal the prediction better than equally accurate labels?"

    def _sentence(self, result: AuditResult) -> str:
        if self.direction == "T->A":
            guessed = "Knowing the label, an attacker guesses the predicted group"
            return self._compared(result, guessed, "for", "equally accurate random groups")
        guessed = "Knowing the group, an attacker guesses the prediction"
        return self._compared(result, guessed, "for", "equally accurate random labels")
