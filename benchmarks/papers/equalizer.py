"""Equalizer and its baseline: wrong genders, and amplification in two directions.

Equalizer (Hendricks et al. 2018) is a captioning model that was trained to name a gender only if
the image shows it. Wang & Russakovsky (2021, Fig. 3) ask whether such a model amplifies in another
direction: task → group (T→A: do the objects shift the named gender?) or group → task (A→T: does
gender shift the mentioned objects?). It is compared with its baseline on 10,840 images of COCO.

Result: Equalizer calls a woman a man in 13 % of the images of women, and the baseline in 34 %. Men
get the wrong gender as often as before (5 %). A third of Equalizer's captions name no gender or
both, compared with a fifth. On the 6,734 images for which both models name a gender, Equalizer's is
slightly more associated with the objects than the annotated gender: errors that do not depend on
the objects weaken an association. The interval of the difference in A→T is narrow and includes 0.

In the paper, single pairs of captions show a trade-off: T→A falls and A→T rises. By the released
code, 15 of 130 pairs have it, and as many if captions of the two models are swapped at random.

By Multi→ (Zhao, Andrews & Xiang 2023), the mean size of the changes of 3,030 sets of two or more
objects, Equalizer's T→A is lower than the baseline's, since it names the right gender more often.
Multi_MALS is left out: 97 % of these sets are in no caption. The training rows are not available,
so the annotated rows decide which change counts as amplification.
"""

import numpy as np
import pandas as pd
from reference_data import read_captions, read_coco_labels, read_words
from scipy.stats import binomtest

from skbiasamp import DirectionalAuditor, MultiAttributeAuditor
from skbiasamp.text import WordListLabeler, gender_words

MODELS = {"baseline": "baseline_ft", "Equalizer": "equalizer"}
MORE = read_words("equalizer")
# What the released code leaves out, and its words.
WITHOUT = ["scissors", "apple", "sheep", "stop_sign", "toaster", "orange", "hair_drier", "zebra"]
WITHOUT += ["bear", "vase", "bird", "broccoli", "carrot", "parking_meter"]
FIVE_WORDS = {
    "female": ["woman", "girl", "lady", "female", "women"],
    "male": ["man", "boy", "gentleman", "male", "men"],
}

labels = pd.concat([read_coco_labels(subset=name).frame for name in ("val", "test")])
captions = read_captions(subset="equalizer").frame.merge(labels, on="image")
gender = captions["gender"].map({"woman": "female", "man": "male"}).to_numpy()
other = {"female": "male", "male": "female"}
genders = WordListLabeler({group: gender_words(group) for group in other}, exclusive=True)
named = {model: genders.transform(captions[name]) for model, name in MODELS.items()}
for model, found in named.items():
    for group in other:
        of_group = found[gender == group]
        wrong, n = int(of_group[other[group]].sum()), len(of_group)
        low, high = binomtest(wrong, n).proportion_ci(method="wilson")
        print(
            f"{model:10} images of {group:6}: wrong gender {wrong / n:5.1%} "
            f"[{low:.1%}, {high:.1%}], none or both {of_group['(no label)'].mean():.1%}"
        )

# T→A. Both models name one gender in 6,734 images: on these rows the comparison is paired.
objects = [name for name in labels.columns[2:] if captions[name].sum() >= 100]
truth = captions[objects]
both = np.all([found["(no label)"] == 0 for found in named.values()], axis=0)
words = {model: np.where(one["female"], "female", "male")[both] for model, one in named.items()}
t_to_a = (
    DirectionalAuditor("T->A")
    .fit(truth, sensitive_features=gender)
    .compare(truth[both], sensitive_features=gender[both], sensitive_preds=words)
)
print(t_to_a)
for model, word in {**words, "(truth)": gender[both]}.items():
    right, male = (word == gender[both]).mean(), (word == "male").mean()
    print(f"{model:10} right {right:6.1%}, male {male:.1%}")

labeler = WordListLabeler({name: MORE.get(name, [name.replace("_", " ")]) for name in objects})
said = {model: labeler.transform(captions[name])[objects] for model, name in MODELS.items()}
a_to_t = DirectionalAuditor("A->T", reference="test").compare(
    truth, said, sensitive_features=gender
)
print(a_to_t)
for model, found in said.items():
    print(f"{model:10} {found.sum(axis=1).mean():.2f} objects in a caption")

# Pairs of an object and a gender. The code released with the paper takes the true objects and
# genders from human captions, which are not available: here they are the annotated ones.
in_pairs = [name for name in labels.columns[2:] if name not in WITHOUT]
truth_65 = captions[in_pairs].astype(float)
five_words = WordListLabeler(FIVE_WORDS, exclusive=True, plurals=False)
names = WordListLabeler({name: [name.replace("_", " ")] for name in in_pairs})
of_model = {
    model: pd.concat(
        [five_words.transform(captions[name]), names.transform(captions[name])[in_pairs]], axis=1
    )
    for model, name in MODELS.items()
}
base = pd.get_dummies(gender).astype(float)
rates = truth_65.T @ base / base.sum()  # P(object | gender)
signs = np.sign(rates.sub(truth_65.mean(), axis=0))


def by_pair(found):
    """Return BiasAmp T→A and A→T of each pair, over the captions that name one gender."""
    one = found["(no label)"].to_numpy() == 0
    objects_true, gender_true, found = truth_65[one], base[one], found[one]
    change = objects_true.T @ (found[["female", "male"]] - gender_true)
    t_to_a = change.div(objects_true.sum(), axis=0)
    a_to_t = (found[in_pairs] - objects_true).T @ gender_true / gender_true.sum()
    return signs * t_to_a, signs * a_to_t


def trade_offs(baseline, equalizer):
    """Return the number of pairs in which T→A falls, and A→T rises to above 0."""
    before, after = by_pair(baseline), by_pair(equalizer)
    found = (after[0] < before[0]) & (after[1] > before[1]) & (after[1] > 0)
    return int(found.to_numpy().sum())


n_pairs = trade_offs(*of_model.values())
rng = np.random.default_rng(0)
by_chance = []
for _ in range(100):  # captions of the two models, swapped at random in each row
    swap = rng.random(len(captions)) < 0.5
    first, second = (of_model[one].copy() for one in MODELS)
    first[swap], second[swap] = of_model["Equalizer"][swap], of_model["baseline"][swap]
    by_chance.append(trade_offs(first, second))
low, high = np.quantile(by_chance, [0.025, 0.975])
print(f"pairs with the trade-off: {n_pairs} of {signs.size}")
print(f"if captions are swapped at random: {np.mean(by_chance):.1f} [{low:.0f}, {high:.0f}]")

how = {"min_size": 2, "base": "test", "formula": "published", "interval": None}
of_sets = {
    direction: MultiAttributeAuditor(direction, **how).fit(truth, sensitive_features=gender)
    for direction in ("T->A", "A->T")
}
sets = pd.DataFrame(index=list(MODELS), columns=list(of_sets), dtype=float)
for model in MODELS:
    sets.loc[model, "T->A"] = of_sets["T->A"].score(
        truth[both], sensitive_features=gender[both], sensitive_pred=words[model]
    )
    sets.loc[model, "A->T"] = of_sets["A->T"].score(truth, said[model], sensitive_features=gender)
print(sets.round(4))
