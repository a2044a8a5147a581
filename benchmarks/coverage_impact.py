"""Measure how often intervals of impact ratios contain the true ratio, in samples of 500 rows.

python benchmarks/coverage_impact.py            # half a minute on one core
python benchmarks/coverage_impact.py --short    # seconds: only checks that it runs
python benchmarks/coverage_impact.py --write docs/coverage-impact.md
"""

import argparse
from pathlib import Path

import numpy as np
from scipy import stats

from skbiasamp.inference._shares import ratio_interval

SIZES = ((250, 250), (400, 100), (450, 50), (125,) * 4, (200, 150, 100, 50))
HIGHEST = (0.05, 0.1, 0.2, 0.5)
RATIOS = (1.0, 0.8, 0.5)
Z = float(stats.norm.isf(0.025))

TEXT = """# Coverage of impact ratios

An impact ratio is the selection rate of a category over the highest selection rate. Samples have
500 rows in two or four categories. The first category has the highest true rate. All others have
this rate times the true ratio. How often do 95 % intervals of the last category contain its true
ratio?

skbiasamp has Koopman's score interval. "Katz" is the interval of the logarithm of the ratio, which
many programs use. It has no value if nobody of the category is selected, which counts as a miss.
"Highest chosen" divides by the highest rate in the sample, as the tables of reports do. Samples in
which the last category itself is the highest are then left out.

{n} samples a row; a share of 95 % has a standard error of {error:.1f} percentage points.

{table}

With a known base, Koopman's interval contains the true ratio in {least} to {most} of samples, and
Katz's in {katz_least} to {katz_most}. If the highest category is chosen by the same rows, the
coverage of Koopman's interval is {chosen_least} to {chosen_most}. It is below 95 % if four
categories have the same true rate: the highest rate in the sample is then too high by chance.

Made by `python benchmarks/coverage_impact.py --write docs/coverage-impact.md`.
"""
HEADER = (
    "| rows of categories | highest rate | true ratio | Koopman | Katz | Koopman, highest chosen "
    "| Katz, highest chosen |\n|---|---|---|---|---|---|---|"
)


def katz(k, n, k_base, n_base):
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (k / n) / (k_base / n_base)
        reach = np.exp(Z * np.sqrt(1 / k - 1 / n + 1 / k_base - 1 / n_base))
        return ratio / reach, ratio * reach


def covered(interval, truth, *counts):
    low, high = interval(*counts)
    return float(np.mean((low <= truth) & (truth <= high)))


def measure(sizes, highest, ratio, n_samples, rng):
    """Return the coverage of both intervals, with a known base and with the highest chosen."""
    sizes = np.array(sizes, dtype=float)
    rates = np.full(len(sizes), highest * ratio)
    rates[0] = highest
    k = rng.binomial(sizes.astype(int), rates, (n_samples, len(sizes))).astype(float)
    best = (k / sizes).argmax(axis=1)
    other = best != len(sizes) - 1
    known = (k[:, -1], sizes[-1], k[:, 0], sizes[0])
    chosen = (k[other, -1], sizes[-1], k[np.arange(n_samples), best][other], sizes[best[other]])
    return [
        covered(interval, ratio, *counts)
        for counts in (known, chosen)
        for interval in (ratio_interval, katz)
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--short", action="store_true", help="only check that it runs")
    parser.add_argument("--write", metavar="PAGE", type=Path, help="write the page")
    arguments = parser.parse_args()
    n_samples = 50 if arguments.short else 20_000
    rng = np.random.default_rng(0)
    rows, found = [], []
    for sizes in SIZES:
        for highest in HIGHEST:
            for ratio in RATIOS:
                found.append(measure(sizes, highest, ratio, n_samples, rng))
                cells = " | ".join(f"{100 * one:.1f} %" for one in found[-1])
                named = ", ".join(map(str, sizes))
                rows.append(f"| {named} | {highest:.2f} | {ratio:.1f} | {cells} |")
    ends = np.array(found)
    least, most = ([f"{100 * one:.1f} %" for one in end] for end in (ends.min(0), ends.max(0)))
    page = TEXT.format(
        n=f"{n_samples:,}",
        error=100 * np.sqrt(0.95 * 0.05 / n_samples),
        table="\n".join([HEADER, *rows]),
        least=least[0],
        most=most[0],
        katz_least=least[1],
        katz_most=most[1],
        chosen_least=least[2],
        chosen_most=most[2],
    )
    print(page)
    if arguments.write:
        arguments.write.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
