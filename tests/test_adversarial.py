"""AdversarialClassifier: a network trained against critics, and what it promises."""

import pickle
import sys
import warnings
from collections import OrderedDict

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from skbiasamp import AuditedClassifier, LeakageProbe
from skbiasamp.attackers._networks import Cells, _draw
from skbiasamp.datasets import make_biased_classification
from skbiasamp.mitigation import AdversarialClassifier
from skbiasamp.mitigation._adversarial_training import Plan, Rows, _Training

torch = pytest.importorskip("torch")
nn = torch.nn
pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True)
def one_thread():
    """Tests that run side by side would wait for each other's threads."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


class Parity:
    """Two groups for the checks, by what is in a row and not by its place."""

    def __call__(self, X):
        X = np.asarray(X.toarray() if hasattr(X, "toarray") else X)
        size = np.abs(np.nan_to_num(X.astype(complex))).reshape(len(X), -1).sum(axis=1)
        group = np.floor(size * 1000) % 2
        return group if len(np.unique(group)) > 1 else np.arange(len(X)) % 2

    def __repr__(self):
        return "parity"

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        return "parity"


parity = Parity()
# Two phases of training, and critics: what takes longer says no more to the checks.
QUICK = {"predictor_epochs": 40, "critic_epochs": 2, "max_epochs": 3, "critic_steps": 1}


@parametrize_with_checks([AdversarialClassifier(0.1, sensitive=parity, **QUICK)])
@pytest.mark.filterwarnings("ignore:There are no rows of group")
def test_is_an_estimator_of_scikit_learn(estimator, check):
    check(estimator)
