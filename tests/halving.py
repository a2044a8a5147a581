"""Two groups for scikit-learn's estimator checks, whose X has no column for them."""

import numpy as np


class Halves:
    """Tell two groups apart by position. Its name is no address: workers collect one list."""

    def __call__(self, X):
        n = X.shape[0] if hasattr(X, "shape") else np.asarray(X).shape[0]
        return np.arange(n) % 2

    def __repr__(self):
        return "halves"

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        return "halves"


halves = Halves()
