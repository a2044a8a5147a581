"""Everything that results of many kinds say: tests/data/documents holds it.

    .venv/bin/python tests/whole_documents.py             # write the files anew
    .venv/bin/python tests/whole_documents.py watch gate  # some of them

Then read in git what has changed.
"""

import datetime
import json
import math
import re
import sys
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from decimal import Decimal
from importlib.util import find_spec
from itertools import zip_longest
from pathlib import Path

import pandas as pd
from scenarios import SCENARIOS

FOLDER = Path(__file__).parent / "data" / "documents"
# The glossary and the record of a call are the same for many: Markdown has them once.
REPEATED = ("glossary", "record")
HAS_JINJA = find_spec("jinja2") is not None
LATEX = "\n\n=====\n\n\\begin{tabular}"
IN_MARKDOWN = (
    *("trained_labels", "several_tasks", "two_models", "watch"),
    *("selection_rates", "selection_rates_of_classes"),
)
NOISE = Decimal("1e-12")  # what a processor leaves of a number that is 0
NUMBER = re.compile(r"(?<![\w.])[-+−]?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?")


def texts_differ(found, kept):
    """Return the first line that differs in a word, a count, or by more than its last digit."""
    for line, (new, old) in enumerate(zip_longest(found.splitlines(), kept.splitlines()), start=1):
        if None in (new, old) or NUMBER.split(new) != NUMBER.split(old):
            return f"line {line}: {new!r}, kept {old!r}"
        for a, b in zip(NUMBER.findall(new), NUMBER.findall(old), strict=True):
            unit = Decimal(1).scaleb(exponent_of(b)) if exponent_of(b) else 0
            if max(abs(value(a)), abs(value(b))) < NOISE:
                continue
            near = exponent_of(a) == exponent_of(b) and abs(value(a) - value(b)) <= unit
            if a != b and not (near and (a[0] == b[0] or (a[0] + b[0]).isdigit())):
                return f"line {line}: {a}, kept {b}, in {new!r}"
    return None


def value(number):
    return Decimal(number.replace(",", "").replace("−", "-"))


def exponent_of(number):
    return value(number).as_tuple().exponent


def values_differ(found, kept, place=""):
    """Return the first place where two contents of JSON differ."""
    if type(found) is not type(kept):
        return f"{place}: {found!r}, kept {kept!r}"
    if isinstance(kept, str):
        return texts_differ(found, kept) and f"{place}: {texts_differ(found, kept)}"
    if isinstance(kept, dict | list):
        keys, kept_keys = (list(x) if isinstance(x, dict) else range(len(x)) for x in (found, kept))
        if keys != kept_keys:
            return f"{place}: {keys}, kept {kept_keys}"
        each = (values_differ(found[key], kept[key], f"{place}[{key!r}]") for key in kept_keys)
        return next(filter(None, each), None)
    near = math.isclose(found, kept, rel_tol=1e-5, abs_tol=1e-8) if kept is not None else True
    return None if near else f"{place}: {found}, kept {kept}"


def shown(value):
    """Return a value in a line: of an object, what is not usual in it."""
    if is_dataclass(value):
        return " ".join(f"{name}={shown(part)}" for name, part in unusual(value))
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {shown(part)}" for name, part in value.items())
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(shown, value))}]"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def unusual(item):
    """Yield the fields that differ from their defaults."""
    for field in fields(item):
        value = getattr(item, field.name)
        usual = field.default if field.default_factory is MISSING else field.default_factory()
        if usual is MISSING or value != usual:
            yield field.name, value


def lines_of(item, depth=0):
    """Yield a document's item and, below it, the items inside: what is on the page only too."""
    inside, own = [], []
    for name, value in unusual(item):
        nested = isinstance(value, list | tuple) and any(map(is_dataclass, value))
        if nested and name != "cells":
            inside += filter(None, value)
        elif name not in ("version", "facts"):
            own.append(f"{name}={shown(value)}")
    yield f"{'  ' * depth}{type(item).__name__} {', '.join(own)}"
    for part in inside:
        if getattr(part, "id", "") not in REPEATED:
            yield from lines_of(part, depth + 1)


def texts_in(item):
    """Yield all texts of a part of a document."""
    if isinstance(item, str):
        yield item
    elif isinstance(item, list | tuple):
        for part in item:
            yield from texts_in(part)
    elif is_dataclass(item):
        for field in fields(item):
            if field.name not in ("axis", "tone", "key", "sides", "owner", "date"):
                yield from texts_in(getattr(item, field.name))


def text_of(result, *, markdown=False):
    """Return all that a result says, without time and versions."""
    if isinstance(result, pd.DataFrame):
        return result.to_csv(float_format="%.6g")
    parts = [str(result)]
    if hasattr(result, "to_document"):
        parts.append("\n".join(lines_of(result.to_document())))
    names = ["to_markdown"] * markdown + ["to_latex"] * HAS_JINJA
    parts += [getattr(result, name)() for name in names if hasattr(result, name)]
    whole = "\n\n=====\n\n".join(part.strip() for part in parts) + "\n"
    now = datetime.datetime.now(datetime.UTC)
    days = (now.date(), (now - datetime.timedelta(hours=1)).date())  # midnight may have passed
    whole = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", "now", whole)
    for name, version in getattr(result, "context", {}).get("versions", {}).items():
        whole = whole.replace(f"[{name}, {version}]", f"[{name}, its version]")
    return re.sub("|".join(map(str, days)), "today", whole)


def kept_text(name):
    """Return the text that was kept, without LaTeX if nothing can make it here."""
    whole = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    return whole if HAS_JINJA else whole.partition(LATEX)[0].strip() + "\n"


def values_of(result):
    """Return the content of a result's JSON, without time and versions; numbers are rounded."""

    def lasting(pairs):
        return {name: value for name, value in pairs if name not in ("date", "versions")}

    def rounded(number):
        return float(f"{float(number):.6g}")

    return json.loads(result.to_json(), parse_float=rounded, object_pairs_hook=lasting)


def main(names):
    """Write the texts and numbers of scenarios into files, a key of JSON a line."""
    for name in names or SCENARIOS:
        result = SCENARIOS[name]()
        (FOLDER / f"{name}.md").write_text(
            text_of(result, markdown=name in IN_MARKDOWN), encoding="utf-8"
        )
        if hasattr(result, "verdict"):
            lines = (f"{json.dumps(k)}: {json.dumps(v)}" for k, v in values_of(result).items())
            (FOLDER / f"{name}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
