"""The sizes and choices that make a model: checked once, frozen, and the same after a trip through JSON."""

import math
import sys
from dataclasses import MISSING, asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, get_args, no_type_check

from .fields import SWITCH, check_fields, from_values, number, one_of, setting, whole

Kind = Literal["encoder-only", "decoder-only", "encoder-decoder"]
Activation = Literal["relu", "gelu", "gelu-tanh", "silu", "gelu-quick"]
Norm = Literal["pre", "post", "none", "after", "both"]
NormType = Literal["layer", "rms"]
HeadNorm = Literal["none", "head", "all"]
HeadGate = Literal["none", "head", "channel"]
Stretch = Literal["none", "linear", "ntk", "yarn", "yarn-between", "llama3"]
Pooling = Literal["none", "mean", "first"]

SIZE = whole(1, 1_000_000_000)
"""Of a tensor: arithmetic with larger ones overflows."""


def _files(folder: str, first: str) -> list[str]:
    """The names of a folder's files, `first` before the others."""
    files = (Path(__file__).parent / "engine" / folder).glob("[!_]*.py")
    return sorted((file.stem.replace("_", "-") for file in files), key=lambda name: (name != first, name))


POSITION_SCHEMES: list[str] = _files("positions", "none")
"""Names a config may give as `positions`: a file each; `models.engine.positions.register` adds more."""
NORMALIZERS: list[str] = _files("normalizers", "softmax")
"""Names a config may give as `normalizer`: a file each."""


