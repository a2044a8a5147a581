"""Colours have one meaning on pages and in pictures, and colour-blind readers tell them apart."""

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import skbiasamp

# Internals: the colours themselves, which no object has.
from skbiasamp._utils.formatting import ABOVE, BELOW, SERIES, UNCLEAR

STYLES = Path(skbiasamp.__file__).parent / "render"
CSS = (STYLES / "page.css").read_text()
# Machado, Oliveira, Fernandes (2009), severity 1: what is seen of linear red, green and blue.
SEEN = {
    "usual": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
}


def linear(colour):
    shares = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)


def lab(colour, vision):
    """Return CIELAB of a colour as it is seen (sRGB, white D65)."""
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    xyz = np.array(to_xyz) @ np.clip(np.array(vision) @ linear(colour), 0, 1)
    x, y, z = np.cbrt(np.maximum(xyz / [0.9505, 1, 1.089], 0.008856))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("vision", SEEN)
@pytest.mark.parametrize("colours", [(ABOVE, BELOW), SERIES, (ABOVE, SERIES[0], SERIES[1])])
def test_colours_are_told_apart(colours, vision):
    for colour, other in combinations(colours, 2):
        distance = np.linalg.norm(lab(colour, SEEN[vision]) - lab(other, SEEN[vision]))
        assert distance > 15, (colour, other)


def test_pages_have_the_colours_of_the_first_picture():
    from skbiasamp.render.pictures import COLOURS

    assert dict(re.findall(r"--(up|down|rev|unc): (#\w+)", CSS.partition("}")[0])) == COLOURS


def test_no_group_has_a_colour_of_a_side_of_zero():
    assert {ABOVE, BELOW, UNCLEAR}.isdisjoint(SERIES)
    assert len(set(SERIES)) == len(SERIES)


@pytest.mark.parametrize("folder", ["examples", "docs/_extensions", "docs/images", "benchmarks"])
def test_pages_of_the_documentation_use_these_colours(folder):
    known = {ABOVE, BELOW, *SERIES}
    for page in (STYLES.parents[1] / folder).rglob("*.py"):
        used = {colour.lower() for colour in re.findall(r"#[0-9a-fA-F]{6}\b", page.read_text())}
        greys = {colour for colour in used if len({colour[i : i + 2] for i in (1, 3, 5)}) == 1}
        assert not used - known - greys, page.name


def contrast(*colours):
    """Return the ratio of WCAG 2.2."""
    dark, light = sorted(linear(colour) @ [0.2126, 0.7152, 0.0722] for colour in colours)
    return (light + 0.05) / (dark + 0.05)


def test_every_colour_can_be_read_in_both_themes():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)
    themes = re.findall(r":root \{(.*?)\}", CSS, re.DOTALL)
    assert len(themes) == 2
    for theme in themes:
        colours = {
            name: code if len(code) == 7 else "#" + "".join(2 * c for c in code[1:])
            for name, code in re.findall(r"--(\w+): (#\w{3,6})", theme)
        }
        for name in ("ink", "soft", "link"):
            for ground in ("bg", "panel"):
                assert contrast(colours[name], colours[ground]) >= 4.5, (name, ground)
        for name in ("up", "down", "rev", "unc"):  # of lines and bars
            assert contrast(colours[name], colours["bg"]) >= 3, name
            assert contrast(colours["ink"], colours[f"{name}bg"]) >= 4.5, name
