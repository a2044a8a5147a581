"""`skbiasamp.testing`: assertions for tests of models, and the promises of an auditor."""

import re
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import skbiasamp
from skbiasamp import DirectionalAuditor
from skbiasamp.inference.pairs import MeanChange
from skbiasamp.metrics import AttackAuditor, CooccurrenceAuditor, Pairs, associate
from skbiasamp.testing import assert_amplification, check_auditor

SEX = ["f"] * 400 + ["m"] * 400
HIRED = [1] * 100 + [0] * 300 + [1] * 200 + [0] * 200
MORE = [1] * 60 + [0] * 340 + [1] * 250 + [0] * 150


def report_of(predicted, labels=HIRED, **options):
    options = {"auditor": [DirectionalAuditor()], **options}
    return skbiasamp.audit(labels, predicted, sensitive_features=SEX, **options)


def test_a_limit_holds_in_both_directions():
    less = report_of([1] * 140 + [0] * 260 + [1] * 160 + [0] * 240)
    result = less["directional A->T"]
    assert result.verdict == "reduces"
    assert_amplification(less, below=0)
    assert_amplification(less, limit=-result.low)
    with pytest.raises(AssertionError, match=r"reduces: failed\n"):
        assert_amplification(less, limit=0.02)


def test_a_model_that_reverses_the_association_fails_at_every_limit():
    reversing = report_of([1] * 400 + [0] * 400)
    # A pair of it is no exception.
    for given in ({}, {"group": "m"}, {"task": 1}):
        with pytest.raises(AssertionError, match="reverses: failed"):
            assert_amplification(reversing, below=0.99, **given)


def test_one_pair_is_checked_by_its_own_interval():
    report = report_of(MORE)
    table = report["directional A->T"].table.set_index("group")
    for group in "fm":
        least, most = table.loc[group, ["low", "high"]].abs().sort_values()
        assert_amplification(report, group=group, task=1, limit=most)
        with pytest.raises(AssertionError, match=rf"A->T \({group}, 1\): .*: inconclusive"):
            assert_amplification(report, group=group, limit=least)
        with pytest.raises(AssertionError, match=rf"A->T \({group}, 1\): .*: failed"):
            assert_amplification(report, group=group, limit=least - 1e-9)
    # It fails only if the test for all pairs finds it too.
    result = report["directional A->T"]
    assert table["low"]["m"] > 0.02
    doubtful = replace(result, table=result.table.assign(p_adjusted=0.2))
    for judged, outcome in ((result, "failed"), (doubtful, "inconclusive")):
        with pytest.raises(AssertionError, match=rf"A->T \(m, 1\): .*: {outcome}"):
            assert_amplification(judged, group="m", below=0.02)


def test_labels_themselves_pass_and_a_difference_that_labels_lack_does_not():
    assert_amplification(report_of(HIRED), below=0.02)
    with pytest.raises(AssertionError, match="More rows of this kind will hardly"):
        assert_amplification(report_of(HIRED), below=0)
    # The labels have no direction, and the model adds a difference: the changes are judged.
    balanced = [0, 1] * 400
    with pytest.raises(AssertionError, match="adds a difference: failed"):
        assert_amplification(report_of(MORE, balanced), below=0)
    assert_amplification(report_of(balanced, balanced), below=0.02)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"on": "directonal"}, "on must name a result of the report; got 'directonal'"),
        ({"group": "x"}, r"group must be a group of the audit; got 'x'. It has 'f' and 'm'"),
        ({"limit": 0.02, "below": 0.02}, "Pass either below or limit"),
    ],
)
def test_what_is_not_there_is_named(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        assert_amplification(report_of(MORE), **options)


def test_no_interval_is_no_pass():
    report = report_of(MORE, auditor=[DirectionalAuditor(interval=None)])
    with pytest.raises(ValueError, match="has no confidence interval of directional A->T"):
        assert_amplification(report)


@pytest.mark.pages
def test_recipes_run_the_test_of_the_page():
    folder = Path(__file__).resolve().parents[1] / "docs" / "recipes"
    names = ("github-actions.yml", "gitlab-ci.yml", "pre-commit-config.yaml")
    said = [(folder / name).read_text("utf-8") for name in names]
    # All three run the same command, which is run here once.
    (command,) = {re.search("python -m pytest.*", text)[0] for text in said}
    first, *arguments = shlex.split(command)
    assert first == "python"
    quiet = ["-p", "no:cacheprovider", "-c", "/dev/null", f"--rootdir={folder}"]
    ran = subprocess.run(
        [sys.executable, *arguments, *quiet], cwd=folder, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "1 passed" in ran.stdout


def test_a_pair_without_a_clear_direction_does_not_pass():
    """Labels do not show whether the group has more, and the model predicts 10 points more."""
    rng = np.random.default_rng(0)
    sex, hired = rng.integers(0, 2, 4_000), (rng.random(4_000) < 0.4).astype(int)
    more = np.where((sex == 0) & (rng.random(4_000) < 0.2), 1, hired)
    auditor = DirectionalAuditor(reference="test")
    result = auditor.audit(hired, more, sensitive_features=sex)
    pair = result.table.iloc[0]
    assert not pair["direction_clear"]
    assert pair["low"] > 0.02
    for given in ({"group": 0}, {}):
        with pytest.raises(AssertionError, match="failed"):
            assert_amplification(result, below=0.02, **given)
    assert_amplification(result, below=0.02, group=1)


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
