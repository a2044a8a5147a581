"""Measure how often intervals of leakage and DPA hold the true value.

    python benchmarks/coverage_predictability.py            # the tables, ten minutes on two cores
    python benchmarks/coverage_predictability.py --short    # seconds: only checks that it runs
    python benchmarks/coverage_predictability.py --write docs/coverage-predictability.md

Data sets are drawn from distributions of attribute, task and their predictions that are written
down. The true value is what the best tables reach on these, from a few lines of NumPy; the
library's closed form on the same probabilities has to agree, or the script ends with an error.
"""

import argparse
from pathlib import Path
from typing import NamedTuple

# First: it limits the threads of NumPy.
from coverage import draws_of, markdown, percent, signed

# isort: split
import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

from skbiasamp import Contingency, DPAAuditor, LeakageAuditor
from skbiasamp._cells import distinct

RESAMPLES = 199
ACCURACIES = (0.6, 0.8, 0.95)
SIZES = (500, 2_000, 5_278)
# P(A, T). COMPAS: Caucasian and African-American people, no recidivism and recidivism.
JOINTS = {
    "balanced": np.full((2, 2), 0.25),
    "COMPAS": np.array([[1229, 874], [1402, 1773]]) / 5278,
}
# How much more often than on average planted errors go to what is frequent, and how much less
# often away from it.
LEAN = 0.5
METRICS = ("A→T", "T→A", "leakage")
LEAST = 0.93
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


def told(table, rows=np.inf):
    """How often a table from so many rows of P(seen, told) tells right; by default, the best one.

    The probability that rows show the wrong majority is that of a normal distribution.
    """
    gap = np.abs(table[:, 0] - table[:, 1])
    spread = np.sqrt((table.sum(axis=1) - gap**2) / rows)
    return (table.max(axis=1) - gap * missed(gap, spread)).sum()


def told_balanced(table, rows=np.inf):
    """The same where each of two classes to tell counts half."""
    n = table.sum(axis=0)
    shares = table / n
    gap = np.abs(shares[:, 0] - shares[:, 1])
    spread = np.sqrt((shares * (1 - shares) / n).sum(axis=1) / rows)
    return (shares.max(axis=1) - gap * missed(gap, spread)).sum() / 2


def missed(gap, spread):
    return ndtr(-np.divide(gap, spread, out=np.full(gap.shape, np.inf), where=spread > 0))


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

    def values(self, rows=np.inf):
        """Return the metrics of the distribution as attackers from so many rows tell them."""
        found = []
        for joint, wrong in (
            (self.joint, self.task_wrong),
            (self.joint.T, self.group_wrong.T),
        ):
            # As many errors as the model's, wherever the row stands.
            data, model = (told(moved(joint, w), rows) for w in ((joint * wrong).sum(), wrong))
            found.append((model - data) / (model + data))
        joint, wrong = self.joint, self.task_wrong

        def f1(wrong):
            right = (joint * (1 - wrong))[:, 1].sum()
            return 2 * right / (joint[:, 1].sum() + moved(joint, wrong)[:, 1].sum())

        model = f1(wrong)
        rate = brentq(lambda rate: f1(np.full((2, 2), rate)) - model, 0, 1, xtol=1e-15)
        data, model = (told_balanced(moved(joint, w).T, rows) for w in (rate, wrong))
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
    """What was found for one metric of one setting and number of rows."""

    data: str
    accuracy: float
    metric: str
    n: int
    true: float
    reached: float
    mean: float
    error: float
    held: float
    width: float

    @property
    def off(self):
        """Standard errors from the mean estimate to the true value."""
        return (self.mean - self.true) / self.error

    @property
    def off_reached(self):
        return (self.mean - self.reached) / self.error


