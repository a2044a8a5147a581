"""Rows without a group: bounds beside the enumeration of all groups that they may belong to."""

from itertools import combinations_with_replacement, product

import numpy as np
import pandas as pd
import pytest
from scipy.special import erf

import skbiasamp
from skbiasamp import Contingency, DirectionalAuditor
from skbiasamp.report.unknown import Everyone

COLUMNS = [("f", "x"), ("f", "y"), ("m", "x")], [("f", None), (None, "x"), (None, None)]


def divided(n, k):
    """Return all ways to divide n rows among k groups."""
    cuts = combinations_with_replacement(range(n + 1), k - 1)
    return [np.diff((0, *cut, n)) for cut in cuts]


def table(seed):
    """Return rows of two or three groups, or of two columns, with counts by name and kind."""
    rng = np.random.default_rng(seed)
    names, unknown = ([("a",), ("b",)], [(None,)])
    if seed % 3:
        names, unknown = ([("a",), ("b",), ("c",)], [(None,)]) if seed % 3 == 1 else COLUMNS
    size = rng.choice([6, 12, 40])
    known = np.array([rng.multinomial(size, rng.dirichlet(np.ones(4))) for _ in names])
    most = {2: 4, 3: 3}[len(names)] if len(unknown) == 1 else 2
    lost = np.array([rng.integers(0, most, 4) for _ in unknown])
    while np.prod(lost + 1.0) > 40 or not lost.any():
        lost = rng.integers(0, 2, lost.shape)
    return names, known, unknown, lost


def completions(names, known, unknown, lost):
    """Return the tables (groups × kinds) of all ways to give the lost rows a group."""
    parts = []
    for name, kinds in zip(unknown, lost, strict=True):
        able = [all(p in (None, q) for p, q in zip(name, other, strict=True)) for other in names]
        groups = np.flatnonzero(able)
        for kind, n in enumerate(kinds):
            each = []
            for rows in divided(int(n), len(groups)):
                each.append(np.zeros_like(known))
                each[-1][groups, kind] = rows
            parts.append(each)
    return np.array([known + sum(chosen) for chosen in product(*parts)])


def rows_of(names, counts):
    """Return groups, labels and predictions of the rows of a table."""
    at = np.repeat(np.arange(len(names)), np.sum(counts, axis=1))
    kind = np.repeat(np.tile(np.arange(4), len(names)), np.ravel(counts))
    return kind // 2, kind % 2, pd.DataFrame([names[i] for i in at], dtype=object)


def counted(names, counts, missing):
    label, predicted, groups = rows_of(names, counts)
    return Contingency.from_labels(label, predicted, sensitive_features=groups, missing=missing)


def values_by_hand(tables):
    """Return the value of tables (tables × groups × kinds) from what each row adds (METRICS)."""
    n, total = tables.sum(axis=2), tables.sum(axis=(1, 2))
    label, predicted = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    value = 0.0
    for a in range(tables.shape[1]):
        inside = np.arange(tables.shape[1])[None, :, None] == a
        lever = 1 / np.sqrt(1 - np.minimum(1 / n[:, a], 0.5))
        influence, rate = [], []
        for kind in (label, predicted):
            own = tables[:, a] @ kind / n[:, a]
            whole = tables.sum(axis=1) @ kind / total
            rate.append(own - whole)
            moved = inside * (kind - own[:, None, None]) * (lever / n[:, a])[:, None, None]
            influence.append(moved - (kind - whole[:, None, None]) / total[:, None, None])
        jackknife = total / (total - 1)
        variance = jackknife * (tables * influence[0] ** 2).sum(axis=(1, 2))
        shared = tables * influence[0] * (influence[1] - influence[0])
        shared = jackknife * shared.sum(axis=(1, 2))
        sd = np.sqrt(variance + 1 / n[:, a] ** 2)
        z, change = rate[0] / sd, rate[1] - rate[0]
        part = erf(z) * change - 2 / np.sqrt(np.pi) * np.exp(-(z**2)) * shared / sd
        value = value + np.where(variance > 1e-12, part, 0.0)
    return value / tables.shape[1]


