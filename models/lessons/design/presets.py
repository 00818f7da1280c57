"""Published models: their sizes, the counts that were published, and what our config has no place for.

Every published number stands here once, with its source.
"""

from typing import Any, NamedTuple

from models.config import ModelConfig


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
