"""Hostile calls of everything public: a number in its range, or an error about the input.

`make fuzz` makes many more of the same calls. A failure names its call, which `call` repeats:
``python -m pytest tests/test_fuzz.py`` with ``FUZZ_ONLY=4711`` (and ``FUZZ_SEED``, if the run had
one).
"""

import inspect
import os
import re
import sys
import traceback
import warnings
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from discovery import public_objects
from hostile import ESTIMATORS
from hostile_calls import LEFT_OUT, given_to
from hostile_made import MADE, pick
from sklearn.exceptions import NotFittedError
from sklearn.utils._param_validation import InvalidParameterError

# Internal: it tells our own refusals from errors that come from deep inside.
from skbiasamp._input.errors import InputError

CALLS, PARTS = int(os.environ.get("FUZZ_CALLS", 750)), 4
SEED = int(os.environ.get("FUZZ_SEED", 20240))

# Modules of scikit-learn that may refuse X, labels or folds of an estimator in their own words.
THEIRS = {
    "sklearn.utils.validation": "X that is no table of numbers, or other rows than in y",
    "sklearn.utils.multiclass": "labels that are no classes",
    "sklearn.utils._param_validation": "parameters of the classifier inside",
    "sklearn.utils.metadata_routing": "metadata that nobody requested",
    "sklearn.utils._metadata_requests": "metadata that nobody requested",
    "sklearn.model_selection._split": "folds that the rows do not allow",
    "sklearn.base": "a class in place of an estimator",
    "sklearn.utils._available_if": "a method that the estimator inside lacks",
    "sklearn.metrics._classification": "a mix of labels and numbers in the score",
}
# Modules of matplotlib that may refuse what a user passes on to it: colours, arguments of artists.
DRAWING = {f"matplotlib.{name}" for name in ("_api", "artist", "cm", "colorizer", "colors")}
READ_AND_WRITE = ("skbiasamp._io", "skbiasamp.counts.stored")
# What takes X; elsewhere scikit-learn has nothing to say.
WITH_X = {"X", "estimator"}


def methods_of(kind):
    """Return the names of the package's own methods of a class."""
    for name, method in inspect.getmembers(kind, callable):
        own = getattr(method, "__module__", None) or ""
        if not name.startswith("_") and own.startswith("skbiasamp") and name not in LEFT_OUT:
            yield name


CONSTRUCTED = ("skbiasamp.monitoring",)  # classes whose constructors check


def targets():
    """Return what is called: functions by name, methods by class and name."""
    found = []
    for name, one in public_objects().items():
        if name in LEFT_OUT or name.endswith("Display"):
            continue
        if not inspect.isclass(one) or one.__module__.startswith(CONSTRUCTED):
            found.append((name, one, None))
        if not inspect.isclass(one):
            continue
        if not inspect.isabstract(one):
            found += [(f"{name}.{method}", one, method) for method in methods_of(one)]
    return [one for one in found if one[0] not in LEFT_OUT]


TARGETS = targets()
SIZES = [
    len(inspect.signature(getattr(one, by or "__call__")).parameters) for _, one, by in TARGETS
]
WEIGHTS = np.array(SIZES) / sum(SIZES)
UNBOUNDED = ("label_amplification", "bias_disparity", "differential", "Differential")
UNBOUNDED += ("dpa", "DPA", "leakage")
UNBOUNDED += ("AuditedClassifier", "MLPAttacker")  # the score of the estimator inside, and R²
UNBOUNDED += ("numeric_amplification", "NumericAuditor", "FunctionAuditor")  # of any unit


def prepared(kind, method, rng, form, odd=0.25):
    """Return a method of an instance, fitted or not, or of the class."""
    if isinstance(inspect.getattr_static(kind, method), classmethod):
        return getattr(kind, method)
    if kind.__name__ in MADE:
        return getattr(MADE[kind.__name__](rng), method)
    name = kind.__name__
    instance = kind(**given_to(kind, rng, odd=int(rng.random() < odd), form=form, of=name))
    if method != "fit" and hasattr(instance, "fit") and rng.random() < 0.9:
        instance.fit(**given_to(instance.fit, rng, odd=0, form=form, of=name))
    return getattr(instance, method)


def chosen(at):
    """Return the random numbers of a call, and what it is of: the more parameters, the oftener."""
    rng = np.random.default_rng([SEED, at])
    return rng, TARGETS[rng.choice(len(TARGETS), p=WEIGHTS)]


def call(at):
    """Make one call: the same one for the same number."""
    rng, (name, target, method) = chosen(at)
    form = int(rng.integers(4))
    function = target if method is None else prepared(target, method, rng, form)
    odd = pick([0, 1, 1, 1, 1, 2], rng)
    given = given_to(function, rng, odd=odd, form=form, of=name)
    value = function(**given)
    if name == "amplification_scorer":
        value = value(
            **given_to(value, rng, odd=1, form=form, of=name)
            | {"estimator": pick(ESTIMATORS, rng)()}
        )
    return name, value


