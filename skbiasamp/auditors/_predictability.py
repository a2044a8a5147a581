"""Auditors of predictability: leakage and DPA."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd

from skbiasamp._compat import HasMethods, Interval, StrOptions
from skbiasamp._labels import DIRECTIONS, Array, require_task_pred
from skbiasamp._words import rate
from skbiasamp.contingency import Contingency
from skbiasamp.inference import adjust_p_values
from skbiasamp.metrics._arena import Qualities
from skbiasamp.metrics._attack import Settings
from skbiasamp.metrics._base import COMMON_CONSTRAINTS, BaseAuditor, directions_of
from skbiasamp.metrics._predictability import (
    Played,
    align,
    leakage_of_labels,
    own_generator,
    play,
    require_predictions,
    stage,
)
from skbiasamp.results import AuditResult, conclusion, label_index

_MANY_TASKS = 12  # above this, a report takes fewer draws

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
    columns: ClassVar[dict[str, str]] = {
        "quality_data": "From labels",
        "quality_model": "From the model",
    }

    attacker: Any
    quality: Any
    equalize: str | None
    cv: int | None
    n_draws: int
    verbose: int

    @property
    def percent(self) -> bool:
        """Whether the quality of the attacker is a share of rows."""
        return self.quality in ("accuracy", "balanced_accuracy")

    @abstractmethod
    def _settings(self) -> Settings:
        """Return how attackers are trained and judged."""

    @abstractmethod
    def _check(self, test: Contingency) -> None:
        """Raise if the audited rows lack what the metric needs."""

    def _check_groups(self, cells: Contingency) -> None:
        """One group is nothing to tell apart, which is said when it is audited."""

    def _play(self, test: Contingency, rng: np.random.Generator) -> Played:
        train = align(self.contingency_, test) if self._fitted else None
        settings = self._settings()
        return play(stage(test, train, settings, direction=self.direction, stacklevel=6), rng)

    def _dataset_leakage(
        self, played: Played, test: Contingency, rng: np.random.Generator
    ) -> dict[str, float]:
        """Return how well training labels reveal the group of test rows: leakage only."""
        if self.direction is not None or not self._fitted:
            return {}
        settings = replace(self._settings(), attacker=played.attacker)
        train = align(self.contingency_, test)
        return {"dataset_leakage": leakage_of_labels(test, train, settings, rng)}

    def _value(self, test: Contingency) -> float:
        return self._play(test, own_generator(self.random_state)).value

    def _result(self, test: Contingency) -> AuditResult:
        rng = own_generator(self.random_state)
        played = self._play(test, rng)
        amplification = played.amplification(played.qualities)
        data, model = (one.mean(axis=0) for one in played.qualities[:2])
        total = played.arena.cells.total
        columns: dict[str, Any] = {
            "n": int(total) if test.whole else total,
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
            **played.flips,
        }
        if len(amplification) > 1:
            statistics["between_draw_sd"] = float(amplification.mean(axis=1).std(ddof=1))
        if self.interval is not None:
            qualities = played.redrawn(self.n_resamples, rng)
            redrawn = played.amplification(qualities)
            tails = ((1 - self.confidence_level) / 2, (1 + self.confidence_level) / 2)
            above = np.quantile(above_chance(qualities).mean(axis=1), tails)
            statistics["above_chance_low"], statistics["above_chance_high"] = map(float, above)
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
        statistics |= self._dataset_leakage(played, test, rng)
        columns |= dict(zip(("low", "high", "p_value", "p_adjusted"), bounds, strict=True))
        return self._made(
            test,
            value=played.value,
            low=low,
            high=high,
            p_value=p_value,
            n_samples=columns["n"],
            table=self._table(played, test, columns),
            statistics=statistics,
        )

    def _compared(self, result: AuditResult, guessed: str, other: str, equalized: str) -> str:
        """Return the conclusion, and how well the attacker guesses on both sides."""
        text = conclusion(result)
        if np.isnan(result.value):
            return text
        data, model = (float(result.table[name].mean()) for name in self.columns)
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


def above_chance(qualities: Qualities) -> Array:
    """Return how far attackers on predictions beat the best guess that ignores its input."""
    model, chance = qualities.model, qualities.chance
    # Without any error both are infinite.
    return np.subtract(model, chance, out=np.zeros(model.shape), where=model != chance)


def _p_values(redrawn: Array) -> Array:
    """Return how rarely other samples fall on the other side of 0: two-sided, never 0."""
    rarer = np.minimum((redrawn <= 0).sum(axis=0), (redrawn >= 0).sum(axis=0))
    return np.minimum(2 * (1 + rarer) / (1 + len(redrawn)), 1.0)


class LeakageAuditor(PredictabilityAuditor):
    """Audit leakage amplification: what predictions reveal about the group beyond labels.

    An attacker is a classifier that tries to predict the group from the labels, or from the
    model's predictions [1]_. Labels get random errors first, until they are as good as the model.
    Use leakage if groups and tasks are balanced already, if the group may be predictable from
    many tasks together, or if predictions are scores such as logits.

    .. versionadded:: 0.1

    Parameters
    ----------
    attacker : {"auto", "exact", "mlp"} or estimator, default="auto"
        Classifier that tries to predict the group: any one of scikit-learn (or skorch), cloned
        for every draw and fold. "exact" is the best table of inputs (`ExactAttacker`); "auto"
        takes it if each distinct input has 20 rows or more on average, and a logistic regression
        on the indicator columns otherwise; "mlp" is `MLPAttacker`.
    quality : {"accuracy", "balanced_accuracy", "f1", "inverse_rmse", "inverse_log_loss"} or \
