"""What the co-occurrence metrics share: signs from training labels, pairs, intervals, tests."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Self, cast

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from skbiasamp._input.checks import Array, check_option
from skbiasamp._input.errors import InputError
from skbiasamp._input.options import Option
from skbiasamp._utils.compat import StrOptions
from skbiasamp._utils.warnings import UncertaintyWarning, warn
from skbiasamp.counts.cells import as_labels
from skbiasamp.counts.contingency import Contingency
from skbiasamp.counts.merging import differ_in_group
from skbiasamp.counts.several_models import of_model
from skbiasamp.inference.assess import (
    Measured,
    covariances,
    degrees_of_rows,
    measure_models,
    shared_rows_of_pairs,
)
from skbiasamp.inference.differences import difference
from skbiasamp.inference.hypothesis_tests import adjust_p_values, sign_p_values
from skbiasamp.inference.independent_signs import FEWEST_ROWS, parts, signs_of, turned_ends
from skbiasamp.inference.intervals import FEW, BaseErrors, errors_of_base, of_sizes
from skbiasamp.inference.pairs import Pairs
from skbiasamp.inference.runs import Mean, mean_of_runs
from skbiasamp.metrics._pair_warnings import warn_uncertain, warn_undefined
from skbiasamp.metrics.base import BaseAuditor, as_frame
from skbiasamp.metrics.comparing import Runs, comparison_result, numbers_of_model
from skbiasamp.metrics.inputs import rest_by_name
from skbiasamp.metrics.signs import association_sign
from skbiasamp.results import AuditResult, ComparisonResult, pair_names, pair_table

BASES = ("test", "train")

_NO_INTERVAL = (
    "The value has no confidence interval: each task was counted by itself, so it is not known how "
    "tasks depend on one another. Pairs have intervals. For direction='A->T' and groups that do "
    "not overlap, use a fitted auditor with interval='analytic'. Otherwise count with joint=True, "
    "or read the rows into memory."
)


class CooccurrenceAuditor(BaseAuditor):
    """A metric of pairs of group and task, measured in counts.

    Subclass this to define a metric of your own. `_measure` is its formula, and all that it needs:
    intervals, tests, `fit`, `partial_fit`, `score`, `audit`, reports, displays and scorers follow
    from it.

    .. versionadded:: 0.1

    Parameters
    ----------
    %(shared)s

    Attributes
    ----------
    y_at_ : DataFrame of shape (n_groups, n_tasks)
        The sign of each pair's training correlation: −1, 0 or 1.
    %(fitted)s

    See Also
    --------
    Pairs : What `_measure` returns.
    Rates : Which rates are compared; a metric that declares them has analytic intervals.

    Notes
    -----
    A subclass has these parts. All but the first two have a default.

    ``metric``
        Its name in results and reports.
    ``_measure(train, test)``
        The formula: training labels and audited rows in, `Pairs` out. Both are a `Contingency`.
        `train` gives the signs, ``self._sign(train)``. The bootstrap passes a `test` with a
        leading axis of resamples: count from the end, ``axis=-2`` for groups and ``axis=-1`` for
        tasks.
    ``question``
        What the metric asks.
    ``kind``
        "signed" (default): a value above 0 amplifies. "size": the value has no direction.
    ``columns``
        Which columns of the table a pair compares, and their headings: by default
        ``{"base": "Labels", "observed": "Predictions"}``.
    ``_requires()``
        The predictions that it needs: ``("task_pred",)`` by default.
    ``_sign(labels)``
        Signs as an array of groups × tasks: those of the correlation of group and task by default.
    ``_sign_p_values(labels)``
        Tests of these signs. Return None if your signs are not those of a correlation.

    Examples
    --------
    A model has false positives. Does it have more of them in a group that has the label more often
    in training?

    >>> import numpy as np
    >>> from skbiasamp.metrics import CooccurrenceAuditor, Pairs
    >>> class FalsePositiveAuditor(CooccurrenceAuditor):
    ...     metric = "false positives"
    ...
    ...     def _measure(self, train, test):
    ...         right = test.both("task").joint("group", "task_pred")
    ...         wrong = test.joint("group", "task_pred") - right
    ...         negative = test.count("group")[..., None] - test.joint("group", "task")
    ...         rate = wrong / negative
    ...         mean = rate.mean(axis=-2, keepdims=True)
    ...         return Pairs(
    ...             test.groups,
    ...             test.tasks,
    ...             n=negative,
    ...             base=mean,
    ...             observed=rate,
    ...             sign=self._sign(train),
    ...         )
    >>> sex = ["f"] * 40 + ["m"] * 40
    >>> hired = [1] * 20 + [0] * 20 + [1] * 30 + [0] * 10
    >>> predicted = [1] * 22 + [0] * 18 + [1] * 35 + [0] * 5
    >>> auditor = FalsePositiveAuditor(random_state=0).fit(hired, sensitive_features=sex)
    >>> round(auditor.score(hired, predicted, sensitive_features=sex), 12)
    0.2
    """

    estimand = (
        "The mean change of the association between group and task from labels to predictions, in "
        "the direction that it has in the {labels}, in the population that the audited rows are a "
        "sample of."
    )
    null = (
        "Group and task are as associated in the predictions as in the labels: this mean change "
        "is 0."
    )
    _chosen = cast("dict[str, Any] | None", None)
    _fewest = FEWEST_ROWS  # that a pair of the estimate rests on
    _sampled = True  # whether the training labels are a sample
    _of_reference = False  # whether signs are those of a reference that was learned
    reference: str = Option("train", StrOptions({"train", "test"}), after="groups")
    simultaneous: bool = Option(False, "boolean", after="n_resamples")

    # ------------------------------------------------------------------ what a metric fills in

    @abstractmethod
    def _measure(self, train: Contingency, test: Contingency, **fixed: Any) -> Pairs:
        """Return the pairs: the formula. `train` gives the signs."""

    def _fixed(self, train: Contingency, test: Contingency) -> dict[str, Any]:
        """Return what is chosen once, and stays the same in all resamples."""
        return {}

    def _sign(self, labels: Contingency) -> Array:
        """Return the signs of the training correlations, as groups × tasks."""
        return association_sign(labels)

    def _sign_p_values(self, labels: Contingency) -> Array | None:
        """Test whether the correlations behind the signs can be distinguished from 0, if any are.

        None: the signs are not those of correlations, and no pair is flagged.
        """
        return sign_p_values(labels, shares=False)

    # ------------------------------------------------------------------ how it is run

    @rest_by_name
    def fit(
        self,
        y_train: Any,
        *,
        sensitive_features: Any = None,
        sample_weight: Any = None,
        reference_is_sample: bool = True,
        **columns: Any,
    ) -> Self:
        """Learn the correlations of the training labels.

        Parameters
        ----------
        y_train : array-like of shape (n_samples,) or (n_samples, n_tasks), Contingency or frame
            Labels of the training rows.
        sensitive_features : array-like of shape (n_samples,) or (n_samples, n_features)
            Their sensitive feature, or several.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights. A whole number counts as that many rows.
        reference_is_sample : bool, default=True
            If predictions are compared with training labels: whether these rows are a sample,
            whose error the intervals include. False: they are the whole population, so that their
            rates and signs are known.
        **columns : column name or list of names
            If `y_train` is a frame: `target`, `sensitive` and `weight` name its columns.

        Returns
        -------
        self : object
            The fitted auditor.
        """
        check_option("reference_is_sample", reference_is_sample, (True, False))
        labels = {"sensitive_features": sensitive_features, "sample_weight": sample_weight}
        super().fit(y_train, **labels, **columns)
        self._sampled = bool(reference_is_sample)
        return self

    def _learn(self, cells: Contingency) -> Self:
        super()._learn(cells)
        self._signs = self._sign(cells)
        return self

    @property
    def y_at_(self) -> pd.DataFrame:
        """Signs of the training correlations."""
        return as_frame(self._signs, self.contingency_)

    def _check_fitted(self) -> None:
        if not self._fitted and self.reference != "test":
            check_is_fitted(
                self,
                "contingency_",
                msg=(
                    "This %(name)s has not seen training labels: call fit(y_train, "
                    "sensitive_features=A_train) first, or use reference='test' to take the "
                    "correlations from the labels of the audited rows."
                ),
            )

    def _with_reference(self, reference: Contingency) -> Self:
        learned = super()._with_reference(reference)
        if not self._fitted or self.reference == "test":
            learned.set_params(reference="train")
            learned._of_reference = True
            learned.fit(reference if reference.has("task") else as_labels(reference))
        learned._check_labels(reference)
        learned._chosen = learned._fixed(learned.contingency_, reference)
        learned._fewest = 0  # all periods are about the same pairs
        return learned

    def learn_signs(self, pooled: Contingency) -> Self:
        if not (self._of_reference and differ_in_group(pooled)):
            return self  # rows of one group alone have no associations
        return copy.copy(self)._learn(pooled if pooled.has("task") else as_labels(pooled))

    def pairs_of(self, test: Contingency, *, warns: bool = False) -> tuple[Contingency, Pairs]:
        """Return the labels that give the signs, and the pairs of audited rows."""
        train = self._signs_from(test)
        pairs = self._measure(train, test, **self._chosen_from(train, test))
        if warns:
            warn_undefined(pairs)
        return train, pairs

    def values_of_draws(self, drawn: Contingency) -> tuple[Array, Array]:
        _, pairs = self.pairs_of(drawn)
        flat = pairs.amplification.reshape(len(drawn.weight), -1)
        # What has no sign adds nothing, whatever it does.
        flat = np.where(np.isnan(pairs.delta.reshape(flat.shape)), np.nan, flat)
        return np.broadcast_to(pairs.estimate(pairs.sign), len(flat)), flat

    def _value(self, test: Contingency) -> float:
        return self.pairs_of(test, warns=True)[1].value

    def _chosen_from(self, train: Contingency, test: Contingency) -> dict[str, Any]:
        """Return what is chosen once: now, or from the reference that was learned."""
        return self._fixed(train, test) if self._chosen is None else self._chosen

    def _run_models(self, cells: Contingency) -> tuple[Contingency, dict[str, Measured]]:
        """Return the labels that give the signs, and the models of cells, or the only one.

        All are measured on the same resamples.
        """
        test = of_model(cells, cells.models[0]) if cells.models else cells
        train = self._signs_from(test)
        models = measure_models(
            partial(self._measure, train, **self._chosen_from(train, test)),
            cells,
            None if train is test else train,
            self,
            check=self._check_pairs,
            fewest=self._fewest,
        )
        return train, models

    def _for_models(self, cells: Contingency) -> Self:
        if self.simultaneous:
            raise InputError(
                "{simultaneous=True} gives intervals of one model's pairs. Use audit, or compare "
                "with {simultaneous=False}."
            )
        return self

    def _compare_models(self, cells: Contingency, reference: str) -> ComparisonResult:
        train, models = self._run_models(cells)

        def difference_of(name: str) -> tuple[Mean, dict[str, Any]]:
            own = models[name].pairs
            gap, of_pairs = difference(models[name], models[reference], self)
            columns = {name: getattr(own, name) for name in ("n", "sign", "base", "observed")}
            flat = {name: values.ravel() for name, values in (columns | of_pairs).items()}
            return gap, pair_names(own.groups, own.tasks) | flat

        results = self._results_of(models, cells)
        numbers = {name: numbers_of_model(result) for name, result in results.items()}
        result = comparison_result(self, cells, reference, numbers, difference_of)
        if self.interval is None:  # nothing to turn
            return result
        beside = models[reference].pairs
        uncertain = self._certain(train, beside) == 0
        turned = []
        for name, *ends in result.table[["model", "difference_low", "difference_high"]].to_numpy():
            own = models[name]
            turned.append(turned_ends(ends, own.pairs, own.signs, uncertain, beside.change))
        return replace(result, table=result.table.join(pd.DataFrame(turned)))

    def _runs(self, cells: Contingency) -> Runs:
        train, models = self._run_models(cells)
        every = [*models.values()]
        pairs, signs = every[0].pairs, np.sum([run.signs.used for run in every], axis=0)

        def errors(run: Measured) -> BaseErrors:
            return errors_of_base(run.pairs, train, run.signs.used)

        def of_pairs(method: str) -> dict[str, Array]:
            columns = {"sign_used": np.sign(signs)}
            if self.interval is not None:
                rows = shared_rows_of_pairs(every) + errors(every[0]).pairs
                how: dict[str, Any] = {"confidence_level": self.confidence_level, "method": method}
                moved = mean_of_runs(np.stack([run.pairs.moved for run in every]), rows, **how)
                low, high = of_sizes(moved.low, moved.high) if pairs.size else moved[1:3]
                p_value = np.where(pairs.slopes == 0, np.nan, moved.p_value)
                columns |= {"low": low, "high": high, "p_value": p_value}
                columns["p_adjusted"] = self._adjusted(p_value, pairs)
                columns |= self._flags(train, of_model(cells, cells.models[0]), pairs)
            return {name: values.ravel() for name, values in columns.items()}

        return Runs(
            results=self._results_of(models, cells),
            moved={name: run.pairs.moved.ravel() for name, run in models.items()},
            covariances=lambda names: covariances([models[name] for name in names]),
            noise=lambda names: errors(models[names[0]]).estimate,
            doubts={name: run.doubt for name, run in models.items()},
            of_pairs=of_pairs,
            df_of_rows=lambda *sides: degrees_of_rows(
                *([models[name] for name in names] for names in sides)
            ),
        )

    def _results_of(
        self, models: Mapping[str, Measured], cells: Contingency
    ) -> dict[str, AuditResult]:
        """Return the results of several models of the same rows."""
        rows = of_model(cells, cells.models[0])
        return {name: self._result_of(model, rows) for name, model in models.items()}

    def _adjusted(self, p_values: Array, pairs: Pairs) -> Array:
        """Return adjusted p-values; pairs that labels did not choose were candidates, and count."""
        unchosen = pairs.are_chosen & (pairs.slopes == 0) & ~np.isnan(pairs.delta)
        adjusted = adjust_p_values(np.where(unchosen, 1.0, p_values), self.adjust)
        return np.where(unchosen, np.nan, adjusted)

    def _result(self, test: Contingency) -> AuditResult:
        train, models = self._run_models(test)
        (own,) = models.values()
        if own.bounds is None:
            return self._result_of(own, test)
        result = self._result_of(own, test, **self._flags(train, test, own.pairs))
        summed = "tasks" in (test.summed, train.summed)
        if np.isnan(result.low) and not np.isnan(result.value) and summed:
            warn(_NO_INTERVAL, UncertaintyWarning)
        return result

    def _result_of(self, own: Measured, test: Contingency, **flags: Array) -> AuditResult:
        """Return the result of a model; `flags` are more columns of its table."""
        pairs, sign = own.pairs, own.signs.used
        of_pairs = ("n", "base", "observed", "sign", "delta", "amplification")
        columns: dict[str, Array] = {name: getattr(pairs, name) for name in of_pairs}
        numbers: dict[str, Any] = {"estimate": own.estimate}
        statistics: dict[str, Any] = {}
        if (bounds := own.bounds) is not None:
            statistics = dict(bounds.statistics)
            columns |= dict(zip(("low", "high"), bounds.pairs, strict=True)) | flags
            columns["p_value"] = bounds.p_value
            columns["p_adjusted"] = self._adjusted(bounds.p_value, pairs)
            if bounds.every is not None:
                named = ("low_simultaneous", "high_simultaneous")
                columns |= dict(zip(named, bounds.every, strict=True))
            numbers |= dict(zip(("low", "high"), map(float, bounds.ends), strict=True))
            numbers["p_value"] = bounds.estimate_p_value
            if "sign_certain" in flags:
                statistics |= turned_ends(bounds.ends, pairs, own.signs, flags["sign_certain"] == 0)
            if test.clusters is not None:
                statistics["n_clusters"] = test.clusters.total
        mean = {"signed_mean": pairs.signed_mean} if pairs.apart else {}
        statistics = pairs.statistics | mean | statistics | parts(pairs, own.signs)
        columns["sign_used"] = sign
        table = partial(pair_table, pairs.groups, pairs.tasks, **columns)
        return self._made(test, value=pairs.value, table=table, statistics=statistics, **numbers)

    def estimate_of(self, test: Contingency) -> float:
        train, pairs = self.pairs_of(test, warns=True)
        return float(pairs.estimate(signs_of(pairs, train, test, fewest=self._fewest).used))

    def _check_pairs(self, pairs: Pairs) -> None:
        """Warn of undefined pairs, and raise if the metric has no intervals of this kind."""
        warn_undefined(pairs)
        if self.interval == "analytic" and pairs.rates is None:
            raise InputError(
                "{interval='analytic'} needs a metric that declares which rates it compares, and "
                "{metric} declares none. Use {interval='bootstrap'}.",
                metric=type(self).__name__,
            )

        if self.simultaneous and self.interval != "bootstrap":
            raise InputError(
                "{simultaneous=True} needs {interval='bootstrap'}: it is the distribution of the "
                "largest deviation over resamples. Got {interval}={seen!r}.",
                seen=self.interval,
            )

    def _flags(self, train: Contingency, test: Contingency, pairs: Pairs) -> dict[str, Array]:
        """Return which pairs have a certain sign, and rows enough, and warn of the others."""
        certain = self._certain(train, pairs)
        # Weights that add up to ten rows may miss it by the last digit.
        reliable = pairs.n * test.units_per_weight >= FEW - 1e-9
        warn_uncertain(pairs, certain, reliable)
        return {"sign_certain": certain, "reliable": reliable}

    def _certain(self, train: Contingency, pairs: Pairs) -> Array:
        """Return which pairs have a sign that their labels show; NaN if it is not tested."""
        # Signs that are known, or play no part, are not tested.
        known = not pairs.sampled or pairs.growth is not None
        p_values = None if known else self._sign_p_values(pairs.seen_in(train))
        if p_values is not None and p_values.shape != pairs.delta.shape:
            raise InputError(
                "{metric}._sign_p_values must test the sign of each of the {n} pairs of _measure; "
                "got {seen} p-values. Return None if the signs are not those of correlations.",
                metric=type(self).__name__,
                n=pairs.delta.size,
                seen=p_values.size,
            )
        if p_values is None:
            return np.full(pairs.delta.shape, np.nan)
        return np.asarray(p_values < 1 - self.confidence_level)

    def _signs_from(self, test: Contingency) -> Contingency:
        """Return the labels that give the signs."""
        if self._fitted:
            self._check_groups(self.contingency_)
            if self.reference == "train":
                return self.contingency_
        else:
            self._check_groups(test)
        return test
