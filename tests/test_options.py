"""Options are declared once, in the class: constructor, copies, checks and texts follow."""

import inspect
import pickle
from dataclasses import replace

import pytest
from discovery import public_objects
from sklearn.base import clone
from sklearn.utils._param_validation import StrOptions

from skbiasamp import AuditedClassifier, Contingency, DirectionalAuditor, NumericAuditor
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
        assert (copy.power, copy.interval, copy.confidence_level) == (2, None, 0.95)
    base = {*inspect.signature(DirectionalAuditor).parameters}
    assert {*auditor.get_params()} >= (base | {"power"}) - {"adjust"}
    assert auditor.set_params(power=3).power == 3
    with pytest.raises(ValueError, match="Invalid parameter 'pover'"):
        auditor.set_params(pover=3)
    check_auditor(kind())
    assert "pos_label" not in NumericAuditor().get_params()
    assert Below().adjust is None
    text = inspect.getdoc(Powered)
    assert text.index("direction : ") < text.index("power : int, default=1") < text.index("ties : ")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Powered(tie="zero"), "unexpected keyword argument 'tie': did you mean 'ties'?"),
        (lambda: Powered("A->T", 2), "takes direction by position and the rest by name; got 2"),
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


CALLED = {name: one for name, one in public_objects().items() if inspect.isfunction(one)}
CALLED |= {"from_labels": Contingency.from_labels, "from_frame": Contingency.from_frame}


def test_every_public_function_names_the_nearest_word():
    for name, function in CALLED.items():
        parameters = [*inspect.signature(function).parameters.values()]
        if parameters and all(each.kind is not each.VAR_KEYWORD for each in parameters):
            known = parameters[-1].name
            with pytest.raises(TypeError, match=rf"{known}x': did you mean '{known}'") as error:
                function(**{f"{known}x": 1})
            assert f"{name}()" in str(error.value)


def test_a_function_of_ones_own_metric_takes_its_options():
    class SquareAuditor(DirectionalAuditor):
        metric = "square root"
        scale = Option(1.0)

        def measure(self, train, test, **fixed):
            pairs = super().measure(train, test, **fixed)
            return replace(pairs, sign=self.scale * pairs.sign, signs=None)

    square = function_of(SquareAuditor)
    labels, by = ([1, 0, 0, 0] * 10, [1, 0] * 20), {"sensitive_features": ["f", "m"] * 20}
    assert square(*labels, **by) == 0.25
    assert square(*labels, **by, scale=2) == 0.5
    assert square.__name__ == "square_root_amplification"
    parameters = {*inspect.signature(square).parameters}
    assert {"scale", "ties", "y_train"} <= parameters
    assert not {"interval", "formula"} & parameters
    with pytest.raises(ValueError, match="The 'ties' parameter of square_root_amplification"):
        square(*labels, **by, ties="odd")
    named = function_of(Powered, "powers", without=["y_train", "sensitive_train"])
    assert named.__name__ == "powers"
    assert "y_train" not in inspect.signature(named).parameters
