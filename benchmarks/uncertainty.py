"""Time intervals and tests beside what they would cost otherwise, in one run.

    python benchmarks/uncertainty.py                     # the table, about three minutes
    python benchmarks/uncertainty.py --short             # seconds: only checks that it runs
    python benchmarks/uncertainty.py --fairlearn PYTHON  # also Fairlearn, from that interpreter
    python benchmarks/uncertainty.py --write benchmarks/results/uncertainty.md

An audit with an interval also makes every test of the table; its time is that of all of it.
"""

import argparse
import subprocess
import tracemalloc
import warnings
from pathlib import Path

# First: it limits the threads of NumPy.
from cooccurrence import (
    FULL,
    SHORT,
    Row,
    deltas_by_rows,
    faster,
    simulate,
    slower,
    surroundings,
    take_turns,
    task_sets,
)
from cooccurrence import table as markdown

# isort: split
import numpy as np

from skbiasamp import DirectionalAuditor
from skbiasamp.inference import UncertaintyWarning

RESAMPLES = 999
# What 999 resamples take is read off fewer of what is slow.
LOOPS, FAIRLEARN_BOOTS = 2, 20

FAIRLEARN = """
import sys, time
import numpy as np
from fairlearn.metrics import MetricFrame, selection_rate
data = np.load(sys.argv[1])
for _ in range(2):
    start = time.process_time()
    MetricFrame(metrics=selection_rate, y_true=data["labels"], y_pred=data["predictions"],
                sensitive_features=data["groups"], n_boot=int(sys.argv[2]),
                ci_quantiles=[.025, .975], random_state=0)
    print(time.process_time() - start)
"""


def auditors(labels, groups):
    plain = DirectionalAuditor(interval=None).fit(labels, sensitive_features=groups)
    sure = DirectionalAuditor()
    return plain, sure.fit(labels, sensitive_features=groups)


def one_label(rows, rounds, dtype):
    rng = np.random.default_rng(0)
    groups, labels, predictions = (
        column.ravel().astype(dtype) for column in simulate(rng, rows, np.array([0.3]))
    )
    plain, sure = auditors(labels, groups)
    seconds = take_turns(
        rounds,
        sure=lambda: sure.audit(labels, predictions, sensitive_features=groups),
        plain=lambda: plain.audit(labels, predictions, sensitive_features=groups),
    )
    name = np.dtype(dtype).name
    return slower(
        f"one label, {rows:,} {name} rows, {RESAMPLES} resamples and tests",
        "the audit without them",
        seconds["sure"],
        seconds["plain"],
        2,
    )


def many_tasks(sizes):
    rng = np.random.default_rng(1)
    groups, labels, predictions = simulate(rng, sizes.rows, rng.uniform(0.05, 0.4, sizes.tasks))
    _, sure = auditors(labels, groups)
    columns = np.hstack([labels, predictions]).astype(np.float32)
    as_sets = (groups.tolist(), task_sets(labels), task_sets(predictions), sizes.tasks)

    def audit():
        return sure.audit(labels, predictions, sensitive_features=groups)

    weights = np.ones((RESAMPLES, sizes.rows), dtype=np.float32)

    def draw_and_multiply():
        """Draw 999 × n row numbers, and multiply a matrix of that shape with the indicators."""
        np.random.default_rng(0).integers(0, sizes.rows, size=weights.shape)
        return weights @ columns

    what = f"{sizes.rows:,} rows, 2 groups, {sizes.tasks} tasks, {RESAMPLES} resamples and tests"
    bound = take_turns(sizes.slow_rounds, ours=audit, numpy=draw_and_multiply)
    loop = take_turns(
        min(3, sizes.slow_rounds),
        ours=audit,
        loop=lambda: [deltas_by_rows(*as_sets) for _ in range(LOOPS)],
    )
    tracemalloc.start()
    audit()
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return [
        faster(
            what,
            f"the published loop {RESAMPLES} times, extrapolated from {LOOPS}",
            loop["ours"],
            loop["loop"] * RESAMPLES / LOOPS,
            200,
        ),
        slower(
            what,
            f"drawing {RESAMPLES} × {sizes.rows:,} rows, one float32 product",
            bound["ours"],
            bound["numpy"],
            3,
        ),
        Row("the same: allocated at most", "", f"{peak:.0f} MB", "", "", "≤ 300 MB", peak <= 300),
    ]


def beside_fairlearn(sizes, python, folder):
    """Selection rates by group with bootstrap intervals, against a whole audit."""
    groups, labels, predictions = (
        column.ravel() for column in simulate(np.random.default_rng(2), sizes.rows, np.array([0.3]))
    )
    file = folder / "fairlearn-rows.npz"
    np.savez(file, groups=groups, labels=labels, predictions=predictions)
    _, sure = auditors(labels, groups)
    ours = take_turns(2, ours=lambda: sure.audit(labels, predictions, sensitive_features=groups))[
        "ours"
    ]
    boots = FAIRLEARN_BOOTS
    done = subprocess.run(
        [python, "-W", "ignore", "-c", FAIRLEARN, file, str(boots)],
        capture_output=True,
        text=True,
        check=True,
    )
    file.unlink()
    theirs = np.array([float(line) for line in done.stdout.split()]) * RESAMPLES / boots
    return faster(
        f"one label, {sizes.rows:,} rows, {RESAMPLES} resamples and tests",
        f"Fairlearn's `MetricFrame(n_boot={RESAMPLES})` of selection rates, from {boots}",
        ours,
        theirs,
        100,
    )


def page(rows, *, judged):
    return f"""# Benchmark: confidence intervals and tests

{surroundings()}.

{markdown(rows, judged=judged)}

Times are medians of processor time in one thread. Each round times one call of each program and
gives one ratio; the table has the median and quartiles of the ratios. A target of ≥ 100 means: at
least 100 times faster. A target of ≤ 2 means: at most 2 times slower. An audit with an interval
computes {RESAMPLES} bootstrap resamples, confidence intervals of the value and of every pair, an
exact test of every pair and a permutation test of the value.

`python benchmarks/uncertainty.py --write benchmarks/results/uncertainty.md` makes this page.
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--short", action="store_true", help="small data, few rounds: a check")
    parser.add_argument("--write", metavar="FILE", type=Path, help="write the page to FILE")
    parser.add_argument("--fairlearn", metavar="PYTHON", help="an interpreter that has Fairlearn")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", UncertaintyWarning)
    sizes = SHORT if arguments.short else FULL
    long = sizes.long_rows // 10
    rows = [one_label(long, sizes.rounds, dtype) for dtype in (np.int8, np.int64)]
    rows += many_tasks(sizes)
    if arguments.fairlearn:
        rows.append(beside_fairlearn(sizes, arguments.fairlearn, Path(__file__).parent))
    text = page(rows, judged=not arguments.short)
    print(text)
    if arguments.write:
        arguments.write.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
