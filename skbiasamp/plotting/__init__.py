"""Displays: they hold what an audit found, and draw it with matplotlib."""

from skbiasamp.plotting._heatmap import AmplificationHeatmapDisplay
from skbiasamp.plotting._lines import AmplificationCurveDisplay, TimelineDisplay
from skbiasamp.plotting._rows import AmplificationDisplay, ComparisonDisplay, WaterfallDisplay

__all__ = [
    "AmplificationCurveDisplay",
    "AmplificationDisplay",
    "AmplificationHeatmapDisplay",
    "ComparisonDisplay",
    "TimelineDisplay",
    "WaterfallDisplay",
]
