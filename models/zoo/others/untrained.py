"""The untrained model: the translator's texts, and every size as a setting."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from models.zoo.offers import DEFAULT, register, shipped
from models.zoo.settings import UNTRAINED

if TYPE_CHECKING:
    from models.zoo.model import Model


def load(**sizes: Any) -> Model:
    from models.zoo.untrained import UntrainedModel  # imports torch

    return UntrainedModel.of(**sizes)


register(
    replace(
        shipped()[DEFAULT], name="untrained", load=load, title="untrained", summary="", sizes={},
        settings=UNTRAINED, showcase={}, memory=DEFAULT,
    )
)  # fmt: skip
