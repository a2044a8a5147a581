"""Data that come with the package, and synthetic data whose true amplification is known."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from functools import reduce
from importlib import resources
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import Bunch, check_random_state

from skbiasamp._input.checks import check_option
from skbiasamp._input.coding import numbers_of
from skbiasamp._input.errors import InputError
from skbiasamp._input.options import keywords
from skbiasamp._utils.compat import Interval, StrOptions, validate_params

_FOLDER = resources.files("skbiasamp.datasets")


def description_of(name: str) -> str:
    """Return the description of a data set."""
    return (_FOLDER / "descr" / f"{name}.rst").read_text("utf-8")


def embedded_table(name: str, **how: Any) -> pd.DataFrame:
    """Return a table; `how` is passed to pandas."""
    with (_FOLDER / "data" / name).open("rb") as stream:
        return pd.read_csv(stream, **how)


_FEATURES = ["age", "juv_fel_count", "juv_misd_count", "juv_other_count", "priors_count"]
_TARGETS = {"two_year_recid", "is_recid", "is_violent_recid"}

# (no, yes) of the two races: labels, predictions, and predicted races of (no, yes).
_RACES = ["Caucasian", "African-American"]
_LABELS = ["no", "yes"]
_COUNTS = {
    "unbalanced": {
        "labels": [[1229, 874], [1402, 1773]],
        "predictions": [[1165, 938], [1546, 1629]],
        "predicted_groups": [[1056, 1575], [1115, 1532]],
    },
    "balanced": {
        "labels": [[874, 874], [874, 874]],
        "predictions": [[1145, 603], [948, 800]],
        "predicted_groups": [[1083, 665], [896, 852]],
    },
}


@keywords()
@validate_params({"target": [StrOptions(_TARGETS)], "as_frame": ["boolean"]})
def load_compas(*, target: str = "two_year_recid", as_frame: bool = True) -> Bunch:
    """Load the COMPAS data set: risk scores and rearrests, one row per defendant.

    The 5,278 rows come with the package. Before you use a number, read ``DESCR``: it describes
    their origin and their known problems.

    .. versionadded:: 0.1

    Parameters
    ----------
    target : {"two_year_recid", "is_recid", "is_violent_recid"}, default="two_year_recid"
        "two_year_recid": charged again within two years. "is_recid": charged again before the data
        were collected, the label of `load_compas_counts`. "is_violent_recid": the same with a
        violent offence.
    as_frame : bool, default=True
        True returns pandas objects; False returns NumPy arrays, without ``frame``.

    Returns
    -------
    data : Bunch
        ``data``: five features that a model may use. ``target``: 0 or 1. ``sensitive_features``:
        the race. ``decile_score``: the COMPAS score (1 to 10). ``frame``: all columns, with sex,
        degree of the charge and all three labels. ``feature_names``, ``target_name``, ``DESCR``.
        All have the same rows.

    Examples
    --------
    Does the score amplify, if a medium or high risk counts as a prediction?

    >>> from skbiasamp.datasets import load_compas
    >>> from skbiasamp.metrics import directional_amplification
    >>> compas = load_compas()
    >>> compas.data.shape
    (5278, 5)
    >>> medium_or_high = (compas.decile_score >= 5).astype(int)
    >>> value = directional_amplification(
    ...     compas.target, medium_or_high, sensitive_features=compas.sensitive_features
    ... )
    >>> round(value, 3)
    0.056
    """
    frame = embedded_table("compas.csv.gz", compression="gzip")
    compas = Bunch(
        data=frame[_FEATURES],
        target=frame[target],
        sensitive_features=frame["race"],
        decile_score=frame["decile_score"],
        frame=frame,
        feature_names=list(_FEATURES),
        target_name=target,
        DESCR=description_of("compas"),
    )
    if not as_frame:
        for name in ("data", "target", "sensitive_features", "decile_score"):
            compas[name] = compas[name].to_numpy()
        compas.frame = None
    return compas


@keywords()
@validate_params({"subset": [StrOptions(set(_COUNTS))]})
def load_compas_counts(subset: str = "unbalanced") -> Bunch:
    """Load published counts of a model's predictions on COMPAS.

    .. versionadded:: 0.1

    Parameters
    ----------
    subset : {"unbalanced", "balanced"}, default="unbalanced"
        "unbalanced": the data as they are (5,278 defendants). "balanced": as many rows of each race
        and label (3,496).

    Returns
    -------
    data : Bunch
        Three DataFrames of counts. ``labels``: races in rows, labels in columns. ``predictions``:
        races in rows, predicted labels in columns. ``predicted_groups``: labels in rows, predicted
        races in columns. ``DESCR`` describes them.

    Examples
    --------
    >>> from skbiasamp.datasets import load_compas_counts
    >>> counts = load_compas_counts("unbalanced")
    >>> counts.labels
    task                no   yes
    group
    Caucasian         1229   874
    African-American  1402  1773

    Directional amplification group → task (A→T) is the mean change of these rates towards the
    group that has more of a label:

    >>> rates = counts.labels.div(counts.labels.sum(axis=1), axis=0)
    >>> predicted = counts.predictions.div(counts.predictions.sum(axis=1), axis=0)
    >>> print((predicted - rates).round(3))
    task                 no    yes
    group
    Caucasian        -0.030  0.030
    African-American  0.045 -0.045
    """
    races, labels = pd.Index(_RACES, name="group"), pd.Index(_LABELS, name="task")
    printed = _COUNTS[subset]
    return Bunch(
        labels=pd.DataFrame(printed["labels"], races, labels),
        predictions=pd.DataFrame(printed["predictions"], races, labels),
        predicted_groups=pd.DataFrame(printed["predicted_groups"], labels, races),
        DESCR=description_of("compas_counts"),
    )


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


_SHA256 = {
    "train": "add5c16f507ad4c2ed2fc83718cfa75a57f71c49f7e570c87c0541d05904eb16",
    "val": "fa7399cdeb8a96282d0f191dac9cba165d20c28e3c0fb35c3032d3f9a46f4e52",
    "test": "6388da4bd7c2db465ada4fefdff661cc27894af980228a75f3c9bf0a0efc051a",
}


@keywords()
@validate_params({"subset": [StrOptions({*_SHA256, "all"})]})
def fetch_imsitu_annotations(
    *,
    subset: str = "train",
    alpha: int | None = None,
    data_home: str | os.PathLike[str] | None = None,
) -> Bunch:
    """Load verb and gender annotations of the imSitu images, one row per image.

    The files ``imsitu_train.csv.gz``, ``imsitu_val.csv.gz`` and ``imsitu_test.csv.gz`` must be in
    the folder that the environment variable ``SKBIASAMP_DATA`` names, or in `data_home`. Files
    with another checksum raise an error.

    .. versionadded:: 0.1

    Parameters
    ----------
    subset : {"train", "val", "test", "all"}, default="train"
        The split to load. "all": the three splits together.
    alpha : {None, 3, 2, 1}, default=None
        A number keeps the images of Wang et al.'s subset in which no verb has more than `alpha`
        times as many images of one gender as of the other. None keeps all images.
    data_home : path, default=None
        The folder with the files. None: ``skbiasamp`` in scikit-learn's data home.

    Returns
    -------
    data : Bunch
        ``target``: the verb. ``sensitive``: "man" or "woman". ``frame``: both, with the image's
        name, the split (``subset``) and 0/1 membership of the subsets (``ratio_1``, ``ratio_2``,
        ``ratio_3``). ``DESCR``: a description.

    References
    ----------
    T. Wang, J. Zhao, M. Yatskar, K.-W. Chang, V. Ordonez, "Balanced datasets are not enough:
    estimating and mitigating gender bias in deep image representations", ICCV 2019.

    Examples
    --------
    >>> from skbiasamp.datasets import fetch_imsitu_annotations
    >>> imsitu = fetch_imsitu_annotations(subset="train", alpha=1)  # doctest: +SKIP
    >>> len(imsitu.target)  # doctest: +SKIP
    14684
    >>> (imsitu.sensitive == "man").groupby(imsitu.target).mean().unique()  # doctest: +SKIP
    array([0.5])
    """
    check_option("alpha", alpha, (None, 3, 2, 1))  # and True is none of them
    frames = []
    for split in _SHA256 if subset == "all" else [subset]:
        frames.append(pd.read_csv(_file_of(split, data_home)).assign(subset=split))
    frame = pd.concat(frames)
    if alpha is not None:
        frame = frame[frame[f"ratio_{alpha}"] == 1]
    frame = frame.reset_index(drop=True)
    return Bunch(
        target=frame["verb"], sensitive=frame["gender"], frame=frame, DESCR=description_of("imsitu")
    )


def _file_of(split: str, data_home: str | os.PathLike[str] | None) -> Path:
    """Return the file of a split, whose results are published for one version only."""
    from sklearn.datasets import get_data_home  # imports rich where that is installed

    name = f"imsitu_{split}.csv.gz"
    home = Path(data_home).expanduser() if data_home else Path(get_data_home()) / "skbiasamp"
    own = os.environ.get("SKBIASAMP_DATA")
    folders = [Path(own).expanduser(), home] if own else [home]
    file = next((folder / name for folder in folders if (folder / name).is_file()), None)
    if file is None:
        raise FileNotFoundError(
            f"{name} is not in {' nor in '.join(map(str, folders))}. It cannot be downloaded: "
            "it gathers, in one row an image, the annotations that Wang et al. (2019) released at "
            "github.com/uvavision/Balanced-Datasets-Are-Not-Enough under verb_classification/data. "
            f"Put the file in {home}, or name its folder in the environment variable "
            "SKBIASAMP_DATA."
        )
    actual = hashlib.sha256(file.read_bytes()).hexdigest()
    if actual != _SHA256[split]:
        text = (
            "{file} is not the file that this loader reads: its sha256 is {seen}, expected "
            "{expected}. It may be damaged, edited or another version; replace it."
        )
        raise InputError(text, file=str(file), seen=actual, expected=_SHA256[split])
    return file


@keywords()
@validate_params(
    {"correlation": [Interval(Real, 0, 1, closed="both")], "random_state": ["random_state"]}
)
def load_colored_digits(*, correlation: float = 0.9, random_state: Any = None) -> Bunch:
    """Load handwritten digits in two colours; the colour correlates with the digit.

    The images are scikit-learn's `load_digits`, so nothing is downloaded.

    .. versionadded:: 0.1

    Parameters
    ----------
    correlation : float, default=0.9
        Share of images with the usual colour of their digit (red for even digits, green for odd).
        1: all images. 0.5: colour and digit are independent. 0: no image.
    random_state : int, RandomState instance or None, default=None
        Seed of the colours.

    Returns
    -------
    data : Bunch
        ``images``: red, green and blue in [0, 1], of shape (1797, 8, 8, 3). ``data``: the red and
        green channels as 128 columns. ``target``: the digit. ``sensitive``: "red" or "green".
        ``DESCR``: a description.

    References
    ----------
    M. Arjovsky, L. Bottou, I. Gulrajani, D. Lopez-Paz, "Invariant risk minimization",
    arXiv:1907.02893, 2019 (coloured MNIST).

    Examples
    --------
    Every even digit is red and every odd one green:

    >>> from skbiasamp.datasets import load_colored_digits
    >>> digits = load_colored_digits(correlation=1.0)
    >>> digits.data.shape
    (1797, 128)
    >>> digits.target[:4].tolist(), digits.sensitive[:4].tolist()
    ([0, 1, 2, 3], ['red', 'green', 'red', 'green'])
    """
    from sklearn.datasets import load_digits  # imports rich where that is installed

    random_state = check_random_state(random_state)
    digits = load_digits()
    odd = digits.target % 2
    as_its_digit = random_state.uniform(size=len(odd)) < correlation
    channel = np.where(as_its_digit, odd, 1 - odd)
    images = np.zeros((*digits.images.shape, 3))
    images[np.arange(len(odd)), :, :, channel] = digits.images / 16
    return Bunch(
        data=images[..., :2].reshape(len(odd), -1),
        images=images,
        target=pd.Series(digits.target, name="digit"),
        sensitive=pd.Series(np.array(["red", "green"])[channel], name="color"),
        DESCR=description_of("colored_digits"),
    )


# --------------------------------------------------------------------------- synthetic data

_SHARE = [Interval(Real, 0, 1, closed="both")]
_DISTANCE = [Interval(Real, -1e300, 1e300, closed="both")]


@keywords()
@validate_params(
    {
        "n_samples": [Interval(Integral, 1, None, closed="left")],
        "n_groups": [Interval(Integral, 2, None, closed="left")],
        # The population has n_groups * 4**n_tasks cells.
        "n_tasks": [Interval(Integral, 1, 6, closed="both")],
        "base_rate": _SHARE,
        "bias": _SHARE,
        "amplification": [Interval(Real, -1, 1, closed="both")],
        "accuracy": _SHARE,
        "class_sep": _DISTANCE,
        "group_sep": _DISTANCE,
        "random_state": ["random_state"],
    }
)
def make_biased_classification(
    n_samples: int = 1000,
    *,
    n_groups: int = 2,
    n_tasks: int = 1,
    group_weights: Sequence[float] | None = None,
    base_rate: float = 0.5,
    bias: float = 0.2,
    amplification: float = 0.05,
    accuracy: float = 0.8,
    class_sep: float = 1.0,
    group_sep: float = 2.0,
    random_state: Any = None,
) -> Bunch:
    """Make synthetic labels, groups and predictions with a known bias amplification.

    Use it to check an audit against the true value. Each row gets a group, then a label and a
    prediction for each task, independently of other tasks. Groups g0, g2, ... have tasks 0, 2, ...
    more often and tasks 1, 3, ... less often. For groups g1, g3, ... it is the reverse.

    .. versionadded:: 0.1

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows.
    n_groups : int, default=2
        Number of groups, named "g0", "g1" and so on.
    n_tasks : int, default=1
        Number of binary tasks, at most 6.
    group_weights : sequence of float, default=None
        Shares of the groups in the population. None: equal shares.
    base_rate : float, default=0.5
        Rate of each task, halfway between the groups that have it more and less often.
    bias : float, default=0.2
        Difference of a task's rate between these groups. 0 makes task and group independent.
    amplification : float, default=0.05
        Difference between the rate of a task in predictions and in labels, within a group. Above
        0, predictions strengthen the association; below 0, they weaken it. If `bias` is above 0,
        this is the directional amplification group → task (A→T) of the population.
    accuracy : float, default=0.8
        Share of rows whose prediction equals the label, in every group and task.
    class_sep : float, default=1.0
        Shift of the ``signal_*`` features with the labels, in standard deviations. Larger: labels
        are easier to predict.
    group_sep : float, default=2.0
        Shift of the ``proxy_*`` features with the group, in standard deviations. Larger: the group
        is easier to predict.
    random_state : int, RandomState instance or None, default=None
        Seed of the rows.

    Returns
    -------
    data : Bunch
        ``target`` and ``prediction``: Series for one task, else DataFrames of indicators.
        ``sensitive``: the groups. ``joint``: the population, with the probability ``n`` of each
        cell of group, labels and predictions, for `Contingency.from_counts`. ``data``: features
        for training a model, one normal column ``signal_*`` per task and one ``proxy_*`` per
        group. ``feature_names``: their names.

    Notes
    -----
    A metric of `joint` is the true value of that metric for `prediction`. `prediction` does not
    depend on the features. A model trained on the features has a different amplification: it grows
    with `group_sep` and falls with `class_sep`.

    Examples
    --------
    >>> from skbiasamp import Contingency, DirectionalAuditor
    >>> from skbiasamp.datasets import make_biased_classification
    >>> data = make_biased_classification(amplification=0.05, random_state=0)
    >>> auditor = DirectionalAuditor(reference="test", interval=None)
    >>> round(auditor.score(data.target, data.prediction, sensitive_features=data.sensitive), 3)
    0.044

    The true value, from the population:

    >>> data.joint.head(3)
      group  task  task_pred       n
    0    g0     0          0  0.1375
    1    g0     0          1  0.0625
    2    g0     1          0  0.0375
    >>> round(auditor.audit(Contingency.from_counts(data.joint)).published, 3)
    0.05
    """
    random_state = check_random_state(random_state)
    shares = _shares(group_weights, n_groups)
    lean = (-1) ** np.add.outer(np.arange(n_groups), np.arange(n_tasks))
    rate = base_rate + lean * bias / 2
    tables = _agreement_tables(rate, rate + lean * amplification, accuracy, amplification)
    probability = np.concatenate(
        [
            share * reduce(np.multiply.outer, table).ravel()
            for share, table in zip(shares, tables, strict=True)
        ]
    )
    # Every cell as its group and, for every task, 2 * label + prediction.
    group, *pair = np.indices((n_groups, *[4] * n_tasks)).reshape(1 + n_tasks, -1)
    labels, predictions = np.divmod(np.stack(pair, axis=1), 2)
    tasks = [f"task_{k}" for k in range(n_tasks)]
    groups = np.array([f"g{a}" for a in range(n_groups)])

    joint = pd.DataFrame({"group": groups[group]})
    for side, values in (("task", labels), ("task_pred", predictions)):
        columns = [side] if n_tasks == 1 else [f"{side}[{task}]" for task in tasks]
        joint[columns] = values
    joint["n"] = probability

    row = random_state.choice(len(joint), n_samples, p=probability)
    seps = float(class_sep), float(group_sep)  # and not an int that no array holds
    shift = np.hstack([seps[0] * labels[row], seps[1] * np.eye(n_groups)[group[row]]])
    features = [f"signal_{k}" for k in range(n_tasks)] + [f"proxy_{a}" for a in range(n_groups)]
    data = pd.DataFrame(shift + random_state.standard_normal(shift.shape), columns=features)

    def drawn(values: Any, name: str) -> pd.DataFrame | pd.Series[int]:
        if n_tasks == 1:
            return pd.Series(values[row, 0], name=name)
        return pd.DataFrame(values[row], columns=tasks)

    return Bunch(
        data=data,
        target=drawn(labels, "task"),
        prediction=drawn(predictions, "task_pred"),
        sensitive=pd.Series(groups[group[row]], name="group"),
        joint=joint[joint["n"] > 0].reset_index(drop=True),
        feature_names=features,
    )


def _shares(group_weights: Sequence[float] | None, n_groups: int) -> Any:
    given = np.ones(n_groups) if group_weights is None else group_weights
    weights = numbers_of(given, "group_weights")
    if weights.shape != (n_groups,) or not (weights > 0).all() or not np.isfinite(weights).all():
        text = (
            "group_weights must hold a number above 0 for each of the {n} groups. Got {seen!r} "
            "instead."
        )
        raise InputError(text, n=n_groups, seen=group_weights)
    return weights / weights.sum()


def _agreement_tables(rate: Any, rate_pred: Any, accuracy: float, amplification: float) -> Any:
    """Return, for every group and task, P(t, t̂ | a) with these margins and this accuracy."""
    for name, rates in (("labels", rate), ("predictions", rate_pred)):
        if not ((rates >= 0) & (rates <= 1)).all():
            text = (
                "base_rate, bias and amplification ask for {what} that are positive at rates from "
                "{low:.4g} to {high:.4g}: choose them so that all lie in [0, 1]."
            )
            raise InputError(text, what=name, low=rates.min(), high=rates.max())
    low, high = np.abs(1 - rate - rate_pred).max(), 1 - abs(amplification)
    if not low - 1e-12 <= accuracy <= high + 1e-12:
        text = (
            "accuracy={accuracy:.4g} is out of reach: with these rates of labels and predictions, "
            "they agree in a share from {low:.4g} to {high:.4g} of rows."
        )
        raise InputError(text, accuracy=accuracy, low=low, high=high)
    both = (accuracy - 1 + rate + rate_pred) / 2
    table = np.stack([accuracy - both, rate_pred - both, rate - both, both], axis=-1)
    return table.clip(0)
