"""AmplificationController: thresholds whose amplification is proven to be within a limit."""

from __future__ import annotations

import math
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from skbiasamp._input.checks import Array, check_train
from skbiasamp._input.coding import numbers_of
from skbiasamp._input.containers import to_native
from skbiasamp._input.errors import InputError, rows_of, speaking
from skbiasamp._input.options import Option, PositionalOption
from skbiasamp._utils.compat import HasMethods, Interval, StrOptions, take_rows
from skbiasamp._utils.docstrings import filling
from skbiasamp._utils.random import generator
from skbiasamp._utils.warnings import warn
from skbiasamp.compose.sensitive import SENSITIVE, SensitiveColumns
from skbiasamp.compose.wrapper import ClassifierWrapper, require_labels
from skbiasamp.counts.contingency import Contingency
from skbiasamp.counts.passed import between
from skbiasamp.mitigation._operating import (
    Score,
    ScoredRows,
    labels_of_groups,
    possible_signs,
    score_of,
    signs_of_groups,
)
from skbiasamp.mitigation._pairs import read_groups
from skbiasamp.model_selection.responses import (
    binary_labels,
    check_classes,
    positive_scores,
    response,
)
from skbiasamp.results.certificate import Certificate

_MOST = 50  # thresholds
_BOLDEST = 0.75  # of the largest bet, which may lose everything


