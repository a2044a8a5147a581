"""
Captions of masked images: where does an association come from?
===============================================================

A captioning model (SAT) described the same 6,628 images seven times: as they are, and with the
person, the objects or both masked. This page reads objects and gender words from the captions, and
measures amplification in two directions. Group → task (A→T): does gender shift the mentioned
objects? Task → group (T→A): do the objects shift the gender that the caption names? Masks show
which part of the image the model uses. It is the experiment of "Directional bias amplification"
(Wang & Russakovsky 2021) on captions.

**Result:** the association of gender and objects comes from the visible person and objects. If
either is masked, it becomes weaker than in captions of people. The model does not invent objects
that fit the gender. With the person masked it mostly names no gender. If it does, it names men
too often, but its choice still depends on the context.
"""

# %%
# Objects that captions mention
# -----------------------------
# People described these images too: half of them show a woman, half a man. Their gender words are
# masked, their objects are not. `WordListLabeler` reads 33 objects from all captions. What people
# mention is the label, because a caption mentions few of the objects in an image.

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.exceptions import UndefinedMetricWarning

from skbiasamp import DirectionalAuditor
from skbiasamp.datasets import fetch_captions
from skbiasamp.text import WordListLabeler, gender_words

human = fetch_captions(subset="human")
images = human.frame[["image", "gender"]]
captions = fetch_captions(subset="models").frame[["image", "sat"]]
captions = captions.merge(fetch_captions(subset="masked").frame, on=["image"])
captions = images[["image"]].merge(captions, on="image")
gender = images["gender"].to_numpy()

NAMES = """teddy bear, kite, skis, donut, chair, horse, bench, elephant, tie, banana, pizza,
frisbee, umbrella, bus, train, surfboard, car, skateboard, dog, bed, cat, cake, suitcase, laptop"""
OBJECTS = {name: [name] for name in NAMES.replace("\n", " ").split(", ")} | {
    "ball": ["ball", "basketball", "football"],
    "baseball bat": ["baseball bat", "bat"],
    "bicycle": ["bicycle", "bike"],
    "couch": ["couch", "sofa"],
    "motorcycle": ["motorcycle", "motorbike"],
    "phone": ["phone", "cellphone"],
    "remote": ["remote", "controller"],
    "table": ["table"],
    "tennis racket": ["tennis racket", "racket", "racquet"],
}
MASKS = {
    "nothing": "sat",
    "objects, outline": "sat_segmask_obj",
    "objects, box": "sat_masked_obj",
    "person, outline": "sat_segmask_person",
    "person, box": "sat_masked_person",
    "both, outline": "sat_segmask_both",
    "both, box": "sat_masked_both",
}
labeler = WordListLabeler(OBJECTS)
mentioned = labeler.fit_transform(human.captions["caption"])
said = {mask: labeler.transform(captions[name]) for mask, name in MASKS.items()}
objects = list(OBJECTS)  # without the class of captions that mention none
print(f"{'masked':18} captions with an object   objects in a caption")
for name, found in {"(people)": mentioned, **said}.items():
    share, mean = 1 - found["(no label)"].mean(), found[objects].sum(axis=1).mean()
    print(f"{name:18} {share:21.1%} {mean:22.2f}")

# %%
# Gender words
# ------------
# If the person is masked with a box, nearly all captions name no gender. If only the outline is
# masked, about a quarter do, and they name men far more often than women. As many images show
# women as men.

genders = WordListLabeler(
    {"female": gender_words("female"), "male": gender_words("male")}, exclusive=True
)
named = {mask: genders.transform(captions[name]) for mask, name in MASKS.items()}

figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
colors = {"female": "#D55E00", "male": "#0072B2", "(no label)": "0.85"}
texts = {"female": "female words", "male": "male words", "(no label)": "none, or both"}
for ax, group in zip(axes, ("female", "male"), strict=True):
    left = np.zeros(len(MASKS))
    for name, color in colors.items():
        width = np.array([named[mask].loc[gender == group, name].mean() for mask in MASKS])
        ax.barh(list(MASKS), width, left=left, color=color, label=texts[name])
        left += width
    ax.set(title=f"images of {'women' if group == 'female' else 'men'}", xlim=(0, 1))
    ax.set(xlabel="share of captions")
