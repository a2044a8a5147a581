"""The command line: ``audit``, ``compare`` and ``over`` of files, ``demo`` of embedded data."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : list of str, optional
        The arguments; by default those of the process.

    Returns
    -------
    code : int
        0 if the report was made and passed its gate, 1 if it failed (outside ``--limit``, above
        ``--fail-above``, a reversed association, or an alarm of ``over``), 2 if the input was bad
        or there is no result to check, 3 if the gate is inconclusive, 130 if it was interrupted.
    """
    try:
        # Imported here, since that takes a while and may be interrupted too.
        from skbiasamp.cli._command import run_command

        return run_command(arguments)
    except KeyboardInterrupt:
        # A bar that the interrupt left would be wiped after the last line.
        end = getattr(sys.modules.get("skbiasamp._utils.progress"), "end", None)
        if end is not None:
            end()
        if sys.stderr is not None:
            print("skbiasamp: interrupted", file=sys.stderr)
        return 130  # what a shell says of a command that SIGINT ended
