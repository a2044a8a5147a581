"""The page of the evidence, from the rows that were measured."""

import math

LEVEL = 0.05


def share(row, name, of):
    """Return a share of data sets and its standard error, NaN without any."""
    if row[name] in ("", None) or not int(row[of]):
        return math.nan, math.nan
    n = int(row[of])
    p = int(row[name]) / n
    # Of n data sets without a miss, the error is that of half a miss.
    near = min(max(p, 0.5 / n), 1 - 0.5 / n)
    return p, (near * (1 - near) / n) ** 0.5


def percent(value, error, bad=False):
    """Return a share in per cent with its standard error, bold if it is bad."""
    if math.isnan(value):
        return "–"
    text = f"{100 * value:.1f} ± {100 * error:.1f}"
    return f"**{text}**" if bad else text


def line(row):
    """Return a row of the table."""
    false, covered = share(row, "false", "data_sets"), share(row, "covered", "measured")
    found = share(row, "found", "data_sets")
    width = float(row["width"])
    ratio = "–" if math.isnan(width) else f"{width:.2f} ± {float(row['width_error']):.2f}"
    cells = (
        row["setting"],
        percent(
            *false, bad=false[0] > LEVEL + 2 * (LEVEL * (1 - LEVEL) / int(row["data_sets"])) ** 0.5
        ),
        percent(*covered, bad=covered[0] < 0.92),
        f"**{ratio}**" if width > 1.25 else ratio,
        percent(*found) + (f" ({row['right']})" if row["right"] else ""),
        f"{int(row['data_sets']):,}",
    )
    return f"| {' | '.join(cells)} |"


def page_of(rows):
    return "\n".join(line(row) for row in rows)
