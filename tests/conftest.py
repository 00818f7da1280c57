"""Shape checking for every test, and the data that only some clones have."""

import os

# Before torch is imported: with several workers on few cores, one thread each is the fastest.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as models has it: a test may take more threads

from pathlib import Path

import pytest
from jaxtyping import install_import_hook

# The jaxtyping annotations of everything public are checked while tests run, and cost nothing otherwise.
install_import_hook(["models", "viz_core"], "beartype.beartype")

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder with Tiny Shakespeare and MNIST beside the clone; the test skips where it is missing."""
    if not SHARED_DATA.is_dir():
        pytest.skip("needs ../shared, which this clone does not have")
    return SHARED_DATA
