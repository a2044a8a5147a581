"""Measure how often intervals of leakage and DPA hold the true value.

    python benchmarks/coverage_predictability.py            # the tables, ten minutes on two cores
    python benchmarks/coverage_predictability.py --short    # seconds: only checks that it runs
    python benchmarks/coverage_predictability.py --write docs/coverage-predictability.md
    python benchmarks/coverage_predictability.py --trained --write docs/coverage-predictability.md
                                                        # trained attackers again, 5 minutes

Data sets are drawn from distributions of attribute, task and their predictions that are written
down. The true value is what the best tables reach on these, from a few lines of NumPy; the
library's closed form on the same probabilities has to agree, or the script ends with an error.
"""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

# First: it limits the threads of NumPy.
from coverage import draws_of, markdown, percent, signed

# isort: split
import numpy as np
from scipy.optimize import brentq
from sklearn.linear_model import LogisticRegression

from skbiasamp import Contingency, DPAAuditor, LeakageAuditor
from skbiasamp._cells import distinct
from skbiasamp.attackers._run import ENOUGH_DRAWS

RESAMPLES = 199
ACCURACIES = (0.6, 0.8, 0.95)
SIZES = (500, 5_000)
# P(A, T). COMPAS: Caucasian and African-American people, no recidivism and recidivism. Adult: women
# and men, at most 50,000 dollars and more. Independent: a coin as the group.
JOINTS = {
    "balanced": np.full((2, 2), 0.25),
    "COMPAS": np.array([[1229, 874], [1402, 1773]]) / 5278,
    "Adult": np.array([[9592, 1179], [15128, 6662]]) / 32561,
    "independent": np.array([[0.4, 0.1], [0.4, 0.1]]),
}
# How much more often than on average planted errors go to what is frequent, and how much less
# often away from it.
LEAN = 0.5
METRICS = ("A→T", "T→A", "leakage")
LEAST, MOST, WIDEST = 0.93, 0.97, 1.25
# Data sets of a row with trained attackers, at most.
MOST_TRAINED = 40
# All cells of (A, T, T̂, Â).
GROUP, TASK, TASK_PRED, GROUP_PRED = (side.ravel() for side in np.indices((2, 2, 2, 2)))

# --------------------------------------------------------------------------- distributions


def errors(joint, rate, lean):
    """P(error | s, y) of a prediction of y beside s, from P(s, y): `rate` overall.

    They lean towards the y that is most frequent beside s, in a tie towards y = s.
    """
    towards = np.where(joint[:, 0] == joint[:, 1], [0, 1], joint.argmax(axis=1))
    leaning = np.where(np.arange(2) == towards[:, None], 1 - lean, 1 + lean)
    return rate * leaning / (joint * leaning).sum()


def moved(joint, wrong):
    """P(s, ŷ) after these errors in y."""
    return joint * (1 - wrong) + (joint * wrong)[:, ::-1]


def told(table):
    """How often the best table of P(seen, told) tells right."""
    return table.max(axis=1).sum()


def told_balanced(table):
    """The same where each of two classes to tell counts half."""
    return (table / table.sum(axis=0)).max(axis=1).sum() / 2


class Setting(NamedTuple):
    joint: np.ndarray
    task_wrong: np.ndarray  # P(T̂ ≠ T | A, T)
    group_wrong: np.ndarray  # P(Â ≠ A | A, T)

    def cells(self):
        """P(A, T, T̂, Â)."""
        p = self.joint[GROUP, TASK]
        for wrong, side, pred in (
            (self.task_wrong, TASK, TASK_PRED),
            (self.group_wrong, GROUP, GROUP_PRED),
        ):
            p = p * np.where(pred == side, 1 - wrong[GROUP, TASK], wrong[GROUP, TASK])
        return p

    def values(self):
        """Return the metrics of the distribution, as the best tables tell them."""
        found = []
        for joint, wrong in (
            (self.joint, self.task_wrong),
            (self.joint.T, self.group_wrong.T),
        ):
            # As many errors as the model's, wherever the row stands.
            data, model = (told(moved(joint, w)) for w in ((joint * wrong).sum(), wrong))
            found.append((model - data) / (model + data))
        joint, wrong = self.joint, self.task_wrong

        def f1(wrong):
            right = (joint * (1 - wrong))[:, 1].sum()
            return 2 * right / (joint[:, 1].sum() + moved(joint, wrong)[:, 1].sum())

        model = f1(wrong)
        rate = brentq(lambda rate: f1(np.full((2, 2), rate)) - model, 0, 1, xtol=1e-15)
        data, model = (told_balanced(moved(joint, w).T) for w in (rate, wrong))
        return np.array([*found, model - data])


