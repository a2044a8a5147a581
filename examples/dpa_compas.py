"""DPA of decision trees on COMPAS, beside the table of the paper that proposed it.

"Making bias amplification in balanced datasets directional and interpretable" (Tokas, Nair,
Kerner 2024), Tables 2 and 3: a decision tree predicts recidivism, another one race, from five
features, and both are audited on the rows they were trained on. Attackers are the paper's (a
network with 4 hidden units) and the exact one. The paper balances the data by sampling: here
over several samples, with their spread.

    python examples/dpa_compas.py [--samples 5]
"""

import argparse

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from skbiasamp import DPAAuditor
from skbiasamp.attackers import MLPAttacker
from skbiasamp.datasets import fetch_compas

PAPER = {
    ("unbalanced", "T->A"): "0.063 ± 0.005",
    ("unbalanced", "A->T"): "-0.004 ± 0.002",
    ("balanced", "T->A"): "0.061 ± 0.008",
    ("balanced", "A->T"): "0.100 ± 0.004",
}
ATTACKERS = {"exact": "exact", "network": MLPAttacker.preset("dpa")}


def predictions(features, labels, seed):
    """Return what a tree says of the rows it was trained on."""
    tree = DecisionTreeClassifier(random_state=seed)
    return tree.fit(features, labels).predict(features)


def audits(kind, seed):
    """Yield (direction, attacker, result) for trees on one sample of the data."""
    compas = fetch_compas(balanced=kind == "balanced", random_state=seed)
    task = predictions(compas.data, compas.target, seed)
    race = predictions(compas.data, compas.sensitive, seed)
    for direction in ("T->A", "A->T"):
        for name, attacker in ATTACKERS.items():
            auditor = DPAAuditor(direction, attacker=attacker, random_state=seed)
            yield (
                direction,
                name,
                auditor.audit(
                    compas.target, task, sensitive_features=compas.sensitive, sensitive_pred=race
                ),
            )


def table(n_samples):
    """Return the results of every sample by (kind, direction, attacker)."""
    found = {}
    for kind in ("unbalanced", "balanced"):
        for seed in range(n_samples):
            for direction, name, result in audits(kind, seed):
                found.setdefault((kind, direction, name), []).append(result)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=5)
    options = parser.parse_args()
    found = table(options.samples)
    of_samples = f"DPA of {options.samples} samples"
    print(f"{'data':11} direction  attacker  {of_samples:16} one sample's interval   paper")
    for (kind, direction, name), results in found.items():
        values = np.array([result.value for result in results])
        interval = f"[{results[0].low:+.3f}, {results[0].high:+.3f}]"
        print(
            f"{kind:11} {direction:9}  {name:8}  {values.mean():+.3f} ± {values.std(ddof=1):.3f}"
            f"   {interval:22}  {PAPER[kind, direction]}"
        )


if __name__ == "__main__":
    main()
