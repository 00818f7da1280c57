"""Scores a translator on held-out sentences, and measures where its encoder looks from a pronoun."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from ..data.grammar import Mention, Pair, counterpart
from ..data.grammar.pairs import held_out
from ..data.grammar.sentences import Direction
from ..data.tasks.sentence_pairs import grammar_row, make_batch, source_ids
from ..data.tasks.translation import Translation
from ..data.word_tokenizer import BOS, EOS, PRONOUNS, WordTokenizer
from ..engine.decoding import greedy
from ..engine.trace import Trace
from ..engine.transformer import Transformer
from ..zoo import load_model

Example = tuple[Pair, Direction]
_BATCH = 200


@dataclass(frozen=True)
class Look:
    """Attention from a pronoun to the noun it means and to the other one, and the noun the encoder names."""

    antecedent: Float[Tensor, "layer head"]
    rival: Float[Tensor, "layer head"]
    named_right: bool


def translations(
    model: Transformer, tokenizer: WordTokenizer, examples: Sequence[Example]
) -> list[list[int]]:
    """Greedy translations as word ids, without <bos> and <eos>, in the order of the examples."""
    order = sorted(range(len(examples)), key=lambda i: len(examples[i][0].source(examples[i][1])))
    written: dict[int, list[int]] = {}
    for start in range(0, len(order), _BATCH):
        chosen = order[start : start + _BATCH]
        batch = make_batch([grammar_row(tokenizer, *examples[i]) for i in chosen])
        source, target = batch.inputs
        prefix = torch.full((len(chosen), 1), BOS)
        room = target.shape[1] + 4
        output = greedy(model, prefix, source=source, eos_id=EOS, max_new_tokens=room)
        for i, row in zip(chosen, output[:, 1:].tolist(), strict=True):
            written[i] = row[: row.index(EOS)] if EOS in row else row
    return [written[i] for i in range(len(examples))]


@torch.no_grad()
def pronoun_view(
    model: Transformer, tokenizer: WordTokenizer, pair: Pair, direction: Direction, mention: Mention
) -> Look:
    """Reads one trace of the encoder. Positions are shifted by one for the first token, <2fr> or <2en>."""
    ids = source_ids(tokenizer, pair.source(direction), direction)
    trace = Trace(lambda address, tensor: tensor if address.endswith("self.pattern") else None)
    memory = model.encode(torch.tensor([ids]), trace=trace)
    layers = range(model.config.n_layers)
    # [layer, head, query, key]
    pattern = torch.stack([trace[f"encoder.{layer}.self.pattern"] for layer in layers])
    weights = pattern[:, :, mention.pronoun + 1]
    translation = model.unembed(memory[0, mention.pronoun + 1]).argmax()
    right = int(translation) == ids[mention.antecedent + 1]
    return Look(weights[..., mention.antecedent + 1], weights[..., mention.rival + 1], right)


def evaluate(model: Transformer, tokenizer: WordTokenizer, examples: Sequence[Example]) -> dict[str, Any]:
    """All measures as plain numbers; shares and attention weights go from 0 to 1.

    `translation`: the whole sentence is right; `pronoun`: its third-person pronouns are. `layers` reads the
    attention from the pronoun as the mean over the heads of each encoder layer, `layer` is the one that does
    best, and `head` the best single head. There `right` is the share of sentences where the antecedent gets
    more than the other noun, `weight` what it gets on average, and `flip` the share of sentences that are
    right and stay right when a changed adjective makes the other noun the antecedent.
    """
    translation, pronoun = translation_scores(model, tokenizer, examples)
    views, flips = _looks(model, tokenizer, examples)
    layers: list[dict[str, Any]] = [
        {"layer": layer, **_attention(views, flips, lambda weights, at=layer: weights[at].mean())}
        for layer in range(model.config.n_layers)
    ]
    heads: list[dict[str, Any]] = [
        {
            "layer": layer,
            "head": head,
            **_attention(views, flips, lambda weights, at=(layer, head): weights[at]),
        }
        for layer in range(model.config.n_layers)
        for head in range(model.config.n_heads)
    ]
    return {
        "sentences": len(examples),
        "pronouns": len(views),
        "flips": len(flips),
        "translation": translation,
        "pronoun": pronoun,
        "named": _share([each.named_right for each in views]),
        "layers": layers,
        "layer": max(layers, key=lambda layer: layer["weight"]),
        "head": max(heads, key=lambda head: head["weight"]),
    }


def translation_scores(
    model: Transformer, tokenizer: WordTokenizer, examples: Sequence[Example]
) -> tuple[dict[str, float], float]:
    written = translations(model, tokenizer, examples)
    targets = [[tokenizer.id(word) for word in pair.target(direction)] for pair, direction in examples]
    right = [a == b for a, b in zip(written, targets, strict=True)]
    pronouns = {tokenizer.id(word) for word in PRONOUNS if word in tokenizer}
    resolved = [
        [id_ for id_ in a if id_ in pronouns] == [id_ for id_ in b if id_ in pronouns]
        for a, b, (pair, _) in zip(written, targets, examples, strict=True)
        if pair.recipe
    ]
    directions = {
        way: _share([ok for ok, (_, direction) in zip(right, examples, strict=True) if direction == way])
        for way in ("en-fr", "fr-en")
    }
    return {"all": _share(right), **directions}, _share(resolved)


def _looks(
    model: Transformer, tokenizer: WordTokenizer, examples: Sequence[Example]
) -> tuple[list[Look], list[tuple[Look, Look]]]:
    """The looks from every pronoun with an antecedent, and those in a sentence and in its counterpart."""
    views, flips = [], []
    for pair, direction in examples:
        if (mention := pair.mention(direction)) is None:
            continue
        one = pronoun_view(model, tokenizer, pair, direction, mention)
        views.append(one)
        other = counterpart(pair)
        if other and (mention := other.mention(direction)):
            flips.append((one, pronoun_view(model, tokenizer, other, direction, mention)))
    return views, flips


def _attention(
    views: list[Look], both: list[tuple[Look, Look]], reading: Callable[[Tensor], Tensor]
) -> dict[str, float]:
    """reading: a function that reduces [layer, head] to one weight, a layer's mean or that of one head."""

    def right(each: Look) -> bool:
        return bool(reading(each.antecedent) > reading(each.rival))

    return {
        "right": _share([right(each) for each in views]),
        "weight": sum(reading(each.antecedent).item() for each in views) / max(1, len(views)),
        "flip": _share([right(one) and right(other) for one, other in both]),
    }


