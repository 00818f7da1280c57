"""The norms of a model: of its residual stream, its sublayers, and its queries and keys."""

from torch import nn

from ..config import ModelConfig


def norm_of(config: ModelConfig) -> nn.Module:
    """The norm of d_model channels that a sublayer has; nothing where norm is "none"."""
    return nn.Identity() if config.norm == "none" else channel_norm(config)


def channel_norm(config: ModelConfig) -> nn.Module:
    """Normalises d_model channels: Ba et al. 2016, or, without a mean and a bias, Zhang and Sennrich 2019."""
    if config.norm_type == "rms":
        return nn.RMSNorm(config.d_model, eps=config.norm_eps)
    return nn.LayerNorm(config.d_model, eps=config.norm_eps, bias=config.bias)


def head_norm(config: ModelConfig, n_heads: int) -> nn.Module:
    """Divides queries or keys by their root mean square (Henry et al. 2020): those of a head, as Qwen 3 does,
    or of all heads side by side, as OLMo 2 does. Nothing where `qk_norm` is "none".
    """
    if config.qk_norm == "none":
        return nn.Identity()
    width = config.head_size * (n_heads if config.qk_norm == "all" else 1)
    return nn.RMSNorm(width, eps=config.norm_eps)
