"""Data sets: that each is what it says, found where it says, and says so when it is not there."""

import doctest
import os
import re
from importlib import resources
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from sklearn.datasets import load_digits

from skbiasamp import Contingency, DirectionalAuditor
from skbiasamp.datasets import (
    fetch_imsitu_annotations,
    load_colored_digits,
    load_compas,
    load_compas_counts,
    load_occupations,
    make_biased_classification,
)

DATA = Path(os.environ.get("SKBIASAMP_DATA", Path(__file__).parents[2] / "shared" / "data"))
COMPAS_FILE = "compas-scores-two-years.csv"


def needs(*files):
    missing = [file for file in files if not (DATA / file).is_file()]
    return pytest.mark.skipif(
        bool(missing), reason=f"{', '.join(missing)} not here: name its folder in SKBIASAMP_DATA"
    )


needs_compas = needs(COMPAS_FILE)
needs_imsitu = needs(*(f"imsitu_{subset}.csv.gz" for subset in ("train", "val", "test")))


@pytest.fixture(autouse=True)
def data_folder(monkeypatch, tmp_path):
    """The files where they are, and nothing of the machine's own cache."""
    monkeypatch.setenv("SKBIASAMP_DATA", str(DATA))
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "home"))


# --------------------------------------------------------------------------- COMPAS


def test_compas_has_the_published_table():
    """TOK24, Table 2a."""
    compas = load_compas(target="is_recid")
    counts = pd.crosstab(compas.sensitive_features, compas.target)
    assert counts.loc["Caucasian"].tolist() == [1229, 874]
    assert counts.loc["African-American"].tolist() == [1402, 1773]
    labels = load_compas_counts("unbalanced").labels
    np.testing.assert_array_equal(labels, counts.loc[labels.index])


@needs_compas
def test_compas_is_what_propublica_published():
    """Their file, filtered as they do; of the screening date, only on which side of the cut."""
    file = pd.read_csv(DATA / COMPAS_FILE)
    kept = file[
        file["days_b_screening_arrest"].between(-30, 30)
        & (file["is_recid"] != -1)
        & (file["c_charge_degree"] != "O")
        & file["score_text"].notna()
    ]
    assert len(kept) == 6172
    kept = kept[kept["race"].isin(["African-American", "Caucasian"])].reset_index(drop=True)
    late = (kept["compas_screening_date"] > "2014-04-01").astype(int)
    frame = load_compas().frame
    pd.testing.assert_frame_equal(frame, kept.assign(late_screening=late)[list(frame)])
    # Barenstein (2019): the rates in the whole file, with and without the rows screened too late.
    late = file["compas_screening_date"] > "2014-04-01"
    assert round(file["two_year_recid"].mean(), 3) == 0.451
    assert round(file["two_year_recid"][~late].mean(), 3) == 0.362


def test_the_parts_of_compas_have_the_same_rows():
    target = "is_violent_recid"
    compas, arrays = (load_compas(target=target, as_frame=given) for given in (True, False))
    frame = compas.frame
    assert frame.shape == (5278, 13)
    assert compas.data.columns.tolist() == compas.feature_names
    assert not {"race", "sex", "decile_score", "two_year_recid"} & set(compas.data)
    assert (compas.target.name, compas.sensitive_features.name) == (target, "race")
    assert (compas.target_name, arrays.frame) == (target, None)
    assert compas.decile_score.between(1, 10).all()
    for name in ("data", "target", "sensitive_features", "decile_score"):
        part = pd.DataFrame(compas[name])
        pd.testing.assert_frame_equal(part, frame[list(part)])
        assert type(arrays[name]) is np.ndarray
        np.testing.assert_array_equal(arrays[name], compas[name])


def test_compas_is_small_names_nobody_and_says_what_is_wrong_with_it():
    file = resources.files("skbiasamp.datasets") / "data" / "compas.csv.gz"
    assert len(file.read_bytes()) < 30_000
    frame = load_compas().frame
    assert not {"name", "first", "last", "dob", "c_case_number", "id"} & set(frame)
    # The error in the two-year window, as the description says.
    late = frame[frame["late_screening"] == 1]
    assert len(late) == 767
    assert (late["two_year_recid"] == 1).all()
    described = " ".join(load_compas().DESCR.split())
    assert {"propublica", "licence", "Barenstein", *frame} <= set(re.findall(r"\w+", described))


# --------------------------------------------------------------------------- imSitu


