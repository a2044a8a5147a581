"""
Equalizer and its baseline: wrong genders and amplification
===========================================================

Equalizer (Hendricks et al. 2018) is a captioning model that was trained to name a gender only if
the image shows it. "Directional bias amplification" (Wang & Russakovsky 2021) asks whether such a
model amplifies in another direction. This page compares it with its baseline on the same 10,840
images of COCO: wrong genders, amplification task → group (T→A: do the objects shift the named
gender?) and group → task (A→T: does gender shift the mentioned objects?).

**Result:** Equalizer calls a woman a man in 13 % of the images of women, and the baseline in 34 %.
Men get the wrong gender as often as before (5 %). A third of Equalizer's captions name no gender or
both, compared with a fifth. If both models name a gender, Equalizer's is more strongly associated
with the objects. By Multi→, which counts changes in either direction, T→A is lower instead. The
objects that Equalizer mentions are no more associated with gender.
"""

# %%
# Wrong genders
# -------------
# `WordListLabeler` reads the gender from each caption. A caption with both or none is in the class
# "(no label)". `read_coco_labels` has the annotated genders and objects.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from reference_data import read_captions, read_coco_labels
from scipy.stats import binomtest

from skbiasamp import DirectionalAuditor, MultiAttributeAuditor
from skbiasamp.text import WordListLabeler, gender_words

labels = pd.concat([read_coco_labels(subset=name).frame for name in ("val", "test")])
captions = read_captions(subset="equalizer").frame.merge(labels, on="image")
gender = captions["gender"].map({"woman": "female", "man": "male"}).to_numpy()
MODELS = {"baseline": "baseline_ft", "Equalizer": "equalizer"}

genders = WordListLabeler(
    {"female": gender_words("female"), "male": gender_words("male")}, exclusive=True
)
named = {model: genders.transform(captions[name]) for model, name in MODELS.items()}
other = {"female": "male", "male": "female"}
for model, found in named.items():
    for group in other:
        of_group = found[gender == group]
        wrong, n = int(of_group[other[group]].sum()), len(of_group)
        low, high = binomtest(wrong, n).proportion_ci(method="wilson")
        print(
            f"{model:10} images of {group:6}: wrong gender {wrong / n:5.1%} "
            f"[{low:.1%}, {high:.1%}], none or both {of_group['(no label)'].mean():.1%}"
        )

# %%
# T→A: do the objects shift the named gender?
# -------------------------------------------
# Both models name one gender in 6,734 images. On these rows the comparison is paired, and only the
# genders differ. The tasks are 58 objects that are annotated in 100 images or more.

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

# %%
# The baseline names men too often, whatever the objects are. That is a shift of the genders: the
# published value is below 0, and the estimate, the change of the association, is not clearly so.
# Equalizer is right more often. The gender that it names is slightly more associated with the
# objects than the annotated gender. Fewer errors and a stronger association are no contradiction:
# errors that do not depend on the objects weaken it.
#
# A→T: does gender shift the mentioned objects?
# ---------------------------------------------
# A caption mentions few of the annotated objects, so both estimates are below 0. This says nothing
# about bias. The difference between the models is of interest, because both mention about as many
# objects.

MORE = {
    "baseball_bat": ["baseball bat", "bat"],
    "baseball_glove": ["baseball glove", "glove", "mitt"],
    "bicycle": ["bicycle", "bike"],
    "cell_phone": ["cell phone", "phone"],
    "couch": ["couch", "sofa"],
    "dining_table": ["table"],
    "donut": ["donut", "doughnut"],
    "handbag": ["handbag", "purse", "bag"],
    "laptop": ["laptop", "computer"],
    "motorcycle": ["motorcycle", "motorbike"],
    "oven": ["oven", "stove"],
    "potted_plant": ["potted plant", "plant"],
    "refrigerator": ["refrigerator", "fridge"],
    "remote": ["remote", "controller"],
    "skis": ["ski", "skis"],
    "sports_ball": ["ball", "basketball", "football"],
    "suitcase": ["suitcase", "luggage"],
    "tennis_racket": ["tennis racket", "racket", "racquet"],
    "tv": ["tv", "television"],
    "wine_glass": ["wine glass", "glass of wine"],
}
labeler = WordListLabeler({name: MORE.get(name, [name.replace("_", " ")]) for name in objects})
said = {model: labeler.transform(captions[name])[objects] for model, name in MODELS.items()}
a_to_t = DirectionalAuditor("A->T", reference="test").compare(
    truth, said, sensitive_features=gender
)
print(a_to_t)
for model, found in said.items():
    print(f"{model:10} {found.sum(axis=1).mean():.2f} objects in a caption")

