"""Time the co-occurrence audits beside plain loops, bare NumPy and imports, in one run.

    python benchmarks/cooccurrence.py                    # the table, about two minutes
    python benchmarks/cooccurrence.py --short            # seconds: only checks that it runs
    python benchmarks/cooccurrence.py --write benchmarks/results/cooccurrence.md

Contestants take turns, so that a busy moment of the machine hits them alike; a ratio is formed
within each round. Values are compared before anything is timed: where they differ the script ends
with an error. Missed targets are reported and are no error.
"""

import argparse
import contextlib
import datetime
import os
import platform
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

# One core; the libraries that read this do so when NumPy is imported.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import numpy as np
import pandas as pd
import scipy
import sklearn

import skbiasamp
from skbiasamp import DirectionalAuditor, MultiAttributeAuditor

TOLERANCE = 1e-12


class Sizes(NamedTuple):
    rows: int
    tasks: int
    long_rows: int
    rounds: int  # of calls that take milliseconds
    slow_rounds: int  # of calls that take seconds
    import_rounds: int


FULL = Sizes(
    rows=20_000, tasks=66, long_rows=10_000_000, rounds=31, slow_rounds=7, import_rounds=15
)
SHORT = Sizes(rows=500, tasks=8, long_rows=100_000, rounds=2, slow_rounds=1, import_rounds=1)


class Row(NamedTuple):
    what: str
    beside: str
    our_time: str
    its_time: str
    ratio: str
    target: str
    met: bool | None


# --------------------------------------------------------------------------- measuring


def agree(what, got, expected):
    """End the script unless two computations of the same numbers agree."""
    got, expected = np.asarray(got, dtype=float), np.asarray(expected, dtype=float)
    if got.shape != expected.shape or not np.allclose(got, expected, rtol=0, atol=TOLERANCE):
        raise SystemExit(f"{what}: the library and the computation beside it disagree.")


def take_turns(rounds, **contestants):
    """Return the seconds of every contestant's calls, one of each a round.

    Seconds of the processor: all runs in one thread, and other programs' turns do not count.
    """
    seconds = {name: [] for name in contestants}
    for turn in range(-1, rounds):
        for name, call in contestants.items():
            start = time.process_time()
            call()
            if turn >= 0:  # the first round warms up
                seconds[name].append(time.process_time() - start)
    return {name: np.array(values) for name, values in seconds.items()}


def faster(what, beside, ours, theirs, at_least=None):
    ratio = theirs / ours
    if at_least is None:
        return _row(what, beside, ours, theirs, ratio, "none", None)
    return _row(
        what, beside, ours, theirs, ratio, f"≥ {at_least}", bool(np.median(ratio) >= at_least)
    )


def slower(what, beside, ours, theirs, at_most):
    ratio = ours / theirs
    return _row(
        what, beside, ours, theirs, ratio, f"≤ {at_most}", bool(np.median(ratio) <= at_most)
    )


def _row(what, beside, ours, theirs, ratio, target, met):
    low, median, high = np.quantile(ratio, [0.25, 0.5, 0.75])
    spread = f"{median:.3g} ({low:.3g} to {high:.3g})"
    return Row(what, beside, _duration(ours), _duration(theirs), spread, target, met)


def _duration(seconds):
    milliseconds = 1e3 * np.median(seconds)
    return f"{milliseconds:.3g} ms" if milliseconds < 1000 else f"{milliseconds / 1e3:.3g} s"


# --------------------------------------------------------------------------- many tasks


def simulate(rng, rows, rates, tilt=0.2, errors=0.1):
    """Return groups, labels and predictions; group 1 has every task more often."""
    groups = rng.integers(0, 2, rows)
    labels = rng.random((rows, len(rates))) < rates + tilt * rates * groups[:, None]
    predictions = labels ^ (rng.random(labels.shape) < errors)
    return groups, labels.astype(np.int64), predictions.astype(np.int64)


