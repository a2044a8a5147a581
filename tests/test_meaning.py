"""Same meaning, same number: rows in other containers, orders, names and indexes.

Each call takes a random world and brings it into other forms that mean the same: the value, its
interval and its verdict must stay.
`make fuzz` makes many more of the same calls. A failure names its call, which
``MEANING_ONLY=4711`` repeats.
"""

import os

import numpy as np
import pandas as pd
import pytest

import skbiasamp
from skbiasamp import (
    DirectionalAuditor,
    LeakageAuditor,
    MALSAuditor,
    MultiAttributeAuditor,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore::skbiasamp.inference.UncertaintyWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning"),
    pytest.mark.filterwarnings("ignore:y_pred has the columns"),
]
# A fault in one of 200 calls is met by 750 calls in 98 % of choices of them.
CALLS, PARTS = int(os.environ.get("FUZZ_CALLS", 750)), 4
CLASSES = ("clerk", "cook", "Driver")
TITLES = {"chances": sorted(CLASSES), "numbered": ["0", "1", "2"], "tags": ["t0", "t1", "t2"]}


# --------------------------------------------------------------------------- worlds


def world(rng):
    """Return rows as arrays: labels, predictions, groups, and what else a call may have."""
    # "numbered" are probabilities, too: of the classes 0, 1 and 2.
    kinds = ["binary", "classes", "tags", "chances", "numbered"]
    n, kind = int(rng.integers(60, 200)), rng.choice(kinds)
    n_groups = int(rng.integers(2, 4))
    made = {}
    for part in ("train", "test"):
        group = np.r_[np.arange(n_groups), np.arange(n_groups), rng.integers(0, n_groups, n)]
        m = len(group)
        y = np.r_[np.arange(3), rng.integers(0, 3, m - 3)]
        if kind == "tags":
            y = (rng.random((m, 3)) < 0.3 + 0.1 * group[:, None]).astype(int)
        elif kind == "binary":
            y = (y > 0).astype(int)
        flip = rng.random(y.shape) < 0.25
        made[part] = group, y, np.where(flip, rng.permutation(y), y)
    group, y, predicted = made["test"]
    rows = {"y_true": y, "y_pred": predicted, "sensitive_features": group}
    if kind in ("chances", "numbered"):
        chances = rng.dirichlet([1, 1, 1], len(y)) * 0.5 + 0.5 * np.eye(3)[predicted]
        rows["y_pred"] = chances
    if rng.random() < 0.3:
        rows["sample_weight"] = rng.integers(1, 4, len(y))
    train = {"y_true": made["train"][1], "sensitive_features": made["train"][0]}
    return kind, rows, train if rng.random() < 0.5 else None


def named(kind, rows):
    """Return rows with words in place of codes; probabilities in the order of the classes."""
    rows = dict(rows)
    rows["sensitive_features"] = np.array(["b", "a", "c"])[rows["sensitive_features"]]
    if kind in ("classes", "chances"):
        rows["y_true"] = np.array(CLASSES)[rows["y_true"]]
        if kind == "classes":
            rows["y_pred"] = np.array(CLASSES)[rows["y_pred"]] if "y_pred" in rows else None
        elif "y_pred" in rows:
            # Classes in sorted order, as predict_proba has them.
            rows["y_pred"] = rows["y_pred"][:, np.argsort(CLASSES)]
    return {name: value for name, value in rows.items() if value is not None}


AUDITORS = {
    "directional": DirectionalAuditor,
    "published": lambda **how: DirectionalAuditor(formula="published", **how),
    "MALS": MALSAuditor,
}


def measured(auditor, rows, train):
    """Return the numbers of an audit."""
    made = AUDITORS[auditor](reference="test" if train is None else "train")
    if train is not None:
        made.fit(train["y_true"], sensitive_features=train["sensitive_features"])
    result = made.audit(rows["y_true"], rows["y_pred"], **rest_of(rows))
    return result.value, result.low, result.high, result.verdict


