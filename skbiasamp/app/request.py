"""What the page asks for, as the command that answers it, and as the same call in Python."""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skbiasamp.app.files import StoredFile

OUTPUTS = {"html": "report.html", "json": "report.json", "markdown": "report.md"}
# Fields of the page by the option that they fill, and what the page calls them.
_FIELDS = {
    "--target": ("target", "the label"),
    "--prediction": ("prediction", "the prediction"),
    "--sensitive": ("sensitive", "the sensitive columns"),
    "--bins": ("sensitive", "the bins"),
    "--train": ("train", "the training file"),
    "--weight": ("weight", "the weight"),
    "--cluster": ("cluster", "the cluster"),
    "--given": ("given", "the strata"),
    "--numeric": ("numeric", "“numbers”"),
    "--threshold": ("threshold", "the threshold"),
    "--positive": ("positive", "“high scores mean”"),
    "--favourable": ("favourable", "the outcome that people want"),
    "--missing drop": ("missing", "“leave these rows out”"),
    "--missing group": ("missing", "“a group of their own”"),
    "--missing": ("missing", "rows without a value"),
    "--groups marginal": ("groups", "“each column on its own”"),
    "--groups": ("groups", "how columns are combined"),
    "--max-groups": ("groups", "the number of groups"),
    "--limit": ("limit", "the limit"),
    "--delimiter": ("delimiter", "the delimiter"),
    "--encoding": ("encoding", "the encoding"),
    "--decimal": ("decimal", "the decimal sign"),
}
# What must be chosen, and what the page says if it is not.
_NEEDED = {
    "target": "Choose the column with the label: what really happened.",
    "prediction": "Choose the column with the prediction.",
    "sensitive": "Choose at least one column whose groups are compared.",
}
_PARAMETERS = {
    "--target": "target",
    "--weight": "weight",
    "--cluster": "cluster",
    "--given": "given",
    "--threshold": "threshold",
    "--positive": "pos_label",
    "--favourable": "favourable",
    "--missing": "missing",
    "--groups": "groups",
    "--limit": "limit",
}
_FORMAT = {"delimiter": ",", "encoding": "utf-8", "decimal": "."}


class FieldError(ValueError):
    """Something is missing or wrong in a field of the page."""

    def __init__(self, field: str, text: str) -> None:
        super().__init__(text)
        self.field = field


def field_of(text: str, files: Mapping[str, StoredFile]) -> tuple[str, str]:
    """Return the field that an error of the command is about, and the error in the page's words."""
    options = [option for option in _FIELDS if option in text]
    first = min(options, key=lambda option: (text.index(option), -len(option)), default=None)
    field = "run" if first is None else _FIELDS[first][0]
    if first is None:
        field = next((role for role, file in files.items() if file.name in text), field)
    for option in sorted(options, key=len, reverse=True):
        text = re.sub(rf"{option}(?![\w-])", _FIELDS[option][1], text)
    return field, text[:1].upper() + text[1:]


