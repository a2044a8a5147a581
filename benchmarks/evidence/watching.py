"""Measure false positives and detection delays of a watch, beside a naive rule.

It takes five minutes on one core, and a few seconds with --short. The naive rule raises an alarm if
the 95 % interval of a period excludes the reference's value.
"""

from typing import NamedTuple

from common import command, markdown

# isort: split
import numpy as np
import pandas as pd

from skbiasamp import Contingency, DirectionalAuditor
from skbiasamp.counts.cells import with_weight
from skbiasamp.counts.merging import ordered
from skbiasamp.monitoring._watch import _HALF as HALF
from skbiasamp.monitoring._watch import adjusted, against_all_before, evidence, normal_scores

ALPHA = 0.05
N_DRAWS = 199
SIZES = (50, 200, 1_000)
DAYS, REFERENCE, CLEAN, AFTER = 365, 30, 60, 60
# Shares of the groups, how often each has the label, and how often its label is predicted wrongly.
SETTINGS = {
    "two groups, as in COMPAS": ((0.4, 0.6), (0.39, 0.52), (0.34, 0.36)),
    "two groups, as in Adult": ((0.33, 0.67), (0.11, 0.31), (0.08, 0.18)),
    "a rare group": ((0.05, 0.95), (0.10, 0.20), (0.10, 0.12)),
    "a rare label": ((0.5, 0.5), (0.02, 0.04), (0.02, 0.03)),
    "four groups": ((0.5, 0.3, 0.15, 0.05), (0.3, 0.2, 0.4, 0.1), (0.15, 0.15, 0.2, 0.1)),
}
# What breaks an assumption of the rule, or changes and is no change of the model.
DRIFTS = {
    "labels drift": "twice as many labels at the end, the same errors given the label",
    "group shares drift": "the first group grows to twice its share",
}
UNCHANGED = ("two groups, as in COMPAS", "a rare group", "a rare label", "four groups")
CHANGED = ("two groups, as in COMPAS", "a rare group", "a rare label")
CHANGES = ("sudden", "slow", "one group only")


def rates(setting):
    """Return P(group, label, prediction) as an array of groups × 2 × 2."""
    share, base, wrong = (np.array(numbers) for numbers in SETTINGS[setting])
    label = np.stack([1 - base, base], axis=1)
    # As many false positives as false negatives, in expectation.
    given = np.empty((len(share), 2, 2))
    given[:, 0, 1] = wrong / 2 / (1 - base)
    given[:, 1, 0] = wrong / 2 / base
    given[:, 0, 0], given[:, 1, 1] = 1 - given[:, 0, 1], 1 - given[:, 1, 0]
    return share[:, None, None] * label[:, :, None] * given


def shifted(p, shift):
    """Return the rates after P(prediction = 1 | group) has changed by `shift` in each group."""
    p = p.copy()
    for group, by in enumerate(shift):
        source, target = (0, 1) if by > 0 else (1, 0)
        total = p[group, :, source].sum()
        moved = p[group, :, source] * min(abs(by) * p[group].sum() / total, 0.95)
        p[group, :, source] -= moved
        p[group, :, target] += moved
    return p


def all_cells(p):
    """Return one row of every group, label and prediction, to be given counts."""
    group, task, predicted = np.indices(p.shape).reshape(3, -1)
    columns = {"group": group, "task": task, "task_pred": predicted, "n": 1}
    return ordered(Contingency.from_counts(pd.DataFrame(columns)))


def interval(counts, sign):
    """Return the value of directional amplification and its standard error, by hand."""
    n = counts.sum(axis=(-2, -1))
    with np.errstate(invalid="ignore", divide="ignore"):
        given = counts / n[..., None, None]
        change = given[..., 0, 1] - given[..., 1, 0]
        variance = (given[..., 0, 1] + given[..., 1, 0] - change**2) / n
    known = np.isfinite(change).sum(axis=-1)
    value = np.nansum(sign * change, axis=-1) / known
    return value, np.sqrt(np.nansum(sign**2 * variance, axis=-1)) / known


def error_of(p, n):
    """Return signs, and the standard errors of the value and of each group's change."""
    share = p.sum(axis=(1, 2))
    given = p / share[:, None, None]
    sign = np.sign(given[:, 1].sum(axis=1) - p[:, 1].sum())
    moved = given[:, 0, 1] + given[:, 1, 0] - (given[:, 0, 1] - given[:, 1, 0]) ** 2
    of_groups = np.sqrt(moved / (n * share))
    return sign, np.sqrt((of_groups**2).sum()) / len(share), of_groups


