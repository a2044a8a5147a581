"""The page of the evidence and its tables, from the rows that were measured."""

import math

from parts import markdown

LEVEL = 0.05
LEAST_COVERED = 0.92
WIDEST = 1.25
SHOWN = 5  # rows of a question

PAGE = """# Evidence: false verdicts, coverage and power

How often does an audit find an effect if there is none? How often does a 95 % interval include the
true value? {n_sets:,} data sets in {n_rows} settings were drawn from populations whose
probabilities are known. If nothing changes, {false} % of audits report an effect on average, and
{worst_false} % in the worst setting. Intervals include the true value in {covered} % on average,
and in {worst_covered} % in the worst setting.

![Histograms: in most settings, false verdicts are below 6 % and coverage is above
94 %.](generated/figures/evidence.svg)

- **False verdicts**: the share of data sets whose verdict is an effect although nothing changes. If
  there is an effect, the share with the opposite verdict. It should be 5 % or less.
- **Coverage**: the share of 95 % intervals that include the true value of the estimate. For metrics
  with signs it is the value in the population at the signs that the result uses.

Group → task (A→T) asks if the group shifts the predicted task, task → group (T→A) if the task
shifts the predicted group. The table has means over the settings of a question, and its worst
setting with the standard error (–: not measured). {missed} settings of {n_rows} missed a target
(false verdicts above 5 % by more than two standard errors, coverage below 92 %, an interval more
than 1.25 times as wide as necessary). Chance alone explains a few. Some intervals are wide for a
reason:

- Folds (`cross_audit`) share training rows, so differences have the cautious variance of Nadeau and
  Bengio. Two or three runs hardly show how much runs vary.
- A group in which no row changes may still have changes that the sample lacks.
- A weak association may have either direction.
- The largest of nearly equal numbers (differential fairness) and
  [attackers](predictability.md#attackers) near chance vary less than resamples of them.

{summary}

{agreement}

[Tables](../benchmarks/results/evidence.md) show the settings of each question that are furthest
from their targets, with width and power; {{download}}`one file <evidence-table.csv>` has all of
them.

## What was not tried

- Groups that overlap, several sensitive columns (`groups="marginal"`), missing values, and tables
  of your own in place of `base` and `sign`.
- Labels of real data with a known effect: real rows are audited with groups of other rows, or with
  labels and predictions swapped.
- Fewer than 300 rows (pairs: 200), over 20 groups or 80 tasks, groups of under 20
  rows, and sets of over two tasks.
- Weights that depend on labels or predictions; clusters of very different sizes.
- Confidence levels other than 95 %, and more than two models in one comparison.
- DBAC, trained attackers other than logistic regression, and attackers on logits.
- Many looks at the same model: [watches](../benchmarks/results/watching.md) have their own numbers.

Other simulations: [impact ratios](../benchmarks/results/impact-ratios.md),
[equally accurate random labels](../benchmarks/results/equalisation.md), [adversarial
training](../benchmarks/results/adversarial.md).

`python benchmarks/evidence.py --write docs/evidence.md` makes this page. Its parts were measured
{when}.
"""

TABLES = """# Evidence: the settings

Means over the settings of a question with their standard errors, and in parentheses the worst
setting.

- **Width**: the mean half-width of the interval, relative to 1.96 standard deviations of the
  difference between estimate and true value. An interval of width 1 is as wide as necessary.
- **Power**: the share of data sets with the right verdict, which is in parentheses.

{summary}

Each table below shows the {shown} settings of a question that are furthest from their targets, or
all if there are no more. Numbers are followed by their standard errors, and bold if they missed
their target. "5 × 20" means 5 groups and 20 tasks. Group → task (A→T) asks whether the group shifts
the predicted task, task → group (T→A) whether the task shifts the predicted group.

- **Groups**: "random groups" do not depend on labels and predictions. "± 5 pp" means that rates of
  tasks differ between groups by 5 percentage points in each direction, and "half of the tasks" that
  the other half does not depend on the group.
- **Signs** come from the audited rows, unless a number of training rows is named.
- **Models without an effect**: "exchangeable" labels and predictions are equally noisy copies of
  one hidden label. "40 % errors" replaces 40 % of labels by random ones, at the rate of the row's
  group. "Over-predicts" and "under-predicts" change the rates of all groups by the same amount.
  "Scores" are calibrated probabilities.
- **Models with an effect**: "differences doubled" moves each rate away from the mean of all rows,
  "halved" towards it, "reversed" to its other side. Scores that are cut at 0.5 amplify if rates
  differ between groups.
- **Several runs** predict the same in 90 % of rows, unless they have independent errors.
- **Intervals** are analytic (delta method) unless "bootstrap" is named. Related measures, attackers
  and pairs at once have no analytic ones. The bootstrap has 199 resamples (pairs at once: 499,
  folds: 99).

{tables}
"""

