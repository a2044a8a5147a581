"""Live examples: pages as the package writes them, made at each build.

A page of the documentation links to one by `[text](live:compas.html)`.
"""

from pathlib import Path

from figures import examples_of
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import skbiasamp


def compas():
    """Return the audit of the README."""
    return examples_of("../README.md")["report"]


def comparison():
    """Return the README's model beside a logistic regression, on the same rows."""
    names = examples_of("../README.md")
    logistic = make_pipeline(StandardScaler(), LogisticRegression()).fit(names["X"], names["y"])
    return skbiasamp.compare(
        names["y_test"],
        {"boosting": names["predicted"], "logistic": logistic.predict(names["X_test"])},
        sensitive_features=names["race_test"],
        y_train=names["y"],
        sensitive_train=names["race"],
        pos_label="charged again",
        favourable="not charged again",
        random_state=0,
    )


def timeline():
    """Return the watch of "Monitoring"."""
    return examples_of("monitoring.md")["timeline"]


def write(app, exception):
    if exception is None and app.builder.format == "html":
        folder = Path(app.outdir) / "live"
        folder.mkdir(exist_ok=True)
        for make in (compas, comparison, timeline):
            make().to_html(folder / f"{make.__name__}.html")


def setup(app):
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
