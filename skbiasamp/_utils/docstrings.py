"""Texts that docstrings share: each parameter is described once."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping
from typing import TypeVar

D = TypeVar("D")


def parameters_of(section: str) -> dict[str, str]:
    """Return the entries of a Parameters section by name; names may share an entry."""
    entries = [entry.rstrip() for entry in re.split(r"^(?=\S)", section, flags=re.MULTILINE)]
    return {
        name.lstrip("*"): entry
        for entry in filter(None, entries)
        for name in entry.partition(" :")[0].split(", ")
    }


def sections_of(text: str) -> dict[str, str]:
    """Return the sections of a numpydoc docstring by title."""
    parts = re.split(r"^([A-Z][A-Za-z ]+)\n-+\n", inspect.cleandoc(text), flags=re.MULTILINE)
    return dict(zip(parts[1::2], (part.strip("\n") for part in parts[2::2]), strict=True))


def entries_of(*auditors: type) -> dict[str, str]:
    """Return what auditors and their bases say of parameters; an auditor overrides its bases."""
    entries: dict[str, str] = {}
    for auditor in auditors:
        for base in reversed(auditor.__mro__):
            entries |= parameters_of(sections_of(base.__doc__ or "").get("Parameters", ""))
    return entries


class _Shared:
    """Parameters and attributes that several docstrings describe.

    Parameters
    ----------
    direction : {"A->T", "T->A"}, default="A->T"
        "A->T" (group → task): does the group shift the predicted task? "T->A" (task → group): does
        the task shift the predicted group? Values of the two directions cannot be compared, and
        predicting a sensitive feature is itself questionable.
    groups : {"intersection", "marginal", "indicator"}, default="intersection"
        How several columns of `sensitive_features` make groups. "intersection": every combination
        of values that occurs. "marginal": the values of each column side by side. "indicator": the
        columns are 0/1 group memberships already.
    reference : {"train", "test"}, default="train"
        Which labels give the training correlations. "train": those passed to `fit`. "test": the
        labels of the audited rows; `fit` is then not needed.
    formula : {"change", "published"}, default="change"
        The number that is the value. "change": how much the model strengthens the associations of
        the labels. "published": what the formula of the metric's paper gives.
    missing : {"error", "drop", "group"}, default="error"
        How rows with a missing sensitive feature are handled. "error": raise. "drop": leave them
        out and count them in `n_dropped`. "group": make them a group of their own.
    min_rows : int, default=None
        Groups of fewer rows in training (without it, of those that are audited) are one group
        together: "other (3 groups)". None: every group stays.
    pos_label : label, default=None
        The positive class of a binary label. None: the class that sorts last, as in scikit-learn.
    interval : {"analytic", None}, default="analytic"
        How `audit` computes confidence intervals. "analytic": from how much each row, or cluster,
        moves the number. None: neither intervals nor tests.
    confidence_level : float, default=0.95
        Level of the confidence intervals.
    n_resamples : int, default=999
        Number of random draws for intervals and for permutation tests.
    adjust : {"holm", "fdr", None}, default="holm"
        How the p-values of the table are adjusted for its number of rows. "holm": Holm. "fdr":
        Benjamini and Hochberg. None: not at all.
    random_state : int, RandomState, Generator or None, default=None
        Seed or generator of all random draws.
    n_jobs : int, default=None
        Number of parallel jobs. Results do not depend on it.
    attacker : {"auto", "exact", "mlp"} or estimator, default="auto"
        Classifier that predicts the target from the input. "auto": "exact" if each distinct input
        has 20 rows or more on average, else a logistic regression (a linear one for a continuous
        target). If there are more than 20,000 distinct scores, the regression learns from the means
        of 10,000 parts. "exact": the best table of inputs, `ExactAttacker`. "mlp": a small network,
        `MLPAttacker`. An estimator: any classifier (or regressor) of scikit-learn or skorch, cloned
        for every draw, fold and target.
    balanced : bool, default=True
        True weights all groups equally when attackers are trained and scored. False leaves the
        weights of the rows as they are.
    fold : bool, default=False
        Only to replicate the authors' code: True replaces an accuracy below 0.5 by 1 − accuracy,
        which hides attackers below chance.
    cv : int or None, default=5
        Number of folds of the audited rows: attackers are scored on rows that they did not learn
        from. None: the closed form of the exact attacker, scored on the rows that it learns from.
    n_draws : int, default=10
        Number of random splits into folds, and of random errors in the labels, that are averaged.
    sensitive : str, int, list, tuple or callable, default=None
        The column of `X` with the sensitive feature, by name (str) or position (int); several of
        them (list or tuple); or a function of `X`, such as ``lambda X: X["age"] > 40``. None: pass
        ``sensitive_features``.
    verbose : int, default=0
        1 shows progress from the start, also in a log. 0 shows it after two seconds, and only on a
        terminal or in a notebook (not with the environment variable ``SKBIASAMP_PROGRESS=0``).
    threshold : float, default=None
        Turns scores in the predictions into labels: a row gets the positive class, or the task of a
        column, if its score is at least this. None: predictions are labels or probabilities.
    X : array-like or data frame of shape (n_samples, n_features)
        Rows to predict.
    y_true : array-like of shape (n_samples,) or (n_samples, n_tasks), Contingency or frame
        Labels of the audited rows: one column of classes, or a 0/1 column for each task. Or a
        `Contingency`, or a data frame or query whose columns are named (see `columns`).
    y_pred : array-like, default=None
        Predicted labels or probabilities.
    sensitive_features : array-like of shape (n_samples,) or (n_samples, n_features)
        The sensitive feature, or several.
    sensitive_pred : array-like, default=None
        The sensitive feature as predicted by the model, for direction "T->A".
    y_train, sensitive_train : array-like, default=None
        Labels and sensitive feature of the training rows. None: the audited labels give the
        training correlations.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights. A whole number counts as that many rows.
    clusters : array-like of shape (n_samples,), default=None
        One id per row: rows of one person, image or family share it. They count as one unit
        in intervals, and tests and resamples take them as a whole. None: all
        rows are independent.
    **columns : column name or list of names
        If the first argument is a frame: `target`, `prediction`, `sensitive`,
        `sensitive_prediction`, `weight` and `cluster` name its columns.

    Fitted
    ------
    groups_, tasks_ : list
        Groups and tasks of the training labels.
    n_samples_fit_ : int or float
        Number of training rows, or the sum of their weights.
    base_rates_ : DataFrame of shape (n_groups, n_tasks)
        P(task | group) in the training labels; P(group | task) for T→A and MALS.
    contingency_ : Contingency
        The training labels, counted.
    """


class _OfAttacks(_Shared):
    """Parameters and statistics of metrics that have attackers.

    Parameters
    ----------
    y_pred : array-like, default=None
        Predicted labels, probabilities, or any scores such as logits.
    y_train, sensitive_train : array-like, default=None
        Labels and sensitive feature of the training rows. If `y_train` is a `Contingency` that has
        training predictions, both attackers learn from the training rows. Otherwise both are
        cross-fitted on the audited rows, and training labels do not change the value.

    Quality
    -------
    How the attacker is scored; larger is better. "accuracy": share of rows that it predicts
    correctly. "balanced_accuracy": mean recall of the classes; a guess that ignores its input
    scores 1 / number of classes, and attackers learn with equally weighted classes. "f1": F1,
    averaged over classes. "confidence": mean probability of the predicted class if it is right,
    else 0. "inverse_rmse": 1 / root mean squared error, for continuous targets.
    "inverse_log_loss": 1 / log loss. A callable gets the positions of the true and the predicted
    classes (and ``sample_weight``, if it takes it); it must never be negative.

    Capped
    ------
    None: labels stay as they are. A model that is worse than random labels is compared with
    random labels, and a warning says so.

    Statistics of attacks
    ---------------------
    `fit` is optional. Both attackers always learn from rows of the same origin. After `fit` with a
    `Contingency` that has training labels and training predictions, both learn from the training
    rows and are scored on the audited rows. Otherwise both are cross-fitted on the audited rows,
    and training labels do not change the value.

    ``statistics`` of a result holds `chance_data` and `chance_model`, the quality of the best guess
    that ignores its input; `above_chance_low` and `above_chance_high`, the interval of the quality
    of the attacker on predictions minus that of the guess; `flip_rate`, the mean rate of random
    errors in the labels; and `flip_rate_capped`, whether the model is worse than random labels for
    some target. Predictions reveal more than labels only if the value's interval is above 0 and
    `above_chance_low` is above 0 as well. With a cross-fitted exact attacker and (balanced)
    accuracy, `in_sample_data` and `in_sample_model` are what the best attacker reaches on the rows
    that it learned from: more, on average, than any attacker reaches on new rows. The qualities in
    the table are less than the best attacker reaches.
    """


_SHARED = entries_of(_Shared)

# The other sections of these docstrings, by their titles.
_PARTS = {
    title.lower(): text
    for kind in (_Shared, _OfAttacks)
    for title, text in sections_of(kind.__doc__ or "").items()
}


def filled(text: str) -> str:
    """Return a docstring with the shared text in place of each ``%(name)s`` on its own line."""
    texts = _SHARED | _PARTS | {"shared": "%(shared)s"}

    def indented(match: re.Match[str]) -> str:
        indent, name = match.groups()
        lines = texts[name].strip("\n").split("\n")
        return "\n".join(indent + line if line else line for line in lines)

    return re.sub(r"^( *)%\(([\w ]+)\)s$", indented, text, flags=re.MULTILINE)


def filling(documented: D) -> D:
    """Fill in the shared texts of a docstring, as a decorator of a class or function."""
    documented.__doc__ = filled(documented.__doc__ or "")
    return documented


def documented(auditor: type) -> str:
    """Return an auditor's docstring with all its parameters, in the order of its constructor.

    ``%(shared)s`` stands for those that the docstring does not describe itself.
    """
    text = filled(inspect.cleandoc(auditor.__doc__ or ""))
    section = sections_of(text).get("Parameters", "")
    if "%(shared)s" not in section:
        return text
    own = parameters_of(section.replace("%(shared)s", ""))
    names = [*inspect.signature(auditor).parameters, *own]
    known = entries_of(*auditor.__bases__) | own
    return text.replace(section, described(names, known))


def described(names: Iterable[str], own: Mapping[str, str], *, attacks: bool = False) -> str:
    """Return what a metric says of some parameters itself, or else attacks, or all metrics."""
    known = entries_of(_OfAttacks if attacks else _Shared) | dict(own)
    return "\n".join(dict.fromkeys(known[name] for name in names if name in known))
