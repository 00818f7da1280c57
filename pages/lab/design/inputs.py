"""Published models: their sizes, the counts that were published, and what our config has no place for.

Every published number stands here once, with its source.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

from models.config import POSITION_SCHEMES, ModelConfig, pairs_channels
from models.fields import SWITCH, one_of, setting, whole
from pages.lab.lesson import Columns, Set
from pages.shared.state import State


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


def preset(name: str) -> Preset:
    """One of PRESETS. Raises ValueError for a name that is none."""
    if name not in PRESETS:
        raise ValueError(f"{name!r} is no published model here; choose one of {', '.join(PRESETS)}")
    return PRESETS[name]


def _transformer(label: str, d_model: int, n_heads: int, published: int, note: str) -> Preset:
    """Vaswani et al. 2017, table 3; 5.1: about 37,000 tokens, shared by both languages."""
    config = ModelConfig(
        kind="encoder-decoder", n_layers=6, n_heads=n_heads, d_model=d_model, vocab_size=37_000, max_len=512,
        norm="post",
    )  # fmt: skip
    return Preset(label, config, published, "Vaswani et al. 2017, table 3", {}, note)


def _bert(label: str, n_layers: int, d: int, n_heads: int, published: int, note: str) -> Preset:
    """Devlin et al. 2019, section 3; 30,522 is the vocabulary of the released uncased models."""
    config = ModelConfig(
        kind="encoder-only", n_layers=n_layers, n_heads=n_heads, d_model=d, vocab_size=30_522, max_len=512,
        positions="learned", norm="post", activation="gelu",
    )  # fmt: skip
    extras = {"two segment embeddings": 2 * d, "norm of the embeddings": 2 * d, "pooler": d * d + d}
    return Preset(label, config, published, "Devlin et al. 2019, section 3", extras, note)


def _gpt2(label: str, n_layers: int, d_model: int, n_heads: int, published: int, in_paper: str) -> Preset:
    """Radford et al. 2019, table 2; the counts are those by which the released models are named."""
    config = ModelConfig(
        kind="decoder-only", n_layers=n_layers, n_heads=n_heads, d_model=d_model, vocab_size=50_257,
        max_len=1_024, positions="learned", activation="gelu-tanh",
    )  # fmt: skip
    note = f"Table 2 of Radford et al. 2019 says {in_paper}; the authors' release corrects it."
    return Preset(label, config, published, "names of the released models, github.com/openai/gpt-2", {}, note)


def _transformer_xl(
    label: str,
    published: int,
    source: str,
    *,
    sparing: dict[str, int] | None = None,
    note: str = "",
    **sizes: Any,
) -> Preset:
    """Dai et al. 2019; sizes from the authors' code, github.com/kimiyoung/transformer-xl.

    Attention has no biases there; the feed-forward network, norms and logits have them.
    """
    config = ModelConfig(
        kind="decoder-only", positions="transformer-xl", norm="post", bias=False, max_len=512, **sizes
    )
    biases = config.n_layers * (config.ff_size + 3 * config.d_model) + config.vocab_size
    extras = {"biases, but for attention's": biases, **(sparing or {})}
    return Preset(label, config, published, source, extras, note)


def _adaptive(d_model: int) -> dict[str, int]:
    """WikiText-103's 267,735 words in four bands, each four times narrower than the last (div_val 4)."""
    bands = {1: 20_000, 4: 20_000, 16: 160_000, 64: 67_735}  # d_model divided by: words
    tables = sum(words * (d_model // narrower) for narrower, words in bands.items())
    projections = sum(d_model * (d_model // narrower) for narrower in bands)
    return {"adaptive instead of full embedding": tables + projections - d_model * sum(bands.values())}


def _sparse_enwik8() -> Preset:
    """Child et al. 2019, 7.2: 30 layers, 8 heads, d = 512, a context of 12,288 bytes, stride 128."""
    config = ModelConfig(
        kind="decoder-only", n_layers=30, n_heads=8, d_model=512, vocab_size=256, max_len=12_288,
        positions="none", activation="gelu", tied_embeddings=False,
    )  # fmt: skip
    extras = {"row and column embeddings": (12_288 // 128 + 128) * 512}
    note = "Operations are counted for full attention; the fixed pattern spares most pairs."
    return Preset(
        "Sparse Transformer, enwik8", config, 95_000_000, "Child et al. 2019, table 1", extras, note
    )


def _sparse_cifar() -> Preset:
    """Child et al. 2019, 7.1: 128 layers, 2 heads, d = 256, half-size feed-forward, queries and keys."""
    d, n_layers = 256, 128
    config = ModelConfig(
        kind="decoder-only", n_layers=n_layers, n_heads=2, d_model=d, d_ff=2 * d, vocab_size=256,
        max_len=3_072, positions="none", activation="gelu", tied_embeddings=False,
    )  # fmt: skip
    extras = {
        "row, column and channel embeddings": (32 + 32 + 3) * d,
        "half-size queries and keys": -n_layers * 2 * (d * d // 2 + d // 2),
    }
    note = "Operations are counted for full attention and full-size queries and keys."
    return Preset(
        "Sparse Transformer, CIFAR-10", config, 59_000_000, "Child et al. 2019, table 1", extras, note
    )


PRESETS: dict[str, Preset] = {
    "base": _transformer(
        "Transformer base", 512, 8, 65_000_000,
        "65 million would need an embedding of about 40,700 tokens; the paper says “about 37,000”.",
    ),
    "big": _transformer(
        "Transformer big", 1_024, 16, 213_000_000,
        "213 million would be an embedding of about 35,800 tokens; the paper says “about 37,000”.",
    ),
    "bert-base": _bert("BERT base", 12, 768, 12, 110_000_000, "110 million is rounded."),
    "bert-large": _bert(
        "BERT large", 24, 1_024, 16, 340_000_000,
        "340 million is rounded up: even with both heads of its pre-training it has 336.2 million.",
    ),
    "gpt2": _gpt2("GPT-2 small", 12, 768, 12, 124_000_000, "117 million"),
    "gpt2-medium": _gpt2("GPT-2 medium", 24, 1_024, 16, 355_000_000, "345 million"),
    "gpt2-large": _gpt2("GPT-2 large", 36, 1_280, 20, 774_000_000, "762 million"),
    "gpt2-xl": _gpt2("GPT-2 XL", 48, 1_600, 25, 1_558_000_000, "1,542 million"),
    "xl-12": _transformer_xl(
        "Transformer-XL, enwik8, 12 layers", 41_000_000, "Dai et al. 2019, table 2",
        n_layers=12, n_heads=8, d_model=512, d_ff=2_048, vocab_size=204,
    ),
    "xl-24": _transformer_xl(
        "Transformer-XL, enwik8, 24 layers", 277_000_000, "Dai et al. 2019, table 2",
        n_layers=24, n_heads=8, d_model=1_024, d_ff=3_072, vocab_size=204,
    ),
    "xl-standard": _transformer_xl(
        "Transformer-XL, WikiText-103, standard", 151_000_000, "Dai et al. 2019, table 1",
        n_layers=16, n_heads=10, d_model=410, d_ff=2_100, vocab_size=267_735,
        note="Its adaptive softmax spares time, not parameters: all words have full width.",
    ),
    "xl-large": _transformer_xl(
        "Transformer-XL, WikiText-103, large", 257_000_000, "Dai et al. 2019, table 1",
        n_layers=18, n_heads=16, d_model=1_024, d_ff=4_096, vocab_size=267_735,
        sparing=_adaptive(1_024),
        note="The sizes in the authors' code make more than table 1 says; we know of no reason.",
    ),
    "sparse-enwik8": _sparse_enwik8(),
    "sparse-cifar": _sparse_cifar(),
}  # fmt: skip
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
    """All parts' inputs: first of the paths, then of one layer's cost, the calculator, and memory."""

    words: int = setting(8, one_of(WORDS), "Words n", control="steps")
    kernel: int = setting(3, one_of(WIDTHS), "Kernel k", control="segments")
    window: int = setting(
        3,
        one_of(WIDTHS),
        "Window r",
        "Restricted self-attention looks at the last r words",
        control="segments",
    )
    step: int = setting(2, whole(0, max(WORDS)))
    d_layer: int = setting(64, one_of(D_LAYER), "Channels d", control="steps")
    neighbours: int = setting(
        32,
        one_of(NEIGHBOURS),
        "Neighbours r",
        "Restricted self-attention looks at r positions",
        control="steps",
    )
    length: int = setting(256, one_of(LENGTHS))
    preset: str = setting(
        "gpt2",
        one_of(tuple(PRESETS)),
        "Published model",
        "Sets all sizes below; then change them",
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
    checkpointing: bool = setting(
        False,
        SWITCH,
        "Checkpointing",
        "Keep only each layer's input; costs one more forward pass",
        control="switch",
    )
    fused: bool = setting(
        False, SWITCH, "Fused attention", "F.scaled_dot_product_attention", control="switch"
    )


_SAME = (
    "kind", "n_layers", "n_heads", "d_model", "d_ff", "vocab_size", "max_len", "positions", "norm",
    "activation", "bias",
)  # fmt: skip


class Asked(NamedTuple):
    """The config, and the published model that it is, if it is one unchanged."""

    config: ModelConfig
    name: str
    published: Preset | None


def inputs_of(name: str) -> dict[str, Any]:
    """The page's inputs for a published model."""
    config = preset(name).config
    same = {field: getattr(config, field) for field in _SAME}
    return {"preset": name, **same, "tied": config.tied_embeddings, "tokens": config.max_len}


def asked(inputs: Inputs) -> Asked:
    """Raises ValueError where the sizes make no model."""
    _check(inputs)
    config = ModelConfig(
        **{field: getattr(inputs, field) for field in _SAME}, tied_embeddings=inputs.tied
    )  # d_head is d_model / n_heads, as in every published model here
    published = preset(inputs.preset)
    if config == published.config:
        return Asked(config, published.label, published)
    return Asked(config, f"{published.label}, changed", None)


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
