"""Bias amplification and error rates of COMPAS at every threshold of its risk score.

Fig. 6 of "Directional bias amplification" (Wang, Russakovsky 2021): defendants whose score
exceeds a threshold are predicted to be charged again within two years. Amplification stays close
to 0, while at every realistic threshold many more African-American than Caucasian defendants who
were not charged again had been called a risk. In risk prediction a small amplification says that
a score agrees with the records, not that it is fair.

    python examples/compas_thresholds.py [--plot thresholds.png]
"""

import argparse

import pandas as pd

from skbiasamp.datasets import fetch_compas
from skbiasamp.metrics import directional_amplification

THRESHOLDS = range(11)


def curve():
    """Return amplification, false positive rates and the share predicted, by threshold."""
    compas = fetch_compas(target="two_year_recid", filtered=False)
    rows = {}
    for threshold in THRESHOLDS:
        predicted = (compas.score > threshold).astype(int)
        amplification = directional_amplification(
            compas.target, predicted, sensitive_features=compas.sensitive
        )
        rates = predicted[compas.target == 0].groupby(compas.sensitive).mean()
        rows[threshold] = {"A->T": amplification, **rates, "predicted": predicted.mean()}
    return pd.DataFrame.from_dict(rows, orient="index"), compas.target.mean()


def plot(table, base_rate, path):
    """Draw amplification above, the rates by group below."""
    import matplotlib

    matplotlib.use("Agg")
    from skbiasamp.plotting import AmplificationCurveDisplay

    display = AmplificationCurveDisplay(
        table.index,
        table["A->T"],
        rates=table[["African-American", "Caucasian"]],
        base_rate_threshold=(table["predicted"] - base_rate).abs().idxmin(),
        title="COMPAS: score above a threshold against charges within two years",
    )
    display.plot().figure_.savefig(path, dpi=120)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plot", metavar="FILE", help="where to save the picture")
    options = parser.parse_args()
    table, base_rate = curve()
    print("             BiasAmp    false positive rate")
    print("threshold    A->T       African-American   Caucasian    predicted")
    for threshold, row in table.iterrows():
        print(
            f"{threshold:9}   {row['A->T']:+.4f}   {row['African-American']:15.4f}"
            f"   {row['Caucasian']:10.4f}   {row['predicted']:9.1%}"
        )
    print(f"\n{base_rate:.1%} were charged again within two years.")
    if options.plot:
        plot(table, base_rate, options.plot)


if __name__ == "__main__":
    main()
