"""MitigationComparison: amplification and scores of mitigations, and how they are tabled."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from skbiasamp.model_selection import CrossAuditResult
from skbiasamp.model_selection.folds import over_folds
from skbiasamp.results import ComparisonResult

# What a comparison says of a model.
PAIRED = ("difference", "difference_low", "difference_high", "p_value", "p_adjusted")
_NUMBERS = (
    *("value", "low", "high", "change", "change_low", "change_high"),
    *("rows_changed", *PAIRED),
)


@dataclass(frozen=True, eq=False, repr=False)
class MitigationComparison:
    """Comparison of mitigations, as returned by `compare_mitigations`.

    Attributes
    ----------
    table : DataFrame
        One row for each mitigation and measure. ``mitigation``; ``noise``: its scale, NaN if it is
        not noise; ``measure``; ``value``, ``low``, ``high``: mean over folds and its confidence
        interval; ``change``, ``change_low``, ``change_high``: difference from the baseline on the
        same folds and its confidence interval; ``rows_changed``: share of held-out rows whose
        prediction differs from the baseline's; ``difference``, ``difference_low``,
        ``difference_high``, ``p_value``, ``p_adjusted`` (for the number of mitigations):
        difference of the amplification from the baseline in all held-out predictions together,
        with its paired interval and test, NaN for scores; ``error``: why the mitigation could not
        be trained, else None.
    scores, amplifications : list of str
        Names of the measures that are scores, and of those that are amplifications.
    baseline : str
        Name of the model without mitigation.
    confidence_level : float
        Level of the intervals.
    audits : dict of str to dict of str to CrossAuditResult
        The audits of each mitigation that could be trained, by the auditor's name.
    comparisons : dict of str to ComparisonResult
        The held-out predictions of all mitigations on the same rows and resamples, by the
        auditor's name: what ``difference`` is from, and who gains and who loses. Empty if nothing
        but the baseline could be trained.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skbiasamp.mitigation import RatioBalancer, compare_mitigations
    >>> rng = np.random.default_rng(0)
    >>> sex, skill = rng.integers(0, 2, 600), rng.normal(size=600)
    >>> hired = (skill + sex + rng.normal(size=600) > 0.5).astype(int)
    >>> found = compare_mitigations(
    ...     np.column_stack([skill, sex]),
    ...     hired,
    ...     sex,
    ...     {"none": LogisticRegression(), "balanced": (RatioBalancer(), LogisticRegression())},
    ...     noise=(),
    ...     random_state=0,
    ... )
    >>> found.scores, found.amplifications, found.baseline
    (['accuracy', 'f1'], ['directional A->T'], 'none')
    >>> changes = found.table[found.table["mitigation"] == "balanced"]
    >>> changes[["measure", "change", "change_low", "change_high"]].round(2)
                measure  change  change_low  change_high
    3          accuracy   -0.04       -0.06        -0.01
    4                f1   -0.03       -0.06        -0.01
    5  directional A->T   -0.12       -0.17        -0.07
    """

    table: pd.DataFrame
    scores: list[str]
    amplifications: list[str]
    baseline: str
    confidence_level: float
    audits: dict[str, dict[str, CrossAuditResult]] = field(default_factory=dict)
    comparisons: dict[str, ComparisonResult] = field(default_factory=dict)

    def __repr__(self) -> str:
        cells = self.table.assign(
            cell=[
                "failed"
                if isinstance(row.error, str)
                else f"{row.value:.3f} [{row.low:.3f}, {row.high:.3f}]"
                for row in self.table.itertuples(index=False)
            ]
        )
        wide = cells.pivot(index="mitigation", columns="measure", values="cell")
        order = self.table["mitigation"].unique(), self.scores + self.amplifications
        lines = [wide.loc[order].rename_axis(index=None, columns=None).to_string()]
        ends = self.table.drop_duplicates("mitigation")
        for name, changed, error in ends[["mitigation", "rows_changed", "error"]].to_numpy():
            if isinstance(error, str):  # pandas may turn None into NaN
                lines.append(f"{name} failed: {error}")
            elif name != self.baseline and changed == 0:
                lines.append(
                    f"{name} changed nothing: its predictions are those of {self.baseline!r} in "
                    "every row."
                )
        return "\n".join(lines)

    def to_frame(self) -> pd.DataFrame:
        """Return a copy of ``table``."""
        return self.table.copy()


def table_of(
    scales: dict[str, float],
    scores: list[str],
    audits: dict[str, dict[str, CrossAuditResult]],
    errors: dict[str, str],
    comparisons: dict[str, ComparisonResult],
    baseline: str,
    **over: Any,
) -> pd.DataFrame:
    """Return a row for each mitigation and measure."""
    folds = {name: _of_folds(found, scores) for name, found in audits.items()}
    rows = []
    for name, scale in scales.items():
        for measure in [*scores, *audits[baseline]]:
            row: dict[str, Any] = {"mitigation": name, "noise": scale, "measure": measure}
            rows.append(row | dict.fromkeys(_NUMBERS, np.nan) | {"error": errors.get(name)})
            if name in errors:
                continue
            table, reference = folds[name], folds[baseline]
            change = table.assign(**{measure: table[measure] - reference[measure]})
            found = over_folds(table, measure, **over)[:3] + over_folds(change, measure, **over)[:3]
            rows[-1] |= dict(zip(_NUMBERS[:6], found, strict=True))
            rows[-1]["rows_changed"] = _share_changed(audits[name], audits[baseline])
            if measure in comparisons and name != baseline:
                paired = comparisons[measure].table.set_index("model")
                rows[-1] |= {column: paired.loc[name, column] for column in PAIRED}
    return pd.DataFrame(rows)


def _share_changed(
    audits: dict[str, CrossAuditResult], baseline: dict[str, CrossAuditResult]
) -> float:
    """Return the share of held-out rows whose predictions differ."""
    ours, theirs = (
        np.concatenate(next(iter(one.values())).predictions) for one in (audits, baseline)
    )
    return float(np.mean((ours != theirs).reshape(len(ours), -1).any(axis=1)))


def _of_folds(audits: dict[str, CrossAuditResult], scores: list[str]) -> pd.DataFrame:
    """Return every measure of every fold."""
    table = next(iter(audits.values())).table[["repeat", "n_train", "n_test", *scores]]
    return table.assign(**{name: found.table["value"] for name, found in audits.items()})
