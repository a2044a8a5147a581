"""What transformers of texts have in common."""

from __future__ import annotations

from typing import Any

from sklearn.base import TransformerMixin

from skbiasamp._input.options import WithOptions


class TextTransformer(TransformerMixin, WithOptions):
    """A transformer whose X is one column of texts. It may be used without `fit`."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.requires_fit = False
        return tags
