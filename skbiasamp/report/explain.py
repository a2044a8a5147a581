"""explain(): where the amplification of a model comes from."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from skbiasamp._input.checks import Array, Names, check_frame_columns, require_groups
from skbiasamp._input.containers import columns_of, to_native
from skbiasamp._input.errors import InputError, InputTypeError, quote
from skbiasamp._input.labels import Codes, Side
from skbiasamp._utils.docstrings import filling
from skbiasamp._utils.formatting import (
    REVERSES,
    group_of,
    listed,
    name_of,
    p_value,
    rate,
    task_of,
)
from skbiasamp._utils.random import generator
from skbiasamp._utils.warnings import collected
from skbiasamp.counts.cells import distinct, labels_of, side_of, sides_of, with_sides
from skbiasamp.counts.contingency import Contingency, is_contingency
from skbiasamp.counts.engines import names_of
from skbiasamp.counts.several_models import side_of_model
from skbiasamp.inference.hypothesis_tests import adjust_p_values
from skbiasamp.inference.independent_signs import signs_beside, signs_of
from skbiasamp.inference.influence import covariances_of
from skbiasamp.inference.value_parts import (
    DECISION,
    LABEL,
    ROUNDED,
    SCORE,
    StrataSums,
    drawn_sums,
    mean_of_pairs,
)
from skbiasamp.metrics import DirectionalAuditor
from skbiasamp.metrics.inputs import count_labels, opened_rows, read_train, require_predictions
from skbiasamp.results.explanation import Explanation, reversal

LEVEL, N_RESAMPLES = 0.95, 999
# Fewer rows a stratum on average: a number that was not binned, or an id.
_FEWEST, _MOST_GROUPS = 10, 100
_BINS = 10


@filling
def explain(
    y_true: Any,
    y_pred: Any = None,
    *,
    sensitive_features: Any = None,
    y_score: Any = None,
    given: Any = None,
    y_train: Any = None,
    sensitive_train: Any = None,
    sample_weight: Any = None,
    clusters: Any = None,
    pos_label: Any = None,
    random_state: Any = None,
    target: str | list[str] | None = None,
    prediction: str | list[str] | None = None,
    sensitive: str | list[str] | None = None,
    score: str | list[str] | None = None,
    weight: str | None = None,
    cluster: str | None = None,
) -> Explanation:
    """Explain bias amplification: split the value into parts that sum to it.

    Use it after an audit, to see where directional A→T (group → task) comes from: from scores or
    from decisions, from which strata, and from differences between groups within strata or between
    them. The parts are sums over rows. They describe the predictions and are no causal effects.

    .. versionadded:: 0.1

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_tasks), Contingency, frame or path
        Labels of the audited rows. Or a frame, or the path of files, with all columns.
    y_pred : array-like, default=None
        Predicted labels. Without `y_score` they may be probabilities.
    %(sensitive_features)s
    y_score : array-like, default=None
        Probabilities of the tasks, which the predicted labels were made from. They add `decision`:
        what the scores amplify, and what turning them into decisions adds.
    given : array-like or column names, default=None
        One column or several whose values make strata, such as department or prior counts. Bin
        numbers first. They add `strata`, `conditional`, `gaps` and `rates`. Of a frame or a
        `Contingency`: names of columns. Choose columns that the decision did not cause: such a
        column would hide discrimination.
    y_train : array-like, Contingency, frame or path, default=None
        Labels of the training rows; they give the training correlations. None: the audited labels
        give them.
    sensitive_train : array-like, default=None
        The sensitive feature of the training rows.
    %(sample_weight)s
    %(clusters)s
    %(pos_label)s
    %(random_state)s
    target, prediction, sensitive, score, weight, cluster : column name or list
        Columns of labels, predictions, sensitive features, probabilities, weights and clusters, if
        `y_true` is a frame or a path.

    Returns
    -------
    explanation : Explanation

    See Also
    --------
    skbiasamp.audit : Audit a model with every metric that the inputs allow.

    Examples
    --------
    Women apply to the department that rejects most people. Within departments both groups are
    labelled alike, but the model does not predict them so.

    >>> import skbiasamp
    >>> sex = ["f"] * 500 + ["m"] * 500
    >>> department = ["A"] * 100 + ["B"] * 400 + ["A"] * 400 + ["B"] * 100
    >>> admitted = [1] * 80 + [0] * 20 + [1] * 80 + [0] * 320 + [1] * 320 + [0] * 80 + [1] * 20
    >>> admitted += [0] * 80
    >>> predicted = [1] * 70 + [0] * 30 + [1] * 60 + [0] * 340 + [1] * 340 + [0] * 60 + [1] * 20
    >>> predicted += [0] * 80
    >>> explanation = skbiasamp.explain(
    ...     admitted, predicted, sensitive_features=sex, given=department, random_state=0
    ... )
    >>> explanation.strata[["part", "value"]].round(3)
              part  value
    0            A   0.03
    1            B   0.02
    2        shift   0.00
    3    selection   0.00
    4  small pairs   0.00
    >>> round(explanation.value, 3)
    0.05
    """
    columns = {
        "target": target,
        "prediction": prediction,
        "sensitive": sensitive,
        "weight": weight,
        "cluster": cluster,
    }
    columns = {name: one for name, one in columns.items() if one is not None}
    if columns:
        check_frame_columns(columns, (sensitive_train, y_score))
    elif score is not None:
        raise InputTypeError("score= names a column of a frame: pass the frame as {y_true}.")
    of_train = {name: one for name, one in columns.items() if name in ("target", "sensitive")}
    with opened_rows(y_train, of_train) as (rows, _):
        train = read_train(rows, sensitive_train, of_train, pos_label=pos_label)
    if train is not None and pos_label is None:
        pos_label = train.pos_label
    labels = {"sensitive_features": sensitive_features, "sample_weight": sample_weight}
    labels |= {"clusters": clusters, "y_pred": y_pred}
    n_given = 0
    if columns:
        columns, n_given = _named(columns, score, given)
    elif not is_contingency(y_true):
        labels, n_given = _together(labels, y_score, given)
    elif y_score is not None:
        labels["y_score"] = y_score  # which a contingency refuses, as it does other labels
    # Strata of groups may be many, and are no groups.
    fine = count_labels(y_true, labels, columns, pos_label=pos_label, max_groups=np.inf)
    fine.require("task")
    fine.require_rows("An explanation")
    if fine.indicator:
        raise InputError(
            "{sensitive_features} has groups that overlap, and parts are of groups that do not. "
            "Explain one column at a time."
        )
    if y_score is None and score is None:
        require_predictions(fine, ("task_pred",), what="An explanation")
    group, stratum, groups, strata, names = _divided(fine, given, n_given)
    cells, fine = _merged(fine, group, groups, names[0], train)
    scored = bool(fine.models)
    test = cells.model(DECISION) if scored else distinct(cells)
    signs = test if train is None else train
    require_groups(signs.groups, signs.count("group"), signs.total, declared=signs.declared)
    if scored and test.soft("task_pred"):
        raise InputError("{y_pred} must hold predicted labels if {y_score} is passed.")
    # Names of training rows may come first.
    position = {name: i for i, name in enumerate(cells.groups)}
    group = np.array([position[groups[i]] for i in group])
    side = side_of_model("task_pred", DECISION) if scored else "task_pred"
    sides = {LABEL: "task", DECISION: side}
    sides |= {SCORE: side_of_model("task_pred", SCORE)} if scored else {}
    rng = generator(random_state)
    auditor = DirectionalAuditor(
        reference="test" if train is None else "train",
        confidence_level=LEVEL,
        n_resamples=N_RESAMPLES,
        random_state=rng,
    )
    with collected():
        if train is not None:
            auditor.fit(train)
        audit = auditor.audit(test)
        learned, _, pairs = auditor._measured(test)
    sums = drawn_sums(
        fine,
        group,
        stratum,
        sides,
        shape=(len(cells.groups), len(strata)),
        n_resamples=N_RESAMPLES,
        random_state=rng,
    )
    parts = _Parts(sums, pairs.sign, signs_of(pairs, learned, test).counted, train is not None)
    used = audit.table["sign_used"].to_numpy().reshape(pairs.sign.shape)
    by_task = parts.summing({"gap": parts.total}, used)
    change = _table(_over_tasks(by_task))
    change.loc[0, ["low", "high"]] = audit.low, audit.high  # as wide as few changed rows need
    tables: dict[str, Any] = {"change": change, "change_by_task": _by_task(by_task, test.tasks)}
    findings: list[str] = []
    verdicts = {"gap": audit.verdict}
    if scored:
        stages = [LABEL, SCORE, ROUNDED, DECISION]
        steps = zip(("scores", "rounding", "threshold"), stages, stages[1:], strict=False)
        changes = {name: sums.change(before, after) for name, before, after in steps}
        tables["decision"] = _table(_over_tasks(parts.summing(changes)))
        tables["calibration"] = _calibration(cells)
        findings += _uncalibrated(tables["calibration"])
    if names[1]:
        added = {name: sums.of_stratum(i) for i, name in enumerate(strata)}
        tables["strata"] = _table(_over_tasks(parts.summing(added)))
        tables["conditional"], inverted = _conditional(sums)
        verdicts |= {"within strata": REVERSES} if inverted else {}
        tables["gaps"] = _gaps(sums, cells.groups, cells.tasks)
        tables["rates"] = _rates(sums, cells.groups, cells.tasks)
        findings += _of_overlap(sums, strata, names[1])
        findings += _reversals(sums, cells.groups, cells.tasks, names)
    context = {"sensitive": names[0], "given": names[1], "confidence_level": LEVEL}
    context |= {"verdicts": verdicts, "n_samples": test.total, "n_resamples": N_RESAMPLES}
    return Explanation(audit, **tables, findings=findings, context=context)


# --------------------------------------------------------------------------- rows


def _named(columns: dict[str, Any], score: Any, given: Any) -> tuple[dict[str, Any], int]:
    """Return the columns of a frame, with those of strata after the sensitive ones."""
    columns, strata = dict(columns), [] if given is None else names_of(given)
    columns["sensitive"] = [*names_of(columns["sensitive"]), *strata]
    if score is not None:
        columns["prediction"] = {DECISION: columns.get("prediction"), SCORE: score}
    return columns, len(strata)


def _together(labels: dict[str, Any], y_score: Any, given: Any) -> tuple[dict[str, Any], int]:
    """Return labels with the columns of strata after the sensitive ones."""
    labels, n_given = dict(labels), 0
    if y_score is not None:
        labels["y_preds"] = {DECISION: labels.pop("y_pred"), SCORE: y_score}
    if given is not None and labels["sensitive_features"] is not None:
        held = {}
        for name, title in (("sensitive_features", "group"), ("given", "stratum")):
            columns = columns_of(to_native(given if name == "given" else labels[name], name))
            n_given = len(columns)
            for position, column in columns:
                named = isinstance(position, str)
                own = position if named else f"{title} {position}".removesuffix(" 0")
                held[f"{own} (given)" if own in held else own] = column
        labels["sensitive_features"] = held
    return labels, n_given


def _divided(
    fine: Contingency, given: Any, n_given: int
) -> tuple[Array, Array, Names, Names, tuple[Names, Names]]:
    """Return the group and the stratum of each combination, and all names of both."""
    columns = side_of(fine, "group").columns
    at = list(range(len(columns)))[len(columns) - n_given :] if n_given else []
    if is_contingency(given):
        raise InputTypeError("{given} must name columns of strata; got a Contingency.")
    if given is not None and not n_given:
        wanted = names_of(given)
        lacking = [name for name in wanted if name not in columns]
        if lacking or len(wanted) >= len(columns):
            raise InputError(
                "{given} must name some columns of groups of the Contingency, but not all; it has "
                "{columns}, and got {seen}.",
                columns=quote(columns),
                seen=quote(wanted),
            )
        at = [columns.index(name) for name in wanted]
    others = [i for i in range(len(columns)) if i not in at]
    every = [
        [_parts_of(name, where) for name in fine.groups] if at else list(whole)
        for where, whole in ((others, fine.groups), (at, [()] * len(fine.groups)))
    ]
    (groups, group), (strata, stratum) = map(_numbered, every)
    if len(strata) > 1 and fine.total < _FEWEST * len(strata):
        raise InputError(
            "{given} has {n} different strata in {rows:,.15g} rows. Bin numbers first.",
            n=len(strata),
            rows=fine.total,
        )
    if len(groups) > _MOST_GROUPS:
        raise InputError(
            "{sensitive_features} has {n} different values. Bin numbers first.", n=len(groups)
        )
    names = tuple(columns[i] for i in others), tuple(columns[i] for i in at)
    if not at:
        names = fine.group_columns, ()
    return group, stratum, groups, strata, names


def _parts_of(name: Any, where: list[int]) -> Hashable:
    chosen = tuple(name[i] for i in where)
    return chosen[0] if len(chosen) == 1 else chosen


def _numbered(names: list[Hashable]) -> tuple[Names, Array]:
    """Return the distinct names, sorted as they came first, and the number of each."""
    distinct_names = list(dict.fromkeys(names))
    number = {name: i for i, name in enumerate(distinct_names)}
    return tuple(distinct_names), np.array([number[name] for name in names])


def _merged(
    fine: Contingency, group: Array, groups: Names, columns: Names, train: Contingency | None
) -> tuple[Contingency, Contingency]:
    """Return the cells by group, and by group and stratum, both under the names of training."""
    own = side_of(fine, "group")
    assert isinstance(own.labels, Codes)
    merged = Side(groups, Codes(group[own.labels.codes], len(groups)), columns=columns)
    cells = with_sides(fine, sides_of(fine) | {"group": merged})
    if train is not None:
        cells = cells.conform(train)
    return cells, with_sides(cells, sides_of(cells) | {"group": own})


# --------------------------------------------------------------------------- parts


class _Parts:
    """Parts of the value at signs that are independent of them, and what is left of the value."""

    def __init__(self, sums: StrataSums, published: Array, counted: Array, trained: bool) -> None:
        self.sums, self.trained = sums, trained
        self.counted = np.where(counted, published, 0)
        self.small = np.where(counted, 0, published)
        self.used = counted
        self.total = sums.change(LABEL, DECISION)

    def summing(self, changes: Mapping[Any, Array], sign: Array | None = None) -> dict[Any, Array]:
        """Return the mean of each part, as draws × tasks; all of them sum to the value.

        `sign` are the signs of the estimate, if these are known.
        """
        sums = self.sums
        if sign is None:
            sign = self.counted
            if not self.trained and sign.any():
                own = signs_beside(sums.association(LABEL), list(changes.values()))
                sign = np.where(self.used, own, 0)
        shift = sums.overall(DECISION) - sums.overall(LABEL) + 0 * self.total
        small = sums.rate(DECISION) - sums.rate(LABEL)
        parts = {name: mean_of_pairs(sign, change) for name, change in changes.items()}
        return parts | {
            "shift": mean_of_pairs(self.counted, shift),
            "selection": mean_of_pairs(self.counted - sign, self.total),
            "small pairs": mean_of_pairs(self.small, small),
        }


def _over_tasks(parts: Mapping[Any, Array]) -> dict[Any, Array]:
    return {name: each.sum(axis=1) for name, each in parts.items()}


def _table(parts: Mapping[Any, Array]) -> pd.DataFrame:
    """Return a row for each part: its value, and the percentiles of its resamples."""
    return pd.DataFrame([{"part": name, **_row(name, draws)} for name, draws in parts.items()])


def _row(part: Any, draws: Array) -> dict[str, float]:
    tail = (1 - LEVEL) / 2
    known = draws[1:][~np.isnan(draws[1:])]
    low, high = np.quantile(known, [tail, 1 - tail]) if len(known) else (np.nan, np.nan)
    if part == "selection" and draws.any():  # it is of these rows, and no resample repeats it
        low = high = np.nan
    return {"value": float(draws[0]), "low": float(low), "high": float(high)}


def _by_task(parts: Mapping[Any, Array], tasks: Names) -> pd.DataFrame:
    rows: list[dict[str, Any]] = [
        {"task": task, "part": part, **_row(part, draws[:, i])}
        for i, task in enumerate(tasks)
        for part, draws in parts.items()
    ]
    return pd.DataFrame(rows)


# --------------------------------------------------------------------------- calibration


def _calibration(cells: Contingency) -> pd.DataFrame:
    """Return mean score and rate of the label in bins of each task, and the test that they agree.

    Bins have equally many rows. The test is Wald's, so that weights and clusters count.
    """
    labels = labels_of(cells, "task").dense(slice(None), float)
    scores = labels_of(cells, side_of_model("task_pred", SCORE)).dense(slice(None), float)
    tables = []
    for task, label, score in zip(cells.tasks, labels.T, scores.T, strict=True):
        order = np.argsort(score, kind="stable")
        reached = np.cumsum(cells.weight[order])
        ends = score[order][np.searchsorted(reached, cells.total * np.arange(1, _BINS) / _BINS)]
        of = np.searchsorted(np.unique(ends), score, side="left")
        inside = (of == np.arange(of.max() + 1)[:, None]).astype(float)
        n = inside @ cells.weight
        inside, n = inside[n > 0], n[n > 0]
        apart = inside * (label - score)
        spread = covariances_of(cells, apart)
        moved = apart @ cells.weight
        rank = int(np.linalg.matrix_rank(spread, hermitian=True))
        size = moved @ np.linalg.pinv(spread, hermitian=True) @ moved
        p = float(stats.chi2.sf(size, rank)) if rank else float(not moved.any())
        held = {"n": n, "score": inside * score @ cells.weight / n}
        held |= {"label_rate": inside * label @ cells.weight / n, "p_value": p}
        tables.append(pd.DataFrame({"task": [task] * len(n), **held}))
    return pd.concat(tables, ignore_index=True)


def _uncalibrated(table: pd.DataFrame) -> Iterator[str]:
    """Say for which tasks the scores are not calibrated (Holm's first step over tasks)."""
    each = table.drop_duplicates("task")
    wrong = each[each["p_value"] * len(each) < 1 - LEVEL]
    if len(wrong):
        which = listed([f"task {task_of(task)}" for task in wrong["task"][:3]])
        more = f" and {len(wrong) - 3} more" * (len(wrong) > 3)
        yield (
            f"The scores are not calibrated for {which}{more} (smallest p-value: "
            f"{p_value(wrong['p_value'].min())}). Scores, rounding and threshold then describe the "
            "decisions. They do not say what calibrated scores would change."
        )


# --------------------------------------------------------------------------- strata


def _conditional(sums: StrataSums) -> tuple[pd.DataFrame, bool]:
    """Return the parts of the amplification within strata, and whether it is a reversal."""
    both = {"within strata": True, "no overlap": False}
    labels = {name: sums.within(LABEL, shared=shared) for name, shared in both.items()}
    changes = {
        name: sums.within(DECISION, shared=shared) - labels[name] for name, shared in both.items()
    }
    association = labels["within strata"] + labels["no overlap"]
    some = np.where(sums.n.sum(axis=2) > 0, 1.0, np.nan)[..., None]
    sign = signs_beside(association, list(changes.values()))
    published = np.sign(np.where(np.abs(association[0]) > 1e-12, association[0], 0)).astype(int)
    parts = {name: mean_of_pairs(sign, change * some) for name, change in changes.items()}
    total = changes["within strata"] + changes["no overlap"]
    parts["shift"] = mean_of_pairs(published, sums.shift_within() * some)
    parts["selection"] = mean_of_pairs(published - sign, total * some)
    table = _table(_over_tasks(parts))
    predicted = mean_of_pairs(sign, sums.within(DECISION, shared=True) * some).sum(axis=1)
    inverted = table["high"][0] < 0 and _row("", predicted)["high"] < 0
    return table, bool(inverted)


def _compared(sums: StrataSums) -> list[tuple[int, int]]:
    """Return the groups that have rows, each with the largest."""
    n = sums.n[0].sum(axis=1)
    largest = int(np.argmax(n))
    return [(int(group), largest) for group in np.flatnonzero(n) if group != largest]


def _gaps(sums: StrataSums, groups: Names, tasks: Names) -> pd.DataFrame:
    """Return how each group differs from the largest, in labels, in predictions, and the change."""
    rows = []
    for group, other in _compared(sums):
        labels, decisions = (sums.gap(stage, group, other) for stage in (LABEL, DECISION))
        change = {part: decisions[part] - draws for part, draws in labels.items()}
        each = {"labels": labels, "predictions": decisions, "change": change}
        for i, task in enumerate(tasks):
            where = {"task": task, "group": groups[group], "other": groups[other]}
            rows += [
                {**where, "of": of, "part": part, **_row(part, draws[:, i])}
                for of, parts in each.items()
                for part, draws in parts.items()
            ]
    return pd.DataFrame(rows)


def _rates(sums: StrataSums, groups: Names, tasks: Names) -> pd.DataFrame:
    """Return rates and demographic disparities of each group, overall and by stratum."""
    tables = []
    for of, stage in (("labels", LABEL), ("predictions", DECISION)):
        numbers = {
            "rate": sums.rate(stage),
            "standardised": sums.standardised(stage),
            "disparity": sums.disparity(stage, within=False),
            "conditional_disparity": sums.disparity(stage, within=True),
        }
        held = {name: draws[0].ravel() for name, draws in numbers.items()}
        of_pairs = {
            "group": [group for group in groups for _ in tasks],
            "task": [task for _ in groups for task in tasks],
        }
        tables.append(pd.DataFrame({**of_pairs, "of": of, **held}))
    return pd.concat(tables, ignore_index=True)


def _of_overlap(sums: StrataSums, strata: Names, columns: Names) -> Iterator[str]:
    """Name the strata in which a group has no rows."""
    alone = np.flatnonzero(~sums.shared[0])
    if len(alone):
        shown = listed([group_of(strata[i], columns) for i in alone[:3]])
        more = f" and {len(alone) - 3} more" * (len(alone) > 3)
        share = rate(float(sums.weight[0, alone].sum()))
        yield (
            f"In {len(alone)} of {len(strata)} strata a group has no rows: {shown}{more}. "
            f"They hold {share} of rows, and groups cannot be compared within them."
        )


def _reversals(
    sums: StrataSums, groups: Names, tasks: Names, names: tuple[Names, Names]
) -> Iterator[str]:
    """Say where groups differ in one direction overall, and in the other within strata.

    Both differences must be certain, for all groups and tasks together (Holm).
    """
    pairs = _compared(sums)
    own, other = (np.array(each) for each in zip(*pairs, strict=True))
    for of, stage in (("labels", LABEL), ("predictions", DECISION)):
        rates = np.stack([sums.rate(stage), sums.standardised(stage)])
        apart = rates[:, :, own] - rates[:, :, other]
        whole, within = apart[:, 0]
        error = np.nan_to_num(apart[:, 1:]).std(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            least = (np.abs(apart[:, 0]) / error).min(axis=0)
        p_values = adjust_p_values(2 * stats.norm.sf(np.nan_to_num(least)), "holm")
        for i, j in np.argwhere((p_values < 1 - LEVEL) & (whole * within < 0)):
            shown = [group_of(groups[k], names[0]) for k in pairs[i]]
            column = name_of(list(names[1]))
            yield reversal(tasks[j], shown, of, float(whole[i, j]), float(within[i, j]), column)
