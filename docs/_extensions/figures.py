"""The pictures of the user guide, drawn at each build into `docs/generated/figures`."""

import contextlib
import doctest
import io
import re
from math import isnan
from pathlib import Path
from textwrap import fill

import pandas as pd
from sheet import INK, NOTE, PALE, QUIET, TEXT, names_of, narrow, sheet, write
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from skbiasamp import AuditedClassifier, DirectionalAuditor, DPAAuditor, amplification_scorer
from skbiasamp._utils.formatting import ABOVE, BELOW, SERIES, UNCLEAR
from skbiasamp.datasets import load_colored_digits, load_compas, load_occupations
from skbiasamp.plotting import (
    ComparisonDisplay,
    TimelineDisplay,
    WaterfallDisplay,
)

WOMEN, MEN, *_ = SERIES
DOCS = Path(__file__).resolve().parents[1]


def _arrow(axes, start, end, colour=INK, width=2.5):
    look = {"arrowstyle": "-|>", "color": colour, "lw": width, "shrinkA": 3}
    axes.annotate("", end, start, arrowprops=look)


def _table(axes, x, y, title, header, rows, width=1.15, height=0.55):
    """Write rows below each other, the group in its colour."""
    axes.text(x, y + 1.15 * height, title, fontweight="bold")
    for line, cells in enumerate([header, *rows]):
        for column, cell in enumerate(cells):
            colour = {"f": WOMEN, "m": MEN}.get(cell, INK if line else QUIET)
            axes.text(x + column * width, y - line * height, cell, fontsize=TEXT, color=colour)


def contingency():
    """Equal rows become one cell with a count; two contingencies add."""
    figure, (axes,) = sheet(3.0)
    rows = [("f", "1", "1"), ("f", "1", "1"), ("f", "0", "1"), ("m", "0", "0"), ("m", "1", "0")]
    rows += [("m", "0", "0")]
    _table(axes, 0, 3.6, "rows", ("sex", "label", "pred."), rows)
    _arrow(axes, (3.3, 2.0), (4.3, 2.0), width=1.5)
    axes.text(3.75, 2.25, "count", ha="center", fontsize=TEXT)
    header = ("sex", "label", "pred.", "rows")
    cells = [("f", "1", "1", "2"), ("f", "0", "1", "1"), ("m", "0", "0", "2"), ("m", "1", "0", "1")]
    _table(axes, 4.6, 3.6, "contingency", header, cells)
    axes.text(0, -0.5, "A million such rows have at most eight cells.", fontsize=TEXT)
    axes.text(0, -1.05, "The cells of two days can be added.", fontsize=TEXT)
    axes.set(xlim=(-0.1, 9.1), ylim=(-1.2, 4.6))
    axes.axis("off")
    return figure


def directions():
    """Rates in the two directions."""
    figure, both = sheet(5.0, rows=2)
    titles = (
        "group → task (A→T):\nhow many of each group cook?",
        "task → group (T→A):\nhow many of these are women?",
    )
    names = (("women", "men"), ("cook", "don’t"))
    colours = ((WOMEN, MEN), (INK, PALE))
    values = [([0.75, 0.25], [0.85, 0.175]), ([0.75, 0.25], [0.80, 0.22])]
    for axes, title, panel, looks, numbers in zip(
        both, titles, names, colours, values, strict=True
    ):
        for place, (colour, *rates) in enumerate(zip(looks, *numbers, strict=True)):
            for side, rate in zip((-0.19, 0.19), rates, strict=True):
                face = "white" if side < 0 else colour
                axes.bar(place + side, rate, 0.34, color=face, edgecolor=colour, linewidth=2)
                axes.text(place + side, rate + 0.03, f"{rate:g}", ha="center", fontsize=TEXT)
        axes.set(xlim=(-0.6, 1.6), ylim=(0, 1), yticks=[])
        axes.set_xticks([0, 1], panel)
        axes.tick_params(length=0)
        axes.set_title(title, fontsize=TEXT)
        axes.spines["left"].set_visible(False)
    figure.supxlabel("outlined: labels; filled: predictions", fontsize=TEXT)
    return figure


