"""Every number in the prose of the README and the docs has a source, and agrees with it.

A number is one of these, or the test names it:

- it stands in code or output of its page, which doctest runs;
- it stands in the file of results, or the page of measurements, that its paragraph links;
- it is part of an equation that holds;
- `CLAIMS` says how it is computed;
- it is a default or a named constant of the package (999 resamples, pairs of fewer than 30 rows);
- it is no quantity: a year, a version, a section of a law or paper.

Pages that a script writes are compared with it as a whole, elsewhere.
"""

import ast
import contextlib
import doctest
import functools
import io
import math
import os
import re
import runpy
import warnings
from pathlib import Path

import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from skbiasamp import datasets
from skbiasamp.metrics import MatchedPairsAuditor, directional_amplification

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("SKBIASAMP_DATA", ROOT.parent / "shared" / "data"))
# tests/test_evidence.py, tests/test_benchmarks.py and tests/test_papers.py.
WRITTEN_BY_SCRIPTS = {"evidence", "benchmarks", "papers", "replication"}
PAGES = [ROOT / "README.md"]
PAGES += [page for page in sorted((ROOT / "docs").glob("*.md")) if page.stem != "changelog"]
CHECKED = [page for page in PAGES if page.stem not in WRITTEN_BY_SCRIPTS]

DIGITS = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
NUMBER = re.compile(rf"(?<![\w.,-])[+−-]?{DIGITS}(?![\w.]*\w)")
# The unit of "13.0 to 23.3 percentage points" belongs to both numbers.
MORE = rf"(?: (?:to|and|or|±) [+−-]?{DIGITS}|, [+−-]?{DIGITS})*"
PER_CENT = re.compile(rf"{MORE} ?(?:%|percentage points)")
SECONDS = re.compile(rf"{MORE} (?:s|seconds)\b")
# What is no quantity.
NO_QUANTITY = re.compile(
    r"\b(?:19|20)\d\d\b"  # a year
    r"|\b\d{1,2}/\d{1,2}/\d{4}"  # a date
    r"|(?:§ |\b(?:Art\.|Section|Sec\.|Law) )[\d.()-]+|\b\d+ (?:U\.S\.C\.|RCNY)"  # laws and papers
    r"|\b(?:OxonFair|AIF360|version) \d[\d.]*\d"
    r"|\{grid\}[ \d]*|:(?:gutter|padding): \d"  # the layout of a page
    r"|(?:^| )\d\. \*\*"  # the number of a step
)


def value(text):
    return abs(float(text.replace(",", "").replace("−", "-")))


def flat(text):
    return " ".join(text.split())


# --------------------------------------------------------------------------- what a page says


def code_of(text):
    """Return code and output of a page, and what stands between backticks."""
    fences = re.findall(r"```.*?```", text, re.DOTALL)
    rest = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    return "\n".join(fences + re.findall(r"`[^`]*`", rest))


def prose_of(text):
    """Return a page without code, formulas, addresses, and tables that a script writes."""
    text = re.sub(r"<!-- \S+.*? writes: -->.*?<!-- until here -->", "", text, flags=re.DOTALL)
    for gone in (r"```.*?```", r"\$\$.*?\$\$", r"\$[^$\n]*\$", r"`[^`]*`"):
        text = re.sub(gone, "¤", text, flags=re.DOTALL)
    return text


def sections(text):
    """Yield the paragraphs of each section, and the numbers in code and output that they may cite.

    A number of three digits or more may come from anywhere on the page, a shorter one would be
    found there by chance.
    """
    long = {value(n) for n in NUMBER.findall(code_of(text)) if len(n.strip("+−-0.")) > 2}
    for section in re.split(r"\n(?=## )", text):
        code = {value(number) for number in NUMBER.findall(code_of(section))}
        for paragraph in re.split(r"\n\s*\n|\n(?=- )", prose_of(section)):
            yield paragraph, code | long


