"""Work side by side, under the settings of scikit-learn that the caller has."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from joblib import Parallel, delayed
from sklearn import config_context, get_config

from skbiasamp._progress import progress


def side_by_side(
    function: Callable[..., Any],
    calls: Iterable[tuple[Any, ...]],
    *,
    n_jobs: int | None,
    what: str,
    total: int,
    each: int = 1,
    verbose: int = 0,
) -> list[Any]:
    """Return what a function gives for each call's arguments, in their order.

    As scikit-learn's `Parallel`, which sets the warning filters of the whole process in each call:
    of calls that overlap in threads, one would leave its filters behind. Progress counts `total`
    of `what`, `each` in a call.
    """
    config, parallel = get_config(), Parallel(n_jobs=n_jobs)

    def done() -> int:
        return each * int(getattr(parallel, "n_completed_tasks", 0))

    with progress(what, total, done=done, verbose=verbose):
        return list(
            parallel(delayed(_configured)(config, function, *arguments) for arguments in calls)
        )


def _configured(config: dict[str, Any], function: Callable[..., Any], *arguments: Any) -> Any:
    with config_context(**config):
        return function(*arguments)
