"""Time AuditedClassifier beside the classifier it wraps, in one run.

    python benchmarks/sklearn_overhead.py           # the table, about a minute
    python benchmarks/sklearn_overhead.py --short   # seconds: only checks that it runs
    python benchmarks/sklearn_overhead.py --write benchmarks/results/sklearn.md

Predictions are compared before anything is timed. Missed targets are reported and are no error.
"""

import argparse
from pathlib import Path

# First: it limits the threads of NumPy.
from cooccurrence import agree, slower, surroundings, table, take_turns

# isort: split
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from skbiasamp import AuditedClassifier

FEATURES = 20
# Of the time that the classifier takes alone.
FIT, PREDICT = 1.05, 1.02


def simulate(n):
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, n)
    features = rng.normal(size=(n, FEATURES))
    features[:, 0] = group
    label = (features @ rng.normal(size=FEATURES) + rng.normal(size=n) > 0).astype(int)
    frame = pd.DataFrame(features, columns=[f"x{i}" for i in range(FEATURES)])
    return features, frame, group, label


def cases(n):
    """Yield how the attribute comes, the wrapper, what both are fitted on, what it needs beside."""
    features, frame, group, label = simulate(n)
    names = np.array(["one", "another", "third"])[group]
    yield "passed as integers", {}, features, features, {"sensitive_features": group}, label
    yield "passed as text", {}, features, features, {"sensitive_features": names}, label
    yield "a position in an array", {"sensitive": 0}, features, features, {}, label
    yield "a column of a frame", {"sensitive": "x0"}, frame, frame, {}, label
    with_names = frame.assign(group=pd.Series(names, dtype="category"))
    hidden = {"sensitive": "group", "drop_sensitive": True}
    yield "a hidden column of a frame", hidden, with_names, with_names, {}, label


def measure(n, rounds):
    rows = []
    for name, options, theirs, ours, beside, label in cases(n):
        # What is hidden, one would else leave out.
        hidden = options.get("drop_sensitive", False)

        def features(theirs=theirs, hidden=hidden):
            return theirs.drop(columns="group") if hidden else theirs

        plain = LogisticRegression().fit(features(), label)
        audited = AuditedClassifier(LogisticRegression(), **options).fit(ours, label, **beside)
        agree(name, audited.predict(ours), plain.predict(features()))
        fit = take_turns(
            rounds,
            ours=lambda: AuditedClassifier(LogisticRegression(), **options).fit(  # noqa: B023
                ours,  # noqa: B023
                label,  # noqa: B023
                **beside,  # noqa: B023
            ),
            theirs=lambda: LogisticRegression().fit(features(), label),  # noqa: B023
        )
        predict = take_turns(
            20 * rounds,
            ours=lambda: audited.predict(ours),  # noqa: B023
            theirs=lambda: plain.predict(features()),  # noqa: B023
        )
        rows.append(
            slower(f"fit, sensitive feature {name}", "`fit`", fit["ours"], fit["theirs"], FIT)
        )
        rows.append(
            slower(
                f"predict, sensitive feature {name}",
                "`predict`",
                predict["ours"],
                predict["theirs"],
                PREDICT,
            )
        )
    return rows


def page(n, rows, *, judged):
    return f"""# Benchmark: AuditedClassifier

{surroundings()}.

{table(rows, judged=judged)}

The classifier is a `LogisticRegression` on {n:,} rows and {FEATURES} columns, with and without
`AuditedClassifier`. Times are medians of processor time. Each round times one call of each and
gives one ratio; the table has the median and quartiles of the ratios. A target of ≤ 1.05 means: at
most 5 % slower.

`python benchmarks/sklearn_overhead.py --write benchmarks/results/sklearn.md` makes this page.
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="few rows, one round; not judged")
    parser.add_argument("--write", metavar="FILE", type=Path, help="write the page to FILE")
    options = parser.parse_args()
    if options.short and options.write:
        parser.error("--short measures nothing worth writing down.")
    n, rounds = (1_000, 1) if options.short else (100_000, 31)
    text = page(n, measure(n, rounds), judged=not options.short)
    print(text)
    if options.write:
        options.write.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
