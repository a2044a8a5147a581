"""Pages of reports and comparisons: one file, for every screen, paper and screen readers."""

import html
import json
import re
import shutil
import subprocess
from collections import Counter
from html.parser import HTMLParser
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scenarios import SCENARIOS, audit_of

import skbiasamp
from skbiasamp import DirectionalAuditor, MultiAttributeAuditor
from skbiasamp._utils.formatting import ABOVE, BELOW, SERIES  # internal: no object has them
from skbiasamp.datasets import load_compas

pytest.importorskip("jinja2")

FOLDER = Path(skbiasamp.__file__).parent / "render"
CSS = (FOLDER / "page.css").read_text()
VOID = {"meta", "br", "hr", "img", "input", "link"}
ATTACK = "<script>alert(1)</script>"
WILD = "</style><img src=x onerror=alert(2)>"


class Reading(HTMLParser):
    """What a page holds: its elements in order, with attributes and the text inside."""

    def __init__(self, text):
        super().__init__()
        self.open, self.elements, self.unbalanced = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append({"tag": tag, "text": ""} | dict(attrs))
        if tag not in VOID:
            self.open.append(self.elements[-1])

    def handle_startendtag(self, tag, attrs):
        self.elements.append({"tag": tag, "text": ""} | dict(attrs))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop()["tag"] != tag:
            self.unbalanced.append((tag, self.getpos()))

    def handle_data(self, data):
        for element in self.open:
            element["text"] += data

    def all(self, tag, **attributes):
        return [
            element
            for element in self.elements
            if element["tag"] == tag
            and all(element.get(key) == value for key, value in attributes.items())
        ]

    def texts(self, tag, **attributes):
        return [" ".join(element["text"].split()) for element in self.all(tag, **attributes)]


def few(**named):
    return [DirectionalAuditor(reference="test", **named)]


def hostile_rows(n=400):
    """Return groups, labels and predictions of four models; the first is right."""
    rng = np.random.default_rng(0)
    groups = pd.DataFrame(
        {
            "one": np.array([ATTACK, "a|b\nc \"quoted\" & 'x'"], object)[rng.integers(0, 2, n)],
            "two": np.array(["W" * 300, "\u202eold\x00"], object)[rng.integers(0, 2, n)],
        }
    )
    lean = 0.2 * (groups["one"] == ATTACK).to_numpy()
    y = (rng.random((n, 6)) < 0.3 + lean[:, None]).astype(int)
    tasks = [WILD, "{{ 7*7 }}", "x" * 200, "a b " * 40, "']]>", ""]
    models = [
        pd.DataFrame(np.where(rng.random((n, 6)) < share, y, 1), columns=tasks)
        for share in (1, 0.9, 0.6, 0.8)
    ]
    auditors = [*few(), *few(direction="T->A")]
    auditors.append(MultiAttributeAuditor(reference="test", interval=None, min_count=20))
    return models, {"sensitive_features": groups, "auditor": auditors, "random_state": 0}


@pytest.fixture(scope="module")
def hostile():
    (labels, *_, predicted), how = hostile_rows()
    groups = how["sensitive_features"]
    return skbiasamp.audit(labels, predicted, sensitive_pred=groups, **how)


@pytest.fixture(scope="module")
def compared_hostile():
    (labels, *predicted), how = hostile_rows()
    models = dict(zip(["{{ 6*6 }}", ATTACK, "W" * 90], predicted, strict=True))
    turned = how["sensitive_features"].iloc[::-1].reset_index(drop=True)
    return skbiasamp.compare(labels, models, sensitive_preds=dict.fromkeys(models, turned), **how)


@pytest.fixture(scope="module", params=["hostile", "scores", "compared_hostile", "two_models"])
def read(request):
    kept = SCENARIOS.get(request.param)
    return Reading((kept() if kept else request.getfixturevalue(request.param)).to_html())


def test_the_page_is_sound_html_that_needs_nothing_from_outside(read):
    assert not read.unbalanced
    assert not read.open
    ids = Counter(element["id"] for element in read.elements if "id" in element)
    assert [name for name, n in ids.items() if n > 1] == []
    places = [element["href"] for element in read.elements if "href" in element]
    assert all(place.startswith("#") for place in places)
    places += [f"#{one['aria-labelledby']}" for one in read.elements if "aria-labelledby" in one]
    assert len(places) >= 3
    assert {link.removeprefix("#") for link in places} <= set(ids)
    assert not [element for element in read.elements if "src" in element]
    assert not read.all("link")
    for style in (FOLDER / "page.css", FOLDER / "page.js"):
        assert not re.search(r"url\(|@import|https?:|fetch|XMLHttp", style.read_text())


