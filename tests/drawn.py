"""Pictures of many kinds as text: what is drawn, where, and in which colour."""

import re

import numpy as np
import pandas as pd
import pytest

from skbiasamp.plotting import (
    AmplificationCurveDisplay,
    AmplificationDisplay,
    AmplificationHeatmapDisplay,
    ComparisonDisplay,
)

matplotlib = pytest.importorskip("matplotlib")
to_hex = pytest.importorskip("matplotlib.colors").to_hex

PAIRS = {"forest": AmplificationDisplay, "map": AmplificationHeatmapDisplay}


def pairs(values, groups="fm", p_adjusted=None, width=0.05):
    """Return a table of groups × tasks as an auditor would."""
    values = np.asarray(values, dtype=float)
    tasks = [f"task {j}" for j in range(values.shape[1])]
    index = pd.MultiIndex.from_product(
        [list(groups[: len(values)]), tasks], names=["group", "task"]
    )
    table = index.to_frame(index=False).assign(amplification=values.ravel())
    table["low"], table["high"] = (table["amplification"] + side * width for side in (-1, 1))
    table["p_adjusted"] = np.nan if p_adjusted is None else np.ravel(p_adjusted)
    return table


def differences_of(
    differences, verdicts=None, width=0.05, metric="directional A->T", model="model {}"
):
    """Return a table as `rows_of` would."""
    at = np.asarray(differences, dtype=float)
    rows = pd.DataFrame({"metric": metric, "model": [model.format(i) for i in range(len(at))]})
    rows["difference"], rows["low"], rows["high"] = at, at - width, at + width
    clear = ["amplifies more" if one > 0 else "amplifies less" for one in at]
    return rows.assign(verdict=clear if verdicts is None else verdicts, value=1 + at, reference=1.0)


TESTED = pairs([[0.4, -0.3, 0.2, 0.1]], groups="f", p_adjusted=[0.001, 0.051, 0.049, np.nan])
UNTESTED = pairs([[0.4, -0.3, 0.04]])
# In floats 1 − 0.95 is above 0.05, which must not make 0.05 significant.
HOLES = pairs(
    [[0.1, np.nan, 0.2], [np.nan, 0.3, 0.0]],
    p_adjusted=[[0.001, np.nan, 0.2], [np.nan, 0.05, np.nan]],
)
MANY = pairs(np.linspace(-1, 1, 132).reshape(2, 66))
FEW_KNOWN = np.zeros((2, 90))
FEW_KNOWN[0, [3, 80]], FEW_KNOWN[1, 41], FEW_KNOWN[:, 50] = (0.1, -0.3), 0.2, np.nan
LARGE = pairs(
    np.tile([[0.01, 0.04, -0.1, 0.09]], (3, 14)),
    "abc",
    np.tile([[0.001, 0.001, 0.001, 0.9]], (3, 14)),
)
CURVE = {
    "thresholds": [0, 1, 2],
    "values": [-0.1, 0.05, -0.2],
    "rates": {"_f": [1, 0.5, 0], "$m$": [0.9, 0.25, 0]},
    "base_rate_threshold": 1,
}
VERDICTS = ["amplifies more", "amplifies less", "no clear difference", "not measured"]
DISPLAYS = {
    f"{name} of {what}": (kind(table, **more), {})
    for name, kind in PAIRS.items()
    for what, table, more in (
        ("two groups", pairs([[0.1, -0.4, 0.2], [-0.05, 0.3, 0.0]], [0, "two\nlines"]), {}),
        ("tested pairs", TESTED, {}),
        ("pairs at a level", TESTED, {"confidence_level": 0.96}),
        ("untested pairs", UNTESTED, {}),
        ("values alone", UNTESTED.drop(columns=["low", "high"]), {}),
        ("undefined pairs", HOLES, {}),
        ("no pairs", pairs(np.empty((2, 0))), {}),
        ("one task", pairs([[0.1], [0.2]]), {}),
        ("one group", pairs([[0.1, 0.2]], groups=["f"]), {}),
        ("one pair", pairs([[0.1]], groups=["f"]), {"title": "alone"}),
        ("a pair that is not there", pairs([[0.1, 0.2], [0.3, 0.4]])[:3], {}),
    )
} | {
    "forest of the strongest": (AmplificationDisplay(MANY), {}),
    "forest of three": (AmplificationDisplay(pairs(FEW_KNOWN)), {"max_pairs": 3}),
    "map of many tasks": (AmplificationHeatmapDisplay(MANY), {}),
    "map of three tasks": (AmplificationHeatmapDisplay(pairs(FEW_KNOWN)), {"max_tasks": 3}),
    "map of ninety tasks": (AmplificationHeatmapDisplay(pairs(FEW_KNOWN)), {}),
    "large map": (AmplificationHeatmapDisplay(LARGE), {}),
    "curve": (AmplificationCurveDisplay([0, 1], [0.1, 0.2]), {}),
    "curve with rates": (AmplificationCurveDisplay(**CURVE, title="scores"), {}),
    "curve with its interval": (
        AmplificationCurveDisplay(
            **CURVE, low=[-0.2, 0, -0.3], high=[0, 0.1, -0.1], operating_point=1.5
        ),
        {},
    ),
    "differences": (ComparisonDisplay(differences_of([0.1, -0.4, 0.2]), reference="old"), {}),
    "values": (ComparisonDisplay(differences_of([0.1, -0.4]), reference="old"), {"kind": "values"}),
    "differences with verdicts": (
        ComparisonDisplay(
            differences_of([0.3, -0.2, 0.1, np.nan], VERDICTS), reference="old", title="mine"
        ),
        {},
    ),
    "largest differences": (
        ComparisonDisplay(differences_of([0.1, -0.4, 0.2, 0.3]), reference="old"),
        {"max_rows": 2},
    ),
    "differences of attacks": (
        ComparisonDisplay(differences_of([0.1]), reference="old", sides="attack"),
        {},
    ),
    "differences of both": (
        ComparisonDisplay(differences_of([0.1]), reference="old", sides="both"),
        {},
    ),
}


