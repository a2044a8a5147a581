"""Draw the pictures of the README, of docs/concepts.md and of docs/reports.md again.

python docs/images/draw.py   # with chromium for report.png, the page of a report
"""

import doctest
import runpy
import shutil
import subprocess
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from skbiasamp._utils.palette import SERIES

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
LABELS, PREDICTIONS = SERIES[:2]


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


def save(name):
    """Write the current figure, the same on each run."""
    plt.gcf().savefig(FOLDER / name, metadata={"Date": None})


def picture_of_page(report, chromium):
    """Write what a reader of the report's page sees first."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        report.to_html(page)
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        options += ["--window-size=1000,960", f"--screenshot={FOLDER / 'report.png'}"]
        subprocess.run([chromium, *options, page.as_uri()], check=True, capture_output=True)


if __name__ == "__main__":
    plt.rcParams["svg.hashsalt"] = "skbiasamp"
    runpy.run_path(str(ROOT / "examples" / "audit" / "plot_compas_thresholds.py"))
    save("compas-thresholds.svg")
    report = of_readme()["report"]
    first_audit(report)
    save("first-audit.svg")
    if chromium := shutil.which("chromium"):
        picture_of_page(report, chromium)
