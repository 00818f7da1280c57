"""Models of all kinds, as a test's arguments."""

import pytest

from attention_lab.models.config import POSITION_SCHEMES

KINDS = ["encoder-only", "decoder-only", "encoder-decoder"]


def of_every_model(*norms: str) -> pytest.MarkDecorator:
    """Every two of a kind, a norm and a scheme of positions together in one model."""
    models = [
        (kind, norms[(i + j) % len(norms)], positions)
        for i, kind in enumerate(KINDS)
        for j, positions in enumerate(POSITION_SCHEMES)
    ]
    return pytest.mark.parametrize(("kind", "norm", "positions"), models)