def linked_by(paragraph, page):
    """Return the text of the results and of the measurements that a paragraph links."""
    found = []
    for target in re.findall(r"\]\(([^)#\s]+)", paragraph):
        path = (page.parent / target).resolve()
        if "results" in path.parts or path.stem in WRITTEN_BY_SCRIPTS:
            found.append(path.read_text("utf-8"))
        elif "figures" in path.parts:
            found.append((ROOT / "docs" / "_extensions" / "figures.py").read_text("utf-8"))
    return "\n".join(found)


# --------------------------------------------------------------------------- where it comes from


@functools.cache
def constants():
    """Return the defaults and the named constants of the package."""
    held = []
    for path in (ROOT / "skbiasamp").rglob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        for node in tree.body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]).isupper():
                held.append(node.value)
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                held += [*node.args.defaults, *node.args.kw_defaults]
            elif isinstance(node, ast.ClassDef):  # fields, some of them Option(default)
                fields = [one.value for one in node.body if isinstance(one, ast.AnnAssign)]
                held += [*fields, *(one.args[0] for one in fields if is_option(one))]
    numbers = [getattr(one, "value", None) for one in held]
    return {float(number) for number in numbers if type(number) in (int, float)}


def is_option(node):
    return isinstance(node, ast.Call) and bool(node.args)


@functools.cache
def versions():
    """Return the oldest versions that the package allows."""
    return set(re.findall(r">=([\d.]+)", (ROOT / "pyproject.toml").read_text("utf-8")))


def is_rounded(number, text, scales=(1,), *, whole=False):
    """Say whether a text is a number, rounded, in one of the scales.

    Without a unit a whole number is a count, and not rounded; one digit alone is too little to
    be recognised.
    """
    digits = len(text.partition(".")[2])
    single = len(text.lstrip("+−-0.,")) < 2 and scales == (1,)
    for scale in scales:
        exact = not whole and (single or (scale == 1 and not digits))
        if abs(number * scale - value(text)) <= (0 if exact else 0.5000001 * 10**-digits):
            return True
    return False


TERM = rf"(?:log|√)?\(*{DIGITS}\)*"
SIDE = rf"{TERM}(?:(?: [−+×·] |[/×]){TERM})*"
EQUATION = re.compile(rf"(?<![\w.,]){SIDE}(?: = [−+]?{SIDE})+")


def equations(paragraph):
    """Yield the span of each equation between numbers, and whether it holds."""
    for match in EQUATION.finditer(paragraph):
        first, *sides = match[0].split(" = ")
        if None not in (numbers := [evaluated(side) for side in (first, *sides)]):
            yield (
                match.span(),
                all(
                    is_rounded(numbers[0], side.lstrip("+−"), (1, 100))
                    or math.isclose(numbers[0], evaluated(side), rel_tol=1e-9)
                    for side in sides
                ),
            )


def evaluated(side):
    side = re.sub(r"(?<=\d),(?=\d{3})", "", side).replace("−", "-").replace("×", "*")
    side = re.sub(r"√(\d+|\([^()]*\))", r"sqrt(\1)", side).replace("·", "*").strip()
    try:
        return abs(float(eval(side, {"log": math.log, "sqrt": math.sqrt})))
    except ZeroDivisionError:
        return math.nan
    except (SyntaxError, TypeError, NameError):
        return None


def pattern_of(claim):
    """Return a pattern for a claim, with any number in place of a computed one."""
    fixed = re.split(r"\{[^}]*\}", claim)
    return re.compile(rf"[+−-]?{DIGITS}".join(re.escape(part) for part in fixed))