def signs():
    """Which changes count as amplification."""
    figure, (axes,) = sheet(2.8)
    cases = [
        ("cooks more\nthan others", 0.66, 0.95, "+"),
        ("cooks more\nthan others", 0.85, 0.56, "−"),
        ("cooks less\nthan others", 0.34, 0.05, "+"),
        ("cooks less\nthan others", 0.15, 0.44, "−"),
    ]
    axes.axhline(0.5, color=PALE, linestyle=":", linewidth=1.2)
    axes.text(3, 0.53, "all rows", ha="center", va="bottom", fontsize=NOTE, color=QUIET)
    for place, (name, label, predicted, verdict) in enumerate(cases):
        colour = ABOVE if verdict == "+" else BELOW
        _arrow(axes, (place, label), (place, predicted), colour)
        axes.plot(place, label, "o", color="white", markeredgecolor=INK, markersize=9)
        word = "amplified" if verdict == "+" else "reduced"
        axes.text(place, -0.16, f"{verdict} {word}", ha="center", color=colour, fontsize=NOTE)
        axes.text(place, 1.04, name, ha="center", va="bottom", fontsize=NOTE)
    axes.set(xlim=(-0.5, 3.5), ylim=(-0.2, 1.3))
    axes.axis("off")
    return figure


def first_audit():
    """The picture of the report of "Start: Python"."""
    figure, (axes,) = sheet(2.2)
    examples_of("getting-started.md")["report"].plot(ax=axes)
    narrow(axes, 40)
    axes.set_title(axes.get_title(), fontsize=TEXT)
    axes.set_ylim(1.6, -0.6)
    return figure


def examples_of(page):
    """Return what the first examples of a page define."""
    text = (DOCS / page).read_text("utf-8")
    code = re.search(r"```python\n(>>> .*?)```", text, re.DOTALL)[1]
    names = {}
    with contextlib.redirect_stdout(io.StringIO()):
        for example in doctest.DocTestParser().get_examples(code):
            exec(compile(example.source, page, "single", dont_inherit=True), names)
    return names


def timeline():
    """The watch of "Monitoring": the rates of the groups, and the value that follows from them."""
    watch = examples_of("monitoring.md")["timeline"]
    figure, (rates, axes) = sheet(5.6, rows=2, height_ratios=(2, 3))
    TimelineDisplay.from_timeline(watch, ax=axes)
    narrow(axes)
    axes.get_legend().remove()
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower left", fontsize=NOTE)
    axes.texts[0].set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 1})
    places, periods = axes.get_xticks(), names_of(axes.xaxis)
    axes.set_xticks(places[::3], periods[::3], rotation=0, ha="center")
    axes.set_title("directional, group → task", fontsize=TEXT)
    at = dict(zip(periods, places, strict=True))
    for colour, (group, own) in zip(SERIES, watch.rates.groupby("group"), strict=False):
        own = own[own["period"].notna()]
        x = [at[period] for period in own["period"]]
        rates.plot(x, 100 * own["labelled"], "o", color=colour, markerfacecolor="white")
        rates.plot(x, 100 * own["predicted"], "o-", color=colour, markersize=4)
        rates.text(x[0] - 0.3, 100 * own["predicted"].iloc[0], group, color=colour, ha="right")
    rates.set(ylim=(0, 60), xlim=axes.get_xlim(), xticks=[])
    rates.set_title("hired, % of each group (ring: labels)", fontsize=TEXT)
    return figure


def waterfall():
    """The parts of "Where amplification comes from"."""
    figure, (axes,) = sheet(3.0)
    WaterfallDisplay.from_explanation(examples_of("why.md")["explanation"], ax=axes)
    narrow(axes)
    axes.set(xlim=(-0.03, 0.15), xticks=[0, 0.05, 0.1, 0.15])
    return figure


def differences():
    """The comparison of "Comparing models"."""
    figure, (axes,) = sheet(2.4)
    ComparisonDisplay.from_result(examples_of("comparing.md")["result"], ax=axes)
    narrow(axes)
    return figure


