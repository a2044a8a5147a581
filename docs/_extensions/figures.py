"""The pictures of the user guide, drawn at each build into `docs/generated/figures`."""

import contextlib
import doctest
import io
import re
from pathlib import Path

from matplotlib.figure import Figure
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.model_selection import train_test_split

from skbiasamp import DirectionalAuditor, DPAAuditor
from skbiasamp._utils.palette import ABOVE, BELOW, SERIES
from skbiasamp.datasets import load_compas
from skbiasamp.plotting import (
    AmplificationDisplay,
    ComparisonDisplay,
    MitigationDisplay,
    TimelineDisplay,
    WaterfallDisplay,
)

INK, PALE = "#222222", "#999999"
WOMEN, MEN, *_ = SERIES


DOCS = Path(__file__).resolve().parents[1]


def _sheet(width, height, columns=1):
    figure = Figure(figsize=(width, height), layout="constrained", facecolor="white")
    return figure, figure.subplots(1, columns, squeeze=False)[0]


def _table(axes, x, y, title, header, rows, width=1.0, height=0.55):
    """Write rows below each other, the group in its colour."""
    axes.text(x, y + 1.15 * height, title, fontsize=11, fontweight="bold", color=INK)
    for line, cells in enumerate([header, *rows]):
        for column, cell in enumerate(cells):
            colour = {"f": WOMEN, "m": MEN}.get(cell, INK if line else PALE)
            axes.text(x + column * width, y - line * height, cell, fontsize=11, color=colour)


def contingency():
    """Equal rows become one cell with a count; two contingencies add."""
    figure, (axes,) = _sheet(6.6, 3.0)
    rows = [("f", "1", "1"), ("f", "1", "1"), ("f", "0", "1"), ("m", "0", "0"), ("m", "1", "0")]
    rows += [("m", "0", "0")]
    _table(axes, 0, 3.4, "rows", ("sex", "label", "pred."), rows)
    axes.annotate(
        "", (4.6, 2.0), (3.4, 2.0), arrowprops={"arrowstyle": "-|>", "color": INK, "lw": 1.5}
    )
    axes.text(4.0, 2.25, "count", ha="center", fontsize=11, color=INK)
    header = ("sex", "label", "pred.", "rows")
    cells = [("f", "1", "1", "2"), ("f", "0", "1", "1"), ("m", "0", "0", "2"), ("m", "1", "0", "1")]
    _table(axes, 5.0, 3.4, "contingency", header, cells)
    axes.text(5.0, 0.55, "A million such rows have at most eight cells.", fontsize=10, color=INK)
    axes.text(5.0, 0.05, "The cells of two days can be added.", fontsize=10, color=INK)
    axes.set(xlim=(-0.1, 9.2), ylim=(-0.1, 4.3))
    axes.axis("off")
    return figure


def directions():
    """Rates in the two directions."""
    figure, both = _sheet(6.6, 3.4, columns=2)
    panels = [
        (
            both[0],
            "group → task (A→T):\nhow many of each group cook?",
            ["women", "men"],
            [WOMEN, MEN],
        ),
        (
            both[1],
            "task → group (T→A):\nhow many of these are women?",
            ["cook", "don’t"],
            [INK, PALE],
        ),
    ]
    values = [([0.75, 0.25], [0.85, 0.175]), ([0.75, 0.25], [0.80, 0.22])]
    for (axes, title, names, colours), (labels, predictions) in zip(panels, values, strict=True):
        for place, (name, colour, label, predicted) in enumerate(
            zip(names, colours, labels, predictions, strict=True)
        ):
            axes.bar(place - 0.19, label, 0.34, color="white", edgecolor=colour, linewidth=2)
            axes.bar(place + 0.19, predicted, 0.34, color=colour, edgecolor=colour, linewidth=2)
            axes.text(place - 0.19, label + 0.03, f"{label:g}", ha="center", color=INK)
            axes.text(place + 0.19, predicted + 0.03, f"{predicted:g}", ha="center", color=INK)
            axes.text(place, -0.1, name, ha="center", color=INK, fontsize=11)
        axes.set(xlim=(-0.6, 1.6), ylim=(-0.14, 1.0), yticks=[])
        axes.set_xticks([])
        axes.set_title(title, fontsize=11, color=INK)
        axes.axhline(0, color=INK, linewidth=1)
        axes.spines[:].set_visible(False)
    figure.supxlabel("outlined: labels; filled: predictions", fontsize=11, color=INK)
    return figure


def signs():
    """Which changes count as amplification."""
    figure, (axes,) = _sheet(6.6, 2.8)
    cases = [
        ("cooks more\nthan others", 0.66, 0.95, "+"),
        ("cooks more\nthan others", 0.85, 0.56, "−"),
        ("cooks less\nthan others", 0.34, 0.05, "+"),
        ("cooks less\nthan others", 0.15, 0.44, "−"),
    ]
    axes.axhline(0.5, color=PALE, linestyle=":", linewidth=1.2)
    axes.text(-0.95, 0.53, "all rows", va="bottom", fontsize=10, color=PALE)
    for place, (name, label, predicted, verdict) in enumerate(cases):
        colour = ABOVE if verdict == "+" else BELOW
        axes.annotate(
            "",
            (place, predicted),
            (place, label),
            arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 2.5, "shrinkA": 3},
        )
        axes.plot(place, label, "o", color="white", markeredgecolor=INK, markersize=9)
        word = "amplified" if verdict == "+" else "reduced"
        axes.text(place, -0.13, f"{verdict} {word}", ha="center", color=colour, fontsize=11)
        axes.text(place, 1.0, name, ha="center", va="bottom", fontsize=10, color=INK)
    axes.set(xlim=(-1, 3.6), ylim=(-0.2, 1.3))
    axes.axis("off")
    return figure


