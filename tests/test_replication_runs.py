"""Runs that the replication page keeps in files are those that the scripts make."""

import os
from pathlib import Path

import pandas as pd
import pytest

PROJECT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("SKBIASAMP_DATA", PROJECT.parent / "shared" / "data"))


@pytest.fixture
def script(monkeypatch):
    monkeypatch.syspath_prepend(str(PROJECT / "benchmarks"))
    monkeypatch.setenv("SKBIASAMP_DATA", str(DATA))
    return lambda name: __import__(name)


def test_runs_of_architectures_are_those_of_the_file(script):
    architectures = script("architectures")
    kept = pd.read_csv(architectures.FILE).set_index(["model", "ratio", "seed"])
    assert len(kept) == len(architectures.MODELS) * len(architectures.RATIOS) * 5
    assert kept.index.is_unique
    again = architectures.run("logistic regression", 4, 3)
    assert kept.loc["logistic regression", 4, 3].to_dict() == pytest.approx(again, abs=0.003)
    # What the page says: at 2 : 1 and 4 : 1 the forest amplifies more than the others.
    means = kept["amplification"].groupby(["ratio", "model"]).mean().unstack()
    assert (means.loc[[2, 4]].idxmax(axis=1) == "random forest").all()


@pytest.mark.torch
def test_an_attacker_of_imsitu_trains_and_kept_runs_are_full_ones(script):
    pytest.importorskip("torch")
    if not (DATA / "imsitu_train.csv.gz").is_file():
        pytest.skip("SKBIASAMP_DATA lacks imSitu")
    imsitu = script("imsitu_attackers")
    assert 0.4 < imsitu.run("α = 1", 2, 10, 0.25, seed=0, epochs=1) < 0.75
    kept = pd.read_csv(imsitu.FILE)
    assert (kept["epochs"] == 100).all()
    assert not kept.duplicated(["split", "layers", "width", "share", "seed"]).any()
    planned = {(*what, seed) for what, seed in imsitu.jobs()}
    assert set(imsitu.read()) <= planned
