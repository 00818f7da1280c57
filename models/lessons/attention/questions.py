"""What the questions at the end of each part ask, computed."""

import torch
from jaxtyping import Float
from torch import Tensor

from models.config import ModelConfig
from models.engine.attention import MultiHeadAttention
from models.lessons.attention import films, inputs, steps
from models.lessons.attention.examples import CHANNELS


def n_parameters(d_model: int, n_heads: int) -> int:
    """Numbers to learn in the engine's multi-head attention without biases: W_Q, W_K, W_V and W_O.

    Raises ValueError when `n_heads` does not divide `d_model`.
    """
    config = ModelConfig(
        kind="encoder-only", n_layers=1, n_heads=n_heads, d_model=d_model, vocab_size=1, max_len=1, bias=False
    )
    with torch.random.fork_rng(devices=[]):
        return sum(p.numel() for p in MultiHeadAttention(config).parameters())


def same_embedding_everywhere(n_tokens: int, seed: int) -> Float[Tensor, "query key"]:
    """The self-attention pattern of tokens that are all alike, under random projections."""
    X = torch.ones(n_tokens, len(CHANNELS), dtype=torch.float64)
    W = inputs.matrices(seed)
    return steps.self_attention(X, W["W_Q"], W["W_K"], W["W_V"])["pattern"]


def longer_token(
    X: Float[Tensor, "token channel"], token: int, factor: int | float
) -> Float[Tensor, "query key"]:
    """The parameter-free pattern when one token's embedding is `factor` times as long."""
    longer = X.clone()
    longer[token] *= factor
    return steps.parameter_free(longer)["pattern"]


def weights_of(dots: Float[Tensor, "key"], d_k: int) -> Float[Tensor, "key"]:
    """Attention weights of one query whose dot products are known."""
    return (dots / d_k**0.5).softmax(dim=-1)


def keener_viewers(
    viewers: Float[Tensor, "viewer feature"], films_: Float[Tensor, "film feature"], factor: int | float
) -> dict[str, Tensor]:
    """Recommendations to viewers whose every taste is `factor` times as strong."""
    return films.recommend(viewers * factor, films_)
