"""DPA of decision trees on COMPAS, balanced and not: Tables 2 and 3 of Tokas et al. (2024).

One decision tree predicts recidivism and another predicts race, from five features. Both are
audited on their training rows. BiasAmp→ and Multi→ follow from the counts of Table 2, and agree
with Table 3. On balanced labels, DPA of the best possible attacker follows too, because the model's
accuracy does not matter. Task → group (T→A: does the task shift the predicted group?) agrees with
the paper. Group → task (A→T: does the group shift the predicted task?) is lower by 0.01.

Result: on balanced data, BiasAmp→ is always 0, because the labels have no association to amplify.
DPA and Multi→ are not 0, and near the published values, as far as random samples allow. On
unbalanced data they are not near, because DPA by accuracy, as in the paper, depends on how often a
tree predicts each class, and the trees differ. The default of ``DPAAuditor`` is balanced accuracy:
a guess that ignores the group then always scores 1/2.

The attacker is the best table of inputs, cross-fitted. The paper's is a network,
``MLPAttacker.preset("dpa")``; its results agree with those of the table to 0.004: see
benchmarks/results/replication.md.
"""

import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeClassifier

from skbiasamp import DPAAuditor
from skbiasamp.datasets import load_compas, load_compas_counts
from skbiasamp.metrics import directional_amplification, multi_attribute_amplification

DIRECTIONS = ("T->A", "A->T")
PAPER = {
    ("BiasAmp→", "unbalanced", "T->A"): "-0.078 ± 0.031",
    ("BiasAmp→", "unbalanced", "A->T"): "-0.038 ± 0.001",
    ("BiasAmp→", "balanced", "T->A"): "0.000 ± 0.000",
    ("BiasAmp→", "balanced", "A->T"): "0.000 ± 0.000",
    ("Multi→", "unbalanced", "T->A"): "0.078 ± 0.026",
    ("Multi→", "unbalanced", "A->T"): "0.038 ± 0.001",
    ("Multi→", "balanced", "T->A"): "0.066 ± 0.007",
    ("Multi→", "balanced", "A->T"): "0.099 ± 0.006",
    ("DPA", "unbalanced", "T->A"): "0.063 ± 0.005",
    ("DPA", "unbalanced", "A->T"): "-0.004 ± 0.002",
    ("DPA", "balanced", "T->A"): "0.061 ± 0.008",
    ("DPA", "balanced", "A->T"): "0.100 ± 0.004",
}
RACES = np.array(["Caucasian", "African-American"])  # 0 and 1 in the paper


def as_rows(true, predicted):
    """Return one row for each label and prediction of a group (or group of a label), with counts.

    The paper does not print how labels and predictions occur together, and none of these metrics
    depends on it. Here they occur together as if they were independent.
    """
    counts = true.rename_axis(columns="true").stack().rename("n").reset_index()
    shares = predicted.div(predicted.sum(axis=1), axis=0).rename_axis(columns="predicted")
    rows = counts.merge(shares.stack().rename("share").reset_index(), on=true.index.name)
    return rows.assign(n=rows["n"] * rows["share"])


def of_counts(kind):
    """Yield (metric, direction, value) of the published counts."""
    counts = load_compas_counts(kind)
    for direction in DIRECTIONS:
        if direction == "A->T":
            predicted, rows = counts.predictions, as_rows(counts.labels, counts.predictions)
            labels = {"y_pred": pd.get_dummies(rows["predicted"])}
            task, group = rows["true"], rows["group"]
        else:
            predicted = counts.predicted_groups
            rows = as_rows(counts.labels.T, predicted)
            labels = {"sensitive_pred": rows["predicted"]}
            task, group = rows["task"], rows["true"]
        labels |= {"y_true": pd.get_dummies(task), "sensitive_features": group}
        labels |= {"sample_weight": rows["n"], "direction": direction}
        yield "BiasAmp→", direction, directional_amplification(**labels)
        yield "Multi→", direction, multi_attribute_amplification(**labels, max_size=1)
        if kind == "balanced":
            # The best attacker guesses the most frequent prediction; from labels, half are right.
            quality = predicted.max(axis=1).sum() / predicted.to_numpy().sum()
            yield "DPA", direction, (quality - 0.5) / (quality + 0.5)


