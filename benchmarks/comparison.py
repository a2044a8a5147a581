"""Time comparisons of models beside audits and the engines' own group-by, in one run.

python benchmarks/comparison.py                  # the table, some minutes, 0.3 GB of disk
python benchmarks/comparison.py --short          # seconds: only checks that it runs
python benchmarks/comparison.py --write benchmarks/results/comparison.md
python benchmarks/comparison.py --audits --write benchmarks/results/comparison.md
                                                 # a minute: rows of engines stay as they are
"""

import argparse
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple
from unittest import mock

# First: it limits the threads of NumPy.
from cooccurrence import agree, slower, surroundings, table, take_turns

# isort: split
import numpy as np
import pyarrow
import pyarrow.parquet
from engines import ENGINES, duckdb, opened, polars
from parts import markdown

import skbiasamp
from skbiasamp import DirectionalAuditor, DPAAuditor, LeakageAuditor, MALSAuditor
from skbiasamp.attackers import _trained, attack_pair, attack_run
from skbiasamp.metrics.base import BaseAuditor


class Sizes(NamedTuple):
    rows: int
    tasks_rows: int
    tasks: int
    few_tasks: int
    file_rows: int
    files: int
    rounds: int


FULL = Sizes(332_900, 22_000, 66, 10, 100_000_000, 200, 5)
SHORT = Sizes(3_000, 400, 3, 2, 20_000, 2, 1)
KEYS = ("group", "target", "one", "other")
MODELS = {"one": "one", "other": "other"}
ENGINES_ROWS = tuple(f"| {engine}: " for engine in ENGINES)


def columns_of(n, rng):
    """Return rows of two groups, with the predictions of two models that agree on most rows."""
    group = rng.integers(0, 2, n, dtype=np.int8)
    target = (rng.random(n, dtype=np.float32) < 0.3 + 0.2 * group).astype(np.int8)
    first = target ^ (rng.random(n, dtype=np.float32) < 0.15).astype(np.int8)
    other = first ^ (rng.random(n, dtype=np.float32) < 0.05).astype(np.int8)
    return dict(zip(KEYS, (group, target, first, other), strict=True))


# What is timed by itself. Scoring includes learning, if attackers are exact.
PARTS = {
    "reading": ((BaseAuditor, "_count"),),
    "drawing": (
        (attack_pair, "draw_folds"),
        (_trained, "split"),
        (attack_run, "draw_folds"),
        (attack_run, "resample"),
    ),
    "counting": ((attack_pair.AttackPair, "tables"),),
    "training": ((_trained, "predictions_of"),),
    "scoring": (
        (attack_pair.AttackPair, "exact"),
        (_trained.TrainedPair, "qualities"),
        (_trained.TrainedPair, "rescored"),
    ),
}


def parts_of(call):
    """Return the milliseconds of the parts of a call and of the rest, and attackers trained."""
    spent, trained, inside = dict.fromkeys(PARTS, 0.0), [], [0.0]

    def timed(part, function):
        def wrapped(*args, **kwargs):
            start = time.process_time()
            inside.append(0.0)
            try:
                return function(*args, **kwargs)
            finally:
                seconds = time.process_time() - start
                spent[part] += seconds - inside.pop()  # a part in another counts once
                inside[-1] += seconds
                if part == "training":
                    trained.append(len(args[0]))

        return wrapped

    with ExitStack() as patches:
        for part, functions in PARTS.items():
            for owner, name in functions:
                timed_function = timed(part, getattr(owner, name))
                patches.enter_context(mock.patch.object(owner, name, timed_function))
        start = time.process_time()
        call()
        rest = time.process_time() - start - sum(spent.values())
    return [*(1e3 * seconds for seconds in (*spent.values(), rest)), sum(trained)]


def broken_down(what, turns):
    """Return the medians of the parts of both calls."""
    both, apart = np.median(turns, axis=0)
    return [what, *(f"{two:.3g} / {audited:.3g}" for two, audited in zip(both, apart, strict=True))]


def beside_audits(sizes):
    """Compare two models, and audit them, on the same rows; and where the time goes."""
    columns = columns_of(sizes.rows, np.random.default_rng(0))
    y, group = columns["target"], columns["group"]
    auditors = {
        "A→T, bootstrap": DirectionalAuditor(),
        "A→T, analytic": DirectionalAuditor(),
        "MALS": MALSAuditor(),
        "leakage": LeakageAuditor(random_state=0),
        "DPA A→T": DPAAuditor(random_state=0),
    }
    cases = []
    for name, auditor in auditors.items():
        if auditor.kind != "attack":
            auditor.fit(y, sensitive_features=group)
        cases.append((f"{name}, {sizes.rows:,} rows", auditor, y, columns, group))
    rng = np.random.default_rng(1)
    group = rng.integers(0, 2, sizes.tasks_rows)
    labels = rng.random((sizes.tasks_rows, sizes.tasks)) < 0.1 + 0.1 * group[:, None]
    models = {name: labels ^ (rng.random(labels.shape) < 0.05) for name in MODELS}
    where = f"{sizes.tasks_rows:,} rows x {sizes.tasks} tasks"
    directional = DirectionalAuditor().fit(labels, sensitive_features=group)
    cases += [
        (f"A→T, {where}", directional, labels, models, group),
        (f"DPA A→T, {where}", DPAAuditor(random_state=0), labels, models, group),
    ]
    # Attackers on scores are trained; true labels as they are, or with as many errors.
    few = labels[:, : sizes.few_tasks]
    where = f"{sizes.tasks_rows:,} rows x {sizes.few_tasks} tasks"
    scores = {
        name: 4.0 * predictions[:, : sizes.few_tasks] - 2 + rng.normal(size=few.shape)
        for name, predictions in models.items()
    }
    for what, equalize in (("", "f1"), (", equalize=None", None)):
        leakage = LeakageAuditor(equalize=equalize, n_draws=4, random_state=0)
        cases.append((f"leakage of scores{what}, {where}", leakage, few, scores, group))
    rows, parts = [], []
    for what, auditor, y, columns, group in cases:
        models = {name: columns[name] for name in MODELS}

        def both(auditor=auditor, y=y, models=models, group=group):
            return auditor.compare(y, models, sensitive_features=group)

        attacks = auditor.kind == "attack"
        audited = list(models.values())[: 2 if attacks else 1]

        def alone(auditor=auditor, y=y, audited=audited, group=group):
            return [
                auditor.audit(y, predictions, sensitive_features=group) for predictions in audited
            ]

        agree(what, both().table["value"][0], alone()[0].value)
        rounds = min(sizes.rounds, 3) if y.ndim > 1 else 5 * sizes.rounds  # of milliseconds
        # The first round warms up.
        turns = np.array([[parts_of(both), parts_of(alone)] for _ in range(rounds + 1)])[1:]
        seconds = turns[..., :-1].sum(axis=-1).T / 1e3
        beside = "two audits" if attacks else "one audit"
        rows.append(slower(f"{what}: two models", beside, *seconds, 1.6))
        if attacks:
            parts.append(broken_down(what, turns))
    return rows, parts


