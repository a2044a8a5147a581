"""``skbiasamp answers``: bias of answers to questions whose true answer may be "unknown" (BBQ)."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import pandas as pd

from skbiasamp._input.errors import speaking
from skbiasamp._io.files import check_named_once
from skbiasamp.cli._files import checked_outputs
from skbiasamp.cli._options import add_command
from skbiasamp.cli._terminal import say_and_write
from skbiasamp.report.evidence import made_now
from skbiasamp.results import AnswerReport
from skbiasamp.text import answer_scores, read_answers


def add_answers(commands: Any) -> None:
    """Add the command to the parser."""
    own = {
        "--prediction": {"nargs": None, "help": "field with the answer, in BBQ's JSON lines"},
        "--reference": {
            "nargs": "+",
            "metavar": "FILE",
            "help": "answers of the model to compare with",
        },
    }
    add_command(commands, "answers", _answers, "files --model-name --html --markdown", own)


def _answers(options: argparse.Namespace) -> int:
    """Bias of a language model's answers (BBQ).

    Print bias scores and accuracy of the answers to the questions of BBQ, by
    category. Reads BBQ's JSON lines with a field for the answer, samples of
    lm-evaluation-harness (--log_samples) and logs of Inspect. With --reference, the
    answers of another model to the same questions are compared with them.

    for example:
      skbiasamp answers preds.jsonl --prediction answer --html answers.html
      skbiasamp answers samples_bbq.jsonl --reference samples_before.jsonl
    """
    files = [Path(path) for path in [*options.files, *(options.reference or [])]]
    outputs = checked_outputs(options, files)
    for named in (options.files, options.reference or []):
        check_named_once([*map(Path, named)], "answers")
    with speaking({"frame": "FILE", "prediction": "--prediction", "reference": "--reference"}):
        frames = [
            pd.concat([read_answers(path, options.prediction) for path in files])
            for files in (options.files, options.reference)
            if files
        ]
        table = answer_scores(*(frame.reset_index(drop=True) for frame in frames))
    context = {"model_name": options.model_name, "data_name": ", ".join(options.files)}
    say_and_write(AnswerReport(table, context | made_now() | {"call": options.call}), outputs, [])
    return 0
