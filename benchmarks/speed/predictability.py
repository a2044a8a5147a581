"""Time DPA and leakage, and DPA beside the `bias-amplification` package, in one run.

    python benchmarks/speed/predictability.py                # what audits cost, about a minute
    python benchmarks/speed/predictability.py --peer PYTHON  # also the peer, from that interpreter

Both packages audit the same rows, and their attackers learn and are judged on the same ones.
"""

import subprocess
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import NamedTuple

import timing

# isort: split
import numpy as np
import torch

import skbiasamp
from skbiasamp import Contingency, DirectionalAuditor, DPAAuditor, LeakageAuditor
from skbiasamp.attackers import MLPAttacker

DRAWS, BATCH, WIDTH, LEARNING_RATE = 10, 64, 4, 0.01
# COMPAS: two races by recidivism.
COUNTS = (1229, 874, 1402, 1773)

PEER = """
import contextlib, importlib.metadata, io, sys, time
import numpy as np, torch
from bias_amplification.attacker_models import simpleDenseModel
from bias_amplification.metrics import DPA
draws, epochs, batch, width, rate = (float(x) if "." in x else int(x) for x in sys.argv[2:])
data = np.load(sys.argv[1])
A, T, predicted = (torch.tensor(data[name][:, None], dtype=torch.float32)
                   for name in ("groups", "labels", "predictions"))
test = torch.tensor(data["test"])
torch.manual_seed(0)
attackers = {name: simpleDenseModel(1, 1, 2, numFirst=width, activations=["sigmoid", "sigmoid"])
             for name in ("attacker_AtoT", "attacker_TtoA")}
dpa = DPA(**attackers, eval_metric="accuracy",
          train_params={"learning_rate": rate, "loss_function": "bce",
                        "epochs": epochs, "batch_size": batch})
start = time.process_time()
with contextlib.redirect_stdout(io.StringIO()):
    value = dpa.computeBiasAmp(
        A[~test], T[~test], predicted[~test], mode="AtoT", num_trials=draws,
        feat_test=A[test], data_test=T[test], pred_test=predicted[test])
print(time.process_time() - start)
print(value)
print(importlib.metadata.version("bias-amplification"), "and torch", torch.__version__)
"""


class Sizes(NamedTuple):
    divisor: int  # of the rows of COMPAS
    epochs: int
    long_rows: int
    rows: int
    tasks: int
    report_rows: int
    wide_rows: int
    rounds: int  # of calls that take milliseconds
    slow_rounds: int  # of calls that take seconds


FULL = Sizes(1, 100, 1_000_000, 20_000, 66, 100_000, 22_000, rounds=15, slow_rounds=3)
SHORT = Sizes(10, 2, 10_000, 500, 8, 500, 300, rounds=1, slow_rounds=1)
CONSTANTS = {"draws": DRAWS, "batch": BATCH, "width": WIDTH, "rate": LEARNING_RATE, "sizes": FULL}


