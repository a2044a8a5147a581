"""What all tests share: the packages of docstrings, the mark of pages, draws that are the same."""

import gc
import os
import random
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import settings

NEED = {
    "torch": [
        "skbiasamp/attackers/networks.py",
        "skbiasamp/mitigation/_adversarial.py",
    ],
    "uvicorn": ["skbiasamp/app/server.py"],
}
collect_ignore = [
    file for package, files in NEED.items() if not find_spec(package) for file in files
]

# Workers that run side by side would wait for each other's threads; read when torch is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# No test fails because the machine is busy, or by examples that the run before did not see.
settings.register_profile("fresh", deadline=None)  # `make fuzz`
settings.register_profile("same", deadline=None, derandomize=True)
settings.load_profile("same")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup():
    """Seed what `random_state=None` draws from: a test is the same alone and in any order."""
    np.random.seed(0)  # noqa: NPY002 -- the state that scikit-learn falls back to
    random.seed(0)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark the examples of the pages in docs/, which `make test-docs` runs."""
    for item in items:
        if item.path.suffix == ".md" and item.path.parent.name == "docs":
            item.add_marker("pages")


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Leave modules and collected tests, half a million objects, out of garbage collection."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
