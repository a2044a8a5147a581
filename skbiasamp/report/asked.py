"""The arguments of a verb, gathered once: what it reads, how, and under which names."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from types import SimpleNamespace
from typing import Any

from skbiasamp._input.checks import check_frame_columns
from skbiasamp._input.errors import InputError, InputTypeError, of_columns, speaking
from skbiasamp.metrics.inputs import columns_in
from skbiasamp.report.auditors import checked, read_as
from skbiasamp.report.evidence import call_of

_ROWS = ("sensitive_features", "sample_weight", "clusters")
_PREDICTIONS = ("y_pred", "sensitive_pred", "y_preds", "sensitive_preds")
_HOW = ("groups", "missing", "min_rows", "pos_label", "max_groups", "threshold")
_NAMES = ("model_name", "data_name")
# What only some verbs take.
_OPTIONAL = ("attributions", "score", "threshold", "y_score", *_NAMES)


class Asked(SimpleNamespace):
    """The arguments of a call by their names, and dicts of those that go on together.

    ``of_rows`` belong to each row, ``data`` are these and the predictions,
    ``columns`` those of a frame. ``how`` says how rows are read, ``names`` are of model and data.
    """

    def __init__(self, arguments: Mapping[str, Any], verb: Any) -> None:
        super().__init__(**{**dict.fromkeys(_OPTIONAL), **arguments})
        self.call = call_of(verb, arguments)
        self.columns = columns_in(arguments)
        self.of_rows, self.data, self.how = (
            {name: arguments[name] for name in names if name in arguments}
            for names in (_ROWS, _ROWS + _PREDICTIONS, _HOW)
        )
        self.names = {name: arguments.get(name) for name in _NAMES}
        self.how.setdefault("threshold", None)

    def speaking(self) -> AbstractContextManager[None]:
        """Let errors name the columns of a frame, in place of arrays that were not passed."""
        passed = vars(self)
        named = of_columns(self.columns)
        return speaking({name: role for name, role in named.items() if passed.get(name) is None})

    def check_columns(self) -> None:
        """Raise if columns or scores are named where they cannot be."""
        score = vars(self).get("score")
        if self.columns:
            check_frame_columns(self.columns, (vars(self).get("y_score"),))
        elif score is not None:
            raise InputTypeError("score= names a column of a frame: pass the frame as {y_true}.")
        if score is not None and self.how.get("threshold") is not None:
            text = "score= needs predicted labels: pass these, and leave {threshold} out."
            raise InputError(text)

    def choose_auditors(self, *unused: str) -> None:
        """Check the auditors that the user chose, and let them say how rows are read.

        Arguments that are `unused` by auditors of numbers or texts raise if they were passed; those
        of texts need no training labels either.
        """
        self.own = None if self.auditor is None else checked(self.auditor)
        self.reads = read_as(self.own)
        if self.reads == "labels":
            return
        self.how[self.reads] = True
        for name in (*unused, *["y_train"] * (self.reads == "texts")):
            if getattr(self, name) is not None:
                text = "{name} is not used by metrics of {reads}: leave it out."
                raise InputError(text, name=name, reads=self.reads)
