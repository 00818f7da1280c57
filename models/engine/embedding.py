"""What goes in, as vectors: ids by their rows, vectors by a linear layer; what does not fit is said."""

from torch import Tensor, nn


def of_ids(tokens: Tensor, embedding: nn.Embedding) -> Tensor:
    """Raises ValueError for an id outside the vocabulary."""
    try:
        return embedding(tokens)
    except IndexError:
        # PyTorch has looked already; only to say which token it was, look again.
        outside = tokens[(tokens < 0) | (tokens >= embedding.num_embeddings)]
        raise ValueError(
            f"token id {outside[0].item()} is outside the vocabulary of {embedding.num_embeddings}; "
            f"ids go from 0 to {embedding.num_embeddings - 1}"
        ) from None


def of_vectors(vectors: Tensor, embedding: nn.Linear) -> Tensor:
    """Raises ValueError for vectors of another size than the layer takes."""
    if vectors.dim() != 3 or vectors.shape[2] != embedding.in_features:
        raise ValueError(
            f"input of shape {list(vectors.shape)} does not fit input_channels={embedding.in_features}; "
            f"give vectors [batch, position, {embedding.in_features}]"
        )
    return embedding(vectors)