def rest_of(rows):
    return {name: value for name, value in rows.items() if name not in ("y_true", "y_pred")}


# --------------------------------------------------------------------------- moves


def each(change):
    """Return a move that changes every column by itself."""

    def moved(kind, rows, rng):
        return {name: change(np.asarray(value)) for name, value in rows.items()}

    return moved


def as_frame(value):
    return pd.DataFrame(value) if value.ndim == 2 else pd.Series(value)


def reordered(kind, rows, rng):
    order = rng.permutation(len(rows["y_true"]))
    return {name: np.asarray(value)[order] for name, value in rows.items()}


def reindexed(kind, rows, rng):
    index = rng.permutation(len(rows["y_true"])) + int(rng.integers(1, 9))
    return {name: as_frame(np.asarray(value)).set_axis(index) for name, value in rows.items()}


def titled(kind, rows, rng):
    """Name the columns of predictions, and put them in another order."""
    if kind not in TITLES:
        return rows
    # Labels without names may be called by their position.
    unnamed = isinstance(rows["y_true"], np.ndarray)
    by_position = kind == "tags" and unnamed and rng.integers(2)
    names = TITLES["numbered" if by_position else kind]
    before, after = rng.choice(["", "p_", "Prob "]), rng.choice(["", "_pred"])
    form = str.upper if rng.integers(2) else str
    order = rng.permutation(3)
    columns = [form(f"{before}{names[i]}{after}") for i in order]
    given = rows["y_pred"]
    index = given.index if isinstance(given, pd.DataFrame) else None
    values = np.asarray(rows["y_pred"])[:, order]
    predicted = pd.DataFrame(values, index=index, columns=columns)
    rows = {**rows, "y_pred": predicted}
    if kind == "tags" and not by_position:
        rows["y_true"] = pd.DataFrame(np.asarray(rows["y_true"]), index=index, columns=names)
    return rows


def repeated(kind, rows, rng):
    """Repeat rows in place of whole weights, or give each row a weight."""
    weight = rows.get("sample_weight")
    if weight is None:
        return {**rows, "sample_weight": np.ones(len(rows["y_true"]))}
    again = np.repeat(np.arange(len(weight)), weight)
    return {n: np.asarray(v)[again] for n, v in rows.items() if n != "sample_weight"}


MOVES = {
    "lists": each(lambda value: value.tolist()),
    "objects": each(lambda value: value.astype(object) if value.ndim == 1 else value),
    "Fortran": each(np.asfortranarray),
    "another order": reordered,
    "index": reindexed,
    "names of columns": titled,
    "weights": repeated,
}


# --------------------------------------------------------------------------- calls


def close(found, expected):
    return found[3] == expected[3] and np.allclose(
        found[:3], expected[:3], rtol=1e-7, atol=1e-9, equal_nan=True
    )


def check(at):
    """Make one call, and return what went wrong: '' if nothing did."""
    rng = np.random.default_rng([7, at])
    kind, rows, train = world(rng)
    rows = named(kind, rows)
    train = None if train is None else named(kind, train)
    auditor = str(rng.choice([*AUDITORS]))
    expected = measured(auditor, rows, train)
    moves = [str(one) for one in rng.choice([*MOVES], int(rng.integers(1, 3)), replace=False)]
    # What needs arrays first, and names last.
    places = {"another order": 0, "weights": 0, "names of columns": 2}
    moves.sort(key=lambda name: places.get(name, 1))
    moved = rows
    for name in moves:
        moved = MOVES[name](kind, moved, rng)
    found = measured(auditor, moved, train)
    return "" if close(found, expected) else f"{kind}, {auditor}, {moves}: {found} {expected}"


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_the_same_meaning_gives_the_same_number(part):
    only = os.environ.get("MEANING_ONLY")
    calls = [int(only)] if only else range(part, CALLS, PARTS)
    failures = [f"call {at}: {text}" for at in calls if (text := check(at))]
    assert not failures, "\n".join(failures[:20])


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("seed", range(2))
def test_attackers_at_one_seed_do_not_know_names(seed, n_classes):
    rng = np.random.default_rng(seed)
    group, label = rng.choice(3, 300, p=[0.5, 0.3, 0.2]), rng.integers(0, n_classes, 300)
    predicted = np.where(rng.random(300) < 0.7, label, rng.integers(0, n_classes, 300))
    audits = [
        LeakageAuditor(random_state=0, n_draws=2).audit(
            np.array(classes)[label],
            np.array(classes)[predicted],
            sensitive_features=np.array(groups)[group],
        )
        for groups, classes in (
            (["a", "b", "c"], ["p", "q", "r", "s"]),
            (["z", "b", "k"], ["r", "q", "p", "s"]),
            (["c", "a", "b"], [7, 3, 1, 5]),
        )
    ]
    assert len({(audit.value, audit.low) for audit in audits}) == 1


