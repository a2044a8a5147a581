"""Does a search leave out mitigations that make other groups worse, and find nothing by chance?

python benchmarks/evidence/search_harm.py null --worlds 200
python benchmarks/evidence/search_harm.py compas --file compas-scores-two-years.csv
python benchmarks/evidence/search_harm.py acs --file ACSIncome.test.parquet

Each prints a part of benchmarks/results/search.md. The first file is that of
propublica/compas-analysis, the second of dssg/aequitas (datasets/FolkTables).
"""

import argparse
import warnings
from functools import partial

from trials import markdown

# isort: split
import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skbiasamp import DirectionalAuditor
from skbiasamp.mitigation import (
    AmplificationThresholdClassifier,
    DomainIndependentClassifier,
    MixedClassifier,
    search,
)


class Column(ClassifierMixin, BaseEstimator):
    """Predict a column of X."""

    def __init__(self, column=0):
        self.column = column

    def fit(self, X, y):
        """Learn the classes."""
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        """Return the column."""
        return X[:, self.column].astype(int)


EIGHT = {str(i): Column(i) for i in range(1, 9)}


def searched(rng, *rows, **how):
    """Return the result of a search with a seed that is drawn."""
    return search(*rows, **how, random_state=int(rng.integers(2**31)))


def at_the_limit(rng, n=1500, limit=0.06):
    """Search among eight candidates that amplify by the limit: none is within it."""
    sex = rng.integers(0, 2, n)
    y = (rng.random(n) < np.where(sex == 1, 0.6, 0.4)).astype(int)
    # Half of the predictions are labels, the other half have rates 2 * limit further apart.
    columns = [
        np.where(rng.random(n) < 0.5, y, rng.random(n) < np.where(sex == 1, rate, 1 - rate))
        for rate in (0.9, *[0.6 + 2 * limit] * 8)
    ]
    how = {"sensitive_features": sex, "candidates": EIGHT, "limit": limit}
    result = searched(rng, Column(0), np.column_stack(columns), y, **how)
    # What a search would say that believes the rows that chose.
    auditor = DirectionalAuditor().fit(y, sensitive_features=sex)
    naive = [auditor.audit(y, own, sensitive_features=sex) for own in columns[1:]]
    return {
        "found": result.best is not None,
        "some candidate's own interval within": any(-limit < a.low < a.high < limit for a in naive),
    }


def crowd(rng, n):
    """Return people of three columns."""
    sizes = {"sex": 2, "race": 3, "age": 3}
    return pd.DataFrame({name: rng.integers(0, size, n) for name, size in sizes.items()})


def nobody_worse(rng, n=3000):
    """Search among eight candidates whose errors do not depend on anything."""
    people = crowd(rng, n)
    y = (rng.random(n) < 0.3 + 0.1 * people["sex"] + 0.1 * people["race"]).to_numpy(int)
    X = np.column_stack([np.where(rng.random(n) < 0.15, 1 - y, y) for _ in range(9)])
    return _worse(Column(0), EIGHT, X, y, people, rng)


def other_seeds(rng, n=1500):
    """Search among forests that differ from the model in nothing but their seeds."""
    people = crowd(rng, n)
    X = np.column_stack([rng.normal(size=(n, 3)), people])
    y = (X[:, 0] + 0.5 * people["race"] + rng.normal(size=n) > 0.5).to_numpy(int)
    forests = {str(i): RandomForestClassifier(10, random_state=i) for i in range(1, 6)}
    return _worse(RandomForestClassifier(10, random_state=0), forests, X, y, people, rng)


def _worse(model, candidates, X, y, people, rng):
    """Return whether some candidate is out because it makes another group worse."""
    how = {"sensitive_features": people["sex"], "also": people[["race", "age"]]}
    result = searched(rng, model, X, y, candidates=candidates, **how)
    worse = result.table["status"].eq("worse elsewhere")
    return {"some candidate out": worse.any(), "winner not found": result.best is None}


def nothing_to_gain(rng, n=2000):
    """Search where labels do not depend on the group."""
    people = pd.DataFrame({"sex": rng.integers(0, 2, n), "race": rng.integers(0, 3, n)})
    skill = rng.normal(size=n)
    y = (skill + rng.normal(size=n) > 0.3).astype(int)
    X = np.column_stack([skill, people["sex"] + rng.normal(size=n), people])
    how = {"sensitive_features": people["sex"], "also": people["race"]}
    result = searched(rng, LogisticRegression(), X, y, **how)
    worse = result.table["status"].eq("worse elsewhere")
    return {"improved": result.improved, "some candidate out": worse.any()}


def null(worlds, only):
    """Count what is found where there is nothing."""
    print("| world | searches | event | share |\n|---|---|---|---|")
    for world in (at_the_limit, nobody_worse, other_seeds, nothing_to_gain):
        if only and world.__name__ != only:
            continue
        rows = pd.DataFrame([world(np.random.default_rng(seed)) for seed in range(worlds)])
        for event, share in rows.mean().items():
            print(f"| {world.__doc__} | {len(rows)} | {event} | {share:.1%} |", flush=True)


