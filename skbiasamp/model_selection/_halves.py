"""How much numbers of a cross-validation vary with the sample: models trained on halves of rows."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import GroupKFold

from skbiasamp._input.checks import Array
from skbiasamp._utils.warnings import collected
from skbiasamp.inference.influence import interval
from skbiasamp.metrics.functions import lacks
from skbiasamp.model_selection.folds import Repeat, splits_of
from skbiasamp.model_selection.row_classifier import LabelledRows
from skbiasamp.results import AuditResult


def cut_in_halves(
    n: int, X: Any, strata: Any, groups: Any, rng: np.random.RandomState
) -> list[Any]:
    """Return `n` times two random halves of the rows, each of which trains a model for the other.

    `groups` stay together.
    """

    def two() -> Any:
        seed = rng.randint(2**31 - 1)
        return 2 if groups is None else GroupKFold(2, shuffle=True, random_state=seed)

    return [splits_of(two(), X, strata, groups, rng) for _ in range(n)]


class Spread(NamedTuple):
    """Variances of numbers over samples, and their degrees of freedom; NaN if not known."""

    variance: Array
    df: Array

    def interval(self, values: Any, level: float) -> tuple[Any, Any, Any]:
        """Return the intervals of numbers, and the p-values of 0."""
        return interval(values, np.sqrt(self.variance), self.df, level)


def pairs_in(result: AuditResult) -> list[tuple[Any, Any]]:
    """Return the pairs of group and task of a result."""
    return [*zip(result.table["group"], result.table["task"], strict=True)]


def value_and_changes(result: AuditResult, pairs: list[tuple[Any, Any]]) -> Array:
    """Return the value of a result, and the change of each of these pairs; NaN if it has none."""
    table = result.table
    known = dict(zip(pairs_in(result), table["change"], strict=True)) if "change" in table else {}
    return np.array([result.value, *(known.get(pair, np.nan) for pair in pairs)], dtype=float)


class Halves:
    """Numbers by random halves of the rows, each as if it were the whole sample.

    A row moves a cross-validated number twice: as a test row, and as a training row. If a model is
    trained on half `a` and tested on half `b`, what `a` adds is V(a, b) + H(a) − H(b): H is the
    number of a half by models of the other splits, so that the test rows of V cancel. The
    numbers of `a` and of `b` are independent, as those of two samples of half the size.
    """

    def __init__(self, rows: LabelledRows, splits: list[Any], run: list[Repeat]) -> None:
        self.rows, self.splits, self.run = rows, splits, run
        self.predicted = {
            name: [_of_all_rows(name, *each) for each in zip(splits, run, strict=True)]
            for name in ("y_pred", "sensitive_pred")
        }

    def numbers(self, name: str, auditor: Any, pairs: list[tuple[Any, Any]]) -> Array:
        """Return the numbers of each half (splits × halves × numbers); NaN if not measured."""
        measured = np.full((len(self.splits), 2, 1 + len(pairs)), np.nan)
        whole = _without_interval(auditor)
        with collected():  # the folds say what is uncertain
            for split, (cut, (_, held_out)) in enumerate(zip(self.splits, self.run, strict=True)):
                of_rows = [
                    value_and_changes(whole.audit(**self._by_others(split, test)), pairs)
                    for _, test in cut
                ]
                for half, (model, given) in enumerate(held_out):
                    own = model.auditors_[name]
                    if not lacks(own, auditor.count_audited(**given)):
                        trained = value_and_changes(_without_interval(own).audit(**given), pairs)
                        # The model is trained on the half that the other one is tested on.
                        measured[split, half] = trained + of_rows[1 - half] - of_rows[half]
        return measured

    def _by_others(self, split: int, test: Array) -> dict[str, Any]:
        """Return rows with the predictions of each other split."""
        others = [other for other in range(len(self.splits)) if other != split]
        rows = self.rows.take(np.tile(test, len(others)))
        given = {
            name: None
            if every[0] is None
            else np.concatenate([every[other][test] for other in others])
            for name, every in self.predicted.items()
        }
        labels = {"sensitive_features": rows.attribute, "sample_weight": rows.sample_weight}
        return {"y_true": rows.y, **labels, **given}


def _of_all_rows(name: str, cut: Any, repeat: Repeat) -> Any:
    """Return what two models predict for all rows."""
    parts = [given[name] for _, given in repeat.held_out]
    if any(part is None for part in parts):
        return None
    order = np.argsort(np.concatenate([test for _, test in cut]))
    return np.concatenate([np.asarray(part) for part in parts])[order]


def _without_interval(auditor: Any) -> Any:
    known = {"interval": None} if "interval" in auditor.get_params(deep=False) else {}
    return copy.copy(auditor).set_params(**known)


def spread_of(numbers: Array) -> Spread:
    """Return the variances of numbers of the whole sample, by those of its halves.

    Splits that are not measured are left out.
    """
    each = (numbers[:, 0] - numbers[:, 1]) ** 2 / 4
    n = (~np.isnan(each)).sum(axis=0).astype(float)
    variance = np.divide(np.nansum(each, axis=0), n, out=np.full(n.shape, np.nan), where=n > 0)
    return Spread(variance, n)
