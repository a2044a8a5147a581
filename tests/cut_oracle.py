"""Cut the values that `tests/oracle.json` holds out of the reference data, which are no part of it.

Run ``python tests/cut_oracle.py`` with SKBIASAMP_ORACLE and SKBIASAMP_DATA set. Kept are the two
smallest cases of each family, with and without training rows, and the counts of the COMPAS rows.
"""

import json
import os
from pathlib import Path

import pandas as pd

EMBEDDED = Path(__file__).with_name("oracle.json")
PER_FAMILY = 2
COMPAS = ["race", "is_recid", "two_year_recid", "decile_score"]
ORIGIN = (
    "cases: see format. compas: rows of compas-scores-two-years.csv of "
    "github.com/propublica/compas-analysis, after its own row filter, of the two largest races. "
    "Both were cut by tests/cut_oracle.py."
)


def family(case):
    return case["id"].rpartition("-")[0], case["n_groups"], case["train"] is None


def cut(cases):
    """Return the smallest cases of each family, in the order of the file."""
    kept, n = [], dict.fromkeys(map(family, cases), 0)
    for case in sorted(cases, key=lambda case: len(case["test"])):
        if n[family(case)] < PER_FAMILY:
            n[family(case)] += 1
            kept.append(case["id"])
    return [case for case in cases if case["id"] in kept]


def compas_rows(file):
    """Return ProPublica's rows, by its own filter, of the two largest races."""
    frame = pd.read_csv(file)
    frame = frame[
        frame["days_b_screening_arrest"].between(-30, 30)
        & (frame["is_recid"] != -1)
        & (frame["c_charge_degree"] != "O")
        & (frame["score_text"] != "N/A")
    ]
    return frame.loc[frame["race"].isin(["Caucasian", "African-American"]), COMPAS]


def main():
    oracle, data = (Path(os.environ[f"SKBIASAMP_{name}"]) for name in ("ORACLE", "DATA"))
    whole = json.loads((oracle / "cooccurrence_cases.json").read_text())
    counts = compas_rows(data / "compas-scores-two-years.csv").value_counts(sort=False)
    compas = [[*row, n] for row, n in zip(counts.index.tolist(), counts.tolist(), strict=True)]
    parts = {"origin": ORIGIN, "format": whole["format"]}
    lines = [f'"{name}": {json.dumps(part)}' for name, part in parts.items()]
    for name, rows in (("cases", cut(whole["cases"])), ("compas", compas)):
        each = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
        lines.append(f'"{name}": [\n{each}\n]')
    EMBEDDED.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