def everyone(names, known, unknown, lost):
    every = [*names, *unknown], np.vstack([known, lost])
    return Everyone(*(counted(*every, missing) for missing in ("group", "drop")))


@pytest.mark.slow
def test_bounds_are_those_of_all_completions():
    """Of 120 tables: bounds that are wrong in one of 30 are seen in 98 % of such samples."""
    too_wide, ratios_too_wide = [], []
    for seed in range(120):
        names, known, unknown, lost = table(seed)
        if not known.sum(axis=1).all():
            continue
        all_of_them = completions(names, known, unknown, lost)
        every = everyone(names, known, unknown, lost)
        n = all_of_them.sum(axis=2)
        rates = all_of_them[:, :, [1, 3]].sum(axis=2) / n
        bounds = every.rates(1, 3)
        np.testing.assert_allclose(bounds.lowest[:, 0], rates.min(axis=0), atol=1e-12)
        np.testing.assert_allclose(bounds.highest[:, 0], rates.max(axis=0), atol=1e-12)
        labelled, columns = all_of_them[:, :, [2, 3]].sum(axis=2) / n, every.rate_columns([True])
        for end, expected in (("lowest", labelled.min(axis=0)), ("highest", labelled.max(axis=0))):
            np.testing.assert_allclose(columns[f"base_rate_{end}"][:, 0], expected, atol=1e-12)
        gap = rates[:, 0] - rates[:, 1]
        assert np.isclose(bounds.lowest[0, 0] - bounds.highest[1, 0], gap.min())
        assert np.isclose(bounds.highest[0, 0] - bounds.lowest[1, 0], gap.max())
        defined = rates.max(axis=1) > 0
        ratios = rates[defined] / rates[defined].max(axis=1, keepdims=True)
        if len(ratios):
            columns = bounds.ratios(np.ones((len(names), 1), dtype=bool))
            lowest, highest = (columns[f"impact_ratio_{end}est"][:, 0] for end in ("low", "high"))
            np.testing.assert_allclose(lowest, ratios.min(axis=0), atol=1e-9)
            if len(unknown) == 1:
                np.testing.assert_allclose(highest, ratios.max(axis=0), atol=1e-9)
            ratios_too_wide.append((highest - ratios.max(axis=0)).max())
            assert ratios_too_wide[-1] > -1e-9
        values = values_by_hand(all_of_them)
        low, high = every.value_bounds()
        assert low <= values.min() + 1e-9
        assert high >= values.max() - 1e-9
        too_wide.append(high - low - np.ptp(values))
    assert len(too_wide) > 100
    assert np.median(too_wide) < 0.001
    assert max(too_wide) < 0.03
    assert np.mean(np.array(ratios_too_wide) > 1e-9) < 0.05
    assert max(ratios_too_wide) < 0.15


def test_signs_of_training_are_not_read_again():
    names, known, lost = [("a",), ("b",)], np.array([[9, 2, 3, 8], [5, 4, 6, 5]]), [[2, 1, 3, 2]]
    trained = DirectionalAuditor().fit([1, 0, 0, 1], sensitive_features=list("aabb"))
    trained.fit([1, 1, 0, 0, 1, 0], sensitive_features=list("aaabbb"))
    every = everyone(names, known, [(None,)], lost)
    every.signs = np.array([[1.0], [-1.0]])
    values = [
        trained.score(*rows_of(names, each)[:2], sensitive_features=rows_of(names, each)[2][0])
        for each in completions(names, known, [(None,)], lost)
    ]
    np.testing.assert_allclose(every.value_bounds(), (min(values), max(values)), atol=1e-12)


def verdict_of(cells):
    return DirectionalAuditor(reference="test").audit(cells).verdict


