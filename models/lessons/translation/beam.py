"""What a beam search did, step by step, read from the tree that it leaves.

At every step each hypothesis that is still open proposes its likeliest words; the best `width` of all of them
are kept (Sutskever et al. 2014, 3.2). Width 1 is greedy decoding.
"""

from typing import NamedTuple

import torch
from jaxtyping import Int
from torch import Tensor

from models.data.word_tokenizer import BOS, EOS
from models.engine.decoding import BeamNode, BeamTree, LengthPenalty, beam_search
from models.engine.transformer import Transformer


class Step(NamedTuple):
    """One step: the rows of its forward pass; the nodes that were kept and pruned, best first."""

    runs: int
    kept: list[BeamNode]
    pruned: list[BeamNode]


def search(
    model: Transformer,
    source: Int[Tensor, "1 source"],
    width: int,
    length_penalty: float,
    most: int,
    penalty: LengthPenalty = "gnmt",
) -> BeamTree:
    """The engine's search from <bos>, at most `most` words long."""
    return beam_search(
        model,
        torch.tensor([[BOS]]),
        width=width,
        source=source,
        eos_id=EOS,
        max_new_tokens=most,
        length_penalty=length_penalty,
        penalty=penalty,
    )


def steps(tree: BeamTree) -> list[Step]:
    """The tree cut into its steps."""
    found = []
    for number in range(1, max(node.step for node in tree.nodes) + 1):
        nodes = sorted((node for node in tree.nodes if node.step == number), key=lambda node: -node.score)
        runs = len({node.parent for node in nodes})  # each open hypothesis is one row of the batch
        kept = [node for node in nodes if node.kept]
        found.append(Step(runs, kept, [node for node in nodes if not node.kept]))
    return found


def survivors(tree: BeamTree, step: int) -> set[int]:
    """Ids of the nodes on the way to a hypothesis that is open or finished after this step."""
    found: set[int] = set()
    for node in tree.nodes:
        if node.kept and (node.step == step or (node.finished and node.step <= step)):
            found |= {part.id for part in tree.path(node.id)}
    return found


def is_beyond_doubt(log_prob: float) -> bool:
    """Whether no other sentence can be likelier: all sentences' probabilities together are at most 1."""
    return log_prob > -0.6931471805599453  # ln(1/2)
