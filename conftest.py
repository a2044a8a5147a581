"""What all tests share: docstrings that need torch are left out without it, one thread each."""

import os
from importlib.util import find_spec

from hypothesis import settings

NEED_TORCH = ["skbiasamp/attackers/_mlp.py", "skbiasamp/mitigation/_adversarial.py"]
collect_ignore = [] if find_spec("torch") else NEED_TORCH

# Workers that run side by side would wait for each other's threads; read when torch is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# No test fails because the machine is busy.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