def signs_by_masks(groups, labels):
    """s_at = sign(P(A_a, T_t) − P(A_a) P(T_t)), a pair at a time."""
    signs = np.zeros((2, labels.shape[1]))
    for a in range(2):
        for t in range(labels.shape[1]):
            in_group, has_task = groups == a, labels[:, t] == 1
            # In counts, so that a tie is one.
            both, n = int(np.sum(in_group & has_task)), len(groups)
            signs[a, t] = np.sign(n * both - int(in_group.sum()) * int(has_task.sum()))
    return signs


def deltas_by_masks(groups, labels, predictions):
    """Δ_at = P(T̂_t | A_a) − P(T_t | A_a), a pair at a time."""
    deltas = np.zeros((2, labels.shape[1]))
    for a in range(2):
        for t in range(labels.shape[1]):
            in_group = groups == a
            after = np.sum(in_group & (predictions[:, t] == 1)) / np.sum(in_group)
            before = np.sum(in_group & (labels[:, t] == 1)) / np.sum(in_group)
            deltas[a, t] = after - before
    return deltas


def deltas_by_rows(groups, label_sets, prediction_sets, n_tasks):
    """Δ_at in plain Python: rows are sets of tasks."""
    deltas = np.zeros((2, n_tasks))
    for a in range(2):
        for t in range(n_tasks):
            in_group = before = after = 0
            for group, tasks, predicted in zip(groups, label_sets, prediction_sets, strict=True):
                if group == a:
                    in_group += 1
                    before += t in tasks
                    after += t in predicted
            deltas[a, t] = after / in_group - before / in_group
    return deltas


def task_sets(labels):
    return [frozenset(np.flatnonzero(row).tolist()) for row in labels]


def many_tasks(sizes, rng):
    rates = rng.uniform(0.05, 0.4, sizes.tasks)
    train_groups, train, _ = simulate(rng, sizes.rows, rates)
    groups, labels, predictions = simulate(rng, sizes.rows, rates)
    as_sets = (groups.tolist(), task_sets(labels), task_sets(predictions), sizes.tasks)
    memberships = (groups[:, None] == [0, 1]).astype(float)

    auditor = DirectionalAuditor(interval=None).fit(train, sensitive_features=train_groups)
    signs = signs_by_masks(train_groups, train)

    casts = {
        dtype: (labels.astype(dtype), predictions.astype(dtype))
        for dtype in ("int64", "float64", "bool")
    }

    def audit(dtype="int64"):
        return auditor.audit(*casts[dtype], sensitive_features=groups)

    def fit_and_audit():
        fitted = DirectionalAuditor(interval=None).fit(train, sensitive_features=train_groups)
        return fitted.audit(labels, predictions, sensitive_features=groups)

    def loop():
        return np.mean(signs * deltas_by_masks(groups, labels, predictions))

    def whole_loop():
        deltas = deltas_by_masks(groups, labels, predictions)
        return np.mean(signs_by_masks(train_groups, train) * deltas)

    def loop_over_rows():
        return np.mean(signs * deltas_by_rows(*as_sets))

    def products():
        return [memberships.T @ array for array in casts["float64"]]

    deltas = deltas_by_masks(groups, labels, predictions)
    before, after = (sums / memberships.sum(axis=0)[:, None] for sums in products())
    agree("pairs by rows", deltas_by_rows(*as_sets), deltas)
    agree("pairs by matrix products", after - before, deltas)
    for dtype in casts:
        result = audit(dtype)
        measured = result.table.sort_values(["group", "task"])["delta"].to_numpy()
        agree(f"pairs of {dtype}", measured.reshape(2, -1), deltas)
        for value in (loop(), whole_loop(), fit_and_audit().value):
            agree(f"A→T of {dtype}", result.value, value)
    agree("A→T by rows", result.value, loop_over_rows())

    quick = take_turns(
        sizes.rounds,
        int64=audit,
        float64=lambda: audit("float64"),
        bool=lambda: audit("bool"),
        fit_and_audit=fit_and_audit,
        loop=loop,
        whole_loop=whole_loop,
        products=products,
    )
    # A pair of contestants each: an audit after another audit would find a warmer cache than one
    # after the loop.
    slow = take_turns(sizes.slow_rounds, ours=audit, rows=loop_over_rows)
    most = np.median(quick["loop"] / quick["products"])
    masks, python = "NumPy-mask loop over pairs", "plain Python loop over pairs and rows"
    rows = [
        faster("A→T audit", masks, quick["int64"], quick["loop"]),
        faster("A→T fit and audit", masks, quick["fit_and_audit"], quick["whole_loop"]),
        faster("A→T audit", python, slow["ours"], slow["rows"], 40),
        *(
            slower(
                f"A→T audit of {dtype}",
                "matrix products in float64",
                quick[dtype],
                quick["products"],
                6,
            )
            for dtype in ("float64", "int64", "bool")
        ),
    ]
    return rows, most


