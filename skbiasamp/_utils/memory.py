"""Memory that was freed, given back to the system."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

_MANY_ROWS = 100_000  # rows whose arrays are worth the time


def give_back_memory(n_rows: float) -> None:
    """Give freed memory back to the system, after a step that took arrays of many rows.

    glibc keeps it for later arrays, which seldom fit into the gaps: a process would grow with each
    step.
    """
    if n_rows >= _MANY_ROWS and (trim := _trim()) is not None:
        trim(0)


@cache
def _trim() -> Any:
    try:
        return ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):  # another system than Linux, or another libc
        return None
