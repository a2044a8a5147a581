"""Work side by side, under the settings of scikit-learn that the caller has."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from joblib import Parallel, delayed
from sklearn import config_context, get_config


def side_by_side(
    function: Callable[..., Any],
    calls: Iterable[tuple[Any, ...]],
    *,
    n_jobs: int | None,
    return_as: str = "list",
) -> Any:
    """Return what a function gives for each call's arguments, in their order.

    As scikit-learn's `Parallel`, which sets the warning filters of the whole process in each call:
    of calls that overlap in threads, one would leave its filters behind.
    """
    config = get_config()
    return Parallel(n_jobs=n_jobs, return_as=return_as)(
        delayed(_configured)(config, function, *arguments) for arguments in calls
    )


def _configured(config: dict[str, Any], function: Callable[..., Any], *arguments: Any) -> Any:
    with config_context(**config):
        return function(*arguments)


def with_progress(items: Iterable[Any], description: str, total: int) -> Iterable[Any]:
    """Show a progress bar while looping over items, for verbose=1."""
    try:
        from rich.progress import track
    except ImportError as error:
        raise ImportError("verbose=1 needs rich: pip install 'skbiasamp[cli]'") from error
    return track(items, description, total=total)
