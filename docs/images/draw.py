"""Draw pictures of the README and the documentation again that are not drawn at each build.

python docs/images/draw.py              # all; chromium for report, the page of a report
python docs/images/draw.py callbacks    # one; callbacks and captions need SKBIASAMP_DATA
"""

import doctest
import os
import runpy
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import pandas as pd

from skbiasamp import LICAuditor
from skbiasamp._utils.palette import ABOVE, SERIES
from skbiasamp.metrics import MatchedPairsAuditor

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
sys.path += [str(ROOT / "docs" / "_extensions"), str(ROOT / "benchmarks" / "papers")]
from sheet import INK, NOTE, QUIET, TEXT, WIDTH, narrow, sheet, write  # noqa: E402

LABELS, PREDICTIONS = SERIES[:2]
CAPTIONERS = {"nic": "NIC", "sat": "SAT", "fc": "FC", "att2in": "Att2in", "updn": "UpDn"}
CAPTIONERS |= {"nic_plus": "NIC+", "nic_equalizer": "Equalizer"}


def first_audit(report):
    """Draw the rates of each group in labels and predictions, with the change marked."""
    rates = report.rates.set_index("group")
    result = report["directional A->T"]
    _, ax = plt.subplots(figsize=(7.5, 2.7), layout="constrained")
    for place, (_, row) in enumerate(rates[::-1].iterrows()):
        labelled, predicted = 100 * row["base_rate"], 100 * row["predicted_rate"]
        ax.annotate(
            "",
            (predicted, place),
            (labelled, place),
            arrowprops={"arrowstyle": "-|>", "color": PREDICTIONS, "linewidth": 2.5},
        )
        ax.plot(labelled, place, "o", color=LABELS, markersize=9)
        before = "left" if labelled > predicted else "right"
        after = "right" if labelled > predicted else "left"
        gap = 0.8 if labelled > predicted else -0.8
        ax.text(labelled + gap, place, f"{labelled:.1f} %", ha=before, va="center", color=LABELS)
        ax.text(
            predicted - gap, place, f"{predicted:.1f} %", ha=after, va="center", color=PREDICTIONS
        )
    ax.set(
        xlim=(20, 65),
        ylim=(-0.6, len(rates) - 0.2),
        yticks=range(len(rates)),
        yticklabels=rates.index[::-1],
        xlabel="charged again within two years, % of the group",
        title=f"The classifier amplifies: {result.value:+.3f} "
        f"(95 % interval {result.low:+.3f} to {result.high:+.3f})",
    )
    ax.plot([], [], "o", color=LABELS, markersize=9, label="in the labels")
    ax.plot([], [], ">", color=PREDICTIONS, markersize=9, label="in the predictions")
    ax.legend(loc="upper center", ncols=2, frameon=False)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.tick_params(axis="y", length=0)


def of_readme():
    """Return what the examples of the README define."""
    test = doctest.DocTestParser().get_doctest(
        (ROOT / "README.md").read_text("utf-8"), {}, "README", None, None
    )
    for example in test.examples:
        exec(compile(example.source, "README.md", "single"), test.globs)
    return test.globs


def thresholds():
    """Draw the gallery's picture of COMPAS at every threshold in the size of a phone."""
    runpy.run_path(str(ROOT / "examples" / "audit" / "plot_compas_thresholds.py"))
    figure = plt.gcf()
    figure.set_size_inches(WIDTH, 5.2)
    for axes in figure.axes:
        narrow(axes, 26)
    figure.axes[0].set_ylim(bottom=-0.13)  # under the curve there is room for its legend
    return figure


