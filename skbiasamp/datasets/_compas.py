"""COMPAS risk scores and rearrests: the records, and published tables of a model's predictions."""

from __future__ import annotations

import pandas as pd
from sklearn.utils import Bunch

from skbiasamp._input.keywords import keywords
from skbiasamp._utils.compat import StrOptions, validate_params
from skbiasamp.datasets._embedded import description_of, embedded_table

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
