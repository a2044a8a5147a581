"""``skbiasamp audit``, ``compare`` and ``over``: files are read, measured, printed and checked."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import textwrap
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TextIO

import narwhals.stable.v2 as nw
import pandas as pd

import skbiasamp
from skbiasamp._input.errors import InputError, numbered, quote, renaming, rows_of
from skbiasamp._io import FEW_ROWS, columns_of_files, find
from skbiasamp._utils.formatting import (
    ALARM,
    INCONCLUSIVE,
    NOT_MEASURED,
    listed,
    name_of,
    printable,
)
from skbiasamp._utils.progress import progress
from skbiasamp.cli import _files
from skbiasamp.cli._files import Named
from skbiasamp.render.document import Document
from skbiasamp.render.facts import express
from skbiasamp.render.formats import as_text
from skbiasamp.report import described_files
from skbiasamp.report.checks import share_of_rows, unread
from skbiasamp.results import AuditReport, ComparisonReport, Finding
from skbiasamp.results.gate import FAILED, PASSED, UNDEFINED, Limit
from skbiasamp.text import label_columns
from skbiasamp.text.labeler import REFUSAL

_MOST_FILES = 5
_MOST_UNREAD = 3


def say(text: str = "", *, end: str = "\n") -> None:
    """Print text, until its reader has seen enough (head, less): then the run goes on silently."""
    try:
        # Flushed at once: an error is raised here, and not as Python ends.
        print(printable(text), end=end, flush=True)
    except OSError as error:
        _discard(sys.stdout)
        if not isinstance(error, BrokenPipeError):
            raise


def complain(text: str = "", *, end: str = "\n") -> None:
    """Print text on standard error; if that cannot be written, the exit code remains."""
    try:
        print(printable(text), end=end, file=sys.stderr, flush=True)
    except OSError:
        _discard(sys.stderr)


def _discard(stream: TextIO) -> None:
    """Discard all further output: Python would try to write it as it ends, and exit with 120."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def width() -> int:
    """Return how many columns text has."""
    return max(40, min(80, shutil.get_terminal_size().columns))


def in_lines(text: str, indent: str = "", first: str | None = None) -> str:
    """Return text in lines that fit the terminal."""
    start = indent if first is None else first
    return textwrap.fill(printable(text), width(), initial_indent=start, subsequent_indent=indent)


def say_report(document: Document) -> None:
    """Print what a report says."""
    say(as_text(document, width()))


def say_and_write(report: Any, outputs: dict[str, Path], files: list[dict[str, Any]]) -> None:
    """Print what a report says and which files were read, and write it."""
    say_report(report.to_document())
    if files:
        say("\nFiles read:")
    for file in files[:_MOST_FILES]:
        say(in_lines("{path} ({rows:,} rows, {format})".format(**file), "  ", first="- "))
        say(f"  SHA-256 {file['sha256']}")
    if len(files) > _MOST_FILES:
        say(f"- and {len(files) - _MOST_FILES:,} more, which --json lists")
    for kind, path in outputs.items():
        getattr(report, f"to_{kind}")(path)
        say(f"\nWritten: {path}")


# --------------------------------------------------------------------------- texts

_EXAMPLE = '{"dog": ["dog", "puppy"], "oven": ["oven", "stove"]}'
_SOURCES = ("text", "target_text", "target")