@dataclass(frozen=True)
class Request:
    """What the page asks for: its fields by their names, and its files by their roles."""

    fields: Mapping[str, Any]
    files: Mapping[str, StoredFile]

    def text(self, name: str) -> str:
        """Return the content of a field."""
        value = self.fields.get(name, "")
        if not isinstance(value, str) or "\0" in value:
            raise FieldError(name, "This must be text.")
        return value.strip() if name in ("limit", "threshold") else value

    def column(self, name: str) -> str:
        """Return the column of a field, or raise if the command would take it for an option."""
        column = self.text(name)
        if column.startswith("-"):
            text = f"The name of the column {column!r} begins with a hyphen: rename it."
            raise FieldError(name, text)
        return column

    def number(self, name: str) -> str:
        """Return the number in a field as the command takes it; a decimal comma is allowed."""
        text = self.text(name).replace(",", ".")
        if text and not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)", text):
            raise FieldError(name, f"This must be a number, such as 0.5; got {text!r}.")
        return text

    @property
    def sensitive(self) -> dict[str, str]:
        """The sensitive columns, each with the numbers at which it is cut: 18,25,40."""
        columns: dict[str, str] = {}
        for entry in self.fields.get("sensitive", []):
            column = Request({"sensitive": entry["column"]}, {}).column("sensitive")
            cuts = re.split(r"[\s,;]+", entry["bins"].strip())
            try:
                columns[column] = ",".join(f"{float(cut):.15g}" for cut in cuts if cut)
            except ValueError:
                text = f"Cut {column!r} at numbers, such as 18, 25, 40; got {entry['bins']!r}."
                raise FieldError("sensitive", text) from None
        return columns

    @property
    def names(self) -> dict[str, str]:
        """The name of each file in the command; of two alike, the second gets its role."""
        names: dict[str, str] = {}
        for role, file in self.files.items():
            path = Path(file.name)
            taken = file.name in names.values()
            names[role] = f"{path.stem} ({role}){path.suffix}" if taken else file.name
        return names

    @property
    def models(self) -> dict[str, str]:
        """The names of models that have a file each, by the role of the file."""
        if "other" not in self.files:
            return {}
        names = {role: self.names[role] for role in ("test", "other")}
        models = {role: re.sub("[=,]", "_", Path(name).stem) for role, name in names.items()}
        return models if models["test"] != models["other"] else names

    @property
    def _predictions(self) -> list[str]:
        return [column for name in ("prediction", "second") if (column := self.column(name))]

    @property
    def verb(self) -> str:
        """The command: an audit of one model, or a comparison of two."""
        return "compare" if self.models or len(self._predictions) > 1 else "audit"

    def check(self) -> None:
        """Raise if a field is empty that cannot be."""
        for name, text in _NEEDED.items():
            if not (self.sensitive if name == "sensitive" else self.text(name)):
                raise FieldError(name, text)

    @property
    def _limit(self) -> str:
        """The limit as the command takes it; the page has percentage points."""
        limit = self.number("limit")
        return limit if self.fields.get("numeric") or not limit else f"{float(limit) / 100:.10g}"

    def _options(self) -> dict[str, list[str]]:
        """Return the options of the command that are not about files."""
        options = {
            "--target": [self.column("target")],
            "--prediction": self._predictions,
            "--sensitive": list(self.sensitive),
            "--bins": [f"{name}={cuts}" for name, cuts in self.sensitive.items() if cuts],
            "--weight": [self.column("weight")],
            "--cluster": [self.column("cluster")],
            "--threshold": [self.number("threshold")],
            "--positive": [self.text("positive")],
            "--missing": [self.text("missing")],
            "--groups": [self.text("groups")],
            "--limit": [self._limit],
        }
        if self.verb == "audit":
            options |= {"--given": [self.column("given")]}
            options |= {"--favourable": [self.text("favourable")]}
        return {option: values for option, values in options.items() if values and any(values)}

    def _format(self) -> dict[str, str]:
        """Return how text files are written where it is not usual, or not what was proposed."""
        form = {name: self.text(name) for name in _FORMAT if self.text(name)}
        proposed = self.fields.get("proposed", {})
        usual = _FORMAT | ({"delimiter": "\t"} if self.files["test"].name.endswith("tsv") else {})
        return {
            name: value
            for name, value in form.items()
            if value != usual[name] or value != proposed.get(name, value)
        }

    def arguments(self) -> list[str]:
        """Return the arguments of the command."""
        names, models = self.names, self.models
        arguments = [self.verb]
        arguments += [f"{models[role]}={names[role]}" for role in models] or [names["test"]]
        if "train" in names:
            arguments += ["--train", names["train"]]
        for option, values in self._options().items():
            hyphen = len(values) == 1 and values[0].startswith("-")
            arguments += [f"{option}={values[0]}"] if hyphen else [option, *values]
        arguments += ["--numeric"] if self.fields.get("numeric") else []
        for name, value in self._format().items():
            arguments += [f"--{name}", "tab" if value == "\t" else value]
        for kind, path in OUTPUTS.items():
            arguments += [f"--{kind}", path]
        return arguments

    def command(self) -> str:
        """Return the command as a shell takes it."""
        return shlex.join(["skbiasamp", *self.arguments()])

    def python(self) -> str:
        """Return the same audit as Python code."""
        lines = ["import pandas", "import skbiasamp", ""]
        variables = {"test": "rows", "train": "training", "other": "other"}
        for role, name in self.names.items():
            lines.append(f"{variables[role]} = {self._reading(name)}")
            for column, cuts in self.sensitive.items() if role != "other" else ():
                lines += _cut(variables[role], column, cuts.split(",")) if cuts else []
        predictions: Any = self._predictions[0]
        if self.models:
            predictions = {model: f"{predictions} of {model}" for model in self.models.values()}
            for role, model in self.models.items():
                source = f"{variables[role]}[{self._predictions[0]!r}]"
                lines.append(f"rows[{predictions[model]!r}] = {source}")
        elif self.verb == "compare":
            predictions = {column: column for column in self._predictions}
        call = {"prediction": predictions, "sensitive": list(self.sensitive)}
        call |= {
            _PARAMETERS[option]: values[0]
            for option, values in self._options().items()
            if option in _PARAMETERS
        }
        for name in ("threshold", "limit"):
            call |= {name: float(call[name])} if name in call else {}
        limit = call.pop("limit", None) if self.verb == "compare" else None
        texts = [f"    {name}={value!r}," for name, value in call.items()]
        texts += ["    auditor=skbiasamp.NumericAuditor(),"] if self.fields.get("numeric") else []
        texts += ["    y_train=training,"] if "train" in self.files else []
        lines += [f"report = skbiasamp.{self.verb}(", "    rows,", *texts, "    random_state=0,", ")"]
        lines += [f"print(report.gate({limit}))"] if limit is not None else []
        return "\n".join([*lines, f"report.to_html({OUTPUTS['html']!r})"])

    def _reading(self, name: str) -> str:
        if name.endswith(".parquet"):
            return f"pandas.read_parquet({name!r})"
        form = _FORMAT | self._format()
        known = {"sep": form["delimiter"], "encoding": form["encoding"], "decimal": form["decimal"]}
        usual = {"sep": ",", "encoding": "utf-8", "decimal": "."}
        texts = [f"{key}={value!r}" for key, value in known.items() if value != usual[key]]
        texts += ["keep_default_na=False", "na_values=['']", "low_memory=False"]
        return f"pandas.read_csv({', '.join([repr(name), *texts])})"


def _cut(frame: str, column: str, cuts: list[str]) -> list[str]:
    """Return code that cuts a column of numbers into the groups of the command."""
    names = [f"under {cuts[0]}"]
    names += [f"{low} to under {high}" for low, high in itertools.pairwise(cuts)]
    names.append(f"{cuts[-1]} or more")
    edges = f"[-float('inf'), {', '.join(cuts)}, float('inf')]"
    cell = f"{frame}[{column!r}]"
    return [f"{cell} = pandas.cut(", f"    {cell}, {edges}, right=False, labels={names!r}", ")"]
