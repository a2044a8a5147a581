"""Regions of images: what is hidden, by hand, and the share of attributions outside."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skbiasamp.mitigation import RegionMask

RNG = np.random.default_rng(0)
IMAGES = RNG.integers(0, 256, (5, 3, 6, 8)).astype(np.uint8)
MASKS = RNG.random((5, 6, 8)) < 0.4


@pytest.mark.parametrize("how", ["black", "blur", "noise"])
@pytest.mark.parametrize("kind", [np.uint8, np.float32])
def test_only_pixels_of_the_region_change(how, kind):
    images = IMAGES.astype(kind)
    before = images.copy()
    hidden = RegionMask(how, masks=MASKS, scale=50, random_state=0).fit_transform(images)
    np.testing.assert_array_equal(images, before)
    assert hidden.dtype == images.dtype
    region = np.broadcast_to(MASKS[:, None], images.shape)
    np.testing.assert_array_equal(hidden[~region], images[~region])
    assert (hidden[region] != images[region]).mean() > 0.8
    assert how == "black" or images.min() <= hidden.min() <= hidden.max() <= images.max()
    assert RegionMask(how, boxes=[0, 0, 1, 1]).transform(images[:0]).shape == (0, 3, 6, 8)


def test_a_blur_is_the_mean_of_the_window_and_black_is_nothing():
    images = IMAGES.astype(float)
    hidden = RegionMask("blur", boxes=(0, 0, 6, 8), size=3).transform(images)
    for i, c, y, x in ((0, 0, 1, 1), (4, 2, 4, 6)):
        window = images[i, c, y - 1 : y + 2, x - 1 : x + 2]
        assert hidden[i, c, y, x] == pytest.approx(window.mean())
    black = RegionMask(masks=np.ones((6, 8), int)).transform(images)
    assert not black.any()


def test_noise_has_the_scale_and_the_seed():
    images = np.full((50, 1, 20, 20), 0.5)
    images[0, 0, 0, :2] = (-9, 9)  # no noise is cut off
    mask = RegionMask("noise", boxes=(1, 0, 20, 20), scale=0.3, random_state=0)
    hidden = mask.fit_transform(images)
    assert hidden[:, :, 1:].std() == pytest.approx(0.3, rel=0.02)
    np.testing.assert_array_equal(hidden, clone(mask).fit_transform(images))


def test_boxes_are_slices_and_join_masks():
    boxes = np.array([[0, 0, 2, 3], [1, 2, 6, 8], [0, 0, 0, 0], [5, 7, 6, 8], [0, 0, 6, 8]])
    hidden = RegionMask(boxes=boxes).transform(IMAGES + 1)
    joined = RegionMask(boxes=boxes, masks=MASKS).transform(IMAGES.astype(int) + 1)
    for i, (top, left, bottom, right) in enumerate(boxes):
        expected = IMAGES[i].astype(int) + 1
        expected[:, top:bottom, left:right] = 0
        np.testing.assert_array_equal(hidden[i], expected.astype(np.uint8))
        np.testing.assert_array_equal(joined[i], np.where(MASKS[i], 0, expected))


def test_attributions_outside_the_person_as_the_paper_counts_them():
    """Tokas et al., App.: normalise, mask the segment, add what remains, average over images."""
    attributions = RNG.normal(size=(5, 3, 6, 8))
    mask = RegionMask(masks=MASKS)
    normal = np.abs(attributions) / np.abs(attributions).sum(axis=(1, 2, 3), keepdims=True)
    expected = [normal[i][:, ~MASKS[i]].sum() for i in range(5)]
    np.testing.assert_allclose(mask.share_outside(attributions), expected)
    inside = mask.share_outside(np.broadcast_to(MASKS[:, None], attributions.shape))
    assert inside.tolist() == [0] * 5
    assert np.isnan(mask.share_outside(np.zeros((5, 1, 6, 8)))).all()


def test_one_box_for_all_works_in_a_pipeline():
    """A box that is the only difference of the classes takes the model's knowledge."""
    y = np.repeat([0, 1], 100)
    images = RNG.normal(size=(200, 1, 4, 4))
    images[:, :, :2, :2] += 5 * y[:, None, None, None]
    flat = FunctionTransformer(lambda X: X.reshape(len(X), -1))
    for box, known in (((2, 2, 4, 4), True), ((0, 0, 2, 2), False)):
        model = make_pipeline(RegionMask(boxes=box), flat, LogisticRegression())
        score = model.fit(images[::2], y[::2]).score(images[1::2], y[1::2])
        assert score > 0.98 if known else score < 0.65


@pytest.mark.parametrize(
    ("options", "images", "message"),
    [
        ({}, IMAGES, "Pass boxes= or masks=: there is no region to hide"),
        ({"masks": MASKS[:4]}, IMAGES, r"masks must be 0/1, of shape \(6, 8\) or \(5, 6, 8\); got"),
        ({"masks": MASKS * 0.5}, IMAGES, "masks must be 0/1, of shape .* got float64"),
        ({"boxes": [1, 2, 3]}, IMAGES, r"boxes must be numbers of shape \(4,\) or \(5, 4\)"),
        ({"boxes": [4, 4, 2, 2]}, IMAGES, r"boxes must be top, left, .*; got \[4, 4, 2, 2\]"),
        ({"boxes": [0.1, 0.2, 0.5, 0.6]}, IMAGES, r"in pixels; got fractions .* as \[0\.1, 0\.2"),
        ({"boxes": [0, 0, 1, 1]}, IMAGES[0], "X must be numbers of shape .n_images"),
    ],
)
def test_bad_regions_are_refused(options, images, message):
    for method in ("fit", "transform"):
        with pytest.raises(ValueError, match=message):
            getattr(RegionMask(**options), method)(images)


def test_boxes_without_a_pixel_of_the_image_are_named():
    boxes = [[0, 0, 2, 2], [9, 9, 12, 12], [0, 8, 6, 9], [3, 3, 3, 3], [0, 0, 6, 8]]
    with pytest.warns(UserWarning, match=r"^2 of 5 boxes hold no pixel .* 6 × 8 .*\[9, 9, 12, 12"):
        hidden = RegionMask(boxes=boxes).transform(IMAGES)
    np.testing.assert_array_equal(hidden[1:4], IMAGES[1:4])
    # Small boxes of pixels are no fractions, and warnings are errors.
    for small in ([0, 0, 1, 1], [0.0, 0.0, 0.0, 0.0], [0.5, 0.5, 1.5, 1.5]):
        RegionMask(boxes=small).fit(IMAGES)
