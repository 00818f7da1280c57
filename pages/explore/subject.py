"""What Explore looks at: a model, its tokens and the run that fills a trace.

`Subject` is all that the payload and the take-away need to know; the functions below make one from the
page's inputs, of a model with a task the one in `trained`. Everything here runs on the inference thread,
because it imports torch.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

from pages.explore.state import Inputs, scale_of
from pages.shared import model_choice
from pages.shared.cache import cached, models, results, translator


@dataclass(frozen=True)
class Stack:
    """One family of attention matrices [layer, head, query, key] and whose tokens are on its axes."""

    id: str
    title: str
    n_layers: int
    n_heads: int
    d_head: int
    query_side: str
    key_side: str
    n_query: int
    n_key: int
    has_bias: bool = False  # whether positions add something to the scores


@dataclass(frozen=True)
class Subject:
    """A model about to read one text.

    names: of the logits' columns. following: what comes after each of a decoder's tokens; where one is
    missing, the model's likeliest. extras: for the stage as it is; concluded: the same, once there is a
    trace. focus: the step and the query to look at first. tool: what `try_it` offers with the model.
    """

    stacks: tuple[Stack, ...]
    tokens: dict[str, list[dict[str, Any]]]
    scale: float
    run: Callable[[Callable[[str, Any], Any] | None], Any]
    code: str
    names: tuple[str, ...]
    following: tuple[str | None, ...] = ()
    extras: dict[str, Any] = field(default_factory=dict)
    unknown: list[dict[str, Any]] = field(default_factory=list)
    antecedents: Callable[[Any], list[dict[str, Any]] | None] = lambda trace: None
    concluded: Callable[[Any], dict[str, Any]] = lambda trace: {}
    focus: dict[str, int] = field(default_factory=dict)
    tool: str = ""


STACK_TITLES = {"encoder.self": "Encoder self", "decoder.self": "Decoder self", "decoder.cross": "Cross"}
STACK_SIDES = {
    "encoder.self": ("encoder", "encoder"),
    "decoder.self": ("decoder", "decoder"),
    "decoder.cross": ("decoder", "encoder"),
}
PRONOUNS = ("ils", "elles", "il", "elle", "they", "it")


def subject_of(inputs: Inputs) -> Subject:
    """The subject that `inputs` describe; ValueError with a sentence where they cannot be met."""
    if model_choice.is_trained(inputs.model):
        from pages.explore.trained import trained_subject

        return trained_subject(inputs)
    if not inputs.text.strip():
        raise ValueError("The sentence is empty; type at least one word, or choose an example.")
    return _untrained(inputs) if inputs.model == model_choice.UNTRAINED else _translator(inputs)


def _untrained(inputs: Inputs) -> Subject:
    from models import ModelConfig, UntrainedModel
    from models.engine.positions import has_bias, turns

    words = inputs.text.split()
    if len(words) > model_choice.MAX_UNTRAINED_TOKENS:
        raise ValueError(
            f"The text has {len(words):,} words; the untrained model reads at most "
            f"{model_choice.MAX_UNTRAINED_TOKENS:,}; "
            f"remove {len(words) - model_choice.MAX_UNTRAINED_TOKENS:,}."
        )
    config = ModelConfig(
        kind="encoder-only",
        n_layers=inputs.n_layers,
        n_heads=inputs.n_heads,
        d_model=inputs.d_model,
        d_head=inputs.d_head or None,
        vocab_size=model_choice.MAX_UNTRAINED_TOKENS + 1,
        max_len=model_choice.MAX_UNTRAINED_TOKENS + UntrainedModel.PADDING,
        positions=inputs.positions,
        attention_scale=scale_of(inputs.attention_scale),
        norm=cast(Any, inputs.norm),
    )
    model = cached(models, (config, inputs.seed), lambda: _sized(UntrainedModel(config, seed=inputs.seed)))
    tokens = model.tokens(inputs.text, mask=inputs.mask)
    stack = Stack(
        "encoder.self", "Self-attention", config.n_layers, config.n_heads, config.head_size,
        "encoder", "encoder", len(tokens), len(tokens), has_bias(config.positions),
    )  # fmt: skip
    arguments = ", ".join(
        f"{name}={value!r}"
        for name, value in {
            "kind": config.kind, "n_layers": config.n_layers, "n_heads": config.n_heads,
            "d_model": config.d_model, "d_head": config.d_head, "vocab_size": config.vocab_size,
            "max_len": config.max_len, "positions": config.positions,
            "attention_scale": config.attention_scale, "norm": config.norm,
        }.items()
    )  # fmt: skip
    mask = f"mask={inputs.mask!r}" + (f", mask_arg={inputs.mask_arg!r}" if inputs.mask_arg else "")
    code = (
        "from models import ModelConfig, UntrainedModel\n"
        f"model = UntrainedModel(ModelConfig({arguments}), seed={inputs.seed})\n"
        f"trace = model.trace({inputs.text!r}, {mask})"
    )
    return Subject(
        stacks=(stack,),
        tokens={"encoder": [{"text": token} for token in tokens]},
        scale=config.scale,
        run=lambda reduce: model.trace(
            inputs.text, mask=inputs.mask, mask_arg=inputs.mask_arg, reduce=reduce
        ),
        code=code,
        names=model.names(inputs.text),
        extras={
            "turned": turns(config.positions),
            "stepNote": "Random weights: a softmax over the different words of this text, for its first 128.",
        },
    )


def _sized(model: Any) -> tuple[Any, int]:
    return model, 4 * model.n_parameters


def _translator(inputs: Inputs) -> Subject:
    lm = translator()
    source = lm.encode_source(inputs.text, direction=inputs.direction)
    forced = inputs.target if inputs.target.strip() else ""
    target = forced or _decoded(lm, inputs)
    written = lm.decoder_tokens(target)
    counts = {"encoder": len(source.tokens) + inputs.padding, "decoder": len(written.tokens)}
    padding = f", padding={inputs.padding}" if inputs.padding else ""
    return Subject(
        stacks=tuple(stack_of(name, lm.config, counts) for name in STACK_SIDES),
        tokens={
            "encoder": _marked(source) + [{"text": "<pad>", "mark": "special"}] * inputs.padding,
            "decoder": _marked(written),
        },
        scale=lm.config.scale,
        run=lambda reduce: lm.trace(
            inputs.text, target, direction=inputs.direction, padding=inputs.padding, reduce=reduce
        ),
        code=(
            "from models import load_model\n"
            'lm = load_model("translator")\n'
            f"trace = lm.trace({inputs.text!r}, {target!r}, direction={inputs.direction!r}{padding})"
        ),
        names=tuple(lm.tokenizer.vocabulary),
        following=(*written.tokens[1:], "<eos>"),
        extras={
            "translation": _sentence(target),
            "typed": bool(forced),
            "stepNote": f"The vocabulary has {len(lm.tokenizer):,} words; these are the most probable.",
        },
        unknown=_unknown("text", source) + (_unknown("target", written) if forced else []),
        antecedents=lambda trace: [named._asdict() for named in lm.antecedents(trace)],
    )


def stack_of(name: str, config: Any, counts: dict[str, int]) -> Stack:
    """The stack of a model that reads so many tokens a side."""
    from models.engine.positions import has_bias

    query, key = STACK_SIDES[name]
    return Stack(
        name, STACK_TITLES[name], config.n_layers, config.n_heads, config.head_size,
        query, key, counts[query], counts[key], has_bias(config.positions) and query == key,
    )  # fmt: skip


def _decoded(lm: Any, inputs: Inputs) -> str:
    """The model's own translation, remembered by what it depends on."""

    def translate() -> tuple[str, int]:
        text: str = lm.translate(inputs.text, beam_width=inputs.beam, direction=inputs.direction).text
        return text, len(text) + len(inputs.text) + 500

    return str(cached(results, ("decoded", inputs.text, inputs.direction, inputs.beam), translate))


def _marked(encoded: Any) -> list[dict[str, str]]:
    """Tokens for the screen; unknown and special ones say so. A special one spans none of the text."""
    unknown = {(word.start, word.end) for word in encoded.unknown}
    marked = []
    for token, span in zip(encoded.tokens, encoded.spans, strict=True):
        mark = "unknown" if span in unknown else "special" if span[0] == span[1] else None
        marked.append({"text": token, "mark": mark} if mark else {"text": token})
    return marked


def _unknown(where: str, encoded: Any) -> list[dict[str, Any]]:
    """The first few different words that the model does not know, with the nearest ones that it does."""
    first = {word.text: word for word in reversed(encoded.unknown)}
    return [
        {
            "where": where,
            "word": word.text[:40],
            "start": word.start,
            "end": word.end,
            "suggestions": word.suggestions,
        }
        for word in sorted(first.values(), key=lambda word: word.start)[:3]
    ]


def _sentence(text: str) -> list[dict[str, Any]]:
    """The translation in parts, so that its pronouns can stand out."""
    parts = re.split(rf"\b({'|'.join(PRONOUNS)})\b", text)
    return [{"text": part, "strong": part in PRONOUNS} for part in parts if part]