@needs_imsitu
@pytest.mark.parametrize(
    ("subset", "rows"), [("train", 24301), ("val", 7730), ("test", 7669), ("all", 39700)]
)
def test_imsitu_has_the_published_numbers_of_images(subset, rows):
    """WAN19, Sec. 5 (train, validation and test)."""
    imsitu = fetch_imsitu_annotations(subset=subset)
    assert len(imsitu.frame) == len(imsitu.target) == len(imsitu.sensitive) == rows
    assert imsitu.frame["image"].is_unique
    assert imsitu.target.nunique() == 211
    if subset == "train":  # WAN19, Table 1
        assert imsitu.sensitive.value_counts().to_dict() == {"man": 14199, "woman": 10102}
    if subset != "all":
        assert set(imsitu.frame["subset"]) == {subset}


@needs_imsitu
@pytest.mark.parametrize("subset", ["train", "val", "test"])
def test_a_verb_keeps_alpha_images_of_one_gender_for_each_of_the_other(subset):
    """WAN19, eq. 7. Where one gender has no image, alpha images of the other stay."""

    def counts(alpha):
        imsitu = fetch_imsitu_annotations(subset=subset, alpha=alpha)
        return np.sort(pd.crosstab(imsitu.target, imsitu.sensitive), axis=1).T

    fewer, more = counts(None)
    for alpha in (3, 2, 1):
        kept_fewer, kept_more = counts(alpha)
        np.testing.assert_array_equal(kept_fewer, fewer)
        np.testing.assert_array_equal(kept_more, np.minimum(more, alpha * np.maximum(fewer, 1)))


# --------------------------------------------------------------------------- finding the files


def test_another_file_of_that_name_is_refused(monkeypatch, tmp_path):
    (tmp_path / "imsitu_val.csv.gz").write_text("image,verb\n1,cooking\n")
    monkeypatch.setenv("SKBIASAMP_DATA", "")
    with pytest.raises(ValueError, match=r"val\.csv\.gz is not the file .* sha256 is .*fa7399c"):
        fetch_imsitu_annotations(subset="val", data_home=tmp_path)


def test_missing_annotations_say_where_they_come_from(monkeypatch, tmp_path):
    monkeypatch.setenv("SKBIASAMP_DATA", str(tmp_path / "own"))
    says = (
        r"imsitu_val\.csv\.gz is not in .*own nor in .*home/skbiasamp.*Balanced-Datasets.*Put the"
    )
    with pytest.raises(FileNotFoundError, match=says):
        fetch_imsitu_annotations(subset="val")


# --------------------------------------------------------------------------- made and painted


POPULATIONS = [
    {},
    {"n_groups": 3, "group_weights": [1, 2, 5], "base_rate": 0.3},
    {"n_groups": 4, "n_tasks": 3, "amplification": -0.03, "accuracy": 0.9},
    {"n_tasks": 2, "bias": 0.6, "amplification": 0.2, "accuracy": 0.8},  # as accurate as can be
]


@pytest.mark.parametrize("options", POPULATIONS)
def test_the_population_is_the_one_that_was_asked_for(options):
    asked = {"n_tasks": 1, "base_rate": 0.5, "bias": 0.2, "amplification": 0.05, "accuracy": 0.8}
    asked |= options
    data = make_biased_classification(**options, random_state=0)
    n = data.joint["n"]
    assert n.sum() == pytest.approx(1, abs=1e-12)
    auditor = DirectionalAuditor(reference="test", interval=None)
    published = auditor.audit(Contingency.from_counts(data.joint)).published
    assert published == pytest.approx(asked["amplification"], abs=1e-12)

    shares = n.groupby(data.joint["group"]).sum()
    weights = np.array(options.get("group_weights", np.ones(len(shares))))
    np.testing.assert_allclose(shares, weights / weights.sum())
    for k in range(asked["n_tasks"]):
        of = f"[task_{k}]" if asked["n_tasks"] > 1 else ""
        label, prediction = data.joint[f"task{of}"], data.joint[f"task_pred{of}"]
        assert n[label == prediction].sum() == pytest.approx(asked["accuracy"])
        rates = (n * label).groupby(data.joint["group"]).sum() / shares
        high, low = asked["base_rate"] + asked["bias"] / 2, asked["base_rate"] - asked["bias"] / 2
        assert rates.iloc[k % 2 :: 2].to_numpy() == pytest.approx(high)
        assert rates.iloc[1 - k % 2 :: 2].to_numpy() == pytest.approx(low)


