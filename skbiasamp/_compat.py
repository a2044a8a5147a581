"""Everything taken from scikit-learn that is not part of its public API."""

from sklearn.utils._param_validation import Interval, StrOptions

__all__ = ["Interval", "StrOptions"]
