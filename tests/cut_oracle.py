"""Cut the values that `tests/oracle.json` holds out of the reference data, which are no part of it.

Run ``python tests/cut_oracle.py`` with SKBIASAMP_ORACLE set. Kept are the two smallest cases of
each family, with and without training rows.
"""

import json
import os
from pathlib import Path

EMBEDDED = Path(__file__).with_name("oracle.json")
PER_FAMILY = 2
ORIGIN = "cases: see format. They were cut by tests/cut_oracle.py."


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


def main():
    oracle = Path(os.environ["SKBIASAMP_ORACLE"])
    whole = json.loads((oracle / "cooccurrence_cases.json").read_text())
    parts = {"origin": ORIGIN, "format": whole["format"]}
    lines = [f'"{name}": {json.dumps(part)}' for name, part in parts.items()]
    each = ",\n".join(json.dumps(row, separators=(",", ":")) for row in cut(whole["cases"]))
    lines.append(f'"cases": [\n{each}\n]')
    EMBEDDED.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
