"""``skbiasamp mitigate``: train a model on a file, and search for a mitigation."""

from __future__ import annotations

import argparse
from typing import Any

import pandas as pd

from skbiasamp._input.errors import InputError, meant, speaking
from skbiasamp._io.files import find
from skbiasamp.cli._files import (
    checked_outputs,
    columns_of_test,
    named_columns,
    names_of_options,
    rows_of_files,
)
from skbiasamp.cli._options import add_command
from skbiasamp.cli._terminal import say_and_write

_ESTIMATORS = {
    "hist_gradient_boosting": ("ensemble", "HistGradientBoostingClassifier"),
    "logistic_regression": ("linear_model", "LogisticRegression"),
    "random_forest": ("ensemble", "RandomForestClassifier"),
}


def add_mitigate(commands: Any) -> None:
    """Add the command to the parser."""
    shared = "--features --estimator --scoring --folds --jobs --seed --html --delimiter --encoding"
    own = {
        "test": {"metavar": "TRAIN", "help": "files of training rows; these come first"},
        "--target": {"required": True},
        "--sensitive": {"required": True},
        "--estimator": {"choices": list(_ESTIMATORS)},
        "--limit": {"default": 0.02, "help": "limit of the amplification (default: 0.02)"},
    }
    add_command(commands, "mitigate", _mitigate, shared, own)


def _mitigate(options: argparse.Namespace) -> int:
    r"""Search for a mitigation of a model that is trained on files.

    Train a model on the rows of files, and search for a mitigation that brings its
    bias amplification within a limit at the least loss of accuracy. All candidates
    are trained and audited on the same folds. The features are all columns but the
    target and the sensitive features.

    for example:
      skbiasamp mitigate train.csv --target hired --sensitive sex \
          --estimator hist_gradient_boosting
      skbiasamp mitigate train.csv --target hired --sensitive sex --limit 0.05 \
          --features skill age --jobs 2 --html search.html

    exit codes: 0 a candidate is within the limit; 1 none is; 2 bad input
    """
    from sklearn.metrics import get_scorer_names

    from skbiasamp.mitigation import search

    if options.scoring not in (known := get_scorer_names()):
        text = "--scoring must be a score of scikit-learn, such as f1; got {seen!r}{meant}"
        raise InputError(text, seen=options.scoring, meant=meant(options.scoring, known))
    outputs = checked_outputs(options, find(options.test))
    named = named_columns(options)
    roles = [*options.target, *options.sensitive]
    features = options.features or [
        name for name in columns_of_test(options) or () if name not in roles
    ]
    if not features:
        raise InputError("name the columns that the model learns from: --features")
    names = names_of_options(named) | {"limit": "--limit", "scoring": "--scoring", "cv": "--folds"}
    names["auditor"] = lambda rest: "in the file" if "drop" in rest else "called 'unknown', say"
    reading = rows_of_files(options, options.test, named, features)
    with speaking(names), reading as (rows, files):
        frame = pd.DataFrame(rows.collect().to_dict(as_series=False))
        target, sensitive = (
            frame[columns[0]] if len(columns) == 1 else frame[columns]
            for columns in (options.target, options.sensitive)
        )
        searched = search(
            _model(options.estimator, frame[features], n_tasks=len(options.target)),
            frame[features],
            target,
            sensitive_features=sensitive,
            limit=options.limit,
            scoring=options.scoring,
            cv=options.folds,
            n_jobs=options.jobs,
            random_state=options.seed,
        )
    say_and_write(searched, outputs, files)
    return 0 if searched.best is not None else 1


def _model(name: str, features: pd.DataFrame, *, n_tasks: int) -> Any:
    """Return a model of numbers and texts."""
    import sklearn
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.multioutput import MultiOutputClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    module, kind = _ESTIMATORS[name]
    estimator = getattr(getattr(sklearn, module), kind)()
    numbers = list(features.select_dtypes(["number", "bool"]))
    texts = [column for column in features if column not in numbers]
    encoder = make_column_transformer(
        (make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), numbers),
        (OneHotEncoder(handle_unknown="ignore", min_frequency=10), texts),
        sparse_threshold=0,
    )
    return make_pipeline(encoder, estimator if n_tasks == 1 else MultiOutputClassifier(estimator))
