"""What needs data that are not available, and the code for those who have them."""

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

# Paper, numbers, what they need, the code.
MISSING = (
    (
        "Wang & Russakovsky 2021",
        "Sec. 3.3 (oven, keyboard; MALS 0.040, 0.001, 0.021), Table 1 and Table 3 (COCO, masks)",
        "COCO's images and gender labels, the predictions that Zhao et al. (2017) released, or a "
        "VGG16 trained five times for each mask",
        COCO,
    ),
    (
        "Wang & Russakovsky 2021",
        "Fig. 4 (CelebA: architectures, and ratios of majority to minority, five runs each)",
        "CelebA's images, and three networks trained five times",
        CELEBA,
    ),
    (
        "Wang & Russakovsky 2021",
        "Table 2 (0.1368, 0.0914, 0.0372, −0.1254 for T→A, 0.0084 to −0.0089 for A→T)",
        "FitBERT's weights, and counts in the English Wikipedia. The gallery has the same table "
        "for word vectors ({doc}`auto_examples/plot_base_correlations`). "
        "That uniform (3) is two thirds of uniform (2) follows for T→A, because “they” is never "
        "predicted and as many occupations are mostly male as mostly female. "
        "For A→T it follows only if the occupations "
        "filled in for “they” are as often of one kind as of the other",
        FITBERT,
    ),
    (
        "Zhao, Andrews & Xiang 2023",
        "both tables (Multi_MALS, Multi→ on COCO, imSitu, CelebA, and five mitigations)",
        "the images; for imSitu the places in them too, which the verbs' annotations lack",
        MULTI,
    ),
    (
        "Wang et al. 2019",
        "λ_M, F1 and mAP of Tables 1, 3, 4 and 5; Table 2; everything on COCO",
        "the images, and a ResNet-50 for each row",
        LEAKAGE,
    ),
    (
        "Tokas, Nair & Kerner 2024",
        "Table 4 (COCO, masks)",
        "COCO's images, and a VGG16 for each of eight data sets",
        DPA,
    ),
)
