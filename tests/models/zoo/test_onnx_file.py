"""Models as ONNX files, whose logits onnxruntime computes as we do."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import jaxtyping
import onnx
import onnxruntime
import pytest
import torch

from models.config import ModelConfig
from models.zoo import onnx_file
from models.zoo.onnx_file import write_onnx
from tests.models.zoo.moved import trained

SIZES: dict[str, Any] = {"n_layers": 1, "n_heads": 2, "d_model": 16, "vocab_size": 11, "max_len": 20}
TEXT = ModelConfig(kind="decoder-only", **SIZES)
CASES = {
    "T5's positions, a window, a softmax plus one": replace(
        TEXT, positions="t5", mask="window", mask_argument="3", normalizer="softmax-plus-one"
    ),
    "a text after another": ModelConfig(kind="encoder-decoder", target_vocab_size=7, **SIZES),
}


@pytest.fixture(autouse=True)
def unchecked_shapes() -> Iterator[None]:
    """A graph is drawn with symbols in place of sizes, which the tests' checks of shapes take for faults."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


@pytest.mark.parametrize("name", CASES)
def test_the_file_computes_the_same_logits(name: str, tmp_path: Path) -> None:
    model, path = trained(CASES[name]), tmp_path / "model.onnx"
    assert write_onnx(model, path) < 1e-5
    read = onnx.load(path)
    onnx.checker.check_model(read)
    said = {each.key: each.value for each in read.metadata_props}
    assert ModelConfig.from_dict(json.loads(said["config"])) == model.config
    assert list(tmp_path.iterdir()) == [path]  # the weights are inside
    if name.startswith("T5"):
        model.requires_grad_(False)
        session = onnxruntime.InferenceSession(str(path))
        ids = torch.tensor([[3, 1, 4, 1, 5, 9, 2, 6, 5], [3, 1, 4, 1, 0, 0, 0, 0, 0]])
        found = torch.from_numpy(session.run(["logits"], {"tokens": ids.numpy()})[0])
        torch.testing.assert_close(found[:1], model(ids[:1]), atol=1e-5, rtol=1e-5)
        # as if there were no padding
        torch.testing.assert_close(found[1:, :4], model(ids[1:, :4]), atol=1e-5, rtol=1e-5)
        model.embedding.weight[3] += 1.0
        assert onnx_file.difference(model, path) > onnx_file.TOLERANCE  # the check sees other weights


def test_only_a_file_that_computes_the_same_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(onnx_file, "_draw", lambda model, path: path.write_bytes(b"drawn"))
    monkeypatch.setattr(onnx_file, "difference", lambda model, path: 0.02)
    with pytest.raises(ValueError, match=r"onnxruntime's logits differ from the model's by 0\.02"):
        write_onnx(trained(TEXT), tmp_path / "other.onnx")
    assert not list(tmp_path.iterdir())


def test_a_model_beyond_the_formats_size_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx_file, "MOST_PARAMETERS", 100)
    with pytest.raises(ValueError, match="parameters do not fit one ONNX file; it takes at most 100"):
        write_onnx(trained(TEXT), tmp_path / "model.onnx")
