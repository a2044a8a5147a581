"""Old addresses of pages lead to where their content is now, and tables of benchmarks to files."""

import re
from pathlib import Path
from posixpath import dirname, relpath

TABLE = re.compile(r"\]\((\.\./benchmarks/results/[\w-]+\.md)\)")

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Moved</title>
<meta http-equiv="refresh" content="0; url={new}"></head>
<body><a href="{new}">This page has moved.</a></body></html>
"""


def write(app, exception):
    if exception is None and app.builder.format == "html":
        for old, new in app.config.redirects.items():
            page, _, place = new.partition("#")
            address = relpath(f"{page}.html", dirname(old) or ".") + (place and f"#{place}")
            (Path(app.outdir) / f"{old}.html").write_text(PAGE.format(new=address), "utf-8")


def link(app, docname, source):
    source[0] = TABLE.sub(r"](path:\1)", source[0])  # a file to download, not a page


def setup(app):
    app.add_config_value("redirects", {}, "")
    app.connect("build-finished", write)
    app.connect("source-read", link)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
