"""AmplificationParity: a constraint of Fairlearn that keeps the rates of the labels."""

from __future__ import annotations

from functools import cache
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from skbiasamp._input.options import keywords
from skbiasamp._utils.compat import Interval, validate_params


@keywords()
@validate_params({"difference_bound": [Interval(Real, 0, None, closed="left")]})
def AmplificationParity(*, difference_bound: float = 0.01) -> Any:
    """Constraint for Fairlearn's reductions: predict a label as often as each group has it.

    Fairlearn's own constraints ask for equal rates in all groups. This one keeps ``P(Ŷ = 1 | A)``
    within a bound of ``P(Y = 1 | A)``, so the model neither amplifies nor removes what the labels
    have. Pass it to ``fairlearn.reductions.ExponentiatedGradient`` or ``GridSearch``
    (``pip install 'skbiasamp[fairlearn]'``). The model does not need the group to predict.

    .. versionadded:: 0.2

    Parameters
    ----------
    difference_bound : float, default=0.01
        Largest difference between the rate of a group's predictions and that of its labels.

    Returns
    -------
    constraint : fairlearn.reductions.Moment

    See Also
    --------
    search : Compare mitigations.

    References
    ----------
    .. [1] Agarwal, Beygelzimer, Dudík, Langford, Wallach. A reductions approach to fair
       classification. ICML 2018.

    Examples
    --------
    >>> from fairlearn.reductions import ExponentiatedGradient  # doctest: +SKIP
    >>> from skbiasamp.mitigation import AmplificationParity
    >>> constraint = AmplificationParity(difference_bound=0.005)  # doctest: +SKIP
    >>> model = ExponentiatedGradient(LogisticRegression(), constraint)  # doctest: +SKIP
    >>> model.fit(X, hired, sensitive_features=sex)  # doctest: +SKIP
    """
    return _kind()(difference_bound)


@cache
def _kind() -> Any:
    try:
        from fairlearn.reductions import ClassificationMoment, ErrorRate
    except ImportError as error:
        raise ImportError(
            "AmplificationParity needs Fairlearn: pip install 'skbiasamp[fairlearn]'"
        ) from error

    class Parity(ClassificationMoment):
        """For each group: the rate of predictions minus that of labels, and its negative."""

        short_name = "AmplificationParity"
        index: Any = None

        def __init__(self, difference_bound: float) -> None:
            super().__init__()
            self.difference_bound = difference_bound

        def __reduce__(self) -> Any:  # classes inside functions cannot be pickled
            return _made, (self.__dict__,)

        def load_data(self, X: Any, y: Any, *, sensitive_features: Any) -> None:
            """Count rows and labels of each group."""
            y = pd.Series(np.ravel(y)).reset_index(drop=True)
            groups = pd.DataFrame(sensitive_features).reset_index(drop=True)
            code = groups.groupby(list(groups.columns), observed=True).ngroup()
            super().load_data(X, y, sensitive_features=code)
            self.n_groups = int(code.max()) + 1
            self.index = pd.MultiIndex.from_product([["+", "-"], range(self.n_groups)])
            # A row for each group, which makes sums of rows means of groups.
            self.means = (np.arange(self.n_groups)[:, None] == code.to_numpy()) * 1.0
            self.means /= self.means.sum(axis=1, keepdims=True)
            # What GridSearch goes through, up to 2 of these. A multiplier of a group's share of
            # the rows makes all its decisions alike, so the grid goes half the way.
            every = np.diag(np.tile((self.means > 0).mean(axis=1) / 4, 2))
            self.pos_basis, self.neg_basis = (
                pd.DataFrame(half, index=self.index) for half in np.split(every, 2, axis=1)
            )
            self.neg_basis_present = pd.Series([True] * self.n_groups)
            self.default_objective_lambda_vec = None

        def default_objective(self) -> Any:
            """Return the error that is minimised."""
            return ErrorRate()

        def gamma(self, predictor: Any) -> pd.Series:
            """Return the differences of rates."""
            difference = self.means @ (np.ravel(predictor(self.X)) - self._y.to_numpy())
            return pd.Series(np.append(difference, -difference), index=self.index)

        def bound(self) -> pd.Series:
            """Return what they may be."""
            return pd.Series(self.difference_bound, index=self.index)

        def project_lambda(self, lambda_vec: pd.Series) -> pd.Series:
            """Return multipliers of which one of each pair is 0."""
            both = lambda_vec.to_numpy().reshape(2, -1)
            return pd.Series((both - both.min(axis=0)).ravel(), index=self.index)

        def signed_weights(self, lambda_vec: pd.Series) -> pd.Series:
            """Return what predicting 1 gains in each row."""
            more, less = lambda_vec.to_numpy().reshape(2, -1)
            return pd.Series((less - more) @ self.means * self.total_samples)

    return Parity


def _made(state: dict[str, Any]) -> Any:
    made = _kind()(state["difference_bound"])
    made.__dict__.update(state)
    return made
