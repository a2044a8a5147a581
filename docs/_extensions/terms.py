"""The first use of a word of the glossary on a page leads there, and shows its meaning on hover."""

import re

from docutils import nodes

# Pages whose words are of a glossary already, or that are made of code.
SKIPPED = re.compile(r"glossary|changelog|findings|api|generated/|auto_examples/")
# Words that also mean something else in every second sentence.
COMMON = {"change", "direction", "sign"}
# What has a look of its own.
KEPT = nodes.title, nodes.reference, nodes.literal, nodes.literal_block, nodes.math, nodes.image


def meanings(app):
    """Return the id and the meaning of each term, the longest terms first."""
    glossary = app.env.get_doctree("glossary")
    found = {}
    for item in glossary.findall(nodes.definition_list_item):
        term, definition = item.children[0], item.children[-1]
        if term.astext() not in COMMON:
            found[term.astext()] = term["ids"][0], " ".join(definition.astext().split())
    return dict(sorted(found.items(), key=lambda entry: -len(entry[0])))


def link(app, doctree, docname):
    if app.builder.format != "html" or SKIPPED.match(docname):
        return
    terms = app.env.skbiasamp_terms = getattr(app.env, "skbiasamp_terms", None) or meanings(app)
    for term, (place, meaning) in terms.items():
        word = re.compile(rf"(?<![\w-]){re.escape(term)}s?(?![\w-])", re.IGNORECASE)
        for paragraph in doctree.findall(nodes.paragraph):
            if _link_first(paragraph, word, app.builder.get_relative_uri(docname, "glossary"),
                           place, meaning):  # fmt: skip
                break


def _link_first(paragraph, word, page, place, meaning):
    """Make the first use of a word in a paragraph a link, and say whether there is one."""
    for text in paragraph.findall(nodes.Text):
        match = word.search(text)
        if match is None or _is_kept(text):
            continue
        whole = text.astext()
        reference = nodes.reference("", match[0], refuri=f"{page}#{place}", reftitle=meaning)
        reference["internal"], reference["classes"] = True, ["term"]
        parts = [nodes.Text(whole[: match.start()]), reference, nodes.Text(whole[match.end() :])]
        text.parent.replace(text, parts)
        return True
    return False


def _is_kept(text):
    parent = text.parent
    while parent is not None:
        if isinstance(parent, KEPT):
            return True
        parent = parent.parent
    return False


def setup(app):
    app.connect("doctree-resolved", link)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