def without_source(page, text):
    """Return the numbers of a page's prose for which no source has the value."""
    claims = [pattern_of(claim) for claim in CLAIMS.get(page.stem, ())]
    lacking = []
    for paragraph, code in sections(text):
        linked = {value(n) for n in NUMBER.findall(linked_by(paragraph, page))}
        paragraph = flat(re.sub(r"\]\([^)]*\)", "]", paragraph))
        equal = [*equations(paragraph)]
        sourced = [span for span, holds in equal if holds]
        for pattern in [NO_QUANTITY, *claims]:
            sourced += [match.span() for match in pattern.finditer(paragraph)]
        for match in NUMBER.finditer(paragraph):
            number, after = match[0], paragraph[match.end() :]
            seconds, percent = bool(SECONDS.match(after)), bool(PER_CENT.match(after))
            scales = (1, 100) if percent else (1,)
            # Results may be in milliseconds.
            of_results = (*scales, 0.001) if seconds else scales
            known = (
                number in {"0", "1"} | versions()  # a sign, a limit of a scale
                or any(is_rounded(one, number, scales) for one in code)
                or any(
                    is_rounded(one, number, of_results, whole=percent or seconds) for one in linked
                )
                # One digit is the default of something by chance.
                or (
                    (len(number) > 1 or percent)
                    and any(is_rounded(one, number, scales) for one in constants())
                )
            )
            within = [a <= match.start() and match.end() <= b for a, b in sourced]
            broken = [
                a <= match.start() and match.end() <= b for (a, b), holds in equal if not holds
            ]
            if any(broken) or not (known or any(within)):
                lacking.append(f"{number} in “{paragraph[max(0, match.start() - 50) :][:90]}”")
    return lacking


# --------------------------------------------------------------------------- how it is computed


@functools.cache
def examples_of(name):
    """Return what the examples of a page define, as far down as they are prompts."""
    path = ROOT / name
    known = {"__name__": path.stem}
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for example in doctest.DocTestParser().get_examples(path.read_text("utf-8")):
            if not example.options.get(doctest.SKIP):
                exec(compile(example.source, name, "single"), known)
    return known


def rates_of_the_readme():
    rates = examples_of("README.md")["report"].rates.set_index("group")
    groups = rates.loc[["African-American", "Caucasian"]]
    return (100 * groups[["base_rate", "predicted_rate"]]).to_numpy().ravel()


def gaps_of_the_readme():
    """Return the largest difference of rates, and of error rates, as Fairlearn defines them."""
    names = examples_of("README.md")
    label, guess = (names[name] == "charged again" for name in ("y_test", "predicted"))
    rates = pd.DataFrame({"group": names["race_test"], "label": label, "guess": guess})
    errors = rates.groupby(["label", "group"])["guess"].mean().unstack()
    by_group = rates.groupby("group")["guess"].mean()
    return by_group.max() - by_group.min(), (errors.max(axis=1) - errors.min(axis=1)).max()


def gaps_of_labels_and_predictions():
    """Return the differences of rates as they are shown."""
    black, black_guess, white, white_guess = rates_of_the_readme().round(1)
    return black - white, black_guess - white_guess


def growth_of_the_readme():
    """Return the interval of the gap's growth, twice that of the value."""
    result = examples_of("README.md")["report"]["directional A->T"]
    return 200 * result.low, 200 * result.high


def rows_of_compas():
    return (len(datasets.load_compas().frame),)


def rates_of_cooks(side):
    cooks = examples_of("docs/metrics.md")
    return 100 * pd.Series(cooks[side]).groupby(cooks["sex"]).mean().loc[["f", "m"]]


@functools.cache
def thresholds():
    """Return the table of the gallery's page about COMPAS at every threshold."""
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    with contextlib.redirect_stdout(io.StringIO()):
        known = runpy.run_path(ROOT / "examples" / "audit" / "plot_compas_thresholds.py")
    plt.close("all")
    return known["table"]


def differences_of_errors():
    table = thresholds()
    gap = 100 * (table["African-American"] - table["Caucasian"]).loc[1:7]
    return gap.min(), gap.max(), table["A->T"].max()


def rows_of(*frames):
    return tuple(len(frame) for frame in frames)


def of_imsitu():
    found = [datasets.fetch_imsitu_annotations(subset=one) for one in ("train", "val", "test")]
    return (*rows_of(*(one.target for one in found)), found[0].frame["verb"].nunique())


def one_regression():
    """Return amplification and accuracy of the regression at its own threshold."""
    rows = datasets.make_biased_classification(20_000, class_sep=0.5, random_state=1)
    model = LogisticRegression().fit(rows.data, rows.target)
    guess = model.predict(rows.data)
    value = directional_amplification(rows.target, guess, sensitive_features=rows.sensitive)
    return value, (guess == rows.target).mean()


