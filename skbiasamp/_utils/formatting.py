"""Names and numbers as text, and the verdicts: shared by sentences, pages, plots and messages."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

_LONGEST, _HEAD = 80, 50  # characters; names may differ at either end

TRAINING_LABELS = "Training labels"  # the column of a base of training rows
# The verdicts.
AMPLIFIES, REDUCES, REVERSES = "amplifies", "reduces", "reverses"
ADDS = "adds a difference"
REVEALS_MORE, REVEALS_LESS = "reveals more", "reveals less"
AMPLIFIES_MORE, AMPLIFIES_LESS = "amplifies more", "amplifies less"
ADDS_MORE, ADDS_LESS = "adds more", "adds less"
NO_DIFFERENCE = "no clear difference"
NO_EFFECT, NOT_MEASURED = "no clear effect", "not measured"
HOLDS, DEPENDS = "holds", "depends on the unknown"  # of a verdict, beside rows without a group
# The verdicts with a limit.
WITHIN, OUTSIDE, INCONCLUSIVE = "within the limit", "outside the limit", "inconclusive"
LIMITED = {"passed": WITHIN, "failed": OUTSIDE, INCONCLUSIVE: INCONCLUSIVE}  # of a gate's outcomes
ASSOCIATION = "the association between group and task in its labels"
ALARM, NO_ALARM = "alarm", "no alarm"
DIRECTION_OF = {
    **dict.fromkeys((AMPLIFIES, AMPLIFIES_MORE, ADDS_MORE, REVEALS_MORE), 1),
    **dict.fromkeys((REDUCES, REVERSES, AMPLIFIES_LESS, ADDS_LESS, REVEALS_LESS), -1),
}
# On which side of 0 each verdict stands, in the order in which tables sort them.
SIDE_OF = {
    **dict.fromkeys((ALARM, AMPLIFIES, ADDS, AMPLIFIES_MORE, ADDS_MORE, REVEALS_MORE), "above"),
    **dict.fromkeys((REDUCES, AMPLIFIES_LESS, ADDS_LESS, REVEALS_LESS), "below"),
    REVERSES: "reversed",
    **dict.fromkeys((NO_ALARM, NO_EFFECT, NO_DIFFERENCE, WITHIN, INCONCLUSIVE), "across"),
    OUTSIDE: "above",
    NOT_MEASURED: "undefined",
}


def name_of(name: Any, joint: str = ", ") -> str:
    """Return a group's or task's name on one line: tuples joined, long ones cut inside.

    Spaces at an end would not be seen, so such a name is in quotes, as Python writes it.
    """
    if isinstance(name, tuple | list):
        text = joint.join(name_of(part, joint) for part in name)
    else:
        text = "missing" if name is None else str(name)
        text = repr(text) if text != text.strip() else text
    text = printable(" ".join(text.split())) or "''"
    return text if len(text) <= _LONGEST else f"{text[:_HEAD]}…{text[_HEAD + 1 - _LONGEST :]}"


def metric_name(name: str) -> str:
    """Return the name of a result, its direction with an arrow."""
    return name and name_of(name).replace("->", "→")


def in_words(name: str) -> str:
    """Return the name of a result as pictures have it: 'directional, group → task'."""
    return name.replace(" A->T", ", group → task").replace(" T->A", ", task → group")


def printable(text: str) -> str:
    """Return text that drives no terminal and spoils no file; its lines stay.

    Control characters and half of a surrogate pair are replaced, also where pandas or a repr
    passed them on. Joiners stay inside words of other scripts, and inside emoji.
    """
    if text.isascii() and text.isprintable():
        return text
    joiners = {match.start() for match in _JOINER.finditer(text)}
    return "".join(
        c if c.isprintable() or c == "\n" or i in joiners else _REPLACED.get(c, "\ufffd")
        for i, c in enumerate(text)
    )


_JOINER = re.compile(r"(?<=[^\x00-\x7f])[\u200c\u200d](?=[^\x00-\x7f])")
_REPLACED = dict.fromkeys("\t\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}\N{THIN SPACE}", " ")


def group_of(name: Any, columns: Sequence[Any] = ()) -> str:
    """Return a group's name: 'sex = Female, race = Black' if the columns are known."""
    name = [name] if len(columns) == 1 and not isinstance(name, tuple | list) else name
    if isinstance(name, tuple | list) and len(name) == len(columns):
        return name_of([f"{name_of(c)} = {name_of(v)}" for c, v in zip(columns, name, strict=True)])
    return name_of(name)