def mitigations():
    """The search of "Mitigations": amplification and accuracy of each candidate."""
    result = examples_of("mitigation.md")["result"]
    by_measure = result.measures.set_index(["measure", "mitigation"])
    points, accuracy = (
        by_measure.loc[measure] for measure in (result.amplifications[0], result.scores[0])
    )
    figure, (axes,) = sheet(5.6)
    for place, (name, row) in enumerate(points.iterrows()):
        unclear = not (row["low"] > 0 or row["high"] < 0)
        colour = UNCLEAR if unclear else ABOVE if row["value"] > 0 else BELOW
        face = "white" if isnan(row["low"]) else colour
        axes.plot([row["low"], row["high"]], [place, place], color=colour, linewidth=2)
        axes.plot(row["value"], place, "o", color=colour, markerfacecolor=face, markersize=6)
        right = f"{100 * accuracy.loc[name, 'value']:.1f} %"
        axes.text(0.3, place, right, ha="right", va="center", fontsize=NOTE)
    axes.axvline(0, color=INK, linewidth=1)
    for side in (-result.limit, result.limit):
        axes.axvline(side, color=PALE, linestyle=":", linewidth=1.2)
    names = [fill(name, 24) for name in points.index]
    axes.set_yticks(range(len(names)), names, fontsize=NOTE)
    axes.tick_params(axis="y", length=0)
    axes.set(xlim=(-0.16, 0.3), ylim=(len(names) - 0.5, -1.5), xticks=[-0.1, 0, 0.1])
    axes.text(0.3, -1, "accuracy", ha="right", va="center", fontsize=NOTE, color=QUIET)
    axes.set_xlabel("amplification, group → task\n(hollow: no interval; dotted: limit)", x=0.4)
    axes.spines["left"].set_visible(False)
    return figure


def attackers():
    """The DPA of "Leakage": what an attacker that knows the group guesses."""
    cells = load_compas().frame.groupby(["race", "two_year_recid"])
    rows = cells.sample(cells.size().min(), random_state=0)
    high = (rows["decile_score"] >= 5).astype(int)
    labels = {"y_true": rows["two_year_recid"], "y_pred": high, "sensitive_features": rows["race"]}
    row = DPAAuditor("A->T", random_state=0).audit(**labels).table.iloc[0]
    figure, (axes,) = sheet(2.2)
    bars = {"the predictions": "quality_model", "equally accurate\nrandom labels": "quality_data"}
    for place, column in enumerate(bars.values()):
        share = 100 * row[column]
        axes.barh(place, share, 0.6, color=PALE if place else ABOVE)
        axes.text(share + 2, place, f"{share:.1f} %", va="center", fontsize=TEXT)
    axes.axvline(50, color=INK, linestyle=":", linewidth=1.2)
    axes.set(
        xlim=(0, 100),
        xticks=[0, 50, 100],
        xlabel="% of predictions guessed correctly\nby an attacker that knows the group",
    )
    axes.set_yticks(range(len(bars)), list(bars))
    axes.invert_yaxis()
    return figure


def verdicts():
    """What an interval says, without and with a limit."""
    figure, (axes,) = sheet(2.6)
    cases = [
        ("amplifies", 0.05, 0.02, "outside\nthe limit"),
        ("no clear\neffect", 0.01, 0.03, "inconclusive"),
        ("no clear\neffect", -0.005, 0.012, "within\nthe limit"),
        ("reduces", -0.05, 0.02, "outside\nthe limit"),
    ]
    for place, (verdict, value, reach, limit) in enumerate(cases):
        colour = {"reduces": BELOW, "amplifies": ABOVE}.get(verdict, UNCLEAR)
        axes.plot([value - reach, value + reach], [place, place], color=colour, linewidth=2)
        axes.plot(value, place, "o", color=colour)
        axes.text(-0.15, place, verdict, va="center", fontsize=TEXT)
        axes.text(0.085, place, limit, va="center", fontsize=TEXT)
    axes.axvline(0, color=INK, linewidth=1)
    for side in (-0.02, 0.02):
        axes.axvline(side, color=PALE, linestyle=":", linewidth=1.2)
    axes.text(-0.15, -0.8, "verdict", fontsize=NOTE, color=QUIET)
    axes.text(0.085, -0.8, "limit ±0.02", fontsize=NOTE, color=QUIET)
    axes.set(xlim=(-0.15, 0.165), ylim=(3.5, -1), yticks=[], xticks=[-0.05, 0, 0.05])
    axes.spines["left"].set_visible(False)
    return figure


