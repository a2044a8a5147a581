"""Measure false verdicts, coverage, width and power of all intervals, and make their page.

    python benchmarks/evidence/evidence.py --write docs/evidence.md     # an hour on one core
    python benchmarks/evidence/evidence.py --part runs --part folds     # these parts again
    python benchmarks/evidence/evidence.py --missing --write docs/evidence.md  # rows that lack

Each part keeps its rows in <part>.csv beside this script, and the page is made of these files.
Leakage, DPA, LIC, matched pairs, answers and impact ratios, whose statistics have not changed, are
kept as they were measured.
"""

import argparse
import datetime
import math
import sys
import time
import warnings
from pathlib import Path

from common import filled, markdown

# isort: split
import numpy as np
import pandas as pd
from rows import ADDS, AMPLIFIES, NONE, PARTS, POWER, REDUCES, REVERSES, SIGN

FOLDER = Path(__file__).resolve().parent
TABLES = FOLDER.with_name("results") / "evidence.md"
KEPT = ("attackers", "joint-law", "texts", "pairs", "impact-ratios")
NORMAL = 1.959964
LEAST_COVERED = 0.92
WRONG = {
    AMPLIFIES: (REDUCES, REVERSES),
    REDUCES: (AMPLIFIES, REVERSES),
    REVERSES: (AMPLIFIES,),
    ADDS: (AMPLIFIES, REDUCES, REVERSES),
}
FIELDS = (
    "question", "setting", "right", "data_sets", "measured", "false", "covered", "found", "adds",
    "welch", "fisher", "tested", "agreed", "width", "width_error", "estimate", "true", "spread",
    "false_target", "width_target", "seconds", "date",
)  # fmt: skip


