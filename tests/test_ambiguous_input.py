"""Columns that may mean two things are read right, or refused with a fix that works."""

import datetime
import os
import re
from contextlib import suppress
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from command_line import refused
from hypothesis import given, reject
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from test_frames import dask, duckdb, ibis, lazy_polars, pandas, polars, pyarrow

import skbiasamp
from skbiasamp import (
    AuditedClassifier,
    Contingency,
    DirectionalAuditor,
    LICAuditor,
    NumericAuditor,
    amplification_scorer,
)
from skbiasamp.metrics import directional_amplification

N = 120
RNG = np.random.default_rng(3)
SEX = np.array(["f", "m"])[RNG.integers(0, 2, N)].tolist()
HIRED = (RNG.random(N) < np.where(np.array(SEX) == "f", 0.3, 0.7)).astype(int).tolist()
CERTAIN = np.where(RNG.random(N) < 0.8, HIRED, 1 - np.array(HIRED)).astype(float).tolist()
NEARLY = np.clip(CERTAIN, 0.001, 0.999).tolist()
PLAIN = DirectionalAuditor(interval=None, reference="test")


def counted(y=HIRED, pred=CERTAIN, sex=SEX, **options):
    return Contingency.from_labels(y, pred, sensitive_features=sex, **options)


def shares(cells, side="task_pred", given="group"):
    return cells.rate(side, given=given)


def many(kinds):
    return pytest.mark.parametrize("hold", kinds.values(), ids=kinds)


FLOATS = {
    "list": list,
    **{kind: lambda v, kind=kind: np.array(v, kind) for kind in ("f2", "f8", ">f8")},
    "objects": lambda v: np.array(v, dtype=object),
    "Decimals": lambda v: [Decimal(str(one)) for one in v],
    "Series of Float64": lambda v: pd.Series(v, dtype="Float64"),
    "Series of Arrow doubles": lambda v: pd.Series(v, dtype=pd.ArrowDtype(pa.float64())),
    "polars Float32": lambda v: pl.Series(v, dtype=pl.Float32),
    "DataFrame of one column": lambda v: pd.DataFrame({"p": v}),
}
HOLD = (pandas, polars, lazy_polars, pyarrow, duckdb, dask, ibis)
FRAMES = {engine.__name__: engine for engine in HOLD} | {
    "pandas Float64": lambda frame: frame.convert_dtypes().astype({"p": "Float64"}),
    "DuckDB decimals": lambda frame: duckdb(frame).project("* replace (p::decimal(3, 2) as p)"),
}
COLUMNS = {"target": "y", "prediction": "p", "sensitive": "a"}
# Ibis calls a method that DuckDB has renamed.
pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")


def frame_of(y=HIRED, p=CERTAIN, a=SEX, **more):
    return pd.DataFrame({"y": y, "p": p, "a": a, **more})


# --------------------------------------------------------------------------- floats 0.0 and 1.0

AMBIGUOUS = r"holds only the floats 0\.0 and 1\.0.* or probabilities of the positive class, 0"


@many(FRAMES)
def test_floats_of_frames_are_refused_if_0_is_the_positive_class(hold):
    with pytest.raises(ValueError, match=rf"^column 'p' \(prediction\) {AMBIGUOUS}"):
        Contingency.from_frame(hold(frame_of()), **COLUMNS, pos_label=0)


def test_floats_of_both_classes_are_probabilities_though_0_is_the_positive_one():
    no = 1 - np.array(CERTAIN)
    how = {"sensitive_features": SEX, "pos_label": 0}
    both = directional_amplification(HIRED, np.column_stack([no, CERTAIN]), **how)
    nearly = directional_amplification(HIRED, 1 - np.array(NEARLY), **how)
    assert both == pytest.approx(nearly, abs=2e-3)
    classes = np.array(CERTAIN).astype(int)
    assert both == pytest.approx(directional_amplification(HIRED, classes, **how), abs=1e-12)


