"""Code for those who have the data that published values need."""

COCO = """\
from skbiasamp import DirectionalAuditor, MALSAuditor

predicted = {"y_pred": objects_pred, "sensitive_pred": gender_pred}
for auditor in (MALSAuditor(), DirectionalAuditor("A->T"), DirectionalAuditor("T->A")):
    auditor.fit(objects_train, sensitive_features=gender_train)
    print(auditor.audit(objects, sensitive_features=gender, **predicted))
"""
CELEBA = """\
from skbiasamp import DirectionalAuditor

auditor = DirectionalAuditor("A->T").fit(young_train, sensitive_features=gender_train)
print(auditor.audit_runs(young, young_runs, sensitive_features=gender))
"""
FITBERT = """\
from skbiasamp import DirectionalAuditor

# One row per occupation; said holds the mean probability of each pronoun, one column each;
# base and sign are tables of pronouns x occupations.
auditor = DirectionalAuditor("T->A", base=base, sign=sign, reference="test", groups="indicator")
print(auditor.audit(occupations, sensitive_features=pronouns, sensitive_pred=said))
"""
MULTI = """\
from skbiasamp import MultiAttributeAuditor

predicted = {"y_pred": objects_pred, "sensitive_pred": gender_pred}
for direction in (None, "T->A", "A->T"):
    auditor = MultiAttributeAuditor(direction, min_size=2)
    auditor.fit(objects_train, sensitive_features=gender_train)
    print(auditor.audit(objects, sensitive_features=gender, **predicted))
"""
LEAKAGE = """\
from skbiasamp import LeakageAuditor
from skbiasamp.attackers import MLPAttacker

auditor = LeakageAuditor(attacker=MLPAttacker.preset("leakage"), equalize="f1")
print(auditor.audit(objects, objects_pred, sensitive_features=gender))
"""
DPA = """\
from skbiasamp import DPAAuditor
from skbiasamp.attackers import MLPAttacker

auditor = DPAAuditor("T->A", attacker=MLPAttacker.preset("dpa"), quality="accuracy")
print(auditor.audit(objects, sensitive_features=gender, sensitive_pred=gender_pred))
"""

LIC = """\
from skbiasamp import LICAuditor

# captions: by people, in the vocabulary of the model; captions_pred: by the model.
print(LICAuditor().audit(captions, captions_pred, sensitive_features=gender))
"""

# By the name that an item of the inventory gives.
CODE = {
    "coco": COCO,
    "celeba": CELEBA,
    "fitbert": FITBERT,
    "multi": MULTI,
    "leakage": LEAKAGE,
    "dpa": DPA,
    "lic": LIC,
}
NOTES = {
    "fitbert": """
In the paper's Table 2, T→A of uniform (3) is two thirds of T→A of uniform (2). The reason: “they”
is never predicted, and as many occupations are mostly male as mostly female. For A→T, the ratio is
the same only if the occupations filled in for “they” are as often mostly male as mostly female.
""",
}