def setting(joint, accuracy, lean):
    rate = 1 - accuracy
    return Setting(joint, errors(joint, rate, lean), errors(joint.T, rate, lean).T)


def contingency(weight):
    held = np.flatnonzero(weight)
    cells = Contingency.from_labels(
        TASK[held],
        TASK_PRED[held],
        sensitive_features=GROUP[held],
        sensitive_pred=GROUP_PRED[held],
        sample_weight=weight[held],
    )
    return distinct(cells)


# --------------------------------------------------------------------------- measuring


def auditors(**options):
    """Return auditors with the papers' qualities, of which the true values are known."""
    dpa = [DPAAuditor(direction, quality="accuracy", **options) for direction in ("A->T", "T->A")]
    return [*dpa, LeakageAuditor(equalize="f1", **options)]


class Cell(NamedTuple):
    """What was found for one metric of one setting and number of rows.

    `held` and `reached_held` are the shares of intervals that include the true value, and the mean
    estimate: the value that attackers reach who learn from so many rows.
    """

    data: str
    accuracy: float
    metric: str
    n: int
    true: float
    mean: float
    error: float
    held: float
    reached_held: float
    width: float

    @property
    def off(self):
        """Standard errors from the mean estimate to the true value."""
        return (self.mean - self.true) / self.error


def cell_of(data, accuracy, metric, n, true, results):
    """Return what the results of all data sets, (value, low, high), say together."""
    value, low, high = np.array(results).T
    spread, mean = value.std(ddof=1), value.mean()
    return Cell(
        data,
        accuracy,
        metric,
        n,
        true,
        mean,
        spread / np.sqrt(len(value)),
        ((low <= true) & (true <= high)).mean(),
        ((low <= mean) & (mean <= high)).mean(),
        np.median(high - low) / (3.92 * spread),
    )


def study(lean, datasets, sizes, *, cv=5, joints=JOINTS):
    found = []
    for data, joint in joints.items():
        for accuracy in ACCURACIES:
            if accuracy < joint.sum(axis=0).max():
                continue  # naming the frequent label is better: random labels may be too
            drawn = setting(joint, accuracy, lean)
            p, true = drawn.cells(), drawn.values()
            closed = auditors(attacker="exact", cv=None, interval=None)
            exact = contingency(p)
            library = [auditor.audit(exact).value for auditor in closed]
            if not np.allclose(library, true, rtol=0, atol=1e-9):
                raise SystemExit(f"{data}, {accuracy}: the library's closed form disagrees.")
            for n in sizes:
                name = f"{data} {accuracy} {lean}"
                results = np.array(draws_of(name, n, datasets, audits(p, n, cv)))
                for i, metric in enumerate(METRICS):
                    found.append(cell_of(data, accuracy, metric, n, true[i], results[:, i]))
    return found


def audits(p, n, cv):
    every = auditors(cv=cv, n_resamples=RESAMPLES)

    def work(rng):
        cells = contingency(rng.multinomial(n, p))
        results = [auditor.set_params(random_state=rng).audit(cells) for auditor in every]
        return [(result.value, result.low, result.high) for result in results]

    return work


# --------------------------------------------------------------------------- trained attackers


def one_label(rng, group, amplified):
    """Return a label and its prediction, with more false positives in group 1 if amplified."""
    task = (rng.random(len(group)) < 0.3 + 0.2 * group).astype(int)
    wrong = 0.15 + 0.1 * amplified * group * (task == 0)
    return task, task ^ (rng.random(len(group)) < wrong)


def random_group(rng, group, amplified):
    """Return a label and its prediction, which do not depend on the group."""
    task = (rng.random(len(group)) < 0.4).astype(int)
    return task, task ^ (rng.random(len(group)) < 0.15)


def many_labels(rng, group, amplified):
    """Return 15 labels and predictions: more labels than random errors can be counted for."""
    leaning = np.linspace(-1, 1, 15)
    task = (rng.random((len(group), 15)) < 0.2 + 0.1 * group[:, None] * leaning).astype(int)
    wrong = 0.1 + 0.08 * amplified * group[:, None] * (task == 0) * np.abs(leaning)
    return task, task ^ (rng.random(task.shape) < wrong)


