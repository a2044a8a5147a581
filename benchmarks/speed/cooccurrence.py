"""Time the co-occurrence audits beside plain loops, bare NumPy and imports, in one run.

The table takes about two minutes, and a few seconds with --short. Ratios are formed within each
round. Values are compared before anything is timed: where they differ the script ends with an
error. Missed targets are reported and are no error.
"""

import subprocess
import sys
from functools import partial
from typing import NamedTuple

import timing

# isort: split
import numpy as np

from skbiasamp import DirectionalAuditor, MultiAttributeAuditor


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
    train_groups, train, _ = timing.simulate(rng, sizes.rows, rates)
    groups, labels, predictions = timing.simulate(rng, sizes.rows, rates)
    as_sets = (groups.tolist(), task_sets(labels), task_sets(predictions), sizes.tasks)
    memberships = (groups[:, None] == [0, 1]).astype(float)

    auditor = DirectionalAuditor(interval=None).fit(train, sensitive_features=train_groups)
    signs = signs_by_masks(train_groups, train)

    dtypes = ("float64", "int64", "bool")
    casts = {dtype: (labels.astype(dtype), predictions.astype(dtype)) for dtype in dtypes}

    def audit(dtype="int64"):
        return auditor.audit(*casts[dtype], sensitive_features=groups)

    def fit_and_audit():
        fitted = DirectionalAuditor(interval=None).fit(train, sensitive_features=train_groups)
        return fitted.audit(labels, predictions, sensitive_features=groups)

    with_training = DirectionalAuditor().fit(train, sensitive_features=train_groups)
    alone = DirectionalAuditor(reference="test")

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
    timing.agree("pairs by rows", deltas_by_rows(*as_sets), deltas)
    timing.agree("pairs by matrix products", after - before, deltas)
    for dtype in casts:
        result = audit(dtype)
        measured = result.table.sort_values(["group", "task"])["delta"].to_numpy()
        timing.agree(f"pairs of {dtype}", measured.reshape(2, -1), deltas)
        for value in (loop(), whole_loop(), fit_and_audit().value):
            timing.agree(f"A→T of {dtype}", result.value, value)
    timing.agree("A→T by rows", result.value, loop_over_rows())

    quick = timing.take_turns(
        sizes.rounds,
        int64=audit,
        float64=lambda: audit("float64"),
        bool=lambda: audit("bool"),
        fit_and_audit=fit_and_audit,
        interval=lambda: with_training.audit(labels, predictions, sensitive_features=groups),
        alone=lambda: alone.audit(labels, predictions, sensitive_features=groups),
        loop=loop,
        whole_loop=whole_loop,
        products=products,
    )
    # A pair of contestants each: an audit after another audit would find a warmer cache than one
    # after the loop.
    slow = timing.take_turns(sizes.slow_rounds, ours=audit, rows=loop_over_rows)
    masks, python = "NumPy-mask loop over pairs", "plain Python loop over pairs and rows"
    matrix = "matrix products in float64"
    rows = [
        timing.faster("A→T audit", masks, quick["int64"], quick["loop"]),
        timing.faster("A→T fit and audit", masks, quick["fit_and_audit"], quick["whole_loop"]),
        timing.faster("A→T audit", python, slow["ours"], slow["rows"], 40),
    ]
    for dtype in dtypes:
        what = f"A→T audit of {dtype}"
        rows.append(timing.slower(what, matrix, quick[dtype], quick["products"], 6))
    what = "the same with interval, int64"
    rows.append(timing.slower(what, matrix, quick["interval"], quick["products"], 10))
    what = "the same with interval, signs of the same rows"
    rows.append(timing.slower(what, matrix, quick["alone"], quick["products"], 20))
    return rows, np.median(quick["loop"] / quick["products"])


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
    train_groups, train, _ = timing.simulate(rng, sizes.rows, rates)
    groups, labels, predictions = timing.simulate(rng, sizes.rows, rates)
    # Booleans suit the masks best; the library gets the same arrays.
    train, labels, predictions = (array.astype(bool) for array in (train, labels, predictions))
    arrays = train_groups, train, groups, labels, predictions
    as_sets = [a.tolist() if a.ndim == 1 else task_sets(a) for a in arrays]

    def fit_and_audit():
        auditor = MultiAttributeAuditor(formula="published", interval=None)
        auditor.fit(train, sensitive_features=train_groups)
        return auditor.audit(labels, predictions, sensitive_features=groups)

    result = fit_and_audit()
    values = result.table.groupby("task", sort=False)["amplification"].apply(list).to_dict()
    expected = multi_by_masks(*arrays)
    timing.agree("Multi→", result.published, np.mean(expected))
    timing.agree("pairs of Multi→", np.sort(result.table["amplification"]), np.sort(expected))
    # A stride through the sets, which come sorted by size: as many large ones as small ones.
    sample = [frozenset(m) for m in list(values)[::20]]
    by_masks, by_rows = partial(multi_by_masks, *arrays), partial(multi_by_rows, sample, *as_sets)
    of_sample = np.concatenate(list(values.values())[::20])
    timing.agree("pairs of Multi→ by rows", of_sample, by_rows())

    seconds = timing.take_turns(sizes.slow_rounds, ours=fit_and_audit, masks=by_masks)
    slow = timing.take_turns(sizes.slow_rounds, ours=fit_and_audit, rows=by_rows)
    n = len(values)
    what = f"Multi→ fit and audit, {n:,} sets"
    python = f"plain Python loop over sets and rows, extrapolated from {len(sample)} sets"
    whole = slow["rows"] * n / len(sample)
    return [
        timing.faster(what, "NumPy-mask loop over sets", seconds["ours"], seconds["masks"]),
        timing.faster(what, python, slow["ours"], whole, 100),
    ]


