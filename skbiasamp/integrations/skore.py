"""A check of bias amplification for reports of skore.

Examples
--------
>>> from skbiasamp.integrations.skore import AmplificationCheck
>>> AmplificationCheck(["sex", "race"]).title
'Bias amplification sex race'
"""

from __future__ import annotations

from typing import Any, ClassVar

from skbiasamp._utils.formatting import ADDS, AMPLIFIES, REVERSES, WITHIN
from skbiasamp.compose.sensitive import SensitiveColumns
from skbiasamp.metrics import DirectionalAuditor
from skbiasamp.report import audit

__all__ = ["AmplificationCheck"]


class AmplificationCheck(SensitiveColumns):
    """Check whether a model amplifies bias, in a report of skore.

    Add it to the report of an estimator. It audits the predictions for the test rows with
    directional amplification (`DirectionalAuditor`). An issue is found if the model amplifies,
    adds or reverses a difference. With `limit`, it is found unless the effect is clearly within it.

    .. versionadded:: 0.3

    Parameters
    ----------
    sensitive : column name or list of names, or callable
        The columns of X with the sensitive feature, or a function that returns it for X. Use a
        function if the model does not get the feature.
    favourable : label, default=None
        The class that people want. None: the check does not say who is worse off.
    limit : float, default=None
        The smallest effect that matters, such as 0.02. None: 0 is the only limit.
    code : str, default=None
        The code in the summary, in upper case. None: "SBA-" and the names of the columns. Checks
        of several features in one report need a code each.

    Attributes
    ----------
    title, report_types, docs_url, severity, slow
        What skore asks of a check.

    See Also
    --------
    skbiasamp.audit : The whole report of these predictions.

    Examples
    --------
    >>> from skbiasamp.integrations.skore import AmplificationCheck
    >>> check = AmplificationCheck("sex", favourable=1)
    >>> check.code
    'SBA-SEX'

    With skore installed, ``report.checks.add([check])`` adds it to an ``EstimatorReport``, and
    ``report.checks.summarize()`` shows it.
    """

    report_types: ClassVar[list[str]] = ["estimator"]
    docs_url = None  # an address begins with "http"; what does not leads to skore's own guide
    severity = "issue"
    slow = False

    def __init__(
        self,
        sensitive: Any,
        *,
        favourable: Any = None,
        limit: float | None = None,
        code: str | None = None,
    ) -> None:
        self.sensitive, self.favourable, self.limit = sensitive, favourable, limit
        names = [] if callable(sensitive) else [sensitive]
        names = list(sensitive) if isinstance(sensitive, list | tuple) else names
        # skore finds a code in upper case only, and keeps one result for each.
        self.code = (code or "-".join(["SBA", *map(str, names)])).upper()
        self.title = " ".join(["Bias amplification", *map(str, names)])

    def check_function(self, report: Any) -> str | None:
        """Return what is wrong, or None.

        Parameters
        ----------
        report : skore.EstimatorReport

        Returns
        -------
        explanation : str or None
        """
        from skore import CheckNotApplicable

        try:
            audited = self._audited(report)
        except ValueError as error:  # any other error would take the page of the report away
            raise CheckNotApplicable(str(error)) from error
        facts = audited.facts
        is_issue = facts.verdict in (AMPLIFIES, ADDS, REVERSES)
        if self.limit is not None:
            is_issue = facts.limit_verdict != WITHIN
        return audited.verdict if is_issue else None

    def _audited(self, report: Any) -> Any:
        train: dict[str, Any] = {}
        if report.X_train is not None and report.y_train is not None:
            train = {"y_train": report.y_train}
            train["sensitive_train"] = self._sensitive(report.X_train, None, "fit")
        return audit(
            report.y_test,
            report.get_predictions(data_source="test"),
            sensitive_features=self._sensitive(report.X_test, None, "check_function"),
            auditor=DirectionalAuditor(),
            pos_label=report.pos_label,
            favourable=self.favourable,
            limit=self.limit,
            **train,
        )
