"""Shape checking for every test, and the data that only some clones have."""

import os

# Before torch is imported: with several workers on few cores, one thread each is the fastest.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as models has it: a test may take more threads

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jaxtyping
import pytest
from jaxtyping import install_import_hook

from tests.limits import SetLimits, write_limits
from tests.shapes import checked

ROOT = Path(__file__).resolve().parents[1]


def _annotated(package: str) -> list[str]:
    """The modules that say something in jaxtyping's words."""
    files = [path for path in (ROOT / package).rglob("*.py") if "from jaxtyping import" in path.read_text()]
    return [".".join(("attention_lab", *path.relative_to(ROOT).with_suffix("").parts)) for path in files]


# Their annotations are checked while tests run, and cost nothing otherwise.
jaxtyping.jaxtyped = checked  # the hook's code asks for it by this name
install_import_hook(
    sorted([*_annotated("models"), *_annotated("viz_core"), *_annotated("pages/lab")]), "beartype.beartype"
)

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder with Tiny Shakespeare beside the clone; the test skips where it is missing."""
    if not SHARED_DATA.is_dir():
        pytest.skip("needs ../shared, which this clone does not have")
    return SHARED_DATA


@pytest.fixture
def set_limits(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SetLimits]:
    """Function that puts other limits in force until the test is over."""
    from attention_lab.models.limits import FILE, in_force

    with pytest.MonkeyPatch.context() as patch:

        def put(**values: Any) -> None:
            path = tmp_path_factory.mktemp("limits") / "limits.toml"
            patch.setenv(FILE, str(write_limits(path, **values)))
            in_force.cache_clear()

        yield put
    in_force.cache_clear()


def _without_checks() -> Iterator[None]:
    """A graph is drawn with symbols in place of sizes, which the tests' checks of shapes take for faults."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


unchecked_shapes = pytest.fixture(_without_checks, name="unchecked_shapes")
module_of_unchecked_shapes = pytest.fixture(
    _without_checks, scope="module", name="module_of_unchecked_shapes"
)
