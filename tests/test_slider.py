"""The threshold that readers of a page can move."""

import html
import json
import re

import numpy as np
import pytest
from document_parts import table_of
from test_page import in_chromium

import skbiasamp

N = 3000
NAMES = ["f <b>", 'm "&']


def audit(y, predicted, sex, **options):
    return skbiasamp.audit(y, predicted * 1, sensitive_features=sex, random_state=0, **options)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    sex = rng.choice(NAMES, N)
    skill = rng.normal(sex == NAMES[1], 1)
    y = (skill + rng.normal(0, 1.5, N) > 1).astype(int)
    return sex, y, skill


@pytest.fixture(scope="module")
def report(rows):
    sex, y, score = rows
    return audit(y, score > 0.6, sex, y_score=score, limit=0.02)


def expected(rows, threshold, intervals):
    """Return what the page says of a threshold, by its definition."""
    sex, y, score = rows
    above = score > threshold
    rates = [above[sex == name].mean() for name in NAMES]
    base = [y[sex == name].mean() for name in NAMES]
    value = ((rates[1] - base[1]) - (rates[0] - base[0])) / 2
    shown = [round(100 * rate, 1) for rate in rates]
    low, high = intervals[1]
    where = "outside the limit" if low > 0.02 or high < -0.02 else "inconclusive"
    return {
        "accuracy": f"{100 * np.mean(above == y):.1f} %",
        # The difference of the rates that are shown, so that a reader can check it.
        "gap": f"{max(shown) - min(shown):.1f}",
        "amplification": f"{value:+.4f}".replace("-", "−"),
        "limit": "within the limit" if low >= -0.02 and high <= 0.02 else where,
        "rate": [f"{100 * rate:.1f} %" for rate in rates],
    }


def taken(texts):
    """Take the intervals of accuracy and amplification out of texts, as numbers."""
    found = [texts.pop(f"{key}-interval") for key in ("accuracy", "amplification")]
    plain = [text.replace(" %", "").replace("−", "-").split(" to ") for text in found]
    return [[float(end) for end in ends] for ends in plain]


def values_said(page):
    """Return what a page says without its script."""
    found = re.findall(r'data-say="([\w-]+)">([^<]*)<', page)
    texts = {key: html.unescape(text) for key, text in found}
    return texts | {"rate": [text for key, text in found if key == "rate"]}


def test_without_the_script_the_page_shows_the_threshold_in_use(rows, report):
    sex, y, score = rows
    page = report.to_html()
    texts = values_said(page)
    threshold = float(texts.pop("threshold").removeprefix("above "))
    assert threshold == pytest.approx(0.6, abs=0.02)
    nearest = report.curve["threshold"].iloc[(report.curve["threshold"] - threshold).abs().argmin()]
    assert texts == expected(rows, nearest, taken(texts))
    assert '<p class="control" hidden>' in page
    assert len(re.findall(r'<polyline class="rate', page)) == 2
    assert len(report.passed) == 2 * (len(report.curve) + 1)
    for row in report.passed.sample(30, random_state=0).itertuples():
        above = (sex == row.group) & ((score > row.threshold) | np.isnan(row.threshold))
        assert (row.labelled, row.others) == ((above & (y == 1)).sum(), (above & (y == 0)).sum())


@pytest.mark.slow
def test_intervals_hold_at_all_thresholds_together(rows):
    """They are as wide as drawing the rows again says, of the largest deviation."""
    sex, y, score = rows
    rng = np.random.default_rng(1)
    weight = rng.uniform(0.5, 1.5, N)
    report = audit(y, score > 0.6, sex, y_score=score, sample_weight=weight)
    data = html.unescape(re.search(r'data-counts="([^"]*)"', report.to_html()).group(1))
    reach = np.array(json.loads(data)["reach"])[:, 1:]
    above = score[:, None] > report.curve["threshold"].to_numpy()
    change, right = above - y[:, None], above == y[:, None]

    def values(counts):
        """Return accuracy and amplification at each threshold."""
        second = counts * (sex == NAMES[1])
        rates = [own @ change / own.sum() for own in (counts - second, second)]
        return np.stack([counts @ right / counts.sum(), (rates[1] - rates[0]) / 2])

    drawn = [weight * rng.multinomial(N, np.full(N, 1 / N)) for _ in range(400)]
    away = np.stack([values(each) for each in drawn]) - values(weight)
    spread = away.std(axis=0)
    most = np.quantile(np.abs(away / spread).max(axis=2), 0.95, axis=0)
    assert (most > 2.4).all()  # 1.96 is the quantile at one threshold
    expected = most[:, None] * spread
    np.testing.assert_allclose(reach[:, 20:80], expected[:, 20:80], rtol=0.15)


