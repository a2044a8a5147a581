"""Libraries that users have beside scikit-learn: audited, scored, searched, calibrated, pickled.

`make test-clients` installs them and sets SKBIASAMP_CLIENTS, so that none may be missing. In other
environments, a test of a library that is not installed is skipped.
"""

import doctest
import io
import os
import pickle
import re
from functools import partial
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import skbiasamp
from skbiasamp import (
    AuditedClassifier,
    BaseRateThresholdClassifier,
    DirectionalAuditor,
    amplification_scorer,
    cross_audit,
)
from skbiasamp.integrations.skore import AmplificationCheck
from skbiasamp.metrics import directional_amplification
from skbiasamp.mitigation import (
    AmplificationParity,
    CorpusConstraintClassifier,
    DomainIndependentClassifier,
    search,
)

# Warnings of these libraries about each other are theirs; ours stay errors.
pytestmark = [
    pytest.mark.filterwarnings("default"),
    pytest.mark.filterwarnings("error:::skbiasamp"),
]

RNG = np.random.default_rng(0)
N = 400
X = pd.DataFrame({"sex": RNG.integers(0, 2, N), "skill": RNG.normal(size=N)})
X["noise"] = RNG.normal(size=N)
Y = (X["skill"] + X["sex"] / 2 + RNG.normal(size=N) > 0).astype(int).to_numpy()
SEX = np.where(X["sex"] == 1, "m", "f")
BOTH = {"accuracy": "accuracy", "amplification": amplification_scorer()}


def client(name):
    """Import a library, or skip the test where it need not be installed."""
    if os.environ.get("SKBIASAMP_CLIENTS"):
        return import_module(name)
    return pytest.importorskip(name)


def boosted_by_xgboost():
    return client("xgboost").XGBClassifier(n_estimators=5, n_jobs=1)


def boosted_by_lightgbm():
    return client("lightgbm").LGBMClassifier(n_estimators=5, n_jobs=1, verbose=-1)


def boosted_by_catboost():
    kind = client("catboost").CatBoostClassifier
    return kind(iterations=5, verbose=False, thread_count=1, allow_writing_files=False)


def oversampled_by_imblearn():
    sampler = client("imblearn.over_sampling").RandomOverSampler(random_state=0)
    pipeline = client("imblearn.pipeline").make_pipeline
    return pipeline(StandardScaler(), sampler, LogisticRegression())


def binned_by_feature_engine():
    binned = client("feature_engine.discretisation").EqualFrequencyDiscretiser(q=4)
    return make_pipeline(binned, LogisticRegression())


def encoded_by_skrub():
    return make_pipeline(client("skrub").TableVectorizer(), LogisticRegression())


def net_of_skorch():
    torch, skorch = pytest.importorskip("torch"), pytest.importorskip("skorch")
    torch.manual_seed(0)
    net = skorch.NeuralNetClassifier(
        torch.nn.Linear,
        module__in_features=3,
        module__out_features=2,
        criterion=torch.nn.CrossEntropyLoss,
        max_epochs=2,
        verbose=0,
        train_split=None,
    )
    return make_pipeline(AsFloat32(), net)


class AsFloat32(StandardScaler):
    """Networks take arrays of single precision."""

    def transform(self, X, copy=None):
        return np.asarray(super().transform(X, copy), dtype=np.float32)


MODELS = [
    boosted_by_xgboost,
    boosted_by_lightgbm,
    boosted_by_catboost,
    oversampled_by_imblearn,
    binned_by_feature_engine,
    encoded_by_skrub,
    net_of_skorch,
]
every_model = pytest.mark.parametrize("make", MODELS, ids=lambda make: make.__name__)


def quiet():
    return DirectionalAuditor(interval=None)


def value_of(model, rows=slice(None)):
    """Return the amplification of a fitted model, counted without the wrapper."""
    predicted = np.ravel(model.predict(X[rows]))
    return directional_amplification(Y[rows], predicted, sensitive_features=SEX[rows])


