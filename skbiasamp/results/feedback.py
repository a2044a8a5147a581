"""The result of a feedback audit: amplification of models that learn from their predictions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

import pandas as pd

from skbiasamp._io.json import Level, Whole, limited, one_of, table_reader
from skbiasamp._utils.formatting import level_of, number, rate
from skbiasamp.render.document import Document
from skbiasamp.results._json import OfMetric
from skbiasamp.results._shown import Shown, of_frame

ACCUMULATES, SHRINKS, BOUNDED = "accumulates", "shrinks", "stays bounded"
_ENDS = ("low", "high", "difference", "difference_low", "difference_high", "accuracy")
_GENERATION = Annotated[Whole, limited(1)]
_TABLE = {"generation": _GENERATION, "value": float, **dict.fromkeys(_ENDS, float)}
_RUNS = {"run": float, "generation": _GENERATION, "value": float, "accuracy": float}


@dataclass(frozen=True, eq=False, repr=False)
class FeedbackResult(Shown, OfMetric):
    """Result of a feedback audit: one audit a generation, with intervals over runs.

    `skbiasamp.monitoring.feedback_audit` returns it.

    .. versionadded:: 0.1

    Attributes
    ----------
    metric, direction : str
        The metric and its direction.
    table : DataFrame
        One row a generation: the mean ``value`` over runs with ``low`` and ``high``; its
        ``difference`` from the first generation, paired by run; and the mean ``accuracy``.
    runs : DataFrame
        One row for each run and generation.
    human_share : float
        Share of the labels that people gave, in each generation after the first.
    labels : {"predict", "sample"}
        How the model gave the others.
    confidence_level : float
        Level of the intervals.
    params : dict
        The auditor's parameters.

    Examples
    --------
    >>> import pandas as pd
    >>> from skbiasamp.monitoring import FeedbackResult
    >>> row = {"generation": 1, "value": 0.1, "low": 0.05, "high": 0.15, "accuracy": 0.8}
    >>> row |= {"difference": 0.0, "difference_low": 0.0, "difference_high": 0.0}
    >>> later = {**row, "generation": 2, "difference": 0.1, "difference_low": 0.06}
    >>> later["difference_high"] = 0.14
    >>> table = pd.DataFrame([row, later])
    >>> result = FeedbackResult("directional", "A->T", table, pd.DataFrame(), 0.5, "predict", 0.95)
    >>> result.verdict
    'accumulates'
    """

    _schema = "skbiasamp.FeedbackResult/1"
    _last = (
        "metric",
        "direction",
        "verdict",
        "sentence",
        "table",
        "runs",
        "human_share",
        "labels",
        "confidence_level",
        "params",
    )

    metric: str
    direction: str | None
    table: Annotated[pd.DataFrame, table_reader(_TABLE)]
    runs: Annotated[pd.DataFrame, table_reader(_RUNS)]
    human_share: Level
    labels: Annotated[str, one_of("predict", "sample")]
    confidence_level: Level
    params: dict[str, Any] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        """One of "accumulates", "shrinks" and "stays bounded".

        By the interval of the difference between the last and the first generation.
        """
        last = self.table.iloc[-1]
        if last["difference_low"] > 0:
            return ACCUMULATES
        return SHRINKS if last["difference_high"] < 0 else BOUNDED

    @property
    def sentence(self) -> str:
        """What the audit says: verdict first."""
        first, last = self.table.iloc[0], self.table.iloc[-1]
        n = int(last["generation"])
        how = "predicts" if self.labels == "predict" else "samples"
        ends = f"{number(last['difference_low'])} to {number(last['difference_high'])}"
        return (
            f"Amplification {self.verdict}: it is {number(first['value'])} in the first generation "
            f"and {number(last['value'])} in generation {n}, a difference of "
            f"{number(last['difference'])} ({level_of(self.confidence_level)} confidence interval "
            f"{ends}). The model {how} {rate(1 - self.human_share)} of the labels that the next "
            "generation learns from."
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one row a generation.

        Returns
        -------
        frame : DataFrame
            A copy of `table`.
        """
        return self.table.copy()

    def to_document(self) -> Document:
        """Return the sentence and the generations as plain data, which renderers show.

        Returns
        -------
        document : Document
        """
        return of_frame(f"{self.name}: {self.sentence}", self.table, [])

    def _wrong_field(self) -> str | None:
        return "table" if self.table.empty else None
