"""LeakageProbe: what can be told of the attribute, anywhere in a pipeline."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.ensemble import StackingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from skbiasamp import LeakageProbe

UNMEASURED = "LeakageProbe was fitted without the sensitive feature"


@pytest.fixture
def people():
    rng = np.random.default_rng(0)
    n = 600
    sex = rng.choice(["f", "m"], n)
    return pd.DataFrame(
        {
            "sex": sex,
            "height": np.where(sex == "f", 165, 178) + rng.normal(0, 7, n),
            "age": rng.normal(40, 9, n),
            "job": np.where(rng.random(n) < 0.8, np.where(sex == "f", "nurse", "smith"), "clerk"),
        }
    )


def test_tells_as_well_as_a_model_cross_validated_by_hand(people):
    probe = LeakageProbe(sensitive="sex", n_draws=20, random_state=0).fit(people)
    X = people[["height", "age"]].join(pd.get_dummies(people["job"]).astype(float))
    by_hand = make_pipeline(StandardScaler(), LogisticRegression(class_weight="balanced"))
    told = cross_val_predict(by_hand, X, people["sex"], cv=5)
    recalls = [(told == people["sex"])[people["sex"] == sex].mean() for sex in "fm"]
    assert probe.leakage_ == pytest.approx(np.mean(recalls), abs=0.01)
    assert probe.chance_ == 0.5
    assert probe.interval_[0] < probe.leakage_ < probe.interval_[1]
    assert probe.attacker_ == "LogisticRegression"


def test_noise_tells_nothing_beside_the_sensitive_column_either(people):
    passed = LeakageProbe(random_state=0).fit(people[["age"]], sensitive_features=people["sex"])
    named = LeakageProbe(sensitive="sex", random_state=0).fit(people[["sex", "age"]])
    assert passed.leakage_ == named.leakage_ < 0.55


@pytest.mark.filterwarnings(f"ignore:{UNMEASURED}")
def test_passes_inside_unions_and_column_transformers(people):
    X = people[["height", "age"]]
    union = FeatureUnion([("a", LeakageProbe()), ("b", LeakageProbe())]).set_output(
        transform="pandas"
    )
    assert list(union.fit_transform(X).columns) == ["a__height", "a__age", "b__height", "b__age"]
    columns = ColumnTransformer([("p", LeakageProbe(), ["age"])], verbose_feature_names_out=False)
    columns.set_output(transform="pandas")
    pd.testing.assert_frame_equal(columns.fit_transform(X), X[["age"]])


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array, pd.DataFrame])
def test_what_goes_in_comes_out(people, make):
    X = make(people[["height", "age"]].to_numpy())
    probe = LeakageProbe(random_state=0).fit(X, sensitive_features=people["sex"])
    assert probe.transform(X) is X
    dense = LeakageProbe(random_state=0).fit(
        people[["height", "age"]].to_numpy(), sensitive_features=people["sex"]
    )
    assert probe.leakage_ == dense.leakage_


def test_an_attacker_may_get_its_methods_in_fit(people):
    members = [("tree", DecisionTreeClassifier(max_depth=2, random_state=0))]
    stacks = [StackingClassifier(members), StackingClassifier(members, LogisticRegression())]
    first, second = (
        LeakageProbe(attacker=stack, cv=2, random_state=0)
        .fit(people[["height"]], sensitive_features=people["sex"])
        .leakage_
        for stack in stacks
    )
    assert first == second > 0.6


def test_the_callers_columns_keep_their_names(people):
    frame = pd.DataFrame(people[["height", "age"]].to_numpy())  # columns 0 and 1
    frame.columns.name = "feature"
    before = frame.columns.copy()
    probe = LeakageProbe(random_state=0).set_output(transform="pandas")
    passed = probe.fit_transform(frame, sensitive_features=people["sex"])
    assert list(passed.columns) == ["x0", "x1"]  # as of any transformer of scikit-learn
    pd.testing.assert_index_equal(frame.columns, before)


def test_missing_numbers_are_marked_for_attackers(people):
    ages = people["age"].where(~((people["sex"] == "f") & (people["age"] > 35)))
    probe = LeakageProbe(random_state=0).fit(ages.to_frame(), sensitive_features=people["sex"])
    assert probe.leakage_ > 0.8


def test_a_probe_that_measures_nothing_says_so_at_once(people):
    with pytest.warns(UserWarning, match=UNMEASURED) as caught:
        make_pipeline(LeakageProbe(), PCA(1)).fit(people[["height", "age"]])
    (warning,) = caught
    for way in ("Pass sensitive_features", "LeakageProbe(..., sensitive='sex')", "routing"):
        assert way in str(warning.message)


@pytest.mark.filterwarnings(f"ignore:{UNMEASURED}")
def test_without_an_attribute_it_only_passes(people):
    probe = LeakageProbe(random_state=0).fit(people)
    assert not hasattr(probe, "leakage_")
    assert probe.transform(people) is people
    assert_array_equal(probe.get_feature_names_out(), people.columns)
    for name in ("leakage_", "chance_", "interval_", "attacker_"):
        with pytest.raises(AttributeError, match=rf"^{name} exists after .* LeakageProbe"):
            getattr(probe, name)
    with pytest.raises(AttributeError, match=r"^'LeakageProbe' object has no attribute 'leakage'"):
        _ = probe.leakage
    # A fit with an attribute before is forgotten.
    assert probe.fit(people, sensitive_features=people["sex"]).leakage_ > 0.5
    assert not hasattr(probe.fit(people), "leakage_")
    with pytest.raises(ValueError, match="10 rows but X has 600"):
        probe.fit(people, sensitive_features=["f"] * 10)


class Flattened(LogisticRegression):
    """A classifier of images, as a skorch net is."""

    def fit(self, X, y, sample_weight=None):
        assert X.ndim == 4
        return super().fit(X.reshape(len(X), -1), y, sample_weight)

    def predict(self, X):
        return super().predict(X.reshape(len(X), -1))


@pytest.mark.parametrize("hold", [np.array, np.ndarray.tolist, "tensor"])
def test_images_go_to_attackers_that_take_them(hold):
    """The probe refused what has more than two dimensions."""
    rng = np.random.default_rng(0)
    sex = rng.choice(["f", "m"], 200)
    images = rng.normal(size=(200, 1, 3, 3))
    images[:, 0, 1, 1] += 2 * (sex == "m")
    if hold == "tensor":
        hold = pytest.importorskip("torch").tensor
    held = hold(images)
    how = {"random_state": 0, "n_resamples": 2}
    probe = LeakageProbe(attacker=Flattened(), **how).fit(held, sensitive_features=sex)
    flat = LeakageProbe(attacker=LogisticRegression(), **how)
    flat.fit(images.reshape(200, -1), sensitive_features=sex)
    assert probe.leakage_ == flat.leakage_ > 0.7
    assert_array_equal(np.asarray(probe.transform(held)), images)
    for attacker in ("auto", "mlp"):
        with pytest.raises(ValueError, match=rf"X has 4 dimensions, and attacker='{attacker}'"):
            LeakageProbe(attacker=attacker).fit(held, sensitive_features=sex)
    with pytest.raises(ValueError, match="X has missing or infinite values in 200 rows"):
        probe.fit(images * np.nan, sensitive_features=sex)


def test_features_that_reveal_the_group_together_are_ranked_first():
    """Sex is whether two coins differ: each alone tells nothing, and without it all is lost."""
    first, second, noise = (np.tile(np.repeat([0, 1], n), 200 // n) for n in (200, 100, 50))
    X = pd.DataFrame({"noise": noise, "first": first, "second": second})
    sex = np.where(first != second, "f", "m")
    table = LeakageProbe(random_state=0).rank_features(X, sensitive_features=sex)
    assert set(table["feature"][:2]) == {"first", "second"}
    assert not table["proxy"].any()
    lost = table.set_index("feature")["lost"]
    assert lost["noise"] == 0
    assert (lost[["first", "second"]] > 0.4).all()
    # Of two features, what is lost without one is what the other falls short of all.
    two = LeakageProbe(random_state=0).rank_features(X[["first", "second"]], sensitive_features=sex)
    alone = two.set_index("feature")["leakage"]
    for row in two.itertuples():
        other = {"first": "second", "second": "first"}[row.feature]
        assert row.lost == pytest.approx(1 - alone[other])


def test_features_are_ranked_wherever_the_sensitive_feature_is(people):
    named = LeakageProbe(sensitive="sex", random_state=0)
    table = named.rank_features(people)
    assert table["feature"].tolist() == ["job", "height", "age"]
    assert "sex" not in set(table["feature"])
    assert not hasattr(named, "leakage_")
    rest = people.drop(columns="sex")
    passed = LeakageProbe(random_state=0).rank_features(rest, sensitive_features=people["sex"])
    pd.testing.assert_frame_equal(passed, table)
    alone = LeakageProbe(sensitive="sex", confidence_level=1 - 0.05 / 3, random_state=0)
    own = alone.fit(people[["sex", "height"]])
    row = table.set_index("feature").loc["height"]
    assert row["leakage"] == pytest.approx(own.leakage_, abs=0.01)
    numbers = people[["height", "age"]].to_numpy()
    for X in (numbers, sparse.csr_matrix(numbers)):
        found = LeakageProbe(random_state=0).rank_features(X, sensitive_features=people["sex"])
        assert found["feature"].tolist() == [0, 1]
    lone = LeakageProbe(random_state=0).rank_features(
        numbers[:, :1], sensitive_features=people["sex"]
    )
    assert np.isnan(lone["lost"].item())
    with pytest.raises(ValueError, match="needs the sensitive feature in rank_features"):
        LeakageProbe().rank_features(rest)


@pytest.mark.parametrize("library", [pd, pl])
def test_dates_beside_numbers_are_read(library):
    rng = np.random.default_rng(0)
    days = np.datetime64("2026-01-01", "us") + rng.integers(9, size=200).astype("m8[D]")
    frame = library.DataFrame({"age": rng.normal(size=200), "day": days})
    sex = np.where(days < days.min() + np.timedelta64(4, "D"), "f", "m")
    probe = LeakageProbe(n_draws=2, n_resamples=9, random_state=0)
    assert probe.fit_transform(frame, sensitive_features=sex) is frame
    assert probe.leakage_ > 0.95