def _share(outcomes: list[bool]) -> float:
    return sum(outcomes) / len(outcomes) if outcomes else float("nan")


# The table


def score(source: str, sentences: int) -> str:
    """The table of a translator's measures on so many held-out sentences. source: its name, folder or file.

    Raises ValueError for a model that is no translator.
    """
    loaded = load_model(source)
    if not isinstance(loaded.task, Translation):
        raise ValueError(
            f"{source!r} is no translator of the grammar's sentences; its own card states its scores"
        )
    metrics = evaluate(loaded.model, loaded.task.words, held_out(sentences))
    return table(metrics, named=loaded.task.antecedent_weight > 0)


def table(metrics: dict[str, Any], *, named: bool = True) -> str:
    """The measures beside the values that they must reach, one per line; nothing is asked of the attention of
    a model that did not learn to name antecedents.
    """
    layer, head = metrics["layer"], metrics["head"]
    translation = metrics["translation"]
    in_layer = f"from the pronoun, mean over the heads of encoder layer {layer['layer']}"
    in_head = f"the best single head, {head['layer']}.{head['head']}"
    above, most = (">= 99%", ">= 40%") if named else ("", "")
    rows = [
        ("whole translation right", translation["all"], ">= 99%"),
        ("    English to French", translation["en-fr"], ""),
        ("    French to English", translation["fr-en"], ""),
        ("pronouns right in the translation", metrics["pronoun"], ">= 99.5%"),
        ("antecedent named by the encoder", metrics["named"], ""),
        (f"{in_layer}: antecedent above the other noun", layer["right"], above),
        ("    attention on the antecedent, mean", layer["weight"], most),
        ("    the deciding adjective changed: it flips", layer["flip"], above),
        (f"{in_head}: antecedent above the other noun", head["right"], ""),
        ("    attention on the antecedent, mean", head["weight"], ""),
        ("    the deciding adjective changed: it flips", head["flip"], ""),
    ]
    first = (
        f"{metrics['sentences']:,} held-out sentences, {metrics['pronouns']:,} with a pronoun to resolve, "
        f"{metrics['flips']:,} that a changed adjective turns round"
    )
    width = max(len(name) for name, _, _ in rows)
    lines = (f"{name:<{width}}  {value:8.2%}  {least}".rstrip() for name, value, least in rows)
    return "\n".join([first, *lines])