# --------------------------------------------------------------------------- sets of tasks


def multi_by_masks(train_groups, train, groups, labels, predictions):
    """|Δ_gm| of every set m that is a whole row of training and is in some audited row."""
    train_members = [train_groups == a for a in range(2)]
    members = [groups == a for a in range(2)]
    sizes = []
    for row in np.unique(train, axis=0):
        tasks = np.flatnonzero(row)
        if not len(tasks) or not labels[:, tasks].all(axis=1).any():
            continue
        in_train, predicted = train[:, tasks].all(axis=1), predictions[:, tasks].all(axis=1)
        for a in range(2):
            sizes.append(abs(predicted[members[a]].mean() - in_train[train_members[a]].mean()))
    return sizes


def multi_by_rows(sets, train_groups, train, groups, labels, predictions):
    """|Δ_gm| of the given sets m in plain Python: rows are sets of tasks."""

    def share(m, a, groups, rows):
        contains = [m <= row for group, row in zip(groups, rows, strict=True) if group == a]
        return sum(contains) / len(contains)

    return [
        abs(share(m, a, groups, predictions) - share(m, a, train_groups, train))
        for m in sets
        if any(m <= row for row in labels)
        for a in range(2)
    ]


def sets_of_tasks(sizes, rng):
    # Rates that make about 2,000 of the 4,095 sets of 12 tasks occur among 20,000 rows.
    rates = np.linspace(0.1, 0.36, 12)
    train_groups, train, _ = simulate(rng, sizes.rows, rates)
    groups, labels, predictions = simulate(rng, sizes.rows, rates)
    # Booleans suit the masks best; the library gets the same arrays.
    train, labels, predictions = (array.astype(bool) for array in (train, labels, predictions))
    arrays = train_groups, train, groups, labels, predictions
    as_sets = (
        train_groups.tolist(),
        task_sets(train),
        groups.tolist(),
        task_sets(labels),
        task_sets(predictions),
    )

    def fit_and_audit():
        auditor = MultiAttributeAuditor(formula="published", interval=None).fit(
            train, sensitive_features=train_groups
        )
        return auditor.audit(labels, predictions, sensitive_features=groups)

    result = fit_and_audit()
    values = result.table.groupby("task", sort=False)["amplification"].apply(list).to_dict()
    expected = multi_by_masks(*arrays)
    agree("Multi→", result.published, np.mean(expected))
    agree("pairs of Multi→", np.sort(result.table["amplification"]), np.sort(expected))
    # A stride through the sets, which come sorted by size: as many large ones as small ones.
    step = 20
    sample = [frozenset(m) for m in list(values)[::step]]
    agree(
        "pairs of Multi→ by rows",
        np.concatenate(list(values.values())[::step]),
        multi_by_rows(sample, *as_sets),
    )

    seconds = take_turns(
        sizes.slow_rounds, ours=fit_and_audit, masks=lambda: multi_by_masks(*arrays)
    )
    slow = take_turns(
        sizes.slow_rounds, ours=fit_and_audit, rows=lambda: multi_by_rows(sample, *as_sets)
    )
    n = len(values)
    what = f"Multi→ fit and audit, {n:,} sets"
    python = f"plain Python loop over sets and rows, extrapolated from {len(sample)} sets"
    whole = slow["rows"] * n / len(sample)
    return [
        faster(what, "NumPy-mask loop over sets", seconds["ours"], seconds["masks"]),
        faster(what, python, slow["ours"], whole, 100),
    ]


