"""Rows of the evidence, by part: audits of pairs of group and task, runs, and comparisons."""

from functools import partial

from evidence_kinds import kinds
from evidence_learned import attackers, folds, joint_law, texts
from evidence_many import many, real
from evidence_more import dependent, numeric, related
from evidence_trials import (
    A_T_BOOT,
    ANALYTIC,
    BOOTSTRAP,
    T_A,
    T_A_BOOT,
    audited,
    compared,
    declared,
    over_runs,
)

from skbiasamp import DirectionalAuditor, MALSAuditor, MultiAttributeAuditor

MALS, MALS_BOOT = MALSAuditor(), MALSAuditor()
CLASSES, MIXED = {"classes": True}, {"mixed": True}
# Groups of very different sizes, in percent of rows.
TWO, THREE, FIVE = (
    {"kind": {"sizes": sizes}} for sizes in ((90, 10), (70, 20, 10), (60, 20, 10, 6, 4))
)


def untrained():
    row = declared("Group → task (A→T), signs from the audited rows: nothing changes", audited)
    yield row((2, 1), 1_000, "exchangeable", 0.15)
    yield row((2, 1), 300, "exchangeable")
    yield row((10, 66), 4_000, "70 % errors", 0.1, failed=True)
    yield row((5, 66), 4_000, "70 % errors", 0.1, failed=True)
    yield row((20, 20), 2_000, "40 % errors", failed=True)
    yield row((3, 1), 1_000, "over-predicts", failed=True)
    yield row((5, 20), 1_000, "over-predicts", auditor=A_T_BOOT, failed=True)
    yield row((5, 20), 1_000, "predicts 0.6 times as often")
    yield row((5, 20), 1_000, "under-predicts", 0.05)
    yield row((2, 80), 300, "exchangeable", 0.1, kind=MIXED)
    yield row((5, 20), 1_000, "exchangeable", 0.05, auditor=A_T_BOOT)
    yield row((10, 20), 2_000, "3 % errors")
    yield row((5, 20), 1_000, "scores cut at 0.5")
    yield row((5, 20), 1_000, "scores", 0.05)
    yield row((10, 20), 2_000, "70 % errors", 0.05, kind={"shared": 0.5})
    yield row((6, 5), 1_000, "25 % errors", kind=CLASSES)
    yield row((6, 5), 1_000, "exchangeable", 0.4, kind=CLASSES | MIXED)
    yield row((12, 8), 3_000, "a class too often", kind=CLASSES)
    yield row((5, 20), 1_000, "exchangeable", 0.08, **FIVE)
    yield row((2, 20), 1_000, "3 % errors", **TWO)
    yield row((5, 20), 1_000, "over-predicts", **FIVE)
    yield row((20, 60), 3_000, "scores", failed=True)
    yield row((5, 20), 1_000, "scores half as far from their mean", **FIVE, failed=True)
    question = "Group → task (A→T): the model adds an association that the labels lack"
    row = partial(declared(question, audited), model="± 5 pp of its own", failed=True)
    yield row((2, 1), 1_000)
    yield row((2, 1), 4_000)
    yield row((2, 20), 1_000)
    yield row((5, 5), 1_000, auditor=A_T_BOOT)


def trained():
    row = declared("Group → task (A→T), signs from training rows: nothing changes", audited)
    yield row((2, 1), 1_000, "exchangeable", 0.15, train=2_000)
    yield row((3, 1), 1_000, "over-predicts", train=10_000, failed=True)
    yield row((5, 20), 1_000, "over-predicts", train=500, failed=True)
    yield row((3, 1), 1_000, "under-predicts", 0.04, train=500, failed=True)
    yield row((5, 10), 1_000, "under-predicts", 0.04, train=500, auditor=A_T_BOOT)
    yield row((10, 66), 4_000, "40 % errors", train=10_000)
    yield row((5, 20), 300, "40 % errors", 0.1, kind=MIXED, train=300)
    yield row((6, 5), 1_000, "25 % errors", kind=CLASSES, train=2_000)
    yield row((2, 20), 1_000, "40 % errors", 0.08, **TWO, train=1_000)
    yield row((5, 20), 1_000, "3 % errors", 0.08, **FIVE, train=1_000)
    yield row((5, 5), 1_000, "over-predicts", 0.03, **FIVE, train=1_000)
    rare = {"kind": {"rare": True}, "train": 10_000, "failed": True}
    yield row((2, 1), 1_000, "40 % errors", **rare)
    yield row((2, 1), 1_000, "40 % errors", auditor=A_T_BOOT, **rare)


