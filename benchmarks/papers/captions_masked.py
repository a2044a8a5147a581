"""
Captions of masked images: person and objects
=============================================

The captioning model SAT (Show, Attend and Tell) described the same 6,628 images seven times: as
they are, and with the person, the objects or both masked. This page reads objects and gender words
from the captions, and measures amplification in two directions. Group → task (A→T): does gender
shift the mentioned objects? Task → group (T→A): do the objects shift the gender that the caption
names? Masks show which part of the image the model uses. It is the experiment of "Directional bias
amplification" (Wang & Russakovsky 2021) on captions.

**Result:** gender and mentioned objects are less associated if the objects are masked, or if a box
covers the person. If boxes cover both, no association is left. With the person masked, most
captions name no gender. If they name one, they name men too often.
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
from reference_data import read_captions
from sklearn.exceptions import UndefinedMetricWarning

from skbiasamp import DirectionalAuditor
from skbiasamp.text import WordListLabeler, gender_words

human = read_captions(subset="human")
images = human.frame[["image", "gender"]]
captions = read_captions(subset="models").frame[["image", "sat"]]
captions = captions.merge(read_captions(subset="masked").frame, on=["image"])
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
colors = {"female": "#228833", "male": "#aa3377", "(no label)": "0.85"}
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

a_to_t = DirectionalAuditor("A->T", reference="test").compare(
    mentioned[objects],
    {mask: found[objects] for mask, found in said.items()},
    sensitive_features=gender,
)
print(
    a_to_t.table.drop(columns=["p_value", "p_adjusted", "changed"]).round(4).to_string(index=False)
)

# %%
# These numbers depend on how often captions mention objects: more mentions raise them, fewer
# lower them. The model mentions 0.76 objects in a caption if nothing is masked, and 0.34 if boxes
# cover both. People mention 0.64. So they do not compare associations. The next table does:
# 100 % is the association in captions of people, if they mentioned each object as often as the
# model does.

women = (gender == "female").astype(float)
people = mentioned[objects].to_numpy(float)
of_mask = [found[objects].to_numpy(float) for found in said.values()]
sign = np.sign(people[women == 1].mean(axis=0) - people[women == 0].mean(axis=0))


def association(weights):
    """Return the association in captions of each mask, as a share of that of people.

    It is the mean difference between women and men along its sign, at the model's frequencies.
    """
    share = np.array([weights * women, weights * (1 - women)])
    share /= share.sum(axis=1, keepdims=True)
    labels, values = share @ people, []
    for found in of_mask:
        rates = share @ found
        expected = labels * rates.mean(axis=0) / labels.mean(axis=0)
        values.append(((rates[0] - rates[1]) @ sign) / ((expected[0] - expected[1]) @ sign))
    return np.array(values)


n = len(women)
values = association(np.ones(n))
draws = np.random.default_rng(0).multinomial(n, np.ones(n) / n, size=499)
resampled = np.array([association(weights) for weights in draws])
equal = pd.DataFrame({"model": list(MASKS), "value": values, "difference": values - values[0]})
equal["low"], equal["high"] = np.quantile(resampled, [0.025, 0.975], axis=0)
change = resampled - resampled[:, :1]
equal["difference_low"], equal["difference_high"] = np.quantile(change, [0.025, 0.975], axis=0)
names = ["value", "low", "high", "difference", "difference_low", "difference_high"]
print((100 * equal.set_index("model")[names]).round().to_string())

# %%
# The masks of the objects take away 22 and 30 percentage points of the association. A box on the
# person takes away 25. The outline of the person has no clear effect (the interval of the
# difference includes 0). With boxes on both, no association is left.
#
# T→A: do the objects shift the named gender?
# -------------------------------------------
# Only captions that name one gender can answer this, so each mask has its own images. A model that
# always says "man" is shown as well: its captions have no association.

sex = DirectionalAuditor("T->A")
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
    # A model that always says "man" has no association left.
    always = {"sensitive_features": gender[one], "sensitive_pred": np.full(one.sum(), "male")}
    of_always = sex.audit(mentioned.loc[one, objects], **always).value
    right = (word == gender[one]).mean()
    rows.append((mask, one.sum(), right, (word == "male").mean(), (gender[one] == "male").mean()))
    rows[-1] += (result.value, result.low, result.high, of_always)
columns = ["mask", "n", "right", "named male", "are male", "estimate", "low", "high", "always male"]
t_to_a = pd.DataFrame(rows, columns=columns)
print(t_to_a.round(3).to_string(index=False))

figure, axes = plt.subplots(1, 2, figsize=(9, 4.1), sharey=True, layout="constrained")
y = np.arange(len(MASKS))
percent = equal.rename(columns={"value": "estimate"})[["estimate", "low", "high"]] * 100
for ax, table in zip(axes, (percent, t_to_a), strict=True):
    ends = np.abs(table[["low", "high"]].to_numpy().T - table["estimate"].to_numpy())
    ax.errorbar(table["estimate"], y, xerr=ends, fmt="o", color="#228833", capsize=3, label="SAT")
    ax.axvline(0, color="0.6", linewidth=1)
axes[0].set(title="A→T, 6,628 images", xlabel="association, % of that in people's captions")
axes[1].set(
    title="T→A, captions that name a gender", xlabel="← weaker than in the labels | stronger →"
)
axes[1].plot(t_to_a["always male"], y, "x", color="#aa3377", label='always "man"')
figure.legend(*axes[1].get_legend_handles_labels(), loc="outside lower center", ncols=2)
axes[0].set_yticks(y, list(MASKS))
axes[0].set_ylabel("masked")
axes[0].invert_yaxis()
plt.show()

# %%
# With outlines of both masked, the association between objects and the named gender is just weaker
# than in the labels; all other intervals include 0. If the person is masked, captions name men too
# often, and that is a shift, no change of the association. The crosses are a model that always says
# "man", which leaves no association. With outlines masked, the intervals exclude it. So the named
# gender depends on the image: on the context, or on the shape of the outline, such as hair or a
# skirt. With a box on the person, only
# about 200 captions name a gender, nearly all of them male. Their intervals include the crosses, so
# they show nothing about the context.
#
# What this page cannot say: the captions that SAT was trained on are not at hand, so the captions
# of these images decide which change counts as amplification. Each image has one human caption.