@dataclass
class Texts:
    """The words of each label, and what was read with them; without words there are no texts."""

    labels: dict[str, Any] = field(default_factory=dict)
    path: str = ""
    refusals: bool | None = None  # of the test rows, once they were read
    unread: dict[str, list[str]] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)  # in how many rows there is no label

    @classmethod
    def of(cls, options: argparse.Namespace) -> Texts:
        """Return what options say about texts."""
        if options.text is None:
            if options.labels is None and options.target_text is None:
                return cls()
            option = "--labels" if options.target_text is None else "--target-text"
            text = "{option} has no effect without --text: name the column of the model's texts."
            raise InputError(text, option=option)
        if options.labels is None:
            text = (
                "--text needs --labels: a JSON file with a list of words for each label, such as "
                "{example}. To ask whether texts reveal the group, pass their columns as --target "
                "and --prediction with --auditor skbiasamp:LICAuditor."
            )
            raise InputError(text, example=_EXAMPLE)
        if options.prediction is not None:
            raise InputError("--text takes the place of --prediction: pass one of them.")
        if options.threshold is not None:
            raise InputError("--threshold is for scores in --prediction, not for --text.")
        if options.target is not None and options.target_text is not None:
            raise InputError("--target-text takes the place of --target: pass one of them.")
        for model, columns in options.text.items() if isinstance(options.text, dict) else ():
            if len(columns) != 1:
                text = "--text must name one column of the model {model!r}; got {seen}."
                raise InputError(text, model=model, seen=quote(columns))
        return cls(read_word_lists(options.labels), options.labels)

    def implied(self, options: argparse.Namespace, named: list[Named]) -> list[Named]:
        """Return the columns of true labels that no option names: those called as the labels."""
        if not self.labels or any(given.side in ("target", "target_text") for given in named):
            return []
        columns = columns_of_files(options.test, **_files.written_as(options)) or self.labels
        lacking = [name for name in self.labels if name not in columns]
        if lacking:
            text = (
                "There are no true labels to compare with: pass texts of people as --target-text, "
                "or 0/1 columns as --target. Without both, these are the columns named as the "
                "labels of {path}, and there is no column {lacking}."
            )
            raise InputError(text, path=self.path, lacking=quote(lacking))
        return [Named("target", list(self.labels))]

    def labelled(
        self, rows: nw.LazyFrame[Any], named: list[Named]
    ) -> tuple[nw.LazyFrame[Any], list[Named]]:
        """Return rows with labels in place of texts, and which columns hold these.

        Rows of training have no texts of a model, and the columns that they had.
        """
        if not self.labels:
            return rows, named
        frame = rows.collect().to_pandas()
        columns_of = {given.side: given.columns for given in named}
        texts = [given for given in named if given.side == "text"]
        read = label_columns(
            frame,
            self.labels,
            list(dict.fromkeys(given.columns[0] for given in texts)),
            target=columns_of.get("target"),
            target_texts=columns_of.get("target_text", [None])[0],
            refusals=self.refusals,
        )
        labelled = nw.from_native(read.frame).lazy()
        if not texts:
            return labelled, named
        self.refusals, self.unread = REFUSAL in read.target, read.unread
        (truth,) = (given for given in named if given.side in ("target", "target_text"))
        # A text that mentions none of several objects is no class: it is reported.
        if truth.side == "target_text" or len(truth.columns) != 1 or len(self.labels) == 1:
            by = [frame[name].to_numpy() for name in columns_of["sensitive"]]
            shares = []
            for name, without in read.no_label.items():
                of_groups = pd.Series(without.to_numpy()).groupby(by).mean()
                groups = zip(map(name_of, of_groups.index), of_groups, strict=True)
                where = name if name == "labels" else f"texts of {name}"
                shares.append(share_of_rows(where, without.mean(), groups))
            self.findings = unread(shares)
        shown = truth.as_typed(*truth.columns * (truth.side == "target_text"))
        made = [Named("target", read.target, shown=shown)]
        for given in texts:
            columns = read.predictions[given.columns[0]]
            shown = given.as_typed(*given.columns)
            made.append(Named("prediction", columns, given.model, shown=shown))
        return labelled, [given for given in named if given.side not in _SOURCES] + made


