"""What the attack metrics share: a pair of attacks, their quality, intervals and table."""

from __future__ import annotations

import copy
import math
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from numbers import Integral
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd

from skbiasamp._input.checks import Array
from skbiasamp._input.errors import InputError
from skbiasamp._input.options import Option
from skbiasamp._utils.compat import HasMethods, Interval, StrOptions
from skbiasamp._utils.random import same_draws
from skbiasamp.attackers import attack_run
from skbiasamp.attackers.attack import ADDITIVE, QUALITIES, Settings, divide
from skbiasamp.attackers.attack_pair import AttackPair, Qualities, above_chance
from skbiasamp.attackers.attack_run import AttackRun, Redrawn
from skbiasamp.attackers.resampling import own_generator
from skbiasamp.counts.cells import side_of
from skbiasamp.counts.contingency import Contingency, SideName
from skbiasamp.counts.merging import by_counts, differ_in_group, ordered, renamed_onto
from skbiasamp.counts.parts import alone, together
from skbiasamp.inference.hypothesis_tests import adjust_p_values, n_changed
from skbiasamp.inference.runs import Mean, by_rows, of_draws, shared_rows, shared_rows_of_difference
from skbiasamp.inference.value import FEWEST_ROWS
from skbiasamp.metrics.base import BaseAuditor
from skbiasamp.metrics.comparing import Runs, comparison_result
from skbiasamp.results import AuditResult, ComparisonResult, label_index

_ESTIMATOR = HasMethods(["fit", "predict"])


