"""Everything taken from scikit-learn that is not part of its public API."""

from sklearn.utils import _safe_indexing as take_rows
from sklearn.utils._param_validation import (
    HasMethods,
    Interval,
    StrOptions,
    validate_parameter_constraints,
)
from sklearn.utils.validation import _check_method_params as check_method_params
from sklearn.utils.validation import _check_sample_weight as check_sample_weight

__all__ = [
    "HasMethods",
    "Interval",
    "StrOptions",
    "check_method_params",
    "check_sample_weight",
    "take_rows",
    "validate_parameter_constraints",
]