@pytest.mark.slow
@pytest.mark.parametrize(
    ("known", "lost"),
    [
        ([[14, 1, 1, 14], [20, 1, 6, 3]], [1, 3, 2, 1]),
        ([[18, 4, 0, 12], [22, 0, 9, 8]], [1, 1, 1, 1]),
        # The change of a pair is what turns it, not the value.
        ([[10, 0, 2, 31], [11, 0, 9, 16]], [1, 2, 0, 2]),
    ],
)
def test_so_few_rows_turn_a_verdict(known, lost):
    """Beside all ways to put some of the rows into groups; the others are left out."""
    names, known = [("a",), ("b",)], np.array(known)
    every = everyone(names, known, [(None,)], [lost])
    before = verdict_of(every.test)
    fewest = None
    ways = product(*(divided(n, 3) for n in lost))
    for way in sorted(ways, key=lambda each: sum(rows[:2].sum() for rows in each)):
        some = known + np.array([rows[:2] for rows in way]).T
        if verdict_of(counted(names, some, "drop")) != before:
            fewest = sum(rows[:2].sum() for rows in way)
            break
    turned = every.turned(verdict_of)
    assert (turned and turned[0]) == fewest


def test_a_verdict_that_holds_is_that_of_all_completions():
    """One of them brings the direction of a pair below two standard errors."""
    names, known = [("a",), ("b",), ("c",)], [[78, 0, 11, 25], [40, 18, 0, 35], [31, 13, 0, 46]]
    for lost, kept in (([2, 0, 0, 1], "depends on the unknown"), ([0, 0, 0, 1], "holds")):
        label, predicted, groups = rows_of([*names, (None,)], [*known, lost])
        how = {"auditor": DirectionalAuditor(), "random_state": 0}
        report = skbiasamp.audit(
            label, predicted, sensitive_features=groups[0], missing="bounds", **how
        )
        results = [
            DirectionalAuditor(reference="test").audit(counted(names, rows, "drop"))
            for rows in completions(names, np.array(known), [(None,)], np.array([lost]))
        ]
        assert report.unknown.verdict == kept
        assert ({result.verdict for result in results} == {"amplifies"}) == (kept == "holds")
        assert np.isclose(report.unknown.low, min(result.low for result in results))
        assert np.isclose(report.unknown.high, max(result.high for result in results))


def test_a_verdict_beside_training_that_holds_is_that_of_rows_in_any_group():
    rng = np.random.default_rng(1)
    names, n_held = np.array(["a", "b", "c"], dtype=object), 0
    for _ in range(12):
        group = rng.integers(0, 3, 1000)
        label = (rng.random(1000) < 0.3 + 0.15 * group).astype(int)
        noise = rng.random(1000) < rng.choice([0.3, 0.5, 0.7])
        predicted = np.where(noise, rng.random(1000) < 0.4 + 0.05 * group, label).astype(int)
        sex = names[group]
        sex[980:] = None
        auditor = DirectionalAuditor().fit(label, sensitive_features=names[group])
        how = {"auditor": auditor, "missing": "bounds", "random_state": 0}
        report = skbiasamp.audit(label, predicted, sensitive_features=sex, **how)
        if report.unknown.verdict != "holds":
            continue
        n_held += 1
        for _ in range(20):
            of_kind = rng.integers(0, 3, 4)
            sex[980:] = names[of_kind[2 * label[980:] + predicted[980:]]]
            result = auditor.audit(label, predicted, sensitive_features=sex)
            assert result.verdict == report.facts.verdict
            assert report.unknown.low <= result.low <= result.high <= report.unknown.high
    assert n_held >= 3


def turns_by_hand(n, k, zeros, ones, group):
    """Return how few rows move an impact ratio to the other side of four fifths."""
    below = k[group] / n[group] < 0.8 * max(k / n)
    best = np.inf
    for without, having in product(divided(zeros, len(n) + 1), divided(ones, len(n) + 1)):
        rows = without[:-1].sum() + having[:-1].sum()
        rates = (k + having[:-1]) / (n + without[:-1] + having[:-1])
        if (rates[group] < 0.8 * max(rates) - 1e-12) != below:
            best = min(best, rows)
    return best


NAN = float("nan")


