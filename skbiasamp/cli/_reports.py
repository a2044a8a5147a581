"""``skbiasamp audit`` and ``compare``: rows are read, measured, and checked against a limit."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw

import skbiasamp
from skbiasamp._input.errors import Said, speaking
from skbiasamp._io.files import find
from skbiasamp._utils.progress import progress
from skbiasamp.cli._files import (
    FEW_ROWS,
    Named,
    checked_outputs,
    columns_by_role,
    named_columns,
    names_of_options,
    rows_of_files,
)
from skbiasamp.cli._gate import check_limit
from skbiasamp.cli._terminal import say_and_write, say_unread
from skbiasamp.cli._texts import Texts
from skbiasamp.report import described_files

# What is known of single rows, which are read. Other columns of many rows are counted by an engine.
_OF_ROWS = {"score", "weight", "decision", "check", "pair", "labelled", "cluster", "given"}


def report(options: argparse.Namespace) -> int:
    """Make the report that a command asks for, print it, write it, and check its limit."""
    inputs = find(options.test) + find(options.train or [])
    inputs += [] if options.labels is None else [Path(options.labels)]
    outputs = checked_outputs(options, inputs)
    texts = Texts.of(options)
    named = named_columns(options)
    names = names_of_options(named) | {"labels": f"--labels {options.labels}"}
    with speaking(names), progress(", ".join(options.test)), ExitStack() as opened:

        def read(paths: list[str], columns: list[Named]) -> Any:
            rows = rows_of_files(options, paths, columns, missing=options.missing)
            return opened.enter_context(rows)

        named += texts.implied(options, named)
        columns, of_train = named, _of_train(named)
        tables, files = {}, []
        for model, paths in (options.tables or {None: options.test}).items():
            rows, read_files = read(paths, columns)
            files += read_files
            # Before those of training: the test rows decide which classes there are.
            tables[model], named = texts.labelled(rows, columns)
        names |= names_of_options(named)
        train, training_files = None, []
        if options.train is not None:
            train, training_files = read(options.train, of_train)
            train = texts.labelled_train(train, of_train)
        arguments = _arguments(options, named, tables, sum(file["rows"] for file in files))
        make: Any = getattr(skbiasamp, options.command)
        made = make(**arguments, y_train=train)
    made.context["call"] = options.call
    made.data_files.extend(described_files(files, training_files))
    if options.command == "audit":
        made.findings.extend(texts.findings)
        # Findings name the options of this command, on the page and in files too.
        made.findings[:] = [
            replace(
                finding,
                text=_with_options(finding.text, names),
                action=_with_options(finding.action, names),
            )
            for finding in made.findings
        ]
    say_and_write(made, outputs, made.data_files)
    say_unread(texts.unread)
    return check_limit(made, options)


def _with_options(text: str, names: dict[str, Any]) -> str:
    return text.named(names) if isinstance(text, Said) else text


def _of_train(named: list[Named]) -> list[Named]:
    """Return the columns that training rows have too."""
    columns = [given for given in named if given.side in ("target", "target_text", "sensitive")]
    if any(given.side != "sensitive" for given in columns):
        return columns
    # Without labels of the test rows, those of training have the name of the predictions.
    predicted = [given for given in named if given.side == "prediction"]
    return columns + [replace(given, side="target") for given in predicted]


def _arguments(
    options: argparse.Namespace,
    named: list[Named],
    tables: dict[str | None, nw.LazyFrame[Any]],
    n_rows: int,
) -> dict[str, Any]:
    """Return the arguments of `skbiasamp.audit` or `compare`, without the training rows."""
    columns = columns_by_role(named)
    if options.threshold is not None and columns.get("score") == columns.get("prediction"):
        columns.pop("score", None)  # what the threshold decides on are scores already
    rows: Any = tables.get(None)
    are_single = options.groups == "probabilities" or not _OF_ROWS.isdisjoint(columns)
    if rows is not None and (
        n_rows <= FEW_ROWS or are_single or _are_summed(rows, named, options.threshold)
    ):
        rows = rows.collect()
    own_options = {"audit": ("favourable", "limit", "model_name"), "compare": ("reference",)}
    own = {name: getattr(options, name) for name in own_options[options.command]}
    if options.tables:
        own["y_preds"] = {model: table.to_native() for model, table in tables.items()}
    if "decision" in columns:
        own["labels"] = "selected"
    common = {
        "y_true": None if rows is None else rows.to_native(),
        "auditor": options.auditor,
        "groups": options.groups,
        "missing": options.missing,
        "pos_label": options.positive,
        "max_groups": options.max_groups,
        "threshold": options.threshold,
        "random_state": options.seed,
        "data_name": options.data_name or ", ".join(options.test),
    }
    return columns | common | own


def _are_summed(rows: nw.LazyFrame[Any], named: list[Named], threshold: float | None) -> bool:
    """Whether an engine could only sum the predictions of several models."""
    of_models = [given.columns for given in named if given.model is not None]
    types = rows.collect_schema()
    kinds = [types[name] for columns in of_models for name in columns]
    soft = any(kind.is_float() or kind.is_decimal() for kind in kinds)
    return any(len(columns) > 1 for columns in of_models) or (soft and threshold is None)
