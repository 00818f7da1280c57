"""Where the parameters of a whole model are, counted by formula."""

from models.config import ModelConfig

PARAMETER_FREE = ("none", "sinusoidal", "rotary", "alibi")


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
    """A gain for each channel, and a bias."""
    return config.d_model * (2 if config.bias else 1)


def model_parameters(config: ModelConfig) -> dict[str, int]:
    """What each part of an encoder-only model with tied embeddings holds; the values add to all of it.

    Raises ValueError for positions with parameters of their own.
    """
    if config.positions not in PARAMETER_FREE:
        known = ", ".join(PARAMETER_FREE)
        raise ValueError(f"positions={config.positions!r} may have parameters; counted are {known}")
    n_norms = 2 * config.n_layers + (config.norm == "pre")
    return {
        "embedding": config.vocab_size * config.d_model,
        "attention": config.n_layers * attention_parameters(config),
        "feed-forward": config.n_layers * feed_forward_parameters(config),
        "norms": n_norms * norm_parameters(config),
    }
