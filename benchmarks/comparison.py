"""Time comparisons of models beside single audits and the engines' own group-by, in one run.

python benchmarks/comparison.py                  # the table, some minutes, 0.3 GB of disk
python benchmarks/comparison.py --short          # seconds: only checks that it runs
python benchmarks/comparison.py --write docs/benchmarks-comparison.md
"""

import argparse
import tempfile
from pathlib import Path
from typing import NamedTuple

# First: it limits the threads of NumPy.
from cooccurrence import agree, slower, surroundings, table, take_turns

# isort: split
import numpy as np
import pyarrow
import pyarrow.parquet
from engines import ENGINES, duckdb, opened, polars

from skbiasamp import DirectionalAuditor, DPAAuditor, LeakageAuditor, MALSAuditor


class Sizes(NamedTuple):
    rows: int
    tasks_rows: int
    tasks: int
    file_rows: int
    files: int
    rounds: int


FULL = Sizes(332_900, 22_000, 66, 100_000_000, 200, 5)
SHORT = Sizes(3_000, 400, 3, 20_000, 2, 1)
KEYS = ("group", "target", "one", "other")
MODELS = {"one": "one", "other": "other"}


def columns_of(n, rng):
    """Return rows of two groups, with the predictions of two models that agree on most rows."""
    group = rng.integers(0, 2, n, dtype=np.int8)
    target = (rng.random(n, dtype=np.float32) < 0.3 + 0.2 * group).astype(np.int8)
    one = target ^ (rng.random(n, dtype=np.float32) < 0.15).astype(np.int8)
    other = one ^ (rng.random(n, dtype=np.float32) < 0.05).astype(np.int8)
    return dict(zip(KEYS, (group, target, one, other), strict=True))


def beside_audits(sizes):
    """Compare two models, and audit one, on the same rows."""
    held = columns_of(sizes.rows, np.random.default_rng(0))
    y, group = held["target"], held["group"]
    auditors = {
        "A→T, bootstrap": DirectionalAuditor(random_state=0),
        "A→T, analytic": DirectionalAuditor(interval="analytic", random_state=0),
        "MALS": MALSAuditor(random_state=0),
        "leakage": LeakageAuditor(random_state=0),
        "DPA A→T": DPAAuditor(random_state=0),
    }
    found = []
    for name, auditor in auditors.items():
        if auditor.kind != "attack":
            auditor.fit(y, sensitive_features=group)
        found.append((f"{name}, {sizes.rows:,} rows", auditor, y, held, group))
    rng = np.random.default_rng(1)
    group = rng.integers(0, 2, sizes.tasks_rows)
    labels = rng.random((sizes.tasks_rows, sizes.tasks)) < 0.1 + 0.1 * group[:, None]
    models = {name: labels ^ (rng.random(labels.shape) < 0.05) for name in MODELS}
    auditor = DirectionalAuditor(random_state=0).fit(labels, sensitive_features=group)
    what = f"A→T, {sizes.tasks_rows:,} rows x {sizes.tasks} tasks"
    found.append((what, auditor, labels, models, group))
    rows = []
    for what, auditor, y, held, group in found:
        models = {name: held[name] for name in MODELS}

        def both(auditor=auditor, y=y, models=models, group=group):
            return auditor.compare(y, models, sensitive_features=group)

        def alone(auditor=auditor, y=y, models=models, group=group):
            return auditor.audit(y, models["one"], sensitive_features=group)

        if auditor.kind != "attack":
            agree(what, both().table["value"][0], alone().value)
        seconds = take_turns(sizes.rounds, ours=both, theirs=alone)
        rows.append(
            slower(f"{what}: two models", "one audit", seconds["ours"], seconds["theirs"], 1.6)
        )
    return rows


def beside_engines(sizes, folder):
    """Compare two models in files, beside the engine's own group-by of the same columns."""
    rng = np.random.default_rng(2)
    for i in range(sizes.files):
        piece = pyarrow.table(columns_of(sizes.file_rows // sizes.files, rng))
        pyarrow.parquet.write_table(piece, folder / f"part-{i:03}.parquet")
    path = folder / "part-*.parquet"
    auditor = DirectionalAuditor(reference="test", random_state=0)
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

Times are medians of processor time, and a ratio is formed in each round of one call each. Comparing
two models draws resamples once and measures both models on them. Every interval has 999 resamples.
Before the clock started, values were found equal to those of single audits. The direction is
group → task (A→T: does the group shift the predicted task?).

MALS and the attackers miss the target: MALS tests each model on swapped predictions, and an attack
is trained and scored for each model.
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="only check that it runs")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the page to FILE")
    arguments = parser.parse_args()
    sizes = SHORT if arguments.short else FULL
    rows = beside_audits(sizes)
    with tempfile.TemporaryDirectory() as folder:
        rows += beside_engines(sizes, Path(folder))
    text = PAGE.format(surroundings=surroundings(), table=table(rows, judged=not arguments.short))
    print(text)
    if arguments.write:
        arguments.write.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
