"""What the design page can be asked, and the values that it offers."""

from dataclasses import dataclass

from models.config import POSITION_SCHEMES
from models.lessons.design.presets import PRESETS
from pages.shared import widget
from pages.shared.link import one_of, param, whole

WORDS = (4, 6, 8, 10, 12)
WIDTHS = (2, 3, 4, 5)
D_LAYER = (32, 64, 128, 256, 512)
NEIGHBOURS = (16, 32, 64, 128)
LENGTHS = tuple(2**power for power in range(4, 12))
KINDS = ("encoder-decoder", "encoder-only", "decoder-only")
NORMS = ("pre", "post")
ACTIVATIONS = ("relu", "gelu", "gelu-tanh")
SWITCH = (False, True)
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

    words: int = param(8, one_of(WORDS), widget.steps("Words n"))
    kernel: int = param(3, one_of(WIDTHS), widget.segmented("Kernel k"))
    window: int = param(
        3, one_of(WIDTHS), widget.segmented("Window r", "Restricted self-attention looks at the last r words")
    )
    step: int = param(2, whole(0, max(WORDS)))
    d_layer: int = param(64, one_of(D_LAYER), widget.steps("Channels d"))
    neighbours: int = param(
        32, one_of(NEIGHBOURS), widget.steps("Neighbours r", "Restricted self-attention looks at r positions")
    )
    length: int = param(256, one_of(LENGTHS))
    preset: str = param(
        "gpt2",
        one_of(tuple(PRESETS)),
        widget.select(
            "Published model", "Sets all sizes below; then change them", lambda name: PRESETS[name].label
        ),
    )
    kind: str = param("decoder-only", one_of(KINDS), widget.select("kind"))
    n_layers: int = param(12, whole(1, LIMITS["n_layers"]), widget.count("n_layers"))
    n_heads: int = param(12, whole(1, LIMITS["n_heads"]), widget.count("n_heads"))
    d_model: int = param(768, whole(1, LIMITS["d_model"]), widget.count("d_model"))
    d_ff: int = param(3_072, whole(1, LIMITS["d_ff"]), widget.count("d_ff"))
    vocab_size: int = param(50_257, whole(1, LIMITS["vocab_size"]), widget.count("vocab_size"))
    max_len: int = param(1_024, whole(1, LIMITS["max_len"]), widget.count("max_len"))
    positions: str = param("learned", one_of(POSITION_SCHEMES), widget.select("positions"))
    norm: str = param("pre", one_of(NORMS), widget.select("norm"))
    activation: str = param("gelu-tanh", one_of(ACTIVATIONS), widget.select("activation"))
    tied: bool = param(True, one_of(SWITCH), widget.toggle("tied", "Embedding and output share a matrix"))
    bias: bool = param(True, one_of(SWITCH), widget.toggle("biases"))
    batch: int = param(8, whole(1, LIMITS["batch"]), widget.count("sequences"))
    tokens: int = param(1_024, whole(1, LIMITS["max_len"]))
    t: int = param(1_000, one_of(LONG))
    sequences: int = param(16, one_of(SEQUENCES), widget.select("Sequences"))
    heads: int = param(8, one_of(HEADS), widget.select("Heads"))
    layers: int = param(6, one_of(LAYERS), widget.select("Layers"))
    half: bool = param(False, one_of(SWITCH), widget.toggle("Half precision", "bfloat16 instead of float32"))
    pieces: int = param(1, one_of(PIECES), widget.select("Pieces", "Gradient accumulation: 1 is off"))
    checkpointing: bool = param(
        False,
        one_of(SWITCH),
        widget.toggle("Checkpointing", "Keep only each layer's input; costs one more forward pass"),
    )
    fused: bool = param(
        False, one_of(SWITCH), widget.toggle("Fused attention", "F.scaled_dot_product_attention")
    )
