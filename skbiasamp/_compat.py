"""Everything taken from scikit-learn that is not part of its public API."""

from collections.abc import Callable
from typing import Any, TypeVar

from sklearn.utils import _safe_indexing as take_rows
from sklearn.utils._param_validation import (
    HasMethods,
    Interval,
    Options,
    StrOptions,
    validate_parameter_constraints,
)
from sklearn.utils._param_validation import validate_params as _validate_params
from sklearn.utils.validation import _check_method_params as check_method_params
from sklearn.utils.validation import _check_sample_weight as check_sample_weight

__all__ = [
    "HasMethods",
    "Interval",
    "Options",
    "StrOptions",
    "check_method_params",
    "check_sample_weight",
    "take_rows",
    "validate_parameter_constraints",
    "validate_params",
]

Function = TypeVar("Function", bound=Callable[..., Any])


def validate_params(constraints: dict[str, Any]) -> Callable[[Function], Function]:
    """Check parameters of a function as estimators check theirs."""
    made: Callable[[Function], Function] = _validate_params(
        constraints, prefer_skip_nested_validation=False
    )
    return made
