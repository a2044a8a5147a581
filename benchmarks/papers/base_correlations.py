"""
Custom base rates: pronouns of occupations in word vectors
==========================================================

This page follows Table 2 of "Directional bias amplification" (Wang & Russakovsky 2021). There, a
language model fills in the pronoun of sentences about occupations, or the occupation after a
pronoun. There is no true answer, so you choose the base rates to compare with. The paper's model
must be downloaded. Here the model is a small one: word vectors of 31 occupations and three pronouns
(:func:`~skbiasamp.datasets.load_occupations`).

**Result:** the same outputs amplify compared with equal shares, and weaken the association compared
with labour statistics, as in the paper. The size depends on the temperature of the model, and so
does the sign compared with labour statistics. Statistics cannot say which base rate is right: see
docs/choosing.md.
"""

# %%
# A small model, and its temperature
# ----------------------------------
# The model gives each pronoun the probability softmax(cosine / temperature), over pronouns if the
# occupation is given, and over occupations if the pronoun is given. The temperature decides how
# sharp the probabilities are. It was fixed by a rule before any amplification was computed: the
# temperature is the standard deviation of all cosines, so that the logits have a variance of 1.
# The rule does not look at statistics of occupations.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.special import softmax

from skbiasamp import DirectionalAuditor
from skbiasamp.datasets import load_occupations

PRONOUNS = ["he", "she", "they"]
occupations = load_occupations().frame.dropna()  # the vectors lack "constructor"
cosines = occupations[[f"cosine_{one}" for one in PRONOUNS]].set_axis(PRONOUNS, axis=1)
RULE = cosines.to_numpy().std()


def said(temperature, n_pronouns, direction):
    """Return the model's probabilities, occupations × pronouns."""
    logits = cosines[PRONOUNS[:n_pronouns]] / temperature
    over = {"T->A": 1, "A->T": 0}[direction]
    return pd.DataFrame(softmax(logits, axis=over), logits.index, logits.columns)


print(f"temperature {RULE:.3f}, mean probabilities given the occupation:")
print(said(RULE, 3, "T->A").mean().round(3).to_string())

# %%
# Base rates
# ----------
# For task → group (T→A: does the occupation shift the pronoun?) a base is a table of P(pronoun |
# occupation). For group → task (A→T: does the pronoun shift the occupation?) it is P(occupation |
# pronoun). Equal shares have no direction, so the labour statistics give the sign, as in the paper.
# For A→T the statistics can be read in two ways: all occupations are equally large ("shares"), or
# each is as large as it is in the labour market ("counts").

women = occupations["percent_women"] / 100
shares = pd.DataFrame({"he": 1 - women, "she": women}).T
leaning = np.sign(shares - 0.5).astype(int)
leaning.loc["they"] = leaning.loc["she"]  # as in the paper


def base_rates(name, direction):
    """Return the table of base rates (pronouns × occupations), and that of signs or None."""
    n_pronouns = 3 if name == "equal shares, 3" else 2
    names = PRONOUNS[:n_pronouns]
    if name.startswith("equal"):
        equal = 1 / n_pronouns if direction == "T->A" else 1 / len(occupations)
        return pd.DataFrame(equal, index=names, columns=occupations.index), leaning.loc[names]
    if direction == "T->A":
        return shares, None
    sizes = occupations["number"] if name == "labour, counts" else 1
    people = shares * sizes
    return people.div(people.sum(axis=1), axis=0), None


def amplification(name, direction, temperature):
    """Return the result of a direction, compared with a table of base rates."""
    base, sign = base_rates(name, direction)
    predicted = said(temperature, len(base), direction)
    auditor = DirectionalAuditor(
        direction, base=base, sign=sign, reference="test", groups="indicator", interval=None
    )
    # The base replaces the true labels: these rows only name groups and tasks.
    if direction == "T->A":
        rows = np.eye(len(base), dtype=int)[np.arange(len(predicted)) % len(base)]
        given = pd.DataFrame(rows, columns=base.index)
        return auditor.audit(predicted.index, sensitive_features=given, sensitive_pred=predicted)
    given = pd.DataFrame(np.eye(len(base), dtype=int), columns=base.index)
    jobs = pd.DataFrame(0, index=given.index, columns=base.columns)
    return auditor.audit(jobs, predicted.T.to_numpy(), sensitive_features=given)


