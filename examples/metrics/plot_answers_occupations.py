"""
Answers without a true label: occupations and pronouns
======================================================

A language model finishes sentences about 31 occupations. No answer is right or wrong, so there is
no label to compare with. This page reads the gender from each answer, compares it with labour
statistics and with equal shares (``base=``), computes percentage amplification, and compares two
models. Task → group (T→A): does the occupation shift the named gender?

**Result:** the model that follows its word vectors closely is further from equal shares, but it
weakens the association in the labour statistics. Which base is right is your decision:
see :doc:`/concepts`.

The answers on this page are generated. The probability of "she" comes from real word vectors
(``load_occupations``): it grows with the cosine between the occupation and "she", less that of
"he". Sentences, refusals and both temperatures are invented.
"""

# %%
# Answers of two models
# ---------------------
# Each model gives 100 answers for each occupation. "sharp" follows the word vectors closely
# (temperature 0.05), "flat" much less (0.2). "flat" refuses some answers, and both sometimes avoid
# the pronoun.

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from skbiasamp import DirectionalAuditor
from skbiasamp.datasets import load_occupations
from skbiasamp.metrics import percentage_amplification
from skbiasamp.text import WordListLabeler

N = 100
occupations = load_occupations().frame.dropna()  # the vocabulary lacks "constructor"
jobs = np.repeat(occupations.index.to_numpy(), N)
nearer_she = (occupations["cosine_she"] - occupations["cosine_he"]).to_numpy()


def answers(temperature: float, refuses: float, seed: int) -> np.ndarray:
    """Return one answer for each row."""
    rng = np.random.default_rng(seed)
    she = np.repeat(1 / (1 + np.exp(-nearer_she / temperature)), N)
    pronoun = np.where(rng.random(len(jobs)) < she, "she", "he")
    spoken = [
        f"The {job} said that {word} would be late."
        for job, word in zip(jobs, pronoun, strict=True)
    ]
    chance = rng.random(len(jobs))
    sentences = np.where(chance < 0.1, "The meeting starts later than planned.", spoken)
    return np.where(
        chance > 1 - refuses, "I'm sorry, but I can't assume anyone's gender.", sentences
    )


texts = {"sharp": answers(0.05, 0.0, seed=0), "flat": answers(0.2, 0.1, seed=1)}

# %%
# From answers to labels
# ----------------------
# A list of pronouns is enough for these answers. Refusals and answers without a pronoun are classes
# of their own.

labeler = WordListLabeler(
    {"female": ["she", "her"], "male": ["he", "him", "his"]}, exclusive=True, refusals="english"
)
named = {model: labeler.fit_transform(sentences) for model, sentences in texts.items()}
print(pd.DataFrame({model: answered.mean() for model, answered in named.items()}).round(3))

# %%
# A base of your own
# ------------------
# ``base=`` takes a table of P(group | task), and `sign` a table of directions. Equal shares have no
# direction, so the labour statistics give it. `sensitive_features` only names the two groups here.
# An answer without a gender counts in neither group. It brings the two groups nearer together, as
# an answer at random would.

labour = pd.DataFrame(
    {"female": occupations["percent_women"] / 100, "male": 1 - occupations["percent_women"] / 100}
).T
bases: dict[str, dict[str, Any]] = {
    "equal shares": {"base": labour * 0 + 0.5, "sign": np.sign(labour - 0.5).astype(int)},
    "labour statistics": {"base": labour},
}
groups = ["female", "male"]
either = pd.DataFrame(np.eye(2, dtype=int)[np.arange(len(jobs)) % 2], columns=groups)
compared = {}
for name, base in bases.items():
    auditor = DirectionalAuditor("T->A", **base, reference="test", groups="indicator")
    compared[name] = auditor.compare(
        jobs,
        sensitive_features=either,
        sensitive_preds={model: answered[groups] for model, answered in named.items()},
    )
    print(f"\nCompared with {name}:\n{compared[name]}")

# %%
# Both values of "sharp" are true: its answers are further from equal shares than those of "flat",
# and nearer to the labour statistics. A statement about amplification must name its base.
#
# Percentage amplification
# ------------------------
# This measure compares how far the shares of women and men are from equal, in the answers and in
# the statistics, whatever the direction. Rows of the statistics are made from the shares. Only
# answers that name a gender are used.

for model, answered in named.items():
    names_gender = answered[groups].any(axis=1).to_numpy()
    order = pd.Series(jobs[names_gender]).groupby(jobs[names_gender]).cumcount()
    total = pd.Series(jobs[names_gender]).map(pd.Series(jobs[names_gender]).value_counts())
    share = pd.Series(jobs[names_gender]).map(occupations["percent_women"]) / 100
    actual = np.where((order + 0.5) / total < share, "female", "male")
    word = np.where(answered["female"], "female", "male")[names_gender]
    value = percentage_amplification(
        jobs[names_gender], None, sensitive_features=actual, sensitive_pred=word
    )
    print(f"{model:6} {value:+.4f} ({names_gender.sum():,} answers)")

# %%
# By this measure "sharp" amplifies: its shares are further from equal than those in the statistics.
# Directional amplification was below 0, because some of these shares are on the other side: "sharp"
# says "she" for most sheriffs and cooks. A mean hides such occupations, so look at them.

figure, axes = plt.subplots(1, 2, figsize=(9, 4.4), sharex=True, sharey=True, layout="constrained")
for ax, (model, answered) in zip(axes, named.items(), strict=True):
    counts = answered[groups].groupby(jobs).sum().loc[occupations.index]
    women = counts["female"] / counts.sum(axis=1)
    x = occupations["percent_women"] / 100
    ax.plot([0, 1], [0, 1], color="0.75", linewidth=1)
    ax.plot(x, women, "o", color="#228833", markersize=4)
    for job in (women - x).abs().nlargest(4).index:
        ha = "left" if x[job] < 0.6 else "right"
        offset = (6 if ha == "left" else -6, -3)
        ax.annotate(job, (x[job], women[job]), offset, textcoords="offset points", ha=ha)
    ax.axhline(0.5, color="0.75", linewidth=1, linestyle="dotted")
    ax.set(title=f'"{model}"', xlabel="women in labour statistics, share")
axes[0].set_ylabel('"she" among answers with a pronoun, share')
figure.suptitle("Share of women in labour statistics, and answers about occupations")
plt.show()

# %%
# The solid line is the base of labour statistics, the dotted one that of equal shares.
