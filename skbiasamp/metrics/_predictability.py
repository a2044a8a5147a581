"""Leakage and directional predictability amplification (DPA)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from skbiasamp._cells import ordered, side_of
from skbiasamp._labels import (
    DIRECTIONS,
    Array,
    Names,
    check_option,
    quote,
    require_group_pred,
    require_task_pred,
)
from skbiasamp._merging import renamed_onto
from skbiasamp._sums import generator
from skbiasamp._warnings import UncertaintyWarning
from skbiasamp.attackers._exact import ExactAttacker
from skbiasamp.attackers._fitting import MIN_ROWS_PER_INPUT, NAMES, choose, describe
from skbiasamp.contingency import Contingency, SideName, is_contingency
from skbiasamp.metrics._arena import Arena, Campaign, Qualities
from skbiasamp.metrics._attack import (
    MOST_BITS,
    Attack,
    Settings,
    expanded,
    labels_alone,
    make_attack,
)
from skbiasamp.metrics._base import read_train
from skbiasamp.metrics._quality import EQUALIZERS, QUALITIES, relative_change


def check_settings(settings: Settings) -> None:
    """Raise if a setting is none of its values, or two do not go together."""
    if isinstance(settings.attacker, str):
        check_option("attacker", settings.attacker, NAMES)
    if not callable(settings.quality):
        check_option("quality", settings.quality, QUALITIES)
    for name, least in (("cv", 2), ("n_draws", 1)):
        value = getattr(settings, name)
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
        if (value is not None or name != "cv") and not (whole and value >= least):
            raise ValueError(
                f"{name} must be a whole number from {least}"
                f"{' (or None: the closed form)' * (name == 'cv')}. Got {value!r} instead."
            )
    if settings.fold and settings.quality != "accuracy":
        raise ValueError(
            "fold=True folds accuracy at 0.5, as the authors' code of leakage did, and means "
            f"nothing for quality={settings.quality!r}."
        )


def stage(
    test: Contingency,
    train: Contingency | None,
    settings: Settings,
    *,
    direction: str | None,
    stacklevel: int = 3,
) -> Arena:
    """Return the attacks of leakage (no direction) or DPA.

    Both attackers learn from the training rows if these have predictions, and are cross-fitted on
    the test rows otherwise. Without predictions leakage is that of the labels alone, learnt from
    the training labels if there are any. `stacklevel` says who is warned: by default who called
    the function that calls this one.
    """
    check_settings(settings)
    equalizers = ("auto", *EQUALIZERS) if direction is None else EQUALIZERS
    check_option("equalize", settings.equalize, equalizers)
    for cells in (test,) if train is None else (test, train):
        cells.require_rows("Leakage" if direction is None else "DPA")
    predicted: SideName = "group_pred" if direction == "T->A" else "task_pred"
    leakage = direction is None
    if train is not None and test.has(predicted) and not same_form(train, test, predicted):
        train = None
    # What is drawn depends on the order of cells: it must not depend on that of rows.
    test, train = ordered(test), None if train is None else ordered(train)
    if settings.equalize == "auto":
        one_label = not side_of(test, "task").is_matrix or len(test.tasks) == 1
        settings = replace(settings, equalize="accuracy" if one_label else "f1")
    numbers = settings.quality == "inverse_rmse"
    told: SideName = "task" if direction == "A->T" else "group"
    seen: SideName = "group" if direction == "A->T" else "task"
    if side_of(test, told).soft and not numbers:
        name = "sensitive_features" if told == "group" else "y_true"
        raise ValueError(
            f"{name} is continuous, so how well it is told is no matter of {settings.quality!r}: "
            "use quality='inverse_rmse' (and a regressor as attacker), or cut it into classes."
        )
    side = side_of(test, seen)
    flips = leakage and settings.equalize is not None and test.has("task_pred")
    if flips and side.is_matrix and (side.soft or len(side.names) > MOST_BITS):
        test, train = expanded(test), None if train is None else expanded(train)
    n_rows = int(test.weight.sum()) if test.whole else test.n_cells
    if settings.cv is not None and n_rows < settings.cv:
        raise ValueError(
            f"There are {n_rows} rows and cv={settings.cv} folds: a fold needs a row. Use fewer "
            "folds."
        )
    data = make_attack(test, seen, told, flips=flips, train=train, numbers=numbers)
    model = None
    if test.has(predicted):
        sides: tuple[SideName, SideName] = (predicted, told) if leakage else (seen, predicted)
        model = make_attack(test, *sides, flips=False, train=train, numbers=numbers)
    moves: Literal["seen", "told"] | None = "seen" if leakage else "told"
    if model is None or settings.equalize is None:
        moves = None
    arena = Arena(data, model, settings, "group" if direction == "T->A" else "task", moves)
    warn_constant(data, stacklevel=stacklevel + 1)
    warn_capped(arena, stacklevel=stacklevel + 1)
    return arena


def same_form(train: Contingency, test: Contingency, side: SideName) -> bool:
    """Whether training rows have a side, as labels if the test rows have labels."""
    if not train.has(side):
        return False
    mine, theirs = (side_of(one, side) for one in (train, test))
    if not (mine.is_matrix and theirs.is_matrix):
        return mine.is_matrix == theirs.is_matrix
    return mine.labels.width == theirs.labels.width and mine.soft == theirs.soft


def warn_constant(attack: Attack, *, stacklevel: int) -> None:
    """Say that there is nothing to tell where a target has one value only."""
    if attack.n_classes:
        table = attack.tables(attack.cells.weight).sum(axis=-2)
        constant = (table > 0).sum(axis=-1) < 2
    else:
        constant = np.array([np.ptp(np.asarray(attack.told)) == 0])
    if constant.any():
        which = [name for name, one in zip(attack.names, constant, strict=True) if one]
        what = "What attackers have to tell"
        what += f" of {quote(which)}" * (len(attack.names) > 1)
        warnings.warn(
            f"{what} has one value only: it is told without seeing anything, so that its "
            "predictability is at chance.",
            UndefinedMetricWarning,
            stacklevel=stacklevel,
        )


def warn_capped(arena: Arena, *, stacklevel: int) -> None:
    """Say where the model is worse than labels that are pure noise."""
    capped = arena.capped
    if capped is not None and capped.any():
        what = "the predictions"
        if len(capped) > 1:
            which = [name for name, one in zip(arena.data.names, capped, strict=True) if one]
            what += f" of {quote(which)}"
        warnings.warn(
            f"By {arena.settings.equalize}, {what} are worse than random labels, so no random "
            "labels are equally bad. The comparison uses random labels, which carry no "
            "information (flip_rate_capped=True in the statistics).",
            UncertaintyWarning,
            stacklevel=stacklevel,
        )


@dataclass(frozen=True, eq=False)
class Played:
    """What came out of an arena: qualities of every draw, and how to draw more of them."""

    arena: Arena
    attacker: Any
    campaign: Campaign | None
    qualities: Qualities

    @property
    def names(self) -> Names:
        """What was told: the targets."""
        return self.arena.data.names

    @property
    def attacker_name(self) -> str:
        """Which attacker it was."""
        return describe(self.attacker)

    def amplification(self, qualities: Qualities) -> Array:
        """Return how far the model's quality exceeds the data's: (draws, targets)."""
        if self.arena.settings.normalize:
            return relative_change(qualities.model, qualities.data)
        return qualities.model - qualities.data

    @cached_property
    def value(self) -> float:
        """The mean over targets and draws."""
        return float(self.amplification(self.qualities).mean())

    @property
    def flips(self) -> dict[str, Any]:
        """How often labels were flipped, and whether the model is worse than pure noise."""
        arena = self.arena
        if arena.capped is None:
            return {}
        rates = arena.rates(arena.cells, arena.cells.weight[None])
        return {"flip_rate": float(rates.mean()), "flip_rate_capped": bool(arena.capped.any())}

    def redrawn(self, n_draws: int, rng: np.random.Generator) -> Qualities:
        """Draw qualities of other samples: rows anew, and with them folds and perturbations.

        Exact attackers learn anew each time. Trained ones stay those of their draw, and are
        judged on other rows; each of their draws has another fold, perturbation and seed.
        """
        if self.campaign is not None:
            return self.campaign.qualities(n_draws, rng, resample=True)
        return self.arena.exact(n_draws, rng, resample=True)


def play(arena: Arena, rng: np.random.Generator) -> Played:
    """Let attackers learn and be judged, over draws of folds and perturbations."""
    settings = arena.settings
    attacker = choose(
        settings.attacker,
        few_valued=not arena.rowwise and all(map(_few_valued, arena.attacks)),
        continuous=not arena.data.n_classes,
        scores=any(attack.soft for attack in arena.attacks),
    )
    exact = type(attacker) is ExactAttacker and not arena.rowwise
    if exact and settings.attacker == "exact" and any(one.soft for one in arena.attacks):
        _warn_of_single_rows(arena)
    if settings.cv is None and not exact:
        why = (
            f"{MOST_BITS} labels at most can be perturbed in closed form"
            if arena.rowwise
            else f"the attacker here is {describe(attacker)}"
        )
        instead = "use cv=5"
        if settings.attacker == "auto" and not (arena.rowwise or not arena.data.n_classes):
            few = f"inputs have fewer than {MIN_ROWS_PER_INPUT} rows each"
            instead += f" (or attacker='exact', though {few})"
        raise ValueError(f"cv=None is the closed form of the exact attacker, and {why}: {instead}.")
    if exact:
        n_draws = 1 if settings.cv is None else settings.n_draws
        return Played(arena, attacker, None, arena.exact(n_draws, rng, resample=False))
    campaign = arena.train(attacker, rng)
    qualities = campaign.qualities(settings.n_draws, rng, resample=False)
    return Played(arena, attacker, campaign, qualities)


def _rows_per_input(attack: Attack) -> float:
    n_inputs = len(attack.inputs) if attack.n_bits else len(np.unique(attack.seen))
    return float(attack.cells.weight.sum() * attack.cells.rows_per_weight) / n_inputs


def _few_valued(attack: Attack) -> bool:
    return _rows_per_input(attack) >= MIN_ROWS_PER_INPUT


def _warn_of_single_rows(arena: Arena) -> None:
    least = min(map(_rows_per_input, arena.attacks))
    if least < 2:
        warnings.warn(
            "attacker='exact' is a table of the inputs it has learnt from, and of these scores one "
            f"has {least:.3g} rows on average: it can tell nothing of the others. Pass "
            "attacker='auto' or an estimator.",
            stacklevel=2,
        )


def read(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    sensitive_pred: Any,
    y_train: Any,
    sensitive_train: Any,
    sample_weight: Any,
    groups: str,
    missing: str,
    pos_label: Any = None,
) -> tuple[Contingency, Contingency | None]:
    """Return the audited rows, and the training rows if there are any."""
    options: dict[str, Any] = {
        "groups": groups,
        "missing": missing,
        "scores": True,
        "pos_label": pos_label,
    }
    if is_contingency(y_train):
        train: Contingency | None = y_train.with_positive(pos_label)
    else:
        train = read_train(y_train, sensitive_train, **options)
    test = Contingency.from_labels(
        y_true,
        y_pred,
        sensitive_features=sensitive_features,
        sensitive_pred=sensitive_pred,
        sample_weight=sample_weight,
        like=train,
        **options,
    )
    return test, None if train is None else align(train, test)


def own_generator(random_state: Any) -> np.random.Generator:
    """Return a generator whose numbers are not those that the same seed gives the user.

    Labels simulated with ``default_rng(0)`` would otherwise decide the folds of ``random_state=0``.
    """
    rng = generator(random_state)
    return rng if rng is random_state else rng.spawn(1)[0]


def align(train: Contingency, test: Contingency) -> Contingency:
    """Return training labels with the classes of the audited ones, which may be more."""
    return renamed_onto(train, side_of(test, "group").names, side_of(test, "task").names)


def leakage_amplification(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    sensitive_pred: Any = None,
    y_train: Any = None,
    sensitive_train: Any = None,
    sample_weight: Any = None,
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
    random_state: Any = None,
    n_jobs: int | None = None,
) -> float:
    r"""Return leakage amplification: how much better predictions reveal the group than labels do.

    An attacker is a classifier that tries to predict the group. One attacker sees the labels,
    another one the model's predictions [1]_:

    .. math:: \Delta = Q(f(\hat T), A) - Q(f(T'), A)

    :math:`T'` are the true labels, with random errors until their quality equals the model's.
    Random errors do not depend on the group, but they hide it in part.

    .. versionadded:: 0.1

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_tasks)
        Labels.
    y_pred : array-like
        Predicted labels, probabilities, or any scores such as logits.
    sensitive_features : array-like of shape (n_samples,) or (n_samples, n_attributes)
        The sensitive feature, which gives the groups.
    sensitive_pred : None
        Not used: attackers predict the true group.
    y_train : array-like or Contingency, optional
        Training labels. A `Contingency` that also has training predictions: both attackers learn
        from the training rows and are judged on the audited ones. Otherwise both are cross-fitted
        on the audited rows, and training labels do not change the value.
    sensitive_train : array-like, optional
        The sensitive feature of the training rows.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the audited rows.
    attacker : {"auto", "exact", "mlp"} or estimator, default="auto"
        Classifier that tries to predict the group. "exact" is the best table of inputs; "auto"
        takes it if each distinct input has 20 rows or more on average, and a logistic regression
        otherwise.
    quality : str or callable, default="accuracy"
        Score of the attacker: "accuracy", "balanced_accuracy", "f1" (macro), "inverse_rmse" or
        "inverse_log_loss". A callable gets true and predicted codes (and, if it takes it,
        ``sample_weight``); larger is better, and never negative.
    equalize : {"auto", "f1", "accuracy", None}, default="auto"
        Which score of the perturbed labels equals the model's. "auto" is "accuracy" for one label
        a row, and "f1" for several, as in the paper. None does not perturb labels. F1 of a binary
        label depends on which class is positive. A model that is worse than random labels is
        compared with random labels, and a warning says so.
    balanced : bool, default=True
        Whether every group has the same weight, in training and judging the attackers.
    fold : bool, default=False
        Fold accuracy at 0.5, as the authors' code did. This hides attackers below chance.
    cv : int or None, default=5
        Number of folds. None is the closed form of the exact attacker, which is judged on the
        rows that it learns from.
    n_draws : int, default=10
        Draws of folds and perturbations that are averaged.
    groups : {"intersection", "marginal", "indicator"}, default="intersection"
        How several columns of `sensitive_features` make groups.
    missing : {"error", "drop", "group"}, default="error"
        How rows with a missing sensitive feature are handled: "error" raises, "drop" leaves them
        out, "group" makes them a group of their own.
    pos_label : class, optional
        Which of two classes is the positive one, and so the task. Probabilities in one column are
        of that class. By default the class that sorts last.
    random_state : int, RandomState, Generator or None, default=None
        Seed or generator of the draws.
    n_jobs : int, default=None
        Number of jobs that train attackers.

    Returns
    -------
    value : float

    See Also
    --------
    skbiasamp.LeakageAuditor : The same with intervals.
    dpa_amplification : The same question for each direction.

    References
    ----------
    .. [1] Wang, Zhao, Yatskar, Chang, Ordonez. Balanced datasets are not enough: estimating and
       mitigating gender bias in deep image representations. ICCV 2019.

    Examples
    --------
    >>> from skbiasamp.metrics import leakage_amplification
    >>> sex = ["f"] * 200 + ["m"] * 200
    >>> cooks = ([1] * 100 + [0] * 100) * 2
    >>> predicted = [1] * 150 + [0] * 50 + [1] * 50 + [0] * 150
    >>> round(leakage_amplification(cooks, predicted, sensitive_features=sex, cv=None), 3)
    0.25
    """
    settings = Settings(attacker, quality, equalize, balanced, False, cv, n_draws, fold, n_jobs)
    test, train = read(
        y_true,
        y_pred,
        sensitive_features=sensitive_features,
        sensitive_pred=None,
        y_train=y_train,
        sensitive_train=sensitive_train,
        sample_weight=sample_weight,
        groups=groups,
        missing=missing,
        pos_label=pos_label,
    )
    require_task_pred(test.has("task_pred"), metric="leakage amplification")
    arena = stage(test, train, settings, direction=None)
    return play(arena, own_generator(random_state)).value


def dataset_leakage(
    y_true: Any,
    *,
    sensitive_features: Any,
    y_train: Any = None,
    sensitive_train: Any = None,
    sample_weight: Any = None,
    attacker: Any = "auto",
    quality: Any = "accuracy",
    balanced: bool = True,
    fold: bool = False,
    cv: int | None = 5,
    n_draws: int = 10,
    groups: str = "intersection",
    missing: str = "error",
    random_state: Any = None,
    n_jobs: int | None = None,
) -> float:
    """Return dataset leakage: how well an attacker predicts the group from the labels.

    .. versionadded:: 0.1

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_tasks)
        Labels.
    sensitive_features : array-like of shape (n_samples,) or (n_samples, n_attributes)
        The sensitive feature, which gives the groups.
    y_train, sensitive_train : array-like, optional
        Labels that the attacker learns from. Without them, it is cross-fitted on `y_true`.
    sample_weight : array-like of shape (n_samples,), optional
        Weights.
    attacker, quality, balanced, fold, cv, n_draws, groups, missing, random_state, n_jobs
        As for `leakage_amplification`.

    Returns
    -------
    quality : float

    Examples
    --------
    >>> from skbiasamp.metrics import dataset_leakage
    >>> sex = ["f"] * 100 + ["m"] * 100
    >>> cooks = [1] * 70 + [0] * 30 + [1] * 30 + [0] * 70
    >>> round(dataset_leakage(cooks, sensitive_features=sex, random_state=0), 2)
    0.7
    """
    settings = Settings(attacker, quality, None, balanced, False, cv, n_draws, fold, n_jobs)
    test, train = read(
        y_true,
        None,
        sensitive_features=sensitive_features,
        sensitive_pred=None,
        y_train=y_train,
        sensitive_train=sensitive_train,
        sample_weight=sample_weight,
        groups=groups,
        missing=missing,
    )
    played = play(stage(test, train, settings, direction=None), own_generator(random_state))
    return float(played.qualities.data.mean())


def leakage_of_labels(
    test: Contingency, train: Contingency, settings: Settings, rng: np.random.Generator
) -> float:
    """Return how well the training labels teach an attacker to predict the group of test rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)  # said of the audit already
        arena = stage(labels_alone(test), labels_alone(train), settings, direction=None)
    return float(play(arena, rng).qualities.data.mean())


