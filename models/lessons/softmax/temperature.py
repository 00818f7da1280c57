"""A trained head, colder and hotter: its scores divided by T, and what the translator then writes."""

from copy import deepcopy
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from models.data.word_tokenizer import BOS, EOS, PRONOUNS, TO_FRENCH
from models.engine.attention import MultiHeadAttention
from models.engine.decoding import greedy
from models.engine.trace import Trace
from models.engine.transformer import Transformer
from models.lessons.softmax.weights import Softmax, softmax
from models.zoo.engine_model import Translator

TEMPERATURES = 50 ** (torch.arange(-20, 21) / 20)
"""They run from 1 / 50 to 50; 1, the trained model, is in the middle, and 1 / 4 is among them."""
UNSCALED = 13
"""The place of 1 / 4: the translator's heads have 16 channels, so this takes 1 / sqrt(d_k) away again."""
TEMPERATURES[UNSCALED] = 1 / 4
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
    lm: Translator,
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
    n_words = len(trace.tokens["encoder"]) - 2  # without <2fr> and <eos>
    if n_words > MAX_WORDS:
        raise ValueError(
            f"the text has {n_words} words; as it runs at {len(temperatures)} temperatures here, it may have "
            f"{MAX_WORDS}; remove {n_words - MAX_WORDS}"
        )
    source, target = _ids(lm, trace.tokens["encoder"]), _ids(lm, trace.tokens["decoder"])
    _check_index("step", step, target.shape[1])
    logits = _logits(heated(lm.model, place, temperatures), source, target, n_rows=len(temperatures))
    probabilities = logits[:, step].softmax(dim=-1)  # [temperature, vocab]
    shown = probabilities.amax(dim=0).topk(N_SHOWN).indices
    return Output(
        trace.tokens["decoder"][1 : step + 1],
        [lm.task.words.vocabulary[int(word)] for word in shown],
        probabilities[:, shown],
        _translations(lm, place, source, [*target[0, 1:].tolist(), EOS], logits.argmax(dim=-1), temperatures),
    )


def pronoun(tokens: list[str]) -> int:
    """The position of the first third-person pronoun; the first word's, 1, if there is none."""
    return next((at for at, token in enumerate(tokens) if token in PRONOUNS), 1)


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


def _ids(lm: Translator, tokens: list[str]) -> Int[Tensor, "1 token"]:
    return torch.tensor([[lm.task.words.id(token) for token in tokens]])


def _logits(
    model: Transformer, source: Int[Tensor, "1 source"], target: Int[Tensor, "1 target"], *, n_rows: int
) -> Float[Tensor, "row target vocab"]:
    source = source.expand(n_rows, -1)
    return model.decode(target.expand(n_rows, -1), model.encode(source), source)


def _translations(
    lm: Translator,
    place: Place,
    source: Int[Tensor, "1 source"],
    own: list[int],
    likeliest: Int[Tensor, "temperature target"],
    temperatures: Float[Tensor, " temperature"],
) -> list[str]:
    """The greedy translation at each temperature, of at most twice the source's tokens.

    Where the trained model's own words stay the likeliest at every step, it is the same; others are written.
    """
    stays = (likeliest == torch.tensor(own)).all(dim=-1)
    changed = temperatures[~stays]
    model, begin = heated(lm.model, place, changed), torch.full((len(changed), 1), BOS)
    sources, room = source.expand(len(changed), -1), 2 * source.shape[1]
    rows = greedy(model, begin, source=sources, eos_id=EOS, max_new_tokens=room) if len(changed) else begin
    written = iter(rows.tolist())
    language = "fr" if source[0, 0] == TO_FRENCH else "en"
    return [_text(lm, own if kept else next(written), language) for kept in stays.tolist()]


def _text(lm: Translator, ids: list[int], language: str) -> str:
    """Words as text, with an ellipsis where the sentence has not ended."""
    return lm.task.words.decode(ids, language=language) + " …" * (EOS not in ids)


def _check_index(name: str, value: int, count: int) -> None:
    if not 0 <= value < count:
        raise ValueError(f"{name}={value} is not there; give one from 0 to {count - 1}")
