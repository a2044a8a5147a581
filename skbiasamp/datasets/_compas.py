"""COMPAS: ProPublica's file, and published tables of counts."""

from __future__ import annotations

import os
from typing import Any

import pandas as pd
from sklearn.utils import Bunch, check_random_state

from skbiasamp._compat import StrOptions, validate_params
from skbiasamp._input import check_selection
from skbiasamp.datasets._files import find_file

_FILE = "compas-scores-two-years.csv"
_SHA256 = "c451db85908b2f7fef1d83203bedf6b71ecda0d5af468d82ae62178f91d0cc7d"
_URL = f"https://raw.githubusercontent.com/propublica/compas-analysis/master/{_FILE}"
_ORIGIN = "The file is published at github.com/propublica/compas-analysis."

_KNOWN_RACES = ("African-American", "Asian", "Caucasian", "Hispanic", "Native American", "Other")
_TARGETS = ("is_recid", "two_year_recid")
_FEATURES = ["age", "juv_fel_count", "juv_misd_count", "juv_other_count", "priors_count"]

# Names, birth dates and case numbers of the defendants stay in the file.
_COLUMNS = [
    *_FEATURES,
    "race",
    "sex",
    "age_cat",
    "c_charge_degree",
    "days_b_screening_arrest",
    "decile_score",
    "score_text",
    "is_recid",
    "two_year_recid",
]

_FILE_DESCRIPTION = """\
COMPAS risk scores and rearrests, Broward County, Florida
---------------------------------------------------------

People who were arrested in 2013 and 2014 and given a COMPAS risk score, with whether they were
charged again, as collected by ProPublica (Larson, Mattu, Kirchner, Angwin: How we analyzed the
COMPAS recidivism algorithm, 2016; github.com/propublica/compas-analysis).

Rows are those of ProPublica's analysis: screened within 30 days of the arrest, known outcome
(is_recid is not -1), charged with more than an ordinary traffic offence (c_charge_degree is not
"O"), scored (score_text is not "N/A"). Of 7,214 rows in the file, 6,172 remain, 5,278 of them
African-American or Caucasian. filtered=False leaves them all in.

data: age, juv_fel_count, juv_misd_count, juv_other_count, priors_count, the five features of Tokas
et al., Directional predictability amplification (2024). Race, sex and COMPAS's own score are no
features; they are in `sensitive`, `score` and `frame`. Names, birth dates and case numbers are left
in the file.

target: is_recid, charged again at any time until the data was collected (the label of the published
tables of counts), or two_year_recid, charged again within two years of the screening.

To keep in mind: the label is what the police and the courts recorded, not what people did, and
both depend on race. A model of it is a risk prediction, for which amplification says how
predictions differ from records, not whether either is just.
"""

_COUNTS_DESCRIPTION = """\
COMPAS recidivism predictions, as tables of counts
--------------------------------------------------

Defendants of two groups (Caucasian, African-American), whether they reoffended (no, yes), and
what a decision tree predicted of both. The counts of race by label, race by predicted label and
label by predicted race are those of Table 2 of Tokas et al., Directional predictability
amplification (2024), for the unbalanced data set and for the one balanced in race and label.

Only those three margins are published. The joint counts given here are one set of whole numbers
that has them: every measure of a margin (directional and multi-attribute amplification) is the
paper's, while what depends on the rest (accuracy, MALS with predicted race, intervals, tests) is
not meaningful.
"""

_RACES = {"C": "Caucasian", "A": "African-American"}
_LABELS = {"n": "no", "y": "yes"}

# group, label, predicted group, predicted label -> defendants
_COUNTS = {
    "unbalanced": {
        "CnCn": 1056,
        "CnAn": 109,
        "CnAy": 64,
        "AnAn": 1402,
        "CyCy": 874,
        "AyCn": 144,
        "AyCy": 97,
        "AyAy": 1532,
    },
    "balanced": {
        "CnCn": 874,
        "CyCn": 271,
        "CyCy": 603,
        "AnCn": 209,
        "AnAn": 665,
        "AyCn": 22,
        "AyAn": 52,
        "AyAy": 800,
    },
}


