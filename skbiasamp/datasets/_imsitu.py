"""Verbs and genders of the imSitu images."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pandas as pd
from sklearn.utils import Bunch

from skbiasamp._input.checks import check_option
from skbiasamp._input.errors import InputError
from skbiasamp._input.keywords import keywords
from skbiasamp._utils.compat import StrOptions, validate_params
from skbiasamp.datasets._embedded import description_of

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
        target=frame["verb"],
        sensitive=frame["gender"],
        frame=frame,
        DESCR=description_of("imsitu"),
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
