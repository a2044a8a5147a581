"""What takes long: bars of progress, jobs side by side, callbacks of scikit-learn.

What takes longer than two seconds says how far it is, to a person at a terminal.

tqdm draws the bars. In a script whose output goes to a file, in a thread or in a worker process
there are none. ``SKBIASAMP_PROGRESS=0`` turns them off; with ``1``, there are bars in a file too.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar

from joblib import Parallel, delayed
from sklearn import config_context, get_config
from sklearn.base import BaseEstimator, clone
from threadpoolctl import ThreadpoolController

from skbiasamp._utils.formatting import name_of

WAIT = 2.0  # seconds before something is shown
EVERY = 0.1  # seconds between two changes
_EVERY_IN_LOGS = 10.0
_SWITCH = "SKBIASAMP_PROGRESS"
T = TypeVar("T")
_MANY_ROWS = 100_000  # rows whose arrays are worth the time


@dataclass(eq=False)
class Step:
    """Something that is being done, and how far it is.

    It is shown when it is `due`. `done` is called with how many more are done.
    """

    what: str
    total: int | None
    due: float
    n: int = 0
    done: Callable[[int], None] = lambda n: None
    _bar: Any = field(default=None, init=False)

    def advance(self, n: int = 1) -> None:
        """Note that `n` more are done."""
        self.advance_to(self.n + n)

    def advance_to(self, n: int) -> None:
        """Note that `n` are done."""
        self.done(n - self.n)
        self.n = n
        if self in _steps:
            for step in _steps:
                step.show()

    def parts(self, sizes: Iterable[int]) -> Iterator[int]:
        """Yield the sizes of parts of the total, each of which is done when the next is asked."""
        for size in sizes:
            yield size
            self.advance(size)

    def show(self) -> None:
        """Show how far it is, if it has taken long enough."""
        if self._bar is None:
            if time.monotonic() < self.due:
                return
            log = not _is_screen()
            self._bar = _bar_of_tqdm()(
                desc=name_of(self.what),
                total=self.total,
                initial=self.n,
                file=sys.stderr,
                leave=log,
                dynamic_ncols=True,
                mininterval=_EVERY_IN_LOGS if log else EVERY,
                miniters=0,
                smoothing=0,
                # Also without a bar, of no characters, tqdm cuts what is too long for the terminal.
                bar_format="{desc} [{elapsed}]{bar:0}" if self.total is None else None,
            )
        self._bar.update(self.n - self._bar.n)

    def clear(self) -> None:
        """Take the bar away, until it is drawn again."""
        if self._bar is not None:
            self._bar.clear()

    def close(self) -> None:
        """Take the bar away for good."""
        if self._bar is not None:
            self._bar.close()


# Those that are shown, all of the main thread, the outermost first.
_steps: list[Step] = []


@contextmanager
def progress(
    what: str, total: int | None = None, *, verbose: int = 0, wait: float | None = None
) -> Iterator[Step]:
    """Show what is being done until it is, below what it is a part of.

    `Step.advance` tells how many of `total` are done. With `verbose` this is shown at once, and
    also in a log. `wait` is in seconds, `WAIT` by default.
    """
    wait = WAIT if wait is None else wait
    due = time.monotonic() + (0.0 if verbose else wait)
    step, depth = Step(what, None if total == 1 else total, due), len(_steps)
    # Whether a person looks at this process's output, or asked for it.
    is_wanted = (
        os.environ.get(_SWITCH) != "0"
        and threading.current_thread() is threading.main_thread()
        and multiprocessing.parent_process() is None
        and sys.stderr is not None
        and (bool(verbose) or _is_screen())
    )
    if not is_wanted:
        yield step
        return
    _steps.append(step)
    try:
        step.advance(0)
        yield step
    finally:
        # Also what was left by an error, whose traceback keeps its generator alive.
        for left in reversed(_steps[depth:]):
            left.close()
        del _steps[depth:]


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
    """Take the bars away, before something else is printed."""
    for step in _steps:
        step.clear()


def end() -> None:
    """Take all bars away for good, also those that an interrupt has left."""
    for step in reversed(_steps):
        step.close()
    _steps.clear()


def _is_screen() -> bool:
    if os.environ.get(_SWITCH) == "1":
        return True
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if getattr(shell, "kernel", None) is not None:
        return True  # a notebook
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):  # something else than a stream, or a closed one
        return False


@cache
def _bar_of_tqdm() -> Any:
    """Return tqdm's bar for a terminal or a notebook: an import of a tenth of a second."""
    from tqdm.auto import tqdm

    class Bar(tqdm):
        monitor_interval = 0  # no thread that looks at the bars

    # Its own lock is shared by processes, and would settle how they are started.
    Bar.set_lock(threading.RLock())
    return Bar


