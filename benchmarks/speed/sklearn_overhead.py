"""Time AuditedClassifier beside the classifier it wraps, in one run.

The table takes about a minute, and a few seconds with --short. Predictions are compared before
anything is timed. Missed targets are reported and are no error.
"""

import timing

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
    """Yield how the attribute comes, options, what both are fitted on, what is passed beside."""
    features, frame, group, label = simulate(n)
    names = np.array(["one", "another", "third"])[group]
    yield "passed as integers", {}, features, {"sensitive_features": group}, label
    yield "passed as text", {}, features, {"sensitive_features": names}, label
    yield "a position in an array", {"sensitive": 0}, features, {}, label
    yield "a column of a frame", {"sensitive": "x0"}, frame, {}, label
    with_names = frame.assign(group=pd.Series(names, dtype="category"))
    hidden = {"sensitive": "group", "drop_sensitive": True}
    yield "a hidden column of a frame", hidden, with_names, {}, label


def measure(rounds, name, options, given, beside, label):
    """Return the rows of a case."""

    def features():
        # What is hidden, one would else leave out.
        return given.drop(columns="group") if "drop_sensitive" in options else given

    def fit():
        return AuditedClassifier(LogisticRegression(), **options).fit(given, label, **beside)

    def fit_plain():
        return LogisticRegression().fit(features(), label)

    plain, audited = fit_plain(), fit()
    timing.agree(name, audited.predict(given), plain.predict(features()))
    fitting = timing.take_turns(rounds, ours=fit, theirs=fit_plain)
    predicting = timing.take_turns(
        20 * rounds,
        ours=lambda: audited.predict(given),
        theirs=lambda: plain.predict(features()),
    )
    return [
        timing.slower(f"{what}, sensitive feature {name}", f"`{what}`", *seconds.values(), limit)
        for what, seconds, limit in (("fit", fitting, FIT), ("predict", predicting, PREDICT))
    ]


def measured(options):
    n, rounds = (1_000, 1) if options.short else (100_000, 31)
    rows = [row for case in cases(n) for row in measure(rounds, *case)]
    table = timing.table(rows, short=options.short)
    return {"machine": timing.surroundings(), "table": table, "n": n, "features": FEATURES}


if __name__ == "__main__":
    timing.command(__file__, __doc__, measured)
