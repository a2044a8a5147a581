"""
Audit in continuous integration
===============================

``skbiasamp audit`` reads files of predictions. With ``--limit`` it passes (exit code 0) only if the
whole confidence interval lies within the limit. It fails (1) if the interval lies outside, or if
the model reverses the association. Otherwise it is inconclusive (3).

**Result:** the exit code depends on the confidence interval, not on the value alone. With 4,000
rows the audit fails. With 400 rows of the same model it is inconclusive, and says how many rows
would decide.
"""

# %%
# Files with predictions
# ----------------------
# The model amplifies by 0.05. One file has 400 rows, the other 4,000.

import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from skbiasamp import DirectionalAuditor
from skbiasamp.datasets import make_biased_classification

LIMIT = 0.02
made = make_biased_classification(4000, amplification=0.05, accuracy=0.8, random_state=0)
rows = pd.DataFrame({"hired": made.target, "predicted": made.prediction, "group": made.sensitive})

# %%
# The command
# -----------
# A build script needs one line. Here the exit code is kept instead of stopping.


def gate(file: Path) -> subprocess.CompletedProcess[str]:
    """Run the command line on a file and return how it ended."""
    command = ["-m", "skbiasamp", "audit", file.name, "--target", "hired"]
    command += ["--prediction", "predicted", "--sensitive", "group", "--seed", "0"]
    command += ["--limit", str(LIMIT)]
    return subprocess.run(
        [sys.executable, *command], cwd=file.parent, capture_output=True, encoding="utf-8"
    )


ended = {}
with tempfile.TemporaryDirectory() as folder:
    for n_rows in (400, 4000):
        file = Path(folder) / f"predictions-{n_rows}.csv"
        rows[:n_rows].to_csv(file, index=False)
        ended[n_rows] = gate(file)
for n_rows, done in ended.items():
    print(f"{n_rows:,} rows: exit code {done.returncode}")

# %%
# The message of the failed audit:

print(ended[4000].stderr)

# %%
# Its output:

print(ended[4000].stdout)

# %%
# Confidence intervals and the limit
# ----------------------------------
# The interval of 400 rows includes values below the limit. The interval of 4,000 rows is entirely
# above it.

auditor = DirectionalAuditor(reference="test")
results = {
    n_rows: auditor.audit(rows[:n_rows], target="hired", prediction="predicted", sensitive="group")
    for n_rows in ended
}
figure, ax = plt.subplots(figsize=(4.4, 2.4), layout="constrained")
for place, (n_rows, result) in enumerate(results.items()):
    color = "#a33d00" if result.low > LIMIT else "0.4"
    ax.plot([result.low, result.high], [place, place], color=color)
    ax.plot(result.value, place, "o", color=color)
    print(f"{n_rows:,} rows: {result.value:+.3f} [{result.low:+.3f}, {result.high:+.3f}]")
ax.axvline(LIMIT, color="black", linewidth=1, linestyle="dashed")
ax.set(yticks=[0, 1], yticklabels=[f"{n_rows:,} rows" for n_rows in results])
ax.set(ylim=(-0.6, 1.6), xlabel="directional, group → task")
ax.set_title("The build fails if the whole interval\nis above the limit (dashed)", fontsize=11)
plt.show()
