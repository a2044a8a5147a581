"""Run every benchmark, write its page, and sum them up in one.

    python benchmarks/run.py                # all, three quarters of an hour on two cores
    python benchmarks/run.py engines growth # some of them, and the summary of all pages
    python benchmarks/run.py --collect      # only the summary, of the pages that are there
    python benchmarks/run.py --short        # under a minute: only checks that they run

Peers are installed into environments of their own, in a folder that git ignores.
"""

import argparse
import datetime
import os
import re
import subprocess
import sys
import venv
from pathlib import Path

from pages import filled

HERE = Path(__file__).resolve().parent
DOCS = HERE.parent / "docs"


ABOUT = {
    "cooccurrence": "co-occurrence audits, compared with loops, matrix products and `np.bincount`",
    "predictability": "leakage and DPA, compared with bias-amplification",
    "attackers": "networks trained at once, compared with one after another",
    "sklearn": "`AuditedClassifier`, compared with the classifier that it wraps",
    "engines": "files and queries, compared with the engines' own group-by",
    "growth": "time and memory by number of rows, groups, tasks and sets",
}
# A module of the name sklearn would hide scikit-learn.
SCRIPTS = {name: HERE / "speed" / f"{name}.py" for name in ABOUT}
SCRIPTS["sklearn"] = HERE / "speed" / "sklearn_overhead.py"
PAGES = {name: HERE / "results" / f"{name}.md" for name in ABOUT}
PEERS = {"predictability": "bias-amplification==0.2.1"}


def interpreter_of(peer):
    """Return an interpreter that has a peer, from an environment that is made once."""
    home = HERE.parent / ".venv-peers" / peer.replace("==", "-")
    python = home / "bin" / "python"
    done = home / ".ready"
    if not done.exists():
        print(f"Installing {peer} into {home}", file=sys.stderr, flush=True)
        venv.create(home, with_pip=True, clear=True)
        constraints = HERE.parent / "constraints.txt"
        command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*command, "-c", constraints, peer], check=True)
        done.touch()
    return python


def run(name, *, short):
    """Run one script; what it measures goes to its page, what it prints in short mode is seen."""
    command = [sys.executable, "-X", "utf8", SCRIPTS[name]]
    if short:
        command.append("--short")
    else:
        command += ["--write", PAGES[name]]
        if name in PEERS:
            command += ["--peer", interpreter_of(PEERS[name])]
    print(f"{name}: {ABOUT[name]}", file=sys.stderr, flush=True)
    subprocess.run(command, check=True, stdout=None if short else subprocess.DEVNULL)


def judged(page):
    """Return the rows of a page's tables that were judged, as lists of cells."""
    rows = []
    for line in page.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if cells and cells[-1] in ("yes", "no"):
            rows.append(cells)
    return rows


def value_of(row):
    """Return the cells of a judged row on the page."""
    beside = f", compared with {row[1]}" if len(row) == 7 and row[1] else ""
    value = next(cell for cell in reversed(row[1:-2]) if cell)
    return f"| {row[0]}{beside} | {value} | {row[-2]} | {row[-1]} |"


def summary():
    """Return the page: what was run, the first row of each benchmark, and all missed targets."""
    listed, shown, versions, n_met, n_judged = [], [], set(), 0, 0
    for name in ABOUT:
        page = PAGES[name]
        if not page.exists():
            continue
        lines = page.read_text(encoding="utf-8").splitlines()
        title = lines[0].removeprefix("# Benchmark: ")
        made = next(line for line in lines[1:] if line.strip())
        versions |= set(re.findall(r"skbiasamp [\d.]*\d", made))
        rows = judged(page)
        met = sum(row[-1] == "yes" for row in rows)
        n_judged, n_met = n_judged + len(rows), n_met + met
        measured = "; ".join(made.split("; ")[:2]) if ";" in made else ""
        link = f"[{title}](../benchmarks/results/{page.name})"
        listed.append(f"| {link} | {met} of {len(rows)} | {measured} |")
        shown += [value_of(row) for row in rows[:1] + [row for row in rows[1:] if row[-1] == "no"]]
    return filled(
        __file__,
        n_met=n_met,
        n_judged=n_judged,
        versions=" and ".join(sorted(versions)),
        listed="\n".join(listed),
        shown="\n".join(shown),
        today=datetime.date.today(),
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(ABOUT)}")
    parser.add_argument("--short", action="store_true", help="small data, few rounds: a check")
    parser.add_argument("--collect", action="store_true", help="run nothing, only sum up")
    parser.add_argument("--write", metavar="FILE", type=Path, default=DOCS / "benchmarks.md")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.names if name not in ABOUT]
    if unknown:
        parser.error(f"there is no benchmark {unknown[0]!r}, there are {', '.join(ABOUT)}")
    os.environ["PYTHONWARNINGS"] = "ignore"  # of few rows, in short runs
    for name in () if arguments.collect else arguments.names or ABOUT:
        try:
            run(name, short=arguments.short)
        except subprocess.CalledProcessError as error:
            print(f"{name} failed: its page is as it was.", file=sys.stderr)
            raise SystemExit(error.returncode) from None
    if not arguments.short:
        arguments.write.write_text(summary(), encoding="utf-8")
        print(f"Written: {arguments.write}")


if __name__ == "__main__":
    main()