def acs(file):
    """Return features, labels and people of ACS income: sex × race × age."""
    table = pd.read_parquet(file).sample(120_000, random_state=0).reset_index(drop=True)
    people = pd.DataFrame(
        {
            "sex": table["SEX"].map({1: "men", 2: "women"}),
            "race": table["RAC1P"].map({0: "White", 1: "Black", 5: "Asian"}).fillna("other"),
            "age": pd.cut(table["AGEP"], [0, 34, 54, 120], labels=["17-34", "35-54", "55+"]),
        }
    ).astype(str)
    X = pd.get_dummies(table.drop(columns="PINCP"), columns=["MAR", "COW"]).astype(float)
    return X, table["PINCP"], people, 20_000, 0.02


def compas(file):
    """Return features, labels and people of COMPAS, ProPublica's rows."""
    table = pd.read_csv(file)
    table = table[
        table["days_b_screening_arrest"].abs().le(30)
        & table["is_recid"].ne(-1)
        & table["c_charge_degree"].ne("O")
        & table["score_text"].ne("N/A")
    ].reset_index(drop=True)
    race = table["race"].where(table["race"].isin(["African-American", "Caucasian"]), "other")
    people = pd.DataFrame({"race": race, "sex": table["sex"], "age": table["age_cat"]})
    numbers = ["age", "priors_count", "juv_fel_count", "juv_misd_count", "juv_other_count"]
    X = pd.get_dummies(table[[*numbers, "c_charge_degree", "sex", "race"]]).astype(float)
    return X, table["two_year_recid"], people, 4_000, 0.05


def shown(data, model, seeds):
    """Print both searches, and what their winners do on rows that chose nothing."""
    X, y, people, n, limit = data
    first, *others = people
    lines = []
    for seed in seeds:
        rows = np.random.default_rng(seed).permutation(len(y))
        train, test = rows[:n], rows[n:]
        given = {"sensitive_features": people.loc[train, first], "limit": limit}
        given |= {"scoring": "balanced_accuracy", "random_state": seed, "uses_group": True}
        threshold = partial(
            AmplificationThresholdClassifier,
            model, limit=limit / 2, scoring="balanced_accuracy", cv=3,
        )  # fmt: skip
        independent = DomainIndependentClassifier(model, calibration=None)
        given["candidates"] = {
            "threshold of each group": threshold(by_group=True),
            "one threshold": threshold(),
            "mixed with RatioBalancer": MixedClassifier(model, cv=3),
            "mixed with DomainIndependent": MixedClassifier(model, independent, cv=3),
        }
        searches = {"without `also`": {}, "with `also`": {"also": people.loc[train, others]}}
        plain = model.fit(X.iloc[train], y.iloc[train]).predict(X.iloc[test])
        for how, more in searches.items():
            result = search(model, X.iloc[train], y.iloc[train], **given, **more)
            out = result.table.set_index("candidate")["worse_for"].dropna().to_dict()
            print(f"seed {seed}, {how}: {result.sentence}")
            print("  out:", out, flush=True)
            line = [seed, how, result.best or "nothing", "", "", "", ""]
            if result.best is not None:
                needs = result.table["needs_group"].iloc[0]
                group = {"sensitive_features": people.loc[test, first]} if needs else {}
                predicted = np.asarray(result.best_.predict(X.iloc[test], **group))
                auditor = DirectionalAuditor().fit(
                    y.iloc[train], sensitive_features=people.loc[train, first]
                )
                sensitive = people.loc[test, first]
                before, after = (
                    auditor.score(y.iloc[test], own, sensitive_features=sensitive)
                    for own in (plain, predicted)
                )
                line[3:] = [f"{before:+.3f}", f"{result.table['value'].iloc[0]:+.3f}"]
                line += [f"{after:+.3f}", _worst(plain, predicted, y.iloc[test], people.loc[test])]
            lines.append(line)
    header = ["split", "search", "winner", "model", "promised", "held out", "worst other column"]
    print(markdown(header, lines))


def _worst(before, after, y, people):
    """Return the other column or crossing that changes most for the worse, with its interval."""
    moved = pd.DataFrame({"before": before - y.to_numpy(), "after": after - y.to_numpy()})
    moved -= moved.mean()
    changes = []
    names = list(people)
    for columns in (names[1:2], names[2:], names[:2], names[::2], names[1:], names):
        groups = people[columns].agg(" ".join, axis=1).to_numpy()
        sides = np.where(moved.groupby(groups).transform("mean") < 0, -1, 1)
        sizes = moved * sides
        change = sizes["after"] - sizes["before"]
        changes.append((change.mean(), 1.96 * change.sem(), " × ".join(columns)))
    change, reach, name = max(changes)
    return f"{name}: {change:+.4f} ± {reach:.4f}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["null", "compas", "acs"])
    parser.add_argument("--worlds", type=int, default=200)
    parser.add_argument("--only", default="", help="a world")
    parser.add_argument("--file")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.what == "null":
        null(options.worlds, options.only)
    else:
        data = {"compas": compas, "acs": acs}[options.what](options.file)
        model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500))
        shown(data, model, options.seeds)
