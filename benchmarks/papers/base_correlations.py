"""Custom base rates: pronouns of occupations in word vectors, after Wang & Russakovsky (2021).

In Table 2 of the paper, a language model fills in the pronoun of sentences about occupations, or
the occupation after a pronoun. There is no true answer, so you choose the base rates to compare
with. The paper's model must be downloaded. Here the model is a small one: word vectors of 31
occupations and three pronouns. It gives each pronoun the probability softmax(cosine / temperature),
over pronouns if the occupation is given, and over occupations if the pronoun is given.

Result: the same outputs amplify compared with equal shares, and weaken the association compared
with labour statistics, as in the paper; for T→A (task → group: does the occupation shift the
pronoun?) the sizes are near it too. In the paper, "they" is almost never predicted, and equal
shares of three pronouns give two thirds of the value of two; word vectors give "they" 14 %.

A lower temperature follows the cosines more closely. Compared with equal shares the model amplifies
at every temperature. Compared with labour statistics the sign changes, at about 0.03 for T→A and
0.07 for A→T (group → task: does the pronoun shift the occupation?). A value compared with
statistics says as much about the sharpness of the probabilities as about the association.
Statistics cannot say which base rate is right: see docs/choosing.md.
"""

import numpy as np
import pandas as pd
from scipy.special import softmax

from skbiasamp import DirectionalAuditor
from skbiasamp.datasets import load_occupations

# The paper's third base, counts in the English Wikipedia, is not available here.
PAPER = {
    ("equal shares, 2", "T->A"): 0.1368,
    ("equal shares, 3", "T->A"): 0.0914,
    ("labour, counts", "T->A"): -0.1254,
    ("equal shares, 2", "A->T"): 0.0084,
    ("equal shares, 3", "A->T"): 0.0056,
    ("labour, counts", "A->T"): -0.0089,
}
# For A→T, occupations are equally large ("shares") or as large as in the labour market ("counts").
NAMES = ("equal shares, 2", "equal shares, 3", "labour, counts", "labour, shares")
PRONOUNS = ["he", "she", "they"]
occupations = load_occupations().frame.dropna()  # the vectors lack "constructor"
cosines = occupations[[f"cosine_{one}" for one in PRONOUNS]].set_axis(PRONOUNS, axis=1)
# Fixed before any amplification was computed: the logits have a variance of 1.
RULE = cosines.to_numpy().std()
TEMPERATURES = np.geomspace(0.01, 1, 13)
women = occupations["percent_women"] / 100
shares = pd.DataFrame({"he": 1 - women, "she": women}).T
# Equal shares have no direction, so labour statistics give the sign, as in the paper.
leaning = np.sign(shares - 0.5).astype(int)
leaning.loc["they"] = leaning.loc["she"]


def said(temperature, n_pronouns, direction):
    """Return the model's probabilities, occupations × pronouns."""
    logits = cosines[PRONOUNS[:n_pronouns]] / temperature
    over = {"T->A": 1, "A->T": 0}[direction]
    return pd.DataFrame(softmax(logits, axis=over), logits.index, logits.columns)


def base_rates(name, direction):
    """Return the table of base rates (pronouns × occupations), and that of signs or None.

    For T→A these are P(pronoun | occupation), for A→T P(occupation | pronoun).
    """
    n_pronouns = 3 if name == "equal shares, 3" else 2
    names = PRONOUNS[:n_pronouns]
    if name.startswith("equal"):
        equal = 1 / n_pronouns if direction == "T->A" else 1 / len(occupations)
        return pd.DataFrame(equal, index=names, columns=occupations.index), leaning.loc[names]
    if direction == "T->A":
        return shares, None
    people = shares * (occupations["number"] if name == "labour, counts" else 1)
    return people.div(people.sum(axis=1), axis=0), None


def amplification(name, direction, temperature):
    """Return the result of a direction, compared with a table of base rates."""
    base, sign = base_rates(name, direction)
    predicted = said(temperature, len(base), direction)
    how = {"base": base, "sign": sign, "reference": "test", "groups": "indicator"}
    auditor = DirectionalAuditor(direction, interval=None, **how)
    # The base replaces the true labels: these rows only name groups and tasks.
    groups = np.eye(len(base), dtype=int)
    if direction == "T->A":
        rows = groups[np.arange(len(predicted)) % len(base)]
        given = pd.DataFrame(rows, columns=base.index)
        return auditor.audit(predicted.index, sensitive_features=given, sensitive_pred=predicted)
    given = pd.DataFrame(groups, columns=base.index)
    jobs = pd.DataFrame(0, index=given.index, columns=base.columns)
    return auditor.audit(jobs, predicted.T.to_numpy(), sensitive_features=given)


print(f"temperature {RULE:.3f}, mean probabilities given the occupation:")
print(said(RULE, 3, "T->A").mean().round(3).to_string())
results = {
    (name, direction): amplification(name, direction, RULE)
    for direction in ("T->A", "A->T")
    for name in NAMES
    if (name, direction) != ("labour, shares", "T->A")  # shares are those of counts
}
print(f"{'base rates':16} direction  word vectors  paper")
for (name, direction), result in results.items():
    published = f"{PAPER[name, direction]:+.4f}" if (name, direction) in PAPER else ""
    print(f"{name:16} {direction:9}  {result.value:+.4f}       {published}")

curves = {at: np.array([amplification(*at, one).value for one in TEMPERATURES]) for at in results}
print(pd.DataFrame(curves, TEMPERATURES.round(3)).round(4).to_string())