def first_audit():
    """The audit of "Getting started"."""
    compas = load_compas()
    X, X_test, y, y_test, race, race_test = train_test_split(
        compas.data, compas.target, compas.sensitive_features, test_size=0.5, random_state=0
    )
    predicted = GradientBoostingClassifier(random_state=0).fit(X, y).predict(X_test)
    auditor = DirectionalAuditor(random_state=0).fit(y, sensitive_features=race)
    figure, (axes,) = _sheet(6.0, 2.0)
    result = auditor.audit(y_test, predicted, sensitive_features=race_test)
    AmplificationDisplay.from_result(result, ax=axes)
    return figure


def _examples_of(page):
    """Return what the first examples of a page define."""
    text = (DOCS / page).read_text("utf-8")
    code = re.search(r"```python\n(>>> .*?)```", text, re.DOTALL)[1]
    names = {}
    with contextlib.redirect_stdout(io.StringIO()):
        for example in doctest.DocTestParser().get_examples(code):
            exec(compile(example.source, page, "single", dont_inherit=True), names)
    return names


def timeline():
    """The watch of "Monitoring"."""
    figure, (axes,) = _sheet(7.0, 3.2)
    TimelineDisplay.from_timeline(_examples_of("monitoring.md")["timeline"], ax=axes)
    return figure


def waterfall():
    """The parts of "Where amplification comes from"."""
    figure, (axes,) = _sheet(7.0, 3.0)
    WaterfallDisplay.from_explanation(_examples_of("why.md")["explanation"], ax=axes)
    return figure


def differences():
    """The comparison of "Comparing models"."""
    figure, (axes,) = _sheet(7.0, 2.2)
    ComparisonDisplay.from_result(_examples_of("comparing.md")["result"], ax=axes)
    return figure


def mitigations():
    """The search of "Mitigations"."""
    figure, (axes,) = _sheet(7.0, 3.6)
    MitigationDisplay.from_result(_examples_of("mitigation.md")["result"], ax=axes)
    return figure


def attackers():
    """The DPA of "Leakage": what an attacker that knows the group guesses."""
    names = _examples_of("predictability.md")
    row = DPAAuditor("A->T", random_state=0).audit(**names["labels"]).table.iloc[0]
    figure, (axes,) = _sheet(6.6, 1.8)
    bars = {"the predictions": "quality_model", "equally accurate random labels": "quality_data"}
    for place, column in enumerate(bars.values()):
        share = 100 * row[column]
        axes.barh(place, share, 0.6, color=PALE if place else ABOVE)
        axes.text(share + 1, place, f"{share:.1f} %", va="center", color=INK)
    axes.set(xlim=(0, 100), xlabel="% guessed correctly by an attacker that knows the group")
    axes.set_yticks(range(len(bars)), list(bars))
    axes.axvline(50, color=PALE, linestyle=":", linewidth=1.2)
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def verdicts():
    """What an interval says, without and with a limit."""
    figure, (axes,) = _sheet(6.6, 2.4)
    cases = [
        ("reduces", -0.05, 0.02, "above the limit"),
        ("no clear effect", -0.005, 0.012, "within the limit"),
        ("no clear effect", 0.01, 0.03, "inconclusive"),
        ("amplifies", 0.05, 0.02, "above the limit"),
    ]
    for place, (verdict, value, reach, limit) in enumerate(cases):
        colour = {"reduces": BELOW, "amplifies": ABOVE}.get(verdict, PALE)
        axes.plot([value - reach, value + reach], [place, place], color=colour, linewidth=2)
        axes.plot(value, place, "o", color=colour)
        axes.text(-0.135, place, verdict, va="center", fontsize=10, color=INK)
        axes.text(0.09, place, limit, va="center", fontsize=10, color=INK)
    axes.axvline(0, color=INK, linewidth=1)
    for side in (-0.02, 0.02):
        axes.axvline(side, color=PALE, linestyle=":", linewidth=1.2)
    axes.text(0.09, len(cases) - 0.3, "with the limit ±0.02", fontsize=10, color=PALE)
    axes.set(xlim=(-0.14, 0.15), ylim=(-0.5, len(cases)), yticks=[], xticks=[-0.02, 0, 0.02])
    axes.spines[["top", "right", "left"]].set_visible(False)
    return figure


def numbers():
    """The waiting times of "Numeric tasks"."""
    figure, (axes,) = _sheet(6.6, 2.0)
    table = _examples_of("related.md")["result"].table
    for place, row in enumerate(table.to_dict("records")):
        colour = {"f": WOMEN, "m": MEN}[row["group"]]
        axes.annotate(
            "",
            (row["observed"], place),
            (row["base"], place),
            arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 2.5, "shrinkA": 3},
        )
        axes.plot(row["base"], place, "o", color="white", markeredgecolor=INK, markersize=9)
    axes.set_yticks(range(len(table)), table["group"])
    axes.set(xlim=(24, 46), ylim=(-0.5, len(table) - 0.5))
    axes.set_xlabel("mean days: labels (circle), predictions (arrow)")
    axes.spines[["top", "right"]].set_visible(False)
    return figure


FIGURES = (
    contingency,
    directions,
    signs,
    first_audit,
    timeline,
    waterfall,
    differences,
    mitigations,
    attackers,
    verdicts,
    numbers,
)


def draw(app):
    folder = Path(app.srcdir) / "generated" / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    for make in FIGURES:
        # No date and no random ids: the same picture at each build.
        figure = make()
        figure.savefig(folder / f"{make.__name__}.svg", metadata={"Date": None})


def setup(app):
    app.connect("builder-inited", draw)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