def numbers():
    """The waiting times of "Numeric tasks"."""
    figure, (axes,) = sheet(1.9)
    table = examples_of("numbers.md")["result"].table
    for place, row in enumerate(table.to_dict("records")):
        colour = {"f": WOMEN, "m": MEN}[row["group"]]
        _arrow(axes, (row["base"], place), (row["observed"], place), colour)
        axes.plot(row["base"], place, "o", color="white", markeredgecolor=INK, markersize=9)
    axes.set_yticks(range(len(table)), table["group"])
    axes.set(xlim=(24, 46), ylim=(len(table) - 0.5, -0.5))
    axes.set_xlabel("mean minutes:\nlabels (circle), predictions (arrow)")
    return figure


def choosing():
    """From data and question to a metric, as the table of "Choosing a metric" has it."""
    figure, (axes,) = sheet(5.2)
    steps = [
        ("Is the group\nof each row known?", "no", "label\namplification", "yes"),
        ("Is there a\ntrue label?", "no", "BiasAmp→ with base=,\nmatched pairs", "yes"),
        ("Is the task\na number?", "yes", "numeric\namplification", "no"),
        ("Are group and task\nindependent in the\ntraining labels?", "yes", "leakage, DPA", "no"),
        ("Has each row a set\nof labels?", "yes", "Multi→, leakage", "no"),
        ("BiasAmp→,\ngroup → task (A→T)", "", "", ""),
    ]
    tops = [0.13 + 0.09 * question.count("\n") for question, *_ in steps]
    for line, (question, aside, metric, onward) in enumerate(steps):
        box = {"boxstyle": "round,pad=0.4", "facecolor": "white", "edgecolor": INK}
        look = {"ha": "center", "va": "center", "fontsize": NOTE, "bbox": box}
        if not onward:
            box["facecolor"] = INK
            look |= {"color": "white", "fontweight": "bold"}
        else:
            _arrow(axes, (1.85, -line), (2.45, -line), width=1.2)
            axes.text(2.1, -line + 0.1, aside, ha="center", fontsize=NOTE, color=QUIET)
            axes.text(2.5, -line, metric, va="center", fontsize=NOTE, fontweight="bold")
            _arrow(axes, (0.95, -line), (0.95, -line - 1 + tops[line + 1]), width=1.2)
            axes.text(1.02, -line - 0.53, onward, fontsize=NOTE, color=QUIET)
        axes.text(0.95, -line, question, **look)
    axes.set(xlim=(0, 4), ylim=(-len(steps) + 0.7, 0.4))
    axes.axis("off")
    return figure


def grid_search():
    """Accuracy and amplification of COMPAS trees, from one search."""
    compas = load_compas()
    tree = AuditedClassifier(
        DecisionTreeClassifier(random_state=0),
        auditor=DirectionalAuditor(interval=None),
        sensitive="race",
        drop_sensitive=True,
    )
    depths = range(1, 11)
    search = GridSearchCV(
        tree,
        {"estimator__max_depth": depths},
        scoring={"accuracy": "accuracy", "amplification": amplification_scorer()},
        refit=False,
        cv=StratifiedKFold(5, shuffle=True, random_state=0),
    )
    search.fit(compas.data.assign(race=compas.sensitive_features), compas.target)
    figure, panels = sheet(3.8, rows=2, sharex=True)
    titles = {"accuracy": "accuracy", "amplification": "size of amplification, group → task"}
    for axes, (score, title) in zip(panels, titles.items(), strict=True):
        means = pd.Series(abs(search.cv_results_[f"mean_test_{score}"]), index=depths)
        errors = search.cv_results_[f"std_test_{score}"] / 2  # of five folds: over the root of four
        axes.errorbar(depths, means, errors, fmt="o-", color=INK, markersize=5, linewidth=1.2)
        axes.set_title(title, fontsize=TEXT, loc="left")
        axes.grid(axis="y", color="0.9")
        axes.margins(y=0.15)
    panels[1].set(
        ylim=(0, None),
        xticks=depths,
        xlabel="depth of the tree\n(lines: standard errors of five folds)",
    )
    return figure