def sample(kind, seed):
    """Return all COMPAS rows, or equally many random rows of each race and label.

    The label of the paper is whether a person was charged again at all (``is_recid``).
    """
    compas = load_compas(target="is_recid")
    if kind == "balanced":
        cells = compas.frame.groupby(["race", "is_recid"])
        drawn = cells.sample(cells.size().min(), random_state=np.random.RandomState(seed))
        rows = drawn.index.sort_values()
        for part in ("data", "target", "sensitive_features"):
            compas[part] = compas[part].loc[rows]
    return compas


def predictions(features, labels, seed):
    """Return a tree's predictions for its training rows.

    If both classes are equally frequent in a leaf, a tree predicts class 0. On balanced data this
    happens often, so races are numbered as in the paper.
    """
    classes = np.unique(labels) if np.isin(labels, [0, 1]).all() else RACES
    tree = DecisionTreeClassifier(random_state=seed).fit(features, labels == classes[1])
    return classes[tree.predict(features).astype(int)]


def audits(kind, seed, attacker):
    """Yield (direction, result, accuracy and share predicted) for trees on one sample."""
    compas = sample(kind, seed)
    label, group = compas.target, compas.sensitive_features
    task, race = (predictions(compas.data, labels, seed) for labels in (label, group))
    said = {
        "T->A": {"accuracy": np.mean(race == group), "share": np.mean(race == RACES[1])},
        "A->T": {"accuracy": np.mean(task == label), "share": np.mean(task[group == RACES[0]])},
    }
    for direction in DIRECTIONS:
        auditor = DPAAuditor(direction, attacker=attacker, quality="accuracy", random_state=seed)
        result = auditor.audit(label, task, sensitive_features=group, sensitive_pred=race)
        yield direction, result, said[direction]


def table(n_samples, attacker="exact"):
    """Return one row per data set and direction: mean and spread over samples, an interval."""
    found = {}
    for kind in ("unbalanced", "balanced"):
        for seed in range(n_samples):
            for direction, result, said in audits(kind, seed, attacker):
                row = {"value": result.value, "low": result.low, "high": result.high}
                found.setdefault((kind, direction), []).append(row | said)
    rows = {}
    for at, samples in found.items():
        values = [one["value"] for one in samples]
        rows[at] = samples[0] | {"mean": np.mean(values), "spread": np.std(values, ddof=1)}
    return pd.DataFrame(rows).T.rename_axis(["data", "direction"])


of_published = {
    (metric, kind, direction): value
    for kind in ("unbalanced", "balanced")
    for metric, direction, value in of_counts(kind)
}
for (metric, kind, direction), value in of_published.items():
    print(f"{metric:8}  {kind:10}  {direction}  {value:+.4f}  {PAPER[metric, kind, direction]}")
two_years = load_compas().frame.groupby(["race", "two_year_recid"]).size().unstack()
is_recid = load_compas_counts("unbalanced").labels
for name, counts in {"is_recid": is_recid, "two years": two_years}.items():
    print(f"{name:10}", *counts.loc[RACES].to_numpy().ravel())
dpa = table(24)
print(f"{'data':11} direction  DPA of 24 samples one sample's interval  paper")
for (kind, direction), row in dpa.iterrows():
    print(
        f"{kind:11} {direction:9}  {row['mean']:+.3f} ± {row['spread']:.3f}    "
        f"[{row['low']:+.3f}, {row['high']:+.3f}]       {PAPER['DPA', kind, direction]}"
    )
race, recidivism = (dpa.loc["unbalanced", direction] for direction in DIRECTIONS)
print(f"predict African-American:         {race['share']:.1%}, the paper's {3107 / 5278:.1%}")
print(f"predict recidivism of Caucasians: {recidivism['share']:.1%}, the paper's {938 / 2103:.1%}")
print(f"predict race correctly:           {race['accuracy']:.1%}, the paper's about 69 %")