def one_label(rows, rng):
    """Return groups, labels and predictions of int8, made without larger arrays on the way."""
    return tuple(rng.integers(0, 2, rows, dtype=np.int8) for _ in range(3))


def fitted_on_one_label(rng):
    groups, labels, _ = one_label(1001, rng)
    return DirectionalAuditor(interval=None).fit(labels, sensitive_features=groups)


def alone(rows):
    """Return how far an audit lifts the resident memory of this fresh process, in bytes."""
    rng = np.random.default_rng(0)
    auditor = fitted_on_one_label(rng)
    small = one_label(1000, rng)
    auditor.audit(*small[1:], sensitive_features=small[0])  # what the first call imports
    groups, labels, predictions = one_label(int(rows), rng)
    timing.forget_peak()
    before = timing.resident()
    auditor.audit(labels, predictions, sensitive_features=groups)
    return 1.024e6 * (timing.resident("VmHWM") - before)


def resident_memory(sizes):
    """Return the row of the resident peak in bytes a row and input column, of fresh processes."""
    peaks = [timing.apart(__file__, sizes.long_rows) for _ in range(sizes.slow_rounds)]
    low, median, high = np.quantile(np.array(peaks) / (3 * sizes.long_rows), [0.0, 0.5, 1.0])
    shown = f"{median:.3g} bytes" + (f" ({low:.3g} to {high:.3g})" if len(peaks) > 1 else "")
    what = "the same: resident at most, a row and column"
    return timing.of_size(what, shown, "≤ 3 bytes", bool(median <= 3))


def many_rows(sizes, rng):
    auditor = fitted_on_one_label(rng)
    groups, labels, predictions = one_label(sizes.long_rows, rng)
    narrow = groups * np.int8(4) + labels * np.int8(2) + predictions

    def audit():
        return auditor.audit(labels, predictions, sensitive_features=groups)

    result = audit()
    counts = np.bincount(narrow).reshape(2, 2, 2)
    share = counts / counts.sum(axis=(1, 2), keepdims=True)
    deltas = share[:, :, 1].sum(axis=1) - share[:, 1, :].sum(axis=1)
    timing.agree("pairs of counts", result.table.sort_values("group")["delta"], deltas)
    value = np.mean(auditor.y_at_.to_numpy()[:, 0] * deltas)
    timing.agree("value of counts", result.published, value)

    seconds = timing.take_turns(sizes.rounds, ours=audit, narrow=lambda: np.bincount(narrow))
    what = f"one-label audit, {sizes.long_rows:,} int8 rows"
    return timing.slower(what, "`np.bincount` of int8 codes", seconds["ours"], seconds["narrow"], 3)


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
    ours = {name: np.array(values) for name, values in seconds.items()}
    beside = f"`{statements['others']}`"
    return [
        timing.slower(f"`{statements[name]}`", beside, ours[name], ours["others"], 1.2)
        for name in ("package", "auditor")
    ]


def measured(options):
    sizes = SHORT if options.short else FULL
    # First: a child's highest resident memory starts from that of the process that made it.
    memory = resident_memory(sizes)
    pairs, most = many_tasks(sizes, np.random.default_rng(0))
    sets = sets_of_tasks(sizes, np.random.default_rng(1))
    one = many_rows(sizes, np.random.default_rng(2))
    rows = [*pairs, *sets, one, memory, *imports(sizes)]
    return {
        "machine": timing.surroundings(),
        "table": timing.table(rows, short=options.short),
        "tolerance": timing.TOLERANCE,
        "sizes": sizes,
        "most": most,
    }


if __name__ == "__main__":
    timing.main(__file__, __doc__, measured, alone)
