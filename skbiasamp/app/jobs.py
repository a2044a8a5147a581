"""Audits that run as commands: they can be cancelled, and say how far they are."""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import time
from pathlib import Path
from typing import Any

from skbiasamp.app.files import StoredFile
from skbiasamp.app.processes import LimitedProcess, MemoryLimitError, memory_for

_MOST_ERROR = 20_000  # characters of standard error that are kept
_WITH_REPORT = (0, 1, 3)  # exit codes
_PROGRESS = re.compile(r"\s*(.+?)(?:: +(\d+)%\|.*| \[[\d:]+\])\s*")
_LINES = re.compile(r"(?:[\r\n]|\x1b\[A)+")  # bars are drawn one above the other
_ERROR = re.compile(r"skbiasamp(?: \w+: error)?: (.+)")


class Job:
    """An audit of some files, from its start to its end."""

    def __init__(
        self, arguments: list[str], files: dict[str, StoredFile], folder: Path
    ) -> None:
        self.id = secrets.token_urlsafe(12)
        self.files, self.folder = files, folder / self.id
        self.state, self.text, self.percent = "waiting", "Waiting for another audit", 0
        self.field = ""  # of the page, that an error is about
        memory = memory_for(sum(file.size for file in files.values()))
        self._process = LimitedProcess(["-m", "skbiasamp", *arguments], self.folder, memory)
        self._error = ""
        self._begun = time.monotonic()
        self._seconds = 0.0

    @property
    def is_over(self) -> bool:
        """Whether it has ended, in whatever way."""
        return self.state in ("done", "failed", "cancelled")

    def described(self) -> dict[str, Any]:
        """Return what the page shows of it."""
        seconds = self._seconds if self.is_over else time.monotonic() - self._begun
        known = {"state": self.state, "text": self.text, "percent": self.percent}
        known |= {"field": self.field}
        return known | {"seconds": round(seconds, 1)}

    async def run(self, turns: asyncio.Semaphore) -> None:
        """Run the command in a folder with its files, which have the names that it uses."""
        try:
            async with turns:
                if self.is_over:  # cancelled while it waited
                    return
                self.folder.mkdir(mode=0o700)
                for name, file in self.files.items():
                    os.link(file.path, self.folder / name)
                self.state, self.text = "running", "Starting"
                code, _ = await self._process.run(self._read)
                if not self.is_over:
                    self.state, self.text = self._outcome(code)
        except MemoryLimitError:
            gigabytes = self._process.memory / 2**30
            text = f"The audit was stopped: it needed more than {gigabytes:.1f} GB of memory."
            self.state, self.text = "failed", text
        except OSError as error:
            self.state, self.text = "failed", f"The audit cannot run: {error.strerror}."
        finally:
            self._seconds = time.monotonic() - self._begun

    def cancel(self) -> None:
        """End the audit, unless it is over."""
        if not self.is_over:
            self.state, self.text = "cancelled", "Cancelled. Nothing that you chose is lost."
            self._process.cancel()

    def _read(self, text: str) -> None:
        """Read progress and errors."""
        self._error = (self._error + text)[-_MOST_ERROR:]
        for part in _LINES.split(text):
            if progress := _PROGRESS.fullmatch(part):
                self.text, self.percent = progress[1], int(progress[2] or 0)

    def _outcome(self, code: int) -> tuple[str, str]:
        if code in _WITH_REPORT and (self.folder / "report.html").exists():
            return "done", "The report is ready."
        errors = _ERROR.findall(self._error)
        return "failed", errors[-1] if errors else f"The audit ended without a result (code {code})."