def study(lean, datasets, sizes, *, cv=5):
    found = []
    for data, joint in JOINTS.items():
        for accuracy in ACCURACIES:
            drawn = setting(joint, accuracy, lean)
            p, true = drawn.cells(), drawn.values()
            closed = auditors(attacker="exact", cv=None, interval=None)
            exact = contingency(p)
            library = [auditor.audit(exact).value for auditor in closed]
            if not np.allclose(library, true, rtol=0, atol=1e-9):
                raise SystemExit(f"{data}, {accuracy}: the library's closed form disagrees.")
            for n in sizes:
                name = f"{data} {accuracy} {lean}"
                results = draws_of(name, n, datasets, audits(p, n, cv))
                reached = drawn.values(n * (cv - 1) / cv) if cv else true
                for i, metric in enumerate(METRICS):
                    value, low, high = np.array(results)[:, i].T
                    spread = value.std(ddof=1)
                    found.append(
                        Cell(
                            data,
                            accuracy,
                            metric,
                            n,
                            true[i],
                            reached[i],
                            value.mean(),
                            spread / np.sqrt(datasets),
                            ((low <= true[i]) & (true[i] <= high)).mean(),
                            (high - low).mean() / (3.92 * spread),
                        )
                    )
    return found


def audits(p, n, cv):
    every = auditors(cv=cv, n_resamples=RESAMPLES)

    def work(rng):
        cells = contingency(rng.multinomial(n, p))
        results = [auditor.set_params(random_state=rng).audit(cells) for auditor in every]
        return [(result.value, result.low, result.high) for result in results]

    return work


# --------------------------------------------------------------------------- the page


def bold(text, *, unless):
    return text if unless else f"**{text}**"


def off(value):
    return bold(f"{value:+.1f}", unless=abs(value) <= 2)


def held(cell):
    return bold(percent(cell.held), unless=cell.held >= LEAST)


def first(cell):
    return [cell.data, cell.metric, f"{100 * cell.accuracy:.0f} %", f"{cell.n:,}"]


def chance_table(cells):
    header = ["data", "metric", "accuracy", "n", "mean estimate", "standard errors from 0"]
    header += ["includes 0", "width"]
    return markdown(
        header,
        [[*first(c), signed(c.mean), off(c.off), held(c), f"{c.width:.2f}"] for c in cells],
    )


def planted_table(cells):
    header = ["data", "metric", "accuracy", "n", "true", "reached", "mean estimate"]
    header += ["from true", "from reached", "includes true", "width"]
    rows = [
        [
            *first(c),
            *map(signed, (c.true, c.reached, c.mean)),
            off(c.off),
            off(c.off_reached),
            held(c),
            f"{c.width:.2f}",
        ]
        for c in cells
    ]
    return markdown(header, rows)


class Measured(NamedTuple):
    datasets: int
    chance: list
    planted: list
    closed: list


def measure(datasets, sizes):
    return Measured(
        datasets,
        study(0, datasets, sizes),
        study(LEAN, datasets, sizes),
        study(0, datasets, sizes, cv=None),
    )


def span(cells, name, form="{:.2f}"):
    values = [getattr(cell, name) for cell in cells]
    return f"{form.format(min(values))} to {form.format(max(values))}"


def beyond(cells, name):
    return sum(abs(getattr(cell, name)) > 2 for cell in cells)


