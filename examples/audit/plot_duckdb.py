"""
Auditing a DuckDB query
=======================

An audit does not load millions of rows into memory. Pass the auditor a query and its column names.
DuckDB groups and counts the rows, and returns only the distinct rows with their counts.

**Result:** a million rows become 12 counts. Everything after the counts, including confidence
intervals, takes as long for a million rows as for a thousand. The page needs DuckDB.
"""

# %%
# A million rows
# --------------
# DuckDB creates the rows: three regions, a label that depends on the region, and predictions that
# differ from the label more often in some regions. The direction is group → task (A→T): does the
# region shift the predicted approval?

import importlib.util
from typing import Any

import matplotlib.pyplot as plt

from skbiasamp import Contingency, DirectionalAuditor
from skbiasamp.plotting import AmplificationDisplay

TABLE = """
    create table predictions as
    with drawn as (
        select ['north', 'south', 'west'][1 + i % 3] as region,
               hash(i, 'label') % 1000 as label, hash(i, 'error') % 1000 as error
        from range(1000000) as rows(i)
    ), labelled as (
        select region, error,
               (label < case region when 'north' then 250 when 'south' then 350 else 550 end)::int
               as approved
        from drawn
    )
    select region, approved,
           case when error < case region when 'north' then 80 when 'south' then 20 else 10 end
                then 0
                when error > case region when 'west' then 930 else 980 end then 1
                else approved end as predicted
    from labelled
"""
COLUMNS: dict[str, Any] = {"target": "approved", "prediction": "predicted", "sensitive": "region"}


def audit() -> None:
    """Print the cells and the result, and draw it."""
    import duckdb

    with duckdb.connect() as database:
        database.execute(TABLE)
        query = database.sql("select * from predictions")
        counts = Contingency.from_frame(query, **COLUMNS)
        auditor = DirectionalAuditor(reference="test")
        result = auditor.audit(query, **COLUMNS)
    print(counts.to_frame().to_string(index=False))
    print()
    print(result)
    display = AmplificationDisplay.from_result(result)
    display.figure_.set_size_inches(7, 3)
    plt.show()


# %%
# Counts and result
# -----------------

if importlib.util.find_spec("duckdb"):
    audit()
else:
    print("This page needs DuckDB: pip install 'skbiasamp[duckdb]'")
