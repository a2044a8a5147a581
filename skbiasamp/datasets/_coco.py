"""Objects and genders of COCO images."""

from __future__ import annotations

import os

import pandas as pd
from sklearn.utils import Bunch

from skbiasamp._input.checks import check_option
from skbiasamp._input.keywords import keywords
from skbiasamp._utils.compat import StrOptions, validate_params
from skbiasamp.datasets._reference import find_file

_SHA256 = {
    "val": "d8ece21c361928b2b5534021d0d0af28558ac0fa009b0e91a30a5b444791710e",
    "test": "516ffa4fa5dfe37e7be78f27df72195bc1ab5fed539d2bf6cba29047db317c7f",
}
_RATIOS = "91159d20be9da3546ed82cd3cba37f844b0cd13d2e9866e5f88fd20361534a8d"
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


@keywords()
@validate_params({"subset": [StrOptions({*_SHA256})]})
def fetch_coco_labels(
    *,
    subset: str = "test",
    alpha: int | None = None,
    data_home: str | os.PathLike[str] | None = None,
) -> Bunch:
    """Load objects and annotated genders of COCO images, one row per image.

    The files ``coco_labels_val.csv.gz`` and ``coco_labels_test.csv.gz`` are looked for in the
    folder that the environment variable ``SKBIASAMP_DATA`` names, then in `data_home`.

    .. versionadded:: 0.1

    Parameters
    ----------
    subset : {"val", "test"}, default="test"
        The split to load.
    alpha : {None, 3, 2, 1}, default=None
        Keep the images of the authors' balanced split: no object occurs much more than `alpha`
        times as often with one gender as with the other. ``coco_ratio_images.csv.gz`` lists them.

        .. versionadded:: 0.2
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
    check_option("alpha", alpha, (None, 3, 2, 1))
    file = find_file(f"coco_labels_{subset}.csv.gz", _SHA256[subset], _ORIGIN, data_home)
    frame = pd.read_csv(file)
    if alpha is not None:
        lists = pd.read_csv(find_file("coco_ratio_images.csv.gz", _RATIOS, _ORIGIN, data_home))
        images = lists.loc[(lists["split"] == subset) & (lists["ratio"] == alpha), "image"]
        frame = frame[frame["image"].isin(images)].reset_index(drop=True)
    return Bunch(
        target=frame.drop(columns=["image", "gender"]),
        sensitive_features=frame["gender"],
        frame=frame,
        DESCR=_DESCRIPTION,
    )
