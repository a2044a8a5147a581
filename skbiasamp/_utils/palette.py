"""The colours of pages and pictures: each has one meaning, also for colour-blind readers.

The light style sheets of pages hold the same values.
"""

ABOVE, BELOW, UNCLEAR = "#a33d00", "#00568f", "#505b67"  # sides of 0: amplifies, reduces, neither
# Groups and other series, by Paul Tol ("bright", without the blue and the red that sides have).
SERIES = ("#228833", "#aa3377", "#66ccee", "#000000", "#ccbb44")
