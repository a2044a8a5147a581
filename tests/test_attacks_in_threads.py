"""Audits side by side in threads leave the filters of warnings alone, and lose no warning."""

import ast
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from threadpoolctl import threadpool_info, threadpool_limits

import skbiasamp
from skbiasamp import DirectionalAuditor, LeakageAuditor
from skbiasamp.inference import UncertaintyWarning


def rows(seed):
    rng = np.random.default_rng(seed)
    sex, cooks, predicted = rng.integers(2, size=(3, 300))
    return cooks, predicted, sex


def wrong():
    """Return rows of which an audit of leakage warns: predictions are worse than random."""
    return [0, 0, 1, 1] * 25, [1, 1, 0, 0] * 25, ["f", "m"] * 50


def leakage():
    return LeakageAuditor(cv=None, n_resamples=20, random_state=0)


def blas_threads():
    return {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}


class Looking(DummyClassifier):
    """An attacker that notes in how many threads linear algebra runs."""

    seen = set()  # noqa: RUF012 - of all clones

    def fit(self, X, y, sample_weight=None):
        self.seen.update(blas_threads())
        return super().fit(X, y, sample_weight)


def test_attackers_train_in_one_thread_and_leave_the_number_as_it_was():
    def audit(seed):
        y_true, y_pred, sex = rows(seed)
        auditor = LeakageAuditor(attacker=Looking(), n_draws=2, n_resamples=20, random_state=0)
        auditor.audit(y_true, y_pred, sensitive_features=sex)

    with threadpool_limits(3, user_api="blas"):
        before = blas_threads()
        audit(0)
        assert (Looking.seen, blas_threads()) == ({1}, before)
    before = blas_threads()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(audit, range(8)))
    assert blas_threads() == before


def test_the_package_touches_no_filter():
    touching = {"catch_warnings", "simplefilter", "filterwarnings", "resetwarnings"}
    for path in Path(skbiasamp.__file__).parent.rglob("*.py"):
        names = {getattr(one, "attr", None) for one in ast.walk(ast.parse(path.read_text()))}
        assert not names & touching, path


def test_a_report_in_one_thread_hides_no_warning_of_another():
    started, done = threading.Event(), threading.Event()

    class Waits(DirectionalAuditor):
        """Waits in the middle of its report until the other thread is done."""

        def measure(self, *args, **kwargs):
            started.set()
            assert done.wait(60)
            return super().measure(*args, **kwargs)

    def report():
        waits = Waits(reference="test")
        skbiasamp.audit(y_true, y_pred, sensitive_features=sex, auditor=[waits])

    y_true, y_pred, sex = wrong()
    auditor = leakage()
    # The filters are set before the other thread starts.
    with warnings.catch_warnings(record=True) as seen, ThreadPoolExecutor(1) as pool:
        warnings.simplefilter("always")
        running = pool.submit(report)
        assert started.wait(60)
        auditor.audit(y_true, y_pred, sensitive_features=sex)
        done.set()
        running.result()
    assert [one for one in seen if "worse than random" in str(one.message)]


def test_runs_of_one_model_say_once_what_they_share_and_lose_nothing():
    y_true, y_pred, sex = wrong()
    # The second list: only a later run shows it.
    for y_preds in ([y_pred] * 3, [y_true, y_pred]):
        with pytest.warns(UncertaintyWarning, match="worse than random") as seen:
            leakage().audit_runs(y_true, y_preds, sensitive_features=sex)
        assert [one.filename for one in seen] == [__file__]