@validate_params({"target": [StrOptions(set(_TARGETS))]})
def fetch_compas(
    *,
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
    races: Any = ("African-American", "Caucasian"),
    target: str = "is_recid",
    filtered: bool = True,
    balanced: bool = False,
    random_state: Any = None,
) -> Bunch:
    """Load COMPAS risk scores and rearrests, one row a defendant.

    The file is looked for in the folder that the environment variable ``SKBIASAMP_DATA`` names,
    then in `data_home`; else it is downloaded from ProPublica (2.5 MB, needs pooch:
    ``pip install 'skbiasamp[datasets]'``). Wherever it lay, its checksum must be right.

    .. versionadded:: 0.1

    Parameters
    ----------
    data_home : path, default=None
        The folder to keep the file in; by default ``skbiasamp`` in scikit-learn's data home.
    download_if_missing : bool, default=True
        Whether to download a file that is not here; if False, that is an error.
    races : str, sequence of str or None, default=("African-American", "Caucasian")
        The races to keep, of African-American, Asian, Caucasian, Hispanic, Native American and
        Other; None keeps all.
    target : {"is_recid", "two_year_recid"}, default="is_recid"
        Charged again at any time (the label of the published tables), or within two years.
    filtered : bool, default=True
        Whether to keep only the rows of ProPublica's analysis, or all that the file has of these
        races.
    balanced : bool, default=False
        Draw equally many rows, without replacement, of each pair of race and label.
    random_state : int, RandomState instance or None, default=None
        Seed of that draw.

    Returns
    -------
    data : Bunch
        ``data``, a DataFrame of the five features that a model may use; ``target``, 0 or 1;
        ``sensitive``, the race; ``score``, COMPAS's own risk decile (1 to 10); ``frame``, all of
        these and further columns (sex, age category, degree of the charge, both labels);
        ``feature_names``; ``DESCR``. All have the same rows.

    References
    ----------
    J. Larson, S. Mattu, L. Kirchner, J. Angwin, "How we analyzed the COMPAS recidivism algorithm",
    ProPublica, 2016.

    Examples
    --------
    >>> from skbiasamp.datasets import fetch_compas
    >>> from skbiasamp.metrics import directional_amplification
    >>> compas = fetch_compas(target="two_year_recid")  # doctest: +SKIP
    >>> compas.data.shape  # doctest: +SKIP
    (5278, 5)
    >>> value = directional_amplification(
    ...     compas.target,
    ...     (compas.score > 4).astype(int),
    ...     sensitive_features=compas.sensitive,
    ... )  # doctest: +SKIP
    >>> round(value, 3)  # doctest: +SKIP
    0.056
    """
    races = _KNOWN_RACES if races is None else check_selection(races, _KNOWN_RACES, "race")
    random_state = check_random_state(random_state)
    file = find_file(
        _FILE,
        sha256=_SHA256,
        origin=_ORIGIN,
        url=_URL,
        data_home=data_home,
        download_if_missing=download_if_missing,
    )
    frame = pd.read_csv(file, usecols=_COLUMNS)[_COLUMNS]  # reads "N/A" as missing
    frame = frame[frame["race"].isin(races)]
    if filtered:
        # ProPublica's, whole. In this file the first line removes all that the others would.
        frame = frame[
            frame["days_b_screening_arrest"].between(-30, 30)
            & (frame["is_recid"] != -1)
            & (frame["c_charge_degree"] != "O")
            & frame["score_text"].notna()
        ]
    if balanced:
        cells = frame.groupby(["race", target])
        frame = cells.sample(cells.size().min(), random_state=random_state).sort_index()
    frame = frame.reset_index(drop=True)
    return Bunch(
        data=frame[_FEATURES],
        target=frame[target],
        sensitive=frame["race"],
        score=frame["decile_score"],
        frame=frame,
        feature_names=list(_FEATURES),
        DESCR=_FILE_DESCRIPTION,
    )


@validate_params({"subset": [StrOptions(set(_COUNTS))]})
def load_compas_counts(subset: str = "unbalanced") -> Bunch:
    """Load published counts of COMPAS predictions.

    .. versionadded:: 0.1

    Parameters
    ----------
    subset : {"unbalanced", "balanced"}, default="unbalanced"
        The data as it is (5,278 defendants), or balanced in race and label (3,496).

    Returns
    -------
    data : Bunch
        ``frame`` holds one row a cell with the columns group, task, group_pred, task_pred and
        n, as `Contingency.from_counts` reads them; ``tasks`` and ``tasks_pred`` hold both
        labels as indicator columns, as the paper counts them; ``DESCR`` says what is published
        and what is not.

    Examples
    --------
    >>> from skbiasamp.datasets import load_compas_counts
    >>> from skbiasamp.metrics import directional_amplification
    >>> compas = load_compas_counts("unbalanced")
    >>> value = directional_amplification(
    ...     compas.tasks,
    ...     compas.tasks_pred,
    ...     sensitive_features=compas.frame["group"],
    ...     sample_weight=compas.frame["n"],
    ... )
    >>> round(value, 3)
    -0.038
    """
    rows = [
        (_RACES[cell[0]], _LABELS[cell[1]], _RACES[cell[2]], _LABELS[cell[3]], n)
        for cell, n in _COUNTS[subset].items()
    ]
    frame = pd.DataFrame(rows, columns=["group", "task", "group_pred", "task_pred", "n"])

    def both(column: str) -> pd.DataFrame:
        return pd.DataFrame(
            {label: (frame[column] == label).astype(int) for label in ("no", "yes")}
        )

    return Bunch(
        frame=frame,
        tasks=both("task"),
        tasks_pred=both("task_pred"),
        DESCR=_COUNTS_DESCRIPTION,
    )
