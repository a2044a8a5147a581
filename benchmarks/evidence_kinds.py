"""Rows of the evidence: pairs and generators."""

import numpy as np
from evidence_trials import ANALYTIC, Outcome, Row, at_signs, outcome

import skbiasamp
from skbiasamp import DirectionalAuditor
from skbiasamp.metrics import MatchedPairsAuditor


def of_table(row, true, names=("difference", "low", "high"), p_value=np.nan):
    """Return the outcome of a row of a table, whose verdict is the side of its interval."""
    value, low, high = (float(row[name]) for name in names)
    return Outcome(value, low, high, true, p_value, (low > 0) * 1.0 - (high < 0))


# --------------------------------------------------------------------------- matched pairs


def decided(n, gap, rng, names=0, scores=""):
    """Return pairs, sexes, decisions (or scores) and names of n pairs; women have the gap."""
    pair, women = np.repeat(np.arange(n), 2), np.tile([1, 0], n)
    chance = np.repeat(rng.beta(2, 3, n), 2) * (1 - abs(gap)) + max(gap, 0) * women
    chance += max(-gap, 0) * (1 - women)
    name = rng.integers(0, max(names, 1), 2 * n) * 2 + women
    if names:  # what a name evokes is shared by all of its rows
        chance = np.clip(chance + rng.normal(0, 0.06, 2 * names)[name], 0, 1)
    if scores == "skewed":  # so are differences, if one group's scores are
        drawn = chance + women * (rng.exponential(0.2, 2 * n) - 0.2)
    else:
        drawn = chance + rng.normal(0, 0.2, 2 * n) if scores else rng.random(2 * n) < chance
    return pair, np.where(women, "f", "m"), drawn if scores else drawn.astype(int), name


def matched(n, gap, names=0, scores="", models=False):
    """Return the trial of pairs, or of two models of the same pairs of which one has the gap."""

    def trial(rng):
        auditor = MatchedPairsAuditor(n_resamples=999, random_state=int(rng.integers(2**31)))
        pair, sex, y, name = decided(n, 0 if models else gap, rng, names, scores)
        by = {"sensitive_features": sex, "pairs": pair, "clusters": name if names else None}
        if models:
            moved = (sex == "f") & (rng.random(2 * n) < gap)
            again = np.where(rng.random(2 * n) < 0.1, rng.permutation(y), y)
            table = auditor.audit(np.where(moved, 1, again) - y, **by).table
            # Of those that are not moved to 1, one in ten has another pair's decision.
            return of_table(table.iloc[0], gap * (1 - 0.4), p_value=table["p_value"][0])
        table = auditor.audit(y, **by).table
        return of_table(table.iloc[0], gap, p_value=table["p_value"][0])

    return trial


# --------------------------------------------------------------------------- generators


def generated(n, rates, rng, a_prompt):
    """Return groups, tasks and prompts of n rows; those of one prompt share their rate."""
    group = rng.integers(0, len(rates), n)
    prompt = np.arange(n) // a_prompt
    moved = 0.12 * rng.choice([-1, 1], n // a_prompt + 1)[prompt] * (a_prompt > 1)
    task = rng.random((n, rates.shape[1])) < rates[group] + moved[:, None]
    return group, task.astype(int), prompt


def between_tables(shape, n, gap, step=0.0, a_prompt=1, compared=False):
    """Return the trial of generated rows against a reference, whose gaps they move by `step`."""
    n_groups, n_tasks = shape
    side = np.where(np.arange(n_groups) % 2, 1, -1)[:, None] * np.ones(n_tasks)
    rates = 0.4 + gap * side
    after = rates + step * side
    change = (after - after.mean(axis=0)) - (rates - rates.mean(axis=0))

    def trial(rng):
        auditor = DirectionalAuditor(base="train")
        auditor.set_params(**ANALYTIC)
        real, labels, _ = generated(2_000, rates, rng, 1)
        if compared:
            made = {
                "a": generated(n, rates, rng, a_prompt),
                "b": generated(n, after, rng, a_prompt),
            }
            of_rows = ("sensitive_features", "y_preds", "clusters")
            tables = {
                what: {name: table[i] for name, table in made.items()}
                for i, what in enumerate(of_rows)
            }
            given = {"y_train": labels, "sensitive_train": real, "auditor": auditor}
            (result,) = skbiasamp.compare(None, **tables, **given).values()
            names = ("difference", "difference_low", "difference_high")
            return of_table(result.table.iloc[1], step, names)
        group, task, prompt = generated(n, after, rng, a_prompt)
        auditor.fit(labels, sensitive_features=real)
        result = auditor.audit(None, task, sensitive_features=group, clusters=prompt)
        return outcome(result, at_signs(result, change))

    return trial


def kinds():
    pairs = "Matched pairs, and two models on the same pairs"
    for n, gap, text, how in (
        (100, 0.0, "decisions", {}),
        (400, 0.0, "decisions", {}),
        (400, 0.05, "decisions", {}),
        (100, 0.0, "scores", {"scores": "normal"}),
        (20, 0.0, "skewed scores", {"scores": "skewed"}),
        (400, 0.0, "decisions, 40 names of each group as clusters", {"names": 40}),
        (400, 0.0, "decisions, 10 names of each group as clusters", {"names": 10}),
        (400, 0.0, "decisions of two models", {"models": True}),
        (400, 0.1, "decisions of two models", {"models": True}),
    ):
        effect = f"a difference of {100 * gap:g} pp" if gap else "no difference"
        trial = matched(n, gap, **how)
        yield Row(pairs, f"{n} pairs; {text}; {effect}", trial, "amplifies" if gap else "")
    made = "Generated rows against a reference of 2,000 rows"
    for shape, n, gap, step, a_prompt, compared in (
        ((2, 1), 500, 0.1, 0.0, 1, False),
        ((2, 1), 500, 0.0, 0.0, 1, False),
        ((4, 5), 2_000, 0.05, 0.0, 1, False),
        ((2, 1), 1_000, 0.1, 0.0, 5, False),
        ((2, 1), 1_000, 0.1, 0.05, 5, False),
        ((2, 1), 500, 0.1, 0.0, 1, True),
        ((2, 1), 1_000, 0.1, 0.0, 5, True),
        ((2, 1), 1_000, 0.1, 0.05, 1, True),
    ):
        parts = [f"{shape[0]} × {shape[1]}, {n:,} rows"]
        parts += [f"± {100 * gap:g} pp" if gap else "random groups"]
        parts += ["two generators"] * compared + [f"{a_prompt} rows a prompt"] * (a_prompt > 1)
        parts += [f"differences {200 * step:g} pp larger" if step else "no change"]
        trial = between_tables(shape, n, gap, step, a_prompt, compared)
        yield Row(made, "; ".join(parts), trial, "amplifies" if step else "")
