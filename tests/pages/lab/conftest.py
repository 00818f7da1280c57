"""Small models of transformers that many parts are shown with."""

from pathlib import Path

import pytest

from tests.models.zoo.hub import families

FAMILIES = (
    "llama", "gemma2", "gpt-neox", "gpt-neo", "bert", "bart", "t5", "marian", "nystromformer",
)  # fmt: skip


@pytest.fixture(scope="session")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that holds a model of each of these families, and a vision transformer, under its name."""
    root = tmp_path_factory.mktemp("models")
    for family in FAMILIES:
        families.save(family, root / family)
    families.save_picture_model("vit", root / "vit")
    return root