def every_metric(sizes):
    """Compare two models by all metrics that the rows allow, beside a whole audit of one."""
    columns = columns_of(sizes.rows, np.random.default_rng(0))
    train = columns_of(sizes.rows, np.random.default_rng(3))
    given = {
        "sensitive_features": columns["group"],
        "y_train": train["target"],
        "sensitive_train": train["group"],
        "random_state": 0,
    }
    models = {name: columns[name] for name in MODELS}
    seconds = take_turns(
        5 * sizes.rounds,
        ours=lambda: skbiasamp.compare(columns["target"], models, **given),
        theirs=lambda: skbiasamp.audit(columns["target"], models["one"], **given),
    )
    what = f"all metrics, {sizes.rows:,} rows: two models"
    return [slower(what, "one audit", seconds["ours"], seconds["theirs"], 1.6)]


def beside_engines(sizes, folder):
    """Compare two models in files, beside the engine's own group-by of the same columns."""
    rng = np.random.default_rng(2)
    for i in range(sizes.files):
        piece = pyarrow.table(columns_of(sizes.file_rows // sizes.files, rng))
        pyarrow.parquet.write_table(piece, folder / f"part-{i:03}.parquet")
    path = folder / "part-*.parquet"
    auditor = DirectionalAuditor(reference="test")
    named = {"target": "target", "prediction": MODELS, "sensitive": "group"}
    listed = ", ".join(f'"{key}"' for key in KEYS)
    bare = {
        "DuckDB": lambda: (
            duckdb.connect()
            .sql(f"select {listed}, count(*) from read_parquet('{path}') group by {listed}")
            .fetchall()
        ),
        "lazy polars": lambda: (
            polars.scan_parquet(path).group_by(KEYS).agg(polars.len()).collect().rows()
        ),
    }
    rows = []
    for engine in ENGINES:
        what = f"{engine}: two models in {sizes.file_rows:,} rows, {sizes.files} files"
        seconds = take_turns(
            sizes.rounds,
            ours=lambda engine=engine: auditor.compare(opened(engine, path), **named),
            theirs=bare[engine],
        )
        beside = "its own group-by of the same columns"
        rows.append(slower(what, beside, seconds["ours"], seconds["theirs"], 1.3))
    return rows


PAGE = """# Benchmark: comparison of two models

{surroundings}.

{table}

Times are medians of processor time, and a ratio is formed in each round of one call each. Metrics
of co-occurrence draw resamples once and measure both models on them. Every interval has 999
resamples. Before the clock started, values were found equal to those of single audits. The
direction is group → task (A→T: does the group shift the predicted task?).

## Where the time of attackers goes

Milliseconds of processor time, for a comparison of two models / for two audits:

{parts}

A comparison gives each model the value and the interval that its audit gives with the same
`random_state`, whatever the other models are. So it audits each model by itself. What comes on top
is the difference: resamples of the rows of both models. If nearly every row is distinct, those of
the reference are known from its audit. No attacker is trained again. A comparison has tables of the
rows that changed in each group, and reads the distinct rows of each model.
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="only check that it runs")
    parser.add_argument("--audits", action="store_true", help="leave the engines out")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the page to FILE")
    arguments = parser.parse_args()
    sizes = SHORT if arguments.short else FULL
    rows, parts = beside_audits(sizes)
    rows = every_metric(sizes) + rows
    if not arguments.audits:
        with tempfile.TemporaryDirectory() as folder:
            rows += beside_engines(sizes, Path(folder))
    measured = table(rows, judged=not arguments.short)
    if arguments.audits and arguments.write:
        before = arguments.write.read_text(encoding="utf-8").splitlines()
        measured = "\n".join(
            [measured, *(line for line in before if line.startswith(ENGINES_ROWS))]
        )
    text = PAGE.format(
        surroundings=surroundings(),
        table=measured,
        parts=markdown(["comparison", *PARTS, "the rest", "attackers trained"], parts),
    )
    print(text)
    if arguments.write:
        arguments.write.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
