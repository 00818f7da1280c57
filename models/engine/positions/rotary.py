"""Rotary positions: queries and keys turn with their position, so that their product knows the distance."""

import math

import torch
from jaxtyping import Float, Real
from torch import Tensor

from ...config import ModelConfig
from ..position_scheme import Heads, PositionScheme, angles, register


def rotate(
    x: Float[Tensor, "*batch position d_head"],
    positions: Real[Tensor, " position"],
    base: int | float = 10_000.0,
) -> Float[Tensor, "*batch position d_head"]:
    """Turns channels 2i and 2i + 1, as a point in the plane, by position / base^(2i / d_head) radians.

    Su et al. 2021 (RoFormer), equation 34: neighbouring channels are a pair, as in GPT-J. (Llama pairs
    channel i with i + d_head / 2, which is the same after a permutation of the rows of W_Q and W_K.) Raises
    ValueError for an odd d_head.
    """
    d_head = x.shape[-1]
    if d_head % 2:
        raise ValueError(f"d_head={d_head} is odd, but channels turn in pairs; try d_head={d_head + 1}")
    angle = angles(positions, d_head, base)  # [position, pair]
    return turn(x, angle.cos().to(x), angle.sin().to(x))


def turn(
    x: Float[Tensor, "*batch position channel"],
    cos: Float[Tensor, "position pair"],
    sin: Float[Tensor, "position pair"],
) -> Float[Tensor, "*batch position channel"]:
    """Channels 2i and 2i + 1, as a point in the plane, turned by the angle of this cosine and sine."""
    first, second = x[..., 0::2], x[..., 1::2]  # [..., position, pair]
    turned = torch.stack([first * cos - second * sin, first * sin + second * cos], dim=-1)
    return turned.flatten(-2)  # [..., position, pair * 2]


def frequencies(config: ModelConfig) -> tuple[Float[Tensor, " pair"], float]:
    """Radians that each pair of channels turns from one position to the next, float64, and what the turned
    vectors are multiplied by.

    `rotary_stretch` makes waves longer, for texts `rotary_factor` times as long as those that the model was
    trained on. "linear": all alike (Chen et al. 2023, arXiv 2306.15595). "ntk": by a larger base, so that the
    fastest stay (bloc97 2023). "yarn": those that turn less than once in the old text by the whole factor,
    those that turn more than 32 times not at all, and vectors by 0.1 ln(factor) + 1 (Peng et al. 2023, arXiv
    2309.00071, 3.2 to 3.4); "yarn-between" the same, from and to places between pairs (gpt-oss).
    "llama3": those that turn less than once by the whole factor, those that turn more than 4 times not at
    all (Llama 3.1 2024).
    """
    n, base, factor = round(config.rotary_share * config.head_size), config.rotary_base, config.rotary_factor
    if config.rotary_stretch == "ntk" and n > 2:
        base *= factor ** (n / (n - 2))
    own = angles(torch.tensor([1]), n, base)[0]  # [pair]
    if config.rotary_stretch == "linear":
        return own / factor, 1.0
    trained = config.rotary_trained or config.max_len / factor
    if config.rotary_stretch == "llama3":
        kept = ((own * trained / (2 * math.pi) - 1) / (4 - 1)).clamp(0, 1)  # [pair], by its turns
        return own * kept + own / factor * (1 - kept), 1.0
    if not config.rotary_stretch.startswith("yarn") or factor == 1:
        return own, 1.0

    def pair_that_turns(times: int) -> float:
        """The place of the pair that turns so often in the old text."""
        return n * math.log(trained / (times * 2 * math.pi)) / (2 * math.log(base))

    first, last = pair_that_turns(32), pair_that_turns(1)
    if config.rotary_stretch == "yarn":
        first, last = math.floor(first), math.ceil(last)
    first, last = max(first, 0), min(last, n - 1)
    slow = ((torch.arange(n // 2).double() - first) / max(last - first, 1e-3)).clamp(0, 1)  # [pair]
    return own * (1 - slow) + own / factor * slow, 0.1 * math.log(factor) + 1


Waves = tuple[Float[Tensor, "position pair"], Float[Tensor, "position pair"]]


@register("rotary")
class Rotary(PositionScheme):
    """Turns the first `rotary_share` of the channels of queries and keys; see `rotate` and `frequencies`."""

    pairs_channels = True

    def __init__(self, config: ModelConfig, *, causal: bool = False) -> None:
        super().__init__(config)
        with torch.device("cpu"):  # they are numbers, also of a model without weights
            self.per_position, self.loudness = frequencies(config)
        self._last: tuple[object, Waves] | None = None

    def rotate(self, x: Heads, start: int = 0) -> Heads:
        """Turned by the angles of positions start, start + 1, ..."""
        n = 2 * len(self.per_position)
        turned = turn(x[..., :n], *self._waves(start, x))
        return turned if n == x.shape[-1] else torch.cat([turned, x[..., n:]], dim=-1)

    def _waves(self, start: int, x: Heads) -> Waves:
        """Cosines and sines of the positions of x: the same for queries, keys and layers of a pass."""
        compiling, stop, key = torch.compiler.is_compiling(), start + x.shape[2], (x.dtype, x.device)
        last = None if compiling else self._last
        if last is None or last[0] != key or len(last[1][0]) < stop:
            # A text that grows by a token finds its waves there.
            n = stop if compiling else 1 << (stop - 1).bit_length()
            with torch.inference_mode(False), torch.no_grad():  # training may read what a look has kept
                angle = torch.arange(n).double()[:, None] * self.per_position
                waves = angle.cos() * self.loudness, angle.sin() * self.loudness  # [position, pair]
                cos, sin = (wave.to(x.dtype).to(x.device) for wave in waves)
            last = key, (cos, sin)
            self._last = self._last if compiling else last
        return last[1][0][start:stop], last[1][1][start:stop]
