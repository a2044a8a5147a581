"""Bad input that once ended deep inside, or passed: each gets an error that says what to do."""

import json
from fractions import Fraction
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from hostile import FRAME, HIRED, PREDICTED, SEX, SOFT, TAGS, N, Odd, Unequal, X, sums_of_tasks
from hostile_made import made
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError, UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils._param_validation import InvalidParameterError

import skbiasamp
from skbiasamp import (
    BaseRateThresholdClassifier,
    Contingency,
    DirectionalAuditor,
    LeakageAuditor,
    MultiAttributeAuditor,
    cross_audit,
)
from skbiasamp._input.errors import InputError
from skbiasamp.attackers import ExactAttacker, MLPAttacker
from skbiasamp.datasets import load_colored_digits, make_biased_classification
from skbiasamp.inference import paired_p_values, required_rows
from skbiasamp.metrics import BiasDisparityAuditor, directional_amplification, leakage_amplification
from skbiasamp.mitigation import (
    AdversarialClassifier,
    DomainIndependentClassifier,
    RatioBalancer,
    search,
)
from skbiasamp.monitoring import Store
from skbiasamp.results import AuditResult, ComparisonResult
from skbiasamp.testing import assert_amplification
from skbiasamp.text import WordMasker

BY = {"sensitive_features": SEX}
LENIENT = DirectionalAuditor(interval=None)
AGES = [i / 2 for i in range(N)]


def leakage(**options):
    return LeakageAuditor(**{"attacker": "exact", "interval": None, "cv": 2} | options)


class Blank(Odd):
    """A classifier whose training failed in silence."""

    def predict_proba(self, X):
        return np.full((len(X), len(self.classes_)), np.nan)


