"""Arguments of hostile calls: values that go together, and a few that do not."""

import functools
import inspect

import numpy as np
import pandas as pd
from discovery import public_estimators
from hostile import (
    AUDITORS,
    COLUMNS,
    COUNTED,
    ESTIMATORS,
    FRAME,
    FRAMES,
    HIRED,
    JOB,
    LABELS,
    MODEL_SAYS,
    OF_ANY_ROWS,
    PEOPLE_SAY,
    PREDICTED,
    SCALARS,
    SEX,
    SOFT,
    X,
)
from hostile_made import IN_MONTHS, WATCHED, made, pick
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from skbiasamp import DirectionalAuditor

# Internal: methods of auditors that look public and are called by our own modules alone.
from skbiasamp.metrics.base import INTERNAL

# A call of them opens the network, is of what users do not make, or is always refused. (Nor are
# drawings called: they pass on to matplotlib what they are given.)
LEFT_OUT = {
    "fetch_imsitu_annotations",
    "get_metadata_routing",
    "Option",
    "Pairs",
    "FunctionAuditor.audit_runs",
    "FunctionAuditor.compare",
    "measure",
    "of_rows",
    *INTERNAL,
}
QUICK = {
    "interval": [None, "analytic"],
    "n_resamples": [9],
    "n_draws": [2],
    "cv": [2, None],
    "at": [None, 0.9, [1.0, 0.8], 2],
    "attacker": ["exact", LogisticRegression()],
    "hidden_layer_sizes": [(2,)],
    "estimator": [LogisticRegression()],
    "max_epochs": [1],
    "pretrain_epochs": [1],
    "adversary_epochs": [1],
    "seeds": [2],
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
    "candidates": [{"plain": LogisticRegression()}],
    "auditor": [DirectionalAuditor(interval=None)],
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
    "pair": [("f", 1), {"group": "f", "task": 1}],
    "outcome": ["passed", "failed"],
    "path": [None],
    "pos_label": [None, 1],
    "limits": [(0, 1)],
}
TEXTS = [PEOPLE_SAY, pd.Series(PEOPLE_SAY), np.array(PEOPLE_SAY)]
SAID = {
    "y_true": TEXTS,
    "y_train": TEXTS,
    "y_pred": [MODEL_SAYS, pd.Series(MODEL_SAYS)],
    "y_preds": [[MODEL_SAYS, PEOPLE_SAY]],
    "sensitive_features": [SEX],
    "sample_weight": [None],
    "attacker": ["auto", make_pipeline(CountVectorizer(), MultinomialNB())],
    "cv": [2],
    "interval": [None, "bootstrap"],
    "direction": ["A->T", "T->A"],
    "tasks": [{"bike": ["bike"], "cook": ["cook", "chef"]}],
}