def listed(values):
    """Return numbers, rounded, in brackets."""
    values = np.ma.filled(np.ma.asarray(values, dtype=float), np.nan)
    return re.sub(
        r"\s+", " ", np.array2string(values + 0.0, precision=3, threshold=24, edgeitems=6)
    )


def some(texts):
    """Return the first texts, and how many there are."""
    texts = list(texts)
    return " | ".join(texts[:24]) + (f" | ... {len(texts)}" if len(texts) > 24 else "")


def colours(values):
    """Return colours as hexadecimal numbers, each once, in their order."""
    return " ".join(dict.fromkeys(to_hex(value, keep_alpha=True) for value in values))


def shape_of(drawn):
    """Return where the points, lines or outlines of a collection are."""
    if hasattr(drawn, "get_segments"):
        return drawn.get_segments()
    points = drawn.get_offsets() if hasattr(drawn, "get_sizes") else ()
    return points if len(points) else [path.vertices for path in drawn.get_paths()]


def parts_of(ax):
    """Yield all that an axis shows, in the units of its data."""
    yield "title", ax.get_title()
    for side in ("x", "y"):
        yield f"{side} label", getattr(ax, f"get_{side}label")()
        if ax.get_label() != "<colorbar>":
            ticks = getattr(ax, f"get_{side}ticklabels")()
            yield f"{side} ticks", some(tick.get_text() for tick in ticks)
    if ax.get_label() == "<colorbar>":
        return
    yield "upside down", str(ax.yaxis_inverted())
    for line in ax.lines:
        style = f"{line.get_linestyle()} {line.get_marker()} {to_hex(line.get_color())}"
        yield f"line {line.get_drawstyle()} {style}", listed(line.get_xydata())
    for drawn in ax.collections:
        edges, faces = colours(drawn.get_edgecolor()), colours(drawn.get_facecolor())
        yield f"{type(drawn).__name__} {edges} in {faces}", some(map(listed, shape_of(drawn)))
    kinds = [f"{p.get_hatch()} {to_hex(p.get_facecolor(), keep_alpha=True)}" for p in ax.patches]
    for kind in dict.fromkeys(kinds):
        of_kind = (p for p, own in zip(ax.patches, kinds, strict=True) if own == kind)
        yield f"cells {kind}", some(listed([p.get_x(), p.get_y()]) for p in of_kind)
    for image in ax.images:
        low, high = image.get_clim()
        yield f"image {colours(image.to_rgba([low, 0, high]))}", listed(image.get_array())
    written = (f"{text.get_text()} {listed(text.get_position())}" for text in ax.texts)
    yield "texts", some(written)
    if ax.get_legend() is not None:
        yield "legend", some(text.get_text() for text in ax.get_legend().get_texts())


def drawn():
    """Return all parts of all pictures."""
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    said = []
    for name, (display, options) in DISPLAYS.items():
        figure = display.plot(**options).figure_
        for number, ax in enumerate(figure.axes):
            said += [(name, number, *part) for part in parts_of(ax) if part[1].strip()]
        plt.close(figure)
    columns = ["picture", "axes", "part", "drawn"]
    return pd.DataFrame(said, columns=columns).set_index("picture")
