"""Tokas, Nair and Kerner 2024: DPA of decision trees on COMPAS, balanced and not.

One decision tree predicts recidivism and another predicts race, from five features. Both are
audited on their training rows. BiasAmp→ and Multi→ follow from the counts of Table 2. On balanced
labels, DPA of the best possible attacker follows too, because the model's accuracy does not matter.
On balanced data, BiasAmp→ is always 0: the labels have no association to amplify. On unbalanced
data, DPA by accuracy, as in the paper, depends on how often a tree predicts each class, and the
trees differ. The default of ``DPAAuditor`` is balanced accuracy: a guess that ignores the group
then always scores 1/2.
"""

from collections import Counter

import numpy as np
import pandas as pd
from relative_amplification import step
from scipy.optimize import brentq, linprog
from sklearn.tree import DecisionTreeClassifier

from published._rows import ARROWS, FOLDER, Row
from skbiasamp import DPAAuditor
from skbiasamp.attackers import MLPAttacker
from skbiasamp.datasets import load_compas, load_compas_counts
from skbiasamp.metrics import directional_amplification, multi_attribute_amplification

DIRECTIONS = ("T->A", "A->T")
PAPER = pd.read_csv(FOLDER / "dpa.csv", index_col=[0, 1, 2])["published"]
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
    """Yield (direction, result, share of one group or label predicted) for trees on one sample."""
    compas = sample(kind, seed)
    label, group = compas.target, compas.sensitive_features
    task, race = (predictions(compas.data, labels, seed) for labels in (label, group))
    shares = {"T->A": np.mean(race == RACES[1]), "A->T": np.mean(task[group == RACES[0]])}
    for direction in DIRECTIONS:
        auditor = DPAAuditor(direction, attacker=attacker, quality="accuracy", random_state=seed)
        result = auditor.audit(label, task, sensitive_features=group, sensitive_pred=race)
        yield direction, result, shares[direction]


def table(n_samples, attacker):
    """Return one row per data set and direction: mean and spread over samples, and the share."""
    rows = [
        (kind, direction, result.value, share)
        for kind in ("unbalanced", "balanced")
        for seed in range(n_samples)
        for direction, result, share in audits(kind, seed, attacker)
    ]
    frame = pd.DataFrame(rows, columns=["data", "direction", "value", "share"])
    samples = frame.groupby(["data", "direction"], sort=False)
    mean, spread = samples["value"].mean(), samples["value"].std()
    return samples[["share"]].first().assign(mean=mean, spread=spread)


def highest_accuracy(features, given, labels, printed):
    """Return the accuracy that no classifier of these features with the printed counts exceeds.

    A classifier, even a random one, is a probability of the second class for each distinct row of
    `features`. Accuracy is linear in these probabilities, and so are the counts of each prediction
    by `given`, so the best of all classifiers is the solution of a linear programme.
    """
    first, second = printed.columns
    cell = pd.factorize(pd.MultiIndex.from_frame(features))[0]
    sign = np.where(labels == second, 1, -1)
    gain = np.bincount(cell, weights=sign)
    predicted = [np.bincount(cell, weights=given == value) for value in printed.index]
    best = linprog(-gain, A_eq=predicted, b_eq=printed[second], bounds=(0, 1))
    if not best.success:
        raise ValueError(best.message)
    return (np.sum(labels == first) - best.fun) / len(labels)


