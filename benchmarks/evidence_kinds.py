"""Rows of the evidence: pairs, generators, groups and labels that are known in part."""

import numpy as np
import pandas as pd
from evidence_trials import ANALYTIC, RESAMPLES, Outcome, Row, at_signs, outcome

import skbiasamp
from skbiasamp import DirectionalAuditor
from skbiasamp.metrics import MatchedPairsAuditor, prediction_powered_rates

MOST = 200  # data sets of whole reports, which take longer


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
            table = auditor.compare({"a": y, "b": np.where(moved, 1, again)}, **by).table
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
        auditor = DirectionalAuditor(base="train", random_state=int(rng.integers(2**31)))
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


# --------------------------------------------------------------------------- known in part


def few_labels(n, n_labelled, gap):
    """Return the trial of the difference of two groups, with a machine that errs more in one."""

    def trial(rng):
        group = rng.integers(0, 2, n)
        people = (rng.random(n) < 0.4 + gap * group).astype(float)
        errs = rng.random(n) < np.where(group, 0.2, 0.1)
        machine = np.where(errs, 1 - people, people).astype(int)
        people[rng.permutation(n) >= n_labelled] = np.nan
        table = prediction_powered_rates(machine, labelled=people, sensitive_features=group).table
        return of_table(table.iloc[0], -gap, p_value=table["p_value"][0])

    return trial


def proxied(n, step, related, assumed):
    """Return the trial of groups that are known with a probability, calibrated.

    Labels and predictions depend on the probability, or on the group itself (`related`).
    """
    cells = np.linspace(0.05, 0.95, 10)

    def rates(who):
        return 0.3 + 0.4 * who, 0.3 + 0.4 * who + step * (2 * who - 1)

    if related:
        true = step
    else:
        moved = np.subtract(*rates(cells)[::-1])
        true = (cells @ moved / cells.sum() - (1 - cells) @ moved / (1 - cells).sum()) / 2

    def trial(rng):
        share = rng.choice(cells, n)
        group = rng.random(n) < share
        label, predicted = (rng.random((2, n)) < rates(group if related else share)).astype(int)
        known = rng.integers(0, 2, 2_000)
        auditor = DirectionalAuditor(n_resamples=RESAMPLES, random_state=int(rng.integers(2**31)))
        result = skbiasamp.audit(
            label,
            predicted,
            sensitive_features=pd.DataFrame({0: 1 - share, 1: share}),
            groups="probabilities",
            y_train=(rng.random(2_000) < rates(known)[0]).astype(int),
            sensitive_train=known,
            auditor=auditor,
        )["directional A->T"]
        measured = outcome(result, true)
        if not assumed:
            inside = float(result.low <= true <= result.high)
            return Outcome(verdict=measured.verdict, inside=inside)
        low, high = (result.statistics[f"{end}_assumed"] for end in ("low", "high"))
        side = (low > 0) * 1.0 - (high < 0)
        return Outcome(result.estimate, low, high, true, np.nan, side)

    return trial


def selected(n, step, hidden):
    """Return the trial of labels that a decision hides: those of the largest scores."""

    def trial(rng):
        group, noise = rng.integers(0, 2, n), rng.random(n)
        label = (rng.random(n) < 0.3 + 0.3 * group).astype(int)
        predicted = (rng.random(n) < 0.3 + 0.3 * group + step * (2 * group - 1)).astype(int)
        shown = predicted + label + noise < np.quantile(predicted + label + noise, 1 - hidden)
        known = rng.integers(0, 2, 2_000)
        result = skbiasamp.audit(
            pd.Series(label).where(shown),
            predicted,
            sensitive_features=group,
            labels="selected",
            decision=shown,
            y_train=(rng.random(2_000) < 0.3 + 0.3 * known).astype(int),
            sensitive_train=known,
            auditor=DirectionalAuditor(
                n_resamples=RESAMPLES, random_state=int(rng.integers(2**31))
            ),
        )["directional A->T"]
        inside = float(result.low <= step <= result.high)
        return Outcome(verdict=outcome(result, step).verdict, inside=inside)

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
    part = "Few human labels, groups with probabilities, labels that a decision hides"
    for n_labelled, gap in ((100, 0.0), (300, 0.0), (300, 0.15)):
        effect = f"a difference of {100 * gap:g} pp" if gap else "no difference"
        text = f"3,000 rows, {n_labelled} human labels; {effect}"
        trial = few_labels(3_000, n_labelled, gap)
        yield Row(part, text, trial, "reduces" if gap else "")
    for step, related, assumed in (
        (0.0, False, True),
        (0.06, False, True),
        (0.0, False, False),
        (0.0, True, False),
        (0.06, True, False),
    ):
        text = f"1,500 rows; probabilities; {'related' if related else 'unrelated'} errors; "
        text += "interval if errors are unrelated" if assumed else "interval with bounds"
        text += "; amplifies" if step else "; no change"
        yield Row(
            part, text, proxied(1_500, step, related, assumed), "amplifies" * bool(step), MOST
        )
    for step, hidden in ((0.0, 0.05), (0.0, 0.3), (0.06, 0.05)):
        text = f"1,500 rows; {100 * hidden:g} % of labels are hidden by a decision"
        text += "; amplifies" if step else "; no change"
        yield Row(part, text, selected(1_500, step, hidden), "amplifies" * bool(step), MOST)