def watches(setting, n, days, plan, seeds):
    """Return, for each watch, the first alarm of the rule and of the naive one.

    All watches take each day at once: that is many times faster than `against_all_before`, which
    `check` compares it with.
    """
    rng = np.random.default_rng(seeds)
    p = rates(setting)

    def drawn(p, n):
        return rng.multinomial(n, p.ravel() / p.sum(), size=len(seeds)).reshape(-1, *p.shape)

    first, later = drawn(p, n * REFERENCE), [drawn(plan(p, day), n) for day in range(days)]
    outcome = at_once(first, later, N_DRAWS, rng)
    level, _ = interval(first, outcome.sign)
    naive = []
    for counts in later:
        value, error = interval(counts, outcome.sign)
        naive.append(np.abs(value - level) > 1.959964 * error)
    return np.column_stack([_first(outcome.p_value <= ALPHA), _first(np.array(naive).T)])


def _first(alarms):
    return np.where(alarms.any(axis=1), alarms.argmax(axis=1), -1)


class Found(NamedTuple):
    """What the rule finds in many watches."""

    sign: np.ndarray  # (watches × groups)
    scores: np.ndarray  # (watches × sequences × days)
    p_value: np.ndarray  # (watches × days)


def at_once(first, later, n_draws, rng):
    """Apply the rule to many watches: counts are watches × groups × labels × predictions."""
    whole = all_cells(first[0])
    auditors = [
        DirectionalAuditor().learn_reference(with_weight(whole, counts.ravel() * 1.0))
        for counts in first
    ]
    sign = np.array([auditor.y_at_.to_numpy()[:, 0] for auditor in auditors])
    # Auditors that learned the same signs measure alike.
    _, which, kind = np.unique(sign, axis=0, return_index=True, return_inverse=True)
    chosen = [(auditors[index], np.flatnonzero(kind == i)) for i, index in enumerate(which)]
    n_groups = sign.shape[1]
    scores = np.empty((len(first), 1 + n_groups, len(later)))
    rows = np.empty_like(scores)
    before = first
    for day, part in enumerate(later):
        every = np.concatenate([part[None], divided(before + part, part, n_draws, rng)])
        values = np.empty((*every.shape[:2], 1 + n_groups))
        for auditor, own in chosen:
            weight = every[:, own].reshape(-1, whole.n_cells) * 1.0
            value, pairs = auditor.values_of_draws(with_weight(whole, weight))
            measured = np.column_stack([value, pairs])
            values[:, own] = measured.reshape(len(every), len(own), -1)
        scores[:, :, day] = normal_scores(values[1:], values[0])
        rows[:, :, day] = _rows(part)
        before = before + part
    flat = (-1, len(later))
    log = evidence(scores.reshape(flat), rows.reshape(flat), _rows(first).ravel()).log
    log = log.reshape(scores.shape)
    value = adjusted(log[:, 0], HALF)
    pairs = [adjusted(log[:, 1 + i], (1 - HALF) / n_groups) for i in range(n_groups)]
    return Found(sign, scores, np.minimum.reduce([value, *pairs]))


def _rows(counts):
    n = counts.sum(axis=(-2, -1))
    return np.column_stack([n.sum(axis=1), n])


def divided(both, part, n_draws, rng):
    """Draw as many rows of each group as `part` has, without replacement: draws × watches × ...

    The value depends on how many predictions are wrong in each direction: all others are drawn as
    rows of the first label.
    """
    drawn = np.zeros((n_draws, *both.shape), dtype=np.int64)
    rest, left = both.sum(axis=(-2, -1)), part.sum(axis=(-2, -1))
    left = np.broadcast_to(left, (n_draws, *left.shape))
    for label, predicted in ((0, 1), (1, 0)):
        wrong = both[..., label, predicted]
        rest = rest - wrong
        drawn[..., label, predicted] = rng.hypergeometric(wrong, rest, left)
        left = left - drawn[..., label, predicted]
    drawn[..., 0, 0] = left
    return drawn


def check(days=15, n_draws=4_999):
    """Raise unless the package finds in single watches what `at_once` does in all of them."""
    for name in ("a rare group", "four groups"):
        rng = np.random.default_rng(1)
        p, n = rates(name), 100
        first, *later = (
            rng.multinomial(k, p.ravel(), size=2).reshape(-1, *p.shape)
            for k in (n * REFERENCE, *[n] * days)
        )
        later[5:] = [counts[:, :, :, ::-1] for counts in later[5:]]
        outcome, whole = at_once(first, later, n_draws, rng), all_cells(p)
        assert (outcome.p_value[:, 5:] <= ALPHA).any()
        assert (outcome.p_value[:, :5] > ALPHA).all()
        for i in range(2):
            cells = [with_weight(whole, counts[i].ravel() * 1.0) for counts in (first, *later)]
            auditor = DirectionalAuditor().learn_reference(cells[0])
            alone = against_all_before(auditor, cells[0], cells[1:], n_draws=n_draws, rng=rng)
            # Ranks among other draws differ a little, far out in the tails more.
            ours, theirs = (np.clip(one, -2.5, 2.5) for one in (outcome.scores[i], alone.scores))
            np.testing.assert_allclose(ours, theirs, atol=0.2, equal_nan=True)
            best = np.minimum(alone.p_value, alone.p_pairs.min(axis=0))
            ours, theirs = (np.log(np.maximum(p, 1e-3)) for p in (outcome.p_value[i], best))
            np.testing.assert_allclose(ours, theirs, atol=np.log(2))


