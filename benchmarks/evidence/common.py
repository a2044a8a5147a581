"""What scripts of the evidence share: one thread a process, tables and the command line.

Import it first: libraries read the number of threads when NumPy is imported.
"""

import os
import sys
from pathlib import Path

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")
sys.path.append(str(Path(__file__).resolve().parents[1]))

# For the scripts of this folder, which have it alone on their path.
from pages import command as command
from pages import defined_in as defined_in
from pages import filled as filled
from pages import is_short as is_short
from pages import markdown as markdown
