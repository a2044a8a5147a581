"""Parts of this package for other libraries, each of which is imported when it is needed."""

from skbiasamp.integrations import skore

__all__ = ["skore"]