def logits(rng, group, amplified):
    """Return three labels and a logit for each."""
    shares = 0.3 + 0.15 * group[:, None] * np.array([1, 0, -1])
    task = (rng.random((len(group), 3)) < shares).astype(int)
    scores = 3 * task - 1.5 + 1.5 * rng.normal(size=task.shape)
    scores[:, 0] += 0.8 * amplified * group
    return task, scores


class Trained(NamedTuple):
    """Data, auditors, draws of folds, and numbers of rows; training takes longer than counting."""

    make: Callable
    metrics: dict
    n_draws: int
    sizes: tuple


TRAINED = {
    "one label": Trained(one_label, {"A→T": DPAAuditor, "leakage": LeakageAuditor}, 10, SIZES),
    "random group": Trained(
        random_group, {"A→T": DPAAuditor, "leakage": LeakageAuditor}, 10, SIZES
    ),
    "15 labels": Trained(many_labels, {"leakage": LeakageAuditor}, 10, SIZES[:1]),
    "15 labels, 2 draws": Trained(many_labels, {"leakage": LeakageAuditor}, 2, SIZES),
    "3 logits": Trained(logits, {"leakage": LeakageAuditor}, 10, SIZES[:1]),
}


def study_trained(datasets, most, kinds=TRAINED):
    """Return cells of logistic regressions, whose true values are taken to be the mean estimates.

    Data sets without an effect have random errors; `accuracy` holds whether there is one.
    """
    found = []
    for data, (make, metrics, n_draws, sizes) in kinds.items():
        for amplified in (False, True)[: 1 + (make is not random_group)]:
            for n in [size for size in sizes if size <= most]:

                def work(rng, make=make, metrics=metrics, n_draws=n_draws, n=n, more=amplified):
                    group = (rng.random(n) < 0.4).astype(int)
                    task, predicted = make(rng, group, more)
                    options = {"attacker": LogisticRegression(), "n_draws": n_draws}
                    every = [
                        auditor(**options, n_resamples=RESAMPLES, random_state=rng).audit(
                            task, predicted, sensitive_features=group
                        )
                        for auditor in metrics.values()
                    ]
                    return [(one.value, one.low, one.high) for one in every]

                results = np.array(draws_of(f"{data} {amplified}", n, datasets, work))
                for i, metric in enumerate(metrics):
                    own = results[:, i]
                    found.append(cell_of(data, amplified, metric, n, own[:, 0].mean(), own))
    return found


# --------------------------------------------------------------------------- the page


def bold(text, *, unless):
    return text if unless else f"**{text}**"


def off(value):
    return bold(f"{value:+.1f}", unless=abs(value) <= 2)


def held(share):
    return bold(percent(share), unless=LEAST <= share <= MOST)


def width(cell):
    return bold(f"{cell.width:.2f}", unless=cell.width <= WIDEST)


def first(cell):
    return [cell.data, cell.metric, f"{100 * cell.accuracy:.0f} %", f"{cell.n:,}"]


def chance_table(cells):
    header = ["data", "metric", "accuracy", "n", "mean estimate", "standard errors from 0"]
    header += ["includes 0", "width"]
    return markdown(
        header, [[*first(c), signed(c.mean), off(c.off), held(c.held), width(c)] for c in cells]
    )


def planted_table(cells):
    header = ["data", "metric", "accuracy", "n", "true", "mean estimate", "from true"]
    header += ["includes true", "includes mean", "width"]
    rows = [
        [
            *first(c),
            *map(signed, (c.true, c.mean)),
            off(c.off),
            held(c.held),
            held(c.reached_held),
            width(c),
        ]
        for c in cells
    ]
    return markdown(header, rows)


def trained_table(cells):
    header = ["data", "metric", "model", "n", "mean estimate", "includes mean", "width"]
    rows = [
        [
            c.data,
            c.metric,
            "amplifies" if c.accuracy else "random errors",
            f"{c.n:,}",
            signed(c.mean),
            held(c.reached_held),
            width(c),
        ]
        for c in cells
    ]
    return markdown(header, rows)


class Measured(NamedTuple):
    datasets: int
    trained_datasets: int
    chance: list
    planted: list
    trained: list
    closed: list


