"""Everything taken from scikit-learn that is not part of its public API."""

import sys
from collections.abc import Callable
from numbers import Integral
from typing import Any, TypeVar

from sklearn.utils import _param_validation as parameters
from sklearn.utils import _safe_indexing, _set_output, validation

Options, StrOptions = parameters.Options, parameters.StrOptions
validate_parameter_constraints = parameters.validate_parameter_constraints
take_rows, output_config = _safe_indexing, _set_output._get_output_config
check_method_params = validation._check_method_params
check_sample_weight = validation._check_sample_weight

Function = TypeVar("Function", bound=Callable[..., Any])


def validate_params(constraints: dict[str, Any]) -> Callable[[Function], Function]:
    """Check parameters of a function as estimators check theirs."""
    made: Callable[[Function], Function] = parameters.validate_params(
        constraints, prefer_skip_nested_validation=False
    )
    return made


def has_method(estimator: object, name: str) -> bool:
    """Return whether an estimator has a method, or gets it in `fit`."""
    try:
        return callable(getattr(estimator, name))
    except AttributeError as error:
        cause: BaseException = error
        while cause.__cause__ is not None:
            cause = cause.__cause__
        # A StackingClassifier that makes its final estimator in `fit` looks the method up on None.
        default = isinstance(cause, AttributeError) and cause.obj is None and cause.name == name
        return default and hasattr(type(estimator), name)


class Interval(parameters.Interval):
    """Constraint of a number.

    A fraction, True or False, a number too large for a float, and a whole one too large for what
    a system counts, are in no interval.
    """

    def __contains__(self, val: Any) -> bool:
        """Return whether a number is inside."""
        if isinstance(val, bool):
            return False
        most = 2**63 - 1 if self.type is Integral else sys.float_info.max
        try:
            return bool(-most <= val <= most and super().__contains__(val))
        except (TypeError, OverflowError):
            return False


# joblib knows no 0, and a system no more workers than fit into its numbers.
N_JOBS = [
    Interval(Integral, None, -1, closed="right"),
    Interval(Integral, 1, 2**15 - 1, closed="both"),
    None,
]


class HasMethods(parameters.HasMethods):
    """Constraint of a parameter: these methods, before or after `fit`."""

    def is_satisfied_by(self, val: object) -> bool:
        """Return whether a value has the methods."""
        return all(has_method(val, name) for name in self.methods)
