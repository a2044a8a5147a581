"""The built site: no dead link, nothing from elsewhere, every picture described.

`make docs` builds it and runs these; where it was not built they are skipped.
"""

import html
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

SITE = Path(__file__).resolve().parents[1] / "docs" / "_build" / "html"
PAGES = sorted(
    page
    for page in SITE.rglob("*.html")
    if "_static" not in page.parts and (SITE / "index.html").is_file()
)

pytestmark = [
    pytest.mark.pages,
    pytest.mark.skipif(not PAGES, reason="the site is not built: make docs"),
]


class Page(HTMLParser):
    """What a page links to, loads and shows, and the places it can be linked at."""

    def __init__(self, path):
        super().__init__()
        self.links, self.loaded, self.places, self.undescribed = [], [], set(), []
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.places |= {given[name] for name in ("id", "name") if given.get(name)}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        if tag in ("img", "script", "iframe", "source") and given.get("src"):
            self.loaded.append(given["src"])
        # Not the search description or the licence, which are links in the head but load nothing.
        if tag == "link" and given.get("rel") in ("stylesheet", "preload", "icon", "preconnect"):
            self.loaded.append(given["href"])
        # A thumbnail stands beside the title that it would repeat.
        decorates = "_thumb." in (given.get("src") or "") and given.get("alt") == ""
        if tag == "img" and not decorates and not (given.get("alt") or "").strip():
            self.undescribed.append(given.get("src"))


@pytest.fixture(scope="module")
def site():
    return {path: Page(path) for path in PAGES}


def is_elsewhere(address):
    return bool(urlsplit(address).scheme or urlsplit(address).netloc)


def file_of(path, address):
    target = unquote(urlsplit(address).path)
    return (path.parent / target).resolve() if target else path


def test_no_link_inside_the_site_is_dead(site):
    dead = []
    for path, page in site.items():
        for link in page.links:
            if is_elsewhere(link):
                continue
            target, place = file_of(path, link), unquote(urlsplit(link).fragment)
            if not target.is_file():
                dead.append(f"{path.relative_to(SITE)}: {link}")
            elif place and target in site and place not in site[target].places:
                dead.append(f"{path.relative_to(SITE)}: {link} (no such place)")
    assert not dead, "\n".join(dead)


def test_our_names_are_links(site):
    """A name in a role that leads nowhere is a typing error, or not public."""
    lost = {}
    for path in site:
        names = re.findall(
            r'(.{10})<code class="xref py py-(?!obj)[^>]*>(.*?)</code>', path.read_text("utf-8")
        )
        text = [re.sub("<.*?>", "", name) for before, name in names if not before.endswith('">')]
        if text:
            lost[path.name] = text
    assert not lost


def test_everything_that_a_page_loads_is_part_of_the_site_and_pictures_are_described(site):
    """No fonts, scripts or pictures from elsewhere: pages work offline and tell nobody."""
    for path, page in site.items():
        assert not page.undescribed, path.name
        for address in page.loaded:
            if not address.startswith("data:"):
                assert not is_elsewhere(address), f"{path.name} loads {address}"
                assert file_of(path, address).is_file(), f"{path.name} lacks {address}"
    styles = [style.read_text("utf-8") for style in SITE.rglob("*.css")]
    assert styles
    assert not [url for text in styles for url in re.findall(r"url\(['\"]?(?:https?:)?//", text)]


# Loads one page after the other into a frame of the width of a phone, and of a desk, and looks for
# what is cut off: further right than the frame, and in nothing that scrolls within itself.
PROBE = """<!doctype html><iframe id="frame" style="border: 0; height: 900px"></iframe>
<pre id="found"></pre><script>
const pages = PAGES, frame = document.getElementById("frame"), wide = [];
function load(address, width) {
  return new Promise(done => {
    frame.onload = () => setTimeout(done, 100);  // the theme's scripts have run
    frame.style.width = width + "px";
    frame.src = address;
  });
}
(async () => {
  for (const address of pages) {
    for (const width of [400, 1280]) {
      await load(address, width);
      const content = frame.contentDocument, style = frame.contentWindow.getComputedStyle;
      const scrolls = one => !one.matches("article.bd-article") &&
        (/auto|scroll/.test(style(one).overflowX) || scrolls(one.parentElement));
      const cut = [...content.querySelectorAll("article.bd-article *")].filter(one =>
        one.getBoundingClientRect().right > width + 1 && !scrolls(one));
      if (cut.length || content.documentElement.scrollWidth > width)
        wide.push([address, width, cut.slice(0, 3).map(one => one.outerHTML.slice(0, 80))]);
    }
  }
  document.getElementById("found").textContent = JSON.stringify([pages.length, wide]);
})();
</script>"""


def test_no_page_scrolls_sideways_on_a_phone_or_at_a_desk(tmp_path):
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("no chromium: widths were not looked at")
    addresses = [page.as_uri() for page in PAGES]
    probe = tmp_path / "probe.html"
    probe.write_text(PROBE.replace("PAGES", json.dumps(addresses)), encoding="utf-8")
    done = subprocess.run(
        [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files",
         f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=600000", "--dump-dom",
         probe.as_uri()],
        capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    (found,) = re.findall(r'<pre id="found">(.+?)</pre>', done.stdout)
    looked_at, wide = json.loads(html.unescape(found))
    assert looked_at == len(PAGES)
    assert not wide, "\n".join(map(str, wide))