@functools.cache
def own_of(of):
    """Return values that parameters of one target take, by the first part of its name."""
    if of.startswith(("LIC", "DBAC", "lic_", "dbac_")):
        return SAID
    if of.startswith("Word"):
        lists = {"a": ["woman", "bike"], "b": ["man"]}
        return {"X": TEXTS, "words": [None, ["woman"], lists], "labels": [lists]}
    if of == "label_columns":
        frame = pd.DataFrame({"human": PEOPLE_SAY, "model": MODEL_SAYS, "bike": 1, "woman": 0})
        columns = {"target": [None, ["bike", "woman"]], "target_texts": [None, "human"]}
        lists = {"bike": ["bike"], "woman": ["woman"]}
        more = {"frame": [frame], "labels": [lists], "texts": ["model", ["model"], []]}
        return columns | more
    if of.startswith("audit_over"):
        months = dict.fromkeys(["2026-01", "2026-02"], COUNTED)
        columns = {name: [column] for name, column in IN_MONTHS.items()}
        more = {"sensitive_prediction": [None], "weight": [None], "every": ["month", "day"]}
        return {"frame": [WATCHED, months], "n_draws": [39], "reference": [1]} | columns | more
    if of.startswith(("Leakage", "DPA", "leakage", "dpa")):
        return {"interval": [None, "bootstrap"]}
    if of.startswith("FunctionAuditor"):
        functions = [lambda *rows: float(len(rows[0])), lambda *rows: {"a": 0.5, 1: 2}]
        return {"function": functions, "percent": [True, False]}
    if of.startswith(("matched_difference", "MatchedPairsAuditor")):
        half = len(SEX) // 2
        rows = {"pairs": [[*range(half)] * 2], "sensitive_features": [SEX]}
        rows["y_pred"] = [HIRED, PREDICTED, SOFT]
        return rows | {"sample_weight": [None], "clusters": [None, JOB], "pos_label": [None]}
    if of.startswith("RegionMask"):
        images = np.arange(48.0).reshape(2, 1, 4, 6)
        masks = [None, images[:, 0] > 20, images[0, 0] > 9]
        regions = {"boxes": [[0, 0, 2, 2], [[0, 0, 1, 1], [1, 1, 3, 5]]], "masks": masks}
        return regions | {"X": [images], "attributions": [images], "scale": [0.1]}
    return {
        "associate": {"outcome": ["task", "task_pred"]},
        "CorpusConstraintClassifier": {"joint": [True, False], "sets": [True, False]},
        "required_rows": {"effect": [0.1], "changed": [0.3]},
        "assert_amplification": {
            "report": [made("AuditReport"), made("AuditResult")],
            "below": [1.0],
            "limit": [None],
        },
        "Explanation.subgroups": {
            "frame": [FRAME[["job"]], SEX],
            "depth": [1, 2],
            "min_rows": [1, 3],
        },
        "AuditReport.gate": {"limit": [0.02], "on": [None, "all"]},
        "ComparisonReport.gate": {"limit": [0.02], "on": [None, "all"]},
        "CrossAuditResult.gate": {"limit": [0.02], "on": [None]},
        "MLPAttacker.preset": {"name": ["dpa", "leakage"]},
        "Contingency.from_labels": {"y_preds": [None], "sensitive_preds": [None]},
        "Contingency.from_json": {"text": [COUNTED.to_json()]},
        "Contingency.with_positive": {"pos_label": [1, 0]},
        "function_of": {"auditor": [DirectionalAuditor], "without": [()]},
    }.get(of, {})


SPOILS = [None, "x", float("nan"), float("inf"), -1, True, 1e308, object(), [1], pd.NaT, {}, ("a",)]


def spoiled(held, rng):
    """Return a frame with a column changed, twice there or left out, or with fewer rows."""
    if isinstance(held, dict):
        return {pick([*held, 1, "", "2026-04"], rng): pick([*held.values(), *SPOILS], rng)}
    if not isinstance(held, pd.DataFrame):
        return pick(SPOILS, rng)
    name, how = pick(list(held), rng), rng.random()
    if how < 0.1:
        return held.drop(columns=name)
    if how < 0.2:
        return held.iloc[: rng.integers(3)]
    if how < 0.3:
        return pd.concat([held, held[[name]]], axis=1)
    value, n = pick([*SPOILS, "2026-01-05", "2026-13", 7, 0.5], rng), len(held)
    column = [value] * n if how < 0.6 else [value, *held[name].tolist()[1:]]
    return held.assign(**{name: pd.Series(column, held.index, dtype=object)})


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


