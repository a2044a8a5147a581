"""The columns that make groups keep their names."""

import pickle

import pandas as pd
import pytest

from skbiasamp import Contingency

FRAME = pd.DataFrame(
    {"sex": list("ffmmfm"), "race": list("bwbwbw"), "hired": [1, 0, 1, 1, 0, 0], "n": [2] * 6}
)


@pytest.mark.parametrize("columns", [["sex"], ["sex", "race"], ["race", "sex"]])
def test_groups_know_the_columns_that_they_are_made_of(columns):
    name = columns[0] if len(columns) == 1 else columns
    from_labels = Contingency.from_labels(FRAME["hired"], sensitive_features=FRAME[columns])
    from_frame = Contingency.from_frame(FRAME, target="hired", sensitive=name)
    from_counts = Contingency.from_counts(FRAME, target="hired", sensitive=name)
    for cells in (from_labels, from_frame, from_counts):
        assert cells.group_columns == tuple(columns)
    cells, unnamed = from_labels, Contingency.from_counts(from_labels.to_frame())
    for same in (
        cells + cells,
        Contingency.from_json(cells.to_json()),
        pickle.loads(pickle.dumps(cells)),
        cells.select(groups=cells.groups[:1]),
        cells.conform(cells),
        cells.resample(random_state=0),
        Contingency.from_labels(FRAME["hired"], sensitive_features=FRAME[columns], like=cells),
    ):
        assert same.group_columns == tuple(columns)
    # What has no names takes those of what it is put together with.
    assert unnamed.group_columns == ()
    for together in (unnamed + cells, cells + unnamed, unnamed.conform(cells)):
        assert together.group_columns == tuple(columns)


def test_arrays_and_indicator_columns_have_no_names_of_attributes():
    sensitive = FRAME[["sex", "race"]]
    flags = (sensitive == ["f", "b"]).astype(int)
    how = {"groups": "indicator"}
    for given, options in (
        (sensitive.to_numpy(), {}),
        (flags, how),
        (sensitive, {"groups": "marginal"}),
    ):
        cells = Contingency.from_labels(FRAME["hired"], sensitive_features=given, **options)
        assert cells.group_columns == ()
