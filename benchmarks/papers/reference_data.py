"""Real data that the scripts of papers read from the folder that SKBIASAMP_DATA names.

The files are prepared from what authors released; they cannot be downloaded in this form.
"""

import os
from pathlib import Path

import pandas as pd
from sklearn.utils import Bunch

SHARES = {
    "training_ratio": "train",
    "gender_ratio_before_RBA": "before",
    "gender_ratio_after_RBA": "after",
}
CAPTIONS = {
    "models": "captions_models.csv.gz",
    "masked": "captions_masked.csv.gz",
    "human": "captions_human_nic_vocabulary.csv.gz",
    "equalizer": "captions_equalizer.csv.gz",
}


def data_file(name):
    """Return a file of the folder, or raise."""
    path = Path(os.environ.get("SKBIASAMP_DATA", "")) / name
    if not path.is_file():
        raise FileNotFoundError(f"{name} is not in the folder that SKBIASAMP_DATA names")
    return path


def read_coco_labels(*, subset="test", alpha=None):
    """Read which of 79 objects COCO images have, and the annotated gender of the person.

    The rows are those of Wang et al. (2019), github.com/uvavision/Balanced-Datasets-Are-Not-Enough,
    object_multilabel/data. `alpha` (3, 2 or 1) keeps the images of the authors' balanced split.
    """
    frame = pd.read_csv(data_file(f"coco_labels_{subset}.csv.gz"))
    if alpha is not None:
        lists = pd.read_csv(data_file("coco_ratio_images.csv.gz"))
        images = lists.loc[(lists["split"] == subset) & (lists["ratio"] == alpha), "image"]
        frame = frame[frame["image"].isin(images)].reset_index(drop=True)
    target = frame.drop(columns=["image", "gender"])
    return Bunch(target=target, sensitive_features=frame["gender"], frame=frame)


def read_captions(*, subset="models"):
    """Read captions of COCO images, one row an image.

    "models": seven models. "masked": one model (SAT), with the objects, the person or both masked
    with boxes or along their outlines. "human": people; gender words are "genderword". These are
    from github.com/martentyrk/mlrc2022hirota, a reproduction of Hirota et al. (2022). "equalizer":
    three models of Hendricks et al. (2018), from github.com/princetonvisualai/directional-bias-amp.
    """
    frame = pd.read_csv(data_file(CAPTIONS[subset]))
    described = frame.columns.intersection(["image", "gender", "skin", "part"])
    captions = frame.drop(columns=described)
    return Bunch(captions=captions, sensitive_features=frame.get("gender"), frame=frame)


def read_rba_shares(*, dataset="imsitu"):
    """Read gender shares by verb or object of Zhao et al. (2017), before and after constraints."""
    frame = pd.read_csv(data_file(f"rba_{dataset}_shares.csv"), index_col=1)
    return Bunch(frame=frame[list(SHARES)].rename(columns=SHARES))


def read_words(script):
    """Return the words that mention an object, by object, as a script counts them."""
    rows = pd.read_csv(Path(__file__).with_name("words.csv")).query("script == @script")
    return dict(zip(rows["object"], rows["words"].str.split("; "), strict=True))