def limit_of(limit: float | None) -> str:
    """Return a limit in both directions: '±0.02', or '0'."""
    return f"±{limit:g}" if limit else "0"


def task_of(name: Any) -> str:
    """Return a task's name; the tasks of a set are joined by a plus."""
    return name_of(name, " + ")


def listed(names: Sequence[str], most: int | None = None) -> str:
    """Return names as a sentence lists them; those after the first `most` are counted."""
    if most is not None and len(names) > most:
        names = [*names[:most], f"{len(names) - most:,} more"]
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def number(value: Any, form: str = "+.4f") -> str:
    """Return a number with a true minus, and a dash for a missing one."""
    if value is None or math.isnan(value):
        return "–"
    text = format(value, form)
    # A value that rounds to 0 has no side.
    return text.replace("-", "−") if text.strip("+-0.") else text.lstrip("+-")


def count(value: float | None) -> str:
    """Return a number of rows."""
    return number(None if value is None else round(value, 1), ",.15g")


def rate(value: Any) -> str:
    """Return a share of 1 in per cent."""
    return "–" if value is None or math.isnan(value) else f"{value * 100:.1f} %"


def amount(value: Any, form: str = "") -> str:
    """Return a number of any size: four digits, or all of those before the point."""
    whole = value is not None and 1e3 <= abs(value) < 1e15
    return number(value, form + (",.0f" if whole else ".4g"))


def decimals_of(largest: float) -> int:
    """Return the decimals of four digits of a number; below 0 for numbers of 10,000 and more."""
    return 3 - math.floor(math.log10(largest or 1.0))


def points(difference: float) -> str:
    """Return the size of a difference of rates: '4.1 percentage points'."""
    size = f"{abs(difference) * 100:.1f}"
    return f"{size} percentage point{'s' * (size != '1.0')}"


def as_shown(share: float) -> float:
    """Return a share as it is printed, so that a reader can check a difference."""
    return round(100 * share, 1) / 100


def shown_change(before: float, after: float, largest: float | None = None) -> float:
    """Return the difference of two shares, or of means beside the largest, as they are printed."""
    if largest is None:
        return as_shown(after) - as_shown(before)
    places = max(0, decimals_of(largest))
    return round(after, places) - round(before, places)


def in_points(change: float | None, form: str = "+.1f") -> str:
    """Return a change of a rate in percentage points."""
    return number(None if change is None else change * 100, form)


def p_value(value: Any) -> str:
    """Return a p-value, to three places."""
    if value is None or math.isnan(value):
        return "–"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def p_equals(value: Any) -> str:
    """Return a p-value with its sign: 'p = 0.023', 'p < 0.001'."""
    text = p_value(value)
    return f"p {text}" if "<" in text else f"p = {text}"


def level_of(confidence_level: float) -> str:
    """Return a confidence level in per cent."""
    return f"{confidence_level * 100:.6g} %"


def side_of_zero(value: float | None, low: float | None, high: float | None) -> str:
    """Return on which side of 0 an interval lies.

    One of "undefined", "unknown" (without an interval), "zero" (nothing but 0), "above", "below"
    and "across".
    """
    if value is None or math.isnan(value):
        return "undefined"
    if low is None or high is None or math.isnan(low) or math.isnan(high):
        return "unknown"
    if low == high == 0:
        return "zero"
    if low > 0:
        return "above"
    return "below" if high < 0 else "across"


def escaped(text: str) -> str:
    """Return text on one line that Markdown and the HTML in it leave as it is."""
    text = re.sub(r"&(?=#?\w)", "&amp;", " ".join(printable(text).split())).replace("<", "&lt;")
    text = re.sub(r"([\\`*_\[\]|~])", r"\\\1", text)
    # What would begin a heading, a list or a quotation.
    return re.sub(r"^(\d*)([.)#+-](?=[\s#-]|$)|[>=])", r"\1\\\2", text)


ABOVE, BELOW, UNCLEAR = "#a33d00", "#00568f", "#505b67"  # sides of 0: amplifies, reduces, neither
# Groups and other series, by Paul Tol ("bright", without the blue and the red that sides have).
SERIES = ("#228833", "#aa3377", "#66ccee", "#000000", "#ccbb44")
