"""Where the parameters of a layer are, counted by formula."""

from models.config import ModelConfig


def attention_parameters(config: ModelConfig) -> int:
    """W_Q, W_K, W_V [d_model, n_heads * d_head], W_O [n_heads * d_head, d_model], and their biases."""
    width = config.n_heads * config.head_size
    biases = 3 * width + config.d_model if config.bias else 0
    return 4 * config.d_model * width + biases


def feed_forward_parameters(config: ModelConfig) -> int:
    """[d_model, d_ff] and [d_ff, d_model], and their biases."""
    biases = config.ff_size + config.d_model if config.bias else 0
    return 2 * config.d_model * config.ff_size + biases


def norm_parameters(config: ModelConfig) -> int:
    """Two norms, each with a gain for every channel, and a bias."""
    return 2 * config.d_model * (2 if config.bias else 1)