def split_spread(labels, predictions, accuracy, n_splits=100, train_share=0.8):
    """Return DPA of one split into training and judged rows, for many splits.

    Both are tables of counts, groups x classes. A share of the labels is exchanged, so that they
    have this accuracy. The best table is learned on four fifths of the rows, judged on the rest.
    """
    rng = np.random.default_rng(0)

    def quality(counts, accuracy):
        """Judge the most frequent class of each group on other rows, for each split."""
        counts = counts.to_numpy()
        rows = counts.sum(axis=1)
        right = np.zeros(n_splits)
        for (one, other), size in zip(counts, rows, strict=True):
            first = rng.binomial(one, accuracy, n_splits) + rng.binomial(
                other, 1 - accuracy, n_splits
            )
            kept = round(train_share * size)
            learned = rng.hypergeometric(first, size - first, kept)
            judged = first - learned
            right += np.where(2 * learned > kept, judged, size - kept - judged)
        return right / (rows - (train_share * rows).round()).sum()

    data, model = quality(labels, accuracy), quality(predictions, 1)
    return (model - data) / (model + data)


def counted(direction):
    """Return labels and predictions of the published unbalanced counts, seen × told."""
    counts = load_compas_counts("unbalanced")
    if direction == "T->A":
        return counts.labels.T.to_numpy(float), counts.predicted_groups.to_numpy(float)
    return counts.labels.to_numpy(float), counts.predictions.to_numpy(float)


def dpa_at(accuracy, direction):
    """Return DPA of the best attacker on the published counts of a model as accurate as that."""
    labels, predicted = counted(direction)
    perturbed = labels * accuracy + labels[:, ::-1] * (1 - accuracy)
    data, model = (counts.max(axis=1).sum() / counts.sum() for counts in (perturbed, predicted))
    return (model - data) / (model + data)


def accuracy_for(dpa, direction):
    """Return the accuracy at which the published counts have that DPA."""
    return brentq(lambda accuracy: dpa_at(accuracy, direction) - dpa, 0.5, 1)


def rows_of(counts, accuracy):
    """Return rows with the published counts of labels and predictions, and an accuracy."""
    joint = {}
    for group in counts.labels.index:
        labels, predicted = counts.labels.loc[group], counts.predictions.loc[group]
        both = round((labels["yes"] + predicted["yes"] - (1 - accuracy) * labels.sum()) / 2)
        joint[group, "yes", "yes"] = both
        joint[group, "yes", "no"] = labels["yes"] - both
        joint[group, "no", "yes"] = predicted["yes"] - both
        joint[group, "no", "no"] = labels["no"] - predicted["yes"] + both
    frame = pd.DataFrame(list(joint), columns=["group", "label", "predicted"])
    return frame.loc[frame.index.repeat(list(joint.values()))]


def held_out(n_seeds=40):
    """Yield DPA A→T on balanced counts when other rows judge than those that teach."""
    counts = load_compas_counts("balanced")
    compas = [sample("balanced", seed) for seed in range(5)]
    right = [
        np.mean(predictions(data.data, data.target, seed) == data.target)
        for seed, data in enumerate(compas)
    ]
    rows = rows_of(counts, np.mean(right))
    published = PAPER["DPA", "balanced", "A->T"]
    for cv in (2, 5):
        values = [
            DPAAuditor("A->T", quality="accuracy", cv=cv, interval=None, random_state=seed)
            .audit(rows["label"], rows["predicted"], sensitive_features=rows["group"])
            .value
            for seed in range(n_seeds)
        ]
        why = f"mean of {n_seeds} divisions into folds, ± {np.std(values):.3f}"
        what = f"DPA A→T, balanced, from the printed counts, judged on held-out rows, {cv} folds"
        yield Row("Table 3", what, published, np.mean(values), why)
    values = split_spread(counts.labels, counts.predictions, np.mean(right))
    why = f"± {values.std():.3f} over {len(values)} splits, more than the difference"
    what = "DPA A→T, balanced, from the printed counts, one 80/20 split"
    yield Row("Table 3", what, published, values.mean(), why)


def tree_accuracy():
    """Return the accuracy of fully grown trees on race and on recidivism."""
    compas = load_compas(target="is_recid")
    return {
        name: np.mean(predictions(compas.data, labels, 0) == labels)
        for name, labels in (("race", compas.sensitive_features), ("label", compas.target))
    }


