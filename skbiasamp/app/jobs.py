"""Audits that the page asks for: commands, in processes whose memory is limited.

They can be cancelled, and say how far they are.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import secrets
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skbiasamp.app.files import RefusedError, StoredFile

_MOST_OUTPUT = 20_000  # characters that are kept
_WITH_REPORT = (0, 1, 3)  # exit codes
_LINES = re.compile(r"(?:[\r\n]|\x1b\[A)+")  # bars are drawn one above the other
_PROGRESS = re.compile(r"\s*(.+?)(?:: +(\d+)%\|.*| \[[\d:]+\])\s*")
_ERROR = re.compile(r"^skbiasamp(?: \w+: error)?: (.+)", re.MULTILINE)
_LEAST = 2 << 30  # bytes that any process may use, whatever its files
_PER_BYTE = 10
_EVERY = 0.1  # seconds between two looks at the memory
OUTPUTS = {"html": "report.html", "json": "report.json", "markdown": "report.md"}
# Options that the page has fields for: it cannot ask for a file to be written elsewhere.
_OF_PAGE = {
    *("target", "prediction", "sensitive", "bins", "numeric", "threshold", "positive"),
    *("favourable", "missing", "groups", "limit", "weight", "cluster", "given", "score"),
    *("delimiter", "encoding", "decimal", "min-rows"),
}


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


@dataclass(frozen=True)
class Form:
    """Options of the command with their values, and names of files by their roles."""

    options: Mapping[str, list[str]]
    names: Mapping[str, str]

    def __post_init__(self) -> None:
        """Raise if a value would be read as an option, or an option is none of the page's."""
        for name, values in self.options.items():
            if name not in _OF_PAGE or not all(
                isinstance(v, str) and "\0" not in v for v in values
            ):
                raise RefusedError("The page and the app do not fit together: reload the page.")
            if len(values) > 1 and any(value.startswith("-") for value in values):
                text = f"--{name}: the name of a column begins with a hyphen. Rename it."
                raise RefusedError(text)

    @property
    def models(self) -> dict[str, str]:
        """The names of models that have a file each, by the role of the file."""
        if "other" not in self.names:
            return {}
        models = {role: Path(self.names[role]).stem for role in ("test", "other")}
        models = models if len({*models.values()}) == 2 else {role: role for role in models}
        return {role: re.sub("[=,]", "_", model) for role, model in models.items()}

    @property
    def verb(self) -> str:
        """The command: an audit of one model, or a comparison of two."""
        several = self.models or len(self.options.get("prediction", ())) > 1
        return "compare" if several else "audit"

    def arguments(self) -> list[str]:
        """Return the arguments of the command."""
        files = [f"{model}={self.names[role]}" for role, model in self.models.items()]
        arguments = [self.verb, *(files or [self.names["test"]])]
        if "train" in self.names:
            arguments += ["--train", self.names["train"]]
        for name, values in self.options.items():
            if name == "prediction" and self.verb == "compare":  # else "a=b" is a model's column
                values = [_quoted(value) for value in values]
            hyphen = len(values) == 1 and values[0].startswith("-")
            arguments += [f"--{name}={values[0]}"] if hyphen else [f"--{name}", *values]
        for kind, path in OUTPUTS.items():
            arguments += [f"--{kind}", path]
        return arguments


def _quoted(column: str) -> str:
    """Return a column's name so that the command reads it as one, as in a CSV file."""
    if not re.search('[=,"\r\n]', column):
        return column
    return '"{}"'.format(column.replace('"', '""'))
