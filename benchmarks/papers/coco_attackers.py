"""Dataset leakage of COCO's labels with errors, by two attackers: Table 1 of Wang et al. (2019).

It makes the runs that are not in the file yet; with --short one epoch of one run, to try it out.
As in the code that the authors released, each label flips with the same probability, and the
attacker has normalised inputs and four hidden layers. The training rows are not available, so
attackers learn from 1,500 women and as many men of the validation rows. Of as many test rows, one
half chooses the epoch and the other half judges, then the reverse. Needs torch.
"""

from itertools import product

import numpy as np
from imsitu_attackers import RELEASED, guesses
from published._rows import Runs, filled, markdown
from reference_data import read_coco_labels
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score

RUNS = Runs("coco_attackers", ("share", "seed"), ("F1", "logistic regression", "network"))
SHARES, SEEDS = (0.0, 0.02, 0.03, 0.04), range(5)
# The best epoch is among the first ten; after it the network learns the errors by heart.
EPOCHS = 20


def rows(subset, share, each, rng):
    """Return labels with errors and genders of as many women as men, and F1 of the labels."""
    data = read_coco_labels(subset=subset)
    woman = (data.sensitive_features == "woman").to_numpy().astype(np.int64)
    kept = np.hstack([rng.permutation(np.flatnonzero(woman == value))[:each] for value in (0, 1)])
    true = data.target.to_numpy(np.float32)[kept]
    moved = np.where(rng.random(true.shape) < share, 1 - true, true)
    return moved, woman[kept], f1_score(true, moved, average="macro", zero_division=0)


def run(share, seed, each=1_500, epochs=EPOCHS):
    """Return F1 of the labels, and leakage by logistic regression and by the network."""
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    inputs, woman, _ = rows("val", share, each, rng)
    judged, truth, f1 = rows("test", share, each, rng)
    linear = LogisticRegression(max_iter=500).fit(inputs, woman).score(judged, truth)
    right = np.array(list(guesses(inputs, woman, judged, RELEASED[:3], epochs))) == truth
    halves = np.array_split(rng.permutation(len(truth)), 2)
    accuracies = [
        right[right[:, chosen].mean(axis=1).argmax(), other].mean()
        for chosen, other in (halves, halves[::-1])
    ]
    return f1, linear, np.mean(accuracies)


def means():
    """Return F1, and leakage by both attackers, in percent: a mean over runs for each share."""
    results = RUNS.read()
    of_share = {share: [] for share in sorted({share for share, _ in results}, reverse=True)}
    for (share, _), accuracies in results.items():
        of_share[share].append(accuracies)
    return {share: 100 * np.mean(runs, axis=0) for share, runs in of_share.items()}


def at(f1, attacker="network"):
    """Return leakage by an attacker at an F1, interpolated between the two nearest shares."""
    table = np.array(list(means().values()))
    return float(np.interp(f1, table[:, 0], table[:, RUNS.results.index(attacker)]))


def section():
    """Return the table of the replication page."""
    n_runs = [share for share, _ in RUNS.read()]
    lines = [
        [f"{share:.0%}", n_runs.count(share), *(f"{value:.1f}" for value in values)]
        for share, values in list(means().items())[::-1]
    ]
    header = ["wrong labels", "runs", "F1", "logistic regression", "their network"]
    linear, table = at(53.75, "logistic regression"), markdown(header, lines, n_numbers=5)
    return filled(__file__, network=at(53.75), linear=linear, table=table)


if __name__ == "__main__":
    jobs = [(share, seed) for seed, share in product(SEEDS, SHARES)]
    RUNS.command(__doc__, jobs, run, lambda: run(0.03, 0, each=100, epochs=1))