def named(model):
    return AuditedClassifier(model, auditor=quiet(), sensitive="sex", drop_sensitive=False)


@every_model
def test_audits_scores_copies_and_pickles_are_those_of_the_predictions(make):
    passed = AuditedClassifier(make(), auditor=quiet()).fit(X, Y, sensitive_features=SEX)
    result = passed.audit(X, Y, sensitive_features=SEX)
    assert result.value == pytest.approx(value_of(passed))
    # Through the scorer, with the column found in X.
    fitted = clone(named(make())).fit(X, Y)
    again = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(again.predict(X), fitted.predict(X))
    assert again.audit(X, Y).value == pytest.approx(value_of(fitted))
    assert amplification_scorer()(again, X, Y) == pytest.approx(-abs(value_of(fitted)))


@every_model
def test_searches_and_folds_score_amplification(make):
    grid = {"drop_sensitive": [False]}
    how = {"cv": 2, "scoring": BOTH, "error_score": "raise"}
    search = GridSearchCV(named(make()), grid, refit="accuracy", **how).fit(X, Y)
    assert np.isfinite(search.cv_results_["mean_test_amplification"]).all()
    assert amplification_scorer()(search, X, Y) == pytest.approx(-abs(value_of(search)))
    params = {"sensitive_features": SEX}
    with sklearn.config_context(enable_metadata_routing=True):
        routed = AuditedClassifier(make(), auditor=quiet())
        found = cross_validate(routed, X, Y, params=params, **how)
        assert np.isfinite(found["test_amplification"]).all()
    result = cross_audit(make(), X, Y, **params, cv=2, auditor=quiet(), n_halvings=0)
    assert np.isfinite(result.value)


@every_model
def test_calibrated_thresholded_and_mitigated(make):
    calibrated = CalibratedClassifierCV(named(make()), cv=2).fit(X, Y)
    assert amplification_scorer()(calibrated, X, Y) == pytest.approx(-abs(value_of(calibrated)))
    threshold = BaseRateThresholdClassifier(make()).fit(X, Y)
    assert 0.3 < threshold.predict(X).mean() < 0.8
    constrained = CorpusConstraintClassifier(make(), sensitive="sex").fit(X, Y)
    assert constrained.constrain(X).table["met"].all()
    if make is not net_of_skorch:  # its number of columns is fixed, and this mitigation hides one
        apart = DomainIndependentClassifier(make(), sensitive="sex").fit(X, Y)
        assert_array_equal(np.unique(apart.predict(X)), [0, 1])


