"""User-facing text uses the words of the field, and one word for one thing."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md"]
PAGES += sorted((ROOT / "docs").glob("*.md"))
TEMPLATES = sorted((ROOT / "skbiasamp").rglob("*.html"))
EXAMPLES = sorted((ROOT / "examples").rglob("*.py"))
EXAMPLES += sorted((ROOT / "benchmarks" / "papers").glob("*.py"))
MODULES = sorted((ROOT / "skbiasamp").rglob("*.py"))

# What to find, and what to write instead. A space also matches a line break.
WORDS = {
    r"protected (attribute|feature|group)s?": "sensitive feature, group",
    r"who (somebody|someone) is": "the group",
    r"(what|how well) .{0,40}(can be|is) told": "predicted",
    r"told (of|from|by|apart from)": "predicted from",
    r"tells? (more|less) (of|about)": "reveals more, reveals less",
    r"who (sees|attacks|knows|guesses)": "an attacker that sees",
    r"lean(s|ed)? (to|towards|nowhere)": "is associated with",
    r"leanings?": "association",
    r"go(es)? with (a|the|that|which|its) (group|task|attribute)": "is associated with",
    r"(hold|holds|held|holding) 0": "the confidence interval includes 0",
    r"(leave|leaves|left|leaving) (0|zero) out": "the confidence interval excludes 0",
    r"(hold|holds|held) the (true value|truth)": "includes the true value",
    r"coins?( toss|'s)?": "random; not statistically distinguishable from 0",
    r"may be chance": "no clear effect",
    r"anew": "again; resampled",
    r"(\d+|\}) points?": "percentage points",
    r"labels (that )?(the model|it) has (not )?seen": "training rows, test rows",
    r"labels (that are )?as good": "equally accurate random labels",
    r"with as many errors": "equally accurate random labels",
    r"remed(y|ies)": "mitigation",
    r"critics?": "adversary",
    r"floors?": "layer",
    r"(front )?doors?": "input validation",
    r"house rules?": "rules",
    r"rooms?": "layer, module; space",
    r"arenas?": "comparison",
    r"lessons?": "training data",
    r"yardsticks?": "what the value is compared with",
    r"how sure (a|the) (number|value|result) is": "confidence interval",
    r"told": "predicted; revealed",
    r"(is|are) said to": "is predicted to",
    r"lopsided": "unbalanced; associated with the group",
    r"(somebody|whoever)": "you; the caller",
    r"where there (is|are|was|were)": "if there is",
    r"where (it|they) (is|are|was|were) (given|missing|installed|undefined)": "if it is",
    r"false alarms?": "false positive",
    r"means? of sizes": "mean of absolute changes",
}
PATTERNS = {
    re.compile(rf"(?<!\w)(?:{words})(?!\w)".replace(" ", r"\s+"), re.IGNORECASE): say
    for words, say in WORDS.items()
}


def texts_of(path):
    """Yield what people read in a file, piece by piece, each with the number of its line."""
    text = path.read_text("utf-8")
    if path.suffix != ".py":
        yield 1, re.sub(r"`[^`\n]*`", lambda code: " " * len(code[0]), text)
        return
    nodes = [*ast.walk(ast.parse(text))]
    formatted = [node for node in nodes if isinstance(node, ast.JoinedStr)]
    inside = {id(part) for node in formatted for part in node.values}
    for node in formatted:
        parts = (getattr(part, "value", "") for part in node.values)
        yield node.lineno, "".join(part if isinstance(part, str) else "{}" for part in parts)
    for node in nodes:
        if id(node) not in inside and isinstance(getattr(node, "value", None), str):
            yield node.lineno, re.sub(r"``?[^`\n]*``?", "", node.value)
    if path in EXAMPLES:  # a sentence may go on in the next comment
        lines = text.splitlines()
        for line in range(1, len(lines)):
            yield line, " ".join(re.findall(r"# (.*)", "\n".join(lines[line - 1 : line + 1])))


def found_in(path, texts):
    return sorted(
        {
            f"{path.relative_to(ROOT)}:{line + text.count(chr(10), 0, one.start())}: "
            f"{' '.join(one[0].split())!r}; write: {say}"
            for line, text in texts
            for pattern, say in PATTERNS.items()
            for one in pattern.finditer(text)
        }
    )


@pytest.mark.parametrize("paths", [PAGES + TEMPLATES, MODULES, EXAMPLES], ids=len)
def test_texts_use_the_words_of_the_glossary(paths):
    assert not [place for path in paths for place in found_in(path, texts_of(path))]


def test_directions_are_spelled_out_at_first_use():
    for path in PAGES:
        text = path.read_text("utf-8")
        for short, long in {"A→T": "group → task", "T→A": "task → group"}.items():
            before, found, after = text.partition(short)
            # The tables of a benchmark stand above its text.
            shown = text if path.name.startswith("benchmarks") else before + after[:60]
            words = " ".join(shown.lower().split())
            assert not found or long in words, f"{path.name}: {short} without {long!r}"


def test_the_check_finds_what_it_should_and_says_what_to_write(tmp_path):
    assert not found_in(ROOT / "README.md", [(1, "The 95 % confidence interval includes 0.")])
    found = found_in(ROOT / "README.md", [(7, "Now the\ninterval\nholds 0, 8.75 points off.")])
    assert [one[:25] for one in found] == ["README.md:9: '75 points';", "README.md:9: 'holds 0'; w"]
    module = tmp_path / "module.py"
    module.write_text('"""A `coin` of words."""\nx = f"no {1} clear" + "effect"\n', "utf-8")
    assert {text for _, text in texts_of(module)} == {"A  of words.", "no {} clear", "effect"}