def check_numbers(name, value):
    """Raise unless numbers are within their range."""
    if isinstance(value, dict):
        for one in value.values():
            check_numbers(name, one)
    elif hasattr(value, "results"):
        check_numbers(name, value.results)
    elif hasattr(value, "table"):
        assert repr(value)
        tables = [value.table, getattr(value, "pairs", None)]
        for table in (one for one in tables if isinstance(one, pd.DataFrame)):
            check_table(table)
        if hasattr(value, "p_value"):
            check_table(pd.DataFrame([{k: getattr(value, k) for k in ("low", "high", "p_value")}]))
    elif name.endswith(("_p_values", "predict_proba", ".rate")):
        shares = np.asarray(value, dtype=float)
        assert (np.isnan(shares) | ((shares >= -1e-9) & (shares <= 1 + 1e-9))).all(), shares
    elif isinstance(value, float) and name.endswith(("amplification", "score")):
        assert np.isfinite(value) or np.isnan(value) or "leakage" in name
        assert not abs(value) > 1 or any(one in name for one in UNBOUNDED), value


def check_table(table):
    if {"low", "high"} <= set(table.columns):
        low, high = (table[end].to_numpy(dtype=float) for end in ("low", "high"))
        assert (np.isnan(low) | np.isnan(high) | (low <= high)).all(), table
    for column in [one for one in table.columns if str(one).startswith("p_")]:
        p = table[column].to_numpy(dtype=float)
        assert (np.isnan(p) | ((p >= 0) & (p <= 1))).all(), table


def takes_x(at):
    """Whether a call is of something that passes X on to scikit-learn."""
    _, (_, target, method) = chosen(at)
    functions = [getattr(target, "fit", target), getattr(target, method or "", target)]
    return any(WITH_X & set(inspect.signature(one).parameters) for one in functions)


def refused(error, at):
    """Return why an error is one that a user can act on, or None."""
    for kind in (InputError, InvalidParameterError, NotFittedError):
        if isinstance(error, kind):
            return kind.__name__
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    modules = [frame.f_globals.get("__name__", "") for frame in frames]
    ours = [module for module in modules if module.startswith("skbiasamp")]
    unknown = "unexpected keyword argument" in str(error)
    if isinstance(error, TypeError) and (unknown or (len(ours) <= 1 and "argument" in str(error))):
        return "TypeError of the call"
    if isinstance(error, ImportError) and "pip install" in str(error):
        return "ImportError of an optional package"
    if isinstance(error, OSError) and ours and ours[-1] in READ_AND_WRITE:
        return "OSError of a path"
    last = max(i for i, module in enumerate(modules) if module in ours or not i)
    inside = [module for module in modules[last + 1 :] if module in THEIRS]
    if isinstance(error, RuntimeWarning) and modules[-1].startswith("sklearn."):
        inside = [modules[-1]]  # numbers in X that an estimator cannot bear
    # A tensor that needs a gradient is a RuntimeError, a number too large an OverflowError.
    kinds = (TypeError, ValueError, RuntimeError, OverflowError, AttributeError, Warning)
    if "hostile" in modules[last + 1 :]:
        return "of an estimator that the user wrote"
    drawing = DRAWING & set(modules[last + 1 :]) or modules[last].startswith("skbiasamp.plotting")
    if drawing and isinstance(error, kinds):
        return "of matplotlib"  # a Display passes on what it is to draw
    if inside and isinstance(error, kinds) and takes_x(at):
        return f"of {inside[0]}"
    return None


def outcome(at):
    """Return what came of a call, and the failure if it is none that is allowed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)
        try:
            check_numbers(*call(at))
        except Exception as error:
            allowed = refused(error, at)
            where = traceback.extract_tb(error.__traceback__)
            ours = [one for one in where if "/skbiasamp/" in one.filename] or where
            said = f"{type(error).__name__} at {ours[-1].filename}:{ours[-1].lineno}: {error}"
            return allowed or "FAILED", None if allowed else said
        finally:
            if "matplotlib.pyplot" in sys.modules:
                sys.modules["matplotlib.pyplot"].close("all")
    return "a result", None


@pytest.mark.parametrize("part", range(PARTS))
def test_every_target_gives_a_result_if_it_is_called_well(part, tmp_path, monkeypatch):
    """Else hostile calls of it would all end at the same check."""
    monkeypatch.chdir(tmp_path)
    refused = {}
    for name, target, method in TARGETS[part::PARTS]:
        for trial in range(60):
            rng, form = np.random.default_rng(trial), trial % 4
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    function = prepared(target, method, rng, form, odd=0) if method else target
                    function(**given_to(function, rng, odd=0, form=form, of=name))
            except (ValueError, TypeError, AttributeError) as error:  # some have a method only so
                refused[name] = error
                continue
            except ImportError as error:
                if "pip install" not in str(error):
                    raise
            refused.pop(name, None)  # a result, or one that needs an optional package
            break
    assert not refused, "hostile_made.py and own_of in hostile_calls.py hold what targets need"


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_hostile_calls(part, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    seen, failures = Counter(), {}
    only = os.environ.get("FUZZ_ONLY")
    for at in [int(only)] if only else range(part, CALLS, PARTS):
        what, failure = outcome(at)
        seen[what] += 1
        if failure:
            failures.setdefault(re.sub(r"0x\w+", "", failure), at)
    print(*(f"{n:7,} {what}" for what, n in seen.most_common()), sep="\n")
    shown = [f"call {at}: {text[:300]}" for text, at in failures.items()]
    assert not shown, "\n".join(shown)
