"""Published numbers of the papers beside ours.

    python benchmarks/papers/replication.py            # in seconds, without the slow rows
    python benchmarks/papers/replication.py --write    # all rows and the page of the docs: minutes
    python benchmarks/papers/replication.py --refresh  # the slow rows stay as they are

All rows are written to benchmarks/results/replication.md, and their summary to docs/replication.md.
Where a number takes a model or a draw, a script beside this one has its code. Needs the imSitu
annotations (docs/recipes.md); the slow rows need torch.
"""

import argparse
from collections import Counter
from functools import partial
from pathlib import Path

import architectures
import attacker_robustness
import coco_attackers
import imsitu_attackers
from lic_captioners import captions
from published import paper_code
from published._rows import filled
from published._rows import markdown as table
from published.dpa import dpa
from published.leakage import leakage
from rba import rba
from shortcomings import directional, metric_card

import skbiasamp

PAPERS = {
    "Directional bias amplification (Wang & Russakovsky, ICML 2021)": directional,
    "Directional predictability amplification (Tokas, Nair & Kerner 2024)": dpa,
    "Balanced datasets are not enough (Wang et al., ICCV 2019)": leakage,
    "Men also like shopping (Zhao et al., EMNLP 2017)": rba,
    "Quantifying societal bias amplification (Hirota et al., CVPR 2022)": captions,
    "The metric card on the Hugging Face hub": metric_card,
}
# Scripts with the code of their rows; the rest is in the file of the paper.
SCRIPTS = {dpa: ("relative_amplification",), leakage: ("leakage_imsitu",)}
SLOW = (dpa, leakage, captions)  # have rows that train networks or draw many times
# Scripts that keep their runs in files.
KEPT = (architectures, attacker_robustness, imsitu_attackers, coco_attackers)
BENCHMARKS = Path(__file__).resolve().parents[1]
TABLES = BENCHMARKS / "results" / "replication.md"
PAGE = BENCHMARKS.parent / "docs" / "replication.md"

TOP = filled(__file__)
MADE = (
    f"Made with skbiasamp {skbiasamp.__version__}. Rows that take trainings may be of earlier "
    "versions: `--refresh` keeps them.\n"
)


def tables(slow=True):
    """Return the rows by paper; the slow ones train networks or draw many times."""
    return {paper: list(rows(slow) if rows in SLOW else rows()) for paper, rows in PAPERS.items()}


def code(rows):
    """Return where the code of a paper's rows is."""
    files = [*SCRIPTS.get(rows, ()), rows.__module__.replace(".", "/")]
    return "Code: " + ", ".join(f"`benchmarks/papers/{file}.py`" for file in files)


def line(row):
    return "| " + " | ".join(row.cells()) + " |"


def merged(page, lines):
    """Return the lines of a page's table, with new ones in place of those about the same."""

    def keyed(rows):
        """Return rows by what they are about; several about the same have numbers."""
        counts = Counter()
        for row in rows:
            about = tuple(row.split(" | ")[:2])
            counts[about] += 1
            yield (*about, counts[about]), row

    return list((dict(keyed(page)) | dict(keyed(lines))).values())


def on_page(text, paper):
    """Return the rows of a paper on a page that was written before."""
    section = text.partition(f"## {paper}\n")[2].partition("\n## ")[0]
    return [line for line in section.splitlines() if line.startswith("| ")][1:]


def markdown(results, page=""):
    """Return the file; rows of `page` that were not found again stay as they are."""
    sections = []
    for paper, rows in results.items():
        head = "| where | what | published | ours | difference | why |\n|---|---|--:|--:|--:|---|"
        lines = merged(on_page(page, paper), map(line, rows))
        where = code(PAPERS[paper]) + "."
        sections.append("\n".join([f"## {paper}", "", where, "", head, *lines]) + "\n")
    status = partial(paper_code.status_of, values=paper_code.read_values("\n".join(sections)))
    sections += [page.section() for page in KEPT]
    inventory = paper_code.inventory(status)
    return "\n".join([TOP, MADE, inventory, *sections, paper_code.without_data()])


def summary(text):
    """Return the page of the docs, from the file: how many lines have which word."""
    counts = paper_code.counts_of_words(text)
    words = paper_code.WORDS
    same, within, differs, *_ = (sum(of[word] for of in counts.values()) for word in words)
    not_known = [item for item in paper_code.INVENTORY if item.unknown]
    return filled(
        Path(__file__).with_name("replication_summary"),
        all=same + within + differs,
        same=same,
        within=within,
        differs=differs,
        counts=table(
            ["paper", *words],
            [[paper, *(of[word] or "–" for word in words)] for paper, of in counts.items()],
        ),
        legend=paper_code.LEGEND,
        open=table(
            ["paper", "where", "what", "why"], [[*item[:3], item.why] for item in not_known]
        ),
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write all rows, and the page")
    parser.add_argument("--refresh", action="store_true", help="the same, but not the slow rows")
    options = parser.parse_args()
    if not (options.write or options.refresh):
        print(markdown(tables(slow=False)))
        return
    before = TABLES.read_text(encoding="utf-8") if options.refresh else ""
    text = markdown(tables(slow=not options.refresh), before)
    TABLES.write_text(text, encoding="utf-8")
    PAGE.write_text(summary(text), encoding="utf-8")
    PAGE.with_name("papers.md").write_text(paper_code.paper_code(text), encoding="utf-8")


if __name__ == "__main__":
    main()
