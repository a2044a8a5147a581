"""Trials of a long simulation in parts: what is done is kept in a file and not done again."""

import json
import time
from pathlib import Path

import numpy as np


def add_arguments(parser):
    """Add the options that share a simulation out over several runs."""
    parser.add_argument("--keep", type=Path, help="file of trials that are done, and not repeated")
    parser.add_argument("--minutes", type=float, default=np.inf, help="stop after them")


class Trials:
    """Trials by what they are of, each with a seed of its own; `part` of them are run at once."""

    def __init__(self, keep=None, minutes=np.inf, part=20):
        self.keep, self.part = keep, part
        self.end = time.monotonic() + minutes * 60
        self.held = json.loads(keep.read_text()) if keep and keep.exists() else {}

    def run(self, function, name, *args, trials):
        """Return what `function` returns for `trials` seeds, which it gets in parts."""
        key = " ".join(map(str, name))
        seeds = np.random.SeedSequence([*key.encode()]).generate_state(trials)
        done = self.held.setdefault(key, [])
        while len(done) < trials:
            if time.monotonic() > self.end:
                raise SystemExit(f"The minutes are over; what is done is kept in {self.keep}.")
            part = [int(one) for one in seeds[len(done) :][: self.part]]
            done += np.asarray(function(*args, part)).tolist()
            if self.keep:
                self.keep.write_text(json.dumps(self.held))
        return np.array(done[:trials])
