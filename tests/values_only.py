"""Auditors that only measure, for tests of values: uncertainty has tests of its own."""

from functools import partial

import skbiasamp

DirectionalAuditor = partial(skbiasamp.DirectionalAuditor, interval=None)
MALSAuditor = partial(skbiasamp.MALSAuditor, interval=None)
MultiAttributeAuditor = partial(skbiasamp.MultiAttributeAuditor, interval=None)