NOTES = {
    "Leakage and DPA: labels and predictions with the same joint distribution": (
        "Here labels and predictions are equally associated with the group, and co-occurrence "
        'metrics have "no clear effect". Leakage and DPA ask another question: do predictions '
        "reveal more than equally accurate *random* labels? Errors are not random here, so they "
        "do."
    ),
    "Rows that are required for a power of 80 % (`required_rows`)": (
        "Power should be 80 %. The rows are computed for a given effect, and audited."
    ),
    "Group → task (A→T): the model changes associations": (
        "If a weak association is reversed, its direction may stay open. The interval then "
        "includes both directions, and is wide."
    ),
    "Several runs of one model (`audit_runs`)": (
        "Two or three runs hardly say how much runs vary: if they share no errors, an interval "
        "that covers 95 % must be 6.5 or 2.2 times as long as with known variance (Student's t)."
    ),
}


def share(row, name, of):
    """Return a share of data sets and its standard error, NaN without any."""
    if row[name] in ("", None) or not int(row[of]):
        return math.nan, math.nan
    n = int(row[of])
    p = int(row[name]) / n
    # If no data set is a miss, or all are, the error is that of half a data set.
    near = min(max(p, 0.5 / n), 1 - 0.5 / n)
    return p, (near * (1 - near) / n) ** 0.5


class Shares:
    """The numbers of a row, and which of them miss their targets."""

    def __init__(self, row):
        self.row, n = row, int(row["data_sets"])
        self.false, self.covered = (
            share(row, "false", "data_sets"),
            share(row, "covered", "measured"),
        )
        self.found = share(row, "found", "data_sets")
        self.width = float(row["width"]), float(row["width_error"])
        self.too_often = self.false[0] > LEVEL + 2 * (LEVEL * (1 - LEVEL) / n) ** 0.5
        self.too_seldom = self.covered[0] < LEAST_COVERED
        self.too_wide = self.width[0] > WIDEST

    @property
    def missed(self):
        return self.too_often or self.too_seldom or self.too_wide

    @property
    def distance(self):
        """How far the row is from its targets, to sort rows by."""
        covered, width = self.covered[0], self.width[0]
        return (
            self.missed,
            self.false[0] - LEVEL,
            0 if math.isnan(covered) else 1 - LEVEL - covered,
            0 if math.isnan(width) else width,
        )

    def line(self):
        right = f" ({self.row['right']})" if self.row["right"] else ""
        return (
            self.row["setting"],
            number(*self.false, self.too_often),
            number(*self.covered, self.too_seldom),
            number(*self.width, self.too_wide, unit=1, digits=2),
            number(*self.found) + right,
            f"{int(self.row['data_sets']):,}",
        )


def number(value, error, bad=False, unit=100, digits=1):
    """Return a number with its standard error, bold if it missed its target."""
    if math.isnan(value):
        return "–"
    text = f"{unit * value:.{digits}f} ± {unit * error:.{digits}f}"
    return f"**{text}**" if bad else text


def question_table(question, rows):
    """Return the table of a question: the rows that are furthest from their targets."""
    worst = sorted(rows, key=lambda row: row.distance, reverse=True)[:SHOWN]
    header = ("setting", "false verdicts, %", "coverage, %", "width", "power, %", "data sets")
    lines = [row.line() for row in rows if row in worst]
    note = f"{NOTES[question]}\n\n" if question in NOTES else ""
    rest = len(rows) - len(worst)
    more = f"\n\n{rest} more in the file." if rest else ""
    return f"### {question}\n\n{note}{markdown(header, lines)}{more}"


