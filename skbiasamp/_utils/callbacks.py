"""scikit-learn's callbacks (1.9): those of an estimator follow what is done with its clones.

A callback that follows an estimator and those inside it, as `sklearn.callback.ProgressBar` does,
would be set up for each of many trainings. It is set up once, for all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from sklearn.base import BaseEstimator, clone

T = TypeVar("T")


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