class AttackAuditor(BaseAuditor):
    """Base of metrics that compare an attack on labels with an attack on predictions.

    An attacker is a classifier that predicts a target from an input. Derive your own metric from
    this class: `_attacks` says what each attacker's input and target are, `_amplification`
    compares their qualities. Intervals, tests, reports, plots and scorers then work with it.

    .. versionadded:: 0.1

    Parameters
    ----------
    quality : str or callable, default="balanced_accuracy"
        %(quality)s
    equalize : {"f1", "accuracy", None}, default="accuracy"
        Labels get random errors until this score of theirs equals the predictions'.
        %(capped)s
    interval : {"bootstrap", None}, default="bootstrap"
        How `audit` computes confidence intervals. "bootstrap": from how much resampled rows, and
        draws of folds and random errors, differ; trained attackers are not trained again. None:
        neither intervals nor p-values.
    %(shared)s

    Attributes
    ----------
    %(fitted)s

    See Also
    --------
    skbiasamp.LeakageAuditor : The group is predicted from the predictions.
    skbiasamp.DPAAuditor : The predictions are predicted from the group, and the reverse.

    Examples
    --------
    By which factor do the predictions help an attacker who looks for women?

    >>> import numpy as np
    >>> from skbiasamp.metrics import AttackAuditor
    >>> class ExposureAuditor(AttackAuditor):
    ...     metric = "exposure"
    ...     question = "Do the predictions help an attacker to find the group?"
    ...
    ...     def _attacks(self):
    ...         return ("task", "group"), ("task_pred", "group")
    ...
    ...     def _amplification(self, data, model):
    ...         return np.log2(model / data)
    >>> sex = ["f"] * 200 + ["m"] * 200
    >>> cooks = ([1] * 100 + [0] * 100) * 2
    >>> predicted = [1] * 150 + [0] * 50 + [1] * 50 + [0] * 150
    >>> auditor = ExposureAuditor(cv=None, interval=None)
    >>> round(auditor.score(cooks, predicted, sensitive_features=sex), 3)
    0.585
    """

    kind = "attack"
    estimand = (
        "How much better an attacker guesses {about} from the predictions than from {baseline}, in "
        "the population that the audited rows are a sample of."
    )
    null = (
        "The predictions reveal as much about {about} as {baseline} do. Errors that are not random "
        "reject it, also if group and task are as associated as in the labels."
    )
    # Replication and leakage set these; other metrics need not know them.
    balanced, fold, holdout, at = False, False, False, None
    _scores = True
    _compares_groups = False  # one group cannot be predicted: a warning says so
    attacker: Any = Option("auto", StrOptions({"auto", "exact", "mlp"}), _ESTIMATOR)
    quality: Any = Option("balanced_accuracy", StrOptions(set(QUALITIES)), callable)
    equalize: str | None = Option("accuracy", StrOptions({"f1", "accuracy"}), None)
    cv: int | None = Option(5, Interval(Integral, 2, None, closed="left"), None)
    n_draws: int = Option(10, Interval(Integral, 1, None, closed="left"))
    interval: str | None = Option("bootstrap", StrOptions({"bootstrap"}), None)
    verbose: int = Option(0, "verbose", after="n_jobs")

    # ------------------------------------------------------------------ what a metric fills in

    @property
    def percent(self) -> bool:
        """Whether the quality of the attacker is a share of rows."""
        return self.quality in ADDITIVE

    @property
    def fewest_rows(self) -> int:
        """How many rows give every fold one."""
        return self.cv or 1

    @classmethod
    def for_report(cls, test: Contingency, *, scores: bool = False) -> list[Self]:
        """Return the auditors that a report runs unasked: with as many folds as there can be."""
        n = int(test.rows.sum()) if test.clusters is None else test.clusters.total
        auditors = super().for_report(test, scores=scores) if n > 1 else []
        for auditor in auditors:
            if auditor.cv is not None and n < auditor.cv:
                auditor.set_params(cv=n)
        return auditors

    @abstractmethod
    def _attacks(self) -> tuple[tuple[SideName, SideName], tuple[SideName, SideName] | None]:
        """Return (input, target) of the attack on labels, and of the attack on predictions.

        A side is "group", "task", "group_pred" or "task_pred". Labels that become predictions are
        perturbed, see `equalize`.
        """

    @abstractmethod
    def _amplification(self, data: Array, model: Array) -> Array:
        """Return the formula: how far the quality on predictions exceeds that on labels."""

    def _requires(self) -> tuple[SideName, ...]:
        model = self._attacks()[1]
        return tuple(side for side in model or () if side.endswith("_pred"))

    def _equalized(self, test: Contingency) -> str | None:
        """Return which score of the perturbed labels equals the predictions'."""
        return self.equalize

    def _spread(self, resampled: Array) -> Array:
        """Return values of resamples, spread as those of other training rows would be."""
        return resampled

    def _evidence(
        self, done: AttackRun, test: Contingency, rng: np.random.Generator
    ) -> dict[str, Any]:
        """Return what else a result holds, by the names of its fields; statistics are added."""
        return {}

    @property
    def columns(self) -> Mapping[str, str]:  # type: ignore[override]
        """What a pair compares: the quality of an attacker on labels and on predictions."""
        equalized = self.equalize is not None and self._attacks()[1] is not None
        labels = "From equally accurate random labels" if equalized else "From labels"
        return {"quality_data": labels, "quality_model": "From the model"}

    # ------------------------------------------------------------------ how it is run

    def count_audited(self, y_true: Any, y_pred: Any = None, **given: Any) -> Contingency:
        return by_counts(super().count_audited(y_true, y_pred, **given))

    def count_models(
        self, y_true: Any, labels: dict[str, Any], columns: dict[str, Any] | None = None
    ) -> Contingency:
        # Models of the same rows have an order in common.
        return ordered(by_counts(super().count_models(y_true, labels, columns)))

    def _check(self, test: Contingency) -> None:
        super()._check(test)
        roles: dict[SideName, str] = {"group": "sensitive_features", "task": "y_true"}
        for side, name in roles.items() if self._fitted else ():
            if test.soft(side) != self.contingency_.soft(side):
                raise InputError(
                    "{name} must be of one kind in training and audited rows; got numbers in one "
                    "and classes in the other. Cut the numbers into classes, or pass both as "
                    "numbers.",
                    name=name,
                )

    def _run(self, test: Contingency, rng: np.random.Generator) -> AttackRun:
        return attack_run.run_attack(self._pair(test), rng)

    def _pair(self, test: Contingency) -> AttackPair:
        """Return the attacks on labels and on predictions."""
        for cells in (test, self.contingency_) if self._fitted else (test,):
            cells.require_rows(self.metric[:1].upper() + self.metric[1:])
        own = {field.name: getattr(self, field.name) for field in fields(Settings)}
        attacker, read = self._reading(test)
        settings = Settings(**own | {"equalize": self._equalized(test), "attacker": attacker})
        training, validation = self._training(test), self._validation(test)
        return attack_run.make_pair(test, training, settings, *self._attacks(), read, validation)

    def _reading(self, test: Contingency) -> tuple[Any, Any]:
        """Return the attacker, and what it sees in place of classes, of labels and of the model."""
        return self.attacker, (None, None)

    def _validation(self, test: Contingency) -> Contingency | None:
        """Return the rows on which attackers choose their epoch, with the classes of `test`."""
        return None

    def _training(self, test: Contingency) -> Contingency | None:
        """Return the training rows with the classes of the audited ones, which may be more."""
        if not self._fitted:
            return None
        names = (side_of(test, "group").names, side_of(test, "task").names)
        return renamed_onto(self.contingency_, *names)

    def _amplified(self, qualities: Qualities) -> Array:
        return np.asarray(self._amplification(qualities.data, qualities.model))

    def _varied(
        self, of: Callable[[Qualities], Array], done: AttackRun, again: Redrawn | None
    ) -> list[Array]:
        """Return what is made of qualities, then the same of draws, resamples and folds if any."""
        if again is None:
            return [of(done.qualities)]
        varied = [of(done.qualities), of(again.draws), self._spread(of(again.resamples))]
        return varied if again.folds is None else [*varied, of(again.folds)]

    def _value(self, test: Contingency) -> float:
        done = self._run(test, own_generator(self.random_state))
        return float(self._amplified(done.qualities).mean())

    def _compare_models(self, cells: Contingency, reference: str) -> ComparisonResult:
        # Every model is audited by itself, with the random numbers of its own audit.
        models = [reference, *(model for model in cells.models if model != reference)]
        rng = own_generator(self.random_state)
        generators = [rng, *(same_draws(rng) for _ in models[1:])]
        attacked = {
            model: self._attack(alone(cells, model, known=self._fitted), own)
            for model, own in zip(models, generators, strict=True)
        }
        numbers = {}
        for model, own in attacked.items():
            low, high, *_ = self._interval_of_mean(*own.amplified)
            numbers[model] = {"value": own.value, "published": own.value, "low": low, "high": high}

        def difference_of(model: str) -> tuple[Mean, dict[str, Any]]:
            before, after = attacked[reference], attacked[model]
            gaps, how = self._gaps(cells, {reference: before, model: after})
            low, high, p_value, _ = self._interval_of_mean(*gaps, **how)
            on_model = [run.done.qualities.model.mean(axis=0) for run in (before, after)]
            columns = {
                **self._targets(after),
                "n": float(after.done.pair.cells.total),
                "reference": on_model[0],
                "observed": on_model[1],
                "difference": on_model[1] - on_model[0],
                "amplification": gaps[0].mean(axis=0),
                **self._tested(*gaps, **how),
            }
            return Mean(after.value - before.value, low, high, p_value), columns

        return comparison_result(self, cells, reference, numbers, difference_of)

    def _gaps(
        self, cells: Contingency, models: Mapping[str, _Attacked]
    ) -> tuple[list[Array], dict[str, Any]]:
        """Return by how much the second model exceeds the first, and how that varies.

        With it, how many rows, or clusters of them, the two predict differently.
        """
        (reference, before), (model, after) = models.items()
        gaps = [after.amplified[0] - before.amplified[0]]
        if before.again is None:
            return gaps, {}
        old, new = self._resampled(cells, models, before.again.seed)
        _, draws, _, *folds = zip(before.amplified, after.amplified, strict=False)
        n = min(map(len, draws))  # exact attackers have more of them
        gaps += [draws[1][:n] - draws[0][:n], new - old]
        apart = old.mean(axis=-1).var() + new.mean(axis=-1).var()
        common = np.sqrt(divide((new - old).mean(axis=-1).var(), apart))
        for mine, theirs in folds:
            # Folds of two models have other rows. What attackers learn from the rows of both is
            # taken to vary less than from two samples, by as much as what they are scored on does.
            gaps.append(common * (theirs - np.roll(mine, 1, axis=1)))
        n_rows = cells.rows.sum() if cells.clusters is None else cells.clusters.total
        return gaps, {"n_changed": n_changed(cells, model, reference), "n_rows": int(n_rows)}

    def _resampled(
        self, cells: Contingency, attacked: Mapping[str, _Attacked], seed: Any
    ) -> list[Array]:
        """Return the amplification by each model in resamples of the rows of all of them."""
        runs = {model: attacks.done for model, attacks in attacked.items()}
        shared = together(cells, [*runs])
        drawn = attack_run.resampled_together(runs, shared, self.n_resamples, seed)
        return [self._spread(self._amplified(qualities)) for qualities in drawn]

    def _interval(self, *every: Array, **how: Any) -> tuple[Array, ...]:
        """Return ends, p-values and standard errors of targets; NaN if nothing was drawn again."""
        if len(every) == 1:
            return (np.full(every[0].shape[-1], np.nan),) * 4
        return of_draws(*every, confidence_level=self.confidence_level, **how)

    def _tested(self, *every: Array, **how: Any) -> dict[str, Array]:
        """Return the interval and the p-values of targets, as columns of a table."""
        low, high, p_value, _ = self._interval(*every, **how)
        adjusted = adjust_p_values(p_value, self.adjust)
        return {"low": low, "high": high, "p_value": p_value, "p_adjusted": adjusted}

    def _interval_of_mean(self, *every: Array, **how: Any) -> tuple[float, ...]:
        """Return ends, p-value and standard error of the mean over targets."""
        means = (values.mean(axis=-1, keepdims=True) for values in every)
        return tuple(float(numbers[0]) for numbers in self._interval(*means, **how))

    def _result(self, test: Contingency) -> AuditResult:
        rng = own_generator(self.random_state)
        with np.errstate(invalid="ignore"):  # the quality of attackers without errors is infinite
            return self._result_of(self._attack(test, rng), rng)

    def _runs(self, cells: Contingency) -> Runs:
        """Audit every run by itself, and all of them on the same resamples."""
        same = copy.copy(self)
        if not isinstance(same.random_state, Integral):
            same.random_state = int(own_generator(self.random_state).integers(2**31))
        attacked, results = {}, {}
        with np.errstate(invalid="ignore"):
            for model in cells.models:
                rng = own_generator(same.random_state)
                attacked[model] = same._attack(alone(cells, model, known=self._fitted), rng)
                results[model] = same._result_of(attacked[model], rng)
            draws = [np.full((2, 1), np.nan)] * len(results)
            if (first := attacked[cells.models[0]].again) is not None:
                drawn = self._resampled(cells, attacked, first.seed)
                draws = [amplified.mean(axis=-1) for amplified in drawn]
        of_run = dict(zip(results, draws, strict=True))

        def covariances(names: Sequence[str]) -> Array:
            every = np.broadcast_arrays(*(of_run[name] for name in names))
            return by_rows(np.stack(every, axis=-1), "nt,nu->tu")

        def noise(names: Sequence[str]) -> float:
            """Return the variance by folds and perturbations, which are the same for all runs."""
            errors = np.array(
                [results[name].statistics.get("standard_error", np.nan) for name in names]
            )
            return max(float((errors**2 - np.diagonal(covariances(names))).mean()), 0.0)

        def rows(names: Sequence[str], others: Sequence[str]) -> tuple[float, float]:
            if not others:
                return shared_rows(covariances(names)) + noise(names), math.inf
            covariance = covariances([*names, *others])
            return shared_rows_of_difference(covariance, len(names)), math.inf

        return Runs(
            results=results,
            moved={name: run.table["amplification"].to_numpy() for name, run in results.items()},
            rows=rows,
        )

    def _attack(self, test: Contingency, rng: np.random.Generator) -> _Attacked:
        """Run the attacks, and draw again if there is an interval.

        Attackers of few rows learn what their folds happen to hold, and those of one group nothing:
        there is none.
        """
        done, again = self._run(test, rng), None
        many = test.total * test.units_per_weight >= FEWEST_ROWS - 1e-9
        if self.interval is not None and many and differ_in_group(test):
            again = attack_run.redrawn(done, self.n_resamples, rng)
        return _Attacked(test, done, again, self._varied(self._amplified, done, again))

    def _result_of(self, attacked: _Attacked, rng: np.random.Generator) -> AuditResult:
        """Return the result of attacks."""
        test, done, again, amplified = attacked
        pair = done.pair
        data, model = (quality.mean(axis=0) for quality in done.qualities[:2])
        n = int(pair.cells.total) if test.whole else pair.cells.total
        chance, maps = pair.chance(), pair.model is not None and pair.model.of_maps
        statistics: dict[str, Any] = {
            "attacker": done.attacker_name,
            "input": "scores" if test.soft("task_pred") or maps else "predictions",
            "chance_data": float(chance.data.mean()),
            "chance_model": float(chance.model.mean()),
            **(pair.flips | attack_run.in_sample(done)),
        }
        if test.clusters is not None:
            statistics["n_clusters"] = test.clusters.total
        if len(amplified[0]) > 1:
            statistics["between_draw_sd"] = float(amplified[0].mean(axis=1).std(ddof=1))
        low, high, p_value, error = self._interval_of_mean(*amplified)
        if again is not None:
            above = self._interval_of_mean(*self._varied(above_chance, done, again))
            statistics["above_chance_low"], statistics["above_chance_high"] = above[:2]
            statistics["standard_error"] = error
        evidence = self._evidence(done, test, rng)
        statistics |= evidence.pop("statistics", {})
        table = pd.DataFrame(
            {
                **self._targets(attacked),
                "n": n,
                "quality_data": data,
                "quality_model": model,
                "delta": model - data,
                "amplification": amplified[0].mean(axis=0),
                **self._tested(*amplified),
            }
        )
        numbers = {"value": attacked.value, "low": low, "high": high, "p_value": p_value}
        made = {"n_samples": n, "table": table, "statistics": statistics}
        return self._made(test, **numbers, **made, **evidence)

    def _names_of_targets(self, done: AttackRun, test: Contingency) -> tuple[str, Any]:
        """Return whether targets are groups or tasks, and their names."""
        side = self._attacks()[0][1]
        alone = side == "task" and len(test.tasks) == 1
        return side, test.tasks if alone else done.pair.data.names

    def _targets(self, attacked: _Attacked) -> dict[str, Any]:
        """Return group and task of each target; a side that is no target is "(all)"."""
        side, names = self._names_of_targets(attacked.done, attacked.test)
        every = dict.fromkeys(("group", "task"), ["(all)"] * len(names))
        return every | {side: label_index(names)}


class _Attacked(NamedTuple):
    """The attacks of an audit of some rows; `again` is None without an interval.

    `amplified` is the amplification of draws and targets, then how it varies.
    """

    test: Contingency
    done: AttackRun
    again: Redrawn | None
    amplified: list[Array]

    @property
    def value(self) -> float:
        """The mean over draws and targets."""
        return float(self.amplified[0].mean())