def callbacks():
    """Draw the callbacks of Bertrand and Mullainathan's résumés by name, and the difference."""
    rows = pd.read_csv(Path(os.environ["SKBIASAMP_DATA"]) / "resume_callbacks.csv.gz")
    figure, (rates, difference) = sheet(3.8, rows=2, height_ratios=(3, 2))
    for place, (race, group) in enumerate(rows.groupby("race")):
        names = 100 * group.groupby("firstname")["received_callback"].mean()
        look = {"color": SERIES[place], "alpha": 0.6, "linewidths": 0}
        rates.scatter(names, [place] * len(names), 36, **look)
        mean = 100 * group["received_callback"].mean()
        rates.plot([mean, mean], [place - 0.3, place + 0.3], color=INK, linewidth=2)
        rates.text(mean, place - 0.36, f"{mean:.1f} %", ha="center", va="bottom", fontsize=TEXT)
        rates.text(0, place - 0.36, race, va="bottom", fontsize=TEXT, color=SERIES[place])
    rates.set(xlim=(0, 17), ylim=(1.5, -0.8), xticks=[0, 5, 10, 15], yticks=[])
    rates.set_title("callbacks, % (a dot: a first name)", fontsize=TEXT, loc="left")
    clusters = {"pairs": None, "pairs and names": rows["firstname"]}
    for place, (name, names) in enumerate(clusters.items()):
        result = MatchedPairsAuditor().audit(
            rows["received_callback"],
            sensitive_features=rows["race"],
            pairs=rows["job_ad_id"],
            **({} if names is None else {"clusters": names}),
        )
        row = 100 * result.table.iloc[0][["difference", "low", "high"]].astype(float)
        difference.plot(row[["low", "high"]], [place, place], color=INK, linewidth=2)
        difference.plot(row["difference"], place, "o", color=INK)
        difference.text(0.2, place, name, va="center", fontsize=NOTE, color=QUIET)
    difference.axvline(0, color=INK, linewidth=1)
    difference.set(xlim=(-6, 3), ylim=(1.6, -0.6), yticks=[])
    title = "difference within adverts, percentage points,\nwith 95 % intervals over"
    difference.set_title(title, fontsize=TEXT, loc="left")
    for axes in (rates, difference):
        axes.spines["left"].set_visible(False)
    return figure


def captions():
    """Draw LIC of seven captioning models, as benchmarks/papers/lic_captioners.py measures it."""
    from reference_data import read_captions

    human = read_captions(subset="human").frame
    models = read_captions().frame.set_index("image").loc[human["image"]]
    people = human["caption"].str.replace("genderword", "<group>").to_numpy()
    figure, (axes,) = sheet(2.8)
    for place, name in enumerate(CAPTIONERS):
        auditor = LICAuditor(n_draws=5, n_resamples=499, random_state=0)
        result = auditor.audit(people, models[name].to_numpy(), sensitive_features=human["gender"])
        axes.plot([100 * result.low, 100 * result.high], [place, place], color=ABOVE, linewidth=2)
        axes.plot(100 * result.value, place, "o", color=ABOVE)
    axes.axvline(0, color=INK, linewidth=1)
    axes.text(0.2, -0.9, "human captions", va="center", fontsize=NOTE, color=QUIET)
    axes.set_yticks(range(len(CAPTIONERS)), CAPTIONERS.values())
    axes.set(xlim=(-1, 10.5), ylim=(len(CAPTIONERS) - 0.5, -1.4))
    axes.set_xlabel("LIC, percentage points: captions reveal\ngender better than human captions →")
    return figure


def report():
    """Draw the first screen of a report's page, as a phone shows it."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        of_readme()["report"].to_html(page)
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        options += ["--force-device-scale-factor=2", "--window-size=390,1180"]
        options += [f"--screenshot={FOLDER / 'report.png'}", page.as_uri()]
        subprocess.run(["chromium", *options], check=True, capture_output=True)


PICTURES = {"compas-thresholds": thresholds, "callbacks": callbacks, "captions": captions}

if __name__ == "__main__":
    asked = sys.argv[1:] or [*PICTURES, "first-audit", "report"]
    for name in asked:
        if name in PICTURES:
            write(PICTURES[name], FOLDER / f"{name}.svg")
    if "first-audit" in asked:  # of the README, and wider
        first_audit(of_readme()["report"])
        plt.rcParams["svg.hashsalt"] = "skbiasamp"
        plt.gcf().savefig(FOLDER / "first-audit.svg", metadata={"Date": None})
    if "report" in asked:
        report()