def after_july():
    known = examples_of("docs/monitoring.md")
    return (known["timeline"].to_frame()["value"].iloc[-4:].mean(),)


def of_resumes():
    frame = pd.read_csv(DATA / "resume_callbacks.csv.gz")
    columns = {"prediction": "received_callback", "sensitive": "race", "pair": "job_ad_id"}
    auditor = MatchedPairsAuditor(random_state=0)
    alone = auditor.audit(frame, **columns).table.iloc[0]
    named = auditor.audit(frame, **columns, cluster="firstname").table.iloc[0]
    errors = 100 * alone["standard_error"], 100 * named["standard_error"]
    return len(frame), -100 * alone["difference"], *errors, frame["firstname"].nunique()


def high_scores():
    rows = examples_of("docs/metrics.md")["rows"]
    high = rows["decile_score"] >= 5
    counts = high.groupby(rows["race"]).agg(["sum", "size"])
    again = rows.groupby("race")["two_year_recid"].sum()
    assert again.nunique() == 1
    black, white = counts.loc["African-American"], counts.loc["Caucasian"]
    return *white, *black, again.iloc[0]


def guesses_from_scores():
    white, n, black, _, _ = high_scores()
    right = black, n - white
    return *right, 2 * n, 100 * sum(right) / (2 * n)


def guesses_by_class():
    white, n, black, _, _ = high_scores()
    low, high = 2 * n - white - black, white + black
    return n - white, low, black, high, (n - white) / low, black / high


def ten_times_the_rows():
    """Return what the page on scale extrapolates, from the last point and exponent of curves."""
    growth = (ROOT / "benchmarks" / "results" / "growth.md").read_text("utf-8")
    for engine in ("DuckDB", "lazy polars"):
        (exponent,) = re.findall(rf"time over rows, {engine} \|[^|]*\| ([\d.]+)", growth)
        (seconds,) = re.findall(rf"rows, {engine} \| 1e8 \| ([\d.]+) s", growth)
        yield float(seconds) * 10 ** float(exponent)


