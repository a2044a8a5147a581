"""Arguments of hostile calls: values that go together, and a few that do not."""

import copy
import inspect

import numpy as np
from discovery import public_estimators
from hostile import (
    AUDITORS,
    COLUMNS,
    COUNTED,
    ESTIMATORS,
    FRAME,
    FRAMES,
    LABELS,
    OF_ANY_ROWS,
    PREDICTED,
    SCALARS,
    SOFT,
    X,
)
from sklearn.linear_model import LogisticRegression

from skbiasamp import DirectionalAuditor

# A call of them opens the network, or is of what users do not make.
LEFT_OUT = {
    "fetch_imsitu_annotations",
    "fetch_rba_shares",
    "fetch_acs_predictions",
    "fetch_captions",
    "fetch_coco_labels",
    "get_metadata_routing",
    "MLPBundle",
    "Pairs",
    "of_rows",
}
QUICK = {
    "interval": [None, "analytic", "bootstrap"],
    "n_resamples": [9],
    "n_draws": [2],
    "cv": [2, None],
    "attacker": ["exact", LogisticRegression()],
    "hidden_layer_sizes": [(2,)],
    "estimator": [LogisticRegression()],
    "max_epochs": [1],
    "pretrain_epochs": [1],
    "adversary_epochs": [1],
    "noise": [(1,)],
    "verbose": [0],
    "n_samples": [20],
}
FRAME_COLUMNS = {
    "target": ["hired", "job"],
    "prediction": ["pred", "p", {"a": "pred", "b": "hired"}],
    "sensitive": ["sex", ["sex", "skin"]],
    "sensitive_prediction": ["skin", None],
    "weight": ["w", None],
}
GOOD = {
    **QUICK,
    "X": [X, X.to_numpy()],
    "frame": [FRAME],
    "y_score": [SOFT, np.array(SOFT) * 9 - 4],
    "estimators": [{"plain": LogisticRegression()}],
    "auditor": [DirectionalAuditor(interval=None)],
    "auditors": [DirectionalAuditor(interval=None)],
    "scale": [1.0],
    "cells": [COUNTED],
    "like": [COUNTED],
    "contingencies": [[COUNTED, COUNTED]],
    "p_values": [[0.1, 0.02, float("nan")]],
    "gained": [[3, 1]],
    "lost": [[2, 0]],
    "threshold": [0.5, [0.1, 0.9]],
    "side": ["task", "group", "task_pred"],
    "other": ["task", "group_pred"],
    "given": ["group"],
    "role": ["task"],
    "what": ["what"],
    "model": ["a", "b"],
    "name": ["a", "bower"],
    "group": ["f"],
    "path": [None],
    "limits": [(0, 1)],
    "thresholds": [[0.0, 1.0]],
    "values": [[0.0, 0.5]],
}


def options_of(kinds):
    """Return the texts that parameters of estimators may be, by name."""
    found = {}
    for kind in kinds:
        for name, rules in getattr(kind, "_parameter_constraints", {}).items():
            for rule in rules if isinstance(rules, list) else []:
                found.setdefault(name, set()).update(map(str, getattr(rule, "options", ())))
    return {name: sorted(texts) for name, texts in found.items()}


LABELS |= {"y": LABELS["y_true"], "y_train": LABELS["y_true"]}
LABELS |= {"sensitive_train": LABELS["sensitive_features"]}
for runs, one in (("y_preds", "y_pred"), ("sensitive_preds", "sensitive_pred")):
    LABELS[runs] = [[held, held] for held in LABELS[one]]
OF_ROWS = {*LABELS, "X", "p_values", "gained", "lost", "threshold"}
OPTIONS = options_of(public_estimators())


