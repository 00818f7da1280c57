"""Where the memory of training goes in attention, by formula.

The stack is attention alone: x + W_O z, layer upon layer, without feed-forward network, norms or biases.
"""

from dataclasses import dataclass, replace

LOGSUMEXP_BYTES = 4  # float32 whatever the rest is


@dataclass(frozen=True)
class Setting:
    """n_sequences of t tokens in n_layers layers of n_heads heads; and what is done to save memory."""

    n_sequences: int
    t: int
    n_heads: int
    n_layers: int
    d_head: int = 64
    half: bool = False
    n_pieces: int = 1
    checkpointing: bool = False
    fused: bool = False

    @property
    def number_bytes(self) -> int:
        return 2 if self.half else 4

    @property
    def at_once(self) -> int:
        """Sequences in memory together; gradients of several pieces add up (gradient accumulation).

        Raises ValueError where the pieces are not equal.
        """
        if self.n_sequences % self.n_pieces:
            raise ValueError(
                f"{self.n_sequences} sequences cannot be cut into {self.n_pieces} equal pieces; "
                f"try {_divisor(self.n_sequences, self.n_pieces)} pieces"
            )
        return self.n_sequences // self.n_pieces


SMALL = Setting(n_sequences=8, t=96, n_heads=2, n_layers=2, d_head=8)
"""A stack so small that training it one step, to measure, takes no time."""


def _divisor(n: int, near: int) -> int:
    """The divisor of n nearest to a number."""
    return min((d for d in range(1, n + 1) if n % d == 0), key=lambda d: abs(d - near))


def matrix_bytes(n_sequences: int, t: int, number_bytes: int = 4) -> int:
    """One attention matrix [t, t] for each sequence: one head of one layer."""
    return n_sequences * t * t * number_bytes


def four_copies(setting: Setting) -> int:
    """The count of Bloem 2019, Transformers from scratch: before and after softmax, and both gradients,
    in every head of every layer.
    """
    one = matrix_bytes(setting.at_once, setting.t, setting.number_bytes)
    return 4 * one * setting.n_heads * setting.n_layers


def layer_bytes(setting: Setting) -> int:
    """What one layer keeps for its backward pass: x, q, k, v and z, and the pattern of every head.

    Fused attention keeps one number a query and head, from which it makes the pattern again
    (Dao et al. 2022, 3.1).
    """
    return 5 * stream_bytes(setting) + (
        setting.at_once * setting.n_heads * setting.t * LOGSUMEXP_BYTES
        if setting.fused
        else setting.n_heads * matrix_bytes(setting.at_once, setting.t, setting.number_bytes)
    )


def stream_bytes(setting: Setting) -> int:
    """x itself, [sequence, position, n_heads * d_head]."""
    return setting.at_once * setting.t * setting.n_heads * setting.d_head * setting.number_bytes


def kept_bytes(setting: Setting) -> int:
    """What is kept from the forward pass to the backward pass; with checkpointing, only the layers' inputs.

    Chen et al. 2016 (4) keep the ends of segments of several layers; here every layer is a segment.
    """
    return setting.n_layers * (stream_bytes(setting) if setting.checkpointing else layer_bytes(setting))


def peak_bytes(setting: Setting) -> int:
    """The most at any time, without weights: what is kept, and what one layer's backward pass works on.

    The latter are the gradients of pattern and scores, or with fused attention those of q, k, v and z. With
    checkpointing, the layer's own tensors have first been computed again.
    """
    at_work = (
        4 * stream_bytes(setting)
        if setting.fused
        else 2 * setting.n_heads * matrix_bytes(setting.at_once, setting.t, setting.number_bytes)
    )
    again = layer_bytes(setting) if setting.checkpointing else 0
    return kept_bytes(setting) + again + at_work


def one_by_one(plain: Setting, n_pieces: int = 4) -> dict[str, Setting]:
    """The plain setting, and the same with each saving alone."""
    return {
        "plain": plain,
        "half precision": replace(plain, half=True),
        f"accumulation, {n_pieces} pieces": replace(plain, n_pieces=n_pieces),
        "checkpointing": replace(plain, checkpointing=True),
        "fused attention": replace(plain, fused=True),
    }
