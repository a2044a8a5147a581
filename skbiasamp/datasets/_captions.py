"""Captions of COCO images, by people and by models."""

from __future__ import annotations

import os

import pandas as pd
from sklearn.utils import Bunch

from skbiasamp._input.keywords import keywords
from skbiasamp._utils.compat import StrOptions, validate_params
from skbiasamp.datasets._reference import find_file

_FILES = {
    "models": (
        "captions_models.csv.gz",
        "f5b7f257f40e3f63d82cd533e2f0950f1c5be9e0f4a3bd04245ea9c15f4ec437",
    ),
    "masked": (
        "captions_masked.csv.gz",
        "c02150ae186116b20f3626d429def6c40a835aac4679d1129cb1e35559762b64",
    ),
    "human": (
        "captions_human_nic_vocabulary.csv.gz",
        "f25b92ae40c1f310a952942f6821321db57b316d2d50923da8c694f9f3c9cfbd",
    ),
    "equalizer": (
        "captions_equalizer.csv.gz",
        "7384a429a54a3fa04905a27c535f7508c057378429095a716f4d82b0a68dcda3",
    ),
}
_HIROTA = (
    "it gathers captions released at github.com/martentyrk/mlrc2022hirota, a reproduction of "
    "Hirota et al. (2022), with no licence stated"
)
_HENDRICKS = (
    "it gathers captions released at github.com/princetonvisualai/directional-bias-amp under "
    "the MIT licence"
)
_DESCRIPTION = """\
Captions of COCO images
-----------------------

Captions of COCO validation images with a person (Lin et al. 2014); no images. "models": captions
of 10,780 images by seven models. "masked": captions of the same images by one model (SAT), after
the objects, the person or both were masked with boxes (``masked``) or along their outlines
(``segmask``). "human": one caption by a person of 6,628 of these images, with as many women as men;
gender words are "genderword", and words outside the vocabulary of the model NIC are "<unk>". From
the reproduction of Hirota, Nakashima, Garcia, Quantifying societal bias amplification in image
captioning (2022). "equalizer": captions of the images of `fetch_coco_labels` by three models of
Hendricks et al., Women also snowboard (2018): fine-tuned baseline, Equalizer and UpWeight.

To keep in mind: gender is what annotators saw in an image, in two values. It is not how the people
in the images identify.
"""


@keywords()
@validate_params({"subset": [StrOptions({*_FILES})]})
def fetch_captions(
    *, subset: str = "models", data_home: str | os.PathLike[str] | None = None
) -> Bunch:
    """Load captions of COCO images by people and by models, one row per image.

    The files ``captions_*.csv.gz`` are looked for in the folder that the environment variable
    ``SKBIASAMP_DATA`` names, then in `data_home`.

    .. versionadded:: 0.1

    Parameters
    ----------
    subset : {"models", "masked", "human", "equalizer"}, default="models"
        "models": captions by seven models. "masked": captions by one model of images with the
        person or the objects masked. "human": captions by people. "equalizer": captions by
        Equalizer, UpWeight and their baseline.
    data_home : path, default=None
        The folder with the files; by default ``skbiasamp`` in scikit-learn's data home.

    Returns
    -------
    data : Bunch
        ``captions``: a data frame with a column of texts per model. ``sensitive_features``:
        "female" or "male"; None for "equalizer", whose genders `fetch_coco_labels` has.
        ``frame``: the whole file, with the number of the image. ``DESCR``.

    Examples
    --------
    >>> from skbiasamp.datasets import fetch_captions
    >>> fetch_captions(subset="masked").captions.shape  # doctest: +SKIP
    (10780, 6)
    """
    name, sha256 = _FILES[subset]
    origin = _HENDRICKS if subset == "equalizer" else _HIROTA
    frame = pd.read_csv(find_file(name, sha256, origin, data_home))
    described = frame.columns.intersection(["image", "gender", "skin", "part"])
    return Bunch(
        captions=frame.drop(columns=described),
        sensitive_features=frame.get("gender"),
        frame=frame,
        DESCR=_DESCRIPTION,
    )