callable, default="accuracy"
        Score of the attacker. A callable gets true and predicted codes (and, if it takes it,
        ``sample_weight``); larger is better, and never negative.
    equalize : {"auto", "f1", "accuracy", None}, default="auto"
        Which score of the perturbed labels equals the model's. "auto" is "accuracy" for one label
        a row, and "f1" for several, as in the paper. None does not perturb labels. F1 of a binary
        label depends on which class is positive (`pos_label`). A model that is worse than random
        labels is compared with random labels, and a warning says so.
    balanced : bool, default=True
        Whether every group has the same weight, in training and judging the attackers.
    fold : bool, default=False
        Fold accuracy at 0.5, as the authors' code did. This hides attackers below chance.
    cv : int or None, default=5
        Number of folds of the audited rows. None is the closed form of the exact attacker, which
        is judged on the rows that it learns from.
    n_draws : int, default=10
        Draws of folds and perturbations that are averaged.
    groups : {"intersection", "marginal", "indicator"}, default="intersection"
        How several columns of `sensitive_features` make groups. For groups that overlap, each has
        its own attacker.
    missing : {"error", "drop", "group"}, default="error"
        How rows with a missing sensitive feature are handled: "error" raises, "drop" leaves them
        out, "group" makes them a group of their own.
    pos_label : class, optional
        Which of two classes is the positive one, and so the task. Probabilities in one column are
        of that class. By default the class that sorts last.
    interval : {"bootstrap", None}, default="bootstrap"
        "bootstrap": percentiles over draws in which folds, perturbations and the rows of each
        fold are all random. Trained attackers are not trained again. None: no interval.
    confidence_level : float, default=0.95
        Level of the intervals.
    n_resamples : int, default=999
        Number of draws for the interval.
    adjust : {"holm", "fdr", None}, default="holm"
        How p-values are adjusted for the number of targets.
    random_state : int, RandomState, Generator or None, default=None
        Seed or generator of the draws.
    n_jobs : int, default=None
        Number of jobs that train attackers.
    verbose : int, default=0
        1 shows a progress bar over draws and folds.

    Attributes
    ----------
    groups_, tasks_ : list
        Groups and tasks of the training labels, if `fit` was called.
    n_samples_fit_ : int or float
        Rows seen by `fit`.
    base_rates_ : DataFrame of shape (n_groups, n_tasks)
        P(t | a) in the training labels.
    contingency_ : Contingency
        The training rows, counted.

    See Also
    --------
    DPAAuditor : The same question for each direction.
    skbiasamp.metrics.leakage_amplification : The formula, and the same as one function.

    Notes
    -----
    `fit` is optional. Both attackers always learn from rows of the same origin. After `fit` with a
    `Contingency` that has training labels and training predictions, both learn from the training
    rows and are judged on the audited rows. Otherwise both are cross-fitted on the audited rows;
    training labels then only give ``statistics["dataset_leakage"]``: the quality of an attacker
    that learns from the training labels and is judged on the audited labels, as in the paper.

    ``statistics`` of a result holds `chance_data` and `chance_model`, the quality of the best
    guess that ignores its input; `above_chance_low` and `above_chance_high`, the interval of the
    quality of the attacker on predictions minus that of the guess; `flip_rate`, the mean rate at
    which labels were perturbed; and `flip_rate_capped`, whether the model is worse than random
    labels for some target. Predictions reveal more than labels only if the value's interval is
    above 0 and `above_chance_low` is above 0 as well.

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
    leakage: +0.2415 [+0.1721, +0.3334], p = 0.002 (400 rows, exact attacker)
    group  task   n  quality_data  quality_model  delta  amplification    low   high p_value
    (all) (all) 400        0.5085         0.7500 0.2415         0.2415 0.1721 0.3334   0.002
    """

    metric = "leakage"
    question = "Do the predictions reveal the group better than equally accurate labels would?"
    headline = 1
    direction = None
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **_CONSTRAINTS,
        "equalize": [StrOptions({"auto", "f1", "accuracy"}), None],
        "balanced": ["boolean"],
        "fold": ["boolean"],
    }

    def __init__(
        self,
        *,
        attacker: Any = "auto",
        quality: Any = "accuracy",
        equalize: str | None = "auto",
        balanced: bool = True,
        fold: bool = False,
        cv: int | None = 5,
        n_draws: int = 10,
        groups: str = "intersection",
        missing: str = "error",
        pos_label: Any = None,
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
        self.pos_label = pos_label
        self.interval = interval
        self.confidence_level = confidence_level
        self.n_resamples = n_resamples
        self.adjust = adjust
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @classmethod
    def _for_report(cls, test: Contingency, *, scores: bool = False) -> list[Self]:
        if scores:
            return [cls()]
        if test.summed is not None or not test.has("task_pred"):
            return []
        # If attackers have to be trained, fewer draws have to do.
        trained = test.soft("task_pred") or len(test.tasks) > _MANY_TASKS
        return [cls(n_draws=2 if trained else 10)]

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
    """Audit directional predictability amplification (DPA).

    A->T: can an attacker that knows the group guess the model's predictions better than equally
    accurate labels? T->A: can an attacker that knows the task guess the predicted group better
    than equally accurate groups? The value is the relative change of the attacker's quality [1]_,
    between −1 and 1. Use it if groups and tasks are balanced in the data, where co-occurrence
    metrics are 0 by construction.

    .. versionadded:: 0.1

    Parameters
    ----------
    direction : {"A->T", "T->A"}, default="A->T"
        "A->T": does the group shift the predicted task? "T->A": does the task shift the predicted
        group? Predicting a sensitive feature is itself questionable.
    attacker : {"auto", "exact", "mlp"} or estimator, default="auto"
        Classifier that predicts the target: any one of scikit-learn (or skorch), cloned for every
        draw and fold; a regressor if the target is continuous. "exact" is the best table of
        inputs (`ExactAttacker`); "auto" takes it if each distinct input has 20 rows or more on
        average, and a logistic (or linear) regression on the indicator columns otherwise; "mlp"
        is `MLPAttacker`.
    quality : {"accuracy", "balanced_accuracy", "f1", "inverse_rmse", "inverse_log_loss"} or \