@pytest.mark.parametrize(
    ("counts", "unknown", "expected"),
    [
        # One more row that is not selected is below; it may be one of b.
        ([(20, 8), (20, 10)], 0, {"": 0.8, "_highest": 0.8 / (20 / 21), "_turned_by": 1}),
        # Of two equal groups, one row lowers only one: the ratio is four fifths at most.
        ([(20, 8), (20, 10), (20, 10)], 0, {"_highest": 0.8, "_turned_by": 1}),
        # 8 of 19: four fifths at least.
        ([(19, 8), (20, 10)], 0, {"_lowest": 0.8, "_turned_by": NAN}),
    ],
)
def test_exactly_four_fifths_are_not_below(counts, unknown, expected):
    selected = [kind for n, k in counts for kind in [1] * k + [0] * (n - k)]
    groups = [name for name, (n, _) in zip("abc", counts, strict=False) for _ in range(n)]
    rates = skbiasamp.selection_rates(
        [*selected, unknown], sensitive_features=[*groups, None], missing="bounds"
    )
    row = rates.table.set_index("category").loc["a"]
    found = [row[f"impact_ratio{end}"] for end in expected]
    assert found == pytest.approx([*expected.values()], rel=1e-9, nan_ok=True)


@pytest.mark.slow
def test_so_few_rows_turn_four_fifths():
    compared = 0
    for seed in range(25):
        rng = np.random.default_rng(seed)
        n = rng.integers(10, 25, 3)
        k, zeros, ones = rng.binomial(n, 0.5), *rng.integers(0, 7, 2)
        k[0] += k.max() == 0
        groups = np.repeat(["a", "b", "c", None], [*n, zeros + ones])
        counts = [(own, n_own - own) for own, n_own in zip(k, n, strict=True)] + [(ones, zeros)]
        predicted = np.concatenate([np.repeat([1, 0], pair) for pair in counts])
        groups = np.where(groups == "None", None, groups)
        rates = skbiasamp.selection_rates(predicted, sensitive_features=groups, missing="bounds")
        table = rates.table.set_index("category")
        if not zeros + ones:
            assert "impact_ratio_turned_by" not in table
            continue
        for i, name in enumerate("abc"):
            turned = turns_by_hand(n, k, zeros, ones, i)
            row = table.loc[name]
            lies_across = row["impact_ratio_lowest"] < 0.8 <= row["impact_ratio_highest"]
            assert lies_across == np.isfinite(turned)
            assert not lies_across or row["impact_ratio_turned_by"] == turned
            compared += lies_across
    assert compared > 5


# --------------------------------------------------------------------------- what is said


def people():
    rng, n = np.random.default_rng(1), 1500
    men = rng.random(n) < 0.5
    label = rng.random(n) < np.where(men, 0.45, 0.35)
    drawn = rng.random(n) < np.where(men, 0.7, 0.2)
    sex = np.where(men, "man", "woman").astype(object)
    sex[rng.random(n) < 0.1] = None
    frame = pd.DataFrame({"hired": label * 1, "sex": sex})
    return frame.assign(predicted=np.where(rng.random(n) < 0.15, drawn, label) * 1)


def audited(frame, missing, **options):
    how = {"target": "hired", "prediction": "predicted", "sensitive": "sex", "favourable": 1}
    how["auditor"] = DirectionalAuditor()
    return skbiasamp.audit_frame(frame, missing=missing, random_state=0, **how | options)


def test_the_first_screen_says_whether_the_verdict_depends_on_the_unknown():
    frame = people()
    n = frame["sex"].isna().sum()
    for missing in ("bounds", "drop", "group"):
        report = audited(frame, missing)
        unknown = report.unknown
        assert (unknown.n, unknown.verdict) == (n, "depends on the unknown")
        said = f"The verdict depends on the unknown: {unknown.rows:.0f} of them can turn it into"
        for text in (report.verdict, str(report), report.to_markdown(), report.to_html()):
            assert said in " ".join(text.replace("\xa0", " ").split())
        assert ("band" in report.to_html().partition("</style>")[2]) == (missing == "bounds")
        assert report.to_dict()["facts"]["unknown"]["rows"] == unknown.rows
    assert unknown.low < unknown.lowest < report.value < unknown.highest < unknown.high
    few = audited(frame.drop(frame.index[frame["sex"].isna()][3:]), "bounds")
    assert few.unknown.verdict == "holds"
    assert "3 rows have no group and are left out. Whichever groups" in few.verdict


