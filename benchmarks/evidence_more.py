"""Rows of the evidence, by part: other measures, dependent rows, and real data."""

MORE = {}
