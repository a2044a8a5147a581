"""Find classes of the package by what they are, so that no list has to be kept by hand."""

import importlib
import inspect
import pkgutil

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import check_estimator

import skbiasamp


def public_classes(base=object, needs=()):
    """Return the public classes below `base` whose constructor has some parameters, by name."""
    found = set()
    for module in pkgutil.walk_packages(skbiasamp.__path__, "skbiasamp."):
        if module.name.endswith("__main__") or module.name.startswith("skbiasamp.app."):
            continue  # the app needs an extra, and offers no class
        for name, kind in vars(importlib.import_module(module.name)).items():
            if (
                inspect.isclass(kind)
                and kind.__module__ == module.name
                and not name.startswith("_")
                and not inspect.isabstract(kind)
                and issubclass(kind, base)
                and (not needs or set(needs) <= set(inspect.signature(kind).parameters))
            ):
                found.add(kind)
    return sorted(found, key=lambda kind: kind.__name__)


def auditors():
    """Return every auditor, also those of related measures."""
    return [kind for kind in public_classes(BaseEstimator) if hasattr(kind, "audit_runs")]


def public_objects():
    """Return every function and class that users can import, from the package or a submodule."""
    found = {name: getattr(skbiasamp, name) for name in skbiasamp.__all__}
    for module in [one for one in found.values() if inspect.ismodule(one)]:
        found |= {name: getattr(module, name) for name in module.__all__}
    return {name: one for name, one in found.items() if not inspect.ismodule(one)}


def public_estimators():
    """Return every estimator that users can import from the package or a public submodule."""
    listed = set(public_objects().values())
    return [kind for kind in public_classes(BaseEstimator) if kind in listed]


def failed_checks(estimator, expected=None):
    """Return the checks of scikit-learn that an estimator does not pass, with their errors."""
    done = check_estimator(estimator, expected_failed_checks=expected, on_skip=None, on_fail=None)
    return {one["check_name"]: one["exception"] for one in done if one["status"] == "failed"}


def what_routing_changes(every):
    """Return those checks of scikit-learn that call `fit` with weights, or methods after it."""

    def wanted(one):
        _, check = getattr(one, "values", one)
        name = check.func.__name__
        return any(word in name for word in ("weight", "classifiers_", "methods_", "fit_"))

    names, checks = every.args
    return pytest.mark.parametrize(names, [one for one in checks if wanted(one)], **every.kwargs)
