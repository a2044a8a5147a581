"""A store of periods: a folder with the counts of each period, and no rows of people."""

from __future__ import annotations

import datetime
import hashlib
import json
import os
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from skbiasamp._input.checks import check_count
from skbiasamp._input.errors import InputError, InputTypeError, Said, rows_of
from skbiasamp._input.keywords import keywords
from skbiasamp._io.writing import remove_leftovers, written
from skbiasamp.counts.canonical import ordered
from skbiasamp.counts.cells import SideName, distinct, side_of, take
from skbiasamp.counts.contingency import Contingency
from skbiasamp.counts.merging import check_alike, common_positive, merged
from skbiasamp.monitoring._over import check_watch, over
from skbiasamp.monitoring._periods import CountedPeriods, checked_period, every_of, without_gaps
from skbiasamp.report.asked import Asked
from skbiasamp.results import Timeline

_FORMAT = "skbiasamp.Period/1"
_LOCK = ".lock"


class Store:
    """A folder with the counts of each period of a watch, one file a period.

    Rows of people never enter it: a file holds how often each combination of group, label and
    prediction occurs. `skbiasamp watch add` and `skbiasamp watch show` do the same for files.

    .. versionadded:: 0.1

    Parameters
    ----------
    folder : str or path
        The folder; the first `add` makes it.

    See Also
    --------
    skbiasamp.audit_over : Watches periods without a store.

    Examples
    --------
    >>> import tempfile
    >>> from skbiasamp import Contingency
    >>> from skbiasamp.monitoring import Store
    >>> store = Store(tempfile.mkdtemp())
    >>> for month in ("2026-01", "2026-02"):
    ...     cells = Contingency.from_labels(
    ...         [1, 0] * 50, [1, 0] * 50, sensitive_features=["f"] * 50 + ["m"] * 50
    ...     )
    ...     _ = store.add(cells, month, source=f"{month}.csv")
    >>> store.periods
    ['2026-01', '2026-02']
    >>> store.audit_over(reference=1).verdict
    'no alarm'
    """

    def __init__(self, folder: Any) -> None:
        if not isinstance(folder, str | os.PathLike):
            text = "folder must be text or a path; got {kind}."
            raise InputTypeError(text, kind=type(folder).__name__)
        self.folder = Path(folder)
        if "\0" in str(folder) or (self.folder.exists() and not self.folder.is_dir()):
            what = "a path without NUL" if "\0" in str(folder) else "a folder, not a file"
            raise InputError(
                "{folder} must be {what}; got {seen!r}.", what=what, seen=os.fspath(folder)
            )

    def __repr__(self) -> str:
        return f"Store({str(self.folder)!r})"

    @property
    def periods(self) -> list[str]:
        """The names of the periods, in their order."""
        if not self.folder.exists():
            return []
        files = (path for path in self.folder.iterdir() if path.suffix == ".json")
        names = sorted(path.stem for path in files if path.stem[:1].isdecimal())
        if names and every_of(names) is None:
            # That of the fewest of its kind, or of none, is the one that somebody put there.
            kinds = [every_of([name]) for name in names]
            alike = {
                name: kinds.count(kind) if kind else 0
                for name, kind in zip(names, kinds, strict=True)
            }
            odd = min(names, key=alike.__getitem__)
            others = [name for name in names if name != odd]
            raise InputError(
                "{path} is not named as the other periods of this store are, such as {known!r}: "
                "move it to another folder.",
                path=str(self.folder / f"{odd}.json"),
                known=max(others, key=alike.__getitem__, default="2026-11"),
            )
        return names

    @keywords()
    def add(
        self,
        cells: Contingency,
        period: str,
        *,
        source: str | list[str] | None = None,
        version: str | None = None,
        min_cell: int = 1,
    ) -> dict[str, Any]:
        """Add counts to a period; late rows of an old period are added to it.

        Parameters
        ----------
        cells : Contingency
            Counts of labels and predictions.
        period : str
            Name of a day (2026-11-21), week (2026-W47), month (2026-11), quarter (2026-Q4), year
            or hour (2026-11-21T09).
        source : str or list of str, default=None
            What distinguishes these rows from others, such as the SHA-256 of each of their files.
            What was added once is refused. None: the counts themselves.
        version : str, default=None
            Version of the model that made the predictions.
        min_cell : int, default=1
            Cells of fewer rows are left out, so that they reveal nobody. How many is reported.

        Returns
        -------
        added : dict
            ``rows`` that were added, and ``suppressed_rows`` in ``suppressed_cells`` that were
            left out.
        """
        _check_counts(cells, period, min_cell)
        checked_period(period)
        given = [source] if isinstance(source, str) else source
        if given is not None and not (
            isinstance(given, list) and given and all(isinstance(source, str) for source in given)
        ):
            text = "{source} must be text, or a list of texts; got {seen!r}."
            raise InputTypeError(text, seen=source)
        if version is not None and not isinstance(version, str):
            raise InputTypeError("{version} must be text; got {seen!r}.", seen=version)
        kept = np.flatnonzero(cells.weight >= min_cell)
        small = {
            "cells": int((cells.weight > 0).sum() - (cells.weight[kept] > 0).sum()),
            "rows": float(cells.total - cells.weight[kept].sum()),
        }
        if not len(kept):
            raise InputError(
                "All cells have fewer than {min_cell} rows: nothing would be stored. Use a "
                "longer period or a smaller {min_cell}."
            )
        stored = ordered(take(cells, kept, cells.weight[kept]))
        sources = [_digest(cells)] if given is None else sorted(given)
        if len({*sources}) < len(sources):
            text = "{source} names the same rows twice: they would count twice."
            raise InputError(text)
        self.folder.mkdir(parents=True, exist_ok=True)
        with _locked(self.folder):
            remove_leftovers(self.folder)
            self._check_fits(period, stored)
            self._check_new(sources, named=given is not None)
            path = self.folder / f"{period}.json"
            content = self._read(period) if path.exists() else _nothing(period)
            if content["cells"] is not None:
                stored = merged([content["cells"], stored])
            content["additions"].append(
                {
                    "sources": sources,
                    "rows": cells.total,
                    "version": version,
                    "added": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M:%S UTC"),
                }
            )
            for key in ("cells", "rows"):
                content["suppressed"][key] += small[key]
            content["cells"] = json.loads(stored.to_json())
            written(json.dumps(content), path)
        return {
            "rows": float(stored.total),
            "suppressed_cells": small["cells"],
            "suppressed_rows": small["rows"],
        }

    def _check_fits(self, period: str, cells: Contingency) -> None:
        """Raise unless a period is as long as those that are there, and has the same labels."""
        known = self.periods
        every = every_of([period])
        if known and every_of(known) != every:
            raise InputError(
                "{period} is the name of a {every}, and this store has periods such as {known!r}. "
                "Use a store of its own for each length of periods.",
                every=every,
                known=known[0],
            )
        if known:
            last = self._read(known[-1])["cells"]
            common_positive([last, cells])
            check_alike(last, cells)

    def _check_new(self, sources: list[str], *, named: bool) -> None:
        """Raise if rows are there already, in whichever period."""
        for name in self.periods:
            content = self._read(name)
            for addition in content["additions"]:
                if {*addition["sources"]} & {*sources}:
                    fix = (
                        ""
                        if named
                        else " Pass a {source} if these are other rows with the same counts."
                    )
                    raise InputError(
                        "{source} was added before, to period {known} at {added}: its rows would "
                        "count twice.{fix}",
                        fix=Said(fix),
                        known=name,
                        added=addition["added"],
                    )

    def _read(self, period: str) -> dict[str, Any]:
        path = self.folder / f"{period}.json"
        read: dict[str, Any] = json.loads(path.read_text("utf-8"))
        read["cells"] = Contingency.from_json(json.dumps(read["cells"]))
        if read["period"] != period:  # a copy would count twice
            raise InputError(
                "{path}: {period} must be {expected!r}; got {seen!r}.",
                path=str(path),
                expected=period,
                seen=read["period"],
            )
        return read

    @keywords()
    def audit_over(
        self,
        *,
        reference: Any = 1,
        auditor: Any = None,
        alpha: float = 0.05,
        n_draws: int | None = None,
        strict: bool = False,
        random_state: Any = 0,
        model_name: str | None = None,
        data_name: str | None = None,
    ) -> Timeline:
        """Watch the periods of the store.

        Parameters
        ----------
        reference : int or str, default=1
            So many first periods, or the period with this name. As long as the store has fewer
            periods, all are the reference and nothing is watched yet.
        auditor, alpha, n_draws, strict, random_state, model_name, data_name
            As for `skbiasamp.audit_over`.

        Returns
        -------
        timeline : Timeline
        """
        asked = Asked(locals())
        check_watch(asked)
        counted = self.counted()
        n = sum(cells is not None for cells in counted.cells.values())
        if not n:
            raise FileNotFoundError(f"there are no periods in {self.folder}: add some first")
        if isinstance(reference, int | np.integer) and reference > n:
            text = f"The reference has {n} of {reference} periods so far. Alarms begin after them."
            counted.notes.append({"period": None, "text": text})
            asked.reference = n
        if data_name is None:
            asked.names["data_name"] = self.folder.name
        return over(counted, asked)

    def counted(self) -> CountedPeriods:
        """Return the counts of each period, with versions and what was suppressed."""
        names = self.periods
        cells: dict[str, Contingency | None] = dict.fromkeys(without_gaps(names) if names else [])
        versions, notes = {}, []
        for name in names:
            read = self._read(name)
            cells[name] = distinct(read["cells"])
            by_version: defaultdict[str, float] = defaultdict(float)
            for addition in read["additions"]:
                if addition["version"] is not None:
                    by_version[addition["version"]] += addition["rows"]
            if by_version:
                versions[name] = max(by_version, key=by_version.__getitem__)
            small = read["suppressed"]
            if small["rows"]:
                text = (
                    f"{rows_of(small['rows'])} in {small['cells']} small "
                    f"cell{'s' * (small['cells'] != 1)} are not in the store."
                )
                notes.append({"period": name, "text": text})
        return CountedPeriods(cells, versions, notes)