def data_sets():
    """Rates of groups in the sets that come with the package."""
    figure, (compas, jobs, digits) = sheet(5.2, rows=3, height_ratios=(1.5, 1, 2))
    rates = 100 * load_compas().frame.groupby("race")["two_year_recid"].mean()
    for place, (group, rate) in enumerate(rates.items()):
        compas.barh(place, rate, 0.7, color=SERIES[place])
        compas.text(1, place, group, va="center", fontsize=TEXT, color="white")
        compas.text(rate + 1, place, f"{rate:.1f} %", va="center", fontsize=TEXT)
    compas.set(xlim=(0, 100), ylim=(1.5, -0.5), yticks=[])
    women = load_occupations().frame["percent_women"].sort_values()
    jobs.plot(women, [0] * len(women), "o", color=INK, alpha=0.5, markersize=7)
    for name in ("carpenter", "analyst", "secretary"):
        side = "left" if women[name] < 10 else "right" if women[name] > 90 else "center"
        jobs.text(women[name], 0.5, name, ha=side, fontsize=TEXT)
    jobs.set(xlim=(0, 100), ylim=(-0.6, 1.6), yticks=[])
    colored = load_colored_digits()
    red = 100 * (colored.sensitive == "red").groupby(colored.target).mean()
    digits.bar(red.index, red, 0.7, color=INK)
    digits.set(xticks=red.index, ylim=(0, 100), yticks=[0, 50, 100])
    compas.set_title("COMPAS: charged again, % of each group", fontsize=TEXT)
    jobs.set_title("32 occupations: women, %", fontsize=TEXT)
    digits.set_title("digits 0 to 9: red images, % of each digit", fontsize=TEXT)
    return figure


def evidence():
    """The settings of "Evidence", by their false verdicts and by their coverage."""
    table = pd.read_csv(DOCS / "evidence-table.csv")
    unchanged = table[table["right"].isna()]
    panels = {
        "false verdicts, %, if nothing changes": (
            unchanged["false"] / unchanged["data_sets"],
            0,
            5,
        ),
        "intervals with the true value, %": (table["covered"] / table["measured"], 90, 95),
    }
    figure, both = sheet(4.0, rows=2)
    for axes, (title, (shares, least, aim)) in zip(both, panels.items(), strict=True):
        bins = range(least, least + 11)
        axes.hist(100 * shares.dropna(), bins, color=PALE, edgecolor="white")
        axes.axvline(aim, color=INK, linewidth=1.5)
        axes.set(xlabel=title, ylabel="settings")
    return figure


# Not the colours of groups or verdicts: the darker, the nearer to the published value.
STATUSES = (
    {"color": INK},
    {"color": QUIET},
    {"color": "#cccccc"},
    {"color": "white"},
    {"color": "white", "hatch": "////"},
)


def replication():
    """The first table of "Replication"."""
    lines = re.findall(r"^\| (.*) \|$", (DOCS / "replication.md").read_text("utf-8"), re.MULTILINE)
    (_, *kinds), *papers = (line.split(" | ") for line in lines[:7])
    figure, (axes,) = sheet(4.2)
    for place, (_, *cells) in enumerate(papers):
        left = 0
        for kind, cell, look in zip(kinds, cells, STATUSES, strict=True):
            count = int(cell.replace("–", "0"))
            look = {"edgecolor": INK, **look, "label": None if place else kind}
            axes.barh(place, count, 0.7, left=left, **look)
            left += count
        axes.text(left + 2, place, f"{left}", va="center", fontsize=TEXT)
    axes.set_yticks(range(len(papers)), [fill(paper, 16) for paper, *_ in papers], fontsize=NOTE)
    axes.set(ylim=(len(papers) - 0.5, -0.5), xlim=(0, 110), xlabel="published values and parts")
    figure.legend(loc="outside lower left", fontsize=NOTE, frameon=False)
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
    choosing,
    grid_search,
    data_sets,
    evidence,
    replication,
)


def draw(app):
    folder = Path(app.srcdir) / "generated" / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    for make in FIGURES:
        write(make, folder / f"{make.__name__}.svg")


def setup(app):
    app.connect("builder-inited", draw)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
