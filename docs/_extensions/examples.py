"""Code as the reader needs it: doctest wants an empty line before a closing fence, readers do not."""

from docutils import nodes


def strip(app, doctree):
    for block in doctree.findall(nodes.literal_block):
        if block.rawsource == block.astext():
            code = block.astext().rstrip()
            block.rawsource, block.children = code, [nodes.Text(code)]


def setup(app):
    app.connect("doctree-read", strip)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
