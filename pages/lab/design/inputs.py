"""What the design page can be asked: its inputs, and published models (presets.toml) with their sizes."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from attention_lab.models.config import POSITION_SCHEMES, ModelConfig, pairs_channels
from attention_lab.models.fields import SWITCH, one_of, setting, whole
from attention_lab.pages.lab.lesson import Columns, Set
from attention_lab.pages.shared.state import State


class Preset(NamedTuple):
    """A published model. `published`: its count, as `source` rounds it.

    extras: parameters by name that the model has and the config has not, or, negative, the other way round.
    note: where the count differs, and why.
    """

    label: str
    config: ModelConfig
    published: int
    source: str
    extras: dict[str, int]
    note: str = ""


def _published(*, config: dict[str, Any], extras: dict[str, int] | None = None, **facts: Any) -> Preset:
    return Preset(config=ModelConfig(**config), extras=extras or {}, **facts)


_TABLE = tomllib.loads(Path(__file__).with_name("presets.toml").read_text(encoding="utf-8"))
PRESETS = {name: _published(**entry) for name, entry in _TABLE.items()}
"""By the name that links use."""
WORDS = (4, 6, 8, 10, 12)
WIDTHS = (2, 3, 4, 5)
D_LAYER = (32, 64, 128, 256, 512)
NEIGHBOURS = (16, 32, 64, 128)
LENGTHS = tuple(2**power for power in range(4, 12))
KINDS = ("encoder-decoder", "encoder-only", "decoder-only")
NORMS = ("pre", "post")
ACTIVATIONS = ("relu", "gelu", "gelu-tanh")
LIMITS = {
    "n_layers": 200, "n_heads": 256, "d_model": 20_480, "d_ff": 131_072, "vocab_size": 1_000_000,
    "max_len": 131_072, "batch": 4_096,
}  # fmt: skip
"""The largest sizes of the calculator."""
LONG = (125, 250, 500, 1_000, 2_000, 4_000, 8_000, 16_000)
SEQUENCES = (4, 8, 16, 32, 64)
HEADS = (1, 2, 4, 8, 12, 16)
LAYERS = (1, 2, 4, 6, 12, 24)
PIECES = (1, 2, 4, 8)


@dataclass(frozen=True)
class Inputs:
    """All parts' inputs: of the paths, one layer's cost, the calculator, memory, and table 3."""

    words: int = setting(8, one_of(WORDS), "Words n", control="steps")
    kernel: int = setting(3, one_of(WIDTHS), "Kernel k", control="segments")
    window: int = setting(
        3, one_of(WIDTHS), "Window r", "Restricted self-attention looks at r words", "segments"
    )
    step: int = setting(2, whole(0, max(WORDS)))
    d_layer: int = setting(64, one_of(D_LAYER), "Channels d", control="steps")
    neighbours: int = setting(
        32, one_of(NEIGHBOURS), "Neighbours r", "Restricted self-attention looks at r positions", "steps"
    )
    length: int = setting(256, one_of(LENGTHS))
    preset: str = setting(
        "gpt2",
        one_of(tuple(PRESETS)),
        "Published model",
        "Sets all sizes below.",
        show=lambda name: PRESETS[name].label,
    )
    kind: str = setting("decoder-only", one_of(KINDS), "kind")
    n_layers: int = setting(12, whole(1, LIMITS["n_layers"]), "n_layers")
    n_heads: int = setting(12, whole(1, LIMITS["n_heads"]), "n_heads")
    d_model: int = setting(768, whole(1, LIMITS["d_model"]), "d_model")
    d_ff: int = setting(3_072, whole(1, LIMITS["d_ff"]), "d_ff")
    vocab_size: int = setting(50_257, whole(1, LIMITS["vocab_size"]), "vocab_size")
    max_len: int = setting(1_024, whole(1, LIMITS["max_len"]), "max_len")
    positions: str = setting("learned", one_of(POSITION_SCHEMES), "positions")
    norm: str = setting("pre", one_of(NORMS), "norm")
    activation: str = setting("gelu-tanh", one_of(ACTIVATIONS), "activation")
    tied: bool = setting(True, SWITCH, "tied", "Embedding and output share a matrix", control="switch")
    bias: bool = setting(True, SWITCH, "biases")
    batch: int = setting(8, whole(1, LIMITS["batch"]), "sequences")
    tokens: int = setting(1_024, whole(1, LIMITS["max_len"]))
    t: int = setting(1_000, one_of(LONG))
    sequences: int = setting(16, one_of(SEQUENCES), "Sequences")
    heads: int = setting(8, one_of(HEADS), "Heads")
    layers: int = setting(6, one_of(LAYERS), "Layers")
    half: bool = setting(False, SWITCH, "Half precision", "bfloat16 instead of float32", control="switch")
    pieces: int = setting(1, one_of(PIECES), "Pieces", "Gradient accumulation: 1 is off")
    checkpointing: bool = setting(False, SWITCH, "Checkpointing", "Keep only each layer's input", "switch")
    row: int = setting(0, whole(0, 15))
    ending: str = setting("tired", one_of(("tired", "wide")), "It was too…", control="segments")
    fused: bool = setting(False, SWITCH, "Fused attention", "F.scaled_dot_product_attention", "switch")


_SAME = (
    "kind", "n_layers", "n_heads", "d_model", "d_ff", "vocab_size", "max_len", "positions", "norm",
    "activation", "bias",
)  # fmt: skip


class Design(NamedTuple):
    """The config, and the published model that it is, if it is one unchanged."""

    config: ModelConfig
    name: str
    published: Preset | None


def inputs_of(name: str) -> dict[str, Any]:
    """The page's inputs for a published model."""
    config = PRESETS[name].config
    same = {field: getattr(config, field) for field in _SAME}
    return {"preset": name, **same, "tied": config.tied_embeddings, "tokens": config.max_len}


def design_of(inputs: Inputs) -> Design:
    """Raises ValueError where the sizes make no model."""
    _check(inputs)
    # d_head is d_model / n_heads, as in every published model here.
    config = ModelConfig(**{field: getattr(inputs, field) for field in _SAME}, tied_embeddings=inputs.tied)
    published = PRESETS[inputs.preset]
    if config == published.config:
        return Design(config, published.label, published)
    return Design(config, f"{published.label}, changed", None)


def _check(inputs: Inputs) -> None:
    """What ModelConfig would refuse with a remedy that this page has no control for."""
    h, d = inputs.n_heads, inputs.d_model
    if d % h:
        near = [size for size in (d // h * h, (d // h + 1) * h) if 0 < size <= LIMITS["d_model"]]
        remedy = " or ".join(map(str, near)) or f"n_heads={d}"
        raise ValueError(f"d_model={d} is not divisible by n_heads={h}; try d_model={remedy}")
    if d // h % 2 and pairs_channels(inputs.positions):
        raise ValueError(
            f"d_model / n_heads = {d // h} is odd, but {inputs.positions} positions turn channels in pairs; "
            f"try d_model={d + h}, or other positions"
        )


def _take(state: State) -> None:
    state.put(inputs_of(state.kept["preset"]))


SIZE_CONTROLS = (
    Set("preset", then=_take),
    Columns((("n_layers", "d_model", "vocab_size"), ("n_heads", "d_ff", "max_len"))),
    Columns((("kind", "norm", "tied"), ("positions", "activation", "bias"))),
    "batch",
)
"""The picker, which sets all sizes, and the sizes."""
