"""Work that is shared gives the same numbers on every joblib back end."""

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


def attack():
    how = {"attacker": LogisticRegression(), "n_draws": 2, "n_resamples": 20, **HOW}
    return LeakageAuditor(**how).audit(TARGET, PREDICTED, sensitive_features=GROUP).table


def cross():
    how = {"sensitive_features": GROUP, "cv": 3, "n_halvings": 2, **HOW}
    return cross_audit(LogisticRegression(), X, TARGET, **how).table


@pytest.mark.filterwarnings("ignore::UserWarning")  # dask's, of the size of what it sends
def test_dask_shares_the_work_of_attackers_and_folds():
    distributed = pytest.importorskip("distributed", reason="needs dask's distributed")
    # Workers that are processes of their own: all they get has to travel.
    how = {"threads_per_worker": 1, "dashboard_address": None, "silence_logs": False}
    with distributed.LocalCluster(n_workers=2, **how) as own, distributed.Client(own):
        for shared in (attack, cross):
            expected = shared()
            with joblib.parallel_config(backend="dask"):
                found = shared()
            pd.testing.assert_frame_equal(found, expected)