# --------------------------------------------------------------------------- side by side


def side_by_side(
    function: Callable[..., Any],
    calls: Iterable[tuple[Any, ...]],
    *,
    n_jobs: int | None,
    what: str = "",
    total: int | None = None,
    verbose: int = 0,
    step: Step | None = None,
) -> list[Any]:
    """Return what a function gives for each call's arguments, in their order.

    As scikit-learn's `Parallel`, which sets the warning filters of the whole process in each call:
    of calls that overlap in threads, one would leave its filters behind. Progress counts `total`
    of `what`; or goes on counting a `step`.
    """
    config = get_config()
    with nullcontext(step) if step else progress(what, total, verbose=verbose) as counted:
        parallel = _Counted(n_jobs=n_jobs)
        parallel.step, parallel.start = counted, counted.n
        return list(
            parallel(delayed(_configured)(config, function, *arguments) for arguments in calls)
        )


class _Counted(Parallel):
    """Calls that are counted when they are done."""

    step: Step
    start: int

    def print_progress(self) -> None:
        """Show progress; joblib calls this after each task or batch."""
        self.step.advance_to(self.start + self.n_completed_tasks)


def _configured(config: dict[str, Any], function: Callable[..., Any], *arguments: Any) -> Any:
    with config_context(**config):
        return function(*arguments)


@cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()  # which looks through all that is loaded


def one_blas_thread() -> AbstractContextManager[Any]:
    """Let linear algebra run in one thread.

    Threads that share many small products mostly wait: two made a logistic regression on 66 columns
    six times slower. Only in the main thread: the limit is the process's, and of threads that train
    side by side one would leave it behind.
    """
    if threading.current_thread() is not threading.main_thread():
        return nullcontext()
    return _libraries().limit(limits=1, user_api="blas")


# --------------------------------------------------------------------------- callbacks


def _of(estimator: Any) -> list[Any]:
    """Return the callbacks of an estimator that follow what is inside it, too."""
    own = getattr(estimator, "_skl_callbacks", ())
    return [callback for callback in own if hasattr(callback, "max_propagation_depth")]


def without_callbacks(estimator: Any) -> Any:
    """Return a clone without these callbacks, or the estimator if it has none."""
    if isinstance(estimator, type) or not (callbacks := _of(estimator)):
        return estimator
    others = [each for each in estimator._skl_callbacks if each not in callbacks]
    return clone(estimator).set_callbacks(*others)


def follow(name: str, estimator: Any, total: int, run: Callable[..., T]) -> T:
    """Return what `run` returns, and let these callbacks follow it.

    `run` gets the function ``done``, to call with the number of tasks that are done, of `total`.
    """
    if not (callbacks := _of(estimator)):
        return run()
    from sklearn.callback import CallbackSupportMixin, with_callbacks

    class Whole(CallbackSupportMixin, BaseEstimator):
        def fit(self) -> T:
            how: dict[str, Any] = {"task_name": "all", "max_subtasks": total}
            context = self._init_callback_context(**how).call_on_fit_task_begin(estimator=self)

            def done(n: int) -> None:
                for _ in range(n):
                    task = context.subcontext(task_name="task")
                    task.call_on_fit_task_begin(estimator=self)
                    task.call_on_fit_task_end(estimator=self)

            result = run(done=done)
            context.call_on_fit_task_end(estimator=self)
            return result

    Whole.__name__ = name  # as callbacks show it
    result: T = with_callbacks(Whole.fit)(Whole().set_callbacks(*callbacks))
    return result


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
