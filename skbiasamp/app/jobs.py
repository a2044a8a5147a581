"""Audits that run as commands: they can be cancelled, and say how far they are."""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from skbiasamp.app.files import RefusedError, StoredFile
from skbiasamp.app.processes import run_python

_MOST_OUTPUT = 20_000  # characters that are kept
_WITH_REPORT = (0, 1, 3)  # exit codes
_LINES = re.compile(r"(?:[\r\n]|\x1b\[A)+")  # bars are drawn one above the other
_PROGRESS = re.compile(r"\s*(.+?)(?:: +(\d+)%\|.*| \[[\d:]+\])\s*")
_ERROR = re.compile(r"^skbiasamp(?: \w+: error)?: (.+)", re.MULTILINE)


class Job:
    """A run of Python with its files, from its start to its end."""

    def __init__(self, arguments: list[str], files: dict[str, StoredFile], folder: Path) -> None:
        self.id, self.record = secrets.token_urlsafe(12), ""
        self.arguments, self.files, self.folder = arguments, files, folder / self.id
        self.state, self.text, self.percent = "waiting", "Waiting for another audit", 0
        self._output, self._begun = "", time.monotonic()

    def describe(self) -> dict[str, Any]:
        """Return what the page shows of it."""
        known = {"state": self.state, "text": self.text, "percent": self.percent}
        return known | {"seconds": time.monotonic() - self._begun}

    def start(self, turns: asyncio.Semaphore, record: str, when_done: Callable[[], object]) -> None:
        """Run the command when it is its turn; the report holds the record."""
        self.record = record
        self._task = asyncio.create_task(self._run(turns, when_done))

    async def end(self) -> None:
        """End the audit, unless it is over."""
        self._task.cancel()
        await asyncio.wait([self._task])

    async def _run(self, turns: asyncio.Semaphore, when_done: Callable[[], object]) -> None:
        """Run the command in a folder with its files, which have the names that it uses."""
        try:
            async with turns:
                self.folder.mkdir(mode=0o700)
                for name, file in self.files.items():
                    os.link(file.path, self.folder / name)
                self.state, self.text = "running", "Starting"
                size = sum(file.size for file in self.files.values())
                code = await run_python(self.arguments, self.folder, size, self._read, self.record)
            if code in _WITH_REPORT:
                self.state, self.text = "done", "Done"
                when_done()
            else:
                errors = _ERROR.findall(self._output) or [f"It ended without a result ({code})."]
                self.state, self.text = "failed", errors[-1]
        except asyncio.CancelledError:
            self.state, self.text = "cancelled", "Cancelled. Nothing that you chose is lost."
        except (OSError, RefusedError) as error:
            self.state, self.text = "failed", str(error)

    def _read(self, text: str) -> None:
        """Read progress and errors."""
        self._output = (self._output + text)[-_MOST_OUTPUT:]
        for part in _LINES.split(text):
            if progress := _PROGRESS.fullmatch(part):
                self.text, self.percent = progress[1], int(progress[2] or 0)