def measure(datasets, sizes):
    first_kind = dict([next(iter(TRAINED.items()))])
    short = len(sizes) < len(SIZES)
    two = {name: JOINTS[name] for name in ("balanced", "COMPAS")}
    fewer = min(datasets, MOST_TRAINED)
    return Measured(
        datasets,
        fewer,
        study(0, datasets, sizes, joints=two if short else JOINTS),
        study(LEAN, datasets, sizes, joints=two if short else JOINTS),
        study_trained(fewer, max(sizes), first_kind if short else TRAINED),
        study(0, datasets, sizes, cv=None, joints=two),
    )


def span(cells, name, form="{:.2f}"):
    values = [getattr(cell, name) for cell in cells]
    return f"{form.format(min(values))} to {form.format(max(values))}"


def shares(cells, name):
    """Return the mean of shares, their ends, and how many are low and high, in words."""
    values = np.array([getattr(cell, name) for cell in cells])
    low, high = ((values < LEAST).sum(), (values > MOST).sum())
    return (
        f"{percent(values.mean())} % on average, {percent(values.min())} to "
        f"{percent(values.max())} %; {low} of {len(values)} rows are below {100 * LEAST:.0f} % and "
        f"{high} above {100 * MOST:.0f} %"
    )


def widths(cells):
    values = np.array([cell.width for cell in cells])
    return (
        f"{values.min():.2f} to {values.max():.2f} times as wide as necessary, "
        f"{np.median(values):.2f} in the median of {len(values)} rows, and more than {WIDEST:g} "
        f"times in {(values > WIDEST).sum()}"
    )


def beyond(cells, name):
    return sum(abs(getattr(cell, name)) > 2 for cell in cells)


def trained_section(trained, datasets):
    return f"""## Trained attackers

Logistic regressions in place of tables, from {datasets:,} data sets a row. Resamples score
the trained attackers on other rows, and do not train them again. How much training varies is
known from folds: the variance is at least the corrected variance of repeated cross-validation,
except for 15 labels, whose random errors are drawn row by row. The values are those of DPA with
balanced accuracy and of leakage with accuracy, the defaults. The mean estimate takes the place of
the true value, which has no formula. "Random group": the group does not depend on labels or
predictions, so that attackers learn nothing that lasts.

{trained_table(trained)}

- Coverage: {shares(trained, "reached_held")}.
- The intervals are {widths(trained)}.
- With two draws, as in a report on many labels, how much draws vary is known from one difference.
  The quantile of t has then few degrees of freedom, and the interval is wide if draws vary much."""


