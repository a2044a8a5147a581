"""Every table and figure of the papers, with one of five words."""

from typing import NamedTuple

from published.missing import CODE, NOTES

SAME = "same"
EXPLAINED = "explained"
IN_PART = "explained in part"
NEEDS = "needs data we do not have"
CANNOT = "cannot be reproduced"
# Why of a figure or table that is drawn or stated here, but has no value to compare.
NO_NUMBERS = "no numbers to compare: "
WORDS = {
    SAME: "our value is the published one, rounded like it; or there are no numbers to compare, "
    "and a script here shows the same",
    EXPLAINED: "our value differs, and a table or a script says why, as far as we know",
    IN_PART: "the reason that is given accounts for a part of the difference",
    NEEDS: "the data or models that it needs are not available here",
    CANNOT: "the published description does not lead to the published value, with a proof",
}

W = "Wang & Russakovsky 2021"
B = "Wang et al. 2019"
D = "Tokas, Nair & Kerner 2024"
Z = "Zhao, Andrews & Xiang 2023"
R = "Zhao et al. 2017"
H = "Hirota, Nakashima & Garcia 2022"


class Item(NamedTuple):
    paper: str
    where: str
    content: str
    word: str
    why: str
    code: str = ""  # for those who have the data: a name in missing.py


INVENTORY = (
    Item(W, "Fig. 1", "photographs of painters", NEEDS, "the photographs; it has no numbers"),
    Item(W, "Fig. 2", "six metrics and model errors", SAME,
         NO_NUMBERS + "`examples/metrics/plot_six_metrics.py`"),
    Item(W, "Sec. 3.2, 4.1", "shortcomings 1 and 2 of MALS (the third has no numbers)", SAME,
         "all eight values"),
    Item(W, "Sec. 3.3", "oven; 2.5 times as many men as women", SAME,
         "from the shares that Zhao et al. (2017) released, and from validation and test rows"),
    Item(W, "Sec. 3.3", "keyboard: share of men in training and in predictions", EXPLAINED,
         "in training 0.6949, printed 0.70; in predictions the same"),
    Item(W, "Sec. 3.3", "a changed threshold (MALS 0.040, 0.001, 0.021); keyboard by direction",
         NEEDS, "the predictions that Zhao et al. (2017) released, row by row", "coco"),
    Item(W, "Table 1, Table 3", "COCO with masked people", NEEDS,
         "images, and a VGG16 trained five times for each mask; digits beside a figure instead: "
         "`benchmarks/papers/masks.py`", "coco"),
    Item(W, "Fig. 3", "captions of Equalizer", EXPLAINED,
         "four captions, without numbers; by the rule of the released code, 15 of 130 pairs have "
         "the trade-off, as many as by chance: `benchmarks/papers/equalizer.py`"),
    Item(W, "Fig. 4", "CelebA: architectures, class ratios", NEEDS,
         "images, and three networks trained five times; the same question on digits is below",
         "celeba"),
    Item(W, "Fig. 5, Table 2", "pronouns of a language model (T→A 0.1368, 0.0914, 0.0372, −0.1254; "
         "A→T 0.0084 to −0.0089)", NEEDS,
         "FitBERT's weights and counts in the English Wikipedia; word vectors instead: "
         "`benchmarks/papers/base_correlations.py`", "fitbert"),
    Item(W, "Fig. 6", "COMPAS by threshold", SAME,
         NO_NUMBERS + "`examples/audit/plot_compas_thresholds.py`; the text has “close to 0 for "
         "almost all thresholds”, and our verdict is *amplifies* at thresholds 1 to 6 (at most "
         "0.056)"),
    Item(D, "Table 1", "properties of five metrics", SAME,
         NO_NUMBERS + "`docs/choosing.md`"),
    Item(D, "Fig. 1", "differences and relative differences", SAME,
         NO_NUMBERS + "`benchmarks/papers/relative_amplification.py`"),
    Item(D, "Table 2", "counts of race and label", SAME,
         "unbalanced and balanced; of the label `is_recid` (within two years it would be 1281, "
         "822, 1514 and 1661 rows)"),
    Item(D, "Table 2a", "counts of the models' predictions", CANNOT,
         "with these counts, no classifier of the five features exceeds an accuracy of 68.64 % on "
         "race and 72.95 % on recidivism (a linear programme); a fully grown tree has 72.15 % and "
         "74.67 %"),
    Item(D, "Table 2b", "counts of the models' predictions", EXPLAINED,
         "trees on other random samples of the rows; theirs are within 1.5 standard deviations"),
    Item(D, "Table 3", "BiasAmp→ and Multi→", SAME, "all eight values, from Table 2"),
    Item(D, "Table 3", "DPA T→A, balanced", EXPLAINED,
         "from the printed counts, within the printed spread"),
    Item(D, "Table 3", "DPA A→T, balanced", EXPLAINED,
         "from the printed counts, 0.010 lower; one random split of the rows varies more, by "
         "± 0.023"),
    Item(D, "Table 3", "DPA A→T, unbalanced", EXPLAINED,
         "from the printed counts and the accuracy of a fully grown tree on recidivism: −0.0043, "
         "within the printed spread"),
    Item(D, "Table 3", "DPA T→A, unbalanced", CANNOT,
         "from the printed counts and the printed accuracy of 69 %: 0.0444; with these counts, "
         "0.063 needs an accuracy of 59.3 %"),
    Item(D, "Sec. 7.2", "hiring: rates, and what attackers gain", SAME, "all four values"),
    Item(D, "Table 4", "COCO with masked people", NEEDS,
         "images, and a VGG16 for each of eight data sets", "dpa"),
    Item(D, "Fig. 2", "heat maps of three metrics", SAME,
         NO_NUMBERS + "`benchmarks/papers/metric_heatmaps.py`"),
    Item(D, "Fig. 3, Table 5", "attackers of several sizes", SAME,
         NO_NUMBERS + "`benchmarks/papers/attacker_robustness.py`; all sizes are below"),
    Item(B, "Figs. 1, 2, 3, 6", "method, images without gender", NEEDS,
         "the photographs; they have no numbers"),
    Item(B, "Table 1", "men and women of imSitu's splits", SAME, "all eight counts"),
    Item(B, "Table 1", "men and women of COCO's splits", NEEDS,
         "genders of the training images; the authors' lists of α = 3, 2, 1 have 17,474, 15,473 "
         "and 6,156 images, the sums of the printed men and women"),
    Item(B, "Table 1", "λ_D of imSitu, original, α = 3 and 2", IN_PART,
         "the best table has 0.2 to 0.6 percentage points more, which the choice of the epoch does "
         "not explain: it would make the published values larger; networks of the paper's layers "
         "are up to 0.7 percentage points apart, so one attacker is as good as another here"),
    Item(B, "Table 1", "λ_D of imSitu, α = 1", IN_PART,
         "nothing can be learned; if the best epoch is chosen, the paper's network has 52.7 "
         "(published: 54.0)"),
    Item(B, "Table 1", "λ_D of COCO, original", EXPLAINED,
         "within the printed spread, from validation rows"),
    Item(B, "Table 1", "λ_D of COCO, α = 3 and 2", EXPLAINED,
         "from the authors' lists of validation rows, judged on their lists of test rows: within "
         "two standard deviations"),
    Item(B, "Table 1", "λ_D of COCO, α = 1", IN_PART,
         "from the authors' lists, 4 percentage points lower; the paper keeps the epoch that is "
         "best on validation rows, as for imSitu"),
    Item(B, "Table 1", "λ_D(F1) of COCO, α = 3 and 2", EXPLAINED,
         "from the authors' lists of validation rows, judged on their lists of test rows: within "
         "one standard deviation of a draw of perturbed labels"),
    Item(B, "Table 1", "λ_D(F1) of COCO, α = 1", IN_PART,
         "from the authors' lists, 3 percentage points lower, as for λ_D"),
    Item(B, "Tables 1, 3, 4, 5", "Δ of 26 models", SAME, "all are the printed λ_M − λ_D(F1)"),
    Item(B, "Table 3, Sec. 5.4", "reductions by an adversary", EXPLAINED,
         "from the printed values 62.6, 54.0 and 67.6 %; the text has “more than 60%”, “over 53%” "
         "and “67%”. F1 falls as printed"),
    Item(B, "Table 1", "λ_M, F1 and mAP", NEEDS,
         "images of COCO",
         "leakage"),
    Item(B, "Table 1", "λ_D(F1) of imSitu, original", EXPLAINED,
         "0.3 percentage points less than ours, half of the spread of one draw of perturbed "
         "labels"),
    Item(B, "Table 1", "λ_D(F1) of imSitu, α = 3 and 2", EXPLAINED,
         "the published values equal those of the original split, interpolated to these F1"),
    Item(B, "Table 1", "λ_D(F1) of imSitu, α = 1", IN_PART,
         "nothing can be learned, as for λ_D; the choice of the epoch was not tried"),
    Item(B, "Table 1", "λ_D(F1) of COCO, original", EXPLAINED,
         "from 3,000 validation rows, within 0.3 percentage points by the paper's network; "
         "logistic regression has 2.5 more"),
    Item(B, "Fig. 4", "leakage of labels with errors", EXPLAINED,
         "no printed numbers: `benchmarks/papers/leakage_imsitu.py`, "
         "`benchmarks/papers/leakage_coco.py`"),
    Item(B, "Fig. 5, Fig. 7", "F1 against amplification, F1 by class", NEEDS,
         "images, and the trained models"),
    Item(B, "Table 2", "attackers of several sizes", NEEDS,
         "a ResNet-50's outputs on COCO; the same attackers on imSitu's labels are below; learning "
         "curves of two attackers on COMPAS: `benchmarks/papers/attacker_rows.py`",
         "leakage"),
    Item(B, "Tables 3, 4, 5", "mitigations: λ_M, F1 and mAP", NEEDS,
         "images of COCO",
         "leakage"),
    Item(Z, "first table", "sets of attributes, CelebA", NEEDS,
         "images; a log in the history of the authors' repository has the printed values (k = 2: "
         "Multi_MALS 23.15, T→A 5.47, A→T 0.64) and their signed means (−8.41, 0.46, 0.002): the "
         "published 23.2 is a mean of absolute changes, and hides a mean reduction"),
    Item(Z, "both tables", "sets of attributes of COCO and imSitu, five mitigations", NEEDS,
         "images; for imSitu the places too, which the annotations of verbs lack; Multi→ of "
         "captions: `benchmarks/papers/equalizer.py`", "multi"),
    Item(H, "LSTM", "LIC_M of seven models, gender", EXPLAINED,
         "another attacker; six of seven within 0.7 percentage points, NIC 2.6 higher: "
         "`benchmarks/papers/lic_captioners.py`"),
    Item(H, "LSTM", "LIC_D and LIC, gender", NEEDS,
         "human captions in the vocabulary of each model; only NIC's are available", "lic"),
    Item(H, "BERT", "LIC by fine-tuned and frozen BERT", NEEDS, "the weights of BERT"),
    Item(H, "skin tone", "LIC by skin tone", NEEDS, "human captions of the images", "lic"),
    Item(H, "masks", "LIC of captions of masked images", NEEDS,
         "human captions of the images; other metrics of the masked captions: "
         "`benchmarks/papers/captions_masked.py`", "lic"),
    Item(H, "other metrics", "ratio, error, BA and DBA of captions", NEEDS,
         "the objects of all images and the authors' word lists"),
    Item(R, "Sec. 6", "means before and after RBA", EXPLAINED,
         "three verbs with as many men as women; `benchmarks/papers/rba.py`"),
)  # fmt: skip


def inventory():
    """Return the section of the page."""
    lines = [
        "## Every table and figure",
        "",
        *(f"- **{word}**: {meaning}." for word, meaning in WORDS.items()),
        "",
        "| paper | where | what | status | why |",
        "|---|---|---|---|---|",
        *("| " + " | ".join(item[:5]) + " |" for item in INVENTORY),
        "",
    ]
    return "\n".join(lines)


def without_data():
    """Return the section with the code for those who have what is needed."""
    lines = [
        "## Code for values that need more data",
        "",
        "If you have the data, use this code. Names that are not imported are labels, predictions",
        "and captions, one row per image.",
    ]
    for name, code in CODE.items():
        items = [item for item in INVENTORY if item.code == name]
        listed = "; ".join(f"{item.where}, {item.content}" for item in items)
        lines += ["", f"**{items[0].paper}:** {listed}.", *NOTES.get(name, "").splitlines()]
        lines += ["", "```python", code + "```"]
    return "\n".join(lines) + "\n"
