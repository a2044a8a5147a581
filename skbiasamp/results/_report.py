"""What several auditors found on the same rows, in numbers and in words."""

from __future__ import annotations

import html
import json
import math
import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from skbiasamp._files import read_json, written
from skbiasamp.results._result import AuditResult, as_name, check_schema, label_index, plain

REPORT_SCHEMA = "skbiasamp.AuditReport/1"


@dataclass(frozen=True)
class Finding:
    """One thing to know about an audit, in words.

    Attributes
    ----------
    topic : str
        What it is about, such as "balanced data" or "threshold".
    text : str
        What was seen, and what to do.
    """

    topic: str
    text: str


@dataclass(frozen=True, eq=False, repr=False)
class AuditReport(Mapping[str, AuditResult]):
    """What several auditors found on the same rows, in numbers and in words.

    Reports come from `skbiasamp.audit`; ``report["directional A->T"]`` is one auditor's result.

    Attributes
    ----------
    results : dict of str to AuditResult
        By metric and direction.
    sentences : dict of str to str
        What each result says, in plain words.
    groups : DataFrame
        One row a group: how many rows, their share, and how often the model is right.
    rates : DataFrame
        One row a pair of group and task: base rate, predicted rate, and the rates of true and
        false positives.
    findings : list of Finding
        What to know before these numbers are used.
    context : dict
        Date, versions, and how many rows were audited.

    Examples
    --------
    >>> import skbiasamp
    >>> sex = ["f"] * 400 + ["m"] * 400
    >>> hired = [1] * 100 + [0] * 300 + [1] * 200 + [0] * 200
    >>> predicted = [1] * 60 + [0] * 340 + [1] * 250 + [0] * 150
    >>> report = skbiasamp.audit(hired, predicted, sensitive_features=sex, random_state=0)
    >>> list(report)
    ['directional A->T', 'MALS', 'leakage', 'DPA A->T']
    >>> print(report.sentences["directional A->T"])
    Predictions give m the label 1 more often than the labels do, by 12.5 points; the labels already
    leaned that way. On the whole the model amplifies: the interval lies above 0.
    """

    results: dict[str, AuditResult]
    sentences: dict[str, str] = field(default_factory=dict)
    groups: pd.DataFrame = field(default_factory=pd.DataFrame)
    rates: pd.DataFrame = field(default_factory=pd.DataFrame)
    findings: list[Finding] = field(default_factory=list)
    context: dict[str, Any] = field(default_factory=dict)

    def __getitem__(self, name: str) -> AuditResult:
        if name not in self.results:
            raise KeyError(f"{name!r}: this report has {', '.join(map(repr, self.results))}")
        return self.results[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    @property
    def summary(self) -> pd.DataFrame:
        """One row a result: its value, interval and p-value, and what it says."""
        rows = [
            {
                "metric": result.metric,
                "direction": result.direction,
                "value": result.value,
                "low": result.low,
                "high": result.high,
                "p_value": result.p_value,
                "in_words": self.sentences.get(name, ""),
            }
            for name, result in self.results.items()
        ]
        return pd.DataFrame(rows, index=pd.Index(list(self.results), name="audit"))

    @property
    def warnings(self) -> list[str]:
        """The findings as plain sentences."""
        return [finding.text for finding in self.findings]

    def __repr__(self) -> str:
        lines = [f"Audit of {self.context.get('rows', 'the same rows')}"]
        for name, result in self.results.items():
            lines.append("")
            lines.append(result._title)
            if self.sentences.get(name):
                lines.append(
                    textwrap.fill(
                        self.sentences[name], 96, initial_indent="  ", subsequent_indent="  "
                    )
                )
        if self.findings:
            lines += ["", "Before you use these numbers:"]
            lines += [
                textwrap.fill(finding.text, 96, initial_indent="- ", subsequent_indent="  ")
                for finding in self.findings
            ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Return a short table for a notebook; labels of the data are escaped."""
        table = self.summary.to_html(border=0, escape=True, float_format="{:+.4f}".format)
        notes = "".join(f"<li>{html.escape(text)}</li>" for text in self.warnings)
        return f"<div class='skbiasamp-report'>{table}<ul>{notes}</ul></div>"

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python objects: NaN is None, tuples of names are lists.

        Returns
        -------
        content : dict
        """
        return {
            "schema": REPORT_SCHEMA,
            "context": plain(self.context),
            "results": {name: result.to_dict() for name, result in self.results.items()},
            "sentences": dict(self.sentences),
            "groups": plain(self.groups),
            "rates": plain(self.rates),
            "findings": [{"topic": one.topic, "text": one.text} for one in self.findings],
        }

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> AuditReport:
        """Read what `to_dict` wrote.

        Parameters
        ----------
        content : dict
            The content; parameters that JSON cannot hold come back as text.

        Returns
        -------
        report : AuditReport
        """
        check_schema(content, REPORT_SCHEMA)
        return cls(
            results={name: AuditResult.from_dict(one) for name, one in content["results"].items()},
            sentences=dict(content["sentences"]),
            groups=_as_frame(content["groups"]),
            rates=_as_frame(content["rates"]),
            findings=[Finding(**one) for one in content["findings"]],
            context={
                key: [as_name(name) for name in one] if isinstance(one, list) else one
                for key, one in content["context"].items()
            },
        )

    def to_json(self, path: Any = None, **options: Any) -> str:
        """Return `to_dict` as JSON, and write it to a file if one is named.

        Parameters
        ----------
        path : str or path, optional
            Where to write.
        **options : dict
            Passed to `json.dumps`, such as ``indent=2``.

        Returns
        -------
        text : str
        """
        return written(json.dumps(self.to_dict(), allow_nan=False, **options), path)

    @classmethod
    def from_json(cls, text: Any) -> AuditReport:
        """Read what `to_json` wrote.

        Parameters
        ----------
        text : str or path
            The JSON, or the file that has it.

        Returns
        -------
        report : AuditReport
        """
        return cls.from_dict(json.loads(read_json(text)))

    def to_markdown(self, path: Any = None) -> str:
        """Return a section for a model card.

        Parameters
        ----------
        path : str or path, optional
            Where to write.

        Returns
        -------
        text : str
        """
        lines = ["## Bias amplification", ""]
        lines += [f"Audited: {self.context.get('rows', 'the same rows')}.", ""]
        lines += ["| audit | value | interval | p | in words |", "|---|---|---|---|---|"]
        for name, result in self.results.items():
            interval = "" if math.isnan(result.low) else f"{result.low:+.4f} to {result.high:+.4f}"
            p_value = "" if math.isnan(result.p_value) else f"{result.p_value:.2g}"
            cells = (name, f"{result.value:+.4f}", interval, p_value, self.sentences.get(name, ""))
            lines.append("| " + " | ".join(map(_escaped, cells)) + " |")
        if self.findings:
            lines += ["", "Before these numbers are used:", ""]
            lines += [f"- {_escaped(text)}" for text in self.warnings]
        versions = ", ".join(f"{k} {v}" for k, v in self.context.get("versions", {}).items())
        lines += ["", f"Made {self.context.get('date', '')} with {versions}."]
        return written("\n".join(lines) + "\n", path)

    def to_html(self, path: Any = None) -> str:
        """Return one self-contained page, and write it to a file if one is named.

        Parameters
        ----------
        path : str or path, optional
            Where to write.

        Returns
        -------
        text : str
        """
        from skbiasamp._page import page

        return written(page(self.to_dict()), path)


def _escaped(text: str) -> str:
    """Return text that Markdown and the HTML in it leave as it is."""
    text = text.replace("&", "&amp;").replace("<", "&lt;")
    return " ".join(re.sub(r"([\\`*_\[\]|~])", r"\\\1", text).split())


def _as_frame(content: Mapping[str, Any]) -> pd.DataFrame:
    columns = [as_name(name) for name in content["columns"]]
    rows = [[as_name(value) for value in row] for row in content["data"]]
    index = label_index(tuple(as_name(name) for name in content["index"]))
    return pd.DataFrame(rows, index, pd.Index(columns, tupleize_cols=False)).infer_objects()
