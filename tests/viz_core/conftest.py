from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import settings
from jaxtyping import config

# The same examples in every run, and no failure because the machine was busy.
settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady")


@pytest.fixture
def unchecked() -> Iterator[None]:
    """Bad input as a user sees it: jaxtyping's own check of shapes, which only tests switch on, is off."""
    config.update("jaxtyping_disable", True)
    yield
    config.update("jaxtyping_disable", False)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)
