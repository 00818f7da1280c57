"""A softmax and the numbers that describe it: entropy, largest weight, the gradient that gets through."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from attention_lab.models.engine.trace import Trace
from attention_lab.models.fields import characters, number, one_of, setting, whole
from attention_lab.pages.lab import any_model
from attention_lab.pages.lab.any_model import ANOTHER, OPTION, Other
from attention_lab.pages.lab.lesson import Columns, Own, When
from attention_lab.pages.shared import cache, st
from attention_lab.pages.shared.st import DeltaGenerator
from attention_lab.pages.shared.state import State
from attention_lab.viz_core.boards import Colour


@dataclass(frozen=True)
class Softmax:
    """Weights that sum to 1 along the last axis, and three numbers for each row of them."""

    weights: Float[Tensor, "*row n"]
    entropy: Float[Tensor, "*row"]
    """The entropy in nats is 0 if one weight is 1, and ln(n) if all are alike."""
    largest: Float[Tensor, "*row"]
    gradient: Float[Tensor, "*row"]
    """`gradient_norm` of the weights."""


def softmax(logits: Float[Tensor, "*row n"]) -> Softmax:
    """softmax(x)_i = exp(x_i) / sum_j exp(x_j), with its numbers."""
    weights = logits.softmax(dim=-1)
    entropy = torch.special.entr(weights).sum(dim=-1)  # -p ln p, and 0 where p = 0
    return Softmax(weights, entropy, weights.amax(dim=-1), gradient_norm(weights))


def jacobian(weights: Float[Tensor, "*row n"]) -> Float[Tensor, "*row n n"]:
    """diag(p) - p p^T: entry [i, j] says how weight i answers to logit j, p_i (1[i = j] - p_j)."""
    return weights.diag_embed() - weights[..., :, None] * weights[..., None, :]


def gradient_norm(weights: Float[Tensor, "*row n"]) -> Float[Tensor, "*row"]:
    """Frobenius norm of the Jacobian: how much gradient gets through the softmax.

    A gradient of independent standard normal numbers on the weights reaches the logits with this length
    (root mean square). It is 0 for a single weight of 1, sqrt(n - 1) / n for equal weights, and never above
    1 / 2. Row i of the Jacobian is p_i (e_i - p), so its squared length needs no matrix:
    p_i^2 ((sum over j != i of p_j)^2 + sum over j != i of p_j^2).
    """
    best = weights.argmax(dim=-1, keepdim=True)
    rest = weights.scatter(-1, best, 0.0)
    squares = weights.square()
    # For the largest weight the others are summed: 1 - p would lose the digits of a tiny rest.
    others = (1 - weights).scatter(-1, best, rest.sum(dim=-1, keepdim=True))
    other_squares = squares.sum(dim=-1, keepdim=True) - squares
    other_squares = other_squares.scatter(-1, best, rest.square().sum(dim=-1, keepdim=True))
    return (squares * (others.square() + other_squares)).sum(dim=-1).sqrt()


def histogram(
    values: Float[Tensor, "*row sample"], edges: Float[Tensor, " edge"]
) -> Float[Tensor, "*row bin"]:
    """Share of a row's samples in each bin; a value on an edge counts in the lower one.

    The outer two bins are open: n edges make n + 1 bins.
    """
    at = torch.bucketize(values.contiguous(), edges)
    counts = torch.zeros(*values.shape[:-1], len(edges) + 1, dtype=edges.dtype)
    return counts.scatter_add(-1, at, torch.ones_like(values, dtype=edges.dtype)) / values.shape[-1]


N_LOGITS = (4, 8, 16, 32, 64, 256)
N_KEYS = (8, 16, 64, 128)
STACKS = {
    "encoder.self": "Encoder self-attention",
    "decoder.self": "Decoder self-attention",
    "decoder.cross": "Cross-attention",
}
READERS = {"translator": "the translator"} | OPTION
SCOPES = {"layer": "All its layer", "head": "This head"}
PRONOUN = -1
"""Stands for the position of the sentence's pronoun."""
MAX_POSITION = 64
TEXT = "the animal did not cross the street because it was too wide"


@dataclass(frozen=True)
class Inputs(Other):
    """The controls of the page."""

    deviation: float = setting(1.0, number(0.01, 100))
    n_logits: int = setting(16, one_of(N_LOGITS), "Logits", control="steps")
    seed: int = setting(0, whole(0, 999), "Seed of the random numbers")
    d_k: int = setting(64, whole(1, 1_024))
    n_keys: int = setting(64, one_of(N_KEYS), "Keys", control="steps")
    temperature: float = setting(1.0, number(0.02, 50))
    text: str = setting(TEXT, characters(2_000), "Sentence")
    stack: str = setting("encoder.self", one_of(STACKS), "Attention")
    layer: int = setting(1, one_of(range(2)), "Layer", control="segments")
    head: int = setting(3, one_of(range(4)), "Head", control="segments")
    scope: str = setting("layer", one_of(SCOPES), "Heated", control="segments")
    query: int = setting(PRONOUN, whole(PRONOUN, MAX_POSITION), "Looks from", control="list")
    step: int = setting(PRONOUN, whole(PRONOUN, MAX_POSITION), "Next word", control="list")
    reader: str = setting("translator", one_of(READERS), "Model", control="segments")
    height: int = setting(20, whole(-120, 120))


@cache.kept(cache.results, lambda trace: 2_000 + sum(trace[address].nbytes for address in trace))
def trace_of(text: str) -> Trace:
    """Tokens and scores of a sentence and its translation; ValueError with a sentence where it has none."""
    return cache.translator().trace(text, reduce=lambda at, x: x if at.endswith(".scores") else None)


def _words(state: State) -> None:
    """The words to look from and to watch."""
    try:
        tokens = trace_of(state.kept["text"]).tokens
    except ValueError:
        return  # what is wrong with the sentence is said above the board
    left, right = st.columns(2)
    if state.kept["stack"] == "encoder.self":
        _word(state, left, "query", tokens["encoder"])
    _word(state, right, "step", [*tokens["decoder"][1:], "<eos>"])


def _word(state: State, place: DeltaGenerator, field: str, words: list[str]) -> None:
    # A link may name a position that this sentence does not have; the board says so, the widget shows it.
    options = range(PRONOUN, max(len(words), state.kept[field] + 1))
    names = {PRONOUN: "the pronoun"} | {at: f"{at}: {word}" for at, word in enumerate(words)}
    state.draw(field, place, options=options, format_func=lambda at: names.get(at, f"{at}: none"))


TRANSLATOR = (
    "text", "stack", Columns((("layer",), ("head",)), (2, 3)), "scope", Own(_words, ("query", "step"))
)  # fmt: skip
HEAD_CONTROLS = ("reader", When("reader", ANOTHER, (*any_model.HEAD, "scope"), TRANSLATOR))
"""Sentence, head, and the words to look from and to watch; of another model the token to look from."""


AS_IT_IS: Colour = 7
SCALED: Colour = "accent"
