"""Captions of masked images: person and objects, the question of Table 1 of Wang & Russakovsky.

The captioning model SAT (Show, Attend and Tell) described the same 6,628 images seven times: as
they are, and with the person, the objects or both masked. Half of the images show a woman, half a
man. Group → task (A→T): does gender shift the mentioned objects? Task → group (T→A): do the objects
shift the gender that the caption names? Masks show which part of the image the model uses.

Result: gender and mentioned objects are less associated if the objects are masked (22 and 30
percentage points less), or if a box covers the person (25). The outline of the person has no clear
effect. If boxes cover both, no association is left. With the person masked, most captions name no
gender. If they name one, they name men too often: a shift, no change of the association.

With outlines of both masked, the association between objects and the named gender is just weaker
than in the labels; all other intervals include 0. They exclude the value of a model that always
says "man", so the named gender depends on the image. With a box on the person, only about 200
captions name a gender, and their intervals show nothing about the context. The captions that SAT
was trained on are not at hand, so those of these images decide what counts as amplification.
"""

import warnings

import numpy as np
import pandas as pd
from reference_data import read_captions, read_words
from sklearn.exceptions import UndefinedMetricWarning

from skbiasamp import DirectionalAuditor
from skbiasamp.text import WordListLabeler, gender_words

OBJECTS = read_words("captions_masked")
MASKS = {
    "nothing": "sat",
    "objects, outline": "sat_segmask_obj",
    "objects, box": "sat_masked_obj",
    "person, outline": "sat_segmask_person",
    "person, box": "sat_masked_person",
    "both, outline": "sat_segmask_both",
    "both, box": "sat_masked_both",
}
ENDS = ["value", "low", "high", "difference", "difference_low", "difference_high"]

human = read_captions(subset="human")
images = human.frame[["image", "gender"]]
captions = read_captions(subset="models").frame[["image", "sat"]]
captions = captions.merge(read_captions(subset="masked").frame, on=["image"])
captions = images[["image"]].merge(captions, on="image")
gender = images["gender"].to_numpy()

# What people mention is the label, because a caption mentions few of the objects in an image.
labeler = WordListLabeler(OBJECTS)
mentioned = labeler.fit_transform(human.captions["caption"])
said = {mask: labeler.transform(captions[name]) for mask, name in MASKS.items()}
objects = list(OBJECTS)  # without the class of captions that mention none
print(f"{'masked':18} captions with an object   objects in a caption")
for name, found in {"(people)": mentioned, **said}.items():
    share, mean = 1 - found["(no label)"].mean(), found[objects].sum(axis=1).mean()
    print(f"{name:18} {share:21.1%} {mean:22.2f}")

a_to_t = DirectionalAuditor("A->T", reference="test").compare(
    mentioned[objects],
    {mask: found[objects] for mask, found in said.items()},
    sensitive_features=gender,
)
compared = a_to_t.table.drop(columns=["p_value", "p_adjusted", "changed"])
print(compared.round(4).to_string(index=False))

# These values depend on how often captions mention objects: 0.76 objects in a caption if nothing is
# masked, 0.34 if boxes cover both, and 0.64 by people. So associations are compared next.
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
print((100 * equal.set_index("model")[ENDS]).round().to_string())

# Only captions that name one gender can answer T→A, so each mask has its own images.
words = {"female": gender_words("female"), "male": gender_words("male")}
genders = WordListLabeler(words, exclusive=True)
named = {mask: genders.transform(captions[name]) for mask, name in MASKS.items()}
sex = DirectionalAuditor("T->A").fit(mentioned[objects], sensitive_features=gender)
# With a box on the person, some objects are in none of the few captions: they are left out.
warnings.filterwarnings("ignore", category=UndefinedMetricWarning)
rows = []
for mask, found in named.items():
    one = (found["(no label)"] == 0).to_numpy()
    word, annotated = np.where(found["female"], "female", "male")[one], gender[one]
    seen = mentioned.loc[one, objects]
    result, always = (
        sex.audit(seen, sensitive_features=annotated, sensitive_pred=predicted)
        for predicted in (word, np.full(one.sum(), "male"))
    )
    rows.append(
        {
            "mask": mask,
            "n": one.sum(),
            "right": (word == annotated).mean(),
            "named male": (word == "male").mean(),
            "are male": (annotated == "male").mean(),
            "estimate": result.value,
            "low": result.low,
            "high": result.high,
            "always male": always.value,
        }
    )
t_to_a = pd.DataFrame(rows)
print(t_to_a.round(3).to_string(index=False))