def effects():
    row = declared("Group → task (A→T): the model changes associations", audited)
    up, down, turned = ({"right": verdict} for verdict in ("amplifies", "reduces", "reverses"))
    yield row((2, 80), 1_000, "differences doubled", 0.012, **up, failed=True)
    yield row((10, 66), 4_000, "differences doubled", 0.02, **up, failed=True)
    yield row((3, 1), 1_000, "differences 1.5 times", 0.05, train=2_000, **up, failed=True)
    yield row((5, 10), 1_000, "differences 1.5 times", 0.03, train=500, **up, failed=True)
    yield row((2, 1), 1_000, "differences doubled", 0.03, **up)
    yield row((5, 20), 2_000, "differences doubled", 0.05, kind=MIXED, **up)
    yield row((2, 1), 1_000, "scores cut at 0.5", 0.15, train=2_000, **up)
    yield row((5, 20), 1_000, "scores cut at 0.5", 0.1, **up)
    model = "differences 1.5 times, over-predicts"
    yield row((3, 1), 1_000, model, 0.1, train=2_000, auditor=A_T_BOOT, **up)
    yield row((3, 5), 1_000, "differences halved", 0.1, **down)
    yield row((6, 5), 1_000, "errors at the rates of all rows", 0.4, kind=CLASSES, **down)
    yield row((2, 1), 1_000, "differences reversed", 0.1, **turned)
    yield row((2, 1), 1_000, "differences reversed", 0.03, **turned)
    yield row((2, 1), 4_000, "differences reversed", 0.03, **turned)
    yield row((2, 5), 1_000, "differences reversed", 0.03, **turned)
    yield row((2, 1), 1_000, "differences reversed and doubled", 0.03, **turned)
    yield row((5, 10), 1_000, "differences reversed and doubled", 0.03, **turned)
    yield row((5, 10), 4_000, "differences reversed and doubled", 0.03, **turned)
    yield row((5, 20), 1_000, "differences doubled", 0.03, **FIVE, **up)
    yield row((5, 20), 1_000, "scores half as far from their mean", 0.06, **FIVE, **down)
    yield row((3, 5), 1_000, "differences reversed", 0.03, **THREE, **turned)
    yield row((3, 5), 1_000, "differences reversed", 0.03, **THREE, **turned, train=1_000)
    yield row((2, 1), 1_000, "± 5 pp the other way", 0.01, **turned, failed=True)
    yield row((2, 5), 1_000, "± 5 pp the other way", 0.01, **turned, failed=True)


def backwards():
    """Errors of groups: 1 is P(right), the second number P(predicted as the first group)."""
    question = "Task → group (T→A)"
    row = partial(declared(question, audited), model="exchangeable", auditor=T_A)
    often = {"kind": {"predicted": (0.85, 0.1)}, "note": "a group predicted too often"}
    errors = {"kind": {"predicted": (0.7,)}, "note": "30 % of groups predicted at random"}
    alike = {"kind": {"recorded": (0.85,), "predicted": (0.85,)}}
    better = {"kind": {"recorded": (0.6,), "predicted": (0.95,)}, "right": "amplifies"}
    yield row((3, 1), 1_000, **often)
    yield row((3, 1), 1_000, **often, train=2_000)
    yield row((10, 40), 4_000, **often)
    yield row((5, 20), 2_000, **errors)
    yield row((5, 20), 1_000, gap=0.1, **alike | {"auditor": T_A_BOOT})
    yield row((3, 5), 1_000, gap=0.2, **alike, train=500)
    yield row((2, 80), 1_000, gap=0.2, **{"kind": alike["kind"] | MIXED})
    yield row((5, 10), 1_000, gap=0.15, **better, note="predicted with fewer errors than recorded")


def sets(direction, base="test", **how):
    return MultiAttributeAuditor(direction, combinations="all", max_size=2, base=base, **how)


def shared():
    row = declared("MALS, sets of tasks (Multi→) and rates of training labels", audited)
    mals = partial(row, metric="MALS", auditor=MALS)
    yield mals((5, 10), 1_000, "40 % errors", 0.05, train=300, failed=True)
    yield mals((5, 10), 1_000, "40 % errors", 0.05, train=2_000)
    yield mals((5, 20), 1_000, "40 % errors", 0.05)
    yield mals((3, 20), 1_000, "over-predicts", auditor=MALS_BOOT)
    yield mals((12, 40), 4_000, "40 % errors")
    alike = {"kind": {"recorded": (0.85,), "predicted": (0.85,)}}
    yield mals((3, 5), 1_000, "exchangeable", 0.15, **alike, train=2_000)
    yield mals((5, 10), 1_000, "differences doubled", 0.07, train=2_000, right="amplifies")
    base = {"auditor": DirectionalAuditor(base="train"), "metric": 'A→T, base="train"'}
    yield row((5, 10), 1_000, "40 % errors", 0.05, **base, train=300, failed=True)
    yield row((5, 10), 1_000, "40 % errors", 0.05, **base, train=2_000)
    forwards = {"auditor": sets("A->T", "train", **ANALYTIC), "metric": 'Multi→ A→T, base="train"'}
    yield row((5, 6), 1_000, "40 % errors", 0.05, **forwards, train=300, failed=True)
    forwards = {"auditor": sets("A->T", **BOOTSTRAP), "metric": "Multi→ A→T"}
    yield row((5, 6), 1_000, "40 % errors", 0.05, **forwards)
    forwards["auditor"] = sets("A->T", **ANALYTIC)
    yield row(
        (5, 6), 1_000, "differences doubled", 0.05, **forwards, train=2_000, right="amplifies"
    )
    back = {"auditor": sets("T->A", **ANALYTIC), "metric": "Multi→ T→A"}
    yield row((3, 5), 1_000, "exchangeable", 0.1, **alike, **back)
    both = {"auditor": sets(None, "train", **ANALYTIC), "metric": 'Multi_MALS, base="train"'}
    yield row((5, 6), 1_000, "40 % errors", 0.05, **both, train=300)


