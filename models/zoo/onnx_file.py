"""A model of our engine as one ONNX file, which runs without PyTorch and without this project."""

from __future__ import annotations

import json
import logging
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from models.config import ModelConfig
from models.engine.transformer import Transformer
from models.files import write_whole

TOLERANCE = 1e-4
"""The largest difference between the file's logits and the model's, relative to the largest logit."""
MOST_PARAMETERS = 400_000_000  # as float32 in one file: the format has no more than 2 GB
_ROWS, _POSITIONS = 2, 5  # of the texts that the graph is drawn with: neither is 1, which would be fixed


def write_onnx(model: Transformer, path: Path) -> float:
    """Writes the model, checks it with onnxruntime, and returns the largest relative difference of logits.

    Inputs: "tokens" [batch, position] of int64, or of vectors [batch, position, channel]; of an
    encoder-decoder "source" and "target". Output: "logits". Batch and lengths are free; padding
    is found by its id. The config is in the file's metadata. Raises ValueError for a model that is too large
    or cannot be drawn as a graph, and where onnxruntime computes something else; OSError of the disk.
    """
    n_parameters = sum(weight.numel() for weight in model.parameters())
    if n_parameters > MOST_PARAMETERS:
        raise ValueError(
            f"{n_parameters:,} parameters do not fit one ONNX file; it takes at most {MOST_PARAMETERS:,}"
        )
    copy = Transformer(model.config, seed=0).eval().requires_grad_(False)
    copy.load_state_dict({name: each.float().cpu() for name, each in model.state_dict().items()})
    with tempfile.TemporaryDirectory() as folder:
        drawn = Path(folder) / "model.onnx"
        _draw(copy, drawn)
        found = difference(copy, drawn)
        if not found <= TOLERANCE:
            raise ValueError(
                f"onnxruntime's logits differ from the model's by {found:.2g}, and at most {TOLERANCE:g} is "
                "let pass; export the run in its own format"
            )
        write_whole(path, drawn.read_bytes(), sync=True)
    return found


def difference(model: Transformer, path: Path) -> float:
    """The largest difference between onnxruntime's logits and the model's, over the largest logit.

    It is taken on texts of several lengths, one of them the longest, and with padding where there is any.
    """
    import onnxruntime

    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    longest, worst = model.config.max_len, 0.0
    for seed, length in enumerate({1, min(3, longest), min(17, longest), min(64, longest)}):
        inputs = _inputs(model.config, rows=3, length=length, seed=seed)
        with torch.no_grad():
            own = model(*inputs)
        given = {each.name: value.numpy() for each, value in zip(session.get_inputs(), inputs, strict=True)}
        logits = torch.from_numpy(session.run(None, given)[0])
        kept = _asked(model.config, inputs[-1])
        own, logits = (own[kept], logits[kept]) if kept is not None else (own, logits)
        worst = max(worst, ((logits - own).abs().max() / own.abs().max().clamp(min=1e-6)).item())
    return worst


def _draw(model: Transformer, path: Path) -> None:
    """Draws the graph and saves it with its weights inside. Raises ValueError."""
    inputs = _inputs(model.config, rows=_ROWS, length=min(_POSITIONS, model.config.max_len), seed=0)
    free = {0: torch.export.Dim.DYNAMIC, 1: torch.export.Dim.DYNAMIC}
    from onnx_ir.passes.common import ClearMetadataAndDocStringPass

    names = ["source", "target"] if len(inputs) == 2 else ["tokens"]
    shapes = [free] if len(inputs) == 1 else [free, free]
    arguments = dict(zip(["tokens", "target"], shapes, strict=False))
    try:
        with torch.no_grad(), _quiet():
            program = torch.onnx.export(
                model, inputs, dynamo=True, input_names=names, output_names=["logits"],
                dynamic_shapes=arguments, verbose=False,
            )  # fmt: skip
    except Exception as error:  # the exporter raises what its many parts raise
        raise ValueError(
            f"this model cannot be drawn as a graph ({type(error).__name__}); export it in its own format"
        ) from error
    assert program is not None
    # The exporter writes into each node from which lines of which files of this machine it comes.
    ClearMetadataAndDocStringPass()(program.model)
    program.model.metadata_props["config"] = json.dumps(model.config.to_dict())
    program.save(str(path), external_data=False)


def _inputs(config: ModelConfig, *, rows: int, length: int, seed: int) -> tuple[Tensor, ...]:
    """Random inputs; the last row ends in padding where a model knows any."""
    generator = torch.Generator().manual_seed(seed)
    if config.input_channels is not None:
        return (torch.randn(rows, length, config.input_channels, generator=generator),)
    least = 0 if config.pad_id is None or config.vocab_size == 1 else 1
    made = []
    for size in (config.vocab_size, config.target_vocab_size or config.vocab_size)[: len(config.stacks)]:
        ids = torch.randint(least, size, (rows, length), generator=generator)
        if config.pad_id is not None:
            ids[ids == config.pad_id] = size - 1 if config.pad_id != size - 1 else 0
            ids[-1, (length + 1) // 2 :] = config.pad_id
        made.append(ids)
    return tuple(made)


def _asked(config: ModelConfig, last: Tensor) -> Tensor | None:
    """The positions whose logits count: those of padding mean nothing."""
    if config.pooling != "none" or config.pad_id is None or config.input_channels is not None:
        return None
    return last != config.pad_id


@contextmanager
def _quiet() -> Iterator[None]:
    """Inside, the exporter's remarks on what is not installed and how it traces are not shown."""
    logger: Any = logging.getLogger("torch.onnx")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(before)