def hostile(name, rng):
    """Return a value that a parameter may not expect."""
    pool = [SCALARS]
    if name == "n_jobs":  # a number would start processes
        return pick(["bogus", 0, 1, 1.5, True, [], {}, None, float("nan"), 10**400], rng)
    if name in OPTIONS and rng.random() < 0.4:
        pool = [[lambda: str(rng.choice(OPTIONS[name] or ["bogus"]))]]
    elif name in FRAME_COLUMNS or name in ("count", "columns"):
        pool = [SCALARS, [lambda: pick(COLUMNS, rng)], [lambda: [pick(COLUMNS, rng)] * 2]]
    elif name == "frame":
        pool = [FRAMES, FRAMES, OF_ANY_ROWS]
    elif name in ("estimator", "estimators", "sensitive_estimator", "attacker"):
        pool = [ESTIMATORS, ESTIMATORS, SCALARS]
    elif name in ("auditor", "auditors"):
        pool = [AUDITORS, AUDITORS, SCALARS]
    elif name in ("text", "content"):
        pool = [SCALARS, [lambda: "[3", lambda: "3"]]
    elif name in OF_ROWS or name[:2] in ("y", "y_") or "sensitive" in name:
        pool = [OF_ANY_ROWS]
    if name in ("y_preds", "sensitive_preds", "y_pred") and rng.random() < 0.3:
        return {"a": PREDICTED, pick(["b", 0, "", None], rng): pick(OF_ANY_ROWS, rng)()}
    return pick(pick(pool, rng), rng)()


def pick(values, rng):
    """Return one of several values of any type."""
    return values[rng.integers(len(values))]


def good(name, rng, default, form):
    """Return a value that a parameter takes, or `empty` to leave it at its default.

    Labels of one `form` go together.
    """
    if name == "y_pred" and not form and rng.random() < 0.2:
        return SOFT
    if name in LABELS and (default is inspect.Parameter.empty or rng.random() < 0.9):
        return LABELS[name][form]
    if name in GOOD and (default is inspect.Parameter.empty or name in QUICK or rng.random() < 0.6):
        return pick(GOOD[name], rng)
    return default


def mutated(held, rng):
    """Return stored content with something in it changed."""
    held = at = copy.deepcopy(held)
    while True:
        keys = list(at) if isinstance(at, dict) else list(range(len(at)))
        if not keys:
            return held
        key = pick(keys, rng)
        if isinstance(at[key], dict | list) and at[key] and rng.random() < 0.8:
            at = at[key]
            continue
        if rng.random() < 0.2:
            del at[key]
        else:
            at[key] = pick([None, -7, 1.5, "3", "bogus", [], {}, [[1]], True, 10**30, [None]], rng)
        return held


def given_to(function, rng, *, odd, form):
    """Return arguments for a function, `odd` of them hostile, with labels of a `form`."""
    parameters = dict(inspect.signature(function).parameters)
    parameters.pop("self", None)
    named = {
        name: one.default
        for name, one in parameters.items()
        if one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL) and name not in LEFT_OUT
    }
    wrong = set(rng.permutation(list(named))[:odd]) if named else set()
    given = {}
    for name, default in named.items():
        value = hostile(name, rng) if name in wrong else good(name, rng, default, form)
        if value is not inspect.Parameter.empty:
            given[name] = value
    if "reference" in named:  # the parameters of `compare` and of `audit_runs` have one name
        for name in ({"y_preds", "sensitive_preds"} & set(given)) - wrong:
            given[name] = given[name] and dict(zip("ab", given[name], strict=True))
    if "count" in named and "frame" not in wrong:
        return given | {"frame": COUNTED.to_frame()}
    columns = any(one.kind is one.VAR_KEYWORD for one in parameters.values()) or "target" in named
    if "frame" in named or (columns and "y_true" in named and rng.random() < 0.3):
        if "frame" not in named:
            given = {name: one for name, one in given.items() if name not in LABELS}
            given["y_true"] = pick(FRAMES, rng)() if odd else FRAME
        elif "frame" not in wrong:
            given["frame"] = FRAME
        wrong = {pick(list(FRAME_COLUMNS), rng)} if odd else set()
        for name, values in FRAME_COLUMNS.items():
            value = hostile(name, rng) if name in wrong else pick(values, rng)
            if value is not None and name in (parameters if "frame" in named else FRAME_COLUMNS):
                given[name] = value
    elif columns and odd and rng.random() < 0.1:
        given[pick(["sensitive_feature", "target", "y"], rng)] = hostile("y", rng)
    return given
