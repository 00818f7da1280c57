"""A gate, or a projection, may change a head's mixture of values before the output projection reads it."""

from jaxtyping import Float
from torch import Tensor, nn

from ..config import ModelConfig

Mixture = Float[Tensor, "batch head query d_head"]


class HeadGate(nn.Module):
    """Multiplies what each head hands on by sigmoid(x W), a number for the head or for each of its channels.

    Qiu et al. 2025 (arXiv 2505.06708), at the place that they call G1, after the mixture of values. x is what
    the queries are made of.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.n_heads = config.n_heads
        per_head = config.head_size if config.head_gate == "channel" else 1
        self.linear = nn.Linear(config.d_model, config.n_heads * per_head, bias=config.bias)

    def forward(self, x: Float[Tensor, "batch query d_model"], z: Mixture) -> Mixture:
        gate = self.linear(x).sigmoid().unflatten(-1, (self.n_heads, -1))  # [batch, query, head, 1 or d_head]
        return z * gate.transpose(1, 2)


def exclusive(z: Mixture, own: Mixture) -> Mixture:
    """The part of z at right angles to the value of the query's own token (arXiv 2603.09078)."""
    along = (z * own).sum(dim=-1, keepdim=True) / own.square().sum(dim=-1, keepdim=True).clamp(min=1e-12)
    return z - along * own
