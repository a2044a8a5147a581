"""GroupOverSampler: repeats rows until all pairs of group and class have equally many."""

from __future__ import annotations

import numpy as np

from skbiasamp._input.checks import Array
from skbiasamp._utils.docstrings import filling
from skbiasamp.mitigation._pairs import Memberships
from skbiasamp.mitigation._samplers import Sampler


@filling
class GroupOverSampler(Sampler):
    """Oversample: repeat random rows until all pairs of group and class are equally frequent.

    With several labels per row, rows of each set of tasks are repeated until every group has the
    set equally often. Sets that some group never has stay as they are.

    .. versionadded:: 0.1

    Parameters
    ----------
    %(sensitive)s
        It stays in `X`.
    random_state : int, RandomState instance or None, default=None
        Seed of the choice of repeated rows.

    Attributes
    ----------
    sample_indices_ : ndarray of shape (n_sampled,)
        Positions of the rows: all of them, then the repeated ones.
    n_features_in_, feature_names_in_
        As of any estimator.

    See Also
    --------
    RatioBalancer : Drop rows instead.

    Notes
    -----
    Training takes longer, and flexible models memorise the few rows of a rare pair. Classes become
    equally frequent too: probabilities and base rates differ from those of the data, and rare
    classes are predicted more often.

    Examples
    --------
    >>> import numpy as np
    >>> from skbiasamp.mitigation import GroupOverSampler
    >>> sex = np.repeat(["f", "m"], [40, 80])
    >>> hired = np.repeat([0, 1, 0, 1], [30, 10, 20, 60])
    >>> X = np.arange(120).reshape(-1, 1)
    >>> sampler = GroupOverSampler(random_state=0)
    >>> X_more, y_more = sampler.fit_resample(X, hired, sensitive_features=sex)
    >>> [int(np.sum((sex[X_more[:, 0]] == a) & (y_more == t))) for a in "fm" for t in (0, 1)]
    [60, 60, 60, 60]
    """

    def _choose(self, pairs: Memberships, rng: np.random.RandomState) -> Array:
        if pairs.one_label:
            pairs.require_all(why="there is nothing to repeat. Merge groups or classes.")
            cell, counts = pairs.cell, np.bincount(pairs.cell)
            lacking = counts.max() - counts
        else:
            counts = pairs.counts_of_sets()
            cell = pairs.group * counts.shape[1] + pairs.label_set
            most = np.where(counts.min(axis=0) > 0, counts.max(axis=0), counts)
            lacking = (most - counts).ravel()
        rows = np.split(np.argsort(cell, kind="stable"), np.bincount(cell).cumsum()[:-1])
        repeated = [rng.choice(rows[code], lacking[code]) for code in np.flatnonzero(lacking)]
        return np.concatenate([np.arange(len(cell)), *repeated])
