"""What all tests share: docstrings that need torch are left out without it, and one thread each."""

import os
from importlib.util import find_spec

NEED_TORCH = ["skbiasamp/attackers/_mlp.py", "skbiasamp/mitigation/_adversarial.py"]
collect_ignore = [] if find_spec("torch") else NEED_TORCH

# Workers that run side by side would wait for each other's threads; read when torch is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")