callable, default="balanced_accuracy"
        Score of the attacker; "accuracy" is the paper's. With "accuracy", predictions that name
        one class more often are easier to guess, whatever the group. With "balanced_accuracy", a
        guess that ignores its input scores 1 / number of classes, and attackers learn with
        equally weighted classes. A callable gets true and predicted codes (and, if it takes it,
        ``sample_weight``); larger is better, and never negative.
    equalize : {"f1", "accuracy", None}, default="accuracy"
        Which score of the perturbed labels equals the predictions'. None does not perturb labels.
        Numbers get normal noise instead, as large as the model's errors. A model that is worse
        than random labels is compared with random labels, and a warning says so.
    normalize : bool, default=True
        Divide the difference of qualities by their sum.
    cv : int or None, default=5
        Number of folds of the audited rows. None is the closed form of the exact attacker, which
        is judged on the rows that it learns from.
    n_draws : int, default=10
        Draws of folds and perturbations that are averaged.
    groups : {"intersection", "marginal", "indicator"}, default="intersection"
        How several columns of `sensitive_features` make groups. For groups that overlap, each has
        its own attacker.
    missing : {"error", "drop", "group"}, default="error"
        How rows with a missing sensitive feature are handled: "error" raises, "drop" leaves them
        out, "group" makes them a group of their own.
    pos_label : class, optional
        Which of two classes is the positive one, and so the task. Probabilities in one column are
        of that class. By default the class that sorts last.
    interval : {"bootstrap", None}, default="bootstrap"
        "bootstrap": percentiles over draws in which folds, perturbations and the rows of each
        fold are all random. Trained attackers are not trained again. None: no interval.
    confidence_level : float, default=0.95
        Level of the intervals.
    n_resamples : int, default=999
        Number of draws for the interval.
    adjust : {"holm", "fdr", None}, default="holm"
        How p-values are adjusted for the number of targets.
    random_state : int, RandomState, Generator or None, default=None
        Seed or generator of the draws.
    n_jobs : int, default=None
        Number of jobs that train attackers.
    verbose : int, default=0
        1 shows a progress bar over draws and folds.

    Attributes
    ----------
    groups_, tasks_ : list
        Groups and tasks of the training labels, if `fit` was called.
    n_samples_fit_ : int or float
        Rows seen by `fit`.
    base_rates_ : DataFrame of shape (n_groups, n_tasks)
        P(t | a) in the training labels.
    contingency_ : Contingency
        The training rows, counted.

    See Also
    --------
    DirectionalAuditor : Amplification of co-occurrence, pair by pair.
    skbiasamp.metrics.dpa_amplification : The formula, and the same as one function.

    Notes
    -----
    `fit` is optional. Both attackers always learn from rows of the same origin. After `fit` with a
    `Contingency` that has training labels and training predictions, both learn from the training
    rows and are judged on the audited rows. Otherwise both are cross-fitted on the audited rows,
    and training labels do not change the value.

    ``statistics`` of a result holds `chance_data` and `chance_model`, the quality of the best
    guess that ignores its input; `above_chance_low` and `above_chance_high`, the interval of the
    quality of the attacker on predictions minus that of the guess; `flip_rate`, the mean rate at
    which labels were perturbed; and `flip_rate_capped`, whether the model is worse than random
    labels for some target. Predictions reveal more than labels only if the value's interval is
    above 0 and `above_chance_low` is above 0 as well.

    Each task of a multilabel target has its own attacker; the value is the mean over tasks.

    References
    ----------
    .. [1] Tokas, Nair, Kerner. Making bias amplification in balanced datasets directional and
       interpretable. 2024.

    Examples
    --------
    The balanced COMPAS data of the paper, where directional amplification is 0, with the paper's
    quality:

    >>> from skbiasamp import DPAAuditor
    >>> race = ["C"] * 1748 + ["AA"] * 1748
    >>> recidivism = ([0] * 874 + [1] * 874) * 2
    >>> predicted = [0] * 1145 + [1] * 603 + [0] * 948 + [1] * 800
    >>> exact = DPAAuditor(quality="accuracy", cv=None, interval=None)
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
        quality: Any = "balanced_accuracy",
        equalize: str | None = "accuracy",
        normalize: bool = True,
        cv: int | None = 5,
        n_draws: int = 10,
        groups: str = "intersection",
        missing: str = "error",
        pos_label: Any = None,
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
        self.pos_label = pos_label
        self.interval = interval
        self.confidence_level = confidence_level
        self.n_resamples = n_resamples
        self.adjust = adjust
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @classmethod
    def _for_report(cls, test: Contingency, *, scores: bool = False) -> list[Self]:
        directions = [] if scores or test.summed is not None else directions_of(test)
        return [cls(direction) for direction in directions]

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
