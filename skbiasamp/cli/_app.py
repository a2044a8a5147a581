"""``skbiasamp app``: a page on this machine for audits of files."""

from __future__ import annotations

import argparse
from typing import Any

from skbiasamp.cli._options import add_command


def add_app(commands: Any) -> None:
    """Add the command to the parser."""
    add_command(commands, "app", _app, "--port --no-browser --max-size")


def _app(options: argparse.Namespace) -> int:
    """Audit files in a browser, without Python.

    Open a page on this machine. Drop a CSV or Parquet file into it, say what its
    columns are, and get the report of skbiasamp audit or compare, with the command
    that makes it again. Only programs of this machine can reach the page, with an
    address that is new each time. Ctrl-C ends the app and deletes its files.

    for example:
      skbiasamp app
      skbiasamp app --no-browser --port 8000
    """
    try:
        from skbiasamp.app.server import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("starlette", "uvicorn"):
            raise
        needs = "skbiasamp app needs starlette and uvicorn: pip install 'skbiasamp[app]'"
        raise ImportError(needs) from error
    serve(options.port, browser=not options.no_browser, max_size=options.max_size << 20)
    return 0