figure, axes = plt.subplots(1, 2, figsize=(8, 2.4), sharex=True, layout="constrained")
for ax, result, title in zip(
    axes, (t_to_a, a_to_t), ("T→A, 6,734 images", "A→T, 10,840 images"), strict=True
):
    table = result.table.set_index("model")
    values = table[["value", "low", "high"]].loc[list(MODELS)].to_numpy()
    change = table.loc["Equalizer", ["difference", "difference_low", "difference_high"]]
    rows = np.vstack([values, change.to_numpy(float)])
    y = np.arange(3)
    ends = np.abs(rows[:, 1:].T - rows[:, 0])
    for i, color in enumerate(("0.4", "#228833", "#aa3377")):
        ax.errorbar(rows[i, 0], y[i], xerr=ends[:, [i]], fmt="o", color=color, capsize=3)
    ax.axvline(0, color="0.6", linewidth=1)
    ax.set_yticks(y, [*MODELS, "difference"])
    ax.set_ylim(2.5, -0.5)
    ax.set(title=title, xlabel="amplification")
plt.show()

# %%
# No clear difference: the interval includes 0, and it is narrow. Both models mention fewer objects
# than the annotators saw, which weakens the association. In the paper, single pairs of captions
# show a trade-off: T→A falls and A→T rises. Here T→A rises, on the images for which both models
# name a gender.
#
# Pairs of an object and a gender
# -------------------------------
# The code released with the paper lists the pairs for which the trade-off holds: from the baseline
# to Equalizer, T→A falls, and A→T rises to above 0. It has 65 of the objects, so 130 pairs, and
# five words for each gender. It takes the true objects and genders from human captions, which are
# not available. Here they are the annotated ones, which also give the signs.

WITHOUT = ["scissors", "apple", "sheep", "stop_sign", "toaster", "orange", "hair_drier", "zebra"]
WITHOUT += ["bear", "vase", "bird", "broccoli", "carrot", "parking_meter"]
in_pairs = [name for name in labels.columns[2:] if name not in WITHOUT]
truth_65 = captions[in_pairs].astype(float)
five_words = WordListLabeler(
    {
        "female": ["woman", "girl", "lady", "female", "women"],
        "male": ["man", "boy", "gentleman", "male", "men"],
    },
    exclusive=True,
    plurals=False,
)
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


n_pairs = trade_offs(of_model["baseline"], of_model["Equalizer"])
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

# %%
# There are 15 such pairs, the snowboard and men among them. If the captions of the two models are
# swapped at random in each image, there are as many. So the pairs are no evidence that Equalizer
# trades one direction for the other.
#
# Sets of objects
# ---------------
# Multi→ (Zhao, Andrews & Xiang 2023) looks at sets of two objects or more, here the 3,030 sets that
# occur among the 58 objects. It is the mean size of all changes, in either direction. Without a
# mitigation, the COCO model of that paper has 0.125 for T→A and 0.004 for A→T. Multi_MALS is left
# out: captions mention few objects, and 97 % of these sets are in none of them.

sets = pd.DataFrame(index=list(MODELS), columns=["T->A", "A->T"], dtype=float)
for model in MODELS:
    of_sets = {
        direction: MultiAttributeAuditor(
            direction, min_size=2, base="test", formula="published", interval=None
        ).fit(truth, sensitive_features=gender)
        for direction in sets.columns
    }
    sets.loc[model, "T->A"] = of_sets["T->A"].score(
        truth[both], sensitive_features=gender[both], sensitive_pred=words[model]
    )
    sets.loc[model, "A->T"] = of_sets["A->T"].score(truth, said[model], sensitive_features=gender)
print(sets.round(4))

# %%
# By Multi→, Equalizer's T→A is lower than the baseline's, since it names the right gender more
# often. Its A→T is the same.
#
# What this page cannot say: the training rows are not available, so the annotated rows decide which
# change counts as amplification. Both models name a gender for 6,734 images only, which are images
# that show the person well.