@no_type_check  # check_fields says in words what a field may be
@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """Everything that decides a model's parameters and arithmetic.

    Sizes count elements; n_layers is per stack, max_len is in positions. Where `d_head` and `d_ff` are left
    out, they become d_model // n_heads and 4 * d_model (Vaswani et al. 2017, 3.2.2 and 3.3), so that after
    construction they are always whole numbers. `attention_scale` True is 1 / sqrt(d_head) (equation 1), False
    is 1. With `residual` False every sublayer gives f(x), not x + f(x). With `feed_forward` False every layer
    lacks that network and its norm, and d_ff has no effect.

    An encoder may tell `token_types` apart, such as the tokens of a first and a second sentence.
    `embedding_norm` normalises what enters the first layer. `output_transform` is BERT's head (Devlin et al.
    2019): a linear map, the activation and a norm before the output layer, which then has a bias.
    `normalizer` makes weights of scores: "softmax", or what another file of `engine.normalizers` says.

    The rest is off by default and what models of later years add. norm "after" is x + norm(f(x)) (OLMo 2),
    "both" x + norm(f(norm(x))) (Gemma 2). `norm_type` "rms" is Zhang and Sennrich 2019. `gated` feed-forward
    layers are Shazeer 2020's, with "silu" SwiGLU; their usual d_ff is 8/3 d_model, for as many parameters.
    `n_kv_heads` share keys and values among the query heads (Shazeer 2019; Ainslie et al. 2023); `d_latent`
    makes both of one short vector, which is all that the cache keeps (DeepSeek-V2). `qk_norm` normalises
    queries and keys, each head's or all at once (Henry et al. 2020). `score_cap` and `logit_cap` bend scores
    and logits by cap * tanh(x / cap) (Gemma 2). `parallel` layers add attention and feed-forward to the same
    x (Wang and Komatsuzaki 2021). Of rotary positions, `rotary_base` is their slowest wave, `rotary_share`
    the channels that turn, and `rotary_stretch` reads texts `rotary_factor` times as long as the
    `rotary_trained` positions, or max_len / rotary_factor (see `positions.rotary`). Layers see `local_window`
    tokens, but for every `global_every`-th (Gemma 3), and every `positionless_every`-th has no positions
    (Yang et al. 2025). `head_gate` weighs what a head hands on (Qiu et al. 2025, arXiv 2505.06708),
    `value_residual` mixes the first layer's values in (Zhou et al. 2024, arXiv 2410.17897), and `exclusive`
    takes the token's own value out (arXiv 2603.09078). `differential` takes the mixture of one head of a pair
    from that of the other (Ye et al. 2024, arXiv 2410.05258). `depth_attention` mixes what sublayers give
    with weights that are learnt, in the place of their sum (arXiv 2603.15031). With `n_experts`, a token's
    feed-forward is a mixture of the `n_active` that a router prefers, each d_ff wide (Shazeer et al. 2017;
    Jiang et al. 2024).
    `ff_limit` clamps what enters the activation, and the gate, to which it adds 1 (gpt-oss 2025).

    Raises ValueError, with value, rule and remedy, for every combination that makes no model.
    """

    kind: Kind = setting(MISSING, one_of(get_args(Kind)))
    n_layers: int = setting(MISSING, SIZE, "Layers", "Layers of each stack", offered=whole(1, 48))
    n_heads: int = setting(MISSING, SIZE, "Heads", offered=whole(1, 64))
    d_model: int = setting(MISSING, SIZE, help="Width of the residual stream", offered=whole(1, 4_096))
    vocab_size: int = setting(MISSING, SIZE)
    max_len: int = setting(
        MISSING, SIZE, "Context", "Positions that the model reads at once", offered=whole(1, 4_096)
    )
    d_head: int | None = setting(None, SIZE)
    d_ff: int | None = setting(
        None,
        SIZE,
        "d_ff (0: 4 ×)",
        "Width of the feed-forward layers; 0 is four times d_model",
        offered=whole(0, 16_384),
    )
    activation: Activation = setting("relu", one_of(get_args(Activation)))
    norm: Norm = setting(
        "pre",
        one_of(get_args(Norm)),
        help="Whether vectors are normalised before or after each sublayer",
        offered=one_of(("pre", "post", "after", "both")),
    )
    bias: bool = setting(True, SWITCH)
    dropout: float = setting(
        0.0, number(0, 1), help="Share of activations that is dropped while training", offered=number(0, 0.95)
    )
    tied_embeddings: bool = setting(True, SWITCH)
    positions: str = setting(
        "sinusoidal", one_of(POSITION_SCHEMES), help="How the model knows where a token stands"
    )
    attention_scale: bool | float = True
    target_vocab_size: int | None = setting(None, SIZE)
    pad_id: int | None = 0
    input_channels: int | None = setting(None, SIZE)
    n_outputs: int | None = setting(None, SIZE)
    pooling: Pooling = setting("none", one_of(get_args(Pooling)))
    mask: str = "none"
    mask_argument: str = ""
    residual: bool = setting(True, SWITCH)
    feed_forward: bool = setting(True, SWITCH)
    norm_eps: float = 1e-5
    embedding_norm: bool = setting(False, SWITCH)
    token_types: int | None = setting(None, SIZE)
    output_transform: bool = setting(False, SWITCH)
    normalizer: str = setting(
        "softmax",
        one_of(NORMALIZERS),
        "Scores to weights",
        "How scores become weights",
    )
    norm_type: NormType = setting(
        "layer", one_of(get_args(NormType)), "Norm type", "rms divides by the length and subtracts no mean"
    )
    gated: bool = setting(
        False,
        SWITCH,
        "Gated feed-forward",
        "Multiplies what is activated by a second map of the input: SwiGLU with silu",
    )
    n_kv_heads: int | None = setting(
        None,
        SIZE,
        "Key heads",
        "Heads of keys and values, which query heads share; 0 is one for each",
        offered=whole(0, 64),
    )
    d_latent: int | None = setting(
        None,
        SIZE,
        "Latent width (0: none)",
        "Makes keys and values of all heads of one vector of this width, all that the cache keeps",
        offered=whole(0, 4_096),
    )
    qk_norm: HeadNorm = setting(
        "none",
        one_of(get_args(HeadNorm)),
        "Query and key norm",
        "Keeps scores small: queries and keys are divided by their length",
    )
    score_cap: float | None = setting(None, number(1e-3, 1e6))
    logit_cap: float | None = setting(None, number(1e-3, 1e6))
    parallel: bool = setting(
        False, SWITCH, "Parallel layers", "Attention and feed-forward read the same vectors"
    )
    rotary_base: float = setting(1e4, number(1, 1e9))
    rotary_share: float = setting(1.0, number(0, 1))
    rotary_stretch: Stretch = setting("none", one_of(get_args(Stretch)))
    rotary_factor: float = setting(1.0, number(1, 1e4))
    rotary_trained: int | None = setting(None, SIZE)
    local_window: int | None = setting(
        None, SIZE, "Window (0: none)", "Tokens that a local layer sees", offered=whole(0, 4_096)
    )
    global_every: int | None = setting(
        None,
        SIZE,
        "Global every (0: never)",
        "With a window, every n-th layer still sees the whole text",
        offered=whole(0, 48),
    )
    local_rotary_base: float | None = setting(None, number(1, 1e9))
    positionless_every: int | None = setting(None, SIZE)
    head_gate: HeadGate = setting(
        "none",
        one_of(get_args(HeadGate)),
        "Gate on heads",
        "Lets a head close: what it hands on is multiplied by a number from 0 to 1",
    )
    value_residual: bool = setting(
        False, SWITCH, "Value residual", "Every layer mixes the first layer's values into its own"
    )
    exclusive: bool = setting(
        False, SWITCH, "Exclusive attention", "Takes a token's own value out of what its heads hand on"
    )
    differential: bool = setting(
        False,
        SWITCH,
        "Differential attention",
        "Heads stand in pairs: of what one mixes, a learnt share of what the other mixes is taken away",
    )

    depth_attention: bool = setting(
        False,
        SWITCH,
        "Attention over depth",
        "Every sublayer reads a mixture of all that came before it, with learnt weights, not their sum",
    )
    n_experts: int | None = setting(
        None,
        SIZE,
        "Experts (0: none)",
        "Feed-forward networks, each as wide as d_ff, of which every token takes a few",
        offered=whole(0, 64),
    )
    n_active: int = setting(1, SIZE, "Active experts", "Experts that each token takes")
    ff_limit: float | None = setting(None, number(1e-3, 1e6))

    def __post_init__(self) -> None:
        if not _is_number(self.dropout) or not 0 <= self.dropout < 1:
            raise ValueError(
                f"dropout={self.dropout!r:.60} is outside 0 <= dropout < 1; try 0.1, or 0.0 to switch it off"
            )
        check_fields(self)
        self._resolve_defaults()
        self._check_numbers()
        self._check_pairs()
        self._check_depth()
        self._check_vocabularies()
        self._check_ends()

    @property
    def scale(self) -> float:
        """The number that multiplies every dot product."""
        if self.attention_scale is True:
            return 1 / math.sqrt(self.head_size)
        return 1.0 if self.attention_scale is False else float(self.attention_scale)

    @property
    def head_size(self) -> int:
        """`d_head`, as the whole number it is after construction (the field's type also admits None)."""
        assert self.d_head is not None
        return self.d_head

    @property
    def key_heads(self) -> int:
        """Heads of keys and values: `n_kv_heads`, or as many as of queries."""
        return self.n_kv_heads or self.n_heads

    def is_local(self, layer: int) -> bool:
        """Says whether the self-attention of a layer sees no more than the `local_window`."""
        every = self.global_every
        return self.local_window is not None and not (every and (layer + 1) % every == 0)

    @property
    def ff_size(self) -> int:
        """Width of the feed-forward network's hidden layer: `d_ff`, or of all experts side by side; 0 where
        there is no such network.
        """
        assert self.d_ff is not None
        return self.d_ff * (self.n_experts or 1) if self.feed_forward else 0

    @property
    def output_vocab_size(self) -> int:
        """Width of the logits: the size of the vocabulary that they range over, or `n_outputs`."""
        return self.n_outputs or self.target_vocab_size or self.vocab_size

    @property
    def stacks(self) -> tuple[str, ...]:
        """The stacks this kind of model has, in the order they run."""
        return tuple(self.kind.removesuffix("-only").split("-"))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "ModelConfig":
        """The config that `to_dict` wrote. Raises ValueError for unknown, missing or invalid entries."""
        return from_values(cls, values)

    def _resolve_defaults(self) -> None:
        if self.d_head is None:
            if self.d_model % self.n_heads:
                below = self.d_model // self.n_heads * self.n_heads
                near = f"{below} or {below + self.n_heads}" if below else str(self.n_heads)
                raise ValueError(
                    f"d_model={self.d_model} is not divisible by n_heads={self.n_heads}; "
                    f"try {near}, or set d_head"
                )
            object.__setattr__(self, "d_head", self.d_model // self.n_heads)
        if self.d_ff is None:
            object.__setattr__(self, "d_ff", (8 * self.d_model // 3) if self.gated else 4 * self.d_model)

    def _check_numbers(self) -> None:
        if self.head_size % 2 and pairs_channels(self.positions):
            raise ValueError(
                f"d_head={self.head_size} is odd, but {self.positions} positions turn channels in pairs; "
                f"try d_head={self.head_size + 1}, or other positions"
            )
        if self.n_heads % self.key_heads:
            fitting = [n for n in range(1, self.n_heads + 1) if self.n_heads % n == 0]
            raise ValueError(
                f"n_kv_heads={self.n_kv_heads} does not divide n_heads={self.n_heads}; "
                f"try one of {', '.join(map(str, fitting))}"
            )
        if self.n_experts and self.n_active > self.n_experts:
            raise ValueError(
                f"n_active={self.n_active} are more than n_experts={self.n_experts}; "
                f"try n_active={self.n_experts}, or fewer"
            )
        if self.positions == "rotary" and round(self.rotary_share * self.head_size) % 2:
            raise ValueError(
                f"rotary_share={self.rotary_share:g} turns {self.rotary_share * self.head_size:g} of "
                f"d_head={self.head_size} channels, but they turn in pairs; try 0.5 or 1"
            )
        if not _is_number(self.norm_eps) or not 0 < self.norm_eps < 1:
            raise ValueError(f"norm_eps={self.norm_eps!r:.60} is outside 0 < norm_eps < 1; try 1e-05")
        scale = self.attention_scale
        if isinstance(scale, bool):
            return
        if not _is_number(scale) or not 0 < scale <= sys.float_info.max:
            raise ValueError(
                f"attention_scale={scale!r} must be True (1 / sqrt(d_head)), False (no scale) "
                f"or a positive number; try {self.head_size**-0.5:.4g}"
            )

    def _check_pairs(self) -> None:
        if not self.differential:
            return
        for name in ("n_heads", "n_kv_heads"):
            if (count := getattr(self, name)) is not None and count % 2:
                raise ValueError(
                    f"{name}={count} is odd, but differential attention takes heads in pairs; "
                    f"try {name}={count + 1}, or differential=False"
                )
        for name, plain in (("head_gate", "none"), ("exclusive", False)):
            if getattr(self, name) != plain:
                raise ValueError(
                    f"{name}={getattr(self, name)!r} and differential=True both change what heads hand on; "
                    "give one of them"
                )

    def _check_depth(self) -> None:
        refused = {"norm": self.norm == "post", "residual": not self.residual, "parallel": self.parallel}
        for name, clashes in refused.items():
            if self.depth_attention and clashes:
                raise ValueError(
                    f"{name}={getattr(self, name)!r} says what is added to the stream, but with "
                    "depth_attention=True nothing is; give norm='pre', residual=True and parallel=False"
                )

    def _check_vocabularies(self) -> None:
        if self.target_vocab_size is not None and self.kind != "encoder-decoder":
            raise ValueError(
                f"target_vocab_size={self.target_vocab_size} needs kind='encoder-decoder', "
                f"not {self.kind!r}; leave it out"
            )
        if self.pad_id is None:
            return
        pad_id, smallest = self.pad_id, min(self.vocab_size, self.target_vocab_size or self.vocab_size)
        if isinstance(pad_id, bool) or not isinstance(pad_id, int) or not 0 <= pad_id < smallest:
            raise ValueError(
                f"pad_id={pad_id!r} is no token id below the vocabulary's size {smallest}; "
                f"give one from 0 to {smallest - 1}, or None when nothing is padded"
            )

    def _check_ends(self) -> None:
        """Checks models that read vectors, or do not answer with one word at each position."""
        for name in ("input_channels", "n_outputs", "pooling", "token_types"):
            if getattr(self, name) not in (None, "none") and self.kind != "encoder-only":
                raise ValueError(
                    f"{name}={getattr(self, name)!r} needs kind='encoder-only', not {self.kind!r}; "
                    "leave it out"
                )
        if self.n_outputs is not None and self.tied_embeddings:
            raise ValueError(
                f"n_outputs={self.n_outputs} needs an output layer of its own; give tied_embeddings=False"
            )
        if self.output_transform and self.tied_embeddings:
            raise ValueError(
                "output_transform=True needs an output layer of its own; give tied_embeddings=False"
            )
        if self.input_channels is not None and (self.vocab_size, self.pad_id) != (1, None):
            raise ValueError(
                f"vocab_size={self.vocab_size} and pad_id={self.pad_id!r} are about token ids, but "
                f"input_channels={self.input_channels} says that vectors are read; give 1 and None"
            )
        if self.input_channels is not None and self.n_outputs is None:
            raise ValueError(
                f"n_outputs=None, but a model that reads vectors has no vocabulary to answer in; "
                f"try n_outputs={self.input_channels}"
            )
        for name in ("mask", "mask_argument"):
            if not isinstance(getattr(self, name), str):
                raise ValueError(f"{name}={getattr(self, name)!r} is no text; try mask='none'")


def pairs_channels(positions: str) -> bool:
    """Whether this scheme rotates channels in pairs, as its class says; to read that imports PyTorch."""
    return import_module(".engine.positions", __package__).POSITIONS[positions].pairs_channels


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
