"""Input that cannot be audited: one error that names the parameter and what was seen in it."""

import re
from fractions import Fraction
from importlib.util import find_spec

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hostile import FRAME, HIRED, PREDICTED, SEX, SKIN, TAGS, N, Odd, X
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import skbiasamp
from skbiasamp import (
    AuditedClassifier,
    Contingency,
    DirectionalAuditor,
    LeakageAuditor,
    LICAuditor,
    MALSAuditor,
    MultiAttributeAuditor,
    NumericAuditor,
    amplification_scorer,
    cross_audit,
    metrics,
    mitigation,
    model_selection,
    text,
)
from skbiasamp.attackers import ExactAttacker, MLPAttacker
from skbiasamp.cli import main
from skbiasamp.datasets import load_colored_digits, make_biased_classification
from skbiasamp.inference import adjust_p_values, paired_p_values, required_rows
from skbiasamp.metrics import directional_amplification, function_of, multi_attribute_amplification
from skbiasamp.mitigation import AdversarialClassifier, search
from skbiasamp.results import find_changed_rows
from skbiasamp.testing import assert_amplification

NAN, INF = float("nan"), float("inf")
BY = {"sensitive_features": SEX}
AGES = [20.5 + i / 2 for i in range(N)]
JOBS = ["cook", "nurse", "clerk", "nurse"] * (N // 4)
HALF = [0.5] * N
TWO = pd.DataFrame({"a": HIRED, "b": PREDICTED})
TURNED = TWO[["b", "a"]]
BOTH = pd.DataFrame({"sex": SEX, "skin": SKIN})
CAPTIONS = [f"a {'woman' if one == 'f' else 'man'} with {i} bikes" for i, one in enumerate(SEX)]
QUICK = (HIRED, PREDICTED)
NAMED = {"target": "hired", "prediction": "pred", "sensitive": "sex"}
LAZY = pl.from_pandas(FRAME).lazy()
LINEAR = LogisticRegression()
needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="needs torch")


def count(y=HIRED, pred=None, sex=SEX, **options):
    return Contingency.from_labels(y, pred, sensitive_features=sex, **options)


def fitted(y=HIRED, sex=SEX, kind=DirectionalAuditor, **options):
    return kind(interval=None, **options).fit(y, sensitive_features=sex)


def score(y=HIRED, pred=PREDICTED, sex=SEX, auditor=None, **options):
    return (auditor or fitted()).score(y, pred, sensitive_features=sex, **options)


def measure(**options):
    return directional_amplification(HIRED, PREDICTED, **BY | options)


def measure_sets(**options):
    return multi_attribute_amplification(HIRED, PREDICTED, **BY, **options)


def leakage(**options):
    return LeakageAuditor(**{"attacker": "exact", "interval": None, "cv": 2} | options)


def runs(y_preds=(PREDICTED, HIRED), **options):
    auditor = DirectionalAuditor(reference="test", interval=None)
    return auditor.audit_runs(HIRED, y_preds, **BY | options)


def first(value, labels=HIRED):
    return [value, *labels[1:]]


def table(values, index=("f", "m"), columns=(1,)):
    return pd.DataFrame(values, list(index), list(columns))


def towards_groups():
    return fitted(direction="T->A")


def curve(scores=X["b"], **options):
    return model_selection.amplification_curve(HIRED, scores, **BY, **options)


def crossed(estimator, **options):
    return cross_audit(estimator, X, HIRED, **{"auditor": DirectionalAuditor()} | BY | options)


def over(frame=FRAME, **options):
    frame = frame.assign(day=pd.date_range("2026-01-01", periods=N, freq="5D"))
    return skbiasamp.audit_over(frame, **{"time": "day", **NAMED, **options})


def of_texts(y_pred=CAPTIONS, auditor=None, **options):
    return skbiasamp.audit(CAPTIONS, y_pred, **BY, auditor=auditor or LICAuditor(), **options)


def of_counts(n):
    return Contingency.from_counts(pd.DataFrame({"task": [0, 1], "group": ["f", "m"], "n": n}))


# --------------------------------------------------------------------------- whatever holds it