def runs():
    make = declared("Several runs of one model (`audit_runs`)", over_runs)

    def row(shape, n, model, gap=0.0, *, how_many=5, train=2_000, metric="", **how):
        metric = f"{how_many} runs{metric}"
        return make(shape, n, model, gap, how_many=how_many, train=train, metric=metric, **how)

    for how_many in (3, 5, 10):
        yield row((2, 1), 1_000, "40 % errors", 0.15, how_many=how_many, failed=True)
    for how_many in (2, 3, 10):
        apart_by = {"common": 0, "metric": " with independent errors"}
        yield row((2, 1), 1_000, "40 % errors", 0.15, how_many=how_many, **apart_by)
    yield row((3, 1), 1_000, "over-predicts", failed=True)
    apart_by = {"common": 0, "between": 0.03, "metric": " that differ by ± 3 pp"}
    yield row((2, 1), 1_000, "40 % errors", 0.15, **apart_by)
    apart_by = {"common": 0, "metric": " with independent errors"}
    yield row((2, 1), 1_000, "40 % errors", 0.15, **apart_by, auditor=A_T_BOOT)
    yield row((5, 20), 1_000, "40 % errors", 0.05, train=0)
    yield row((3, 1), 1_000, "differences 1.5 times", 0.1, right="amplifies")
    yield row((5, 20), 1_000, "exchangeable", 0.08, **FIVE, train=0)


def two_models():
    row = declared("Two models on the same rows (`compare`)", compared)
    yield row((2, 20), 1_000, ("3 % errors", "70 % errors"), failed=True)
    yield row((5, 20), 1_000, ("3 % errors", "40 % errors"), auditor=A_T_BOOT)
    yield row((5, 20), 1_000, ("3 % errors", "40 % errors"), 0.1, kind=MIXED, train=2_000)
    yield row((2, 1), 1_000, ("exchangeable", "exchangeable"), 0.15)
    alike = {"auditor": A_T_BOOT, "train": 500}
    yield row((2, 1), 1_000, ("exchangeable", "exchangeable"), 0.15, **alike)
    yield row((5, 10), 1_000, ("40 % errors", "over-predicts"))
    yield row((5, 10), 1_000, ("40 % errors", "over-predicts"), train=500)
    mals = {"auditor": MALS, "metric": "MALS"}
    yield row((5, 10), 1_000, ("3 % errors", "40 % errors"), 0.05, **mals)
    models = ("40 % errors", "differences 1.5 times")
    yield row((3, 5), 1_000, models, 0.1, train=2_000, right="amplifies")
    yield row((5, 20), 1_000, ("3 % errors", "70 % errors"), **FIVE)
    turned = ("40 % errors", "differences reversed")
    yield row((2, 5), 1_000, turned, 0.03, **TWO, right="reduces")
    yield row((3, 1), 1_000, turned, 0.03, **THREE, train=1_000, right="reduces")


def procedures():
    make = declared("Two training procedures, several runs each (`compare`)", compared)

    def row(shape, n, models, gap=0.0, runs=5, metric="", **how):
        metric = f"{runs} runs each{metric}"
        return make(shape, n, models, gap, runs=runs, metric=metric, **how)

    for runs in (3, 5, 10):
        yield row((2, 1), 1_000, ("40 % errors", "40 % errors"), 0.15, runs, train=2_000)
    apart_by = {"common": 0, "between": 0.03, "metric": " that differ by ± 3 pp"}
    yield row((2, 1), 1_000, ("40 % errors", "40 % errors"), 0.15, **apart_by)
    yield row((2, 20), 1_000, ("3 % errors", "70 % errors"))
    models = ("40 % errors", "differences 1.5 times")
    yield row((3, 5), 1_000, models, 0.1, train=2_000, right="amplifies")


PARTS = {
    "untrained": untrained,
    "trained": trained,
    "effects": effects,
    "backwards": backwards,
    "shared": shared,
    "runs": runs,
    "compare": two_models,
    "procedures": procedures,
    "related": related,
    "numeric": numeric,
    "dependent": dependent,
    "many": many,
    "attackers": attackers,
    "joint-law": joint_law,
    "texts": texts,
    "folds": folds,
    "real": real,
    "kinds": kinds,
}
