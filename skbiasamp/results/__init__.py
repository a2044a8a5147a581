"""What audits found: one auditor's result, and the report of several."""

from skbiasamp.results._report import AuditReport, Finding
from skbiasamp.results._result import COLUMNS, AuditResult, label_index, pair_table

__all__ = ["COLUMNS", "AuditReport", "AuditResult", "Finding", "label_index", "pair_table"]
