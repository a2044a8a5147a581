"""The built site: no dead link, nothing from elsewhere, every picture described.

`make docs` builds it and runs these; where it was not built they are skipped.
"""

import re
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

pytestmark = pytest.mark.skipif(not PAGES, reason="the site is not built: make docs")


class Page(HTMLParser):
    """What a page links to, loads and shows, and the places it can be linked at."""

    def __init__(self, path):
        super().__init__()
        self.links, self.loaded, self.places, self.undescribed = [], [], set(), []
        self.formulas = 0
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.places |= {given[name] for name in ("id", "name") if given.get(name)}
        self.formulas += tag == "math"
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        if tag in ("img", "script", "iframe", "source") and given.get("src"):
            self.loaded.append(given["src"])
        # Not the search description or the licence, which are links in the head but load nothing.
        if tag == "link" and given.get("rel") in ("stylesheet", "preload", "icon", "preconnect"):
            self.loaded.append(given["href"])
        if tag == "img" and not (given.get("alt") or "").strip():
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


def test_everything_that_a_page_loads_is_part_of_the_site(site):
    """No fonts, scripts or pictures from elsewhere: pages work offline and tell nobody."""
    for path, page in site.items():
        for address in page.loaded:
            if not address.startswith("data:"):
                assert not is_elsewhere(address), f"{path.name} loads {address}"
                assert file_of(path, address).is_file(), f"{path.name} lacks {address}"
    styles = [style.read_text("utf-8") for style in SITE.rglob("*.css")]
    assert styles
    assert not [url for text in styles for url in re.findall(r"url\(['\"]?(?:https?:)?//", text)]


def test_pictures_are_described(site):
    undescribed = {path.name: page.undescribed for path, page in site.items() if page.undescribed}
    assert not undescribed


def test_formulas_are_drawn_by_the_browser(site):
    assert site[SITE / "directional.html"].formulas >= 4
    for path in site:
        text = path.read_text("utf-8")
        assert not re.search(r"<script[^>]*mathjax", text, re.IGNORECASE), path.name
        assert not re.search(r"\\(?:frac|mathrm|sum)\b", re.sub(r"<pre>.*?</pre>", "", text)), path
