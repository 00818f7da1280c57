"""The base of the normalizers, which turn the scores of each query into weights, and their registry."""

from collections.abc import Callable
from typing import ClassVar, TypeVar

from jaxtyping import Bool, Float
from torch import Tensor, nn

from ..config import ModelConfig

Scores = Float[Tensor, "batch head query key"]
Mask = Bool[Tensor, "#batch #head #query key"]


class Normalizer(nn.Module):
    """Weights [batch, head, query, key] of scores, which are -inf where `mask` is False; all masked, 0.

    fused: it is a softmax, with the `sinks` among its scores, so that PyTorch's kernels and long texts know
    it. note: what a reader must know of its rows, where they need not sum to 1.
    """

    fused: ClassVar[bool] = False
    note: ClassVar[str] = ""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()

    @classmethod
    def n_parameters(cls, config: ModelConfig) -> int:
        """How many numbers training changes in one attention."""
        return sum(parameter.numel() for parameter in cls(config).parameters())

    def forward(self, scores: Scores, mask: Mask | None) -> Scores:
        """Turns the scores of each query into weights on its keys."""
        raise NotImplementedError

    def sinks(self) -> Float[Tensor, " head"] | None:
        """For each head a score that belongs to no key, where there is one."""
        return None


NORMALIZERS: dict[str, type[Normalizer]] = {}
Kind = TypeVar("Kind", bound=type[Normalizer])


def register(name: str) -> Callable[[Kind], Kind]:
    """Enters a normalizer under the name of its file."""

    def enter(kind: Kind) -> Kind:
        NORMALIZERS[name] = kind
        return kind

    return enter


def open_keys(scores: Scores, mask: Mask | None) -> Float[Tensor, "#batch #head #query 1"]:
    """How many keys each query sees, at least 1."""
    if mask is None:
        return scores.new_full((1, 1, 1, 1), scores.shape[-1])
    return mask.sum(dim=-1, keepdim=True).to(scores).clamp(min=1)
