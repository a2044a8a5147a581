"""Measure how often intervals of LIC contain the true value.

    python benchmarks/coverage_text.py            # the table, fifteen minutes on one core
    python benchmarks/coverage_text.py --short    # seconds: only checks that it runs
    python benchmarks/coverage_text.py --write docs/coverage-text.md
    python benchmarks/coverage_text.py --keep rows.json --minutes 15    # a part, and later the rest

Captions are drawn from sentences whose places depend on the group. The true value is the mean
over data sets of the same size: what attackers reach that learn from so many rows. If texts of
people and of the model are drawn alike, it is 0.
"""

import argparse
import os
from pathlib import Path

# One thread a process; the libraries that read this do so when NumPy is imported.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import numpy as np
from joblib import Parallel, delayed
from parts import Trials, add_arguments

from skbiasamp import LICAuditor

SIZES = (500, 2_000)
RESAMPLES = 199
N_DRAWS = 5
N_WORDS = 40
VERBS = [f"verb{chr(97 + i)}" for i in range(20)]
# How far the words of people, and of the model, depend on the group.
LEANS = {"random": (0.0, 0.0), "alike": (0.4, 0.4), "more": (0.2, 0.6), "less": (0.6, 0.2)}


def words_of(rng, group, lean):
    """Return a word a row: frequent ones first, and half of them more frequent in each group."""
    shares = 1 / np.arange(2, N_WORDS + 2)
    sign = np.where(np.arange(N_WORDS) % 2, 1, -1)
    drawn = np.empty(len(group), dtype=int)
    for value in (0, 1):
        p = shares * (1 + lean * sign * (1 if value else -1))
        rows = group == value
        drawn[rows] = rng.choice(N_WORDS, size=rows.sum(), p=p / p.sum())
    return drawn


def captions(rng, group, lean):
    """Return captions of two places and a verb."""
    first, second = (words_of(rng, group, lean) for _ in range(2))
    verb = rng.choice(VERBS, size=len(group))
    names = [f"{chr(97 + i % 26)}place{chr(97 + i // 26)}" for i in range(N_WORDS)]
    return [
        f"a person {v} in the {names[a]} near a {names[b]}"
        for v, a, b in zip(verb, first, second, strict=True)
    ]


def trial(leans, n, seed):
    """Return value, ends of the interval, and whether the verdict is an effect."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 2, n)
    human, model = (captions(rng, group, lean) for lean in leans)
    auditor = LICAuditor(n_draws=N_DRAWS, n_resamples=RESAMPLES, random_state=int(seed))
    result = auditor.audit(human, model, sensitive_features=group)
    return result.value, result.low, result.high, float(result.verdict.startswith("reveals"))


def drawn(leans, n, n_jobs, seeds):
    """Return a trial for each seed."""
    return Parallel(n_jobs=n_jobs)(delayed(trial)(leans, n, seed) for seed in seeds)


def study(sizes, done, trials, n_jobs):
    """Return one row for each setting and size."""
    rows = []
    for name, leans in LEANS.items():
        for n in sizes:
            found = done.run(drawn, (name, n), leans, n, n_jobs, trials=trials)
            value, low, high, effect = found.T
            truth = 0.0 if leans[0] == leans[1] else value.mean()
            held = ((low <= truth) & (truth <= high)).mean()
            rows.append((name, n, truth, held, effect.mean(), (high - low).mean(), value.std()))
    return rows


def table_of(rows):
    lines = [
        "| words of the model depend on the group | rows | true LIC | interval contains it | "
        "verdict is an effect | width | standard deviation of LIC |",
        "|---" * 7 + "|",
    ]
    for name, n, truth, held, effect, width, spread in rows:
        shares = [f"{100 * one:.1f} %" for one in (held, effect)]
        cells = [name, f"{n:,}", f"{truth:+.4f}", *shares, f"{width:.3f}", f"{spread:.4f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


PAGE = """# Coverage of intervals of LIC

How often does the 95 % interval of `LICAuditor` contain the true value? Captions are drawn whose
words depend on the group: not at all ("random"), as much in human texts as in the model's
("alike"), more in the model's, or less. The true value is what attackers reach that learn from as
many rows: the mean over data sets, and 0 by construction in the first two settings. There, "verdict
is an effect" is the share of false positives.

{trials} data sets a row, {draws} draws of five folds each, {resamples} resamples; a share of 95 %
has a standard error of {error:.1f} percentage points. Made by
`python benchmarks/coverage_text.py --write docs/coverage-text.md`.

"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="only check that it runs")
    parser.add_argument("--write", type=Path, help="write the page here")
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--n-jobs", type=int, default=1)
    add_arguments(parser)
    args = parser.parse_args()
    trials = 3 if args.short else args.trials
    sizes, done = SIZES[:1] if args.short else SIZES, Trials(args.keep, args.minutes)
    for part in [*range(done.part, trials, done.part), trials]:  # all rows grow alike
        rows = study(sizes, done, part, args.n_jobs)
    lines = table_of(rows)
    print("\n".join(lines))
    if args.write:
        error = 100 * (0.95 * 0.05 / trials) ** 0.5
        counts = {"trials": trials, "draws": N_DRAWS, "resamples": RESAMPLES}
        page = PAGE.format(**counts, error=error)
        args.write.write_text(page + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