def with_missing(first, second):
    auditor = DirectionalAuditor(missing="group", interval=None)
    half = ["m"] * (N // 2)
    auditor.fit(HIRED, sensitive_features=[first] * (N // 2) + half)
    return auditor.audit(HIRED, PREDICTED, sensitive_features=[second] * (N // 2) + half)


def with_moments(moments):
    frame, target = FRAME.assign(other=PREDICTED), ["hired", "other"]
    like = Contingency.from_frame(frame, target=target, sensitive="sex")
    return Contingency.from_frame(
        frame, target=target, sensitive="sex", like=like, joint=False, moments=moments
    )


def changed(kind, **values):
    auditor = DirectionalAuditor(reference="test")
    if kind is AuditResult:
        made = auditor.audit(HIRED, PREDICTED, **BY)
    else:
        made = auditor.compare(HIRED, {"a": PREDICTED, "b": HIRED}, **BY)
    return kind.from_dict(made.to_dict() | values)


needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="needs torch")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: leakage(groups="marginal").fit(HIRED, sensitive_features=AGES),
            "sensitive_features is continuous .* bin it first",
        ),
        (
            lambda: directional_amplification(np.full(N, np.inf), np.full(N, np.inf), **BY),
            "y_true holds infinite values in 24 rows",
        ),
        (
            lambda: leakage(quality=lambda y_true: 1).audit(HIRED, PREDICTED, **BY),
            "quality=<lambda> must take 2 arguments by position; too many",
        ),
        (
            lambda: leakage(quality=lambda y_true, y_pred: "x").audit(HIRED, PREDICTED, **BY),
            "quality=<lambda> must return a number; it returned 'x'",
        ),
        (
            lambda: LeakageAuditor(cv=None).audit(HIRED, AGES, **BY),
            "cv=None is the closed form of the exact attacker",
        ),
        (
            lambda: leakage(quality="inverse_rmse").audit(TAGS, TAGS, **BY),
            "quality='inverse_rmse' is about|attacker must be|attacker='exact' predicts classes",
        ),
        (
            lambda: with_missing("(missing)", None),
            "missing values and the training data a group named '\\(missing\\)'.*Rename",
        ),
        (lambda: with_moments(7), "moments must be a table of signs and a bool"),
        (lambda: with_moments((np.zeros((9, 9)), True)), "moments must have a sign for each group"),
        (
            lambda: skbiasamp.audit([0, 1, 1], [0, 1, 0], sensitive_features=list("ffm")),
            "cv of LeakageAuditor must leave every fold a row; .* Audit more rows",
        ),
        (
            lambda: skbiasamp.audit(FRAME, target=["hired", "hired"], sensitive="sex"),
            "target names column 'hired' twice",
        ),
        (
            lambda: directional_amplification(["a\ud800"] * N, ["a"] * N, **BY),
            "y_true holds text that is no Unicode",
        ),
        (
            lambda: Contingency.from_labels(HIRED, **BY, scores=np.ones(2)),
            "scores must be one of True, False",
        ),
        (lambda: Contingency.from_labels(HIRED, {}, **BY), "y_pred is an empty dict"),
        (
            lambda: DirectionalAuditor(reference="test").compare(HIRED, **BY),
            "y_preds is None: pass the predictions of each model",
        ),
        (
            lambda: Contingency.from_labels(HIRED, **BY, sample_weight=np.zeros(N, "M8[s]")),
            "sample_weight must hold numbers",
        ),
        (lambda: MLPAttacker.preset([1]), r"There is no preset \[1\]"),
        (
            lambda: Contingency.from_labels(HIRED, **BY).to_json(7),
            "path must be text or a path, or None; got int",
        ),
        (
            lambda: changed(AuditResult, low=0.5, high=0.1),
            "no skbiasamp.AuditResult/3: field 'low' holds 0.5",
        ),
        (
            lambda: changed(ComparisonResult, reference="c"),
            "ComparisonResult/2: field 'table' holds",
        ),
        (lambda: changed(AuditResult).strongest("3"), "n must be a whole number of 0 or more"),
        (lambda: changed(ComparisonResult).difference("c"), "model must be one of 'a', 'b'"),
        (lambda: load_colored_digits(correlation="x"), "'correlation' parameter"),
        (lambda: make_biased_classification(base_rate="x"), "'base_rate' parameter"),
        (
            lambda: make_biased_classification(group_weights={1, 2}),
            "group_weights must",
        ),
        (
            lambda: skbiasamp.amplification_scorer(DirectionalAuditor(reference="test"))(
                make_pipeline(StandardScaler()).fit(X), X, HIRED, **BY
            ),
            "scores by predict, which Pipeline does not have",
        ),
        (
            lambda: Contingency.from_labels(HIRED, **BY, sample_weight=[2**70] * N),
            r"sample_weight adds up to 2.83e\+22, which cannot be counted with: divide it",
        ),
        (
            lambda: Contingency.from_labels(HIRED, **BY, sample_weight=[5e-324] * N),
            "sample_weight adds up to 1.19e-322, which cannot be counted with: divide it",
        ),
        (
            lambda: leakage(n_jobs=0).audit(HIRED, PREDICTED, **BY),
            r"'n_jobs' parameter .* int in the range \[1, 32767\] or None. Got 0 instead",
        ),
        (
            lambda: LeakageAuditor(attacker=Odd()).audit(HIRED, PREDICTED, **BY),
            r"attacker must predict one of the classes .*; Odd predicted \['text'\]",
        ),
        (
            lambda: LeakageAuditor(attacker=Odd(1.5)).audit(HIRED, PREDICTED, **BY),
            r"attacker must predict one of the classes .*; Odd predicted \[1.5\]",
        ),
        (
            lambda: LeakageAuditor(attacker=Blank(), quality="confidence").audit(
                HIRED, PREDICTED, **BY
            ),
            "attacker must predict finite numbers; Blank predicted nan for 2 of 2 inputs",
        ),
        (lambda: make_biased_classification(True), "range .1, inf.. Got True instead"),
        (
            lambda: DomainIndependentClassifier(LogisticRegression()).fit(
                X, HIRED, sensitive_features=SEX, sample_weight=[np.zeros(2), *SEX[1:]]
            ),
            "sample_weight is a list of rows of different lengths",
        ),
        (
            lambda: MLPAttacker(hidden_layer_sizes=np.array(0)).fit(X, HIRED),
            r"hidden_layer_sizes must be whole numbers from 1 on; got array\(0\)",
        ),
        (
            lambda: DirectionalAuditor(pd.DataFrame([[0.1]]), reference="test").score(
                HIRED, PREDICTED, sensitive_features=SEX
            ),
            "direction",
        ),
        pytest.param(
            lambda: MLPAttacker().fit(X, HIRED, [1e308] * N),
            "sample_weight adds up to more than a float can hold",
            marks=needs_torch,
        ),
        (
            lambda: search(LogisticRegression(), X, HIRED, sensitive_features=SEX, cv=()),
            "cv has no splits",
        ),
        (
            lambda: Contingency.from_labels(HIRED, **BY).select(groups=np.array(0)),
            "groups must be some of 'f' and 'm', each once",
        ),
        (
            lambda: Contingency.from_counts(
                Contingency.from_labels(HIRED, **BY).to_frame(), count=pd.NA
            ),
            "count must name a column; there is no column <NA>",
        ),
        (
            lambda: Contingency.from_counts(
                Contingency.from_labels(HIRED, **BY).to_frame().assign(summed="weights")
            ),
            "frame holds sums of weights .* and has no column 'rows'",
        ),
        (
            lambda: Contingency.from_labels(HIRED, {"a": [-(10**400)] * N, "b": HIRED}, **BY),
            "y_pred holds numbers that are too large for a float",
        ),
        (lambda: sums_of_tasks().model("a"), "predictions of one model, which has no name"),
        (
            lambda: sums_of_tasks().both(Unequal()),
            "role must be one of 'task', 'group'",
        ),
    ],
)
def test_what_was_wrong_is_said(call, message):
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        call()
    assert type(caught.value).__name__ in ("InputError", "InputTypeError", "InvalidParameterError")


def test_a_mapping_of_columns_is_resampled():
    labels = {"cook": HIRED, "clean": PREDICTED}
    found, chosen = RatioBalancer(random_state=0).fit_resample(X, labels, sensitive_features=SEX)
    expected = RatioBalancer(random_state=0).fit_resample(
        X, pd.DataFrame(labels), sensitive_features=SEX
    )
    pd.testing.assert_frame_equal(found, expected[0])
    pd.testing.assert_frame_equal(chosen, expected[1])


def test_tensors_that_need_a_gradient_are_counts_and_weights():
    torch = pytest.importorskip("torch")
    gained = torch.tensor([3.0, 5.0], requires_grad=True)
    assert paired_p_values(gained, [0, 0]).tolist() == [0.25, 0.0625]
    assert paired_p_values([*gained], [0, 0]).tolist() == [0.25, 0.0625]
    weight = torch.tensor([1.0, 2.0] * (N // 2), dtype=torch.bfloat16, requires_grad=True)
    made = [
        DomainIndependentClassifier(LogisticRegression()).fit(
            X, HIRED, sensitive_features=SEX, sample_weight=one
        )
        for one in (weight, [1, 2] * (N // 2))
    ]
    np.testing.assert_array_equal(*[one.predict_proba(X) for one in made])


def test_thresholds_of_what_is_no_classifier():
    with pytest.raises(NotFittedError):
        BaseRateThresholdClassifier(KMeans(2)).predict(X)


def test_sparse_tensors_are_resampled():
    torch = pytest.importorskip("torch")
    expected = RatioBalancer(random_state=0).fit_resample(X, TAGS, sensitive_features=SEX)[1]
    sparse_labels = torch.tensor(TAGS).to_sparse()
    found = RatioBalancer(random_state=0).fit_resample(X, sparse_labels, sensitive_features=SEX)[1]
    np.testing.assert_array_equal(found, expected)


def test_hidden_layers_that_are_no_list():
    pytest.importorskip("torch")
    with pytest.raises(InputError, match="hidden_layer_sizes must be a whole number of 1 or more"):
        AdversarialClassifier(hidden_layer_sizes=np.array(0)).fit(X, HIRED, sensitive_features=SEX)


def test_a_distance_too_large_for_whole_numbers():
    data = make_biased_classification(20, class_sep=-(10**30), random_state=0)
    assert np.isfinite(data.data.to_numpy()).all()


def test_labels_that_hold_themselves_end_no_process():
    held = [1]
    held.append(held)
    with pytest.raises(InputError, match="y must hold labels that can be sorted"):
        skbiasamp.cross_audit(LogisticRegression(), X, [held] * N, **BY)
    pytest.importorskip("torch")
    with pytest.raises((TypeError, ValueError)):
        MLPAttacker(max_epochs=1).fit(X, HIRED).score(X, [held] * N)


def test_weights_that_stand_for_too_many_rows():
    pytest.importorskip("torch")
    with pytest.raises(InputError, match=r"sample_weight adds up to 2.4e\+31 rows: divide it"):
        AdversarialClassifier().fit(X, HIRED, [1e30] * N, sensitive_features=SEX)
    weight = [10**12] * N  # an epoch would take years
    with pytest.raises(InputError, match=r"sample_weight adds up to 2.4e\+13 rows: divide it"):
        MLPAttacker(max_epochs=1).fit_many(X, HIRED, weight)
    with pytest.raises(InputError, match=r"sample_weight adds up to .*e\+1\d rows: divide it"):
        leakage_amplification(HIRED, HIRED, **BY, sample_weight=weight, attacker="mlp", n_draws=1)


def test_a_list_of_sparse_rows_is_a_table():
    rows = list(sparse.csr_matrix(TAGS))
    assert Contingency.from_labels(rows, **BY) == Contingency.from_labels(TAGS, **BY)


def test_a_table_of_a_group_that_json_does_not_name_is_shown():
    made = changed(AuditResult)
    assert repr(
        changed(AuditResult, table=[{**one, "group": None} for one in made.to_dict()["table"]])
    )


def test_tensors_in_a_series_are_labels():
    torch = pytest.importorskip("torch")
    for held in (pd.Series, lambda rows: np.array(rows, dtype=object)):
        labels = held([torch.tensor(one) for one in HIRED])
        assert Contingency.from_labels(labels, **BY) == Contingency.from_labels(HIRED, **BY)
    mixed = pd.Series([None, *[torch.tensor(1)] * (N - 1)], dtype=object)
    with pytest.raises(TypeError, match="it holds tensors"):
        Contingency.from_labels(mixed, **BY)


def test_counts_to_add_up_are_a_list_of_them():
    with pytest.raises(InputError, match="contingencies must be a Contingency; got ndarray"):
        Contingency.sum(np.array(0))


def test_a_group_to_assert_about_is_one_of_the_audit():
    result = DirectionalAuditor(reference="test").audit(HIRED, PREDICTED, **BY)
    with pytest.raises(InputError, match="group must be a group of the audit; got"):
        assert_amplification(result, group=np.array([[1]]))


def test_a_stored_comparison_has_rows():
    held = json.loads(made("ComparisonResult").to_json())
    with pytest.raises(InputError, match=r"ComparisonResult/2: field 'table' holds \[\]"):
        ComparisonResult.from_json(json.dumps(held | {"table": []}))


def test_the_name_of_the_data_of_a_store_is_text(tmp_path):
    store = Store(tmp_path)
    for month in ("2026-01", "2026-02"):
        cells = Contingency.from_labels(HIRED, PREDICTED, **BY)
        store.add(cells, month, source=month)
    watched = {"n_draws": 19, "auditor": DirectionalAuditor(interval=None)}
    assert store.audit_over(**watched).context["data_name"] == tmp_path.name
    for name in ("model_name", "data_name"):
        with pytest.raises(InputError, match=f"{name} must be text; got array"):
            store.audit_over(**watched, **{name: np.array([])})


def test_names_in_a_report_are_text_as_its_json_needs():
    with pytest.raises(InputError, match="model_name must be text; got 3"):
        skbiasamp.audit(HIRED, PREDICTED, **BY, auditor=LENIENT, model_name=3)
    with pytest.raises(InputError, match=r"data_name must be text; got \['a'\]"):
        skbiasamp.compare(
            HIRED, {"a": PREDICTED, "b": HIRED}, **BY, auditor=LENIENT, data_name=["a"]
        )


@pytest.mark.parametrize("name", ["texts", "numbers", "scores"])
def test_switches_are_true_or_false(name):
    with pytest.raises(InputError, match=f"{name} must be one of True, False"):
        Contingency.from_labels(HIRED, PREDICTED, **BY, **{name: np.array([])})
    if name != "scores":
        frame = pd.DataFrame({"hired": HIRED, "sex": SEX})
        with pytest.raises(InputError, match=f"{name} must be one of True, False"):
            Contingency.from_frame(frame, target="hired", sensitive="sex", **{name: np.array([])})


def test_a_limit_beyond_floats_is_no_number():
    result = DirectionalAuditor(reference="test").audit(HIRED, PREDICTED, **BY)
    for below in (-(10**400), float("nan"), float("inf"), "x"):
        with pytest.raises(InputError, match="below must be a number of 0 or more"):
            assert_amplification(result, below=below)


def test_a_substitute_takes_a_word():
    with pytest.raises(InputError, match="substitute must take 1 arguments by position"):
        WordMasker(substitute=lambda: "x").fit(["a woman"])


def test_shares_of_groups_need_no_predicted_groups():
    fitted = leakage().fit(HIRED, sensitive_features=[0.1, 0.9] * (N // 2))
    assert fitted.contingency_.soft("group")


@pytest.mark.parametrize("n_jobs", [10**400, 2**31, 0])
def test_n_jobs_beyond_what_joblib_counts_is_refused(n_jobs):
    with pytest.raises(ValueError, match="'n_jobs' parameter of search"):
        search(LogisticRegression(), X, HIRED, sensitive_features=SEX, n_jobs=n_jobs)
    with pytest.raises(ValueError, match="'n_jobs' parameter of cross_audit"):
        cross_audit(LogisticRegression(), X, HIRED, sensitive_features=SEX, n_jobs=n_jobs)


@pytest.mark.parametrize("huge", [2**63, 10**400])
@pytest.mark.parametrize("name", ["n_resamples", "n_draws", "cv"])
def test_more_than_a_system_counts_is_refused(name, huge):
    with pytest.raises(InvalidParameterError, match=name):
        leakage(**{name: huge}).audit(HIRED, PREDICTED, **BY)


def test_a_number_beyond_floats_is_refused():
    with pytest.raises(InvalidParameterError, match="min_count"):
        MultiAttributeAuditor(min_count=10**400).fit(HIRED, **BY)
    with pytest.raises(InputError, match="threshold must be a finite number"):
        skbiasamp.audit(HIRED, SOFT, **BY, threshold=10**400)
    with pytest.raises(InputError, match="max_groups must be a whole number"):
        Contingency.from_labels(HIRED, **BY, max_groups=2**63)


def test_small_integers_are_numbers_like_any_other():
    settings = {"cv": 5, "n_draws": 60, "n_resamples": 9, "random_state": 0}
    small = settings | {"cv": np.uint8(5), "n_draws": np.uint8(60)}
    found, wanted = (
        leakage(**own).audit(HIRED, PREDICTED, **BY).value for own in (small, settings)
    )
    assert found == wanted


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_repeats_of_few_rows_have_a_mean():
    """In some repeats no association is left, so that their results hold fewer numbers."""
    options = {"sensitive_features": SEX, "cv": 2, "n_repeats": 2}
    for seed in (4, 16):
        found = cross_audit(LogisticRegression(), X, HIRED, random_state=seed, **options)
        assert np.isfinite(found.pooled.value)


def test_a_share_may_be_a_fraction():
    result = DirectionalAuditor(reference="test").audit(HIRED, PREDICTED, **BY)
    assert result.smallest_effect(Fraction(1, 2)) == result.smallest_effect(0.5)
    shares = {"power": Fraction(3, 4), "confidence_level": Fraction(9, 10), "changed": 0.2}
    assert required_rows(0.02, **shares) == required_rows(
        0.02, power=0.75, confidence_level=0.9, changed=0.2
    )


def test_every_model_of_a_comparison_has_what_the_metric_needs():
    several = MultiAttributeAuditor(reference="test", min_count=1, interval=None)
    y_preds = {"labels": PREDICTED, "probabilities": np.linspace(0, 1, N)}
    with pytest.raises(InputError, match=r"y_preds\['probabilities'\]"):
        several.compare(HIRED, y_preds, **BY)


def test_a_result_whose_pairs_are_all_undefined_is_shown():
    auditor = BiasDisparityAuditor(reference="test", interval=None, pos_label=1)
    with pytest.warns(UndefinedMetricWarning):
        result = auditor.audit([0] * N, [0] * N, **BY)
    assert "bias disparity: undefined (24 rows" in repr(result)


def test_what_is_drawn_lies_within_floats():
    with pytest.raises(InvalidParameterError, match="class_sep"):
        make_biased_classification(class_sep=10**400)


def test_labels_in_a_buffer_are_resampled():
    labels = memoryview(np.array(HIRED))
    _, chosen = RatioBalancer(random_state=0).fit_resample(X, labels, sensitive_features=SEX)
    _, same = RatioBalancer(random_state=0).fit_resample(X, HIRED, sensitive_features=SEX)
    assert list(chosen) == list(same)


def test_complex_weights_are_refused():
    with pytest.raises(InputError, match="sample_weight must hold real numbers"):
        ExactAttacker().fit(X, HIRED, sample_weight=1j)


def test_a_quality_is_a_function():
    with pytest.raises(InputError, match="quality must be a function; got the class type"):
        leakage(quality=type).fit(HIRED, sensitive_features=SEX).audit(HIRED, PREDICTED, **BY)
