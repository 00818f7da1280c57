"""Files of attention as people make them, and what is said of those that cannot be read."""

import io
import json
from typing import Any

import numpy as np
import pytest

from models.files import FileError
from models.zoo.own.arrays import read_own

TOKENS = ["the", "cat", "sat"]


def soft(*shape: int) -> np.ndarray:
    drawn = np.exp(2 * np.random.default_rng(0).normal(size=shape))
    return (drawn / drawn.sum(-1, keepdims=True)).astype(np.float32)


def npz(**arrays: Any) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def as_json(**found: Any) -> bytes:
    return json.dumps(found).encode()


def refusal(content: bytes, name: str = "mine.npz") -> str:
    with pytest.raises(FileError) as caught:
        read_own(content, name)
    said = str(caught.value)
    assert said.startswith(repr(name)), said
    return said.removeprefix(f"{name!r} ")


GIVEN = soft(2, 4, 3, 3)
LAYERS = {f"attention_{at}": layer for at, layer in enumerate(GIVEN)}
NAMED = {"attention": GIVEN, "tokens": np.array(TOKENS)}
