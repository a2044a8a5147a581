"""Which members of a class its page shows: our own, not what scikit-learn gives every estimator."""

from skbiasamp.metrics.base import INTERNAL


def skip(app, what, name, obj, skipped, options):
    ours = getattr(obj, "__module__", "skbiasamp") or "skbiasamp"
    routing = name.startswith("set_") and name.endswith("_request")
    internal = name in INTERNAL and what in ("class", "method")
    return True if internal or routing or ours.split(".")[0] != "skbiasamp" else None


def setup(app):
    app.connect("autodoc-skip-member", skip)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
