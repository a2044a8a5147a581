"""The warning that every layer may give."""


class UncertaintyWarning(UserWarning):
    """A number rests on few rows, on an uncertain sign, or on a comparison with pure noise.

    .. versionadded:: 0.1

    Examples
    --------
    >>> import warnings
    >>> from skbiasamp.inference import UncertaintyWarning
    >>> warnings.simplefilter("ignore", UncertaintyWarning)
    """
