"""Hirota, Nakashima and Garcia 2022."""

import numpy as np

from published._rows import Row, page


def captions(slow):
    """Yield LIC_M of seven captioning models; ten attackers a model take some minutes."""
    if not slow:
        return
    lic = page("lic_captioners")
    models = lic["read_captions"](subset="models")
    lic |= {"models": models, "gender": models.sensitive_features}
    for name, published in lic["PUBLISHED"].items():
        runs = [100 * lic["lic_m"](models.captions[name], seed) for seed in range(10)]
        why = "logistic regression on words in place of an LSTM"
        if name == "nic":
            why += ", and other captions of NIC than the paper's"
        yield Row(
            "LSTM",
            f"LIC_M in %, gender, {lic['MODELS'][name]}",
            f"{100 * published:.1f}",
            np.mean(runs),
            f"{why}; ± {np.std(runs, ddof=1):.1f} over {len(runs)} samples of men",
        )
