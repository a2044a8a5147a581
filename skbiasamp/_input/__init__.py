"""Input validation: any labels in, clean indicator columns with names out.

Every error about the user's input is an `InputError`: what was wrong, what was seen, what to do.
Callers (a function, an auditor, a frame, the command line) say what their readers call the
parameters (`errors.renaming`), and the text of an error is finished when it is raised.

One-label columns become small integer codes without looking at their values, the codes are
counted jointly, and only the *distinct* rows are then interpreted (which values are missing,
which are groups, which are classes). Labels that cannot be counted that way (indicator matrices,
probabilities, fractional weights) keep one cell a row and are interpreted in the same way.
"""
