"""Keywords of functions, and options of estimators, from which their constructors follow."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, wraps
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, ClassVar, ParamSpec, Self, TypeVar, dataclass_transform

from skbiasamp._input.errors import PARAMETER_OF, InputTypeError, meant

if TYPE_CHECKING:  # scikit-learn has no types, and below a base of type Any no typo is found

    class _Estimator:
        _parameter_constraints: ClassVar[dict[str, Any]]

        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: Any) -> Self: ...
        def _validate_params(self) -> None: ...
        def __sklearn_tags__(self) -> Any: ...
        @classmethod
        def _get_param_names(cls) -> list[str]: ...
else:
    from sklearn.base import BaseEstimator as _Estimator


P = ParamSpec("P")
R = TypeVar("R")

# Options of the command that are called something else in Python.
_OF_COMMAND = {"positive": "pos_label", "seed": "random_state"}


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
                likely = _OF_COMMAND[word] if _OF_COMMAND.get(word) in known else longer
                close = f": did you mean {likely!r}?" if likely else meant(word, known)
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


# --------------------------------------------------------------------------- options of estimators


_MORE = inspect.Parameter.VAR_KEYWORD
_REQUIRED = inspect.Parameter.empty


@dataclass(frozen=True)
class _Declared:
    default: Any
    allowed: tuple[Any, ...]
    after: str = ""
    kw_only: bool = True

    def __get__(self, auditor: Any, kind: Any = None) -> Any:
        """Return the default of an auditor whose own constructor does not set the option."""
        return self if auditor is None else self.default


@keywords()
def Option(default: Any, *allowed: Any, after: str = "") -> Any:
    """Declare an option of an auditor, in the body of its class.

    The constructor takes it by name, and `get_params`, `set_params`, `clone` and the ``repr``
    know it. The options of the base class stay. An attribute that is no `Option` fixes an
    option of the base class: the constructor then no longer takes it.

    .. versionadded:: 0.2

    Parameters
    ----------
    default : object
        Value of an auditor that is given none.
    *allowed : StrOptions, Interval, type, None or other constraint of scikit-learn
        What the option may be, one of these; `fit` and `audit` check it. None given: what the
        base class allows, or anything.
    after : str, default=""
        The option that this one follows in the signature. "": it comes before those of the base.

    Returns
    -------
    option : object
        What the class body assigns.

    Examples
    --------
    >>> from skbiasamp import DirectionalAuditor
    >>> from skbiasamp.metrics import Option
    >>> class Mine(DirectionalAuditor):
    ...     power: float = Option(1.0)
    >>> Mine(power=2, interval=None)
    Mine(interval=None, power=2)
    """
    return _Declared(default, allowed, after)


# Type checkers read `default` and `kw_only` where the option is declared.
def PositionalOption(*allowed: Any, kw_only: bool, default: Any = _REQUIRED) -> Any:
    """Declare an option that may go by position too, before all others.

    Without a default it must be given.
    """
    return _Declared(default, allowed, kw_only=kw_only)


@dataclass_transform(kw_only_default=True, field_specifiers=(PositionalOption,))
class WithOptions(_Estimator):
    """An estimator whose constructor takes the options that its class declares."""

    _options: ClassVar[dict[str, _Declared]] = {}
    _written: ClassVar[list[inspect.Parameter] | None] = None  # of a constructor of a user's own
    _parameter_constraints: ClassVar[dict[str, Any]] = {}

    def __init__(self, *args: Any, **options: Any) -> None:
        known, name = self._options, type(self).__name__
        by_position = [key for key, option in known.items() if not option.kw_only]
        if len(args) > len(by_position):
            raise TypeError(
                f"{name} takes {' and '.join(by_position) or 'nothing'} by position and the rest "
                f"by name; got {len(args)} arguments by position."
            )
        given = dict(zip(by_position, args, strict=False))
        for key in options:
            if key in given:
                raise TypeError(f"{name}() got multiple values for argument {key!r}")
            if key not in known:
                near = meant(key, known)
                raise TypeError(f"{name}() got an unexpected keyword argument {key!r}{near}")
        given = {key: option.default for key, option in known.items()} | given | options
        lacking = [key for key, value in given.items() if value is _REQUIRED]
        if lacking:
            raise TypeError(f"{name}() is missing the argument {lacking[0]!r}")
        vars(self).update(given)

    @classmethod
    @cache
    def _get_param_names(cls) -> Any:
        # scikit-learn asks for them several times an audit, and inspects the constructor each time.
        return super()._get_param_names()

    def __init_subclass__(cls, **how: Any) -> None:
        super().__init_subclass__(**how)
        own = {key: value for key, value in vars(cls).items() if isinstance(value, _Declared)}
        constraints = {key: list(option.allowed) for key, option in own.items() if option.allowed}
        explicit = vars(cls).get("_parameter_constraints", {})
        inherited = super(cls, cls)._parameter_constraints
        cls._parameter_constraints = inherited | constraints | explicit
        cls._options = _in_order(own, {k: o for k, o in cls._options.items() if _kept(cls, k)})
        if "__init__" in vars(cls):
            _, *cls._written = inspect.signature(cls.__init__).parameters.values()
        else:
            cls.__init__ = _of_its_own(cls.__init__)  # type: ignore[method-assign]
        if own or cls._written is None or _variadic(cls._written):
            cls.__init__.__signature__ = _signature(cls)  # type: ignore[attr-defined]


def _kept(cls: type, name: str) -> bool:
    """Return whether a class leaves an option of its base open, or declares it again."""
    return isinstance(vars(cls).get(name, inspect.getattr_static(cls, name)), _Declared)


def _in_order(own: dict[str, _Declared], inherited: dict[str, _Declared]) -> dict[str, _Declared]:
    """Return all options: a class's own first, unless they replace or follow another."""
    new = [key for key in own if key not in inherited]
    names = [key for key in new if not own[key].after] + list(inherited)
    for key in new:
        if own[key].after:
            names.insert(names.index(own[key].after) + 1, key)
    known = inherited | own
    return {key: known[key] for key in sorted(names, key=lambda key: known[key].kw_only)}