@pytest.mark.parametrize("kind", ["hostile", "compared_hostile"])
def test_labels_are_text_and_nothing_else(kind, request):
    page = request.getfixturevalue(kind).to_html()
    read = Reading(page)
    assert len(read.all("script")) == 1
    assert not read.all("img")
    assert not [one for one in read.elements if any(key.startswith("on") for key in one)]
    assert ATTACK not in page
    assert "{{ 7*7 }}" in page
    assert kind == "hostile" or "{{ 6*6 }}" in read.texts("h1")[0]
    names = " ".join(read.texts("th", scope="row"))
    # What would turn text around, or could not be written, is shown as unknown.
    for name in (ATTACK, WILD, "a|b c \"quoted\" & 'x'", "\ufffdold\ufffd"):
        assert name in names
    assert "\u202e" not in page


def test_headings_landmarks_tables_and_pictures_speak_to_screen_readers(read):
    levels = [int(one["tag"][1]) for one in read.elements if re.fullmatch("h[1-6]", one["tag"])]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert read.texts("h1") == read.texts("title")[:1] != []
    assert [len(read.all(landmark)) for landmark in ("header", "main", "footer")] == [1, 1, 1]
    assert (read.all("a")[0]["class"], read.all("a")[0]["href"]) == ("skip", "#main")
    assert [element["lang"] for element in read.all("html")] == ["en"]
    assert len(read.texts("caption")) == len(read.all("table")) > 0
    assert all(read.texts("caption"))
    assert all("scope" in element for element in read.all("th"))
    for svg in read.all("svg"):
        assert svg.get("role") == "img" or svg["aria-hidden"] == "true"
    marks = read.texts("svg", role="img")
    assert len(marks) == len(read.all("td", **{"class": "marks"}))
    assert all(marks)  # their titles: there is no other text in them
    pictures = read.all("div", role="img")
    assert pictures
    assert all(picture["aria-label"] for picture in pictures)


def test_a_page_stays_small():
    rng = np.random.default_rng(0)
    tasks = pd.DataFrame(rng.integers(0, 2, (300, 400)), columns=[f"{i} " * 30 for i in range(400)])
    auditors = [*few(), *few(ties="negative")] * 3
    page = skbiasamp.audit(
        tasks, tasks[::-1].reset_index(drop=True), sensitive_features=["f" * 80, "m" * 80] * 150,
        auditor=auditors,
    ).to_html()  # fmt: skip
    assert 100_000 < len(page.encode()) < 2_000_000
    assert "of 800" in page


# The page in frames of two widths; what a browser makes of it is left in the document.
PROBE = """<!doctype html><body><pre id="found"></pre><script>
const pages = JSON.parse(document.getElementById("content").textContent);
for (const _ of pages) for (const width of [400, 900, 1000, 1280]) {
  const frame = document.body.appendChild(document.createElement("iframe"));
  frame.style = `width:${width}px;height:900px`;
}
Promise.all([...document.querySelectorAll("iframe")].map((frame, i) => new Promise(done => {
  frame.onload = () => {
    const inner = frame.contentDocument;
    inner.querySelectorAll("details").forEach(one => one.open = true);
    const table = inner.getElementById("pairs") || inner.getElementById("pairs-1");
    const heading = table.tHead.rows[0].cells[2];
    const column = () => [...table.tBodies[0].rows].map(row => +row.cells[2].dataset.value);
    const before = column();
    const sorted = [0, 1].map(() => {
      heading.querySelector("button").click();
      return [heading.getAttribute("aria-sort"), column()];
    });
    const cut = [...inner.querySelectorAll("main *:not(svg *)")].filter(one => {
      const box = one.getBoundingClientRect();
      return !one.closest(".hidden") && box.right > frame.clientWidth + 1;
    });
    done({wide: inner.documentElement.scrollWidth, cut: cut.length, before, sorted});
  };
  frame.srcdoc = pages[Math.floor(i / 4)];
}))).then(found => document.getElementById("found").textContent = JSON.stringify(found));
</script></body>"""


