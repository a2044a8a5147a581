"""Draw the picture of the README again, from the page of the gallery that shows it.

python docs/images/draw.py
"""

import runpy
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

FOLDER = Path(__file__).parent
runpy.run_path(str(FOLDER.parents[1] / "examples" / "plot_compas_thresholds.py"))
plt.gcf().savefig(FOLDER / "compas-thresholds.svg", metadata={"Date": None})
