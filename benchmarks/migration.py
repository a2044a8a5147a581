"""Values of other packages beside ours and beside the papers' formulas.

    python benchmarks/migration.py                  # formulas and ours
    python benchmarks/migration.py --peer PYTHON    # also bias-amplification, in that interpreter
    python benchmarks/migration.py --others PYTHON  # also OxonFair and AIF360, in that interpreter
    python benchmarks/migration.py --peer PYTHON --others PYTHON --write docs/migration.md

A table goes between two comments of the page that name this script, if its interpreter is given.
"""

import argparse
import json
import re
import subprocess
from fractions import Fraction
from pathlib import Path

import numpy as np
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.model_selection import train_test_split

from skbiasamp.datasets import load_compas
from skbiasamp.metrics import (
    differential_fairness_amplification,
    directional_amplification,
    mals_amplification,
    multi_attribute_amplification,
)

BEGIN, END = "<!-- benchmarks/migration.py writes: -->", "<!-- until here -->"
BEGIN_OTHERS = "<!-- benchmarks/migration.py --others writes: -->"

PEER = """
import json, sys, torch
from bias_amplification.metrics import BA_MALS, DBA, MDBA
CLASSES = {"BA_MALS": BA_MALS, "DBA": DBA, "MDBA": lambda: MDBA(min_attr_size=2)}
for name, *sides in json.load(sys.stdin):
    A, T, predicted = (torch.tensor(side, dtype=torch.float32) for side in sides)
    print(float(CLASSES[name]().computeBiasAmp(A, T, predicted)[0]))
"""


OTHERS = """
import contextlib, io, json, sys, warnings
import numpy as np, pandas as pd
warnings.simplefilter("ignore")
with contextlib.redirect_stdout(io.StringIO()):  # one of them prints what it cannot import
    from aif360.sklearn.metrics import df_bias_amplification
    from oxonfair.utils import group_metrics
oxonfair = group_metrics.directed_bias_amplification
for program, y, predicted, group in json.load(sys.stdin):
    y, predicted, group = map(np.array, (y, predicted, group))
    if program == "OxonFair":
        print(float(oxonfair.average(y, predicted, group)[0]))
    else:
        y = pd.Series(y, index=pd.Index(group, name="group"))
        print(float(df_bias_amplification(y, predicted, prot_attr="group")))
"""


def rows(*counts):
    """Return A (one column a group), T and T̂ from (group, label, prediction, rows)."""
    groups = sorted({count[0] for count in counts})
    return tuple(
        np.array([side(count) for count in counts for _ in range(count[3])])
        for side in (
            lambda count: [int(count[0] == group) for group in groups],
            lambda count: np.atleast_1d(count[1]).tolist(),
            lambda count: np.atleast_1d(count[2]).tolist(),
        )
    )


def both_classes(case):
    """Return the case with a column for the label's absence too."""
    A, *sides = case
    return (A, *(np.hstack([side, 1 - side]) for side in sides))


COOKS = rows(("f", 1, 1, 40), ("f", 0, 0, 10), ("m", 1, 0, 10), ("m", 0, 0, 40))
THREE = rows(
    *[("1", 1, 1, 40), ("1", 0, 0, 10)],
    *[("2", 1, 0, 10), ("2", 0, 0, 40)],
    *[("3", 1, 1, 20), ("3", 0, 1, 10)],
)
TAGS = rows(
    *[("f", tags, [1, 1], 1) for tags in ([1, 1], [1, 1], [1, 0], [0, 1])],
    *[("m", tags, tags, 1) for tags in ([1, 1], [1, 0], [0, 0], [0, 0])],
)
SETS = rows(
    *[
        ("f", tags, tags_pred, 1)
        for tags, tags_pred in zip(
            [[1, 1], [1, 0], [0, 1], [0, 0]], [[1, 1], [1, 1], [0, 0], [0, 0]], strict=True
        )
    ],
    *[
        ("m", tags, tags_pred, 1)
        for tags, tags_pred in zip(
            [[1, 1], [1, 0], [0, 1], [0, 0]], [[1, 0], [1, 0], [0, 1], [0, 1]], strict=True
        )
    ],
)
# Exactly independent in the labels, five of six rows in each group, which binary fractions miss.
TIE = rows(("f", 1, 1, 35), ("f", 0, 1, 7), ("m", 1, 1, 5), ("m", 0, 0, 1))

# What, the peer's class, the rows it gets.
CASES = [
    ("MALS, the example of its chapter", "BA_MALS", COOKS),
    ("A→T, three groups, a binary label in one column", "DBA", THREE),
    ("the same, a column for each class", "DBA", both_classes(THREE)),
    ("A→T, two labels that may both be present", "DBA", TAGS),
    ("A→T, label and group exactly independent", "DBA", both_classes(TIE)),
    ("Multi→, the example of its chapter", "MDBA", SETS),
]


def mean(rows):
    return Fraction(int(rows.sum()), len(rows))


def mals(A, T, predicted):
    """Eq. 1 of Wang and Russakovsky, in fractions, with Â = A."""
    value = Fraction(0)
    for t, t_pred in zip(T.T, predicted.T, strict=True):
        for a in A.T:
            share = mean(a[t == 1])
            value += (mean(a[t_pred == 1]) - share) * (share > Fraction(1, A.shape[1]))
    return value / T.shape[1]