def compas(sizes):
    """Return groups, labels and predictions, whose errors go to each race's frequent label."""
    counts = [count // sizes.divisor for count in COUNTS]
    groups, labels = np.repeat([0, 0, 1, 1], counts), np.repeat([0, 1, 0, 1], counts)
    wrong = np.random.default_rng(0).random(len(labels)) < np.where(groups == labels, 0.2, 0.5)
    return groups, labels, labels ^ wrong


def seconds_of_peer(python, rows, epochs):
    """Return the seconds, the value and the version of the peer."""
    settings = map(str, (DRAWS, epochs, BATCH, WIDTH, LEARNING_RATE))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.npz"
        np.savez(file, **rows)
        command = [python, "-W", "ignore", "-c", PEER, file, *settings]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds, value, version = done.stdout.splitlines()
    return float(seconds), value, version


def between_bounds(result):
    return f"{result.value:.4f} [{result.low:.4f}, {result.high:.4f}]"


def between_draws(result):
    return f"{result.value:.4f} ± {result.statistics['between_draw_sd']:.4f}"


def beside_peer(sizes, python):
    """Return the section of the page."""
    groups, labels, predictions = compas(sizes)
    n = len(labels)
    test = np.random.default_rng(1).permutation(n) < n // 5
    network = MLPAttacker.preset(
        "dpa",
        hidden_layer_sizes=(WIDTH,),
        learning_rate=LEARNING_RATE,
        batch_size=BATCH,
        max_epochs=sizes.epochs,
        device="cpu",
    )
    options = {"quality": "accuracy", "n_draws": DRAWS, "random_state": 0}
    trained = DPAAuditor(attacker=network, interval=None, **options)

    def audit(auditor, rows=slice(None)):
        given = {"sensitive_features": groups[rows]}
        return auditor.audit(labels[rows], predictions[rows], **given)

    def closed():
        return audit(DPAAuditor(quality="accuracy", cv=None, interval=None))

    def with_interval():
        return audit(DPAAuditor(**options))

    def networks():
        learnt = Contingency.from_labels(
            labels[~test], predictions[~test], sensitive_features=groups[~test]
        )
        return audit(DPAAuditor(attacker=network, interval=None, **options).fit(learnt), test)

    networks_of_folds = partial(audit, trained)
    rows = {"groups": groups, "labels": labels, "predictions": predictions, "test": test}
    theirs, value, version = seconds_of_peer(python, rows, sizes.epochs)
    quick = timing.take_turns(sizes.rounds, closed=closed, with_interval=with_interval)
    slow = timing.take_turns(sizes.slow_rounds, networks=networks, of_folds=networks_of_folds)
    peer, what = f"bias-amplification's `DPA`, {DRAWS} trials", f"A→T, {n:,} rows:"
    held_out = "networks, rows held out as the peer's"
    values = {
        "tables, closed form": f"{closed().value:.4f}",
        "tables, cross-fitted": between_bounds(with_interval()),
        "bias-amplification": value,
        held_out: between_draws(networks()),
        "networks, cross-fitted": between_draws(networks_of_folds()),
    }
    folds = f"5 folds, {DRAWS} draws"
    compared = [
        timing.faster(f"{what} {how}", peer, ours, theirs, target)
        for how, ours, target in (
            ("tables, closed form", quick["closed"], 2000),
            (f"tables, {folds}, interval of 999 resamples", quick["with_interval"], 300),
            (f"{2 * DRAWS} {held_out}", slow["networks"], 10),
            (f"{2 * DRAWS * 5} networks, {folds}", slow["of_folds"], None),
        )
    ]
    listed = "\n".join(f"- {name}: {shown}" for name, shown in values.items())
    table = timing.table(compared, short=sizes is SHORT)
    text = Path(__file__).with_name("predictability_peer.md")
    return timing.filled(text, version=version, table=table, values=listed, **CONSTANTS)


def costs(sizes):
    """Return what audits take, and plain directional audits of the same labels."""
    rng = np.random.default_rng(0)
    one_label = [
        x.ravel().astype(np.int8) for x in timing.simulate(rng, sizes.long_rows, np.array([0.3]))
    ]
    many = timing.simulate(rng, sizes.rows, rng.uniform(0.05, 0.4, sizes.tasks))
    logits = 4.0 * many[2] - 2 + rng.normal(size=many[2].shape)
    auditors = {
        "plain": DirectionalAuditor(reference="test", interval=None),
        "DPA A→T": DPAAuditor(random_state=0),
        "leakage": LeakageAuditor(random_state=0),
    }
    long = f"{sizes.long_rows:,} rows, one int8 label"
    wide = f"{sizes.rows:,} rows, {sizes.tasks}"
    found = []

    def measure(rounds, names, what, data, scores=None):
        groups, labels, predictions = data
        results = {}

        def call(name):
            given = predictions if name == "plain" or scores is None else scores
            results[name] = auditors[name].audit(labels, given, sensitive_features=groups)

        seconds = timing.take_turns(rounds, **{name: partial(call, name) for name in names})
        for name in names[1:]:
            attacker = results[name].statistics["attacker"]
            times = (f"{np.median(seconds[metric]):.3g} s" for metric in (name, names[0]))
            ratio = np.median(seconds[name] / seconds[names[0]])
            found.append([f"{name}: {what}", attacker, *times, f"{ratio:.3g}"])

    measure(sizes.rounds, list(auditors), long, one_label)
    measure(sizes.slow_rounds, ["plain", "DPA A→T"], f"{wide} labels", many)
    measure(1, ["plain", "leakage"], f"{wide} logits", many, logits)
    return found


def whole_reports(sizes):
    """Return what `skbiasamp.audit` takes, with every metric, and whether that is fast enough."""
    rng = np.random.default_rng(0)
    results = []
    for what, rows, tasks, limit, rounds in (
        ("rows, one label", sizes.report_rows, 1, 0.1, sizes.rounds),
        (f"rows, {sizes.tasks} labels", sizes.wide_rows, sizes.tasks, 4.0, sizes.slow_rounds),
    ):
        rates = rng.uniform(0.05, 0.4, tasks)
        train_groups, train, _ = timing.simulate(rng, rows, rates)
        groups, labels, predictions = timing.simulate(rng, rows, rates)
        if tasks == 1:
            train, labels, predictions = (array.ravel() for array in (train, labels, predictions))
        training = {"y_train": train, "sensitive_train": train_groups, "random_state": 0}
        processor, elapsed = [], []
        for _ in range(rounds + 1):  # the first one warms up
            start = time.process_time(), time.perf_counter()
            skbiasamp.audit(labels, predictions, sensitive_features=groups, **training)
            processor.append(time.process_time() - start[0])
            elapsed.append(time.perf_counter() - start[1])
        median, fastest, least = np.median(processor[1:]), min(processor[1:]), min(elapsed[1:])
        met = "-" if sizes is SHORT else "yes" if fastest < limit else "no"
        times = (f"{duration:.3g} s" for duration in (least, median, fastest))
        results.append([f"`skbiasamp.audit`: {rows:,} {what}", *times, f"< {limit:g} s", met])
    return results


def measured(options):
    torch.set_num_threads(1)
    sizes = SHORT if options.short else FULL
    columns = ["audited", "elapsed, fastest", "processor time", "fastest", "target", "met"]
    header = ["audit with its interval", "attacker", "skbiasamp", "plain A→T audit", "ratio"]
    results = costs(sizes)
    beside = beside_peer(sizes, options.peer) if options.peer else ""
    reports = whole_reports(sizes)
    return CONSTANTS | {
        "machine": timing.surroundings(),
        "torch": torch,
        "results": timing.markdown(header, results),
        "reports": timing.markdown(columns, reports),
        "beside": beside,
    }


if __name__ == "__main__":
    timing.command(
        __file__,
        __doc__,
        measured,
        peer={"metavar": "PYTHON", "help": "an interpreter that has bias-amplification 0.2.1"},
    )