def _check_counts(cells: Any, period: Any, min_cell: Any) -> None:
    if not isinstance(cells, Contingency):
        text = "cells must be a Contingency; got {kind}. Contingency.from_frame makes one."
        raise InputTypeError(text, kind=type(cells).__name__)
    cells.require_rows("A store", but=("scores", "weights"))
    if not isinstance(period, str):
        raise InputTypeError("{period} must be text; got {kind}.", kind=type(period).__name__)
    check_count("min_cell", min_cell)
    soft = cells.soft("task")
    pairs: tuple[tuple[SideName, SideName], ...] = (("task", "task_pred"), ("group", "group_pred"))
    for label, name in pairs:
        if not cells.has(name):
            continue
        if cells.soft(name):
            soft = True
        elif side_of(cells, name).floats and not (
            cells.has(label) and side_of(cells, label).floats
        ):
            raise InputError(
                "A store holds counts of labels, and the predictions are the floats 0.0 and 1.0, "
                "which may be probabilities. Pass predicted labels as integers (astype(int))."
            )
    if soft or not cells.whole or cells.summed is not None:
        raise InputError(
            "A store holds counts, and {what} belong to single rows. {fix}",
            what="probabilities" if soft else "fractional weights",
            fix=Said("Count with {threshold=0.5}, or pass predicted labels.")
            if soft
            else "Leave the weights out, or round them to whole numbers.",
        )
    if cells.clusters is not None:
        raise InputError(
            "A watch compares periods row by row and cannot take {clusters} into account. Count "
            "without {clusters}, and use periods so long that few of the same people return."
        )
    if not (cells.has("task_pred") or cells.has("group_pred")):
        raise InputError("The counts have no predictions: there is nothing to watch.")


def _digest(cells: Contingency) -> str:
    return hashlib.sha256(ordered(cells).to_json().encode()).hexdigest()


def _nothing(period: str) -> dict[str, Any]:
    small = {"cells": 0, "rows": 0.0}
    return {
        "schema": _FORMAT, "period": period, "additions": [], "suppressed": small, "cells": None
    }  # fmt: skip


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Let one process write at a time. The system frees the lock if a process is killed."""
    try:
        lock = (folder / _LOCK).open("a+b")
    except PermissionError as error:
        error.filename = str(folder)  # its reader knows of no lock
        raise
    with lock as file:
        try:
            import fcntl
        except ImportError:  # Windows
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)  # type: ignore[attr-defined]
            try:
                yield
            finally:
                file.seek(0)
                msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)  # type: ignore[attr-defined]
            return
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