@filling
class AmplificationController(SensitiveColumns, ClassifierWrapper):
    """Classifier at a threshold whose bias amplification is proven to be within a limit.

    It takes a fitted classifier and calibration rows, tests thresholds in a fixed order, and keeps
    those that are proven (learn then test [1]_). With probability `confidence_level` over
    calibration rows, the directional amplification A→T (group → task) of its decisions is within
    the limit on new rows of the same kind. Use it if a model must not amplify, and
    `AmplificationThresholdClassifier` if it should not.

    .. versionadded:: 0.2

    Parameters
    ----------
    estimator : classifier
        A fitted classifier of two classes, with ``predict_proba`` or ``decision_function``.
    limit : float, default=0.02
        Largest amplification: 0.02 is two percentage points.
    confidence_level : float, default=0.95
        Probability with which a certificate holds.
    two_sided : bool, default=True
        True: the amplification is within ±`limit`. False: it is at most `limit`.
    thresholds : array-like, default=None
        Thresholds in the order of their tests; all calibration rows can then test. Do not choose
        them on these rows. None: a random third of the rows orders up to 49 thresholds, from the
        smallest amplification to the best score, and the others test.
    scoring : str or callable, default="accuracy"
        Which certified threshold is the best: a scorer of predicted labels that takes weights.
    uncertified : {"raise", "warn"}, default="raise"
        What `predict` does if no threshold is certified. "raise": an error. "warn": predict like
        the classifier inside, with a warning.
    %(sensitive)s
        `predict` does not need it.
    random_state : int, RandomState, Generator or None, default=None
        Seed or generator for the order of the rows.

    Attributes
    ----------
    certified_ : bool
        Whether a threshold is certified.
    threshold_ : float
        The certified threshold with the best score; NaN if there is none.
    certificate_ : Certificate
        The proof with its assumptions; it has a page (``to_html``).
    groups_ : tuple
        The groups.
    classes_, n_features_in_, feature_names_in_
        Those of the classifier.

    See Also
    --------
    AmplificationThresholdClassifier : Choose a threshold within a limit, without a proof.

    Notes
    -----
    The amplification is the estimate of an audit: each group's change is compared with that of all
    rows, in which groups have the shares of the rows that test. The signs are those of the training
    labels, if `fit` gets them, and else those of the rows that order. (With two groups and
    ``two_sided=True`` the signs do not matter.) They are fixed when the other rows test.

    Calibration rows are dealt into blocks, as many as the smallest group has rows, so that each
    block has rows of all groups. The value of a block has the amplification as its mean. The
    p-value is that of a bet against the hypothesis that the mean lies beyond the limit [2]_; it is
    valid for any number of rows. A small group makes blocks few and proofs rare: merge groups.

    References
    ----------
    .. [1] Angelopoulos, Bates, Candès, Jordan, Lei. Learn then test: calibrating predictive
       algorithms to achieve risk control. Annals of Applied Statistics, 2025.
    .. [2] Waudby-Smith, Ramdas. Estimating means of bounded random variables by betting. JRSS B,
       2024.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skbiasamp.mitigation import AmplificationController
    >>> rng = np.random.default_rng(0)
    >>> sex = rng.choice(["f", "m"], 40_000)
    >>> skill = rng.normal(sex == "m", 1)[:, None]
    >>> hired = (skill[:, 0] + rng.normal(0, 1.5, 40_000) > 1).astype(int)
    >>> model = LogisticRegression().fit(skill[:20_000], hired[:20_000])
    >>> control = AmplificationController(model, limit=0.03, random_state=0)
    >>> control = control.fit(skill[20_000:], hired[20_000:], sensitive_features=sex[20_000:])
    >>> control.certified_, round(control.threshold_, 2)
    (True, 0.64)
    """

    __metadata_request__fit: ClassVar = {"sensitive_features": True}

    estimator: Any = PositionalOption(
        HasMethods(["predict_proba"]), HasMethods(["decision_function"]), kw_only=False
    )
    limit: float = Option(0.02, Interval(Real, 0, 1, closed="neither"))
    confidence_level: float = Option(0.95, Interval(Real, 0, 1, closed="neither"))
    two_sided: bool = Option(True, "boolean")
    thresholds: Any = Option(None, "array-like", None)
    scoring: Any = Option("accuracy", str, callable)
    uncertified: str = Option("raise", StrOptions({"raise", "warn"}))
    sensitive: Any = Option(None, *SENSITIVE)
    random_state: Any = Option(None, "random_state", np.random.Generator)

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        sensitive_features: Any = None,
        y_train: Any = None,
        sensitive_train: Any = None,
    ) -> Self:
        """Test thresholds on calibration rows.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Calibration rows, on which the classifier was not trained.
        y : array-like of shape (n_samples,)
            Their labels.
        sensitive_features : array-like of shape (n_samples,) or (n_samples, n_features)
            Their sensitive feature, if `sensitive` does not name it.
        y_train, sensitive_train : array-like, default=None
            Labels and sensitive feature of the training rows, for the signs.

        Returns
        -------
        self : object
            The classifier.
        """
        self._validate_params()
        require_labels(self, y)
        y = binary_labels(y, several=False)
        if (y == y[:1]).all():
            raise InputError("{y} holds one class only. Pass rows of both classes.")
        attribute = self._sensitive(X, sensitive_features, "fit")
        self.estimator_ = self.estimator
        scores = positive_scores(response(self.estimator_, X))
        check_classes(self.estimator_, y)
        check_train(y_train, sensitive_train)
        labelled = (y, attribute) if y_train is None else (y_train, sensitive_train)
        names = {"y": "y_train", "sensitive_features": "sensitive_train"}
        with speaking({} if y_train is None else names):
            labels = labels_of_groups(*labelled, self.classes_[1])
        self.groups_ = labels.groups
        group = read_groups(attribute, len(y), self.groups_)
        order = generator(self.random_state).permutation(len(y))
        # Another sign turns the value of two groups round, and not its size.
        known = y_train is not None or (self.two_sided and len(self.groups_) == 2)
        all_test = known and self.thresholds is not None
        if len(y) < 3 and not all_test:
            text = "{X} has {rows}, of which a third orders thresholds or gives signs: pass more."
            raise InputError(text, rows=rows_of(len(y)))
        n_first = 0 if all_test else len(y) // 3
        first, tested = order[:n_first], order[n_first:]
        if not known:
            given = take_rows(to_native(attribute, "sensitive_features"), first)
            labels = Contingency.from_labels(y[first], sensitive_features=given, like=labels)
        sign = signs_of_groups(labels)
        signs = [sign] if y_train is None and known else possible_signs(labels)
        self._require(sign, np.bincount(group[tested], minlength=len(sign)))
        positive = y == self.classes_[1]
        every = ScoredRows(scores, group, positive, np.ones(len(y)), sign)
        score = score_of(self.scoring, self.classes_)
        if self.thresholds is None:
            thresholds = self._ordered(every.take(first), score)
        else:
            thresholds = np.ravel(numbers_of(self.thresholds, "thresholds"))
            if np.isnan(thresholds).any():
                raise InputError("{thresholds} must hold numbers; got NaN. Leave it out.")
        rows, tests, proven = every.take(tested), [], 1 - self.confidence_level
        sizes = np.bincount(rows.group)
        # What a change of a group's rate is worth: the limit has to hold whatever the signs are.
        everything = rows.at(np.array([-np.inf]))
        worths = [replace(everything, sign=possible).share * sizes for possible in signs]
        for threshold in thresholds:
            decided = rows.scores >= threshold
            blocks = block_means(decided - 1.0 * rows.positive, rows.group, sizes)
            p = max(self._p_value((own[:, None] * blocks).sum(axis=0), own) for own in worths)
            amplification, value = rows.measured(decided, score)[0]
            tests.append((threshold, amplification, p, value))
            if p > proven:
                break
        table = pd.DataFrame(tests, columns=["threshold", "amplification", "p_value", "score"])
        certified = table[table["p_value"] <= proven]
        self.threshold_ = math.nan
        if len(certified):
            best = int(certified["score"].to_numpy().argmax())
            self.threshold_ = float(certified["threshold"].iloc[best])
        self.certified_ = bool(len(certified))
        self.certificate_ = Certificate(
            threshold=self.threshold_,
            limit=self.limit,
            confidence_level=self.confidence_level,
            two_sided=self.two_sided,
            signs_from="the training labels"
            if y_train is not None
            else "the calibration labels"
            if known
            else "the rows that order",
            n_tested=len(tested),
            n_ordering=n_first,
            n_blocks=int(sizes.min()),
            tests=table,
        )
        return self

    def predict(self, X: Any) -> Array:
        """Predict with the certified threshold.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
        """
        check_is_fitted(self, "certified_")
        if self.certified_:
            scores = positive_scores(response(self.estimator_, X))
            return self.classes_[(scores >= self.threshold_).astype(int)]
        if self.uncertified == "raise":
            text = "{why} uncertified='warn' predicts like the classifier inside."
            raise InputError(text, why=self.certificate_.sentence)
        why = f"{self.certificate_.sentence} These predictions are those of the classifier inside."
        warn(why)
        return np.asarray(self.estimator_.predict(X))

    def _require(self, sign: Array, sizes: Array) -> None:
        """Raise if there is nothing to prove, or no row to prove it with."""
        if not sign.any():
            raise InputError(
                "Group and label are exactly independent in the labels that give the signs, so "
                "the amplification is 0 whatever is predicted: there is nothing to certify."
            )
        if not sizes.all():
            raise InputError(
                "Group {group!r} has no calibration row that tests. Pass more rows, or merge "
                "groups.",
                group=self.groups_[int(sizes.argmin())],
            )

    def _ordered(self, rows: ScoredRows, score: Score) -> Array:
        """Return thresholds from the smallest amplification to the best score."""
        thresholds = between(rows.scores, _MOST)
        decisions = rows.at(thresholds)
        value = decisions.amplification(decisions.for_all)
        size = np.abs(value) if self.two_sided else value
        scores = np.array([score(counts) for counts in decisions.confusion(decisions.for_all)])
        order = np.lexsort((-scores, size))
        order = order[np.isfinite(thresholds[order])]  # equal decisions for all are of no use
        best = np.maximum.accumulate(scores[order])
        return thresholds[order[best > np.append(-np.inf, best[:-1])]]

    def _p_value(self, means: Array, worth: Array) -> float:
        """Return the p-value of the hypothesis that the limit is broken."""
        most = max(1.0, np.abs(worth).sum())  # of a block
        sides = (means, -means) if self.two_sided else (means,)  # both must be proven
        level = 1 - self.confidence_level
        return max(bet(side / most, self.limit / most, level) for side in sides)


