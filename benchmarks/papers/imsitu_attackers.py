"""Dataset leakage of imSitu with the attackers of Wang et al. (2019): Table 1 and Table 2.

It makes the runs that are not in the file yet; with --short one epoch of one run, to try it out.
The set-up is that of the code which the authors released, where it says more than the paper: batch
normalisation of the inputs, four hidden layers, 7,300 training rows of each gender and 3,000 to
choose the epoch and to judge, drawn again in each run. A run takes up to two minutes of processor
time. Needs the imSitu annotations (docs/recipes.md) and torch.
"""

import numpy as np
from published._rows import Runs, filled, markdown, mean_and_spread

from skbiasamp.datasets import fetch_imsitu_annotations

SPLITS = {"original": None, "α = 3": 3, "α = 2": 2, "α = 1": 1}
# Hidden layers, their width, whether inputs are normalised, share of the training rows.
RELEASED = (4, 300, True, 1.0)
# λ_M in Table 2 of the paper, of the same attackers on COCO.
TABLE_2 = {
    ("1 layer", 0, 0, True, 1.0): "68.82 ± 0.35",
    ("2 layers of 100", 1, 100, True, 1.0): "70.83 ± 0.58",
    ("2 layers of 300", 1, 300, True, 1.0): "71.03 ± 0.52",
    ("4 layers of 300", 4, 300, True, 0.25): "68.54 ± 1.10",
    ("4 layers of 300", 4, 300, True, 0.5): "69.89 ± 0.98",
    ("4 layers of 300", 4, 300, True, 0.75): "69.93 ± 0.51",
    ("4 layers of 300", *RELEASED): "70.46 ± 0.36",
}
# Validation rows on which the epoch is chosen.
CHOSEN_ON = {
    "equal": "3,000 women and men, as in the released code",
    "all": "all rows: 4,457 men, 3,273 women",
    "balanced": "as many women as men for each verb",
    "last": "none: the last epoch",
}
JOB = ("split", "hidden", "width", "normalised", "share", "seed", "epochs")
RUNS = Runs("imsitu_attackers", JOB, tuple(CHOSEN_ON))


def jobs():
    """Yield what is to be run, the most telling first.

    The paper has 100 epochs everywhere, and the authors' command for α = 1 has 50.
    """
    yield from (("α = 1", *RELEASED, seed, 50) for seed in range(12))
    for seed in range(5):
        yield from (("original", *attacker, seed, 100) for _, *attacker in TABLE_2)
        yield from ((split, *RELEASED, seed, 100) for split in ("α = 3", "α = 2", "α = 1"))


def guesses(inputs, woman, judged, attacker, epochs):
    """Yield the genders that the attacker guesses for the judged inputs, after each epoch."""
    import torch
    from torch import nn

    inputs, woman, judged = map(torch.as_tensor, (inputs, woman, judged))
    n_inputs, (hidden, width, normalised) = inputs.shape[1], attacker
    layers = [nn.BatchNorm1d(n_inputs)] if normalised else []
    for _ in range(hidden):
        layers += [nn.Linear(n_inputs, width), nn.BatchNorm1d(width), nn.LeakyReLU()]
        n_inputs = width
    net = nn.Sequential(*layers, nn.Linear(n_inputs, 2))
    steps = torch.optim.Adam(net.parameters(), lr=5e-5, weight_decay=1e-5, fused=True)
    for _ in range(epochs):
        net.train()
        for rows in torch.randperm(len(inputs)).split(128):
            steps.zero_grad()
            nn.functional.cross_entropy(net(inputs[rows]), woman[rows]).backward()
            steps.step()
        net.eval()
        with torch.no_grad():
            yield net(judged).argmax(dim=1).numpy()


