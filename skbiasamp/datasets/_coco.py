"""Objects and genders of COCO images."""

from __future__ import annotations

import os

import pandas as pd
from sklearn.utils import Bunch

from skbiasamp._utils.compat import StrOptions, validate_params
from skbiasamp.datasets._reference import find_file

_SHA256 = {
    "val": "d8ece21c361928b2b5534021d0d0af28558ac0fa009b0e91a30a5b444791710e",
    "test": "516ffa4fa5dfe37e7be78f27df72195bc1ab5fed539d2bf6cba29047db317c7f",
}
_ORIGIN = (
    "it gathers, in one row an image, the annotations that Wang et al. (2019) released at "
    "github.com/uvavision/Balanced-Datasets-Are-Not-Enough under object_multilabel/data"
)
_DESCRIPTION = """\
COCO: objects and genders
-------------------------

Which of 79 objects are in 10,840 images with people (COCO, Lin et al. 2014), and whether the person
was annotated as a man or a woman; no images, no features. The rows for validation (5,367) and test
(5,473) are those of Wang, Zhao, Yatskar, Chang, Ordonez, Balanced datasets are not enough (2019).
Their training rows are not available.

To keep in mind: gender is what annotators saw in an image, in two values. It is not how the people
in the images identify.
"""


@validate_params({"subset": [StrOptions({*_SHA256})]})
def fetch_coco_labels(
    *, subset: str = "test", data_home: str | os.PathLike[str] | None = None
) -> Bunch:
    """Load objects and annotated genders of COCO images, one row per image.

    The files ``coco_labels_val.csv.gz`` and ``coco_labels_test.csv.gz`` are looked for in the
    folder that the environment variable ``SKBIASAMP_DATA`` names, then in `data_home`.

    .. versionadded:: 0.1

    Parameters
    ----------
    subset : {"val", "test"}, default="test"
        The split to load.
    data_home : path, default=None
        The folder with the files; by default ``skbiasamp`` in scikit-learn's data home.

    Returns
    -------
    data : Bunch
        ``target``: a data frame with a 0/1 column per object. ``sensitive_features``: "man" or
        "woman". ``frame``: both, with the number of the image. ``DESCR``.

    Examples
    --------
    >>> from skbiasamp.datasets import fetch_coco_labels
    >>> fetch_coco_labels(subset="test").target.shape  # doctest: +SKIP
    (5473, 79)
    """
    file = find_file(f"coco_labels_{subset}.csv.gz", _SHA256[subset], _ORIGIN, data_home)
    frame = pd.read_csv(file)
    return Bunch(
        target=frame.drop(columns=["image", "gender"]),
        sensitive_features=frame["gender"],
        frame=frame,
        DESCR=_DESCRIPTION,
    )