# --------------------------------------------------------------------------- many rows


def one_label(rows, rng):
    """Return groups, labels and predictions of int8, made without larger arrays on the way."""
    return tuple(rng.integers(0, 2, rows, dtype=np.int8) for _ in range(3))


def fitted_on_one_label(rng):
    groups, labels, _ = one_label(1001, rng)
    return DirectionalAuditor(interval=None).fit(labels, sensitive_features=groups)


def resident_child(rows):
    """Print how far an audit lifts the resident memory of this fresh process, in bytes."""
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    rng = np.random.default_rng(0)
    auditor = fitted_on_one_label(rng)
    small = one_label(1000, rng)
    auditor.audit(*small[1:], sensitive_features=small[0])  # what the first call imports
    groups, labels, predictions = one_label(rows, rng)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    with contextlib.suppress(OSError):
        # What is held now may be less than what was held at most: then the peak over it is an
        # upper bound, never too small.
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        before = pages * resource.getpagesize()
    auditor.audit(labels, predictions, sensitive_features=groups)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit - before)


def resident_memory(sizes):
    """Return the resident peak in bytes a row and input column, of several fresh processes."""
    command = [sys.executable, __file__, "--resident", str(sizes.long_rows)]
    peaks = [
        int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        for _ in range(sizes.slow_rounds)
    ]
    return np.array(peaks) / (3 * sizes.long_rows)


def many_rows(sizes, rng, resident):
    auditor = fitted_on_one_label(rng)
    groups, labels, predictions = one_label(sizes.long_rows, rng)
    narrow = groups * np.int8(4) + labels * np.int8(2) + predictions

    def audit():
        return auditor.audit(labels, predictions, sensitive_features=groups)

    result = audit()
    counts = np.bincount(narrow).reshape(2, 2, 2)
    share = counts / counts.sum(axis=(1, 2), keepdims=True)
    deltas = share[:, :, 1].sum(axis=1) - share[:, 1, :].sum(axis=1)
    agree("pairs of counts", result.table.sort_values("group")["delta"], deltas)
    agree("value of counts", result.published, np.mean(auditor.y_at_.to_numpy()[:, 0] * deltas))

    seconds = take_turns(sizes.rounds, ours=audit, narrow=lambda: np.bincount(narrow))
    what = f"one-label audit, {sizes.long_rows:,} int8 rows"
    return [
        slower(what, "`np.bincount` of int8 codes", seconds["ours"], seconds["narrow"], 3),
        _memory("resident at most, a row and column", resident),
    ]


def _memory(what, extra):
    low, median, high = np.quantile(extra, [0.0, 0.5, 1.0])
    shown = f"{median:.3g} bytes" + (f" ({low:.3g} to {high:.3g})" if len(extra) > 1 else "")
    return Row(f"the same: {what}", "", shown, "", "", "≤ 3 bytes", bool(median <= 3))


# --------------------------------------------------------------------------- imports


def imports(sizes):
    statements = {
        "package": "import skbiasamp",
        "auditor": "from skbiasamp import DirectionalAuditor",
        "others": "import sklearn.metrics, pandas",
    }
    timed = "import time; t = time.perf_counter(); {}; print(time.perf_counter() - t)"
    seconds = {name: [] for name in statements}
    warm_up = -1 if sizes.import_rounds > 1 else 0
    for turn in range(warm_up, sizes.import_rounds):
        for name, statement in statements.items():
            command = [sys.executable, "-c", timed.format(statement)]
            out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            if turn >= 0:
                seconds[name].append(float(out))
    package, auditor, others = (np.array(seconds[name]) for name in statements)
    beside = f"`{statements['others']}`"
    return [
        slower(f"`{statements['package']}`", beside, package, others, 1.2),
        slower(f"`{statements['auditor']}`", beside, auditor, others, 1.2),
    ]


