"""A trained model tried on the spot: it writes, answers, fills gaps, names classes, rebuilds pictures."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import streamlit as st

from attention_lab.models.fields import Field, characters, number, whole
from attention_lab.models.zoo.catalogue import offer_of
from attention_lab.pages.shared import cache, phrases, server_load
from attention_lab.pages.shared.page_parts import as_typed
from attention_lab.pages.shared.state import MOST_CHARACTERS, State, guard_choice
from attention_lab.pages.shared.table import Row, message, table
from attention_lab.pages.shared.training import runs, tasks_on_offer
from attention_lab.pages.shared.training.runs import Run
from attention_lab.pages.shared.visitors import without_places

if TYPE_CHECKING:
    from torch import Tensor

    from attention_lab.models.data.tasks import Reading
    from attention_lab.models.zoo.model import Model

MOST_PICTURES = 1_000_000
MOST_TOKENS = 300
"""Tokens that a model writes after a prompt: each is one more pass."""
HEAT = "0 always writes the likeliest"
CANDIDATES = 8
PIXEL = 10
MASK = "[MASK]"


Way = Callable[[Run, State], None]


def draw(run: Run) -> None:
    """The box; a sentence where the model cannot be loaded or cannot read what was typed."""
    try:
        way = _on_model(run, way_of)
    except (ValueError, OSError) as error:
        st.text(f"There is no model to try yet: {without_places(str(error))}")
        return
    if way is None:
        return
    offer = offer_of(run.model_link)
    with st.container(border=True, key="runs_try"):
        st.markdown("**Try it**")
        inputs = _inputs(run, "" if offer is None else offer.text)
        try:
            way(run, inputs)
        except (ValueError, OSError) as error:
            st.text(without_places(str(error)))


def _on_model(run: Run, ask: Callable[[Model], Any]) -> Any:
    """Asks the run's model something, on the inference thread; it is the very model that Explore asks."""
    server_load.check_memory()
    return cache.on_worker(lambda: ask(cache.model(run.model_link)))


def way_of(model: Model) -> Way | None:
    """How the model is tried; None where only Explore knows what to do with it."""
    return next((WAYS[ability] for ability in model.abilities if ability in WAYS), None)


def _inputs(run: Run, example: str) -> State:
    """What a person asks of this run. example: the text to begin with."""
    first = int(example) if re.fullmatch(r"[1-9][0-9]{0,5}", example) else 1
    inputs = State(
        f"runs.try.{run.id}",
        {
            "text": Field(example, characters(MOST_CHARACTERS), "Text"),
            "temperature": Field(0.8, number(0, 2), "Temperature", HEAT, "slider", more={"step": 0.1}),
            "picture": Field(first, whole(1, MOST_PICTURES), "Held-out picture"),
        },
    )
    inputs.take()
    return inputs


def _typed(inputs: State, label: str) -> str:
    inputs.draw("text", label=label)
    return str(inputs.kept["text"])


def _write(run: Run, inputs: State) -> None:
    """Goes on writing after a prompt."""
    text = _typed(inputs, "Prompt: the model goes on writing")
    slider_place, button_place = st.columns([3, 1], vertical_alignment="bottom")
    inputs.draw("temperature", slider_place)
    temperature = inputs.kept["temperature"]
    if button_place.button("Another", width="stretch"):
        st.session_state.runs_seed = st.session_state.get("runs_seed", 0) + 1
    seed = st.session_state.get("runs_seed", 0)

    more = _on_model(run, lambda model: go_on(model, text, temperature=temperature, seed=seed))
    as_typed(text + more)


