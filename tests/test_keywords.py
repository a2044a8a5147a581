"""Names of keywords that are unknown, and public names."""

import inspect

import pytest

import skbiasamp
from skbiasamp import Contingency, DirectionalAuditor, model_selection, testing

SEX = ["f"] * 400 + ["m"] * 400
HIRED = [1] * 100 + [0] * 300 + [1] * 200 + [0] * 200
PREDICTED = [1] * 60 + [0] * 340 + [1] * 250 + [0] * 150
QUIET = DirectionalAuditor(reference="test", interval=None)
# What a first-year user needs, and what reports of bugs need.
FIRST_YEAR = {
    "audit",
    "audit_frame",
    "compare",
    "audit_over",
    "explain",
    "selection_rates",
    "Contingency",
    "DirectionalAuditor",
    "MALSAuditor",
    "MultiAttributeAuditor",
    "LeakageAuditor",
    "DPAAuditor",
    "LICAuditor",
    "NumericAuditor",
    "AuditedClassifier",
    "LeakageProbe",
    "amplification_scorer",
    "cross_audit",
    "BaseRateThresholdClassifier",
    "show_versions",
    "metrics",
    "attackers",
    "inference",
    "integrations",
    "mitigation",
    "datasets",
    "model_selection",
    "monitoring",
    "plotting",
    "results",
    "testing",
    "text",
}


def test_the_public_names_are_those_of_a_first_year_user():
    assert set(skbiasamp.__all__) == FIRST_YEAR


@pytest.mark.parametrize(
    ("function", "word", "nearest"),
    [
        (skbiasamp.audit, "sensitive_feature", "sensitive_features"),
        (skbiasamp.compare, "auditer", "auditor"),
        (skbiasamp.audit_over, "perlod", None),
        (skbiasamp.selection_rates, "sample_weights", "sample_weight"),
        (skbiasamp.explain, "attribution", "attributions"),
        (skbiasamp.cross_audit, "scorings", "scoring"),
        (skbiasamp.amplification_scorer, "auditors", "auditor"),
        (model_selection.amplification_curve, "limit", "limits"),
        (testing.assert_amplification, "limits", "limit"),
    ],
)
def test_an_unknown_keyword_names_the_function_and_the_nearest_word(function, word, nearest):
    assert nearest is None or nearest in inspect.signature(function).parameters
    meant = f": did you mean '{nearest}'" if nearest else ""
    with pytest.raises(TypeError) as error:
        function(**{word: 1})
    assert f"{function.__name__}() has no parameter '{word}'{meant}" in str(error.value)


MODULES = [skbiasamp] + [
    getattr(skbiasamp, name) for name in skbiasamp.__all__
    if inspect.ismodule(getattr(skbiasamp, name, None))
]  # fmt: skip
PUBLIC = {f"{module.__name__}.{name}": getattr(module, name)
          for module in MODULES for name in module.__all__}  # fmt: skip


def _takes_known_keywords(function):
    """Return whether a function has parameters, and passes no others on."""
    parameters = inspect.signature(function).parameters.values()
    return parameters and all(each.kind is not each.VAR_KEYWORD for each in parameters)


CALLED = {
    name: function for name, function in PUBLIC.items()
    if inspect.isfunction(function) and _takes_known_keywords(function)
} | {"from_labels": Contingency.from_labels, "from_frame": Contingency.from_frame}  # fmt: skip


@pytest.mark.parametrize("name", CALLED)
def test_every_public_function_names_the_nearest_word(name):
    known = [*inspect.signature(CALLED[name]).parameters][-1]
    with pytest.raises(TypeError, match=rf"{known}x': did you mean '{known}'") as error:
        CALLED[name](**{f"{known}x": 1})
    assert f"{name.rpartition('.')[2]}()" in str(error.value)
