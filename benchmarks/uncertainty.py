"""Time intervals beside audits without them, bare products and Fairlearn, in one run.

    python benchmarks/uncertainty.py                     # the table, a minute
    python benchmarks/uncertainty.py --short             # seconds: only checks that it runs
    python benchmarks/uncertainty.py --fairlearn PYTHON  # also Fairlearn, from that interpreter
    python benchmarks/uncertainty.py --write benchmarks/results/uncertainty.md

An audit with an interval also makes the interval and test of every pair; reading its table is part
of its time.
"""

import argparse
import subprocess
import warnings
from pathlib import Path

# First: it limits the threads of NumPy.
from cooccurrence import FULL, SHORT, faster, simulate, slower, surroundings, take_turns
from cooccurrence import table as markdown

# isort: split
import numpy as np

from skbiasamp.inference import UncertaintyWarning
from skbiasamp.metrics import DirectionalAuditor

FAIRLEARN_BOOTS, RESAMPLES = 20, 999

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
    """Return an auditor without intervals, one with, and one with signs of the audited rows."""
    plain = DirectionalAuditor(interval=None).fit(labels, sensitive_features=groups)
    trained = DirectionalAuditor().fit(labels, sensitive_features=groups)
    return plain, trained, DirectionalAuditor(reference="test")


def one_label(n, rounds):
    groups, labels, predictions = (
        column.ravel() for column in simulate(np.random.default_rng(0), n, np.array([0.3]))
    )
    plain, trained, _ = auditors(labels, groups)
    how = {"sensitive_features": groups}
    seconds = take_turns(
        rounds,
        sure=lambda: trained.audit(labels, predictions, **how).low,
        plain=lambda: plain.audit(labels, predictions, **how).value,
    )
    what = f"one label, {n:,} rows, with an interval"
    return slower(what, "the audit without it", seconds["sure"], seconds["plain"], 3)


def many_tasks(sizes):
    rng = np.random.default_rng(1)
    groups, labels, predictions = simulate(rng, sizes.rows, rng.uniform(0.05, 0.4, sizes.tasks))
    _, trained, untrained = auditors(labels, groups)
    members = np.eye(2, dtype=np.float32)[np.ravel(groups)].T
    columns = labels.astype(np.float32), predictions.astype(np.float32)
    how = {"sensitive_features": groups}
    seconds = take_turns(
        sizes.slow_rounds,
        trained=lambda: trained.audit(labels, predictions, **how).low,
        untrained=lambda: untrained.audit(labels, predictions, **how).low,
        bare=lambda: [members @ side for side in columns],
    )
    what = f"{sizes.rows:,} rows, 2 groups, {sizes.tasks} tasks, with an interval; signs: "
    beside = "the counts alone: two float32 products"
    return [
        slower(f"{what}training rows", beside, seconds["trained"], seconds["bare"], 10),
        slower(f"{what}audited rows", beside, seconds["untrained"], seconds["bare"], 20),
    ]


def beside_fairlearn(sizes, python, folder):
    """Selection rates by group with bootstrap intervals, against a whole audit."""
    groups, labels, predictions = (
        column.ravel() for column in simulate(np.random.default_rng(2), sizes.rows, np.array([0.3]))
    )
    file = folder / "fairlearn-rows.npz"
    np.savez(file, groups=groups, labels=labels, predictions=predictions)
    _, sure, _ = auditors(labels, groups)
    how = {"sensitive_features": groups}
    ours = take_turns(2, ours=lambda: sure.audit(labels, predictions, **how).table)["ours"]
    command = [python, "-W", "ignore", "-c", FAIRLEARN, file, str(FAIRLEARN_BOOTS)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    file.unlink()
    each = [float(line) * RESAMPLES / FAIRLEARN_BOOTS for line in done.stdout.split()]
    what = f"one label, {sizes.rows:,} rows, with intervals and tests of all pairs"
    name = (
        f"Fairlearn's `MetricFrame(n_boot={RESAMPLES})` of selection rates, from {FAIRLEARN_BOOTS}"
    )
    return faster(what, name, ours, np.array(each), 100)


def page(rows, *, judged):
    return f"""# Benchmark: confidence intervals and tests

{surroundings()}.

{markdown(rows, judged=judged)}

Times are medians of processor time in one thread. Each round times one call of each program and
gives one ratio; the table has the median and quartiles of the ratios. A target of ≥ 100 means: at
least 100 times faster. A target of ≤ 2 means: at most 2 times slower. Intervals follow from how
much each row moves the value; nothing is resampled.

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
    rows = [one_label(n, sizes.rounds) for n in (500, sizes.long_rows // 10)]
    rows += many_tasks(sizes)
    if arguments.fairlearn:
        rows.append(beside_fairlearn(sizes, arguments.fairlearn, Path(__file__).parent))
    text = page(rows, judged=not arguments.short)
    print(text)
    if arguments.write:
        arguments.write.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
