"""The parser of the command line."""

from __future__ import annotations

import argparse

import skbiasamp
from skbiasamp.cli._demo import add_demo
from skbiasamp.cli._over import add_over
from skbiasamp.cli._reports import add_audit, add_compare

_EXAMPLES = """\
examples:
  skbiasamp demo
  skbiasamp audit test.csv --target hired --prediction predicted --sensitive sex
  skbiasamp compare --help"""


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    whole = argparse.ArgumentParser(
        prog="skbiasamp",
        description=skbiasamp.__doc__,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    whole.add_argument("--version", action="version", version=f"%(prog)s {skbiasamp.__version__}")
    commands = whole.add_subparsers(
        dest="command",
        required=True,
        metavar="{audit,compare,over,demo}",
    )
    every = (add_audit, add_compare, add_over, add_demo)
    for add in every:
        add(commands)
    return whole
