"""Same meaning, same number: names of columns, of groups and classes, and rows in files."""

import numpy as np
import pandas as pd
import pytest

import skbiasamp
from skbiasamp import DirectionalAuditor, LeakageAuditor, MultiAttributeAuditor


@pytest.mark.parametrize(("before", "after"), [("", ""), ("p_", ""), ("Prob ", "_pred")])
@pytest.mark.parametrize("form", [str, str.upper])
@pytest.mark.parametrize("kind", ["chances", "numbered", "tags", "tags by position"])
def test_columns_of_predictions_are_found_by_their_names(kind, form, before, after):
    rng, classes = np.random.default_rng(0), np.arange(90) % 3
    how = {"sensitive_features": rng.choice(["a", "b"], 90)}
    names = {"chances": ["Driver", "clerk", "cook"], "tags": ["t0", "t1", "t2"]}
    names = names.get(kind, ["0", "1", "2"])
    labels = np.array(names)[classes] if kind == "chances" else classes
    predicted = rng.dirichlet([1, 1, 1], 90)
    if kind.startswith("tags"):
        labels, predicted = (rng.random((2, 90, 3)) < 0.4).astype(int)
    auditor = DirectionalAuditor(reference="test", interval=None)
    expected = auditor.score(labels, predicted, **how)
    if kind == "tags":  # without names, labels may be called by their position
        labels = pd.DataFrame(labels, columns=names)
    columns = [form(f"{before}{names[i]}{after}") for i in (2, 0, 1)]
    titled = pd.DataFrame(predicted[:, [2, 0, 1]], columns=columns)
    assert auditor.score(labels, titled, **how) == pytest.approx(expected, abs=1e-12)
    if not kind.startswith("tags"):
        with pytest.raises(ValueError, match="only some match"):
            auditor.score(labels, titled.set_axis([*columns[:2], "another"], axis=1), **how)
        with pytest.warns(UserWarning, match="none of which is one of .*taken in this order"):
            found = auditor.score(labels, pd.DataFrame(predicted, columns=list("xyz")), **how)
        assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_attackers_at_one_seed_do_not_know_names(n_classes):
    rng = np.random.default_rng(0)
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


def people():
    rng = np.random.default_rng(0)
    sex, label = rng.choice(["male", "female"], 600), (rng.random(600) < 0.4).astype(int)
    return pd.DataFrame({"y": label, "p": 1 - label, "sex": sex})


NAMES = {"target": "y", "prediction": "p", "sensitive": "sex"}


def test_days_of_a_file_are_those_of_its_own_zone(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    frame = people()
    frame["time"] = pd.date_range("2024-01-01 00:30", periods=600, freq="h", tz="UTC")
    frame["time"] = frame["time"].dt.tz_convert("America/New_York")
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
