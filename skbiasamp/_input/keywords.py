"""Names of keywords that a function does not know."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar

from skbiasamp._input.errors import InputTypeError, meant

P = ParamSpec("P")
R = TypeVar("R")


def chosen(arguments: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return some arguments of a call by name."""
    return {name: arguments[name] for name in names}


def keywords() -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a function name itself and the nearest word if a keyword is unknown."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        name, known = function.__qualname__, list(signature(function).parameters)

        @wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            __tracebackhide__ = True  # by pytest: the failure is of the function
            for word in (each for each in kwargs if each not in known):
                text = "{function}() has no parameter {word!r}{meant}"
                close = meant(word, known)
                raise InputTypeError(text, function=name, word=word, meant=close)
            return function(*args, **kwargs)

        return checked

    return decorate