def read_word_lists(path: str) -> dict[str, Any]:
    """Return the lists of words of a JSON file."""
    if not Path(path).is_file():
        raise FileNotFoundError(f"--labels: there is no file {path}")
    try:
        words = json.loads(Path(path).read_text("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        text = "--labels {path} cannot be read as JSON: {error}. It should look like {example}."
        raise InputError(text, path=path, error=error, example=_EXAMPLE) from None
    if not isinstance(words, dict) or not words:
        text = "--labels {path} must hold a list of words for each label, such as {example}."
        raise InputError(text, path=path, example=_EXAMPLE)
    return words


# --------------------------------------------------------------------------- reports


_CODES = {PASSED: 0, FAILED: 1, INCONCLUSIVE: 3}
# What is known of single rows, which are read. Other columns of many rows are counted by an engine.
_OF_ROWS = {"score", "weight", "cluster", "given"}

_SAME_ROWS = (
    "Files of models hold the same rows in the same order, with the same labels and groups; only "
    "with --train and without --target may each model have rows of its own."
)


def run_audit(options: argparse.Namespace) -> int:
    r"""Audit the predictions in files (CSV, Parquet, ...).

    The report has every metric that the columns allow: directional amplification,
    MALS, leakage, DPA, and more for several labels or a predicted sensitive
    feature. The output opens with a verdict. Files are CSV, TSV, JSON lines or
    Parquet; several files and quoted patterns such as 'part-*.parquet' count as
    one. polars, or DuckDB for Parquet, reads only the columns named if it is
    installed.

    for example:
      skbiasamp audit test.csv --target hired --prediction predicted --sensitive sex
      skbiasamp audit test.csv --train train.csv --target hired \
          --prediction predicted --sensitive sex race --html report.html

    generated rows, which have no labels, beside the rows that they imitate:
      skbiasamp audit synthetic.csv --train real.csv --prediction hired \
          --sensitive sex

    captions or answers of a language model, beside those of people: objects.json
    holds words for each label, {"dog": ["dog", "puppy"], "oven": ["oven", "stove"]}
      skbiasamp audit captions.csv --text caption --target-text human \
          --labels objects.json --sensitive gender

    to pass in continuous integration only if amplification is clearly within 0.02:
      skbiasamp audit test.csv --target hired --prediction predicted \
          --sensitive sex --limit 0.02

    exit codes: 0 done, and within the limit if there is one; 1 outside --limit or
    above --fail-above, or the model reverses the association; 2 bad input or no
    result to check; 3 inconclusive: more rows are needed
    """
    return _report(options)


def run_compare(options: argparse.Namespace) -> int:
    r"""Compare models that predicted the same rows.

    The report has every metric that the columns allow. The output opens with a
    verdict about each model: does it amplify more than the reference? Each
    difference has an interval of its own, which is narrower than two separate
    intervals suggest. Files are read as by skbiasamp audit.

    for example:
      skbiasamp compare test.csv --target hired --sensitive sex \
          --prediction champion=old --prediction challenger=new
      skbiasamp compare test.csv --train train.csv --target cook drive \
          --prediction old=cook_old,drive_old new=cook_new,drive_new \
          --sensitive sex --html comparison.html

    predictions in a file for each model, of the same rows in the same order:
      skbiasamp compare old=old.csv new=new.csv --target hired \
          --prediction predicted --sensitive sex

    generators, each with rows of its own, beside the rows that they imitate:
      skbiasamp compare old=old.csv new=new.csv --train real.csv \
          --prediction hired --sensitive sex

    to pass in continuous integration only if a model clearly amplifies no more than
    the champion and 0.001:
      skbiasamp compare test.csv --target hired --sensitive sex \
          --prediction champion=old challenger=new --fail-above 0.001

    exit codes: 0 done, and within the limit if there is one; 1 a difference lies
    outside --limit or above --fail-above; 2 bad input or no result to check;
    3 inconclusive: more rows are needed
    """
    return _report(options)


def _report(options: argparse.Namespace) -> int:
    """Make the report that a command asks for, print it, write it, and check its limit."""
    inputs = find(options.test) + find(options.train or [])
    inputs += [] if options.labels is None else [Path(options.labels)]
    outputs = _files.checked_outputs(options, inputs)
    texts = Texts.of(options)
    named = _files.named_columns(options)
    names = _files.names_of_options(named) | {"labels": f"--labels {options.labels}"}
    names |= {"favourable": "--favourable", "limit": "--limit"}
    with renaming(names), progress(", ".join(options.test)), ExitStack() as opened:

        def read(paths: list[str], columns: list[Named]) -> Any:
            # Texts are read as they are.
            compact = options.text is None and options.target_text is None
            rows = _files.rows_of_files(options, paths, columns, compact=compact)
            return opened.enter_context(rows)

        named += texts.implied(options, named)
        columns, of_train = named, _of_train(named)
        tables, files = {}, []
        for model, paths in (options.tables or {None: options.test}).items():
            rows, read_files = read(paths, columns)
            files += read_files
            # Before those of training: the test rows decide which classes there are.
            tables[model], named = texts.labelled(rows, columns)
        if options.tables and (options.train is None or any(n.side == "target" for n in named)):
            tables, named = _side_by_side(options, tables, named)
        names |= _files.names_of_options(named)
        train, training_files = None, []
        if options.train is not None:
            train, training_files = read(options.train, of_train)
            train, _ = texts.labelled(train, of_train)
        n_rows = sum(file["rows"] for file in files)
        arguments = _arguments(options, named, tables, n_rows)
        opened.enter_context(numbered(partial(_files.line_of, inputs, n_rows)))
        if options.command == "audit":
            made: Any = skbiasamp.audit_frame(**arguments, train=train)
        else:
            made = skbiasamp.compare(**arguments, y_train=train)
    made.context.update(call=options.call, model_name=getattr(options, "model_name", None))
    made.context["data_name"] = options.data_name or ", ".join(options.test)
    if record := os.environ.get("SKBIASAMP_APP"):  # when the limit was set, says the app
        made.context["limit_set"] = record
    made.data_files.extend(described_files(files, training_files))
    if options.command == "audit":
        made.findings.extend(texts.findings)
        one_sided = options.limit is None and options.fail_above is not None
        if one_sided:
            made.context["fail_above"] = options.fail_above
        # Findings name the options of this command, on the page and in files too.
        spoken = _files.names_of_findings(names)
        for report in (made, *made.columns.values()):
            report.findings[:] = [
                replace(finding, names=spoken)
                for finding in report.findings
                if not (one_sided and finding.code == "SBA310")  # a limit was declared
            ]
    say_and_write(made, outputs, made.data_files)
    for column, unread_texts in texts.unread.items():
        shown = "; ".join(f"'{name_of(text)}'" for text in unread_texts[:_MOST_UNREAD])
        say()
        say(in_lines(f"No label was read from some texts of {name_of(column)}, such as: {shown}."))
    return _check_limit(made, options)


def _side_by_side(
    options: argparse.Namespace, tables: dict[str | None, nw.LazyFrame[Any]], named: list[Named]
) -> tuple[dict[str | None, nw.LazyFrame[Any]], list[Named]]:
    """Return one table with the predictions of all files, which hold the same rows."""
    (column,) = [given for given in named if given.side == "prediction"]
    shared = [name for given in named if given is not column for name in given.columns]
    frames = {str(model): table.collect().to_pandas() for model, table in tables.items()}
    whole = next(iter(frames.values()))[shared]
    others = [given for given in named if given is not column]
    predictions = {}
    for (model, frame), path in zip(frames.items(), options.test, strict=True):
        if len(frame) != len(whole):
            text = "{path} has {n}, and {first} has {n_first}. " + _SAME_ROWS
            n, n_first = rows_of(len(frame)), rows_of(len(whole))
            raise InputError(text, path=path, n=n, first=options.test[0], n_first=n_first)
        for name in shared:
            own, first = (table[name].astype(object) for table in (frame, whole))
            same = own.eq(first) | (own.isna() & first.isna())
            if not same.all():
                text = "{path}, row {row}, differs from {first} in {column!r}. " + _SAME_ROWS
                row = int((~same).to_numpy().argmax()) + 1
                raise InputError(text, path=path, row=row, first=options.test[0], column=name)
        for name in column.columns:
            made = f"{name} of {model}"
            while made in shared:
                made += "'"
            predictions[made] = frame[name]
            others.append(Named("prediction", [made], model, shown=f"{model}={path}"))
    beside = whole.assign(**predictions)
    return {None: nw.from_native(beside).lazy()}, others


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
    columns = _files.columns_by_role(named)
    if options.threshold is not None and columns.get("score") == columns.get("prediction"):
        columns.pop("score", None)  # what the threshold decides on are scores already
    audits = options.command == "audit"
    alike = ["auditor", "groups", "missing", "min_rows", "max_groups", "threshold", "favourable"]
    alike += ["limit"] if audits else ["limit", "reference"]
    own = {name: getattr(options, name) for name in alike}
    own |= {"pos_label": options.positive, "random_state": options.seed}
    rows: Any = tables.get(None)
    if rows is None:
        own["y_preds"] = {model: table.to_native() for model, table in tables.items()}
    else:
        # An engine could only sum the predictions of several models.
        of_models = [given.columns for given in named if given.model is not None]
        types = rows.collect_schema()
        kinds = [types[name] for columns_of in of_models for name in columns_of]
        soft = any(kind.is_float() or kind.is_decimal() for kind in kinds)
        summed = any(len(columns_of) > 1 for columns_of in of_models)
        summed |= soft and options.threshold is None
        if n_rows <= FEW_ROWS or summed or not _OF_ROWS.isdisjoint(columns):
            rows = rows.collect()
        rows = rows.to_native()
    return columns | own | {"frame" if audits else "y_true": rows}


def _check_limit(report: AuditReport | ComparisonReport, options: argparse.Namespace) -> int:
    """Print what was compared with a limit, and return the exit code; 0 if there is none."""
    one_sided = options.limit is None
    limit = options.fail_above if one_sided else options.limit
    if limit is None:
        return 0
    option = "--fail-above" if one_sided else "--limit"
    with renaming({"on": "--on", "limit": option}):
        gate = report.gate(limit, on=options.on, one_sided=one_sided)
    what = "Differences checked" if isinstance(report, ComparisonReport) else "Checked"
    facts = [report.facts] if isinstance(report, AuditReport) else map(report.facts, report.models)
    of_primary = all(check.name.startswith(str(report.primary)) for check in gate.checks)
    # The report says the limit in the unit of the page, and the checks are in that of the metric.
    alike = express("gate", "same_limit", next(iter(facts)), limit) if of_primary else ""
    say(f"\n{what} against {option} {limit:g}{alike}:")
    for check in gate.checks:
        say(in_lines(str(check), "  "))
    outcome = gate.outcome
    if outcome == UNDEFINED:
        undefined = gate.with_outcome(UNDEFINED)
        if not options.allow_undefined:
            raise InputError(
                f"{option} has no result for {{names}}: {{why}} Pass --allow-undefined to accept "
                "this.",
                names=listed([check.name for check in undefined]),
                why="; ".join(check.sentence for check in undefined),
            )
        outcome = INCONCLUSIVE if gate.with_outcome(INCONCLUSIVE) else PASSED
        if len(undefined) == len(gate.checks):
            say("Passed: there is no result to check, and --allow-undefined accepts this.")
            return 0
    sentence = gate.sentence_of(outcome)
    if outcome == INCONCLUSIVE and options.inconclusive == "pass":
        say(in_lines(f"{sentence} --inconclusive pass accepts this."))
        return 0
    say(in_lines(sentence))
    return _CODES[outcome]


# --------------------------------------------------------------------------- periods


def run_over(options: argparse.Namespace) -> int:
    r"""Audit a model over time, with alarms.

    Every period is compared with the reference and with the periods before it. If
    nothing changes, the chance of any alarm is at most 5 %, however many periods
    there are. Pass files of rows with a column of times. Or pass counts that
    Contingency.to_json wrote, one file a period, such as 2026-11.json.

    for example:
      skbiasamp over decisions.parquet --time day --reference 3 --target hired \
          --prediction predicted --sensitive sex --html page.html
      skbiasamp over 'counts/2026-*.json' --reference 3

    exit codes: 0 no alarm; 1 an alarm, or a last period outside the limit; 2 bad
    input; 3 not measured: there is no period after the reference, or the last one
    may lie outside the limit
    """
    counted = options.test[0].endswith(".json")
    paths = find(options.test, (".json",)) if counted else find(options.test)
    outputs = _files.checked_outputs(options, paths)
    named = _files.named_columns(options)
    how: dict[str, Any] = {
        name: getattr(options, name)
        for name in ("auditor", "favourable", "groups", "missing", "model_name")
    }
    how |= {"pos_label": options.positive, "random_state": options.seed}
    how["data_name"] = options.data_name or ", ".join(options.test)
    # A number of four digits is a year, which names a period.
    of_periods = options.reference.isdecimal() and len(options.reference) < 4
    how["reference"] = int(options.reference) if of_periods else options.reference
    how |= _files.columns_by_role(named) | {"time": options.time}
    described: list[dict[str, Any]] = []
    with renaming(_files.names_of_options(named) | {"frame": "FILE", "favourable": "--favourable"}):
        if counted:
            timeline = skbiasamp.audit_over(_counts(paths), **how)
        elif options.time is None:
            text = "--time must name the column of dates or times, unless files hold counts (.json)"
            raise InputError(text)
        else:
            every = None if options.every == "name" else options.every
            with _files.rows_of_files(options, options.test, named, options.time) as (rows, files):
                few = sum(file["rows"] for file in files) <= FEW_ROWS
                frame = rows.collect() if few else rows
                timeline = skbiasamp.audit_over(frame.to_native(), every=every, **how)
            described = described_files(files, [])
    timeline.context.update(call=options.call, data_files=described)
    say_and_write(timeline, outputs, described)
    code = {ALARM: 1, NOT_MEASURED: 3}.get(timeline.verdict, 0)
    if options.limit is None or code == 1:
        return code
    last = timeline.to_frame().iloc[-1]
    limit = Limit.checked(options.limit, one_sided=False)
    say(f"\n{last['period']}, limit {limit.size:g}: {limit.word(last['low'], last['high'])}.")
    return max(code, {FAILED: 1, PASSED: 0}.get(limit.outcome(last["low"], last["high"]), 3))


def _counts(paths: list[Path]) -> dict[str, skbiasamp.Contingency]:
    """Return the counts of each period, which is the name of its file."""
    counts: dict[str, skbiasamp.Contingency] = {}
    for path in paths:
        if path.stem in counts:
            text = "{path}: another file has the period {period} too. Add their counts (+) first"
            raise InputError(text, path=path, period=path.stem)
        counts[path.stem] = skbiasamp.Contingency.from_json(path)
    return counts
