"""Fixtures: one engine at a time, a folder with files, routing, and one thread of torch."""

import pytest
import sklearn
from command_line import pretend_without


@pytest.fixture(params=["duckdb", "polars", "pandas"])
def engine(request, monkeypatch):
    """Read with one engine only."""
    pytest.importorskip(request.param)
    if request.param == "duckdb":
        pytest.importorskip("pyarrow")
    pretend_without(monkeypatch, *({"duckdb", "polars"} - {request.param}))
    return request.param


@pytest.fixture
def folder(tmp_path, monkeypatch, train, test):
    """Work in a folder with the rows of the module in two files."""
    monkeypatch.chdir(tmp_path)
    train.to_csv("train.csv", index=False)
    test.to_csv("test.csv", index=False)
    return tmp_path


@pytest.fixture
def routing():
    """Metadata routing of scikit-learn is on."""
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.fixture
def one_thread():
    """Tests that run side by side would wait for each other's threads."""
    torch = pytest.importorskip("torch")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
