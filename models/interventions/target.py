"""What a sweep looks at: one number of what a model gives out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import inf

from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import cross_entropy

from models.data.tasks import Reading
from models.names import shortened

RULE = "probability of 7 at 3, logit of 7 at 3, logits 7-5 at 3, kl at 3, loss, or score"
_NUMBERS = {"probability of": 1, "logit of": 1, "logits": 2, "kl": 0, "loss": 0, "score": 0}
"""How many outputs each kind names."""
_LINE = re.compile(rf"({'|'.join(_NUMBERS)})(?: ([0-9]+)(?:-([0-9]+))?)?(?: at ([0-9]+))?")
_WHOLE = ("loss", "score")
"""Those of no position alone."""


@dataclass(frozen=True)
class Target:
    """One number, in a line.

    "probability of 7 at 3": the probability of output 7 at position 3. "logit of 7 at 3": its logit. "logits
    7-5 at 3": the logit of output 7 less that of 5. "kl at 3": KL(before || after) of the probabilities
    there, in nats. "loss": the mean cross-entropy, in nats, of each token that the model writes, given those
    before it. "score": the share of right answers in held-out examples of the task, in place of the text.
    """

    kind: str
    outputs: tuple[int, ...] = ()
    at: int = 0

    @classmethod
    def read(cls, line: str) -> Target:
        """The target of a line. Raises ValueError."""
        match = _LINE.fullmatch(" ".join(line.split()))
        if match is not None:
            outputs = tuple(int(number) for number in match.groups()[1:3] if number is not None)
            if len(outputs) == _NUMBERS[match[1]] and (match[4] is None) == (match[1] in _WHOLE):
                return cls(match[1], outputs, int(match[4] or 0))
        raise ValueError(f"{shortened(line)!r} is nothing to look at; write {RULE}")

    def __str__(self) -> str:
        if self.kind in _WHOLE:
            return self.kind
        named = " " + "-".join(map(str, self.outputs)) if self.outputs else ""
        return f"{self.kind}{named} at {self.at}"

    @property
    def position(self) -> int | None:
        """The only position whose logits it needs; None for all."""
        return None if self.kind in _WHOLE else self.at

    def check(self, reading: Reading, n_positions: int, n_outputs: int) -> None:
        """Raises ValueError for a position or an output that is not there, a loss where none is asked, and a
        score, which is of other texts.
        """
        if self.kind == "score":
            raise ValueError("score is of held-out examples and not of this text; choose another")
        if self.kind == "loss":
            if "decoder" not in reading.tokens or len(_written(reading)) < 2:
                raise ValueError("loss is of what a decoder writes after its first token; choose another")
            return
        if self.at >= n_positions:
            raise ValueError(f"{self}: position {self.at} has no output; give 0 to {n_positions - 1}")
        for output in self.outputs:
            if output >= n_outputs:
                raise ValueError(f"{self}: output {output} is not there; give 0 to {n_outputs - 1}")

    def values(
        self, logits: Float[Tensor, "row _ output"], plain: Float[Tensor, "_ output"], reading: Reading
    ) -> Float[Tensor, " row"]:
        """The number in each row, from the logits at `position` alone, or at all; plain: without edits."""
        logits, plain = logits.double(), plain.double()
        if self.kind == "loss":
            written = _written(reading).to(logits.device)[1:]
            each = cross_entropy(
                logits[:, :-1].flatten(0, 1), written.repeat(len(logits)), reduction="none"
            )  # fmt: skip
            return each.view(len(logits), -1).mean(dim=1)
        here = logits[:, 0]
        if self.kind == "logits":
            return here[:, self.outputs[0]] - here[:, self.outputs[1]]
        if self.kind == "logit of":
            return here[:, self.outputs[0]]
        after = here.log_softmax(dim=-1)
        if self.kind == "kl":
            before = plain[0].log_softmax(dim=-1)
            differs = (before - after).where(before > -inf, 0)  # what can never be said moves nothing
            return (before.exp() * differs).sum(dim=-1).clamp(min=0)
        return after[:, self.outputs[0]].exp()


def _written(reading: Reading) -> Tensor:
    return reading.inputs[-1][0]