def _of_its_own(constructor: Any) -> Any:
    """Return a constructor that does the same, and may have another signature."""

    @wraps(constructor)
    def __init__(self: Any, *args: Any, **options: Any) -> None:
        constructor(self, *args, **options)

    return __init__


def _variadic(written: list[inspect.Parameter]) -> set[Any]:
    """Return which of `*args` and `**options` a constructor takes."""
    return {parameter.kind for parameter in written} & {_MORE, inspect.Parameter.VAR_POSITIONAL}


def _signature(cls: type[WithOptions]) -> inspect.Signature:
    """Return the signature: what a constructor names itself, and all other options."""
    kinds, written = inspect.Parameter, cls._written or []
    if cls._written is not None and _variadic(written) != {_MORE}:
        raise TypeError(
            f"The constructor of {cls.__name__} must take all options by name. Declare your own in "
            f"the class, `power = Option(1)`, and write no constructor; or write "
            f"`def __init__(self, power=1, **options)`, with `super().__init__(**options)` and "
            f"`self.power = power`."
        )
    named = [parameter for parameter in written if parameter.kind is not _MORE]
    free = cls._written is None
    types: dict[str, Any] = {}
    for kind in reversed(cls.__mro__):
        types |= inspect.get_annotations(kind)
    options = [
        kinds(
            key,
            kinds.POSITIONAL_OR_KEYWORD if free and not option.kw_only else kinds.KEYWORD_ONLY,
            default=option.default,
            annotation=types.get(key, kinds.empty),
        )
        for key, option in cls._options.items()
        if key not in {parameter.name for parameter in named}
    ]
    self = kinds("self", kinds.POSITIONAL_OR_KEYWORD)
    return inspect.Signature([self, *named, *options])