def test_floats_beside_a_sensitive_feature_in_text_are_probabilities():
    men = (np.array(SEX) == "m").astype(float)
    cells = counted(sensitive_pred=men)
    assert (cells.groups, cells.soft("group_pred")) == (("f", "m"), True)
    assert shares(cells, "group_pred", "task") == pytest.approx(shares(cells, "group", "task"))
    whole = counted(sex=men.astype(int), sensitive_pred=men)
    assert (whole.groups, whole.soft("group_pred")) == ((0, 1), False)


def test_floats_are_classes_if_they_can_be_no_probabilities():
    three = np.array(HIRED) + 2 * (RNG.random(N) < 0.3)
    assert counted(three % 3).soft("task_pred") is False
    assert counted(three % 3).classes == (0, 1, 2)
    categories = counted(pred=pd.Categorical(CERTAIN), pos_label=0)
    assert categories == counted(pred=np.array(CERTAIN, int), pos_label=0)
    # A constant label has both classes too.
    assert not counted([0] * N, [0.0] * N).soft("task_pred")
    assert counted([True] * N, CERTAIN).pos_label is True
    with pytest.raises(ValueError, match="one column of probabilities but there are 3 classes"):
        counted(np.array(["a", "b", "c"])[three % 3])


def test_floats_are_read_as_the_training_labels_say():
    train = counted(["no", "yes"] * (N // 2), None)
    cells = counted(["yes"] * N, [1.0] * N, like=train)
    assert cells.soft("task_pred")
    assert shares(cells).tolist() == [[1.0], [1.0]]


def test_what_a_classifier_predicts_is_a_class():
    """Labels that are floats make classifiers predict floats."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    sex = np.where(X[:, 0] + rng.normal(size=300) > 0, "f", "m")
    y = (X.sum(axis=1) + rng.normal(size=300) > 0).astype(int)
    plain = DirectionalAuditor(pos_label=0, interval=None, reference="test")
    of_rows = {"sensitive_features": sex}
    found = []
    for labels in (y, y.astype(float)):
        audited = AuditedClassifier(LogisticRegression(), auditor=plain).fit(X, labels, **of_rows)
        scored = amplification_scorer(plain)(audited, X, labels, **of_rows)
        found.append([audited.audit(X, labels, **of_rows).value, scored])
    assert found[0] == pytest.approx(found[1], abs=1e-12)


def test_one_of_several_models_is_certain():
    y = np.array(["no", "yes"])[HIRED]
    cells = Contingency.from_labels(
        y, y_preds={"tree": CERTAIN, "forest": NEARLY}, sensitive_features=SEX
    )
    rates = [cells.model(name).rate("task_pred", given="group") for name in ("tree", "forest")]
    np.testing.assert_allclose(*rates, atol=2e-3)


# --------------------------------------------------------------------------- without labels


@many(FLOATS)
def test_floats_are_refused_if_0_is_the_positive_class(hold):
    whole = np.array(CERTAIN, int)
    for y in (HIRED, None):
        for options in ({"pos_label": 0}, {"like": counted(pred=None, pos_label=0)}):
            with pytest.raises(ValueError, match=rf"^y_pred {AMBIGUOUS}"):
                counted(y, hold(CERTAIN), **options)
        # If 1 is the positive class, both readings are the same.
        assert counted(y, hold(CERTAIN), pos_label=None if y is None else 1) == counted(y, whole)


def test_the_fix_without_labels():
    """P(class 0) that is 0.0 and 1.0, read as the class, gave the rates of the other class."""
    no = 1 - np.array(CERTAIN)
    with pytest.raises(ValueError, match=rf"{AMBIGUOUS}.*as classes too: \(p < 0\.5\)") as refusal:
        skbiasamp.selection_rates(no, sensitive_features=SEX, favourable=0)
    fixed = eval(str(refusal.value).rpartition(": ")[2].rstrip("."), {"p": no})
    rates = [
        skbiasamp.selection_rates(given, sensitive_features=SEX, favourable=0, **more).table
        for given, more in ((fixed, {}), (no, {"threshold": 0.5}))
    ]
    expected = [1 - np.mean([c for c, s in zip(CERTAIN, SEX, strict=True) if s == g]) for g in "fm"]
    for table in rates:
        assert table["task"].tolist() == [0, 0]
        assert table["selection_rate"].tolist() == pytest.approx(expected)


BITS = st.lists(st.integers(0, 1), min_size=8, max_size=8)
DAYS = [datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)]
PAIRS = [[0, 1], [False, True], [0.0, 1.0], ["no", "yes"], ["0", "1"], DAYS]
PAIRS += [[1, 2], [-1, 1], [-1, 0], [0, 2]]


@given(
    st.sampled_from(PAIRS),
    BITS,
    BITS,
    st.sampled_from([None, 0, 1]),
    st.sampled_from([*FLOATS]),
    st.booleans(),
)
def test_floats_mean_what_numbers_near_them_mean(classes, y, bits, positive, hold, labelled):
    """Whatever the classes are: the same rates as of 0.001 and 0.999, or an error."""
    labels = classes + [classes[one] for one in y]
    values = [0.0, 0.0, *map(float, bits)]
    how = {"sex": ["f", "m"] * 5, "pos_label": None if positive is None else classes[positive]}
    if not labelled:
        how = {"sex": how["sex"], "like": counted(labels, None, **how)}
        labels = None
    nearly = counted(labels, np.clip(values, 0.001, 0.999), **how)
    with suppress(ValueError, TypeError):
        certain = counted(labels, FLOATS[hold](values), **how)
        assert certain.tasks == nearly.tasks == (classes[1 if positive is None else positive],)
        np.testing.assert_allclose(shares(certain), shares(nearly), atol=2e-3)
        if labelled:
            assert (certain + nearly).soft("task_pred")
        return
    # They are refused only if the reading makes a difference.
    positive = classes[1 if positive is None else positive]
    assert any(one in classes and (one == 1) != (one == positive) for one in set(values))


# ------------------------------------------------------------------ days, chunks and stores


@pytest.mark.parametrize("classes", [[0, 1], ["no", "yes"]])
def test_a_day_of_certain_scores_adds_up_with_the_others(classes):
    """All days together are one data set, whichever order they are added in."""
    y, score, half = [classes[one] for one in HIRED], RNG.random(N), N // 2
    days = [
        counted(y[:half], score[:half], SEX[:half]),
        counted(y[half:], CERTAIN[half:], SEX[half:]),
    ]
    whole = counted(y, [*score[:half], *CERTAIN[half:]])
    for first, last in (days, [Contingency.from_json(day.to_json()) for day in days]):
        assert first + last == whole == last + first
        assert Contingency.sum([last, first, last]).soft("task_pred")


def test_classes_still_do_not_add_up_with_probabilities():
    whole, certain, soft = (counted(pred=p) for p in (np.array(CERTAIN, int), CERTAIN, NEARLY))
    assert (whole + certain) == (certain + whole) == counted(HIRED * 2, CERTAIN * 2, SEX * 2)
    for parts in ([whole, soft], [certain, soft, whole], [whole, certain, soft]):
        with pytest.raises(ValueError, match="tasks of different kinds"):
            Contingency.sum(parts)
    with pytest.raises(ValueError, match="tasks of different kinds"):
        (whole + certain) + soft


def test_periods_are_read_with_the_positive_class():
    """Probabilities in one column are those of the positive class, as in every other audit."""
    rows = pd.concat([frame_of(p=1 - RNG.random(N), m=month) for month in ("1", "2")])
    how = {"time": "m", "every": None, "pos_label": 0, "n_draws": 19, **COLUMNS}
    timeline = skbiasamp.audit_over(rows, auditor=DirectionalAuditor(), **how)
    first = rows[rows["m"] == "1"]
    auditor = DirectionalAuditor(interval=None, pos_label=0).fit(
        first["y"], sensitive_features=first["a"]
    )
    expected = [
        auditor.score(one["y"], one["p"], sensitive_features=one["a"])
        for _, one in rows.groupby("m")
    ]
    np.testing.assert_allclose(timeline.periods["value"], expected, atol=1e-12)
    with pytest.raises(ValueError, match=AMBIGUOUS):
        skbiasamp.audit_over(rows.assign(p=[*CERTAIN, *CERTAIN]), **how)


@pytest.mark.parametrize(
    ("classes", "new", "positive", "engine"),
    [([0, 1], 2, None, "pandas"), ([0, 1], 2, 0, "polars"), (["no", "yes"], "maybe", 1, "duckdb")],
)
def test_classes_that_only_later_periods_have_are_left_out(classes, new, positive, engine):
    """One column of probabilities can be of two classes only, which are those of the reference."""
    y = np.array(classes, dtype=object)[HIRED * 3]
    rows = frame_of(y, RNG.random(3 * N), SEX * 3, m=np.repeat(["1", "2", "3"], N), w=1)
    pos_label = None if positive is None else classes[positive]
    how = {"time": "m", "every": None, "pos_label": pos_label, "n_draws": 19, "weight": "w"}
    plain = DirectionalAuditor(interval=None)
    # A row of the first period that does not count, a fifth of the second, and all of the third.
    rows.loc[0, ["y", "w"]] = [new, 0]
    other = rows.assign(y=rows["y"].mask((rows.index >= N) & (rows.index % 5 == 0), new))
    other["y"] = other["y"].mask(other["m"] == "3", new).infer_objects()
    kept = other[other["y"] != new]
    kept = kept.assign(y=kept["y"].infer_objects())
    timeline = skbiasamp.audit_over(FRAMES[engine](other), auditor=plain, **how, **COLUMNS)
    expected = skbiasamp.audit_over(kept, auditor=plain, **how, **COLUMNS)
    values = timeline.periods["value"].tolist()[:2]
    assert values == pytest.approx(expected.periods["value"].tolist())
    assert timeline.periods["n"].tolist() == [N - 1, N * 4 / 5, 0]
    text = "{:.0f} rows of the class {!r}, which the reference lacks, are left out.".format
    notes = {note["period"]: note["text"] for note in timeline.notes}
    assert notes["2"] == text(N / 5, new)
    assert f"{N} rows of the class {new!r}" in notes["3"]
    with pytest.raises(ValueError, match=f"The period 2 has the class {new!r}"):
        skbiasamp.audit_over(other, auditor=plain, strict=True, **how, **COLUMNS)


# --------------------------------------------------------------------------- one type a column

OBJECTS = {
    "list": list,
    "Categorical": pd.Categorical,
    "polars objects": lambda v: pl.Series(v, dtype=pl.Object),
}


def test_a_stray_cell_in_a_long_file(tmp_path):
    """pandas.read_csv reads it in parts, and 1 and '1' were printed as two groups."""
    n = 300_000
    rows = pd.DataFrame(
        {"y": np.tile([0, 1], n // 2), "a": np.tile([1, 1, 2], n // 3).astype(object)}
    )
    rows.loc[n - 10, "a"] = "?"
    path = tmp_path / "long.csv"
    rows.to_csv(path, index=False)
    with pytest.warns(pd.errors.DtypeWarning):
        read = pd.read_csv(path)
    named = {"target": "y", "prediction": "y", "sensitive": "a"}
    with pytest.raises(ValueError, match=r"numbers in [\d,]+ rows \(such as 1 and 2\) and text in"):
        skbiasamp.audit_frame(read, **named)
    with pytest.raises(ValueError, match=r"must hold values of one type"):
        counted(read["y"], None, read["a"])
    # The fix, and a file that is read by whoever sees all of it.
    groups = ("1", "2", "?")
    fixed = Contingency.from_frame(pd.read_csv(path, dtype={"a": str}), **named)
    assert sorted(fixed.groups) == sorted(groups)
    report = skbiasamp.audit_frame(str(path), **named, auditor=PLAIN)
    assert sorted(report.context["groups"]) == sorted(groups)


VALUES = [1, 2, "1", "2", 1.0, True, "True", None, b"1", np.int64(1), np.float32(2), Decimal(1)]
VALUES += [datetime.date(2026, 1, 1), "2026-01-01", pd.Timestamp("2026-01-01"), np.nan, pd.NA]
VALUES += [pd.Timestamp("2026-01-01", tz="UTC")]


@given(
    st.lists(st.sampled_from(VALUES), min_size=4, max_size=8), st.sampled_from([*OBJECTS, "frame"])
)
def test_no_two_groups_look_the_same(values, hold):
    y = np.arange(len(values)) % 2
    try:
        held = pd.Series(values, dtype=object) if hold == "frame" else OBJECTS[hold](values)
    except ValueError:  # pandas takes Decimal(1) and 1 for two categories that are equal
        reject()
    with suppress(ValueError, TypeError):
        if hold == "frame":
            frame = pd.DataFrame({"y": y, "a": held})
            named = {"target": "y", "sensitive": "a"}
            groups = Contingency.from_frame(frame, **named, missing="group").groups
        else:
            groups = counted(y, None, held, missing="group").groups
        assert len(set(map(str, groups))) == len(groups)
        return
    present = [one for one in values if not pd.isna(one)]
    assert len({(type(one), getattr(one, "tzinfo", None)) for one in present}) > 1


def test_values_of_one_kind_are_groups_that_stay_apart():
    # Whole floats became integers of 64 bits, and two groups one.
    for large in ([2.0**63, 2.0**64], [-(2.0**63), 2.0**63], [2.0**63, 2.0**63 + 2048]):
        for hold in (pd.Categorical, np.array):
            cells = counted(sex=hold(large * (N // 2)))
            assert cells.groups == tuple(map(int, sorted(large)))
    truths = np.array([True, False, 1, 0] * (N // 4), dtype=object)
    assert len(counted(sex=truths).groups) == 2


# --------------------------------------------------------------------------- names that look alike

NFC, NFD = "caf\u00e9", "cafe\u0301"
ALIKE = {
    "normal forms": (NFC, NFD),
    "a zero-width space": ("yes", "yes\u200b"),
    "a soft hyphen": ("yes", "y\u00ades"),
    "a variation selector": ("\u2764", "\u2764\ufe0f"),
    "a control character": ("yes", "yes\x07"),
}
alike = pytest.mark.parametrize(("name", "other"), ALIKE.values(), ids=ALIKE)


@alike
def test_predictions_that_look_like_labels_are_refused(name, other):
    y, predicted = np.array(["no", name])[HIRED], np.array(["no", other])[HIRED]
    for hold in (list, pl.Series, pd.Categorical):
        message = f"y_pred holds {other!a} where y_true holds {name!a}"
        with pytest.raises(ValueError, match=f"^{re.escape(message)}.*would be two labels"):
            counted(hold(y), hold(predicted))
    with pytest.raises(ValueError, match=r"^sensitive_pred holds .* where sensitive_features"):
        counted(sex=y, sensitive_pred=predicted)
    message = re.escape(f"{other!a} where the training data holds {name!a}")
    with pytest.raises(ValueError, match=message):
        counted(sex=predicted, like=counted(sex=y))
    with pytest.raises(ValueError, match="which would be two labels"):
        Contingency.from_frame(duckdb(frame_of(y, predicted)), **COLUMNS)


@alike
def test_groups_and_tasks_that_look_the_same_are_found(name, other):
    names = np.array([name, other, "third"])[RNG.integers(0, 3, N)]
    tags = pd.DataFrame({name: HIRED, other: CERTAIN, "c": HIRED}).astype(int)
    turned = tags[::-1].reset_index(drop=True)
    for labels, sex, topic in (
        ((HIRED, CERTAIN), names, "group spelling"),
        ((names, names[::-1]), SEX, "task spelling"),
        ((tags, turned), SEX, "task spelling"),
    ):
        report = skbiasamp.audit(*labels, sensitive_features=sex, auditor=PLAIN)
        (found,) = (one for one in report.findings if one.topic == topic)
        assert found.severity == "wrong"
        assert {ascii(name), ascii(other)} <= set(re.findall(r"'[^']*'", found.text))
        assert found.text.isascii()
        assert "invisible characters" in found.text


# --------------------------------------------------------------------------- texts

CAPTIONS = [f"a {'woman' if one == 'f' else 'man'} with {i} bikes" for i, one in enumerate(SEX)]
ANSWERS = [f"a person rides {i} bikes" for i in range(N)]


def test_the_ways_out_of_texts(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    frame_of(CAPTIONS, ANSWERS).to_csv("rows.csv", index=False)
    names = ("--target", "y", "--prediction", "p", "--sensitive", "a")
    said = refused(capsys, "audit", "rows.csv", *names)
    assert said.startswith("--target y must hold classes; got 120 different texts")
    assert "--auditor skbiasamp:LICAuditor" in said
    assert "--text and --labels" in said
    lic = LICAuditor(n_draws=1, cv=2, interval=None, random_state=0)
    report = skbiasamp.audit(CAPTIONS, ANSWERS, sensitive_features=SEX, auditor=lic)
    assert list(report) == ["LIC"]


def test_few_texts_and_classes_of_several_words_are_classes():
    few = [f"a caption of {i}" for i in range(10)]
    assert len(counted(few, None, SEX[:10]).tasks) == 10
    scenes = [f"art gallery {i % 30}" for i in range(N)]
    assert len(counted(scenes, scenes).tasks) == 30
    # A chunk has fewer rows than there are classes: those of training are known.
    train = counted([f"art gallery {i}" for i in range(100)] * 3, None, SEX[:100] * 3)
    assert len(counted(scenes[:30], None, SEX[:30], like=train).tasks) == 100
    verbs = [f"verb{i}" for i in range(N)]
    assert len(counted(verbs, verbs).tasks) == N


PEOPLE_DO = {  # captions in languages without spaces, without articles, or with three words
    "Chinese": ("女人 男人 一个孩子 两只狗", "在公园里跑步 骑着自行车 正在做饭 在街上走路"),
    "Thai": ("ผู้หญิง ผู้ชาย เด็ก สุนัข", "กำลังวิ่งในสวน กำลังขี่จักรยาน ยืนอยู่บนถนน กำลังทำอาหาร"),
    "French": ("une_femme un_homme la_fille le_chien", "_court _cuisine _mange _fait_du_vélo"),
    "articles": ("a_woman a_man the_child a_dog", "_runs _cooks _eats _rides_bikes"),
    "verbs": ("woman man child dog", "_is_running _is_cooking _is_eating _sleeps"),
}


@pytest.mark.parametrize("language", PEOPLE_DO)
def test_captions_of_other_languages_or_few_words_are_texts(language):
    who, what = (words.split() for words in PEOPLE_DO[language])
    captions = [(one + doing).replace("_", " ") for one in who for doing in what]
    for times in (1, 8):
        labels = captions * times
        sex = (["f"] * 8 + ["m"] * 8) * times
        message = rf"^y_true must hold classes; got 16 different texts in {16 * times} rows"
        with pytest.raises(ValueError, match=message) as refusal:
            counted(labels, labels, sex)
        unspaced = language in ("Chinese", "Thai")
        assert ("Put spaces between their words first." in str(refusal.value)) == unspaced


NAMES = {
    "diseases": [
        *("Certain infectious and parasitic diseases", "Neoplasms"),
        "Endocrine, nutritional and metabolic diseases",
        *(f"Diseases of the {one} system" for one in ("nervous", "circulatory", "digestive")),
        *(f"Diseases of the {one}" for one in ("eye and adnexa", "ear", "skin", "blood")),
    ],
    "actions": [f"{verb} a {what}" for verb in ("Opening", "Holding") for what in "abcdefgh"],
    "products": [f"{who} {what} Shoes" for who in ("Men", "Women", "The Kids") for what in "ABCDE"],
    "codes with names": [f"A {i} Other {i}" for i in range(10, 30)],
    "Chinese jobs": [
        *("软件工程师", "房地产开发经营人员", "计算机程序设计员", "其他金融业人员"),
        *("在线教育服务人员", "中小学教育教师", "会计专业人员", "护理人员"),
        *("保险服务人员", "餐饮服务人员", "采购人员"),
    ],
    "Thai jobs": [
        *("พนักงานขายในร้านค้า", "วิศวกรซอฟต์แวร์", "ครูโรงเรียนประถมศึกษา"),
        *("พยาบาลวิชาชีพ", "นักบัญชี", "พนักงานขับรถโดยสาร", "ผู้จัดการฝ่ายการตลาด"),
        *("เจ้าหน้าที่ธุรการ", "ช่างไฟฟ้าอาคาร", "ทนายความอิสระ", "เกษตรกรผู้ปลูกข้าว"),
    ],
}


@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
def test_names_of_several_words_are_classes(names):
    labels = names * 4
    sex = (["f"] * len(names) + ["m"] * len(names)) * 2
    assert len(counted(labels, labels, sex).tasks) == len(names)


def test_models_captions_are_texts_though_each_repeats_four_times():
    path = Path(os.environ.get("SKBIASAMP_DATA", "../shared/data")) / "captions_models.csv.gz"
    if not path.exists():
        pytest.skip(f"needs {path}")
    models = pd.read_csv(path)
    for model in ("nic_plus", "fc", "updn"):
        with pytest.raises(ValueError, match=r"must hold classes; got .* different texts"):
            counted(models[model].tolist(), None, models["gender"].tolist())


# --------------------------------------------------------------------------- amounts

WAGES = RNG.normal(3000, 800, N).round(2)
GUESSED = (WAGES + RNG.normal(0, 90, N)).round(2)


@pytest.mark.parametrize("engine", ["pandas", "lazy_polars", "duckdb"])
def test_wages_are_sent_to_the_auditor_of_numbers(engine):
    for y in (WAGES, WAGES.astype(int)):
        held = FRAMES[engine](frame_of(y, GUESSED))
        with pytest.raises(ValueError, match="NumericAuditor") as caught:
            skbiasamp.audit_frame(held, **COLUMNS)
        assert "sigmoid" not in str(caught.value)
        with pytest.raises(ValueError, match="NumericAuditor"):
            skbiasamp.audit(y, GUESSED, sensitive_features=SEX)
        report = skbiasamp.audit_frame(held, **COLUMNS, auditor=NumericAuditor(interval=None))
        assert np.isfinite(next(iter(report.values())).value)


def test_logits_of_a_binary_label_are_scores_that_need_a_sigmoid():
    """1 and 3 were read as numbers beside scores, and 1 and 2 as classes."""
    score = RNG.normal(0, 3, N)
    for classes in ([0, 1], [1, 2], [1, 3], [0, 9], ["no", "yes"]):
        y = np.array(classes)[HIRED]
        with pytest.raises(ValueError, match="sigmoid") as caught:
            counted(y, score)
        assert "NumericAuditor" not in str(caught.value)
        assert counted(y, score, scores=True).classes == tuple(classes)


def test_numbers_of_many_values_are_pointed_out_as_groups():
    frame = pd.DataFrame({"y": [0, 1] * 3000, "p": [1, 0] * 3000, "age": np.arange(6000) % 62})
    named = {"target": "y", "prediction": "p", "sensitive": "age", "auditor": PLAIN}
    for held in (frame, pl.from_pandas(frame).lazy(), duckdb(frame)):
        report = skbiasamp.audit_frame(held, **named)
        (found,) = (one for one in report.findings if one.topic == "numbers as groups")
        assert "pandas.cut" in found.action
    held = frame.assign(age=pd.cut(frame["age"], [-1, 12, 32, 82]))
    report = skbiasamp.audit_frame(held, **named)
    assert [one for one in report.findings if one.topic == "numbers as groups"] == []