def page(found):
    datasets, chance, planted, closed = found
    error = 100 * np.sqrt(0.95 * 0.05 / datasets)
    between = 0.95 * (RESAMPLES - 1) / (RESAMPLES + 1)
    short = sum(cell.held < LEAST for cell in chance + planted)
    worst = max(planted, key=lambda cell: abs(cell.mean - cell.true) / cell.error)
    spread = worst.error * np.sqrt(datasets)
    return f"""# Coverage of confidence intervals of leakage and DPA

Each row summarises {datasets:,} simulated data sets of n rows. They are drawn from a known joint
distribution of a binary sensitive feature A, a binary task T and their predictions. The audits
use the papers' settings, `DPAAuditor(quality="accuracy")` and `LeakageAuditor(equalize="f1")`,
with the exact attacker, `cv=5`, 10 draws and {RESAMPLES} resamples. With a perfect method, the
2.5 and 97.5 % quantiles enclose {100 * between:.1f} % of {RESAMPLES} resamples, and 94.8 % of the
default 999. The Monte-Carlo standard error of a coverage near 95 % is {error:.1f} percentage
points. The three metrics use the same data sets.

DPA has two directions. Group → task (A→T): does the group shift the predicted task? Task → group
(T→A): does the task shift the predicted group?

- **balanced**: every combination of A and T is equally frequent. **COMPAS**: the frequencies of
  race and recidivism in the COMPAS data (1229, 874, 1402, 1773 of 5,278).
- **accuracy** is the accuracy of the predicted T (for T→A: of the predicted A).
- **width** is the mean width of the interval, divided by 3.92 standard deviations of the
  estimate. A normal estimate with a known standard error needs a width of 1.
- Bold: a coverage below {100 * LEAST:.0f} %, or a distance of more than two standard errors.

The true value is computed from the exact probabilities: the best tables, at the flip rate that
gives the model's accuracy (for leakage, its F1).

## Random errors

The errors of the predictions are independent of everything, so every true value is 0.

{chance_table(chance)}

- The intervals included 0 in {span(chance, "held", "{:.1%}").replace("%", " %")} of the data
  sets.
- {beyond(chance, "off")} of {len(chance)} means are more than two standard errors away from 0. By
  chance, {0.0455 * len(chance):.0f} would be.
- The intervals are {span(chance, "width")} times as wide as necessary. Each resample uses *one*
  split into folds and *one* draw of random errors, and the value is the average of ten.

## Simulated amplification

The accuracy is as named. Errors are more frequent towards the class that is most frequent for the
attacker's input ({1 + LEAN:g} times the average error rate) and less frequent away from it
({1 - LEAN:g} times). If both classes are equally frequent, T = 0 is assigned to the first group.
"Reached" is the value that tables reach if they are trained on 4/5 of n rows and sometimes choose
the wrong majority (from the normal distribution). "From true" and "from reached" are the
distances of the mean estimate from these values, in standard errors.

{planted_table(planted)}

- The intervals included the true value in {span(planted, "held", "{:.1%}").replace("%", " %")} of
  the data sets. {"No row" if not short else f"{short} rows"} of the {len(chance + planted)} in
  both tables {"is" if short <= 1 else "are"} below {100 * LEAST:.0f} %.
- {beyond(planted, "off")} of {len(planted)} means are more than two standard errors away from the
  true value, and {beyond(planted, "off_reached")} from the reached value. The bias comes from
  near-ties. If two classes are almost equally frequent, a sample of few rows may have the wrong
  majority. A near-tie in the labels with random errors raises the value (COMPAS at 60 %). A
  near-tie in the predictions lowers it (balanced at 95 %). Compared with the spread of the
  estimate, the bias is largest for {worst.data}, {worst.metric}, {100 * worst.accuracy:.0f} %, n
  = {worst.n:,}: {signed(worst.mean - worst.true)}, or {abs(worst.mean - worst.true) / spread:.2f}
  standard deviations.

## Bias of the closed form (`cv=None`)

This is the first table again with `cv=None`: tables are scored on the rows that they were trained
on, with the expected random errors. All true values are 0.

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
    parser.add_argument("--short", action="store_true", help="ten small data sets: a check")
    parser.add_argument("--datasets", metavar="N", type=int, default=500, help="drawn for a row")
    parser.add_argument("--write", metavar="FILE", type=Path, help="write the page to FILE")
    arguments = parser.parse_args()
    if arguments.short and arguments.write:
        parser.error("--short measures nothing worth writing down.")
    found = measure(10, SIZES[:1]) if arguments.short else measure(arguments.datasets, SIZES)
    text = page(found)
    print(text)
    if arguments.write:
        arguments.write.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