def measured(row, trials):
    """Return the summary of a row over as many data sets."""
    start, n = time.monotonic(), min(trials, row.most)
    root = [*f"{row.question}: {row.setting}".encode()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few rows and uncertain signs are what is studied
        outcomes = [row.trial(np.random.default_rng([*root, i])) for i in range(n)]
    return {
        "question": row.question,
        "setting": row.setting,
        "right": row.right,
        "data_sets": n,
        **summary(outcomes, row.right),
        "false_target": row.falsely,
        "width_target": row.width,
        "seconds": round(time.monotonic() - start, 1),
        "date": datetime.date.today().isoformat(),
    }


def summary(outcomes, right):
    """Return counts of verdicts and of intervals that contain the true value, and widths."""
    verdicts = [outcome.verdict for outcome in outcomes]
    value, low, high, true, p_value, welch, fisher = np.array(
        [(*outcome[:5], *outcome[6:]) for outcome in outcomes], dtype=float
    ).T
    known = ~np.isnan(low) & ~np.isnan(true)
    # Rounding must not count as a miss where every number is 0.
    covered = (low <= true + 1e-9) & (true <= high + 1e-9)
    tested = known & ~np.isnan(p_value)
    agreed = (p_value < 0.05) == ((low > 0) | (high < 0))
    width, error, spread = widths((high - low)[known] / 2, (value - true)[known])
    compared = not np.isnan(welch).any()
    return {
        "measured": int(known.sum()),
        "false": sum(is_wrong(*pair, right) for pair in zip(verdicts, true, strict=True)),
        "covered": int(covered[known].sum()),
        "found": sum(verdict != NONE for verdict in verdicts)
        if right == SIGN or compared
        else verdicts.count(right)
        if right
        else "",
        "adds": verdicts.count(ADDS),
        "welch": int((welch < 0.05).sum()) if compared else "",
        "fisher": int((fisher < 0.05).sum()) if compared else "",
        "tested": int(tested.sum()),
        "agreed": int(agreed[tested].sum()),
        "width": width,
        "width_error": error,
        "estimate": float(np.mean(value[known])) if known.any() else math.nan,
        "true": float(np.mean(true[known])) if known.any() else math.nan,
        "spread": spread,
    }


def is_wrong(verdict, true, right):
    """Return whether a verdict is false: any effect if there is none, else a wrong name."""
    if not right:
        return verdict not in (NONE, "not measured")
    if right == SIGN:
        return verdict in (WRONG[AMPLIFIES] if true > 0 else (AMPLIFIES,))
    return verdict in WRONG[right]


def widths(reach, error):
    """Return mean half-width by what is needed, its standard error, and the errors' spread."""
    n = len(error)
    spread = float(np.std(error, ddof=1)) if n > 1 else math.nan
    if not spread > 1e-12:
        return math.nan, math.nan, spread
    ratio = reach.mean() / (NORMAL * spread)
    tails = np.mean((error - error.mean()) ** 4) / spread**4
    relative = (max(tails - 1, 0) / (4 * n) + reach.var() / (n * reach.mean() ** 2)) ** 0.5
    return float(ratio), float(ratio * relative), spread


def read(file):
    """Return the rows of a file by question and setting."""
    if not file.exists():
        return {}
    rows = pd.read_csv(file, dtype=str, keep_default_na=False).to_dict("records")
    return {(row["question"], row["setting"]): row for row in rows}


def keep(file, rows):
    pd.DataFrame(rows, columns=FIELDS).to_csv(file, index=False, lineterminator="\n")


def rounded(row):
    """Return a row as it is kept."""
    return {k: f"{v:.5g}" if isinstance(v, float) else str(v) for k, v in row.items()}


def run(part, options):
    """Measure the rows of a part, keep each as soon as it is measured, and return all rows."""
    file, rows = options.folder / f"{part}.csv", list(PARTS[part]())
    order = [(row.question, row.setting) for row in rows]
    assert len(set(order)) == len(order)
    done = {} if options.short else {key: row for key, row in read(file).items() if key in order}
    for row, key in zip(rows, order, strict=True):
        if options.missing and key in done:
            continue
        done[key] = rounded(measured(row, options.trials))
        print(" | ".join((*key, *Shares(done[key]).cells())), file=sys.stderr, flush=True)
        if not options.short:
            keep(file, [done[key] for key in order if key in done])
    return [done[key] for key in order if key in done]


class Shares:
    """The shares of a row, in percent, with standard errors, and whether it meets its targets."""

    def __init__(self, row):
        self.row = row
        self.n = int(row["data_sets"])
        self.width = float(row["width"] or "nan")
        self.false_target = float(row.get("false_target") or 0.05)
        self.width_target = float(row.get("width_target") or 1.25)
        self.false = int(row["false"]) / self.n if row["false"] else math.nan
        measured_ = int(row["measured"] or 0)
        self.covered = int(row["covered"]) / measured_ if measured_ else math.nan
        self.found = int(row["found"]) / self.n if row["found"] else math.nan

    @property
    def misses(self):
        """What a row misses, in words."""
        said, limit = [], self.false_target
        if self.false > limit + 2 * error_of(limit, self.n):
            said.append(f"false verdicts {percent(self.false, self.n)} %")
        if self.covered < LEAST_COVERED:
            said.append(f"coverage {percent(self.covered, self.n)} %")
        if self.width - 2 * float(self.row["width_error"] or 0) > self.width_target:
            said.append(f"width {self.width:.2f}")
        if self.row["question"] == POWER:
            # With fewer than 20 changed rows a group, Fisher's test is what there is.
            few = int(self.row["setting"].split()[2]) < 20
            name, less = ("fisher", 0.1) if few else ("welch", 0.03)
            if (other := int(self.row[name]) / self.n) - self.found > less:
                said.append(f"power {100 * self.found:.0f} %, {name.title()} {100 * other:.0f} %")
        return said

    def cells(self):
        right = f"{percent(self.found, self.n)}" if self.row["found"] else "–"
        adds = f"{100 * int(self.row['adds']) / self.n:.1f}" if self.row.get("adds") else "–"
        names = {"": "none", SIGN: "its direction"}
        width = "–" if math.isnan(self.width) else f"{self.width:.2f}"
        return (
            names.get(self.row["right"], self.row["right"]),
            percent(self.false, self.n),
            percent(self.covered, self.n),
            width,
            right,
            adds,
        )


def error_of(share, n):
    return math.sqrt(share * (1 - share) / n)


def percent(share, n):
    """Return a share in percent with its standard error."""
    if math.isnan(share):
        return "–"
    # Of no events in n, one half.
    at = min(max(share, 0.5 / n), 1 - 0.5 / n)
    return f"{100 * share:.1f} ± {100 * error_of(at, n):.1f}"


def mean_of(rows, name, form="{:.1f}", factor=100):
    values = [getattr(row, name) for row in rows if not math.isnan(getattr(row, name))]
    return form.format(factor * sum(values) / len(values)) if values else "–"


def worst_of(rows, name, best=max):
    """Return the worst share of rows with its standard error."""
    known = [row for row in rows if not math.isnan(getattr(row, name))]
    if not known:
        return "–"
    worst = best(known, key=lambda row: getattr(row, name))
    return f"{worst.width:.2f}" if name == "width" else percent(getattr(worst, name), worst.n)


def by_question(rows):
    parts = {}
    for row in rows:
        parts.setdefault(row["question"], []).append(Shares(row))
    return parts


def overview(rows):
    lines = [
        (
            question,
            len(part),
            mean_of(part, "false"),
            worst_of(part, "false"),
            mean_of(part, "covered"),
            worst_of(part, "covered", min),
            mean_of(part, "width", "{:.2f}", 1),
            worst_of(part, "width"),
        )
        for question, part in by_question(rows).items()
    ]
    header = ("question", "settings", "false, %", "worst", "coverage, %", "worst", "width", "worst")
    return markdown(header, lines)


def power_of(rows):
    """Return the table of power, of audits and of other tests."""
    found = {}
    for row in (row for row in rows if row["question"] == POWER):
        setting, _, signs = row["setting"].partition("; signs: ")
        found.setdefault(setting, {})[signs] = [
            f"{100 * int(row[name]) / int(row['data_sets']):.0f}"
            for name in ("found", "welch", "fisher")
        ]
    lines = [
        (setting, *(" / ".join(pair) for pair in zip(*of_signs.values(), strict=True)))
        for setting, of_signs in found.items()
    ]
    return markdown(("setting", "audit, %", "Welch, %", "Fisher, %"), lines)


def missed(rows):
    lines = [
        f"- {row['question']}; {row['setting']}: {', '.join(Shares(row).misses)}."
        for row in rows
        if Shares(row).misses
    ]
    return "\n".join(lines) or "None."


def page_of(rows):
    shares = [Shares(row) for row in rows]
    unchanged = [row for row in shares if not row.row["right"]]
    tested, agreed = (sum(int(row[name] or 0) for row in rows) for name in ("tested", "agreed"))
    dates = sorted({row["date"] for row in rows})
    return filled(
        __file__,
        n_sets=sum(row.n for row in shares),
        n_rows=len(rows),
        false=mean_of(unchanged, "false"),
        worst=worst_of(unchanged, "false"),
        covered=mean_of(shares, "covered"),
        worst_covered=worst_of(shares, "covered", min),
        overview=overview(rows),
        agreed="all" if agreed == tested else f"{agreed:,}",
        tested=tested,
        power=power_of(rows),
        missed=missed(rows),
        when=f"on {dates[0]}" if len(dates) == 1 else f"between {dates[0]} and {dates[-1]}",
    )


def tables_of(rows):
    header = ("setting", "right", "false", "coverage", "width", "found", "adds")
    tables = [
        f"## {question}\n\n"
        + markdown(header, [(row.row["setting"], *row.cells()) for row in part])
        for question, part in by_question(rows).items()
    ]
    return filled(FOLDER / "settings.md", tables="\n\n".join(tables))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--part", action="append", choices=list(PARTS), help="default: all")
    parser.add_argument("--trials", type=int, default=400, help="data sets a row, at most")
    parser.add_argument("--missing", action="store_true", help="only rows that are not kept yet")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where rows are kept")
    parser.add_argument("--short", action="store_true", help="two data sets a row, nothing kept")
    parser.add_argument("--write", type=Path, help="the page to write")
    parser.add_argument("--tables", type=Path, default=TABLES, help="the file of its tables")
    options = parser.parse_args()
    if options.short:
        options.trials = 2
        if options.write:
            parser.error("--short measures nothing worth writing down.")
    return options


def every_row(folder):
    """Return the rows of all files, as the page has them."""
    return [row for part in (*PARTS, *KEPT) for row in read(folder / f"{part}.csv").values()]


def main():
    options, rows = arguments(), []
    for part in options.part or PARTS:
        rows += run(part, options)
    if options.short:
        print(page_of(rows), tables_of(rows), sep="\n")
    if options.write:
        rows = every_row(options.folder)
        options.write.write_text(page_of(rows), encoding="utf-8")
        options.tables.write_text(tables_of(rows), encoding="utf-8")
        keep(options.write.with_name("evidence-table.csv"), rows)


if __name__ == "__main__":
    main()