def run(split, hidden, width, normalised, share, seed, epochs):
    """Return the accuracy on test rows of the epoch that each choice keeps, and of the last."""
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    train = fetch_imsitu_annotations(subset="train", alpha=SPLITS[split])
    verbs = np.unique(train.target)

    def rows(data, each=None):
        """Return verbs and genders, of as many women as men if `each` says of how many."""
        woman = (data.sensitive == "woman").to_numpy().astype(np.int64)
        kept = np.arange(len(woman))
        if each:
            kept = [rng.permutation(np.flatnonzero(woman == value))[:each] for value in (0, 1)]
        kept = np.hstack(kept)
        return np.searchsorted(verbs, data.target)[kept], woman[kept]

    val, test = (fetch_imsitu_annotations(subset=subset) for subset in ("val", "test"))
    chosen_on = {
        "equal": rows(val, 3_000),
        "all": rows(val),
        "balanced": rows(fetch_imsitu_annotations(subset="val", alpha=1)),
    }
    judged_on = rows(test, 3_000)
    verb, woman = rows(train, round(7_300 * share))
    one_hot = torch.eye(len(verbs))
    by_epoch = guesses(one_hot[verb], woman, one_hot, (hidden, width, normalised), epochs)
    guessed = np.array(list(by_epoch), dtype=int)

    def accuracy(verb, woman):
        return (guessed[:, verb] == woman).mean(axis=1)

    judged = accuracy(*judged_on)
    kept = {name: judged[accuracy(*chosen).argmax()] for name, chosen in chosen_on.items()}
    return kept | {"last": judged[-1]}


def values(split, attacker, chosen_on="equal", epochs=100):
    """Return dataset leakage in percent, of each finished run."""
    return [
        100 * accuracies[list(CHOSEN_ON).index(chosen_on)]
        for (*about, _, its_epochs), accuracies in RUNS.read().items()
        if (*about, its_epochs) == (split, *attacker, epochs)
    ]


def by_chance(n_guesses=2_000):
    """Return what a random gender for each verb gives.

    That is the standard deviation of its accuracy on the test rows in percent, and the correlation
    of this accuracy with that on the validation rows, women and men weighing the same.
    """
    rng = np.random.default_rng(0)
    subsets = [fetch_imsitu_annotations(subset=subset) for subset in ("val", "test")]
    verbs = np.unique(subsets[0].target)
    guess = rng.choice([-0.5, 0.5], size=(n_guesses, len(verbs)))
    accuracies = []
    for data in subsets:
        women, men = (
            data.target[data.sensitive == gender]
            .value_counts(normalize=True)
            .reindex(verbs, fill_value=0)
            for gender in ("woman", "man")
        )
        accuracies.append(100 * guess @ (women - men).to_numpy() / 2)
    return accuracies[1].std(), np.corrcoef(accuracies)[0, 1]


def section():
    """Return the tables: the choice of the epoch at α = 1, and attackers of several sizes."""
    chosen, last = (values("α = 1", RELEASED, choice, 50) for choice in ("equal", "last"))
    spread, correlation = by_chance()
    # The best of 50 independent normal draws lies 2.25 standard deviations above their mean.
    best = 50 + 2.25 * correlation * spread
    error = np.std(chosen, ddof=1) / len(chosen) ** 0.5
    at_1 = [values("α = 1", RELEASED, choice, 50) for choice in CHOSEN_ON]
    row = ["as released", 50, len(chosen), *map(mean_and_spread, at_1)]
    sizes = {about: values("original", about[1:]) for about in TABLE_2}
    ours = np.ptp([np.mean(runs) for runs in sizes.values() if runs])
    theirs = np.ptp([float(cell.split()[0]) for cell in TABLE_2.values()])
    by_size = [
        [about[0], f"{about[-1]:.0%}", len(runs), mean_and_spread(runs), TABLE_2[about]]
        for about, runs in sizes.items()
        if runs
    ]
    header = ["attacker", "training rows", "runs", "λ_D, imSitu", "published λ_M, COCO"]
    return filled(
        __file__,
        chosen=mean_and_spread(chosen),
        last=mean_and_spread(last),
        spread=spread,
        correlation=correlation,
        best=best,
        above=53.99 - np.mean(chosen),
        error=error,
        at_1=markdown(["attacker", "epochs", "runs", *CHOSEN_ON.values()], [row], n_numbers=6),
        ours=ours,
        theirs=theirs,
        by_size=markdown(header, by_size, n_numbers=4),
    )


if __name__ == "__main__":
    short = ("α = 1", 1, 10, True, 0.1, 0, 1)
    RUNS.command(__doc__, jobs(), lambda *job: run(*job).values(), lambda: run(*short))