def hostile(name, rng, own=()):
    """Return a value that a parameter may not expect."""
    pool = [SCALARS]
    if name in own and rng.random() < 0.5:
        return spoiled(pick(own[name], rng), rng)
    if name.endswith("_kwargs"):
        return pick([{"alpha": 0.5}, {"bogus": 1}, {1: 2}, *[one() for one in SCALARS]], rng)
    if name == "n_jobs":  # a number would start processes
        return pick(["bogus", 0, 1, 1.5, True, [], {}, None, float("nan"), 10**400], rng)
    if name in OPTIONS and rng.random() < 0.4:
        pool = [[lambda: str(rng.choice(OPTIONS[name] or ["bogus"]))]]
    elif name in FRAME_COLUMNS or name in ("count", "columns"):
        pool = [SCALARS, [lambda: pick(COLUMNS, rng)], [lambda: [pick(COLUMNS, rng)] * 2]]
    elif name == "frame":
        pool = [FRAMES, FRAMES, OF_ANY_ROWS]
    elif name in ("estimator", "candidates", "sensitive_estimator", "attacker"):
        pool = [ESTIMATORS, ESTIMATORS, SCALARS]
    elif name == "auditor":
        pool = [AUDITORS, AUDITORS, SCALARS]
    elif name in ("text", "content"):
        pool = [SCALARS, [lambda: "[3", lambda: "3"]]
    elif name in OF_ROWS or name[:2] in ("y", "y_") or "sensitive" in name:
        pool = [OF_ANY_ROWS]
    if name in ("y_preds", "sensitive_preds", "y_pred") and rng.random() < 0.3:
        return {"a": PREDICTED, pick(["b", 0, "", None], rng): pick(OF_ANY_ROWS, rng)()}
    return pick(pick(pool, rng), rng)()


def good(name, rng, default, form, own):
    """Return a value that a parameter takes, or `empty` to leave it at its default.

    Labels of one `form` go together. `own` are values of this target alone.
    """
    if name in own:
        keeps = default is not inspect.Parameter.empty and rng.random() < 0.1
        return default if keeps else pick(own[name], rng)
    if name == "y_pred" and not form and rng.random() < 0.2:
        return SOFT
    if name in LABELS and (default is inspect.Parameter.empty or rng.random() < 0.9):
        return LABELS[name][form]
    if name in GOOD and (default is inspect.Parameter.empty or name in QUICK or rng.random() < 0.6):
        return pick(GOOD[name], rng)
    return default


def given_to(function, rng, *, odd, form, of=""):
    """Return arguments for a function, `odd` of them hostile, with labels of a `form`.

    `of` is the name of the target.
    """
    own = own_of(of)
    parameters = dict(inspect.signature(function).parameters)
    parameters.pop("self", None)
    named = {
        name: one.default
        for name, one in parameters.items()
        if one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL) and name not in LEFT_OUT
    }
    if of == "LeakageAuditor.audit":  # it passes all labels but scores on
        named["sensitive_features"] = None
    wrong = set(rng.permutation(list(named))[:odd]) if named else set()
    given = {}
    for name, default in named.items():
        value = hostile(name, rng, own) if name in wrong else good(name, rng, default, form, own)
        if value is not inspect.Parameter.empty:
            given[name] = value
    if "reference" in named:  # the parameters of `compare` and of `audit_runs` have one name
        for name in ({"y_preds", "sensitive_preds"} & set(given)) - wrong:
            given[name] = given[name] and dict(zip("ab", given[name], strict=True))
    if "count" in named and "frame" not in wrong:
        return given | {"frame": COUNTED.to_frame()}
    columns = any(one.kind is one.VAR_KEYWORD for one in parameters.values()) or "target" in named
    columns &= own is not SAID
    if "frame" in named or (columns and "y_true" in named and rng.random() < 0.3):
        if "frame" not in named:
            given = {name: one for name, one in given.items() if name not in LABELS}
            given[next(iter(named))] = pick(FRAMES, rng)() if odd else FRAME
        elif "frame" not in wrong:
            given["frame"] = pick(own.get("frame", [FRAME]), rng)
        wrong = {pick(list(FRAME_COLUMNS), rng)} if odd else set()
        for name, values in (
            FRAME_COLUMNS | {n: own[n] for n in FRAME_COLUMNS if n in own}
        ).items():
            value = hostile(name, rng) if name in wrong else pick(values, rng)
            if value is not None and name in (parameters if "frame" in named else FRAME_COLUMNS):
                given[name] = value
    elif columns and odd and rng.random() < 0.1:
        given[pick(["sensitive_feature", "target", "y"], rng)] = hostile("y", rng)
    return given
