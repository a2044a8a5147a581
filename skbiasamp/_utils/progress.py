"""Progress: what takes longer than two seconds says how far it is, to a person at a terminal.

A thread draws one line, and only on a terminal or in a notebook: in a script whose output goes to
a file, in a thread or in a worker process there is none. ``SKBIASAMP_PROGRESS=0`` turns it off.
"""

from __future__ import annotations

import contextvars
import multiprocessing
import os
import sys
import threading
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Protocol, TypeVar

from skbiasamp._utils.formatting import name_of

T = TypeVar("T")
WAIT, EVERY = 2.0, 0.25  # seconds before the first line, and between two
_EVERY_IN_LOGS = 10.0
_SWITCH = "SKBIASAMP_PROGRESS"


class Step:
    """Something that is being done, and how far it is."""

    def __init__(self, what: str, total: int | None, done: Callable[[], int] | None = None) -> None:
        self.what, self.total = what, total
        self._n, self._done = 0, done

    def advance(self, n: int = 1) -> None:
        """Note that `n` more are done."""
        self._n += n

    def past(self, one: T) -> T:
        """Return what was made, after noting that it is done."""
        self.advance()
        return one

    def parts(self, sizes: Iterable[int]) -> Iterator[int]:
        """Yield the sizes of parts of the total, each of which is done when the next is asked."""
        for size in sizes:
            yield size
            self.advance(size)

    def __str__(self) -> str:
        what = name_of(self.what)
        if self.total is None or self.total < 2:
            return what
        n = self._n if self._done is None else self._done()
        return f"{what} {min(n, self.total):,} of {self.total:,}"


# Of the main thread, the outermost first; other threads have none.
_steps: list[Step] = []
_line: _Line | None = None


@contextmanager
def progress(
    what: str,
    total: int | None = None,
    *,
    done: Callable[[], int] | None = None,
    verbose: int = 0,
) -> Iterator[Step]:
    """Show what is being done until it is, beside what it is a part of.

    `done` tells how many of `total` are done, unless `Step.advance` is called. With `verbose` the
    line is shown at once, and also in a log.
    """
    global _line
    step, depth = Step(what, total, done), len(_steps)
    screen = _screen(verbose=bool(verbose)) if depth == 0 else None
    if threading.current_thread() is not threading.main_thread() or not (depth or screen):
        yield step
        return
    _steps.append(step)
    try:
        if screen is not None:
            _line = _Line(screen, 0.0 if verbose else WAIT)
        yield step
    finally:
        # Also what was left by an error, whose traceback keeps its generator alive.
        del _steps[depth:]
        if screen is not None and _line is not None:
            _line.close()
            _line = None


@contextmanager
def interruptible() -> Iterator[None]:
    """Let an interrupted query be interrupted: DuckDB raises an error of its own."""
    try:
        yield
    except RuntimeError as error:
        if "Query interrupted" in str(error):
            raise KeyboardInterrupt from error
        raise


def advance(what: str) -> None:
    """Note that one more is done of what a caller counts, if one does."""
    for step in reversed(_steps):
        if step.what == what:
            step.advance()
            return


def clear() -> None:
    """Take the line away, before something else is printed."""
    if _line is not None:
        _line.erase()


class _Screen(Protocol):
    """Where a line is shown."""

    def show(self, text: str) -> None: ...
    def erase(self) -> None: ...


def _screen(*, verbose: bool) -> _Screen | None:
    """Return the terminal or notebook that a person looks at, or None."""
    if os.environ.get(_SWITCH) == "0" or multiprocessing.parent_process() is not None:
        return None
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if getattr(shell, "kernel", None) is not None:
        return _Notebook(ipython)
    stream = sys.stderr
    try:
        if stream is not None and stream.isatty():
            return _Terminal(stream)
    except (AttributeError, ValueError):  # something else than a stream, or a closed one
        return None
    return _Log(stream) if verbose and stream is not None else None


class _Line:
    """A line that a thread draws again and again, since work may not return for long."""

    def __init__(self, screen: _Screen, wait: float) -> None:
        self._screen, self._start = screen, time.monotonic()
        self._stop, self._lock = threading.Event(), threading.Lock()
        # A notebook finds the cell to write to by the context.
        run = contextvars.copy_context().run
        self._thread = threading.Thread(target=run, args=(self._draw, wait), daemon=True)
        self._thread.start()

    def _draw(self, wait: float) -> None:
        while not self._stop.wait(wait):
            text = ", ".join(map(str, list(_steps)))
            seconds = int(time.monotonic() - self._start)
            took = f"{seconds} s" if seconds < 100 else f"{seconds // 60} min"
            try:
                with self._lock:
                    self._screen.show(f"skbiasamp: {text} ({took})")
            except (OSError, ValueError):  # the terminal was closed
                return
            wait = EVERY

    def erase(self) -> None:
        with self._lock, suppress(OSError, ValueError):
            self._screen.erase()

    def close(self) -> None:
        self._stop.set()
        try:
            self._thread.join()
        finally:
            self.erase()


class _Terminal:
    """The last line of a terminal."""

    def __init__(self, stream: Any) -> None:
        self._stream, self._held = stream, 0

    def show(self, text: str) -> None:
        try:
            most = os.get_terminal_size(self._stream.fileno()).columns - 1
        except (AttributeError, OSError, ValueError):
            most = 79
        n_columns, shown = 0, ""
        for character in text:
            width = 2 if unicodedata.east_asian_width(character) in "WF" else 1
            if n_columns + width > most > 0:
                break
            n_columns, shown = n_columns + width, shown + character
        blank = " " * (self._held - n_columns)
        self._held = n_columns
        # Whatever else is printed then starts where the line does.
        self._stream.write(f"\r{shown}{blank}\r")
        self._stream.flush()

    def erase(self) -> None:
        if self._held:
            self._stream.write(f"\r{' ' * self._held}\r")
            self._stream.flush()
        self._held = 0


class _Notebook:
    """An output of the cell that runs, which is empty in the end."""

    def __init__(self, ipython: Any) -> None:
        self._display, self._handle = ipython.display.display, None

    def show(self, text: str) -> None:
        held = {"text/plain": text}
        if self._handle is None:
            self._handle = self._display(held, raw=True, display_id=True)
        else:
            self._handle.update(held, raw=True)

    def erase(self) -> None:
        if self._handle is not None:
            self.show("")


class _Log:
    """A file, where a line stays: few of them are written."""

    def __init__(self, stream: Any) -> None:
        self._stream, self._next = stream, 0.0

    def show(self, text: str) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + _EVERY_IN_LOGS
            self._stream.write(f"{text}\n")
            self._stream.flush()

    def erase(self) -> None:
        pass
