"""How well gender can be told from imSitu's verbs, beside the table of the paper on leakage.

"Balanced datasets are not enough" (Wang et al. 2019), Table 1: the original training split, and
three that are balanced until no verb has more than α men to a woman, or women to a man. Attackers
learn on the split and are judged on the original test rows, both genders weighing the same: the
exact one, and the paper's network with several restarts, trained as one batch.

    python examples/leakage_imsitu.py [--restarts 3] [--epochs 100]
"""

import argparse

from skbiasamp.attackers import MLPAttacker
from skbiasamp.datasets import fetch_imsitu_annotations
from skbiasamp.metrics import dataset_leakage

PAPER = {None: 0.6826, 3: 0.6811, 2: 0.6815, 1: 0.5399}


def leakage(alpha, attacker, **options):
    """Return the share of test rows whose gender is told from the verb."""
    train = fetch_imsitu_annotations(subset="train", alpha=alpha)
    test = fetch_imsitu_annotations(subset="test")
    return dataset_leakage(
        test.target,
        sensitive_features=test.sensitive,
        y_train=train.target,
        sensitive_train=train.sensitive,
        attacker=attacker,
        random_state=0,
        **options,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--restarts", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=100)
    options = parser.parse_args()
    network = MLPAttacker.preset("leakage", max_epochs=options.epochs)
    print("split      exact  network  paper")
    for alpha, published in PAPER.items():
        exact = leakage(alpha, "exact")
        trained = leakage(alpha, network, n_draws=options.restarts)
        name = "original" if alpha is None else f"α = {alpha}"
        print(f"{name:9} {exact:6.2%}  {trained:7.2%} {published:6.2%}", flush=True)


if __name__ == "__main__":
    main()
