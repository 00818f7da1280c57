"""The model that the calculator is asked about: a published one, or its sizes changed."""

from typing import Any, NamedTuple

from models.config import ModelConfig, pairs_channels
from models.lessons.design.presets import Preset, preset
from pages.lab.controls import Columns, Set
from pages.lab.design.inputs import LIMITS, Inputs
from pages.shared.state import State

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


CONTROLS = (
    Set("preset", then=_take),
    Columns((("n_layers", "d_model", "vocab_size"), ("n_heads", "d_ff", "max_len"))),
    Columns((("kind", "norm", "tied"), ("positions", "activation", "bias"))),
    "batch",
)
"""The picker, which sets all sizes, and the sizes."""
