"""Python processes whose memory is limited."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import Callable
from pathlib import Path

from skbiasamp.app.files import RefusedError

_LEAST = 2 << 30  # bytes that any process may use, whatever its files
_PER_BYTE = 10
_EVERY = 0.1  # seconds between two looks at the memory


async def run_python(
    arguments: list[str], folder: Path, size: int, read: Callable[[str], None], record: str = "-"
) -> int:
    """Run Python in a folder, with memory for files of a size, and return its exit code.

    What it prints goes to `read` as it comes, and a report that it makes holds the `record`. If the
    caller is cancelled, the process ends.
    """
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-W", "ignore"),  # -P: no module is imported from the folder
        *arguments,
        cwd=folder,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env=os.environ | {"SKBIASAMP_PROGRESS": "1", "SKBIASAMP_APP": record, "COLUMNS": "200"},
    )
    most = _LEAST + _PER_BYTE * size
    watch = asyncio.create_task(_end_if_above(process, most))
    try:
        while process.stdout and (part := await process.stdout.read(4096)):
            read(part.decode(errors="replace"))
        code = await process.wait()
        if await watch:
            text = f"This needs more than {most / 2**30:.1f} GB of memory, and was stopped."
            raise RefusedError(text)
        return code
    finally:
        watch.cancel()
        if process.returncode is None:
            process.kill()
            await process.wait()  # until then it may write


async def _end_if_above(process: asyncio.subprocess.Process, most: int) -> bool:
    """End a process once it uses too much memory; where the system does not say it, never."""
    with contextlib.suppress(OSError):  # it has ended
        while process.returncode is None:
            pages = Path(f"/proc/{process.pid}/statm").read_text().split()
            if int(pages[1]) * os.sysconf("SC_PAGE_SIZE") > most:
                process.kill()
                return True
            await asyncio.sleep(_EVERY)
    return False
