"""Uncertainty: bootstrap and analytic intervals, paired tests, intervals across runs.

Everything is computed on cells. Rows drawn with replacement are a multinomial draw of the
cells' counts; a row's influence is its cell's; labels and predictions that change places within
rows are a binomial number of each cell's rows.
"""

from skbiasamp._utils.warnings import UncertaintyWarning
from skbiasamp.inference.hypothesis_tests import adjust_p_values, paired_p_values
from skbiasamp.inference.power import required_rows

__all__ = ["UncertaintyWarning", "adjust_p_values", "paired_p_values", "required_rows"]
