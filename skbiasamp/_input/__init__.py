"""Input validation: any labels in, clean indicator columns with names out.

Every error about the user's input is an `InputError`: what was wrong, what was seen, what to do.
It names parameters by their *roles*, and the caller (a function, an auditor, a frame, the
command line) gives these the names that its reader knows.

One-label columns become small integer codes without looking at their values, the codes are
counted jointly, and only the *distinct* rows are then interpreted (which values are missing,
which are groups, which are classes). Labels that cannot be counted that way (indicator matrices,
probabilities, fractional weights) keep one cell a row and are interpreted in the same way.
"""
