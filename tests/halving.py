"""Two groups for scikit-learn's estimator checks, whose X has no column for them."""

import numpy as np


class Halves:
    """Tell two groups apart by position. Its name is no address: workers collect one list."""

    _name = "halves"

    def __call__(self, X):
        n = X.shape[0] if hasattr(X, "shape") else np.asarray(X).shape[0]
        return np.arange(n) % 2

    def __repr__(self):
        return self._name

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        return self._name


class Parity(Halves):
    """Tell them apart by their features: a row that moves or is repeated keeps its group."""

    _name = "parity"

    def __call__(self, X):
        X = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
        X = np.real(X).astype(float)
        X = np.where(np.isfinite(X), X, 0)
        # 3 decimals, so that it is the same of 32 bits.
        return np.round(X.sum(axis=1), 3) * 1000 // 7 % 2


halves, parity = Halves(), Parity()
