"""From the papers to the code: each section, formula, table and figure, and what has it here."""

import re
from typing import NamedTuple

from published._rows import Row, markdown
from published.inventory import EXPLAINED, IN_PART, INVENTORY, NEEDS, SAME, B, D, H, R, W, Z

DOCS = "docs/"
PAGE = """\
# From the paper to the code

For each section, formula, table and figure of the papers, this page names what has it in skbiasamp,
an example, and the status. The words of the status are those of [Replication](replication.md),
which gives the reasons. A formula or method is *same* if it is as the paper describes it; tests
compare formulas with NumPy and with the published values.

Published values stand beside ours, from [the file of all
values](../benchmarks/results/replication.md), which has the reason of each difference. A value is
*same* if it rounds to the digits that are printed, *explained* if the difference is, *explained in
part* if the reason covers a part of it. “–” is a section, formula or figure without a printed
number, or has no value here.

Group → task (A→T) asks whether the group shifts the predicted task, task → group (T→A) whether the
task shifts the predicted group.

{papers}
"""


class Part(NamedTuple):
    """A section or formula of a paper, and its name and example here."""

    paper: str
    where: str
    what: str
    name: str
    example: str
    status: str = SAME


PARTS = (
    Part(W, "Sec. 3.2, Eq. 1", "BiasAmp_MALS", "MALSAuditor", "docs/metrics.md"),
    Part(W, "Sec. 3.2", "shortcomings of MALS", "MALSAuditor, DirectionalAuditor",
         "benchmarks/papers/shortcomings.py"),
    Part(W, "Sec. 3.3", "which predictor drives a pair", "explain", "docs/why.md"),
    Part(W, "Sec. 3.3", "threshold that keeps the base rate", "BaseRateThresholdClassifier",
         "docs/scikit-learn.md"),
    Part(W, "Sec. 3.3", "amplification over all thresholds", "model_selection.amplification_curve",
         "examples/audit/plot_compas_thresholds.py"),
    Part(W, "Sec. 4", "BiasAmp→, A→T and T→A", "DirectionalAuditor", "docs/metrics.md"),
    Part(W, "metric card", "its example", "DirectionalAuditor",
         "docs/metrics.md"),
    Part(W, "Sec. 4", "results for each pair", "results.AuditResult", "docs/groups.md"),
    Part(W, "Sec. 4.1", "masks of people", "mitigation.RegionMask", "benchmarks/papers/masks.py"),
    Part(W, "Sec. 5.2", "intervals over runs of training", "DirectionalAuditor.audit_runs",
         "examples/models/plot_runs.py"),
    Part(W, "Sec. 5.2", "FPR difference, average precision", "metrics.FunctionAuditor",
         "examples/models/plot_runs.py"),
    Part(W, "Sec. 5.3", "base correlations of your own", "DirectionalAuditor",
         "benchmarks/papers/base_correlations.py"),
    Part(W, "Sec. 5.3, A.3", "probabilities as predictions", "DirectionalAuditor",
         "benchmarks/papers/base_correlations.py"),
    Part(W, "footnote 1, Sec. 2", "the arrow is no claim about causes", "explain", "docs/arrow.md"),
    Part(D, "Sec. 1", "women among imSitu's cooks", "datasets.fetch_imsitu_annotations",
         "benchmarks/papers/leakage_imsitu.py", EXPLAINED),
    Part(D, "Sec. 3.1", "leakage amplification", "LeakageAuditor", "docs/metrics.md"),
    Part(D, "Sec. 3.2.3", "a step, relative to its start", "metrics.dpa_amplification",
         "benchmarks/papers/relative_amplification.py"),
    Part(D, "Sec. 4.1", "DPA, A→T and T→A", "DPAAuditor", "docs/metrics.md"),
    Part(D, "Sec. 4.1", "equally accurate labels", "DPAAuditor", "docs/metrics.md"),
    Part(D, "Sec. 4.2", "without normalisation", "DPAAuditor",
         "benchmarks/papers/attacker_robustness.py"),
    Part(D, "Sec. 5.1", "the paper's attacker", "attackers.MLPAttacker", "docs/metrics.md"),
    Part(D, "Sec. 5.2", "attribution score", "mitigation.RegionMask", "docs/mitigation.md"),
    Part(D, "Sec. 5.2", "counts of images", "mitigation.RegionMask",
         "benchmarks/papers/masks.py", EXPLAINED),
    Part(D, "Sec. 7.2", "when to use which metric", "DPAAuditor, DirectionalAuditor",
         "docs/metrics.md"),
    Part(D, "App. A", "Multi→ has no sign", "MultiAttributeAuditor", "docs/metrics.md"),
    Part(D, "App. B", "inverse of the RMSE", "DPAAuditor",
         "benchmarks/papers/attacker_robustness.py"),
    Part(B, "Sec. 3", "dataset leakage λ_D, λ_D(a)", "metrics.dataset_leakage",
         "benchmarks/papers/leakage_imsitu.py"),
    Part(B, "Sec. 3, Eq. 1", "model leakage λ_M, bias amplification Δ", "LeakageAuditor",
         "docs/metrics.md"),
    Part(B, "Sec. 4.1", "images for validation and test", "datasets.fetch_imsitu_annotations",
         "benchmarks/papers/leakage_imsitu.py"),
    Part(B, "Sec. 4.1", "attacker, logits, snapshot best on the dev set",
         "LeakageAuditor, attackers.MLPAttacker", "docs/recipes.md"),
    Part(B, "Sec. 4.2, Eq. 2", "splits with a ratio α", "mitigation.RatioBalancer",
         "docs/mitigation.md"),
    Part(B, "Sec. 5.1", "adversarial training, mask of images", "mitigation.AdversarialClassifier",
         "benchmarks/papers/adversarial.py"),
    Part(B, "Sec. 5.3", "blur, blackout", "mitigation.RegionMask", "docs/mitigation.md"),
    Part(B, "Sec. 5.3", "randomization", "mitigation.NoiseRandomizer",
         "examples/mitigation/plot_mitigations_compas.py"),
    Part(Z, "Multi_MALS, Multi→", "sets of attributes", "MultiAttributeAuditor",
         "benchmarks/papers/multi_attribute.py"),
    Part(Z, "mitigations", "five mitigations, seven columns, on a synthetic table",
         "MultiAttributeAuditor, DirectionalAuditor, MALSAuditor",
         "benchmarks/papers/predicted_groups.py", EXPLAINED),
    Part(Z, "mitigations", "oversampling", "mitigation.GroupOverSampler", "docs/mitigation.md"),
    Part(Z, "mitigations", "RBA; here the group is given, and the label alone is decided",
         "mitigation.CorpusConstraintClassifier", "benchmarks/papers/rba.py", EXPLAINED),
    Part(Z, "mitigations", "adversary", "mitigation.AdversarialClassifier", "docs/mitigation.md"),
    Part(Z, "mitigations", "domain-independent training", "mitigation.DomainIndependentClassifier",
         "examples/mitigation/plot_mitigations_compas.py"),
    Part(Z, "mitigations", "data repair", "mitigation.DataRepair",
         "examples/mitigation/plot_mitigations_compas.py"),
    Part(R, "Sec. 4", "RBA; here the group is given, and the label alone is decided",
         "mitigation.CorpusConstraintClassifier", "benchmarks/papers/rba.py", EXPLAINED),
    Part(H, "Sec. 3", "LIC", "LICAuditor", "docs/text.md"),
)  # fmt: skip
# What has a table or figure, by what its content is about; the first that fits.
NAMES = {
    "six metrics|shortcomings": "DirectionalAuditor, MALSAuditor",
    "oven|keyboard|threshold \\(MALS": "MALSAuditor",
    "masked people": "DirectionalAuditor, mitigation.RegionMask",
    "captions of Equalizer": "DirectionalAuditor",
    "CelebA: arch": "DirectionalAuditor.audit_runs",
    "pronouns": "DirectionalAuditor",
    "COMPAS by": "model_selection.amplification_curve",
    "properties of five": "DPAAuditor",
    "relative differences": "DPAAuditor, LeakageAuditor",
    "counts of": "datasets.load_compas_counts",
    "BiasAmp→ and": "DirectionalAuditor, MultiAttributeAuditor",
    "DPA|hiring|heat maps": "DPAAuditor",
    "attackers of": "attackers.MLPAttacker",
    "men and women": "datasets.fetch_imsitu_annotations",
    "λ_D|leakage of labels": "metrics.dataset_leakage",
    "λ_M|Δ|F1 against": "LeakageAuditor",
    "reductions by": "mitigation.AdversarialClassifier",
    "sets of attributes": "MultiAttributeAuditor",
    "LIC": "LICAuditor",
    "other metrics|ratio, error": "DirectionalAuditor",
    "RBA": "MALSAuditor",
}
# Which rows of the file of values a part has, by what the part is about.
VALUES = {
    "shortcomings 1 and 2": "shortcoming",
    "oven; 2.5 times": "oven|COCO, men for each woman",
    "keyboard: share": "keyboard",
    "its example": "A→T$",
    "counts of race and label": "(Caucasian|African-American), T = .: rows|rows of each race",
    "predictions \\(Table 2a\\)": ".* predicted, .*: rows, unbalanced|accuracy of a tree",
    "predictions \\(Table 2b\\)": ".* predicted, .*: rows$",
    "BiasAmp→ and Multi→": "(BiasAmp|Multi)→",
    "DPA T→A, balanced": "DPA T→A, balanced",
    "DPA A→T, balanced": "DPA A→T, balanced",
    "DPA A→T, unbalanced": "DPA A→T, unbalanced",
    "DPA T→A, unbalanced": "DPA T→A, unbalanced",
    "a step, relative": "leakage amplification, |the same, relative",
    "hiring": "hiring",
    "women among imSitu's cooks": "women among",
    "counts of images": "images of the unbalanced",
    "images for validation": "(imSitu|COCO), images for",
    "men and women of imSitu": "imSitu, .*men$",
    "λ_D of imSitu, original, α = 3 and 2": "λ_D in %, imSitu, (original|α = [32])",
    "λ_D of imSitu, α = 1": "λ_D in %, imSitu, α = 1",
    "λ_D of COCO, original": "λ_D in %, COCO, original",
    "λ_D of COCO, α = 3 and 2": "λ_D in %, COCO, α = [32]",
    "λ_D of COCO, α = 1": "λ_D in %, COCO, α = 1",
    "λ_D\\(F1\\) of COCO, α = 3 and 2": "λ_D\\(.*COCO, α = [32]",
    "λ_D\\(F1\\) of COCO, α = 1": "λ_D\\(.*COCO, α = 1",
    "λ_D\\(F1\\) of COCO, original": "λ_D\\(.*COCO, original",
    "λ_D\\(F1\\) of imSitu, original": "λ_D\\(.*imSitu, original",
    "λ_D\\(F1\\) of imSitu, α = 3 and 2": "λ_D\\(.*imSitu, α = [32]",
    "λ_D\\(F1\\) of imSitu, α = 1": "λ_D\\(.*imSitu, α = 1",
    "Δ of 26": "Δ from",
    "reductions by an adversary": ".*: reduction of",
    "LIC_M of seven": "LIC_M",
    "means before and after": ".*: mean amplification",
}
HEADER = ["where", "what", "published", "ours", "status", "name", "example"]


