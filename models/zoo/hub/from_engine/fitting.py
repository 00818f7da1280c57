"""What all architectures of transformers ask of a config, and what their weights are made of."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from models.config import ModelConfig
from models.engine.layers import Stack

ADDED = ("sinusoidal", "learned", "none")
"""Position schemes that add one vector to each token: a table can hold them."""
ACTIVATIONS = {"relu": "relu", "gelu": "gelu", "gelu-tanh": "gelu_new"}
Weights = dict[str, Tensor]


class Misfit(ValueError):  # noqa: N818 (it is an answer, not a fault)
    """A config that no architecture of transformers computes; the text says why."""


def misfit(value: str, rule: str) -> Misfit:
    return Misfit(f"{value}, but {rule}; export it as ONNX, which takes every model")


def check_common(config: ModelConfig) -> None:
    """Raises Misfit for what none of the families computes."""
    if config.n_heads * config.head_size != config.d_model:
        raise misfit(
            f"d_head={config.d_head}",
            f"the {config.n_heads} heads of theirs share d_model={config.d_model} channels",
        )
    for name, needed in (("normalizer", "softmax"), ("mask", "none"), ("residual", True)):
        if getattr(config, name) != needed:
            raise misfit(f"{name}={getattr(config, name)!r}", f"theirs have {needed!r}")
    if not config.feed_forward:
        raise misfit("feed_forward=False", "every layer of theirs has a feed-forward network")
    if config.input_channels is not None:
        raise misfit(f"input_channels={config.input_channels}", "theirs read tokens")


def check_norm(config: ModelConfig, needed: str, family: str) -> None:
    if config.norm != needed:
        raise misfit(f"norm={config.norm!r}", f"{family} has norm={needed!r}")


def check_positions(config: ModelConfig, family: str, among: tuple[str, ...] = ADDED) -> None:
    if config.positions not in among:
        raise misfit(f"positions={config.positions!r}", f"{family} has {' or '.join(map(repr, among))}")


@torch.no_grad()
def position_table(stack: Stack, config: ModelConfig) -> Tensor:
    """What the stack's positions add [position, channel]."""
    weight = next(stack.parameters())
    return stack.positions(torch.zeros(1, config.max_len, config.d_model, device=weight.device))[0]


def linear(name: str, module: Any, *, scale: float = 1.0) -> Weights:
    """A linear map or norm of ours under their name; what has no bias here gets one of zeros."""
    weight = module.weight
    bias = module.bias if module.bias is not None else weight.new_zeros(weight.shape[0])
    return {f"{name}.weight": weight * scale, f"{name}.bias": bias * scale}


def query_scale(config: ModelConfig) -> float:
    """What the queries are multiplied by, since theirs always divide by sqrt(d_head)."""
    return config.scale * config.head_size**0.5


def load(net: Any, weights: Weights) -> Any:
    """Gives a model of transformers these weights, on the CPU and in float32; it must need no others."""
    owned = {name: each.detach().to("cpu", torch.float32, copy=True) for name, each in weights.items()}
    net.load_state_dict({name: each.contiguous() for name, each in owned.items()})
    return net
