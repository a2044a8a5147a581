"""COMPAS risk scores and rearrests: the records, and published tables of a model's predictions."""

from __future__ import annotations

from importlib import resources

import pandas as pd
from sklearn.utils import Bunch

from skbiasamp._input.keywords import keywords
from skbiasamp._utils.compat import StrOptions, validate_params

_FEATURES = ["age", "juv_fel_count", "juv_misd_count", "juv_other_count", "priors_count"]
_TARGETS = {"two_year_recid", "is_recid", "is_violent_recid"}

_DESCRIPTION = """\
COMPAS risk scores and rearrests, Broward County, Florida
---------------------------------------------------------

5,278 people who were arrested in 2013 and 2014 and got a COMPAS risk score, one row per person, and
whether they were charged again.

Columns of `frame`, under ProPublica's names:

age, sex, race
    race is "African-American" (3,175 rows) or "Caucasian" (2,103 rows).
juv_fel_count, juv_misd_count, juv_other_count, priors_count
    Felonies, misdemeanours and other offences as a juvenile; earlier offences in all.
c_charge_degree
    Degree of the charge: "F", a felony, or "M", a misdemeanour.
decile_score
    The COMPAS score, risk of recidivism: 1 (lowest) to 10. The publisher calls 1 to 4 low, 5 to 7
    medium and 8 to 10 high.
two_year_recid
    1 if charged with a new offence within two years of the screening.
is_recid
    1 if charged with a new offence before the data were collected, in 2016.
is_violent_recid
    1 if charged with a new violent offence before the data were collected.
late_screening
    1 if screened after 1 April 2014, less than two years before the data end (767 rows).

`data` holds age and the four counts of offences. Race, sex and the score are not features.

Provenance: compas-scores-two-years.csv of github.com/propublica/compas-analysis (Larson, Mattu,
Kirchner, Angwin: How we analyzed the COMPAS recidivism algorithm, ProPublica, 2016). Rows are those
of ProPublica's analysis: screened within 30 days of the arrest, a known outcome, more than an
ordinary traffic offence, and a score; of its 6,172 rows, those of the two largest races. Only
`late_screening` is not in the file: it is the screening date, reduced to what is needed. Names,
birth dates and case numbers are left out.

Licence: public records of the Broward County Sheriff's Office, the county's Clerk of Courts and
the Florida Department of Corrections, collected and published by ProPublica. The repository states
no licence. Cite ProPublica.

Known problems:

- An arrest or a charge is not an offence. The labels are what police and courts recorded, and
  policing differs by neighbourhood and race.
- Late screenings are included for some people only. People who were not charged again are in the
  file only if they were screened until 1 April 2014. People who were charged again are in it
  whenever they were screened. All rows with late_screening = 1 have two_year_recid = 1, so the rate
  of recidivism is too high: in the whole file 45.1 % instead of 36.2 % (Barenstein: ProPublica's
  COMPAS data revisited, 2019). Rates among people of one label change little. To correct it, use
  the rows with late_screening = 0.
- The county recorded race, in a few categories. People did not choose their category.
- Scores were used in decisions about release before trial, which change who can be charged again.
- The data are one county and two years. Do not train a model for use on them.
"""

_COUNTS_DESCRIPTION = """\
COMPAS recidivism predictions, as tables of counts
--------------------------------------------------

Defendants of two races, whether they were charged again (is_recid: no, yes), and what decision
trees predicted of both: Table 2 of Tokas, Nair, Kerner, Making bias amplification in balanced
datasets directional and interpretable (2024), for the data as they are and for the data balanced
in race and label.

The paper prints race by label, race by predicted label, and label by predicted race. It does not
print how labels and predictions occur together, so accuracy, and what depends on it, is unknown.
"""

# (no, yes) of the two races: labels, predictions, and predicted races of (no, yes).
_RACES = ["Caucasian", "African-American"]
_LABELS = ["no", "yes"]
_COUNTS = {
    "unbalanced": {
        "labels": [[1229, 874], [1402, 1773]],
        "predictions": [[1165, 938], [1546, 1629]],
        "predicted_groups": [[1056, 1575], [1115, 1532]],
    },
    "balanced": {
        "labels": [[874, 874], [874, 874]],
        "predictions": [[1145, 603], [948, 800]],
        "predicted_groups": [[1083, 665], [896, 852]],
    },
}


