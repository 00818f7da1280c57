"""A trained head, colder and hotter: its scores divided by T, and what the translator then writes."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from models.data.tokenizers import BOS, EOS, TO_FRENCH
from models.engine.attention import MultiHeadAttention
from models.engine.decoding import greedy
from models.engine.trace import Trace
from models.engine.transformer import Transformer
from models.lessons.softmax.weights import Softmax, softmax
from models.zoo.loaded import LoadedModel

TEMPERATURES = 50 ** (torch.arange(-20, 21) / 20)
"""From 1 / 50 to 50, with 1, the trained model, in the middle."""
MAX_WORDS = 24
N_SHOWN = 6
MODULES = {
    "encoder.self": ("encoder", "self_attention"),
    "decoder.self": ("decoder", "self_attention"),
    "decoder.cross": ("decoder", "cross_attention"),
}


@dataclass(frozen=True)
class Place:
    """An attention of the translator, and the heads whose scores are divided."""

    stack: str
    layer: int
    heads: tuple[int, ...]


@dataclass(frozen=True)
class Output:
    """The next word after `before`, and the whole translation, at each temperature."""

    before: list[str]
    words: list[str]
    """The likeliest ones at any temperature."""
    probabilities: Float[Tensor, "temperature word"]
    translations: list[str]


def row(
    trace: Trace,
    place: Place,
    *,
    head: int,
    query: int,
    temperatures: Float[Tensor, " temperature"] = TEMPERATURES,
) -> Softmax:
    """softmax(scores / T) of one query in one of the place's heads, [temperature, key].

    What these heads read does not depend on their own temperature: the scores of the trace are right for all.
    Raises ValueError for a query that is not there.
    """
    stack, kind = place.stack.split(".")
    scores = trace[f"{stack}.{place.layer}.{kind}.scores"][head]  # [query, key]
    _check_index("query", query, len(scores))
    return softmax(scores[query].double() / temperatures[:, None])


@torch.no_grad()
def output(
    lm: LoadedModel,
    trace: Trace,
    place: Place,
    step: int,
    temperatures: Float[Tensor, " temperature"] = TEMPERATURES,
) -> Output:
    """What the translator writes with these heads at each temperature.

    The next word is the one after the first `step` words of the trace's own translation, so that the
    temperatures differ in nothing else. Raises ValueError for texts of more than 24 words, and for a place
    or step that is not there.
    """
    n_words, n_rows = len(trace.tokens["encoder"]) - 2, len(temperatures)  # without <2fr> and <eos>
    if n_words > MAX_WORDS:
        raise ValueError(
            f"the text has {n_words} words; as it runs at {n_rows} temperatures here, it may have "
            f"{MAX_WORDS}; remove {n_words - MAX_WORDS}"
        )
    source = _ids(lm, trace.tokens["encoder"]).expand(n_rows, -1)
    target = _ids(lm, trace.tokens["decoder"]).expand(n_rows, -1)  # <bos> and the translation
    _check_index("step", step, target.shape[1])
    model = heated(lm.model, place, temperatures)
    logits = model.decode(target[:, : step + 1], model.encode(source), source)[:, -1]
    probabilities = logits.softmax(dim=-1)  # [temperature, vocab]
    shown = probabilities.amax(dim=0).topk(N_SHOWN).indices
    return Output(
        trace.tokens["decoder"][1 : step + 1],
        [lm.tokenizer.vocabulary[int(word)] for word in shown],
        probabilities[:, shown],
        _translate(lm, model, source, room=2 * target.shape[1]),
    )


def heated(model: Transformer, place: Place, temperatures: Float[Tensor, " row"]) -> Transformer:
    """A copy of the model that divides, in row i of a batch, the scores of these heads by temperatures[i].

    It divides the queries: q . k is linear in q, so (q / T) . k is the same. A copy, since other threads may
    be using the model. Raises ValueError for a place that is not there.
    """
    if place.stack not in MODULES:
        raise ValueError(f"stack={place.stack!r} is unknown; choose one of {', '.join(MODULES)}")
    _check_index("layer", place.layer, model.config.n_layers)
    for head in place.heads:
        _check_index("head", head, model.config.n_heads)
    model = deepcopy(model)
    stack, kind = MODULES[place.stack]
    attention: MultiHeadAttention = getattr(getattr(model, stack).layers[place.layer], kind)
    divisor = torch.ones(len(temperatures), 1, attention.n_heads, 1)  # [row, query, head, d_head]
    divisor[:, 0, list(place.heads), 0] = temperatures[:, None]

    def divide(module: nn.Module, inputs: tuple[Tensor, ...], q: Tensor) -> Tensor:
        return (q.unflatten(-1, (attention.n_heads, -1)) / divisor).flatten(2)  # [row, query, head * d_head]

    attention.q_proj.register_forward_hook(divide)
    return model


def _ids(lm: LoadedModel, tokens: list[str]) -> Int[Tensor, "1 token"]:
    return torch.tensor([[lm.tokenizer.id(token) for token in tokens]])


def _translate(
    lm: LoadedModel, model: Transformer, source: Int[Tensor, "row token"], *, room: int
) -> list[str]:
    """Each row's own greedy translation; one that found no end in `room` words ends with an ellipsis."""
    language = "fr" if source[0, 0] == TO_FRENCH else "en"
    begin = torch.full((len(source), 1), BOS)
    written = greedy(model, begin, source=source, eos_id=EOS, max_new_tokens=room).tolist()
    return [lm.tokenizer.decode(ids, language=language) + " …" * (EOS not in ids) for ids in written]


def _check_index(name: str, value: int, count: int) -> None:
    if not 0 <= value < count:
        raise ValueError(f"{name}={value} is not there; give one from 0 to {count - 1}")