def go_on(model: Model, text: str, *, temperature: float, seed: int) -> str:
    """At most MOST_TOKENS characters after `text`, each part from as much of the end as leaves it room."""
    room = max(1, model.config.max_len // 2)
    written = ""
    for part in range(MOST_TOKENS):
        # No token is shorter than a character, so these characters fit.
        before = (text + written)[-(model.config.max_len - room) :]
        try:
            more = model.generate(before, temperature=temperature, max_new_tokens=room, seed=seed + part)
        except ValueError:
            if not written:
                raise
            break  # it wrote what it cannot read, such as the blank after an answer
        written += more
        if not more or len(written) >= MOST_TOKENS:
            break
    return written[:MOST_TOKENS]


def _answer(run: Run, inputs: State) -> None:
    """Answers a question, greedily."""
    text = _typed(inputs, "Question: the model writes the answer")
    answer = _on_model(run, lambda model: model.read(text).answer)
    as_typed(f"{text}  →  {answer}")


def _fill(run: Run, inputs: State) -> None:
    """Masks the word that is pressed, and says what the model would put there."""
    text = _typed(inputs, f"Sentence: press a word to hide it, or type {MASK}")
    parts = text.split()
    hideable = {at: word for at, word in enumerate(parts) if word != MASK}
    hidden = st.pills(
        "Hide a word", list(hideable), key=f"runs.hide.{run.id}", label_visibility="collapsed",
        format_func=lambda at: phrases.plain(hideable.get(at, "")),
    )  # fmt: skip
    guard_choice(f"runs.hide.{run.id}", "Hide a word", hideable)
    if hidden in hideable:
        parts[hidden] = MASK
    if MASK not in parts:
        st.caption("Press a word to hide it from the model.")
        return
    words = _on_model(run, lambda model: candidates(model, " ".join(parts)))
    _table("What the model would put there", ("candidate", "#probability"), words)


def candidates(model: Model, text: str) -> list[tuple[str, float]]:
    """The likeliest words for the first [MASK] of a text. Raises ValueError where the model reads none."""
    reading = model.read(text)
    tokens = reading.tokens["encoder"]
    if MASK not in tokens:
        raise ValueError(f"{text[:60]!r} has no {MASK}; type it as a word of its own")
    return _likeliest(_logits(model, reading)[tokens.index(MASK)], model.outputs)


def _logits(model: Model, reading: Reading) -> Tensor:
    return cast("Tensor", model.trace(reading, reduce=lambda a, t: t if a == "logits" else None)["logits"])


def _classify(run: Run, inputs: State) -> None:
    """The probability of every class."""
    text = _typed(inputs, prompt_label(str(runs.described(run)["task"].get("name"))))
    names = _on_model(run, lambda model: _likeliest(_logits(model, model.read(text))[0], model.outputs))
    _table("What the model takes it for", ("class", "#probability"), names)


def prompt_label(task: str) -> str:
    """What a person types for a classifier of this task."""
    info = tasks_on_offer.tasks().get(task)
    reads_texts = info is not None and info.group == "Classification"
    return "Text" if reads_texts else "Text, or the number of a held-out picture"


def _rebuild(run: Run, inputs: State) -> None:
    """A held-out picture, and the model's reconstruction."""
    inputs.draw("picture")
    picture = str(inputs.kept["picture"])

    def ask(model: Model) -> tuple[np.ndarray, np.ndarray]:
        reading = model.read(picture)
        pictures = model.pictures(reading, model.trace(reading))
        return pictures["read"].numpy(), pictures["rebuilt"].numpy()

    original, rebuilt = _on_model(run, ask)
    with st.container(horizontal=True):
        for picture, caption in ((original, "original"), (rebuilt, "rebuilt")):
            # Grey pixels that can be seen, [row, column] of bytes.
            grey = (255 * np.clip(picture, 0, 1)).astype(np.uint8)
            times = max(1, 28 * PIXEL // max(grey.shape) // 2)
            st.image(grey.repeat(times, axis=0).repeat(times, axis=1), caption=caption)
    st.caption(f"Mean squared error {np.mean((original - rebuilt) ** 2):.4f}")


def _likeliest(logits: Any, names: tuple[str, ...]) -> list[tuple[str, float]]:
    best = logits.double().softmax(-1).topk(min(CANDIDATES, len(names)))
    return [(names[at], value) for value, at in zip(best.values.tolist(), best.indices.tolist(), strict=True)]


def _table(caption: str, columns: tuple[str, str], candidates_there: list[tuple[str, float]]) -> None:
    cells = [[name, f"{'█' * round(20 * value)} {value:.3f}"] for name, value in candidates_there]
    rows = [Row(str(at), each) for at, each in enumerate(cells)]
    table.show(message(caption, columns, rows), key="runs.likely")


WAYS: dict[str, Way] = {
    "continue": _write,
    "answer": _answer,
    "translate": _answer,
    "fill": _fill,
    "classify": _classify,
    "rebuild": _rebuild,
}
"""What can be tried, by what a model is able to do."""
