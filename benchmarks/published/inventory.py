"""Every table and figure of the papers, with one of four words."""

from typing import NamedTuple

SAME = "same"
EXPLAINED = "explained"
NEEDS = "needs data we do not have"
CANNOT = "cannot be reproduced"
WORDS = {
    SAME: "our value is the published one, rounded like it",
    EXPLAINED: "our value differs, and the table below or a page of the gallery says why",
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


INVENTORY = (
    Item(W, "Fig. 1", "photographs of painters", NEEDS, "the photographs; it has no numbers"),
    Item(W, "Fig. 2", "six metrics and model errors", SAME,
         "{doc}`drawn <auto_examples/plot_six_metrics>`"),
    Item(W, "Sec. 3.2, 4.1", "two shortcomings of MALS", SAME, "all eight values"),
    Item(W, "Sec. 3.3", "keyboard, and a changed threshold", NEEDS,
         "the predictions that Zhao et al. (2017) released"),
    Item(W, "Table 1, Table 3", "COCO with masked people", NEEDS,
         "images, and a VGG16 trained five times for each mask; "
         "{doc}`the same on digits beside a figure <auto_examples/plot_masks>`"),
    Item(W, "Fig. 3", "captions of Equalizer", EXPLAINED,
         "four captions, without numbers; by the rule of the released code, 15 of 130 pairs have "
         "the trade-off, as many as by chance: {doc}`drawn <auto_examples/plot_equalizer>`"),
    Item(W, "Fig. 4", "CelebA: architectures, class ratios", NEEDS,
         "images, and three networks trained five times; the same question on digits is below"),
    Item(W, "Fig. 5, Table 2", "pronouns of a language model", NEEDS,
         "FitBERT's weights and counts in the English Wikipedia; "
         "{doc}`the same on word vectors <auto_examples/plot_base_correlations>`"),
    Item(W, "Fig. 6", "COMPAS by threshold", SAME,
         "{doc}`drawn <auto_examples/plot_compas_thresholds>`"),
    Item(D, "Table 1", "properties of five metrics", SAME,
         "{doc}`choosing a metric <choosing>` states them"),
    Item(D, "Fig. 1", "differences and relative differences", SAME,
         "{doc}`drawn <auto_examples/plot_relative_amplification>`"),
    Item(D, "Table 2", "counts of race and label", SAME, "unbalanced and balanced"),
    Item(D, "Table 2a", "counts of the models' predictions", CANNOT,
         "a linear programme: with these counts, no classifier of the five features exceeds an "
         "accuracy of 68.64 % on race and 72.95 % on recidivism; trees as described exceed both"),
    Item(D, "Table 2b", "counts of the models' predictions", EXPLAINED,
         "trees on other random samples of the rows; theirs are within 1.5 standard deviations"),
    Item(D, "Table 3", "BiasAmp→ and Multi→", SAME, "all eight values, from Table 2"),
    Item(D, "Table 3", "DPA, balanced", EXPLAINED,
         "the best table for the printed counts, judged on its own or on other rows"),
    Item(D, "Table 3", "DPA, unbalanced", CANNOT,
         "it needs the joint counts of labels and predictions, which Table 2a does not have, and "
         "Table 2a itself cannot be reproduced"),
    Item(D, "Sec. 7.2", "hiring: rates, and what attackers gain", SAME, "all four values"),
    Item(D, "Table 4", "COCO with masked people", NEEDS, "images, and eight networks"),
    Item(D, "Fig. 2", "heat maps of three metrics", SAME,
         "{doc}`drawn <auto_examples/plot_metric_heatmaps>`"),
    Item(D, "Fig. 3, Table 5", "attackers of several sizes", SAME,
         "{doc}`drawn <auto_examples/plot_attacker_robustness>`; it has no numbers, and its sizes "
         "are below"),
    Item(B, "Figs. 1, 2, 3, 6", "method, images without gender", NEEDS,
         "the photographs; they have no numbers"),
    Item(B, "Table 1", "men and women of imSitu's splits", SAME, "all eight counts"),
    Item(B, "Table 1", "men and women of COCO's splits", NEEDS, "the training rows"),
    Item(B, "Table 1", "λ_D of imSitu", EXPLAINED,
         "within 0.7 percentage points; at α = 1 within 1.4 by the paper's network, because of the "
         "choice of the epoch: nothing can be learned"),
    Item(B, "Table 1", "λ_D of COCO, original", EXPLAINED,
         "the training rows are not available; within the printed spread"),
    Item(B, "Table 1", "λ_D and λ_D(F1) of COCO, α = 3, 2, 1", NEEDS, "the training rows"),
    Item(B, "Table 1", "λ_M, F1 and mAP", NEEDS, "images, and a ResNet-50 for each row"),
    Item(B, "Table 1", "λ_D(F1) of imSitu, original", EXPLAINED,
         "the same for one of two models, and 0.02 percentage points more for the CRF"),
    Item(B, "Table 1", "λ_D(F1) of imSitu, α = 3 and 2", EXPLAINED,
         "the values of the original split"),
    Item(B, "Table 1", "λ_D(F1) of imSitu, α = 1", EXPLAINED,
         "nothing can be learned, as for λ_D"),
    Item(B, "Table 1", "λ_D(F1) of COCO, original", EXPLAINED,
         "from half as many training rows, within 0.3 percentage points by the paper's network; "
         "logistic regression has about 3 more"),
    Item(B, "Fig. 4", "leakage of labels with errors", EXPLAINED,
         "drawn for {doc}`imSitu <auto_examples/plot_leakage_imsitu>` and "
         "{doc}`COCO <auto_examples/plot_leakage_coco>`"),
    Item(B, "Fig. 5, Fig. 7", "F1 against amplification, F1 by class", NEEDS,
         "images, and the trained models"),
    Item(B, "Table 2", "attackers of several sizes", NEEDS,
         "a ResNet-50's outputs on COCO; the same attackers on imSitu's labels are below"),
    Item(B, "Tables 3, 4, 5", "mitigations", NEEDS, "images, and a ResNet-50 for each row"),
    Item(Z, "both tables", "sets of attributes, five mitigations", NEEDS,
         "images; for imSitu the places too, which the annotations of verbs lack; Multi→ of "
         "captions: {doc}`here <auto_examples/plot_equalizer>`"),
    Item(H, "LSTM", "LIC_M of seven models, gender", EXPLAINED,
         "another attacker; six of seven within 0.6 percentage points, and a ranking as near as "
         "that of repeated experiments: "
         "{doc}`drawn <auto_examples/plot_lic_captioners>`"),
    Item(H, "LSTM", "LIC_D and LIC, gender", NEEDS,
         "human captions in the vocabulary of each model; only NIC's are available"),
    Item(H, "BERT", "LIC by fine-tuned and frozen BERT", NEEDS, "the weights of BERT"),
    Item(H, "skin tone", "LIC by skin tone", NEEDS, "human captions of the images"),
    Item(H, "masks", "LIC of captions of masked images", NEEDS,
         "human captions of the images; these captions are audited in other metrics: "
         "{doc}`drawn <auto_examples/plot_captions_masked>`"),
    Item(H, "other metrics", "ratio, error, BA and DBA of captions", NEEDS,
         "the objects of all images and the authors' word lists"),
    Item(R, "Sec. 6", "means before and after RBA", EXPLAINED,
         "three verbs without a majority; {doc}`drawn <auto_examples/plot_rba>`"),
)  # fmt: skip


def inventory():
    """Return the section of the page."""
    lines = [
        "## Every table and figure",
        "",
        *(f"- **{word}**: {meaning}." for word, meaning in WORDS.items()),
        "",
        "| paper | where | what | | why |",
        "|---|---|---|---|---|",
        *("| " + " | ".join(item) + " |" for item in INVENTORY),
        "",
    ]
    return "\n".join(lines)