def bounds(right):
    """Yield what the printed counts allow: accuracies below a tree's, and DPA at the highest."""
    compas, counts = load_compas(target="is_recid"), load_compas_counts("unbalanced")
    race = compas.sensitive_features.to_numpy()
    label = np.where(compas.target == 1, "yes", "no")
    of_race = highest_accuracy(compas.data, label, race, counts.predicted_groups)
    of_label = highest_accuracy(compas.data, race, label, counts.predictions)
    yield Row(
        "Sec. 6.1",
        "accuracy of a tree on race, unbalanced, in %",
        "69",
        100 * right["race"],
        f"a fully grown tree has {100 * right['race']:.2f} on race and "
        f"{100 * right['label']:.2f} on recidivism; with the "
        f"counts of Table 2a, at most {100 * of_race:.2f} and {100 * of_label:.2f} are possible, "
        "by a linear programme over all classifiers of the five features",
    )
    yield Row(
        "Table 3",
        "DPA A→T, unbalanced, from the printed counts and the highest accuracy that they allow",
        PAPER["DPA", "unbalanced", "A->T"],
        dpa_at(of_label, "A->T"),
        f"with these counts, at most {100 * of_label:.2f} % is possible on recidivism (Sec. 6.1); "
        f"−0.004 needs {100 * accuracy_for(-0.004, 'A->T'):.2f} %",
    )


def counts_of_predictions(kind, seed):
    """Return how many rows trees predict as Caucasian, by label, and as T = 0, by race."""
    compas = sample(kind, seed)
    race = predictions(compas.data, compas.sensitive_features, seed)
    task = predictions(compas.data, compas.target, seed)
    counts = {
        f"Caucasian predicted, T = {label}: rows": race[compas.target == label] == "Caucasian"
        for label in (0, 1)
    } | {
        f"T = 0 predicted, {race}: rows": task[compas.sensitive_features == race] == 0
        for race in RACES
    }
    return {name: rows.sum() for name, rows in counts.items()}


def printed_predictions(kind):
    """Return the printed counts, in the same order."""
    counts = load_compas_counts(kind)
    return [*counts.predicted_groups["Caucasian"], *counts.predictions["no"]]


def unbalanced_predictions(right):
    """Yield the counts of a tree's predictions of all rows (Table 2a)."""
    counts = counts_of_predictions("unbalanced", 0)
    why = (
        f"a fully grown tree, {100 * right['race']:.2f} % accurate on race and "
        f"{100 * right['label']:.2f} % on recidivism; the printed counts allow less (Sec. 6.1)"
    )
    for (name, ours), number in zip(counts.items(), printed_predictions("unbalanced"), strict=True):
        yield Row("Table 2a, models", f"{name}, unbalanced", str(number), ours, why)


def balanced_predictions(n_samples=40):
    """Yield the counts of trees' predictions on balanced samples (Table 2b)."""
    samples = [counts_of_predictions("balanced", seed) for seed in range(n_samples)]
    for name, number in zip(samples[0], printed_predictions("balanced"), strict=True):
        values = np.array([sample[name] for sample in samples])
        why = f"± {values.std(ddof=1):.0f} over {n_samples} samples; theirs is one sample"
        yield Row("Table 2b", name, str(number), values.mean(), why)


def hiring():
    """Yield the example of a data set that DPA calls unbiased and BiasAmp→ does not."""
    counts = np.array([[25, 75], [25, 25]])  # men, women × hired, rejected
    for name, rate, published in zip(
        ("men", "women"), counts[:, 0] / counts.sum(axis=1), ("25", "50"), strict=True
    ):
        yield Row(
            "Sec. 7.2",
            f"hiring, from the printed counts: {name} who are hired, in %",
            published,
            100 * rate,
        )
    for direction, table in (("A→T", counts), ("T→A", counts.T)):
        best, guess = table.max(axis=1).sum(), table.sum(axis=0).max()
        equal = table / table.sum(axis=0) / 2  # all targets weigh the same
        gain = equal.max(axis=1).sum() - 0.5
        yield Row(
            "Sec. 7.2",
            "hiring, from the printed counts: accuracy that the best attacker gains, "
            f"{direction} (in words: unbiased)",
            "0",
            (best - guess) / counts.sum(),
            f"by balanced accuracy, the default here, it gains {gain:.3f}",
        )


