"""Columns of texts: labels are read from them before anything is counted."""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd

from skbiasamp._input.errors import InputError, quote
from skbiasamp._utils.formatting import listed, name_of, rate
from skbiasamp.cli._files import Named
from skbiasamp.report.checks.text_labels import MOST_GROUPS, TextsWithoutLabel
from skbiasamp.results import Finding
from skbiasamp.text import WordListLabeler
from skbiasamp.text.labeler import NO_LABEL, REFUSAL

_EXAMPLE = '{"dog": ["dog", "puppy"], "oven": ["oven", "stove"]}'


@dataclass
class Texts:
    """Which columns are texts, and what words name each label."""

    labels: dict[str, Any]
    path: str
    models: dict[str | None, str]  # columns of texts, by model
    target: list[str]  # columns of labels, or
    target_text: str | None  # of texts that people wrote
    implied: bool  # whether no option names the labels
    own: list[str] = field(default_factory=list)  # the class of refusals, if there are any
    unread: dict[str, list[str]] = field(default_factory=dict)  # texts without a label, by column
    shares: list[str] = field(default_factory=list)  # how many rows have none, as text

    @classmethod
    def of(cls, options: argparse.Namespace) -> Texts | None:
        """Return what options say about texts, or None if there are none."""
        given = options.text
        if given is None:
            for option, value in (("labels", options.labels), ("target-text", options.target_text)):
                if value is not None:
                    text = (
                        "--{option} has no effect without --text: name the column of the model's "
                        "texts."
                    )
                    raise InputError(text, option=option)
            return None
        if options.labels is None:
            text = (
                "--text needs --labels: a JSON file with a list of words for each label, such as "
                "{example}."
            )
            raise InputError(text, example=_EXAMPLE)
        if options.prediction is not None:
            raise InputError("--text takes the place of --prediction: pass one of them.")
        if options.threshold is not None:
            raise InputError("--threshold is for scores in --prediction, not for --text.")
        if options.target is not None and options.target_text is not None:
            raise InputError("--target-text takes the place of --target: pass one of them.")
        labels = read_word_lists(options.labels)
        models = given if isinstance(given, dict) else {None: given}
        for model, columns in models.items():
            if len(columns) != 1:
                text = "--text must name one column{of}; got {seen}."
                of = "" if model is None else f" of the model {model!r}"
                raise InputError(text, of=of, seen=quote(columns))
        columns = {model: columns[0] for model, columns in models.items()}
        if len(set(columns.values())) < len(columns):
            text = "--text must name another column for each model; got {seen}."
            raise InputError(text, seen=quote(columns.values()))
        target_text = options.target_text and options.target_text[0]
        if columns.get(None) is not None and columns[None] == target_text:
            text = "--text {seen}: this column is named by --target-text already. Name another one."
            raise InputError(text, seen=target_text)
        target = options.target or ([] if target_text else list(labels))
        implied = options.target is None and target_text is None
        return cls(labels, options.labels, columns, target, target_text, implied)

    @property
    def of_classes(self) -> bool:
        """Whether labels are one column with a class for each text."""
        return len(self.target) == 1 < len(self.labels)

    def texts(self, *, train: bool = False) -> list[str]:
        """Return the columns of texts that are needed."""
        written = [] if self.target_text is None else [self.target_text]
        return written if train else list(dict.fromkeys([*written, *self.models.values()]))

    def given(self) -> list[Named]:
        """Return the columns of labels that are in the files."""
        return [Named("target", self.target)] if self.target else []

    def check(self, columns: tuple[str, ...] | None, others: list[Named]) -> None:
        """Raise if columns have two roles, or if the labels are nowhere."""
        for one in others:
            for column in one.columns:
                if column in self.texts():
                    text = "{this}: this column holds the texts of --text or --target-text already."
                    raise InputError(text, this=one.said(column))
        lacking = [name for name in self.target if name not in (columns or self.target)]
        if lacking and self.implied:
            text = (
                "There are no true labels to compare with: pass texts of people as --target-text, "
                "or 0/1 columns as --target. Without both, these are the columns named as the "
                "labels of {path}, and there is no column {lacking}."
            )
            raise InputError(text, path=self.path, lacking=quote(lacking))

    def named(self) -> list[Named]:
        """Return the columns of labels that were made, as if options had named them."""
        target = "--target" if self.target else f"--target-text {self.target_text}"
        made = [Named("target", self._target(), shown=target)]
        for model, column in self.models.items():
            shown = f"--text {column}" if model is None else f"--text {model}={column}"
            made.append(Named("prediction", self._predicted(column), model, shown=shown))
        return made

    def _target(self) -> list[str]:
        return self.target if self.of_classes else [*(self.target or self.labels), *self.own]

    def _predicted(self, column: str) -> list[str]:
        if self.of_classes:
            return [f"{column}: label"]
        return [f"{column}: {name}" for name in (*self.labels, *self.own)]

    def labelled(
        self, rows: nw.LazyFrame[Any], groups: list[str], *, train: bool = False
    ) -> nw.LazyFrame[Any]:
        """Return rows with labels in place of texts; `groups` are the sensitive columns."""
        frame = rows.collect().to_pandas()
        labeler = WordListLabeler(self.labels, exclusive=self.of_classes, refusals="english")
        found = {
            name: self._labels(labeler, name, frame.pop(name)) for name in self.texts(train=train)
        }
        if self.of_classes:
            return self._with_classes(frame, found)
        of_texts = None if self.target_text is None else found[self.target_text]
        found = {} if train else {name: found[name] for name in self.models.values()}
        truth = self._truth(frame, of_texts)
        if not train:
            refused = any(one[REFUSAL].any() for one in (truth, *found.values()))
            self.own = [REFUSAL] if refused else []
            # A text that mentions none of several objects is no class: it is reported.
            if len(self.labels) > 1:
                sides = {"labels": truth, **{f"texts of {name}": found[name] for name in found}}
                by = [frame[name].to_numpy() for name in groups]
                self.shares = [_share(name, one[NO_LABEL], by) for name, one in sides.items()]
        taken = set(self._target()) & (set(frame) - set(self.target))
        if taken:
            text = (
                "{path} names a label {seen}, and a column that another option names is called so."
            )
            raise InputError(text, path=self.path, seen=quote(sorted(taken)))
        made = {name: truth[name].to_numpy() for name in self._target()}
        for column, one in found.items():
            values = (one[name].to_numpy() for name in (*self.labels, *self.own))
            made |= dict(zip(self._predicted(column), values, strict=True))
        return nw.from_native(frame.drop(columns=self.target).assign(**made)).lazy()

    @property
    def findings(self) -> list[Finding]:
        """What a report adds: in how many rows no label was found."""
        if not self.shares:
            return []
        check = TextsWithoutLabel()
        return [Finding(check.topic, f"{check.said}: {listed(self.shares)}.", action=check.action)]

    def _labels(self, labeler: WordListLabeler, column: str, texts: pd.Series) -> pd.DataFrame:
        """Return the labels of a column; an empty cell is a text that says nothing."""
        texts = texts.fillna("")
        numbers = [one for one in texts if not isinstance(one, str)]
        if numbers:
            text = "column {column!r} must hold texts; got {seen!r}. Name a column of texts."
            raise InputError(text, column=column, seen=numbers[0])
        found = labeler.transform(texts)
        without = list(dict.fromkeys(texts[found[NO_LABEL] == 1]))
        if found[NO_LABEL].all():
            text = (
                "{path} has no word that is in any of the {n:,} texts of column {column!r}, such "
                "as {seen!r}. Add the words that these texts use."
            )
            raise InputError(text, path=self.path, n=len(texts), column=column, seen=without[0])
        if without:
            self.unread[column] = without
        return found

    def _truth(self, frame: pd.DataFrame, of_texts: pd.DataFrame | None) -> pd.DataFrame:
        """Return the true labels: those of texts, or 0/1 columns."""
        if of_texts is not None:
            return of_texts
        names = list(self.labels)
        one = len(names) == 1
        if not one and set(self.target) != set(names):
            text = (
                "--target must name the labels of {path}, {names}; got {seen}. Call these columns "
                "and the labels alike."
            )
            raise InputError(text, path=self.path, names=quote(names), seen=quote(self.target))
        self.target = self.target if one else names
        truth = frame[self.target].copy()
        other = [name for name in truth if not truth[name].isin([0, 1]).all()]
        if other:
            text = "--target must name 0/1 columns; {column!r} has the value {seen!r}."
            values = truth[other[0]]
            raise InputError(text, column=other[0], seen=values[~values.isin([0, 1])].iloc[0])
        truth = truth.astype(int)
        truth[REFUSAL] = 0
        truth[NO_LABEL] = (truth[self.target].sum(axis=1) == 0).astype(int)
        return truth

    def _with_classes(self, frame: pd.DataFrame, found: dict[str, pd.DataFrame]) -> Any:
        """Return rows with one class for each text."""
        (target,) = self.target
        labelled = frame[target].astype(str)
        strange = sorted(set(labelled) - set(self.labels))
        if strange:
            text = (
                "--target {column} has the class {seen}, and {path} has no words for it. It has "
                "the labels {names}."
            )
            raise InputError(
                text, column=target, seen=quote(strange), path=self.path, names=quote(self.labels)
            )
        made = {
            self._predicted(column)[0]: np.array(one.columns, dtype=object)[
                one.to_numpy().argmax(1)
            ]
            for column, one in found.items()
        }
        return nw.from_native(frame.assign(**{target: labelled}, **made)).lazy()


def _share(side: str, without: pd.Series, groups: list[Any]) -> str:
    """Return in how many rows there is no label, and by group if these are few."""
    text = f"{rate(without.mean())} in the {side}"
    of_groups = pd.Series(without.to_numpy()).groupby(groups).mean()
    if len(of_groups) > MOST_GROUPS or not without.any():
        return text
    return f"{text} ({', '.join(f'{name_of(a)} {rate(p)}' for a, p in of_groups.items())})"


def read_word_lists(path: str) -> dict[str, Any]:
    """Return the lists of words of a JSON file."""
    if not Path(path).is_file():
        raise FileNotFoundError(f"--labels: there is no file {path}")
    try:
        held = json.loads(Path(path).read_text("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        text = "--labels {path} cannot be read as JSON: {error}. It should look like {example}."
        raise InputError(text, path=path, error=error, example=_EXAMPLE) from None
    if not isinstance(held, dict) or not held:
        text = "--labels {path} must hold a list of words for each label, such as {example}."
        raise InputError(text, path=path, example=_EXAMPLE)
    return held