# %%
# Amplification compared with each base
# -------------------------------------
# "Equal shares, 2" has the pronouns he and she, "equal shares, 3" they too. The paper's third base,
# counts in the English Wikipedia, is not available here.

PAPER = {
    ("equal shares, 2", "T->A"): 0.1368,
    ("equal shares, 3", "T->A"): 0.0914,
    ("labour, counts", "T->A"): -0.1254,
    ("equal shares, 2", "A->T"): 0.0084,
    ("equal shares, 3", "A->T"): 0.0056,
    ("labour, counts", "A->T"): -0.0089,
}
NAMES = ("equal shares, 2", "equal shares, 3", "labour, counts", "labour, shares")
results = {
    (name, direction): amplification(name, direction, RULE)
    for direction in ("T->A", "A->T")
    for name in NAMES
    if (name, direction) != ("labour, shares", "T->A")  # shares are those of counts
}
print(f"{'base rates':16} direction  word vectors  paper")
for (name, direction), result in results.items():
    published = PAPER.get((name, direction))
    print(
        f"{name:16} {direction:9}  {result.value:+.4f}       "
        f"{'' if published is None else f'{published:+.4f}'}"
    )

# %%
# The signs are those of the paper, and for T→A the sizes are near it, though another model speaks.
# In the paper, "they" is almost never predicted, and equal shares of three pronouns give two thirds
# of the value of two. Word vectors give "they" 14 %, so the value is lower here.
#
# Amplification by temperature
# ----------------------------
# A lower temperature follows the cosines more closely. Compared with equal shares the model
# amplifies at every temperature. Compared with labour statistics the sign changes, at about 0.03
# for T→A and 0.07 for A→T. A value compared with statistics says as much about the sharpness of the
# probabilities as about the association.

TEMPERATURES = np.geomspace(0.01, 1, 13)
COLORS = dict(zip(NAMES, ("#228833", "#66ccee", "#aa3377", "#ccbb44"), strict=True))
figure, axes = plt.subplots(1, 2, figsize=(9, 4), sharey=True, layout="constrained")
curves = {}
for ax, direction in zip(axes, ("T->A", "A->T"), strict=True):
    for name in NAMES:
        if (name, direction) not in results:
            continue
        values = [amplification(name, direction, one).value for one in TEMPERATURES]
        curves[name, direction] = np.array(values)
        ax.plot(TEMPERATURES, values, "-", color=COLORS[name], label=name)
        ax.plot(RULE, results[name, direction].value, "o", color=COLORS[name], markersize=5)
        if (name, direction) in PAPER:
            ax.plot(RULE, PAPER[name, direction], "x", color=COLORS[name], markersize=8)
    ax.axvline(RULE, color="0.8", linewidth=1, zorder=0)
    ax.axhline(0, color="0.6", linewidth=0.8, zorder=0)
    title = {"T->A": "task → group (T→A)", "A->T": "group → task (A→T)"}[direction]
    ax.set(xscale="log", xlabel="temperature", ylabel="BiasAmp→", title=title)
axes[1].plot([], [], "x", color="0.4", label="published (another model)")
axes[1].legend(fontsize="small")
plt.show()

# %%
# Single occupations
# ------------------
# As in Fig. 5 of the paper: a point above the line is an occupation for which "he" is more probable
# than the share of men. BERT prefers "he" in general. These vectors prefer "she", so most points
# are below the line. Pairs on the other side of one half weaken the association in the statistics,
# so they count as negative. They can still be harmful.

men, he = shares.loc["he"], said(RULE, 2, "T->A")["he"]
figure, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
ax.plot([0, 1], [0, 1], color="0.75", linewidth=1)
ax.plot(men, he, "o", color="#aa3377", markersize=4)
for job in ["chief", "carpenter", "sheriff", "cook", "nurse", "secretary"]:
    right = men[job] > 0.8
    ax.annotate(
        job,
        (men[job], he[job]),
        (-6 if right else 6, -3),
        textcoords="offset points",
        ha="right" if right else "left",
    )
ax.set(xlabel="men in labour statistics, share", ylabel='probability of "he"', ylim=(0, 1))
ax.set_title("Share of men in labour statistics, and pronouns of word vectors")
plt.show()