class Value(NamedTuple):
    """A line of the file of values."""

    where: str
    what: str
    published: str
    ours: str


def read_values(text):
    """Return the lines of the file that have a published number and ours."""
    tables = re.findall(r"^\| where \| what \| published .*\n(?:\|.*\n)+", text, re.MULTILINE)
    rows = [line.split(" | ") for table in tables for line in table.splitlines()[2:]]
    return [Value(row[0].removeprefix("| "), *row[1:4]) for row in rows]


def values_of(part, values):
    """Return the values that a part of a paper has."""
    about = f"{part.what} ({part.where})"
    for pattern, rows in VALUES.items():
        if re.search(pattern, about):
            return [value for value in values if re.match(rows, value.what)]
    return []


def rows_of(part, values):
    """Yield a row for each value of a part, or one for a part without values."""
    found = [(*value, word_of(part, value)) for value in values_of(part, values)]
    code = name_of(part), link(part.example)
    for cells in found or [(part.where, part.what, "–", "–", part.status)]:
        yield *cells, *code
        code = "", ""


def word_of(part, value):
    """Return the status of a value: the part's own, unless it agrees or has another reason."""
    if agrees(value):
        return SAME
    # The reason of these parts is about the other reading, with test rows of α.
    return IN_PART if "all test rows" in value.what else part.status