def test_sets_need_no_labels_where_these_do_not_enter():
    rng = np.random.default_rng(0)
    group = rng.choice(["a", "b"], 400)
    labels = (rng.random((400, 3)) < 0.4).astype(int)
    predicted = np.where(rng.random((400, 3)) < 0.85, labels, 1 - labels)
    for direction in (None, "A->T"):
        auditor = MultiAttributeAuditor(direction).fit(labels, sensitive_features=group)
        with_labels, without = (
            auditor.audit(one, predicted, sensitive_features=group) for one in (labels, None)
        )
        assert with_labels.value == without.value
        assert with_labels.published == without.published


# --------------------------------------------------------------------------- files


def people(n=600):
    rng = np.random.default_rng(0)
    sex, label = rng.choice(["male", "female"], n), (rng.random(n) < 0.4).astype(int)
    return pd.DataFrame({"y": label, "p": 1 - label, "sex": sex})


NAMES = {"target": "y", "prediction": "p", "sensitive": "sex"}


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Kolkata"])
def test_days_of_a_file_are_those_of_its_own_zone(zone, tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    frame = people()
    frame["time"] = pd.date_range("2024-01-01 00:30", periods=600, freq="h", tz="UTC")
    frame["time"] = frame["time"].dt.tz_convert(zone)
    frame.to_parquet(tmp_path / "rows.parquet")
    frame.to_csv(tmp_path / "rows.csv", index=False)
    dates = frame.assign(time=frame["time"].dt.date)
    tables = [
        skbiasamp.audit_over(rows, time="time", every="day", n_draws=19, **NAMES).to_frame()
        for rows in (frame, str(tmp_path / "rows.parquet"), str(tmp_path / "rows.csv"), dates)
    ]
    for table in tables[1:]:
        assert table["period"].tolist() == tables[0]["period"].tolist()
        assert table["n"].tolist() == tables[0]["n"].tolist()


@pytest.mark.parametrize(
    ("end", "refused"),
    [
        ("y,p,sex\n", "line 602, is the header again"),
        ("1,0,fem", "ends in 'fem' without a line end"),
        ("1,0", "line 602, has 2 cells"),
        ("1,0,female", None),
        ("1,0,other\n", None),
    ],
)
def test_what_a_file_has_too_much_or_too_little_is_refused(end, refused, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(people().to_csv(index=False) + end, encoding="utf-8")
    if refused is None:
        assert skbiasamp.audit_frame(str(path), random_state=0, **NAMES).context["n_samples"] == 601
        return
    with pytest.raises(ValueError, match=refused):
        skbiasamp.audit_frame(str(path), **NAMES)


def test_a_file_that_is_much_larger_than_it_looks_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr("skbiasamp._io._LARGE", 1000)  # else the test needs 100 MB
    path = tmp_path / "rows.csv.gz"
    rows = people(60)
    pd.concat([rows] * 400).to_csv(path, index=False)
    with pytest.warns(UserWarning, match=r"unpacks to .* times its size"):
        skbiasamp.audit_frame(str(path), random_state=0, auditor=DirectionalAuditor(), **NAMES)
