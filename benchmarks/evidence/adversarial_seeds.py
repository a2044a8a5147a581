"""The adversary of examples/mitigation/plot_colored_digits.py with eight seeds of the network.

It writes results/adversarial-seeds.csv; with --short it runs one seed and writes nothing.
"""

import warnings
from pathlib import Path

from common import defined_in, is_short

# isort: split
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

from skbiasamp.inference import UncertaintyWarning

FILE = Path(__file__).resolve().parents[1] / "results" / "adversarial-seeds.csv"
EXAMPLE = FILE.parents[2] / "examples" / "mitigation" / "plot_colored_digits.py"


def run(seed):
    """Yield the measures of a network without an adversary and with one."""
    example = defined_in(EXAMPLE)
    train, test = example["split"](0.9)
    for weight in (0.0, 1.0):
        model = example["network"](weight).set_params(random_state=seed)
        model.fit(*train[:2], sensitive_features=train[2])
        results = example["audits"](model, train, test)
        encoded = model.transform(test[0]).reshape(len(test[0]), -1)
        attacker = LogisticRegression(max_iter=2000)
        color = cross_val_score(attacker, encoded, test[2], cv=5, scoring="balanced_accuracy")
        turns = model.history_[model.history_["phase"] != "predictor"]
        yield {
            "seed": seed,
            "adversary": weight,
            "accuracy": results["accuracy"],
            "other colour": results["other colour"],
            "leakage, logits": results["leakage, logits"].value,
            "colour from encoder": color.mean(),
            "adversary's loss": turns["adversary_loss"].tail(10).mean() if weight else None,
        }


if __name__ == "__main__":
    short = is_short(__doc__)
    warnings.simplefilter("ignore", UncertaintyWarning)
    frame = pd.DataFrame([row for seed in range(1 if short else 8) for row in run(seed)]).round(3)
    print(frame.to_string(index=False))
    if not short:
        frame.to_csv(FILE, index=False, lineterminator="\n")
