"""What the printed counts of the DPA paper allow, whatever its models were."""

import numpy as np
import pandas as pd
from scipy.optimize import linprog


def highest_accuracy(features, given, labels, printed):
    """Return the accuracy that no classifier of these features with the printed counts exceeds.

    A classifier, even a random one, is a probability of the second class for each distinct row of
    `features`. Accuracy is linear in these probabilities, and so are the counts of each prediction
    by `given`, so the best of all classifiers is the solution of a linear programme.
    """
    first, second = printed.columns
    cell = pd.factorize(pd.MultiIndex.from_frame(features))[0]
    sign = np.where(labels == second, 1, -1)
    gain = np.bincount(cell, weights=sign)
    predicted = [np.bincount(cell, weights=given == value) for value in printed.index]
    best = linprog(-gain, A_eq=predicted, b_eq=printed[second], bounds=(0, 1))
    if not best.success:
        raise ValueError(best.message)
    return (np.sum(labels == first) - best.fun) / len(labels)


def split_spread(labels, predictions, accuracy, n_splits=100, train_share=0.8):
    """Return DPA of one split into training and judged rows, for many splits.

    Both are tables of counts, groups x classes. A share of the labels is exchanged, so that they
    have this accuracy. The best table is learned on four fifths of the rows, judged on the rest.
    """
    rng = np.random.default_rng(0)

    def quality(counts, accuracy):
        """Judge the most frequent class of each group on other rows, for each split."""
        counts = counts.to_numpy()
        rows = counts.sum(axis=1)
        right = np.zeros(n_splits)
        for (one, other), size in zip(counts, rows, strict=True):
            first = rng.binomial(one, accuracy, n_splits) + rng.binomial(
                other, 1 - accuracy, n_splits
            )
            kept = round(train_share * size)
            learned = rng.hypergeometric(first, size - first, kept)
            judged = first - learned
            right += np.where(2 * learned > kept, judged, size - kept - judged)
        return right / (rows - (train_share * rows).round()).sum()

    data, model = quality(labels, accuracy), quality(predictions, 1)
    return (model - data) / (model + data)