axes[0].set_ylabel("masked")
axes[0].invert_yaxis()
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
plt.show()

# %%
# A→T: does gender shift the mentioned objects?
# ---------------------------------------------
# The seven descriptions are compared on the same images (`compare`), so the intervals of the
# differences are narrow.

a_to_t = DirectionalAuditor("A->T", reference="test", random_state=0).compare(
    mentioned[objects],
    {mask: found[objects] for mask, found in said.items()},
    sensitive_features=gender,
)
print(a_to_t.table[["model", "value", "difference", "difference_low", "difference_high"]])

# %%
# On the images as they are, the model amplifies slightly. With the outline of the person masked it
# does not, although it still mentions more objects than people do: this amplification needs the
# visible person. With the objects masked, the association is weaker as well. A model that fell
# back on gender would mention typical objects that it cannot see, and the value would rise.
#
# T→A: do the objects shift the named gender?
# -------------------------------------------
# Only captions that name one gender can answer this, so each mask has its own images. A model that
# says "man" whatever it sees is shown as well: it removes the association.

sex = DirectionalAuditor("T->A", random_state=0)
sex.fit(mentioned[objects], sensitive_features=gender)
# With a box on the person, some objects are in none of the few captions: they are left out.
warnings.filterwarnings("ignore", category=UndefinedMetricWarning)
rows = []
for mask, found in named.items():
    one = (found["(no label)"] == 0).to_numpy()
    word = np.where(found["female"], "female", "male")[one]
    result = sex.audit(
        mentioned.loc[one, objects], sensitive_features=gender[one], sensitive_pred=word
    )
    always = pd.DataFrame({"female": 0.0, "male": 1.0}, index=range(one.sum()))
    of_always = sex.score(
        mentioned.loc[one, objects], sensitive_features=gender[one], sensitive_pred=always
    )
    right = (word == gender[one]).mean()
    rows.append((mask, one.sum(), right, (word == "male").mean(), (gender[one] == "male").mean()))
    rows[-1] += (result.value, result.low, result.high, of_always)
columns = ["mask", "n", "right", "named male", "are male", "value", "low", "high", "always male"]
t_to_a = pd.DataFrame(rows, columns=columns)
print(t_to_a.round(3).to_string(index=False))

figure, axes = plt.subplots(1, 2, figsize=(9, 4.1), sharey=True, layout="constrained")
both = (a_to_t.table, "A→T, 6,628 images"), (t_to_a, "T→A, captions that name a gender")
for ax, (table, title) in zip(axes, both, strict=True):
    y = np.arange(len(table))
    ends = np.abs(table[["low", "high"]].to_numpy().T - table["value"].to_numpy())
    ax.errorbar(table["value"], y, xerr=ends, fmt="o", color="#0072B2", capsize=3, label="SAT")
    ax.axvline(0, color="0.6", linewidth=1)
    ax.set(title=title, xlabel="← weaker than in the labels | stronger →")
axes[1].plot(t_to_a["always male"], y, "x", color="#D55E00", label='always "man"')
figure.legend(*axes[1].get_legend_handles_labels(), loc="outside lower center", ncols=2)
axes[0].set_yticks(y, list(MASKS))
axes[0].set_ylabel("masked")
axes[0].invert_yaxis()
plt.show()

# %%
# With the outline of the person masked, the named gender is less associated with the objects than
# the true one is (the interval is below 0). It is still far from that of a model that always says
# "man". So the model uses the context. With the objects masked too, the value falls further: part
# of the context are the objects. A box around the person also hides what the person holds. Only 203
# captions name a gender then, nearly all of them male, and the interval is wide.
#
# What this page cannot say: the captions that SAT was trained on are not at hand, so the captions
# of these images decide which change counts as amplification. There is one human caption an image.
# An outline still shows a shape, such as hair or a skirt.
