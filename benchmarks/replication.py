"""Published numbers of the papers beside ours.

    python benchmarks/replication.py          # in seconds, without the slow rows
    python benchmarks/replication.py --write docs/replication.md    # all, some minutes
    python benchmarks/replication.py --refresh docs/replication.md  # the slow rows stay as they are

Where a number takes a model or a draw, its code is that of the gallery: this script uses what the
pages in examples/ define. Needs the imSitu annotations (docs/datasets.md); the slow rows need
torch.
"""

import argparse
from collections import Counter
from pathlib import Path

import architectures
import attacker_grid
import coco_attackers
import imsitu_attackers
from published.directional import directional, metric_card
from published.dpa import dpa
from published.inventory import inventory, without_data
from published.leakage import leakage
from published.rba import rba

PAPERS = {
    "Directional bias amplification (Wang & Russakovsky, ICML 2021)": directional,
    "Directional predictability amplification (Tokas, Nair & Kerner 2024)": dpa,
    "Balanced datasets are not enough (Wang et al., ICCV 2019)": leakage,
    "Men also like shopping (Zhao et al., EMNLP 2017)": rba,
    "The metric card on the Hugging Face hub": metric_card,
}
# Pages of the gallery with the code of their rows; the rest is in the file of the paper.
GALLERY = {
    directional: ("shortcomings",),
    dpa: ("dpa_compas", "relative_amplification"),
    leakage: ("leakage_imsitu", "leakage_coco"),
    rba: ("rba",),
    metric_card: (),
}

# Scripts that keep their runs in files.
KEPT = (architectures, attacker_grid, imsitu_attackers, coco_attackers)

TOP = """\
# Replication

This page compares published values with those of skbiasamp ("ours"). A difference of 0 means that
both values are the same, rounded like the published one. Otherwise the last column gives the
reason, as far as we know it. The code is named below each heading.

Symbols of the papers:

- A is the sensitive feature and T the task. A1, A2 and A3 are groups.
- Group → task (A→T): does the group shift the predicted task?
- Task → group (T→A): does the task shift the predicted group?
- BiasAmp→ (DBA) is directional amplification, and Multi→ that of sets of attributes.
- MALS (BA) is co-occurrence amplification. RBA is a mitigation by constraints on the predictions.
- λ_D is dataset leakage: the share of people whose gender an attacker predicts from the labels.
- λ_D(40.75) is the same from labels with random errors, which have an F1 of 40.75 %.
- λ_M is model leakage: the same from the outputs of a model. Δ is λ_M − λ_D(F1).
- α is the limit of a balanced split: no label has more than α times as many images of one gender
  as of the other.
- LIC_M and LIC_D are leakage in the captions of a model and of people.
- CRF is a conditional random field: this model predicts gender and label together.

`python benchmarks/replication.py --write docs/replication.md` makes this page.
"""


def tables(slow=True):
    """Return the rows by paper; the slow ones train networks or draw many times."""
    return {
        paper: list(rows(slow) if rows in (dpa, leakage) else rows())
        for paper, rows in PAPERS.items()
    }


def code(rows):
    """Return where the code of a paper's rows is."""
    pages = [f"{{doc}}`auto_examples/plot_{name}`" for name in GALLERY[rows]]
    return "Code: " + ", ".join([*pages, f"`benchmarks/{rows.__module__.replace('.', '/')}.py`"])


def line(row):
    return "| " + " | ".join(row.cells()) + " |"


def merged(page, lines):
    """Return the lines of a page's table, with new ones in place of those about the same."""

    def keyed(rows):
        """Return rows by what they are about; several about the same have numbers."""
        seen = Counter()
        for row in rows:
            about = tuple(row.split(" | ")[:2])
            seen[about] += 1
            yield (*about, seen[about]), row

    return list((dict(keyed(page)) | dict(keyed(lines))).values())


def on_page(text, paper):
    """Return the rows of a paper on a page that was written before."""
    section = text.partition(f"## {paper}\n")[2].partition("\n## ")[0]
    return [line for line in section.splitlines() if line.startswith("| ")][1:]


def markdown(found, page=""):
    """Return the page; rows of `page` that were not found again stay as they are."""
    parts = [TOP, inventory()]
    for paper, rows in found.items():
        head = "| where | what | published | ours | difference | why |\n|---|---|--:|--:|--:|---|"
        lines = merged(on_page(page, paper), map(line, rows))
        where = code(PAPERS[paper]) + "."
        parts.append("\n".join([f"## {paper}", "", where, "", head, *lines]) + "\n")
    parts += [one.section() for one in KEPT]
    parts.append(without_data())
    return "\n".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", type=Path, metavar="FILE", help="write all rows there")
    parser.add_argument("--refresh", type=Path, metavar="FILE", help="all but the slow rows there")
    options = parser.parse_args()
    if options.refresh:
        page = options.refresh.read_text(encoding="utf-8")
        options.refresh.write_text(markdown(tables(slow=False), page), encoding="utf-8")
    elif options.write:
        options.write.write_text(markdown(tables()), encoding="utf-8")
    else:
        print(markdown(tables(slow=False)))


if __name__ == "__main__":
    main()