# From a page to sentences, with what computes their numbers.
CLAIMS = {
    "README": {
        "African-American: {:.1f} % in the labels, {:.1f} % in the predictions. "
        "Caucasian: {:.1f} % and {:.1f} %.": rates_of_the_readme,
        "The gap is {:.1f} percentage points in the labels and {:.1f} in the predictions.":
        gaps_of_labels_and_predictions,
        "COMPAS, {:,} defendants": rows_of_compas,
        "in the predictions? | they differ by {:.2f} |": lambda: [gaps_of_the_readme()[0]],
        "errors of groups differ? | they differ by {:.2f} |": lambda: [gaps_of_the_readme()[1]],
    },
    "getting-started": {
        "COMPAS has records of {:,} people": rows_of_compas,
        "African-American: {:.1f} % in the labels, {:.1f} % in the predictions. "
        "Caucasian: {:.1f} %, and {:.1f} %.": rates_of_the_readme,
    },
    "index": {
        "from {:.1f} percentage points in the labels to {:.1f} in the predictions":
        gaps_of_labels_and_predictions,
    },
    "read-your-page": {
        "the model adds {:.1f} to {:.1f} percentage points": growth_of_the_readme,
    },
    "choosing": {
        "differ by {:.0f} to {:.0f} percentage points between groups, and amplification is at most "
        "{:.2f}.": differences_of_errors,
        "between −{:.2f} and {:.2f}; false": lambda: thresholds()["A->T"].agg(["min", "max"]).abs(),
    },
    "metrics": {
        "data in which {:g} % of the women and {:g} % of the men cook":
        lambda: rates_of_cooks("cooks"),
        'predicts "cooks" for {:g} % of the women and {:g} % of the men':
        lambda: rates_of_cooks("predicted"),
        "A value of {:+} means": lambda: (3 / 100,),
        "| {:+} means | the attacker is right for 3 percentage points more": lambda: (3 / 100,),
        "for example for {:.0f} % instead of {} %": lambda: (52 + 100 * 0.03, 52),
        "is about {:.0f} % higher ({}/{}): for example {:.1f} % instead of 50 %":
        lambda: (100 * (1.03 / 0.97 - 1), 1 + 0.03, 1 - 0.03, 50 * 1.03 / 0.97),
        "for {} of {:,} Caucasians and for {} of {:,} African-Americans. {} of each group were":
        high_scores,
        "It is right for {:,} + {:,} of {:,} rows, or {:.2f} %.": guesses_from_scores,
        "for the same {:.2f} %,": lambda: guesses_from_scores()[-1:],
        "it is right for {:,} of the {:,} low scores and {:,} of the {:,} others: "
        "({:.4f} + {:.4f})/2":
        guesses_by_class,
        "0.341, or −{:.1f} %.": lambda: (100 - 100 * 0.175 / 0.5125 / 0.5,),
    },
    "recipes": {
        "one row per defendant | {:,} |": rows_of_compas,
        "people in images | {:,} + {:,} + {:,} | gender | {} verbs": of_imsitu,
        "word vectors | {} occupations": lambda: rows_of(datasets.load_occupations().frame),
        "red or green | {:,} |": lambda: rows_of(datasets.load_colored_digits().target),
    },
    "mitigation": {
        "an amplification of {:.3f} and an accuracy of {:.3f}:": one_regression,
    },
    "monitoring": {
        "it is near {:.2f}, and alarms": after_july,
    },
    "matched-pairs": {
        "(2004; {:,} résumés), the difference of callback rates within adverts is {:.2f} "
        "percentage points. Its standard error is {:.2f}, and {:.2f} with the {} first":
        of_resumes,
    },
    "scale": {
        "rows take DuckDB {:.0f} s and polars {:.0f} s of": ten_times_the_rows,
    },
    "text": {
        "compared with {:g} % of the people's texts": lambda: (100 * 30 / 40,),
        # Differences of printed values of the paper (Hirota, Nakashima and Garcia, 2022).
        "has +{:.1f} percentage points with an LSTM, −{:.1f} with a fine-tuned BERT and +{:.1f} ":
        lambda: (43.2 - 39.5, 48.0 - 47.2, 43.2 - 41.3),
    },
}  # fmt: skip
COMPUTED = [
    pytest.param(page, sentence, how, id=f"{page}-{at}")
    for page, claims in CLAIMS.items()
    for at, (sentence, how) in enumerate(claims.items())
]


# --------------------------------------------------------------------------- the tests


@pytest.mark.parametrize("page", CHECKED, ids=lambda page: page.stem)
def test_numbers_of_a_page_have_a_source(page):
    assert without_source(page, page.read_text("utf-8")) == []


@pytest.mark.pages
@pytest.mark.parametrize(("page", "sentence", "how"), COMPUTED)
def test_numbers_of_a_sentence_are_computed(page, sentence, how, monkeypatch):
    path = ROOT / "README.md" if page == "README" else ROOT / "docs" / f"{page}.md"
    text = flat(re.sub(r"\]\([^)]*\)", "]", prose_of(path.read_text("utf-8"))))
    monkeypatch.setenv("SKBIASAMP_DATA", str(DATA))
    try:
        numbers = how()
    except FileNotFoundError as missing:
        pytest.skip(str(missing)[:80])
    assert sentence.format(*numbers) in text


def test_the_check_finds_a_number_that_no_script_printed():
    results = "| share | 0.0237 | 12.9 s |"
    known = {value(number) for number in NUMBER.findall(results)}
    for text, source in {"2.4": True, "2.5": False}.items():
        assert any(is_rounded(one, text, (1, 100)) for one in known) is source
    assert any(is_rounded(one, "13", whole=True) for one in known)
    assert not any(is_rounded(one, "12", whole=True) for one in known)
    assert [holds for _, holds in equations("3/8.66 = 0.346, and (1 + 2)/2 = 1.4")] == [True, False]
