"""Find out whether a model amplifies the bias of the data it was trained on."""

import ast
import importlib
from pathlib import Path
from typing import Any

# The stub beside this file lists the public names, for type checkers and for this module. A name
# is imported when it is first asked for, so that importing the package imports nothing else.
_STUB = ast.parse(Path(__file__).with_suffix(".pyi").read_text("utf-8"))
_MODULES = {
    alias.name: statement.module
    for statement in _STUB.body
    if isinstance(statement, ast.ImportFrom)
    for alias in statement.names
}

__all__ = sorted(set(_MODULES) - {"__version__"})


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'skbiasamp' has no attribute {name!r}")
    module = _MODULES[name]
    if module == __name__:
        return importlib.import_module(f"{module}.{name}")
    value = globals()[name] = getattr(importlib.import_module(module), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