def agrees(value):
    """Tell whether ours is the published number, once rounded as that one is."""
    published, ours = (number.replace("−", "-") for number in (value.published, value.ours))
    return Row("", "", published, float(ours)).agrees()


def parts():
    """Return the parts of papers: formulas and sections, then tables and figures."""
    shown = []
    for item in INVENTORY:
        named = (name for about, name in NAMES.items() if re.search(about, item.content))
        file = re.search(r"`([\w/]+\.(?:py|md))`", item.why)
        name = next(named, "")
        example = file[1] if file else "benchmarks/results/replication.md"
        if item.word == NEEDS and not (file or item.code):
            name = example = ""
        shown.append(Part(item.paper, item.where, item.content, name, example, item.word))
    return [*PARTS, *shown]


def link(example):
    """Return a link to a page of the docs, a script or a file of results."""
    if example.startswith("examples/"):
        return f"{{doc}}`auto_{example.removesuffix('.py')}`"
    if example.startswith(DOCS):
        return f"[{example.removeprefix(DOCS)}]({example.removeprefix(DOCS)})"
    return f"[{example.rpartition('/')[2]}](../{example})" if example else "–"


def paper_code(text):
    """Return the page of the docs, from the file of all values."""
    sections, values = [], read_values(text)
    for paper in (W, D, B, Z, R, H):
        rows = [row for part in parts() if part.paper == paper for row in rows_of(part, values)]
        table = markdown(HEADER, rows)
        sections.append(f"## {paper}\n\n{table}")
    return PAGE.format(papers="\n\n".join(sections))


def name_of(part):
    return ", ".join(f"`{name}`" for name in part.name.split(", ")) if part.name else "–"
