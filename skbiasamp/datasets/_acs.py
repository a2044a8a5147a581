"""Predictions of six models for the income task of the American Community Survey."""

from __future__ import annotations

import os

import pandas as pd
from sklearn.utils import Bunch

from skbiasamp._input.keywords import keywords
from skbiasamp.datasets._reference import find_file

_SHA256 = {
    "acs_income_predictions.parquet": (
        "3f2a19cc20a8e858d83d86e65624b0ea9842e555618dda86b780ef21fa6c683a"
    ),
    "acs_income_train_counts.csv": (
        "1a6fb0d3d0167d0257f68a8d490840ee4287aebdca70c62f4a48204c51a00cad"
    ),
}
_ORIGIN = (
    "it is made from the examples of github.com/dssg/aequitas (MIT), "
    "examples/experiment_results/folktables_acsincome"
)
_DESCRIPTION = """\
ACS income: labels and the predictions of six models
----------------------------------------------------

332,900 people of the American Community Survey: whether their income is high, their sex and race
(recoded numbers), and the predictions of six published models: two LightGBM models, one trained on
rows that were oversampled, one on rows that were undersampled, one with a fairness constraint
(exponentiated gradient), and one with thresholds for each group. The rows are the test rows of the
examples of Aequitas; the counts of labels come from its validation rows.

To keep in mind: sex is what the survey records, in two values. The models were made to show a
package, not to decide about people.
"""
_SEX = {1: "male", 2: "female"}


@keywords()
def fetch_acs_predictions(*, data_home: str | os.PathLike[str] | None = None) -> Bunch:
    """Load labels and the predictions of six models for the ACS income task.

    The files ``acs_income_predictions.parquet`` and ``acs_income_train_counts.csv`` are looked for
    in the folder that the environment variable ``SKBIASAMP_DATA`` names, then in `data_home`.
    Reading the first needs pyarrow.

    .. versionadded:: 0.1

    Parameters
    ----------
    data_home : path, default=None
        The folder with the files; by default ``skbiasamp`` in scikit-learn's data home.

    Returns
    -------
    data : Bunch
        ``target``, 1 if the income is high; ``sensitive_features``, "male" or "female";
        ``predictions``, a data frame with a column a model; ``train_counts``, a data frame of
        counts of sex and income to take the training associations from; ``frame``, all rows;
        ``DESCR``.

    Examples
    --------
    >>> from skbiasamp.datasets import fetch_acs_predictions
    >>> acs = fetch_acs_predictions()  # doctest: +SKIP
    >>> list(acs.predictions)  # doctest: +SKIP
    ['lgbm_a', 'lgbm_b', 'oversampled', 'undersampled', 'exponentiated', 'group_threshold']
    """
    rows, counts = (find_file(name, key, _ORIGIN, data_home) for name, key in _SHA256.items())
    frame = pd.read_parquet(rows)
    frame["sex"] = frame["sex"].map(_SEX)
    train = pd.read_csv(counts)
    train["sex"] = train["sex"].map(_SEX)
    train = train.groupby(["sex", "income"])["n"].sum().reset_index()
    return Bunch(
        target=frame["income"],
        sensitive_features=frame["sex"],
        predictions=frame.drop(columns=["income", "sex", "race"]),
        train_counts=train,
        frame=frame,
        DESCR=_DESCRIPTION,
    )
