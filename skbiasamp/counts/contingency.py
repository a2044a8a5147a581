"""Contingency: the distinct label rows, and how often each occurs."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable
from typing import Any

import pandas as pd

from skbiasamp._input.errors import columns_named
from skbiasamp._input.labels import Summed
from skbiasamp._input.options import keywords
from skbiasamp._input.rows import read_rows
from skbiasamp._io import written
from skbiasamp.counts import cells, draws, merging, parts
from skbiasamp.counts.cells import SIDES, Cells, SideName
from skbiasamp.counts.frames import read_frame
from skbiasamp.counts.stored import load_cells, read_counts, write_cells, write_table

__all__ = ["SIDES", "Contingency", "SideName", "Summed"]


class Contingency(Cells):
    """The distinct rows of (A, T, T̂, Â) and how often each occurs.

    Everything the library measures is a function of contingencies, and contingencies add:
    the contingency of two halves of the data, of two days or of two machines is the sum of
    theirs. Make one with `from_labels` or `from_counts`.

    Attributes
    ----------
    groups : tuple
        The values of the sensitive feature, or the combinations of several.
    tasks : tuple
        The tasks: the positive class of a binary label, the classes of a multiclass label,
        the columns of a multilabel indicator.
    pos_label : class or None
        The positive class of a binary label in one column.
    group_columns : tuple
        The columns whose values make the groups, if they have names.
    total : float
        Number of rows, or the sum of their weights.
    n_cells : int
        Number of cells held: distinct rows, where rows repeat.
    n_dropped : float
        Rows left out because the sensitive feature was missing and ``missing="drop"``.
    summed : {"tasks", None}
        "tasks" if an engine summed each of many tasks by itself in place of counting rows. What
        needs single rows raises an error.

    Examples
    --------
    >>> from skbiasamp import Contingency
    >>> cells = Contingency.from_labels(
    ...     [1, 1, 0, 1, 0, 0], [1, 1, 1, 0, 0, 0], sensitive_features=list("fffmmm")
    ... )
    >>> cells.rate("task", given="group")
    array([[0.66666667],
           [0.33333333]])
    >>> (cells + cells).total
    12.0
    >>> cells.to_frame()
      group  task  task_pred  n
    0     f     0          1  1
    1     f     1          1  2
    2     m     0          0  2
    3     m     1          0  1
    """

    # ------------------------------------------------------------------ making

    @classmethod
    @keywords()
    def from_labels(
        cls,
        y_true: Any,
        y_pred: Any = None,
        *,
        sensitive_features: Any,
        sensitive_pred: Any = None,
        sample_weight: Any = None,
        clusters: Any = None,
        y_preds: Any = None,
        sensitive_preds: Any = None,
        groups: str = "intersection",
        missing: str = "error",
        min_rows: int | None = None,
        like: Contingency | None = None,
        scores: bool = False,
        pos_label: Any = None,
        max_groups: int | None = None,
        texts: bool = False,
        numbers: bool = False,
        threshold: float | None = None,
    ) -> Contingency:
        """Count label rows.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,) or (n_samples, n_tasks), or None
            Labels: one column of classes, or a 0/1 indicator column for each task. None: there are
            predictions alone, which some metrics can do with.
        y_pred : array-like, optional
            Predicted labels, or probabilities of the tasks.
        sensitive_features : array-like of shape (n_samples,) or (n_samples, n_features)
            The sensitive feature.
        sensitive_pred : array-like, optional
            The sensitive feature as the model predicts it.
        sample_weight : array-like of shape (n_samples,), optional
            Weights; a whole number counts as that many repetitions.
        clusters : array-like of shape (n_samples,), optional
            One id per row: rows of one person, image or family share it. They are then resampled
            and swapped together. Clusters of equal rows are held once.
        y_preds, sensitive_preds : dict of str to array-like, optional
            Predictions of several models for the same rows, by name, in place of `y_pred` and
            `sensitive_pred`: to compare models.
        groups : {"intersection", "marginal", "indicator"}, default="intersection"
            How several columns make groups: every combination that occurs, each column's
            values side by side, or columns that are 0/1 memberships already.
        missing : {"error", "drop", "group"}, default="error"
            How rows with a missing sensitive feature are handled: "error" raises, "drop" leaves
            them out and counts them in `n_dropped`, "group" makes them a group of their own.
        min_rows : int, optional
            Groups of fewer rows (in `like`, if there is one) are one group together.
        like : Contingency, optional
            Training labels: groups and tasks then have the names there, and new ones beside them.
        scores : bool, default=False
            Whether labels may be numbers that are no classes, and predictions any scores (such
            as logits). Only attackers can do something with them.
        pos_label : class, optional
            Which of two classes is the positive one, and so the task; probabilities in one column
            are of that class. By default that of `like`, or the class that sorts last.
        max_groups : int, optional
            How many groups are allowed. By default 100, and 20 if groups have fewer than 20 rows
            on average: more look like an identifier, or a number that was not binned.
        texts : bool, default=False
            Whether labels and predictions are texts. Each distinct text is then a class, which
            attackers can read. Rows with equal texts are one cell.
        numbers : bool, default=False
            Whether labels and predictions are numbers, such as prices, and no classes: for
            `NumericAuditor`.
        threshold : float, optional
            Turns scores in `y_pred` into predicted labels: the positive class, or the task of a
            column, from this score on. By default `y_pred` holds labels or probabilities.

        Returns
        -------
        contingency : Contingency
        """
        if like is not None:
            merging.require_cells("like", like)
        return cls.of_rows(
            read_rows(
                y_true,
                y_pred,
                sensitive_features=sensitive_features,
                sensitive_pred=sensitive_pred,
                y_preds=y_preds,
                sensitive_preds=sensitive_preds,
                sample_weight=sample_weight,
                clusters=clusters,
                scores=scores,
                groups=groups,
                missing=missing,
                min_rows=min_rows,
                like=like,
                pos_label=pos_label,
                max_groups=max_groups,
                texts=texts,
                numbers=numbers,
                threshold=threshold,
            )
        )

    @classmethod
    @keywords()
    @columns_named
    def from_counts(
        cls,
        frame: pd.DataFrame,
        *,
        target: Any = None,
        prediction: Any = None,
        sensitive: Any = None,
        sensitive_prediction: Any = None,
        count: Hashable = "n",
        pos_label: Any = None,
    ) -> Contingency:
        """Read a table of counts: the inverse of `to_frame`, or a published cross table.

        Parameters
        ----------
        frame : DataFrame
            One row a cell, with the columns that `to_frame` writes or those named below. A
            frame with none of them is read as a cross table, groups in the index and classes
            in the columns; of several levels in the index, groups are combinations.
        target, prediction, sensitive, sensitive_prediction : column name or list of names
            Where the labels are; a list names 0/1 indicator columns. By default ``"task"``,
            ``"task_pred"``, ``"group"`` and ``"group_pred"``, the last three where present.
        count : column name, default="n"
            Where the counts are.
        pos_label : class, optional
            Which of two classes is the positive one. By default what `to_frame` wrote, or the
            class that sorts last.

        Returns
        -------
        contingency : Contingency

        Examples
        --------
        >>> import pandas as pd
        >>> from skbiasamp import Contingency
        >>> published = pd.DataFrame({0: [1229, 1402], 1: [874, 1773]}, index=["C", "AA"])
        >>> Contingency.from_counts(published)
        Contingency(5,278 rows in 4 cells: 2 groups x 1 task, labels)
        """
        named = {
            "target": target,
            "prediction": prediction,
            "sensitive": sensitive,
            "sensitive_prediction": sensitive_prediction,
            "count": count,
        }
        labels = read_counts(frame, named)
        if pos_label is not None:
            labels["pos_label"] = pos_label
        return cls.of_rows(read_rows(**labels))

    @classmethod
    @keywords()
    @columns_named
    def from_frame(
        cls,
        frame: Any,
        *,
        target: Hashable | list[Hashable] = None,
        prediction: Hashable | list[Hashable] = None,
        sensitive: Hashable | list[Hashable],
        sensitive_prediction: Hashable | list[Hashable] = None,
        weight: Hashable = None,
        cluster: Hashable = None,
        groups: str = "intersection",
        missing: str = "error",
        min_rows: int | None = None,
        like: Contingency | None = None,
        joint: bool | None = None,
        pos_label: Any = None,
        max_groups: int | None = None,
        texts: bool = False,
        numbers: bool = False,
        threshold: float | None = None,
    ) -> Contingency:
        """Count the rows of a data frame or query where they are.

        The engine of a query groups and counts; only the cells come back, however many rows there
        are. Many 0/1 columns are summed task by task: see `summed`. More than 5 million distinct
        rows are an error: bin or round numbers, or read the columns into memory. Columns of a
        frame in memory are read as arrays are.

        Parameters
        ----------
        frame : data frame, lazy frame or query
            A frame of pandas, polars, pyarrow, DuckDB, Dask, PySpark, Ibis or another library that
            narwhals knows.
        target : column name, or list of names, optional
            The label, or 0/1 indicator columns. None: there are predictions alone.
        prediction : column name, or list of names, or dict of them, optional
            Its prediction, or one for each indicator column. A dict names those of several models:
            ``{"champion": "p0", "challenger": "p1"}``.
        sensitive : column name, or list of names
            The sensitive feature.
        sensitive_prediction : column name, or list of names, or dict of them, optional
            Its prediction.
        weight : column name, optional
            Weights. Whole ones count as so many rows.
        cluster : column name, optional
            One id per row: rows of one person, image or family, as `clusters` of `from_labels`.
        groups, missing, min_rows, like, pos_label, max_groups, texts, numbers, threshold
            As for `from_labels`. Text of `pos_label` names a number that is written so.
        joint : bool, optional
            Whether to keep rows apart that differ in which of several 0/1 columns they have, or to
            sum each task by itself. By default rows are kept apart in memory, and in queries with
            up to 12 such columns.

        Returns
        -------
        contingency : Contingency

        Examples
        --------
        >>> import pandas as pd
        >>> from skbiasamp import Contingency
        >>> frame = pd.DataFrame({"sex": list("ffmm"), "hired": [1, 0, 1, 1]})
        >>> Contingency.from_frame(frame, target="hired", sensitive="sex")
        Contingency(4 rows in 3 cells: 2 groups x 1 task, labels)
        """
        named = {
            "target": target,
            "prediction": prediction,
            "sensitive": sensitive,
            "sensitive_prediction": sensitive_prediction,
            "weight": weight,
            "cluster": cluster,
        }
        return cls.of_rows(
            read_frame(
                frame,
                named,
                joint=joint,
                groups=groups,
                missing=missing,
                min_rows=min_rows,
                like=like,
                pos_label=pos_label,
                max_groups=max_groups,
                texts=texts,
                numbers=numbers,
                threshold=threshold,
            )
        )

    def __eq__(self, other: object) -> bool:
        """Whether both hold the same rows equally often, in whatever order."""
        if not isinstance(other, Contingency):
            return NotImplemented
        return merging.equal(self, other)

    __hash__ = None  # type: ignore[assignment]

    # ------------------------------------------------------------------ adding and choosing

    def __add__(self, other: Contingency) -> Contingency:
        """Return the contingency of both data sets together."""
        if not isinstance(other, Cells):
            return NotImplemented
        return Contingency.sum([self, other])

    @classmethod
    def sum(cls, contingencies: Iterable[Contingency]) -> Contingency:
        """Return the contingency of several data sets together.

        This is faster than adding many of them one by one.

        Parameters
        ----------
        contingencies : iterable of Contingency
            Counts of days, workers or chunks. Groups and classes may differ: the sum has all.

        Returns
        -------
        contingency : Contingency

        Examples
        --------
        >>> from skbiasamp import Contingency
        >>> days = [
        ...     Contingency.from_labels([0, 1], sensitive_features=["f", "m"]) for _ in range(365)
        ... ]
        >>> Contingency.sum(days)
        Contingency(730 rows in 2 cells: 2 groups x 1 task, labels)
        """
        return merging.merged(contingencies)

    def conform(self, like: Contingency) -> Contingency:
        """Return the same cells with the groups and tasks of `like`, in that order."""
        return merging.conformed(self, like)

    def with_positive(self, pos_label: Any) -> Contingency:
        """Return the same cells with `pos_label` as the positive class; None changes nothing."""
        return merging.with_positive_class(self, pos_label)

    def resample(self, n_resamples: int | None = None, *, random_state: Any = None) -> Contingency:
        """Draw rows with replacement: a bootstrap, done on cells.

        Drawing n rows with replacement is a multinomial draw of the cells' counts, with the same
        distribution. With fractional weights each cell is one row, which keeps its weight.

        Parameters
        ----------
        n_resamples : int, optional
            Number of resamples. None returns one plain contingency. Otherwise `weight`, and with
            it every count and rate, has a leading axis of that length.
        random_state : int, RandomState, Generator or None
            Seed of the draws. None never changes NumPy's global state.

        Returns
        -------
        contingency : Contingency
        """
        return draws.resampled(self, n_resamples, random_state)

    def model(self, name: str) -> Contingency:
        """Return the contingency with the predictions of one of several models.

        Parameters
        ----------
        name : str
            One of `models`.

        Returns
        -------
        contingency : Contingency
        """
        parts.check_model(name, self.models, "name")
        return cells.distinct(parts.alone(self, name, known=True))

    def both(self, role: str) -> Contingency:
        """Return the contingency whose prediction is what label and prediction have in common.

        `role` is ``"task"`` or ``"group"``.
        """
        return cells.shared(self, role)

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each distinct cell: labels, predictions and the count `n`.

        Indicator columns are named ``task[name]``, ``group[name]`` and so on; text that reads as
        a number is quoted, as in ``task["3"]``. Cells of fractional weights have a column `rows`
        as well, how many rows they are, and those of labels whose positive class was chosen a
        column `pos_label`. `from_counts` reads it all back; a group named "(missing)" is read as
        missing values.
        """
        return write_table(self)

    def to_json(self, path: Any = None) -> str:
        """Return everything it holds as JSON, to be stored, read with `from_json`, and added.

        Parameters
        ----------
        path : str or path, optional
            A file to write as well.

        Returns
        -------
        text : str

        Examples
        --------
        >>> from skbiasamp import Contingency
        >>> cells = Contingency.from_labels([0, 1, 1], sensitive_features=["f", "f", "m"])
        >>> Contingency.from_json(cells.to_json()) == cells
        True
        """
        return written(json.dumps(write_cells(self)), path)

    @classmethod
    def from_json(cls, text: Any) -> Contingency:
        """Read what `to_json` wrote.

        Parameters
        ----------
        text : str or path
            The text, or the file it is in.

        Returns
        -------
        contingency : Contingency
        """
        return cls(**load_cells(text))
