"""A trained head, colder and hotter: its scores divided by T, and what the translator then writes."""

from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from attention_lab.models.data.tasks import Reading
from attention_lab.models.data.word_tokenizer import BOS, EOS, PRONOUNS, TO_FRENCH
from attention_lab.models.engine.address import attention_at
from attention_lab.models.engine.attention import MultiHeadAttention
from attention_lab.models.engine.decoding import greedy
from attention_lab.models.engine.trace import Trace
from attention_lab.models.engine.transformer import Transformer
from attention_lab.models.zoo.model import Model
from attention_lab.pages.lab import any_model
from attention_lab.pages.lab.any_model import ANOTHER, Translator
from attention_lab.pages.lab.lesson import Answer, Lesson, part
from attention_lab.pages.lab.softmax.inputs import (
    HEAD_CONTROLS,
    PRONOUN,
    STACKS,
    TEXT,
    Inputs,
    Softmax,
    softmax,
    trace_of,
)
from attention_lab.pages.shared import cache, on_offer
from attention_lab.pages.shared.phrases import distinct, plain
from attention_lab.viz_core.boards import Bars, Curves, Line, Panel, Scrub
from attention_lab.viz_core.labels import visible

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
class HeadGroup:
    """An attention of the translator, and the heads whose scores are divided."""

    stack: str
    layer: int
    heads: tuple[int, ...]

    @property
    def address(self) -> str:
        """Of the attention, in a trace."""
        return attention_at(self.stack, self.layer)


@dataclass(frozen=True)
class Answers:
    """What a model answers at one position, at each temperature: its likeliest outputs at any of them."""

    words: list[str]
    probabilities: Float[Tensor, "temperature word"]


@dataclass(frozen=True)
class Output(Answers):
    """The next word after `before`, and the whole translation at each temperature."""

    before: list[str]
    translations: list[str]


def row_of(
    trace: Trace,
    address: str,
    *,
    head: int,
    query: int,
    temperatures: Float[Tensor, " temperature"] = TEMPERATURES,
) -> Softmax:
    """softmax(scores / T) of one query in one head of an attention, [temperature, key].

    What a head reads does not depend on its own temperature: the scores of the trace are right for all.
    Raises ValueError for a query that is not there.
    """
    scores = trace[f"{address}.scores"][head]  # [query, key]
    _check_index("query", query, len(scores))
    return softmax(scores[query].double() / temperatures[:, None])


@torch.no_grad()
def output(
    lm: Translator,
    trace: Trace,
    place: HeadGroup,
    step: int,
    temperatures: Float[Tensor, " temperature"] = TEMPERATURES,
) -> Output:
    """What the translator writes with these heads at each temperature.

    The next word is the one after the first `step` words of the trace's own translation, so that the
    temperatures differ in nothing else. Raises ValueError for texts of more than 24 words, and for a step
    that is not there.
    """
    n_words = len(trace.tokens["encoder"]) - 2  # without <2fr> and <eos>
    if n_words > MAX_WORDS:
        raise ValueError(
            f"the text has {n_words} words; at {len(temperatures)} temperatures it may have {MAX_WORDS}; "
            f"remove {n_words - MAX_WORDS}"
        )
    source, target = (
        torch.tensor([[lm.task.words.id(token) for token in trace.tokens[side]]])  # [1, token]
        for side in ("encoder", "decoder")
    )
    _check_index("step", step, target.shape[1])
    model, sources = heated(lm.model, place, temperatures), source.expand(len(temperatures), -1)
    logits = model.decode(target.expand(len(temperatures), -1), model.encode(sources), sources)
    probabilities = logits[:, step].softmax(dim=-1)  # [temperature, vocab]
    likeliest = probabilities.amax(dim=0).topk(N_SHOWN).indices
    return Output(
        [lm.task.words.vocabulary[int(word)] for word in likeliest],
        probabilities[:, likeliest],
        trace.tokens["decoder"][1 : step + 1],
        _translations(lm, place, source, [*target[0, 1:].tolist(), EOS], logits.argmax(dim=-1), temperatures),
    )


def pronoun(tokens: list[str]) -> int:
    """The position of the first third-person pronoun; the first word's, 1, if there is none."""
    return next((at for at, token in enumerate(tokens) if token in PRONOUNS), 1)


def heated(model: Transformer, place: HeadGroup, temperatures: Float[Tensor, " row"]) -> Transformer:
    """A copy of the model that divides, in row i of a batch, the scores of these heads by temperatures[i].

    It divides the queries: q . k is linear in q, so (q / T) . k is the same. A copy, since other threads may
    be using the model.
    """
    model = deepcopy(model)
    stack, kind = MODULES[place.stack]
    attention: MultiHeadAttention = getattr(getattr(model, stack).layers[place.layer], kind)
    divisor = torch.ones(len(temperatures), 1, attention.n_heads, 1)  # [row, query, head, d_head]
    divisor[:, 0, list(place.heads), 0] = temperatures[:, None]

    def divide(module: nn.Module, inputs: tuple[Tensor, ...], q: Tensor) -> Tensor:
        return (q.unflatten(-1, (attention.n_heads, -1)) / divisor).flatten(2)  # [row, query, head * d_head]

    attention.q_proj.register_forward_hook(divide)
    return model


