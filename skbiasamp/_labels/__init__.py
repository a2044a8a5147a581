"""Any labels in, clean indicator columns with names out.

Every error about the user's input is raised in this room, so that each is said once and
in one voice: what was wrong, what was seen, what to do.

The order of work is the library's one idea. One-label columns become small integer codes
without looking at their values, the codes are counted jointly, and only the handful of
*distinct* rows is then interpreted (which values are missing, which are groups, which are
classes). Labels that cannot be counted that way (indicator matrices, probabilities,
fractional weights) keep one cell a row and go through the same interpretation.
"""

from skbiasamp._labels._containers import check_lengths, columns_of, to_native
from skbiasamp._labels._errors import (
    DIRECTIONS,
    GROUPS,
    MISSING,
    MISSING_POLICIES,
    Array,
    Names,
    by_auditor,
    check_auditor,
    check_columns,
    check_frame_columns,
    check_instance,
    check_kinds,
    check_known,
    check_option,
    check_runs,
    check_selection,
    check_table,
    check_train,
    plain,
    quote,
    renamed,
    require_group_pred,
    require_groups,
    require_labels,
    require_task_pred,
    rows_of,
    too_many_combinations,
)
from skbiasamp._labels._reading import (
    Rows,
    Side,
    as_bytes,
    no_positive_class,
    positive_class,
    read_rows,
    recode,
    sort_names,
    task_names,
    whole_classes,
)
from skbiasamp._labels._tables import read_counts

__all__ = [
    "DIRECTIONS",
    "GROUPS",
    "MISSING",
    "MISSING_POLICIES",
    "Array",
    "Names",
    "Rows",
    "Side",
    "as_bytes",
    "by_auditor",
    "check_auditor",
    "check_columns",
    "check_frame_columns",
    "check_instance",
    "check_kinds",
    "check_known",
    "check_lengths",
    "check_option",
    "check_runs",
    "check_selection",
    "check_table",
    "check_train",
    "columns_of",
    "no_positive_class",
    "plain",
    "positive_class",
    "quote",
    "read_counts",
    "read_rows",
    "recode",
    "renamed",
    "require_group_pred",
    "require_groups",
    "require_labels",
    "require_task_pred",
    "rows_of",
    "sort_names",
    "task_names",
    "to_native",
    "too_many_combinations",
    "whole_classes",
]
