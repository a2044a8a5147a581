"""LeakageProbe: what can be told of the attribute, anywhere in a pipeline."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.ensemble import StackingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from skbiasamp import LeakageProbe

UNMEASURED = "LeakageProbe was fitted without the sensitive feature"


SEX = np.random.default_rng(0).choice(["f", "m"], 600)
BY = {"sensitive_features": SEX}


@pytest.fixture
def people():
    rng, n = np.random.default_rng(1), 600
    job = np.where(rng.random(n) < 0.8, np.where(SEX == "f", "nurse", "smith"), "clerk")
    height = np.where(SEX == "f", 165, 178) + rng.normal(0, 7, n)
    return pd.DataFrame({"sex": SEX, "height": height, "age": rng.normal(40, 9, n), "job": job})


def probe(**options):
    return LeakageProbe(**{"random_state": 0, **options})


def test_tells_as_well_as_a_model_cross_validated_by_hand(people):
    found = probe(sensitive="sex", n_draws=20).fit(people)
    X = people[["height", "age"]].join(pd.get_dummies(people["job"]).astype(float))
    by_hand = make_pipeline(StandardScaler(), LogisticRegression(class_weight="balanced"))
    right = cross_val_predict(by_hand, X, SEX, cv=5) == SEX
    recalls = [right[sex == SEX].mean() for sex in "fm"]
    assert found.leakage_ == pytest.approx(np.mean(recalls), abs=0.01)
    assert found.chance_ == 0.5
    assert found.interval_[0] < found.leakage_ < found.interval_[1]
    assert found.attacker_ == "LogisticRegression"
    # Noise tells nothing, beside the sensitive column either.
    passed = probe().fit(people[["age"]], **BY)
    assert passed.leakage_ == probe(sensitive="sex").fit(people[["sex", "age"]]).leakage_ < 0.55


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array, pd.DataFrame])
def test_what_goes_in_comes_out(people, make):
    numbers = people[["height", "age"]].to_numpy()
    X = make(numbers)
    found = probe().fit(X, **BY)
    assert found.transform(X) is X
    assert found.leakage_ == probe().fit(numbers, **BY).leakage_


def test_an_attacker_may_get_its_methods_in_fit(people):
    members = [("tree", DecisionTreeClassifier(max_depth=2, random_state=0))]
    stacks = (StackingClassifier(members, final) for final in (None, LogisticRegression()))
    first, second = (probe(attacker=one, cv=2).fit(people[["height"]], **BY) for one in stacks)
    assert first.leakage_ == second.leakage_ > 0.6
    # Missing numbers are marked for attackers.
    ages = people[["age"]].where(~((SEX == "f") & (people["age"] > 35)))
    assert probe().fit(ages, **BY).leakage_ > 0.8


def test_a_probe_that_measures_nothing_says_so_at_once(people):
    with pytest.warns(UserWarning, match=UNMEASURED):
        make_pipeline(LeakageProbe(), PCA(1)).fit(people[["height", "age"]])


@pytest.mark.filterwarnings(f"ignore:{UNMEASURED}")
def test_without_an_attribute_it_only_passes(people):
    found = probe().fit(people)
    assert not hasattr(found, "leakage_")
    assert found.transform(people) is people
    assert_array_equal(found.get_feature_names_out(), people.columns)
    with pytest.raises(AttributeError, match=r"^leakage_ exists after .* LeakageProbe"):
        _ = found.leakage_
    # A fit with an attribute before is forgotten.
    assert found.fit(people, **BY).leakage_ > 0.5
    assert not hasattr(found.fit(people), "leakage_")
    columns = ColumnTransformer([("p", probe(), ["age"])], verbose_feature_names_out=False)
    columns.set_output(transform="pandas")
    pd.testing.assert_frame_equal(columns.fit_transform(people), people[["age"]])


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
    if hold == "tensor":
        hold = pytest.importorskip("torch").tensor
    images = np.random.default_rng(0).normal(size=(600, 1, 3, 3))
    images[:, 0, 1, 1] += 2 * (SEX == "m")
    held, how = hold(images), {"n_resamples": 2}
    found = probe(attacker=Flattened(), **how).fit(held, **BY)
    flat = probe(attacker=LogisticRegression(), **how).fit(images.reshape(600, -1), **BY)
    assert found.leakage_ == flat.leakage_ > 0.7
    assert_array_equal(np.asarray(found.transform(held)), images)
    with pytest.raises(ValueError, match="X has 4 dimensions, and attacker='auto'"):
        LeakageProbe().fit(held, **BY)


def test_features_that_reveal_the_group_together_are_ranked_first():
    """Sex is whether two coins differ: each alone tells nothing, and without it all is lost."""
    first, second, noise = (np.tile(np.repeat([0, 1], n), 200 // n) for n in (200, 100, 50))
    X = pd.DataFrame({"noise": noise, "first": first, "second": second})
    sex = np.where(first != second, "f", "m")
    table = probe().rank_features(X, sensitive_features=sex)
    assert set(table["feature"][:2]) == {"first", "second"}
    assert not table["proxy"].any()
    lost = table.set_index("feature")["lost"]
    assert lost["noise"] == 0
    assert (lost[["first", "second"]] > 0.4).all()
    # Of two features, what is lost without one is what the other falls short of all.
    two = probe().rank_features(X[["first", "second"]], sensitive_features=sex)
    assert_allclose(two["lost"], 1 - two["leakage"][::-1])


def test_features_are_ranked_wherever_the_sensitive_feature_is(people):
    named, rest = probe(sensitive="sex"), people.drop(columns="sex")
    table = named.rank_features(people)
    assert table["feature"].tolist() == ["job", "height", "age"]
    assert not hasattr(named, "leakage_")
    pd.testing.assert_frame_equal(probe().rank_features(rest, **BY), table)
    own = probe(confidence_level=1 - 0.05 / 3).fit(people[["height"]], **BY)
    row = table.set_index("feature").loc["height"]
    assert row["leakage"] == pytest.approx(own.leakage_, abs=0.01)
    numbers = people[["height", "age"]].to_numpy()
    for X in (numbers, sparse.csr_matrix(numbers)):
        assert probe().rank_features(X, **BY)["feature"].tolist() == [0, 1]
    assert np.isnan(probe().rank_features(numbers[:, :1], **BY)["lost"].item())
