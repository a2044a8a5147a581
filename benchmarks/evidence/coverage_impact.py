"""Measure false exclusions, coverage and power of intervals of impact ratios.

It takes two minutes on one core, and a few seconds with --short.
"""

from common import command, markdown

# isort: split
import numpy as np

from skbiasamp.inference.shares import ratios_to_highest

RATES = (0.02, 0.1, 0.3, 0.5, 0.9)
LOWER = 0.7


def sizes_of(k, kind):
    """Return the rows of k categories."""
    if kind == "30 to 5,000":
        return np.geomspace(30, 5000, k).astype(int)
    if kind == "5,000 and 30":
        return np.array([5000] + [30] * (k - 1))
    return np.full(k, int(kind.replace(",", "")))


def ratios_of(k, world):
    """Return the true ratios of k categories to the highest."""
    ratio = np.ones(k)
    if world == "last lower":
        ratio[-1] = LOWER
    if world == "first higher":
        ratio[1:] = LOWER
    return ratio


def measure(sizes, ratio, rate, n_samples, rng):
    """Return false exclusions, coverage (together, of the last), and last below 1."""
    n = np.broadcast_to(sizes[:, None], (len(sizes), n_samples)).astype(float)
    share = rng.binomial(sizes[:, None], rate * ratio[:, None], n.shape) / n
    some = share.max(axis=0) > 0  # without any selected row there is no ratio
    truth = ratio[:, None]
    _, low, high = ratios_to_highest(share[:, some], n[:, some])
    missed = (low > truth + 1e-9) | (truth > high + 1e-9)
    wrong = ((high < 1) & (truth == 1)).any(axis=0).sum() / n_samples
    together, last = (1 - np.sum(some) / n_samples for some in (missed.any(axis=0), missed[-1]))
    return wrong, together, last, (high[-1] < 1).sum() / n_samples


def percent(share):
    return f"{100 * share:.1f} %"


SIZES = ("30", "100", "1,000", "30 to 5,000", "5,000 and 30")
SAMPLES = {2: 2_000, 3: 1_000, 5: 600, 12: 300, 30: 100}


def equal_rows(samples, rng):
    """Yield rows of the table of equal categories."""
    for k, n_samples in samples.items():
        for kind in SIZES:
            sizes = sizes_of(k, kind)
            wrong = [measure(sizes, np.ones(k), rate, n_samples, rng)[0] for rate in RATES]
            yield [k, kind, f"{percent(max(wrong))} ({percent(np.mean(wrong))})"]


def lower_rows(samples, rng):
    """Yield rows of the table of unequal categories."""
    for k, n_samples in samples.items():
        for kind in SIZES[1:4]:
            for world in ("last lower", "first higher")[: 1 if k == 2 else 2]:
                found = [
                    measure(sizes_of(k, kind), ratios_of(k, world), rate, n_samples, rng)
                    for rate in (0.1, 0.5, 0.9)
                ]
                yield [k, kind, world, *map(percent, np.mean(found, axis=0)[1:])]


def values(options):
    samples = dict.fromkeys(SAMPLES, 20) if options.short else SAMPLES
    rng = np.random.default_rng(0)
    equal = markdown(["k", "rows of categories", "any excludes 1"], equal_rows(samples, rng))
    header = ["k", "rows of categories", "", "together", "last", "found"]
    return {
        "rates": ", ".join(map(str, RATES)),
        "lower": LOWER,
        "equal": equal,
        "lower_table": markdown(header, lower_rows(samples, rng)),
        "errors": ", ".join(f"{100 * np.sqrt(0.05 * 0.95 / n):.1f}" for n in samples.values()),
        "counts": ", ".join(f"{n:,}" for n in samples.values()),
    }


if __name__ == "__main__":
    command(__file__, __doc__, values)
