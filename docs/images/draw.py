"""Draw pictures of the README and the documentation again that are not drawn at each build.

python docs/images/draw.py              # all; pages and app are photographed, with chromium
python docs/images/draw.py callbacks    # one; callbacks and captions need SKBIASAMP_DATA
"""

import contextlib
import doctest
import io
import os
import runpy
import shutil
import sys
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import pandas as pd
from PIL import Image
from playwright.sync_api import sync_playwright

from skbiasamp import LICAuditor
from skbiasamp._utils.formatting import ABOVE, SERIES
from skbiasamp.metrics import MatchedPairsAuditor

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
sys.path += [str(ROOT / "docs" / "_extensions"), str(ROOT / "benchmarks" / "papers")]
sys.path += [str(ROOT / "tests")]
from sheet import INK, NOTE, QUIET, TEXT, WIDTH, narrow, sheet, write  # noqa: E402

CAPTIONERS = {"nic": "NIC", "sat": "SAT", "fc": "FC", "att2in": "Att2in", "updn": "UpDn"}
CAPTIONERS |= {"nic_plus": "NIC+", "nic_equalizer": "Equalizer"}


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
    """Draw LIC of seven captioning models, on images that have a human caption.

    They are 6,628, for as many women as men. LIC = LIC_M − LIC_D, the value on human captions.
    Words of people outside the vocabulary of NIC are unknown tokens, and so are words that a model
    never uses. All rows are judged, in five folds.
    """
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


# What the marks of "Read your page" stand at, in their order.
MARKED = ("h1", ".chip", ".lead", *[f"dt >> nth={place}" for place in (0, 1)], "figcaption")
MARKED += tuple(f"dt >> nth={place}" for place in (2, 3, 4))
MARK = """(place, number) => {
  const mark = document.createElement("span");
  mark.textContent = number;
  mark.style = "display: inline-block; min-width: 1.5em; margin-right: .4em; border-radius: 4px; " +
    "background: #aa3377; color: #fff; font: bold 15px/1.5 sans-serif; text-align: center;";
  place.matches(".chip") ? place.before(mark) : place.prepend(mark);
}"""


@contextlib.contextmanager
def browser(width, height=900):
    """Give a page of a browser, of a width in pixels."""
    with sync_playwright() as api:
        chromium = api.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        viewport = {"width": width, "height": height}
        yield chromium.new_page(viewport=viewport, device_scale_factor=1.5)
        chromium.close()


def photograph(page, name, selector):
    """Write what a page shows from its top to the end of an element, in 64 colours."""
    box = page.locator(selector).bounding_box()
    width = page.viewport_size["width"]
    clip = {"x": 0, "y": 0, "width": width, "height": box["y"] + box["height"] + 12}
    shown = Image.open(io.BytesIO(page.screenshot(clip=clip, full_page=True)))
    shown.convert("RGB").quantize(64).save(FOLDER / f"{name}.png", optimize=True)


def pages():
    """Write the first screen of the README's page: at a desk, on a phone, and with marks."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        of_readme()["report"].to_html(path)
        for name, width in {"page": 1080, "report": 390, "read-your-page": 390}.items():
            with browser(width) as page:
                page.goto(path.as_uri())
                for number, place in enumerate(MARKED if name == "read-your-page" else (), 1):
                    page.locator(place).first.evaluate(f"place => ({MARK})(place, {number})")
                photograph(page, name, "#first")


def app():
    """Write the app, after a file was dropped."""
    from app_process import running_app

    with tempfile.TemporaryDirectory() as folder, running_app(Path(folder) / "app") as running:
        names = of_readme()
        columns = {"label": names["y_test"], "prediction": names["predicted"]}
        rows = pd.DataFrame({"race": names["race_test"], **columns})
        rows.to_csv(Path(folder) / "test.csv", index=False)
        with browser(540) as page:
            page.goto(running.url)
            page.set_input_files("#file-test", Path(folder) / "test.csv")
            page.wait_for_selector("#target:visible")
            page.wait_for_timeout(500)
            photograph(page, "app", "#rows")


PICTURES = {"compas-thresholds": thresholds, "callbacks": callbacks, "captions": captions}

if __name__ == "__main__":
    asked = sys.argv[1:] or [*PICTURES, "pages", "app"]
    for name in asked:
        if name in PICTURES:
            write(PICTURES[name], FOLDER / f"{name}.svg")
    if "pages" in asked:
        pages()
    if "app" in asked:
        app()
