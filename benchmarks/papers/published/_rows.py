"""A published number beside ours, and the script of the paper that computes it."""

import sys
from pathlib import Path
from typing import NamedTuple

sys.path.append(str(Path(__file__).resolve().parents[2]))

# For the scripts of this folder, which have it alone on their path.
from pages import command as command
from pages import defined_in
from pages import filled as filled
from pages import is_short as is_short
from pages import markdown as markdown

PAPERS = Path(__file__).resolve().parents[1]
ARROWS = {"T->A": "T→A", "A->T": "A→T"}


def page(name):
    """Return what the script of a paper defines."""
    return defined_in(PAPERS / f"{name}.py")


class Row(NamedTuple):
    """A number as printed, such as ``"0.061 ± 0.008"``, ``"> 60"`` or ``"≈ 0.06"``, and ours."""

    where: str
    what: str
    published: str
    ours: float
    why: str = ""

    def number(self):
        """Return the printed number, without its spread, “more than” and “about”."""
        return self.published.removeprefix("> ").removeprefix("≈ ").split()[0]

    def digits(self):
        return len(self.number().partition(".")[2])

    def difference(self):
        return self.ours - float(self.number())

    def rounded(self):
        """Return ours with one digit more than what is printed; counts have none.

        One more where rounding twice would hide a difference: 0.6949 is 0.69, 0.695 is 0.70.
        """
        digits = self.digits() and self.digits() + 1
        if digits and self._replace(ours=round(self.ours, digits)).agrees() != self.agrees():
            digits += 1
        return round(self.ours, digits) + 0.0, digits  # + 0.0: a negative zero is printed as such

    def agrees(self):
        """Tell whether ours is the printed number, once rounded as that one is, or is more."""
        if self.published.startswith(">"):
            return self.difference() > 0
        return abs(self.difference()) <= 0.5 * 10 ** -self.digits() + 1e-12

    def cells(self):
        """Return the cells of the table; the difference is that of the printed numbers."""
        ours, digits = self.rounded()
        less = ours - float(self.number())
        difference = "0" if self.agrees() else f"{less:+.{digits}f}"
        numbers = self.published, f"{ours:.{digits}f}", difference
        return (self.where, self.what, *(number.replace("-", "−") for number in numbers), self.why)
