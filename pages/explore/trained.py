"""What Explore looks at when a model with a task of its own reads a text, a question or a picture."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, cast

from models.data.tasks import Reading, Task
from models.engine.positions import turns
from models.zoo.trained import TrainedModel
from pages.explore.state import Inputs
from pages.explore.subject import STACK_SIDES, Stack, Subject, stack_of
from pages.shared import cache, model_choice
from viz_core.labels import visible

MAX_TOKENS = 1_024
MAX_LABEL = 40
MASK = "[MASK]"
_SPECIAL = re.compile(r"\[[A-Z]+\]|<\w+>")
_POOLED = {"mean": "The mean of all positions is read as", "first": "The first position is read as"}


def trained_subject(inputs: Inputs) -> Subject:
    """The subject of a shipped model or of a run; ValueError with a sentence for what it cannot read."""
    lm = cache.trained(inputs.model)
    reading, answer = lm.answered(inputs.text)
    counts = {side: len(tokens) for side, tokens in reading.tokens.items()}
    if max(counts.values()) > MAX_TOKENS:
        raise ValueError(
            f"The text has {max(counts.values()):,} tokens; at most {MAX_TOKENS:,} are shown; shorten it."
        )
    return Subject(
        stacks=_stacks(lm, counts),
        tokens={side: _marked(tokens) for side, tokens in reading.tokens.items()},
        scale=lm.config.scale,
        run=lambda reduce: lm.trace_of(reading, reduce=reduce),
        code=_code(inputs),
        names=_names(lm, inputs),
        following=_following(lm, reading),
        extras=_extras(lm, answer),
        unknown=[{"word": word[:40], "suggestions": []} for word in dict.fromkeys(reading.unknown)][:3],
        concluded=lambda trace: _concluded(lm, reading, trace),
        focus=_focus(reading),
        tool=_tool(lm),
    )


def _stacks(lm: TrainedModel, counts: dict[str, int]) -> tuple[Stack, ...]:
    has_cross = lm.config.kind == "encoder-decoder"
    names = [name for name, sides in STACK_SIDES.items() if set(sides) <= counts.keys()]
    if has_cross:
        return tuple(stack_of(name, lm.config, counts) for name in names)
    return (replace(stack_of(names[0], lm.config, counts), title="Self-attention"),)


def _marked(tokens: list[str]) -> list[dict[str, str]]:
    """Tokens for the screen, their blanks visible; `raw` is what a file gets where that differs."""
    marked = []
    for token in tokens:
        said = {"text": visible(token, max_length=MAX_LABEL)}
        if said["text"] != token:
            said["raw"] = token
        marked.append(said | ({"mark": "special"} if _SPECIAL.fullmatch(token) else {}))
    return marked


def _names(lm: TrainedModel, inputs: Inputs) -> tuple[str, ...]:
    """The outputs' names for the screen."""

    def make() -> tuple[tuple[str, ...], int]:
        names = tuple(visible(name, max_length=MAX_LABEL) for name in lm.outputs)
        return names, 60 * len(names) + 100

    key = ("names", inputs.model, model_choice.stamp_of(inputs.model))
    return cast("tuple[str, ...]", cache.cached(cache.results, key, make))


def _code(inputs: Inputs) -> str:
    """The lines that give the same trace in a notebook."""
    run = model_choice.RUN.fullmatch(inputs.model)
    if run:
        load = f"from models.zoo.run_folders import runs_root\nlm = load_model(runs_root() / {run[1]!r})\n"
    else:
        load = f"lm = load_model({inputs.model!r})\n"
    return f"from models import load_model\n{load}trace = lm.trace({inputs.text!r})"


def _answers(lm: TrainedModel) -> bool:
    """Whether its task ends in an answer, which the model writes itself."""
    return type(lm.task).answered is not Task.answered


def _following(lm: TrainedModel, reading: Reading) -> tuple[str | None, ...]:
    """What stands after each token of a decoder; after an answer, the model's last word follows."""
    following = [visible(token, max_length=MAX_LABEL) for token in reading.tokens.get("decoder", [])[1:]]
    return (*following,) if _answers(lm) else (*following, None)


def _tool(lm: TrainedModel) -> str:
    """Words can be masked where the model knows the mask, and a text be continued where it has no answer."""
    if MASK in lm.outputs:
        return "mask"
    return "continue" if lm.config.kind == "decoder-only" and not _answers(lm) else ""


def _extras(lm: TrainedModel, answer: str) -> dict[str, Any]:
    pooled = _POOLED.get(lm.config.pooling)
    extras: dict[str, Any] = {
        "turned": turns(lm.config.positions),
        "see": lm.task.see,
        "stepNote": f"There are {len(lm.outputs):,} outputs; these are the most probable.",
        "captions": {"output": "The last linear layer and the softmax: how probable each output is."},
    }
    if pooled:
        extras["pooled"] = pooled
    if answer:
        extras["translation"] = [{"text": answer, "strong": False}]
    return extras


def _concluded(lm: TrainedModel, reading: Reading, trace: Any) -> dict[str, Any]:
    """The picture that was read, which position read each of its pixels, and what the model made of it."""
    if reading.picture is None:
        return {}
    pictures = [("read", reading.picture)]
    rebuilt = lm.task.rebuilt(trace["logits"][None])
    if rebuilt is not None:
        pictures.append(("rebuilt", rebuilt[0]))
    levels = [(title, (255 * picture.clamp(0, 1)).round().int().tolist()) for title, picture in pictures]
    places = lm.task.places()
    read_by = {} if places is None else {"places": places.tolist()}
    return {"pictures": [{"title": title, "levels": rows} for title, rows in levels], **read_by}


def _focus(reading: Reading) -> dict[str, int]:
    """The first word that is masked: what the model thinks of it is what one wants to see."""
    tokens = reading.tokens.get("encoder", [])
    return {"query": tokens.index(MASK), "step": tokens.index(MASK)} if MASK in tokens else {}
