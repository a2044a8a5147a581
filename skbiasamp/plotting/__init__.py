"""Displays: they hold what an audit found, and draw it with matplotlib."""

from skbiasamp.plotting._curve import AmplificationCurveDisplay
from skbiasamp.plotting._heatmap import AmplificationHeatmapDisplay
from skbiasamp.plotting._rows import AmplificationDisplay, ComparisonDisplay, WaterfallDisplay
from skbiasamp.plotting._timeline import TimelineDisplay

__all__ = [
    "AmplificationCurveDisplay",
    "AmplificationDisplay",
    "AmplificationHeatmapDisplay",
    "ComparisonDisplay",
    "TimelineDisplay",
    "WaterfallDisplay",
]
