"""Certificate: thresholds that are proven to amplify no more than a limit."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from skbiasamp._utils.formatting import INCONCLUSIVE, WITHIN, level_of, number
from skbiasamp.render.document import Card, Cell, Document, Section, Table
from skbiasamp.results._content import Cells, count, shown, table_columns, topics
from skbiasamp.results._json import Stored, records
from skbiasamp.results._shown import Paged


@dataclass(frozen=True, eq=False, repr=False)
class Certificate(Paged, Stored):
    """Proof that decisions at a threshold amplify no more than a limit, or that there is none.

    `AmplificationController` makes it.

    .. versionadded:: 0.2

    Attributes
    ----------
    threshold : float
        The certified threshold with the best score; NaN if none is certified.
    limit, confidence_level, two_sided : float, float, bool
        What is proven: with this probability over calibration rows, the amplification lies within
        ±`limit`, or (one-sided) below `limit`.
    signs_from : str
        Which labels gave the signs.
    n_tested, n_ordering, n_blocks : int
        Number of rows that test, of rows that order the thresholds, and of rows of the smallest
        group among those that test.
    tests : DataFrame
        One row for each threshold that was tested, in order: ``threshold``, ``amplification`` and
        ``score`` on the rows that test, and ``p_value``. The last one may have failed.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skbiasamp.mitigation import AmplificationController
    >>> rng = np.random.default_rng(0)
    >>> sex = rng.choice(["f", "m"], 40_000)
    >>> skill = rng.normal(sex == "m", 1)[:, None]
    >>> hired = (skill[:, 0] + rng.normal(0, 1.5, 40_000) > 1).astype(int)
    >>> model = LogisticRegression().fit(skill[:20_000], hired[:20_000])
    >>> control = AmplificationController(model, limit=0.03, random_state=0)
    >>> control = control.fit(skill[20_000:], hired[20_000:], sensitive_features=sex[20_000:])
    >>> print(control.certificate_.sentence)
    With probability 95 % over calibration rows, the amplification of decisions at threshold
    0.6351 is within ±0.03 on new rows of the same kind.
    """

    _last = ("sentence", "tests")
    _in_rows = True

    threshold: float
    limit: float
    confidence_level: float
    two_sided: bool
    signs_from: str
    n_tested: float
    n_ordering: float
    n_blocks: float
    tests: pd.DataFrame

    @property
    def certified(self) -> bool:
        """Whether there is a certified threshold."""
        return self.threshold == self.threshold

    @property
    def sentence(self) -> str:
        """What is proven."""
        limit = f"{'within ±' if self.two_sided else 'at most '}{self.limit:g}"
        if not self.certified:
            return (
                f"No threshold is certified: these rows do not prove for any that its "
                f"amplification is {limit}. More rows may do so, or a greater limit."
            )
        return (
            f"With probability {level_of(self.confidence_level)} over calibration rows, the "
            f"amplification of decisions at threshold {self.threshold:.4g} is {limit} on new rows "
            "of the same kind."
        )

    def to_frame(self) -> pd.DataFrame:
        """Return the table of tests.

        Returns
        -------
        frame : DataFrame
            A copy.
        """
        return self.tests.copy()

    def to_document(self) -> Document:
        """Return what it says as plain data, which renderers show.

        Returns
        -------
        document : Document
        """
        word = WITHIN if self.certified else INCONCLUSIVE
        certified: Cells = {
            "Score": shown("score", lambda value: number(value, ".3f")),
            "Certified": lambda row: Cell("yes" if self._passes(row["p_value"]) else "no"),
        }
        tests = Table.of(
            records(self.tests),
            table_columns({"Amplification": shown("amplification")}, "p-value", certified),
            lambda row: {"name": number(row["threshold"], ".4g")},
            id="tests",
            caption="Thresholds in the order of their tests",
            first="Threshold",
        )
        rests = {
            "What is certified": "Directional amplification A→T (group → task: does the group "
            "shift the predicted task?): the mean over groups of sign × (rate of decisions − rate "
            f"of labels), in the population, at the signs of {self.signs_from}. A few new rows "
            "vary around it.",
            "Same kind": "Calibration rows and new rows are independent draws from one "
            "population, with the same groups, labels and scores. If the population changes, the "
            "certificate is void: watch the model with audit_over.",
            "Not seen": "The model was trained on other rows, and nothing else was chosen on the "
            "calibration rows.",
            "Test": f"Each p-value is of the hypothesis that the limit is broken. It is a bet on "
            f"{count(self.n_blocks)} blocks of rows, each with rows of every group, and valid for "
            f"any number of rows (Waudby-Smith and Ramdas, 2024). {count(self.n_tested)} rows "
            f"test; {count(self.n_ordering)} other rows gave the order. Tests end with the first "
            "one that fails, so all certified thresholds hold together (Angelopoulos et al., "
            "2025).",
        }
        return Document(
            "Amplification certificate",
            [
                Section("Verdict", [Card.of(word, self.sentence)], "verdict", leading=True),
                Section("Tests", [tests], "thresholds"),
                Section("What the certificate rests on", [topics(rests)], "assumptions"),
            ],
        )

    def _passes(self, p: float) -> bool:
        return p <= 1 - self.confidence_level + 1e-12
