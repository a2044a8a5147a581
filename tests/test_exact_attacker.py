"""The exact attacker is a scikit-learn estimator, and predicts as a tree without limits does."""

import numpy as np
import pandas as pd
import pytest
from discovery import failed_checks
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import accuracy_score
from sklearn.tree import DecisionTreeClassifier

from skbiasamp.attackers import ExactAttacker


def test_keeps_the_promises_of_a_scikit_learn_classifier():
    assert failed_checks(ExactAttacker()) == {}


@st.composite
def few_valued(draw):
    """Inputs of few values, classes, and whole weights of at least 1."""
    n = draw(st.integers(2, 40))
    X = draw(arrays(int, (n, draw(st.integers(1, 3))), elements=st.integers(0, 2)))
    y = draw(arrays(int, n, elements=st.integers(0, 2)))
    return X, y, draw(arrays(int, n, elements=st.integers(1, 4)))


@settings(max_examples=25)
@given(few_valued())
def test_knows_what_a_tree_without_limits_knows(data):
    X, y, weight = data
    mine = ExactAttacker().fit(X, y, weight)
    tree = DecisionTreeClassifier(random_state=0).fit(X, y, weight)
    assert_allclose(mine.predict_proba(X), tree.predict_proba(X), rtol=0, atol=1e-12)
    scores = [accuracy_score(y, one.predict(X), sample_weight=weight) for one in (mine, tree)]
    assert scores[0] == pytest.approx(scores[1], abs=1e-12)
    crossed = pd.crosstab([pd.Series(column) for column in X.T], pd.Series(y))
    found = ExactAttacker().fit(X, y)
    assert_array_equal(found.table_, crossed)
    assert_array_equal(found.inputs_, crossed.index.to_frame())
    assert_array_equal(found.classes_, crossed.columns)


def test_an_input_never_seen_gets_what_is_most_frequent_and_a_tie_the_first_class():
    attacker = ExactAttacker().fit([[0], [0], [1], [3], [3]], ["a", "b", "b", "k", "b"])
    assert attacker.predict([[2], [3]]).tolist() == ["b", "b"]
    assert_allclose(attacker.predict_proba([[2], [3]]), [[0.2, 0.6, 0.2], [0, 0.5, 0.5]])


def test_single_and_double_precision_and_both_zeros_are_the_same_input():
    X = np.array([[0.1], [0.2]], dtype=np.float32)
    attacker = ExactAttacker().fit(X, [0, 1])
    assert attacker.predict(X.astype(float)).tolist() == [0, 1]
    attacker = ExactAttacker().fit([[-0.0], [0.0], [0.0], [1.0]], [0, 1, 1, 0])
    assert len(attacker.inputs_) == 2
    assert attacker.predict([[-0.0], [0.0]]).tolist() == [1, 1]
