"""What the page asks for, as the command that answers it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from skbiasamp.app.files import RefusedError

OUTPUTS = {"html": "report.html", "json": "report.json", "markdown": "report.md"}
# Options that the page has fields for: it cannot ask for a file to be written elsewhere.
_OF_PAGE = {
    *("target", "prediction", "sensitive", "bins", "numeric", "threshold", "positive"),
    *("favourable", "missing", "groups", "limit", "weight", "cluster", "given", "score"),
    *("delimiter", "encoding", "decimal", "min-rows"),
}


@dataclass(frozen=True)
class Form:
    """Options of the command with their values, and names of files by their roles."""

    options: Mapping[str, list[str]]
    names: Mapping[str, str]

    def __post_init__(self) -> None:
        """Raise if a value would be read as an option, or an option is none of the page's."""
        for name, values in self.options.items():
            if name not in _OF_PAGE or not all(
                isinstance(v, str) and "\0" not in v for v in values
            ):
                raise RefusedError("The page and the app do not fit together: reload the page.")
            if len(values) > 1 and any(value.startswith("-") for value in values):
                text = f"--{name}: the name of a column begins with a hyphen. Rename it."
                raise RefusedError(text)

    @property
    def models(self) -> dict[str, str]:
        """The names of models that have a file each, by the role of the file."""
        if "other" not in self.names:
            return {}
        models = {role: Path(self.names[role]).stem for role in ("test", "other")}
        models = models if len({*models.values()}) == 2 else {role: role for role in models}
        return {role: re.sub("[=,]", "_", model) for role, model in models.items()}

    @property
    def verb(self) -> str:
        """The command: an audit of one model, or a comparison of two."""
        several = self.models or len(self.options.get("prediction", ())) > 1
        return "compare" if several else "audit"

    def arguments(self) -> list[str]:
        """Return the arguments of the command."""
        files = [f"{model}={self.names[role]}" for role, model in self.models.items()]
        arguments = [self.verb, *(files or [self.names["test"]])]
        if "train" in self.names:
            arguments += ["--train", self.names["train"]]
        for name, values in self.options.items():
            if name == "prediction" and self.verb == "compare":  # else "a=b" is a model's column
                values = [_quoted(value) for value in values]
            hyphen = len(values) == 1 and values[0].startswith("-")
            arguments += [f"--{name}={values[0]}"] if hyphen else [f"--{name}", *values]
        for kind, path in OUTPUTS.items():
            arguments += [f"--{kind}", path]
        return arguments


def _quoted(column: str) -> str:
    """Return a column's name so that the command reads it as one, as in a CSV file."""
    if not re.search('[=,"\r\n]', column):
        return column
    return '"{}"'.format(column.replace('"', '""'))