def over(numbers, worst, unit=100, digits=1):
    """Return the mean of numbers with its standard error, and the worst of them."""
    known = [(value, error) for value, error in numbers if not math.isnan(value)]
    if not known:
        return "–"
    mean = sum(value for value, _ in known) / len(known)
    error = sum(error**2 for _, error in known) ** 0.5 / len(known)
    least = worst(value for value, _ in known)
    return f"{number(mean, error, unit=unit, digits=digits)} ({unit * least:.{digits}f})"


def summary_line(question, rows):
    """Return the row of a question in the summary."""
    return (
        question,
        str(len(rows)),
        over([row.false for row in rows], max),
        over([row.covered for row in rows], min),
        over([row.width for row in rows], max, unit=1, digits=2),
        over([row.found for row in rows], min),
    )


def agreement_of(rows):
    """Return how often p < 0.05 agrees with the interval."""
    tested = [row.row for row in rows if int(row.row["tested"])]
    if not tested:
        return ""
    n, same = (sum(int(row[name]) for row in tested) for name in ("tested", "agreed"))
    worst = min(tested, key=lambda row: int(row["agreed"]) / int(row["tested"]))
    least = 100 * int(worst["agreed"]) / int(worst["tested"])
    return (
        f"A p-value below 0.05 and an interval that excludes 0 agree in {100 * same / n:.1f} % of "
        f"{n:,} data sets that have a p-value, and in {least:.1f} % in the worst setting."
    )


def worst_of(rows, name, worst):
    """Return the row with the worst share, and that share with its standard error, in %."""
    known = [row for row in rows if not math.isnan(getattr(row, name)[0])]
    if not known:
        return None, "–"
    row = worst(known, key=lambda row: getattr(row, name)[0])
    return row, number(*getattr(row, name))


def mean_of(rows, name):
    known = [share for share, _ in (getattr(row, name) for row in rows) if not math.isnan(share)]
    return f"{100 * sum(known) / len(known):.1f}" if known else "–"


def short_line(question, rows):
    """Return the row of a question on the page."""
    cells = [question, str(len(rows))]
    for name, worst in (("false", max), ("covered", min)):
        cells += [mean_of(rows, name), worst_of(rows, name, worst)[1]]
    return cells


def by_question(rows):
    shares = [Shares(row) for row in rows]
    questions = list(dict.fromkeys(row["question"] for row in rows))
    return {q: [row for row in shares if row.row["question"] == q] for q in questions}


def page_of(rows):
    """Return the page, as text."""
    shares = [Shares(row) for row in rows]
    nothing_changes = [row for row in shares if not row.row["right"]]
    dates = [row["date"] for row in rows]
    header = ("question", "settings", "false verdicts, %", "worst", "coverage, %", "worst")
    return PAGE.format(
        n_sets=sum(int(row["data_sets"]) for row in rows),
        n_rows=len(rows),
        missed=sum(row.missed for row in shares),
        false=mean_of(nothing_changes, "false"),
        worst_false=worst_of(nothing_changes, "false", max)[1],
        covered=mean_of(shares, "covered"),
        worst_covered=worst_of(shares, "covered", min)[1],
        summary=markdown(header, [short_line(q, own) for q, own in by_question(rows).items()]),
        agreement=agreement_of(shares),
        when=f"on {min(dates)}"
        if min(dates) == max(dates)
        else f"between {min(dates)} and {max(dates)}",
    )


def tables_of(rows):
    """Return the tables of all questions, as text."""
    header = ("question", "settings", "false verdicts, %", "coverage, %", "width", "power, %")
    questions = by_question(rows)
    return TABLES.format(
        summary=markdown(header, [summary_line(q, own) for q, own in questions.items()]),
        shown=SHOWN,
        tables="\n\n".join(question_table(q, own) for q, own in questions.items()),
    )