def test_in_a_browser_the_slider_moves_the_numbers(rows, report, tmp_path):
    steps = [1, 40, len(report.curve)]
    probe = f"""<pre id="found"></pre><script>
      const figure = document.querySelector("figure.slider"), input = figure.querySelector("input");
      const all = (key) => [...figure.querySelectorAll(`[data-say="${{key}}"]`)]
        .map(one => one.textContent);
      const found = {json.dumps(steps)}.map(at => {{
        input.value = at;
        input.dispatchEvent(new Event("input"));
        const line = figure.querySelector("line.at").getAttribute("x1");
        const keys = ["threshold", "accuracy", "gap", "amplification", "limit",
          "accuracy-interval", "amplification-interval"];
        return {{shown: !input.closest("p").hidden, line, rate: all("rate"),
          ...Object.fromEntries(keys.map(key => [key, all(key)[0]]))}};
      }});
      document.getElementById("found").textContent = JSON.stringify(found);
      </script></body>"""
    found = in_chromium(report.to_html().replace("</body>", probe), tmp_path)
    assert len({texts.pop("line") for texts in found}) == len(steps)
    for at, texts in zip(steps, found, strict=True):
        threshold = report.curve["threshold"].iloc[at - 1]
        assert texts.pop("shown")
        assert float(texts.pop("threshold").removeprefix("above ")) == pytest.approx(
            threshold, rel=1e-3
        )
        assert texts == expected(rows, threshold, taken(texts))


def test_there_is_a_slider_only_for_scores_of_one_task_and_few_groups(rows):
    sex, y, score = (column[:630] for column in rows)
    many = np.arange(630) % 21
    unscored = audit(y, y, sex, auditor=skbiasamp.DirectionalAuditor())
    for report in (unscored, audit(y, y, many, y_score=score)):
        assert report.passed.empty
        assert 'class="slider"' not in report.to_html()
    few = audit(y, y, many - many // 20, y_score=score)
    assert few.passed["group"].nunique() == 20
    rounded = np.round(score)  # -0.3 becomes -0.0
    page = audit(y, rounded > 0, sex, y_score=rounded).to_html()
    assert values_said(page)["threshold"] == "above 0"


def test_the_threshold_in_use_has_the_value_of_the_verdict(rows):
    """So does the table: one value and one interval a threshold, with three groups and no base."""
    rng = np.random.default_rng(1)
    group = rng.choice(list("abc"), N)
    score = rng.normal(np.select([group == "a", group == "b"], [0.5, 0.2], 0), 1)
    y = (score + rng.normal(0, 1.5, N) > 0.3).astype(int)
    report = audit(y, score > 0.55, group, y_score=score, limit=0.02)
    page = values_said(report.to_html())
    assert page["amplification"] == f"{report['directional A->T'].value:+.4f}"
    at = table_of(report, "curve-table")
    (now,) = (row for row in at.rows if "as often as predicted now" in row.notes)
    cells = dict(zip(at.columns, now.cells, strict=True))
    assert cells["Value"].text == page["amplification"]
    assert cells["Interval"].text == page["amplification-interval"]
    assert cells["Accuracy"].text == page["accuracy"]
    assert cells["Limit"].text == page["limit"]


def test_lines_are_of_the_groups_of_many_rows_that_are_furthest_apart():
    rng = np.random.default_rng(2)
    group = np.append(rng.integers(8, size=4000), [8, 8, 9, 9])
    score = rng.normal(group / 4, 1)
    score[-4:] = -9, -9, 9, 9
    y = (score + rng.normal(0, 1, 4004) > 1).astype(int)
    page = audit(y, score > 1, [f"g{name}" for name in group], y_score=score).to_html()
    assert re.findall(r"(g\d): share predicted", page) == ["g0", "g1", "g2", "g5", "g6", "g7"]
    assert "4 more groups are in the table" in page
    assert "largest difference between groups of 30 rows or more <b" in page
    in_use = re.search(r'data-say="threshold">(above [^<]+)</b>', page)[1]
    assert f'aria-valuetext="{in_use}"' in page  # before the slider moves, too
