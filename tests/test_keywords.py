"""Names of keywords that are unknown, and public names."""

import inspect

import pytest
from discovery import public_objects

import skbiasamp
from skbiasamp import Contingency

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


def _takes_known_keywords(function):
    """Return whether a function has parameters, and passes no others on."""
    parameters = inspect.signature(function).parameters.values()
    return parameters and all(each.kind is not each.VAR_KEYWORD for each in parameters)


CALLED = {
    name: one
    for name, one in public_objects().items()
    if inspect.isfunction(one) and _takes_known_keywords(one)
}
CALLED |= {"from_labels": Contingency.from_labels, "from_frame": Contingency.from_frame}


@pytest.mark.parametrize("name", CALLED)
def test_every_public_function_names_the_nearest_word(name):
    known = [*inspect.signature(CALLED[name]).parameters][-1]
    with pytest.raises(TypeError, match=rf"{known}x': did you mean '{known}'") as error:
        CALLED[name](**{f"{known}x": 1})
    assert f"{name}()" in str(error.value)
