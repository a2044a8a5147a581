"""Processes with a limit on their memory: what a file holds cannot take the whole machine."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path

_LEAST = 2 << 30  # bytes that any process may use, whatever its files
_PER_BYTE = 10
_EVERY = 0.1  # seconds between two looks at the memory


class MemoryLimitError(MemoryError):
    """A process was ended since it used more memory than allowed."""


def memory_for(size: int) -> int:
    """Return how many bytes a process may use for files of a size."""
    return _LEAST + _PER_BYTE * size


class LimitedProcess:
    """A Python process in a folder; ended when it uses too much memory, or by `cancel`."""

    def __init__(self, arguments: list[str], folder: Path, memory: int) -> None:
        self.arguments, self.folder, self.memory = arguments, folder, memory
        self._process: asyncio.subprocess.Process | None = None

    async def run(self, read_error: Callable[[str], None] = lambda text: None) -> tuple[int, bytes]:
        """Run it, and return its exit code and output; `read_error` gets its standard error."""
        self._process = process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",  # no module is imported from the folder
            *self.arguments,
            cwd=self.folder,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=os.environ | {"SKBIASAMP_PROGRESS": "1", "COLUMNS": "200"},
        )
        assert process.stdout is not None
        assert process.stderr is not None
        watch = asyncio.create_task(self._watch(process))
        try:
            output = asyncio.create_task(process.stdout.read())
            while text := await process.stderr.read(4096):
                read_error(text.decode(errors="replace"))
            code = await process.wait()
            if watch.done() and await watch:
                raise MemoryLimitError
            return code, await output
        finally:
            watch.cancel()
            self.cancel()

    async def _watch(self, process: asyncio.subprocess.Process) -> bool:
        """End the process if it uses too much memory; where the system does not say, never."""
        status = Path(f"/proc/{process.pid}/statm")
        while process.returncode is None and status.exists():
            try:
                pages = int(status.read_text().split()[1])
            except (OSError, IndexError):  # it has just ended
                break
            if pages * os.sysconf("SC_PAGE_SIZE") > self.memory:
                process.kill()
                return True
            await asyncio.sleep(_EVERY)
        return False

    def cancel(self) -> None:
        """End the process if it runs."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
