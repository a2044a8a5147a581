"""``skbiasamp audit`` and ``compare``: rows are read, measured, and checked against a limit."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import skbiasamp
from skbiasamp._input.errors import Said, speaking
from skbiasamp._io.files import columns_of_files, find
from skbiasamp._utils.progress import progress
from skbiasamp.cli._files import (
    Named,
    as_arguments,
    checked_outputs,
    columns_by_role,
    named_columns,
    names_of_options,
    rows_of_files,
)
from skbiasamp.cli._gate import check
from skbiasamp.cli._terminal import say_and_write, say_unread
from skbiasamp.cli._texts import Texts
from skbiasamp.counts.contingency import Contingency
from skbiasamp.metrics.inputs import read_train
from skbiasamp.metrics.strata import RowSource
from skbiasamp.report import count_rows, described_files
from skbiasamp.report.auditors import read_as
from skbiasamp.results import AuditReport, ComparisonReport

_FEW_ROWS = 1_000_000


class Reading:
    """What a command line reads: columns, the names that errors have for them, and texts."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.texts = Texts.of(options)
        self.named = named_columns(options)
        self.names = names_of_options(self.named) | {"labels": f"--labels {options.labels}"}
        reads = read_as(options.auditor)
        self.how: dict[str, Any] = ({} if reads == "labels" else {reads: True}) | {
            "groups": options.groups,
            "missing": options.missing,
            "pos_label": options.positive,
            "max_groups": options.max_groups,
            "threshold": options.threshold,
        }

    def arguments(
        self, test: Callable[[Any, int, Contingency | None, dict[str, Any]], dict[str, Any]]
    ) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """Return the arguments of a report, of which `test` makes those of the test rows; files."""
        options, texts = self.options, self.texts
        if texts is not None:
            written = {"delimiter": options.delimiter, "encoding": options.encoding}
            self.named += texts.implied(columns_of_files(options.test, **written), self.named)
        of_train = self.of_train()  # texts may change the names
        with rows_of_files(options, options.test, self.named, missing=options.missing) as (
            rows,
            files,
        ):
            if texts is not None:
                # Before those of training: the test rows decide which classes there are.
                rows, self.named = texts.labelled(rows, self.named)
                self.names |= names_of_options(self.named)
            train, training_files = self.train(of_train)
            n_rows = sum(file["rows"] for file in files)
            arguments = test(rows, n_rows, train, columns_by_role(self.named))
        return arguments | self.of_both(train), described_files(files, training_files)

    def of_both(self, train: Contingency | None) -> dict[str, Any]:
        """Return the arguments of a report that are not those of the test rows."""
        options = self.options
        return {
            "y_train": train,
            "auditor": options.auditor,
            "random_state": options.seed,
            "data_name": options.data_name or ", ".join(options.test),
        }

    def of_train(self) -> list[Named]:
        """Return the columns that training rows have too."""
        return [o for o in self.named if o.side in ("target", "target_text", "sensitive")]

    def train(self, columns: list[Named]) -> tuple[Contingency | None, list[dict[str, Any]]]:
        """Return the counts of the training labels, and their files."""
        options = self.options
        if options.train is None:
            return None, []
        if all(given.side == "sensitive" for given in columns):
            # Without labels of the test rows, those of training have the name of the predictions.
            predicted = [given for given in self.named if given.side == "prediction"]
            columns = columns + [replace(given, side="target") for given in predicted]
        with rows_of_files(options, options.train, columns, missing=options.missing) as (
            rows,
            files,
        ):
            if self.texts is not None:
                rows = self.texts.labelled_train(rows, columns)
                columns = [given for given in self.named if given.side in ("target", "sensitive")]
            return read_train(rows, None, columns_by_role(columns), **self.how), files


