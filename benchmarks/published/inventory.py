"""Every table and figure of the papers, and the five words of a status."""

from typing import NamedTuple

from published.missing import CODE, NOTES

SAME = "same"
WITHIN = "within the spread"
DIFFERS = "differs"
NO_NUMBER = "no number"
NOT_MEASURED = "not measured"
# In place of a word: each published value of the table or figure has its own.
BY_VALUE = ""
WORDS = {
    SAME: "our value, rounded to the digits that the paper prints, is the published value; if the "
    "paper says “more than 60” (> 60), ours is more",
    WITHIN: "not the same, but the difference is at most the ± beside one of the two values",
    DIFFERS: "the difference is larger than that, or no ± stands beside the values",
    NO_NUMBER: "a section, formula, figure or table without results in numbers, or whose numbers "
    "have lines of their own",
    NOT_MEASURED: "a result that needs data or models that are not available here; *ours* names "
    "them",
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
    known: bool = True  # whether the reason of the differences is known in full


INVENTORY = (
    Item(W, "Fig. 1", "photographs of painters", NO_NUMBER, "photographs"),
    Item(W, "Fig. 2", "six metrics and model errors", NO_NUMBER,
         "`examples/metrics/plot_six_metrics.py`"),
    Item(W, "Sec. 3.2, 4.1", "shortcomings 1 and 2 of MALS (the third has no numbers)", BY_VALUE,
         "all eight values"),
    Item(W, "Sec. 3.3", "oven; 2.5 times as many men as women", BY_VALUE,
         "from the shares that Zhao et al. (2017) released, and from validation and test rows"),
    Item(W, "Sec. 3.3", "keyboard: share of men in training and in predictions", BY_VALUE,
         "in training 0.6949, printed 0.70; in predictions the same"),
    Item(W, "Sec. 3.3", "a changed threshold (MALS 0.040, 0.001, 0.021); keyboard by direction",
         NOT_MEASURED, "the predictions that Zhao et al. (2017) released, row by row", "coco"),
    Item(W, "Table 1, Table 3", "COCO with masked people", NOT_MEASURED,
         "images, and a VGG16 trained five times for each mask; digits beside a figure instead: "
         "`benchmarks/papers/masks.py`", "coco"),
    Item(W, "Fig. 3", "captions of Equalizer", NO_NUMBER,
         "four captions; by the rule of the released code, 15 of 130 pairs have "
         "the trade-off, as many as by chance: `benchmarks/papers/equalizer.py`"),
    Item(W, "Fig. 4", "CelebA: architectures, class ratios", NOT_MEASURED,
         "images, and three networks trained five times; the same question on digits is below",
         "celeba"),
    Item(W, "Fig. 5, Table 2", "pronouns of a language model (T→A 0.1368, 0.0914, 0.0372, −0.1254; "
         "A→T 0.0084 to −0.0089)", NOT_MEASURED,
         "FitBERT's weights and counts in the English Wikipedia; word vectors instead: "
         "`benchmarks/papers/base_correlations.py`", "fitbert"),
    Item(W, "Fig. 6", "COMPAS by threshold", NO_NUMBER,
         "`examples/audit/plot_compas_thresholds.py`; the text has “close to 0 for "
         "almost all thresholds”, and our verdict is *amplifies* at thresholds 1 to 6 (at most "
         "0.056)"),
    Item(D, "Table 1", "properties of five metrics", NO_NUMBER,
         "`docs/choosing.md`"),
    Item(D, "Fig. 1", "differences and relative differences", NO_NUMBER,
         "`benchmarks/papers/relative_amplification.py`"),
    Item(D, "Table 2", "counts of race and label", BY_VALUE,
         "unbalanced and balanced; of the label `is_recid` (within two years it would be 1281, "
         "822, 1514 and 1661 rows)"),
    Item(D, "Table 2a", "counts of the models' predictions", BY_VALUE,
         "with these counts, no classifier of the five features exceeds an accuracy of 68.64 % on "
         "race and 72.95 % on recidivism (a linear programme); a fully grown tree has 72.15 % and "
         "74.67 %, so the paper has another tree, of unknown settings", known=False),
    Item(D, "Table 2b", "counts of the models' predictions", BY_VALUE,
         "trees on other random samples of the rows; theirs are within 1.5 standard deviations"),
    Item(D, "Table 3", "BiasAmp→ and Multi→", BY_VALUE, "all eight values, from Table 2"),
    Item(D, "Table 3", "DPA T→A, balanced", BY_VALUE,
         "from the printed counts, within the printed spread"),
    Item(D, "Table 3", "DPA A→T, balanced", BY_VALUE,
         "from the printed counts, 0.010 lower; one random split of the rows varies more, by "
         "± 0.023"),
    Item(D, "Table 3", "DPA A→T, unbalanced", BY_VALUE,
         "from the printed counts and the highest accuracy that they allow: −0.0021; our trees are "
         "others, as in Table 2a"),
    Item(D, "Table 3", "DPA T→A, unbalanced", BY_VALUE,
         "from the printed counts and the printed accuracy of 69 %: 0.0444; with these counts, "
         "0.063 needs an accuracy of 59.3 %", known=False),
    Item(D, "Sec. 7.2", "hiring: rates, and what attackers gain", BY_VALUE, "all four values"),
    Item(D, "Table 4", "COCO with masked people", NOT_MEASURED,
         "images, and a VGG16 for each of eight data sets", "dpa"),
    Item(D, "Fig. 2", "heat maps of three metrics", NO_NUMBER,
         "`benchmarks/papers/metric_heatmaps.py`"),
    Item(D, "Fig. 3, Table 5", "attackers of several sizes", NO_NUMBER,
         "`benchmarks/papers/attacker_robustness.py`; all sizes are below"),
    Item(B, "Figs. 1, 2, 3, 6", "method, images without gender", NO_NUMBER,
         "photographs"),
    Item(B, "Table 1", "men and women of imSitu's splits", BY_VALUE, "all eight counts"),
    Item(B, "Table 1", "men and women of COCO's splits", NOT_MEASURED,
         "genders of the training images; the authors' lists of α = 3, 2, 1 have 17,474, 15,473 "
         "and 6,156 images, the sums of the printed men and women"),
    Item(B, "Table 1", "λ_D of imSitu, original, α = 3 and 2", BY_VALUE,
         "the best table has 0.2 to 0.6 percentage points more, and the choice of the epoch would "
         "make the published values larger; networks of the paper's layers are up to 0.7 "
         "percentage points from the published ones", known=False),
    Item(B, "Table 1", "λ_D of imSitu, α = 1", BY_VALUE,
         "nothing can be learned; if the best epoch is chosen, the paper's network has 52.7 "
         "(published: 54.0)", known=False),
    Item(B, "Table 1", "λ_D of COCO, original", BY_VALUE,
         "within the printed spread, from validation rows"),
    Item(B, "Table 1", "λ_D of COCO, α = 3 and 2", BY_VALUE,
         "from the authors' lists of validation rows, judged on their lists of test rows: within "
         "two standard deviations"),
    Item(B, "Table 1", "λ_D of COCO, α = 1", BY_VALUE,
         "from the authors' lists, 4 percentage points lower; the paper keeps the epoch that is "
         "best on validation rows, as for imSitu", known=False),
    Item(B, "Table 1", "λ_D(F1) of COCO, α = 3 and 2", BY_VALUE,
         "from the authors' lists of validation rows, judged on their lists of test rows: within "
         "one standard deviation of a draw of perturbed labels"),
    Item(B, "Table 1", "λ_D(F1) of COCO, α = 1", BY_VALUE,
         "from the authors' lists, 3 percentage points lower, as for λ_D", known=False),
    Item(B, "Tables 1, 3, 4, 5", "Δ of 26 models", BY_VALUE, "all are the printed λ_M − λ_D(F1)"),
    Item(B, "Table 3, Sec. 5.4", "reductions by an adversary", BY_VALUE,
         "from the printed values 62.6, 54.0 and 67.6 %; the text has “more than 60%” and “over "
         "53% and 67%”. F1 falls as printed"),
    Item(B, "Table 1", "λ_M, F1 and mAP", NOT_MEASURED,
         "images of COCO",
         "leakage"),
    Item(B, "Table 1", "λ_D(F1) of imSitu, original", BY_VALUE,
         "0.3 percentage points less than ours, half of the spread of one draw of perturbed "
         "labels"),
    Item(B, "Table 1", "λ_D(F1) of imSitu, α = 3 and 2", BY_VALUE,
         "the published values equal those of the original split, interpolated to these F1"),
    Item(B, "Table 1", "λ_D(F1) of imSitu, α = 1", BY_VALUE,
         "nothing can be learned, as for λ_D; the choice of the epoch was not tried", known=False),
    Item(B, "Table 1", "λ_D(F1) of COCO, original", BY_VALUE,
         "from 3,000 validation rows, within 0.3 percentage points by the paper's network; "
         "logistic regression has 2.5 more"),
    Item(B, "Fig. 4", "leakage of labels with errors", NO_NUMBER,
         "`benchmarks/papers/leakage_imsitu.py`, "
         "`benchmarks/papers/leakage_coco.py`"),
    Item(B, "Fig. 5, Fig. 7", "F1 against amplification, F1 by class", NOT_MEASURED,
         "images, and the trained models"),
    Item(B, "Table 2", "attackers of several sizes", NOT_MEASURED,
         "a ResNet-50's outputs on COCO; the same attackers on imSitu's labels are below; learning "
         "curves of two attackers on COMPAS: `benchmarks/papers/attacker_rows.py`",
         "leakage"),
    Item(B, "Tables 3, 4, 5", "mitigations: λ_M, F1 and mAP", NOT_MEASURED,
         "images of COCO",
         "leakage"),
    Item(Z, "first table", "sets of attributes, CelebA", NOT_MEASURED,
         "images; a log in the history of the authors' repository has the printed values (k = 2: "
         "Multi_MALS 23.15, T→A 5.47, A→T 0.64) and their signed means (−8.41, 0.46, 0.002): the "
         "published 23.2 is a mean of absolute changes, and hides a mean reduction"),
    Item(Z, "both tables", "sets of attributes of COCO and imSitu, five mitigations", NOT_MEASURED,
         "images; for imSitu the places too, which the annotations of verbs lack; Multi→ of "
         "captions: `benchmarks/papers/equalizer.py`", "multi"),
    Item(H, "LSTM", "LIC_M of seven models, gender", BY_VALUE,
         "another attacker; six of seven within 0.7 percentage points, NIC 2.6 higher: "
         "`benchmarks/papers/lic_captioners.py`"),
    Item(H, "LSTM", "LIC_D and LIC, gender", NOT_MEASURED,
         "human captions in the vocabulary of each model; only NIC's are available", "lic"),
    Item(H, "BERT", "LIC by fine-tuned and frozen BERT", NOT_MEASURED, "the weights of BERT"),
    Item(H, "skin tone", "LIC by skin tone", NOT_MEASURED, "human captions of the images", "lic"),
    Item(H, "masks", "LIC of captions of masked images", NOT_MEASURED,
         "human captions of the images; other metrics of the masked captions: "
         "`benchmarks/papers/captions_masked.py`", "lic"),
    Item(H, "other metrics", "ratio, error, BA and DBA of captions", NOT_MEASURED,
         "the objects of all images and the authors' word lists"),
    Item(R, "Sec. 6", "means before and after RBA", BY_VALUE,
         "three verbs with as many men as women; `benchmarks/papers/rba.py`"),
)  # fmt: skip


def legend():
    """Return the words of a status and their meanings, as lines of a list."""
    return [f"- **{word}**: {meaning}." for word, meaning in WORDS.items()]


def inventory(status):
    """Return the section of the page; `status` is a function of an item."""
    lines = [
        "## Every table and figure",
        "",
        *legend(),
        "",
        "| paper | where | what | status | why |",
        "|---|---|---|---|---|",
        *("| " + " | ".join([*item[:3], status(item), item.why]) + " |" for item in INVENTORY),
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
