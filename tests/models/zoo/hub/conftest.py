"""Models of transformers that all tests of a worker share."""

from collections.abc import Callable

import pytest

from attention_lab.models import load_model
from attention_lab.models.zoo.hub.model import HubModel
from tests.models.zoo.hub import families

Opened = Callable[..., HubModel]


@pytest.fixture(scope="session")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Opened:
    """Function that gives the model of a family, saved to a folder and loaded from it as a visitor's is."""
    known: dict[str, HubModel] = {}

    def open_it(family: str) -> HubModel:
        if family not in known:
            folder = families.save(family, tmp_path_factory.mktemp(family))
            known[family] = load_model(f"hf:{folder}")
        return known[family]

    return open_it
