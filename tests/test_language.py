"""User-facing text uses the words of the field, and one word for one thing."""

import ast
import io
import re
import tokenize
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


def text_of_page(path):
    """Yield the text of a page, without the code between backticks."""
    text = path.read_text("utf-8")
    yield 1, re.sub(r"`[^`\n]*`", lambda code: " " * len(code[0]), text)


def text_of_module(path):
    """Yield docstrings and other strings of a module, each with the number of its line."""
    tree = ast.parse(path.read_text("utf-8"))
    inside = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for part in node.values
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts = (one.value if isinstance(one, ast.Constant) else "{}" for one in node.values)
            yield node.lineno, "".join(map(str, parts))
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in inside
        ):
            yield node.lineno, re.sub(r"``?[^`\n]*``?", "", node.value)


def text_of_example(path):
    """Yield the comments and strings of an example."""
    yield from text_of_module(path)
    lines = tokenize.generate_tokens(io.StringIO(path.read_text("utf-8")).readline)
    comments = {one.start[0]: one.string for one in lines if one.type == tokenize.COMMENT}
    for line, comment in comments.items():
        # A sentence may go on in the next comment.
        yield line, f"{comment} {comments.get(line + 1, '')}".replace("# ", "")


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


@pytest.mark.parametrize(
    ("paths", "text_of"),
    [
        pytest.param(PAGES + TEMPLATES, text_of_page, id="pages"),
        pytest.param(MODULES, text_of_module, id="modules"),
        pytest.param(EXAMPLES, text_of_example, id="examples"),
    ],
)
def test_texts_use_the_words_of_the_glossary(paths, text_of):
    assert paths
    assert not [place for path in paths for place in found_in(path, text_of(path))]


def test_directions_are_spelled_out_at_first_use():
    for path in PAGES:
        text = path.read_text("utf-8")
        for short, long in {"A→T": "group → task", "T→A": "task → group"}.items():
            before, found, after = text.partition(short)
            # The tables of a benchmark stand above its text.
            shown = text if path.name.startswith("benchmarks") else before + after[:60]
            words = " ".join(shown.lower().split())
            assert not found or long in words, f"{path.name}: {short} without {long!r}"


def test_the_check_finds_what_it_should_and_says_what_to_write():
    before = [
        "Do predictions tell more of the attribute than labels as good?",
        "their sign could be a coin's",
        "How well it is told by who sees nothing.",
        "The predictions are 8.75 points further apart.",
    ]
    assert all(found_in(ROOT / "README.md", [(1, text)]) for text in before)
    after = [
        "Do the predictions reveal the group better than equally accurate labels would?",
        "No clear effect: the 95 % confidence interval includes 0.",
        "The predictions are 8.75 percentage points further apart.",
    ]
    assert not found_in(ROOT / "README.md", enumerate(after))
    found = found_in(ROOT / "README.md", [(7, "Now the\ninterval\nholds 0.")])
    assert found == ["README.md:9: 'holds 0'; write: the confidence interval includes 0"]


# Variables, arguments and functions called so do not say what they hold.
VAGUE = {"one", "found", "seen"}


def vague_names(code):
    """Yield the line of each name that code gives to something without saying what it holds."""
    for node in ast.walk(ast.parse(code)):
        match node:
            case ast.Name(name, ast.Store()) | ast.arg(name) | ast.FunctionDef(name):
                words = set(name.replace("held_out", "").split("_"))
                if name in VAGUE or {"held", "told", "said"} & words:
                    yield node.lineno, name


def test_names_say_what_they_hold():
    assert [*vague_names("def is_told(one): found = label = 1")] == [
        (1, "is_told"), (1, "one"), (1, "found"),
    ]  # fmt: skip
    places = (
        (path.name, name) for path in MODULES for name in vague_names(path.read_text("utf-8"))
    )
    assert not list(places)
