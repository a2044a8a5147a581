"""What an audit found: a number, the table of pairs behind it, and how both were made."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from skbiasamp._labels import Array, Names

SCHEMA = "skbiasamp.AuditResult/1"

COLUMNS = (
    "group",
    "task",
    "n",
    "base",
    "observed",
    "sign",
    "delta",
    "amplification",
    "low",
    "high",
    "p_value",
    "p_adjusted",
    "sign_certain",
    "reliable",
)

# Rates to four places; p-values to two digits, however small.
_FORMATS: dict[str, Any] = {
    "float_format": "{:.4f}".format,
    "formatters": {"p_value": "{:.2g}".format},
}


@dataclass(frozen=True, eq=False, repr=False)
class AuditResult:
    """The amplification that an auditor measured, with its table of pairs.

    Results come from an auditor's ``audit``; ``float(result)`` is the value.

    Attributes
    ----------
    metric : str
        What was measured: "MALS", "directional", ...
    direction : str or None
        "A->T", "T->A", or None where the metric has none.
    value : float
        The amplification.
    low, high : float
        Its interval, NaN where none was asked for.
    confidence_level : float or None
        The interval's level.
    p_value : float
        Of the test that the model does not move the value, NaN where none was made.
    n_samples : int or float
        Audited rows, or the sum of their weights.
    table : DataFrame
        One row a pair of group and task: ``n`` (rows that the rates are conditioned on),
        ``base`` and ``observed`` (the rate before and after prediction), ``sign`` (of the
        training correlation), ``delta`` (observed − base), ``amplification``, its ``low`` and
        ``high``, ``p_value`` and ``p_adjusted``, ``sign_certain`` (whether the training
        correlation can be told from none) and ``reliable`` (whether there are 10 rows or more).
        NaN where a pair is undefined.
    params : dict
        The auditor's parameters.
    statistics : dict
        Further numbers of the metric, such as the variance of a multi-attribute audit.

    Examples
    --------
    >>> from skbiasamp import DirectionalAuditor
    >>> sex = ["f"] * 400 + ["m"] * 400
    >>> hired = [1] * 100 + [0] * 300 + [1] * 200 + [0] * 200
    >>> predicted = [1] * 60 + [0] * 340 + [1] * 250 + [0] * 150
    >>> auditor = DirectionalAuditor(random_state=0).fit(hired, sensitive_features=sex)
    >>> result = auditor.audit(hired, predicted, sensitive_features=sex)
    >>> float(result)
    0.1125
    >>> result
    directional A->T: +0.1125 [+0.0925, +0.1342], p = 0.001 (800 rows, 2 groups x 1 task)
    group  task   n   base  observed  sign   delta  amplification    low   high p_value
        f     1 400 0.2500    0.1500    -1 -0.1000         0.1000 0.0721 0.1309 1.8e-12
        m     1 400 0.5000    0.6250     1  0.1250         0.1250 0.0945 0.1570 1.8e-15
    """

    metric: str
    direction: str | None
    value: float
    low: float
    high: float
    confidence_level: float | None
    p_value: float
    n_samples: float
    table: pd.DataFrame
    params: dict[str, Any]
    statistics: dict[str, float] = field(default_factory=dict)

    def __float__(self) -> float:
        return float(self.value)

    @property
    def _title(self) -> str:
        name = self.metric if self.direction is None else f"{self.metric} {self.direction}"
        text = f"{name}: {self.value:+.4f}"
        if not math.isnan(self.low):
            text += f" [{self.low:+.4f}, {self.high:+.4f}]"
        if not math.isnan(self.p_value):
            text += f", p = {self.p_value:.3g}"
        rows = f"{self.n_samples:,.15g} row{'s' * (self.n_samples != 1)}"
        if "attacker" in self.statistics:
            return f"{text} ({rows}, {self.statistics['attacker']} attacker)"
        groups, tasks = self.table["group"].nunique(), self.table["task"].nunique()
        kind = "set of tasks" if self.metric == "multi-attribute" else "task"
        plural = kind if tasks == 1 else kind.replace("set ", "sets ", 1)
        plural += "s" if tasks != 1 and kind == "task" else ""
        return f"{text} ({rows}, {groups} group{'s' * (groups != 1)} x {tasks} {plural})"

    def strongest(self, n: int = 10) -> pd.DataFrame:
        """Return the `n` pairs that amplification moves most, strongest first.

        Parameters
        ----------
        n : int, default=10
            How many rows.

        Returns
        -------
        table : DataFrame
        """
        order = self.table["amplification"].abs().sort_values(ascending=False, kind="stable")
        return self.table.loc[order.index[:n]]

    def _shown(self, n: int = 10) -> pd.DataFrame:
        """Return what fits a screen: the strongest pairs, and only columns that say something."""
        table = self.table if len(self.table) <= n else self.strongest(n)
        table = table.dropna(axis="columns", how="all")
        # One p-value is enough to see, and a flag only where it is raised.
        dull = [
            flag for flag in ("sign_certain", "reliable") if flag in table and table[flag].all()
        ]
        return table.drop(columns=["p_adjusted", *dull], errors="ignore")

    def _remarks(self) -> list[str]:
        """Say what is not shown, and how many pairs are flagged."""
        n = len(self.table)
        remarks = [f"(the strongest {len(self._shown())} of {n:,} pairs)"] if n > 10 else []
        for flag, what in (
            ("sign_certain", "have a sign that could be a coin's"),
            ("reliable", "rest on few rows"),
        ):
            # NaN is no flag.
            raised = sum(held is False for held in self.table.get(flag, ()))
            if raised:
                remarks.append(f"({raised:,} of {n:,} pairs {what}: {flag}=False)")
        return remarks

    def __repr__(self) -> str:
        shown = self._shown()
        return "\n".join([self._title, shown.to_string(index=False, **_FORMATS), *self._remarks()])

    def _repr_html_(self) -> str:
        """Return the same for a notebook; labels of the data are escaped."""
        shown = self._shown()
        table = shown.to_html(index=False, border=0, escape=True, **_FORMATS)
        caption = "<br>".join(html.escape(line) for line in (self._title, *self._remarks()))
        return f"<div class='skbiasamp-result'><p><b>{caption}</b></p>{table}</div>"

    def to_frame(self) -> pd.DataFrame:
        """Return the table of pairs, with metric and direction as first columns.

        Returns
        -------
        frame : DataFrame
            A copy.
        """
        frame = self.table.copy()
        frame.insert(0, "metric", self.metric)
        frame.insert(1, "direction", self.direction)
        return frame

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python objects: NaN is None, tuples of names are lists.

        Returns
        -------
        content : dict
        """
        table = [
            {column: plain(value) for column, value in zip(self.table, row, strict=True)}
            for row in self.table.itertuples(index=False, name=None)
        ]
        return {
            "schema": SCHEMA,
            "metric": self.metric,
            "direction": self.direction,
            "value": plain(self.value),
            "low": plain(self.low),
            "high": plain(self.high),
            "confidence_level": plain(self.confidence_level),
            "p_value": plain(self.p_value),
            "n_samples": plain(self.n_samples),
            "statistics": plain(self.statistics),
            "params": plain(self.params),
            "table": table,
        }

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> AuditResult:
        """Read what `to_dict` wrote.

        Parameters
        ----------
        content : dict
            The content; parameters that JSON cannot hold come back as text.

        Returns
        -------
        result : AuditResult
        """
        check_schema(content, SCHEMA)
        fields = {name: value for name, value in content.items() if name != "schema"}
        for name in ("value", "low", "high", "p_value"):
            fields[name] = as_name(fields[name])
        rows = [[as_name(value) for value in row.values()] for row in content["table"]]
        columns = list(content["table"][0]) if rows else []
        fields["table"] = pd.DataFrame(rows, columns=columns).infer_objects()
        return cls(**fields)

    def to_json(self, **options: Any) -> str:
        """Return `to_dict` as JSON.

        Parameters
        ----------
        **options : dict
            Passed to `json.dumps`, such as ``indent=2``.

        Returns
        -------
        text : str
        """
        return json.dumps(self.to_dict(), allow_nan=False, **options)