def test_optuna_searches_for_accuracy_and_little_amplification():
    optuna = client("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)

    def both(trial):
        linear = LogisticRegression(C=trial.suggest_float("C", 1e-3, 1, log=True))
        found = cross_validate(named(linear), X, Y, cv=2, scoring=BOTH, error_score="raise")
        return found["test_accuracy"].mean(), found["test_amplification"].mean()

    sampler = optuna.samplers.RandomSampler(seed=0)
    study = optuna.create_study(directions=["maximize", "maximize"], sampler=sampler)
    study.optimize(both, n_trials=4)
    assert all(one.values[0] > 0.5 and one.values[1] <= 0 for one in study.best_trials)


def test_mapie_wraps_an_audited_classifier():
    kind = client("mapie.classification").SplitConformalClassifier
    audited = named(LogisticRegression()).fit(X, Y)
    conformal = kind(estimator=audited, prefit=True, confidence_level=0.9).conformalize(X, Y)
    predicted, sets = conformal.predict_set(X)
    assert_array_equal(predicted, audited.predict(X))
    assert 0.85 < sets[np.arange(N), Y, 0].mean() <= 1
    report = skbiasamp.audit(Y, predicted, sensitive_features=SEX, auditor=[quiet()])
    assert report["directional A->T"].published == pytest.approx(value_of(audited))


def test_the_readme_has_the_numbers_of_fairlearn():
    metrics = client("fairlearn.metrics")
    text = (Path(__file__).parents[1] / "README.md").read_text("utf-8")
    names = {}
    for example in doctest.DocTestParser().get_examples(text):
        exec(compile(example.source, "README.md", "single"), names)
    rows = [names[name] == "charged again" for name in ("y_test", "predicted")]
    for name in ("demographic_parity_difference", "equalized_odds_difference"):
        number = getattr(metrics, name)(*rows, sensitive_features=names["race_test"])
        assert re.search(rf"Fairlearn: `{name}` \|[^|]*\| they differ by {number:.2f} \|", text)


@pytest.mark.parametrize("by_column", [True, False], ids=["a column", "passed"])
@pytest.mark.parametrize("kind", ["ThresholdOptimizer", "ExponentiatedGradient", "GridSearch"])
def test_mitigations_of_fairlearn_are_audited_without_routing(kind, by_column):
    reductions = client("fairlearn.reductions")
    if kind == "ThresholdOptimizer":
        post = client("fairlearn.postprocessing")
        model = post.ThresholdOptimizer(estimator=LogisticRegression(), predict_method="auto")
    else:
        sizes = {"ExponentiatedGradient": {"max_iter": 5}, "GridSearch": {"grid_size": 5}}
        parity = reductions.DemographicParity()
        model = getattr(reductions, kind)(LogisticRegression(), parity, **sizes[kind])
    passed = {} if by_column else {"sensitive_features": X["sex"]}
    audited = AuditedClassifier(model, auditor=quiet(), sensitive="sex" if by_column else None)
    audited.fit(X, Y, **passed)
    result = audited.audit(X, Y, **passed)
    alone = clone(model).fit(X, Y, sensitive_features=X["sex"])
    asked = passed or {"sensitive_features": X["sex"]} if kind == "ThresholdOptimizer" else {}
    predicted = alone.predict(X, **asked)
    # Two of the three draw some of their predictions at random.
    expected = directional_amplification(Y, predicted, sensitive_features=SEX)
    assert result.value == pytest.approx(expected, abs=0.03)
    if by_column:
        assert 0.6 < audited.score(X, Y) < 0.9
        found = cross_validate(audited, X, Y, cv=2, scoring=BOTH, error_score="raise")
        assert np.isfinite(found["test_amplification"]).all()
    folds = cross_audit(model, X, Y, sensitive_features=X["sex"], cv=2, n_halvings=0)
    assert np.isfinite(folds.value)


@pytest.mark.parametrize("bound", [0.005, 0.05])
def test_a_constraint_keeps_the_rates_of_the_labels(bound):
    reductions = client("fairlearn.reductions")
    # Height correlates with sex, and skill is poorly measured.
    rng = np.random.default_rng(0)
    sex = rng.choice(["f", "m"], 4000)
    skill, height = rng.normal(size=4000), (sex == "m") + rng.normal(0, 0.3, 4000)
    hired = (skill + (sex == "m") + rng.normal(0, 0.5, 4000) > 0.5).astype(int)
    features = np.column_stack([skill + rng.normal(0, 3, 4000), height])
    constraint = AmplificationParity(difference_bound=bound)
    model = reductions.ExponentiatedGradient(LogisticRegression(), constraint)
    model = pickle.loads(pickle.dumps(clone(model))).fit(features, hired, sensitive_features=sex)
    # The mean of its random decisions.
    weights = model.weights_[model.weights_ > 0]
    mean = sum(w * model.predictors_[i].predict(features) for i, w in weights.items())
    plain = LogisticRegression().fit(features, hired).predict(features)
    for group in ("f", "m"):
        own = sex == group
        assert abs(plain[own].mean() - hired[own].mean()) > 0.1
        # It goes as far as the bound lets it.
        assert abs(mean[own].mean() - hired[own].mean()) == pytest.approx(bound, abs=0.002)


def test_a_search_tries_fairlearn():
    client("fairlearn.reductions")
    # A pipeline, and a model that takes no weights.
    for model in (make_pipeline(StandardScaler(), LogisticRegression()), KNeighborsClassifier(25)):
        result = search(
            model, X, Y, sensitive_features=X["sex"], cv=2, limit=None,
            scoring="accuracy", uses_group=True, random_state=0,
        )  # fmt: skip
        table = result.table.set_index("candidate")
        assert table["status"].eq("no limit").all()
        assert table.loc["ThresholdOptimizer", "needs_group"]
        assert not table.loc["ExponentiatedGradient", "needs_group"]
        for name in ("ExponentiatedGradient", "GridSearch"):
            assert table.loc[name, "accuracy"] > table.loc["none", "accuracy"] - 0.05


def test_fairlearn_agrees_on_tables_by_each_column_and_by_all():
    metrics = client("fairlearn.metrics")
    groups = pd.DataFrame({"sex": SEX, "age": np.where(X["noise"] > 0, "old", "young")})
    predicted = (X["skill"] + X["noise"] / 2 > 0.2).astype(int)
    rates = skbiasamp.selection_rates(predicted, y_true=Y, sensitive_features=groups)
    table, differences = rates.table.set_index("by"), rates.differences.set_index("by")
    measured = {
        "selection_rate": metrics.selection_rate,
        "true_positive_rate": metrics.true_positive_rate,
        "false_positive_rate": metrics.false_positive_rate,
    }
    for by, features in {"sex": "sex", "age": "age", "sex and age": ["sex", "age"]}.items():
        held = {"y_true": Y, "y_pred": predicted, "sensitive_features": groups[features]}
        frame = metrics.MetricFrame(metrics=measured, **held)
        own = table.loc[by].set_index("category")
        ours = np.array([own.loc[[name]].iloc[0][list(measured)] for name in frame.by_group.index])
        np.testing.assert_allclose(
            ours.astype(float), frame.by_group.to_numpy(), rtol=0, atol=1e-12
        )
        if by == "sex":
            report = skbiasamp.audit(**held, auditor=[quiet()])
            rates = report.rates.rename(columns={"predicted_rate": "selection_rate"})
            ours = rates.set_index("group")[list(measured)]
            np.testing.assert_allclose(ours, frame.by_group, rtol=0, atol=1e-12)
        ratios = (frame.by_group / frame.group_max())["selection_rate"]
        np.testing.assert_allclose(
            [own.loc[[name]].iloc[0]["impact_ratio"] for name in ratios.index],
            ratios, rtol=0, atol=1e-12,
        )  # fmt: skip
        for name in (
            "demographic_parity_difference",
            "demographic_parity_ratio",
            "equalized_odds_difference",
        ):
            assert differences.loc[by, name] == pytest.approx(
                getattr(metrics, name)(**held), abs=1e-12
            )


def report_of_skore(predict, **train):
    """Return skore's report of a model that predicts as told, of which `train` may be known."""

    class Told(LogisticRegression):
        def predict(self, X):
            return predict(X)

    model = Told() if train else Told().fit(X, Y)
    return client("skore").EstimatorReport(model, X_test=X, y_test=Y, pos_label=1, **train)


def section_of(report, check):
    """Return what skore shows of a check, beside its own checks."""
    report.checks.add([check])
    summary = report.checks.summarize(fast_mode=True)
    (row,) = summary.frame().query("code == @check.code").itertuples()
    assert pd.isna(row.documentation_url)
    for shown in (repr(summary), summary._repr_html_()):
        assert check.title in shown
    return row.section, row.explanation


def test_skore_reports_take_the_check():
    skore = client("skore")
    by_sex, alike = (lambda X: X["sex"]), (lambda X: (X["skill"] > 0).astype(int))
    check = AmplificationCheck("sex", favourable=1)
    assert isinstance(check, skore.Check)
    section, explanation = section_of(report_of_skore(by_sex), check)
    audit = partial(
        skbiasamp.audit,
        *(Y, X["sex"]),
        sensitive_features=X["sex"],
        auditor=DirectionalAuditor(),
        favourable=1,
    )
    assert (section, explanation) == ("issue", audit().verdict)
    known = report_of_skore(by_sex, X_train=X, y_train=1 - Y)  # directions are those of training
    made = audit(y_train=1 - Y, sensitive_train=X["sex"])
    assert (audit().facts.verdict, made.facts.verdict) == ("amplifies", "reverses")
    assert section_of(known, check) == ("issue", made.verdict)
    assert section_of(report_of_skore(lambda X: Y), check)[0] == "passed"
    # A wide limit lets the first model pass, a narrow one refuses a model that is not clearly so.
    assert section_of(report_of_skore(by_sex), AmplificationCheck("sex", limit=0.9))[0] == "passed"
    assert section_of(report_of_skore(alike), AmplificationCheck("sex", limit=0.001))[0] == "issue"


def test_skore_pages_survive_what_cannot_be_checked():
    numbers = X["skill"] + X["noise"]
    of_numbers = client("skore").EstimatorReport(
        LinearRegression().fit(X, numbers), X_test=X, y_test=numbers
    )
    for made, sensitive, reason in (
        (report_of_skore(lambda X: X["sex"]), "gender", "gender"),
        (of_numbers, "sex", "NumericAuditor"),
    ):
        section, explanation = section_of(made, AmplificationCheck(sensitive, code="sba"))
        assert section == "not_applicable"
        assert reason in explanation


@pytest.mark.parametrize("stored", ["auditor", "classifier", "scorer"])
def test_skops_stores_what_is_fitted(stored):
    skops = client("skops.io")
    models = {
        "auditor": DirectionalAuditor().fit(Y, sensitive_features=SEX),
        "classifier": named(LogisticRegression()).fit(X, Y),
        "scorer": amplification_scorer(),
    }
    file = io.BytesIO(skops.dumps(models[stored]))
    trusted = skops.get_untrusted_types(file=file)
    assert all(name.startswith("skbiasamp.") for name in trusted)
    again = skops.loads(file.getvalue(), trusted=trusted)
    if stored == "auditor":
        predicted = (X["skill"] > 0).astype(int)
        rows = {"y_true": Y, "y_pred": predicted, "sensitive_features": SEX}
        assert again.audit(**rows).to_json() == models[stored].audit(**rows).to_json()
        pd.testing.assert_frame_equal(again.base_rates_, models[stored].base_rates_)
    elif stored == "scorer":
        assert again(models["classifier"], X, Y) == models[stored](models["classifier"], X, Y)
    else:
        assert_array_equal(again.predict(X), models[stored].predict(X))


def test_the_recipe_for_mlflow_logs_a_report(tmp_path):
    """A real store. It refuses names with `>`."""
    mlflow = client("mlflow")
    page = Path(__file__).resolve().parents[1].joinpath("docs", "recipes.md").read_text("utf-8")
    (recipe,) = re.findall(r"```python\n(import mlflow\n.*?)```", page, re.DOTALL)
    predicted = (X["skill"] > 0).astype(int)
    report = skbiasamp.audit(Y, predicted, sensitive_features=SEX, random_state=0)
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path / 'mlflow.db'}")
    mlflow.create_experiment("bias", artifact_location=str(tmp_path / "artifacts"))
    mlflow.set_experiment("bias")
    exec(recipe, {"report": report})
    kept = mlflow.last_active_run().data
    assert kept.tags["bias.verdict"] == report.verdict
    result = report["directional A->T"]
    for part in ("value", "low", "high"):
        assert kept.metrics[f"bias/directional A to T/{part}"] == getattr(result, part)
    (written,) = (tmp_path / "artifacts").rglob("bias.html")
    assert written.read_text("utf-8").startswith("<!")
