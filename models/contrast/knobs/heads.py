"""The number of heads: the same W_Q, W_K, W_V and W_O, cut into more or fewer."""

from dataclasses import fields, replace

from ...config import ModelConfig
from ...engine.attention import MultiHeadAttention
from ...engine.positions import POSITIONS
from ...engine.transformer import Stack, Transformer
from ...zoo.model import Model
from ..knob import Knob, is_ours, number, only_ours, with_model, words_of

MOST_HEADS = 4_096
"""The largest number of heads that may be typed."""


def _values(model: Model) -> tuple[str, ...]:
    if not is_ours(model):
        return (_own(model),)
    width = model.config.n_heads * model.config.head_size
    numbers = {model.config.n_heads, *(n for n in (1, 2, 4, 8, 16, 32) if width % n == 0)}
    return tuple(map(str, sorted(numbers)))


def _own(model: Model) -> str:
    return str(model.config.n_heads) if is_ours(model) else "its own"


def _read(value: str) -> str:
    n_heads = number("heads", value, 1, MOST_HEADS)
    if n_heads != int(n_heads):
        raise ValueError(f"heads={value!r} is no whole number; try {int(n_heads)}")
    return str(int(n_heads))


def with_heads(config: ModelConfig, n_heads: int) -> ModelConfig:
    """The config whose matrices are as large, in `n_heads` heads. Raises ValueError where that cannot be."""
    width = config.n_heads * config.head_size
    if width % n_heads:
        possible = [n for n in range(1, width + 1) if width % n == 0]
        below = max(n for n in possible if n < n_heads)
        above = min((n for n in possible if n > n_heads), default=None)
        near = f"{below}" if above is None else f"{below} or {above}"
        raise ValueError(f"{width} columns cannot be cut into n_heads={n_heads} equal heads; try {near}")
    return replace(config, n_heads=n_heads, d_head=width // n_heads)


def recut(net: Transformer, n_heads: int) -> None:
    """Cuts every attention into so many heads; d_head and the scale follow.

    Raises ValueError for a number that does not divide the columns, and for positions that have learnt a
    number for each head.
    """
    config = net.config
    by_head = ("n_kv_heads", "qk_norm", "head_gate", "differential", "normalizer", "local_rotary_base")
    own = {field.name: field.default for field in fields(config) if field.name in by_head}
    for name, plain in own.items():
        if getattr(config, name) != plain:
            raise ValueError(
                f"{name}={getattr(config, name)!r} goes with the number of heads, which cannot change then; "
                f"open a model with {name}={plain!r}"
            )
    config = with_heads(config, n_heads)
    for module in net.modules():
        if isinstance(module, MultiHeadAttention):
            module.n_heads = module.n_key_heads = n_heads
            module.scale = config.scale
        elif isinstance(module, Stack):
            positions = POSITIONS[config.positions](config, causal=module.causal)
            learnt, shapes = module.positions.state_dict(), positions.state_dict()
            if any(learnt[name].numel() != shape.numel() for name, shape in shapes.items()):
                raise ValueError(
                    f"positions={config.positions!r} learnt something for each of {net.config.n_heads} "
                    "heads, which cannot be cut anew; open a model with other positions"
                )
            positions.load_state_dict({name: learnt[name].reshape(shapes[name].shape) for name in shapes})
            module.positions = positions.to(next(net.parameters()).dtype).eval()
    net.config = config


KNOB = Knob(
    **words_of("heads"),
    own=_own,
    values=_values,
    read=_read,
    why_not=lambda side: only_ours(side, "heads"),
    turned=lambda side, value: with_model(side, side.model.remade(lambda net: recut(net, int(value)))),
)
