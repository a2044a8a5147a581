"""Options are declared once, in the class: constructor, copies, checks and texts follow."""

import inspect
import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.utils._param_validation import StrOptions

from skbiasamp import AuditedClassifier, DirectionalAuditor, NumericAuditor
from skbiasamp.metrics import Option, function_of
from skbiasamp.testing import check_auditor


class Powered(DirectionalAuditor):
    """Audit a power.

    Parameters
    ----------
    power : int, default=1
        An exponent.
    %(shared)s
    """

    metric = "powered"
    power: int = Option(1, int)


class Written(DirectionalAuditor):
    def __init__(self, power=1, **options):
        super().__init__(**options)
        self.power = power


class Below(Written):
    kind_of_mean = Option("plain", StrOptions({"plain", "weighted"}), after="ties")
    adjust = None


@pytest.mark.parametrize("kind", [Powered, Written, Below])
def test_an_option_of_ones_own_is_a_parameter_beside_those_of_the_base(kind):
    auditor = kind(power=2, interval=None, direction="T->A")
    copies = clone(auditor), pickle.loads(pickle.dumps(auditor)), kind(**auditor.get_params())
    for copy in copies:
        assert repr(copy) == f"{kind.__name__}(direction='T->A', interval=None, power=2)"
        assert copy.get_params() == auditor.get_params()
        assert (copy.power, copy.interval, copy.n_resamples) == (2, None, 999)
    base = {*inspect.signature(DirectionalAuditor).parameters}
    assert {*auditor.get_params()} >= (base | {"power"}) - {"adjust"}
    assert auditor.set_params(power=3).power == 3
    with pytest.raises(ValueError, match="Invalid parameter 'pover'"):
        auditor.set_params(pover=3)
    check_auditor(kind())


def test_the_signature_lists_options_as_they_are_declared():
    names = [*inspect.signature(DirectionalAuditor).parameters]
    assert names[:4] == ["direction", "ties", "base", "sign"]
    assert [*inspect.signature(Powered).parameters] == ["direction", "power", *names[1:]]
    assert [*inspect.signature(Written).parameters] == ["power", *names]
    below = [*inspect.signature(Below).parameters]
    assert below == ["power", *names[:2], "kind_of_mean", *(n for n in names[2:] if n != "adjust")]
    assert inspect.signature(Powered).parameters["power"].annotation is int
    assert Powered("T->A").direction == "T->A"
    assert Written(2).power == 2


def test_an_attribute_in_place_of_an_option_fixes_it():
    assert "pos_label" not in NumericAuditor().get_params()
    assert Below().adjust is None
    with pytest.raises(TypeError, match=r"Below\(\) got an unexpected keyword argument 'adjust'"):
        Below(adjust="fdr")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Powered(tie="zero"), "unexpected keyword argument 'tie': did you mean 'ties'?"),
        (lambda: Powered("A->T", 2), "takes direction by position and the rest by name; got 2"),
        (lambda: Powered("A->T", direction="A->T"), "multiple values for argument 'direction'"),
        (lambda: NumericAuditor(1), "NumericAuditor takes nothing by position"),
        (lambda: AuditedClassifier(), "AuditedClassifier() is missing the argument 'estimator'"),
    ],
)
def test_a_wrong_call_of_the_constructor_says_what_is_wrong(call, message):
    with pytest.raises(TypeError) as raised:
        call()
    assert message in str(raised.value)


def test_a_constructor_that_would_lose_options_is_refused_with_the_class():
    write = "Declare your own in the class, `power = Option\\(1\\)`"
    with pytest.raises(TypeError, match=rf"^The constructor of Lossy must .*{write}"):

        class Lossy(DirectionalAuditor):
            power = Option(1)

            def __init__(self, rate=1):
                super().__init__()
                self.rate = rate

    with pytest.raises(TypeError, match=r"^The constructor of Greedy must take all"):

        class Greedy(DirectionalAuditor):
            def __init__(self, *options):
                super().__init__(*options)


def test_values_are_checked_as_declared():
    sex, hired = ["f", "m"] * 20, [0, 1] * 20
    for auditor, name in ((Powered(power="2"), "power"), (Below(kind_of_mean="odd"), "kind_of_m")):
        with pytest.raises(ValueError, match=f"The '{name}"):
            auditor.fit(hired, sensitive_features=sex)
    with pytest.raises(ValueError, match="The 'ties' parameter of Powered"):
        Powered(ties="odd").fit(hired, sensitive_features=sex)


def test_the_docstring_describes_options_of_the_base_too():
    text = inspect.getdoc(Powered)
    for entry in ("power : int, default=1", "ties : {", "base : {", "n_jobs : int", "interval : {"):
        assert entry in text
    assert text.index("direction : ") < text.index("power : ") < text.index("ties : ")
    assert "%(" not in text


def test_a_grid_searches_an_option_of_ones_own():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    sex, y = np.where(X[:, 0] > 0, "f", "m"), (X[:, 1] > 0).astype(int)
    model = AuditedClassifier(LogisticRegression(), auditor=Powered(interval=None), sensitive=None)
    search = GridSearchCV(model, {"auditor__power": [1, 2]}, cv=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search.fit(X, y, sensitive_features=sex)
    assert [params["auditor__power"] for params in search.cv_results_["params"]] == [1, 2]
    assert search.best_estimator_.auditor.get_params()["interval"] is None


def test_a_function_of_ones_own_metric_takes_its_options():
    class SquareAuditor(DirectionalAuditor):
        metric = "square root"
        scale = Option(1.0)

        def _measure(self, train, test, **fixed):
            from dataclasses import replace

            pairs = super()._measure(train, test, **fixed)
            return replace(pairs, sign=self.scale * pairs.sign)

    for other in (SquareAuditor(), dict, "SquareAuditor"):
        with pytest.raises(TypeError, match="auditor must be the class of an auditor"):
            function_of(other)
    square = function_of(SquareAuditor)
    sex, cooks, predicted = ["f", "m"] * 20, [1, 0, 0, 0] * 10, [1, 0] * 20
    assert square(cooks, predicted, sensitive_features=sex) == 0.25
    assert square(cooks, predicted, sensitive_features=sex, scale=2) == 0.5
    assert square.__name__ == "square_root_amplification"
    parameters = inspect.signature(square).parameters
    assert {"scale", "ties", "y_train"} <= {*parameters}
    assert not {"interval", "n_resamples"} & {*parameters}
    assert square.__doc__.startswith("Compute square root.\n")
    assert "y_true : array-like" in square.__doc__
    assert "ties : {" in square.__doc__
    with pytest.raises(ValueError, match="The 'ties' parameter of square_root_amplification"):
        square(cooks, predicted, sensitive_features=sex, ties="odd")
    named = function_of(Powered, "powers", without=["y_train", "sensitive_train"])
    assert named.__name__ == "powers"
    assert named.__doc__.startswith("Compute a power.")
    assert "y_train" not in inspect.signature(named).parameters
