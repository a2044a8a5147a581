"""Scores of each class, before and after a mitigation, against scikit-learn."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, recall_score
from sklearn.multioutput import MultiOutputClassifier

from skbiasamp.mitigation import RatioBalancer, search
from skbiasamp.model_selection import class_scorers

RNG = np.random.default_rng(0)
SEX = RNG.integers(2, size=600)
X = np.column_stack([RNG.normal(size=600), SEX])
JOB = np.digitize(X[:, 0] + SEX + RNG.normal(size=600), [0, 1])


@pytest.mark.parametrize("names", [[0, 1, 2], ["cook", "nurse", "pilot"]])
def test_each_class_has_the_score_that_scikit_learn_gives_it(names):
    job = np.array(names)[JOB]
    model = LogisticRegression().fit(X, job)
    for metric in (f1_score, recall_score):
        scorers = class_scorers(job, metric)
        assert list(scorers) == [f"{metric.__name__} of '{name}'" for name in names]
        found = [scorer(model, X, job) for scorer in scorers.values()]
        assert found == metric(job, model.predict(X), average=None).tolist()


def test_each_task_has_the_score_of_its_column():
    tasks = pd.DataFrame({"cook": JOB > 0, "clean": JOB > 1}).astype(int)
    model = MultiOutputClassifier(LogisticRegression()).fit(X, tasks)
    scorers = class_scorers(tasks)
    assert list(scorers) == ["f1_score of 'cook'", "f1_score of 'clean'"]
    found = [scorer(model, X, tasks) for scorer in scorers.values()]
    assert found == f1_score(tasks, model.predict(X), average=None).tolist()


def test_a_search_has_the_score_of_each_class_before_and_after():
    """Folds by hand: the mean of scikit-learn's F1 of each class, and its change."""
    folds = [(np.arange(300), np.arange(300, 600)), (np.arange(300, 600), np.arange(300))]
    model = LogisticRegression()
    result = search(
        model, X, JOB, sensitive_features=SEX, limit=None, cv=folds,
        candidates={"balanced": (RatioBalancer(random_state=0), model)},
        scoring={"accuracy": "accuracy", **class_scorers(JOB)}, random_state=0,
    )  # fmt: skip
    before = [
        f1_score(JOB[test], model.fit(X[train], JOB[train]).predict(X[test]), average=None)
        for train, test in folds
    ]
    measures = result.measures.set_index(["mitigation", "measure"])
    for k, mean in enumerate(np.mean(before, axis=0)):
        name = f"f1_score of '{k}'"
        plain, balanced = (measures.loc[one, name] for one in ("none", "balanced"))
        assert plain["value"] == pytest.approx(mean, abs=1e-12)
        change = balanced["value"] - plain["value"]
        assert balanced["change"] == pytest.approx(change, abs=1e-12)
        assert balanced["change_low"] < balanced["change"] < balanced["change_high"]
