"""What the co-occurrence metrics share: signs from counts, pairs, the value and its interval."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Self, cast

import numpy as np
import pandas as pd
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils.validation import check_is_fitted

from skbiasamp._input.checks import Array, Names, check_option, require_groups
from skbiasamp._input.errors import quote
from skbiasamp._input.options import Option
from skbiasamp._utils import formatting as words
from skbiasamp._utils.compat import StrOptions
from skbiasamp._utils.warnings import UncertaintyWarning, warn
from skbiasamp.counts.cells import as_labels
from skbiasamp.counts.cells import drawn as one_of_draws
from skbiasamp.counts.contingency import Contingency, SideName
from skbiasamp.counts.merging import differ_in_group, renamed_onto
from skbiasamp.counts.parts import of_model
from skbiasamp.inference.association import Association, known_or_zero
from skbiasamp.inference.hypothesis_tests import adjust_p_values
from skbiasamp.inference.pairs import Models, Pairs, combine_associations
from skbiasamp.inference.runs import Mean, mean_of_runs
from skbiasamp.inference.value import Estimate, Signs
from skbiasamp.metrics.base import BaseAuditor, as_frame
from skbiasamp.metrics.comparing import Runs, comparison_result, numbers_of_model
from skbiasamp.metrics.inputs import rest_by_name
from skbiasamp.results import AuditResult, ComparisonResult, pair_names, pair_table


def compare_counts(
    left: Array, right: Array, *, exact: bool, times: tuple[Any, Any] = (1, 1)
) -> Array:
    """Return the sign of left − right, 0 if they are equal; of products, if there are `times`.

    Sums of whole weights are exact; those of fractional weights carry rounding noise, which
    must not give an independent pair a sign.
    """
    counts = [np.asarray(count) for count in (left, times[0], right, times[1])]
    if exact:
        # Products of whole counts up to 2**53 outgrow floats first and 64-bit integers later.
        most = [float(np.max(count, initial=0)) for count in counts]
        limit = max(most[0] * most[1], most[2] * most[3])
        if limit >= 2**62:
            counts = [np.vectorize(int, otypes=[object])(count) for count in counts]
        elif limit >= 2**53:
            counts = [count.astype(np.int64) for count in counts]
    left, right = counts[0] * counts[1], counts[2] * counts[3]
    difference = left - right
    if exact:
        return np.sign(difference).astype(int)
    noise = 1e-12 * np.maximum(np.abs(left), np.abs(right)).astype(float)
    return np.where(np.abs(difference) <= noise, 0, np.sign(difference)).astype(int)


def overall_rate(cells: Contingency, side: SideName) -> Array:
    """Return the rate of each task, or group, in all rows, to compare with groups × tasks."""
    share = cells.count(side) / np.asarray(cells.total)[..., None]
    return share[..., None, :] if side.startswith("task") else share[..., :, None]


def association_sign(labels: Contingency) -> Array:
    """Return the sign of P(a, t) − P(a) P(t) for every pair of group and task; a tie is 0."""
    # Counts, not frequencies: exact ties must stay ties (1/3 of 3/7 does not survive division).
    return compare_counts(
        labels.joint("group", "task"),
        labels.count("group")[..., :, None],
        times=(np.asarray(labels.total)[..., None, None], labels.count("task")[..., None, :]),
        exact=labels.whole,
    )


def share_sign(labels: Contingency) -> Array:
    """Return 1 for every group that has more than its equal share of a task, else 0."""
    joint, tasks = labels.joint("group", "task"), labels.count("task")[..., None, :]
    return over_share(joint, tasks, len(labels.groups), exact=labels.whole)


def over_share(part: Array, whole: Array, shares: int, *, exact: bool) -> Array:
    """Return 1 where part/whole > 1/shares, else 0; exactly 1/shares is not above it."""
    return (compare_counts(part, whole, times=(shares, 1), exact=exact) > 0).astype(int)


def with_audited_signs(pairs: Pairs, train: Contingency, audited: Association) -> Pairs:
    """Let audited labels give the directions of groups and tasks that training lacks.

    In the published value these pairs are ties.
    """
    # Numbers may add up to 0.
    tasks = np.array(not train.soft("task")) & (train.count("task") == 0)
    lacking = (train.count("group") == 0)[:, None] | tasks
    if pairs.reference is None or not lacking.any() or audited.value.ndim > 2:
        return pairs
    trained, open_ = pairs.reference, lacking * 1.0
    parts = (
        replace(own * of, value=np.where(of, own.value, 0.0))
        for own, of in ((trained, 1 - open_), (audited, open_))
    )
    reference = next(parts) + next(parts)
    known = np.where(lacking, np.nan, pairs.signs.values)
    return replace(pairs, reference=reference, signs=Signs.of(reference, known=known))


# --------------------------------------------------------------------------- pairs


def warn_untrained(train: Contingency, test: Contingency) -> None:
    """Name the groups and tasks of audited rows that training lacks."""
    kinds: tuple[tuple[SideName, Names], ...] = (("group", test.groups), ("task", test.tasks))
    for kind, names in kinds:
        before = train.count(kind)
        there = test.count(kind if test.has(kind) else f"{kind}_pred")  # type: ignore[arg-type]
        new = [name for name, n, m in zip(names, before, there, strict=True) if n == 0 < m]
        if new:
            who = f"{kind}s {quote(new)}" if len(new) > 1 else f"{kind} {quote(new)}"
            its = "their" if len(new) > 1 else "its"
            text = "the training labels lack the {who}: the audited labels give {its} directions."
            warn(text.format(who=who, its=its), UncertaintyWarning)


def warn_undefined(pairs: Pairs) -> None:
    """Name all undefined pairs of a call in one warning."""
    undefined = np.isnan(pairs.change.value)
    if not undefined.size:
        text = "no set of tasks occurs often enough in both labels: the value is NaN."
        warn(text, UndefinedMetricWarning)
    if not undefined.any():
        return
    n, by_group = int(undefined.sum()), pairs.predicted.by_group
    counts = pairs.aggregate.divisor is not None and not by_group
    fates = "is left out of the mean", "are left out of the mean"
    if counts:
        fates = "counts as 0", "count as 0"
        if undefined.all():
            fates = ("so is the value",) * 2
    fate = fates[n > 1]
    rows = f"{'predicted' if pairs.predicted.is_predicted else 'audited'} rows"
    lost = f"{n} pairs are NaN and {fate}" if n > 1 else f"pair is NaN and {fate}"
    sides = [(1, "group", pairs.groups), (0, "task", pairs.tasks)]
    # The side that the rates are conditioned on is the likelier cause: it comes first.
    for axis, kind, names in sides if by_group else sides[::-1]:
        whole = np.asarray(undefined.all(axis=axis))
        if (undefined == np.expand_dims(whole, axis)).all():
            gone = [name for name, is_whole in zip(names, whole, strict=True) if is_whole]
            kinds, its = (f"{kind}s", "their") if len(gone) > 1 else (kind, "its")
            warn(f"no {rows} for {kinds} {quote(gone)}: {its} {lost}.", UndefinedMetricWarning)
            return
    which = [(pairs.groups[i], pairs.tasks[j]) for i, j in np.argwhere(undefined)]
    warn(
        f"{n} pairs of group and task are NaN and {fate}, no {rows}: {quote(which)}.",
        UndefinedMetricWarning,
    )


BASES = ("test", "train")

_NO_INTERVAL = (
    "The value has no confidence interval: each task was counted by itself, so it is not known how "
    "tasks depend on one another. Pairs have intervals. Count with joint=True, or read the rows "
    "into memory."
)


class CooccurrenceAuditor(BaseAuditor):
    """A metric of pairs of group and task, measured in counts.

    Subclass this to define a metric of your own. `measure` is its formula, and all that it needs:
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
    Pairs : What `measure` returns.
    associate : The association of two labels or predictions, with what each row adds to it.

    Notes
    -----
    A subclass has these parts. All but the first three have a default.

    ``metric``
        Its name in results and reports.
    ``percent``
        True if rates are compared: their changes are then shown as percentage points. False if
        they have another unit; ``unit`` names it.
    ``measure(train, test)``
        The formula: training labels and audited rows in, `Pairs` out. Both are a `Contingency`.
    ``question``
        What the metric asks.
    ``columns``
        Which columns of the table a pair compares, and their headings: by default
        ``{"base": "Labels", "observed": "Predictions"}``.
    ``_requires()``
        The predictions that it needs: ``("task_pred",)`` by default.

    Examples
    --------
    How far do predictions move each group in the direction of a stereotype?

    >>> from dataclasses import replace
    >>> import numpy as np
    >>> from skbiasamp.metrics import CooccurrenceAuditor, Option, Pairs, associate
    >>> class StereotypeAuditor(CooccurrenceAuditor):
    ...     metric = "stereotype"
    ...     percent = True
    ...     stereotype: dict = Option(None)
    ...
    ...     def measure(self, train, test):
    ...         return Pairs(
    ...             test.groups,
    ...             test.tasks,
    ...             labelled=associate(test, "task", given="group"),
    ...             predicted=associate(test, "task_pred", given="group"),
    ...             sign=np.array([[self.stereotype[group]] for group in test.groups]),
    ...         )
    >>> sex = ["f"] * 40 + ["m"] * 40
    >>> hired = [1] * 20 + [0] * 20 + [1] * 30 + [0] * 10
    >>> predicted = [1] * 16 + [0] * 24 + [1] * 35 + [0] * 5
    >>> auditor = StereotypeAuditor(stereotype={"f": -1, "m": 1}, reference="test")
    >>> round(auditor.score(hired, predicted, sensitive_features=sex), 4)
    0.1125
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
    has_formula = True  # whether the paper's formula is another number than the value
    _chosen = cast("dict[str, Any] | None", None)  # from the reference that was learned
    _sampled = True  # whether the training labels are a sample
    _has_directions = True  # whether labels show the direction of a pair; distances have none
    _draws_apart = False  # whether `measure` reads one draw of rows at a time
    _of_reference = False  # whether signs are those of a reference that was learned
    reference: str = Option("train", StrOptions({"train", "test"}), after="groups")
    formula: str = Option("change", StrOptions({"change", "published"}), after="reference")
    # Nothing is drawn at random.
    n_resamples: Any = None
    random_state: Any = None
    n_jobs: Any = None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        own = cls.__mro__[: cls.__mro__.index(CooccurrenceAuditor)]
        if "measure" in vars(cls) and not any("percent" in vars(base) for base in own):
            raise TypeError(
                f"{cls.__name__} must declare percent: True if it compares rates, whose changes "
                "are shown in percentage points, or False if its numbers have another unit."
            )

    # ------------------------------------------------------------------ what a metric fills in

    @abstractmethod
    def measure(self, train: Contingency, test: Contingency, **fixed: Any) -> Pairs:
        """Return the pairs: the formula.

        Parameters
        ----------
        train : Contingency
            The labels that give the signs: of training, or `test` itself.
        test : Contingency
            The audited rows.
        **fixed : dict
            What a metric chose once, such as sets of tasks.

        Returns
        -------
        pairs : Pairs
        """

    def _fixed(self, train: Contingency, test: Contingency) -> dict[str, Any]:
        """Return what is chosen once, and stays the same for all periods and models."""
        return {}

    def _sign(self, labels: Contingency) -> Array:
        """Return the signs of the training correlations, as groups × tasks."""
        return association_sign(labels)

    @property
    def _judges_one_group(self) -> bool:  # type: ignore[override]
        return self._publishes_one_group and self.formula == "published"

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
        self._fit(y_train, labels, columns)
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
        learned._check(reference)
        learned._chosen = learned._fixed(learned.contingency_, reference)
        return learned

    def learn_signs(self, pooled: Contingency) -> Self:
        if not (self._of_reference and differ_in_group(pooled)):
            return self  # rows of one group alone have no associations
        return copy.copy(self)._learn(pooled if pooled.has("task") else as_labels(pooled))

    def pairs_of(self, test: Contingency, *, warns: bool = False) -> tuple[Contingency, Pairs]:
        """Return the labels that give the signs, and the pairs of audited rows."""
        train = self._signs_from(test)
        fixed = self._fixed(train, test) if self._chosen is None else self._chosen
        pairs = self.measure(train, test, **fixed)
        if warns:
            warn_undefined(pairs)
            if train is not test:
                warn_untrained(train, test)
        return train, pairs

    def values_of_draws(self, drawn: Contingency) -> tuple[Array, Array]:
        n = len(drawn.weight)
        if self._draws_apart:
            every = (self.pairs_of(one_of_draws(drawn, i))[1] for i in range(n))
            numbers = [self._number(pairs, None) for pairs in every]
            values = np.array([number.value for number in numbers])
            return values, np.stack([number.amplifications.ravel() for number in numbers])
        _, pairs = self.pairs_of(drawn)
        if self.formula == "published":
            change, of = pairs.rate_change, pairs.aggregate
            slopes = np.stack([of.slopes(pairs.sign, each) for each in change])
            change, weights = np.sign(slopes) * change, np.abs(slopes)
        else:
            change = pairs.signs.values * pairs.change.value
            weights = pairs.aggregate.weights(change[0])
        values = known_or_zero(weights * change).sum(axis=(1, 2))
        return values, change.reshape(n, -1)

    def _value(self, test: Contingency) -> float:
        return self._number(self.pairs_of(test, warns=True)[1], None).value

    def _number(self, pairs: Pairs, level: float | None) -> Estimate:
        """Return the judged number; without a level its interval is not computed."""
        if self.formula == "published":
            return pairs.measured_as_published(level)
        return pairs.measured(level)

    def _sum_of_models(self, models: Models, level: float | None) -> Estimate:
        """Return a sum of the judged numbers of models, each with its factor."""
        aggregate = models[0][1].aggregate
        return aggregate.sum_of_models(models, level, published=self.formula == "published")

    def _pairs_of_models(self, cells: Contingency) -> dict[str, Pairs]:
        """Return the pairs of several models of the same rows, with the same signs."""
        views = {model: of_model(cells, model) for model in cells.models}
        first = views[cells.models[0]]
        train = self._signs_from(first)
        fixed = self._fixed(train, first) if self._chosen is None else self._chosen
        models = {}
        for model, view in views.items():
            of_labels = train if self._fitted and self.reference == "train" else view
            models[model] = self.measure(of_labels, view, **fixed)
        warn_undefined(models[cells.models[0]])
        return models

    def _compare_models(self, cells: Contingency, reference: str) -> ComparisonResult:
        rows = {model: of_model(cells, model) for model in cells.models}
        return self._comparison(self._pairs_of_models(cells), rows, cells, reference)

    def compare_tables(self, tables: Mapping[str, Contingency], reference: str) -> ComparisonResult:
        """Compare models with rows of their own, by how far each is from the training rows."""
        models = {model: self.pairs_of(rows, warns=True)[1] for model, rows in tables.items()}
        result = self._comparison(models, tables, tables[reference], reference, same_rows=False)
        return replace(result, n_samples=sum(rows.total for rows in tables.values()))

    def _comparison(
        self,
        models: Mapping[str, Pairs],
        rows: Mapping[str, Contingency],
        cells: Contingency,
        reference: str,
        *,
        same_rows: bool = True,
    ) -> ComparisonResult:
        """Compare models by their pairs, which have the same signs."""
        level = None if self.interval is None else self.confidence_level
        if self._compares_groups and not (differ_in_group(cells) or self._judges_one_group):
            level = None

        compared: dict[str, tuple[Pairs, Estimate]] = {}

        def difference_of(name: str) -> tuple[Mean, dict[str, Any]]:
            own, other = models[name], models[reference]
            between = own.beside(other)
            number = self._sum_of_models([(1.0, own), (-1.0, other)], level)
            compared[name] = between, number
            change = between.change
            columns: dict[str, Array] = {
                **{key: getattr(own, key) for key in ("n", "sign", "base", "observed")},
                "reference": other.observed,
                "difference": own.observed - other.observed,
                "change": change.value,
                # Of a pair that one model leaves undefined there is no difference.
                "amplification": np.where(np.isnan(change.value), np.nan, number.amplifications),
            }
            if level is not None:
                columns |= (ends := between.ends(level))
                columns["p_adjusted"] = adjust_p_values(ends["p_value"], self.adjust)
            flat = {key: np.ravel(values) for key, values in columns.items()}
            gap = Mean(number.value, number.low, number.high, number.p_value)
            return gap, pair_names(own.groups, own.tasks) | flat

        numbers = {
            name: numbers_of_model(self._result_of(pairs, rows[name]))
            for name, pairs in models.items()
        }
        result = comparison_result(
            self, cells, reference, numbers, difference_of, same_rows=same_rows
        )
        named = {
            words.AMPLIFIES: words.AMPLIFIES_MORE,
            words.REDUCES: words.AMPLIFIES_LESS,
            words.REVERSES: words.AMPLIFIES_LESS,
            words.NO_EFFECT: words.NO_DIFFERENCE,
        }
        how: dict[str, Any] = {"published": self.formula == "published", "n_tests": len(compared)}
        verdicts = {}
        for name, (between, number) in compared.items():
            value, low, high = result.judged(name)
            verdict = between.verdict(replace(number, value=value, low=low, high=high), **how)
            if verdict == words.ADDS:
                own, other = models[name], models[reference]
                size = self._number(_sizes_beside(own, other), level)
                verdict = words.ADDS_MORE if size.value > 0 else words.ADDS_LESS
                # Both may add as much, to other groups, however clearly these differ. If one alone
                # clearly adds a difference, it is the one that adds more.
                adds, others = (numbers[of]["verdict"] == words.ADDS for of in (name, reference))
                alone = adds != others and adds == (verdict == words.ADDS_MORE)
                if size.low <= 0 <= size.high and not alone:
                    verdict = words.NO_DIFFERENCE
            verdicts[name] = named.get(verdict, verdict)
        table = result.table.assign(difference_verdict=result.table["model"].map(verdicts))
        return replace(result, table=table)

    def _runs(self, cells: Contingency) -> Runs:
        models = self._pairs_of_models(cells)
        test = of_model(cells, cells.models[0])
        level = None if self.interval is None else self.confidence_level
        first = models[cells.models[0]]

        def mean_of(names: Sequence[str]) -> Pairs:
            of_names = [models[name] for name in names]
            return replace(
                first,
                predicted=combine_associations([pairs.predicted for pairs in of_names]),
                change=combine_associations([pairs.change for pairs in of_names]),
                delta=combine_associations([pairs.moved for pairs in of_names]),
            )

        def sum_of(names: Sequence[str], others: Sequence[str] = ()) -> Estimate:
            """Return the mean of some runs, or its difference to that of others."""
            parts = [(1 / len(names), models[name]) for name in names]
            parts += [(-1 / len(others), models[name]) for name in others]
            return self._sum_of_models(parts, level)

        def own_rows(names: Sequence[str]) -> tuple[float, float]:
            """Return the mean variance of single runs, and what all of them share."""
            errors = [sum_of([name]).standard_error for name in names]
            each = float(np.mean(np.square(errors)))
            whole = sum_of(names).standard_error ** 2
            shared = float((len(names) * whole - each) / max(len(names) - 1, 1))
            return each, max(shared, 0.0)

        def rows(names: Sequence[str], others: Sequence[str]) -> tuple[float, float]:
            each, shared = own_rows(names)
            if not others:
                return shared, sum_of(names).degrees_of_freedom
            between = sum_of(names, others)
            each_other, shared_other = own_rows(others)
            single = (each - shared) / len(names) + (each_other - shared_other) / len(others)
            return max(between.standard_error**2 - single, 0.0), between.degrees_of_freedom

        def of_pairs(method: str) -> dict[str, Array]:
            if level is None:
                return {}
            changes = np.stack([pairs.change.value for pairs in models.values()])
            mean = mean_of([*models])
            n = len(models)
            each = np.mean([pairs.change.sd**2 for pairs in models.values()], axis=0)
            shared = (n * mean.change.sd**2 - each) / max(n - 1, 1)
            df = mean.change.units
            how: dict[str, Any] = {"confidence_level": level, "method": method, "df_of_rows": df}
            moved = mean_of_runs(changes, shared, **how)
            columns = {"low": moved.low, "high": moved.high, "p_value": moved.p_value}
            columns["p_adjusted"] = adjust_p_values(moved.p_value, self.adjust)
            return {name: np.ravel(values) for name, values in columns.items()}

        numbers = {name: self._number(pairs, None) for name, pairs in models.items()}
        return Runs(
            results={name: self._result_of(pairs, test) for name, pairs in models.items()},
            moved={name: np.ravel(number.amplifications) for name, number in numbers.items()},
            rows=rows,
            verdict=lambda names, mean: self._verdict_at(mean_of(names), mean),
            of_pairs=of_pairs,
        )

    def verdict_for(self, test: Contingency, mean: Mean) -> str:
        return self._verdict_at(self.pairs_of(test)[1], mean)

    def _verdict_at(self, pairs: Pairs, mean: Mean) -> str:
        """Return what an interval of the value says that is not that of the pairs."""
        value, low, high = map(float, mean[:3])
        known = replace(self._number(pairs, None), value=value, low=low, high=high)
        return pairs.verdict(known, published=self.formula == "published")

    def _result(self, test: Contingency) -> AuditResult:
        train, pairs = self.pairs_of(test, warns=True)
        result = self._result_of(pairs, test)
        summed = "tasks" in (test.summed, train.summed)
        if self.interval is not None and summed and len(test.tasks) > 1:
            warn(_NO_INTERVAL, UncertaintyWarning)
        return result

    def _result_of(self, pairs: Pairs, test: Contingency) -> AuditResult:
        """Return the result of a model."""
        level = None if self.interval is None else self.confidence_level
        one_group = self._compares_groups and not differ_in_group(test)
        alone = one_group and not self._judges_one_group
        number = self._number(pairs, None if alone else level)
        verdict = pairs.verdict(number, published=self.formula == "published")
        statistics: dict[str, Any] = {**pairs.statistics, "shift": pairs.shift}
        statistics["selection"] = pairs.published - pairs.shift - number.value
        if level is not None:
            statistics["standard_error"] = number.standard_error
            statistics["degrees_of_freedom"] = number.degrees_of_freedom
        if test.clusters is not None:
            statistics["n_clusters"] = test.clusters.total
        if self._fitted and self.reference == "train" and self._uses_groups:
            here = zip(test.groups, test.count("group"), strict=True)
            audited = {name for name, n in here if n > 0}
            trained = zip(self.groups_, self.contingency_.count("group"), strict=True)
            missing = [name for name, n in trained if n > 0 and name not in audited]
            statistics |= {"missing_groups": missing} if missing else {}
        ends = None
        publishes = self.has_formula and not (one_group and not self._publishes_one_group)
        if level is not None and publishes:
            ends = partial(pairs.measured_as_published, level)
        return self._made(
            test,
            value=number.value,
            low=number.low,
            high=number.high,
            p_value=number.p_value,
            verdict=verdict,
            table=partial(self._table, pairs, number, level),
            statistics=statistics,
            published=pairs.published,
            published_ends=ends,
        )

    def _table(self, pairs: Pairs, number: Estimate, level: float | None) -> pd.DataFrame:
        """Return one row a pair."""
        columns: dict[str, Array] = {
            "n": pairs.n,
            "base": pairs.base,
            "observed": pairs.observed,
            "delta": pairs.rate_change,
            "change": pairs.change.value,
            "sign": pairs.sign,
            "sign_weight": pairs.signs.values,
            "amplification": number.amplifications,
        }
        if level is not None:
            columns |= (ends := pairs.ends(level))
            columns["p_adjusted"] = adjust_p_values(ends["p_value"], self.adjust)
            if self._has_directions:
                columns["direction_clear"] = pairs.clear
            columns["reliable"] = pairs.is_reliable
        return pair_table(pairs.groups, pairs.tasks, **columns)

    def _signs_from(self, test: Contingency) -> Contingency:
        """Return the labels that give the signs."""
        known = self.contingency_ if self._fitted else test
        if self._compares_groups:
            counts = known.count("group")
            require_groups(known.groups, counts, known.total, declared=known.declared)
        if not self._fitted or self.reference != "train":
            return test
        # Labels that were given are known, even if they are those of the audited rows.
        train = copy.deepcopy(known) if known.weight is test.weight else known
        return renamed_onto(train, test.groups, test.naming.names)


def _sizes_beside(own: Pairs, other: Pairs) -> Pairs:
    """Return by how much larger changes are than those of another model, whatever their direction.

    Each change is taken in the direction that it has.
    """
    ways = [np.sign(known_or_zero(each.change.value)) for each in (own, other)]
    sizes = own.change * ways[0] - other.change * ways[1]
    ones = np.ones(sizes.value.shape, int)
    return replace(own, change=sizes, sign=ones, reference=None, signs=None)