# --------------------------------------------------------------------------- the page


def processor():
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def surroundings():
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]["name"]
    packages = {"skbiasamp": skbiasamp, "NumPy": np, "SciPy": scipy, "pandas": pd}
    packages["scikit-learn"] = sklearn
    versions = ", ".join(f"{name} {module.__version__}" for name, module in packages.items())
    return (
        f"{datetime.date.today()}; {processor()}, one thread; {platform.system()}; "
        f"Python {platform.python_version()}, {versions}; BLAS {blas}"
    )


def table(rows, *, judged):
    lines = [
        "| measured | compared with | skbiasamp | other | ratio (quartiles) | target | met |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        met = {None: "", True: "yes", False: "no"}[row.met] if judged else "not judged"
        lines.append("| " + " | ".join([*row[:-1], met]) + " |")
    return "\n".join(lines)


def page(sizes, rows, most, *, judged):
    return f"""# Benchmark: co-occurrence metrics

{surroundings()}.

{table(rows, judged=judged)}

Times are medians of processor time (for imports, of elapsed time). Each round times one call of
each program and gives one ratio; the table has the median and quartiles of the ratios, and the
range of memory. A target of ≥ 40 means: at least 40 times faster. A target of ≤ 6 means: at most 6
times slower. Both programs compute the same numbers to {TOLERANCE:g}; the script checks this
first.

- Group → task (A→T: does the group shift the predicted task?): {sizes.rows:,} rows, 2 groups,
  {sizes.tasks} tasks. Labels are int64 indicators unless the table says otherwise. The auditor is
  fitted before the timing. The plain Python loop reads rows as sets of tasks, as the papers'
  scripts do; the target of 40 refers to it. The NumPy-mask loop makes masks of group and task for
  each pair and counts rows in both. Audit and loop get the signs of the training correlations;
  "fit and audit" and its loop compute them, on as many training rows. The matrix products multiply
  group memberships with labels and with predictions in float64, without checks, signs or table.
  They are {most:.3g} times faster than the NumPy-mask loop, which is the limit for any audit that
  computes them.
- Multi→: {sizes.rows:,} training rows and {sizes.rows:,} test rows, 2 groups, 12 tasks, observed
  sets. The loop makes its group masks once, and one mask per set in each of the three arrays.
- One label: `np.bincount` gets combined codes; the audit combines them itself.
- Imports: in new processes, without the start of the interpreter.

`python benchmarks/cooccurrence.py --write benchmarks/results/cooccurrence.md` makes this page.
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--short", action="store_true", help="small data, few rounds: a check")
    parser.add_argument("--write", metavar="FILE", type=Path, help="write the page to FILE")
    parser.add_argument("--resident", metavar="ROWS", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.resident:
        resident_child(arguments.resident)
        return
    if arguments.short and arguments.write:
        parser.error("--short measures nothing worth writing down.")
    sizes = SHORT if arguments.short else FULL
    # First: a child's highest resident memory starts from that of the process that made it.
    resident = resident_memory(sizes)
    pairs, most = many_tasks(sizes, np.random.default_rng(0))
    rows = [
        *pairs,
        *sets_of_tasks(sizes, np.random.default_rng(1)),
        *many_rows(sizes, np.random.default_rng(2), resident),
        *imports(sizes),
    ]
    text = page(sizes, rows, most, judged=not arguments.short)
    print(text)
    if arguments.write:
        arguments.write.parent.mkdir(parents=True, exist_ok=True)
        arguments.write.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
