"""Shares of one gender before and after corpus-level constraints."""

from __future__ import annotations

import os

import pandas as pd
from sklearn.utils import Bunch

from skbiasamp._input.keywords import keywords
from skbiasamp._utils.compat import StrOptions, validate_params
from skbiasamp.datasets._reference import find_file

_SHA256 = {
    "imsitu": "a172370e5b05aa085cb7b64bc2110ba56367c19c6932fa37ec0a965bcfdd9633",
    "coco": "f6866f8f07fa3d95c3a341c7b253aee223681a4b96589d8b7e2774955147a708",
}
_COLUMNS = {
    "training_ratio": "train",
    "gender_ratio_before_RBA": "before",
    "gender_ratio_after_RBA": "after",
}
_ORIGIN = "it is a file of github.com/uclanlp/reducingbias, results"
_DESCRIPTION = """\
Gender shares of verbs and objects, before and after corpus-level constraints
-----------------------------------------------------------------------------

For 212 verbs of imSitu or 66 objects of COCO: the share of one gender among the training images
with that label, and among the images for which a model predicts it, without constraints and with
them. Zhao, Wang, Yatskar, Ordonez, Chang, Men also like shopping: reducing gender bias
amplification using corpus-level constraints (2017). The files do not name the gender; the value of
amplification is the same for both.

To keep in mind: gender is what annotators saw in an image, in two values.
"""


@keywords()
@validate_params({"dataset": [StrOptions({*_SHA256})]})
def fetch_rba_shares(
    *, dataset: str = "imsitu", data_home: str | os.PathLike[str] | None = None
) -> Bunch:
    """Load gender shares by label, before and after corpus-level constraints.

    The files ``rba_imsitu_shares.csv`` and ``rba_coco_shares.csv`` are looked for in the folder
    that the environment variable ``SKBIASAMP_DATA`` names, then in `data_home`.

    .. versionadded:: 0.1

    Parameters
    ----------
    dataset : {"imsitu", "coco"}, default="imsitu"
        Verbs of imSitu, or objects of COCO.
    data_home : path, default=None
        The folder with the files; by default ``skbiasamp`` in scikit-learn's data home.

    Returns
    -------
    data : Bunch
        ``frame``: one row per verb or object, with the share of one gender in training
        (``train``) and in predictions (``before`` and ``after`` the constraints). ``DESCR``.

    Examples
    --------
    >>> from skbiasamp.datasets import fetch_rba_shares
    >>> fetch_rba_shares(dataset="coco").frame.shape  # doctest: +SKIP
    (66, 3)
    """
    file = find_file(f"rba_{dataset}_shares.csv", _SHA256[dataset], _ORIGIN, data_home)
    frame = pd.read_csv(file, index_col=1)[list(_COLUMNS)].rename(columns=_COLUMNS)
    return Bunch(frame=frame, DESCR=_DESCRIPTION)