def directional(A, T, predicted):
    """Eq. 2 of the same, in fractions, for A→T; a tie counts 0."""
    value = Fraction(0)
    for t, t_pred in zip(T.T, predicted.T, strict=True):
        for a in A.T:
            chance = mean(a) * mean(t)
            together = mean(a * t)
            sign = (together > chance) - (together < chance)
            value += sign * (mean(t_pred[a == 1]) - mean(t[a == 1]))
    return value / A.shape[1] / T.shape[1]


def multi(A, T, predicted):
    """Eq. 3 of Zhao, Andrews and Xiang, in fractions, for the one set of both tasks."""
    both, both_pred = T.all(axis=1), predicted.all(axis=1)
    moved = [abs(mean(both_pred[a == 1]) - mean(both[a == 1])) for a in A.T]
    return sum(moved, Fraction(0)) / A.shape[1]


FORMULAS = {"BA_MALS": mals, "DBA": directional, "MDBA": multi}
OURS = {
    "BA_MALS": mals_amplification,
    "DBA": directional_amplification,
    "MDBA": lambda T, predicted, **options: multi_attribute_amplification(
        T, predicted, min_size=2, base="test", **options
    ),
}


def measure(peer):
    """Return for each case: what, the peer's class, formula, peer's value, ours."""
    theirs = [float("nan")] * len(CASES)
    if peer:
        asked = [[name, *(side.tolist() for side in case)] for _, name, case in CASES]
        done = subprocess.run(
            [peer, "-c", PEER], input=json.dumps(asked), capture_output=True, text=True, check=True
        )
        theirs = [float(line) for line in done.stdout.split()]
    return [
        (
            what,
            name,
            float(FORMULAS[name](*case)),
            their,
            OURS[name](case[1], case[2], sensitive_features=case[0].argmax(axis=1)),
        )
        for (what, name, case), their in zip(CASES, theirs, strict=True)
    ]


def table(results):
    lines = ["| rows | class | formula | bias-amplification | skbiasamp |", "|---|---|---|---|---|"]
    for what, name, *values in results:
        cells = ["" if np.isnan(value) else f"{value + 0.0:.4f}" for value in values]
        lines.append(f"| {what} | `{name}` | {' | '.join(cells)} |")
    return "\n".join(lines).replace("-", "−").replace("−−−", "---")


def readme():
    """Return labels, predictions and groups of the example in README.md."""
    compas = load_compas()
    race = (compas.sensitive_features == "Caucasian").astype(int)
    X, X_test, y, y_test, _, race = train_test_split(
        compas.data, compas.target, race, test_size=0.5, random_state=0
    )
    model = GradientBoostingClassifier(random_state=0).fit(X, y)
    return np.asarray(y_test), model.predict(X_test), np.asarray(race)


def measure_others(python):
    """Return for each case: what, program, its value, ours."""
    one_label = {
        what: (label[:, 0], predicted[:, 0], A.argmax(axis=1))
        for what, (A, label, predicted) in {
            "three groups, a binary label": THREE,
            "label and group exactly independent": TIE,
        }.items()
    } | {"the rows of the README": readme()}
    asked = [(what, "OxonFair", *case) for what, case in one_label.items()]
    asked += [(what, "AIF360", *case) for what, case in one_label.items()]
    theirs = [float("nan")] * len(asked)
    if python:
        given = [[program, *(side.tolist() for side in case)] for _, program, *case in asked]
        done = subprocess.run(
            [python, "-c", OTHERS], input=json.dumps(given), capture_output=True, text=True
        )
        if done.returncode:
            raise SystemExit(done.stderr)
        theirs = [float(line) for line in done.stdout.split()]
    ours = {
        "OxonFair": directional_amplification,
        "AIF360": differential_fairness_amplification,
    }
    return [
        (what, program, their, ours[program](label, predicted, sensitive_features=group))
        for (what, program, label, predicted, group), their in zip(asked, theirs, strict=True)
    ]


def table_of_others(results):
    lines = ["| rows | program | theirs | skbiasamp |", "|---|---|---|---|"]
    for what, program, *values in results:
        cells = ["" if np.isnan(value) else f"{value + 0.0:+.4f}" for value in values]
        lines.append(f"| {what} | {program} | {' | '.join(cells)} |")
    return "\n".join(lines).replace("-", "−").replace("−−−", "---")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--peer", metavar="PYTHON", help="an interpreter that has bias-amplification 0.2.1"
    )
    parser.add_argument(
        "--others", metavar="PYTHON", help="an interpreter that has oxonfair 0.3 and aif360 0.6.1"
    )
    parser.add_argument("--write", metavar="PAGE", type=Path, help="put the tables into this page")
    arguments = parser.parse_args()
    tables = {
        BEGIN: (arguments.peer, table(measure(arguments.peer))),
        BEGIN_OTHERS: (arguments.others, table_of_others(measure_others(arguments.others))),
    }
    for begin, (python, written) in tables.items():
        print(written, end="\n\n")
        if arguments.write and python:
            page = arguments.write.read_text(encoding="utf-8")
            between = re.compile(f"{re.escape(begin)}.*?{re.escape(END)}", re.DOTALL)
            new = between.sub(lambda _, new=f"{begin}\n\n{written}\n\n{END}": new, page)
            arguments.write.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
