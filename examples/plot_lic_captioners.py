"""
Leakage in captions of seven models
===================================

An attacker reads captions in which words such as "woman" and "his" are masked, and guesses the
annotated gender of the person. This page measures LIC (Hirota, Nakashima & Garcia, 2022) for seven
captioning models on 10,780 COCO images, and shows the words by which the attacker recognises each
gender.

**Result:** LIC_M of six of the seven models is within 0.6 percentage points of the published value,
and that of NIC is 1.9 higher. Two pairs of neighbours change places in the ranking, as they do if
the paper's own code is run again. All seven models reveal gender better than the human captions at
hand. Equalizer, which was made for correct gender words, reveals it most.
"""

# %%
# LIC_M beside the published values
# ---------------------------------
# LIC_M is how sure the attacker is of the right gender, on captions of the model. The paper's
# attacker is an LSTM. Here it is TF-IDF of one and two words with logistic regression. The rest is
# as in the paper: all 3,314 women and as many men drawn at random, one tenth of them to judge, ten
# times. A guess reaches 0.25.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from skbiasamp import LICAuditor
from skbiasamp.datasets import fetch_captions
from skbiasamp.plotting import WordsDisplay

PUBLISHED = {
    "nic": 0.432,
    "sat": 0.444,
    "fc": 0.464,
    "att2in": 0.459,
    "updn": 0.480,
    "nic_plus": 0.467,
    "nic_equalizer": 0.513,
}
models = fetch_captions(subset="models")
gender = models.sensitive_features


def lic_m(texts, seed):
    """Return LIC_M of texts: that of a model which copies them, whose LIC is 0."""
    women, men = (np.flatnonzero(gender == one) for one in ("female", "male"))
    men = np.random.default_rng(seed).choice(men, len(women), replace=False)
    rows = np.concatenate([women, men])
    auditor = LICAuditor(interval=None, cv=10, holdout=True, n_draws=1, random_state=seed)
    texts = texts.iloc[rows]
    result = auditor.audit(texts, texts, sensitive_features=gender.iloc[rows])
    return result.table["quality_model"].item()


found = pd.DataFrame({"published": PUBLISHED})
found["skbiasamp"] = [
    np.mean([lic_m(models.captions[name], seed) for seed in range(10)]) for name in PUBLISHED
]
found["difference"] = found["skbiasamp"] - found["published"]
print((100 * found).round(1))
print(f"rank correlation: {found['published'].corr(found['skbiasamp'], method='spearman'):.2f}")

# %%
# **Is the ranking the same?** Two pairs of neighbours change places: NIC and SAT, and FC and NIC+.
# That is as near as repeats of the paper's own experiment come. The paper's code, run again by
# Baratov et al. (2023, three to ten seeds), changes places of the same two pairs. The standard
# deviations over ten seeds of another reproduction (Türk et al. 2023) give the probability that a
# repeat of the experiment, with ten other seeds, ranks the seven models as the paper does:

SPREAD = {
    "nic": 0.015,
    "sat": 0.012,
    "fc": 0.008,
    "att2in": 0.009,
    "updn": 0.008,
    "nic_plus": 0.015,
    "nic_equalizer": 0.007,
}
BARATOV = {
    "nic": 0.430,
    "sat": 0.429,
    "fc": 0.470,
    "att2in": 0.462,
    "updn": 0.486,
    "nic_plus": 0.467,
    "nic_equalizer": 0.513,
}


def chance_of_repeat(means, spread, n_seeds=10, n_draws=100_000):
    """Return the probability of the same ranking, and of each neighbour to change places.

    Both experiments are means over seeds, so a difference has the errors of both.
    """
    order = np.argsort(means)
    error = spread * np.sqrt(2 / n_seeds)
    draws = np.random.default_rng(0).normal(means, error, (n_draws, len(means)))[:, order]
    swapped = draws[:, :-1] > draws[:, 1:]
    return 1 - swapped.any(axis=1).mean(), swapped.mean(axis=0)


