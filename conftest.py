"""Docstrings whose examples need torch are left out where it is not installed."""

from importlib.util import find_spec

NEED_TORCH = ["skbiasamp/attackers/_mlp.py", "skbiasamp/mitigation/_adversarial.py"]
collect_ignore = [] if find_spec("torch") else NEED_TORCH
