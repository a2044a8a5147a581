"""Names of keywords that a function does not know."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature
from typing import ParamSpec, TypeVar

from skbiasamp._input.errors import PARAMETER_OF, InputTypeError, meant

P = ParamSpec("P")
R = TypeVar("R")


def keywords(frames: str = "") -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a function name itself and the nearest word if a keyword is unknown.

    `frames` is the function that takes the columns of a frame, if this one does not.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        name, parameters = function.__qualname__, signature(function).parameters
        known = list(parameters)
        kinds = {key: parameter.kind for key, parameter in parameters.items()}
        several = Parameter.VAR_POSITIONAL in kinds.values()
        by_position = [key for key, kind in kinds.items() if kind is not Parameter.KEYWORD_ONLY]

        @wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            __tracebackhide__ = True  # by pytest: the failure is of the function
            for word in (each for each in kwargs if each not in known):
                text = "{function}() has no parameter {word!r}{meant}"
                longer = next((each for each in known if each.startswith(f"{word}_")), None)
                close = f": did you mean {longer!r}?" if longer else meant(word, known)
                if frames and word in PARAMETER_OF:
                    close += f" Columns of a frame are named in {frames}(frame, {word}=...)."
                raise InputTypeError(text, function=name, word=word, meant=close)
            if len(args) > len(by_position) and not several:
                text = (
                    "{function}() takes {names} by position and the rest by name: "
                    "{function}({names}{rest}). Got {n} arguments by position."
                )
                groups = ", sensitive_features=..." * ("sensitive_features" in known)
                names = ", ".join(by_position)
                raise InputTypeError(text, function=name, names=names, rest=groups, n=len(args))
            return function(*args, **kwargs)

        return checked

    return decorate
