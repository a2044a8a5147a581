"""How the documentation is built; `make docs` does it. Nothing is read from the network."""

import os
import re
import sys
import warnings
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_extensions"))

import skbiasamp  # noqa: E402

project = "skbiasamp"
author = "The skbiasamp developers"
copyright = author
version = release = skbiasamp.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    # Our own, in _extensions.
    "examples",
    "figures",
    "live",
    "mathml",
    "members",
    "redirects",
    "terms",
]
# Pages of earlier versions, and where their content is now.
redirects = {
    "attackers": "metrics",
    "concepts": "choosing",
    "cooccurrence": "metrics",
    "datasets": "recipes#data-sets-to-try",
    "contributing": "index",
    "development": "index",
    "install": "getting-started",
    "directional": "metrics",
    "guide": "choosing",
    "limits": "choosing#limits",
    "mals": "metrics#mals",
    "measured": "evidence",
    "migration": "choosing",
    "multi-attribute": "metrics#multi-attribute-bias-amplification",
    "numeric": "numbers",
    "other-evidence": "matched-pairs",
    "predictability": "metrics#leakage-and-dpa",
    "related": "metrics#related-measures",
    "reports": "read-your-page",
    "coverage-impact": "groups",
    "coverage-watching": "monitoring",
    "equalisation": "metrics",
    "mitigation-adversarial": "mitigation",
    "report-schema": "read-your-page",
    **{
        f"benchmarks-{name}": "benchmarks"
        for name in (
            *("attackers", "cooccurrence", "engines", "growth", "predictability", "sklearn"),
        )
    },
}
# Pages of the gallery are in sections; those that repeat a paper are in benchmarks/papers.
GALLERY = "auto_examples"
redirects |= {
    f"{GALLERY}/{page.stem}": f"{GALLERY}/{page.parent.name}/{page.stem}"
    for page in (HERE.parent / "examples").glob("*/plot_*.py")
}
redirects |= {
    f"{GALLERY}/plot_{name}": "replication"
    for name in (
        *("adversarial", "attacker_robustness", "attacker_rows", "base_correlations"),
        *("captions_masked", "dpa_compas", "equalizer", "leakage_coco", "leakage_imsitu"),
        *("lic_captioners", "masks", "metric_heatmaps", "multi_attribute", "predicted_groups"),
        *("rba", "reference_data", "relative_amplification", "shortcomings"),
    )
}
redirects |= {
    f"{GALLERY}/plot_base_rate_thresholds": "scikit-learn",
    **{
        f"{GALLERY}/{section}plot_{name}": new
        for section, name, new in (
            ("metrics/", "multi_attribute", "metrics#multi-attribute-bias-amplification"),
            ("mitigation/", "predicted_groups", "replication"),
            ("models/", "attacker_rows", "replication"),
        )
    },
    **{
        f"{GALLERY}/{section}plot_{name}": new
        for folder, name, new in (
            ("audit", "duckdb", "scale"),
            ("audit", "why_incomes", "why"),
            ("mitigation", "grid_search_compas", "scikit-learn"),
            ("mitigation", "pipeline_probes", "scikit-learn"),
            ("models", "feedback", "monitoring#feedback-loops"),
            ("models", "sharpening", "recipes"),
        )
        for section in ("", f"{folder}/")
    },
}
exclude_patterns = ["_build", "_extensions"]
exclude_patterns += ["auto_examples/**.py", "auto_examples/**.ipynb"]
templates_path = ["_templates"]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
myst_url_schemes = {
    **dict.fromkeys(("http", "https", "mailto")),
    "live": {"url": "live/{{path}}", "classes": ["live"]},
}

default_role = "literal"
autosummary_generate = True
autodoc_typehints = "none"  # numpydoc's Parameters say it in words
numpydoc_show_class_members = False  # autodoc lists them, see the template of classes
numpydoc_xref_param_type = False
toc_object_entries_show_parents = "hide"
copybutton_exclude = ".linenos, .gp, .go"

# An example whose file is not at hand is shown, but not run: nothing is downloaded.
EXAMPLES = HERE.parent / "examples"
SECTIONS = ("audit", "metrics", "models", "mitigation")
FILE = "acs_income_predictions.parquet"
FOLDER = Path(os.environ.get("SKBIASAMP_DATA", HERE))


def runs(example):
    return FILE not in example.read_text("utf-8") or (FOLDER / FILE).is_file()


# Examples run in two processes, which joblib replaces where an example left much behind.
warnings.filterwarnings("ignore", message="A worker stopped while some jobs were given")

sphinx_gallery_conf = {
    "examples_dirs": [str(EXAMPLES)],
    "gallery_dirs": ["auto_examples"],
    "filename_pattern": "|".join(
        rf"/{re.escape(example.name)}$" for example in EXAMPLES.rglob("plot_*.py") if runs(example)
    ),
    "ignore_pattern": r"(^|/)(?!plot_)[^/]*\.py$",
    "subsection_order": [str(Path("../examples", section)) for section in SECTIONS],
    "within_subsection_order": "ExampleTitleSortKey",
    "backreferences_dir": "generated/backreferences",
    "doc_module": ("skbiasamp",),
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "capture_repr": (),
    "parallel": 2,
}

# Names of scikit-learn and NumPy become links only where their inventories may be fetched.
if os.environ.get("SKBIASAMP_DOCS_INTERSPHINX"):
    extensions.append("sphinx.ext.intersphinx")
    intersphinx_mapping = {
        "numpy": ("https://numpy.org/doc/stable", None),
        "pandas": ("https://pandas.pydata.org/docs", None),
        "python": ("https://docs.python.org/3", None),
        "scipy": ("https://docs.scipy.org/doc/scipy", None),
        "sklearn": ("https://scikit-learn.org/stable", None),
    }

html_theme = "pydata_sphinx_theme"
html_title = "skbiasamp"
html_static_path = ["_static"]
html_css_files = ["skbiasamp.css"]
html_search_scorer = str(HERE / "_extensions" / "scorer.js")
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {"index": []}
html_theme_options = {
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": False,
    "navigation_with_keys": False,
}
