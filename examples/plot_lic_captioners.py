"""
Leakage in captions of seven models
===================================

An attacker reads captions in which words such as "woman" and "his" are masked, and guesses the
annotated gender of the person. This page measures LIC (Hirota, Nakashima & Garcia, 2022) for seven
captioning models on 10,780 COCO images, and shows the words by which the attacker recognises each
gender.

**Result:** LIC_M of six of the seven models is within 0.6 percentage points of the published value,
and that of NIC is 1.9 higher. All seven models reveal gender better than the human captions at
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
# **Why is NIC higher?** Not because of the attacker alone. A small LSTM, trained for three epochs
# (``benchmarks/lic_lstm.py``), reaches 43.1 for NIC, beside the published 43.2. But it reaches less
# than published for the others: 42.6 for SAT (published 44.4), 45.1 for Att2in (45.9), 47.3 for
# UpDn (48.0); the rank correlation is 0.93. Compared with the other models, NIC is about one
# percentage point higher by the LSTM too, and neither attacker puts it clearly below SAT (the
# LSTM's standard error is 0.5). These captions are from a reproduction of the paper. Those of NIC
# may not be the paper's.
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
