"""WordsDisplay: the words by which an attacker on texts recognises each group."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
import pandas as pd

from skbiasamp._input.checks import check_count, check_option
from skbiasamp._input.errors import InputError
from skbiasamp._utils.palette import SERIES
from skbiasamp.plotting._common import (
    TableDisplay,
    import_pyplot,
    literal,
    short_labels,
    title_of,
)
from skbiasamp.plotting._rows import RowsDisplay
from skbiasamp.results import AuditResult


@dataclass(eq=False, repr=False)
class WordsDisplay(RowsDisplay, TableDisplay):
    """Bars of the words by which an attacker on texts recognises each group.

    If there are two groups, the words of one point to the left and those of the other to the
    right. If there are more, each has its own colour.

    .. versionadded:: 0.1

    Parameters
    ----------
    table : DataFrame
        The words, as ``AuditResult.words`` has them: ``source``, ``target``, ``word``, ``weight``.
    title : str, default=None
        A title.
    group_columns : sequence of str, default=()
        Names of the sensitive columns that make the groups.

    Attributes
    ----------
    bars_ : BarContainer
        The weights.
    ax_, figure_ : Axes, Figure
        Where it was drawn.

    See Also
    --------
    skbiasamp.LICAuditor : Finds the words.

    Examples
    --------
    >>> from skbiasamp import LICAuditor
    >>> from skbiasamp.plotting import WordsDisplay
    >>> group = ["f", "m"] * 100
    >>> people = ["a woman with a bike", "a man with a bike"] * 100
    >>> model = ["a woman in a kitchen", "a man with a bike"] * 100
    >>> auditor = LICAuditor(n_draws=2, random_state=0, equalize=None)
    >>> result = auditor.audit(people, model, sensitive_features=group)
    >>> display = WordsDisplay(result.words)
    >>> display.strongest(1)[["target", "word"]]
      target          word
    0      f    <group> in
    1      m  <group> with

    Where matplotlib is installed, ``WordsDisplay.from_result(result)`` draws them.
    """

    _needs = ("source", "target", "word", "weight")
    _made_by = "AuditResult.words"

    _: KW_ONLY
    title: str | None = None
    group_columns: Sequence[Hashable] = ()

    @classmethod
    def from_result(
        cls, result: AuditResult, *, model_name: str | None = None, ax: Any = None, **options: Any
    ) -> Self:
        """Draw the words of a result.

        Parameters
        ----------
        result : AuditResult
            What ``audit`` of an auditor of texts returned.
        model_name : str, default=None
            Name of the model, for the title.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        **options : dict
            Passed to `plot`.

        Returns
        -------
        display : WordsDisplay
            The Display, drawn.
        """
        words = getattr(result, "words", None)
        if words is None:
            raise InputError(
                "{result} has no words: an audit of texts finds them if its attacker is linear in "
                "words."
            )
        title = title_of(result, model_name)
        display = cls(words, title=title, group_columns=result.group_columns)
        return display.plot(ax, **options)

    def strongest(self, max_words: int = 10, source: str = "model texts") -> pd.DataFrame:
        """Return the strongest words of each target.

        Parameters
        ----------
        max_words : int, default=10
            How many words of each target.
        source : {"model texts", "human texts"}, default="model texts"
            "model texts": words of the model. "human texts": words of people.

        Returns
        -------
        words : DataFrame
        """
        check_count("max_words", max_words)
        check_option("source", source, ("model texts", "human texts"))
        own = self.table[self.table["source"] == source]
        by_target = own.groupby(own["target"].map(repr), sort=False)
        return by_target.head(max_words).reset_index(drop=True)

    def plot(
        self,
        ax: Any = None,
        *,
        source: str = "model texts",
        max_words: int = 10,
    ) -> Self:
        """Draw the strongest words of each target.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure as high as it needs.
        source : {"model texts", "human texts"}, default="model texts"
            "model texts": words of the model. "human texts": words of people.
        max_words : int, default=10
            How many words of each target.

        Returns
        -------
        display : WordsDisplay
            This Display.
        """
        shown = self.strongest(max_words, source)
        names = list(dict.fromkeys(shown["target"]))
        labels = short_labels(names, ", ", self.group_columns, width=40)
        two = len(names) == 2
        (ax,) = self._axes(ax, (6.0, 1.8 + 0.22 * max(len(shown), 1)))
        self._draw_zero()
        which = [names.index(name) for name in shown["target"]]
        side = np.array([-1.0 if two and i == 0 else 1.0 for i in which])
        width = shown["weight"].to_numpy(float) * side
        colours = [SERIES[i % len(SERIES)] for i in which]
        look = {"color": colours, "height": 0.7}
        self.bars_ = ax.barh(np.arange(len(shown)), width, **look)
        reach = 1.05 * max(shown["weight"].max() if len(shown) else 1.0, 1e-9)
        ax.set_xlim(-reach if two else 0, reach)
        ax.xaxis.set_major_formatter(lambda value, _: f"{abs(value):g}")
        if len(names) > 2:
            Rectangle = import_pyplot(self).Rectangle
            marks = [
                Rectangle((0, 0), 1, 1, color=colours[which.index(i)]) for i in range(len(names))
            ]
            ax.legend(marks, [f"points to {labels[name]}" for name in names], loc="lower right")
        words = [literal(word) for word in shown["word"]]
        sides = "← points to {}  |  points to {} →".format(*labels.values()) if two else ""
        notes = [f"weight in an attacker on {source}"]
        self._label_rows(words, notes, title=self.title, sides=sides)
        return self