def dpa(slow):
    """Yield the rows of Tokas, Nair and Kerner."""
    compas = sample("unbalanced", 0)
    pairs = Counter(zip(compas.sensitive_features, compas.target, strict=True))
    for (race, label), published in {
        ("Caucasian", 0): "1229",
        ("African-American", 0): "1402",
        ("Caucasian", 1): "874",
        ("African-American", 1): "1773",
    }.items():
        yield Row("Table 2a", f"{race}, T = {label}: rows", published, pairs[race, label])
    balanced = sample("balanced", 0)
    pairs = Counter(zip(balanced.sensitive_features, balanced.target, strict=True))
    (size,) = set(pairs.values())
    yield Row("Table 2b", "rows of each race and label", "874", size)
    yield from balanced_predictions()

    # The paper's own procedure stands first.
    attackers = {"their network": MLPAttacker.preset("dpa")} if slow else {}
    attackers["best table"] = "exact"
    for attacker, settings in attackers.items():
        n_samples = 24 if settings == "exact" else 5
        for (kind, direction), row in table(n_samples, settings).iterrows():
            number = PAPER["DPA", kind, direction]
            why, share = "other trees on other samples", f"{100 * row['share']:.0f} %"
            if (kind, direction) == ("unbalanced", "T->A"):
                why = f"our trees predict African-American for {share}, theirs for 59 %"
            elif kind == "unbalanced":
                why = f"our trees predict recidivism for {share} of Caucasians, theirs for 45 %"
            yield Row(
                "Table 3",
                f"DPA {ARROWS[direction]}, {kind}, our trees, {attacker}",
                number,
                row["mean"],
                f"± {row['spread']:.3f} over {n_samples} samples; {why}",
            )
    for kind in ("unbalanced", "balanced"):
        for metric, direction, value in of_counts(kind):
            name = f"{metric} {ARROWS[direction]}, {kind}, from the printed counts"
            number, _, spread = PAPER[metric, kind, direction].partition(" ± ")
            why = ""
            if metric == "DPA" and abs(value - float(number)) > float(spread):
                why = "the best table for these counts; one split of the rows varies more (below)"
            elif metric == "DPA":
                why = "within the printed spread"
            yield Row("Table 3", name, PAPER[metric, kind, direction], value, why)
    yield from held_out()
    yield Row(
        "Table 3",
        "DPA T→A, unbalanced, from the printed counts and 69 % accuracy (Sec. 6.1)",
        PAPER["DPA", "unbalanced", "T->A"],
        dpa_at(0.69, "T->A"),
        f"with these counts 0.063 needs an accuracy of {100 * accuracy_for(0.063, 'T->A'):.1f} %",
    )
    right = tree_accuracy()
    yield from unbalanced_predictions(right)
    yield from bounds(right)

    for data, model, relative in ((0.55, 0.60, "≈ 0.09"), (0.90, 0.95, "≈ 0.06")):
        difference = step(data, model, False)
        name = f"leakage amplification, from the printed {data:.2f} to {model:.2f}"
        yield Row("Sec. 3.2.3", name, "0.05", difference)
        yield Row("Sec. 3.2.3", "the same, relative to its start", relative, difference / data)
    yield from hiring()
    yield Row(
        "Sec. 5.2",
        "images of the unbalanced COCO set, from the printed counts of both genders",
        "15743",
        8885 + 6588,
        "the sum of their 8,885 and 6,588; two digits are swapped",
    )
