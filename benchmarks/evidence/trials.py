"""What scripts of the evidence share: one thread a process, and trials that are kept in a file.

Import it first: libraries read the number of threads when NumPy is imported.
"""

import json
import os
import sys
import time
from pathlib import Path

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")
sys.path.append(str(Path(__file__).resolve().parents[1]))

import numpy as np

# For the scripts of this folder, which have it alone on their path.
from pages import command as command
from pages import defined_in as defined_in
from pages import filled as filled
from pages import is_short as is_short
from pages import markdown as markdown


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
            part = [int(seed) for seed in seeds[len(done) :][: self.part]]
            done += np.asarray(function(*args, part)).tolist()
            if self.keep:
                self.keep.write_text(json.dumps(self.held))
        return np.array(done[:trials])
