"""Uncertainty: intervals and tests from what each row adds to a number.

Everything is computed on cells: a row's influence is its cell's.
"""

from skbiasamp._utils.warnings import UncertaintyWarning
from skbiasamp.inference.hypothesis_tests import adjust_p_values, paired_p_values, required_rows

__all__ = ["UncertaintyWarning", "adjust_p_values", "paired_p_values", "required_rows"]