same, swapped = chance_of_repeat(found["published"].to_numpy(), found.index.map(SPREAD).to_numpy())
print(f"probability of the same ranking: {same:.2f}")
names = found["published"].sort_values().index
for first, second, chance in zip(names, names[1:], swapped, strict=False):
    print(f"  {first} and {second} change places: {chance:.2f}")
repeated = found["published"].corr(pd.Series(BARATOV), method="spearman")
print(f"rank correlation of the paper with Baratov et al.: {repeated:.2f}")

# %%
# **Why is NIC higher?** Its captions here are not those that the LSTM of Türk et al. read. That
# reproduction keeps the inputs of its LSTM for NIC, and has other captions for the same images.
# The attacker is not the only reason: a small LSTM, trained for three epochs
# (``benchmarks/lic_lstm.py``), reaches 43.1 for NIC, but less than published for the others: 42.6
# for SAT (published 44.4), 45.1 for Att2in (45.9), 47.3 for UpDn (48.0). The reason is not the
# masked words, the way words are read or the rows: on the rows with a human caption, nine set-ups
# give 45.7 to 46.7 for NIC (``benchmarks/lic_setups.py``).
#
# LIC with confidence intervals
# -----------------------------
# 6,628 of these images have a human caption, for as many women as men. Its words outside the
# vocabulary of NIC are unknown tokens. Words that a model never uses become unknown tokens too.
# LIC_D is the value on human captions, and LIC = LIC_M − LIC_D.

human = fetch_captions(subset="human").frame
rows = models.frame.set_index("image").loc[human["image"]]
person = pd.Series(human["gender"], name="gender")
captions = human["caption"].str.replace("genderword", "<group>").to_numpy()
results = {}
for name in PUBLISHED:
    auditor = LICAuditor(n_draws=5, n_resamples=499, random_state=0)
    results[name] = auditor.audit(
        captions,
        rows[name].to_numpy(),
        sensitive_features=pd.Series(human["gender"], name="gender"),
    )
    table = results[name].table.iloc[0]
    print(
        f"{name:13}  LIC_D {table['quality_data']:.3f}  LIC_M {table['quality_model']:.3f}  "
        f"LIC {results[name].value:+.3f} [{results[name].low:+.3f}, {results[name].high:+.3f}]"
    )

figure, (left, right) = plt.subplots(ncols=2, figsize=(9, 3.8), layout="constrained", sharey=True)
at = np.arange(len(found))
left.plot(100 * found["published"], at, "x", color="black", label="published, LSTM")
left.plot(100 * found["skbiasamp"], at, "o", color="#0072B2", label="skbiasamp")
left.set_yticks(at, labels=found.index)
left.invert_yaxis()
left.set_xlabel("LIC_M × 100, mean of ten draws")
left.legend(loc="upper right")
value = np.array([one.value for one in results.values()])
ends = np.array([(one.low, one.high) for one in results.values()]).T
right.errorbar(100 * value, at, xerr=100 * np.abs(ends - value), fmt="o", color="#D55E00")
right.axvline(0, color="0.5", linewidth=1)
right.set_xlabel("LIC × 100 with 95 % interval, 6,628 rows")
for ax in (left, right):
    ax.grid(axis="x", color="0.9")
    ax.spines[["top", "right"]].set_visible(False)
figure.suptitle("Seven captioning models: what captions without gender words reveal of gender")

# %%
# **The sign of LIC depends on the attacker.** For NIC the paper has +3.7 percentage points with its
# LSTM, −0.8 with a fine-tuned BERT and +1.9 with a frozen one. Compare models by the same attacker.
#
# Words that point to each gender
# -------------------------------
# These are weights in an attacker that learned from all rows. Clothes and sports are typical. So
# are the words around the placeholder ``<group>``.

WordsDisplay.from_result(results["nic_equalizer"], model_name="Equalizer", max_words=8)
plt.show()