def report(options: argparse.Namespace) -> int:
    """Make the report that a command asks for, print it, write it, and check its limit."""
    inputs = find(options.test) + find(options.train or [])
    inputs += [] if options.labels is None else [Path(options.labels)]
    outputs = checked_outputs(options, inputs)
    reading = Reading(options)
    make: Any = {"audit": _audited, "compare": _compared}[options.command]
    with speaking(reading.names), progress(", ".join(options.test)):
        made = make(reading)
    made.context["call"] = options.call
    say_and_write(made, outputs, made.data_files)
    if reading.texts is not None:
        say_unread(reading.texts.unread)
    return check(made, options)


def _audited(reading: Reading) -> AuditReport:
    options, how = reading.options, reading.how

    def test(
        rows: Any, n_rows: int, train: Contingency | None, labels: dict[str, Any]
    ) -> dict[str, Any]:
        alone = {"score", "weight", "decision", "check", "pair", "labelled"} & labels.keys()
        if alone or options.groups == "probabilities":
            # Scores and weights belong to single rows: these are read, not counted.
            plain = {key: value for key, value in how.items() if value is not True}
            plain |= {"labels": "selected"} if "decision" in labels else {}
            return plain | as_arguments(rows, labels)
        # Of few rows all is kept; of more, what may not fit into memory is summed.
        joint = True if n_rows <= _FEW_ROWS or "cluster" in labels else None
        given = labels.pop("given", None)
        if given is None:
            return {"y_true": count_rows(rows, {}, labels, train, joint, **how)}
        source = RowSource(rows, {}, labels, how | {"engine": {"joint": True}})
        return {"y_true": source.divided(given, train).fine, "given": given}

    arguments, files = reading.arguments(test)
    report = skbiasamp.audit(
        **arguments,
        favourable=options.favourable,
        limit=options.limit,
        model_name=options.model_name,
    )
    report.data_files.extend(files)
    if reading.texts is not None:
        report.findings.extend(reading.texts.findings)

    def named(text: str) -> str:
        return text.named(reading.names) if isinstance(text, Said) else text

    # Findings name the options of this command, on the page and in files too.
    report.findings[:] = [
        replace(finding, text=named(finding.text), action=named(finding.action))
        for finding in report.findings
    ]
    return report


def _compared(reading: Reading) -> ComparisonReport:
    options = reading.options

    def test(
        rows: Any, _: int, train: Contingency | None, labels: dict[str, Any]
    ) -> dict[str, Any]:
        if {"pair", "decision", "given"} & labels.keys() or options.groups == "probabilities":
            named = ("groups", "missing", "pos_label", "threshold")
            how = {name: reading.how[name] for name in named}
            how |= {"labels": "selected"} if "decision" in labels else {}
            return how | labels | {"y_true": rows.collect().to_native()}
        of_models = [given.columns for given in reading.named if given.model is not None]
        # What an engine could only sum is read; one column of labels a model is counted.
        types = rows.collect_schema()
        predicted = [types[name] for columns in of_models for name in columns]
        soft = options.threshold is None
        soft &= any(kind.is_float() or kind.is_decimal() for kind in predicted)
        several = any(len(columns) > 1 for columns in of_models)
        rows = rows.collect() if several or soft else rows
        return {"y_true": count_rows(rows, {}, labels, train, True, **reading.how)}

    arguments, files = reading.arguments(test) if options.tables is None else _generated(reading)
    report = skbiasamp.compare(**arguments, reference=options.reference)
    report.data_files.extend(files)
    return report


def _generated(reading: Reading) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the arguments of models that have rows of their own, and all files."""
    options, tables, audited = reading.options, {}, []
    written: dict[str, Any] = {"missing": options.missing}
    train, training_files = reading.train(reading.of_train())
    for model, path in options.tables.items():
        with rows_of_files(options, [path], reading.named, **written) as (rows, files):
            columns = columns_by_role(reading.named)
            tables[model] = count_rows(rows, {}, columns, train, True, **reading.how)
        audited += files
    arguments = {"y_true": None, "y_preds": tables, **reading.of_both(train)}
    return arguments, described_files(audited, training_files)