def dpa_amplification(
    y_true: Any,
    y_pred: Any = None,
    *,
    sensitive_features: Any,
    sensitive_pred: Any = None,
    y_train: Any = None,
    sensitive_train: Any = None,
    sample_weight: Any = None,
    direction: str = "A->T",
    attacker: Any = "auto",
    quality: Any = "balanced_accuracy",
    equalize: str | None = "accuracy",
    normalize: bool = True,
    cv: int | None = 5,
    n_draws: int = 10,
    groups: str = "intersection",
    missing: str = "error",
    pos_label: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> float:
    r"""Return directional predictability amplification (DPA).

    An attacker predicts the model's prediction of the task from the group (A->T), or its
    prediction of the group from the task (T->A). Another one does the same for the labels. The
    value is the relative change of their quality [1]_:

    .. math:: DPA = \frac{\Psi_M - \Psi_D}{\Psi_M + \Psi_D}

    with :math:`\Psi_D = Q(f(A), T')` and :math:`\Psi_M = Q(g(A), \hat T)` for A->T, and the
    group in place of the task for T->A. :math:`T'` are the labels, with random errors until they
    are as good as the predictions. The value lies between −1 and 1. It can show amplification in
    balanced data, where co-occurrence metrics are 0 by construction.

    .. versionadded:: 0.1

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_tasks)
        Labels; numbers with ``quality="inverse_rmse"``.
    y_pred : array-like, optional
        Predicted labels (or scores, which are turned into labels). Not needed for T->A.
    sensitive_features : array-like of shape (n_samples,) or (n_samples, n_attributes)
        The sensitive feature, which gives the groups.
    sensitive_pred : array-like, optional
        The group as predicted by the model: for T->A.
    y_train : array-like or Contingency, optional
        Training labels. A `Contingency` that also has training predictions: both attackers learn
        from the training rows and are judged on the audited ones. Otherwise both are cross-fitted
        on the audited rows, and training labels do not change the value.
    sensitive_train : array-like, optional
        The sensitive feature of the training rows.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the audited rows.
    direction : {"A->T", "T->A"}, default="A->T"
        "A->T": does the group shift the predicted task? "T->A": does the task shift the predicted
        group?
    attacker : {"auto", "exact", "mlp"} or estimator, default="auto"
        Classifier that predicts the target. "exact" is the best table of inputs; "auto" takes it
        if each distinct input has 20 rows or more on average, and a logistic regression
        otherwise.
    quality : str or callable, default="balanced_accuracy"
        Score of the attacker: "accuracy" (as in the paper), "balanced_accuracy", "f1" (macro),
        "inverse_rmse" or "inverse_log_loss". With "accuracy", predictions that name one class
        more often are easier to guess, whatever the group. With "balanced_accuracy", a guess that
        ignores its input scores 1 / number of classes, and attackers learn with equally weighted
        classes. A callable gets true and predicted codes (and, if it takes it,
        ``sample_weight``); larger is better, and never negative.
    equalize : {"f1", "accuracy", None}, default="accuracy"
        Which score of the perturbed labels equals the predictions'. None does not perturb labels.
        Numbers get normal noise instead, as large as the model's errors. A model that is worse
        than random labels is compared with random labels, and a warning says so.
    normalize : bool, default=True
        Divide the difference by the sum.
    cv : int or None, default=5
        Number of folds. None is the closed form of the exact attacker, which is judged on the
        rows that it learns from.
    n_draws : int, default=10
        Draws of folds and perturbations that are averaged.
    groups : {"intersection", "marginal", "indicator"}, default="intersection"
        How several columns of `sensitive_features` make groups.
    missing : {"error", "drop", "group"}, default="error"
        How rows with a missing sensitive feature are handled: "error" raises, "drop" leaves them
        out, "group" makes them a group of their own.
    pos_label : class, optional
        Which of two classes is the positive one, and so the task. Probabilities in one column are
        of that class. By default the class that sorts last.
    random_state : int, RandomState, Generator or None, default=None
        Seed or generator of the draws.
    n_jobs : int, default=None
        Number of jobs that train attackers.

    Returns
    -------
    value : float
        The mean over the tasks of a multilabel target. Each task has its own attacker.

    See Also
    --------
    skbiasamp.DPAAuditor : The same with intervals.

    References
    ----------
    .. [1] Tokas, Nair, Kerner. Making bias amplification in balanced datasets directional and
       interpretable. 2024.

    Examples
    --------
    The balanced COMPAS data of the paper, where directional amplification is 0, with the paper's
    quality:

    >>> from skbiasamp.metrics import dpa_amplification
    >>> race = ["C"] * 1748 + ["AA"] * 1748
    >>> recidivism = ([0] * 874 + [1] * 874) * 2
    >>> predicted = [0] * 1145 + [1] * 603 + [0] * 948 + [1] * 800
    >>> labels = {"y_true": recidivism, "y_pred": predicted, "sensitive_features": race}
    >>> value = dpa_amplification(**labels, quality="accuracy", cv=None)
    >>> round(value, 4)
    0.0898
    """
    check_option("direction", direction, DIRECTIONS)
    settings = Settings(attacker, quality, equalize, False, normalize, cv, n_draws, n_jobs=n_jobs)
    test, train = read(
        y_true,
        y_pred,
        sensitive_features=sensitive_features,
        sensitive_pred=sensitive_pred,
        y_train=y_train,
        sensitive_train=sensitive_train,
        sample_weight=sample_weight,
        groups=groups,
        missing=missing,
        pos_label=pos_label,
    )
    require_predictions(test, direction)
    arena = stage(test, train, settings, direction=direction)
    return play(arena, own_generator(random_state)).value


def require_predictions(test: Contingency, direction: str) -> None:
    """Raise if the side whose prediction is told was not predicted."""
    if direction == "T->A":
        require_group_pred(test.has("group_pred"))
    else:
        require_task_pred(test.has("task_pred"), metric="DPA", directed=True)
