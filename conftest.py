"""What all tests share: docstrings need their packages, pages a mark, no test a deadline."""

import gc
import os
from importlib.util import find_spec

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

# No test fails because the machine is busy.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


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