def test_bounds_stand_beside_the_rates_and_leave_the_audit_as_it_is():
    frame = people()
    report, dropped = audited(frame, "bounds"), audited(frame, "drop")
    pd.testing.assert_frame_equal(report.rates[dropped.rates.columns], dropped.rates)
    pd.testing.assert_frame_equal(report.summary, dropped.summary)
    lost = frame["sex"].isna()
    for _, row in report.rates.iterrows():
        own, ones = frame[frame["sex"] == row["group"]], frame.loc[lost, "predicted"].sum()
        n, k = len(own), own["predicted"].sum()
        assert np.isclose(row["predicted_rate_lowest"], k / (n + lost.sum() - ones))
        assert np.isclose(row["predicted_rate_highest"], (k + ones) / (n + ones))
    assert all(mark.band for mark in report.to_document().picture.marks)
    assert "Bounds of predictions" in str(report)
    whole = audited(frame.dropna(), "bounds")
    assert whole.unknown is None
    assert "predicted_rate_lowest" not in whole.rates


def test_a_row_is_only_in_groups_that_agree_with_what_is_known_of_it():
    frame = people()
    frame["race"] = np.where(np.arange(len(frame)) % 3, "x", "y")
    frame.loc[::7, "race"] = None
    report = audited(frame, "bounds", sensitive=["sex", "race"])
    for _, row in report.rates.iterrows():
        sex, race = row["group"]
        able = frame["sex"].isin([sex, None]) & frame["race"].isin([race, None])
        own = able & (frame["sex"] == sex) & (frame["race"] == race)
        zeros = (able & ~own & (frame["predicted"] == 0)).sum()
        rate = frame.loc[own, "predicted"].sum() / (own.sum() + zeros)
        assert np.isclose(row["predicted_rate_lowest"], rate)


def test_counts_have_bounds():
    frame = people()
    cells = Contingency.from_labels(
        frame["hired"], frame["predicted"], sensitive_features=frame["sex"], missing="group"
    )
    how = {"auditor": DirectionalAuditor(), "random_state": 0}
    counted_report = skbiasamp.audit(cells, missing="bounds", favourable=1, **how)
    assert counted_report.unknown == audited(frame, "bounds").unknown
    assert set(counted_report.groups["group"]) == {"man", "woman"}


def test_what_has_no_bounds_of_the_value_has_those_of_rates():
    frame = people()
    how = {"sensitive_features": frame["sex"], "missing": "bounds", "random_state": 0}
    how["auditor"] = DirectionalAuditor()
    label, predicted = frame["hired"], frame["predicted"]
    for scores, options in (
        (predicted, {"sample_weight": np.full(len(frame), 0.5)}),
        (predicted, {"clusters": np.arange(len(frame)) // 2}),
        (predicted * 0.8, {}),
    ):
        report = skbiasamp.audit(label, scores, **how, **options)
        assert report.unknown.lowest is None
        assert (report.rates["predicted_rate_lowest"] < report.rates["predicted_rate"]).all()


def test_a_limit_is_kept_only_if_it_is_whoever_the_unknown_are():
    groups, unknown = ["w"] * 400 + ["m"] * 400, [None] * 40
    label = [1] * 120 + [0] * 280 + [1] * 200 + [0] * 200 + [1, 0] * 20
    predicted = [1] * 80 + [0] * 320 + [1] * 240 + [0] * 160 + [0, 1] * 20
    how = {"auditor": DirectionalAuditor(), "random_state": 0}
    turned = skbiasamp.audit(
        label, predicted, sensitive_features=groups + ["w", "m"] * 20, limit=0.13, **how
    )
    assert turned.limit_verdict == "inconclusive"
    given = {"sensitive_features": groups + unknown, **how}
    for limit, word in ((0.13, "inconclusive"), (0.2, "within the limit"), (0.02, "outside the")):
        report = skbiasamp.audit(label, predicted, missing="bounds", limit=limit, **given)
        assert report.limit_verdict.startswith(word)
        (check,) = report.gate(limit).checks
        assert check.outcome == {"i": "inconclusive", "w": "passed", "o": "failed"}[word[0]]
        assert ("the change may lie beyond the limit" in report.verdict) == (word == "inconclusive")
