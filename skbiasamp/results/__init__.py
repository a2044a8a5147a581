"""Results of audits: of one auditor, and the report of several; and the rows behind a pair."""

from skbiasamp.render.facts import Facts, Finding
from skbiasamp.results._audit_document import at_base_rate as at_base_rate
from skbiasamp.results._comparison import FINDINGS as COMPARISON_FINDINGS  # noqa: F401

# Not in `__all__`: what other packages of skbiasamp use.
from skbiasamp.results._comparison import MODEL_COLUMNS as MODEL_COLUMNS
from skbiasamp.results._comparison import ComparisonResult
from skbiasamp.results._facts import classes_wanted as classes_wanted
from skbiasamp.results._facts import group_name as group_name
from skbiasamp.results._facts import has_groups as has_groups
from skbiasamp.results._facts import possible_changes as possible_changes
from skbiasamp.results._facts import task_name as task_name
from skbiasamp.results._report import AuditReport, ComparisonReport
from skbiasamp.results._report import CrossAuditResult as CrossAuditResult
from skbiasamp.results._report import adjusted_verdict as adjusted_verdict
from skbiasamp.results._report import columns_alone as columns_alone
from skbiasamp.results._report import findings_of_training as findings_of_training
from skbiasamp.results._result import AuditResult
from skbiasamp.results._selection_rates import FOUR_FIFTHS as FOUR_FIFTHS
from skbiasamp.results._selection_rates import SelectionRates
from skbiasamp.results.explanation import Explanation
from skbiasamp.results.exports import find_changed_rows
from skbiasamp.results.exports import without_equal_values as without_equal_values
from skbiasamp.results.gate import Gate, GateCheck
from skbiasamp.results.kinds import label_index as label_index
from skbiasamp.results.kinds import pair_names as pair_names
from skbiasamp.results.kinds import pair_table as pair_table
from skbiasamp.results.timeline import Timeline

__all__ = [
    "AuditReport",
    "AuditResult",
    "ComparisonReport",
    "ComparisonResult",
    "Explanation",
    "Facts",
    "Finding",
    "Gate",
    "GateCheck",
    "SelectionRates",
    "Timeline",
    "find_changed_rows",
]