def plain(value: Any) -> Any:
    """Return a value that JSON can hold."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, pd.DataFrame):
        return {
            "index": plain(list(value.index)),
            "columns": plain(list(value.columns)),
            "data": plain(value.to_numpy().tolist()),
        }
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(one) for one in value]
    return repr(value)


def label_index(names: Names) -> pd.Index[Any]:
    """Return names as an index; tuples stay names and do not become levels."""
    return pd.Index(list(names), tupleize_cols=False)


def pair_table(groups: Names, tasks: Names, **columns: Array) -> pd.DataFrame:
    """Return arrays of groups × tasks as one row a pair, in the order of `COLUMNS`."""

    def repeated(names: tuple[Hashable, ...], positions: Array) -> Any:
        column = pd.Series(index=range(len(names)), dtype=object)
        column[:] = names
        return column.infer_objects().take(positions).array

    shape = (len(groups), len(tasks))
    rows, cols = np.indices(shape).reshape(2, -1)
    data: dict[str, Any] = {
        "group": repeated(groups, rows),
        "task": repeated(tasks, cols),
    }
    for name in COLUMNS[2:]:
        column = columns.get(name)
        data[name] = np.full(rows.shape, np.nan) if column is None else np.ravel(column)
    counts = data["n"]
    if np.array_equal(counts, np.rint(counts)):
        data["n"] = counts.astype(np.int64)
    return pd.DataFrame(data)


def check_schema(content: Mapping[str, Any], schema: str) -> None:
    """Raise if content was not written by this version's `to_dict`."""
    if content.get("schema") != schema:
        raise ValueError(
            f"This is no {schema}: its schema is {content.get('schema')!r}. Write it anew with "
            "to_json of the version that reads it."
        )


def as_name(value: Any) -> Any:
    """Return a name that JSON made a list as the tuple it was, and None as NaN."""
    if isinstance(value, list):
        return tuple(map(as_name, value))
    return float("nan") if value is None else value