@keywords()
@validate_params({"target": [StrOptions(_TARGETS)], "as_frame": ["boolean"]})
def load_compas(*, target: str = "two_year_recid", as_frame: bool = True) -> Bunch:
    """Load the COMPAS data set: risk scores and rearrests, one row per defendant.

    The 5,278 rows come with the package. Before you use a number, read ``DESCR``: it describes
    their origin and their known problems.

    .. versionadded:: 0.1

    Parameters
    ----------
    target : {"two_year_recid", "is_recid", "is_violent_recid"}, default="two_year_recid"
        "two_year_recid": charged again within two years. "is_recid": charged again before the data
        were collected, the label of `load_compas_counts`. "is_violent_recid": the same with a
        violent offence.
    as_frame : bool, default=True
        True returns pandas objects; False returns NumPy arrays, without ``frame``.

    Returns
    -------
    data : Bunch
        ``data``: five features that a model may use. ``target``: 0 or 1. ``sensitive_features``:
        the race. ``decile_score``: the COMPAS score (1 to 10). ``frame``: all columns, with sex,
        degree of the charge and all three labels. ``feature_names``, ``target_name``, ``DESCR``.
        All have the same rows.

    Examples
    --------
    Does the score amplify, if a medium or high risk counts as a prediction?

    >>> from skbiasamp.datasets import load_compas
    >>> from skbiasamp.metrics import directional_amplification
    >>> compas = load_compas()
    >>> compas.data.shape
    (5278, 5)
    >>> medium_or_high = (compas.decile_score >= 5).astype(int)
    >>> value = directional_amplification(
    ...     compas.target, medium_or_high, sensitive_features=compas.sensitive_features
    ... )
    >>> round(value, 3)
    0.056
    """
    file = resources.files("skbiasamp.datasets") / "data" / "compas.csv.gz"
    with file.open("rb") as stream:
        frame = pd.read_csv(stream, compression="gzip")
    compas = Bunch(
        data=frame[_FEATURES],
        target=frame[target],
        sensitive_features=frame["race"],
        decile_score=frame["decile_score"],
        frame=frame,
        feature_names=list(_FEATURES),
        target_name=target,
        DESCR=_DESCRIPTION,
    )
    if not as_frame:
        for name in ("data", "target", "sensitive_features", "decile_score"):
            compas[name] = compas[name].to_numpy()
        compas.frame = None
    return compas


@keywords()
@validate_params({"subset": [StrOptions(set(_COUNTS))]})
def load_compas_counts(subset: str = "unbalanced") -> Bunch:
    """Load published counts of a model's predictions on COMPAS.

    .. versionadded:: 0.1

    Parameters
    ----------
    subset : {"unbalanced", "balanced"}, default="unbalanced"
        "unbalanced": the data as they are (5,278 defendants). "balanced": as many rows of each race
        and label (3,496).

    Returns
    -------
    data : Bunch
        Three DataFrames of counts. ``labels``: races in rows, labels in columns. ``predictions``:
        races in rows, predicted labels in columns. ``predicted_groups``: labels in rows, predicted
        races in columns. ``DESCR`` describes them.

    Examples
    --------
    >>> from skbiasamp.datasets import load_compas_counts
    >>> counts = load_compas_counts("unbalanced")
    >>> counts.labels
    task                no   yes
    group
    Caucasian         1229   874
    African-American  1402  1773

    Directional amplification group → task (A→T) is the mean change of these rates towards the
    group that has more of a label:

    >>> rates = counts.labels.div(counts.labels.sum(axis=1), axis=0)
    >>> predicted = counts.predictions.div(counts.predictions.sum(axis=1), axis=0)
    >>> print((predicted - rates).round(3))
    task                 no    yes
    group
    Caucasian        -0.030  0.030
    African-American  0.045 -0.045
    """
    races, labels = pd.Index(_RACES, name="group"), pd.Index(_LABELS, name="task")
    printed = _COUNTS[subset]
    return Bunch(
        labels=pd.DataFrame(printed["labels"], races, labels),
        predictions=pd.DataFrame(printed["predictions"], races, labels),
        predicted_groups=pd.DataFrame(printed["predicted_groups"], labels, races),
        DESCR=_COUNTS_DESCRIPTION,
    )