def page(found):
    datasets, fewer, chance, planted, trained, closed = found
    error, error_trained = (100 * np.sqrt(0.95 * 0.05 / n) for n in (datasets, fewer))
    worst = max(planted, key=lambda cell: abs(cell.mean - cell.true) / cell.error)
    spread = worst.error * np.sqrt(datasets)
    return f"""# Coverage of confidence intervals of leakage and DPA

Each row summarises {datasets:,} simulated data sets of n rows. They are drawn from a known joint
distribution of a binary sensitive feature A, a binary task T and their predictions. The audits
use the papers' settings, `DPAAuditor(quality="accuracy")` and `LeakageAuditor(equalize="f1")`,
with the exact attacker, `cv=5`, 10 draws and {RESAMPLES} resamples. The Monte-Carlo standard error
of a coverage near 95 % is {error:.1f} percentage points, and that of the tables of trained
attackers {error_trained:.1f}. The three metrics use the same data sets.

DPA has two directions. Group → task (A→T): does the group shift the predicted task? Task → group
(T→A): does the task shift the predicted group?

- **balanced**: every combination of A and T is equally frequent. **COMPAS**: the frequencies of
  race and recidivism in the COMPAS data (1229, 874, 1402, 1773 of 5,278). **Adult**: sex and income
  in the Adult data (9592, 1179, 15128, 6662 of 32,561). **independent**: the group is random, and
  one row in five has the label.
- **accuracy** is the accuracy of the predicted T (for T→A: of the predicted A). Models that are
  less accurate than naming the frequent label are left out.
- **width** is the median width of the interval, divided by 3.92 standard deviations of the
  estimate over data sets. A normal estimate with a known standard error needs a width of 1.
- Bold: a coverage below {100 * LEAST:.0f} % or above {100 * MOST:.0f} %, a width above {WIDEST:g},
  or a distance of more than two standard errors.

The true value is computed from the exact probabilities: the best tables, at the flip rate that
gives the model's accuracy (for leakage, its F1).

How an interval is made: the value ± a quantile of t × a standard error. The variance has two parts.
Resamples of the rows, with new folds, new tables and the expected random errors, tell how much rows
vary. {ENOUGH_DRAWS} draws of folds and random errors tell how much these vary; the value is a mean
of ten, so their variance is divided by ten. Audits and comparisons of models have the same
interval. It was chosen on simulations like these, with other random numbers.

## Random errors

The errors of the predictions are independent of everything, so every true value is 0.

{chance_table(chance)}

- Coverage: {shares(chance, "held")}. It is above {100 * MOST:.0f} % mostly if classes are exactly
  tied (balanced data): attackers then guess, and their quality varies less than in resamples, which
  are never exactly tied.
- {beyond(chance, "off")} of {len(chance)} means are more than two standard errors away from 0. By
  chance, {0.0455 * len(chance):.0f} would be.
- The intervals are {widths(chance)}.

## Simulated amplification

The accuracy is as named. Errors are more frequent towards the class that is most frequent for the
attacker's input ({1 + LEAN:g} times the average error rate) and less frequent away from it
({1 - LEAN:g} times). If both classes are equally frequent, T = 0 is assigned to the first group.
"From true" is the distance of the mean estimate from the true value, in standard errors. "Includes
mean" counts intervals that include the mean estimate: what attackers reach who learn from 4/5 of n
rows.

{planted_table(planted)}

- Coverage of the mean estimate: {shares(planted, "reached_held")}.
- Coverage of the true value: {shares(planted, "held")}.
- The intervals are {widths(planted)}.
- {beyond(planted, "off")} of {len(planted)} means are more than two standard errors away from the
  true value. The bias comes from near-ties. If two classes are almost equally frequent, a sample of
  few rows may have the wrong majority. A near-tie in the labels with random errors raises the value
  (COMPAS at 60 %). A near-tie in the predictions lowers it (balanced at 95 %). An interval is about
  what attackers reach with these rows, not about the best attacker of the population. Compared with
  the spread of the estimate, the bias is largest for {worst.data}, {worst.metric},
  {100 * worst.accuracy:.0f} %, n = {worst.n:,}: {signed(worst.mean - worst.true)}, or
  {abs(worst.mean - worst.true) / spread:.2f} standard deviations.

{trained_section(trained, fewer)}

## Bias of the closed form (`cv=None`)

These are rows of the first table again with `cv=None`: tables are scored on the rows that they were
trained on, with the expected random errors. All true values are 0.

{chance_table(closed)}

A table fits its own training rows too well, most of all if the classes are nearly tied. The
expected labels contain less noise than predictions, so the table fits them less. The difference
looks like an amplification and is not real. {beyond(closed, "off")} of {len(closed)} means are
more than two standard errors away from 0. The intervals included 0 in only
{percent(min(cell.held for cell in closed))} % of the data sets in the worst row.

`python benchmarks/coverage_predictability.py --write docs/coverage-predictability.md` makes this
page.
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--short", action="store_true", help="four small data sets: a check")
    parser.add_argument("--datasets", metavar="N", type=int, default=200, help="drawn for a row")
    parser.add_argument("--trained", action="store_true", help="this section of the page alone")
    parser.add_argument("--write", metavar="FILE", type=Path, help="write the page to FILE")
    arguments = parser.parse_args()
    if arguments.short and arguments.write:
        parser.error("--short measures nothing worth writing down.")
    if arguments.trained:
        fewer = min(arguments.datasets, MOST_TRAINED)
        text = trained_section(study_trained(fewer, max(SIZES)), fewer)
        print(text)
        if arguments.write:
            before = arguments.write.read_text(encoding="utf-8")
            start, end = (before.index(f"## {name}") for name in ("Trained attackers", "Bias of"))
            text = before[:start] + text + "\n\n" + before[end:]
            arguments.write.write_text(text, encoding="utf-8")
        return
    found = measure(4, SIZES[:1]) if arguments.short else measure(arguments.datasets, SIZES)
    text = page(found)
    print(text)
    if arguments.write:
        arguments.write.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