HELD = {
    "list": list,
    "array": np.array,
    "objects": lambda values: np.array(values, dtype=object),
    "Series": pd.Series,
    "polars": pl.Series,
    "pyarrow": pa.array,
}
MIXED_TYPES = ("list", "objects", "Series")  # others hold values of one type
OF_ANY_CONTAINER = {
    "too few rows": (lambda held: score(pred=held(PREDICTED[:5])), "y_pred", "5 rows but y_true"),
    "no rows": (lambda held: fitted(held([]), held([])), "y_train", "is empty: there are no rows"),
    "unseen groups": (
        lambda held: score(sex=held(["x", "y"] * (N // 2))), "groups 'x' and 'y'", "Training had"
    ),
    "one group": (lambda held: fitted(sex=held(["f"] * N)), "sensitive_features", "only, 'f'"),
    "continuous": (lambda held: count(held(AGES)), "y_true", "continuous (it holds 20.5"),
    "continuous groups": (lambda held: count(sex=held(AGES)), "sensitive_features", "20.5"),
    "a logit": (lambda held: score(pred=held(first(1.5, HALF))), "y_pred", "in [0, 1]; got 1.5."),
    "below 0": (lambda held: score(pred=held(first(-0.5, HALF))), "y_pred", "in [0, 1]; got -0.5."),
    "text beside numbers": (
        lambda held: count(held(HIRED), held([str(one) for one in HIRED])),
        "y_pred", "but y_true holds numbers",
    ),
    "text after numbers": (
        lambda held: score(*[held([str(one) for one in HIRED])] * 2, auditor=fitted(held(HIRED))),
        "y_true", "but the training data holds numbers (0 and 1)",
    ),
    "missing labels": (lambda held: count(held(first(None))), "y_true", "1 row, at position 0"),
    "missing groups": (
        lambda held: count(sex=held(first(None, SEX))), "sensitive_features", "missing='drop'",
    ),
    "numbers and text": (
        lambda held: count(sex=held([1, "1"] * (N // 2))),
        "sensitive_features", f"one type; got numbers in {N // 2} rows",
    ),
    "sets": (lambda held: count(held([{1}] * N)), "y_true", "sets such as {1}"),
    "infinite": (lambda held: count(held(first(INF))), "y_true", "infinite values in 1 row, at"),
}  # fmt: skip


def refused(call, name, seen):
    """The error is of one kind, names the parameter, and can be shown to anybody."""
    with pytest.raises((ValueError, TypeError)) as caught:
        call()
    said = str(caught.value)
    assert re.search(rf"(?<!\w){re.escape(name)}(?!\w)", said), said
    assert seen in said
    assert not re.search(r"np\.|numpy\.|0x|<", re.sub("<lambda>|np.column_stack", "", said)), said
    assert said.endswith((".", ")", "?")), said
    return said


@pytest.mark.parametrize("what", OF_ANY_CONTAINER)
def test_input_of_any_container_is_refused_by_name(what):
    call, name, seen = OF_ANY_CONTAINER[what]
    for held in MIXED_TYPES if what in ("numbers and text", "sets") else HELD:
        refused(lambda held=held: call(HELD[held]), name, seen)


# --------------------------------------------------------------------------- one table

SHAPES = [
    (lambda: score(sex=SEX * 2), "sensitive_features", "48 rows but y_true has 24"),
    (lambda: score(sensitive_pred=SEX[:1]), "sensitive_pred", "1 row but y_true has 24"),
    (
        lambda: count(sex={"sex": SEX, "skin": SKIN[:5]}, missing="group"),
        "sensitive_features['skin']", "5 rows but sensitive_features['sex'] has 24",
    ),
    (lambda: count(pd.Series(HIRED), None, pd.Series(SEX)[::-1]), "y_true", "(row 0: 0 and 23)"),
    (
        lambda: count(pd.Series(HIRED, range(7, N + 7)), None, pd.Series(SEX, range(8, N + 8))),
        "y_true", "overlapping index labels at other positions",
    ),
    (lambda: count(np.zeros((N, 0))), "y_true", "no columns, its shape is (24, 0)"),
    (lambda: count(sex="f"), "sensitive_features", "Got str instead"),
    (lambda: count(np.zeros((N, 2, 2))), "y_true", "got shape (24, 2, 2)"),
    (lambda: count(TAGS, [np.zeros((N, 2))] * 2), "y_pred", "is a list of 2 tables"),
    (lambda: count([[1], [1, 0]] * (N // 2)), "y_true", "rows of different lengths"),
    (lambda: count(None), "y_true", "is None: pass the labels"),
    (lambda: count(sex=None), "sensitive_features", "is None"),
    (lambda: count(sex=pl.LazyFrame({"a": SEX})), "sensitive_features", "collect()"),
    (
        lambda: count(pd.DataFrame(TAGS, columns=["a", "a"])),
        "y_true", "more than one column named 'a'",
    ),
    (lambda: count(TAGS, np.zeros((N, 3))), "y_true", "2 columns but y_pred has 3"),
    (lambda: count(TAGS, HIRED), "y_true", "2 columns but y_pred is one column"),
    (lambda: count(HIRED, np.ones((N, 3)) / 3), "y_pred", "3 columns but there are 2 classes"),
    (lambda: score(TAGS, TAGS), "y_true", "the training labels had one column"),
    (lambda: score(auditor=fitted(TAGS)), "y_true", "the training labels had 2 indicator columns"),
    (lambda: count(sex=BOTH, sensitive_pred=SEX), "sensitive_pred", "is one column"),
    (lambda: score(auditor=fitted(sex=BOTH)), "sensitive_features", "holds combinations"),
    (lambda: count(TWO, TWO.set_axis(["a", "c"], axis=1)), "y_pred", "only some match"),
    (lambda: count(sex=TWO, sensitive_pred=TURNED), "sensitive_pred", "in another order"),
    (lambda: score(sex=TURNED, auditor=fitted(sex=TWO)), "sensitive_features", "another order"),
    (
        lambda: score(sex=pd.Series(SEX, name="b"), auditor=fitted(sex=pd.Series(SEX, name="a"))),
        "sensitive_features", "name 'b', and the training labels had 'a'",
    ),
    (
        lambda: skbiasamp.audit_frame(FRAME, target=["hired"] * 2, sensitive="sex"),
        "target", "twice",
    ),
]  # fmt: skip
VALUES = [
    (lambda: score(sex=first("F", SEX)), "sensitive_features", "'F' where the training data holds"),
    (
        lambda: score(TWO.set_axis(["a", "c"], axis=1), TAGS, auditor=fitted(TWO)),
        "task 'c'", "(Training had 'a' and 'b'.)",
    ),
    (lambda: score(pred=first(None, PREDICTED)), "y_pred", "missing values in 1 row, at "),
    (lambda: count([None] * N, missing="drop"), "y_true", "24 rows, the first at position 0"),
    (
        lambda: score(auditor=towards_groups(), sensitive_pred=first(None, SEX)),
        "sensitive_pred", "missing values in 1 row",
    ),
    (lambda: count(np.where(TAGS == 1, NAN, 0)), "y_true", "missing values in"),
    (lambda: count(np.ma.array(HIRED, mask=[1] + [0] * 23)), "y_true", "missing values in 1 row"),
    (lambda: count(sex=np.array([NAN, *SEX[1:]])), "sensitive_features", "holds the text 'nan'"),
    (lambda: count(sex=[None] * N, missing="drop"), "sensitive_features", "nothing left to audit"),
    (
        lambda: measure(y_train=HIRED, sensitive_train=["f"] * N),
        "sensitive_train", "one group only, 'f'",
    ),
    (
        lambda: fitted(sex=[["f", "old"]] * N, groups="marginal"),
        "sensitive_features", "every row in every group",
    ),
    (lambda: count(sex={"a": SEX, "age": AGES}), "sensitive_features column 'age'", "20.5"),
    (lambda: count(np.array(HIRED) * 1j), "y_true", "got complex numbers"),
    (lambda: count([0.5, "a", *HIRED[2:]]), "y_true", "mixes labels with numbers"),
    (lambda: count(TAGS * 2), "y_true", "must be a 0/1 indicator of one label; got 2"),
    (lambda: count(sex=-TAGS, groups="indicator"), "sensitive_features", "got -1"),
    (lambda: count(TAGS, np.full((N, 2), 1.5)), "y_pred", "in [0, 1]; got 1.5."),
    (lambda: count(JOBS, np.full((N, 3), 0.9)), "y_pred", "must sum to 1; one sums to 2.7"),
    (lambda: count(JOBS, HALF), "y_pred", "there are 3 classes ('clerk', 'cook' and 'nurse')"),
    (lambda: count(["no"] * N, HALF), "y_pred", "of an unknown class: the labels are all 'no'"),
    (
        lambda: score(TAGS, TAGS * 0.5, auditor=fitted(TAGS, kind=MultiAttributeAuditor)),
        "y_pred", "holds probabilities",
    ),
    (lambda: count(HIRED, [1, "1"] * 12), "y_pred", "one type; got numbers in 12 rows"),
    (lambda: count(["a\ud800"] * N), "y_true", "is no Unicode"),
    (lambda: count(CAPTIONS, None, SEX), "y_true", "24 different texts in 24 rows"),
    (lambda: skbiasamp.audit(CAPTIONS, CAPTIONS, **BY), "y_true", "LICAuditor"),
    (lambda: count(["no", "yes"] * 12, CAPTIONS), "y_pred", "24 different texts in 24 rows"),
]  # fmt: skip
WEIGHTS = [
    (first(-1, [1] * N), "must be 0 or more; got negative values in 1 row, at position 0."),
    ([0] * N, "is zero in every row: there is nothing to audit"),
    (first(INF, [1] * N), "is not finite in 1 row, at position 0"),
    ([1e308] * N, "adds up to inf, which cannot be counted with"),
    ([5e-324] * N, "which cannot be counted with: divide it"),
    (first(NAN, [1] * N), "has missing values in 1 row, at position 0"),
    (pl.Series(first(None, [1] * N)), "has missing values in 1 row, at position 0"),
    (["1"] * N, "must hold numbers; got '1'"),
    (np.zeros(N, "M8[s]"), "must hold numbers"),
    (np.ones((N, 2)), "must be one column; got shape (24, 2)"),
]
COUNTS = [
    (lambda: of_counts([3, -2]), "column 'n'", "negative values in 1 row"),
    (lambda: of_counts(["3", "2"]), "column 'n'", "must hold numbers; got '3'"),
    (
        lambda: Contingency.from_counts(count().to_frame(), count="cnt"),
        "count", "there is no column 'cnt'",
    ),
    (
        lambda: Contingency.from_counts(pd.DataFrame({0: [1, 2], 1: ["x", 4]}, ["f", "m"])),
        "cross table", "'x' in column 1",
    ),
    (
        lambda: Contingency.from_counts(pd.crosstab(SEX, [HIRED, PREDICTED])),
        "frame", "must have the classes of one label as columns; got 2 levels",
    ),
    *(
        (lambda table=table: Contingency.from_counts(table), "frame", seen)
        for table, seen in [
            (pd.crosstab(SEX, HIRED, margins=True), "row 'All' that is the sum of the others"),
            (pd.crosstab([SEX, SKIN], HIRED, margins=True)[[0, 1]], "row 'All' that is the sum"),
            (pd.DataFrame({"no": [1, 2], "yes": [3, 0], "Total": [4, 2]}), "column 'Total' that"),
        ]
    ),
    (
        lambda: Contingency.from_counts(pd.DataFrame({0: [1, 2], 1: [-1, 4]}, ["f", "m"])),
        "table of counts", "negative values in 1 row, at position 1",
    ),
    (lambda: Contingency.sum(np.array(0)), "contingencies", "got ndarray"),
    (lambda: count(sex=BOTH["sex"]) + count(sex=BOTH["skin"]), "sensitive", "'sex' and 'skin'"),
    (lambda: count() + count(HIRED, PREDICTED), "'task_pred'", "Only one of two"),
    (lambda: count(HIRED, PREDICTED) + count(HIRED, HALF), "tasks", "different kinds"),
    (lambda: count(TWO) + count(TWO.set_axis(["a", "c"], axis=1)), "task columns", "'b' and 'c'"),
    (lambda: directional_amplification(count(), PREDICTED, **BY), "Contingency", "pass it alone"),
    (lambda: skbiasamp.audit(count(pred=PREDICTED), min_rows=9), "min_rows", "is for rows"),
    (
        lambda: skbiasamp.audit(
            count(HIRED, PREDICTED, sex=first(None, SEX), missing="drop"), missing="bounds"
        ),
        "missing='bounds'", "needs the rows without a group",
    ),
    (
        lambda: skbiasamp.audit(
            *QUICK, sensitive_features=BOTH.eq(SEX[0]), groups="indicator", given=SEX
        ),
        "given", "needs groups that do not overlap",
    ),
    (
        lambda: skbiasamp.audit(
            *QUICK, **BY, sample_weight=[1e3 + 0.5] * N, given=np.arange(N) // 2
        ),
        "given", "has 12 different strata in 24 rows",
    ),
    (
        lambda: skbiasamp.audit_frame(
            FRAME, target="hired", prediction="pred", sensitive="sex",
            train=FRAME.rename(columns={"hired": "was_hired"}),
        ),
        "train", "target must name a column; there is no column 'hired'",
    ),
    (lambda: count().select(groups=["f", "f"]), "groups", "some of 'f' and 'm', each once"),
    (lambda: count().to_json(7), "path", "got int"),
    (lambda: count().both("x"), "role", "must be one of 'task', 'group'"),
]  # fmt: skip
LACKING = [
    (lambda: score(auditor=towards_groups()), "sensitive_pred", "'T->A'"),
    (lambda: measure(direction="T->A"), "sensitive_pred", "'T->A'"),
    (lambda: score(pred=None), "y_pred", "compares the labels with their predictions"),
    (lambda: measure(y_train=HIRED), "sensitive_train", "is None. Pass both"),
    (lambda: DirectionalAuditor(reference="test").compare(HIRED, **BY), "y_preds", "is None"),
    (lambda: runs([PREDICTED]), "y_preds", "two runs or more; got 1"),
    (lambda: runs(TAGS), "y_preds", "got ndarray"),
    (lambda: runs([PREDICTED, HIRED[1:]]), "y_preds['run 2']", "has 23 rows"),
    (lambda: runs([PREDICTED, None]), "y_preds", "has no predictions of 'run 2'"),
    (lambda: runs(sensitive_preds=[SEX] * 3), "sensitive_preds", "as many runs as y_preds, 2"),
]  # fmt: skip
OPTIONS = [
    *(
        (lambda name=name, value=value: measure(**{name: value}), name, repr(value))
        for name, value in [
            ("direction", ["A->T"]), ("ties", "one"), ("base", 0.5), ("missing", "ignore"),
        ]
    ),
    (lambda: fitted(adjust="bonferroni"), "adjust", "'bonferroni'"),
    (lambda: fitted(confidence_level=95), "confidence_level", "95"),
    (lambda: measure(groups=["a", "b"]), "groups", "Got ['a', 'b']"),
    (lambda: measure(base=table([[0.5]], ["f"])), "base", "lacks group 'm' (it has 'f')"),
    (lambda: measure(base=table([[0.5]] * 2, columns=["1"])), "base", "lacks task 1 (it has '1')"),
    (lambda: measure(base=table([[0.5]] * 3, "fmm")), "base", "names a group twice"),
    (lambda: measure(base=table([[0.5], [1.5]])), "base", "got 1.5"),
    (lambda: measure(base=table([[0.5], [NAN]])), "base", "got nan"),
    (lambda: fitted(sign=table([[0.5], [1]])), "sign", "-1, 0 or 1 for every pair; got 0.5"),
    (lambda: measure(sign=np.ones((2, 1))), "sign", "Got array"),
    *(
        (lambda o=o: measure_sets(**o), *o, repr(*o.values()))
        for o in ({"min_size": "2"}, {"min_size": 0}, {"max_size": 0}, {"min_count": 0})
    ),
    (
        lambda: leakage(groups="marginal").fit(HIRED, sensitive_features=AGES),
        "sensitive_features", "bin it first",
    ),
    (lambda: leakage(quality=type).audit(HIRED, PREDICTED, **BY), "quality", "must be a function"),
    (lambda: LeakageAuditor(cv=None).audit(HIRED, AGES, **BY), "cv=None", "closed form"),
    (
        lambda: leakage(cv=5).audit([0, 1, 1], [0, 1, 0], sensitive_features=list("ffm")),
        "cv", "Audit more rows",
    ),
    (
        lambda: LeakageAuditor(attacker=Odd()).audit(HIRED, PREDICTED, **BY),
        "attacker", "Odd predicted ['text']",
    ),
    (lambda: search(LogisticRegression(), X, HIRED, **BY, cv=()), "cv", "has no splits"),
    (lambda: cross_audit(LogisticRegression(), X, HIRED, **BY, n_jobs=0), "n_jobs", "cross_audit"),
    (
        lambda: amplification_scorer(DirectionalAuditor(reference="test"))(
            make_pipeline(StandardScaler()).fit(X), X, HIRED, **BY
        ),
        "scores by predict", "which Pipeline does not have",
    ),
    *(
        (
            lambda call=call, predicted=predicted: call(HIRED, predicted, **BY, missing="bounds"),
            "missing", "'drop', 'group'. Got 'bounds' instead: skbiasamp.audit(missing='bounds')",
        )
        for call, predicted in [
            (skbiasamp.compare, {"a": HIRED, "b": PREDICTED}), (skbiasamp.explain, PREDICTED),
        ]
    ),
    (
        lambda: skbiasamp.explain(*QUICK, **BY, y_score=np.linspace(0.1, 0.9, N), attributions=X),
        "attributions", "must sum to its y_score, up to a constant",
    ),
    (
        lambda: skbiasamp.explain(count(pred=PREDICTED)).subgroups(FRAME),
        "frame", "must name columns of the rows that were passed; got DataFrame",
    ),
    (
        lambda: skbiasamp.selection_rates([1, 2] * (N // 2), **BY),
        "favourable", "holds the classes 1 and 2",
    ),
    (
        lambda: skbiasamp.selection_rates(PREDICTED, **BY, model_name=3),
        "model_name", "must be text; got 3",
    ),
    (
        lambda: skbiasamp.selection_rates(AGES, **BY, scores=True, sample_weight=[1, 2]),
        "sample_weight", "y_pred",
    ),
    (
        lambda: fitted(direction="T->A").audit_runs(
            HIRED, [PREDICTED] * 2, sensitive_preds=[SEX], **BY
        ),
        "sensitive_preds", "1",
    ),
    (lambda: skbiasamp.audit(*QUICK, SEX), "y_pred", "audit(y_true, y_pred, sensitive_features="),
    (lambda: skbiasamp.audit(*QUICK, sensitive=SEX), "sensitive", "mean 'sensitive_features'?"),
    (lambda: skbiasamp.audit(TWO), "y_true", "is a table: name its columns"),
    (lambda: skbiasamp.audit(FRAME), "y_true", "skbiasamp.audit_frame(frame, target=..., "),
    (
        lambda: skbiasamp.audit(*QUICK, **BY, random_state=True),
        "random_state", "must be a whole number",
    ),
    (lambda: function_of(MALSAuditor, name=3), "name", "must be text; got 3"),
    (lambda: load_colored_digits(correlation="x"), "correlation", "'x'"),
    (lambda: make_biased_classification(True), "n_samples", "Got True instead"),
]  # fmt: skip
REPORTS = [
    (lambda: skbiasamp.audit(HIRED, **BY), "y_pred", "nothing to audit: pass predictions as"),
    (
        lambda: skbiasamp.audit(count(pred=PREDICTED), y_train=count(None, PREDICTED)),
        "y_train", "have no labels to compare predictions with: pass y_train.",
    ),
    (
        lambda: skbiasamp.audit(*QUICK, **BY, y_train=7, sensitive_train=SEX),
        "y_train", "must hold one value a row",
    ),
    (
        lambda: skbiasamp.audit_frame(
            FRAME, target="hired", prediction="pred", sensitive="sex", score="pred", threshold=0.5
        ),
        "threshold", "needs predicted labels: pass these, and leave threshold",
    ),
    (
        lambda: skbiasamp.audit(np.array(["n", "y"])[HIRED], np.array(["n", "Y"])[PREDICTED], **BY),
        "y_pred", "holds 'Y' where y_true holds 'y'",
    ),
]  # fmt: skip
TESTS = [
    (lambda: paired_p_values([-1], [5]), "gained", "got -1"),
    (lambda: paired_p_values([1], [0.5]), "lost", "got 0.5"),
    (lambda: paired_p_values(["1"], [1]), "gained", "got '1'"),
    (lambda: paired_p_values([1, 2], [1, 2, 3]), "gained and lost", "one shape"),
    (lambda: paired_p_values([[1], [1, 2]], 1), "gained", "rows of different lengths"),
    (lambda: adjust_p_values([0.5, 1.5]), "p_values", "from 0 to 1; got 1.5"),
    (lambda: adjust_p_values([0.5], "bonferroni"), "method", "'holm', 'fdr', None"),
    *(
        (lambda below=below: assert_amplification(AUDITED(), below=below), "below", "0 or more")
        for below in (-(10**400), NAN, INF, "x")
    ),
    (lambda: AUDITED().strongest("3"), "n", "0 or more"),
]
TEXTS = [
    *(
        (lambda words=words: text.WordMasker(words=words).fit(["a man"]), "words", seen)
        for words, seen in [({"a": "man"}, "a list of words, or a dict"), ([1], "words; got 1"),
            ([], "a word; got []"), ({}, "a word; got {}")]
    ),
    (lambda: text.WordMasker().fit("a man"), "X", "a list of texts; got one text"),
    *(
        (lambda given=given: text.WordMasker(words=["man"], placeholder=given).fit(["a man"]),
         "placeholder", seen)
        for given, seen in [({"words": 1}, "text; got 1"), ("", "be empty; got ''")]
    ),
    (lambda: text.WordListLabeler({1: ["x"]}).fit_transform(["a"]), "labels", "by text; got 1"),
    (lambda: text.WordListLabeler({}).fit_transform(["a"]), "labels", "must name a task; got {}"),
    (lambda: text.label_columns(FRAME, {"sex": ["cook"]}, "job", target_texts="job"),
     "labels", "names a label 'sex', and a column that holds something else"),
    (lambda: text.label_columns(FRAME, {"a": ["cook"]}, 3), "texts", "name columns by text; got 3"),
    (lambda: of_texts(AGES), "y_pred", "must hold texts; got 20.5"),
    (lambda: of_texts(y_train=CAPTIONS), "y_train", "is not used by metrics of texts"),
    (lambda: of_texts(auditor=[LICAuditor(), LeakageAuditor()]), "auditor", "all read texts, or"),
]  # fmt: skip
NUMBERS = [
    (lambda: fitted().fit(count(AGES, numbers=True)), "y_train", "count them without numbers=True"),
    (lambda: NumericAuditor().fit(count()), "y_train",
     "holds classes, and NumericAuditor needs numbers: count them with numbers"),
    (lambda: count() + count().resample(9, random_state=0), "A sum", "this one holds 9 resamples"),
    (lambda: skbiasamp.audit(*QUICK, **BY, favourable="x"), "favourable", "There are 0 and 1."),
    (lambda: skbiasamp.selection_rates(count(AGES, AGES, numbers=True)),
     "y_pred", "holds numbers, and rates are of labels"),
    (lambda: skbiasamp.selection_rates(HALF, **BY, scores=True, threshold=0.5),
     "threshold", "not both: each says who is selected"),
    (lambda: skbiasamp.audit(AGES, AGES, **BY, given=JOBS, auditor=NumericAuditor()),
     "given", "not used by metrics of numbers"),
    (lambda: count(AGES, numbers=True, threshold=0.5), "threshold", "rows hold numbers: leave"),
    (lambda: leakage().fit(HIRED, **BY).score(*QUICK, sensitive_features=AGES),
     "sensitive_features", "of one kind in training and audited rows"),
    (lambda: curve().at([0.1, NAN]), "threshold", "must be a number, or several; got"),
    (lambda: curve(np.empty((N, 0))), "y_score", "is empty: pass a score for each row"),
    (lambda: curve(X), "y_score", "has 3 columns and y_true is one column"),
    (lambda: curve([3] * N), "y_score", "holds only 3: pass limits"),
    *(
        (lambda limits=limits: curve(limits=limits), "limits", f"first; got {limits!r}")
        for limits in (5, "ab", (0, 1, 2), (0, NAN), (1, 1))
    ),
    (lambda: metrics.FunctionAuditor(len, percent=True).audit(*QUICK, **BY, sample_weight=HALF),
     "sample_weight", "calls a function of rows"),
    (lambda: metrics.FunctionAuditor(lambda *rows: rows, percent=True).audit(*QUICK, **BY),
     "function", "mapping of names to numbers; got tuple"),
    (lambda: required_rows(0, changed=0.2), "effect", "must be a positive number; got 0"),
    (lambda: required_rows(0.1), "changed", "or the result of a small audit"),
    (lambda: required_rows(0.1, changed=0.2, power=1), "power", "between 0 and 1; got 1."),
    (lambda: required_rows(0.1, changed=0.05), "changed", "a share of rows of effect or more"),
    (lambda: required_rows(0.1, changed=0.2, groups=(0.5, 0.4)), "groups", "that sum to 1; got"),
    (lambda: required_rows(0.1, changed=0.2, groups=(1,)), "groups", "be two shares or more"),
    (lambda: paired_p_values(10**400, 1), "gained", "too large for a float"),
    (lambda: measure(base=table([["half"]] * 2)), "base", "hold numbers, and none may be missing"),
    (lambda: ExactAttacker().fit(X, HIRED, sample_weight=1j), "sample_weight", "got complex ones"),
    (lambda: leakage(quality=lambda y_true, y_pred: "x").audit(*QUICK, **BY),
     "quality=<lambda>", "must return a number; it returned 'x'"),
]  # fmt: skip
QUERIES = [
    (lambda: skbiasamp.audit_frame(LAZY, **NAMED, weight="job"),
     "column 'job' (weight)", "must hold numbers; got values of type String"),
    (lambda: skbiasamp.audit_frame(LAZY, **NAMED | {"prediction": "sex"}, threshold=0.5),
     "column 'sex' (prediction)", "must hold numbers if there is a threshold; got type String"),
    (lambda: Contingency.from_frame(LAZY.with_columns(both=pl.concat_list("hired", "pred")),
     target="both", sensitive="sex"),
     "target", "holds List(Int64). Make a column of each value first"),
    (lambda: Contingency.from_frame(LAZY, target=["hired", "w"], sensitive="sex", cluster="job",
     joint=False), "column 'job' (cluster)", "cannot be kept if an engine sums 2"),
    (lambda: Contingency.from_frame(FRAME, **NAMED, cluster="job").to_frame(),
     "cluster", "which rows are of one cluster: use to_json"),
    (lambda: over(time="w"), "time", "must hold dates or times, or text such as '2026-11-21'; got"),
    (lambda: over(time=None), "time", "must name the column of dates or times; got None"),
    (lambda: over(reference=11), "reference", "number of first periods from 1 to 4, which"),
    (lambda: over(reference=0.5), "reference", "the name of a period, or a Contingency; got float"),
    (lambda: over(reference=1), "reference", "has rows of one group only, 'f', and other periods"),
    (lambda: over(FRAME.assign(sex=["f", "m"] * (N // 2)), prediction=None),
     "prediction", "nothing to audit"),
    (lambda: over(auditor=metrics.MatchedPairsAuditor()), "auditor", "which needs single rows"),
    (lambda: skbiasamp.explain(*QUICK, **BY, score="p"), "score", "names a column of a frame"),
    (lambda: skbiasamp.explain(FRAME, **NAMED, attributions=X), "attributions", "need arrays"),
    (lambda: skbiasamp.explain(TAGS, TAGS, **BY, attributions=X),
     "attributions", "are of one task"),
    (lambda: skbiasamp.explain(*QUICK, **BY).subgroups(pd.DataFrame({"n": range(N)})),
     "frame", "no value of 'n' is in 100 rows. Bin numbers first"),
    (lambda: skbiasamp.explain(HIRED * 20, PREDICTED * 20, sensitive_features=[*range(240)] * 2),
     "sensitive_features", "240"),
    (lambda: skbiasamp.explain(count(HIRED, PREDICTED, BOTH), given=["sex", "skin"]),
     "given", "some columns of groups, but not all of 'sex' and 'skin'"),
    *(
        (lambda pair=pair: find_changed_rows(TAGS, TAGS, sensitive_features=BOTH, pair=pair),
         "pair", seen)
        for pair, seen in [
            ("f", "a group and a task, or a row of a result; got 'f'"),
            (("f", 0), "each sensitive column; got 'f'"), ((("f", "dark"), 7), "names the task 7")]
    ),
]  # fmt: skip
MODELS = [
    (lambda: crossed(LINEAR, reference="a"), "reference", "names one of several classifiers, and"),
    (lambda: crossed({"a": LINEAR, "b": 3}), "estimator['b']", "must be a classifier; got 3"),
    (lambda: crossed([LINEAR]), "estimator", "must be a classifier, or a dict of classifiers by"),
    (lambda: crossed({str(a): AuditedClassifier(LINEAR, auditor=a) for a in (DirectionalAuditor(),
     MALSAuditor())}, auditor=None),
     "estimator", "with different auditors: DirectionalAuditor(), M"),
    (lambda: crossed({name: AuditedClassifier(LINEAR, sensitive=name) for name in ("sex", "a")},
     sensitive_features=None), "estimator", "different sensitive features: 'sex', 'a'"),
    (lambda: crossed(LINEAR, cv=1), "cv", "must be 2 folds or more, a splitter"),
    (lambda: crossed(LINEAR, cv=20), "cv", "cannot divide these rows: n_splits=20"),
    (lambda: AuditedClassifier(LINEAR, sensitive="a").fit(pd.concat([X, X], axis=1), HIRED),
     "X", "more than one column called 'sex'"),
    (lambda: AuditedClassifier(LINEAR, sensitive=0).fit(AGES, HIRED), "X", "its shape is (24,)"),
    (lambda: AuditedClassifier(MultiOutputClassifier(LINEAR)).fit(X, TAGS[:, :1], **BY),
     "y", "has one column, and MultiOutputClassifier learns"),
    (lambda: AuditedClassifier(KNeighborsClassifier()).fit(X, HIRED, sample_weight=HALF),
     "sample_weight", "KNeighborsClassifier takes no"),
    (lambda: AuditedClassifier(LINEAR, auditor=[]).fit(X, HIRED, **BY), "auditor", "an empty list"),
    (lambda: skbiasamp.audit(*QUICK, **BY, auditor=[]), "auditor", "an empty list: pass one"),
    (lambda: amplification_scorer(MALSAuditor())(LINEAR.fit(X, HIRED), X, HIRED, **BY),
     "amplification_scorer(MALSAuditor())", "has an auditor without training labels"),
    (lambda: amplification_scorer(DirectionalAuditor("T->A", reference="test"))(LINEAR.fit(X,
     HIRED), X, HIRED, **BY),
     "direction='T->A'", "needs predictions of the sensitive feature, and the model has no"),
    (lambda: model_selection.class_scorers(JOBS, "f1"), "metric", "of two classes; got 'f1'"),
    *(
        (lambda y=y: model_selection.BaseRateThresholdClassifier(
            LINEAR.fit(X, HIRED), cv="prefit").fit(X, HIRED, y_train=y), "y_train", seen)
        for y, seen in [(TAGS, "has 2 tasks, and y has 1"),
            (np.array(["no", "yes"]), "holds 'no', which is no class of y: 0 and 1")]
    ),
    (lambda: mitigation.DomainIndependentClassifier(LINEAR).fit(X, np.column_stack([HIRED,
     [1] * 12 + [0, 1] * 6]), **BY),
     "group 'f'", "All 12 rows of group 'f' have task 1: the group's own classifier cannot"),
    (lambda: mitigation.DomainIndependentClassifier(Perceptron(), calibration=None).fit(X, HIRED,
     **BY), "estimator", "must have predict_proba if calibration=None"),
    (lambda: mitigation.MixedClassifier(LINEAR,
     mitigation.CorpusConstraintClassifier(LINEAR)).fit(X, HIRED, **BY),
     "mitigation", "without the sensitive feature; CorpusConstraintClassifier needs it"),
    (lambda: search(LINEAR, X, HIRED, **BY, candidates={"none": LINEAR}), "candidates", "'none'"),
    *(
        (lambda models=models: skbiasamp.compare(HIRED, models, **BY), name, seen)
        for models, name, seen in [({}, "y_preds", "is an empty dict: pass"),
            ({"a": HIRED, "b": None}, "y_preds['b']", "is None: pass the predictions of every"),
            ({1: HIRED, "b": HIRED}, "y_preds", "names a model 1. Name models with text"),
            ({"a": [HIRED] * 2, "b": HIRED}, "y_preds", "for every model; 'b' does not")]
    ),
    (lambda: skbiasamp.compare(None, dict(TWO), sensitive_features={"a": SEX}, y_train=HIRED,
     sensitive_train=SEX), "sensitive_features", "must be a dict of all models in y_preds"),
    *(
        (lambda more=more: skbiasamp.compare(None, dict.fromkeys("ab", count(HIRED, PREDICTED)),
         y_train=count(HIRED), **more), "target", "rows have labels too. Leave target out")
        for more in ({}, {"auditor": DirectionalAuditor()})
    ),
    (lambda: count(HIRED, HIRED, y_preds={"a": HIRED}), "y_preds", "of several, not both"),
    (lambda: runs([None, None]), "y_preds", "holds no predictions"),
]  # fmt: skip
AUDITORS = [
    (lambda: DirectionalAuditor().audit(*QUICK, SEX), "audit", "takes y_true and y_pred by"),
    *(
        (lambda one=one: skbiasamp.audit(*QUICK, **BY, favourable=one), "favourable", f"{one}.")
        for one in ([0, 1], [])
    ),
    (lambda: metrics.MatchedPairsAuditor().audit(HIRED, sensitive_features=SEX, pairs=None),
     "pairs", "is None"),
    (lambda: metrics.matched_difference([1, 0, 1, 0, 0, 1], sensitive_features=list("fmxfmx"),
     pairs=list("aaabbb")),
     "MatchedPairsAuditor", "There are 3 differences, and a number is"),
    (lambda: metrics.DifferentialFairnessAuditor(reference="test").audit(*[np.tile(np.eye(250,
     dtype=int), (40, 1))] * 2, sensitive_features=np.arange(1e4) // 250),
     "interval", "needs at most 10,000 pairs of groups and outcomes; got 390,000"),
    *(
        (lambda given=given: leakage().fit(HIRED, **BY, validation=given), "validation", seen)
        for given, seen in [(QUICK, "got tuple"), (count(), "predictions; got labels alone")]
    ),
    (lambda: leakage(cv=5).audit(*QUICK, **BY, clusters=SEX), "cv", "5 folds and 2 clusters"),
    (lambda: score(clusters=TWO), "clusters", "must be one column of ids; got 2 columns"),
    (lambda: score(clusters=SEX[:5]), "clusters", "5 rows but y_true has 24"),
    (lambda: assert_amplification(0.1), "report", "an AuditReport or an AuditResult; got float"),
    (lambda: function_of(3), "auditor", "must be the class of an auditor; got 3"),
    (lambda: function_of(MALSAuditor, without="ties"), "without", "a list of names; got 'ties'"),
    (lambda: Contingency.sum([]), "contingency", "to sum: the list is empty"),
    (lambda: count(TAGS).with_positive(1), "pos_label", "y_true is an indicator matrix"),
    (lambda: AUDITED(interval=None).worst(), "interval", "There are no simultaneous intervals"),
    (lambda: AUDITED().to_json("a\0b"), "path", "must hold no NUL character"),
    (lambda: count(sex=BOTH, groups="marginal", min_rows=5), "min_rows", "is for groups='inter"),
    (lambda: count(sex={"a": ["b=c", "x"] * 12, "a=b": ["c", "d"] * 12}, groups="marginal"),
     "sensitive_features", "would be 'a=b=c'"),
    (lambda: count(np.array(["a\ud800"] * N)), "y_true", r"is no Unicode, 'a\ud800'"),
    (lambda: count(sex=[pd.Timestamp("2026-01-01"), pd.Timestamp("2026-01-01", tz="UTC")] * 12),
     "sensitive_features", "times in one time zone"),
]  # fmt: skip
TABLE = {
    "shape": SHAPES, "value": VALUES, "count": COUNTS, "lacking": LACKING, "option": OPTIONS,
    "report": REPORTS, "test": TESTS, "text": TEXTS, "number": NUMBERS, "query": QUERIES,
    "model": MODELS, "auditor": AUDITORS,
}  # fmt: skip


def AUDITED(**options):
    return DirectionalAuditor(reference="test", **options).audit(HIRED, PREDICTED, **BY)


@pytest.mark.parametrize(
    ("call", "name", "seen"),
    [
        pytest.param(*row, id=f"{kind} {i}: {row[1]}")
        for kind, rows in TABLE.items()
        for i, row in enumerate(rows)
    ],
)
def test_what_cannot_be_audited_is_refused_by_name(call, name, seen):
    refused(call, name, seen)


@pytest.mark.parametrize(("weight", "seen"), WEIGHTS, ids=[seen for _, seen in WEIGHTS])
def test_weights_are_refused_wherever_they_are_passed(weight, seen):
    refused(lambda: score(sample_weight=weight), "sample_weight", seen)
    refused(
        lambda: DirectionalAuditor().fit(TAGS, **BY, sample_weight=weight), "sample_weight", seen
    )


@pytest.mark.parametrize("kind", [MALSAuditor, DirectionalAuditor, MultiAttributeAuditor])
def test_an_auditor_that_was_never_fitted_says_what_to_do(kind):
    message = rf"This {kind.__name__} has not seen training labels: call fit\(.* reference='test'"
    with pytest.raises(NotFittedError, match=message):
        kind().score(HIRED, PREDICTED, **BY)


INPUTS = {
    "y_true": HIRED,
    "y_pred": PREDICTED,
    "sensitive_features": SEX,
    "sensitive_pred": SEX,
    "sample_weight": [1, 2] * (N // 2),
}


@pytest.mark.parametrize(
    ("one", "other"),
    [(a, b) for i, a in enumerate(INPUTS) for b in list(INPUTS)[i + 1 :]],
    ids="-".join,
)
def test_a_shuffled_index_between_any_two_inputs_is_refused(one, other):
    shuffled = pd.RangeIndex(N)[::-1]
    series = {**INPUTS, one: pd.Series(INPUTS[one]), other: pd.Series(INPUTS[other], shuffled)}
    seen = "the same index labels in another order (row 0: 0 and 23)"
    said = refused(lambda: Contingency.from_labels(**series), f"{one} and {other}", seen)
    assert f"{other}.loc[{one}.index]" in said


@needs_torch
def test_weights_that_stand_for_too_many_rows_are_refused():
    for call in (
        lambda: AdversarialClassifier().fit(X, HIRED, [1e30] * N, **BY),
        lambda: MLPAttacker(max_epochs=1).fit_many(X, HIRED, [10**12] * N),
    ):
        refused(call, "sample_weight", "rows: divide it")


@needs_torch
def test_networks_and_tensors_are_refused_by_name():
    from torch import tensor

    model = AdversarialClassifier
    refused(lambda: model(balance="class").fit(X, TAGS, **BY), "y", "is multilabel: pass balance=")
    empty = {"hidden_layer_sizes": ()}
    refused(lambda: model(**empty).fit(X, HIRED, **BY), *empty, "is empty. Pass a width for each")
    refused(lambda: count(pd.Series([None, *[tensor(1)] * 23])), "y_true", "it holds tensors")


NAMES = "--target h --prediction p --sensitive s"
LINES = [
    ("demo --folder none/pages", "--folder none/pages: there is no folder none"),
    ("demo --folder t.csv", "--folder t.csv: this is a file; name a folder"),
    (f"audit zero.csv {NAMES}", "zero.csv is no text file: it has bytes of value 0"),
    (f"audit twice.jsonl {NAMES}", "line 1, is no JSON object of single values: it has two values"),
    (f"audit . {NAMES}", ". is a folder: name files, such as './*.parquet'"),
    (f"audit t.csv {NAMES} --json x\0y", r"must hold no NUL character; got 'x\x00y'"),
    (f"compare t.csv {NAMES}", "--prediction: must be a model's name and its column, such as"),
    (f"compare a=t.csv a=u.csv {NAMES}", "argument TEST: each model is named once"),
    (f"audit part.csv {NAMES}", "--sensitive s is continuous (it holds 0.5, for example): bin it "
     "first (--bins)."),
    (f"audit wide.csv {NAMES}", "or a number to bin (--bins)? If these are groups, pass --max-gr"),
    (f"audit said.csv {NAMES} --bins s=3", "--bins s: 2 cells of this column are no numbers, such "
     "as '?', and only numbers can be cut. Correct these cells, or make them empty (see --miss"),
    (f"audit t.csv {NAMES} --limit 0,5", "a finite number of 0 or more; got '0,5': write 0.5"),
    (f"audit t.csv {NAMES} --bins s=0,5;0,7", "got 's=0,5;0,7': write s=0.5,0.7"),
    (f"over said.csv --time d {NAMES} --missing drop", "write dates as 2026-11-21, or convert th"),
    (f"over t.csv --time s {NAMES}", "or pass --every name if its values are the names of peri"),
    ("audit t.csv --target h --sensitive s --text p --labels none.json", "--labels: there is no"),
    ("audit t.csv --target h --target-text p --sensitive s --text p --labels x", "pass one of"),
]  # fmt: skip


def test_command_lines_are_refused_by_name(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("h,p,s\n0,1,2\n")
    (tmp_path / "part.csv").write_text("h,p,s\n0,1,0.5\n")
    (tmp_path / "wide.csv").write_text("h,p,s\n" + "".join(f"0,1,{i}\n" for i in range(500)))
    (tmp_path / "said.csv").write_text(
        "h,p,s,d\n0,1,2,1.7.25\n1,0,?,2.7.25\n1,0,x,3.7.25\n1,0,,4.7.25\n"
    )
    (tmp_path / "zero.csv").write_bytes(b"h,p,s\n\0\0\0,1,2\n")
    (tmp_path / "twice.jsonl").write_text('{"h": 1, "h": 2, "p": 0, "s": 1}\n')
    for line, seen in LINES:
        try:
            code = main(line.split(" "))
        except SystemExit as ended:
            code = ended.code
        assert code == 2
        assert seen in capsys.readouterr().err


def test_what_is_unusual_but_clear_is_read():
    assert measure(base=table([[0.0], [1.0]])) == measure(base=table([[1e-300], [1.0]]))
    assert count(np.array(["nan", *SEX[1:]], dtype=object)).total == N
    assert count(list(sparse.csr_matrix(TAGS))) == count(TAGS)
    assert count().select(groups="f").groups == ("f",)
    named = pd.DataFrame({"a": SEX})
    assert score(sex=named.to_numpy(), auditor=fitted(sex=named)) == score()
    small, plain = (
        leakage(cv=kind(2), n_draws=kind(60), random_state=0).audit(HIRED, PREDICTED, **BY).value
        for kind in (np.uint8, int)
    )
    assert small == plain
    result = AUDITED()
    assert result.smallest_effect(Fraction(1, 2)) == result.smallest_effect(0.5)


@needs_torch
def test_tensors_are_labels_counts_and_weights():
    import torch

    for hold in (list, pd.Series, lambda rows: np.array(rows, dtype=object)):
        assert count(hold([torch.tensor(one) for one in HIRED])) == count()
    gained = torch.tensor([3.0, 5.0], requires_grad=True)
    assert paired_p_values(gained, [0, 0]).tolist() == [0.25, 0.0625]
    assert adjust_p_values(gained / 100).tolist() == pytest.approx([0.06, 0.06])
    weight = torch.tensor([1.0, 2.0] * (N // 2), dtype=torch.bfloat16, requires_grad=True)
    assert count(sample_weight=weight) == count(sample_weight=[1, 2] * (N // 2))
