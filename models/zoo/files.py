"""A model on disk: `<name>.safetensors` with the weights, `card.json` beside it with all the rest.

Nothing but safetensors is ever read for weights, no code is run, and every size is checked before it is read.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import torch
from safetensors import SafetensorError
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors
from torch import Tensor

from models.config import Kind, ModelConfig
from models.data.tokenizers import WordTokenizer
from models.engine.transformer import Transformer
from models.zoo.cards import CARD, ModelFileError, read_bounded

MAX_WEIGHTS_BYTES = 512 << 20
MAX_SIZE = 100_000
MAX_TABLE = 1 << 24  # numbers in a table of positions
Made = TypeVar("Made")


def write_model(folder: Path, name: str, model: Transformer, card: dict[str, Any]) -> Path:
    """Writes weights and card, each whole or not at all; returns the weights' path.

    `card` must hold "vocabulary"; "config" is added.
    """
    folder.mkdir(parents=True, exist_ok=True)
    weights = folder / f"{name}.safetensors"
    tensors = {key: value.contiguous() for key, value in model.state_dict().items()}
    _write_whole(weights, save_tensors(tensors))
    text = json.dumps({**card, "config": model.config.to_dict()}, ensure_ascii=False, indent=1)
    _write_whole(folder / CARD, (text + "\n").encode())
    return weights


def _write_whole(path: Path, content: bytes) -> None:
    """A reader sees the old file or the new one, never half of one."""
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
        temporary = Path(file.name)
        try:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        except BaseException:
            temporary.unlink()
            raise
    temporary.chmod(0o644)
    temporary.replace(path)


def read_model(
    weights: Path, card: dict[str, Any], *, kind: Kind = "encoder-decoder"
) -> tuple[Transformer, WordTokenizer]:
    """The model that a card of this kind describes, with weights and tokenizer. Raises ModelFileError."""
    config = _checked(weights, "config", lambda: ModelConfig.from_dict(card["config"]))
    tokenizer = _checked(weights, "vocabulary", lambda: WordTokenizer(card["vocabulary"]))
    sizes = (config.vocab_size, config.output_vocab_size)
    if config.kind != kind or any(size != len(tokenizer) for size in sizes):
        raise ModelFileError(
            f"{str(weights)!r} has kind={config.kind!r} and vocabularies of {sizes} words, not of "
            f"{len(tokenizer)}: that is no {kind} of these words; choose the card written with the weights"
        )
    raw = read_bounded(weights, MAX_WEIGHTS_BYTES, "weights")
    try:
        tensors = load_tensors(raw)
    except (SafetensorError, ValueError, KeyError, TypeError, AttributeError):
        raise ModelFileError(
            f"{str(weights)!r} is no whole safetensors file (damaged, cut short, or another format, never "
            "read); copy or download it again"
        ) from None
    _check_sizes(weights, len(tensors), config)
    _check_tensors(weights, tensors, config)
    model = Transformer(config, seed=0)
    model.load_state_dict(tensors)
    return model.eval(), tokenizer


def _checked(weights: Path, field: str, make: Callable[[], Made]) -> Made:
    """What the card says, built; any way in which it can be wrong becomes a sentence."""
    try:
        return make()
    except (ValueError, TypeError, AttributeError) as error:
        raise ModelFileError(f"the card of {str(weights)!r} has no valid {field}: {error}") from None


def _check_sizes(weights: Path, n_tensors: int, config: ModelConfig) -> None:
    """A card must not make us build a model far larger than its weights."""
    names = ("n_layers", "n_heads", "d_model", "d_head", "d_ff", "max_len")
    sizes = {name: getattr(config, name) for name in names}
    too_large = max(sizes.values()) > MAX_SIZE or config.max_len * config.d_model > MAX_TABLE
    if too_large or config.n_layers > n_tensors:
        raise ModelFileError(
            f"the card of {str(weights)!r} states {sizes}, too large for {n_tensors} tensors; "
            "choose the card written with the weights"
        )


def _check_tensors(weights: Path, tensors: dict[str, Tensor], config: ModelConfig) -> None:
    """Names and shapes are compared on "meta", before memory is taken for the model."""
    with torch.device("meta"):
        expected = {name: tuple(value.shape) for name, value in Transformer(config).state_dict().items()}
    found = {name: tuple(value.shape) for name, value in tensors.items()}
    problems = [
        *(f"lacks {name}" for name in sorted(expected.keys() - found.keys())),
        *(f"has an unknown {name}" for name in sorted(found.keys() - expected.keys())),
        *(
            f"has {name} {found[name]} instead of {expected[name]}"
            for name in sorted(expected.keys() & found.keys())
            if found[name] != expected[name]
        ),
        *(f"has {name} as {t.dtype}, not float32" for name, t in tensors.items() if t.dtype != torch.float32),
        *(f"has numbers in {name} that are not finite" for name, t in tensors.items() if not _finite(t)),
    ]
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise ModelFileError(
            f"{str(weights)!r} {problems[0]}{more}: it is another model's; choose the file its card describes"
        )


def _finite(tensor: Tensor) -> bool:
    return bool(tensor.isfinite().all())