def chromium_with(content, folder, *options):
    """Open a page in a browser; return what the browser printed."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("no chromium: the page was not looked at")
    file = folder / "probe.html"
    file.write_text(content, encoding="utf-8")
    done = subprocess.run(
        [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         f"--user-data-dir={folder / 'profile'}", *options, file.as_uri()],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    return done.stdout


def in_chromium(content, folder):
    """Return what a page that was opened in a browser left in <pre id="found">."""
    options = ("--window-size=1400,900", "--virtual-time-budget=20000", "--dump-dom")
    (output,) = re.findall(r'<pre id="found">(.+?)</pre>', chromium_with(content, folder, *options))
    return json.loads(html.unescape(output))


def test_an_audit_of_one_task_prints_on_two_sheets(tmp_path):
    compas = load_compas()
    how = {"sensitive_features": compas.sensitive_features, "favourable": 0, "random_state": 0}
    report = skbiasamp.audit(compas.target, (compas.decile_score >= 5).astype(int), **how)
    file = tmp_path / "page.pdf"
    page = report.to_html().replace("@page {", "@page { size: A4;")
    chromium_with(page, tmp_path, f"--print-to-pdf={file}", "--no-pdf-header-footer")
    assert len(re.findall(rb"/Type\s*/Page\b(?!s)", file.read_bytes())) == 2


def test_axe_finds_nothing_wrong(hostile, tmp_path):
    axe = pytest.importorskip("axe_playwright_python")
    script = (Path(axe.__file__).parent / "axe.min.js").read_text("utf-8")
    script = script.replace("</script", "<\\/script")
    probe = f"""<pre id="found"></pre><script>{script}</script><script>
        document.querySelectorAll("details").forEach(one => one.open = true);
        axe.run("main").then(seen => document.getElementById("found").textContent = JSON.stringify(
          {{passed: seen.passes.length, broken: seen.violations.map(one => one.id)}}));
        </script></body>"""
    checks = in_chromium(hostile.to_html().replace("</body>", probe), tmp_path)
    assert checks["passed"] > 10
    assert checks["broken"] == []


def test_a_browser_shows_both_pages_without_overflow_and_sorts_them(
    hostile, compared_hostile, tmp_path
):
    """On a phone, a tablet, half a screen and a desk: one start of the browser for both pages."""
    content = json.dumps([hostile.to_html(), compared_hostile.to_html()]).replace("<", "\\u003c")
    content = f'<script type="application/json" id="content">{content}</script>'
    windows = in_chromium(PROBE.replace("<pre", f"{content}<pre", 1), tmp_path)
    assert [window["wide"] for window in windows] == [400, 900, 1000, 1280] * 2
    assert [window["cut"] for window in windows] == [0] * 8
    for one in windows[:4]:
        (first, falling), (second, rising) = one["sorted"]
        assert (first, second) == ("descending", "ascending")
        assert falling == sorted(one["before"], reverse=True) != one["before"]
        assert rising == sorted(one["before"])


@pytest.mark.parametrize("width", [320, 390, 700, 1000, 1280])
def test_numbers_at_both_ends_of_a_picture_are_inside_and_apart(width, tmp_path):
    reports = audit_of({"f": (0.06, 0.0), "m": (0.8, 1.0)}), SCENARIOS["numbers"]()
    pages = json.dumps([report.to_html() for report in reports]).replace("<", "\\u003c")
    probe = """<pre id="found"></pre><script>const found = [];
      const frames = PAGES.map(page => Object.assign(document.createElement("iframe"),
        {width: WIDTH, height: 900, srcdoc: page, onload: ({target}) => {
          const figure = target.contentDocument.querySelector(".first figure");
          const [{left, right}] = figure.getClientRects();
          const all = [...figure.querySelectorAll("svg text")].map(
            text => text.getBoundingClientRect()).filter(box => box.width);
          found.push(all.every(a => a.left >= left && a.right <= right && all.every(b => a === b ||
            a.right < b.left || b.right < a.left || a.bottom - 4 < b.top || b.bottom - 4 < a.top)));
          document.getElementById("found").textContent = JSON.stringify(found)}}));
      document.body.append(...frames)</script>"""
    probe = probe.replace("WIDTH", str(width)).replace("PAGES", pages)
    assert in_chromium(f"<body>{probe}</body>", tmp_path) == [True, True]


def test_a_step_about_accuracy_rests_on_the_interval_of_its_difference():
    """Two more rows of 800 that are right are no gain, and two more that are wrong no cost."""
    sex = np.repeat(["f", "m"], 400)
    hired = np.r_[np.repeat([1, 0], [100, 300]), np.repeat([1, 0], [200, 200])]

    def wrong(*ranges):
        return hired ^ np.isin(np.arange(800), np.concatenate([np.arange(*one) for one in ranges]))

    fair = wrong((0, 10), (100, 110), (400, 410), (600, 610))
    amplifying = wrong((0, 19), (600, 619))
    worse = wrong((0, 20), (100, 120), (400, 420), (600, 620))
    assert (amplifying == hired).sum() == (fair == hired).sum() + 2
    for old, new, verdict, topic, said in (
        (fair, amplifying, "amplifies more", "no gain", "is not clearly more accurate."),
        (amplifying, fair, "amplifies less", "choice", ""),
        (amplifying, worse, "amplifies less", "cost", "its accuracy is 5.2 percentage points lo"),
    ):
        models = {"old": old, "new": new}
        report = skbiasamp.compare(hired, models, sensitive_features=sex, auditor=few())
        assert report["directional A->T"].verdict("new") == verdict
        assert report.findings[0].topic == topic
        assert said in report.findings[0].text


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