@pytest.mark.parametrize("options", POPULATIONS[:2])
def test_rows_are_draws_from_the_population(options):
    data = make_biased_classification(20_000, **options, random_state=3)
    keys = ["group", "task", "task_pred"]
    rows = pd.concat([data.sensitive, data.target, data.prediction], axis=1)
    seen = rows.groupby(keys).size()
    expected = 20_000 * data.joint.set_index(keys)["n"]
    assert seen.index.equals(expected.index)
    assert scipy.stats.chisquare(seen, expected).pvalue > 0.001


def test_made_features_shift_with_labels_and_groups():
    """Distances of means in standard deviations; every one is known within 0.06 (4 sigma)."""
    data = make_biased_classification(
        40_000, n_tasks=2, class_sep=1.5, group_sep=0.5, bias=0.0, random_state=0
    )
    X = data.data
    assert X.columns.tolist() == data.feature_names
    for k in range(2):
        means = X.groupby(data.target[f"task_{k}"]).mean()
        shift = means.loc[1] - means.loc[0]
        assert shift.pop(f"signal_{k}") == pytest.approx(1.5, abs=0.06)
        assert shift.abs().max() < 0.06
    means = X.groupby(data.sensitive).mean()
    np.testing.assert_allclose(means.loc["g0"] - means.loc["g1"], [0, 0, 0.5, -0.5], atol=0.06)


@pytest.mark.parametrize("make", [make_biased_classification, load_colored_digits])
def test_a_seed_fixes_everything(make):
    first, again, other = (make(random_state=seed) for seed in (5, 5, 6))
    for name in set(first) - {"DESCR", "feature_names"}:
        np.testing.assert_array_equal(first[name], again[name])
    assert (first.sensitive != other.sensitive).any()


@pytest.mark.parametrize("correlation", [0.5, 1])
def test_digits_have_the_colour_they_lean_to_as_often_as_asked(correlation):
    digits = load_colored_digits(correlation=correlation, random_state=0)
    plain = load_digits()
    np.testing.assert_array_equal(digits.target, plain.target)
    for lean, odd in (("red", 0), ("green", 1)):
        colour = digits.sensitive[digits.target % 2 == odd]
        hits = int((colour == lean).sum())
        assert scipy.stats.binomtest(hits, len(colour), correlation).pvalue > 0.001
    # Every image has its own shape in its own colour, and nothing elsewhere.
    channels = digits.data.reshape(-1, 64, 2)
    is_green = (digits.sensitive == "green").to_numpy()
    painted = np.where(is_green[:, None], channels[..., 1], channels[..., 0])
    np.testing.assert_array_equal(painted * 16, plain.data)
    np.testing.assert_array_equal(channels.sum(axis=2), painted)
    np.testing.assert_array_equal(digits.images[..., :2].reshape(-1, 64, 2), channels)
    assert not digits.images[..., 2].any()


@pytest.mark.parametrize(
    ("fetch", "options", "says"),
    [
        (load_compas, {"target": "recid"}, "'target' parameter .* a str among .* 'recid'"),
        (fetch_imsitu_annotations, {"alpha": True}, "None, 3, 2, 1. Got True"),
        (make_biased_classification, {"group_weights": [1, 0]}, r"each of the 2 .* Got \[1, 0\]"),
        (make_biased_classification, {"base_rate": 0.95}, "labels .* rates from 0.85 to 1.05"),
        (
            make_biased_classification,
            {"amplification": 0.5, "accuracy": 0.5},
            "predictions .* rates from -0.1 to 1.1",
        ),
        (
            make_biased_classification,
            {"accuracy": 0.97},
            "accuracy=0.97 is out of reach: .* from 0.25 to 0.95 of rows",
        ),
    ],
)
def test_an_unknown_option_is_named_with_those_allowed(fetch, options, says):
    with pytest.raises(ValueError, match=says):
        fetch(**options)


@needs_imsitu
def test_the_examples_that_need_a_file_are_true():
    """They are skipped as doctests, since a file may be missing; here they run."""
    function = fetch_imsitu_annotations
    (example,) = doctest.DocTestFinder(recurse=False).find(function, globs={})
    for line in example.examples:
        line.options.pop(doctest.SKIP, None)
    assert doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(example).failed == 0


@needs("occupations.csv")
def test_occupations_are_the_table_that_was_gathered():
    frame = load_occupations().frame
    gathered = pd.read_csv(DATA / "occupations.csv", index_col="occupation")
    pd.testing.assert_frame_equal(frame, gathered)
    # As the paper says.
    assert len(frame) == 32
    assert (frame["percent_women"] > 50).sum() == 16
    assert frame.index[frame["cosine_he"].isna()].tolist() == ["constructor"]
