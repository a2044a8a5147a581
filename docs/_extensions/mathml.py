"""Formulas as MathML, which browsers draw by themselves: no script, no font, no network."""

import html
import re
from xml.etree import ElementTree

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml

NAMESPACE = "http://www.w3.org/1998/Math/MathML"
ElementTree.register_namespace("", NAMESPACE)


def convert(node, **options):
    """Return MathML in which a letter with a hat has its index beside it, not below."""
    written = tex2mathml(node.astext(), **options)
    # XML knows three of HTML's entities.
    written = re.sub(r"&(?!amp;|lt;|gt;)\w+;", lambda entity: html.unescape(entity[0]), written)
    tree = ElementTree.fromstring(written)
    for element in list(tree.iter(f"{{{NAMESPACE}}}munderover")):
        base, index, above = element
        if above.text == "\N{MODIFIER LETTER CIRCUMFLEX ACCENT}":
            hat = ElementTree.Element(f"{{{NAMESPACE}}}mover", accent="true")
            hat.extend([base, above])
            element.tag = f"{{{NAMESPACE}}}msub"
            element[:] = [hat, index]
    return ElementTree.tostring(tree, "unicode")


def inline(translator, node):
    translator.body.append(convert(node))
    raise nodes.SkipNode


def block(translator, node):
    translator.body.append(f'<div class="math-block">{convert(node, as_block=True)}</div>')
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