def unchanged(p, day):
    """Return the rates of a model that never changes."""
    return p


def labels_drift(p, day):
    """Return rates with more labels, and the same errors given the label."""
    p = p.copy()
    share = p.sum(axis=(1, 2), keepdims=True)
    given = p / p.sum(axis=2, keepdims=True)
    base = p[:, 1:].sum(axis=2, keepdims=True) / share
    base = base * (1 + day / DAYS)
    return share * np.concatenate([1 - base, base], axis=1) * given


def shares_drift(p, day):
    """Return rates with more rows of the first group."""
    p = p.copy()
    p[0] *= 1 + day / DAYS
    return p / p.sum()


def planted(kind, n):
    """Return a plan in which the model changes by two standard errors of one period."""

    def plan(p, day):
        sign, error, of_groups = error_of(p, n)
        if day < CLEAN:
            return p
        if kind == "one group only":
            shift = np.zeros(len(p))
            shift[0] = 2 * of_groups[0]
            return shifted(p, shift)
        size = 2 * error if kind == "sudden" else 2 * error * min(1, (day - CLEAN + 1) / 30)
        # Towards equal rates: there is more to change than at the ends of 0 and 1.
        return shifted(p, -np.where(sign == 0, 1, sign) * size)

    return plan


def alarms_of(name, *job, trials):
    """Return the first alarms of many watches, each with a seed of its own; 100 run at once."""
    seeds = np.random.SeedSequence([*" ".join(map(str, name)).encode()]).generate_state(trials)
    parts = [seeds[start : start + 100].tolist() for start in range(0, trials, 100)]
    return np.concatenate([watches(*job, part) for part in parts])


def false_alarms(trials, sizes, days):
    """Return the table of false positives, and within how many days the naive rule has half."""
    rows, every = [], []
    for name in UNCHANGED:
        for n in sizes:
            job = (name, n, days, unchanged)
            every.append(alarms_of(("unchanged", name, n), *job, trials=trials))
            rows.append([name, f"{n:,}", *_shares(every[-1])])
    alarms = np.concatenate(every)
    rows.append(["**all of these**", "", *_shares(alarms)])
    header = ["data", "rows a day", "this rule", "standard error", "naive rule"]
    return markdown(header, rows), np.median(alarms[alarms[:, 1] >= 0, 1] + 1)


def _shares(alarms):
    rule, naive = (alarms >= 0).mean(axis=0)
    error = (rule * (1 - rule) / len(alarms)) ** 0.5
    return f"{rule * 100:.1f} %", f"{error * 100:.1f} %", f"{naive * 100:.0f} %"


def drifting(trials, n, days):
    """Return the table of what is no change of the model's errors."""
    rows = []
    for (name, drift), plan in zip(DRIFTS.items(), (labels_drift, shares_drift), strict=True):
        job = ("two groups, as in Adult", n, days, plan)
        alarms = alarms_of((name, n), *job, trials=trials) >= 0
        rows.append([drift, *(f"{share * 100:.0f} %" for share in alarms.mean(axis=0))])
    return markdown(["what drifts over the year", "this rule", "naive rule"], rows)


def delays(trials, sizes):
    """Return the table of detection delays."""
    header = ["data", "change", "rows a day", "median delay", "found within 10", "found within 60"]
    rows = [
        [name, kind, f"{n:,}", *_delay(alarms_of((kind, name, n), *job, trials=trials))]
        for name in CHANGED
        for kind in CHANGES
        for n in sizes
        for job in [(name, n, CLEAN + AFTER, planted(kind, n))]
    ]
    return markdown([*header, "alarms before it: this rule", "naive rule"], rows)


def _delay(alarms):
    rule, naive = alarms.T
    early = (rule >= 0) & (rule < CLEAN)
    delay = np.where(rule < 0, np.inf, rule - CLEAN + 1)[~early]
    middle = np.median(delay)
    shown = f"{middle:.0f}" if np.isfinite(middle) else f"more than {AFTER}"
    too_early = ((naive >= 0) & (naive < CLEAN)).mean()
    shares = [(delay <= 10).mean(), (delay <= AFTER).mean(), early.mean(), too_early]
    return [shown, *(f"{share * 100:.0f} %" for share in shares)]


def values(options):
    check()
    trials = 2 if options.short else options.trials
    sizes, days = (SIZES[:1], 10) if options.short else (SIZES, DAYS)
    fewer = max(trials // 2, 2)
    alarms, half = false_alarms(trials, sizes, days)
    return {
        "reference": REFERENCE,
        "clean": CLEAN,
        "trials": trials,
        "days": days,
        "fewer": fewer,
        "alarms": alarms,
        "half": half,
        "delays": delays(fewer, sizes),
        "drifting": drifting(fewer, 50 if options.short else 500, days),
    }


if __name__ == "__main__":
    command(__file__, __doc__, values, trials={"type": int, "default": 200})