def _translations(
    lm: Translator,
    place: HeadGroup,
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
    ids = [own if stays_own else next(written) for stays_own in stays.tolist()]
    # An ellipsis stands where the sentence has not ended.
    return [lm.task.words.decode(each, language=language) + " …" * (EOS not in each) for each in ids]


def _check_index(name: str, value: int, count: int) -> None:
    if not 0 <= value < count:
        raise ValueError(f"{name}={value} is not there; give one from 0 to {count - 1}")


def answers(
    model: Model,
    reading: Reading,
    address: str,
    *,
    heads: list[int],
    at: int,
    temperatures: Tensor = TEMPERATURES,
) -> Answers:
    """The probabilities of the outputs at a position while the scores of these heads are divided by T.

    The model reads the text once for each temperature, the scores of one attention edited on the way.
    Raises ValueError for a model whose outputs have no names, and where its scores cannot be edited.
    """
    names = model.names(reading)
    if not names:
        raise ValueError(f"the outputs of {model.name!r} have no names; choose a model of words or classes")
    rows = torch.stack(
        [_answer(model, reading, f"{address}.scores", heads, t, at) for t in temperatures.tolist()]
    )
    likely = rows[:, : len(names)].softmax(dim=-1)
    likeliest = likely.amax(dim=0).topk(min(N_SHOWN, len(names))).indices
    return Answers([names[int(word)] for word in likeliest], likely[:, likeliest])


def _answer(
    model: Model, reading: Reading, scores: str, heads: list[int], temperature: float, at: int
) -> Float[Tensor, " output"]:
    """The logits at a position, with the scores of these heads at a temperature."""

    def heated(address: str, value: Tensor) -> Tensor:
        if address != scores or temperature == 1:
            return value
        changed = value.clone()
        changed[heads] /= temperature
        return changed

    trace = model.trace(
        reading, reduce=lambda address, value: value if address == "logits" else None, edit=heated
    )
    logits: Tensor = trace["logits"]
    return logits[min(at, len(logits) - 1)].double()


MOST_TOKENS = 64
N_LINES = 3


def lesson_of_another(inputs: Inputs) -> Lesson:
    read = any_model.read(inputs, most=MOST_TOKENS, passes=len(TEMPERATURES))
    if read.attention.normalizer != "softmax":
        raise ValueError(
            f"{on_offer.title(inputs.other)} makes weights by {read.attention.normalizer!r}; "
            "choose a model with softmax."
        )
    query, address = any_model.position(inputs, read), read.at(inputs.other_layer)
    heads = [inputs.other_head] if inputs.scope == "head" else list(range(read.attention.n_heads))
    trace = read.model.trace(
        read.reading, reduce=lambda a, value: value if a == f"{address}.scores" else None
    )
    row = row_of(trace, address, head=inputs.other_head, query=query)
    # The row of the logits that is watched is the query's own, or the last where these are other tokens'.
    last = list(read.reading.tokens)[-1]
    at = query if read.side == last else len(read.reading.tokens[last]) - 1
    answered = answers(read.model, read.reading, address, heads=heads, at=at)
    answered = replace(answered, words=[visible(word) for word in answered.words])
    keys = distinct([visible(key) for key in read.keys])
    distinct_answers = replace(answered, words=distinct(answered.words))
    return Lesson(
        variant="another",
        numbers={
            "heads": f"head {inputs.other_head}" if len(heads) == 1 else "all heads",
            "layer": inputs.other_layer,
            "title": plain(on_offer.title(inputs.other)),
            "head": inputs.other_head,
            "where": "" if read.model.pooled else " there, or at the last token that it writes",
        },
        rows=_rows(
            row, keys, visible(read.queries[query]), inputs.other_head, distinct_answers,
            "what the model answers",
        ),
        notice=[_notice(row, answered, keys, at) for at in range(len(TEMPERATURES))],
        scrub=_scrub(),
        sizes=rf"d_k = {read.attention.d_head}",
        axes={
            "temperature": len(TEMPERATURES), "key": len(keys),
            "output": len(read.model.names(read.reading)),
        },
        code=(row_of, softmax, answers),
    )  # fmt: skip


def _rows(
    row: Softmax, keys: list[str], word: str, head: int, answered: Answers, title: str
) -> list[list[Panel]]:
    """What a head looks at from a word, how evenly, and what the model answers; title: of the answers."""
    x, probabilities = TEMPERATURES.numpy(), answered.probabilities.numpy()
    over_t: dict[str, Any] = {"x": x, "at": x, "x_label": "temperature T", "log_x": True}
    words = answered.words[:N_LINES]
    likeliest = [Line(probabilities[:, at], f"“{word}”", at + 4) for at, word in enumerate(words)]
    return [
        [
            Bars(
                values=row.weights.numpy(), labels=keys, title=f"weights of “{word}” in head {head}",
                x_label="key", y_label="weight", colour=head, reach=1, axis="key",
            )
        ],
        [
            Curves(
                lines=[Line(row.entropy.numpy(), "entropy", head)], title="entropy of these weights",
                y_label="nats", **over_t,
            ),
            Bars(
                values=probabilities, labels=answered.words, axis="word", title=title,
                y_label="probability", reach=1,
            ),
            Curves(
                lines=likeliest, title="probability of the likeliest", y_label="probability", y_range=(0, 1),
                **over_t,
            ),
        ],
    ]  # fmt: skip


def _scrub(d_k: int | None = None) -> Scrub:
    """d_k: of a model whose scale is 1 / sqrt(d_k), which a temperature can take away again."""
    taken = d_k and d_k**-0.5
    words = [
        f"{t:.3g}{' (as trained)' if t == 1 else ' (without 1/√d_k)' if t == taken else ''}"
        for t in TEMPERATURES.tolist()
    ]
    return Scrub("temperature", "temperature T", TEMPERATURES.numpy(), words)


def _notice(row: Softmax, answered: Answers, keys: list[str], at: int) -> str:
    best = int(answered.probabilities[at].argmax())
    return (
        f"The largest weight, **{row.largest[at]:.2f}**, is on “{keys[int(row.weights[at].argmax())]}”; the "
        f"likeliest answer is “{answered.words[best]}” (**{answered.probabilities[at, best]:.2f}**)."
    )


def lesson(inputs: Inputs) -> Lesson:
    if inputs.reader == ANOTHER:
        return lesson_of_another(inputs)
    lm, trace = cache.translator(), trace_of(inputs.text)
    heads = (inputs.head,) if inputs.scope == "head" else tuple(range(lm.config.n_heads))
    place = HeadGroup(inputs.stack, inputs.layer, heads)
    # The decoder's row that predicts a word is that of the word before it.
    step = pronoun(trace.tokens["decoder"]) - 1 if inputs.step == PRONOUN else inputs.step
    query = pronoun(trace.tokens["encoder"]) if inputs.query == PRONOUN else inputs.query
    query = query if inputs.stack == "encoder.self" else step
    written = output(lm, trace, place, step)
    row = row_of(trace, place.address, head=inputs.head, query=query)
    keys = distinct(trace.tokens["decoder" if inputs.stack == "decoder.self" else "encoder"])
    word = trace.tokens[inputs.stack.split(".")[0]][query]
    title = f"next word after “… {' '.join(written.before[-3:]) or '<bos>'}”"
    return Lesson(
        variant="translator",
        numbers={
            "heads": f"head {inputs.head}" if len(heads) == 1 else "all heads",
            "stack": STACKS[inputs.stack].lower(),
            "layer": inputs.layer,
            "head": inputs.head,
        },
        rows=_rows(row, keys, word, inputs.head, written, title),
        notice=[
            f"“{keys[int(row.weights[at].argmax())]}” gets most, **{row.largest[at]:.2f}**. The "
            f"translator writes: **{text}**"
            for at, text in enumerate(written.translations)
        ],
        scrub=_scrub(lm.config.head_size),
        sizes=rf"d_k = {lm.config.head_size},\; \sqrt{{d_k}} = {lm.config.head_size**0.5:g}",
        axes={"temperature": len(TEMPERATURES), "key": len(keys), "vocabulary": len(lm.task.words)},
        code=(row_of, softmax, heated, output),
    )


def questions() -> tuple[Answer, ...]:
    lm, trace = cache.translator(), trace_of(TEXT)
    step = pronoun(trace.tokens["decoder"]) - 1
    it = pronoun(trace.tokens["encoder"])
    one, layer, cross = (
        output(lm, trace, HeadGroup(stack, 1, heads), step)
        for stack, heads in (
            ("encoder.self", (3,)), ("encoder.self", (0, 1, 2, 3)), ("decoder.cross", (0, 1, 2, 3)),
        )
    )  # fmt: skip
    row = row_of(trace, "encoder.1.self", head=3, query=it)
    coldest = trace.tokens["encoder"][int(row.weights[0].argmax())]
    p_one, p_layer = (answer.probabilities[-1, answer.words.index("elle")].item() for answer in (one, layer))
    return (
        Answer.of(0 if p_one > 0.5 else 1, p_one=p_one, p_layer=p_layer, sentence=layer.translations[-1]),
        Answer.of(
            1 if row.largest[0] > 0.99 else 0,
            coldest=coldest,
            row=row,
            n_keys=len(row.weights[0]),
            hottest=row.largest[-1],
        ),
        Answer.of(
            1 if cross.translations[-1] != cross.translations[len(cross.translations) // 2] else 0,
            sentence=cross.translations[-1],
        ),
    )


PART = part(__name__, HEAD_CONTROLS, lesson, questions, scrub="temperature")
