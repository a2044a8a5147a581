"""The public check of an auditor passes a metric of a user's own, and names a broken promise."""

import re
from dataclasses import replace

import numpy as np
import pytest

from skbiasamp import DirectionalAuditor
from skbiasamp.inference.pairs import MeanChange
from skbiasamp.metrics import AttackAuditor, CooccurrenceAuditor, Pairs, associate
from skbiasamp.testing import check_auditor


class OwnAuditor(CooccurrenceAuditor):
    """The smallest metric: the change of each group's rate along its association."""

    metric = "own"
    percent = True

    def measure(self, train, test):
        return Pairs(
            test.groups,
            test.tasks,
            labelled=associate(test, "task", given="group"),
            predicted=associate(test, "task_pred", given="group"),
            reference=associate(train, "task", given="group"),
        )


class ExposureAuditor(AttackAuditor):
    """The smallest attack."""

    metric = "exposure"

    def _attacks(self):
        return ("task", "group"), ("task_pred", "group")

    def _amplification(self, data, model):
        return model - data


@pytest.mark.parametrize("kind", [OwnAuditor, ExposureAuditor])
def test_the_smallest_metric_keeps_all_promises(kind):
    auditor = kind(confidence_level=0.9)
    assert check_auditor(auditor) is None
    assert repr(auditor) == f"{kind.__name__}(confidence_level=0.9)"
    assert not hasattr(auditor, "contingency_")


class Doubled(OwnAuditor):
    def __init__(self, power=1, **options):
        super().__init__(**options)
        self.power = 2 * power


class Nameless(OwnAuditor):
    metric = ""


class Adjusting(OwnAuditor):
    def fit(self, *labels, **named):
        self.adjust = "fdr"
        return super().fit(*labels, **named)


class Apart(OwnAuditor):
    def _value(self, test):
        return super()._value(test) + 0.1


class Unpicklable(OwnAuditor):
    def fit(self, *labels, **named):
        self.rule_ = lambda value: value
        return super().fit(*labels, **named)


class Ordered(OwnAuditor):
    def fit(self, y_train, **named):
        super().fit(y_train, **named)
        self.first_ = np.ravel(y_train)[0] == 1
        return self

    def measure(self, train, test):
        return replace(super().measure(train, test), aggregate=MeanChange(2 + self.first_))


class Unweighted(OwnAuditor):
    def fit(self, y_train, sample_weight=None, **named):
        return super().fit(y_train, **named)

    def score(self, *labels, sample_weight=None, **named):
        return super().score(*labels, **named)


class Forgetful(OwnAuditor):
    def partial_fit(self, *labels, **named):
        return self.fit(*labels, **named)

    def measure(self, train, test):
        return replace(
            super().measure(train, test), aggregate=MeanChange(1000 / self.n_samples_fit_)
        )


class Unstorable(OwnAuditor):
    def _result(self, test):
        return replace(super()._result(test), params={"sign": object()}, low=np.inf)


class Credulous(OwnAuditor):
    def score(self, *labels, **named):
        try:
            return super().score(*labels, **named)
        except ValueError:
            return 0.0


class Biased(OwnAuditor):
    def measure(self, train, test):
        own = super().measure(train, test)
        return replace(own, change=own.predicted - own.labelled * 0.5)


@pytest.mark.parametrize(
    ("broken", "promise"),
    [
        (Doubled, "the constructor stores each parameter as it came, and a clone"),
        (Nameless, "it says what it measures"),
        (Adjusting, "fit and audit leave the parameters alone"),
        (Apart, "score is the value of audit"),
        (Unpicklable, "a pickled copy and a clone"),
        (Ordered, "the order of rows changes nothing"),
        (Unweighted, "a whole weight counts as so many rows"),
        (Forgetful, "training labels in chunks add up"),
        (Unstorable, "a result is written as JSON, with the same numbers"),
        (Credulous, "bad input raises an error"),
        (Biased, "a model that is always right amplifies nothing"),
    ],
)
def test_a_broken_promise_is_named(broken, promise):
    message = f"{broken.__name__} breaks a promise: {promise}"
    with pytest.raises(AssertionError, match=f"^{re.escape(message)}"):
        check_auditor(broken())


def test_an_auditor_of_the_package_is_checked_with_its_own_parameters():
    check_auditor(DirectionalAuditor("T->A", ties="negative", interval=None))
