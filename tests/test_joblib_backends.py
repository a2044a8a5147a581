"""Work that is shared gives the same numbers on every joblib back end."""

import os
import sys

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from skbiasamp import LeakageAuditor, cross_audit

RNG = np.random.default_rng(0)
GROUP = RNG.choice(["a", "b"], 400)
TARGET = (RNG.random(400) < 0.3 + 0.3 * (GROUP == "a")).astype(int)
PREDICTED = np.where(RNG.random(400) < 0.2, GROUP == "a", TARGET).astype(int)
X = (RNG.random(400) + TARGET)[:, None]
HOW = {"n_jobs": 2, "random_state": 0}


def attack(attacker=None):
    how = {"attacker": attacker or LogisticRegression(), "n_draws": 2, "n_resamples": 20, **HOW}
    return LeakageAuditor(**how).audit(TARGET, PREDICTED, sensitive_features=GROUP).table


def cross():
    how = {"sensitive_features": GROUP, "cv": 3, "n_halvings": 2, **HOW}
    return cross_audit(LogisticRegression(), X, TARGET, **how).table


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed", reason="needs dask's distributed")
    # Workers that are processes of their own: all they get has to travel.
    how = {"threads_per_worker": 1, "dashboard_address": None, "silence_logs": False}
    with distributed.LocalCluster(n_workers=2, **how) as own, distributed.Client(own) as client:
        yield client


@pytest.mark.filterwarnings("ignore::UserWarning")  # dask's, of the size of what it sends
def test_dask_shares_the_work_of_folds(cluster):
    expected = cross()
    with joblib.parallel_config(backend="dask"):
        found = cross()
    pd.testing.assert_frame_equal(found, expected)


class Dies(LogisticRegression):
    """An attacker whose first worker does not survive it."""

    def __init__(self, grave=None):
        super().__init__()
        self.grave = grave

    def fit(self, X, y, sample_weight=None):
        if not os.path.exists(self.grave):
            with open(self.grave, "w"):
                os._exit(1)
        return super().fit(X, y, sample_weight)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_dask_shares_the_work_of_attackers_even_if_a_worker_dies(cluster, tmp_path):
    cloudpickle = pytest.importorskip("cloudpickle")
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    expected = attack()
    with joblib.parallel_config(backend="dask"):
        found = attack(Dies(str(tmp_path / "grave")))
    assert (tmp_path / "grave").exists()
    pd.testing.assert_frame_equal(found, expected)