def block_means(change: Array, group: Array, sizes: Array) -> Array:
    """Return the mean change of each group in each of as many blocks as can be (groups × blocks).

    Rows are dealt in their order; their blocks are independent, and all have the same mean.
    """
    n = int(sizes.min())
    means = np.zeros((len(sizes), n))
    for position, size in enumerate(sizes):
        block = np.arange(size) % n
        own = np.bincount(block, change[group == position], n)
        means[position] = own / np.bincount(block, minlength=n)
    return means


def bet(values: Array, limit: float, level: float) -> float:
    """Return a p-value of the hypothesis that the mean is at least the limit.

    Values are independent and lie in [−1, 1]. Who bets against the hypothesis on each value, with
    a stake that depends on earlier values only, multiplies a capital of 1 by 20 with a probability
    of 5 % at most if it is true. The stakes are the best ones for a test at `level`.
    """
    n = np.arange(1, len(values) + 1)
    spread = (0.25 + np.cumsum((values - np.cumsum(values) / (n + 1)) ** 2)) / (n + 1)
    known = np.append(0.25, spread[:-1])
    stake = np.sqrt(2 * np.log(1 / level) / (len(values) * known))
    stake = np.minimum(stake, _BOLDEST / (1 - limit))
    return float(np.exp(-max(0.0, np.cumsum(np.log1p(stake * (limit - values))).max())))
