"""Which members of a class its page shows: our own, not what scikit-learn gives every estimator."""


def skip(app, what, name, obj, skipped, options):
    ours = getattr(obj, "__module__", "skbiasamp") or "skbiasamp"
    routing = name.startswith("set_") and name.endswith("_request")
    return True if routing or ours.split(".")[0] != "skbiasamp" else None


def setup(app):
    app.connect("autodoc-skip-member", skip)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
