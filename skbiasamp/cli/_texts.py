"""Columns of texts: labels are read from them before anything is counted."""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import pandas as pd

from skbiasamp._input.errors import InputError, quote
from skbiasamp._utils.formatting import name_of
from skbiasamp.cli._files import Named, columns_of_test
from skbiasamp.report.checks.texts import share_of_rows, unread
from skbiasamp.results import Finding
from skbiasamp.text import LabelledTexts, label_columns
from skbiasamp.text.labeler import REFUSAL

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
        columns = columns_of_test(options) or self.labels
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
        """Return test rows with labels in place of texts, and which columns hold these."""
        if not self.labels:
            return rows, named
        frame = rows.collect().to_pandas()
        texts = [given for given in named if given.side == "text"]
        read = self._read(frame, named, texts)
        self.refusals, self.unread = REFUSAL in read.target, read.unread
        (truth,) = (given for given in named if given.side in ("target", "target_text"))
        # A text that mentions none of several objects is no class: it is reported.
        if truth.side == "target_text" or len(truth.columns) != 1 or len(self.labels) == 1:
            sensitive = (given.columns for given in named if given.side == "sensitive")
            by = [frame[name].to_numpy() for columns in sensitive for name in columns]
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
        return (
            nw.from_native(read.frame).lazy(),
            [given for given in named if given.side not in _SOURCES] + made,
        )

    def labelled_train(self, rows: nw.LazyFrame[Any], named: list[Named]) -> nw.LazyFrame[Any]:
        """Return training rows with labels in place of texts."""
        if not self.labels:
            return rows
        return nw.from_native(self._read(rows.collect().to_pandas(), named, []).frame).lazy()

    def _read(self, frame: pd.DataFrame, named: list[Named], texts: list[Named]) -> LabelledTexts:
        truth = {given.side: given.columns for given in named}
        return label_columns(
            frame,
            self.labels,
            list(dict.fromkeys(given.columns[0] for given in texts)),
            target=truth.get("target"),
            target_texts=truth.get("target_text", [None])[0],
            refusals=self.refusals,
        )


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
